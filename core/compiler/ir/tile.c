/* What is asked of matrix tiles and of the instructions that move them, by all who read programs. */
#include "compiler/ir/builder.h"

int pctl_op_stores(uint16_t op)
{
	return op == PCTL_OP_STORE || op == PCTL_OP_TILE_STORE_ROWS ||
	       op == PCTL_OP_TILE_STORE_COLUMNS;
}

uint32_t pctl_tile_moved(const pctl_program *p, const pctl_function *fn, const pctl_inst *in)
{
	switch (in->op) {
	case PCTL_OP_TILE_LOAD_ROWS:
	case PCTL_OP_TILE_LOAD_COLUMNS:
		return in->type;
	case PCTL_OP_TILE_STORE_ROWS:
	case PCTL_OP_TILE_STORE_COLUMNS:
		return pctl_value_type(p, fn, pctl_arg(p, in, 0));
	default:
		return 0;
	}
}

int pctl_tile_is_float(const pctl_type *t)
{
	return t->scalar >= PCTL_SCALAR_F16 && t->scalar <= PCTL_SCALAR_F64;
}

uint32_t pctl_build_tile(pctl_builder *b, uint8_t scalar, uint32_t role, uint32_t columns,
			 uint32_t rows)
{
	const pctl_type t = {.kind = PCTL_TYPE_TILE,
			     .scalar = scalar,
			     .width = (uint8_t)rows,
			     .columns = (uint8_t)columns,
			     .count = role};

	return pctl_builder_type(b, &t);
}
