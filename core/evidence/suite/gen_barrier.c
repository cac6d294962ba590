/* Barriers in functions and under conditions, by the option GEN_BARRIERS. Functions `meet` exchange through workgroup memory of
 * their own between barriers, keep what they saw in private arrays, and let invocations part; they are called, one by another
 * too, in loops, branches and cases that a workgroup agrees on: by `workgroupUniformLoad` of flags written before, by
 * workgroup_id, by counters. There invocations part up to the very end, by `continue`, `break` and `return` as well, but only
 * where no barrier follows before they are together again. Draws stand in an order of their own: no two in one call. */
#include "evidence/suite/gen.h"

#define HELD 8u

static node *make(gen *g, const char *format, node *a, node *b)
{
	node *child[2] = {a, b};

	return node_make(g->a, NODE_STMT, format, child, a == NULL ? 0 : b == NULL ? 1 : 2);
}

static void add(gen *g, node *list, const char *format, node *a)
{
	node_add(g->a, list, make(g, format, a, NULL));
}

static node *list_of(gen *g)
{
	return node_make(g->a, NODE_LIST, NULL, NULL, 0);
}

void gen_barrier_workgroup(gen *g, uint32_t size[3])
{
	static const uint32_t sizes[][3] = {{64, 1, 1},	 {2, 1, 1}, {8, 8, 1},
					    {17, 1, 1},	 {3, 3, 2}, {16, 1, 1},
					    {128, 1, 1}, {4, 4, 4}, {32, 4, 1}};
	const uint32_t *s = sizes[gen_below(g, 9)];

	for (uint32_t k = 0; k < 3; k++)
		size[k] = s[k];
}

/* ---- conditions that a workgroup agrees on; u: an expression of that kind ---- */

static const char *number(gen *g, const char *u)
{
	const uint32_t c = gen_below(g, 9);

	if (gen_chance(g, 70))
		return gen_text(g, "workgroupUniformLoad(&wf[(%s + %uu) %% 8u])", u, c);
	if (gen_chance(g, 50))
		return gen_text(g, "(wid.x + %s + %uu)", u, c);
	return gen_text(g, "(%s * 5u + %uu)", u, c);
}

static const char *condition(gen *g, const char *u)
{
	const char *n = number(g, u), *op = gen_chance(g, 50) ? "==" : "!=";
	const uint32_t of = 2 + gen_below(g, 3), is = gen_below(g, 2);

	return gen_text(g, "%s %% %uu %s %uu", n, of, op, is);
}

/* ---- where invocations part ---- */

enum { MAY_CONTINUE = 1, MAY_BREAK = 2, MAY_RETURN = 4 };

/* Statements of each invocation's own. Those who leave by a jump are back before the next barrier. */
static node *own(gen *g, int n, int may)
{
	const int in_loop = g->in_loop, breakable = g->breakable, may_return = g->may_return;
	const uint32_t mark = g->n_vars;
	node *list = list_of(g);

	g->in_loop = (may & MAY_CONTINUE) != 0;
	g->breakable = (may & MAY_BREAK) != 0;
	g->may_return = (may & MAY_RETURN) != 0;
	gen_block(g, list, n, 2);
	g->in_loop = in_loop;
	g->breakable = breakable;
	g->may_return = may_return;
	g->n_vars = mark;
	return list;
}

/* What is seen of it, and more. */
static node *way(gen *g, int may)
{
	node *list = list_of(g);

	g->fuel = g->fuel < 8 ? 8 : g->fuel;
	add(g, list, "p_u32 = p_u32 * 7u + $;\n", gen_runtime(g, gen_scalar(g, S_U32), 2));
	node_add(g->a, list, own(g, 2, may));
	return list;
}

static node *parting(gen *g, const char *u)
{
	const uint32_t kind = gen_below(g, 5);
	const char *k = gen_name(g, "k");
	node *a = kind == 4 ? gen_runtime(g, gen_scalar(g, S_BOOL), 3) : NULL, *b;

	g->loops += kind == 2;
	b = way(g, kind == 2 ? MAY_CONTINUE | MAY_BREAK : kind == 3 ? MAY_BREAK : 0);
	g->loops -= kind == 2;
	switch (kind) {
	case 0:
		return make(g, gen_text(g, "if li == %s %% %uu {\n$}\n", u, g->invocations), b,
			    NULL);
	case 1:
		return make(g, "if (li & 1u) == 0u {\n$} else {\n$}\n", b, way(g, 0));
	case 2:
		return make(g,
			    gen_text(g, "for (var %s = 0u; %s < (li + %s) %% 4u; %s++) {\n$}\n", k,
				     k, u, k),
			    b, NULL);
	case 3:
		return make(g, "switch li % 3u {\ncase 0u: {\n$}\ncase 1u: {\n$}\ndefault: {}\n}\n",
			    b, way(g, MAY_BREAK));
	default:
		return make(g, "if $ {\n$}\n", a, b);
	}
}

