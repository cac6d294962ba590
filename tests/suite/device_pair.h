/* A fixture for the suite's tests: any device under proof, the reference plain and sanitizing, and a wrapper between the
 * suite and its device where a test wants one. */
#ifndef PIPECTL_TESTS_SUITE_DEVICE_PAIR_H
#define PIPECTL_TESTS_SUITE_DEVICE_PAIR_H

#include "foundation/diag/diag.h"
#include "evidence/suite/suite.h"

/*
 * context   as the suite gets it
 * wrap      makes the table that stands between the suite and the device, or NULL
 * opened    sessions opened on the device so far
 */
typedef struct device_pair {
	pctl_proof_context context;
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
} device_pair;

/* 0, with diagnostics on stderr, when a device cannot be opened. sanitizer: open that one too. */
int device_pair_open(device_pair *b, const char *selector, uint64_t seed, int sanitizer,
		     const pctl_backend *(*wrap)(const pctl_backend *real, uint32_t opened));
void device_pair_close(device_pair *b);
/* A call whose diagnostics go to b->diagnostics. */
const pctl_call *device_pair_call(device_pair *b);

#endif
