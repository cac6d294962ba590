/* What the tests of the vulkan plugin stand on: the plugin loaded as the host would load it, each
 * device it finds, and short ways to build a program and run it once. */
#ifndef PIPECTL_TESTS_VULKAN_RIG_H
#define PIPECTL_TESTS_VULKAN_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pipectl/backend.h"

#define RIG_BUFFERS 8

/* The plugin opened in debug mode, one device open. */
typedef struct rig {
	void *library;
	const pctl_plugin *plugin;
	const pctl_backend *api;
	pctl_instance *inst;
	pctl_device *dev;
	pctl_device_caps caps;
	pctl_device_info info;
	uint32_t index;
	uint32_t n_devices;
	uint32_t last_code; /* of the last diagnostic */
	char last_text[1024];
	pctl_call call;
	uint32_t cancel_now;
} rig;

/* Open the plugin and device `index`; fails the test when there is no device at all. 0: no such
 * device. */
int rig_open(rig *r, uint32_t index);
void rig_close(rig *r);

/* Run `body` with every device there is. */
void rig_each(void (*body)(rig *r));

/* A test that runs `body` with every device. */
#define DEVICE_TEST(name, body)                       \
	static void test_vulkan__##name(void **state) \
	{                                             \
		(void)state;                          \
		rig_each(body);                       \
	}

/* A piece of host memory bound to (group 0, binding i); read back after the run. */
typedef struct rig_bytes {
	void *data;
	uint64_t n_bytes;
	uint32_t uniform;
} rig_bytes;

/* A finished program as wire bytes. Fails the test when it does not verify. */
typedef struct rig_program {
	uint8_t *wire;
	uint64_t n;
} rig_program;
rig_program rig_finish(pctl_builder *b);

/* Build, dispatch once, read every buffer back. Fails the test on any error. */
void rig_run(rig *r, const rig_program *p, const rig_bytes *bytes, uint32_t n, uint32_t x,
	     uint32_t y, uint32_t z);

/* ---- building ---- */

pctl_builder *rig_builder(void); /* with an empty `spec` */
uint32_t rig_storage(pctl_builder *b, uint32_t binding, uint32_t type, int writable);
uint32_t rig_uniform(pctl_builder *b, uint32_t binding, uint32_t type);
uint32_t rig_group_var(pctl_builder *b, uint32_t type);
uint32_t rig_private(pctl_builder *b, uint32_t type);
/* End the open function and make it the entry point. */
void rig_entry(pctl_builder *b, uint32_t x, uint32_t y, uint32_t z);
uint32_t rig_inst(pctl_builder *b, uint16_t op, uint32_t type, uint32_t n, ...);
uint32_t rig_u32(pctl_builder *b, uint32_t value);
uint32_t rig_global_x(pctl_builder *b); /* component x of the global id */

/* ---- numbers ---- */

/* Counter-based: the n-th number of stream `seed`. */
uint64_t rig_random(uint64_t seed, uint64_t n);
/* Boundary values first, random ones after them. */
uint64_t rig_value(uint64_t seed, uint32_t n, uint32_t bits);

#endif
