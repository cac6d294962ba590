/* Loads and stores in the float pass. What holds 16-bit floats moves between u16 in storage and u32
 * elsewhere, one scalar or vector at a time. */
#include "compiler/legalize/float.h"

#include <stdlib.h>

/* More leaves than this are not moved by one instruction. */
#define LEAVES 4096u

/* A composite being moved: the place of the part under way, its words growing with the depth. */
typedef struct move {
	legal *l;
	legal_arguments place; /* root and chain */
	uint16_t flags;	       /* proofs of the chain as written */
	uint32_t n_leaves;
} move;

static uint32_t n_parts(const pctl_type *t)
{
	switch (t->kind) {
	case PCTL_TYPE_MATRIX:
		return t->columns;
	case PCTL_TYPE_ARRAY:
	case PCTL_TYPE_STRUCT:
		return t->count;
	default:
		return 0;
	}
}

static uint64_t count_leaves(const legal *l, uint32_t type)
{
	const pctl_type *t = &l->p->types[type];
	uint64_t n = 0;

	if (!l->floats->has16[type] || !n_parts(t))
		return 1;
	if (t->kind != PCTL_TYPE_STRUCT)
		return n_parts(t) * count_leaves(l, t->elem);
	for (uint32_t i = 0; i < t->count; i++)
		n += count_leaves(l, l->p->members[t->first_member + i].type);
	return n;
}

/* Step into part i of a composite of the old type; undone by taking a word off. */
static void enter(move *m, uint32_t type, uint32_t i)
{
	const uint32_t at = m->place.n - 1;

	if (m->l->p->types[type].kind == PCTL_TYPE_STRUCT) {
		m->place.words[m->place.n++] = i;
		return;
	}
	m->place.words[m->place.n++] = legal_word(m->l, i);
	if (at < 16)
		m->flags |= (uint16_t)PCTL_INST_PROVEN(at);
}

static void leave(move *m)
{
	const uint32_t at = --m->place.n - 1;

	if (at < 16)
		m->flags &= (uint16_t)~PCTL_INST_PROVEN(at);
}

/* A leaf or a part without 16-bit floats: loaded whole. */
static uint32_t load_leaf(move *m, uint32_t type)
{
	legal *l = m->l;
	const uint32_t stored = legal_stored_type(l, type);
	uint32_t id = legal_emit(l, PCTL_OP_LOAD, stored, m->place.words, m->place.n);

	legal_keep_flags(l, id, m->flags);
	if (l->floats->has16[type])
		id = legal_emit1(l, PCTL_OP_CAST, legal_type(l, type), id);
	return id;
}

static uint32_t load_parts(move *m, uint32_t type)
{
	legal *l = m->l;
	const uint32_t n = n_parts(&l->p->types[type]);
	legal_arguments parts;
	uint32_t id;

	if (!l->floats->has16[type] || !n)
		return load_leaf(m, type);
	if (!legal_arguments_open(l, &parts, n))
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		enter(m, type, i);
		parts.words[parts.n++] = load_parts(m, pctl_type_step(l->p, type, i));
		leave(m);
	}
	id = legal_emit(l, PCTL_OP_COMPOSE, legal_type(l, type), parts.words, parts.n);
	free(parts.words);
	return id;
}

static void store_parts(move *m, uint32_t type, uint32_t value)
{
	legal *l = m->l;
	const uint32_t n = n_parts(&l->p->types[type]);
	legal_arguments a;
	uint32_t id;

	if (l->floats->has16[type] && n) {
		for (uint32_t i = 0; i < n; i++) {
			const uint32_t part = pctl_type_step(l->p, type, i);

			id = legal_emit2(l, PCTL_OP_EXTRACT, legal_type(l, part), value, i);
			enter(m, type, i);
			store_parts(m, part, id);
			leave(m);
		}
		return;
	}
	if (!legal_arguments_open(l, &a, m->place.n + 1))
		return;
	if (l->floats->has16[type])
		value = legal_emit1(l, PCTL_OP_CAST, legal_stored_type(l, type), value);
	a.words[a.n++] = value;
	for (uint32_t i = 0; i < m->place.n; i++)
		a.words[a.n++] = m->place.words[i];
	id = legal_emit(l, PCTL_OP_STORE, 0, a.words, a.n);
	legal_keep_flags(l, id, m->flags);
	free(a.words);
}

