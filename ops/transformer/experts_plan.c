/* How transformer.moe_linear is carried out (experts.h): an exact sum an element; where the device has f64, sums of lanes that share an element, or, of many places, places put side by side by their
 * experts and multiplied in tiles, and exact sums of what is in doubt. */
#include <stdio.h>

#include "common/tensors/tile.h"
#include "experts.h"
#include "kernels.h"

#define LANES 16u
#define ROWS 4u
#define PLACES_LEAST 32u /* fewer are not worth four kernels */
/* Places of an expert, in the mean: with fewer its matrix is read once all the same; and what fills tiles of 64, without which processors gain nothing. */
#define PLACES_EACH 2u
#define PLACES_TILE 32u
#define TILE_BYTES 512u /* of workgroup memory beside the tile's own */

/* A kernel of elements under construction: bindings 0 (params) to 5, in parts of w more. */
typedef struct text {
	kit_wgsl w;
	kit_slot slots[16];
	uint32_t n_slots;
} text;

static void bind(text *t, const char *name, const char *access, const char *element,
		 uint32_t buffer)
{
	char line[160];

	snprintf(line, sizeof(line), "@group(0) @binding(%u) var<storage, %s> %s: array<%s>;\n",
		 t->n_slots, access, name, element);
	kit_wgsl_add(&t->w, line);
	t->slots[t->n_slots++] = (kit_slot)KIT_ALL(buffer);
}

static void add_number(kit_wgsl *w, const char *name, uint32_t n)
{
	char line[64];

	snprintf(line, sizeof(line), "const %s: u32 = %uu;\n", name, n);
	kit_wgsl_add(w, line);
}

/* Where elements lie, and how factors are read; where matrices are larger than a binding they lie in several, behind all others. */
static void add_place(kit_plan *p, text *t, uint32_t params, const char *to, uint32_t buffer)
{
	const pctl_op_query *q = p->use->q;
	const int parted = tensor_is_parted(p, kit_in(p, EXPERTS_W));
	size_t from;

	t->n_slots = 1;
	t->slots[0] = (kit_slot)KIT_ALL(params);
	kit_wgsl_add(&t->w, tensor_float_format_of(PCTL_SCALAR_F32)->text);
	kit_wgsl_add(&t->w, KERNEL_MOE_PLACE);
	bind(t, "x", "read", "u32", kit_in(p, EXPERTS_X));
	if (!parted)
		bind(t, "w", "read", "u32", kit_in(p, EXPERTS_W));
	bind(t, "experts", "read", "u32", kit_in(p, EXPERTS_WHICH));
	bind(t, "bias", "read", "u32", kit_in(p, EXPERTS_BIAS));
	bind(t, to, "read_write", "u32", buffer);
	kit_wgsl_named(&t->w, kit_codec_bits(q->in[EXPERTS_X].dtype), "x");
	kit_wgsl_named(&t->w, kit_codec_bits(q->in[EXPERTS_BIAS].dtype), "bias");
	from = t->w.n;
	kit_wgsl_factor(&t->w, q->in[EXPERTS_W].dtype, "w");
	if (parted)
		kit_wgsl_called(&t->w, from, "w", "w_in_word");
}

/* The last of a kernel's bindings: matrices in parts. */
static void add_parts(kit_plan *p, text *t)
{
	if (tensor_is_parted(p, kit_in(p, EXPERTS_W)))
		t->n_slots += tensor_add_parts(p, &t->w, "w_in", "u32", EXPERTS_W, t->n_slots,
					       t->slots + t->n_slots);
}

static void add_exact(const kit_plan *p, kit_wgsl *w)
{
	kit_wgsl_add(w, "fn sum_scale() -> bool {\n\treturn false;\n}\n");
	kit_wgsl_add(w, KERNEL_EXACT_SUM);
	kit_wgsl_add(w, kit_codec_is_pair(p->use->q->in[EXPERTS_W].dtype) ? KERNEL_MOE_TERM_PAIR
									  : KERNEL_MOE_TERM);
}

static void run(kit_plan *p, text *t, kit_kernel kernel, uint64_t lanes)
{
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(&t->w);
	kernel.text = t->w.text;
	kit_run(p, &kernel, lanes, t->slots, t->n_slots);
	kit_wgsl_free(&t->w);
}

/* The power of two that is no less than n, and no less than least. */
static uint64_t power_from(uint64_t least, uint64_t n)
{
	while (least < n)
		least *= 2;
	return least;
}

static uint32_t params_of(kit_plan *p, const experts *e, uint64_t depth)
{
	const uint32_t v[8] = {(uint32_t)(e->places * e->m),
			       (uint32_t)e->m,
			       (uint32_t)e->n,
			       (uint32_t)e->k,
			       (uint32_t)e->all,
			       (uint32_t)e->each,
			       (uint32_t)depth,
			       (uint32_t)e->biased};

	return kit_params(p, v, sizeof(v));
}

/* ---- an element by itself ------------------------------------------------------------------- */

