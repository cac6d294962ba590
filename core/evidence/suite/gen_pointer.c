/* Functions that take pointers, and their calls: to whole variables and elements in every address space, with indices
 * that may be outside and may have effects, passed on to others, with returns from inside loops. With GEN_IN_PLACE the
 * same draws give the same program without a pointer: bodies stand where they are called, indices in variables. */
#include "evidence/suite/gen.h"

#include <stdlib.h>
#include <string.h>

static const char *const spaces[] = {"function", "private", "workgroup",
				     "storage",	 "storage", "uniform"};

static node *make(gen *g, const char *format, node *const *child, uint32_t n)
{
	return node_make(g->a, NODE_STMT, format, child, n);
}

/* `text` with every `from` replaced. */
static const char *replaced(gen *g, const char *text, const char *from, const char *to)
{
	const char *out = "", *at;

	for (; (at = strstr(text, from)) != NULL; text = at + strlen(from))
		out = gen_text(g, "%s%.*s%s", out, (int)(at - text), text, to);
	return gen_text(g, "%s%s", out, text);
}

/* ---- functions -------------------------------------------------------------------------------- */

/* A variable of the module that only pointers lead to while functions run: a name would be an alias. */
static void make_home(gen *g, node *root, gpointer *p)
{
	const gtype *row = gen_array(g, p->type, 1 + gen_below(g, 4));

	if (p->space != GP_PRIVATE && p->space != GP_WORKGROUP)
		return;
	p->home = gen_name(g, "home");
	p->home_type = row;
	node_add(g->a, root,
		 make(g,
		      p->space == GP_PRIVATE
			      ? gen_text(g, "var<private> %s: %s;\n", p->home, row->name)
			      : gen_text(g, "var<workgroup> %s: array<%s, %u>;\n", p->home,
					 row->name, g->invocations),
		      NULL, 0));
}

static void choose(gen *g, gpointer *p, uint32_t i)
{
	const uint32_t pick = gen_below(g, 100);
	const gpfunc *other = g->n_pfuncs != 0 ? &g->pfuncs[gen_below(g, g->n_pfuncs)] : NULL;

	*p = (gpointer){.space = GP_FUNCTION, .name = gen_name(g, "p")};
	if (pick < 35 && other != NULL && other->pointer[0].space <= GP_WORKGROUP) {
		/* What another takes, or a row of it, so that it can be passed on. */
		p->space = other->pointer[0].space;
		p->type = gen_chance(g, 50)
				  ? other->pointer[0].type
				  : gen_array(g, other->pointer[0].type, 1 + gen_below(g, 4));
		return;
	}
	if (pick < 45 && g->n_own != 0 && i == 0) {
		p->space = GP_OWN;
		p->own = gen_below(g, g->n_own);
		p->type = g->own_elem[p->own];
		return;
	}
	if (pick < 55 && g->n_buffers != 0) {
		const gvar *b = &g->buffers[gen_below(g, g->n_buffers)];

		p->space = strcmp(b->name, "un") == 0 ? GP_UNIFORM : GP_READ;
		p->type = b->type;
		p->home = b->name;
		return;
	}
	p->space = gen_below(g, 3);
	p->type = gen_chance(g, 60) ? gen_any_simple(g) : gen_any_type(g, 1);
	if (p->space == GP_WORKGROUP) /* of which there is one for each invocation */
		p->type = gen_scalar(g, gen_any_scalar(g, 1));
}

static const char *pointer_type(gen *g, const gpointer *p)
{
	return gen_text(g, "ptr<%s, %s%s>", spaces[p->space], p->type->name,
			p->space == GP_OWN ? ", read_write" : "");
}

/* One more store through each pointer, by a walk that may end anywhere in it. */
static void store(gen *g, node *list, const gpointer *p)
{
	const gvar v = {gen_text(g, "(*%s)", p->name), p->type, V_WRITABLE};
	const gtype *t;
	node *child[2];

	if (p->space >= GP_READ)
		return;
	child[0] = gen_walk(g, &v, NULL, 4, &t);
	child[0]->leaf = NULL;
	child[1] = gen_expr(g, t, 2);
	node_add(g->a, list, make(g, "$ = $;\n", child, 2));
}

/* A loop that stores and may be left by a return. */
static node *search(gen *g, const gpfunc *f)
{
	node *list = node_make(g->a, NODE_LIST, NULL, NULL, 0), *child[2];
	const char *k = gen_name(g, "k");
	const uint32_t mark = g->n_vars, turns = 1 + gen_below(g, 6);

	g->loops++;
	gen_declare(g, k, gen_scalar(g, S_U32), 0);
	for (uint32_t i = 0; i < f->n_pointers; i++)
		store(g, list, &f->pointer[i]);
	child[0] = gen_runtime(g, gen_scalar(g, S_BOOL), 2);
	child[1] = gen_expr(g, f->result, 1);
	node_add(g->a, list, make(g, gen_pointer_return(g, 1), child, 2));
	g->loops--;
	g->n_vars = mark;
	return make(g,
		    gen_text(g, "for (var %s = 0u; %s < %uu; %s++) {\n$}\n%s", k, k, turns, k,
			     gen_pointer_leave(g)),
		    &list, 1);
}

