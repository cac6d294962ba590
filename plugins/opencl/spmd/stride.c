/* How far values of neighbouring lanes lie apart, where that is one number for all of them: what makes an access of lanes one
 * of a vector. A stride holds modulo 2^32 and for every lane, of those that do not run too, so a variable has one only if
 * whole vectors are stored into it. */
#include "spmd/internal.h"

typedef struct walk {
	spmd *s;
	spmd_function *fn;
	const pctl_function *of;
	int changed;
} walk;

static const pctl_inst *inst_at(const walk *w, uint32_t v)
{
	return &w->s->e.p->insts[w->of->first_inst + v];
}

static int constant(const walk *w, uint32_t v, uint64_t *out)
{
	const pctl_inst *in = inst_at(w, v);

	if (in->op != PCTL_OP_CONST)
		return 0;
	*out = (uint64_t)pctl_arg(w->s->e.p, in, 0) | (uint64_t)pctl_arg(w->s->e.p, in, 1) << 32;
	return 1;
}

static int is_known(int64_t stride)
{
	return stride != SPMD_STRIDE_UNKNOWN && stride != SPMD_STRIDE_UNSET;
}

/* Of two that may both come. */
static int64_t either(int64_t a, int64_t b)
{
	if (a == SPMD_STRIDE_UNSET || a == b)
		return b;
	return b == SPMD_STRIDE_UNSET ? a : SPMD_STRIDE_UNKNOWN;
}

static int64_t bounded(int64_t x)
{
	return x > INT32_MAX || x < INT32_MIN ? SPMD_STRIDE_UNKNOWN : x;
}

static int64_t stride_of(const walk *w, const pctl_inst *in, uint32_t i)
{
	const spmd_value *v = &w->fn->values[pctl_arg(w->s->e.p, in, i)];

	return v->varies ? v->stride : 0;
}

static void sum(const walk *w, const pctl_inst *in, spmd_value *v)
{
	const int64_t a = stride_of(w, in, 0), b = stride_of(w, in, 1);

	if (a == SPMD_STRIDE_UNSET || b == SPMD_STRIDE_UNSET)
		v->stride = SPMD_STRIDE_UNSET;
	else if (is_known(a) && is_known(b))
		v->stride = bounded(in->op == PCTL_OP_ADD ? a + b : a - b);
}

static void product(const walk *w, const pctl_inst *in, spmd_value *v)
{
	uint64_t k;

	for (uint32_t i = 0; i < 2; i++) {
		const int64_t a = stride_of(w, in, 1 - i);

		if (!constant(w, pctl_arg(w->s->e.p, in, i), &k) || k > 0xffff)
			continue;
		if (in->op == PCTL_OP_SHL && (i == 0 || k > 15))
			continue;
		v->stride = is_known(a)
				    ? bounded(in->op == PCTL_OP_SHL ? a * (1 << k) : a * (int64_t)k)
				    : a;
	}
}

/* Nothing changes a value that is no larger than this. */
static void cut(const walk *w, const pctl_inst *in, spmd_value *v)
{
	for (uint32_t i = 0; i < 2; i++) {
		const spmd_value *of = &w->fn->values[pctl_arg(w->s->e.p, in, 1 - i)];
		uint64_t k;
		int is_same;

		if (!constant(w, pctl_arg(w->s->e.p, in, i), &k) ||
		    (in->op == PCTL_OP_MOD && i == 0))
			continue;
		is_same = in->op == PCTL_OP_MOD	  ? of->top < k
			  : in->op == PCTL_OP_MIN ? of->top <= k
						  : (k & (k + 1)) == 0 && of->top <= k;
		if (of->stride == SPMD_STRIDE_UNSET || is_same)
			v->stride = of->stride;
		v->top = is_same ? of->top : k;
		if (in->op == PCTL_OP_MOD && v->top == k && k)
			v->top = k - 1;
	}
}

static void compute(walk *w, const pctl_inst *in, spmd_value *v)
{
	const pctl_program *p = w->s->e.p;
	const pctl_type *t = &p->types[in->type];

	v->stride = SPMD_STRIDE_UNKNOWN;
	v->top = UINT64_MAX;
	if (t->kind != PCTL_TYPE_SCALAR ||
	    (t->scalar != PCTL_SCALAR_U32 && t->scalar != PCTL_SCALAR_I32))
		return;
	switch (in->op) {
	case PCTL_OP_ADD:
	case PCTL_OP_SUB:
		sum(w, in, v);
		break;
	case PCTL_OP_MUL:
	case PCTL_OP_SHL:
		product(w, in, v);
		break;
	case PCTL_OP_AND:
	case PCTL_OP_MOD:
	case PCTL_OP_MIN:
		if (t->scalar == PCTL_SCALAR_U32)
			cut(w, in, v);
		break;
	case PCTL_OP_CAST:
	case PCTL_OP_BITCAST: {
		const pctl_type *from = &p->types[inst_at(w, pctl_arg(p, in, 0))->type];

		if (from->kind == PCTL_TYPE_SCALAR &&
		    (from->scalar == PCTL_SCALAR_U32 || from->scalar == PCTL_SCALAR_I32)) {
			v->stride = stride_of(w, in, 0);
			v->top = w->fn->values[pctl_arg(p, in, 0)].top;
		}
		break;
	}
	case PCTL_OP_EXTRACT: {
		const pctl_inst *of = inst_at(w, pctl_arg(p, in, 0));

		if (of->op == PCTL_OP_BUILTIN) {
			const spmd_builtin b =
				spmd_builtin_of(w->s, pctl_arg(p, of, 0), pctl_arg(p, in, 1));

			v->stride = b.stride;
			v->top = b.top;
		}
		break;
	}
	case PCTL_OP_BUILTIN:
		v->stride = 1; /* local_index, the scalar among them */
		v->top = w->s->invocations - 1;
		break;
	default:
		break;
	}
}

