/* Who is believed: the one place that decides who agrees, who is in the minority and so quarantined, and who is neither.
 * Audits with and without the reference ask it for every output, runs under a quorum once more for the whole. */
#include "evidence/audit/quorum.h"

#include <string.h>

/* 1 when voters[i] is the first of its plugin (or of its plugin and driver) that speaks for its group. */
static int is_first(const pctl_quorum_voter *voters, uint32_t i, int with_driver)
{
	for (uint32_t k = 0; k < i; k++)
		if (voters[k].group == voters[i].group &&
		    strcmp(voters[k].plugin, voters[i].plugin) == 0 &&
		    (!with_driver || strcmp(voters[k].driver, voters[i].driver) == 0))
			return 0;
	return 1;
}

typedef struct tally {
	uint32_t voices, plugins, vouched;
} tally;

static tally count(const pctl_quorum_voter *voters, uint32_t n, uint32_t group)
{
	tally t = {0, 0, 0};

	for (uint32_t i = 0; i < n; i++) {
		if (voters[i].group != group)
			continue;
		t.voices += (uint32_t)is_first(voters, i, 1);
		t.plugins += (uint32_t)is_first(voters, i, 0);
		t.vouched |= voters[i].vouched;
	}
	return t;
}

/* Below, at or above 0 as a has fewer votes, as many, or more. */
static int compare(const tally *a, const tally *b)
{
	if (a->plugins != b->plugins)
		return a->plugins < b->plugins ? -1 : 1;
	return a->voices < b->voices ? -1 : a->voices > b->voices;
}

/* The group that stands, PCTL_QUORUM_SILENT when none does, or two alike. */
static uint32_t elect(const pctl_quorum_voter *voters, uint32_t n, uint32_t k, tally *out)
{
	uint32_t best = PCTL_QUORUM_SILENT;
	int is_tied = 0;

	*out = (tally){0, 0, 0};
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t group = voters[i].group;
		const tally t = count(voters, n, group);
		int more;

		if (group == PCTL_QUORUM_SILENT || group == best || t.voices < k || t.plugins < 2 ||
		    !t.vouched)
			continue;
		more = compare(&t, out);
		is_tied = more == 0 || (more < 0 && is_tied);
		if (more > 0) {
			best = group;
			*out = t;
		}
	}
	if (is_tied)
		*out = (tally){0, 0, 0};
	return is_tied ? PCTL_QUORUM_SILENT : best;
}

void pctl_quorum_decide(pctl_quorum_voter *voters, uint32_t n, uint32_t k,
			pctl_quorum_decision *out)
{
	uint32_t right = PCTL_QUORUM_SILENT;
	tally t;

	*out = (pctl_quorum_decision){.group = elect(voters, n, k, &t)};
	for (uint32_t i = 0; i < n && right == PCTL_QUORUM_SILENT; i++)
		if (voters[i].is_reference)
			right = voters[i].group;
	if (right != PCTL_QUORUM_SILENT && right != out->group) {
		/* It alone decides, but not against a quorum: one of the two is wrong, and who cannot be told. */
		out->disputed = out->group != PCTL_QUORUM_SILENT;
		out->group = out->disputed ? PCTL_QUORUM_SILENT : right;
	} else if (out->group != PCTL_QUORUM_SILENT) {
		out->stands = 1;
		out->voices = t.voices;
		out->plugins = t.plugins;
	}
	for (uint32_t i = 0; i < n; i++)
		voters[i].verdict = voters[i].group == PCTL_QUORUM_SILENT ? PCTL_QUORUM_NONE
				    : out->group == PCTL_QUORUM_SILENT	  ? PCTL_QUORUM_OPEN
				    : voters[i].group == out->group	  ? PCTL_QUORUM_AGREES
									  : PCTL_QUORUM_MINORITY;
}
