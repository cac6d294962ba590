/* What a refusal costs, from version 2 of the rules on: every message that is refused its fee and a price of its own, and an execute
 * message whose gas or whose shader is refused, and which has made every node compile and price it, validation_cost a byte of
 * source besides, as a job that failed. */
#include "chain/transition/refusal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "foundation/base/num.h"
#include "chain/registry/rules.h"
#include "chain/state/cursor.h"
#include "chain/fee.h"
#include "chain/transition/submit.h"
#include "foundation/diag/diag.h"

/* Refusals of gas, and of the rules of acceptance (rules.def). */
static int is_charged(uint32_t code)
{
	switch (code) {
	case PC2602_GAS_OVERFLOW:
	case PC5806_JOB_CLASS:
	case PC5807_SHADER_INTERFACE:
	case PC5808_SHADER_RACE:
	case PC5809_SHADER_LIMIT:
	case PC5818_JOB_GAS:
	case PC5819_JOB_BUDGET:
	case PC5829_SHADER_EXTENT:
	case PC5867_JOB_MEMORY:
		return 1;
	default:
		return 0;
	}
}

/* ---- the charge ---------------------------------------------------------------------------- */

/* One reference of a message: a job that is known, or nothing given. Bytes are state by here (pctl_data_check). */
static int is_there(const pctl_taking *t, const char *reference)
{
	const char *job = strncmp(reference, "job:", 4) == 0 ? reference + 4 : NULL;
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_chain_job row;

	if (job == NULL)
		return 1;
	if (!pctl_job_id_parse(job, id) || pctl_jobs_read(t->s, id, NULL, &row) != PCTL_OK)
		return 0;
	pctl_chain_job_clear(&row);
	return 1;
}

static int are_there(const pctl_taking *t, const char *const *jobs, uint32_t n)
{
	char reference[5 + PCTL_JOB_TEXT_SIZE];

	for (uint32_t i = 0; i < n; i++) {
		snprintf(reference, sizeof(reference), "job:%s", jobs[i]);
		if (!is_there(t, reference))
			return 0;
	}
	return 1;
}

/* A block says what its messages need, and a job has parents with a row: a message that names what is not there leaves
 * no trace, whatever else is wrong with it. */
static int is_whole(const pctl_taking *t, const pctl_msg_execute *m)
{
	int whole = is_there(t, m->input) && are_there(t, m->parent_jobs, m->n_parent_jobs) &&
		    are_there(t, m->after, m->n_after);

	for (uint32_t i = 0; whole && i < m->n_bindings; i++)
		whole = is_there(t, m->bindings[i].cid);
	return whole;
}

int pctl_is_refusal(pctl_status status)
{
	return status == PCTL_E_INVALID || status == PCTL_E_LIMIT || status == PCTL_E_GAS ||
	       status == PCTL_E_NOT_FOUND;
}

/* 0: nobody can pay it, or it costs nothing. */
static pctl_status price(const pctl_taking *t, const pctl_msg_execute *m, uint64_t *out)
{
	pctl_ledger_account a = {.balance = 0};
	pctl_status status = pctl_ledger_account_read(t->s, m->sender, NULL, &a);

	*out = 0;
	if (status == PCTL_E_NOT_FOUND || status == PCTL_E_INVALID)
		return PCTL_OK;
	if (status == PCTL_OK)
		status = pctl_chain_validation_gas(t->c, m, &t->params, t->call, out);
	if (status != PCTL_OK)
		return status;
	*out = *out < a.balance ? *out : a.balance;
	return PCTL_OK;
}

/* The job that it would have been, failed; what it pays is set aside until the end of the block says who gets it. */
static pctl_status keep_job(const pctl_taking *t, const pctl_request *r, uint32_t code,
			    uint64_t charged, uint8_t id[PCTL_DIGEST_BYTES])
{
	pctl_chain_job job = {.height = t->height,
			      .clock = t->clock,
			      .gas = charged,
			      .origin = PCTL_ORIGIN_MESSAGE,
			      .output_bytes = r->as.execute.output_bytes};
	char why[32];
	pctl_status status = pctl_queue_job(t, r, charged, 1, &job);

	snprintf(why, sizeof(why), "refused: PC%04" PRIu32, code);
	memcpy(id, job.id, PCTL_DIGEST_BYTES);
	if (status == PCTL_OK)
		status = pctl_jobs_end(t->s, job.id, PCTL_JOB_FAILED, t->height, charged, NULL, why,
				       t->call);
	return status;
}

/* PCTL_OK without a charge where there is none. */
static pctl_status charge(pctl_taking *t, const pctl_request *r, uint32_t code)
{
	const pctl_msg_execute *m = &r->as.execute;
	uint64_t charged = 0;
	pctl_status status = PCTL_OK;

	if (!is_charged(code) || !is_whole(t, m))
		return PCTL_OK;
	status = price(t, m, &charged);
	if (status == PCTL_OK && charged != 0)
		status = keep_job(t, r, code, charged, t->refused);
	t->charged = status == PCTL_OK ? charged : 0;
	t->is_job = t->charged != 0;
	return status;
}

