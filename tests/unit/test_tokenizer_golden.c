/* Ids as Hugging Face's tokenizers and SentencePiece gave them (tests/golden/tokenizer/make.py made the files, by hand), of tokenizers of
 * every family that is known. PCTL_TOKENIZER_GOLDEN names another folder, for more texts than are kept here. */
#include "main.h"

#include <stdlib.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "foundation/diag/diag.h"
#include "model/tokenizer/tokenizer.h"

#define SCORES_MAX 4096u

static char *read_file(const char *name, const char *ending, size_t *n)
{
	const char *folder = getenv("PCTL_TOKENIZER_GOLDEN");
	char path[512];
	char *text;
	uint64_t size;

	snprintf(path, sizeof(path), "%s/%s.%s",
		 folder == NULL ? PIPECTL_SOURCE_DIR "/tests/golden/tokenizer" : folder, name,
		 ending);
	assert_int_equal(pctl_file_read(path, 1u << 30, NULL, &text, &size), PCTL_OK);
	*n = (size_t)size;
	return text;
}

/* The bytes of hexadecimal digits at *at, which ends behind them. */
static size_t take_hex(char **at, char *out)
{
	size_t n = 0;

	for (; (*at)[0] != '\t'; *at += 2) {
		char digits[3] = {(*at)[0], (*at)[1], '\0'};

		out[n++] = (char)strtoul(digits, NULL, 16);
	}
	++*at;
	return n;
}

/* Every line of NAME.tsv. exact: decoding gives the text again. */
static void compare(const char *name, const pctl_tokenizer *t, int exact)
{
	size_t n, lines = 0;
	char *text = read_file(name, "tsv", &n), *at = text;
	char *bytes = malloc(n + 1);

	while (*at != '\0') {
		const size_t n_bytes = take_hex(&at, bytes);
		const uint32_t flags = PCTL_ENCODE_ADDED | (*at == '1' ? PCTL_ENCODE_SPECIAL : 0);
		pctl_token_ids ids = {0};
		pctl_str_buf back = PCTL_STR_BUF_INIT;
		uint32_t k = 0;
		int same = 1;

		assert_int_equal(pctl_tokenizer_encode(t, bytes, n_bytes, flags, NULL, &ids),
				 PCTL_OK);
		for (at += 2; *at != '\n'; k++) {
			const unsigned long want = strtoul(at, &at, 10);

			at += *at == ' ';
			same &= k < ids.n && ids.items[k] == want;
		}
		at++;
		lines++;
		if (!same || k != ids.n) {
			fprintf(stderr, "%s, line %zu: \"%.*s\"\n got:", name, lines, (int)n_bytes,
				bytes);
			for (uint32_t i = 0; i < ids.n; i++)
				fprintf(stderr, " %u", ids.items[i]);
			fail_msg("other ids than wanted");
		}
		assert_int_equal(pctl_tokenizer_decode(t, ids.items, ids.n, 1, NULL, &back),
				 PCTL_OK);
		if (exact &&
		    (back.n != n_bytes || (n_bytes && memcmp(back.data, bytes, n_bytes) != 0)))
			fail_msg("%s, line %zu: decoded to another text", name, lines);
		pctl_str_drop(&back);
		free(ids.items);
	}
	assert_true(lines >= 100);
	free(bytes);
	free(text);
}

/* Read, compared, written, read again, compared again; and what is written then is what was written before. */
static void family(const char *name, int exact)
{
	pctl_diag_list *said = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(said);
	pctl_tokenizer *t, *again;
	char *text, *written, *twice;
	size_t n, n_written, n_twice;

	text = read_file(name, "json", &n);
	if (pctl_tokenizer_read(name, text, n, call, &t) != PCTL_OK)
		fail_msg("%s: %s", name, pctl_diag_list_at(said, 0)->message);
	compare(name, t, exact);
	assert_int_equal(pctl_tokenizer_write(t, call, &written, &n_written), PCTL_OK);
	assert_int_equal(pctl_tokenizer_read(name, written, n_written, call, &again), PCTL_OK);
	compare(name, again, exact);
	assert_int_equal(pctl_tokenizer_write(again, call, &twice, &n_twice), PCTL_OK);
	assert_int_equal(n_written, n_twice);
	assert_memory_equal(written, twice, n_twice);
	pctl_tokenizer_destroy(t);
	pctl_tokenizer_destroy(again);
	pctl_diag_list_destroy(said);
	free(text);
	free(written);
	free(twice);
}