static void exact(kit_plan *p, const experts *e)
{
	const uint64_t steps = power_from(1, e->n);
	text t = {.w = kit_wgsl_make(p->use, 32768)};

	add_place(p, &t, params_of(p, e, steps * 8 + 2 * LANES), "y", kit_out(p, 0));
	add_exact(p, &t.w);
	kit_wgsl_add(&t.w, KERNEL_MOE_LINEAR_EXACT);
	add_parts(p, &t);
	kit_wgsl_add(&t.w, KERNEL_RESULT_WORDS);
	run(p, &t, (kit_kernel){"transformer/moe_linear.wgsl", NULL, 64, "steps", steps},
	    e->places * e->m);
}

/* Sums in f64, where one of LANES lanes has few turns. */
static void few(kit_plan *p, const experts *e)
{
	const uint32_t dtype = p->use->q->in[EXPERTS_W].dtype;
	const uint64_t steps = power_from(1, (e->n + 4 * LANES - 1) / (4 * LANES));
	text t = {.w = kit_wgsl_make(p->use, 32768)};

	add_place(p, &t, params_of(p, e, steps * 8 + 2 * LANES), "y", kit_out(p, 0));
	add_exact(p, &t.w);
	add_number(&t.w, "LANES", LANES);
	add_number(&t.w, "ROWS", ROWS);
	add_number(&t.w, "LOCAL", LANES * ROWS);
	add_number(&t.w, "FEW", LANES * ROWS / 16);
	kit_wgsl_add(&t.w,
		     "alias found_T = vec2<f64>;\nfn found_join(a: found_T, b: found_T) -> "
		     "found_T {\n\treturn a + b;\n}\n"
		     "var<private> sums: vec2<f64>; // of products and of their magnitudes\n");
	kit_wgsl_named(&t.w, KERNEL_ROWS_TREE, "found");
	tensor_judge_text(&t.w, tensor_float_format_of(PCTL_SCALAR_F32));
	kit_wgsl_add(&t.w, KERNEL_SUM_WINDOW);
	kit_wgsl_add(&t.w, KERNEL_ROWS_SETTLE);
	kit_wgsl_add(&t.w, kit_codec_is_pair(dtype)		? KERNEL_MOE_QUICK_PAIR
			   : kit_block_format_of(dtype) != NULL ? KERNEL_MOE_QUICK_BLOCK
								: KERNEL_MOE_QUICK);
	kit_wgsl_add(&t.w, KERNEL_MOE_LINEAR);
	add_parts(p, &t);
	run(p, &t, (kit_kernel){"transformer/moe_linear.wgsl", NULL, 64, "steps", steps},
	    (e->places * e->m + ROWS - 1) / ROWS * LANES * ROWS);
}

/* ---- many places ---------------------------------------------------------------------------- */

/*
 * tiles   of rows, at most: an expert's last may not be full; across: of columns
 * steps   places and experts of a lane of 64
 * list, slots   places in order of their experts, and where each is there
 */
typedef struct many_plan {
	const experts *e;
	tensor_tile tile;
	uint64_t tiles, across, steps;
	uint32_t params, list, slots, temp;
} many_plan;

static uint64_t tile_steps(const experts *e)
{
	return power_from(16, (e->n + TENSOR_TILE_TERMS - 1) / TENSOR_TILE_TERMS);
}

/* 0: places are too few, or tiles not for this device. */
static int is_many(const kit_plan *p, const experts *e, many_plan *m)
{
	const uint64_t used = e->all < e->places ? e->all : e->places;
	const uint64_t most = p->caps->max_turns, binding = p->caps->max_binding_bytes;
	const uint32_t rows = e->places >= PLACES_TILE * e->all ? 64 : 16;

	if (e->places < PLACES_LEAST || e->all == 0 || e->places < PLACES_EACH * e->all ||
	    (rows == 16 && p->caps->device_kind == PCTL_DEVICE_CPU) ||
	    !tensor_tile_fits(p, rows, TILE_BYTES))
		return 0;
	*m = (many_plan){.e = e, .tile = tensor_tile_of(p, rows, TILE_BYTES)};
	/* Elements of two parts are no f32. */
	m->tile.units &= !kit_codec_is_pair(p->use->q->in[EXPERTS_W].dtype);
	m->tiles = e->places / rows + used;
	m->across = (e->m + TENSOR_TILE_SIDE - 1) / TENSOR_TILE_SIDE;
	m->steps = power_from(16, ((e->places > e->all ? e->places : e->all) + 63) / 64);
	/* Of a tile's terms; of 64 elements in doubt; of places in order. */
	return m->tiles * rows * m->across * TENSOR_TILE_SIDE < 1ull << 31 &&
	       (binding == 0 || 4 * m->tiles * rows * m->across * TENSOR_TILE_SIDE <= binding) &&
	       (most == 0 || (tile_steps(e) * 32 + 512 <= most &&
			      64 * (power_from(16, (e->n + 63) / 64) + 512) + 512 <= most &&
			      4 * m->steps + 512 <= most));
}

