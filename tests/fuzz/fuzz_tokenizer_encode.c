/* Any bytes as a text, through a tokenizer of each kind: it comes back where all bytes have tokens, the stream of its tokens is the same
 * text with what is no UTF-8 replaced, and no special token comes of it. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/utf8.h"
#include "model/tokenizer/tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define KINDS 5u
static pctl_tokenizer *tokenizers[KINDS];

static void make(void)
{
	static const char sample[] =
		"the licence of the library is the same as the licence of the program  \n\n "
		"It's they'LL 1234 caf\xc3\xa9 \xe4\xb8\xad\xe6\x96\x87 \xe2\x96\x81";
	static const char *const families[KINDS] = {"gpt2", "llama3", "tekken", NULL, NULL},
				 *const special[] = {"<s>", "</s>", "<|x|>"};
	static const pctl_tokenizer_kind kinds[KINDS] = {PCTL_TOKENIZER_BPE, PCTL_TOKENIZER_BPE,
							 PCTL_TOKENIZER_BPE, PCTL_TOKENIZER_LLAMA,
							 PCTL_TOKENIZER_UNIGRAM};
	const pctl_token_text text = {sample, sizeof(sample) - 1};

	for (uint32_t k = 0; k < KINDS; k++) {
		const pctl_tokenizer_training training = {.kind = kinds[k],
							  .family = families[k],
							  .n_tokens = 330,
							  .texts = &text,
							  .n_texts = 1,
							  .special = special,
							  .n_special = 3,
							  .fill = 1};

		if (pctl_tokenizer_train(&training, NULL, &tokenizers[k]) != PCTL_OK)
			abort();
	}
}

static void through(const pctl_tokenizer *t, const char *text, size_t n, int exact)
{
	pctl_token_ids ids = {0};
	pctl_str_buf back = PCTL_STR_BUF_INIT, streamed = PCTL_STR_BUF_INIT;
	pctl_token_stream stream;

	if (pctl_tokenizer_encode(t, text, n, PCTL_ENCODE_ADDED, NULL, &ids) != PCTL_OK ||
	    pctl_tokenizer_decode(t, ids.items, ids.n, 1, NULL, &back) != PCTL_OK)
		abort();
	if (exact && (back.n != n || (n != 0 && memcmp(back.data, text, n) != 0)))
		abort();
	pctl_token_stream_init(&stream, t, 1);
	for (uint32_t i = 0; i < ids.n; i++) {
		pctl_token_text bytes;

		if (pctl_tokenizer_token(t, ids.items[i], &bytes) == PCTL_TOKEN_SPECIAL &&
		    ids.items[i] != pctl_tokenizer_role(t, PCTL_TOKEN_UNK))
			abort();
		if (pctl_token_stream_push(&stream, ids.items[i], NULL, &streamed) != PCTL_OK)
			abort();
	}
	pctl_token_stream_end(&stream, &streamed);
	if (streamed.n != 0 && pctl_utf8_bad(streamed.data, streamed.n, 0) != streamed.n)
		abort();
	if (back.n != 0 && pctl_utf8_bad(back.data, back.n, 0) == back.n &&
	    (streamed.n != back.n || memcmp(streamed.data, back.data, back.n) != 0))
		abort();
	pctl_str_drop(&back);
	pctl_str_drop(&streamed);
	free(ids.items);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = malloc(n + (n == 0));

	if (tokenizers[0] == NULL)
		make();
	memcpy(text, data, n);
	for (uint32_t k = 0; k < KINDS; k++)
		through(tokenizers[k], text, n, k < 3);
	free(text);
	return 0;
}
