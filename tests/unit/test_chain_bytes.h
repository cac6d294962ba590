/* What the tests of messages share: bytes written as hex, and a call that keeps what was refused. */
#ifndef PIPECTL_TESTS_CHAIN_BYTES_H
#define PIPECTL_TESTS_CHAIN_BYTES_H

#include <stdlib.h>
#include <string.h>

#include "pipectl/host.h"

static uint32_t refused[64], n_refused;
static char words[600], hint[400];

static void keep(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	if (n_refused < 64)
		refused[n_refused++] = d->code;
	snprintf(words, sizeof(words), "%s", d->message);
	snprintf(hint, sizeof(hint), "%s", d->hint == NULL ? "" : d->hint);
}

static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = keep};

static inline void forget(void)
{
	n_refused = 0;
	words[0] = hint[0] = '\0';
}

/* Hex digits, blanks between them, to bytes in a buffer of their own size, so that a sanitizer sees a read behind
 * them. */
static inline uint8_t *unhex(const char *text, size_t *n)
{
	uint8_t *out = malloc(strlen(text) / 2 + 1), *exact;
	unsigned v;

	*n = 0;
	while (sscanf(text, " %2x", &v) == 1) {
		out[(*n)++] = (uint8_t)v;
		text += strspn(text, " ") + 2;
	}
	exact = malloc(*n > 0 ? *n : 1);
	memcpy(exact, out, *n);
	free(out);
	return exact;
}

#endif
