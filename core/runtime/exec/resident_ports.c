/* What stays and what changes of a resident run: names of the pipeline's inputs and outputs, each in one role. */
#include <stdlib.h>
#include <string.h>

#include "foundation/conf/conf.h"
#include "runtime/exec/resident_private.h"

#define MOST_NAMES 64u

static uint32_t find_input(const pctl_pipeline *p, const char *name)
{
	uint32_t i = 0;

	while (i < p->n_inputs && strcmp(p->inputs[i].name, name) != 0)
		i++;
	return i;
}

static uint32_t find_output(const pctl_pipeline *p, const char *name)
{
	uint32_t i = 0;

	while (i < p->n_outputs && strcmp(p->outputs[i].port, name) != 0)
		i++;
	return i;
}

static pctl_status refuse_unknown(const pctl_resident *r, const char *what, const char *name)
{
	const pctl_pipeline *p = r->run.graph->pipeline;
	const int is_input = strcmp(what, "input") == 0;
	const uint32_t all = is_input ? p->n_inputs : p->n_outputs;
	const char *names[MOST_NAMES];
	uint32_t n = 0;
	char *hint;

	for (; n < all && n < MOST_NAMES; n++)
		names[n] = is_input ? p->inputs[n].name : p->outputs[n].port;
	hint = pctl_conf_hint_names(name, names, n);
	(void)pctl_refuse_at(r->call, PC5252_RESIDENT_PORT, NULL, hint,
			     "the pipeline has no %s \"%s\"", what, name);
	free(hint);
	return PCTL_E_INVALID;
}

/* Input `name` in this role, which it has alone. */
static pctl_status take_role(pctl_resident *r, const char *name, uint32_t role, uint32_t number,
			     uint32_t *out)
{
	const pctl_pipeline *p = r->run.graph->pipeline;
	const uint32_t i = find_input(p, name);

	*out = i;
	if (i == p->n_inputs)
		return refuse_unknown(r, "input", name);
	if (r->role[i] != PCTL_SPAN_INPUT)
		return pctl_refuse(r->call, PC5252_RESIDENT_PORT,
				   "input \"%s\" is named twice among what changes and what is "
				   "state",
				   name);
	r->role[i] = role;
	r->role_number[i] = number;
	return PCTL_OK;
}

static pctl_status take_output(pctl_resident *r, const char *name, uint32_t *out)
{
	const pctl_pipeline *p = r->run.graph->pipeline;

	*out = find_output(p, name);
	return *out < p->n_outputs ? PCTL_OK : refuse_unknown(r, "output", name);
}

/* The number in the family, whose first member makes the states. */
static pctl_status take_held(pctl_resident *r, uint32_t k)
{
	const pctl_resident_family *f = r->family;
	uint32_t i = 0;

	while (r->number != 0 && i < f->n_states &&
	       strcmp(f->states[i].input, r->states[k].input) != 0)
		i++;
	r->held[k] = r->number == 0 ? k : i;
	return r->number == 0 || i < f->n_states
		       ? PCTL_OK
		       : pctl_refuse(r->call, PC5252_RESIDENT_PORT,
				     "state \"%s\" is none of the resident run that it shares",
				     r->states[k].input);
}

static pctl_status take_state(pctl_resident *r, const pctl_resident_state *state, uint32_t k)
{
	uint32_t input;
	pctl_status status = take_role(r, state->input, PCTL_SPAN_STATE, k, &input);

	r->next_output[k] = UINT32_MAX;
	r->states[k] = (pctl_resident_state){pctl_arena_dup(r->arena, state->input), NULL};
	if (status == PCTL_OK && r->states[k].input == NULL)
		status = pctl_no_memory(r->call, "a resident run");
	if (status == PCTL_OK && state->output != NULL)
		status = take_output(r, state->output, &r->next_output[k]);
	if (status == PCTL_OK)
		status = take_held(r, k);
	if (status == PCTL_OK && k != 0 &&
	    (r->next_output[k] == UINT32_MAX) != (r->next_output[0] == UINT32_MAX))
		status = pctl_refuse(r->call, PC5252_RESIDENT_PORT,
				     "a step gives all states their next bytes or none: \"%s\" and "
				     "\"%s\" differ",
				     r->states[0].input, r->states[k].input);
	r->writes_states = r->next_output[k] != UINT32_MAX;
	return status;
}

static pctl_status make_room(pctl_resident *r, const pctl_resident_options *how)
{
	const pctl_graph *g = r->run.graph;

	r->role = pctl_arena_array(r->arena, g->pipeline->n_inputs, sizeof(uint32_t));
	r->role_number = pctl_arena_array(r->arena, g->pipeline->n_inputs, sizeof(uint32_t));
	r->input_span = pctl_arena_array(r->arena, g->pipeline->n_inputs, sizeof(uint32_t));
	r->value_span = pctl_arena_array(r->arena, g->n_nodes, sizeof(*r->value_span));
	r->changing = pctl_arena_array(r->arena, how->n_changing, sizeof(uint32_t));
	r->reads = pctl_arena_array(r->arena, how->n_reads, sizeof(uint32_t));
	r->own_cids = pctl_arena_array(r->arena, how->n_reads, sizeof(*r->own_cids));
	r->next_output = pctl_arena_array(r->arena, how->n_states, sizeof(uint32_t));
	r->held = pctl_arena_array(r->arena, how->n_states, sizeof(uint32_t));
	r->states = pctl_arena_array(r->arena, how->n_states, sizeof(*r->states));
	if (r->role == NULL || r->role_number == NULL || r->input_span == NULL ||
	    r->value_span == NULL || r->own_cids == NULL || r->changing == NULL ||
	    r->reads == NULL || r->next_output == NULL || r->held == NULL || r->states == NULL)
		return pctl_no_memory(r->call, "a resident run");
	for (uint32_t i = 0; i < g->pipeline->n_inputs; i++) {
		r->role[i] = PCTL_SPAN_INPUT;
		r->input_span[i] = UINT32_MAX;
	}
	return PCTL_OK;
}

