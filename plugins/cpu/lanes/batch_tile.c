/* Running prepared code: products of matrix tiles, straight from the definition. Each subgroup puts its shares together to
 * whole matrices, multiplies them, and each lane takes its share of the result. */
#include "lanes/batch.h"

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

void pctl_cpu_batch_tile(pctl_cpu_batch *s, const pctl_cpu_ins *in)
{
	const pctl_cpu_tile *t = &s->code->tiles[in->extra];

	/* Workgroups are whole subgroups, and so are batches. A subgroup none of whose lanes is here is left alone. */
	for (uint32_t i = s->lo / PCTL_TILE_LANES * PCTL_TILE_LANES; i < s->hi && i < s->n_lanes;
	     i += PCTL_TILE_LANES) {
		uint32_t any = 0;

		for (uint32_t l = 0; l < PCTL_TILE_LANES; l++)
			any |= s->mask[i + l];
		if (any)
			multiply(s, t, i);
	}
}
