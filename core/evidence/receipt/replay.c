/* A receipt's run again, and its trace held against the receipt's. */
#include <string.h>

#include "foundation/diag/diag.h"
#include "evidence/receipt/replay.h"

static uint32_t next(const pctl_run_trace *t, uint32_t i, uint32_t level)
{
	while (i < t->n && t->leaves[i].level > level)
		i++;
	return i;
}

int pctl_receipt_compare(const pctl_run_trace *a, const pctl_run_trace *b, uint32_t level,
			 uint32_t *at_a, uint32_t *at_b, uint32_t *n_same)
{
	*n_same = 0;
	*at_a = next(a, 0, level);
	*at_b = next(b, 0, level);
	while (*at_a < a->n && *at_b < b->n &&
	       strcmp(a->leaves[*at_a].line, b->leaves[*at_b].line) == 0) {
		*at_a = next(a, *at_a + 1, level);
		*at_b = next(b, *at_b + 1, level);
		(*n_same)++;
	}
	return *at_a < a->n || *at_b < b->n;
}

/* Outputs by name; the first that is not the same. */
static uint32_t first_output(const pctl_receipt *a, const pctl_receipt *b)
{
	uint32_t i = 0;

	while (i < a->n_outputs && i < b->n_outputs &&
	       pctl_cid_compare(&a->outputs[i].cid, &b->outputs[i].cid) == 0)
		i++;
	return i;
}

pctl_status pctl_receipt_replay(const pctl_reopened *p, const pctl_run_options *o,
				const pctl_runner *runner, const pctl_call *call, pctl_replay *out)
{
	pctl_run_options options = pctl_reopened_options(p, o);
	const pctl_receipt *r = p->receipt;
	uint32_t at, here;
	pctl_status status;

	*out = (pctl_replay){.again = NULL};
	status = pctl_receipt_create(call, &out->again);
	if (status == PCTL_OK)
		status = pctl_receipt_ask(out->again, p->graph, &options, r->texts, r->n_texts,
					  call);
	if (status != PCTL_OK)
		return status;
	pctl_receipt_trace(out->again, r->level, &options);
	status = runner->run(runner->ctx, p->graph, &options, call, &out->result);
	if (status == PCTL_OK)
		status = pctl_receipt_answer(out->again, &options, out->result, call);
	if (status != PCTL_OK)
		return status;
	out->output = first_output(r, out->again);
	out->differs = out->output < r->n_outputs || r->n_outputs != out->again->n_outputs;
	out->n_compared = r->n_outputs;
	if (!r->executed)
		return PCTL_OK;
	if (pctl_receipt_compare(&r->trace, &out->again->trace, r->level, &at, &here,
				 &out->n_compared)) {
		out->differs = 1;
		out->leaf = at < r->trace.n ? &r->trace.leaves[at] : NULL;
		out->here = here < out->again->trace.n ? &out->again->trace.leaves[here] : NULL;
	}
	return PCTL_OK;
}

void pctl_replay_clear(pctl_replay *r)
{
	pctl_receipt_destroy(r->again);
	pctl_run_result_destroy(r->result);
	*r = (pctl_replay){.again = NULL};
}
