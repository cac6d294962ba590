/* The theorems: what follows for a composition from the declared laws of its parts. Each is one line of algebra, given
 * as its text; f and g below are ops of one library. */
#include <string.h>

#include "runtime/graph/type.h"
#include "evidence/proof/compose.h"
#include "evidence/proof/gates.h"

/* Of each theorem, ops on one dtype; more are thinned out evenly. */
#define MOST 10u

/* An op and its form on the dtype. */
typedef struct fact {
	pctl_op_function f;
	const pctl_op_rules *rules;
	int selected;
} fact;

typedef struct deriver {
	const pctl_op_source *ops;
	pctl_arena *arena;
	const pctl_call *call;
	fact *facts;
	uint32_t n;
	pctl_derived *out; /* of the theorem under way */
	pctl_status status;
} deriver;

static const pctl_law *has(const fact *f, uint32_t kind)
{
	for (uint32_t i = 0; f->rules != NULL && i < f->rules->n_laws; i++)
		if (f->rules->laws[i].law == kind)
			return &f->rules->laws[i];
	return NULL;
}

/* ---- terms ------------------------------------------------------------------------------------ */

static const pctl_law_term *var(deriver *d, const pctl_op_function *f, uint32_t i)
{
	return pctl_compose_var(d->arena, i, f->dtype);
}

static const pctl_law_term *one(deriver *d, const pctl_op_function *f, const pctl_law_term *x)
{
	return pctl_compose_call(d->arena, f, x, NULL, NULL);
}

static const pctl_law_term *two(deriver *d, const pctl_op_function *f, const pctl_law_term *x,
				const pctl_law_term *y)
{
	return pctl_compose_call(d->arena, f, x, y, NULL);
}

static const pctl_law_term *constant(deriver *d, uint64_t bits, uint32_t dtype)
{
	return pctl_compose_const(d->arena, bits, dtype);
}

/* The composition, whose law is then said with F. NULL: an internal failure. */
static const pctl_op_function *compose(deriver *d, const pctl_law_term *term)
{
	if (d->status == PCTL_OK)
		d->status = pctl_compose(term, d->arena, d->call, &d->out->composition);
	return d->status == PCTL_OK ? &d->out->composition->f : NULL;
}

static void claim(deriver *d, uint32_t rel, const pctl_law_term *left, const pctl_law_term *right,
		  uint32_t n_vars)
{
	if (d->status == PCTL_OK && (left == NULL || right == NULL))
		d->status = pctl_no_memory(d->call, "a composition");
	d->out->law.claim = (pctl_relation){.rel = rel, .left = left, .right = right};
	d->out->law.n_vars = n_vars;
}

static void guard(deriver *d, uint32_t rel, const pctl_law_term *left, const pctl_law_term *right)
{
	pctl_relation *r = pctl_arena_alloc(d->arena, sizeof(*r));

	if (d->status == PCTL_OK && (r == NULL || left == NULL || right == NULL))
		d->status = pctl_no_memory(d->call, "a composition");
	if (d->status != PCTL_OK)
		return;
	*r = (pctl_relation){.rel = rel, .left = left, .right = right};
	d->out->law.guards = r;
	d->out->law.n_guards = 1;
}

/* g(f(a, b)), where g takes what f gives. */
static int outer(const fact *f, const fact *g, pctl_op_function *out)
{
	return f->f.n_in == 2 && g->f.n_in == 1 &&
	       pctl_gate_function(&g->f.op, f->f.out_dtype, out);
}

static const pctl_op_function *behind(deriver *d, const fact *f, const pctl_op_function *g)
{
	return compose(d, one(d, g, two(d, &f->f, var(d, &f->f, 0), var(d, &f->f, 1))));
}

/* f(g(a), g(b)), where g keeps the dtype. */
static int inner(const fact *f, const fact *g)
{
	return f->f.n_in == 2 && g->f.n_in == 1 && g->f.out_dtype == f->f.dtype;
}

static const pctl_law_term *before(deriver *d, const fact *f, const fact *g)
{
	return two(d, &f->f, one(d, &g->f, var(d, &f->f, 0)), one(d, &g->f, var(d, &f->f, 1)));
}

