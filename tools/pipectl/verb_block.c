/* Verbs of blocks: ending the open one, listing and showing finished ones. */
#include <inttypes.h>
#include <string.h>

#include "foundation/base/num.h"
#include "block.h"
#include "chain/blocks/block.h"
#include "chain/home/signing.h"
#include "chain/home/submit.h"

/* ---- options ------------------------------------------------------------------------------- */

static int parse_height(const char *text, size_t n, uint64_t *out)
{
	return n > 0 && strspn(text, "0123456789") >= n && pctl_num_parse_u64(text, n, out);
}

pctl_status pctl_app_heights(pctl_app *app, const char *text, uint64_t *from, uint64_t *to)
{
	const char *dots = strstr(text, "..");
	const size_t n = dots == NULL ? strlen(text) : (size_t)(dots - text);

	if (!parse_height(text, n, from) ||
	    (dots != NULL && !parse_height(dots + 2, strlen(dots + 2), to)))
		return pctl_refuse(app->call, PC10_USAGE,
				   "\"%s\" is no block height and no range like 3..7", text);
	if (dots == NULL)
		*to = *from;
	return *from <= *to
		       ? PCTL_OK
		       : pctl_refuse(app->call, PC10_USAGE, "\"%s\" ends before it begins", text);
}

/* ---- printing ------------------------------------------------------------------------------ */

void pctl_app_print_count(pctl_app *app, const char *name, uint64_t value)
{
	pctl_app_progress_clear(app);
	if (app->json)
		pctl_json_kv_u64(&app->document, name, value);
	else
		printf("%-16s %" PRIu64 "\n", name, value);
}

void pctl_app_print_word(pctl_app *app, const char *name, const char *value)
{
	pctl_app_progress_clear(app);
	if (app->json)
		pctl_json_kv_string(&app->document, name, value);
	else
		printf("%-16s %s\n", name, value);
}

static void print_row(pctl_app *app, const pctl_block_row *b)
{
	char root[PCTL_JOB_TEXT_SIZE], commit[PCTL_GITLOG_OID_TEXT_SIZE];

	pctl_app_print_count(app, "height", b->height);
	pctl_app_print_count(app, "first_clock", b->first_clock);
	pctl_app_print_count(app, "final_clock", b->clock);
	pctl_app_print_count(app, "complete", b->complete);
	pctl_app_print_count(app, "failed", b->failed);
	pctl_app_print_count(app, "deferred", b->deferred);
	pctl_app_print_count(app, "gas", b->gas);
	pctl_app_print_word(app, "executor", b->executor);
	pctl_app_print_word(app, "state_root", pctl_job_id_format(b->root, root));
	pctl_app_print_word(app, "commit", pctl_gitlog_oid_format(&b->commit, commit));
}

/* ---- block end ----------------------------------------------------------------------------- */

static pctl_status end_block(pctl_app *app, pctl_chain *chain, const pctl_executor *executor)
{
	const pctl_home_signing signing = {&app->host, chain, executor, app->call};
	const char *height = pctl_option_value(&app->line, "--height");
	pctl_request r = {.kind = PCTL_MSG_BLOCK_END};
	pctl_block_row row;
	pctl_status status;

	r.as.block.executor = pctl_option_value(&app->line, "--executor");
	if (height != NULL && !parse_height(height, strlen(height), &r.as.block.height))
		return pctl_refuse(app->call, PC10_USAGE, "--height wants a number, not \"%s\"",
				   height);
	pctl_home_sign_blocks(&signing);
	status = pctl_chain_end_block(chain, &r, app->call, NULL);
	if (status == PCTL_OK)
		status = pctl_blocks_last(pctl_cursor(chain), app->call, &row);
	if (status == PCTL_OK)
		print_row(app, &row);
	return status;
}

pctl_status pctl_verb_block_end(pctl_app *app)
{
	pctl_executor executor = {.run = NULL};
	pctl_chain *chain = NULL;
	pctl_peers peers;
	pctl_status status = pctl_app_open_executor(app, NULL, &executor);

	if (status == PCTL_OK)
		status = pctl_app_chain(app, &executor, &chain);
	if (status == PCTL_OK)
		status = pctl_app_peers(app, chain, &peers);
	if (status == PCTL_OK)
		status = end_block(app, chain, &executor);
	pctl_chain_close(chain);
	pctl_executor_close(&executor);
	return status;
}

/* ---- block list ---------------------------------------------------------------------------- */

