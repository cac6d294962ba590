/* tensor.cumsum of floats along rows that lie side by side: prefixes by f64, rows in doubt exactly (rows.h). */
#include "cumsum.h"

#include "kernels.h"
#include "rows.h"

static void begin(kit_plan *p, const tensor_rows *r, kit_wgsl *w)
{
	const kit_use *u = p->use;
	const int reverse = kit_attr(u, CUMSUM_REVERSE) != 0;

	if (u->q->in[0].dtype == PCTL_SCALAR_F16)
		kit_wgsl_add(w, "enable f16;\n");
	tensor_rows_place(p, r, w);
	kit_wgsl_add(w, kit_attr(u, CUMSUM_EXCLUSIVE) != 0 ? "const EXCLUSIVE: bool = true;\n"
							   : "const EXCLUSIVE: bool = false;\n");
	kit_wgsl_add(w, reverse ? "fn turned(q: u32, quads: u32) -> u32 {\n"
				  "\treturn quads - 1u - q;\n}\n"
				  "fn turned4(v: vec4<u32>) -> vec4<u32> {\n\treturn v.wzyx;\n}\n"
				: "fn turned(q: u32, quads: u32) -> u32 {\n\treturn q;\n}\n"
				  "fn turned4(v: vec4<u32>) -> vec4<u32> {\n\treturn v;\n}\n");
	kit_wgsl_add(w, "fn quad_of(first: u32, q: u32) -> vec4<u32> {\n"
			"\treturn turned4(load4(first + turned(q, row_quads())));\n}\n");
}

static void settle(kit_plan *p, const tensor_rows *r, uint32_t marks)
{
	const tensor_rows one = {.count = r->count,
				 .n = r->n,
				 .lanes = 64,
				 .rows = 1,
				 .steps = r->steps * r->lanes / 64,
				 .depth = r->depth};
	kit_wgsl w = kit_wgsl_make(p->use, 32768);
	const kit_slot slot = KIT_ALL(marks);

	begin(p, &one, &w);
	kit_wgsl_add(&w, "@group(0) @binding(3) var<storage, read> marks: array<u32>;\n");
	kit_wgsl_add(&w, tensor_float_format_of(p->use->q->in[0].dtype)->text);
	kit_wgsl_add(&w, "fn sum_scale() -> bool {\n\treturn false;\n}\n");
	kit_wgsl_add(&w, KERNEL_EXACT_SUM);
	kit_wgsl_add(&w, KERNEL_SUM_WINDOW);
	kit_wgsl_add(&w, KERNEL_ROWS_CUMSUM_SETTLE);
	tensor_rows_run(p, "tensor/cumsum_settle.wgsl", &one, &w, &slot, 1);
}

int cumsum_rows(kit_plan *p, const tensor_axes *a)
{
	const tensor_float_format *format = tensor_float_format_of(p->use->q->in[0].dtype);
	kit_wgsl w;
	kit_slot slot;
	tensor_rows r;

	if (format == NULL || a->reduced[0].stride != 1 ||
	    !tensor_rows_cut(p, a->count, a->terms, 40, 64, &r))
		return 0;
	/* A row a workgroup; each element of a settled one is rounded by itself. */
	if (r.rows != 1 || (p->caps->max_turns != 0 && 4 * a->terms > p->caps->max_turns))
		return 0;
	r.depth = r.steps + 2 * 16 + 8;
	slot = (kit_slot)KIT_ALL(kit_temp(p, 4 * a->count));
	w = kit_wgsl_make(p->use, 32768);
	begin(p, &r, &w);
	kit_wgsl_add(&w, "@group(0) @binding(3) var<storage, read_write> marks: array<u32>;\n");
	tensor_judge_text(&w, format);
	kit_wgsl_add(&w, KERNEL_ROWS_CUMSUM);
	tensor_rows_run(p, "tensor/cumsum_rows.wgsl", &r, &w, &slot, 1);
	settle(p, &r, slot.buffer);
	return 1;
}
