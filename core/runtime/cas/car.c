/* CAR files behind car.h: checking and importing in two passes, exporting in one. */
#include "runtime/cas/car.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/clock.h"
#include "runtime/cas/car_read.h"
#include "runtime/cas/store_ops.h"

#define PIECE_BYTES (1u << 20)

void pctl_car_report_clear(pctl_car_report *r)
{
	free(r->roots);
	memset(r, 0, sizeof(*r));
}

static int is_same(const pctl_cid *a, const pctl_cid *b)
{
	return memcmp(a->digest, b->digest, PCTL_DIGEST_BYTES) == 0;
}

/* ---- checking ----------------------------------------------------------------------------- */

/* The roots in order, and which of them were met. */
typedef struct roots {
	pctl_cid *sorted;
	uint8_t *met;
	uint32_t n;
} roots;

static pctl_status roots_open(roots *r, const pctl_cid *cids, uint32_t n, const pctl_call *call)
{
	r->n = n;
	r->sorted = malloc(n * sizeof(*cids));
	r->met = calloc(n, 1);
	if (r->sorted == NULL || r->met == NULL)
		return pctl_no_memory(call, "a CAR file");
	memcpy(r->sorted, cids, n * sizeof(*cids));
	qsort(r->sorted, n, sizeof(*cids), pctl_cid_order);
	return PCTL_OK;
}

static void roots_close(roots *r)
{
	free(r->sorted);
	free(r->met);
}

static int roots_find(const roots *r, const pctl_cid *cid, uint32_t *at)
{
	const pctl_cid *found = bsearch(cid, r->sorted, r->n, sizeof(*cid), pctl_cid_order);

	if (found == NULL)
		return 0;
	*at = (uint32_t)(found - r->sorted);
	return 1;
}

static pctl_status hash_block(pctl_car_reader *r, uint8_t *piece, uint64_t n, pctl_cid *out)
{
	pctl_hasher *h;
	pctl_status status = pctl_hasher_create(r->call, &h);

	while (status == PCTL_OK && n > 0) {
		const uint64_t part = n < PIECE_BYTES ? n : PIECE_BYTES;

		status = pctl_car_read_bytes(r, piece, part);
		if (status == PCTL_OK)
			status = pctl_hasher_update(h, piece, part);
		n -= part;
		pctl_car_tell(r);
		if (status == PCTL_OK && pctl_is_cancelled(r->call))
			status = pctl_refuse(r->call, PC4_CANCELLED, "reading %s was cancelled",
					     r->name);
	}
	if (status == PCTL_OK)
		return pctl_hasher_finish(h, out);
	pctl_hasher_destroy(h);
	return status;
}

static pctl_status check_block(pctl_car_reader *r, uint8_t *piece, roots *known,
			       pctl_car_report *out)
{
	char text[PCTL_CID_TEXT_SIZE];
	pctl_cid named, found;
	uint64_t n;
	uint32_t root;
	pctl_status status = pctl_car_read_block(r, &named, &n);
	const uint64_t at = r->at;

	if (status == PCTL_OK)
		status = hash_block(r, piece, n, &found);
	if (status != PCTL_OK)
		return status;
	if (!is_same(&named, &found))
		return pctl_refuse(r->call, PC5892_CAR_BLOCK,
				   "%s: byte %" PRIu64 ": the %" PRIu64 " bytes are not %s",
				   r->name, at, n, pctl_cid_format(&named, text));
	if (roots_find(known, &named, &root))
		known->met[root] = 1;
	out->n_blocks++;
	out->n_bytes += n;
	return PCTL_OK;
}

static pctl_status check_roots_met(const pctl_car_reader *r, const roots *known)
{
	char text[PCTL_CID_TEXT_SIZE];

	for (uint32_t i = 0; i < known->n; i++)
		if (!known->met[i] &&
		    (i == 0 || !is_same(&known->sorted[i - 1], &known->sorted[i])))
			return pctl_refuse(r->call, PC5890_CAR_FORM,
					   "%s: its root %s is not in it: the file was cut, or is "
					   "only a part",
					   r->name, pctl_cid_format(&known->sorted[i], text));
	return PCTL_OK;
}

