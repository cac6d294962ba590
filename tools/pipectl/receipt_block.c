/* Receipts of blocks: disputes between two of them, and the receipt of one job taken out of a block's. */
#include <inttypes.h>
#include <string.h>

#include "foundation/base/file.h"
#include "chain.h"
#include "chain/home/dispute.h"
#include "chain/home/signing.h"
#include "chain/home/submit.h"
#include "chain/state/track.h"
#include "receipt.h"

/* ---- the dispute -------------------------------------------------------------------------- */

static pctl_status tell(pctl_app *app, const pctl_app_receipt r[2], pctl_dispute_report *report)
{
	const pctl_receipt_source texts[2] = {{r[0].text, r[0].n}, {r[1].text, r[1].n}};
	const char *who[2] = {"", ""};
	uint32_t n = 0;
	pctl_cid cid;
	pctl_status status = pctl_receipt_keep_report(&app->host, texts, report, app->call, &cid);

	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; i < 2; i++)
		if (report->side[i].wrong)
			who[n++] = r[i].path;
	pctl_app_print_report(app, r, report, &cid);
	return pctl_refuse(app->call, PC5913_DISPUTE_WRONG, "%s: %s%s%s", report->place, who[0],
			   n == 2 ? " and " : "", who[1]);
}

pctl_status pctl_app_dispute_blocks(pctl_app *app, const pctl_app_receipt r[2])
{
	const pctl_home_claim claims[2] = {{r[0].path, r[0].block}, {r[1].path, r[1].block}};
	pctl_dispute_report report;
	pctl_status status = pctl_home_dispute(&app->host, claims, app->arena, app->call, &report);

	return status == PCTL_OK ? tell(app, r, &report) : status;
}

/* ---- receipt export ----------------------------------------------------------------------- */

pctl_status pctl_verb_receipt_export(pctl_app *app)
{
	const char *to = pctl_option_value(&app->line, "--out"), *word = app->line.arguments[0],
		   *path;
	pctl_app_receipt block = {.path = NULL};
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_chain *chain = NULL;
	pctl_chain_job row = {.message = NULL};
	pctl_status status = pctl_app_chain(app, NULL, &chain);

	if (status == PCTL_OK)
		status = pctl_home_job_id(word, app->call, id);
	word += strncmp(word, "job:", 4) == 0 ? 4 : 0;
	if (status == PCTL_OK)
		status = pctl_jobs_read(pctl_cursor(chain), id, app->call, &row);
	if (status == PCTL_OK && row.ended == 0)
		status = pctl_refuse(app->call, PC5921_BLOCK_NO_JOB, "job %s is pending", word);
	if (status == PCTL_OK) {
		path = pctl_arena_printf(app->arena, "%s/%" PRIu64 ".receipt",
					 pctl_home_receipts(&app->host), row.ended);
		status = path == NULL ? pctl_no_memory(app->call, "a path")
				      : pctl_app_receipt_open(app, path, &block);
	}
	if (status == PCTL_OK && block.block == NULL)
		status = pctl_refuse(app->call, PC5901_RECEIPT_FORM, "%s is no block's receipt",
				     block.path);
	if (status == PCTL_OK)
		status = pctl_block_receipt_export(block.block, id, app->call, &text);
	/* Under version 1 of the rules there is no tree to prove anything by. */
	if (status == PCTL_OK)
		status = pctl_track_look(pctl_chain_track(pctl_cursor(chain)), app->call);
	if (status == PCTL_OK && pctl_track_is_on(pctl_chain_track(pctl_cursor(chain))))
		status = pctl_row_prove(chain, "jobs", &word, 1, app->call, &text);
	if (status == PCTL_OK && to != NULL)
		status = pctl_file_write(to, text.data, text.n, 1, app->call);
	else if (status == PCTL_OK && app->json)
		pctl_json_kv_string(&app->document, "receipt", text.data);
	else if (status == PCTL_OK)
		fwrite(text.data, 1, text.n, stdout);
	pctl_str_drop(&text);
	pctl_chain_job_clear(&row);
	pctl_app_receipt_close(&block);
	pctl_chain_close(chain);
	return status;
}
