/* The loop over steps: prompts in chunks, then token by token; see generate.h. */
#include "model/generate/generate.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/clock.h"
#include "foundation/diag/diag.h"

/* tokens: the prompt and what was made. done: how many the slot holds; released: it is another's by now. */
typedef struct sequence {
	uint32_t *tokens;
	uint32_t n, done, ended, slot, released;
	pctl_engine_sampling sampling;
} sequence;

/* o: without the prompt, which the sequences hold. which: the sequence of a row. */
struct pctl_generation {
	const pctl_engine *engine;
	pctl_generate_options o;
	sequence *all;
	pctl_engine_row *rows;
	uint32_t *which;
	pctl_generated made;
	uint64_t began;
};

const char *pctl_generated_why(uint32_t why)
{
	static const char *const words[] = {[PCTL_GENERATED_LENGTH] = "length",
					    [PCTL_GENERATED_END] = "end",
					    [PCTL_GENERATED_STOPPED] = "stopped",
					    [PCTL_GENERATED_CONTEXT] = "context"};

	return words[why];
}

static pctl_status check(const pctl_engine *e, const pctl_generate_options *o,
			 const pctl_call *call)
{
	if (o->sequences == 0 || o->sequences > e->n_slots)
		return pctl_refuse(call, PC6290_MODEL_PLAN, "%u sequences is none of 1 to %u",
				   o->sequences, e->n_slots);
	if (o->n_prompt == 0)
		return pctl_refuse(call, PC6290_MODEL_PLAN,
				   "the prompt has no token, and this model puts none in front");
	if (o->n_prompt >= e->context)
		return pctl_refuse(
			call, PC6290_MODEL_PLAN,
			"the prompt has %u tokens, and a context of %u has no room behind it",
			o->n_prompt, e->context);
	for (uint32_t i = 0; i < o->n_prompt; i++)
		if (o->prompt[i] >= e->n_vocab)
			return pctl_refuse(call, PC6290_MODEL_PLAN,
					   "token %u of the prompt is %u, of %u", i, o->prompt[i],
					   e->n_vocab);
	return PCTL_OK;
}

static void take(const pctl_engine *e, const pctl_generate_options *o, sequence *s, uint32_t i,
		 uint32_t token, pctl_generated_sequence *out)
{
	s->tokens[s->n++] = token;
	out->tokens[out->n++] = token;
	s->ended = 1;
	if (o->token != NULL && !o->token(o->ctx, i, token))
		out->why = PCTL_GENERATED_STOPPED;
	else if (!o->goes_on && e->is_end(e->self, token))
		out->why = PCTL_GENERATED_END;
	else if (out->n == o->n_tokens)
		out->why = PCTL_GENERATED_LENGTH;
	else if (s->n >= e->context)
		out->why = PCTL_GENERATED_CONTEXT;
	else
		s->ended = 0;
	out->ended = s->ended;
}

/* One step of all that go on. *made: tokens. */
static pctl_status step(pctl_generation *g, const pctl_call *call, uint32_t *made)
{
	const pctl_engine *e = g->engine;
	uint32_t n = 0;
	pctl_status status;

	*made = 0;
	for (uint32_t i = 0; i < g->o.sequences; i++) {
		sequence *s = &g->all[i];
		const uint32_t left = s->n - s->done;

		if (s->ended)
			continue;
		g->which[n] = i;
		g->rows[n++] = (pctl_engine_row){.slot = s->slot,
						 .start = s->done,
						 .count = left < e->max_chunk ? left : e->max_chunk,
						 .want = left <= e->max_chunk ? PCTL_ENGINE_TOKEN
									      : PCTL_ENGINE_NOTHING,
						 .tokens = s->tokens,
						 .n_tokens = s->n,
						 .n_prompt = g->o.n_prompt,
						 .adapter = g->o.adapter,
						 .sampling = &s->sampling};
	}
	status = e->step(e->self, g->rows, n, call);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		const pctl_engine_row *r = &g->rows[i];
		const uint32_t which = g->which[i];

		if (r->status == PCTL_E_LIMIT)
			status = pctl_refuse(
				call, PC6290_MODEL_PLAN,
				"there are too few pages for %u sequences of this length",
				g->o.sequences);
		else
			status = r->status;
		g->all[which].done += r->count;
		if (status != PCTL_OK || r->want != PCTL_ENGINE_TOKEN)
			continue;
		take(e, &g->o, &g->all[which], which, r->token, &g->made.sequences[which]);
		++*made;
	}
	return status;
}

