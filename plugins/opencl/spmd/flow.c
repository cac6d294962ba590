/* Control for all lanes. A region that only some run has a mask of its own, and is run while the mask has a lane; whoever leaves
 * early is taken out of the masks of what is left, and where a mask may so have become empty, the rest of its region is
 * jumped over. So code runs only while some lane does: an index that is proven inside may be used, and no loop turns for
 * nobody. What all lanes decide alike is plain C. */
#include "spmd/internal.h"

static spmd_open *top(const spmd *s)
{
	return &s->open[s->n_open - 1];
}

static const spmd_region *region_of(const spmd *s)
{
	return &s->fn->regions[top(s)->region];
}

uint32_t spmd_mask(const spmd *s)
{
	return s->n_open ? top(s)->mask : SPMD_NONE;
}

void spmd_enter(spmd *s, uint32_t region, uint32_t mask)
{
	s->open[s->n_open++] = (spmd_open){
		.region = region, .mask = mask, .loop_mask = SPMD_NONE, .label = s->next_label++};
	s->e.indent++;
}

static void line(spmd *s, const char *words)
{
	emit_indent(&s->e);
	text_add(&s->e.code, words);
}

/* The end of a region, to which those jump who find it empty. */
static void leave(spmd *s)
{
	if (region_of(s)->jumps && region_of(s)->op != PCTL_OP_LOOP) {
		emit_indent(&s->e);
		text_printf(&s->e.code, "e%u:;\n", top(s)->label);
	}
	s->n_open--;
	s->e.indent--;
}

/* To where a region without lanes goes on. */
static void skip(spmd *s, uint32_t v)
{
	const spmd_region *r = region_of(s);

	if (r->op != PCTL_OP_LOOP)
		text_printf(&s->e.code, "goto e%u;\n", top(s)->label);
	else if (v < r->test || v > r->continuing)
		text_add(&s->e.code, "break;\n");
	else
		text_printf(&s->e.code, "goto c%u;\n", top(s)->label);
}

static void skip_if_empty(spmd *s, uint32_t v, int escapes)
{
	if (!escapes || spmd_mask(s) == SPMD_NONE)
		return;
	emit_indent(&s->e);
	text_printf(&s->e.code, "if (!p_any(m%u)) ", spmd_mask(s));
	skip(s, v);
}

/* A new mask: "\tuint16 m7 = " */
static uint32_t define_mask(spmd *s)
{
	emit_indent(&s->e);
	text_printf(&s->e.code, "uint%u m%u = ", s->width, s->next_mask);
	return s->next_mask++;
}

static void whole_mask(spmd *s, uint32_t mask)
{
	if (mask == SPMD_NONE)
		text_printf(&s->e.code, "(uint%u)(0xffffffffu);\n", s->width);
	else
		text_printf(&s->e.code, "m%u;\n", mask);
}

static void and_mask(spmd *s, uint32_t mask)
{
	if (mask != SPMD_NONE)
		text_printf(&s->e.code, " & m%u", mask);
	text_add(&s->e.code, ";\n");
}

static void if_any(spmd *s, uint32_t region, uint32_t mask)
{
	emit_indent(&s->e);
	text_printf(&s->e.code, "if (p_any(m%u)) {\n", mask);
	spmd_enter(s, region, mask);
}

/* ---- conditions ---- */

static void begin_if(spmd *s, const pctl_inst *in)
{
	const uint32_t r = s->next_region++, condition = pctl_arg(s->e.p, in, 0);
	uint32_t mask;

	if (!s->fn->regions[r].diverges) {
		line(s, "if (");
		emit_value(&s->e, &s->e.code, condition);
		text_add(&s->e.code, ") {\n");
		spmd_enter(s, r, spmd_mask(s));
		return;
	}
	mask = define_mask(s);
	spmd_lanes(s, &s->e.code, condition, 0);
	and_mask(s, spmd_mask(s));
	if_any(s, r, mask);
}

static void begin_else(spmd *s)
{
	const uint32_t r = s->next_region++, condition = s->fn->regions[r].condition;
	uint32_t mask;

	leave(s);
	if (!s->fn->regions[r].diverges) {
		line(s, "} else {\n");
		spmd_enter(s, r, spmd_mask(s));
		return;
	}
	line(s, "}\n");
	mask = define_mask(s);
	text_add(&s->e.code, "~");
	spmd_lanes(s, &s->e.code, condition, 0);
	and_mask(s, spmd_mask(s));
	if_any(s, r, mask);
}

