/* Lowerings gone wrong, each a change that a real driver is known to make: contraction, flushing, another order of
 * sums, a wrong constant, a NaN with a payload, a store that is lost, a shift by something else. */
#include "faults/edit.h"

#include <stdlib.h>

static int is_op(uint16_t op, uint16_t strict)
{
	return op == strict || op == PCTL_NATIVE_OF(strict);
}

/* The operation `strict`, native where `like` is. */
static uint16_t op_like(uint16_t like, uint16_t strict)
{
	return PCTL_IS_NATIVE(like) ? PCTL_NATIVE_OF(strict) : strict;
}

/* ---- a product and a sum become one operation --------------------------------------------- */

static void contract(mock_edit *e, const pctl_function *fn)
{
	uint32_t *uses = mock_edit_uses(e, fn);

	for (uint32_t v = 0; uses && v < fn->n_insts && !e->failed; v++) {
		pctl_inst *in = &e->p.insts[fn->first_inst + v];

		for (uint32_t i = 0; i < 2 && is_op(in->op, PCTL_OP_FADD); i++) {
			const uint32_t product = pctl_arg(&e->p, in, i);
			const pctl_inst *mul = &e->p.insts[fn->first_inst + product];
			uint32_t args[3];

			if (!is_op(mul->op, PCTL_OP_FMUL) || uses[product] != 1)
				continue;
			args[0] = pctl_arg(&e->p, mul, 0);
			args[1] = pctl_arg(&e->p, mul, 1);
			args[2] = pctl_arg(&e->p, in, 1 - i);
			in->first_arg = mock_edit_words(e, args, 3);
			in->n_args = 3;
			in->op = op_like(in->op, PCTL_OP_FFMA);
		}
	}
	free(uses);
}

/* ---- constants ---------------------------------------------------------------------------- */

static int is_float(const pctl_program *p, uint32_t type)
{
	const uint8_t s = p->types[type].scalar;

	return s == PCTL_SCALAR_F16 || s == PCTL_SCALAR_F32 || s == PCTL_SCALAR_F64 ||
	       s == PCTL_SCALAR_BF16;
}

/* The lowest bit of float constant number k, or of a table's word when there are fewer. */
static void coefficient(mock_edit *e, uint64_t k)
{
	pctl_program *p = &e->p;

	for (uint32_t pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < p->n_insts; i++) {
			const pctl_inst *in = &p->insts[i];
			const int is_const = in->op == PCTL_OP_CONST && is_float(p, in->type);
			const uint32_t n = pass ? in->n_args - 1 : 1;

			if (pass ? in->op != PCTL_OP_LOOKUP : !is_const)
				continue;
			if (k <= n) {
				p->words[in->first_arg + (pass ? (uint32_t)k : 0)] ^= 1;
				return;
			}
			k -= n;
		}
}

/* Canonical NaNs, as floats or as the words they are stored in. */
static void leak_payload(mock_edit *e)
{
	for (uint32_t i = 0; i < e->p.n_insts; i++) {
		const pctl_inst *in = &e->p.insts[i];
		uint32_t *word = e->p.words + in->first_arg;

		if (in->op != PCTL_OP_CONST)
			continue;
		if (*word == 0x7fc00000u ||
		    (*word == 0x7e00u && e->p.types[in->type].scalar == PCTL_SCALAR_F16))
			*word |= 1;
		if (word[0] == 0 && word[1] == 0x7ff80000u)
			*word |= 1;
	}
}

/* ---- subnormals --------------------------------------------------------------------------- */

static uint32_t splat_of(mock_edit *e, uint8_t scalar, uint32_t width, uint64_t bits)
{
	const uint32_t args[2] = {(uint32_t)bits, (uint32_t)(bits >> 32)};
	const uint32_t v = mock_emit(e, PCTL_OP_CONST, mock_edit_type(e, scalar, 1), args, 2);

	return width == 1 ? v
			  : mock_emit(e, PCTL_OP_SPLAT, mock_edit_type(e, scalar, width), &v, 1);
}

static uint32_t splat(mock_edit *e, uint32_t width, uint32_t word)
{
	return splat_of(e, PCTL_SCALAR_U32, width, word);
}

