/* tensor.matmul in tiles. Order exact goes by f64 sums with a bound of their error (SEMANTICS.md 4.4): norms of rows and columns, tiles, the
 * result out of its tiles with the marked elements settled by exact integer sums; the other orders by their own f32 sums in the same tiles. Which way
 * is taken never changes a bit. */
#include "matmul_fast.h"

#include "kernels.h"

enum { SQUARE = 1, PACKED }; /* of PCTL_TUNABLE_MATMUL_TILES */

/* Fewer products than this are done sooner by one kernel than by five. */
#define PRODUCTS_LEAST 8192u

#define PROCESSOR                                                               \
	KERNEL_MATMUL_CPU, KERNEL_MATMUL_TILE_CPU, KERNEL_MATMUL_TILE_CPU_TERM, \
		KERNEL_MATMUL_TILE_CPU_END
#define GPU KERNEL_MATMUL_GPU, KERNEL_MATMUL_TILE_GPU, NULL, NULL
static const matmul_cut processors_f64 = {MATMUL_TILES_PLAIN,
					  PROCESSOR,
					  "alias Acc = f64;\nconst LANES: u32 = 8u;\n",
					  "f64",
					  8,
					  64,
					  16384,
					  32,
					  32,
					  32,
					  33 + 8 * 26};
static const matmul_cut processors_f32 = {MATMUL_TILES_PLAIN,
					  PROCESSOR,
					  "alias Acc = f32;\nconst LANES: u32 = 16u;\n",
					  "f32",
					  16,
					  64,
					  16384,
					  32,
					  64,
					  32,
					  33 + 8 * 18};
static const matmul_cut processors_u32 = {MATMUL_TILES_PLAIN,
					  PROCESSOR,
					  "alias Acc = u32;\nconst LANES: u32 = 16u;\n",
					  "u32",
					  16,
					  64,
					  16384,
					  32,
					  64,
					  32,
					  33 + 8 * 18};
/* Integers of a byte as f32, in which sums of so few products are exact; a processor multiplies these faster than integers. */
static const matmul_cut processors_bytes = {MATMUL_TILES_PLAIN,
					    PROCESSOR,
					    "alias Acc = f32;\nconst LANES: u32 = 16u;\n",
					    "f32",
					    16,
					    64,
					    16384,
					    32,
					    64,
					    32,
					    33 + 8 * 18};
static const matmul_cut gpus_u32 = {MATMUL_TILES_PLAIN,
				    GPU,
				    "alias Acc = u32;\n",
				    "vec4<u32>",
				    256,
				    256,
				    16384,
				    64,
				    64,
				    16,
				    21};
static const matmul_cut gpus_f64 = {MATMUL_TILES_PLAIN,
				    GPU,
				    "alias Acc = f64;\n",
				    "vec4<f64>",
				    256,
				    256,
				    16384,
				    64,
				    64,
				    16,
				    21};
static const matmul_cut gpus_f32 = {MATMUL_TILES_PLAIN,
				    GPU,
				    "alias Acc = f32;\n",
				    "vec4<f32>",
				    256,
				    256,
				    16384,
				    64,
				    64,
				    16,
				    21};
static int is_exact(const matmul_fast_plan *f)
{
	return f->s->order == MATMUL_EXACT && f->s->format != NULL;
}

/* 0: not on this device, or not worth it. */
static int is_worth(const matmul_fast_plan *f)
{
	const pctl_plan_caps *caps = f->p->caps;

	/* Gas is priced by the plan of a device of no kind. */
	if (is_exact(f) ? !PCTL_HAS(caps, pctl_plan_caps, proven) ||
				  !(caps->proven & PCTL_PLAN_PROVEN_F64)
			: caps->device_kind == PCTL_DEVICE_OTHER)
		return 0;
	return kit_elements(&f->s->out) >= matmul_parts(PRODUCTS_LEAST, f->s->k + 1);
}

