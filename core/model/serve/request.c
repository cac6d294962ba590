/* Requests from bodies to sequences of tokens. */
#include "model/serve/request.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"

/* What one token of an answer can take in it, without and with logprobs, and each alternative; and what is kept of one whose stream has
 * told it already. */
#define TOKEN_BYTES 64u
#define LOGPROB_BYTES 512u
#define ALTERNATIVE_BYTES 8u

serve_request *serve_request_create(uint32_t call)
{
	serve_request *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->call = call;
	r->refs = 1;
	r->arena = pctl_arena_create();
	if (r->arena == NULL) {
		free(r);
		return NULL;
	}
	return r;
}

void serve_request_destroy(serve_request *r)
{
	if (r == NULL)
		return;
	for (uint32_t i = 0; i < r->n_sequences; i++) {
		serve_sequence *s = &r->sequences[i];

		serve_text_clear(&s->text);
		free(s->tokens);
		free(s->given);
		free(s->tops);
		free(s->embedding);
	}
	free(r->sequences);
	free(r->body);
	pctl_str_drop(&r->out);
	pctl_arena_destroy(r->arena);
	free(r);
}

/* ---- what the engine says of a text ------------------------------------------------------- */

static void keep_first(void *ctx, const pctl_diag *d)
{
	if (d->severity == PCTL_SEVERITY_ERROR)
		(void)serve_refuse(ctx, d->code, NULL, "%s", d->message);
}

/* Tokens of the prompt: copied into the arena. */
static int take_tokens(serve_request *r, serve_prompt *p, uint32_t *tokens, uint32_t n,
		       pctl_status status, serve_refusal *refusal)
{
	if (status == PCTL_OK) {
		p->tokens = pctl_arena_array(r->arena, n, sizeof(*tokens));
		if (p->tokens != NULL && n != 0)
			memcpy(p->tokens, tokens, n * sizeof(*tokens));
		p->n_tokens = n;
	}
	free(tokens);
	if (status != PCTL_OK)
		return serve_refuse(refusal,
				    status == PCTL_E_NOMEM ? PC2_NOMEM : PC6272_SERVE_ENGINE, NULL,
				    "the text could not be made into tokens");
	return p->tokens != NULL || serve_refuse(refusal, PC2_NOMEM, NULL, "no memory for tokens");
}

static int encode(serve_request *r, const pctl_engine *e, serve_refusal *refusal)
{
	const pctl_call call = {.head = PCTL_HEAD(pctl_call), .ctx = refusal, .diag = keep_first};
	serve_params *p = &r->params;
	uint32_t *tokens = NULL, n = 0;
	pctl_status status;

	if (r->call == SERVE_CHAT) {
		p->n_prompts = 1;
		p->prompts = pctl_arena_array(r->arena, 1, sizeof(*p->prompts));
		if (p->prompts == NULL)
			return serve_refuse(refusal, PC2_NOMEM, NULL, "no memory for tokens");
		status = e->chat(e->self, p->messages, p->n_messages, &call, &tokens, &n);
		return take_tokens(r, &p->prompts[0], tokens, n, status, refusal);
	}
	for (uint32_t i = 0; i < p->n_prompts; i++) {
		if (p->prompts[i].text == NULL)
			continue;
		tokens = NULL;
		status = e->encode(e->self, p->prompts[i].text, &call, &tokens, &n);
		if (!take_tokens(r, &p->prompts[i], tokens, n, status, refusal))
			return 0;
	}
	return 1;
}

/* ---- limits ------------------------------------------------------------------------------- */

/* An embedding has no answer in its context; a completion at least one token, unless none is asked for. */
static int check_context(serve_request *r, const pctl_engine *e, const pctl_serve_limits *l,
			 serve_refusal *refusal)
{
	serve_params *p = &r->params;
	const uint32_t to_come = r->call == SERVE_EMBEDDINGS ? 0
				 : p->has_max_tokens	     ? p->max_tokens
							     : 1;

	for (uint32_t i = 0; i < p->n_prompts; i++) {
		const uint32_t n = p->prompts[i].n_tokens;

		if (n == 0)
			return serve_refuse(refusal, PC6264_SERVE_VALUE,
					    r->call == SERVE_EMBEDDINGS ? "input" : "prompt",
					    "number %u has no tokens", i);
		if (n > l->prompt_tokens || n > e->context || to_come > e->context - n)
			return serve_refuse(refusal, PC6266_SERVE_CONTEXT,
					    r->call == SERVE_EMBEDDINGS ? "input"
					    : r->call == SERVE_CHAT	? "messages"
									: "prompt",
					    "%u tokens and %u to come; the context has %u, a "
					    "prompt at most %u",
					    n, to_come, e->context, l->prompt_tokens);
	}
	return 1;
}

