/* Numbers, values and types of a report as text, for page and terminal. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evidence/audit/html.h"
#include "evidence/audit/report.h"
#include "foundation/base/num.h"
#include "runtime/graph/type.h"

static const char *show_float(uint32_t dtype, double v, char out[PCTL_SHOWN])
{
	const int digits = dtype == PCTL_SCALAR_F64   ? 17
			   : dtype == PCTL_SCALAR_F32 ? 9
			   : dtype == PCTL_SCALAR_F16 ? 5
						      : 4;

	if (isnan(v))
		snprintf(out, PCTL_SHOWN, "NaN");
	else if (isinf(v))
		snprintf(out, PCTL_SHOWN, v < 0 ? "-infinity" : "infinity");
	else
		pctl_num_print(out, PCTL_SHOWN, "%.*g", digits, v);
	return out;
}

const char *pctl_show_value(uint32_t dtype, uint64_t bits, char out[PCTL_SHOWN])
{
	if (pctl_drift_is_float(dtype))
		return show_float(dtype, pctl_drift_value(dtype, bits), out);
	if (dtype == PCTL_SCALAR_I64)
		snprintf(out, PCTL_SHOWN, "%" PRId64, (int64_t)bits);
	else if (dtype == PCTL_SCALAR_I8 || dtype == PCTL_SCALAR_I16 || dtype == PCTL_SCALAR_I32)
		snprintf(out, PCTL_SHOWN, "%.0f", pctl_drift_value(dtype, bits));
	else
		snprintf(out, PCTL_SHOWN, "%" PRIu64, bits);
	return out;
}

const char *pctl_show_bits(uint32_t element_bytes, uint64_t bits, char out[PCTL_SHOWN])
{
	const uint32_t n = element_bytes == 0 || element_bytes > 8 ? 8 : element_bytes;

	snprintf(out, PCTL_SHOWN, "0x%0*" PRIx64, (int)(2 * n), bits);
	return out;
}

const char *pctl_show_outcome(uint32_t outcome)
{
	static const char *const names[] = {"not run", "agrees",    "differs",
					    "failed",  "undecided", "not reproducible"};

	return outcome < sizeof(names) / sizeof(names[0]) ? names[outcome] : "?";
}

const char *pctl_show_type(const pctl_tensor_type *t, char out[PCTL_SHOWN_TYPE])
{
	size_t n;

	if (t->dtype == 0) {
		snprintf(out, PCTL_SHOWN_TYPE, "bytes");
		return out;
	}
	n = (size_t)snprintf(out, PCTL_SHOWN_TYPE, "%s", pctl_dtype_name(t->dtype));
	for (uint32_t i = 0; i < t->rank && i < PCTL_RANK_MAX; i++)
		n += (size_t)snprintf(out + n, PCTL_SHOWN_TYPE - n, "%s%" PRIu64,
				      i == 0 ? "[" : ",", t->dim[i]);
	if (t->rank != 0)
		snprintf(out + n, PCTL_SHOWN_TYPE - n, "]");
	return out;
}

uint32_t pctl_exponent_bits(uint32_t dtype)
{
	return dtype == PCTL_SCALAR_F16				       ? 5
	       : dtype == PCTL_SCALAR_F32 || dtype == PCTL_SCALAR_BF16 ? 8
	       : dtype == PCTL_SCALAR_F64			       ? 11
								       : 0;
}

int pctl_has_cid(const pctl_cid *cid)
{
	for (uint32_t i = 0; i < PCTL_DIGEST_BYTES; i++) {
		if (cid->digest[i] != 0)
			return 1;
	}
	return 0;
}

/* Strict and native runs of a device stand beside each other; other audits have strict ones only. */
static const pctl_cid *run_of(const pctl_audit_result *r, uint32_t cell, int native, uint32_t i)
{
	return r->natives && i % r->repeat != (native ? 1u : 0u) ? NULL : &r->cells[cell].cids[i];
}

