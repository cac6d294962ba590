/* The grammar of CAR version 1, read strictly: every item in its shortest encoding. */
#include "runtime/cas/car_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/bytes.h"
#include "foundation/base/clock.h"

#define VARINT_BYTES 9u	  /* most that the specification of varints allows */
#define ROOT_CBOR_BYTES 5 /* tag 42, byte string of 37, and the 0 in front of a CID */

static pctl_status bad_form(const pctl_car_reader *r, const char *what)
{
	return pctl_refuse(r->call, PC5890_CAR_FORM, "%s: byte %" PRIu64 ": %s", r->name, r->at,
			   what);
}

pctl_status pctl_car_read_bytes(pctl_car_reader *r, void *out, uint64_t n)
{
	if (n > r->n - r->at)
		return bad_form(r, "the file ends inside an item");
	if (n != 0 && fread(out, 1, n, r->f) != n)
		return pctl_refuse(r->call, PC3_IO, "cannot read %s", r->name);
	r->at += n;
	return PCTL_OK;
}

static pctl_status read_varint(pctl_car_reader *r, uint64_t *out)
{
	uint8_t byte = 0x80;
	pctl_status status = PCTL_OK;

	*out = 0;
	for (uint32_t i = 0; status == PCTL_OK && (byte & 0x80) != 0; i++) {
		if (i == VARINT_BYTES)
			return bad_form(r, "a length of more than 9 bytes");
		status = pctl_car_read_bytes(r, &byte, 1);
		*out |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (status == PCTL_OK && i > 0 && byte == 0)
			return bad_form(r, "a length that is not written in the shortest way");
	}
	return status;
}

static pctl_status bad_cid(const pctl_car_reader *r, const uint8_t *bytes)
{
	return pctl_refuse(r->call, PC5891_CAR_CID,
			   "%s: byte %" PRIu64 ": a CID that begins with %02x %02x %02x %02x; only "
			   "CIDv1, raw, sha2-256 (01 55 12 20) is taken in",
			   r->name, r->at, bytes[0], bytes[1], bytes[2], bytes[3]);
}

static pctl_status read_cid(pctl_car_reader *r, pctl_cid *out)
{
	uint8_t bytes[PCTL_CAR_CID_BYTES];
	pctl_status status = pctl_car_read_bytes(r, bytes, PCTL_CAR_PREFIX_BYTES);

	if (status == PCTL_OK && memcmp(bytes, pctl_car_prefix, PCTL_CAR_PREFIX_BYTES) != 0)
		return bad_cid(r, bytes);
	if (status == PCTL_OK)
		status = pctl_car_read_bytes(r, out->digest, PCTL_DIGEST_BYTES);
	return status;
}

static pctl_status expect(pctl_car_reader *r, const void *bytes, uint32_t n, const char *what)
{
	uint8_t got[16];
	pctl_status status = pctl_car_read_bytes(r, got, n);

	return status != PCTL_OK || memcmp(got, bytes, n) == 0 ? status : bad_form(r, what);
}

/* The head of a dag-cbor array. */
static pctl_status read_count(pctl_car_reader *r, uint32_t *out)
{
	uint8_t head, more[4] = {0};
	uint32_t n = 0;
	pctl_status status = pctl_car_read_bytes(r, &head, 1);

	*out = 0;
	if (status != PCTL_OK)
		return status;
	if (head < 0x80 || head > 0x9a)
		return bad_form(r, "\"roots\" is not an array");
	if (head >= 0x98)
		n = 1u << (head - 0x98);
	status = pctl_car_read_bytes(r, more, n);
	*out = head < 0x98 ? head - 0x80u : (uint32_t)pctl_be_get(more, n);
	if (status != PCTL_OK)
		return status;
	if ((n == 1 && *out < 24) || (n == 2 && *out < 256) || (n == 4 && *out < 65536))
		return bad_form(r, "an array's length that is not written in the shortest way");
	if (*out == 0 || *out > PCTL_CAR_ROOTS_MAX)
		return bad_form(r, "no roots, or more than 65536");
	return PCTL_OK;
}

