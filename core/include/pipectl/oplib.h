/* The op-library interface `pctl.oplib/1`: what ops exist, what shapes they give, how they are
 * carried out (a plan of kernels), an independent reference, and the rules by which they are
 * judged. An op library never touches a device and is never asked for gas: the host derives both
 * from the plan.
 *
 * Ownership: strings and tables an op library hands out live as long as its instance. What the host
 * passes in lives for the call.
 *
 * Errors: as of backends, a call that fails says why in one diagnostic and returns its code's
 * status: PCTL_E_INVALID for types, attributes and values that the op does not take (PC4201 to
 * PC4205), PCTL_E_LIMIT, PCTL_E_NOMEM, PCTL_E_CANCELLED. Whatever a sink returned is returned as it
 * is. Calls of one instance come one at a time where nothing says [any thread].
 */
#ifndef PIPECTL_OPLIB_H
#define PIPECTL_OPLIB_H

#include "pipectl/plugin.h"

#define PCTL_OPLIB_INTERFACE "pctl.oplib/1"

/* Element types of ports: PCTL_SCALAR_* of program.h, and these. */
#define PCTL_DTYPE_U128 32u  /* four u32, least significant first */
#define PCTL_DTYPE_BYTES 33u /* one byte per element, padded to 4 in buffers */
/* Of plan ops alone. Sub-byte ones are packed from the least significant bit, rows of blocks are whole blocks (SEMANTICS.md 13);
 * shapes count elements, and bytes are those of the packed tensor. */
#define PCTL_DTYPE_F8E4M3 34u
#define PCTL_DTYPE_F8E5M2 35u
#define PCTL_DTYPE_F4 36u
#define PCTL_DTYPE_I4 37u
#define PCTL_DTYPE_U4 38u
#define PCTL_DTYPE_I2 39u
#define PCTL_DTYPE_U2 40u
#define PCTL_DTYPE_TERNARY 41u
#define PCTL_DTYPE_BINARY 42u
/* Block formats of GGUF: 64 and the number that they have there. */
#define PCTL_DTYPE_Q4_0 66u
#define PCTL_DTYPE_Q4_1 67u
#define PCTL_DTYPE_Q5_0 70u
#define PCTL_DTYPE_Q5_1 71u
#define PCTL_DTYPE_Q8_0 72u
#define PCTL_DTYPE_Q2_K 74u
#define PCTL_DTYPE_Q3_K 75u
#define PCTL_DTYPE_Q4_K 76u
#define PCTL_DTYPE_Q5_K 77u
#define PCTL_DTYPE_Q6_K 78u
#define PCTL_RANK_MAX 8u
#define PCTL_PORTS_MAX 16u
#define PCTL_ATTRS_MAX 12u /* of one op; a library with an op of more is refused (PC3038) */

/* Type and shape of a port: `rank` dimensions, row-major, tightly packed, little-endian. */
typedef struct pctl_tensor_type {
	uint32_t dtype;
	uint32_t rank;
	uint64_t dim[PCTL_RANK_MAX];
} pctl_tensor_type;

enum { PCTL_OPDEF_FUNCTION = 1, PCTL_OPDEF_PLAN = 2 };
enum { PCTL_CLASS_INTEGER = 1, PCTL_CLASS_STRICT = 2, PCTL_CLASS_APPROXIMATE = 3 };

/*
 * One port. `type` is a pattern in the pipeline language's notation: a dtype or an alternative of
 * them, and named dimensions: "u32[m,2]", "u32|i32|u64[...]" ("..." is any shape). A dimension name
 * that stands in several ports must agree.
 *
 * Of a function op also a vector: "vec2<f32>[...]", "vec4<f32>|vec4<f16>[...]", of f32, f16, i32 or u32. What feeds it has 2 or 4
 * elements along its last dimension, which the function takes, or gives, as one value of that WGSL type; the dimensions before it are the
 * op's shape, in which all ports broadcast (semantics 14.10). infer, plan and reference see the whole shapes.
 */
