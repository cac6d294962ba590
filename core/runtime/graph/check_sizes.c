/* Checks of sizes that shader jobs name: every dispatch and every extent of an output is a number, a parameter or a dimension of
 * an input, and a dispatch has as many invocations as it takes to write its outputs, where that can be told. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/vec.h"
#include "runtime/graph/check.h"
#include "runtime/graph/dispatch.h"

static int is_dimension(const pctl_pipeline *p, const char *name)
{
	for (uint32_t i = 0; i < p->n_inputs; i++) {
		const pctl_type_pattern *t = &p->inputs[i].type;

		for (uint32_t k = 0; k < t->rank; k++) {
			if (t->dim[k].name != NULL && strcmp(t->dim[k].name, name) == 0)
				return 1;
		}
	}
	return 0;
}

static int is_size(pctl_checking *c, const char *name)
{
	uint64_t value;

	return is_dimension(c->graph->pipeline, name) || pctl_graph_number(c->graph, name, &value);
}

/* The dimensions of inputs and the parameters that are numbers, each once. */
static char *sizes_hint(pctl_checking *c, const char *word)
{
	const pctl_pipeline *p = c->graph->pipeline;
	PCTL_VEC(const char *) names = {NULL, 0, 0};
	int complete = 1;
	uint64_t value;
	char *hint;

	for (uint32_t i = 0; i < p->n_inputs; i++) {
		const pctl_type_pattern *t = &p->inputs[i].type;

		for (uint32_t k = 0; k < t->rank; k++) {
			const char *name = t->dim[k].name;
			uint32_t seen = 0;

			while (name != NULL && seen < names.n &&
			       strcmp(names.items[seen], name) != 0)
				seen++;
			if (name != NULL && seen == names.n)
				complete &= PCTL_VEC_PUSH(&names, name);
		}
	}
	for (uint32_t i = 0; i < p->n_params; i++) {
		if (!is_dimension(p, p->params[i].name) &&
		    pctl_graph_number(c->graph, p->params[i].name, &value))
			complete &= PCTL_VEC_PUSH(&names, p->params[i].name);
	}
	hint = complete ? pctl_check_names_hint(word, names.items, names.n) : NULL;
	free((void *)names.items);
	return hint;
}

static void check_groups(pctl_checking *c, const pctl_graph_node *n, uint32_t axis)
{
	const pctl_pipe_value *v = &n->job->groups[axis];
	pctl_group_count count;
	uint32_t groups;
	char *hint;

	if (!pctl_group_count_parse(v, c->graph->arena, &count)) {
		pctl_check_keep(c, pctl_refuse_at(c->call, PC4131_DISPATCH, &v->pos,
						  PCTL_GROUP_COUNT_HINT,
						  "job \"%s\": \"%s\" is no number of workgroups",
						  n->job->id, v->text));
		return;
	}
	if (v->is_param && pctl_graph_param(c->graph, count.name) == NULL &&
	    !is_dimension(c->graph->pipeline, count.name)) {
		(void)pctl_check_value_text(c, v); /* which says so */
		return;
	}
	if (count.name != NULL && !is_size(c, count.name)) {
		hint = sizes_hint(c, count.name);
		pctl_check_keep(
			c, pctl_refuse_at(c->call, PC4131_DISPATCH, &v->pos,
					  hint == NULL ? PCTL_GROUP_COUNT_HINT : hint,
					  "job \"%s\": \"%s\" of the dispatch is neither a "
					  "dimension of an input nor a parameter that is a number",
					  n->job->id, count.name));
		free(hint);
		return;
	}
	/* The size of data is not known here, and above 32 bits planning refuses it. */
	if (!is_dimension(c->graph->pipeline, count.name == NULL ? "" : count.name) &&
	    !pctl_group_count_value(&count, pctl_graph_number, c->graph, &groups))
		pctl_check_keep(c, pctl_refuse_at(c->call, PC4131_DISPATCH, &v->pos, NULL,
						  "job \"%s\": \"%s\" is more workgroups than "
						  "the %u there can be",
						  n->job->id, v->text, UINT32_MAX));
}

static void check_extents(pctl_checking *c, const pctl_graph_node *n, const pctl_pipe_result *out)
{
	if (out->type.any_shape)
		pctl_check_keep(c, pctl_refuse_at(c->call, PC4016_DIMENSION_OPEN, &out->type_pos,
						  "write its extents: numbers, parameters, or "
						  "dimensions of inputs",
						  "job \"%s\": output \"%s\" needs a shape",
						  n->job->id, out->name));
	for (uint32_t i = 0; i < out->type.rank && !out->type.any_shape; i++) {
		const char *name = out->type.dim[i].name;
		char *hint;

		if (name == NULL || is_size(c, name))
			continue;
		hint = sizes_hint(c, name);
		pctl_check_keep(
			c, pctl_refuse_at(c->call, PC4016_DIMENSION_OPEN, &out->type_pos,
					  hint == NULL ? "write a number, or declare a parameter"
						       : hint,
					  "job \"%s\": dimension \"%s\" of output \"%s\" is "
					  "neither an input's nor a parameter that is a number",
					  n->job->id, name, out->name));
		free(hint);
	}
}

