/* int.land lor lnot: truth of whole words; zero is false, everything else true, the result 1 or 0
 * of u32. */
#include "int.h"

static int_wide eval_land(int_wide a, int_wide b, const int_form *form)
{
	(void)form;
	return a && b;
}

static int_wide eval_lor(int_wide a, int_wide b, const int_form *form)
{
	(void)form;
	return a || b;
}

static int_wide eval_lnot(int_wide x, int_wide unused, const int_form *form)
{
	(void)unused;
	(void)form;
	return !x;
}

#define TRUE_IF(condition) INT_RET("select(0u, 1u, " condition ")")
#define NARROW(name, T, zero, condition) INT_FN2(name, T, "u32", TRUE_IF(condition(zero)))
#define BOTH(zero) "(a != " zero ") & (b != " zero ")"
#define EITHER(zero) "(a != " zero ") | (b != " zero ")"
#define ZERO_WIDE "vec4<u32>(0u)"

#define TEXTS(name, condition, wide)                                                               \
	{                                                                                          \
		NARROW(name, "u32", "0u", condition), NARROW(name "_i32", "i32", "0i", condition), \
			NARROW(name "_u64", "u64", "0lu", condition),                              \
			NARROW(name "_i64", "i64", "0li", condition),                              \
			INT_WIDE_TRUTH2(name, TRUE_IF(wide))                                       \
	}

static const int_row land_row = {
	TEXTS("land", BOTH, "any(a != " ZERO_WIDE ") & any(b != " ZERO_WIDE ")"), eval_land, 1, 0};
static const int_row lor_row = {
	TEXTS("lor", EITHER, "any(a != " ZERO_WIDE ") | any(b != " ZERO_WIDE ")"), eval_lor, 1, 0};
static const int_row lnot_row = {{INT_FN1("lnot", "u32", "u32", TRUE_IF("x == 0u")),
				  INT_FN1("lnot_i32", "i32", "u32", TRUE_IF("x == 0i")),
				  INT_FN1("lnot_u64", "u64", "u32", TRUE_IF("x == 0lu")),
				  INT_FN1("lnot_i64", "i64", "u32", TRUE_IF("x == 0li")),
				  INT_WIDE_TRUTH1("lnot", TRUE_IF("all(x == " ZERO_WIDE ")"))},
				 eval_lnot,
				 1,
				 0};

static const pctl_law land_laws[] = {
	INT_LAW(PCTL_LAW_COMMUTATIVE, 0, 0),
	INT_LAW(PCTL_LAW_ABSORBING, 0, 0),
	INT_LAW(PCTL_LAW_ASSOCIATIVE, 0, 0),
	INT_LAW_OVER(PCTL_LAW_DISTRIBUTIVE_OVER, "int.lor"),
	INT_LAW_SAID("land(a, b) = mul(ne(a, 0), ne(b, 0))"),
};
static const pctl_law lor_laws[] = {
	INT_LAW(PCTL_LAW_COMMUTATIVE, 0, 0),
	INT_LAW(PCTL_LAW_ASSOCIATIVE, 0, 0),
	INT_LAW_OVER(PCTL_LAW_DISTRIBUTIVE_OVER, "int.land"),
	INT_LAW_SAID("lor(a, b) = ne(or(a, b), 0)"),
	INT_LAW_SAID("a != 0: lor(a, b) = 1"),
};
static const pctl_law lnot_laws[] = {
	INT_LAW(PCTL_LAW_BOUNDED, 0, 1),
	{.law = PCTL_LAW_DE_MORGAN, .other = "int.land", .dual = "int.lor"},
	{.law = PCTL_LAW_DE_MORGAN, .other = "int.lor", .dual = "int.land"},
	INT_LAW_SAID("lnot(x) = eq(x, 0)"),
	INT_LAW_SAID("lnot(lnot(lnot(x))) = lnot(x)"),
};

static const pctl_example land_classes[] = {
	{"both true", {5, 6}},
	{"only the first", {5, 0}},
	{"only the second", {0, 6}},
	{"both false", {0, 0}},
	{"true without a common bit", {1, 2}},
};
static const pctl_example lnot_classes[] = {{"true", {5}}, {"false", {0}}};
static const pctl_example land_bounds[] = {
	{"high bit and low bit", {0x80000000, 1}},
	{"largest and zero", {0xffffffff, 0}},
};
static const pctl_example lnot_bounds[] = {
	{"largest", {0xffffffff}}, {"high bit", {0x80000000}}, {"one", {1}}};

#define lor_classes land_classes
#define lor_bounds land_bounds

static const kit_op ops[] = {
	INT_OP("land", "1 when both are not zero", "y = 1 when a != 0 and b != 0, else 0",
	       int_binary_in, int_truth_out, land_row, land),
	INT_OP("lor", "1 when one of them is not zero", "y = 1 when a != 0 or b != 0, else 0",
	       int_binary_in, int_truth_out, lor_row, lor),
	INT_OP("lnot", "1 when zero", "y = 1 when x = 0, else 0", int_unary_in, int_truth_out,
	       lnot_row, lnot),
};

const kit_family int_logic_family = {ops, NULL, KIT_COUNT(ops), 0};
