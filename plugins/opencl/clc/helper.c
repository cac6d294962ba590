/* Helper functions of the generated source: operations that C leaves undefined somewhere, or that
 * have no C operator. Each is written once a program for the scalar type and width it is used at.
 *
 * In the templates $N is the function's name, $T the unsigned type at the width, $S the signed one,
 * $U uint at the width, $B the bits of a component, $H its sign bit alone, $C the name of the CLZ
 * helper, $Z of CTZ; both of what is needed. A comparison yields 0 or 1 for scalars and lane masks of type $S for vectors;
 * the conditional operator and the bitwise operators accept both, which is why one template serves
 * all widths. */
#include "clc/internal.h"

#include <stdio.h>
#include <string.h>

typedef struct template
{
	uint16_t op;
	uint8_t is_signed;
	uint8_t needs; /* 1: CLZ, 2: CTZ, 3: DOT4_I8 */
	const char *tag;
	const char *text;
}
template;

static const template templates[] = {
	{PCTL_OP_DIV, 0, 0, "div_u",
	 "static inline $T $N($T x, $T y)\n{\n"
	 "\treturn (y == ($T)(0)) ? ($T)(0) : x / ((y == ($T)(0)) ? ($T)(1) : y);\n}\n"},
	{PCTL_OP_DIV, 1, 0, "div_s",
	 "static inline $T $N($T x, $T y)\n{\n\t$S a = as_$S(x), b = as_$S(y);\n"
	 "\t$S bad = (b == ($S)(0)) | ((a == as_$S(($T)($H))) & (b == ($S)(-1)));\n"
	 "\t$S q = a / (bad ? ($S)(1) : b);\n"
	 "\treturn as_$T((b == ($S)(0)) ? ($S)(0) : q);\n}\n"},
	{PCTL_OP_DIV_WGSL, 0, 0, "divw_u",
	 "static inline $T $N($T x, $T y)\n{\n\treturn x / ((y == ($T)(0)) ? ($T)(1) : y);\n}\n"},
	{PCTL_OP_DIV_WGSL, 1, 0, "divw_s",
	 "static inline $T $N($T x, $T y)\n{\n\t$S a = as_$S(x), b = as_$S(y);\n"
	 "\t$S bad = (b == ($S)(0)) | ((a == as_$S(($T)($H))) & (b == ($S)(-1)));\n"
	 "\treturn as_$T(a / (bad ? ($S)(1) : b));\n}\n"},
	{PCTL_OP_MOD, 0, 0, "mod_u",
	 "static inline $T $N($T x, $T y)\n{\n\treturn x % ((y == ($T)(0)) ? ($T)(1) : y);\n}\n"},
	{PCTL_OP_MOD, 1, 0, "mod_s",
	 "static inline $T $N($T x, $T y)\n{\n\t$S a = as_$S(x), b = as_$S(y);\n"
	 "\t$S bad = (b == ($S)(0)) | ((a == as_$S(($T)($H))) & (b == ($S)(-1)));\n"
	 "\treturn as_$T(a % (bad ? ($S)(1) : b));\n}\n"},
	{PCTL_OP_SHL, 0, 0, "shl",
	 "static inline $T $N($T x, $U n)\n{\n\treturn x << (convert_$T(n) & ($T)($B - 1));\n}\n"},
	{PCTL_OP_SHR, 0, 0, "shr_u",
	 "static inline $T $N($T x, $U n)\n{\n\treturn x >> (convert_$T(n) & ($T)($B - 1));\n}\n"},
	{PCTL_OP_SHR, 1, 0, "shr_s",
	 "static inline $T $N($T x, $U n)\n{\n"
	 "\treturn as_$T(as_$S(x) >> as_$S(convert_$T(n) & ($T)($B - 1)));\n}\n"},
	{PCTL_OP_MIN, 0, 0, "min_u",
	 "static inline $T $N($T x, $T y)\n{\n\treturn (x < y) ? x : y;\n}\n"},
	{PCTL_OP_MIN, 1, 0, "min_s",
	 "static inline $T $N($T x, $T y)\n{\n\treturn (as_$S(x) < as_$S(y)) ? x : y;\n}\n"},
	{PCTL_OP_MAX, 0, 0, "max_u",
	 "static inline $T $N($T x, $T y)\n{\n\treturn (x > y) ? x : y;\n}\n"},
	{PCTL_OP_MAX, 1, 0, "max_s",
	 "static inline $T $N($T x, $T y)\n{\n\treturn (as_$S(x) > as_$S(y)) ? x : y;\n}\n"},
	{PCTL_OP_CLAMP, 0, 0, "clamp_u",
	 "static inline $T $N($T x, $T lo, $T hi)\n{\n"
	 "\t$T y = (x > lo) ? x : lo;\n\treturn (y < hi) ? y : hi;\n}\n"},
	{PCTL_OP_CLAMP, 1, 0, "clamp_s",
	 "static inline $T $N($T x, $T lo, $T hi)\n{\n"
	 "\t$T y = (as_$S(x) > as_$S(lo)) ? x : lo;\n"
	 "\treturn (as_$S(y) < as_$S(hi)) ? y : hi;\n}\n"},
	{PCTL_OP_ABS, 1, 0, "abs_s",
	 "static inline $T $N($T x)\n{\n\treturn (as_$S(x) < ($S)(0)) ? ($T)(0) - x : x;\n}\n"},
	{PCTL_OP_SIGN, 1, 0, "sign_s",
	 "static inline $T $N($T x)\n{\n\t$S a = as_$S(x);\n"
	 "\treturn as_$T((a < ($S)(0)) ? ($S)(-1) : ((a > ($S)(0)) ? ($S)(1) : ($S)(0)));\n}\n"},
	{PCTL_OP_CLZ, 0, 0, "clz",
	 "static inline $T $N($T x)\n{\n"
	 "\treturn (x == ($T)(0)) ? ($T)($B) : clz((x == ($T)(0)) ? ($T)(1) : x);\n}\n"},
	{PCTL_OP_CTZ, 0, 0, "ctz",
	 "static inline $T $N($T x)\n{\n\treturn popcount((x & (($T)(0) - x)) - ($T)(1));\n}\n"},
	{PCTL_OP_REVERSE, 0, 0, "reverse",
	 "static inline $T $N($T x)\n{\n"
	 "\tx = ((x >> ($T)(1)) & ($T)($5)) | ((x & ($T)($5)) << ($T)(1));\n"
	 "\tx = ((x >> ($T)(2)) & ($T)($3)) | ((x & ($T)($3)) << ($T)(2));\n"
	 "\tx = ((x >> ($T)(4)) & ($T)($0)) | ((x & ($T)($0)) << ($T)(4));\n"
	 "\tx = ((x >> ($T)(8)) & ($T)($8)) | ((x & ($T)($8)) << ($T)(8));\n"
	 "\tx = ((x >> ($T)(16)) & ($T)($6)) | ((x & ($T)($6)) << ($T)(16));\n"
	 "\treturn (x >> ($T)($B / 2 & 32)) | (($T)($B / 2 & 32) != ($T)(0) ? x << ($T)(32) : "
	 "($T)(0));\n}\n"},
	{PCTL_OP_FIRST_LEADING, 0, 1, "first_leading_u",
	 "static inline $T $N($T x)\n{\n\treturn ($T)($B - 1) - $C(x);\n}\n"},
	{PCTL_OP_FIRST_LEADING, 1, 1, "first_leading_s",
	 "static inline $T $N($T x)\n{\n"
	 "\treturn ($T)($B - 1) - $C(x ^ as_$T(as_$S(x) >> ($S)($B - 1)));\n}\n"},
	{PCTL_OP_FIRST_TRAILING, 0, 2, "first_trailing",
	 "static inline $T $N($T x)\n{\n\treturn (x == ($T)(0)) ? ~($T)(0) : $Z(x);\n}\n"},
	{PCTL_OP_EXTRACT_BITS, 0, 0, "extract_u",
	 "static inline $T $N($T e, uint offset, uint count)\n{\n"
	 "\tuint o = offset < 32u ? offset : 32u;\n"
	 "\tuint c = count < 32u - o ? count : 32u - o;\n"
	 "\tuint mask = c < 32u ? (1u << (c & 31u)) - 1u : 0xffffffffu;\n"
	 "\treturn (e >> ($T)(o & 31u)) & ($T)(mask);\n}\n"},
	{PCTL_OP_EXTRACT_BITS, 1, 0, "extract_s",
	 "static inline $T $N($T e, uint offset, uint count)\n{\n"
	 "\tuint o = offset < 32u ? offset : 32u;\n"
	 "\tuint c = count < 32u - o ? count : 32u - o;\n"
	 "\t$S high = as_$S(e << ($T)((32u - c - o) & 31u));\n"
	 "\treturn c ? as_$T(high >> ($S)((32u - c) & 31u)) : ($T)(0);\n}\n"},
	{PCTL_OP_INSERT_BITS, 0, 0, "insert",
	 "static inline $T $N($T e, $T bits, uint offset, uint count)\n{\n"
	 "\tuint o = offset < 32u ? offset : 32u;\n"
	 "\tuint c = count < 32u - o ? count : 32u - o;\n"
	 "\tuint low = c < 32u ? (1u << (c & 31u)) - 1u : 0xffffffffu;\n"
	 "\t$T mask = ($T)(low << (o & 31u));\n"
	 "\treturn (e & ~mask) | ((bits << ($T)(o & 31u)) & mask);\n}\n"},
	{PCTL_OP_DOT4_I8, 1, 0, "dot4_i8",
	 "static inline uint $N(uint a, uint b)\n{\n"
	 "\tint s = ((int)(a << 24) >> 24) * ((int)(b << 24) >> 24);\n"
	 "\ts += ((int)(a << 16) >> 24) * ((int)(b << 16) >> 24);\n"
	 "\ts += ((int)(a << 8) >> 24) * ((int)(b << 8) >> 24);\n"
	 "\treturn (uint)(s + ((int)a >> 24) * ((int)b >> 24));\n}\n"},
	{PCTL_OP_DOT4_U8, 0, 0, "dot4_u8",
	 "static inline uint $N(uint a, uint b)\n{\n"
	 "\treturn (a & 255u) * (b & 255u) + ((a >> 8) & 255u) * ((b >> 8) & 255u) +\n"
	 "\t       ((a >> 16) & 255u) * ((b >> 16) & 255u) + (a >> 24) * (b >> 24);\n}\n"},
};

