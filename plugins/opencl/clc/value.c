/* Computing instructions as C expressions: everything that touches no memory and no control. */
#include "clc/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const pctl_inst *inst_at(const emitter *e, uint32_t v)
{
	return &e->p->insts[e->fn->first_inst + v];
}

static const pctl_type *value_type(const emitter *e, uint32_t v)
{
	return &e->p->types[inst_at(e, v)->type];
}

static int is_64(const pctl_type *t)
{
	return pctl_scalar_bits(t->scalar) == 64;
}

int emit_constant(const emitter *e, uint32_t v, uint64_t *out)
{
	const pctl_inst *in = inst_at(e, v);

	if (in->op == PCTL_OP_CONST) {
		*out = (uint64_t)pctl_arg(e->p, in, 0) | (uint64_t)pctl_arg(e->p, in, 1) << 32;
		return 1;
	}
	if (in->op == PCTL_OP_ZERO && e->p->types[in->type].kind == PCTL_TYPE_SCALAR) {
		*out = 0;
		return 1;
	}
	return 0;
}

/* By its bits: no decimal number, no rounding, and a NaN keeps its payload. */
static void float_literal(text *t, uint8_t scalar, uint64_t bits)
{
	if (scalar == PCTL_SCALAR_F64)
		text_printf(t, "as_double(0x%016" PRIx64 "ul)", bits);
	else if (scalar == PCTL_SCALAR_F32)
		text_printf(t, "as_float(0x%08" PRIx32 "u)", (uint32_t)bits);
	else
		text_printf(t, "as_half((ushort)0x%04" PRIx32 "u)", (uint32_t)bits);
}

void emit_value(const emitter *e, text *t, uint32_t v)
{
	uint64_t bits;

	if (e->lane_value) {
		e->lane_value(e, t, v);
		return;
	}
	if (inst_at(e, v)->op == PCTL_OP_PARAM && emit_is_whole(e, inst_at(e, v)->type))
		text_printf(t, "(*v%u)", v);
	else if (!emit_constant(e, v, &bits))
		text_printf(t, "v%u", v);
	else if (emit_is_float(value_type(e, v)->scalar)) {
		emit_nofold_open(e, t, inst_at(e, v)->type);
		float_literal(t, value_type(e, v)->scalar, bits);
		emit_nofold_close(e, t, inst_at(e, v)->type);
	} else if (is_64(value_type(e, v)))
		text_printf(t, "0x%" PRIx64 "ul", bits);
	else
		text_printf(t, "%" PRIu32 "u", (uint32_t)bits);
}

void emit_arg(emitter *e, const pctl_inst *in, uint32_t i)
{
	emit_value(e, &e->code, pctl_arg(e->p, in, i));
}

static const pctl_type *arg_type(const emitter *e, const pctl_inst *in, uint32_t i)
{
	return value_type(e, pctl_arg(e->p, in, i));
}

/* "int3" for a type of three 32-bit components. */
static const char *signed_name(const emitter *e, const pctl_type *t, char *buf)
{
	if (emit_width(e, t) > 1)
		snprintf(buf, 16, "%s%u", is_64(t) ? "long" : "int", emit_width(e, t));
	else
		snprintf(buf, 16, "%s", is_64(t) ? "long" : "int");
	return buf;
}

static void binary(emitter *e, const pctl_inst *in, const char *symbol)
{
	text_add(&e->code, "(");
	emit_arg(e, in, 0);
	text_printf(&e->code, " %s ", symbol);
	emit_arg(e, in, 1);
	text_add(&e->code, ")");
}

/* C's comparison gives an int, or lanes of the operands' width; ours are uint lanes, see
 * internal.h. */
static void mask_open(emitter *e, const pctl_type *operand)
{
	const uint32_t width = emit_width(e, operand);

	if (width == 1)
		text_add(&e->code, "(uint)(");
	else if (is_64(operand))
		text_printf(&e->code, "convert_uint%u(as_ulong%u(", width, width);
	else
		text_printf(&e->code, "as_uint%u(", width);
}

static void mask_close(emitter *e, const pctl_type *operand)
{
	text_add(&e->code, emit_width(e, operand) > 1 && is_64(operand) ? "))" : ")");
}

