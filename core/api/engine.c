/* Models on a device: opening, logits, embeddings; see model.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/model_private.h"

#define USUAL_CHUNK 64u

void pipectl_engine_release(pipectl_engine *e)
{
	if (e == NULL || --e->users != 0)
		return;
	pctl_model_engine_close(e->engine);
	pctl_arena_destroy(e->arena);
	free(e);
}

/* The engine keeps the request: selectors become its own. */
static pctl_status copy_backends(pipectl_engine *e, pctl_run_request *q)
{
	const char **copies = pctl_arena_array(e->arena, q->n_backends, sizeof(*copies));

	for (uint32_t i = 0; copies != NULL && i < q->n_backends; i++)
		copies[i] = pctl_arena_dup(e->arena, q->backends[i]);
	q->backends = copies;
	return pctl_arena_failed(e->arena) ? pctl_no_memory(&e->p->call, "an engine") : PCTL_OK;
}

pctl_status pipectl_take_loras(const pctl_call *call, const pipectl_lora *loras, uint32_t n,
			       pctl_arena *arena, pctl_engine_lora **out)
{
	*out = NULL;
	if (n != 0 && loras == NULL)
		return pipectl_misused(call, "adapters are counted, and there are none");
	if (n > PCTL_ADAPTERS_MAX)
		return pctl_refuse(call, PC6299_ADAPTER_USE,
				   "%" PRIu32 " adapters are more than %u", n, PCTL_ADAPTERS_MAX);
	*out = pctl_arena_array(arena, n, sizeof(**out));
	if (*out == NULL)
		return pctl_no_memory(call, "adapters");
	for (uint32_t i = 0; i < n; i++) {
		if (loras[i].path == NULL)
			return pipectl_misused(call, "an adapter has no path");
		(*out)[i] = (pctl_engine_lora){loras[i].name, loras[i].path,
					       loras[i].scale == 0 ? 1 : loras[i].scale};
	}
	return PCTL_OK;
}

static pctl_status take_loras(pipectl_engine *e, const pipectl_engine_options *o,
			      pctl_model_engine_options *how)
{
	pctl_engine_lora *loras;
	const pctl_status status =
		pipectl_take_loras(&e->p->call, o->loras, o->n_loras, e->arena, &loras);

	for (uint32_t i = 0; status == PCTL_OK && i < o->n_loras; i++)
		if (loras[i].name == NULL)
			return pipectl_misused(&e->p->call, "an adapter has no name");
	how->loras = loras;
	how->n_loras = o->n_loras;
	return status;
}

static pctl_status open_engine(pipectl_engine *e, pipectl_model *m,
			       const pipectl_engine_options *options)
{
	const pctl_call *call = &e->p->call;
	pctl_model_engine_options how = {
		.model = m->path, .tokenizer = m->tokenizer, .family = m->family};
	pipectl_run_options run = {.head = PCTL_HEAD(pipectl_run_options)};
	pipectl_engine_options o;
	uint32_t context;
	pctl_status status = PIPECTL_TAKE(call, &o, options);

	if (status != PCTL_OK)
		return status;
	run.backends = o.backends;
	run.n_backends = o.n_backends;
	run.verify_ppm = o.verify_ppm;
	for (uint32_t i = 0; o.backends != NULL && i < o.n_backends; i++)
		if (o.backends[i] == NULL)
			return pipectl_misused(call, "a backend has no selector");
	status = pipectl_request(e->p, &run, e->arena, &how.request);
	if (status == PCTL_OK)
		status = copy_backends(e, &how.request);
	how.request.memory_bytes = o.memory_budget;
	/* A short context has short chunks, where nobody asks for another. */
	context = o.context != 0 ? o.context : PCTL_ENGINE_PAGE;
	how.slots = o.slots == 0 ? 1 : o.slots;
	how.chunk = o.chunk != 0 ? o.chunk : context < USUAL_CHUNK ? context : USUAL_CHUNK;
	how.context = o.context;
	how.pages = o.pages;
	if (status == PCTL_OK)
		status = take_loras(e, &o, &how);
	if (status == PCTL_OK)
		status = pctl_model_engine_open(&e->p->host, &how, call, &e->engine);
	if (status != PCTL_OK)
		return status;
	e->busy = pctl_arena_array(e->arena, how.slots, sizeof(*e->busy));
	return e->busy == NULL ? pctl_no_memory(call, "an engine") : PCTL_OK;
}

