/* The tile pass of a device whose own tiles a probe has shown to be right: products stay, and so do loads and stores that meet
 * PCTL_INST_WHOLE. Where that is not seen beforehand (tile_whole.c), the lanes of a subgroup vote on it. One that does not goes
 * through workgroup memory, where every subgroup has room for one tile: its lanes put words down, each what it would hold in
 * ordinary code (tile.c), and the tile is loaded from there; or the other way round. */
#include "compiler/legalize/tile.h"

#include <stdlib.h>

/* With offsets and strides below these, no number of a component wraps: 3 * 2^30 + 31 * 2^25 + 31 is below 2^32. */
#define OFFSET_MOST 0xbfffffffu
#define STRIDE_MOST 0x01ffffffu

struct legal_native_tiles {
	uint32_t invocations;
	uint32_t words[LEGAL_TILE_ROOMS];    /* of a subgroup's room; 0: no such tile is moved */
	uint32_t exchange[LEGAL_TILE_ROOMS]; /* the workgroup variables */
	uint32_t is_written;
};
typedef struct legal_native_tiles tiles;

/* The room that a tile goes through: of u32 (f32 as its bits), of i32, of u64 (f64 as its bits). */
static uint32_t room_of(const pctl_type *t)
{
	if (pctl_tile_is_float(t))
		return t->scalar == PCTL_SCALAR_F64 ? 2 : 0;
	return pctl_scalar_is_signed(t->scalar) != 0;
}

static uint32_t room_type(legal *l, uint32_t room)
{
	return room == 2 ? pctl_build_scalar(l->b, PCTL_SCALAR_U64) : room ? l->t_i32 : l->t_u32;
}

static uint32_t as_type(legal *l, uint32_t id, uint32_t from, uint32_t to)
{
	return from == to ? id : legal_emit1(l, PCTL_OP_BITCAST, to, id);
}

/* Makes room for what a move needs; not where it is seen to be whole, if `looks`. */
static void count_move(const legal *l, const pctl_inst *in, int looks, uint32_t *words)
{
	const uint32_t moved = pctl_tile_moved(l->p, l->fn, in);
	const pctl_type *t = &l->p->types[moved];
	const uint32_t sign = room_of(t);

	if (moved && legal_tile_words(t) * PCTL_TILE_LANES > words[sign] &&
	    !(looks && legal_tile_seen(l, in) == LEGAL_TILE_WHOLE))
		words[sign] = legal_tile_words(t) * PCTL_TILE_LANES;
}

static void find_words(const pctl_program *p, int looks, uint32_t *words)
{
	legal l = {.p = p};

	words[0] = words[1] = words[2] = 0;
	for (uint32_t f = 0; f < p->n_functions; f++) {
		l.fn = &p->functions[f];
		for (uint32_t i = 0; i < l.fn->n_insts; i++)
			count_move(&l, &p->insts[l.fn->first_inst + i], looks, words);
	}
}

void legal_tile_whole_words(const pctl_program *p, uint32_t words[LEGAL_TILE_ROOMS])
{
	find_words(p, 0, words);
}

void legal_tile_seen_words(const pctl_program *p, uint32_t words[LEGAL_TILE_ROOMS])
{
	find_words(p, 1, words);
}

static uint32_t op2(legal *l, uint16_t op, uint32_t a, uint32_t b)
{
	return legal_emit2(l, op, l->t_u32, a, b);
}

static uint32_t with_word(legal *l, uint16_t op, uint32_t a, uint32_t k)
{
	const uint32_t word = legal_word(l, k);

	return op2(l, op, a, word);
}

static uint32_t at_most(legal *l, uint32_t a, uint32_t most)
{
	const uint32_t word = legal_word(l, most);

	return legal_emit2(l, PCTL_OP_LE, l->t_bool, a, word);
}

static uint32_t both(legal *l, uint32_t a, uint32_t b)
{
	return legal_emit2(l, PCTL_OP_AND, l->t_bool, a, b);
}

static void barrier(legal *l)
{
	const uint32_t bits = PCTL_BARRIER_SUBGROUP;

	legal_emit(l, PCTL_OP_BARRIER, 0, &bits, 1);
}

