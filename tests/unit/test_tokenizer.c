/* Tokenizers at their edges: files that lie, each with its code, and their good twins; arrays of GGUF; texts that are no UTF-8, and very
 * long words; ids one after the other; roles; training. That ids are right is test_tokenizer_golden.c's. */
#include "main.h"

#include <stdlib.h>

#include <cjson/cJSON.h>

#include "foundation/base/utf8.h"
#include "foundation/diag/diag.h"
#include "model/tokenizer/tokenizer.h"

#define TEXT(s)                  \
	{                        \
		s, sizeof(s) - 1 \
	}
static const char sample[] = "hello hello hello world, world. Hello hello caf\xc3\xa9 caf\xc3\xa9.";

static pctl_tokenizer *trained(pctl_tokenizer_kind kind, const char *family, uint32_t n)
{
	static const char *const special[] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
	const pctl_token_text text = TEXT(sample);
	const pctl_tokenizer_training training = {.kind = kind,
						  .family = family,
						  .n_tokens = n,
						  .texts = &text,
						  .n_texts = 1,
						  .special = special,
						  .n_special = 3,
						  .fill = 1};
	pctl_tokenizer *t;

	assert_int_equal(pctl_tokenizer_train(&training, NULL, &t), PCTL_OK);
	return t;
}

static char *written(pctl_tokenizer *t)
{
	char *text;
	size_t n;

	assert_int_equal(pctl_tokenizer_write(t, NULL, &text, &n), PCTL_OK);
	pctl_tokenizer_destroy(t);
	return text;
}

/* The code of the first error of reading; 0: it was read. */
static uint32_t code_of(const char *text, size_t n)
{
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_tokenizer *t = (pctl_tokenizer *)&said; /* must become NULL */
	const pctl_status status =
		pctl_tokenizer_read("x.json", text, n, pctl_diag_list_call(said), &t);
	uint32_t code = 0;

	if (status == PCTL_OK) {
		pctl_tokenizer_destroy(t);
	} else {
		assert_null(t);
		assert_int_equal(pctl_diag_list_errors(said), 1);
		code = pctl_diag_list_at(said, 0)->code;
	}
	pctl_diag_list_destroy(said);
	return code;
}

typedef struct lie {
	const char *from, *to; /* in the good file */
	uint32_t code;
} lie;

static void lies(const char *good, const lie *all, size_t n)
{
	assert_int_equal(code_of(good, strlen(good)), 0);
	for (size_t i = 0; i < n; i++) {
		const char *at = strstr(good, all[i].from);
		pctl_str_buf bad = PCTL_STR_BUF_INIT;
		uint32_t code;

		if (at == NULL)
			fail_msg("the good file has no %s", all[i].from);
		pctl_str_add_n(&bad, good, (size_t)(at - good));
		pctl_str_add(&bad, all[i].to);
		pctl_str_add(&bad, at + strlen(all[i].from));
		code = code_of(bad.data, bad.n);
		if (code != all[i].code)
			fail_msg("%s for %s: PC%u, wanted PC%u", all[i].to, all[i].from, code,
				 all[i].code);
		pctl_str_drop(&bad);
	}
}