static void compare(emitter *e, const pctl_inst *in)
{
	static const char *const symbols[] = {"==", "!=", "<", "<=", ">", ">="};
	const pctl_type *t = arg_type(e, in, 0);
	const int as_signed = pctl_scalar_is_signed(t->scalar) && in->op >= PCTL_OP_LT;
	char name[16];

	signed_name(e, t, name);
	mask_open(e, t);
	for (uint32_t i = 0; i < 2; i++) {
		if (i)
			text_printf(&e->code, " %s ", symbols[in->op - PCTL_OP_EQ]);
		if (as_signed)
			text_printf(&e->code, "as_%s(", name);
		emit_arg(e, in, i);
		if (as_signed)
			text_add(&e->code, ")");
	}
	mask_close(e, t);
}

static void not_of(emitter *e, const pctl_inst *in)
{
	const int flip = !e->lanes && emit_is_scalar_bool(e->p, in->type);

	text_add(&e->code, flip ? "(" : "~");
	emit_arg(e, in, 0);
	text_add(&e->code, flip ? " ^ 1u)" : "");
}

static void all_any(emitter *e, const pctl_inst *in)
{
	const uint32_t width = emit_width(e, arg_type(e, in, 0));

	if (width == 1) {
		emit_arg(e, in, 0);
		return;
	}
	text_add(&e->code, "((");
	for (uint32_t i = 0; i < width; i++) {
		if (i)
			text_add(&e->code, in->op == PCTL_OP_ALL ? " & " : " | ");
		emit_arg(e, in, 0);
		text_printf(&e->code, ".s%u", i);
	}
	text_add(&e->code, ") & 1u)");
}

/* The unsigned type as wide as a component, by which a vector is selected. */
static const char *mask_name(const pctl_type *t)
{
	if (t->scalar == PCTL_SCALAR_F16)
		return "ushort";
	return is_64(t) ? "ulong" : "uint";
}

static void select_of(emitter *e, const pctl_inst *in)
{
	const pctl_type *c = arg_type(e, in, 0), *t = &e->p->types[in->type];

	text_add(&e->code, "(");
	/* Not by the sign of a lane: rusticl (Mesa 22.3) compares sign-extended values as if they
	 * were not. */
	if (emit_width(e, c) > 1) {
		const char *lanes = mask_name(t);

		text_printf(&e->code, "(convert_%s%u(", lanes, emit_width(e, c));
		emit_arg(e, in, 0);
		text_printf(&e->code, ") != (%s%u)(0))", lanes, emit_width(e, c));
	} else {
		emit_arg(e, in, 0);
	}
	text_add(&e->code, " ? ");
	emit_nofold_choice(e, in, 1);
	text_add(&e->code, " : ");
	emit_arg(e, in, 2);
	text_add(&e->code, ")");
}

static void dot(emitter *e, const pctl_inst *in)
{
	const uint32_t width = emit_width(e, arg_type(e, in, 0));

	text_add(&e->code, "(");
	for (uint32_t i = 0; i < width; i++) {
		text_add(&e->code, i ? " + " : "");
		emit_arg(e, in, 0);
		text_printf(&e->code, ".s%u * ", i);
		emit_arg(e, in, 1);
		text_printf(&e->code, ".s%u", i);
	}
	text_add(&e->code, ")");
}

static void cast(emitter *e, const pctl_inst *in)
{
	const pctl_type *from = arg_type(e, in, 0), *to = &e->p->types[in->type];
	const int from_bool = from->scalar == PCTL_SCALAR_BOOL,
		  to_bool = to->scalar == PCTL_SCALAR_BOOL;
	const char *w = emit_suffix(emit_width(e, to));

	if (to->scalar == PCTL_SCALAR_U16 && !from_bool && from->scalar != PCTL_SCALAR_U16) {
		text_printf(&e->code, is_64(from) ? "(convert_uint%s(" : "(%s",
			    is_64(from) ? w : "");
		emit_arg(e, in, 0);
		text_printf(&e->code, "%s & (uint%s)(0xffff))", is_64(from) ? ")" : "", w);
	} else if (from_bool == to_bool && is_64(from) == is_64(to)) {
		emit_arg(e, in, 0);
	} else if (to_bool) {
		mask_open(e, from);
		emit_arg(e, in, 0);
		text_printf(&e->code, " != (%s%s)(0)", emit_scalar_name(from->scalar), w);
		mask_close(e, from);
	} else if (from_bool) {
		text_printf(&e->code, "convert_%s%s(", emit_scalar_name(to->scalar), w);
		emit_arg(e, in, 0);
		text_printf(&e->code, " & (uint%s)(1))", w);
	} else if (is_64(to) && pctl_scalar_is_signed(from->scalar)) {
		text_printf(&e->code, "p_extend%s(", emit_width(e, to) > 1 ? w : "1");
		emit_arg(e, in, 0);
		text_add(&e->code, ")");
		emit_extend(e, emit_width(e, to));
	} else {
		text_printf(&e->code, "convert_%s%s(", emit_scalar_name(to->scalar), w);
		emit_arg(e, in, 0);
		text_add(&e->code, ")");
	}
}

