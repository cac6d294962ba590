/* tokenizer.json, read: model and added_tokens. */
#include <inttypes.h>
#include <string.h>

#include "model/tokenizer/json_private.h"

#define NONE PCTL_TOKEN_NONE
#define HOLES_MAX 65536u /* ids may leave out so many */

/* A token of the model's vocabulary. `room`: ids are below it. */
static pctl_status put(json_reader *r, const char *text, uint32_t id, uint32_t room, double score)
{
	const size_t n = strlen(text);
	const pctl_token_kind kind = r->t->byte_fallback && byte_token(text, n) >= 0
					     ? PCTL_TOKEN_BYTE
					     : PCTL_TOKEN_NORMAL;

	if (id >= room)
		return pctl_refuse(r->call, PC7003_TOKENIZER_VOCABULARY,
				   "%s: id %" PRIu32 " is far above the number of tokens", r->name,
				   id);
	if (id < r->t->n && r->t->tokens[id].kind != PCTL_TOKEN_HOLE)
		return pctl_refuse(r->call, PC7003_TOKENIZER_VOCABULARY,
				   "%s: two tokens have the id %" PRIu32, r->name, id);
	if (!tokenizer_put(r->t, id, text, n, kind, score))
		return pctl_no_memory(r->call, "a vocabulary");
	r->t->tokens[id].in_model = 1;
	return PCTL_OK;
}

/* All tokens by their texts, none twice. */
static pctl_status index_all(const json_reader *r, token_table *all)
{
	for (uint32_t id = 0; id < r->t->n; id++) {
		uint32_t had = NONE;

		if (r->t->tokens[id].kind == PCTL_TOKEN_HOLE)
			continue;
		if (!token_table_put(all, r->t->n, r->t->tokens, id, &had))
			return pctl_no_memory(r->call, "a vocabulary");
		if (had != NONE)
			return pctl_refuse(r->call, PC7003_TOKENIZER_VOCABULARY,
					   "%s: the tokens %" PRIu32 " and %" PRIu32
					   " are written alike",
					   r->name, had, id);
	}
	return PCTL_OK;
}

static pctl_status vocabulary(json_reader *r, const cJSON *vocab, uint32_t room)
{
	const cJSON *item;
	uint32_t n = 0;
	pctl_status status = PCTL_OK;

	cJSON_ArrayForEach(item, vocab)
	{
		if (r->t->kind == MODEL_UNIGRAM) {
			const cJSON *text = cJSON_GetArrayItem(item, 0),
				    *score = cJSON_GetArrayItem(item, 1);

			if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) != 2 ||
			    !cJSON_IsString(text) || !cJSON_IsNumber(score))
				return json_malformed(r, "model.vocab",
						      "an entry is no pair of text and score");
			status = put(r, text->valuestring, n++, room, score->valuedouble);
		} else {
			if (!json_id(item, &n))
				return json_malformed(r, "model.vocab", "an id is no whole number");
			status = put(r, item->string, n, room, 0.0);
		}
		if (status != PCTL_OK)
			return status;
	}
	return PCTL_OK;
}

static pctl_status one_merge(json_reader *r, const token_table *all, const char *left,
			     size_t n_left, const char *right, size_t n_right)
{
	pctl_str_buf joined = PCTL_STR_BUF_INIT;
	const uint32_t l = token_table_get(all, r->t->tokens, left, n_left),
		       m = token_table_get(all, r->t->tokens, right, n_right);
	pctl_status status = PCTL_OK;
	uint32_t both = NONE;

	pctl_str_add_n(&joined, left, n_left);
	pctl_str_add_n(&joined, right, n_right);
	if (!joined.failed)
		both = token_table_get(all, r->t->tokens, joined.data, joined.n);
	if (joined.failed)
		status = pctl_no_memory(r->call, "merges");
	else if (l == NONE || m == NONE || both == NONE)
		status = pctl_refuse(r->call, PC7003_TOKENIZER_VOCABULARY,
				     "%s: the vocabulary has not all tokens of the merge \"%.60s\"",
				     r->name, joined.data);
	else if (!tokenizer_add_merge(r->t, l, m, both))
		status = pctl_no_memory(r->call, "merges");
	pctl_str_drop(&joined);
	return status;
}

