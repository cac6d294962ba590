/* Running the blocks of a shard. */
#include "evidence/certify/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foundation/base/clock.h"
#include "foundation/base/file.h"
#include "evidence/certify/regressions.h"
#include "foundation/diag/diag.h"

#define UNITS_LIMIT (256u << 20)

/* dead: the device is lost and was not to be had again. */
typedef struct running {
	const pctl_certify_options *o;
	const pctl_call *call;
	pctl_certify_outcome *out;
	pctl_units *units;
	pctl_journal *journal;
	pctl_journal_entry entry;
	uint8_t plan[PCTL_DIGEST_BYTES];
	char dead[256];
} running;

/* ---- the plan ----------------------------------------------------------------------------- */

static pctl_status make_plan(running *r, pctl_str_buf *text)
{
	const pctl_certify_options *o = r->o;
	pctl_cid cid;
	pctl_status status = pctl_proof_plan(o->context, o->providers, o->n_providers, &o->params,
					     r->call, &r->units);

	if (status == PCTL_OK)
		status = pctl_proof_plan_text(r->units, r->call, text);
	if (status == PCTL_OK)
		status = pctl_cid_of(text->data, text->n, r->call, &cid);
	if (status == PCTL_OK)
		memcpy(r->plan, cid.digest, sizeof(r->plan));
	return status;
}

/* Units hold kernels and buffers of a session that is gone: they are made anew, and are the same. */
static pctl_status make_plan_again(running *r)
{
	uint8_t before[PCTL_DIGEST_BYTES];
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status status;

	memcpy(before, r->plan, sizeof(before));
	status = make_plan(r, &text);
	pctl_str_drop(&text);
	if (status == PCTL_OK && memcmp(before, r->plan, sizeof(before)) != 0)
		status = pctl_refuse(r->call, PC1_INTERNAL,
				     "the units changed when the device was opened again");
	return status;
}

/* DIR/units.tsv: written by whoever comes first, the same for all. */
static pctl_status keep_units(const running *r, const pctl_str_buf *text)
{
	char *path = pctl_path_join(r->o->dir, "units.tsv"), *there = NULL, own[64];
	char *temporary = NULL;
	uint64_t n = 0;
	pctl_status status = PCTL_OK;

	snprintf(own, sizeof(own), "units.%ld.tmp", (long)getpid());
	temporary = pctl_path_join(r->o->dir, own);
	if (path == NULL || temporary == NULL)
		status = pctl_no_memory(r->call, "a proof");
	if (status == PCTL_OK && !pctl_file_exists(path)) {
		status = pctl_file_write(temporary, text->data, text->n, 1, r->call);
		if (status == PCTL_OK && link(temporary, path) != 0 && errno != EEXIST)
			status = pctl_refuse(r->call, PC3_IO, "cannot write %s", path);
		unlink(temporary);
	}
	if (status == PCTL_OK)
		status = pctl_file_read(path, UNITS_LIMIT, r->call, &there, &n);
	if (status == PCTL_OK && (n != text->n || memcmp(there, text->data, n) != 0))
		status = pctl_refuse_at(r->call, PC5515_DIRECTORY, NULL, "give another --out",
					"%s holds a proof with other units", r->o->dir);
	free(there);
	free(temporary);
	free(path);
	return status;
}

static pctl_status head_text(running *r, pctl_str_buf *out)
{
	const pctl_proof_context *b = r->o->context;
	pctl_certificate *c = NULL;
	pctl_status status = pctl_certificate_create(r->call, &c);

	if (status == PCTL_OK)
		status = pctl_certificate_describe(c, r->o->context, r->call);
	if (status == PCTL_OK) {
		c->params = r->o->params;
		c->regressions = b->regressions;
		c->n_regressions = b->n_regressions;
		memcpy(c->plan, r->plan, sizeof(c->plan));
		status = pctl_certificate_head_text(c, out, r->call);
	}
	pctl_certificate_destroy(c);
	return status;
}

