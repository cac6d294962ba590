/* Any bytes as each record that is lines, chosen by the first byte, from `a` on: refused, or what writing gives. */
#include <stdlib.h>
#include <string.h>

#include "lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const pctl_record_type *t =
		n == 0 ? NULL : line_records[(uint8_t)(data[0] - 'a') % N_LINE_RECORDS].type;
	const char *text = (const char *)data + 1;
	pctl_str_buf again = PCTL_STR_BUF_INIT;
	pctl_arena *arena;
	void *record;

	if (t == NULL)
		return 0;
	arena = pctl_arena_create();
	record = arena == NULL ? NULL : pctl_arena_alloc(arena, t->shape->size);
	if (record == NULL)
		abort();
	if (pctl_record_read(t, "fuzz", text, n - 1, arena, NULL, record) == PCTL_OK) {
		const int same = pctl_record_check(t, "fuzz", text, n - 1, NULL, record) == PCTL_OK;

		pctl_record_text(t, record, &again);
		if (again.failed ||
		    same != (again.n == n - 1 && (n == 1 || memcmp(again.data, text, n - 1) == 0)))
			abort();
	}
	pctl_str_drop(&again);
	pctl_arena_destroy(arena);
	return 0;
}
