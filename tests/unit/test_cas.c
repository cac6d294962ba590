/* CIDs and stores: known CIDs, both kinds of store under one set of tests, damage of every kind,
 * gc, pins, read-only. The expected CIDs were made with Python's hashlib and base64, the first two
 * are also IPFS's published ones. */
#include "main.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "runtime/cas/store.h"
#include "foundation/diag/diag.h"

#define CID_EMPTY "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"
#define CID_HELLO "bafkreicysg23kiwv34eg2d7qweipxwosdo2py4ldv42nbauguluen5v6am" /* "hello\n" */
#define CID_A "bafkreigks6arfsq3xxfpvqrrwonchxcnu6do76auprhhfomao6c273sixm"
#define CID_BIG "bafkreihmatmun47nbr3mkpx2iy3b2y2c2tbmrvqw2vswq4iyf6o3jdostu"
#define BIG_BYTES (3u << 20)

static char dir[64];
static pctl_diag_list *diags;

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/pctl-cas-XXXXXX");
	diags = pctl_diag_list_create();
	return mkdtemp(dir) == NULL || chdir(dir) != 0;
}

static int drop_dir(void **state)
{
	char command[96];

	(void)state;
	pctl_diag_list_destroy(diags);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return chdir("/") != 0 || system(command) != 0;
}

static const pctl_call *call(void)
{
	return pctl_diag_list_call(diags);
}

static uint32_t last_code(void)
{
	const uint32_t n = pctl_diag_list_count(diags);

	return n > 0 ? pctl_diag_list_at(diags, n - 1)->code : 0;
}

static pctl_cid cid(const char *text)
{
	pctl_cid out;

	assert_true(pctl_cid_parse(text, &out));
	return out;
}

static uint8_t *big_bytes(void)
{
	uint8_t *data = malloc(BIG_BYTES);

	for (uint32_t i = 0; i < BIG_BYTES; i++)
		data[i] = (uint8_t)(i * 7 + i / 251);
	return data;
}

static void has_text(const pctl_cid *c, const char *wanted)
{
	char text[PCTL_CID_TEXT_SIZE];

	assert_string_equal(pctl_cid_format(c, text), wanted);
}

static void cas__known_cids(void **state)
{
	uint8_t *big = big_bytes(), bytes[256];
	pctl_cid c;

	(void)state;
	assert_int_equal(pctl_cid_of("", 0, NULL, &c), PCTL_OK);
	has_text(&c, CID_EMPTY);
	assert_int_equal(pctl_cid_of("hello\n", 6, NULL, &c), PCTL_OK);
	has_text(&c, CID_HELLO);
	assert_int_equal(pctl_cid_of("a", 1, NULL, &c), PCTL_OK);
	has_text(&c, CID_A);
	for (uint32_t i = 0; i < 256; i++)
		bytes[i] = (uint8_t)i;
	assert_int_equal(pctl_cid_of(bytes, 256, NULL, &c), PCTL_OK);
	has_text(&c, "bafkreicav7zotuwysixepl6umshgsz2jofmhqx55dwuhbzyrajtl7fciqa");
	assert_int_equal(pctl_cid_of(big, BIG_BYTES, NULL, &c), PCTL_OK);
	has_text(&c, CID_BIG);
	free(big);
}

static void cas__hasher_in_pieces(void **state)
{
	uint8_t *big = big_bytes();
	pctl_hasher *h = NULL;
	pctl_cid c;

	(void)state;
	assert_int_equal(pctl_hasher_create(NULL, &h), PCTL_OK);
	for (uint32_t at = 0, step = 1; at < BIG_BYTES; at += step, step = step * 3 + 1) {
		if (step > BIG_BYTES - at)
			step = BIG_BYTES - at;
		assert_int_equal(pctl_hasher_update(h, big + at, step), PCTL_OK);
	}
	assert_int_equal(pctl_hasher_finish(h, &c), PCTL_OK);
	has_text(&c, CID_BIG);
	pctl_hasher_destroy(NULL);
	free(big);
}

