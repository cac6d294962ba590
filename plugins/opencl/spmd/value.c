/* Computing for all lanes: a value that differs between them is written leaf by leaf, each by the expression that clc/ writes
 * for one component, which here is a vector of lanes. */
#include "spmd/internal.h"

#include <inttypes.h>
#include <stdio.h>

int spmd_varies(const spmd *s, uint32_t v)
{
	return s->fn->values[v].varies;
}

static const pctl_inst *inst_at(const spmd *s, uint32_t v)
{
	return &s->e.p->insts[s->e.fn->first_inst + v];
}

const char *spmd_vector(const spmd *s, uint32_t type, char *buf)
{
	snprintf(buf, 24, "%s%u", emit_scalar_name(s->e.p->types[type].scalar), s->width);
	return buf;
}

void spmd_define(spmd *s, uint32_t v, uint32_t leaf, uint32_t type)
{
	char name[24];

	emit_indent(&s->e);
	text_printf(&s->e.code, "%s v%u_%u = ", spmd_vector(s, type, name), v, leaf);
}

/* A value that is the same for all lanes, for each of them. */
static void spread(const spmd *s, text *t, uint32_t v, uint32_t k)
{
	const uint32_t type = inst_at(s, v)->type;
	const uint32_t leaf = spmd_leaf(s, type, k, NULL, NULL);
	emitter one = s->e;
	text path = {0};
	char name[24];

	one.lanes = 0;
	one.lane_value = NULL;
	spmd_leaf(s, type, k, NULL, &path);
	text_printf(t, "(%s)(", spmd_vector(s, leaf, name));
	/* A scalar of its own has a bool as 0 or 1, a component of a vector as lanes have it; so do parts of wholes. */
	if (s->e.p->types[leaf].scalar == PCTL_SCALAR_BOOL) {
		text_add(t, "0u - (");
		emit_value(&one, t, v);
		text_printf(t, "%s & 1u)", text_str(&path));
	} else {
		emit_value(&one, t, v);
		text_add(t, text_str(&path));
	}
	text_add(t, ")");
	t->no_memory |= path.no_memory;
	text_free(&path);
}

void spmd_lanes(const spmd *s, text *t, uint32_t v, uint32_t k)
{
	if (spmd_varies(s, v))
		text_printf(t, "v%u_%u", v, k);
	else
		spread(s, t, v, k);
}

/* The leaf that is being written, or the only one there is. */
static void lane_value(const emitter *e, text *t, uint32_t v)
{
	const spmd *s = (const spmd *)e;
	const uint32_t type = inst_at(s, v)->type;

	spmd_lanes(s, t, v, spmd_leaves(e->p, type) > 1 ? s->leaf : 0);
}

void spmd_choose(spmd *s, text *t, uint32_t mask, int is_wide)
{
	if (is_wide)
		text_printf(t, "(convert_ulong%u(m%u) != (ulong%u)(0)) ? ", s->width, mask,
			    s->width);
	else
		text_printf(t, "(m%u != (uint%u)(0)) ? ", mask, s->width);
}

/* ---- elementwise ---- */

static void each_leaf(spmd *s, uint32_t v, const pctl_inst *in)
{
	const uint32_t n = spmd_leaves(s->e.p, in->type);

	for (uint32_t k = 0; k < n; k++) {
		pctl_inst one = *in;

		one.type = spmd_leaf(s, in->type, k, NULL, NULL);
		spmd_define(s, v, k, one.type);
		s->leaf = k;
		s->e.lanes = s->width;
		s->e.lane_value = lane_value;
		emit_expression(&s->e, &one);
		s->e.lanes = 0;
		s->e.lane_value = NULL;
		text_add(&s->e.code, ";\n");
	}
}

/* ---- composites ---- */

/* Leaf k of v is leaf `from` of value `of`. */
static void copy(spmd *s, uint32_t v, uint32_t k, const pctl_inst *in, uint32_t of, uint32_t from)
{
	spmd_define(s, v, k, spmd_leaf(s, in->type, k, NULL, NULL));
	spmd_lanes(s, &s->e.code, of, from);
	text_add(&s->e.code, ";\n");
}

static void compose(spmd *s, uint32_t v, const pctl_inst *in)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < in->n_args; i++) {
		const uint32_t arg = pctl_arg(s->e.p, in, i);
		const uint32_t n = spmd_leaves(s->e.p, inst_at(s, arg)->type);

		for (uint32_t j = 0; j < n; j++)
			copy(s, v, k++, in, arg, j);
	}
}

