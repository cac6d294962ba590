/* Running prepared code: products of matrix tiles, straight from the definition. Each subgroup puts its shares together to
 * whole matrices, multiplies them, and each lane takes its share of the result. */
#include "lanes/batch.h"

#include <math.h>
#include <string.h>

#define OUTER_MAX 16u
#define INNER_MAX 32u

typedef struct whole {
	uint32_t left[OUTER_MAX][INNER_MAX];  /* [row][k] */
	uint32_t right[INNER_MAX][OUTER_MAX]; /* [k][column] */
} whole;

static const uint32_t *share(const pctl_cpu_batch *s, const pctl_cpu_tile *t, uint32_t leaf,
			     uint32_t first)
{
	const uint32_t *reg = pctl_cpu_at(s, s->code->leaves[t->first_leaf + leaf].reg);

	return reg + first;
}

/* What the lanes hold of left and right: fours along k, in turn. */
static void gather(const pctl_cpu_batch *s, const pctl_cpu_tile *t, uint32_t first, whole *w)
{
	const uint32_t n_result = t->m * t->n / PCTL_TILE_LANES;
	const uint32_t n_left = t->m * t->k / PCTL_TILE_LANES;

	for (uint32_t k = 0; k < t->k; k++) {
		for (uint32_t r = 0; r < t->m; r++) {
			const uint32_t four = r * (t->k / 4) + k / 4;

			w->left[r][k] = share(s, t, n_result + four / PCTL_TILE_LANES * 4 + k % 4,
					      first)[four % PCTL_TILE_LANES];
		}
		for (uint32_t c = 0; c < t->n; c++) {
			const uint32_t four = c * (t->k / 4) + k / 4;

			w->right[k][c] =
				share(s, t, n_result + n_left + four / PCTL_TILE_LANES * 4 + k % 4,
				      first)[four % PCTL_TILE_LANES];
		}
	}
}

static void multiply(pctl_cpu_batch *s, const pctl_cpu_tile *t, uint32_t first)
{
	const uint32_t n_result = t->m * t->n / PCTL_TILE_LANES;
	whole w;

	gather(s, t, first, &w);
	for (uint32_t r = 0; r < t->m; r++) {
		for (uint32_t c = 0; c < t->n; c++) {
			const uint32_t number = r * t->n + c, lane = number % PCTL_TILE_LANES;
			const uint32_t leaf = number / PCTL_TILE_LANES;
			uint32_t *d = pctl_cpu_at(s, s->code->leaves[t->first_leaf + leaf].reg);
			uint32_t sum = share(s, t, t->n_leaves - n_result + leaf, first)[lane];

			for (uint32_t k = 0; k < t->k; k++)
				sum += w.left[r][k] * w.right[k][c];
			d[first + lane] = sum;
		}
	}
}

/* ---- floats: components lie with the lanes one by one, and every sum is a chain of fma ---- */

static double narrow_or_wide(const pctl_cpu_batch *s, const pctl_cpu_tile *t, uint32_t leaf,
			     uint32_t lane, uint8_t scalar)
{
	const void *reg = pctl_cpu_at(s, s->code->leaves[t->first_leaf + leaf].reg);
	double wide;
	float narrow;

	if (scalar == PCTL_SCALAR_F64) {
		memcpy(&wide, (const uint64_t *)reg + lane, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, (const uint32_t *)reg + lane, sizeof(narrow));
	return (double)narrow;
}

static uint64_t canonical_bits(double x)
{
	uint64_t bits;

	if (x != x)
		return 0x7ff8000000000000u;
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static void multiply_floats(pctl_cpu_batch *s, const pctl_cpu_tile *t, uint32_t first)
{
	const uint32_t n_result = t->m * t->n / PCTL_TILE_LANES;
	const uint32_t n_left = t->m * t->k / PCTL_TILE_LANES;

	for (uint32_t number = 0; number < t->m * t->n; number++) {
		const uint32_t row = number / t->n, column = number % t->n;
		const uint32_t leaf = number / PCTL_TILE_LANES,
			       lane = first + number % PCTL_TILE_LANES;
		uint64_t *d = pctl_cpu_at(s, s->code->leaves[t->first_leaf + leaf].reg);
		double sum =
			narrow_or_wide(s, t, t->n_leaves - n_result + leaf, lane, PCTL_SCALAR_F64);

		for (uint32_t k = 0; k < t->k; k++) {
			const uint32_t a = row * t->k + k, b = column * t->k + k;

			sum = fma(narrow_or_wide(s, t, n_result + a / PCTL_TILE_LANES,
						 first + a % PCTL_TILE_LANES, t->factor),
				  narrow_or_wide(s, t, n_result + n_left + b / PCTL_TILE_LANES,
						 first + b % PCTL_TILE_LANES, t->factor),
				  sum);
		}
		d[lane] = canonical_bits(sum);
	}
}

void pctl_cpu_batch_tile(pctl_cpu_batch *s, const pctl_cpu_ins *in)
{
	const pctl_cpu_tile *t = &s->code->tiles[in->extra];
	const int is_float = t->factor == PCTL_SCALAR_F32 || t->factor == PCTL_SCALAR_F64;

	/* Workgroups are whole subgroups, and so are batches. A subgroup none of whose lanes is here is left alone. */
	for (uint32_t i = s->lo / PCTL_TILE_LANES * PCTL_TILE_LANES; i < s->hi && i < s->n_lanes;
	     i += PCTL_TILE_LANES) {
		uint32_t any = 0;

		for (uint32_t l = 0; l < PCTL_TILE_LANES; l++)
			any |= s->mask[i + l];
		if (any && is_float)
			multiply_floats(s, t, i);
		else if (any)
			multiply(s, t, i);
	}
}
