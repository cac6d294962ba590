/* `key` and what accounts are controlled by: keys of this home, signing, `ledger keys|role|accuse|apply`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "chain/order/order.h"
#include "chain/accounts/account.h"
#include "chain/home/keys.h"
#include "chain/home/stated.h"
#include "chain/state/amount.h"
#include "foundation/base/file.h"
#include "foundation/base/hex.h"
#include "ledger.h"

/* ---- keys of this home --------------------------------------------------------------------- */

static const pctl_column key_columns[] = {
	{"name", "", 0}, {"account", " ", 0}, {"key", " ", 0}, {"encrypted", " ", 0}};

static void print_key(pctl_app *app, const pctl_key_entry *e)
{
	char hex[2 * PCTL_KEY_BYTES + 1];
	pctl_json *j = &app->document;

	pctl_hex_print(e->key, PCTL_KEY_BYTES, hex);
	if (!app->json) {
		pctl_table_cell(app->table, "%s", e->name);
		pctl_table_cell(app->table, "%s", e->account);
		pctl_table_cell(app->table, "%s", hex);
		pctl_table_cell(app->table, "%s", e->is_encrypted ? "encrypted" : "plain");
		return;
	}
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "name", e->name);
	pctl_json_kv_string(j, "account", e->account);
	pctl_json_kv_string(j, "key", hex);
	pctl_json_kv_bool(j, "encrypted", e->is_encrypted != 0);
	pctl_json_object_end(j);
}

pctl_status pctl_verb_key_new(pctl_app *app)
{
	const char *path = pctl_option_value(&app->line, "--passphrase");
	const int plain = pctl_option_has(&app->line, "--no-passphrase");
	pctl_passphrase passphrase = {{0}};
	pctl_key_entry e;
	pctl_status status = PCTL_OK;

	if (plain && path != NULL)
		return pctl_refuse(app->call, PC10_USAGE,
				   "--passphrase or --no-passphrase, not both");
	if (!plain)
		status = pctl_passphrase_read(path, app->call, &passphrase);
	if (status == PCTL_OK && !plain && passphrase.text[0] == '\0')
		status = pctl_refuse(
			app->call, PC10_USAGE,
			"--passphrase FILE (or PIPECTL_PASSPHRASE) gives the passphrase; "
			"--no-passphrase leaves the key unencrypted");
	if (status == PCTL_OK)
		status = pctl_key_new(&app->host, app->line.arguments[0], &passphrase, app->call,
				      &e);
	pctl_passphrase_clear(&passphrase);
	if (status != PCTL_OK)
		return status;
	pctl_app_list_begin(app, "keys", key_columns, PCTL_COLUMNS(key_columns));
	print_key(app, &e);
	return pctl_app_list_end(app, PCTL_OK);
}

pctl_status pctl_verb_key_list(pctl_app *app)
{
	pctl_key_entry *keys = NULL;
	uint32_t n = 0;
	pctl_status status = pctl_keys_list(&app->host, app->call, &keys, &n);

	if (status != PCTL_OK)
		return status;
	pctl_app_list_begin(app, "keys", key_columns, PCTL_COLUMNS(key_columns));
	for (uint32_t i = 0; i < n; i++)
		print_key(app, &keys[i]);
	free(keys);
	return pctl_app_list_end(app, PCTL_OK);
}

pctl_status pctl_verb_key_sign(pctl_app *app)
{
	const char *name = pctl_option_value(&app->line, "--key");
	const char *to = pctl_option_value(&app->line, "--out");
	pctl_passphrase passphrase = {{0}};
	uint8_t *request = NULL;
	char *text = NULL;
	uint64_t n = 0, n_request = 0;
	pctl_status status;

	if (name == NULL || to == NULL)
		return pctl_refuse(app->call, PC10_USAGE,
				   "--key NAME says which key signs, --out FILE where the signed "
				   "message goes");
	status = pctl_file_read(app->line.arguments[0], PCTL_MESSAGE_MAX, app->call, &text, &n);
	if (status == PCTL_OK)
		status = pctl_passphrase_read(pctl_option_value(&app->line, "--passphrase"),
					      app->call, &passphrase);
	if (status == PCTL_OK)
		status = pctl_key_sign(&app->host, name, &passphrase, text, n, app->call, &request,
				       &n_request);
	if (status == PCTL_OK)
		status = pctl_file_write(to, request, n_request, 1, app->call);
	pctl_passphrase_clear(&passphrase);
	free(request);
	free(text);
	return status;
}

/* ---- what an account is controlled by ------------------------------------------------------ */

static int by_bytes(const void *a, const void *b)
{
	return memcmp(((const pctl_msg_bytes *)a)->data, ((const pctl_msg_bytes *)b)->data,
		      PCTL_KEY_BYTES);
}