static void cas__cid_text_is_canonical(void **state)
{
	char text[PCTL_CID_TEXT_SIZE + 2];
	pctl_cid c;

	(void)state;
	assert_true(pctl_cid_parse(CID_HELLO, &c));
	assert_false(pctl_cid_parse("", &c));
	assert_false(
		pctl_cid_parse("Bafkreicysg23kiwv34eg2d7qweipxwosdo2py4ldv42nbauguluen5v6am", &c));
	assert_false(
		pctl_cid_parse("bafkreicysg23kiwv34eg2d7qweipxwosdo2py4ldv42nbauguluen5v6a", &c));
	assert_false(pctl_cid_parse(CID_HELLO "a", &c));
	/* Another codec (dag-pb), and an upper-case digit. */
	assert_false(
		pctl_cid_parse("bafybeicysg23kiwv34eg2d7qweipxwosdo2py4ldv42nbauguluen5v6am", &c));
	assert_false(
		pctl_cid_parse("bafkreicysg23kiwv34eg2d7qweipxwosdo2py4ldv42nbauguluen5v6aM", &c));
	assert_int_equal(pctl_cid_read(CID_HELLO, call(), &c), PCTL_OK);
	assert_int_equal(
		pctl_cid_read("QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG", call(), &c),
		PCTL_E_INVALID);
	assert_int_equal(last_code(), PC5005_CAS_CID);
	/* The last character carries two bits that must be zero. */
	strcpy(text, CID_HELLO);
	for (const char *d = "abcdefghijklmnopqrstuvwxyz234567"; *d != 0; d++) {
		text[58] = *d;
		assert_int_equal(pctl_cid_parse(text, &c),
				 ((d - "abcdefghijklmnopqrstuvwxyz234567") & 3) == 0);
	}
}

/* ---- any store
 * -------------------------------------------------------------------------------------------------
 */

typedef struct seen {
	char text[16][PCTL_CID_TEXT_SIZE];
	uint64_t bytes[16];
	uint32_t n, stop_at;
} seen;

static int see(void *ctx, const pctl_cid *c, uint64_t n_bytes)
{
	seen *s = ctx;

	pctl_cid_format(c, s->text[s->n]);
	s->bytes[s->n++] = n_bytes;
	return s->n == s->stop_at;
}

static int keep_a(void *ctx, const pctl_cid *c)
{
	char text[PCTL_CID_TEXT_SIZE];

	(void)ctx;
	return strcmp(pctl_cid_format(c, text), CID_A) == 0;
}

