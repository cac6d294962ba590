/* report.json: every number of the page, keys in one order, 64-bit numbers as strings, floats with their bits. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "evidence/audit/html.h"
#include "evidence/audit/report.h"
#include "foundation/base/json.h"

static void kv_cid(pctl_json *j, const char *key, const pctl_cid *cid)
{
	char text[PCTL_CID_TEXT_SIZE];

	pctl_json_kv_string(j, key, pctl_has_cid(cid) ? pctl_cid_format(cid, text) : NULL);
}

static void kv_hex(pctl_json *j, const char *key, uint64_t bits)
{
	char text[PCTL_SHOWN];

	snprintf(text, sizeof(text), "0x%016" PRIx64, bits);
	pctl_json_kv_string(j, key, text);
}

/* A double as a number, and to the bit. */
static void kv_double(pctl_json *j, const char *key, double v)
{
	char name[64];
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	pctl_json_key(j, key);
	pctl_json_double(j, v);
	snprintf(name, sizeof(name), "%s_bits", key);
	kv_hex(j, name, bits);
}

static void kv_element(pctl_json *j, const char *key, uint32_t dtype, uint64_t bits)
{
	char text[PCTL_SHOWN];

	pctl_json_key(j, key);
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "value", pctl_show_value(dtype, bits, text));
	kv_hex(j, "bits", bits);
	pctl_json_object_end(j);
}

static void array(pctl_json *j, const char *key)
{
	pctl_json_key(j, key);
	pctl_json_array_begin(j);
}

