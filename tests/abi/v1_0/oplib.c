/* An op library as somebody wrote it against version 1.0, knowing the frozen declarations alone:
 * one function op and one plan that uses a temporary, a copy and a kernel. It is here to be loaded
 * by every later host. */
#include "pctl_v1_0.h"

#include <stdlib.h>
#include <string.h>

#define MASK 0x5a5a5a5au

struct pctl_instance {
	uint32_t nothing;
};

enum { OP_NEXT, OP_MASK, OP_COUNT };

static const char next_wgsl[] = "fn frozen_next(x: u32) -> u32 {\n\treturn x + 1u;\n}\n";
static const char mask_wgsl[] = "@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
				"@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n"
				"@compute @workgroup_size(64)\n"
				"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
				"\tif (id.x < arrayLength(&y)) {\n"
				"\t\ty[id.x] = x[id.x] ^ 0x5a5a5a5au;\n"
				"\t}\n"
				"}\n";

static const pctl_port next_in[] = {{"x", "u32[...]", "a number", 0, 0}};
static const pctl_port next_out[] = {{"y", "u32[...]", "the next one", 0, 0}};
static const pctl_port mask_in[] = {{"x", "u32[n]", "numbers", 0, 0}};
static const pctl_port mask_out[] = {{"y", "u32[n]", "with bits turned over", 0, 0}};

static const pctl_op_desc ops[] = {
	{.head = V1_0_HEAD(pctl_op_desc),
	 .name = "frozen.next",
	 .doc = "the next number",
	 .spec = "y = x + 1 modulo 2^32",
	 .version = 1,
	 .kind = V1_0_FUNCTION,
	 .category = 'A',
	 .op_class = V1_0_CLASS_INTEGER,
	 .convention = 1,
	 .n_in = 1,
	 .n_out = 1,
	 .in = next_in,
	 .out = next_out},
	{.head = V1_0_HEAD(pctl_op_desc),
	 .name = "frozen.mask",
	 .doc = "bits turned over",
	 .spec = "y = x xor 0x5a5a5a5a",
	 .version = 1,
	 .kind = V1_0_PLAN,
	 .category = 'A',
	 .op_class = V1_0_CLASS_INTEGER,
	 .convention = 1,
	 .n_in = 1,
	 .n_out = 1,
	 .in = mask_in,
	 .out = mask_out},
};

static uint32_t op_count(pctl_instance *inst)
{
	(void)inst;
	return OP_COUNT;
}

static const pctl_op_desc *op_at(pctl_instance *inst, uint32_t i)
{
	(void)inst;
	return i < OP_COUNT ? &ops[i] : NULL;
}

static pctl_status infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			 pctl_op_result *out)
{
	(void)inst;
	(void)call;
	*out = (pctl_op_result){.head = V1_0_HEAD(pctl_op_result)};
	if (q->op >= OP_COUNT || q->n_in != 1 || q->in[0].dtype != V1_0_SCALAR_U32)
		return V1_0_INVALID;
	out->out[0] = q->in[0];
	return V1_0_OK;
}

static pctl_status plan(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			const pctl_plan_caps *caps, uint32_t flags, const pctl_plan_sink *sink)
{
	const uint64_t n_bytes = q->in[0].dim[0] * 4;
	pctl_plan_binding bindings[2] = {{.binding = 0}, {.binding = 1, .buffer = 1}};
	const pctl_plan_kernel k = {.head = V1_0_HEAD(pctl_plan_kernel),
				    .name = "frozen/mask.wgsl",
				    .wgsl = mask_wgsl,
				    .bindings = bindings,
				    .n_bindings = 2,
				    .groups = {(uint32_t)((q->in[0].dim[0] + 63) / 64), 1, 1}};
	pctl_status s;

	(void)inst;
	(void)call;
	(void)caps;
	if (q->op != OP_MASK || flags)
		return V1_0_UNSUPPORTED;
	s = sink->temp(sink->ctx, n_bytes, &bindings[0].buffer);
	if (!s)
		s = sink->copy(sink->ctx, 0, 0, bindings[0].buffer, 0, n_bytes);
	return s ? s : sink->kernel(sink->ctx, &k);
}

static const char *function(pctl_instance *inst, uint32_t op, uint32_t dtype)
{
	(void)inst;
	return op == OP_NEXT && dtype == V1_0_SCALAR_U32 ? next_wgsl : NULL;
}

static pctl_status reference(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			     const pctl_span *in, pctl_span *out)
{
	(void)inst;
	(void)call;
	for (uint64_t i = 0; i + 4 <= in[0].n_bytes; i += 4) {
		uint32_t x;

		memcpy(&x, (const char *)in[0].data + i, 4);
		x = q->op == OP_NEXT ? x + 1 : x ^ MASK;
		memcpy((char *)out[0].data + i, &x, 4);
	}
	return V1_0_OK;
}

static const pctl_op_rules *rules(pctl_instance *inst, uint32_t op)
{
	static const pctl_law laws[] = {
		{.law = V1_0_LAW_CUSTOM, .custom = "next(x) - x = 1 modulo 2^32"},
		{.law = V1_0_LAW_CUSTOM, .custom = "mask(mask(x)) = x"}};
	static const pctl_example classes[] = {{"small", {3}}, {"large", {0x80000001}}};
	static const pctl_example boundaries[] = {{"least", {0}}, {"most", {0xffffffff}}};
	static const pctl_op_rules both[] = {
		{V1_0_HEAD(pctl_op_rules), &laws[0], classes, boundaries, NULL, 1, 2, 2, 0},
		{V1_0_HEAD(pctl_op_rules), &laws[1], classes, boundaries, NULL, 1, 2, 2, 0}};

	(void)inst;
	return op < OP_COUNT ? &both[op] : NULL;
}

static const pctl_oplib table = {.head = V1_0_HEAD(pctl_oplib),
				 .op_count = op_count,
				 .op_at = op_at,
				 .infer = infer,
				 .plan = plan,
				 .function = function,
				 .reference = reference,
				 .rules = rules};

static pctl_status plugin_open(const pctl_host *host, const pctl_call *call, pctl_instance **out)
{
	(void)host;
	(void)call;
	*out = calloc(1, sizeof(**out));
	return *out ? V1_0_OK : V1_0_NOMEM;
}

static void plugin_close(pctl_instance *inst)
{
	free(inst);
}

static const void *plugin_interface(pctl_instance *inst, const char *name)
{
	return inst && !strcmp(name, "pctl.oplib/1") ? &table : NULL;
}

extern const pctl_plugin pctl_plugin_v1;
V1_0_EXPORT const pctl_plugin pctl_plugin_v1 = {
	V1_0_HEAD(pctl_plugin), "frozen-ops",	  "1.0", 0, 0, plugin_open,
	plugin_close,		plugin_interface,
};
