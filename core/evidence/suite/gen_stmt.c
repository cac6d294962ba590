/* Statements of generated programs. Loops count to small literal bounds; whatever is written
 * belongs to the invocation alone, atomics apart, which commute and whose results are dropped. */
#include <string.h>

#include "evidence/suite/gen.h"

void gen_declare(gen *g, const char *name, const gtype *t, uint32_t flags)
{
	if (g->n_vars < G_VARS)
		g->vars[g->n_vars++] = (gvar){name, t, flags};
}

static node *stmt(gen *g, const char *format, node *a, node *b, node *c)
{
	node *child[3] = {a, b, c};

	return node_make(g->a, NODE_STMT, format, child,
			 a == NULL   ? 0
			 : b == NULL ? 1
			 : c == NULL ? 2
				     : 3);
}

static node *inner_block(gen *g, int n, int depth)
{
	node *list = node_make(g->a, NODE_LIST, NULL, NULL, 0);
	uint32_t mark = g->n_vars;

	gen_block(g, list, n, depth);
	g->n_vars = mark;
	return list;
}

static node *declaration(gen *g)
{
	uint32_t pick = gen_below(g, 10);
	const gtype *t = pick < 5 ? gen_any_simple(g) : gen_any_type(g, 1);
	const char *name = gen_name(g, "v");
	node *n;

	if (pick == 0 && t->kind == G_SCALAR) {
		n = stmt(g, gen_text(g, "const %s = $;\n", name),
			 gen_node(g, t, "1u", NULL, NULL, NULL), NULL, NULL);
		n->child[0]->format =
			gen_text(g, "%s(%u)", t->name, t->scalar == S_BOOL ? 1 : gen_below(g, 70));
		if (t->scalar == S_BOOL)
			n->child[0]->format = "true";
		gen_declare(g, name, t, V_CONST);
		return n;
	}
	if (pick < 4) {
		n = stmt(g, gen_text(g, "let %s = $;\n", name), gen_expr(g, t, 3), NULL, NULL);
		gen_declare(g, name, t, 0);
		return n;
	}
	if (pick == 9)
		n = stmt(g, gen_text(g, "var %s: %s;\n", name, t->name), NULL, NULL, NULL);
	else
		n = stmt(g, gen_text(g, "var %s: %s = $;\n", name, t->name), gen_expr(g, t, 3),
			 NULL, NULL);
	gen_declare(g, name, t, V_WRITABLE);
	return n;
}

/* A place this invocation may write: a variable of its own, or its element of a buffer. */
static node *target(gen *g, const gtype **t)
{
	if (g->n_own != 0 && gen_chance(g, 35)) {
		uint32_t i = gen_below(g, g->n_own);
		gvar v = {g->own[i], g->own_elem[i], V_WRITABLE};

		return gen_walk(g, &v, NULL, 4, t);
	}
	for (uint32_t tries = 0; tries < 10; tries++) {
		const gvar *v = &g->vars[gen_below(g, g->n_vars)];

		if (v->flags & V_WRITABLE)
			return gen_walk(g, v, NULL, 4, t);
	}
	return NULL;
}

