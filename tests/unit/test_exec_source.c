/* Data from outside: its bytes are those that were hashed, or nothing is made of them. */
#include "main.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/diag/diag.h"
#include "runtime/cas/dir.h"
#include "runtime/exec/source.h"

static pctl_status collect(void *ctx, uint64_t offset, const void *data, uint64_t n)
{
	uint8_t *to = ctx;

	for (uint64_t i = 0; offset + i < 64 && i < n; i++)
		to[offset + i] = ((const uint8_t *)data)[i];
	return PCTL_OK;
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void files(void **state)
{
	static const struct {
		const char *then;
		pctl_status status;
	} cases[] = {{"same bytes", PCTL_OK},
		     {"same bytes and more", PCTL_OK}, /* the prefix that was hashed */
		     {"some bytes", PCTL_E_IO},
		     {"same", PCTL_E_IO},
		     {"", PCTL_E_IO}};
	char path[] = "/tmp/pipectl-source-XXXXXX";

	(void)state;
	close(mkstemp(path));
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pctl_diag_list *l = pctl_diag_list_create();
		const pctl_call *call = pctl_diag_list_call(l);
		uint8_t got[64] = {0};
		pctl_data_source *s;
		pctl_cid want;

		write_file(path, "same bytes");
		assert_int_equal(pctl_source_open(NULL, path, call, &s), PCTL_OK);
		assert_int_equal(pctl_cid_of("same bytes", 10, call, &want), PCTL_OK);
		assert_int_equal(pctl_cid_compare(&want, pctl_source_cid(s)), 0);
		assert_int_equal(pctl_source_bytes(s), 10);
		write_file(path, cases[i].then);
		assert_int_equal(pctl_source_stream(s, call, collect, got), cases[i].status);
		if (cases[i].status == PCTL_OK)
			assert_memory_equal(got, "same bytes", 10);
		else
			assert_int_equal(pctl_diag_list_at(l, 0)->code, PC5210_INPUT_CHANGED);
		pctl_source_close(s);
		pctl_diag_list_destroy(l);
	}
	unlink(path);
}

/* A name that somebody knew is taken without reading, and what is read then is held against it. */
static void known(void **state)
{
	char path[] = "/tmp/pipectl-source-XXXXXX";
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	pctl_cid right, other;
	int fd;

	(void)state;
	close(mkstemp(path));
	write_file(path, "....same bytes");
	fd = open(path, O_RDONLY);
	assert_int_equal(pctl_cid_of("same bytes", 10, call, &right), PCTL_OK);
	assert_int_equal(pctl_cid_of("some bytes", 10, call, &other), PCTL_OK);
	for (uint32_t i = 0; i < 3; i++) {
		const pctl_cid *cid = i == 0 ? NULL : i == 1 ? &right : &other;
		uint8_t got[64] = {0};
		pctl_data_source *s;

		assert_int_equal(pctl_source_open_shared(path, fd, 4, 10, cid, call, &s), PCTL_OK);
		assert_int_equal(pctl_cid_compare(i == 2 ? &other : &right, pctl_source_cid(s)), 0);
		assert_int_equal(pctl_source_stream(s, call, collect, got),
				 i == 2 ? PCTL_E_IO : PCTL_OK);
		pctl_source_close(s);
	}
	assert_int_equal(pctl_diag_list_at(l, 0)->code, PC5210_INPUT_CHANGED);
	close(fd);
	unlink(path);
	pctl_diag_list_destroy(l);
}

/* Of a file of several pieces: all of them, in order and in the caller's thread, until one is refused. What changes while one is taken is
 * seen, whether the next was read by then or not. */
struct taking {
	const char *path;
	pthread_t thread;
	uint64_t next, sum, ends,
		cuts; /* sum: of all bytes; ends: refused from there; cuts: the file is cut there once one was taken */
};

static pctl_status take(void *ctx, uint64_t offset, const void *data, uint64_t n)
{
	struct taking *t = ctx;

	assert_true(pthread_equal(t->thread, pthread_self()));
	assert_int_equal(offset, t->next);
	assert_true(n > 0 && n <= PCTL_SOURCE_PIECE);
	t->next += n;
	for (uint64_t i = 0; i < n; i += 4096)
		t->sum += ((const uint8_t *)data)[i];
	if (t->cuts != 0)
		assert_int_equal(truncate(t->path, (off_t)t->cuts), 0);
	t->cuts = 0;
	return t->next > t->ends ? PCTL_E_FAILED : PCTL_OK;
}

