/* Equal bytes of one output are a group; a device speaks for a group when every one of its runs is in it. Which group is
 * believed, and who is wrong, is decided in quorum.c. A device whose own runs differ is unsteady whoever is believed: a job
 * gives the same bytes each time, so no right device can do that. Both are blamed only where the program has no race
 * (races.c). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/audit/audit_private.h"
#include "evidence/audit/drift.h"
#include "foundation/base/bytes.h"

#define ABSENT PCTL_QUORUM_SILENT
#define MOST_DISTINCT 65536u
#define DISTINCT_SLOTS (4u * MOST_DISTINCT)

/* ---- evidence ----------------------------------------------------------------------------- */

uint32_t pctl_audit_element_bytes(uint32_t dtype)
{
	uint32_t n = dtype == 0 ? 0 : pctl_dtype_bytes(dtype);

	/* What is packed is told apart by bytes. */
	return n != 0 ? n : dtype == 0 ? 4 : 1;
}

/* Elements are told apart by 64 bits: those of up to 8 bytes exactly, larger ones by their halves mixed. */
static uint64_t identity_of(const uint8_t *data, uint32_t bytes)
{
	uint64_t low = pctl_le_get(data, bytes);

	return bytes <= 8 ? low : low ^ pctl_le_get(data + 8, bytes - 8) * 0x9e3779b97f4a7c15ull;
}

/* 1 when it was new. Slots hold 1 + index into `seen`. */
static int note_distinct(uint64_t v, uint64_t *seen, uint32_t *slots, uint64_t n)
{
	uint64_t at = v * 0xbf58476d1ce4e5b9ull >> 46;

	while (slots[at % DISTINCT_SLOTS] != 0) {
		if (seen[slots[at % DISTINCT_SLOTS] - 1] == v)
			return 0;
		at++;
	}
	seen[n] = v;
	slots[at % DISTINCT_SLOTS] = (uint32_t)n + 1;
	return 1;
}

static int is_zero(uint32_t dtype, const uint8_t *data, uint32_t bytes)
{
	uint64_t low = pctl_le_get(data, bytes),
		 high = bytes > 8 ? pctl_le_get(data + 8, bytes - 8) : 0;

	if (pctl_drift_is_float(dtype) && !pctl_drift_is_nan(dtype, low))
		low &= ~(1ull << (8 * bytes - 1)); /* of either sign */
	return low == 0 && high == 0;
}

static pctl_status weigh(const pctl_auditing *a, const uint8_t *data, uint64_t n, uint32_t dtype,
			 pctl_audit_evidence *out)
{
	uint32_t bytes = pctl_audit_element_bytes(dtype);
	uint64_t *seen = calloc(MOST_DISTINCT, sizeof(*seen));
	uint32_t *slots = calloc(DISTINCT_SLOTS, sizeof(*slots));

	if (seen == NULL || slots == NULL) {
		free(seen);
		free(slots);
		return pctl_no_memory(a->call, "an audit");
	}
	for (uint64_t at = 0; at + bytes <= n; at += bytes) {
		out->n_elements++;
		out->zeros += (uint64_t)is_zero(dtype, data + at, bytes);
		out->nans += pctl_drift_is_float(dtype) &&
			     pctl_drift_is_nan(dtype, pctl_le_get(data + at, bytes));
		if (out->distinct < MOST_DISTINCT)
			out->distinct += (uint64_t)note_distinct(identity_of(data + at, bytes),
								 seen, slots, out->distinct);
	}
	out->weak = out->zeros == out->n_elements || out->nans == out->n_elements ||
		    (out->n_elements > 1 && out->distinct == 1);
	free(seen);
	free(slots);
	return PCTL_OK;
}

/* ---- groups ------------------------------------------------------------------------------- */

static int is_present(const pctl_audit_cell *cell, uint32_t slot)
{
	return !pctl_auditing_is_absent(&cell->cids[slot]);
}

/* Number groups in the order of their first run. */
static void group(const pctl_auditing *a, pctl_audit_cell *cell)
{
	uint32_t n = a->r->n_devices * a->r->repeat;

	for (uint32_t i = 0; i < n; i++) {
		cell->groups[i] = ABSENT;
		for (uint32_t k = 0; k < i && is_present(cell, i) && cell->groups[i] == ABSENT; k++)
			if (is_present(cell, k) &&
			    pctl_cid_compare(&cell->cids[i], &cell->cids[k]) == 0)
				cell->groups[i] = cell->groups[k];
		if (is_present(cell, i) && cell->groups[i] == ABSENT)
			cell->groups[i] = cell->n_groups++;
	}
	cell->agreed = cell->n_groups == 1;
}

/* The group a device speaks for: ABSENT when it has none, or several. */
static uint32_t voice(const pctl_auditing *a, const pctl_audit_cell *cell, uint32_t device)
{
	uint32_t g = ABSENT;

	for (uint32_t r = 0; r < a->r->repeat; r++) {
		uint32_t one = cell->groups[pctl_auditing_slot(a, device, r)];

		if (one == ABSENT)
			continue;
		if (g != ABSENT && g != one)
			return ABSENT;
		g = one;
	}
	return g;
}

uint32_t pctl_audit_is_vouched(const pctl_plugin_info *p)
{
	return p != NULL && p->vouched && !(p->roles & PCTL_ROLE_SYNTHETIC);
}

