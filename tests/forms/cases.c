/* The table of all forms, their operands and oracles. See forms.h. */
#include "forms.h"

#define PAIRS(prefix, suffix, type, u, kind, each)                                                \
	{G_INT, prefix "add" suffix, u ":" u u, kind, oracle_add##type, each(add##type)},         \
		{G_INT, prefix "sub" suffix, u ":" u u, kind, oracle_sub##type, each(sub##type)}, \
		{G_INT, prefix "mul" suffix, u ":" u u, kind, oracle_mul##type, each(mul##type)}, \
		{G_INT, prefix "div" suffix, u ":" u u, kind, oracle_div##type, each(div##type)}, \
		{G_INT, prefix "min" suffix, u ":" u u, kind, oracle_min##type, each(min##type)}, \
		{G_INT, prefix "max" suffix, u ":" u u, kind, oracle_max##type, each(max##type)}, \
		{G_INT, prefix "eq" suffix, "b:" u u, kind, oracle_eq##type, each(eq##type)},     \
		{G_INT, prefix "lt" suffix, "b:" u u, kind, oracle_lt##type, each(lt##type)},     \
	{                                                                                         \
		G_INT, prefix "le" suffix, "b:" u u, kind, oracle_le##type, each(le##type)        \
	}
#define NONE(name) NULL
#define EACH(name) each_##name

#define BASIC(prefix, suffix, type, u, kind, each)                                                \
	PAIRS(prefix, suffix, type, u, kind, each),                                               \
		{G_INT, prefix "fma" suffix, u ":" u u u, kind, oracle_fma##type, NULL},          \
		{G_INT, prefix "from_i32" suffix, u ":i", IN_WORD, oracle_from_i32_##type, NULL}, \
	{                                                                                         \
		G_INT, prefix "from_u32" suffix, u ":u", IN_WORD, oracle_from_u32_##type, NULL    \
	}

#define UNARY(prefix, suffix, type, u, kind)                                               \
	{G_INT, prefix "sqrt" suffix, u ":" u, kind, oracle_sqrt##type, NULL},             \
		{G_INT, prefix "floor" suffix, u ":" u, kind, oracle_floor##type, NULL},   \
		{G_INT, prefix "ceil" suffix, u ":" u, kind, oracle_ceil##type, NULL},     \
		{G_INT, prefix "trunc" suffix, u ":" u, kind, oracle_trunc##type, NULL},   \
		{G_INT, prefix "round" suffix, u ":" u, kind, oracle_round##type, NULL},   \
		{G_INT, prefix "to_i32" suffix, "i:" u, kind, oracle_to_i32_##type, NULL}, \
	{                                                                                  \
		G_INT, prefix "to_u32" suffix, "u:" u, kind, oracle_to_u32_##type, NULL    \
	}

const forms_case forms_cases[] = {
	BASIC("f32_", "_int", f32, "u", IN_F32, NONE),
	UNARY("f32_", "_int", f32, "u", IN_F32),
	BASIC("f64_", "_int", f64, "d", IN_F64, NONE),
	UNARY("f64_", "_int", f64, "d", IN_F64),
	BASIC("f16_", "", f16, "u", IN_F16, EACH),
	UNARY("f16_", "", f16, "u", IN_F16_EACH),
	BASIC("bf16_", "", bf16, "u", IN_BF16, EACH),
	UNARY("bf16_", "", bf16, "u", IN_BF16_EACH),
	{G_INT, "f64_from_f32_int", "n:u", IN_F32, oracle_f32_to_f64, NULL},
	{G_INT, "f64_to_f32_int", "u:d", IN_NARROW, oracle_f64_to_f32, NULL},
	{G_INT, "f64_to_f16_int", "u:d", IN_NARROW, oracle_f64_to_f16, NULL},
	{G_INT, "f64_to_bf16_int", "u:d", IN_NARROW, oracle_f64_to_bf16, NULL},
	{G_INT, "f64_odd_int", "n:dd", IN_ODD, oracle_odd, NULL},
	{G_INT, "f16_to_f32", "u:u", IN_F16_EACH, oracle_f16_to_f32, NULL},
	{G_INT, "bf16_to_f32", "u:u", IN_BF16_EACH, oracle_bf16_to_f32, NULL},
	{G_INT, "f16_to_bf16", "u:u", IN_F16_EACH, oracle_f16_to_bf16, NULL},
	{G_INT, "bf16_to_f16", "u:u", IN_BF16_EACH, oracle_bf16_to_f16, NULL},
	{G_INT, "f32_to_f16", "u:u", IN_F32, oracle_f32_to_f16, NULL},
	{G_INT, "f32_to_bf16", "u:u", IN_F32, oracle_f32_to_bf16, NULL},
	{G_F64, "f32_add_f64", "u:uu", IN_F32, oracle_addf32, NULL},
	{G_F64, "f32_sub_f64", "u:uu", IN_F32, oracle_subf32, NULL},
	{G_F64, "f32_mul_f64", "u:uu", IN_F32, oracle_mulf32, NULL},
	{G_F64, "f32_div_f64", "u:uu", IN_F32, oracle_divf32, NULL},
	{G_F64, "f32_sqrt_f64", "u:u", IN_F32, oracle_sqrtf32, NULL},
	{G_F64, "f32_fma_f64", "u:uuu", IN_F32, oracle_fmaf32, NULL},
	{G_F64, "widen", "D:u", IN_F32, oracle_f32_to_f64, NULL},
	{G_F64, "widen_f16", "D:u", IN_F16_EACH, oracle_f16_to_f64, NULL},
	{G_F64, "widen_bf16", "D:u", IN_BF16_EACH, oracle_bf16_to_f64, NULL},
	{G_F64, "narrow", "u:D", IN_NARROW, oracle_f64_to_f32, NULL},
	{G_F64, "widen_guarded", "D:u", IN_F32, oracle_f32_to_f64, NULL},
	{G_F64, "narrow_guarded", "u:D", IN_NARROW, oracle_f64_to_f32, NULL},
	{G_F64, "narrow_f16", "u:D", IN_NARROW, oracle_f64_to_f16, NULL},
	{G_F64, "narrow_bf16", "u:D", IN_NARROW, oracle_f64_to_bf16, NULL},
	{G_F64, "odd", "D:DD", IN_ODD, oracle_odd, NULL},
	{G_F64, "fma64", "D:DDD", IN_F64, oracle_fmaf64, NULL},
	{G_F64, "two_sum.y", "L:DD", IN_SUM, oracle_sum_lost, NULL},
	{G_F64, "fast_two_sum.y", "L:DD", IN_ORDERED, oracle_sum_lost, NULL},
	{G_F64, "two_prod.y", "L:DD", IN_PRODUCT, oracle_product_lost, NULL},
	{G_NORMAL, "f32_add_guarded", "u:uu", IN_F32, oracle_addf32, NULL},
	{G_NORMAL, "f32_sub_guarded", "u:uu", IN_F32, oracle_subf32, NULL},
	{G_NORMAL, "f32_mul_guarded", "u:uu", IN_F32, oracle_mulf32, NULL},
	{G_NORMAL, "f32_div_guarded", "u:uu", IN_F32, oracle_divf32, NULL},
	{G_ROOT, "f32_sqrt_guarded", "u:u", IN_F32, oracle_sqrtf32, NULL},
	{G_FUSED, "f32_fma_guarded", "u:uuu", IN_F32, oracle_fmaf32, NULL},
	{G_FUSED, "f32_div_refined", "u:uu", IN_F32, oracle_divf32, NULL},
	{G_FUSED, "f32_sqrt_refined", "u:u", IN_F32, oracle_sqrtf32, NULL},
	{G_EXACT, "f32_add_native", "u:uu", IN_F32, oracle_addf32, NULL},
	{G_EXACT, "f32_mul_native", "u:uu", IN_F32, oracle_mulf32, NULL},
	{G_EXACT, "f32_div_native", "u:uu", IN_F32, oracle_divf32, NULL},
	{G_EXACT, "f32_sqrt_native", "u:u", IN_F32, oracle_sqrtf32, NULL},
	{G_EXACT, "f32_fma_native", "u:uuu", IN_F32, oracle_fmaf32, NULL},
	{G_EXACT, "widen_native", "D:u", IN_F32, oracle_f32_to_f64, NULL},
	{G_EXACT, "narrow_native", "u:D", IN_NARROW, oracle_f64_to_f32, NULL},
	{G_EXACT, "fma64_native", "D:DDD", IN_F64, oracle_fmaf64, NULL},
};
const uint32_t forms_n_cases = sizeof(forms_cases) / sizeof(forms_cases[0]);
