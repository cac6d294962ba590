/* Values of array and struct types that are moved as wholes, right after one of their elements was stored at an index
 * that is not known: what drivers keep in memory, in registers and in copies of both meets here. */
#include "evidence/suite/gen.h"

#include <string.h>

static node *stmt(gen *g, const char *format, node *a, node *b)
{
	node *child[2] = {a, b};

	return node_make(g->a, NODE_STMT, format, child, a == NULL ? 0 : b == NULL ? 1 : 2);
}

static node *plain(gen *g, const char *name, const gtype *t)
{
	node *n = gen_node(g, t, name, NULL, NULL, NULL);

	n->constant = 0;
	return n;
}

/* Down from `name` to a scalar or vector, or to a part that is stored whole: by indices that are mostly proven. */
static node *part(gen *g, const char *name, const gtype *t, const gtype **out)
{
	node *at = plain(g, name, t);

	while (t->kind == G_ARRAY || t->kind == G_STRUCT ||
	       (t->kind == G_MATRIX && gen_chance(g, 70))) {
		if (t->kind == G_STRUCT) {
			uint32_t m = gen_below(g, t->count);

			at = gen_node(g, t->member[m], gen_text(g, "$.m%u", m), at, NULL, NULL);
			t = t->member[m];
		} else {
			at = gen_node(g, t->elem, "$[$]", at,
				      gen_chance(g, 70) ? gen_proven(g, t->count, 1)
							: gen_index(g, t->count, 1),
				      NULL);
			t = t->elem;
		}
		if (gen_chance(g, 12))
			break;
	}
	at->leaf = NULL;
	*out = t;
	return at;
}

static void store_part(gen *g, node *list, const char *name, const gtype *t)
{
	const gtype *of;
	node *at = part(g, name, t, &of);

	node_add(g->a, list, stmt(g, "$ = $;\n", at, gen_expr(g, of, 1)));
}

/* Into the invocation's element of a buffer, or a variable; else it is dropped. */
static void store_whole(gen *g, node *list, const char *name, const gtype *t)
{
	for (uint32_t i = 0; i < g->n_own; i++) {
		if (g->own_elem[i] != t)
			continue;
		node_add(g->a, list,
			 stmt(g, gen_text(g, "%s = $;\n", g->own[i]), plain(g, name, t), NULL));
		return;
	}
	for (uint32_t i = 0; i < g->n_vars; i++) {
		if (g->vars[i].type != t || !(g->vars[i].flags & V_WRITABLE) ||
		    strcmp(g->vars[i].name, name) == 0)
			continue;
		node_add(g->a, list,
			 stmt(g, gen_text(g, "%s = $;\n", g->vars[i].name), plain(g, name, t),
			      NULL));
		return;
	}
}

/* A variable of the type with elements stored, at the end of the list; its name. */
static const char *make(gen *g, node *list, const gtype *t)
{
	const char *name = gen_name(g, "w");

	node_add(g->a, list,
		 stmt(g, gen_text(g, "var %s: %s = $;\n", name, t->name), gen_expr(g, t, 2), NULL));
	for (uint32_t n = 1 + gen_below(g, 2); n > 0; n--)
		store_part(g, list, name, t);
	return name;
}

node *gen_whole_own(gen *g, uint32_t i)
{
	static const uint32_t counts[] = {2, 4, 5, 8};
	const gtype *t = g->own_elem[i];
	const int is_whole = t->kind == G_ARRAY || t->kind == G_STRUCT;
	node *list = node_make(g->a, NODE_LIST, NULL, NULL, 0);
	const uint32_t n = counts[gen_below(g, 4)];
	const char *name = make(g, list, is_whole ? t : gen_array(g, t, n));

	if (is_whole)
		node_add(g->a, list,
			 stmt(g, gen_text(g, "%s = $;\n", g->own[i]), plain(g, name, t), NULL));
	else
		node_add(g->a, list,
			 stmt(g, gen_text(g, "%s = %s[$];\n", g->own[i], name), gen_index(g, n, 1),
			      NULL));
	return list;
}

node *gen_whole(gen *g)
{
	const gtype *t = NULL;
	node *list = node_make(g->a, NODE_LIST, NULL, NULL, 0);
	const char *name, *copy;

	if (g->n_own != 0 && gen_chance(g, 70))
		t = g->own_elem[gen_below(g, g->n_own)];
	if (t == NULL || (t->kind != G_ARRAY && t->kind != G_STRUCT))
		t = gen_any_whole(g, 1);
	g->fuel -= 4;
	name = make(g, list, t);
	gen_declare(g, name, t, V_WRITABLE);
	if (gen_chance(g, 60)) {
		store_whole(g, list, name, t);
		return list;
	}
	copy = gen_name(g, "c");
	node_add(g->a, list, stmt(g, gen_text(g, "var %s = $;\n", copy), plain(g, name, t), NULL));
	store_part(g, list, gen_chance(g, 50) ? copy : name, t);
	gen_declare(g, copy, t, V_WRITABLE);
	store_whole(g, list, copy, t);
	return list;
}
