/* For tests of version 2 of the rules: one key that controls every account which they send under, and an author with it. */
#ifndef PIPECTL_TESTS_CHAIN_AUTHOR_H
#define PIPECTL_TESTS_CHAIN_AUTHOR_H

#include <openssl/evp.h>

#include "chain/chain.h"
#include "foundation/base/arena.h"

static const char *const authored_names[] = {"alice", "ann", "bank", "bob", "node", "zoe"};

/* The key whose seed is zeros. */
static inline EVP_PKEY *author_key(uint8_t out[32])
{
	static const uint8_t seed[32];
	EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, sizeof(seed));
	size_t n = 32;

	assert_non_null(key);
	assert_int_equal(EVP_PKEY_get_raw_public_key(key, out, &n), 1);
	return key;
}

static inline pctl_status author_sign(void *ctx, pctl_chain *c, const char *sender, pctl_request *r,
				      pctl_arena *a, const pctl_call *on)
{
	pctl_msg_signature *s = pctl_arena_alloc(a, sizeof(*s));
	uint8_t *raw = pctl_arena_alloc(a, 96), *bytes;
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	EVP_PKEY *key = author_key(raw);
	size_t n_value = 64;
	uint64_t n;
	const pctl_status status = pctl_request_signed(r, on, &bytes, &n);

	(void)ctx;
	(void)c;
	(void)sender;
	if (status == PCTL_OK) {
		assert_int_equal(EVP_DigestSignInit(md, NULL, NULL, NULL, key), 1);
		assert_int_equal(EVP_DigestSign(md, raw + 32, &n_value, bytes, n), 1);
		*s = (pctl_msg_signature){{raw, 32}, {raw + 32, 64}};
		r->auth.signatures = s;
		r->auth.n_signatures = 1;
	}
	free(bytes);
	EVP_MD_CTX_free(md);
	EVP_PKEY_free(key);
	return status;
}

/* Of a chain that is opened; is_new: it has not begun, so that its accounts get the key, and the role to make gas. */
static inline void author_begin(pctl_chain *c, int is_new, const pctl_call *on)
{
	uint8_t raw[32];
	const pctl_msg_bytes one = {raw, sizeof(raw)};

	EVP_PKEY_free(author_key(raw));
	for (size_t i = 0; is_new && i < sizeof(authored_names) / sizeof(authored_names[0]); i++) {
		const char *name = authored_names[i];
		const pctl_request keys = {.kind = PCTL_MSG_KEYS, .as.keys = {name, &one, 1, 1}};
		const pctl_request role = {.kind = PCTL_MSG_ROLE,
					   .as.role = {name, name, PCTL_ROLE_CREDIT, 0}};

		assert_int_equal(pctl_chain_apply_genesis(c, &keys, on), PCTL_OK);
		assert_int_equal(pctl_chain_apply_genesis(c, &role, on), PCTL_OK);
	}
	pctl_chain_set_author(c, author_sign, NULL, 100);
}

#endif