/* Turns of a lane over the terms of an element. Of a model's shapes on a processor one text does for all, since it takes longer to compile than to run. */
static uint64_t settle_turns(const matmul_fast_plan *f)
{
	const uint64_t n =
		matmul_parts(f->s->k * (kit_codec_is_pair(f->p->use->q->in[1].dtype) ? 2 : 1), 64);

	return n < 64 && f->p->caps->device_kind == PCTL_DEVICE_CPU && matmul_thin_by_words(f) ? 64
											       : n;
}

/* How many elements an invocation looks after; 0: the device ends loops before one is settled. */
static int settles(matmul_fast_plan *f)
{
	/* A slot: its terms, the lanes' digits, carrying and rounding. */
	const uint64_t settling = matmul_steps(settle_turns(f)) * 2 + 3 * 64 + 8 * 20;

	f->share = kit_tunable(f->p, PCTL_TUNABLE_MATMUL_SETTLE) != 1 &&
				   matmul_turns_fit(f->p->caps, 4 * 64 * settling + 512)
			   ? 4
			   : 1;
	return matmul_turns_fit(f->p->caps, f->share * 64 * settling + 512);
}

/* Where f64 is the device's own so, as a rule, is f32; no bit hangs on it. */
static int are_bytes(const matmul_fast_plan *f)
{
	const pctl_tensor_type *in = f->p->use->q->in;

	return kit_dtype_bytes(in[0].dtype) == 1 && kit_dtype_bytes(in[1].dtype) == 1 &&
	       tensor_has_f64(f->p);
}

/* Cut into tiles; 0: they are not for this device. */
static int choose(matmul_fast_plan *f)
{
	const pctl_plan_caps *caps = f->p->caps;
	const matmul_shape *s = f->s;
	const uint64_t batches = kit_elements(&s->out) / s->m / s->n;
	const int is_processor = caps->device_kind == PCTL_DEVICE_CPU;
	const uint32_t how = kit_tunable(f->p, PCTL_TUNABLE_MATMUL_TILES);
	const matmul_cut *const gpu = is_exact(f)	  ? &gpus_f64
				      : s->format != NULL ? &gpus_f32
							  : &gpus_u32;

	f->cut = !is_processor	     ? gpu
		 : is_exact(f)	     ? &processors_f64
		 : s->format != NULL ? &processors_f32
		 : are_bytes(f)	     ? &processors_bytes
				     : &processors_u32;
	if (!matmul_cut_fits(f, f->cut) || (how == SQUARE && matmul_cut_fits(f, gpu)))
		f->cut = gpu;
	/* As if there were many tiles. */
	if (how == PACKED && !is_exact(f))
		matmul_choose_packed(f, 1u << 16);
	else if (how != SQUARE && (is_exact(f) ? (caps->proven & PCTL_PLAN_PROVEN_F64_TILES) != 0
					       : !is_processor && f->cut == gpu))
		matmul_choose_packed(f, batches);
	f->tiles = matmul_parts(s->m, f->cut->rows) * matmul_parts(s->n, f->cut->columns) * batches;
	f->slots = f->tiles * f->cut->rows * f->cut->columns;
	if (is_exact(f) &&
	    !matmul_turns_fit(caps, matmul_steps(matmul_parts(s->k, f->cut->norms / 2)) + 64))
		return 0;
	return matmul_cut_fits(f, f->cut) && f->slots < 0x80000000u;
}

#define FACTORS MATMUL_BUFFER("a", "1", "read", "u32") MATMUL_BUFFER("b", "2", "read", "u32")
#define BOUND                                              \
	MATMUL_BUFFER("norms_a", "4", "read", "vec2<f64>") \
	MATMUL_BUFFER("norms_b", "5", "read", "vec2<f64>")
#define BOUND_THIN                                         \
	MATMUL_BUFFER("norms_a", "4", "read", "vec2<f64>") \
	MATMUL_BUFFER("norms_b", "5", "read", "f64")
#define TEMP MATMUL_BUFFER("temp", "3", "read_write", "u32")

static void add_norms(const matmul_fast_plan *f, kit_wgsl *w)
{
	kit_wgsl_add(w, f->cut->norms == 64 ? "const NORMS: u32 = 64u;\n"
					    : "const NORMS: u32 = 256u;\n");
}

