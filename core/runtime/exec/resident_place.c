/* Where the bytes of a resident run lie: activations by liveness over the whole pipeline in as few pools as the device's buffers
 * allow, parameters in one buffer, what a step writes in one, what it reads in one. Measured before anything is made. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "runtime/exec/resident_private.h"

/* Numbers of workgroups are temporaries. */
#define USAGE \
	(PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER | PCTL_BUFFER_INDIRECT)

uint64_t pctl_resident_alignment(const pctl_resident *r)
{
	const uint64_t device = pctl_session_caps(r->s)->binding_alignment;

	return device > PCTL_PLAN_ALIGN ? device : PCTL_PLAN_ALIGN;
}

/* The bytes of one pool at most, 0: any. */
static uint64_t pool_most(const pctl_resident *r)
{
	const uint64_t most = pctl_session_caps(r->s)->max_buffer_bytes;

	return most - most % pctl_resident_alignment(r);
}

/* ---- activations -------------------------------------------------------------------------- */

static pctl_status refuse_large(const pctl_resident *r, uint64_t n)
{
	return pctl_refuse(r->call, PC5203_BINDING_SIZE,
			   "%s: a buffer of %" PRIu64 " bytes, at most %" PRIu64 " are possible",
			   pctl_session_name(r->s), n, pctl_session_caps(r->s)->max_buffer_bytes);
}

static pctl_status place_pools(pctl_resident *r)
{
	const uint64_t most = pool_most(r);
	pctl_life *lives = calloc(r->n_spans + 1u, sizeof(*lives));
	uint32_t *sorted = calloc(r->n_spans + 1u, sizeof(*sorted)), n = 0;
	pctl_status status = lives == NULL || sorted == NULL
				     ? pctl_no_memory(r->call, "a resident run")
				     : PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < r->n_spans; i++) {
		const pctl_resident_span *s = &r->spans[i];

		if (s->kind != PCTL_SPAN_POOL || !s->life.is_touched)
			continue;
		if ((most != 0 && s->n_bytes > most) ||
		    !pctl_num_add(r->live_bytes,
				  pctl_num_align(s->n_bytes, pctl_resident_alignment(r)),
				  &r->live_bytes) ||
		    r->live_bytes > UINT64_MAX / 4)
			status = refuse_large(r, s->n_bytes);
		lives[n++] = s->life;
	}
	if (status == PCTL_OK)
		r->pool_bytes =
			pctl_lives_place(lives, n, pctl_resident_alignment(r), most, sorted);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		r->spans[lives[i].id].life.at = lives[i].at;
	free(lives);
	free(sorted);
	return status;
}

static void size_pools(pctl_resident *r)
{
	const uint64_t most = pool_most(r);

	for (uint32_t i = 0; i < r->n_pools; i++)
		r->pool_size[i] = most != 0 && i + 1 < r->n_pools ? most : r->pool_bytes - i * most;
	for (uint32_t i = 0; i < r->n_spans; i++) {
		pctl_resident_span *s = &r->spans[i];

		if (s->kind != PCTL_SPAN_POOL)
			continue;
		s->number = most == 0 ? 0 : (uint32_t)(s->life.at / most);
		s->base = most == 0 ? s->life.at : s->life.at % most;
	}
}

/* ---- the rest ----------------------------------------------------------------------------- */

/* Spans of a kind that are small, one after the other in one buffer. */
static uint64_t lay_small(pctl_resident *r, uint32_t kind)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < r->n_spans; i++) {
		pctl_resident_span *s = &r->spans[i];

		if (s->kind != kind || s->n_bytes > PCTL_RESIDENT_SMALL)
			continue;
		s->base = end;
		end = pctl_num_align(end + s->n_bytes, pctl_resident_alignment(r));
	}
	return end;
}

/* Parameters of equal bytes lie once. */
static uint64_t lay_params(pctl_resident *r)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < r->n_spans; i++) {
		pctl_resident_span *s = &r->spans[i];
		uint32_t k = 0;

		if (s->kind != PCTL_SPAN_PARAMS)
			continue;
		while (k < i &&
		       (r->spans[k].kind != PCTL_SPAN_PARAMS || r->spans[k].n_bytes != s->n_bytes ||
			memcmp(r->spans[k].plan->data, s->plan->data, s->n_bytes) != 0))
			k++;
		s->base = k < i ? r->spans[k].base : end;
		if (k == i)
			end = pctl_num_align(end + s->n_bytes, pctl_resident_alignment(r));
	}
	return end;
}

static int is_first_constant(const pctl_resident *r, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (r->spans[k].kind == PCTL_SPAN_CONSTANT &&
		    pctl_cid_compare(r->spans[k].plan->cid, r->spans[i].plan->cid) == 0)
			return 0;
	return 1;
}