typedef struct pctl_port {
	const char *name;
	const char *type;
	const char *doc;
	uint32_t flags; /* PCTL_PORT_* */
	uint32_t reserved;
} pctl_port;
/* Of a function op: what feeds it is never stretched (semantics 14.2). */
#define PCTL_PORT_WHOLE 2u
/* A list: the last input port of a plan op, which a job feeds with one tensor or more. Queries, plans, references and laws have one input
 * for each of them, in their order, so that n_in is at least the description's; all inputs together are at most PCTL_PORTS_MAX. */
#define PCTL_PORT_LIST 1u
/* Of an input or an output of a plan op: plans may be asked for in which its elements go through a function that the host writes
 * (PCTL_PLAN_READ_THROUGH, PCTL_PLAN_WRITE_THROUGH): jobs before and behind this one, fused with it (SEMANTICS.md 14.5). */
#define PCTL_PORT_THROUGH 4u
/*
 * Of an output of a plan op: it is that input with some of it written anew, of its very type, and may lie where the input lies
 * (SEMANTICS.md 17.7). Every plan of the op copies the input to the output, each byte to its place, before it touches these bytes of the
 * output in another way, and touches the input in no other way. The host sees to that (PC4132), and leaves the copies out where
 * nothing else reads the input afterwards. No two outputs have one input. PCTL_PORT_PLACE: 1 + the input's number, or 0.
 */
#define PCTL_PORT_IN_PLACE(input) ((1u + (input)) << 8)
#define PCTL_PORT_PLACE(flags) ((flags) >> 8 & 0x1fu)

enum { PCTL_ATTR_U64 = 1, PCTL_ATTR_I64 = 2, PCTL_ATTR_STRING = 3, PCTL_ATTR_BOOL = 4 };
typedef struct pctl_attr_desc {
	const char *name;
	const char *default_text; /* NULL: must be given */
	const char *doc;
	uint32_t kind;
	uint32_t reserved;
	uint64_t min, max; /* for U64; I64 compares as int64 */
} pctl_attr_desc;

/* One op: "rank.step" version 1 is written rank.step@1. */
typedef struct pctl_op_desc {
	pctl_head head;
	const char *name; /* with the library's prefix */
	const char *doc;  /* one line */
	const char *spec; /* what it computes, to the bit; several lines */
	uint32_t version;
	uint32_t kind;	   /* PCTL_OPDEF_* */
	uint32_t category; /* 'A': any device; 'C': hardware that `hardware` names */
	uint32_t
		op_class; /* PCTL_CLASS_*; the host checks it against the analysis of the kernels */
	uint32_t
		convention; /* 1; 2, of a plan: port "lookup" is a table, its rows numbered by port 0's elements, which the host checks */
	uint32_t n_in, n_out, n_attr;
	const pctl_port *in;
	const pctl_port *out;
	const pctl_attr_desc *attr;
	const char *hardware; /* category C: what it needs; else NULL */
	/* [appended: ask PCTL_HAS] NULL, or what to use instead of this version, which goes on as it is: "use rank.step@2".
	 * The host says so where the op is named, and a policy may refuse the op; nothing else changes. */
	const char *deprecated;
} pctl_op_desc;

typedef struct pctl_attr {
	const char *name;
	const char *text; /* the value as written, for strings and messages */
	uint64_t u64;	  /* parsed, also of BOOL; I64 as two's complement */
} pctl_attr;

/* A question about one use of an op: the op by its index, types of the inputs in port order, all
 * attributes in the order of the description (defaults filled in), and dimensions measured from
 * data so far. Inputs of a function op that are stretched come with the shape that they are stretched to. */
typedef struct pctl_op_query {
	pctl_head head;
	uint32_t op;
	uint32_t n_in;
	const pctl_tensor_type *in;
	const pctl_attr *attr;
	uint32_t n_attr;
	uint32_t n_measured;
	const pctl_attr *measured; /* name of the measure, u64 value */
} pctl_op_query;

/*
 * Answer of infer. measure is set when a dimension depends on data and is not in `measured` yet:
 * the host then runs plan with PCTL_PLAN_MEASURE, reads the named value and asks again.
 *
 * is_view  1: the one output is a view of the one input (semantics 14.3), both of one element type: element (x0, x1, ..)
 *          of the output is element view_offset + x0 * view_stride[0] + .. of the input. The host judges that this stays
 *          within the input, makes the output so itself, and may find elements so where they are read
 * n_cut    how many of the first dimensions of the outputs, which all of them have, the op works along place by place: what it
 *          gives for a part of these places is what it gives of the inputs' same part, whatever stands elsewhere, failures too.
 *          cut: of each input the dimensions (bit d: number d) that go along with the outputs' of that number; of the others
 *          every part needs all. Where a tensor is too large for a binding the host plans the op part by part, over ranges of the
 *          buffers (semantics 17.3); it judges that the dimensions agree
 */