static void merge(walk *w, int64_t *stride, uint64_t *top, const spmd_value *v)
{
	const int64_t both = either(*stride, v->varies ? v->stride : 0);

	if (both != *stride || v->top > *top)
		w->changed = 1;
	*stride = both;
	if (v->top > *top)
		*top = v->top;
}

static void instruction(walk *w, uint32_t i, const pctl_inst *in)
{
	const pctl_program *p = w->s->e.p;
	spmd_value *v = &w->fn->values[i], was = *v;
	pctl_place place;
	spmd_local *l;

	if (in->op == PCTL_OP_CALL && p->functions[pctl_arg(p, in, 0)].n_params)
		for (uint32_t k = 1; k < in->n_args; k++) {
			spmd_value *to = &w->s->functions[pctl_arg(p, in, 0)].values[k - 1];

			merge(w, &to->stride, &to->top, &w->fn->values[pctl_arg(p, in, k)]);
		}
	if (in->op == PCTL_OP_PARAM)
		return;
	if (in->op == PCTL_OP_LOAD && pctl_place_get(p, w->of, in, &place) &&
	    (place.root & PCTL_PLACE_LOCAL) && !place.n_chain) {
		l = &w->fn->locals[place.root & ~PCTL_PLACE_LOCAL];
		v->stride = l->stride;
		v->top = l->top;
	} else if (in->op == PCTL_OP_CONST) {
		constant(w, i, &v->top);
	} else {
		compute(w, in, v);
	}
	if (v->stride != was.stride || v->top != was.top)
		w->changed = 1;
	if (in->op == PCTL_OP_STORE && pctl_place_get(p, w->of, in, &place) &&
	    (place.root & PCTL_PLACE_LOCAL)) {
		spmd_value what = w->fn->values[pctl_arg(p, in, 0)];

		l = &w->fn->locals[place.root & ~PCTL_PLACE_LOCAL];
		if (place.n_chain || v->partly)
			what = (spmd_value){
				.varies = 1, .stride = SPMD_STRIDE_UNKNOWN, .top = UINT64_MAX};
		merge(w, &l->stride, &l->top, &what);
	}
}

void spmd_find_strides(spmd *s)
{
	const pctl_program *p = s->e.p;
	walk w = {.s = s, .changed = 1};

	/* What starts as zero and not with a store has been stored a zero. */
	for (uint32_t f = 1; f < p->n_functions; f++)
		for (uint32_t i = 0; s->e.reached[f] && i < p->functions[f].n_insts; i++) {
			s->functions[f].values[i].stride = SPMD_STRIDE_UNSET;
			s->functions[f].values[i].top = 0;
		}
	for (uint32_t f = 1; f < p->n_functions; f++)
		for (uint32_t k = 0; s->e.reached[f] && k < p->functions[f].n_locals; k++)
			if (s->functions[f].locals[k].scope == 0)
				s->functions[f].locals[k].stride = 0;
	for (uint32_t turn = 0; w.changed; turn++) {
		w.changed = 0;
		for (uint32_t f = p->n_functions; f-- > 1;) {
			w.fn = &s->functions[f];
			w.of = &p->functions[f];
			for (uint32_t i = 0; s->e.reached[f] && i < w.of->n_insts; i++)
				instruction(&w, i, &p->insts[w.of->first_inst + i]);
		}
		/* Bounds of variables in loops only grow: from here on they are unknown. */
		for (uint32_t f = 1; turn == 3 && f < p->n_functions; f++)
			for (uint32_t k = 0; s->e.reached[f] && k < p->functions[f].n_locals; k++)
				s->functions[f].locals[k].top = UINT64_MAX;
	}
}

/* ---- accesses in loops ---- */

static int is_in_loop(const spmd_function *fn, uint32_t i)
{
	uint32_t r = fn->values[i].region;

	while (r && fn->regions[r].op != PCTL_OP_LOOP)
		r = fn->regions[r].parent;
	return r != 0;
}

/* 0: the same for all lanes; 1: neighbours lie side by side; 2: apart. */
static int reach(const walk *w, const pctl_place *place)
{
	uint32_t type = place->root_type, n = 0, apart = 0;

	for (uint32_t i = 0; i < place->n_chain; i++) {
		const uint32_t word = w->s->e.p->words[place->chain + i];
		const int is_index = w->s->e.p->types[type].kind != PCTL_TYPE_STRUCT;

		if (is_index && w->fn->values[word].varies) {
			n++;
			apart |= w->fn->values[word].stride != 1;
		}
		type = pctl_type_step(w->s->e.p, type, word);
	}
	return !n ? 0 : n > 1 || apart ? 2 : 1;
}

int spmd_only_scatters(const spmd *s)
{
	const uint32_t f = s->e.p->entries[0].function;
	walk w = {.s = (spmd *)(uintptr_t)s, .fn = &s->functions[f], .of = &s->e.p->functions[f]};
	uint32_t counts[3] = {0};
	pctl_place place;

	for (uint32_t i = 0; i < w.of->n_insts; i++) {
		const pctl_inst *in = inst_at(&w, i);

		if ((in->op == PCTL_OP_LOAD || in->op == PCTL_OP_STORE) && is_in_loop(w.fn, i) &&
		    pctl_place_get(s->e.p, w.of, in, &place) && !(place.root & PCTL_PLACE_LOCAL) &&
		    place.space == PCTL_SPACE_STORAGE)
			counts[reach(&w, &place)]++;
	}
	return counts[2] >= 4 && !counts[1] && !counts[0];
}
