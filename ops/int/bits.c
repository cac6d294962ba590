/* int.and or xor not shl shr: bits. A shift takes its amount modulo the width. */
#include "int.h"

static int_wide eval_and(int_wide a, int_wide b, const int_form *form)
{
	(void)form;
	return a & b;
}

static int_wide eval_or(int_wide a, int_wide b, const int_form *form)
{
	(void)form;
	return a | b;
}

static int_wide eval_xor(int_wide a, int_wide b, const int_form *form)
{
	(void)form;
	return a ^ b;
}

static int_wide eval_not(int_wide x, int_wide unused, const int_form *form)
{
	(void)unused;
	(void)form;
	return ~x;
}

/* Doubling and halving, a step a bit of distance. */
static int_wide eval_shl(int_wide a, int_wide b, const int_form *form)
{
	for (uint32_t k = (uint32_t)(b % form->bits); k > 0; k--)
		a += a;
	return a;
}

static int_wide eval_shr(int_wide a, int_wide b, const int_form *form)
{
	const int_wide top = form->is_signed ? a & ~(~(int_wide)0 >> 1) : 0;

	/* The two's complement of a negative amount has the same low bits. */
	for (uint32_t k = (uint32_t)(b & (form->bits - 1)); k > 0; k--)
		a = a / 2 | top;
	return a;
}

#define SHL_WIDE                                                                \
	INT_WIDE2("shl", "\tlet words = (b.x >> 5u) & 3u;\n"                    \
			 "\tlet bits = b.x & 31u;\n"                            \
			 "\tvar y = vec4<u32>(0u);\n"                           \
			 "\tfor (var i = 0u; i < 4u; i++) {\n"                  \
			 "\t\tif (i >= words) {\n"                              \
			 "\t\t\ty[i] = a[i - words] << bits;\n"                 \
			 "\t\t\tif ((bits > 0u) & (i > words)) {\n"             \
			 "\t\t\t\ty[i] |= a[i - words - 1u] >> (32u - bits);\n" \
			 "\t\t\t}\n"                                            \
			 "\t\t}\n"                                              \
			 "\t}\n"                                                \
			 "\treturn y;\n")
#define SHR_WIDE                                                                \
	INT_WIDE2("shr", "\tlet words = (b.x >> 5u) & 3u;\n"                    \
			 "\tlet bits = b.x & 31u;\n"                            \
			 "\tvar y = vec4<u32>(0u);\n"                           \
			 "\tfor (var i = 0u; i < 4u; i++) {\n"                  \
			 "\t\tif (i + words < 4u) {\n"                          \
			 "\t\t\ty[i] = a[i + words] >> bits;\n"                 \
			 "\t\t\tif ((bits > 0u) & (i + words < 3u)) {\n"        \
			 "\t\t\t\ty[i] |= a[i + words + 1u] << (32u - bits);\n" \
			 "\t\t\t}\n"                                            \
			 "\t\t}\n"                                              \
			 "\t}\n"                                                \
			 "\treturn y;\n")

#define SHIFT_TEXTS(name, operator, wide)                                        \
	{                                                                        \
		INT_FN2(name, "u32", "u32", INT_RET("a " operator" (b & 31u)")), \
			INT_FN2(name "_i32", "i32", "i32",                       \
				INT_RET("a " operator" (u32(b) & 31u)")),        \
			INT_FN2(name "_u64", "u64", "u64",                       \
				INT_RET("a " operator" (u32(b) & 63u)")),        \
			INT_FN2(name "_i64", "i64", "i64",                       \
				INT_RET("a " operator" (u32(b) & 63u)")),        \
			wide                                                     \
	}

static const int_row and_row = {INT_SAME2("and", "a & b", INT_WIDE2("and", INT_RET("a & b"))),
				eval_and, 0, 0};
static const int_row or_row = {INT_SAME2("or", "a | b", INT_WIDE2("or", INT_RET("a | b"))), eval_or,
			       0, 0};
static const int_row xor_row = {INT_SAME2("xor", "a ^ b", INT_WIDE2("xor", INT_RET("a ^ b"))),
				eval_xor, 0, 0};
static const int_row not_row = {INT_SAME1("not", "~x", INT_WIDE1("not", INT_RET("~x"))), eval_not,
				0, 0};
static const int_row shl_row = {SHIFT_TEXTS("shl", "<<", SHL_WIDE), eval_shl, 0, 0};
static const int_row shr_row = {SHIFT_TEXTS("shr", ">>", SHR_WIDE), eval_shr, 0, 0};

