/* The tile pass: matrix tiles on a device that was not proved to have them become ordinary code. A tile is an array of each
 * lane: of 32-bit words with four components along the side that a product sums over (left, right), or of components
 * (result); words and components lie with the 32 lanes of their subgroup in turn. A product puts the words of both factors
 * down in workgroup memory, between two barriers, and sums by DOT4. Floats lie one by one, factors as their bits, results as f64,
 * and are summed by strict fma in f64, whose forms the float pass chooses. Control is uniform where tiles stand (the host has
 * proved it of the program), so everyone arrives at these barriers. */
#include "compiler/legalize/tile.h"

#include <stdlib.h>

#define LANES PCTL_TILE_LANES
#define N_PRODUCTS LEGAL_TILE_PRODUCTS

/* What a product is of; its number is a bit each. */
typedef struct product {
	uint32_t m, n, k, is_signed;
	uint8_t factor; /* PCTL_SCALAR_F32 or _F64, or 0 */
} product;

struct legal_tiles {
	uint32_t invocations;
	uint32_t each, each_wide;      /* u32 and u64 of workgroup memory for a subgroup */
	uint32_t needed;	       /* bit i: product i */
	uint32_t exchange, wide;       /* the workgroup variables */
	uint32_t function[N_PRODUCTS]; /* of the new program */
	uint32_t is_written;
};
typedef struct legal_tiles tiles;

uint32_t legal_tile_words(const pctl_type *t)
{
	const uint32_t n = (uint32_t)t->width * t->columns / LANES;

	return legal_tile_is_packed(t) ? n / 4 : n;
}

int legal_tile_is_packed(const pctl_type *t)
{
	return t->count != PCTL_TILE_RESULT && !pctl_tile_is_float(t);
}

uint32_t legal_tile_in_line(const pctl_type *t)
{
	return 16 / pctl_scalar_bytes(t->scalar);
}

#define FIRST_FLOAT 16u /* bits of PCTL_TILE_PRODUCTS */
static product product_at(uint32_t i)
{
	const product x = {i & 1 ? 16 : 8, i & 2 ? 16 : 8, i & 4 ? 32 : 16, i >> 3 & 1, 0};
	const uint32_t f = i - FIRST_FLOAT;
	const product of_floats = {f & 1 ? 16 : 8, 8, 4u << (f / 2 % 3), 0,
				   f < 6 ? PCTL_SCALAR_F32 : PCTL_SCALAR_F64};

	return i < FIRST_FLOAT ? x : of_floats;
}

static uint32_t product_of(const pctl_program *p, const pctl_function *fn, const pctl_inst *in)
{
	const pctl_type *r = &p->types[in->type];
	const pctl_type *left = &p->types[pctl_value_type(p, fn, pctl_arg(p, in, 0))];

	if (pctl_tile_is_float(r))
		return FIRST_FLOAT + (uint32_t)(r->width == 16) +
		       2 * ((uint32_t)__builtin_ctz(left->columns) - 2) +
		       6 * (uint32_t)(left->scalar == PCTL_SCALAR_F64);
	return (r->width == 16) | (uint32_t)(r->columns == 16) << 1 |
	       (uint32_t)(left->columns == 32) << 2 | (uint32_t)(r->scalar == PCTL_SCALAR_I32) << 3;
}

/* The products of a program, and the u32 and u64 that a subgroup puts down for the largest. */
static uint32_t products_needed(const pctl_program *p, uint32_t *each, uint32_t *each_wide)
{
	uint32_t needed = 0;

	*each = *each_wide = 0;
	for (uint32_t f = 0; f < p->n_functions; f++) {
		const pctl_function *fn = &p->functions[f];

		for (uint32_t i = 0; i < fn->n_insts; i++) {
			const pctl_inst *in = &p->insts[fn->first_inst + i];

			if (in->op == PCTL_OP_TILE_MULTIPLY_ADD)
				needed |= 1u << product_of(p, fn, in);
		}
	}
	for (uint32_t i = 0; i < N_PRODUCTS; i++) {
		const product x = product_at(i);
		const uint32_t words = (x.m + x.n) * x.k / (x.factor ? 1 : 4);
		uint32_t *most = x.factor == PCTL_SCALAR_F64 ? each_wide : each;

		if ((needed >> i & 1) && words > *most)
			*most = words;
	}
	return needed;
}

