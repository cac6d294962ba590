/* Laws of transformer.rope, and the problems that they are tried on. */
#include "common/tensors/exact_reference.h"
#include "parts.h"
#include "rope.h"

enum { X, TABLE, START, COUNT };

static rope rope_of_law(const kit_law *l)
{
	rope r;

	(void)rope_of(&l->use, &r);
	return r;
}

static uint32_t use_with(kit_law *l, const uint32_t *in, uint32_t n_in)
{
	return kit_law_use(l, l->use.op->desc.name, in, n_in, l->use.q->attr, 1, 1);
}

/* Each row of it is 1 and +0 in every pair. */
void rope_law_unturned(kit_law *l)
{
	const rope r = rope_of_law(l);
	const pctl_tensor_type *x = &l->use.q->in[X];
	const uint64_t n = r.s.positions * r.pairs, bytes = kit_dtype_bytes(x->dtype);
	const uint32_t y = kit_law_out(l, 2); /* the first round makes the table, then this */

	if (l->c->round == 0) {
		float *table = kit_law_scratch(l, 8 * n + 8);
		uint32_t in[4] = {X, 0, START, COUNT};

		for (uint64_t i = 0; i < n && table != NULL; i++)
			table[2 * i] = 1;
		if (table != NULL)
			in[TABLE] = kit_law_tensor(l, &l->use.q->in[TABLE], table);
		kit_law_free(l, table);
		(void)use_with(l, in, l->use.q->n_in);
		kit_law_again(l);
		return;
	}
	for (uint64_t i = 0; i < kit_elements(x) && l->status == PCTL_OK; i++) {
		const uint64_t token = i / r.d / r.h, b = token / r.s.t, head = i / r.d * r.d;
		const uint64_t want = tensor_get(kit_law_data(l, X), i, bytes),
			       got = tensor_get(kit_law_data(l, y), i, bytes);
		const uint64_t real = r.s.count == SEQUENCES_NONE
					      ? r.s.t
					      : tensor_get(kit_law_data(l, COUNT), b, 4);
		int plain = 1;

		for (uint64_t e = 0; e < r.d;
		     e++) { /* an infinity times +0 is NaN, in the pair's other half */
			const double v = tensor_value(x->dtype, kit_law_data(l, X), head + e);

			plain &= v - v == 0;
		}
		if (plain && token % r.s.t < real && got != want &&
		    tensor_value(x->dtype, kit_law_data(l, X), i) != 0)
			kit_law_broken(l, "y", i, got, want);
	}
	kit_law_holds(l);
}

/* A row in front of the table, which is its last. */
void rope_law_moved(kit_law *l)
{
	const rope r = rope_of_law(l);
	const uint64_t row = 8 * r.pairs;
	pctl_tensor_type t = l->use.q->in[TABLE];
	uint8_t *table = kit_law_scratch(l, (r.s.positions + 1) * row + 1);
	uint32_t in[4] = {X, 0, 0, COUNT};

	if (table == NULL || r.s.positions == 0) {
		kit_law_free(l, table);
		return;
	}
	memcpy(table, kit_law_data(l, TABLE) + (r.s.positions - 1) * row, row);
	memcpy(table + row, kit_law_data(l, TABLE), r.s.positions * row);
	t.dim[0]++;
	in[TABLE] = kit_law_tensor(l, &t, table);
	kit_law_free(l, table);
	in[START] = part_moved(l, START, 1);
	kit_law_equal(l, use_with(l, in, l->use.q->n_in), kit_law_out(l, 0));
}

/* Without a count: of a token that is not real y has +0. */
void rope_law_token(kit_law *l)
{
	const rope r = rope_of_law(l);
	const uint32_t last = (uint32_t)r.s.t - 1;
	uint32_t in[3] = {0, TABLE, 0};

	if (r.s.t < 2 || r.s.count != SEQUENCES_NONE)
		return;
	in[X] = part_of(l, X, 1, last, 1);
	in[START] = part_moved(l, START, last);
	kit_law_equal(l, use_with(l, in, 3), part_of(l, kit_law_out(l, 0), 1, last, 1));
}

