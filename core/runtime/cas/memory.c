/* The store in memory: the same contract without durability. For tests and dry runs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foundation/base/map.h"
#include "foundation/base/order.h"
#include "foundation/base/vec.h"
#include "runtime/cas/store_ops.h"

typedef struct entry {
	uint8_t *data; /* NULL once removed */
	uint64_t n_bytes;
	int pinned;
} entry;

typedef struct memory_store {
	pctl_store base;
	pctl_map *blobs; /* CID text to entry */
} memory_store;

static memory_store *memory(pctl_store *s)
{
	return (memory_store *)(void *)s;
}

static entry *find(pctl_store *s, const pctl_cid *cid)
{
	char text[PCTL_CID_TEXT_SIZE];

	return pctl_map_get(memory(s)->blobs, pctl_cid_format(cid, text));
}

static void memory_close(pctl_store *s)
{
	memory_store *m = memory(s);

	for (uint32_t i = 0; m->blobs != NULL && i < pctl_map_count(m->blobs); i++) {
		entry *e = pctl_map_value_at(m->blobs, i);

		free(e->data);
		free(e);
	}
	pctl_map_destroy(m->blobs);
	free(m);
}

static pctl_status memory_put(pctl_store *s, const void *data, uint64_t n, const pctl_cid *cid,
			      const pctl_call *call)
{
	char text[PCTL_CID_TEXT_SIZE];
	entry *e = find(s, cid);
	uint8_t *copy;

	if (e != NULL && e->data != NULL)
		return PCTL_OK;
	copy = malloc(n + 1);
	if (copy == NULL)
		return pctl_no_memory(call, "a blob");
	if (n > 0)
		memcpy(copy, data, n);
	if (e == NULL) {
		e = calloc(1, sizeof(*e));
		if (e == NULL || !pctl_map_put(memory(s)->blobs, pctl_cid_format(cid, text), e)) {
			free(e);
			free(copy);
			return pctl_no_memory(call, "a blob");
		}
	}
	e->data = copy;
	e->n_bytes = n;
	return PCTL_OK;
}

static int memory_stat(pctl_store *s, const pctl_cid *cid, uint64_t *n_out)
{
	const entry *e = find(s, cid);

	*n_out = e != NULL && e->data != NULL ? e->n_bytes : 0;
	return e != NULL && e->data != NULL;
}

static int memory_touch(pctl_store *s, const pctl_cid *cid, uint64_t n, const pctl_call *call)
{
	uint64_t found;

	(void)call;
	return memory_stat(s, cid, &found) && found == n;
}

