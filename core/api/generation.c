/* Tokens behind a prompt, step by step, and their statements; see model.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/model_private.h"
#include "model/generate/generate.h"
#include "model/generate/statement.h"
#include "model/generate/hashes.h"

/* stream, text: pieces, as they come; logits: of the token that comes next, n_vocab floats, or NULL. */
typedef struct making {
	pctl_token_stream stream;
	pctl_str_buf text;
	float *logits;
	int ended;
} making;

/*
 * o       what was asked, whose prompt lies in the arena
 * slots   of each sequence
 * wants   PIPECTL_GENERATE_LOGITS, _RECEIPT
 */
struct pipectl_generation {
	pipectl_engine *engine;
	pctl_arena *arena;
	pctl_generate_options o;
	pctl_generation *generation;
	pctl_logit_hashes *hashes;
	const pctl_cid *cids;
	pctl_str_buf receipt;
	making *all;
	uint32_t *slots;
	uint32_t n_slots, wants, going, unheard;
	void *ctx;
	uint32_t (*token)(void *ctx, const pipectl_generated_token *t);
};

void pipectl_generation_release(pipectl_generation *g)
{
	if (g == NULL)
		return;
	pctl_generation_end(g->generation);
	for (uint32_t i = 0; i < g->n_slots; i++)
		if (!g->all[i].ended)
			g->engine->busy[g->slots[i]] = 0;
	for (uint32_t i = 0; g->all != NULL && i < g->o.sequences; i++) {
		pctl_str_drop(&g->all[i].text);
		free(g->all[i].logits);
	}
	pctl_logit_hashes_destroy(g->hashes);
	pctl_str_drop(&g->receipt);
	pctl_arena_destroy(g->arena);
	pipectl_engine_release(g->engine);
	free(g);
}

/* ---- while tokens come -------------------------------------------------------------------- */

static void see_logits(void *ctx, uint32_t slot, const float *logits)
{
	pipectl_generation *g = ctx;
	const uint64_t n = pctl_model_engine_of(g->engine->engine)->n_vocab;
	uint32_t i = 0;

	while (i < g->n_slots && (g->slots[i] != slot || g->all[i].ended))
		i++;
	if (i == g->n_slots)
		return;
	if (g->hashes != NULL)
		pctl_logit_hashes_add(g->hashes, i, logits, n);
	if (g->all[i].logits != NULL)
		memcpy(g->all[i].logits, logits, n * sizeof(*logits));
}

static int made(void *ctx, uint32_t sequence, uint32_t token)
{
	pipectl_generation *g = ctx;
	making *s = &g->all[sequence];
	const size_t before = s->text.n;
	pipectl_generated_token t = {.head = PCTL_HEAD(pipectl_generated_token),
				     .sequence = sequence,
				     .token = token,
				     .logits = s->logits};

	g->unheard |= pctl_token_stream_push(&s->stream, token, &g->engine->p->call, &s->text) !=
			      PCTL_OK ||
		      s->text.failed;
	if (g->unheard)
		return 0;
	t.text = s->text.data == NULL ? "" : s->text.data + before;
	t.n_bytes = s->text.n - before;
	t.n_logits = s->logits == NULL ? 0 : pctl_model_engine_of(g->engine->engine)->n_vocab;
	return g->token == NULL || g->token(g->ctx, &t) != 0;
}

/* ---- beginning ---------------------------------------------------------------------------- */

static pctl_status take_slots(pipectl_generation *g, uint32_t n)
{
	const pctl_call *call = &g->engine->p->call;
	pctl_status status = PCTL_OK;

	g->slots = pctl_arena_array(g->arena, n, sizeof(*g->slots));
	g->all = pctl_arena_array(g->arena, n, sizeof(*g->all));
	if (g->slots == NULL || g->all == NULL)
		return pctl_no_memory(call, "sequences");
	while (status == PCTL_OK && g->n_slots < n) {
		status = pipectl_engine_slot(g->engine, &g->slots[g->n_slots]);
		g->n_slots += status == PCTL_OK;
	}
	return status;
}

static pctl_status begin_sequences(pipectl_generation *g)
{
	const pctl_engine *e = pctl_model_engine_of(g->engine->engine);
	const pctl_call *call = &g->engine->p->call;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < g->o.sequences; i++) {
		pctl_token_stream_init(&g->all[i].stream,
				       pctl_model_engine_tokenizer(g->engine->engine), 0);
		if (!(g->wants & PIPECTL_GENERATE_LOGITS))
			continue;
		g->all[i].logits = calloc(e->n_vocab, sizeof(float));
		if (g->all[i].logits == NULL)
			return pctl_no_memory(call, "logits");
	}
	if (g->wants & PIPECTL_GENERATE_RECEIPT)
		status = pctl_logit_hashes_begin(g->o.sequences, call, &g->hashes);
	return status;
}