static pctl_status apply(pctl_app *app, const pctl_request *r)
{
	pctl_chain *c = NULL;
	pctl_status status = pctl_app_chain(app, NULL, &c);

	if (status == PCTL_OK)
		status = pctl_chain_apply(c, r, app->call, NULL);
	pctl_chain_close(c);
	return status;
}

pctl_status pctl_verb_ledger_keys(pctl_app *app)
{
	uint8_t raw[PCTL_MESSAGE_KEYS_MAX][PCTL_KEY_BYTES];
	pctl_msg_bytes keys[PCTL_MESSAGE_KEYS_MAX];
	const uint32_t n = app->line.n_arguments - 1;
	pctl_request r = {.kind = PCTL_MSG_KEYS};
	uint64_t threshold = 1;
	pctl_status status = pctl_app_number(app, "--threshold", 1, &threshold);

	if (status != PCTL_OK)
		return status;
	if (n > PCTL_MESSAGE_KEYS_MAX)
		return pctl_refuse(app->call, PC10_USAGE, "%u keys, at most %u", n,
				   PCTL_MESSAGE_KEYS_MAX);
	for (uint32_t i = 0; i < n; i++) {
		const char *text = app->line.arguments[1 + i];

		if (!pctl_hex_is(text, 2 * PCTL_KEY_BYTES) ||
		    !pctl_hex_parse(text, PCTL_KEY_BYTES, raw[i]))
			return pctl_refuse(app->call, PC10_USAGE,
					   "\"%s\" is no public key of 64 hex digits", text);
		keys[i] = (pctl_msg_bytes){raw[i], PCTL_KEY_BYTES};
	}
	qsort(keys, n, sizeof(keys[0]), by_bytes);
	r.as.keys = (pctl_msg_keys){app->line.arguments[0], keys, n,
				    threshold > UINT32_MAX ? UINT32_MAX : (uint32_t)threshold};
	return apply(app, &r);
}

pctl_status pctl_verb_ledger_role(pctl_app *app)
{
	pctl_request r = {.kind = PCTL_MSG_ROLE,
			  .as.role = {NULL, app->line.arguments[0], PCTL_ROLE_CREDIT,
				      (uint32_t)pctl_option_has(&app->line, "--take")}};
	pctl_status status = pctl_app_sender(app, &r.as.role.sender);

	while (pctl_account_role_name(r.as.role.role) != NULL &&
	       strcmp(pctl_account_role_name(r.as.role.role), app->line.arguments[1]) != 0)
		r.as.role.role++;
	if (status == PCTL_OK && pctl_account_role_name(r.as.role.role) == NULL)
		status = pctl_refuse(app->call, PC10_USAGE,
				     "\"%s\" is no role; there are credit and block",
				     app->line.arguments[1]);
	return status == PCTL_OK ? apply(app, &r) : status;
}

/* A statement about a block that was not so, brought as evidence. */
pctl_status pctl_verb_ledger_accuse(pctl_app *app)
{
	pctl_request r = {.kind = PCTL_MSG_STATEMENT};
	uint8_t chain[PCTL_DIGEST_BYTES];
	const char *sender;
	pctl_chain *c = NULL;
	pctl_status status = pctl_app_sender(app, &sender);

	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &c);
	if (status == PCTL_OK)
		status = pctl_chain_id(pctl_cursor(c), app->call, chain);
	if (status == PCTL_OK)
		status = pctl_stated_read(app->line.arguments[0], chain, app->arena, app->call,
					  &r.as.statement);
	r.as.statement.sender = sender;
	if (status == PCTL_OK)
		status = pctl_chain_apply(c, &r, app->call, NULL);
	pctl_chain_close(c);
	return status;
}

/* An encoded request that somebody signed. */
pctl_status pctl_verb_ledger_apply(pctl_app *app)
{
	const char *service = pctl_option_value(&app->line, "--order");
	pctl_request r = {.kind = 0};
	char *text = NULL;
	uint64_t n = 0;
	pctl_status status = PCTL_OK;

	if (service == NULL && pctl_option_has(&app->line, "--prefix"))
		return pctl_refuse(app->call, PC10_USAGE, "--prefix is of --order");
	status = pctl_file_read(app->line.arguments[0], PCTL_MESSAGE_MAX, app->call, &text, &n);
	if (status == PCTL_OK)
		status = pctl_request_decode(text, n, app->call, &r);
	if (status == PCTL_OK && pctl_request_sender(&r) == NULL)
		status = pctl_refuse(app->call, PC5826_CHAIN_MESSAGE,
				     "a message of kind %u does not belong to this verb", r.kind);
	if (status == PCTL_OK && service != NULL)
		status = pctl_order_submit(service, pctl_option_value(&app->line, "--prefix"),
					   &(pctl_msg_bytes){(uint8_t *)text, n}, app->call);
	else if (status == PCTL_OK)
		status = apply(app, &r);
	pctl_request_destroy(&r);
	free(text);
	return status;
}
