/* tensor.matmul in tiles of packed factors: of matrix units, which add up in f64, or of bytes (matmul_byte_tiles.c), or, in the order of terms, of invocations that hold eight by eight
 * sums. A kernel lays each factor out as tiles go through it, so that their loop has neither strides nor bounds. */
#include "matmul_fast.h"

#include "kernels.h"

static const matmul_cut units = {MATMUL_TILES_UNITS,
				 KERNEL_MATMUL_MATRIX,
				 NULL,
				 NULL,
				 NULL,
				 "const SIDE: u32 = 64u;\n",
				 NULL,
				 128,
				 256,
				 22528,
				 64,
				 64,
				 32,
				 8};
#define UNITS_WORDS 2u	 /* vectors of a block that an invocation fetches of a factor */
#define UNITS_RESULTS 8u /* of a subgroup */
static const matmul_cut wide = {MATMUL_TILES_WIDE,
				KERNEL_MATMUL_WIDE,
				NULL,
				NULL,
				NULL,
				"",
				"vec4<f32>",
				256,
				256,
				16384,
				128,
				128,
				16,
				1};
#define WIDE_TILES_LEAST 48u

int matmul_of_bytes(const matmul_fast_plan *f)
{
	const pctl_tensor_type *in = f->p->use->q->in;

	return f->s->format == NULL && kit_dtype_bytes(in[0].dtype) == 1 &&
	       kit_dtype_bytes(in[1].dtype) == 1;
}

static uint64_t vectors(const matmul_fast_plan *f, uint32_t i)
{
	return i == 0 ? f->s->m : f->s->n;
}

/* Of packed factor i: its matrices' vectors, whole tiles of them, and terms. */
static uint64_t packed_vectors(const matmul_fast_plan *f, uint32_t i)
{
	const uint64_t n = vectors(f, i), side = f->cut->rows;

	return kit_elements(&f->p->use->q->in[i]) / f->s->k / n * matmul_parts(n, side) * side;
}

static uint64_t packed_terms(const matmul_fast_plan *f)
{
	const uint64_t whole = f->cut->tiles == MATMUL_TILES_UNITS ? 128 : 16;

	return matmul_parts(matmul_parts(f->s->k, matmul_of_bytes(f) ? 4 : 1), whole) * whole;
}

static uint64_t packed_words(const matmul_fast_plan *f, uint32_t i)
{
	return packed_vectors(f, i) * packed_terms(f);
}

void matmul_choose_packed(matmul_fast_plan *f, uint64_t batches)
{
	const matmul_shape *s = f->s;
	const matmul_cut *const before = f->cut;
	const uint64_t tiles = matmul_parts(s->m, 128) * matmul_parts(s->n, 128) * batches;

	if (s->m < 32 || s->n < 32 || s->k < 16)
		return;
	if (matmul_byte_cut(f) != NULL)
		f->cut = matmul_byte_cut(f);
	else if (s->order == MATMUL_EXACT && s->format != NULL)
		f->cut = &units;
	else if (tiles >= WIDE_TILES_LEAST)
		f->cut = &wide;
	for (uint32_t i = 0; i < 2 && f->cut != before; i++)
		if (!matmul_cut_fits(f, f->cut) || packed_words(f, i) >= 0x80000000u ||
		    packed_words(f, i) * 4 > f->p->caps->max_binding_bytes)
			f->cut = before;
}

/* ---- packing -------------------------------------------------------------------------------- */

#define FUNCTION(name, e) "fn " name "() -> u32 {\n\treturn " e ";\n}\n"
static const char *const steps_of[2] = {
	FUNCTION("vectors", "params.m") FUNCTION("vector_step", "params.a_row")
		FUNCTION("term_step", "params.a_column") "const OUTSIDE: u32 = 0u;\n",
	FUNCTION("vectors", "params.n") FUNCTION("vector_step", "params.b_column")
		FUNCTION("term_step", "params.b_row") "const OUTSIDE: u32 = 0x80000000u;\n"};
