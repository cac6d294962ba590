/* Laws of transformer.kv_write, and the problems that they are tried on. */
#include "kv_write.h"
#include "parts.h"

static const uint32_t all[] = {KV_CACHE, KV_X, KV_START, KV_COUNT, KV_PAGES};

static kv_write of_law(const kit_law *l)
{
	kv_write w;

	(void)kv_write_of(&l->use, &w);
	return w;
}

static uint32_t use_with(kit_law *l, const uint32_t in[5])
{
	return kit_law_use(l, l->use.op->desc.name, in, 5, NULL, 0, 1);
}

/* Each count less `less`, at most `most`. */
static uint32_t counts(kit_law *l, uint32_t less, uint32_t most)
{
	const uint64_t n = of_law(l).s.n;
	uint32_t words[SEQUENCES_MAX];

	for (uint64_t b = 0; b < n; b++) {
		const uint32_t c = (uint32_t)tensor_get(kit_law_data(l, KV_COUNT), b, 4);

		words[b] = c < less ? 0 : c - less < most ? c - less : most;
	}
	return part_words(l, words, n);
}

void kv_law_kept(kit_law *l)
{
	uint32_t in[5];

	memcpy(in, all, sizeof(in));
	in[KV_COUNT] = counts(l, 0, 0);
	kit_law_equal(l, use_with(l, in), KV_CACHE);
}

void kv_law_in_two(kit_law *l)
{
	const kv_write w = of_law(l);
	uint32_t in[5];

	if (w.s.t < 2)
		return;
	memcpy(in, all, sizeof(in));
	in[KV_X] = part_of(l, KV_X, 1, 0, 1);
	in[KV_COUNT] = counts(l, 0, 1);
	in[KV_CACHE] = use_with(l, in);
	in[KV_X] = part_of(l, KV_X, 1, 1, w.s.t - 1);
	in[KV_START] = part_moved(l, KV_START, 1);
	in[KV_COUNT] = counts(l, 1, UINT32_MAX);
	kit_law_equal(l, use_with(l, in), kit_law_out(l, 0));
}

/* The same bytes as pages of one half, or all, of a sequence's positions. */
void kv_law_paged(kit_law *l)
{
	const kv_write w = of_law(l);
	const uint64_t parts = w.c.capacity % 2 == 0 ? 2 : 1;
	pctl_tensor_type t = l->use.q->in[KV_CACHE], list = {PCTL_SCALAR_U32, 2, {w.s.n, parts}};
	uint32_t words[2 * SEQUENCES_MAX], in[5];

	if (w.c.paged || w.c.capacity == 0)
		return;
	for (uint32_t i = 0; i < parts * w.s.n; i++)
		words[i] = i;
	t.dim[0] *= parts;
	t.dim[1] /= parts;
	memcpy(in, all, sizeof(in));
	in[KV_CACHE] = kit_law_tensor(l, &t, kit_law_data(l, KV_CACHE));
	in[KV_PAGES] = kit_law_tensor(l, &list, words);
	kit_law_equal(l, use_with(l, in), kit_law_out(l, 0));
}

void kv_law_read(kit_law *l)
{
	const kv_write w = of_law(l);
	const uint64_t bytes = w.c.heads * w.c.d * kit_dtype_bytes(w.c.dtype);
	const uint32_t y = kit_law_out(l, 0);

	if (w.c.dtype != l->use.q->in[KV_X].dtype || w.s.t == 0)
		return;
	for (uint64_t b = 0; b < w.s.n; b++)
		for (uint64_t i = 0;
		     i < sequences_count(&w.s, l->c->tensors, b) && l->status == PCTL_OK; i++) {
			const uint64_t at = kv_place(&w.c, l->c->tensors, b,
						     sequences_start(&w.s, l->c->tensors, b) + i);

			for (uint64_t k = 0; k < bytes && l->status == PCTL_OK; k++) {
				const uint8_t got = kit_law_data(l, y)[at * bytes + k],
					      want = kit_law_data(
						      l, KV_X)[(b * w.s.t + i) * bytes + k];

				if (got != want)
					kit_law_broken(l, "byte", at * bytes + k, got, want);
			}
		}
	kit_law_holds(l);
}

/* ---- problems ------------------------------------------------------------------------------- */

void kv_problem(kit_problem *p)
{
	/* b, t, heads, d, positions of a sequence or of a page, pages of a sequence */
	static const uint64_t shapes[][6] = {{1, 1, 2, 4, 9, 0}, {3, 4, 1, 3, 8, 0},
					     {2, 5, 2, 2, 3, 4}, {1, 3, 1, 8, 1, 7},
					     {2, 0, 1, 2, 4, 0}, {3, 2, 3, 1, 8, 3}};
	static const uint32_t types[] = {PCTL_SCALAR_F32, PCTL_SCALAR_F16, PCTL_SCALAR_BF16};
	const uint64_t *s = shapes[p->number % 6], v = p->number / 6;
	const uint64_t pool = s[5] == 0 ? s[0] : s[0] * s[5] + 2;
	const pctl_tensor_type cache = {p->dtype, 4, {pool, s[4], s[2], s[3]}};
	const pctl_tensor_type x = {
		v % 2 == 0 ? p->dtype : types[v / 2 % 3], 4, {s[0], s[1], s[2], s[3]}};
	const kv_cache c = {KV_CACHE, KV_PAGES, p->dtype, s[5] != 0, s[5] == 0 ? s[4] : s[4] * s[5],
			    s[2],     s[3],	s[4],	  s[5],	     pool};
	const sequences q = {s[0], s[1], c.capacity, KV_START, KV_COUNT};

	tensor_problem_fill(p, KV_CACHE, &cache, TENSOR_BITS);
	tensor_problem_fill(p, KV_X, &x, v % 3 == 0 ? TENSOR_BITS : TENSOR_EDGES);
	sequences_problem(p, &q);
	kv_problem_pages(p, &c, s[0], v == 3 ? 1 : v == 5 ? 2 : 0);
	kit_problem_rigid(p);
}
