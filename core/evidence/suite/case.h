/* A case: the text of a kernel with lines at its top that say how it is run, generated or kept as a
 * regression alike:
 *   //! dispatch X,Y,Z inputs SEED     one dispatch, its buffers filled from the seed
 *   //! binding GROUP:BINDING bytes N
 *   //! override NAME VALUE
 *   //! floats                         buffers are filled with f32 in mind */
#ifndef PIPECTL_EVIDENCE_SUITE_CASE_H
#define PIPECTL_EVIDENCE_SUITE_CASE_H

#include "runtime/graph/kernel.h"

#define CASE_DISPATCHES 8u
#define CASE_BINDINGS 16u
#define CASE_OVERRIDES 8u

typedef struct diff_case {
	const char *name;
	const char *text;
	const char *twin; /* another text with the same meaning, or NULL */
	struct {
		uint32_t groups[3];
		uint64_t seed;
	} dispatch[CASE_DISPATCHES];
	struct {
		uint32_t group, binding;
		uint64_t n_bytes;
	} binding[CASE_BINDINGS];
	char override_name[CASE_OVERRIDES][32];
	pctl_override_value override[CASE_OVERRIDES];
	uint32_t n_dispatches, n_bindings, n_overrides;
	int floats; /* many words are f32 of middling size */
} diff_case;

/* Read the lines of `text`. 0 when one is malformed or no dispatch is among them. */
int diff_case_read(diff_case *out, const char *name, const char *text);

/* The bytes a binding starts with: small numbers, edges of types, random bits, from the seed. */
void diff_case_fill(const diff_case *c, uint32_t dispatch, uint32_t binding, uint8_t *out);

#endif
