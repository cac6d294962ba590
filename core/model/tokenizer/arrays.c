/* A tokenizer of what a GGUF file says. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/tokenizer/private.h"

#define NONE PCTL_TOKEN_NONE

static pctl_status bad(const pctl_tokenizer_arrays *a, const pctl_call *call, const char *what,
		       uint32_t i)
{
	return pctl_refuse(call, PC7003_TOKENIZER_VOCABULARY, "%s: %s %" PRIu32, a->name, what, i);
}

static pctl_status put_tokens(pctl_tokenizer *t, const pctl_tokenizer_arrays *a,
			      const pctl_call *call)
{
	static const pctl_token_kind kinds[] = {
		PCTL_TOKEN_NORMAL, PCTL_TOKEN_NORMAL, PCTL_TOKEN_UNKNOWN, PCTL_TOKEN_SPECIAL,
		PCTL_TOKEN_ADDED,  PCTL_TOKEN_UNUSED, PCTL_TOKEN_BYTE};

	if (a->n_tokens > PCTL_TOKENIZER_SIZE_MAX)
		return pctl_refuse(call, PC7006_TOKENIZER_LIMIT, "%s: %" PRIu32 " tokens", a->name,
				   a->n_tokens);
	for (uint32_t i = 0; i < a->n_tokens; i++) {
		const int32_t type = a->types == NULL ? 1 : a->types[i];

		if (type < 0 || type > 6)
			return bad(a, call, "there is no type such as that of token", i);
		if (!tokenizer_put(t, i, a->tokens[i].text, a->tokens[i].n, kinds[type],
				   a->scores == NULL ? 0.0 : (double)a->scores[i]))
			return pctl_no_memory(call, "a vocabulary");
		t->tokens[i].in_model = 1;
		t->tokens[i].added = a->tokens[i].n != 0 && (kinds[type] == PCTL_TOKEN_SPECIAL ||
							     kinds[type] == PCTL_TOKEN_ADDED);
	}
	return PCTL_OK;
}

/* GGUF does not say which tokens take white space behind them: phi3's do, and are known by its conversations' marks. */
static void mark_phi3(pctl_tokenizer *t)
{
	static const char *const marks[] = {"<|assistant|>", "<|user|>", "<|system|>", "<|end|>"};
	static const char *const others[] = {"<unk>", "<s>", "<|endoftext|>"};
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < 4; k++)
			n += t->tokens[i].kind == PCTL_TOKEN_SPECIAL &&
			     strcmp(t->tokens[i].text.text, marks[k]) == 0;
	for (uint32_t i = 0; n == 4 && i < t->n; i++) {
		t->tokens[i].strips = t->tokens[i].kind == PCTL_TOKEN_SPECIAL;
		for (size_t k = 0; k < 3; k++)
			if (strcmp(t->tokens[i].text.text, others[k]) == 0)
				t->tokens[i].strips = 0;
	}
}

/* "LEFT RIGHT": the blank is the only one, for the alphabet of bytes has none. */
static pctl_status put_merges(pctl_tokenizer *t, const pctl_tokenizer_arrays *a,
			      const pctl_call *call)
{
	token_table all = {0};
	pctl_status status = PCTL_OK;

	if (a->n_merges > 2 * PCTL_TOKENIZER_SIZE_MAX)
		return pctl_refuse(call, PC7006_TOKENIZER_LIMIT, "%s: %" PRIu32 " merges", a->name,
				   a->n_merges);
	for (uint32_t i = 0, had; i < t->n && status == PCTL_OK; i++)
		if (!token_table_put(&all, t->n, t->tokens, i, &had))
			status = pctl_no_memory(call, "a vocabulary");
	for (uint32_t i = 0; i < a->n_merges && status == PCTL_OK; i++) {
		const pctl_token_text *m = &a->merges[i];
		const char *blank = m->n == 0 ? NULL : memchr(m->text + 1, ' ', m->n - 1);
		const size_t left = blank == NULL ? 0 : (size_t)(blank - m->text);
		uint32_t l, r, both = NONE;
		pctl_str_buf joined = PCTL_STR_BUF_INIT;

		if (blank == NULL) {
			status = bad(a, call, "there are no two parts in merge", i);
			break;
		}
		pctl_str_add_n(&joined, m->text, left);
		pctl_str_add_n(&joined, blank + 1, m->n - left - 1);
		l = token_table_get(&all, t->tokens, m->text, left);
		r = token_table_get(&all, t->tokens, blank + 1, m->n - left - 1);
		if (!joined.failed)
			both = token_table_get(&all, t->tokens, joined.data, joined.n);
		if (joined.failed)
			status = pctl_no_memory(call, "merges");
		else if (l == NONE || r == NONE || both == NONE)
			status = bad(a, call, "the vocabulary has not all tokens of merge", i);
		else if (!tokenizer_add_merge(t, l, r, both))
			status = pctl_no_memory(call, "merges");
		pctl_str_drop(&joined);
	}
	token_table_drop(&all);
	return status;
}

