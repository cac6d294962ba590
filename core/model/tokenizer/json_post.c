/* tokenizer.json, read: the post_processor, as far as it says what is put before and behind a text. */
#include <string.h>

#include "model/tokenizer/json_private.h"

#define AROUND_MAX 16u

typedef struct around {
	uint32_t ids[2][AROUND_MAX];
	uint32_t n[2];
	int met; /* the text */
} around;

static pctl_status special(json_reader *r, const cJSON *tokens, const cJSON *item, around *a)
{
	const cJSON *id = json_get(item, "id"), *entry, *number;
	const int side = a->met;

	if (!cJSON_IsString(id))
		return json_malformed(r, "post_processor", "a SpecialToken without id");
	entry = json_get(tokens, id->valuestring);
	if (!cJSON_IsArray(json_get(entry, "ids")))
		return json_malformed(r, "post_processor",
				      "special_tokens does not have a token of single");
	cJSON_ArrayForEach(number, json_get(entry, "ids"))
	{
		uint32_t n;

		if (!json_id(number, &n) || n >= r->t->n || r->t->tokens[n].kind == PCTL_TOKEN_HOLE)
			return json_malformed(r, "post_processor",
					      "an id of special_tokens is no token");
		if (a->n[side] == AROUND_MAX)
			return json_malformed(r, "post_processor",
					      "more than 16 tokens around a text");
		a->ids[side][a->n[side]++] = n;
	}
	return PCTL_OK;
}

static pctl_status template(json_reader *r, const cJSON *j)
{
	const cJSON *single = json_get(j, "single"), *item;
	around a = {0};
	pctl_status status = json_object(r, "post_processor", j, "type single pair special_tokens");

	if (status == PCTL_OK && !cJSON_IsArray(single))
		return json_malformed(r, "post_processor", "a TemplateProcessing without single");
	if (status == PCTL_OK && cJSON_GetArraySize(single) > (int)AROUND_MAX)
		return json_malformed(r, "post_processor", "more than 16 parts around a text");
	cJSON_ArrayForEach(item, single)
	{
		if (status != PCTL_OK)
			break;
		if (json_get(item, "SpecialToken") != NULL) {
			status = special(r, json_get(j, "special_tokens"),
					 json_get(item, "SpecialToken"), &a);
		} else if (json_is(json_get(json_get(item, "Sequence"), "id"), "A") && !a.met) {
			a.met = 1;
		} else {
			return json_malformed(r, "post_processor",
					      "single is not special tokens around one text");
		}
	}
	if (status != PCTL_OK)
		return status;
	if (!a.met)
		return json_malformed(r, "post_processor", "single has no text");
	if (r->t->n_before || r->t->n_behind)
		return json_unknown(r, "post_processor", "more than one", "TemplateProcessing");
	return tokenizer_surround(r->t, a.ids[0], a.n[0], a.ids[1], a.n[1])
		       ? PCTL_OK
		       : pctl_no_memory(r->call, "a tokenizer");
}

pctl_status json_post_processor(json_reader *r, const cJSON *j)
{
	const char *type = json_type(j);
	const cJSON *list, *item;
	pctl_status status;

	if (j == NULL)
		return PCTL_OK;
	if (type == NULL)
		return json_malformed(r, "post_processor", "it has no type");
	/* It moves offsets, which are not given here. */
	if (strcmp(type, "ByteLevel") == 0)
		return json_object(r, "post_processor", j,
				   "type add_prefix_space trim_offsets use_regex");
	if (strcmp(type, "TemplateProcessing") == 0)
		return template(r, j);
	if (strcmp(type, "Sequence") != 0)
		return json_unknown(r, "post_processor", "the type", type);
	list = json_get(j, "processors");
	status = json_object(r, "post_processor", j, "type processors");
	if (status == PCTL_OK && !cJSON_IsArray(list))
		return json_malformed(r, "post_processor", "a Sequence without processors");
	cJSON_ArrayForEach(item, list)
	{
		if (status == PCTL_OK)
			status = json_post_processor(r, item);
	}
	return status;
}
