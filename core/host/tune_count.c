/* The kernel run once more with counters, and what follows from them for each line and block; see tune.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/tune_private.h"
#include "runtime/exec/value.h"

/* ---- the run ------------------------------------------------------------------------------- */

/* The unit with counters in its program. Proofs and bounds are those of the unit, whose instructions all are in it. */
static pctl_status make_module(const pctl_kernel_module *unit, const pctl_basic_blocks *blocks,
			       const pctl_call *call, pctl_kernel_module *out)
{
	pctl_status status;

	*out = *unit;
	out->program = NULL;
	out->wire = NULL;
	status = pctl_legal_count_blocks(unit->program, blocks, call, &out->program);
	if (status == PCTL_OK)
		status = pctl_program_encode(out->program, call, &out->wire, &out->wire_bytes);
	if (status == PCTL_OK)
		status = pctl_cid_of(out->wire, out->wire_bytes, call, &out->cid);
	if (status == PCTL_OK) /* that wire form has the proofs, too */
		(void)pctl_cid_format(&out->cid, out->build_key);
	return status;
}

static pctl_status copy_steps(const pctl_job_plan *from, const pctl_kernel_module *unit,
			      uint32_t n_before, uint32_t counters, const pctl_call *call,
			      pctl_job_plan *to)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < from->n_steps; i++) {
		const pctl_step *s = &from->steps[i];
		pctl_plan_binding bindings[PCTL_PORTS_MAX + 1];
		uint32_t n = 0;

		/* Outputs come before all but inputs: the counters moved what stands behind them. */
#define MOVED(buffer) ((buffer) < n_before ? (buffer) : (buffer) + 1)
		if (s->kind == PCTL_STEP_FILL)
			status = pctl_job_plan_zero(to, MOVED(s->to), call);
		if (s->kind == PCTL_STEP_COPY)
			status = pctl_job_plan_copy(to, MOVED(s->from), MOVED(s->to), call);
		for (uint32_t k = 0; s->kind == PCTL_STEP_KERNEL && k < s->n_bindings; k++) {
			if (s->bindings[k].group == PCTL_TURNS_GROUP)
				continue; /* the plan gives it one of its own */
			if (n == PCTL_PORTS_MAX)
				return pctl_refuse(call, PC4130_BINDING, "too many bindings");
			bindings[n] = s->bindings[k];
			bindings[n++].buffer = MOVED(s->bindings[k].buffer);
		}
#undef MOVED
		bindings[n++] = (pctl_plan_binding){.group = PCTL_BLOCKS_GROUP, .buffer = counters};
		if (s->kind == PCTL_STEP_KERNEL)
			status = pctl_job_plan_kernel(to, unit, bindings, n, s->groups, call);
	}
	return status;
}

/* The plan of a run, with the counters as one output more. */
static pctl_status make_plan(const pctl_job_plan *from, const pctl_kernel_module *unit,
			     const pctl_basic_blocks *blocks, const pctl_call *call,
			     pctl_job_plan **out)
{
	const uint32_t n_before = from->n_in + from->n_out;
	uint32_t number, counters = n_before;
	pctl_status status = pctl_job_plan_create(from->name, call, out);

	for (uint32_t i = 0; status == PCTL_OK && i < from->n_buffers; i++) {
		const pctl_plan_buffer *b = &from->buffers[i];

		if (i == n_before)
			status = pctl_job_plan_buffer(*out, PCTL_PLAN_OUTPUT,
						      PCTL_BLOCKS_BYTES(blocks), NULL, call,
						      &counters);
		if (status == PCTL_OK && b->kind != PCTL_PLAN_TURNS)
			status = pctl_job_plan_buffer(*out, b->kind, b->n_bytes, b->data, call,
						      &number);
	}
	if (status == PCTL_OK && from->n_buffers == n_before)
		status = pctl_job_plan_buffer(*out, PCTL_PLAN_OUTPUT, PCTL_BLOCKS_BYTES(blocks),
					      NULL, call, &counters);
	if (status == PCTL_OK)
		status = pctl_job_plan_zero(*out, counters, call);
	return status == PCTL_OK ? copy_steps(from, unit, n_before, counters, call, *out) : status;
}