/* bos, eos, pad, unknown and what is put before and behind. */
static pctl_status put_roles(pctl_tokenizer *t, const pctl_tokenizer_arrays *a, int bos_before,
			     const pctl_call *call)
{
	const uint32_t ids[PCTL_TOKEN_ROLES] = {a->bos, a->eos, a->pad, a->unknown};
	const int before = a->add_bos < 0 ? bos_before : a->add_bos, behind = a->add_eos > 0;

	for (uint32_t r = 0; r < PCTL_TOKEN_ROLES; r++) {
		if (ids[r] != NONE && ids[r] >= t->n)
			return bad(a, call, "there is no token", ids[r]);
		t->roles[r] = ids[r];
	}
	if ((before && a->bos == NONE && a->add_bos > 0) || (behind && a->eos == NONE))
		return pctl_refuse(call, PC7003_TOKENIZER_VOCABULARY,
				   "%s: a token is to be added that is not named", a->name);
	if (!tokenizer_surround(t, &a->bos, before && a->bos != NONE, &a->eos, (uint32_t)behind))
		return pctl_no_memory(call, "a tokenizer");
	return PCTL_OK;
}

static pctl_status set_up(pctl_tokenizer *t, const pctl_tokenizer_arrays *a, const pctl_call *call)
{
	pctl_status status;
	const char *model = a->model == NULL ? "" : a->model;
	const int is_bytes = strcmp(model, "gpt2") == 0;

	if (!is_bytes && strcmp(model, "llama") != 0)
		return pctl_refuse(call, PC7002_TOKENIZER_PART,
				   "%s: a tokenizer of model \"%.60s\"; gpt2 and llama are known",
				   a->name, model);
	t->byte_level = is_bytes;
	t->byte_fallback = !is_bytes;
	t->kind = is_bytes ? MODEL_BPE : MODEL_SCORES;
	t->unknown = a->unknown != NONE && a->unknown < a->n_tokens ? a->unknown : NONE;
	if (is_bytes) {
		t->split = a->pre == NULL ? NULL : split_rule_of_pre(a->pre);
		if (t->split == NULL)
			return pctl_refuse(
				call, PC7002_TOKENIZER_PART,
				"%s: the pre-tokenizer \"%.60s\"; gpt-2, llama-bpe, qwen2 "
				"and tekken are known",
				a->name, a->pre == NULL ? "" : a->pre);
		t->ignore_merges = t->split->ignore_merges;
		if (t->split->nfc)
			t->normals[t->n_normals++] = NORMAL_NFC;
	} else {
		if (a->scores == NULL)
			return pctl_refuse(call, PC7003_TOKENIZER_VOCABULARY,
					   "%s: model llama without scores", a->name);
		if (a->add_space_prefix != 0) {
			t->normals[t->n_normals++] = NORMAL_PREPEND;
			t->strip = 1;
		}
		t->normals[t->n_normals++] = NORMAL_SPACES;
	}
	status = put_tokens(t, a, call);
	if (status == PCTL_OK && is_bytes)
		status = put_merges(t, a, call);
	if (status == PCTL_OK && !is_bytes)
		mark_phi3(t);
	if (status == PCTL_OK)
		status = put_roles(t, a,
				   is_bytes ? strcmp(t->split->name, "gpt2") != 0 &&
						      strcmp(t->split->name, "qwen2") != 0
					    : 1,
				   call);
	if (status == PCTL_OK && a->eot != NONE && a->eot >= t->n)
		status = bad(a, call, "there is no token", a->eot);
	if (status == PCTL_OK)
		status = tokenizer_finish(t, a->name, call);
	if (status == PCTL_OK && a->eot != NONE)
		t->ends[a->eot] = 1;
	return status;
}

pctl_status pctl_tokenizer_of_arrays(const pctl_tokenizer_arrays *a, const pctl_call *call,
				     pctl_tokenizer **out)
{
	pctl_tokenizer *t = tokenizer_create();
	pctl_status status;

	*out = NULL;
	if (t == NULL)
		return pctl_no_memory(call, "a tokenizer");
	status = set_up(t, a, call);
	if (status != PCTL_OK) {
		pctl_tokenizer_destroy(t);
		return status;
	}
	*out = t;
	return PCTL_OK;
}
