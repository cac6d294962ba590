/* Prices. All arithmetic is checked, since gas is state and may never wrap. */
#include <string.h>

#include "compiler/ir/tables.h"
#include "foundation/base/num.h"
#include "runtime/gas/schedule.h"

static pctl_status overflow(const pctl_call *call, const char *what)
{
	return pctl_refuse(call, PC2602_GAS_OVERFLOW, "%s does not fit in 64 bits", what);
}

/* *sum += n * weight */
static int charge(uint64_t *sum, uint64_t n, uint64_t weight)
{
	uint64_t product;

	return pctl_num_mul(n, weight, &product) && pctl_num_add(*sum, product, sum);
}

/* Weights are in parts of a gas. */
static uint64_t whole(const pctl_gas_schedule *s, uint64_t parts)
{
	return s->parts > 1 ? pctl_num_div_up(parts, s->parts) : parts;
}

/* One workgroup: every invocation pays the worst path, a barrier counts once. */
static int price_tick(const pctl_cost_table *t, const pctl_tick *tick, uint64_t invocations,
		      uint64_t *out)
{
	pctl_tick code = *tick, barrier = {0};
	uint64_t for_code, for_barrier;

	code.barriers = 0;
	barrier.barrier = tick->barrier;
	barrier.barriers = tick->barriers;
	*out = UINT64_MAX;
	return pctl_cost_tick(t, &code, &for_code) && pctl_cost_tick(t, &barrier, &for_barrier) &&
	       pctl_num_mul(for_code, invocations, &for_code) &&
	       pctl_num_add(for_code, for_barrier, out);
}

/* A schedule older than an operation has no price for it, and a default would be none either. */
static pctl_status unpriced(const pctl_gas_schedule *s, uint16_t op, const pctl_pos *pos,
			    const pctl_call *call)
{
	return pctl_refuse_at(call, PC2604_GAS_UNPRICED, pos,
			      "name a schedule that prices it, such as structured-3",
			      "schedule %s has no price for %s", s->name, pctl_op_get(op)->name);
}

/* Gas of code that does not fit is the loops': shown is the one with the largest bound. */
static pctl_status code_overflow(const pctl_gas_schedule *s, const pctl_program *p,
				 const pctl_analysis *a, const pctl_call *call)
{
	const pctl_loop_bound *most = NULL;
	uint32_t i, inst = p->functions[p->entries[0].function].first_inst;
	pctl_pos pos;

	for (i = 0; i < a->n_loops; i++)
		if (!most || a->loops[i].max_iterations > most->max_iterations)
			most = &a->loops[i];
	if (most)
		inst = p->functions[most->function].first_inst + most->inst;
	pos = pctl_program_pos(p, inst);
	return pctl_refuse_at(call, PC2602_GAS_OVERFLOW, &pos, NULL,
			      "the gas of a workgroup does not fit in 64 bits under %s", s->name);
}

/* Schedules before structured-3 price bounds as they are written. */
static pctl_status check_bounds(const pctl_gas_schedule *s, const pctl_program *p,
				const pctl_analysis *a, const pctl_call *call)
{
	uint32_t i;

	for (i = 0; i < a->n_loops && s->structured != PCTL_LOOPS_FOLDED; i++) {
		const pctl_loop_bound *b = &a->loops[i];
		pctl_pos pos;

		if (b->bound_kind == PCTL_BOUND_SYNTACTIC)
			continue;
		pos = pctl_program_pos(p, p->functions[b->function].first_inst + b->inst);
		if (b->bound_kind == PCTL_BOUND_BUDGET)
			return pctl_refuse_at(
				call, PC2050_ANALYSE_LOOP, &pos,
				"bound it by a literal, min(x, LITERAL), or a uniform with `//# "
				"max`, or name structured-3",
				"schedule %s prices no loop without a bound", s->name);
		return pctl_refuse_at(call, PC2054_ANALYSE_LOOP_FOLDED, &pos,
				      "write the bound as a number, or name structured-3",
				      "schedule %s %s the bounds of loops", s->name,
				      b->bound_kind == PCTL_BOUND_RANGE
					      ? "takes no ranges of values for"
					      : "does no arithmetic on");
	}
	return PCTL_OK;
}

