/* The instruction list of the function being lowered: appending, constants made once, and handing
 * it over with its final numbers and without values nobody uses. */
#include <string.h>

#include "compiler/wgsl/lower.h"

static struct inst *at(struct lower *l, uint32_t value)
{
	return value & VALUE_BODY ? &l->body.insts[value & ~VALUE_BODY] : &l->prelude.insts[value];
}

static uint32_t append(struct lower *l, struct list *list, uint16_t op, uint32_t type,
		       const struct word *words, uint32_t n)
{
	struct inst *in;
	uint32_t i;

	list->insts = pctl_wgsl_grow(l->c, list->insts, list->n, &list->cap, sizeof(*list->insts));
	in = &list->insts[list->n];
	memset(in, 0, sizeof(*in));
	in->op = op;
	in->type = type;
	in->first = l->n_words;
	in->n = n;
	in->pos = l->pos;
	in->end = l->end;
	for (i = 0; i < n; i++) {
		l->words = pctl_wgsl_grow(l->c, l->words, l->n_words, &l->cap_words,
					  sizeof(*l->words));
		l->words[l->n_words++] = words[i];
	}
	l->total_words += n;
	if (++l->total > WGSL_MAX_INSTRUCTIONS || l->total_words > WGSL_MAX_WORDS) {
		pctl_wgsl_error(l->c, PC2109_WGSL_PROGRAM_SIZE, l->pos, l->end, "split the shader",
				"the program grows over %u instructions or %u words here",
				WGSL_MAX_INSTRUCTIONS, WGSL_MAX_WORDS);
		longjmp(l->c->give_up, GIVE_UP_REPORTED);
	}
	return list->n++;
}

uint32_t pctl_wgsl_emit(struct lower *l, uint16_t op, uint32_t type, const struct word *words,
			uint32_t n)
{
	return append(l, &l->body, op, type, words, n) | VALUE_BODY;
}

uint32_t pctl_wgsl_emit1(struct lower *l, uint16_t op, const struct type *t, uint32_t a)
{
	const struct word w = {WORD_VALUE, a};

	return pctl_wgsl_emit(l, op, pctl_wgsl_type_id(l, t), &w, 1);
}

uint32_t pctl_wgsl_emit2(struct lower *l, uint16_t op, const struct type *t, uint32_t a, uint32_t b)
{
	const struct word w[2] = {{WORD_VALUE, a}, {WORD_VALUE, b}};

	return pctl_wgsl_emit(l, op, pctl_wgsl_type_id(l, t), w, 2);
}

uint32_t pctl_wgsl_emit3(struct lower *l, uint16_t op, const struct type *t, uint32_t a, uint32_t b,
			 uint32_t d)
{
	const struct word w[3] = {{WORD_VALUE, a}, {WORD_VALUE, b}, {WORD_VALUE, d}};

	return pctl_wgsl_emit(l, op, pctl_wgsl_type_id(l, t), w, 3);
}

static int opens(uint16_t op)
{
	return op == PCTL_OP_IF || op == PCTL_OP_SWITCH || op == PCTL_OP_LOOP;
}

static void count_region(struct lower *l, uint16_t op)
{
	if (op == PCTL_OP_END_IF || op == PCTL_OP_END_SWITCH || op == PCTL_OP_END_LOOP)
		l->regions--;
	else if (opens(op) && ++l->regions == WGSL_MAX_REGIONS)
		pctl_wgsl_error(l->c, PC2105_WGSL_NESTING, l->pos, l->end,
				"move the inner part to a function",
				"control flow is nested deeper than %u", WGSL_MAX_REGIONS);
}

void pctl_wgsl_control(struct lower *l, uint16_t op)
{
	count_region(l, op);
	pctl_wgsl_emit(l, op, 0, NULL, 0);
}

void pctl_wgsl_control_value(struct lower *l, uint16_t op, uint32_t value)
{
	const struct word w = {WORD_VALUE, value};

	count_region(l, op);
	pctl_wgsl_emit(l, op, 0, &w, 1);
}

/* ---- the prelude ---- */

static uint32_t hash_inst(uint16_t op, uint32_t type, const struct word *words, uint32_t n)
{
	uint64_t h = (uint64_t)op << 32 | type;
	uint32_t i;

	for (i = 0; i < n; i++)
		h = (h ^ words[i].v) * 0x9e3779b97f4a7c15ull + i;
	return (uint32_t)((h * 0xff51afd7ed558ccdull) >> 32);
}

