/* Verbs of the tree over the state: proofs of rows made and checked, and all of it gone over. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "block.h"
#include "ledger.h"
#include "chain/sync/rowproof.h"
#include "foundation/base/file.h"

#define PROOF_MAX (64u << 20)

/* ---- ledger prove -------------------------------------------------------------------------- */

static pctl_status make(pctl_app *app)
{
	const char *to = pctl_option_value(&app->line, "--out");
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_chain *c = NULL;
	pctl_status status = pctl_app_chain(app, NULL, &c);

	if (status == PCTL_OK)
		status = pctl_row_prove(c, app->line.arguments[0], app->line.arguments + 1,
					app->line.n_arguments - 1, app->call, &text);
	if (status == PCTL_OK && to != NULL)
		status = pctl_file_write(to, text.data, text.n, 0, app->call);
	else if (status == PCTL_OK && app->json)
		pctl_json_kv_string(&app->document, "proof", text.data);
	else if (status == PCTL_OK)
		fwrite(text.data, 1, text.n, stdout);
	pctl_str_drop(&text);
	pctl_chain_close(c);
	return status;
}

static pctl_status print_proof(pctl_app *app, const pctl_row_proof *p)
{
	const int table = pctl_state_table_find(p->table, strlen(p->table));
	uint32_t n;
	char key[PCTL_ROW_TEXT_SIZE];
	pctl_str_buf text = PCTL_STR_BUF_INIT;

	if (table < 0)
		return pctl_refuse(app->call, PC6142_TREE_KEY,
				   "the proof is of a table that this pipectl does not know: %s",
				   p->table);
	pctl_row_key_text(&pctl_state_tables(&n)[table], p->key.data, p->key.n, key);
	pctl_app_print_count(app, "height", p->height);
	pctl_app_print_word(app, "proved", key);
	pctl_app_print_word(app, "row", p->n_row != 0 ? "there" : "none");
	if (p->n_row == 0)
		return PCTL_OK;
	pctl_row_text(&pctl_state_tables(&n)[table], p->row[0].data, p->row[0].n, &text);
	if (text.failed)
		return pctl_no_memory(app->call, "a row");
	if (app->json)
		pctl_json_kv_string(&app->document, "columns", text.data);
	else
		printf("%s", text.data);
	pctl_str_drop(&text);
	return PCTL_OK;
}

static pctl_status check(pctl_app *app, const char *path)
{
	const char *id = pctl_option_value(&app->line, "--trust");
	char *text = NULL;
	uint64_t n;
	pctl_arena *a;
	pctl_row_proof p;
	pctl_trusted trusted;
	pctl_status status;

	if (id == NULL || app->line.n_arguments != 0)
		return pctl_refuse(app->call, PC10_USAGE,
				   "--check FILE wants --trust ID, the block that is trusted, and "
				   "no table");
	status = pctl_trusted_read(id, app->call, &trusted);
	if (status == PCTL_OK)
		status = pctl_file_read(path, PROOF_MAX, app->call, &text, &n);
	if (status != PCTL_OK)
		return status;
	a = pctl_arena_create();
	status = a == NULL ? pctl_no_memory(app->call, "a proof")
			   : pctl_row_proof_read(path, text, n, a, app->call, &p);
	if (status == PCTL_OK)
		status = pctl_row_proof_check(path, &p, &trusted, app->call);
	if (status == PCTL_OK)
		status = print_proof(app, &p);
	pctl_arena_destroy(a);
	free(text);
	return status;
}

pctl_status pctl_verb_ledger_prove(pctl_app *app)
{
	const char *path = pctl_option_value(&app->line, "--check");

	if (path != NULL)
		return check(app, path);
	if (app->line.n_arguments == 0 || pctl_option_has(&app->line, "--trust"))
		return pctl_refuse(
			app->call, PC10_USAGE,
			"`ledger prove` takes a table and a key, or --check FILE --trust ID");
	return make(app);
}

/* ---- ledger verify ------------------------------------------------------------------------- */

pctl_status pctl_verb_ledger_verify(pctl_app *app)
{
	uint64_t rows = 0;
	pctl_block_row last;
	pctl_chain *c = NULL;
	pctl_status status = pctl_app_chain(app, NULL, &c);

	if (status == PCTL_OK)
		status = pctl_blocks_last(pctl_cursor(c), app->call, &last);
	if (status == PCTL_OK)
		status = pctl_blocks_check_tree(c, &last, app->call);
	if (status == PCTL_OK)
		status = pctl_chain_scrub(pctl_cursor(c), app->call, &rows);
	if (status == PCTL_OK)
		pctl_app_print_count(app, "rows", rows);
	pctl_chain_close(c);
	return status;
}
