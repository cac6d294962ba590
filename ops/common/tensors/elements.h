/* Elements as bits, and kernels that make one element of a result from its number: what the families that move, index, convolve and
 * draw have in common. */
#ifndef PIPECTL_OPS_TENSORS_ELEMENTS_H
#define PIPECTL_OPS_TENSORS_ELEMENTS_H

#include "common/codec.h"
#include "common/tensors/format.h"
#include "common/tensors/value.h"

/* Types whose elements are made, and those whose elements are moved. */
#define TENSOR_MADE "f32|f16|bf16|i8|u8|i16|u16|i32|u32|i64|u64|bool"
#define TENSOR_ANY TENSOR_MADE "|f64|f8e4m3|f8e5m2|f4|i4|u4|i2|u2|ternary|binary"
/* The same but the one without a zero. */
#define TENSOR_WITH_ZERO TENSOR_MADE "|f64|f8e4m3|f8e5m2|f4|i4|u4|i2|u2|ternary"
#define TENSOR_NUMBERS 16u

/* The low `bytes` (1, 2, 4 or 8) of v are element i. */
uint64_t tensor_get(const void *data, uint64_t i, uint64_t bytes);
void tensor_put(void *data, uint64_t i, uint64_t bytes, uint64_t v);
/* f32, f16 and bf16, with which kernels here compute; f64, f8 and f4 are only moved and put in order. */
int tensor_is_float(uint32_t dtype);

/* x around an axis. */
typedef struct tensor_lines {
	uint64_t outer, n, inner;
	uint32_t axis;
} tensor_lines;

/* The axis that attribute `attr` names, or its refusal. */
pctl_status tensor_lines_of(const kit_use *u, uint32_t attr, const pctl_tensor_type *x,
			    tensor_lines *out);
/* PC4201 unless input `port` is of a type that is moved; PC4204 where it is too large. */
pctl_status tensor_movable(const kit_use *u, uint32_t port);
/* At most `most` numbers from `least` on between commas; *n of them. "" is none. */
pctl_status tensor_numbers_of(const kit_use *u, uint32_t attr, int64_t least, uint32_t most,
			      int64_t *out, uint32_t *n);
/* The element type that attribute `attr` names, of `allowed` ("|" between them). */
pctl_status tensor_dtype_of(const kit_use *u, uint32_t attr, const char *allowed, uint32_t *out);
/* The shape that attribute `attr` names: numbers between commas. */
pctl_status tensor_shape_of(const kit_use *u, uint32_t attr, pctl_tensor_type *out);

/* `params` of element_params.wgsl as a constant of the text, of so many numbers: for what is short on a GPU, where a parameter lies in no cache and all would wait for it. A text for each set of numbers. */
void tensor_written_numbers(kit_wgsl *w, uint32_t count, uint32_t (*v)[4], uint32_t n);

/*
 * A kernel of which invocation i makes element i: the caller adds a text with
 *
 *     fn product(i: u32) -> T        T: u64 where an element has 8 bytes, else u32
 *
 * `params.v` is an array of TENSOR_NUMBERS vec4<u32> with the numbers below.
 */
typedef struct tensor_kernel {
	kit_plan *plan;
	kit_wgsl w;
	const char *name;
	uint64_t bytes, count, piece; /* bytes: 0 where an element has fewer than 8 bits */
	uint32_t bits;
	struct {
		uint32_t count, first, none[2];
		uint32_t v[TENSOR_NUMBERS][4];
	} params;
	kit_slot slots[16];
	uint32_t n_slots;
	uint64_t
		turns; /* the most turns of a loop that goes up to the override `steps`; 0: there is none */
} tensor_kernel;

tensor_kernel tensor_kernel_begin(kit_plan *p, const char *name, uint64_t count, uint64_t bytes,
				  uint64_t turns);
/* fn <name>_raw(i: u32) -> u64, or u32 where an element has fewer than 8 bytes. */
void tensor_kernel_read(tensor_kernel *k, const char *name, uint64_t bytes, uint32_t buffer);
/* fn <name>_bits(i: u32) -> u32 beside that, of a type whose elements are f32: kit_codec_bits. */
void tensor_kernel_read_bits(tensor_kernel *k, const char *name, uint32_t dtype, uint32_t buffer);
/* Both of elements of any type with tensor_bits, 64 at most. */
tensor_kernel tensor_kernel_begin_of(kit_plan *p, const char *name, uint64_t count, uint32_t dtype,
				     uint64_t turns);
void tensor_kernel_read_of(tensor_kernel *k, const char *name, uint32_t dtype, uint32_t buffer);
/* A variable alone: array<element>. */
void tensor_kernel_bind(tensor_kernel *k, const char *name, const char *element, uint32_t buffer);
/* As tensor_kernel_bind; or, where `buffer` is an input that is too large for a binding, several of them and fn <name>_word(i: u32) over
 * all (1). */
int tensor_kernel_words(tensor_kernel *k, const char *name, const char *element, uint32_t buffer);
/* A variable, or where `buffer` is an input that is too large for a binding what stands for it: name[i] in texts added from here to tensor_kernel_stored. */
typedef struct tensor_store {
	const char *name;
	size_t from;
	int parted;
} tensor_store;
tensor_store tensor_kernel_store(tensor_kernel *k, const char *name, const char *element,
				 uint32_t buffer);