static pctl_status merges(json_reader *r, const cJSON *list, const token_table *all)
{
	const cJSON *item;
	pctl_status status = PCTL_OK;

	if (!cJSON_IsArray(list))
		return json_malformed(r, "model.merges", "this is no list");
	cJSON_ArrayForEach(item, list)
	{
		const cJSON *left = cJSON_GetArrayItem(item, 0),
			    *right = cJSON_GetArrayItem(item, 1);

		if (cJSON_IsString(item)) {
			const char *text = item->valuestring, *blank = strchr(text, ' ');

			if (blank == NULL || strchr(blank + 1, ' ') != NULL)
				return json_malformed(r, "model.merges",
						      "an entry has not two parts");
			status = one_merge(r, all, text, (size_t)(blank - text), blank + 1,
					   strlen(blank + 1));
		} else if (cJSON_GetArraySize(item) == 2 && cJSON_IsString(left) &&
			   cJSON_IsString(right)) {
			status = one_merge(r, all, left->valuestring, strlen(left->valuestring),
					   right->valuestring, strlen(right->valuestring));
		} else {
			return json_malformed(r, "model.merges", "an entry has not two parts");
		}
		if (status != PCTL_OK)
			return status;
	}
	return PCTL_OK;
}

/* ---- added tokens ---- */

static pctl_status one_added(json_reader *r, const cJSON *j, uint32_t room)
{
	static const char *const switches[] = {"single_word", "lstrip"};
	const cJSON *content = json_get(j, "content");
	int is_special, normalised, strips = 0, on;
	uint32_t id;
	size_t n;
	pctl_status status = json_object(r, "added_tokens", j,
					 "id content single_word lstrip rstrip normalized special");

	for (size_t i = 0; i < 2 && status == PCTL_OK; i++) {
		status = json_bool(r, "added_tokens", j, switches[i], 0, &on);
		if (status == PCTL_OK && on)
			status = json_unknown(r, "added_tokens", "a token with", switches[i]);
	}
	if (status == PCTL_OK)
		status = json_bool(r, "added_tokens", j, "rstrip", 0, &strips);
	if (status == PCTL_OK)
		status = json_bool(r, "added_tokens", j, "special", 0, &is_special);
	if (status == PCTL_OK)
		status = json_bool(r, "added_tokens", j, "normalized", !is_special, &normalised);
	if (status != PCTL_OK)
		return status;
	if (!cJSON_IsString(content) || !json_id(json_get(j, "id"), &id))
		return json_malformed(r, "added_tokens", "a token without id or content");
	n = strlen(content->valuestring);
	if (id < r->t->n && r->t->tokens[id].kind != PCTL_TOKEN_HOLE) {
		const pctl_token_text *had = &r->t->tokens[id].text;

		if (had->n != n || memcmp(had->text, content->valuestring, n) != 0 ||
		    r->t->tokens[id].added)
			return pctl_refuse(r->call, PC7003_TOKENIZER_VOCABULARY,
					   "%s: two tokens have the id %" PRIu32, r->name, id);
	} else {
		status = put(r, content->valuestring, id, room, 0.0);
		if (status != PCTL_OK)
			return status;
		r->t->tokens[id].in_model = 0;
	}
	r->t->tokens[id].kind = is_special ? PCTL_TOKEN_SPECIAL : PCTL_TOKEN_ADDED;
	r->t->tokens[id].added = 1;
	r->t->tokens[id].normalised = (uint8_t)normalised;
	r->t->tokens[id].strips = (uint8_t)strips;
	return PCTL_OK;
}

static pctl_status added_tokens(json_reader *r, const cJSON *list, uint32_t room)
{
	const cJSON *item;
	pctl_status status = PCTL_OK;

	if (list != NULL && !cJSON_IsArray(list))
		return json_malformed(r, "added_tokens", "this is no list");
	cJSON_ArrayForEach(item, list)
	{
		if (status == PCTL_OK)
			status = one_added(r, item, room);
	}
	return status;
}

/* ---- model ---- */

