/* All jobs of a resident run as one sequence of commands, over spans of bytes that lie nowhere yet. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/job_private.h"
#include "runtime/exec/resident_private.h"

#define LARGEST_REPORT 1024u /* a temporary with an assertion that lies among the answers itself */

/* One job on its way: the span of each buffer of its plan, and the other one of outputs that go round. */
struct job {
	pctl_resident *r;
	uint32_t node;
	const pctl_run_node *n;
	const pctl_job_plan *plan;
	uint32_t *span_of, *second;
	uint8_t places[PCTL_PORTS_MAX];
};

/* An array with room for one more. */
static pctl_status grow(const pctl_resident *r, void **array, uint32_t n, uint32_t *room,
			size_t size)
{
	void *grown;

	if (n < *room)
		return PCTL_OK;
	if (n >= PCTL_RESIDENT_COMMANDS)
		return pctl_refuse(r->call, PC5250_RESIDENT,
				   "the pipeline is more than %u commands, with its repeats "
				   "written out",
				   PCTL_RESIDENT_COMMANDS);
	grown = realloc(*array, (size_t)(2 * n + 64) * size);
	if (grown == NULL)
		return pctl_no_memory(r->call, "a resident run");
	*array = grown;
	*room = 2 * n + 64;
	return PCTL_OK;
}

pctl_status pctl_resident_add_span(pctl_resident *r, uint32_t kind, uint32_t number,
				   uint64_t n_bytes, uint32_t *out)
{
	pctl_status status =
		grow(r, (void **)&r->spans, r->n_spans, &r->room_spans, sizeof(*r->spans));

	if (status != PCTL_OK)
		return status;
	*out = r->n_spans;
	r->spans[r->n_spans] = (pctl_resident_span){.kind = kind,
						    .number = number,
						    .n_bytes = n_bytes,
						    .life = {.id = r->n_spans, .n_bytes = n_bytes}};
	r->n_spans++;
	return PCTL_OK;
}

/* ---- commands ----------------------------------------------------------------------------- */

static pctl_status add_command(pctl_resident *r, const pctl_resident_command *c)
{
	pctl_resident_command **all = r->is_once ? &r->once : &r->commands;
	uint32_t *n = r->is_once ? &r->n_once : &r->n_commands;
	pctl_status status = grow(r, (void **)all, *n,
				  r->is_once ? &r->room_once : &r->room_commands, sizeof(**all));
	pctl_resident_command *to;

	if (status != PCTL_OK)
		return status;
	to = &(*all)[*n];
	*to = *c;
	to->place = *n;
	to->ranges = pctl_arena_array(r->arena, c->n_ranges, sizeof(*to->ranges));
	if (to->ranges == NULL)
		return pctl_no_memory(r->call, "a resident run");
	if (c->n_ranges != 0)
		memcpy(to->ranges, c->ranges, c->n_ranges * sizeof(*to->ranges));
	++*n;
	return PCTL_OK;
}

static pctl_status add_kernel(const struct job *j, const pctl_step *step)
{
	pctl_resident_range ranges[PCTL_PORTS_MAX * 4 + 1];
	pctl_resident_command c = {.kind = PCTL_STEP_KERNEL,
				   .node = j->node,
				   .n_ranges = step->n_bindings + (step->counts != 0),
				   .step = step,
				   .ranges = ranges};
	pctl_status status;

	if (step->n_bindings > PCTL_PORTS_MAX * 4)
		return pctl_refuse(j->r->call, PC5250_RESIDENT,
				   "job \"%s\": a kernel has %" PRIu32 " bindings", j->plan->name,
				   step->n_bindings);
	for (uint32_t i = 0; i < step->n_bindings; i++) {
		const pctl_plan_binding *b = &step->bindings[i];

		ranges[i] = (pctl_resident_range){j->span_of[b->buffer],
						  (uint32_t)pctl_job_writes(step->unit->program, b),
						  b->group,
						  b->binding,
						  b->offset,
						  b->n_bytes};
	}
	if (step->counts != 0)
		ranges[step->n_bindings] =
			(pctl_resident_range){.span = j->span_of[step->counts - 1u],
					      .offset = step->counts_offset,
					      .n_bytes = 12};
	status = pctl_session_kernel(j->r->s, step->unit, j->r->call, &c.kernel);
	return status == PCTL_OK ? add_command(j->r, &c) : status;
}

static pctl_status add_copy(pctl_resident *r, uint32_t node, uint32_t from, uint64_t from_offset,
			    uint32_t to, uint64_t to_offset, uint64_t n)
{
	pctl_resident_range ranges[2] = {{to, 1, 0, 0, to_offset, n},
					 {from, 0, 0, 0, from_offset, n}};
	const pctl_resident_command c = {
		.kind = PCTL_STEP_COPY, .node = node, .n_ranges = 2, .ranges = ranges};

	return add_command(r, &c);
}

