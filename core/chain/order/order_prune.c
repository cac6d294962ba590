/* The end of the log that is not kept: blocks, their messages and roots are removed by whoever leads, one block a transaction, and etcd is
 * told to forget them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chain/order/order_private.h"
#include "foundation/base/hex.h"
#include "foundation/base/num.h"

#define AT_ONCE 16u /* blocks of one turn, so that a leader goes on leading */

pctl_status pctl_order_first(pctl_order *o, const pctl_call *call, uint64_t *out)
{
	char key[PCTL_ORDER_KEY_SIZE];
	pctl_etcd_rows rows;
	pctl_status status = pctl_etcd_range(o->etcd, pctl_order_key(o, "first", "", key), NULL, 0,
					     0, call, &rows);

	*out = 1;
	if (status == PCTL_OK && rows.n == 1 &&
	    (!pctl_num_parse_u64((const char *)rows.items[0].value, rows.items[0].n_value, out) ||
	     *out == 0))
		status = pctl_refuse(call, PC6182_ORDER_LOG, "%s is no height", key);
	pctl_etcd_rows_clear(&rows);
	return status;
}

/* What the block had goes with it. Its list was followed by everybody, so it is one; a line that is none is left alone. */
static void forget(pctl_order *o, pctl_etcd_txn *t, uint64_t height, const pctl_etcd_row *block)
{
	char key[PCTL_ORDER_KEY_SIZE], digest[PCTL_ORDER_DIGEST_SIZE];

	for (uint64_t at = 0; at + sizeof(digest) <= block->n_value; at += sizeof(digest)) {
		memcpy(digest, block->value + at, sizeof(digest) - 1);
		digest[sizeof(digest) - 1] = '\0';
		if (pctl_hex_is(digest, sizeof(digest) - 1))
			pctl_etcd_delete(t, pctl_order_key(o, "message/", digest, key));
	}
	pctl_etcd_delete(t, pctl_order_height(o, "block/", height, key));
	pctl_etcd_delete(t, pctl_order_height(o, "root/", height, key));
}

/* *held 0: this node leads no more. */
static pctl_status forget_one(pctl_order *o, uint64_t height, const pctl_etcd_row *block,
			      const pctl_call *call, int *held)
{
	char key[PCTL_ORDER_KEY_SIZE], next[24];
	pctl_etcd_txn t;

	snprintf(next, sizeof(next), "%020" PRIu64, height + 1);
	pctl_etcd_txn_begin(&t);
	pctl_etcd_if_value(&t, pctl_order_key(o, "leader", "", key), o->name);
	pctl_etcd_if_there(&t, pctl_order_height(o, "block/", height, key));
	pctl_etcd_put(&t, pctl_order_key(o, "first", "", key), next, strlen(next), 0);
	forget(o, &t, height, block);
	return pctl_etcd_commit(o->etcd, &t, call, held, NULL);
}

pctl_status pctl_order_prune(pctl_order *o, const pctl_call *call)
{
	const uint64_t last = pctl_decider_last_of(o->decider)->height;
	char from[PCTL_ORDER_KEY_SIZE], to[PCTL_ORDER_KEY_SIZE], want[PCTL_ORDER_KEY_SIZE];
	pctl_etcd_rows rows;
	uint64_t keep;
	int held = 1;
	pctl_status status = PCTL_OK;

	if (!o->is_leader || o->o.retain == 0 || last <= o->o.retain)
		return PCTL_OK;
	keep = last - o->o.retain + 1;
	if (o->first == 0)
		status = pctl_order_first(o, call, &o->first);
	/* A few at a time are hardly worth a turn. */
	if (status != PCTL_OK || keep < o->first + AT_ONCE)
		return status;
	pctl_order_height(o, "block/", o->first, from);
	pctl_order_height(o, "block/", keep, to);
	status = pctl_etcd_range(o->etcd, from, to, AT_ONCE, 0, call, &rows);
	for (uint32_t i = 0; status == PCTL_OK && held && i < rows.n; i++) {
		if (strcmp(rows.items[i].key, pctl_order_height(o, "block/", o->first, want)) != 0)
			break;
		status = forget_one(o, o->first, &rows.items[i], call, &held);
		o->first += status == PCTL_OK && held;
	}
	/* Who led meanwhile may have removed more. */
	if (status != PCTL_OK || !held || rows.n == 0)
		o->first = 0;
	pctl_etcd_rows_clear(&rows);
	/* That it failed, the next one makes up for. */
	if (status == PCTL_OK && held)
		(void)pctl_etcd_compact(o->etcd, NULL);
	return status;
}
