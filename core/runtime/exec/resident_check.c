/* Steps of a resident run again on the reference, by an ordinary run of the pipeline over bytes that the host holds. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/resident_private.h"
#include "runtime/exec/readback.h"

/* ---- one step ----------------------------------------------------------------------------- */

/* What is taken from the run as its jobs end. */
struct again {
	const pctl_resident *r;
	pctl_cid *cids;
	uint8_t **after; /* NULL: states are not wanted */
};

static pctl_status read_port(const pctl_run_observation *v, uint32_t port, const pctl_call *call,
			     uint8_t **out)
{
	pctl_status status;

	*out = calloc(1, v->ports[port].n_bytes + 4);
	if (*out == NULL)
		return pctl_no_memory(call, "a check");
	status = pctl_run_observation_read(v, port, 0, *out, v->ports[port].n_bytes, call);
	if (status != PCTL_OK) {
		free(*out);
		*out = NULL;
	}
	return status;
}

static pctl_status look_at_port(const struct again *a, const pctl_run_observation *v, uint32_t port,
				const pctl_call *call)
{
	const pctl_source *outputs = a->r->run.graph->outputs;
	uint8_t *data = NULL;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < a->r->n_reads; i++) {
		const pctl_source s = outputs[a->r->reads[i]];

		if (s.job != v->job || s.port != v->ports[port].number)
			continue;
		if (data == NULL)
			status = read_port(v, port, call, &data);
		if (status == PCTL_OK)
			status = pctl_cid_of(data, v->ports[port].n_bytes, call, &a->cids[i]);
	}
	for (uint32_t k = 0; status == PCTL_OK && a->after != NULL && k < a->r->n_states; k++) {
		const uint32_t o = a->r->next_output[k];

		if (o == UINT32_MAX || outputs[o].job != v->job ||
		    outputs[o].port != v->ports[port].number || a->after[k] != NULL)
			continue;
		status = read_port(v, port, call, &a->after[k]);
	}
	free(data);
	return status;
}

static pctl_status look(void *ctx, const pctl_run_observation *v, const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < v->n_ports; i++)
		status = look_at_port(ctx, v, i, call);
	return status;
}

/* The data of a step: states as `states` has them, changing inputs one after the other from `in`. */
static void give(const pctl_resident *r, const uint8_t *in, uint8_t *const *states,
		 pctl_input_bytes *given)
{
	const pctl_pipeline *p = r->run.graph->pipeline;
	uint64_t at = 0;

	for (uint32_t i = 0; i < r->n_changing; i++) {
		given[i] = (pctl_input_bytes){.name = p->inputs[r->changing[i]].name,
					      .data = in + at,
					      .type = r->run.input_types[r->changing[i]]};
		(void)pctl_type_bytes(&given[i].type, &given[i].n_bytes);
		at += given[i].n_bytes;
	}
	for (uint32_t k = 0; k < r->n_states; k++) {
		pctl_input_bytes *g = &given[r->n_changing + k];

		*g = (pctl_input_bytes){.name = r->states[k].input,
					.data = states[k],
					.type = r->family->states[r->held[k]].type};
		(void)pctl_type_bytes(&g->type, &g->n_bytes);
	}
}

pctl_status pctl_resident_again(pctl_resident *r, const uint8_t *in, uint8_t *const *states,
				const pctl_call *call, pctl_cid *cids, uint8_t **after)
{
	static const char *const reference[] = {PCTL_REFERENCE};
	struct again a = {r, cids, after};
	pctl_input_bytes *given = calloc(r->n_changing + r->n_states + 1u, sizeof(*given));
	pctl_run_options o = r->o;
	pctl_run_result *result = NULL;
	pctl_status status;

	if (given == NULL)
		return pctl_no_memory(call, "a check");
	give(r, in, states, given);
	o.like = &r->run;
	o.ins = NULL;
	o.n_ins = 0;
	o.given = given;
	o.n_given = r->n_changing + r->n_states;
	o.backends = reference;
	o.n_backends = 1;
	o.verify_ppm = 0;
	o.flags |= PCTL_RUN_UNPLACED;
	o.observe = look;
	o.observe_ctx = &a;
	status = pctl_run(r->run.graph, &o, call, &result);
	pctl_run_result_destroy(result);
	for (uint32_t k = 0; status != PCTL_OK && after != NULL && k < r->n_states; k++) {
		free(after[k]);
		after[k] = NULL;
	}
	free(given);
	return status;
}

