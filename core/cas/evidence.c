/* Evidence compared and spelled; see evidence.h. */
#include "cas/evidence.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LEVEL_MAX 4u
#define DEVICES_MAX 64u

int pctl_evidence_compare(pctl_evidence a, pctl_evidence b)
{
	const uint32_t x = a.kind == PCTL_EVIDENCE_CERTIFIED ? a.level : a.k;
	const uint32_t y = b.kind == PCTL_EVIDENCE_CERTIFIED ? b.level : b.k;

	if (a.kind != b.kind)
		return a.kind < b.kind ? -1 : 1;
	return x < y ? -1 : x > y;
}

pctl_evidence pctl_evidence_weaker(pctl_evidence a, pctl_evidence b)
{
	return pctl_evidence_compare(a, b) <= 0 ? a : b;
}

const char *pctl_evidence_text(pctl_evidence e, char text[PCTL_EVIDENCE_TEXT])
{
	if (e.kind == PCTL_EVIDENCE_CERTIFIED)
		snprintf(text, PCTL_EVIDENCE_TEXT, "not verified (certified L%" PRIu32 ")",
			 e.level);
	else if (e.kind == PCTL_EVIDENCE_QUORUM)
		snprintf(text, PCTL_EVIDENCE_TEXT, "quorum %" PRIu32 " of %" PRIu32, e.k, e.n);
	else
		snprintf(text, PCTL_EVIDENCE_TEXT, "%s",
			 e.kind == PCTL_EVIDENCE_VERIFIED ? "verified" : "not verified");
	return text;
}

/* What is written is found by writing it: there are few of them. */
int pctl_evidence_parse(const char *text, pctl_evidence *out)
{
	char again[PCTL_EVIDENCE_TEXT];

	*out = (pctl_evidence){.kind = PCTL_EVIDENCE_VERIFIED};
	if (strcmp(text, pctl_evidence_text(*out, again)) == 0)
		return 1;
	*out = (pctl_evidence){.kind = PCTL_EVIDENCE_NONE};
	if (strcmp(text, pctl_evidence_text(*out, again)) == 0)
		return 1;
	for (uint32_t level = 1; level <= LEVEL_MAX; level++) {
		*out = (pctl_evidence){.kind = PCTL_EVIDENCE_CERTIFIED, .level = level};
		if (strcmp(text, pctl_evidence_text(*out, again)) == 0)
			return 1;
	}
	for (uint32_t n = 1; n <= DEVICES_MAX; n++)
		for (uint32_t k = 1; k <= n; k++) {
			*out = (pctl_evidence){.kind = PCTL_EVIDENCE_QUORUM, .k = k, .n = n};
			if (strcmp(text, pctl_evidence_text(*out, again)) == 0)
				return 1;
		}
	*out = (pctl_evidence){.kind = PCTL_EVIDENCE_NONE};
	return 0;
}
