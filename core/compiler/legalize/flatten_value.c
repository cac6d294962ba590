/* Flattening: what is written, which values are visible there, and the flags. A value is visible as long as the group it
 * was made in is open; where it is needed later it is made again, if that is little, or kept in a local. */
#include "compiler/legalize/flatten.h"

#include <stdlib.h>

#define REPEATED_DEPTH 3 /* operations on constants that are made again with what needs them */

const pctl_inst *flat_inst(const flattener *x, uint32_t v)
{
	return &x->p->insts[x->frame->fn->first_inst + v];
}

/* ---- frames and groups -------------------------------------------------------------------- */

int flat_frame_open(flattener *x, flat_frame *f, const pctl_function *fn)
{
	*f = (flat_frame){.fn = fn, .caller = x->frame};
	f->values = calloc((size_t)fn->n_insts + 1, sizeof(*f->values));
	f->group = calloc((size_t)fn->n_insts + 1, sizeof(*f->group));
	f->kept = calloc((size_t)fn->n_insts + 1, sizeof(*f->kept));
	if (f->values && f->group && f->kept)
		return 1;
	legal_refuse_memory(x->l);
	return 0;
}

void flat_frame_close(flat_frame *f)
{
	free(f->values);
	free(f->group);
	free(f->kept);
}

void flat_enter(flattener *x, flat_frame *f)
{
	x->frame = f;
	x->l->fn = f->fn;
	x->l->values = f->values;
	x->l->local_base = f->local_base;
}

void flat_group_open(flattener *x)
{
	x->groups[x->n_groups++] = ++x->last_group;
}

void flat_group_close(flattener *x)
{
	x->n_groups--;
}

static uint32_t group_now(const flattener *x)
{
	return x->groups[x->n_groups - 1];
}

static int is_open(const flattener *x, uint32_t group)
{
	for (uint32_t i = x->n_groups; group && i-- > 0;)
		if (x->groups[i] == group)
			return 1;
	return 0;
}

/* ---- writing ------------------------------------------------------------------------------ */

static void count(flattener *x)
{
	if (++x->size > LEGAL_FLAT_LARGEST)
		x->has_failed = 1;
}

uint32_t flat_emit(flattener *x, uint16_t op, uint32_t type, const uint32_t *args, uint32_t n)
{
	count(x);
	return x->is_dry ? 0 : legal_emit(x->l, op, type, args, n);
}

void flat_store_local(flattener *x, uint32_t value, uint32_t local)
{
	const uint32_t args[2] = {value, PCTL_PLACE_LOCAL | (local - 1)};

	flat_emit(x, PCTL_OP_STORE, 0, args, 2);
}

static uint32_t load_local(flattener *x, uint32_t type, uint32_t local)
{
	const uint32_t place = PCTL_PLACE_LOCAL | (local - 1);

	return flat_emit(x, PCTL_OP_LOAD, type, &place, 1);
}

void flat_copy(flattener *x, uint32_t v)
{
	const pctl_inst *in = flat_inst(x, v);

	count(x);
	if (in->op == PCTL_OP_CALL)
		x->called[pctl_arg(x->p, in, 0)] = 1;
	if (!x->is_dry) {
		if (x->p->origins)
			pctl_build_origin(x->l->b, &x->p->origins[x->frame->fn->first_inst + v]);
		legal_int64_rules.instruction(x->l, v, in);
	}
	x->frame->group[v] = group_now(x);
}

void flat_keep(flattener *x, uint32_t v)
{
	flat_frame *f = x->frame;

	f->group[v] = group_now(x);
	if (!x->spilled[f->fn->first_inst + v])
		return;
	if (!f->kept[v] && !x->is_dry)
		f->kept[v] =
			1 + pctl_build_local(x->l->b, "", legal_type(x->l, flat_inst(x, v)->type));
	flat_store_local(x, flat_value(x, v), f->kept[v]);
}

void flat_define(flattener *x, uint32_t v)
{
	flat_copy(x, v);
	if (pctl_op_get(flat_inst(x, v)->op)->yields && flat_inst(x, v)->type)
		flat_keep(x, v);
}

/* ---- operands ----------------------------------------------------------------------------- */

uint32_t flat_value(const flattener *x, uint32_t v)
{
	return x->frame->values[v].id[0];
}

static int is_word(const flattener *x, uint32_t type)
{
	const pctl_type *t = &x->p->types[type];

	return t->kind == PCTL_TYPE_SCALAR && t->scalar >= PCTL_SCALAR_BOOL &&
	       t->scalar <= PCTL_SCALAR_U64;
}

/* Constants, what is always the same, and a little arithmetic on these are made again: the bounds of loops must stay
 * such that the analysis can read them. */
static int is_repeated(const flattener *x, uint32_t v, int depth)
{
	const pctl_inst *in = flat_inst(x, v);
	const uint8_t kind = pctl_op_get(in->op)->kind;
	legal_operands o = {.l = x->l, .in = in};
	uint32_t i, value, n = 0, known = 0;
	pctl_place place;

	if (in->op == PCTL_OP_CONST || in->op == PCTL_OP_ZERO || in->op == PCTL_OP_BUILTIN)
		return 1;
	if (depth == 0 || !is_word(x, in->type))
		return 0;
	if (in->op == PCTL_OP_LOAD) {
		if (!pctl_place_get(x->p, x->frame->fn, in, &place) ||
		    place.space != PCTL_SPACE_UNIFORM)
			return 0;
	} else if (kind != PCTL_OPKIND_elem && kind != PCTL_OPKIND_convert) {
		return 0;
	}
	for (; legal_next_operand(&o, &i, &value); n++)
		known += (uint32_t)is_repeated(x, value, depth - 1);
	return known == n || (in->op == PCTL_OP_MIN && known);
}

void flat_want(flattener *x, uint32_t v)
{
	flat_frame *f = x->frame;

	if (x->has_failed || is_open(x, f->group[v]))
		return;
	if (is_repeated(x, v, REPEATED_DEPTH)) {
		flat_want_operands(x, v, v);
		flat_copy(x, v);
		return;
	}
	x->spilled[f->fn->first_inst + v] = 1;
	f->group[v] = group_now(x);
	f->values[v].id[0] =
		load_local(x, x->is_dry ? 0 : legal_type(x->l, flat_inst(x, v)->type), f->kept[v]);
}

void flat_want_operands(flattener *x, uint32_t v, uint32_t from)
{
	legal_operands o = {.l = x->l, .in = flat_inst(x, v)};
	uint32_t i, value;

	while (legal_next_operand(&o, &i, &value))
		if (value < from)
			flat_want(x, value);
}

/* ---- flags -------------------------------------------------------------------------------- */

uint32_t flat_flag_take(flattener *x)
{
	if (x->n_spare)
		return x->spare[--x->n_spare];
	x->n_flags++;
	return x->is_dry ? x->n_flags : 1 + pctl_build_local(x->l->b, "", x->l->t_bool);
}

void flat_flag_set(flattener *x, uint32_t flag, int is_true)
{
	const uint32_t bits[2] = {is_true != 0, 0};
	const uint32_t value = flat_emit(x, PCTL_OP_CONST, x->l->t_bool, bits, 2);

	flat_store_local(x, value, flag);
}

void flat_flag_give(flattener *x, uint32_t flag)
{
	if (!flag)
		return;
	flat_flag_set(x, flag, 0);
	if (!x->has_failed)
		x->spare[x->n_spare++] = flag;
}

uint32_t flat_flag_load(flattener *x, uint32_t flag)
{
	return load_local(x, x->l->t_bool, flag);
}
