/* Keys, values and transactions as the gateway's JSON has them; see etcd.h. */
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/order/etcd_private.h"
#include "foundation/base/arena.h"
#include "foundation/base/num.h"

/* ---- bytes and numbers --------------------------------------------------------------------- */

int pctl_etcd_add_bytes(cJSON *to, const char *name, const void *bytes, uint64_t n)
{
	unsigned char *text = n < (1u << 30) ? malloc((size_t)(n + 2) / 3 * 4 + 1) : NULL;
	int added = 0;

	if (text != NULL) {
		EVP_EncodeBlock(text, bytes, (int)n);
		added = cJSON_AddStringToObject(to, name, (char *)text) != NULL;
	}
	free(text);
	return added;
}

/* Into the arena, a NUL behind it; NULL: no memory, or no base64. */
static uint8_t *bytes_of(const cJSON *of, const char *name, struct pctl_arena *a, uint64_t *n)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(of, name);
	const char *text = cJSON_IsString(item) ? item->valuestring : "";
	const size_t length = strlen(text);
	uint8_t *out = pctl_arena_alloc(a, length / 4 * 3 + 1);

	*n = 0;
	if (out == NULL || length % 4 != 0 || length > (1u << 30))
		return NULL;
	if (length != 0 && EVP_DecodeBlock(out, (const unsigned char *)text, (int)length) < 0)
		return NULL;
	*n = length / 4 * 3;
	for (size_t i = length; i > 0 && i > length - 2 && text[i - 1] == '='; i--)
		--*n;
	out[*n] = 0;
	return out;
}

int pctl_etcd_number(const cJSON *of, const char *name, uint64_t *out)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(of, name);

	*out = 0;
	return item == NULL ||
	       (cJSON_IsString(item) &&
		pctl_num_parse_u64(item->valuestring, strlen(item->valuestring), out));
}

/* ---- rows ---------------------------------------------------------------------------------- */

void pctl_etcd_rows_clear(pctl_etcd_rows *r)
{
	pctl_arena_destroy(r->arena);
	*r = (pctl_etcd_rows){.items = NULL};
}

static pctl_status begin_rows(pctl_etcd_rows *r, uint32_t room, const pctl_call *call)
{
	*r = (pctl_etcd_rows){.arena = pctl_arena_create()};
	if (r->arena != NULL)
		r->items = pctl_arena_array(r->arena, room, sizeof(*r->items));
	return r->items == NULL ? pctl_no_memory(call, "an answer") : PCTL_OK;
}

pctl_status pctl_etcd_read_rows(const cJSON *range, const pctl_call *call, pctl_etcd_rows *out,
				uint32_t room)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(range, "kvs"))
	{
		pctl_etcd_row *to;
		uint64_t n_key;

		if (out->n == room)
			return pctl_etcd_strange(call);
		to = &out->items[out->n];
		to->key = (char *)bytes_of(row, "key", out->arena, &n_key);
		to->value = bytes_of(row, "value", out->arena, &to->n_value);
		if (to->key == NULL || to->value == NULL || strlen(to->key) != n_key ||
		    !pctl_etcd_number(row, "create_revision", &to->create_revision))
			return pctl_etcd_strange(call);
		out->n++;
	}
	return PCTL_OK;
}

pctl_status pctl_etcd_range(pctl_etcd *e, const char *from, const char *to, uint32_t limit,
			    int by_age, const pctl_call *call, pctl_etcd_rows *out)
{
	cJSON *question = cJSON_CreateObject(), *answer;
	char number[16];
	int made = question != NULL && pctl_etcd_add_bytes(question, "key", from, strlen(from));
	uint32_t n;
	pctl_status status;

	*out = (pctl_etcd_rows){.items = NULL};
	snprintf(number, sizeof(number), "%u", limit);
	made = made && (to == NULL || pctl_etcd_add_bytes(question, "range_end", to, strlen(to)));
	made = made && cJSON_AddStringToObject(question, "limit", number) != NULL;
	if (by_age)
		made = made && cJSON_AddStringToObject(question, "sort_target", "CREATE") != NULL &&
		       cJSON_AddStringToObject(question, "sort_order", "ASCEND") != NULL;
	if (!made) {
		cJSON_Delete(question);
		return pctl_no_memory(call, "a request");
	}
	status = pctl_etcd_ask(e, "/v3/kv/range", question, call, &answer);
	if (status != PCTL_OK)
		return status;
	n = (uint32_t)cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(answer, "kvs"));
	status = begin_rows(out, n, call);
	if (status == PCTL_OK)
		status = pctl_etcd_read_rows(answer, call, out, n);
	cJSON_Delete(answer);
	if (status != PCTL_OK)
		pctl_etcd_rows_clear(out);
	return status;
}