/* g->o says what is asked. */
static pctl_status begin(pipectl_generation *g)
{
	const pctl_engine *e = pctl_model_engine_of(g->engine->engine);
	const pctl_call *call = &g->engine->p->call;
	pctl_status status = PCTL_OK;

	if (g->o.sequences > e->n_slots)
		return pctl_refuse(call, PC6290_MODEL_PLAN,
				   "%" PRIu32 " sequences is none of 1 to %" PRIu32, g->o.sequences,
				   e->n_slots);
	status = take_slots(g, g->o.sequences);
	g->o.slots = g->slots;
	g->o.adapter = g->engine->adapter;
	g->o.token = made;
	g->o.ctx = g;
	g->going = g->o.n_tokens == 0 ? 0 : g->o.sequences;
	if (status == PCTL_OK)
		status = begin_sequences(g);
	return status == PCTL_OK ? pctl_generation_begin(e, &g->o, call, &g->generation) : status;
}

static pctl_status in_range(const pctl_call *call, const char *what, float v, double least,
			    double most)
{
	return (double)v >= least && (double)v <= most
		       ? PCTL_OK
		       : pctl_refuse(call, PC6290_MODEL_PLAN, "%s is %g, which is none of %g to %g",
				     what, (double)v, least, most);
}

static pctl_status take_sampling(const pctl_call *call, const pipectl_generate_options *o,
				 pctl_engine_sampling *out)
{
	const struct {
		const char *what;
		double least, most;
		float v, otherwise, *to;
	} rows[] = {
		{"temperature", 0, 100, o->temperature, 0, &out->temperature},
		{"top_p", 0, 1, o->top_p, 1, &out->top_p},
		{"min_p", 0, 1, o->min_p, 0, &out->min_p},
		{"repetition_penalty", 0.01, 100, o->repetition_penalty, 1,
		 &out->repetition_penalty},
		{"presence_penalty", -100, 100, o->presence_penalty, 0, &out->presence_penalty},
		{"frequency_penalty", -100, 100, o->frequency_penalty, 0, &out->frequency_penalty}};
	pctl_status status = PCTL_OK;

	*out = (pctl_engine_sampling){.top_k = o->top_k, .seed = o->seed};
	for (size_t i = 0; status == PCTL_OK && i < sizeof(rows) / sizeof(rows[0]); i++) {
		*rows[i].to = rows[i].v == 0 ? rows[i].otherwise : rows[i].v;
		status = in_range(call, rows[i].what, *rows[i].to, rows[i].least, rows[i].most);
	}
	return status;
}

static pctl_status take_question(pipectl_generation *g, const pipectl_generate_options *options)
{
	const uint32_t known =
		PIPECTL_GENERATE_ON | PIPECTL_GENERATE_LOGITS | PIPECTL_GENERATE_RECEIPT;
	const pctl_call *call = &g->engine->p->call;
	pipectl_generate_options o;
	uint32_t *prompt;
	pctl_status status = PIPECTL_TAKE(call, &o, options);

	if (status == PCTL_OK && o.flags & ~known)
		status = pipectl_misused(call, "options has a flag that does not exist");
	if (status == PCTL_OK && o.n_prompt != 0 && o.prompt == NULL)
		status = pipectl_misused(call, "tokens are counted, and there are none");
	if (status == PCTL_OK)
		status = take_sampling(call, &o, &g->o.sampling);
	if (status != PCTL_OK)
		return status;
	prompt = pctl_arena_array(g->arena, o.n_prompt + 1ull, sizeof(*prompt));
	if (prompt == NULL)
		return pctl_no_memory(call, "a prompt");
	if (o.n_prompt != 0)
		memcpy(prompt, o.prompt, 4ull * o.n_prompt);
	g->o.prompt = prompt;
	g->o.n_prompt = o.n_prompt;
	g->o.n_tokens = o.n_tokens;
	g->o.sequences = o.sequences == 0 ? 1 : o.sequences;
	g->o.goes_on = (o.flags & PIPECTL_GENERATE_ON) != 0;
	g->wants = o.flags;
	g->ctx = o.ctx;
	g->token = o.token;
	return PCTL_OK;
}

