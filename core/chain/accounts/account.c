/* Keys of accounts and their roles, in the state. */
#include "chain/accounts/account.h"

#include <string.h>

#include "chain/state/cursor.h"
#include "foundation/base/hex.h"

/* ---- keys ---------------------------------------------------------------------------------- */

pctl_status pctl_account_of_key(const uint8_t key[PCTL_KEY_BYTES], const pctl_call *call,
				char out[PCTL_ACCOUNT_SIZE])
{
	static const char prefix[] = "key.";
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	pctl_cid cid;
	const pctl_status status = pctl_cid_of(key, PCTL_KEY_BYTES, call, &cid);

	out[0] = '\0';
	if (status != PCTL_OK)
		return status;
	pctl_digest_hex(cid.digest, hex);
	memcpy(out, prefix, sizeof(prefix) - 1);
	memcpy(out + sizeof(prefix) - 1, hex, PCTL_ACCOUNT_SIZE - sizeof(prefix));
	out[PCTL_ACCOUNT_SIZE - 1] = '\0';
	return PCTL_OK;
}

/* y of the points whose order divides 8, least significant byte first: 1 (order 1), -1 (2), 0 (4), and two of order 8. */
static const uint8_t small_order[5][PCTL_KEY_BYTES] = {
	{1},
	{0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
	{0},
	{0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4,
	 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6,
	 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05},
	{0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b,
	 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39,
	 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a},
};

int pctl_account_key_is_fit(const uint8_t key[PCTL_KEY_BYTES])
{
	uint8_t y[PCTL_KEY_BYTES];
	uint32_t i;

	memcpy(y, key, sizeof(y));
	y[PCTL_KEY_BYTES - 1] &= 0x7f; /* the highest bit is x's sign */
	for (i = PCTL_KEY_BYTES - 1; i > 0; i--)
		if (y[i] != (i == PCTL_KEY_BYTES - 1 ? 0x7f : 0xff))
			break;
	if (i == 0 && y[0] >= 0xed)
		return 0;
	for (i = 0; i < sizeof(small_order) / sizeof(small_order[0]); i++)
		if (memcmp(y, small_order[i], sizeof(y)) == 0)
			return 0;
	return 1;
}

int pctl_account_is_reserved(const char *name)
{
	static const char *const names[] = {"burned",  "chain", "engine", "executor",
					    "genesis", "rank",	"supply", "treasury"};

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return 1;
	return 0;
}

int pctl_account_is_derived(const char *name)
{
	static const char prefix[] = "key.";
	const size_t n = strlen(name);
	pctl_cid cid;

	return pctl_cid_parse(name, &cid) ||
	       (n == PCTL_ACCOUNT_SIZE - 1 && strncmp(name, prefix, sizeof(prefix) - 1) == 0 &&
		pctl_hex_is(name + sizeof(prefix) - 1, n - (sizeof(prefix) - 1)));
}

static pctl_status check_reserved(const char *name, const pctl_call *call)
{
	return !pctl_account_is_reserved(name) ? PCTL_OK
					       : pctl_refuse(call, PC5898_NAME_RESERVED,
							     "\"%s\" is a name of the chain", name);
}

pctl_status pctl_account_control_read(pctl_chain_state *s, const char *account,
				      const pctl_call *call, pctl_account_control *out)
{
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status = pctl_cursor_keep(
		s, call, &stmt, "SELECT threshold, keys FROM controls WHERE account = ?", "t",
		account);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && more) {
		const uint64_t n = (uint64_t)sqlite3_column_bytes(stmt, 1);

		out->threshold = (uint32_t)sqlite3_column_int(stmt, 0);
		out->n_keys = (uint32_t)(n / PCTL_KEY_BYTES);
		if (n % PCTL_KEY_BYTES != 0 || n > sizeof(out->keys) || out->threshold == 0 ||
		    out->threshold > out->n_keys)
			status = pctl_refuse(call, PC5701_CHAIN_STATE,
					     "the keys of account %s are damaged", account);
		else
			memcpy(out->keys, sqlite3_column_blob(stmt, 1), (size_t)n);
	}
	pctl_cursor_done(stmt);
	return status;
}

pctl_status pctl_account_control_set(pctl_chain_state *s, const pctl_msg_keys *m,
				     const pctl_call *call)
{
	uint8_t keys[PCTL_MESSAGE_KEYS_MAX][PCTL_KEY_BYTES];
	const pctl_status status = check_reserved(m->sender, call);
	pctl_cid cid;

	if (status != PCTL_OK)
		return status;
	if (pctl_cid_parse(m->sender, &cid))
		return pctl_refuse(call, PC5898_NAME_RESERVED,
				   "%s is the account of a contract, which no key controls",
				   m->sender);
	for (uint32_t i = 0; i < m->n_keys; i++) {
		memcpy(keys[i], m->keys[i].data, PCTL_KEY_BYTES);
		if (!pctl_account_key_is_fit(keys[i]))
			return pctl_refuse(call, PC5844_AUTH_KEY,
					   "keys[%u] of %s is no key that anybody could have", i,
					   m->sender);
	}
	return pctl_cursor_write(s, call, "INSERT OR REPLACE INTO controls VALUES (?, ?, ?)", "thb",
				 m->sender, (uint64_t)m->threshold, keys,
				 (uint64_t)m->n_keys * PCTL_KEY_BYTES);
}

pctl_status pctl_account_sequence(pctl_chain_state *s, const char *account, const pctl_call *call,
				  uint64_t *out)
{
	sqlite3_stmt *stmt = NULL;
	int found = 0;
	pctl_status status = pctl_cursor_keep(
		s, call, &stmt, "SELECT sequence FROM accounts WHERE name = ?", "t", account);

	*out = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &found);
	if (status == PCTL_OK && found)
		*out = (uint64_t)sqlite3_column_int64(stmt, 0);
	pctl_cursor_done(stmt);
	return status;
}

/* ---- roles --------------------------------------------------------------------------------- */

const char *pctl_account_role_name(uint32_t role)
{
	static const char *const names[] = {
		[PCTL_ROLE_CREDIT] = "credit", [PCTL_ROLE_BLOCK] = "block"};

	return role < sizeof(names) / sizeof(names[0]) ? names[role] : NULL;
}

pctl_status pctl_account_role_has(pctl_chain_state *s, uint32_t role, const char *account,
				  const pctl_call *call, int *out)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status =
		account == NULL
			? pctl_cursor_keep(s, call, &stmt, "SELECT 1 FROM roles WHERE role = ?",
					   "h", (uint64_t)role)
			: pctl_cursor_keep(s, call, &stmt,
					   "SELECT 1 FROM roles WHERE role = ? AND account = ?",
					   "ht", (uint64_t)role, account);

	*out = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, out);
	pctl_cursor_done(stmt);
	return status;
}

pctl_status pctl_account_role_set(pctl_chain_state *s, const pctl_msg_role *m,
				  const pctl_call *call)
{
	const pctl_status status = check_reserved(m->account, call);

	if (status != PCTL_OK)
		return status;
	return pctl_cursor_write(s, call,
				 m->is_taken ? "DELETE FROM roles WHERE role = ? AND account = ?"
					     : "INSERT OR REPLACE INTO roles VALUES (?, ?)",
				 "ht", (uint64_t)m->role, m->account);
}
