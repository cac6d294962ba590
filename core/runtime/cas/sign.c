/* Implementation of sign.h over OpenSSL's EVP. */
#include "runtime/cas/sign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/pem.h>

#include "foundation/base/file.h"
#include "foundation/base/hex.h"

#define KEY_FILE_LIMIT 65536u
#define KEY_BYTES 32u
#define SIGNATURE_BYTES 64u

struct pctl_signer {
	EVP_PKEY *key;
	char public_text[PCTL_PUBLIC_KEY_TEXT];
};

static const char seal_start[] = "signature : { key = \"";
static const char seal_middle[] = "\"; value = \"";
static const char seal_end[] = "\"; };\n";

/* A new key under a name of its own, then linked to its place: of two makers the first wins. */
static pctl_status make_key(const char *path, const pctl_call *call)
{
	EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	pctl_str_buf name = PCTL_STR_BUF_INIT;
	char *temporary = NULL;
	FILE *f = NULL;
	int fd = -1, ok = 0;

	pctl_str_addf(&name, "%s.XXXXXX", path);
	temporary = pctl_str_finish(&name);
	if (key == NULL || temporary == NULL)
		goto out;
	fd = mkostemp(temporary, O_CLOEXEC); /* threads make one, too */
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (f == NULL) {
		if (fd >= 0)
			close(fd);
		goto out;
	}
	ok = PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL) == 1 && fflush(f) == 0 &&
	     fsync(fileno(f)) == 0;
	ok = fclose(f) == 0 && ok;
	ok = ok && (link(temporary, path) == 0 || errno == EEXIST);
	unlink(temporary);
out:
	EVP_PKEY_free(key);
	free(temporary);
	return ok ? PCTL_OK
		  : pctl_refuse(call, PC5011_CAS_KEY, "%s: a new key cannot be made there", path);
}

static pctl_status read_key(const char *path, const pctl_call *call, EVP_PKEY **out)
{
	unsigned char raw[32];
	size_t n_raw = sizeof(raw);
	char *text = NULL;
	uint64_t n = 0;
	BIO *bio;
	pctl_status status = pctl_file_read(path, KEY_FILE_LIMIT, call, &text, &n);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	bio = BIO_new_mem_buf(text, (int)n);
	if (bio != NULL)
		*out = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
	BIO_free(bio);
	OPENSSL_cleanse(text, n);
	free(text);
	if (*out != NULL && EVP_PKEY_get_raw_public_key(*out, raw, &n_raw) == 1 &&
	    EVP_PKEY_get_id(*out) == EVP_PKEY_ED25519)
		return PCTL_OK;
	EVP_PKEY_free(*out);
	*out = NULL;
	return pctl_refuse(call, PC5011_CAS_KEY, "%s holds no Ed25519 private key", path);
}

pctl_status pctl_signer_open(const char *dir, const pctl_call *call, pctl_signer **out)
{
	char *path = pctl_path_join(dir, "signing.pem");
	pctl_signer *s = calloc(1, sizeof(*s));
	unsigned char raw[32];
	size_t n = sizeof(raw);
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (path == NULL || s == NULL) {
		status = pctl_no_memory(call, "a key");
		goto out;
	}
	status = pctl_file_make_dirs(dir, call);
	if (status == PCTL_OK && !pctl_file_exists(path))
		status = make_key(path, call);
	if (status == PCTL_OK)
		status = read_key(path, call, &s->key);
	if (status != PCTL_OK)
		goto out;
	EVP_PKEY_get_raw_public_key(s->key, raw, &n);
	pctl_hex_print(raw, sizeof(raw), s->public_text);
	*out = s;
	s = NULL;
out:
	pctl_signer_close(s);
	free(path);
	return status;
}

void pctl_signer_close(pctl_signer *s)
{
	if (s == NULL)
		return;
	EVP_PKEY_free(s->key);
	free(s);
}

const char *pctl_signer_public(const pctl_signer *s)
{
	return s->public_text;
}

