/* What to write where no bound of a loop is proven: the first thing that its comparisons are made of and of which nothing
 * is known. */
#include "compiler/analysis/range.h"

#define DEPTH 8u   /* of expressions and of stores that they load */
#define STEPS 256u /* looked at */

typedef struct search {
	const pctl_ranges *r;
	const pctl_program *p;
	const pctl_function *fn;
	uint32_t uniform; /* what a uniform without a maximum gives, PCTL_NONE: none */
	uint32_t steps;
	uint32_t has_length, has_memory;
} search;

static const pctl_inst *inst(const search *s, uint32_t v)
{
	return &s->p->insts[s->fn->first_inst + v];
}

static int is_unknown(const search *s, uint32_t v)
{
	const pctl_type *t = &s->p->types[inst(s, v)->type];
	pctl_range a, all;

	if (t->kind != PCTL_TYPE_SCALAR || !pctl_range_has(t->scalar))
		return 0;
	a = pctl_ranges_value(s->r, s->fn, v, 0);
	all = pctl_range_all(t->scalar);
	return a.lo == all.lo && a.hi == all.hi;
}

static void look(search *s, uint32_t v, uint32_t depth);

static void look_at_load(search *s, uint32_t v, uint32_t depth)
{
	const uint32_t local = pctl_range_whole_local(s->p, s->fn, v, PCTL_OP_LOAD);
	uint32_t at;
	pctl_place pl;

	if (local == PCTL_NONE) {
		if (pctl_place_get(s->p, s->fn, inst(s, v), &pl))
			s->has_memory |= pl.space == PCTL_SPACE_STORAGE ||
					 pl.space == PCTL_SPACE_WORKGROUP ||
					 pl.space == PCTL_SPACE_PRIVATE;
		return;
	}
	at = s->r->first_store[s->fn->first_local + local];
	for (; at != PCTL_NONE; at = s->r->next_store[s->fn->first_inst + at])
		look(s, pctl_arg(s->p, inst(s, at), 0), depth);
}

static void look(search *s, uint32_t v, uint32_t depth)
{
	const pctl_inst *in = inst(s, v);
	const uint8_t kind = pctl_op_get(in->op)->kind;
	uint32_t path[PCTL_RANGE_PATH + 1], n, var;

	if (!depth-- || ++s->steps > STEPS || s->uniform != PCTL_NONE)
		return;
	if (pctl_range_uniform_path(s->r, s->fn, v, &var, path, &n)) {
		if (is_unknown(s, v))
			s->uniform = v;
	} else if (in->op == PCTL_OP_LOAD) {
		look_at_load(s, v, depth);
	} else if (in->op == PCTL_OP_ARRAY_LENGTH) {
		s->has_length = 1;
	} else if (in->op == PCTL_OP_EXTRACT) {
		look(s, pctl_arg(s->p, in, 0), depth);
	} else if (kind == PCTL_OPKIND_elem || kind == PCTL_OPKIND_convert) {
		for (uint32_t i = 0; i < in->n_args; i++)
			look(s, pctl_arg(s->p, in, i), depth);
	}
}

/* The way to a uniform as `//# max` writes it. */
static const char *named(const search *s, pctl_arena *arena)
{
	uint32_t path[PCTL_RANGE_PATH + 1], n, var, type;
	const char *text;

	(void)pctl_range_uniform_path(s->r, s->fn, s->uniform, &var, path, &n);
	text = pctl_str(s->p, s->p->vars[var].name);
	type = s->p->vars[var].type;
	for (uint32_t i = 0; i < n && text; i++) {
		const pctl_type *t = &s->p->types[type];

		if (t->kind == PCTL_TYPE_STRUCT)
			text = pctl_arena_printf(
				arena, "%s.%s", text,
				pctl_str(s->p, s->p->members[t->first_member + path[i]].name));
		else if (t->kind == PCTL_TYPE_VECTOR)
			text = pctl_arena_printf(arena, "%s.%c", text, "xyzw"[path[i]]);
		else
			text = pctl_arena_printf(arena, "%s[%u]", text, path[i]);
		type = pctl_type_step(s->p, type, path[i]);
	}
	return text;
}

const char *pctl_range_missing(const pctl_ranges *r, const pctl_loop_bound *b, pctl_arena *arena)
{
	search s = {.r = r, .p = r->p, .fn = &r->p->functions[b->function], .uniform = PCTL_NONE};
	uint32_t i = r->loop_exit[s.fn->first_inst + b->inst];
	const char *name;

	for (; i < r->exits.n && r->exits.items[i].fn == s.fn && r->exits.items[i].loop == b->inst;
	     i++) {
		look(&s, r->exits.items[i].limit, DEPTH);
		look(&s, r->exits.items[i].load, DEPTH);
	}
	name = s.uniform == PCTL_NONE ? NULL : named(&s, arena);
	if (name)
		return pctl_arena_printf(
			arena, "declare how large it may be: `//# max %s = NUMBER`", name);
	if (s.has_length)
		return "nothing bounds the length of an array: write min(arrayLength(&x), LITERAL)";
	if (s.has_memory)
		return "nothing is known of what memory holds: write min(x, LITERAL)";
	return NULL;
}