/* A load or store between u16 in memory and u32. */
static void narrow(legal *l, uint32_t v, const pctl_inst *in, const pctl_place *place)
{
	move m = {.l = l};

	if (count_leaves(l, place->end_type) > LEAVES) {
		const pctl_pos pos = legal_position(l, v);

		l->status = pctl_refuse_at(l->call, PC2505_LEGAL_LEAVES, &pos, NULL,
					   "more than %u parts", LEAVES);
		return;
	}
	/* The depth of types is bounded by the verifier. */
	if (!legal_arguments_open(l, &m.place, 1 + place->n_chain + 64))
		return;
	m.flags = legal_place(l, in, place, &m.place);
	if (in->op == PCTL_OP_LOAD)
		legal_float_made_bits(l, v, load_parts(&m, place->end_type));
	else
		store_parts(&m, place->end_type, l->values[pctl_arg(l->p, in, 0)].id[LEGAL_BITS]);
	free(m.place.words);
}

/* The tag of a mixed local. Locals are zero at entry, which is what a tag of 0 stands for. */
static uint32_t tag_of(legal *l, uint32_t local)
{
	uint32_t *tag = &l->floats->local_tag[local];

	if (!*tag)
		*tag = 1 + pctl_build_local(l->b, "", l->t_u32);
	return PCTL_PLACE_LOCAL | (*tag - 1);
}

/* A load or store of a mixed local, which goes in and out whole. */
static void mixed(legal *l, uint32_t v, const pctl_inst *in, uint32_t local)
{
	const uint32_t place = PCTL_PLACE_LOCAL | local;
	const uint32_t type = legal_type(l, l->p->locals[l->fn->first_local + local].type);
	uint32_t value, id, word, tag = tag_of(l, local);

	if (in->op == PCTL_OP_LOAD) {
		id = legal_emit1(l, PCTL_OP_LOAD, type, place);
		tag = legal_emit1(l, PCTL_OP_LOAD, l->t_u32, tag);
		legal_float_made_mixed(l, v, id, tag);
		return;
	}
	value = pctl_arg(l->p, in, 0);
	id = l->values[value].id[LEGAL_BITS];
	if (l->floats->plan[value] & PLAN_RAW)
		id = legal_emit1(l, PCTL_OP_BITCAST, type, l->values[value].id[LEGAL_RAW]);
	legal_emit2(l, PCTL_OP_STORE, 0, id, place);
	word = legal_word(l, !(l->floats->plan[value] & PLAN_ARITHMETIC));
	legal_emit2(l, PCTL_OP_STORE, 0, word, tag);
}

/* A load or store of a local of a native type; of whole arrays, only zeros are stored. */
static void raw(legal *l, uint32_t v, const pctl_inst *in, const pctl_place *place)
{
	legal_arguments a;
	uint16_t flags;
	uint32_t id;

	if (!legal_arguments_open(l, &a, place->n_chain + 2))
		return;
	if (in->op == PCTL_OP_STORE && !legal_has_raw(l, place->end_type))
		a.words[a.n++] =
			legal_emit(l, PCTL_OP_ZERO, legal_raw_twin(l, place->end_type), NULL, 0);
	else if (in->op == PCTL_OP_STORE)
		a.words[a.n++] = l->values[pctl_arg(l->p, in, 0)].id[LEGAL_RAW];
	flags = legal_place(l, in, place, &a);
	id = legal_emit(l, in->op, in->op == PCTL_OP_LOAD ? legal_raw_type(l, in->type) : 0,
			a.words, a.n);
	legal_keep_flags(l, id, flags);
	if (in->op == PCTL_OP_LOAD)
		legal_float_made_raw(l, v, id);
	free(a.words);
}

void legal_float_memory(legal *l, uint32_t v, const pctl_inst *in, const pctl_place *place)
{
	const int is_stored =
		place->space == PCTL_SPACE_STORAGE || place->space == PCTL_SPACE_UNIFORM;
	const int is_moved = in->op == PCTL_OP_LOAD || in->op == PCTL_OP_STORE;

	if ((place->root & PCTL_PLACE_LOCAL) &&
	    l->floats->local_mixed[place->root & ~PCTL_PLACE_LOCAL]) {
		mixed(l, v, in, place->root & ~PCTL_PLACE_LOCAL);
	} else if ((place->root & PCTL_PLACE_LOCAL) &&
		   l->floats->local_raw[place->root & ~PCTL_PLACE_LOCAL]) {
		raw(l, v, in, place);
	} else if (is_stored && is_moved && l->floats->has16[place->end_type]) {
		narrow(l, v, in, place);
	} else {
		legal_memory(l, v, in, place);
		if (in->op == PCTL_OP_LOAD || in->op == PCTL_OP_LOAD_UNIFORM)
			legal_float_made_bits(l, v, l->values[v].id[LEGAL_BITS]);
	}
}