static pctl_status open_journal(running *r)
{
	const pctl_certify_options *o = r->o;
	pctl_str_buf head = PCTL_STR_BUF_INIT;
	char *path = pctl_shard_path(o->dir, o->shard);
	pctl_status status =
		path == NULL ? pctl_no_memory(r->call, "a proof") : head_text(r, &head);

	if (status == PCTL_OK && o->resume)
		status = pctl_journal_resume(path, head.data, o->shard, r->call, &r->journal,
					     &r->out->before);
	else if (status == PCTL_OK)
		status = pctl_journal_create(path, head.data, o->shard, r->call, &r->journal);
	if (status == PCTL_OK)
		status = pctl_journal_shapes(r->journal, r->o->context->shapes.seed, r->call);
	pctl_str_drop(&head);
	free(path);
	return status;
}

/* ---- one block ---------------------------------------------------------------------------- */

/* The unit's own words go to `cause`: they are part of the record, not of this run's output. */
static pctl_status try_block(running *r, const pctl_unit *u, uint64_t number)
{
	pctl_journal_entry *e = &r->entry;
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_status status;

	if (said == NULL)
		return pctl_no_memory(r->call, "a proof");
	pctl_diag_list_set_cancel(said, r->call->cancelled, r->call->ctx);
	memset(e, 0, sizeof(*e));
	e->number = number;
	status = pctl_shapes_block(&r->o->context->shapes, number, r->call);
	if (status == PCTL_OK)
		status = u->run(u, r->o->context, number - u->first_block,
				pctl_diag_list_call(said), &e->block);
	e->ran = status == PCTL_OK;
	if (status != PCTL_OK)
		snprintf(e->cause, sizeof(e->cause), "%s: %.200s", pctl_status_name(status),
			 pctl_diag_list_count(said) != 0 ? pctl_diag_list_at(said, 0)->message
							 : "no reason was given");
	pctl_diag_list_destroy(said);
	return status;
}

static int is_lost(pctl_status status)
{
	return status == PCTL_E_DEVICE_LOST || status == PCTL_E_TIMEOUT;
}

/* Sessions closed and opened again, with units made for them. Only what makes going on impossible is an error. */
static pctl_status open_again(running *r)
{
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_status opened = PCTL_E_DEVICE_LOST;

	if (said == NULL)
		return pctl_no_memory(r->call, "a proof");
	pctl_units_destroy(r->units);
	r->units = NULL;
	if (r->o->reopen != NULL && r->out->reopened < PCTL_CERTIFY_REOPENS) {
		r->out->reopened++;
		opened = r->o->reopen(r->o->context, pctl_diag_list_call(said));
	}
	if (opened != PCTL_OK)
		snprintf(r->dead, sizeof(r->dead),
			 "the device was lost and not opened again: %.180s",
			 pctl_diag_list_count(said) != 0 ? pctl_diag_list_at(said, 0)->message
							 : "it was lost too often");
	pctl_diag_list_destroy(said);
	return make_plan_again(r);
}

static pctl_status run_block(running *r, uint64_t number)
{
	const pctl_unit *u = pctl_proof_unit_of(r->units, number);
	pctl_status status;

	if (r->dead[0] != '\0' && !(u->flags & PCTL_UNIT_HOST)) {
		memset(&r->entry, 0, sizeof(r->entry));
		r->entry.number = number;
		memcpy(r->entry.cause, r->dead, sizeof(r->dead));
		return PCTL_OK;
	}
	status = try_block(r, u, number);
	if (is_lost(status)) {
		char cause[sizeof(r->entry.cause)];

		memcpy(cause, r->entry.cause, sizeof(cause));
		status = open_again(r);
		if (status != PCTL_OK)
			return status;
		if (r->dead[0] != '\0')
			return PCTL_OK; /* with the first cause */
		status = try_block(r, pctl_proof_unit_of(r->units, number), number);
		if (is_lost(status)) {
			status = open_again(r);
			if (status != PCTL_OK)
				return status;
		}
	}
	return pctl_is_cancelled(r->call) ? pctl_refuse(r->call, PC4_CANCELLED,
							"cancelled; --resume goes on from here")
					  : PCTL_OK;
}

