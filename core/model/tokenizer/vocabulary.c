/* Tokens put together: what each stands for, the tables that encoding goes by, and what must hold of a vocabulary. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/utf8.h"
#include "model/tokenizer/private.h"

pctl_tokenizer *tokenizer_create(void)
{
	pctl_tokenizer *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->unknown = PCTL_TOKEN_NONE;
	for (uint32_t i = 0; i < PCTL_TOKEN_ROLES; i++)
		t->roles[i] = PCTL_TOKEN_NONE;
	for (uint32_t i = 0; i < 256; i++)
		t->bytes[i] = PCTL_TOKEN_NONE;
	t->arena = pctl_arena_create();
	if (t->arena != NULL && token_trie_init(&t->pieces) && token_trie_init(&t->added) &&
	    token_trie_init(&t->added_normalised))
		return t;
	pctl_tokenizer_destroy(t);
	return NULL;
}

void pctl_tokenizer_destroy(pctl_tokenizer *t)
{
	if (t == NULL)
		return;
	token_table_drop(&t->found);
	token_table_drop(&t->model);
	merge_table_drop(&t->ranks);
	token_trie_drop(&t->pieces);
	token_trie_drop(&t->added);
	token_trie_drop(&t->added_normalised);
	split_code_drop(t->code);
	pctl_arena_destroy(t->arena);
	free(t->tokens);
	free(t->merges);
	free(t->before);
	free(t->behind);
	free(t->ends);
	free(t);
}

int tokenizer_put(pctl_tokenizer *t, uint32_t id, const char *text, size_t n, pctl_token_kind kind,
		  double score)
{
	char *copy = pctl_arena_dup_n(t->arena, text, n);

	if (copy == NULL)
		return 0;
	if (id >= t->cap) {
		const uint32_t cap = id < 512 ? 1024 : id * 2;
		token *grown = realloc(t->tokens, (size_t)cap * sizeof(*grown));

		if (grown == NULL)
			return 0;
		memset(grown + t->cap, 0, (size_t)(cap - t->cap) * sizeof(*grown));
		t->tokens = grown;
		t->cap = cap;
	}
	t->tokens[id] = (token){.text = {copy, n}, .kind = kind, .score = score};
	if (id >= t->n)
		t->n = id + 1;
	return 1;
}

int tokenizer_add_merge(pctl_tokenizer *t, uint32_t left, uint32_t right, uint32_t result)
{
	if (!pctl_vec_reserve((void **)&t->merges, t->n_merges, &t->cap_merges, sizeof(merge)))
		return 0;
	t->merges[t->n_merges++] = (merge){left, right, result};
	return 1;
}

int tokenizer_surround(pctl_tokenizer *t, const uint32_t *before, uint32_t n_before,
		       const uint32_t *behind, uint32_t n_behind)
{
	uint32_t *a = malloc((n_before + 1u) * sizeof(*a)),
		 *b = malloc((n_behind + 1u) * sizeof(*b));

	if (a == NULL || b == NULL) {
		free(a);
		free(b);
		return 0;
	}
	if (n_before)
		memcpy(a, before, n_before * sizeof(*a));
	if (n_behind)
		memcpy(b, behind, n_behind * sizeof(*b));
	free(t->before);
	free(t->behind);
	t->before = a;
	t->behind = b;
	t->n_before = n_before;
	t->n_behind = n_behind;
	return 1;
}

/* What a token is to the model's own algorithm; nothing that controls a model can come of text by it. */
static int is_piece(const token *k)
{
	return k->in_model && (k->kind == PCTL_TOKEN_NORMAL || k->kind == PCTL_TOKEN_ADDED);
}

/* Space marks back to blanks. */
static int unmark(pctl_tokenizer *t, token *k)
{
	char *out = pctl_arena_alloc(t->arena, k->text.n + 1);
	size_t n = 0;

	if (out == NULL)
		return 0;
	for (size_t i = 0; i < k->text.n;) {
		if (k->text.n - i >= SPACE_MARK_N &&
		    memcmp(k->text.text + i, SPACE_MARK, SPACE_MARK_N) == 0) {
			out[n++] = ' ';
			i += SPACE_MARK_N;
		} else {
			out[n++] = k->text.text[i++];
		}
	}
	k->bytes = (pctl_token_text){out, n};
	return 1;
}

/* What each token stands for. 0: no memory. */
static int set_bytes(pctl_tokenizer *t, token *k)
{
	char *out;
	size_t n;

	k->bytes = k->text;
	if (k->kind == PCTL_TOKEN_BYTE) {
		out = pctl_arena_alloc(t->arena, 1);
		if (out == NULL)
			return 0;
		out[0] = (char)byte_token(k->text.text, k->text.n);
		k->bytes = (pctl_token_text){out, 1};
		return 1;
	}
	if (k->kind == PCTL_TOKEN_SPECIAL || (t->byte_level && k->added))
		return 1;
	if (!t->byte_level)
		return unmark(t, k);
	out = pctl_arena_alloc(t->arena, k->text.n + 1);
	if (out == NULL)
		return 0;
	if (alphabet_read(k->text.text, k->text.n, out, &n))
		k->bytes = (pctl_token_text){out, n};
	else
		k->in_model = 0; /* no bytes are written so: it never comes of a text */
	return 1;
}