void rope_law_sequence(kit_law *l)
{
	const rope r = rope_of_law(l);
	uint32_t in[4] = {0, TABLE, 0, 0};

	if (r.s.n < 2)
		return;
	in[X] = part_of(l, X, 0, r.s.n - 1, 1);
	in[START] = part_of(l, START, 0, r.s.n - 1, 1);
	if (r.s.count != SEQUENCES_NONE)
		in[COUNT] = part_of(l, COUNT, 0, r.s.n - 1, 1);
	kit_law_equal(l, use_with(l, in, l->use.q->n_in),
		      part_of(l, kit_law_out(l, 0), 0, r.s.n - 1, 1));
}

typedef struct order {
	uint64_t d, pairs;
	int to_halves;
} order;

/* Element e of a head in the other pairing's order. */
static uint64_t ordered(const void *ctx, uint64_t i)
{
	const order *o = ctx;
	const uint64_t e = i % o->d, head = i - e;

	if (e >= 2 * o->pairs)
		return i;
	return head + (o->to_halves ? e % o->pairs * 2 + e / o->pairs : e % 2 * o->pairs + e / 2);
}

void rope_law_paired(kit_law *l)
{
	const rope r = rope_of_law(l);
	const int halves = strcmp(kit_law_attr(l, "pairing"), "halves") == 0;
	const order o = {r.d, r.pairs, !halves};
	const pctl_attr attr = {"pairing", halves ? "neighbours" : "halves", 0};
	const uint32_t y = kit_law_out(l, 0);
	uint32_t in[4] = {0, TABLE, START, COUNT};

	in[X] = tensor_law_taken(l, &l->use.q->in[X], X, ordered, &o);
	kit_law_equal(l, kit_law_use(l, l->use.op->desc.name, in, l->use.q->n_in, &attr, 1, 1),
		      tensor_law_taken(l, &l->use.q->in[X], y, ordered, &o));
}

/* The table is long enough for all tokens of a problem, so that they can be taken as real. */
void rope_law_padding(kit_law *l)
{
	const rope r = rope_of_law(l);
	const uint64_t row = r.h * r.d * kit_dtype_bytes(l->use.q->in[X].dtype);
	const uint32_t y = kit_law_out(l, 0), all = y + 1;
	const uint32_t in[3] = {X, TABLE, START};

	if (r.s.count == SEQUENCES_NONE)
		return;
	for (uint64_t b = 0; b < r.s.n; b++)
		if (tensor_get(kit_law_data(l, START), b, 4) + r.s.t > r.s.positions)
			return;
	if (l->c->round == 0) {
		(void)use_with(l, in, 3);
		kit_law_again(l);
		return;
	}
	for (uint64_t i = 0; i < r.s.n * r.s.t && l->status == PCTL_OK; i++) {
		const int real = i % r.s.t < tensor_get(kit_law_data(l, COUNT), i / r.s.t, 4);

		for (uint64_t k = i * row; k < (i + 1) * row && l->status == PCTL_OK; k++) {
			const uint8_t want = real ? kit_law_data(l, all)[k] : 0;

			if (kit_law_data(l, y)[k] != want)
				kit_law_broken(l, "byte", k, kit_law_data(l, y)[k], want);
		}
	}
	kit_law_holds(l);
}

/* ---- problems ------------------------------------------------------------------------------- */

void rope_problem(kit_problem *p)
{
	/* b, t, h, d, pairs, positions */
	static const uint64_t shapes[][6] = {{1, 1, 2, 8, 4, 9}, {2, 3, 1, 6, 2, 8},
					     {3, 5, 2, 5, 2, 5}, {1, 2, 1, 80, 40, 300},
					     {2, 0, 2, 4, 2, 3}, {2, 4, 3, 2, 1, 64}};
	static const uint32_t kinds[] = {TENSOR_SMALL, TENSOR_BITS, TENSOR_EDGES};
	const uint64_t *s = shapes[p->number % 6], v = p->number / 6;
	const pctl_tensor_type x = {p->dtype, 4, {s[0], s[1], s[2], s[3]}};
	const pctl_tensor_type table = {PCTL_SCALAR_F32, 3, {s[5], s[4], 2}};
	const sequences q = {s[0], s[1], s[5], START, v % 2 == 0 ? SEQUENCES_NONE : COUNT};

	kit_problem_attr_text(p, 0, v / 2 % 2 == 0 ? "halves" : "neighbours");
	tensor_problem_fill(p, X, &x, kinds[v % 3]);
	tensor_problem_fill(p, TABLE, &table, kinds[(v + p->number) % 3]);
	sequences_problem(p, &q);
	kit_problem_rigid(p);
}