void tensor_kernel_stored(tensor_kernel *k, const tensor_store *s);
/* The same for a kernel of another kind: bindings `first` and on, how many, 0 with a refusal: there are too many. */
int tensor_is_parted(const kit_plan *p, uint32_t buffer);
uint32_t tensor_add_parts(kit_plan *p, kit_wgsl *w, const char *name, const char *element,
			  uint32_t port, uint32_t first, kit_slot *slots);
/* Of any buffer of `total` bytes. */
uint32_t tensor_add_parts_of(kit_plan *p, kit_wgsl *w, const char *name, const char *element,
			     uint32_t buffer, uint64_t total, uint32_t first, kit_slot *slots);
/* More bytes than a binding holds. */
int tensor_is_too_large(const kit_plan *p, uint64_t n_bytes);
/* As tensor_kernel_words, of n u32 in any buffer. */
int tensor_kernel_bind_words(tensor_kernel *k, const char *name, uint32_t buffer, uint64_t n);
/* The result is `buffer`, in several dispatches where it is too large for a binding; the text of `product` stands before. */
void tensor_kernel_run(tensor_kernel *k, uint32_t buffer);
/* The entry point that writes `product(i)` of each element of so many bytes; writes: through the host's function, not of bytes. */
const char *tensor_result_text(uint64_t bytes, int writes);

/* fn order_key(raw: E) -> E: ascends as SEMANTICS.md 16.6 has it; E is what <name>_raw gives. */
void tensor_kernel_order(tensor_kernel *k, uint32_t dtype);
uint64_t tensor_order_key(uint32_t dtype, uint64_t raw);

/* ---- problems: data of port `port`, of `kind` ---- */

enum { TENSOR_BITS, TENSOR_SMALL, TENSOR_EDGES, TENSOR_KINDS };
void tensor_problem_fill(kit_problem *p, uint32_t port, const pctl_tensor_type *t, uint32_t kind);
void tensor_problem_attr(kit_problem *p, uint32_t i, const char *text);
/* 1, and the problem means nothing: types that are moved alike share the problems, a third for each. */
int tensor_problem_of_others(kit_problem *p);
pctl_tensor_type tensor_type_of(uint32_t dtype, uint32_t rank, const uint64_t *dim);
#define TENSOR_SHAPES 13u
extern const pctl_tensor_type tensor_problem_shapes[TENSOR_SHAPES]; /* dtype 0 */

extern const pctl_example tensor_boundaries[2];

/* A plan op in one row: <id>_laws, <id>_checks, <id>_problems, <id>_problem, <id>_infer, <id>_plan and <id>_reference stand beside it. */
#define TENSOR_OP(id, outputs, op, op_doc, op_spec, class_, ins, n_ins, outs, attrs, n_attrs, \
		  data_)                                                                      \
	{                                                                                     \
		.desc = {KIT_PLAN_OP(op, 1, class_),                                          \
			 .doc = op_doc,                                                       \
			 .spec = op_spec "\nA tensor has at most 2^31 elements.",             \
			 .n_in = n_ins,                                                       \
			 .n_out = outputs,                                                    \
			 .n_attr = n_attrs,                                                   \
			 .in = ins,                                                           \
			 .out = outs,                                                         \
			 .attr = attrs},                                                      \
		.rules = KIT_PLAN_RULES(id##_laws, tensor_boundaries), .laws = id##_checks,   \
		.problems = &id##_problems, .problem = id##_problem, .infer = id##_infer,     \
		.plan = id##_plan, .reference = id##_reference, .data = data_                 \
	}
#define TENSOR_LAW(name, words)                                           \
	{                                                                 \
		PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, name, NULL, words \
	}

/* Element i of the result comes from element from(l, i) of tensor `of`: a tensor of type t with those elements. */
uint32_t tensor_law_taken(kit_law *l, const pctl_tensor_type *t, uint32_t of,
			  uint64_t (*from)(const void *ctx, uint64_t i), const void *ctx);
/* [o, j, k] -> [o, n - 1 - j, k]; ctx: a tensor_lines. */
uint64_t tensor_law_mirrored(const void *ctx, uint64_t i);

/* ---- indices: SEMANTICS.md 16.2 ---- */

#define TENSOR_INDEX "i32|u32|i64|u64"
/* The plan fails where an element of `index` (port of that number) is out of range of n. */
void tensor_index_check(kit_plan *p, uint32_t port, uint64_t n, int negative);
/* fn <name>_at(j: u32) -> u32, which is right only where the check passed. */
void tensor_kernel_index(tensor_kernel *k, const char *name, uint32_t dtype, uint64_t n,
			 int negative, uint32_t buffer);
/* The same in plain C: PC4205 names the first. */
pctl_status tensor_index_refuse(const kit_use *u, uint32_t port, const void *index, uint64_t n,
				int negative);
uint64_t tensor_index_of(uint32_t dtype, const void *index, uint64_t i, uint64_t n);
/* Indices of n things; one in 64 problems has one that is out of range. */
void tensor_problem_index(kit_problem *p, uint32_t port, const pctl_tensor_type *t, uint64_t n,
			  int negative);

#endif