uint32_t pctl_count_cids(const pctl_audit_result *r, uint32_t cell, int native)
{
	const uint32_t n_runs = r->n_devices * r->repeat;
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_runs; i++) {
		const pctl_cid *cid = run_of(r, cell, native, i);
		uint32_t k = 0;

		if (cid == NULL || !pctl_has_cid(cid))
			continue;
		for (; k < i; k++) {
			const pctl_cid *other = run_of(r, cell, native, k);

			if (other != NULL && pctl_cid_compare(cid, other) == 0)
				break;
		}
		n += k == i;
	}
	return n;
}

/* Slots of an audit of natives in the order that letters are given in: strict runs of all devices, then native ones. */
static uint32_t slot_at(const pctl_audit_result *r, uint32_t i)
{
	return i < r->n_devices ? i * r->repeat : (i - r->n_devices) * r->repeat + 1;
}

uint32_t pctl_cid_group(const pctl_audit_result *r, uint32_t cell, uint32_t slot)
{
	const pctl_audit_cell *c = &r->cells[cell];
	uint32_t group = 0;

	if (!r->natives || r->repeat < 2)
		return c->groups[slot];
	for (uint32_t i = 0; i < 2 * r->n_devices; i++) {
		const pctl_cid *cid = &c->cids[slot_at(r, i)];
		uint32_t k = 0;

		while (k < i && pctl_cid_compare(cid, &c->cids[slot_at(r, k)]) != 0)
			k++;
		if (k < i || !pctl_has_cid(cid))
			continue;
		if (pctl_cid_compare(cid, &c->cids[slot]) == 0)
			return group;
		group++;
	}
	return group;
}

int pctl_strict_agreed(const pctl_audit_result *r)
{
	if (!r->natives)
		return (int)r->agreed;
	for (uint32_t i = 0; i < r->n_cells; i++) {
		for (uint32_t d = 0; d < r->n_devices; d++) {
			if (!pctl_has_cid(&r->cells[i].cids[d * r->repeat]))
				return 0;
		}
		if (pctl_count_cids(r, i, 0) != 1)
			return 0;
	}
	return !r->weak && r->n_cells != 0;
}

const char *pctl_device_selector(const pctl_audit_result *r, uint32_t device)
{
	return device < r->n_devices && r->devices[device].selector != NULL
		       ? r->devices[device].selector
		       : "?";
}

/* Bytes that differ: 1 a device from others, 2 only from itself. Of natives the strict runs count. */
static uint32_t differing(const pctl_audit_result *r)
{
	uint32_t others = 0, itself = 0;

	for (uint32_t i = 0; i < r->n_cells; i++)
		others |= r->natives ? pctl_count_cids(r, i, 0) > 1 : !r->cells[i].agreed;
	for (uint32_t i = 0; i < r->n_devices; i++)
		itself |= r->devices[i].outcome == PCTL_AUDIT_UNSTEADY;
	for (uint32_t i = 0; others && i < r->n_devices; i++)
		if (r->devices[i].outcome == PCTL_AUDIT_OUTVOTED ||
		    (r->devices[i].outcome == PCTL_AUDIT_UNDECIDED && !itself))
			return 1;
	return itself ? 2 : others;
}

uint32_t pctl_audit_verdict(const pctl_audit_result *r)
{
	const uint32_t how = differing(r);
	uint32_t failed = 0;

	for (uint32_t i = 0; i < r->n_devices; i++)
		failed |= r->devices[i].outcome == PCTL_AUDIT_FAILED;
	if (how != 0 && r->races == PCTL_RACES_REFUTED)
		return PCTL_AUDIT_RACE;
	if (how != 0)
		return how == 1 ? PCTL_AUDIT_DIFFERS : PCTL_AUDIT_NOT_REPRODUCIBLE;
	if (r->weak)
		return PCTL_AUDIT_WEAK;
	return failed ? PCTL_AUDIT_SOME_FAILED : PCTL_AUDIT_AGREED;
}

const char *pctl_show_verdict(uint32_t verdict)
{
	static const char *const names[] = {"?",       "agreed",	   "no evidence", "race",
					    "differs", "not reproducible", "failed"};

	return verdict < sizeof(names) / sizeof(names[0]) ? names[verdict] : "?";
}