/* Of constants, and of what is moved in buffers of its own. */
static uint64_t sum_of(const pctl_resident *r)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->n_spans; i++) {
		const pctl_resident_span *s = &r->spans[i];
		const int counts = s->kind == PCTL_SPAN_CONSTANT ? is_first_constant(r, i)
				   : s->kind == PCTL_SPAN_ASK || s->kind == PCTL_SPAN_ANSWER
					   ? s->n_bytes > PCTL_RESIDENT_SMALL
					   : 0;

		if (counts)
			(void)pctl_num_add(sum, s->n_bytes, &sum);
	}
	return sum;
}

static uint64_t bytes_of(const pctl_resident *r, uint32_t kind)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->n_spans; i++)
		if (r->spans[i].kind == kind)
			(void)pctl_num_add(sum, r->spans[i].n_bytes, &sum);
	return sum;
}

static uint64_t state_bytes(const pctl_resident *r)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->family->n_states; i++)
		for (uint32_t k = 0; k < 2u - r->family->states[i].is_placed; k++)
			(void)pctl_num_add(sum, r->family->states[i].n_bytes, &sum);
	return sum;
}

pctl_status pctl_resident_measure(pctl_resident *r)
{
	const uint64_t most = pool_most(r);
	pctl_status status = place_pools(r);

	if (status != PCTL_OK)
		return status;
	r->n_pools = r->pool_bytes == 0 ? 0
		     : most == 0	? 1
					: (uint32_t)((r->pool_bytes + most - 1) / most);
	r->pools = pctl_arena_array(r->arena, r->n_pools, sizeof(pctl_buffer *));
	r->pool_size = pctl_arena_array(r->arena, r->n_pools, sizeof(uint64_t));
	if (r->pools == NULL || r->pool_size == NULL)
		return pctl_no_memory(r->call, "a resident run");
	size_pools(r);
	r->params_bytes = lay_params(r);
	r->ask_bytes = lay_small(r, PCTL_SPAN_ASK);
	r->answer_bytes = lay_small(r, PCTL_SPAN_ANSWER);
	r->constant_bytes = sum_of(r);
	r->own_bytes = r->number == 0 ? state_bytes(r) : 0;
	r->kept_bytes = bytes_of(r, PCTL_SPAN_KEPT);
	r->once_bytes = bytes_of(r, PCTL_SPAN_ONCE);
	if (!pctl_num_add(r->own_bytes, r->kept_bytes, &r->own_bytes) ||
	    !pctl_num_add(r->own_bytes, r->once_bytes, &r->own_bytes))
		return refuse_large(r, UINT64_MAX);
	if (!pctl_num_add(r->own_bytes, r->constant_bytes, &r->own_bytes) ||
	    !pctl_num_add(r->own_bytes, r->pool_bytes, &r->own_bytes) ||
	    !pctl_num_add(r->own_bytes, r->params_bytes + r->ask_bytes + r->answer_bytes,
			  &r->own_bytes))
		return refuse_large(r, UINT64_MAX);
	return PCTL_OK;
}

/* ---- buffers ------------------------------------------------------------------------------ */

pctl_status pctl_resident_create(const pctl_resident *r, uint64_t n, pctl_buffer **out)
{
	return n == 0 ? PCTL_OK : r->t->buffer_create(r->dev, r->call, n, USAGE, out);
}

struct upload {
	const pctl_resident *r;
	pctl_buffer *to;
};

static pctl_status upload_piece(void *ctx, uint64_t offset, const void *data, uint64_t n)
{
	const struct upload *u = ctx;

	return u->r->t->buffer_write(u->r->dev, u->r->call, u->to, offset, data, n);
}

static uint32_t state_input(const pctl_resident *r, uint32_t k)
{
	uint32_t i = 0;

	while (r->role[i] != PCTL_SPAN_STATE || r->role_number[i] != k)
		i++;
	return i;
}

static pctl_status fill_states(pctl_resident *r)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && r->number == 0 && i < r->family->n_states; i++) {
		pctl_resident_held *s = &r->family->states[i];
		struct upload u = {r, NULL};

		for (uint32_t k = 0; status == PCTL_OK && k < 2u - s->is_placed; k++)
			status = pctl_resident_create(r, s->n_bytes, &s->buffers[k]);
		u.to = s->buffers[0];
		if (status == PCTL_OK)
			status = pctl_value_stream(r->run.inputs[state_input(r, i)], r->call,
						   upload_piece, &u);
	}
	return status;
}