static void gpt2(void **state)
{
	(void)state;
	family("gpt2", 1);
}

static void llama3(void **state)
{
	(void)state;
	family("llama3", 1);
}

static void qwen2(void **state)
{
	(void)state;
	family("qwen2", 0); /* texts are put into a normal form */
}

static void tekken(void **state)
{
	(void)state;
	family("tekken", 1);
}

static void llama(void **state)
{
	(void)state;
	family("llama", 0); /* a space mark in a text comes back as a blank */
}

static void mistral(void **state)
{
	(void)state;
	family("mistral", 0);
}

static void phi3(void **state)
{
	(void)state;
	family("phi3", 0); /* white space behind special tokens goes */
}

static void gemma(void **state)
{
	(void)state;
	family("gemma", 0);
}

static void unigram(void **state)
{
	(void)state;
	family("unigram", 0);
}

/* The same pieces with the marks of phi3's conversations, as its GGUF files have them, which do not say what these do with white space. */
static void phi3_of_arrays(pctl_tokenizer_arrays *a, pctl_token_text *tokens, int32_t *types)
{
	static const char *const marks[] = {"<|endoftext|>", "<|assistant|>", "<|system|>",
					    "<|end|>", "<|user|>"};
	pctl_tokenizer *t;

	for (size_t i = 0; i < 5; i++, a->n_tokens++) {
		assert_true(a->n_tokens < SCORES_MAX);
		tokens[a->n_tokens] = (pctl_token_text){marks[i], strlen(marks[i])};
		types[a->n_tokens] = 3;
	}
	assert_int_equal(pctl_tokenizer_of_arrays(a, NULL, &t), PCTL_OK);
	compare("phi3", t, 0);
	/* A turn ends with one of them. */
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(pctl_tokenizer_ends(t, a->n_tokens - 5 + i), i == 0 || i == 3);
	pctl_tokenizer_destroy(t);
}

/* Pieces with scores, as GGUF has them, against SentencePiece itself. */
static void scores(void **state)
{
	size_t n;
	char *text = read_file("scores", "scores", &n), *at = text;
	char *bytes = malloc(n);
	pctl_token_text *tokens = calloc(SCORES_MAX, sizeof(*tokens));
	float *score = calloc(SCORES_MAX, sizeof(*score));
	int32_t *types = calloc(SCORES_MAX, sizeof(*types));
	pctl_tokenizer_arrays a = {.name = "scores",
				   .model = "llama",
				   .tokens = tokens,
				   .scores = score,
				   .types = types,
				   .bos = 1,
				   .eos = 2,
				   .eot = PCTL_TOKEN_NONE,
				   .pad = PCTL_TOKEN_NONE,
				   .unknown = 0,
				   .add_bos = -1,
				   .add_eos = -1,
				   .add_space_prefix = -1};
	pctl_tokenizer *t;
	char *out = bytes, *written;

	(void)state;
	for (; *at != '\0'; a.n_tokens++) {
		assert_true(a.n_tokens < SCORES_MAX);
		tokens[a.n_tokens] = (pctl_token_text){out, take_hex(&at, out)};
		out += tokens[a.n_tokens].n;
		score[a.n_tokens] = (float)pctl_num_parse_double(at, &at);
		types[a.n_tokens] = (int32_t)strtol(at, &at, 10);
		at++;
	}
	assert_int_equal(pctl_tokenizer_of_arrays(&a, NULL, &t), PCTL_OK);
	compare("scores", t, 0);
	/* There is no way to say such merging in a tokenizer.json. */
	assert_int_equal(pctl_tokenizer_write(t, NULL, &written, &n), PCTL_E_UNSUPPORTED);
	assert_null(written);
	pctl_tokenizer_destroy(t);
	phi3_of_arrays(&a, tokens, types);
	free(tokens);
	free(score);
	free(types);
	free(bytes);
	free(text);
}

PCTL_TESTS_MAIN(PCTL_TEST(gpt2), PCTL_TEST(llama3), PCTL_TEST(qwen2), PCTL_TEST(tekken),
		PCTL_TEST(llama), PCTL_TEST(mistral), PCTL_TEST(gemma), PCTL_TEST(unigram),
		PCTL_TEST(phi3), PCTL_TEST(scores))
