/* What the tests of the vulkan plugin share: the rig on each device that the plugin finds, in debug
 * mode, and short ways to build a program. */
#ifndef PIPECTL_TESTS_VULKAN_DEVICES_H
#define PIPECTL_TESTS_VULKAN_DEVICES_H

#include "rig.h"

/* Open the plugin and device `index`; fails the test when there is no device at all. 0: no such
 * device, and nothing is open. */
int devices_open(rig *r, uint32_t index);

/* Run `body` with every device there is. */
void rig_each(void (*body)(rig *r));

/* A test that runs `body` with every device. */
#define DEVICE_TEST(name, body)                       \
	static void test_vulkan__##name(void **state) \
	{                                             \
		(void)state;                          \
		rig_each(body);                       \
	}

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

/* Boundary values first, random ones after them. */
uint64_t rig_value(uint64_t seed, uint32_t n, uint32_t bits);

#endif
