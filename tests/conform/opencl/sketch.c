/* See sketch.h. */
#include "sketch.h"

#include <stdlib.h>

static rig the_rig; /* cmocka hands state around as a pointer that must outlive the setup */

int sketch_setup(void **state)
{
	const char *path = getenv("PCTL_TEST_PLUGIN");

	rig_open(&the_rig, path ? path : PCTL_TEST_PLUGIN_DEFAULT);
	the_rig.loud = 1;
	fprintf(stderr, "device: %s (%s)\n", the_rig.info.name, the_rig.info.driver);
	*state = &the_rig;
	return 0;
}

int sketch_teardown(void **state)
{
	rig_close(*state);
	return 0;
}

void sketch_begin(sketch *s, uint32_t local_x)
{
	s->b = pctl_builder_create();
	s->t_bool = pctl_build_scalar(s->b, PCTL_SCALAR_BOOL);
	s->t_i32 = pctl_build_scalar(s->b, PCTL_SCALAR_I32);
	s->t_u32 = pctl_build_scalar(s->b, PCTL_SCALAR_U32);
	s->t_i64 = pctl_build_scalar(s->b, PCTL_SCALAR_I64);
	s->t_u64 = pctl_build_scalar(s->b, PCTL_SCALAR_U64);
	s->t_uvec3 = pctl_build_vector(s->b, PCTL_SCALAR_U32, 3);
	s->local_size[0] = local_x;
	s->local_size[1] = s->local_size[2] = 1;
	pctl_build_spec_begin(s->b);
	pctl_build_function_end(s->b);
}

uint32_t sketch_storage(sketch *s, uint32_t binding, uint32_t type, uint8_t access)
{
	const pctl_var v = {
		.type = type, .space = PCTL_SPACE_STORAGE, .access = access, .binding = binding};
	char name[16];

	snprintf(name, sizeof(name), "b%u", binding);
	return pctl_build_var(s->b, &v, name);
}

uint32_t sketch_var(sketch *s, uint8_t space, uint32_t type)
{
	const pctl_var v = {.type = type, .space = space, .access = PCTL_ACCESS_READ_WRITE};

	return pctl_build_var(s->b, &v, "v");
}

void sketch_main(sketch *s)
{
	pctl_build_function_begin(s->b, "main", NULL, 0, 0);
}

uint8_t *sketch_end(sketch *s, uint64_t *n)
{
	pctl_entry entry = {.function = pctl_build_function_end(s->b)};
	rig_program done;

	memcpy(entry.workgroup_size, s->local_size, sizeof(s->local_size));
	pctl_build_entry(s->b, &entry, "main");
	done = rig_finish(s->b);
	*n = done.n;
	return done.wire;
}

uint32_t k_u32(sketch *s, uint32_t v)
{
	return pctl_build_const(s->b, s->t_u32, v);
}

uint32_t k_i32(sketch *s, int32_t v)
{
	return pctl_build_const(s->b, s->t_i32, (uint32_t)v);
}

uint32_t global_x(sketch *s)
{
	const uint32_t id = OP(s, BUILTIN, s->t_uvec3, PCTL_BUILTIN_GLOBAL_ID);

	return OP(s, EXTRACT, s->t_u32, id, 0);
}

void sketch_run(rig *r, uint8_t *wire, uint64_t n, const rig_bytes *arrays, uint32_t n_arrays,
		uint32_t groups)
{
	rig_run(r, wire, n, 0, arrays, n_arrays, groups, 1, 1);
	free(wire);
}
