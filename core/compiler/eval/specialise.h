/* Making an unspecialised program concrete: one entry point, override values put in. */
#ifndef PIPECTL_COMPILER_EVAL_SPECIALISE_H
#define PIPECTL_COMPILER_EVAL_SPECIALISE_H

#include "pipectl/program.h"

/*
 * A value for an override.
 *
 * name  of the override, or its @id in decimal
 * text  as somebody wrote it, read by the override's type: true or false, an integer, for a float
 *       also a decimal or hex float, rounded once; NULL: `bits` counts
 * bits  the value: of an integer sign- or zero-extended, of a float its bits; refused, never cut,
 *       when it does not fit
 * pos   where it was written, for what is wrong with it; NULL: not known
 */
typedef struct pctl_override_value {
	const char *name;
	uint64_t bits;
	const char *text;
	const pctl_pos *pos;
} pctl_override_value;

/* 1 when `text` can be the value of some override: true, false, or a number. */
int pctl_override_is_value(const char *text);

/* The bits of a value for the override of that name (or @id), as `bits` above says: PC2041, PC2043. */
pctl_status pctl_override_bits(const pctl_program *p, const pctl_override_value *v,
			       const pctl_call *call, uint64_t *out);

/*
 * A new program with the entry point `entry` (NULL: the only one) alone, every OVERRIDE replaced by
 * CONST, sizes literal, `spec` empty, unreachable functions and unused module variables dropped
 * (uniform and storage variables that the entry does not use included), origins kept. Verified.
 *
 * Errors: PC2040 no such entry (hint lists them), PC2041 no such override, PC2042 override without
 * value or default, PC2043 value does not fit, PC2044 a size is 0 or over the limit of 65536.
 */
pctl_status pctl_program_specialise(const pctl_program *p, const char *entry,
				    const pctl_override_value *values, uint32_t n_values,
				    const pctl_call *call, pctl_program **out);

#endif
