/* Bodies: of a function, and of main, whose workgroup goes in steps. Without barriers all of main is one loop over the steps;
 * with them each segment is, and what lives from one to another is an array by step. Few steps are written out, so that those
 * arrays are registers. */
#include "spmd/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define UNROLLED_STEPS 4u
#define UNROLLED_TEXT 2500u

static const pctl_inst *inst_at(const spmd *s, uint32_t v)
{
	return &s->e.p->insts[s->e.fn->first_inst + v];
}

static void instruction(spmd *s, uint32_t i)
{
	const pctl_inst *in = inst_at(s, i);
	pctl_place place;

	if (pctl_op_get(in->op)->kind == PCTL_OPKIND_control)
		spmd_control(s, i, in);
	else if (pctl_place_get(s->e.p, s->e.fn, in, &place))
		spmd_memory(s, i, in, &place);
	else
		spmd_compute(s, i, in);
}

/* ---- variables ---- */

static void array(spmd *s, const char *name, uint32_t type, int is_by_step, int is_zero)
{
	const uint32_t n = spmd_leaves(s->e.p, type);
	const char *element = spmd_element(s, type), *step = is_by_step ? "[s]" : "";
	text *t = &s->e.code;

	emit_indent(&s->e);
	text_printf(t, "%s%u %s", element, s->width, name);
	if (is_by_step)
		text_printf(t, "[%u]", s->steps);
	text_printf(t, "[%u];\n", n);
	if (!is_zero)
		return;
	emit_indent(&s->e);
	if (is_by_step)
		text_printf(t, "for (uint s = 0; s < %uu; s++) ", s->steps);
	if (n <= EMIT_UNROLL) {
		text_add(t, "{ ");
		for (uint32_t k = 0; k < n; k++)
			text_printf(t, "%s%s[%u] = (%s%u)(0); ", name, step, k, element, s->width);
		text_add(t, "}\n");
	} else {
		text_printf(t, "for (uint k = 0; k < %uu; k++) %s%s[k] = (%s%u)(0);\n", n, name,
			    step, element, s->width);
	}
}

/* One that is the same for all lanes. */
static void plain(spmd *s, uint32_t i, uint32_t type, int is_by_step)
{
	text *t = &s->e.code;
	char name[24];

	emit_indent(&s->e);
	if (!is_by_step) {
		text_printf(t, "%s l%u;\n", emit_type_name(&s->e, type, name), i);
		snprintf(name, sizeof(name), "l%u", i);
		emit_fill_zero(&s->e, type, name);
		return;
	}
	text_printf(t, "%s l%u[%u];\n", emit_type_name(&s->e, type, name), i, s->steps);
	emit_indent(&s->e);
	text_printf(t, "for (uint s = 0; s < %uu; s++) {\n", s->steps);
	snprintf(name, sizeof(name), "l%u[s]", i);
	emit_fill_zero(&s->e, type, name);
	emit_indent(&s->e);
	text_add(t, "}\n");
}

/* Those of the function that live in a segment; SPMD_NONE: the others. */
static void locals(spmd *s, uint32_t segment)
{
	for (uint32_t i = 0; i < s->e.fn->n_locals; i++) {
		const spmd_local *l = &s->fn->locals[i];
		const uint32_t type = s->e.p->locals[s->e.fn->first_local + i].type;
		const int is_by_step = s->e.by_step && s->e.by_step[i];
		const pctl_inst *first;
		char name[16];

		if (l->first == SPMD_NONE || l->segment != segment)
			continue;
		first = inst_at(s, l->first);
		snprintf(name, sizeof(name), "l%u", i);
		if (l->varies)
			array(s, name, type, is_by_step,
			      first->op != PCTL_OP_STORE || first->n_args != 2 ||
				      s->fn->values[l->first].region != l->scope ||
				      s->fn->values[l->first].partly);
		else
			plain(s, i, type, is_by_step);
	}
}

static void privates(spmd *s, int is_by_step)
{
	const uint8_t *uses = emit_uses(&s->e, s->e.p->entries[0].function);
	char name[16];

	for (uint32_t v = 0; v < s->e.p->n_vars; v++) {
		if (s->e.p->vars[v].space != PCTL_SPACE_PRIVATE || !uses[v])
			continue;
		snprintf(name, sizeof(name), is_by_step ? "Q%u" : "q%u", v);
		array(s, name, s->e.p->vars[v].type, is_by_step, 1);
	}
}

/* ---- a function ---- */

