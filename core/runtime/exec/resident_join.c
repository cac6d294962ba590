/* Dispatches of a resident run that become one, for on a GPU a short one costs as much as what it has to do: those of one level, whose workgroups lie side by side then
 * (q, k and v of a model's layer), and one behind another of as many workgroups, each of which does both (a product, and another that reads its elements one by
 * one). The first needs nothing more than that none waits for another, which is what a level is; the second is what the host's analysis proves of the whole: that no
 * workgroup looks at what another wrote. Nothing in this file knows an op. */
#include <stdlib.h>

#include "runtime/exec/resident_join.h"

/* Workgroups of one that is joined: what has more keeps a device busy as it is, and its launch does not count. */
#define MOST_GROUPS 2048u
/* Workgroups that one does in turn, where the other has one. */
#define MOST_TURNS 16u

/* ---- what may be joined --------------------------------------------------------------------- */

static int is_joinable(const pctl_resident_command *c)
{
	const uint32_t *groups;

	if (c->kind != PCTL_STEP_KERNEL || c->step->counts != 0 || c->step->unit->turns != 0)
		return 0;
	groups = c->step->groups;
	return groups[1] == 1 && groups[2] == 1 && groups[0] != 0 && groups[0] <= MOST_GROUPS;
}

/* 1: one waits for the other. */
static int conflict(const pctl_resident_command *a, const pctl_resident_command *b)
{
	for (uint32_t i = 0; i < a->n_ranges; i++)
		for (uint32_t k = 0; k < b->n_ranges; k++)
			if ((a->ranges[i].writes || b->ranges[k].writes) &&
			    pctl_resident_overlap(&a->ranges[i], &b->ranges[k]))
				return 1;
	return 0;
}

/* ---- which ---------------------------------------------------------------------------------- */

/* Commands stand by level; a command that became part of another has no ranges any more, and is taken out in the end. */
static int is_gone(const pctl_resident_command *c)
{
	return c->kind == 0;
}

static void take_out(pctl_resident *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_commands; i++)
		if (!is_gone(&r->commands[i]))
			r->commands[n++] = r->commands[i];
	r->n_commands = n;
	for (uint32_t i = 0; i < n; i++)
		r->commands[i].place = i;
}

/* As many workgroups each, or few of one and one of the other. */
static int go_behind(const pctl_resident_command *a, const pctl_resident_command *b)
{
	const uint32_t x = a->step->groups[0], y = b->step->groups[0];

	return x == y || (x == 1 && y <= MOST_TURNS && b->step->unit->analysis->n_loops == 0) ||
	       (y == 1 && x <= MOST_TURNS);
}

/* 1: of the other commands of that level none waits for command i, or i for it. */
static int fits_level(const pctl_resident *r, uint32_t i, uint32_t but, uint32_t level)
{
	for (uint32_t k = 0; k < r->n_commands; k++)
		if (k != i && k != but && !is_gone(&r->commands[k]) &&
		    r->commands[k].level == level && conflict(&r->commands[i], &r->commands[k]))
			return 0;
	return 1;
}

/* Command b behind a, which stands one level before it. */
static pctl_status join_behind(pctl_resident *r, uint32_t a, uint32_t b, int *is)
{
	const pctl_resident_joining j = {
		.of = {&r->commands[a], &r->commands[b]}, .n = 2, .how = PCTL_JOIN_BEHIND};
	const int is_later = fits_level(r, a, b, r->commands[b].level);
	pctl_resident_command made = r->commands[b];
	pctl_status status;

	*is = 0;
	if (!is_later && !fits_level(r, b, a, r->commands[a].level))
		return PCTL_OK;
	if (!is_later)
		made.level = r->commands[a].level;
	status = pctl_resident_make_joined(r, &j, &made, is);
	if (status != PCTL_OK || !*is)
		return status;
	/* It stands among those of its level. */
	r->commands[is_later ? b : a] = made;
	r->commands[is_later ? a : b].kind = 0;
	r->commands[is_later ? a : b].n_ranges = 0;
	return PCTL_OK;
}

static pctl_status chains(pctl_resident *r)
{
	pctl_status status = PCTL_OK;

	for (uint32_t b = 0; status == PCTL_OK && b < r->n_commands; b++)
		for (uint32_t a = 0; status == PCTL_OK && a < b; a++) {
			int is = 0;

			if (is_gone(&r->commands[b]))
				break;
			if (!is_joinable(&r->commands[a]) || !is_joinable(&r->commands[b]) ||
			    r->commands[a].level + 1 != r->commands[b].level ||
			    !go_behind(&r->commands[a], &r->commands[b]) ||
			    !conflict(&r->commands[a], &r->commands[b]))
				continue;
			status = join_behind(r, a, b, &is);
			/* What became of them may have more behind it. */
			if (is)
				a = UINT32_MAX;
		}
	return status;
}