static pctl_status create(pipectl_engine *e, pipectl_generation **out)
{
	pipectl_generation *g = calloc(1, sizeof(*g));

	*out = NULL;
	if (g == NULL || (g->arena = pctl_arena_create()) == NULL) {
		free(g);
		return pctl_no_memory(&e->p->call, "a generation");
	}
	g->engine = e;
	e->users++;
	*out = g;
	return PCTL_OK;
}

/* ---- steps -------------------------------------------------------------------------------- */

/* What was asked and came of it, as a statement; texts in the arena. */
static pctl_status state(pipectl_generation *g, pctl_statement *out)
{
	const pctl_call *call = &g->engine->p->call;
	pctl_status status =
		g->cids == NULL ? pctl_logit_hashes_end(g->hashes, call, &g->cids) : PCTL_OK;

	return status == PCTL_OK ? pctl_statement_of(g->engine->engine, &g->o,
						     pctl_generation_made(g->generation), g->cids,
						     g->arena, call, out)
				 : status;
}

static pctl_status sign(pipectl_generation *g)
{
	pipectl *p = g->engine->p;
	pctl_signer *signer = NULL;
	pctl_statement s;
	pctl_status status = state(g, &s);

	if (status == PCTL_OK)
		status = pctl_installation_signer(&p->host, &p->call, &signer);
	if (status == PCTL_OK)
		status = pctl_statement_sign(&s, signer, &p->call, &g->receipt);
	if (status == PCTL_OK && g->receipt.failed)
		status = pctl_no_memory(&p->call, "a statement");
	pctl_signer_close(signer);
	return status;
}

static int has_ended(const pipectl_generation *g, uint32_t i)
{
	const pctl_generated_sequence *s = &pctl_generation_made(g->generation)->sequences[i];

	return s->ended || g->o.n_tokens == 0;
}

static pctl_status step(pipectl_generation *g)
{
	pctl_model_engine *e = g->engine->engine;
	const pctl_call *call = &g->engine->p->call;
	pctl_status status;

	if (g->going == 0)
		return PCTL_OK;
	if (g->wants & (PIPECTL_GENERATE_LOGITS | PIPECTL_GENERATE_RECEIPT))
		pctl_model_engine_on_logits(e, see_logits, g);
	status = pctl_generation_step(g->generation, call, &g->going);
	pctl_model_engine_on_logits(e, NULL, NULL);
	if (status == PCTL_OK && g->unheard)
		status = pctl_no_memory(call, "a text");
	for (uint32_t i = 0; status == PCTL_OK && i < g->o.sequences; i++) {
		making *s = &g->all[i];

		if (s->ended || !has_ended(g, i))
			continue;
		s->ended = 1;
		g->engine->busy[g->slots[i]] = 0;
		pctl_token_stream_end(&s->stream, &s->text);
		if (s->text.failed)
			status = pctl_no_memory(call, "a text");
	}
	return status;
}

/* Steps to the end, and the statement that was asked for. */
static pctl_status finish(pipectl_generation *g, int once)
{
	pctl_status status = PCTL_OK;

	do
		status = step(g);
	while (!once && status == PCTL_OK && g->going != 0);
	if (status == PCTL_OK && g->going == 0 && g->wants & PIPECTL_GENERATE_RECEIPT &&
	    g->receipt.n == 0)
		status = sign(g);
	return status;
}

static pctl_status open_generation(pipectl_engine *e, const pipectl_generate_options *options,
				   int whole, pipectl_generation **out)
{
	pctl_status status = pipectl_begin(e->p, NULL, "run");
	pipectl_generation *g = NULL;

	*out = NULL;
	if (status == PCTL_OK)
		status = create(e, &g);
	if (status == PCTL_OK)
		status = take_question(g, options);
	if (status == PCTL_OK)
		status = begin(g);
	if (status == PCTL_OK && whole)
		status = finish(g, 0);
	status = pipectl_end(e->p, status);
	if (status == PCTL_OK)
		*out = g;
	else
		pipectl_generation_release(g);
	return status;
}

pctl_status pipectl_generation_begin(pipectl_engine *e, const pipectl_generate_options *options,
				     pipectl_generation **out)
{
	return open_generation(e, options, 0, out);
}

pctl_status pipectl_generate(pipectl_engine *e, const pipectl_generate_options *options,
			     pipectl_generation **out)
{
	return open_generation(e, options, 1, out);
}

