/* Parcels of a snapshot: the text of an offer, the files spread over parcels, and taking a parcel apart. */
#include "chain/sync/parcel.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/sync/snapshot_private.h"
#include "foundation/base/bytes.h"
#include "foundation/base/file.h"

/* MAGIC, then parts: name (1 and its bytes), at (8), whole (8), length (4), bytes; numbers most significant byte first. */
static const char magic[18] = "pipectl parcel 1\n";

/* ---- the offer ------------------------------------------------------------------------------ */

static const pctl_record_field digest_fields[] = {
	PCTL_RECORD_SIZED(HEX, "digest", pctl_proof_digest, digest, .means = "a hash")};
static const pctl_record_shape digest_shape =
	PCTL_RECORD_OF_LINES(digest_fields, PCTL_RECORD_ROW, ' ', pctl_proof_digest);
static const pctl_record_field offer_fields[] = {
	{.key = "pipectl-offer",
	 .kind = PCTL_RECORD_CONSTANT,
	 .flags = PCTL_RECORD_NAMED,
	 .constant = "1",
	 .means = "version of the format"},
	PCTL_RECORD_FIELD(U64, "height", pctl_offer, height, .flags = PCTL_RECORD_NAMED, .least = 1,
			  .bound = INT64_MAX, .means = "of the block"),
	PCTL_RECORD_FIELD(LIST, "file", pctl_offer, files, .n_at = offsetof(pctl_offer, n_files),
			  .flags = PCTL_RECORD_NAMED | PCTL_RECORD_WITHIN,
			  .bound = PCTL_BLOCK_FILES - 1, .of = &digest_shape,
			  .means = "SHA-256 of each file of the record but `header`"),
	PCTL_RECORD_FIELD(BYTES, "header", pctl_offer, header.data,
			  .n_at = offsetof(pctl_offer, header.n), .flags = PCTL_RECORD_NAMED,
			  .bound = 1u << 16, .means = "the file `header`"),
	PCTL_RECORD_FIELD(LIST, "parcel", pctl_offer, parcels,
			  .n_at = offsetof(pctl_offer, n_parcels), .flags = PCTL_RECORD_NAMED,
			  .bound = PCTL_PARCELS_MAX, .of = &digest_shape,
			  .means = "SHA-256 of each parcel, in their order")};
static const pctl_record_shape offer_shape =
	PCTL_RECORD_OF_LINES(offer_fields, PCTL_RECORD_LINES, ' ', pctl_offer);
const pctl_record_type pctl_offer_type = {
	.opening = "",
	.shape = &offer_shape,
	.quoting = PCTL_RECORD_PLAIN,
	.form = PC6184_ENGINE_SNAPSHOT,
	.contradicts = PC6184_ENGINE_SNAPSHOT,
	.title = "Offer of a snapshot",
	.where = "Metadata of a snapshot that a node behind an engine lists (PROTOCOL.md)",
};

pctl_status pctl_offer_read(const void *text, uint64_t n, pctl_arena *a, const pctl_call *call,
			    pctl_offer *out)
{
	memset(out, 0, sizeof(*out));
	if (n == 0 || n > PCTL_OFFER_MAX)
		return pctl_refuse(call, PC6184_ENGINE_SNAPSHOT,
				   "an offer has 1 to %u bytes, this one %" PRIu64, PCTL_OFFER_MAX,
				   n);
	return pctl_record_read_exact(&pctl_offer_type, "the offer", text, (size_t)n, a, call, out);
}

pctl_status pctl_offer_check(const pctl_offer *o, const pctl_trusted *trusted,
			     const pctl_call *call)
{
	const pctl_proof_bytes none = {NULL, 0, 0};
	pctl_block_header header;
	const pctl_status status =
		pctl_record_is_trusted("the offer", PC6184_ENGINE_SNAPSHOT, &o->header, o->files,
				       o->n_files, &none, &none, trusted, call, &header);

	return status == PCTL_OK && header.height != o->height
		       ? pctl_refuse(call, PC6184_ENGINE_SNAPSHOT,
				     "the offer is of block %" PRIu64 ", its record of %" PRIu64,
				     o->height, header.height)
		       : status;
}

/* ---- writing -------------------------------------------------------------------------------- */

typedef struct packing {
	const char *from, *to;
	const pctl_call *call;
	pctl_offer *offer;
	pctl_arena *a;
	pctl_str_buf open; /* the parcel that is being filled */
	uint64_t n_files;  /* bytes of files in it */
} packing;

