/* The subgroup pass: operations on a device that was not proved to do them become calls of functions that exchange one
 * word an invocation through workgroup memory, between two barriers; reductions, scans and votes go by shuffles instead, where these
 * were proved (NVIDIA's Vulkan sums up those lanes that came together, and shuffles right). Control is uniform where they stand (the host has
 * proved it of the program), so everyone arrives at these barriers too. */
#include "compiler/legalize/legal_parts.h"

#include <stdlib.h>

/* The functions that are written, each from one u32 to one u32 unless it says more. */
enum {
	HELPER_ADD,
	HELPER_MUL,
	HELPER_MIN,
	HELPER_SMIN, /* of an i32's bits */
	HELPER_MAX,
	HELPER_SMAX,
	HELPER_AND,
	HELPER_OR,
	HELPER_XOR,
	HELPER_INCLUSIVE_ADD,
	HELPER_INCLUSIVE_MUL,
	HELPER_EXCLUSIVE_ADD,
	HELPER_EXCLUSIVE_MUL,
	HELPER_BALLOT, /* u32 to vec4<u32> */
	HELPER_READ,   /* value and lane to the lane's value, 0 for a lane that is none */
	N_HELPERS
};

#define WITHIN_ALL 0u	    /* over all lanes */
#define WITHIN_INCLUSIVE 1u /* over those up to one's own */
#define WITHIN_EXCLUSIVE 2u /* over those below */
#define UNROLLED 8u	    /* lanes looked at in one turn: devices are limited in turns */

static const struct helper {
	const char *name;
	uint16_t op, within;
	uint32_t start;
	uint32_t is_signed;
} helpers[N_HELPERS] = {
	[HELPER_ADD] = {"subgroup_add", PCTL_OP_ADD, WITHIN_ALL, 0, 0},
	[HELPER_MUL] = {"subgroup_mul", PCTL_OP_MUL, WITHIN_ALL, 1, 0},
	[HELPER_MIN] = {"subgroup_min", PCTL_OP_MIN, WITHIN_ALL, 0xffffffffu, 0},
	[HELPER_SMIN] = {"subgroup_smin", PCTL_OP_MIN, WITHIN_ALL, 0x7fffffffu, 1},
	[HELPER_MAX] = {"subgroup_max", PCTL_OP_MAX, WITHIN_ALL, 0, 0},
	[HELPER_SMAX] = {"subgroup_smax", PCTL_OP_MAX, WITHIN_ALL, 0x80000000u, 1},
	[HELPER_AND] = {"subgroup_and", PCTL_OP_AND, WITHIN_ALL, 0xffffffffu, 0},
	[HELPER_OR] = {"subgroup_or", PCTL_OP_OR, WITHIN_ALL, 0, 0},
	[HELPER_XOR] = {"subgroup_xor", PCTL_OP_XOR, WITHIN_ALL, 0, 0},
	[HELPER_INCLUSIVE_ADD] = {"subgroup_inclusive_add", PCTL_OP_ADD, WITHIN_INCLUSIVE, 0, 0},
	[HELPER_INCLUSIVE_MUL] = {"subgroup_inclusive_mul", PCTL_OP_MUL, WITHIN_INCLUSIVE, 1, 0},
	[HELPER_EXCLUSIVE_ADD] = {"subgroup_exclusive_add", PCTL_OP_ADD, WITHIN_EXCLUSIVE, 0, 0},
	[HELPER_EXCLUSIVE_MUL] = {"subgroup_exclusive_mul", PCTL_OP_MUL, WITHIN_EXCLUSIVE, 1, 0},
	[HELPER_BALLOT] = {"subgroup_ballot", 0, WITHIN_ALL, 0, 0},
	[HELPER_READ] = {"subgroup_read", 0, WITHIN_ALL, 0, 0},
};

struct legal_subgroups {
	uint32_t size, invocations;
	uint32_t exchange;	      /* the workgroup variable: a word an invocation */
	uint32_t function[N_HELPERS]; /* of the new program */
	uint32_t needed;	      /* bit i: helper i */
	uint32_t kept;		      /* PCTL_SUBGROUP_* that stay */
	uint32_t is_written;
};
typedef struct legal_subgroups subgroups;

/* Are all lanes of every subgroup there? */
static int is_full(const subgroups *x)
{
	return x->invocations % x->size == 0;
}

