/* Asking other nodes for bytes; see peers.h. */
#include "chain/node/peers.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chain/node/ask.h"

#define TIMEOUT_MS 10000u

/* One node, and what it has given so far. */
typedef struct asking {
	const char *path, *cid;
	int fd;
	uint32_t timeout_ms;
	uint8_t *bytes;
	uint64_t n;
	const pctl_call *call; /* quiet: what is wrong is said once a node */
	const char *why;
} asking;

static int wrong(asking *a, const char *why)
{
	a->why = why;
	return 0;
}

static int reach(asking *a)
{
	return pctl_ask_open(a->path, &a->fd, &a->why);
}

/* 1 and a response of the kind GET, or 0. */
static int ask(asking *a, pctl_response *out)
{
	const pctl_request r = {
		.kind = PCTL_MSG_GET,
		.as.get = {.cid = a->cid, .offset = a->n, .length = PCTL_MESSAGE_DATA_MAX}};

	if (!pctl_ask(a->fd, &r, a->timeout_ms, a->call, out, &a->why))
		return 0;
	return out->kind == PCTL_MSG_GET ? 1 : wrong(a, "it does not have them");
}

/* The next piece; *last: there are no more. */
static int take(asking *a, int *last)
{
	pctl_response answer = {.kind = 0};
	const pctl_msg_data *data = &answer.as.get;
	int ok = ask(a, &answer);
	uint8_t *grown = NULL;

	if (ok && data->n_data > PCTL_MESSAGE_OUTPUT_MAX - a->n)
		ok = wrong(a, "it gives more than anything has");
	if (ok) {
		grown = realloc(a->bytes, (size_t)(a->n + data->n_data) + 1);
		ok = grown != NULL || wrong(a, "no memory for what it gives");
	}
	if (ok) {
		a->bytes = grown;
		if (data->n_data != 0)
			memcpy(a->bytes + a->n, data->data, (size_t)data->n_data);
		a->n += data->n_data;
		*last = data->n_data < PCTL_MESSAGE_DATA_MAX;
	}
	pctl_response_destroy(&answer);
	return ok;
}

static int take_all(asking *a, const pctl_cid *cid)
{
	pctl_cid made;
	int ok = reach(a), last = 0;

	while (ok && !last)
		ok = take(a, &last);
	if (ok && (pctl_cid_of(a->bytes, a->n, a->call, &made) != PCTL_OK ||
		   pctl_cid_compare(&made, cid) != 0))
		ok = wrong(a, "it gave other bytes");
	return ok;
}

pctl_status pctl_peers_fetch(void *ctx, const pctl_cid *cid, pctl_store *store,
			     const pctl_call *call)
{
	const pctl_peers *p = ctx;
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	char text[PCTL_CID_TEXT_SIZE];

	pctl_cid_format(cid, text);
	for (uint32_t i = 0; i < p->n && !pctl_is_cancelled(call); i++) {
		asking a = {.path = p->paths[i],
			    .cid = text,
			    .fd = -1,
			    .timeout_ms = p->timeout_ms == 0 ? TIMEOUT_MS : p->timeout_ms,
			    .call = &quiet};
		const int ok = take_all(&a, cid);
		const pctl_status status =
			ok ? pctl_store_put(store, a.bytes, a.n, call, NULL) : PCTL_E_NOT_FOUND;

		if (a.fd >= 0)
			close(a.fd);
		free(a.bytes);
		if (ok)
			return status;
		pctl_warn_at(call, PC5839_DATA_PEER, NULL, NULL, "%s: %s: %s", p->paths[i], text,
			     a.why);
	}
	return PCTL_E_NOT_FOUND;
}
