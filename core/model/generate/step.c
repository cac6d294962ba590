/* A step of sequences: rows of one token together, rows of a chunk each for itself. What a row gives does not depend on which of these it
 * went with, nor on the others (SEMANTICS.md 18). */
#include <math.h>
#include <string.h>

#include "foundation/base/clock.h"
#include "model/generate/private.h"

static uint32_t gives_of(const pctl_model_engine *e, const pctl_engine_row *r)
{
	uint32_t gives = 0;

	/* Where nothing is asked for the least that a pipeline can give. */
	if (r->want != PCTL_ENGINE_TOKEN)
		return PCTL_MODEL_GIVES_EMBEDDING;
	gives = engine_choice_gives(r->sampling);
	if (e->sink != NULL)
		gives |= PCTL_MODEL_GIVES_LOGITS;
	return gives;
}

/* Whose token is the greatest logit's (SEMANTICS.md 18.17). */
static int is_greedy(const pctl_engine_row *r)
{
	return r->want == PCTL_ENGINE_TOKEN &&
	       !(r->sampling->temperature > 0 && isfinite(r->sampling->temperature));
}

/* The same tokens, without a draw's kernels; but what can draw is taken where it is there, so that nothing is built twice. */
static uint32_t cheapest(const pctl_model_engine *e, uint32_t batch, uint32_t chunk, uint32_t gives,
			 uint32_t adapter, int greedy)
{
	return greedy && !engine_has_size(e, batch, chunk, gives, adapter)
		       ? gives | PCTL_MODEL_GIVES_GREEDY
		       : gives;
}

/* A row that rests: it writes nothing and reads nothing. Its parameters draw something. */
static void rest(pctl_model_engine *e, engine_size *z, uint32_t i)
{
	(void)e;
	engine_put(z->in, IN_START, i, 0);
	engine_put(z->in, IN_COUNT, i, 0);
	engine_put_f32(z->in, IN_TEMPERATURE, i, 0);
	engine_put(z->in, IN_SEEN, i, 0);
}

static void fill(pctl_model_engine *e, engine_size *z, uint32_t i, const pctl_engine_row *r)
{
	const engine_slot *slot = &e->slots[r->slot];

	for (uint32_t k = 0; k < z->chunk; k++)
		engine_put(z->in, IN_TOKENS, i * z->chunk + k,
			   k < r->count ? r->tokens[r->start + k] : 0);
	engine_put(z->in, IN_START, i, r->start);
	engine_put(z->in, IN_COUNT, i, r->count);
	for (uint32_t k = 0; k < e->slot_pages; k++)
		engine_put(z->in, IN_PAGES, i * e->slot_pages + k,
			   k < slot->n_pages ? slot->pages[k] : 0);
	engine_put_choice(z->in, i, (uint64_t)e->slot_pages * PCTL_ENGINE_PAGE, r);
}

static uint32_t word(const engine_size *z, uint32_t output, uint32_t at)
{
	uint32_t w;

	memcpy(&w, (const uint8_t *)z->out[output] + 4ull * at, 4);
	return w;
}

static float number(const engine_size *z, uint32_t output, uint32_t at)
{
	float x;

	memcpy(&x, (const uint8_t *)z->out[output] + 4ull * at, 4);
	return x;
}

static void take(pctl_model_engine *e, const engine_size *z, uint32_t i, pctl_engine_row *r)
{
	const uint32_t n_embd = e->engine.n_embd, n_vocab = e->engine.n_vocab;

	e->slots[r->slot].n_held = r->start + r->count;
	r->status = PCTL_OK;
	if (r->want == PCTL_ENGINE_EMBEDDING)
		memcpy(r->embedding, (const float *)z->out[OUT_EMBEDDING] + (uint64_t)i * n_embd,
		       4ull * n_embd);
	if (r->want != PCTL_ENGINE_TOKEN)
		return;
	r->token = word(z, OUT_TOKEN, i);
	if (e->sink != NULL)
		e->sink(e->sink_ctx, r->slot,
			(const float *)z->out[OUT_LOGITS] + (uint64_t)i * n_vocab);
	if (!r->sampling->logprobs)
		return;
	r->logprob = number(z, OUT_LOGPROB, i);
	r->n_top = r->sampling->n_top < n_vocab ? r->sampling->n_top : n_vocab;
	for (uint32_t k = 0; k < r->n_top; k++) {
		const uint32_t row = n_vocab < PCTL_MODEL_TOP ? n_vocab : PCTL_MODEL_TOP;

		r->top[k].token = word(z, OUT_TOP, i * row + k);
		r->top[k].logprob = number(z, OUT_TOP_LOGPROB, i * row + k);
	}
}

