/* Subgroup operations of generated programs, by the option GEN_SUBGROUPS: between the phases of an entry point, where control
 * is uniform, in loops, behind conditions that a workgroup agrees on and in functions. */
#include "evidence/suite/gen.h"

static node *statement(gen *g, const char *format, node *a, node *b)
{
	node *child[2] = {a, b};

	return node_make(g->a, NODE_STMT, format, child, b != NULL ? 2u : 1u);
}

static const gtype *words(gen *g)
{
	return gen_shape(g, gen_chance(g, 50) ? S_I32 : S_U32, 1 + gen_below(g, 4));
}

static node *reduction(gen *g, const char *name)
{
	static const char *const functions[] = {
		"Add", "Mul",	       "Min",	       "Max",	       "And",	      "Or",
		"Xor", "InclusiveAdd", "InclusiveMul", "ExclusiveAdd", "ExclusiveMul"};
	const gtype *t = words(g);
	node *n = statement(
		g, gen_text(g, "var %s = subgroup%s($);\n", name, functions[gen_below(g, 11)]),
		gen_runtime(g, t, 3), NULL);

	gen_declare(g, name, t, V_WRITABLE);
	return n;
}

static node *vote(gen *g, const char *name)
{
	static const char *const functions[] = {"All", "Any", "Ballot"};
	const uint32_t which = gen_below(g, 3);
	const gtype *truth = gen_scalar(g, S_BOOL);
	node *n = statement(g, gen_text(g, "var %s = subgroup%s($);\n", name, functions[which]),
			    gen_runtime(g, truth, 3), NULL);

	gen_declare(g, name, which == 2 ? gen_vector(g, S_U32, 4) : truth, V_WRITABLE);
	return n;
}

static node *movement(gen *g, const char *name)
{
	static const char *const by_value[] = {"subgroupShuffle", "subgroupShuffleXor",
					       "subgroupShuffleUp", "subgroupShuffleDown"};
	static const char *const alone[] = {"subgroupBroadcastFirst", "quadSwapX", "quadSwapY",
					    "quadSwapDiagonal"};
	const gtype *t = g->floats && gen_chance(g, 40) ? gen_shape(g, S_F32, 1 + gen_below(g, 4))
							: words(g);
	node *value = gen_runtime(g, t, 2), *n;

	switch (gen_below(g, 4)) {
	case 0:
		n = statement(g, gen_text(g, "var %s = %s($);\n", name, alone[gen_below(g, 4)]),
			      value, NULL);
		break;
	case 1:
		n = statement(g,
			      gen_chance(g, 50)
				      ? gen_text(g, "var %s = subgroupBroadcast($, %uu);\n", name,
						 gen_below(g, 40))
				      : gen_text(g, "var %s = quadBroadcast($, %u);\n", name,
						 gen_below(g, 4)),
			      value, NULL);
		break;
	default: /* lanes near the subgroup, and any number */
		n = statement(g,
			      gen_text(g, "var %s = %s($, $%s);\n", name, by_value[gen_below(g, 4)],
				       gen_chance(g, 80) ? " % 41u" : ""),
			      value, gen_runtime(g, gen_scalar(g, S_U32), 2));
		break;
	}
	gen_declare(g, name, t, V_WRITABLE);
	return n;
}

/* Around a place that all reach: a loop, a condition, a call. */
static node *structured(gen *g, const char *name)
{
	static const char *const formats[] = {
		"var %s = $;\nfor (var k = 0u; k < 3u; k++) {\n%s += subgroupShuffleXor(%s * 3u, k "
		"+ 1u);\n"
		"%s ^= subgroupInclusiveAdd(%s);\n}\n",
		("var %s = $;\nif wid.x %% 2u == 0u {\n%s ^= subgroupAdd(%s);\n} else {\n%s -= "
		 "subgroupMax(%s);\n}\n"),
		"var %s = $;\n%s = lanes(%s, %s & 7u) ^ %s;\n",
		"var %s = $;\nif subgroupElect() {\n%s ^= 77u;\n}\n%s += lanes(%s, 1u) * %s;\n",
	};
	const gtype *t = gen_scalar(g, S_U32);
	node *n = statement(g, gen_text(g, formats[gen_below(g, 4)], name, name, name, name, name),
			    gen_runtime(g, t, 3), NULL);

	gen_declare(g, name, t, V_WRITABLE);
	return n;
}

const char *gen_subgroup_function(void)
{
	return "fn lanes(x: u32, y: u32) -> u32 {\nvar t = subgroupExclusiveAdd(x);\n"
	       "t += subgroupShuffleDown(x, y);\nreturn t;\n}\n";
}

void gen_subgroups(gen *g, node *list)
{
	for (uint32_t i = 1 + gen_below(g, 3); i > 0; i--) {
		const char *name = gen_name(g, "s");
		const uint32_t pick = gen_below(g, 10);

		node_add(g->a, list,
			 pick < 3   ? reduction(g, name)
			 : pick < 5 ? vote(g, name)
			 : pick < 8 ? movement(g, name)
				    : structured(g, name));
	}
}
