/* Verbs of the gas ledger: accounts, transfers, bonds, verdicts and reports. */
#include <inttypes.h>
#include <string.h>

#include "foundation/base/hex.h"
#include "foundation/base/num.h"
#include "chain/accounts/account.h"
#include "chain/blocks/block.h"
#include "chain/state/amount.h"
#include "chain/state/cursor.h"
#include "chain/ledger/stake.h"
#include "chain.h"
#include "ledger.h"

pctl_status pctl_app_height(pctl_app *app, const char *option, uint64_t fallback, uint64_t *out)
{
	const char *text = pctl_option_value(&app->line, option);

	*out = fallback;
	if (text != NULL && !pctl_amount_parse(text, out))
		return pctl_refuse(app->call, PC10_USAGE, "%s wants a block height, not \"%s\"",
				   option, text);
	return PCTL_OK;
}

/* ---- printing ------------------------------------------------------------------------------ */

/* A number as a member of the document, or as a line. */
static void print_number(pctl_app *app, const char *name, uint64_t value)
{
	if (app->json)
		pctl_json_kv_u64(&app->document, name, value);
	else
		printf("%-16s %" PRIu64 "\n", name, value);
}

static const pctl_column account_columns[] = {{"account", "", 0},
					      {"balance", " ", 0},
					      {"reserved", " reserved ", 0},
					      {"bond", " bond ", 0}};

static int print_account(void *ctx, const pctl_ledger_account *a)
{
	pctl_app *app = ctx;
	pctl_json *j = &app->document;

	if (!app->json) {
		pctl_table_cell(app->table, "%s", a->name);
		pctl_table_cell(app->table, "%" PRIu64, a->balance);
		pctl_table_cell(app->table, "%" PRIu64, a->reserved);
		pctl_table_cell(app->table, "%" PRIu64, a->bond);
		return 0;
	}
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "account", a->name);
	pctl_json_kv_u64(j, "balance", a->balance);
	pctl_json_kv_u64(j, "reserved", a->reserved);
	pctl_json_kv_u64(j, "bond", a->bond);
	pctl_json_object_end(j);
	return 0;
}

static void print_report(pctl_app *app, const pctl_ledger_report *r)
{
	print_number(app, "jobs_settled", r->settled);
	print_number(app, "jobs_released", r->released);
	print_number(app, "gas_reserved", r->reserved);
	print_number(app, "gas_charged", r->charged);
	print_number(app, "gas_refunded", r->refunded);
	print_number(app, "to_executors", r->split.executor);
	print_number(app, "to_treasury", r->split.treasury);
	print_number(app, "burned", r->split.burned);
	print_number(app, "verdicts", r->slashes);
	print_number(app, "slashed", r->slashed);
	print_number(app, "slashed_treasury", r->slashed_treasury);
	print_number(app, "slashed_burned", r->slashed_burned);
}

/* The id that signed messages name. */
static pctl_status show_chain(pctl_app *app, pctl_chain_state *s)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	uint8_t id[PCTL_DIGEST_BYTES];
	const pctl_status status = pctl_chain_id(s, app->call, id);

	if (status != PCTL_OK)
		return status;
	pctl_digest_hex(id, hex);
	if (app->json)
		pctl_json_kv_string(&app->document, "chain", hex);
	else
		printf("%-16s %s\n", "chain", hex);
	return PCTL_OK;
}

static pctl_status show_all(pctl_app *app, pctl_chain_state *s)
{
	pctl_ledger_totals t;
	pctl_status status = pctl_ledger_check(s, app->call);

	if (status == PCTL_OK)
		status = pctl_ledger_totals_read(s, app->call, &t);
	if (status != PCTL_OK)
		return status;
	status = show_chain(app, s);
	if (status != PCTL_OK)
		return status;
	print_number(app, "supply", t.supply);
	print_number(app, "treasury", t.treasury);
	print_number(app, "burned", t.burned);
	pctl_app_list_begin(app, "accounts", account_columns, PCTL_COLUMNS(account_columns));
	status = pctl_ledger_accounts(s, print_account, app, app->call);
	return pctl_app_list_end(app, status);
}

