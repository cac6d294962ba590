/* A device as a test program meets it: the real registry, profiles, front end, legaliser and session, and a kernel of
 * the fixed shape below run over a range of counters. Shared by tests/exhaustive and tests/strict. */
#ifndef TESTS_EXHAUSTIVE_TARGET_H
#define TESTS_EXHAUSTIVE_TARGET_H

#include "foundation/base/str.h"
#include "foundation/diag/diag.h"
#include "runtime/exec/session.h"
#include "runtime/plugin/devices.h"

/* What is not a device's own: opened once. */
typedef struct host {
	pctl_diag_list *diagnostics;
	const pctl_call *call;
	pctl_registry *registry;
	pctl_profiles *profiles;
	pctl_kernels *kernels;
	pctl_signer *signer;
	pctl_devices *list;
} host;

typedef struct target {
	host *host;
	const pctl_device_entry *entry;
	const char *name; /* "vulkan:0 llvmpipe .." */
	pctl_backend_instance *backend;
	pctl_session *session;
	const pctl_backend *table;
	pctl_device *dev;
} target;

/* Errors are printed; host_close and target_close take what a failed opening left. */
int host_open(host *h, const char *plugins, const char *home);
void host_close(host *h);
/* Prints what was complained of, and forgets it. */
void host_complain(host *h);

/* The devices that `selector` names: one, or all usable ones but `null`. 0: none. */
#define TARGETS 32u
uint32_t host_find(host *h, const char *selector, const pctl_device_entry **out);
int target_open(host *h, const pctl_device_entry *e, target *t);
void target_close(target *t);

/* How much this device can do in a test: the reference and simulators little, what runs on a CPU some. */
enum { TARGET_SIMULATOR, TARGET_REFERENCE, TARGET_CPU, TARGET_GPU };
int target_speed(const target *t);

/* The head of every kernel: `p.base`, `p.a` .. are the four words of a run (a kernel must read one), r the results; i is the number of the
 * invocation in it. With inputs, `q` holds them. */
char *target_text(const char *enable, const char *module, const char *body, int inputs,
		  uint32_t row);

typedef struct target_run {
	target *t;
	pctl_kernel *kernel;
	pctl_buffer *uniform, *results, *inputs;
	pctl_list *list;
	uint64_t n_words;
	double device_s; /* on the device alone, where it tells */
	uint64_t n_runs;
} target_run;

/* A kernel of target_text() that fills n_words results, `row` (a multiple of 256) invocations a row of workgroups.
 * n_inputs words of inputs, or 0. */
pctl_status target_run_open(target *t, const char *name, const char *text, uint32_t row,
			    uint64_t n_words, uint64_t n_inputs, target_run *r);
pctl_status target_run_inputs(target_run *r, const uint32_t *words, uint64_t n);
/* The first n of the results. */
pctl_status target_run_go(target_run *r, const uint32_t uniform[4], uint32_t *words, uint64_t n);
void target_run_close(target_run *r);

/* A signed record: `name : {` device, driver, profile; the caller adds lines; sealed and written to DIR/FILE. */
pctl_status target_record_begin(target *t, const char *name, pctl_str_buf *out);
pctl_status target_record_write(target *t, pctl_str_buf *record, const char *dir, const char *file);

double target_seconds(void);
/* Threads for oracles: as many as there are cores, 1 to 64. */
uint32_t target_threads(void);

#endif