static uint32_t emit2(mock_edit *e, uint16_t op, uint32_t type, uint32_t a, uint32_t b)
{
	return mock_emit(e, op, type, (const uint32_t[]){a, b}, 2);
}

/* A new value of a shape of f32 or f64, zero of its sign where it was subnormal. */
static uint32_t flushed(mock_edit *e, uint32_t v, uint32_t type, uint32_t width)
{
	const int is_f64 = e->p.types[type].scalar == PCTL_SCALAR_F64;
	const uint8_t scalar = is_f64 ? PCTL_SCALAR_U64 : PCTL_SCALAR_U32;
	const uint32_t words = mock_edit_type(e, scalar, width);
	const uint32_t bits = mock_emit(e, PCTL_OP_BITCAST, words, &v, 1);
	const uint32_t field =
		splat_of(e, scalar, width, is_f64 ? 0x7ff0000000000000u : 0x7f800000u);
	const uint32_t exponent = emit2(e, PCTL_OP_AND, words, bits, field);
	const uint32_t tiny = emit2(e, PCTL_OP_EQ, mock_edit_type(e, PCTL_SCALAR_BOOL, width),
				    exponent, splat_of(e, scalar, width, 0));
	const uint32_t top = splat_of(e, scalar, width, is_f64 ? 0x8000000000000000u : 0x80000000u);
	const uint32_t sign = emit2(e, PCTL_OP_AND, words, bits, top);
	const uint32_t chosen =
		mock_emit(e, PCTL_OP_SELECT, words, (const uint32_t[]){tiny, sign, bits}, 3);

	return mock_emit(e, PCTL_OP_BITCAST, type, &chosen, 1);
}

static uint32_t flush_each(mock_edit *e, uint32_t v, const pctl_inst *in, const uint32_t *uses)
{
	static const uint16_t arithmetic[] = {PCTL_OP_FADD, PCTL_OP_FSUB, PCTL_OP_FMUL,
					      PCTL_OP_FDIV, PCTL_OP_FFMA, PCTL_OP_FSQRT};
	const pctl_type t = e->p.types[in->type];
	const uint32_t width = t.kind == PCTL_TYPE_VECTOR ? t.width : 1;
	uint32_t args[3];
	size_t i = 0;

	(void)uses;
	while (i < sizeof(arithmetic) / sizeof(arithmetic[0]) && !is_op(in->op, arithmetic[i]))
		i++;
	if (i == sizeof(arithmetic) / sizeof(arithmetic[0]) ||
	    (t.scalar != PCTL_SCALAR_F32 && t.scalar != PCTL_SCALAR_F64))
		return mock_emit_copy(e, v);
	for (uint32_t k = 0; k < in->n_args; k++)
		args[k] = flushed(e, e->map[e->p.words[in->first_arg + k]], in->type, width);
	return flushed(e, mock_emit(e, in->op, in->type, args, in->n_args), in->type, width);
}

/* ---- the order of sums -------------------------------------------------------------------- */

/* (x + y) + z becomes x + (y + z), and z + (x + y) becomes (z + x) + y. */
static uint32_t tree_each(mock_edit *e, uint32_t v, const pctl_inst *in, const uint32_t *uses)
{
	const pctl_inst *all = e->old + e->fn->first_inst;
	const uint32_t *a = e->p.words + in->first_arg;

	for (uint32_t k = 0; is_op(in->op, PCTL_OP_FADD) && k < 2; k++) {
		const uint32_t sum = a[k], other = e->map[a[1 - k]];
		const pctl_inst inner = all[sum];
		uint32_t x, y;

		if (inner.op != in->op || uses[sum] != 1 || inner.type != in->type)
			continue;
		x = e->map[e->p.words[inner.first_arg]];
		y = e->map[e->p.words[inner.first_arg + 1]];
		if (k == 0)
			return emit2(e, in->op, in->type, x, emit2(e, in->op, in->type, y, other));
		return emit2(e, in->op, in->type, emit2(e, in->op, in->type, other, x), y);
	}
	return mock_emit_copy(e, v);
}

/* ---- stores of elements ------------------------------------------------------------------- */

