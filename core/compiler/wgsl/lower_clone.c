/* A function with pointers made once for each way of reaching memory of the module: root, members and known indices are
 * part of the clone, where proofs see them; other indices become parameters. */
#include <string.h>

#include "compiler/wgsl/lower_pointer.h"

/* A function for one list of pointers. key: its words, see write_key. */
struct clone {
	const struct function *f;
	const uint32_t *key;
	uint32_t n_key;
	uint32_t index; /* of the program */
};

/* How one step of a place stands in a key. */
enum { STEP_MEMBER, STEP_CONST, STEP_OVERRIDE, STEP_PARAMETER };

/* What a clone is known by, and what it is called with: itself, values, then indices. */
struct cloned {
	const struct arguments *args;
	uint32_t *key;
	uint32_t n_key;
	struct word *passed;
	uint32_t n_passed;
};

/* An index that is the same at every call with this key stays in the clone, where proofs see it. */
static uint32_t kind_of_step(const struct lower *l, const struct word *w)
{
	uint16_t op;

	if (w->kind == WORD_LITERAL)
		return STEP_MEMBER;
	if (w->v & VALUE_BODY)
		return STEP_PARAMETER;
	op = l->prelude.insts[w->v].op;
	return op == PCTL_OP_CONST	? STEP_CONST
	       : op == PCTL_OP_OVERRIDE ? STEP_OVERRIDE
					: STEP_PARAMETER;
}

static uint32_t type_of_value(const struct lower *l, uint32_t value)
{
	return value & VALUE_BODY ? l->body.insts[value & ~VALUE_BODY].type
				  : l->prelude.insts[value].type;
}

/* For each pointer root and number of steps, for each step its kind, type and word; and what is passed. */
static void write_key(struct lower *l, struct cloned *x)
{
	const struct decl *p;
	uint32_t i, k, n = 0, steps = 0;

	for (p = x->args->f->params, i = 0; p; p = p->next, i++)
		if (p->type->kind == TY_POINTER) {
			n += 2 + 3 * x->args->places[i].n;
			steps += x->args->places[i].n;
		}
	x->key = pctl_wgsl_alloc(l->c, (n + 1) * sizeof(*x->key));
	x->passed = pctl_wgsl_alloc(l->c, (1u + x->args->f->n_params + steps) * sizeof(*x->passed));
	x->n_passed = 1;
	for (p = x->args->f->params, i = 0; p; p = p->next, i++)
		if (p->type->kind != TY_POINTER)
			x->passed[x->n_passed++] = (struct word){WORD_VALUE, x->args->values[i]};
	for (p = x->args->f->params, i = 0; p; p = p->next, i++) {
		const struct place *at = &x->args->places[i];

		if (p->type->kind != TY_POINTER)
			continue;
		x->key[x->n_key++] = at->root;
		x->key[x->n_key++] = at->n;
		for (k = 0; k < at->n; k++) {
			const struct word *w = &at->steps[k];
			const uint32_t kind = kind_of_step(l, w);

			x->key[x->n_key++] = kind;
			x->key[x->n_key++] = kind == STEP_MEMBER ? 0 : type_of_value(l, w->v);
			if (kind == STEP_PARAMETER)
				x->passed[x->n_passed++] = *w;
			x->key[x->n_key++] = kind == STEP_MEMBER ? w->v
					     : kind == STEP_PARAMETER
						     ? 0
						     : l->words[l->prelude.insts[w->v].first].v;
		}
	}
}

/* Addresses decide only where a clone is looked for. */
static struct clone **slot_of(const struct wgsl *c, const struct function *f, const uint32_t *key,
			      uint32_t n)
{
	uint64_t h = (uint64_t)(uintptr_t)f * 0x9e3779b97f4a7c15ull;
	uint32_t i, at;

	for (i = 0; i < n; i++)
		h = (h ^ key[i]) * 0xff51afd7ed558ccdull + i;
	for (at = (uint32_t)(h >> 32) & (c->cap_clones - 1); c->clones[at];
	     at = (at + 1) & (c->cap_clones - 1)) {
		const struct clone *k = c->clones[at];

		if (k->f == f && k->n_key == n && !memcmp(k->key, key, n * sizeof(*key)))
			break;
	}
	return &c->clones[at];
}

