/* Programs that are large in one way, by the option GEN_LARGE: many turns, deep nesting, a long array, a long function, at
 * sizes where drivers are known to break. What the part gives goes into a buffer of its own. */
#include "evidence/suite/gen.h"

#include <inttypes.h>

#include "foundation/base/str.h"

static uint32_t one_of(gen *g, const uint32_t *sizes, uint32_t n)
{
	return sizes[gen_below(g, n)];
}

/* Few invocations turn, for interpreters take part. */
static void turns(gen *g, pctl_str_buf *s)
{
	static const uint32_t sizes[] = {900, 30000, 65500, 65536, 66000, 100000};
	const uint32_t n = one_of(g, sizes, 6), form = gen_below(g, 3);

	pctl_str_add(s, "if gi < 4u {\n");
	for (uint32_t i = 0; i < (form == 1 ? 2u : 1u); i++)
		pctl_str_addf(s,
			      "%sfor (var k = 0u; k < %" PRIu32 "u; k++) { big = big * %" PRIu32
			      "u + k; }%s\n",
			      form == 2 ? "for (var j = 0u; j < 16u; j++) { " : "",
			      form == 0	  ? n
			      : form == 1 ? n / 2
					  : n / 16,
			      3 + 2 * i, form == 2 ? " }" : "");
	pctl_str_add(s, "}\n");
}

static void nest(gen *g, pctl_str_buf *s)
{
	static const uint32_t sizes[] = {20, 40, 60, 70, 76, 80, 90, 120, 150};
	const uint32_t n = one_of(g, sizes, 9), mixed = gen_below(g, 4);
	uint32_t ends = 0, at = 0;
	char close[200];

	/* A switch is two brackets, of which compilers take 200. */
	while (at < n && at + ends < 170) {
		const uint32_t kind = mixed < 3 ? mixed : gen_below(g, 3);

		if (kind == 0)
			pctl_str_addf(s, "if gi != %" PRIu32 "u {", at);
		else if (kind == 1)
			pctl_str_addf(s, "switch gi { case %" PRIu32 "u: {} default: {", at);
		else
			pctl_str_addf(s,
				      "for (var n%" PRIu32 " = 0u; n%" PRIu32 " < min(gi ^ %" PRIu32
				      "u, 1u); n%" PRIu32 "++) {",
				      at, at, at, at);
		pctl_str_addf(s, " big = big * 3u + %" PRIu32 "u;\n", at);
		close[at++] = (char)kind;
		ends += kind == 1;
	}
	while (at > 0)
		pctl_str_addf(s, "big = big * 5u; }%s\n", close[--at] == 1 ? " }" : "");
}

static void array(gen *g, pctl_str_buf *s)
{
	static const uint32_t sizes[] = {16, 100, 255, 256, 257, 300, 600};
	const uint32_t n = one_of(g, sizes, 7);

	pctl_str_addf(s,
		      "var parts: array<u32, %" PRIu32 ">;\n"
		      "for (var k = 0u; k < %" PRIu32
		      "u; k++) { parts[k] = big * (2u * k + 3u); }\n"
		      "for (var k = 0u; k < %" PRIu32
		      "u; k++) { big = (big * 3u) ^ parts[(k + gi) %% %" PRIu32 "u]; }\n",
		      n, n, n, n);
}

static void steps(gen *g, pctl_str_buf *s)
{
	for (uint32_t k = 0, n = 60 + gen_below(g, 240); k < n; k++)
		pctl_str_addf(s, "big = (big * 3u + %" PRIu32 "u) ^ (big >> 7u);\n", k);
}

node *gen_large(gen *g)
{
	static void (*const parts[])(gen * g, pctl_str_buf * s) = {turns, nest, array, steps, nest};
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	node *child[1] = {gen_runtime(g, gen_scalar(g, S_U32), 2)};
	node *list = node_make(g->a, NODE_LIST, NULL, NULL, 0);

	node_add(g->a, list, node_make(g->a, NODE_STMT, "var big = $;\n", child, 1));
	parts[gen_below(g, 5)](g, &s);
	pctl_str_add(&s, "large[gi] = big;\n");
	node_add(g->a, list,
		 node_make(g->a, NODE_STMT, pctl_arena_dup(g->a, s.failed ? "" : s.data), NULL, 0));
	pctl_str_drop(&s);
	return list;
}
