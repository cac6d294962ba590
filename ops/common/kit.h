/* What every op library of this folder shares: the plugin boilerplate, the oplib table answered
 * from a table of ops, and a planner that remembers the first refusal so that plans read as
 * straight lines. Compiled into each library; knows no op. */
#ifndef PIPECTL_OPS_KIT_H
#define PIPECTL_OPS_KIT_H

#include <string.h>

#include "pipectl/backend.h"
#include "pipectl/oplib.h"

#define KIT_COUNT(a) ((uint32_t)(sizeof(a) / sizeof((a)[0])))

typedef struct kit_op kit_op;
struct kit_law;
struct kit_problem;

/* One question about one op, as its infer, plan and reference get it. */
typedef struct kit_use {
	pctl_instance *inst;
	const kit_op *op;
	const pctl_call *call;
	const pctl_op_query *q;
} kit_use;

/* A plan under construction. After the first refusal (`status` is not PCTL_OK) every call does
 * nothing. */
typedef struct kit_plan {
	const kit_use *use;
	const pctl_plan_sink *sink;
	const pctl_plan_caps *caps;
	uint32_t measure; /* 1: PCTL_PLAN_MEASURE was asked for */
	pctl_status status;
	uint32_t through; /* PCTL_PLAN_READ_THROUGH and PCTL_PLAN_WRITE_THROUGH */
} kit_plan;

/* What the host has for a tunable, PCTL_TUNABLE_* (tunables.def); 0: nothing, as an older host. */
static inline uint32_t kit_tunable(const kit_plan *p, uint32_t tunable)
{
	return PCTL_HAS(p->caps, pctl_plan_caps, tunable) ? p->caps->tunable[tunable] : 0;
}

/* A kernel's text in two parts, the second of which ops have in common: made one at open. */
typedef struct kit_joined {
	const char *head;
	const char *body;
} kit_joined;

/* One op. function: kind FUNCTION only; plan: kind PLAN, and a FUNCTION with attributes that its
 * function does not know. data belongs to the library. */
struct kit_op {
	pctl_op_desc desc;
	pctl_op_rules rules;
	const char *(*function)(const kit_op *op, uint32_t dtype);
	pctl_status (*infer)(const kit_use *u, pctl_op_result *out);
	void (*plan)(kit_plan *p);
	pctl_status (*reference)(const kit_use *u, const pctl_span *in, pctl_span *out);
	/* law.c: checks of the laws of a plan op, in the order of rules.laws; problems of its own */
	void (*const *laws)(struct kit_law *l);
	const pctl_op_problems *problems;
	void (*problem)(struct kit_problem *p);
	const void *data;
	const kit_joined *joined;
	uint32_t n_joined;
};

/* What plan ops say of themselves, within `.desc` and as `.rules`: category A, planned; ports, attributes, laws and boundaries are arrays. */
#define KIT_PLAN_OP(op_name, op_version, class_)                                 \
	.head = PCTL_HEAD(pctl_op_desc), .name = op_name, .version = op_version, \
	.kind = PCTL_OPDEF_PLAN, .category = 'A', .op_class = class_, .convention = 1
#define KIT_IN(ports) .n_in = KIT_COUNT(ports), .in = ports
#define KIT_OUT(ports) .n_out = KIT_COUNT(ports), .out = ports
#define KIT_ATTR(attrs) .n_attr = KIT_COUNT(attrs), .attr = attrs
#define KIT_PLAN_RULES(laws_, boundaries_)                                                   \
	{                                                                                    \
		.head = PCTL_HEAD(pctl_op_rules), .laws = laws_, .n_laws = KIT_COUNT(laws_), \
		.boundaries = boundaries_, .n_boundaries = KIT_COUNT(boundaries_)            \
	}

/* A function op in one line: version 1, category A, one output. Its rules are the arrays <id>_laws, <id>_classes and
 * <id>_bounds beside it; <library>_function, <library>_infer and <library>_reference answer for it, out of row. */