typedef struct pctl_op_result {
	pctl_head head;
	const char *measure; /* name, or NULL */
	pctl_tensor_type out[PCTL_PORTS_MAX];
	/* [appended: ask PCTL_HAS] */
	uint32_t is_view;
	uint32_t reserved;
	uint64_t view_offset;
	uint64_t view_stride[PCTL_RANK_MAX];
	uint32_t n_cut, reserved2;
	uint32_t cut[PCTL_PORTS_MAX];
} pctl_op_result;

/* ---- plans -------------------------------------------------------------------------------- */

/* Buffers of a plan are numbered: inputs 0 .. n_in-1, outputs n_in .. n_in+n_out-1, then
 * temporaries; n_in is the query's. A binding is a range of its buffer, which begins at a multiple of 4 and, or the device refuses
 * the plan, of the caps' binding_alignment. turn_stride: within a repeat the range of parameters or a constant begins that many
 * bytes later with each turn; else 0. */
typedef struct pctl_plan_binding {
	uint32_t group, binding;
	uint32_t buffer;
	uint32_t turn_stride;
	uint64_t offset;
	uint64_t n_bytes; /* 0 with offset 0: the whole buffer */
} pctl_plan_binding;

/* value: of an integer sign- or zero-extended, of a float its bits. */
typedef struct pctl_plan_override {
	const char *name;
	uint64_t value;
} pctl_plan_override;

/*
 * One dispatch. wgsl is the kernel's text, name names it in messages ("rank/gather.wgsl").
 *
 * counts  0: `groups` workgroups. Else 1 + a temporary or output of which a command before this one wrote something: the three u32 at
 *         counts_offset (a multiple of 4), as they are when the dispatch begins, are how many workgroups it has. `groups` are then the
 *         most, by which it is proven and priced; it may not ask for their number (num_workgroups). More along any of the three dimensions
 *         are cut to the most, and the job fails (PC5228)
 */
typedef struct pctl_plan_kernel {
	pctl_head head;
	const char *name;
	const char *wgsl;
	const char *entry; /* NULL: the only one */
	const pctl_plan_override *overrides;
	const pctl_plan_binding *bindings;
	uint32_t n_overrides, n_bindings;
	uint32_t groups[3];
	uint32_t reserved;
	/* [appended: ask PCTL_HAS] */
	uint64_t counts_offset;
	uint32_t counts;
	/* [appended] PCTL_PLAN_READ_THROUGH and PCTL_PLAN_WRITE_THROUGH, of those that the plan was asked for: functions that the text calls
	 * and that the host writes, with what they read, bound in group 3. They are called with the number of an element of the port
	 * less these, the first element that the kernel reads, or writes. */
	uint32_t through;
	uint64_t read_from, write_from;
} pctl_plan_kernel;

/* After the plan ran, the u64 (or u32, by `bytes`) at offset of buffer must equal `expected`;
 * otherwise the job failed with `message`, in which "%v" stands for the value found. Appended: where also_bytes (4 or 8) is
 * not 0, "%u" stands for the number at also_offset of that buffer, "%i" for the same as two's complement. */
typedef struct pctl_plan_assert {
	pctl_head head;
	uint32_t buffer;
	uint32_t bytes; /* 4 or 8 */
	uint64_t offset;
	uint64_t expected;
	const char *message;
	uint64_t also_offset;
	uint32_t also_bytes;
	uint32_t reserved;
} pctl_plan_assert;

/* Two buffers of a plan of the same size, temporaries or outputs, which stand for each other in every second turn of a repeat. */
typedef struct pctl_plan_pair {
	uint32_t a, b;
} pctl_plan_pair;

/* The commands up to repeat_end, `times` times (at least once): in turns 0, 2, .. as they were put, in the others with the buffers
 * of each pair exchanged. No buffer is in two pairs. */
