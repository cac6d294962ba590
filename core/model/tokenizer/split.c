/* Pre-tokens by the expressions of the families, through PCRE2 with limits. An expression that is not in the table is refused
 * elsewhere: engines differ in what they mean by one, so a row says what it means here, and tests hold that against
 * Hugging Face's. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/utf8.h"
#include "model/tokenizer/private.h"

/* White space is Unicode's property White_Space (as Oniguruma and Rust have \s); \s of PCRE2 has U+180E besides. */
#define WS "\\t-\\r\\x{85}\\p{Z}"
#define TAIL "|[" WS "]+(?![^" WS "])|[" WS "]+"
#define TAIL_FILE "|\\s+(?!\\S)|\\s+"
#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define TEKKEN                                                                              \
	"[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER \
	"*|\\p{N}"

static const split_rule rules[] = {
	{"gpt2", "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+" TAIL_FILE,
	 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" WS "\\p{L}\\p{N}]+" TAIL, 1, 0, 0,
	 "gpt-2 gpt2 phi-2"},
	{"llama3",
	 CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
		      "|\\s*[\\r\\n]+" TAIL_FILE,
	 CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^" WS
		      "\\p{L}\\p{N}]+[\\r\\n]*|[" WS "]*[\\r\\n]+" TAIL,
	 0, 0, 1, "llama-bpe llama3 llama-v3"},
	{"qwen2",
	 CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
		      "|\\s*[\\r\\n]+" TAIL_FILE,
	 CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^" WS "\\p{L}\\p{N}]+[\\r\\n]*|[" WS
		      "]*[\\r\\n]+" TAIL,
	 0, 1, 0, "qwen2 deepseek-r1-qwen"},
	{"tekken", TEKKEN "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+" TAIL_FILE,
	 TEKKEN "| ?[^" WS "\\p{L}\\p{N}]+[\\r\\n/]*|[" WS "]*[\\r\\n]+" TAIL, 0, 0, 1, "tekken"},
};
#define N_RULES (sizeof(rules) / sizeof(rules[0]))

const split_rule *split_rule_at(uint32_t i)
{
	return i < N_RULES ? &rules[i] : NULL;
}

const split_rule *split_rule_named(const char *name)
{
	for (size_t i = 0; i < N_RULES; i++)
		if (strcmp(rules[i].name, name) == 0)
			return &rules[i];
	return NULL;
}

const split_rule *split_rule_of_pre(const char *pre)
{
	const size_t n = strlen(pre);

	for (size_t i = 0; i < N_RULES && n != 0; i++)
		for (const char *at = rules[i].pres; *at != '\0'; at += strspn(at, " ")) {
			const size_t word = strcspn(at, " ");

			if (word == n && memcmp(at, pre, n) == 0)
				return &rules[i];
			at += word;
		}
	return NULL;
}

const split_rule *split_rule_of(const char *expression)
{
	for (size_t i = 0; i < N_RULES; i++)
		if (strcmp(rules[i].expression, expression) == 0)
			return &rules[i];
	return NULL;
}

struct split_code {
	pcre2_code *code;
};

pctl_status split_compile(const split_rule *rule, const pctl_call *call, split_code **out)
{
	int error;
	PCRE2_SIZE at;

	*out = malloc(sizeof(**out));
	if (*out == NULL)
		return pctl_no_memory(call, "an expression");
	(*out)->code =
		pcre2_compile((PCRE2_SPTR)rule->pattern, PCRE2_ZERO_TERMINATED,
			      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &at, NULL);
	if ((*out)->code != NULL)
		return PCTL_OK;
	free(*out);
	*out = NULL;
	/* Expressions are ours: PCRE2 was built without Unicode, or there is no memory. */
	return pctl_refuse(call, PC7002_TOKENIZER_PART,
			   "this machine's PCRE2 does not take the pre-tokenizer of %s (error %d)",
			   rule->name, error);
}

void split_code_drop(split_code *code)
{
	if (code == NULL)
		return;
	pcre2_code_free(code->code);
	free(code);
}

/* Matching costs a bounded number of steps a byte with these expressions; more is a defect, and ends. */
static pcre2_match_context *limits(size_t n)
{
	pcre2_match_context *c = pcre2_match_context_create(NULL);

	if (c != NULL) {
		pcre2_set_match_limit(c,
				      (uint32_t)(n > UINT32_MAX / 32 ? UINT32_MAX : 1000 + n * 16));
		pcre2_set_heap_limit(c, 65536); /* KiB */
	}
	return c;
}

/* The pre-tokens of one run of UTF-8. */
static pctl_status split_run(const split_code *code, pcre2_match_context *context,
			     pcre2_match_data *data, const char *text, size_t n,
			     const pctl_call *call, split_word word, void *ctx)
{
	const PCRE2_SIZE *at = pcre2_get_ovector_pointer(data);
	pctl_status status = PCTL_OK;
	size_t done = 0;

	while (done < n && status == PCTL_OK) {
		const int found = pcre2_match(code->code, (PCRE2_SPTR)text, n, done,
					      PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, data, context);

		if (found == PCRE2_ERROR_NOMATCH)
			return word(ctx, text + done, n - done);
		if (found < 0)
			return pctl_refuse(
				call, PC7006_TOKENIZER_LIMIT,
				"a text is too much for its pre-tokenizer (PCRE2 error %d)", found);
		if (at[0] > done)
			status = word(ctx, text + done, at[0] - done);
		if (status == PCTL_OK)
			status = word(ctx, text + at[0], at[1] - at[0]);
		done = at[1];
	}
	return status;
}

pctl_status split_text(const split_code *code, const char *text, size_t n, const pctl_call *call,
		       split_word word, void *ctx)
{
	pcre2_match_context *context = NULL;
	pcre2_match_data *data = NULL;
	pctl_status status = PCTL_OK;
	size_t at = 0;

	context = limits(n);
	data = pcre2_match_data_create(1, NULL);
	if (context == NULL || data == NULL)
		status = pctl_no_memory(call, "pre-tokens");
	while (at < n && status == PCTL_OK) {
		const size_t run = pctl_utf8_bad(text + at, n - at, 0);
		size_t end = at + run;

		if (run != 0)
			status = split_run(code, context, data, text + at, run, call, word, ctx);
		at = end;
		while (end < n && pctl_utf8_decode(text + end, n - end, NULL) == 0)
			end++;
		if (end > at && status == PCTL_OK)
			status = word(ctx, text + at, end - at);
		at = end;
	}
	pcre2_match_data_free(data);
	pcre2_match_context_free(context);
	return status;
}
