/* Training: the settings of the kinds and the words of the texts; train_bpe.c and train_unigram.c do the rest. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/hash.h"
#include "foundation/base/utf8.h"
#include "model/tokenizer/private.h"

typedef struct gathering {
	train_words *words;
	const pctl_call *call;
} gathering;

static int grow(train_words *w)
{
	const uint32_t n = w->n_slots == 0 ? 1024 : w->n_slots * 2;
	uint32_t *slots;

	if (w->n * 2u < w->n_slots)
		return 1;
	slots = n == 0 ? NULL : calloc(n, sizeof(*slots));
	if (slots == NULL)
		return 0;
	free(w->slots);
	w->slots = slots;
	w->n_slots = n;
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t at = (uint32_t)pctl_mix64(
				      pctl_fnv64(PCTL_FNV64, w->items[i].text, w->items[i].n)) &
			      (n - 1);

		while (slots[at] != 0)
			at = (at + 1) & (n - 1);
		slots[at] = i + 1;
	}
	return 1;
}

/* Counted where the word is known, else a further one. */
static pctl_status word(void *ctx, const char *text, size_t n)
{
	gathering *g = ctx;
	train_words *w = g->words;
	uint32_t at;

	if (pctl_is_cancelled(g->call))
		return PCTL_E_CANCELLED;
	if (!grow(w))
		return pctl_no_memory(g->call, "words");
	at = (uint32_t)pctl_mix64(pctl_fnv64(PCTL_FNV64, text, n)) & (w->n_slots - 1);
	for (; w->slots[at] != 0; at = (at + 1) & (w->n_slots - 1)) {
		train_word *known = &w->items[w->slots[at] - 1];

		if (known->n == n && memcmp(known->text, text, n) == 0) {
			known->count++;
			return PCTL_OK;
		}
	}
	if (!PCTL_VEC_PUSH(w,
			   ((train_word){pctl_arena_dup_n(w->arena, text, n), (uint32_t)n, 1})) ||
	    w->items[w->n - 1].text == NULL)
		return pctl_no_memory(g->call, "words");
	w->slots[at] = w->n;
	return PCTL_OK;
}

/* Words of SentencePiece: each begins with a space mark. */
static pctl_status marked_words(gathering *g, const char *text, size_t n)
{
	pctl_str_buf marked = PCTL_STR_BUF_INIT;
	pctl_status status = PCTL_OK;
	size_t begun = 0;

	if (!mark_spaces(text, n, text[0] != ' ', &marked))
		status = pctl_no_memory(g->call, "a text");
	for (size_t i = 1; i <= marked.n && status == PCTL_OK; i++)
		if (i == marked.n || (marked.n - i >= SPACE_MARK_N &&
				      memcmp(marked.data + i, SPACE_MARK, SPACE_MARK_N) == 0)) {
			status = word(g, marked.data + begun, i - begun);
			begun = i;
		}
	pctl_str_drop(&marked);
	return status;
}

static pctl_status gather(const pctl_tokenizer *t, const pctl_tokenizer_training *training,
			  const pctl_call *call, train_words *words)
{
	gathering g = {words, call};
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < training->n_texts && status == PCTL_OK; i++) {
		const pctl_token_text *text = &training->texts[i];
		pctl_str_buf made = PCTL_STR_BUF_INIT;
		int changed;

		if (text->n > PCTL_TOKENIZER_TEXT_MAX)
			return pctl_refuse(call, PC7006_TOKENIZER_LIMIT,
					   "a text of %zu bytes; one has %u at most", text->n,
					   PCTL_TOKENIZER_TEXT_MAX);
		if (text->n == 0)
			continue;
		if (!t->byte_level) {
			if (pctl_utf8_bad(text->text, text->n, PCTL_UTF8_NO_NUL) != text->n)
				return pctl_refuse(
					call, PC7004_TOKENIZER_TRAINING,
					"text %" PRIu32 " is no UTF-8, or has U+0000, at byte %zu",
					i, pctl_utf8_bad(text->text, text->n, PCTL_UTF8_NO_NUL));
			status = marked_words(&g, text->text, text->n);
			continue;
		}
		status = normalise(t, text->text, text->n, call, &made, &changed);
		if (status == PCTL_OK)
			status = split_text(t->code, changed ? made.data : text->text,
					    changed ? made.n : text->n, call, word, &g);
		pctl_str_drop(&made);
	}
	return status;
}

/* ---- settings ---- */

static int put_special(pctl_tokenizer *t, const char *text, int in_model)
{
	if (!tokenizer_put(t, t->n, text, strlen(text), PCTL_TOKEN_SPECIAL, 0.0))
		return 0;
	t->tokens[t->n - 1].added = 1;
	t->tokens[t->n - 1].in_model = (uint8_t)in_model;
	return 1;
}

static int has_text(const pctl_tokenizer *t, const char *text)
{
	for (uint32_t id = 0; id < t->n; id++)
		if (strcmp(t->tokens[id].text.text, text) == 0)
			return 1;
	return 0;
}

