/* What the tests of the mock share: a registry with the built plugins, a device by its selector, programs whose results
 * the tests compute themselves. */
#ifndef PIPECTL_TESTS_MOCK_DEVICE_FIXTURE_H
#define PIPECTL_TESTS_MOCK_DEVICE_FIXTURE_H

#include "setup.h"

#include "harness.h"
#include "runtime/plugin/devices.h"

#define DEVICE_WORDS 64u

/* call carries the trace id; tests set it. */
typedef struct device_fixture {
	fixture f;
	pctl_devices *list;
	const pctl_device_entry *e;
	pctl_backend_instance *s;
	const pctl_backend *t;
	pctl_device *dev;
	pctl_call call;
} device_fixture;

/* A registry that knows mock, cpu and null; nothing opened. */
void device_begin(device_fixture *b);
/* Find and open a device; flags: PCTL_INSTANCE_IN_PROCESS or 0. */
void device_open(device_fixture *b, const char *selector, uint32_t flags);
void device_close(device_fixture *b);
/* Both ends without the registry's. */
void device_device(device_fixture *b, const char *selector, uint32_t flags);
void device_drop(device_fixture *b);
void device_end(device_fixture *b);

pctl_buffer *device_buffer(device_fixture *b, const uint32_t *words, uint32_t n);
void device_read(device_fixture *b, pctl_buffer *buf, uint32_t *words, uint32_t n);

/* r[i] = a[i] * 3 + 1 on u32. */
pctl_kernel *device_affine(device_fixture *b);
/* From three floats a: r[4i] = x * y + z, r[4i+1] = (x + y) + z, r[4i+2] = x * 1.5, r[4i+3] = a NaN constant's bits. */
#define DEVICE_FLOATS_IN 3u
#define DEVICE_FLOATS_OUT 4u
pctl_kernel *device_floats(device_fixture *b);
/* The same sums on vectors of two: r[2k] from pairs; x, y, z are vec2. */
pctl_kernel *device_vectors(device_fixture *b);

pctl_list *device_list(device_fixture *b);
/* a to r with n invocations, and a barrier. */
void device_record(device_fixture *b, pctl_list *l, pctl_kernel *k, pctl_buffer *a,
		   uint64_t a_bytes, pctl_buffer *r, uint64_t r_bytes, uint32_t n);
/* Submit and wait to the end. */
pctl_status device_run(device_fixture *b, pctl_list *l, uint32_t times);

/* DEVICE_WORDS words after n rounds of the affine kernel, from word i = i. */
void device_expect(uint32_t rounds, uint32_t *out);
/* Exactly one word differs from what is expected, and this is its number; fails the test otherwise. */
void device_one_differs(const uint32_t *got, const uint32_t *want, uint32_t n, uint32_t at);

#endif
