/* What the conformance tests of the cpu backend share: programs built in a few lines and run on the
 * rig. No expectation is computed here. */
#ifndef PIPECTL_TESTS_CONFORM_HARNESS_H
#define PIPECTL_TESTS_CONFORM_HARNESS_H

#include "rig.h"

/* The plugin's first device, with guards around every array of a run. */
void harness_open(rig *r, const char *path);

/* A program under construction with the types most tests want. */
typedef struct prog {
	pctl_builder *b;
	uint32_t boolean, i32, u32, i64, u64, vec3;
	uint32_t n_bindings;
} prog;

void prog_begin(prog *p);
/* A storage variable at group 0 and the next binding. */
uint32_t prog_storage(prog *p, const char *name, uint32_t type, int writable);
uint32_t prog_uniform(prog *p, const char *name, uint32_t type);
uint32_t prog_var(prog *p, const char *name, uint32_t type, uint8_t space);
uint32_t prog_u32(prog *p, uint32_t value);
uint32_t prog_i32(prog *p, int32_t value);
uint32_t prog_local(uint32_t index); /* the place of a local variable */
uint32_t prog_builtin(prog *p, uint32_t which, uint32_t component);
uint32_t prog_op(prog *p, uint16_t op, uint32_t type, uint32_t n, ...);
/* Of two u32. */
uint32_t prog_add(prog *p, uint32_t a, uint32_t b);
uint32_t prog_mul(prog *p, uint32_t a, uint32_t b);
/* Loads and stores at root with n chain words. */
uint32_t prog_load(prog *p, uint32_t type, uint32_t root, uint32_t n, ...);
void prog_store(prog *p, uint32_t value, uint32_t root, uint32_t n, ...);
void prog_main(prog *p);
/* End main, declare the entry point, encode. */
void prog_end(prog *p, uint32_t x, uint32_t y, uint32_t z, uint8_t **wire, uint64_t *n_wire);
void prog_entry(prog *p, uint32_t function, uint32_t x, uint32_t y, uint32_t z, uint8_t **wire,
		uint64_t *n_wire);

/* prog_end, rig_run, free. */
void rig_run_prog(rig *r, prog *p, uint32_t local_x, uint32_t flags, const rig_bytes *arrays,
		  uint32_t n, uint32_t gx);

#endif
