/* A step of sequences: rows of one token together, rows of a chunk each for itself. What a row gives does not depend on which of these it
 * went with, nor on the others (SEMANTICS.md 18). */
#include <string.h>

#include "model/generate/private.h"

static int has_penalty(const pctl_engine_sampling *s)
{
	return s->repetition_penalty != 1 || s->presence_penalty != 0 || s->frequency_penalty != 0;
}

static uint32_t gives_of(const pctl_model_engine *e, const pctl_engine_row *r)
{
	uint32_t gives = 0;

	/* Where nothing is asked for the least that a pipeline can give. */
	if (r->want != PCTL_ENGINE_TOKEN)
		return PCTL_MODEL_GIVES_EMBEDDING;
	gives = PCTL_MODEL_GIVES_TOKEN;
	if (has_penalty(r->sampling))
		gives |= PCTL_MODEL_GIVES_PENALTIES;
	if (r->sampling->logprobs)
		gives |= PCTL_MODEL_GIVES_LOGPROBS;
	if (e->sink != NULL)
		gives |= PCTL_MODEL_GIVES_LOGITS;
	return gives;
}

static void put(engine_size *z, uint32_t input, uint32_t at, uint32_t word)
{
	if (z->in[input] != NULL)
		memcpy((uint8_t *)z->in[input] + 4ull * at, &word, 4);
}

static void put_f32(engine_size *z, uint32_t input, uint32_t at, float x)
{
	if (z->in[input] != NULL)
		memcpy((uint8_t *)z->in[input] + 4ull * at, &x, 4);
}

/* A row that rests: it writes nothing and reads nothing. Its parameters draw something. */
static void rest(pctl_model_engine *e, engine_size *z, uint32_t i)
{
	(void)e;
	put(z, IN_START, i, 0);
	put(z, IN_COUNT, i, 0);
	put_f32(z, IN_TEMPERATURE, i, 0);
	put(z, IN_SEEN, i, 0);
}