static void bad_byte_level(void **state)
{
	static const lie all[] = {
		{"{", "", PC7001_TOKENIZER_FILE},
		{"{", "{}{", PC7001_TOKENIZER_FILE},
		{"\"version\": \"1.0\"", "\"version\": \"2.0\"", PC7001_TOKENIZER_FILE},
		{"\"version\": \"1.0\"", "\"version\": \"1.0\", \"version\": \"1.0\"",
		 PC7001_TOKENIZER_FILE},
		{"\"version\"", "\"verzion\"", PC7002_TOKENIZER_PART},
		{"\"<|im_end|>\"", "\"\\u0000\"", PC7001_TOKENIZER_FILE},
		{"\"<|im_end|>\"", "\"\xff\"", PC7001_TOKENIZER_FILE},
		{"\"truncation\": null", "\"truncation\": {}", PC7002_TOKENIZER_PART},
		{"\"padding\": null", "\"padding\": {}", PC7002_TOKENIZER_PART},
		{"\"single_word\": false", "\"single_word\": true", PC7002_TOKENIZER_PART},
		{"\"lstrip\": false", "\"lstrip\": true", PC7002_TOKENIZER_PART},
		{"\"rstrip\": false", "\"rstrip\": 0", PC7001_TOKENIZER_FILE},
		{"\"id\": 1,", "\"id\": 0,", PC7003_TOKENIZER_VOCABULARY},
		{"\"id\": 1,", "\"id\": 4000000,", PC7003_TOKENIZER_VOCABULARY},
		{"\"id\": 1,", "\"id\": -1,", PC7001_TOKENIZER_FILE},
		{"\"id\": 1,", "\"id\": 1.5,", PC7001_TOKENIZER_FILE},
		{"\"type\": \"NFC\"", "\"type\": \"NFD\"", PC7002_TOKENIZER_PART},
		{"\"type\": \"NFC\"", "\"type\": \"Precompiled\"", PC7002_TOKENIZER_PART},
		{"\"type\": \"NFC\"", "\"type\": \"Lowercase\", \"x\": 1", PC7002_TOKENIZER_PART},
		{"\\\\p{N}|", "\\\\p{N}+|", PC7002_TOKENIZER_PART},
		{"\"Isolated\"", "\"Removed\"", PC7002_TOKENIZER_PART},
		{"\"invert\": false", "\"invert\": true", PC7002_TOKENIZER_PART},
		{"\"use_regex\": false", "\"use_regex\": true", PC7002_TOKENIZER_PART},
		{"\"post_processor\": null", "\"post_processor\": {\"type\": \"BertProcessing\"}",
		 PC7002_TOKENIZER_PART},
		{"\"type\": \"BPE\"", "\"type\": \"WordPiece\"", PC7002_TOKENIZER_PART},
		{"\"dropout\": null", "\"dropout\": 0.5", PC7002_TOKENIZER_PART},
		{"\"continuing_subword_prefix\": null", "\"continuing_subword_prefix\": \"##\"",
		 PC7002_TOKENIZER_PART},
		{"\"byte_fallback\": false", "\"byte_fallback\": true", PC7002_TOKENIZER_PART},
		{"\"unk_token\": null", "\"unk_token\": \"<nowhere>\"",
		 PC7003_TOKENIZER_VOCABULARY},
		{"\"!\": 3", "\"!\": 4", PC7003_TOKENIZER_VOCABULARY},
		{"\"!\": 3", "\"!!!\": 3", PC7003_TOKENIZER_VOCABULARY}, /* no token of the byte */
		{"\"!\": 3", "\"\\\"\": 3", PC7003_TOKENIZER_VOCABULARY},
		{"\"!\": 3", "\"!\": \"3\"", PC7001_TOKENIZER_FILE},
		{"\"merges\": [", "\"merges\": [[\"a\", \"zz\"],", PC7003_TOKENIZER_VOCABULARY},
		{"\"merges\": [", "\"merges\": [\"a\",", PC7001_TOKENIZER_FILE},
		{"\"merges\": [", "\"merges\": [1,", PC7001_TOKENIZER_FILE},
	};
	char *good = written(trained(PCTL_TOKENIZER_BPE, "qwen2", 280));

	(void)state;
	lies(good, all, sizeof(all) / sizeof(all[0]));
	for (size_t cut = 0; cut + 1 < strlen(good); cut += 1 + cut / 50)
		assert_int_equal(code_of(good, cut), PC7001_TOKENIZER_FILE);
	free(good);
}

