/* See devices.h. */
#include "devices.h"

#include <stdlib.h>

#include "pipectl/program.h"

static const void *service(void *ctx, const char *name)
{
	static const uint32_t on = 1;

	(void)ctx;
	if (strcmp(name, PCTL_SERVICE_DEBUG) == 0 && !getenv("PIPECTL_TEST_NO_DEBUG"))
		return &on;
	if (strcmp(name, PCTL_SERVICE_CACHE_DIR) == 0)
		return getenv("PIPECTL_TEST_CACHE_DIR");
	return NULL;
}

int devices_open(rig *r, uint32_t index)
{
	static pctl_host host; /* read by the plugin for as long as it is open */
	const char *path = getenv("PIPECTL_TEST_PLUGIN");

	host = rig_host;
	host.get_service = service;
	rig_load(r, path ? path : PIPECTL_VULKAN_PLUGIN, &host);
	if (rig_device(r, index))
		return 1;
	if (r->n_devices == 0)
		fail_msg("no Vulkan device on this machine");
	rig_close(r);
	return 0;
}

void rig_each(void (*body)(rig *r))
{
	uint32_t i;
	rig r;

	for (i = 0; devices_open(&r, i); i++) {
		body(&r);
		rig_close(&r);
	}
}

/* ---- building ---- */

pctl_builder *rig_builder(void)
{
	pctl_builder *b = pctl_builder_create();

	assert_non_null(b);
	pctl_build_spec_begin(b);
	pctl_build_function_end(b);
	return b;
}

static uint32_t make_var(pctl_builder *b, uint8_t space, uint8_t access, uint32_t binding,
			 uint32_t type, const char *name)
{
	const pctl_var v = {.type = type, .space = space, .access = access, .binding = binding};

	return pctl_build_var(b, &v, name);
}

uint32_t rig_storage(pctl_builder *b, uint32_t binding, uint32_t type, int writable)
{
	return make_var(b, PCTL_SPACE_STORAGE, writable ? PCTL_ACCESS_READ_WRITE : PCTL_ACCESS_READ,
			binding, type, "s");
}

uint32_t rig_uniform(pctl_builder *b, uint32_t binding, uint32_t type)
{
	return make_var(b, PCTL_SPACE_UNIFORM, PCTL_ACCESS_READ, binding, type, "u");
}

uint32_t rig_group_var(pctl_builder *b, uint32_t type)
{
	return make_var(b, PCTL_SPACE_WORKGROUP, PCTL_ACCESS_READ_WRITE, 0, type, "w");
}

uint32_t rig_private(pctl_builder *b, uint32_t type)
{
	return make_var(b, PCTL_SPACE_PRIVATE, PCTL_ACCESS_READ_WRITE, 0, type, "p");
}

void rig_entry(pctl_builder *b, uint32_t x, uint32_t y, uint32_t z)
{
	pctl_entry e = {.workgroup_size = {x, y, z}};

	e.function = pctl_build_function_end(b);
	pctl_build_entry(b, &e, "main");
}

uint32_t rig_inst(pctl_builder *b, uint16_t op, uint32_t type, uint32_t n, ...)
{
	uint32_t args[16], i;
	va_list list;

	va_start(list, n);
	for (i = 0; i < n && i < 16; i++)
		args[i] = va_arg(list, uint32_t);
	va_end(list);
	return pctl_build_inst(b, op, type, args, n);
}

uint32_t rig_u32(pctl_builder *b, uint32_t value)
{
	return pctl_build_const(b, pctl_build_scalar(b, PCTL_SCALAR_U32), value);
}

uint32_t rig_global_x(pctl_builder *b)
{
	const uint32_t u32 = pctl_build_scalar(b, PCTL_SCALAR_U32);
	const uint32_t id = rig_inst(b, PCTL_OP_BUILTIN, pctl_build_vector(b, PCTL_SCALAR_U32, 3),
				     1, PCTL_BUILTIN_GLOBAL_ID);

	return rig_inst(b, PCTL_OP_EXTRACT, u32, 2, id, 0);
}

/* ---- numbers ---- */

uint64_t rig_value(uint64_t seed, uint32_t n, uint32_t bits)
{
	static const uint64_t edges[] = {0,
					 1,
					 2,
					 3,
					 5,
					 7,
					 31,
					 32,
					 33,
					 63,
					 64,
					 0x7f,
					 0x80,
					 0xff,
					 0x7fffffff,
					 0x80000000,
					 0x80000001,
					 0xfffffffe,
					 0xffffffff,
					 0x100000000,
					 0x7fffffffffffffff,
					 0x8000000000000000,
					 0x8000000000000001,
					 0xfffffffffffffffe,
					 0xffffffffffffffff,
					 0xffffffff00000000,
					 0x80000000ffffffff};
	const uint64_t count = sizeof(edges) / sizeof(edges[0]);
	const uint64_t r = rig_random(seed, n);
	uint64_t v;

	/* half edges, a quarter sparse, a quarter anything */
	if (r & 1)
		v = edges[(r >> 8) % count];
	else if (r & 2)
		v = rig_random(seed ^ 77, n) >> ((r >> 8) % 64);
	else
		v = rig_random(seed ^ 99, n);
	return bits == 64 ? v : v & 0xffffffff;
}
