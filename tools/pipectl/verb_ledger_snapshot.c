/* `ledger snapshot` and `ledger prune`: the state of the last block as files, a chain made of them, and old blocks removed. */
#include <string.h>

#include "block.h"
#include "chain.h"
#include "chain/home/restore.h"
#include "ledger.h"

static void print_report(pctl_app *app, const pctl_snapshot_report *r)
{
	char commit[PCTL_GITLOG_OID_TEXT_SIZE];

	pctl_app_print_count(app, "height", r->height);
	pctl_app_print_word(app, "commit", pctl_gitlog_oid_format(&r->commit, commit));
	pctl_app_print_count(app, "chunks", r->chunks);
	pctl_app_print_count(app, "rows", r->rows);
	pctl_app_print_count(app, "blobs", r->blobs);
	pctl_app_print_count(app, "bytes", r->bytes);
}

static pctl_status write_snapshot(pctl_app *app, const char *dir)
{
	pctl_snapshot_report r;
	pctl_chain *c = NULL;
	uint64_t bytes;
	pctl_status status = pctl_app_number(app, "--chunk-bytes", 0, &bytes);

	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &c);
	if (status == PCTL_OK)
		status = pctl_snapshot_write(c, dir, bytes, app->call, &r);
	if (status == PCTL_OK)
		print_report(app, &r);
	pctl_chain_close(c);
	return status;
}

static pctl_status restore(pctl_app *app, const char *dir)
{
	const char *id = pctl_option_value(&app->line, "--trust");
	pctl_snapshot_report r;
	pctl_trusted trusted;
	pctl_status status;

	if (id == NULL)
		return pctl_refuse(app->call, PC10_USAGE,
				   "`ledger snapshot restore` wants --trust ID, the block that is "
				   "trusted");
	status = pctl_trusted_read(id, app->call, &trusted);
	if (status == PCTL_OK)
		status = pctl_home_restore(&app->host, dir, &trusted, app->call, &r);
	if (status == PCTL_OK)
		print_report(app, &r);
	return status;
}

pctl_status pctl_verb_ledger_snapshot(pctl_app *app)
{
	const char *what = app->line.arguments[0], *dir = app->line.arguments[1];

	if (strcmp(what, "write") == 0)
		return write_snapshot(app, dir);
	if (strcmp(what, "restore") == 0)
		return restore(app, dir);
	return pctl_refuse(app->call, PC10_USAGE,
			   "`ledger snapshot` is write DIR or restore DIR, not \"%s\"", what);
}

pctl_status pctl_verb_ledger_prune(pctl_app *app)
{
	pctl_pruned pruned;
	uint64_t keep;
	pctl_chain *c = NULL;
	pctl_status status = pctl_app_number(app, "--keep", 0, &keep);

	if (status == PCTL_OK && !pctl_option_has(&app->line, "--keep"))
		return pctl_refuse(app->call, PC10_USAGE,
				   "--keep N says how many of the last blocks stay");
	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &c);
	if (status == PCTL_OK)
		status = pctl_home_prune(c, keep, app->call, &pruned);
	if (status == PCTL_OK) {
		pctl_app_print_count(app, "first", pruned.first);
		pctl_app_print_count(app, "packs", pruned.packs);
		pctl_app_print_count(app, "receipts", pruned.receipts);
		pctl_app_print_count(app, "statements", pruned.statements);
	}
	pctl_chain_close(c);
	return status;
}
