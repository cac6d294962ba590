/* CIDs by their digests: their order, and digests as hexadecimal digits. */
#include "main.h"

#include <string.h>

#include "runtime/cas/cid.h"

#define CID_HELLO "bafkreicysg23kiwv34eg2d7qweipxwosdo2py4ldv42nbauguluen5v6am" /* "hello\n" */
#define CID_A "bafkreigks6arfsq3xxfpvqrrwonchxcnu6do76auprhhfomao6c273sixm"

static pctl_cid cid(const char *text)
{
	pctl_cid out;

	assert_true(pctl_cid_parse(text, &out));
	return out;
}

/* Digests that differ in one bit, in each place, and any two: their order is that of their texts. */
static void cas__order_is_that_of_the_texts(void **state)
{
	char x[PCTL_CID_TEXT_SIZE], y[PCTL_CID_TEXT_SIZE];
	uint64_t random = 5;

	(void)state;
	for (uint32_t i = 0; i < 4096; i++) {
		pctl_cid a = cid(CID_HELLO), b;
		int order, wanted;

		for (uint32_t k = 0; k < PCTL_DIGEST_BYTES; k++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			a.digest[k] = (uint8_t)(random >> 56);
		}
		b = a;
		if (i % 2 == 0)
			b.digest[i / 2 / 8 % PCTL_DIGEST_BYTES] ^= (uint8_t)(1u << i / 2 % 8);
		else
			b.digest[i / 2 % PCTL_DIGEST_BYTES] ^= (uint8_t)(random >> 32);
		order = pctl_cid_compare(&a, &b);
		wanted = strcmp(pctl_cid_format(&a, x), pctl_cid_format(&b, y));
		assert_int_equal((order > 0) - (order < 0), (wanted > 0) - (wanted < 0));
		assert_int_equal(pctl_cid_compare(&a, &a), 0);
	}
}

static void cas__hex(void **state)
{
	char text[65];
	uint8_t digest[32];
	pctl_cid c = cid(CID_A);

	(void)state;
	assert_string_equal(pctl_digest_hex(c.digest, text),
			    "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb");
	assert_true(pctl_digest_parse_hex(text, digest));
	assert_memory_equal(digest, c.digest, 32);
	text[5] = 'G';
	assert_false(pctl_digest_parse_hex(text, digest));
	text[5] = 0;
	assert_false(pctl_digest_parse_hex(text, digest));
}

PCTL_TESTS_MAIN(PCTL_TEST(cas__order_is_that_of_the_texts), PCTL_TEST(cas__hex))
