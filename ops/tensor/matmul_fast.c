/* tensor.matmul in tiles. Order exact goes by f64 sums with a bound of their error (SEMANTICS.md 4.4): norms of rows and columns, tiles, the
 * result out of its tiles with the marked elements settled by exact integer sums; the other orders by their own f32 sums in the same tiles. Which way
 * is taken never changes a bit. */
#include "matmul.h"

#include "common/codec.h"
#include "kernels.h"

/* Fewer products than this are done sooner by one kernel than by five. */
#define PRODUCTS_LEAST 8192u

/*
 * How tiles are cut for a kind of device.
 *
 * layout, tile  texts of kernels; term, end: what is put behind the latter, the first four times; or NULL
 * head          the type of sums, and of processors the lanes of a workgroup
 * step_type     what `step` takes and gives; NULL: sums are of the device's matrix units
 * local         invocations of a workgroup
 * norms         invocations of a workgroup that finds norms
 * memory        bytes of a workgroup
 * rows, columns of a tile; block: terms that go through workgroup memory together
 * turns         that all loops make for a block of terms
 */
typedef struct cut {
	const char *layout, *tile, *term, *end, *head, *step_type;
	uint32_t local, norms, memory, rows, columns, block, turns;
} cut;

#define PROCESSOR                                                               \
	KERNEL_MATMUL_CPU, KERNEL_MATMUL_TILE_CPU, KERNEL_MATMUL_TILE_CPU_TERM, \
		KERNEL_MATMUL_TILE_CPU_END
#define GPU KERNEL_MATMUL_GPU, KERNEL_MATMUL_TILE_GPU, NULL, NULL
static const cut processors_f64 = {
	PROCESSOR,  "alias Acc = f64;\nconst LANES: u32 = 8u;\n", "f64", 8, 64, 16384, 32, 32, 32,
	33 + 8 * 26};
static const cut processors_f32 = {
	PROCESSOR,  "alias Acc = f32;\nconst LANES: u32 = 16u;\n", "f32", 16, 64, 16384, 32, 64, 32,
	33 + 8 * 18};
static const cut gpus_f64 = {GPU, "alias Acc = f64;\n", "vec4<f64>", 256, 256, 16384, 64, 64, 16,
			     21};
static const cut gpus_f32 = {GPU, "alias Acc = f32;\n", "vec4<f32>", 256, 256, 16384, 64, 64, 16,
			     21};
static const cut matrix_units = {KERNEL_MATMUL_MATRIX,
				 KERNEL_MATMUL_TILE_MATRIX,
				 NULL,
				 NULL,
				 "const SIDE: u32 = 128u;\n",
				 NULL,
				 256,
				 256,
				 45056,
				 128,
				 128,
				 32,
				 8};
/* For fewer tiles than devices keep busy. */
static const cut matrix_units_small = {KERNEL_MATMUL_MATRIX,
				       KERNEL_MATMUL_TILE_MATRIX,
				       NULL,
				       NULL,
				       "const SIDE: u32 = 64u;\n",
				       NULL,
				       256,
				       256,
				       26624,
				       64,
				       64,
				       32,
				       8};
#define TILES_MANY 200u

typedef struct fast {
	kit_plan *p;
	const matmul_shape *s;
	const cut *cut;
	uint64_t tiles, slots;
	uint32_t share; /* elements that an invocation of the settling kernel looks after */
	uint32_t params, temp, norms[2];
	uint32_t factors[2]; /* as tiles read them: the inputs, or packed */
} fast;

#define LOOK "const LOOK: u32 = 2048u;\n" /* terms from one look at sums to the next */
#define TERMS_PACKED 128u

static uint64_t parts(uint64_t n, uint64_t of)
{
	return n / of + (n % of != 0);
}

static uint64_t power_of_two(uint64_t n)
{
	uint64_t power = 16;

	while (power < n)
		power *= 2;
	return power;
}

static int turns_fit(const pctl_plan_caps *caps, uint64_t turns)
{
	return caps->max_turns == 0 || turns <= caps->max_turns;
}

/* Groups of eight vectors of the packed factor i, of all its matrices. */
static uint64_t packed_groups(const fast *f, uint32_t i)
{
	const uint64_t matrices =
		kit_elements(&f->p->use->q->in[i]) / f->s->k / (i == 0 ? f->s->m : f->s->n);

	return matrices * parts(i == 0 ? f->s->m : f->s->n, f->cut->rows) * (f->cut->rows / 8);
}