uint32_t pctl_legal_tile_products(const pctl_program *p)
{
	uint32_t each, wide;

	return products_needed(p, &each, &wide);
}

/* What either form takes; only a device's own tiles where it is right at all products that the program has. */
uint64_t legal_tile_bytes(const pctl_program *p, uint32_t exact)
{
	uint32_t each, wide, whole[LEGAL_TILE_ROOMS];
	const uint32_t needed = products_needed(p, &each, &wide);

	each += 2 * wide;
	if (needed & exact && !(needed & ~exact)) {
		each = 0;
		legal_tile_seen_words(p, whole);
	} else {
		legal_tile_whole_words(p, whole);
	}
	whole[0] += whole[1] + 2 * whole[2];
	if (whole[0] > each)
		each = whole[0];
	return (uint64_t)p->entries[0].workgroup_size[0] / LANES * each * 4;
}

/* ---- pieces of code ---- */

static uint32_t op2(legal *l, uint16_t op, uint32_t a, uint32_t b)
{
	return legal_emit2(l, op, l->t_u32, a, b);
}

static uint32_t with_word(legal *l, uint16_t op, uint32_t a, uint32_t k)
{
	const uint32_t word = legal_word(l, k);

	return op2(l, op, a, word);
}

static uint32_t plus(legal *l, uint32_t a, uint32_t k)
{
	return k ? with_word(l, PCTL_OP_ADD, a, k) : a;
}

static uint32_t times(legal *l, uint32_t a, uint32_t power)
{
	return with_word(l, PCTL_OP_SHL, a, (uint32_t)__builtin_ctz(power));
}

static uint32_t over(legal *l, uint32_t a, uint32_t power)
{
	return with_word(l, PCTL_OP_SHR, a, (uint32_t)__builtin_ctz(power));
}

static uint32_t local_index(legal *l)
{
	const uint32_t which = PCTL_BUILTIN_LOCAL_INDEX;

	return legal_emit(l, PCTL_OP_BUILTIN, l->t_u32, &which, 1);
}

static uint32_t own_lane(legal *l)
{
	const uint32_t index = local_index(l);

	return with_word(l, PCTL_OP_AND, index, LANES - 1);
}

static void barrier(legal *l)
{
	const uint32_t bits = PCTL_BARRIER_WORKGROUP;

	legal_emit(l, PCTL_OP_BARRIER, 0, &bits, 1);
}

static uint32_t scalar_type(legal *l, uint8_t scalar)
{
	return pctl_build_scalar(l->b, scalar);
}

/* What each word of a lane's share is. */
static uint32_t elem_of(legal *l, const pctl_type *t)
{
	if (t->scalar == PCTL_SCALAR_F64)
		return scalar_type(l, t->count == PCTL_TILE_RESULT ? PCTL_SCALAR_F64
								   : PCTL_SCALAR_U64);
	return t->scalar == PCTL_SCALAR_I32 ? l->t_i32 : l->t_u32;
}

static uint32_t as_type(legal *l, uint32_t id, uint32_t from, uint32_t to)
{
	return from == to ? id : legal_emit1(l, PCTL_OP_BITCAST, to, id);
}

static uint32_t array_of(legal *l, const pctl_type *t)
{
	const uint32_t elem = elem_of(l, t);

	return pctl_build_array(l->b, elem, legal_tile_words(t), 0);
}

/* ---- memory ---- */

