/* Where devices first differ: the job and output, the element and its bits; and how far the outputs went apart. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/audit/audit_private.h"
#include "evidence/audit/drift.h"
#include "foundation/base/bytes.h"

/* ---- comparing bytes ---------------------------------------------------------------------- */

void pctl_audit_compare(const uint8_t *got, const uint8_t *want, uint64_t n, uint32_t dtype,
			pctl_audit_difference *out)
{
	uint32_t bytes = pctl_audit_element_bytes(dtype);

	*out = (pctl_audit_difference){.element_bytes = bytes};
	for (uint64_t at = 0, i = 0; at < n; at += bytes, i++) {
		uint64_t here = n - at < bytes ? n - at : bytes;

		if (memcmp(got + at, want + at, here) == 0 || out->n_different++ != 0)
			continue;
		out->element = i;
		out->got = pctl_le_get(got + at, here);
		out->want = pctl_le_get(want + at, here);
		for (uint64_t k = 0; k < here; k++)
			out->flipped_bits +=
				(uint32_t)__builtin_popcount(got[at + k] ^ want[at + k]);
		if (pctl_drift_is_float(dtype))
			out->ulp = pctl_drift_ulp(dtype, out->got, out->want);
	}
}

/* ---- drift -------------------------------------------------------------------------------- */

static pctl_status add_drift(pctl_auditing *a, uint32_t device, uint32_t cell, const uint8_t *got,
			     const uint8_t *want, uint64_t n, const pctl_cid *const cids[2])
{
	pctl_audit_result *r = a->r;

	if (r->drifts == NULL)
		r->drifts = pctl_arena_array(r->arena, (size_t)r->n_devices * r->n_cells,
					     sizeof(*r->drifts));
	if (r->drifts == NULL)
		return pctl_no_memory(a->call, "an audit");
	pctl_drift_compare(got, want, n, r->cells[cell].type.dtype, &r->drifts[r->n_drifts]);
	r->drifts[r->n_drifts].cid = *cids[0];
	r->drifts[r->n_drifts].base = *cids[1];
	r->drifts[r->n_drifts].device = device;
	r->drifts[r->n_drifts++].job = cell;
	return PCTL_OK;
}

static pctl_status two_blobs(const pctl_auditing *a, const pctl_cid *got, const pctl_cid *want,
			     pctl_blob blobs[2])
{
	pctl_status status = pctl_store_get(a->scratch, got, a->call, &blobs[0]);

	if (status != PCTL_OK)
		return status;
	status = pctl_store_get(a->scratch, want, a->call, &blobs[1]);
	if (status != PCTL_OK)
		pctl_blob_release(&blobs[0]);
	return status;
}

static uint64_t common(const pctl_blob blobs[2])
{
	return blobs[0].n_bytes < blobs[1].n_bytes ? blobs[0].n_bytes : blobs[1].n_bytes;
}

static pctl_status drift_of(pctl_auditing *a, uint32_t device, uint32_t cell, const pctl_cid *got,
			    const pctl_cid *want)
{
	const pctl_cid *const cids[2] = {got, want};
	pctl_blob blobs[2];
	pctl_status status = two_blobs(a, got, want, blobs);

	if (status != PCTL_OK)
		return status;
	status = add_drift(a, device, cell, blobs[0].data, blobs[1].data, common(blobs), cids);
	pctl_blob_release(&blobs[0]);
	pctl_blob_release(&blobs[1]);
	return status;
}

/* ---- who differs from whom ---------------------------------------------------------------- */

/* The run that others are held against: one of the winner, or where nobody won the first of the first device that
 * repeats itself. */
static uint32_t believed(const pctl_auditing *a, uint32_t cell)
{
	const pctl_audit_cell *c = &a->r->cells[cell];
	uint32_t first = PCTL_AUDIT_NOBODY;

	for (uint32_t d = 0; d < a->r->n_devices; d++) {
		uint32_t slot = pctl_auditing_slot(a, d, 0), steady = 1;

		if (c->groups[slot] == UINT32_MAX ||
		    (a->winner[cell] != PCTL_AUDIT_NOBODY && a->winner[cell] != d))
			continue;
		for (uint32_t r = 1; r < a->r->repeat; r++)
			steady &= c->groups[slot + r] == UINT32_MAX ||
				  c->groups[slot + r] == c->groups[slot];
		if (steady)
			return slot;
		if (first == PCTL_AUDIT_NOBODY)
			first = slot;
	}
	return first;
}

/* The first repeat of a device that differs from the believed run; a->r->repeat when none does. */
static uint32_t differing(const pctl_auditing *a, uint32_t cell, uint32_t device, uint32_t from)
{
	const pctl_audit_cell *c = &a->r->cells[cell];
	uint32_t r = 0;

	while (r < a->r->repeat && (c->groups[pctl_auditing_slot(a, device, r)] == UINT32_MAX ||
				    c->groups[pctl_auditing_slot(a, device, r)] == c->groups[from]))
		r++;
	return r;
}

