/* One job once more; see rerun.h. */
#include "chain/transition/rerun.h"

#include <stdlib.h>
#include <string.h>

#include "chain/transition/submit.h"

static pctl_status run(const pctl_executor *e, pctl_task *task, const pctl_call *call,
		       pctl_cid *out)
{
	pctl_status status;

	task->output = calloc(1, task->n_output == 0 ? 1 : (size_t)task->n_output);
	if (task->output == NULL)
		return pctl_no_memory(call, "the output of a job");
	status = e->run(e->ctx, task, 1, call);
	if (status == PCTL_OK)
		status = pctl_cid_of(task->output, task->n_output, call, out);
	free(task->output);
	return status;
}

pctl_status pctl_chain_rerun(pctl_chain *c, const pctl_executor *e, const pctl_msg_execute *m,
			     uint64_t height, const char *name, pctl_task_binding *bindings,
			     uint32_t n_bindings, const pctl_call *call, pctl_cid *out)
{
	pctl_task task = {.name = name,
			  .bindings = bindings,
			  .n_bindings = n_bindings,
			  .groups = {m->dispatch[0], m->dispatch[1], m->dispatch[2]},
			  .n_output = m->output_bytes};
	pctl_params params;
	uint8_t *uniform = NULL;
	uint64_t n_uniform = 0;
	pctl_status status = pctl_params_in_force(pctl_cursor(c), height, call, &params);

	if (status == PCTL_OK)
		status = pctl_chain_unit(c, m, &params, call, &task.unit);
	if (status == PCTL_OK)
		status = pctl_chain_uniform(c, m, &params, call, &uniform, &n_uniform);
	if (uniform != NULL)
		bindings[task.n_bindings++] =
			(pctl_task_binding){.binding = 1, .data = uniform, .n_bytes = n_uniform};
	if (status == PCTL_OK)
		status = run(e, &task, call, out);
	free(uniform);
	return status;
}