static pctl_status add_fill(pctl_resident *r, uint32_t node, uint32_t to, uint64_t offset,
			    uint64_t n, uint32_t word)
{
	pctl_resident_range range = {to, 1, 0, 0, offset, n};
	const pctl_resident_command c = {.kind = PCTL_STEP_FILL,
					 .node = node,
					 .n_ranges = 1,
					 .word = word,
					 .ranges = &range};

	return add_command(r, &c);
}

static pctl_status add_step(const struct job *j, const pctl_step *step)
{
	if (pctl_job_is_empty(step) || pctl_step_falls_away(j->plan, step, j->places))
		return PCTL_OK;
	if (step->kind == PCTL_STEP_KERNEL)
		return add_kernel(j, step);
	if (step->kind == PCTL_STEP_FILL)
		return add_fill(j->r, j->node, j->span_of[step->to], step->to_offset, step->n_bytes,
				step->word);
	return add_copy(j->r, j->node, j->span_of[step->from], step->from_offset,
			j->span_of[step->to], step->to_offset, step->n_bytes);
}

/* ---- what the host looks at --------------------------------------------------------------- */

static pctl_status add_report(pctl_resident *r, const pctl_resident_report *report)
{
	pctl_status status =
		grow(r, (void **)&r->reports, r->n_reports, &r->room_reports, sizeof(*r->reports));

	if (status == PCTL_OK)
		r->reports[r->n_reports++] = *report;
	return status;
}

/* A word of a span among the answers: where it lies there already, or as a copy. */
static pctl_status answer_word(const struct job *j, uint32_t span, uint64_t offset, uint32_t bytes,
			       uint32_t *out, uint64_t *at)
{
	const uint64_t from = offset & ~UINT64_C(3), n = (offset - from + bytes + 3) & ~UINT64_C(3);
	pctl_status status;

	*out = span;
	*at = offset;
	if (j->r->spans[span].kind == PCTL_SPAN_ANSWER &&
	    j->r->spans[span].n_bytes <= LARGEST_REPORT && j->n->node->repeat == 1)
		return PCTL_OK;
	*at = offset - from;
	status = pctl_resident_add_span(j->r, PCTL_SPAN_ANSWER, 0, n, out);
	return status == PCTL_OK ? add_copy(j->r, j->node, span, from, *out, 0, n) : status;
}

static pctl_status add_checks(const struct job *j)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < j->plan->n_checks; i++) {
		const pctl_plan_check *c = &j->plan->checks[i];
		pctl_resident_report report = {.plan = j->plan, .check = c, .also = UINT32_MAX};

		status = answer_word(j, j->span_of[c->buffer], c->offset, c->bytes, &report.found,
				     &report.found_at);
		if (status == PCTL_OK && c->also_bytes != 0)
			status = answer_word(j, j->span_of[c->buffer], c->also_offset,
					     c->also_bytes, &report.also, &report.also_at);
		if (status == PCTL_OK)
			status = add_report(j->r, &report);
	}
	return status;
}

static pctl_status add_flags(const struct job *j)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < j->plan->n_steps; i++) {
		const pctl_step *step = &j->plan->steps[i];

		for (uint32_t k = 0;
		     status == PCTL_OK && step->kind == PCTL_STEP_KERNEL && k < step->n_bindings;
		     k++) {
			const uint32_t buffer = step->bindings[k].buffer;
			const pctl_resident_report report = {.plan = j->plan,
							     .step = i,
							     .found = j->span_of[buffer],
							     .also = UINT32_MAX};

			if (j->plan->buffers[buffer].kind == PCTL_PLAN_TURNS)
				status = add_report(j->r, &report);
		}
	}
	return status;
}

static int has_check(const pctl_job_plan *plan, uint32_t buffer)
{
	for (uint32_t i = 0; i < plan->n_checks; i++)
		if (plan->checks[i].buffer == buffer)
			return 1;
	return 0;
}

/* ---- a job -------------------------------------------------------------------------------- */

static pctl_status span_of_source(pctl_resident *r, pctl_source s, uint32_t *out)
{
	pctl_status status = PCTL_OK;

	if (s.job != PCTL_FROM_INPUT) {
		*out = r->value_span[s.job][s.port];
		return PCTL_OK;
	}
	if (r->input_span[s.port] == UINT32_MAX)
		status = pctl_resident_add_span(
			r, r->role[s.port],
			r->role[s.port] == PCTL_SPAN_INPUT ? s.port : r->role_number[s.port],
			(pctl_value_bytes(r->run.inputs[s.port]) + 3) & ~UINT64_C(3),
			&r->input_span[s.port]);
	*out = r->input_span[s.port];
	return status;
}

