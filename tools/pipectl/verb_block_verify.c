/* Verbs that make blocks again: verifying those of this node, and replaying a history into an empty home. */
#include <inttypes.h>
#include <string.h>

#include "foundation/base/file.h"
#include "block.h"
#include "chain/replay/verify.h"

static void show_progress(void *ctx, uint64_t height, uint64_t last)
{
	pctl_app_progress(ctx, "block", height, last);
}

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
				 .deep = 1};
	pctl_replay_report report;
	pctl_status status = pctl_app_heights(app, app->line.arguments[0], &o.from, &o.to);

	if (status != PCTL_OK)
		return status;
	if (app->progress) {
		o.progress = show_progress;
		o.progress_ctx = app;
	}
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

typedef struct source {
	pctl_gitlog *log;
	pctl_history *history;
	pctl_store *fetch;
	pctl_params genesis;
} source;

static void close_source(source *s)
{
	pctl_history_close(s->history);
	pctl_gitlog_close(s->log);
	pctl_store_close(s->fetch);
}

static pctl_status open_source(pctl_app *app, source *s)
{
	const char *from = pctl_option_value(&app->line, "--from"),
		   *fetch = pctl_option_value(&app->line, "--fetch");
	pctl_gitlog_oid tip;
	pctl_status status;

	if (from == NULL)
		return pctl_refuse(app->call, PC10_USAGE, "`block replay` wants --from GITDIR");
	if (pctl_option_has(&app->line, "--recorded") &&
	    pctl_option_value(&app->line, "--backend") != NULL)
		return pctl_refuse(app->call, PC10_USAGE,
				   "with --recorded nothing runs: leave --backend out");
	if (!pctl_dir_exists(from))
		return pctl_refuse(app->call, PC5752_GITLOG_FOREIGN, "%s is no directory", from);
	status = pctl_gitlog_open(from, app->call, &s->log);
	if (status == PCTL_OK && !pctl_gitlog_tip(s->log, &tip))
		status = pctl_refuse(app->call, PC5753_GITLOG_MISSING, "%s has no blocks", from);
	if (status == PCTL_OK)
		status = pctl_history_open(s->log, &tip, app->call, &s->history);
	if (status == PCTL_OK)
		status = pctl_history_genesis(s->history, app->call, &s->genesis);
	if (status == PCTL_OK && fetch != NULL)
		status = pctl_store_open(fetch, PCTL_STORE_READ_ONLY, app->call, &s->fetch);
	return status;
}

/* With the parameters that the history began with. */
static pctl_status open_chain(pctl_app *app, const pctl_params *genesis,
			      const pctl_executor *executor, pctl_chain **out)
{
	pctl_chain_options o = {.genesis = genesis, .executor = executor};
	pctl_status status = pctl_installation_ops(&app->host, app->call);

	if (status == PCTL_OK)
		status = pctl_installation_store(&app->host, app->call);
	if (status != PCTL_OK)
		return status;
	o.dir = pctl_arena_printf(app->arena, "%s/chain", app->host.config->home);
	o.store = app->host.store;
	o.kernels = app->host.kernels;
	return o.dir == NULL ? pctl_refuse(app->call, PC2_NOMEM, "no memory for a path")
			     : pctl_chain_open(&o, app->call, out);
}

static pctl_status replay(pctl_app *app, const source *s, pctl_chain *chain, int recorded)
{
	pctl_chain_replay_options o = {.to = pctl_history_last(s->history),
				       .run_from = recorded ? UINT64_MAX : 1,
				       .fetch = s->fetch};
	char commit[PCTL_GITLOG_OID_TEXT_SIZE], root[PCTL_JOB_TEXT_SIZE];
	pctl_replay_report report;
	pctl_chain_info info;
	pctl_block_row last;
	pctl_status status = pctl_chain_info_read(chain, app->call, &info);

	if (status == PCTL_OK && (info.last != 0 || info.n_inbox != 0))
		status = pctl_refuse(app->call, PC5858_BLOCK_HOME,
				     "%s has %" PRIu64 " blocks and %" PRIu64
				     " messages in the open one",
				     app->host.config->home, info.last, info.n_inbox);
	if (app->progress) {
		o.progress = show_progress;
		o.progress_ctx = app;
	}
	if (status == PCTL_OK)
		status = pctl_replay(chain, s->history, &o, app->call, &report);
	if (status == PCTL_OK)
		status = pctl_blocks_last(pctl_cursor(chain), app->call, &last);
	if (status != PCTL_OK)
		return status;
	print_result(app, &report);
	pctl_app_print_count(app, "fetched", report.fetched);
	pctl_app_print_count(app, "fetched_bytes", report.fetched_bytes);
	pctl_app_print_word(app, "state_root", pctl_job_id_format(last.root, root));
	pctl_app_print_word(app, "commit", pctl_gitlog_oid_format(&last.commit, commit));
	return PCTL_OK;
}

pctl_status pctl_verb_block_replay(pctl_app *app)
{
	const int recorded = pctl_option_has(&app->line, "--recorded");
	pctl_executor executor = {.run = NULL};
	source s = {.log = NULL};
	pctl_chain *chain = NULL;
	pctl_status status = open_source(app, &s);

	if (status == PCTL_OK && !recorded)
		status = pctl_app_open_executor(app, NULL, &executor);
	if (status == PCTL_OK)
		status = open_chain(app, &s.genesis, recorded ? NULL : &executor, &chain);
	if (status == PCTL_OK)
		status = replay(app, &s, chain, recorded);
	pctl_chain_close(chain);
	pctl_executor_close(&executor);
	close_source(&s);
	return status;
}
