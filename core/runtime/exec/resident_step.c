/* One step of a resident run: what changes is written, one list (or one a segment) is submitted and waited for, what is wanted is read. Nothing is
 * planned, named or allocated here, but for what a check is to find later. */
#include <inttypes.h>
#include <string.h>

#include "foundation/base/bytes.h"
#include "foundation/base/clock.h"
#include "runtime/exec/resident_private.h"
#include "runtime/exec/readback.h"

/* ---- before anything is written ----------------------------------------------------------- */

static pctl_status check_sizes(const pctl_resident *r, const pctl_resident_input *in,
			       const pctl_resident_output *out)
{
	const pctl_pipeline *p = r->run.graph->pipeline;

	for (uint32_t i = 0; i < r->n_changing; i++) {
		uint64_t n = 0;

		(void)pctl_type_bytes(pctl_resident_input_type(r, i), &n);
		if (in[i].n_bytes != n || (in[i].data == NULL && n != 0))
			return pctl_refuse(r->call, PC5252_RESIDENT_PORT,
					   "input \"%s\" has %" PRIu64
					   " bytes in each step, %" PRIu64 " were given",
					   p->inputs[r->changing[i]].name, n,
					   in[i].data == NULL ? 0 : in[i].n_bytes);
	}
	for (uint32_t i = 0; i < r->n_reads; i++) {
		uint64_t n = 0;

		(void)pctl_type_bytes(pctl_resident_output_type(r, i), &n);
		if (out[i].n_bytes != n || (out[i].data == NULL && n != 0))
			return pctl_refuse(r->call, PC5252_RESIDENT_PORT,
					   "output \"%s\" has %" PRIu64
					   " bytes, there is room for %" PRIu64,
					   p->outputs[r->reads[i]].port, n,
					   out[i].data == NULL ? 0 : out[i].n_bytes);
	}
	return PCTL_OK;
}

static pctl_status check_values(const pctl_resident *r, const pctl_resident_input *in)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < r->n_changing; i++)
		status = pctl_run_check_codes(&r->run, r->changing[i], in[i].data, r->call);
	return status == PCTL_OK ? pctl_resident_check_maxima(r, in) : status;
}

/* ---- moving bytes ------------------------------------------------------------------------- */

static pctl_status write_all(pctl_resident *r, const pctl_resident_input *in)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < r->n_changing; i++) {
		const uint32_t number = r->input_span[r->changing[i]];
		const pctl_resident_span *s = number == UINT32_MAX ? NULL : &r->spans[number];

		if (s == NULL || in[i].n_bytes == 0)
			continue;
		if (s->n_bytes > PCTL_RESIDENT_SMALL)
			status = r->t->buffer_write(r->dev, r->call, s->buffer, 0, in[i].data,
						    in[i].n_bytes);
		else
			memcpy(r->ask_data + s->base, in[i].data, in[i].n_bytes);
	}
	if (status == PCTL_OK && r->ask_bytes != 0)
		status = r->t->buffer_write(r->dev, r->call, r->ask, 0, r->ask_data, r->ask_bytes);
	return status;
}

static pctl_status read_output(pctl_resident *r, uint32_t i, const pctl_resident_output *out)
{
	const pctl_source from = r->run.graph->outputs[r->reads[i]];
	const pctl_resident_range whole = {.span = r->value_span[from.job][from.port]};
	const pctl_resident_span *s = &r->spans[whole.span];
	pctl_buffer *buffer;
	uint64_t at;

	if (out->n_bytes == 0)
		return PCTL_OK;
	if (s->kind == PCTL_SPAN_ANSWER && s->n_bytes <= PCTL_RESIDENT_SMALL) {
		memcpy(out->data, r->answer_data + s->base, out->n_bytes);
		return PCTL_OK;
	}
	pctl_resident_where(r, &whole, r->family->parity, &buffer, &at);
	return pctl_readback_fill(r->s, r->call, buffer, at, out->data, out->n_bytes);
}

/* ---- what the device says of the data ------------------------------------------------------ */

