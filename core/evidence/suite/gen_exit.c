/* Programs of u32 alone, small enough to be built by the thousand, in which a workgroup meets at barriers amid exits: by the flag
 * GEN_EXITS. Functions and main return early, loops are continued and left, cases are shared and broken, each behind and before
 * barriers, by conditions that the workgroup agrees on; where no barrier is left to come, each invocation goes by conditions of its
 * own. Draws stand in an order of their own: no two in one call. */
#include "evidence/suite/gen.h"

#include <string.h>

#define MOST_UNIFORM 16u
#define FLAGS \
	8u /* that hold data; behind them one for each loop that is counted in workgroup memory */
#define COUNTED 8u /* such loops */

/* How invocations may part at the end of a block: what they leave ends where the block ends. */
enum { PART_RETURN = 1, PART_CONTINUE = 2, PART_BREAK = 4 };

typedef struct exits {
	gen *g;
	uint32_t lanes;
	const char *uniform[MOST_UNIFORM]; /* names that hold the same in all invocations */
	uint32_t n_uniform, n_functions, n_counted;
	int calls;	   /* that may still be written here */
	const char *value; /* what is returned, and changed by everything */
	const char *array; /* of four, of an invocation's own */
	const char *leave; /* how this function returns: its text */
	int fuel, loops;
	int in_loop,
		in_switch; /* the innermost of what a break leaves; a continue leads to a loop around it */
} exits;

static node *list_of(exits *x)
{
	return node_make(x->g->a, NODE_LIST, NULL, NULL, 0);
}

static node *make(exits *x, const char *format, node *a, node *b)
{
	node *child[2] = {a, b};

	return node_make(x->g->a, NODE_STMT, format, child, a == NULL ? 0 : b == NULL ? 1 : 2);
}

static void add(exits *x, node *list, const char *text)
{
	node_add(x->g->a, list, make(x, text, NULL, NULL));
}

static uint32_t below(exits *x, uint32_t n)
{
	return gen_below(x->g, n);
}

/* ---- values ---- */

/* The same in all invocations of a workgroup; only where all of them are. */
static const char *uniform(exits *x)
{
	gen *g = x->g;
	const uint32_t kind = below(x, 10), c = below(x, 9);
	const char *u;

	if (kind < 4 && x->n_uniform != 0) {
		u = x->uniform[below(x, x->n_uniform)];
		return gen_text(g, "(%s + %uu)", u, c);
	}
	if (kind < 8) {
		u = x->n_uniform != 0 ? x->uniform[below(x, x->n_uniform)] : "wid.x";
		return gen_text(g, "workgroupUniformLoad(&flags[(%s + %uu) %% %uu])", u, c, FLAGS);
	}
	return kind == 8 ? gen_text(g, "(wid.x + %uu)", c) : gen_text(g, "(params.y + %uu)", c);
}

static const char *agreed(exits *x)
{
	const char *u = uniform(x), *op = gen_chance(x->g, 50) ? "==" : "!=";
	const uint32_t of = 2 + below(x, 3), is = below(x, 2);
	const char *one = gen_text(x->g, "%s %% %uu %s %uu", u, of, op, is);

	/* The right side may hold a barrier of its own. */
	if (!gen_chance(x->g, 12))
		return one;
	u = uniform(x);
	return gen_text(x->g, "(%s) %s (%s & 1u) == 0u", one, gen_chance(x->g, 50) ? "&&" : "||",
			u);
}

/* An invocation's own. */
static const char *own_value(exits *x)
{
	gen *g = x->g;
	const uint32_t kind = below(x, 5), c = below(x, 40);

	switch (kind) {
	case 0:
		return gen_text(g, "%s[li %% 4u]", x->array);
	case 1:
		return gen_text(g, "(%s ^ %uu)", x->value, c);
	case 2:
		return gen_text(g, "inp[(gi * %uu + %uu) %% 64u]", 1 + c % 3, c);
	case 3:
		return gen_text(g, "(li * %uu)", c + 1);
	default:
		return gen_text(g, "%s[%uu]", x->array, c % 4);
	}
}

static const char *own_condition(exits *x)
{
	gen *g = x->g;
	const uint32_t kind = below(x, 4), c = below(x, x->lanes);

	switch (kind) {
	case 0:
		return gen_text(g, "li == %uu", c);
	case 1:
		return "(li & 1u) == 0u";
	case 2:
		return gen_text(g, "(%s & %uu) != 0u", x->value, 1 + c % 7);
	default:
		return gen_text(g, "li < %uu", c);
	}
}