static int is_carried(const struct job *j, uint32_t output)
{
	for (uint32_t i = 0; j->n->node->repeat > 1 && i < j->n->node->n_in; i++)
		if (j->n->node->carry[i] == output + 1)
			return 1;
	return 0;
}

/* The bytes that pad a value to a multiple of four are zero, in memory that had other bytes as well. */
static pctl_status clear_padding(const struct job *j, uint32_t span, uint32_t output)
{
	const uint64_t n = j->n->out_bytes[output];

	return n % 4 == 0 ? PCTL_OK : add_fill(j->r, j->node, span, n & ~UINT64_C(3), 4, 0);
}

/* It has the span of the input, which is written from here on. */
static void lie_in_place(struct job *j, uint32_t output)
{
	const uint32_t b = j->plan->n_in + output, span = j->span_of[j->places[output] - 1];
	pctl_resident_span *s = &j->r->spans[span];

	if (s->kind == PCTL_SPAN_STATE) {
		s->kind = PCTL_SPAN_PLACED;
		j->r->family->states[j->r->held[s->number]].is_placed = 1;
	}
	j->span_of[b] = j->second[output] = j->r->value_span[j->node][output] = span;
}

static pctl_status make_output(struct job *j, uint32_t output)
{
	pctl_resident *r = j->r;
	const uint32_t b = j->plan->n_in + output;
	const uint64_t n = j->plan->buffers[b].n_bytes;
	uint32_t number, kind = pctl_resident_kind_of(r, j->node, output, &number);
	pctl_status status;

	if (r->is_once && kind == PCTL_SPAN_POOL)
		kind = PCTL_SPAN_KEPT;
	status = pctl_resident_add_span(r, kind, number, n, &j->span_of[b]);
	j->second[output] = j->span_of[b];
	if (status == PCTL_OK && is_carried(j, output))
		status = pctl_resident_add_span(r, r->is_once ? PCTL_SPAN_ONCE : PCTL_SPAN_POOL, 0,
						n, &j->second[output]);
	if (status == PCTL_OK)
		status = clear_padding(j, j->span_of[b], output);
	if (status == PCTL_OK && j->second[output] != j->span_of[b])
		status = clear_padding(j, j->second[output], output);
	r->value_span[j->node][output] = j->span_of[b];
	return status;
}

static pctl_status make_own(struct job *j, uint32_t i)
{
	const pctl_plan_buffer *b = &j->plan->buffers[i];
	uint32_t kind = j->r->is_once ? PCTL_SPAN_ONCE : PCTL_SPAN_POOL;
	pctl_status status;

	if (b->kind == PCTL_PLAN_PARAMS)
		kind = PCTL_SPAN_PARAMS;
	else if (b->kind == PCTL_PLAN_CONSTANT)
		kind = PCTL_SPAN_CONSTANT;
	else if (b->kind == PCTL_PLAN_TURNS ||
		 (has_check(j->plan, i) && b->n_bytes <= LARGEST_REPORT && j->n->node->repeat == 1))
		kind = PCTL_SPAN_ANSWER;
	status = pctl_resident_add_span(j->r, kind, 0, b->n_bytes, &j->span_of[i]);
	if (status == PCTL_OK)
		j->r->spans[j->span_of[i]].plan = b;
	return status;
}

static pctl_status make_spans(struct job *j)
{
	uint32_t count;
	const pctl_source *sources = pctl_run_sources(j->n, &count);
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < j->plan->n_in; i++)
		status = span_of_source(j->r, sources[i], &j->span_of[i]);
	if (status == PCTL_OK)
		pctl_resident_places(j->r, j->node, j->plan, j->span_of, j->places);
	for (uint32_t i = 0; status == PCTL_OK && i < j->plan->n_out; i++) {
		if (j->places[i] != 0)
			lie_in_place(j, i);
		else
			status = make_output(j, i);
	}
	for (uint32_t i = j->plan->n_in + j->plan->n_out;
	     status == PCTL_OK && i < j->plan->n_buffers; i++)
		status = make_own(j, i);
	return status;
}

/* Outputs that go round take turns, so that the last round writes where the value is to lie; carried inputs read what the round
 * before wrote. */
