/* The table of element types, and their sizes. */
#include "foundation/dtype/dtype.h"

#include <string.h>

#include "foundation/base/num.h"

static const pctl_dtype rows[] = {
#define PCTL_DTYPE_ROW(id, name, kind, bits, block, exponent, fraction, specials, about) \
	{id,	   name,     PCTL_DTYPE_KIND_##kind,	     bits, block,                \
	 exponent, fraction, PCTL_DTYPE_SPECIALS_##specials, about},
#include "foundation/dtype/dtype.def"
#undef PCTL_DTYPE_ROW
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

const pctl_dtype *pctl_dtype_row(uint32_t i)
{
	return i < N_ROWS ? &rows[i] : NULL;
}

const pctl_dtype *pctl_dtype_of(uint32_t id)
{
	for (size_t i = 0; i < N_ROWS; i++)
		if (rows[i].id == id)
			return &rows[i];
	return NULL;
}

const pctl_dtype *pctl_dtype_named(const char *name, size_t n)
{
	for (size_t i = 0; i < N_ROWS; i++)
		if (strlen(rows[i].name) == n && memcmp(rows[i].name, name, n) == 0)
			return &rows[i];
	return NULL;
}

int pctl_dtype_size(const pctl_dtype *t, uint64_t n, uint64_t *n_bytes)
{
	uint64_t whole, rest;

	if (n % t->block != 0)
		return 0;
	n /= t->block;
	/* n * bits may overflow where its bytes do not. */
	if (t->bits >= 8)
		return pctl_num_mul(n, t->bits / 8, n_bytes);
	whole = n / 8 * t->bits;
	rest = (n % 8 * t->bits + 7) / 8;
	return pctl_num_add(whole, rest, n_bytes);
}

int pctl_dtype_padded(const pctl_dtype *t, const void *data, uint64_t n, uint64_t n_bytes)
{
	const uint8_t *bytes = data;
	const uint64_t used = t->bits >= 8 ? 0 : n % 8 * t->bits % 8;
	uint64_t end;

	if (!pctl_dtype_size(t, n, &end) || end > n_bytes)
		return 0;
	if (used != 0 && bytes[end - 1] >> used != 0)
		return 0;
	for (; end < n_bytes; end++)
		if (bytes[end] != 0)
			return 0;
	return 1;
}

uint64_t pctl_dtype_bad(const pctl_dtype *t, const void *data, uint64_t n)
{
	pctl_exact v;
	uint64_t i = 0;

	if (t->kind == PCTL_DTYPE_KIND_TERNARY || t->kind == PCTL_DTYPE_KIND_BOOL)
		while (i < n && pctl_dtype_read(t, data, i, &v))
			i++;
	else
		i = n; /* every code is a number, or none is */
	return i;
}
