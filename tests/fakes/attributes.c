/* An op library whose op copies its input and has ATTRIBUTES attributes, which change nothing: as many as an op may have, or one more. */
#define OPLIB_ID "attributes"
#include "oplib.h"

static const pctl_port in_ports[] = {{"x", "u32[n]", "numbers", 0, 0}};
static const pctl_port out_ports[] = {{"y", "u32[n]", "the same", 0, 0}};
#define ATTR(NAME)                                                   \
	{                                                            \
		NAME, "0", "changes nothing", PCTL_ATTR_U64, 0, 0, 9 \
	}
static const pctl_attr_desc attrs[] = {ATTR("a"), ATTR("b"), ATTR("c"), ATTR("d"), ATTR("e"),
				       ATTR("f"), ATTR("g"), ATTR("h"), ATTR("i"), ATTR("j"),
				       ATTR("k"), ATTR("l"), ATTR("m")};
static const pctl_op_desc ops[] = {{.head = PCTL_HEAD(pctl_op_desc),
				    .name = "attributes.copy",
				    .doc = "the same numbers",
				    .spec = "y = x",
				    .version = 1,
				    .kind = PCTL_OPDEF_PLAN,
				    .category = 'A',
				    .op_class = PCTL_CLASS_INTEGER,
				    .convention = 1,
				    .n_in = 1,
				    .n_out = 1,
				    .n_attr = ATTRIBUTES,
				    .in = in_ports,
				    .out = out_ports,
				    .attr = attrs}};

static uint32_t oplib_ops(const pctl_op_desc **out)
{
	*out = ops;
	return 1;
}

static pctl_status infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			 pctl_op_result *out)
{
	(void)inst;
	(void)call;
	return oplib_infer_same(q, out);
}

static pctl_status plan(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			const pctl_plan_caps *caps, uint32_t flags, const pctl_plan_sink *sink)
{
	static const char wgsl[] = "@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
				   "@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n"
				   "@compute @workgroup_size(64)\n"
				   "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
				   "\tif (id.x < arrayLength(&y)) {\n"
				   "\t\ty[id.x] = x[id.x];\n"
				   "\t}\n"
				   "}\n";
	const pctl_plan_binding bindings[2] = {{.binding = 0}, {.binding = 1, .buffer = 1}};
	const pctl_plan_kernel k = {.head = PCTL_HEAD(pctl_plan_kernel),
				    .name = "attributes/copy.wgsl",
				    .wgsl = wgsl,
				    .bindings = bindings,
				    .n_bindings = 2,
				    .groups = {oplib_groups(q), 1, 1}};

	(void)inst;
	(void)call;
	(void)caps;
	(void)flags;
	return sink->kernel(sink->ctx, &k);
}

static pctl_status reference(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			     const pctl_span *in, pctl_span *out)
{
	(void)inst;
	(void)call;
	(void)q;
	memcpy(out[0].data, in[0].data, in[0].n_bytes);
	return PCTL_OK;
}

static const pctl_op_rules *rules(pctl_instance *inst, uint32_t op)
{
	static const pctl_example classes[] = {{"small", {3}}}, boundaries[] = {{"least", {0}}};
	static const pctl_op_rules all = {
		PCTL_HEAD(pctl_op_rules), NULL, classes, boundaries, NULL, 0, 1, 1, 0};

	(void)inst;
	(void)op;
	return &all;
}
