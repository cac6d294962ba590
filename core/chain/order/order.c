/* Following the log of blocks; see order.h. */
#include "chain/order/order.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/order/order_private.h"
#include "foundation/base/clock.h"
#include "foundation/base/hex.h"

#define POLL_MS 50
#define TROUBLE_MS 250 /* between two attempts while something is wrong */
#define KEEP_MS 250    /* between two looks at the lease while a block is made */
#define AT_ONCE 16u    /* blocks of one reading */

/* ---- keys ---------------------------------------------------------------------------------- */

char *pctl_order_key(const pctl_order *o, const char *folder, const char *name,
		     char out[PCTL_ORDER_KEY_SIZE])
{
	snprintf(out, PCTL_ORDER_KEY_SIZE, "%s%s%s", o->prefix, folder, name);
	return out;
}

char *pctl_order_height(const pctl_order *o, const char *folder, uint64_t height,
			char out[PCTL_ORDER_KEY_SIZE])
{
	snprintf(out, PCTL_ORDER_KEY_SIZE, "%s%s%020" PRIu64, o->prefix, folder, height);
	return out;
}

int pctl_order_prefix(const char *given, const uint8_t chain[PCTL_DIGEST_BYTES], char *out)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	const size_t n = given == NULL ? 0 : strlen(given);

	if (given == NULL) {
		pctl_hex_print(chain, PCTL_DIGEST_BYTES, hex);
		snprintf(out, PCTL_ORDER_PREFIX_MAX + 1u, "pipectl-%.40s/", hex);
		return 1;
	}
	if (n < 2 || n > PCTL_ORDER_PREFIX_MAX || given[n - 1] != '/')
		return 0;
	for (size_t i = 0; i < n; i++)
		if (given[i] <= ' ' || given[i] > '~')
			return 0;
	memcpy(out, given, n + 1);
	return 1;
}

/* ---- what a block says --------------------------------------------------------------------- */

static pctl_status damaged(uint64_t height, const char *what, const pctl_call *call)
{
	return pctl_refuse(call, PC6182_ORDER_LOG, "block %" PRIu64 " of the log: %s", height,
			   what);
}

/* The messages of a block, in its order, by one transaction of gets. */
static pctl_status fetch(pctl_order *o, uint64_t height, const pctl_etcd_row *block,
			 const pctl_call *call, pctl_etcd_rows *rows)
{
	char key[PCTL_ORDER_KEY_SIZE], digest[PCTL_ORDER_DIGEST_SIZE];
	const uint64_t n = block->n_value / PCTL_ORDER_DIGEST_SIZE;
	pctl_etcd_txn t;
	int held;
	pctl_status status;

	if (block->n_value % PCTL_ORDER_DIGEST_SIZE != 0 || n > PCTL_ORDER_MESSAGES_MAX)
		return damaged(height, "it is no list of messages", call);
	pctl_etcd_txn_begin(&t);
	for (uint64_t i = 0; i < n; i++) {
		const char *line = (const char *)block->value + i * PCTL_ORDER_DIGEST_SIZE;

		memcpy(digest, line, sizeof(digest) - 1);
		digest[sizeof(digest) - 1] = '\0';
		if (line[sizeof(digest) - 1] != '\n' || !pctl_hex_is(digest, sizeof(digest) - 1)) {
			pctl_etcd_txn_drop(&t);
			return damaged(height, "it is no list of messages", call);
		}
		pctl_etcd_get(&t, pctl_order_key(o, "message/", digest, key));
	}
	status = pctl_etcd_commit(o->etcd, &t, call, &held, rows);
	if (status == PCTL_OK && rows->n != n) {
		pctl_etcd_rows_clear(rows);
		status = damaged(height, "a message of it is not there", call);
	}
	return status;
}

/* A message is the bytes that its key says. */
static pctl_status check_digest(uint64_t height, const pctl_etcd_row *row, const pctl_call *call)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	pctl_cid cid;
	const pctl_status status = pctl_cid_of(row->value, row->n_value, call, &cid);

	if (status != PCTL_OK)
		return status;
	pctl_digest_hex(cid.digest, hex);
	return strcmp(row->key + strlen(row->key) - strlen(hex), hex) == 0
		       ? PCTL_OK
		       : damaged(height, "a message of it has other bytes", call);
}

#define HEX_SIZE (2 * PCTL_DIGEST_BYTES + 1)

/* The first node writes down under a key what it has; the others compare. there: what one of them finds. */
static pctl_status write_or_compare(pctl_order *o, const char *key, const char *hex,
				    const pctl_call *call, int *differs, char there[HEX_SIZE])
{
	pctl_etcd_rows rows;
	pctl_etcd_txn t;
	int held;
	pctl_status status;

	*differs = 0;
	pctl_etcd_txn_begin(&t);
	pctl_etcd_if_absent(&t, key);
	pctl_etcd_put(&t, key, hex, strlen(hex), 0);
	status = pctl_etcd_commit(o->etcd, &t, call, &held, NULL);
	if (status != PCTL_OK || held)
		return status;
	status = pctl_etcd_range(o->etcd, key, NULL, 0, 0, call, &rows);
	if (status == PCTL_OK) {
		*differs = rows.n != 1 || rows.items[0].n_value != strlen(hex) ||
			   memcmp(rows.items[0].value, hex, strlen(hex)) != 0;
		snprintf(there, HEX_SIZE, "%.64s",
			 rows.n == 1 ? (const char *)rows.items[0].value : "none");
	}
	pctl_etcd_rows_clear(&rows);
	return status;
}