static void release(const pctl_engine *e, sequence *s)
{
	if (!s->released)
		e->release(e->self, s->slot);
	s->released = 1;
}

static pctl_status make_room(pctl_generation *g, const pctl_generate_options *o)
{
	const uint64_t most = g->engine->context + 1ull;

	g->all = calloc(o->sequences, sizeof(*g->all));
	g->rows = calloc(o->sequences, sizeof(*g->rows));
	g->which = calloc(o->sequences, sizeof(*g->which));
	g->made.sequences = calloc(o->sequences, sizeof(*g->made.sequences));
	if (g->all == NULL || g->rows == NULL || g->which == NULL || g->made.sequences == NULL)
		return PCTL_E_NOMEM;
	g->made.n_sequences = o->sequences;
	for (uint32_t i = 0; i < o->sequences; i++) {
		sequence *s = &g->all[i];

		s->tokens = calloc(most, 4);
		s->n = o->n_prompt;
		s->slot = o->slots == NULL ? i : o->slots[i];
		s->ended = o->n_tokens == 0;
		s->sampling = o->sampling;
		s->sampling.stream = i;
		g->made.sequences[i].tokens = calloc(most, 4);
		if (s->tokens == NULL || g->made.sequences[i].tokens == NULL)
			return PCTL_E_NOMEM;
		memcpy(s->tokens, o->prompt, 4ull * o->n_prompt);
	}
	return PCTL_OK;
}

pctl_status pctl_generation_begin(const pctl_engine *e, const pctl_generate_options *o,
				  const pctl_call *call, pctl_generation **out)
{
	pctl_generation *g = NULL;
	pctl_status status = check(e, o, call);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	g = calloc(1, sizeof(*g));
	if (g == NULL)
		return pctl_no_memory(call, "sequences");
	g->engine = e;
	g->o = *o;
	if (make_room(g, o) != PCTL_OK) {
		pctl_generation_end(g);
		return pctl_no_memory(call, "sequences");
	}
	g->o.prompt = NULL;
	g->o.slots = NULL;
	g->began = pctl_clock_ns();
	*out = g;
	return PCTL_OK;
}

pctl_status pctl_generation_step(pctl_generation *g, const pctl_call *call, uint32_t *going)
{
	pctl_status status = PCTL_OK;
	uint32_t made = 0, n = 0;

	*going = 0;
	for (uint32_t i = 0; i < g->o.sequences; i++)
		n += !g->all[i].ended;
	if (n == 0)
		return PCTL_OK;
	if (pctl_is_cancelled(call))
		return pctl_refuse(call, PC4_CANCELLED, "generation was cancelled");
	status = step(g, call, &made);
	if (made != 0 && g->made.first_ns == 0)
		g->made.first_ns = pctl_clock_ns() - g->began;
	else
		g->made.n_later += made;
	g->made.later_ns =
		g->made.first_ns == 0 ? 0 : pctl_clock_ns() - g->began - g->made.first_ns;
	for (uint32_t i = 0; status == PCTL_OK && i < g->o.sequences; i++) {
		*going += !g->all[i].ended;
		if (g->all[i].ended)
			release(g->engine, &g->all[i]);
	}
	return status;
}

const pctl_generated *pctl_generation_made(const pctl_generation *g)
{
	return &g->made;
}

void pctl_generation_end(pctl_generation *g)
{
	if (g == NULL)
		return;
	for (uint32_t i = 0; g->all != NULL && i < g->o.sequences; i++) {
		/* Where there was no memory for all, none has run. */
		if (g->all[i].tokens != NULL)
			release(g->engine, &g->all[i]);
		free(g->all[i].tokens);
	}
	free(g->all);
	free(g->rows);
	free(g->which);
	pctl_generated_clear(&g->made);
	free(g);
}

pctl_status pctl_generate(const pctl_engine *e, const pctl_generate_options *o,
			  const pctl_call *call, pctl_generated *out)
{
	pctl_generation *g = NULL;
	uint32_t going = 1;
	pctl_status status;

	memset(out, 0, sizeof(*out));
	status = pctl_generation_begin(e, o, call, &g);
	while (status == PCTL_OK && going != 0)
		status = pctl_generation_step(g, call, &going);
	if (g != NULL) {
		*out = g->made;
		memset(&g->made, 0, sizeof(g->made));
	}
	pctl_generation_end(g);
	return status;
}

void pctl_generated_clear(pctl_generated *g)
{
	for (uint32_t i = 0; i < g->n_sequences; i++)
		free(g->sequences[i].tokens);
	free(g->sequences);
	memset(g, 0, sizeof(*g));
}