/* ---- transactions -------------------------------------------------------------------------- */

void pctl_etcd_txn_begin(pctl_etcd_txn *t)
{
	*t = (pctl_etcd_txn){.compare = cJSON_CreateArray(), .success = cJSON_CreateArray()};
	t->failed = t->compare == NULL || t->success == NULL;
}

void pctl_etcd_txn_drop(pctl_etcd_txn *t)
{
	cJSON_Delete(t->compare);
	cJSON_Delete(t->success);
	*t = (pctl_etcd_txn){.failed = 1};
}

/* A new object at the end of the list. */
static cJSON *add(pctl_etcd_txn *t, cJSON *list)
{
	cJSON *item = t->failed ? NULL : cJSON_CreateObject();

	if (item == NULL || !cJSON_AddItemToArray(list, item)) {
		t->failed = 1;
		cJSON_Delete(item);
		return NULL;
	}
	return item;
}

static void condition(pctl_etcd_txn *t, const char *key, const char *target, const char *result)
{
	cJSON *c = add(t, t->compare);

	if (c == NULL || !pctl_etcd_add_bytes(c, "key", key, strlen(key)) ||
	    cJSON_AddStringToObject(c, "target", target) == NULL ||
	    cJSON_AddStringToObject(c, "result", result) == NULL)
		t->failed = 1;
}

void pctl_etcd_if_absent(pctl_etcd_txn *t, const char *key)
{
	condition(t, key, "CREATE", "EQUAL"); /* to 0, which is left out */
}

void pctl_etcd_if_there(pctl_etcd_txn *t, const char *key)
{
	condition(t, key, "CREATE", "GREATER");
}

void pctl_etcd_if_value(pctl_etcd_txn *t, const char *key, const char *value)
{
	condition(t, key, "VALUE", "EQUAL");
	if (!t->failed &&
	    !pctl_etcd_add_bytes(cJSON_GetArrayItem(t->compare, cJSON_GetArraySize(t->compare) - 1),
				 "value", value, strlen(value)))
		t->failed = 1;
}

static cJSON *operation(pctl_etcd_txn *t, const char *kind, const char *key)
{
	cJSON *of = add(t, t->success), *o = of == NULL ? NULL : cJSON_AddObjectToObject(of, kind);

	if (o == NULL || !pctl_etcd_add_bytes(o, "key", key, strlen(key))) {
		t->failed = 1;
		return NULL;
	}
	return o;
}

void pctl_etcd_put(pctl_etcd_txn *t, const char *key, const void *value, uint64_t n, int64_t lease)
{
	cJSON *o = operation(t, "requestPut", key);
	char number[24];

	snprintf(number, sizeof(number), "%lld", (long long)lease);
	if (o == NULL || !pctl_etcd_add_bytes(o, "value", value, n) ||
	    (lease != 0 && cJSON_AddStringToObject(o, "lease", number) == NULL))
		t->failed = 1;
}

void pctl_etcd_delete(pctl_etcd_txn *t, const char *key)
{
	(void)operation(t, "requestDeleteRange", key);
}

void pctl_etcd_get(pctl_etcd_txn *t, const char *key)
{
	(void)operation(t, "requestRange", key);
}

static pctl_status read_gets(const cJSON *answer, const pctl_call *call, pctl_etcd_rows *rows)
{
	const cJSON *responses = cJSON_GetObjectItemCaseSensitive(answer, "responses"), *one;
	const uint32_t n = (uint32_t)cJSON_GetArraySize(responses);
	pctl_status status = begin_rows(rows, n, call);

	cJSON_ArrayForEach(one, responses)
	{
		const cJSON *range = cJSON_GetObjectItemCaseSensitive(one, "response_range");

		if (status == PCTL_OK && range != NULL)
			status = pctl_etcd_read_rows(range, call, rows, n);
	}
	if (status != PCTL_OK)
		pctl_etcd_rows_clear(rows);
	return status;
}