static void fill(pctl_model_engine *e, engine_size *z, uint32_t i, const pctl_engine_row *r)
{
	static const pctl_engine_sampling plain = {.top_p = 1, .repetition_penalty = 1};
	const pctl_engine_sampling *s = r->sampling == NULL ? &plain : r->sampling;
	const engine_slot *slot = &e->slots[r->slot];

	for (uint32_t k = 0; k < z->chunk; k++)
		put(z, IN_TOKENS, i * z->chunk + k, k < r->count ? r->tokens[r->start + k] : 0);
	put(z, IN_START, i, r->start);
	put(z, IN_COUNT, i, r->count);
	for (uint32_t k = 0; k < e->slot_pages; k++)
		put(z, IN_PAGES, i * e->slot_pages + k, k < slot->n_pages ? slot->pages[k] : 0);
	put_f32(z, IN_TEMPERATURE, i, s->temperature);
	put(z, IN_TOP_K, i, s->top_k);
	put_f32(z, IN_TOP_P, i, s->top_p);
	put_f32(z, IN_MIN_P, i, s->min_p);
	/* The draw is a function of seed, stream and position: streams are keys of their own. */
	put(z, IN_KEY, 2 * i, (uint32_t)s->seed);
	put(z, IN_KEY, 2 * i + 1, (uint32_t)(s->seed >> 32) ^ s->stream);
	put(z, IN_POSITION, i, r->start + r->count);
	put(z, IN_SEEN, i, r->n_tokens);
	put_f32(z, IN_REPETITION, i, s->repetition_penalty);
	put_f32(z, IN_PRESENCE, i, s->presence_penalty);
	put_f32(z, IN_FREQUENCY, i, s->frequency_penalty);
	if (z->in[IN_HISTORY] != NULL)
		memcpy((uint32_t *)z->in[IN_HISTORY] +
			       (uint64_t)i * e->slot_pages * PCTL_ENGINE_PAGE,
		       r->tokens, 4ull * r->n_tokens);
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

/* Submit what was filled in. */
static pctl_status run(pctl_model_engine *e, engine_size *z, const pctl_call *call)
{
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
	e->facts.host_ns += stats.host_ns;
	e->facts.device_ns += stats.device_ns;
	e->facts.uploaded_bytes += stats.streamed_bytes;
	if (z->chunk == 1) {
		e->facts.dispatches = facts.dispatches;
		e->facts.token_submits = stats.submits;
		e->facts.token_uploaded_bytes = stats.streamed_bytes;
	}
	e->facts.total_bytes = facts.total_bytes;
	e->facts.weight_bytes = facts.weight_bytes;
	e->facts.cache_bytes = facts.state_bytes;
	e->facts.device = facts.device;
	e->facts.device_name = facts.device_name;
	e->facts.evidence = facts.evidence;
	return status;
}

/* Rows of one token that give the same, in one submission. */
static pctl_status step_together(pctl_model_engine *e, pctl_engine_row *rows, uint32_t n_rows,
				 uint32_t gives, const pctl_call *call)
{
	uint32_t n = 0, batch;
	engine_size *z;
	pctl_status status;

	for (uint32_t i = 0; i < n_rows; i++)
		n += rows[i].status == PCTL_OK && rows[i].count == 1 &&
		     gives_of(e, &rows[i]) == gives;
	batch = n == 1 ? 1 : e->engine.n_slots;
	if (n == 0)
		return PCTL_OK;
	status = engine_size_of(e, batch, 1, gives, call, &z);
	if (status != PCTL_OK)
		return status;
	n = 0;
	for (uint32_t i = 0; i < n_rows; i++)
		if (rows[i].status == PCTL_OK && rows[i].count == 1 &&
		    gives_of(e, &rows[i]) == gives)
			fill(e, z, n++, &rows[i]);
	for (; n < batch; n++)
		rest(e, z, n);
	status = run(e, z, call);
	n = 0;
	for (uint32_t i = 0; status == PCTL_OK && i < n_rows; i++)
		if (rows[i].status == PCTL_OK && rows[i].count == 1 &&
		    gives_of(e, &rows[i]) == gives)
			take(e, z, n++, &rows[i]);
	return status;
}

static pctl_status step_alone(pctl_model_engine *e, pctl_engine_row *r, const pctl_call *call)
{
	engine_size *z;
	pctl_status status = engine_size_of(e, 1, e->engine.max_chunk, gives_of(e, r), call, &z);

	if (status != PCTL_OK)
		return status;
	fill(e, z, 0, r);
	status = run(e, z, call);
	if (status == PCTL_OK)
		take(e, z, 0, r);
	return status;
}

pctl_status engine_step(void *self, pctl_engine_row *rows, uint32_t n_rows, const pctl_call *call)
{
	pctl_model_engine *e = self;
	uint32_t all = 0;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < n_rows; i++) {
		const pctl_engine_row *r = &rows[i];

		if (r->slot >= e->engine.n_slots || r->count == 0 ||
		    r->count > e->engine.max_chunk || r->start != e->slots[r->slot].n_held)
			return pctl_refuse(
				call, PC1_INTERNAL,
				"a step of a row that does not go on where its slot stands");
		rows[i].status = engine_take_pages(e, r->slot, r->start + r->count);
		if (rows[i].status == PCTL_OK && r->count == 1)
			all |= 1u << gives_of(e, r);
	}
	for (uint32_t gives = 0; status == PCTL_OK && gives < 32; gives++)
		if (all >> gives & 1u)
			status = step_together(e, rows, n_rows, gives, call);
	for (uint32_t i = 0; status == PCTL_OK && i < n_rows; i++)
		if (rows[i].status == PCTL_OK && rows[i].count > 1)
			status = step_alone(e, &rows[i], call);
	e->facts.steps++;
	return status;
}

void engine_release(void *self, uint32_t slot)
{
	pctl_model_engine *e = self;

	if (slot < e->engine.n_slots)
		engine_give_pages(e, slot);
}
