/* Reading receipts of runs: every value is taken, and the text that writing them gives must be the one that was read. */
#include <inttypes.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "evidence/receipt/form.h"
#include "evidence/receipt/receipt.h"

static const char *item_text(pctl_form_taker *t, const pctl_conf_value *array, uint32_t i)
{
	const pctl_conf_value *v = i < array->n_items ? array->items[i] : NULL;
	const char *copy =
		v == NULL || v->kind != PCTL_CONF_STRING ? NULL : pctl_arena_dup(t->arena, v->text);

	if (copy == NULL && t->missing == NULL)
		t->missing = array->key == NULL ? "pair" : array->key;
	return copy == NULL ? "" : copy;
}

static const pctl_receipt_pair *take_pairs(pctl_form_taker *t, const pctl_conf_value *g,
					   const char *key, uint32_t *n)
{
	const pctl_conf_value *list = pctl_form_take_list(t, g, key);
	pctl_receipt_pair *pairs = pctl_form_take_room(t, list->n_items, sizeof(*pairs));

	*n = pairs == NULL ? 0 : list->n_items;
	for (uint32_t i = 0; i < *n; i++) {
		pairs[i].key = item_text(t, list->items[i], 0);
		pairs[i].value = item_text(t, list->items[i], 1);
	}
	return pairs;
}

static const pctl_receipt_data *take_data(pctl_form_taker *t, const pctl_conf_value *g,
					  const char *key, uint32_t *n)
{
	const pctl_conf_value *list = pctl_form_take_list(t, g, key);
	pctl_receipt_data *data = pctl_form_take_room(t, list->n_items, sizeof(*data));

	*n = data == NULL ? 0 : list->n_items;
	for (uint32_t i = 0; i < *n; i++) {
		data[i].name = pctl_form_take_string(t, list->items[i], "name");
		data[i].type = pctl_form_take_string(t, list->items[i], "type");
		data[i].n_bytes = pctl_form_take_u64(t, list->items[i], "bytes");
		pctl_form_take_cid(t, list->items[i], "cid", &data[i].cid);
	}
	return data;
}

static void take_question(pctl_form_taker *t, const pctl_conf_value *g, pctl_receipt *r)
{
	const pctl_conf_value *jobs = pctl_form_take_list(t, g, "jobs");

	r->semantics = pctl_form_take_string(t, g, "semantics");
	r->pipeline = pctl_form_take_string(t, g, "pipeline");
	r->max_class = pctl_form_take_string(t, g, "class");
	r->native = pctl_form_take_bool(t, g, "native");
	r->texts = take_data(t, g, "texts", &r->n_texts);
	r->params = take_pairs(t, g, "params", &r->n_params);
	r->inputs = take_data(t, g, "inputs", &r->n_inputs);
	r->schedule = pctl_form_take_string(t, g, "schedule");
	r->schedule_id = pctl_form_take_string(t, g, "schedule_id");
	r->jobs = pctl_form_take_room(t, jobs->n_items, sizeof(*r->jobs));
	r->n_jobs = r->jobs == NULL ? 0 : jobs->n_items;
	for (uint32_t i = 0; i < r->n_jobs; i++) {
		r->jobs[i].id = item_text(t, jobs->items[i], 0);
		r->jobs[i].what = item_text(t, jobs->items[i], 1);
	}
}

/* The i-th of a list that has one for each job. */
static const pctl_conf_value *of_job(pctl_form_taker *t, const pctl_receipt *r,
				     const pctl_conf_value *list, uint32_t i)
{
	if (list->n_items != r->n_jobs && t->missing == NULL)
		t->missing = "jobs";
	return i < list->n_items ? list->items[i] : NULL;
}

static void take_answer(pctl_form_taker *t, const pctl_conf_value *g, pctl_receipt *r)
{
	const pctl_conf_value *jobs = pctl_form_take_list(t, g, "jobs");

	r->executed = pctl_form_take_bool(t, g, "executed");
	r->gas = pctl_form_take_u64(t, g, "gas");
	r->outputs = take_data(t, g, "outputs", &r->n_outputs);
	if (!pctl_trace_level_parse(pctl_form_take_string(t, g, "trace"), &r->level))
		t->missing = "trace";
	pctl_form_take_digest(t, g, "root", r->trace.root);
	for (uint32_t i = 0; i < r->n_jobs && t->missing == NULL; i++) {
		const pctl_conf_value *v = of_job(t, r, jobs, i);
		const pctl_conf_value *list = pctl_form_take_list(t, v, "kernels");
		pctl_cid *kernels = pctl_form_take_room(t, list->n_items, sizeof(*kernels));

		r->jobs[i].repeat = pctl_form_take_u64(t, v, "repeat");
		r->jobs[i].gas = pctl_form_take_u64(t, v, "gas");
		r->jobs[i].kernels = kernels;
		r->jobs[i].n_kernels = kernels == NULL ? 0 : list->n_items;
		for (uint32_t k = 0; k < r->jobs[i].n_kernels; k++)
			if (!pctl_cid_parse(item_text(t, list, k), &kernels[k]))
				t->missing = "kernels";
	}
}