pctl_status pctl_signer_sign(const pctl_signer *s, const void *data, size_t n,
			     const pctl_call *call, char out[PCTL_SIGNATURE_TEXT])
{
	unsigned char signature[64];
	size_t n_signature = sizeof(signature);
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	const int ok = md != NULL && EVP_DigestSignInit(md, NULL, NULL, NULL, s->key) == 1 &&
		       EVP_DigestSign(md, signature, &n_signature, data, n) == 1 &&
		       n_signature == sizeof(signature);

	EVP_MD_CTX_free(md);
	out[0] = '\0';
	if (!ok)
		return pctl_refuse(call, PC5011_CAS_KEY, "OpenSSL would not sign");
	pctl_hex_print(signature, sizeof(signature), out);
	return PCTL_OK;
}

int pctl_signature_is_of(const uint8_t *key, const void *data, size_t n, const uint8_t *signature)
{
	EVP_PKEY *public_key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, KEY_BYTES);
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	const int ok = public_key != NULL && md != NULL &&
		       EVP_DigestVerifyInit(md, NULL, NULL, NULL, public_key) == 1 &&
		       EVP_DigestVerify(md, signature, SIGNATURE_BYTES, data, n) == 1;

	EVP_MD_CTX_free(md);
	EVP_PKEY_free(public_key);
	return ok;
}

int pctl_signature_valid(const char *key, const void *data, size_t n, const char *signature)
{
	uint8_t raw[KEY_BYTES], bytes[SIGNATURE_BYTES];

	return pctl_hex_is(key, 2 * sizeof(raw)) && pctl_hex_parse(key, sizeof(raw), raw) &&
	       pctl_hex_is(signature, 2 * sizeof(bytes)) &&
	       pctl_hex_parse(signature, sizeof(bytes), bytes) &&
	       pctl_signature_is_of(raw, data, n, bytes);
}

pctl_status pctl_signer_seal(const pctl_signer *s, pctl_str_buf *text, const pctl_call *call)
{
	char value[PCTL_SIGNATURE_TEXT];
	pctl_status status;

	if (text->failed)
		return pctl_no_memory(call, "a record");
	status = pctl_signer_sign(s, text->data == NULL ? "" : text->data, text->n, call, value);
	if (status != PCTL_OK)
		return status;
	pctl_str_addf(text, "%s%s%s%s%s", seal_start, s->public_text, seal_middle, value, seal_end);
	return text->failed ? pctl_no_memory(call, "a record") : PCTL_OK;
}

pctl_status pctl_sealed_check(const char *name, const char *text, size_t n, const pctl_call *call,
			      size_t *n_signed, char key[PCTL_PUBLIC_KEY_TEXT])
{
	const size_t n_start = sizeof(seal_start) - 1, n_middle = sizeof(seal_middle) - 1,
		     n_end = sizeof(seal_end) - 1;
	const size_t n_seal =
		n_start + (PCTL_PUBLIC_KEY_TEXT - 1) + n_middle + (PCTL_SIGNATURE_TEXT - 1) + n_end;
	char value[PCTL_SIGNATURE_TEXT];
	const char *seal;

	*n_signed = 0;
	key[0] = '\0';
	if (n < n_seal)
		return pctl_refuse(call, PC5012_CAS_SIGNATURE, "%s carries no signature", name);
	seal = text + (n - n_seal);
	memcpy(key, seal + n_start, PCTL_PUBLIC_KEY_TEXT - 1);
	key[PCTL_PUBLIC_KEY_TEXT - 1] = '\0';
	memcpy(value, seal + n_start + PCTL_PUBLIC_KEY_TEXT - 1 + n_middle,
	       PCTL_SIGNATURE_TEXT - 1);
	value[PCTL_SIGNATURE_TEXT - 1] = '\0';
	if (memcmp(seal, seal_start, n_start) != 0 ||
	    memcmp(seal + n_start + PCTL_PUBLIC_KEY_TEXT - 1, seal_middle, n_middle) != 0 ||
	    memcmp(text + n - n_end, seal_end, n_end) != 0)
		return pctl_refuse(call, PC5012_CAS_SIGNATURE,
				   "%s carries no signature as its last line", name);
	if (!pctl_signature_valid(key, text, n - n_seal, value))
		return pctl_refuse(call, PC5012_CAS_SIGNATURE,
				   "%s: the signature is not that of key %.16s.. over these bytes",
				   name, key);
	*n_signed = n - n_seal;
	return PCTL_OK;
}
