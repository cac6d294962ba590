/* Functions of the generated source as they are called: heads, arguments, results. Variables of the program are handed
 * down as arguments; wholes go in by pointer and come out through a pointer that stands first. */
#include "clc/internal.h"

/* Only the kernel's own arguments say `restrict`: inlining carries it inwards, and a second one
 * would leave markers in the compiled code that Oclgrind does not know. */
void emit_call_variables(emitter *e, text *t, uint32_t function, const char *separator, int declare)
{
	char name[24];

	for (uint32_t v = 0; v < e->p->n_vars; v++) {
		const pctl_var *var = &e->p->vars[v];
		const char *constant =
			var->access == PCTL_ACCESS_READ || var->space == PCTL_SPACE_UNIFORM
				? "const "
				: "";

		if (!e->uses[(size_t)function * e->p->n_vars + v])
			continue;
		text_add(t, separator);
		separator = ", ";
		if (emit_is_binding(var) && declare)
			text_printf(t, "%s__global uchar *b%u, uint n%u, uint k%u", constant, v, v,
				    v);
		else if (emit_is_binding(var))
			text_printf(t, "b%u, n%u, k%u", v, v, v);
		else if (var->space == PCTL_SPACE_WORKGROUP)
			text_printf(t, declare ? "__local uchar *w%u" : "w%u", v);
		else if (declare)
			text_printf(t, "%s *q%u", emit_type_name(e, var->type, name), v);
		else
			text_printf(t, "q%u", v);
		if (emit_is_late(e, v))
			text_printf(t, declare ? ", uint *z%u" : ", z%u", v);
	}
}

void emit_call(emitter *e, uint32_t v, const pctl_inst *in)
{
	const uint32_t callee = pctl_arg(e->p, in, 0);
	const int is_whole = in->type && emit_is_whole(e, in->type);
	const char *separator = is_whole ? ", " : "";

	if (is_whole)
		emit_declare(e, v, in->type);
	if (in->type && !is_whole)
		emit_define(e, v, in->type);
	else
		emit_indent(e);
	text_printf(&e->code, "f%u(", callee);
	if (is_whole)
		text_printf(&e->code, "&v%u", v);
	for (uint32_t i = 1; i < in->n_args; i++) {
		const uint32_t arg = pctl_arg(e->p, in, i);

		text_add(&e->code, separator);
		separator = ", ";
		if (emit_is_whole(e, pctl_value_type(e->p, e->fn, arg)))
			text_add(&e->code, "&");
		emit_value(e, &e->code, arg);
	}
	emit_call_variables(e, &e->code, callee, separator, 0);
	text_add(&e->code, ");\n");
}

/* A whole is written through the first parameter. */
void emit_return(emitter *e, const pctl_inst *in)
{
	const int is_whole = in->n_args && emit_is_whole(e, e->fn->return_type);

	if (is_whole)
		emit_fill_value(e, e->fn->return_type, "(*r)", pctl_arg(e->p, in, 0));
	emit_indent(e);
	text_add(&e->code, "return");
	if (in->n_args && !is_whole) {
		text_add(&e->code, " ");
		emit_value(e, &e->code, pctl_arg(e->p, in, 0));
	}
	text_add(&e->code, ";\n");
}

void emit_function_head(emitter *e, uint32_t f)
{
	const pctl_function *fn = &e->p->functions[f];
	const int is_whole = emit_is_whole(e, fn->return_type);
	const char *separator = is_whole ? ", " : "";
	char name[24];

	emit_type_name(e, fn->return_type, name);
	text_printf(&e->code, "%sstatic inline %s f%u(",
		    e->has_barrier[f] ? "__attribute__((always_inline)) " : "",
		    is_whole ? "void" : name, f);
	if (is_whole)
		text_printf(&e->code, "%s *r", name);
	for (uint32_t i = 0; i < fn->n_params; i++) {
		const uint32_t type = e->p->insts[fn->first_inst + i].type;

		emit_type_name(e, type, name);
		text_printf(&e->code, emit_is_whole(e, type) ? "%sconst %s *v%u" : "%s%s v%u",
			    separator, name, i);
		separator = ", ";
	}
	emit_call_variables(e, &e->code, f, separator, 1);
	text_add(&e->code, ")\n{\n");
}