static void begin(spmd *s, uint32_t f)
{
	s->e.fn = &s->e.p->functions[f];
	s->e.fn_index = f;
	s->fn = &s->functions[f];
	s->n_open = 0;
	s->next_mask = 1;
	s->next_region = 1;
	s->next_label = 0;
	s->returns = 0;
	s->e.indent = 0;
}

static void end_label(spmd *s)
{
	if (s->fn->regions[0].jumps || s->returns)
		text_printf(&s->e.code, "e%u:;\n", s->open[0].label);
}

void spmd_body(spmd *s, uint32_t f)
{
	const pctl_function *of = &s->e.p->functions[f];
	const int has_mask = s->functions[f].masked || s->functions[f].leaves;
	const int varies = s->functions[f].result_varies;
	const uint32_t n = of->return_type && varies ? spmd_leaves(s->e.p, of->return_type) : 0;
	text *t = &s->e.code;
	char name[24];

	begin(s, f);
	spmd_head(s, f);
	spmd_enter(s, 0, has_mask ? 0 : SPMD_NONE);
	if (has_mask && !s->fn->masked)
		text_printf(t, "\tuint%u m0 = (uint%u)(0xffffffffu);\n", s->width, s->width);
	for (uint32_t k = 0; k < n; k++) {
		spmd_vector(s, spmd_leaf(s, of->return_type, k, NULL, NULL), name);
		text_printf(t, "\t%s R%u = (%s)(0);\n", name, k, name);
	}
	if (of->return_type && !varies) {
		text_printf(t, "\t%s R = ", emit_type_name(&s->e, of->return_type, name));
		emit_zero(&s->e, t, of->return_type);
		text_add(t, ";\n");
	}
	locals(s, SPMD_NONE);
	for (uint32_t i = 0; i < of->n_insts; i++)
		instruction(s, i);
	end_label(s);
	for (uint32_t k = 0; k < n; k++)
		text_printf(t, "\t*r%u = R%u;\n", k, k);
	if (of->return_type && !varies)
		text_add(t, "\treturn R;\n");
	text_add(t, "}\n\n");
}

/* ---- main ---- */

static int has_first_mask(const spmd *s)
{
	return s->fn->leaves || s->invocations % s->width != 0;
}

/* What every step begins with. */
static void begin_step(spmd *s)
{
	text *t = &s->e.code;

	emit_indent(&s->e);
	text_printf(t, "const uint s_first = s * %uu;\n", s->width);
	if (!has_first_mask(s))
		return;
	emit_indent(&s->e);
	if (s->invocations % s->width == 0)
		text_printf(t, "uint%u m0 = (uint%u)(0xffffffffu);\n", s->width, s->width);
	else
		text_printf(t,
			    "uint%u m0 = as_uint%u(p_lanes() + (uint%u)(s_first) < "
			    "(uint%u)(%uu));\n",
			    s->width, s->width, s->width, s->width, s->invocations);
}

static void whole_main(spmd *s)
{
	text_printf(&s->e.code, "\tfor (uint s = 0; s < %uu; s++) {\n", s->steps);
	s->e.indent = 1;
	spmd_enter(s, 0, has_first_mask(s) ? 0 : SPMD_NONE);
	begin_step(s);
	privates(s, 0);
	locals(s, SPMD_NONE);
	for (uint32_t i = 0; i < s->e.fn->n_insts; i++)
		instruction(s, i);
	end_label(s);
	text_add(&s->e.code, "\t}\n");
}

/* ---- segments ---- */

static void swap(spmd *s)
{
	const text other = s->segment;

	s->segment = s->e.code;
	s->e.code = other;
}

/* Is it found from the number of the invocation alone? Then each segment that wants it finds it. */
static int is_found_anew(const spmd *s, uint32_t v)
{
	const pctl_inst *in = inst_at(s, v);

	return in->op == PCTL_OP_BUILTIN ||
	       (in->op == PCTL_OP_EXTRACT &&
		inst_at(s, pctl_arg(s->e.p, in, 0))->op == PCTL_OP_BUILTIN);
}