#define NEXT_TERM "const NEXT = vec3<u32>(0u, 0u, 1u);\n"
#define NEXT_VECTOR "const NEXT = vec3<u32>(0u, 1u, 0u);\n"
#define OF_FOUR(place) "fn of_four(i: u32) -> vec2<u32> {\n\treturn vec2<u32>(" place ");\n}\n"
static const char *terms_of(const matmul_fast_plan *f)
{
	return matmul_of_bytes(f) ? FUNCTION("terms", "(params.k + 3u) / 4u")
				  : FUNCTION("terms", "params.k");
}

void matmul_add_panels(const matmul_fast_plan *f, kit_wgsl *w)
{
	kit_wgsl_add(w, terms_of(f));
	kit_wgsl_add(w, KERNEL_MATMUL_PACKED_WIDE);
}

static const char *const eights_of[2] = {
	FUNCTION("groups", "groups_a()") OF_FOUR("i / 4u, i % 4u * 4u") NEXT_TERM,
	FUNCTION("groups", "groups_b()") OF_FOUR("i % 2u * 4u, i / 2u") NEXT_VECTOR};
static const char *const sharers[2] = {
	"fn sharer(v: u32, i: u32) -> u32 {\n\treturn i / 16u * 128u + v * 16u + i % 16u;\n}\n",
	"fn sharer(v: u32, i: u32) -> u32 {\n\treturn i * 8u + v;\n}\n"};

static void norms(matmul_fast_plan *f, uint32_t i)
{
	const uint64_t groups = packed_vectors(f, i) / 8;
	kit_wgsl w = kit_wgsl_make(f->p->use, 16384);

	f->norms[i] = kit_temp(f->p, groups * f->cut->norms * 16);
	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(&w, MATMUL_BUFFER("packed", "1", "read", "vec4<u32>")
				 MATMUL_BUFFER("norms", "2", "read_write", "vec2<f64>"));
	kit_wgsl_add(&w, MATMUL_LOOK);
	kit_wgsl_add(&w, f->cut->head);
	kit_wgsl_add(&w, KERNEL_MATMUL_PACKED);
	kit_wgsl_add(&w, sharers[i]);
	kit_wgsl_add(&w, KERNEL_MATMUL_PACK_NORMS);
	matmul_run(f, "tensor/matmul_pack_norms.wgsl", &w, 256, groups, packed_terms(f) / 128,
		   (kit_slot[]){KIT_ALL(f->params), f->factors[i], KIT_ALL(f->norms[i])}, 3);
}

/* A factor's elements, from where they lie or through a function of the host: packing reads each once. */
static void add_factor(const matmul_fast_plan *f, uint32_t i, kit_wgsl *w)
{
	const uint32_t dtype = f->p->use->q->in[i].dtype;

	if (f->p->through & PCTL_PLAN_READ_THROUGH(i)) {
		kit_wgsl_through(w, dtype, "a", i);
		return;
	}
	kit_wgsl_add(w, MATMUL_BUFFER("a", "1", "read", "u32"));
	if (f->s->format == NULL)
		kit_wgsl_named(w, kit_codec_word(dtype), "a");
	else
		matmul_add_codec(w, dtype, "a");
}

/* Words of which factor i's vectors, or its terms, have four elements each, as they lie. */
enum { BYTES_ANYHOW, BYTES_OF_TERMS, BYTES_OF_VECTORS };
static int bytes_lie(const matmul_fast_plan *f, uint32_t i)
{
	const matmul_shape *s = f->s;

	if (f->p->through & PCTL_PLAN_READ_THROUGH(i))
		return BYTES_ANYHOW;
	if ((i == 0 ? s->a_column : s->b_row) == 1 && s->k % 4 == 0)
		return BYTES_OF_TERMS;
	return (i == 0 ? s->a_row : s->b_column) == 1 && vectors(f, i) % 4 == 0 ? BYTES_OF_VECTORS
										: BYTES_ANYHOW;
}

/* An element of a packed factor. */
static const char *word_of(const matmul_fast_plan *f, uint32_t i)
{
	if (f->s->format != NULL)
		return KERNEL_MATMUL_PACK_BITS;
	if (!matmul_of_bytes(f))
		return KERNEL_MATMUL_PACK_WORDS;
	return bytes_lie(f, i) == BYTES_OF_TERMS ? KERNEL_MATMUL_PACK_WHOLE
						 : KERNEL_MATMUL_PACK_BYTES;
}

