/* CIDs and hashing. SHA-256 is OpenSSL's; the text form is base32 by hand, because it is twenty
 * lines. */
#include "runtime/cas/cid.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/hex.h"

/* CIDv1, codec raw, multihash sha2-256 of 32 bytes. */
static const uint8_t prefix[4] = {0x01, 0x55, 0x12, 0x20};
static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

#define CID_BYTES (sizeof(prefix) + PCTL_DIGEST_BYTES)
#define CID_CHARS (PCTL_CID_TEXT_SIZE - 1)

struct pctl_hasher {
	EVP_MD_CTX *md;
	const pctl_call *call;
};

static pctl_status hash_failed(const pctl_call *call)
{
	return pctl_refuse(call, PC5007_CAS_HASH, "OpenSSL refused to compute SHA-256");
}

/* EVP_sha256() has no implementation of its own: OpenSSL looks for one at each use, which takes longer than to hash a small blob.
 * One that is fetched stays fetched, for as long as the process lasts. */
static pthread_once_t fetched = PTHREAD_ONCE_INIT;
static EVP_MD *sha256;

static void fetch(void)
{
	sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
}

/* NULL: it is not to be had. */
static const EVP_MD *algorithm(void)
{
	(void)pthread_once(&fetched, fetch);
	return sha256;
}

pctl_status pctl_cid_of(const void *data, uint64_t n, const pctl_call *call, pctl_cid *out)
{
	const EVP_MD *md = algorithm();

	memset(out, 0, sizeof(*out));
	if (md == NULL || !EVP_Digest(n > 0 ? data : "", n, out->digest, NULL, md, NULL))
		return hash_failed(call);
	return PCTL_OK;
}

pctl_status pctl_hasher_create(const pctl_call *call, pctl_hasher **out)
{
	pctl_hasher *h = calloc(1, sizeof(*h));

	*out = NULL;
	if (h == NULL)
		return pctl_no_memory(call, "a hash");
	h->call = call;
	h->md = EVP_MD_CTX_new();
	if (h->md == NULL || algorithm() == NULL || !EVP_DigestInit_ex(h->md, algorithm(), NULL)) {
		pctl_hasher_destroy(h);
		return hash_failed(call);
	}
	*out = h;
	return PCTL_OK;
}

pctl_status pctl_hasher_update(pctl_hasher *h, const void *data, uint64_t n)
{
	return n == 0 || EVP_DigestUpdate(h->md, data, n) ? PCTL_OK : hash_failed(h->call);
}

pctl_status pctl_hasher_finish(pctl_hasher *h, pctl_cid *out)
{
	const pctl_call *call = h->call;
	int ok;

	memset(out, 0, sizeof(*out));
	ok = EVP_DigestFinal_ex(h->md, out->digest, NULL);
	pctl_hasher_destroy(h);
	return ok ? PCTL_OK : hash_failed(call);
}

pctl_status pctl_hasher_end(pctl_hasher *h, pctl_status status, uint8_t out[PCTL_DIGEST_BYTES])
{
	pctl_cid cid;

	if (status != PCTL_OK || h == NULL) {
		pctl_hasher_destroy(h);
		return status;
	}
	status = pctl_hasher_finish(h, &cid);
	if (status == PCTL_OK)
		memcpy(out, cid.digest, PCTL_DIGEST_BYTES);
	return status;
}

void pctl_hasher_destroy(pctl_hasher *h)
{
	if (h == NULL)
		return;
	EVP_MD_CTX_free(h->md);
	free(h);
}