static void bad_marked(void **state)
{
	static const lie of_llama[] = {
		{"\"prepend\": \"\xe2\x96\x81\"", "\"prepend\": \"_\"", PC7002_TOKENIZER_PART},
		{"\"String\": \" \"", "\"String\": \"x\"", PC7002_TOKENIZER_PART},
		{"\"start\": 1", "\"start\": 2", PC7002_TOKENIZER_PART},
		{"\"type\": \"Strip\"", "\"type\": \"Nothing\"", PC7002_TOKENIZER_PART},
		{"<0x41>", "<0xZZ>", PC7003_TOKENIZER_VOCABULARY},
		{"\"type\": \"Sequence\",\n    \"decoders\"",
		 "\"type\": \"ByteLevel\",\n    \"decoders\"", PC7002_TOKENIZER_PART},
		{"\"single\": [", "\"single\": [1,", PC7001_TOKENIZER_FILE},
		{"\"ids\": [\n          1", "\"ids\": [\n          99999", PC7001_TOKENIZER_FILE},
		{"\"pre_tokenizer\": null", "\"pre_tokenizer\": {\"type\": \"Whitespace\"}",
		 PC7002_TOKENIZER_PART},
	};
	static const lie of_unigram[] = {
		{"\"prepend_scheme\": \"always\"", "\"prepend_scheme\": \"maybe\"",
		 PC7001_TOKENIZER_FILE},
		{"\"prepend_scheme\": \"always\"",
		 "\"prepend_scheme\": \"always\", \"add_prefix_space\": false",
		 PC7001_TOKENIZER_FILE},
		{"\"unk_id\": 0", "\"unk_id\": null", PC7003_TOKENIZER_VOCABULARY},
		{"\"unk_id\": 0", "\"unk_id\": 9999", PC7003_TOKENIZER_VOCABULARY},
		{"\"byte_fallback\": false", "\"byte_fallback\": true",
		 PC7003_TOKENIZER_VOCABULARY},
		{"\"vocab\": [", "\"vocab\": [[\"x\"],", PC7001_TOKENIZER_FILE},
		{"\"<s>\",\n        0", "\"<s>\",\n        1e300", PC7003_TOKENIZER_VOCABULARY},
	};
	char *good = written(trained(PCTL_TOKENIZER_LLAMA, NULL, 290));

	(void)state;
	lies(good, of_llama, sizeof(of_llama) / sizeof(of_llama[0]));
	free(good);
	good = written(trained(PCTL_TOKENIZER_UNIGRAM, NULL, 40));
	lies(good, of_unigram, sizeof(of_unigram) / sizeof(of_unigram[0]));
	free(good);
}

/* ---- texts ---- */

static pctl_token_ids encoded(const pctl_tokenizer *t, const char *text, size_t n, uint32_t flags)
{
	pctl_token_ids ids = {0};

	assert_int_equal(pctl_tokenizer_encode(t, text, n, flags, NULL, &ids), PCTL_OK);
	return ids;
}

/* What is no UTF-8 comes back as it was, at once and byte by byte, where a vocabulary has all bytes. */
static void no_utf8(void **state)
{
	static const pctl_token_text texts[] = {
		TEXT("\xff"),		TEXT("a\x80\x80z"),	      TEXT("\xe4\xb8"),
		TEXT("\xf0\x9f\x91 x"), TEXT("\xc0\xaf\xed\xa0\x80"), TEXT("nul\0inside"),
		TEXT("hello\xff hello")};

	(void)state;
	for (uint32_t kind = 0; kind < 2; kind++) {
		pctl_tokenizer *t =
			trained(kind ? PCTL_TOKENIZER_LLAMA : PCTL_TOKENIZER_BPE, "llama3", 300);

		for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
			pctl_token_ids ids = encoded(t, texts[i].text, texts[i].n, 0);
			pctl_str_buf back = PCTL_STR_BUF_INIT;

			assert_int_equal(pctl_tokenizer_decode(t, ids.items, ids.n, 1, NULL, &back),
					 PCTL_OK);
			assert_int_equal(back.n, texts[i].n);
			assert_memory_equal(back.data, texts[i].text, back.n);
			pctl_str_drop(&back);
			free(ids.items);
		}
		pctl_tokenizer_destroy(t);
	}
}

/* A word of a megabyte, of letters, of blanks, and of bytes that are no UTF-8: what is quadratic would take hours. */
static void long_words(void **state)
{
	static const char letters[] = {'l', ' ', '\n', '\x80', '!'};
	const size_t n = 1u << 20;
	char *text = malloc(n);

	(void)state;
	for (uint32_t kind = 0; kind < 3; kind++) {
		pctl_tokenizer *t = trained((pctl_tokenizer_kind)kind, "qwen2", 300);

		for (size_t i = 0; i < sizeof(letters); i++) {
			pctl_token_ids ids;

			memset(text, letters[i], n);
			ids = encoded(t, text, n, 0);
			assert_true(ids.n >= 1 && ids.n <= n + 1);
			free(ids.items);
		}
		pctl_tokenizer_destroy(t);
	}
	free(text);
}