typedef struct pctl_plan_repeat {
	pctl_head head;
	const pctl_plan_pair *pairs;
	uint32_t n_pairs;
	uint32_t times;
} pctl_plan_repeat;

/*
 * The host's side of plan: the op library calls these in the order of execution; a dispatch sees
 * all writes of the commands before it. Each returns PCTL_OK or the status plan must return at
 * once. A plan does not count on temporaries or outputs being zero: it fills what it needs, since a
 * repeated job runs it again on the same buffers.
 *
 * params  constant bytes (a uniform block) become a buffer of their own
 * op      another op of any loaded library, run in place on plan buffers (inputs, then outputs, in
 *         port order)
 * repeat, repeat_end  around a span of kernels, fills, copies and ops; not nested, and without assertions and measures within
 * constant  bytes that are the same for every plan, under the CID that they are said to have (its text): a buffer that is only read.
 *         The host hashes them, keeps them in its store, and puts them on a device once for all jobs of a run
 */
typedef struct pctl_plan_sink {
	pctl_head head;
	void *ctx;
	pctl_status (*temp)(void *ctx, uint64_t n_bytes, uint32_t *buffer);
	pctl_status (*params)(void *ctx, const void *bytes, uint64_t n_bytes, uint32_t *buffer);
	pctl_status (*kernel)(void *ctx, const pctl_plan_kernel *k);
	pctl_status (*fill)(void *ctx, uint32_t buffer, uint64_t offset, uint64_t n_bytes,
			    uint32_t word);
	pctl_status (*copy)(void *ctx, uint32_t from, uint64_t from_offset, uint32_t to,
			    uint64_t to_offset, uint64_t n_bytes);
	pctl_status (*op)(void *ctx, const char *name, uint32_t version, const uint32_t *buffers,
			  const pctl_tensor_type *types, uint32_t n_buffers, const pctl_attr *attr,
			  uint32_t n_attr);
	pctl_status (*assert_equal)(void *ctx, const pctl_plan_assert *a);
	/* Only for PCTL_PLAN_MEASURE: where the value lies; value = stored + add. */
	pctl_status (*measure)(void *ctx, uint32_t buffer, uint64_t offset, uint32_t bytes,
			       uint64_t add);
	pctl_status (*repeat)(void *ctx, const pctl_plan_repeat *r);
	pctl_status (*repeat_end)(void *ctx);
	pctl_status (*constant)(void *ctx, const char *cid, const void *bytes, uint64_t n_bytes,
				uint32_t *buffer);
} pctl_plan_sink;

/* What a plan may choose without changing a bit (tunables.def), by number. */
enum {
#define PCTL_TUNABLE(NAME, name, sc, mc, values, about) PCTL_TUNABLE_##NAME,
#include "pipectl/tunables.def"
#undef PCTL_TUNABLE
	PCTL_N_TUNABLES
};
#define PCTL_TUNABLES_MAX 16u

#define PCTL_PLAN_RUN 0u
#define PCTL_PLAN_MEASURE 1u
/*
 * Added to PCTL_PLAN_RUN, of ports with PCTL_PORT_THROUGH whose elements have 8, 16, 32 or 64 bits and are no bool: jobs before and behind the op that the host fuses with it. Kernels that have
 * to do with such a port say so (pctl_plan_kernel.through) and call a function that is not in their texts:
 *
 *     fn read_through_I(i: u32) -> u32               the bits of element i of input I. The input has no bytes: no command may name it
 *     fn write_through_O(i: u32, bits: u32) -> u32   what is written in the place of element i of output O, whose bits are `bits`
 *
 * Of elements of 64 bits both speak of u64. Of narrower ones than a word the low bits count, whatever the kernel hands over above them; what it gets has zeros there. Which
 * word an element is part of is the kernel's business, and that nobody else writes that word.
 * Each element of the output is written once, by a kernel, so that nothing reads it back; each of an input should be read about once.
 * Where a use cannot be planned so the library answers PCTL_E_UNSUPPORTED, in no words, and the jobs run one by one.
 */
#define PCTL_PLAN_READ_THROUGH(input) (1u << (8u + (input)))
#define PCTL_PLAN_WRITE_THROUGH(output) (1u << (24u + (output))) /* outputs 0 to 7 */

