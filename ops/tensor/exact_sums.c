/* Plans of exact sums along axes; see exact_sums.h. */
#include "exact_sums.h"

#include <stdio.h>

#include "kernels.h"

#define LEAST 16u /* terms that are worth a lane, beside the digits that it must hand over */

static void add_marks(kit_wgsl *w, uint32_t binding)
{
	char text[128];

	snprintf(text, sizeof(text),
		 "@group(0) @binding(%u) var<storage, read> marks: array<u32>;\n"
		 "const MARK: u32 = 0xffffffffu;\n",
		 binding);
	kit_wgsl_add(w, text);
}

static void run(kit_plan *p, const tensor_axes *a, const tensor_exact *e, const tensor_round *r)
{
	const int words = r->last && e->give != NULL;
	const uint32_t n_extra = r->first || r->last ? e->n_extra : 0;
	const int marked = e->marks != TENSOR_NONE, writes = tensor_round_writes(p, r);
	kit_slot slots[4 + TENSOR_SUM_EXTRA];
	kit_wgsl w = kit_wgsl_make(p->use, 32768);

	tensor_round_text(&w, a, r);
	tensor_round_x(p, r, &w,
		       r->first ? "@group(0) @binding(1) var<storage, read> x: array<u32>;\n"
				: "@group(0) @binding(1) var<storage, read> x: "
				  "array<array<u32, 21>>;\n",
		       NULL);
	kit_wgsl_add(&w, words ? "@group(0) @binding(2) var<storage, read_write> y: array<u32>;\n"
			       : "@group(0) @binding(2) var<storage, read_write> y: "
				 "array<array<u32, 21>>;\n");
	if (n_extra > 0)
		kit_wgsl_add(&w, e->extra_text);
	kit_wgsl_add(&w, e->format->text);
	kit_wgsl_add(&w, e->scale != NULL && words ? e->scale
						   : "fn sum_scale() -> bool {\n\treturn "
						     "false;\n}\n");
	kit_wgsl_add(&w, KERNEL_EXACT_SUM);
	kit_wgsl_add(&w, KERNEL_SUM_WINDOW);
	kit_wgsl_add(&w, KERNEL_SUM_LANES);
	if (r->first) {
		if (!tensor_round_reads(p, r))
			kit_wgsl_named(&w, kit_codec_bits(p->use->q->in[0].dtype), "x");
		kit_wgsl_add(&w, e->term);
		kit_wgsl_add(&w, KERNEL_SUM_RUN);
	} else {
		kit_wgsl_add(&w, KERNEL_SUM_PARTIALS);
	}
	if (words) {
		if (e->narrow != NULL) {
			kit_wgsl_add(&w, KERNEL_NARROW_FLOATS);
			kit_wgsl_add(&w, "fn narrow(x: f32) -> u32 {\n\treturn to_");
			kit_wgsl_add(&w, e->narrow);
			kit_wgsl_add(&w, "(x);\n}\n");
		}
		kit_wgsl_add(&w, e->give);
		kit_wgsl_add(&w, writes ? "fn put(item: u32) {\n\ty[item] = write_through_0(item, "
					  "give(item));\n}\n"
					: "fn put(item: u32) {\n\ty[item] = give(item);\n}\n");
	} else {
		kit_wgsl_add(&w, KERNEL_SUM_KEEP);
	}
	if (marked)
		add_marks(&w, 3 + n_extra);
	/* What is written through a function is written once, of what is not marked too. */
	if (marked)
		kit_wgsl_named(&w, KERNEL_SUM_MARKED,
			       writes ? " else {\n\t\t\t\tlet at = first_item + lid;\n"
					"\t\t\t\ty[at] = write_through_0(at, marks[at]);\n\t\t\t}"
				      : "");
	else
		kit_wgsl_add(&w, KERNEL_SUM_MAIN);
	slots[0] = (kit_slot)KIT_ALL(tensor_round_params(p, a, r));
	slots[1] = tensor_round_from(r);
	slots[2] = (kit_slot)KIT_ALL(r->to);
	memcpy(slots + 3, e->extra, n_extra * sizeof(*slots));
	if (marked)
		slots[3 + n_extra] = (kit_slot)KIT_ALL(e->marks);
	tensor_round_run(p, e->name, a, r, &w, slots, 3 + n_extra + (marked ? 1 : 0));
}

/* Of most sums no result is marked, or few are: as many workgroups run as reach the last. */
static uint32_t last_marked(kit_plan *p, const tensor_axes *a, uint32_t marks)
{
	const kit_kernel kernel = {"tensor/marks_last.wgsl", KERNEL_MARKS_LAST, 64, NULL, 0};
	const uint32_t last = kit_temp(p, 4);

	kit_fill(p, last, 0, 4, 0);
	kit_run(p, &kernel, a->count, (kit_slot[]){KIT_ALL(marks), KIT_ALL(last)}, 2);
	return last;
}

static void count_groups(kit_plan *p, const tensor_axes *a, tensor_round *r, uint32_t last)
{
	const kit_kernel kernel = {"tensor/marks_groups.wgsl", KERNEL_MARKS_GROUPS, 64, NULL, 0};
	const uint32_t round[4] = {(uint32_t)a->count, (uint32_t)r->runs, TENSOR_LANES / r->width,
				   0};
	const uint32_t params = kit_params(p, round, sizeof(round));

	r->counts = kit_temp(p, 12);
	r->is_counted = 1;
	kit_run(p, &kernel, 3, (kit_slot[]){KIT_ALL(params), KIT_ALL(last), KIT_ALL(r->counts)}, 3);
}

typedef struct piece {
	const tensor_exact *e;
	uint32_t last;
} piece;

static void run_round(kit_plan *p, const tensor_axes *a, const tensor_round *given, void *ctx)
{
	const piece *x = ctx;
	tensor_round r = *given;

	if (x->e->marks != TENSOR_NONE && !tensor_round_writes(p, &r))
		count_groups(p, a, &r, x->last);
	run(p, a, x->e, &r);
}

void tensor_exact_sums(kit_plan *p, const tensor_axes *a, const tensor_exact *e, uint32_t to)
{
	const int marked = e->marks != TENSOR_NONE;
	const int copies = to != kit_out(p, 0) || (p->through & PCTL_PLAN_WRITE_THROUGH(0)) == 0;
	piece x = {e, marked ? last_marked(p, a, e->marks) : 0};
	tensor_round r;

	if (marked && e->give != NULL && copies)
		kit_copy(p, e->marks, 0, to, 0, 4 * a->count);
	r = tensor_in_pieces(p, a)
		    ? tensor_round_pieces(p, a, 0, LEAST, 4 * TENSOR_SUM_WORDS, run_round, &x)
		    : tensor_round_first(a, kit_in(p, 0), LEAST);
	while (p->status == PCTL_OK) {
		r.to = r.last ? to : kit_temp(p, 4 * TENSOR_SUM_WORDS * a->count * r.runs);
		run_round(p, a, &r, &x);
		if (r.last)
			return;
		r = tensor_round_next(a, &r, LEAST);
	}
}
