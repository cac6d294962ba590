/* Float tiles of generated programs, by GEN_FLOAT_TILES: factors of f32 or f64, results of f64. Numbers whose sums are
 * rounded, and what the program computes (subnormals, infinities, NaN), go through workgroup memory into tiles, results back. */
#include "evidence/suite/gen.h"

#define FACTORS 200u /* components for each subgroup: some factors end outside */
#define REGION \
	280u /* results of a subgroup: sixteen lines of up to sixteen, eight more and an offset */

node *gen_tile_float_memory(gen *g, uint32_t invocations)
{
	gtiles *t = &g->tiles;
	const char *scalar;
	const uint32_t subgroups = invocations / 32;

	t->width = 1u << gen_below(g, 3);
	t->is_wide = gen_chance(g, 50);
	t->as_bits = gen_chance(g, 50);
	t->n_elements = subgroups * FACTORS / t->width;
	scalar = t->is_wide ? t->as_bits ? "u64" : "f64" : t->as_bits ? "u32" : "f32";
	t->element = t->width == 1 ? scalar : gen_text(g, "vec%u<%s>", t->width, scalar);
	return node_make(g->a, NODE_STMT,
			 gen_text(g,
				  "var<workgroup> tile_f: array<%s, %u>;\n"
				  "var<workgroup> tile_d: array<%s, %u>;\n",
				  t->element, t->n_elements, t->as_bits ? "u64" : "f64",
				  subgroups * REGION - 60),
			 NULL, 0);
}

static void add(gen *g, node *list, const char *text, node *child)
{
	node_add(g->a, list, node_make(g->a, NODE_STMT, text, &child, child != NULL));
}

static const char *order(gen *g)
{
	return gen_chance(g, 50) ? "row_major" : "col_major";
}

/* Number `x` of the memory as the type asked for: a magnitude between 2^-15 and 2, both signs, all of its bits in use; now and then any
 * bits, and a value of the program in some places. */
static const char *number(gen *g, const char *x, int is_wide, int as_bits)
{
	const int any = gen_chance(g, 15);
	const char *bits = gen_text(g, "((%s * 2654435761u) ^ (%s << 7u))", x, x);

	if (!any)
		bits = gen_text(g, "((%s & %su) | %su)", bits,
				is_wide ? "0x807fffff" : "0x87ffffff",
				is_wide ? "0x3f800000" : "0x38000000");
	if (is_wide)
		bits = gen_text(g, "((u64(%s) << 32u) | u64(%s * 2246822519u))", bits, x);
	return as_bits ? bits : gen_text(g, "bitcast<%s>(%s)", is_wide ? "f64" : "f32", bits);
}

/* A value of the program, $, as a number of the memory. */
static const char *made(gen *g, int is_wide, int as_bits)
{
	const char *value = is_wide ? "f64($)" : "$";

	return as_bits ? gen_text(g, "bitcast<%s>(%s)", is_wide ? "u64" : "u32", value) : value;
}

static void fill(gen *g, node *list, const char *array, const char *element, uint32_t width,
		 int is_wide, uint32_t n, uint32_t invocations)
{
	const int as_bits = g->tiles.as_bits;
	const char *parts = "";

	for (uint32_t i = 0; i < width; i++)
		parts = gen_text(
			g, "%s%s%s", parts, i == 0 ? "" : ", ",
			number(g, gen_text(g, "(k * %uu + %uu)", width, i), is_wide, as_bits));
	add(g, list,
	    gen_text(g,
		     "for (var k = li; k < %uu; k += %uu) {\n%s[k] = select(%s(%s), %s(%s), k %% "
		     "%uu == 3u);\n}\n",
		     n, invocations, array, element, parts, element, made(g, is_wide, as_bits),
		     8 + gen_below(g, 40)),
	    gen_runtime(g, gen_scalar(g, S_F32), 2));
}

/* Lanes may go by places of their own. */
static const char *factor(gen *g, const char *side, const char *name, uint32_t columns,
			  uint32_t rows)
{
	const gtiles *t = &g->tiles;

	return gen_text(
		g,
		"let %s_%c = subgroupMatrixLoad<subgroup_matrix_%s<%s, %u, %u>, %s>(&tile_f, "
		"li / 32u * %uu + %uu%s, %uu);\n",
		name, side[0], side, t->is_wide ? "f64" : "f32", columns, rows, order(g),
		gen_below(g, FACTORS), gen_below(g, 40), gen_chance(g, 20) ? " + li % 3u" : "",
		gen_below(g, 24));
}

/* What is added to: a tile of the memory, of zeros, or a product. */
static const char *start(gen *g, const char *name, uint32_t m)
{
	switch (gen_below(g, 3)) {
	case 0:
		return gen_text(g, "var %s_s: subgroup_matrix_result<f64, 8, %u>;\n", name, m);
	case 1:
		return gen_text(g, "var %s_s = subgroupMatrixMultiply<f64>(%s_l, %s_r);\n", name,
				name, name);
	default:
		return gen_text(g,
				"var %s_s = subgroupMatrixLoad<subgroup_matrix_result<f64, 8, %u>, "
				"%s>(&tile_d, li / 32u * %uu, %uu);\n",
				name, m, order(g), gen_below(g, REGION), gen_below(g, 30));
	}
}

void gen_tiles_float(gen *g, node *list, uint32_t invocations)
{
	const gtiles *t = &g->tiles;
	const char *name = gen_name(g, "t"), *out = order(g);
	const uint32_t m = 8u << gen_below(g, 2), k = 4u << gen_below(g, 3),
		       last = invocations / 32 * REGION;
	const uint32_t line = (out[0] == 'r' ? 8 : m) + gen_below(g, 9);
	const char *read = gen_text(g, "tile_d[li * 7u %% %uu]", last);

	add(g, list, "workgroupBarrier();\n", NULL);
	fill(g, list, "tile_f", t->element, t->width, t->is_wide, t->n_elements, invocations);
	fill(g, list, "tile_d", t->as_bits ? "u64" : "f64", 1, 1, last, invocations);
	add(g, list, "workgroupBarrier();\n", NULL);
	add(g, list, factor(g, "left", name, k, m), NULL);
	add(g, list, factor(g, "right", name, 8, k), NULL);
	add(g, list, start(g, name, m), NULL);
	add(g, list,
	    gen_text(g,
		     "for (var k = 0u; k < %uu; k++) {\n%s_s = "
		     "subgroupMatrixMultiplyAccumulate(%s_l, "
		     "%s_r, %s_s);\n}\nworkgroupBarrier();\nsubgroupMatrixStore<%s>(&tile_d, li / "
		     "32u "
		     "* %uu + %uu, %s_s, %uu);\nworkgroupBarrier();\n",
		     1 + gen_below(g, 3), name, name, name, name, out, REGION, gen_below(g, 25),
		     name, line),
	    NULL);
	/* All bits of a result show in one word. */
	add(g, list,
	    gen_text(g,
		     "let %s_b = bitcast<vec2<u32>>(%s);\nvar %s = %s_b.x * 5u + %s_b.y;\np_u32 ^= "
		     "%s;\n",
		     name, read, name, name, name, name),
	    NULL);
	gen_declare(g, name, gen_scalar(g, S_U32), V_WRITABLE);
}