pctl_status pipectl_generation_step(pipectl_generation *g, uint32_t *going)
{
	pctl_status status = pipectl_begin(g->engine->p, NULL, "run");

	*going = 0;
	if (status == PCTL_OK)
		status = finish(g, 1);
	if (status == PCTL_OK)
		*going = g->going;
	return pipectl_end(g->engine->p, status);
}

/* ---- what came of it ---------------------------------------------------------------------- */

pctl_status pipectl_generation_sequence(pipectl_generation *g, uint32_t i, pipectl_sequence *out)
{
	const pctl_call *call = &g->engine->p->call;
	pctl_status status = pipectl_begin(g->engine->p, NULL, NULL);
	pipectl_sequence v = {.head = PCTL_HEAD(pipectl_sequence)};
	const pctl_generated_sequence *s;

	if (status == PCTL_OK && i >= g->o.sequences)
		status = pipectl_misused(call, "there is no such sequence");
	if (status != PCTL_OK)
		return pipectl_end(g->engine->p, status);
	s = &pctl_generation_made(g->generation)->sequences[i];
	v.tokens = s->tokens;
	v.n_tokens = s->n;
	v.text = g->all[i].text.data == NULL ? "" : g->all[i].text.data;
	v.n_bytes = g->all[i].text.n;
	v.ended_by = has_ended(g, i) ? pctl_generated_why(s->why) : NULL;
	return pipectl_end(g->engine->p, PIPECTL_GIVE(call, out, &v));
}

pctl_status pipectl_generation_receipt(pipectl_generation *g, const char **text, uint64_t *n_bytes)
{
	pctl_status status = pipectl_begin(g->engine->p, NULL, NULL);

	*text = NULL;
	*n_bytes = 0;
	if (status == PCTL_OK && g->receipt.n == 0)
		status = pipectl_misused(&g->engine->p->call,
					 "no statement was asked for, or tokens are still made");
	if (status == PCTL_OK) {
		*text = g->receipt.data;
		*n_bytes = g->receipt.n;
	}
	return pipectl_end(g->engine->p, status);
}

static pctl_status replay(pipectl_generation *g, const char *name, const char *text, uint64_t n,
			  const char *signer)
{
	const pctl_call *call = &g->engine->p->call;
	pctl_statement said, found = {0};
	pctl_status status = pctl_statement_parse(name, text, n, g->arena, call, &said);

	if (status == PCTL_OK && signer != NULL && strcmp(signer, said.signer) != 0)
		status = pctl_refuse(call, PC5906_RECEIPT_SIGNER, "%s was signed by %s", name,
				     said.signer);
	if (status == PCTL_OK)
		status = pctl_statement_question(&said, name, g->arena, call, &g->o);
	/* Of another model nothing need be made. */
	if (status == PCTL_OK)
		status = pctl_statement_model(g->engine->engine, g->engine->adapter, g->arena, call,
					      &found);
	if (status == PCTL_OK)
		status = pctl_statement_compare_model(&said, &found, call);
	if (status != PCTL_OK)
		return status;
	g->wants = PIPECTL_GENERATE_RECEIPT;
	if (status == PCTL_OK)
		status = begin(g);
	while (status == PCTL_OK && g->going != 0)
		status = step(g);
	if (status == PCTL_OK)
		status = state(g, &found);
	return status == PCTL_OK ? pctl_statement_compare(&said, &found, call) : status;
}

pctl_status pipectl_generation_replay(pipectl_engine *e, const char *name, const char *text,
				      uint64_t n_bytes, const char *signer,
				      pipectl_generation **out)
{
	pctl_status status = pipectl_begin(e->p, NULL, "run");
	pipectl_generation *g = NULL;
	char *ended = NULL;

	if (out != NULL)
		*out = NULL;
	if (status == PCTL_OK &&
	    (name == NULL || text == NULL || n_bytes > PCTL_STATEMENT_BYTES_MAX))
		status = pipectl_misused(&e->p->call,
					 "a statement has no name or no text, or is too long");
	/* The reader wants a NUL behind the text. */
	if (status == PCTL_OK && (ended = malloc(n_bytes + 1)) == NULL)
		status = pctl_no_memory(&e->p->call, "a statement");
	if (status == PCTL_OK) {
		memcpy(ended, text, n_bytes);
		ended[n_bytes] = '\0';
		status = create(e, &g);
	}
	if (status == PCTL_OK)
		status = replay(g, name, ended, n_bytes, signer);
	free(ended);
	status = pipectl_end(e->p, status);
	if (status == PCTL_OK && out != NULL)
		*out = g;
	else
		pipectl_generation_release(g);
	return status;
}
