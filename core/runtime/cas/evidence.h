/* How a result stands: what was done to show that its bytes are the right ones. One noun for runs, remembered results,
 * stored bytes and receipts. */
#ifndef PIPECTL_RUNTIME_CAS_EVIDENCE_H
#define PIPECTL_RUNTIME_CAS_EVIDENCE_H

#include <stdint.h>

/* Weakest first. A certificate speaks of other cases than these, so it verifies nothing. */
enum {
	PCTL_EVIDENCE_NONE = 0,
	PCTL_EVIDENCE_CERTIFIED = 1, /* `level` of the device for the op, with these very files */
	PCTL_EVIDENCE_QUORUM = 2,    /* `k` of `n` devices of `plugins` plugins gave these bytes */
	PCTL_EVIDENCE_VERIFIED = 3   /* the reference gave these bytes */
};

typedef struct pctl_evidence {
	uint32_t kind, level, k, n; /* fields that the kind has no use for are 0 */
	uint32_t plugins;
} pctl_evidence;

#define PCTL_EVIDENCE_TEXT 48u

/* Below, at or above 0 as a is weaker than b, as strong, or stronger. */
int pctl_evidence_compare(pctl_evidence a, pctl_evidence b);
pctl_evidence pctl_evidence_weaker(pctl_evidence a, pctl_evidence b);

/* "verified", "quorum 2 of 3", "quorum 3 of 3 (2 plugins)" where drivers of one plugin are among them, "not verified
 * (certified L2)", "not verified". Returns `text`. */
const char *pctl_evidence_text(pctl_evidence e, char text[PCTL_EVIDENCE_TEXT]);
/* The reverse; 0 for any other text. */
int pctl_evidence_parse(const char *text, pctl_evidence *out);

#endif
