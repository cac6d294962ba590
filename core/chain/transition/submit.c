/* Taking in a job: everything that can be known before it runs is checked here, priced, and set aside. */
#include "chain/transition/submit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "chain/chain_private.h"
#include "chain/data/data.h"
#include "chain/registry/accept.h"
#include "chain/state/amount.h"
#include "chain/state/counter.h"
#include "chain/transition/refusal.h"
#include "chain/registry/registry.h"

/* A job being taken in. parents: distinct ids that it refers to. */
typedef struct submission {
	const pctl_taking *t;
	const pctl_msg_execute *m;
	const pctl_kernel_module *unit;
	uint64_t input_bytes, uniform_bytes;
	uint64_t clock;
	const char *parents[2u * PCTL_MESSAGE_JOBS_MAX + PCTL_MESSAGE_BINDINGS_MAX + 1u];
	uint32_t n_parents, origin;
	int is_own; /* the chain itself asks for it, under version 2 of the rules */
	pctl_gas_price price;
} submission;

/* ---- the shader ---------------------------------------------------------------------------- */

static int is_released(const submission *s)
{
	return s->t->params.values[PCTL_PARAM_RULES] == PCTL_RULES_RELEASED;
}

static pctl_status check_shader(const submission *s)
{
	const pctl_msg_execute *m = s->m;
	const pctl_taking *t = s->t;
	uint64_t deprecated;
	int found;
	pctl_status status = pctl_shaders_look(t->s, m->shader_cid, t->call, &found, &deprecated);

	if (status == PCTL_OK && !found)
		status = pctl_refuse(t->call, PC5804_SHADER_UNKNOWN, "no shader %s", m->shader_cid);
	/* From version 2 of the rules on it is advice: a copy of somebody's upload may have come first. */
	if (status == PCTL_OK && deprecated != 0 && is_released(s))
		status = pctl_refuse(t->call, PC5805_SHADER_DEPRECATED,
				     "shader %s is deprecated since height %" PRIu64, m->shader_cid,
				     deprecated);
	return status;
}

static pctl_status check_dispatch(const submission *s)
{
	const pctl_program *program = NULL;
	pctl_status status =
		pctl_chain_program(s->t->c, s->m->shader_cid, &s->t->params, s->t->call, &program);

	for (uint32_t d = 0; status == PCTL_OK && d < 3; d++) {
		const uint32_t most = program->max_dispatch[d];

		if (most != 0 && s->m->dispatch[d] > most)
			status = pctl_refuse(s->t->call, PC5810_JOB_DISPATCH,
					     "%" PRIu32 " workgroups along %c, the shader declares "
					     "at most %" PRIu32,
					     s->m->dispatch[d], "xyz"[d], most);
	}
	return status;
}

static pctl_status make_unit(submission *s)
{
	pctl_status status = check_shader(s);

	if (status == PCTL_OK)
		status = check_dispatch(s);
	if (status == PCTL_OK)
		status = pctl_chain_unit(s->t->c, s->m, &s->t->params, s->t->call, &s->unit);
	return status == PCTL_OK ? pctl_rules_accept(s->unit, &s->t->params, s->t->call) : status;
}

/* ---- jobs and clocks ----------------------------------------------------------------------- */

static pctl_status after(submission *s, uint64_t clock)
{
	if (clock >= PCTL_MESSAGE_CLOCK_MAX)
		return pctl_refuse(s->t->call, PC5817_JOB_CLOCK, "no clock can follow %" PRIu64,
				   clock);
	if (clock + 1 > s->clock)
		s->clock = clock + 1;
	return PCTL_OK;
}

/* Refer to a job: it is there, this one comes behind it, and it counts once. */
static pctl_status refer(submission *s, const char *text, uint64_t *output_bytes)
{
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_chain_job job;
	pctl_status status;

	(void)pctl_job_id_parse(text, id);
	status = pctl_jobs_read(s->t->s, id, s->t->call, &job);
	if (status != PCTL_OK)
		return status;
	pctl_chain_job_clear(&job);
	if (output_bytes != NULL)
		*output_bytes = job.output_bytes;
	for (uint32_t i = 0; i < s->n_parents; i++)
		if (strcmp(s->parents[i], text) == 0)
			return PCTL_OK;
	s->parents[s->n_parents++] = text;
	return after(s, job.clock);
}