/* Submit what was filled in, of so many tokens. */
static pctl_status run(pctl_model_engine *e, engine_size *z, pctl_model_work *work,
		       uint32_t n_tokens, const pctl_call *call)
{
	const uint64_t began = pctl_clock_ns();
	pctl_resident_input in[ENGINE_INPUTS];
	pctl_resident_output out[ENGINE_OUTPUTS];
	pctl_resident_stats stats = {0};
	pctl_resident_facts facts;
	uint32_t n_in = 0, n_out = 0;
	pctl_status status;

	for (uint32_t i = 0; i < ENGINE_INPUTS; i++)
		if (z->in[i] != NULL)
			in[n_in++] = (pctl_resident_input){z->in[i], z->in_bytes[i]};
	for (uint32_t i = 0; i < ENGINE_OUTPUTS; i++)
		if (z->out[i] != NULL)
			out[n_out++] = (pctl_resident_output){z->out[i], z->out_bytes[i]};
	status = pctl_resident_step(z->resident, in, out, call, &stats, NULL);
	pctl_resident_facts_of(z->resident, &facts);
	e->facts.submits += stats.submits;
	work->tokens += n_tokens;
	work->host_ns += pctl_clock_ns() - began;
	work->device_ns += stats.device_ns;
	e->facts.uploaded_bytes += stats.streamed_bytes;
	if (z->chunk == 1) {
		e->facts.dispatches = facts.dispatches;
		e->facts.token_submits = stats.submits;
		e->facts.token_uploaded_bytes = stats.streamed_bytes;
	}
	e->facts.total_bytes = facts.total_bytes;
	if (facts.total_bytes > e->facts.peak_bytes)
		e->facts.peak_bytes = facts.total_bytes;
	e->facts.weight_bytes = facts.weight_bytes;
	e->facts.cache_bytes = facts.state_bytes;
	e->facts.device = facts.device;
	e->facts.device_name = facts.device_name;
	e->facts.evidence = facts.evidence;
	return status;
}

static int is_of(const pctl_model_engine *e, const pctl_engine_row *r, uint32_t gives,
		 uint32_t adapter)
{
	return r->status == PCTL_OK && r->count == 1 && r->adapter == adapter &&
	       gives_of(e, r) == gives;
}

/* Rows of one token that give the same, by the same adapter, in one submission. */
static pctl_status step_together(pctl_model_engine *e, pctl_engine_row *rows, uint32_t n_rows,
				 uint32_t gives, uint32_t adapter, const pctl_call *call)
{
	uint32_t n = 0, n_filled, batch;
	int greedy = 1;
	engine_size *z;
	pctl_status status;

	for (uint32_t i = 0; i < n_rows; i++) {
		if (!is_of(e, &rows[i], gives, adapter))
			continue;
		greedy = greedy && is_greedy(&rows[i]);
		n++;
	}
	batch = n == 1 ? 1 : e->engine.n_slots;
	if (n == 0)
		return PCTL_OK;
	status = engine_size_of(e, batch, 1, cheapest(e, batch, 1, gives, adapter, greedy), adapter,
				call, &z);
	if (status != PCTL_OK)
		return status;
	n = 0;
	for (uint32_t i = 0; i < n_rows; i++)
		if (is_of(e, &rows[i], gives, adapter))
			fill(e, z, n++, &rows[i]);
	n_filled = n;
	for (; n < batch; n++)
		rest(e, z, n);
	status = run(e, z, &e->facts.decode, n_filled, call);
	n = 0;
	for (uint32_t i = 0; status == PCTL_OK && i < n_rows; i++)
		if (is_of(e, &rows[i], gives, adapter))
			take(e, z, n++, &rows[i]);
	return status;
}

