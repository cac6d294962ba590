/* What is seen of a tile's load or store before it runs: does a subgroup bring one offset and one stride, are they multiples of 16
 * bytes, is all of it inside. Values are followed through the expressions that they are: constants, the workgroup's number, the
 * number of the subgroup in it, and sums and products of such. What a variable holds is not looked into. */
#include "compiler/legalize/tile.h"

#define DEPTH_MOST 12u /* of an expression: looking at it takes two to that many steps at most */
#define ANY UINT32_MAX

enum { LANES_DIFFER, LOCAL_INDEX, LANES_AGREE };

/* zeros: lowest bits that are zero, of 32; most: no value is above. */
typedef struct known {
	uint32_t lanes, zeros, most;
} known;

static known nothing(void)
{
	return (known){LANES_DIFFER, 0, ANY};
}

static known of_constant(uint32_t k)
{
	return (known){LANES_AGREE, k ? (uint32_t)__builtin_ctz(k) : 32, k};
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t cut(uint64_t most)
{
	return most < ANY ? (uint32_t)most : ANY;
}

static int is_constant(const legal *l, uint32_t v, uint32_t *k)
{
	const pctl_inst *in = &l->p->insts[l->fn->first_inst + v];

	*k = in->op == PCTL_OP_CONST ? pctl_arg(l->p, in, 0) : 0;
	return in->op == PCTL_OP_CONST;
}

/* The local index, whole subgroups of it: what is left when the number of the lane is dropped. */
static uint32_t lanes_of(known x, int drops_lane)
{
	return x.lanes == LANES_AGREE || (x.lanes == LOCAL_INDEX && drops_lane) ? LANES_AGREE
										: LANES_DIFFER;
}

static known of_builtin(const legal *l, uint32_t which)
{
	/* Workgroups with tiles have one dimension. */
	if (which == PCTL_BUILTIN_LOCAL_INDEX)
		return (known){LOCAL_INDEX, 0, l->p->entries[0].workgroup_size[0] - 1};
	return nothing();
}

static known of_component(const legal *l, const pctl_inst *in)
{
	const pctl_inst *of = &l->p->insts[l->fn->first_inst + pctl_arg(l->p, in, 0)];
	const uint32_t which = of->op == PCTL_OP_BUILTIN ? pctl_arg(l->p, of, 0) : 0;

	if (which == PCTL_BUILTIN_WORKGROUP_ID || which == PCTL_BUILTIN_NUM_WORKGROUPS)
		return (known){LANES_AGREE, 0, ANY};
	if (which == PCTL_BUILTIN_LOCAL_ID)
		return pctl_arg(l->p, in, 1) ? of_constant(0)
					     : of_builtin(l, PCTL_BUILTIN_LOCAL_INDEX);
	return nothing();
}

/* By a constant k. */
static known shifted(uint16_t op, known x, uint32_t k)
{
	k &= 31;
	if (op == PCTL_OP_SHL)
		return (known){lanes_of(x, 0), smaller(x.zeros + k, 32),
			       cut((uint64_t)x.most << k)};
	return (known){lanes_of(x, k >= 5), x.zeros > k ? x.zeros - k : 0, x.most >> k};
}

static known divided(uint16_t op, known x, uint32_t k)
{
	const uint32_t zeros = (uint32_t)__builtin_ctz(k);

	if (op == PCTL_OP_DIV_WGSL || op == PCTL_OP_DIV)
		return (known){lanes_of(x, k % PCTL_TILE_LANES == 0),
			       (k & (k - 1)) == 0 && x.zeros > zeros ? x.zeros - zeros : 0,
			       x.most / k};
	return (known){lanes_of(x, 0), smaller(x.zeros, zeros), smaller(x.most, k - 1)};
}

static known combined(uint16_t op, known a, known b)
{
	known r = {smaller(lanes_of(a, 0), lanes_of(b, 0)), smaller(a.zeros, b.zeros), ANY};

	if (op == PCTL_OP_ADD) {
		r.most = cut((uint64_t)a.most + b.most);
	} else if (op == PCTL_OP_MUL) {
		r.zeros = smaller(a.zeros + b.zeros, 32);
		r.most = cut((uint64_t)a.most * b.most);
	} else if (op == PCTL_OP_AND) {
		r.zeros = a.zeros > b.zeros ? a.zeros : b.zeros;
		r.most = smaller(a.most, b.most);
	} else if (op == PCTL_OP_MIN) {
		r.most = smaller(a.most, b.most);
	} else if (op == PCTL_OP_MAX) {
		r.most = a.most > b.most ? a.most : b.most;
	}
	return r;
}

static known look(const legal *l, uint32_t v, uint32_t depth);

static known of_two(const legal *l, const pctl_inst *in, uint32_t depth)
{
	const known a = look(l, pctl_arg(l->p, in, 0), depth);
	uint32_t k;

	if (!is_constant(l, pctl_arg(l->p, in, 1), &k))
		k = 0;
	switch (in->op) {
	case PCTL_OP_SHL:
	case PCTL_OP_SHR:
		return is_constant(l, pctl_arg(l->p, in, 1), &k) ? shifted(in->op, a, k)
								 : nothing();
	case PCTL_OP_DIV:
	case PCTL_OP_DIV_WGSL:
	case PCTL_OP_MOD:
		return k ? divided(in->op, a, k) : nothing();
	case PCTL_OP_AND:
		if (k && k % PCTL_TILE_LANES == 0 && a.lanes == LOCAL_INDEX)
			return (known){LANES_AGREE, (uint32_t)__builtin_ctz(k), smaller(a.most, k)};
		break;
	default:
		break;
	}
	return combined(in->op, a, look(l, pctl_arg(l->p, in, 1), depth));
}

static known look(const legal *l, uint32_t v, uint32_t depth)
{
	const pctl_inst *in = &l->p->insts[l->fn->first_inst + v];

	if (depth == 0 || l->p->types[in->type].kind != PCTL_TYPE_SCALAR)
		return nothing();
	switch (in->op) {
	case PCTL_OP_CONST:
		return of_constant(pctl_arg(l->p, in, 0));
	case PCTL_OP_BUILTIN:
		return of_builtin(l, pctl_arg(l->p, in, 0));
	case PCTL_OP_EXTRACT:
		return of_component(l, in);
	case PCTL_OP_ADD:
	case PCTL_OP_SUB:
	case PCTL_OP_MUL:
	case PCTL_OP_AND:
	case PCTL_OP_OR:
	case PCTL_OP_XOR:
	case PCTL_OP_MIN:
	case PCTL_OP_MAX:
	case PCTL_OP_SHL:
	case PCTL_OP_SHR:
	case PCTL_OP_DIV:
	case PCTL_OP_DIV_WGSL:
	case PCTL_OP_MOD:
		/* Signed ones order and divide otherwise. */
		return l->p->types[in->type].scalar == PCTL_SCALAR_U32 ? of_two(l, in, depth - 1)
								       : nothing();
	default:
		return nothing();
	}
}

uint32_t legal_tile_seen(const legal *l, const pctl_inst *in)
{
	const pctl_type *t = &l->p->types[pctl_tile_moved(l->p, l->fn, in)];
	const uint32_t first = (uint32_t)pctl_op_stores(in->op);
	const int by_rows = in->op == PCTL_OP_TILE_LOAD_ROWS || in->op == PCTL_OP_TILE_STORE_ROWS;
	const uint32_t lines = by_rows ? t->width : t->columns,
		       line = by_rows ? t->columns : t->width;
	const known offset = look(l, pctl_arg(l->p, in, first), DEPTH_MOST),
		    stride = look(l, pctl_arg(l->p, in, first + 1), DEPTH_MOST);
	const uint32_t aligned = (uint32_t)__builtin_ctz(legal_tile_in_line(t));
	const uint64_t last = offset.most + (uint64_t)(lines - 1) * stride.most + line - 1;
	const pctl_type *array, *elem;
	uint32_t seen = 0;
	pctl_place place;

	pctl_place_get(l->p, l->fn, in, &place);
	array = &l->p->types[place.end_type];
	elem = &l->p->types[array->elem];
	if (offset.lanes == LANES_AGREE)
		seen |= LEGAL_TILE_ONE_OFFSET;
	if (stride.lanes == LANES_AGREE)
		seen |= LEGAL_TILE_ONE_STRIDE;
	if (smaller(offset.zeros, stride.zeros) >= aligned)
		seen |= LEGAL_TILE_ALIGNED;
	/* Where no number wraps. */
	if (array->kind == PCTL_TYPE_ARRAY && last <= UINT32_MAX &&
	    (legal_tile_is_packed(t) ? last / 4 : last) <
		    (uint64_t)array->count * (elem->kind == PCTL_TYPE_VECTOR ? elem->width : 1))
		seen |= LEGAL_TILE_INSIDE;
	return seen;
}