/* What the plan may rely on of the device that will run it. Never bits: only how the work is
 * cut. */
typedef struct pctl_plan_caps {
	pctl_head head;
	uint64_t max_binding_bytes;
	uint64_t max_groups[3];
	uint32_t max_invocations;
	uint32_t max_workgroup_bytes;
	uint32_t device_kind; /* PCTL_DEVICE_* */
	uint32_t reserved;
	/* Turns that all loops of one invocation may make together; 0: any number. An older host does not send it. */
	uint64_t max_turns;
	/* PCTL_PLAN_PROVEN_* that the host's own probe has shown of the device, those of floats where class strict may run. An older host does
	 * not send it. */
	uint64_t proven;
	/* What the offset of a binding must be a multiple of there: a power of two, at most 65536; and how many of them a kernel may
	 * have. */
	uint64_t binding_alignment;
	uint32_t max_bindings;
	uint32_t reserved3;
	/* [appended: ask PCTL_HAS] PCTL_TUNABLE_*: what is best on this device, one of the row's values, or 0: the op chooses. */
	uint32_t tunable[PCTL_TUNABLES_MAX];
} pctl_plan_caps;

/* Strict f64 is the device's own: sums, products, comparisons and conversions of f32 cost about what they cost in f32. */
#define PCTL_PLAN_PROVEN_F64 (1ull << 0)
/* So is its fma. Without, that is integers; a product of two f32 is exact in f64, and may be added instead. */
#define PCTL_PLAN_PROVEN_F64_FMA (1ull << 1)
/* So are products of matrix tiles with f32 factors, M 16, N 8, K 8 and 16, summed in f64 (SEMANTICS.md section 12), and max_workgroup_bytes
 * is the device's, as far as it was seen right. */
#define PCTL_PLAN_PROVEN_F64_TILES (1ull << 2)
/* dot4I8Packed and dot4U8Packed are instructions of the device's own. Integers: whatever class may run. */
#define PCTL_PLAN_PROVEN_DOT4 (1ull << 3)
/* So are products of matrix tiles of i8, or of u8, M 16, N 16, K 32, and max_workgroup_bytes is the device's. Integers, too. */
#define PCTL_PLAN_PROVEN_I8_TILES (1ull << 4)
#define PCTL_PLAN_PROVEN_U8_TILES (1ull << 5)
/* Sums and products of f32 are the device's own for every operand; without, each is guarded against subnormals, which costs several operations. */
#define PCTL_PLAN_PROVEN_F32 (1ull << 6)

/* ---- rules -------------------------------------------------------------------------------- */

enum {
	PCTL_LAW_COMMUTATIVE = 1,
	PCTL_LAW_ASSOCIATIVE,
	PCTL_LAW_IDENTITY,
	PCTL_LAW_SELF_INVERSE,
	PCTL_LAW_IDEMPOTENT,
	PCTL_LAW_ABSORBING,
	PCTL_LAW_DISTRIBUTIVE_OVER,
	PCTL_LAW_INVOLUTION,
	PCTL_LAW_MONOTONE,
	PCTL_LAW_BOUNDED,
	PCTL_LAW_DE_MORGAN,
	PCTL_LAW_COMPLEMENT,
	PCTL_LAW_CUSTOM
};

/*
 * A law an op obeys. `other`, `dual`: names of the other ops it speaks of. a, b: its constants (e, r, z, lo..hi, u), for
 * floats bits of f32, which are converted exactly or rounded to the dtype, for integers in two's complement of 64 bits,
 * cut or extended by the sign to the dtype (UINT64_MAX is all ones of u128 too).
 *
 * custom  of a function op, an equation that the host checks on devices:
 *             [DTYPE {, DTYPE} '|'] [GUARD {, GUARD} ':'] TERM RELATION TERM
 *         DTYPE     u32 i32 u64 u128 f16 bf16 f32: the law speaks of these alone; all of the op's without
 *         GUARD     TERM RELATION TERM; or "finite TERM", "number TERM" (no NaN), "normal TERM" (floats)
 *         RELATION  = != < <= > >=; = and != compare bits, NaN equals the same NaN, +0 is not -0; the others order by
 *                   the dtype and are false beside a NaN, with -0 below +0
 *         TERM      a b c (x stands for a), the operands; a literal: 12, -3, 0x7f, and for floats 1.5, +0, -0, +Inf,
 *                   -Inf, NaN (the canonical one), 0x.. (bits); "width" (bits of the dtype); NAME(TERM, ..), an op of
 *                   this library or LIB.NAME; a result has the dtype that op gives, literals take the one beside them;
 *                   "DTYPE(TERM)" reads the bits of a term as another dtype of that size, "DTYPE[LITERAL]" types one
 *         of a plan op, the law in words; a holds PCTL_LAW_JUDGED where the slot `law` checks it, and `other` is its short
 *         name then ("stable"), unique for its op. Without, it is prose, which is named and counts for nothing.
 */