static uint64_t packed_words(const fast *f, uint32_t i)
{
	return packed_groups(f, i) * 8 * parts(f->s->k, TERMS_PACKED) * TERMS_PACKED;
}

static int cut_fits(const fast *f, const cut *c)
{
	const pctl_plan_caps *caps = f->p->caps;

	return caps->max_invocations >= c->local && caps->max_workgroup_bytes >= c->memory &&
	       turns_fit(caps, power_of_two(parts(f->s->k, c->block)) * c->turns + 64);
}

/* Matrix units multiply whole tiles, of factors that were packed for it first. */
static void choose_units(fast *f, uint64_t batches)
{
	const matmul_shape *s = f->s;
	const cut *const before = f->cut;

	if (s->m < 32 || s->n < 32 || s->k < 16)
		return;
	f->cut = &matrix_units;
	if (parts(s->m, 128) * parts(s->n, 128) * batches < TILES_MANY || !cut_fits(f, f->cut))
		f->cut = &matrix_units_small;
	for (uint32_t i = 0; i < 2; i++)
		if (!cut_fits(f, f->cut) || packed_words(f, i) >= 0x80000000u ||
		    packed_words(f, i) * 4 > f->p->caps->max_binding_bytes)
			f->cut = before;
}

/* 0: not on this device, or not worth it. */
static int choose(fast *f)
{
	const pctl_plan_caps *caps = f->p->caps;
	const matmul_shape *s = f->s;
	const uint64_t batches = kit_elements(&s->out) / s->m / s->n;
	/* A slot: its terms, the lanes' digits, carrying and rounding. */
	const uint64_t settling = power_of_two(parts(s->k, 64)) * 2 + 3 * 64 + 8 * 20;
	const int is_exact = s->order == MATMUL_EXACT;
	const int is_processor = caps->device_kind == PCTL_DEVICE_CPU;
	const cut *const gpu = is_exact ? &gpus_f64 : &gpus_f32;

	/* Gas is priced by the plan of a device of no kind. */
	if (is_exact ? !PCTL_HAS(caps, pctl_plan_caps, proven) ||
			       !(caps->proven & PCTL_PLAN_PROVEN_F64)
		     : caps->device_kind == PCTL_DEVICE_OTHER)
		return 0;
	if (kit_elements(&s->out) < parts(PRODUCTS_LEAST, s->k + 1))
		return 0;
	f->cut = !is_processor ? gpu : is_exact ? &processors_f64 : &processors_f32;
	if (!cut_fits(f, f->cut))
		f->cut = gpu;
	if (is_exact && (caps->proven & PCTL_PLAN_PROVEN_F64_TILES))
		choose_units(f, batches);
	f->share = turns_fit(caps, 4 * 64 * settling + 512) ? 4 : 1;
	f->tiles = parts(s->m, f->cut->rows) * parts(s->n, f->cut->columns) * batches;
	f->slots = f->tiles * f->cut->rows * f->cut->columns;
	if (is_exact && (!turns_fit(caps, f->share * 64 * settling + 512) ||
			 !turns_fit(caps, power_of_two(parts(s->k, f->cut->norms / 2)) + 64)))
		return 0;
	return cut_fits(f, f->cut) && f->slots < 0x80000000u;
}

static const char *nearest(const tensor_float_format *format)
{
	if (format->dtype == PCTL_SCALAR_F16)
		return "fn nearest(x: f64) -> u32 {\n\treturn bitcast<u32>(vec2<f16>(f16(x), "
		       "0.0h));\n}\n";
	if (format->dtype == PCTL_SCALAR_BF16)
		return "fn nearest(x: f64) -> u32 {\n\treturn bitcast<u32>(vec2<bf16>(bf16(x), "
		       "bf16(0.0f)));\n}\n";
	return "fn nearest(x: f64) -> u32 {\n\treturn bitcast<u32>(f32(x));\n}\n";
}

static void add_codec(kit_wgsl *w, uint32_t dtype, const char *name)
{
	if (kit_codec_word(dtype) != NULL)
		kit_wgsl_named(w, kit_codec_word(dtype), name);
	kit_wgsl_named(w, kit_codec_bits(dtype), name);
}

