/* int.eq ne lt gt le ge: comparisons, 1 or 0 of u32 whatever the operands are. */
#include "int.h"

/* -1, 0 or 1 as a is below, equal to or above b. */
static int order(int_wide a, int_wide b, const int_form *form)
{
	if (a == b)
		return 0;
	if (form->is_signed)
		return (int_wide_signed)a < (int_wide_signed)b ? -1 : 1;
	return a < b ? -1 : 1;
}

static int_wide eval_eq(int_wide a, int_wide b, const int_form *form)
{
	return order(a, b, form) == 0;
}

static int_wide eval_ne(int_wide a, int_wide b, const int_form *form)
{
	return order(a, b, form) != 0;
}

static int_wide eval_lt(int_wide a, int_wide b, const int_form *form)
{
	return order(a, b, form) < 0;
}

static int_wide eval_gt(int_wide a, int_wide b, const int_form *form)
{
	return order(a, b, form) > 0;
}

static int_wide eval_le(int_wide a, int_wide b, const int_form *form)
{
	return order(a, b, form) <= 0;
}

static int_wide eval_ge(int_wide a, int_wide b, const int_form *form)
{
	return order(a, b, form) >= 0;
}

/* a - b borrows exactly when a is below b. */
#define BELOW_WIDE(name, a, b, answer) INT_WIDE_TRUTH2(name, INT_SUB_LINES(a, b) INT_RET(answer))
#define TEXTS(name, operator, wide) INT_TRUTH2(name, "select(0u, 1u, a " operator" b)", wide)

static const int_row eq_row = {
	TEXTS("eq", "==", INT_WIDE_TRUTH2("eq", INT_RET("select(0u, 1u, all(a == b))"))), eval_eq,
	1, 0};
static const int_row ne_row = {
	TEXTS("ne", "!=", INT_WIDE_TRUTH2("ne", INT_RET("select(0u, 1u, any(a != b))"))), eval_ne,
	1, 0};
static const int_row lt_row = {TEXTS("lt", "<", BELOW_WIDE("lt", "a", "b", "under")), eval_lt, 1,
			       0};
static const int_row gt_row = {TEXTS("gt", ">", BELOW_WIDE("gt", "b", "a", "under")), eval_gt, 1,
			       0};
static const int_row le_row = {TEXTS("le", "<=", BELOW_WIDE("le", "b", "a", "1u - under")), eval_le,
			       1, 0};
static const int_row ge_row = {TEXTS("ge", ">=", BELOW_WIDE("ge", "a", "b", "1u - under")), eval_ge,
			       1, 0};

static const pctl_law eq_laws[] = {
	INT_LAW(PCTL_LAW_COMMUTATIVE, 0, 0),
	INT_LAW(PCTL_LAW_SELF_INVERSE, 1, 0),
	INT_LAW_SAID("a != b: eq(a, b) = 0"),
	INT_LAW_SAID("eq(a, b) = lnot(xor(a, b))"),
};
static const pctl_law ne_laws[] = {
	INT_LAW(PCTL_LAW_COMMUTATIVE, 0, 0),
	INT_LAW(PCTL_LAW_SELF_INVERSE, 0, 0),
	INT_LAW_SAID("a != b: ne(a, b) = 1"),
	{.law = PCTL_LAW_COMPLEMENT, .a = 1, .other = "int.eq"},
};
static const pctl_law lt_laws[] = {
	INT_LAW(PCTL_LAW_SELF_INVERSE, 0, 0),
	INT_LAW_SAID("lt(a, b) = gt(b, a)"),
	{.law = PCTL_LAW_COMPLEMENT, .a = 1, .other = "int.ge"},
	INT_LAW_SAID("a < b: lt(a, b) = 1"),
	INT_LAW_SAID("u32, u64, u128 | lt(a, 0) = 0"),
};
static const pctl_law gt_laws[] = {
	INT_LAW(PCTL_LAW_SELF_INVERSE, 0, 0),
	INT_LAW_SAID("gt(a, b) = lt(b, a)"),
	{.law = PCTL_LAW_COMPLEMENT, .a = 1, .other = "int.le"},
	INT_LAW_SAID("a > b: gt(a, b) = 1"),
	INT_LAW_SAID("u32, u64, u128 | gt(0, b) = 0"),
};
static const pctl_law le_laws[] = {
	INT_LAW(PCTL_LAW_SELF_INVERSE, 1, 0),
	INT_LAW_SAID("le(a, b) = ge(b, a)"),
	{.law = PCTL_LAW_COMPLEMENT, .a = 1, .other = "int.gt"},
	INT_LAW_SAID("a <= b: le(a, b) = 1"),
	INT_LAW_SAID("u32, u64, u128 | le(0, b) = 1"),
};
static const pctl_law ge_laws[] = {
	INT_LAW(PCTL_LAW_SELF_INVERSE, 1, 0),
	INT_LAW_SAID("ge(a, b) = le(b, a)"),
	{.law = PCTL_LAW_COMPLEMENT, .a = 1, .other = "int.lt"},
	INT_LAW_SAID("a >= b: ge(a, b) = 1"),
	INT_LAW_SAID("u32, u64, u128 | ge(a, 0) = 1"),
};

static const pctl_example compare_classes[] = {
	{"equal", {7, 7}},
	{"below", {3, 7}},
	{"above", {7, 3}},
	{"signs differ", {0xffffffff, 1}},
};
static const pctl_example compare_bounds[] = {
	{"zero and largest", {0, 0xffffffff}},
	{"largest twice", {0xffffffff, 0xffffffff}},
	{"signed extremes", {0x7fffffff, 0x80000000}},
	{"neighbours", {0x7fffffff, 0x7ffffffe}},
};

#define eq_classes compare_classes
#define ne_classes compare_classes
#define lt_classes compare_classes
#define gt_classes compare_classes
#define le_classes compare_classes
#define ge_classes compare_classes
#define eq_bounds compare_bounds
#define ne_bounds compare_bounds
#define lt_bounds compare_bounds
#define gt_bounds compare_bounds
#define le_bounds compare_bounds
#define ge_bounds compare_bounds

#define COMPARE_OP(name, doc, sign, id)                                              \
	INT_OP(name, doc, "y = 1 when a " sign " b, else 0; i32 compares as signed", \
	       int_binary_in, int_truth_out, id##_row, id)

static const kit_op ops[] = {
	COMPARE_OP("eq", "1 when equal", "=", eq),
	COMPARE_OP("ne", "1 when not equal", "!=", ne),
	COMPARE_OP("lt", "1 when a is below b", "<", lt),
	COMPARE_OP("gt", "1 when a is above b", ">", gt),
	COMPARE_OP("le", "1 when a is not above b", "<=", le),
	COMPARE_OP("ge", "1 when a is not below b", ">=", ge),
};

const kit_family int_compare_family = {ops, NULL, KIT_COUNT(ops), 0};