/* Do four words of factor i that are packed behind each other lie so? */
static int are_fours(const matmul_fast_plan *f, uint32_t i)
{
	const matmul_shape *s = f->s;

	return f->cut->tiles == MATMUL_TILES_UNITS &&
	       f->p->use->q->in[i].dtype == PCTL_SCALAR_F32 &&
	       !(f->p->through & PCTL_PLAN_READ_THROUGH(i)) &&
	       (i == 0 ? s->a_column == 1 && s->k % 4 == 0 : s->b_column == 1 && s->n % 4 == 0);
}

/* Bytes for matrix units whose vectors lie side by side are turned, four by four. */
static int is_turned(const matmul_fast_plan *f, uint32_t i)
{
	return f->cut->tiles == MATMUL_TILES_BYTES && bytes_lie(f, i) == BYTES_OF_VECTORS;
}

void matmul_pack(matmul_fast_plan *f, uint32_t i)
{
	const int is_units = f->cut->tiles == MATMUL_TILES_UNITS;
	const uint32_t through = f->p->through & PCTL_PLAN_READ_THROUGH(i);
	const int is_lines = f->cut->tiles == MATMUL_TILES_BYTES;
	/* Invocations of a workgroup, of 16 words each or of 4. */
	const uint32_t local = is_turned(f, i) ? 128 : 256;
	kit_wgsl w = kit_wgsl_make(f->p->use, 16384);

	f->factors[i] = (kit_slot)KIT_ALL(kit_temp(f->p, packed_words(f, i) * 4));
	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(&w, MATMUL_BUFFER("packed", "2", "read_write", "vec4<u32>"));
	if (are_fours(f, i))
		kit_wgsl_add(&w, MATMUL_BUFFER("a", "1", "read", "vec4<u32>"));
	else
		add_factor(f, i, &w);
	kit_wgsl_add(&w, f->cut->head);
	kit_wgsl_add(&w, steps_of[i]);
	if (is_turned(f, i)) {
		matmul_add_panels(f, &w);
		kit_wgsl_add(&w, KERNEL_MATMUL_TURN);
		kit_wgsl_add(&w, KERNEL_MATMUL_PACK_TURNED);
	} else if (is_units) {
		kit_wgsl_add(&w, KERNEL_MATMUL_PACKED);
		kit_wgsl_add(&w, eights_of[i]);
		kit_wgsl_add(&w, KERNEL_MATMUL_PACK_EIGHT);
	} else {
		matmul_add_panels(f, &w);
		kit_wgsl_add(&w, is_lines ? NEXT_TERM : NEXT_VECTOR);
		kit_wgsl_add(&w, is_lines ? KERNEL_MATMUL_PACK_LINES : KERNEL_MATMUL_PACK_WIDE);
	}
	if (are_fours(f, i)) {
		kit_wgsl_add(&w, KERNEL_MATMUL_PACK_FOURS);
	} else if (!is_turned(f, i)) {
		kit_wgsl_add(&w, word_of(f, i));
		kit_wgsl_add(&w, KERNEL_MATMUL_PACK);
	}
	/* What is read through a function is bound to nothing. */
	f->reads = through;
	matmul_run(f, "tensor/matmul_pack.wgsl", &w, local,
		   packed_words(f, i) / (is_turned(f, i) ? 2048 : 1024), 1,
		   (kit_slot[]){KIT_ALL(f->params),
				through != 0 ? (kit_slot)KIT_ALL(f->params) : f->in[i],
				f->factors[i]},
		   3);
	f->reads = 0;
	if (is_units)
		norms(f, i);
}

/* ---- tiles ---------------------------------------------------------------------------------- */