static void group(kit_plan *p, many_plan *m)
{
	const experts *e = m->e;
	const uint32_t sizes[4] = {(uint32_t)e->places, (uint32_t)e->all};
	const uint64_t list = 4 * m->tiles * m->tile.rows;
	const uint32_t params = kit_params(p, sizes, sizeof(sizes)),
		       counts = kit_temp(p, 4 * e->all), which = kit_in(p, EXPERTS_WHICH);
	kit_kernel kernel = {"transformer/moe_count.wgsl", KERNEL_MOE_COUNT, 64, "steps", m->steps};
	kit_wgsl w = kit_wgsl_make(p->use, 8192);

	m->list = kit_temp(p, list);
	m->slots = kit_temp(p, 4 * e->places);
	kit_fill(p, m->list, 0, list, 0);
	kit_fill(p, m->slots, 0, 4 * e->places, 0);
	kit_run(p, &kernel, 64 * e->all,
		(kit_slot[]){KIT_ALL(params), KIT_ALL(which), KIT_ALL(counts)}, 3);
	add_number(&w, "TILE_ROWS", m->tile.rows);
	kit_wgsl_add(&w, KERNEL_MOE_GROUP);
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(&w);
	kernel.name = "transformer/moe_group.wgsl";
	kernel.text = w.text;
	kit_run(p, &kernel, 64 * e->all,
		(kit_slot[]){KIT_ALL(params), KIT_ALL(which), KIT_ALL(counts), KIT_ALL(m->list),
			     KIT_ALL(m->slots)},
		5);
	kit_wgsl_free(&w);
}

static void tiles(kit_plan *p, const many_plan *m)
{
	const tensor_tile *tile = &m->tile;
	text t = {.w = kit_wgsl_make(p->use, 32768)};

	tensor_tile_begin(tile, &t.w);
	add_place(p, &t, m->params, "temp", m->temp);
	bind(&t, "list", "read", "u32", m->list);
	tensor_judge_text(&t.w, tensor_float_format_of(PCTL_SCALAR_F32));
	kit_wgsl_add(&t.w, KERNEL_ROOT_ABOVE);
	tensor_tile_head(p, tile, &t.w, 1);
	kit_wgsl_add(&t.w, kit_codec_is_pair(p->use->q->in[EXPERTS_W].dtype)
				   ? KERNEL_MOE_TILE_PAIR
				   : KERNEL_MOE_TILE_TERM);
	add_parts(p, &t);
	kit_wgsl_add(&t.w, KERNEL_MOE_TILE);
	tensor_tile_sums(tile, &t.w);
	kit_wgsl_add(&t.w, KERNEL_MOE_TILE_LOOP);
	tensor_tile_multiply(tile, &t.w);
	kit_wgsl_add(&t.w, KERNEL_MOE_TILE_END);
	tensor_tile_stages(tile, &t.w);
	kit_wgsl_add(&t.w, KERNEL_MOE_TILE_GIVE);
	run(p, &t,
	    (kit_kernel){"transformer/moe_tile.wgsl", NULL, TENSOR_TILE_LOCAL, "steps",
			 tile_steps(m->e)},
	    m->tiles * m->across * TENSOR_TILE_LOCAL);
}

static void settle(kit_plan *p, const many_plan *m)
{
	text t = {.w = kit_wgsl_make(p->use, 32768)};

	add_place(p, &t, m->params, "y", kit_out(p, 0));
	bind(&t, "temp", "read", "u32", m->temp);
	bind(&t, "slots", "read", "u32", m->slots);
	add_exact(p, &t.w);
	add_number(&t.w, "ROWS", 1);
	add_number(&t.w, "TILE_ROWS", m->tile.rows);
	kit_wgsl_add(&t.w, KERNEL_SUM_LANES);
	tensor_judge_text(&t.w, tensor_float_format_of(PCTL_SCALAR_F32));
	add_parts(p, &t);
	kit_wgsl_add(&t.w, KERNEL_MOE_SETTLE);
	run(p, &t,
	    (kit_kernel){"transformer/moe_settle.wgsl", NULL, 64, "steps",
			 power_from(16, (m->e->n + 63) / 64)},
	    m->e->places * m->e->m);
}

static void many(kit_plan *p, many_plan *m)
{
	/* A sum's terms, and of elements of two parts their sum and a product that is rounded. */
	m->params = params_of(p, m->e, m->e->n + 4);
	group(p, m);
	m->temp = kit_temp(p, 4 * m->tiles * m->tile.rows * m->across * TENSOR_TILE_SIDE);
	tiles(p, m);
	settle(p, m);
}

void linear_plan(kit_plan *p)
{
	const uint64_t most = p->caps->max_turns;
	uint64_t steps;
	many_plan m;
	experts e;
	int quick;

	p->status = transformer_experts_of(p->use, &e);
	if (p->status != PCTL_OK || e.places * e.m == 0)
		return;
	quick = tensor_has_f64(p) && e.n != 0;
	/* Its own turns, and those of exact sums. */
	steps = power_from(1, (e.n + 4 * LANES - 1) / (4 * LANES));
	quick &= most == 0 || steps * 4 * (1 + ROWS) + 8192 <= most;
	if (quick && is_many(p, &e, &m))
		many(p, &m);
	else if (quick)
		few(p, &e);
	else
		exact(p, &e);
}
