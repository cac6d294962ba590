/* The form that receipts share: a signed head in libconfig's grammar, its signature on a line of its own, and behind it
 * what the head binds by a root, as one list of strings or a small group. Reading goes the other way round and then
 * writes again: a text is taken only when writing gives the same bytes. Private to core/evidence/receipt. */
#ifndef PIPECTL_EVIDENCE_RECEIPT_FORM_H
#define PIPECTL_EVIDENCE_RECEIPT_FORM_H

#include "foundation/base/arena.h"
#include "foundation/base/str.h"
#include "runtime/cas/cid.h"
#include "runtime/cas/sign.h"
#include "foundation/conf/conf.h"

#define PCTL_RECEIPT_HEAD_MAX (1u << 20) /* bytes of a signed head */

/* A text in double quotes: '"' and '\' behind a '\', what is not printable ASCII as \xHH. */
void pctl_form_quote(pctl_str_buf *s, const char *text);
/* INDENT key = "text"; */
void pctl_form_string(pctl_str_buf *s, const char *indent, const char *key, const char *text);
void pctl_form_u64(pctl_str_buf *s, const char *indent, const char *key, uint64_t value);
void pctl_form_digest(pctl_str_buf *s, const char *indent, const char *key,
		      const uint8_t digest[PCTL_DIGEST_BYTES]);
void pctl_form_cid(pctl_str_buf *s, const char *indent, const char *key, const pctl_cid *cid);

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

/* ---- taking values out of a head ---------------------------------------------------------- */

/* What is missing or of the wrong kind first, by its key; NULL: nothing so far. Strings are copied to the arena. */
typedef struct pctl_form_taker {
	pctl_arena *arena;
	const char *missing;
} pctl_form_taker;

const char *pctl_form_take_string(pctl_form_taker *t, const pctl_conf_value *group,
				  const char *key);
uint64_t pctl_form_take_u64(pctl_form_taker *t, const pctl_conf_value *group, const char *key);
uint32_t pctl_form_take_bool(pctl_form_taker *t, const pctl_conf_value *group, const char *key);
void pctl_form_take_digest(pctl_form_taker *t, const pctl_conf_value *group, const char *key,
			   uint8_t out[PCTL_DIGEST_BYTES]);
void pctl_form_take_cid(pctl_form_taker *t, const pctl_conf_value *group, const char *key,
			pctl_cid *out);
/* A list, an empty one when there is none; a group, NULL when there is none. */
const pctl_conf_value *pctl_form_take_list(pctl_form_taker *t, const pctl_conf_value *group,
					   const char *key);
const pctl_conf_value *pctl_form_take_group(pctl_form_taker *t, const pctl_conf_value *group,
					    const char *key);
/* Room for n elements, never NULL unless `missing` is set to "memory". */
void *pctl_form_take_room(pctl_form_taker *t, uint32_t n, size_t size);

#endif
