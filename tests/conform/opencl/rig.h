/* What the tests of the opencl backend stand on: one device opened through the plugin's own symbol,
 * programs built with the builder, one dispatch at a time. PCTL_TEST_PLUGIN names the plugin file.
 */
#ifndef PIPECTL_TESTS_OPENCL_RIG_H
#define PIPECTL_TESTS_OPENCL_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pipectl/backend.h"

typedef struct rig {
	void *library;
	const pctl_plugin *plugin;
	const pctl_backend *api;
	pctl_instance *inst;
	pctl_device *dev;
	pctl_device_caps caps;
	pctl_host host;
	pctl_call call;
	uint32_t last_code; /* of the last diagnostic */
	char last_message[512];
	int loud;
} rig;

/* Group setup and teardown for cmocka: *state is the rig. */
int rig_open(void **state);
int rig_close(void **state);

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
uint8_t *sketch_end(rig *r, sketch *s, uint64_t *n);

/* Instructions: the argument words follow. */
#define OP(s, op, type, ...)                                                         \
	pctl_build_inst((s)->b, PCTL_OP_##op, type, (const uint32_t[]){__VA_ARGS__}, \
			(uint32_t)(sizeof((const uint32_t[]){__VA_ARGS__}) / 4))
#define OP0(s, op, type) pctl_build_inst((s)->b, PCTL_OP_##op, type, NULL, 0)
uint32_t k_u32(sketch *s, uint32_t v);
uint32_t k_i32(sketch *s, int32_t v);
uint32_t global_x(sketch *s);

/* One binding of a run: data goes up before and comes back after. bytes may be 0. */
typedef struct bound {
	uint32_t binding;
	void *data;
	uint64_t n_bytes;
} bound;

pctl_kernel *rig_build(rig *r, const uint8_t *wire, uint64_t n);
/* Build, dispatch `groups` workgroups in x once, read every binding back. Releases wire. */
void rig_run(rig *r, uint8_t *wire, uint64_t n, bound *bounds, uint32_t n_bounds, uint32_t groups);
void rig_submit(rig *r, pctl_list *l, uint32_t times, pctl_completion *done);

/* A counter-based generator: the n-th number of a seed. */
uint64_t noise(uint64_t seed, uint64_t n);

#endif
