/* int.add sub mul div mod neg: arithmetic modulo 2^width; a quotient or remainder by zero is 0. */
#include "int.h"

static int_wide eval_add(int_wide a, int_wide b, const int_form *form)
{
	(void)form;
	return a + b;
}

static int_wide eval_sub(int_wide a, int_wide b, const int_form *form)
{
	(void)form;
	return a - b;
}

static int_wide eval_mul(int_wide a, int_wide b, const int_form *form)
{
	(void)form;
	return a * b;
}

/* Signed operands have 64 bits at most and are far from the limits of the wide type, so MIN / -1 needs no care here.
 */
static int_wide eval_div(int_wide a, int_wide b, const int_form *form)
{
	if (b == 0)
		return 0;
	return form->is_signed ? (int_wide)((int_wide_signed)a / (int_wide_signed)b) : a / b;
}

static int_wide eval_mod(int_wide a, int_wide b, const int_form *form)
{
	if (b == 0)
		return 0;
	return form->is_signed ? (int_wide)((int_wide_signed)a % (int_wide_signed)b) : a % b;
}

static int_wide eval_neg(int_wide x, int_wide unused, const int_form *form)
{
	(void)unused;
	(void)form;
	return 0 - x;
}

#define ADD_WIDE                                                                                 \
	INT_WIDE2("add", "\tlet s0 = a.x + b.x;\n"                                               \
			 "\tlet c0 = " INT_CARRY(                                                \
				 "a.x", "b.x",                                                   \
				 "s0") ";\n"                                                     \
				       "\tlet s1 = a.y + b.y + c0;\n"                            \
				       "\tlet c1 = " INT_CARRY(                                  \
					       "a.y", "b.y",                                     \
					       "s1") ";\n"                                       \
						     "\tlet s2 = a.z + b.z + c1;\n"              \
						     "\tlet c2 = " INT_CARRY(                    \
							     "a.z", "b.z",                       \
							     "s2") ";\n"                         \
								   "\treturn vec4<u32>(s0, s1, " \
								   "s2, a.w + b.w + c2);\n")

/* 32 by 32 bits to 64 from halves of 16, then the schoolbook's triangle of partial products. */
#define MUL_WIDE                                                                             \
	"fn int_mul_u128_pair(a: u32, b: u32) -> vec2<u32> {\n"                              \
	"\tlet low = (a & 0xffffu) * (b & 0xffffu);\n"                                       \
	"\tlet left = (a >> 16u) * (b & 0xffffu) + (low >> 16u);\n"                          \
	"\tlet right = (a & 0xffffu) * (b >> 16u) + (left & 0xffffu);\n"                     \
	"\tlet high = (a >> 16u) * (b >> 16u) + (left >> 16u) + (right >> 16u);\n"           \
	"\treturn vec2<u32>((right << 16u) | (low & 0xffffu), high);\n"                      \
	"}\n" INT_WIDE2(                                                                     \
		"mul",                                                                       \
		"\tvar y = vec4<u32>(0u);\n"                                                 \
		"\tfor (var i = 0u; i < 4u; i++) {\n"                                        \
		"\t\tvar carry = 0u;\n"                                                      \
		"\t\tfor (var j = 0u; j < 4u; j++) {\n"                                      \
		"\t\t\tif (i + j < 4u) {\n"                                                  \
		"\t\t\t\tlet p = int_mul_u128_pair(a[i], b[j]);\n"                           \
		"\t\t\t\tlet s = p.x + carry;\n"                                             \
		"\t\t\t\tlet t = y[i + j] + s;\n"                                            \
		"\t\t\t\tcarry = p.y + select(0u, 1u, s < carry) + select(0u, 1u, t < s);\n" \
		"\t\t\t\ty[i + j] = t;\n"                                                    \
		"\t\t\t}\n"                                                                  \
		"\t\t}\n"                                                                    \
		"\t}\n"                                                                      \
		"\treturn y;\n")

/* Restoring division, a bit a turn; `over` is the bit that a doubled remainder may lose at the top.
 */
#define DIVIDE_WIDE(name, answer)                                                                  \
	INT_WIDE2(name, "\tvar q = vec4<u32>(0u);\n"                                               \
			"\tvar r = vec4<u32>(0u);\n"                                               \
			"\tfor (var i = 0u; i < 128u; i++) {\n"                                    \
			"\t\tlet k = 127u - i;\n"                                                  \
			"\t\tlet bit = (a[k >> 5u] >> (k & 31u)) & 1u;\n"                          \
			"\t\tlet over = r.w >> 31u;\n"                                             \
			"\t\tlet t = (r << vec4<u32>(1u)) | vec4<u32>(bit, r.x >> 31u, r.y >> "    \
			"31u, r.z >> 31u);\n" INT_SUB_LINES(                                       \
				"t", "b") "\t\tlet fits = (over == 1u) | (under == 0u);\n"         \
					  "\t\tr = select(t, vec4<u32>(d0, d1, d2, d3), fits);\n"  \
					  "\t\tq[k >> 5u] |= select(0u, 1u, fits) << (k & 31u);\n" \
					  "\t}\n"                                                  \
					  "\treturn select(" answer                                \
					  ", vec4<u32>(0u), all(b == vec4<u32>(0u)));\n")

