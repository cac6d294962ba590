/* The legaliser: a program that uses only what a device does exactly, from one that says what is
 * meant. The reference never sees its output. */
#ifndef PIPECTL_COMPILER_LEGALIZE_LEGAL_H
#define PIPECTL_COMPILER_LEGALIZE_LEGAL_H

#include "compiler/legalize/profile.h"
#include "pipectl/backend.h"
#include "pipectl/program.h"

/* The forms (forms/...wgsl), compiled on first need and kept. One thread at a time. */
typedef struct pctl_softfloat pctl_softfloat;

/* out: the caller destroys it. Errors: PCTL_E_NOMEM. */
pctl_status pctl_softfloat_create(const pctl_call *call, pctl_softfloat **out);
/* NULL is fine. */
void pctl_softfloat_destroy(pctl_softfloat *f);

/* Class approximate: every strict f32 operation that the device has natively, exact or not, becomes the
 * native one, and NaN keeps whatever bits the device gives it. What the device has not stays exact. */
#define PCTL_LEGAL_NATIVE 1u

/*
 * profile  what is proved of the device; NULL: nothing is, floats become integers as a whole
 * forms    NULL: compiled for this call only
 * flags    PCTL_LEGAL_*
 * nesting  levels of conditions, loops and calls that the device does right (compiler/analysis/extents.h); what is deeper is
 *          flattened as far as it goes, which the caller measures. 0: any, and nothing is flattened
 */
typedef struct pctl_legal_options {
	pctl_head head;
	const pctl_profile *profile;
	pctl_softfloat *forms;
	uint32_t flags;
	uint32_t nesting;
} pctl_legal_options;

/*
 * A new program for a device with these caps; proofs (PCTL_INST_PROVEN) and origins are kept.
 * Strict operations become the first form of softfloat.def that the profile admits; 64-bit floats, where they are not
 * exact, and 64-bit integers, where there are none, become pairs of 32-bit words. Verified.
 *
 * options  NULL: integer programs only
 *
 * Errors: PC2501 to PC2505, naming the operation, its position and what the device lacks.
 */
pctl_status pctl_legalise(const pctl_program *p, const pctl_device_caps *caps,
			  const pctl_legal_options *options, const pctl_call *call,
			  pctl_program **out);

/* Kinds of forms, dearest last. */
enum {
	PCTL_FORM_NONE = 0,
	PCTL_FORM_NATIVE = 1,
	PCTL_FORM_GUARDED = 2,
	PCTL_FORM_F64 = 3,
	PCTL_FORM_INT = 4
};

/*
 * Which form strict operation `op` on operands of `scalar` takes (FNEG and FABS: none is needed, they are bit
 * operations everywhere): the function's name, or "native". NULL, and kind PCTL_FORM_NONE: none is admitted. An F64
 * form on a device whose 64-bit floats are not exact counts as INT, for that is what it becomes.
 */
const char *pctl_legal_form(const pctl_profile *profile, const pctl_device_caps *caps, uint16_t op,
			    uint8_t scalar, uint32_t *kind);
/* The same for FCONVERT. */
const char *pctl_legal_convert(const pctl_profile *profile, const pctl_device_caps *caps,
			       uint8_t result, uint8_t operand, uint32_t *kind);

#endif
