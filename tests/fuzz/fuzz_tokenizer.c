/* Any bytes as a tokenizer.json: refused with one error said, or read; what was read is written, read again to the same bytes, and
 * encodes and decodes. Any bytes as a tokenizer_config.json. */
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "model/tokenizer/tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void use(const pctl_tokenizer *t)
{
	static const char *const texts[] = {
		"hello  world\n<s>\xff caf\xc3\xa9 e\xcc\x81 12345", "",
		"\xe2\x96\x81\xe4\xb8\xad \xf0\x9f\x91\xa9\xe2\x80\x8d"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		pctl_token_ids ids = {0};
		pctl_str_buf text = PCTL_STR_BUF_INIT;

		if (pctl_tokenizer_encode(t, texts[i], strlen(texts[i]),
					  PCTL_ENCODE_BEGIN | PCTL_ENCODE_SPECIAL |
						  PCTL_ENCODE_ADDED,
					  NULL, &ids) != PCTL_OK ||
		    pctl_tokenizer_decode(t, ids.items, ids.n, 1, NULL, &text) != PCTL_OK)
			abort();
		pctl_str_drop(&text);
		free(ids.items);
	}
}

static void write_again(const pctl_tokenizer *t)
{
	pctl_tokenizer *twin;
	char *first, *second;
	size_t n_first, n_second;

	if (pctl_tokenizer_write(t, NULL, &first, &n_first) != PCTL_OK ||
	    pctl_tokenizer_read("twin", first, n_first, NULL, &twin) != PCTL_OK)
		abort();
	if (pctl_tokenizer_write(twin, NULL, &second, &n_second) != PCTL_OK ||
	    n_first != n_second || memcmp(first, second, n_first) != 0)
		abort();
	pctl_tokenizer_destroy(twin);
	free(first);
	free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	pctl_diag_list *said = pctl_diag_list_create();
	/* A copy that ends where the input does, for whoever reads past it. */
	char *text = malloc(n + (n == 0));
	pctl_tokenizer *t;

	memcpy(text, data, n);
	if (pctl_tokenizer_read("fuzz", text, n, pctl_diag_list_call(said), &t) == PCTL_OK) {
		use(t);
		write_again(t);
		(void)pctl_tokenizer_configure(t, "fuzz", text, n, NULL);
		pctl_tokenizer_destroy(t);
	} else if (t != NULL || pctl_diag_list_errors(said) != 1) {
		abort();
	}
	free(text);
	pctl_diag_list_destroy(said);
	return 0;
}
