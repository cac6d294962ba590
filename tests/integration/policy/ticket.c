/* An op library with one op, test.ticket@1: every element gets the number in which its invocation came by. The order of its
 * atomics shows, and it says that it is of class integer. */
#define OPLIB_ID "ticket"
#include "fakes/oplib.h"

static const char ticket_wgsl[] =
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
	"@group(0) @binding(1) var<storage, read_write> seen: array<u32>;\n"
	"@group(0) @binding(2) var<storage, read_write> cell: atomic<u32>;\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	"\tif (id.x < arrayLength(&seen)) {\n"
	"\t\tseen[id.x] = x[id.x] + atomicAdd(&cell, 1u);\n"
	"\t}\n"
	"}\n";

static const pctl_port in_ports[] = {{"x", "u32[n]", "numbers", 0, 0}};
static const pctl_port out_ports[] = {{"seen", "u32[n]", "with their tickets added", 0, 0}};
static const pctl_op_desc ticket = {.head = PCTL_HEAD(pctl_op_desc),
				    .name = "test.ticket",
				    .doc = "tickets in the order of arrival",
				    .spec = "whoever comes first gets 0",
				    .version = 1,
				    .kind = PCTL_OPDEF_PLAN,
				    .category = 'A',
				    .op_class = PCTL_CLASS_INTEGER,
				    .convention = 1,
				    .n_in = 1,
				    .n_out = 1,
				    .in = in_ports,
				    .out = out_ports};

static uint32_t oplib_ops(const pctl_op_desc **out)
{
	*out = &ticket;
	return 1;
}

static pctl_status infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			 pctl_op_result *result)
{
	(void)inst;
	(void)call;
	return oplib_infer_same(q, result);
}

static pctl_status plan(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			const pctl_plan_caps *caps, uint32_t flags, const pctl_plan_sink *sink)
{
	pctl_plan_binding bindings[3] = {
		{.binding = 0, .buffer = 0}, {.binding = 1, .buffer = 1}, {.binding = 2}};
	const pctl_plan_kernel k = {.head = PCTL_HEAD(pctl_plan_kernel),
				    .name = "test/ticket.wgsl",
				    .wgsl = ticket_wgsl,
				    .bindings = bindings,
				    .n_bindings = 3,
				    .groups = {oplib_groups(q), 1, 1}};
	pctl_status status;

	(void)inst;
	(void)call;
	(void)caps;
	if (flags != 0)
		return PCTL_E_UNSUPPORTED;
	status = sink->temp(sink->ctx, 4, &bindings[2].buffer);
	if (status == PCTL_OK)
		status = sink->fill(sink->ctx, bindings[2].buffer, 0, 4, 0);
	return status == PCTL_OK ? sink->kernel(sink->ctx, &k) : status;
}

/* As if the elements came one behind the other. */
static pctl_status reference(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			     const pctl_span *from, pctl_span *to)
{
	(void)inst;
	(void)call;
	(void)q;
	for (uint32_t i = 0; i < from[0].n_bytes / 4; i++)
		((uint32_t *)to[0].data)[i] = ((const uint32_t *)from[0].data)[i] + i;
	return PCTL_OK;
}

static const pctl_op_rules *rules(pctl_instance *inst, uint32_t op)
{
	static const pctl_law law = {.law = PCTL_LAW_CUSTOM, .custom = "each ticket is given once"};
	static const pctl_example classes[] = {{"small", {3}}, {"large", {0x80000001}}};
	static const pctl_example boundaries[] = {{"least", {0}}, {"most", {0xffffffff}}};
	static const pctl_op_rules all = {.head = PCTL_HEAD(pctl_op_rules),
					  .laws = &law,
					  .classes = classes,
					  .boundaries = boundaries,
					  .n_laws = 1,
					  .n_classes = 2,
					  .n_boundaries = 2};

	(void)inst;
	return op == 0 ? &all : NULL;
}