/* Specials only when asked for; BEGIN only when asked for; limits. */
/* Marks are put in the order of their classes, however many they are: exchanging neighbours would take minutes. */
static void many_marks(void **state)
{
	static const char high[] = "\xcd\x85",
			  low[] = "\xcc\xb4"; /* U+0345, class 240; U+0334, class 1 */
	const uint32_t n = 1u << 18;
	pctl_tokenizer *t = trained(PCTL_TOKENIZER_BPE, "qwen2", 300);
	pctl_str_buf text = PCTL_STR_BUF_INIT, want = PCTL_STR_BUF_INIT, got = PCTL_STR_BUF_INIT;
	pctl_token_ids ids;

	(void)state;
	pctl_str_add(&text, "a");
	pctl_str_add(&want, "a");
	for (uint32_t i = 0; i < 2 * n; i++) {
		pctl_str_add(&text, i < n ? high : low);
		pctl_str_add(&want, i < n ? low : high);
	}
	ids = encoded(t, text.data, text.n, 0);
	assert_int_equal(pctl_tokenizer_decode(t, ids.items, ids.n, 0, NULL, &got), PCTL_OK);
	assert_int_equal(got.n, want.n);
	assert_memory_equal(got.data, want.data, want.n);
	free(ids.items);
	pctl_str_drop(&text);
	pctl_str_drop(&want);
	pctl_str_drop(&got);
	pctl_tokenizer_destroy(t);
}

static void flags(void **state)
{
	static const char text[] = "<|im_start|>hello<|im_end|>";
	pctl_tokenizer *t = trained(PCTL_TOKENIZER_BPE, "gpt2", 300);
	pctl_token_ids plain = encoded(t, text, sizeof(text) - 1,
				       PCTL_ENCODE_ADDED | PCTL_ENCODE_BEGIN),
		       found = encoded(t, text, sizeof(text) - 1, PCTL_ENCODE_SPECIAL);
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_str_buf out = PCTL_STR_BUF_INIT;
	const uint32_t none = 300;
	pctl_token_text bytes;

	(void)state;
	for (uint32_t i = 0; i < plain.n; i++)
		assert_int_not_equal(pctl_tokenizer_token(t, plain.items[i], &bytes),
				     PCTL_TOKEN_SPECIAL);
	assert_int_equal(found.items[0], 1);
	assert_int_equal(found.items[found.n - 1], 2);
	assert_int_equal(pctl_tokenizer_encode(t, text, (size_t)PCTL_TOKENIZER_TEXT_MAX + 1, 0,
					       pctl_diag_list_call(said), &plain),
			 PCTL_E_LIMIT);
	assert_int_equal(pctl_diag_list_at(said, 0)->code, PC7006_TOKENIZER_LIMIT);
	assert_int_equal(pctl_tokenizer_decode(t, &none, 1, 1, pctl_diag_list_call(said), &out),
			 PCTL_E_INVALID);
	assert_int_equal(pctl_diag_list_at(said, 1)->code, PC7005_TOKENIZER_TOKEN);
	/* Specials are left out of a text unless asked for. */
	assert_int_equal(pctl_tokenizer_decode(t, found.items, found.n, 0, NULL, &out), PCTL_OK);
	assert_int_equal(out.n, 5);
	assert_memory_equal(out.data, "hello", 5);
	pctl_str_drop(&out);
	pctl_diag_list_destroy(said);
	free(plain.items);
	free(found.items);
	pctl_tokenizer_destroy(t);
	/* A unigram model and one of characters begin with <s>. */
	t = trained(PCTL_TOKENIZER_UNIGRAM, NULL, 40);
	found = encoded(t, "", 0, PCTL_ENCODE_BEGIN);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.items[0], 1);
	free(found.items);
	pctl_tokenizer_destroy(t);
}

