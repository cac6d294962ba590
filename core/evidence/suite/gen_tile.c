/* Matrix tiles of generated programs, by the option GEN_TILES: between the phases of an entry point, where control is uniform.
 * Words that invocations have made go through workgroup memory into tiles, and results back, a word of them into buffer `tiled`. A region of it belongs to each
 * subgroup, so no two write one word; some offsets and strides leave the array. */
#include "evidence/suite/gen.h"

#define REGION 600u /* words: sixteen lines of up to thirty-two and an offset */

void gen_tile_workgroup(gen *g, uint32_t size[3])
{
	size[0] = 32 + 32 * gen_below(g, 2);
	size[1] = size[2] = 1;
}

node *gen_tile_memory(gen *g, uint32_t invocations)
{
	/* The last region is not whole. */
	const uint32_t words = invocations / 32 * REGION - 150;

	g->tiles.is_float = g->tiles.may_float && gen_chance(g, 80);
	if (g->tiles.is_float)
		return gen_tile_float_memory(g, invocations);
	return node_make(g->a, NODE_STMT,
			 gen_text(g,
				  "var<workgroup> tile_i: array<i32, %u>;\n"
				  "var<workgroup> tile_u: array<u32, %u>;\n",
				  words, words),
			 NULL, 0);
}

static const char *order(gen *g)
{
	return gen_chance(g, 50) ? "row_major" : "col_major";
}

static void add(gen *g, node *list, const char *text, node *child)
{
	node_add(g->a, list, node_make(g->a, NODE_STMT, text, &child, child != NULL));
}

static void integers(gen *g, node *list, uint32_t invocations)
{
	const int is_signed = gen_chance(g, 50);
	const char *memory = is_signed ? "tile_i" : "tile_u", *word = is_signed ? "i32" : "u32";
	const char *byte = is_signed ? "i8" : "u8", *name = gen_name(g, "t");
	const uint32_t m = 8u << gen_below(g, 2), n = 8u << gen_below(g, 2),
		       k = 16u << gen_below(g, 2);
	const gtype *t = gen_scalar(g, is_signed ? S_I32 : S_U32);
	const char *out = order(g);
	const uint32_t line = (out[0] == 'r' ? n : m) + gen_below(g, 17);

	add(g, list,
	    gen_text(g,
		     "workgroupBarrier();\nfor (var k = li; k < %uu; k += %uu) {\n%s[k] = %s(k * "
		     "2654435761u) ^ $;\n}\nworkgroupBarrier();\n",
		     invocations / 32 * REGION, invocations, memory, word),
	    gen_runtime(g, t, 2));
	add(g, list,
	    gen_text(g,
		     "let %s_l = subgroupMatrixLoad<subgroup_matrix_left<%s, %u, %u>, %s>(&%s, "
		     "li / 32u * %uu + %uu, %uu);\n",
		     name, byte, k, m, order(g), memory, gen_below(g, 3000), gen_below(g, 64),
		     gen_below(g, 200)),
	    NULL);
	add(g, list,
	    gen_text(g,
		     "let %s_r = subgroupMatrixLoad<subgroup_matrix_right<%s, %u, %u>, %s>(&%s, "
		     "li / 32u * %uu + %uu, %uu);\n",
		     name, byte, n, k, order(g), memory, gen_below(g, 3000), gen_below(g, 64),
		     gen_below(g, 200)),
	    NULL);
	add(g, list,
	    gen_chance(g, 50)
		    ? gen_text(g,
			       "var %s_s = subgroupMatrixLoad<subgroup_matrix_result<%s, %u, %u>, "
			       "%s>(&%s, li / 32u * %uu, %uu);\n",
			       name, word, n, m, order(g), memory, gen_below(g, 700),
			       gen_below(g, 70))
		    : gen_text(g, "var %s_s: subgroup_matrix_result<%s, %u, %u>;\n", name, word, n,
			       m),
	    NULL);
	add(g, list,
	    gen_text(
		    g,
		    "for (var k = 0u; k < %uu; k++) {\n%s_s = "
		    "subgroupMatrixMultiplyAccumulate(%s_l, %s_r, %s_s);\n}\n"
		    "if wid.x %% 3u == 1u {\n%s_s = subgroupMatrixMultiply<%s>(%s_l, %s_r);\n}\n"
		    "workgroupBarrier();\nsubgroupMatrixStore<%s>(&%s, li / 32u * %uu + %uu, %s_s, "
		    "%uu);\nworkgroupBarrier();\n",
		    1 + gen_below(g, 3), name, name, name, name, name, word, name, name, out,
		    memory, REGION, gen_below(g, 40), name, line),
	    NULL);
	add(g, list,
	    gen_text(g, "var %s = %s[li * 7u %% %uu];\n", name, memory,
		     invocations / 32 * REGION + 20),
	    NULL);
	gen_declare(g, name, t, V_WRITABLE);
}

void gen_tiles(gen *g, node *list, uint32_t invocations)
{
	if (g->tiles.is_float)
		gen_tiles_float(g, list, invocations);
	else
		integers(g, list, invocations);
	add(g, list, gen_text(g, "tiled[gi] = u32(%s);\n", g->vars[g->n_vars - 1].name), NULL);
}
