/* Steps of a token, and those that are made once. */
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "machine_kernels.h"
#include "model/machine/private.h"

#define INBOX_GROUP 64u

/* Instances from `first` to `last` take it from that register. All is constant, so that it is proven to race with nothing. */
static pctl_status put_inbox(pctl_llm *m, uint32_t first, uint32_t last, uint32_t from,
			     const pctl_call *call)
{
	pctl_override_value *values = pctl_arena_array(m->arena, 3, sizeof(*values));
	pctl_vm_step *s = &m->steps[m->n_steps++];

	if (values == NULL)
		return pctl_no_memory(call, "a program");
	values[0] = (pctl_override_value){.name = "n_embd", .bits = m->desc.n_embd};
	values[1] = (pctl_override_value){.name = "width", .bits = m->desc.width};
	values[2] = (pctl_override_value){.name = "from_register", .bits = from};
	*s = (pctl_vm_step){.first = first,
			    .last = last,
			    .name = "machine/inbox.wgsl",
			    .text = KERNEL_INBOX,
			    .n_text = strlen(KERNEL_INBOX),
			    .overrides = values,
			    .n_overrides = 3,
			    .groups = {(m->desc.n_embd + INBOX_GROUP - 1u) / INBOX_GROUP, 1, 1}};
	return PCTL_OK;
}

static pctl_status put_job(pctl_llm *m, uint32_t index, pctl_vm_step *s, const pctl_call *call)
{
	const pctl_graph_node *n = &m->graph->nodes[index];
	const llm_node *node = &m->nodes[index];
	const size_t n_ports = (size_t)n->n_in + node->n_out;
	pctl_vm_place *ports = pctl_arena_array(m->arena, n_ports + 1u, sizeof(*ports));
	pctl_tensor_type *types = pctl_arena_array(m->arena, n_ports + 1u, sizeof(*types));
	pctl_status status = PCTL_OK;

	if (ports == NULL || types == NULL)
		return pctl_no_memory(call, "a program");
	for (uint32_t i = 0; status == PCTL_OK && i < n->n_in; i++) {
		types[i] = node->in[i];
		status = llm_place_of(m, node->group, n->in[i], &ports[i], call);
	}
	for (uint32_t i = 0; i < node->n_out; i++) {
		const llm_value *v = &m->values[node->first + i];

		types[n->n_in + i] = v->type;
		ports[n->n_in + i] = v->place;
	}
	*s = (pctl_vm_step){.first = llm_instance_of(m, node->group),
			    .last = llm_instance_of(m, node->group),
			    .name = n->job->id,
			    .op = n->op,
			    .attr = n->attr,
			    .n_attr = n->n_attr,
			    .ports = ports,
			    .types = types,
			    .n_in = n->n_in,
			    .n_out = node->n_out};
	return status;
}

pctl_status llm_steps(pctl_llm *m, const pctl_call *call)
{
	pctl_status status;

	m->steps = pctl_arena_array(m->arena, m->graph->n_nodes + (size_t)2, sizeof(*m->steps));
	m->prepare = pctl_arena_array(m->arena, m->graph->n_nodes + (size_t)1, sizeof(*m->prepare));
	if (m->steps == NULL || m->prepare == NULL)
		return pctl_no_memory(call, "a program");
	status = put_inbox(m, 0, 0, 0, call);
	if (status == PCTL_OK && m->n_layers > 1)
		status = put_inbox(m, 1, m->n_layers - 1u, PCTL_VM_INBOX, call);
	for (uint32_t k = 0; status == PCTL_OK && k < m->graph->n_nodes; k++) {
		const uint32_t index = m->graph->order[k];
		const llm_node *node = &m->nodes[index];

		if (node->is_alias || node->group == GROUP_BEFORE)
			continue;
		status = node->group == GROUP_CONSTANT
				 ? put_job(m, index, &m->prepare[m->n_prepare++], call)
				 : put_job(m, index, &m->steps[m->n_steps++], call);
	}
	m->facts.n_steps = m->n_steps;
	return status;
}
