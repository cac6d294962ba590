/* What the tests of the mock share: a registry with the built plugins, a device by its selector, programs whose results
 * the tests compute themselves. */
#ifndef PIPECTL_TESTS_MOCK_BENCH_H
#define PIPECTL_TESTS_MOCK_BENCH_H

#include "setup.h"

#include "harness.h"
#include "runtime/plugin/devices.h"

#define BENCH_WORDS 64u

/* call carries the trace id; tests set it. */
typedef struct bench {
	fixture f;
	pctl_devices *list;
	const pctl_device_entry *e;
	pctl_backend_instance *s;
	const pctl_backend *t;
	pctl_device *dev;
	pctl_call call;
} bench;

/* A registry that knows mock, cpu and null; nothing opened. */
void bench_begin(bench *b);
/* Find and open a device; flags: PCTL_INSTANCE_IN_PROCESS or 0. */
void bench_open(bench *b, const char *selector, uint32_t flags);
void bench_close(bench *b);
/* Both ends without the registry's. */
void bench_device(bench *b, const char *selector, uint32_t flags);
void bench_drop(bench *b);
void bench_end(bench *b);

pctl_buffer *bench_buffer(bench *b, const uint32_t *words, uint32_t n);
void bench_read(bench *b, pctl_buffer *buf, uint32_t *words, uint32_t n);

/* r[i] = a[i] * 3 + 1 on u32. */
pctl_kernel *bench_affine(bench *b);
/* From three floats a: r[4i] = x * y + z, r[4i+1] = (x + y) + z, r[4i+2] = x * 1.5, r[4i+3] = a NaN constant's bits. */
#define BENCH_FLOATS_IN 3u
#define BENCH_FLOATS_OUT 4u
pctl_kernel *bench_floats(bench *b);
/* The same sums on vectors of two: r[2k] from pairs; x, y, z are vec2. */
pctl_kernel *bench_vectors(bench *b);

pctl_list *bench_list(bench *b);
/* a to r with n invocations, and a barrier. */
void bench_record(bench *b, pctl_list *l, pctl_kernel *k, pctl_buffer *a, uint64_t a_bytes,
		  pctl_buffer *r, uint64_t r_bytes, uint32_t n);
/* Submit and wait to the end. */
pctl_status bench_run(bench *b, pctl_list *l, uint32_t times);

/* BENCH_WORDS words after n rounds of the affine kernel, from word i = i. */
void bench_expect(uint32_t rounds, uint32_t *out);
/* Exactly one word differs from what is expected, and this is its number; fails the test otherwise. */
void bench_one_differs(const uint32_t *got, const uint32_t *want, uint32_t n, uint32_t at);

#endif