/* The array of value v by step: declared, stored or loaded. */
static void kept(spmd *s, uint32_t v, char what)
{
	const uint32_t type = inst_at(s, v)->type;
	const int varies = s->fn->values[v].varies;
	const uint32_t n = varies ? spmd_leaves(s->e.p, type) : 1;
	text *t = &s->e.code;

	for (uint32_t k = 0; k < n; k++) {
		char name[24], value[32];

		if (varies)
			spmd_vector(s, spmd_leaf(s, type, k, NULL, NULL), name);
		else
			emit_type_name(&s->e, type, name);
		snprintf(value, sizeof(value), varies ? "%u_%u" : "%u", v, k);
		emit_indent(&s->e);
		if (what == 'd')
			text_printf(t, "%s x%s[%u];\n", name, value, s->steps);
		else if (what == 's')
			text_printf(t, "x%s[s] = v%s;\n", value, value);
		else
			text_printf(t, "%s v%s = x%s[s];\n", name, value, value);
	}
}

typedef struct need {
	spmd *s;
	uint8_t *needed;
} need;

static void needs(void *context, uint32_t v)
{
	need *n = context;
	const spmd_value *of = &n->s->fn->values[v];

	if (of->kept && of->segment != n->s->segment_number)
		n->needed[v] = 1;
}

static void load_kept(spmd *s)
{
	need n = {.s = s, .needed = s->needed};

	memset(s->needed, 0, s->e.fn->n_insts);
	for (uint32_t i = 0; i < s->e.fn->n_insts; i++)
		if (s->fn->values[i].segment == s->segment_number)
			spmd_each_argument(s->e.p, s->e.fn, inst_at(s, i), needs, &n);
	for (uint32_t i = 0; i < s->e.fn->n_insts; i++) {
		if (!s->needed[i])
			continue;
		if (is_found_anew(s, i))
			spmd_compute(s, i, inst_at(s, i));
		else
			kept(s, i, 'l');
	}
}

static void one_segment(spmd *s, const char *body)
{
	const uint8_t *uses = emit_uses(&s->e, s->e.fn_index);

	s->e.indent++;
	begin_step(s);
	for (uint32_t v = 0; v < s->e.p->n_vars; v++) {
		if (s->e.p->vars[v].space != PCTL_SPACE_PRIVATE || !uses[v])
			continue;
		emit_indent(&s->e);
		text_printf(&s->e.code, "%s%u *q%u = Q%u[s];\n",
			    spmd_element(s, s->e.p->vars[v].type), s->width, v, v);
	}
	locals(s, s->segment_number);
	load_kept(s);
	text_add(&s->e.code, body);
	s->e.indent--;
}

/* Write the segment that has been collected, for all steps. */
static void end_segment(spmd *s)
{
	const char *body = text_str(&s->segment);
	const int is_unrolled =
		s->steps <= UNROLLED_STEPS && s->segment.n < UNROLLED_TEXT && !strstr(body, ":;");

	s->e.code.no_memory |= s->segment.no_memory;
	if (!s->segment.n)
		return;
	for (uint32_t k = 0; k < (is_unrolled ? s->steps : 1); k++) {
		emit_indent(&s->e);
		if (is_unrolled)
			text_printf(&s->e.code, "{ const uint s = %uu;\n", k);
		else
			text_printf(&s->e.code, "for (uint s = 0; s < %uu; s++) {\n", s->steps);
		one_segment(s, body);
		if (strstr(body, "goto e0;"))
			text_add(&s->e.code, "e0:;\n");
		emit_indent(&s->e);
		text_add(&s->e.code, "}\n");
	}
	text_clear(&s->segment);
}

static void main_in_segments(spmd *s)
{
	s->e.indent = 0;
	spmd_enter(s, 0, has_first_mask(s) ? 0 : SPMD_NONE);
	s->e.by_step = s->by_step;
	privates(s, 1);
	locals(s, SPMD_NONE);
	for (uint32_t i = 0; i < s->e.fn->n_insts; i++)
		if (s->fn->values[i].kept && !is_found_anew(s, i))
			kept(s, i, 'd');
	for (uint32_t i = 0; i < s->e.fn->n_insts; i++) {
		const spmd_value *v = &s->fn->values[i];

		if (v->ends_segment)
			end_segment(s);
		if (v->segment == SPMD_NONE) {
			instruction(s, i);
			continue;
		}
		s->segment_number = v->segment;
		swap(s);
		s->e.indent++;
		instruction(s, i);
		if (v->kept && !is_found_anew(s, i))
			kept(s, i, 's');
		s->e.indent--;
		swap(s);
	}
	end_segment(s);
	s->e.by_step = NULL;
}

void spmd_main(spmd *s)
{
	begin(s, s->e.p->entries[0].function);
	emit_kernel_open(&s->e);
	if (s->split)
		main_in_segments(s);
	else
		whole_main(s);
	text_add(&s->e.code, "}\n");
}