legal_tile_access legal_tile_access_of(legal *l, const pctl_inst *in)
{
	const uint32_t first = (uint32_t)pctl_op_stores(in->op);
	legal_tile_access a = {.in = in};
	const pctl_type *elem;

	pctl_place_get(l->p, l->fn, in, &a.place);
	elem = &l->p->types[l->p->types[a.place.end_type].elem];
	a.width = elem->kind == PCTL_TYPE_VECTOR ? elem->width : 1;
	a.array_elem = legal_type(l, a.width > 1 ? elem->elem : l->p->types[a.place.end_type].elem);
	a.offset = l->values[pctl_arg(l->p, in, first)].id[0];
	a.stride = l->values[pctl_arg(l->p, in, first + 1)].id[0];
	a.lane = own_lane(l);
	a.by_rows = in->op == PCTL_OP_TILE_LOAD_ROWS || in->op == PCTL_OP_TILE_STORE_ROWS;
	return a;
}

/* Element `index` of the array; value 0 of a store comes first. */
uint32_t legal_tile_element(legal *l, const legal_tile_access *a, uint32_t index,
			    const uint32_t *stored)
{
	legal_arguments args;
	uint32_t id, component = 0;
	uint16_t flags;

	if (!legal_arguments_open(l, &args, 4 + 2 * a->place.n_chain))
		return 0;
	if (a->width > 1) {
		component = with_word(l, PCTL_OP_AND, index, a->width - 1);
		index = over(l, index, a->width);
	}
	if (stored)
		args.words[args.n++] = *stored;
	flags = legal_place(l, a->in, &a->place, &args);
	args.words[args.n++] = index;
	if (a->width > 1)
		args.words[args.n++] = component;
	id = legal_emit(l, stored ? PCTL_OP_STORE : PCTL_OP_LOAD, stored ? 0 : a->array_elem,
			args.words, args.n);
	legal_keep_flags(l, id, flags);
	free(args.words);
	return id;
}

static uint32_t load_word(legal *l, const legal_tile_access *a, uint32_t index)
{
	const uint32_t id = legal_tile_element(l, a, index, NULL);

	return a->array_elem == l->t_u32 ? id : legal_emit1(l, PCTL_OP_BITCAST, l->t_u32, id);
}

/* Number of the component at (line, at): lines are rows or columns, as they lie in memory. */
static uint32_t number_of(legal *l, const legal_tile_access *a, uint32_t line, uint32_t at)
{
	uint32_t x = op2(l, PCTL_OP_MUL, line, a->stride);

	x = op2(l, PCTL_OP_ADD, a->offset, x);
	return op2(l, PCTL_OP_ADD, x, at);
}

/* Bits 8 * (number % 4) .. of its word. */
static uint32_t shift_of(legal *l, uint32_t number)
{
	const uint32_t byte = with_word(l, PCTL_OP_AND, number, 3);

	return with_word(l, PCTL_OP_SHL, byte, 3);
}

/* Four components one behind the other, from any on: of one word, or of two. */
static uint32_t four_in_line(legal *l, const legal_tile_access *a, uint32_t number)
{
	const uint32_t shift = shift_of(l, number);
	uint32_t index = over(l, number, 4), low, high, back;

	low = load_word(l, a, index);
	index = plus(l, number, 3);
	index = over(l, index, 4);
	high = load_word(l, a, index);
	/* high << (32 - shift), which is 0 for shift 0. */
	back = legal_word(l, 31);
	back = op2(l, PCTL_OP_SUB, back, shift);
	high = with_word(l, PCTL_OP_SHL, high, 1);
	high = op2(l, PCTL_OP_SHL, high, back);
	low = op2(l, PCTL_OP_SHR, low, shift);
	return op2(l, PCTL_OP_OR, low, high);
}

static uint32_t four_across(legal *l, const legal_tile_access *a, uint32_t first_line, uint32_t at)
{
	uint32_t word = 0;

	for (uint32_t b = 0; b < 4; b++) {
		const uint32_t line = plus(l, first_line, b);
		const uint32_t number = number_of(l, a, line, at), shift = shift_of(l, number);
		const uint32_t index = over(l, number, 4);
		uint32_t byte = load_word(l, a, index);

		byte = op2(l, PCTL_OP_SHR, byte, shift);
		byte = with_word(l, PCTL_OP_AND, byte, 255);
		if (b)
			byte = with_word(l, PCTL_OP_SHL, byte, 8 * b);
		word = b ? op2(l, PCTL_OP_OR, word, byte) : byte;
	}
	return word;
}