/* Reductions and scans of full subgroups, by movements that stay. */
static int goes_by_moves(const subgroups *x, uint32_t which)
{
	return (x->kept & PCTL_SUBGROUP_MOVE) && is_full(x) && which < HELPER_BALLOT;
}

static uint32_t helper_of(uint16_t op, int is_signed)
{
	switch (op) {
	case PCTL_OP_SUBGROUP_ADD:
		return HELPER_ADD;
	case PCTL_OP_SUBGROUP_MUL:
		return HELPER_MUL;
	case PCTL_OP_SUBGROUP_MIN:
		return is_signed ? HELPER_SMIN : HELPER_MIN;
	case PCTL_OP_SUBGROUP_MAX:
		return is_signed ? HELPER_SMAX : HELPER_MAX;
	case PCTL_OP_SUBGROUP_AND:
	case PCTL_OP_SUBGROUP_ALL:
		return HELPER_AND;
	case PCTL_OP_SUBGROUP_OR:
	case PCTL_OP_SUBGROUP_ANY:
		return HELPER_OR;
	case PCTL_OP_SUBGROUP_XOR:
		return HELPER_XOR;
	case PCTL_OP_SUBGROUP_INCLUSIVE_ADD:
		return HELPER_INCLUSIVE_ADD;
	case PCTL_OP_SUBGROUP_INCLUSIVE_MUL:
		return HELPER_INCLUSIVE_MUL;
	case PCTL_OP_SUBGROUP_EXCLUSIVE_ADD:
		return HELPER_EXCLUSIVE_ADD;
	case PCTL_OP_SUBGROUP_EXCLUSIVE_MUL:
		return HELPER_EXCLUSIVE_MUL;
	case PCTL_OP_SUBGROUP_BALLOT:
		return HELPER_BALLOT;
	case PCTL_OP_SUBGROUP_ELECT:
		return N_HELPERS; /* a lane is first or not without asking others */
	default:
		return HELPER_READ;
	}
}

static int is_signed_type(const legal *l, uint32_t type)
{
	return l->p->types[type].scalar == PCTL_SCALAR_I32;
}

/* ---- pieces of code ---- */

static uint32_t local_index(legal *l)
{
	const uint32_t which = PCTL_BUILTIN_LOCAL_INDEX;

	return legal_emit(l, PCTL_OP_BUILTIN, l->t_u32, &which, 1);
}

static uint32_t masked(legal *l, uint32_t index, uint32_t mask)
{
	const uint32_t word = legal_word(l, mask);

	return legal_emit2(l, PCTL_OP_AND, l->t_u32, index, word);
}

static uint32_t plus(legal *l, uint32_t a, uint32_t k)
{
	const uint32_t word = legal_word(l, k);

	return k ? legal_emit2(l, PCTL_OP_ADD, l->t_u32, a, word) : a;
}

static uint32_t below(legal *l, uint32_t a, uint32_t b)
{
	return legal_emit2(l, PCTL_OP_LT, l->t_bool, a, b);
}

static void barrier(legal *l)
{
	const uint32_t bits = PCTL_BARRIER_WORKGROUP;

	legal_emit(l, PCTL_OP_BARRIER, 0, &bits, 1);
}

static uint32_t load_exchange(legal *l, const subgroups *x, uint32_t index, int proven)
{
	const uint32_t id = legal_emit2(l, PCTL_OP_LOAD, l->t_u32, x->exchange, index);

	legal_keep_flags(l, id, proven ? PCTL_INST_PROVEN(0) : 0);
	return id;
}

static uint32_t load_local(legal *l, uint32_t local)
{
	return legal_emit1(l, PCTL_OP_LOAD, l->t_u32, PCTL_PLACE_LOCAL | local);
}

static void store_local(legal *l, uint32_t local, uint32_t value)
{
	legal_emit2(l, PCTL_OP_STORE, 0, value, PCTL_PLACE_LOCAL | local);
}

/* One word of everyone, put down; everyone is there. */
static void put_down(legal *l, const subgroups *x, uint32_t index, uint32_t value)
{
	const uint32_t id = legal_emit3(l, PCTL_OP_STORE, 0, value, x->exchange, index);

	legal_keep_flags(l, id, PCTL_INST_PROVEN(0));
	barrier(l);
}