/* g(f(g(a), g(b))) for an involution g on f's dtype. */
static int conjugate(const fact *f, const fact *g)
{
	return inner(f, g) && f->f.out_dtype == f->f.dtype && has(g, PCTL_LAW_INVOLUTION) != NULL;
}

static const pctl_op_function *around(deriver *d, const fact *f, const fact *g)
{
	return compose(d, one(d, &g->f, before(d, f, g)));
}

static void commutes(deriver *d, const fact *f, const pctl_op_function *F)
{
	if (F != NULL)
		claim(d, PCTL_REL_EQ, two(d, F, var(d, &f->f, 0), var(d, &f->f, 1)),
		      two(d, F, var(d, &f->f, 1), var(d, &f->f, 0)), 2);
}

/* F(a, a) = right, or F(a, second) = right. */
static void gives(deriver *d, const fact *f, const pctl_op_function *F, const pctl_law_term *second,
		  const pctl_law_term *right)
{
	if (F != NULL)
		claim(d, PCTL_REL_EQ,
		      two(d, F, var(d, &f->f, 0), second != NULL ? second : var(d, &f->f, 0)),
		      right, 1);
}

/* ---- theorems --------------------------------------------------------------------------------- */

/* Each: 1 when it says something of f and g; what it says goes to d->out unless that is NULL. */

static int outer_commutative(deriver *d, const fact *f, const fact *g)
{
	pctl_op_function h;

	if (!outer(f, g, &h) || has(f, PCTL_LAW_COMMUTATIVE) == NULL)
		return 0;
	if (d->out != NULL)
		commutes(d, f, behind(d, f, &h));
	return 1;
}

static int outer_self_inverse(deriver *d, const fact *f, const fact *g)
{
	const pctl_law *l = has(f, PCTL_LAW_SELF_INVERSE);
	pctl_op_function h;

	if (!outer(f, g, &h) || l == NULL)
		return 0;
	if (d->out != NULL)
		gives(d, f, behind(d, f, &h), NULL, one(d, &h, constant(d, l->a, f->f.out_dtype)));
	return 1;
}

static int outer_idempotent(deriver *d, const fact *f, const fact *g)
{
	pctl_op_function h;

	if (!outer(f, g, &h) || has(f, PCTL_LAW_IDEMPOTENT) == NULL)
		return 0;
	if (d->out != NULL)
		gives(d, f, behind(d, f, &h), NULL, one(d, &h, var(d, &f->f, 0)));
	return 1;
}

static int outer_identity(deriver *d, const fact *f, const fact *g)
{
	const pctl_law *l = has(f, PCTL_LAW_IDENTITY);
	pctl_op_function h;

	if (!outer(f, g, &h) || l == NULL)
		return 0;
	if (d->out != NULL)
		gives(d, f, behind(d, f, &h), constant(d, l->a, f->f.dtype),
		      one(d, &h, var(d, &f->f, 0)));
	return 1;
}

static int outer_absorbing(deriver *d, const fact *f, const fact *g)
{
	const pctl_law *l = has(f, PCTL_LAW_ABSORBING);
	pctl_op_function h;

	if (!outer(f, g, &h) || l == NULL)
		return 0;
	if (d->out != NULL)
		gives(d, f, behind(d, f, &h), constant(d, l->a, f->f.dtype),
		      one(d, &h, constant(d, l->a, f->f.out_dtype)));
	return 1;
}

static int outer_bounded(deriver *d, const fact *f, const fact *g)
{
	const pctl_law *l = has(g, PCTL_LAW_BOUNDED);
	const pctl_op_function *F;
	pctl_op_function h;

	if (!outer(f, g, &h) || l == NULL)
		return 0;
	if (d->out != NULL && (F = behind(d, f, &h)) != NULL) {
		claim(d, PCTL_REL_LE, two(d, F, var(d, &f->f, 0), var(d, &f->f, 1)),
		      constant(d, l->b, h.out_dtype), 2);
	}
	return 1;
}

