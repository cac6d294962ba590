/* Rows by one kernel; see rows.h. */
#include "rows.h"

#include <stdio.h>

#include "kernels.h"

#define LANES_LEAST 16u /* what a tree joins at once */
#define N_MOST \
	65536u /* terms that 64 lanes can add without a carry (kernels/sum_window.wgsl); 16 a quarter */
/* Fewer are done sooner by simpler kernels, but where a dispatch less is worth more. */
#define ELEMENTS_LEAST 2048u
#define ELEMENTS_LEAST_GPU 256u
#define EXTRA 7u

int tensor_rows_cut(const kit_plan *p, uint64_t count, uint64_t n, uint32_t lane_bytes,
		    uint32_t on_processors, tensor_rows *out)
{
	const pctl_plan_caps *caps = p->caps;
	const uint32_t asked = kit_tunable(p, PCTL_TUNABLE_ROWS_LANES);
	const uint32_t local = asked != 0			      ? asked
			       : caps->device_kind != PCTL_DEVICE_CPU ? 256
			       : n > N_MOST / 4			      ? 64
								      : on_processors;
	const uint32_t settlers = local < 64 ? local : 64;
	const uint64_t quads = n / 4;
	const uint64_t least =
		caps->device_kind == PCTL_DEVICE_CPU || caps->device_kind == PCTL_DEVICE_OTHER
			? ELEMENTS_LEAST
			: ELEMENTS_LEAST_GPU;
	uint64_t bytes, turns;
	int is_few;

	if (!tensor_has_f64(p) || n % 4 != 0 || quads == 0 || n > N_MOST || count * n < least ||
	    caps->max_invocations < local)
		return 0;
	*out = (tensor_rows){.count = count, .n = n, .lanes = LANES_LEAST, .steps = 4};
	while (out->lanes < local && 4ull * out->lanes < quads)
		out->lanes *= 2;
	/* Rows that would not fill a workgroup have all of its lanes, and leave its memory to what may be done behind them in one dispatch. */
	is_few = (caps->device_kind == PCTL_DEVICE_DISCRETE ||
		  caps->device_kind == PCTL_DEVICE_INTEGRATED) &&
		 2 * count * out->lanes <= local && out->lanes < quads;
	while (is_few && 2 * count * out->lanes <= local && out->lanes < quads)
		out->lanes *= 2;
	while ((uint64_t)out->steps * out->lanes < quads)
		out->steps *= 2;
	out->rows = local / out->lanes;
	out->depth = 4 * out->steps + 2 * LANES_LEAST + 8;
	/* Trees, digits, and what each row leaves. */
	bytes = (uint64_t)lane_bytes * (local + local / 16) + 21 * 64 * 4 + 21 * 8 +
		16ull * out->rows + 512;
	out->keep = (!is_few || p->through != 0) &&
		    bytes + 16ull * out->steps * local <= caps->max_workgroup_bytes;
	turns = (p->through != 0 ? 64ull : 32ull) * out->steps +
		2ull * out->rows * (4ull * out->steps * out->lanes / settlers + 1000) + 256;
	return bytes <= caps->max_workgroup_bytes &&
	       (caps->max_turns == 0 || turns <= caps->max_turns);
}

#define LOAD                                                              \
	"@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;\n" \
	"fn load4(q: u32) -> vec4<u32> {\n\treturn x[q];\n}\n"            \
	"fn load1(q: u32, c: u32) -> u32 {\n\treturn x[q][c];\n}\n"
/* Loops, so that what may be long stands in the kernel once. */
#define LOAD_EACH                                                   \
	"fn load4(q: u32) -> vec4<u32> {\n\tvar v = vec4<u32>();\n" \
	"\tfor (var c = 0u; c < 4u; c++) {\n\t\tv[c] = load1(q, c);\n\t}\n\treturn v;\n}\n"
#define LOAD_THROUGH \
	"fn load1(q: u32, c: u32) -> u32 {\n\treturn read_through_0(4u * q + c);\n}\n" LOAD_EACH
#define PACK "fn pack4(v: vec4<u32>) -> vec4<u32> {\n\treturn v;\n}\n"
#define PACK_EACH(T)                                                      \
	"fn pack4(q: u32, bits: vec4<u32>) -> " T " {\n\tvar v = bits;\n" \
	"\tfor (var c = 0u; c < 4u; c++) {\n"                             \
	"\t\tv[c] = write_through_0(4u * q + c, v[c]);\n\t}\n"
#define PACK_THROUGH PACK_EACH("vec4<u32>") "\treturn v;\n}\n"
#define HALVES "\treturn vec2<u32>(v.x | (v.y << 16u), v.z | (v.w << 16u));\n}\n"

int tensor_rows_read_once(const kit_plan *p, const tensor_rows *r)
{
	(void)p;
	return r->keep;
}

