/* Key files and signing with them; see keys.h. */
#include "chain/home/keys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>

#include "foundation/base/file.h"
#include "foundation/base/hex.h"
#include "foundation/base/vec.h"

#define KEY_LIMIT 65536u
#define SCRYPT_N 16384u /* 16 MiB; OpenSSL refuses twice as many */
#define SCRYPT_R 8u
#define SCRYPT_P 1u
#define BLOCKS_AHEAD 100u /* a message of this home is good for so many blocks */

static pctl_status refuse(const pctl_call *call, const char *path, const char *why)
{
	return pctl_refuse(call, PC5849_ACCOUNT_KEY, "%s: %s", path, why);
}

/* ---- passphrases --------------------------------------------------------------------------- */

pctl_status pctl_passphrase_read(const char *path, const pctl_call *call, pctl_passphrase *out)
{
	char *text = NULL;
	uint64_t n = 0;
	size_t line;
	pctl_status status;

	memset(out, 0, sizeof(*out));
	if (path == NULL)
		path = getenv("PIPECTL_PASSPHRASE");
	if (path == NULL)
		return PCTL_OK;
	status = pctl_file_read(path, KEY_LIMIT, call, &text, &n);
	if (status != PCTL_OK)
		return status;
	line = strcspn(text, "\n");
	if (line == 0 || line >= sizeof(out->text))
		status = refuse(call, path, "its first line is no passphrase of 1 to 1,024 bytes");
	else
		memcpy(out->text, text, line);
	OPENSSL_cleanse(text, n);
	free(text);
	return status;
}

void pctl_passphrase_clear(pctl_passphrase *p)
{
	OPENSSL_cleanse(p->text, sizeof(p->text));
}

/* ---- files --------------------------------------------------------------------------------- */

static pctl_status keys_dir(pctl_installation *in, const pctl_call *call, const char **out)
{
	pctl_status status = pctl_installation_config(in, call);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	*out = pctl_arena_printf(in->arena, "%s/accounts", in->config->home);
	return *out == NULL ? pctl_no_memory(call, "a path") : PCTL_OK;
}

static pctl_status path_of(pctl_installation *in, const char *name, const char *ending,
			   const pctl_call *call, const char **out)
{
	const char *dir;
	pctl_status status = keys_dir(in, call, &dir);

	*out = NULL;
	if (status == PCTL_OK)
		status = pctl_ledger_check_name(name, call);
	if (status != PCTL_OK)
		return status;
	*out = pctl_arena_printf(in->arena, "%s/%s%s", dir, name, ending);
	return *out == NULL ? pctl_no_memory(call, "a path") : PCTL_OK;
}

/* A new file that nobody else reads; an old one is never replaced. */
static pctl_status write_new(const char *path, const void *data, size_t n, const pctl_call *call)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	int ok;

	if (fd < 0)
		return refuse(call, path,
			      errno == EEXIST ? "there is one already" : strerror(errno));
	ok = write(fd, data, n) == (ssize_t)n && fsync(fd) == 0;
	ok = close(fd) == 0 && ok;
	if (ok)
		return PCTL_OK;
	unlink(path);
	return refuse(call, path, "it cannot be written");
}

/* PKCS #8 as PEM, encrypted where there is a passphrase. */
static BIO *spell(EVP_PKEY *key, const pctl_passphrase *p)
{
	PKCS8_PRIV_KEY_INFO *plain = EVP_PKEY2PKCS8(key);
	BIO *bio = BIO_new(BIO_s_mem());
	X509_ALGOR *how = NULL;
	X509_SIG *sealed = NULL;
	int ok = 0;

	if (plain != NULL && bio != NULL && p->text[0] == '\0') {
		ok = PEM_write_bio_PKCS8_PRIV_KEY_INFO(bio, plain);
	} else if (plain != NULL && bio != NULL) {
		how = PKCS5_pbe2_set_scrypt(EVP_aes_256_cbc(), NULL, 0, NULL, SCRYPT_N, SCRYPT_R,
					    SCRYPT_P);
		sealed = how == NULL ? NULL
				     : PKCS8_set0_pbe(p->text, (int)strlen(p->text), plain, how);
		if (sealed == NULL)
			X509_ALGOR_free(how);
		else
			ok = PEM_write_bio_PKCS8(bio, sealed);
	}
	X509_SIG_free(sealed);
	PKCS8_PRIV_KEY_INFO_free(plain);
	if (ok)
		return bio;
	BIO_free(bio);
	return NULL;
}