static pctl_status memory_put_fd(pctl_store *s, int fd, const pctl_call *call, pctl_cid *out,
				 uint64_t *n_out)
{
	uint8_t *data = NULL;
	uint64_t n = 0, cap = 0;
	pctl_status status = PCTL_OK;

	for (;;) {
		ssize_t got;

		if (n == cap) {
			uint8_t *grown = realloc(data, cap == 0 ? 65536 : cap * 2);

			if (grown == NULL) {
				status = pctl_no_memory(call, "a blob");
				break;
			}
			data = grown;
			cap = cap == 0 ? 65536 : cap * 2;
		}
		got = read(fd, data + n, cap - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			status = pctl_refuse(call, PC3_IO, "cannot read the bytes to put");
		if (got <= 0)
			break;
		n += (uint64_t)got;
	}
	if (status == PCTL_OK)
		status = pctl_store_put(s, data, n, call, out);
	if (status == PCTL_OK)
		*n_out = n;
	free(data);
	return status;
}

static pctl_status memory_commit(pctl_store *s, const pctl_call *call)
{
	(void)s;
	(void)call;
	return PCTL_OK;
}

static pctl_status memory_get(pctl_store *s, const pctl_cid *cid, const pctl_call *call,
			      pctl_blob *out)
{
	const entry *e = find(s, cid);
	uint8_t *copy;

	if (e == NULL || e->data == NULL)
		return PCTL_E_NOT_FOUND;
	copy = malloc(e->n_bytes + 1);
	if (copy == NULL)
		return pctl_no_memory(call, "a blob");
	memcpy(copy, e->data, e->n_bytes);
	*out = (pctl_blob){.data = copy, .n_bytes = e->n_bytes, .owner = copy};
	return PCTL_OK;
}

static void memory_drop(pctl_store *s, const pctl_cid *cid)
{
	entry *e = find(s, cid);

	if (e == NULL)
		return;
	free(e->data);
	e->data = NULL;
	e->n_bytes = 0;
}

static pctl_status walk(pctl_store *s, int pins, const pctl_call *call, pctl_store_visit visit,
			void *ctx)
{
	const uint32_t n = pctl_map_count(memory(s)->blobs);
	const char **keys = calloc((size_t)n + 1, sizeof(*keys));
	int stop = 0;

	if (keys == NULL)
		return pctl_no_memory(call, "a listing");
	for (uint32_t i = 0; i < n; i++)
		keys[i] = pctl_map_key_at(memory(s)->blobs, i);
	qsort(keys, n, sizeof(*keys), pctl_order_texts);
	for (uint32_t i = 0; i < n && !stop; i++) {
		const entry *e = pctl_map_get(memory(s)->blobs, keys[i]);
		pctl_cid cid;

		if ((pins ? e->pinned : e->data != NULL) && pctl_cid_parse(keys[i], &cid))
			stop = visit(ctx, &cid, pins ? 0 : e->n_bytes);
	}
	free(keys);
	return PCTL_OK;
}

static pctl_status memory_list(pctl_store *s, const pctl_call *call, pctl_store_visit visit,
			       void *ctx)
{
	return walk(s, 0, call, visit, ctx);
}

static pctl_status memory_list_pins(pctl_store *s, const pctl_call *call, pctl_store_visit visit,
				    void *ctx)
{
	return walk(s, 1, call, visit, ctx);
}

static pctl_status memory_pin(pctl_store *s, const pctl_cid *cid, int on, const pctl_call *call)
{
	entry *e = find(s, cid);

	(void)call;
	if (e != NULL)
		e->pinned = on;
	return PCTL_OK;
}

static int memory_is_pinned(pctl_store *s, const pctl_cid *cid)
{
	const entry *e = find(s, cid);

	return e != NULL && e->pinned;
}

/* Nothing here outlives the process, so everything is old enough only without grace. */
static int memory_remove_old(pctl_store *s, const pctl_cid *cid, uint64_t grace_s, int dry,
			     const pctl_call *call)
{
	(void)call;
	if (grace_s > 0)
		return 0;
	if (!dry)
		memory_drop(s, cid);
	return 1;
}

static uint64_t memory_garbage(pctl_store *s, int dry)
{
	(void)s;
	(void)dry;
	return 0;
}

/* Nobody else has it. */
static pctl_status memory_hold(pctl_store *s, const pctl_call *call, int *out)
{
	(void)s;
	(void)call;
	*out = -1;
	return PCTL_OK;
}

static int memory_is_held(pctl_store *s)
{
	(void)s;
	return 0;
}

static const pctl_store_ops memory_ops = {
	.close = memory_close,
	.put = memory_put,
	.touch = memory_touch,
	.put_fd = memory_put_fd,
	.batch_commit = memory_commit,
	.get = memory_get,
	.stat = memory_stat,
	.set_aside = memory_drop,
	.list = memory_list,
	.list_pins = memory_list_pins,
	.pin = memory_pin,
	.is_pinned = memory_is_pinned,
	.remove_old = memory_remove_old,
	.hold = memory_hold,
	.is_held = memory_is_held,
	.garbage = memory_garbage,
};

pctl_status pctl_store_open_memory(const pctl_call *call, pctl_store **out)
{
	memory_store *m = calloc(1, sizeof(*m));

	*out = NULL;
	if (m == NULL || (m->blobs = pctl_map_create()) == NULL) {
		free(m);
		return pctl_no_memory(call, "a store");
	}
	m->base.ops = &memory_ops;
	*out = &m->base;
	return PCTL_OK;
}
