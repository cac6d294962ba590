/* Verbs over receipts that run something: replay, dispute. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "receipt.h"
#include "evidence/receipt/dispute.h"
#include "evidence/receipt/replay.h"

static pctl_status needs_run(pctl_app *app, const pctl_app_receipt *r)
{
	return r->run != NULL ? PCTL_OK
			      : pctl_refuse(app->call, PC5901_RECEIPT_FORM,
					    "%s is a block's receipt, not one of a run", r->path);
}

/* ---- replay ------------------------------------------------------------------------------- */

static pctl_status write_again(pctl_app *app, pctl_receipt *r)
{
	const char *path = pctl_option_value(&app->line, "--receipt");
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_signer *signer = NULL;
	pctl_status status =
		path == NULL ? PCTL_OK : pctl_installation_signer(&app->host, app->call, &signer);

	if (status == PCTL_OK && path != NULL)
		status = pctl_receipt_text(r, signer, app->call, &text);
	if (status == PCTL_OK && path != NULL)
		status = pctl_file_write(path, text.data, text.n, 1, app->call);
	pctl_signer_close(signer);
	pctl_str_drop(&text);
	return status;
}

static void print_replay(pctl_app *app, const pctl_receipt *r, const pctl_replay *again)
{
	const char *device = again->again->n_devices == 0 ? "" : again->again->devices[0].name;

	if (app->json) {
		pctl_json *j = &app->document;

		pctl_json_kv_bool(j, "same", !again->differs);
		pctl_json_kv_string(j, "device", device);
		pctl_json_kv_u32(j, "compared", again->n_compared);
		if (again->leaf != NULL)
			pctl_json_kv_string(j, "receipt", again->leaf->line);
		if (again->here != NULL)
			pctl_json_kv_string(j, "here", again->here->line);
	} else if (!again->differs && !app->quiet) {
		printf("%s: the same on %s, %" PRIu32 " %s\n", r->name, device, again->n_compared,
		       r->executed ? "lines of trace" : "outputs (the receipt has no trace)");
	}
}

static pctl_status refuse_replay(pctl_app *app, const pctl_receipt *r, const pctl_replay *again)
{
	const pctl_trace_leaf *leaf = again->leaf != NULL ? again->leaf : again->here;
	char place[PCTL_TRACE_PLACE];

	if (leaf == NULL)
		return pctl_refuse(app->call, PC5910_REPLAY_DIFFERS, "%s: output \"%s\"", r->name,
				   again->output < r->n_outputs ? r->outputs[again->output].name
								: "");
	return pctl_refuse(app->call, PC5910_REPLAY_DIFFERS,
			   "%s: %s; the receipt has \"%s\", here \"%s\"", r->name,
			   pctl_trace_place(leaf, place),
			   again->leaf == NULL ? "" : again->leaf->line,
			   again->here == NULL ? "" : again->here->line);
}

pctl_status pctl_verb_receipt_replay(pctl_app *app)
{
	pctl_replay again = {.again = NULL};
	pctl_reopened *p = NULL;
	pctl_run_options o;
	pctl_app_receipt r;
	pctl_status status = pctl_app_receipt_open(app, app->line.arguments[0], &r);

	if (status == PCTL_OK)
		status = needs_run(app, &r);
	if (status == PCTL_OK)
		status = pctl_app_run_options(app, &o);
	if (status == PCTL_OK)
		status = pctl_receipt_reopen(r.run, &o, app->host.kernels, app->call, &p);
	if (status == PCTL_OK)
		status = pctl_receipt_run_again(&app->host, p, &o, app->call, &again);
	pctl_app_progress_clear(app);
	if (status == PCTL_OK)
		status = write_again(app, again.again);
	if (status == PCTL_OK) {
		print_replay(app, r.run, &again);
		if (again.differs)
			status = refuse_replay(app, r.run, &again);
	}
	pctl_replay_clear(&again);
	pctl_reopened_close(p);
	pctl_app_receipt_close(&r);
	return status;
}

/* ---- dispute ------------------------------------------------------------------------------ */

