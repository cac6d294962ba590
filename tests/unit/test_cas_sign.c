/* Signatures: the key of a home, and texts sealed by it. The signature itself is judged by RFC 8032's test vectors. */
#include "runtime/cas/sign.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "main.h"

static const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};

static void in_new_directory(char dir[64])
{
	strcpy(dir, "/tmp/pctl-sign-XXXXXX");
	assert_non_null(mkdtemp(dir));
}

static void remove_directory(const char *dir)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/signing.pem", dir);
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
}

/* RFC 8032, section 7.1, tests 1 and 2. */
static void test_sign__rfc_8032(void **state)
{
	static const char key1[] =
		"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
	static const char sig1[] =
		"e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bac"
		"c61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b";
	static const char key2[] =
		"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
	static const char sig2[] =
		"92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e"
		"458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";

	(void)state;
	assert_true(pctl_signature_valid(key1, "", 0, sig1));
	assert_true(pctl_signature_valid(key2, "\x72", 1, sig2));
	assert_false(pctl_signature_valid(key2, "\x73", 1, sig2));
	assert_false(pctl_signature_valid(key1, "\x72", 1, sig2));
	assert_false(pctl_signature_valid("", "\x72", 1, sig2));
	assert_false(pctl_signature_valid(key2, "\x72", 1, "92a0"));
	assert_false(pctl_signature_valid(
		"3D4017C3E843895A92B70AA74D1B7EBC9C982CCF2EC4968CC0CD55F12AF4660C", "\x72", 1,
		sig2));
}

static void test_sign__key_is_made_once_and_private(void **state)
{
	char dir[64], path[128], first[PCTL_PUBLIC_KEY_TEXT];
	struct stat st;
	pctl_signer *s;

	(void)state;
	in_new_directory(dir);
	assert_int_equal(pctl_signer_open(dir, &quiet, &s), PCTL_OK);
	strcpy(first, pctl_signer_public(s));
	assert_int_equal(strlen(first), 64);
	pctl_signer_close(s);
	assert_int_equal(pctl_signer_open(dir, &quiet, &s), PCTL_OK);
	assert_string_equal(first, pctl_signer_public(s));
	pctl_signer_close(s);
	snprintf(path, sizeof(path), "%s/signing.pem", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	remove_directory(dir);
}

static void test_sign__no_key_in_the_file(void **state)
{
	char dir[64], path[128];
	pctl_signer *s;

	(void)state;
	in_new_directory(dir);
	snprintf(path, sizeof(path), "%s/signing.pem", dir);
	assert_int_equal(pctl_file_write(path, "not a key\n", 10, 0, &quiet), PCTL_OK);
	assert_int_equal(pctl_signer_open(dir, &quiet, &s), PCTL_E_IO);
	assert_null(s);
	remove_directory(dir);
}

/* Every byte of a sealed text counts, the seal's own included. */
static void test_sign__every_byte_is_covered(void **state)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	char dir[64], key[PCTL_PUBLIC_KEY_TEXT];
	size_t n_signed;
	pctl_signer *s;

	(void)state;
	in_new_directory(dir);
	assert_int_equal(pctl_signer_open(dir, &quiet, &s), PCTL_OK);
	pctl_str_add(&text, "record : { value = 1; };\n");
	assert_int_equal(pctl_signer_seal(s, &text, &quiet), PCTL_OK);
	assert_int_equal(pctl_sealed_check("t", text.data, text.n, &quiet, &n_signed, key),
			 PCTL_OK);
	assert_int_equal(n_signed, 25);
	assert_string_equal(key, pctl_signer_public(s));
	for (size_t i = 0; i < text.n; i++) {
		text.data[i] ^= 1;
		assert_int_equal(pctl_sealed_check("t", text.data, text.n, &quiet, &n_signed, key),
				 PCTL_E_INVALID);
		assert_int_equal(n_signed, 0);
		text.data[i] ^= 1;
	}
	assert_int_equal(pctl_sealed_check("t", text.data, text.n - 1, &quiet, &n_signed, key),
			 PCTL_E_INVALID);
	assert_int_equal(pctl_sealed_check("t", "", 0, &quiet, &n_signed, key), PCTL_E_INVALID);
	pctl_str_drop(&text);
	pctl_signer_close(s);
	remove_directory(dir);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_sign__rfc_8032), PCTL_TEST(test_sign__key_is_made_once_and_private),
		PCTL_TEST(test_sign__no_key_in_the_file),
		PCTL_TEST(test_sign__every_byte_is_covered))
