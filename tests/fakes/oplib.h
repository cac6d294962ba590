/* What op libraries of tests share: an instance that holds nothing, ops that are no functions, outputs of the first input's
 * type, and the plugin around them. A library defines OPLIB_ID (and OPLIB_MORE, further entries of the table, each after a
 * comma), includes this file, and defines its ops and the functions that are declared here and not defined. */
#ifndef PCTL_FAKES_OPLIB_H
#define PCTL_FAKES_OPLIB_H

#include <stdlib.h>
#include <string.h>

#include "pipectl/oplib.h"
#include "pipectl/plugin.h"

struct pctl_instance {
	uint32_t nothing;
};

static pctl_status infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			 pctl_op_result *out);
static pctl_status plan(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			const pctl_plan_caps *caps, uint32_t flags, const pctl_plan_sink *sink);
static pctl_status reference(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			     const pctl_span *in, pctl_span *out);
static const pctl_op_rules *rules(pctl_instance *inst, uint32_t op);
/* The library's ops, numbered from 0. */
static uint32_t oplib_ops(const pctl_op_desc **out);

static pctl_status oplib_infer_same(const pctl_op_query *q, pctl_op_result *out)
{
	*out = (pctl_op_result){.head = PCTL_HEAD(pctl_op_result)};
	out->out[0] = q->in[0];
	return PCTL_OK;
}

/* Workgroups of 64 invocations that have one for each element of the first input. */
static uint32_t oplib_groups(const pctl_op_query *q)
{
	return (uint32_t)((q->in[0].dim[0] + 63) / 64);
}

static uint32_t op_count(pctl_instance *inst)
{
	const pctl_op_desc *ops;

	(void)inst;
	return oplib_ops(&ops);
}

static const pctl_op_desc *op_at(pctl_instance *inst, uint32_t i)
{
	const pctl_op_desc *ops;

	(void)inst;
	return i < oplib_ops(&ops) ? &ops[i] : NULL;
}

static const char *function(pctl_instance *inst, uint32_t op, uint32_t dtype)
{
	(void)inst;
	(void)op;
	(void)dtype;
	return NULL;
}

#ifndef OPLIB_MORE
#define OPLIB_MORE
#endif
static const pctl_oplib table = {.head = PCTL_HEAD(pctl_oplib),
				 .op_count = op_count,
				 .op_at = op_at,
				 .infer = infer,
				 .plan = plan,
				 .function = function,
				 .reference = reference,
				 .rules = rules OPLIB_MORE};

static pctl_status plugin_open(const pctl_host *host, const pctl_call *call, pctl_instance **out)
{
	(void)host;
	(void)call;
	*out = calloc(1, sizeof(**out));
	return *out == NULL ? PCTL_E_NOMEM : PCTL_OK;
}

static void plugin_close(pctl_instance *inst)
{
	free(inst);
}

static const void *plugin_interface(pctl_instance *inst, const char *name)
{
	return inst != NULL && strcmp(name, PCTL_OPLIB_INTERFACE) == 0 ? &table : NULL;
}

extern const pctl_plugin pctl_plugin_v1;
PCTL_EXPORT const pctl_plugin pctl_plugin_v1 = {.head = PCTL_HEAD(pctl_plugin),
						.id = OPLIB_ID,
						.version = "1.0",
						.open = plugin_open,
						.close = plugin_close,
						.interface = plugin_interface};

#endif
