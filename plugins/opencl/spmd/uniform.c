/* What differs between lanes. A value does when something it is made of does; a variable, when something that is stored does,
 * or when a lane may load what it has not stored itself; a region, when its condition does. Everything starts as the same and
 * is looked at again until nothing changes. */
#include "spmd/internal.h"

typedef struct walk {
	spmd *s;
	spmd_function *fn;
	const pctl_function *of;
	uint32_t f;
	int changed;
	int found; /* of the visit under way */
} walk;

static void set(walk *w, uint8_t *flag, int value)
{
	if (!value || *flag)
		return;
	*flag = 1;
	w->changed = 1;
}

static void varies(void *context, uint32_t v)
{
	walk *w = context;

	w->found |= w->fn->values[v].varies;
}

static int any_argument(walk *w, const pctl_inst *in)
{
	w->found = 0;
	spmd_each_argument(w->s->e.p, w->of, in, varies, w);
	return w->found;
}

static int any_index(walk *w, const pctl_place *place)
{
	uint32_t type = place->root_type;
	int found = 0;

	for (uint32_t i = 0; i < place->n_chain; i++) {
		const uint32_t word = w->s->e.p->words[place->chain + i];

		if (w->s->e.p->types[type].kind != PCTL_TYPE_STRUCT)
			found |= w->fn->values[word].varies;
		type = pctl_type_step(w->s->e.p, type, word);
	}
	return found;
}

spmd_builtin spmd_builtin_of(const spmd *s, uint32_t which, uint32_t c)
{
	const uint32_t *size = s->e.p->entries[0].workgroup_size;
	const spmd_builtin same = {0}, unknown = {.varies = 1,
						  .by_step = 1,
						  .stride = SPMD_STRIDE_UNKNOWN,
						  .top = UINT32_MAX};
	spmd_builtin b = {.varies = 1, .by_step = 1, .stride = 1, .top = s->invocations - 1};
	const int in_rows = size[0] % s->width == 0;

	if (which == PCTL_BUILTIN_WORKGROUP_ID || which == PCTL_BUILTIN_NUM_WORKGROUPS)
		return same;
	if (which == PCTL_BUILTIN_LOCAL_INDEX)
		return b;
	if (size[c] == 1)
		b = same;
	else if (c && in_rows)
		b = (spmd_builtin){.by_step = 1, .top = size[c] - 1};
	else if (c || (!in_rows && size[0] != s->invocations))
		return unknown;
	if (c == 0 && b.varies)
		b.top = size[0] - 1;
	if (which == PCTL_BUILTIN_GLOBAL_ID)
		b.top = UINT32_MAX;
	return b;
}

static int builtin_varies(const walk *w, const pctl_inst *in)
{
	for (uint32_t c = 0; c < 3; c++)
		if (spmd_builtin_of(w->s, pctl_arg(w->s->e.p, in, 0), c).varies ||
		    spmd_builtin_of(w->s, pctl_arg(w->s->e.p, in, 0), c).by_step)
			return 1;
	return 0;
}

static int place_varies(walk *w, const pctl_inst *in, const pctl_place *place)
{
	if (in->op == PCTL_OP_ARRAY_LENGTH)
		return 0;
	if (place->root & PCTL_PLACE_LOCAL)
		return w->fn->locals[place->root & ~PCTL_PLACE_LOCAL].varies || any_index(w, place);
	if (in->op != PCTL_OP_LOAD && in->op != PCTL_OP_LOAD_UNIFORM && in->op != PCTL_OP_STORE)
		return 1;
	return place->space == PCTL_SPACE_PRIVATE || any_index(w, place);
}

static int value_varies(walk *w, const pctl_inst *in)
{
	const pctl_program *p = w->s->e.p;
	pctl_place place;

	if (in->op == PCTL_OP_BUILTIN)
		return builtin_varies(w, in);
	if (pctl_place_get(p, w->of, in, &place))
		return place_varies(w, in, &place);
	if (in->op == PCTL_OP_CALL)
		return w->s->functions[pctl_arg(p, in, 0)].result_varies;
	if (in->op == PCTL_OP_EXTRACT) {
		const pctl_inst *of = &p->insts[w->of->first_inst + pctl_arg(p, in, 0)];

		if (of->op == PCTL_OP_BUILTIN)
			return spmd_builtin_of(w->s, pctl_arg(p, of, 0), pctl_arg(p, in, 1)).varies;
	}
	return any_argument(w, in);
}