/* Of factor i: cut->norms entries for 8 vectors. */
void matmul_norms(matmul_fast_plan *f, uint32_t i)
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
	const uint64_t groups = matmul_parts(count / (i == 0 ? f->s->n : f->s->m), 8);
	kit_wgsl w = kit_wgsl_make(f->p->use, 16384);

	f->norms[i] = kit_temp(f->p, groups * f->cut->norms * 16);
	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(&w, MATMUL_BUFFER("a", "1", "read", "u32")
				 MATMUL_BUFFER("norms", "2", "read_write", "vec2<f64>"));
	matmul_add_codec(&w, f->p->use->q->in[i].dtype, "a");
	add_norms(f, &w);
	kit_wgsl_add(&w, vectors[i]);
	kit_wgsl_add(&w, KERNEL_MATMUL_NORMS);
	matmul_run(f, "tensor/matmul_norms.wgsl", &w, f->cut->norms, groups,
		   matmul_parts(f->s->k, f->cut->norms / 2),
		   (kit_slot[]){KIT_ALL(f->params), f->in[i], KIT_ALL(f->norms[i])}, 3);
}

/* A product of two f32 is exact in f64, so that there product and sum are the bits of fma. */
static void add_step(const matmul_fast_plan *f, kit_wgsl *w)
{
	const int fused = f->s->format == NULL ? f->cut == &processors_bytes
			  : f->s->order == MATMUL_EXACT
				  ? (f->p->caps->proven & PCTL_PLAN_PROVEN_F64_FMA) != 0
				  : f->s->order != MATMUL_UNFUSED;

	kit_wgsl_named(w,
		       fused ? "fn step(a: $, b: $, acc: $) -> $ {\n\treturn fma(a, b, acc);\n}\n"
			     : "fn step(a: $, b: $, acc: $) -> $ {\n\treturn acc + a * b;\n}\n",
		       f->cut->step_type);
}

/* What an f64 sum says of the result, and the norms that say it. */
static void add_bound(const matmul_fast_plan *f, kit_wgsl *w)
{
	kit_wgsl_add(w, f->cut->tiles == MATMUL_TILES_THIN ? BOUND_THIN : BOUND);
	kit_wgsl_add(w, tensor_nearest(f->s->format));
	kit_wgsl_add(w, KERNEL_WITHIN);
	kit_wgsl_add(w, KERNEL_MATMUL_BOUND);
	if (f->cut->tiles == MATMUL_TILES_UNITS) {
		kit_wgsl_add(w, MATMUL_LOOK);
		kit_wgsl_add(w, KERNEL_MATMUL_PACKED);
		kit_wgsl_add(w, KERNEL_MATMUL_BOUND_MATRIX);
	} else {
		add_norms(f, w);
		if (f->cut->tiles != MATMUL_TILES_THIN)
			kit_wgsl_add(w, KERNEL_MATMUL_BOUND_NORMS);
	}
}

/* Elements as tiles add them up: integers as they are, floats by their bits. */
static void add_values(const matmul_fast_plan *f, kit_wgsl *w)
{
	static const char *const names[2] = {"a", "b"};

	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t dtype = f->p->use->q->in[i].dtype;

		if (f->s->format != NULL) {
			matmul_add_codec(w, dtype, names[i]);
			continue;
		}
		kit_wgsl_named(w, kit_codec_word(dtype), names[i]);
		kit_wgsl_named(w, "fn $_bits(i: u32) -> u32 {\n\treturn $_word(i);\n}\n", names[i]);
	}
	kit_wgsl_add(
		w, f->s->format != NULL
			   ? "fn value(bits: u32) -> Acc {\n\treturn Acc(bitcast<f32>(bits));\n}\n"
		   : f->cut == &processors_bytes
			   ? "fn value(bits: u32) -> Acc {\n\treturn f32(bitcast<i32>(bits));\n}\n"
			   : "fn value(bits: u32) -> Acc {\n\treturn bits;\n}\n");
}