static void pieces(void **state)
{
	const uint64_t n = PCTL_SOURCE_PIECE * 4ull + 4096;
	char path[] = "/tmp/pipectl-source-XXXXXX";
	const int fd = mkstemp(path);
	uint8_t *bytes = malloc(n);
	uint64_t sum = 0;
	pctl_data_source *s;

	(void)state;
	for (uint64_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(i >> 12);
	for (uint64_t i = 0; i < n; i += 4096)
		sum += bytes[i];
	assert_int_equal(write(fd, bytes, n), n);
	assert_int_equal(pctl_source_open(NULL, path, NULL, &s), PCTL_OK);
	for (uint32_t i = 0; i < 8; i++) {
		pctl_diag_list *l = pctl_diag_list_create();
		struct taking t = {path, pthread_self(), 0, 0, n, 0};

		if (i >= 4 && i < 7)
			t.ends = PCTL_SOURCE_PIECE * (uint64_t)(i - 4) + 1;
		if (i == 7)
			t.cuts = PCTL_SOURCE_PIECE * 3ull + 7;
		assert_int_equal(pctl_source_stream(s, pctl_diag_list_call(l), take, &t),
				 i < 4	 ? PCTL_OK
				 : i < 7 ? PCTL_E_FAILED
					 : PCTL_E_IO);
		if (i < 4)
			assert_true(t.next == n && t.sum == sum);
		if (i == 7)
			assert_int_equal(pctl_diag_list_at(l, 0)->code, PC5210_INPUT_CHANGED);
		assert_int_equal(pctl_diag_list_count(l), i == 7);
		pctl_diag_list_destroy(l);
	}
	pctl_source_close(s);
	close(fd);
	unlink(path);
	free(bytes);
}

static void others(void **state)
{
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	uint64_t n = PCTL_SOURCE_PIECE * 2ull + 5;
	uint8_t got[64], *zeros = calloc(1, n);
	pctl_data_source *s;
	pctl_cid want;

	(void)state;
	memset(got, 1, sizeof(got));
	assert_int_equal(pctl_source_open(NULL, "zero:16777221", call, &s), PCTL_OK);
	assert_int_equal(pctl_source_bytes(s), n);
	assert_int_equal(pctl_cid_of(zeros, n, call, &want), PCTL_OK);
	assert_int_equal(pctl_cid_compare(&want, pctl_source_cid(s)), 0);
	assert_int_equal(pctl_source_stream(s, call, collect, got), PCTL_OK);
	assert_memory_equal(got, zeros, sizeof(got));
	pctl_source_close(s);
	assert_int_equal(pctl_source_open(NULL, "zero:0", call, &s), PCTL_OK);
	assert_int_equal(pctl_source_bytes(s), 0);
	pctl_source_close(s);
	assert_int_equal(pctl_source_open(NULL, "/tmp", call, &s), PCTL_E_IO);
	assert_null(s);
	assert_int_equal(pctl_source_open(NULL, "/nowhere/at/all", call, &s), PCTL_E_IO);
	assert_null(s);
	free(zeros);
	pctl_diag_list_destroy(l);
}

/* The blob's file, and how often somebody wrote to it while it was read. */
struct raced {
	char path[256];
	uint32_t writes;
};

/* What was handed on stays what was hashed, whatever becomes of the file now. */
static pctl_status write_meanwhile(void *ctx, uint64_t offset, const void *data, uint64_t n)
{
	struct raced *r = ctx;
	const uint8_t *bytes = data, before = bytes[n - 1], other = (uint8_t)~before;
	const int fd = open(r->path, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &other, 1, (off_t)(offset + n - 1)), 1);
	assert_int_equal(bytes[n - 1], before);
	assert_int_equal(pwrite(fd, &before, 1, (off_t)(offset + n - 1)), 1);
	close(fd);
	r->writes++;
	return PCTL_OK;
}

static void blobs_that_somebody_writes_to(void **state)
{
	const uint64_t n = PCTL_SOURCE_PIECE + (2u << 20); /* mapped, two pieces */
	char dir[] = "/tmp/pipectl-source-XXXXXX", text[PCTL_CID_TEXT_SIZE], command[64];
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	uint8_t *bytes = malloc(n);
	struct raced raced = {.writes = 0};
	pctl_data_source *s;
	pctl_store *store;
	pctl_cid cid;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_non_null(bytes);
	memset(bytes, 0x5a, n);
	assert_int_equal(pctl_store_open(dir, 0, call, &store), PCTL_OK);
	assert_int_equal(pctl_store_put(store, bytes, n, call, &cid), PCTL_OK);
	pctl_cid_format(&cid, text);
	snprintf(raced.path, sizeof(raced.path), "%s/blobs/%.2s/%s", dir, text + PCTL_CAS_SHARD_AT,
		 text);
	assert_int_equal(chmod(raced.path, 0600), 0);
	assert_int_equal(pctl_source_open_cid(store, &cid, call, &s), PCTL_OK);
	assert_int_equal(pctl_source_stream(s, call, write_meanwhile, &raced), PCTL_OK);
	assert_int_equal(raced.writes, 2);
	pctl_source_close(s);
	pctl_store_close(store);
	free(bytes);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
	pctl_diag_list_destroy(l);
}

PCTL_TESTS_MAIN(PCTL_TEST(files), PCTL_TEST(known), PCTL_TEST(pieces), PCTL_TEST(others),
		PCTL_TEST(blobs_that_somebody_writes_to))