#define PCTL_LAW_JUDGED 1u
/* It bounds how far a result may be from the exact one: bits may differ between devices, and an approximate op needs one. */
#define PCTL_LAW_MEASURED 2u
/* It is of a composition: it has other ops beside this one run, each of which the host then holds against its own reference too.
 * Level 4 asks for it, not the level of other laws. */
#define PCTL_LAW_COMPOSED 4u
typedef struct pctl_law {
	uint32_t law;
	uint32_t reserved;
	uint64_t a, b;
	const char *other;
	const char *dual;
	const char *custom;
} pctl_law;

/* An equivalence class: a name and a representative input: n_in values of the function op's type;
 * of a plan op, in[0] is a number of elements to try. */
typedef struct pctl_example {
	const char *name;
	uint64_t in[4];
} pctl_example;

typedef struct pctl_op_rules {
	pctl_head head;
	const pctl_law *laws;
	const pctl_example *classes;
	const pctl_example *boundaries;
	const char *const *alternates; /* other WGSL implementations of the same function */
	uint32_t n_laws, n_classes, n_boundaries, n_alternates;
} pctl_op_rules;

/* ---- proving plan ops ---------------------------------------------------------------------- */

/*
 * Problems of an op whose inputs hang together, so that the host cannot make them from the patterns of its ports: a graph,
 * an index into another input. n: how many numbers there are. about: what they are, for certificates ("graphs of up to 5000
 * nodes"). Problem number i of a seed is the same for ever: digests of certificates depend on it.
 */
typedef struct pctl_op_problems {
	pctl_head head;
	const char *about;
	uint64_t n;
} pctl_op_problems;

/*
 * The host's side of `problem`: each returns PCTL_OK, or the status that `problem` must return at once. Data are copied.
 *
 * input     port `port` is of type t; n_bytes is what a tensor of it has. The elements of a list have the numbers from its port's on,
 *           and are put in that order
 * attr      attribute i of the description; one that is not set has its default
 * measured  what a dimension that depends on data must be found to be, where the library knows it from making the data
 * rigid     inputs hang together so closely that no element can be left out or changed: a failing problem stays as it is
 */
typedef struct pctl_problem_sink {
	pctl_head head;
	void *ctx;
	pctl_status (*input)(void *ctx, uint32_t port, const pctl_tensor_type *t, const void *data,
			     uint64_t n_bytes);
	pctl_status (*attr)(void *ctx, uint32_t i, const char *text);
	pctl_status (*measured)(void *ctx, uint64_t value);
	pctl_status (*rigid)(void *ctx);
} pctl_problem_sink;

typedef struct pctl_span {
	void *data;
	uint64_t n_bytes;
} pctl_span;

/*
 * One case of a law: a problem and what the device under proof answered.
 *
 * law      index in the op's rules
 * round    0, and one more each time `again` was asked for
 * op       the op, the types of the inputs, the attributes
 * n_out    outputs of the op
 * tensors  numbered as the buffers of a plan: inputs, outputs, then what earlier rounds made, in the order they made it
 */
typedef struct pctl_law_case {
	pctl_head head;
	uint32_t law, round;
	uint32_t n_out, n_tensors;
	const pctl_op_query *op;
	const pctl_tensor_type *types;
	const pctl_span *tensors;
} pctl_law_case;

