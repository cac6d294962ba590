/* The list of the engine suite's units, and how a block of one is run: its rows one by one, the first that fails made
 * smaller. */
#include "evidence/suite/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "foundation/base/str.h"
#include "evidence/suite/trial.h"

#define GENERATED_PER_BLOCK 4u
#define MOST_TRIES 24u

/* Rows of a unit without a table are numbers. */
static void row_of(const suite_unit *u, uint64_t i, uint32_t out[SUITE_PARAMS])
{
	memset(out, 0, SUITE_PARAMS * sizeof(*out));
	if (u->sets == NULL)
		out[0] = (uint32_t)i;
	else
		memcpy(out, u->sets[i], SUITE_PARAMS * sizeof(*out));
}

/* A lost device is good for nothing; the units that follow get a new one. */
static pctl_status after_loss(pctl_proof_context *b, pctl_status status, const char *unit,
			      const uint32_t *p, const pctl_call *call)
{
	pctl_session *again = NULL, *lost = b->device;
	pctl_status opened = PCTL_OK;

	if (status != PCTL_E_DEVICE_LOST && status != PCTL_E_TIMEOUT)
		return status;
	if (b->open_again != NULL)
		opened = b->open_again(b, call, &again);
	if (opened == PCTL_OK && again != NULL) {
		b->device = again;
		b->close_again(b, lost);
	}
	return pctl_refuse(call, PC5403_SUITE_LOST, "%s, row or program %" PRIu32, unit, p[0]);
}

static pctl_status try_row(const suite_unit *u, pctl_proof_context *b, const uint32_t *p,
			   pctl_hasher *hasher, const pctl_call *call, suite_trial *out)
{
	pctl_status status;

	*out = (suite_trial){.context = b, .call = call, .p = p, .hasher = hasher};
	status = u->trial(out);
	return status == PCTL_OK ? PCTL_OK : after_loss(b, status, u->name, p, call);
}

/* Halve parameters as long as the row still fails. */
static int shrink(const suite_unit *u, pctl_proof_context *b, const pctl_call *call,
		  uint32_t p[SUITE_PARAMS], suite_trial *failed)
{
	uint32_t tries = 0, smaller = 1;

	while (smaller && tries < MOST_TRIES) {
		smaller = 0;
		for (uint32_t i = 0; i < SUITE_PARAMS && tries < MOST_TRIES; i++) {
			uint32_t q[SUITE_PARAMS];
			suite_trial t;

			if (!(u->shrink & 1u << i) || p[i] < 2)
				continue;
			memcpy(q, p, sizeof(q));
			q[i] /= 2;
			tries++;
			if (try_row(u, b, q, NULL, call, &t) != PCTL_OK)
				return 0;
			if (!t.failed)
				continue;
			memcpy(p, q, sizeof(q));
			*failed = t;
			smaller = 1;
		}
	}
	return !smaller;
}

static void tell(const suite_unit *u, const uint32_t *p, const suite_trial *t, int minimal,
		 pctl_counterexample *out)
{
	size_t n = 0;

	for (uint32_t i = 0; i < SUITE_PARAMS && u->param[i] != NULL && n < sizeof(out->inputs);
	     i++)
		n += (size_t)snprintf(out->inputs + n, sizeof(out->inputs) - n, "%s%s=%" PRIu32,
				      i == 0 ? "" : " ", u->param[i], p[i]);
	snprintf(out->got, sizeof(out->got), "%s", t->got);
	snprintf(out->want, sizeof(out->want), "%s", t->want);
	snprintf(out->law, sizeof(out->law), "%s: %s; %s", u->name, u->law, t->what);
	out->minimal = (uint32_t)minimal;
}

static pctl_status run_block(const pctl_unit *unit, pctl_proof_context *b, uint64_t block,
			     const pctl_call *call, pctl_block *out)
{
	const suite_unit *u = unit->ctx;
	pctl_hasher *hasher = NULL;
	uint64_t i = block * u->per_block;
	const uint64_t end = i + u->per_block < u->n_sets ? i + u->per_block : u->n_sets;
	pctl_status status = pctl_hasher_create(call, &hasher);

	memset(out, 0, sizeof(*out));
	for (; status == PCTL_OK && i < end; i++) {
		uint32_t p[SUITE_PARAMS];
		suite_trial t;

		row_of(u, i, p);
		status = pctl_is_cancelled(call)
				 ? pctl_refuse(call, PC4_CANCELLED, "the suite was cancelled")
				 : try_row(u, b, p, hasher, call, &t);
		if (status != PCTL_OK)
			break;
		if (t.refused)
			out->skipped++;
		else
			out->cases++;
		if (t.failed && out->failures++ == 0) {
			int minimal = shrink(u, b, call, p, &t);

			tell(u, p, &t, minimal, &out->first);
		}
	}
	return pctl_hasher_end(hasher, status, out->digest);
}