/* 1 when `name` is this op, with or without its library. */
static int is_named(const char *name, const fact *f)
{
	const char *dot = strchr(f->f.op.desc->name, '.');

	return name != NULL && (strcmp(name, f->f.op.desc->name) == 0 ||
				(dot != NULL && strcmp(name, dot + 1) == 0));
}

static int de_morgan(deriver *d, const fact *f, const fact *g)
{
	const pctl_op_function *F;
	pctl_op_function h;

	if (!outer(f, g, &h) || !inner(f, g) || f->f.out_dtype != f->f.dtype)
		return 0;
	for (uint32_t i = 0; g->rules != NULL && i < g->rules->n_laws; i++) {
		const pctl_law *l = &g->rules->laws[i];

		for (uint32_t k = 0;
		     k < d->n && l->law == PCTL_LAW_DE_MORGAN && is_named(l->other, f); k++)
			if (is_named(l->dual, &d->facts[k]) &&
			    d->facts[k].f.op.inst == f->f.op.inst) {
				if (d->out != NULL && (F = behind(d, f, &h)) != NULL)
					claim(d, PCTL_REL_EQ,
					      two(d, F, var(d, &f->f, 0), var(d, &f->f, 1)),
					      before(d, &d->facts[k], g), 2);
				return 1;
			}
	}
	return 0;
}

static int inner_commutative(deriver *d, const fact *f, const fact *g)
{
	if (!inner(f, g) || has(f, PCTL_LAW_COMMUTATIVE) == NULL)
		return 0;
	if (d->out != NULL)
		commutes(d, f, compose(d, before(d, f, g)));
	return 1;
}

static int inner_idempotent(deriver *d, const fact *f, const fact *g)
{
	if (!inner(f, g) || has(f, PCTL_LAW_IDEMPOTENT) == NULL)
		return 0;
	if (d->out != NULL)
		gives(d, f, compose(d, before(d, f, g)), NULL, one(d, &g->f, var(d, &f->f, 0)));
	return 1;
}

static int inner_self_inverse(deriver *d, const fact *f, const fact *g)
{
	const pctl_law *l = has(f, PCTL_LAW_SELF_INVERSE);

	if (!inner(f, g) || l == NULL)
		return 0;
	if (d->out != NULL)
		gives(d, f, compose(d, before(d, f, g)), NULL, constant(d, l->a, f->f.out_dtype));
	return 1;
}

static int conjugate_commutative(deriver *d, const fact *f, const fact *g)
{
	if (!conjugate(f, g) || has(f, PCTL_LAW_COMMUTATIVE) == NULL)
		return 0;
	if (d->out != NULL)
		commutes(d, f, around(d, f, g));
	return 1;
}

static int conjugate_associative(deriver *d, const fact *f, const fact *g)
{
	const pctl_op_function *F;

	if (!conjugate(f, g) || has(f, PCTL_LAW_ASSOCIATIVE) == NULL)
		return 0;
	if (d->out != NULL && (F = around(d, f, g)) != NULL)
		claim(d, PCTL_REL_EQ,
		      two(d, F, two(d, F, var(d, &f->f, 0), var(d, &f->f, 1)), var(d, &f->f, 2)),
		      two(d, F, var(d, &f->f, 0), two(d, F, var(d, &f->f, 1), var(d, &f->f, 2))),
		      3);
	return 1;
}

static int conjugate_identity(deriver *d, const fact *f, const fact *g)
{
	const pctl_law *l = has(f, PCTL_LAW_IDENTITY);

	if (!conjugate(f, g) || l == NULL)
		return 0;
	if (d->out != NULL)
		gives(d, f, around(d, f, g), one(d, &g->f, constant(d, l->a, f->f.dtype)),
		      var(d, &f->f, 0));
	return 1;
}

static int conjugate_absorbing(deriver *d, const fact *f, const fact *g)
{
	const pctl_law *l = has(f, PCTL_LAW_ABSORBING);

	if (!conjugate(f, g) || l == NULL)
		return 0;
	if (d->out != NULL)
		gives(d, f, around(d, f, g), one(d, &g->f, constant(d, l->a, f->f.dtype)),
		      one(d, &g->f, constant(d, l->a, f->f.dtype)));
	return 1;
}

