/* Making prepared code: places. Constant indices are folded, dynamic ones become steps that are
 * checked against the length of their level; function and private variables with constant places
 * are registers. */
#include "code/bytecode.h"

#include <stdlib.h>

/* A place walked to its end. */
typedef struct walk {
	pctl_place place;
	pctl_cpu_mem mem;
	int lane_memory;
	uint32_t fixed; /* lane memory: the register that holds the variable */
} walk;

static uint32_t level_length(const pctl_type *ty)
{
	switch (ty->kind) {
	case PCTL_TYPE_ARRAY:
		return ty->count;
	case PCTL_TYPE_VECTOR:
		return ty->width;
	case PCTL_TYPE_MATRIX:
		return ty->columns;
	default:
		return 0; /* runtime arrays: the binding knows */
	}
}

static uint64_t level_stride(const pctl_cpu_bytecode *f, const walk *w, uint32_t type)
{
	const pctl_type *ty = &f->p->types[type];

	if (w->lane_memory)
		return f->type_words[pctl_type_step(f->p, type, 0)];
	if (ty->kind == PCTL_TYPE_VECTOR)
		return pctl_scalar_bytes(ty->scalar);
	return ty->stride;
}

static uint64_t member_offset(const pctl_cpu_bytecode *f, const walk *w, const pctl_type *ty,
			      uint32_t i)
{
	uint64_t words = 0;

	if (!w->lane_memory)
		return f->p->members[ty->first_member + i].offset;
	for (uint32_t k = 0; k < i; k++)
		words += f->type_words[f->p->members[ty->first_member + k].type];
	return words;
}

/* One array, vector or matrix level: a constant inside is folded, all else becomes a step. */
static void walk_index(pctl_cpu_bytecode *f, walk *w, uint32_t type, uint32_t value)
{
	const pctl_type *ty = &f->p->types[type];
	const pctl_type *index_type = &f->p->types[pctl_value_type(f->p, f->fn, value)];
	const uint32_t reg = pctl_cpu_value(f, value)[0];
	const uint32_t length = level_length(ty);
	const uint64_t stride = level_stride(f, w, type);
	pctl_cpu_step step = {.index = reg, .length = length, .stride = (uint32_t)stride};

	if (ty->kind != PCTL_TYPE_RUNTIME_ARRAY && f->regs.at[reg].is_const &&
	    f->regs.at[reg].bits < length) {
		w->mem.offset += f->regs.at[reg].bits * stride;
		return;
	}
	step.runtime = ty->kind == PCTL_TYPE_RUNTIME_ARRAY;
	step.is_signed = index_type->scalar == PCTL_SCALAR_I32;
	step.uniform = (uint8_t)pctl_cpu_bytecode_is_uniform(f, reg);
	if (step.is_signed && step.length > 0x80000000u)
		step.length = 0x80000000u;
	PCTL_CPU_PUSH(f, steps, step);
	w->mem.n_steps++;
}

static int walk_place(pctl_cpu_bytecode *f, const pctl_inst *in, walk *w)
{
	const pctl_program *p = f->p;
	uint32_t type;

	*w = (walk){0};
	if (!pctl_place_get(p, f->fn, in, &w->place))
		return 0;
	w->mem.space = w->place.space;
	w->mem.root = w->place.root;
	w->mem.op = in->op;
	w->mem.function = f->fn_number;
	w->mem.first_step = f->steps.n;
	w->lane_memory =
		w->place.space == PCTL_SPACE_FUNCTION || w->place.space == PCTL_SPACE_PRIVATE;
	if (w->place.root & PCTL_PLACE_LOCAL) {
		w->fixed = f->local_reg[f->fn->first_local + (w->place.root & ~PCTL_PLACE_LOCAL)];
	} else if (w->lane_memory) {
		w->fixed = f->private_reg;
		w->mem.offset = f->var_place[w->place.root];
	} else {
		w->mem.base = (uint32_t)f->var_place[w->place.root];
		w->mem.sanitized = w->place.space == PCTL_SPACE_WORKGROUP ||
				   (p->vars[w->place.root].access & PCTL_ACCESS_WRITE) != 0;
	}
	if (w->lane_memory)
		w->mem.base = w->fixed;
	type = w->place.root_type;
	for (uint32_t i = 0; i < w->place.n_chain && f->status == PCTL_OK; i++) {
		const uint32_t word = p->words[w->place.chain + i];
		const pctl_type *ty = &p->types[type];

		if (ty->kind == PCTL_TYPE_STRUCT)
			w->mem.offset += member_offset(f, w, ty, word);
		else
			walk_index(f, w, type, word);
		type = pctl_type_step(p, type, word);
	}
	return f->status == PCTL_OK;
}