/* The root of a block that this node finished. */
static pctl_status compare_root(pctl_order *o, const pctl_decided *b, const pctl_call *call)
{
	char key[PCTL_ORDER_KEY_SIZE], hex[HEX_SIZE], there[HEX_SIZE];
	int differs;
	pctl_status status;

	pctl_order_height(o, "root/", b->height, key);
	pctl_hex_print(b->root, PCTL_DIGEST_BYTES, hex);
	status = write_or_compare(o, key, hex, call, &differs, there);
	if (status == PCTL_OK && differs)
		status = pctl_refuse(call, PC6182_ORDER_LOG,
				     "block %" PRIu64 " has the root %s here and %s elsewhere",
				     b->height, hex, there);
	return status;
}

/* A block that is made in the other thread. */
typedef struct making {
	pctl_decider *decider;
	uint64_t height;
	const pctl_msg_bytes *messages;
	uint32_t n, reserved;
	pctl_decided made;
} making;

static pctl_status make(void *ctx, const pctl_call *call)
{
	making *m = ctx;

	return pctl_decide(m->decider, m->height, m->messages, m->n, call, &m->made);
}

static pctl_status commit(void *ctx, const pctl_call *call)
{
	return pctl_decide_commit(((making *)ctx)->decider, call);
}

/* A leader whose blocks take longer than its lease goes on leading. */
static pctl_status beside(pctl_order *o, node_block_fn what, making *m, const pctl_call *call)
{
	node_first_error e;
	pctl_status status;

	node_block_begin(o->block, what, m);
	while (!node_block_ended(o->block, 0, &status, &e)) {
		struct pollfd wait = {.fd = node_block_fd(o->block), .events = POLLIN};

		if (poll(&wait, 1, KEEP_MS) == 0)
			pctl_order_keep(o);
	}
	return status == PCTL_OK || e.code == 0 ? status : pctl_refuse(call, e.code, "%s", e.text);
}

/* One block of the log. It is compared before it is final: a node that came to another root keeps the block before. */
static pctl_status follow_one(pctl_order *o, uint64_t height, const pctl_etcd_row *block,
			      const pctl_call *call)
{
	pctl_msg_bytes messages[PCTL_ORDER_MESSAGES_MAX];
	making m = {.decider = o->decider, .height = height, .messages = messages};
	pctl_etcd_rows rows;
	pctl_status status = fetch(o, height, block, call, &rows);

	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; status == PCTL_OK && i < rows.n; i++) {
		status = check_digest(height, &rows.items[i], call);
		messages[i] = (pctl_msg_bytes){rows.items[i].value, rows.items[i].n_value};
	}
	m.n = rows.n;
	if (status == PCTL_OK)
		status = beside(o, make, &m, call);
	if (status == PCTL_OK)
		status = compare_root(o, &m.made, call);
	if (status == PCTL_OK)
		status = beside(o, commit, &m, call);
	pctl_etcd_rows_clear(&rows);
	if (status == PCTL_OK)
		o->counts.blocks++;
	return status;
}

/* The log does not go on where this home ends: it begins later, or contradicts itself. */
static pctl_status gap(pctl_order *o, uint64_t height, const pctl_call *call)
{
	uint64_t first;
	const pctl_status status = pctl_order_first(o, call, &first);

	if (status != PCTL_OK)
		return status;
	return first > height
		       ? pctl_refuse(call, PC6187_ORDER_PRUNED,
				     "block %" PRIu64 " comes next here, and the log begins with "
				     "%" PRIu64,
				     height, first)
		       : damaged(height, "it is missing", call);
}

/* All blocks that are there and not here, some at a time. *behind: there may be more. */
static pctl_status follow(pctl_order *o, const pctl_call *call, int *behind)
{
	char from[PCTL_ORDER_KEY_SIZE], to[PCTL_ORDER_KEY_SIZE], want[PCTL_ORDER_KEY_SIZE];
	uint64_t height = pctl_decider_last_of(o->decider)->height + 1;
	pctl_etcd_rows rows;
	pctl_status status;

	pctl_order_height(o, "block/", height, from);
	pctl_order_key(o, "block0", "", to); /* '0' comes after '/' */
	status = pctl_etcd_range(o->etcd, from, to, AT_ONCE, 0, call, &rows);
	if (status != PCTL_OK)
		return status;
	*behind = rows.n == AT_ONCE;
	for (uint32_t i = 0; status == PCTL_OK && i < rows.n; i++, height++) {
		if (strcmp(rows.items[i].key, pctl_order_height(o, "block/", height, want)) != 0)
			status = gap(o, height, call);
		else
			status = follow_one(o, height, &rows.items[i], call);
	}
	pctl_etcd_rows_clear(&rows);
	return status;
}