const char *gen_seen(gen *g, const char *name, const gtype *t)
{
	while (t->kind == G_ARRAY || t->kind == G_MATRIX || t->kind == G_VECTOR) {
		name = gen_text(g, "%s[0]", name);
		t = t->elem;
	}
	if (t->kind != G_SCALAR)
		return "";
	return gen_text(g, "p_u32 = p_u32 * 31u + %s(%s);\n",
			t->scalar == S_F32 ? "bitcast<u32>" : "u32", name);
}

void gen_pointer_function(gen *g, node *root)
{
	gpfunc *f = &g->pfuncs[g->n_pfuncs];
	node *list = node_make(g->a, NODE_LIST, NULL, NULL, 0), *parts[2];
	const uint32_t mark = g->n_vars, n_own = g->n_own, n_lengths = g->n_lengths;
	const char *head;
	char *text;

	*f = (gpfunc){.name = gen_name(g, "via"),
		      .result = gen_chance(g, 70) ? gen_any_simple(g) : gen_any_type(g, 1),
		      .n_pointers = 1 + gen_below(g, 2),
		      .n_params = gen_below(g, 3),
		      .returned = gen_name(g, "left"),
		      .value = gen_name(g, "gives")};
	head = gen_text(g, "fn %s(", f->name);
	for (uint32_t i = 0; i < f->n_pointers; i++) {
		gpointer *p = &f->pointer[i];

		choose(g, p, i);
		make_home(g, root, p);
		head = gen_text(g, "%s%s%s: %s", head, i == 0 ? "" : ", ", p->name,
				pointer_type(g, p));
		gen_declare(g, gen_text(g, "(*%s)", p->name), p->type,
			    p->space >= GP_READ ? 0 : V_WRITABLE);
		if (p->type->kind == G_RUNTIME && g->n_lengths < 6)
			g->lengths[g->n_lengths++] = gen_text(g, "arrayLength(&(*%s))", p->name);
	}
	for (uint32_t i = 0; i < f->n_params; i++) {
		f->param_name[i] = gen_name(g, "a");
		f->param[i] = gen_any_simple(g);
		head = gen_text(g, "%s, %s: %s", head, f->param_name[i], f->param[i]->name);
		gen_declare(g, f->param_name[i], f->param[i], 0);
	}
	g->n_own = 0;
	g->inside = f;
	g->result = f->result;
	g->may_return = 1;
	g->fuel = (60 + (int)gen_below(g, 60)) / (g->floats ? 4 : 1);
	for (uint32_t i = 0; i < f->n_pointers; i++)
		store(g, list, &f->pointer[i]);
	if (gen_chance(g, 50))
		node_add(g->a, list, search(g, f));
	gen_block(g, list, 2 + (int)gen_below(g, 4), 2);
	parts[0] = list;
	parts[1] = gen_expr(g, f->result, 3);
	g->may_return = 0;
	g->inside = NULL;
	g->n_vars = mark;
	g->n_own = n_own;
	g->n_lengths = n_lengths;
	if (g->in_place) {
		text = node_text(make(g, gen_text(g, "$%s = $;\n", f->value), parts, 2));
		f->body = gen_text(g, "%s", text);
		free(text);
	} else {
		node_add(g->a, root,
			 make(g, gen_text(g, "%s) -> %s {\n$return $;\n}\n", head, f->result->name),
			      parts, 2));
	}
	g->n_pfuncs++;
}

/* ---- calls ------------------------------------------------------------------------------------ */

/* A call being written: what goes before it, and the text for each pointer, with an index or two. */
struct call {
	const gpfunc *f;
	node *child[8];
	uint32_t n;
	const char *before;    /* variables of this call */
	const char *behind;    /* what they hold goes into what is seen */
	const char *indices;   /* in place: their variables, each a hole */
	const char *target[2]; /* with the pointer's place, as holes or by those variables */
};

/* One more index of a place: a hole, or the name of the variable that has it. */
static const char *index_of(gen *g, struct call *c, uint32_t length)
{
	const gtype *u32 = gen_scalar(g, S_U32);
	const char *name = gen_name(g, "at");
	node *n = gen_index(g, length, 1);

	/* With an effect: it shows how often an index is evaluated. */
	if (gen_chance(g, 35))
		n = gen_node(g, u32, gen_text(g, "(pick($) %% %uu)", length + gen_below(g, 2)),
			     gen_runtime(g, u32, 1), NULL, NULL);
	if (g->twice) {
		c->child[c->n++] = n;
		c->indices = gen_text(g, "%s_ = $;\n", c->indices);
	}
	c->child[c->n++] = n;
	c->indices = gen_text(g, "%slet %s = $;\n", c->indices, name);
	return g->in_place ? name : "$";
}