/* The same two by dp4a. No volatile: they are values like others, and may be moved or left out. */
static const template dp4a[] = {
	{PCTL_OP_DOT4_I8, 1, 0, "dp4a_i8",
	 "static inline uint $N(uint a, uint b)\n{\n\tint d;\n\n"
	 "\tasm(\"dp4a.s32.s32 %0, %1, %2, %3;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(0));\n"
	 "\treturn as_uint(d);\n}\n"},
	{PCTL_OP_DOT4_U8, 0, 0, "dp4a_u8",
	 "static inline uint $N(uint a, uint b)\n{\n\tuint d;\n\n"
	 "\tasm(\"dp4a.u32.u32 %0, %1, %2, %3;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(0));\n"
	 "\treturn d;\n}\n"},
};

/* Operations whose other operands are scalars for vectors (program.h), but lanes for lanes. */
static const template lanes[] = {
	{PCTL_OP_EXTRACT_BITS, 0, 0, "extract_u",
	 "static inline $T $N($T e, $T offset, $T count)\n{\n"
	 "\t$T o = min(offset, ($T)(32)), c = min(count, ($T)(32) - o);\n"
	 "\t$T low = (($T)(1) << (c & ($T)(31))) - ($T)(1);\n"
	 "\t$T mask = (c < ($T)(32)) ? low : ~($T)(0);\n"
	 "\treturn (e >> (o & ($T)(31))) & mask;\n}\n"},
	{PCTL_OP_EXTRACT_BITS, 1, 0, "extract_s",
	 "static inline $T $N($T e, $T offset, $T count)\n{\n"
	 "\t$T o = min(offset, ($T)(32)), c = min(count, ($T)(32) - o);\n"
	 "\t$S high = as_$S(e << ((($T)(32) - c - o) & ($T)(31)));\n"
	 "\t$T field = as_$T(high >> as_$S((($T)(32) - c) & ($T)(31)));\n"
	 "\treturn (c != ($T)(0)) ? field : ($T)(0);\n}\n"},
	{PCTL_OP_INSERT_BITS, 0, 0, "insert",
	 "static inline $T $N($T e, $T bits, $T offset, $T count)\n{\n"
	 "\t$T o = min(offset, ($T)(32)), c = min(count, ($T)(32) - o);\n"
	 "\t$T some = (($T)(1) << (c & ($T)(31))) - ($T)(1);\n"
	 "\t$T low = (c < ($T)(32)) ? some : ~($T)(0);\n"
	 "\t$T mask = low << (o & ($T)(31));\n"
	 "\treturn (e & ~mask) | ((bits << (o & ($T)(31))) & mask);\n}\n"},
	{PCTL_OP_DOT4_I8, 1, 0, "dot4_i8",
	 "static inline $T $N($T a, $T b)\n{\n"
	 "\t$S s = (as_$S(a << 24u) >> 24) * (as_$S(b << 24u) >> 24);\n\n"
	 "\ts += (as_$S(a << 16u) >> 24) * (as_$S(b << 16u) >> 24);\n"
	 "\ts += (as_$S(a << 8u) >> 24) * (as_$S(b << 8u) >> 24);\n"
	 "\treturn as_$T(s + (as_$S(a) >> 24) * (as_$S(b) >> 24));\n}\n"},
	{PCTL_OP_DOT4_U8, 0, 0, "dot4_u8",
	 "static inline $T $N($T a, $T b)\n{\n"
	 "\treturn (a & 255u) * (b & 255u) + ((a >> 8u) & 255u) * ((b >> 8u) & 255u) +\n"
	 "\t       ((a >> 16u) & 255u) * ((b >> 16u) & 255u) + (a >> 24u) * (b >> 24u);\n}\n"},
};