static void end_if(spmd *s, uint32_t v)
{
	const spmd_region *r = region_of(s), *other = r;

	if (r->op == PCTL_OP_ELSE)
		for (other = r - 1; other->end != r->begin; other--)
			;
	leave(s);
	line(s, "}\n");
	skip_if_empty(s, v, r->escapes || other->escapes);
}

/* ---- switches ---- */

static void begin_switch(spmd *s, const pctl_inst *in)
{
	const uint32_t selector = pctl_arg(s->e.p, in, 0);

	if (spmd_varies(s, selector)) {
		line(s, "{\n");
	} else {
		line(s, "switch (");
		emit_value(&s->e, &s->e.code, selector);
		text_add(&s->e.code, ") {\n");
	}
	spmd_enter(s, s->next_region, spmd_mask(s));
	s->next_region++;
}

/* The lanes whose selector is among the literals of a case, joined by "|". */
static void among(spmd *s, const pctl_inst *in, uint32_t selector, const char **separator)
{
	for (uint32_t i = 1; i < in->n_args; i++) {
		text_printf(&s->e.code, "%sas_uint%u(v%u_0 == (uint%u)(%uu))", *separator, s->width,
			    selector, s->width, pctl_arg(s->e.p, in, i));
		*separator = " | ";
	}
}

static uint32_t mask_of_case(spmd *s, uint32_t r, const pctl_inst *in)
{
	const uint32_t selector = s->fn->regions[r].condition, parent = spmd_mask(s);
	const uint32_t mask = define_mask(s);
	const char *separator = "";

	text_add(&s->e.code, "(");
	among(s, in, selector, &separator);
	if (pctl_arg(s->e.p, in, 0)) {
		text_printf(&s->e.code, "%s~(", separator);
		separator = "";
		for (uint32_t k = 1; k < s->fn->n_regions; k++)
			if (s->fn->regions[k].op == PCTL_OP_CASE &&
			    s->fn->regions[k].parent == s->fn->regions[r].parent)
				among(s,
				      &s->e.p->insts[s->e.fn->first_inst + s->fn->regions[k].begin],
				      selector, &separator);
		text_printf(&s->e.code, *separator ? ")" : "(uint%u)(0))", s->width);
	}
	text_add(&s->e.code, ")");
	and_mask(s, parent);
	return mask;
}

static void end_case(spmd *s)
{
	const int diverges = region_of(s)->diverges;

	if (region_of(s)->op != PCTL_OP_CASE)
		return;
	leave(s);
	line(s, diverges ? "}\n" : "\tbreak;\n");
	if (!diverges)
		line(s, "}\n");
}

static void begin_case(spmd *s, const pctl_inst *in)
{
	const uint32_t r = s->next_region++;
	uint32_t mask;

	end_case(s);
	mask = spmd_mask(s);
	if (s->fn->regions[r].diverges) {
		if_any(s, r, mask_of_case(s, r, in));
		return;
	}
	emit_indent(&s->e);
	for (uint32_t i = 1; i < in->n_args; i++)
		text_printf(&s->e.code, "case %uu: ", pctl_arg(s->e.p, in, i));
	text_add(&s->e.code, pctl_arg(s->e.p, in, 0) ? "default: {\n" : "{\n");
	spmd_enter(s, r, mask);
	if (s->fn->regions[s->fn->regions[r].parent].left_at == SPMD_NONE)
		return;
	top(s)->mask = define_mask(s);
	whole_mask(s, mask);
}

static void end_switch(spmd *s, uint32_t v)
{
	int escapes;

	end_case(s);
	escapes = region_of(s)->escapes;
	leave(s);
	line(s, "}\n");
	skip_if_empty(s, v, escapes);
}

/* ---- loops ---- */

static void begin_loop(spmd *s)
{
	const uint32_t r = s->next_region++, outer = spmd_mask(s);
	uint32_t mask = outer;

	if (s->fn->regions[r].diverges || s->fn->regions[r].left_at != SPMD_NONE) {
		mask = define_mask(s);
		whole_mask(s, outer);
	}
	line(s, "for (;;) {\n");
	spmd_enter(s, r, mask);
	top(s)->loop_mask = mask;
}

static void test_loop(spmd *s, const pctl_inst *in)
{
	const uint32_t condition = pctl_arg(s->e.p, in, 0), mask = top(s)->loop_mask;

	emit_indent(&s->e);
	if (spmd_varies(s, condition)) {
		text_printf(&s->e.code, "m%u &= ", mask);
		spmd_lanes(s, &s->e.code, condition, 0);
		text_add(&s->e.code, ";\n");
		emit_indent(&s->e);
		text_printf(&s->e.code, "if (!p_any(m%u)) break;\n", mask);
	} else {
		text_add(&s->e.code, "if (!");
		emit_value(&s->e, &s->e.code, condition);
		text_add(&s->e.code, ") break;\n");
	}
	if (region_of(s)->left_at == SPMD_NONE)
		return;
	top(s)->mask = define_mask(s);
	whole_mask(s, mask);
}