static void insert(spmd *s, uint32_t v, const pctl_inst *in)
{
	const uint32_t part = pctl_arg(s->e.p, in, 1);
	const uint32_t first = spmd_leaf_of_part(s->e.p, in->type, pctl_arg(s->e.p, in, 2));
	const uint32_t n = spmd_leaves(s->e.p, inst_at(s, part)->type);

	for (uint32_t k = 0; k < spmd_leaves(s->e.p, in->type); k++) {
		const int is_new = k >= first && k < first + n;

		copy(s, v, k, in, is_new ? part : pctl_arg(s->e.p, in, 0), is_new ? k - first : k);
	}
}

/* Component `c` of a BUILTIN, "" or for all lanes. In rows of whole vectors y and z are the same for all of them. */
static void builtin(spmd *s, uint32_t which, uint32_t c, int for_lanes)
{
	const uint32_t *size = s->e.p->entries[0].workgroup_size;
	const int in_rows = size[0] % s->width == 0;
	const uint32_t below = c == 0 ? 1 : c == 1 ? size[0] : size[0] * size[1];
	text *t = &s->e.code;

	if (which == PCTL_BUILTIN_WORKGROUP_ID || which == PCTL_BUILTIN_NUM_WORKGROUPS) {
		text_printf(t, "(%s%u)((uint)get_%s(%u))", "uint", s->width,
			    which == PCTL_BUILTIN_WORKGROUP_ID ? "group_id" : "num_groups", c);
		return;
	}
	if (for_lanes)
		text_printf(t, "(uint%u)(", s->width);
	if (which == PCTL_BUILTIN_GLOBAL_ID)
		text_printf(t, "(uint)get_group_id(%u) * %uu + ", c, size[c]);
	if (which == PCTL_BUILTIN_LOCAL_INDEX || size[0] == s->invocations) {
		text_add(t, c ? "0u" : "s_first");
		text_add(t, for_lanes ? ")" : "");
		text_add(t, for_lanes && !c ? " + p_lanes()" : "");
	} else if (size[c] == 1) {
		text_printf(t, "0u%s", for_lanes ? ")" : "");
	} else if (in_rows) {
		text_printf(t, "s_first / %uu %% %uu%s", below, size[c], for_lanes ? ")" : "");
		text_add(t, for_lanes && !c ? " + p_lanes()" : "");
	} else {
		text_printf(t,
			    "0u) + ((uint%u)(s_first) + p_lanes()) / (uint%u)(%u) %% (uint%u)(%u)",
			    s->width, s->width, below, s->width, size[c]);
	}
}

static void builtins(spmd *s, uint32_t v, const pctl_inst *in)
{
	const uint32_t n = spmd_leaves(s->e.p, in->type);

	for (uint32_t c = 0; c < n; c++) {
		spmd_define(s, v, c, spmd_leaf(s, in->type, c, NULL, NULL));
		builtin(s, pctl_arg(s->e.p, in, 0), c, 1);
		text_add(&s->e.code, ";\n");
	}
}

static void extract(spmd *s, uint32_t v, const pctl_inst *in)
{
	const uint32_t of = pctl_arg(s->e.p, in, 0), i = pctl_arg(s->e.p, in, 1);
	const uint32_t first = spmd_leaf_of_part(s->e.p, inst_at(s, of)->type, i);

	if (inst_at(s, of)->op == PCTL_OP_BUILTIN) {
		spmd_define(s, v, 0, in->type);
		builtin(s, pctl_arg(s->e.p, inst_at(s, of), 0), i, 1);
		text_add(&s->e.code, ";\n");
		return;
	}
	for (uint32_t k = 0; k < spmd_leaves(s->e.p, in->type); k++)
		copy(s, v, k, in, of, first + k);
}

static void extract_dyn(spmd *s, uint32_t v, const pctl_inst *in)
{
	const uint32_t of = pctl_arg(s->e.p, in, 0);
	const uint32_t n = spmd_leaves(s->e.p, inst_at(s, of)->type);
	const int is_wide = pctl_scalar_bits(s->e.p->types[in->type].scalar) == 64;
	text *t = &s->e.code;
	char name[24];

	spmd_define(s, v, 0, in->type);
	for (uint32_t k = 0; k < n; k++) {
		text_printf(t, is_wide ? "(convert_ulong%u(as_uint%u(" : "((", s->width, s->width);
		spmd_lanes(s, t, pctl_arg(s->e.p, in, 1), 0);
		text_printf(t, " == (uint%u)(%u))", s->width, k);
		if (is_wide)
			text_printf(t, ")) != (ulong%u)(0)", s->width);
		text_add(t, is_wide ? " ? " : ") ? ");
		spmd_lanes(s, t, of, k);
		text_add(t, " : ");
	}
	text_printf(t, "(%s)(0);\n", spmd_vector(s, in->type, name));
}

