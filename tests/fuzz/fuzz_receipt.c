/* Any bytes, sealed, as a run's receipt, as a block's or one job's, and bare as a block's file of statements: refused, or
 * what writing gives again. */
#include "evidence/receipt/block_receipt.h"
#include "evidence/receipt/receipt.h"
#include "sealed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void statements(const char *text, size_t n)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_str_buf again = PCTL_STR_BUF_INIT;
	pctl_block_statements s;
	char *out;

	if (pctl_block_statements_read("fuzz", text, n, arena, NULL, &s) == PCTL_OK) {
		if (pctl_block_statements_text(&s, NULL, &again) != PCTL_OK)
			abort();
		if (again.n != n)
			abort();
		out = pctl_str_finish(&again);
		if (out == NULL || memcmp(out, text, n) != 0)
			abort();
		free(out);
	}
	pctl_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	pctl_block_receipt *block = NULL;
	pctl_receipt *r = NULL;
	size_t n_sealed;
	char *sealed = fuzz_seal(data, n, &n_sealed), *bare = malloc(n + 1);

	if (bare == NULL)
		abort();
	memcpy(bare, data, n);
	bare[n] = '\0';
	statements(bare, n);
	if ((pctl_receipt_parse("fuzz", sealed, n_sealed, NULL, &r) == PCTL_OK) != (r != NULL))
		abort();
	pctl_receipt_destroy(r);
	if ((pctl_block_receipt_parse("fuzz", sealed, n_sealed, NULL, &block) == PCTL_OK) !=
	    (block != NULL))
		abort();
	pctl_block_receipt_destroy(block);
	free(bare);
	free(sealed);
	return 0;
}
