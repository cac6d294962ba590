/* What the verbs over shader files share: options of the command line, and a shader's one line. */
#ifndef PIPECTL_TOOLS_SHADER_H
#define PIPECTL_TOOLS_SHADER_H

#include "app.h"

/* What `shader check` and `shader run` take from the command line; text is released with free(). */
struct shader_options {
	char *text;
	uint64_t n_text;
	const char *entry;
	pctl_override_value *overrides;
	uint32_t n_overrides;
	uint32_t has_groups;
	uint32_t groups[3];
	uint32_t max_class;
};

/* Print what is known of a unit, as `shader check` does. */
void pctl_shader_print_module(pctl_app *app, const char *path, const pctl_kernel_module *u,
			      const pctl_gas_price *price);

/* Which version of the rules answers, and whence it is: once, before the shaders. */
pctl_status pctl_shader_say_rules(pctl_app *app);
/*
 * `shader check --consensus`: what the chain of this home would say. Without an entry point, a dispatch or overrides what
 * uploading is told, each entry point printed; with one of them what submitting such a job is told of its shader.
 */
pctl_status pctl_shader_check_rules(pctl_app *app, const char *path,
				    const struct shader_options *o);

#endif
