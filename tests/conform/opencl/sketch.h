/* What the tests of the opencl backend share: the rig on the driver's first device, and programs
 * built in a few lines. PCTL_TEST_PLUGIN names another plugin file. */
#ifndef PIPECTL_TESTS_OPENCL_SKETCH_H
#define PIPECTL_TESTS_OPENCL_SKETCH_H

#include "rig.h"

/* Group setup and teardown for cmocka: *state is the rig. */
int sketch_setup(void **state);
int sketch_teardown(void **state);

/* A program under construction: `main` with these bindings, all in group 0. */
typedef struct sketch {
	pctl_builder *b;
	uint32_t t_bool, t_i32, t_u32, t_i64, t_u64, t_uvec3;
	uint32_t local_size[3];
} sketch;

void sketch_begin(sketch *s, uint32_t local_x);
/* A storage variable at the next binding; access PCTL_ACCESS_*. */
uint32_t sketch_storage(sketch *s, uint32_t binding, uint32_t type, uint8_t access);
uint32_t sketch_var(sketch *s, uint8_t space, uint32_t type);
void sketch_main(sketch *s);
/* Close main, take the wire form. */
uint8_t *sketch_end(sketch *s, uint64_t *n);

/* Instructions: the argument words follow. */
#define OP(s, op, type, ...)                                                         \
	pctl_build_inst((s)->b, PCTL_OP_##op, type, (const uint32_t[]){__VA_ARGS__}, \
			(uint32_t)(sizeof((const uint32_t[]){__VA_ARGS__}) / 4))
#define OP0(s, op, type) pctl_build_inst((s)->b, PCTL_OP_##op, type, NULL, 0)
uint32_t k_u32(sketch *s, uint32_t v);
uint32_t k_i32(sketch *s, int32_t v);
uint32_t global_x(sketch *s);

/* rig_run of `groups` workgroups in x. Releases wire. */
void sketch_run(rig *r, uint8_t *wire, uint64_t n, const rig_bytes *arrays, uint32_t n_arrays,
		uint32_t groups);

#endif