/* ---- variables ---- */

/* Leaving the loop early does no harm to a variable that nobody loads behind it before it is stored anew. */
static int forgets(const walk *w, const spmd_local *l, uint32_t region)
{
	if (l->last > w->fn->regions[region].end)
		return 0;
	for (uint32_t r = w->fn->regions[region].parent; r != l->scope;
	     r = w->fn->regions[r].parent)
		if (w->fn->regions[r].op == PCTL_OP_LOOP)
			return 0;
	return 1;
}

static int store_is_partial(walk *w, uint32_t i, const spmd_local *l)
{
	spmd_function *fn = w->fn;
	uint32_t r = fn->values[i].region;
	int partial;

	for (; r != l->scope; r = fn->regions[r].parent) {
		uint8_t was = fn->regions[r].diverges;

		if (was && fn->regions[r].op == PCTL_OP_LOOP && forgets(w, l, r))
			was = 0;
		if (was || (i > fn->regions[r].left_at &&
			    (fn->regions[r].op != PCTL_OP_LOOP || i < fn->regions[r].continuing)))
			return 1;
	}
	partial = i > fn->regions[r].left_at &&
		  (fn->regions[r].op != PCTL_OP_LOOP || i < fn->regions[r].continuing);
	return partial;
}

static void store(walk *w, uint32_t i, const pctl_inst *in, const pctl_place *place)
{
	spmd_value *v = &w->fn->values[i];
	spmd_local *l;

	if (place->space == PCTL_SPACE_PRIVATE) {
		/* Who has left a function is there again when it ends. */
		set(w, &v->partly,
		    w->fn->masked || spmd_diverges(w->fn, i, 0) ||
			    (w->fn->leaves && w->f != w->s->e.p->entries[0].function));
		return;
	}
	if (!(place->root & PCTL_PLACE_LOCAL))
		return;
	l = &w->fn->locals[place->root & ~PCTL_PLACE_LOCAL];
	set(w, &v->partly, store_is_partial(w, i, l));
	set(w, &l->varies, v->partly || w->fn->values[pctl_arg(w->s->e.p, in, 0)].varies);
}

/* ---- jumps and calls ---- */

static void jump(walk *w, uint32_t i, const pctl_inst *in)
{
	spmd_function *fn = w->fn;
	const uint32_t target = spmd_target(fn, in, i);
	spmd_region *t = &fn->regions[target];

	if (!spmd_diverges(fn, i, target))
		return;
	set(w, &fn->values[i].partly, 1);
	for (uint32_t r = fn->values[i].region; r != target; r = fn->regions[r].parent) {
		set(w, &fn->regions[r].jumps, 1);
		set(w, &fn->regions[r].escapes, 1);
	}
	set(w, &t->jumps, 1);
	if (in->op == PCTL_OP_RETURN)
		set(w, &fn->leaves, 1);
	else if (in->op == PCTL_OP_BREAK && t->op == PCTL_OP_LOOP)
		set(w, &t->diverges, 1);
	else if (i < t->left_at) {
		t->left_at = i;
		w->changed = 1;
	}
}

static void call(walk *w, uint32_t i, const pctl_inst *in)
{
	spmd_function *to = &w->s->functions[pctl_arg(w->s->e.p, in, 0)];

	set(w, &to->masked,
	    w->fn->masked || w->fn->leaves || w->s->invocations % w->s->width != 0 ||
		    spmd_diverges(w->fn, i, 0));
	for (uint32_t k = 1; k < in->n_args; k++)
		set(w, &to->values[k - 1].varies, w->fn->values[pctl_arg(w->s->e.p, in, k)].varies);
}

