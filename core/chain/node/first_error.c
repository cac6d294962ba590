/* Implementation of first_error.h. */
#include "chain/node/first_error.h"

#include <string.h>

#include "chain/chain_private.h"
#include "foundation/base/utf8.h"

/* At most `size` - 1 bytes of plain UTF-8, without control characters: what a message may hold. */
static void copy_words(const char *from, char *to, size_t size)
{
	size_t n = strlen(from);

	if (n >= size)
		n = pctl_utf8_cut(from, size - 1);
	memcpy(to, from, n);
	to[n] = '\0';
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)to[i] < 0x20 || to[i] == 0x7f)
			to[i] = ' ';
	}
	to[pctl_utf8_bad(to, n, PCTL_UTF8_PLAIN)] = '\0';
}

static void keep_first(void *ctx, const pctl_diag *d)
{
	node_first_error *e = ctx;

	if (d->severity == PCTL_SEVERITY_WARNING && e->chain != NULL && e->chain->report != NULL)
		e->chain->report(e->chain->report_ctx, d->code, d->message);
	if (e->code != 0 || d->severity != PCTL_SEVERITY_ERROR)
		return;
	e->code = d->code;
	copy_words(d->message, e->text, sizeof(e->text));
}

static uint32_t outer_cancelled(void *ctx)
{
	return pctl_is_cancelled(((const node_first_error *)ctx)->outer);
}

pctl_call node_keep_first(node_first_error *e, const pctl_call *outer)
{
	*e = (node_first_error){.outer = outer};
	return (pctl_call){.head = PCTL_HEAD(pctl_call),
			   .ctx = e,
			   .diag = keep_first,
			   .cancelled = outer_cancelled,
			   .trace_id = outer == NULL ? 0 : outer->trace_id};
}
