/* Writing CAR files: one function of the names, streamed into an output that is there when it is whole. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/bytes.h"
#include "foundation/base/clock.h"
#include "foundation/base/output.h"
#include "runtime/cas/car_read.h"
#include "runtime/cas/store_ops.h"

typedef struct writer {
	pctl_output *to;
	const char *path;
	const pctl_call *call;
	pctl_car_report *report;
	uint64_t blocks, started_ns; /* blocks: that there will be */
} writer;

static pctl_status put(writer *w, const void *bytes, uint64_t n)
{
	return pctl_output_put(w->to, bytes, n, w->call);
}

static pctl_status put_varint(writer *w, uint64_t v)
{
	uint8_t bytes[10];
	uint32_t n = 0;

	for (; v >= 0x80; v >>= 7)
		bytes[n++] = (uint8_t)(v | 0x80);
	bytes[n++] = (uint8_t)v;
	return put(w, bytes, n);
}

static pctl_status put_cid(writer *w, const pctl_cid *cid)
{
	pctl_status status = put(w, pctl_car_prefix, PCTL_CAR_PREFIX_BYTES);

	return status == PCTL_OK ? put(w, cid->digest, PCTL_DIGEST_BYTES) : status;
}

/* The head of a dag-cbor array of n items, in the shortest way. */
static uint32_t array_head(uint32_t n, uint8_t out[5])
{
	const uint32_t more = n < 24 ? 0 : n < 256 ? 1 : n < 65536 ? 2 : 4;

	out[0] = (uint8_t)(more == 0 ? 0x80 + n : more == 1 ? 0x98 : more == 2 ? 0x99 : 0x9a);
	pctl_be_put(out + 1, n, more);
	return 1 + more;
}

static pctl_status put_header(writer *w, const pctl_cid *roots, uint32_t n)
{
	static const uint8_t root_head[] = {0xd8, 0x2a, 0x58, 0x25, 0x00};
	uint8_t head[5];
	const uint32_t n_head = array_head(n, head);
	pctl_status status = put_varint(
		w, 7 + n_head + (uint64_t)n * (sizeof(root_head) + PCTL_CAR_CID_BYTES) + 9);

	if (status == PCTL_OK)
		status = put(w,
			     "\xa2"
			     "eroots",
			     7);
	if (status == PCTL_OK)
		status = put(w, head, n_head);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		status = put(w, root_head, sizeof(root_head));
		if (status == PCTL_OK)
			status = put_cid(w, &roots[i]);
	}
	return status == PCTL_OK ? put(w, "gversion\x01", 9) : status;
}

static void tell(const writer *w, const pctl_store *s)
{
	const pctl_progress now = {.stage = "write",
				   .what = w->path,
				   .unit = "blobs",
				   .done = w->report->n_blocks,
				   .total = w->blocks,
				   .bytes = w->report->n_bytes,
				   .elapsed_ns = pctl_clock_ns() - w->started_ns};

	pctl_progress_tell(&s->progress, &now);
}

static pctl_status put_block(writer *w, pctl_store *s, const pctl_cid *cid)
{
	pctl_blob blob;
	pctl_status status = pctl_store_get(s, cid, w->call, &blob);

	if (status != PCTL_OK)
		return status;
	status = put_varint(w, PCTL_CAR_CID_BYTES + blob.n_bytes);
	if (status == PCTL_OK)
		status = put_cid(w, cid);
	if (status == PCTL_OK)
		status = put(w, blob.data, blob.n_bytes);
	w->report->n_blocks++;
	w->report->n_bytes += blob.n_bytes;
	pctl_blob_release(&blob);
	tell(w, s);
	if (status == PCTL_OK && pctl_is_cancelled(w->call))
		status = pctl_refuse(w->call, PC4_CANCELLED, "writing %s was cancelled", w->path);
	return status;
}

/* ---- what is written ---------------------------------------------------------------------- */