/* Without a guard around it, into memory of the invocation's own, at an index that is no constant. */
static uint32_t lose_each(mock_edit *e, uint32_t v, const pctl_inst *in, const uint32_t *uses)
{
	pctl_place place;
	uint32_t type;

	(void)uses;
	if (in->op != PCTL_OP_STORE || !pctl_place_get(&e->p, e->fn, in, &place) ||
	    place.space >= PCTL_SPACE_WORKGROUP)
		return mock_emit_copy(e, v);
	type = place.root_type;
	for (uint32_t i = 0; i < place.n_chain; i++) {
		const uint32_t word = e->p.words[place.chain + i];

		if (e->p.types[type].kind == PCTL_TYPE_ARRAY && i < 16 &&
		    (in->flags & PCTL_INST_PROVEN(i)) &&
		    e->old[e->fn->first_inst + word].op != PCTL_OP_CONST)
			return 0; /* nothing uses what a store gives */
		type = pctl_type_step(&e->p, type, word);
	}
	return mock_emit_copy(e, v);
}

/* ---- shifts of 64 bits --------------------------------------------------------------------- */

/* By what a variable of the invocation's own holds, modulo 32 instead of 64. */
static uint32_t shift_each(mock_edit *e, uint32_t v, const pctl_inst *in, const uint32_t *uses)
{
	const pctl_type t = e->p.types[in->type];
	const int wide = t.scalar == PCTL_SCALAR_I64 || t.scalar == PCTL_SCALAR_U64;
	const pctl_inst *load;
	pctl_place place;
	uint32_t amount, type;

	(void)uses;
	if ((in->op != PCTL_OP_SHL && in->op != PCTL_OP_SHR) || !wide)
		return mock_emit_copy(e, v);
	load = e->old + e->fn->first_inst + e->p.words[in->first_arg + 1];
	if (load->op != PCTL_OP_LOAD || !pctl_place_get(&e->p, e->fn, load, &place) ||
	    place.space >= PCTL_SPACE_WORKGROUP)
		return mock_emit_copy(e, v);
	type = load->type;
	amount = emit2(e, PCTL_OP_AND, type, e->map[e->p.words[in->first_arg + 1]],
		       splat(e, t.kind == PCTL_TYPE_VECTOR ? t.width : 1, 31));
	return emit2(e, in->op, in->type, e->map[e->p.words[in->first_arg]], amount);
}

/* ---- products of packed bytes -------------------------------------------------------------- */

/* The highest bit of the first operand is lost: a sign, or 128. */
static uint32_t dot4_each(mock_edit *e, uint32_t v, const pctl_inst *in, const uint32_t *uses)
{
	const uint32_t *a = e->p.words + in->first_arg;
	uint32_t x, y, type;

	(void)uses;
	if (in->op != PCTL_OP_DOT4_I8 && in->op != PCTL_OP_DOT4_U8)
		return mock_emit_copy(e, v);
	x = e->map[a[0]];
	y = e->map[a[1]];
	type = mock_edit_type(e, PCTL_SCALAR_U32, 1);
	x = emit2(e, PCTL_OP_AND, type, x, splat(e, 1, 0x7fffffffu));
	return emit2(e, in->op, in->type, x, y);
}

/* ---- what an atomic or says ------------------------------------------------------------------- */

/* Nothing is or'ed in. */
static uint32_t unset_each(mock_edit *e, uint32_t v, const pctl_inst *in, const uint32_t *uses)
{
	uint32_t zero, at;

	(void)uses;
	if (in->op != PCTL_OP_ATOMIC_OR || e->p.types[in->type].scalar != PCTL_SCALAR_U32)
		return mock_emit_copy(e, v);
	zero = splat(e, 1, 0);
	at = mock_emit_copy(e, v);
	if (!e->failed)
		e->p.words[e->p.insts[e->p.n_insts - 1].first_arg] = zero;
	return at;
}

/* ---- subgroups ----------------------------------------------------------------------------- */