static const pctl_law and_laws[] = {
	INT_LAW(PCTL_LAW_COMMUTATIVE, 0, 0),	 INT_LAW(PCTL_LAW_ASSOCIATIVE, 0, 0),
	INT_LAW(PCTL_LAW_IDEMPOTENT, 0, 0),	 INT_LAW(PCTL_LAW_ABSORBING, 0, 0),
	INT_LAW(PCTL_LAW_IDENTITY, INT_ONES, 0), INT_LAW_OVER(PCTL_LAW_DISTRIBUTIVE_OVER, "int.or"),
	INT_LAW_SAID("and(a, not(a)) = 0"),	 INT_LAW_SAID("and(a, or(a, b)) = a"),
};
static const pctl_law or_laws[] = {
	INT_LAW(PCTL_LAW_COMMUTATIVE, 0, 0), INT_LAW(PCTL_LAW_ASSOCIATIVE, 0, 0),
	INT_LAW(PCTL_LAW_IDEMPOTENT, 0, 0),  INT_LAW(PCTL_LAW_ABSORBING, INT_ONES, 0),
	INT_LAW(PCTL_LAW_IDENTITY, 0, 0),    INT_LAW_OVER(PCTL_LAW_DISTRIBUTIVE_OVER, "int.and"),
	INT_LAW_SAID("or(a, not(a)) = -1"),  INT_LAW_SAID("or(a, and(a, b)) = a"),
};
static const pctl_law xor_laws[] = {
	INT_LAW(PCTL_LAW_COMMUTATIVE, 0, 0),   INT_LAW(PCTL_LAW_ASSOCIATIVE, 0, 0),
	INT_LAW(PCTL_LAW_IDENTITY, 0, 0),      INT_LAW(PCTL_LAW_SELF_INVERSE, 0, 0),
	INT_LAW_SAID("xor(xor(a, b), b) = a"), INT_LAW_SAID("xor(a, b) = sub(or(a, b), and(a, b))"),
};
static const pctl_law not_laws[] = {
	INT_LAW(PCTL_LAW_INVOLUTION, 0, 0),
	{.law = PCTL_LAW_DE_MORGAN, .other = "int.and", .dual = "int.or"},
	{.law = PCTL_LAW_DE_MORGAN, .other = "int.or", .dual = "int.and"},
	INT_LAW_SAID("not(x) = xor(x, -1)"),
	INT_LAW_SAID("add(x, not(x)) = -1"),
};
static const pctl_law shl_laws[] = {
	INT_LAW_SAID("shl(a, 0) = a"),
	INT_LAW_SAID("shl(a, 1) = add(a, a)"),
	INT_LAW_SAID("shl(a, b) = shl(a, add(b, width))"),
	INT_LAW_SAID("shl(a, b) = mul(a, shl(1, b))"),
	INT_LAW_SAID("shl(xor(a, b), c) = xor(shl(a, c), shl(b, c))"),
};
static const pctl_law shr_laws[] = {
	INT_LAW_SAID("shr(a, 0) = a"),
	INT_LAW_SAID("shr(a, b) = shr(a, add(b, width))"),
	INT_LAW_SAID("shr(xor(a, b), c) = xor(shr(a, c), shr(b, c))"),
	INT_LAW_SAID("shr(shl(shr(a, b), b), b) = shr(a, b)"),
	INT_LAW_SAID("u32, u64, u128 | shr(a, 1) = div(a, 2)"),
	INT_LAW_SAID("u32, u64, u128 | shr(a, b) <= a"),
	INT_LAW_SAID("i32, i64 | a < 0: shr(a, b) < 0"),
	INT_LAW_SAID("i32, i64 | shr(not(a), b) = not(shr(a, b))"),
};

static const pctl_example and_classes[] = {
	{"disjoint", {0x0f0f0f0f, 0xf0f0f0f0}},
	{"equal", {0xdeadbeef, 0xdeadbeef}},
	{"mixed", {0x12345678, 0xff00ff00}},
};
static const pctl_example not_classes[] = {{"mixed", {0x12345678}}, {"zero", {0}}};
static const pctl_example shl_classes[] = {
	{"by zero", {0x80000001, 0}},
	{"inside the width", {0x80000001, 4}},
	{"by the width", {0x80000001, 32}},
	{"over the width", {0x80000001, 37}},
};
static const pctl_example and_bounds[] = {
	{"zero and ones", {0, 0xffffffff}},
	{"ones twice", {0xffffffff, 0xffffffff}},
	{"zero twice", {0, 0}},
};
static const pctl_example not_bounds[] = {{"ones", {0xffffffff}}, {"high bit", {0x80000000}}};
static const pctl_example shl_bounds[] = {
	{"by 31", {0xffffffff, 31}},
	{"by 63", {0xffffffff, 63}},
	{"by 127", {0xffffffff, 127}},
	{"by the largest amount", {1, 0xffffffff}},
};

#define or_classes and_classes
#define xor_classes and_classes
#define shr_classes shl_classes
#define or_bounds and_bounds
#define xor_bounds and_bounds
#define shr_bounds shl_bounds

static const kit_op ops[] = {
	INT_OP("and", "bits set in both", "y = a & b", int_binary_in, int_out, and_row, and),
	INT_OP("or", "bits set in either", "y = a | b", int_binary_in, int_out, or_row, or),
	INT_OP("xor", "bits set in one", "y = a ^ b", int_binary_in, int_out, xor_row, xor),
	INT_OP("not", "all bits turned", "y = ~x", int_unary_in, int_out, not_row, not ),
	INT_OP("shl", "shift to the left, amount modulo the width",
	       "y = a << (b mod width); b is taken modulo 2^width as unsigned first", int_binary_in,
	       int_out, shl_row, shl),
	INT_OP("shr", "shift to the right, amount modulo the width",
	       "y = a >> (b mod width), zeros coming in for unsigned types, copies of the sign bit "
	       "for i32",
	       int_binary_in, int_out, shr_row, shr),
};

const kit_family int_bits_family = {ops, NULL, KIT_COUNT(ops), 0};
