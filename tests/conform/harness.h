/* What the conformance tests share: a plugin opened through its symbol, programs built in a few
 * lines, one call that runs a program over plain arrays. No expectation is computed here. */
#ifndef PIPECTL_TESTS_CONFORM_HARNESS_H
#define PIPECTL_TESTS_CONFORM_HARNESS_H

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
	pctl_instance *inst;
	const pctl_backend *be;
	pctl_device *dev;
	pctl_call call;
	uint32_t last_code; /* of the last diagnostic */
	char last_text[512];
	uint32_t cancel_after; /* answers of the cancel test that are still 0; 0: never cancels */
} rig;

/* Open the plugin's first device; fails the test on any error. */
void rig_open(rig *r, const char *path);
void rig_close(rig *r);

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

/* One binding of a run: data is copied in before and out after. */
typedef struct bytes {
	void *data;
	uint64_t n_bytes;
	uint32_t is_uniform;
	uint32_t reserved;
} bytes;

/* Build, bind arrays[i] to group 0 binding i, dispatch, read back. Each array lies between two
 * guards that must come back as they went in. */
void rig_run(rig *r, const uint8_t *wire, uint64_t n_wire, uint32_t flags, bytes *arrays,
	     uint32_t n, uint32_t gx, uint32_t gy, uint32_t gz);
/* prog_end, rig_run, free. */
void rig_run_prog(rig *r, prog *p, uint32_t local_x, uint32_t flags, bytes *arrays, uint32_t n,
		  uint32_t gx);

/* Counter-based random numbers: a function of seed and counter alone. */
uint64_t rnd(uint64_t seed, uint64_t counter);

#endif