/* What is said of one side, in words. */
static const char *detail(pctl_app *app, const pctl_dispute_side *s)
{
	const int digits = (int)(s->element_bytes > 8 ? 8 : s->element_bytes) * 2;

	if (!s->wrong)
		return "";
	if (!s->known)
		return s->buffer == NULL || s->buffer[0] == '\0'
			       ? s->how
			       : pctl_arena_printf(app->arena, "buffer \"%s\"; %s", s->buffer,
						   s->how);
	return pctl_arena_printf(app->arena,
				 "buffer \"%s\", element %" PRIu64 " is 0x%0*" PRIx64
				 ", not 0x%0*" PRIx64 ": %" PRIu32 " bits flipped; %" PRIu64
				 " elements differ (%s)",
				 s->buffer, s->element, digits, s->got, digits, s->want,
				 s->flipped_bits, s->n_different, s->how);
}

void pctl_app_print_report(pctl_app *app, const pctl_app_receipt r[2],
			   const pctl_dispute_report *report, const pctl_cid *cid)
{
	char text[PCTL_CID_TEXT_SIZE];
	pctl_json *j = &app->document;

	pctl_cid_format(cid, text);
	if (!app->json) {
		printf("%s\n", report->place);
		for (uint32_t i = 0; i < 2; i++)
			printf("%s (key %.16s..): %s%s%s\n", r[i].path, report->side[i].signer,
			       report->side[i].wrong ? "wrong" : "right",
			       report->side[i].wrong ? ", " : "", report->side[i].detail);
		printf("report %s\n", text);
		return;
	}
	pctl_json_kv_string(j, "place", report->place);
	pctl_json_kv_string(j, "job", report->job);
	pctl_json_kv_string(j, "reference", report->reference);
	pctl_json_kv_string(j, "correct", report->correct);
	pctl_json_key(j, "receipts");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < 2; i++) {
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "file", r[i].path);
		pctl_json_kv_string(j, "signer", report->side[i].signer);
		pctl_json_kv_bool(j, "wrong", (int)report->side[i].wrong);
		pctl_json_kv_string(j, "claimed", report->side[i].claimed);
		pctl_json_kv_string(j, "detail", report->side[i].detail);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
	pctl_json_kv_string(j, "report", text);
}

static void json_side(pctl_app *app, const pctl_dispute_side *s, const pctl_dispute_report *r,
		      uint32_t i)
{
	pctl_json *j = &app->document;
	char hex[32];

	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "file", s->receipt->name);
	pctl_json_kv_string(j, "signer", s->receipt->signer);
	pctl_json_kv_bool(j, "wrong", (int)s->wrong);
	pctl_json_kv_string(j, "claimed", s->claimed);
	pctl_json_kv_string(j, "detail", r->side[i].detail);
	if (s->wrong && s->buffer != NULL)
		pctl_json_kv_string(j, "buffer", s->buffer);
	if (s->known) {
		pctl_json_kv_u64(j, "element", s->element);
		snprintf(hex, sizeof(hex), "0x%" PRIx64, s->got);
		pctl_json_kv_string(j, "got", hex);
		snprintf(hex, sizeof(hex), "0x%" PRIx64, s->want);
		pctl_json_kv_string(j, "want", hex);
		pctl_json_kv_u32(j, "flipped_bits", s->flipped_bits);
	}
	pctl_json_object_end(j);
}