/* The scalars of a type in the order of a value's registers. Nesting is bounded by the verifier. */
static void add_leaves(pctl_cpu_bytecode *f, walk *w, uint32_t type, uint64_t off)
{
	const pctl_program *p = f->p;
	const pctl_type *ty = &p->types[type];

	if (f->status != PCTL_OK)
		return;
	if (ty->kind == PCTL_TYPE_STRUCT) {
		for (uint32_t i = 0; i < ty->count; i++)
			add_leaves(f, w, p->members[ty->first_member + i].type,
				   off + member_offset(f, w, ty, i));
	} else if (ty->kind == PCTL_TYPE_TILE) { /* in lane memory only */
		for (uint32_t i = 0; i < f->type_leaves[type]; i++) {
			const uint32_t unit = pctl_cpu_scalar_wide(ty->scalar) ? 2 : 1;
			const pctl_cpu_leaf leaf = {.off = (uint32_t)off + i * unit,
						    .wide = pctl_cpu_scalar_wide(ty->scalar),
						    .mem = pctl_cpu_scalar_wide(ty->scalar)
								   ? PCTL_CPU_MEM_8
								   : PCTL_CPU_MEM_4};

			PCTL_CPU_PUSH(f, leaves, leaf);
			w->mem.n_leaves++;
		}
	} else if (ty->kind == PCTL_TYPE_SCALAR || ty->kind == PCTL_TYPE_ATOMIC) {
		const pctl_cpu_leaf leaf = {.off = (uint32_t)off,
					    .wide = pctl_cpu_scalar_wide(ty->scalar),
					    .mem = pctl_cpu_scalar_mem(ty->scalar),
					    .is_bool = ty->scalar == PCTL_SCALAR_BOOL};
		const uint64_t end = off + pctl_cpu_mem_bytes(leaf.mem);

		if (end > w->mem.extent)
			w->mem.extent = end;
		PCTL_CPU_PUSH(f, leaves, leaf);
		w->mem.n_leaves++;
	} else {
		for (uint32_t i = 0; i < level_length(ty); i++)
			add_leaves(f, w, pctl_type_step(p, type, i),
				   off + i * level_stride(f, w, type));
	}
}

static void find_leaves(pctl_cpu_bytecode *f, walk *w)
{
	w->mem.first_leaf = f->leaves.n;
	add_leaves(f, w, w->place.end_type, 0);
}

static void emit_mem(pctl_cpu_bytecode *f, const walk *w, pctl_cpu_ins *in)
{
	in->extra = f->mems.n;
	PCTL_CPU_PUSH(f, mems, w->mem);
	pctl_cpu_emit(f, in);
}

/* A variable's scalar at a constant place is a column of its register. */
static uint32_t leaf_column(pctl_cpu_bytecode *f, const walk *w, uint32_t i)
{
	const pctl_cpu_leaf *leaf = &f->leaves.at[w->mem.first_leaf + i];

	return pctl_cpu_bytecode_column(f, w->fixed, w->mem.offset + leaf->off, leaf->wide);
}

static void load_columns(pctl_cpu_bytecode *f, walk *w, uint32_t value, uint32_t *at)
{
	const int alias = pctl_cpu_bytecode_may_alias(f, value, w->place.root);

	for (uint32_t i = 0; i < w->mem.n_leaves && f->status == PCTL_OK; i++) {
		const uint8_t wide = f->leaves.at[w->mem.first_leaf + i].wide;
		const uint32_t column = leaf_column(f, w, i);

		at[i] = column;
		if (!alias) {
			at[i] = pctl_cpu_bytecode_reg(f, PCTL_CPU_REG_TEMP, wide);
			pctl_cpu_emit_move(f, at[i], column, wide);
		}
	}
	f->leaves.n = w->mem.first_leaf;
}

static int same_for_all(const pctl_cpu_bytecode *f, const walk *w)
{
	if (w->place.space != PCTL_SPACE_UNIFORM && w->place.space != PCTL_SPACE_STORAGE)
		return 0;
	if (f->p->vars[w->place.root].access & PCTL_ACCESS_WRITE)
		return 0;
	for (uint32_t i = 0; i < w->mem.n_steps; i++)
		if (!f->steps.at[w->mem.first_step + i].uniform)
			return 0;
	return 1;
}

