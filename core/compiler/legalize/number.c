/* Value numbering: what was computed where it is still seen is not computed again. Structured control makes it one walk: a
 * value is seen to the end of its region, and what a table holds of a region is taken out at its end. Loads from variables of
 * the function are one until the next store, those from memory only where nobody writes. x + 0 and the like are x.
 *
 * What a device is given is measured anew (compiler/analysis/extents.h), by comparisons of loads: so a load stays a load behind
 * a store, and behind a way out of a loop, which says more of the local than was known before.
 *
 * Nothing is carried over a barrier: what lives across one is kept for each invocation on a device that runs them one after
 * the other (plugins/opencl), and to compute it again is cheaper. */
#include "compiler/legalize/legal_parts.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/ir/tables.h"
#include "compiler/legalize/pure.h"

#define KEY_WORDS 16u	       /* longer instructions are left alone */
#define MOST_STATES (1u << 22) /* of locals that are kept for open regions */
#define BUCKETS 4096u

typedef struct entry {
	uint32_t value, hash, next /* 1 + entry */, epoch, key, n_key;
} entry;

/* What a local holds. version: another one after each store */
typedef struct held {
	uint32_t value; /* 1 + the load of it that was last, 0: none */
	uint32_t epoch; /* of that load */
	uint32_t version;
} held;

typedef struct open_region {
	uint32_t start; /* what opened it */
	uint32_t n_entries, n_keys;
	uint32_t jumps; /* a jump stands in it */
} open_region;

typedef struct legal_numberer {
	const pctl_program *p;
	legal_purity purity;
	const pctl_function *fn;
	uint32_t *
		same; /* by instruction of the program: the value of its function that stands for it */
	uint32_t n;	/* values that another one stands for, but for constants */
	entry *entries; /* as many as instructions, at most; keys: their words */
	uint32_t *keys;
	uint32_t n_entries, n_keys;
	uint32_t buckets[BUCKETS];
	held *held, *kept; /* by local now, and as each open region found them */
	uint32_t n_held;   /* locals that are followed */
	open_region open[PCTL_REGION_DEPTH_MAX + 1];
	uint32_t depth, epoch, version;
} numberer;

static const pctl_inst *inst(const numberer *x, uint32_t v)
{
	return &x->p->insts[x->fn->first_inst + v];
}

static uint32_t same(const numberer *x, uint32_t v)
{
	return x->same[x->fn->first_inst + v];
}

/* ---- locals ------------------------------------------------------------------------------- */

static int is_followed(const numberer *x, const pctl_inst *in, pctl_place *place)
{
	return pctl_place_get(x->p, x->fn, in, place) && (place->root & PCTL_PLACE_LOCAL) &&
	       (place->root & ~PCTL_PLACE_LOCAL) < x->n_held;
}

static held *held_at(numberer *x, const pctl_place *place)
{
	return &x->held[place->root & ~PCTL_PLACE_LOCAL];
}

static void forget(numberer *x, held *h)
{
	*h = (held){.version = ++x->version};
}

/* What was loaded so far is loaded again. */
static void forget_loads(numberer *x)
{
	for (uint32_t i = 0; i < x->n_held; i++)
		x->held[i].value = 0;
}

static void forget_stored(numberer *x, uint32_t from, uint32_t to)
{
	pctl_place place;

	for (uint32_t v = from; v < to && x->n_held; v++)
		if (inst(x, v)->op == PCTL_OP_STORE && is_followed(x, inst(x, v), &place))
			forget(x, held_at(x, &place));
}

static void store(numberer *x, const pctl_inst *in)
{
	pctl_place place;

	if (is_followed(x, in, &place))
		forget(x, held_at(x, &place));
}

/* ---- regions ------------------------------------------------------------------------------ */

static held *kept_at(numberer *x, uint32_t depth)
{
	return x->kept + (size_t)depth * x->n_held;
}

static void open(numberer *x, uint32_t v)
{
	x->open[++x->depth] =
		(open_region){.start = v, .n_entries = x->n_entries, .n_keys = x->n_keys};
	memcpy(kept_at(x, x->depth), x->held, x->n_held * sizeof(*x->held));
}

/* The end of a region, perhaps the beginning of another one of the same construct. */
static void leave(numberer *x)
{
	const open_region *r = &x->open[x->depth];

	while (x->n_entries > r->n_entries) {
		const entry *e = &x->entries[--x->n_entries];

		x->buckets[e->hash % BUCKETS] = e->next;
	}
	x->n_keys = r->n_keys;
	memcpy(x->held, kept_at(x, x->depth), x->n_held * sizeof(*x->held));
}