pctl_status pctl_etcd_commit(pctl_etcd *e, pctl_etcd_txn *t, const pctl_call *call, int *held,
			     pctl_etcd_rows *rows)
{
	cJSON *question = t->failed ? NULL : cJSON_CreateObject(), *answer = NULL;
	pctl_status status;

	*held = 0;
	if (rows != NULL)
		*rows = (pctl_etcd_rows){.items = NULL};
	if (question != NULL && cJSON_AddItemToObject(question, "compare", t->compare))
		t->compare = NULL;
	if (question != NULL && cJSON_AddItemToObject(question, "success", t->success))
		t->success = NULL;
	if (t->compare != NULL || t->success != NULL) {
		cJSON_Delete(question);
		question = NULL;
	}
	pctl_etcd_txn_drop(t);
	status = pctl_etcd_ask(e, "/v3/kv/txn", question, call, &answer);
	if (status != PCTL_OK)
		return status;
	*held = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer, "succeeded"));
	if (rows != NULL && *held)
		status = read_gets(answer, call, rows);
	cJSON_Delete(answer);
	return status;
}

/* ---- old revisions ------------------------------------------------------------------------- */

pctl_status pctl_etcd_compact(pctl_etcd *e, const pctl_call *call)
{
	cJSON *question = cJSON_CreateObject(), *answer = NULL;
	char number[24];
	uint64_t revision = 0;
	pctl_status status;

	/* Any read says which revision is the present one. */
	if (question != NULL && !pctl_etcd_add_bytes(question, "key", "x", 1)) {
		cJSON_Delete(question);
		question = NULL;
	}
	status = pctl_etcd_ask(e, "/v3/kv/range", question, call, &answer);
	if (status != PCTL_OK)
		return status;
	if (!pctl_etcd_number(cJSON_GetObjectItemCaseSensitive(answer, "header"), "revision",
			      &revision))
		status = pctl_etcd_strange(call);
	cJSON_Delete(answer);
	if (status != PCTL_OK || revision == 0)
		return status;
	question = cJSON_CreateObject();
	snprintf(number, sizeof(number), "%llu", (unsigned long long)revision);
	if (question != NULL && cJSON_AddStringToObject(question, "revision", number) == NULL) {
		cJSON_Delete(question);
		question = NULL;
	}
	status = pctl_etcd_ask(e, "/v3/kv/compaction", question, call, &answer);
	cJSON_Delete(answer);
	return status;
}

/* ---- leases -------------------------------------------------------------------------------- */

static pctl_status ask_of(pctl_etcd *e, const char *path, const char *name, int64_t value,
			  const pctl_call *call, cJSON **out)
{
	cJSON *question = cJSON_CreateObject();
	char number[24];

	snprintf(number, sizeof(number), "%lld", (long long)value);
	if (question != NULL && cJSON_AddStringToObject(question, name, number) == NULL) {
		cJSON_Delete(question);
		question = NULL;
	}
	return pctl_etcd_ask(e, path, question, call, out);
}

pctl_status pctl_etcd_lease(pctl_etcd *e, uint32_t seconds, const pctl_call *call, int64_t *out)
{
	uint64_t id = 0;
	cJSON *answer;
	pctl_status status = ask_of(e, "/v3/lease/grant", "TTL", seconds, call, &answer);

	*out = 0;
	if (status != PCTL_OK)
		return status;
	if (!pctl_etcd_number(answer, "ID", &id) || id == 0 || id > INT64_MAX)
		status = pctl_etcd_strange(call);
	cJSON_Delete(answer);
	*out = (int64_t)id;
	return status;
}

pctl_status pctl_etcd_keep_alive(pctl_etcd *e, int64_t lease, const pctl_call *call, int *alive)
{
	uint64_t left = 0;
	cJSON *answer;
	pctl_status status = ask_of(e, "/v3/lease/keepalive", "ID", lease, call, &answer);

	*alive = 0;
	if (status != PCTL_OK)
		return status;
	if (!pctl_etcd_number(cJSON_GetObjectItemCaseSensitive(answer, "result"), "TTL", &left))
		status = pctl_etcd_strange(call);
	*alive = left > 0;
	cJSON_Delete(answer);
	return status;
}

pctl_status pctl_etcd_revoke(pctl_etcd *e, int64_t lease, const pctl_call *call)
{
	cJSON *answer = NULL;
	const pctl_status status = ask_of(e, "/v3/lease/revoke", "ID", lease, call, &answer);

	cJSON_Delete(answer);
	return status;
}