/* Of lanes by vpdpbusd, which adds to each the products of four bytes without a sign (u) by four with one (s): its own function is $N_add. What lacks a sign is 128
 * more than what has one. No volatile: see dp4a. */
static const template vnni[] = {
	{PCTL_OP_DOT4_I8, 1, 0, "vnni_i8",
	 "static inline $T $N_add($T sum, $T u, $T s)\n{\n"
	 "\t__asm__(\"vpdpbusd %2, %1, %0\" : \"+v\"(sum) : \"v\"(u), \"v\"(s));\n"
	 "\treturn sum;\n}\n\n"
	 "static inline $T $N($T a, $T b)\n{\n"
	 "\tconst $T high = ($T)(0x80808080u), more = $N_add(($T)(0), high, b);\n\n"
	 "\treturn $N_add(($T)(0) - more, a ^ high, b);\n}\n"},
	{PCTL_OP_DOT4_U8, 0, 3, "vnni_u8",
	 "static inline $T $N($T a, $T b)\n{\n"
	 "\tconst $T less = $C_add(($T)(0), a, ($T)(0x01010101u)) << 7u;\n\n"
	 "\treturn $C_add(less, a, b ^ ($T)(0x80808080u));\n}\n"},
};

#define N_TEMPLATES (sizeof(templates) / sizeof(templates[0]))
#define N_WIDTHS 6u			   /* 1 to 4, and lanes: 8 and 16 */
#define SLOTS_PER_TEMPLATE (2u * N_WIDTHS) /* of 32 and 64 bits */