/* ---- calls, in control that a workgroup agrees on ---- */

static node *call(gen *g, const char *u)
{
	const uint32_t i = gen_below(g, g->n_meets);

	g->fuel -= 4;
	return make(g, gen_text(g, "p_u32 = p_u32 * 33u + meet%u(%s, li, wid, $);\n", i, u),
		    gen_expr(g, gen_scalar(g, S_U32), 2), NULL);
}

static node *structure(gen *g, const char *u, int depth, int may);

/* A call between what is each invocation's own; at its end invocations may jump. */
static node *region(gen *g, const char *u, int depth, int may)
{
	node *list = list_of(g);

	if (gen_chance(g, 40))
		node_add(g->a, list, own(g, 1, 0));
	if (depth > 0 && gen_chance(g, 45))
		node_add(g->a, list, structure(g, u, depth - 1, may & MAY_CONTINUE));
	else
		node_add(g->a, list, call(g, u));
	if (gen_chance(g, 70))
		node_add(g->a, list, parting(g, u));
	if (gen_chance(g, 30))
		node_add(g->a, list, own(g, 1, may));
	return list;
}

static node *loop(gen *g, int depth)
{
	const char *u = gen_name(g, "turn"), *leave = "";
	const uint32_t mark = g->n_vars, turns = 2 + gen_below(g, 4);
	node *body;

	gen_declare(g, u, gen_scalar(g, S_U32), 0);
	g->loops++;
	/* A whole workgroup goes on, or leaves. */
	if (gen_chance(g, 30)) {
		leave = condition(g, u);
		leave = gen_text(g, "if %s { %s; }\n", leave,
				 gen_chance(g, 70) ? "continue" : "break");
	}
	body = depth > 0 && gen_chance(g, 75) ? structure(g, u, depth - 1, MAY_CONTINUE)
					      : region(g, u, depth, MAY_CONTINUE);
	g->loops--;
	g->n_vars = mark;
	return make(
		g,
		gen_text(g, "for (var %s = 0u; %s < %uu; %s++) {\n%s$}\n", u, u, turns, u, leave),
		body, NULL);
}

/* `continue` and `break` of some stand in the last side or case alone: no barrier behind it in the text is taken for one that all reach. */
static node *structure(gen *g, const char *u, int depth, int may)
{
	const uint32_t kind = gen_below(g, 6);
	const char *on;
	node *a, *b;

	if (kind == 5 || (kind == 4 && g->loops >= 2))
		return region(g, u, depth, may);
	if (kind == 4)
		return loop(g, depth);
	on = kind == 3 ? number(g, u) : condition(g, u);
	if (kind < 2)
		return make(g, gen_text(g, "if %s {\n$}\n", on), region(g, u, depth, may), NULL);
	if (kind == 2) {
		a = own(g, 2, 0);
		b = region(g, u, depth, may);
		return make(g, gen_text(g, "if %s {\n$} else {\n$}\n", on), a, b);
	}
	a = region(g, u, depth, 0);
	b = gen_chance(g, 50) ? region(g, u, depth, may | MAY_BREAK) : own(g, 1, may | MAY_BREAK);
	return make(
		g,
		gen_text(g,
			 "switch %s %% 4u {\ncase 1u, 2u: {\n$}\ncase 3u: {\n$}\ndefault: {}\n}\n",
			 on),
		a, b);
}

/* ---- functions ---- */

/* What was exchanged goes to private memory: the same for all, or not. */
static const char *copies(gen *g, uint32_t i)
{
	static const char *const from[] = {"u + k * 3u", "li + k", "li * 5u + u + k", "k"};

	return gen_text(
		g, "for (var k = 0u; k < %uu; k++) {\nheld%u[k] = exchange%u[(%s) %% %uu];\n}\n",
		HELD, i, i, from[gen_below(g, 4)], g->invocations);
}

