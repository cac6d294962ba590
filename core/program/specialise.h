/* Making an unspecialised program concrete: one entry point, override values put in. */
#ifndef PIPECTL_PROGRAM_SPECIALISE_H
#define PIPECTL_PROGRAM_SPECIALISE_H

#include "pipectl/program.h"

typedef struct pctl_override_value {
	const char *name; /* or the decimal @id */
	uint64_t bits; /* value, truncated to the override's type; refused when it does not fit */
} pctl_override_value;

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
