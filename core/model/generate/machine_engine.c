/* An engine over a machine; see machine_engine.h. */
#include "model/generate/machine_engine.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "model/generate/private.h"

#define MACHINE_CHUNK 64u

/* in: by IN_, within `choices`, which lie in the globals from `at` on. */
struct pctl_machine_engine {
	const pctl_engine *text;
	pctl_llm *llm;
	pctl_machine_program *program;
	pctl_engine engine;
	void *in[ENGINE_INPUTS];
	pctl_machine_range at;
	uint8_t *choices;
	float *embedding, *logits;
	uint32_t gives, held;
	uint64_t timeout_ms;
	pctl_logits_sink sink;
	void *sink_ctx;
};

/* ---- text ------------------------------------------------------------------------------------ */

static pctl_status encode(void *self, const char *text, const pctl_call *call, uint32_t **out,
			  uint32_t *n_out)
{
	const pctl_engine *t = ((pctl_machine_engine *)self)->text;

	return t->encode(t->self, text, call, out, n_out);
}

static pctl_status chat(void *self, const pctl_engine_message *messages, uint32_t n,
			const pctl_call *call, uint32_t **out, uint32_t *n_out)
{
	const pctl_engine *t = ((pctl_machine_engine *)self)->text;

	return t->chat(t->self, messages, n, call, out, n_out);
}

static void piece(void *self, uint32_t before, uint32_t token, const char **out, uint32_t *n_out)
{
	const pctl_engine *t = ((pctl_machine_engine *)self)->text;

	t->piece(t->self, before, token, out, n_out);
}

static uint32_t is_end(void *self, uint32_t token)
{
	const pctl_engine *t = ((pctl_machine_engine *)self)->text;

	return t->is_end(t->self, token);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static pctl_status read_words(const pctl_machine_engine *e, uint32_t output, void *out, uint64_t n,
			      const pctl_call *call)
{
	pctl_machine_range r = *pctl_llm_output(e->llm, output);

	r.n_bytes = n;
	return pctl_machine_read(pctl_llm_machine(e->llm), &r, out, call);
}

static pctl_status take_top(const pctl_machine_engine *e, pctl_engine_row *r, const pctl_call *call)
{
	float logprobs[PCTL_ENGINE_TOP_MAX];
	uint32_t tokens[PCTL_ENGINE_TOP_MAX];
	pctl_status status = read_words(e, PCTL_LLM_LOGPROB, &r->logprob, 4, call);

	r->n_top = r->sampling->n_top < e->engine.n_vocab ? r->sampling->n_top : e->engine.n_vocab;
	if (status == PCTL_OK && r->n_top != 0)
		status = read_words(e, PCTL_LLM_TOP, tokens, 4ull * r->n_top, call);
	if (status == PCTL_OK && r->n_top != 0)
		status = read_words(e, PCTL_LLM_TOP_LOGPROB, logprobs, 4ull * r->n_top, call);
	for (uint32_t i = 0; status == PCTL_OK && i < r->n_top; i++)
		r->top[i] = (pctl_engine_top){tokens[i], logprobs[i]};
	return status;
}

static pctl_status run_token(pctl_machine_engine *e, pctl_engine_row *r, uint32_t k,
			     const pctl_call *call)
{
	const int is_last = k + 1u == r->count && r->want == PCTL_ENGINE_TOKEN;
	float *logits = is_last && e->sink != NULL ? e->logits : NULL;
	pctl_status status = pctl_llm_embed(e->llm, r->tokens[r->start + k], e->embedding, call);

	if (status == PCTL_OK && is_last) {
		engine_put_choice(e->in, 0, 0, r);
		status = pctl_machine_write(pctl_llm_machine(e->llm), &e->at, e->choices, call);
	}
	if (status == PCTL_OK)
		status = pctl_llm_forward(e->llm, e->program, e->embedding, logits, e->timeout_ms,
					  call);
	if (status == PCTL_OK && is_last)
		status = read_words(e, PCTL_LLM_TOKEN, &r->token, 4, call);
	if (status == PCTL_OK && is_last && r->sampling->logprobs)
		status = take_top(e, r, call);
	if (status == PCTL_OK && logits != NULL)
		e->sink(e->sink_ctx, r->slot, logits);
	if (status == PCTL_OK)
		e->held++;
	return status;
}

static pctl_status step(void *self, pctl_engine_row *rows, uint32_t n_rows, const pctl_call *call)
{
	pctl_machine_engine *e = self;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n_rows; i++) {
		pctl_engine_row *r = &rows[i];

		if (r->slot != 0 || r->count == 0 || r->count > e->engine.max_chunk ||
		    r->start != e->held || r->want == PCTL_ENGINE_EMBEDDING ||
		    (r->want == PCTL_ENGINE_TOKEN &&
		     (engine_choice_gives(r->sampling) & ~e->gives) != 0))
			return pctl_refuse(call, PC1_INTERNAL,
					   "a step of a row that this machine has not");
		if (r->start == 0)
			status = pctl_llm_seek(e->llm, 0, call);
		for (uint32_t k = 0; status == PCTL_OK && k < r->count; k++) {
			if (pctl_is_cancelled(call))
				status = pctl_refuse(call, PC4_CANCELLED,
						     "generation was cancelled");
			else
				status = run_token(e, r, k, call);
		}
		r->status = status;
	}
	return status;
}