/* Rows of one token with an adapter: those that give the same together. */
static pctl_status step_tokens(pctl_model_engine *e, pctl_engine_row *rows, uint32_t n_rows,
			       uint32_t adapter, const pctl_call *call)
{
	uint32_t all = 0;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < n_rows; i++)
		if (rows[i].status == PCTL_OK && rows[i].count == 1 && rows[i].adapter == adapter)
			all |= 1u << gives_of(e, &rows[i]);
	for (uint32_t gives = 0; status == PCTL_OK && gives < 32; gives++)
		if (all >> gives & 1u)
			status = step_together(e, rows, n_rows, gives, adapter, call);
	return status;
}

/* What a chunk of one row gives is what its tokens give one by one, of which the last counts. */
static pctl_status step_singly(pctl_model_engine *e, pctl_engine_row *r, const pctl_call *call)
{
	const uint32_t end = r->start + r->count;
	pctl_engine_row one = *r;
	engine_size *z;
	pctl_status status =
		engine_size_of(e, 1, 1, cheapest(e, 1, 1, gives_of(e, r), r->adapter, is_greedy(r)),
			       r->adapter, call, &z);

	one.count = 1;
	for (; status == PCTL_OK && one.start < end; one.start++) {
		fill(e, z, 0, &one);
		status = run(e, z, &e->facts.prefill, 1, call);
	}
	if (status == PCTL_OK)
		take(e, z, 0, r);
	e->singles -= r->count;
	return status;
}

static pctl_status step_alone(pctl_model_engine *e, pctl_engine_row *r, const pctl_call *call)
{
	const uint32_t chunk = e->engine.max_chunk;
	const uint32_t gives = cheapest(e, 1, chunk, gives_of(e, r), r->adapter, is_greedy(r));
	engine_size *z;
	pctl_status status;

	if (r->count <= e->singles && !engine_has_size(e, 1, chunk, gives, r->adapter))
		return step_singly(e, r, call);
	status = engine_size_of(e, 1, chunk, gives, r->adapter, call, &z);
	if (status != PCTL_OK)
		return status;
	fill(e, z, 0, r);
	status = run(e, z, &e->facts.prefill, r->count, call);
	if (status == PCTL_OK)
		take(e, z, 0, r);
	return status;
}

/* Where nobody knows what caches are any more all of it goes away, and is built anew by the next step; what slots held is lost, the engine is
 * not. */
static void recover(pctl_model_engine *e)
{
	if (e->n_sizes == 0 || !pctl_resident_is_lost(e->sizes[0].resident))
		return;
	engine_close_sizes(e);
	for (uint32_t i = 0; i < e->engine.n_slots; i++)
		e->slots[i].lost = e->slots[i].n_pages != 0;
	e->facts.device = e->facts.device_name = NULL;
	e->facts.total_bytes = e->facts.weight_bytes = e->facts.cache_bytes = 0;
}

pctl_status engine_step(void *self, pctl_engine_row *rows, uint32_t n_rows, const pctl_call *call)
{
	pctl_model_engine *e = self;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < n_rows; i++) {
		const pctl_engine_row *r = &rows[i];

		if (r->adapter > e->engine.n_adapters || r->slot >= e->engine.n_slots ||
		    r->count == 0 || r->count > e->engine.max_chunk ||
		    r->start != e->slots[r->slot].n_held)
			return pctl_refuse(
				call, PC1_INTERNAL,
				"a step of a row that does not go on where its slot stands");
		rows[i].status =
			e->slots[r->slot].lost
				? pctl_refuse(
					  call, PC5251_RESIDENT_LOST,
					  "what a sequence had on the device is gone: an "
					  "earlier step ended so that nobody knows what is there")
				: engine_take_pages(e, r->slot, r->start + r->count);
	}
	for (uint32_t i = 0; status == PCTL_OK && i <= e->engine.n_adapters; i++)
		status = step_tokens(e, rows, n_rows, i, call);
	for (uint32_t i = 0; status == PCTL_OK && i < n_rows; i++)
		if (rows[i].status == PCTL_OK && rows[i].count > 1)
			status = step_alone(e, &rows[i], call);
	if (status != PCTL_OK)
		recover(e);
	e->facts.steps++;
	return status;
}

void engine_release(void *self, uint32_t slot)
{
	pctl_model_engine *e = self;

	if (slot < e->engine.n_slots)
		engine_give_pages(e, slot);
}