static uint64_t word_at(const pctl_resident *r, uint32_t span, uint64_t at, uint32_t bytes)
{
	return pctl_le_get(r->answer_data + r->spans[span].base + at, bytes);
}

/* Flags are zero when a step begins. */
static pctl_status clear_flags(pctl_resident *r)
{
	static const uint8_t none[4] = {0};
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < r->n_reports; i++)
		if (r->reports[i].check == NULL && word_at(r, r->reports[i].found, 0, 4) != 0)
			status = r->t->buffer_write(r->dev, r->call, r->answer,
						    r->spans[r->reports[i].found].base, none, 4);
	return status;
}

/* The first failure in the order of jobs; *failed 1: there is one, and the device goes on. */
static pctl_status judge(pctl_resident *r, uint32_t *failed)
{
	for (uint32_t i = 0; i < r->n_reports; i++) {
		const pctl_resident_report *w = &r->reports[i];
		const uint64_t found =
			word_at(r, w->found, w->found_at, w->check == NULL ? 4 : w->check->bytes);
		uint64_t also = 0;
		pctl_status status;

		if (found == (w->check == NULL ? 0 : w->check->expected))
			continue;
		status = clear_flags(r);
		if (status != PCTL_OK)
			return status;
		*failed = 1;
		if (w->check == NULL)
			return pctl_job_refuse_turns(w->plan, w->step, "", r->call);
		if (w->also != UINT32_MAX)
			also = word_at(r, w->also, w->also_at, w->check->also_bytes);
		return pctl_job_refuse_check(w->plan, w->check, found, also, r->call);
	}
	return PCTL_OK;
}

/* ---- a step ------------------------------------------------------------------------------- */

static void tell_waiting(void *ctx)
{
	const pctl_resident *r = ctx;
	const pctl_progress now = {.stage = "run",
				   .what = r->run.graph->pipeline->name,
				   .device = pctl_session_id(r->s),
				   .job = 1,
				   .jobs = 1};

	pctl_progress_tell(&r->o.progress, &now);
}

/* What the driver mapped late is known when the first step has run, and before any byte of it counts. */
static pctl_status settle(pctl_resident *r)
{
	pctl_resident *first = r->family->makers[0];
	const pctl_graph *g = r->run.graph;
	pctl_status status;

	if (r->family->is_settled)
		return PCTL_OK;
	first->run.call = r->call;
	status = pctl_run_settle(&first->run);
	for (uint32_t i = 0; status == PCTL_OK && i < g->n_nodes; i++)
		pctl_run_judge_evidence(&r->run, &r->run.nodes[g->order[i]], 0);
	r->family->is_settled = status == PCTL_OK;
	return status;
}

static pctl_status hash_all(const pctl_resident *r, const pctl_resident_output *out, pctl_cid *cids)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < r->n_reads; i++)
		status = pctl_cid_of(out[i].data == NULL ? "" : out[i].data, out[i].n_bytes,
				     r->call, &cids[i]);
	return status;
}

/* *kept as below: an input that cannot be read, or is no more what it was, is no harm to the state. */
static pctl_status run_segments(pctl_resident *r, pctl_submission *work, pctl_resident_stats *stats,
				uint32_t *kept)
{
	const uint32_t parity = pctl_resident_takes_turns(r) ? r->family->parity : 0;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < r->n_segments; i++) {
		const pctl_resident_segment *g = &r->segments[i];
		const uint64_t began = pctl_clock_ns();

		status = pctl_resident_upload_segment(r, g);
		stats->write_ns += g->n_uploads == 0 ? 0 : pctl_clock_ns() - began;
		*kept = status == PCTL_E_IO || status == PCTL_E_CANCELLED;
		if (status != PCTL_OK)
			return status;
		status = pctl_submission_run(work, g->lists[parity], 1);
		stats->submit_ns += work->submit_ns;
		stats->wait_ns += work->wait_ns;
		*kept = (status == PCTL_E_TIMEOUT || status == PCTL_E_CANCELLED) && !work->runs_on;
	}
	stats->streamed_bytes = r->streamed_bytes;
	return status;
}