static void print_control(pctl_app *app, const pctl_account_control *c, const int *roles)
{
	char hex[2 * PCTL_KEY_BYTES + 1];

	print_number(app, "threshold", c->threshold);
	if (app->json) {
		pctl_json_key(&app->document, "keys");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; i < c->n_keys; i++) {
		pctl_hex_print(c->keys[i], PCTL_KEY_BYTES, hex);
		if (app->json)
			pctl_json_string(&app->document, hex);
		else
			printf("%-16s %s\n", "key", hex);
	}
	if (app->json) {
		pctl_json_array_end(&app->document);
		pctl_json_key(&app->document, "roles");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t role = 1; pctl_account_role_name(role) != NULL; role++)
		if (roles[role] && app->json)
			pctl_json_string(&app->document, pctl_account_role_name(role));
		else if (roles[role])
			printf("%-16s %s\n", "role", pctl_account_role_name(role));
	if (app->json)
		pctl_json_array_end(&app->document);
}

/* Who may send in its name: the next number, keys and roles. */
static pctl_status show_control(pctl_app *app, pctl_chain_state *s, const char *name)
{
	pctl_account_control c;
	uint64_t sequence = 0;
	int roles[8] = {0};
	pctl_status status = pctl_account_sequence(s, name, app->call, &sequence);

	if (status == PCTL_OK)
		status = pctl_account_control_read(s, name, app->call, &c);
	for (uint32_t role = 1; status == PCTL_OK && pctl_account_role_name(role) != NULL; role++)
		status = pctl_account_role_has(s, role, name, app->call, &roles[role]);
	if (status != PCTL_OK)
		return status;
	print_number(app, "sequence", sequence);
	print_control(app, &c, roles);
	return PCTL_OK;
}

static pctl_status show_account(pctl_app *app, pctl_chain_state *s, const char *name)
{
	pctl_ledger_account a;
	pctl_ledger_report r;
	uint64_t earned, leaving = 0;
	pctl_status status = pctl_ledger_account_read(s, name, app->call, &a);

	if (status == PCTL_OK)
		status = pctl_ledger_account_report(s, name, app->call, &r, &earned);
	if (status == PCTL_OK)
		status = pctl_stake_leaving(s, name, app->call, &leaving);
	if (status != PCTL_OK)
		return status;
	if (app->json)
		pctl_json_kv_string(&app->document, "account", a.name);
	else
		printf("%-16s %s\n", "account", a.name);
	print_number(app, "balance", a.balance);
	print_number(app, "reserved", a.reserved);
	print_number(app, "bond", a.bond);
	print_number(app, "unbonding", leaving);
	print_number(app, "earned", earned);
	print_report(app, &r);
	return show_control(app, s, name);
}

static pctl_status show_block(pctl_app *app, pctl_chain_state *s)
{
	pctl_ledger_report r;
	pctl_block_row last;
	uint64_t height;
	pctl_status status = pctl_app_height(app, "--block", 0, &height);

	if (status == PCTL_OK)
		status = pctl_cursor_height(height, app->call);
	if (status == PCTL_OK)
		status = pctl_blocks_last(s, app->call, &last);
	/* The open block has moved something, too. */
	if (status == PCTL_OK && height > last.height + 1)
		status = pctl_refuse(app->call, PC5852_BLOCK_UNKNOWN,
				     "block %" PRIu64 ", and the last finished one is %" PRIu64,
				     height, last.height);
	if (status == PCTL_OK)
		status = pctl_ledger_block_report(s, height, app->call, &r);
	if (status != PCTL_OK)
		return status;
	print_number(app, "height", height);
	print_report(app, &r);
	return PCTL_OK;
}

pctl_status pctl_verb_ledger_show(pctl_app *app)
{
	const int block = pctl_option_has(&app->line, "--block");
	pctl_chain *c = NULL;
	pctl_status status;

	if (block && app->line.n_arguments != 0)
		return pctl_refuse(app->call, PC10_USAGE,
				   "`ledger show` takes an account or --block, not both");
	status = pctl_app_chain(app, NULL, &c);
	if (status == PCTL_OK && block)
		status = show_block(app, pctl_cursor(c));
	else if (status == PCTL_OK && app->line.n_arguments != 0)
		status = show_account(app, pctl_cursor(c), app->line.arguments[0]);
	else if (status == PCTL_OK)
		status = show_all(app, pctl_cursor(c));
	pctl_chain_close(c);
	return status;
}

/* ---- moves --------------------------------------------------------------------------------- */

