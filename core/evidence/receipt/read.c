/* Reading receipts of runs: the head by its table (receipt_record.c), then the trace whose root it has. */
#include <inttypes.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "evidence/receipt/form.h"
#include "evidence/receipt/receipt.h"

static pctl_status take_head(pctl_receipt *r, const char *text, size_t n, const pctl_call *call)
{
	pctl_status status =
		pctl_record_read(&pctl_receipt_type, r->name, text, n, r->arena, call, r);

	for (uint32_t i = 0; status == PCTL_OK && i < r->n_jobs; i++)
		if (r->jobs[i].device != PCTL_RECEIPT_NO_DEVICE &&
		    r->jobs[i].device >= r->n_devices)
			status = pctl_refuse(
				call, PC5901_RECEIPT_FORM,
				"%s: job \"%s\" ran on device %" PRIu32 ", there are %" PRIu32,
				r->name, r->jobs[i].id, r->jobs[i].device, r->n_devices);
	return status == PCTL_OK ? pctl_record_check(&pctl_receipt_type, r->name, text, n, call, r)
				 : status;
}

static pctl_status take_trace(pctl_receipt *r, const char *text, size_t n, const pctl_call *call)
{
	const uint32_t n_leaves = r->trace.n;
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
				   "%s: the trace has %" PRIu32 " lines, %" PRIu32 " were signed",
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
	size_t n_signed;
	pctl_status status = pctl_sealed_check(r->name, text, n_head, call, &n_signed, r->signer);

	if (status == PCTL_OK)
		status = take_head(r, text, n_signed, call);
	return status == PCTL_OK ? take_trace(r, text + n_head, n - n_head, call) : status;
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
