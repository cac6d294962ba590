/* Checks of names: parameters and --set, identifiers of jobs, edges between ports, what is carried.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/vec.h"
#include "runtime/graph/check.h"

/* The value a parameter takes; its default tells whether it is a number. */
static void set_parameter(pctl_checking *c, uint32_t i, const char *text, const pctl_pos *pos)
{
	const pctl_pipe_param *param = &c->graph->pipeline->params[i];
	uint64_t old, value = 0;
	int numeric = pctl_num_parse_u64(param->value.text, strlen(param->value.text), &old);

	if (numeric && !pctl_num_parse_u64(text, strlen(text), &value))
		pctl_check_keep(
			c,
			pctl_refuse_at(
				c->call, PC4012_PARAM_VALUE, pos,
				"the default is a number: give one from 0 to 18446744073709551615",
				"parameter \"%s\" cannot be \"%s\"", param->name, text));
	c->graph->param_text[i] = pctl_arena_dup(c->graph->arena, text);
	if (c->graph->param_text[i] == NULL)
		pctl_check_keep(c, pctl_no_memory(c->call, "a graph"));
	c->graph->param_value[i] = value;
}

void pctl_check_parameters(pctl_checking *c)
{
	const pctl_pipeline *p = c->graph->pipeline;

	for (uint32_t i = 0; i < p->n_params; i++) {
		if (p->params[i].value.is_param)
			pctl_check_keep(c, pctl_refuse_at(c->call, PC4012_PARAM_VALUE,
							  &p->params[i].value.pos, NULL,
							  "parameter \"%s\" refers to another one",
							  p->params[i].name));
		set_parameter(c, i, p->params[i].value.text, &p->params[i].value.pos);
	}
	for (uint32_t s = 0; s < c->options->n_sets; s++) {
		const pctl_setting *set = &c->options->sets[s];
		pctl_pipe_value name = {{"--set", 0, 0, 0, 0}, set->name, 1, 1};
		uint32_t i = 0;

		for (uint32_t k = 0; k < s; k++) {
			if (strcmp(c->options->sets[k].name, set->name) == 0)
				pctl_check_keep(c, pctl_refuse_at(c->call, PC4018_NAME_TWICE,
								  &name.pos, NULL,
								  "parameter \"%s\" is set twice",
								  set->name));
		}
		while (i < p->n_params && strcmp(p->params[i].name, set->name) != 0)
			i++;
		if (i == p->n_params)
			(void)pctl_check_value_text(c, &name);
		else
			set_parameter(c, i, set->value, &name.pos);
	}
}

static void twice(pctl_checking *c, uint32_t code, const pctl_pos *pos, const pctl_pos *first,
		  const char *subject, const char *message, const char *hint)
{
	pctl_note note = {*first, "the first one stands here"};
	pctl_diag d = {.head = PCTL_HEAD(pctl_diag),
		       .code = code,
		       .severity = PCTL_SEVERITY_ERROR,
		       .pos = *pos,
		       .subject = subject,
		       .message = message == NULL ? "a name stands twice" : message,
		       .hint = hint,
		       .notes = &note,
		       .n_notes = 1};

	pctl_check_keep(c, pctl_emit(c->call, &d));
}

static void after_twice(pctl_checking *c, const pctl_pipe_job *job)
{
	for (uint32_t i = 0; i < job->n_after; i++) {
		for (uint32_t k = 0; k < i; k++) {
			if (strcmp(job->after[i].text, job->after[k].text) != 0)
				continue;
			twice(c, PC4018_NAME_TWICE, &job->after[i].pos, &job->after[k].pos, job->id,
			      pctl_arena_printf(c->graph->arena,
						"job \"%s\" waits for \"%s\" twice", job->id,
						job->after[i].text),
			      "name it once");
			break;
		}
	}
}

/* The number that a map of names has; UINT32_MAX: it has none. */
static uint32_t number_of(const pctl_map *m, const char *name)
{
	return (uint32_t)(uintptr_t)pctl_map_get(m, name) - 1u;
}

static void named_twice(pctl_checking *c, const char *name, const char *is, const pctl_pos *pos,
			const pctl_pos *first)
{
	twice(c, PC4018_NAME_TWICE, pos, first, c->graph->pipeline->name,
	      pctl_arena_printf(c->graph->arena, "\"%s\" is %s", name, is), "rename one of them");
}

