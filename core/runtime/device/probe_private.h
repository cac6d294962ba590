/* What the files of the probe share. */
#ifndef PIPECTL_RUNTIME_DEVICE_PROBE_PRIVATE_H
#define PIPECTL_RUNTIME_DEVICE_PROBE_PRIVATE_H

#include <time.h>

#include "foundation/base/str.h"
#include "runtime/device/probe.h"

/* Kernels of operations that a device need not have are small; one that takes longer is not worth having. */
#define PROBE_OPTIONAL_NS 20000000000ull

typedef struct probe {
	const pctl_backend *table;
	pctl_device *dev;
	const pctl_device_caps *caps;
	const pctl_call *call;
	pctl_profile_record *out;
	pctl_status status;  /* the first thing that ended the probe */
	uint64_t slowest_ns; /* of all kernels so far, from submit to the end of wait */
	uint64_t build_ns;   /* of the last one */
	int lost;	     /* the device was lost while it built or ran one */
	uint64_t timeout_ns; /* of one kernel; 0: a minute */
	int tries;	   /* what the device refuses, or fails at, ends nothing: it cannot do it */
	uint32_t n_single; /* cases of each single operation, and of each context */
	uint32_t n_context;
	uint32_t per_group;			/* invocations of a workgroup; 0: 64 */
	const struct pctl_legal_options *legal; /* not NULL: legalised so */
	uint64_t draw; /* not 0: of kernels with one operation only a few, which it chooses */
} probe;

/* One row of natives.def. */
typedef struct probe_native {
	uint16_t op;
	uint8_t result, operand;
} probe_native;
extern const probe_native probe_natives[PCTL_N_NATIVE];

/*
 * probe_run.c: compile `text` (flags PCTL_WGSL_*), bind `in`, `out` and { n, loops } to group 0 bindings 0 to 2, run
 * one invocation for each of n cases, read `out` back. 1: ran. 0: the device does not build it, or p->status says why
 * the probe is over.
 */
int probe_run(probe *p, const char *text, uint32_t flags, uint32_t n, const uint32_t *in,
	      uint64_t in_words, uint32_t *out, uint64_t out_words);

/* probe_cases.c: three operands of case i, as bits of the scalar. CALM ones are normal and within a few binary orders
 * of 1. */
enum { PROBE_ANY = 0, PROBE_CALM = 1 };
void probe_operands(uint8_t scalar, uint32_t set, uint32_t i, uint64_t out[3]);
uint64_t probe_random(uint64_t counter);

/* probe_expect.c: what row `native` gives, 0 when these operands have no defined result. */
int probe_expect(const probe_native *native, const uint64_t *operands, uint64_t *out);
/* Operands an operation reads. */
uint32_t probe_arity(uint16_t op);
int probe_is_nan(uint8_t scalar, uint64_t bits);
/* Subnormal, or the smallest normal, which a rounding may have reached from below. */
int probe_is_tiny(uint8_t scalar, uint64_t bits);
int probe_is_subnormal(uint8_t scalar, uint64_t bits);

/* Is the i-th of n kernels with one operation each among those that are run. */
int probe_is_drawn(const probe *p, uint32_t set, uint32_t i, uint32_t n);

/* probe_context.c */
void probe_contexts(probe *p, uint8_t scalar);
/* Conversions the way forms use them: into f64, an operation there, back. */
void probe_through_f64(probe *p);
/* probe_tile_float.c: a product of matrix tiles of floats, M x 8 x K, factors of f64 or of f32. 1: it is right. */
int probe_tile_float(probe *p, uint32_t m, uint32_t k, int is_wide);
/* probe_integer.c */
void probe_integers(probe *p);
/* probe_program.c */
void probe_programs(probe *p);

/* probe.c: a difference. Lowers the verdict to at most `verdict` and keeps the first witness. */
void probe_lower(probe *p, uint32_t native, uint8_t verdict, const char *text,
		 const uint64_t *operands, uint32_t n_operands, uint64_t got, uint64_t want);
/* WGSL that reads operand k of case i of a scalar, and that writes value `e` as two words at r[at], r[at + 1]. */
void probe_read_text(pctl_str_buf *s, uint8_t scalar, uint32_t k);
void probe_write_text(pctl_str_buf *s, uint8_t scalar, const char *e, const char *at);
/* The start of every kernel. */
void probe_frame(pctl_str_buf *s, int f16);

#endif