/* ---- helpers ---- */

/* What the functions below share of the one being written. */
typedef struct open_helper {
	const struct helper *h;
	uint32_t which;
	uint32_t first;	 /* value: local index of lane 0 */
	uint32_t own;	 /* value: the lane */
	uint32_t result; /* local */
} open_helper;

static uint32_t combine(legal *l, const struct helper *h, uint32_t a, uint32_t b)
{
	if (h->is_signed) {
		a = legal_emit1(l, PCTL_OP_BITCAST, l->t_i32, a);
		b = legal_emit1(l, PCTL_OP_BITCAST, l->t_i32, b);
		a = legal_emit2(l, h->op, l->t_i32, a, b);
		return legal_emit1(l, PCTL_OP_BITCAST, l->t_u32, a);
	}
	return legal_emit2(l, h->op, l->t_u32, a, b);
}

/* Take lane `lane` (a value) in: where it is one of those the result is over, and where it is there. */
static void take(legal *l, const subgroups *x, const open_helper *o, uint32_t lane)
{
	const uint32_t index = legal_emit2(l, PCTL_OP_ADD, l->t_u32, o->first, lane);
	const uint32_t before = load_local(l, o->result);
	uint32_t value, after;

	value = load_exchange(l, x, index, is_full(x));
	if (o->which == HELPER_BALLOT) {
		const uint32_t place = masked(l, lane, 31);

		value = legal_emit2(l, PCTL_OP_SHL, l->t_u32, value, place);
		after = legal_emit2(l, PCTL_OP_OR, l->t_u32, before, value);
	} else {
		after = combine(l, o->h, before, value);
	}
	if (o->h->within != WITHIN_ALL) {
		const uint32_t taken =
			o->h->within == WITHIN_EXCLUSIVE
				? below(l, lane, o->own)
				: legal_emit2(l, PCTL_OP_LE, l->t_bool, lane, o->own);

		after = legal_emit3(l, PCTL_OP_SELECT, l->t_u32, taken, after, before);
	} else if (!is_full(x)) {
		const uint32_t end = legal_word(l, x->invocations), there = below(l, index, end);

		after = legal_emit3(l, PCTL_OP_SELECT, l->t_u32, there, after, before);
	}
	store_local(l, o->result, after);
}

/* Take the lanes from..end in, some of them a turn. */
static void take_all(legal *l, const subgroups *x, const open_helper *o, uint32_t from,
		     uint32_t end, uint32_t counter)
{
	const uint32_t each = end - from < UNROLLED ? end - from : UNROLLED;
	uint32_t word, lane;

	if (each == end - from) {
		for (uint32_t i = from; i < end; i++) {
			lane = legal_word(l, i);
			take(l, x, o, lane);
		}
		return;
	}
	word = legal_word(l, from);
	store_local(l, counter, word);
	legal_emit(l, PCTL_OP_LOOP, 0, NULL, 0);
	lane = load_local(l, counter);
	word = legal_word(l, end);
	lane = below(l, lane, word);
	legal_emit1(l, PCTL_OP_LOOP_TEST, 0, lane);
	for (uint32_t i = 0; i < each; i++) {
		lane = load_local(l, counter);
		lane = plus(l, lane, i);
		take(l, x, o, lane);
	}
	legal_emit(l, PCTL_OP_CONTINUING, 0, NULL, 0);
	lane = load_local(l, counter);
	lane = plus(l, lane, each);
	store_local(l, counter, lane);
	legal_emit(l, PCTL_OP_END_LOOP, 0, NULL, 0);
}

static void write_gather(legal *l, const subgroups *x, uint32_t which)
{
	open_helper o = {.h = &helpers[which], .which = which};
	const uint32_t t_u4 = pctl_build_vector(l->b, PCTL_SCALAR_U32, 4);
	const int is_ballot = which == HELPER_BALLOT;
	uint32_t counter, index, words[4], n = 0;

	pctl_build_function_begin(l->b, o.h->name, &l->t_u32, 1, is_ballot ? t_u4 : l->t_u32);
	o.result = pctl_build_local(l->b, "result", l->t_u32);
	counter = pctl_build_local(l->b, "lane", l->t_u32);
	index = local_index(l);
	o.first = masked(l, index, ~(x->size - 1));
	o.own = masked(l, index, x->size - 1);
	put_down(l, x, index, 0); /* value 0 is the parameter */
	for (uint32_t from = 0; from < x->size; from += is_ballot ? 32 : x->size) {
		const uint32_t end = is_ballot && x->size - from > 32 ? from + 32 : x->size;
		const uint32_t start = legal_word(l, o.h->start);

		store_local(l, o.result, start);
		take_all(l, x, &o, from, end, counter);
		words[n++] = load_local(l, o.result);
	}
	barrier(l);
	while (is_ballot && n < 4)
		words[n++] = legal_word(l, 0);
	if (is_ballot)
		words[0] = legal_emit(l, PCTL_OP_COMPOSE, t_u4, words, 4);
	legal_emit1(l, PCTL_OP_RETURN, 0, words[0]);
}

