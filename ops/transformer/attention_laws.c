/* Laws of transformer.attention, and the problems that they are tried on. */
#include "attention.h"
#include "common/tensors/exact_reference.h"
#include "parts.h"

static const uint32_t all[] = {ATTENTION_Q,	ATTENTION_K,	 ATTENTION_V,
			       ATTENTION_START, ATTENTION_COUNT, ATTENTION_PAGES};
#define INPUTS 6u

static attention of_law(const kit_law *l)
{
	attention a;

	(void)attention_of(&l->use, &a);
	return a;
}

static uint32_t use_with(kit_law *l, const uint32_t in[INPUTS])
{
	return kit_law_use(l, l->use.op->desc.name, in, INPUTS, l->use.q->attr, ATTENTION_ATTRS, 1);
}

static uint64_t word(const kit_law *l, uint32_t tensor, uint64_t i)
{
	return tensor_get(kit_law_data(l, tensor), i, 4);
}

void attention_law_chunks(kit_law *l)
{
	const attention a = of_law(l);
	const uint32_t y = kit_law_out(l, 0);
	uint32_t in[INPUTS], real[SEQUENCES_MAX];

	if (!a.causal || a.s.n * a.h == 0)
		return;
	memcpy(in, all, sizeof(in));
	for (uint32_t i = 0; i < a.s.t; i++) {
		for (uint64_t b = 0; b < a.s.n; b++)
			real[b] = i < word(l, ATTENTION_COUNT, b);
		in[ATTENTION_Q] = part_of(l, ATTENTION_Q, 1, i, 1);
		in[ATTENTION_START] = part_moved(l, ATTENTION_START, i);
		in[ATTENTION_COUNT] = part_words(l, real, a.s.n);
		kit_law_equal(l, use_with(l, in), part_of(l, y, 1, i, 1));
	}
}

void attention_law_sequence(kit_law *l)
{
	const attention a = of_law(l);
	uint32_t in[INPUTS];

	if (a.s.n < 2)
		return;
	for (uint32_t i = 0; i < INPUTS; i++)
		in[i] = a.k.paged && (i == ATTENTION_K || i == ATTENTION_V)
				? i
				: part_of(l, i, 0, a.s.n - 1, 1);
	kit_law_equal(l, use_with(l, in), part_of(l, kit_law_out(l, 0), 0, a.s.n - 1, 1));
}

typedef struct wider {
	uint64_t n, more, inner;
} wider;

/* [o, n + more, k] out of [o, n, k]: places behind the last are the first again. */
static uint64_t again(const void *ctx, uint64_t i)
{
	const wider *w = ctx;
	const uint64_t k = i % w->inner, j = i / w->inner % (w->n + w->more),
		       o = i / w->inner / (w->n + w->more);

	return (o * w->n + j % w->n) * w->inner + k;
}

static uint32_t widened(kit_law *l, uint32_t of, uint64_t more)
{
	pctl_tensor_type t = l->c->types[of];
	const wider w = {t.dim[1], more, t.dim[2] * t.dim[3]};

	t.dim[1] += more;
	return tensor_law_taken(l, &t, of, again, &w);
}

void attention_law_padding(kit_law *l)
{
	const attention a = of_law(l);
	const uint64_t token = a.h * a.dv * kit_dtype_bytes(l->use.q->in[0].dtype);
	const uint32_t y = kit_law_out(l, 2); /* the first round makes q, then this */
	uint32_t in[INPUTS];

	if (a.s.t == 0 || a.s.n * a.h == 0)
		return;
	memcpy(in, all, sizeof(in));
	if (l->c->round == 0) {
		in[ATTENTION_Q] = widened(l, ATTENTION_Q, 1);
		(void)use_with(l, in);
		kit_law_again(l);
		return;
	}
	kit_law_equal(l, part_of(l, y, 1, 0, a.s.t), kit_law_out(l, 0));
	for (uint64_t b = 0; b < a.s.n; b++)
		for (uint64_t k = 0; k < token && l->status == PCTL_OK; k++) {
			const uint64_t at = (b * (a.s.t + 1) + a.s.t) * token + k;

			if (kit_law_data(l, y)[at] != 0)
				kit_law_broken(l, "byte", at, kit_law_data(l, y)[at], 0);
		}
}

void attention_law_paged(kit_law *l)
{
	const attention a = of_law(l);
	const uint64_t parts = a.k.capacity % 2 == 0 ? 2 : 1;
	const pctl_tensor_type list = {PCTL_SCALAR_U32, 2, {a.s.n, parts}};
	uint32_t words[2 * SEQUENCES_MAX], in[INPUTS];

	if (a.k.paged)
		return;
	for (uint32_t i = 0; i < parts * a.s.n; i++)
		words[i] = i;
	memcpy(in, all, sizeof(in));
	for (uint32_t i = ATTENTION_K; i <= ATTENTION_V; i++) {
		pctl_tensor_type t = l->use.q->in[i];

		t.dim[0] *= parts;
		t.dim[1] /= parts;
		in[i] = kit_law_tensor(l, &t, kit_law_data(l, i));
	}
	in[ATTENTION_PAGES] = kit_law_tensor(l, &list, words);
	kit_law_equal(l, use_with(l, in), kit_law_out(l, 0));
}

