/* A tokenizer as tokenizer.json, in the form that Hugging Face's library writes today: the same tokenizer gives the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/json.h"
#include "model/tokenizer/private.h"

/* {"type": TYPE, and the object stays open. */
static void begin(pctl_json *j, const char *type)
{
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "type", type);
}

/* A list of one type after another under a key; the caller ends both. */
static void begin_sequence(pctl_json *j, const char *list)
{
	begin(j, "Sequence");
	pctl_json_key(j, list);
	pctl_json_array_begin(j);
}

static void end_sequence(pctl_json *j)
{
	pctl_json_array_end(j);
	pctl_json_object_end(j);
}

static void replace(pctl_json *j, const char *from, const char *to)
{
	begin(j, "Replace");
	pctl_json_key(j, "pattern");
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "String", from);
	pctl_json_object_end(j);
	pctl_json_kv_string(j, "content", to);
	pctl_json_object_end(j);
}

static void byte_level(pctl_json *j, int before, int expression)
{
	begin(j, "ByteLevel");
	pctl_json_kv_bool(j, "add_prefix_space", before);
	pctl_json_kv_bool(j, "trim_offsets", 1);
	pctl_json_kv_bool(j, "use_regex", expression);
	pctl_json_object_end(j);
}

static void added_tokens(pctl_json *j, const pctl_tokenizer *t)
{
	pctl_json_key(j, "added_tokens");
	pctl_json_array_begin(j);
	for (uint32_t id = 0; id < t->n; id++) {
		const token *k = &t->tokens[id];

		if (!k->added)
			continue;
		pctl_json_object_begin(j);
		pctl_json_kv_u32(j, "id", id);
		pctl_json_kv_string(j, "content", k->text.text);
		pctl_json_kv_bool(j, "single_word", 0);
		pctl_json_kv_bool(j, "lstrip", 0);
		pctl_json_kv_bool(j, "rstrip", k->strips);
		pctl_json_kv_bool(j, "normalized", k->normalised);
		pctl_json_kv_bool(j, "special", k->kind == PCTL_TOKEN_SPECIAL);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

static void normalizer(pctl_json *j, const pctl_tokenizer *t)
{
	static const char *const forms[] = {"NFC", "NFKC", "Lowercase"};

	pctl_json_key(j, "normalizer");
	if (t->n_normals == 0) {
		pctl_json_null(j);
		return;
	}
	if (t->n_normals > 1)
		begin_sequence(j, "normalizers");
	for (uint32_t i = 0; i < t->n_normals; i++) {
		if (t->normals[i] == NORMAL_SPACES) {
			replace(j, " ", SPACE_MARK);
			continue;
		}
		begin(j, t->normals[i] == NORMAL_PREPEND ? "Prepend" : forms[t->normals[i]]);
		if (t->normals[i] == NORMAL_PREPEND)
			pctl_json_kv_string(j, "prepend", SPACE_MARK);
		pctl_json_object_end(j);
	}
	if (t->n_normals > 1)
		end_sequence(j);
}

static void split(pctl_json *j, const char *kind, const char *pattern, const char *behavior)
{
	begin(j, "Split");
	pctl_json_key(j, "pattern");
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, kind, pattern);
	pctl_json_object_end(j);
	pctl_json_kv_string(j, "behavior", behavior);
	pctl_json_kv_bool(j, "invert", 0);
	pctl_json_object_end(j);
}

static void pre_tokenizer(pctl_json *j, const pctl_tokenizer *t)
{
	static const char *const schemes[] = {"never", "always", "first"};

	pctl_json_key(j, "pre_tokenizer");
	if (t->byte_level && t->split->in_byte_level) {
		byte_level(j, t->space_before, 1);
	} else if (t->byte_level) {
		begin_sequence(j, "pretokenizers");
		split(j, "Regex", t->split->expression, "Isolated");
		byte_level(j, 0, 0);
		end_sequence(j);
	} else if (t->split != NULL) {
		split(j, "Regex", t->split->expression, "Isolated");
	} else if (t->metaspace) {
		begin(j, "Metaspace");
		pctl_json_kv_string(j, "replacement", SPACE_MARK);
		pctl_json_kv_string(j, "prepend_scheme", schemes[t->prefix]);
		pctl_json_kv_bool(j, "split", t->metaspace_split);
		pctl_json_object_end(j);
	} else if (t->split_spaces) {
		split(j, "String", " ", "MergedWithPrevious");
	} else {
		pctl_json_null(j);
	}
}

static void around(pctl_json *j, const pctl_tokenizer *t, const uint32_t *ids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		pctl_json_object_begin(j);
		pctl_json_key(j, "SpecialToken");
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "id", t->tokens[ids[i]].text.text);
		pctl_json_kv_u32(j, "type_id", 0);
		pctl_json_object_end(j);
		pctl_json_object_end(j);
	}
}