static const int_row add_row = {INT_SAME2("add", "a + b", ADD_WIDE), eval_add, 0, 0};
static const int_row sub_row = {
	INT_SAME2(
		"sub", "a - b",
		INT_WIDE2("sub", INT_SUB_LINES("a", "b") "\treturn vec4<u32>(d0, d1, d2, d3);\n")),
	eval_sub, 0, 0};
static const int_row mul_row = {INT_SAME2("mul", "a * b", MUL_WIDE), eval_mul, 0, 0};
/* WGSL's own x / 0 is x, the op's is 0. */
#define DIV_TEXT(suffix, T, zero) \
	INT_FN2("div" suffix, T, T, INT_RET("select(a / b, " zero ", b == " zero ")"))
#define MOD_TEXT(suffix, T, zero) \
	INT_FN2("mod" suffix, T, T, INT_RET("select(a % b, " zero ", b == " zero ")"))
static const int_row div_row = {{DIV_TEXT("", "u32", "0u"), DIV_TEXT("_i32", "i32", "0i"),
				 DIV_TEXT("_u64", "u64", "0lu"), DIV_TEXT("_i64", "i64", "0li"),
				 DIVIDE_WIDE("div", "q")},
				eval_div,
				0,
				0};
static const int_row mod_row = {{MOD_TEXT("", "u32", "0u"), MOD_TEXT("_i32", "i32", "0i"),
				 MOD_TEXT("_u64", "u64", "0lu"), MOD_TEXT("_i64", "i64", "0li"),
				 DIVIDE_WIDE("mod", "r")},
				eval_mod,
				0,
				0};
static const int_row neg_row = {
	{INT_FN1("neg", "u32", "u32", INT_RET("~x + 1u")),
	 INT_FN1("neg_i32", "i32", "i32", INT_RET("-x")),
	 INT_FN1("neg_u64", "u64", "u64", INT_RET("~x + 1lu")),
	 INT_FN1("neg_i64", "i64", "i64", INT_RET("-x")),
	 INT_WIDE1("neg", "\tlet zero = vec4<u32>(0u);\n" INT_SUB_LINES(
				  "zero", "x") "\treturn vec4<u32>(d0, d1, d2, d3);\n")},
	eval_neg,
	0,
	0};

static const pctl_law add_laws[] = {
	INT_LAW(PCTL_LAW_COMMUTATIVE, 0, 0),   INT_LAW(PCTL_LAW_ASSOCIATIVE, 0, 0),
	INT_LAW(PCTL_LAW_IDENTITY, 0, 0),      INT_LAW_SAID("add(a, neg(a)) = 0"),
	INT_LAW_SAID("sub(add(a, b), b) = a"),
};
static const pctl_law sub_laws[] = {
	INT_LAW(PCTL_LAW_SELF_INVERSE, 0, 0),
	INT_LAW_SAID("sub(a, 0) = a"),
	INT_LAW_SAID("sub(a, b) = neg(sub(b, a))"),
	INT_LAW_SAID("sub(a, b) = add(a, neg(b))"),
};
static const pctl_law mul_laws[] = {
	INT_LAW(PCTL_LAW_COMMUTATIVE, 0, 0),
	INT_LAW(PCTL_LAW_ASSOCIATIVE, 0, 0),
	INT_LAW(PCTL_LAW_IDENTITY, 1, 0),
	INT_LAW(PCTL_LAW_ABSORBING, 0, 0),
	INT_LAW_OVER(PCTL_LAW_DISTRIBUTIVE_OVER, "int.add"),
	INT_LAW_SAID("mul(a, -1) = neg(a)"),
};
static const pctl_law div_laws[] = {
	INT_LAW_SAID("div(a, 1) = a"),
	INT_LAW_SAID("div(a, 0) = 0"),
	INT_LAW_SAID("a != 0: div(a, a) = 1"),
	INT_LAW_SAID("b != 0: add(mul(div(a, b), b), mod(a, b)) = a"),
	INT_LAW_SAID("u32, u64, u128 | a < b: div(a, b) = 0"),
	INT_LAW_SAID("i32 | a != 0x80000000: div(neg(a), b) = neg(div(a, b))"),
	INT_LAW_SAID("i64 | a != 0x8000000000000000: div(neg(a), b) = neg(div(a, b))"),
};
static const pctl_law mod_laws[] = {
	INT_LAW_SAID("mod(a, 1) = 0"),
	INT_LAW_SAID("mod(a, 0) = 0"),
	INT_LAW_SAID("mod(mod(a, b), b) = mod(a, b)"),
	INT_LAW_SAID("b != 0: mod(a, b) = sub(a, mul(b, div(a, b)))"),
	INT_LAW_SAID("u32, u64, u128 | b != 0: mod(a, b) < b"),
	INT_LAW_SAID("i32, i64 | b > 0: mod(a, b) < b"),
	INT_LAW_SAID("i32, i64 | a >= 0: mod(a, b) >= 0"),
	INT_LAW_SAID("i32, i64 | a <= 0: mod(a, b) <= 0"),
};
static const pctl_law neg_laws[] = {
	INT_LAW(PCTL_LAW_INVOLUTION, 0, 0),
	{.law = PCTL_LAW_DE_MORGAN, .other = "int.add", .dual = "int.add"},
	INT_LAW_SAID("neg(x) = add(not(x), 1)"),
	INT_LAW_SAID("add(x, neg(x)) = 0"),
};

