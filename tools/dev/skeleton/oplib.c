/* An op library with one op, LIB.OP: every element of a vector plus a number. It needs the SDK's headers alone. Read
 * from the bottom up: the host finds pctl_plugin_v1, opens an instance, asks for the table, and calls the slots. */
#include "pipectl/oplib.h"
#include "pipectl/program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

#define GROUP 64u
#define MOST_GROUPS 65535u

struct pctl_instance {
	uint32_t unused; /* a library keeps nothing between calls */
};

static const pctl_port inputs[] = {{"x", "u32[n]", "the numbers", 0, 0}};
static const pctl_port outputs[] = {{"y", "u32[n]", "the numbers, shifted", 0, 0}};
static const pctl_attr_desc attributes[] = {
	{"amount", "1", "what is added", PCTL_ATTR_U64, 0, 0, UINT32_MAX}};

static const pctl_op_desc ops[] = {
	{.head = PCTL_HEAD(pctl_op_desc),
	 .name = "LIB.OP",
	 .doc = "adds a number to every element",
	 .spec = "y[i] = (x[i] + amount) modulo 2^32",
	 .version = 1,
	 .kind = PCTL_OPDEF_PLAN,
	 .category = 'A',
	 .op_class = PCTL_CLASS_INTEGER,
	 .convention = 1,
	 .n_in = 1,
	 .n_out = 1,
	 .n_attr = 1,
	 .in = inputs,
	 .out = outputs,
	 .attr = attributes},
};
#define N_OPS ((uint32_t)(sizeof(ops) / sizeof(ops[0])))

static uint32_t op_count(pctl_instance *inst)
{
	(void)inst;
	return N_OPS;
}

static const pctl_op_desc *op_at(pctl_instance *inst, uint32_t i)
{
	(void)inst;
	return i < N_OPS ? &ops[i] : NULL;
}

/* The host has checked ports and attributes against the description; what it cannot know is told here. */
static pctl_status infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			 pctl_op_result *out)
{
	(void)inst;
	*out = (pctl_op_result){.head = PCTL_HEAD(pctl_op_result)};
	if (q->op >= N_OPS || q->n_in != 1 || q->n_attr != 1)
		return pctl_refuse(call, PC1_INTERNAL, "not a use of LIB.OP");
	if (q->in[0].dim[0] > (uint64_t)GROUP * MOST_GROUPS * MOST_GROUPS ||
	    q->in[0].dim[0] > UINT32_MAX)
		return pctl_refuse(call, PC4204_OP_SIZE,
				   "LIB.OP takes less than 2^32 numbers, not %" PRIu64,
				   q->in[0].dim[0]);
	out->out[0] = q->in[0];
	return PCTL_OK;
}

/* How the work is cut may follow the device; no bit of the result may. */
static pctl_status plan(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			const pctl_plan_caps *caps, uint32_t flags, const pctl_plan_sink *sink)
{
	const uint64_t groups = (q->in[0].dim[0] + GROUP - 1) / GROUP;
	const uint32_t row = groups < MOST_GROUPS ? (uint32_t)groups : MOST_GROUPS;
	const uint32_t params[2] = {(uint32_t)q->attr[0].u64, row * GROUP};
	pctl_plan_binding bindings[3] = {
		{.binding = 0, .buffer = 0}, {.binding = 1, .buffer = 1}, {.binding = 2}};
	const pctl_plan_kernel kernel = {
		.head = PCTL_HEAD(pctl_plan_kernel),
		.name = "LIB/shift.wgsl",
		.wgsl = KERNEL_SHIFT,
		.bindings = bindings,
		.n_bindings = 3,
		.groups = {row, row ? (uint32_t)((groups + row - 1) / row) : 0, 1}};
	pctl_status status;

	(void)inst;
	(void)call;
	(void)caps;
	(void)flags; /* nothing of this op is measured */
	status = sink->params(sink->ctx, params, sizeof(params), &bindings[2].buffer);
	return status ? status : sink->kernel(sink->ctx, &kernel);
}

/* Function ops answer with WGSL here; a plan op has no function. */
static const char *function(pctl_instance *inst, uint32_t op, uint32_t dtype)
{
	(void)inst;
	(void)op;
	(void)dtype;
	return NULL;
}

/* Written without a look at the kernel: it is what the kernel is judged by. */
static pctl_status reference(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			     const pctl_span *in, pctl_span *out)
{
	(void)inst;
	(void)call;
	for (uint64_t i = 0; i < in[0].n_bytes / 4; i++) {
		uint32_t x;

		memcpy(&x, (const char *)in[0].data + 4 * i, 4);
		x += (uint32_t)q->attr[0].u64;
		memcpy((char *)out[0].data + 4 * i, &x, 4);
	}
	return PCTL_OK;
}

static const pctl_op_rules *rules(pctl_instance *inst, uint32_t op)
{
	static const pctl_law laws[] = {
		{.law = PCTL_LAW_CUSTOM,
		 .custom = "shifting by a, then by b, is shifting by a + b"}};
	static const pctl_example classes[] = {{"small", {3}}, {"large", {0x80000001}}};
	static const pctl_example boundaries[] = {{"least", {0}}, {"most", {0xffffffff}}};
	static const pctl_op_rules all[] = {{.head = PCTL_HEAD(pctl_op_rules),
					     .laws = laws,
					     .classes = classes,
					     .boundaries = boundaries,
					     .n_laws = 1,
					     .n_classes = 2,
					     .n_boundaries = 2}};

	(void)inst;
	return op < N_OPS ? &all[op] : NULL;
}

static const pctl_oplib table = {.head = PCTL_HEAD(pctl_oplib),
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
	*out = calloc(1, sizeof(**out));
	return *out ? PCTL_OK : pctl_no_memory(call, "an instance");
}

static void plugin_close(pctl_instance *inst)
{
	free(inst);
}

static const void *plugin_interface(pctl_instance *inst, const char *name)
{
	return inst && name && !strcmp(name, PCTL_OPLIB_INTERFACE) ? &table : NULL;
}

PCTL_EXPORT const pctl_plugin pctl_plugin_v1 = {
	.head = PCTL_HEAD(pctl_plugin),
	.id = "LIB",
	.version = "0.1.0",
	.build_flags = PCTL_BUILD_FLAGS,
	.open = plugin_open,
	.close = plugin_close,
	.interface = plugin_interface,
};
