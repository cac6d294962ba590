/* What a store survives: writers killed at random instants, and several processes at once with a gc
 * among them. Random numbers come from a counter-based generator with a fixed seed. */
#include "main.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "runtime/cas/store.h"

#define ROUNDS 40u
#define BLOBS 64u
#define SEED 20261121u

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/pctl-crash-XXXXXX");
	return mkdtemp(dir) == NULL || chdir(dir) != 0;
}

static int drop_dir(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return chdir("/") != 0 || system(command) != 0;
}

static uint32_t mix(uint32_t a, uint32_t b)
{
	uint64_t x = (a * 0x9e3779b97f4a7c15u) ^ (b * 0xc2b2ae3d27d4eb4fu);

	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9u;
	return (uint32_t)(x >> 32);
}

/* Blob number i: sizes from a few bytes to two MiB. */
static uint8_t *blob(uint32_t i, uint64_t *n)
{
	uint8_t *data;

	*n = i % 8 == 7 ? (2u << 20) + i : i * 97u + 3u;
	data = malloc(*n);
	assert_non_null(data);
	for (uint64_t k = 0; k < *n; k++)
		data[k] = (uint8_t)(k * (i + 1) + i);
	return data;
}

/* Put blobs for ever, by every way there is; acknowledge each on `ack`. */
static void write_blobs(int ack, uint32_t round)
{
	pctl_store *s = NULL;

	if (pctl_store_open("store", 0, NULL, &s) != PCTL_OK)
		_exit(1);
	for (uint32_t k = 0;; k++) {
		const uint32_t i = mix(round, k) % BLOBS;
		uint64_t n;
		uint8_t *data = blob(i, &n);
		pctl_cid cid;

		if (k % 3 == 1 && (k % 2 == 0 ? pctl_store_batch_begin(s, NULL)
					      : pctl_store_batch_begin_many(s, NULL)) != PCTL_OK)
			_exit(1);
		if (pctl_store_put(s, data, n, NULL, &cid) != PCTL_OK)
			_exit(1);
		if (k % 3 == 1 && pctl_store_batch_commit(s, NULL) != PCTL_OK)
			_exit(1);
		if (k % 3 == 2) {
			uint64_t m;

			if (pctl_file_write("input", data, n, 0, NULL) != PCTL_OK ||
			    pctl_store_put_file(s, "input", NULL, &cid, &m) != PCTL_OK)
				_exit(1);
		}
		free(data);
		if (write(ack, &i, sizeof(i)) != sizeof(i))
			_exit(1);
	}
}

static void check_acknowledged(int ack, uint8_t *done)
{
	pctl_store *s = NULL;
	pctl_store_report r;
	uint32_t i;

	while (read(ack, &i, sizeof(i)) == sizeof(i))
		done[i % BLOBS] = 1;
	assert_int_equal(pctl_store_open("store", 0, NULL, &s), PCTL_OK);
	assert_int_equal(pctl_store_verify(s, NULL, &r), PCTL_OK);
	assert_int_equal(r.damaged, 0);
	for (i = 0; i < BLOBS; i++) {
		uint64_t n;
		uint8_t *data;
		pctl_cid cid;
		pctl_blob b;

		if (!done[i])
			continue;
		data = blob(i, &n);
		assert_int_equal(pctl_cid_of(data, n, NULL, &cid), PCTL_OK);
		assert_int_equal(pctl_store_get(s, &cid, NULL, &b), PCTL_OK);
		assert_int_equal(b.n_bytes, n);
		assert_memory_equal(b.data, data, n);
		pctl_blob_release(&b);
		free(data);
	}
	pctl_store_close(s);
}

static void cas_crash__kill_at_random_instants(void **state)
{
	uint8_t done[BLOBS] = {0};
	pctl_store *s = NULL;
	pctl_store_report r;
	uint32_t n_done = 0;

	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const struct timespec delay = {.tv_nsec = mix(SEED, round) % 15000000};
		int ack[2], status;
		pid_t child;

		assert_int_equal(pipe(ack), 0);
		child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			close(ack[0]);
			write_blobs(ack[1], round);
		}
		close(ack[1]);
		/* Every other round dies behind its first put, however slow the machine is. */
		if (round % 2 == 1) {
			uint32_t i;

			assert_int_equal(read(ack[0], &i, sizeof(i)), sizeof(i));
			done[i % BLOBS] = 1;
		}
		nanosleep(&delay, NULL);
		assert_int_equal(kill(child, SIGKILL), 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		check_acknowledged(ack[0], done);
		close(ack[0]);
	}
	for (uint32_t i = 0; i < BLOBS; i++)
		n_done += done[i];
	assert_true(n_done > 0);
	/* What the dead left in tmp/ is removed by gc, all of it, and nothing else with it. */
	assert_int_equal(pctl_store_open("store", 0, NULL, &s), PCTL_OK);
	assert_int_equal(pctl_store_gc(s, 3600, 0, NULL, NULL, NULL, &r), PCTL_OK);
	assert_int_equal(r.removed, 0);
	assert_true(r.blobs >= n_done);
	assert_int_equal(pctl_store_verify(s, NULL, &r), PCTL_OK);
	assert_int_equal(r.garbage, 0);
	pctl_store_close(s);
	assert_int_equal(system("test -z \"$(ls store/tmp)\""), 0);
}

