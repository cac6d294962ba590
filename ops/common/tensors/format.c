/* Floats that sums are rounded to; see format.h. */
#include "common/tensors/format.h"

#include "kernels.h"

static const tensor_float_format formats[] = {
	{PCTL_SCALAR_F32, 24, 149, 0x7f800000u, 0x7fc00000u, 0x80000000u,
	 "const PRECISION: u32 = 24u;\nconst LEAST: u32 = 149u;\nconst INFINITY: u32 = "
	 "0x7f800000u;\n"
	 "const NAN: u32 = 0x7fc00000u;\nconst SIGN: u32 = 0x80000000u;\n"},
	{PCTL_SCALAR_F16, 11, 274, 0x7c00u, 0x7e00u, 0x8000u,
	 "const PRECISION: u32 = 11u;\nconst LEAST: u32 = 274u;\nconst INFINITY: u32 = 0x7c00u;\n"
	 "const NAN: u32 = 0x7e00u;\nconst SIGN: u32 = 0x8000u;\n"},
	{PCTL_SCALAR_BF16, 8, 165, 0x7f80u, 0x7fc0u, 0x8000u,
	 "const PRECISION: u32 = 8u;\nconst LEAST: u32 = 165u;\nconst INFINITY: u32 = 0x7f80u;\n"
	 "const NAN: u32 = 0x7fc0u;\nconst SIGN: u32 = 0x8000u;\n"},
};

const tensor_float_format *tensor_float_format_named(const char *name)
{
	for (uint32_t i = 0; i < KIT_COUNT(formats); i++)
		if (strcmp(kit_dtype_name(formats[i].dtype), name) == 0)
			return &formats[i];
	return NULL;
}

const tensor_float_format *tensor_float_format_of(uint32_t dtype)
{
	return tensor_float_format_named(kit_dtype_name(dtype));
}

const char *tensor_nearest(const tensor_float_format *format)
{
	if (format->dtype == PCTL_SCALAR_F16)
		return "fn nearest(x: f64) -> u32 {\n\treturn bitcast<u32>(vec2<f16>(f16(x), "
		       "0.0h));\n}\n";
	if (format->dtype == PCTL_SCALAR_BF16)
		return "fn nearest(x: f64) -> u32 {\n\treturn bitcast<u32>(vec2<bf16>(bf16(x), "
		       "bf16(0.0f)));\n}\n";
	return "fn nearest(x: f64) -> u32 {\n\treturn bitcast<u32>(f32(x));\n}\n";
}

void tensor_judge_text(kit_wgsl *w, const tensor_float_format *format)
{
	kit_wgsl_add(w, tensor_nearest(format));
	kit_wgsl_add(w, KERNEL_WITHIN);
}

int tensor_has_f64(const kit_plan *p)
{
	return p->caps->device_kind != PCTL_DEVICE_OTHER &&
	       PCTL_HAS(p->caps, pctl_plan_caps, proven) &&
	       (p->caps->proven & PCTL_PLAN_PROVEN_F64) != 0;
}