static int raw_of(const EVP_PKEY *key, uint8_t out[PCTL_KEY_BYTES])
{
	size_t n = PCTL_KEY_BYTES;

	return EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 &&
	       EVP_PKEY_get_raw_public_key(key, out, &n) == 1 && n == PCTL_KEY_BYTES;
}

static pctl_status write_public(const char *path, const uint8_t raw[PCTL_KEY_BYTES],
				const pctl_call *call)
{
	char text[2 * PCTL_KEY_BYTES + 2];

	pctl_hex_print(raw, PCTL_KEY_BYTES, text);
	text[2 * PCTL_KEY_BYTES] = '\n';
	return write_new(path, text, 2 * PCTL_KEY_BYTES + 1, call);
}

/* A file appears whole or not at all; an old one is never replaced. */
static pctl_status write_whole(pctl_installation *in, const char *path, const void *data, size_t n,
			       const pctl_call *call)
{
	const char *made = pctl_arena_printf(in->arena, "%s.new", path);
	pctl_status status;

	if (made == NULL)
		return pctl_no_memory(call, "a path");
	unlink(made); /* of one that was cut short */
	status = write_new(made, data, n, call);
	if (status == PCTL_OK && link(made, path) != 0)
		status = refuse(call, path,
				errno == EEXIST ? "there is one already" : strerror(errno));
	unlink(made);
	return status;
}

/* The public half comes first, and the key is there with its private half: whatever is cut short between the two leaves a
 * public half of nothing, which the next attempt replaces. */
static pctl_status write_key(pctl_installation *in, const char *path, const char *public_path,
			     EVP_PKEY *key, const pctl_passphrase *p,
			     const uint8_t raw[PCTL_KEY_BYTES], const pctl_call *call)
{
	BIO *bio = spell(key, p);
	char *data = NULL;
	long n = bio == NULL ? 0 : BIO_get_mem_data(bio, &data);
	pctl_status status;

	if (n <= 0)
		status = refuse(call, path, "OpenSSL would not write the key");
	else if (pctl_file_exists(path))
		status = refuse(call, path, "there is one already");
	else {
		unlink(public_path);
		status = write_public(public_path, raw, call);
	}
	if (status == PCTL_OK)
		status = write_whole(in, path, data, (size_t)n, call);
	if (n > 0)
		OPENSSL_cleanse(data, (size_t)n);
	BIO_free(bio);
	return status;
}