/* The index of the first word of the subgroup's room. */
static uint32_t room(legal *l, uint32_t sign)
{
	const uint32_t which = PCTL_BUILTIN_LOCAL_INDEX;
	const uint32_t index = legal_emit(l, PCTL_OP_BUILTIN, l->t_u32, &which, 1);
	const uint32_t number =
		with_word(l, PCTL_OP_SHR, index, (uint32_t)__builtin_ctz(PCTL_TILE_LANES));

	return with_word(l, PCTL_OP_MUL, number, l->native_tiles->words[sign]);
}

/* ---- is an access whole ---- */

/* Bits that are 0 where everyone brings what lane 0 does. */
static uint32_t differs(legal *l, uint32_t value)
{
	const uint32_t args[3] = {value, 0, PCTL_TILE_LANES};
	const uint32_t first = legal_emit(l, PCTL_OP_SUBGROUP_BROADCAST, l->t_u32, args, 3);

	return op2(l, PCTL_OP_XOR, value, first);
}

/* Elements of the array. */
static uint32_t length_of(legal *l, const legal_tile_access *a)
{
	const pctl_type *t = &l->p->types[a->place.end_type];
	legal_arguments args;
	uint32_t id;

	if (t->kind == PCTL_TYPE_ARRAY)
		return legal_word(l, t->count);
	if (!legal_arguments_open(l, &args, 1 + 2 * a->place.n_chain))
		return 0;
	legal_place(l, a->in, &a->place, &args);
	id = legal_emit(l, PCTL_OP_ARRAY_LENGTH, l->t_u32, args.words, args.n);
	free(args.words);
	return id;
}

/* Value `bits` and'ed to `all` (0: there is none yet). */
static uint32_t joined(legal *l, uint16_t op, uint32_t type, uint32_t all, uint32_t bits)
{
	return all ? legal_emit2(l, op, type, all, bits) : bits;
}

/* Is all of it inside, and does no number wrap: a bool. */
static uint32_t is_inside(legal *l, const legal_tile_access *a, const pctl_type *t)
{
	const uint32_t lines = a->by_rows ? t->width : t->columns,
		       line = a->by_rows ? t->columns : t->width;
	uint32_t ok, last, end;

	ok = at_most(l, a->offset, OFFSET_MOST);
	last = at_most(l, a->stride, STRIDE_MOST);
	ok = both(l, ok, last);
	last = with_word(l, PCTL_OP_MUL, a->stride, lines - 1);
	last = op2(l, PCTL_OP_ADD, a->offset, last);
	last = with_word(l, PCTL_OP_ADD, last, line - 1);
	if (legal_tile_is_packed(t))
		last = with_word(l, PCTL_OP_SHR, last, 2);
	if (a->width > 1)
		last = with_word(l, PCTL_OP_SHR, last, (uint32_t)__builtin_ctz(a->width));
	end = length_of(l, a);
	last = legal_emit2(l, PCTL_OP_LT, l->t_bool, last, end);
	return both(l, ok, last);
}

/* A bool on which the subgroup agrees, of what is not seen beforehand; 0: everything is. */
static uint32_t is_whole(legal *l, const legal_tile_access *a, const pctl_type *t)
{
	const uint32_t seen = legal_tile_seen(l, a->in),
		       agree = LEGAL_TILE_ONE_OFFSET | LEGAL_TILE_ONE_STRIDE;
	uint32_t bad = 0, id, args[2] = {0, PCTL_TILE_LANES};

	if (!(seen & LEGAL_TILE_ALIGNED)) {
		bad = op2(l, PCTL_OP_OR, a->offset, a->stride);
		bad = with_word(l, PCTL_OP_AND, bad, legal_tile_in_line(t) - 1);
	}
	if (!(seen & LEGAL_TILE_ONE_OFFSET)) {
		id = differs(l, a->offset);
		bad = joined(l, PCTL_OP_OR, l->t_u32, bad, id);
	}
	if (!(seen & LEGAL_TILE_ONE_STRIDE)) {
		id = differs(l, a->stride);
		bad = joined(l, PCTL_OP_OR, l->t_u32, bad, id);
	}
	if (bad) {
		id = legal_word(l, 0);
		args[0] = legal_emit2(l, PCTL_OP_EQ, l->t_bool, bad, id);
	}
	if (!(seen & LEGAL_TILE_INSIDE)) {
		id = is_inside(l, a, t);
		args[0] = joined(l, PCTL_OP_AND, l->t_bool, args[0], id);
	}
	if (!args[0] || (seen & agree) == agree)
		return args[0];
	return legal_emit(l, PCTL_OP_SUBGROUP_ALL, l->t_bool, args, 2);
}

