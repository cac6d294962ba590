/* An op library with one op, test.ticket@1: every element gets the number in which its invocation came by. The order of its
 * atomics shows, and it says that it is of class integer. */
#include <stdlib.h>
#include <string.h>

#include "pipectl/oplib.h"
#include "pipectl/plugin.h"

struct pctl_instance {
	uint32_t nothing;
};

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

static const pctl_port in[] = {{"x", "u32[n]", "numbers", 0, 0}};
static const pctl_port out[] = {{"seen", "u32[n]", "with their tickets added", 0, 0}};
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
				    .in = in,
				    .out = out};

static uint32_t op_count(pctl_instance *inst)
{
	(void)inst;
	return 1;
}

static const pctl_op_desc *op_at(pctl_instance *inst, uint32_t i)
{
	(void)inst;
	return i == 0 ? &ticket : NULL;
}

static pctl_status infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			 pctl_op_result *result)
{
	(void)inst;
	(void)call;
	*result = (pctl_op_result){.head = PCTL_HEAD(pctl_op_result)};
	result->out[0] = q->in[0];
	return PCTL_OK;
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
				    .groups = {(uint32_t)((q->in[0].dim[0] + 63) / 64), 1, 1}};
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

static const char *function(pctl_instance *inst, uint32_t op, uint32_t dtype)
{
	(void)inst;
	(void)op;
	(void)dtype;
	return NULL;
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

static const pctl_oplib table = {.head = PCTL_HEAD(pctl_oplib),
				 .op_count = op_count,
				 .op_at = op_at,
				 .infer = infer,
				 .plan = plan,
				 .function = function,
				 .reference = reference,
				 .rules = rules};

static pctl_status plugin_open(const pctl_host *host, const pctl_call *call, pctl_instance **inst)
{
	(void)host;
	(void)call;
	*inst = calloc(1, sizeof(**inst));
	return *inst == NULL ? PCTL_E_NOMEM : PCTL_OK;
}

static void plugin_close(pctl_instance *inst)
{
	free(inst);
}

static const void *plugin_interface(pctl_instance *inst, const char *name)
{
	(void)inst;
	return strcmp(name, "pctl.oplib/1") == 0 ? &table : NULL;
}

PCTL_EXPORT const pctl_plugin pctl_plugin_v1 = {
	.head = PCTL_HEAD(pctl_plugin),
	.id = "ticket",
	.version = "1.0",
	.open = plugin_open,
	.close = plugin_close,
	.interface = plugin_interface,
};
