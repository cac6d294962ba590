/* Leading: a lease, the leader's key bound to it, and blocks cut by transactions that ask for that key. And putting messages there. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "chain/order/order_private.h"
#include "foundation/base/clock.h"
#include "foundation/base/hex.h"
#include "foundation/base/num.h"
#include "foundation/base/str.h"

pctl_status pctl_order_name(pctl_order *o, const pctl_call *call)
{
	uint8_t bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return pctl_refuse(call, PC3_IO, "no random bytes for a name");
	pctl_hex_print(bytes, sizeof(bytes), o->name);
	return PCTL_OK;
}

/* ---- the leader's key ---------------------------------------------------------------------- */

static pctl_status keep_lease(pctl_order *o, const pctl_call *call)
{
	const uint64_t now = pctl_clock_ms();
	int alive = 0;
	pctl_status status;

	if (o->lease != 0 && now - o->kept_ms < PCTL_ORDER_LEASE_S * 1000u / 4)
		return PCTL_OK;
	if (o->lease != 0) {
		status = pctl_etcd_keep_alive(o->etcd, o->lease, call, &alive);
		if (status != PCTL_OK)
			return status;
	}
	if (!alive) {
		o->is_leader = 0;
		status = pctl_etcd_lease(o->etcd, PCTL_ORDER_LEASE_S, call, &o->lease);
		if (status != PCTL_OK)
			return status;
	}
	o->kept_ms = now;
	return PCTL_OK;
}

void pctl_order_keep(pctl_order *o)
{
	if (o->lease != 0)
		(void)keep_lease(o, NULL);
}

/* The answer to an earlier attempt may have been lost. */
static pctl_status leads_already(pctl_order *o, const char *key, const pctl_call *call, int *out)
{
	pctl_etcd_rows rows;
	const pctl_status status = pctl_etcd_range(o->etcd, key, NULL, 0, 0, call, &rows);

	*out = status == PCTL_OK && rows.n == 1 &&
	       strcmp((const char *)rows.items[0].value, o->name) == 0;
	pctl_etcd_rows_clear(&rows);
	return status;
}

pctl_status pctl_order_campaign(pctl_order *o, const pctl_call *call)
{
	char key[PCTL_ORDER_KEY_SIZE];
	pctl_etcd_txn t;
	int held = 0;
	pctl_status status = keep_lease(o, call);

	if (status != PCTL_OK || o->is_leader)
		return status;
	pctl_order_key(o, "leader", "", key);
	pctl_etcd_txn_begin(&t);
	pctl_etcd_if_absent(&t, key);
	pctl_etcd_put(&t, key, o->name, strlen(o->name), o->lease);
	status = pctl_etcd_commit(o->etcd, &t, call, &held, NULL);
	if (status == PCTL_OK && !held)
		status = leads_already(o, key, call, &held);
	if (status == PCTL_OK && held) {
		o->is_leader = 1;
		o->counts.terms++;
	}
	return status;
}

/* ---- a block ------------------------------------------------------------------------------- */

/* The oldest of those that wait, as many as a block has. */
static pctl_status cut(pctl_order *o, const pctl_etcd_rows *waiting, const pctl_call *call)
{
	const uint64_t height = pctl_decider_last_of(o->decider)->height + 1;
	const size_t n_prefix = strlen(o->prefix) + strlen("waiting/");
	char key[PCTL_ORDER_KEY_SIZE], before[PCTL_ORDER_KEY_SIZE];
	pctl_str_buf list = PCTL_STR_BUF_INIT;
	uint64_t bytes = 0;
	pctl_etcd_txn t;
	int held = 0;
	pctl_status status;

	pctl_etcd_txn_begin(&t);
	pctl_etcd_if_value(&t, pctl_order_key(o, "leader", "", key), o->name);
	pctl_etcd_if_absent(&t, pctl_order_height(o, "block/", height, key));
	if (height > 1)
		pctl_etcd_if_there(&t, pctl_order_height(o, "block/", height - 1, before));
	for (uint32_t i = 0; i < waiting->n; i++) {
		const pctl_etcd_row *row = &waiting->items[i];
		uint64_t n = 0;

		if (!pctl_num_parse_u64((const char *)row->value, row->n_value, &n) ||
		    !pctl_hex_is(row->key + n_prefix, PCTL_ORDER_DIGEST_SIZE - 1)) {
			status = pctl_refuse(call, PC6182_ORDER_LOG, "%s is no message that waits",
					     row->key);
			pctl_etcd_txn_drop(&t);
			pctl_str_drop(&list);
			return status;
		}
		bytes += n;
		if (i > 0 && bytes > PCTL_ORDER_BYTES_MAX)
			break;
		pctl_etcd_if_there(&t, row->key);
		pctl_etcd_delete(&t, row->key);
		pctl_str_addf(&list, "%s\n", row->key + n_prefix);
	}
	if (list.failed)
		t.failed = 1;
	else
		pctl_etcd_put(&t, key, list.data == NULL ? "" : list.data, list.n, 0);
	status = pctl_etcd_commit(o->etcd, &t, call, &held, NULL);
	pctl_str_drop(&list);
	if (status != PCTL_OK)
		return status;
	if (held)
		o->counts.cut++;
	else
		o->is_leader = 0; /* another leads, or cut it: what campaign and follow find out */
	return PCTL_OK;
}