/* ---- statements of each invocation's own, without a barrier ---- */

static node *own(exits *x, int n, int depth, uint32_t part);

static const char *change(exits *x)
{
	gen *g = x->g;
	const uint32_t kind = below(x, 6), c = 1 + below(x, 60);
	const char *v = own_value(x);

	switch (kind) {
	case 0:
	case 4:
		return gen_text(g, "%s = %s * %uu + %s;\n", x->value, x->value, c | 1, v);
	case 1:
		return gen_text(g, "%s[%s %% 4u] += %s;\n", x->array, x->value, v);
	case 5:
		return gen_text(g, "%s ^= alone(%s, %uu);\n", x->value, v, c);
	default:
		return gen_text(g, "seen[gi] += %s;\n", v);
	}
}

static const char *jump(exits *x, uint32_t part)
{
	const uint32_t kind = below(x, 3);

	if (kind == 0 && (part & PART_RETURN))
		return x->leave;
	if (kind == 1 && (part & PART_CONTINUE))
		return "continue;\n";
	return part & PART_BREAK      ? "break;\n"
	       : part & PART_CONTINUE ? "continue;\n"
	       : part & PART_RETURN   ? x->leave
				      : "";
}

static node *own_one(exits *x, int depth, uint32_t part)
{
	gen *g = x->g;
	const uint32_t kind = depth > 0 ? below(x, 9) : 8, c = below(x, 4);
	const char *k, *on, *leave;
	node *a, *b;

	switch (kind) {
	case 0:
		on = own_condition(x);
		a = own(x, 1, depth - 1, part);
		return make(x, gen_text(g, "if %s {\n$}\n", on), a, NULL);
	case 1:
		on = own_condition(x);
		a = own(x, 1, depth - 1, part);
		b = own(x, 1, depth - 1, part);
		return make(x, gen_text(g, "if %s {\n$} else {\n$}\n", on), a, b);
	case 2:
		k = gen_name(g, "k");
		/* Its own break and continue. */
		a = own(x, 1, depth - 1, (part & PART_RETURN) | PART_CONTINUE | PART_BREAK);
		return make(x,
			    gen_text(g, "for (var %s = 0u; %s < (li + %uu) %% 4u; %s++) {\n$}\n", k,
				     k, c, k),
			    a, NULL);
	case 3:
		/* A continue leads on, a break to the end of the switch. */
		a = own(x, 1, depth - 1, part | PART_BREAK);
		b = own(x, 1, depth - 1, part | PART_BREAK);
		return make(x,
			    gen_text(g,
				     "switch (li + %uu) %% 3u {\ncase 0u, 2u: {\n$}\ndefault: "
				     "{\n$}\n}\n",
				     c),
			    a, b);
	case 4:
	case 5:
		on = own_condition(x);
		leave = jump(x, part);
		if (leave[0] == '\0')
			return make(x, change(x), NULL, NULL);
		a = own(x, 1, 0, 0);
		return make(x, gen_text(g, "if %s {\n$%s}\n", on, leave), a, NULL);
	default:
		return make(x, change(x), NULL, NULL);
	}
}

static node *own(exits *x, int n, int depth, uint32_t part)
{
	node *list = list_of(x);

	for (int i = 0; i < n; i++)
		node_add(x->g->a, list, own_one(x, depth, part));
	return list;
}

/* ---- statements that the whole workgroup comes to ---- */

static void meeting(exits *x, node *list, int n, int depth, uint32_t part);

static node *block(exits *x, int n, int depth, uint32_t part)
{
	const uint32_t mark = x->n_uniform;
	node *list = list_of(x);

	meeting(x, list, n, depth, part);
	x->n_uniform = mark;
	return list;
}

static void know(exits *x, const char *name)
{
	if (x->n_uniform < MOST_UNIFORM)
		x->uniform[x->n_uniform++] = name;
}

