/* Receipts of runs as text, in the one form that a reader accepts. */
#include <string.h>

#include "foundation/diag/diag.h"
#include "evidence/receipt/form.h"
#include "evidence/receipt/receipt.h"

pctl_status pctl_receipt_create(const pctl_call *call, pctl_receipt **out)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_receipt *r = arena == NULL ? NULL : pctl_arena_alloc(arena, sizeof(*r));

	*out = NULL;
	if (r == NULL) {
		pctl_arena_destroy(arena);
		return pctl_no_memory(call, "a receipt");
	}
	r->arena = arena;
	r->semantics = r->pipeline = r->max_class = r->schedule = r->schedule_id = "";
	r->version = r->made = r->policy = r->policy_id = "";
	r->repository = r->commit = r->path = r->state = r->name = "";
	pctl_run_trace_begin(&r->trace, arena);
	*out = r;
	return PCTL_OK;
}

void pctl_receipt_destroy(pctl_receipt *r)
{
	if (r != NULL)
		pctl_arena_destroy(r->arena); /* which holds r itself */
}

void pctl_receipt_head(const pctl_receipt *r, pctl_str_buf *s)
{
	pctl_record_text(&pctl_receipt_type, r, s);
}

pctl_status pctl_receipt_question(const pctl_receipt *r, const pctl_call *call, pctl_str_buf *out)
{
	pctl_record_member_text(&pctl_receipt_type, r, "question", out);
	return out->failed ? pctl_no_memory(call, "a receipt") : PCTL_OK;
}

pctl_status pctl_receipt_text(pctl_receipt *r, const pctl_signer *signer, const pctl_call *call,
			      pctl_str_buf *out)
{
	const char **lines = pctl_arena_array(r->arena, r->trace.n + (size_t)1, sizeof(*lines));
	pctl_status status = lines == NULL ? pctl_no_memory(call, "a receipt")
					   : pctl_run_trace_finish(&r->trace, call);

	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; i < r->trace.n; i++)
		lines[i] = r->trace.leaves[i].line;
	pctl_receipt_head(r, out);
	status = pctl_signer_seal(signer, out, call);
	if (status != PCTL_OK)
		return status;
	pctl_form_lines(out, "trace", lines, r->trace.n);
	memcpy(r->signer, pctl_signer_public(signer), sizeof(r->signer));
	return out->failed ? pctl_no_memory(call, "a receipt") : PCTL_OK;
}