/* Sets of tensors are no inputs themselves; a state is an output as well. */
static void sets_and_states(pctl_checking *c)
{
	const pctl_pipeline *p = c->graph->pipeline;

	for (uint32_t i = 0; i < p->n_sets; i++) {
		const pctl_pipe_set *set = &p->sets[i];
		const uint32_t input = number_of(c->inputs, set->name);

		if (input != UINT32_MAX)
			named_twice(c, set->name, "a set of tensors and a state", &set->pos,
				    &p->inputs[input].pos);
		for (uint32_t k = 0; k < p->n_params; k++) {
			if (strcmp(set->name, p->params[k].name) == 0)
				named_twice(c, set->name, "a set of tensors and a parameter",
					    &set->pos, &p->params[k].pos);
		}
	}
	for (uint32_t i = 0; i < p->n_states; i++) {
		for (uint32_t k = 0; k < p->n_outputs - p->n_states; k++) {
			if (strcmp(p->states[i].name, p->outputs[k].port) == 0)
				named_twice(c, p->states[i].name, "a state and an output",
					    &p->states[i].pos, &p->outputs[k].pos);
		}
	}
}

/* Keys of one group are told apart by the reader of the text; these are names that meet elsewhere. */
void pctl_check_identifiers(pctl_checking *c)
{
	const pctl_pipeline *p = c->graph->pipeline;

	for (uint32_t i = 0; i < p->n_jobs; i++) {
		const uint32_t first = number_of(c->jobs, p->jobs[i].id);

		(void)pctl_check_node(c, i);
		after_twice(c, &p->jobs[i]);
		if (first != i)
			twice(c, PC4017_JOB_TWICE, &p->jobs[i].pos, &p->jobs[first].pos,
			      p->jobs[i].id, "two jobs have this id", "rename one of them");
	}
	pctl_check_apart(c);
	sets_and_states(c);
	for (uint32_t i = 0; i < p->n_inputs; i++) {
		const uint32_t first = number_of(c->inputs, p->inputs[i].name);

		if (first != i)
			twice(c, PC4018_NAME_TWICE, &p->inputs[i].pos, &p->inputs[first].pos,
			      p->name,
			      pctl_arena_printf(c->graph->arena, "\"$%s\" is an input and a state",
						p->inputs[i].name),
			      "rename one of them");
		for (uint32_t k = 0; k < p->n_params; k++) {
			if (strcmp(p->inputs[i].name, p->params[k].name) == 0)
				twice(c, PC4018_NAME_TWICE, &p->inputs[i].pos, &p->params[k].pos,
				      p->name,
				      pctl_arena_printf(c->graph->arena,
							"\"$%s\" is an input and a parameter",
							p->inputs[i].name),
				      "rename one of them");
		}
	}
}

/* ---- edges -------------------------------------------------------------------------------- */

static void unknown_reference(pctl_checking *c, const pctl_pipe_ref *ref, const char *what,
			      const char *word, const char *const *names, uint32_t n)
{
	char *hint = pctl_check_names_hint(word, names, n);

	pctl_check_keep(c, pctl_refuse_at(c->call, PC4010_REFERENCE_UNKNOWN, &ref->pos, hint,
					  "no %s \"%s\"", what, word));
	free(hint);
}

/* What is wrong in each turn of a group is said of one, and hints are looked for once. */
static int was_said(pctl_checking *c, const pctl_pipe_ref *ref)
{
	if (!pctl_pipe_once_was_said(c->once, PC4010_REFERENCE_UNKNOWN, &ref->pos))
		return 0;
	pctl_check_keep(c, PCTL_E_INVALID);
	return 1;
}

static void report_unknown_job(pctl_checking *c, const pctl_pipe_ref *ref)
{
	const pctl_pipeline *p = c->graph->pipeline;
	const char **names;

	if (was_said(c, ref))
		return;
	names = calloc(p->n_jobs + 1u, sizeof(*names));
	for (uint32_t i = 0; names != NULL && i < p->n_jobs; i++)
		names[i] = p->jobs[i].id;
	unknown_reference(c, ref, "job", ref->job, names, names == NULL ? 0 : p->n_jobs);
	free(names);
}

static void report_unknown_out(pctl_checking *c, const pctl_pipe_ref *ref, const pctl_graph_node *n)
{
	const char **names;

	if (was_said(c, ref))
		return;
	names = calloc(n->n_out + 1u, sizeof(*names));
	for (uint32_t i = 0; names != NULL && i < n->n_out; i++)
		names[i] = pctl_node_out_name(n, i);
	unknown_reference(c, ref, "output port", ref->name, names, names == NULL ? 0 : n->n_out);
	free(names);
}

static void report_unknown_input(pctl_checking *c, const pctl_pipe_ref *ref)
{
	const pctl_pipeline *p = c->graph->pipeline;
	const char **names;

	if (was_said(c, ref))
		return;
	names = calloc(p->n_inputs + 1u, sizeof(*names));
	for (uint32_t i = 0; names != NULL && i < p->n_inputs; i++)
		names[i] = p->inputs[i].name;
	unknown_reference(c, ref, "input of the pipeline", ref->name, names,
			  names == NULL ? 0 : p->n_inputs);
	free(names);
}