static pctl_status set_cause(pctl_auditing *a, const pctl_audit_divergence *d, uint32_t cell,
			     uint32_t right)
{
	pctl_audit_device *device = &a->r->devices[d->device];
	int digits = (int)(d->element_bytes > 8 ? 8 : d->element_bytes) * 2;
	uint32_t others = 0;

	for (uint32_t k = 0; k < a->r->n_devices; k++)
		others += k != d->device && k != right &&
			  differing(a, cell, k, pctl_auditing_slot(a, right, 0)) == a->r->repeat &&
			  a->r->devices[k].n_runs != 0;
	if (device->outcome != PCTL_AUDIT_OUTVOTED && device->outcome != PCTL_AUDIT_UNSTEADY)
		return PCTL_OK;
	device->cause = pctl_arena_printf(
		a->r->arena,
		"job \"%s\" (%s) output \"%s\", repeat %" PRIu32 ": element %" PRIu64
		" is 0x%0*" PRIx64 ", not 0x%0*" PRIx64 " as on %s%s; %" PRIu64 " of %" PRIu64
		" elements differ",
		d->job, d->what, d->port, d->repeat, d->element, digits, d->got, digits, d->want,
		a->r->devices[right].selector,
		others == 0 ? "" : pctl_arena_printf(a->r->arena, " and %" PRIu32 " more", others),
		d->n_different, a->r->cells[cell].evidence.n_elements);
	return device->cause == NULL ? pctl_no_memory(a->call, "an audit") : PCTL_OK;
}

static pctl_status describe(pctl_auditing *a, uint32_t cell, uint32_t device, uint32_t repeat,
			    uint32_t from, pctl_audit_divergence *d)
{
	const pctl_audit_cell *c = &a->r->cells[cell];
	pctl_audit_difference diff;
	pctl_blob blobs[2];
	const pctl_cid *const cids[2] = {&c->cids[pctl_auditing_slot(a, device, repeat)],
					 &c->cids[from]};
	pctl_status status = two_blobs(a, cids[0], cids[1], blobs);

	if (status != PCTL_OK)
		return status;
	pctl_audit_compare(blobs[0].data, blobs[1].data, common(blobs), c->type.dtype, &diff);
	*d = (pctl_audit_divergence){.device = device,
				     .repeat = repeat,
				     .job = c->job,
				     .what = c->what,
				     .port = c->port,
				     .n_different = diff.n_different,
				     .element = diff.element,
				     .got = diff.got,
				     .want = diff.want,
				     .element_bytes = diff.element_bytes,
				     .flipped_bits = diff.flipped_bits,
				     .ulp = diff.ulp};
	status = add_drift(a, device, cell, blobs[0].data, blobs[1].data, common(blobs), cids);
	pctl_blob_release(&blobs[0]);
	pctl_blob_release(&blobs[1]);
	return status;
}

/* The first difference of one device, and drifts of all later ones. */
static pctl_status diverge(pctl_auditing *a, uint32_t device)
{
	pctl_audit_divergence *d = &a->r->divergences[a->r->n_divergences];
	uint32_t found = 0, cell_of_first = 0, right = PCTL_AUDIT_NOBODY;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < a->r->n_cells; i++) {
		const pctl_audit_cell *c = &a->r->cells[i];
		uint32_t from = believed(a, i), repeat;

		if (c->agreed || from == PCTL_AUDIT_NOBODY)
			continue;
		repeat = differing(a, i, device, from);
		if (repeat == a->r->repeat)
			continue;
		if (found) {
			status = drift_of(a, device, i,
					  &c->cids[pctl_auditing_slot(a, device, repeat)],
					  &c->cids[from]);
			continue;
		}
		found = 1;
		cell_of_first = i;
		right = from / a->r->repeat;
		status = describe(a, i, device, repeat, from, d);
	}
	if (status != PCTL_OK || !found)
		return status;
	a->r->n_divergences++;
	status = set_cause(a, d, cell_of_first, right);
	/* A device that differs from itself alone has nobody to be held against when it runs again. */
	if (status == PCTL_OK && right != device && a->r->race == NULL)
		status = pctl_auditing_bisect(a, d, a->cell_job[cell_of_first], right);
	return status;
}

static pctl_status natives(pctl_auditing *a)
{
	pctl_status status = PCTL_OK;

	for (uint32_t d = 0; d < a->r->n_devices; d++) {
		for (uint32_t i = 0; status == PCTL_OK && i < a->r->n_cells; i++) {
			const pctl_cid *cids = &a->r->cells[i].cids[pctl_auditing_slot(a, d, 0)];

			if (!pctl_auditing_is_absent(&cids[0]) &&
			    !pctl_auditing_is_absent(&cids[1]))
				status = drift_of(a, d, i, &cids[1], &cids[0]);
		}
	}
	return status;
}

pctl_status pctl_auditing_diverge(pctl_auditing *a)
{
	pctl_status status = PCTL_OK;

	if (a->r->natives)
		return natives(a);
	a->r->divergences =
		pctl_arena_array(a->r->arena, a->r->n_devices, sizeof(*a->r->divergences));
	if (a->r->divergences == NULL)
		return pctl_no_memory(a->call, "an audit");
	for (uint32_t d = 0; status == PCTL_OK && d < a->r->n_devices; d++)
		status = diverge(a, d);
	return status;
}
