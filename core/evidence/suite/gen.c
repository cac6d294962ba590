/* A whole program from a seed: its types, buffers and functions, and an entry point in phases with
 * barriers between them. */
#include "evidence/suite/gen.h"

#include <string.h>

#include "foundation/base/hash.h"

uint64_t gen_u64(gen *g)
{
	uint64_t z;

	g->state += PCTL_SPLITMIX_STEP;
	z = g->state;
	return pctl_mix64(z);
}

struct making {
	gen *g;
	node *root, *header, *body;
	uint32_t n_bindings;
	uint32_t invocations; /* of a workgroup */
	uint32_t size[3];
	uint32_t dispatches[4][3];
	uint32_t n_dispatches;
	uint32_t most;	     /* invocations of the largest dispatch */
	const gtype *shared; /* element of the workgroup array */
	const char *family;
	int is_large, has_subgroups, has_tiles, has_barriers;
};

static void line(node *list, gen *g, const char *text)
{
	node_add(g->a, list, node_make(g->a, NODE_STMT, text, NULL, 0));
}

static void make_structs(struct making *m)
{
	gen *g = m->g;
	uint32_t n = gen_below(g, 4);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t n_members = 1 + gen_below(g, 4);
		const gtype **member = pctl_arena_array(g->a, n_members, sizeof(*member));
		const char *name = gen_text(g, "S%u", i);
		const char *text = gen_text(g, "struct %s {\n", name);

		for (uint32_t k = 0; k < n_members; k++) {
			member[k] = gen_any_type(g, i == 2);
			text = gen_text(g, "%s\tm%u: %s,\n", text, k, member[k]->name);
		}
		gen_struct(g, name, member, n_members);
		line(m->root, g, gen_text(g, "%s}\n", text));
	}
}

static void note_binding(struct making *m, uint32_t number, uint64_t bytes)
{
	line(m->header, m->g,
	     gen_text(m->g, "//! binding 0:%u bytes %llu\n", number, (unsigned long long)bytes));
}

/* A buffer of elements: how many is sometimes less than there are invocations. */
static const gtype *make_elements(struct making *m, uint32_t number, uint32_t most,
				  const gtype *elem)
{
	gen *g = m->g;
	const gtype *t = gen_array(g, elem, 0);
	uint32_t count = gen_chance(g, 30) ? 1 + gen_below(g, most) : most;

	if (gen_chance(g, 5))
		count = 0;
	note_binding(m, number, ((uint64_t)count * elem->stride + 3) / 4 * 4);
	return t;
}

static void make_inputs(struct making *m)
{
	gen *g = m->g;
	uint32_t n = gen_below(g, 3);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t number = m->n_bindings++;
		const char *name = gen_text(g, "in%u", i);
		const gtype *t;

		if (gen_chance(g, 25)) {
			t = gen_any_shared(g);
			note_binding(m, number, ((uint64_t)t->size + 3) / 4 * 4);
		} else {
			t = make_elements(m, number, 1 + gen_below(g, 70), gen_any_shared(g));
			g->lengths[g->n_lengths++] = gen_text(g, "arrayLength(&%s)", name);
		}
		line(m->root, g,
		     gen_text(g, "@group(0) @binding(%u) var<storage> %s: %s;\n", number, name,
			      t->name));
		gen_declare(g, name, t, 0);
		g->buffers[g->n_buffers++] = g->vars[g->n_vars - 1];
	}
}

/* Uniform memory wants strides of 16 bytes, so its types are few. */
static void make_uniform(struct making *m)
{
	gen *g = m->g;
	const gtype **member = pctl_arena_array(g->a, 3, sizeof(*member)), *t;
	const char *text = "struct U {\n";
	uint32_t n = 1 + gen_below(g, 3), number = m->n_bindings++;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t s = gen_any_scalar(g, 0);

		member[k] = gen_chance(g, 50)	? gen_scalar(g, s)
			    : gen_chance(g, 50) ? gen_vector(g, s, 2 + gen_below(g, 3))
			    : gen_chance(g, 50)
				    ? gen_array(g, gen_vector(g, s, 4), 1 + gen_below(g, 4))
				    : gen_matrix(g, s, 2 + gen_below(g, 3), 3 + gen_below(g, 2));
		text = gen_text(g, "%s\tm%u: %s,\n", text, k, member[k]->name);
	}
	t = gen_struct(g, "U", member, n);
	line(m->root, g, gen_text(g, "%s}\n", text));
	line(m->root, g, gen_text(g, "@group(0) @binding(%u) var<uniform> un: U;\n", number));
	note_binding(m, number, t->size);
	gen_declare(g, "un", t, 0);
	g->buffers[g->n_buffers++] = g->vars[g->n_vars - 1];
}