static uint32_t moved(legal *l, const subgroups *x, uint16_t op, uint32_t value, uint32_t by)
{
	const uint32_t args[3] = {value, legal_word(l, by), x->size};

	return legal_emit(l, op, l->t_u32, args, 3);
}

/* `value` in the lanes from `end` on, `other` below. */
static uint32_t from_lane(legal *l, uint32_t own, uint32_t end, uint32_t value, uint32_t other)
{
	const uint32_t word = legal_word(l, end), is_below = below(l, own, word);

	return legal_emit3(l, PCTL_OP_SELECT, l->t_u32, is_below, other, value);
}

/* In as many steps as the size has doublings: over all lanes with the one across, else with the one below. */
static void write_by_moves(legal *l, const subgroups *x, uint32_t which)
{
	const struct helper *h = &helpers[which];
	uint32_t index, own, other, both, sum = 0; /* value 0 is the parameter */

	pctl_build_function_begin(l->b, h->name, &l->t_u32, 1, l->t_u32);
	index = local_index(l);
	own = masked(l, index, x->size - 1);
	for (uint32_t by = 1; by < x->size; by *= 2) {
		other = moved(l, x,
			      h->within == WITHIN_ALL ? PCTL_OP_SUBGROUP_SHUFFLE_XOR
						      : PCTL_OP_SUBGROUP_SHUFFLE_UP,
			      sum, by);
		both = combine(l, h, sum, other);
		sum = h->within == WITHIN_ALL ? both : from_lane(l, own, by, both, sum);
	}
	if (h->within == WITHIN_EXCLUSIVE) {
		other = legal_word(l, h->start);
		sum = moved(l, x, PCTL_OP_SUBGROUP_SHUFFLE_UP, sum, 1);
		sum = from_lane(l, own, 1, sum, other);
	}
	legal_emit1(l, PCTL_OP_RETURN, 0, sum);
}

/* A lane that is none has an index past the end, and what is loaded there is zero. */
static void write_read(legal *l, const subgroups *x)
{
	const uint32_t params[2] = {l->t_u32, l->t_u32};
	uint32_t index, first, there, at, nowhere;

	pctl_build_function_begin(l->b, helpers[HELPER_READ].name, params, 2, l->t_u32);
	index = local_index(l);
	put_down(l, x, index, 0);
	first = masked(l, index, ~(x->size - 1));
	at = legal_emit2(l, PCTL_OP_ADD, l->t_u32, first, 1); /* value 1 is the lane */
	nowhere = legal_word(l, x->size);
	there = below(l, 1, nowhere);
	nowhere = legal_word(l, 0xffffffffu);
	at = legal_emit3(l, PCTL_OP_SELECT, l->t_u32, there, at, nowhere);
	at = load_exchange(l, x, at, 0);
	barrier(l);
	legal_emit1(l, PCTL_OP_RETURN, 0, at);
}

/* Before the first function of the program is rebuilt: all variables stand by then, and callees come first. */
static int write_helpers(legal *l)
{
	subgroups *x = l->subgroups;
	int through_memory = 0;
	pctl_var v = {.space = PCTL_SPACE_WORKGROUP, .access = PCTL_ACCESS_READ_WRITE};

	if (x->is_written)
		return 1;
	x->is_written = 1;
	if (!x->needed)
		return 1;
	for (uint32_t i = 0; i < N_HELPERS; i++)
		through_memory |= (x->needed >> i & 1) && !goes_by_moves(x, i);
	if (through_memory) {
		v.type = pctl_build_array(l->b, l->t_u32, x->invocations, 0);
		x->exchange = pctl_build_var(l->b, &v, "subgroup_exchange");
	}
	for (uint32_t i = 0; i < N_HELPERS; i++) {
		if (!(x->needed >> i & 1))
			continue;
		if (i == HELPER_READ)
			write_read(l, x);
		else if (goes_by_moves(x, i))
			write_by_moves(l, x, i);
		else
			write_gather(l, x, i);
		x->function[i] = pctl_build_function_end(l->b);
		l->new_function = x->function[i] + 1;
	}
	return 1;
}