/* One at a time makes a key in a home. */
static int lock_dir(const char *dir)
{
	const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static int is_encrypted(const char *path)
{
	char line[64] = "";
	FILE *f = fopen(path, "re");

	if (f == NULL)
		return 0;
	if (fgets(line, sizeof(line), f) == NULL)
		line[0] = '\0';
	fclose(f);
	return strstr(line, "ENCRYPTED") != NULL;
}

/* A key that an earlier version was writing when it was stopped has no public half: it follows from a private one that is open. */
static pctl_status restore_public(const char *path, const char *public_path, const pctl_call *call)
{
	uint8_t raw[PCTL_KEY_BYTES];
	EVP_PKEY *key = NULL;
	FILE *f = is_encrypted(path) ? NULL : fopen(path, "re");
	pctl_status status;

	if (f != NULL) {
		key = PEM_read_PrivateKey(f, NULL, NULL, NULL);
		fclose(f);
	}
	status = key != NULL && raw_of(key, raw)
			 ? write_public(public_path, raw, call)
			 : refuse(call, path,
				  "its public half is missing and does not follow from a file that "
				  "is encrypted or damaged");
	EVP_PKEY_free(key);
	return status;
}

static pctl_status read_entry(pctl_installation *in, const char *name, const pctl_call *call,
			      pctl_key_entry *out)
{
	const char *path, *public_path;
	char *text = NULL;
	uint64_t n = 0;
	pctl_status status = path_of(in, name, ".pem", call, &path);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = path_of(in, name, ".pub", call, &public_path);
	if (status != PCTL_OK)
		return status;
	if (!pctl_file_exists(path))
		return refuse(call, path, "there is no such key");
	if (!pctl_file_exists(public_path))
		status = restore_public(path, public_path, call);
	if (status != PCTL_OK)
		return status;
	status = pctl_file_read(public_path, KEY_LIMIT, call, &text, &n);
	if (status == PCTL_OK && n != 0 && text[n - 1] == '\n')
		text[n - 1] = '\0';
	if (status == PCTL_OK && (!pctl_hex_is(text, 2 * PCTL_KEY_BYTES) ||
				  !pctl_hex_parse(text, PCTL_KEY_BYTES, out->key)))
		status = refuse(call, public_path, "it holds no public key of 64 hex digits");
	free(text);
	snprintf(out->name, sizeof(out->name), "%s", name);
	out->is_encrypted = (uint32_t)is_encrypted(path);
	return status == PCTL_OK ? pctl_account_of_key(out->key, call, out->account) : status;
}

pctl_status pctl_key_new(pctl_installation *in, const char *name, const pctl_passphrase *passphrase,
			 const pctl_call *call, pctl_key_entry *out)
{
	uint8_t raw[PCTL_KEY_BYTES];
	const char *dir, *path, *public_path;
	EVP_PKEY *key = NULL;
	int lock;
	pctl_status status = keys_dir(in, call, &dir);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = path_of(in, name, ".pem", call, &path);
	if (status == PCTL_OK)
		status = path_of(in, name, ".pub", call, &public_path);
	if (status == PCTL_OK)
		status = pctl_file_make_dirs(dir, call);
	if (status != PCTL_OK)
		return status;
	lock = lock_dir(dir);
	if (lock < 0)
		return refuse(call, dir, strerror(errno));
	key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	if (key == NULL || !raw_of(key, raw))
		status = refuse(call, path, "OpenSSL would not make a key");
	else
		status = write_key(in, path, public_path, key, passphrase, raw, call);
	EVP_PKEY_free(key);
	close(lock);
	return status == PCTL_OK ? read_entry(in, name, call, out) : status;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const pctl_key_entry *)a)->name, ((const pctl_key_entry *)b)->name);
}

pctl_status pctl_keys_list(pctl_installation *in, const pctl_call *call, pctl_key_entry **out,
			   uint32_t *n)
{
	PCTL_VEC(pctl_key_entry) list = {0};
	const char *dir;
	pctl_status status = keys_dir(in, call, &dir);
	DIR *d;

	*out = NULL;
	*n = 0;
	if (status != PCTL_OK)
		return status;
	d = opendir(dir);
	if (d == NULL)
		return errno == ENOENT ? PCTL_OK : refuse(call, dir, strerror(errno));
	for (const struct dirent *e; status == PCTL_OK && (e = readdir(d)) != NULL;) {
		char name[PCTL_KEY_NAME_SIZE];
		const size_t length = strlen(e->d_name);
		pctl_key_entry one;

		if (length <= 4 || length - 4 >= sizeof(name) ||
		    strcmp(e->d_name + length - 4, ".pem") != 0)
			continue;
		memcpy(name, e->d_name, length - 4);
		name[length - 4] = '\0';
		status = read_entry(in, name, call, &one);
		if (status == PCTL_OK && !PCTL_VEC_PUSH(&list, one))
			status = pctl_no_memory(call, "keys");
	}
	closedir(d);
	if (status != PCTL_OK) {
		free(list.items);
		return status;
	}
	if (list.n > 1)
		qsort(list.items, list.n, sizeof(list.items[0]), by_name);
	*out = list.items;
	*n = (uint32_t)list.n;
	return PCTL_OK;
}

/* ---- signing ------------------------------------------------------------------------------- */

