/* The ways in which `shader tune` runs a kernel: all combinations of the values that --override and --workgroup list. */
#ifndef PIPECTL_TOOLS_SHADER_CASES_H
#define PIPECTL_TOOLS_SHADER_CASES_H

#include "shader.h"

#define PCTL_SHADER_CASES_MAX 256u

/* name: "wg=64 turns=2", of what is listed; "" of the only one. options: those of the command line with one value of each. */
typedef struct pctl_shader_case {
	const char *name;
	struct shader_options options;
} pctl_shader_case;

/* All of them, in the app's arena; `o` has read its options, and its text stays the caller's. */
pctl_status pctl_shader_cases(pctl_app *app, const char *path, const struct shader_options *o,
			      pctl_shader_case **out, uint32_t *n);

#endif