/* Run it; runs: by block. */
static pctl_status run_counters(pctl_tuning *x, const pctl_run_observation *view,
				const pctl_basic_blocks *blocks, const pctl_call *call,
				uint64_t *runs)
{
	uint64_t out_bytes[PCTL_PORTS_MAX + 1] = {0};
	pctl_value *values[PCTL_PORTS_MAX + 1] = {NULL};
	pctl_kernel_module module = {0};
	pctl_job_plan *plan = NULL;
	pctl_job_run run = {.repeat = 1,
			    .out_bytes = out_bytes,
			    .timeout_ms = x->o->policy->time_ms,
			    .progress = &x->o->progress};
	const uint8_t *data;
	pctl_status status = make_module(pctl_tune_step(view->plan)->unit, blocks, call, &module);

	for (uint32_t i = 0; i < view->n_ports; i++)
		out_bytes[i] = view->ports[i].n_bytes;
	out_bytes[view->n_ports] = PCTL_BLOCKS_BYTES(blocks);
	if (status == PCTL_OK)
		status = make_plan(view->plan, &module, blocks, call, &plan);
	run.plan = plan;
	if (status == PCTL_OK)
		status = pctl_job_execute(view->session, &run, view->in, call, values, NULL);
	if (status == PCTL_OK)
		status = pctl_tune_compare(x, values, "the same device when it counts", call);
	if (status == PCTL_OK)
		status = pctl_value_hold(values[view->n_ports], call, &data);
	for (uint32_t i = 0; status == PCTL_OK && i < 8 * blocks->n; i++)
		runs[i / 8] |= (uint64_t)data[i] << (8 * (i % 8));
	for (uint32_t i = 0; i <= view->n_ports; i++)
		pctl_value_release(values[i]);
	if (plan != NULL)
		pctl_job_plan_destroy(plan);
	pctl_program_destroy(module.program);
	free(module.wire);
	return status;
}

/* ---- what follows from it ------------------------------------------------------------------ */

/* Of each binding what is read and written, at most once. */
static uint64_t least_bytes(const pctl_program *p, const pctl_step *step, const uint64_t *runs)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < step->n_bindings; i++) {
		const pctl_plan_binding *b = &step->bindings[i];
		uint64_t n_read, n_written;

		for (uint32_t v = 0; v < p->n_vars; v++) {
			if (p->vars[v].group != b->group || p->vars[v].binding != b->binding ||
			    (p->vars[v].space != PCTL_SPACE_STORAGE &&
			     p->vars[v].space != PCTL_SPACE_UNIFORM))
				continue;
			pctl_tally_var(p, runs, v, &n_read, &n_written);
			all += n_read < b->n_bytes ? n_read : b->n_bytes;
			all += n_written < b->n_bytes ? n_written : b->n_bytes;
		}
	}
	return all;
}

static void extend(pctl_tune_block *b, uint32_t line)
{
	b->first_line = b->first_line == 0 || line < b->first_line ? line : b->first_line;
	b->last_line = line > b->last_line ? line : b->last_line;
}

static void add_lines(pctl_tune_result *r, const pctl_program *p, const pctl_basic_blocks *blocks,
		      const pctl_tally *tallies, pctl_tune_line *lines)
{
	for (uint32_t i = 0; i < p->n_insts; i++) {
		const pctl_origin *at = p->origins == NULL ? NULL : &p->origins[i];
		const uint32_t line = at != NULL && at->file == 0 ? at->line : 0;
		pctl_tune_block *b;

		/* Constants stand where they were first of use, and do nothing. */
		if (blocks->of[i] == 0 || pctl_op_get(p->insts[i].op)->kind == PCTL_OPKIND_const)
			continue;
		b = &r->blocks[blocks->of[i] - 1];
		pctl_tally_add(&r->total, &tallies[i]);
		pctl_tally_add(&b->tally, &tallies[i]);
		pctl_tally_add(line == 0 ? &r->elsewhere : &lines[line].tally, &tallies[i]);
		if (line != 0)
			extend(b, line);
	}
}

