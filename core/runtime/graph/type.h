/* Types of edges in the notation of pipeline files: "u32[m,2]", "u32|i32[...]", "f32", "bytes[n]".
 * A pattern may leave dimensions open by name; a concrete type is pctl_tensor_type (oplib.h).
 * Elements are packed, row-major. */
#ifndef PIPECTL_RUNTIME_GRAPH_TYPE_H
#define PIPECTL_RUNTIME_GRAPH_TYPE_H

#include "foundation/base/arena.h"
#include "pipectl/oplib.h"
#include "pipectl/program.h"

#define PCTL_DTYPES_MAX 40u /* more than there are */

/* A dimension: a name, or with name NULL the number value. */
typedef struct pctl_dim_pattern {
	const char *name;
	uint64_t value;
} pctl_dim_pattern;

/* any_shape: written "[...]", rank and dim then mean nothing. */
typedef struct pctl_type_pattern {
	uint32_t dtype[PCTL_DTYPES_MAX];
	uint32_t n_dtypes;
	uint32_t rank;
	uint32_t any_shape;
	uint32_t
		lanes; /* 2 or 4: of a vector, "vec2<f32>[...]"; else 0. It has any shape that ends with so many elements */
	pctl_dim_pattern dim[PCTL_RANK_MAX];
} pctl_type_pattern;

/* Parse a pattern; names are copied into the arena. Errors: PC4020 at pos (may be NULL). */
pctl_status pctl_type_parse(const char *text, pctl_arena *arena, const pctl_pos *pos,
			    const pctl_call *call, pctl_type_pattern *out);
/* The same of an op's port, which may take vectors: no edge is of them. */
pctl_status pctl_port_parse(const char *text, pctl_arena *arena, const pctl_pos *pos,
			    const pctl_call *call, pctl_type_pattern *out);

/* Bytes of one element in a buffer, 0 for an unknown dtype and for those whose elements are no whole bytes: types narrower than
 * a byte, and block formats. bool is 4, u128 16, bytes 1. */
uint32_t pctl_dtype_bytes(uint32_t dtype);
/* Bits of one element, 0 for an unknown dtype and for blocks. */
uint32_t pctl_dtype_bits(uint32_t dtype);
/* A vector of 2 or 4 elements as one: the dtype of a place of a function op, which no tensor at an edge has; lanes below 2: the element. */
uint32_t pctl_dtype_vector(uint32_t dtype, uint32_t lanes);
/* The vector's element. */
uint32_t pctl_dtype_element(uint32_t dtype);
/* The elements of a value at a port: 2 or 4 of a vector, else 1. */
uint32_t pctl_port_lanes(const pctl_port *port);
/* 1: of the op's ports some take or give vectors. Its rules are those of a plan op: equations between tensors. */
int pctl_op_has_vectors(const pctl_op_desc *d);
/* What a port of so many lanes makes of a tensor: places, of a vector's dtype, without the last dimension. 0: it has no such dimension. */
int pctl_type_places(const pctl_tensor_type *t, uint32_t lanes, pctl_tensor_type *out);
/* The name as written in files; "?" for an unknown dtype. */
const char *pctl_dtype_name(uint32_t dtype);
/* The names one by one, NULL behind the last. */
const char *pctl_dtype_at(uint32_t i);
/* The dtype of a name, PCTL_SCALAR_NONE when there is none such. */
uint32_t pctl_dtype_find(const char *name, size_t n);

/* Elements and bytes of a concrete type; 0 on overflow, and for rows that are no whole number of blocks (and *out UINT64_MAX),
 * else 1. */
int pctl_type_elements(const pctl_tensor_type *t, uint64_t *out);
int pctl_type_bytes(const pctl_tensor_type *t, uint64_t *out);
/* Bytes of the buffer that holds it: bytes rounded up to 4. */
int pctl_type_buffer_bytes(const pctl_tensor_type *t, uint64_t *out);

/* 1 and the type when the pattern leaves nothing open. */
int pctl_pattern_concrete(const pctl_type_pattern *p, pctl_tensor_type *out);

int pctl_type_equal(const pctl_tensor_type *a, const pctl_tensor_type *b);
/* "u32[8,2]" into the arena. */
const char *pctl_type_text(pctl_arena *arena, const pctl_tensor_type *t);
const char *pctl_pattern_text(pctl_arena *arena, const pctl_type_pattern *p);

/* Every element type there is, in any shape: what is not known yet. Its text is "any". */
void pctl_pattern_any(pctl_type_pattern *out);
int pctl_pattern_is_any(const pctl_type_pattern *p);

/* 1 when the pattern allows the dtype. */
int pctl_pattern_has_dtype(const pctl_type_pattern *p, uint32_t dtype);

/*
 * The concrete type of n_bytes of data under a pattern with one dtype, known dimensions given by
 * `value_of` (1 and *out when the name is bound): at most one dimension may be unbound, it follows
 * from the size. Returns 1 and *out, 0 when the size does not divide, -1 when more than one
 * dimension is unbound. A size says that no bits lie behind the last element.
 */
int pctl_type_from_bytes(const pctl_type_pattern *p, uint64_t n_bytes,
			 int (*value_of)(void *ctx, const char *name, uint64_t *out), void *ctx,
			 pctl_tensor_type *out);

#endif