static void make_outputs(struct making *m)
{
	gen *g = m->g;
	uint32_t n = 1 + gen_below(g, 2);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t number = m->n_bindings++;
		const gtype *t =
			make_elements(m, number, m->most,
				      gen_chance(g, 40) ? gen_any_whole(g, 0) : gen_any_shared(g));

		line(m->root, g,
		     gen_text(g, "@group(0) @binding(%u) var<storage, read_write> out%u: %s;\n",
			      number, i, t->name));
		g->lengths[g->n_lengths++] = gen_text(g, "arrayLength(&out%u)", i);
		g->own[g->n_own] = gen_text(g, "out%u[gi]", i);
		g->own_elem[g->n_own++] = t->elem;
	}
}

static void make_atomics(struct making *m)
{
	static const char *const family[] = {"Add", "Sub", "Min", "Max", "And", "Or", "Xor"};
	gen *g = m->g;
	uint32_t number = m->n_bindings++, which = gen_below(g, 7);
	const gtype *t = gen_scalar(g, gen_chance(g, 50) ? S_U32 : S_I32);

	line(m->root, g,
	     gen_text(g, "@group(0) @binding(%u) var<storage, read_write> at: array<atomic<%s>>;\n",
		      number, t->name));
	note_binding(m, number, 4u * (1 + gen_below(g, 12)));
	g->atomic_type[g->n_atomics] = t;
	g->atomics[g->n_atomics++] = gen_text(g, "atomic%s(&at[$], $);\n", family[which]);
	if (which < 2)
		return;
	/* a second of the same family would be the same; a scalar one of its own */
	number = m->n_bindings++;
	note_binding(m, number, 4);
	line(m->root, g,
	     gen_text(g, "@group(0) @binding(%u) var<storage, read_write> total: atomic<i32>;\n",
		      number));
	g->atomic_type[g->n_atomics] = gen_scalar(g, S_I32);
	g->atomics[g->n_atomics++] = "atomicAdd(&total, p_i32 * i32($) + $);\n";
}

static void make_privates(struct making *m)
{
	static const char *const zero[S_KINDS] = {"true", "-7i", "3u", "-5li", "11lu", "-1.5f"};
	gen *g = m->g;

	for (uint32_t s = 0; s < S_KINDS; s++) {
		const gtype *t = gen_scalar(g, s);

		if (!gen_may_use(g, s))
			continue;

		line(m->root, g,
		     gen_text(g, "var<private> %s: %s = %s;\n", t->leaf, t->name, zero[s]));
		gen_declare(g, t->leaf, t, V_WRITABLE);
	}
	if (gen_chance(g, 50)) {
		const gtype *t = gen_any_type(g, 1);

		line(m->root, g, gen_text(g, "var<private> pv: %s;\n", t->name));
		gen_declare(g, "pv", t, V_WRITABLE);
	}
	if (gen_chance(g, 50)) {
		const gtype *t = gen_any_whole(g, 1);

		line(m->root, g, gen_text(g, "var<private> pw: %s;\n", t->name));
		gen_declare(g, "pw", t, V_WRITABLE);
	}
	if (gen_chance(g, 50)) {
		line(m->root, g,
		     "fn touch(by: u32) -> bool {\np_u32 = p_u32 * 5u + by;\nreturn (p_u32 & 6u) "
		     "!= "
		     "0u;\n}\n");
		g->touches = 1;
	}
	if (gen_chance(g, 40)) {
		line(m->root, g, "override ov: u32 = 4u;\noverride on: i32 = -3;\n");
		if (gen_chance(g, 60))
			line(m->header, g, gen_text(g, "//! override ov %u\n", gen_below(g, 90)));
		if (gen_chance(g, 60))
			line(m->header, g,
			     gen_text(g, "//! override on %d\n", (int)gen_below(g, 90) - 45));
		gen_declare(g, "ov", gen_scalar(g, S_U32), V_CONST);
		gen_declare(g, "on", gen_scalar(g, S_I32), V_CONST);
	}
}