/* Lanes are counted from the other end: what is moved comes from there. */
static uint32_t lanes_each(mock_edit *e, uint32_t v, const pctl_inst *in, const uint32_t *uses)
{
	const uint32_t *a = e->p.words + in->first_arg;
	const uint32_t size = in->n_args ? a[in->n_args - 1] : 0;
	uint32_t args[3];

	(void)uses;
	if (in->op != PCTL_OP_SUBGROUP_BROADCAST && in->op != PCTL_OP_SUBGROUP_SHUFFLE)
		return mock_emit_copy(e, v);
	args[0] = e->map[a[0]];
	args[1] = in->op == PCTL_OP_SUBGROUP_BROADCAST
			  ? size - 1 - a[1]
			  : emit2(e, PCTL_OP_XOR, mock_edit_type(e, PCTL_SCALAR_U32, 1),
				  e->map[a[1]], splat(e, 1, size - 1));
	args[2] = size;
	return mock_emit(e, in->op, in->type, args, 3);
}

/* The bits of a ballot stand one place too far up. */
static uint32_t ballot_each(mock_edit *e, uint32_t v, const pctl_inst *in, const uint32_t *uses)
{
	(void)uses;
	if (in->op != PCTL_OP_SUBGROUP_BALLOT)
		return mock_emit_copy(e, v);
	v = mock_emit_copy(e, v);
	return emit2(e, PCTL_OP_SHL, in->type, v, splat(e, 4, 1));
}

/* Claimed, and yet every lane is alone: what is over all lanes is its own. */
static uint32_t single_each(mock_edit *e, uint32_t v, const pctl_inst *in, const uint32_t *uses)
{
	(void)uses;
	return in->op >= PCTL_OP_SUBGROUP_ADD && in->op <= PCTL_OP_SUBGROUP_XOR
		       ? e->map[e->p.words[in->first_arg]]
		       : mock_emit_copy(e, v);
}

/* ---- matrix tiles -------------------------------------------------------------------------- */

/* Left factors come turned: what lies by rows is taken for columns, and the other way round. */
static uint32_t turned_each(mock_edit *e, uint32_t v, const pctl_inst *in, const uint32_t *uses)
{
	const int is_rows = in->op == PCTL_OP_TILE_LOAD_ROWS;

	(void)uses;
	v = mock_emit_copy(e, v);
	if ((is_rows || in->op == PCTL_OP_TILE_LOAD_COLUMNS) && !e->failed &&
	    e->p.types[in->type].count == PCTL_TILE_LEFT)
		e->p.insts[e->p.n_insts - 1].op =
			is_rows ? PCTL_OP_TILE_LOAD_COLUMNS : PCTL_OP_TILE_LOAD_ROWS;
	return v;
}

/* A product forgets what it is added to. */
static uint32_t unsummed_each(mock_edit *e, uint32_t v, const pctl_inst *in, const uint32_t *uses)
{
	const uint32_t *a = e->p.words + in->first_arg;
	uint32_t args[3];

	(void)uses;
	if (in->op != PCTL_OP_TILE_MULTIPLY_ADD)
		return mock_emit_copy(e, v);
	args[0] = e->map[a[0]];
	args[1] = e->map[a[1]];
	args[2] = mock_emit(e, PCTL_OP_ZERO, in->type, NULL, 0);
	return mock_emit(e, in->op, in->type, args, 3);
}

/* Products of floats begin at the other end, where a stride leads along what they sum over: sums of the same products, in another
 * order. */
static uint32_t reversed_each(mock_edit *e, uint32_t v, const pctl_inst *in, const uint32_t *uses)
{
	const pctl_type t = e->p.types[in->type];
	const int is_along = (in->op == PCTL_OP_TILE_LOAD_ROWS && t.count == PCTL_TILE_RIGHT) ||
			     (in->op == PCTL_OP_TILE_LOAD_COLUMNS && t.count == PCTL_TILE_LEFT);
	const uint32_t u32 = mock_edit_type(e, PCTL_SCALAR_U32, 1);
	uint32_t offset, stride, back, n;

	(void)uses;
	if (!is_along || !pctl_tile_is_float(&t))
		return mock_emit_copy(e, v);
	offset = e->map[e->p.words[in->first_arg]];
	stride = e->map[e->p.words[in->first_arg + 1]];
	back = splat(e, 1, (t.count == PCTL_TILE_RIGHT ? t.width : t.columns) - 1u);
	back = emit2(e, PCTL_OP_MUL, u32, stride, back);
	back = emit2(e, PCTL_OP_ADD, u32, offset, back);
	n = splat(e, 1, 0);
	n = emit2(e, PCTL_OP_SUB, u32, n, stride);
	v = mock_emit_copy(e, v);
	if (!e->failed) {
		e->p.words[e->p.insts[e->p.n_insts - 1].first_arg] = back;
		e->p.words[e->p.insts[e->p.n_insts - 1].first_arg + 1] = n;
	}
	return v;
}