#define BUFFER(name, binding, access, T) \
	"@group(0) @binding(" binding ") var<storage, " access "> " name ": array<" T ">;\n"
#define FACTORS BUFFER("a", "1", "read", "u32") BUFFER("b", "2", "read", "u32")
#define BOUND \
	BUFFER("norms_a", "4", "read", "vec2<f64>") BUFFER("norms_b", "5", "read", "vec2<f64>")
#define TEMP BUFFER("temp", "3", "read_write", "u32")

/* A text is compiled for each `steps`, so that their numbers are few. */
static void run(fast *f, const char *name, kit_wgsl *w, uint32_t local, uint64_t groups,
		uint64_t steps, const kit_slot *slots, uint32_t n_slots)
{
	kit_kernel kernel = {name, w->text, local, "steps", power_of_two(steps)};

	if (f->p->status == PCTL_OK)
		f->p->status = kit_wgsl_status(w);
	if (f->p->status == PCTL_OK)
		kit_run(f->p, &kernel, groups * local, slots, n_slots);
	kit_wgsl_free(w);
}

static void add_norms(const fast *f, kit_wgsl *w)
{
	kit_wgsl_add(w, f->cut->norms == 64 ? "const NORMS: u32 = 64u;\n"
					    : "const NORMS: u32 = 256u;\n");
}

static int is_matrix(const fast *f)
{
	return f->cut->step_type == NULL;
}

static const char *lanes_of(uint32_t i)
{
	return i == 0 ? "fn groups() -> u32 {\n\treturn groups_a();\n}\n"
			"fn vectors() -> u32 {\n\treturn params.m;\n}\n"
			"fn vector_step() -> u32 {\n\treturn params.a_row;\n}\n"
			"fn term_step() -> u32 {\n\treturn params.a_column;\n}\n"
			"fn of_four(i: u32) -> vec2<u32> {\n\treturn vec2<u32>(i / 4u, i % 4u * "
			"4u);\n}\n"
			"const NEXT = vec2<u32>(0u, 1u);\nconst OUTSIDE: u32 = 0u;\n"
		      : "fn groups() -> u32 {\n\treturn groups_b();\n}\n"
			"fn vectors() -> u32 {\n\treturn params.n;\n}\n"
			"fn vector_step() -> u32 {\n\treturn params.b_column;\n}\n"
			"fn term_step() -> u32 {\n\treturn params.b_row;\n}\n"
			"fn of_four(i: u32) -> vec2<u32> {\n\treturn vec2<u32>(i % 2u * 4u, i / "
			"2u);\n}\n"
			"const NEXT = vec2<u32>(1u, 0u);\nconst OUTSIDE: u32 = 0x80000000u;\n";
}

/* Factor i for matrix units, and the norms of its vectors. */
static void packed(fast *f, uint32_t i)
{
	static const char *const sharers[2] = {
		"fn sharer(v: u32, i: u32) -> u32 {\n\treturn i / 16u * 128u + v * 16u + i % "
		"16u;\n}\n",
		"fn sharer(v: u32, i: u32) -> u32 {\n\treturn i * 8u + v;\n}\n"};
	const uint64_t groups = packed_groups(f, i), steps = parts(f->s->k, TERMS_PACKED);
	const uint32_t packed = kit_temp(f->p, packed_words(f, i) * 4);
	kit_wgsl w = kit_wgsl_make(f->p->use, 16384);

	f->factors[i] = packed;
	f->norms[i] = kit_temp(f->p, groups * f->cut->norms * 16);
	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(&w, BUFFER("a", "1", "read", "u32")
				 BUFFER("packed", "2", "read_write", "vec4<u32>"));
	add_codec(&w, f->p->use->q->in[i].dtype, "a");
	kit_wgsl_add(&w, f->cut->head);
	kit_wgsl_add(&w, KERNEL_MATMUL_PACKED);
	kit_wgsl_add(&w, lanes_of(i));
	kit_wgsl_add(&w, KERNEL_MATMUL_PACK);
	run(f, "tensor/matmul_pack.wgsl", &w, 256, groups * steps, 1,
	    (kit_slot[]){KIT_ALL(f->params), KIT_ALL(kit_in(f->p, i)), KIT_ALL(packed)}, 3);
	w = kit_wgsl_make(f->p->use, 16384);
	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(&w, BUFFER("packed", "1", "read", "vec4<u32>")
				 BUFFER("norms", "2", "read_write", "vec2<f64>"));
	kit_wgsl_add(&w, LOOK);
	kit_wgsl_add(&w, f->cut->head);
	kit_wgsl_add(&w, KERNEL_MATMUL_PACKED);
	kit_wgsl_add(&w, sharers[i]);
	kit_wgsl_add(&w, KERNEL_MATMUL_PACK_NORMS);
	run(f, "tensor/matmul_pack_norms.wgsl", &w, 256, groups, steps,
	    (kit_slot[]){KIT_ALL(f->params), KIT_ALL(packed), KIT_ALL(f->norms[i])}, 3);
}