/* ---- the loop ------------------------------------------------------------------------------ */

/* The log is of this chain, or is begun for it. */
static pctl_status check_chain(pctl_order *o, const pctl_call *call)
{
	char key[PCTL_ORDER_KEY_SIZE], hex[HEX_SIZE], there[HEX_SIZE];
	int differs;
	pctl_status status;

	pctl_hex_print(pctl_decider_chain(o->decider), PCTL_DIGEST_BYTES, hex);
	pctl_order_key(o, "chain", "", key);
	status = write_or_compare(o, key, hex, call, &differs, there);
	if (status == PCTL_OK && differs)
		status = pctl_refuse(call, PC6183_ORDER_CHAIN,
				     "%s holds the log of the chain %s, this is %s", o->prefix,
				     there, hex);
	return status;
}

static pctl_status turn(pctl_order *o, const pctl_call *call, int *behind)
{
	pctl_status status = PCTL_OK;

	if (!o->is_checked)
		status = check_chain(o, call);
	o->is_checked = o->is_checked || status == PCTL_OK;
	/* The lease first: a leader that lost it does not cut before it noticed. */
	if (status == PCTL_OK)
		status = pctl_order_campaign(o, call);
	if (status == PCTL_OK)
		status = follow(o, call, behind);
	if (status == PCTL_OK && !*behind)
		status = pctl_order_lead(o, call);
	return status == PCTL_OK && !*behind ? pctl_order_prune(o, call) : status;
}

/* Trouble that passes: with the service, or with this node's disk, of which nothing half written stays. */
static int may_pass(uint32_t code)
{
	return code == PC6181_ORDER_SERVICE || code == PC6188_ORDER_SPACE || code == PC3_IO ||
	       code == PC23_OUTPUT_LOST || code == PC5701_CHAIN_STATE || code == PC5751_GITLOG_IO;
}

/* Told when it begins and when it is over, not at every attempt. */
static void tell(pctl_order *o, uint32_t code, const char *text)
{
	if (o->o.report != NULL && (code != 0) != o->is_troubled)
		o->o.report(o->o.report_ctx, code, text);
	o->is_troubled = code != 0;
}

static pctl_status loop(void *ctx, const pctl_call *outer)
{
	pctl_order *o = ctx;

	while (!pctl_is_cancelled(outer)) {
		node_first_error e;
		const pctl_call call = node_keep_first(&e, outer);
		int behind = 0;
		const pctl_status status = turn(o, &call, &behind);

		if (status != PCTL_OK && pctl_is_cancelled(outer))
			break;
		if (status != PCTL_OK && !may_pass(e.code))
			return e.code == 0 ? status : pctl_refuse(outer, e.code, "%s", e.text);
		tell(o, status == PCTL_OK ? 0 : e.code,
		     status == PCTL_OK ? "it goes on again" : e.text);
		if (!behind || status != PCTL_OK)
			poll(NULL, 0, status == PCTL_OK ? POLL_MS : TROUBLE_MS);
	}
	return PCTL_E_CANCELLED;
}

pctl_status pctl_order_run(pctl_order *o, const pctl_call *call)
{
	return node_block_beside(o->block, loop, o, call);
}

const pctl_order_counts *pctl_order_counts_of(const pctl_order *o)
{
	return &o->counts;
}

/* ---- open and close ------------------------------------------------------------------------ */

pctl_status pctl_order_open(const pctl_order_options *options, pctl_decider *d,
			    const pctl_call *call, pctl_order **out)
{
	pctl_order *o = calloc(1, sizeof(*o));
	pctl_status status;

	*out = NULL;
	if (o == NULL)
		return pctl_no_memory(call, "an order");
	o->o = *options;
	o->o.block_ms = options->block_ms == 0 ? PCTL_ORDER_BLOCK_MS : options->block_ms;
	o->decider = d;
	status = pctl_order_name(o, call);
	if (status == PCTL_OK &&
	    !pctl_order_prefix(options->prefix, pctl_decider_chain(d), o->prefix))
		status = pctl_refuse(call, PC10_USAGE,
				     "a prefix has 2 to %u printable characters without spaces, "
				     "the last a /, not \"%s\"",
				     PCTL_ORDER_PREFIX_MAX, options->prefix);
	if (status == PCTL_OK)
		status = pctl_etcd_open(options->service, call, &o->etcd);
	if (status == PCTL_OK)
		status = node_block_open(call, &o->block);
	if (status == PCTL_OK)
		*out = o;
	else
		pctl_order_close(o, NULL);
	return status;
}

void pctl_order_close(pctl_order *o, const pctl_call *call)
{
	if (o == NULL)
		return;
	/* The next leader need not wait for the lease to run out. */
	if (o->lease != 0 && o->etcd != NULL)
		(void)pctl_etcd_revoke(o->etcd, o->lease, call);
	pctl_etcd_close(o->etcd);
	node_block_close(o->block);
	free(o);
}