static node *exchange(exits *x)
{
	gen *g = x->g;
	const uint32_t kind = below(x, 3), c = below(x, 40);
	const char *v = own_value(x);

	if (kind == 0)
		return make(x,
			    gen_text(g,
				     "workgroupBarrier();\npassed[li] = %s;\nworkgroupBarrier();\n"
				     "for (var k = 0u; k < 4u; k++) {\n%s[k] ^= passed[(k + %uu) "
				     "%% %uu];\n}\n",
				     v, x->array, c, x->lanes),
			    NULL, NULL);
	return make(x,
		    gen_text(g,
			     "workgroupBarrier();\npassed[li] = %s;\nworkgroupBarrier();\n"
			     "%s = %s * 3u + passed[(%s + %uu) %% %uu];\n",
			     v, x->value, x->value, kind == 1 ? "li" : "li * 5u", c, x->lanes),
		    NULL, NULL);
}

static node *call(exits *x)
{
	gen *g = x->g;
	const uint32_t f = below(x, x->n_functions), h = below(x, x->n_functions);
	const char *u = uniform(x), *w = uniform(x), *v = own_value(x);

	x->calls--;
	if (x->calls == 0 || gen_chance(g, 75))
		return make(x,
			    gen_text(g, "%s += meet%u(%s, %s, wid, li, gi);\n", x->value, f, u, v),
			    NULL, NULL);
	x->calls--;
	return make(
		x,
		gen_text(g,
			 "%s = meet%u(%s, %s, wid, li, gi) * 5u + meet%u(%s, %s, wid, li, gi);\n",
			 x->value, f, u, v, h, w, x->value),
		NULL, NULL);
}

/* One invocation says what all go by. */
static void flag(exits *x, node *list)
{
	gen *g = x->g;
	const uint32_t i = below(x, FLAGS), who = below(x, x->lanes);
	const char *v = own_value(x), *name = gen_name(g, "said");

	add(x, list,
	    gen_text(g,
		     "workgroupBarrier();\nif li == %uu {\nflags[%u] = %s;\n}\n"
		     "let %s = workgroupUniformLoad(&flags[%u]);\n",
		     who, i, v, name, i));
	know(x, name);
}

static node *leaving(exits *x)
{
	gen *g = x->g;
	const uint32_t kind = below(x, 3);
	const char *on = agreed(x), *leave = x->leave;
	const uint32_t n = below(x, 3);
	node *a;

	if (kind == 1 && x->loops > 0)
		leave = "continue;\n";
	else if (kind == 2 && (x->in_loop || x->in_switch))
		leave = "break;\n";
	a = block(x, (int)n, 0, 0);
	return make(x, gen_text(g, "if %s {\n$%s}\n", on, leave), a, NULL);
}

static node *choice(exits *x, int depth, uint32_t part)
{
	gen *g = x->g;
	const char *on = uniform(x);
	const int in_loop = x->in_loop, in_switch = x->in_switch;
	const uint32_t form = below(x, 3);
	node *a, *b;

	x->in_loop = 0;
	x->in_switch = 1;
	a = block(x, 1, depth - 1, 0);
	b = gen_chance(g, 60) ? block(x, 2, depth - 1, part | PART_BREAK)
			      : own(x, 2, 1, part | PART_BREAK);
	x->in_loop = in_loop;
	x->in_switch = in_switch;
	return make(x,
		    gen_text(g,
			     form == 0 ? "switch %s %% 4u {\ncase 0u, 3u: {\n$}\ncase 1u, default: "
					 "{\n$}\n}\n"
			     : form == 1 ? "switch %s %% 4u {\ndefault: {\n$}\ncase 2u: "
					   "{\n$}\ncase 1u, 3u: {}\n}\n"
					 : "switch %s %% 5u {\ncase 4u: {\n$}\ncase 0u, 1u, 2u: "
					   "{\n$}\ndefault: {}\n}\n",
			     on),
		    a, b);
}

static node *branch(exits *x, int depth, uint32_t part)
{
	gen *g = x->g;
	const uint32_t kind = below(x, 4);
	const char *on = agreed(x);
	node *a, *b;

	if (kind < 2)
		return make(x, gen_text(g, "if %s {\n$}\n", on), block(x, 2, depth - 1, part),
			    NULL);
	if (kind == 2) {
		a = own(x, 2, 1, 0);
		b = block(x, 2, depth - 1, part);
	} else {
		a = block(x, 1, depth - 1, 0);
		b = block(x, 2, depth - 1, part);
	}
	return make(x, gen_text(g, "if %s {\n$} else {\n$}\n", on), a, b);
}