/* A stride of 1 is none, so that a compiler sees what lies side by side. */
static void add_places(const matmul_fast_plan *f, kit_wgsl *w)
{
	const matmul_shape *s = f->s;

	kit_wgsl_add(w, "fn a_place(row: u32, k: u32) -> u32 {\n\treturn ");
	kit_wgsl_add(w, s->a_column == 1 ? "row * params.a_row + k;\n}\n"
					 : "row * params.a_row + k * params.a_column;\n}\n");
	kit_wgsl_add(w, "fn b_place(k: u32, column: u32) -> u32 {\n\treturn ");
	kit_wgsl_add(w, s->b_column == 1 ? "k * params.b_row + column;\n}\n"
					 : "k * params.b_row + column * params.b_column;\n}\n");
}

/* What sums of CHUNK terms are added up as. */
static void add_totals(const matmul_fast_plan *f, kit_wgsl *w)
{
	if (f->cut == &processors_bytes)
		kit_wgsl_add(w, "alias Total = u32;\nfn whole(x: Acc) -> Total {\n"
				"\treturn u32(i32(x));\n}\n");
	else if (f->cut->term != NULL)
		kit_wgsl_add(w, "alias Total = Acc;\nfn whole(x: Acc) -> Total {\n"
				"\treturn x;\n}\n");
}

static int is_packed(const matmul_fast_plan *f)
{
	return f->cut->tiles != MATMUL_TILES_PLAIN;
}

static void tiles(matmul_fast_plan *f)
{
	static const char *const chunks[MATMUL_ORDERS] = {
		"const CHUNK: u32 = 512u;\n", "const CHUNK: u32 = 0x80000000u;\n",
		"const CHUNK: u32 = 0x80000000u;\n", "const CHUNK: u32 = 256u;\n"};
	static const char *const unrolled[] = {"0", "1", "2", "3"};
	const kit_use *u = f->p->use;
	kit_wgsl w = kit_wgsl_make(u, 65536);

	if (f->cut->tiles == MATMUL_TILES_UNITS)
		kit_wgsl_add(&w,
			     "//# subgroup = 32\nenable chromium_experimental_subgroup_matrix;\n");
	if (is_exact(f) && f->s->format->dtype == PCTL_SCALAR_F16)
		kit_wgsl_add(&w, "enable f16;\n");
	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(&w, is_packed(f) ? MATMUL_BUFFER("a", "1", "read", "vec4<u32>")
						MATMUL_BUFFER("b", "2", "read", "vec4<u32>") TEMP
				      : FACTORS TEMP);
	/* 2^10 products of signed bytes are within 2^24, as are 2^8 of bytes without a sign. */
	kit_wgsl_add(&w, f->cut != &processors_bytes	      ? chunks[f->s->order]
			 : f->s->out.dtype == PCTL_SCALAR_I32 ? "const CHUNK: u32 = 1024u;\n"
							      : "const CHUNK: u32 = 256u;\n");
	kit_wgsl_add(&w, f->cut->head);
	if (!is_packed(f))
		add_values(f, &w);
	if (f->cut->step_type != NULL && !(is_packed(f) && f->s->format == NULL))
		add_step(f, &w);
	if (is_exact(f)) {
		add_bound(f, &w);
	} else if (!is_packed(f)) {
		kit_wgsl_add(&w, "fn norm_a(z: u32, row: u32) -> u32 {\n\treturn 0u;\n}\n"
				 "fn norm_b(z: u32, column: u32) -> u32 {\n\treturn 0u;\n}\n");
		kit_wgsl_named(&w,
			       "fn finish(x: $, a: u32, b: u32) -> u32 {\n"
			       "\treturn bitcast<u32>(x);\n}\n",
			       f->cut->term != NULL ? "Total" : "Acc");
	}
	add_totals(f, &w);
	if (f->cut->term != NULL)
		add_places(f, &w);
	matmul_add_layout(f, &w);
	if (f->cut->tiles == MATMUL_TILES_UNITS)
		matmul_add_units(&w);
	else if (f->cut->tiles == MATMUL_TILES_WIDE)
		matmul_add_wide(f, &w);
	else
		kit_wgsl_add(&w, f->cut->tile);
	for (uint32_t i = 0; f->cut->term != NULL && i < KIT_COUNT(unrolled); i++)
		kit_wgsl_named(&w, f->cut->term, unrolled[i]);
	if (f->cut->end != NULL)
		kit_wgsl_add(&w, f->cut->end);
	matmul_run(f, "tensor/matmul_tile.wgsl", &w, f->cut->local, f->tiles,
		   matmul_parts(f->s->k, f->cut->block),
		   (kit_slot[]){KIT_ALL(f->params), f->factors[0], f->factors[1], KIT_ALL(f->temp),
				KIT_ALL(f->norms[0]), KIT_ALL(f->norms[1])},
		   is_exact(f) ? 6 : 4);
}