/* The place for a pointer; 0 when none can be had here. taken: what the call's other pointer leads to. */
static int aim(gen *g, struct call *c, uint32_t i, const char **taken)
{
	const gpointer *p = &c->f->pointer[i];
	const char *root = p->home;
	const gtype *row;

	/* A pointer that came in goes on. */
	for (uint32_t k = 0; g->inside != NULL && k < g->inside->n_pointers; k++) {
		const gpointer *q = &g->inside->pointer[k];
		const int is_row = q->type->kind == G_ARRAY && q->type->elem == p->type;

		if (q->space != p->space || (q->type != p->type && !is_row) ||
		    (*taken != NULL && strcmp(*taken, q->name) == 0))
			continue;
		*taken = q->name;
		c->target[i] = gen_text(g, "(*%s)", q->name);
		if (q->type != p->type)
			c->target[i] =
				gen_text(g, "%s[%s]", c->target[i], index_of(g, c, q->type->count));
		return 1;
	}
	if (p->space == GP_FUNCTION) {
		row = gen_array(g, p->type, 1 + gen_below(g, 4));
		root = gen_name(g, "row");
		c->before = gen_text(g, "%svar %s: %s;\n", c->before, root, row->name);
		c->target[i] = gen_text(g, "%s[%s]", root, index_of(g, c, row->count));
		gen_declare(g, root, row, V_WRITABLE);
		c->behind = gen_text(g, "%s%s", c->behind, gen_seen(g, root, row));
		return 1;
	}
	/* Memory of the module is passed from the entry point alone: elsewhere it might have come in. */
	if (g->gi == NULL || g->inside != NULL ||
	    (*taken != NULL && strcmp(*taken, root ? root : "") == 0))
		return 0;
	switch (p->space) {
	case GP_PRIVATE:
		c->target[i] = gen_text(g, "%s[%s]", root, index_of(g, c, p->home_type->count));
		break;
	case GP_WORKGROUP:
		c->target[i] = gen_text(g, "%s[li][%s]", root, index_of(g, c, p->home_type->count));
		break;
	case GP_OWN:
		root = g->own[p->own];
		c->target[i] = root;
		break;
	default:
		c->target[i] = root;
		break;
	}
	if (p->space == GP_PRIVATE)
		c->behind = gen_text(g, "%s%s", c->behind, gen_seen(g, root, p->home_type));
	if (p->space == GP_WORKGROUP)
		c->behind = gen_text(g, "%s%s", c->behind,
				     gen_seen(g, gen_text(g, "%s[li]", root), p->home_type));
	*taken = root;
	return root != NULL;
}

node *gen_pointer_call(gen *g)
{
	struct call c = {.before = "", .behind = "", .indices = ""};
	const char *name = gen_name(g, "got"), *once = gen_name(g, "once"), *text, *args = "",
		   *values = "", *taken = NULL, *body;
	const uint32_t mark = g->n_vars;
	const gpfunc *f;

	g->fuel -= 6;
	c.f = f = &g->pfuncs[gen_below(g, g->n_pfuncs)];
	for (uint32_t i = 0; i < f->n_pointers; i++) {
		if (!aim(g, &c, i, &taken)) {
			g->n_vars = mark;
			return NULL;
		}
		args = gen_text(g, "%s%s&%s", args, i == 0 ? "" : ", ", c.target[i]);
	}
	for (uint32_t i = 0; i < f->n_params; i++) {
		c.child[c.n++] = gen_expr(g, f->param[i], 2);
		args = gen_text(g, "%s, $", args);
		values = gen_text(g, "%slet %s: %s = $;\n", values, f->param_name[i],
				  f->param[i]->name);
	}
	gen_declare(g, name, f->result, V_WRITABLE);
	c.behind = gen_text(g, "%s%s", c.behind, gen_seen(g, name, f->result));
	if (!g->in_place) {
		text = gen_text(g, "%svar %s = %s(%s);\n%s", c.before, name, f->name, args,
				c.behind);
		return make(g, text, c.child, c.n);
	}
	body = f->body;
	for (uint32_t i = 0; i < f->n_pointers; i++)
		body = replaced(g, body, gen_text(g, "(*%s)", f->pointer[i].name), c.target[i]);
	text = gen_text(g,
			"%svar %s: %s;\n{\n%s%svar %s: %s;\nvar %s = false;\n"
			"for (var %s = 0u; %s < 1u; %s++) {\n%s}\n%s = %s;\n}\n%s",
			c.before, name, f->result->name, c.indices, values, f->value,
			f->result->name, f->returned, once, once, once, body, name, f->value,
			c.behind);
	return make(g, text, c.child, c.n);
}

const char *gen_pointer_return(gen *g, int has_value)
{
	if (!g->in_place || g->inside == NULL)
		return has_value ? "if $ { return $; }\n" : "if $ { return; }\n";
	return gen_text(g, "if $ { %s = $; %s = true; break; }\n", g->inside->value,
			g->inside->returned);
}

const char *gen_pointer_leave(gen *g)
{
	if (!g->in_place || g->inside == NULL)
		return "";
	return gen_text(g, "if %s { break; }\n", g->inside->returned);
}