pctl_status pctl_order_lead(pctl_order *o, const pctl_call *call)
{
	char from[PCTL_ORDER_KEY_SIZE], to[PCTL_ORDER_KEY_SIZE];
	const uint64_t now = pctl_clock_ms();
	pctl_etcd_rows rows;
	int has_jobs = 0;
	pctl_status status;

	if (!o->is_leader || now - o->cut_ms < o->o.block_ms)
		return PCTL_OK;
	status = pctl_etcd_range(o->etcd, pctl_order_key(o, "waiting/", "", from),
				 pctl_order_key(o, "waiting0", "", to), PCTL_ORDER_MESSAGES_MAX, 1,
				 call, &rows);
	if (status != PCTL_OK)
		return status;
	if (rows.n == 0)
		status = pctl_decider_has_jobs(o->decider, call, &has_jobs);
	if (status == PCTL_OK && (rows.n != 0 || has_jobs)) {
		status = cut(o, &rows, call);
		o->cut_ms = now;
	}
	pctl_etcd_rows_clear(&rows);
	return status;
}

/* ---- a message ----------------------------------------------------------------------------- */

static pctl_status prefix_of(const char *given, const pctl_msg_bytes *message,
			     const pctl_call *call, char *out)
{
	pctl_request r;
	pctl_status status = pctl_request_decode(message->data, message->n, call, &r);

	if (status != PCTL_OK)
		return status;
	if (pctl_request_sender(&r) == NULL || !r.auth.is_given)
		status = pctl_refuse(call,
				     pctl_request_sender(&r) == NULL ? PC5826_CHAIN_MESSAGE
								     : PC5840_AUTH_MISSING,
				     "only signed messages of a chain are put in order");
	else if (!pctl_order_prefix(given, r.auth.chain.data, out))
		status = pctl_refuse(call, PC10_USAGE, "\"%s\" is no prefix", given);
	pctl_request_destroy(&r);
	return status;
}

static pctl_status put(pctl_order *o, const pctl_msg_bytes *message, const pctl_call *call)
{
	char key[PCTL_ORDER_KEY_SIZE], waiting[PCTL_ORDER_KEY_SIZE], digest[PCTL_ORDER_DIGEST_SIZE];
	char size[24];
	pctl_etcd_txn t;
	pctl_cid cid;
	int held;
	pctl_status status = pctl_cid_of(message->data, message->n, call, &cid);

	if (status != PCTL_OK)
		return status;
	pctl_digest_hex(cid.digest, digest);
	snprintf(size, sizeof(size), "%" PRIu64, message->n);
	pctl_order_key(o, "message/", digest, key);
	pctl_etcd_txn_begin(&t);
	pctl_etcd_if_absent(&t, key);
	pctl_etcd_put(&t, key, message->data, message->n, 0);
	pctl_etcd_put(&t, pctl_order_key(o, "waiting/", digest, waiting), size, strlen(size), 0);
	return pctl_etcd_commit(o->etcd, &t, call, &held, NULL);
}

pctl_status pctl_order_submit(const char *service, const char *prefix,
			      const pctl_msg_bytes *message, const pctl_call *call)
{
	pctl_order o = {.decider = NULL};
	pctl_status status = message->n > PCTL_ORDER_MESSAGE_MAX
				     ? pctl_refuse(call, PC6171_PROPOSAL_BOUNDS,
						   "a message of %" PRIu64
						   " bytes; an ordering service takes %u",
						   message->n, PCTL_ORDER_MESSAGE_MAX)
				     : prefix_of(prefix, message, call, o.prefix);

	if (status == PCTL_OK)
		status = pctl_etcd_open(service, call, &o.etcd);
	if (status == PCTL_OK)
		status = put(&o, message, call);
	pctl_etcd_close(o.etcd);
	return status;
}
