/* What receipts share beside the tables of their heads: where the signed head ends, and the list of strings behind it, which
 * the head binds by a root. Private to core/evidence/receipt. */
#ifndef PIPECTL_EVIDENCE_RECEIPT_FORM_H
#define PIPECTL_EVIDENCE_RECEIPT_FORM_H

#include "foundation/base/arena.h"
#include "foundation/base/str.h"

#define PCTL_RECEIPT_HEAD_MAX (1u << 20) /* bytes of a signed head */

/*
 * Bytes up to the end of the signature line, which is looked for as the first line that begins so (no string of a head
 * holds a line end); 0: there is none.
 */
size_t pctl_form_head(const char *text, size_t n);

/* key : ( "a", "b" ); one string a line. Nothing for none but the brackets. */
void pctl_form_lines(pctl_str_buf *s, const char *key, const char *const *lines, uint32_t n);
/* Read such a list that is all of text[0..n): 1 on success. Strings lie in the arena. */
int pctl_form_lines_read(const char *text, size_t n, const char *key, pctl_arena *arena,
			 const char *const **out, uint32_t *n_out);

#endif