static pctl_status add(pctl_units *list, const suite_unit *u, uint32_t track, const pctl_call *call)
{
	const pctl_unit unit = {
		.subject = "engine",
		.name = u->name,
		.domain = pctl_arena_printf(list->arena, "%s, %" PRIu32, u->domain, u->n_sets),
		.kind = PCTL_UNIT_INVARIANT,
		.level = 3,
		.track = track,
		.flags = u->flags,
		.n_cases = u->n_sets,
		.n_blocks = (u->n_sets + u->per_block - 1) / u->per_block,
		.ctx = (void *)(uintptr_t)u,
		.run = run_block};

	if (unit.domain == NULL)
		return pctl_no_memory(call, "units of proof");
	return pctl_units_add(list, &unit, call);
}

static pctl_status add_generated(pctl_units *list, const char *name, const char *with,
				 pctl_status (*trial)(suite_trial *t), uint32_t track,
				 uint64_t seed, uint64_t n, const pctl_call *call)
{
	suite_unit *u = pctl_arena_alloc(list->arena, sizeof(*u));

	if (u == NULL)
		return pctl_no_memory(call, "units of proof");
	*u = (suite_unit){.name = name,
			  .law = "a generated program gives the reference's bytes",
			  .domain = pctl_arena_printf(list->arena,
						      "programs %sgenerated from seed %" PRIu64,
						      with, seed),
			  .param = {"program"},
			  .n_sets = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX,
			  .per_block = GENERATED_PER_BLOCK,
			  .trial = trial};
	if (u->domain == NULL)
		return pctl_no_memory(call, "units of proof");
	return add(list, u, track, call);
}

pctl_status pctl_suite_units(pctl_proof_context *b, uint32_t track, uint64_t generated,
			     const pctl_call *call, pctl_units *list)
{
	const struct {
		const suite_unit *units;
		uint32_t n;
	} tables[] = {{suite_deterministic, suite_n_deterministic},
		      {suite_invariant, suite_n_invariant},
		      {suite_compact, suite_n_compact},
		      {suite_bounded, suite_n_bounded},
		      {suite_terminating, suite_n_terminating},
		      {suite_atomics, suite_n_atomics},
		      {suite_barriers, suite_n_barriers},
		      {suite_uniform, suite_n_uniform},
		      {suite_parted, suite_n_parted},
		      {suite_rest, suite_n_rest},
		      {suite_layout, suite_n_layout},
		      {suite_wire, suite_n_wire},
		      {suite_races, suite_n_races},
		      {suite_neighbours, suite_n_neighbours},
		      {suite_wholes, suite_n_wholes},
		      {suite_known, suite_n_known},
		      {suite_shifts, suite_n_shifts},
		      {suite_limits, suite_n_limits}};
	pctl_status status = PCTL_OK;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (uint32_t k = 0; status == PCTL_OK && k < tables[i].n; k++)
			status = add(list, &tables[i].units[k], track, call);
	if (status != PCTL_OK || generated == 0)
		return status;
	if (track == PCTL_TRACK_FLOAT)
		return add_generated(list, PCTL_SUITE_GENERATED, "with floats ",
				     suite_generated_float_trial, track, b->seed, generated, call);
	status = add_generated(list, PCTL_SUITE_GENERATED, "", suite_generated_trial, track,
			       b->seed, generated, call);
	if (status == PCTL_OK)
		status = add_generated(list, PCTL_SUITE_GENERATED_BARRIERS, "with barriers ",
				       suite_generated_barriers_trial, track, b->seed,
				       (generated + 3) / 4, call);
	if (status == PCTL_OK)
		status = add_generated(list, PCTL_SUITE_GENERATED_EXITS,
				       "with barriers amid exits ", suite_generated_exits_trial,
				       track, b->seed, (generated + 3) / 4, call);
	return status;
}