pctl_status pipectl_engine_open(pipectl_model *m, const pipectl_engine_options *options,
				pipectl_engine **out)
{
	pctl_status status = pipectl_begin(m->p, NULL, "run");
	pipectl_engine *e;

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	e = calloc(1, sizeof(*e));
	if (e == NULL || (e->arena = pctl_arena_create()) == NULL) {
		free(e);
		return pctl_no_memory(&m->p->call, "an engine");
	}
	e->p = m->p;
	e->users = 1;
	status = pipectl_end(m->p, open_engine(e, m, options));
	if (status == PCTL_OK)
		*out = e;
	else
		pipectl_engine_release(e);
	return status;
}

pctl_status pipectl_engine_describe(pipectl_engine *e, pipectl_engine_facts *out)
{
	const pctl_engine *engine = pctl_model_engine_of(e->engine);
	pctl_status status = pipectl_begin(e->p, NULL, NULL);
	pipectl_engine_facts f = {.head = PCTL_HEAD(pipectl_engine_facts),
				  .model = engine->model_cid,
				  .semantics = engine->semantics,
				  .slots = engine->n_slots,
				  .chunk = engine->max_chunk,
				  .context = engine->context,
				  .n_vocab = engine->n_vocab,
				  .n_embd = engine->n_embd,
				  .n_adapters = engine->n_adapters,
				  .answers_of = engine->model_cid};
	pctl_model_engine_facts facts;

	if (status != PCTL_OK)
		return status;
	if (e->adapter != 0) {
		f.adapter = engine->adapters[e->adapter - 1].name;
		f.answers_of = engine->adapters[e->adapter - 1].cid;
	}
	pctl_model_engine_facts_of(e->engine, &facts);
	f.device = facts.device;
	f.device_name = facts.device_name;
	f.evidence = pctl_evidence_text(facts.evidence, e->evidence);
	f.steps = facts.steps;
	f.submits = facts.submits;
	f.dispatches = facts.dispatches;
	f.host_ns = e->p->host.policy->telemetry ? facts.prefill.host_ns + facts.decode.host_ns : 0;
	f.device_ns =
		e->p->host.policy->telemetry ? facts.prefill.device_ns + facts.decode.device_ns : 0;
	f.total_bytes = facts.total_bytes;
	f.constant_bytes = facts.weight_bytes;
	f.cache_bytes = facts.cache_bytes;
	f.cache_token_bytes = facts.cache_token_bytes;
	f.peak_bytes = facts.peak_bytes;
	f.uploaded_bytes = facts.uploaded_bytes;
	f.token_uploaded_bytes = facts.token_uploaded_bytes;
	f.token_submits = facts.token_submits;
	for (uint32_t i = 0; i < engine->n_slots; i++)
		f.n_free_slots += !e->busy[i];
	return pipectl_end(e->p, PIPECTL_GIVE(&e->p->call, out, &f));
}

pctl_status pipectl_engine_adapter(pipectl_engine *e, const char *name)
{
	pctl_status status = pipectl_begin(e->p, NULL, NULL);
	uint32_t adapter = 0;

	if (status == PCTL_OK)
		status = pctl_model_engine_adapter(e->engine, name, &e->p->call, &adapter);
	if (status == PCTL_OK)
		e->adapter = adapter;
	return pipectl_end(e->p, status);
}

pctl_status pipectl_engine_slot(pipectl_engine *e, uint32_t *out)
{
	const uint32_t n = pctl_model_engine_of(e->engine)->n_slots;

	for (*out = 0; *out < n; ++*out)
		if (!e->busy[*out]) {
			e->busy[*out] = 1;
			return PCTL_OK;
		}
	return pctl_refuse(&e->p->call, PC6290_MODEL_PLAN,
			   "all %" PRIu32 " slots of the engine are taken", n);
}

/* ---- rows of their own -------------------------------------------------------------------- */

/* Where the logits of the row under way go. */
typedef struct row_logits {
	float *out;
	uint64_t n;
} row_logits;

static void take_logits(void *ctx, uint32_t slot, const float *logits)
{
	row_logits *to = ctx;

	(void)slot;
	memcpy(to->out, logits, to->n * sizeof(*logits));
}