/*
 * The host's side of `law`. Each returns PCTL_OK, or the status that `law` must return at once. Whoever can say a law as
 * equations between tensors does: the host then runs, holds and compares all bytes itself.
 *
 * tensor  a tensor of the library's own making; its bytes are copied; *number is the next one
 * use     another use of an op of any loaded library, on the device under proof: inputs are numbers of tensors, attributes
 *         go by name (others have their defaults); its outputs, of which there must be n_out, get numbers from *first on.
 *         One that the device refuses is a failure of the law
 * equal   the bytes of tensor `got` are those of tensor `want`
 * judged  the library's own judgement of bytes: holds is 0 with what was found and what was wanted, in words
 * again   call `law` once more, with the outputs of all uses among the tensors
 *
 * A case in which nothing was claimed by `equal` or `judged` is one that the law does not speak of: it is counted as skipped.
 */
typedef struct pctl_law_sink {
	pctl_head head;
	void *ctx;
	pctl_status (*tensor)(void *ctx, const pctl_tensor_type *t, const void *data,
			      uint64_t n_bytes, uint32_t *number);
	pctl_status (*use)(void *ctx, const char *op, uint32_t version, const uint32_t *inputs,
			   uint32_t n_in, const pctl_attr *attr, uint32_t n_attr, uint32_t n_out,
			   uint32_t *first);
	pctl_status (*equal)(void *ctx, uint32_t got, uint32_t want);
	pctl_status (*judged)(void *ctx, uint32_t holds, const char *got, const char *want);
	pctl_status (*again)(void *ctx);
} pctl_law_sink;

/* ---- the table ---------------------------------------------------------------------------- */

typedef struct pctl_oplib {
	pctl_head head;

	/* Number of ops, and op i (stable order). [any thread] */
	uint32_t (*op_count)(pctl_instance *inst);
	const pctl_op_desc *(*op_at)(pctl_instance *inst, uint32_t i);

	/* Types of the outputs for these inputs and attributes, or a diagnostic. Pure. [any
	 * thread] */
	pctl_status (*infer)(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			     pctl_op_result *out);

	/* Kernel plans: put the nodes into the sink. A function op is asked only when it has
	 * attributes, and answers PCTL_E_UNSUPPORTED, having put nothing, where `function` is the
	 * whole answer: the host then makes the elementwise kernel from it. A plan op is not asked where
	 * infer called it a view: the host makes the kernel that copies. Pure. [any thread] */
	pctl_status (*plan)(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			    const pctl_plan_caps *caps, uint32_t flags, const pctl_plan_sink *sink);

	/* Function ops: the WGSL text of the function for operands of `dtype` (U128: vec4<u32>),
	 * or NULL when the op has no form for it. The function is named after the op with '.' as
	 * '_', plus "_" and the dtype's name unless it is u32: int_popcount, int_popcount_u64.
	 * Helpers in the text carry that name as prefix. A text that speaks of f16 starts with
	 * `enable f16;`. */
	const char *(*function)(pctl_instance *inst, uint32_t op, uint32_t dtype);

	/* The answer in plain C on host memory, independent of the kernels: inputs in port
	 * order, outputs allocated by the caller by infer's types. Limited to 64 MiB an input.
	 * [any thread] */
	pctl_status (*reference)(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
				 const pctl_span *in, pctl_span *out);

	/* The rules; an op with none is refused at load. */
	const pctl_op_rules *(*rules)(pctl_instance *inst, uint32_t op);

	/* [optional, appended: ask PCTL_HAS] Problems of a plan op, or NULL when the host is to make them from the patterns of
	 * its ports. Lives as long as the instance. */
	const pctl_op_problems *(*problems)(pctl_instance *inst, uint32_t op);
	/* [optional, appended] Put problem `number` of a plan op whose first input is of `dtype`. A number that means nothing
	 * is answered with PCTL_E_UNSUPPORTED, and nothing put. Pure. [any thread] */
	pctl_status (*problem)(pctl_instance *inst, const pctl_call *call, uint32_t op,
			       uint32_t dtype, uint64_t number, uint64_t seed,
			       const pctl_problem_sink *sink);
	/* [optional, appended] Check one case of a law with PCTL_LAW_JUDGED. It shares nothing with `reference`. Pure but for
	 * what the sink gives. [any thread] */
	pctl_status (*law)(pctl_instance *inst, const pctl_call *call, const pctl_law_case *c,
			   const pctl_law_sink *sink);
} pctl_oplib;

#endif