/* One of the texts of a TemplateProcessing. */
static void sequence(pctl_json *j, const char *id, uint32_t type)
{
	pctl_json_object_begin(j);
	pctl_json_key(j, "Sequence");
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "id", id);
	pctl_json_kv_u32(j, "type_id", type);
	pctl_json_object_end(j);
	pctl_json_object_end(j);
}

/* A token of `before` and `behind`, each once. */
static void named(pctl_json *j, const pctl_tokenizer *t, const uint32_t *ids, uint32_t n,
		  const uint32_t *had, uint32_t n_had)
{
	for (uint32_t i = 0; i < n; i++) {
		int again = 0;

		for (uint32_t k = 0; k < i; k++)
			again |= ids[k] == ids[i];
		for (uint32_t k = 0; k < n_had; k++)
			again |= had[k] == ids[i];
		if (again)
			continue;
		pctl_json_key(j, t->tokens[ids[i]].text.text);
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "id", t->tokens[ids[i]].text.text);
		pctl_json_key(j, "ids");
		pctl_json_array_begin(j);
		pctl_json_u32(j, ids[i]);
		pctl_json_array_end(j);
		pctl_json_key(j, "tokens");
		pctl_json_array_begin(j);
		pctl_json_string(j, t->tokens[ids[i]].text.text);
		pctl_json_array_end(j);
		pctl_json_object_end(j);
	}
}

static void post_processor(pctl_json *j, const pctl_tokenizer *t)
{
	pctl_json_key(j, "post_processor");
	if (t->n_before + t->n_behind == 0) {
		pctl_json_null(j);
		return;
	}
	begin(j, "TemplateProcessing");
	pctl_json_key(j, "single");
	pctl_json_array_begin(j);
	around(j, t, t->before, t->n_before);
	sequence(j, "A", 0);
	around(j, t, t->behind, t->n_behind);
	pctl_json_array_end(j);
	pctl_json_key(j, "pair");
	pctl_json_array_begin(j);
	sequence(j, "A", 0);
	sequence(j, "B", 1);
	pctl_json_array_end(j);
	pctl_json_key(j, "special_tokens");
	pctl_json_object_begin(j);
	named(j, t, t->before, t->n_before, NULL, 0);
	named(j, t, t->behind, t->n_behind, t->before, t->n_before);
	pctl_json_object_end(j);
	pctl_json_object_end(j);
}

static void decoder(pctl_json *j, const pctl_tokenizer *t)
{
	static const char *const plain[] = {"ByteFallback", "Fuse"};

	pctl_json_key(j, "decoder");
	if (t->byte_level) {
		byte_level(j, 1, 1);
		return;
	}
	begin_sequence(j, "decoders");
	replace(j, SPACE_MARK, " ");
	for (uint32_t i = 0; i < 2; i++) {
		begin(j, plain[i]);
		pctl_json_object_end(j);
	}
	if (t->strip) {
		begin(j, "Strip");
		pctl_json_kv_string(j, "content", " ");
		pctl_json_kv_u32(j, "start", 1);
		pctl_json_kv_u32(j, "stop", 0);
		pctl_json_object_end(j);
	}
	end_sequence(j);
}

