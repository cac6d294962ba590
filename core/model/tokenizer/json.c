/* tokenizer.json, read: the document as a whole. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/json_read.h"
#include "model/tokenizer/json_private.h"

pctl_status json_malformed(const json_reader *r, const char *path, const char *what)
{
	return pctl_refuse(r->call, PC7001_TOKENIZER_FILE, "%s: %s: %s", r->name, path, what);
}

pctl_status json_unknown(const json_reader *r, const char *path, const char *what,
			 const char *value)
{
	return pctl_refuse(r->call, PC7002_TOKENIZER_PART,
			   "%s: %s: %s \"%.200s\" is not known here", r->name, path, what, value);
}

static int has_word(const char *words, const char *word)
{
	const size_t n = strlen(word);

	for (const char *at = words;
	     n != 0 && strchr(word, ' ') == NULL && (at = strstr(at, word)) != NULL; at += n)
		if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
			return 1;
	return 0;
}

pctl_status json_object(const json_reader *r, const char *path, const cJSON *j, const char *keys)
{
	const cJSON *item, *other;

	if (!cJSON_IsObject(j))
		return json_malformed(r, path, "this is no object");
	cJSON_ArrayForEach(item, j)
	{
		if (!has_word(keys, item->string))
			return json_unknown(r, path, "the key", item->string);
		for (other = j->child; other != item; other = other->next)
			if (strcmp(other->string, item->string) == 0)
				return json_malformed(r, path, "a key stands there twice");
	}
	return PCTL_OK;
}

const char *json_type(const cJSON *j)
{
	const cJSON *type = cJSON_GetObjectItemCaseSensitive(j, "type");

	return cJSON_IsString(type) ? type->valuestring : NULL;
}

const cJSON *json_get(const cJSON *j, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(j, key);

	return cJSON_IsNull(item) ? NULL : item;
}

pctl_status json_bool(const json_reader *r, const char *path, const cJSON *j, const char *key,
		      int missing, int *out)
{
	const cJSON *item = json_get(j, key);

	*out = missing;
	if (item == NULL)
		return PCTL_OK;
	if (!cJSON_IsBool(item))
		return json_malformed(r, path, "a switch is neither true nor false");
	*out = cJSON_IsTrue(item);
	return PCTL_OK;
}

int json_id(const cJSON *j, uint32_t *out)
{
	if (!cJSON_IsNumber(j) || !(j->valuedouble >= 0) || j->valuedouble >= (double)UINT32_MAX ||
	    (double)(uint32_t)j->valuedouble != j->valuedouble)
		return 0;
	*out = (uint32_t)j->valuedouble;
	return 1;
}

int json_is(const cJSON *j, const char *text)
{
	return cJSON_IsString(j) && strcmp(j->valuestring, text) == 0;
}

static pctl_status document(json_reader *r, const cJSON *j)
{
	pctl_status status = json_object(r, "the document", j,
					 "version truncation padding added_tokens normalizer "
					 "pre_tokenizer post_processor decoder model");

	if (status != PCTL_OK)
		return status;
	if (json_get(j, "version") != NULL && !json_is(json_get(j, "version"), "1.0"))
		return json_malformed(r, "version", "this is not \"1.0\"");
	if (json_get(j, "truncation") != NULL)
		return json_unknown(r, "the document", "a file that asks for", "truncation");
	if (json_get(j, "padding") != NULL)
		return json_unknown(r, "the document", "a file that asks for", "padding");
	status = json_normalizer(r, json_get(j, "normalizer"));
	if (status == PCTL_OK)
		status = json_pre_tokenizer(r, json_get(j, "pre_tokenizer"));
	if (status == PCTL_OK)
		status = json_decoder(r, json_get(j, "decoder"));
	if (status == PCTL_OK && r->decoder_bytes != r->t->byte_level)
		status = json_malformed(r, "decoder",
					"it is of another kind than the pre_tokenizer");
	if (status == PCTL_OK)
		status = json_model(r, json_get(j, "model"), json_get(j, "added_tokens"));
	if (status == PCTL_OK)
		status = json_post_processor(r, json_get(j, "post_processor"));
	return status == PCTL_OK ? tokenizer_finish(r->t, r->name, r->call) : status;
}

pctl_status json_parse(const char *name, const char *text, size_t n, const pctl_call *call,
		       cJSON **out)
{
	const char *why;
	size_t bad;

	*out = NULL;
	if (n > PCTL_TOKENIZER_FILE_MAX)
		return pctl_refuse(call, PC7006_TOKENIZER_LIMIT, "%s: %zu bytes", name, n);
	if (!pctl_json_good(text, n, &bad, &why))
		return pctl_refuse_at(
			call, PC7001_TOKENIZER_FILE, NULL,
			n >= 4 && memcmp(text, "GGUF", 4) == 0
				? "this is a GGUF file, whose tokenizer `generate` and "
				  "`model serve` use; a tokenizer.json is asked for"
				: NULL,
			"%s: byte %zu: %s", name, bad, why);
	*out = cJSON_ParseWithLength(text, n);
	return *out == NULL ? pctl_no_memory(call, "a tokenizer") : PCTL_OK;
}

pctl_status pctl_tokenizer_read(const char *name, const char *text, size_t n, const pctl_call *call,
				pctl_tokenizer **out)
{
	json_reader r = {.name = name, .call = call};
	cJSON *j;
	pctl_status status = json_parse(name, text, n, call, &j);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	r.t = tokenizer_create();
	status = r.t == NULL ? pctl_no_memory(call, "a tokenizer") : document(&r, j);
	cJSON_Delete(j);
	if (status == PCTL_OK)
		*out = r.t;
	else
		pctl_tokenizer_destroy(r.t);
	return status;
}