/* 1: what command i writes are activations of which no command but `but` knows. */
static int is_for_one(const pctl_resident *r, uint32_t i, uint32_t but)
{
	const pctl_resident_command *c = &r->commands[i];

	for (uint32_t a = 0; a < c->n_ranges; a++) {
		if (!c->ranges[a].writes)
			continue;
		if (r->spans[c->ranges[a].span].kind != PCTL_SPAN_POOL)
			return 0;
		for (uint32_t k = 0; k < r->n_commands; k++)
			for (uint32_t b = 0; k != i && k != but && b < r->commands[k].n_ranges; b++)
				if (r->commands[k].ranges[b].span == c->ranges[a].span)
					return 0;
	}
	return 1;
}

/* A command of one workgroup, of which only the next knows: each workgroup of that does it for itself. What it reads nobody changes before that. */
static pctl_status aheads(pctl_resident *r)
{
	pctl_status status = PCTL_OK;

	for (uint32_t b = 0; status == PCTL_OK && b < r->n_commands; b++)
		for (uint32_t a = 0; status == PCTL_OK && a < b; a++) {
			const pctl_resident_joining j = {.of = {&r->commands[a], &r->commands[b]},
							 .n = 2,
							 .how = PCTL_JOIN_AHEAD};
			pctl_resident_command made = r->commands[b];
			int is = 0;

			if (!is_joinable(&r->commands[a]) || !is_joinable(&r->commands[b]) ||
			    r->commands[a].level + 1 != r->commands[b].level ||
			    r->commands[a].step->groups[0] != 1 ||
			    !conflict(&r->commands[a], &r->commands[b]) || !is_for_one(r, a, b) ||
			    !fits_level(r, a, b, r->commands[b].level))
				continue;
			status = pctl_resident_make_joined(r, &j, &made, &is);
			if (!is)
				continue;
			r->commands[b] = made;
			r->commands[a].kind = 0;
			r->commands[a].n_ranges = 0;
		}
	return status;
}

/* From command i on those of its level, as many as one kernel takes. */
static pctl_status join_beside(pctl_resident *r, uint32_t i)
{
	uint32_t with[PCTL_JOIN_PARTS] = {i}, n = 1;
	pctl_status status = PCTL_OK;

	for (uint32_t k = i + 1; k < r->n_commands && n < PCTL_JOIN_PARTS &&
				 r->commands[k].level == r->commands[i].level;
	     k++)
		if (is_joinable(&r->commands[k]))
			with[n++] = k;
	/* All of them, else without the last. */
	for (int is = 0; status == PCTL_OK && !is && n > 1; n -= !is) {
		pctl_resident_joining j = {.n = n, .how = PCTL_JOIN_BESIDE};
		pctl_resident_command made = r->commands[i];

		for (uint32_t k = 0; k < n; k++)
			j.of[k] = &r->commands[with[k]];
		status = pctl_resident_make_joined(r, &j, &made, &is);
		if (!is)
			continue;
		r->commands[i] = made;
		for (uint32_t k = 1; k < n; k++) {
			r->commands[with[k]].kind = 0;
			r->commands[with[k]].n_ranges = 0;
		}
	}
	return status;
}

/* Where weights may have to be streamed what is joined would want more of them at once. */
static int has_room(const pctl_resident *r)
{
	const uint64_t most = pctl_session_caps(r->s)->memory_bytes;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->n_spans; i++)
		if (r->spans[i].kind == PCTL_SPAN_INPUT)
			sum += r->spans[i].n_bytes;
	return most == 0 || sum < most / 2;
}

/* What is asked for, else, where a launch costs more than what is launched, all that repeats no work: AHEAD has every workgroup do the same, and
 * on no GPU was it measured yet. */
static uint32_t wanted(const pctl_resident *r)
{
	const uint32_t kind = pctl_session_kind(r->s);
	const uint32_t asked = PCTL_RUN_JOINS_OF(r->o.flags);

	if (r->o.flags & (PCTL_RUN_NO_FUSE | PCTL_RUN_CANONICAL))
		return PCTL_JOINS_NONE;
	if (asked != 0)
		return asked;
	return kind == PCTL_DEVICE_CPU || kind == PCTL_DEVICE_REFERENCE ? PCTL_JOINS_NONE
									: PCTL_JOINS_BEHIND;
}

pctl_status pctl_resident_join(pctl_resident *r, uint64_t memory_bytes)
{
	const uint32_t most = wanted(r);
	pctl_status status;

	if (most < PCTL_JOINS_BESIDE || memory_bytes != 0 || r->family->streams || !has_room(r))
		return PCTL_OK;
	/* What waits for the same stands at one level where each is as early as it can be. */
	status = pctl_resident_order_early(r);
	if (status == PCTL_OK && most >= PCTL_JOINS_BEHIND) {
		status = chains(r);
		take_out(r);
		if (status == PCTL_OK)
			status = pctl_resident_order_early(r);
	}
	for (uint32_t i = 0; status == PCTL_OK && i < r->n_commands; i++)
		if (is_joinable(&r->commands[i]))
			status = join_beside(r, i);
	if (status == PCTL_OK && most >= PCTL_JOINS_AHEAD) {
		take_out(r);
		status = pctl_resident_order_early(r);
		if (status == PCTL_OK)
			status = aheads(r);
	}
	take_out(r);
	return status == PCTL_OK ? pctl_resident_order(r) : status;
}