static void grow_clones(struct wgsl *c)
{
	struct clone **old = c->clones;
	uint32_t i, n = c->cap_clones;

	c->cap_clones = n ? n * 2 : 64;
	c->clones = pctl_wgsl_alloc(c, c->cap_clones * sizeof(struct clone *));
	for (i = 0; i < n; i++)
		if (old[i])
			*slot_of(c, old[i]->f, old[i]->key, old[i]->n_key) = old[i];
}

/* The steps of one pointer in the clone, read back from its key. */
static const uint32_t *read_place(struct lower *l, const uint32_t *key, struct decl *p,
				  uint32_t *next_parameter)
{
	struct place *at = pctl_wgsl_place_of(l, p);
	uint32_t k;

	*at = (struct place){.root = key[0], .n = key[1], .type = p->type->elem};
	at->steps = pctl_wgsl_alloc(l->c, (at->n + 1) * sizeof(*at->steps));
	for (key += 2, k = 0; k < at->n; k++, key += 3) {
		const struct word w[2] = {{WORD_LITERAL, key[2]}, {WORD_LITERAL, 0}};

		if (key[0] == STEP_MEMBER)
			at->steps[k] = w[0];
		else if (key[0] == STEP_PARAMETER)
			at->steps[k] = (struct word){WORD_VALUE, (*next_parameter)++};
		else
			at->steps[k] = (struct word){
				WORD_VALUE,
				key[0] == STEP_CONST
					? pctl_wgsl_prelude(l, PCTL_OP_CONST, key[1], w, 2)
					: pctl_wgsl_prelude(l, PCTL_OP_OVERRIDE, key[1], w, 1)};
	}
	return key;
}

static uint32_t make_clone(struct lower *caller, const struct cloned *x)
{
	struct function *f = x->args->f;
	struct lower l = {.c = caller->c,
			  .fn = f,
			  .is_copy = 1,
			  .number = ++caller->c->n_lowered,
			  .pos = f->decl->pos,
			  .end = f->decl->end,
			  .total = caller->total,
			  .total_words = caller->total_words};
	const uint32_t *key = x->key;
	uint32_t i, n = 0;
	struct decl *p;

	for (i = 1; i < x->n_passed; i++) {
		const struct word number = {WORD_LITERAL, i - 1};

		pctl_wgsl_prelude(&l, PCTL_OP_PARAM, type_of_value(caller, x->passed[i].v), &number,
				  1);
	}
	for (p = f->params; p; p = p->next)
		if (p->type->kind != TY_POINTER)
			p->value = n++;
	for (p = f->params; p; p = p->next)
		if (p->type->kind == TY_POINTER)
			key = read_place(&l, key, p, &n);
	pctl_wgsl_lower_block(&l, f->body);
	if (!l.c->n_errors)
		pctl_wgsl_flush(&l);
	caller->total = l.total;
	caller->total_words = l.total_words;
	return f->index;
}

uint32_t pctl_wgsl_call_clone(struct lower *l, const struct arguments *args)
{
	struct wgsl *c = l->c;
	struct cloned x = {.args = args};
	struct clone *made;

	write_key(l, &x);
	if (x.n_passed > 1 + WGSL_MAX_PARAMETERS)
		return pctl_wgsl_write_out(l, args);
	if (2 * c->n_clones >= c->cap_clones)
		grow_clones(c);
	made = *slot_of(c, args->f, x.key, x.n_key);
	if (!made) {
		made = WGSL_NEW(c, struct clone);
		*made = (struct clone){args->f, x.key, x.n_key, make_clone(l, &x)};
		/* The table may have grown meanwhile. */
		if (2 * c->n_clones >= c->cap_clones)
			grow_clones(c);
		*slot_of(c, args->f, x.key, x.n_key) = made;
		c->n_clones++;
	}
	x.passed[0] = (struct word){WORD_LITERAL, made->index};
	pctl_wgsl_at_expr(l, args->call);
	return pctl_wgsl_emit(
		l, PCTL_OP_CALL,
		args->call->type->kind == TY_VOID ? 0 : pctl_wgsl_type_id(l, args->call->type),
		x.passed, x.n_passed);
}