static pctl_status list_from(pctl_app *app, pctl_chain *chain, uint64_t from, uint64_t to)
{
	static const pctl_column columns[] = {{"height", "", 0},
					      {"clock", " clock ", 0},
					      {"complete", " complete ", 0},
					      {"failed", " failed ", 0},
					      {"deferred", " deferred ", 0},
					      {"gas", " gas ", 0},
					      {"commit", " ", 0}};
	pctl_status status = PCTL_OK;

	pctl_app_list_begin(app, "blocks", columns, PCTL_COLUMNS(columns));
	for (uint64_t height = from; status == PCTL_OK && height <= to; height++) {
		char commit[PCTL_GITLOG_OID_TEXT_SIZE];
		pctl_block_row b;

		status = pctl_blocks_read(pctl_cursor(chain), height, app->call, &b);
		if (status != PCTL_OK)
			break;
		if (app->json) {
			pctl_json_object_begin(&app->document);
			print_row(app, &b);
			pctl_json_object_end(&app->document);
		} else {
			const uint64_t numbers[] = {b.height, b.clock,	  b.complete,
						    b.failed, b.deferred, b.gas};

			for (uint32_t i = 0; i < PCTL_COLUMNS(numbers); i++)
				pctl_table_cell(app->table, "%" PRIu64, numbers[i]);
			pctl_table_cell(app->table, "%s",
					pctl_gitlog_oid_format(&b.commit, commit));
		}
	}
	return pctl_app_list_end(app, status);
}

pctl_status pctl_verb_block_list(pctl_app *app)
{
	const char *text = pctl_option_value(&app->line, "--last");
	uint64_t n = UINT64_MAX;
	pctl_chain *chain = NULL;
	pctl_block_row last;
	pctl_status status;

	if (text != NULL && (!parse_height(text, strlen(text), &n) || n == 0))
		return pctl_refuse(app->call, PC10_USAGE, "--last wants a number, not \"%s\"",
				   text);
	status = pctl_app_chain(app, NULL, &chain);
	if (status == PCTL_OK)
		status = pctl_blocks_last(pctl_cursor(chain), app->call, &last);
	if (status == PCTL_OK)
		status = list_from(app, chain, n < last.height ? last.height - n + 1 : 1,
				   last.height);
	pctl_chain_close(chain);
	return status;
}

/* ---- block show ---------------------------------------------------------------------------- */

static int print_job(void *ctx, const pctl_chain_job *job)
{
	pctl_app *app = ctx;
	pctl_json *j = &app->document;
	const int complete = job->status == PCTL_JOB_COMPLETE;
	char id[PCTL_JOB_TEXT_SIZE], cid[PCTL_CID_TEXT_SIZE];

	pctl_job_id_format(job->id, id);
	pctl_cid_format(&job->output, cid);
	if (!app->json) {
		printf("job %s clock %" PRIu64 " %s gas %" PRIu64 " %s%s\n", id, job->clock,
		       complete ? "complete" : "failed", job->gas_used, complete ? "output " : "",
		       complete ? cid : job->error);
		return 0;
	}
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "job", id);
	pctl_json_kv_string(j, "sender", job->sender);
	pctl_json_kv_u64(j, "clock", job->clock);
	pctl_json_kv_string(j, "status", complete ? "complete" : "failed");
	pctl_json_kv_u64(j, "gas_used", job->gas_used);
	pctl_json_kv_string(j, "output", complete ? cid : "");
	pctl_json_kv_u64(j, "output_bytes", complete ? job->output_bytes : 0);
	pctl_json_kv_string(j, "error", complete ? "" : job->error);
	pctl_json_object_end(j);
	return 0;
}

static void print_report(pctl_app *app, const pctl_ledger_report *r)
{
	pctl_app_print_count(app, "gas_reserved", r->reserved);
	pctl_app_print_count(app, "gas_refunded", r->refunded);
	pctl_app_print_count(app, "to_executors", r->split.executor);
	pctl_app_print_count(app, "to_treasury", r->split.treasury);
	pctl_app_print_count(app, "burned", r->split.burned);
	pctl_app_print_count(app, "slashed", r->slashed);
}

static pctl_status show_block(pctl_app *app, pctl_chain *chain, uint64_t height)
{
	pctl_chain_state *s = pctl_cursor(chain);
	pctl_ledger_report report;
	pctl_block_row row;
	pctl_status status = pctl_home_block(chain, height, app->call, &row);

	if (status == PCTL_OK)
		status = pctl_ledger_block_report(s, row.height, app->call, &report);
	if (status != PCTL_OK)
		return status;
	print_row(app, &row);
	print_report(app, &report);
	if (app->json) {
		pctl_json_key(&app->document, "jobs");
		pctl_json_array_begin(&app->document);
	}
	status = pctl_jobs_ended_at(s, row.height, print_job, app, app->call);
	if (app->json)
		pctl_json_array_end(&app->document);
	return status;
}

pctl_status pctl_verb_block_show(pctl_app *app)
{
	uint64_t height = 0, to = 0;
	pctl_chain *chain = NULL;
	pctl_status status = PCTL_OK;

	if (app->line.n_arguments != 0)
		status = pctl_app_heights(app, app->line.arguments[0], &height, &to);
	if (status == PCTL_OK && height != to)
		status = pctl_refuse(app->call, PC10_USAGE, "`block show` shows one block");
	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &chain);
	if (status == PCTL_OK)
		status = show_block(app, chain, height);
	pctl_chain_close(chain);
	return status;
}
