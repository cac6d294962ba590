/* Megabytes a second through each kind of tokenizer, trained on the text that is encoded: encoding, decoding, and copying the text as the
 * peer that nothing can beat. usage: bench_tokenizer [FILE [TOKENS]], the file being a licence of Debian where it is left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/clock.h"
#include "foundation/base/file.h"
#include "foundation/diag/diag.h"
#include "model/tokenizer/tokenizer.h"

#define TRIES 5u
#define LEAST (1u << 20) /* the text is repeated up to so many bytes */

typedef struct row {
	const char *name, *family;
	pctl_tokenizer_kind kind;
} row;

/* Processor seconds of the best of some tries. */
static double seconds_of(pctl_status (*work)(void *ctx), void *ctx, pctl_status *status)
{
	double best = 1e9;

	for (uint32_t i = 0; i < TRIES && *status == PCTL_OK; i++) {
		const uint64_t begun = pctl_clock_thread_ns();
		double took;

		*status = work(ctx);
		took = (double)(pctl_clock_thread_ns() - begun) * 1e-9;
		best = took < best ? took : best;
	}
	return best;
}

typedef struct run {
	const pctl_tokenizer *t;
	const char *text;
	size_t n;
	const pctl_call *call;
	pctl_token_ids ids;
	char *copy;
} run;

static pctl_status encode(void *ctx)
{
	run *r = ctx;

	r->ids.n = 0;
	return pctl_tokenizer_encode(r->t, r->text, r->n, 0, r->call, &r->ids);
}

static pctl_status decode(void *ctx)
{
	run *r = ctx;
	pctl_str_buf out = PCTL_STR_BUF_INIT;
	const pctl_status status =
		pctl_tokenizer_decode(r->t, r->ids.items, r->ids.n, 1, r->call, &out);

	pctl_str_drop(&out);
	return status;
}

static pctl_status copy(void *ctx)
{
	run *r = ctx;

	memcpy(r->copy, r->text, r->n);
	__asm__ volatile("" : : "r"(r->copy) : "memory");
	return PCTL_OK;
}

static pctl_status measure(const row *k, const pctl_token_text *text, run *r, uint32_t n_tokens)
{
	const pctl_tokenizer_training training = {.kind = k->kind,
						  .family = k->family,
						  .n_tokens = n_tokens,
						  .texts = text,
						  .n_texts = 1,
						  .fill = 1};
	pctl_tokenizer *t;
	pctl_status status = pctl_tokenizer_train(&training, r->call, &t);
	const double mb = (double)r->n * 1e-6;
	double encoded, decoded, copied;

	if (status != PCTL_OK)
		return status;
	r->t = t;
	encoded = seconds_of(encode, r, &status);
	decoded = seconds_of(decode, r, &status);
	copied = seconds_of(copy, r, &status);
	if (status == PCTL_OK) {
		printf("%-8s %8.2f MB/s encode  %8.1f MB/s decode  %9.0f MB/s copy  %5.2f bytes a "
		       "token\n",
		       k->name, mb / encoded, mb / decoded, mb / copied, (double)r->n / r->ids.n);
		printf("{\"bench\":\"tokenizer\",\"kind\":\"%s\",\"encode_mb_s\":%.3f,\"decode_mb_"
		       "s\":%.3f,\"copy_mb_s\":%.1f}\n",
		       k->name, mb / encoded, mb / decoded, mb / copied);
	}
	pctl_tokenizer_destroy(t);
	return status;
}

int main(int argc, char **argv)
{
	static const row rows[] = {
		{"gpt2", "gpt2", PCTL_TOKENIZER_BPE},	{"llama3", "llama3", PCTL_TOKENIZER_BPE},
		{"qwen2", "qwen2", PCTL_TOKENIZER_BPE}, {"tekken", "tekken", PCTL_TOKENIZER_BPE},
		{"llama", NULL, PCTL_TOKENIZER_LLAMA},	{"unigram", NULL, PCTL_TOKENIZER_UNIGRAM}};
	const char *path = argc > 1 ? argv[1] : "/usr/share/common-licenses/GPL-3";
	const uint32_t n_tokens = argc > 2 ? (uint32_t)atoi(argv[2]) : 3000;
	pctl_diag_list *l = pctl_diag_list_create();
	run r = {.call = pctl_diag_list_call(l)};
	pctl_str_buf all = PCTL_STR_BUF_INIT;
	char *text = NULL;
	uint64_t n = 0;
	pctl_status status = pctl_file_read(path, 1u << 26, r.call, &text, &n);

	while (status == PCTL_OK && n != 0 && all.n < LEAST && !all.failed)
		pctl_str_add_n(&all, text, (size_t)n);
	r.text = all.data;
	r.n = all.n;
	r.copy = malloc(all.n + 1);
	if (status == PCTL_OK && (all.failed || all.n == 0 || r.copy == NULL))
		status = pctl_no_memory(r.call, "a text");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && status == PCTL_OK; i++)
		status = measure(&rows[i], &(pctl_token_text){text, (size_t)n}, &r, n_tokens);
	pctl_diag_render_text(l, stderr, 0);
	free(text);
	free(r.ids.items);
	free(r.copy);
	pctl_str_drop(&all);
	pctl_diag_list_destroy(l);
	return status != PCTL_OK;
}