static pctl_status fill_params(pctl_resident *r)
{
	uint8_t *bytes = calloc(1, r->params_bytes + 1);
	pctl_status status = bytes == NULL ? pctl_no_memory(r->call, "a resident run") : PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < r->n_spans; i++)
		if (r->spans[i].kind == PCTL_SPAN_PARAMS && r->spans[i].n_bytes != 0)
			memcpy(bytes + r->spans[i].base, r->spans[i].plan->data,
			       r->spans[i].n_bytes);
	if (status == PCTL_OK && r->params_bytes != 0)
		status = r->t->buffer_write(r->dev, r->call, r->params, 0, bytes, r->params_bytes);
	free(bytes);
	return status;
}

static pctl_status fill_span(pctl_resident *r, pctl_resident_span *s)
{
	const pctl_zones none = {0, 0, 0};
	pctl_zones lie;

	switch (s->kind) {
	case PCTL_SPAN_POOL:
		s->buffer =
			s->life.is_touched && s->number < r->n_pools ? r->pools[s->number] : NULL;
		return PCTL_OK;
	case PCTL_SPAN_PARAMS:
		s->buffer = r->params;
		return PCTL_OK;
	case PCTL_SPAN_INPUT:
		if (s->is_streamed)
			return PCTL_OK;
		return pctl_value_on(r->run.inputs[s->number], r->s, &none, r->call, &s->buffer,
				     &lie);
	case PCTL_SPAN_CONSTANT:
		return pctl_session_constant(r->s, s->plan, r->call, &s->buffer);
	case PCTL_SPAN_KEPT:
	case PCTL_SPAN_ONCE:
		return pctl_resident_create(r, s->n_bytes, &s->buffer);
	case PCTL_SPAN_ASK:
	case PCTL_SPAN_ANSWER:
		if (s->n_bytes > PCTL_RESIDENT_SMALL)
			return pctl_resident_create(r, s->n_bytes, &s->buffer);
		s->buffer = s->kind == PCTL_SPAN_ASK ? r->ask : r->answer;
		return PCTL_OK;
	default:
		return PCTL_OK;
	}
}

pctl_status pctl_resident_fill(pctl_resident *r)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < r->n_pools; i++)
		status = pctl_resident_create(r, r->pool_size[i], &r->pools[i]);
	if (status == PCTL_OK)
		status = pctl_resident_create(r, r->params_bytes, &r->params);
	if (status == PCTL_OK)
		status = pctl_resident_create(r, r->ask_bytes, &r->ask);
	if (status == PCTL_OK)
		status = pctl_resident_create(r, r->answer_bytes, &r->answer);
	if (status == PCTL_OK)
		status = fill_params(r);
	for (uint32_t i = 0; status == PCTL_OK && i < r->n_spans; i++)
		status = fill_span(r, &r->spans[i]);
	if (status == PCTL_OK)
		status = fill_states(r);
	r->ask_data = calloc(1, r->ask_bytes + 1);
	r->answer_data = calloc(1, r->answer_bytes + 1);
	if (status == PCTL_OK && (r->ask_data == NULL || r->answer_data == NULL))
		status = pctl_no_memory(r->call, "a resident run");
	return status;
}

static void destroy(const pctl_resident *r, pctl_buffer **b)
{
	if (*b != NULL)
		r->t->buffer_destroy(r->dev, *b);
	*b = NULL;
}

void pctl_resident_let_go(pctl_resident *r)
{
	for (uint32_t i = 0; i < r->n_spans; i++)
		if (r->spans[i].kind == PCTL_SPAN_ONCE)
			destroy(r, &r->spans[i].buffer);
	r->family->total_bytes -= r->once_bytes;
	r->counted_bytes -= r->once_bytes;
	r->own_bytes -= r->once_bytes;
	r->once_bytes = 0;
}

void pctl_resident_release(pctl_resident *r)
{
	pctl_resident_drop_lists(r);
	for (uint32_t i = 0; i < r->n_spans; i++) {
		pctl_resident_span *s = &r->spans[i];

		if (s->kind == PCTL_SPAN_KEPT || s->kind == PCTL_SPAN_ONCE ||
		    ((s->kind == PCTL_SPAN_ASK || s->kind == PCTL_SPAN_ANSWER) &&
		     s->n_bytes > PCTL_RESIDENT_SMALL))
			destroy(r, &s->buffer);
		s->buffer = NULL;
	}
	for (uint32_t i = 0; r->pools != NULL && i < r->n_pools; i++)
		destroy(r, &r->pools[i]);
	destroy(r, &r->params);
	destroy(r, &r->ask);
	destroy(r, &r->answer);
	free(r->ask_data);
	free(r->answer_data);
	r->ask_data = r->answer_data = NULL;
}
