/* The accounts that a chain begins with: HOME/chain/genesis.cfg, as messages of genesis. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chain/accounts/account.h"
#include "chain/home/home.h"
#include "chain/state/amount.h"
#include "foundation/base/hex.h"
#include "foundation/conf/schema.h"

#define FILE_VERSION 1u
#define ACCOUNTS_MAX 4096u

static const pctl_conf_field key_field = {.kind = PCTL_FIELD_STRING};
static const char *const role_words[] = {"credit", "block", NULL};
static const pctl_conf_field role_field = {.kind = PCTL_FIELD_CHOICE, .words = role_words};
static const pctl_conf_field account_fields[] = {
	{.key = "name",
	 .kind = PCTL_FIELD_STRING,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "of the account, 1 to 64 of [a-z0-9._-]"},
	{.key = "balance", .kind = PCTL_FIELD_STRING, .doc = "gas that it begins with"},
	{.key = "keys",
	 .kind = PCTL_FIELD_LIST,
	 .max = PCTL_MESSAGE_KEYS_MAX,
	 .element = &key_field,
	 .doc = "public keys as 64 hex digits; none where its name is made of its key"},
	{.key = "threshold",
	 .kind = PCTL_FIELD_U64,
	 .min = 1,
	 .max = PCTL_MESSAGE_KEYS_MAX,
	 .default_text = "1",
	 .doc = "how many of the keys sign together"},
	{.key = "roles",
	 .kind = PCTL_FIELD_LIST,
	 .max = 2,
	 .element = &role_field,
	 .doc = "credit: may make gas; block: may end blocks over a node's socket"},
};
static const pctl_conf_schema account_schema = PCTL_CONF_SCHEMA("an account", account_fields);
static const pctl_conf_field account_field = {.kind = PCTL_FIELD_GROUP, .group = &account_schema};
static const pctl_conf_field genesis_fields[] = {
	{.key = "version",
	 .kind = PCTL_FIELD_U64,
	 .flags = PCTL_FIELD_REQUIRED,
	 .min = FILE_VERSION,
	 .max = FILE_VERSION,
	 .doc = "version of this file"},
	{.key = "accounts",
	 .kind = PCTL_FIELD_LIST,
	 .flags = PCTL_FIELD_REQUIRED,
	 .min = 1,
	 .max = ACCOUNTS_MAX,
	 .element = &account_field,
	 .doc = "accounts that the chain begins with"},
};
static const pctl_conf_schema genesis_schema = PCTL_CONF_SCHEMA("genesis", genesis_fields);
static const pctl_conf_field root_fields[] = {
	{.key = "genesis",
	 .kind = PCTL_FIELD_GROUP,
	 .flags = PCTL_FIELD_REQUIRED,
	 .group = &genesis_schema,
	 .doc = "what the chain begins with"},
};
static const pctl_conf_schema root_schema = PCTL_CONF_SCHEMA("a file of genesis", root_fields);

/* ---- an account ---------------------------------------------------------------------------- */

static pctl_status at(const pctl_conf_value *v, const pctl_call *call, const char *why)
{
	return pctl_refuse_at(call, PC5848_GENESIS, &v->pos, NULL, "%s", why);
}

static int by_bytes(const void *a, const void *b)
{
	return memcmp(((const pctl_msg_bytes *)a)->data, ((const pctl_msg_bytes *)b)->data,
		      PCTL_KEY_BYTES);
}

static pctl_status take_keys(pctl_chain *c, const pctl_conf_value *account, const char *name,
			     const pctl_call *call)
{
	const pctl_conf_value *list = pctl_conf_find(account, "keys"),
			      *threshold = pctl_conf_find(account, "threshold");
	uint8_t raw[PCTL_MESSAGE_KEYS_MAX][PCTL_KEY_BYTES];
	pctl_msg_bytes keys[PCTL_MESSAGE_KEYS_MAX];
	pctl_request r = {.kind = PCTL_MSG_KEYS};
	uint64_t n = 1;

	if (threshold != NULL && (list == NULL || list->n_items == 0))
		return at(threshold, call, "a threshold, but no keys");
	if (list == NULL || list->n_items == 0)
		return PCTL_OK;
	for (uint32_t i = 0; i < list->n_items; i++) {
		const char *text = list->items[i]->text;

		if (!pctl_hex_is(text, 2 * PCTL_KEY_BYTES) ||
		    !pctl_hex_parse(text, PCTL_KEY_BYTES, raw[i]))
			return at(list->items[i], call,
				  "no public key of 64 lower-case hex digits");
		keys[i] = (pctl_msg_bytes){raw[i], PCTL_KEY_BYTES};
	}
	qsort(keys, list->n_items, sizeof(keys[0]), by_bytes);
	n = pctl_conf_u64_or(account, "threshold", 1);
	r.as.keys = (pctl_msg_keys){name, keys, list->n_items, (uint32_t)n};
	return pctl_chain_apply_genesis(c, &r, call);
}