/* What comes out of memory that the kernel does not write is nothing that a compiler knows. */
static int is_read(const emitter *e, uint32_t v)
{
	pctl_place place;

	return pctl_place_get(e->p, e->fn, inst_at(e, v), &place) &&
	       (place.space == PCTL_SPACE_UNIFORM ||
		(place.space == PCTL_SPACE_STORAGE &&
		 e->p->vars[place.root].access == PCTL_ACCESS_READ));
}

static void bitcast(emitter *e, const pctl_inst *in)
{
	const pctl_type *from = arg_type(e, in, 0), *to = &e->p->types[in->type];
	const int might_be_known =
		!emit_is_float(from->scalar) && !is_read(e, pctl_arg(e->p, in, 0));
	char name[24];

	if (emit_width(e, from) == emit_width(e, to) &&
	    strcmp(emit_scalar_name(from->scalar), emit_scalar_name(to->scalar)) == 0) {
		emit_arg(e, in, 0);
		return;
	}
	if (might_be_known)
		emit_nofold_open(e, &e->code, in->type);
	text_printf(&e->code, "as_%s(", emit_type_name(e, in->type, name));
	emit_arg(e, in, 0);
	text_add(&e->code, ")");
	if (might_be_known)
		emit_nofold_close(e, &e->code, in->type);
}

static void builtin(emitter *e, const pctl_inst *in)
{
	static const char *const calls[] = {NULL, "get_global_id", "get_local_id",
					    NULL, "get_group_id",  "get_num_groups"};
	const uint32_t which = pctl_arg(e->p, in, 0);
	const uint32_t *size = e->p->entries[0].workgroup_size;

	if (which == PCTL_BUILTIN_LOCAL_INDEX)
		text_printf(&e->code,
			    "((uint)get_local_id(0) + (uint)get_local_id(1) * %uu + "
			    "(uint)get_local_id(2) * %uu)",
			    size[0], size[0] * size[1]);
	else
		text_printf(&e->code, "(uint3)((uint)%s(0), (uint)%s(1), (uint)%s(2))",
			    calls[which], calls[which], calls[which]);
}

static void lane_value(emitter *e, const pctl_inst *in, uint32_t i)
{
	const int negate = emit_is_vector_bool(e->p, in->type);

	text_add(&e->code, negate ? "0u - " : "");
	emit_arg(e, in, i);
}

static void vector_of(emitter *e, const pctl_inst *in)
{
	char name[24];

	text_printf(&e->code, "(%s)(", emit_type_name(e, in->type, name));
	for (uint32_t i = 0; i < in->n_args; i++) {
		text_add(&e->code, i ? ", " : "");
		lane_value(e, in, i);
	}
	text_add(&e->code, ")");
}

static void extract(emitter *e, const pctl_inst *in)
{
	const uint32_t type = inst_at(e, pctl_arg(e->p, in, 0))->type;
	const int lane = emit_is_vector_bool(e->p, type);

	text_add(&e->code, lane ? "(" : "");
	emit_arg(e, in, 0);
	emit_part(e, &e->code, type, pctl_arg(e->p, in, 1));
	text_add(&e->code, lane ? " & 1u)" : "");
}