/* An input or a job is meant. Which port of a job it is shows when its op is there. */
static int is_there(const pctl_checking *c, const pctl_pipe_ref *ref)
{
	return ref->job != NULL ? number_of(c->jobs, ref->job) != UINT32_MAX
				: number_of(c->inputs, ref->name) != UINT32_MAX;
}

static void check_reference(pctl_checking *c, const pctl_pipe_ref *ref)
{
	if (is_there(c, ref))
		return;
	if (ref->job != NULL)
		report_unknown_job(c, ref);
	else
		report_unknown_input(c, ref);
}

/* Needs no op, and so is told together with ops that are not there. */
void pctl_check_references(pctl_checking *c)
{
	const pctl_pipeline *p = c->graph->pipeline;

	for (uint32_t i = 0; i < c->graph->n_nodes; i++) {
		const pctl_pipe_job *job = pctl_check_node(c, i)->job;

		for (uint32_t k = 0; k < job->n_in; k++)
			check_reference(c, &job->in[k].from);
		for (uint32_t k = 0; k < job->n_after; k++)
			check_reference(c, &job->after[k]);
	}
	pctl_check_apart(c);
	for (uint32_t i = 0; i < p->n_outputs; i++)
		check_reference(c, &p->outputs[i].from);
}

static pctl_source resolve(pctl_checking *c, const pctl_pipe_ref *ref)
{
	pctl_source out = {PCTL_FROM_NOTHING, 0};

	if (!is_there(c, ref)) { /* pctl_check_references said so */
		pctl_check_keep(c, PCTL_E_INVALID);
		return out;
	}
	if (ref->job == NULL)
		return (pctl_source){PCTL_FROM_INPUT, number_of(c->inputs, ref->name)};
	out.job = number_of(c->jobs, ref->job);
	out.port = pctl_node_find_out(&c->graph->nodes[out.job], ref->name);
	if (out.port == UINT32_MAX) {
		report_unknown_out(c, ref, &c->graph->nodes[out.job]);
		return (pctl_source){PCTL_FROM_NOTHING, 0};
	}
	return out;
}

/* How many feeds before this one are of its port. */
static uint32_t fed_before(const pctl_pipe_job *job, uint32_t feed)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < feed; i++)
		n += strcmp(job->in[i].port, job->in[feed].port) == 0;
	return n;
}

static void refuse_list(pctl_checking *c, const pctl_pipe_feed *f, const char *why)
{
	pctl_check_keep(c, pctl_refuse_at(c->call, PC4108_LIST, &f->pos, NULL, "port \"%s\" %s",
					  f->port, why));
}

static void op_edges(pctl_checking *c, pctl_graph_node *n)
{
	const pctl_op_desc *desc = n->op.desc;

	for (uint32_t i = 0; i < n->n_in; i++)
		n->in[i] = (pctl_source){PCTL_FROM_NOTHING, 0};
	for (uint32_t i = 0; i < n->job->n_in; i++) {
		const pctl_pipe_feed *f = &n->job->in[i];
		uint32_t port = pctl_node_find_in(n, f->port), earlier;

		if (port == UINT32_MAX) {
			const char *names[PCTL_PORTS_MAX];
			char *hint;

			for (uint32_t k = 0; k < desc->n_in; k++)
				names[k] = desc->in[k].name;
			hint = pctl_check_names_hint(f->port, names, desc->n_in);
			pctl_check_keep(c,
					pctl_refuse_at(c->call, PC4104_PORT_UNKNOWN, &f->pos, hint,
						       "op \"%s\" has no input port \"%s\"",
						       desc->name, f->port));
			free(hint);
			continue;
		}
		earlier = fed_before(n->job, i);
		if (earlier != 0 && !(desc->in[port].flags & PCTL_PORT_LIST)) {
			refuse_list(c, f, "takes one tensor");
			continue;
		}
		n->in[port + earlier] = resolve(c, &f->from);
	}
	for (uint32_t i = 0; i < desc->n_in; i++) {
		uint32_t fed = 0;

		for (uint32_t k = 0; k < n->job->n_in; k++)
			fed += strcmp(n->job->in[k].port, desc->in[i].name) == 0;
		if (fed == 0)
			pctl_check_keep(c, pctl_refuse_at(c->call, PC4103_PORT_UNFED, &n->job->pos,
							  NULL,
							  "job \"%s\": input port \"%s\" (%s) of "
							  "op \"%s\" is fed by nothing",
							  n->job->id, desc->in[i].name,
							  desc->in[i].type, desc->name));
	}
}

