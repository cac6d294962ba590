/* The text side of an engine: the model's tokenizer and chat template, or those that were asked for. */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "foundation/base/file.h"
#include "model/generate/private.h"

#define CONFIG_MAX (4u << 20)

/* A file of the model's folder, or nothing where it is not there. */
static pctl_status read_beside(const pctl_model_engine *e, const char *name, uint64_t limit,
			       const pctl_call *call, char **path, char **out, uint64_t *n)
{
	const char *folder = pctl_model_folder(e->model);
	pctl_status status = PCTL_OK;

	*out = NULL;
	*n = 0;
	*path = folder == NULL ? NULL : pctl_path_join(folder, name);
	if (folder != NULL && *path == NULL)
		return pctl_no_memory(call, "a path");
	if (*path != NULL && pctl_file_exists(*path))
		status = pctl_file_read(*path, limit, call, out, n);
	return status;
}

static pctl_status from_file(pctl_model_engine *e, const char *path, const pctl_call *call)
{
	char *text = NULL;
	uint64_t n;
	pctl_status status = pctl_file_read(path, PCTL_TOKENIZER_FILE_MAX, call, &text, &n);

	if (status == PCTL_OK)
		status = pctl_tokenizer_read(path, text, n, call, &e->tokenizer);
	free(text);
	return status;
}

static uint32_t id_of(int64_t id)
{
	return id < 0 || id >= PCTL_TOKEN_NONE ? PCTL_TOKEN_NONE : (uint32_t)id;
}

static pctl_token_text *texts_of(const pctl_gguf_strings *s)
{
	pctl_token_text *out = calloc(s->n + 1, sizeof(*out));

	for (uint64_t i = 0; out != NULL && i < s->n; i++)
		out[i] = (pctl_token_text){s->text[i], s->n_text[i]};
	return out;
}

static pctl_status from_gguf(pctl_model_engine *e, const pctl_model_vocabulary *v,
			     const pctl_call *call)
{
	pctl_token_text *tokens = texts_of(&v->tokens), *merges = texts_of(&v->merges);
	const pctl_tokenizer_arrays a = {.name = pctl_model_path(e->model),
					 .model = v->kind,
					 .pre = v->pre,
					 .tokens = tokens,
					 .scores = v->scores,
					 .types = v->types,
					 .n_tokens = (uint32_t)v->tokens.n,
					 .merges = merges,
					 .n_merges = (uint32_t)v->merges.n,
					 .bos = id_of(v->bos),
					 .eos = id_of(v->eos),
					 .pad = id_of(v->pad),
					 .unknown = id_of(v->unk),
					 .add_bos = v->add_bos,
					 .add_eos = v->add_eos,
					 .add_space_prefix = v->add_space_prefix};
	pctl_status status = tokens == NULL || merges == NULL
				     ? pctl_no_memory(call, "a vocabulary")
				     : pctl_tokenizer_of_arrays(&a, call, &e->tokenizer);

	free(tokens);
	free(merges);
	return status;
}

/* The template that a tokenizer_config.json holds: a string, or of a list the one called "default". */
static pctl_status template_of_config(pctl_model_engine *e, const char *path, const char *text,
				      uint64_t n, const pctl_call *call)
{
	cJSON *all = cJSON_ParseWithLength(text, n);
	const cJSON *t = cJSON_GetObjectItemCaseSensitive(all, "chat_template"), *entry;
	pctl_status status = PCTL_OK;

	if (all == NULL)
		status = pctl_refuse(call, PC6288_MODEL_TOKENIZER, "%s is no JSON", path);
	if (cJSON_IsArray(t)) {
		const cJSON *list = t;

		t = NULL;
		cJSON_ArrayForEach(entry, list)
		{
			const cJSON *name = cJSON_GetObjectItemCaseSensitive(entry, "name");

			if (cJSON_IsString(name) && strcmp(name->valuestring, "default") == 0)
				t = cJSON_GetObjectItemCaseSensitive(entry, "template");
		}
	}
	if (cJSON_IsString(t))
		status = pctl_template_recognise(t->valuestring, strlen(t->valuestring), call,
						 &e->template_);
	cJSON_Delete(all);
	return status;
}

static pctl_status open_folder(pctl_model_engine *e, const char *tokenizer, int wants_template,
			       const pctl_call *call)
{
	char *path = NULL, *text = NULL;
	uint64_t n;
	pctl_status status;

	if (tokenizer == NULL) {
		status = read_beside(e, "tokenizer.json", PCTL_TOKENIZER_FILE_MAX, call, &path,
				     &text, &n);
		if (status == PCTL_OK)
			status =
				text == NULL
					? pctl_refuse(
						  call, PC6288_MODEL_TOKENIZER,
						  "%s: there is no tokenizer.json beside the model",
						  pctl_model_path(e->model))
					: pctl_tokenizer_read(path, text, n, call, &e->tokenizer);
		free(path);
		free(text);
		if (status != PCTL_OK)
			return status;
	}
	status = read_beside(e, "tokenizer_config.json", CONFIG_MAX, call, &path, &text, &n);
	if (status == PCTL_OK && text != NULL) {
		status = pctl_tokenizer_configure(e->tokenizer, path, text, n, call);
		if (status == PCTL_OK && wants_template)
			status = template_of_config(e, path, text, n, call);
	}
	free(path);
	free(text);
	return status;
}