static void control(numberer *x, uint32_t v, uint16_t op)
{
	uint32_t end;

	switch (op) {
	case PCTL_OP_LOOP:
		end = legal_loop_end(x->p, x->fn, v);
		forget_stored(x, v, end);
		/* The next turn begins behind its barriers. */
		for (uint32_t i = v; i < end; i++)
			x->epoch += (uint32_t)legal_waits(&x->purity, inst(x, i));
		open(x, v);
		break;
	case PCTL_OP_IF:
	case PCTL_OP_SWITCH:
	case PCTL_OP_BLOCK:
		open(x, v);
		break;
	case PCTL_OP_ELSE:
	case PCTL_OP_CASE:
		leave(x);
		break;
	case PCTL_OP_LOOP_TEST:
	case PCTL_OP_CONTINUING:
		/* Jumps arrive at what follows, with what they stored on their way. */
		leave(x);
		forget_stored(x, x->open[x->depth].start, v);
		break;
	case PCTL_OP_END_IF:
	case PCTL_OP_END_SWITCH:
	case PCTL_OP_END_BLOCK:
	case PCTL_OP_END_LOOP:
		leave(x);
		forget_stored(x, x->open[x->depth].start, v);
		if (x->open[x->depth].jumps)
			forget_loads(x);
		x->open[x->depth - 1].jumps |= x->open[x->depth].jumps;
		x->depth--;
		break;
	case PCTL_OP_BREAK:
	case PCTL_OP_CONTINUE:
	case PCTL_OP_RETURN:
		x->open[x->depth].jumps = 1;
		break;
	default:
		break;
	}
}

/* ---- numbers ------------------------------------------------------------------------------ */

static int is_commutative(uint16_t op)
{
	return op == PCTL_OP_ADD || op == PCTL_OP_MUL || op == PCTL_OP_AND || op == PCTL_OP_OR ||
	       op == PCTL_OP_XOR || op == PCTL_OP_MIN || op == PCTL_OP_MAX || op == PCTL_OP_EQ ||
	       op == PCTL_OP_NE;
}

/* What an instruction is, in words: those that are equal give the same value. 0: too long. */
static uint32_t key_of(numberer *x, const pctl_inst *in, uint32_t *key)
{
	const legal view = {.p = x->p, .fn = x->fn};
	legal_operands o = {.l = &view, .in = in};
	const uint32_t first = 3;
	uint32_t i, value;
	pctl_place place;

	if (in->n_args + first > KEY_WORDS)
		return 0;
	key[0] = in->op;
	key[1] = in->type;
	key[2] = is_followed(x, in, &place) ? held_at(x, &place)->version : 0;
	for (i = 0; i < in->n_args; i++)
		key[first + i] = pctl_arg(x->p, in, i);
	while (legal_next_operand(&o, &i, &value))
		key[first + i] = same(x, value);
	if (is_commutative(in->op) && key[first] > key[first + 1]) {
		value = key[first];
		key[first] = key[first + 1];
		key[first + 1] = value;
	}
	return first + in->n_args;
}

static uint32_t hash_of(const uint32_t *key, uint32_t n)
{
	uint32_t hash = 2166136261u;

	for (uint32_t i = 0; i < n; i++)
		hash = (hash ^ key[i]) * 16777619u;
	return hash ^ hash >> 15;
}

/* A value that is seen here and equal; else this one, which is found from here on. */
static uint32_t look_up(numberer *x, uint32_t v, uint32_t purity)
{
	uint32_t key[KEY_WORDS];
	const uint32_t n = key_of(x, inst(x, v), key), hash = hash_of(key, n);
	uint32_t *bucket = &x->buckets[hash % BUCKETS];
	entry *e;

	for (uint32_t i = *bucket; i && n; i = x->entries[i - 1].next) {
		e = &x->entries[i - 1];
		if (e->hash == hash && e->n_key == n &&
		    (e->epoch == x->epoch || purity == LEGAL_CONSTANT) &&
		    memcmp(x->keys + e->key, key, n * sizeof(*key)) == 0)
			return e->value;
	}
	if (!n)
		return v;
	memcpy(x->keys + x->n_keys, key, n * sizeof(*key));
	e = &x->entries[x->n_entries++];
	*e = (entry){.value = v,
		     .hash = hash,
		     .next = *bucket,
		     .epoch = x->epoch,
		     .key = x->n_keys,
		     .n_key = n};
	x->n_keys += n;
	*bucket = x->n_entries;
	return v;
}

static int is_number(const numberer *x, uint32_t v, uint32_t number)
{
	const pctl_inst *in = inst(x, v);

	if (in->op == PCTL_OP_ZERO)
		return number == 0;
	return in->op == PCTL_OP_CONST && pctl_arg(x->p, in, 0) == number &&
	       pctl_arg(x->p, in, 1) == 0;
}