/* ---- moves ---- */

static uint32_t type_of(legal *l, const pctl_type *t)
{
	return pctl_build_tile(l->b, t->scalar, t->count, t->columns, t->width);
}

/* The move as it is written; `tile` is what is stored. The new tile. */
static uint32_t move_whole(legal *l, const legal_tile_access *a, const pctl_type *t, uint32_t tile)
{
	const int stores = pctl_op_stores(a->in->op);
	legal_arguments args;
	uint16_t flags;
	uint32_t id;

	if (!legal_arguments_open(l, &args, 4 + 2 * a->place.n_chain))
		return 0;
	if (stores)
		args.words[args.n++] = tile;
	args.words[args.n++] = a->offset;
	args.words[args.n++] = a->stride;
	flags = legal_place(l, a->in, &a->place, &args);
	id = legal_emit(l, a->in->op, stores ? 0 : type_of(l, t), args.words, args.n);
	legal_keep_flags(l, id, flags | PCTL_INST_WHOLE);
	free(args.words);
	return id;
}

/* To or from the subgroup's room, where left and result lie by rows and right by columns. */
static uint32_t move_room(legal *l, const pctl_type *t, int stores, uint32_t tile)
{
	const uint32_t sign = room_of(t);
	const int by_columns = t->count == PCTL_TILE_RIGHT;
	const uint16_t op = stores	 ? PCTL_OP_TILE_STORE_ROWS
			    : by_columns ? PCTL_OP_TILE_LOAD_COLUMNS
					 : PCTL_OP_TILE_LOAD_ROWS;
	uint32_t args[4], n = 0, id = room(l, sign);

	if (legal_tile_is_packed(t))
		id = with_word(l, PCTL_OP_SHL, id, 2);
	if (stores)
		args[n++] = tile;
	args[n++] = id;
	args[n++] = legal_word(l, by_columns ? t->width : t->columns);
	args[n++] = l->native_tiles->exchange[sign];
	id = legal_emit(l, op, stores ? 0 : type_of(l, t), args, n);
	legal_keep_flags(l, id, PCTL_INST_WHOLE);
	return id;
}

/* Word i of the lane's share in the room. */
static uint32_t room_index(legal *l, uint32_t sign, uint32_t lane, uint32_t i)
{
	uint32_t index = room(l, sign);

	index = op2(l, PCTL_OP_ADD, index, lane);
	return with_word(l, PCTL_OP_ADD, index, i * PCTL_TILE_LANES);
}

static void put_down(legal *l, const legal_tile_access *a, const pctl_type *t)
{
	const uint32_t sign = room_of(t), type = room_type(l, sign);
	uint32_t word, index;

	for (uint32_t i = 0; i < legal_tile_words(t); i++) {
		if (t->count == PCTL_TILE_RESULT) {
			index = legal_tile_result_number(l, a, t, i);
			word = legal_tile_element(l, a, index, NULL);
			word = as_type(l, word, a->array_elem, type);
		} else {
			word = legal_tile_load_word(l, a, t, i);
			if (sign == 1)
				word = legal_emit1(l, PCTL_OP_BITCAST, l->t_i32, word);
		}
		index = room_index(l, sign, a->lane, i);
		word = legal_emit3(l, PCTL_OP_STORE, 0, word, l->native_tiles->exchange[sign],
				   index);
		legal_keep_flags(l, word, PCTL_INST_PROVEN(0));
	}
}

