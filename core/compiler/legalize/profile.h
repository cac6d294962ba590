/* A device profile: what a probe proved of each native float operation of one device with one driver. The legaliser
 * builds on nothing else; how a profile is made, signed and kept is core/runtime/policy's (probe.h). */
#ifndef PIPECTL_COMPILER_LEGALIZE_PROFILE_H
#define PIPECTL_COMPILER_LEGALIZE_PROFILE_H

#include "pipectl/program.h"

/* Rows of natives.def. */
enum {
#define PCTL_NATIVE(NAME, op, result, operand) PCTL_NATIVE_##NAME,
#include "compiler/legalize/natives.def"
#undef PCTL_NATIVE
	PCTL_N_NATIVE
};

/*
 * The verdict on one of them, worst first. NaN results may have any bits under every verdict: the
 * legaliser makes them canonical.
 *
 * ABSENT  the device has no such operation, or was never asked
 * WRONG   at least one result differs from IEEE 754 (min and max: semantics section 3) where no
 *         subnormal is involved
 * NORMAL  exact unless an operand or the exact result is subnormal: there it flushes, or worse
 * EXACT   every bit, everywhere it was asked: single, inlined, in loops, with constants and beside
 *         contraction candidates. A product next to a sum that fuses is WRONG for both.
 */
enum {
	PCTL_NATIVE_ABSENT = 0,
	PCTL_NATIVE_WRONG = 1,
	PCTL_NATIVE_NORMAL = 2,
	PCTL_NATIVE_EXACT = 3
};

typedef struct pctl_profile {
	uint8_t native[PCTL_N_NATIVE]; /* PCTL_NATIVE_* verdicts */
} pctl_profile;

#endif
