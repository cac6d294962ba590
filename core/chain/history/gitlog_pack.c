/* See gitlog_pack.h. The format: `man gitformat-pack`. */
#include "chain/history/gitlog_pack.h"

#include <limits.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "foundation/base/bytes.h"
#include "foundation/base/vec.h"

#define HEAD_BYTES 12u
#define CHECKSUM_BYTES 20u
#define LEVEL 1 /* ids and CIDs hardly compress: more work saves a twentieth */

void pctl_gitlog_pack_begin(pctl_gitlog_pack *p)
{
	char head[HEAD_BYTES] = "PACK";

	memset(p, 0, sizeof(*p));
	pctl_be_put(head + 4, 2, 4);
	pctl_str_add_n(&p->bytes, head, sizeof(head)); /* the count follows at the end */
}

/* Type and length: four bits of length beside the type, then seven a byte, least significant first. */
static void add_head(pctl_gitlog_pack *p, uint64_t n, git_object_t type)
{
	char head[16];
	size_t used = 0;

	head[used] = (char)((uint32_t)type << 4 | (uint32_t)(n & 15u));
	for (n >>= 4; n != 0; n >>= 7) {
		head[used++] |= (char)0x80;
		head[used] = (char)(n & 127u);
	}
	pctl_str_add_n(&p->bytes, head, used + 1u);
}

/* Note an object whose bytes begin at `offset` and end where the pack ends now. */
static void note(pctl_gitlog_pack *p, uint64_t offset, const git_oid *id)
{
	const Bytef *from = (const Bytef *)p->bytes.data + offset;
	pctl_gitlog_packed *o;

	if (p->bytes.failed ||
	    !pctl_vec_reserve((void **)&p->objects, p->n_objects, &p->room, sizeof(*p->objects))) {
		p->failed = 1;
		return;
	}
	o = &p->objects[p->n_objects++];
	o->offset = offset;
	o->crc = (uint32_t)crc32_z(0, from, p->bytes.n - offset);
	memcpy(o->id, id->id, sizeof(o->id));
}

/* One stream of zlib behind what is there, in pieces, so that no bytes are moved about. 0: no memory. */
static int deflate_into(pctl_str_buf *out, const void *data, uint64_t n, uint32_t is_dense)
{
	Bytef piece[32768];
	z_stream z = {.next_in = (z_const Bytef *)(uintptr_t)data};
	uint64_t left = n;
	/* The codes of characters alone take half the time, and of dense bytes a fifth more room. */
	int rc = deflateInit2(&z, LEVEL, Z_DEFLATED, MAX_WBITS, 8,
			      is_dense ? Z_HUFFMAN_ONLY : Z_DEFAULT_STRATEGY);

	if (rc != Z_OK)
		return 0;
	while (rc == Z_OK) {
		if (z.avail_in == 0) {
			z.avail_in = left < UINT_MAX ? (uInt)left : UINT_MAX;
			left -= z.avail_in;
		}
		z.next_out = piece;
		z.avail_out = sizeof(piece);
		rc = deflate(&z, left == 0 ? Z_FINISH : Z_NO_FLUSH);
		pctl_str_add_n(out, (const char *)piece, sizeof(piece) - z.avail_out);
	}
	deflateEnd(&z);
	return rc == Z_STREAM_END && !out->failed;
}

void pctl_gitlog_pack_add(pctl_gitlog_pack *p, const void *data, uint64_t n, git_object_t type,
			  uint32_t is_dense, const git_oid *id)
{
	const uint64_t offset = p->bytes.n;

	if (p->failed)
		return;
	add_head(p, n, type);
	if (deflate_into(&p->bytes, data, n, is_dense))
		note(p, offset, id);
	else
		p->failed = 1;
}

int pctl_gitlog_pack_end(pctl_gitlog_pack *p)
{
	unsigned char checksum[EVP_MAX_MD_SIZE];
	unsigned int n = 0;

	if (p->failed || p->bytes.failed)
		return 0;
	pctl_be_put(p->bytes.data + 8, p->n_objects, 4);
	if (EVP_Digest(p->bytes.data, p->bytes.n, checksum, &n, EVP_sha1(), NULL) != 1 ||
	    n != CHECKSUM_BYTES)
		return 0;
	pctl_str_add_n(&p->bytes, (const char *)checksum, CHECKSUM_BYTES);
	return !p->bytes.failed;
}

/* ---- the index ----------------------------------------------------------------------------- */

#define FAR_OFF 0x80000000u /* an offset from here on stands in a table of its own */

static int by_id(const void *a, const void *b)
{
	return memcmp(((const pctl_gitlog_packed *)a)->id, ((const pctl_gitlog_packed *)b)->id,
		      sizeof(((const pctl_gitlog_packed *)a)->id));
}

static void add_offsets(const pctl_gitlog_pack *p, pctl_str_buf *out)
{
	uint32_t n_far = 0;

	for (uint32_t i = 0; i < p->n_objects; i++)
		pctl_str_add_be(out,
				p->objects[i].offset < FAR_OFF ? p->objects[i].offset
							       : FAR_OFF | n_far++,
				4);
	for (uint32_t i = 0; i < p->n_objects; i++) {
		if (p->objects[i].offset < FAR_OFF)
			continue;
		pctl_str_add_be(out, p->objects[i].offset, 8);
	}
}

int pctl_gitlog_pack_index(pctl_gitlog_pack *p, pctl_str_buf *out)
{
	unsigned char checksum[EVP_MAX_MD_SIZE];
	unsigned int n = 0;
	uint32_t at = 0;

	qsort(p->objects, p->n_objects, sizeof(*p->objects), by_id);
	pctl_str_add_n(out, "\377tOc", 4);
	pctl_str_add_be(out, 2, 4);
	for (uint32_t first = 0; first < 256; first++) {
		while (at < p->n_objects && p->objects[at].id[0] <= first)
			at++;
		pctl_str_add_be(out, at, 4);
	}
	for (uint32_t i = 0; i < p->n_objects; i++)
		pctl_str_add_n(out, (const char *)p->objects[i].id, sizeof(p->objects[i].id));
	for (uint32_t i = 0; i < p->n_objects; i++)
		pctl_str_add_be(out, p->objects[i].crc, 4);
	add_offsets(p, out);
	pctl_str_add_n(out, p->bytes.data + p->bytes.n - CHECKSUM_BYTES, CHECKSUM_BYTES);
	if (out->failed || EVP_Digest(out->data, out->n, checksum, &n, EVP_sha1(), NULL) != 1 ||
	    n != CHECKSUM_BYTES)
		return 0;
	pctl_str_add_n(out, (const char *)checksum, CHECKSUM_BYTES);
	return !out->failed;
}

void pctl_gitlog_pack_drop(pctl_gitlog_pack *p)
{
	pctl_str_drop(&p->bytes);
	free(p->objects);
	p->objects = NULL;
}