static pctl_status check_order(submission *s)
{
	const pctl_msg_execute *m = s->m;
	int is_there = 1;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < m->n_parent_jobs; i++)
		status = refer(s, m->parent_jobs[i], NULL);
	for (uint32_t i = 0; status == PCTL_OK && i < m->n_after; i++)
		status = refer(s, m->after[i], NULL);
	if (status != PCTL_OK || m->parent_clock == 0)
		return status;
	status = pctl_jobs_has_clock(s->t->s, m->parent_clock, s->t->call, &is_there);
	if (status == PCTL_OK && !is_there)
		status = pctl_refuse(s->t->call, PC5817_JOB_CLOCK, "no job has clock %" PRIu64,
				     m->parent_clock);
	return status == PCTL_OK ? after(s, m->parent_clock) : status;
}

/* ---- bytes --------------------------------------------------------------------------------- */

/* Bytes before a runtime-sized array, and from one element of it to the next (0: the type has a fixed size). */
static uint64_t fixed_part(const pctl_program *p, uint32_t type, uint64_t *stride)
{
	const pctl_type *t = &p->types[type];
	const pctl_member *last;

	*stride = 0;
	if (t->kind == PCTL_TYPE_RUNTIME_ARRAY) {
		*stride = t->stride;
		return 0;
	}
	if (t->kind != PCTL_TYPE_STRUCT || t->count == 0)
		return t->size;
	last = &p->members[t->first_member + t->count - 1];
	if (p->types[last->type].kind != PCTL_TYPE_RUNTIME_ARRAY)
		return t->size;
	*stride = p->types[last->type].stride;
	return last->offset;
}

/* Under version 1 of the rules what this node's store has decides; from version 2 on the state does. */
static pctl_status size_of(submission *s, const char *source, uint64_t *out)
{
	int found = 1;
	const pctl_call *call = s->t->call;
	pctl_store *store = s->t->c->store;
	pctl_cid cid;
	pctl_status status;

	*out = 0;
	if (strncmp(source, "job:", 4) == 0)
		return refer(s, source + 4, out);
	if (!is_released(s) && s->origin != PCTL_ORIGIN_EPOCH)
		return pctl_data_look(s->t, source, &found, out);
	status = pctl_cid_read(source, call, &cid);
	if (status == PCTL_OK && !pctl_store_has(store, &cid))
		return pctl_refuse(call, PC5816_JOB_MISSING, "no %s in the store", source);
	return status == PCTL_OK ? pctl_store_size(store, &cid, call, out) : status;
}

static pctl_status add_input(submission *s, uint32_t group, uint32_t binding, const char *source)
{
	const pctl_program *p = s->unit->program;
	const pctl_var *v = pctl_chain_var(p, group, binding);
	uint64_t n, least, stride;
	pctl_status status;

	if (v == NULL)
		return pctl_refuse(s->t->call, PC5811_JOB_BINDING,
				   "the entry point uses no variable at group %" PRIu32
				   " binding %" PRIu32,
				   group, binding);
	status = size_of(s, source, &n);
	if (status != PCTL_OK)
		return status;
	least = fixed_part(p, v->type, &stride);
	if (n < least || n % 4 != 0 || n > PCTL_MESSAGE_OUTPUT_MAX)
		return pctl_refuse(
			s->t->call, PC5812_JOB_SIZE,
			"%" PRIu64 " bytes for \"%s\" at group %" PRIu32 " binding %" PRIu32
			": a multiple of 4, at least %" PRIu64 ", at most %u",
			n, pctl_str(p, v->name), group, binding, least, PCTL_MESSAGE_OUTPUT_MAX);
	s->input_bytes += n; /* at most 8 of 128 MiB */
	return PCTL_OK;
}