static void make_function(struct making *m)
{
	gen *g = m->g;
	gfunc *f = &g->funcs[g->n_funcs];
	node *list = node_make(g->a, NODE_LIST, NULL, NULL, 0), *parts[2];
	uint32_t mark = g->n_vars, n_own = g->n_own;
	const char *head;

	*f = (gfunc){.name = gen_name(g, "fun"),
		     .result = gen_chance(g, 70) ? gen_any_simple(g) : gen_any_type(g, 1),
		     .n_params = gen_below(g, 4)};
	head = gen_text(g, "fn %s(", f->name);
	for (uint32_t i = 0; i < f->n_params; i++) {
		const char *name = gen_name(g, "a");

		f->param[i] = gen_chance(g, 60) ? gen_any_simple(g) : gen_any_type(g, 1);
		head = gen_text(g, "%s%s%s: %s", head, i == 0 ? "" : ", ", name, f->param[i]->name);
		gen_declare(g, name, f->param[i], 0);
	}
	g->n_own = 0;
	g->result = f->result;
	g->may_return = 1;
	g->fuel = 60 + (int)gen_below(g, 60);
	g->fuel /= g->floats ? 4 : 1;
	gen_block(g, list, 1 + (int)gen_below(g, 5), 2);
	parts[0] = list;
	parts[1] = gen_expr(g, f->result, 3);
	node_add(g->a, m->root,
		 node_make(g->a, NODE_STMT,
			   gen_text(g, "%s) -> %s {\n$return $;\n}\n", head, f->result->name),
			   parts, 2));
	g->may_return = 0;
	g->n_vars = mark;
	g->n_own = n_own;
	g->n_funcs++;
}

static void make_dispatches(struct making *m)
{
	static const uint32_t sizes[][3] = {{1, 1, 1}, {8, 1, 1}, {4, 2, 1},  {64, 1, 1}, {3, 3, 2},
					    {7, 1, 1}, {2, 2, 4}, {32, 1, 1}, {16, 4, 1}};
	gen *g = m->g;

	memcpy(m->size, sizes[gen_below(g, 9)], sizeof(m->size));
	if (m->has_tiles)
		gen_tile_workgroup(g, m->size);
	if (m->has_barriers)
		gen_barrier_workgroup(g, m->size);
	m->invocations = m->size[0] * m->size[1] * m->size[2];
	m->n_dispatches = 2 + gen_below(g, 2);
	for (uint32_t i = 0; i < m->n_dispatches; i++) {
		uint32_t *d = m->dispatches[i], n;

		for (uint32_t k = 0; k < 3; k++)
			d[k] = gen_chance(g, k == 0 ? 70 : 20) ? 1 + gen_below(g, 3) : 1;
		n = d[0] * d[1] * d[2] * m->invocations;
		m->most = n > m->most ? n : m->most;
		line(m->header, g,
		     gen_text(g, "//! dispatch %u,%u,%u inputs %llu\n", d[0], d[1], d[2],
			      (unsigned long long)gen_u64(g)));
	}
}

/* ---- the entry point, in phases ---- */

/* What pointers lead to is seen by its names, too, and atomics are reached by them. */
static void make_homes(struct making *m)
{
	gen *g = m->g;

	for (uint32_t i = 0; i < g->n_pfuncs; i++)
		for (uint32_t k = 0; k < g->pfuncs[i].n_pointers; k++) {
			const gpointer *p = &g->pfuncs[i].pointer[k];

			if (p->home_type != NULL)
				gen_declare(g,
					    p->space == GP_PRIVATE ? p->home
								   : gen_text(g, "%s[li]", p->home),
					    p->home_type, V_WRITABLE);
		}
}

