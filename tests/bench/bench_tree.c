/* The tree over a state's rows: making it for N rows, and what a block of 1,000 changed rows costs after that, with and without it.
 * `bench_tree DIR ROWS [BLOCKS]` prints milliseconds of the processor. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chain/state/cursor.h"
#include "foundation/base/hash.h"

#define CHANGED 1000u

static void say(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	fprintf(stderr, "PC%u %s\n", d->code, d->message);
}

static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = say};

/* Time of the processor: a machine that does other things too does not matter. */
static uint64_t processor_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static pctl_status put(pctl_chain_state *s, uint64_t i, uint64_t balance)
{
	char name[40];

	snprintf(name, sizeof(name), "account%" PRIu64, i);
	return pctl_cursor_write(
		s, &call,
		"INSERT INTO accounts VALUES (?1, ?2, ?2, ?2, 0) ON CONFLICT (name) DO UPDATE SET "
		"balance = ?2",
		"ta", name, balance);
}

static uint64_t changes(pctl_chain_state *s, uint64_t rows, uint64_t block, int with_root)
{
	const uint64_t started = processor_ns();
	uint8_t root[PCTL_DIGEST_BYTES];
	pctl_status status = pctl_chain_begin(s, &call);

	for (uint64_t i = 0; status == PCTL_OK && i < CHANGED; i++)
		status = put(s, pctl_mix64(block << 20 | i) % rows, block + 1);
	if (status == PCTL_OK)
		status = pctl_cursor_write(s, &call, "DELETE FROM touched", "");
	if (status == PCTL_OK && with_root)
		status = pctl_chain_tree_root(s, &call, root);
	if (status == PCTL_OK)
		status = pctl_chain_commit(s, &call);
	if (status != PCTL_OK)
		exit(1);
	return processor_ns() - started;
}

int main(int argc, char **argv)
{
	const uint64_t rows = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
	const uint64_t blocks = argc > 3 ? strtoull(argv[3], NULL, 10) : 20;
	uint64_t plain = 0, tree = 0, started, n;
	uint8_t root[PCTL_DIGEST_BYTES];
	pctl_chain_state *s;
	pctl_status status;

	if (argc < 2 || pctl_chain_state_open(argv[1], &call, &s) != PCTL_OK)
		return 2;
	status = pctl_chain_begin(s, &call);
	for (uint64_t i = 0; status == PCTL_OK && i < rows; i++)
		status = put(s, i, 1);
	if (status == PCTL_OK)
		status = pctl_cursor_write(s, &call, "DELETE FROM touched", "");
	if (status == PCTL_OK)
		status = pctl_chain_commit(s, &call);
	for (uint64_t b = 0; status == PCTL_OK && b < blocks; b++)
		plain += changes(s, rows, b, 0);
	started = processor_ns();
	if (status == PCTL_OK)
		status = pctl_chain_begin(s, &call);
	if (status == PCTL_OK)
		status = pctl_chain_tree_root(s, &call, root);
	if (status == PCTL_OK)
		status = pctl_chain_commit(s, &call);
	if (status != PCTL_OK)
		return 1;
	printf("rows %" PRIu64 ": made in %.0f ms; ", rows,
	       (double)(processor_ns() - started) / 1e6);
	(void)changes(s, rows, blocks, 1); /* caches are as they will be */
	for (uint64_t b = 0; b < blocks; b++)
		tree += changes(s, rows, blocks + 1 + b, 1);
	printf("a block of %u changed rows: %.1f ms without the tree, %.1f ms with it; ", CHANGED,
	       (double)plain / (double)blocks / 1e6, (double)tree / (double)blocks / 1e6);
	started = processor_ns();
	status = pctl_chain_scrub(s, &call, &n);
	printf("all verified in %.0f ms\n", (double)(processor_ns() - started) / 1e6);
	pctl_chain_state_close(s);
	return status == PCTL_OK ? 0 : 1;
}