/* What a person is told, and what is tested for ever from now on. */
static pctl_status note(running *r, const pctl_unit *u)
{
	const pctl_journal_entry *e = &r->entry;
	const pctl_counterexample *x = &e->block.first;
	pctl_certify_outcome *out = r->out;

	out->ran += e->ran;
	out->not_run += !e->ran;
	out->failed += e->ran && e->block.failures != 0;
	if (out->cause[0] == '\0' && !e->ran)
		snprintf(out->cause, sizeof(out->cause), "%.100s, %s \"%.60s\": %s", u->subject,
			 pctl_unit_kind_name(u->kind), u->name, e->cause);
	if (!e->ran || e->block.failures == 0)
		return PCTL_OK;
	if (out->failed == 1)
		snprintf(out->cause, sizeof(out->cause),
			 "%.80s, %s \"%.50s\": %.100s with %.80s gave %.60s, not %.60s", u->subject,
			 pctl_unit_kind_name(u->kind), u->name, x->law, x->inputs, x->got, x->want);
	return r->o->regressions == NULL
		       ? PCTL_OK
		       : pctl_regressions_add(r->o->regressions, u->subject, x, r->call);
}

static void tell(const running *r, const char *subject, uint64_t done, uint64_t started)
{
	const pctl_session *s = r->o->context->device;
	const pctl_progress now = {.stage = "prove",
				   .what = subject,
				   .device = s == NULL ? NULL : pctl_session_id(s),
				   .unit = "blocks",
				   .done = done - r->out->before,
				   .total = r->out->blocks - r->out->before,
				   .elapsed_ns = pctl_clock_ns() - started};

	pctl_progress_tell(&r->o->progress, &now);
}

static pctl_status run_all(running *r)
{
	const pctl_certify_options *o = r->o;
	const uint64_t started = pctl_clock_ns();
	pctl_status status = PCTL_OK;

	for (uint64_t k = r->out->before; status == PCTL_OK && k < r->out->blocks; k++) {
		const uint64_t number = pctl_shard_block(o->shard, k);
		const pctl_unit *u = pctl_proof_unit_of(r->units, number);

		tell(r, u->subject, k, started);
		if (pctl_is_cancelled(r->call))
			return pctl_refuse(r->call, PC4_CANCELLED,
					   "cancelled; --resume goes on from here");
		status = run_block(r, number);
		if (status == PCTL_OK)
			status = pctl_journal_append(r->journal, &r->entry, r->call);
		if (status == PCTL_OK)
			status = note(r, pctl_proof_unit_of(r->units, number));
	}
	return status;
}

/* What the device's driver had mapped by the end of this run and not at its beginning. */
static pctl_status note_late(const running *r)
{
	pctl_certificate *c = NULL;
	pctl_status status = PCTL_OK;

	if (r->dead[0] != '\0' || r->o->context->device == NULL)
		return PCTL_OK;
	status = pctl_certificate_create(r->call, &c);
	if (status == PCTL_OK)
		status = pctl_session_settle(r->o->context->device, r->call);
	if (status == PCTL_OK)
		status = pctl_certificate_take_late(c, pctl_session_late(r->o->context->device),
						    r->call);
	for (uint32_t i = 0; status == PCTL_OK && i < c->n_late; i++)
		status = pctl_journal_late(r->journal, c->late[i].key, c->late[i].value, r->call);
	pctl_certificate_destroy(c);
	return status;
}

pctl_status pctl_certify_run(const pctl_certify_options *o, const pctl_call *call,
			     pctl_certify_outcome *out)
{
	running *r = calloc(1, sizeof(*r));
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status status, closed;

	memset(out, 0, sizeof(*out));
	if (r == NULL)
		return pctl_no_memory(call, "a proof");
	r->o = o;
	r->call = call;
	r->out = out;
	status = make_plan(r, &text);
	if (status == PCTL_OK)
		status = pctl_file_make_dirs(o->dir, call);
	if (status == PCTL_OK)
		status = keep_units(r, &text);
	if (status == PCTL_OK)
		status = open_journal(r);
	pctl_str_drop(&text);
	if (status == PCTL_OK) {
		out->blocks = pctl_shard_blocks(o->shard, r->units->n_blocks);
		status = run_all(r);
	}
	if (status == PCTL_OK)
		status = note_late(r);
	closed = pctl_journal_close(r->journal, call);
	pctl_units_destroy(r->units);
	free(r);
	return status == PCTL_OK ? closed : status;
}
