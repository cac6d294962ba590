/* Implementation of kept.h. */
#include "runtime/plugin/kept.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"

#define FILE_MAX (16u << 20)

static size_t row_size(const pctl_kept *k)
{
	return k->type->shape->fields->of->size;
}

pctl_status pctl_kept_load(pctl_kept *k, const pctl_record_type *type, pctl_arena *arena,
			   const char *path, const pctl_call *call)
{
	char *text = NULL;
	uint64_t n = 0;
	pctl_status s;

	*k = (pctl_kept){.type = type, .arena = arena};
	if (!path || !pctl_file_exists(path))
		return PCTL_OK;
	s = pctl_file_read(path, FILE_MAX, call, &text, &n);
	if (!s)
		s = pctl_record_read(type, path, text, n, arena, call, k);
	k->n = s ? 0 : k->n;
	k->cap = k->n;
	free(text);
	return s;
}

pctl_status pctl_kept_save(const pctl_kept *k, const char *path, int durable, const pctl_call *call)
{
	pctl_str_buf b = PCTL_STR_BUF_INIT;
	pctl_status s;

	pctl_record_text(k->type, k, &b);
	s = b.failed ? pctl_refuse(call, PC2_NOMEM, "no memory to write %s", path)
		     : pctl_file_write(path, b.data, b.n, durable, call);
	pctl_str_drop(&b);
	return s;
}

int pctl_kept_add(pctl_kept *k, const void *row)
{
	const size_t size = row_size(k);

	if (k->n == k->cap) {
		const uint32_t cap = k->cap ? 2 * k->cap : 16;
		char *grown = pctl_arena_array(k->arena, cap, size);

		if (!grown)
			return 0;
		if (k->n)
			memcpy(grown, k->rows, k->n * size);
		k->rows = grown;
		k->cap = cap;
	}
	memcpy(k->rows + k->n++ * size, row, size);
	return 1;
}

void pctl_kept_remove(pctl_kept *k, uint32_t i)
{
	const size_t size = row_size(k);

	k->n--;
	memmove(k->rows + i * size, k->rows + (i + 1) * size, (k->n - i) * size);
}
