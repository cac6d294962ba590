/* Implementation of level.h. */
#include "evidence/certify/level.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int pctl_certificate_unit_fault(const pctl_certificate_unit *u, char cause[PCTL_LEVEL_CAUSE])
{
	const char *kind = pctl_unit_kind_name(u->kind);

	cause[0] = '\0';
	if (u->failures != 0)
		snprintf(cause, PCTL_LEVEL_CAUSE,
			 "%.80s, %s \"%.60s\": %" PRIu64 " of %" PRIu64 " cases failed", u->subject,
			 kind, u->name, u->failures, u->cases);
	else if (u->not_run != 0)
		snprintf(cause, PCTL_LEVEL_CAUSE,
			 "%.80s, %s \"%.60s\": %" PRIu64 " of %" PRIu64 " blocks were not run",
			 u->subject, kind, u->name, u->not_run, u->n_blocks);
	else if (u->cases == 0 && u->skipped != 0)
		snprintf(cause, PCTL_LEVEL_CAUSE,
			 "%.80s, %s \"%.60s\": every case was skipped, all %" PRIu64
			 " of them: none was judged",
			 u->subject, kind, u->name, u->skipped);
	else if (u->cases == 0)
		snprintf(cause, PCTL_LEVEL_CAUSE, "%.80s, %s \"%.60s\": it compared nothing",
			 u->subject, kind, u->name);
	return cause[0] != '\0';
}

static int is_of(const pctl_certificate_unit *u, const char *op)
{
	return op == NULL || u->op[0] == '\0' || strcmp(u->op, op) == 0;
}

/* Units of `kind` (of the op itself when there is one) up to `level`. */
static uint32_t count(const pctl_certificate *c, const char *op, uint32_t level, uint32_t kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_units; i++)
		n += c->units[i].kind == kind && c->units[i].level <= level &&
		     (op == NULL || strcmp(c->units[i].op, op) == 0);
	return n;
}

/* The lowest level that has parity of op: 1 of functions, higher of ops that are plans. */
static uint32_t first_level(const pctl_certificate *c, const char *op)
{
	for (uint32_t l = 1; l <= PCTL_LEVEL_MAX; l++)
		if (count(c, op, l, PCTL_UNIT_PARITY) != 0)
			return l;
	return PCTL_LEVEL_MAX + 1;
}

/* 1: some op that is a plan was compared with its reference. */
static int has_plan(const pctl_certificate *c)
{
	for (uint32_t i = 0; i < c->n_units; i++)
		if (c->units[i].kind == PCTL_UNIT_PARITY &&
		    strcmp(c->units[i].name, PCTL_UNIT_PROBLEMS) == 0)
			return 1;
	return 0;
}

/* What level l must rest on and is not there, or NULL. */
static const char *lacking(const pctl_certificate *c, const char *op, uint32_t l)
{
	if (first_level(c, op) > l)
		return "no parity was compared";
	if (count(c, NULL, l, PCTL_UNIT_GATE) == 0)
		return "no gate was passed";
	if (l >= 2 && (op == NULL || first_level(c, op) == 1) &&
	    count(c, op, l, PCTL_UNIT_LAW) + count(c, op, l, PCTL_UNIT_DETERMINISM) == 0)
		return "no law and no determinism was proved";
	if (l >= 3 && op == NULL && c->params.track == PCTL_TRACK_FLOAT && !has_plan(c))
		return "no op of tensors was compared";
	if (l >= 3 && count(c, NULL, l, PCTL_UNIT_INVARIANT) == 0)
		return "no invariant of the engine was proved";
	if (l >= 4 && count(c, NULL, l, PCTL_UNIT_COMPOSITION) == 0)
		return "no composition was proved";
	if (l >= 4 && count(c, NULL, l, PCTL_UNIT_BASELINE) == 0)
		return "no baseline was measured";
	return NULL;
}

/* 1: level l holds. */
static int holds(const pctl_certificate *c, const char *op, uint32_t l,
		 char cause[PCTL_LEVEL_CAUSE])
{
	const char *lack = lacking(c, op, l);
	char name[8];

	for (uint32_t i = 0; i < c->n_units; i++)
		if (c->units[i].level <= l && is_of(&c->units[i], op) &&
		    pctl_certificate_unit_fault(&c->units[i], cause))
			return 0;
	cause[0] = '\0';
	if (lack != NULL)
		snprintf(cause, PCTL_LEVEL_CAUSE, "%s: %s",
			 pctl_level_name(l, c->params.track, name), lack);
	return lack == NULL;
}

uint32_t pctl_certificate_level(const pctl_certificate *c, const char *op,
				char cause[PCTL_LEVEL_CAUSE])
{
	char why[PCTL_LEVEL_CAUSE];

	cause[0] = '\0';
	if (c->params.cases < PCTL_PROOF_WITNESSES) {
		snprintf(cause, PCTL_LEVEL_CAUSE,
			 "%" PRIu64 " random cases a unit, a level wants %u", c->params.cases,
			 PCTL_PROOF_WITNESSES);
		return 0;
	}
	for (uint32_t l = c->params.level; l >= 1; l--) {
		if (holds(c, op, l, why))
			return l;
		if (l == c->params.level)
			memcpy(cause, why, sizeof(why));
	}
	return 0;
}