static const pctl_example add_classes[] = {
	{"both zero", {0, 0}},
	{"no carry", {1, 2}},
	{"carry", {0xffffffff, 2}},
	{"sign changes", {0x7fffffff, 1}},
};
static const pctl_example sub_classes[] = {
	{"equal", {5, 5}},
	{"no borrow", {7, 2}},
	{"borrow", {2, 7}},
};
static const pctl_example mul_classes[] = {
	{"by zero", {9, 0}},
	{"by one", {9, 1}},
	{"fits", {6, 7}},
	{"wraps", {0x10001, 0x10001}},
};
static const pctl_example div_classes[] = {
	{"by zero", {9, 0}},	       {"exact", {42, 6}},	{"truncated", {43, 6}},
	{"below the divisor", {5, 6}}, {"by itself", {77, 77}}, {"high bit set", {0x80000000, 3}},
};
static const pctl_example neg_classes[] = {
	{"zero", {0}},
	{"one", {1}},
	{"high bit set", {0x80000001}},
};
static const pctl_example add_bounds[] = {
	{"largest and one", {0xffffffff, 1}},
	{"half and half", {0x80000000, 0x80000000}},
	{"largest twice", {0xffffffff, 0xffffffff}},
};
static const pctl_example sub_bounds[] = {
	{"zero and one", {0, 1}},
	{"zero and largest", {0, 0xffffffff}},
	{"smallest signed and one", {0x80000000, 1}},
};
static const pctl_example mul_bounds[] = {
	{"largest twice", {0xffffffff, 0xffffffff}},
	{"half and two", {0x80000000, 2}},
	{"16 by 16 bits", {0xffff, 0xffff}},
};
static const pctl_example div_bounds[] = {
	{"zero by zero", {0, 0}},
	{"largest by zero", {0xffffffff, 0}},
	{"smallest signed by minus one", {0x80000000, 0xffffffff}},
	{"largest by one", {0xffffffff, 1}},
};
static const pctl_example neg_bounds[] = {{"smallest signed", {0x80000000}},
					  {"largest", {0xffffffff}}};

#define mod_classes div_classes
#define mod_bounds div_bounds

static const kit_op ops[] = {
	INT_OP("add", "a + b, wrapping", "y = (a + b) mod 2^width", int_binary_in, int_out, add_row,
	       add),
	INT_OP("sub", "a - b, wrapping", "y = (a - b) mod 2^width", int_binary_in, int_out, sub_row,
	       sub),
	INT_OP("mul", "a * b, wrapping", "y = (a * b) mod 2^width", int_binary_in, int_out, mul_row,
	       mul),
	INT_OP("div", "a / b, truncating, 0 when b is 0",
	       "y = the quotient rounded towards zero; b = 0 gives 0 (WGSL's own / gives a);\n"
	       "signed: the smallest value by -1 gives the smallest value",
	       int_binary_in, int_out, div_row, div),
	INT_OP("mod", "a % b, truncating, 0 when b is 0",
	       "y = a - b * int.div(a, b), with the sign of a; b = 0 gives 0;\n"
	       "signed: the smallest value by -1 gives 0",
	       int_binary_in, int_out, mod_row, mod),
	INT_OP("neg", "two's complement", "y = (2^width - x) mod 2^width", int_unary_in, int_out,
	       neg_row, neg),
};

const kit_family int_arith_family = {ops, NULL, KIT_COUNT(ops), 0};
