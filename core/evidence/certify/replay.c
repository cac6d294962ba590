/* Implementation of replay.h. */
#include "evidence/certify/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/clock.h"
#include "foundation/base/hash.h"
#include "evidence/certify/journal_private.h"

/* ---- the same units? ---------------------------------------------------------------------- */

/* The line of a unit in words. */
static void say(const char *line, size_t n, char *out, size_t n_out)
{
	const int shown = n > 200 ? 200 : (int)n;

	snprintf(out, n_out, "%.*s", shown, line);
	for (char *at = out; *at != '\0'; at++)
		if (*at == '\t')
			*at = ' ';
}

static void first_difference(const char *theirs, const char *ours, char what[512])
{
	char a[220], b[220];
	size_t n_theirs, n_ours;
	const uint32_t line = pctl_journal_difference(&theirs, &n_theirs, &ours, &n_ours);

	say(theirs, n_theirs, a, sizeof(a));
	say(ours, n_ours, b, sizeof(b));
	snprintf(what, 512, "unit %u is \"%s\" there and \"%s\" here", line,
		 n_theirs == 0 ? "(none)" : a, n_ours == 0 ? "(none)" : b);
}

static pctl_status compare(const pctl_certificate *c, const pctl_units *units,
			   const pctl_call *call, int *same, char what[512])
{
	pctl_str_buf ours = PCTL_STR_BUF_INIT, theirs = PCTL_STR_BUF_INIT;
	pctl_status status = pctl_proof_plan_text(units, call, &ours);

	if (status == PCTL_OK)
		status = pctl_certificate_units_text(c, &theirs, call);
	*same = status == PCTL_OK && ours.n == theirs.n &&
		memcmp(ours.data, theirs.data, ours.n) == 0;
	what[0] = '\0';
	if (status == PCTL_OK && !*same)
		first_difference(theirs.data == NULL ? "" : theirs.data, ours.data, what);
	pctl_str_drop(&ours);
	pctl_str_drop(&theirs);
	return status;
}

pctl_status pctl_certify_compare_units(const pctl_certificate *c, pctl_proof_context *b,
				       const pctl_provider *providers, uint32_t n_providers,
				       const pctl_call *call, int *same, char what[512])
{
	pctl_units *units = NULL;
	pctl_status status = pctl_proof_plan(b, providers, n_providers, &c->params, call, &units);

	*same = 0;
	what[0] = '\0';
	if (status == PCTL_OK)
		status = compare(c, units, call, same, what);
	pctl_units_destroy(units);
	return status;
}

/* ---- which strips ------------------------------------------------------------------------- */

static uint64_t mix(uint64_t seed, uint64_t counter)
{
	uint64_t z = seed * PCTL_SPLITMIX_STEP + counter * UINT64_C(0xbf58476d1ce4e5b9);

	return pctl_mix64(z);
}

/* Strips of a unit: of one without digests, one a block. */
static uint64_t strips_of(const pctl_certificate_unit *u)
{
	return u->n_strips != 0 ? u->n_strips : u->n_blocks;
}

/* The share of all strips that have the smallest numbers: at least one unless nothing is asked for. */
typedef struct choice {
	uint64_t number; /* drawn */
	uint32_t unit, reserved;
	uint64_t strip;
} choice;

static int by_number(const void *a, const void *b)
{
	const choice *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->unit != y->unit ? (x->unit < y->unit ? -1 : 1) : 0;
}

static int by_place(const void *a, const void *b)
{
	const choice *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return x->strip < y->strip ? -1 : x->strip > y->strip;
}

static int same_group(const pctl_certificate *c, const choice *a, const choice *b)
{
	return c->units[a->unit].kind == c->units[b->unit].kind &&
	       strcmp(c->units[a->unit].op, c->units[b->unit].op) == 0;
}

/* Behind the share, list[0 .. n), of list[0 .. at): of each op and kind of unit one more strip, drawn from the unit of most
 * cases that is left. */
static uint64_t add_every_op(const pctl_certificate *c, choice *list, uint64_t at, uint64_t n)
{
	const uint64_t share = n;

	for (uint64_t i = n; i < at; i++) {
		uint64_t k = share, best = i;
		choice kept;

		while (k < n && !same_group(c, &list[k], &list[i]))
			k++;
		if (k < n || c->units[list[i].unit].n_strips == 0)
			continue;
		for (k = i + 1; k < at; k++)
			if (c->units[list[k].unit].planned > c->units[list[best].unit].planned &&
			    c->units[list[k].unit].n_strips != 0 &&
			    same_group(c, &list[k], &list[i]))
				best = k;
		kept = list[best];
		list[best] = list[n];
		list[n++] = kept;
	}
	return n;
}

static pctl_status choose(const pctl_certificate *c, const pctl_certify_replay_options *o,
			  const pctl_call *call, choice **out, uint64_t *n_out, uint64_t *absent)
{
	uint64_t n = 0, at = 0, counter = 0;
	choice *list;

	*absent = 0;
	for (uint32_t i = 0; i < c->n_units; i++)
		n += strips_of(&c->units[i]);
	*out = list = calloc(n + 1, sizeof(*list));
	if (list == NULL)
		return pctl_no_memory(call, "a replay");
	for (uint32_t i = 0; i < c->n_units; i++) {
		const pctl_certificate_unit *u = &c->units[i];

		/* Where a unit was not run whole, which of its blocks lack is not in the certificate. */
		if (u->not_run != 0)
			*absent += strips_of(u);
		for (uint64_t s = 0; s < strips_of(u); s++, counter++)
			if (u->not_run == 0)
				list[at++] = (choice){mix(o->seed, counter), i, 0, s};
	}
	qsort(list, at, sizeof(*list), by_number);
	/* Rounded up, without overflow: at is below 2^40. */
	*n_out = (at * o->sample_ppm + 999999) / 1000000;
	if (o->flags & PCTL_REPLAY_EVERY_OP)
		*n_out = add_every_op(c, list, at, *n_out);
	qsort(list, *n_out, sizeof(*list), by_place);
	return PCTL_OK;
}