static uint32_t width_number(uint32_t width)
{
	return width <= 4 ? width - 1 : width == 8 ? 4 : 5;
}

static const template *find(uint16_t op, int is_signed)
{
	const template *other = NULL;

	for (size_t i = 0; i < N_TEMPLATES; i++) {
		if (templates[i].op != op)
			continue;
		if (templates[i].is_signed == is_signed)
			return &templates[i];
		other = &templates[i];
	}
	/* One form for both, except that abs and sign of an unsigned value need none. */
	return other && other->is_signed && op != PCTL_OP_DOT4_I8 ? NULL : other;
}

/* How this device writes it. */
static const template *written(const emitter *e, const template *t)
{
	for (size_t i = 0; e->lanes && (e->flags & EMIT_VNNI) && i < sizeof(vnni) / sizeof(vnni[0]);
	     i++)
		if (vnni[i].op == t->op)
			return &vnni[i];
	for (size_t i = 0; e->lanes && i < sizeof(lanes) / sizeof(lanes[0]); i++)
		if (lanes[i].op == t->op && lanes[i].is_signed == t->is_signed)
			return &lanes[i];
	if (e->flags & EMIT_DP4A)
		for (size_t i = 0; i < sizeof(dp4a) / sizeof(dp4a[0]); i++)
			if (dp4a[i].op == t->op)
				return &dp4a[i];
	return t;
}

static const char *sign_bit(uint32_t bits)
{
	return bits == 64 ? "0x8000000000000000ul" : "0x80000000u";
}