static pctl_status bad(const char *name, const pctl_call *call, const char *what)
{
	return pctl_refuse(call, PC7003_TOKENIZER_VOCABULARY, "%s: %s", name, what);
}

static pctl_status check_tokens(pctl_tokenizer *t, const char *name, const pctl_call *call)
{
	if (t->n == 0)
		return bad(name, call, "there are no tokens");
	for (uint32_t id = 0; id < t->n; id++) {
		token *k = &t->tokens[id];
		uint32_t had;

		if (k->kind == PCTL_TOKEN_HOLE)
			continue;
		if (k->text.n > PCTL_TOKENIZER_TOKEN_MAX)
			return pctl_refuse(call, PC7006_TOKENIZER_LIMIT,
					   "%s: token %" PRIu32 " has %zu bytes", name, id,
					   k->text.n);
		if (pctl_utf8_bad(k->text.text, k->text.n, 0) != k->text.n)
			return pctl_refuse(call, PC7003_TOKENIZER_VOCABULARY,
					   "%s: token %" PRIu32 " is no UTF-8", name, id);
		if (k->kind == PCTL_TOKEN_BYTE && byte_token(k->text.text, k->text.n) < 0)
			return pctl_refuse(call, PC7003_TOKENIZER_VOCABULARY,
					   "%s: token %" PRIu32
					   " is said to be a byte and not written <0xAB>",
					   name, id);
		if (!set_bytes(t, k) || !token_table_put(&t->found, t->n, t->tokens, id, &had))
			return pctl_no_memory(call, "a vocabulary");
		if (is_piece(k) && k->text.n != 0 &&
		    !token_table_put(&t->model, t->n, t->tokens, id, &had))
			return pctl_no_memory(call, "a vocabulary");
	}
	return PCTL_OK;
}

/* The tokens of single bytes, all 256 of them or none. */
static pctl_status set_byte_tokens(pctl_tokenizer *t, const char *name, const pctl_call *call)
{
	for (uint32_t b = 0; b < 256; b++) {
		const char byte = (char)b;
		uint32_t id;

		if (t->byte_level) {
			id = token_table_get(&t->model, t->tokens, &byte, 1);
		} else {
			char text[8];

			snprintf(text, sizeof(text), "<0x%02X>", b);
			id = token_table_get(&t->found, t->tokens, text, 6);
			if (id != PCTL_TOKEN_NONE && t->tokens[id].kind != PCTL_TOKEN_BYTE)
				id = PCTL_TOKEN_NONE;
		}
		if (id == PCTL_TOKEN_NONE)
			return pctl_refuse(call, PC7003_TOKENIZER_VOCABULARY,
					   "%s: the byte 0x%02x has no token, so some texts could "
					   "not be encoded",
					   name, b);
		t->bytes[b] = id;
	}
	return PCTL_OK;
}

static pctl_status set_merges(pctl_tokenizer *t, const pctl_call *call)
{
	for (uint32_t i = 0; i < t->n_merges; i++) {
		const merge *m = &t->merges[i];

		if (!is_piece(&t->tokens[m->result]) || !is_piece(&t->tokens[m->left]) ||
		    !is_piece(&t->tokens[m->right]))
			continue;
		if (!merge_table_put(&t->ranks, t->n_merges, m->left, m->right, i))
			return pctl_no_memory(call, "merges");
	}
	return PCTL_OK;
}

/* Whether texts of characters can be cut before a run of space marks: then no merge goes across. The mark must be a piece, or what is
 * unknown might be fused across. */
static void set_cuts(pctl_tokenizer *t)
{
	t->cut_marks =
		!t->byte_level && t->kind != MODEL_UNIGRAM &&
		token_table_get(&t->model, t->tokens, SPACE_MARK, SPACE_MARK_N) != PCTL_TOKEN_NONE;
	for (uint32_t id = 0; id < t->n && t->cut_marks; id++) {
		const token *k = &t->tokens[id];

		for (size_t i = 1; i < k->text.n && is_piece(k); i++)
			if (k->text.n - i >= SPACE_MARK_N &&
			    memcmp(k->text.text + i, SPACE_MARK, SPACE_MARK_N) == 0 &&
			    (i < SPACE_MARK_N || memcmp(k->text.text + i - SPACE_MARK_N, SPACE_MARK,
							SPACE_MARK_N) != 0))
				t->cut_marks = 0;
	}
}

static pctl_status set_pieces(pctl_tokenizer *t, const char *name, const pctl_call *call)
{
	int any = 0;

	for (uint32_t id = 0; id < t->n; id++) {
		const token *k = &t->tokens[id];

		if (!k->in_model)
			continue;
		if (!(k->score > -1e30 && k->score < 1e30))
			return pctl_refuse(call, PC7003_TOKENIZER_VOCABULARY,
					   "%s: the score of token %" PRIu32 " is no number", name,
					   id);
		t->least_score = !any || k->score < t->least_score ? k->score : t->least_score;
		any = 1;
		if (t->kind == MODEL_UNIGRAM && is_piece(k) && k->text.n != 0 &&
		    !token_trie_put(&t->pieces, k->text.text, k->text.n, id))
			return pctl_no_memory(call, "pieces");
	}
	return PCTL_OK;
}