static void instruction(walk *w, uint32_t i, const pctl_inst *in)
{
	const pctl_program *p = w->s->e.p;
	pctl_place place;

	if (in->op != PCTL_OP_PARAM)
		set(w, &w->fn->values[i].varies, value_varies(w, in));
	if (in->op == PCTL_OP_CALL)
		call(w, i, in);
	if (in->op == PCTL_OP_BREAK || in->op == PCTL_OP_CONTINUE || in->op == PCTL_OP_RETURN)
		jump(w, i, in);
	if (in->op == PCTL_OP_RETURN && in->n_args)
		set(w, &w->fn->result_varies,
		    w->fn->values[pctl_arg(p, in, 0)].varies || w->fn->values[i].partly ||
			    w->fn->leaves);
	if (!pctl_place_get(p, w->of, in, &place))
		return;
	/* Lanes choose elements of their own: so they must have some. */
	if ((place.root & PCTL_PLACE_LOCAL) && any_index(w, &place))
		set(w, &w->fn->locals[place.root & ~PCTL_PLACE_LOCAL].varies, 1);
	if (in->op == PCTL_OP_STORE)
		store(w, i, in, &place);
}

static void function(walk *w, uint32_t f)
{
	w->f = f;
	w->fn = &w->s->functions[f];
	w->of = &w->s->e.p->functions[f];
	for (uint32_t i = 0; i < w->of->n_insts; i++)
		instruction(w, i, &w->s->e.p->insts[w->of->first_inst + i]);
	for (uint32_t r = 1; r < w->fn->n_regions; r++) {
		const uint16_t op = w->fn->regions[r].op;

		if (op != PCTL_OP_BLOCK && op != PCTL_OP_SWITCH)
			set(w, &w->fn->regions[r].diverges,
			    w->fn->values[w->fn->regions[r].condition].varies);
	}
}

/* ---- scopes ---- */

static uint32_t common(const spmd_function *fn, uint32_t a, uint32_t b)
{
	while (a != b) {
		if (a > b) /* parents have smaller numbers */
			a = fn->regions[a].parent;
		else
			b = fn->regions[b].parent;
	}
	return a;
}

/* A variable lives in the innermost region with all its accesses if it is stored as a whole there before anything else,
 * else in the whole function. */
static void find_scopes(spmd *s, uint32_t f)
{
	const pctl_function *of = &s->e.p->functions[f];
	spmd_function *fn = &s->functions[f];
	pctl_place place;

	for (uint32_t k = 0; k < of->n_locals; k++)
		fn->locals[k] = (spmd_local){
			.first = SPMD_NONE, .segment = SPMD_NONE, .stride = SPMD_STRIDE_UNSET};
	for (uint32_t i = 0; i < of->n_insts; i++) {
		spmd_local *l;

		if (!pctl_place_get(s->e.p, of, &s->e.p->insts[of->first_inst + i], &place) ||
		    !(place.root & PCTL_PLACE_LOCAL))
			continue;
		l = &fn->locals[place.root & ~PCTL_PLACE_LOCAL];
		if (l->first == SPMD_NONE) {
			l->first = i;
			l->scope = fn->values[i].region;
		}
		l->scope = common(fn, l->scope, fn->values[i].region);
		l->last = i;
	}
	for (uint32_t k = 0; k < of->n_locals; k++) {
		spmd_local *l = &fn->locals[k];
		const pctl_inst *first = &s->e.p->insts[of->first_inst + l->first];

		if (l->first == SPMD_NONE)
			l->scope = 0;
		else if (first->op != PCTL_OP_STORE || first->n_args != 2 ||
			 fn->values[l->first].region != l->scope)
			l->scope = 0;
	}
}

static void is_used(void *context, uint32_t v)
{
	((spmd_function *)context)->values[v].used = 1;
}

static void find_used(spmd *s, uint32_t f)
{
	const pctl_function *of = &s->e.p->functions[f];

	for (uint32_t i = 0; i < of->n_insts; i++)
		spmd_each_argument(s->e.p, of, &s->e.p->insts[of->first_inst + i], is_used,
				   &s->functions[f]);
}

void spmd_find_varying(spmd *s)
{
	walk w = {.s = s, .changed = 1};

	for (uint32_t f = 1; f < s->e.p->n_functions; f++) {
		if (!s->e.reached[f])
			continue;
		find_scopes(s, f);
		find_used(s, f);
	}
	while (w.changed) {
		w.changed = 0;
		for (uint32_t f = s->e.p->n_functions; f-- > 1;)
			if (s->e.reached[f])
				function(&w, f);
	}
}