void pctl_cpu_bytecode_load(pctl_cpu_bytecode *f, uint32_t value, const pctl_inst *in)
{
	pctl_cpu_ins ins = {.kind = PCTL_CPU_LOAD};
	uint32_t *at;
	walk w;

	if (in->op == PCTL_OP_LOAD_UNIFORM)
		pctl_cpu_bytecode_barrier(f, PCTL_BARRIER_WORKGROUP);
	at = pctl_cpu_value_new(f, value, in->type);
	if (!at || !walk_place(f, in, &w))
		return;
	find_leaves(f, &w);
	if (f->status != PCTL_OK)
		return;
	if (w.lane_memory && w.mem.n_steps == 0) {
		load_columns(f, &w, value, at);
	} else {
		w.mem.uniform = (uint8_t)same_for_all(f, &w);
		for (uint32_t i = 0; i < w.mem.n_leaves; i++) {
			pctl_cpu_leaf *leaf = &f->leaves.at[w.mem.first_leaf + i];

			leaf->uniform = w.mem.uniform;
			leaf->reg = pctl_cpu_bytecode_reg(
				f, w.mem.uniform ? PCTL_CPU_REG_UNIFORM : PCTL_CPU_REG_TEMP,
				leaf->wide);
			at[i] = leaf->reg;
		}
		emit_mem(f, &w, &ins);
	}
	if (in->op == PCTL_OP_LOAD_UNIFORM)
		pctl_cpu_bytecode_barrier(f, PCTL_BARRIER_WORKGROUP);
}

void pctl_cpu_bytecode_store(pctl_cpu_bytecode *f, const pctl_inst *in)
{
	const uint32_t v = pctl_arg(f->p, in, 0);
	pctl_cpu_ins ins = {.kind = PCTL_CPU_STORE};
	walk w;

	if (!walk_place(f, in, &w))
		return;
	find_leaves(f, &w);
	for (uint32_t i = 0; i < w.mem.n_leaves && f->status == PCTL_OK; i++) {
		pctl_cpu_leaf *leaf = &f->leaves.at[w.mem.first_leaf + i];

		leaf->reg = pctl_cpu_value(f, v)[i];
		leaf->uniform = (uint8_t)pctl_cpu_bytecode_is_uniform(f, leaf->reg);
		if (w.lane_memory && w.mem.n_steps == 0) {
			const uint32_t reg = leaf->reg;
			const uint8_t wide = leaf->wide;
			pctl_cpu_emit_blend(f, leaf_column(f, &w, i), reg, wide);
		}
	}
	if (w.lane_memory && w.mem.n_steps == 0)
		f->leaves.n = w.mem.first_leaf;
	else
		emit_mem(f, &w, &ins);
}

/* The walk of `in` and one step more; the leaf's register is the caller's. */
static pctl_cpu_leaf *walk_element(pctl_cpu_bytecode *f, const pctl_inst *in, uint32_t index,
				   walk *w)
{
	const pctl_type *array;
	uint8_t scalar;
	pctl_cpu_step step = {.index = index}, inner = {.stride = 0};
	pctl_cpu_leaf leaf = {.reg = 0};

	if (!walk_place(f, in, w))
		return NULL;
	array = &f->p->types[w->place.end_type];
	scalar = f->p->types[array->elem].scalar;
	leaf.wide = pctl_cpu_scalar_wide(scalar);
	leaf.mem = pctl_cpu_scalar_mem(scalar);
	step.length = level_length(array);
	step.stride = array->stride;
	step.runtime = array->kind == PCTL_TYPE_RUNTIME_ARRAY;
	step.uniform = (uint8_t)pctl_cpu_bytecode_is_uniform(f, index);
	if (f->p->types[array->elem].kind == PCTL_TYPE_VECTOR) {
		const uint32_t width = f->p->types[array->elem].width;
		const uint32_t shift = pctl_cpu_bytecode_const(f, width / 2, 0);
		const uint32_t mask = pctl_cpu_bytecode_const(f, width - 1, 0);

		inner.index = pctl_cpu_emit_elem(f, PCTL_OP_AND, PCTL_SCALAR_U32, 0,
						 (const uint32_t[]){index, mask}, 2);
		inner.length = width;
		inner.stride = pctl_cpu_mem_bytes(leaf.mem);
		inner.uniform = step.uniform;
		step.index = pctl_cpu_emit_elem(f, PCTL_OP_SHR, PCTL_SCALAR_U32, 0,
						(const uint32_t[]){index, shift}, 2);
	}
	PCTL_CPU_PUSH(f, steps, step);
	w->mem.n_steps++;
	if (inner.stride) {
		PCTL_CPU_PUSH(f, steps, inner);
		w->mem.n_steps++;
	}
	w->mem.extent = pctl_cpu_mem_bytes(leaf.mem);
	w->mem.first_leaf = f->leaves.n;
	w->mem.n_leaves = 1;
	PCTL_CPU_PUSH(f, leaves, leaf);
	return f->status == PCTL_OK ? &f->leaves.at[w->mem.first_leaf] : NULL;
}