static node *assignment(gen *g)
{
	static const char *const ops[] = {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"};
	const gtype *t, *right;
	node *to = target(g, &t);
	const char *op;

	if (to == NULL)
		return declaration(g);
	to->leaf = NULL;
	if (gen_is_float(t) && gen_chance(g, 45)) {
		right = t->kind == G_VECTOR && gen_chance(g, 25) ? t->elem : t;
		return stmt(g, gen_text(g, "$ %s= $;\n", ops[gen_below(g, 5)]), to,
			    gen_expr(g, right, 3), NULL);
	}
	if (!gen_is_integer(t) || gen_chance(g, 50))
		return stmt(g, "$ = $;\n", to, gen_expr(g, t, 3), NULL);
	if (t->kind == G_SCALAR && gen_chance(g, 15))
		return stmt(g, gen_chance(g, 50) ? "$++;\n" : "$--;\n", to, NULL, NULL);
	op = ops[gen_below(g, 10)];
	right = op[0] == '<' || op[0] == '>' ? gen_shape(g, S_U32, gen_width(t))
		: t->kind == G_VECTOR && strchr("+-*/%", op[0]) != NULL && gen_chance(g, 25)
			? t->elem
			: t;
	return stmt(g, gen_text(g, "$ %s= $;\n", op), to, gen_divisor(g, op, right, t, 3), NULL);
}

static node *branch(gen *g, int depth)
{
	const gtype *truth = gen_scalar(g, S_BOOL);
	node *cond = gen_runtime(g, truth, 3), *yes = inner_block(g, 3, depth - 1), *n;

	if (gen_chance(g, 40))
		return stmt(g, "if $ {\n$}\n", cond, yes, NULL);
	n = stmt(g, "if $ {\n$} else {\n$}\n", cond, yes, inner_block(g, 3, depth - 1));
	if (gen_chance(g, 25)) {
		n->format = "if $ {\n$} else if $ {\n$} else {\n$}\n";
		node_add(g->a, n, n->child[2]);
		n->child[2] = gen_expr(g, truth, 2);
		node_add(g->a, n, inner_block(g, 2, depth - 1));
	}
	return n;
}

static node *choice(gen *g, int depth)
{
	const gtype *t = gen_scalar(g, gen_chance(g, 50) ? S_U32 : S_I32);
	node *cases = node_make(g->a, NODE_LIST, NULL, NULL, 0);
	node *on = gen_node(g, t, gen_text(g, "($ %% 7%c)", t->name[0]), gen_runtime(g, t, 2), NULL,
			    NULL);
	uint32_t n = 1 + gen_below(g, 4), standard = gen_below(g, n + 1), next = 0;
	int breakable = g->breakable;

	g->breakable = 1;
	for (uint32_t i = 0; i <= n; i++) {
		const char *head = i == standard ? "default" : gen_text(g, "case %u", next++);

		if (i == standard && gen_chance(g, 30))
			head = gen_text(g, "case %u, default", next++);
		else if (i != standard && gen_chance(g, 30)) {
			head = gen_text(g, "%s, %u", head, next);
			next++;
		}
		node_add(g->a, cases,
			 stmt(g, gen_text(g, "%s: {\n$}\n", head), inner_block(g, 2, depth - 1),
			      NULL, NULL));
	}
	g->breakable = breakable;
	return stmt(g, gen_text(g, "switch $ {\n$}\n%s", gen_pointer_leave(g)), on, cases, NULL);
}

static node *loop(gen *g, int depth)
{
	static const char *const heads[] = {
		"for (var %s = 0%c; %s < %u%c; %s++) {\n$}\n",
		"for (var %s = 0%c; %s <= %u%c; %s += 2%c) {\n$}\n",
	};
	uint32_t mark = g->n_vars, kind = gen_below(g, 5), bound = 1 + gen_below(g, 7);
	const gtype *t = gen_scalar(g, gen_chance(g, 60) ? S_U32 : S_I32);
	int breakable = g->breakable, in_loop = g->in_loop;
	const char *k = gen_name(g, "k");
	char c = t->name[0];
	node *n, *cond = NULL;
	const char *head;

	if (kind == 3 && t->scalar == S_I32)
		head = gen_text(g, "for (var %s = %ui; %s >= 0i; %s--) {\n$}\n", k, bound, k, k);
	else if (kind == 4)
		head = gen_text(g, "for (var %s = 0%c; %s < min($, %u%c); %s++) {\n$}\n", k, c, k,
				bound, c, k);
	else if (kind == 1)
		head = gen_text(g, heads[1], k, c, k, bound, c, k, c);
	else if (kind == 2)
		head = gen_text(g, "for (var %s = 1%c; %s < %u%c; %s <<= 1u) {\n$}\n", k, c, k,
				bound * 3, c, k);
	else
		head = gen_text(g, heads[0], k, c, k, bound, c, k);
	if (kind == 4)
		cond = gen_runtime(g, t, 1);
	gen_declare(g, k, t, 0);
	g->loops++;
	g->n_loops++;
	g->breakable = g->in_loop = 1;
	head = gen_text(g, "%s%s", head, gen_pointer_leave(g));
	n = cond == NULL ? stmt(g, head, inner_block(g, 4, depth - 1), NULL, NULL)
			 : stmt(g, head, cond, inner_block(g, 4, depth - 1), NULL);
	g->loops--;
	g->breakable = breakable;
	g->in_loop = in_loop;
	g->n_vars = mark;
	return n;
}

/* With a second condition, which may have effects; around it a loop that the inner one's break does not leave, and
 * whose continue it takes. */
static node *nest(gen *g, int depth)
{
	const gtype *truth = gen_scalar(g, S_BOOL), *u32 = gen_scalar(g, S_U32);
	uint32_t mark = g->n_vars, outer = 1 + gen_below(g, 4), inner = 1 + gen_below(g, 4);
	int breakable = g->breakable, in_loop = g->in_loop;
	const char *k = gen_name(g, "k"), *j = gen_name(g, "k");
	node *child[4], *n;

	gen_declare(g, k, u32, 0);
	g->n_loops += 2;
	g->loops += 2;
	g->breakable = g->in_loop = 1;
	child[0] = gen_runtime(g, truth, 2);
	gen_declare(g, j, u32, 0);
	child[1] = gen_runtime(g, truth, 2);
	child[2] = inner_block(g, 3, depth - 1);
	g->n_vars--;
	child[3] = inner_block(g, 2, depth - 1);
	n = node_make(g->a, NODE_STMT,
		      gen_text(g,
			       "for (var %s = 0u; %s < %uu; %s++) {\nif $ { continue; }\n"
			       "for (var %s = %uu; %s > 0u && $; %s -= 1u) {\n$}\n%s$}\n%s",
			       k, k, outer, k, j, inner, j, j, gen_pointer_leave(g),
			       gen_pointer_leave(g)),
		      child, 4);
	g->loops -= 2;
	g->breakable = breakable;
	g->in_loop = in_loop;
	g->n_vars = mark;
	return n;
}

static node *jump(gen *g)
{
	const gtype *truth = gen_scalar(g, S_BOOL);
	node *cond = gen_runtime(g, truth, 2);
	uint32_t pick = gen_below(g, 3);

	if (pick == 0 && g->may_return)
		return g->result == NULL ? stmt(g, gen_pointer_return(g, 0), cond, NULL, NULL)
					 : stmt(g, gen_pointer_return(g, 1), cond,
						gen_expr(g, g->result, 2), NULL);
	if (pick == 1 && g->in_loop)
		return stmt(g, "if $ { continue; }\n", cond, NULL, NULL);
	if (g->breakable)
		return stmt(g, "if $ { break; }\n", cond, NULL, NULL);
	return assignment(g);
}

static node *pointer(gen *g)
{
	const char *p = gen_name(g, "q");
	const gtype *t;
	node *to = NULL;

	/* Components of vectors have no pointers. */
	for (uint32_t tries = 0; tries < 10 && to == NULL; tries++) {
		const gvar *v = &g->vars[gen_below(g, g->n_vars)];

		if (g->n_own != 0 && gen_chance(g, 15)) {
			uint32_t i = gen_below(g, g->n_own);
			gvar own = {g->own[i], g->own_elem[i], V_WRITABLE};

			if (own.type->kind != G_VECTOR && own.type->kind != G_MATRIX)
				to = gen_walk(g, &own, own.type, 0, &t);
		} else if (v->flags & V_WRITABLE && v->type->kind != G_VECTOR &&
			   v->type->kind != G_MATRIX) {
			to = gen_walk(g, v, v->type, 0, &t);
		}
	}
	if (to == NULL)
		return declaration(g);
	to->leaf = NULL;
	gen_declare(g, gen_text(g, "(*%s)", p), t, V_WRITABLE);
	return stmt(g, gen_text(g, "let %s = &$;\n", p), to, NULL, NULL);
}

static node *statement(gen *g, int depth)
{
	uint32_t pick = gen_below(g, 100);
	node *call;

	if (g->n_pfuncs != 0 && g->fuel > 0 && g->loops < 2 && gen_chance(g, 20) &&
	    (call = gen_pointer_call(g)) != NULL)
		return call;
	if (depth > 0 && g->fuel > 0) {
		if (pick < 12)
			return branch(g, depth);
		if (pick < 18)
			return choice(g, depth);
		if (pick < 24 && g->loops < 2 && g->n_loops < 8)
			return loop(g, depth);
		if (pick < 27 && g->loops == 0 && g->n_loops < 7)
			return nest(g, depth);
		if (pick < 29)
			return stmt(g, "{\n$}\n", inner_block(g, 3, depth - 1), NULL, NULL);
	}
	if (pick < 35)
		return jump(g);
	if (pick < 39)
		return pointer(g);
	if (pick < 43 && g->fuel > 0)
		return gen_whole(g);
	if (pick < 48 && g->n_atomics != 0) {
		uint32_t i = gen_below(g, g->n_atomics);

		return stmt(g, g->atomics[i], gen_index(g, 8, 2), gen_expr(g, g->atomic_type[i], 2),
			    NULL);
	}
	if (pick < 50)
		return stmt(g, "_ = $;\n", gen_runtime(g, gen_any_type(g, 1), 2), NULL, NULL);
	return pick < 72 ? declaration(g) : assignment(g);
}

void gen_block(gen *g, node *list, int n, int depth)
{
	for (int i = 0; i < n && g->fuel > 0; i++)
		node_add(g->a, list, statement(g, depth));
}