static void exercise(pctl_store *s)
{
	uint8_t *big = big_bytes();
	pctl_store_report r;
	pctl_cid c;
	pctl_blob b;
	seen list = {0};
	uint64_t n = 1;
	int fd;

	assert_int_equal(pctl_store_put(s, "", 0, call(), &c), PCTL_OK);
	has_text(&c, CID_EMPTY);
	assert_int_equal(pctl_store_put(s, "hello\n", 6, call(), &c), PCTL_OK);
	assert_int_equal(pctl_store_put(s, "hello\n", 6, call(), NULL), PCTL_OK);
	assert_int_equal(pctl_file_write("big", big, BIG_BYTES, 0, NULL), PCTL_OK);
	assert_int_equal(pctl_store_put_file(s, "big", call(), &c, &n), PCTL_OK);
	has_text(&c, CID_BIG);
	assert_int_equal(n, BIG_BYTES);
	assert_int_equal(pctl_store_put_file(s, "big", call(), &c, &n), PCTL_OK);
	has_text(&c, CID_BIG);
	fd = open("big", O_RDONLY);
	assert_int_equal(pctl_store_put_fd(s, fd, call(), &c, &n), PCTL_OK);
	close(fd);
	has_text(&c, CID_BIG);
	assert_int_equal(pctl_store_put_file(s, "absent", call(), &c, &n), PCTL_E_IO);

	assert_int_equal(pctl_store_get(s, &(pctl_cid){0}, call(), &b), PCTL_E_NOT_FOUND);
	assert_int_equal(last_code(), PC5004_CAS_ABSENT);
	c = cid(CID_EMPTY);
	assert_int_equal(pctl_store_get(s, &c, call(), &b), PCTL_OK);
	assert_int_equal(b.n_bytes, 0);
	assert_non_null(b.data);
	pctl_blob_release(&b);
	c = cid(CID_BIG);
	assert_int_equal(pctl_store_get(s, &c, call(), &b), PCTL_OK);
	assert_int_equal(b.n_bytes, BIG_BYTES);
	assert_memory_equal(b.data, big, BIG_BYTES);
	pctl_blob_release(&b);
	assert_int_equal(pctl_store_get_file(s, &c, "copy", call()), PCTL_OK);
	assert_int_equal(system("cmp -s big copy"), 0);
	assert_true(pctl_store_has(s, &c));
	assert_int_equal(pctl_store_size(s, &c, call(), &n), PCTL_OK);
	assert_int_equal(n, BIG_BYTES);
	c = cid(CID_A);
	assert_false(pctl_store_has(s, &c));
	assert_int_equal(pctl_store_size(s, &c, call(), &n), PCTL_E_NOT_FOUND);
	assert_int_equal(pctl_store_pin(s, &c, call()), PCTL_E_NOT_FOUND);

	assert_int_equal(pctl_store_list(s, call(), see, &list), PCTL_OK);
	assert_int_equal(list.n, 3);
	assert_string_equal(list.text[0], CID_HELLO);
	assert_string_equal(list.text[1], CID_EMPTY);
	assert_string_equal(list.text[2], CID_BIG);
	assert_int_equal(list.bytes[0], 6);
	list = (seen){.stop_at = 1};
	assert_int_equal(pctl_store_list(s, call(), see, &list), PCTL_OK);
	assert_int_equal(list.n, 1);

	/* Nothing is old yet; without grace the pinned and the kept stay. */
	c = cid(CID_HELLO);
	assert_int_equal(pctl_store_put(s, "a", 1, call(), NULL), PCTL_OK);
	assert_int_equal(pctl_store_pin(s, &c, call()), PCTL_OK);
	assert_int_equal(pctl_store_pin(s, &c, call()), PCTL_OK);
	assert_true(pctl_store_is_pinned(s, &c));
	list = (seen){0};
	assert_int_equal(pctl_store_list_pins(s, call(), see, &list), PCTL_OK);
	assert_int_equal(list.n, 1);
	assert_string_equal(list.text[0], CID_HELLO);
	assert_int_equal(pctl_store_gc(s, 3600, 0, NULL, NULL, call(), &r), PCTL_OK);
	assert_int_equal(r.removed, 0);
	assert_int_equal(r.blobs, 4);
	assert_int_equal(pctl_store_gc(s, 0, 1, keep_a, NULL, call(), &r), PCTL_OK);
	assert_int_equal(r.removed, 2);
	assert_int_equal(pctl_store_gc(s, 0, 0, keep_a, NULL, call(), &r), PCTL_OK);
	assert_int_equal(r.removed, 2);
	assert_int_equal(r.removed_bytes, BIG_BYTES);
	list = (seen){0};
	assert_int_equal(pctl_store_list(s, call(), see, &list), PCTL_OK);
	assert_int_equal(list.n, 2);
	assert_int_equal(pctl_store_unpin(s, &c, call()), PCTL_OK);
	assert_int_equal(pctl_store_unpin(s, &c, call()), PCTL_OK);
	assert_int_equal(pctl_store_gc(s, 0, 0, NULL, NULL, call(), &r), PCTL_OK);
	assert_int_equal(r.removed, 2);
	assert_int_equal(pctl_store_put(s, "a", 1, call(), &c), PCTL_OK);
	assert_int_equal(pctl_store_verify(s, call(), &r), PCTL_OK);
	assert_int_equal(r.blobs, 1);
	assert_int_equal(r.damaged, 0);

	/* Batches. */
	assert_int_equal(pctl_store_batch_commit(s, call()), PCTL_E_INTERNAL);
	assert_int_equal(last_code(), PC5008_CAS_BATCH);
	assert_int_equal(pctl_store_batch_begin(s, call()), PCTL_OK);
	assert_int_equal(pctl_store_batch_begin(s, call()), PCTL_E_INTERNAL);
	assert_int_equal(last_code(), PC5008_CAS_BATCH);
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(pctl_store_put(s, &i, i < 100 ? 4 : 3, call(), &c), PCTL_OK);
	assert_int_equal(pctl_store_get(s, &c, call(), &b), PCTL_OK); /* also before the commit */
	pctl_blob_release(&b);
	assert_int_equal(pctl_store_batch_commit(s, call()), PCTL_OK);
	assert_int_equal(pctl_store_verify(s, call(), &r), PCTL_OK);
	assert_int_equal(r.blobs, 201);
	free(big);
}