static pctl_status put_specials(pctl_tokenizer *t, const pctl_tokenizer_training *training,
				const pctl_call *call)
{
	static const char *const first[] = {"<unk>", "<s>", "</s>"};
	const uint32_t bos = 1;

	for (uint32_t i = 0; i < 3 && !t->byte_level; i++)
		if (!put_special(t, first[i], 1))
			return pctl_no_memory(call, "a vocabulary");
	for (uint32_t i = 0; i < training->n_special; i++) {
		const char *text = training->special[i];

		if (text[0] == '\0' ||
		    pctl_utf8_bad(text, strlen(text), PCTL_UTF8_PLAIN) != strlen(text))
			return pctl_refuse(
				call, PC7004_TOKENIZER_TRAINING,
				"the name of a special token is empty or no plain UTF-8");
		if (!has_text(t, text) && !put_special(t, text, 1))
			return pctl_no_memory(call, "a vocabulary");
	}
	if (t->byte_level)
		return PCTL_OK;
	t->unknown = 0;
	return tokenizer_surround(t, &bos, 1, NULL, 0) ? PCTL_OK
						       : pctl_no_memory(call, "a tokenizer");
}

static pctl_status set_kind(pctl_tokenizer *t, const pctl_tokenizer_training *training,
			    const pctl_call *call)
{
	switch (training->kind) {
	case PCTL_TOKENIZER_BPE:
		t->split = training->family == NULL ? NULL : split_rule_named(training->family);
		if (t->split == NULL)
			return pctl_refuse(
				call, PC7004_TOKENIZER_TRAINING,
				"\"%.60s\" is no family; gpt2, llama3, qwen2 and tekken are",
				training->family == NULL ? "" : training->family);
		t->byte_level = 1;
		t->ignore_merges = t->split->ignore_merges;
		if (t->split->nfc)
			t->normals[t->n_normals++] = NORMAL_NFC;
		return split_compile(t->split, call, &t->code);
	case PCTL_TOKENIZER_LLAMA:
		t->byte_fallback = t->fuse_unknown = t->strip = 1;
		t->normals[t->n_normals++] = NORMAL_PREPEND;
		t->normals[t->n_normals++] = NORMAL_SPACES;
		return PCTL_OK;
	case PCTL_TOKENIZER_UNIGRAM:
		t->kind = MODEL_UNIGRAM;
		t->metaspace = t->metaspace_split = t->fuse_unknown = t->strip = 1;
		t->prefix = PREFIX_ALWAYS;
		return PCTL_OK;
	}
	return pctl_refuse(call, PC7004_TOKENIZER_TRAINING, "there is no such kind of tokenizer");
}

static pctl_status fill(pctl_tokenizer *t, const pctl_tokenizer_training *training,
			const pctl_call *call)
{
	if (t->n < training->n_tokens && !training->fill)
		return pctl_refuse_at(call, PC7004_TOKENIZER_TRAINING, NULL,
				      "ask for fewer tokens, give more text, or have it filled up",
				      "the texts give %" PRIu32 " tokens, not %" PRIu32, t->n,
				      training->n_tokens);
	for (uint32_t i = 0; t->n < training->n_tokens; i++) {
		char text[32];

		snprintf(text, sizeof(text), "<|reserved_%" PRIu32 "|>", i);
		if (!put_special(t, text, t->kind == MODEL_UNIGRAM))
			return pctl_no_memory(call, "a vocabulary");
	}
	return PCTL_OK;
}

static pctl_status train(pctl_tokenizer *t, const pctl_tokenizer_training *training,
			 const pctl_call *call, train_words *words)
{
	pctl_status status;

	if (training->n_tokens == 0 || training->n_tokens > PCTL_TOKENIZER_SIZE_MAX)
		return pctl_refuse(call, PC7004_TOKENIZER_TRAINING,
				   "a vocabulary has 1 to %u tokens, not %" PRIu32,
				   PCTL_TOKENIZER_SIZE_MAX, training->n_tokens);
	status = set_kind(t, training, call);
	if (status == PCTL_OK)
		status = put_specials(t, training, call);
	if (status == PCTL_OK)
		status = gather(t, training, call, words);
	if (status == PCTL_OK)
		status = training->kind == PCTL_TOKENIZER_UNIGRAM
				 ? train_unigram(t, words, training->n_tokens, call)
				 : train_bpe(t, words, training->n_tokens, call);
	if (status == PCTL_OK)
		status = fill(t, training, call);
	split_code_drop(t->code); /* finish makes it again */
	t->code = NULL;
	return status == PCTL_OK ? tokenizer_finish(t, "the trained tokenizer", call) : status;
}

pctl_status pctl_tokenizer_train(const pctl_tokenizer_training *training, const pctl_call *call,
				 pctl_tokenizer **out)
{
	pctl_tokenizer *t = tokenizer_create();
	train_words words = {.arena = pctl_arena_create()};
	pctl_status status = PCTL_E_NOMEM;

	*out = NULL;
	if (t == NULL || words.arena == NULL)
		pctl_no_memory(call, "a tokenizer");
	else
		status = train(t, training, call, &words);
	pctl_arena_destroy(words.arena);
	free(words.items);
	free(words.slots);
	if (status == PCTL_OK)
		*out = t;
	else
		pctl_tokenizer_destroy(t);
	return status;
}