#define KIT_FUNCTION_OP(library, op_name, op_doc, op_spec, class_, ports_in, ports_out, row, id) \
	{                                                                                        \
		.desc = {.head = PCTL_HEAD(pctl_op_desc),                                        \
			 .name = #library "." op_name,                                           \
			 .doc = op_doc,                                                          \
			 .spec = op_spec,                                                        \
			 .version = 1,                                                           \
			 .kind = PCTL_OPDEF_FUNCTION,                                            \
			 .category = 'A',                                                        \
			 .op_class = class_,                                                     \
			 .convention = 1,                                                        \
			 .n_in = KIT_COUNT(ports_in),                                            \
			 .n_out = 1,                                                             \
			 .in = ports_in,                                                         \
			 .out = ports_out},                                                      \
		.rules = {.head = PCTL_HEAD(pctl_op_rules),                                      \
			  .laws = id##_laws,                                                     \
			  .classes = id##_classes,                                               \
			  .boundaries = id##_bounds,                                             \
			  .n_laws = KIT_COUNT(id##_laws),                                        \
			  .n_classes = KIT_COUNT(id##_classes),                                  \
			  .n_boundaries = KIT_COUNT(id##_bounds)},                               \
		.function = library##_function, .infer = library##_infer,                        \
		.reference = library##_reference, .data = &(row)                                 \
	}

/*
 * Ops that stand in one file. texts_u64: their kernels written for u64 of which a form for u32
 * exists too; it is the same text with every "u64" read as "u32", made once at open.
 */
typedef struct kit_family {
	const kit_op *ops;
	const char *const *texts_u64;
	uint32_t n_ops, n_texts_u64;
} kit_family;

#define KIT_TEXTS_MAX 16u /* of a library */

typedef struct kit_library {
	const kit_family *const *families;
	uint32_t n_families;
	uint32_t reserved;
} kit_library;

pctl_status kit_open(const kit_library *lib, const pctl_host *host, const pctl_call *call,
		     pctl_instance **out);
void kit_close(pctl_instance *inst);
const void *kit_interface(pctl_instance *inst, const char *name);

/* Defines the plugin symbol of a library; once a library, at file scope. */
#define KIT_PLUGIN(plugin_id, library)                                               \
	static pctl_status plugin_open(const pctl_host *host, const pctl_call *call, \
				       pctl_instance **out)                          \
	{                                                                            \
		return kit_open(&(library), host, call, out);                        \
	}                                                                            \
	PCTL_EXPORT const pctl_plugin pctl_plugin_v1 = {                             \
		.head = PCTL_HEAD(pctl_plugin),                                      \
		.id = plugin_id,                                                     \
		.version = PIPECTL_VERSION,                                          \
		.build_flags = PCTL_BUILD_FLAGS,                                     \
		.open = plugin_open,                                                 \
		.close = kit_close,                                                  \
		.interface = kit_interface,                                          \
	}

/* The kernel text for elements of `dtype` (u32 or u64) of a text listed in texts_u64. */
const char *kit_text(const kit_use *u, const char *text_u64, uint32_t dtype);

/* Text number i of the op's joined ones. */
const char *kit_joined_text(const kit_use *u, uint32_t i);

/* ---- types ------------------------------------------------------------------------------------
 */

/* Bytes of one element; 0 for a dtype no op library here knows. */
uint64_t kit_dtype_bytes(uint32_t dtype);
/* Bits of an element, or of a block of *block elements; 0 for an unknown dtype. */
uint32_t kit_dtype_bits(uint32_t dtype, uint32_t *block);
/* Bytes of a tensor of any dtype, packed; UINT64_MAX where there is none such. */
uint64_t kit_bytes(const pctl_tensor_type *t);
const char *kit_dtype_name(uint32_t dtype);
/* Number of elements, saturating at UINT64_MAX. */
uint64_t kit_elements(const pctl_tensor_type *t);
int kit_same_shape(const pctl_tensor_type *a, const pctl_tensor_type *b);
pctl_tensor_type kit_vector(uint32_t dtype, uint64_t n);

/* Refusals (PC4201, PC4202, PC4204), with the op and the port or attribute named. */
pctl_status kit_refuse_type(const kit_use *u, uint32_t port, const char *wanted);
pctl_status kit_refuse_attr(const kit_use *u, const char *attr, const char *why);
/* strtof with a decimal point, whatever locale the program has set. */
float kit_parse_f32(const char *text, char **end);
pctl_status kit_refuse_size(const kit_use *u, const char *what, uint64_t found, uint64_t most);
/* PC4201 unless input `port` is of that dtype and rank. */
pctl_status kit_want(const kit_use *u, uint32_t port, uint32_t dtype, uint32_t rank);
/* PC4204 when n is over `most`. */
pctl_status kit_limit(const kit_use *u, const char *what, uint64_t n, uint64_t most);

/* The value of attribute number i of the description. */
uint64_t kit_attr(const kit_use *u, uint32_t i);
/* Memory of the host for a reference; NULL when there is none (n_bytes 0 gives a valid pointer). */
void *kit_scratch(const kit_use *u, uint64_t n_bytes);
void kit_scratch_free(const kit_use *u, void *p);
/* 1 and *out when a dimension of that name was measured. */
int kit_measured(const kit_use *u, const char *name, uint64_t *out);

/* ---- plans ------------------------------------------------------------------------------------
 */

/* The plan's number of input or output port i. */
uint32_t kit_in(const kit_plan *p, uint32_t i);
uint32_t kit_out(const kit_plan *p, uint32_t i);

uint32_t kit_temp(kit_plan *p, uint64_t n_bytes);
uint32_t kit_params(kit_plan *p, const void *bytes, uint64_t n_bytes);
/* The buffer of bytes that are the same in every plan: whole words, under their CID. */
uint32_t kit_constant(kit_plan *p, const char *cid, const void *bytes, uint64_t n_bytes);
/* The commands up to kit_repeat_end `times` times, the buffers of each pair exchanged in every second turn. */
void kit_repeat(kit_plan *p, uint32_t times, const pctl_plan_pair *pairs, uint32_t n_pairs);
void kit_repeat_end(kit_plan *p);
void kit_fill(kit_plan *p, uint32_t buffer, uint64_t offset, uint64_t n_bytes, uint32_t word);
void kit_copy(kit_plan *p, uint32_t from, uint64_t from_offset, uint32_t to, uint64_t to_offset,
	      uint64_t n_bytes);
void kit_assert(kit_plan *p, uint32_t buffer, uint32_t bytes, uint64_t expected,
		const char *message);
void kit_measure(kit_plan *p, uint32_t buffer, uint32_t bytes, uint64_t add);

/* What binding i of group 0 gets; n_bytes 0 with offset 0 is the whole buffer. */
typedef struct kit_slot {
	uint32_t buffer;
	uint64_t offset;
	uint64_t n_bytes;
	uint32_t turn_stride; /* within a repeat: how much later the range begins with each turn */
	uint32_t reserved;
} kit_slot;

#define KIT_ALL(b)            \
	{                     \
		.buffer = (b) \
	}
#define KIT_PART(b, from, bytes)                                    \
	{                                                           \
		.buffer = (b), .offset = (from), .n_bytes = (bytes) \
	}

/* A kernel of a library and the override it takes, if any. */
typedef struct kit_kernel {
	const char *name; /* "tensor/scan_apply.wgsl" */
	const char *text;
	uint32_t local; /* invocations of a workgroup */
	const char *override_name;
	uint64_t override_value;
} kit_kernel;

/* Invocation `lane` of a kernel of 64 is gid.y * KIT_LANES_ROW + gid.x, workgroup `group` of any
 * kernel wid.y * KIT_GROUPS_ROW + wid.x; lanes and groups past the end are the kernel's to ignore.
 */
#define KIT_GROUPS_ROW 65535u
#define KIT_LANES_ROW (KIT_GROUPS_ROW * 64u)

/* Dispatch enough workgroups for `lanes` invocations (none for 0). */
void kit_run(kit_plan *p, const kit_kernel *k, uint64_t lanes, const kit_slot *slots,
	     uint32_t n_slots);

/* The same, of which a kernel before found how many workgroups are needed: three u32, at the begin of the temporary `counts`. */
void kit_run_counted(kit_plan *p, const kit_kernel *k, uint64_t lanes, const kit_slot *slots,
		     uint32_t n_slots, uint32_t counts);

/* Of a text that calls functions of the host: which of the plan's `through`, and the elements that they count from. */
typedef struct kit_through {
	uint32_t flags;
	uint64_t read_from, write_from;
} kit_through;
/* kit_run of such a text. */
void kit_run_through(kit_plan *p, const kit_kernel *k, uint64_t lanes, const kit_slot *slots,
		     uint32_t n_slots, kit_through through);
/* kit_run_through in two dimensions, of KIT_GROUPS_ROW workgroups each at most: workgroup (wid.x, wid.y). */
void kit_run_grid(kit_plan *p, const kit_kernel *k, const uint64_t groups[2], const kit_slot *slots,
		  uint32_t n_slots, kit_through through);

/* Another op in place; attrs as name and value pairs. */
typedef struct kit_arg {
	uint32_t buffer;
	pctl_tensor_type type;
} kit_arg;
typedef struct kit_setting {
	const char *name;
	uint64_t value;
} kit_setting;
void kit_run_op(kit_plan *p, const char *name, uint32_t version, const kit_arg *args,
		uint32_t n_args, const kit_setting *settings, uint32_t n_settings);
/* The same with attributes that are no numbers; all that the op has. */
void kit_run_op_as(kit_plan *p, const char *name, uint32_t version, const kit_arg *args,
		   uint32_t n_args, const pctl_attr *attrs, uint32_t n_attrs);

/* ---- laws and problems ------------------------------------------------------------------------
 */

/* One case of a law under check. After the first refusal or broken claim every call does nothing. */
typedef struct kit_law {
	kit_use use;
	const pctl_law_case *c;
	const pctl_law_sink *sink;
	pctl_status status;
} kit_law;

/* Tensors by number: input port i is i, output port i this one, then what the calls below made, in order. */
uint32_t kit_law_out(const kit_law *l, uint32_t i);
const uint8_t *kit_law_data(const kit_law *l, uint32_t tensor); /* of this round's */
uint64_t kit_law_bytes(const kit_law *l, uint32_t tensor);
const char *kit_law_attr(const kit_law *l, const char *name); /* as written */
uint32_t kit_law_tensor(kit_law *l, const pctl_tensor_type *t, const void *bytes);
/* Another use of an op of this library, of its own version where it is the op itself, else of version 1: the number of its first output. */
uint32_t kit_law_use(kit_law *l, const char *op, const uint32_t *inputs, uint32_t n_in,
		     const pctl_attr *attr, uint32_t n_attr, uint32_t n_out);
void kit_law_equal(kit_law *l, uint32_t got, uint32_t want);
void kit_law_holds(kit_law *l);
/* It does not hold: "what[i] = got", where want was wanted; or in words. */
void kit_law_broken(kit_law *l, const char *what, uint64_t i, uint64_t got, uint64_t want);
void kit_law_says(kit_law *l, const char *got, const char *want);
/* Once more, with what the uses gave. */
void kit_law_again(kit_law *l);
/* Zeroed memory, NULL after a refusal too. */
void *kit_law_scratch(kit_law *l, uint64_t n_bytes);
void kit_law_free(kit_law *l, void *p);

/* One problem under construction; use.q is NULL. */
typedef struct kit_problem {
	kit_use use;
	uint32_t dtype;
	uint64_t number, seed;
	const pctl_problem_sink *sink;
	pctl_status status;
} kit_problem;

void kit_problem_input(kit_problem *p, uint32_t port, const pctl_tensor_type *t, const void *data);
void kit_problem_attr(kit_problem *p, uint32_t i, uint64_t value);
void kit_problem_attr_text(kit_problem *p, uint32_t i, const char *text);
void kit_problem_measured(kit_problem *p, uint64_t value);
void kit_problem_rigid(kit_problem *p);
/* The number means nothing. */
void kit_problem_none(kit_problem *p);

/* The next number of a sequence that depends on seed and counter alone. */
uint64_t kit_random(uint64_t seed, uint64_t counter);

#endif