static void shuffle(spmd *s, uint32_t v, const pctl_inst *in)
{
	for (uint32_t k = 0; k + 1 < in->n_args; k++)
		copy(s, v, k, in, pctl_arg(s->e.p, in, 0), pctl_arg(s->e.p, in, k + 1));
}

/* All leaves of a value joined by an operator. */
static void join(spmd *s, uint32_t v, const pctl_inst *in, const char *symbol, int is_dot)
{
	const uint32_t a = pctl_arg(s->e.p, in, 0);
	const uint32_t n = spmd_leaves(s->e.p, inst_at(s, a)->type);

	spmd_define(s, v, 0, in->type);
	for (uint32_t k = 0; k < n; k++) {
		text_add(&s->e.code, k ? symbol : "");
		spmd_lanes(s, &s->e.code, a, k);
		if (!is_dot)
			continue;
		text_add(&s->e.code, " * ");
		spmd_lanes(s, &s->e.code, pctl_arg(s->e.p, in, 1), k);
	}
	text_add(&s->e.code, ";\n");
}

/* Between one leaf of 64 bits and two of 32. */
static void bitcast(spmd *s, uint32_t v, const pctl_inst *in)
{
	const uint32_t of = pctl_arg(s->e.p, in, 0), n = spmd_leaves(s->e.p, in->type);
	const uint32_t n_from = spmd_leaves(s->e.p, inst_at(s, of)->type);
	text *t = &s->e.code;
	char name[24];

	if (n == n_from) {
		each_leaf(s, v, in);
		return;
	}
	for (uint32_t k = 0; k < n; k++) {
		const uint32_t type = spmd_leaf(s, in->type, k, NULL, NULL);

		spmd_define(s, v, k, type);
		text_printf(t, "as_%s(", spmd_vector(s, type, name));
		if (n > n_from) {
			text_printf(t, "convert_uint%u(as_ulong%u(", s->width, s->width);
			spmd_lanes(s, t, of, k / 2);
			text_printf(t, ") >> (ulong%u)(%u)", s->width, k % 2 * 32);
		} else {
			text_printf(t, "convert_ulong%u(as_uint%u(", s->width, s->width);
			spmd_lanes(s, t, of, 2 * k);
			text_printf(t, ")) | (convert_ulong%u(as_uint%u(", s->width, s->width);
			spmd_lanes(s, t, of, 2 * k + 1);
			text_printf(t, ")) << (ulong%u)(32)", s->width);
		}
		text_add(t, "));\n");
	}
}

/* Elements of a constant table, lane by lane; the last one is zero and stands for all that are outside. */
static void lookup(spmd *s, uint32_t v, const pctl_inst *in)
{
	char name[24], index[24];

	spmd_define(s, v, 0, in->type);
	text_printf(&s->e.code, "(%s)(", spmd_vector(s, in->type, name));
	for (uint32_t i = 0; i < s->width; i++) {
		snprintf(index, sizeof(index), "v%u_0.s%x", pctl_arg(s->e.p, in, 0), i);
		text_add(&s->e.code, i ? ", " : "");
		emit_lookup_at(&s->e, in, index);
	}
	text_add(&s->e.code, ");\n");
}

/* ---- products of packed bytes ---- */

static int is_high(const spmd *s, uint32_t v)
{
	uint64_t bits;

	return emit_constant(&s->e, v, &bits) && bits == 0x80808080u;
}

/* Instruction v is `op` of two, and its operands are within reach where `at` is. */
static const pctl_inst *two_of(const spmd *s, uint32_t v, uint16_t op, uint32_t at)
{
	const spmd_value *values = s->fn->values;
	const pctl_inst *in = inst_at(s, v);

	return in->op == op && in->n_args == 2 && values[v].region == values[at].region &&
			       values[v].segment == values[at].segment
		       ? in
		       : NULL;
}