static uint32_t last_line(const pctl_program *p)
{
	uint32_t last = 0;

	for (uint32_t i = 0; p->origins != NULL && i < p->n_insts; i++)
		if (p->origins[i].file == 0 && p->origins[i].line > last)
			last = p->origins[i].line;
	return last;
}

/* Lines that ran, to the front. */
static void keep_lines(pctl_tune_result *r, pctl_tune_line *lines, uint32_t n)
{
	r->lines = lines;
	for (uint32_t i = 1; i < n; i++) {
		lines[i].line = i;
		if (lines[i].tally.runs != 0)
			lines[r->n_lines++] = lines[i];
	}
}

/* Every invocation enters the entry point once: who counts otherwise counts wrong. */
static pctl_status check_entry(const pctl_step *step, const pctl_basic_blocks *blocks,
			       const uint64_t *runs, const pctl_call *call)
{
	uint64_t invocations = step->unit->analysis->invocations;

	for (uint32_t i = 0; i < 3; i++)
		invocations *= step->groups[i];
	for (uint32_t b = 0; b < blocks->n; b++) {
		if (blocks->at[b].function != step->unit->program->entries[0].function)
			continue;
		if (runs[b] == invocations)
			return PCTL_OK;
		return pctl_refuse(call, PC5208_MISMATCH,
				   "the device counts %" PRIu64 " invocations of %" PRIu64, runs[b],
				   invocations);
	}
	return PCTL_OK;
}

static pctl_status fill_in(pctl_tuning *x, const pctl_run_observation *view,
			   const pctl_basic_blocks *blocks, const uint64_t *runs,
			   const pctl_call *call)
{
	const pctl_step *step = pctl_tune_step(view->plan);
	const pctl_program *p = step->unit->program;
	const uint32_t n = last_line(p) + 1;
	pctl_tune_result *r = x->result;
	pctl_tune_line *lines = pctl_arena_array(r->arena, n, sizeof(*lines));
	pctl_tally *tallies = pctl_arena_array(r->arena, p->n_insts + 1u, sizeof(*tallies));
	uint64_t *by_inst = pctl_arena_array(r->arena, p->n_insts + 1u, sizeof(*by_inst));

	r->blocks = pctl_arena_array(r->arena, blocks->n + 1u, sizeof(*r->blocks));
	r->counted_by = pctl_arena_dup(r->arena, pctl_session_name(view->session));
	if (lines == NULL || tallies == NULL || by_inst == NULL || r->blocks == NULL ||
	    r->counted_by == NULL)
		return pctl_no_memory(call, "counts");
	r->n_blocks = blocks->n;
	for (uint32_t b = 0; b < blocks->n; b++) {
		r->blocks[b].function = pctl_arena_dup(
			r->arena, pctl_str(p, p->functions[blocks->at[b].function].name));
		if (r->blocks[b].function == NULL)
			return pctl_no_memory(call, "counts");
	}
	for (uint32_t i = 0; i < p->n_insts; i++)
		by_inst[i] = blocks->of[i] == 0 ? 0 : runs[blocks->of[i] - 1];
	pctl_tally_program(p, by_inst, tallies);
	add_lines(r, p, blocks, tallies, lines);
	keep_lines(r, lines, n);
	r->least_bytes = least_bytes(p, step, by_inst);
	return PCTL_OK;
}

pctl_status pctl_tune_count(pctl_tuning *x, const pctl_run_observation *view, const pctl_call *call)
{
	pctl_basic_blocks blocks;
	uint64_t *runs;
	pctl_status status =
		pctl_basic_blocks_find(pctl_tune_step(view->plan)->unit->program, call, &blocks);

	if (status != PCTL_OK)
		return status;
	runs = calloc(blocks.n + 1u, sizeof(*runs));
	status = runs == NULL ? pctl_no_memory(call, "counts") : PCTL_OK;
	if (status == PCTL_OK && blocks.n != 0)
		status = run_counters(x, view, &blocks, call, runs);
	if (status == PCTL_OK)
		status = check_entry(pctl_tune_step(view->plan), &blocks, runs, call);
	if (status == PCTL_OK)
		status = fill_in(x, view, &blocks, runs, call);
	free(runs);
	pctl_basic_blocks_clear(&blocks);
	return status;
}
