/* Checks of op jobs: the op exists in exactly one library and its attributes are complete and in
 * range. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/check.h"

static void unknown_attrs(pctl_checking *c, const pctl_graph_node *n)
{
	const pctl_op_desc *desc = n->op.desc;

	for (uint32_t i = 0; i < n->job->n_attr; i++) {
		const pctl_pipe_named *a = &n->job->attr[i];
		const char *names[64];
		uint32_t count = 0, known = 0;
		char *hint;

		for (uint32_t k = 0; k < desc->n_attr; k++) {
			known |= strcmp(desc->attr[k].name, a->name) == 0;
			if (count < 64)
				names[count++] = desc->attr[k].name;
		}
		if (known)
			continue;
		hint = pctl_check_names_hint(a->name, names, count);
		pctl_check_keep(c, pctl_refuse_at(c->call, PC4110_ATTR_UNKNOWN, &a->pos, hint,
						  "op \"%s\" has no attribute \"%s\"", desc->name,
						  a->name));
		free(hint);
	}
}

static void attrs(pctl_checking *c, pctl_graph_node *n)
{
	const pctl_op_desc *desc = n->op.desc;

	unknown_attrs(c, n);
	for (uint32_t i = 0; i < desc->n_attr; i++) {
		const pctl_attr_desc *d = &desc->attr[i];
		const char *text = d->default_text;
		const pctl_pos *pos = &n->job->pos;

		for (uint32_t k = 0; k < n->job->n_attr; k++) {
			if (strcmp(n->job->attr[k].name, d->name) == 0) {
				text = pctl_check_value_text(c, &n->job->attr[k].value);
				pos = &n->job->attr[k].value.pos;
				if (text == NULL)
					return; /* reported */
			}
		}
		if (text == NULL)
			pctl_check_keep(
				c,
				pctl_refuse_at(
					c->call, PC4111_ATTR_MISSING, pos, d->doc,
					"job \"%s\": attribute \"%s\" of op \"%s\" must be given",
					n->job->id, d->name, desc->name));
		else
			pctl_check_keep(c, pctl_op_attr_read(d, desc->name, text, pos, c->call,
							     &n->attr[i]));
	}
}

/* As many as the op has ports, and of a list one for each tensor that feeds it. */
static uint32_t inputs_of(const pctl_graph_node *n)
{
	const pctl_op_desc *d = n->op.desc;
	uint32_t fed = 0;

	if (!pctl_op_has_list(d))
		return d->n_in;
	for (uint32_t i = 0; i < n->job->n_in; i++)
		fed += strcmp(n->job->in[i].port, d->in[d->n_in - 1].name) == 0;
	return d->n_in - 1 + (fed == 0 ? 1 : fed);
}

void pctl_check_ops(pctl_checking *c)
{
	for (uint32_t i = 0; i < c->graph->n_nodes; i++) {
		pctl_graph_node *n = pctl_check_node(c, i);
		const pctl_pipe_job *job = n->job;
		pctl_status status;

		if (job->kind != PCTL_JOB_OP)
			continue;
		status = pctl_op_find(c->options->ops, job->op, job->version_min, job->version_max,
				      &job->op_pos, c->call, &n->op);
		pctl_check_keep(c, status);
		if (status != PCTL_OK)
			continue;
		if (n->op.desc->n_in > PCTL_PORTS_MAX || n->op.desc->n_out > PCTL_PORTS_MAX) {
			pctl_check_keep(c,
					pctl_refuse_at(c->call, PC4137_PORTS, &job->op_pos, NULL,
						       "op \"%s\" has %" PRIu32
						       " inputs and %" PRIu32 " outputs, %u each "
						       "are the most",
						       n->op.desc->name, n->op.desc->n_in,
						       n->op.desc->n_out, PCTL_PORTS_MAX));
			continue;
		}
		if (pctl_op_deprecated(n->op.desc) != NULL)
			pctl_warn_at(c->call, PC4144_OP_DEPRECATED, &job->op_pos,
				     pctl_op_deprecated(n->op.desc),
				     "job \"%s\": op %s@%" PRIu32 " is superseded", job->id,
				     n->op.desc->name, n->op.desc->version);
		n->n_in = inputs_of(n);
		if (n->n_in > PCTL_PORTS_MAX) {
			pctl_check_keep(c, pctl_refuse_at(c->call, PC4137_PORTS, &job->op_pos, NULL,
							  "job \"%s\" has %" PRIu32
							  " inputs, %u are the most",
							  job->id, n->n_in, PCTL_PORTS_MAX));
			continue;
		}
		n->n_out = n->op.desc->n_out;
		n->n_attr = n->op.desc->n_attr;
		n->in = pctl_arena_array(c->graph->arena, n->n_in, sizeof(*n->in));
		n->attr = pctl_arena_array(c->graph->arena, n->n_attr, sizeof(*n->attr));
		if (n->in == NULL || n->attr == NULL) {
			pctl_check_keep(c, pctl_no_memory(c->call, "a graph"));
			return;
		}
		if (n->op.desc->op_class > c->graph->pipeline->max_class)
			pctl_check_keep(
				c, pctl_refuse_at(
					   c->call, PC4114_CLASS, &job->op_pos,
					   "raise `class` of the pipeline if that is meant",
					   "op \"%s\" is of class %s, the pipeline allows %s",
					   n->op.desc->name, pctl_class_name(n->op.desc->op_class),
					   pctl_class_name(c->graph->pipeline->max_class)));
		attrs(c, n);
		n->resolved = 1;
	}
}