static pctl_status take_roles(pctl_chain *c, const pctl_conf_value *account, const char *name,
			      const pctl_call *call)
{
	const pctl_conf_value *list = pctl_conf_find(account, "roles");
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && list != NULL && i < list->n_items; i++) {
		const uint32_t role = strcmp(list->items[i]->text, "credit") == 0 ? PCTL_ROLE_CREDIT
										  : PCTL_ROLE_BLOCK;
		const pctl_request r = {.kind = PCTL_MSG_ROLE, .as.role = {name, name, role, 0}};

		status = pctl_chain_apply_genesis(c, &r, call);
	}
	return status;
}

static pctl_status take_account(pctl_chain *c, const pctl_conf_value *account,
				const pctl_call *call)
{
	const char *name = pctl_conf_string_or(account, "name", "");
	const pctl_conf_value *balance = pctl_conf_find(account, "balance");
	pctl_request r = {.kind = PCTL_MSG_LEDGER,
			  .as.ledger = {name, PCTL_LEDGER_CREDIT, 0, name, 0}};
	pctl_status status = pctl_ledger_check_name(name, call);

	if (status == PCTL_OK && balance != NULL &&
	    !pctl_amount_parse(balance->text, &r.as.ledger.amount))
		status = at(balance, call, "no whole number of 64 bits in decimal digits");
	if (status == PCTL_OK && r.as.ledger.amount != 0)
		status = pctl_chain_apply_genesis(c, &r, call);
	if (status == PCTL_OK)
		status = take_keys(c, account, name, call);
	return status == PCTL_OK ? take_roles(c, account, name, call) : status;
}

/* ---- the file ------------------------------------------------------------------------------ */

static pctl_status check_once(const pctl_conf_value *list, const pctl_call *call)
{
	for (uint32_t i = 0; i < list->n_items; i++)
		for (uint32_t k = 0; k < i; k++)
			if (strcmp(pctl_conf_string_or(list->items[i], "name", ""),
				   pctl_conf_string_or(list->items[k], "name", "")) == 0)
				return at(list->items[i], call, "an account stands twice");
	return PCTL_OK;
}

/* Somebody must be able to end blocks, or the chain never has one. */
static pctl_status check_block_role(const pctl_conf_value *list, const pctl_call *call)
{
	for (uint32_t i = 0; i < list->n_items; i++) {
		const pctl_conf_value *roles = pctl_conf_find(list->items[i], "roles");

		for (uint32_t k = 0; roles != NULL && k < roles->n_items; k++)
			if (strcmp(roles->items[k]->text, "block") == 0)
				return PCTL_OK;
	}
	return pctl_refuse_at(call, PC6106_BLOCK_ROLE, &list->pos, NULL,
			      "no account has the role `block`");
}

static pctl_status take_file(pctl_chain *c, const char *path, const pctl_call *call)
{
	const pctl_conf_value *list;
	pctl_conf *conf = NULL;
	pctl_status ended, status = pctl_conf_read_file(path, call, &conf);

	if (status != PCTL_OK)
		return status;
	status = pctl_conf_check(pctl_conf_root(conf), &root_schema, call);
	list = status == PCTL_OK ? pctl_conf_find(pctl_conf_root(conf), "genesis.accounts") : NULL;
	if (status == PCTL_OK)
		status = check_once(list, call);
	if (status == PCTL_OK)
		status = pctl_chain_batch_begin(c, call);
	if (status == PCTL_OK) {
		for (uint32_t i = 0; status == PCTL_OK && i < list->n_items; i++)
			status = take_account(c, list->items[i], call);
		if (status == PCTL_OK)
			status = check_block_role(list, call);
		ended = PCTL_OK;
		if (status == PCTL_OK)
			ended = pctl_chain_batch_commit(c, call);
		else
			pctl_chain_batch_abort(c);
		status = status == PCTL_OK ? ended : status;
	}
	pctl_conf_destroy(conf);
	return status;
}

pctl_status pctl_home_genesis(pctl_chain *c, const char *path, const pctl_call *call)
{
	pctl_chain_info info;
	pctl_status status;

	if (access(path, F_OK) != 0)
		return PCTL_OK;
	status = pctl_chain_info_read(c, call, &info);
	return status == PCTL_OK && info.last == 0 && info.n_inbox == 0 ? take_file(c, path, call)
									: status;
}
