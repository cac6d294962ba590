/* A text on its way to ids: added tokens are taken out of it, what lies between is normalised, parted into pre-tokens, and given to
 * the model. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/utf8.h"
#include "model/tokenizer/private.h"

typedef struct work {
	const pctl_tokenizer *t;
	const pctl_call *call;
	pctl_token_ids *out;
	scratch scratch;
	uint32_t flags;
} work;

/* What lies between two added tokens. first: it begins the text. */
typedef pctl_status (*on_gap)(work *w, const char *text, size_t n, int first);

/* 1: flags let this added token be found. */
static int wanted(const work *w, uint32_t id)
{
	const pctl_token_kind kind = w->t->tokens[id].kind;

	return (w->flags &
		(kind == PCTL_TOKEN_SPECIAL ? PCTL_ENCODE_SPECIAL : PCTL_ENCODE_ADDED)) != 0;
}

/* The longest added token that begins at text[0..n); its bytes, 0: none. */
static size_t longest(const work *w, const token_trie *trie, const char *text, size_t n,
		      uint32_t *id)
{
	uint32_t node = 0;
	size_t best = 0;

	for (size_t i = 0; i < n; i++) {
		node = token_trie_next(trie, node, (uint8_t)text[i]);
		if (node == 0)
			break;
		if (trie->ends[node] != PCTL_TOKEN_NONE && wanted(w, trie->ends[node])) {
			*id = trie->ends[node];
			best = i + 1;
		}
	}
	return best;
}