static pctl_status check_priced(const pctl_gas_schedule *s, const pctl_program *p,
				const pctl_call *call)
{
	uint32_t i;

	for (i = 0; i < p->n_insts; i++) {
		pctl_pos pos;

		if (pctl_cost_kind(&s->costs, p->insts[i].op) != PCTL_COST_UNPRICED)
			continue;
		pos = pctl_program_pos(p, i);
		return unpriced(s, p->insts[i].op, &pos, call);
	}
	return PCTL_OK;
}

/* f64 is younger than the schedules before structured-3. */
static pctl_status check_doubles(const pctl_gas_schedule *s, const pctl_program *p,
				 const pctl_call *call)
{
	uint32_t i = 0;
	pctl_pos pos;

	if (s->structured == PCTL_LOOPS_FOLDED || !(p->caps & PCTL_CAP_F64) ||
	    (p->caps & PCTL_CAP_NATIVE_FLOAT))
		return PCTL_OK;
	while (i + 1 < p->n_insts && p->types[p->insts[i].type].scalar != PCTL_SCALAR_F64)
		i++;
	pos = pctl_program_pos(p, i);
	return pctl_refuse_at(call, PC2604_GAS_UNPRICED, &pos,
			      "name a schedule that prices it, such as structured-3",
			      "schedule %s has no price for f64", s->name);
}

/* What a workgroup costs before it does anything. */
static int begin_workgroup(const pctl_gas_schedule *s, const pctl_analysis *a, uint64_t *sum)
{
	return charge(sum, 1, s->workgroup) && charge(sum, a->invocations, s->invocation) &&
	       charge(sum, pctl_num_div_up(a->workgroup_bytes, 4), s->zero_workgroup);
}

static pctl_status price_workgroup(const pctl_gas_schedule *s, const pctl_gas_query *q,
				   const pctl_call *call, uint64_t *out)
{
	pctl_arena *arena = pctl_arena_create();
	uint32_t n = 0, lost = 0, i;
	pctl_tick *ticks = NULL;
	uint64_t sum = 0, one;
	int fits = 1;

	*out = 0;
	if (!arena || !pctl_profile(q->program, q->analysis, &s->costs, s->structured, arena,
				    &ticks, &n, &lost)) {
		pctl_arena_destroy(arena);
		return pctl_refuse(call, PC2_NOMEM, "no memory to price a program");
	}
	for (i = 0; i < n && fits; i++)
		fits = price_tick(&s->costs, &ticks[i], q->analysis->invocations, &one) &&
		       pctl_num_add(sum, one, &sum);
	/* The product is of loops in sequence too, as the document says; no other schedule has it. */
	if (fits && s->structured == PCTL_LOOPS_MULTIPLY_ALL)
		fits = !q->analysis->product_lost &&
		       pctl_num_mul(sum, q->analysis->max_loop_iterations, &sum);
	fits = fits && begin_workgroup(s, q->analysis, &sum);
	pctl_arena_destroy(arena);
	if (!fits || lost || (q->analysis->overflow && s->structured != PCTL_LOOPS_FOLDED))
		return code_overflow(s, q->program, q->analysis, call);
	*out = sum;
	return PCTL_OK;
}

