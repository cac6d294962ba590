/* Static facts of opcodes and scalars, read straight from ops.def. No program is looked at here. */
#include "pipectl/program.h"

/* `result` is V or -: with V empty, (result 1) is 1 or -1. */
#define V
static const pctl_op_info table[] = {
#define PCTL_OPCODE(number, NAME, result, args, kind) \
	[number] = {#NAME, args, (uint8_t)((result 1) > 0), PCTL_OPKIND_##kind},
#include "pipectl/ops.def"
#undef PCTL_OPCODE
};
#undef V

static const pctl_op_info unknown = {NULL, "", 0, PCTL_OPKIND_const};

const pctl_op_info *pctl_op_get(uint16_t op)
{
	if (op >= sizeof(table) / sizeof(table[0]) || !table[op].name)
		return &unknown;
	return &table[op];
}

static const struct {
	const char *name;
	uint8_t bits, bytes, is_signed;
} scalars[] = {
	[PCTL_SCALAR_NONE] = {"none", 0, 0, 0},	 [PCTL_SCALAR_BOOL] = {"bool", 1, 4, 0},
	[PCTL_SCALAR_I32] = {"i32", 32, 4, 1},	 [PCTL_SCALAR_U32] = {"u32", 32, 4, 0},
	[PCTL_SCALAR_I64] = {"i64", 64, 8, 1},	 [PCTL_SCALAR_U64] = {"u64", 64, 8, 0},
	[PCTL_SCALAR_F16] = {"f16", 16, 2, 1},	 [PCTL_SCALAR_F32] = {"f32", 32, 4, 1},
	[PCTL_SCALAR_BF16] = {"bf16", 16, 2, 1}, [PCTL_SCALAR_F64] = {"f64", 64, 8, 1},
	[PCTL_SCALAR_I8] = {"i8", 8, 1, 1},	 [PCTL_SCALAR_U8] = {"u8", 8, 1, 0},
	[PCTL_SCALAR_I16] = {"i16", 16, 2, 1},	 [PCTL_SCALAR_U16] = {"u16", 16, 2, 0},
};

static uint8_t known(uint8_t scalar)
{
	return scalar < sizeof(scalars) / sizeof(scalars[0]) ? scalar : PCTL_SCALAR_NONE;
}

uint32_t pctl_scalar_bits(uint8_t scalar)
{
	return scalars[known(scalar)].bits;
}

uint32_t pctl_scalar_bytes(uint8_t scalar)
{
	return scalars[known(scalar)].bytes;
}

int pctl_scalar_is_signed(uint8_t scalar)
{
	return scalars[known(scalar)].is_signed;
}

const char *pctl_scalar_name(uint8_t scalar)
{
	return scalars[known(scalar)].name;
}
