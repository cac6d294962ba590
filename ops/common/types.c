/* Element types, shapes, attributes, and the refusals that speak of them. */
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>

#include "common/kit.h"

/* What is no scalar of kernels: bits of an element, or of a block of `block` elements (SEMANTICS.md 13). */
static const struct {
	uint32_t dtype;
	const char *name;
	uint32_t bits, block;
} packed[] = {
	{PCTL_DTYPE_U128, "u128", 128, 1},    {PCTL_DTYPE_BYTES, "bytes", 8, 1},
	{PCTL_DTYPE_F8E4M3, "f8e4m3", 8, 1},  {PCTL_DTYPE_F8E5M2, "f8e5m2", 8, 1},
	{PCTL_DTYPE_F4, "f4", 4, 1},	      {PCTL_DTYPE_I4, "i4", 4, 1},
	{PCTL_DTYPE_U4, "u4", 4, 1},	      {PCTL_DTYPE_I2, "i2", 2, 1},
	{PCTL_DTYPE_U2, "u2", 2, 1},	      {PCTL_DTYPE_TERNARY, "ternary", 2, 1},
	{PCTL_DTYPE_BINARY, "binary", 1, 1},  {PCTL_DTYPE_Q4_0, "q4_0", 144, 32},
	{PCTL_DTYPE_Q4_1, "q4_1", 160, 32},   {PCTL_DTYPE_Q5_0, "q5_0", 176, 32},
	{PCTL_DTYPE_Q5_1, "q5_1", 192, 32},   {PCTL_DTYPE_Q8_0, "q8_0", 272, 32},
	{PCTL_DTYPE_Q2_K, "q2_k", 672, 256},  {PCTL_DTYPE_Q3_K, "q3_k", 880, 256},
	{PCTL_DTYPE_Q4_K, "q4_k", 1152, 256}, {PCTL_DTYPE_Q5_K, "q5_k", 1408, 256},
	{PCTL_DTYPE_Q6_K, "q6_k", 1680, 256},
};

static const uint8_t scalar_bits[] = {
	[PCTL_SCALAR_BOOL] = 32, [PCTL_SCALAR_I32] = 32,  [PCTL_SCALAR_U32] = 32,
	[PCTL_SCALAR_I64] = 64,	 [PCTL_SCALAR_U64] = 64,  [PCTL_SCALAR_F16] = 16,
	[PCTL_SCALAR_F32] = 32,	 [PCTL_SCALAR_BF16] = 16, [PCTL_SCALAR_F64] = 64,
	[PCTL_SCALAR_I8] = 8,	 [PCTL_SCALAR_U8] = 8,	  [PCTL_SCALAR_I16] = 16,
	[PCTL_SCALAR_U16] = 16};

uint32_t kit_dtype_bits(uint32_t dtype, uint32_t *block)
{
	*block = 1;
	if (dtype < KIT_COUNT(scalar_bits))
		return scalar_bits[dtype];
	for (uint32_t i = 0; i < KIT_COUNT(packed); i++)
		if (packed[i].dtype == dtype) {
			*block = packed[i].block;
			return packed[i].bits;
		}
	return 0;
}

uint64_t kit_dtype_bytes(uint32_t dtype)
{
	uint32_t block;
	const uint32_t bits = kit_dtype_bits(dtype, &block);

	return dtype < 32 || dtype == PCTL_DTYPE_U128 ? bits / 8 : 0;
}

uint64_t kit_bytes(const pctl_tensor_type *t)
{
	uint32_t block;
	const uint64_t bits = kit_dtype_bits(t->dtype, &block), n = kit_elements(t);
	uint64_t all;

	if (n % block != 0 || __builtin_mul_overflow(n / block, bits, &all))
		return UINT64_MAX;
	return all / 8 + (all % 8 != 0);
}

const char *kit_dtype_name(uint32_t dtype)
{
	for (uint32_t i = 0; i < KIT_COUNT(packed); i++)
		if (packed[i].dtype == dtype)
			return packed[i].name;
	return dtype <= PCTL_SCALAR_U16 ? pctl_scalar_name((uint8_t)dtype) : "an unknown type";
}

uint64_t kit_elements(const pctl_tensor_type *t)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < t->rank; i++)
		if (__builtin_mul_overflow(n, t->dim[i], &n))
			return UINT64_MAX;
	return n;
}

int kit_same_shape(const pctl_tensor_type *a, const pctl_tensor_type *b)
{
	return a->rank == b->rank && memcmp(a->dim, b->dim, a->rank * sizeof(a->dim[0])) == 0;
}

pctl_tensor_type kit_vector(uint32_t dtype, uint64_t n)
{
	return (pctl_tensor_type){.dtype = dtype, .rank = 1, .dim = {n}};
}

pctl_status kit_refuse_type(const kit_use *u, uint32_t port, const char *wanted)
{
	const pctl_tensor_type *t = &u->q->in[port];

	return pctl_refuse(
		u->call, PC4201_OP_TYPE, "%s: port \"%s\" wants %s, found %s of %u dimensions",
		u->op->desc.name,
		u->op->desc.in[port < u->op->desc.n_in ? port : u->op->desc.n_in - 1].name, wanted,
		kit_dtype_name(t->dtype), t->rank);
}

pctl_status kit_refuse_attr(const kit_use *u, const char *attr, const char *why)
{
	return pctl_refuse(u->call, PC4202_OP_ATTRIBUTE, "%s: attribute \"%s\" %s",
			   u->op->desc.name, attr, why);
}

float kit_parse_f32(const char *text, char **end)
{
	const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	const float f = c == (locale_t)0 ? strtof(text, end) : strtof_l(text, end, c);

	if (c != (locale_t)0)
		freelocale(c);
	return f;
}

pctl_status kit_refuse_size(const kit_use *u, const char *what, uint64_t found, uint64_t most)
{
	return pctl_refuse(u->call, PC4204_OP_SIZE,
			   "%s: %" PRIu64 " %s, at most %" PRIu64 " can be taken", u->op->desc.name,
			   found, what, most);
}

pctl_status kit_want(const kit_use *u, uint32_t port, uint32_t dtype, uint32_t rank)
{
	const pctl_tensor_type *t = &u->q->in[port];

	if (t->dtype != dtype || t->rank != rank)
		return kit_refuse_type(u, port, u->op->desc.in[port].type);
	return PCTL_OK;
}

pctl_status kit_limit(const kit_use *u, const char *what, uint64_t n, uint64_t most)
{
	return n > most ? kit_refuse_size(u, what, n, most) : PCTL_OK;
}

uint64_t kit_attr(const kit_use *u, uint32_t i)
{
	return u->q->attr[i].u64;
}

int kit_measured(const kit_use *u, const char *name, uint64_t *out)
{
	*out = 0;
	for (uint32_t i = 0; i < u->q->n_measured; i++)
		if (strcmp(u->q->measured[i].name, name) == 0) {
			*out = u->q->measured[i].u64;
			return 1;
		}
	return 0;
}