static void cas__directory_store(void **state)
{
	pctl_store *s = NULL;

	(void)state;
	assert_int_equal(pctl_store_open("a/b/store", 0, call(), &s), PCTL_OK);
	assert_string_equal(pctl_store_path(s), "a/b/store");
	exercise(s);
	pctl_store_close(s);
	assert_int_equal(pctl_store_open("a/b/store", 0, call(), &s), PCTL_OK);
	assert_true(pctl_store_has(s, &(pctl_cid){0}) == 0);
	pctl_store_close(s);
	/* A closed store leaves no temporary files. */
	assert_int_equal(system("test -z \"$(ls a/b/store/tmp)\""), 0);
}

static void cas__memory_store(void **state)
{
	pctl_store *s = NULL;

	(void)state;
	assert_int_equal(pctl_store_open_memory(call(), &s), PCTL_OK);
	assert_string_equal(pctl_store_path(s), "memory");
	exercise(s);
	pctl_store_close(s);
}

/* ---- damage
 * ----------------------------------------------------------------------------------------------------
 */

static const char *blob_path(const char *text)
{
	static char path[128];

	snprintf(path, sizeof(path), "store/blobs/%.2s/%s", text + 7, text);
	return path;
}

/* Run a shell text in which $F is the blob's file, made writable. */
static void damage(const char *text, const char *command)
{
	char line[256];

	snprintf(line, sizeof(line), "F=%s; chmod u+w $F && %s", blob_path(text), command);
	assert_int_equal(system(line), 0);
}

static void cas__damage_is_found_and_set_aside(void **state)
{
	static const char *const ways[] = {"truncate -s 5 $F", "truncate -s 0 $F",
					   "printf X | dd status=none conv=notrunc of=$F",
					   "truncate -s 7 $F"};
	pctl_store *s = NULL;
	const pctl_cid c = cid(CID_HELLO);
	pctl_store_report r;
	pctl_blob b;

	(void)state;
	assert_int_equal(pctl_store_open("store", 0, call(), &s), PCTL_OK);
	for (uint32_t i = 0; i < 4; i++) {
		char found[160];

		assert_int_equal(pctl_store_put(s, "hello\n", 6, call(), NULL), PCTL_OK);
		damage(CID_HELLO, ways[i]);
		if (i % 2 == 0) {
			assert_int_equal(pctl_store_get(s, &c, call(), &b), PCTL_E_STORE);
			assert_null(b.data);
		} else {
			assert_int_equal(pctl_store_verify(s, call(), &r), PCTL_E_STORE);
			assert_int_equal(r.damaged, 1);
		}
		assert_int_equal(last_code(), PC5001_CAS_DAMAGED);
		assert_false(pctl_store_has(s, &c));
		snprintf(found, sizeof(found), "store/damaged/" CID_HELLO ".%u", i + 1);
		assert_true(pctl_file_exists(found));
	}
	/* A wrong size is seen by put already. */
	assert_int_equal(pctl_store_put(s, "hello\n", 6, call(), NULL), PCTL_OK);
	damage(CID_HELLO, "truncate -s 3 $F");
	assert_int_equal(pctl_store_put(s, "hello\n", 6, call(), NULL), PCTL_OK);
	assert_int_equal(pctl_store_get(s, &c, call(), &b), PCTL_OK);
	pctl_blob_release(&b);
	assert_int_equal(pctl_store_verify(s, call(), &r), PCTL_OK);
	pctl_store_close(s);
}

