/* What a wrong receipt's bytes were: its trace has only their digests. The bytes of an output may be in the store; else
 * the device that made them is asked again, and believed when it gives the digest that was signed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/bytes.h"
#include "foundation/diag/diag.h"
#include "evidence/receipt/dispute_private.h"

static uint32_t element_bytes(uint32_t dtype)
{
	const uint32_t n = dtype == 0 ? 0 : pctl_dtype_bytes(dtype);

	/* What is packed is told apart by bytes. */
	return n != 0 ? n : dtype == 0 ? 4 : 1;
}

static void compare(const uint8_t *got, const uint8_t *want, uint64_t n, uint32_t dtype,
		    pctl_dispute_side *side)
{
	const uint32_t width = element_bytes(dtype), shown = width > 8 ? 8 : width;

	side->element_bytes = width;
	for (uint64_t at = 0; at + width <= n; at += width) {
		if (memcmp(got + at, want + at, width) == 0)
			continue;
		if (side->n_different++ != 0)
			continue;
		side->element = at / width;
		side->got = pctl_le_get(got + at, shown);
		side->want = pctl_le_get(want + at, shown);
		side->flipped_bits = (uint32_t)__builtin_popcountll(side->got ^ side->want);
	}
	side->known = side->n_different != 0;
}

/* ---- asking its device again --------------------------------------------------------------- */

struct again {
	const pctl_trace_leaf *claimed;
	const pctl_trace_buffer *buffer;
	uint8_t *data;
	uint32_t seen;
};

static pctl_status trace(void *ctx, const pctl_run_observation *view, const pctl_call *call)
{
	struct again *a = ctx;
	const pctl_trace_leaf *c = a->claimed;
	char number[16];

	if (view->job != c->job || view->level != c->level || view->round != c->round ||
	    view->step != c->step)
		return PCTL_OK;
	for (uint32_t i = 0; i < view->n_ports; i++) {
		const pctl_run_port *p = &view->ports[i];

		snprintf(number, sizeof(number), "#%" PRIu32, p->number);
		if (strcmp(p->kind == PCTL_PLAN_OUTPUT ? p->name : number, a->buffer->name) != 0 ||
		    p->n_bytes != a->buffer->n_bytes)
			continue;
		a->data = calloc(p->n_bytes + 1, 1);
		if (a->data == NULL)
			return pctl_no_memory(call, "a dispute");
		for (uint64_t at = 0; at < p->n_bytes; at += PCTL_SOURCE_PIECE) {
			const uint64_t left = p->n_bytes - at;
			pctl_status status = pctl_run_observation_read(
				view, i, at, a->data + at,
				left < PCTL_SOURCE_PIECE ? left : PCTL_SOURCE_PIECE, call);

			if (status != PCTL_OK)
				return status;
		}
		a->seen = 1;
	}
	return PCTL_E_CANCELLED;
}

static pctl_status observe(void *ctx, const pctl_run_observation *view, const pctl_call *call)
{
	(void)ctx;
	(void)view;
	(void)call;
	return PCTL_OK;
}

/* As the receipt's own run went: rounds and steps are submitted as its trace says. */
static int ask_device(const struct pctl_hunt *h, const pctl_receipt *r, struct again *a,
		      const char *selector, const pctl_call *call)
{
	pctl_run_options o = pctl_reopened_options(h->p, h->o);
	const pctl_run_limit limit = {.job = a->claimed->job, .rounds = UINT64_MAX};
	pctl_diag_list *quiet = pctl_diag_list_create();
	pctl_run_result *result = NULL;
	pctl_cid cid;

	if (quiet == NULL)
		return 0;
	pctl_diag_list_set_cancel(quiet, call->cancelled, call->ctx);
	o.backends = &selector;
	o.n_backends = 1;
	o.limit = &limit;
	o.observe = observe;
	o.trace = trace;
	o.trace_ctx = a;
	o.trace_level = r->level;
	if (r->level == PCTL_TRACE_STEPS)
		o.flags |= PCTL_RUN_CANONICAL;
	(void)pctl_run(h->graph, &o, pctl_diag_list_call(quiet), &result);
	pctl_run_result_destroy(result);
	pctl_diag_list_destroy(quiet);
	return a->seen && pctl_cid_of(a->data, a->buffer->n_bytes, call, &cid) == PCTL_OK &&
	       pctl_cid_compare(&cid, &a->buffer->cid) == 0;
}

/* ---- the evidence -------------------------------------------------------------------------- */

pctl_status pctl_dispute_evidence(const struct pctl_hunt *h, const pctl_trace_leaf *claimed,
				  pctl_dispute_side *side, const pctl_call *call)
{
	const pctl_receipt *r = side->receipt;
	const pctl_trace_buffer *buffer = NULL;
	const pctl_reference_judge_bytes *right = NULL;
	const char *selector = NULL;
	pctl_blob blob;

	side->buffer = NULL;
	for (uint32_t i = 0; buffer == NULL && i < claimed->n_buffers && i < h->n_after; i++) {
		pctl_cid cid;
		pctl_status status = pctl_cid_of(h->after[i].data, h->after[i].n_bytes, call, &cid);

		if (status != PCTL_OK)
			return status;
		right = &h->after[i];
		if (strcmp(claimed->buffers[i].name, right->name) != 0 ||
		    claimed->buffers[i].n_bytes != right->n_bytes)
			break;
		if (pctl_cid_compare(&cid, &claimed->buffers[i].cid) != 0)
			buffer = &claimed->buffers[i];
	}
	side->how = "it states other buffers than this step writes";
	if (buffer == NULL)
		return PCTL_OK;
	side->buffer = pctl_arena_dup(h->arena, buffer->name);
	side->how = "its bytes are not in the store, and its device does not give them again";
	if (pctl_store_has(h->p->store, &buffer->cid) &&
	    pctl_store_get(h->p->store, &buffer->cid, call, &blob) == PCTL_OK) {
		compare(blob.data, right->data, right->n_bytes, right->dtype, side);
		pctl_blob_release(&blob);
		side->how = "its bytes are in the store";
		return PCTL_OK;
	}
	if (claimed->job < r->n_jobs && r->jobs[claimed->job].device != PCTL_RECEIPT_NO_DEVICE)
		selector = r->devices[r->jobs[claimed->job].device].selector;
	if (selector != NULL) {
		struct again a = {.claimed = claimed, .buffer = buffer};

		if (ask_device(h, r, &a, selector, call)) {
			compare(a.data, right->data, right->n_bytes, right->dtype, side);
			side->how = pctl_arena_printf(h->arena, "%s gives them again", selector);
		}
		free(a.data);
	}
	return side->buffer == NULL || side->how == NULL ? pctl_no_memory(call, "a dispute")
							 : PCTL_OK;
}