static void take_device(pctl_form_taker *t, const pctl_conf_value *g, pctl_receipt_device *d)
{
	d->selector = pctl_form_take_string(t, g, "selector");
	d->name = pctl_form_take_string(t, g, "name");
	d->plugin = pctl_form_take_string(t, g, "plugin");
	d->version = pctl_form_take_string(t, g, "version");
	d->sha256 = pctl_form_take_string(t, g, "sha256");
	d->profile = pctl_form_take_string(t, g, "profile");
	d->facts = take_pairs(t, g, "identity", &d->n_facts);
}

static void take_evidence(pctl_form_taker *t, const pctl_conf_value *g, pctl_evidence *out)
{
	if (!pctl_evidence_parse(pctl_form_take_string(t, g, "evidence"), out) &&
	    t->missing == NULL)
		t->missing = "evidence";
}

static void take_where(pctl_form_taker *t, const pctl_conf_value *g, pctl_receipt *r)
{
	const pctl_conf_value *jobs = pctl_form_take_list(t, g, "jobs"),
			      *list = pctl_form_take_list(t, g, "devices");
	pctl_receipt_device *devices = pctl_form_take_room(t, list->n_items, sizeof(*devices));

	take_evidence(t, g, &r->evidence);
	r->version = pctl_form_take_string(t, g, "pipectl");
	r->made = pctl_form_take_string(t, g, "made");
	r->policy = pctl_form_take_string(t, g, "policy");
	r->policy_id = pctl_form_take_string(t, g, "policy_id");
	r->repository = pctl_form_take_string(t, g, "repository");
	r->commit = pctl_form_take_string(t, g, "commit");
	r->path = pctl_form_take_string(t, g, "path");
	r->state = pctl_form_take_string(t, g, "state");
	pctl_form_take_digest(t, g, "memo", r->memo);
	r->libraries = take_pairs(t, g, "libraries", &r->n_libraries);
	r->devices = devices;
	r->n_devices = devices == NULL ? 0 : list->n_items;
	for (uint32_t i = 0; i < r->n_devices; i++)
		take_device(t, list->items[i], &devices[i]);
	for (uint32_t i = 0; i < r->n_jobs && t->missing == NULL; i++) {
		const pctl_conf_value *v = of_job(t, r, jobs, i);
		const char *device = pctl_form_take_string(t, v, "device");
		uint64_t number = PCTL_RECEIPT_NO_DEVICE;

		if (strcmp(device, "none") != 0)
			number = pctl_form_take_u64(t, v, "device");
		if (number != PCTL_RECEIPT_NO_DEVICE && number >= r->n_devices)
			t->missing = "device";
		r->jobs[i].device = (uint32_t)number;
		take_evidence(t, v, &r->jobs[i].evidence);
		if (!pctl_policy_races_of(pctl_form_take_string(t, v, "races"), &r->jobs[i].races))
			t->missing = "races";
	}
}

static pctl_status take_head(pctl_receipt *r, const char *text, size_t n, const pctl_call *call,
			     uint64_t *n_leaves)
{
	pctl_form_taker t = {.arena = r->arena};
	const pctl_conf_value *g;
	pctl_conf *conf = NULL;
	pctl_status status = pctl_conf_read_text(r->name, text, n, call, &conf);

	if (status != PCTL_OK)
		return status;
	g = pctl_form_take_group(&t, pctl_conf_root(conf), "receipt");
	if (strcmp(pctl_form_take_string(&t, g, "schema"), PCTL_RECEIPT_SCHEMA) != 0)
		t.missing = "schema";
	take_question(&t, pctl_form_take_group(&t, g, "question"), r);
	take_answer(&t, pctl_form_take_group(&t, g, "answer"), r);
	*n_leaves = pctl_form_take_u64(&t, pctl_conf_find(g, "answer"), "leaves");
	take_where(&t, pctl_form_take_group(&t, g, "where"), r);
	if (t.missing != NULL)
		status = pctl_refuse(call, PC5901_RECEIPT_FORM,
				     "%s: \"%s\" is missing or is no value of a %s", r->name,
				     t.missing, PCTL_RECEIPT_SCHEMA);
	pctl_conf_destroy(conf);
	return status;
}