static pctl_status read_roots(pctl_car_reader *r, pctl_cid **roots, uint32_t *n_roots)
{
	static const uint8_t head[ROOT_CBOR_BYTES] = {0xd8, 0x2a, 0x58, 0x25, 0x00};
	pctl_status status = read_count(r, n_roots);

	if (status != PCTL_OK)
		return status;
	*roots = calloc(*n_roots, sizeof(**roots));
	if (*roots == NULL)
		return pctl_no_memory(r->call, "roots");
	for (uint32_t i = 0; status == PCTL_OK && i < *n_roots; i++) {
		uint8_t got[ROOT_CBOR_BYTES];

		status = pctl_car_read_bytes(r, got, sizeof(got));
		/* A CID of another kind has another length; any other difference is no CID at all. */
		if (status == PCTL_OK && memcmp(got, head, 2) != 0)
			status = bad_form(r, "a root that is not a CID");
		else if (status == PCTL_OK && memcmp(got, head, sizeof(head)) != 0)
			status = pctl_refuse(r->call, PC5891_CAR_CID,
					     "%s: byte %" PRIu64 ": a root that is not the 37 "
					     "bytes of a CIDv1, raw, sha2-256",
					     r->name, r->at);
		if (status == PCTL_OK)
			status = read_cid(r, &(*roots)[i]);
	}
	return status;
}

void pctl_car_tell(const pctl_car_reader *r)
{
	const pctl_progress now = {.stage = r->stage,
				   .what = r->name,
				   .bytes = r->at,
				   .total_bytes = r->n,
				   .elapsed_ns = pctl_clock_ns() - r->started_ns};

	pctl_progress_tell(r->progress, &now);
}

pctl_status pctl_car_read_header(pctl_car_reader *r, pctl_cid **roots, uint32_t *n_roots)
{
	static const char version_2[] = "\xa1gversion\x02";
	const uint64_t whole = r->n;
	uint8_t head;
	uint64_t n;
	pctl_status status = read_varint(r, &n);

	*roots = NULL;
	*n_roots = 0;
	if (status != PCTL_OK)
		return status;
	if (n > r->n - r->at)
		return bad_form(r, "the file ends inside its header");
	r->n = r->at + n;
	status = pctl_car_read_bytes(r, &head, 1);
	if (status == PCTL_OK && head == 0xa1) {
		status = expect(r, version_2 + 1, sizeof(version_2) - 2, "no header of a CAR file");
		return status != PCTL_OK ? status
					 : bad_form(r, "this is CAR version 2; write version 1");
	}
	if (status == PCTL_OK && head != 0xa2)
		return bad_form(r, "no header of a CAR file");
	if (status == PCTL_OK)
		status = expect(r, "eroots", 6, "no \"roots\" in the header of a CAR file");
	if (status == PCTL_OK)
		status = read_roots(r, roots, n_roots);
	if (status == PCTL_OK)
		status = expect(r, "gversion\x01", 9, "no version 1 in the header of a CAR file");
	if (status == PCTL_OK && r->at != r->n)
		return bad_form(r, "more in the header than a CAR file has");
	r->n = whole;
	return status;
}

pctl_status pctl_car_read_block(pctl_car_reader *r, pctl_cid *cid, uint64_t *n_data)
{
	const uint64_t whole = r->n;
	uint64_t n;
	pctl_status status = read_varint(r, &n);

	*n_data = 0;
	memset(cid, 0, sizeof(*cid));
	if (status != PCTL_OK)
		return status;
	if (n > r->n - r->at)
		return bad_form(r, "the file ends inside a block");
	if (n == 0)
		return bad_form(r, "a block without a CID");
	r->n = r->at + n; /* a CID that is longer than its block is no CID */
	status = read_cid(r, cid);
	*n_data = r->n - r->at;
	r->n = whole;
	return status;
}