static void make_pointers(struct making *m)
{
	gen *g = m->g;

	const uint32_t number = m->n_bindings++;

	g->invocations = m->invocations;
	note_binding(m, number, 4ull * m->most);
	line(m->root, g,
	     gen_text(g, "@group(0) @binding(%u) var<storage, read_write> seen: array<u32>;\n",
		      number));
	line(m->root, g, "fn pick(by: u32) -> u32 {\np_u32 = p_u32 * 3u + by;\nreturn p_u32;\n}\n");
	for (uint32_t i = 0; i < g->n_atomics; i++) {
		const char *old = strstr(g->atomics[i], "&at[$]"), *t = g->atomic_type[i]->name;

		if (old == NULL)
			continue;
		if (!g->in_place)
			line(m->root, g,
			     gen_text(g,
				      "fn bump(p: ptr<storage, atomic<%s>, read_write>, v: %s) "
				      "{\n%.*sp, v);\n}\n",
				      t, t, (int)(old - g->atomics[i]), g->atomics[i]));
		if (!g->in_place)
			g->atomics[i] = "bump(&at[$], $);\n";
	}
	for (uint32_t i = 2 + gen_below(g, 2); i > 0; i--)
		gen_pointer_function(g, m->root);
}

static node *one(gen *g, const char *format, node *child)
{
	return node_make(g->a, NODE_STMT, format, &child, child != NULL);
}

/* Every invocation writes its own element, all read after the barrier, and a second barrier lets
 * the next phase write again. */
static void exchange(struct making *m)
{
	gen *g = m->g;
	uint32_t n_own = g->n_own;

	node_add(g->a, m->body, one(g, "wg[li] = $;\n", gen_expr(g, m->shared, 3)));
	line(m->body, g, "workgroupBarrier();\n");
	gen_declare(g, "wg", gen_array(g, m->shared, m->invocations), 0);
	gen_block(g, m->body, 2 + (int)gen_below(g, 3), 2);
	line(m->body, g, "workgroupBarrier();\n");
	/* what was read stays in variables; the array itself may not be read while it is written */
	for (uint32_t i = 0; i < g->n_vars; i++) {
		if (strcmp(g->vars[i].name, "wg") == 0)
			g->vars[i] = g->vars[0];
	}
	g->n_own = n_own;
}

static void scan(struct making *m)
{
	static const char *const ops[] = {"+", "*", "^", "&", "|"};
	gen *g = m->g;
	const char *op = ops[gen_below(g, 5)], *name = gen_name(g, "scanned");

	if (!gen_is_integer(m->shared) && !gen_is_float(m->shared))
		return;
	if (gen_is_float(m->shared))
		op = ops[gen_below(g, 2)];
	node_add(g->a, m->body, one(g, "wg[li] = $;\n", gen_expr(g, m->shared, 2)));
	line(m->body, g,
	     gen_text(g,
		      "workgroupBarrier();\n"
		      "for (var d = 1u; d < %uu; d <<= 1u) {\n"
		      "let other = wg[(li + d) %% %uu];\n"
		      "workgroupBarrier();\n"
		      "wg[li] = wg[li] %s other;\n"
		      "workgroupBarrier();\n"
		      "}\n",
		      m->invocations + 1, m->invocations, op));
	line(m->body, g,
	     gen_text(g, "var %s = wg[(li * 5u + 1u) %% %uu];\n", name, m->invocations));
	line(m->body, g, "workgroupBarrier();\n");
	gen_declare(g, name, m->shared, V_WRITABLE);
}

static void count(struct making *m)
{
	gen *g = m->g;

	node_add(g->a, m->body,
		 one(g, gen_text(g, "atomic%s(&wa[li %% 5u], $);\n", m->family),
		     gen_expr(g, gen_scalar(g, S_U32), 2)));
	line(m->body, g,
	     "workgroupBarrier();\n"
	     "var counted = atomicLoad(&wa[(li + 2u) % 5u]);\n"
	     "workgroupBarrier();\n");
	gen_declare(g, "counted", gen_scalar(g, S_U32), V_WRITABLE);
}