static void cas__damage_of_a_large_blob(void **state)
{
	uint8_t *big = big_bytes();
	pctl_store *s = NULL;
	pctl_cid c;
	pctl_blob b;

	(void)state;
	assert_int_equal(pctl_store_open("store", 0, call(), &s), PCTL_OK);
	assert_int_equal(pctl_store_put(s, big, BIG_BYTES, call(), &c), PCTL_OK);
	damage(CID_BIG, "printf X | dd status=none conv=notrunc seek=2000000 bs=1 of=$F");
	assert_int_equal(pctl_store_get(s, &c, call(), &b), PCTL_E_STORE);
	assert_int_equal(last_code(), PC5001_CAS_DAMAGED);
	assert_int_equal(pctl_store_put(s, big, BIG_BYTES, call(), &c), PCTL_OK);
	assert_int_equal(pctl_store_get_file(s, &c, "copy", call()), PCTL_OK);
	pctl_store_close(s);
	free(big);
}

static void cas__read_only_changes_nothing(void **state)
{
	pctl_store *s = NULL;
	pctl_cid c = cid(CID_HELLO);
	pctl_store_report r;
	pctl_blob b;
	uint64_t n;

	(void)state;
	assert_int_equal(pctl_store_open("store", PCTL_STORE_READ_ONLY, call(), &s), PCTL_E_STORE);
	assert_null(s);
	assert_false(pctl_dir_exists("store"));
	assert_int_equal(pctl_store_open("store", 0, call(), &s), PCTL_OK);
	assert_int_equal(pctl_store_put(s, "hello\n", 6, call(), NULL), PCTL_OK);
	pctl_store_close(s);
	assert_int_equal(pctl_store_open("store", PCTL_STORE_READ_ONLY, call(), &s), PCTL_OK);
	assert_int_equal(pctl_store_get(s, &c, call(), &b), PCTL_OK);
	pctl_blob_release(&b);
	assert_int_equal(pctl_store_put(s, "a", 1, call(), NULL), PCTL_E_STORE);
	assert_int_equal(last_code(), PC5006_CAS_READ_ONLY);
	assert_int_equal(pctl_store_put_fd(s, 0, call(), &c, &n), PCTL_E_STORE);
	assert_int_equal(pctl_store_put_file(s, "x", call(), &c, &n), PCTL_E_STORE);
	c = cid(CID_HELLO);
	assert_int_equal(pctl_store_pin(s, &c, call()), PCTL_E_STORE);
	assert_int_equal(pctl_store_unpin(s, &c, call()), PCTL_E_STORE);
	assert_int_equal(pctl_store_batch_begin(s, call()), PCTL_E_STORE);
	assert_int_equal(pctl_store_gc(s, 0, 0, NULL, NULL, call(), &r), PCTL_E_STORE);
	assert_int_equal(pctl_store_gc(s, 0, 1, NULL, NULL, call(), &r), PCTL_OK);
	assert_int_equal(r.removed, 1);
	damage(CID_HELLO, "truncate -s 1 $F");
	assert_int_equal(pctl_store_get(s, &c, call(), &b), PCTL_E_STORE);
	assert_true(pctl_file_exists(blob_path(CID_HELLO)));
	pctl_store_close(s);
}