static pctl_status compare(const pctl_resident *r, uint64_t step, const pctl_cid *mine,
			   const pctl_cid *right, const pctl_call *call)
{
	for (uint32_t i = 0; i < r->n_reads; i++) {
		char a[PCTL_CID_TEXT_SIZE], b[PCTL_CID_TEXT_SIZE];

		if (pctl_cid_compare(&mine[i], &right[i]) == 0)
			continue;
		return pctl_refuse(call, PC5208_MISMATCH,
				   "step %" PRIu64
				   " of \"%s\", output \"%s\": right is %s, %s gave %s",
				   step, r->run.graph->pipeline->name,
				   r->run.graph->pipeline->outputs[r->reads[i]].port,
				   pctl_cid_format(&right[i], b), pctl_session_name(r->s),
				   pctl_cid_format(&mine[i], a));
	}
	return PCTL_OK;
}

/* ---- the step that was just made ---------------------------------------------------------- */

static void free_all(uint8_t **blobs, uint32_t n)
{
	for (uint32_t i = 0; blobs != NULL && i < n; i++)
		free(blobs[i]);
	free(blobs);
}

static pctl_status read_states(const pctl_resident *r, uint32_t parity, uint8_t **out)
{
	pctl_status status = PCTL_OK;

	for (uint32_t k = 0; status == PCTL_OK && k < r->n_states; k++) {
		const pctl_resident_held *s = &r->family->states[r->held[k]];

		out[k] = calloc(1, s->n_bytes + 1);
		if (out[k] == NULL)
			return pctl_no_memory(r->call, "a check");
		if (s->n_bytes != 0)
			status = pctl_readback_fill(r->s, r->call, s->buffers[parity], 0, out[k],
						    s->n_bytes);
	}
	return status;
}

static pctl_status compare_states(const pctl_resident *r, uint8_t *const *mine,
				  uint8_t *const *right)
{
	for (uint32_t k = 0; k < r->n_states; k++) {
		uint64_t n = 0, at = 0;

		(void)pctl_type_bytes(&r->family->states[r->held[k]].type, &n);
		while (at < n && mine[k][at] == right[k][at])
			at++;
		if (at < n)
			return pctl_refuse(r->call, PC5208_MISMATCH,
					   "step %" PRIu64 " of \"%s\", state \"%s\": byte %" PRIu64
					   " is 0x%02x by the reference, %s made it 0x%02x",
					   r->family->n_steps, r->run.graph->pipeline->name,
					   r->states[k].input, at, right[k][at],
					   pctl_session_name(r->s), mine[k][at]);
	}
	return PCTL_OK;
}

static uint8_t *pack(const pctl_resident *r)
{
	uint64_t n = 0, at = 0;
	uint8_t *out;

	for (uint32_t i = 0; i < r->n_changing; i++)
		n += r->in[i].n_bytes;
	out = malloc(n + 1);
	for (uint32_t i = 0; out != NULL && i < r->n_changing; at += r->in[i++].n_bytes)
		if (r->in[i].n_bytes != 0)
			memcpy(out + at, r->in[i].data, r->in[i].n_bytes);
	return out;
}

pctl_status pctl_resident_verify(pctl_resident *r, const pctl_cid *cids)
{
	const uint32_t before = r->family->parity;
	uint8_t **was = calloc(r->n_states + 1u, sizeof(*was)),
		**is = calloc(r->n_states + 1u, sizeof(*is)),
		**right = calloc(r->n_states + 1u, sizeof(*right)), *in = pack(r);
	pctl_cid *again = calloc(r->n_reads + 1u, sizeof(*again));
	pctl_status status =
		was == NULL || is == NULL || right == NULL || in == NULL || again == NULL
			? pctl_no_memory(r->call, "a check")
			: read_states(r, before, was);

	if (status == PCTL_OK && r->writes_states)
		status = read_states(r, 1 - before, is);
	if (status == PCTL_OK)
		status = pctl_resident_again(r, in, was, r->call, again, right);
	if (status == PCTL_OK)
		status = compare(r, r->family->n_steps, cids, again, r->call);
	if (status == PCTL_OK && r->writes_states)
		status = compare_states(r, is, right);
	free_all(was, r->n_states);
	free_all(is, r->n_states);
	free_all(right, r->n_states);
	free(in);
	free(again);
	return status;
}

/* ---- all of them -------------------------------------------------------------------------- */

struct held {
	const pctl_resident *r;
	const pctl_resident_span *span;
	uint8_t *piece;
	const pctl_readback *w;
};

static pctl_status compare_piece(void *ctx, uint64_t offset, const void *data, uint64_t n)
{
	const struct held *h = ctx;
	const pctl_status status =
		pctl_readback_fill(h->r->s, h->w->call, h->span->buffer, offset, h->piece, n);

	return status == PCTL_OK ? pctl_readback_held(h->w, h->piece, data, n, offset) : status;
}