/* ---- uses ---- */

/* The lane that a movement reads, as a u32 that is no lane's number where there is none. */
static uint32_t lane_of(legal *l, const pctl_inst *in)
{
	const uint32_t size = l->subgroups->size;
	const uint32_t index = local_index(l), own = masked(l, index, size - 1);
	uint32_t by, there, lane, none;

	if (in->op == PCTL_OP_SUBGROUP_BROADCAST)
		return legal_word(l, pctl_arg(l->p, in, 1));
	by = l->values[pctl_arg(l->p, in, 1)].id[0];
	switch (in->op) {
	case PCTL_OP_SUBGROUP_SHUFFLE:
		return by;
	case PCTL_OP_SUBGROUP_SHUFFLE_XOR:
		return legal_emit2(l, PCTL_OP_XOR, l->t_u32, own, by);
	case PCTL_OP_SUBGROUP_SHUFFLE_UP:
		there = legal_emit2(l, PCTL_OP_LE, l->t_bool, by, own);
		lane = legal_emit2(l, PCTL_OP_SUB, l->t_u32, own, by);
		break;
	default: /* SHUFFLE_DOWN; the sum of two lanes does not wrap */
		none = legal_word(l, size);
		there = below(l, by, none);
		lane = legal_emit2(l, PCTL_OP_ADD, l->t_u32, own, by);
		break;
	}
	none = legal_word(l, size);
	return legal_emit3(l, PCTL_OP_SELECT, l->t_u32, there, lane, none);
}

static uint32_t ask(legal *l, uint32_t which, uint32_t value, uint32_t lane)
{
	const uint32_t args[3] = {l->subgroups->function[which], value, lane};
	const uint32_t type =
		which == HELPER_BALLOT ? pctl_build_vector(l->b, PCTL_SCALAR_U32, 4) : l->t_u32;

	return legal_emit(l, PCTL_OP_CALL, type, args, which == HELPER_READ ? 3 : 2);
}

static uint32_t elect(legal *l)
{
	const uint32_t index = local_index(l), own = masked(l, index, l->subgroups->size - 1);
	const uint32_t zero = legal_word(l, 0);

	return legal_emit2(l, PCTL_OP_EQ, l->t_bool, own, zero);
}

static uint32_t vote(legal *l, const pctl_inst *in, uint32_t which)
{
	const uint32_t zero = legal_word(l, 0);
	uint32_t id = l->values[pctl_arg(l->p, in, 0)].id[0];

	id = legal_emit1(l, PCTL_OP_CAST, l->t_u32, id);
	id = ask(l, which, id, 0);
	return which == HELPER_BALLOT ? id : legal_emit2(l, PCTL_OP_NE, l->t_bool, id, zero);
}

/* Component by component, as words. */
static uint32_t exchange(legal *l, const pctl_inst *in, uint32_t which)
{
	const pctl_type *t = &l->p->types[in->type];
	const uint32_t width = t->kind == PCTL_TYPE_VECTOR ? t->width : 1;
	const uint32_t scalar = pctl_build_scalar(l->b, t->scalar);
	const uint32_t value = l->values[pctl_arg(l->p, in, 0)].id[0];
	const uint32_t lane = which == HELPER_READ ? lane_of(l, in) : 0;
	uint32_t parts[4] = {0};

	for (uint32_t i = 0; i < width; i++) {
		parts[i] = width > 1 ? legal_emit2(l, PCTL_OP_EXTRACT, scalar, value, i) : value;
		if (scalar != l->t_u32)
			parts[i] = legal_emit1(l, PCTL_OP_BITCAST, l->t_u32, parts[i]);
		parts[i] = ask(l, which, parts[i], lane);
		if (scalar != l->t_u32)
			parts[i] = legal_emit1(l, PCTL_OP_BITCAST, scalar, parts[i]);
	}
	return width > 1 ? legal_emit(l, PCTL_OP_COMPOSE, legal_type(l, in->type), parts, width)
			 : parts[0];
}

