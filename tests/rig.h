/* What tests of a backend stand on: the plugin opened through its own symbol, as a host opens it,
 * one device, and a program run over plain arrays. It fails the running test on any error and
 * expects nothing of its own. */
#ifndef PIPECTL_TESTS_RIG_H
#define PIPECTL_TESTS_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pipectl/backend.h"

#define RIG_BUFFERS 16

/*
 * loud          diagnostics are printed as they come
 * cancel_after  answers of the cancel test that are still 0, plus 1; 0: never cancels
 * guard         bytes on either side of every array of rig_run that must come back as they went in
 */
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
	pctl_call call;
	uint32_t last_code; /* of the last diagnostic */
	char last_text[1024];
	uint32_t loud;
	uint32_t cancel_after;
	uint32_t guard;
} rig;

/* A host that gives memory and no services. */
extern const pctl_host rig_host;

/* Load the plugin and open it, without a device. */
void rig_load(rig *r, const char *path, const pctl_host *host);
/* Open device `index`; 0: there is no such device. */
int rig_device(rig *r, uint32_t index);
/* Both, with rig_host and the first device. */
void rig_open(rig *r, const char *path);
/* Closes what is open; the library stays loaded, as hosts keep it. */
void rig_close(rig *r);

/* Fails the test, with the last diagnostic, unless status is PCTL_OK. */
void rig_must(const rig *r, pctl_status status, const char *what);

pctl_kernel *rig_build(rig *r, const uint8_t *wire, uint64_t n, uint32_t flags);
void rig_submit(rig *r, pctl_list *l, uint32_t times, pctl_completion *done);
/* One dispatch, waited for. */
void rig_dispatch(rig *r, pctl_kernel *k, const pctl_binding *bindings, uint32_t n,
		  const uint32_t groups[3]);

/* Host memory that goes up before a run and comes back after it. is_uniform: 1 for a uniform, RIG_UNBOUND for no binding. */
#define RIG_UNBOUND 2u
typedef struct rig_bytes {
	void *data;
	uint64_t n_bytes;
	uint32_t is_uniform;
} rig_bytes;

/* Build, bind arrays[i] to group 0 binding i, dispatch once, read back. */
void rig_run(rig *r, const uint8_t *wire, uint64_t n_wire, uint32_t flags, const rig_bytes *arrays,
	     uint32_t n, uint32_t x, uint32_t y, uint32_t z);

/* The wire form of what was built; the builder is gone afterwards. */
typedef struct rig_program {
	uint8_t *wire;
	uint64_t n;
} rig_program;
rig_program rig_finish(pctl_builder *b);

/* Counter-based random numbers: a function of seed and counter alone. */
uint64_t rig_random(uint64_t seed, uint64_t counter);

#endif
