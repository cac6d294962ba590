/* The form of a prepared graph, and where its number of nodes comes from. */
#include "rank.h"

static uint64_t section(uint64_t n_words)
{
	return (n_words + 255) & ~255ull;
}

static rank_layout layout_of(uint64_t n_nodes, uint64_t n_chunks)
{
	rank_layout l = {.n_nodes = n_nodes, .n_chunks = n_chunks};

	l.rows = section(n_nodes);
	l.chunks = l.rows + section(n_nodes + 1);
	l.n_words = l.chunks + 4 * n_chunks;
	return l;
}

rank_layout rank_layout_make(uint64_t n_nodes, uint64_t n_edges)
{
	return layout_of(n_nodes, (n_edges + 3 * n_nodes) / 4);
}

int rank_layout_find(uint64_t n_nodes, uint64_t n_words, rank_layout *out)
{
	const rank_layout empty = layout_of(n_nodes, 0);

	*out = layout_of(n_nodes, n_words < empty.n_words ? 0 : (n_words - empty.n_words) / 4);
	return out->n_words == n_words;
}

pctl_status rank_nodes(const kit_use *u, const char **measure, uint64_t *out)
{
	const pctl_tensor_type *edges = &u->q->in[0];
	pctl_status status = kit_want(u, 0, PCTL_SCALAR_U32, 2);

	*measure = NULL;
	*out = 0;
	if (status != PCTL_OK)
		return status;
	if (edges->dim[1] != 2)
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	status = kit_limit(u, "edges", edges->dim[0], RANK_EDGES_MAX);
	if (status != PCTL_OK)
		return status;
	*out = kit_attr(u, 0);
	if (*out == 0 && edges->dim[0] > 0 && !kit_measured(u, "nodes", out)) {
		*measure = "nodes";
		return PCTL_OK;
	}
	return kit_limit(u, "nodes", *out, RANK_NODES_MAX);
}

void rank_plan_measure(kit_plan *p)
{
	const uint32_t largest = kit_temp(p, 4);

	kit_run_op(p, "tensor.reduce_max", 1,
		   (kit_arg[]){{kit_in(p, 0), p->use->q->in[0]},
			       {largest, kit_vector(PCTL_SCALAR_U32, 1)}},
		   2, NULL, 0);
	kit_measure(p, largest, 4, 1);
}

uint64_t rank_scale(uint64_t x, uint64_t k)
{
	return k * (x / RANK_MILLION) + k * (x % RANK_MILLION) / RANK_MILLION;
}