/* Each: text, logprobs, the floats of an embedding in decimal; and echoed prompts. */
static int check_answer(serve_request *r, const pctl_engine *e, const pctl_serve_limits *l,
			serve_refusal *refusal)
{
	const serve_params *p = &r->params;
	const uint64_t each = !p->sampling.logprobs ? TOKEN_BYTES
			      : p->stream ? TOKEN_BYTES + ALTERNATIVE_BYTES * p->sampling.n_top
					  : LOGPROB_BYTES * (uint64_t)(1 + p->sampling.n_top);
	uint64_t all = 0, one;

	for (uint32_t i = 0; i < p->n_prompts; i++) {
		const uint64_t left = e->context - p->prompts[i].n_tokens;
		const uint64_t tokens =
			p->has_max_tokens || r->call == SERVE_COMPLETIONS ? p->max_tokens : left;

		one = r->call == SERVE_EMBEDDINGS
			      ? (uint64_t)e->n_embd * 32u
			      : (each * tokens +
				 (p->echo ? TOKEN_BYTES * (uint64_t)p->prompts[i].n_tokens : 0)) *
					p->n;
		if (!pctl_num_add(all, one, &all) || all > l->answer_bytes)
			return serve_refuse(refusal, PC6267_SERVE_ANSWER,
					    r->call == SERVE_EMBEDDINGS ? "input" : "max_tokens",
					    "the answer could have more than %u bytes",
					    l->answer_bytes);
	}
	return 1;
}

/* ---- sequences ---------------------------------------------------------------------------- */

static int make_sequence(serve_request *r, const pctl_engine *e, uint32_t i)
{
	const serve_params *p = &r->params;
	const serve_prompt *prompt = &p->prompts[i / p->n];
	const uint32_t left = e->context - prompt->n_tokens;
	serve_sequence *s = &r->sequences[i];

	*s = (serve_sequence){.request = r,
			      .choice = i,
			      .sampling = p->sampling,
			      .n_prompt = prompt->n_tokens,
			      .n_tokens = prompt->n_tokens,
			      .room = prompt->n_tokens + 16u};
	s->sampling.stream = i % p->n;
	s->max_tokens = p->has_max_tokens || r->call == SERVE_COMPLETIONS ? p->max_tokens : left;
	s->max_tokens = s->max_tokens < left ? s->max_tokens : left;
	s->tokens = malloc(s->room * sizeof(*s->tokens));
	if (s->tokens == NULL)
		return 0;
	memcpy(s->tokens, prompt->tokens, prompt->n_tokens * sizeof(*s->tokens));
	if (r->call == SERVE_EMBEDDINGS) {
		s->embedding = calloc(e->n_embd, sizeof(*s->embedding));
		return s->embedding != NULL;
	}
	return 1;
}

int serve_request_read(serve_request *r, const pctl_engine *engine, const pctl_serve_limits *limits,
		       serve_refusal *refusal)
{
	serve_params *p = &r->params;
	uint64_t n;

	if (!serve_params_read(r->call, r->body, r->n_body, engine, limits, r->arena, p, refusal))
		return 0;
	if ((r->call == SERVE_EMBEDDINGS && engine->n_embd == 0) ||
	    (r->call == SERVE_CHAT && engine->chat == NULL))
		return serve_refuse(refusal, PC6276_SERVE_LACKS, "model", "%s has no %s",
				    engine->model_name,
				    r->call == SERVE_CHAT ? "chat template" : "embeddings");
	if (!encode(r, engine, refusal) || !check_context(r, engine, limits, refusal) ||
	    !check_answer(r, engine, limits, refusal))
		return 0;
	for (uint32_t i = 0; i < p->n_prompts; i++)
		r->prompt_tokens += p->prompts[i].n_tokens;
	n = (uint64_t)p->n_prompts * p->n;
	r->sequences = calloc((size_t)n, sizeof(*r->sequences));
	for (uint32_t i = 0; r->sequences != NULL && i < n; i++) {
		r->n_sequences = i + 1;
		if (!make_sequence(r, engine, i))
			return serve_refuse(refusal, PC2_NOMEM, NULL, "no memory for a sequence");
	}
	if (r->sequences == NULL)
		return serve_refuse(refusal, PC2_NOMEM, NULL, "no memory for sequences");
	r->n_left = r->n_waiting = r->n_sequences;
	return 1;
}
