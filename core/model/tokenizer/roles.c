/* Which tokens begin a text, end it, fill it up, and at which generation ends: by well-known names, then as tokenizer_config.json
 * says. */
#include <string.h>

#include "model/tokenizer/json_private.h"

/* The first that is there and special counts; so in Llama 3, Qwen, Mistral, Gemma and Llama 2, in this order of precedence. */
static const char *const names[PCTL_TOKEN_ROLES][8] = {
	[PCTL_TOKEN_BOS] = {"<|begin_of_text|>", "<bos>", "<s>"},
	[PCTL_TOKEN_EOS] = {"<|end_of_text|>", "<|im_end|>", "<eos>", "</s>", "<|endoftext|>"},
	[PCTL_TOKEN_PAD] = {"<|finetune_right_pad_id|>", "<pad>", "[PAD]", "<|endoftext|>"},
	[PCTL_TOKEN_UNK] = {"<unk>"},
};

/* A turn of a chat or a text ends with one of these. */
static const char *const ends[] = {"<|end_of_text|>", "<|eot_id|>",    "<|eom_id|>",
				   "<|im_end|>",      "<|endoftext|>", "<end_of_turn>",
				   "<eos>",	      "</s>",	       "<|end|>"};

static uint32_t special_named(const pctl_tokenizer *t, const char *name)
{
	const uint32_t id = pctl_tokenizer_find(t, name, strlen(name));

	if (id == PCTL_TOKEN_NONE ||
	    (t->tokens[id].kind != PCTL_TOKEN_SPECIAL && t->tokens[id].kind != PCTL_TOKEN_UNKNOWN))
		return PCTL_TOKEN_NONE;
	return id;
}

void tokenizer_mark_ends(pctl_tokenizer *t)
{
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const uint32_t id = special_named(t, ends[i]);

		if (id != PCTL_TOKEN_NONE)
			t->ends[id] = 1;
	}
	if (t->roles[PCTL_TOKEN_EOS] != PCTL_TOKEN_NONE)
		t->ends[t->roles[PCTL_TOKEN_EOS]] = 1;
}

void tokenizer_name_roles(pctl_tokenizer *t)
{
	if (t->roles[PCTL_TOKEN_UNK] == PCTL_TOKEN_NONE)
		t->roles[PCTL_TOKEN_UNK] = t->unknown;
	for (uint32_t r = 0; r < PCTL_TOKEN_ROLES; r++)
		for (uint32_t i = 0; i < 8 && names[r][i] != NULL; i++)
			if (t->roles[r] == PCTL_TOKEN_NONE)
				t->roles[r] = special_named(t, names[r][i]);
	tokenizer_mark_ends(t);
}

static pctl_status role(pctl_tokenizer *t, const char *name, const cJSON *j, const char *key,
			pctl_token_role r, const pctl_call *call)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(j, key), *content = value;
	uint32_t id;

	if (value == NULL || cJSON_IsNull(value))
		return PCTL_OK;
	if (cJSON_IsObject(value))
		content = cJSON_GetObjectItemCaseSensitive(value, "content");
	if (!cJSON_IsString(content))
		return pctl_refuse(call, PC7001_TOKENIZER_FILE, "%s: %s is no token", name, key);
	id = pctl_tokenizer_find(t, content->valuestring, strlen(content->valuestring));
	if (id == PCTL_TOKEN_NONE)
		return pctl_refuse(call, PC7003_TOKENIZER_VOCABULARY,
				   "%s: %s is \"%.100s\", which is no token of this vocabulary",
				   name, key, content->valuestring);
	t->roles[r] = id;
	return PCTL_OK;
}

/* add_bos_token and its like: -1 where the file does not say. */
static pctl_status add(const char *name, const cJSON *j, const char *key, const pctl_call *call,
		       int *out)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(j, key);

	*out = -1;
	if (value == NULL || cJSON_IsNull(value))
		return PCTL_OK;
	if (!cJSON_IsBool(value))
		return pctl_refuse(call, PC7001_TOKENIZER_FILE, "%s: %s is neither true nor false",
				   name, key);
	*out = cJSON_IsTrue(value);
	return PCTL_OK;
}

/* What is said twice is said by nobody knows which. */
static pctl_status once(const char *name, const cJSON *j, const pctl_call *call)
{
	static const char *const keys[] = {"bos_token",	    "eos_token",     "pad_token",
					   "add_bos_token", "add_eos_token", "chat_template"};
	const cJSON *item;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		uint32_t n = 0;

		cJSON_ArrayForEach(item, j) n += strcmp(item->string, keys[i]) == 0;
		if (n > 1)
			return pctl_refuse(call, PC7001_TOKENIZER_FILE, "%s: %s stands there twice",
					   name, keys[i]);
	}
	return PCTL_OK;
}

static pctl_status configure(pctl_tokenizer *t, const char *name, const cJSON *j,
			     const pctl_call *call)
{
	const uint32_t *bos = &t->roles[PCTL_TOKEN_BOS], *eos = &t->roles[PCTL_TOKEN_EOS];
	int before = -1, behind = -1;
	pctl_status status = once(name, j, call);

	if (status == PCTL_OK)
		status = role(t, name, j, "bos_token", PCTL_TOKEN_BOS, call);
	if (status == PCTL_OK)
		status = role(t, name, j, "eos_token", PCTL_TOKEN_EOS, call);
	if (status == PCTL_OK)
		status = role(t, name, j, "pad_token", PCTL_TOKEN_PAD, call);
	if (status == PCTL_OK)
		status = add(name, j, "add_bos_token", call, &before);
	if (status == PCTL_OK)
		status = add(name, j, "add_eos_token", call, &behind);
	if (status != PCTL_OK)
		return status;
	if ((before == 1 && *bos == PCTL_TOKEN_NONE) || (behind == 1 && *eos == PCTL_TOKEN_NONE))
		return pctl_refuse(call, PC7003_TOKENIZER_VOCABULARY,
				   "%s: a token is to be added that is not named", name);
	if ((before >= 0 || behind >= 0) &&
	    !tokenizer_surround(
		    t, before < 0 ? t->before : bos, before < 0 ? t->n_before : (uint32_t)before,
		    behind < 0 ? t->behind : eos, behind < 0 ? t->n_behind : (uint32_t)behind))
		return pctl_no_memory(call, "a tokenizer");
	tokenizer_mark_ends(t);
	return PCTL_OK;
}

pctl_status pctl_tokenizer_configure(pctl_tokenizer *t, const char *name, const char *text,
				     size_t n, const pctl_call *call)
{
	cJSON *j;
	pctl_status status = json_parse(name, text, n, call, &j);

	if (status != PCTL_OK)
		return status;
	if (cJSON_IsObject(j))
		status = configure(t, name, j, call);
	else
		status = pctl_refuse(call, PC7001_TOKENIZER_FILE, "%s: this is no JSON object",
				     name);
	cJSON_Delete(j);
	return status;
}