static void turn(struct job *j, uint64_t round, const uint32_t *own)
{
	const uint64_t last = j->n->node->repeat - 1;
	const uint32_t n_in = j->plan->n_in;

	for (uint32_t i = 0; round != 0 && i < j->n->node->n_in; i++)
		if (j->n->node->carry[i] != 0)
			j->span_of[i] = j->span_of[n_in + j->n->node->carry[i] - 1];
	for (uint32_t i = 0; i < j->plan->n_out; i++)
		j->span_of[n_in + i] = (last - round) % 2 == 0 ? own[i] : j->second[i];
}

static pctl_status make_rounds(struct job *j)
{
	const uint64_t repeat = j->n->node->repeat;
	uint32_t own[PCTL_PORTS_MAX];
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < j->plan->n_out; i++)
		own[i] = j->span_of[j->plan->n_in + i];
	for (uint64_t round = 0; status == PCTL_OK && round < repeat; round++) {
		if (repeat > 1)
			turn(j, round, own);
		for (uint32_t i = 0; status == PCTL_OK && i < j->plan->n_steps; i++)
			status = add_step(j, &j->plan->steps[i]);
		if (status == PCTL_OK)
			status = add_checks(j);
	}
	return status;
}

/* A job that runs 0 times hands on what it would carry. */
static pctl_status pass_on(struct job *j)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < j->n->node->n_in; i++)
		if (j->n->node->carry[i] != 0)
			status = span_of_source(
				j->r, j->n->node->in[i],
				&j->r->value_span[j->node][j->n->node->carry[i] - 1]);
	return status;
}

/* 1: what comes to it is constant, or made by such jobs, so that it gives the same in every step; and it gives no state its next bytes. */
static int comes_once(const pctl_resident *r, uint32_t node)
{
	const pctl_run_node *n = &r->run.nodes[node];
	uint32_t count;
	const pctl_source *sources = pctl_run_sources(n, &count);

	for (uint32_t i = 0; i < count; i++)
		if (sources[i].job == PCTL_FROM_INPUT ? r->role[sources[i].port] != PCTL_SPAN_INPUT
						      : !r->made_once[sources[i].job])
			return 0;
	for (uint32_t k = 0; k < r->n_states; k++)
		if (r->next_output[k] != UINT32_MAX &&
		    r->run.graph->outputs[r->next_output[k]].job == node)
			return 0;
	return n->node->repeat != 0;
}

static pctl_status make_job(pctl_resident *r, uint32_t node)
{
	const pctl_run_node *n = &r->run.nodes[node];
	struct job j = {.r = r,
			.node = node,
			.n = n,
			.plan = n->group != NULL   ? n->group->plan
				: n->tuned != NULL ? n->tuned
						   : n->canonical};
	pctl_status status;

	if (n->node->repeat == 0)
		return pass_on(&j);
	j.span_of = calloc(j.plan->n_buffers + 1u, sizeof(uint32_t));
	j.second = calloc(j.plan->n_out + 1u, sizeof(uint32_t));
	status = j.span_of == NULL || j.second == NULL ? pctl_no_memory(r->call, "a resident run")
						       : make_spans(&j);
	if (status == PCTL_OK)
		status = pctl_resident_take_maxima(r, node, j.plan, j.span_of);
	if (status == PCTL_OK)
		status = add_flags(&j);
	if (status == PCTL_OK)
		status = make_rounds(&j);
	free(j.span_of);
	free(j.second);
	return status;
}

pctl_status pctl_resident_make_commands(pctl_resident *r)
{
	const pctl_graph *g = r->run.graph;
	pctl_status status = PCTL_OK;

	r->made_once = pctl_arena_array(r->arena, g->n_nodes, 1);
	if (r->made_once == NULL)
		return pctl_no_memory(r->call, "a resident run");
	for (uint32_t i = 0; status == PCTL_OK && i < g->n_nodes; i++) {
		if (pctl_run_is_within(&r->run, &r->run.nodes[g->order[i]]))
			continue;
		r->is_once = (uint32_t)comes_once(r, g->order[i]);
		r->made_once[g->order[i]] = (uint8_t)r->is_once;
		status = make_job(r, g->order[i]);
	}
	r->is_once = 0;
	/* Of those that share, all write a state where it lies, or none. */
	for (uint32_t k = 0; status == PCTL_OK && r->writes_states && k < r->n_states; k++) {
		const uint32_t span = r->value_span[g->outputs[r->next_output[k]].job]
						   [g->outputs[r->next_output[k]].port];

		if (r->family->states[r->held[k]].is_placed !=
		    (r->spans[span].kind == PCTL_SPAN_PLACED))
			status = pctl_refuse(
				r->call, PC5250_RESIDENT,
				"state \"%s\" is written where it lies by the resident run "
				"that is shared, and not by this pipeline",
				r->states[k].input);
	}
	return status;
}
