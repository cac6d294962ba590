/* Signatures of messages: what is right under version 2 of the rules is right for libsodium and for OpenSSL alike, whichever this
 * was built with; and what is known of one message helps no other one in the same place. */
#include "main.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "chain/accounts/account.h"
#include "chain/accounts/verify.h"
#include "foundation/base/hex.h"
#include "runtime/cas/sign.h"
#include "test_chain_author.h"

#define OK(what) assert_int_equal(what, PCTL_OK)

static void sign(EVP_PKEY *key, const void *data, size_t n, uint8_t out[64])
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	size_t n_out = 64;

	assert_int_equal(EVP_DigestSignInit(md, NULL, NULL, NULL, key), 1);
	assert_int_equal(EVP_DigestSign(md, out, &n_out, data, n), 1);
	EVP_MD_CTX_free(md);
}

/* ---- one signature ------------------------------------------------------------------------- */

/* Wherever OpenSSL's answer stands, with key and R looked at besides. */
static int agreed(const uint8_t *key, const void *data, size_t n, const uint8_t *signature)
{
	const int is_right = pctl_message_signature_is_right(key, data, n, signature);

	assert_int_equal(is_right, pctl_account_key_is_fit(key) &&
					   pctl_account_key_is_fit(signature) &&
					   pctl_signature_is_of(key, data, n, signature));
	return is_right;
}

static void test_chain_verify__both_libraries_agree(void **state)
{
	uint8_t key[32], signature[64], data[40] = {1, 2, 3};
	EVP_PKEY *k = author_key(key);

	(void)state;
	for (uint32_t i = 0; i < 20; i++) {
		data[0] = (uint8_t)i;
		sign(k, data, i * 2, signature);
		assert_true(agreed(key, data, i * 2, signature));
		assert_false(agreed(key, data, i * 2 + 1, signature));
	}
	sign(k, data, sizeof(data), signature);
	for (uint32_t bit = 0; bit < 8 * sizeof(signature); bit += 5) {
		signature[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(agreed(key, data, sizeof(data), signature));
		signature[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	for (uint32_t bit = 0; bit < 8 * sizeof(key); bit += 5) {
		key[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(agreed(key, data, sizeof(data), signature));
		key[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	EVP_PKEY_free(k);
}

/* S and the order of the group beyond it give the same point: the second is another signature of the same message. */
static void test_chain_verify__s_is_below_the_order(void **state)
{
	static const uint8_t order[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a,	      0x63,
					  0x12, 0x58, 0xd6, 0x9c, 0xf7,	      0xa2,
					  0xde, 0xf9, 0xde, 0x14, [31] = 0x10};
	uint8_t key[32], signature[64];
	EVP_PKEY *k = author_key(key);
	uint32_t carry = 0;

	(void)state;
	sign(k, "x", 1, signature);
	for (uint32_t i = 0; i < 32; i++) {
		carry += (uint32_t)signature[32 + i] + order[i];
		signature[32 + i] = (uint8_t)carry;
		carry >>= 8;
	}
	assert_false(agreed(key, "x", 1, signature));
	EVP_PKEY_free(k);
}

/* R is the neutral element and S = H(R, A, M) a: the equation holds, so OpenSSL says yes; nobody chose such an R by chance. Made with
 * tests/integration/node/ed25519.py from the seed SHA-256("small R"). */
static void test_chain_verify__r_is_not_of_small_order(void **state)
{
	static const char of_key[] =
		"75f967c512ee21b231a9351f7795df093ae74a57ef1bdd5f37c77ca5ef42a56f";
	static const char of_signature[] =
		"0100000000000000000000000000000000000000000000000000000000000000"
		"d2132a3e2d8aaad6c75ccc2546ffe5a5ccb56229f30e8f8633e7c3ca3e058107";
	static const char message[] = "nobody chose a nonce";
	uint8_t key[32], signature[64];

	(void)state;
	assert_true(pctl_hex_parse(of_key, 32, key) && pctl_hex_parse(of_signature, 64, signature));
	assert_true(pctl_signature_is_of(key, message, sizeof(message) - 1, signature));
	assert_false(agreed(key, message, sizeof(message) - 1, signature));
}

/* ---- what is known ------------------------------------------------------------------------- */

static pctl_request decoded(const uint8_t *bytes, uint64_t n)
{
	pctl_request r;

	OK(pctl_request_decode(bytes, n, NULL, &r));
	return r;
}

/* Forgeries are tried until their digests share with that of the known message all that chooses its place and more. */
static void test_chain_verify__a_place_is_no_proof(void **state)
{
	const uint8_t chain[32] = {7};
	pctl_request q = {
		.kind = PCTL_MSG_CANCEL,
		.as.cancel = {.sender = "alice",
			      .job_id = "00112233445566778899aabbccddeeff00112233445566778899"
					"aabbccddeeff"}};
	pctl_arena *a = pctl_arena_create();
	pctl_verified *v = NULL;
	pctl_cid known, other;
	uint8_t *bytes = NULL;
	uint64_t n = 0, at;
	uint32_t bad, n_tried = 0;
	pctl_request r;

	(void)state;
	q.auth = (pctl_msg_auth){.is_given = 1, .chain = {chain, 32}, .nonce = 1, .expiry = 2};
	OK(author_sign(NULL, NULL, "alice", &q, a, NULL));
	OK(pctl_request_encode(&q, NULL, &bytes, &n));
	OK(pctl_verified_create(NULL, &v));
	r = decoded(bytes, n);
	for (uint32_t i = 0; i < 2; i++) {
		OK(pctl_verified_check(v, &r, NULL, &bad));
		assert_int_equal(bad, 1);
	}
	assert_int_equal(pctl_verified_count(v).computed, 1);
	assert_int_equal(pctl_verified_count(v).known, 1);
	pctl_request_destroy(&r);
	OK(pctl_cid_of(bytes, n, NULL, &known));
	for (at = 0; memcmp(bytes + at, q.auth.signatures[0].value.data, 64) != 0; at++)
		assert_true(at + 64 < n);
	for (uint32_t i = 1; i < 1u << 18; i++) {
		for (uint32_t k = 0; k < 4; k++)
			bytes[at + k] ^= (uint8_t)(i >> (8 * k));
		OK(pctl_cid_of(bytes, n, NULL, &other));
		if (memcmp(known.digest, other.digest, 2) == 0 ||
		    (known.digest[0] == other.digest[0] && n_tried < 4)) {
			r = decoded(bytes, n);
			OK(pctl_verified_check(v, &r, NULL, &bad));
			assert_int_equal(bad, 0);
			pctl_request_destroy(&r);
			n_tried++;
		}
		for (uint32_t k = 0; k < 4; k++)
			bytes[at + k] ^= (uint8_t)(i >> (8 * k));
	}
	/* Two bytes are shared by one in 65,536. */
	assert_true(n_tried > 4);
	pctl_verified_destroy(v);
	free(bytes);
	pctl_arena_destroy(a);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_verify__both_libraries_agree),
		PCTL_TEST(test_chain_verify__s_is_below_the_order),
		PCTL_TEST(test_chain_verify__r_is_not_of_small_order),
		PCTL_TEST(test_chain_verify__a_place_is_no_proof))