static void extract_dyn(emitter *e, const pctl_inst *in)
{
	const uint32_t type = inst_at(e, pctl_arg(e->p, in, 0))->type;

	text_add(&e->code, "(");
	for (uint32_t i = 0; i < e->p->types[type].width; i++) {
		emit_arg(e, in, 1);
		text_printf(&e->code, " == %uu ? ", i);
		emit_arg(e, in, 0);
		text_printf(&e->code, ".s%u : ", i);
	}
	emit_zero(e, &e->code, in->type);
	text_add(&e->code, ")");
	if (emit_is_vector_bool(e->p, type))
		text_add(&e->code, " & 1u");
}

static void shuffle(emitter *e, const pctl_inst *in)
{
	emit_arg(e, in, 0);
	text_add(&e->code, ".s");
	for (uint32_t i = 1; i < in->n_args; i++)
		text_printf(&e->code, "%u", pctl_arg(e->p, in, i));
}

static void insert(emitter *e, uint32_t v, const pctl_inst *in)
{
	const int negate = emit_is_vector_bool(e->p, in->type);

	emit_define(e, v, in->type);
	emit_arg(e, in, 0);
	text_add(&e->code, ";\n");
	emit_indent(e);
	text_printf(&e->code, "v%u", v);
	emit_part(e, &e->code, in->type, pctl_arg(e->p, in, 2));
	text_add(&e->code, negate ? " = 0u - " : " = ");
	emit_arg(e, in, 1);
	text_add(&e->code, ";\n");
}

/* sum over k of a.a[k] * b<part>.sk: one column of a matrix product, `column` < 0 for a vector b.
 */
static void matrix_column(emitter *e, const pctl_inst *in, uint32_t columns, int64_t column)
{
	for (uint32_t k = 0; k < columns; k++) {
		text_add(&e->code, k ? " + " : "");
		emit_arg(e, in, 0);
		text_printf(&e->code, ".a[%u] * ", k);
		emit_arg(e, in, 1);
		if (column >= 0)
			text_printf(&e->code, ".a[%u]", (uint32_t)column);
		text_printf(&e->code, ".s%u", k);
	}
	text_add(&e->code, ";\n");
}

/* dot of the vector a with column i of the matrix b */
static void row_dot(emitter *e, const pctl_inst *in, uint32_t i, uint32_t rows)
{
	for (uint32_t k = 0; k < rows; k++) {
		text_add(&e->code, k ? " + " : "");
		emit_arg(e, in, 0);
		text_printf(&e->code, ".s%u * ", k);
		emit_arg(e, in, 1);
		text_printf(&e->code, ".a[%u].s%u", i, k);
	}
}

static void matmul(emitter *e, uint32_t v, const pctl_inst *in)
{
	const pctl_type *a = arg_type(e, in, 0), *b = arg_type(e, in, 1);
	char name[24];

	if (a->kind == PCTL_TYPE_MATRIX && b->kind == PCTL_TYPE_MATRIX) {
		emit_declare(e, v, in->type);
		for (uint32_t c = 0; c < b->columns; c++) {
			emit_indent(e);
			text_printf(&e->code, "v%u.a[%u] = ", v, c);
			matrix_column(e, in, a->columns, c);
		}
	} else if (a->kind == PCTL_TYPE_MATRIX) {
		emit_define(e, v, in->type);
		matrix_column(e, in, a->columns, -1);
	} else {
		emit_define(e, v, in->type);
		text_printf(&e->code, "(%s)(", emit_type_name(e, in->type, name));
		for (uint32_t c = 0; c < b->columns; c++) {
			text_add(&e->code, c ? ", " : "");
			row_dot(e, in, c, b->width);
		}
		text_add(&e->code, ");\n");
	}
}

static void transpose(emitter *e, uint32_t v, const pctl_inst *in)
{
	const pctl_type *from = arg_type(e, in, 0);
	char name[24];

	emit_declare(e, v, in->type);
	for (uint32_t r = 0; r < from->width; r++) {
		emit_indent(e);
		text_printf(&e->code, "v%u.a[%u] = (%s)(", v, r,
			    emit_type_name(e, e->p->types[in->type].elem, name));
		for (uint32_t c = 0; c < from->columns; c++) {
			text_add(&e->code, c ? ", " : "");
			emit_arg(e, in, 0);
			text_printf(&e->code, ".a[%u].s%u", c, r);
		}
		text_add(&e->code, ");\n");
	}
}