void pctl_check_sizes(pctl_checking *c)
{
	for (uint32_t i = 0; i < c->graph->n_nodes; i++) {
		const pctl_graph_node *n = pctl_check_node(c, i);

		for (uint32_t k = 0; k < n->job->n_groups && k < 3; k++)
			check_groups(c, n, k);
		for (uint32_t k = 0; k < n->job->n_out; k++)
			check_extents(c, n, &n->job->out[k]);
	}
}

/* ---- coverage ----------------------------------------------------------------------------- */

/* What an open dimension is taken to be: one size that data may have. Dimensions that a dispatch does not depend on say nothing. */
#define EXAMPLE (1u << 20)

struct example {
	pctl_graph *graph;
	const pctl_graph_node *node;
	const char *open; /* the dimension that was given a size, NULL: none */
};

static int in_dispatch(const struct example *e, const char *name)
{
	for (uint32_t i = 0; i < e->node->job->n_groups; i++) {
		pctl_group_count count;

		if (pctl_group_count_parse(&e->node->job->groups[i], e->graph->arena, &count) &&
		    count.name != NULL && strcmp(count.name, name) == 0)
			return 1;
	}
	return 0;
}

/* At most one open dimension: two would have to be related. */
static int example_size(void *ctx, const char *name, uint64_t *out)
{
	struct example *e = ctx;

	if (pctl_graph_number(e->graph, name, out))
		return 1;
	if (!in_dispatch(e, name) || (e->open != NULL && strcmp(e->open, name) != 0))
		return 0;
	e->open = name;
	*out = EXAMPLE;
	return 1;
}

/* 1 when the bytes that one invocation writes to the variable, at most, are told by the instructions: those of the entry point,
 * each as often as all loops together turn. */
static int written_bytes(const pctl_graph_node *n, uint32_t var, uint64_t *out)
{
	const pctl_program *p = n->unit->program;
	const pctl_analysis *a = n->unit->analysis;
	uint64_t sum = 0;

	for (uint32_t f = 1; f < p->n_functions; f++) {
		const pctl_function *fn = &p->functions[f];

		for (uint32_t i = 0; i < fn->n_insts; i++) {
			uint64_t one;

			if (pctl_kernel_writes(p, fn, &p->insts[fn->first_inst + i], var, &one) &&
			    (f != p->entries[0].function || !pctl_num_add(sum, one, &sum)))
				return 0;
		}
	}
	return !a->product_lost && pctl_num_mul(sum, a->max_loop_iterations, out);
}

static void cover(pctl_checking *c, const pctl_graph_node *n, const pctl_shader_var *v)
{
	const pctl_pipe_result *out = &n->job->out[v->out];
	struct example e = {c->graph, n, NULL};
	uint64_t written, wanted = pctl_dtype_bytes(out->type.dtype[0]), groups = 1, one;
	const char *with = "";

	if (v->in != UINT32_MAX || !written_bytes(n, v->var, &written) || written == 0)
		return; /* it has its contents from elsewhere, or is the business of the uses */
	if (wanted == 0)
		return; /* elements are no whole bytes */
	for (uint32_t i = 0; i < out->type.rank; i++) {
		one = out->type.dim[i].value;
		if ((out->type.dim[i].name != NULL &&
		     !example_size(&e, out->type.dim[i].name, &one)) ||
		    !pctl_num_mul(wanted, one, &wanted))
			return;
	}
	for (uint32_t i = 0; i < n->job->n_groups; i++) {
		pctl_group_count count;
		uint32_t axis;

		if (!pctl_group_count_parse(&n->job->groups[i], c->graph->arena, &count) ||
		    !pctl_group_count_value(&count, example_size, &e, &axis) ||
		    !pctl_num_mul(groups, axis, &groups))
			return;
	}
	if (groups == 0 || !pctl_num_mul(written, n->unit->analysis->invocations, &written) ||
	    !pctl_num_mul(written, groups, &written) || written >= wanted)
		return;
	if (e.open != NULL)
		with = pctl_arena_printf(c->graph->arena, "with %s = %u, ", e.open, EXAMPLE);
	pctl_warn_at(c->call, PC4143_COVERAGE, &n->job->groups[0].pos,
		     "dispatch more workgroups; what is not written stays zero",
		     "job \"%s\": %s%" PRIu64 " workgroups of %" PRIu64
		     " invocations write at most "
		     "%" PRIu64 " bytes of output \"%s\", which has %" PRIu64,
		     n->job->id, with == NULL ? "" : with, groups, n->unit->analysis->invocations,
		     written, out->name, wanted);
}

void pctl_check_coverage(pctl_checking *c)
{
	for (uint32_t i = 0; i < c->graph->n_nodes; i++) {
		const pctl_graph_node *n = pctl_check_node(c, i);

		for (uint32_t k = 0; k < n->n_vars && n->unit != NULL; k++) {
			if (n->vars[k].out != UINT32_MAX && n->job->n_groups != 0)
				cover(c, n, &n->vars[k]);
		}
	}
}