static pctl_status take_trace(pctl_receipt *r, const char *text, size_t n, uint64_t n_leaves,
			      const pctl_call *call)
{
	uint8_t signed_root[PCTL_DIGEST_BYTES];
	const char *const *lines;
	uint32_t n_lines;
	pctl_status status;

	memcpy(signed_root, r->trace.root, sizeof(signed_root));
	if (!pctl_form_lines_read(text, n, "trace", r->arena, &lines, &n_lines) ||
	    !pctl_run_trace_read(&r->trace, r->arena, lines, n_lines))
		return pctl_refuse(call, PC5902_RECEIPT_CONTRADICTS,
				   "%s: what stands behind the signature is no trace", r->name);
	if (r->trace.n != n_leaves)
		return pctl_refuse(call, PC5902_RECEIPT_CONTRADICTS,
				   "%s: the trace has %" PRIu32 " lines, %" PRIu64 " were signed",
				   r->name, r->trace.n, n_leaves);
	status = pctl_run_trace_finish(&r->trace, call);
	if (status == PCTL_OK && memcmp(signed_root, r->trace.root, sizeof(signed_root)) != 0)
		status = pctl_refuse(call, PC5902_RECEIPT_CONTRADICTS,
				     "%s: the trace does not give the root that was signed",
				     r->name);
	return status;
}

/* Head first: its root and number of leaves are what the trace is held against. */
static pctl_status parse(pctl_receipt *r, const char *text, size_t n, const pctl_call *call)
{
	const size_t n_head = pctl_form_head(text, n);
	pctl_str_buf again = PCTL_STR_BUF_INIT;
	uint64_t n_leaves = 0;
	size_t n_signed;
	pctl_status status = pctl_sealed_check(r->name, text, n_head, call, &n_signed, r->signer);

	if (status == PCTL_OK)
		status = take_head(r, text, n_signed, call, &n_leaves);
	if (status == PCTL_OK)
		status = take_trace(r, text + n_head, n - n_head, n_leaves, call);
	if (status != PCTL_OK)
		return status;
	pctl_receipt_head(r, &again);
	if (again.failed)
		status = pctl_no_memory(call, "a receipt");
	else if (again.n != n_signed || memcmp(again.data, text, n_signed) != 0)
		status = pctl_refuse(call, PC5902_RECEIPT_CONTRADICTS,
				     "%s is not written as receipts are", r->name);
	pctl_str_drop(&again);
	return status;
}

pctl_status pctl_receipt_parse(const char *name, const char *text, size_t n, const pctl_call *call,
			       pctl_receipt **out)
{
	pctl_receipt *r;
	pctl_status status = pctl_receipt_create(call, &r);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	r->name = pctl_arena_dup(r->arena, name);
	status = r->name == NULL ? pctl_no_memory(call, "a receipt") : parse(r, text, n, call);
	if (status == PCTL_OK)
		*out = r;
	else
		pctl_receipt_destroy(r);
	return status;
}

/* ---- the store ---------------------------------------------------------------------------- */

static void check_data(const pctl_receipt *r, const char *what, const pctl_receipt_data *data,
		       uint32_t n, pctl_store *store, const pctl_call *call, pctl_status *first)
{
	char cid[PCTL_CID_TEXT_SIZE];

	for (uint32_t i = 0; i < n; i++) {
		if (pctl_store_has(store, &data[i].cid))
			continue;
		*first = pctl_refuse(call, PC5904_RECEIPT_MISSING, "%s: %s \"%s\", %s", r->name,
				     what, data[i].name, pctl_cid_format(&data[i].cid, cid));
	}
}

pctl_status pctl_receipt_in_store(const pctl_receipt *r, pctl_store *store, const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	check_data(r, "text", r->texts, r->n_texts, store, call, &status);
	check_data(r, "input", r->inputs, r->n_inputs, store, call, &status);
	check_data(r, "output", r->outputs, r->n_outputs, store, call, &status);
	return status;
}
