/* Making a failing tuple smaller; what stands in shrink.h, step by step. And the same for laws. */
#include "evidence/proof/shrink.h"

#include <string.h>

#include "runtime/graph/type.h"
#include "evidence/proof/law_private.h"

#define ROUNDS 4u /* over all values; each can only make them smaller */

__extension__ typedef unsigned __int128 wide;

struct shrinking {
	const pctl_shrinker *s;
	const pctl_call *call;
	uint64_t bytes;
	wide values[4];
	uint32_t changed;
};

static wide load(const uint8_t in[16])
{
	wide v = 0;

	for (uint32_t k = 16; k-- > 0;)
		v = v << 8 | in[k];
	return v;
}

static void store(wide v, uint8_t out[16])
{
	for (uint32_t k = 0; k < 16; k++)
		out[k] = (uint8_t)(v >> (8 * k) & 255);
}

/* Asks about n tuples that differ from the best one in value `var` alone. */
static pctl_status ask(struct shrinking *g, uint32_t var, const wide *tries, uint32_t n,
		       uint8_t *failed)
{
	uint8_t data[4][PCTL_SHRINK_LANES * 16], one[16];
	pctl_column columns[4];

	for (uint32_t v = 0; v < 4; v++) {
		columns[v] = (pctl_column){.dtype = g->s->dtype, .n = n, .data = data[v]};
		for (uint32_t i = 0; v < g->s->n_vars && i < n; i++) {
			store(v == var ? tries[i] : g->values[v], one);
			memcpy(data[v] + i * g->bytes, one, g->bytes);
		}
	}
	memset(failed, 0, n);
	return g->s->fails(g->s->ctx, columns, n, failed, g->call);
}

static void take(struct shrinking *g, uint32_t var, wide v)
{
	g->values[var] = v;
	g->changed = 1;
}

static pctl_status zero_or_one(struct shrinking *g, uint32_t var)
{
	const wide tries[2] = {0, 1};
	uint8_t failed[2];
	pctl_status status = PCTL_OK;

	if (g->values[var] != 0)
		status = ask(g, var, tries, 2, failed);
	if (status != PCTL_OK || g->values[var] == 0)
		return status;
	if (failed[0])
		take(g, var, 0);
	else if (failed[1] && g->values[var] > 1)
		take(g, var, 1);
	return PCTL_OK;
}

/* All bits below the last one taken, at once; of those that may go the highest goes. */
static pctl_status clear_bits(struct shrinking *g, uint32_t var)
{
	uint32_t below = (uint32_t)g->bytes * 8;

	while (below > 0) {
		wide tries[PCTL_SHRINK_LANES];
		uint32_t bits[PCTL_SHRINK_LANES], n = 0, i = 0;
		uint8_t failed[PCTL_SHRINK_LANES];
		pctl_status status;

		for (uint32_t k = below; k-- > 0;) {
			if ((g->values[var] >> k & 1) == 0)
				continue;
			bits[n] = k;
			tries[n++] = g->values[var] & ~((wide)1 << k);
		}
		if (n == 0)
			return PCTL_OK;
		status = ask(g, var, tries, n, failed);
		if (status != PCTL_OK)
			return status;
		while (i < n && !failed[i])
			i++;
		if (i == n)
			return PCTL_OK;
		take(g, var, tries[i]);
		below = bits[i];
	}
	return PCTL_OK;
}

/* Between the largest value below that is known to pass and the one that fails. */
static pctl_status bisect(struct shrinking *g, uint32_t var)
{
	wide passes = 0;

	if (g->values[var] == 0)
		return PCTL_OK;
	while (g->values[var] - passes > 1) {
		/* The value just below first: it decides at once when nothing is left to find. */
		const wide tries[2] = {g->values[var] - 1, passes + (g->values[var] - passes) / 2};
		uint8_t failed[2];
		pctl_status status = ask(g, var, tries, 2, failed);

		if (status != PCTL_OK)
			return status;
		if (failed[1])
			take(g, var, tries[1]);
		else if (failed[0])
			take(g, var, tries[0]);
		else
			return PCTL_OK;
		if (!failed[1])
			passes = tries[1] < g->values[var] ? tries[1] : passes;
	}
	return PCTL_OK;
}

/* 1 in *minimal when no value less by one fails. */
static pctl_status is_minimal(struct shrinking *g, uint32_t *minimal)
{
	*minimal = 1;
	for (uint32_t v = 0; v < g->s->n_vars; v++) {
		const wide tries[1] = {g->values[v] - 1};
		uint8_t failed[1] = {0};
		pctl_status status = g->values[v] == 0 ? PCTL_OK : ask(g, v, tries, 1, failed);

		if (status != PCTL_OK)
			return status;
		*minimal &= !failed[0];
	}
	return PCTL_OK;
}

pctl_status pctl_shrink(const pctl_shrinker *s, uint8_t (*values)[16], const pctl_call *call,
			uint32_t *minimal)
{
	struct shrinking g = {.s = s, .call = call, .bytes = pctl_dtype_bytes(s->dtype)};
	pctl_status status = PCTL_OK;
	uint8_t failed[1];

	*minimal = 0;
	for (uint32_t v = 0; v < s->n_vars; v++)
		g.values[v] = load(values[v]);
	status = ask(&g, s->n_vars, NULL, 1, failed);
	if (status != PCTL_OK || !failed[0])
		return status;
	g.changed = 1;
	for (uint32_t round = 0; g.changed && round < ROUNDS; round++) {
		g.changed = 0;
		for (uint32_t v = 0; status == PCTL_OK && v < s->n_vars; v++) {
			status = zero_or_one(&g, v);
			if (status == PCTL_OK)
				status = clear_bits(&g, v);
			if (status == PCTL_OK)
				status = bisect(&g, v);
		}
		if (status != PCTL_OK)
			return status;
	}
	for (uint32_t v = 0; v < s->n_vars; v++)
		store(g.values[v], values[v]);
	return is_minimal(&g, minimal);
}

/* ---- laws ------------------------------------------------------------------------------------- */

struct law_context {
	const pctl_law_equation *law;
	pctl_evaluator *device, *reference;
};

static pctl_status law_fails(void *ctx, const pctl_column *vars, uint64_t n, uint8_t *failed,
			     const pctl_call *call)
{
	struct law_context *c = ctx;

	return pctl_law_lanes(c->law, c->device, c->reference, vars, n, failed, call);
}

pctl_status pctl_law_shrink_to(const pctl_law_equation *l, pctl_evaluator *device,
			       pctl_evaluator *reference, uint8_t (*values)[16],
			       const pctl_call *call, uint32_t *minimal)
{
	struct law_context c = {l, device, reference};
	const pctl_shrinker s = {
		.ctx = &c, .fails = law_fails, .dtype = l->dtype, .n_vars = l->n_vars};

	return pctl_shrink(&s, values, call, minimal);
}

pctl_status pctl_law_shrink(const pctl_law_equation *l, pctl_evaluator *device,
			    pctl_evaluator *reference, uint8_t (*values)[16], const pctl_call *call)
{
	uint32_t minimal;

	return pctl_law_shrink_to(l, device, reference, values, call, &minimal);
}
