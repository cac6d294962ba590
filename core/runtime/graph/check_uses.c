/* The check of uses: what is declared is read, what is made is wanted, and what is wanted is made. Nothing of it keeps a pipeline
 * from running, so these are warnings. A pipeline without outputs (put together in memory) is left alone. */
#include <string.h>

#include "runtime/graph/check.h"
#include "runtime/graph/dispatch.h"

static int names_size(const pctl_pipe_job *job, const char *name, pctl_arena *arena)
{
	for (uint32_t i = 0; i < job->n_groups; i++) {
		pctl_group_count count;

		if (pctl_group_count_parse(&job->groups[i], arena, &count) && count.name != NULL &&
		    strcmp(count.name, name) == 0)
			return 1;
	}
	for (uint32_t i = 0; i < job->n_out; i++) {
		for (uint32_t k = 0; k < job->out[i].type.rank; k++) {
			const char *dim = job->out[i].type.dim[k].name;

			if (dim != NULL && strcmp(dim, name) == 0)
				return 1;
		}
	}
	return 0;
}

/* An input may be there for its size alone. */
static int gives_size(const pctl_graph *g, uint32_t input)
{
	const pctl_type_pattern *t = &g->pipeline->inputs[input].type;

	for (uint32_t k = 0; k < t->rank; k++) {
		for (uint32_t i = 0; i < g->n_nodes && t->dim[k].name != NULL; i++) {
			if (names_size(g->nodes[i].job, t->dim[k].name, g->arena))
				return 1;
		}
	}
	return 0;
}

/* A byte an input, then one a job: 1 where something reads it. NULL: no memory. */
static uint8_t *mark_reads(const pctl_graph *g)
{
	const uint32_t n_inputs = g->pipeline->n_inputs;
	uint8_t *read = pctl_arena_alloc(g->arena, (size_t)n_inputs + g->n_nodes + 1u);

	for (uint32_t i = 0; read != NULL && i < g->n_nodes + g->pipeline->n_outputs; i++) {
		const int is_job = i < g->n_nodes;
		const uint32_t n = is_job ? g->nodes[i].n_in : 1;

		for (uint32_t k = 0; k < n; k++) {
			const pctl_source s =
				is_job ? g->nodes[i].in[k] : g->outputs[i - g->n_nodes];

			if (s.job == PCTL_FROM_INPUT)
				read[s.port] = 1;
			else if (s.job < g->n_nodes)
				read[n_inputs + s.job] = 1;
		}
	}
	return read;
}

static int is_written(const pctl_program *p, uint32_t var)
{
	for (uint32_t f = 1; f < p->n_functions; f++) {
		const pctl_function *fn = &p->functions[f];

		for (uint32_t i = 0; i < fn->n_insts; i++) {
			uint64_t n_bytes;

			if (pctl_kernel_writes(p, fn, &p->insts[fn->first_inst + i], var, &n_bytes))
				return 1;
		}
	}
	return 0;
}

static void unmade(pctl_checking *c, const pctl_graph_node *n)
{
	for (uint32_t i = 0; i < n->n_vars && n->unit != NULL; i++) {
		const pctl_shader_var *v = &n->vars[i];

		if (v->out != UINT32_MAX && !is_written(n->unit->program, v->var))
			pctl_warn_at(c->call, PC4142_OUTPUT_UNMADE, &n->job->out[v->out].pos,
				     v->in == UINT32_MAX
					     ? "write it in the shader, or leave it out of `out`"
					     : "take its input where it is wanted",
				     "job \"%s\": the shader never writes output \"%s\", which %s",
				     n->job->id, v->name,
				     v->in == UINT32_MAX ? "stays zero" : "stays its input");
	}
}

static void unread(pctl_checking *c, const pctl_pos *pos, const char *what, const char *name)
{
	pctl_warn_at(c->call, PC4140_INPUT_UNREAD, pos, "leave it out, or feed it to a job",
		     "no job reads %s \"%s\"", what, name);
}

void pctl_check_uses(pctl_checking *c)
{
	const pctl_graph *g = c->graph;
	const pctl_pipeline *p = g->pipeline;
	const uint8_t *read = mark_reads(g);

	if (read == NULL) {
		pctl_check_keep(c, pctl_no_memory(c->call, "a graph"));
		return;
	}
	for (uint32_t i = 0; i < p->n_inputs && p->n_outputs != 0; i++) {
		if (!read[i] && !gives_size(g, i))
			unread(c, &p->inputs[i].pos, p->inputs[i].is_state ? "state" : "input",
			       p->inputs[i].name);
	}
	for (uint32_t i = 0; i < p->n_sets; i++) {
		if (p->sets[i].n_used == 0)
			unread(c, &p->sets[i].pos, "a tensor of", p->sets[i].name);
	}
	for (uint32_t i = 0; i < g->n_nodes && p->n_outputs != 0; i++) {
		const pctl_graph_node *n = pctl_check_node(c, i);

		if (!read[p->n_inputs + i])
			pctl_warn_at(c->call, PC4141_JOB_UNREAD, &n->job->pos,
				     "leave it out, or name what it makes under `outputs`",
				     "nothing reads what job \"%s\" makes", n->job->id);
		unmade(c, n);
	}
	pctl_check_apart(c);
	for (uint32_t i = 0; i < p->n_outputs; i++) {
		if (g->outputs[i].job == PCTL_FROM_INPUT)
			pctl_warn_at(c->call, PC4142_OUTPUT_UNMADE, &p->outputs[i].from.pos,
				     "name what a job makes: \"job.port\"",
				     "no job makes output \"%s\": it is input \"%s\" itself",
				     p->outputs[i].port, p->inputs[g->outputs[i].port].name);
	}
}