/* Two elements of 16 bits, the second where there is one. */
#define HALVES_THROUGH                                                               \
	"fn halves_through(e: u32, word: u32) -> u32 {\n"                            \
	"\tvar bits = word;\n\tvar both = 0u;\n"                                     \
	"\tfor (var half = 0u; half < 2u; half++) {\n"                               \
	"\t\tif (e + half < params.count) {\n"                                       \
	"\t\t\tboth |= write_through_0(e + half, bits & 0xffffu) << (16u * half);\n" \
	"\t\t}\n\t\tbits >>= 16u;\n\t}\n\treturn both;\n}\n"

static void settle(matmul_fast_plan *f)
{
	const kit_use *u = f->p->use;
	const int is_pair = kit_codec_is_pair(u->q->in[1].dtype);
	const uint64_t each = 64 * (uint64_t)f->share;
	const uint64_t groups = matmul_parts(kit_elements(&f->s->out), each);
	const uint64_t across = matmul_parts(f->s->n, each);
	const uint64_t grid[2] = {matmul_parts(groups, across), across};
	const int by_columns = f->cut->tiles == MATMUL_TILES_UNITS && matmul_has_grid(f, grid);
	kit_wgsl w = kit_wgsl_make(u, 32768);

	if (f->s->format->dtype == PCTL_SCALAR_F16)
		kit_wgsl_add(&w, "enable f16;\n");
	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(&w, FACTORS MATMUL_BUFFER("temp", "3", "read", "u32")
				 MATMUL_BUFFER("y", "6", "read_write", "u32"));
	kit_wgsl_add(&w, f->share == 4 ? "const SHARE: u32 = 4u;\n" : "const SHARE: u32 = 1u;\n");
	kit_wgsl_add(&w, f->s->format->dtype == PCTL_SCALAR_F32 ? "const PER: u32 = 1u;\n"
								: "const PER: u32 = 2u;\n");
	kit_wgsl_add(&w, f->s->format->text);
	kit_wgsl_add(&w, "fn sum_scale() -> bool {\n\treturn false;\n}\n");
	kit_wgsl_add(&w, KERNEL_EXACT_SUM);
	kit_wgsl_add(&w, f->cut->head);
	kit_wgsl_add(&w, "const CHUNK: u32 = 512u;\n");
	add_bound(f, &w);
	if (f->cut->tiles == MATMUL_TILES_THIN)
		matmul_add_thin(f, &w);
	else
		matmul_add_layout(f, &w);
	if (f->cut->tiles == MATMUL_TILES_UNITS) {
		kit_wgsl_add(&w, KERNEL_MATMUL_PACKED_FACTORS);
	} else {
		kit_wgsl_factor(&w, u->q->in[0].dtype, "a");
		kit_wgsl_factor(&w, u->q->in[1].dtype, "b");
		kit_wgsl_add(&w, is_pair ? KERNEL_MATMUL_FACTORS_PAIR : KERNEL_MATMUL_FACTORS);
	}
	kit_wgsl_add(&w, KERNEL_MATMUL_SETTLE);
	if (by_columns)
		matmul_number(&w, "SHARES", (uint32_t)grid[1]);
	kit_wgsl_add(&w, by_columns ? KERNEL_MATMUL_SETTLE_COLUMNS : KERNEL_MATMUL_SETTLE_ROWS);
	if (matmul_writes(f->p) && f->s->format->dtype != PCTL_SCALAR_F32)
		kit_wgsl_add(&w, HALVES_THROUGH);
	kit_wgsl_named(&w, KERNEL_MATMUL_SETTLE_MAIN,
		       !matmul_writes(f->p) ? "word"
		       : f->s->format->dtype == PCTL_SCALAR_F32
			       ? "write_through_0(whole * WORDS + w, word)"
			       : "halves_through(base + w * PER, word)");
	f->writes = 1;
	matmul_run_grid(f, "tensor/matmul_settle.wgsl", &w, 64,
			by_columns ? grid : (const uint64_t[]){groups, 0}, settle_turns(f),
			(kit_slot[]){KIT_ALL(f->params), f->factors[0], f->factors[1],
				     KIT_ALL(f->temp), KIT_ALL(f->norms[0]), KIT_ALL(f->norms[1]),
				     f->out},
			7);
}

