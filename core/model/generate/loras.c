/* Adapters of an engine: opened, held against the model, and named for what answers are a function of with them. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/generate/private.h"

#define NAME_MAX_BYTES 128u

static pctl_status check_name(const pctl_model_engine *e, const char *name, const pctl_call *call)
{
	const size_t n = strlen(name);

	if (n == 0 || n > NAME_MAX_BYTES ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:/") !=
		    n)
		return pctl_refuse(call, PC6299_ADAPTER_USE,
				   "\"%.130s\" is no name of an adapter: 1 to %u letters, digits "
				   "and .-_:/",
				   name, NAME_MAX_BYTES);
	return strcmp(name, e->engine.model_name) == 0
		       ? pctl_refuse(call, PC6299_ADAPTER_USE,
				     "an adapter has the model's own name, \"%s\"", name)
		       : PCTL_OK;
}

/* The number of the set of that name, a new one where there is none. */
static pctl_status set_of(pctl_model_engine *e, const char *name, const pctl_call *call,
			  uint32_t *out)
{
	engine_loras *l = &e->loras;
	const char *known = name == NULL ? "" : name;
	pctl_status status = PCTL_OK;

	for (*out = 1; *out <= l->n_sets; ++*out)
		if (strcmp(l->sets[*out - 1].name, known) == 0)
			return PCTL_OK;
	if (name != NULL)
		status = check_name(e, name, call);
	if (status != PCTL_OK)
		return status;
	l->sets[l->n_sets].name = pctl_arena_dup(e->arena, known);
	return l->sets[l->n_sets++].name == NULL ? pctl_no_memory(call, "an adapter") : PCTL_OK;
}

/* What keeps the CIDs of tensors of adapter `number`. */
typedef struct lora_naming {
	pctl_model_engine *e;
	const pctl_call *call;
	uint32_t number;
} lora_naming;

static pctl_status keep(void *ctx, const char *tensor, const pctl_cid *cid)
{
	const lora_naming *n = ctx;
	char input[PCTL_TENSOR_NAME_MAX + 32];

	snprintf(input, sizeof(input), "lora_%" PRIu32 "/%s", n->number, tensor);
	return engine_keep(n->e, input, cid, n->call);
}

/* A text that has the model and a line for each of a set's adapters, by its CID. */
static pctl_status name_set(pctl_model_engine *e, uint32_t set, const pctl_call *call)
{
	pctl_str_buf all = PCTL_STR_BUF_INIT;
	char text[PCTL_CID_TEXT_SIZE];
	pctl_status status;
	pctl_cid cid;

	pctl_str_addf(&all, "%s\n", e->cid);
	for (uint32_t i = 0; i < e->loras.all.n; i++)
		if (e->loras.all.uses[i].set == set)
			pctl_str_addf(&all, "%s %.9g\n", pctl_cid_format(&e->loras.cids[i], text),
				      (double)e->loras.all.uses[i].by);
	status = all.failed ? pctl_no_memory(call, "an adapter's name")
			    : pctl_cid_of(all.data, all.n, call, &cid);
	pctl_str_drop(&all);
	if (status != PCTL_OK)
		return status;
	e->loras.sets[set - 1].cid = pctl_arena_dup(e->arena, pctl_cid_format(&cid, text));
	return e->loras.sets[set - 1].cid == NULL ? pctl_no_memory(call, "an adapter's name")
						  : PCTL_OK;
}

/* Paths and sets of what is asked for. */
static pctl_status take(pctl_model_engine *e, const pctl_model_engine_options *o,
			const pctl_call *call, pctl_adapter_ask *asks)
{
	pctl_status status = PCTL_OK;
	char path[PATH_MAX];

	for (uint32_t i = 0; status == PCTL_OK && i < o->n_loras; i++) {
		const char *from = o->loras[i].path;

		/* The pipelines that are made of it lie elsewhere. */
		asks[i].path = pctl_arena_dup(e->arena, realpath(from, path) == NULL ? from : path);
		asks[i].by = o->loras[i].by;
		status = asks[i].path == NULL ? pctl_no_memory(call, "a path")
					      : set_of(e, o->loras[i].name, call, &asks[i].set);
	}
	return status;
}

pctl_status engine_open_loras(pctl_model_engine *e, const pctl_model_engine_options *o,
			      const pctl_call *call)
{
	pctl_adapter_ask *asks = pctl_arena_array(e->arena, o->n_loras, sizeof(*asks));
	engine_loras *l = &e->loras;
	pctl_status status;

	l->cids = pctl_arena_array(e->arena, o->n_loras, sizeof(*l->cids));
	l->sets = pctl_arena_array(e->arena, o->n_loras, sizeof(*l->sets));
	if (pctl_arena_failed(e->arena))
		return pctl_no_memory(call, "adapters");
	status = take(e, o, call, asks);
	if (status == PCTL_OK)
		status = pctl_adapters_open(e->model, asks, o->n_loras, call, &l->all);
	for (uint32_t i = 0; status == PCTL_OK && i < l->all.n; i++) {
		lora_naming n = {e, call, i};

		status = pctl_adapter_cid(l->all.opened[i], keep, &n, call, &l->cids[i]);
	}
	for (uint32_t i = 1; status == PCTL_OK && i <= l->n_sets; i++)
		status = name_set(e, i, call);
	return status;
}

void engine_close_loras(pctl_model_engine *e)
{
	pctl_adapters_close(&e->loras.all);
}

const pctl_adapter_use *pctl_model_engine_use(const pctl_model_engine *e, uint32_t i,
					      const pctl_cid **cid)
{
	if (i >= e->loras.all.n)
		return NULL;
	*cid = &e->loras.cids[i];
	return &e->loras.all.uses[i];
}

pctl_status pctl_model_engine_adapter(const pctl_model_engine *e, const char *name,
				      const pctl_call *call, uint32_t *out)
{
	*out = 0;
	if (name == NULL)
		return PCTL_OK;
	for (uint32_t i = 0; i < e->loras.n_sets; i++)
		if (strcmp(e->loras.sets[i].name, name) == 0) {
			*out = i + 1;
			return PCTL_OK;
		}
	return pctl_refuse(call, PC6299_ADAPTER_USE, "there is no adapter \"%.130s\"", name);
}