static int conjugate_idempotent(deriver *d, const fact *f, const fact *g)
{
	if (!conjugate(f, g) || has(f, PCTL_LAW_IDEMPOTENT) == NULL)
		return 0;
	if (d->out != NULL)
		gives(d, f, around(d, f, g), NULL, var(d, &f->f, 0));
	return 1;
}

static int both_unary(const fact *f, const fact *g)
{
	return f->f.n_in == 1 && g->f.n_in == 1 && f->f.out_dtype == f->f.dtype &&
	       g->f.out_dtype == g->f.dtype;
}

static int involutions_cancel(deriver *d, const fact *f, const fact *g)
{
	const pctl_op_function *F;
	const pctl_law_term *x;

	if (!both_unary(f, g) || has(f, PCTL_LAW_INVOLUTION) == NULL ||
	    has(g, PCTL_LAW_INVOLUTION) == NULL)
		return 0;
	if (d->out != NULL) {
		x = var(d, &f->f, 0);
		F = compose(d, one(d, &f->f, one(d, &g->f, one(d, &g->f, one(d, &f->f, x)))));
		if (F != NULL)
			claim(d, PCTL_REL_EQ, one(d, F, x), x, 1);
	}
	return 1;
}

static int sandwich_involution(deriver *d, const fact *f, const fact *g)
{
	const pctl_op_function *F;
	const pctl_law_term *x;

	if (!both_unary(f, g) || f == g || has(f, PCTL_LAW_INVOLUTION) == NULL ||
	    has(g, PCTL_LAW_INVOLUTION) == NULL)
		return 0;
	if (d->out != NULL) {
		x = var(d, &f->f, 0);
		F = compose(d, one(d, &f->f, one(d, &g->f, one(d, &f->f, x))));
		if (F != NULL)
			claim(d, PCTL_REL_EQ, one(d, F, one(d, F, x)), x, 1);
	}
	return 1;
}

static int chain_monotone(deriver *d, const fact *f, const fact *g)
{
	const pctl_op_function *F;

	if (!both_unary(f, g) || has(f, PCTL_LAW_MONOTONE) == NULL ||
	    has(g, PCTL_LAW_MONOTONE) == NULL)
		return 0;
	if (d->out != NULL &&
	    (F = compose(d, one(d, &g->f, one(d, &f->f, var(d, &f->f, 0))))) != NULL) {
		guard(d, PCTL_REL_LE, var(d, &f->f, 0), var(d, &f->f, 1));
		claim(d, PCTL_REL_LE, one(d, F, var(d, &f->f, 0)), one(d, F, var(d, &f->f, 1)), 2);
	}
	return 1;
}

static int distributes(deriver *d, const fact *f, const fact *g)
{
	const pctl_law *l = has(f, PCTL_LAW_DISTRIBUTIVE_OVER);
	const pctl_law_term *x, *y, *z;
	const pctl_op_function *F;

	if (l == NULL || !is_named(l->other, g) || f->f.n_in != 2 || g->f.n_in != 2 ||
	    f->f.out_dtype != f->f.dtype || g->f.out_dtype != f->f.dtype)
		return 0;
	if (d->out != NULL) {
		x = var(d, &f->f, 0);
		y = var(d, &f->f, 1);
		z = var(d, &f->f, 2);
		F = compose(d, two(d, &f->f, x, two(d, &g->f, y, z)));
		if (F != NULL)
			claim(d, PCTL_REL_EQ, pctl_compose_call(d->arena, F, x, y, z),
			      two(d, &g->f, two(d, &f->f, x, y), two(d, &f->f, x, z)), 3);
	}
	return 1;
}

/* One kernel rounds as its ops do one by one: nothing is contracted, reassociated or kept wider between them. */
static int unfused_left(deriver *d, const fact *f, const fact *g)
{
	const pctl_law_term *x, *y, *z, *parts;
	const pctl_op_function *F;

	if (f->f.n_in != 2 || g->f.n_in != 2 || g->f.out_dtype != f->f.dtype)
		return 0;
	if (d->out == NULL)
		return 1;
	x = var(d, &f->f, 0);
	y = var(d, &f->f, 1);
	z = var(d, &f->f, 2);
	parts = two(d, &f->f, two(d, &g->f, x, y), z);
	F = compose(d, parts);
	if (F != NULL)
		claim(d, PCTL_REL_EQ, pctl_compose_call(d->arena, F, x, y, z), parts, 3);
	return 1;
}