pctl_status pctl_car_check(FILE *f, uint64_t n, const char *name,
			   const pctl_progress_sink *progress, const pctl_call *call,
			   pctl_car_report *out)
{
	pctl_car_reader r = {f, name, call, 0, n, progress, "verify", pctl_clock_ns()};
	uint8_t *piece = malloc(PIECE_BYTES);
	roots known = {NULL, NULL, 0};
	pctl_status status;

	memset(out, 0, sizeof(*out));
	status = piece == NULL ? pctl_no_memory(call, "a CAR file")
			       : pctl_car_read_header(&r, &out->roots, &out->n_roots);
	if (status == PCTL_OK)
		status = roots_open(&known, out->roots, out->n_roots, call);
	while (status == PCTL_OK && r.at < r.n) {
		status = check_block(&r, piece, &known, out);
		if (status == PCTL_OK && pctl_is_cancelled(call))
			status = pctl_refuse(call, PC4_CANCELLED, "reading %s was cancelled", name);
	}
	if (status == PCTL_OK)
		status = check_roots_met(&r, &known);
	roots_close(&known);
	free(piece);
	if (status != PCTL_OK)
		pctl_car_report_clear(out);
	return status;
}

/* ---- importing ---------------------------------------------------------------------------- */

/* A block too large for the buffer, as a map of the file, so that memory stays constant. */
static pctl_status put_large(pctl_store *s, pctl_car_reader *r, uint64_t n, pctl_cid *out)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), skip = r->at % page;
	uint8_t *map =
		mmap(NULL, n + skip, PROT_READ, MAP_PRIVATE, fileno(r->f), (off_t)(r->at - skip));
	pctl_status status;

	if (map == MAP_FAILED)
		return pctl_store_io(r->call, "map", r->name, errno);
	status = pctl_store_put(s, map + skip, n, r->call, out);
	munmap(map, n + skip);
	r->at += n;
	if (status == PCTL_OK && fseeko(r->f, (off_t)r->at, SEEK_SET) != 0)
		status = pctl_store_io(r->call, "read", r->name, errno);
	return status;
}

static pctl_status put_block(pctl_store *s, pctl_car_reader *r, uint8_t *piece)
{
	pctl_cid named, found;
	uint64_t n;
	pctl_status status = pctl_car_read_block(r, &named, &n);

	if (status == PCTL_OK && n > PIECE_BYTES)
		status = put_large(s, r, n, &found);
	else if (status == PCTL_OK) {
		status = pctl_car_read_bytes(r, piece, n);
		if (status == PCTL_OK)
			status = pctl_store_put(s, piece, n, r->call, &found);
	}
	if (status == PCTL_OK && !is_same(&named, &found))
		status = pctl_refuse(r->call, PC5892_CAR_BLOCK, "%s changed while it was read",
				     r->name);
	return status;
}

static pctl_status put_blocks(pctl_store *s, pctl_car_reader *r)
{
	uint8_t *piece = malloc(PIECE_BYTES);
	pctl_cid *cids = NULL;
	uint32_t n_cids;
	pctl_status status = piece == NULL ? pctl_no_memory(r->call, "a CAR file")
					   : pctl_car_read_header(r, &cids, &n_cids);

	free(cids);
	while (status == PCTL_OK && r->at < r->n) {
		status = put_block(s, r, piece);
		pctl_car_tell(r);
		if (status == PCTL_OK && pctl_is_cancelled(r->call))
			status = pctl_refuse(r->call, PC4_CANCELLED, "reading %s was cancelled",
					     r->name);
	}
	free(piece);
	return status;
}

pctl_status pctl_car_import(pctl_store *s, const char *path, const pctl_call *call,
			    pctl_car_report *out)
{
	struct stat st;
	FILE *f = fopen(path, "rbe");
	pctl_car_reader r = {f, path, call, 0, 0, &s->progress, "read", 0};
	pctl_status status, committed;

	memset(out, 0, sizeof(*out));
	if (f == NULL)
		return pctl_store_io(call, "open", path, errno);
	if (fstat(fileno(f), &st) != 0 || !S_ISREG(st.st_mode)) {
		fclose(f);
		return pctl_refuse(call, PC3_IO, "%s is not a regular file", path);
	}
	r.n = (uint64_t)st.st_size;
	status = pctl_car_check(f, r.n, path, r.progress, call, out);
	r.started_ns = pctl_clock_ns();
	if (status == PCTL_OK && fseeko(f, 0, SEEK_SET) != 0)
		status = pctl_store_io(call, "read", path, errno);
	if (status == PCTL_OK)
		status = pctl_store_batch_begin(s, call);
	if (status == PCTL_OK) {
		status = put_blocks(s, &r);
		committed = pctl_store_batch_commit(s, call);
		status = status == PCTL_OK ? committed : status;
	}
	fclose(f);
	if (status != PCTL_OK)
		pctl_car_report_clear(out);
	return status;
}
