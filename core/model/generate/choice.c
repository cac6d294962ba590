/* What a token is chosen by, as inputs of a pipeline: a row's sampling in words. */
#include <string.h>

#include "model/generate/private.h"

uint32_t engine_choice_gives(const pctl_engine_sampling *s)
{
	uint32_t gives = PCTL_MODEL_GIVES_TOKEN;

	if (s->repetition_penalty != 1 || s->presence_penalty != 0 || s->frequency_penalty != 0)
		gives |= PCTL_MODEL_GIVES_PENALTIES;
	if (s->logprobs)
		gives |= PCTL_MODEL_GIVES_LOGPROBS;
	return gives;
}

void engine_put(void *const *in, uint32_t input, uint32_t at, uint32_t word)
{
	if (in[input] != NULL)
		memcpy((uint8_t *)in[input] + 4ull * at, &word, 4);
}

void engine_put_f32(void *const *in, uint32_t input, uint32_t at, float x)
{
	if (in[input] != NULL)
		memcpy((uint8_t *)in[input] + 4ull * at, &x, 4);
}

void engine_put_choice(void *const *in, uint32_t i, uint64_t history, const pctl_engine_row *r)
{
	static const pctl_engine_sampling plain = {.top_p = 1, .repetition_penalty = 1};
	const pctl_engine_sampling *s = r->sampling == NULL ? &plain : r->sampling;

	engine_put_f32(in, IN_TEMPERATURE, i, s->temperature);
	engine_put(in, IN_TOP_K, i, s->top_k);
	engine_put_f32(in, IN_TOP_P, i, s->top_p);
	engine_put_f32(in, IN_MIN_P, i, s->min_p);
	/* The draw is a function of seed, stream and position: streams are keys of their own. */
	engine_put(in, IN_KEY, 2 * i, (uint32_t)s->seed);
	engine_put(in, IN_KEY, 2 * i + 1, (uint32_t)(s->seed >> 32) ^ s->stream);
	engine_put(in, IN_POSITION, i, r->start + r->count);
	engine_put(in, IN_SEEN, i, r->n_tokens);
	engine_put_f32(in, IN_REPETITION, i, s->repetition_penalty);
	engine_put_f32(in, IN_PRESENCE, i, s->presence_penalty);
	engine_put_f32(in, IN_FREQUENCY, i, s->frequency_penalty);
	if (in[IN_HISTORY] != NULL)
		memcpy((uint32_t *)in[IN_HISTORY] + i * history, r->tokens, 4ull * r->n_tokens);
}