/* Every variable of the entry point is fed: the message's own slots are there by the rules. */
static pctl_status check_fed(const submission *s)
{
	const pctl_program *p = s->unit->program;

	for (uint32_t i = 0; i < p->n_vars; i++) {
		const pctl_var *v = &p->vars[i];
		uint32_t k = 0;

		if (v->space != PCTL_SPACE_STORAGE || (v->binding == 0 && v->group <= 1))
			continue;
		while (k < s->m->n_bindings && (s->m->bindings[k].group != v->group ||
						s->m->bindings[k].binding != v->binding))
			k++;
		if (k == s->m->n_bindings)
			return pctl_refuse(s->t->call, PC5811_JOB_BINDING,
					   "nothing is bound to \"%s\" at group %" PRIu32
					   " binding %" PRIu32,
					   pctl_str(p, v->name), v->group, v->binding);
	}
	return PCTL_OK;
}

static pctl_status check_output(const submission *s)
{
	const uint64_t n = s->m->output_bytes,
		       most = s->t->params.values[PCTL_PARAM_OUTPUT_BYTES_MAX];
	const pctl_program *p = s->unit->program;
	const pctl_var *v = pctl_chain_var(p, 1, 0);
	uint64_t stride;
	const uint64_t least = fixed_part(p, v->type, &stride);

	if (n > most)
		return pctl_refuse(s->t->call, PC5815_JOB_OUTPUT,
				   "%" PRIu64 " bytes of output, at most %" PRIu64, n, most);
	if (stride == 0 && n != least)
		return pctl_refuse(s->t->call, PC5815_JOB_OUTPUT,
				   "%" PRIu64 " bytes of output, \"%s\" has %" PRIu64, n,
				   pctl_str(p, v->name), least);
	if (stride != 0 && (n < least || (n - least) % stride != 0))
		return pctl_refuse(s->t->call, PC5815_JOB_OUTPUT,
				   "%" PRIu64 " bytes of output, \"%s\" has %" PRIu64
				   " and whole elements of %" PRIu64,
				   n, pctl_str(p, v->name), least, stride);
	return PCTL_OK;
}

static pctl_status check_bytes(submission *s)
{
	const pctl_msg_execute *m = s->m;
	uint8_t *block = NULL;
	pctl_status status = add_input(s, 0, 0, m->input);

	for (uint32_t i = 0; status == PCTL_OK && i < m->n_bindings; i++)
		status = add_input(s, m->bindings[i].group, m->bindings[i].binding,
				   m->bindings[i].cid);
	if (status == PCTL_OK)
		status = check_fed(s);
	if (status == PCTL_OK)
		status = check_output(s);
	if (status == PCTL_OK)
		status = pctl_chain_uniform(s->t->c, m, &s->t->params, s->t->call, &block,
					    &s->uniform_bytes);
	free(block);
	return status;
}

/* ---- what it needs ------------------------------------------------------------------------- */

/* From version 2 of the rules on, before anything is compiled for it. The engine's own jobs name what it made itself. */
static pctl_status check_data(const submission *s)
{
	const uint32_t *d = s->m->dispatch;

	if (is_released(s) || s->origin == PCTL_ORIGIN_EPOCH)
		return PCTL_OK;
	if (d[0] == 0 || d[1] == 0 || d[2] == 0)
		return pctl_refuse(s->t->call, PC5866_JOB_EMPTY,
				   "a dispatch of %" PRIu32 ", %" PRIu32 ", %" PRIu32
				   " workgroups is of none",
				   d[0], d[1], d[2]);
	return pctl_data_check(s->t, s->m);
}

