/* Running prepared code: subgroup operations, straight from their definition. Each lane looks at the lanes of its
 * subgroup one by one; those that the workgroup has not, or that do not take part, are passed over. */
#include "lanes/batch.h"

/* The subgroup of a lane: its first lane, and how many the workgroup has of it. */
typedef struct subgroup {
	const uint32_t *mask, *value; /* of its first lane */
	uint32_t n, lane;	      /* lane: the own number */
	uint32_t is_signed;
} subgroup;

static uint32_t start_of(uint16_t op, uint32_t is_signed)
{
	switch (op) {
	case PCTL_OP_SUBGROUP_MUL:
	case PCTL_OP_SUBGROUP_INCLUSIVE_MUL:
	case PCTL_OP_SUBGROUP_EXCLUSIVE_MUL:
	case PCTL_OP_SUBGROUP_ALL:
		return 1;
	case PCTL_OP_SUBGROUP_AND:
		return 0xffffffffu;
	case PCTL_OP_SUBGROUP_MIN:
		return is_signed ? 0x7fffffffu : 0xffffffffu;
	case PCTL_OP_SUBGROUP_MAX:
		return is_signed ? 0x80000000u : 0;
	default:
		return 0;
	}
}

static uint32_t step(uint16_t op, uint32_t is_signed, uint32_t x, uint32_t y)
{
	const int less = is_signed ? (int32_t)x < (int32_t)y : x < y;

	switch (op) {
	case PCTL_OP_SUBGROUP_MUL:
	case PCTL_OP_SUBGROUP_INCLUSIVE_MUL:
	case PCTL_OP_SUBGROUP_EXCLUSIVE_MUL:
		return x * y;
	case PCTL_OP_SUBGROUP_MIN:
		return less ? x : y;
	case PCTL_OP_SUBGROUP_MAX:
		return less ? y : x;
	case PCTL_OP_SUBGROUP_AND:
		return x & y;
	case PCTL_OP_SUBGROUP_OR:
		return x | y;
	case PCTL_OP_SUBGROUP_XOR:
		return x ^ y;
	case PCTL_OP_SUBGROUP_ALL: /* a bool is a word, 0 or 1 */
		return x && y;
	case PCTL_OP_SUBGROUP_ANY:
		return x || y;
	default:
		return x + y;
	}
}

/* Over all lanes, or over those before `end`. */
static uint32_t gather(const subgroup *g, uint16_t op, uint32_t end)
{
	uint32_t x = start_of(op, g->is_signed);

	for (uint32_t i = 0; i < g->n && i < end; i++)
		if (g->mask[i])
			x = step(op, g->is_signed, x, g->value[i]);
	return x;
}

static uint32_t ballot(const subgroup *g, uint32_t word)
{
	uint32_t x = 0;

	for (uint32_t i = 0; i < g->n; i++)
		if (i / 32 == word && g->mask[i] && g->value[i])
			x |= 1u << i % 32;
	return x;
}

static uint32_t of_lane(const subgroup *g, uint64_t lane)
{
	return lane < g->n && g->mask[lane] ? g->value[lane] : 0;
}

static uint32_t result(const subgroup *g, uint16_t op, uint32_t b, uint32_t word)
{
	switch (op) {
	case PCTL_OP_SUBGROUP_INCLUSIVE_ADD:
	case PCTL_OP_SUBGROUP_INCLUSIVE_MUL:
		return gather(g, op, g->lane + 1);
	case PCTL_OP_SUBGROUP_EXCLUSIVE_ADD:
	case PCTL_OP_SUBGROUP_EXCLUSIVE_MUL:
		return gather(g, op, g->lane);
	case PCTL_OP_SUBGROUP_BALLOT:
		return ballot(g, word);
	case PCTL_OP_SUBGROUP_BROADCAST:
	case PCTL_OP_SUBGROUP_SHUFFLE:
		return of_lane(g, b);
	case PCTL_OP_SUBGROUP_SHUFFLE_XOR:
		return of_lane(g, g->lane ^ b);
	case PCTL_OP_SUBGROUP_SHUFFLE_UP:
		return b > g->lane ? 0 : of_lane(g, g->lane - b);
	case PCTL_OP_SUBGROUP_SHUFFLE_DOWN:
		return of_lane(g, (uint64_t)g->lane + b);
	case PCTL_OP_SUBGROUP_ELECT:
		return g->lane == 0;
	default:
		return gather(g, op, g->n);
	}
}

void pctl_cpu_batch_subgroup(pctl_cpu_batch *s, const pctl_cpu_ins *in)
{
	const uint32_t size = in->extra & 0xffff, word = in->extra >> 16;
	const uint32_t invocations = s->code->invocations;
	const uint32_t *a = pctl_cpu_at(s, in->a), *b = pctl_cpu_at(s, in->b);
	uint32_t *d = pctl_cpu_at(s, in->d);

	for (uint32_t i = s->lo; i < s->hi && i < s->n_lanes; i++) {
		const uint32_t local = i % invocations, lane = local % size;
		const uint32_t first = i - lane, rest = invocations - (local - lane);
		const subgroup g = {.mask = s->mask + first,
				    .value = a + first,
				    .n = rest < size ? rest : size,
				    .lane = lane,
				    .is_signed = in->flags & PCTL_CPU_SIGNED};

		if (s->mask[i])
			d[i] = result(&g, (uint16_t)in->jump, in->b ? b[i] : 0, word);
	}
}