/* Word i of a lane's share of left or right. */
uint32_t legal_tile_load_four(legal *l, const legal_tile_access *a, const pctl_type *t, uint32_t i)
{
	const int is_left = t->count == PCTL_TILE_LEFT;
	const uint32_t fours = (is_left ? t->columns : t->width) / 4u;
	uint32_t number = plus(l, a->lane, i * LANES), outer, inner;

	outer = over(l, number, fours);
	inner = with_word(l, PCTL_OP_AND, number, fours - 1);
	inner = times(l, inner, 4);
	if (a->by_rows != (uint32_t)is_left)
		return four_across(l, a, inner, outer);
	number = number_of(l, a, outer, inner);
	return four_in_line(l, a, number);
}

uint32_t legal_tile_load_word(legal *l, const legal_tile_access *a, const pctl_type *t, uint32_t i)
{
	const int is_left = t->count == PCTL_TILE_LEFT;
	const uint32_t inner = is_left ? t->columns : t->width;
	uint32_t number, outer, along;

	if (legal_tile_is_packed(t))
		return legal_tile_load_four(l, a, t, i);
	number = plus(l, a->lane, i * LANES);
	outer = over(l, number, inner);
	along = with_word(l, PCTL_OP_AND, number, inner - 1);
	number = a->by_rows == (uint32_t)is_left ? number_of(l, a, outer, along)
						 : number_of(l, a, along, outer);
	number = legal_tile_element(l, a, number, NULL);
	return as_type(l, number, a->array_elem, elem_of(l, t));
}

/* Where component i of a lane's share of a result lies. */
uint32_t legal_tile_result_number(legal *l, const legal_tile_access *a, const pctl_type *t,
				  uint32_t i)
{
	const uint32_t number = plus(l, a->lane, i * LANES);
	const uint32_t row = over(l, number, t->columns);
	const uint32_t column = with_word(l, PCTL_OP_AND, number, t->columns - 1u);

	return number_of(l, a, a->by_rows ? row : column, a->by_rows ? column : row);
}

static void load(legal *l, uint32_t v, const pctl_inst *in)
{
	const pctl_type *t = &l->p->types[in->type];
	const legal_tile_access a = legal_tile_access_of(l, in);
	const uint32_t n = legal_tile_words(t);
	uint32_t parts[16], number;

	for (uint32_t i = 0; i < n; i++) {
		if (t->count == PCTL_TILE_RESULT) {
			number = legal_tile_result_number(l, &a, t, i);
			parts[i] = legal_tile_element(l, &a, number, NULL);
			parts[i] = as_type(l, parts[i], a.array_elem, elem_of(l, t));
		} else {
			parts[i] = legal_tile_load_word(l, &a, t, i);
		}
	}
	l->values[v].id[0] = legal_emit(l, PCTL_OP_COMPOSE, legal_type(l, in->type), parts, n);
}

/* An f64 whose NaN is the canonical one. */
static uint32_t canonical(legal *l, uint32_t x)
{
	const uint32_t type = scalar_type(l, PCTL_SCALAR_F64);
	const uint32_t is_nan = legal_emit2(l, PCTL_OP_FNE, l->t_bool, x, x);
	const uint32_t nan = pctl_build_const(l->b, type, 0x7ff8000000000000u);

	return legal_emit3(l, PCTL_OP_SELECT, type, is_nan, nan, x);
}

static void store(legal *l, const pctl_inst *in)
{
	const pctl_type *t = &l->p->types[pctl_tile_moved(l->p, l->fn, in)];
	const uint32_t tile = l->values[pctl_arg(l->p, in, 0)].id[0], elem = elem_of(l, t);
	const legal_tile_access a = legal_tile_access_of(l, in);

	for (uint32_t i = 0; i < legal_tile_words(t); i++) {
		const uint32_t number = legal_tile_result_number(l, &a, t, i);
		uint32_t part = legal_emit2(l, PCTL_OP_EXTRACT, elem, tile, i);

		if (pctl_tile_is_float(t))
			part = as_type(l, canonical(l, part), elem, a.array_elem);
		legal_tile_element(l, &a, number, &part);
	}
}