/* [row, head of q, e] out of [row, head of the cache, e] */
static uint64_t shared(const void *ctx, uint64_t i)
{
	const uint64_t *s = ctx; /* heads of q, group, elements */
	const uint64_t e = i % s[2], g = i / s[2] % s[0], row = i / s[2] / s[0];

	return (row * (s[0] / s[1]) + g / s[1]) * s[2] + e;
}

void attention_law_heads(kit_law *l)
{
	const attention a = of_law(l);
	uint32_t in[INPUTS];

	if (a.group < 2)
		return;
	memcpy(in, all, sizeof(in));
	for (uint32_t i = ATTENTION_K; i <= ATTENTION_V; i++) {
		pctl_tensor_type t = l->use.q->in[i];
		const uint64_t s[3] = {a.h, a.group, t.dim[3]};

		t.dim[2] = a.h;
		in[i] = tensor_law_taken(l, &t, i, shared, s);
	}
	kit_law_equal(l, use_with(l, in), kit_law_out(l, 0));
}

/* Queries of zeros, so that scores are zeros where keys are numbers. */
void attention_law_one(kit_law *l)
{
	const attention a = of_law(l);
	const pctl_tensor_type *k = &l->use.q->in[ATTENTION_K], *v = &l->use.q->in[ATTENTION_V];
	const tensor_float_format *f = tensor_float_format_of(l->use.q->in[0].dtype);
	const pctl_attr attr[] = {{"causal", "true", 1}, {"window", "1", 1}};
	const uint32_t y = kit_law_out(l, 2); /* the first round makes q, then this */
	uint32_t in[INPUTS];

	if (a.s.n * a.s.t * a.h == 0)
		return;
	memcpy(in, all, sizeof(in));
	if (l->c->round == 0) {
		void *zeros = kit_law_scratch(l, kit_law_bytes(l, ATTENTION_Q) + 1);

		if (zeros != NULL)
			in[ATTENTION_Q] = kit_law_tensor(l, &l->use.q->in[0], zeros);
		kit_law_free(l, zeros);
		(void)kit_law_use(l, l->use.op->desc.name, in, INPUTS, attr, 2, 1);
		kit_law_again(l);
		return;
	}
	for (uint64_t line = 0; line < a.s.n * a.s.t * a.h; line++) {
		const uint64_t g = line % a.h, i = line / a.h % a.s.t, b = line / a.h / a.s.t;
		const uint64_t place =
			kv_place(&a.k, l->c->tensors, b, word(l, ATTENTION_START, b) + i);
		const uint64_t row = place * a.k.heads + g / a.group;
		int plain = i < word(l, ATTENTION_COUNT, b);

		for (uint64_t e = 0; plain && e < a.d; e++) {
			const double x =
				tensor_value(k->dtype, kit_law_data(l, ATTENTION_K), row * a.d + e);

			plain = x - x == 0;
		}
		for (uint64_t e = 0; plain && e < a.dv && l->status == PCTL_OK; e++) {
			const float x = (float)tensor_value(v->dtype, kit_law_data(l, ATTENTION_V),
							    row * a.dv + e);
			const uint64_t want = x == 0 ? 0 : tensor_narrowed(x, f);
			const uint64_t got = tensor_get(kit_law_data(l, y), line * a.dv + e,
							kit_dtype_bytes(f->dtype));

			if (got != want)
				kit_law_broken(l, "y", line * a.dv + e, got, want);
		}
	}
	kit_law_holds(l);
}

typedef struct turned {
	const kit_law *l;
	uint64_t capacity, inner;
} turned;

/* Positions of a sequence that its tokens see, from the last to the first. */
static uint64_t backwards(const void *ctx, uint64_t i)
{
	const turned *t = ctx;
	const uint64_t b = i / t->inner / t->capacity, p = i / t->inner % t->capacity;
	const uint64_t end = word(t->l, ATTENTION_START, b) + word(t->l, ATTENTION_COUNT, b);

	return p < end ? (b * t->capacity + end - 1 - p) * t->inner + i % t->inner : i;
}

void attention_law_mixed(kit_law *l)
{
	const attention a = of_law(l);
	pctl_attr attr[ATTENTION_ATTRS];
	uint32_t in[INPUTS], y;

	if (a.k.paged || a.s.n * a.s.t * a.h == 0)
		return;
	memcpy(attr, l->use.q->attr, sizeof(attr));
	attr[ATTENTION_CAUSAL] = (pctl_attr){"causal", "false", 0};
	attr[ATTENTION_WINDOW] = (pctl_attr){"window", "0", 0};
	memcpy(in, all, sizeof(in));
	y = kit_law_use(l, l->use.op->desc.name, in, INPUTS, attr, ATTENTION_ATTRS, 1);
	for (uint32_t i = ATTENTION_K; i <= ATTENTION_V; i++) {
		const pctl_tensor_type *t = &l->use.q->in[i];
		const turned by = {l, a.k.capacity, t->dim[2] * t->dim[3]};

		in[i] = tensor_law_taken(l, t, i, backwards, &by);
	}
	kit_law_equal(l, kit_law_use(l, l->use.op->desc.name, in, INPUTS, attr, ATTENTION_ATTRS, 1),
		      y);
}