/* ---- what the sender is told --------------------------------------------------------------- */

static uint32_t first_code(const pctl_diag_list *said)
{
	for (uint32_t i = 0; i < pctl_diag_list_count(said); i++)
		if (pctl_diag_list_at(said, i)->severity == PCTL_SEVERITY_ERROR)
			return pctl_diag_list_at(said, i)->code;
	return 0;
}

static void pass(const pctl_call *to, const pctl_diag *d, const char *message)
{
	pctl_diag copy = *d;

	copy.message = message;
	if (to != NULL && to->diag != NULL)
		to->diag(to->ctx, &copy);
}

void pctl_refusal_say(const pctl_taking *t)
{
	char id[PCTL_JOB_TEXT_SIZE];
	int is_told = t->charged == 0;

	for (uint32_t i = 0; t->said != NULL && i < pctl_diag_list_count(t->said); i++) {
		const pctl_diag *d = pctl_diag_list_at(t->said, i);
		const char *more = NULL;

		if (!is_told && d->severity == PCTL_SEVERITY_ERROR) {
			more = pctl_arena_printf(
				t->arena, "%s; the refusal costs %" PRIu64 " gas%s%s", d->message,
				t->charged, t->is_job ? ", job " : "",
				t->is_job ? pctl_job_id_format(t->refused, id) : "");
			is_told = 1;
		}
		pass(t->call, d, more == NULL ? d->message : more);
	}
}

/* ---- around what a message does ------------------------------------------------------------ */

/* From here on what is said is kept: *call is where. */
static pctl_status listen(pctl_taking *t, pctl_call *call)
{
	t->said = pctl_diag_list_create();
	if (t->said == NULL)
		return pctl_no_memory(t->call, "a message");
	if (t->call != NULL)
		pctl_diag_list_set_cancel(t->said, t->call->cancelled, t->call->ctx);
	*call = *pctl_diag_list_call(t->said);
	call->trace_id = t->call == NULL ? 0 : t->call->trace_id;
	return PCTL_OK;
}

pctl_status pctl_apply_or_charge(pctl_taking *t, const pctl_request *r)
{
	pctl_taking inner = *t;
	pctl_call listening;
	pctl_status status, charged;

	if (t->said == NULL) {
		status = listen(t, &listening);
		if (status != PCTL_OK)
			return status;
		inner.call = &listening;
	}
	status = pctl_apply_job(&inner, r, PCTL_ORIGIN_MESSAGE);
	if (status == PCTL_OK)
		return PCTL_OK;
	charged = charge(t, r, first_code(t->said));
	return charged == PCTL_OK ? status : charged;
}

/* What a refused message did is undone, unless it is kept as a job; its fee is not, and what a refusal costs comes to it. */
static pctl_status settle_refusal(pctl_taking *t, const pctl_request *r, uint64_t fee)
{
	uint64_t more = 0;
	pctl_status status = PCTL_OK;

	if (t->charged == 0) {
		pctl_params_forget(t->s);
		status = pctl_cursor_write(t->s, t->call, "ROLLBACK TO acting", "");
	}
	if (status == PCTL_OK)
		status = pctl_fee_refusal(t, pctl_request_sender(r), &more);
	/* At most what an account had. */
	t->charged += fee + more;
	return status;
}

static pctl_status act_in(pctl_taking *t, const pctl_request *r, uint32_t origin, pctl_act_fn act)
{
	uint64_t fee;
	pctl_status settled = PCTL_OK, status = pctl_fee_take(t, r, &fee);

	if (status != PCTL_OK)
		return status;
	t->is_counted = fee != 0;
	status = pctl_cursor_write(t->s, t->call, "SAVEPOINT acting", "");
	if (status != PCTL_OK)
		return status;
	status = act(t, r, origin);
	if (status != PCTL_OK && !pctl_is_refusal(status))
		return status; /* undone with all of the message */
	if (status != PCTL_OK)
		settled = settle_refusal(t, r, fee);
	if (settled == PCTL_OK)
		settled = pctl_cursor_write(t->s, t->call, "RELEASE acting", "");
	if (settled != PCTL_OK)
		t->charged = 0;
	return settled == PCTL_OK ? status : settled;
}

pctl_status pctl_act_for_fee(pctl_taking *t, const pctl_request *r, uint32_t origin,
			     pctl_act_fn act)
{
	const pctl_call *outer = t->call;
	pctl_call listening;
	pctl_status status = listen(t, &listening);

	if (status != PCTL_OK)
		return status;
	t->call = &listening;
	status = act_in(t, r, origin, act);
	t->call = outer;
	return status;
}