static pctl_status close_parcel(packing *p)
{
	char name[16];
	pctl_cid cid;
	pctl_status status;

	if (p->n_files == 0)
		return PCTL_OK;
	if (p->open.failed)
		return pctl_no_memory(p->call, "a parcel");
	if (p->offer->n_parcels == PCTL_PARCELS_MAX)
		return pctl_refuse(p->call, PC6184_ENGINE_SNAPSHOT,
				   "the snapshot needs more than %u parcels", PCTL_PARCELS_MAX);
	snprintf(name, sizeof(name), "%06" PRIu32, p->offer->n_parcels);
	status = pctl_snapshot_put(p->to, name, p->open.data, p->open.n, p->call);
	if (status == PCTL_OK)
		status = pctl_cid_of(p->open.data, p->open.n, p->call, &cid);
	if (status == PCTL_OK)
		memcpy(p->offer->parcels[p->offer->n_parcels++].digest, cid.digest,
		       PCTL_DIGEST_BYTES);
	p->open.n = 0;
	p->n_files = 0;
	return status;
}

static void add_part(packing *p, const char *name, uint64_t at, uint64_t whole, const char *bytes,
		     uint64_t n)
{
	if (p->n_files == 0)
		pctl_str_add_n(&p->open, magic, sizeof(magic));
	pctl_str_add_be(&p->open, strlen(name), 1);
	pctl_str_add(&p->open, name);
	pctl_str_add_be(&p->open, at, 8);
	pctl_str_add_be(&p->open, whole, 8);
	pctl_str_add_be(&p->open, n, 4);
	pctl_str_add_n(&p->open, bytes, (size_t)n);
	p->n_files += n == 0 ? 1 : n; /* an empty file is a part, too */
}

static pctl_status pack_file(packing *p, const char *name)
{
	char path[4096], *bytes = NULL;
	uint64_t n = 0, at = 0;
	pctl_status status;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", p->from, name) >= sizeof(path))
		return pctl_refuse(p->call, PC6146_SNAPSHOT_FORM, "%s: the path is too long",
				   p->from);
	status = pctl_file_read(path, PCTL_SNAPSHOT_FILE_MAX, p->call, &bytes, &n);
	do {
		const uint64_t room = PCTL_PARCEL_BYTES - p->n_files, left = n - at;
		const uint64_t some = left < room ? left : room;

		if (status != PCTL_OK)
			break;
		add_part(p, name, at, n, bytes + at, some);
		at += some;
		if (p->n_files >= PCTL_PARCEL_BYTES)
			status = close_parcel(p);
	} while (at < n);
	free(bytes);
	return status;
}

static int is_record(const char *name)
{
	return strcmp(name, "snapshot") == 0 || strncmp(name, "record-", 7) == 0;
}

/* The names of a folder, or of one in it, ascending; released with free(), as the list is. */
static int names_of(const char *dir, const char *inner, struct dirent ***out)
{
	char path[4096];

	*out = NULL;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, inner) >= sizeof(path))
		return -1;
	return scandir(path, out, NULL, alphasort);
}

/* kind 0: the index and the record, 1: rows, each file for itself, so that it can be taken when it is there; 2: bytes. */
static pctl_status pack_kind(packing *p, int kind)
{
	struct dirent **names;
	const int n = names_of(p->from, kind == 2 ? "blobs" : ".", &names);
	pctl_status status =
		n < 0 ? pctl_refuse(p->call, PC6146_SNAPSHOT_FORM, "%s is no snapshot", p->from)
		      : PCTL_OK;

	for (int i = 0; i < n; i++) {
		char name[256 + 8];
		const char *is = names[i]->d_name;
		const int wanted = kind == 0   ? is_record(is)
				   : kind == 1 ? strncmp(is, "rows-", 5) == 0
					       : is[0] != '.';

		snprintf(name, sizeof(name), "%s%s", kind == 2 ? "blobs/" : "", is);
		if (status == PCTL_OK && wanted)
			status = pack_file(p, name);
		if (status == PCTL_OK && wanted && kind == 1)
			status = close_parcel(p);
		free(names[i]);
	}
	free(names);
	return status == PCTL_OK ? close_parcel(p) : status;
}

static pctl_status put_offer(packing *p)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status status =
		pctl_record_put(&pctl_offer_type, p->offer, &text, "an offer", p->call);

	if (status == PCTL_OK && text.n > PCTL_OFFER_MAX)
		status = pctl_refuse(p->call, PC6184_ENGINE_SNAPSHOT,
				     "the offer of the snapshot would have more than %u bytes",
				     PCTL_OFFER_MAX);
	if (status == PCTL_OK)
		status = pctl_snapshot_put(p->to, "offer", text.data, text.n, p->call);
	pctl_str_drop(&text);
	return status;
}

