/* Loads, stores and atomics on the interpreter: what is known of what they yield, the accesses that races
 * are judged by, and which indices are proven in bounds. */
#include <string.h>

#include "compiler/analysis/interp.h"

static uint8_t least(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

/* ---- slots: private variables and locals ---- */

static uint32_t slot_of(const pctl_interp *w, const pctl_place *pl)
{
	return pl->root & PCTL_PLACE_LOCAL ? w->local_base + (pl->root & ~PCTL_PLACE_LOCAL)
					   : pl->root;
}

/* The component a chain picks from a tracked vector: 0..3, 4 when it is not a number. */
static uint32_t picked(const pctl_interp *w, const pctl_place *pl, uint32_t n)
{
	const pctl_absvec *index = w->values[w->p->words[pl->chain]];
	const pctl_absval *k = index->part[0];

	if (!k->exact || k->form.n || k->form.constant < 0 || k->form.constant >= n)
		return 4;
	return (uint32_t)k->form.constant;
}

/* Who agrees on all indices of a place. */
static void agreement(const pctl_interp *w, const pctl_place *pl, uint8_t *uniform, uint8_t *shared)
{
	uint32_t type = pl->root_type, i;

	*uniform = *shared = PCTL_AGREE_ALL;
	for (i = 0; i < pl->n_chain; i++) {
		const uint32_t word = w->p->words[pl->chain + i];

		if (w->p->types[type].kind != PCTL_TYPE_STRUCT) {
			*uniform = least(*uniform, pctl_absvec_uniform(w->values[word]));
			*shared = least(*shared, pctl_absvec_shared(w->values[word]));
		}
		type = pctl_type_step(w->p, type, word);
	}
}

uint8_t pctl_interp_place_agreement(const pctl_interp *w, const pctl_inst *in)
{
	uint8_t uniform, shared;
	pctl_place pl;

	if (!pctl_place_get(w->p, w->fn, in, &pl))
		return PCTL_AGREE_NONE;
	agreement(w, &pl, &uniform, &shared);
	return uniform;
}

static int is_tracked(const pctl_interp *w, uint32_t type)
{
	return w->p->types[type].kind == PCTL_TYPE_SCALAR ||
	       w->p->types[type].kind == PCTL_TYPE_VECTOR;
}

static const pctl_absvec *load_slot(pctl_interp *w, const pctl_inst *in, const pctl_place *pl)
{
	const pctl_absvec *cell = w->state.slots[slot_of(w, pl)];
	uint8_t uniform, shared;

	if (!pl->n_chain)
		return cell;
	if (is_tracked(w, pl->root_type)) {
		const uint32_t i = picked(w, pl, cell->n);

		if (i < 4)
			return pctl_absvec_of(w, &cell->part[i], 1);
	}
	agreement(w, pl, &uniform, &shared);
	return pctl_absvec_fresh(w, in->type, least(uniform, pctl_absvec_uniform(cell)),
				 least(shared, pctl_absvec_shared(cell)));
}

static int store_slot(pctl_interp *w, const pctl_absvec *value, const pctl_place *pl)
{
	const uint32_t slot = slot_of(w, pl);
	const pctl_absvec *old = w->state.slots[slot], *cell = value;
	uint8_t uniform, shared;

	if (pl->n_chain && is_tracked(w, pl->root_type) && picked(w, pl, old->n) < 4) {
		const pctl_absval *parts[4];

		memcpy(parts, old->part, sizeof(parts));
		parts[picked(w, pl, old->n)] = value->part[0];
		cell = pctl_absvec_of(w, parts, old->n);
	} else if (pl->n_chain) {
		agreement(w, pl, &uniform, &shared);
		uniform =
			least(uniform, least(pctl_absvec_uniform(old), pctl_absvec_uniform(value)));
		shared = least(shared, least(pctl_absvec_shared(old), pctl_absvec_shared(value)));
		cell = pctl_absvec_fresh(w, pl->root_type, uniform, shared);
	}
	w->state.slots[slot] = cell;
	return cell != NULL;
}

/* ---- shared memory ---- */

static uint32_t family_of(const pctl_interp *w, uint32_t inst, uint16_t op)
{
	if (op == PCTL_OP_ATOMIC_LOAD)
		return PCTL_OP_ATOMIC_LOAD;
	if (op == PCTL_OP_ATOMIC_STORE || op == PCTL_OP_ATOMIC_EXCHANGE ||
	    op == PCTL_OP_ATOMIC_CAS || w->used[inst])
		return 0;
	return op == PCTL_OP_ATOMIC_SUB ? PCTL_OP_ATOMIC_ADD : op;
}

/* element: one more index behind the place, or NULL. */
static void record(pctl_interp *w, const pctl_inst *in, const pctl_place *pl, uint32_t v,
		   const pctl_absval *element)
{
	const uint32_t inst = w->fn->first_inst + v;
	const int atomic = pctl_op_get(in->op)->kind == PCTL_OPKIND_atomic;
	uint32_t type = pl->root_type, i;
	pctl_access *a;

	if (w->in_fixpoint || w->gave_up ||
	    (pl->space != PCTL_SPACE_STORAGE && pl->space != PCTL_SPACE_WORKGROUP) ||
	    !w->written[pl->root])
		return;
	a = w->accesses.n < PCTL_INTERP_ACCESSES_MAX ? pctl_arena_alloc(w->arena, sizeof(*a))
						     : NULL;
	if (!a) {
		w->gave_up = 1;
		return;
	}
	a->var = pl->root;
	a->kind = atomic		   ? PCTL_ACCESS_KIND_ATOMIC
		  : pctl_op_stores(in->op) ? PCTL_ACCESS_KIND_STORE
					   : PCTL_ACCESS_KIND_LOAD;
	a->family = atomic ? family_of(w, inst, in->op) : 0;
	a->function = w->function;
	a->inst = v;
	a->n_chain = pl->n_chain;
	a->facts = w->state.facts;
	a->intervals = w->state.intervals;
	for (i = 0; i < pl->n_chain; i++) {
		const uint32_t word = w->p->words[pl->chain + i];

		if (w->p->types[type].kind == PCTL_TYPE_STRUCT)
			a->chain[i].member = word;
		else
			a->chain[i].index = w->values[word]->part[0];
		type = pctl_type_step(w->p, type, word);
	}
	if (element)
		a->chain[a->n_chain++].index = element;
	if (!PCTL_VEC_PUSH(&w->accesses, a))
		w->symbols.no_memory = 1;
}

/* Every invocation stores a number of its own at one constant place, whatever happens: two of them
 * race. */
static void look_for_certain_race(pctl_interp *w, const pctl_inst *in, const pctl_place *pl,
				  uint32_t v)
{
	const uint32_t *size = w->p->entries[0].workgroup_size;
	const pctl_absvec *value = w->values[pctl_arg(w->p, in, 0)];
	uint32_t type = pl->root_type, i, d;
	uint64_t address = 0, step;

	if (w->in_fixpoint || w->refuted || w->conditions ||
	    (pl->space != PCTL_SPACE_STORAGE && pl->space != PCTL_SPACE_WORKGROUP))
		return;
	for (i = 0; i < pl->n_chain; i++) {
		const uint32_t word = w->p->words[pl->chain + i];
		const pctl_type *t = &w->p->types[type];

		if (t->kind != PCTL_TYPE_STRUCT) {
			const pctl_absval *k = w->values[word]->part[0];
			const uint32_t length = t->kind == PCTL_TYPE_VECTOR   ? t->width
						: t->kind == PCTL_TYPE_MATRIX ? t->columns
									      : t->count;

			if (!k->exact || k->form.n || k->form.constant < 0 ||
			    (t->kind != PCTL_TYPE_RUNTIME_ARRAY && k->form.constant >= length))
				return;
			address += pctl_type_part_offset(w->p, type, (uint32_t)k->form.constant);
		} else {
			address += pctl_type_part_offset(w->p, type, word);
		}
		type = pctl_type_step(w->p, type, word);
	}
	for (i = 0; i < value->n; i++) {
		for (d = 0; d < 3; d++) {
			if (size[d] > 1 && value->part[i]->exact &&
			    pctl_affine_factor(&value->part[i]->form, PCTL_SYMBOL_LOCAL + d)) {
				w->refuted = 1;
				w->z->a->race_function[0] = w->z->a->race_function[1] = w->function;
				w->z->a->race_inst[0] = w->z->a->race_inst[1] = v;
				step = d == 0 ? 1 : d == 1 ? size[0] : (uint64_t)size[0] * size[1];
				w->z->a->race_var = pl->root;
				w->z->a->race_address = address;
				w->z->a->race_invocation[0] = 0;
				w->z->a->race_invocation[1] = step;
			}
		}
	}
}

static const pctl_absval *declared(pctl_interp *w, const pctl_place *pl, const pctl_absval *k)
{
	const pctl_program *p = w->p;
	uint32_t i, d;

	if (!pctl_place_is_of_members(p, pl))
		return k;
	for (i = 0; i < p->n_maxima && k; i++) {
		const pctl_max *m = &p->maxima[i];

		if (m->var != pl->root || m->n_path != pl->n_chain || m->value >= (1ull << 62))
			continue;
		for (d = 0; d < m->n_path && m->path[d] == p->words[pl->chain + d]; d++)
			;
		if (d == m->n_path)
			return pctl_absval_made(&w->symbols, k->scalar,
						k->lo > 0			   ? k->lo
						: pctl_scalar_is_signed(k->scalar) ? k->lo
										   : 0,
						(int64_t)m->value, PCTL_OP_LOAD,
						i | PCTL_PLACE_LOCAL, NULL, 0);
	}
	return k;
}

/* The members of a path and where indices stand, a byte each; 0 when it is too long or too wide for
 * that. */
static int path_of(const pctl_interp *w, const pctl_place *pl, uint32_t n, uint64_t *out)
{
	uint32_t type = pl->root_type, i;

	*out = 1;
	for (i = 0; i < n; i++) {
		const uint32_t word = w->p->words[pl->chain + i];
		const int is_member = w->p->types[type].kind == PCTL_TYPE_STRUCT;

		if (i == 6 || (is_member && word >= 255))
			return 0;
		*out = *out << 8 | (is_member ? word : 255);
		type = pctl_type_step(w->p, type, word);
	}
	return 1;
}

/* Memory nobody writes: the same place holds the same value for all who ask. */
static const pctl_absvec *load_constant(pctl_interp *w, const pctl_inst *in, const pctl_place *pl)
{
	const uint8_t scalar = pctl_interp_scalar(w->p, in->type);
	const uint32_t n = pctl_interp_parts(w->p, in->type);
	const pctl_absval *parts[4] = {NULL}, *args[4];
	uint32_t type = pl->root_type, n_args = 0, i;
	uint8_t uniform, shared;
	int64_t lo, hi;
	uint64_t path;
	int fits = path_of(w, pl, pl->n_chain, &path);

	for (i = 0; i < pl->n_chain && fits; i++) {
		const uint32_t word = w->p->words[pl->chain + i];

		if (w->p->types[type].kind != PCTL_TYPE_STRUCT) {
			fits = n_args < 3;
			if (fits)
				args[n_args++] = w->values[word]->part[0];
		}
		type = pctl_type_step(w->p, type, word);
	}
	if (!fits) {
		agreement(w, pl, &uniform, &shared);
		return pctl_absvec_fresh(w, in->type, uniform, shared);
	}
	pctl_scalar_range(scalar, &lo, &hi);
	for (i = 0; i < n; i++) {
		args[n_args] = pctl_absval_number(&w->symbols, PCTL_SCALAR_U64, path << 2 | i);
		if (!args[n_args])
			return NULL;
		parts[i] = pctl_absval_made(&w->symbols, scalar, lo, hi, PCTL_OP_LOAD, pl->root,
					    args, n_args + 1);
	}
	if (n == 1 && pl->space == PCTL_SPACE_UNIFORM)
		parts[0] = declared(w, pl, parts[0]);
	return pctl_absvec_of(w, parts, n);
}

static const pctl_absval *array_length(pctl_interp *w, const pctl_place *pl, uint32_t n,
				       uint32_t stride)
{
	const pctl_absval *args[1];
	uint64_t path;

	/* Only members lead to a runtime array, at most one of them: its path always fits, but for
	 * huge structs. */
	if (!path_of(w, pl, n, &path))
		return pctl_absval_fresh(&w->symbols, PCTL_SCALAR_U32, 0, UINT32_MAX,
					 PCTL_AGREE_ALL, PCTL_AGREE_ALL);
	args[0] = pctl_absval_number(&w->symbols, PCTL_SCALAR_U64, path);
	if (!args[0])
		return NULL;
	return pctl_absval_made(&w->symbols, PCTL_SCALAR_U32, 0, UINT32_MAX / (stride ? stride : 1),
				PCTL_OP_ARRAY_LENGTH, pl->root, args, 1);
}

/* ---- bounds ---- */

static int index_in_bounds(pctl_interp *w, const pctl_place *pl, uint32_t step, const pctl_type *t)
{
	const pctl_absval *k =
		pctl_absval_exact(&w->symbols, w->values[w->p->words[pl->chain + step]]->part[0]);
	const pctl_absval *length = NULL;
	pctl_affine below, over;

	if (!k)
		return 0;
	if (t->kind == PCTL_TYPE_RUNTIME_ARRAY) {
		length = array_length(w, pl, step, t->stride);
		if (!length || !pctl_affine_add(&k->form, &length->form, -1, &over))
			return 0;
	} else {
		over = k->form;
		over.constant -= t->kind == PCTL_TYPE_VECTOR   ? t->width
				 : t->kind == PCTL_TYPE_MATRIX ? t->columns
							       : t->count;
	}
	over.constant++;
	return pctl_affine_scale(&k->form, -1, &below) &&
	       pctl_affine_proven(&w->symbols, &below, w->state.facts) &&
	       pctl_affine_proven(&w->symbols, &over, w->state.facts);
}

static void prove_bounds(pctl_interp *w, const pctl_place *pl, uint32_t v)
{
	const uint32_t inst = w->fn->first_inst + v;
	uint32_t type = pl->root_type, i;
	uint8_t bits = 0;

	if (w->in_fixpoint)
		return;
	for (i = 0; i < pl->n_chain && i < 8; i++) {
		const pctl_type *t = &w->p->types[type];

		if (t->kind != PCTL_TYPE_STRUCT && index_in_bounds(w, pl, i, t))
			bits |= (uint8_t)(1u << i);
		type = pctl_type_step(w->p, type, w->p->words[pl->chain + i]);
	}
	/* What is reached in several ways is proven when it is in each. */
	w->z->a->proven[inst] = w->visited[inst] ? w->z->a->proven[inst] & bits : bits;
	w->visited[inst] = 1;
}

/* ---- all of it ---- */

int pctl_interp_tile_access(pctl_interp *w, const pctl_inst *in, uint32_t v,
			    const pctl_absval *const *elements, uint32_t n)
{
	pctl_place pl;

	if (!pctl_place_get(w->p, w->fn, in, &pl))
		return 0;
	prove_bounds(w, &pl, v);
	if (!n)
		record(w, in, &pl, v, NULL);
	for (uint32_t i = 0; i < n; i++)
		record(w, in, &pl, v, elements[i]);
	return 1;
}

const pctl_absvec *pctl_interp_memory(pctl_interp *w, const pctl_inst *in, uint32_t v)
{
	static const pctl_absvec nothing = {0};
	const pctl_absvec *value = NULL;
	const pctl_absval *length;
	pctl_place pl;

	if (!pctl_place_get(w->p, w->fn, in, &pl))
		return NULL;
	prove_bounds(w, &pl, v);
	if (in->op == PCTL_OP_ARRAY_LENGTH) {
		length = array_length(w, &pl, pl.n_chain, w->p->types[pl.end_type].stride);
		return pctl_absvec_of(w, &length, 1);
	}
	record(w, in, &pl, v, NULL);
	if (pl.n_values)
		value = w->values[pctl_arg(w->p, in, 0)];
	if (in->op == PCTL_OP_STORE)
		look_for_certain_race(w, in, &pl, v);
	if (pl.space == PCTL_SPACE_FUNCTION || pl.space == PCTL_SPACE_PRIVATE) {
		if (in->op == PCTL_OP_STORE)
			return store_slot(w, value, &pl) ? &nothing : NULL;
		return load_slot(w, in, &pl);
	}
	if (in->op == PCTL_OP_STORE || in->op == PCTL_OP_ATOMIC_STORE)
		return &nothing;
	if (in->op == PCTL_OP_LOAD_UNIFORM)
		return pctl_absvec_fresh(w, in->type, PCTL_AGREE_GROUP, PCTL_AGREE_GROUP);
	if (in->op == PCTL_OP_LOAD && !w->written[pl.root] && pl.space != PCTL_SPACE_WORKGROUP)
		return load_constant(w, in, &pl);
	return pctl_absvec_fresh(w, in->type, PCTL_AGREE_NONE, PCTL_AGREE_NONE);
}