/* x of x + 0, x * 1 and the like; v itself where it is none. Integers only. */
static uint32_t simpler(const numberer *x, uint32_t v)
{
	const pctl_inst *in = inst(x, v);
	const uint16_t op = in->op;
	uint32_t number = 0, a, b;

	switch (op) {
	case PCTL_OP_MUL:
		number = 1;
		break;
	case PCTL_OP_ADD:
	case PCTL_OP_SUB:
	case PCTL_OP_OR:
	case PCTL_OP_XOR:
	case PCTL_OP_SHL:
	case PCTL_OP_SHR:
		break;
	default:
		return v;
	}
	a = pctl_arg(x->p, in, 0);
	b = pctl_arg(x->p, in, 1);
	if (is_number(x, b, number))
		return same(x, a);
	return is_commutative(op) && is_number(x, a, number) ? same(x, b) : v;
}

static uint32_t number(numberer *x, uint32_t v, uint32_t purity)
{
	const pctl_inst *in = inst(x, v);
	const uint32_t other = simpler(x, v);
	pctl_place place;
	held *h;

	if (other != v)
		return other;
	if (purity != LEGAL_OF_LOCAL)
		return look_up(x, v, purity);
	if (!is_followed(x, in, &place))
		return v;
	if (place.n_chain)
		return look_up(x, v, purity);
	h = held_at(x, &place);
	if (h->value && h->epoch == x->epoch)
		return h->value - 1;
	h->value = v + 1;
	h->epoch = x->epoch;
	return v;
}

static void instruction_number(numberer *x, uint32_t v)
{
	const pctl_inst *in = inst(x, v);
	const uint32_t purity = in->type ? legal_purity_of(&x->purity, x->fn, in) : LEGAL_EFFECT;
	uint32_t *out = &x->same[x->fn->first_inst + v];

	*out = v;
	if (purity != LEGAL_EFFECT)
		*out = number(x, v, purity);
	x->n += *out != v && purity != LEGAL_CONSTANT;
	if (in->op == PCTL_OP_STORE)
		store(x, in);
	x->epoch += (uint32_t)legal_waits(&x->purity, in);
	control(x, v, in->op);
}

/* 0: no memory. Where there would be too much to keep of them, locals are not followed. */
static int function(numberer *x, const pctl_function *fn)
{
	uint32_t depth = 0, deepest = 0;

	for (uint32_t v = 0; v < fn->n_insts; v++) {
		const uint16_t op = x->p->insts[fn->first_inst + v].op;

		depth += op == PCTL_OP_LOOP || op == PCTL_OP_IF || op == PCTL_OP_SWITCH ||
			 op == PCTL_OP_BLOCK;
		depth -= op == PCTL_OP_END_LOOP || op == PCTL_OP_END_IF ||
			 op == PCTL_OP_END_SWITCH || op == PCTL_OP_END_BLOCK;
		deepest = depth > deepest ? depth : deepest;
	}
	x->fn = fn;
	x->n_held = fn->n_locals > MOST_STATES / (deepest + 1) ? 0 : fn->n_locals;
	free(x->kept);
	x->kept = calloc((size_t)x->n_held * (deepest + 1) + 1, sizeof(*x->kept));
	if (!x->kept)
		return 0;
	memset(x->buckets, 0, sizeof(x->buckets));
	x->n_entries = x->n_keys = x->depth = 0;
	x->epoch++;
	for (uint32_t i = 0; i < x->n_held; i++)
		forget(x, &x->held[i]);
	for (uint32_t v = 0; v < fn->n_insts; v++)
		instruction_number(x, v);
	return 1;
}

/* ---- writing ------------------------------------------------------------------------------ */

static void instruction(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint32_t other = l->numberer->same[l->fn->first_inst + v];

	if (other == v)
		legal_int64_rules.instruction(l, v, in);
	else
		l->values[v] = l->values[other];
}

pctl_status legal_number_pass(const pctl_program *p, const pctl_call *call, pctl_program **out)
{
	legal_rules rules = legal_int64_rules;
	numberer *x = calloc(1, sizeof(*x));
	legal l = {.call = call, .numberer = x};
	pctl_status status = PCTL_OK;

	*out = NULL;
	rules.instruction = instruction;
	if (!x)
		return pctl_no_memory(call, "legalising a program");
	x->p = p;
	x->same = calloc(p->n_insts + 1u, sizeof(*x->same));
	x->entries = calloc(p->n_insts + 1u, sizeof(*x->entries));
	x->keys = calloc(p->n_words + 3u * (size_t)p->n_insts + 1u, sizeof(*x->keys));
	x->held = calloc(p->n_locals + 1u, sizeof(*x->held));
	if (!legal_purity_open(&x->purity, p) || !x->same || !x->entries || !x->keys || !x->held)
		status = pctl_no_memory(call, "legalising a program");
	for (uint32_t f = 1; f < p->n_functions && status == PCTL_OK; f++)
		if (!function(x, &p->functions[f]))
			status = pctl_no_memory(call, "legalising a program");
	if (status == PCTL_OK && x->n)
		status = legal_rebuild(&l, p, &rules, 0, NULL, out);
	legal_purity_close(&x->purity);
	free(x->same);
	free(x->entries);
	free(x->keys);
	free(x->held);
	free(x->kept);
	free(x);
	return status;
}