static void take_up(legal *l, const legal_tile_access *a, const pctl_type *t)
{
	const uint32_t sign = room_of(t), type = room_type(l, sign);

	for (uint32_t i = 0; i < legal_tile_words(t); i++) {
		const uint32_t index = room_index(l, sign, a->lane, i);
		uint32_t word =
			legal_emit2(l, PCTL_OP_LOAD, type, l->native_tiles->exchange[sign], index);
		const uint32_t number = legal_tile_result_number(l, a, t, i);

		legal_keep_flags(l, word, PCTL_INST_PROVEN(0));
		word = as_type(l, word, type, a->array_elem);
		legal_tile_element(l, a, number, &word);
	}
}

static void load(legal *l, uint32_t v, const pctl_inst *in)
{
	const pctl_type *t = &l->p->types[in->type];
	const legal_tile_access a = legal_tile_access_of(l, in);
	uint32_t id = is_whole(l, &a, t), place;

	if (!id) {
		l->values[v].id[0] = move_whole(l, &a, t, 0);
		return;
	}
	place = PCTL_PLACE_LOCAL | pctl_build_local(l->b, "tile", type_of(l, t));
	legal_emit1(l, PCTL_OP_IF, 0, id);
	id = move_whole(l, &a, t, 0);
	legal_emit2(l, PCTL_OP_STORE, 0, id, place);
	legal_emit(l, PCTL_OP_ELSE, 0, NULL, 0);
	barrier(l);
	put_down(l, &a, t);
	barrier(l);
	id = move_room(l, t, 0, 0);
	legal_emit2(l, PCTL_OP_STORE, 0, id, place);
	legal_emit(l, PCTL_OP_END_IF, 0, NULL, 0);
	l->values[v].id[0] = legal_emit1(l, PCTL_OP_LOAD, type_of(l, t), place);
}

static void store(legal *l, const pctl_inst *in)
{
	const pctl_type *t = &l->p->types[pctl_tile_moved(l->p, l->fn, in)];
	const uint32_t tile = l->values[pctl_arg(l->p, in, 0)].id[0];
	const legal_tile_access a = legal_tile_access_of(l, in);
	const uint32_t whole = is_whole(l, &a, t);

	if (!whole) {
		move_whole(l, &a, t, tile);
		return;
	}
	legal_emit1(l, PCTL_OP_IF, 0, whole);
	move_whole(l, &a, t, tile);
	legal_emit(l, PCTL_OP_ELSE, 0, NULL, 0);
	barrier(l);
	move_room(l, t, 1, tile);
	barrier(l);
	take_up(l, &a, t);
	legal_emit(l, PCTL_OP_END_IF, 0, NULL, 0);
}

/* ---- the pass ---- */

static void instruction(legal *l, uint32_t v, const pctl_inst *in)
{
	if (!pctl_tile_moved(l->p, l->fn, in))
		legal_int64_rules.instruction(l, v, in);
	else if (in->type)
		load(l, v, in);
	else
		store(l, in);
}

/* Before the first function of the program is rebuilt: all variables stand by then. */
static int write_rooms(legal *l)
{
	static const char *const names[LEGAL_TILE_ROOMS] = {"tile_room_u", "tile_room_i",
							    "tile_room_wide"};
	tiles *x = l->native_tiles;

	for (uint32_t sign = 0; sign < LEGAL_TILE_ROOMS && !x->is_written; sign++) {
		pctl_var v = {.space = PCTL_SPACE_WORKGROUP, .access = PCTL_ACCESS_READ_WRITE};

		if (!x->words[sign])
			continue;
		v.type = pctl_build_array(l->b, room_type(l, sign),
					  x->invocations / PCTL_TILE_LANES * x->words[sign], 0);
		x->exchange[sign] = pctl_build_var(l->b, &v, names[sign]);
	}
	x->is_written = 1;
	return 1;
}

pctl_status legal_tile_native_pass(const pctl_program *p, const pctl_call *call, pctl_program **out)
{
	tiles x = {.invocations = p->entries[0].workgroup_size[0]};
	struct legal_int64 none = {.source = p};
	legal_rules rules = legal_int64_rules;
	legal l = {.call = call, .native_tiles = &x, .int64 = &none};

	find_words(p, 1, x.words);
	rules.instruction = instruction;
	rules.plan = write_rooms;
	return legal_rebuild(&l, p, &rules, 0, NULL, out);
}