/* Under a condition once more, with others or with the array turned round. */
static node *inside(gen *g, uint32_t i)
{
	const char *on;
	node *list;

	if (i > 0 && gen_chance(g, 60))
		return structure(g, "u", 1, 0);
	on = condition(g, "u");
	list = list_of(g);
	add(g, list,
	    gen_text(g,
		     "workgroupBarrier();\nexchange%u[%uu - li] = $;\nworkgroupBarrier();\n"
		     "held%u[u %% %uu] = exchange%u[u %% %uu];\n",
		     i, g->invocations - 1, i, HELD, i, g->invocations),
	    gen_expr(g, g->meet_type[i], 2));
	node_add(g->a, list, parting(g, "u"));
	return make(g, gen_text(g, "if %s {\n$}\n", on), list, NULL);
}

static node *body_of(gen *g, uint32_t i)
{
	node *body = list_of(g);

	node_add(g->a, body, own(g, 1, 0));
	add(g, body,
	    gen_text(g, "workgroupBarrier();\nexchange%u[li] = $;\nworkgroupBarrier();\n", i),
	    gen_expr(g, g->meet_type[i], 3));
	if (gen_chance(g, 75))
		add(g, body, copies(g, i), NULL);
	if (gen_chance(g, 40))
		node_add(g->a, body, inside(g, i));
	node_add(g->a, body, parting(g, "u"));
	if (gen_chance(g, 60))
		node_add(g->a, body, own(g, 2, MAY_RETURN));
	return body;
}

static void function(gen *g, node *root)
{
	const uint32_t i = g->n_meets, mark = g->n_vars, n_own = g->n_own;
	const gtype *u32 = gen_scalar(g, S_U32), *t = gen_chance(g, 50) ? u32 : gen_any_simple(g);
	const gtype *many = gen_array(g, t, HELD);
	const char *held = gen_text(g, "held%u", i);
	node *parts[2];

	add(g, root,
	    gen_text(g, "var<workgroup> exchange%u: array<%s, %u>;\nvar<private> %s: %s;\n", i,
		     t->name, g->invocations, held, many->name),
	    NULL);
	gen_declare(g, held, many, V_WRITABLE);
	gen_declare(g, "u", u32, 0);
	gen_declare(g, "li", u32, 0);
	gen_declare(g, "x", u32, 0);
	g->fuel = g->floats ? 30 : 90;
	g->n_own = 0;
	g->meet_type[i] = t;
	g->result = u32;
	parts[0] = body_of(g, i);
	parts[1] = gen_expr(g, u32, 3);
	node_add(g->a, root,
		 make(g,
		      gen_text(g,
			       "fn meet%u(u: u32, li: u32, wid: vec3<u32>, x: u32) -> u32 {\n"
			       "$return $;\n}\n",
			       i),
		      parts[0], parts[1]));
	g->result = NULL;
	g->n_vars = mark;
	g->n_own = n_own;
	gen_declare(g, held, many, V_WRITABLE);
	g->n_meets++;
}

void gen_barrier_functions(gen *g, node *root, uint32_t invocations)
{
	g->invocations = invocations;
	add(g, root, "var<workgroup> wf: array<u32, 8>;\n", NULL);
	for (uint32_t n = 1 + gen_below(g, 3); n > 0; n--)
		function(g, root);
}

void gen_barriers(gen *g, node *list)
{
	add(g, list,
	    gen_text(g,
		     "workgroupBarrier();\nfor (var k = li; k < 8u; k += %uu) {\nwf[k] = $ + k * "
		     "7u;\n}\n"
		     "workgroupBarrier();\n",
		     g->invocations),
	    gen_runtime(g, gen_scalar(g, S_U32), 2));
	for (uint32_t n = 1 + gen_below(g, 3); n > 0; n--) {
		g->fuel = g->floats ? 30 : 90;
		if (gen_chance(g, 70))
			node_add(g->a, list, loop(g, 2));
		else
			node_add(g->a, list, structure(g, "3u", 2, 0));
	}
	for (uint32_t i = 0; i < g->n_meets; i++)
		add(g, list, gen_seen(g, gen_text(g, "held%u[3]", i), g->meet_type[i]), NULL);
	add(g, list, "met[gi] = p_u32;\n", NULL);
}
