/* Checks of vm jobs: the machine's file is right, its kernels compile and are of a class that the pipeline allows, and what the job
 * feeds and reads are places of the machine. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/vfs.h"
#include "runtime/graph/check.h"
#include "runtime/graph/vm.h"

static void check_class(pctl_checking *c, const pctl_graph_node *n, const pctl_pos *pos,
			const char *step, uint32_t class)
{
	const uint32_t most = c->graph->pipeline->max_class;

	if (class > most)
		pctl_check_keep(c, pctl_refuse_at(c->call, PC4114_CLASS, pos, NULL,
						  "job \"%s\": step %s is of class %s, the "
						  "pipeline allows %s",
						  n->job->id, step, pctl_class_name(class),
						  pctl_class_name(most)));
}

static void check_step(pctl_checking *c, const pctl_graph_node *n, const pctl_vm_step *s)
{
	const pctl_kernel_source source = {.name = s->name,
					   .text = s->text,
					   .n_text = s->n_text,
					   .entry = s->entry,
					   .overrides = s->overrides,
					   .n_overrides = s->n_overrides,
					   .flags = c->options->wgsl_flags,
					   .groups = s->groups};
	const pctl_kernel_module *unit;
	pctl_status status;

	if (s->op.desc != NULL) {
		check_class(c, n, &s->pos, s->name, s->op.desc->op_class);
		return;
	}
	status = pctl_kernels_get(c->graph->kernels, &source, c->call, &unit);
	pctl_check_keep(c, status);
	if (status != PCTL_OK)
		return;
	if (unit->analysis->race == PCTL_PROOF_REFUTED)
		pctl_check_keep(c, pctl_kernel_refuse_race(unit, n->job->id, c->call));
	check_class(c, n, &s->pos, s->name, unit->analysis->determinism);
}

static void find_ports(pctl_checking *c, pctl_graph_node *n)
{
	const pctl_pipe_job *job = n->job;
	pctl_vm_port *ports = pctl_arena_array(c->graph->arena, (size_t)job->n_in + job->n_out + 1u,
					       sizeof(*ports));

	n->ports = ports;
	n->n_in = job->n_in;
	n->n_out = job->n_out;
	n->in = pctl_arena_array(c->graph->arena, n->n_in, sizeof(*n->in));
	if (ports == NULL || n->in == NULL) {
		pctl_check_keep(c, pctl_no_memory(c->call, "a graph"));
		return;
	}
	for (uint32_t i = 0; i < job->n_in; i++)
		pctl_check_keep(c, pctl_vm_port_find(n->vm, job->in[i].port, 0, &job->in[i].pos,
						     c->call, &ports[i]));
	for (uint32_t i = 0; i < job->n_out; i++)
		pctl_check_keep(c, pctl_vm_port_find(n->vm, job->out[i].name, 1, &job->out[i].pos,
						     c->call, &ports[job->n_in + i]));
	for (uint32_t i = 0; i < n->vm->n_heap; i++) {
		uint32_t fed = 0;

		for (uint32_t k = 0; k < job->n_in; k++)
			fed += strcmp(job->in[k].port, n->vm->heap[i].name) == 0;
		if (fed == 0)
			pctl_check_keep(c, pctl_refuse_at(c->call, PC4103_PORT_UNFED, &job->pos,
							  "name it under `in`",
							  "job \"%s\": part \"%s\" of the heap is "
							  "fed by nothing",
							  job->id, n->vm->heap[i].name));
	}
}

/* The host's own kernels hold floats. */
static void one_machine(pctl_checking *c, pctl_graph_node *n)
{
	const pctl_vfs *vfs = c->graph->pipeline->vfs;
	char *path = pctl_check_beside(c, n->job->shader);
	pctl_vm_desc *d = NULL;
	pctl_status status = PCTL_OK;

	if (path == NULL)
		status = pctl_no_memory(c->call, "a path");
	else if (!pctl_vfs_exists(vfs, path))
		status = pctl_refuse_at(c->call, PC4019_SHADER_FILE, &n->job->op_pos,
					"the path is relative to the pipeline file",
					"no file of a machine %s", path);
	else if (n->job->n_in > PCTL_PORTS_MAX || n->job->n_out > PCTL_PORTS_MAX)
		status = pctl_refuse_at(c->call, PC4137_PORTS, &n->job->pos, NULL,
					"job \"%s\" has %" PRIu32 " inputs and %" PRIu32
					" outputs, %u each are the most",
					n->job->id, n->job->n_in, n->job->n_out, PCTL_PORTS_MAX);
	else
		status = pctl_vm_read(vfs, path, c->options->ops, c->graph->arena, c->call, &d);
	free(path);
	pctl_check_keep(c, status);
	if (status != PCTL_OK)
		return;
	n->vm = d;
	n->text = d->identity;
	n->n_text = d->n_identity;
	check_class(c, n, &n->job->op_pos, "regulator", PCTL_CLASS_STRICT);
	for (uint32_t i = 0; i < d->n_steps; i++)
		check_step(c, n, &d->steps[i]);
	find_ports(c, n);
	n->resolved = 1;
}

void pctl_check_machines(pctl_checking *c)
{
	for (uint32_t i = 0; i < c->graph->n_nodes; i++)
		if (c->graph->nodes[i].job->kind == PCTL_JOB_VM)
			one_machine(c, pctl_check_node(c, i));
}
