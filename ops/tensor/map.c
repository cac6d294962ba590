/* Elementwise ends of normalisations; see map.h. */
#include "map.h"

#include "common/tensors/elements.h"
#include "kernels.h"

typedef struct places {
	uint32_t count, block, inner, rest, channels, none[3];
} places;

void tensor_map_text(kit_plan *p, const tensor_map *m, kit_wgsl *w)
{
	kit_wgsl_add(w, m->inner == 1 ? "const SIDE_BY_SIDE: bool = true;\n"
				      : "const SIDE_BY_SIDE: bool = false;\n");
	kit_wgsl_add(w, KERNEL_MAP_PLACE);
	if (p->through & PCTL_PLAN_READ_THROUGH(0))
		kit_wgsl_through(w, p->use->q->in[0].dtype, "x", 0);
	else
		kit_wgsl_add(w, "@group(0) @binding(1) var<storage, read> x: array<u32>;\n");
	kit_wgsl_add(w, "@group(0) @binding(2) var<storage, read_write> y: array<u32>;\n");
	if ((p->through & PCTL_PLAN_READ_THROUGH(0)) == 0)
		kit_wgsl_named(w, kit_codec_bits(p->use->q->in[0].dtype), "x");
	kit_wgsl_add(w, KERNEL_NARROW_FLOATS);
}

void tensor_map_run(kit_plan *p, const tensor_map *m, kit_wgsl *w)
{
	const pctl_tensor_type *x = &p->use->q->in[0];
	const uint64_t n = kit_elements(x),
		       words = kit_dtype_bytes(x->dtype) == 4 ? n : (n + 1) / 2;
	const places v = {(uint32_t)n,	     (uint32_t)m->block,    (uint32_t)m->inner,
			  (uint32_t)m->rest, (uint32_t)m->channels, {0}};
	const uint32_t params = kit_params(p, &v, sizeof(v));
	/* What is read through a function is bound to nothing. */
	const uint32_t from = p->through & PCTL_PLAN_READ_THROUGH(0) ? params : kit_in(p, 0);
	kit_slot slots[3 + TENSOR_MAP_SLOTS] = {KIT_ALL(params), KIT_ALL(from),
						KIT_ALL(kit_out(p, 0))};
	kit_kernel kernel = {m->name, NULL, 64, NULL, 0};

	kit_wgsl_add(w, "fn product(i: u32) -> u32 {\n\treturn to_");
	kit_wgsl_add(w, kit_dtype_name(x->dtype));
	kit_wgsl_add(w, "(value(i, bitcast<f32>(x_bits(i))));\n}\n");
	kit_wgsl_add(w, tensor_result_text(kit_dtype_bytes(x->dtype),
					   (p->through & PCTL_PLAN_WRITE_THROUGH(0)) != 0));
	kernel.text = w->text;
	memcpy(slots + 3, m->slots, m->n_slots * sizeof(*slots));
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(w);
	kit_run_through(p, &kernel, words, slots, 3 + m->n_slots, (kit_through){p->through, 0, 0});
	kit_wgsl_free(w);
}