/* The others in order, without roots and repetitions. */
static pctl_status choose(const pctl_cid *roots, uint32_t n_roots, const pctl_cid *others,
			  uint32_t n_others, const pctl_call *call, pctl_cid **out, uint32_t *n_out)
{
	pctl_cid *sorted = malloc((n_roots + 1u) * sizeof(*sorted));
	pctl_cid *chosen = malloc((n_others + 1u) * sizeof(*chosen));
	pctl_status status = PCTL_OK;
	uint32_t n = 0;

	if (sorted == NULL || chosen == NULL) {
		free(sorted);
		free(chosen);
		return pctl_no_memory(call, "a CAR file");
	}
	memcpy(sorted, roots, n_roots * sizeof(*sorted));
	qsort(sorted, n_roots, sizeof(*sorted), pctl_cid_order);
	for (uint32_t i = 1; status == PCTL_OK && i < n_roots; i++)
		if (pctl_cid_compare(&sorted[i - 1], &sorted[i]) == 0)
			status = pctl_refuse(call, PC5890_CAR_FORM, "a root is named twice");
	if (n_others != 0)
		memcpy(chosen, others, n_others * sizeof(*chosen));
	qsort(chosen, n_others, sizeof(*chosen), pctl_cid_order);
	for (uint32_t i = 0; i < n_others; i++)
		if ((n == 0 || pctl_cid_compare(&chosen[n - 1], &chosen[i]) != 0) &&
		    bsearch(&chosen[i], sorted, n_roots, sizeof(*sorted), pctl_cid_order) == NULL)
			chosen[n++] = chosen[i];
	free(sorted);
	*out = chosen;
	*n_out = n;
	return status;
}

/* All that is absent is told at once. */
static pctl_status check_present(pctl_store *s, const pctl_cid *cids, uint32_t n,
				 const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t n_bytes;
		const pctl_status one = pctl_store_size(s, &cids[i], call, &n_bytes);

		status = status == PCTL_OK ? one : status;
	}
	return status;
}

static pctl_status write_all(writer *w, pctl_store *s, const pctl_cid *roots, uint32_t n_roots,
			     const pctl_cid *others, uint32_t n_others)
{
	pctl_status status = put_header(w, roots, n_roots);

	for (uint32_t i = 0; status == PCTL_OK && i < n_others; i++)
		status = put_block(w, s, &others[i]);
	for (uint32_t i = 0; status == PCTL_OK && i < n_roots; i++)
		status = put_block(w, s, &roots[i]);
	return status;
}

pctl_status pctl_car_export(pctl_store *s, const char *path, const pctl_cid *roots,
			    uint32_t n_roots, const pctl_cid *others, uint32_t n_others,
			    const pctl_call *call, pctl_car_report *out)
{
	writer w = {NULL, path, call, out, 0, pctl_clock_ns()};
	pctl_cid *chosen = NULL;
	uint32_t n = 0;
	pctl_status status;

	memset(out, 0, sizeof(*out));
	if (n_roots == 0 || n_roots > PCTL_CAR_ROOTS_MAX)
		return pctl_refuse(call, PC5890_CAR_FORM, "a CAR file has 1 to %u roots, not %u",
				   PCTL_CAR_ROOTS_MAX, n_roots);
	status = choose(roots, n_roots, others, n_others, call, &chosen, &n);
	if (status == PCTL_OK)
		status = check_present(s, roots, n_roots, call);
	if (status == PCTL_OK)
		status = check_present(s, chosen, n, call);
	if (status == PCTL_OK)
		status = pctl_output_open(path, 1, call, &w.to);
	w.blocks = (uint64_t)n_roots + n;
	if (status == PCTL_OK)
		status = write_all(&w, s, roots, n_roots, chosen, n);
	if (status == PCTL_OK)
		status = pctl_output_commit(w.to, call);
	else
		pctl_output_discard(w.to);
	free(chosen);
	return status;
}