/* A sum of a product, which compilers like to make one operation: known by the neutral elements -0 and 1. */
static int contracted(deriver *d, const fact *f, const fact *g)
{
	const pctl_law *sum = has(f, PCTL_LAW_IDENTITY), *product = has(g, PCTL_LAW_IDENTITY);

	return sum != NULL && product != NULL && sum->a == 0x80000000u &&
	       product->a == 0x3f800000u && unfused_left(d, f, g);
}

static int unfused_behind(deriver *d, const fact *f, const fact *g)
{
	pctl_op_function h;

	if (!outer(f, g, &h))
		return 0;
	if (d->out != NULL) {
		const pctl_law_term *x = var(d, &f->f, 0), *y = var(d, &f->f, 1);
		const pctl_op_function *F = behind(d, f, &h);

		if (F != NULL)
			claim(d, PCTL_REL_EQ, two(d, F, x, y), one(d, &h, two(d, &f->f, x, y)), 2);
	}
	return 1;
}

static int unfused_before(deriver *d, const fact *f, const fact *g)
{
	if (!inner(f, g))
		return 0;
	if (d->out != NULL) {
		const pctl_op_function *F = compose(d, before(d, f, g));

		if (F != NULL)
			claim(d, PCTL_REL_EQ, two(d, F, var(d, &f->f, 0), var(d, &f->f, 1)),
			      before(d, f, g), 2);
	}
	return 1;
}

/* tracks: bits 1 << PCTL_TRACK_* it is for. Of floats only those whose proof needs no guard: laws of floats speak of numbers, not
 * of NaN. A list of a track stays as it is, since certificates name its units. */
typedef struct theorem {
	const char *text;
	int (*derive)(deriver *d, const fact *f, const fact *g);
	uint32_t tracks;
} theorem;

#define INTEGER (1u << PCTL_TRACK_INTEGER)
#define FLOAT (1u << PCTL_TRACK_FLOAT)

static const theorem theorems[] = {
	{"commutative outside: g(f(a, b)) = g(f(b, a)) when f is commutative", outer_commutative,
	 INTEGER | FLOAT},
	{"self-inverse outside: g(f(a, a)) = g(r) when f(a, a) = r", outer_self_inverse, INTEGER},
	{"idempotent outside: g(f(a, a)) = g(a) when f(a, a) = a", outer_idempotent, INTEGER},
	{"identity outside: g(f(a, e)) = g(a) when f(a, e) = a", outer_identity, INTEGER},
	{"absorbing outside: g(f(a, z)) = g(z) when f(a, z) = z", outer_absorbing, INTEGER},
	{"bounded outside: g(f(a, b)) <= hi when g(x) <= hi", outer_bounded, INTEGER},
	{"De Morgan: g(f(a, b)) = h(g(a), g(b)) in one kernel and in three", de_morgan, INTEGER},
	{"commutative inside: f(g(a), g(b)) = f(g(b), g(a)) when f is commutative",
	 inner_commutative, INTEGER | FLOAT},
	{"idempotent inside: f(g(a), g(a)) = g(a) when f(a, a) = a", inner_idempotent, INTEGER},
	{"self-inverse inside: f(g(a), g(a)) = r when f(a, a) = r", inner_self_inverse, INTEGER},
	{"conjugate commutative: g(f(g(a), g(b))) is when f is", conjugate_commutative,
	 INTEGER | FLOAT},
	{"conjugate associative: g(f(g(a), g(b))) is when f is and g(g(x)) = x",
	 conjugate_associative, INTEGER},
	{"conjugate identity: g(f(g(a), g(b))) has g(e) when f has e and g(g(x)) = x",
	 conjugate_identity, INTEGER},
	{"conjugate absorbing: g(f(g(a), g(b))) has g(z) when f has z and g(g(x)) = x",
	 conjugate_absorbing, INTEGER},
	{"conjugate idempotent: g(f(g(a), g(b))) is when f is and g(g(x)) = x",
	 conjugate_idempotent, INTEGER},
	{"involutions cancel: f(g(g(f(x)))) = x when f(f(x)) = g(g(x)) = x", involutions_cancel,
	 INTEGER | FLOAT},
	{"involution between: f(g(f(x))) undoes itself when f and g do", sandwich_involution,
	 INTEGER | FLOAT},
	{"monotone chain: a <= b gives g(f(a)) <= g(f(b)) when f and g are monotone",
	 chain_monotone, INTEGER},
	{"distributive: f(a, g(b, c)) = g(f(a, b), f(a, c)) in one kernel and in three",
	 distributes, INTEGER},
	{"sum of a product: f(g(a, b), c) rounds twice in one kernel, as in two", contracted,
	 FLOAT},
	{"unfused, left: f(g(a, b), c) in one kernel and in two", unfused_left, FLOAT},
	{"unfused, behind: g(f(a, b)) in one kernel and in two", unfused_behind, FLOAT},
	{"unfused, before: f(g(a), g(b)) in one kernel and in three", unfused_before, FLOAT},
};
#define N_THEOREMS (sizeof(theorems) / sizeof(theorems[0]))