/* Whole characters, whatever the tokens are, and U+FFFD once for each maximal part of one. */
static void stream(void **state)
{
	static const struct {
		pctl_token_text bytes;
		const char *text;
	} rows[] = {
		{TEXT("h\xc3\xa9\xf0\x9f\x91\x8d!"), "h\xc3\xa9\xf0\x9f\x91\x8d!"},
		{TEXT("\xe4\xb8"), "\xef\xbf\xbd"},
		{TEXT("\xf0\x9f\x91z"), "\xef\xbf\xbdz"},
		{TEXT("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{TEXT("\xf0\x80\x80\xc3\xa9"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9"},
		{TEXT("\xc3\xc3\xa9\x80"), "\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd"},
		{TEXT("\xf4\x90\xe1\x80\xff"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	};
	pctl_tokenizer *t = trained(PCTL_TOKENIZER_BPE, "gpt2", 259); /* bytes alone */

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_token_ids ids = encoded(t, rows[i].bytes.text, rows[i].bytes.n, 0);
		pctl_str_buf out = PCTL_STR_BUF_INIT;
		pctl_token_stream s;

		assert_int_equal(ids.n, rows[i].bytes.n);
		pctl_token_stream_init(&s, t, 0);
		for (uint32_t k = 0; k < ids.n; k++) {
			assert_int_equal(pctl_token_stream_push(&s, ids.items[k], NULL, &out),
					 PCTL_OK);
			assert_int_equal(pctl_utf8_bad(out.data == NULL ? "" : out.data, out.n, 0),
					 out.n);
		}
		/* A row of a model that is no token has no text, and ends nothing. */
		assert_int_equal(pctl_token_stream_push(&s, pctl_tokenizer_size(t) + (uint32_t)i,
							NULL, &out),
				 PCTL_OK);
		pctl_token_stream_end(&s, &out);
		assert_string_equal(out.data, rows[i].text);
		pctl_str_drop(&out);
		free(ids.items);
	}
	pctl_tokenizer_destroy(t);
}

/* ---- roles ---- */

static void roles(void **state)
{
	static const char config[] =
		"{\"bos_token\": {\"content\": \"<|im_start|>\"}, \"eos_token\": \"<|im_end|>\", "
		"\"pad_token\": null, \"add_bos_token\": true, \"add_eos_token\": true, "
		"\"chat_template\": \"x\"}";
	static const struct {
		const char *text;
		uint32_t code;
	} bad[] = {{"[]", PC7001_TOKENIZER_FILE},
		   {"{\"bos_token\": 1}", PC7001_TOKENIZER_FILE},
		   {"{\"bos_token\": \"nowhere\"}", PC7003_TOKENIZER_VOCABULARY},
		   {"{\"add_bos_token\": 1}", PC7001_TOKENIZER_FILE},
		   {"{\"add_bos_token\": true}", PC7003_TOKENIZER_VOCABULARY}};
	pctl_tokenizer *t = trained(PCTL_TOKENIZER_BPE, "gpt2", 300);
	pctl_token_ids ids;

	(void)state;
	assert_int_equal(pctl_tokenizer_role(t, PCTL_TOKEN_BOS), PCTL_TOKEN_NONE);
	assert_int_equal(pctl_tokenizer_role(t, PCTL_TOKEN_EOS), 2);
	assert_int_equal(pctl_tokenizer_role(t, PCTL_TOKEN_PAD), 0);
	assert_int_equal(pctl_tokenizer_role(t, PCTL_TOKEN_UNK), PCTL_TOKEN_NONE);
	assert_true(pctl_tokenizer_ends(t, 0) && !pctl_tokenizer_ends(t, 1) &&
		    pctl_tokenizer_ends(t, 2) && !pctl_tokenizer_ends(t, 300));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		pctl_diag_list *said = pctl_diag_list_create();

		assert_int_not_equal(pctl_tokenizer_configure(t, "config", bad[i].text,
							      strlen(bad[i].text),
							      pctl_diag_list_call(said)),
				     PCTL_OK);
		assert_int_equal(pctl_diag_list_at(said, 0)->code, bad[i].code);
		pctl_diag_list_destroy(said);
	}
	assert_int_equal(pctl_tokenizer_configure(t, "config", config, sizeof(config) - 1, NULL),
			 PCTL_OK);
	assert_int_equal(pctl_tokenizer_role(t, PCTL_TOKEN_BOS), 1);
	ids = encoded(t, "", 0, PCTL_ENCODE_BEGIN);
	assert_int_equal(ids.n, 2);
	assert_int_equal(ids.items[0], 1);
	assert_int_equal(ids.items[1], 2);
	free(ids.items);
	pctl_tokenizer_destroy(t);
}

/* ---- arrays of GGUF ---- */

static void arrays(void **state)
{
	static const pctl_token_text tokens[] = {TEXT("a"), TEXT("b"), TEXT("ab")},
				     merge = TEXT("a b"), no_merge = TEXT("ab"),
				     stranger = TEXT("a c");
	static const int32_t types[] = {1, 1, 9};
	const pctl_tokenizer_arrays good = {.name = "x.gguf",
					    .model = "gpt2",
					    .pre = "qwen2",
					    .tokens = tokens,
					    .n_tokens = 3,
					    .merges = &merge,
					    .n_merges = 1,
					    .bos = PCTL_TOKEN_NONE,
					    .eos = PCTL_TOKEN_NONE,
					    .eot = PCTL_TOKEN_NONE,
					    .pad = PCTL_TOKEN_NONE,
					    .unknown = PCTL_TOKEN_NONE,
					    .add_bos = -1,
					    .add_eos = -1,
					    .add_space_prefix = -1};
	pctl_tokenizer_arrays rows[12];
	static const uint32_t codes[12] = {
		PC7003_TOKENIZER_VOCABULARY, PC7002_TOKENIZER_PART,
		PC7002_TOKENIZER_PART,	     PC7002_TOKENIZER_PART,
		PC7003_TOKENIZER_VOCABULARY, PC7003_TOKENIZER_VOCABULARY,
		PC7003_TOKENIZER_VOCABULARY, PC7003_TOKENIZER_VOCABULARY,
		PC7003_TOKENIZER_VOCABULARY, PC7006_TOKENIZER_LIMIT,
		PC7002_TOKENIZER_PART,	     PC7003_TOKENIZER_VOCABULARY};

	(void)state;
	for (size_t i = 0; i < 12; i++)
		rows[i] = good; /* row 0: bytes have no tokens */
	rows[1].model = "bert";
	rows[2].pre = "deepseek-llm";
	rows[3].pre = NULL;
	rows[4].types = types;
	rows[5].merges = &no_merge;
	rows[6].merges = &stranger;
	rows[7].bos = 3;
	rows[8].model = "llama"; /* without scores */
	rows[9].n_tokens = PCTL_TOKENIZER_SIZE_MAX + 1;
	rows[10].model = NULL;
	rows[11].eot = 3;
	for (size_t i = 0; i < 12; i++) {
		pctl_diag_list *said = pctl_diag_list_create();
		pctl_tokenizer *t;

		assert_int_not_equal(
			pctl_tokenizer_of_arrays(&rows[i], pctl_diag_list_call(said), &t), PCTL_OK);
		assert_null(t);
		if (pctl_diag_list_at(said, 0)->code != codes[i])
			fail_msg("row %zu: %s", i, pctl_diag_list_at(said, 0)->message);
		pctl_diag_list_destroy(said);
	}
}

/* A tokenizer taken apart into what GGUF has, and made of that, gives the same ids. */
static void arrays_twin(void **state)
{
	pctl_tokenizer *t = trained(PCTL_TOKENIZER_BPE, "qwen2", 290), *twin;
	char *text = written(trained(PCTL_TOKENIZER_BPE, "qwen2", 290)), both[64][64];
	cJSON *json = cJSON_Parse(text);
	const cJSON *model = cJSON_GetObjectItem(json, "model"), *item;
	pctl_token_text tokens[290], merges[64];
	int32_t types[290];
	pctl_tokenizer_arrays a = {.name = "twin",
				   .model = "gpt2",
				   .pre = "qwen2",
				   .tokens = tokens,
				   .types = types,
				   .merges = merges,
				   .bos = 1,
				   .eos = 2,
				   .eot = 7,
				   .pad = 0,
				   .unknown = PCTL_TOKEN_NONE,
				   .add_bos = 1,
				   .add_eos = 0,
				   .add_space_prefix = -1};
	pctl_token_ids want, got;

	(void)state;
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(model, "vocab"))
	{
		pctl_token_text bytes;

		assert_int_equal(item->valueint, a.n_tokens);
		tokens[a.n_tokens] = (pctl_token_text){item->string, strlen(item->string)};
		types[a.n_tokens] =
			pctl_tokenizer_token(t, a.n_tokens, &bytes) == PCTL_TOKEN_SPECIAL ? 3 : 1;
		a.n_tokens++;
	}
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(model, "merges"))
	{
		assert_true(a.n_merges < 64);
		snprintf(both[a.n_merges], sizeof(both[0]), "%s %s",
			 cJSON_GetArrayItem(item, 0)->valuestring,
			 cJSON_GetArrayItem(item, 1)->valuestring);
		merges[a.n_merges] = (pctl_token_text){both[a.n_merges], strlen(both[a.n_merges])};
		a.n_merges++;
	}
	assert_true(a.n_merges > 8);
	assert_int_equal(pctl_tokenizer_of_arrays(&a, NULL, &twin), PCTL_OK);
	want = encoded(t, sample, sizeof(sample) - 1, 0);
	got = encoded(twin, sample, sizeof(sample) - 1, PCTL_ENCODE_BEGIN);
	assert_int_equal(got.n, want.n + 1);
	assert_int_equal(got.items[0], 1);
	assert_memory_equal(want.items, got.items + 1, want.n * sizeof(uint32_t));
	assert_int_equal(pctl_tokenizer_role(twin, PCTL_TOKEN_BOS), 1);
	assert_true(pctl_tokenizer_ends(twin, 2) && pctl_tokenizer_ends(twin, 7));
	assert_false(pctl_tokenizer_ends(twin, 8));
	free(want.items);
	free(got.items);
	cJSON_Delete(json);
	free(text);
	pctl_tokenizer_destroy(t);
	pctl_tokenizer_destroy(twin);
}