static void print_dispute(pctl_app *app, const pctl_dispute *d, const pctl_dispute_report *r,
			  const pctl_cid *report)
{
	char cid[PCTL_CID_TEXT_SIZE];
	pctl_json *j = &app->document;

	pctl_cid_format(report, cid);
	if (!app->json) {
		printf("%s%s%s\n", d->place, d->kernel == NULL ? "" : ", kernel ",
		       d->kernel == NULL ? "" : d->kernel);
		for (uint32_t i = 0; i < 2; i++)
			printf("%s (key %.16s..): %s%s%s\n", d->side[i].receipt->name,
			       d->side[i].receipt->signer, d->side[i].wrong ? "wrong" : "right",
			       d->side[i].wrong ? ", " : "", r->side[i].detail);
		printf("report %s\n", cid);
		return;
	}
	pctl_json_kv_string(j, "place", d->place);
	if (d->leaf.id != NULL) {
		pctl_json_kv_string(j, "job", d->leaf.id);
		pctl_json_kv_string(j, "level", pctl_trace_level_name(d->leaf.level));
		pctl_json_kv_u64(j, "round", d->leaf.round);
		pctl_json_kv_u32(j, "step", d->leaf.step);
	}
	if (d->kernel != NULL)
		pctl_json_kv_string(j, "kernel", d->kernel);
	pctl_json_kv_string(j, "reference", d->reference);
	pctl_json_kv_string(j, "run_up", d->run_up == NULL ? "" : d->run_up);
	pctl_json_kv_u32(j, "checked", d->n_checked);
	pctl_json_kv_string(j, "correct", r->correct);
	pctl_json_kv_bool(j, "forged", (int)d->forged);
	pctl_json_kv_bool(j, "both_agreed", (int)d->both_agreed);
	pctl_json_key(j, "receipts");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < 2; i++)
		json_side(app, &d->side[i], r, i);
	pctl_json_array_end(j);
	pctl_json_kv_string(j, "report", cid);
}

static pctl_status tell(pctl_app *app, const pctl_app_receipt r[2], const pctl_dispute *d)
{
	pctl_dispute_report report = {.kind = "run",
				      .n_sides = 2,
				      .place = d->place,
				      .job = d->leaf.id == NULL ? "" : d->leaf.id,
				      .reference = d->reference,
				      .correct = d->leaf.line == NULL ? "" : d->leaf.line};
	const pctl_receipt_source texts[2] = {{r[0].text, r[0].n}, {r[1].text, r[1].n}};
	const char *who[2] = {"", ""};
	uint32_t n = 0;
	pctl_cid cid;
	pctl_status status;

	for (uint32_t i = 0; i < 2; i++) {
		report.side[i].signer = d->side[i].receipt->signer;
		report.side[i].claimed = d->side[i].claimed;
		report.side[i].detail = detail(app, &d->side[i]);
		report.side[i].wrong = d->side[i].wrong;
		if (report.side[i].detail == NULL)
			return pctl_no_memory(app->call, "a receipt");
		if (d->side[i].wrong)
			who[n++] = r[i].path;
	}
	status = pctl_receipt_keep_report(&app->host, texts, &report, app->call, &cid);
	if (status != PCTL_OK)
		return status;
	print_dispute(app, d, &report, &cid);
	return pctl_refuse(app->call, PC5913_DISPUTE_WRONG, "%s: %s%s%s", d->place, who[0],
			   n == 2 ? " and " : "", who[1]);
}

static pctl_status dispute_runs(pctl_app *app, const pctl_app_receipt r[2])
{
	pctl_reopened *p = NULL;
	pctl_dispute *d = NULL;
	pctl_run_options o;
	pctl_status status = pctl_dispute_check(r[0].run, r[1].run, app->call);

	if (status == PCTL_OK)
		status = pctl_app_run_options(app, &o);
	if (status == PCTL_OK)
		status = pctl_receipt_reopen(r[0].run, &o, app->host.kernels, app->call, &p);
	if (status == PCTL_OK)
		status = pctl_dispute_judge(r[0].run, r[1].run, p, &o, app->call, &d);
	pctl_app_progress_clear(app);
	if (status == PCTL_OK)
		status = tell(app, r, d);
	pctl_dispute_destroy(d);
	pctl_reopened_close(p);
	return status;
}

pctl_status pctl_verb_receipt_dispute(pctl_app *app)
{
	pctl_app_receipt r[2] = {{.path = NULL}, {.path = NULL}};
	pctl_status status = pctl_app_receipt_open(app, app->line.arguments[0], &r[0]);

	if (status == PCTL_OK)
		status = pctl_app_receipt_open(app, app->line.arguments[1], &r[1]);
	if (status == PCTL_OK && r[0].block != NULL && r[1].block != NULL) {
		status = pctl_app_dispute_blocks(app, r);
	} else {
		for (uint32_t i = 0; status == PCTL_OK && i < 2; i++)
			status = needs_run(app, &r[i]);
		if (status == PCTL_OK)
			status = dispute_runs(app, r);
	}
	pctl_app_receipt_close(&r[0]);
	pctl_app_receipt_close(&r[1]);
	return status;
}
