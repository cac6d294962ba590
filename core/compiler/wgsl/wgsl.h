/* The WGSL front end: text in, verified program out, every error of the text reported in one go.
 * Language: ../../README and semantics section 1 (compute only, the Cybergraph subset, strict
 * floats, i64, u64 and bf16). */
#ifndef PIPECTL_COMPILER_WGSL_WGSL_H
#define PIPECTL_COMPILER_WGSL_WGSL_H

#include "compiler/eval/specialise.h"

/* The text of a function op named by `//# use int.popcount@1`: returns 1 and a text that stays
 * valid until the compile ends, or 0 when there is no such op (the front end then reports it with
 * the names `names` gives). dtype-suffixed forms are found by the front end by asking once for each
 * scalar type; see oplib.h. */
typedef struct pctl_wgsl_library {
	void *ctx;
	int (*find)(void *ctx, const char *op, uint32_t version, uint32_t dtype, const char **text);
	uint32_t (*names)(void *ctx, uint32_t capacity, const char **out);
} pctl_wgsl_library;

#define PCTL_WGSL_CONSENSUS \
	1u /* also demand @size/@align on members, no gaps, and what semantics sections 5, 8 \
	      forbid there */

/* The host's own kernels (core/compiler/legalize/softfloat, probes): float operators are native opcodes on f32, f64
 * and f16, and mulHigh exists. Programs compiled so never leave the host. */
#define PCTL_WGSL_NATIVE 2u

/* With PCTL_WGSL_CONSENSUS: floats are taken too, as strict ones; whether they may run is the caller's business. */
#define PCTL_WGSL_FLOATS 4u
/* What version 1 of the consensus rules took, for replaying its blocks: the front end as it was then,
 * with the mistakes it let pass and the valid texts it refused. */
#define PCTL_WGSL_RULES_1 8u
#define PCTL_WGSL_HAS_FLOATS(flags) \
	(((flags) & (PCTL_WGSL_CONSENSUS | PCTL_WGSL_FLOATS)) != PCTL_WGSL_CONSENSUS)

/* f64 as a strict type came after the released rules, which keep refusing it. */
#define PCTL_WGSL_HAS_F64(flags)            \
	(((flags)&PCTL_WGSL_NATIVE) != 0 || \
	 ((flags) & (PCTL_WGSL_CONSENSUS | PCTL_WGSL_RULES_1)) == 0)

typedef struct pctl_wgsl_options {
	const char *file; /* name for positions */
	uint32_t flags;	  /* PCTL_WGSL_* */
	uint32_t
		subgroup; /* the size of a text that declares none (`//# subgroup`), 0: none; not under the consensus rules */
	const pctl_wgsl_library *library; /* NULL: `//# use` is refused */
} pctl_wgsl_options;

/* A size that subgroups may have. */
int pctl_wgsl_is_subgroup_size(uint64_t n);

/*
 * Compile n bytes of text. On success *out is a verified program with origins, unspecialised
 * overrides, and all entry points of the text. Recursion is refused, and of loops what the text
 * alone shows to be unbounded: under the consensus rules every header that names no bound (PC2210 to PC2212, PC2218).
 * That each loop ends is proved on the specialised program (compiler/analysis/analyse.h).
 *
 * Errors: PCTL_E_INVALID with at least one diagnostic; *out is NULL.
 */
pctl_status pctl_wgsl_compile(const char *text, uint64_t n, const pctl_wgsl_options *options,
			      const pctl_call *call, pctl_program **out);

/*
 * What the values of overrides make of a text that compiled to p: WGSL demands of expressions of
 * overrides what it demands of constants, at the creation of a pipeline. Judged is what the entry
 * point (NULL: the only one) reaches, with the values given and the defaults of the others. Values
 * that fit no override, and an entry point that is not there, are left to pctl_program_specialise.
 * Under PCTL_WGSL_RULES_1 and PCTL_WGSL_NATIVE nothing is judged.
 *
 * Errors: PC2045 at each expression, with what is wrong and the values.
 */
pctl_status pctl_wgsl_check_overrides(const char *text, uint64_t n,
				      const pctl_wgsl_options *options, const pctl_program *p,
				      const char *entry, const pctl_override_value *values,
				      uint32_t n_values, const pctl_call *call);

#endif