/* The text of a loop around its body, "$"; name: its counter. */
static const char *loop_text(exits *x, const char *name, uint32_t *part)
{
	gen *g = x->g;
	const uint32_t form = below(x, 8), n = 2 + below(x, 3);
	const char *t = name;
	uint32_t at;

	switch (form) {
	case 0:
		return gen_text(g,
				"var %s = 0u;\nloop {\nif %s >= %uu { break; }\n$continuing "
				"{\n%s++;\n}\n}\n",
				t, t, n, t);
	case 1:
		return gen_text(
			g,
			"var %s = 0u;\nloop {\n$continuing {\n%s++;\nbreak if %s >= %uu;\n}\n}\n",
			t, t, t, n);
	case 2:
		return gen_text(g, "var %s = 0u;\nwhile %s < %uu {\n%s++;\n$}\n", t, t, n, t);
	case 3:
		return gen_text(g, "for (var %s = 0u; %s < %s %% 4u; %s++) {\n$}\n", t, t,
				gen_text(g, "(params.x + %uu)", n), t);
	case 4:
		return gen_text(g, "for (var %s = %uu; %s > 0u; %s--) {\n$}\n", t, n, t, t);
	case 5:
		if (x->n_counted == COUNTED)
			break;
		at = FLAGS + x->n_counted++;
		*part = 0;
		/* Counted by one invocation, behind a barrier of the turn's end. That it ends is proven by a count of one's
		 * own: a turn budget allows no parting around such a loop. */
		return gen_text(g,
				"workgroupBarrier();\nif li == 0u {\nflags[%u] = %uu;\n}\nvar %s = "
				"0u;\nloop {\n"
				"if %s > 6u { break; }\nif workgroupUniformLoad(&flags[%u]) == 0u "
				"{ break; }\n$"
				"continuing {\n%s++;\nworkgroupBarrier();\nif li == 0u "
				"{\nflags[%u] -= 1u;\n}\n}\n}\n",
				at, n, t, t, at, t, at);
	default:
		break;
	}
	return gen_text(g, "for (var %s = 0u; %s < %uu; %s++) {\n$}\n", t, t, n, t);
}

static node *loop(exits *x, int depth)
{
	uint32_t part = PART_CONTINUE;
	const char *name = gen_name(x->g, "turn"), *text = loop_text(x, name, &part);
	const int in_loop = x->in_loop, in_switch = x->in_switch;
	const uint32_t mark = x->n_uniform;
	node *body;

	know(x, name);
	x->in_loop = 1;
	x->in_switch = 0;
	x->loops++;
	body = block(x, 1 + (int)below(x, 2), depth - 1, part);
	x->loops--;
	x->in_loop = in_loop;
	x->in_switch = in_switch;
	x->n_uniform = mark;
	return make(x, text, body, NULL);
}

static void one(exits *x, node *list, int depth, uint32_t part)
{
	const uint32_t kind = below(x, 13);
	pctl_arena *a = x->g->a;

	x->fuel--;
	if (depth > 0 && x->fuel > 0 && kind < 7) {
		if (kind < 3 && x->loops < 2)
			node_add(a, list, loop(x, depth));
		else if (kind < 5)
			node_add(a, list, branch(x, depth, part));
		else
			node_add(a, list, choice(x, depth, part));
		return;
	}
	if (kind < 9 && x->n_functions != 0 && x->calls > 0)
		node_add(a, list, call(x));
	else if (kind == 9 && depth > 0)
		node_add(a, list, leaving(x));
	else if (kind == 10)
		flag(x, list);
	else
		node_add(a, list, exchange(x));
}

static void meeting(exits *x, node *list, int n, int depth, uint32_t part)
{
	for (int i = 0; i < n && x->fuel > 0; i++) {
		if (gen_chance(x->g, 25))
			node_add(x->g->a, list, own(x, 1, 1, 0));
		if (depth > 0 && gen_chance(x->g, 25))
			node_add(x->g->a, list, leaving(x));
		one(x, list, depth, i + 1 == n ? part : 0);
	}
	if (gen_chance(x->g, 60))
		node_add(x->g->a, list, own(x, 1, 2, part));
}

/* ---- functions and main ---- */

