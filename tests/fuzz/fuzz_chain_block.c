/* Any bytes as each file of a block's record: refused, or what writing gives again. */
#include <stdlib.h>
#include <string.h>

#include "chain/blocks/block_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void same(pctl_str_buf *again, const char *text, size_t n)
{
	const size_t m = again->n;
	char *out = pctl_str_finish(again);

	if (out == NULL || m != n || memcmp(out, text, n) != 0)
		abort();
	free(out);
}

static void messages(const pctl_block_record *r, pctl_arena *a, const char *text, size_t n)
{
	pctl_str_buf again = PCTL_STR_BUF_INIT;
	pctl_block_message *m;
	uint32_t count;

	if (pctl_block_read_messages(r, "fuzz", a, NULL, &m, &count) != PCTL_OK)
		return;
	for (uint32_t i = 0; i < count; i++)
		if (pctl_block_message_text(m[i].origin, m[i].bytes, m[i].n_bytes, NULL, &again) !=
		    PCTL_OK)
			abort();
	same(&again, text, n);
}

static void results(const pctl_block_record *r, pctl_arena *a, const char *text, size_t n)
{
	pctl_str_buf again = PCTL_STR_BUF_INIT;
	pctl_block_result *found;
	uint32_t count;

	if (pctl_block_read_results(r, "fuzz", a, NULL, &found, &count) != PCTL_OK)
		return;
	for (uint32_t i = 0; i < count; i++)
		pctl_block_result_text(&found[i], &again);
	same(&again, text, n);
}

static void manifest(const pctl_block_record *r, pctl_arena *a, const char *text, size_t n)
{
	pctl_str_buf again = PCTL_STR_BUF_INIT;
	pctl_block_need *needs;
	uint32_t count;

	if (pctl_block_read_manifest(r, "fuzz", a, NULL, &needs, &count) != PCTL_OK)
		return;
	for (uint32_t i = 0; i < count; i++)
		pctl_block_need_text(&needs[i], &again);
	same(&again, text, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	pctl_arena *a = pctl_arena_create();
	pctl_block_record r = {.text = {NULL}};
	pctl_block_header header;
	pctl_params params;
	char *text = malloc(n + 1);

	if (a == NULL || text == NULL)
		abort();
	memcpy(text, data, n);
	text[n] = '\0';
	for (uint32_t i = 0; i < PCTL_BLOCK_FILES; i++) {
		r.text[i] = text;
		r.n_bytes[i] = n;
	}
	(void)pctl_block_read_header(&r, "fuzz", NULL, &header);
	(void)pctl_block_read_genesis(&r, "fuzz", NULL, &params);
	messages(&r, a, text, n);
	results(&r, a, text, n);
	manifest(&r, a, text, n);
	free(text);
	pctl_arena_destroy(a);
	return 0;
}