static int same(const struct lower *l, const struct inst *in, uint16_t op, uint32_t type,
		const struct word *words, uint32_t n)
{
	uint32_t i;

	if (in->op != op || in->type != type || in->n != n)
		return 0;
	for (i = 0; i < n; i++)
		if (l->words[in->first + i].v != words[i].v)
			return 0;
	return 1;
}

static void grow_known(struct lower *l)
{
	uint32_t cap = l->cap_known ? l->cap_known * 2 : 64, i, k;

	l->known = pctl_wgsl_alloc(l->c, cap * sizeof(*l->known));
	l->cap_known = cap;
	for (i = 0; i < l->prelude.n; i++) {
		const struct inst *in = &l->prelude.insts[i];

		k = hash_inst(in->op, in->type, l->words + in->first, in->n) & (cap - 1);
		while (l->known[k])
			k = (k + 1) & (cap - 1);
		l->known[k] = i + 1;
	}
}

uint32_t pctl_wgsl_prelude(struct lower *l, uint16_t op, uint32_t type, const struct word *words,
			   uint32_t n)
{
	uint32_t k;

	if (2 * l->prelude.n >= l->cap_known)
		grow_known(l);
	k = hash_inst(op, type, words, n) & (l->cap_known - 1);
	for (; l->known[k]; k = (k + 1) & (l->cap_known - 1))
		if (same(l, &l->prelude.insts[l->known[k] - 1], op, type, words, n))
			return l->known[k] - 1;
	l->known[k] = l->prelude.n + 1;
	return append(l, &l->prelude, op, type, words, n);
}

uint32_t pctl_wgsl_const(struct lower *l, uint32_t scalar, uint64_t v)
{
	struct word w[2] = {{WORD_LITERAL, (uint32_t)v}, {WORD_LITERAL, (uint32_t)(v >> 32)}};

	if (pctl_scalar_bits((uint8_t)scalar) != 64)
		w[1].v = 0;
	return pctl_wgsl_prelude(l, PCTL_OP_CONST,
				 pctl_build_scalar(l->c->builder, (uint8_t)scalar), w, 2);
}

uint32_t pctl_wgsl_zero(struct lower *l, const struct type *t)
{
	if (t->kind == TY_SCALAR)
		return pctl_wgsl_const(l, t->scalar, 0);
	return pctl_wgsl_prelude(l, PCTL_OP_ZERO, pctl_wgsl_type_id(l, t), NULL, 0);
}

/* The slot of a composite constant. Addresses only decide where it is looked for. */
static struct known_leaf *leaf_slot(struct lower *l, const uint64_t *leaf, const struct type *t)
{
	uint64_t h = (uint64_t)(uintptr_t)leaf * 0x9e3779b97f4a7c15ull ^
		     (uint64_t)(uintptr_t)t * 0xc2b2ae3d27d4eb4full;
	uint32_t k = (uint32_t)(h >> 32) & (l->cap_leaves - 1);

	while (l->leaves[k].leaf && (l->leaves[k].leaf != leaf || l->leaves[k].type != t))
		k = (k + 1) & (l->cap_leaves - 1);
	return &l->leaves[k];
}

static void grow_leaves(struct lower *l)
{
	struct known_leaf *old = l->leaves;
	uint32_t i, n = l->cap_leaves;

	l->cap_leaves = n ? n * 2 : 32;
	l->leaves = pctl_wgsl_alloc(l->c, l->cap_leaves * sizeof(*l->leaves));
	for (i = 0; i < n; i++)
		if (old[i].leaf)
			*leaf_slot(l, old[i].leaf, old[i].type) = old[i];
}

static uint32_t compose_const(struct lower *l, const struct type *t, const uint64_t *leaf)
{
	uint32_t i, n = pctl_wgsl_parts(t), all_same = 1, all_zero = 1;
	struct word *words;

	for (i = 0; i < t->leaves; i++) {
		all_same &= leaf[i] == leaf[0];
		all_zero &= !leaf[i];
	}
	if (all_zero)
		return pctl_wgsl_zero(l, t);
	if (t->kind == TY_VECTOR && all_same) {
		struct word w = {WORD_VALUE, pctl_wgsl_const(l, t->scalar, leaf[0])};

		return pctl_wgsl_prelude(l, PCTL_OP_SPLAT, pctl_wgsl_type_id(l, t), &w, 1);
	}
	words = pctl_wgsl_alloc(l->c, n * sizeof(*words));
	for (i = 0; i < n; i++) {
		words[i].kind = WORD_VALUE;
		words[i].v = pctl_wgsl_const_value(l, pctl_wgsl_part(t, i),
						   leaf + pctl_wgsl_part_leaf(t, i));
	}
	return pctl_wgsl_prelude(l, PCTL_OP_COMPOSE, pctl_wgsl_type_id(l, t), words, n);
}