size_t pctl_tokenizer_white_space(const char *text, size_t n)
{
	size_t at = 0, step;
	uint32_t c;

	for (; at < n; at += step) {
		step = pctl_utf8_decode(text + at, n - at, &c);
		if (step == 0 ||
		    !((c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 ||
		      c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
		      c == 0x202f || c == 0x205f || c == 0x3000))
			break;
	}
	return at;
}

static pctl_status part(work *w, const token_trie *trie, const char *text, size_t n, int first,
			on_gap gap)
{
	pctl_status status = PCTL_OK;
	size_t begun = 0, at = 0;

	while (at < n && status == PCTL_OK) {
		uint32_t id = 0;
		const size_t found = longest(w, trie, text + at, n - at, &id);

		if (found == 0) {
			at++;
			continue;
		}
		if (at > begun)
			status = gap(w, text + begun, at - begun, first && begun == 0);
		if (status == PCTL_OK && !PCTL_VEC_PUSH(w->out, id))
			status = pctl_no_memory(w->call, "ids");
		at += found;
		if (w->t->tokens[id].strips)
			at += pctl_tokenizer_white_space(text + at, n - at);
		begun = at;
	}
	if (status == PCTL_OK && n > begun)
		status = gap(w, text + begun, n - begun, first && begun == 0);
	return status;
}

static pctl_status encode_word(void *ctx, const char *text, size_t n)
{
	work *w = ctx;

	if (pctl_is_cancelled(w->call))
		return PCTL_E_CANCELLED;
	return w->t->kind == MODEL_UNIGRAM
		       ? unigram_encode(w->t, &w->scratch, text, n, w->call, w->out)
		       : bpe_encode(w->t, &w->scratch, text, n, w->call, w->out);
}

static int is_mark(const char *text, size_t n)
{
	return n >= SPACE_MARK_N && memcmp(text, SPACE_MARK, SPACE_MARK_N) == 0;
}

/* Each space mark begins a word; with `runs`, each run of them. */
static pctl_status split_marks(work *w, const char *text, size_t n, int runs)
{
	pctl_status status = PCTL_OK;
	size_t begun = 0;

	for (size_t i = 1; i < n && status == PCTL_OK; i++)
		if (is_mark(text + i, n - i) && !(runs && i >= SPACE_MARK_N &&
						  is_mark(text + i - SPACE_MARK_N, SPACE_MARK_N))) {
			status = encode_word(w, text + begun, i - begun);
			begun = i;
		}
	return status == PCTL_OK ? encode_word(w, text + begun, n - begun) : status;
}

/* What no pre-tokenizer parts. */
static pctl_status whole(work *w, const char *text, size_t n)
{
	return w->t->cut_marks ? split_marks(w, text, n, 1) : encode_word(w, text, n);
}

static int begins_with(const char *text, size_t n, const char *what)
{
	const size_t m = strlen(what);

	return n >= m && memcmp(text, what, m) == 0;
}

/* Normalised text without added tokens. */
static pctl_status pre_tokens(work *w, const char *text, size_t n, int first)
{
	const pctl_tokenizer *t = w->t;
	pctl_str_buf made = PCTL_STR_BUF_INIT;
	pctl_status status = PCTL_OK;

	if (t->metaspace) {
		const int prefix =
			t->prefix == PREFIX_ALWAYS || (t->prefix == PREFIX_FIRST && first);

		if (!mark_spaces(text, n,
				 prefix && text[0] != ' ' && !begins_with(text, n, SPACE_MARK),
				 &made))
			status = pctl_no_memory(w->call, "a text with space marks");
		else
			status = t->metaspace_split ? split_marks(w, made.data, made.n, 0)
						    : whole(w, made.data, made.n);
	} else if (t->space_before && text[0] != ' ') {
		pctl_str_add(&made, " ");
		pctl_str_add_n(&made, text, n);
		status = made.failed
				 ? pctl_no_memory(w->call, "a text")
				 : split_text(t->code, made.data, made.n, w->call, encode_word, w);
	} else if (t->code == NULL) {
		status = whole(w, text, n);
	} else {
		status = split_text(t->code, text, n, w->call, encode_word, w);
	}
	pctl_str_drop(&made);
	return status;
}

/* Text without the added tokens that are found as written. */
static pctl_status raw_gap(work *w, const char *text, size_t n, int first)
{
	pctl_str_buf made = PCTL_STR_BUF_INIT;
	int changed;
	pctl_status status = normalise(w->t, text, n, w->call, &made, &changed);

	if (status == PCTL_OK) {
		const char *now = changed ? made.data : text;
		const size_t n_now = changed ? made.n : n;

		if (w->t->has_normalised)
			status = part(w, &w->t->added_normalised, now, n_now, first, pre_tokens);
		else if (n_now != 0)
			status = pre_tokens(w, now, n_now, first);
	}
	pctl_str_drop(&made);
	return status;
}

static pctl_status push_all(work *w, const uint32_t *ids, uint32_t n)
{
	for (uint32_t i = 0; i < n && (w->flags & PCTL_ENCODE_BEGIN); i++)
		if (!PCTL_VEC_PUSH(w->out, ids[i]))
			return pctl_no_memory(w->call, "ids");
	return PCTL_OK;
}

pctl_status pctl_tokenizer_encode(const pctl_tokenizer *t, const char *text, size_t n,
				  uint32_t flags, const pctl_call *call, pctl_token_ids *out)
{
	work w = {.t = t, .call = call, .out = out, .flags = flags};
	const int first = (flags & PCTL_ENCODE_CONTINUED) == 0;
	pctl_status status;

	if (n > PCTL_TOKENIZER_TEXT_MAX)
		return pctl_refuse(call, PC7006_TOKENIZER_LIMIT,
				   "a text of %zu bytes; one call takes %u", n,
				   PCTL_TOKENIZER_TEXT_MAX);
	status = push_all(&w, t->before, t->n_before);
	if (status == PCTL_OK && t->has_added)
		status = part(&w, &t->added, text, n, first, raw_gap);
	else if (status == PCTL_OK && n != 0)
		status = raw_gap(&w, text, n, first);
	if (status == PCTL_OK)
		status = push_all(&w, t->behind, t->n_behind);
	scratch_drop(&w.scratch);
	return status;
}