static void cas__what_is_no_store(void **state)
{
	pctl_store *s = NULL;

	(void)state;
	assert_int_equal(system("mkdir other && touch other/file && mkdir empty && touch "
				"empty/format.tmp.abc"),
			 0);
	assert_int_equal(pctl_store_open("other", 0, call(), &s), PCTL_E_STORE);
	assert_int_equal(last_code(), PC5003_CAS_NOT_A_STORE);
	assert_int_equal(pctl_store_open("empty", 0, call(), &s), PCTL_OK);
	pctl_store_close(s);
	assert_int_equal(pctl_file_write("empty/format", "pipectl-cas 2\n", 14, 0, NULL), PCTL_OK);
	assert_int_equal(pctl_store_open("empty", 0, call(), &s), PCTL_E_STORE);
	assert_int_equal(last_code(), PC5002_CAS_FORMAT);
	assert_int_equal(pctl_store_open("other/file", 0, call(), &s), PCTL_E_IO);
}

static uint32_t always(void *ctx)
{
	(void)ctx;
	return 1;
}

static void cas__cancel(void **state)
{
	const uint64_t n = 20u << 20;
	uint8_t *data = calloc(1, n);
	pctl_store *s = NULL;
	pctl_store_report r;
	pctl_cid c;

	(void)state;
	assert_int_equal(pctl_store_open("store", 0, call(), &s), PCTL_OK);
	assert_int_equal(pctl_store_put(s, "a", 1, call(), NULL), PCTL_OK);
	assert_int_equal(pctl_file_write("zeros", data, n, 0, NULL), PCTL_OK);
	pctl_diag_list_set_cancel(diags, always, NULL);
	assert_int_equal(pctl_store_put(s, data, n, call(), &c), PCTL_E_CANCELLED);
	assert_int_equal(pctl_store_put_file(s, "zeros", call(), &c, &(uint64_t){0}),
			 PCTL_E_CANCELLED);
	assert_int_equal(pctl_store_verify(s, call(), &r), PCTL_E_CANCELLED);
	assert_int_equal(pctl_store_gc(s, 0, 0, NULL, NULL, call(), &r), PCTL_E_CANCELLED);
	pctl_diag_list_set_cancel(diags, NULL, NULL);
	assert_int_equal(pctl_store_verify(s, call(), &r), PCTL_OK);
	assert_int_equal(r.blobs, 1);
	pctl_store_close(s);
	free(data);
}

/* A file where the shard's directory should be: the put of a batch fails, and commit says so even
 * when a look into the store met the failure first. */
static void cas__a_failed_batch_is_not_forgotten(void **state)
{
	pctl_store *s = NULL;
	pctl_cid c = cid(CID_A), of_large;
	uint8_t large[5000];
	char command[128], text[PCTL_CID_TEXT_SIZE];

	(void)state;
	assert_int_equal(pctl_store_open("store", 0, call(), &s), PCTL_OK);
	snprintf(command, sizeof(command), "touch store/blobs/%.2s", &CID_A[7]);
	assert_int_equal(system(command), 0);
	/* Small blobs of a batch lie in one file, where a directory is now; larger ones in their shards. */
	assert_int_equal(mkdir("store/small.sqlite", 0700), 0);
	for (uint32_t i = 0; i < sizeof(large); i++)
		large[i] = (uint8_t)i;
	assert_int_equal(pctl_cid_of(large, sizeof(large), call(), &of_large), PCTL_OK);
	pctl_cid_format(&of_large, text);
	snprintf(command, sizeof(command), "touch store/blobs/%.2s", &text[7]);
	assert_int_equal(system(command), 0);
	for (uint32_t look = 0; look < 4; look++) {
		assert_int_equal(pctl_store_batch_begin_many(s, call()), PCTL_OK);
		assert_int_equal(look < 2 ? pctl_store_put(s, "a", 1, call(), NULL)
					  : pctl_store_put(s, large, sizeof(large), call(), NULL),
				 PCTL_OK);
		if (look % 2)
			assert_false(pctl_store_has(s, look < 2 ? &c : &of_large));
		assert_int_equal(pctl_store_batch_commit(s, call()), PCTL_E_IO);
	}
	assert_int_equal(pctl_store_put(s, "a", 1, call(), NULL), PCTL_E_IO);
	assert_int_equal(pctl_store_put(s, "hello\n", 6, call(), NULL), PCTL_OK);
	pctl_store_close(s);
}