/* Where no element can be in doubt, results have 32 bits. */
static void gather(matmul_fast_plan *f)
{
	kit_wgsl w = kit_wgsl_make(f->p->use, 16384);

	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(&w, MATMUL_BUFFER("temp", "1", "read", "u32")
				 MATMUL_BUFFER("y", "2", "read_write", "u32"));
	kit_wgsl_add(&w, f->cut->head);
	matmul_add_layout(f, &w);
	kit_wgsl_named(
		&w, KERNEL_MATMUL_GATHER,
		matmul_writes(f->p)
			? "write_through_0(base + i * 64u + lane, temp[slot_of(e.x, e.y, e.z)])"
			: "temp[slot_of(e.x, e.y, e.z)]");
	f->writes = 1;
	matmul_run(f, "tensor/matmul_gather.wgsl", &w, 64,
		   matmul_parts(kit_elements(&f->s->out), 256), 1,
		   (kit_slot[]){KIT_ALL(f->params), KIT_ALL(f->temp), f->out}, 3);
}

int matmul_fast(kit_plan *p, const matmul_shape *s, uint32_t params, const kit_slot *slots)
{
	matmul_fast_plan f = {.p = p,
			      .s = s,
			      .params = params,
			      .in = {slots[0], slots[1]},
			      .out = slots[2],
			      .factors = {slots[0], slots[1]}};
	matmul_shape joined;

	if (kit_dtype_bytes(s->out.dtype) == 8 || !is_worth(&f) || (is_exact(&f) && !settles(&f)))
		return 0;
	if (matmul_bytes(&f))
		return 1;
	/* Factors are read once where they are packed, and nowhere else. */
	if (matmul_reads(p) != 0) {
		if (kit_dtype_bytes(p->use->q->in[1].dtype) == 0 || !choose(&f) || !is_packed(&f))
			return 0;
	} else if (is_exact(&f) && matmul_gemv(&f)) {
		return 1;
	} else if (is_exact(&f) && matmul_thin(&f)) {
		settle(&f);
		return 1;
	}
	if (matmul_byte_joined(&f, &joined)) {
		f.s = &joined;
		f.params = matmul_params(p, &joined);
	}
	/* Tiles do not know what is packed. */
	if (kit_dtype_bytes(p->use->q->in[1].dtype) == 0 || !choose(&f))
		return 0;
	for (uint32_t i = 0; i < 2; i++) {
		if (is_packed(&f))
			matmul_pack(&f, i);
		else if (is_exact(&f))
			matmul_norms(&f, i);
	}
	if (f.cut->tiles == MATMUL_TILES_BYTES && matmul_byte_rows(&f))
		return 1;
	f.temp = kit_temp(p, f.slots * 4);
	if (f.cut->tiles == MATMUL_TILES_BYTES)
		matmul_byte_tiles(&f);
	else
		tiles(&f);
	if (is_exact(&f))
		settle(&f);
	else
		gather(&f);
	return 1;
}
