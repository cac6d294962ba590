/* An etcd cluster through its JSON gateway (etcd 3.4 and later): keys and values, transactions, leases. Knows nothing of chains. Each
 * request is one member's answer after the cluster agreed to it; a member that does not answer is followed by the next. A cluster whose quota
 * is used up says so (PC6188), and then takes nothing but reads. */
#ifndef PIPECTL_CHAIN_ORDER_ETCD_H
#define PIPECTL_CHAIN_ORDER_ETCD_H

#include <cjson/cJSON.h>

#include "pipectl/host.h"

#define PCTL_ETCD_MEMBERS_MAX 16u
#define PCTL_ETCD_ANSWER_MAX (8u << 20) /* bytes of an answer */
#define PCTL_ETCD_TIMEOUT_MS 4000u

typedef struct pctl_etcd pctl_etcd;

/* etcd://HOST:PORT,HOST:PORT..: nothing is asked yet. PC6180. */
pctl_status pctl_etcd_open(const char *url, const pctl_call *call, pctl_etcd **out);
void pctl_etcd_close(pctl_etcd *e);

/* A key with its value; key has a NUL behind it. value lives as long as the answer it is of. */
typedef struct pctl_etcd_row {
	const char *key;
	const uint8_t *value;
	uint64_t n_value, create_revision;
} pctl_etcd_row;

/* Rows of an answer, released with pctl_etcd_rows_clear. */
typedef struct pctl_etcd_rows {
	pctl_etcd_row *items;
	uint32_t n, reserved;
	struct pctl_arena *arena;
} pctl_etcd_rows;
void pctl_etcd_rows_clear(pctl_etcd_rows *r);

/* Keys from `from` up to but not including `to` (NULL: that key alone), at most `limit` (0: all), by key or, by_age, by the revision
 * that made them. Linearizable: no earlier state than when it was asked. PC6181. */
pctl_status pctl_etcd_range(pctl_etcd *e, const char *from, const char *to, uint32_t limit,
			    int by_age, const pctl_call *call, pctl_etcd_rows *out);

/* ---- transactions --------------------------------------------------------------------------- */

/* Made by begin, filled in, and gone after commit or drop. What lacks memory is found out at the commit. */
typedef struct pctl_etcd_txn {
	cJSON *compare, *success;
	uint32_t failed, reserved;
} pctl_etcd_txn;
void pctl_etcd_txn_begin(pctl_etcd_txn *t);
void pctl_etcd_txn_drop(pctl_etcd_txn *t);
/* Conditions: the key is absent, is there, has this value. */
void pctl_etcd_if_absent(pctl_etcd_txn *t, const char *key);
void pctl_etcd_if_there(pctl_etcd_txn *t, const char *key);
void pctl_etcd_if_value(pctl_etcd_txn *t, const char *key, const char *value);
/* What is done where all of them hold. lease: 0 for none. */
void pctl_etcd_put(pctl_etcd_txn *t, const char *key, const void *value, uint64_t n, int64_t lease);
void pctl_etcd_delete(pctl_etcd_txn *t, const char *key);
void pctl_etcd_get(pctl_etcd_txn *t, const char *key);
/*
 * *held: all conditions held. rows (may be NULL): those of the gets, in their order. After PC6181 it is not known whether it was done:
 * whoever needs to know reads.
 */
pctl_status pctl_etcd_commit(pctl_etcd *e, pctl_etcd_txn *t, const pctl_call *call, int *held,
			     pctl_etcd_rows *rows);

/* Forget what was overwritten and deleted up to now, so that its room is used again. Nobody here reads of before. */
pctl_status pctl_etcd_compact(pctl_etcd *e, const pctl_call *call);

/* ---- leases --------------------------------------------------------------------------------- */

pctl_status pctl_etcd_lease(pctl_etcd *e, uint32_t seconds, const pctl_call *call, int64_t *out);
/* *alive 0: it has run out. */
pctl_status pctl_etcd_keep_alive(pctl_etcd *e, int64_t lease, const pctl_call *call, int *alive);
pctl_status pctl_etcd_revoke(pctl_etcd *e, int64_t lease, const pctl_call *call);

#endif