/* An operation that is a helper function, or the plain value where it changes nothing. */
static void helper_call(emitter *e, const pctl_inst *in)
{
	const pctl_type *t = &e->p->types[in->type];
	char name[40];

	if (!emit_helper(e, in->op, t->scalar, emit_width(e, t), name)) {
		emit_arg(e, in, 0);
		return;
	}
	text_printf(&e->code, "%s(", name);
	for (uint32_t i = 0; i < in->n_args; i++) {
		text_add(&e->code, i ? ", " : "");
		emit_arg(e, in, i);
	}
	text_add(&e->code, ")");
}

void emit_expression(emitter *e, const pctl_inst *in)
{
	if (PCTL_IS_NATIVE(in->op)) {
		emit_float(e, in);
		return;
	}
	if (pctl_op_get(in->op)->kind == PCTL_OPKIND_subgroup) {
		emit_subgroup(e, in);
		return;
	}
	switch (in->op) {
	case PCTL_OP_LOOKUP:
		emit_lookup_at(e, in, NULL);
		break;
	case PCTL_OP_MUL_HIGH:
		text_add(&e->code, "mul_hi(");
		emit_arg(e, in, 0);
		text_add(&e->code, ", ");
		emit_arg(e, in, 1);
		text_add(&e->code, ")");
		break;
	case PCTL_OP_BUILTIN:
		builtin(e, in);
		break;
	case PCTL_OP_ZERO:
		emit_zero(e, &e->code, in->type);
		break;
	case PCTL_OP_ADD:
		binary(e, in, "+");
		break;
	case PCTL_OP_SUB:
		binary(e, in, "-");
		break;
	case PCTL_OP_MUL:
		binary(e, in, "*");
		break;
	case PCTL_OP_AND:
		binary(e, in, "&");
		break;
	case PCTL_OP_OR:
		binary(e, in, "|");
		break;
	case PCTL_OP_XOR:
		binary(e, in, "^");
		break;
	case PCTL_OP_NEG:
		text_add(&e->code, "0u - ");
		emit_arg(e, in, 0);
		break;
	case PCTL_OP_NOT:
		not_of(e, in);
		break;
	case PCTL_OP_POPCOUNT:
		text_add(&e->code, "popcount(");
		emit_arg(e, in, 0);
		text_add(&e->code, ")");
		break;
	case PCTL_OP_EQ:
	case PCTL_OP_NE:
	case PCTL_OP_LT:
	case PCTL_OP_LE:
	case PCTL_OP_GT:
	case PCTL_OP_GE:
		compare(e, in);
		break;
	case PCTL_OP_ALL:
	case PCTL_OP_ANY:
		all_any(e, in);
		break;
	case PCTL_OP_SELECT:
		select_of(e, in);
		break;
	case PCTL_OP_DOT:
		dot(e, in);
		break;
	case PCTL_OP_CAST:
		cast(e, in);
		break;
	case PCTL_OP_BITCAST:
		bitcast(e, in);
		break;
	case PCTL_OP_COMPOSE:
		vector_of(e, in);
		break;
	case PCTL_OP_SPLAT:
		vector_of(e, in);
		break;
	case PCTL_OP_EXTRACT:
		extract(e, in);
		break;
	case PCTL_OP_EXTRACT_DYN:
		extract_dyn(e, in);
		break;
	case PCTL_OP_SHUFFLE:
		shuffle(e, in);
		break;
	default:
		helper_call(e, in);
		break;
	}
}

void emit_compute(emitter *e, uint32_t v, const pctl_inst *in)
{
	uint64_t bits;

	if (in->op == PCTL_OP_PARAM || emit_constant(e, v, &bits) || emit_whole(e, v, in))
		return;
	if (in->op == PCTL_OP_INSERT) {
		insert(e, v, in);
	} else if (in->op == PCTL_OP_MATMUL) {
		matmul(e, v, in);
	} else if (in->op == PCTL_OP_TRANSPOSE) {
		transpose(e, v, in);
	} else {
		emit_define(e, v, in->type);
		emit_expression(e, in);
		text_add(&e->code, ";\n");
	}
}