uint32_t pctl_wgsl_const_value(struct lower *l, const struct type *t, const uint64_t *leaf)
{
	struct known_leaf *slot;
	uint32_t value;

	if (!leaf)
		return pctl_wgsl_zero(l, t);
	if (t->kind == TY_SCALAR)
		return pctl_wgsl_const(l, t->scalar, leaf[0]);
	if (2 * l->n_leaves >= l->cap_leaves)
		grow_leaves(l);
	slot = leaf_slot(l, leaf, t);
	if (slot->leaf)
		return slot->value;
	value = compose_const(l, t, leaf);
	/* The table may have grown meanwhile. */
	slot = leaf_slot(l, leaf, t);
	*slot = (struct known_leaf){leaf, t, value};
	l->n_leaves++;
	return value;
}

uint32_t pctl_wgsl_extract(struct lower *l, uint32_t value, const struct type *part, uint32_t i)
{
	const struct inst *in = at(l, value);
	struct word w[2] = {{WORD_VALUE, value}, {WORD_LITERAL, i}};

	if (in->op == PCTL_OP_COMPOSE)
		return l->words[in->first + i].v;
	if (in->op == PCTL_OP_SPLAT)
		return l->words[in->first].v;
	if (in->op == PCTL_OP_SHUFFLE) {
		w[0] = l->words[in->first];
		w[1] = l->words[in->first + 1 + i];
	}
	/* A part of what is made once is made once. */
	return w[0].v & VALUE_BODY
		       ? pctl_wgsl_emit(l, PCTL_OP_EXTRACT, pctl_wgsl_type_id(l, part), w, 2)
		       : pctl_wgsl_prelude(l, PCTL_OP_EXTRACT, pctl_wgsl_type_id(l, part), w, 2);
}

/* ---- memory ---- */

uint32_t pctl_wgsl_new_local(struct lower *l, const char *name, const struct type *t)
{
	l->locals =
		pctl_wgsl_grow(l->c, l->locals, l->n_locals, &l->cap_locals, sizeof(*l->locals));
	l->locals[l->n_locals].name = name;
	l->locals[l->n_locals].type = pctl_wgsl_type_id(l, t);
	return PCTL_PLACE_LOCAL | l->n_locals++;
}

uint32_t pctl_wgsl_spill(struct lower *l, uint32_t value)
{
	const struct place p = {.root = PCTL_PLACE_LOCAL | l->n_locals};

	l->locals =
		pctl_wgsl_grow(l->c, l->locals, l->n_locals, &l->cap_locals, sizeof(*l->locals));
	l->locals[l->n_locals].name = "";
	l->locals[l->n_locals++].type = at(l, value)->type;
	pctl_wgsl_store(l, &p, value);
	return p.root;
}

uint32_t pctl_wgsl_reload(struct lower *l, uint32_t root)
{
	const struct place p = {.root = root};

	return pctl_wgsl_access(l, PCTL_OP_LOAD, l->locals[root & ~PCTL_PLACE_LOCAL].type, NULL, 0,
				&p);
}

uint32_t pctl_wgsl_table(struct lower *l, uint32_t value, const struct type *t)
{
	uint32_t local;

	if (at(l, value)->table)
		return at(l, value)->table - 1;
	local = pctl_wgsl_new_local(l, "", t);
	at(l, value)->table = local + 1;
	l->tables =
		pctl_wgsl_grow(l->c, l->tables, l->n_tables, &l->cap_tables, sizeof(*l->tables));
	l->tables[l->n_tables].value = value;
	l->tables[l->n_tables++].local = local;
	return local;
}

uint32_t pctl_wgsl_access(struct lower *l, uint16_t op, uint32_t type, const uint32_t *values,
			  uint32_t n, const struct place *p)
{
	struct word few[16], *w = few;
	uint32_t i;

	if (n + 1 + p->n > 16)
		w = pctl_wgsl_alloc(l->c, (n + 1 + p->n) * sizeof(*w));
	for (i = 0; i < n; i++)
		w[i] = (struct word){WORD_VALUE, values[i]};
	w[n] = (struct word){WORD_LITERAL, p->root};
	for (i = 0; i < p->n; i++)
		w[n + 1 + i] = p->steps[i];
	return pctl_wgsl_emit(l, op, type, w, n + 1 + p->n);
}