uint32_t pctl_cpu_bytecode_load_element(pctl_cpu_bytecode *f, const pctl_inst *in, uint32_t index)
{
	pctl_cpu_ins ins = {.kind = PCTL_CPU_LOAD};
	pctl_cpu_leaf *leaf;
	uint32_t reg;
	walk w;

	leaf = walk_element(f, in, index, &w);
	if (!leaf)
		return 0;
	reg = pctl_cpu_bytecode_reg(f, PCTL_CPU_REG_TEMP, leaf->wide);
	leaf->reg = reg;
	emit_mem(f, &w, &ins);
	return reg;
}

void pctl_cpu_bytecode_store_element(pctl_cpu_bytecode *f, const pctl_inst *in, uint32_t index,
				     uint32_t reg)
{
	pctl_cpu_ins ins = {.kind = PCTL_CPU_STORE};
	pctl_cpu_leaf *leaf;
	walk w;

	leaf = walk_element(f, in, index, &w);
	if (!leaf)
		return;
	leaf->reg = reg;
	leaf->uniform = (uint8_t)pctl_cpu_bytecode_is_uniform(f, reg);
	emit_mem(f, &w, &ins);
}

void pctl_cpu_bytecode_atomic(pctl_cpu_bytecode *f, uint32_t value, const pctl_inst *in)
{
	pctl_cpu_ins ins = {.kind = PCTL_CPU_ATOMIC};
	walk w;

	if (!walk_place(f, in, &w))
		return;
	w.mem.is_signed = pctl_cpu_type_scalar(f->p, w.place.end_type) == PCTL_SCALAR_I32;
	w.mem.extent = 4;
	if (w.place.n_values > 0)
		ins.a = pctl_cpu_emit_vary(f, pctl_cpu_value(f, pctl_arg(f->p, in, 0))[0]);
	if (w.place.n_values > 1)
		ins.b = pctl_cpu_emit_vary(f, pctl_cpu_value(f, pctl_arg(f->p, in, 1))[0]);
	if (in->type) {
		uint32_t *at = pctl_cpu_value_new(f, value, in->type);

		if (!at)
			return;
		at[0] = ins.d = pctl_cpu_bytecode_reg(f, PCTL_CPU_REG_TEMP, 0);
	}
	emit_mem(f, &w, &ins);
}

void pctl_cpu_bytecode_length(pctl_cpu_bytecode *f, uint32_t value, const pctl_inst *in)
{
	pctl_cpu_ins ins = {.kind = PCTL_CPU_LENGTH};
	uint32_t *at = pctl_cpu_value_new(f, value, in->type);
	pctl_place place;

	if (!at || !pctl_place_get(f->p, f->fn, in, &place))
		return;
	ins.jump = place.root;
	ins.d = pctl_cpu_bytecode_reg(f, PCTL_CPU_REG_UNIFORM, 0);
	at[0] = ins.d;
	pctl_cpu_emit(f, &ins);
}

void pctl_cpu_bytecode_barrier(pctl_cpu_bytecode *f, uint32_t bits)
{
	const pctl_cpu_ins ins = {.kind = PCTL_CPU_BARRIER, .jump = bits, .extra = f->fn_number};

	/* Lanes are always in step; only watching and counting want to know. */
	if (f->code->flags)
		pctl_cpu_emit(f, &ins);
}

void pctl_cpu_bytecode_clear_locals(pctl_cpu_bytecode *f)
{
	uint32_t *end = calloc(f->fn->n_locals + 1u, sizeof(*end));
	uint8_t *dirty = calloc(f->fn->n_locals + 1u, sizeof(*dirty));

	if (!end || !dirty)
		f->status = pctl_no_memory(f->call, "the locals of a function");
	else
		pctl_cpu_bytecode_find_dirty(f, end, dirty);
	for (uint32_t i = 0; i < f->fn->n_locals && f->status == PCTL_OK; i++) {
		const uint64_t words = f->type_words[f->p->locals[f->fn->first_local + i].type];
		const uint32_t reg = pctl_cpu_bytecode_fixed(f, words);
		const pctl_cpu_ins ins = {.kind = PCTL_CPU_CLEAR,
					  .d = reg,
					  .jump = (uint32_t)words * (f->code->lanes / 16)};

		f->local_reg[f->fn->first_local + i] = reg;
		if (words && dirty[i])
			pctl_cpu_emit(f, &ins);
	}
	free(end);
	free(dirty);
}