static pctl_status parse_amount(pctl_app *app, const char *text, uint64_t *out)
{
	if (pctl_amount_parse(text, out) && *out != 0)
		return PCTL_OK;
	return pctl_refuse_at(app->call, PC5711_LEDGER_AMOUNT, NULL,
			      "a whole number from 1 to 18446744073709551615, as 1_000_000",
			      "\"%s\" is no amount of gas", text);
}

/* The accounts that a command names, as they are afterwards. */
static pctl_status print_named(pctl_app *app, pctl_chain_state *s, uint32_t n)
{
	pctl_ledger_account a;
	pctl_status status = PCTL_OK;

	pctl_app_list_begin(app, "accounts", account_columns, PCTL_COLUMNS(account_columns));
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		if (i == 1 && strcmp(app->line.arguments[0], app->line.arguments[1]) == 0)
			break;
		status = pctl_ledger_account_read(s, app->line.arguments[i], app->call, &a);
		if (status == PCTL_OK)
			print_account(app, &a);
	}
	return pctl_app_list_end(app, status);
}

/* n accounts and an amount; the first account is the one that the message is from. */
static pctl_status move(pctl_app *app, uint32_t op, uint32_t n)
{
	const char *const *words = app->line.arguments;
	pctl_request r = {.kind = PCTL_MSG_LEDGER, .as.ledger = {words[0], op, 0, "", 0}};
	pctl_chain *c = NULL;
	pctl_status status = parse_amount(app, words[n], &r.as.ledger.amount);

	if (op == PCTL_LEDGER_CREDIT || op == PCTL_LEDGER_TRANSFER)
		r.as.ledger.to = words[n - 1];
	if (op == PCTL_LEDGER_CREDIT && pctl_option_has(&app->line, "--sender"))
		r.as.ledger.sender = pctl_option_value(&app->line, "--sender");
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		status = pctl_ledger_check_name(words[i], app->call);
	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &c);
	if (status == PCTL_OK)
		status = pctl_chain_apply(c, &r, app->call, NULL);
	if (status == PCTL_OK)
		status = print_named(app, pctl_cursor(c), n);
	pctl_chain_close(c);
	return status;
}

pctl_status pctl_verb_ledger_credit(pctl_app *app)
{
	return move(app, PCTL_LEDGER_CREDIT, 1);
}

pctl_status pctl_verb_ledger_bond(pctl_app *app)
{
	return move(app, PCTL_LEDGER_BOND, 1);
}

pctl_status pctl_verb_ledger_unbond(pctl_app *app)
{
	return move(app, PCTL_LEDGER_UNBOND, 1);
}

pctl_status pctl_verb_ledger_transfer(pctl_app *app)
{
	return move(app, PCTL_LEDGER_TRANSFER, 2);
}

/* ---- verdicts ------------------------------------------------------------------------------ */

pctl_status pctl_verb_ledger_verdict(pctl_app *app)
{
	const char *accused = pctl_option_value(&app->line, "--accused");
	const char *evidence = pctl_option_value(&app->line, "--evidence");
	const char *job = pctl_option_value(&app->line, "--job");
	const char *output = pctl_option_value(&app->line, "--output");
	pctl_request r = {.kind = PCTL_MSG_VERDICT,
			  .as.verdict = {NULL, accused == NULL ? "" : accused,
					 evidence == NULL ? "" : evidence, job == NULL ? "" : job,
					 output == NULL ? "" : output}};
	pctl_ledger_account a;
	pctl_chain *c = NULL;
	pctl_status status = pctl_app_sender(app, &r.as.verdict.sender);

	if ((job == NULL) != (output == NULL) || (accused == NULL) != (evidence == NULL) ||
	    (job == NULL) == (accused == NULL))
		return pctl_refuse(app->call, PC10_USAGE,
				   "--accused ACCOUNT and --evidence CID say who and why, or --job "
				   "JOB and --output CID what");
	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &c);
	if (status == PCTL_OK)
		status = pctl_chain_apply(c, &r, app->call, NULL);
	if (status == PCTL_OK)
		status = pctl_ledger_account_read(pctl_cursor(c),
						  accused != NULL ? accused : r.as.verdict.sender,
						  app->call, &a);
	if (status == PCTL_OK) {
		pctl_app_list_begin(app, "accounts", account_columns,
				    PCTL_COLUMNS(account_columns));
		print_account(app, &a);
		status = pctl_app_list_end(app, PCTL_OK);
	}
	pctl_chain_close(c);
	return status;
}
