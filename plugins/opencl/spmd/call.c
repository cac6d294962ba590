/* Functions of the generated source that are called for all lanes. What differs between them goes in and comes out leaf by
 * leaf; a mask goes with it where only some may call. */
#include "spmd/internal.h"

/* The program's variables that function f uses, as parameters or as arguments. */
static void variables(spmd *s, uint32_t f, const char *separator, int declare)
{
	text *t = &s->e.code;

	for (uint32_t v = 0; v < s->e.p->n_vars; v++) {
		const pctl_var *var = &s->e.p->vars[v];
		const int is_const =
			var->access == PCTL_ACCESS_READ || var->space == PCTL_SPACE_UNIFORM;

		if (!emit_uses(&s->e, f)[v])
			continue;
		text_add(t, separator);
		separator = ", ";
		if (emit_is_binding(var) && declare)
			text_printf(t, "%s__global uchar *b%u, uint n%u, uint k%u",
				    is_const ? "const " : "", v, v, v);
		else if (emit_is_binding(var))
			text_printf(t, "b%u, n%u, k%u", v, v, v);
		else if (var->space == PCTL_SPACE_WORKGROUP)
			text_printf(t, declare ? "__local uchar *w%u" : "w%u", v);
		else if (declare)
			text_printf(t, "%s%u *q%u", spmd_element(s, var->type), s->width, v);
		else
			text_printf(t, "q%u", v);
	}
}

void spmd_call(spmd *s, uint32_t v, const pctl_inst *in)
{
	const uint32_t f = pctl_arg(s->e.p, in, 0);
	const spmd_function *to = &s->functions[f];
	const char *separator = "";
	text *t = &s->e.code;
	char name[24];

	if (to->is_plain) {
		emit_call(&s->e, v, in);
		return;
	}
	emit_indent(&s->e);
	for (uint32_t k = 0; in->type && to->result_varies && k < spmd_leaves(s->e.p, in->type);
	     k++)
		text_printf(t, "%s v%u_%u; ",
			    spmd_vector(s, spmd_leaf(s, in->type, k, NULL, NULL), name), v, k);
	if (in->type && !to->result_varies)
		text_printf(t, "%s v%u = ", emit_type_name(&s->e, in->type, name), v);
	text_printf(t, "g%u(", f);
	for (uint32_t k = 0; in->type && to->result_varies && k < spmd_leaves(s->e.p, in->type);
	     k++) {
		text_printf(t, "%s&v%u_%u", separator, v, k);
		separator = ", ";
	}
	for (uint32_t i = 1; i < in->n_args; i++) {
		const uint32_t arg = pctl_arg(s->e.p, in, i);
		const uint32_t type = pctl_value_type(s->e.p, s->e.fn, arg);
		const uint32_t n = to->values[i - 1].varies ? spmd_leaves(s->e.p, type) : 1;

		for (uint32_t k = 0; k < n; k++) {
			text_add(t, separator);
			separator = ", ";
			if (to->values[i - 1].varies) {
				spmd_lanes(s, t, arg, k);
				continue;
			}
			text_add(t, emit_is_whole(&s->e, type) ? "&" : "");
			emit_value(&s->e, t, arg);
		}
	}
	if (to->masked) {
		text_add(t, separator);
		separator = ", ";
		if (spmd_mask(s) == SPMD_NONE)
			text_printf(t, "(uint%u)(0xffffffffu)", s->width);
		else
			text_printf(t, "m%u", spmd_mask(s));
	}
	variables(s, f, separator, 0);
	text_add(t, ");\n");
}

void spmd_head(spmd *s, uint32_t f)
{
	const pctl_function *of = &s->e.p->functions[f];
	const spmd_function *fn = &s->functions[f];
	const uint32_t n_results =
		of->return_type && fn->result_varies ? spmd_leaves(s->e.p, of->return_type) : 0;
	const char *separator = "";
	text *t = &s->e.code;
	char name[24];

	text_printf(t, "static inline %s g%u(",
		    of->return_type && !fn->result_varies
			    ? emit_type_name(&s->e, of->return_type, name)
			    : "void",
		    f);
	for (uint32_t k = 0; k < n_results; k++) {
		text_printf(t, "%s%s *r%u", separator,
			    spmd_vector(s, spmd_leaf(s, of->return_type, k, NULL, NULL), name), k);
		separator = ", ";
	}
	for (uint32_t i = 0; i < of->n_params; i++) {
		const uint32_t type = s->e.p->insts[of->first_inst + i].type;

		for (uint32_t k = 0; fn->values[i].varies && k < spmd_leaves(s->e.p, type); k++) {
			text_printf(t, "%s%s v%u_%u", separator,
				    spmd_vector(s, spmd_leaf(s, type, k, NULL, NULL), name), i, k);
			separator = ", ";
		}
		if (fn->values[i].varies)
			continue;
		text_printf(t, emit_is_whole(&s->e, type) ? "%sconst %s *v%u" : "%s%s v%u",
			    separator, emit_type_name(&s->e, type, name), i);
		separator = ", ";
	}
	if (fn->masked) {
		text_printf(t, "%suint%u m0", separator, s->width);
		separator = ", ";
	}
	variables(s, f, separator, 1);
	text_add(t, ")\n{\n");
}

static int leaf_is_wide(const spmd *s, uint32_t type, uint32_t k)
{
	return pctl_scalar_bits(s->e.p->types[spmd_leaf(s, type, k, NULL, NULL)].scalar) == 64;
}

/* The result waits in R0, R1, .. (R where it is one for all lanes) until the function ends. */
void spmd_return(spmd *s, uint32_t v, const pctl_inst *in)
{
	const uint32_t type = s->e.fn->return_type;
	text *t = &s->e.code;

	(void)v;
	if (!in->n_args)
		return;
	if (!s->fn->result_varies) {
		emit_indent(&s->e);
		text_add(t, "R = ");
		emit_arg(&s->e, in, 0);
		text_add(t, ";\n");
		return;
	}
	for (uint32_t k = 0; k < spmd_leaves(s->e.p, type); k++) {
		emit_indent(&s->e);
		text_printf(t, "R%u = ", k);
		if (s->fn->leaves && spmd_mask(s) != SPMD_NONE)
			spmd_choose(s, t, spmd_mask(s), leaf_is_wide(s, type, k));
		spmd_lanes(s, t, pctl_arg(s->e.p, in, 0), k);
		if (s->fn->leaves && spmd_mask(s) != SPMD_NONE)
			text_printf(t, " : R%u", k);
		text_add(t, ";\n");
	}
}
