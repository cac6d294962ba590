/* The way of a text: lex, parse, check, lower. Owns the memory of a compile. */
#include "compiler/wgsl/check.h"

static pctl_status compile(struct wgsl *c, const char *text, uint64_t n, pctl_program **out)
{
	struct source *src;

	c->decls_end = &c->decls;
	c->functions_end = &c->functions;
	pctl_wgsl_names_init(c);
	pctl_wgsl_types_init(c);
	src = pctl_wgsl_source_add(c, c->options->file, text, n);
	if (src) {
		pctl_wgsl_meta(c, src);
		if (!c->subgroup_size && !(c->options->flags & PCTL_WGSL_CONSENSUS))
			c->subgroup_size = c->options->subgroup;
		pctl_wgsl_parse(c, src);
		pctl_wgsl_check_module(c);
	}
	if (c->n_errors)
		return pctl_wgsl_emit_errors(c);
	if (c->concrete)
		return PCTL_OK;
	if (c->poisoned)
		return pctl_refuse(c->call, PC1_INTERNAL, "an error of the text was not reported");
	if (pctl_is_cancelled(c->call))
		return pctl_refuse(c->call, PC4_CANCELLED, "compiling was cancelled");
	return pctl_wgsl_lower(c, out);
}

/* Lack of memory anywhere below comes back here, and a program that outgrew its limit; nothing of it
 * needs releasing but the two owners. */
static pctl_status compile_guarded(struct wgsl *c, const char *text, uint64_t n, pctl_program **out)
{
	switch (setjmp(c->give_up)) {
	case 0:
		return compile(c, text, n, out);
	case GIVE_UP_REPORTED:
		return pctl_wgsl_emit_errors(c);
	default:
		return pctl_refuse(c->call, PC2_NOMEM, "no memory to compile");
	}
}

static pctl_status run(struct wgsl *c, const char *text, uint64_t n, pctl_program **out)
{
	pctl_status status;

	c->arena = pctl_arena_create();
	c->builder = pctl_builder_create();
	if (c->arena && c->builder)
		status = compile_guarded(c, text, n, out);
	else
		status = pctl_refuse(c->call, PC2_NOMEM, "no memory to compile");
	pctl_builder_destroy(c->builder);
	pctl_arena_destroy(c->arena);
	return status;
}

pctl_status pctl_wgsl_compile(const char *text, uint64_t n, const pctl_wgsl_options *options,
			      const pctl_call *call, pctl_program **out)
{
	static const pctl_wgsl_options none = {.file = ""};
	struct wgsl c = {.options = options ? options : &none, .call = call};

	*out = NULL;
	return run(&c, text, n, out);
}

pctl_status pctl_wgsl_judge(const char *text, uint64_t n, const pctl_wgsl_options *options,
			    struct concrete *concrete, const pctl_call *call)
{
	struct wgsl c = {.options = options, .call = call, .concrete = concrete};
	pctl_program *none = NULL;

	return run(&c, text, n, &none);
}
