/* Ids to bytes, all at once or one after the other. */
#include <inttypes.h>
#include <string.h>

#include "foundation/base/utf8.h"
#include "model/tokenizer/private.h"

/* The bytes of one token; *begun: some came before, so that a blank that begins them belongs to the text. */
static pctl_status add_token(const pctl_tokenizer *t, uint32_t id, int special, int *begun,
			     const pctl_call *call, pctl_str_buf *out)
{
	pctl_token_text bytes;
	const pctl_token_kind kind = pctl_tokenizer_token(t, id, &bytes);

	if (kind == PCTL_TOKEN_HOLE)
		return pctl_refuse(call, PC7005_TOKENIZER_TOKEN,
				   "%" PRIu32 " is no token; the vocabulary has %" PRIu32, id,
				   t->n);
	if ((kind == PCTL_TOKEN_SPECIAL && !special) || bytes.n == 0)
		return PCTL_OK;
	if (t->strip && !*begun && bytes.text[0] == ' ') {
		bytes.text++;
		bytes.n--;
	}
	*begun = 1;
	pctl_str_add_n(out, bytes.text, bytes.n);
	return out->failed ? pctl_no_memory(call, "a text") : PCTL_OK;
}

pctl_status pctl_tokenizer_decode(const pctl_tokenizer *t, const uint32_t *ids, size_t n,
				  int special, const pctl_call *call, pctl_str_buf *out)
{
	pctl_status status = PCTL_OK;
	int begun = 0;

	for (size_t i = 0; i < n && status == PCTL_OK; i++)
		status = add_token(t, ids[i], special, &begun, call, out);
	return status;
}

void pctl_token_stream_init(pctl_token_stream *s, const pctl_tokenizer *t, int special)
{
	*s = (pctl_token_stream){.tokenizer = t, .special = special};
}

/* Bytes of text[0..n) that some character could begin with and that are no whole one: all n, or, when no character goes on so, the
 * maximal part that one does (Unicode, table 3-7). *open: more bytes could complete it. */
static size_t part_of_character(const uint8_t *text, size_t n, int *open)
{
	const uint8_t first = text[0];
	const size_t want = first >= 0xc2 && first <= 0xdf   ? 2
			    : first >= 0xe0 && first <= 0xef ? 3
			    : first >= 0xf0 && first <= 0xf4 ? 4
							     : 1;
	uint8_t least = 0x80, most = 0xbf;
	size_t i = 1;

	if (first == 0xe0)
		least = 0xa0;
	else if (first == 0xed)
		most = 0x9f;
	else if (first == 0xf0)
		least = 0x90;
	else if (first == 0xf4)
		most = 0x8f;
	for (; i < n && i < want && text[i] >= least && text[i] <= most; i++) {
		least = 0x80;
		most = 0xbf;
	}
	*open = want > 1 && i == n && i < want;
	return i;
}

/* Whole characters of what waits and of n more bytes; the rest waits, or at the end is none. */
static void emit(pctl_token_stream *s, const char *bytes, size_t n, int end, pctl_str_buf *out)
{
	pctl_str_buf all = PCTL_STR_BUF_INIT;
	size_t i = 0;

	pctl_str_add_n(&all, (const char *)s->waiting, s->n_waiting);
	pctl_str_add_n(&all, bytes, n);
	s->n_waiting = 0;
	if (all.failed)
		out->failed = 1;
	while (!all.failed && i < all.n) {
		const size_t whole = pctl_utf8_bad(all.data + i, all.n - i, 0);
		size_t part;
		int open;

		pctl_str_add_n(out, all.data + i, whole);
		i += whole;
		if (i == all.n)
			break;
		part = part_of_character((const uint8_t *)all.data + i, all.n - i, &open);
		if (open && !end) {
			memcpy(s->waiting, all.data + i, part);
			s->n_waiting = (uint32_t)part;
			break;
		}
		pctl_str_add(out, "\xef\xbf\xbd");
		i += part;
	}
	pctl_str_drop(&all);
}

pctl_status pctl_token_stream_push(pctl_token_stream *s, uint32_t id, const pctl_call *call,
				   pctl_str_buf *out)
{
	pctl_str_buf bytes = PCTL_STR_BUF_INIT;
	pctl_token_text text;
	pctl_token_kind kind;
	pctl_status status;

	kind = pctl_tokenizer_token(s->tokenizer, id, &text);
	if (kind == PCTL_TOKEN_HOLE || kind == PCTL_TOKEN_UNUSED)
		return PCTL_OK;
	status = add_token(s->tokenizer, id, s->special, &s->begun, call, &bytes);
	if (status == PCTL_OK)
		emit(s, bytes.data, bytes.n, 0, out);
	pctl_str_drop(&bytes);
	return status == PCTL_OK && out->failed ? pctl_no_memory(call, "a text") : status;
}

void pctl_token_stream_end(pctl_token_stream *s, pctl_str_buf *out)
{
	emit(s, NULL, 0, 1, out);
}