uint32_t pctl_wgsl_load(struct lower *l, uint16_t op, const struct type *t, const struct place *p)
{
	return pctl_wgsl_access(l, op, pctl_wgsl_type_id(l, t), NULL, 0, p);
}

void pctl_wgsl_store(struct lower *l, const struct place *p, uint32_t value)
{
	pctl_wgsl_access(l, PCTL_OP_STORE, 0, &value, 1, p);
}

struct place pctl_wgsl_own_steps(struct lower *l, const struct place *p)
{
	struct place out = *p;

	out.steps = pctl_wgsl_alloc(l->c, (p->n + 1) * sizeof(*out.steps));
	if (p->n)
		memcpy(out.steps, p->steps, p->n * sizeof(*out.steps));
	return out;
}

struct place pctl_wgsl_place_step(struct lower *l, const struct place *p, uint32_t kind, uint32_t v,
				  const struct type *t)
{
	struct place out = pctl_wgsl_own_steps(l, p);

	out.steps[out.n++] = (struct word){kind, v};
	out.type = t;
	return out;
}

/* ---- handing over ---- */

/* Values whose making has no effect and no cost worth keeping them for. */
static int droppable(uint16_t op)
{
	return op == PCTL_OP_CONST || op == PCTL_OP_OVERRIDE || op == PCTL_OP_BUILTIN ||
	       op == PCTL_OP_ZERO || op == PCTL_OP_COMPOSE || op == PCTL_OP_SPLAT ||
	       op == PCTL_OP_EXTRACT || op == PCTL_OP_SHUFFLE;
}

static void mark_used(struct lower *l, const struct list *list)
{
	uint32_t i, k;

	for (i = list->n; i-- > 0;) {
		struct inst *in = &list->insts[i];

		if (!in->used && droppable(in->op))
			continue;
		in->used = 1;
		for (k = 0; k < in->n; k++)
			if (l->words[in->first + k].kind == WORD_VALUE)
				at(l, l->words[in->first + k].v)->used = 1;
	}
}

static void build(struct lower *l, struct list *list)
{
	uint32_t few[32], i, k;

	for (i = 0; i < list->n; i++) {
		struct inst *in = &list->insts[i];
		uint32_t *args = few;

		if (!in->used || in->op == PCTL_OP_PARAM)
			continue;
		if (in->n > 32)
			args = pctl_wgsl_alloc(l->c, in->n * sizeof(*args));
		for (k = 0; k < in->n; k++) {
			const struct word *w = &l->words[in->first + k];

			args[k] = w->kind == WORD_VALUE ? at(l, w->v)->final : w->v;
		}
		pctl_wgsl_build_origin(l->c, in->pos, in->end);
		in->final = pctl_build_inst(l->c->builder, in->op, in->type, args, in->n);
	}
}

static void build_tables(struct lower *l)
{
	uint32_t i;

	for (i = 0; i < l->n_tables; i++) {
		const struct table_local *t = &l->tables[i];
		uint32_t args[2] = {at(l, t->value)->final, t->local};

		pctl_wgsl_build_origin(l->c, at(l, t->value)->pos, at(l, t->value)->end);
		pctl_build_inst(l->c->builder, PCTL_OP_STORE, 0, args, 2);
	}
}

void pctl_wgsl_flush(struct lower *l)
{
	struct function *f = l->fn;
	uint32_t *params, n_params = 0, i;

	while (n_params < l->prelude.n && l->prelude.insts[n_params].op == PCTL_OP_PARAM)
		n_params++;
	params = pctl_wgsl_alloc(l->c, (n_params + 1) * sizeof(*params));
	for (i = 0; i < l->n_tables; i++)
		at(l, l->tables[i].value)->used = 1;
	mark_used(l, &l->body);
	mark_used(l, &l->prelude);
	for (i = 0; i < n_params; i++) {
		params[i] = l->prelude.insts[i].type;
		l->prelude.insts[i].final = i;
	}
	pctl_wgsl_build_origin(l->c, f->decl->pos, f->decl->end);
	pctl_build_function_begin(
		l->c->builder, pctl_wgsl_sym_text(l->c, f->decl->sym), params, n_params,
		f->return_type->kind == TY_VOID ? 0 : pctl_wgsl_type_id(l, f->return_type));
	for (i = 0; i < l->n_locals; i++)
		pctl_build_local(l->c->builder, l->locals[i].name, l->locals[i].type);
	build(l, &l->prelude);
	build_tables(l);
	build(l, &l->body);
	f->index = pctl_build_function_end(l->c->builder);
}
