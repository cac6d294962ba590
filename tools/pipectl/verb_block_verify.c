/* Verbs that make blocks again: verifying those of this node, and replaying a history into an empty home. */
#include <inttypes.h>
#include <string.h>

#include "block.h"
#include "chain/home/replay.h"
#include "chain/replay/verify.h"

static void print_result(pctl_app *app, const pctl_replay_report *r)
{
	pctl_app_print_count(app, "blocks", r->blocks);
	pctl_app_print_count(app, "messages", r->messages);
	pctl_app_print_count(app, "jobs", r->jobs);
}

/* ---- block verify -------------------------------------------------------------------------- */

static pctl_status verify(pctl_app *app, pctl_chain *chain, const pctl_executor *executor,
			  const pctl_executor *reference)
{
	pctl_verify_options o = {.executor = executor,
				 .reference = reference,
				 .kernels = app->host.kernels,
				 .snapshot = pctl_option_value(&app->line, "--snapshot"),
				 .progress = pctl_app_progress(app),
				 .deep = 1};
	pctl_replay_report report;
	pctl_status status = pctl_app_heights(app, app->line.arguments[0], &o.from, &o.to);

	if (status != PCTL_OK)
		return status;
	status = pctl_verify_blocks(chain, &o, app->call, &report);
	if (status != PCTL_OK)
		return status;
	pctl_app_print_count(app, "from", o.from);
	pctl_app_print_count(app, "to", o.to);
	print_result(app, &report);
	pctl_app_print_count(app, "executed", report.executed);
	pctl_app_print_word(app, "backend", executor->describe(executor->ctx));
	return PCTL_OK;
}

pctl_status pctl_verb_block_verify(pctl_app *app)
{
	pctl_executor executor = {.run = NULL}, reference = {.run = NULL};
	pctl_chain *chain = NULL;
	pctl_status status = pctl_app_open_executor(app, NULL, &executor);

	/* What the named devices give is asked. */
	if (status == PCTL_OK)
		pctl_device_executor_hold_to(&executor);
	if (status == PCTL_OK)
		status = pctl_app_open_executor(app, PCTL_REFERENCE, &reference);
	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &chain);
	if (status == PCTL_OK)
		status = verify(app, chain, &executor, &reference);
	pctl_chain_close(chain);
	pctl_executor_close(&reference);
	pctl_executor_close(&executor);
	return status;
}

/* ---- block replay -------------------------------------------------------------------------- */

pctl_status pctl_verb_block_replay(pctl_app *app)
{
	const int recorded = pctl_option_has(&app->line, "--recorded");
	pctl_home_replay_request q = {.from = pctl_option_value(&app->line, "--from"),
				      .fetch = pctl_option_value(&app->line, "--fetch"),
				      .progress = pctl_app_progress(app)};
	char commit[PCTL_GITLOG_OID_TEXT_SIZE], root[PCTL_JOB_TEXT_SIZE];
	pctl_executor executor = {.run = NULL};
	pctl_home_replayed r;
	pctl_status status = PCTL_OK;

	if (q.from == NULL)
		return pctl_refuse(app->call, PC10_USAGE, "`block replay` wants --from GITDIR");
	if (recorded && pctl_option_value(&app->line, "--backend") != NULL)
		return pctl_refuse(app->call, PC10_USAGE,
				   "with --recorded nothing runs: leave --backend out");
	if (!recorded) {
		status = pctl_app_open_executor(app, NULL, &executor);
		q.executor = &executor;
	}
	if (status == PCTL_OK)
		status = pctl_home_replay(&app->host, &q, app->call, &r);
	if (status == PCTL_OK) {
		print_result(app, &r.report);
		pctl_app_print_count(app, "fetched", r.report.fetched);
		pctl_app_print_count(app, "fetched_bytes", r.report.fetched_bytes);
		pctl_app_print_word(app, "state_root", pctl_job_id_format(r.root, root));
		pctl_app_print_word(app, "commit", pctl_gitlog_oid_format(&r.commit, commit));
	}
	pctl_executor_close(&executor);
	return status;
}