/* Keys of models of other kinds, which must say nothing here. */
static pctl_status bpe_settings(json_reader *r, const cJSON *j)
{
	static const char *const affixes[] = {"continuing_subword_prefix", "end_of_word_suffix"};
	pctl_status status =
		json_object(r, "model", j,
			    "type dropout unk_token continuing_subword_prefix "
			    "end_of_word_suffix fuse_unk byte_fallback ignore_merges vocab "
			    "merges");

	if (status != PCTL_OK)
		return status;
	if (json_get(j, "dropout") != NULL)
		return json_unknown(r, "model", "a model with", "dropout");
	for (size_t i = 0; i < 2; i++)
		if (json_get(j, affixes[i]) != NULL && !json_is(json_get(j, affixes[i]), ""))
			return json_unknown(r, "model", "a model with", affixes[i]);
	status = json_bool(r, "model", j, "fuse_unk", 0, &r->t->fuse_unknown);
	if (status == PCTL_OK)
		status = json_bool(r, "model", j, "byte_fallback", 0, &r->t->byte_fallback);
	if (status == PCTL_OK)
		status = json_bool(r, "model", j, "ignore_merges", 0, &r->t->ignore_merges);
	if (status == PCTL_OK && r->t->byte_level && r->t->byte_fallback)
		status = json_unknown(r, "model", "together with ByteLevel", "byte_fallback");
	return status;
}

static pctl_status unigram_settings(json_reader *r, const cJSON *j)
{
	pctl_status status = json_object(r, "model", j, "type unk_id vocab byte_fallback");

	r->t->kind = MODEL_UNIGRAM;
	r->t->fuse_unknown = 1;
	if (status == PCTL_OK)
		status = json_bool(r, "model", j, "byte_fallback", 0, &r->t->byte_fallback);
	if (status == PCTL_OK && r->t->byte_level)
		status = json_unknown(r, "model", "behind a ByteLevel a", "Unigram");
	return status;
}

static pctl_status unknown_token(json_reader *r, const cJSON *j, const token_table *all)
{
	const int unigram = r->t->kind == MODEL_UNIGRAM;
	const cJSON *item = json_get(j, unigram ? "unk_id" : "unk_token");
	uint32_t id = NONE;

	if (item == NULL)
		return PCTL_OK;
	if (unigram ? !json_id(item, &id) : !cJSON_IsString(item))
		return json_malformed(r, "model", "the unknown token is none");
	if (!unigram)
		id = token_table_get(all, r->t->tokens, item->valuestring,
				     strlen(item->valuestring));
	if (id >= r->t->n || r->t->tokens[id].kind == PCTL_TOKEN_HOLE)
		return pctl_refuse(r->call, PC7003_TOKENIZER_VOCABULARY,
				   "%s: the unknown token is not in the vocabulary", r->name);
	r->t->unknown = id;
	if (r->t->tokens[id].kind == PCTL_TOKEN_NORMAL)
		r->t->tokens[id].kind = PCTL_TOKEN_UNKNOWN;
	return PCTL_OK;
}

pctl_status json_model(json_reader *r, const cJSON *j, const cJSON *added)
{
	const cJSON *vocab = json_get(j, "vocab");
	const char *type = json_type(j);
	const uint64_t n =
		(uint64_t)cJSON_GetArraySize(vocab) + (uint64_t)cJSON_GetArraySize(added);
	token_table all = {0};
	pctl_status status;
	int unigram;

	if (!cJSON_IsObject(j))
		return json_malformed(r, "model", "there is none");
	if (type == NULL)
		type = json_get(j, "merges") != NULL ? "BPE" : "none"; /* files of old */
	unigram = strcmp(type, "Unigram") == 0;
	if (!unigram && strcmp(type, "BPE") != 0)
		return json_unknown(r, "model", "the type", type);
	status = unigram ? unigram_settings(r, j) : bpe_settings(r, j);
	if (status != PCTL_OK)
		return status;
	if (unigram ? !cJSON_IsArray(vocab) : !cJSON_IsObject(vocab))
		return json_malformed(r, "model.vocab", "this is no vocabulary");
	if (n > PCTL_TOKENIZER_SIZE_MAX)
		return pctl_refuse(r->call, PC7006_TOKENIZER_LIMIT, "%s: %" PRIu64 " tokens",
				   r->name, n);
	status = vocabulary(r, vocab, (uint32_t)n + HOLES_MAX);
	if (status == PCTL_OK)
		status = added_tokens(r, added, (uint32_t)n + HOLES_MAX);
	if (status == PCTL_OK)
		status = index_all(r, &all);
	if (status == PCTL_OK)
		status = unknown_token(r, j, &all);
	if (status == PCTL_OK && !unigram)
		status = merges(r, json_get(j, "merges"), &all);
	token_table_drop(&all);
	return status;
}