/* From the first byte written to the last read. *kept 1: the state is as it was, and known. */
static pctl_status run_once(pctl_resident *r, const pctl_resident_input *in,
			    const pctl_resident_output *out, pctl_resident_stats *stats,
			    uint32_t *kept)
{
	const uint64_t began = pctl_clock_ns();
	pctl_submission work;
	pctl_status status = write_all(r, in);
	uint64_t ran;

	stats->write_ns = pctl_clock_ns() - began;
	if (status != PCTL_OK)
		return status;
	pctl_submission_begin(&work, r->s, r->run.graph->pipeline->name, r->o.policy->time_ms,
			      r->call);
	pctl_submission_trace(&work, r->run.graph->pipeline->name, (uint32_t)r->family->n_steps, 0);
	work.waiting = tell_waiting;
	work.ctx = r;
	status = run_segments(r, &work, stats, kept);
	ran = pctl_clock_ns();
	stats->submits = (uint32_t)work.submits;
	stats->device_ns = work.device_ns;
	if (status == PCTL_OK && r->answer_bytes != 0)
		status = pctl_readback_fill(r->s, r->call, r->answer, 0, r->answer_data,
					    r->answer_bytes);
	if (status == PCTL_OK)
		status = judge(r, kept);
	for (uint32_t i = 0; status == PCTL_OK && i < r->n_reads; i++)
		status = read_output(r, i, &out[i]);
	stats->read_ns = pctl_clock_ns() - ran;
	/* What was written where it lies is not as it was. */
	*kept &= !pctl_resident_writes_in_place(r);
	return status;
}

/* The step stands: it is noted, and the states are what it made of them. */
static pctl_status count(pctl_resident *r, const pctl_resident_output *out,
			 pctl_resident_stats *stats, pctl_cid *cids)
{
	const int drawn = pctl_session_kind(r->s) != PCTL_DEVICE_REFERENCE &&
			  pctl_sample_has(&r->run.sample, r->family->n_steps);
	pctl_status status = settle(r);

	if (status == PCTL_OK && (drawn || !r->family->forgot || cids != r->own_cids))
		status = hash_all(r, out, cids);
	if (status == PCTL_OK && drawn)
		status = pctl_resident_verify(r, cids);
	if (status != PCTL_OK)
		return status;
	stats->verified = (uint32_t)drawn;
	pctl_resident_remember(r, cids);
	r->family->n_steps++;
	if (r->writes_states && pctl_resident_takes_turns(r))
		r->family->parity ^= 1;
	return PCTL_OK;
}

pctl_status pctl_resident_step(pctl_resident *r, const pctl_resident_input *in,
			       const pctl_resident_output *out, const pctl_call *call,
			       pctl_resident_stats *stats, pctl_cid *cids)
{
	const uint64_t began = pctl_clock_ns();
	pctl_resident_stats own = {.step = r->family->n_steps};
	uint32_t kept = 0;
	pctl_status status;

	r->call = r->run.call = call;
	if (r->family->lost)
		return pctl_refuse(call, PC5251_RESIDENT_LOST,
				   "the resident run of \"%s\" is of no more use: an earlier step "
				   "ended so that nobody knows what its state is",
				   r->run.graph->pipeline->name);
	if (pctl_is_cancelled(call))
		return pctl_refuse(call, PC4_CANCELLED, "a step was cancelled");
	status = check_sizes(r, in, out);
	if (status == PCTL_OK)
		status = check_values(r, in);
	if (status != PCTL_OK)
		return status;
	r->in = in;
	status = run_once(r, in, out, &own, &kept);
	r->family->lost = status != PCTL_OK && !kept;
	if (status == PCTL_OK)
		status = count(r, out, &own, cids == NULL ? r->own_cids : cids);
	r->family->lost |=
		status != PCTL_OK && own.submits != 0 && pctl_resident_writes_in_place(r);
	own.host_ns = pctl_clock_ns() - began;
	if (stats != NULL)
		*stats = own;
	return status;
}