static void function(exits *x, node *root)
{
	gen *g = x->g;
	const uint32_t i = x->n_functions;
	const int is_local = gen_chance(g, 50);
	node *body = list_of(x);

	x->value = "a";
	x->array = is_local ? "mine" : "kept";
	x->leave = gen_chance(g, 50) ? "return a + 7u;\n" : "return a * 3u + li;\n";
	x->fuel = 3;
	x->calls = 1;
	x->n_uniform = 0;
	know(x, "u");
	add(x, body, is_local ? "var a = v;\nvar mine: array<u32, 4>;\n" : "var a = v;\n");
	meeting(x, body, 2, 2, PART_RETURN);
	if (is_local)
		add(x, body, "a ^= mine[u % 4u];\n");
	node_add(g->a, root,
		 make(x,
		      gen_text(g,
			       "fn meet%u(u: u32, v: u32, wid: vec3<u32>, li: u32, gi: u32) -> u32 "
			       "{\n$return a;\n}\n",
			       i),
		      body, NULL));
	x->n_functions++;
}

static void entry(exits *x, node *root, const uint32_t size[3])
{
	gen *g = x->g;
	node *body = list_of(x);
	const int is_private = gen_chance(g, 30);

	x->value = is_private ? "total" : "a";
	x->array = gen_chance(g, 50) ? "mine" : "kept";
	x->leave = gen_text(g, "out[gi] = %s;\nreturn;\n", x->value);
	x->fuel = 5;
	x->calls = 2;
	x->n_uniform = 0;
	if (!is_private)
		add(x, body, "var a = gi;\n");
	if (x->array[0] == 'm')
		add(x, body, "var mine: array<u32, 4>;\n");
	meeting(x, body, 2, 3, PART_RETURN);
	node_add(g->a, root,
		 make(x,
		      gen_text(g,
			       "@compute @workgroup_size(%u, %u, %u)\nfn "
			       "main(@builtin(workgroup_id) wid: vec3<u32>,\n"
			       "@builtin(num_workgroups) nwg: vec3<u32>,\n"
			       "@builtin(local_invocation_index) li: u32) {\n"
			       "let gi = (wid.y * nwg.x + wid.x) * %uu + li;\n"
			       "for (var k = li; k < %uu; k += %uu) {\nflags[k] = inp[k] + k;\n}\n"
			       "workgroupBarrier();\n$out[gi] = %s + %s[1] + total;\n}\n",
			       size[0], size[1], size[2], x->lanes, FLAGS, x->lanes, x->value,
			       x->array),
		      body, NULL));
}

void gen_exits(gen *g, node *header, node *root)
{
	static const uint32_t sizes[][3] = {{1, 1, 1},	{2, 1, 1},  {3, 1, 1},	{5, 1, 1},
					    {7, 1, 1},	{8, 1, 1},  {13, 1, 1}, {4, 4, 1},
					    {17, 1, 1}, {3, 3, 3},  {32, 1, 1}, {33, 1, 1},
					    {8, 8, 1},	{65, 1, 1}, {16, 1, 1}};
	const uint32_t *size = sizes[below(&(exits){.g = g}, 15)];
	exits x = {.g = g, .lanes = size[0] * size[1] * size[2]};
	uint32_t most = 0;

	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t a = 1 + below(&x, 3), b = 1 + below(&x, 2);
		const uint64_t inputs = gen_u64(g);

		most = a * b * x.lanes > most ? a * b * x.lanes : most;
		add(&x, header,
		    gen_text(g, "//! dispatch %u,%u,1 inputs %llu\n", a, b,
			     (unsigned long long)inputs));
	}
	add(&x, header,
	    gen_text(g,
		     "//# max turns = 512\n//! binding 0:0 bytes 256\n//! binding 0:1 bytes "
		     "16\n//! binding 0:2 bytes %u\n"
		     "//! binding 0:3 bytes %u\n",
		     4 * most, 4 * most));
	add(&x, root,
	    gen_text(g,
		     "@group(0) @binding(0) var<storage, read> inp: array<u32>;\n"
		     "@group(0) @binding(1) var<uniform> params: vec4<u32>;\n"
		     "@group(0) @binding(2) var<storage, read_write> out: array<u32>;\n"
		     "@group(0) @binding(3) var<storage, read_write> seen: array<u32>;\n"
		     "var<workgroup> flags: array<u32, %u>;\nvar<workgroup> passed: array<u32, "
		     "%u>;\n"
		     "var<private> kept: array<u32, 4>;\nvar<private> total: u32;\n"
		     "fn alone(v: u32, n: u32) -> u32 {\nif v %% 5u == 1u {\nreturn v * n;\n}\n"
		     "total += n;\nreturn v + n;\n}\n",
		     FLAGS + COUNTED, x.lanes));
	for (uint32_t n = below(&x, 3); n > 0; n--)
		function(&x, root);
	entry(&x, root, size);
}
