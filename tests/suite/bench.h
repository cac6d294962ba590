/* A bench for the suite's tests: any device under proof, the reference plain and sanitizing, and a wrapper between the
 * suite and its device where a test wants one. */
#ifndef PIPECTL_TESTS_SUITE_BENCH_H
#define PIPECTL_TESTS_SUITE_BENCH_H

#include "foundation/diag/diag.h"
#include "evidence/suite/suite.h"

/*
 * bench     as the suite gets it
 * wrap      makes the table that stands between the suite and the device, or NULL
 * opened    sessions opened on the device so far
 */
typedef struct test_bench {
	pctl_proof_context bench;
	char *home;
	pctl_diag_list *diagnostics;
	pctl_devices *lists[2];
	const pctl_device_entry *reference_entry;
	const pctl_backend *(*wrap)(const pctl_backend *real, uint32_t opened);
	uint32_t opened;
	struct {
		pctl_backend_instance *backend;
		pctl_session *session;
	} kept[16];
} test_bench;

/* 0, with diagnostics on stderr, when a device cannot be opened. sanitizer: open that one too. */
int test_bench_open(test_bench *b, const char *selector, uint64_t seed, int sanitizer,
		    const pctl_backend *(*wrap)(const pctl_backend *real, uint32_t opened));
void test_bench_close(test_bench *b);
/* A call whose diagnostics go to b->diagnostics. */
const pctl_call *test_bench_call(test_bench *b);

#endif