static pctl_status open_gguf(pctl_model_engine *e, const char *tokenizer, int wants_template,
			     const pctl_call *call)
{
	pctl_model_vocabulary v = {0};
	pctl_status status = pctl_model_vocabulary_read(e->model, call, &v);

	if (status == PCTL_OK && tokenizer == NULL)
		status = from_gguf(e, &v, call);
	if (status == PCTL_OK && wants_template && v.chat_template != NULL)
		status = pctl_template_recognise(v.chat_template, strlen(v.chat_template), call,
						 &e->template_);
	pctl_model_vocabulary_clear(&v);
	return status;
}

/* ---- the engine's calls ---- */

static pctl_status encode(void *self, const char *text, const pctl_call *call, uint32_t **out,
			  uint32_t *n_out)
{
	const pctl_model_engine *e = self;
	pctl_token_ids ids = {0};
	const pctl_status status =
		pctl_tokenizer_encode(e->tokenizer, text, strlen(text),
				      PCTL_ENCODE_BEGIN | PCTL_ENCODE_ADDED, call, &ids);

	*out = status == PCTL_OK ? ids.items : NULL;
	*n_out = ids.n;
	if (status != PCTL_OK)
		free(ids.items);
	return status;
}

static pctl_status chat(void *self, const pctl_engine_message *messages, uint32_t n,
			const pctl_call *call, uint32_t **out, uint32_t *n_out)
{
	const pctl_model_engine *e = self;
	pctl_message *all = calloc(n + 1ull, sizeof(*all));
	pctl_token_ids ids = {0};
	pctl_status status;

	*out = NULL;
	if (all == NULL)
		return pctl_no_memory(call, "messages");
	for (uint32_t i = 0; i < n; i++)
		all[i] = (pctl_message){messages[i].role,
					{messages[i].content, strlen(messages[i].content)}};
	status = pctl_template_encode(e->template_, e->tokenizer, all, n, PCTL_TEMPLATE_PROMPT,
				      call, &ids);
	free(all);
	if (status == PCTL_OK)
		*out = ids.items;
	else
		free(ids.items);
	*n_out = ids.n;
	return status;
}

static void piece(void *self, uint32_t before, uint32_t token, const char **out, uint32_t *n_out)
{
	const pctl_model_engine *e = self;
	pctl_token_text bytes = {"", 0};
	const pctl_token_kind kind = pctl_tokenizer_token(e->tokenizer, token, &bytes);

	(void)before;
	if (kind == PCTL_TOKEN_HOLE || kind == PCTL_TOKEN_SPECIAL || kind == PCTL_TOKEN_UNUSED)
		bytes = (pctl_token_text){"", 0};
	*out = bytes.text;
	*n_out = (uint32_t)bytes.n;
}

static uint32_t is_end(void *self, uint32_t token)
{
	const pctl_model_engine *e = self;

	return (uint32_t)pctl_tokenizer_ends(e->tokenizer, token);
}

pctl_status engine_open_text(pctl_model_engine *e, const pctl_model_engine_options *o,
			     const pctl_call *call)
{
	const uint64_t n_vocab = pctl_model_shape_of(e->model)->n_vocab;
	pctl_status status = PCTL_OK;

	if (o->tokenizer != NULL)
		status = from_file(e, o->tokenizer, call);
	if (status == PCTL_OK)
		status = pctl_model_folder(e->model) != NULL
				 ? open_folder(e, o->tokenizer, o->family == NULL, call)
				 : open_gguf(e, o->tokenizer, o->family == NULL, call);
	if (status == PCTL_OK && o->family != NULL)
		status = pctl_template_named(o->family, call, &e->template_);
	if (status == PCTL_OK && pctl_tokenizer_size(e->tokenizer) > n_vocab)
		status = pctl_refuse(call, PC6288_MODEL_TOKENIZER,
				     "%s: the tokenizer has %u tokens, the model %llu",
				     pctl_model_path(e->model), pctl_tokenizer_size(e->tokenizer),
				     (unsigned long long)n_vocab);
	e->engine.encode = encode;
	e->engine.chat = e->template_ == NULL ? NULL : chat;
	e->engine.piece = piece;
	e->engine.is_end = is_end;
	return status;
}