static pctl_status open_key(pctl_installation *in, const pctl_key_entry *e,
			    const pctl_passphrase *passphrase, const pctl_call *call,
			    EVP_PKEY **out)
{
	uint8_t raw[PCTL_KEY_BYTES];
	const char *path;
	char *text = NULL;
	uint64_t n = 0;
	BIO *bio;
	pctl_status status = path_of(in, e->name, ".pem", call, &path);

	*out = NULL;
	if (status == PCTL_OK)
		status = pctl_file_read(path, KEY_LIMIT, call, &text, &n);
	if (status != PCTL_OK)
		return status;
	if (e->is_encrypted && passphrase->text[0] == '\0')
		status = refuse(call, path,
				"it is encrypted, and neither --passphrase nor PIPECTL_PASSPHRASE "
				"names a file with the passphrase");
	bio = status == PCTL_OK ? BIO_new_mem_buf(text, (int)n) : NULL;
	if (bio != NULL)
		*out = PEM_read_bio_PrivateKey(bio, NULL, NULL,
					       (void *)(uintptr_t)passphrase->text);
	BIO_free(bio);
	OPENSSL_cleanse(text, n);
	free(text);
	if (status == PCTL_OK &&
	    (*out == NULL || !raw_of(*out, raw) || memcmp(raw, e->key, sizeof(raw)) != 0)) {
		status = refuse(call, path,
				*out == NULL ? "the passphrase does not open it, or it is damaged"
					     : "its public half is another key's");
		EVP_PKEY_free(*out);
		*out = NULL;
	}
	return status;
}

/* The signature of `auth` as it is, in the arena. */
static pctl_status sign_with(pctl_installation *in, const pctl_key_entry *e,
			     const pctl_passphrase *passphrase, const pctl_request *r,
			     pctl_arena *a, const pctl_call *call, pctl_msg_signature *out)
{
	uint8_t *bytes = NULL, *value = pctl_arena_alloc(a, PCTL_MESSAGE_SIGNED_BYTES);
	uint8_t *key_bytes = pctl_arena_alloc(a, PCTL_KEY_BYTES);
	size_t n_value = PCTL_MESSAGE_SIGNED_BYTES;
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	EVP_PKEY *key = NULL;
	uint64_t n = 0;
	pctl_status status = value == NULL || key_bytes == NULL || md == NULL
				     ? pctl_no_memory(call, "a signature")
				     : pctl_request_signed(r, call, &bytes, &n);

	if (status == PCTL_OK)
		status = open_key(in, e, passphrase, call, &key);
	if (status == PCTL_OK && (EVP_DigestSignInit(md, NULL, NULL, NULL, key) != 1 ||
				  EVP_DigestSign(md, value, &n_value, bytes, n) != 1))
		status = refuse(call, e->name, "OpenSSL would not sign");
	if (status == PCTL_OK) {
		memcpy(key_bytes, e->key, PCTL_KEY_BYTES);
		*out = (pctl_msg_signature){{key_bytes, PCTL_KEY_BYTES},
					    {value, PCTL_MESSAGE_SIGNED_BYTES}};
	}
	EVP_PKEY_free(key);
	EVP_MD_CTX_free(md);
	free(bytes);
	return status;
}

static int by_key(const void *a, const void *b)
{
	return memcmp(((const pctl_msg_signature *)a)->key.data,
		      ((const pctl_msg_signature *)b)->key.data, PCTL_KEY_BYTES);
}

