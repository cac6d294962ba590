/* A small op library in memory, for tests of the graph and of plans: no plugin is loaded. What the op
 * fake.plan puts into its plan is chosen by the test. */
#ifndef PIPECTL_TESTS_UNIT_GRAPH_FAKE_H
#define PIPECTL_TESTS_UNIT_GRAPH_FAKE_H

#include "main.h"

#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/jobplan.h"

#define FAKE_KERNEL                                                       \
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"       \
	"@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n" \
	"@compute @workgroup_size(64)\n"                                  \
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"       \
	"\tif (id.x < arrayLength(&y)) { y[id.x] = x[id.x] + 1u; }\n}\n"

typedef pctl_status (*fake_planner)(const pctl_call *call, const pctl_plan_sink *s);
static fake_planner fake_plan_with;
static void (*fake_infer_with)(pctl_op_result *out); /* NULL, or how infer lies */
static const char *fake_digest = "d1", *fake_other_digest = "o1";

static const pctl_port fake_x[] = {{"x", "u32[n]", "data", 0, 0}};
static const pctl_port fake_y[] = {{"y", "u32[n]", "data", 0, 0}};
static const pctl_port fake_any_x[] = {{"x", "u32|u64[...]", "data", 0, 0}};
static const pctl_port fake_any_y[] = {{"y", "u32|u64[...]", "data", 0, 0}};
static const pctl_port fake_pair[] = {{"a", "u32[n]", "data", 0, 0}, {"b", "u32[n]", "data", 0, 0}};
static const pctl_port fake_floats_x[] = {{"x", "f32|f16|bf16[...]", "data", 0, 0}};
static const pctl_port fake_floats_y[] = {{"y", "f32|f16|bf16[...]", "data", 0, 0}};
static const pctl_port fake_whole_b[] = {{"a", "u32[...]", "data", 0, 0},
					 {"b", "u32[...]", "data", PCTL_PORT_WHOLE, 0}};
static const pctl_port fake_whole_y[] = {{"y", "u32[...]", "data", 0, 0}};
static const pctl_port fake_wide[] = {{"x", "u64[n,2]", "data", 0, 0}};
static const pctl_attr_desc fake_attr[] = {{"times", "1", "how often", PCTL_ATTR_U64, 0, 1, 10},
					   {"must", NULL, "given", PCTL_ATTR_BOOL, 0, 0, 0}};

enum {
	FAKE_PLAN,
	FAKE_FUNCTION,
	FAKE_TWO,
	FAKE_WIDE,
	FAKE_ATTR,
	FAKE_FLOAT,
	FAKE_HALF,
	FAKE_WHOLE,
	FAKE_OPS
};
#define FAKE_OP(name, version, kind, class, in, out, attr, n_attr)                                \
	{                                                                                         \
		PCTL_HEAD(pctl_op_desc), name, "an op", "exactly", version, kind, 'A', class, 1,  \
			sizeof(in) / sizeof((in)[0]), sizeof(out) / sizeof((out)[0]), n_attr, in, \
			out, attr, NULL, NULL                                                     \
	}
static const pctl_op_desc fake_ops[] = {
	FAKE_OP("fake.plan", 1, PCTL_OPDEF_PLAN, PCTL_CLASS_INTEGER, fake_x, fake_y, NULL, 0),
	FAKE_OP("fake.inc", 1, PCTL_OPDEF_FUNCTION, PCTL_CLASS_INTEGER, fake_any_x, fake_any_y,
		NULL, 0),
	FAKE_OP("fake.two", 2, PCTL_OPDEF_PLAN, PCTL_CLASS_INTEGER, fake_pair, fake_pair, NULL, 0),
	FAKE_OP("fake.wide", 1, PCTL_OPDEF_PLAN, PCTL_CLASS_INTEGER, fake_wide, fake_y, NULL, 0),
	FAKE_OP("fake.attr", 1, PCTL_OPDEF_PLAN, PCTL_CLASS_INTEGER, fake_x, fake_y, fake_attr, 2),
	FAKE_OP("fake.float", 1, PCTL_OPDEF_PLAN, PCTL_CLASS_STRICT, fake_x, fake_y, NULL, 0),
	FAKE_OP("fake.half", 1, PCTL_OPDEF_FUNCTION, PCTL_CLASS_STRICT, fake_floats_x,
		fake_floats_y, NULL, 0),
	FAKE_OP("fake.whole", 1, PCTL_OPDEF_FUNCTION, PCTL_CLASS_INTEGER, fake_whole_b,
		fake_whole_y, NULL, 0),
};

static pctl_status fake_infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			      pctl_op_result *out)
{
	(void)inst;
	(void)call;
	for (uint32_t i = 0; i < fake_ops[q->op].n_out; i++)
		out->out[i] = q->in[0];
	if (fake_infer_with != NULL)
		fake_infer_with(out);
	return PCTL_OK;
}

static pctl_status fake_plan(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			     const pctl_plan_caps *caps, uint32_t flags, const pctl_plan_sink *sink)
{
	(void)inst;
	(void)q;
	(void)caps;
	(void)flags;
	return fake_plan_with(call, sink);
}

static const char *fake_function(pctl_instance *inst, uint32_t op, uint32_t dtype)
{
	(void)inst;
	if (op == FAKE_HALF && dtype == PCTL_SCALAR_F32)
		return "fn fake_half_f32(x: f32) -> f32 { return x * 0.5 + 1.0; }";
	if (op == FAKE_HALF && dtype == PCTL_SCALAR_F16)
		return "enable f16;\nfn fake_half_f16(x: f16) -> f16 { return x * 0.5h + 1.0h; }";
	if (op == FAKE_HALF && dtype == PCTL_SCALAR_BF16)
		return "fn fake_half_bf16(x: bf16) -> bf16 { return x * bf16(0.5) + bf16(1.0); }";
	if (op == FAKE_WHOLE && dtype == PCTL_SCALAR_U32)
		return "fn fake_whole(a: u32, b: u32) -> u32 { return a ^ b; }";
	return op != FAKE_HALF && dtype == PCTL_SCALAR_U32
		       ? "fn fake_inc(x: u32) -> u32 { return x + 1u; }"
		       : NULL;
}

static const pctl_oplib fake_lib = {.head = PCTL_HEAD(pctl_oplib),
				    .infer = fake_infer,
				    .plan = fake_plan,
				    .function = fake_function};

static uint32_t fake_count(void *ctx)
{
	(void)ctx;
	return FAKE_OPS;
}

static void fake_at(void *ctx, uint32_t i, pctl_op_ref *out)
{
	int other = i == FAKE_FLOAT; /* of a second library */

	(void)ctx;
	*out = (pctl_op_ref){&fake_lib,
			     NULL,
			     &fake_ops[i],
			     i,
			     0,
			     other ? "other" : "fake",
			     other ? fake_other_digest : fake_digest};
}

static const pctl_op_source fake_source = {NULL, fake_count, fake_at};

/* 1 when a diagnostic with this code was collected. */
static inline int fake_saw(const pctl_diag_list *l, uint32_t code)
{
	for (uint32_t i = 0; i < pctl_diag_list_count(l); i++) {
		if (pctl_diag_list_at(l, i)->code == code)
			return 1;
	}
	return 0;
}

#endif