/* What no kernel may write, as it lies on the device; streamed inputs lie there for a while, and come from the host each time. */
static pctl_status check_held(pctl_resident *r, const pctl_call *call)
{
	struct held h = {.r = r, .piece = malloc(PCTL_SOURCE_PIECE)};
	pctl_status status = h.piece == NULL ? pctl_no_memory(call, "a check") : PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && !r->is_closed && i < r->n_spans; i++) {
		const pctl_resident_span *s = &r->spans[i];
		const pctl_readback w = {r->s, call, r->run.graph->pipeline->name,
					 s->kind == PCTL_SPAN_INPUT
						 ? r->run.graph->pipeline->inputs[s->number].name
						 : "",
					 s->n_bytes};

		h.span = s;
		h.w = &w;
		if (s->kind == PCTL_SPAN_INPUT && !s->is_streamed)
			status = pctl_value_stream(r->run.inputs[s->number], call, compare_piece,
						   &h);
	}
	free(h.piece);
	return status;
}

struct fetch {
	uint8_t *to;
};

static pctl_status fetch_piece(void *ctx, uint64_t offset, const void *data, uint64_t n)
{
	memcpy(((struct fetch *)ctx)->to + offset, data, n);
	return PCTL_OK;
}

/* The states' first bytes, by their numbers in the family. */
static pctl_status first_states(const pctl_resident_family *f, const pctl_call *call, uint8_t **out)
{
	const pctl_resident *first = f->makers[0];
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < first->run.graph->pipeline->n_inputs; i++) {
		const uint32_t k = first->role_number[i];
		struct fetch to;

		if (first->role[i] != PCTL_SPAN_STATE)
			continue;
		to.to = out[k] = calloc(1, f->states[k].n_bytes + 1);
		status = to.to == NULL
				 ? pctl_no_memory(call, "a check")
				 : pctl_value_stream(first->run.inputs[i], call, fetch_piece, &to);
	}
	return status;
}

/* Step number `step` on `states`, which are what it made of them then. */
static pctl_status check_step(pctl_resident_family *f, uint64_t step, uint8_t **states,
			      const pctl_call *call)
{
	const pctl_resident_past *p = &f->past[step];
	pctl_resident *maker = f->makers[p->maker];
	pctl_cid *cids = calloc(maker->n_reads + 1u, sizeof(*cids));
	uint8_t **after = calloc(maker->n_states + 1u, sizeof(*after)),
		**before = calloc(maker->n_states + 1u, sizeof(*before));
	pctl_status status = cids == NULL || after == NULL || before == NULL
				     ? pctl_no_memory(call, "a check")
				     : PCTL_OK;

	for (uint32_t k = 0; status == PCTL_OK && k < maker->n_states; k++)
		before[k] = states[maker->held[k]];
	if (status == PCTL_OK)
		status = pctl_resident_again(maker, p->in, before, call, cids, after);
	if (status == PCTL_OK)
		status = compare(maker, step, p->cids, cids, call);
	for (uint32_t k = 0; status == PCTL_OK && maker->writes_states && k < maker->n_states;
	     k++) {
		free(states[maker->held[k]]);
		states[maker->held[k]] = after[k];
		after[k] = NULL;
	}
	free_all(after, maker->n_states);
	free(before);
	free(cids);
	return status;
}

pctl_status pctl_resident_check(pctl_resident *r, uint64_t steps, const pctl_call *call)
{
	pctl_resident_family *f = r->family;
	uint8_t **states = calloc(f->n_states + 1u, sizeof(*states));
	pctl_status status = states == NULL ? pctl_no_memory(call, "a check") : PCTL_OK;

	if (status == PCTL_OK && steps > f->n_steps)
		status = pctl_refuse(call, PC5253_RESIDENT_HISTORY,
				     "%" PRIu64 " steps were made, %" PRIu64 " cannot be checked",
				     f->n_steps, steps);
	if (status == PCTL_OK && f->forgot)
		status = pctl_refuse(call, PC5253_RESIDENT_HISTORY,
				     "what went into the steps was not kept%s",
				     f->history_bytes == 0 ? "" : ", for it was more than allowed");
	for (uint32_t i = 0; status == PCTL_OK && i < f->n_makers && !f->lost; i++)
		status = check_held(f->makers[i], call);
	if (status == PCTL_OK)
		status = first_states(f, call, states);
	for (uint64_t i = 0; status == PCTL_OK && i < steps; i++)
		status = check_step(f, i, states, call);
	if (status == PCTL_OK && steps > f->checked)
		f->checked = steps;
	free_all(states, f->n_states);
	return status;
}
