/* What the units of the suite are made of: rows of parameters, a trial that runs one row on the device under proof and compares
 * with what the host worked out, and the running of programs over arrays whose neighbours are watched. */
#ifndef PIPECTL_EVIDENCE_SUITE_TRIAL_H
#define PIPECTL_EVIDENCE_SUITE_TRIAL_H

#include "evidence/proof/proof.h"

#define SUITE_PARAMS 5u

/*
 * One run of one row of parameters.
 *
 * p       the row
 * hasher  takes what the device answered; NULL while a counterexample is made smaller
 * failed  set by the checks below, with what was found and what was due
 * refused set where the host refused the row for this device: it is not judged
 */
typedef struct suite_trial {
	pctl_proof_context *context;
	const pctl_call *call;
	const uint32_t *p;
	pctl_hasher *hasher;
	int failed, refused;
	char got[128], want[128], what[96];
} suite_trial;

/*
 * A unit as a table says it.
 *
 * law      the invariant in words
 * domain   what the rows are
 * param    names of the parameters in use
 * sets     n_sets rows, per_block of them in a block
 * shrink   bit i: parameter i may be made smaller, down to 1, when a row fails
 * flags    PCTL_UNIT_HOST
 */
typedef struct suite_unit {
	const char *name, *law, *domain;
	const char *param[SUITE_PARAMS];
	const uint32_t (*sets)[SUITE_PARAMS];
	uint32_t n_sets, per_block;
	uint32_t shrink, flags;
	pctl_status (*trial)(suite_trial *t);
} suite_unit;

/* Tables of units, each in the file of its name. */
extern const suite_unit suite_deterministic[], suite_invariant[], suite_compact[], suite_bounded[],
	suite_terminating[], suite_atomics[], suite_barriers[], suite_uniform[], suite_layout[],
	suite_wire[], suite_races[], suite_neighbours[], suite_wholes[], suite_known[],
	suite_shifts[], suite_limits[], suite_parted[], suite_rest[];
extern const uint32_t suite_n_deterministic, suite_n_invariant, suite_n_compact, suite_n_bounded,
	suite_n_terminating, suite_n_atomics, suite_n_barriers, suite_n_uniform, suite_n_layout,
	suite_n_wire, suite_n_races, suite_n_neighbours, suite_n_wholes, suite_n_known,
	suite_n_shifts, suite_n_limits, suite_n_parted, suite_n_rest;

/* Trial of a generated program: p[0] is its number. */
pctl_status suite_generated_trial(suite_trial *t);
pctl_status suite_generated_float_trial(suite_trial *t);
pctl_status suite_generated_barriers_trial(suite_trial *t);
pctl_status suite_generated_exits_trial(suite_trial *t);

/* ---- random numbers, checks ---------------------------------------------------------------- */

/* A function of seed and counter alone. */
uint64_t suite_mix(uint64_t seed, uint64_t counter);
/* The hash of programs/, worked out on the host: a bijection of 32 bits. */
uint32_t suite_hash(uint32_t x);

__attribute__((format(printf, 2, 3))) void suite_found(suite_trial *t, const char *format, ...);
__attribute__((format(printf, 2, 3))) void suite_due(suite_trial *t, const char *format, ...);
/* The trial has failed; what was found and due, if not yet said, is said with suite_found and suite_due. Only the first
 * failure of a trial counts. Returns 1 when this is it. */
int suite_fail(suite_trial *t, const char *what);
/* n words must be equal; digests those got. */
void suite_words(suite_trial *t, const char *what, const uint32_t *got, const uint32_t *want,
		 uint64_t n);
/* One number must be as due; does not digest. */
void suite_number(suite_trial *t, const char *what, uint64_t got, uint64_t want);
void suite_digest(suite_trial *t, const void *data, uint64_t n);

/* ---- programs ------------------------------------------------------------------------------- */

/* The unit of programs/NAME, entry point (NULL: the only one), with override WG (0: none). */
pctl_status suite_kernel(suite_trial *t, const char *file, const char *entry, uint32_t wg,
			 const pctl_kernel_module **out);
/* Run with the unit of a text of one's own, which is freed; the unit is dropped with it. */
pctl_status suite_with_text(suite_trial *t, const char *name, char *text,
			    pctl_status (*run)(suite_trial *t, const pctl_kernel_module *unit));
/* Its text; NULL: there is none of that name. */
const char *suite_text(const char *file);

/* ---- work: programs over arrays ------------------------------------------------------------- */

#define SUITE_BUFFERS 64u
#define SUITE_STEPS 24u
#define SUITE_BINDINGS 12u

enum {
	SUITE_IN = 1,	   /* storage whose contents nobody needs */
	SUITE_OUT = 2,	   /* storage, read back into data */
	SUITE_UNIFORM = 3, /* uniform */
};

typedef struct suite_buffer {
	uint32_t kind;
	uint8_t *data;
	uint64_t n_bytes;
} suite_buffer;

/* unit, or a program that is built for this run alone, without any profile. buffer[i] is bound to
 * group 0, binding i, where the program has it. */
typedef struct suite_step {
	const pctl_kernel_module *unit;
	const pctl_program *program;
	uint32_t groups[3];
	uint32_t buffer[SUITE_BINDINGS];
} suite_step;

/* Steps run in order with a list barrier between; the whole list `times` times. A zeroed one is empty, with times 0
 * meaning once. */
typedef struct suite_work {
	suite_buffer buffers[SUITE_BUFFERS];
	suite_step steps[SUITE_STEPS];
	uint32_t n_buffers, n_steps, times;
	uint32_t failed; /* no memory for one of the buffers: suite_run says so */
} suite_work;

/* A buffer of n_bytes with a copy of data (NULL: zeros); returns its number. The copy is `w->buffers[n].data`. */
uint32_t suite_buffer_add(suite_work *w, uint32_t kind, const void *data, uint64_t n_bytes);
uint32_t *suite_data(const suite_work *w, uint32_t buffer);
/* buffers: one a binding, from 0 on. */
void suite_step_add(suite_work *w, const pctl_kernel_module *unit, uint32_t groups,
		    const uint32_t *buffers, uint32_t n);
void suite_work_drop(suite_work *w);
/* Bytes of all buffers that come back, compared with another run's of the same work; digests those of `got`. */
void suite_same(suite_trial *t, const char *what, const suite_work *got, const suite_work *want);

/* Run on `s`. Every buffer lies between two guards, which must come back as they went, as must what no program may write;
 * a changed one fails the trial. */
pctl_status suite_run(suite_trial *t, pctl_session *s, const suite_work *w);
/* The kernel unit of generated program `number` in `kernels`, and the work that does its dispatches. flags: GEN_* of gen.h. Without
 * GEN_FLOATS its seed is even and it is built alone; with it the seed is odd, and it is built by the session's profile. */
pctl_status suite_generated(suite_trial *t, pctl_kernels *kernels, uint64_t number, uint32_t flags,
			    const pctl_kernel_module **unit, suite_work *w);
/* Run on the sanitizing reference (its results too go into the work's data) and take up to `capacity` findings. */
pctl_status suite_sanitize(suite_trial *t, const suite_work *w, uint32_t capacity,
			   pctl_finding *out, uint32_t *n);

#endif
