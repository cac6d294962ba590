/* Evidence compared and spelled; see evidence.h. */
#include "runtime/cas/evidence.h"

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
	if (x == y && a.kind == PCTL_EVIDENCE_QUORUM)
		return a.plugins < b.plugins ? -1 : a.plugins > b.plugins;
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
		snprintf(text, PCTL_EVIDENCE_TEXT,
			 e.plugins < e.k ? "quorum %" PRIu32 " of %" PRIu32 " (%" PRIu32 " plugins)"
					 : "quorum %" PRIu32 " of %" PRIu32,
			 e.k, e.n, e.plugins);
	else
		snprintf(text, PCTL_EVIDENCE_TEXT, "%s",
			 e.kind == PCTL_EVIDENCE_VERIFIED ? "verified" : "not verified");
	return text;
}

/* What is written is found by writing it again. */
int pctl_evidence_parse(const char *text, pctl_evidence *out)
{
	char again[PCTL_EVIDENCE_TEXT];
	int taken;

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
	*out = (pctl_evidence){.kind = PCTL_EVIDENCE_QUORUM};
	taken = sscanf(text, "quorum %2" SCNu32 " of %2" SCNu32 " (%2" SCNu32, &out->k, &out->n,
		       &out->plugins);
	if (taken == 2)
		out->plugins = out->k;
	if (taken >= 2 && out->k != 0 && out->k <= out->n && out->n <= DEVICES_MAX &&
	    out->plugins != 0 && strcmp(text, pctl_evidence_text(*out, again)) == 0)
		return 1;
	*out = (pctl_evidence){.kind = PCTL_EVIDENCE_NONE};
	return 0;
}
