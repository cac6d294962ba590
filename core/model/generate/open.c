/* Opening an engine: files, text, slots and their pages; see model_engine.h. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/file/write.h"
#include "model/generate/private.h"

static pctl_status take_sizes(pctl_model_engine *e, const pctl_model_engine_options *o,
			      const pctl_call *call)
{
	const uint64_t most = pctl_model_shape_of(e->model)->n_context;
	uint64_t context = o->context != 0		? o->context
			   : most < PCTL_ENGINE_CONTEXT ? most
							: PCTL_ENGINE_CONTEXT;
	uint64_t pages;

	if (o->slots == 0 || o->slots > 1024)
		return pctl_refuse(call, PC6290_MODEL_PLAN,
				   "%u sequences at a time is none of 1 to 1024", o->slots);
	if (context > most)
		return pctl_refuse(call, PC6290_MODEL_PLAN,
				   "%s: a context of %" PRIu64 " is more than the model's %" PRIu64,
				   pctl_model_path(e->model), context, most);
	/* Whole pages, but never more positions than the model has. */
	context = context / PCTL_ENGINE_PAGE * PCTL_ENGINE_PAGE +
		  (context % PCTL_ENGINE_PAGE != 0 ? PCTL_ENGINE_PAGE : 0);
	if (context > most)
		context -= PCTL_ENGINE_PAGE;
	if (context == 0)
		return pctl_refuse(call, PC6290_MODEL_PLAN,
				   "%s: a context of %" PRIu64 " is less than a page of %u",
				   pctl_model_path(e->model), most, PCTL_ENGINE_PAGE);
	if (o->chunk == 0 || o->chunk > context)
		return pctl_refuse(call, PC6290_MODEL_PLAN,
				   "a chunk of %u tokens is none of 1 to %" PRIu64 ", the context",
				   o->chunk, context);
	e->slot_pages = (uint32_t)(context / PCTL_ENGINE_PAGE);
	pages = o->pages != 0 ? o->pages : (uint64_t)e->slot_pages * o->slots;
	if (pages < e->slot_pages || pages > UINT32_MAX / 2)
		return pctl_refuse(call, PC6290_MODEL_PLAN,
				   "%" PRIu64 " pages cannot hold one sequence, which has %u",
				   pages, e->slot_pages);
	e->n_pages = e->n_free = (uint32_t)pages;
	e->engine.n_slots = o->slots;
	e->engine.max_chunk = o->chunk;
	e->singles = o->singles;
	e->engine.context = (uint32_t)context;
	return PCTL_OK;
}

static pctl_status make_slots(pctl_model_engine *e, const pctl_call *call)
{
	e->slots = pctl_arena_alloc(e->arena, e->engine.n_slots * sizeof(*e->slots));
	e->free_pages = pctl_arena_alloc(e->arena, e->n_pages * sizeof(*e->free_pages));
	for (uint32_t i = 0; e->slots != NULL && i < e->engine.n_slots; i++)
		e->slots[i].pages =
			pctl_arena_alloc(e->arena, e->slot_pages * sizeof(*e->slots[i].pages));
	/* The lowest is taken first. */
	for (uint32_t i = 0; e->free_pages != NULL && i < e->n_pages; i++)
		e->free_pages[i] = e->n_pages - 1 - i;
	return pctl_arena_failed(e->arena) ? pctl_no_memory(call, "an engine") : PCTL_OK;
}

/* Tensors are hashed once: those of pipelines are known by this name, and held against it as they are read. */
pctl_status engine_keep(pctl_model_engine *e, const char *input, const pctl_cid *cid,
			const pctl_call *call)
{
	pctl_cid *kept = pctl_arena_alloc(e->arena, sizeof(*kept));

	if (kept == NULL || !pctl_map_put(e->cids, input, kept))
		return pctl_no_memory(call, "a model's name");
	*kept = *cid;
	return PCTL_OK;
}

/* What answers are a function of, beside what is asked: a text that has the description and a line for each tensor, by its CID. */
static pctl_status name_model(pctl_model_engine *e, const pctl_call *call)
{
	const pctl_model_shape *s = pctl_model_shape_of(e->model);
	char *config = pctl_model_config(s, PCTL_SCALAR_F32), text[PCTL_CID_TEXT_SIZE], input[256];
	pctl_str_buf all = PCTL_STR_BUF_INIT;
	const pctl_model_tensor *t;
	pctl_status status = PCTL_OK;
	pctl_cid cid;

	if (config == NULL)
		return pctl_no_memory(call, "a description");
	pctl_str_add(&all, config);
	free(config);
	for (uint64_t i = 0; status == PCTL_OK && (t = pctl_model_tensor_at(e->model, i)) != NULL;
	     i++) {
		status = pctl_model_hash(e->model, t, call, &cid);
		snprintf(input, sizeof(input), "weights/%s", t->name);
		if (status == PCTL_OK)
			status = engine_keep(e, input, &cid, call);
		if (status == PCTL_OK)
			pctl_str_addf(&all, "%s %s %s\n", t->name,
				      pctl_dtype_of(t->type.dtype)->name,
				      pctl_cid_format(&cid, text));
	}
	if (status == PCTL_OK && all.failed)
		status = pctl_no_memory(call, "a model's name");
	if (status == PCTL_OK)
		status = pctl_cid_of(all.data, all.n, call, &cid);
	if (status == PCTL_OK)
		pctl_cid_format(&cid, e->cid);
	pctl_str_drop(&all);
	return status;
}