static void broadcast(struct making *m)
{
	gen *g = m->g;
	const char *name = gen_name(g, "b");

	node_add(g->a, m->body,
		 one(g, "if li == 0u { wu = $; }\n", gen_expr(g, gen_scalar(g, S_I32), 2)));
	line(m->body, g, gen_text(g, "let %s = workgroupUniformLoad(&wu);\n", name));
	gen_declare(g, name, gen_scalar(g, S_I32), 0);
}

static void make_workgroup(struct making *m)
{
	static const char *const family[] = {"Add", "Max", "Or", "Xor", "Sub"};
	gen *g = m->g;

	m->shared = gen_chance(g, 70) ? gen_any_simple(g) : gen_any_type(g, 1);
	m->family = family[gen_below(g, 5)];
	line(m->root, g,
	     gen_text(g, "var<workgroup> wg: array<%s, %u>;\n", m->shared->name, m->invocations));
	line(m->root, g, "var<workgroup> wa: array<atomic<u32>, 5>;\nvar<workgroup> wu: i32;\n");
}

static void make_entry(struct making *m)
{
	gen *g = m->g;
	const gtype *u32 = gen_scalar(g, S_U32), *v3 = gen_vector(g, S_U32, 3);
	uint32_t phases = gen_chance(g, 60) ? 1 + gen_below(g, 3) : 0, mark = g->n_vars;
	node *parts[1];

	m->body = node_make(g->a, NODE_LIST, NULL, NULL, 0);
	if (phases != 0)
		make_workgroup(m);
	gen_declare(g, "gid", v3, 0);
	gen_declare(g, "lid", v3, 0);
	gen_declare(g, "wid", v3, 0);
	gen_declare(g, "nwg", v3, 0);
	gen_declare(g, "li", u32, 0);
	gen_declare(g, "gi", u32, 0);
	g->gi = "gi";
	g->result = NULL;
	make_homes(m);
	for (uint32_t i = 0; i < g->n_own; i++)
		gen_declare(g, g->own[i], g->own_elem[i], 0);
	for (uint32_t i = 0; i < phases; i++) {
		g->fuel = g->floats ? 40 : 120;
		gen_block(g, m->body, 1 + (int)gen_below(g, 3), 2);
		switch (gen_below(g, 4)) {
		case 0:
			scan(m);
			break;
		case 1:
			if (i == 0)
				count(m);
			else
				exchange(m);
			break;
		case 2:
			broadcast(m);
			break;
		default:
			exchange(m);
		}
		if (gen_chance(g, 15))
			line(m->body, g, "storageBarrier();\n");
		if (m->has_subgroups)
			gen_subgroups(g, m->body);
	}
	if (m->has_subgroups)
		gen_subgroups(g, m->body);
	if (m->has_tiles)
		gen_tiles(g, m->body, m->invocations);
	if (m->has_barriers)
		gen_barriers(g, m->body);
	g->fuel = 200 + (int)gen_below(g, 200);
	g->fuel /= g->floats ? 6 : 1;
	g->may_return = 1;
	if (m->is_large)
		node_add(g->a, m->body, gen_large(g));
	for (uint32_t i = 2 * g->n_pfuncs; i > 0; i--) {
		node *call = gen_pointer_call(g);

		if (call != NULL)
			node_add(g->a, m->body, call);
	}
	if (g->n_pfuncs != 0)
		line(m->body, g, "seen[gi] = p_u32;\n");
	gen_block(g, m->body, 3 + (int)gen_below(g, 6), 3);
	for (uint32_t i = 0; i < g->n_own; i++) {
		g->fuel = g->floats ? 12 : 40;
		if (gen_chance(g, gen_width(g->own_elem[i]) == 0 ? 70 : 30))
			node_add(g->a, m->body, gen_whole_own(g, i));
		else
			node_add(g->a, m->body,
				 one(g, gen_text(g, "%s = $;\n", g->own[i]),
				     gen_expr(g, g->own_elem[i], 4)));
	}
	g->n_vars = mark;
	parts[0] = m->body;
	node_add(g->a, m->root,
		 node_make(
			 g->a, NODE_STMT,
			 gen_text(g,
				  "@compute @workgroup_size(%u, %u, %u)\n"
				  "fn main(@builtin(global_invocation_id) gid: vec3<u32>,\n"
				  "@builtin(local_invocation_id) lid: vec3<u32>,\n"
				  "@builtin(workgroup_id) wid: vec3<u32>,\n"
				  "@builtin(num_workgroups) nwg: vec3<u32>,\n"
				  "@builtin(local_invocation_index) li: u32) {\n"
				  "let gi = ((wid.z * nwg.y + wid.y) * nwg.x + wid.x) * %uu + li;\n"
				  "$}\n",
				  m->size[0], m->size[1], m->size[2], m->invocations),
			 parts, 1));
}