static pctl_status check_memory(const submission *s)
{
	const uint64_t most = s->t->params.values[PCTL_PARAM_JOB_MEMORY_MAX];
	/* At most 8 of 128 MiB, and a block of 64 KiB. */
	const uint64_t bytes = s->input_bytes + s->uniform_bytes + s->m->output_bytes;
	uint64_t need;
	pctl_status status;

	if (is_released(s))
		return PCTL_OK;
	status = pctl_accept_memory(s->unit, bytes, s->t->call, &need);
	if (status == PCTL_OK && need > most)
		return pctl_refuse(s->t->call, PC5867_JOB_MEMORY,
				   "the job needs %" PRIu64 " bytes (%" PRIu64
				   " of them bound), at most %" PRIu64,
				   need, bytes, most);
	return status;
}

/* ---- gas ----------------------------------------------------------------------------------- */

pctl_status pctl_job_price(const pctl_gas_schedule *schedule, const pctl_params *p,
			   const pctl_job_shape *job, const pctl_call *call, pctl_gas_price *out)
{
	/* What is the job's beside its dispatch has a price from version 2 of the rules on. */
	pctl_gas_query q = {.program = job->unit->program,
			    .analysis = job->unit->analysis,
			    .groups = {job->groups[0], job->groups[1], job->groups[2]},
			    .of = PCTL_GAS_OF_JOB | (job->is_built ? PCTL_GAS_OF_BUILD : 0u),
			    .input_bytes = job->input_bytes,
			    .output_bytes = job->output_bytes,
			    .uniform_bytes = job->uniform_bytes,
			    .hops = job->hops};
	pctl_status status = PCTL_OK;

	if (p->values[PCTL_PARAM_RULES] != PCTL_RULES_RELEASED)
		status = pctl_accept_instructions(job->unit, call, &q.instructions);
	return status == PCTL_OK ? pctl_gas_price_of(schedule, &q, call, out) : status;
}

static pctl_status check_gas(submission *s)
{
	const pctl_msg_execute *m = s->m;
	const pctl_gas_schedule *schedule;
	const pctl_job_shape job = {.unit = s->unit,
				    .groups = {m->dispatch[0], m->dispatch[1], m->dispatch[2]},
				    .is_built = m->n_overrides != 0,
				    .input_bytes = s->input_bytes,
				    .output_bytes = m->output_bytes,
				    .uniform_bytes = s->uniform_bytes,
				    .hops = s->n_parents + (m->parent_clock != 0)};
	uint64_t budget = 0;
	pctl_status status = pctl_chain_prices(s->t->c, &s->t->params, s->t->call, &schedule);

	if (status == PCTL_OK)
		status = pctl_job_price(schedule, &s->t->params, &job, s->t->call, &s->price);
	if (status == PCTL_OK)
		status = pctl_params_block_budget(&s->t->params, s->t->call, &budget);
	if (status != PCTL_OK)
		return status;
	if (s->price.total > m->gas_limit)
		return pctl_refuse(s->t->call, PC5818_JOB_GAS,
				   "the job costs %" PRIu64 " gas (dispatch %" PRIu64
				   ", memory %" PRIu64 ", dependencies %" PRIu64
				   ", the job itself %" PRIu64 "), the limit is %" PRIu64,
				   s->price.total, s->price.dispatch, s->price.memory,
				   s->price.hops, s->price.job, m->gas_limit);
	if (s->price.total > budget)
		return pctl_refuse(s->t->call, PC5819_JOB_BUDGET,
				   "the job costs %" PRIu64 " gas, a block has %" PRIu64,
				   s->price.total, budget);
	return PCTL_OK;
}

/* ---- the queue ----------------------------------------------------------------------------- */

/* From version 2 of the rules on. */
static pctl_status check_queue(const submission *s)
{
	const pctl_taking *t = s->t;
	const uint64_t most = t->params.values[PCTL_PARAM_QUEUE_JOBS];
	uint64_t n;
	pctl_status status;

	if (!pctl_params_has_stakes(&t->params))
		return s->m->tip == 0
			       ? PCTL_OK
			       : pctl_refuse(t->call, PC5896_RULES_EARLY, "execute.tip is given");
	if (s->is_own)
		return PCTL_OK;
	status = pctl_counter_read(t->s, PCTL_COUNTER_QUEUE, s->m->sender, t->call, &n);
	return status == PCTL_OK && n >= most
		       ? pctl_refuse(t->call, PC5897_JOB_QUEUE,
				     "%s has %" PRIu64 " jobs in the queue, at most %" PRIu64,
				     s->m->sender, n, most)
		       : status;
}