static void release(void *self, uint32_t slot)
{
	if (slot == 0)
		((pctl_machine_engine *)self)->held = 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Inputs of the choice lie one behind the other, and are written at once. */
static pctl_status take_choices(pctl_machine_engine *e, const pctl_call *call)
{
	uint64_t from = UINT64_MAX, end = 0;

	for (uint32_t i = 0; i < ENGINE_INPUTS; i++) {
		const pctl_machine_range *r = pctl_llm_input(e->llm, engine_input_name(i));

		if (r == NULL)
			continue;
		from = r->offset < from ? r->offset : from;
		end = r->offset + r->n_bytes > end ? r->offset + r->n_bytes : end;
	}
	e->at = (pctl_machine_range){PCTL_MACHINE_GLOBALS, 0, 0, 0, from, end - from};
	e->choices = calloc(end - from + 1u, 1);
	if (e->choices == NULL)
		return pctl_no_memory(call, "a step's data");
	for (uint32_t i = 0; i < ENGINE_INPUTS; i++) {
		const pctl_machine_range *r = pctl_llm_input(e->llm, engine_input_name(i));

		if (r != NULL)
			e->in[i] = e->choices + (r->offset - from);
	}
	return PCTL_OK;
}

static pctl_status open_engine(pctl_machine_engine *e, pctl_installation *in,
			       const pctl_machine_engine_options *o, const pctl_call *call)
{
	pctl_llm_options llm = o->llm;
	pctl_status status;

	e->text = pctl_model_engine_of(o->text);
	e->engine = *e->text;
	e->engine.self = e;
	e->engine.n_slots = 1;
	e->engine.max_chunk = MACHINE_CHUNK;
	e->engine.step = step;
	e->engine.release = release;
	e->engine.encode = encode;
	e->engine.chat = e->text->chat == NULL ? NULL : chat;
	e->engine.piece = piece;
	e->engine.is_end = is_end;
	e->gives = engine_choice_gives(&o->sampling);
	e->timeout_ms = o->timeout_ms;
	llm.gives = e->gives;
	llm.context = e->text->context;
	e->embedding = calloc(e->engine.n_embd + 1u, sizeof(*e->embedding));
	e->logits = calloc(e->engine.n_vocab + 1u, sizeof(*e->logits));
	if (e->embedding == NULL || e->logits == NULL)
		return pctl_no_memory(call, "an engine");
	status = pctl_llm_boot(in, pctl_model_path(pctl_model_engine_model(o->text)), &llm, call,
			       &e->llm);
	if (status == PCTL_OK)
		status = take_choices(e, call);
	return status == PCTL_OK ? pctl_llm_program(e->llm, &o->program, call, &e->program)
				 : status;
}

pctl_status pctl_machine_engine_open(pctl_installation *in, const pctl_machine_engine_options *o,
				     const pctl_call *call, pctl_machine_engine **out)
{
	pctl_machine_engine *e = calloc(1, sizeof(*e));
	pctl_status status =
		e == NULL ? pctl_no_memory(call, "an engine") : open_engine(e, in, o, call);

	*out = status == PCTL_OK ? e : NULL;
	if (status != PCTL_OK)
		pctl_machine_engine_close(e);
	return status;
}

void pctl_machine_engine_close(pctl_machine_engine *e)
{
	if (e == NULL)
		return;
	pctl_machine_program_drop(e->program);
	pctl_llm_shutdown(e->llm);
	free(e->choices);
	free(e->embedding);
	free(e->logits);
	free(e);
}

const pctl_engine *pctl_machine_engine_of(pctl_machine_engine *e)
{
	return &e->engine;
}

pctl_llm *pctl_machine_engine_llm(const pctl_machine_engine *e)
{
	return e->llm;
}

pctl_machine_program *pctl_machine_engine_program(const pctl_machine_engine *e)
{
	return e->program;
}

void pctl_machine_engine_on_logits(pctl_machine_engine *e, pctl_logits_sink sink, void *ctx)
{
	e->sink = sink;
	e->sink_ctx = ctx;
}