/* ---- running ------------------------------------------------------------------------------ */

static pctl_status run_strip(const pctl_unit *u, uint64_t first, uint64_t n,
			     const pctl_certify_replay_options *o, const pctl_call *call,
			     pctl_replay_outcome *out, uint8_t digest[PCTL_DIGEST_BYTES],
			     pctl_block *block)
{
	pctl_hasher *h = NULL;
	pctl_status status = n > 1 ? pctl_hasher_create(call, &h) : PCTL_OK;

	for (uint64_t b = 0; status == PCTL_OK && b < n; b++) {
		memset(block, 0, sizeof(*block));
		status = pctl_shapes_block(&o->context->shapes, u->first_block + first + b, call);
		if (status == PCTL_OK)
			status = u->run(u, o->context, first + b, call, block);
		if (status == PCTL_OK && pctl_is_cancelled(call))
			status = pctl_refuse(call, PC4_CANCELLED, "cancelled");
		if (status == PCTL_OK && h != NULL)
			status = pctl_hasher_update(h, block->digest, PCTL_DIGEST_BYTES);
		out->blocks++;
		out->cases += block->cases;
	}
	memcpy(digest, block->digest, PCTL_DIGEST_BYTES);
	return pctl_hasher_end(h, status, digest);
}

/* failed: the last block run, which tells more than digests when the device failed it. */
static void note(pctl_replay_outcome *out, const pctl_certificate_unit *cu, uint64_t block,
		 const uint8_t *digest, const uint8_t *stated, const pctl_block *failed)
{
	char got[2 * PCTL_DIGEST_BYTES + 1], want[2 * PCTL_DIGEST_BYTES + 1];
	const pctl_counterexample *x = &failed->first;
	int n;

	if (out->mismatches++ != 0)
		return;
	n = snprintf(out->first, sizeof(out->first),
		     "%.80s, %s \"%.60s\", block %" PRIu64
		     ": digest %.16s.. is %.16s.. in the certificate",
		     cu->subject, pctl_unit_kind_name(cu->kind), cu->name, block,
		     pctl_digest_hex(digest, got), pctl_digest_hex(stated, want));
	if (failed->failures != 0 && n > 0 && (size_t)n < sizeof(out->first))
		snprintf(out->first + n, sizeof(out->first) - (size_t)n,
			 "; %.60s with %.60s gave %.40s, not %.40s", x->law, x->inputs, x->got,
			 x->want);
}

static pctl_status replay_one(const pctl_certificate *c, const pctl_units *units, const choice *k,
			      const pctl_certify_replay_options *o, const pctl_call *call,
			      pctl_replay_outcome *out, pctl_block *block)
{
	const pctl_certificate_unit *cu = &c->units[k->unit];
	const pctl_unit *u = &units->units[k->unit];
	const uint64_t strip = cu->n_strips != 0 ? cu->strip : 1, first = k->strip * strip,
		       left = u->n_blocks - first;
	uint8_t digest[PCTL_DIGEST_BYTES];
	pctl_status status =
		run_strip(u, first, left < strip ? left : strip, o, call, out, digest, block);

	if (status != PCTL_OK)
		return status;
	if (cu->n_strips == 0) {
		out->measured++;
		return PCTL_OK;
	}
	out->compared++;
	if (memcmp(digest, cu->digests[k->strip], sizeof(digest)) != 0)
		note(out, cu, first, digest, cu->digests[k->strip], block);
	return PCTL_OK;
}

pctl_status pctl_certify_replay(const pctl_certificate *c, const pctl_certify_replay_options *o,
				const pctl_call *call, pctl_replay_outcome *out)
{
	const uint64_t started = pctl_clock_ns();
	pctl_block *block = calloc(1, sizeof(*block));
	choice *chosen = NULL;
	pctl_units *units = NULL;
	char what[512];
	int same = 0;
	pctl_status status = block == NULL
				     ? pctl_no_memory(call, "a replay")
				     : pctl_proof_plan(o->context, o->providers, o->n_providers,
						       &c->params, call, &units);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = compare(c, units, call, &same, what);
	if (status == PCTL_OK && !same)
		status = pctl_refuse(call, PC5530_REPLAY_UNITS, "%s: %s", c->path, what);
	if (status == PCTL_OK)
		status = choose(c, o, call, &chosen, &out->chosen, &out->absent);
	for (uint64_t i = 0; status == PCTL_OK && i < out->chosen; i++) {
		const pctl_progress now = {.stage = "replay",
					   .what = c->units[chosen[i].unit].subject,
					   .unit = "blocks",
					   .done = i,
					   .total = out->chosen,
					   .elapsed_ns = pctl_clock_ns() - started};

		pctl_progress_tell(&o->progress, &now);
		status = replay_one(c, units, &chosen[i], o, call, out, block);
	}
	if (out->mismatches != 0) { /* said also where something else ended the replay */
		const pctl_status said =
			pctl_refuse(call, PC5531_REPLAY_MISMATCH, "%s", out->first);

		status = status == PCTL_OK ? said : status;
	}
	if (status == PCTL_OK && out->compared + out->measured == 0)
		status = pctl_refuse(call, PC5532_REPLAY_NOTHING,
				     "no block of %s was run again: %" PRIu64
				     " strips were chosen, %" PRIu64 " were never run",
				     c->path, out->chosen, out->absent);
	pctl_units_destroy(units);
	free(chosen);
	free(block);
	return status;
}