void attention_law_longer(kit_law *l)
{
	const attention a = of_law(l);
	uint32_t in[INPUTS];

	if (a.k.paged || a.s.n == 0)
		return;
	memcpy(in, all, sizeof(in));
	in[ATTENTION_K] = widened(l, ATTENTION_K, 67);
	in[ATTENTION_V] = widened(l, ATTENTION_V, 67);
	kit_law_equal(l, use_with(l, in), kit_law_out(l, 0));
}

/* ---- problems ------------------------------------------------------------------------------- */

/* Numbers between -2 and 2 with all their bits. */
static void fill(kit_problem *p, uint32_t port, const pctl_tensor_type *t, uint32_t kind)
{
	const tensor_float_format *f = tensor_float_format_of(t->dtype);
	const uint64_t n = kit_elements(t), bytes = kit_dtype_bytes(t->dtype);
	void *data;

	if (kind < TENSOR_KINDS) {
		tensor_problem_fill(p, port, t, kind);
		return;
	}
	data = kit_scratch(&p->use, n * bytes + 1);
	if (data == NULL) {
		if (p->status == PCTL_OK)
			p->status = pctl_refuse(p->use.call, PC2_NOMEM, "no memory for a problem");
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t r = kit_random(p->seed + p->number * 8 + port, i);
		const float v = (float)((int32_t)(r % (1u << 25)) - (1 << 24)) * 0x1p-23f;

		tensor_put(data, i, bytes, tensor_narrowed(v, f));
	}
	kit_problem_input(p, port, t, data);
	kit_scratch_free(&p->use, data);
}

void attention_problem(kit_problem *p)
{
	/* b, t, heads of q and of the cache, d, elements of a value, positions of a sequence or a page, pages */
	static const uint64_t shapes[][8] = {
		{1, 1, 2, 1, 8, 8, 70, 0},  {3, 2, 2, 2, 3, 5, 9, 0},
		{2, 5, 4, 2, 4, 4, 8, 3},   {1, 3, 3, 1, 16, 66, 130, 0},
		{2, 0, 2, 1, 4, 4, 6, 0},   {3, 4, 1, 1, 1, 1, 1, 8},
		{1, 4, 2, 2, 33, 2, 64, 0}, {2, 3, 10, 1, 5, 3, 20, 2},
		{1, 2, 4, 4, 2, 70, 5, 0}};
	static const uint32_t kinds[] = {3, TENSOR_SMALL, TENSOR_EDGES, TENSOR_BITS};
	static const uint32_t types[] = {PCTL_SCALAR_F32, PCTL_SCALAR_F16, PCTL_SCALAR_BF16};
	const uint64_t *s = shapes[p->number % 9], v = p->number / 9;
	const uint64_t pool = s[7] == 0 ? s[0] : s[0] * s[7] + 1;
	const uint32_t of = v % 2 == 0 ? p->dtype : types[v / 2 % 3], kind = kinds[v % 4];
	const pctl_tensor_type q = {p->dtype, 4, {s[0], s[1], s[2], s[4]}};
	const pctl_tensor_type keys = {of, 4, {pool, s[6], s[3], s[4]}},
			       values = {of, 4, {pool, s[6], s[3], s[5]}};
	const kv_cache c = {ATTENTION_K,
			    ATTENTION_PAGES,
			    of,
			    s[7] != 0,
			    s[7] == 0 ? s[6] : s[6] * s[7],
			    s[3],
			    s[4],
			    s[6],
			    s[7],
			    pool};
	const sequences of_batch = {s[0], s[1], c.capacity, ATTENTION_START, ATTENTION_COUNT};

	kit_problem_attr_text(p, ATTENTION_CAUSAL, (p->number + v) % 3 == 0 ? "false" : "true");
	kit_problem_attr_text(p, ATTENTION_WINDOW, p->number % 4 == 1 ? "3" : "0");
	kit_problem_attr_text(p, ATTENTION_SOFTCAP, p->number % 5 == 2 ? "1.5" : "0");
	kit_problem_attr_text(p, ATTENTION_SCALE, p->number % 7 == 3 ? "0.3" : "");
	fill(p, ATTENTION_Q, &q, kind);
	fill(p, ATTENTION_K, &keys, kind);
	fill(p, ATTENTION_V, &values, kinds[(v + p->number) % 4]);
	sequences_problem(p, &of_batch);
	kv_problem_pages(p, &c, s[0], v == 3 ? 1 : 0);
	kit_problem_rigid(p);
}