void tensor_rows_place(kit_plan *p, const tensor_rows *r, kit_wgsl *w)
{
	const uint32_t dtype = p->use->q->in[0].dtype, local = r->lanes * r->rows;
	const int words = kit_dtype_bytes(dtype) == 4;
	const int reads = (p->through & PCTL_PLAN_READ_THROUGH(0)) != 0;
	const int writes = (p->through & PCTL_PLAN_WRITE_THROUGH(0)) != 0;
	char text[512];

	snprintf(text, sizeof(text),
		 "const LANES: u32 = %uu;\nconst ROWS: u32 = %uu;\nconst LOCAL: u32 = %uu;\n"
		 "const FEW: u32 = %uu;\nconst KEPT: u32 = %uu;\nconst QUADS_MOST: u32 = %uu;\n",
		 r->lanes, r->rows, local, local / 16, 4 * r->steps * local, r->steps * r->lanes);
	kit_wgsl_add(w, text);
	kit_wgsl_add(w, KERNEL_ROWS_PLACE);
	if (words) {
		kit_wgsl_add(w, reads ? LOAD_THROUGH : LOAD);
		kit_wgsl_add(w, "@group(0) @binding(2) var<storage, read_write> y: "
				"array<vec4<u32>>;\n");
		kit_wgsl_add(w, writes ? PACK_THROUGH : PACK);
	} else {
		if (!reads)
			kit_wgsl_add(w, "@group(0) @binding(1) var<storage, read> x: "
					"array<u32>;\n");
		kit_wgsl_add(w, "@group(0) @binding(2) var<storage, read_write> y: "
				"array<vec2<u32>>;\n");
		if (reads)
			kit_wgsl_through(w, dtype, "x", 0);
		else
			kit_wgsl_named(w, kit_codec_bits(dtype), "x");
		kit_wgsl_add(
			w, "fn load1(q: u32, c: u32) -> u32 {\n\treturn x_bits(4u * q + c);\n}\n");
		kit_wgsl_add(w, reads ? LOAD_EACH
				      : "fn load4(q: u32) -> vec4<u32> {\n"
					"\treturn vec4<u32>(load1(q, 0u), load1(q, 1u), load1(q, "
					"2u), load1(q, 3u));\n}\n");
		kit_wgsl_add(w, writes ? PACK_EACH("vec2<u32>") HALVES
				       : "fn pack4(v: vec4<u32>) -> vec2<u32> {\n" HALVES);
	}
}

void tensor_rows_text(kit_plan *p, const tensor_rows *r, const char *more, kit_wgsl *w)
{
	tensor_rows_place(p, r, w);
	kit_wgsl_add(w, KERNEL_NARROW_FLOATS);
	kit_wgsl_named(w, "fn narrowed(x: f32) -> u32 {\n\treturn to_$(x);\n}\n",
		       kit_dtype_name(p->use->q->in[0].dtype));
	kit_wgsl_add(w, more);
	kit_wgsl_add(w, r->keep ? KERNEL_ROWS_KEPT : KERNEL_ROWS_AGAIN);
	kit_wgsl_add(w, KERNEL_ROWS_LOAD);
}

void tensor_rows_settle(kit_wgsl *w, const char *scale)
{
	kit_wgsl_add(w, tensor_float_format_of(PCTL_SCALAR_F32)->text);
	kit_wgsl_add(w, scale);
	kit_wgsl_add(w, KERNEL_EXACT_SUM);
	kit_wgsl_add(w, KERNEL_SUM_WINDOW);
	kit_wgsl_add(w, KERNEL_ROWS_SETTLE);
}

void tensor_rows_run(kit_plan *p, const char *name, const tensor_rows *r, kit_wgsl *w,
		     const kit_slot *slots, uint32_t n_slots)
{
	const uint32_t local = r->lanes * r->rows;
	const uint32_t v[4] = {(uint32_t)r->count, (uint32_t)r->n, (uint32_t)(r->n / 4), r->depth};
	const uint32_t params = kit_params(p, v, sizeof(v));
	/* What is read through a function is bound to nothing. */
	const uint32_t x = p->through & PCTL_PLAN_READ_THROUGH(0) ? params : kit_in(p, 0);
	kit_slot all[3 + EXTRA] = {KIT_ALL(params), KIT_ALL(x), KIT_ALL(kit_out(p, 0))};
	const kit_kernel kernel = {name, w->text, local, "steps", r->steps};

	for (uint32_t i = 0; i < n_slots; i++)
		all[3 + i] = slots[i];
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(w);
	kit_run_through(p, &kernel, (r->count + r->rows - 1) / r->rows * local, all, 3 + n_slots,
			(kit_through){p->through, 0, 0});
	kit_wgsl_free(w);
}
