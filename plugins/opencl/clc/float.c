/* Native float operations as OpenCL C, written so that no compiler contracts, reassociates or
 * approximates: FP_CONTRACT is off, operators stand for themselves, everything else is a call of the
 * built-in function. What a device then really does is the host's probe to find out (core/runtime/policy). */
#include "clc/internal.h"

#include <stdio.h>

void emit_float_pragmas(const pctl_program *p, text *t)
{
	if (p->caps & (PCTL_CAP_F16 | PCTL_CAP_F32 | PCTL_CAP_F64))
		text_add(t, "#pragma OPENCL FP_CONTRACT OFF\n");
	if (p->caps & PCTL_CAP_F64)
		text_add(t, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
	if (p->caps & PCTL_CAP_F16)
		text_add(t, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
}

static const char *suffix_of(const emitter *e, const pctl_type *t)
{
	return emit_suffix(emit_width(e, t));
}

/* ---- constants that the compiler may not know ----
 *
 * rusticl (Mesa 22.3) takes `x + 0.0f` for x and `x * 0.0f` for 0 where it meets the constant. A float
 * whose bits it could find out is mixed with a zero that only the dispatch knows (there are fewer than
 * 2^31 workgroups); what is computed from such values is unknown of itself. */

#define HIDDEN_ZERO "p_hidden()"
/* Of this one a compiler knows no bit: there are fewer than 2^32 workgroups, which it cannot know. */
#define UNKNOWN_ZERO "p_unknown()"

static int nofold(const emitter *e, uint32_t type)
{
	return (e->flags & EMIT_NOFOLD_FLOATS) && emit_is_float(e->p->types[type].scalar);
}

static const char *bits_name(uint8_t scalar)
{
	return scalar == PCTL_SCALAR_F64 ? "ulong" : scalar == PCTL_SCALAR_F32 ? "uint" : "ushort";
}

static int rounds(uint16_t op)
{
	return op == PCTL_OP_NFLOOR || op == PCTL_OP_NCEIL || op == PCTL_OP_NTRUNC ||
	       op == PCTL_OP_NROUND;
}

static int has_roundings(const pctl_program *p)
{
	for (uint32_t i = 0; i < p->n_insts; i++)
		if (rounds(p->insts[i].op))
			return 1;
	return 0;
}

void emit_hidden_zero(const emitter *e, text *t)
{
	if (has_roundings(e->p))
		text_add(t, "static inline ulong " UNKNOWN_ZERO "\n{\n"
			    "\treturn (ulong)get_num_groups(0) >> 32;\n}\n\n");
	if (e->flags & EMIT_NOFOLD_FLOATS)
		text_add(t, "static inline uint " HIDDEN_ZERO "\n{\n"
			    "\treturn (uint)get_num_groups(0) >> 31;\n}\n\n");
}

void emit_nofold_open(const emitter *e, text *t, uint32_t type)
{
	char name[24];

	if (nofold(e, type))
		text_printf(t, "as_%s(as_%s%s(", emit_type_name(e, type, name),
			    bits_name(e->p->types[type].scalar), suffix_of(e, &e->p->types[type]));
}

void emit_nofold_close(const emitter *e, text *t, uint32_t type)
{
	if (nofold(e, type))
		text_printf(t, ") | (%s%s)(" HIDDEN_ZERO "))", bits_name(e->p->types[type].scalar),
			    suffix_of(e, &e->p->types[type]));
}

/* Its constants have no type: of a choice between the words of 1.0 or -1.0 and 0.0 it makes a converted boolean, negated,
 * among integers too. One side is hidden. */
void emit_nofold_choice(emitter *e, const pctl_inst *in, uint32_t arg)
{
	const uint8_t scalar = e->p->types[in->type].scalar;
	char name[24];

	if (!(e->flags & EMIT_NOFOLD_FLOATS) || scalar < PCTL_SCALAR_I32 ||
	    scalar > PCTL_SCALAR_U64) {
		emit_arg(e, in, arg);
		return;
	}
	text_add(&e->code, "(");
	emit_arg(e, in, arg);
	text_printf(&e->code, " | (%s)(" HIDDEN_ZERO "))", emit_type_name(e, in->type, name));
}

static const pctl_type *arg_type(const emitter *e, const pctl_inst *in)
{
	return &e->p->types[pctl_value_type(e->p, e->fn, pctl_arg(e->p, in, 0))];
}

static void infix(emitter *e, const pctl_inst *in, const char *symbol)
{
	text_add(&e->code, "(");
	emit_arg(e, in, 0);
	text_printf(&e->code, " %s ", symbol);
	emit_arg(e, in, 1);
	text_add(&e->code, ")");
}

static void call(emitter *e, const pctl_inst *in, const char *name)
{
	text_printf(&e->code, "%s(", name);
	for (uint32_t i = 0; i < in->n_args; i++) {
		text_add(&e->code, i ? ", " : "");
		emit_arg(e, in, i);
	}
	text_add(&e->code, ")");
}

static uint32_t size_number(uint8_t scalar)
{
	return scalar == PCTL_SCALAR_F16 ? 0 : scalar == PCTL_SCALAR_F32 ? 1 : 2;
}

/* Of a NaN that it knows PoCL 3.1 loses the result of rounding, and the store of it, and it crashes on some other
 * numbers that it knows. So no NaN is rounded, and it knows none of the bits of what is. */
static void rounding(emitter *e, const pctl_inst *in, const char *name)
{
	static const char *const not_sign[] = {"0x7fff", "0x7fffffffu", "0x7ffffffffffffffful"};
	static const char *const infinity[] = {"0x7c00", "0x7f800000u", "0x7ff0000000000000ul"};
	const pctl_type *t = &e->p->types[in->type];
	const char *bits = bits_name(t->scalar), *w = suffix_of(e, t);
	const uint32_t size = size_number(t->scalar);
	char type[24];

	emit_type_name(e, in->type, type);
	text_printf(&e->code, "((as_%s%s(", bits, w);
	emit_arg(e, in, 0);
	text_printf(&e->code, ") & (%s%s)(%s)) > (%s%s)(%s) ? ", bits, w, not_sign[size], bits, w,
		    infinity[size]);
	emit_arg(e, in, 0);
	text_printf(&e->code, " : %s(as_%s(as_%s%s(", name, type, bits, w);
	emit_arg(e, in, 0);
	text_printf(&e->code, ") ^ (%s%s)((%s)" UNKNOWN_ZERO "))))", bits, w, bits);
}

/* C gives an int, or signed lanes as wide as the operands; a vector of bool has uint lanes of all
 * ones. */
static void compare(emitter *e, const pctl_inst *in)
{
	static const char *const symbols[] = {"==", "!=", "<", "<=", ">", ">="};
	const pctl_type *t = arg_type(e, in);
	const char *symbol = symbols[in->op - PCTL_OP_NEQ], *w = emit_suffix(emit_width(e, t));

	if (emit_width(e, t) == 1)
		text_add(&e->code, "(uint)");
	else if (t->scalar == PCTL_SCALAR_F32)
		text_printf(&e->code, "as_uint%s(", w);
	else
		text_printf(&e->code, "as_uint%s(convert_int%s(", w, w);
	infix(e, in, symbol);
	if (emit_width(e, t) > 1)
		text_add(&e->code, t->scalar == PCTL_SCALAR_F32 ? ")" : "))");
}

/* ---- conversions ---- */

/* What truncates into the integer lies above the first and below the second of these; a float
 * outside of that has no meaning in C, and 0 is converted in its place. All finite f16 fit an i32. */
static const char *const ranges[3][2][2] = {
	{{"as_half((ushort)0xbc00u)", "as_half((ushort)0x7c00u)"},
	 {"as_half((ushort)0xfc00u)", "as_half((ushort)0x7c00u)"}},
	{{"as_float(0xbf800000u)", "as_float(0x4f800000u)"},
	 {"as_float(0xcf000001u)", "as_float(0x4f000000u)"}},
	{{"as_double(0xbff0000000000000ul)", "as_double(0x41f0000000000000ul)"},
	 {"as_double(0xc1e0000000200000ul)", "as_double(0x41e0000000000000ul)"}},
};

/* One component to an integer; vectors go component by component. */
static const char *integer_helper(emitter *e, uint8_t scalar, int is_signed, char *buf)
{
	const uint32_t which = size_number(scalar);
	const char *const *range = ranges[which][is_signed];
	const char *from = emit_scalar_name(scalar);

	snprintf(buf, 24, "p_%s_%s", from, is_signed ? "i32" : "u32");
	if (e->integer_have & (1u << (2 * which + (uint32_t)is_signed)))
		return buf;
	e->integer_have |= 1u << (2 * which + (uint32_t)is_signed);
	text_printf(&e->helpers,
		    "static inline uint %s(%s x)\n{\n"
		    "\tint inside = (x > %s) & (x < %s);\n\n"
		    "\treturn (uint)(%s)(inside ? x : (%s)(0));\n}\n\n",
		    buf, from, range[0], range[1], is_signed ? "int" : "uint", from);
	return buf;
}

/* The same of all lanes at once. */
static const char *lanes_helper(emitter *e, uint8_t scalar, int is_signed, char *buf)
{
	const uint32_t which = size_number(scalar), n = e->lanes;
	const char *const *range = ranges[which][is_signed];
	const char *from = emit_scalar_name(scalar), *to = is_signed ? "int" : "uint";

	snprintf(buf, 24, "p_%s_%s_%u", from, is_signed ? "i32" : "u32", n);
	if (e->integer_have & (64u << (2 * which + (uint32_t)is_signed)))
		return buf;
	e->integer_have |= 64u << (2 * which + (uint32_t)is_signed);
	text_printf(&e->helpers,
		    "static inline uint%u %s(%s%u x)\n{\n"
		    "\t%s%u inside = (x > (%s%u)(%s)) & (x < (%s%u)(%s));\n\n"
		    "\treturn as_uint%u(convert_%s%u(inside ? x : (%s%u)(0)));\n}\n\n",
		    n, buf, from, n, scalar == PCTL_SCALAR_F64 ? "long" : "int", n, from, n,
		    range[0], from, n, range[1], n, to, n, from, n);
	return buf;
}

static void to_integer(emitter *e, const pctl_inst *in)
{
	const pctl_type *from = arg_type(e, in), *to = &e->p->types[in->type];
	const uint32_t width = emit_width(e, to);
	char name[24];

	if (e->lanes)
		lanes_helper(e, from->scalar, to->scalar == PCTL_SCALAR_I32, name);
	else
		integer_helper(e, from->scalar, to->scalar == PCTL_SCALAR_I32, name);
	if (e->lanes || width == 1) {
		call(e, in, name);
		return;
	}
	text_printf(&e->code, "(uint%u)(", width);
	for (uint32_t i = 0; i < width; i++) {
		text_printf(&e->code, "%s%s(", i ? ", " : "", name);
		emit_arg(e, in, 0);
		text_printf(&e->code, ".s%u)", i);
	}
	text_add(&e->code, ")");
}

static void convert(emitter *e, const pctl_inst *in)
{
	const pctl_type *from = arg_type(e, in), *to = &e->p->types[in->type];
	const char *w = emit_suffix(emit_width(e, to));

	if (!emit_is_float(to->scalar)) {
		to_integer(e, in);
	} else if (from->scalar == to->scalar) {
		emit_arg(e, in, 0);
	} else if (emit_is_float(from->scalar)) {
		text_printf(&e->code, "convert_%s%s(", emit_scalar_name(to->scalar), w);
		emit_arg(e, in, 0);
		text_add(&e->code, ")");
	} else {
		const int is_signed = from->scalar == PCTL_SCALAR_I32;

		emit_nofold_open(e, &e->code, in->type);
		text_printf(&e->code, "convert_%s%s(", emit_scalar_name(to->scalar), w);
		if (is_signed)
			text_printf(&e->code, "as_int%s(", w);
		emit_arg(e, in, 0);
		text_add(&e->code, is_signed ? "))" : ")");
		emit_nofold_close(e, &e->code, in->type);
	}
}

/* ---- by name ---- */

static const char *function_name(uint16_t op)
{
	static const struct {
		uint16_t op;
		const char *name;
	} names[] = {
		{PCTL_OP_NFMA, "fma"},	   {PCTL_OP_NSQRT, "sqrt"},   {PCTL_OP_NABS, "fabs"},
		{PCTL_OP_NMIN, "fmin"},	   {PCTL_OP_NMAX, "fmax"},    {PCTL_OP_NFLOOR, "floor"},
		{PCTL_OP_NCEIL, "ceil"},   {PCTL_OP_NTRUNC, "trunc"}, {PCTL_OP_NROUND, "rint"},
		{PCTL_OP_NSIN, "sin"},	   {PCTL_OP_NCOS, "cos"},     {PCTL_OP_NTAN, "tan"},
		{PCTL_OP_NASIN, "asin"},   {PCTL_OP_NACOS, "acos"},   {PCTL_OP_NATAN, "atan"},
		{PCTL_OP_NATAN2, "atan2"}, {PCTL_OP_NSINH, "sinh"},   {PCTL_OP_NCOSH, "cosh"},
		{PCTL_OP_NTANH, "tanh"},   {PCTL_OP_NASINH, "asinh"}, {PCTL_OP_NACOSH, "acosh"},
		{PCTL_OP_NATANH, "atanh"}, {PCTL_OP_NEXP, "exp"},     {PCTL_OP_NEXP2, "exp2"},
		{PCTL_OP_NEXP10, "exp10"}, {PCTL_OP_NLOG, "log"},     {PCTL_OP_NLOG2, "log2"},
		{PCTL_OP_NLOG10, "log10"}, {PCTL_OP_NPOW, "pow"},     {PCTL_OP_NRSQRT, "rsqrt"},
		{PCTL_OP_NCBRT, "cbrt"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].op == op)
			return names[i].name;
	return NULL;
}

void emit_float(emitter *e, const pctl_inst *in)
{
	switch (in->op) {
	case PCTL_OP_NADD:
		infix(e, in, "+");
		break;
	case PCTL_OP_NSUB:
		infix(e, in, "-");
		break;
	case PCTL_OP_NMUL:
		infix(e, in, "*");
		break;
	case PCTL_OP_NDIV:
		infix(e, in, "/");
		break;
	case PCTL_OP_NNEG:
		text_add(&e->code, "-");
		emit_arg(e, in, 0);
		break;
	case PCTL_OP_NEQ:
	case PCTL_OP_NNE:
	case PCTL_OP_NLT:
	case PCTL_OP_NLE:
	case PCTL_OP_NGT:
	case PCTL_OP_NGE:
		compare(e, in);
		break;
	case PCTL_OP_NCONVERT:
		convert(e, in);
		break;
	case PCTL_OP_NFLOOR:
	case PCTL_OP_NCEIL:
	case PCTL_OP_NTRUNC:
	case PCTL_OP_NROUND:
		rounding(e, in, function_name(in->op));
		break;
	default:
		call(e, in, function_name(in->op));
		break;
	}
}
