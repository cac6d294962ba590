/* Opening the words of a model; see words.h. */
#include "model/generate/words.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "foundation/base/file.h"
#include "foundation/diag/diag.h"

#define CONFIG_MAX (4u << 20)

/* A file of the model's folder, or nothing where it is not there. */
static pctl_status read_beside(const pctl_model *m, const char *name, uint64_t limit,
			       const pctl_call *call, char **path, char **out, uint64_t *n)
{
	const char *folder = pctl_model_folder(m);
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

static pctl_status from_file(pctl_model_words *w, const char *path, const pctl_call *call)
{
	char *text = NULL;
	uint64_t n;
	pctl_status status = pctl_file_read(path, PCTL_TOKENIZER_FILE_MAX, call, &text, &n);

	if (status == PCTL_OK)
		status = pctl_tokenizer_read(path, text, n, call, &w->tokenizer);
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

static pctl_status from_gguf(const pctl_model *m, const pctl_model_vocabulary *v,
			     pctl_model_words *w, const pctl_call *call)
{
	pctl_token_text *tokens = texts_of(&v->tokens), *merges = texts_of(&v->merges);
	const pctl_tokenizer_arrays a = {.name = pctl_model_path(m),
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
					 .eot = id_of(v->eot),
					 .pad = id_of(v->pad),
					 .unknown = id_of(v->unk),
					 .add_bos = v->add_bos,
					 .add_eos = v->add_eos,
					 .add_space_prefix = v->add_space_prefix};
	pctl_status status = tokens == NULL || merges == NULL
				     ? pctl_no_memory(call, "a vocabulary")
				     : pctl_tokenizer_of_arrays(&a, call, &w->tokenizer);

	free(tokens);
	free(merges);
	return status;
}

/* The template that a tokenizer_config.json holds: a string, or of a list the one called "default". */
static pctl_status template_of_config(pctl_model_words *w, const char *path, const char *text,
				      uint64_t n, const pctl_call *call)
{
	cJSON *all = cJSON_ParseWithLength(text, n);
	const cJSON *t = cJSON_GetObjectItemCaseSensitive(all, "chat_template"), *entry;
	pctl_status status = PCTL_OK;

	if (all == NULL)
		status = pctl_refuse(call, PC6288_MODEL_TOKENIZER, "%s is no JSON", path);
	if (t != NULL && !cJSON_IsNull(t) && !cJSON_IsString(t) && !cJSON_IsArray(t))
		status =
			pctl_refuse(call, PC6288_MODEL_TOKENIZER,
				    "%s: chat_template is neither a text nor a list of them", path);
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
	if (status == PCTL_OK && cJSON_IsString(t))
		status = pctl_template_recognise(t->valuestring, strlen(t->valuestring), call,
						 &w->template_);
	cJSON_Delete(all);
	return status;
}

/* Since 2024 the template lies in a file of its own, which goes before what tokenizer_config.json says. */
static pctl_status template_of_file(const pctl_model *m, pctl_model_words *w, const pctl_call *call)
{
	char *path = NULL, *text = NULL;
	uint64_t n;
	pctl_status status =
		read_beside(m, "chat_template.jinja", CONFIG_MAX, call, &path, &text, &n);

	if (status == PCTL_OK && text != NULL)
		status = pctl_template_recognise(text, n, call, &w->template_);
	free(path);
	free(text);
	return status;
}

static pctl_status open_folder(const pctl_model *m, const char *tokenizer, int wants_template,
			       pctl_model_words *w, const pctl_call *call)
{
	char *path = NULL, *text = NULL;
	uint64_t n;
	pctl_status status;

	if (tokenizer == NULL) {
		status = read_beside(m, "tokenizer.json", PCTL_TOKENIZER_FILE_MAX, call, &path,
				     &text, &n);
		if (status == PCTL_OK)
			status =
				text == NULL
					? pctl_refuse(
						  call, PC6288_MODEL_TOKENIZER,
						  "%s: there is no tokenizer.json beside the model",
						  pctl_model_path(m))
					: pctl_tokenizer_read(path, text, n, call, &w->tokenizer);
		free(path);
		free(text);
		if (status != PCTL_OK)
			return status;
	}
	if (wants_template) {
		status = template_of_file(m, w, call);
		if (status != PCTL_OK)
			return status;
	}
	status = read_beside(m, "tokenizer_config.json", CONFIG_MAX, call, &path, &text, &n);
	if (status == PCTL_OK && text != NULL) {
		status = pctl_tokenizer_configure(w->tokenizer, path, text, n, call);
		if (status == PCTL_OK && wants_template && w->template_ == NULL)
			status = template_of_config(w, path, text, n, call);
	}
	free(path);
	free(text);
	return status;
}

static pctl_status open_gguf(const pctl_model *m, const char *tokenizer, int wants_template,
			     pctl_model_words *w, const pctl_call *call)
{
	pctl_model_vocabulary v = {0};
	pctl_status status = pctl_model_vocabulary_read(m, call, &v);

	if (status == PCTL_OK && tokenizer == NULL)
		status = from_gguf(m, &v, w, call);
	if (status == PCTL_OK && wants_template && v.chat_template != NULL)
		status = pctl_template_recognise(v.chat_template, strlen(v.chat_template), call,
						 &w->template_);
	pctl_model_vocabulary_clear(&v);
	return status;
}

pctl_status pctl_model_words_open(const pctl_model *m, const char *tokenizer, const char *family,
				  const pctl_call *call, pctl_model_words *out)
{
	const uint64_t n_vocab = pctl_model_shape_of(m)->n_vocab;
	pctl_status status = PCTL_OK;

	memset(out, 0, sizeof(*out));
	if (tokenizer != NULL)
		status = from_file(out, tokenizer, call);
	if (status == PCTL_OK)
		status = pctl_model_folder(m) != NULL
				 ? open_folder(m, tokenizer, family == NULL, out, call)
				 : open_gguf(m, tokenizer, family == NULL, out, call);
	if (status == PCTL_OK && family != NULL)
		status = pctl_template_named(family, call, &out->template_);
	/* The model's own may be one that nobody asks for; this one somebody did. */
	if (status == PCTL_OK && family != NULL)
		status = pctl_template_fits(out->template_, out->tokenizer, call);
	if (status == PCTL_OK)
		status = pctl_tokenizer_within(out->tokenizer, n_vocab, pctl_model_path(m), call);
	return status;
}

/* A GGUF file may be for those who have tokens, and a folder without its tokenizer too. */
static pctl_status has_words(const pctl_model *m, const pctl_call *call, int *out)
{
	const char *file;
	char *path;

	*out = pctl_model_folder(m) == NULL &&
	       pctl_tensor_file_key(pctl_model_tensor_file(m, 0, &file), "tokenizer.ggml.tokens") !=
		       NULL;
	if (pctl_model_folder(m) == NULL)
		return PCTL_OK;
	path = pctl_path_join(pctl_model_folder(m), "tokenizer.json");
	if (path == NULL)
		return pctl_no_memory(call, "a path");
	*out = pctl_file_exists(path);
	free(path);
	return PCTL_OK;
}

pctl_status pctl_model_words_check(const pctl_model *m, const pctl_call *call)
{
	pctl_model_words words = {0};
	int is_there;
	pctl_status status = has_words(m, call, &is_there);

	if (status == PCTL_OK && is_there)
		status = pctl_model_words_open(m, NULL, NULL, call, &words);
	pctl_model_words_close(&words);
	return status;
}

void pctl_model_words_close(pctl_model_words *w)
{
	pctl_tokenizer_destroy(w->tokenizer);
	memset(w, 0, sizeof(*w));
}

pctl_status pctl_model_words_encode(const pctl_model_words *w, const char *text, size_t n,
				    uint32_t flags, const pctl_call *call, pctl_token_ids *out)
{
	pctl_status status;

	memset(out, 0, sizeof(*out));
	status = pctl_tokenizer_encode(w->tokenizer, text, n, flags, call, out);
	if (status != PCTL_OK) {
		free(out->items);
		memset(out, 0, sizeof(*out));
	}
	return status;
}

pctl_status pctl_model_words_chat(const pctl_model_words *w, const pctl_message *messages,
				  uint32_t n, uint32_t flags, const pctl_call *call,
				  pctl_token_ids *out)
{
	pctl_status status;

	memset(out, 0, sizeof(*out));
	if (w->template_ == NULL)
		return pctl_refuse_at(call, PC7021_TEMPLATE_FAMILY, NULL,
				      "a family of chat templates can be named",
				      "the model has no chat template that is known");
	status = pctl_template_encode(w->template_, w->tokenizer, messages, n, flags, call, out);
	if (status != PCTL_OK) {
		free(out->items);
		memset(out, 0, sizeof(*out));
	}
	return status;
}