static void training(void **state)
{
	const pctl_token_text text = TEXT(sample), bad = TEXT("\xff");
	const pctl_tokenizer_training rows[] = {
		{.kind = PCTL_TOKENIZER_BPE,
		 .family = "gpt2",
		 .n_tokens = 100,
		 .texts = &text,
		 .n_texts = 1},
		{.kind = PCTL_TOKENIZER_BPE,
		 .family = "gpt2",
		 .n_tokens = 5000,
		 .texts = &text,
		 .n_texts = 1},
		{.kind = PCTL_TOKENIZER_BPE,
		 .family = "gpt5",
		 .n_tokens = 300,
		 .texts = &text,
		 .n_texts = 1},
		{.kind = PCTL_TOKENIZER_LLAMA, .n_tokens = 300, .texts = &bad, .n_texts = 1},
		{.kind = PCTL_TOKENIZER_UNIGRAM, .n_tokens = 5, .texts = &text, .n_texts = 1},
		{.kind = PCTL_TOKENIZER_UNIGRAM, .n_tokens = 0, .texts = &text, .n_texts = 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_diag_list *said = pctl_diag_list_create();
		pctl_tokenizer *t;

		assert_int_not_equal(pctl_tokenizer_train(&rows[i], pctl_diag_list_call(said), &t),
				     PCTL_OK);
		assert_null(t);
		assert_int_equal(pctl_diag_list_at(said, 0)->code, PC7004_TOKENIZER_TRAINING);
		pctl_diag_list_destroy(said);
	}
	/* The same texts, the same bytes. */
	for (uint32_t kind = 0; kind < 3; kind++) {
		char *a = written(trained((pctl_tokenizer_kind)kind, "tekken", 300)),
		     *b = written(trained((pctl_tokenizer_kind)kind, "tekken", 300));

		assert_string_equal(a, b);
		free(a);
		free(b);
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(bad_byte_level), PCTL_TEST(bad_marked), PCTL_TEST(no_utf8),
		PCTL_TEST(long_words), PCTL_TEST(many_marks), PCTL_TEST(flags), PCTL_TEST(stream),
		PCTL_TEST(roles), PCTL_TEST(arrays), PCTL_TEST(arrays_twin), PCTL_TEST(training))
