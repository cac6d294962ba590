/* int.popcount clz ctz reverse: bits counted and mirrored; counts come in the operand's type. */
#include "int.h"

static int_wide eval_popcount(int_wide x, int_wide unused, const int_form *form)
{
	int_wide n = 0;

	(void)unused;
	for (uint32_t i = 0; i < form->bits; i++)
		n += x >> i & 1;
	return n;
}

static int_wide eval_clz(int_wide x, int_wide unused, const int_form *form)
{
	uint32_t n = 0;

	(void)unused;
	while (n < form->bits && !(x >> (form->bits - 1 - n) & 1))
		n++;
	return n;
}

static int_wide eval_ctz(int_wide x, int_wide unused, const int_form *form)
{
	uint32_t n = 0;

	(void)unused;
	while (n < form->bits && !(x >> n & 1))
		n++;
	return n;
}

static int_wide eval_reverse(int_wide x, int_wide unused, const int_form *form)
{
	int_wide y = 0;

	(void)unused;
	for (uint32_t i = 0; i < form->bits; i++)
		y = y << 1 | (x >> i & 1);
	return y;
}

static const int_row popcount_row = {
	INT_SAME1("popcount", "countOneBits(x)",
		  INT_WIDE1("popcount",
			    "\tlet n = countOneBits(x);\n"
			    "\treturn vec4<u32>(n.x + n.y + n.z + n.w, 0u, 0u, 0u);\n")),
	eval_popcount, 0, 0};
static const int_row clz_row = {
	INT_SAME1(
		"clz", "countLeadingZeros(x)",
		INT_WIDE1(
			"clz",
			"\tlet n = countLeadingZeros(x);\n"
			"\tlet low = select(n.y + 64u, n.x + 96u, x.y == 0u);\n"
			"\tlet high = select(n.w, n.z + 32u, x.w == 0u);\n"
			"\treturn vec4<u32>(select(high, low, (x.w | x.z) == 0u), 0u, 0u, 0u);\n")),
	eval_clz, 0, 0};
static const int_row ctz_row = {
	INT_SAME1(
		"ctz", "countTrailingZeros(x)",
		INT_WIDE1(
			"ctz",
			"\tlet n = countTrailingZeros(x);\n"
			"\tlet low = select(n.x, n.y + 32u, x.x == 0u);\n"
			"\tlet high = select(n.z + 64u, n.w + 96u, x.z == 0u);\n"
			"\treturn vec4<u32>(select(low, high, (x.x | x.y) == 0u), 0u, 0u, 0u);\n")),
	eval_ctz, 0, 0};
static const int_row reverse_row = {INT_SAME1("reverse", "reverseBits(x)",
					      INT_WIDE1("reverse", INT_RET("reverseBits(x.wzyx)"))),
				    eval_reverse, 0, 0};

static const pctl_law popcount_laws[] = {
	INT_LAW_SAID("popcount(x) <= width"),
	INT_LAW_SAID("add(popcount(x), popcount(not(x))) = width"),
	INT_LAW_SAID("popcount(reverse(x)) = popcount(x)"),
	INT_LAW_SAID(
		"add(popcount(and(a, b)), popcount(or(a, b))) = add(popcount(a), popcount(b))"),
};
static const pctl_law clz_laws[] = {
	INT_LAW_SAID("clz(x) <= width"),
	INT_LAW_SAID("clz(and(x, 0)) = width"),
	INT_LAW_SAID("clz(reverse(x)) = ctz(x)"),
	INT_LAW_SAID("u32, u64, u128 | a <= b: clz(a) >= clz(b)"),
	INT_LAW_SAID("i32, i64 | x < 0: clz(x) = 0"),
};
static const pctl_law ctz_laws[] = {
	INT_LAW_SAID("ctz(x) <= width"),
	INT_LAW_SAID("ctz(and(x, 0)) = width"),
	INT_LAW_SAID("ctz(neg(x)) = ctz(x)"),
	INT_LAW_SAID("x != 0: ctz(x) = popcount(sub(and(x, neg(x)), 1))"),
};
static const pctl_law reverse_laws[] = {
	INT_LAW(PCTL_LAW_INVOLUTION, 0, 0),
	{.law = PCTL_LAW_DE_MORGAN, .other = "int.xor", .dual = "int.xor"},
	INT_LAW_SAID("u32, u64, u128 | reverse(shl(a, b)) = shr(reverse(a), b)"),
};

static const pctl_example count_classes[] = {
	{"none set", {0}},
	{"one set", {0x00010000}},
	{"mixed", {0x12345678}},
	{"all set", {0xffffffff}},
};
static const pctl_example count_bounds[] = {
	{"lowest bit", {1}},
	{"highest bit", {0x80000000}},
	{"all but the highest", {0x7fffffff}},
	{"all but the lowest", {0xfffffffe}},
};

#define popcount_classes count_classes
#define clz_classes count_classes
#define ctz_classes count_classes
#define reverse_classes count_classes
#define popcount_bounds count_bounds
#define clz_bounds count_bounds
#define ctz_bounds count_bounds
#define reverse_bounds count_bounds

static const kit_op ops[] = {
	INT_OP("popcount", "how many bits are set", "y = the number of bits set in x", int_unary_in,
	       int_out, popcount_row, popcount),
	INT_OP("clz", "zero bits above the highest set",
	       "y = the number of zero bits above the highest bit set; x = 0 "
	       "gives the width",
	       int_unary_in, int_out, clz_row, clz),
	INT_OP("ctz", "zero bits below the lowest set",
	       "y = the number of zero bits below the lowest bit set; x = 0 "
	       "gives the width",
	       int_unary_in, int_out, ctz_row, ctz),
	INT_OP("reverse", "the bits in reverse order", "bit k of y is bit width - 1 - k of x",
	       int_unary_in, int_out, reverse_row, reverse),
};

const kit_family int_count_family = {ops, NULL, KIT_COUNT(ops), 0};