/* ---- products ---- */

/* Words of left and right in workgroup memory. */
static uint32_t place_of(const tiles *x, const product *s)
{
	return s->factor == PCTL_SCALAR_F64 ? x->wide : x->exchange;
}

static uint32_t word_type(legal *l, const product *s)
{
	return s->factor == PCTL_SCALAR_F64 ? scalar_type(l, PCTL_SCALAR_U64) : l->t_u32;
}

static uint32_t load_exchange(legal *l, const tiles *x, const product *s, uint32_t index)
{
	const uint32_t id = legal_emit2(l, PCTL_OP_LOAD, word_type(l, s), place_of(x, s), index);

	legal_keep_flags(l, id, PCTL_INST_PROVEN(0));
	return id;
}

/* The words of a factor, from `to` on in the order of their numbers. */
static void put_down(legal *l, const tiles *x, const product *s, uint32_t factor, uint32_t n,
		     uint32_t to)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t word = legal_emit2(l, PCTL_OP_EXTRACT, word_type(l, s), factor, i);
		const uint32_t index = plus(l, to, i * LANES);
		const uint32_t id = legal_emit3(l, PCTL_OP_STORE, 0, word, place_of(x, s), index);

		legal_keep_flags(l, id, PCTL_INST_PROVEN(0));
	}
}

/* The f64 of a word of left or right; widening from f32 is exact. */
static uint32_t widened(legal *l, const product *s, uint32_t word)
{
	const uint32_t f64 = scalar_type(l, PCTL_SCALAR_F64);
	uint32_t id;

	if (s->factor == PCTL_SCALAR_F64)
		return legal_emit1(l, PCTL_OP_BITCAST, f64, word);
	id = legal_emit1(l, PCTL_OP_BITCAST, scalar_type(l, PCTL_SCALAR_F32), word);
	return legal_emit1(l, PCTL_OP_FCONVERT, f64, id);
}

/* sum + a * b, of words. */
static uint32_t added(legal *l, const product *s, uint32_t elem, uint32_t a, uint32_t b,
		      uint32_t sum)
{
	if (s->factor)
		return legal_emit3(l, PCTL_OP_FFMA, elem, widened(l, s, a), b, sum);
	a = legal_emit2(l, s->is_signed ? PCTL_OP_DOT4_I8 : PCTL_OP_DOT4_U8, elem, a, b);
	return legal_emit2(l, PCTL_OP_ADD, elem, sum, a);
}

/* A function of left, right and a result. A lane's components are of one column, so its words of right are read once. */
static void write_product(legal *l, const tiles *x, uint32_t which)
{
	const product s = product_at(which);
	const uint32_t elem = s.factor	    ? scalar_type(l, PCTL_SCALAR_F64)
			      : s.is_signed ? l->t_i32
					    : l->t_u32;
	const uint32_t words = s.factor ? s.k : s.k / 4; /* along K */
	const uint32_t n_left = s.m * words / LANES, n_right = s.n * words / LANES;
	const uint32_t n_result = s.m * s.n / LANES, word = word_type(l, &s);
	uint32_t types[3], index, lane, base, column, row, right[16], parts[16];

	types[0] = pctl_build_array(l->b, word, n_left, 0);
	types[1] = pctl_build_array(l->b, word, n_right, 0);
	types[2] = pctl_build_array(l->b, elem, n_result, 0);
	pctl_build_function_begin(l->b, "tile_product", types, 3, types[2]);
	index = local_index(l);
	lane = with_word(l, PCTL_OP_AND, index, LANES - 1);
	base = over(l, index, LANES);
	base = with_word(l, PCTL_OP_MUL, base,
			 s.factor == PCTL_SCALAR_F64 ? x->each_wide : x->each);
	index = op2(l, PCTL_OP_ADD, base, lane);
	put_down(l, x, &s, 0, n_left, index); /* values 0, 1, 2 are the parameters */
	index = plus(l, index, s.m * words);
	put_down(l, x, &s, 1, n_right, index);
	barrier(l);
	column = with_word(l, PCTL_OP_AND, lane, s.n - 1);
	column = times(l, column, words);
	column = op2(l, PCTL_OP_ADD, base, column);
	for (uint32_t q = 0; q < words; q++) {
		index = plus(l, column, s.m * words + q);
		right[q] = load_exchange(l, x, &s, index);
		if (s.factor)
			right[q] = widened(l, &s, right[q]);
	}
	row = over(l, lane, s.n);
	row = times(l, row, words);
	row = op2(l, PCTL_OP_ADD, base, row);
	for (uint32_t i = 0; i < n_result; i++) {
		uint32_t sum = legal_emit2(l, PCTL_OP_EXTRACT, elem, 2, i);

		for (uint32_t q = 0; q < words; q++) {
			index = plus(l, row, i * (LANES / s.n) * words + q);
			index = load_exchange(l, x, &s, index);
			sum = added(l, &s, elem, index, right[q], sum);
		}
		parts[i] = sum;
	}
	barrier(l);
	parts[0] = legal_emit(l, PCTL_OP_COMPOSE, types[2], parts, n_result);
	legal_emit1(l, PCTL_OP_RETURN, 0, parts[0]);
}