static pctl_status check_ids(const pipectl_engine *e, const uint32_t *ids, uint32_t n)
{
	const pctl_engine *engine = pctl_model_engine_of(e->engine);
	const pctl_call *call = &e->p->call;

	if (n == 0 || n > engine->context)
		return pctl_refuse(call, PC6290_MODEL_PLAN,
				   "%" PRIu32 " tokens is none of 1 to %" PRIu32 ", the context", n,
				   engine->context);
	if (ids == NULL)
		return pipectl_misused(call, "tokens are counted, and there are none");
	for (uint32_t i = 0; i < n; i++)
		if (ids[i] >= engine->n_vocab)
			return pctl_refuse(call, PC6290_MODEL_PLAN,
					   "token %" PRIu32 " is %" PRIu32 ", of %" PRIu32, i,
					   ids[i], engine->n_vocab);
	return PCTL_OK;
}

static pctl_status one_row(pipectl_engine *e, pctl_engine_row *r)
{
	const pctl_engine *engine = pctl_model_engine_of(e->engine);
	pctl_status status = engine->step(engine->self, r, 1, &e->p->call);

	if (status == PCTL_OK && r->status == PCTL_E_LIMIT)
		return pctl_refuse(&e->p->call, PC6290_MODEL_PLAN,
				   "there are too few pages for %" PRIu32 " tokens", r->n_tokens);
	return status == PCTL_OK ? r->status : status;
}

/* All tokens through a slot; what is wanted of the last one, or, of logits, of each. */
static pctl_status run_rows(pipectl_engine *e, const uint32_t *ids, uint32_t n, uint32_t want,
			    uint32_t each, float *out)
{
	static const pctl_engine_sampling plain = {.top_p = 1, .repetition_penalty = 1};
	const pctl_engine *engine = pctl_model_engine_of(e->engine);
	const uint32_t most = each ? 1 : engine->max_chunk;
	row_logits to = {out, engine->n_vocab};
	uint32_t slot, done = 0;
	pctl_status status = check_ids(e, ids, n);

	if (status == PCTL_OK)
		status = pipectl_engine_slot(e, &slot);
	if (status != PCTL_OK)
		return status;
	while (status == PCTL_OK && done < n) {
		const uint32_t count = n - done < most ? n - done : most;
		const int wanted = each || done + count == n;
		pctl_engine_row r = {.slot = slot,
				     .start = done,
				     .count = count,
				     .want = wanted ? want : PCTL_ENGINE_NOTHING,
				     .tokens = ids,
				     .n_tokens = done + count,
				     .n_prompt = n,
				     .adapter = e->adapter,
				     .sampling = &plain,
				     .embedding = out};

		if (wanted && want == PCTL_ENGINE_TOKEN)
			pctl_model_engine_on_logits(e->engine, take_logits, &to);
		status = pctl_is_cancelled(&e->p->call) ? PCTL_E_CANCELLED : one_row(e, &r);
		pctl_model_engine_on_logits(e->engine, NULL, NULL);
		done += count;
		to.out += each ? engine->n_vocab : 0;
	}
	engine->release(engine->self, slot);
	e->busy[slot] = 0;
	return status;
}

static pctl_status room(const pipectl_engine *e, const float *out, uint64_t n_floats, uint64_t want)
{
	return out != NULL && n_floats == want
		       ? PCTL_OK
		       : pctl_refuse(&e->p->call, PC11_API_USE,
				     "there is room for %" PRIu64 " floats, and %" PRIu64 " come",
				     out == NULL ? 0 : n_floats, want);
}

pctl_status pipectl_engine_logits(pipectl_engine *e, const uint32_t *ids, uint32_t n, uint32_t all,
				  float *out, uint64_t n_floats)
{
	const uint64_t row = pctl_model_engine_of(e->engine)->n_vocab;
	pctl_status status = pipectl_begin(e->p, NULL, "run");

	if (status == PCTL_OK)
		status = room(e, out, n_floats, all ? row * n : row);
	if (status == PCTL_OK)
		status = run_rows(e, ids, n, PCTL_ENGINE_TOKEN, all != 0, out);
	return pipectl_end(e->p, status);
}

pctl_status pipectl_engine_embed(pipectl_engine *e, const uint32_t *ids, uint32_t n, float *out,
				 uint64_t n_floats)
{
	pctl_status status = pipectl_begin(e->p, NULL, "run");

	if (status == PCTL_OK)
		status = room(e, out, n_floats, pctl_model_engine_of(e->engine)->n_embd);
	if (status == PCTL_OK)
		status = run_rows(e, ids, n, PCTL_ENGINE_EMBEDDING, 0, out);
	return pipectl_end(e->p, status);
}