static void unigram(pctl_json *j, const pctl_tokenizer *t)
{
	pctl_json_key(j, "unk_id");
	if (t->unknown == PCTL_TOKEN_NONE)
		pctl_json_null(j);
	else
		pctl_json_u32(j, t->unknown);
	pctl_json_key(j, "vocab");
	pctl_json_array_begin(j);
	for (uint32_t id = 0; id < t->n && t->tokens[id].in_model; id++) {
		pctl_json_array_begin(j);
		pctl_json_string(j, t->tokens[id].text.text);
		pctl_json_double(j, t->tokens[id].score);
		pctl_json_array_end(j);
	}
	pctl_json_array_end(j);
	pctl_json_kv_bool(j, "byte_fallback", t->byte_fallback);
}

static void bpe(pctl_json *j, const pctl_tokenizer *t)
{
	static const char *const none[] = {"continuing_subword_prefix", "end_of_word_suffix"};

	pctl_json_key(j, "dropout");
	pctl_json_null(j);
	pctl_json_kv_string(j, "unk_token",
			    t->unknown == PCTL_TOKEN_NONE ? NULL : t->tokens[t->unknown].text.text);
	for (uint32_t i = 0; i < 2; i++)
		pctl_json_kv_string(j, none[i], NULL);
	pctl_json_kv_bool(j, "fuse_unk", t->fuse_unknown);
	pctl_json_kv_bool(j, "byte_fallback", t->byte_fallback);
	pctl_json_kv_bool(j, "ignore_merges", t->ignore_merges);
	pctl_json_key(j, "vocab");
	pctl_json_object_begin(j);
	for (uint32_t id = 0; id < t->n; id++)
		if (t->tokens[id].kind != PCTL_TOKEN_HOLE &&
		    (t->tokens[id].in_model || !t->tokens[id].added))
			pctl_json_kv_u32(j, t->tokens[id].text.text, id);
	pctl_json_object_end(j);
	pctl_json_key(j, "merges");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < t->n_merges; i++) {
		pctl_json_array_begin(j);
		pctl_json_string(j, t->tokens[t->merges[i].left].text.text);
		pctl_json_string(j, t->tokens[t->merges[i].right].text.text);
		pctl_json_array_end(j);
	}
	pctl_json_array_end(j);
}

/* Why this one cannot be written; NULL: it can. */
static const char *no_room(const pctl_tokenizer *t)
{
	if (t->kind == MODEL_SCORES)
		return "merging by score";
	for (uint32_t id = 0; id < t->n; id++) {
		if (memchr(t->tokens[id].text.text == NULL ? "" : t->tokens[id].text.text, 0,
			   t->tokens[id].text.n) != NULL)
			return "a token with U+0000";
		if (t->tokens[id].kind == PCTL_TOKEN_UNUSED)
			return "unused tokens";
	}
	return NULL;
}

pctl_status pctl_tokenizer_write(const pctl_tokenizer *t, const pctl_call *call, char **out,
				 size_t *n_out)
{
	const char *missing = no_room(t);
	pctl_json j;

	*out = NULL;
	*n_out = 0;
	if (missing != NULL)
		return pctl_refuse(call, PC7002_TOKENIZER_PART,
				   "tokenizer.json has no way to say: %s", missing);
	pctl_json_init(&j, 2);
	pctl_json_object_begin(&j);
	pctl_json_kv_string(&j, "version", "1.0");
	pctl_json_kv_string(&j, "truncation", NULL);
	pctl_json_kv_string(&j, "padding", NULL);
	added_tokens(&j, t);
	normalizer(&j, t);
	pre_tokenizer(&j, t);
	post_processor(&j, t);
	decoder(&j, t);
	pctl_json_key(&j, "model");
	begin(&j, t->kind == MODEL_UNIGRAM ? "Unigram" : "BPE");
	if (t->kind == MODEL_UNIGRAM)
		unigram(&j, t);
	else
		bpe(&j, t);
	pctl_json_object_end(&j);
	pctl_json_object_end(&j);
	*out = pctl_json_finish(&j);
	if (*out == NULL)
		return pctl_no_memory(call, "a tokenizer.json");
	*n_out = strlen(*out);
	return PCTL_OK;
}