pctl_status pctl_key_sign(pctl_installation *in, const char *name,
			  const pctl_passphrase *passphrase, const void *request, uint64_t n,
			  const pctl_call *call, uint8_t **out, uint64_t *n_out)
{
	pctl_request r = {.kind = 0}, more;
	pctl_msg_signature *list = NULL;
	pctl_arena *a = pctl_arena_create();
	pctl_key_entry e;
	uint32_t k = 0;
	pctl_status status =
		a == NULL ? pctl_no_memory(call, "a message") : read_entry(in, name, call, &e);

	*out = NULL;
	*n_out = 0;
	if (status == PCTL_OK)
		status = pctl_request_decode(request, n, call, &r);
	if (status == PCTL_OK && !r.auth.is_given)
		status = pctl_refuse(call, PC5840_AUTH_MISSING,
				     "the message has no field `auth` to be signed");
	if (status == PCTL_OK) {
		list = pctl_arena_array(a, r.auth.n_signatures + 1, sizeof(*list));
		if (list == NULL)
			status = pctl_no_memory(call, "a message");
	}
	for (uint32_t i = 0; status == PCTL_OK && i < r.auth.n_signatures; i++)
		if (memcmp(r.auth.signatures[i].key.data, e.key, PCTL_KEY_BYTES) != 0)
			list[k++] = r.auth.signatures[i];
	if (status == PCTL_OK)
		status = sign_with(in, &e, passphrase, &r, a, call, &list[k]);
	if (status == PCTL_OK) {
		qsort(list, k + 1, sizeof(*list), by_key);
		more = r;
		more.owner = NULL;
		more.auth.signatures = list;
		more.auth.n_signatures = k + 1;
		status = pctl_request_encode(&more, call, out, n_out);
	}
	pctl_request_destroy(&r);
	pctl_arena_destroy(a);
	return status;
}

/* ---- the author of a home ------------------------------------------------------------------ */

static int is_of(const pctl_account_control *c, const pctl_key_entry *e, const char *sender)
{
	if (c->threshold == 0)
		return strcmp(e->account, sender) == 0;
	for (uint32_t i = 0; i < c->n_keys; i++)
		if (memcmp(c->keys[i], e->key, PCTL_KEY_BYTES) == 0)
			return 1;
	return 0;
}

/* The first keys of an account of a chain that began under version 1 all sign for themselves (transition/authorise.c). */
static void first_keys(const pctl_msg_keys *m, pctl_account_control *out)
{
	for (uint32_t i = 0; i < m->n_keys && i < PCTL_MESSAGE_KEYS_MAX; i++)
		if (m->keys[i].n == PCTL_KEY_BYTES)
			memcpy(out->keys[out->n_keys++], m->keys[i].data, PCTL_KEY_BYTES);
	out->threshold = out->n_keys;
}

static pctl_status author(void *ctx, pctl_chain *c, const char *sender, pctl_request *r,
			  pctl_arena *arena, const pctl_call *call)
{
	pctl_installation *in = ctx;
	pctl_msg_signature *list = pctl_arena_array(arena, PCTL_MESSAGE_KEYS_MAX, sizeof(*list));
	pctl_passphrase passphrase = {{0}};
	pctl_account_control control;
	pctl_key_entry *keys = NULL;
	uint32_t n = 0, k = 0, wanted;
	pctl_status status =
		list == NULL ? pctl_no_memory(call, "a message")
			     : pctl_account_control_read(pctl_cursor(c), sender, call, &control);

	if (status == PCTL_OK && control.threshold == 0 && r->kind == PCTL_MSG_KEYS &&
	    strncmp(sender, "key.", 4) != 0)
		first_keys(&r->as.keys, &control);
	if (status == PCTL_OK)
		status = pctl_keys_list(in, call, &keys, &n);
	if (status == PCTL_OK)
		status = pctl_passphrase_read(NULL, call, &passphrase);
	wanted = status == PCTL_OK && control.threshold != 0 ? control.threshold : 1;
	for (uint32_t i = 0; status == PCTL_OK && i < n && k < wanted; i++)
		if (is_of(&control, &keys[i], sender))
			status = sign_with(in, &keys[i], &passphrase, r, arena, call, &list[k++]);
	if (status == PCTL_OK && k < wanted)
		status = pctl_refuse(call, PC5844_AUTH_KEY,
				     "this home has %u of the %u keys that sign for %s", k, wanted,
				     sender);
	if (status == PCTL_OK) {
		qsort(list, k, sizeof(*list), by_key);
		r->auth.signatures = list;
		r->auth.n_signatures = k;
	}
	pctl_passphrase_clear(&passphrase);
	free(keys);
	return status;
}

void pctl_home_author(pctl_installation *in, pctl_chain *c)
{
	pctl_chain_set_author(c, author, in, BLOCKS_AHEAD);
}