static pctl_status describe(packing *p)
{
	const pctl_trusted nobody = {.is_root = 0};
	pctl_restore r = {.dir = (char *)(uintptr_t)p->from,
			  .trusted = nobody,
			  .call = p->call,
			  .arena = p->a};
	pctl_status status = pctl_restore_read_index(&r);

	p->offer->height = r.index.height;
	if (status == PCTL_OK)
		status = pctl_restore_read_record(&r, p->offer->files, &p->offer->n_files);
	if (status == PCTL_OK) {
		p->offer->header.n = (uint32_t)r.record.n_bytes[PCTL_BLOCK_HEADER];
		p->offer->header.data = (uint8_t *)pctl_arena_dup_n(
			p->a, r.record.text[PCTL_BLOCK_HEADER], p->offer->header.n);
		if (p->offer->header.data == NULL)
			status = pctl_no_memory(p->call, "an offer");
	}
	pctl_block_record_clear(&r.record);
	return status;
}

pctl_status pctl_parcels_write(const char *from, const char *to, const pctl_call *call,
			       pctl_offer *out, pctl_arena *a)
{
	packing p = {.from = from,
		     .to = to,
		     .call = call,
		     .offer = out,
		     .a = a,
		     .open = PCTL_STR_BUF_INIT};
	pctl_status status = pctl_file_make_dirs(to, call);

	memset(out, 0, sizeof(*out));
	out->parcels = pctl_arena_array(a, PCTL_PARCELS_MAX, sizeof(*out->parcels));
	if (status == PCTL_OK && out->parcels == NULL)
		status = pctl_no_memory(call, "an offer");
	if (status == PCTL_OK)
		status = describe(&p);
	for (int kind = 0; status == PCTL_OK && kind < 3; kind++)
		status = pack_kind(&p, kind);
	if (status == PCTL_OK)
		status = put_offer(&p);
	pctl_str_drop(&p.open);
	return status;
}

/* ---- taking apart --------------------------------------------------------------------------- */

static int take_number(const uint8_t *parcel, uint64_t n, uint64_t *at, int bytes, uint64_t *out)
{
	*out = 0;
	if (n - *at < (uint64_t)bytes)
		return 0;
	*out = pctl_be_get(parcel + *at, (uint64_t)bytes);
	*at += (uint64_t)bytes;
	return 1;
}

/* Files of a snapshot, and no others: nothing of a name reaches further. */
static int is_name(const char *name)
{
	pctl_cid cid;

	if (strncmp(name, "blobs/", 6) == 0)
		return pctl_cid_parse(name + 6, &cid);
	if (strncmp(name, "rows-", 5) == 0)
		return strlen(name) >= 11 && strlen(name) <= 15 &&
		       strspn(name + 5, "0123456789") == strlen(name) - 5;
	if (strncmp(name, "record-", 7) == 0)
		return name[7] != '\0' &&
		       strspn(name + 7, "abcdefghijklmnopqrstuvwxyz") == strlen(name) - 7;
	return strcmp(name, "snapshot") == 0;
}

pctl_status pctl_parcel_next(const uint8_t *parcel, uint64_t n, uint64_t *at, const pctl_call *call,
			     pctl_parcel_part *out, int *more)
{
	uint64_t n_name, length;

	memset(out, 0, sizeof(*out));
	*more = 0;
	if (*at == 0) {
		if (n < sizeof(magic) || memcmp(parcel, magic, sizeof(magic)) != 0)
			return pctl_refuse(call, PC6185_ENGINE_CHUNK,
					   "it does not begin as a parcel does");
		*at = sizeof(magic);
	}
	if (*at == n)
		return PCTL_OK;
	if (!take_number(parcel, n, at, 1, &n_name) || n_name >= sizeof(out->name) ||
	    n - *at < n_name)
		return pctl_refuse(call, PC6185_ENGINE_CHUNK, "a part of it has no name");
	memcpy(out->name, parcel + *at, n_name);
	*at += n_name;
	if (strlen(out->name) != n_name || !is_name(out->name))
		return pctl_refuse(call, PC6185_ENGINE_CHUNK,
				   "a part of it is of no file of a snapshot");
	if (!take_number(parcel, n, at, 8, &out->at) ||
	    !take_number(parcel, n, at, 8, &out->whole) ||
	    !take_number(parcel, n, at, 4, &length) || n - *at < length ||
	    out->whole > PCTL_SNAPSHOT_FILE_MAX || out->at > out->whole ||
	    out->whole - out->at < length)
		return pctl_refuse(call, PC6185_ENGINE_CHUNK,
				   "a part of it is cut, or longer than its file");
	out->n = (uint32_t)length;
	out->bytes = parcel + *at;
	*at += length;
	*more = 1;
	return PCTL_OK;
}