/* ---- counting and nesting ----------------------------------------------------------------- */

/* 1: value v decides whether a loop goes on. */
static int is_tested(const mock_edit *e, uint32_t v)
{
	for (uint32_t i = v + 1; i < e->fn->n_insts; i++) {
		const pctl_inst *in = e->old + e->fn->first_inst + i;

		if (in->op == PCTL_OP_LOOP_TEST)
			return e->p.words[in->first_arg] == v;
	}
	return 0;
}

static uint32_t turns_each(mock_edit *e, uint32_t v, const pctl_inst *in, const uint32_t *uses)
{
	const pctl_inst *all = e->old + e->fn->first_inst;
	const uint32_t *a = e->p.words + in->first_arg;
	uint32_t x, y, most;

	(void)uses;
	if (in->op != PCTL_OP_LT || !is_tested(e, v) ||
	    e->p.types[all[a[1]].type].kind != PCTL_TYPE_SCALAR ||
	    e->p.types[all[a[1]].type].scalar != PCTL_SCALAR_U32)
		return mock_emit_copy(e, v);
	x = e->map[a[0]];
	y = e->map[a[1]];
	most = splat(e, 1, (uint32_t)e->value);
	most = emit2(e, PCTL_OP_MIN, mock_edit_type(e, PCTL_SCALAR_U32, 1), y, most);
	return emit2(e, PCTL_OP_LT, in->type, x, most);
}

static uint32_t nest_each(mock_edit *e, uint32_t v, const pctl_inst *in, const uint32_t *uses)
{
	const uint32_t yes[2] = {1, 0};
	uint64_t depth = 0;
	uint32_t always;

	(void)uses;
	for (uint32_t i = 0; in->op == PCTL_OP_IF && i < v; i++) {
		const uint16_t op = e->old[e->fn->first_inst + i].op;

		depth += op == PCTL_OP_IF;
		depth -= op == PCTL_OP_END_IF;
	}
	if (in->op != PCTL_OP_IF || depth < e->value)
		return mock_emit_copy(e, v);
	always = mock_emit(e, PCTL_OP_CONST, mock_edit_type(e, PCTL_SCALAR_BOOL, 1), yes, 2);
	return mock_emit(e, PCTL_OP_IF, 0, &always, 1);
}

/* In a function that holds a barrier, who goes on with the next turn of a loop leaves it. */
static void go_astray(mock_edit *e, const pctl_function *fn)
{
	uint32_t waits = 0;

	for (uint32_t v = 0; v < fn->n_insts; v++) {
		const uint16_t op = e->p.insts[fn->first_inst + v].op;

		waits |= op == PCTL_OP_BARRIER || op == PCTL_OP_LOAD_UNIFORM;
	}
	for (uint32_t v = 0; v < fn->n_insts && waits; v++)
		if (e->p.insts[fn->first_inst + v].op == PCTL_OP_CONTINUE)
			e->p.insts[fn->first_inst + v].op = PCTL_OP_BREAK;
}

/* ---- sizes --------------------------------------------------------------------------------- */