/* Of factor i: cut->norms entries for 8 vectors. */
static void norms(fast *f, uint32_t i)
{
	static const char *const vectors[2] = {
		"fn vectors() -> u32 {\n\treturn params.count / params.n;\n}\n"
		"fn vector(v: u32) -> u32 {\n\treturn place(v * params.n).x;\n}\n"
		"fn stride() -> u32 {\n\treturn params.a_column;\n}\n",
		"fn vectors() -> u32 {\n\treturn params.count / params.m;\n}\n"
		"fn vector(v: u32) -> u32 {\n"
		"\treturn place(v / params.n * params.m * params.n + v % params.n).y;\n}\n"
		"fn stride() -> u32 {\n\treturn params.b_row;\n}\n"};
	const uint64_t count = kit_elements(&f->s->out);
	const uint64_t groups = parts(count / (i == 0 ? f->s->n : f->s->m), 8);
	kit_wgsl w = kit_wgsl_make(f->p->use, 16384);

	f->norms[i] = kit_temp(f->p, groups * f->cut->norms * 16);
	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(&w, BUFFER("a", "1", "read", "u32")
				 BUFFER("norms", "2", "read_write", "vec2<f64>"));
	add_codec(&w, f->p->use->q->in[i].dtype, "a");
	add_norms(f, &w);
	kit_wgsl_add(&w, vectors[i]);
	kit_wgsl_add(&w, KERNEL_MATMUL_NORMS);
	run(f, "tensor/matmul_norms.wgsl", &w, f->cut->norms, groups,
	    parts(f->s->k, f->cut->norms / 2),
	    (kit_slot[]){KIT_ALL(f->params), KIT_ALL(kit_in(f->p, i)), KIT_ALL(f->norms[i])}, 3);
}

/* A product of two f32 is exact in f64, so that there product and sum are the bits of fma. */
static void add_step(const fast *f, kit_wgsl *w)
{
	const int fused = f->s->order == MATMUL_EXACT
				  ? (f->p->caps->proven & PCTL_PLAN_PROVEN_F64_FMA) != 0
				  : f->s->order != MATMUL_UNFUSED;

	kit_wgsl_named(w,
		       fused ? "fn step(a: $, b: $, acc: $) -> $ {\n\treturn fma(a, b, acc);\n}\n"
			     : "fn step(a: $, b: $, acc: $) -> $ {\n\treturn acc + a * b;\n}\n",
		       f->cut->step_type);
}

static void add_each(kit_wgsl *w, const char *text, uint32_t n)
{
	static const char *const numbers[] = {"0", "1", "2",  "3",  "4",  "5",	"6",  "7",
					      "8", "9", "10", "11", "12", "13", "14", "15"};

	for (uint32_t i = 0; i < n; i++)
		kit_wgsl_named(w, text, numbers[i]);
}