static pctl_status set_added(pctl_tokenizer *t, const char *name, const pctl_call *call)
{
	for (uint32_t id = 0; id < t->n; id++) {
		const token *k = &t->tokens[id];
		pctl_str_buf text = PCTL_STR_BUF_INIT;
		pctl_status status = PCTL_OK;
		int changed = 0, done;

		if (!k->added)
			continue;
		if (k->text.n == 0)
			return bad(name, call, "an added token is empty");
		if (k->normalised)
			status = normalise(t, k->text.text, k->text.n, call, &text, &changed);
		if (status == PCTL_OK && changed && text.n == 0)
			status = bad(name, call, "an added token is empty when normalised");
		if (status != PCTL_OK) {
			pctl_str_drop(&text);
			return status;
		}
		done = token_trie_put(k->normalised ? &t->added_normalised : &t->added,
				      changed ? text.data : k->text.text,
				      changed ? text.n : k->text.n, id);
		pctl_str_drop(&text);
		if (!done)
			return pctl_no_memory(call, "added tokens");
		t->has_normalised |= k->normalised;
		t->has_added |= !k->normalised;
	}
	return PCTL_OK;
}

pctl_status tokenizer_finish(pctl_tokenizer *t, const char *name, const pctl_call *call)
{
	pctl_status status;

	t->model.by_bytes = t->byte_level;
	t->ends = calloc(t->n + 1u, 1);
	if (t->ends == NULL)
		return pctl_no_memory(call, "a vocabulary");
	status = check_tokens(t, name, call);
	if (status == PCTL_OK && (t->byte_level || t->byte_fallback))
		status = set_byte_tokens(t, name, call);
	if (status == PCTL_OK && !t->byte_level && !t->byte_fallback &&
	    t->unknown == PCTL_TOKEN_NONE)
		status = bad(name, call,
			     "there is neither a token for what is unknown nor one for each byte");
	if (status == PCTL_OK)
		status = set_merges(t, call);
	if (status == PCTL_OK)
		status = set_pieces(t, name, call);
	if (status == PCTL_OK)
		set_cuts(t);
	if (status == PCTL_OK)
		status = set_added(t, name, call);
	if (status == PCTL_OK && t->split != NULL)
		status = split_compile(t->split, call, &t->code);
	if (status == PCTL_OK && pctl_arena_failed(t->arena))
		status = pctl_no_memory(call, "a vocabulary");
	if (status == PCTL_OK)
		tokenizer_name_roles(t);
	return status;
}

/* ---- what it knows ---- */

uint32_t pctl_tokenizer_size(const pctl_tokenizer *t)
{
	return t->n;
}

pctl_status pctl_tokenizer_within(const pctl_tokenizer *t, uint64_t n_vocab, const char *path,
				  const pctl_call *call)
{
	if (pctl_tokenizer_size(t) <= n_vocab)
		return PCTL_OK;
	return pctl_refuse(call, PC6288_MODEL_TOKENIZER,
			   "%s: the tokenizer has %" PRIu32 " tokens, the model %" PRIu64, path,
			   pctl_tokenizer_size(t), n_vocab);
}

int pctl_tokenizer_strips(const pctl_tokenizer *t, uint32_t id)
{
	return id < t->n && t->tokens[id].strips;
}

pctl_token_kind pctl_tokenizer_token(const pctl_tokenizer *t, uint32_t id, pctl_token_text *bytes)
{
	*bytes = (pctl_token_text){"", 0};
	if (id >= t->n || t->tokens[id].kind == PCTL_TOKEN_HOLE)
		return PCTL_TOKEN_HOLE;
	*bytes = t->tokens[id].bytes;
	return t->tokens[id].kind;
}

uint32_t pctl_tokenizer_find(const pctl_tokenizer *t, const char *text, size_t n)
{
	return token_table_get(&t->found, t->tokens, text, n);
}

uint32_t pctl_tokenizer_role(const pctl_tokenizer *t, pctl_token_role role)
{
	return t->roles[role];
}

int pctl_tokenizer_ends(const pctl_tokenizer *t, uint32_t id)
{
	return id < t->n && t->ends[id];
}

const char *pctl_tokenizer_kind_name(const pctl_tokenizer *t)
{
	return t->byte_level		  ? "byte-level BPE"
	       : t->kind == MODEL_UNIGRAM ? "unigram"
	       : t->kind == MODEL_SCORES  ? "BPE of characters, by score"
					  : "BPE of characters";
}

const char *pctl_tokenizer_pre_name(const pctl_tokenizer *t)
{
	return t->split != NULL ? t->split->name : t->metaspace ? "metaspace" : "none";
}