static void cas_crash__kill_while_the_store_is_made(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 25; round++) {
		const struct timespec delay = {.tv_nsec = mix(SEED + 1, round) % 1500000};
		pctl_store *s = NULL;
		int status;
		pid_t child;

		assert_int_equal(system("rm -rf store"), 0);
		child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			for (;;) {
				if (pctl_store_open("store", 0, NULL, &s) != PCTL_OK)
					_exit(1);
				pctl_store_close(s);
			}
		}
		nanosleep(&delay, NULL);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(pctl_store_open("store", 0, NULL, &s), PCTL_OK);
		assert_int_equal(pctl_store_put(s, "a", 1, NULL, NULL), PCTL_OK);
		pctl_store_close(s);
	}
}

/* One of several writers of the same blobs; a blob it has put must be there at once, whatever gc
 * does. */
static void compete(uint32_t who)
{
	pctl_store *s = NULL;

	if (pctl_store_open("store", 0, NULL, &s) != PCTL_OK)
		_exit(1);
	for (uint32_t k = 0; k < 300; k++) {
		const uint32_t i = mix(who, k) % BLOBS;
		uint64_t n;
		uint8_t *data = blob(i - i % 8, &n); /* the small ones */
		pctl_cid cid;
		pctl_blob b;

		if (pctl_store_put(s, data, n, NULL, &cid) != PCTL_OK)
			_exit(2);
		if (pctl_store_get(s, &cid, NULL, &b) != PCTL_OK)
			_exit(3);
		pctl_blob_release(&b);
		free(data);
	}
	pctl_store_close(s);
	_exit(0);
}

static int make_old(void *ctx, const pctl_cid *cid, uint64_t n_bytes)
{
	const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	char text[PCTL_CID_TEXT_SIZE], path[128];

	(void)ctx;
	(void)n_bytes;
	pctl_cid_format(cid, text);
	snprintf(path, sizeof(path), "store/blobs/%.2s/%s", text + 7, text);
	(void)utimensat(AT_FDCWD, path, old, 0);
	return 0;
}

static void cas_crash__writers_and_gc_at_once(void **state)
{
	pid_t children[3];
	pctl_store *s = NULL;
	pctl_store_report r;
	uint32_t alive = 3;

	(void)state;
	assert_int_equal(pctl_store_open("store", 0, NULL, &s), PCTL_OK);
	for (uint32_t i = 0; i < BLOBS; i += 8) {
		uint64_t n;
		uint8_t *data = blob(i, &n);

		assert_int_equal(pctl_store_put(s, data, n, NULL, NULL), PCTL_OK);
		free(data);
	}
	assert_int_equal(pctl_store_list(s, NULL, make_old, NULL), PCTL_OK);
	for (uint32_t i = 0; i < 3; i++) {
		children[i] = fork();
		assert_true(children[i] >= 0);
		if (children[i] == 0)
			compete(i);
	}
	while (alive > 0) {
		int status;

		assert_int_equal(pctl_store_gc(s, 3600, 0, NULL, NULL, NULL, &r), PCTL_OK);
		while (alive > 0 && waitpid(-1, &status, WNOHANG) > 0) {
			assert_true(WIFEXITED(status));
			assert_int_equal(WEXITSTATUS(status), 0);
			alive--;
		}
	}
	assert_int_equal(pctl_store_verify(s, NULL, &r), PCTL_OK);
	assert_int_equal(r.blobs, BLOBS / 8);
	assert_int_equal(r.garbage, 0);
	pctl_store_close(s);
}

#define IN_DIR(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)
PCTL_TESTS_MAIN(IN_DIR(cas_crash__kill_at_random_instants),
		IN_DIR(cas_crash__kill_while_the_store_is_made),
		IN_DIR(cas_crash__writers_and_gc_at_once))