pctl_status pctl_gas_ticks(const pctl_gas_schedule *s, const pctl_program *p,
			   const pctl_analysis *a, pctl_arena *arena, const pctl_call *call,
			   pctl_tick **ticks, uint64_t **weights, uint32_t *n)
{
	uint32_t lost = 0;
	int fits = 1;

	*ticks = NULL;
	*weights = NULL;
	*n = 0;
	if (!pctl_profile(p, a, &s->costs, s->structured, arena, ticks, n, &lost) ||
	    (*weights = pctl_arena_array(arena, *n, sizeof(**weights))) == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory to price a program");
	for (uint32_t i = 0; i < *n && fits; i++)
		fits = price_tick(&s->costs, &(*ticks)[i], a->invocations, &(*weights)[i]);
	return fits && !lost && (!a->overflow || s->structured == PCTL_LOOPS_FOLDED)
		       ? PCTL_OK
		       : code_overflow(s, p, a, call);
}

/* n times a weight, in parts of a gas. */
static pctl_status times(uint64_t n, uint64_t weight, const char *what, const pctl_call *call,
			 uint64_t *out)
{
	if (pctl_num_mul(n, weight, out))
		return PCTL_OK;
	*out = 0;
	return overflow(call, what);
}

static pctl_status memory_of(const pctl_gas_schedule *s, uint64_t n_bytes, const pctl_call *call,
			     uint64_t *out)
{
	return times(pctl_num_div_up(n_bytes, s->memory_unit_bytes), s->memory,
		     "the gas of bound memory", call, out);
}

static pctl_status hops_of(const pctl_gas_schedule *s, uint64_t n, const pctl_call *call,
			   uint64_t *out)
{
	return times(n, s->dependency_hop, "the gas of dependencies", call, out);
}

pctl_status pctl_gas_memory(const pctl_gas_schedule *s, uint64_t n_bytes, const pctl_call *call,
			    uint64_t *out)
{
	const pctl_status status = memory_of(s, n_bytes, call, out);

	*out = whole(s, *out);
	return status;
}

pctl_status pctl_gas_hops(const pctl_gas_schedule *s, uint64_t n, const pctl_call *call,
			  uint64_t *out)
{
	const pctl_status status = hops_of(s, n, call, out);

	*out = whole(s, *out);
	return status;
}

static int price_build(const pctl_gas_schedule *s, uint64_t n, uint64_t instructions, uint64_t *sum)
{
	return charge(sum, n, s->build) && charge(sum, instructions, s->build_instruction);
}

/* In parts. Schedules before consensus-2 have zeros there. */
static int price_job(const pctl_gas_schedule *s, const pctl_gas_query *q, uint64_t *out)
{
	*out = 0;
	return (!(q->of & PCTL_GAS_OF_JOB) ||
		(charge(out, 1, s->job) && charge(out, q->instructions, s->check))) &&
	       (!(q->of & PCTL_GAS_OF_BUILD) || price_build(s, 1, q->instructions, out));
}

static pctl_status check_whole(const pctl_gas_schedule *s, const char *what, const pctl_call *call)
{
	return s->is_whole ? PCTL_OK
			   : pctl_refuse_at(call, PC2604_GAS_UNPRICED, NULL,
					    "name a schedule that prices it, such as consensus-2",
					    "schedule %s has no price for %s", s->name, what);
}

pctl_status pctl_gas_of_message(const pctl_gas_schedule *s, const pctl_gas_message *m,
				const pctl_call *call, uint64_t *out)
{
	uint64_t sum = 0;
	pctl_status status = check_whole(s, "messages", call);

	*out = 0;
	if (status != PCTL_OK)
		return status;
	if (!charge(&sum, 1, s->message) || !charge(&sum, m->n_bytes, s->message_byte) ||
	    !charge(&sum, m->source_bytes, s->validation) ||
	    (m->beside < PCTL_GAS_WEIGHTS && !charge(&sum, 1, pctl_gas_row(s, m->beside))))
		return overflow(call, "the gas of a message");
	*out = whole(s, sum);
	return PCTL_OK;
}

pctl_status pctl_gas_refusal(const pctl_gas_schedule *s, const pctl_call *call, uint64_t *out)
{
	const pctl_status status = check_whole(s, "refusals", call);

	*out = status == PCTL_OK ? whole(s, s->refusal) : 0;
	return status;
}

pctl_status pctl_gas_fuel(const pctl_gas_schedule *s, uint64_t fuel, const pctl_call *call,
			  uint64_t *out)
{
	uint64_t sum = 0;
	pctl_status status = check_whole(s, "contracts", call);

	*out = 0;
	if (status == PCTL_OK && !charge(&sum, pctl_num_div_up(fuel, 1000), s->contract_fuel))
		status = overflow(call, "the gas of fuel");
	*out = status == PCTL_OK ? whole(s, sum) : 0;
	return status;
}

pctl_status pctl_gas_build(const pctl_gas_schedule *s, uint64_t n, uint64_t instructions,
			   const pctl_call *call, uint64_t *out)
{
	uint64_t sum = 0;
	pctl_status status = check_whole(s, "kernels", call);

	*out = 0;
	if (status == PCTL_OK && !price_build(s, n, instructions, &sum))
		status = overflow(call, "the gas of a kernel");
	*out = status == PCTL_OK ? whole(s, sum) : 0;
	return status;
}

pctl_status pctl_gas_price_of(const pctl_gas_schedule *s, const pctl_gas_query *q,
			      const pctl_call *call, pctl_gas_price *out)
{
	uint64_t groups, bytes;
	pctl_gas_price price;
	pctl_status status;

	memset(out, 0, sizeof(*out));
	memset(&price, 0, sizeof(price));
	status = check_doubles(s, q->program, call);
	if (status == PCTL_OK)
		status = check_priced(s, q->program, call);
	if (status == PCTL_OK)
		status = check_bounds(s, q->program, q->analysis, call);
	if (status == PCTL_OK)
		status = price_workgroup(s, q, call, &price.cost_per_workgroup);
	if (status != PCTL_OK)
		return status;
	if (!pctl_num_mul(q->groups[0], q->groups[1], &groups) ||
	    !pctl_num_mul(groups, q->groups[2], &groups) ||
	    !pctl_num_mul(price.cost_per_workgroup, groups, &price.dispatch) ||
	    !pctl_num_add(price.dispatch, s->dispatch, &price.dispatch))
		return overflow(call, "the gas of the dispatch");
	/* The sum of bytes is divided once, not each part for itself. */
	if (!pctl_num_add(q->input_bytes, q->output_bytes, &bytes) ||
	    !pctl_num_add(bytes, q->uniform_bytes, &bytes))
		return overflow(call, "the bound memory");
	status = memory_of(s, bytes, call, &price.memory);
	if (status == PCTL_OK)
		status = hops_of(s, q->hops, call, &price.hops);
	if (status != PCTL_OK)
		return status;
	if (!charge(&price.memory, pctl_num_div_up(q->output_bytes, s->memory_unit_bytes),
		    s->output))
		return overflow(call, "the gas of the output");
	if (!price_job(s, q, &price.job))
		return overflow(call, "the gas of a job beside its dispatch");
	price.cost_per_workgroup = whole(s, price.cost_per_workgroup);
	price.dispatch = whole(s, price.dispatch);
	price.memory = whole(s, price.memory);
	price.hops = whole(s, price.hops);
	price.job = whole(s, price.job);
	if (!pctl_num_add(price.dispatch, price.memory, &price.total) ||
	    !pctl_num_add(price.total, price.hops, &price.total) ||
	    !pctl_num_add(price.total, price.job, &price.total))
		return overflow(call, "the gas of a job");
	*out = price;
	return PCTL_OK;
}

pctl_status pctl_gas_actual(const pctl_gas_schedule *s, const pctl_counts *counts,
			    const pctl_call *call, uint64_t *out)
{
	const pctl_cost_table *t = &s->costs;
	const uint64_t weights[] = {0,		 t->integer,	    t->division,   t->atomic,
				    t->float_op, t->float_division, t->elementary, 0};
	const pctl_pos nowhere = {NULL, 0, 0, 0, 0};
	uint64_t sum = 0, local;
	uint32_t op, i;
	int fits = 1;

	*out = 0;
	for (op = 0; op < PCTL_COST_OPS; op++) {
		uint64_t each;

		if (t->kind[op] == PCTL_COST_UNPRICED && counts->op_units[op])
			return unpriced(s, (uint16_t)op, &nowhere, call);
		fits = fits && pctl_num_mul(t->count[op], weights[t->kind[op]], &each) &&
		       charge(&sum, counts->op_units[op], each);
	}
	/* The reference counts every dynamic index, the estimate only those its rule does not
	 * cover: they are left out here, so that actual <= estimate compares what both know. */
	fits = fits && charge(&sum, pctl_num_div_up(counts->storage_read_bytes, 4), t->read) &&
	       charge(&sum, pctl_num_div_up(counts->storage_write_bytes, 4), t->write) &&
	       pctl_num_mul(pctl_num_div_up(counts->other_memory_bytes, 4), t->memory_ops,
			    &local) &&
	       charge(&sum, local, t->integer);
	for (i = 1; i < 4; i++)
		fits = fits && charge(&sum, counts->barriers[i],
				      (i & PCTL_BARRIER_WORKGROUP ? t->workgroup_barrier : 0) +
					      (i & PCTL_BARRIER_STORAGE ? t->storage_barrier : 0));
	if (!fits)
		return overflow(call, "the gas counted");
	*out = whole(s, sum);
	return PCTL_OK;
}