static void cas__gc_grace_goes_by_the_last_put(void **state)
{
	pctl_store *s = NULL;
	pctl_store_report r;
	const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

	(void)state;
	assert_int_equal(pctl_store_open("store", 0, call(), &s), PCTL_OK);
	assert_int_equal(pctl_store_put(s, "a", 1, call(), NULL), PCTL_OK);
	assert_int_equal(pctl_store_put(s, "hello\n", 6, call(), NULL), PCTL_OK);
	assert_int_equal(utimensat(AT_FDCWD, blob_path(CID_A), old, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, blob_path(CID_HELLO), old, 0), 0);
	assert_int_equal(pctl_store_put(s, "a", 1, call(), NULL), PCTL_OK); /* young again */
	assert_int_equal(pctl_store_gc(s, 3600, 0, NULL, NULL, call(), &r), PCTL_OK);
	assert_int_equal(r.removed, 1);
	assert_true(pctl_file_exists(blob_path(CID_A)));
	pctl_store_close(s);
}

/* By a store of this process and a reading one; the last of them to let go ends it. */
static void cas__a_held_store_loses_nothing(void **state)
{
	pctl_store *s = NULL, *reader = NULL;
	pctl_store_report r;
	int one, two;

	(void)state;
	assert_int_equal(pctl_store_open("store", 0, call(), &s), PCTL_OK);
	assert_int_equal(pctl_store_put(s, "a", 1, call(), NULL), PCTL_OK);
	assert_int_equal(pctl_store_put(s, "hello\n", 6, call(), NULL), PCTL_OK);
	assert_int_equal(pctl_store_open("store", PCTL_STORE_READ_ONLY, call(), &reader), PCTL_OK);
	assert_int_equal(pctl_store_hold(s, call(), &one), PCTL_OK);
	assert_int_equal(pctl_store_hold(reader, call(), &two), PCTL_OK);
	pctl_store_close(reader);
	for (int held = 2; held > 0; held--) {
		assert_int_equal(pctl_store_gc(s, 0, 0, keep_a, NULL, call(), &r), PCTL_OK);
		assert_int_equal(r.removed, 0);
		assert_int_equal(r.removed_bytes, 0);
		assert_int_equal(r.held, 1);
		pctl_store_release(held == 2 ? one : two);
	}
	assert_int_equal(pctl_store_gc(s, 0, 0, keep_a, NULL, call(), &r), PCTL_OK);
	assert_int_equal(r.removed, 1);
	assert_int_equal(r.held, 0);
	pctl_store_close(s);
}

#define IN_DIR(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)
PCTL_TESTS_MAIN(PCTL_TEST(cas__known_cids), PCTL_TEST(cas__hasher_in_pieces),
		IN_DIR(cas__cid_text_is_canonical), IN_DIR(cas__directory_store),
		IN_DIR(cas__memory_store), IN_DIR(cas__damage_is_found_and_set_aside),
		IN_DIR(cas__damage_of_a_large_blob), IN_DIR(cas__read_only_changes_nothing),
		IN_DIR(cas__what_is_no_store), IN_DIR(cas__a_failed_batch_is_not_forgotten),
		IN_DIR(cas__cancel), IN_DIR(cas__gc_grace_goes_by_the_last_put),
		IN_DIR(cas__a_held_store_loses_nothing))