/* Before the first function of the program is rebuilt: all variables stand by then, and callees come first. */
static int write_products(legal *l)
{
	tiles *x = l->tiles;
	pctl_var v = {.space = PCTL_SPACE_WORKGROUP, .access = PCTL_ACCESS_READ_WRITE};

	if (x->is_written || !x->needed)
		return 1;
	x->is_written = 1;
	if (x->each) {
		v.type = pctl_build_array(l->b, l->t_u32, x->invocations / LANES * x->each, 0);
		x->exchange = pctl_build_var(l->b, &v, "tile_exchange");
	}
	if (x->each_wide) {
		v.type = pctl_build_array(l->b, scalar_type(l, PCTL_SCALAR_U64),
					  x->invocations / LANES * x->each_wide, 0);
		x->wide = pctl_build_var(l->b, &v, "tile_exchange_wide");
	}
	for (uint32_t i = 0; i < N_PRODUCTS; i++) {
		if (!(x->needed >> i & 1))
			continue;
		write_product(l, x, i);
		x->function[i] = pctl_build_function_end(l->b);
		l->new_function = x->function[i] + 1;
	}
	return 1;
}

/* ---- the pass ---- */

static void instruction(legal *l, uint32_t v, const pctl_inst *in)
{
	uint32_t args[4];

	if (pctl_op_get(in->op)->kind != PCTL_OPKIND_tile) {
		legal_int64_rules.instruction(l, v, in);
	} else if (in->op != PCTL_OP_TILE_MULTIPLY_ADD) {
		if (in->type)
			load(l, v, in);
		else
			store(l, in);
	} else {
		args[0] = l->tiles->function[product_of(l->p, l->fn, in)];
		for (uint32_t i = 0; i < 3; i++)
			args[1 + i] = l->values[pctl_arg(l->p, in, i)].id[0];
		l->values[v].id[0] = legal_emit(l, PCTL_OP_CALL, legal_type(l, in->type), args, 4);
	}
}

static uint32_t make_type(legal *l, uint32_t type)
{
	const pctl_type *t = &l->p->types[type];

	return t->kind == PCTL_TYPE_TILE ? array_of(l, t) : legal_int64_rules.type(l, type);
}

pctl_status legal_tile_pass(const pctl_program *p, const pctl_call *call, pctl_program **out)
{
	tiles x = {.invocations = p->entries[0].workgroup_size[0]};
	struct legal_int64 none = {.source = p};
	legal_rules rules = legal_int64_rules;
	legal l = {.call = call, .tiles = &x, .int64 = &none};

	x.needed = products_needed(p, &x.each, &x.each_wide);
	rules.instruction = instruction;
	rules.type = make_type;
	rules.plan = write_products;
	return legal_rebuild(&l, p, &rules, 0, NULL, out);
}
