/* What the families of the int library share. An op is one row: WGSL a type, an answer in C, and
 * its rules; op list, functions, references and rules are all read from that row. */
#ifndef PIPECTL_OPS_INT_H
#define PIPECTL_OPS_INT_H

#include "common/kit.h"

extern const kit_family int_arith_family;
extern const kit_family int_bits_family;
extern const kit_family int_compare_family;
extern const kit_family int_logic_family;
extern const kit_family int_count_family;

/* Wide enough for every type: the references compute in it and keep the low bits. */
__extension__ typedef unsigned __int128 int_wide;
__extension__ typedef __int128 int_wide_signed;

/* The type the operands of a reference have. */
typedef struct int_form {
	uint32_t bits;
	uint32_t is_signed;
} int_form;

/*
 * A row's own part. wgsl: texts for u32, i32, u64, i64, u128; NULL where the op has no form. eval:
 * operands extended to int_wide by their signedness (b is 0 for unary ops); the result is cut to
 * the width of the type, or to 32 bits when truth is 1: the result is then 0 or 1 of u32 whatever
 * the operands are.
 */
#define INT_FORMS 5u
typedef struct int_row {
	const char *wgsl[INT_FORMS];
	int_wide (*eval)(int_wide a, int_wide b, const int_form *form);
	uint32_t truth;
	uint32_t reserved;
} int_row;

extern const pctl_port int_unary_in[1];
extern const pctl_port int_binary_in[2];
extern const pctl_port int_out[1];
extern const pctl_port int_truth_out[1];

const char *int_function(const kit_op *op, uint32_t dtype);
pctl_status int_infer(const kit_use *u, pctl_op_result *out);
pctl_status int_reference(const kit_use *u, const pctl_span *in, pctl_span *out);

/* ---- rows -------------------------------------------------------------------------------------
 */

/* Texts of one function for each type. T is what the operands are, R what comes back. */
#define INT_FN1(name, T, R, body) "fn int_" name "(x: " T ") -> " R " {\n" body "}\n"
#define INT_FN2(name, T, R, body) "fn int_" name "(a: " T ", b: " T ") -> " R " {\n" body "}\n"
#define INT_RET(expression) "\treturn " expression ";\n"

/* The same expression for u32, i32, u64 and i64, and one of its own for u128. */
#define INT_SAME1(name, e, e128)                                             \
	{                                                                    \
		INT_FN1(name, "u32", "u32", INT_RET(e)),                     \
			INT_FN1(name "_i32", "i32", "i32", INT_RET(e)),      \
			INT_FN1(name "_u64", "u64", "u64", INT_RET(e)),      \
			INT_FN1(name "_i64", "i64", "i64", INT_RET(e)), e128 \
	}
#define INT_SAME2(name, e, e128)                                             \
	{                                                                    \
		INT_FN2(name, "u32", "u32", INT_RET(e)),                     \
			INT_FN2(name "_i32", "i32", "i32", INT_RET(e)),      \
			INT_FN2(name "_u64", "u64", "u64", INT_RET(e)),      \
			INT_FN2(name "_i64", "i64", "i64", INT_RET(e)), e128 \
	}
#define INT_TRUTH1(name, e, e128)                                            \
	{                                                                    \
		INT_FN1(name, "u32", "u32", INT_RET(e)),                     \
			INT_FN1(name "_i32", "i32", "u32", INT_RET(e)),      \
			INT_FN1(name "_u64", "u64", "u32", INT_RET(e)),      \
			INT_FN1(name "_i64", "i64", "u32", INT_RET(e)), e128 \
	}
#define INT_TRUTH2(name, e, e128)                                            \
	{                                                                    \
		INT_FN2(name, "u32", "u32", INT_RET(e)),                     \
			INT_FN2(name "_i32", "i32", "u32", INT_RET(e)),      \
			INT_FN2(name "_u64", "u64", "u32", INT_RET(e)),      \
			INT_FN2(name "_i64", "i64", "u32", INT_RET(e)), e128 \
	}
#define INT_WIDE1(name, body) INT_FN1(name "_u128", "vec4<u32>", "vec4<u32>", body)
#define INT_WIDE2(name, body) INT_FN2(name "_u128", "vec4<u32>", "vec4<u32>", body)
#define INT_WIDE_TRUTH1(name, body) INT_FN1(name "_u128", "vec4<u32>", "u32", body)
#define INT_WIDE_TRUTH2(name, body) INT_FN2(name "_u128", "vec4<u32>", "u32", body)

/* One op. The rules are the arrays <id>_laws, <id>_classes and <id>_bounds beside it. */
#define INT_OP(op_name, op_doc, op_spec, ports_in, ports_out, row, id)                          \
	KIT_FUNCTION_OP(int, op_name, op_doc, op_spec, PCTL_CLASS_INTEGER, ports_in, ports_out, \
			row, id)

/* All ones in every type: constants of laws are two's complement, cut or extended to the type. */
#define INT_ONES UINT64_MAX
#define INT_LAW(law_kind, value_a, value_b)                       \
	{                                                         \
		.law = (law_kind), .a = (value_a), .b = (value_b) \
	}
#define INT_LAW_OVER(law_kind, op)               \
	{                                        \
		.law = (law_kind), .other = (op) \
	}
#define INT_LAW_SAID(text)                               \
	{                                                \
		.law = PCTL_LAW_CUSTOM, .custom = (text) \
	}

/* Carry out of bit 31 of a + b + c where s is the sum, and borrow of a - b - c where s is the
 * difference. */
#define INT_CARRY(a, b, s) "((" a " & " b ") | ((" a " | " b ") & ~" s ")) >> 31u"
#define INT_BORROW(a, b, s) "((~" a " & " b ") | (~(" a " ^ " b ") & " s ")) >> 31u"

/* Statements that leave a - b in d0..d3 and the last borrow in `under`. */
#define INT_SUB_LINES(a, b)                                                                   \
	"\tlet d0 = " a ".x - " b ".x;\n"                                                     \
	"\tlet u0 = " INT_BORROW(                                                             \
		a ".x", b ".x",                                                               \
		"d0") ";\n"                                                                   \
		      "\tlet d1 = " a ".y - " b ".y - u0;\n"                                  \
		      "\tlet u1 = " INT_BORROW(                                               \
			      a ".y", b ".y",                                                 \
			      "d1") ";\n"                                                     \
				    "\tlet d2 = " a ".z - " b ".z - u1;\n"                    \
				    "\tlet u2 = " INT_BORROW(                                 \
					    a ".z", b ".z",                                   \
					    "d2") ";\n"                                       \
						  "\tlet d3 = " a ".w - " b ".w - u2;\n"      \
						  "\tlet under = " INT_BORROW(a ".w", b ".w", \
									      "d3") ";\n"

#endif