/* What belongs behind the first `value` bytes of an array in private or workgroup memory is stored at their end. */
static uint32_t array_each(mock_edit *e, uint32_t v, const pctl_inst *in, const uint32_t *uses)
{
	pctl_place place;
	uint32_t type, index, mapped, last;

	(void)uses;
	if (in->op != PCTL_OP_STORE || !pctl_place_get(&e->p, e->fn, in, &place) ||
	    place.space > PCTL_SPACE_WORKGROUP || place.n_chain == 0)
		return mock_emit_copy(e, v);
	type = place.root_type;
	index = e->p.words[place.chain];
	if (e->p.types[type].kind != PCTL_TYPE_ARRAY || e->p.types[type].size <= e->value ||
	    e->p.types[e->old[e->fn->first_inst + index].type].scalar != PCTL_SCALAR_U32)
		return mock_emit_copy(e, v);
	mapped = e->map[index];
	last = splat(e, 1, (uint32_t)e->value / e->p.types[type].stride - 1);
	e->map[index] = emit2(e, PCTL_OP_MIN, mock_edit_type(e, PCTL_SCALAR_U32, 1), mapped, last);
	v = mock_emit_copy(e, v);
	e->map[index] = mapped;
	return v;
}

/* From the `value`-th instruction of a function on, an exclusive or is an or. */
static void lengthen(mock_edit *e, const pctl_function *fn)
{
	for (uint64_t v = e->value; v < fn->n_insts; v++)
		if (e->p.insts[fn->first_inst + v].op == PCTL_OP_XOR)
			e->p.insts[fn->first_inst + v].op = PCTL_OP_OR;
}

/* Words behind the first `value` bytes of a table are zero. */
static void cut_tables(mock_edit *e)
{
	for (uint32_t i = 0; i < e->p.n_insts; i++)
		for (uint64_t k = e->value / 4 + 1;
		     e->p.insts[i].op == PCTL_OP_LOOKUP && k < e->p.insts[i].n_args; k++)
			e->p.words[e->p.insts[i].first_arg + k] = 0;
}

/* ---- the whole ---------------------------------------------------------------------------- */

void mock_mutate(mock_edit *e, const mock_fault *f)
{
	switch (f->kind) {
	case MOCK_CONTRACT:
		for (uint32_t i = 0; i < e->p.n_functions && !e->failed; i++)
			contract(e, &e->p.functions[i]);
		break;
	case MOCK_FLUSH:
		mock_rewrite(e, flush_each);
		break;
	case MOCK_COEFFICIENT:
		coefficient(e, f->value);
		break;
	case MOCK_TREE:
		mock_rewrite(e, tree_each);
		break;
	case MOCK_NAN:
		leak_payload(e);
		break;
	case MOCK_TURNS:
		e->value = f->value;
		mock_rewrite(e, turns_each);
		break;
	case MOCK_NEST:
		e->value = f->value;
		mock_rewrite(e, nest_each);
		break;
	case MOCK_ELEMENT:
		mock_rewrite(e, lose_each);
		break;
	case MOCK_ASTRAY:
		for (uint32_t i = 0; i < e->p.n_functions; i++)
			go_astray(e, &e->p.functions[i]);
		break;
	case MOCK_SHIFT:
		mock_rewrite(e, shift_each);
		break;
	case MOCK_DOT4:
		mock_rewrite(e, dot4_each);
		break;
	case MOCK_UNSET:
		mock_rewrite(e, unset_each);
		break;
	case MOCK_LANES:
		mock_rewrite(e, lanes_each);
		break;
	case MOCK_BALLOT:
		mock_rewrite(e, ballot_each);
		break;
	case MOCK_SINGLE:
		mock_rewrite(e, single_each);
		break;
	case MOCK_TURNED:
		mock_rewrite(e, turned_each);
		break;
	case MOCK_UNSUMMED:
		mock_rewrite(e, unsummed_each);
		break;
	case MOCK_REVERSED:
		mock_rewrite(e, reversed_each);
		break;
	case MOCK_ARRAY:
		e->value = f->value;
		mock_rewrite(e, array_each);
		break;
	case MOCK_LONG:
		e->value = f->value;
		for (uint32_t i = 0; i < e->p.n_functions; i++)
			lengthen(e, &e->p.functions[i]);
		break;
	case MOCK_TABLE:
		e->value = f->value;
		cut_tables(e);
		break;
	default:
		break;
	}
}

void mock_make_strict(mock_edit *e)
{
	for (uint32_t i = 0; i < e->p.n_insts; i++)
		if (PCTL_IS_NATIVE(e->p.insts[i].op))
			e->p.insts[i].op = (uint16_t)(e->p.insts[i].op -
						      (PCTL_NATIVE_FIRST - PCTL_STRICT_FIRST));
}