static void instruction(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint32_t kind = pctl_legal_subgroup_kind(in->op);
	uint32_t which;

	if (!kind || (kind & l->subgroups->kept)) {
		legal_int64_rules.instruction(l, v, in);
		return;
	}
	which = helper_of(in->op, is_signed_type(l, in->type));
	switch (in->op) {
	case PCTL_OP_SUBGROUP_ELECT:
		l->values[v].id[0] = elect(l);
		break;
	case PCTL_OP_SUBGROUP_ALL:
	case PCTL_OP_SUBGROUP_ANY:
	case PCTL_OP_SUBGROUP_BALLOT:
		l->values[v].id[0] = vote(l, in, which);
		break;
	default:
		l->values[v].id[0] = exchange(l, in, which);
		break;
	}
}

static uint32_t helpers_needed(const pctl_program *p, uint32_t kept)
{
	uint32_t needed = 0;

	for (uint32_t i = 0; i < p->n_insts; i++) {
		const pctl_inst *in = &p->insts[i];
		const uint32_t kind = pctl_legal_subgroup_kind(in->op);
		uint32_t which;

		if (!kind || (kind & kept))
			continue;
		which = helper_of(in->op, p->types[in->type].scalar == PCTL_SCALAR_I32);
		needed |= which < N_HELPERS ? 1u << which : 0;
	}
	return needed;
}

uint32_t pctl_legal_subgroup_kind(uint16_t op)
{
	if (op >= PCTL_OP_SUBGROUP_ADD && op <= PCTL_OP_SUBGROUP_XOR)
		return PCTL_SUBGROUP_REDUCE;
	if (op >= PCTL_OP_SUBGROUP_INCLUSIVE_ADD && op <= PCTL_OP_SUBGROUP_EXCLUSIVE_MUL)
		return PCTL_SUBGROUP_SCAN;
	if (op >= PCTL_OP_SUBGROUP_BROADCAST && op <= PCTL_OP_SUBGROUP_SHUFFLE_DOWN)
		return PCTL_SUBGROUP_MOVE;
	return pctl_op_get(op)->kind == PCTL_OPKIND_subgroup ? PCTL_SUBGROUP_VOTE : 0;
}

uint32_t pctl_legal_subgroup_kinds(const pctl_program *p)
{
	uint32_t kinds = 0;

	for (uint32_t i = 0; i < p->n_insts; i++)
		kinds |= pctl_legal_subgroup_kind(p->insts[i].op);
	return kinds;
}

int pctl_legal_subgroups_fit(const pctl_program *p, const pctl_device_caps *caps)
{
	const uint32_t *n = p->entries[0].workgroup_size, size = pctl_program_subgroup_size(p);
	const uint32_t own = caps->subgroup_size ? caps->subgroup_size : size;

	return (caps->caps & PCTL_CAP_SUBGROUPS) && size && own % size == 0 &&
	       (uint64_t)n[0] * n[1] * n[2] % own == 0;
}

uint64_t pctl_legal_workgroup_bytes(const pctl_program *p, uint32_t exact)
{
	const uint32_t *size = p->entries[0].workgroup_size;
	const uint64_t tiles = p->caps & PCTL_CAP_TILES ? legal_tile_bytes(p, exact) : 0;

	if (!(p->caps & PCTL_CAP_SUBGROUPS) || !helpers_needed(p, 0))
		return tiles;
	return (uint64_t)size[0] * size[1] * size[2] * 4 + tiles;
}

pctl_status legal_subgroup_pass(const pctl_program *p, uint32_t kept, const pctl_call *call,
				pctl_program **out)
{
	const uint32_t *size = p->entries[0].workgroup_size;
	subgroups x = {.size = pctl_program_subgroup_size(p),
		       .invocations = size[0] * size[1] * size[2],
		       .needed = helpers_needed(p, kept),
		       .kept = kept};
	legal_rules rules = legal_int64_rules;
	legal l = {.call = call, .subgroups = &x};

	rules.instruction = instruction;
	rules.plan = write_helpers;
	return legal_rebuild(&l, p, &rules, 0, NULL, out);
}