/* Value v is dot4I8Packed(u ^ 0x80808080, s) - dot4I8Packed(0x80808080, s): the products of bytes u without a sign by bytes s with one. */
static int is_mixed(const spmd *s, uint32_t v, uint32_t at, uint32_t *u, uint32_t *signs)
{
	const pctl_program *p = s->e.p;
	const pctl_inst *less = two_of(s, v, PCTL_OP_SUB, at);
	const pctl_inst *all, *of_high, *turned;

	if (less == NULL)
		return 0;
	all = two_of(s, pctl_arg(p, less, 0), PCTL_OP_DOT4_I8, at);
	of_high = two_of(s, pctl_arg(p, less, 1), PCTL_OP_DOT4_I8, at);
	if (all == NULL || of_high == NULL || pctl_arg(p, all, 1) != pctl_arg(p, of_high, 1) ||
	    !is_high(s, pctl_arg(p, of_high, 0)))
		return 0;
	turned = two_of(s, pctl_arg(p, all, 0), PCTL_OP_XOR, at);
	if (turned == NULL || !is_high(s, pctl_arg(p, turned, 1)))
		return 0;
	*u = pctl_arg(p, turned, 0);
	*signs = pctl_arg(p, all, 1);
	return 1;
}

/* A sum and such products are what the instruction does, so that a product of matrices is one for each vector of sums and word of a. */
static int mixed_sum(spmd *s, uint32_t v, const pctl_inst *in)
{
	text *t = &s->e.code;
	uint32_t u, signs;
	char name[40];

	if (!(s->e.flags & EMIT_VNNI) || in->op != PCTL_OP_ADD ||
	    spmd_leaves(s->e.p, in->type) != 1)
		return 0;
	for (uint32_t i = 0; i < 2; i++) {
		if (!is_mixed(s, pctl_arg(s->e.p, in, i), v, &u, &signs))
			continue;
		s->e.lanes = s->width;
		emit_helper(&s->e, PCTL_OP_DOT4_I8, PCTL_SCALAR_I32, s->width, name);
		s->e.lanes = 0;
		spmd_define(s, v, 0, in->type);
		text_printf(t, "%s_add(", name);
		spmd_lanes(s, t, pctl_arg(s->e.p, in, 1 - i), 0);
		text_add(t, ", ");
		spmd_lanes(s, t, u, 0);
		text_add(t, ", ");
		spmd_lanes(s, t, signs, 0);
		text_add(t, ");\n");
		return 1;
	}
	return 0;
}

void spmd_compute(spmd *s, uint32_t v, const pctl_inst *in)
{
	const pctl_inst *of;

	if (in->op == PCTL_OP_EXTRACT) {
		of = inst_at(s, pctl_arg(s->e.p, in, 0));
		if (of->op == PCTL_OP_BUILTIN && !spmd_varies(s, v)) {
			emit_define(&s->e, v, in->type);
			if (spmd_varies(s, pctl_arg(s->e.p, in, 0)))
				builtin(s, pctl_arg(s->e.p, of, 0), pctl_arg(s->e.p, in, 1), 0);
			else
				emit_expression(&s->e, in);
			text_add(&s->e.code, ";\n");
			return;
		}
	}
	if (!spmd_varies(s, v)) {
		emit_compute(&s->e, v, in);
		return;
	}
	switch (in->op) {
	case PCTL_OP_PARAM:
		break;
	case PCTL_OP_BUILTIN:
		builtins(s, v, in);
		break;
	case PCTL_OP_COMPOSE:
		compose(s, v, in);
		break;
	case PCTL_OP_SPLAT:
		for (uint32_t k = 0; k < spmd_leaves(s->e.p, in->type); k++)
			copy(s, v, k, in, pctl_arg(s->e.p, in, 0), 0);
		break;
	case PCTL_OP_EXTRACT:
		extract(s, v, in);
		break;
	case PCTL_OP_EXTRACT_DYN:
		extract_dyn(s, v, in);
		break;
	case PCTL_OP_INSERT:
		insert(s, v, in);
		break;
	case PCTL_OP_SHUFFLE:
		shuffle(s, v, in);
		break;
	case PCTL_OP_ALL:
		join(s, v, in, " & ", 0);
		break;
	case PCTL_OP_ANY:
		join(s, v, in, " | ", 0);
		break;
	case PCTL_OP_DOT:
		join(s, v, in, " + ", 1);
		break;
	case PCTL_OP_BITCAST:
		bitcast(s, v, in);
		break;
	case PCTL_OP_LOOKUP:
		lookup(s, v, in);
		break;
	default:
		if (!mixed_sum(s, v, in))
			each_leaf(s, v, in);
		break;
	}
}