/* The masks of the bit reversal. */
static const char *swap_mask(char which, uint32_t bits)
{
	switch (which) {
	case '5':
		return bits == 64 ? "0x5555555555555555ul" : "0x55555555u";
	case '3':
		return bits == 64 ? "0x3333333333333333ul" : "0x33333333u";
	case '0':
		return bits == 64 ? "0x0f0f0f0f0f0f0f0ful" : "0x0f0f0f0fu";
	case '8':
		return bits == 64 ? "0x00ff00ff00ff00fful" : "0x00ff00ffu";
	default:
		return bits == 64 ? "0x0000ffff0000fffful" : "0x0000ffffu";
	}
}

static void type_name(char *buf, size_t n, const char *scalar, uint32_t width)
{
	if (width > 1)
		snprintf(buf, n, "%s%u", scalar, width);
	else
		snprintf(buf, n, "%s", scalar);
}

static void expand(emitter *e, const template *t, uint8_t scalar, uint32_t width, const char *name)
{
	const uint32_t bits = pctl_scalar_bits(scalar) == 64 ? 64 : 32;
	char unsigned_name[16], signed_name[16], amount_name[16], needed[40];

	type_name(unsigned_name, sizeof(unsigned_name), bits == 64 ? "ulong" : "uint", width);
	type_name(signed_name, sizeof(signed_name), bits == 64 ? "long" : "int", width);
	type_name(amount_name, sizeof(amount_name), "uint", width);
	needed[0] = '\0';
	if (t->needs == 3)
		emit_helper(e, PCTL_OP_DOT4_I8, PCTL_SCALAR_I32, width, needed);
	else if (t->needs)
		emit_helper(e, t->needs == 1 ? PCTL_OP_CLZ : PCTL_OP_CTZ, scalar, width, needed);
	for (const char *s = t->text; *s; s++) {
		if (*s != '$') {
			text_addn(&e->helpers, s, 1);
			continue;
		}
		switch (*++s) {
		case 'N':
			text_add(&e->helpers, name);
			break;
		case 'T':
			text_add(&e->helpers, unsigned_name);
			break;
		case 'S':
			text_add(&e->helpers, signed_name);
			break;
		case 'U':
			text_add(&e->helpers, amount_name);
			break;
		case 'B':
			text_printf(&e->helpers, "%u", bits);
			break;
		case 'H':
			text_add(&e->helpers, sign_bit(bits));
			break;
		case 'C':
		case 'Z':
			text_add(&e->helpers, needed);
			break;
		default:
			text_add(&e->helpers, swap_mask(*s, bits));
			break;
		}
	}
	text_add(&e->helpers, "\n");
}

uint32_t emit_helper_slots(void)
{
	return (uint32_t)N_TEMPLATES * SLOTS_PER_TEMPLATE;
}

const char *emit_helper(emitter *e, uint16_t op, uint8_t scalar, uint32_t width, char *buf)
{
	const int is_64 = pctl_scalar_bits(scalar) == 64;
	const template *t = find(op, pctl_scalar_is_signed(scalar));
	size_t slot;

	if (!t)
		return NULL;
	snprintf(buf, 40, "p_%s%s", written(e, t)->tag, is_64 ? "64" : "");
	if (width > 1)
		snprintf(buf + strlen(buf), 12, "_%u", width);
	slot = (size_t)(t - templates) * SLOTS_PER_TEMPLATE + (is_64 ? N_WIDTHS : 0) +
	       width_number(width);
	if (!e->helper_have[slot]) {
		e->helper_have[slot] = 1;
		expand(e, written(e, t), scalar, width, buf);
	}
	return buf;
}

void emit_extend(emitter *e, uint32_t width)
{
	char words[16], wide[16], signed_words[16];

	if (e->extend_have & (1u << width))
		return;
	e->extend_have |= 1u << width;
	type_name(words, sizeof(words), "uint", width);
	type_name(wide, sizeof(wide), "ulong", width);
	type_name(signed_words, sizeof(signed_words), "int", width);
	text_printf(
		&e->helpers,
		"static inline %s p_extend%u(%s x)\n{\n\t%s s = as_%s(as_%s(x) >> (%s)(31));\n\n"
		"\treturn convert_%s(x) | (convert_%s(s) << (%s)(32));\n}\n\n",
		wide, width, words, words, words, signed_words, signed_words, wide, wide, wide);
}