/* Two blocks a turn. */
void matmul_add_units(kit_wgsl *w)
{
	static const char *const puts[2] = {KERNEL_MATMUL_TILE_MATRIX_PUT0,
					    KERNEL_MATMUL_TILE_MATRIX_PUT1};

	kit_wgsl_add(w, KERNEL_MATMUL_TILE_MATRIX);
	matmul_add_each(w, KERNEL_MATMUL_TILE_MATRIX_WORD, 0, UNITS_WORDS);
	matmul_add_each(w, KERNEL_MATMUL_TILE_MATRIX_SUM, 0, UNITS_RESULTS);
	matmul_add_each(w, puts[0], 0, UNITS_WORDS);
	kit_wgsl_add(w, KERNEL_MATMUL_TILE_MATRIX_SEGMENT);
	for (uint32_t i = 0; i < 2; i++) {
		kit_wgsl_add(w, KERNEL_MATMUL_TILE_MATRIX_NEXT);
		matmul_add_each(w, KERNEL_MATMUL_TILE_MATRIX_FETCH, 0, UNITS_WORDS);
		kit_wgsl_named(w, KERNEL_MATMUL_TILE_MATRIX_MULTIPLY, i == 0 ? "0" : "1");
		matmul_add_each(w, puts[1 - i], 0, UNITS_WORDS);
		kit_wgsl_add(w, "\tworkgroupBarrier();\n");
	}
	kit_wgsl_add(w, "\t}\n\tif ((start + LOOK / 32u) * 32u < terms) {\n\tvar most = 0.0lf;\n");
	matmul_add_each(w, KERNEL_MATMUL_TILE_MATRIX_LOOK, 0, UNITS_RESULTS);
	kit_wgsl_add(w, "\tstarts += most;\n\t}\n\t}\n");
	matmul_add_each(w, KERNEL_MATMUL_TILE_MATRIX_END, 0, UNITS_RESULTS);
	kit_wgsl_add(w, "}\n");
}

#define DOT(name)                                                                                 \
	"fn step(a: V, b: V, acc: V) -> V {\n\treturn acc + V(u32(" name "(a.x, b.x)), u32(" name \
	"(a.y, b.y)), u32(" name "(a.z, b.z)), u32(" name "(a.w, b.w)));\n}\n"
static const char *integer_step(const matmul_fast_plan *f)
{
	if (!matmul_of_bytes(f))
		return "fn step(a: V, b: V, acc: V) -> V {\n\treturn acc + a * b;\n}\n";
	return f->s->out.dtype == PCTL_SCALAR_I32 ? DOT("dot4I8Packed") : DOT("dot4U8Packed");
}

void matmul_add_wide(const matmul_fast_plan *f, kit_wgsl *w)
{
	static const char *const puts[2] = {KERNEL_MATMUL_TILE_WIDE_PUT0,
					    KERNEL_MATMUL_TILE_WIDE_PUT1};
	const int is_cut = f->s->order == MATMUL_CHUNKED;

	kit_wgsl_add(w, f->s->format != NULL ? "alias V = vec4<f32>;\n" : "alias V = vec4<u32>;\n");
	if (f->s->format == NULL)
		kit_wgsl_add(w, integer_step(f));
	matmul_add_panels(f, w);
	kit_wgsl_add(w, KERNEL_MATMUL_TILE_WIDE);
	matmul_add_each(w, KERNEL_MATMUL_TILE_WIDE_SUM, 0, 8);
	if (is_cut)
		matmul_add_each(w, KERNEL_MATMUL_TILE_WIDE_TOTAL, 0, 8);
	kit_wgsl_add(w, KERNEL_MATMUL_TILE_WIDE_TURN);
	for (uint32_t i = 0; i < 2; i++) {
		kit_wgsl_add(w, KERNEL_MATMUL_TILE_WIDE_FETCH);
		matmul_add_each(w, KERNEL_MATMUL_TILE_WIDE_TERM, 8 * i, 8);
		kit_wgsl_add(w, puts[1 - i]);
	}
	if (is_cut) {
		kit_wgsl_add(w, "\t\tif ((block + 1u) * 16u % CHUNK == 0u || block + 1u == "
				"n_blocks) {\n\t\t\tlet is_first = block * 16u < CHUNK;\n");
		matmul_add_each(w, KERNEL_MATMUL_TILE_WIDE_CHUNK, 0, 8);
		kit_wgsl_add(w, "\t\t}\n");
	}
	kit_wgsl_add(w, "\t}\n");
	matmul_add_each(
		w, is_cut ? KERNEL_MATMUL_TILE_WIDE_END_CHUNKS : KERNEL_MATMUL_TILE_WIDE_END, 0, 8);
	kit_wgsl_add(w, "}\n");
}