char *pctl_cid_format(const pctl_cid *cid, char buf[PCTL_CID_TEXT_SIZE])
{
	uint8_t bytes[CID_BYTES];
	uint32_t bits = 0, n_bits = 0;
	size_t at = 1;

	memcpy(bytes, prefix, sizeof(prefix));
	memcpy(bytes + sizeof(prefix), cid->digest, PCTL_DIGEST_BYTES);
	buf[0] = 'b';
	for (size_t i = 0; i < CID_BYTES; i++) {
		bits = (bits << 8 | bytes[i]) & 0xfff;
		for (n_bits += 8; n_bits >= 5; n_bits -= 5)
			buf[at++] = alphabet[bits >> (n_bits - 5) & 31];
	}
	buf[at++] = alphabet[bits << (5 - n_bits) & 31];
	buf[at] = 0;
	return buf;
}

/* The five bits of a character; 32 for what is no digit. */
static uint32_t digit_of(char c)
{
	return c >= 'a' && c <= 'z'   ? (uint32_t)(c - 'a')
	       : c >= '2' && c <= '7' ? 26 + (uint32_t)(c - '2')
				      : 32;
}

int pctl_cid_parse(const char *text, pctl_cid *out)
{
	uint8_t bytes[CID_BYTES];
	uint32_t bits = 0, n_bits = 0;
	size_t at = 0;

	memset(out, 0, sizeof(*out));
	if (strlen(text) != CID_CHARS || text[0] != 'b')
		return 0;
	for (size_t i = 1; i < CID_CHARS; i++) {
		const uint32_t digit = digit_of(text[i]);

		if (digit == 32)
			return 0;
		bits = (bits << 5 | digit) & 0xfff;
		n_bits += 5;
		if (n_bits >= 8 && at < CID_BYTES) {
			n_bits -= 8;
			bytes[at++] = (uint8_t)(bits >> n_bits);
		}
	}
	if ((bits & ((1u << n_bits) - 1)) != 0 || memcmp(bytes, prefix, sizeof(prefix)) != 0)
		return 0;
	memcpy(out->digest, bytes + sizeof(prefix), PCTL_DIGEST_BYTES);
	return 1;
}

pctl_status pctl_cid_read(const char *text, const pctl_call *call, pctl_cid *out)
{
	if (pctl_cid_parse(text, out))
		return PCTL_OK;
	return pctl_refuse(call, PC5005_CAS_CID,
			   "\"%.80s\" is not a CID: 59 characters that begin with bafkrei", text);
}

/* The character of the text in which bit `at` of prefix and digest stands. */
static char character_of(const pctl_cid *cid, size_t at)
{
	const size_t first = at - at % 5;
	uint32_t digit = 0;

	for (size_t i = first / 8; i < first / 8 + 2; i++)
		digit = digit << 8 | (i < sizeof(prefix) ? prefix[i]
				      : i < CID_BYTES	 ? cid->digest[i - sizeof(prefix)]
							 : 0u);
	return alphabet[digit >> (11 - first % 8) & 31];
}

/* Texts first differ where the digests do, and digits of base32 come before its letters. */
int pctl_cid_compare(const pctl_cid *a, const pctl_cid *b)
{
	size_t at = 0;

	while (at < PCTL_DIGEST_BYTES && a->digest[at] == b->digest[at])
		at++;
	if (at == PCTL_DIGEST_BYTES)
		return 0;
	for (at *= 8; (a->digest[at / 8] ^ b->digest[at / 8]) >> (7 - at % 8) == 0;)
		at++;
	at += 8 * sizeof(prefix);
	return character_of(a, at) - character_of(b, at);
}

int pctl_cid_order(const void *a, const void *b)
{
	return pctl_cid_compare(a, b);
}

char *pctl_digest_hex(const uint8_t digest[PCTL_DIGEST_BYTES], char buf[2 * PCTL_DIGEST_BYTES + 1])
{
	return pctl_hex_print(digest, PCTL_DIGEST_BYTES, buf);
}

int pctl_digest_parse_hex(const char *text, uint8_t out[PCTL_DIGEST_BYTES])
{
	memset(out, 0, PCTL_DIGEST_BYTES);
	return pctl_hex_is(text, 2 * PCTL_DIGEST_BYTES) &&
	       pctl_hex_parse(text, PCTL_DIGEST_BYTES, out);
}
