/* Who is believed: the one place that decides who agrees, who is in the minority and so quarantined, and who is neither.
 * Audits with and without the reference ask it for every output, runs under a quorum once more for the whole. */
#include "evidence/audit/quorum.h"

#include <string.h>

/* Every line of a is one of b's. */
static int is_within(const char *a, const char *b)
{
	for (; *a != '\0'; a += strcspn(a, "\n") + 1) {
		const size_t n = strcspn(a, "\n") + 1;
		const char *at = b;

		while (*at != '\0' && strncmp(at, a, n) != 0)
			at += strcspn(at, "\n") + 1;
		if (*at == '\0')
			return 0;
	}
	return 1;
}

int pctl_quorum_is_one_voice(const pctl_quorum_voter *a, const pctl_quorum_voter *b)
{
	const int both_seen = *a->driver != '\0' && *b->driver != '\0';
	const int is_shared =
		both_seen && (is_within(a->driver, b->driver) || is_within(b->driver, a->driver));

	if (strcmp(a->plugin, b->plugin) != 0)
		return is_shared;
	return is_shared || !both_seen || !a->vouched || !b->vouched;
}

/* Of devices that share a voice with one another in a chain, all have the first one's: what hangs together counts once. */
static void find_voices(pctl_quorum_voter *voters, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		voters[i].voice = i;
		for (uint32_t k = 0; k < i; k++) {
			const uint32_t from = voters[i].voice, to = voters[k].voice;

			if (from == to || voters[k].group != voters[i].group ||
			    !pctl_quorum_is_one_voice(&voters[k], &voters[i]))
				continue;
			for (uint32_t j = 0; j <= i; j++)
				if (voters[j].voice == from || voters[j].voice == to)
					voters[j].voice = from < to ? from : to;
		}
	}
}

/* 1 when voters[i] is the first of its plugin's file that speaks for its group. */
static int is_first_of_plugin(const pctl_quorum_voter *voters, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (voters[k].group == voters[i].group &&
		    strcmp(voters[k].plugin, voters[i].plugin) == 0)
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
		t.voices += voters[i].voice == i;
		t.plugins += (uint32_t)is_first_of_plugin(voters, i);
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

	find_voices(voters, n);
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
