/* CIDs: the name of bytes. Always CIDv1, raw codec, sha2-256, written in base32 lower case
 * ("bafkrei.." and 52 more), the string `ipfs add --cid-version=1 --raw-leaves` gives for a single
 * block. */
#ifndef PIPECTL_RUNTIME_CAS_CID_H
#define PIPECTL_RUNTIME_CAS_CID_H

#include "pipectl/host.h"

#define PCTL_CID_TEXT_SIZE 60u /* 59 characters and a NUL */
#define PCTL_DIGEST_BYTES 32u

/* The SHA-256 digest inside a CID; codec and hash are always the same, so this is all of it. */
typedef struct pctl_cid {
	uint8_t digest[PCTL_DIGEST_BYTES];
} pctl_cid;

/* The CID of n bytes. PCTL_E_INTERNAL when OpenSSL refuses (it does not for SHA-256 in any sane
 * build). */
pctl_status pctl_cid_of(const void *data, uint64_t n, const pctl_call *call, pctl_cid *out);

/* The text form into buf of PCTL_CID_TEXT_SIZE bytes; returns buf. */
char *pctl_cid_format(const pctl_cid *cid, char buf[PCTL_CID_TEXT_SIZE]);
/* Parse all of text; 1 on success, 0 when it is not exactly the canonical text of such a CID. */
int pctl_cid_parse(const char *text, pctl_cid *out);

/* The same for what a person typed: PC5005 when it is no CID of this system. */
pctl_status pctl_cid_read(const char *text, const pctl_call *call, pctl_cid *out);

/* <0, 0, >0 in the order of the texts (bytewise), which is how every listing is sorted. */
int pctl_cid_compare(const pctl_cid *a, const pctl_cid *b);
/* The same of elements pctl_cid, for qsort and bsearch. */
int pctl_cid_order(const void *a, const void *b);

/* Digest bytes as 64 lower-case hex digits and a NUL (manifests pin files that way), and back. */
char *pctl_digest_hex(const uint8_t digest[PCTL_DIGEST_BYTES], char buf[2 * PCTL_DIGEST_BYTES + 1]);
int pctl_digest_parse_hex(const char *text, uint8_t out[PCTL_DIGEST_BYTES]);

/* Hashing a stream. create, any number of updates, finish once (which also destroys it).
 * destroy(NULL) is fine. */
typedef struct pctl_hasher pctl_hasher;
pctl_status pctl_hasher_create(const pctl_call *call, pctl_hasher **out);
pctl_status pctl_hasher_update(pctl_hasher *h, const void *data, uint64_t n);
pctl_status pctl_hasher_finish(pctl_hasher *h, pctl_cid *out);
/* The end of steps that came to `status`: destroys h, and gives the digest where all went well. h NULL: nothing was to be hashed. */
pctl_status pctl_hasher_end(pctl_hasher *h, pctl_status status, uint8_t out[PCTL_DIGEST_BYTES]);
void pctl_hasher_destroy(pctl_hasher *h);

#endif