pctl_quorum_voter pctl_audit_voter(const pctl_audit_device *d)
{
	return (pctl_quorum_voter){.plugin = d->plugin_file,
				   .driver = d->driver_code,
				   .vouched = d->vouched,
				   .is_reference = d->kind == PCTL_DEVICE_REFERENCE,
				   .group = PCTL_QUORUM_SILENT};
}

/* The device whose runs stand for what is believed: the reference if it says so, else the first that does. */
static uint32_t speaker_of(const pctl_auditing *a, const pctl_quorum_decision *decision)
{
	uint32_t speaker = PCTL_AUDIT_NOBODY;

	for (uint32_t d = a->r->n_devices; decision->group != ABSENT && d-- > 0;)
		if (a->voters[d].group == decision->group &&
		    (speaker == PCTL_AUDIT_NOBODY || !a->voters[speaker].is_reference))
			speaker = d;
	return speaker;
}

static uint32_t elect(pctl_auditing *a, const pctl_audit_cell *cell)
{
	pctl_quorum_decision decision;

	for (uint32_t d = 0; d < a->r->n_devices; d++) {
		a->voters[d] = pctl_audit_voter(&a->r->devices[d]);
		a->voters[d].group = voice(a, cell, d);
	}
	pctl_quorum_decide(a->voters, a->r->n_devices, a->r->quorum, &decision);
	a->r->disputed |= decision.disputed;
	return speaker_of(a, &decision);
}

/* The winning group becomes 0, the others follow in order; without one, numbers start at 1 unless all agree. */
static void renumber(const pctl_auditing *a, pctl_audit_cell *cell, uint32_t winner)
{
	uint32_t won = winner == PCTL_AUDIT_NOBODY ? ABSENT : voice(a, cell, winner);

	if (won == ABSENT && cell->agreed)
		return;
	for (uint32_t i = 0; i < a->r->n_devices * a->r->repeat; i++) {
		uint32_t *g = &cell->groups[i];

		if (*g != ABSENT)
			*g = *g == won ? 0 : won == ABSENT || *g < won ? *g + 1 : *g;
	}
}

static pctl_status judge_cell(pctl_auditing *a, uint32_t i)
{
	pctl_audit_cell *cell = &a->r->cells[i];
	const pctl_cid *shown = NULL;
	pctl_status status = PCTL_OK;
	pctl_blob blob;

	group(a, cell);
	a->winner[i] = a->r->natives ? PCTL_AUDIT_NOBODY : elect(a, cell);
	renumber(a, cell, a->winner[i]);
	for (uint32_t k = 0; k < a->r->n_devices * a->r->repeat; k++)
		if (is_present(cell, k) &&
		    (shown == NULL || (cell->groups[k] == 0 && a->winner[i] != PCTL_AUDIT_NOBODY)))
			shown = &cell->cids[k];
	if (shown == NULL) {
		cell->evidence.weak = 1;
		return PCTL_OK;
	}
	status = pctl_store_get(a->scratch, shown, a->call, &blob);
	if (status != PCTL_OK)
		return status;
	status = weigh(a, blob.data, blob.n_bytes, cell->type.dtype, &cell->evidence);
	pctl_blob_release(&blob);
	return status;
}

/* ---- outcomes ----------------------------------------------------------------------------- */

/* What the decision about a cell makes of a device; asked before the next cell is judged. */
static uint32_t verdict(const pctl_auditing *a, const pctl_audit_cell *cell, uint32_t device)
{
	uint32_t present = 0;

	for (uint32_t r = 0; r < a->r->repeat; r++)
		present |= cell->groups[pctl_auditing_slot(a, device, r)] != ABSENT;
	if (cell->agreed || !present || a->voters[device].verdict == PCTL_QUORUM_AGREES)
		return PCTL_AUDIT_AGREES;
	if (a->voters[device].verdict == PCTL_QUORUM_NONE)
		return PCTL_AUDIT_UNSTEADY;
	return a->voters[device].verdict == PCTL_QUORUM_MINORITY ? PCTL_AUDIT_OUTVOTED
								 : PCTL_AUDIT_UNDECIDED;
}

/* The first cell that blames a device says for what. */
static void note_verdicts(pctl_auditing *a, const pctl_audit_cell *cell)
{
	for (uint32_t d = 0; d < a->r->n_devices && !a->r->natives; d++) {
		uint32_t *outcome = &a->r->devices[d].outcome;
		const uint32_t v = verdict(a, cell, d);

		if (*outcome == PCTL_AUDIT_AGREES ||
		    (*outcome == PCTL_AUDIT_UNDECIDED && v != PCTL_AUDIT_AGREES))
			*outcome = v;
	}
}

pctl_status pctl_auditing_vote(pctl_auditing *a)
{
	pctl_status status = PCTL_OK;

	a->voters = pctl_arena_array(a->r->arena, a->r->n_devices, sizeof(*a->voters));
	if (a->voters == NULL)
		return pctl_no_memory(a->call, "an audit");
	for (uint32_t d = 0; d < a->r->n_devices; d++)
		if (a->r->devices[d].outcome != PCTL_AUDIT_FAILED)
			a->r->devices[d].outcome = PCTL_AUDIT_AGREES;
	for (uint32_t i = 0; status == PCTL_OK && i < a->r->n_cells; i++) {
		status = judge_cell(a, i);
		note_verdicts(a, &a->r->cells[i]);
	}
	return status;
}