static pctl_status open_all(pctl_model_engine *e, const pctl_model_engine_options *o,
			    const pctl_call *call)
{
	const pctl_model_shape *s;
	char path[PATH_MAX];
	pctl_status status;
	int is_there;

	/* The pipelines that are made of it lie elsewhere. Why there is no such path is told where models are opened. */
	is_there = realpath(o->model, path) != NULL;
	e->path = pctl_arena_printf(e->arena, "%s", is_there ? path : o->model);
	status = e->path == NULL ? pctl_no_memory(call, "a path")
				 : pctl_model_open(e->path, call, &e->model);
	if (status == PCTL_OK && !is_there)
		status = pctl_refuse(call, PC3_IO, "%s: it came while it was looked for", o->model);
	if (status == PCTL_OK)
		status = take_sizes(e, o, call);
	if (status == PCTL_OK)
		status = make_slots(e, call);
	if (status == PCTL_OK)
		status = engine_open_text(e, o, call);
	if (status == PCTL_OK)
		status = name_model(e, call);
	if (status == PCTL_OK) {
		e->engine.model_name = strrchr(e->path, '/') + 1;
		status = engine_open_loras(e, o, call);
	}
	if (status == PCTL_OK)
		status = pctl_scratch_make(e->in, call, &e->scratch);
	if (status != PCTL_OK)
		return status;
	e->sizes =
		pctl_arena_array(e->arena, ENGINE_SIZES * (1 + e->loras.n_sets), sizeof(*e->sizes));
	if (e->sizes == NULL)
		return pctl_no_memory(call, "an engine");
	s = pctl_model_shape_of(e->model);
	e->engine.self = e;
	e->engine.model_cid = e->cid;
	e->engine.semantics = PCTL_SEMANTICS_VERSION;
	e->engine.n_vocab = (uint32_t)s->n_vocab;
	e->engine.n_embd = (uint32_t)s->n_embd;
	e->engine.adapters = e->loras.sets;
	e->engine.n_adapters = e->loras.n_sets;
	e->engine.step = engine_step;
	e->engine.release = engine_release;
	e->facts.cache_token_bytes = pctl_model_kv_bytes(s);
	return PCTL_OK;
}

pctl_status pctl_model_engine_open(pctl_installation *in, const pctl_model_engine_options *o,
				   const pctl_call *call, pctl_model_engine **out)
{
	pctl_model_engine *e = calloc(1, sizeof(*e));
	pctl_status status;

	*out = NULL;
	if (e == NULL)
		return pctl_no_memory(call, "an engine");
	e->in = in;
	e->request = o->request;
	e->arena = pctl_arena_create();
	e->cids = pctl_map_create();
	status = e->arena == NULL || e->cids == NULL ? pctl_no_memory(call, "an engine")
						     : open_all(e, o, call);
	if (status != PCTL_OK)
		pctl_model_engine_close(e);
	else
		*out = e;
	return status;
}

void pctl_model_engine_close(pctl_model_engine *e)
{
	if (e == NULL)
		return;
	engine_close_sizes(e);
	pctl_scratch_drop(e->scratch);
	pctl_model_words_close(&e->words);
	engine_close_loras(e);
	pctl_model_close(e->model);
	pctl_map_destroy(e->cids);
	pctl_arena_destroy(e->arena);
	free(e);
}

const pctl_engine *pctl_model_engine_of(pctl_model_engine *e)
{
	return &e->engine;
}

const pctl_model *pctl_model_engine_model(const pctl_model_engine *e)
{
	return e->model;
}

const pctl_tokenizer *pctl_model_engine_tokenizer(const pctl_model_engine *e)
{
	return e->words.tokenizer;
}

pctl_status pctl_model_engine_warm(pctl_model_engine *e, uint32_t gives, const pctl_call *call)
{
	engine_size *z;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i <= e->loras.n_sets; i++) {
		status = engine_size_of(e, 1, 1, gives, i, call, &z);
		if (status == PCTL_OK && e->engine.n_slots > 1)
			status = engine_size_of(e, e->engine.n_slots, 1, gives, i, call, &z);
		if (status == PCTL_OK && e->engine.max_chunk > 1)
			status = engine_size_of(e, 1, e->engine.max_chunk, gives, i, call, &z);
	}
	return status;
}

void pctl_model_engine_on_logits(pctl_model_engine *e, pctl_logits_sink sink, void *ctx)
{
	e->sink = sink;
	e->sink_ctx = ctx;
}

void pctl_model_engine_facts_of(const pctl_model_engine *e, pctl_model_engine_facts *out)
{
	*out = e->facts;
}