/* Two blocks a turn. */
static void add_matrix(const fast *f, kit_wgsl *w)
{
	static const char *const puts[2] = {KERNEL_MATMUL_TILE_MATRIX_PUT0,
					    KERNEL_MATMUL_TILE_MATRIX_PUT1};
	const uint32_t side = f->cut->rows, words = side / 64, results = side / 32 * (side / 32);
	const char *multiply = side == 128 ? KERNEL_MATMUL_TILE_MATRIX_MULTIPLY
					   : KERNEL_MATMUL_TILE_MATRIX_MULTIPLY_SMALL;

	kit_wgsl_add(w, KERNEL_MATMUL_TILE_MATRIX);
	add_each(w, KERNEL_MATMUL_TILE_MATRIX_WORD, words);
	add_each(w, KERNEL_MATMUL_TILE_MATRIX_SUM, results);
	add_each(w, puts[0], words);
	kit_wgsl_add(w, KERNEL_MATMUL_TILE_MATRIX_SEGMENT);
	for (uint32_t i = 0; i < 2; i++) {
		kit_wgsl_add(w, KERNEL_MATMUL_TILE_MATRIX_NEXT);
		add_each(w, KERNEL_MATMUL_TILE_MATRIX_FETCH, words);
		kit_wgsl_named(w, multiply, i == 0 ? "0" : "1");
		add_each(w, puts[1 - i], words);
		kit_wgsl_add(w, "\tworkgroupBarrier();\n");
	}
	kit_wgsl_add(w, "\t}\n\tif ((start + LOOK / 32u) * 32u < terms) {\n\tvar most = 0.0lf;\n");
	add_each(w, KERNEL_MATMUL_TILE_MATRIX_LOOK, results);
	kit_wgsl_add(w, "\tstarts += most;\n\t}\n\t}\n");
	add_each(w, KERNEL_MATMUL_TILE_MATRIX_END, results);
	kit_wgsl_add(w, "}\n");
}

/* What an f64 sum says of the result, and the norms that say it. */
static void add_bound(const fast *f, kit_wgsl *w)
{
	kit_wgsl_add(w, BOUND);
	kit_wgsl_add(w, nearest(f->s->format));
	kit_wgsl_add(w, KERNEL_MATMUL_BOUND);
	if (is_matrix(f)) {
		kit_wgsl_add(w, LOOK);
		kit_wgsl_add(w, KERNEL_MATMUL_PACKED);
		kit_wgsl_add(w, KERNEL_MATMUL_BOUND_MATRIX);
	} else {
		add_norms(f, w);
		kit_wgsl_add(w, KERNEL_MATMUL_BOUND_NORMS);
	}
}

static void tiles(fast *f)
{
	static const char *const chunks[MATMUL_ORDERS] = {
		"const CHUNK: u32 = 512u;\n", "const CHUNK: u32 = 0x80000000u;\n",
		"const CHUNK: u32 = 0x80000000u;\n", "const CHUNK: u32 = 256u;\n"};
	static const char *const unrolled[] = {"0", "1", "2", "3"};
	const kit_use *u = f->p->use;
	const int is_exact = f->s->order == MATMUL_EXACT;
	kit_wgsl w = kit_wgsl_make(u, 65536);

	if (is_matrix(f))
		kit_wgsl_add(&w,
			     "//# subgroup = 32\nenable chromium_experimental_subgroup_matrix;\n");
	if (f->s->format->dtype == PCTL_SCALAR_F16)
		kit_wgsl_add(&w, "enable f16;\n");
	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(&w, is_matrix(f) ? BUFFER("a", "1", "read", "vec4<u32>")
						BUFFER("b", "2", "read", "vec4<u32>") TEMP
				      : FACTORS TEMP);
	kit_wgsl_add(&w, chunks[f->s->order]);
	kit_wgsl_add(&w, f->cut->head);
	if (!is_matrix(f)) {
		add_codec(&w, u->q->in[0].dtype, "a");
		add_codec(&w, u->q->in[1].dtype, "b");
		add_step(f, &w);
	}
	if (is_exact) {
		add_bound(f, &w);
	} else {
		kit_wgsl_add(&w, "fn norm_a(z: u32, row: u32) -> u32 {\n\treturn 0u;\n}\n"
				 "fn norm_b(z: u32, column: u32) -> u32 {\n\treturn 0u;\n}\n"
				 "fn finish(x: f32, a: u32, b: u32) -> u32 {\n"
				 "\treturn bitcast<u32>(x);\n}\n");
	}
	kit_wgsl_add(&w, f->cut->layout);
	if (is_matrix(f))
		add_matrix(f, &w);
	else
		kit_wgsl_add(&w, f->cut->tile);
	for (uint32_t i = 0; f->cut->term != NULL && i < KIT_COUNT(unrolled); i++)
		kit_wgsl_named(&w, f->cut->term, unrolled[i]);
	if (f->cut->end != NULL)
		kit_wgsl_add(&w, f->cut->end);
	run(f, "tensor/matmul_tile.wgsl", &w, f->cut->local, f->tiles,
	    parts(f->s->k, f->cut->block),
	    (kit_slot[]){KIT_ALL(f->params), KIT_ALL(f->factors[0]), KIT_ALL(f->factors[1]),
			 KIT_ALL(f->temp), KIT_ALL(f->norms[0]), KIT_ALL(f->norms[1])},
	    is_exact ? 6 : 4);
}

