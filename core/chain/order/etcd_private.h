/* Shared by the files of etcd.h: one request, one answer. */
#ifndef PIPECTL_CHAIN_ORDER_ETCD_PRIVATE_H
#define PIPECTL_CHAIN_ORDER_ETCD_PRIVATE_H

#include "chain/order/etcd.h"

/* POST the document (taken over, NULL: no memory for it) to the path. *out is released with cJSON_Delete. PC6181. */
pctl_status pctl_etcd_ask(pctl_etcd *e, const char *path, cJSON *question, const pctl_call *call,
			  cJSON **out);
/* An answer that is not as etcd's are. */
pctl_status pctl_etcd_strange(const pctl_call *call);

/* Bytes as base64, into the object under this name; 0: no memory. */
int pctl_etcd_add_bytes(cJSON *to, const char *name, const void *bytes, uint64_t n);
/* A number, which the gateway writes as a text; `fallback` where it is left out, which is how it writes 0. 0: it is none. */
int pctl_etcd_number(const cJSON *of, const char *name, uint64_t *out);
/* The rows of the member `kvs`. */
pctl_status pctl_etcd_read_rows(const cJSON *range, const pctl_call *call, pctl_etcd_rows *out,
				uint32_t room);

#endif
