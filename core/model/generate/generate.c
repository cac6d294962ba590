/* The loop over steps: prompts in chunks, then token by token; see generate.h. */
#include "model/generate/generate.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/clock.h"
#include "foundation/diag/diag.h"

/* tokens: the prompt and what was made. done: how many the slot holds. */
typedef struct sequence {
	uint32_t *tokens;
	uint32_t n, done, ended;
	pctl_engine_sampling sampling;
} sequence;

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
}

/* One step of all that go on. *made: tokens. */
static pctl_status step(const pctl_engine *e, const pctl_generate_options *o, sequence *all,
			pctl_engine_row *rows, const pctl_call *call, pctl_generated *out,
			uint32_t *made)
{
	uint32_t n = 0;
	pctl_status status;

	*made = 0;
	for (uint32_t i = 0; i < o->sequences; i++) {
		sequence *s = &all[i];
		const uint32_t left = s->n - s->done;

		if (s->ended)
			continue;
		rows[n++] = (pctl_engine_row){.slot = i,
					      .start = s->done,
					      .count = left < e->max_chunk ? left : e->max_chunk,
					      .want = left <= e->max_chunk ? PCTL_ENGINE_TOKEN
									   : PCTL_ENGINE_NOTHING,
					      .tokens = s->tokens,
					      .n_tokens = s->n,
					      .n_prompt = o->n_prompt,
					      .sampling = &s->sampling};
	}
	status = e->step(e->self, rows, n, call);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		sequence *s = &all[rows[i].slot];

		if (rows[i].status == PCTL_E_LIMIT)
			status = pctl_refuse(
				call, PC6290_MODEL_PLAN,
				"there are too few pages for %u sequences of this length",
				o->sequences);
		else
			status = rows[i].status;
		s->done += rows[i].count;
		if (status != PCTL_OK || rows[i].want != PCTL_ENGINE_TOKEN)
			continue;
		take(e, o, s, rows[i].slot, rows[i].token, &out->sequences[rows[i].slot]);
		++*made;
	}
	return status;
}

static pctl_status run(const pctl_engine *e, const pctl_generate_options *o, sequence *all,
		       pctl_engine_row *rows, const pctl_call *call, pctl_generated *out)
{
	const uint64_t began = pctl_clock_ns();
	uint32_t going = o->sequences, made;
	pctl_status status = PCTL_OK;

	while (status == PCTL_OK && going != 0 && o->n_tokens != 0) {
		if (pctl_is_cancelled(call))
			return pctl_refuse(call, PC4_CANCELLED, "generation was cancelled");
		status = step(e, o, all, rows, call, out, &made);
		if (made != 0 && out->first_ns == 0)
			out->first_ns = pctl_clock_ns() - began;
		else
			out->n_later += made;
		going = 0;
		for (uint32_t i = 0; i < o->sequences; i++)
			going += !all[i].ended;
	}
	out->later_ns = pctl_clock_ns() - began - out->first_ns;
	return status;
}

pctl_status pctl_generate(const pctl_engine *e, const pctl_generate_options *o,
			  const pctl_call *call, pctl_generated *out)
{
	sequence *all;
	pctl_engine_row *rows;
	pctl_status status;
	int failed = 0;

	memset(out, 0, sizeof(*out));
	status = check(e, o, call);
	if (status != PCTL_OK)
		return status;
	all = calloc(o->sequences, sizeof(*all));
	rows = calloc(o->sequences, sizeof(*rows));
	out->sequences = calloc(o->sequences, sizeof(*out->sequences));
	failed = all == NULL || rows == NULL || out->sequences == NULL;
	out->n_sequences = out->sequences == NULL ? 0 : o->sequences;
	for (uint32_t i = 0; !failed && i < o->sequences; i++) {
		all[i] = (sequence){.tokens = calloc(e->context + 1ull, 4),
				    .n = o->n_prompt,
				    .sampling = o->sampling};
		all[i].sampling.stream = i;
		out->sequences[i].tokens = calloc(e->context + 1ull, 4);
		failed = all[i].tokens == NULL || out->sequences[i].tokens == NULL;
		if (!failed)
			memcpy(all[i].tokens, o->prompt, 4ull * o->n_prompt);
	}
	status = failed ? pctl_no_memory(call, "sequences") : run(e, o, all, rows, call, out);
	for (uint32_t i = 0; all != NULL && i < o->sequences; i++) {
		e->release(e->self, i);
		free(all[i].tokens);
	}
	free(all);
	free(rows);
	return status;
}

void pctl_generated_clear(pctl_generated *g)
{
	for (uint32_t i = 0; i < g->n_sequences; i++)
		free(g->sequences[i].tokens);
	free(g->sequences);
	memset(g, 0, sizeof(*g));
}