static void inputs(pctl_json *j, const pctl_audit_result *r)
{
	char type[PCTL_SHOWN_TYPE];

	array(j, "inputs");
	for (uint32_t i = 0; i < r->n_inputs; i++) {
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "name", r->inputs[i].name);
		pctl_json_kv_string(j, "type", pctl_show_type(&r->inputs[i].type, type));
		pctl_json_kv_u64(j, "bytes", r->inputs[i].n_bytes);
		kv_cid(j, "cid", &r->inputs[i].cid);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

static void devices(pctl_json *j, const pctl_audit_result *r)
{
	array(j, "devices");
	for (uint32_t i = 0; i < r->n_devices; i++) {
		const pctl_audit_device *d = &r->devices[i];

		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "selector", d->selector);
		pctl_json_kv_string(j, "name", d->name);
		pctl_json_kv_string(j, "driver", d->driver);
		pctl_json_kv_string(j, "plugin", d->plugin);
		pctl_json_kv_string(j, "driver_key", d->driver_key);
		pctl_json_kv_string(j, "profile", d->profile);
		pctl_json_key(j, "identity");
		pctl_json_object_begin(j);
		for (uint32_t k = 0; k < d->n_identity; k++)
			pctl_json_kv_string(j, d->identity[k].name, d->identity[k].value);
		pctl_json_object_end(j);
		pctl_json_kv_string(j, "outcome", pctl_show_outcome(d->outcome));
		pctl_json_kv_string(j, "cause", d->cause);
		pctl_json_kv_u32(j, "runs", d->n_runs);
		pctl_json_kv_u64(j, "wall_ns", d->wall_ns);
		pctl_json_kv_u64(j, "device_ns", d->device_ns);
		pctl_json_kv_u64(j, "native_wall_ns", d->native_wall_ns);
		pctl_json_kv_u64(j, "native_device_ns", d->native_device_ns);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

static void runs(pctl_json *j, const pctl_audit_result *r, const pctl_audit_cell *c)
{
	array(j, "runs");
	for (uint32_t i = 0; i < r->n_devices * r->repeat; i++) {
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "device", pctl_device_selector(r, i / r->repeat));
		pctl_json_kv_u32(j, "run", i % r->repeat);
		kv_cid(j, "cid", &c->cids[i]);
		pctl_json_key(j, "group");
		if (c->groups[i] == UINT32_MAX)
			pctl_json_null(j);
		else
			pctl_json_u32(j, c->groups[i]);
		pctl_json_kv_u64(j, "device_ns", c->device_ns == NULL ? 0 : c->device_ns[i]);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

static void outputs(pctl_json *j, const pctl_audit_result *r)
{
	char type[PCTL_SHOWN_TYPE];

	array(j, "outputs");
	for (uint32_t i = 0; i < r->n_cells; i++) {
		const pctl_audit_cell *c = &r->cells[i];

		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "job", c->job);
		pctl_json_kv_string(j, "what", c->what);
		pctl_json_kv_string(j, "port", c->port);
		pctl_json_kv_string(j, "type", pctl_show_type(&c->type, type));
		pctl_json_kv_u64(j, "bytes", c->n_bytes);
		pctl_json_kv_bool(j, "agreed", (int)c->agreed);
		pctl_json_kv_u32(j, "groups", c->n_groups);
		pctl_json_key(j, "evidence");
		pctl_json_object_begin(j);
		pctl_json_kv_u64(j, "elements", c->evidence.n_elements);
		pctl_json_kv_u64(j, "zeros", c->evidence.zeros);
		pctl_json_kv_u64(j, "nans", c->evidence.nans);
		pctl_json_kv_u64(j, "distinct", c->evidence.distinct);
		pctl_json_kv_bool(j, "weak", (int)c->evidence.weak);
		pctl_json_object_end(j);
		runs(j, r, c);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

static void origin(pctl_json *j, const pctl_audit_divergence *d)
{
	pctl_json_key(j, "origin");
	if (!d->known) {
		pctl_json_null(j);
		return;
	}
	pctl_json_object_begin(j);
	pctl_json_kv_u32(j, "round", d->round);
	pctl_json_kv_u32(j, "step", d->step);
	pctl_json_kv_string(j, "kernel", d->kernel);
	pctl_json_kv_string(j, "buffer", d->buffer);
	pctl_json_kv_u64(j, "element", d->buffer_element);
	kv_hex(j, "got", d->buffer_got);
	kv_hex(j, "want", d->buffer_want);
	pctl_json_object_end(j);
}

static void reproduction(pctl_json *j, const pctl_audit_divergence *d)
{
	pctl_json_key(j, "reproduction");
	if (d->dir == NULL) {
		pctl_json_null(j);
		return;
	}
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "directory", d->dir);
	pctl_json_kv_string(j, "command", d->command);
	pctl_json_kv_u64(j, "bytes", d->shrunk_bytes);
	pctl_json_kv_u64(j, "bytes_before", d->shrunk_from);
	array(j, "groups");
	for (uint32_t k = 0; k < 3; k++)
		pctl_json_u32(j, d->groups[k]);
	pctl_json_array_end(j);
	pctl_json_kv_u32(j, "reproduced", d->reproduced);
	pctl_json_kv_u32(j, "tried", d->tried);
	pctl_json_object_end(j);
}

static void divergences(pctl_json *j, const pctl_audit_result *r)
{
	array(j, "divergences");
	for (uint32_t i = 0; i < r->n_divergences; i++) {
		const pctl_audit_divergence *d = &r->divergences[i];

		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "device", pctl_device_selector(r, d->device));
		pctl_json_kv_u32(j, "run", d->repeat);
		pctl_json_kv_string(j, "job", d->job);
		pctl_json_kv_string(j, "what", d->what);
		pctl_json_kv_string(j, "port", d->port);
		pctl_json_kv_u64(j, "different", d->n_different);
		pctl_json_kv_u64(j, "element", d->element);
		kv_hex(j, "got", d->got);
		kv_hex(j, "want", d->want);
		pctl_json_kv_u32(j, "element_bytes", d->element_bytes);
		pctl_json_kv_u32(j, "flipped_bits", d->flipped_bits);
		pctl_json_kv_u64(j, "ulp", d->ulp);
		origin(j, d);
		reproduction(j, d);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

static void strips(pctl_json *j, const pctl_audit_drift *d)
{
	array(j, "histogram");
	for (uint32_t i = 0; i < PCTL_DRIFT_BUCKETS; i++)
		pctl_json_u64(j, d->histogram[i]);
	pctl_json_array_end(j);
	array(j, "strip_ppm");
	for (uint32_t i = 0; i < PCTL_DRIFT_STRIP; i++)
		pctl_json_u32(j, d->strip_ppm[i]);
	pctl_json_array_end(j);
	array(j, "strip_ulp");
	for (uint32_t i = 0; i < PCTL_DRIFT_STRIP; i++)
		pctl_json_u64(j, d->strip_ulp[i]);
	pctl_json_array_end(j);
}

static void drifts(pctl_json *j, const pctl_audit_result *r)
{
	array(j, "drift");
	for (uint32_t i = 0; i < r->n_drifts; i++) {
		const pctl_audit_drift *d = &r->drifts[i];
		const uint32_t dtype = d->job < r->n_cells ? r->cells[d->job].type.dtype : 0;

		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "device", pctl_device_selector(r, d->device));
		pctl_json_kv_string(j, "job", d->job < r->n_cells ? r->cells[d->job].job : NULL);
		pctl_json_kv_string(j, "port", d->job < r->n_cells ? r->cells[d->job].port : NULL);
		kv_cid(j, "cid", &d->cid);
		kv_cid(j, "against", &d->base);
		pctl_json_kv_u64(j, "elements", d->n_elements);
		pctl_json_kv_u64(j, "different", d->n_different);
		pctl_json_kv_u64(j, "nan_against_number", d->n_nan);
		pctl_json_kv_u64(j, "max_ulp", d->max_ulp);
		kv_double(j, "mean_ulp", d->mean_ulp);
		kv_double(j, "max_relative", d->max_relative);
		pctl_json_kv_u64(j, "first", d->first);
		kv_element(j, "first_got", dtype, d->first_got);
		kv_element(j, "first_want", dtype, d->first_want);
		pctl_json_kv_u64(j, "max_at", d->max_at);
		kv_element(j, "max_got", dtype, d->max_got);
		kv_element(j, "max_want", dtype, d->max_want);
		strips(j, d);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

static void forms(pctl_json *j, const pctl_audit_result *r)
{
	array(j, "forms");
	for (uint32_t i = 0; i < r->n_forms; i++) {
		const pctl_audit_form *f = &r->forms[i];

		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "device", pctl_device_selector(r, f->device));
		pctl_json_kv_string(j, "op", f->op);
		pctl_json_kv_string(j, "type", f->type);
		pctl_json_kv_string(j, "form", f->form);
		kv_double(j, "strict_ns_per_million", f->strict_ns);
		kv_double(j, "native_ns_per_million", f->native_ns);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

void pctl_audit_json(const pctl_audit_result *r, pctl_json *j)
{
	pctl_json_key(j, "pipeline");
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "name", r->pipeline);
	pctl_json_kv_string(j, "class", r->pipeline_class);
	kv_cid(j, "cid", &r->pipeline_cid);
	pctl_json_object_end(j);
	inputs(j, r);
	pctl_json_kv_u32(j, "repeat", r->repeat);
	pctl_json_kv_u32(j, "quorum", r->quorum);
	pctl_json_kv_bool(j, "natives", (int)r->natives);
	pctl_json_kv_string(j, "verdict", pctl_show_verdict(pctl_audit_verdict(r)));
	pctl_json_kv_bool(j, "agreed", pctl_strict_agreed(r));
	pctl_json_kv_string(j, "races",
			    r->races == PCTL_RACES_REFUTED    ? "refuted"
			    : r->races == PCTL_RACES_UNPROVEN ? "unproven"
							      : pctl_policy_races_word(r->races));
	pctl_json_kv_string(j, "race", r->race);
	pctl_json_kv_bool(j, "weak", (int)r->weak);
	pctl_json_kv_bool(j, "decided", (int)r->decided);
	pctl_json_kv_u64(j, "compared_bytes", r->compared_bytes);
	pctl_json_kv_u64(j, "wall_ns", r->wall_ns);
	devices(j, r);
	outputs(j, r);
	divergences(j, r);
	drifts(j, r);
	forms(j, r);
}
