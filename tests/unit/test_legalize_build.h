/* What the tests of the legaliser share: the reference, or the plugin that PCTL_TEST_PLUGIN names,
 * and programs of 64-bit integers under construction. */
#ifndef PIPECTL_TESTS_LEGAL_BUILD_H
#define PIPECTL_TESTS_LEGAL_BUILD_H

#include <stdlib.h>

#include "compiler/legalize/legal.h"
#include "rig.h"

static inline void legal_open(rig *r)
{
	const char *path = getenv("PCTL_TEST_PLUGIN");

	rig_open(r, path ? path : PIPECTL_BINARY_DIR "/plugins/cpu.so");
	r->loud = 1;
}

static pctl_builder *b;
static uint32_t t_bool, t_i32, t_u32, t_i64, t_u64;

#define OP(op, type, ...)                                                       \
	pctl_build_inst(b, PCTL_OP_##op, type, (const uint32_t[]){__VA_ARGS__}, \
			(uint32_t)(sizeof((const uint32_t[]){__VA_ARGS__}) / 4))

static inline void program_begin(void)
{
	b = pctl_builder_create();
	t_bool = pctl_build_scalar(b, PCTL_SCALAR_BOOL);
	t_i32 = pctl_build_scalar(b, PCTL_SCALAR_I32);
	t_u32 = pctl_build_scalar(b, PCTL_SCALAR_U32);
	t_i64 = pctl_build_scalar(b, PCTL_SCALAR_I64);
	t_u64 = pctl_build_scalar(b, PCTL_SCALAR_U64);
	pctl_build_spec_begin(b);
	pctl_build_function_end(b);
}

static inline uint32_t var(uint32_t binding, uint32_t type, uint8_t space, uint8_t access)
{
	const pctl_var v = {.type = type, .space = space, .access = access, .binding = binding};

	return pctl_build_var(b, &v, "v");
}

static inline uint32_t storage(uint32_t binding, uint32_t type)
{
	return var(binding, type, PCTL_SPACE_STORAGE, PCTL_ACCESS_READ_WRITE);
}

static inline uint32_t k(uint32_t x)
{
	return pctl_build_const(b, t_u32, x);
}

static inline uint32_t main_begin(void)
{
	const uint32_t u3 = pctl_build_vector(b, PCTL_SCALAR_U32, 3);
	uint32_t id;

	pctl_build_function_begin(b, "main", NULL, 0, 0);
	id = OP(BUILTIN, u3, PCTL_BUILTIN_GLOBAL_ID);
	return OP(EXTRACT, t_u32, id, 0);
}

static inline pctl_program *program_end(rig *r)
{
	pctl_entry entry = {.workgroup_size = {1, 1, 1}};
	pctl_program *p = NULL;

	entry.function = pctl_build_function_end(b);
	pctl_build_entry(b, &entry, "main");
	rig_must(r, pctl_builder_finish(b, &r->call, &p), "the test's program");
	pctl_builder_destroy(b);
	return p;
}

static inline pctl_device_caps caps_of(uint64_t caps)
{
	return (pctl_device_caps){.head = PCTL_HEAD(pctl_device_caps), .caps = caps};
}

#endif
