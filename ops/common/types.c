/* Element types, shapes, attributes, and the refusals that speak of them. */
#include <inttypes.h>

#include "common/kit.h"

uint64_t kit_dtype_bytes(uint32_t dtype)
{
	switch (dtype) {
	case PCTL_SCALAR_I8:
	case PCTL_SCALAR_U8:
		return 1;
	case PCTL_SCALAR_BOOL:
	case PCTL_SCALAR_I32:
	case PCTL_SCALAR_U32:
	case PCTL_SCALAR_F32:
		return 4;
	case PCTL_SCALAR_I16:
	case PCTL_SCALAR_U16:
	case PCTL_SCALAR_F16:
	case PCTL_SCALAR_BF16:
		return 2;
	case PCTL_SCALAR_I64:
	case PCTL_SCALAR_U64:
		return 8;
	case PCTL_DTYPE_U128:
		return 16;
	default:
		return 0;
	}
}

const char *kit_dtype_name(uint32_t dtype)
{
	if (dtype == PCTL_DTYPE_U128)
		return "u128";
	if (dtype == PCTL_DTYPE_BYTES)
		return "bytes";
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
