/* What the verbs over shader files share: options of the command line, and a shader's one line. */
#ifndef PIPECTL_TOOLS_SHADER_H
#define PIPECTL_TOOLS_SHADER_H

#include "app.h"

/* What `shader check`, `shader run` and `shader tune` take from the command line; text is released with free(). */
struct shader_options {
	char *text;
	uint64_t n_text;
	const char *entry;
	pctl_override_value *overrides;
	uint32_t n_overrides;
	uint32_t has_groups;
	uint32_t groups[3];
	uint32_t max_class;
	uint32_t
		lists; /* 1: the text of an override is a list, "1,2,4" (set before they are read) */
};

/* Those options of the command line, and the text. Whatever it answers, the caller frees o->text. */
pctl_status pctl_shader_options(pctl_app *app, const char *path, struct shader_options *o);
/* The unit that they name, if its class may be; flags: PCTL_WGSL_*. */
pctl_status pctl_shader_unit(pctl_app *app, const char *path, const struct shader_options *o,
			     uint32_t flags, const pctl_kernel_module **out);
/* The pipeline of one job that runs it; *out is the caller's to destroy, also after an error. */
pctl_status pctl_shader_pipeline(pctl_app *app, const char *path, const struct shader_options *o,
				 const pctl_program *program, pctl_setting *binds, uint32_t n_binds,
				 pctl_pipeline **out);

/* What a job of a chain costs: of a dispatch, without bytes and parents; and what a KiB of input, one of output and a parent cost beside. */
typedef struct pctl_shader_job_price {
	pctl_gas_price price;
	uint64_t input_kib, output_kib, parent;
	uint32_t groups[3], reserved;
} pctl_shader_job_price;

/* Print what is known of a unit, as `shader check` does; whole: the text it was made of, with its overrides, or NULL; job: of a chain's, or NULL. */
void pctl_shader_print_module(pctl_app *app, const char *path, const pctl_program *whole,
			      const pctl_kernel_module *u, const pctl_gas_price *price,
			      const pctl_shader_job_price *job);
/* The same of a unit, as fields of the open JSON object or as a line (shader_rules.c). */
void pctl_shader_print_price(pctl_app *app, const pctl_shader_job_price *job);

/* What is bound to the one entry point of p (shader_interface.c), and the overrides of a text that was compiled. */
void pctl_shader_print_bindings(pctl_app *app, const pctl_program *p);
void pctl_shader_print_overrides(pctl_app *app, const pctl_program *p);

/*
 * The variable of p that --bind or --read means, by GROUP:BINDING or by name; s->name becomes "GROUP:BINDING", as the
 * pipeline of the run calls it (shader_bind.c). PC0010, PC4123.
 */
pctl_status pctl_shader_variable(pctl_app *app, const pctl_program *p, const char *option,
				 pctl_setting *s, const pctl_var **out);

/* What the elements of a variable are where it is an array of scalars, else bytes; and, of the output of that name, how many. */
uint32_t pctl_shader_elements(const pctl_program *p, const pctl_var *v);
void pctl_shader_shape(const pctl_run_result *r, const char *name, pctl_tensor_type *type);

/* `shader run --emit`: what the unit becomes on a device, in place of running it. */
pctl_status pctl_shader_emit(pctl_app *app, const char *path, const pctl_kernel_module *unit);

/* Which version of the rules answers, and whence it is: once, before the shaders. */
pctl_status pctl_shader_say_rules(pctl_app *app);
/*
 * `shader check --consensus`: what the chain of this home would say. Without an entry point, a dispatch or overrides what
 * uploading is told, each entry point printed; with one of them what submitting such a job is told of its shader.
 */
pctl_status pctl_shader_check_rules(pctl_app *app, const char *path,
				    const struct shader_options *o);

#endif