void pctl_check_edges(pctl_checking *c)
{
	const pctl_pipeline *p = c->graph->pipeline;

	for (uint32_t i = 0; i < c->graph->n_nodes; i++) {
		pctl_graph_node *n = pctl_check_node(c, i);

		if (n->job->kind == PCTL_JOB_OP) {
			op_edges(c, n);
		} else {
			for (uint32_t k = 0; k < n->n_in; k++) {
				n->in[k] = resolve(c, &n->job->in[k].from);
				if (fed_before(n->job, k) != 0)
					refuse_list(c, &n->job->in[k], "is a variable, not a list");
			}
		}
		for (uint32_t k = 0; k < n->job->n_after; k++) {
			if (!is_there(c, &n->job->after[k]))
				pctl_check_keep(c, PCTL_E_INVALID);
		}
	}
	pctl_check_apart(c);
	for (uint32_t i = 0; i < p->n_outputs; i++)
		c->graph->outputs[i] = resolve(c, &p->outputs[i].from);
}

/* ---- repeat ------------------------------------------------------------------------------- */

void pctl_check_repeats(pctl_checking *c)
{
	for (uint32_t i = 0; i < c->graph->n_nodes; i++) {
		pctl_graph_node *n = pctl_check_node(c, i);
		const pctl_pipe_job *job = n->job;
		const char *text;

		n->carry = pctl_arena_array(c->graph->arena, n->n_in, sizeof(*n->carry));
		if (n->carry == NULL) {
			pctl_check_keep(c, pctl_no_memory(c->call, "a graph"));
			return;
		}
		if (job->repeat.text == NULL)
			continue;
		text = pctl_check_value_text(c, &job->repeat);
		if (text != NULL &&
		    (!pctl_num_parse_u64(text, strlen(text), &n->repeat) || n->repeat > UINT32_MAX))
			pctl_check_keep(
				c, pctl_refuse_at(
					   c->call, PC4117_REPEAT, &job->repeat.pos,
					   "give a number up to 4294967295",
					   "repeat count \"%s\" of job \"%s\" is no such number",
					   text, job->id));
		for (uint32_t k = 0; k < job->n_carry; k++) {
			const pctl_pipe_feed *f = &job->carry[k];
			uint32_t in = pctl_node_find_in(n, f->port),
				 out = pctl_node_find_out(n, f->from.name);

			if (in == UINT32_MAX)
				pctl_check_keep(
					c,
					pctl_refuse_at(
						c->call, PC4104_PORT_UNKNOWN, &f->pos, NULL,
						"job \"%s\" has no input port \"%s\" to carry to",
						job->id, f->port));
			if (out == UINT32_MAX)
				report_unknown_out(c, &f->from, n);
			for (uint32_t m = 0; m < k; m++) {
				if (strcmp(job->carry[m].from.name, f->from.name) == 0)
					pctl_check_keep(
						c,
						pctl_refuse_at(
							c->call, PC4117_REPEAT, &f->from.pos, NULL,
							"output \"%s\" is carried to two inputs",
							f->from.name));
			}
			if (in != UINT32_MAX && job->kind == PCTL_JOB_OP &&
			    (pctl_op_input(n->op.desc, in)->flags & PCTL_PORT_LIST))
				refuse_list(c, f, "is a list: nothing is carried to it");
			if (in != UINT32_MAX && out != UINT32_MAX)
				n->carry[in] = out + 1;
		}
	}
}

/* ---- order -------------------------------------------------------------------------------- */

static int is_ready(const pctl_checking *c, const pctl_graph_node *n, const uint8_t *done)
{
	for (uint32_t i = 0; i < n->n_in; i++) {
		if (n->in[i].job < c->graph->n_nodes && !done[n->in[i].job])
			return 0;
	}
	for (uint32_t i = 0; i < n->job->n_after; i++) {
		if (!done[number_of(c->jobs, n->job->after[i].job)])
			return 0;
	}
	return 1;
}

/* Jobs in the order of the file as far as their needs allow; what is left over waits for itself. */
void pctl_check_order(pctl_checking *c)
{
	pctl_graph *g = c->graph;
	uint8_t *done = calloc(g->n_nodes + 1u, 1);
	uint32_t n = 0, before = UINT32_MAX;

	if (done == NULL) {
		pctl_check_keep(c, pctl_no_memory(c->call, "a graph"));
		return;
	}
	while (n < g->n_nodes && n != before) {
		before = n;
		for (uint32_t i = 0; i < g->n_nodes; i++) {
			if (done[i] || !is_ready(c, &g->nodes[i], done))
				continue;
			done[i] = 1;
			g->order[n++] = i;
		}
	}
	for (uint32_t i = 0; n < g->n_nodes && i < g->n_nodes; i++) {
		if (!done[i]) {
			(void)pctl_check_node(c, i);
			pctl_check_keep(
				c,
				pctl_refuse_at(
					c->call, PC4101_CYCLE, &g->nodes[i].job->pos,
					"break the circle of `in` and `after`",
					"job \"%s\" waits for itself, directly or through others",
					g->nodes[i].job->id));
		}
	}
	free(done);
}