/* ---- taking it in -------------------------------------------------------------------------- */

pctl_status pctl_queue_job(const pctl_taking *t, const pctl_request *r, uint64_t reserve,
			   int has_row, pctl_chain_job *job)
{
	const char *sender = r->as.execute.sender;
	uint64_t clock, n;
	const uint8_t *bytes = pctl_execute_bytes(r, &n);
	pctl_status status = pctl_job_id(bytes, n, t->height, t->sequence, t->call, job->id);

	job->message = (uint8_t *)(uintptr_t)pctl_request_bytes(r, &job->n_message);
	memcpy(job->sender, sender, strlen(sender));
	if (status == PCTL_OK)
		status = pctl_jobs_last(t->s, t->call, &clock, &job->position);
	job->position++;
	if (status == PCTL_OK && has_row)
		status = pctl_ledger_reserve(t->s, job->id, sender, reserve, t->call);
	else if (status == PCTL_OK)
		status = pctl_ledger_set_aside(t->s, sender, reserve, t->call);
	return status == PCTL_OK ? pctl_jobs_add(t->s, job, t->call) : status;
}

pctl_status pctl_apply_job(const pctl_taking *t, const pctl_request *r, uint32_t origin)
{
	const pctl_msg_execute *m = &r->as.execute;
	submission s = {.t = t, .m = m, .clock = t->clock, .origin = origin};
	uint64_t reserve = m->gas_limit;
	pctl_chain_job job;
	char text[PCTL_JOB_TEXT_SIZE];
	pctl_status status;

	s.is_own = origin == PCTL_ORIGIN_EPOCH && pctl_params_has_stakes(&t->params);
	status = check_queue(&s);
	if (status == PCTL_OK && !pctl_amount_add(&reserve, m->tip))
		status = pctl_refuse(t->call, PC5712_LEDGER_OVERFLOW,
				     "gas_limit and tip together are 2^64 or more");
	if (status == PCTL_OK)
		status = check_data(&s);
	if (status == PCTL_OK)
		status = make_unit(&s);
	if (status == PCTL_OK)
		status = check_order(&s);
	if (status == PCTL_OK)
		status = check_bytes(&s);
	if (status == PCTL_OK)
		status = check_memory(&s);
	if (status == PCTL_OK)
		status = check_gas(&s);
	if (status != PCTL_OK)
		return status;
	job = (pctl_chain_job){.height = t->height,
			       .clock = s.clock,
			       .gas = s.price.total,
			       .origin = origin,
			       .output_bytes = m->output_bytes};
	status = pctl_queue_job(t, r, reserve, is_released(&s), &job);
	if (status == PCTL_OK && !is_released(&s) && origin != PCTL_ORIGIN_EPOCH)
		status = pctl_counter_add(t->s, PCTL_COUNTER_QUEUE, m->sender, 1, t->call);
	if (status != PCTL_OK)
		return status;
	t->out->as.execute.job_id = pctl_arena_dup(t->arena, pctl_job_id_format(job.id, text));
	t->out->as.execute.logical_clock = s.clock;
	return t->out->as.execute.job_id == NULL ? pctl_no_memory(t->call, "a job") : PCTL_OK;
}

/* What the engine itself asks for at the end of an epoch is charged to nobody. */
pctl_status pctl_apply_execute(pctl_taking *t, const pctl_request *r, uint32_t origin)
{
	return t->params.values[PCTL_PARAM_RULES] == PCTL_RULES_RELEASED ||
			       origin != PCTL_ORIGIN_MESSAGE
		       ? pctl_apply_job(t, r, origin)
		       : pctl_apply_or_charge(t, r);
}