static void continuing(spmd *s, uint32_t v)
{
	emit_indent(&s->e);
	text_printf(&s->e.code, "c%u:;\n", top(s)->label);
	top(s)->mask = top(s)->loop_mask;
	if (region_of(s)->jumps && top(s)->mask != SPMD_NONE) {
		emit_indent(&s->e);
		text_printf(&s->e.code, "if (!p_any(m%u)) break;\n", top(s)->mask);
	}
	(void)v;
}

/* ---- jumps ---- */

static void take_out(spmd *s, uint32_t mask, uint32_t *last)
{
	if (mask == SPMD_NONE || mask == *last)
		return;
	*last = mask;
	text_printf(&s->e.code, " m%u &= ~x;", mask);
}

/* The lanes that run leave, others stay. */
static void jump_of_some(spmd *s, uint32_t v, const pctl_inst *in)
{
	const uint32_t target = spmd_target(s->fn, in, v);
	uint32_t last = SPMD_NONE;

	emit_indent(&s->e);
	text_printf(&s->e.code, "{ const uint%u x = m%u;", s->width, spmd_mask(s));
	for (uint32_t i = s->n_open; i-- > 0;) {
		const spmd_open *o = &s->open[i];
		const int is_target = o->region == target && in->op != PCTL_OP_RETURN;

		if (is_target && s->fn->regions[target].op == PCTL_OP_SWITCH)
			break;
		take_out(s, o->mask, &last);
		if (!is_target || in->op == PCTL_OP_BREAK)
			take_out(s, o->loop_mask, &last);
		if (is_target)
			break;
	}
	text_add(&s->e.code, " }\n");
	emit_indent(&s->e);
	skip(s, v);
}

static void jump(spmd *s, uint32_t v, const pctl_inst *in)
{
	if (in->op == PCTL_OP_RETURN)
		spmd_return(s, v, in);
	if (s->fn->values[v].partly) {
		jump_of_some(s, v, in);
	} else if (in->op == PCTL_OP_BREAK) {
		line(s, "break;\n");
	} else if (in->op == PCTL_OP_CONTINUE) {
		uint32_t i = s->n_open;

		while (s->fn->regions[s->open[i - 1].region].op != PCTL_OP_LOOP)
			i--;
		emit_indent(&s->e);
		text_printf(&s->e.code, "goto c%u;\n", s->open[i - 1].label);
	} else if (s->split && s->e.fn_index == s->e.p->entries[0].function) {
		line(s, "return;\n");
	} else {
		emit_indent(&s->e);
		text_printf(&s->e.code, "goto e%u;\n", s->open[0].label);
		s->returns = 1;
	}
}

void spmd_control(spmd *s, uint32_t v, const pctl_inst *in)
{
	switch (in->op) {
	case PCTL_OP_IF:
		begin_if(s, in);
		break;
	case PCTL_OP_ELSE:
		begin_else(s);
		break;
	case PCTL_OP_END_IF:
		end_if(s, v);
		break;
	case PCTL_OP_SWITCH:
		begin_switch(s, in);
		break;
	case PCTL_OP_CASE:
		begin_case(s, in);
		break;
	case PCTL_OP_END_SWITCH:
		end_switch(s, v);
		break;
	case PCTL_OP_LOOP:
		begin_loop(s);
		break;
	case PCTL_OP_LOOP_TEST:
		test_loop(s, in);
		break;
	case PCTL_OP_CONTINUING:
		continuing(s, v);
		break;
	case PCTL_OP_BLOCK:
		line(s, "{\n");
		spmd_enter(s, s->next_region, spmd_mask(s));
		s->next_region++;
		break;
	case PCTL_OP_END_LOOP:
	case PCTL_OP_END_BLOCK: {
		const int escapes = region_of(s)->escapes;

		leave(s);
		line(s, "}\n");
		skip_if_empty(s, v, escapes);
		break;
	}
	case PCTL_OP_BREAK:
	case PCTL_OP_CONTINUE:
	case PCTL_OP_RETURN:
		jump(s, v, in);
		break;
	case PCTL_OP_CALL:
		spmd_call(s, v, in);
		break;
	default: /* a barrier: the lanes of a step are always together, and steps end there */
		break;
	}
}