/* ---- all of them ------------------------------------------------------------------------------ */

static void collect(deriver *d, const pctl_selection *s, uint32_t dtype)
{
	const uint32_t n = d->ops->count(d->ops->ctx);

	d->facts = pctl_arena_array(d->arena, n + 1, sizeof(*d->facts));
	for (uint32_t i = 0; d->facts != NULL && i < n; i++) {
		pctl_op_ref op;
		fact *f = &d->facts[d->n];

		d->ops->at(d->ops->ctx, i, &op);
		if (pctl_gate_track(op.desc) != s->track || !pctl_gate_function(&op, dtype, &f->f))
			continue;
		f->rules = op.lib->rules(op.inst, op.index);
		f->selected = pctl_selection_has(s, op.desc);
		d->n++;
	}
}

/* Pair number i of facts, when the theorem says something of it. */
static int applies(deriver *d, const theorem *t, uint32_t i)
{
	const fact *f = &d->facts[i / d->n], *g = &d->facts[i % d->n];

	return (f->selected || g->selected) && f->f.op.lib == g->f.op.lib &&
	       f->f.op.inst == g->f.op.inst && t->derive(d, f, g);
}

pctl_status pctl_derive(const pctl_op_source *ops, const pctl_selection *s, uint32_t dtype,
			pctl_arena *arena, const pctl_call *call, pctl_derived **out,
			uint32_t *n_out)
{
	deriver d = {.ops = ops, .arena = arena, .call = call};

	*n_out = 0;
	*out = pctl_arena_array(arena, N_THEOREMS * MOST, sizeof(**out));
	collect(&d, s, dtype);
	if (*out == NULL || d.facts == NULL)
		return pctl_no_memory(call, "compositions");
	for (uint32_t t = 0; t < N_THEOREMS && d.status == PCTL_OK; t++) {
		uint32_t candidates = 0, number = 0, taken = 0;

		if (!(theorems[t].tracks & 1u << s->track))
			continue;
		d.out = NULL;
		for (uint32_t i = 0; i < d.n * d.n; i++)
			candidates += applies(&d, &theorems[t], i) ? 1u : 0u;
		for (uint32_t i = 0; i < d.n * d.n && d.status == PCTL_OK; i++) {
			d.out = NULL;
			if (!applies(&d, &theorems[t], i))
				continue;
			/* Candidate k is taken when it is the first of its share. */
			if ((uint64_t)number++ * MOST / (candidates > MOST ? candidates : MOST) <
				    taken ||
			    taken == MOST)
				continue;
			taken++;
			d.out = &(*out)[*n_out];
			d.out->theorem = theorems[t].text;
			d.out->law = (pctl_law_equation){.text = theorems[t].text,
							 .name = theorems[t].text,
							 .dtype = dtype,
							 .law = PCTL_LAW_CUSTOM};
			(void)applies(&d, &theorems[t], i);
			(*n_out)++;
		}
	}
	return d.status;
}