static void make_subgroups(struct making *m)
{
	gen *g = m->g;

	line(m->header, g, gen_text(g, "//# subgroup = %u\n", 4u << gen_below(g, 6)));
	line(m->root, g, "enable subgroups;\n");
	m->has_subgroups = 1;
}

static void make_tiles(struct making *m)
{
	line(m->header, m->g, "//# subgroup = 32\n");
	line(m->root, m->g, "enable chromium_experimental_subgroup_matrix;\n");
	m->has_tiles = 1;
}

/* A buffer with a word for each invocation. */
static void make_words(struct making *m, const char *name)
{
	const uint32_t number = m->n_bindings++;

	note_binding(m, number, 4ull * m->most);
	line(m->root, m->g,
	     gen_text(m->g, "@group(0) @binding(%u) var<storage, read_write> %s: array<u32>;\n",
		      number, name));
}

node *gen_program(pctl_arena *a, uint64_t seed, uint32_t flags)
{
	const int floats = (flags & GEN_FLOATS) != 0;
	gen g = {.a = a, .state = seed, .tiles = {.may_float = (flags & GEN_FLOAT_TILES) != 0}};
	struct making m = {.g = &g};

	g.wide = gen_chance(&g, 50);
	g.floats = floats;
	g.in_place = (flags & GEN_IN_PLACE) != 0;
	g.twice = (flags & GEN_TWICE) != 0;
	/* Elementary functions take drivers long to build. */
	g.elementary = gen_chance(&g, 15) ? 2 : 0;
	m.root = node_make(a, NODE_LIST, NULL, NULL, 0);
	m.header = node_make(a, NODE_LIST, NULL, NULL, 0);
	node_add(a, m.root, m.header);
	if (flags & GEN_EXITS) {
		gen_exits(&g, m.header, m.root);
		return m.root;
	}
	if (floats)
		line(m.header, &g, "//! floats\n");
	if (floats)
		line(m.root, &g, "enable f16;\n");
	if (flags & GEN_SUBGROUPS)
		make_subgroups(&m);
	else if (flags & GEN_TILES)
		make_tiles(&m);
	for (uint32_t s = 0; s < S_KINDS; s++) {
		if (gen_may_use(&g, s))
			(void)gen_scalar(&g, s);
	}
	m.has_barriers = (flags & GEN_BARRIERS) != 0;
	make_dispatches(&m);
	make_structs(&m);
	make_privates(&m);
	make_inputs(&m);
	if (gen_chance(&g, 50))
		make_uniform(&m);
	make_outputs(&m);
	if (gen_chance(&g, 40))
		make_atomics(&m);
	if ((m.is_large = (flags & GEN_LARGE) != 0))
		make_words(&m, "large");
	if (m.has_tiles)
		make_words(&m, "tiled");
	if (m.has_barriers)
		make_words(&m, "met");
	if (flags & GEN_POINTERS)
		make_pointers(&m);
	for (uint32_t i = gen_below(&g, floats ? 3 : 5); i > 0; i--)
		make_function(&m);
	if (m.has_subgroups)
		line(m.root, &g, gen_subgroup_function());
	if (m.has_tiles)
		node_add(a, m.root, gen_tile_memory(&g, m.invocations));
	if (m.has_barriers)
		gen_barrier_functions(&g, m.root, m.invocations);
	make_entry(&m);
	return m.root;
}
