/* What the tests of strict floats share: a kernel of WGSL, run as written on the reference and as
 * legalised wherever it can run, from the same bytes. */
#ifndef PIPECTL_TESTS_LEGAL_RUN_H
#define PIPECTL_TESTS_LEGAL_RUN_H

#include <stdlib.h>

#include "compiler/legalize/legal.h"
#include "rig.h"
#include "compiler/wgsl/wgsl.h"

typedef struct legal_kernel {
	rig r;
	pctl_softfloat *forms;
	pctl_program *p;
} legal_kernel;

static inline void kernel_open(legal_kernel *k, const char *text)
{
	const pctl_wgsl_options options = {.file = "test.wgsl"};

	memset(k, 0, sizeof(*k));
	rig_open(&k->r, PIPECTL_BINARY_DIR "/plugins/cpu.so");
	k->r.loud = 1;
	rig_must(&k->r, pctl_softfloat_create(&k->r.call, &k->forms), "the forms");
	rig_must(&k->r, pctl_wgsl_compile(text, strlen(text), &options, &k->r.call, &k->p),
		 "the test's kernel");
}

static inline void kernel_close(legal_kernel *k)
{
	pctl_program_destroy(k->p);
	pctl_softfloat_destroy(k->forms);
	rig_close(&k->r);
}

/* Legalised for caps and profile, each loop once (test_legalize_lengths has what is written twice); fails the test when refused. */
static inline pctl_program *kernel_legal(legal_kernel *k, uint64_t caps,
					 const pctl_profile *profile, uint32_t flags)
{
	const pctl_device_caps device = {.head = PCTL_HEAD(pctl_device_caps), .caps = caps};
	const pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options),
					    .profile = profile,
					    .forms = k->forms,
					    .flags = flags | PCTL_LEGAL_NO_LENGTHS};
	pctl_program *out = NULL;

	rig_must(&k->r, pctl_legalise(k->p, &device, &options, &k->r.call, &out), "legalising");
	return out;
}

static inline pctl_profile profile_of(uint8_t verdict)
{
	pctl_profile p;

	memset(p.native, verdict, sizeof(p.native));
	return p;
}

static inline uint32_t count_op(const pctl_program *p, const char *function, uint16_t op)
{
	uint32_t n = 0;

	for (uint32_t f = 1; f < p->n_functions; f++)
		for (uint32_t i = 0; i < p->functions[f].n_insts; i++)
			n += p->insts[p->functions[f].first_inst + i].op == op &&
			     strcmp(pctl_str(p, p->functions[f].name), function) == 0;
	return n;
}

static inline void run_on(rig *r, const pctl_program *p, const rig_bytes *arrays, uint32_t n,
			  uint32_t groups)
{
	uint8_t *wire = NULL;
	uint64_t n_wire = 0;

	rig_must(r, pctl_program_encode(p, &r->call, &wire, &n_wire), "its wire form");
	rig_run(r, wire, n_wire, 0, arrays, n, groups, 1, 1);
	free(wire);
}

#endif
