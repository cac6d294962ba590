/* What the files of tensor.matmul share. */
#ifndef PIPECTL_OPS_TENSOR_MATMUL_H
#define PIPECTL_OPS_TENSOR_MATMUL_H

#include "common/tensors/format.h"
#include "tensor.h"

enum { MATMUL_EXACT, MATMUL_SEQUENTIAL, MATMUL_UNFUSED, MATMUL_CHUNKED, MATMUL_ORDERS };
enum { MATMUL_ATTR_ORDER, MATMUL_ATTR_OUT, MATMUL_ATTR_TRANSPOSE_A, MATMUL_ATTR_TRANSPOSE_B };
#define MATMUL_CHUNK 256u
#define MATMUL_BATCH_MAX 6u

/*
 * One product, taken apart.
 *
 * m, n, k      of the matrices that are multiplied, transposed ones as they are then
 * a_row ..     elements from one row, or column, to the next
 * batch        how many elements a dimension of the result has and how far it goes in a and b, the innermost first; the rest
 *              has 1 element
 * out          type of the result
 * format       what is rounded to, NULL for integers
 */
typedef struct matmul_shape {
	uint64_t m, n, k;
	uint64_t a_row, a_column, b_row, b_column;
	struct {
		uint64_t n, a, b;
	} batch[MATMUL_BATCH_MAX];
	uint32_t order;
	pctl_tensor_type out;
	const tensor_float_format *format;
} matmul_shape;

/* Everything about a use, or the refusal. */
pctl_status matmul_shape_of(const kit_use *u, matmul_shape *out);
/* First elements in a and b of element e of the result. */
void matmul_place(const matmul_shape *s, uint64_t e, uint64_t *a, uint64_t *b);

/* The block of matmul_place.wgsl. */
uint32_t matmul_params(kit_plan *p, const matmul_shape *s);

/* Through which functions of the host the plan reads its factors; whether it writes the result through one. */
static inline uint32_t matmul_reads(const kit_plan *p)
{
	return p->through & (PCTL_PLAN_READ_THROUGH(0) | PCTL_PLAN_READ_THROUGH(1));
}

static inline int matmul_writes(const kit_plan *p)
{
	return (p->through & PCTL_PLAN_WRITE_THROUGH(0)) != 0;
}

/* matmul_fast.c: plan the exact product by f64 sums, where the device has them and it is worth it; 0: it did nothing. params: the
 * block of matmul_place.wgsl; slots: a, b, y. */
int matmul_fast(kit_plan *p, const matmul_shape *s, uint32_t params, const kit_slot *slots);

/* matmul_reference.c */
pctl_status matmul_reference(const kit_use *u, const pctl_span *in, pctl_span *out);
/* matmul_laws.c */
extern const pctl_op_problems matmul_problems;
void matmul_problem(kit_problem *p);
void matmul_law_transposed(kit_law *l);
void matmul_law_rows(kit_law *l);
void matmul_law_padded(kit_law *l);
void matmul_law_reordered(kit_law *l);
void matmul_law_doubled(kit_law *l);
void matmul_law_unpacked(kit_law *l);
void matmul_law_shape(kit_law *l);

#endif