static void settle(fast *f)
{
	const kit_use *u = f->p->use;
	kit_wgsl w = kit_wgsl_make(u, 32768);

	if (f->s->format->dtype == PCTL_SCALAR_F16)
		kit_wgsl_add(&w, "enable f16;\n");
	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(&w, FACTORS BUFFER("temp", "3", "read", "u32")
				 BUFFER("y", "6", "read_write", "u32"));
	kit_wgsl_add(&w, f->share == 4 ? "const SHARE: u32 = 4u;\n" : "const SHARE: u32 = 1u;\n");
	kit_wgsl_add(&w, f->s->format->dtype == PCTL_SCALAR_F32 ? "const PER: u32 = 1u;\n"
								: "const PER: u32 = 2u;\n");
	kit_wgsl_add(&w, f->s->format->text);
	kit_wgsl_add(&w, "fn sum_scale() -> bool {\n\treturn false;\n}\n");
	kit_wgsl_add(&w, KERNEL_EXACT_SUM);
	kit_wgsl_add(&w, f->cut->head);
	kit_wgsl_add(&w, f->cut->layout);
	kit_wgsl_add(&w, "const CHUNK: u32 = 512u;\n");
	add_bound(f, &w);
	if (is_matrix(f)) {
		kit_wgsl_add(&w, KERNEL_MATMUL_PACKED_FACTORS);
	} else {
		add_codec(&w, u->q->in[0].dtype, "a");
		add_codec(&w, u->q->in[1].dtype, "b");
		kit_wgsl_add(&w, KERNEL_MATMUL_FACTORS);
	}
	kit_wgsl_add(&w, KERNEL_MATMUL_SETTLE);
	kit_wgsl_add(&w, KERNEL_MATMUL_SETTLE_MAIN);
	run(f, "tensor/matmul_settle.wgsl", &w, 64,
	    parts(kit_elements(&f->s->out), 64 * (uint64_t)f->share), parts(f->s->k, 64),
	    (kit_slot[]){KIT_ALL(f->params), KIT_ALL(f->factors[0]), KIT_ALL(f->factors[1]),
			 KIT_ALL(f->temp), KIT_ALL(f->norms[0]), KIT_ALL(f->norms[1]),
			 KIT_ALL(kit_out(f->p, 0))},
	    7);
}

/* Orders that are not exact have results of f32. */
static void gather(fast *f)
{
	kit_wgsl w = kit_wgsl_make(f->p->use, 16384);

	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(&w, BUFFER("temp", "1", "read", "u32") BUFFER("y", "2", "read_write", "u32"));
	kit_wgsl_add(&w, f->cut->head);
	kit_wgsl_add(&w, f->cut->layout);
	kit_wgsl_add(&w, KERNEL_MATMUL_GATHER);
	kit_wgsl_add(&w, KERNEL_RESULT_WORDS);
	run(f, "tensor/matmul_gather.wgsl", &w, 64, parts(kit_elements(&f->s->out), 64), 1,
	    (kit_slot[]){KIT_ALL(f->params), KIT_ALL(f->temp), KIT_ALL(kit_out(f->p, 0))}, 3);
}

int matmul_fast(kit_plan *p, const matmul_shape *s, uint32_t params)
{
	fast f = {.p = p, .s = s, .params = params};

	/* What is packed is read by the one kernel that knows it. */
	if (s->format == NULL || kit_dtype_bytes(p->use->q->in[1].dtype) == 0 || !choose(&f))
		return 0;
	for (uint32_t i = 0; i < 2; i++) {
		f.factors[i] = kit_in(p, i);
		if (is_matrix(&f))
			packed(&f, i);
		else if (s->order == MATMUL_EXACT)
			norms(&f, i);
	}
	f.temp = kit_temp(p, f.slots * 4);
	tiles(&f);
	if (s->order == MATMUL_EXACT)
		settle(&f);
	else
		gather(&f);
	return 1;
}