/* Of a pipeline that declares states, and is told of none: those, but for what changes. */
static pctl_status own_states(const pctl_resident *r, pctl_resident_options *how)
{
	const pctl_pipeline *p = r->run.graph->pipeline;
	pctl_resident_state *states = pctl_arena_array(r->arena, p->n_states, sizeof(*states));

	if (states == NULL)
		return pctl_no_memory(r->call, "a resident run");
	if (how->n_states != 0)
		return PCTL_OK;
	for (uint32_t k = 0; k < p->n_states; k++) {
		const char *name = p->states[k].name;
		uint32_t c = 0;

		while (c < how->n_changing && strcmp(how->changing[c], name) != 0)
			c++;
		if (c == how->n_changing)
			states[how->n_states++] = (pctl_resident_state){name, name};
	}
	how->states = states;
	return PCTL_OK;
}

pctl_status pctl_resident_take_ports(pctl_resident *r, const pctl_resident_options *asked)
{
	pctl_resident_options all = *asked, *how = &all;
	pctl_status status = own_states(r, how);

	if (status == PCTL_OK)
		status = make_room(r, how);

	for (uint32_t i = 0; status == PCTL_OK && i < how->n_changing; i++)
		status = take_role(r, how->changing[i], PCTL_SPAN_ASK, i, &r->changing[i]);
	for (uint32_t i = 0; status == PCTL_OK && i < how->n_states; i++)
		status = take_state(r, &how->states[i], i);
	for (uint32_t i = 0; status == PCTL_OK && i < how->n_reads; i++)
		status = take_output(r, how->reads[i], &r->reads[i]);
	r->n_changing = how->n_changing;
	r->n_states = how->n_states;
	r->n_reads = how->n_reads;
	if (status == PCTL_OK && r->number != 0 && r->writes_states &&
	    r->n_states != r->family->n_states)
		status = pctl_refuse(r->call, PC5252_RESIDENT_PORT,
				     "a resident run that gives states their next bytes has all "
				     "states of those that it shares");
	return status;
}

static pctl_status check_output(const pctl_resident *r, uint32_t output)
{
	const pctl_source from = r->run.graph->outputs[output];
	const char *name = r->run.graph->pipeline->outputs[output].port;

	if (from.job == PCTL_FROM_INPUT)
		return pctl_refuse(r->call, PC5252_RESIDENT_PORT,
				   "output \"%s\" is an input of the pipeline, which no job gives",
				   name);
	if (r->run.nodes[from.job].node->repeat == 0)
		return pctl_refuse(r->call, PC5252_RESIDENT_PORT,
				   "output \"%s\" is what goes into job \"%s\", which runs 0 times",
				   name, r->run.nodes[from.job].node->job->id);
	return PCTL_OK;
}

static pctl_status check_state(const pctl_resident *r, uint32_t k)
{
	const pctl_graph *g = r->run.graph;
	const pctl_tensor_type *type =
		&r->run.input_types[find_input(g->pipeline, r->states[k].input)];
	const pctl_resident_held *held = r->number == 0 ? NULL : &r->family->states[r->held[k]];
	const uint32_t output = r->next_output[k];
	const pctl_source from =
		output == UINT32_MAX ? (pctl_source){PCTL_FROM_INPUT, 0} : g->outputs[output];
	pctl_status status = output == UINT32_MAX ? PCTL_OK : check_output(r, output);

	if (status == PCTL_OK && held != NULL && !pctl_type_equal(type, &held->type))
		status = pctl_refuse(r->call, PC5252_RESIDENT_PORT,
				     "state \"%s\" is %s here and %s in the resident run that it "
				     "shares",
				     r->states[k].input, pctl_type_text(r->arena, type),
				     pctl_type_text(r->arena, &held->type));
	if (status == PCTL_OK && output != UINT32_MAX &&
	    !pctl_type_equal(type, &r->run.nodes[from.job].out[from.port]))
		status = pctl_refuse(
			r->call, PC5252_RESIDENT_PORT,
			"state \"%s\" is %s, what output \"%s\" gives it is %s", r->states[k].input,
			pctl_type_text(r->arena, type), g->pipeline->outputs[output].port,
			pctl_type_text(r->arena, &r->run.nodes[from.job].out[from.port]));
	for (uint32_t i = 0; status == PCTL_OK && output != UINT32_MAX && i < k; i++)
		if (g->outputs[r->next_output[i]].job == from.job &&
		    g->outputs[r->next_output[i]].port == from.port)
			status = pctl_refuse(r->call, PC5252_RESIDENT_PORT,
					     "states \"%s\" and \"%s\" are given the same bytes",
					     r->states[i].input, r->states[k].input);
	return status;
}

pctl_status pctl_resident_check_ports(pctl_resident *r)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < r->n_states; i++)
		status = check_state(r, i);
	for (uint32_t i = 0; status == PCTL_OK && i < r->n_reads; i++)
		status = check_output(r, r->reads[i]);
	return status;
}
