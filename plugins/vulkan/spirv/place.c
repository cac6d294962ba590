/* Memory instructions: places become access chains, and each chain index that is not proven is
 * compared with the length of its own level before the access (semantics section 5). A load of a
 * scalar or vector that misses is made harmless by selecting index 0 and its result by selecting
 * zero; every other access stands behind a branch. */
#include "spirv/spirv.h"

/* A place on its way to a pointer. ok: the condition under which it is inside, 0 when it always is.
 */
typedef struct access {
	pctl_place place;
	uint32_t root;
	SpvStorageClass class;
	int explicit_layout;
	int miss;
	uint32_t ok;
	pctl_spv_words chain;
} access;

SpvStorageClass pctl_spv_class(const pctl_spv *e, uint32_t var)
{
	switch (e->p->vars[var].space) {
	case PCTL_SPACE_PRIVATE:
		return SpvStorageClassPrivate;
	case PCTL_SPACE_WORKGROUP:
		return SpvStorageClassWorkgroup;
	default:
		return e->interface.bindings[var].uniform ? SpvStorageClassUniform
							  : SpvStorageClassStorageBuffer;
	}
}

static int begin(pctl_spv *e, const pctl_inst *in, access *a)
{
	uint32_t var, first;

	*a = (access){0};
	if (!pctl_place_get(e->p, e->fn, in, &a->place)) {
		pctl_spv_fail(e, PCTL_E_INTERNAL);
		return 0;
	}
	var = a->place.root;
	if (var & PCTL_PLACE_LOCAL) {
		a->root = e->locals[var & ~PCTL_PLACE_LOCAL];
		a->class = SpvStorageClassFunction;
		return 1;
	}
	a->root = e->vars[var];
	a->class = pctl_spv_class(e, var);
	a->explicit_layout = a->place.space >= PCTL_SPACE_UNIFORM;
	a->miss = a->explicit_layout && (e->opt->null_vars >> var & 1) != 0;
	if (a->explicit_layout && !pctl_spv_is_block(e->p, a->place.root_type)) {
		first = pctl_spv_u32(e, 0);
		pctl_spv_append(e, &a->chain, &first, 1);
	}
	return 1;
}

/* One index: its check joins ok, and in `safe` form it is replaced by 0 where it fails. */
static uint32_t check(pctl_spv *e, access *a, uint32_t type, uint32_t value, int proven, int safe)
{
	const pctl_type *t = &e->p->types[type];
	const uint32_t flag = pctl_spv_type(e, 1, 1);
	const pctl_spv_shape word = {.bits = 32, .width = 1};
	const uint32_t index = e->values[value];
	const int runtime = t->kind == PCTL_TYPE_RUNTIME_ARRAY;
	uint32_t length = 0, inside;
	uint64_t lane[4];

	if (t->kind == PCTL_TYPE_VECTOR)
		length = t->width;
	else if (!runtime)
		length = t->kind == PCTL_TYPE_MATRIX ? t->columns : t->count;
	if (!runtime && pctl_spv_literal(e, value, lane) == 1) {
		if ((uint32_t)lane[0] >= length)
			a->miss = 1;
		return index;
	}
	if (proven)
		return index;
	inside = PCTL_SPV_VALUE(e, SpvOpULessThan, flag, index,
				runtime ? e->lengths[a->place.root] : pctl_spv_u32(e, length));
	a->ok = a->ok ? PCTL_SPV_VALUE(e, SpvOpLogicalAnd, flag, a->ok, inside) : inside;
	return safe ? pctl_spv_select(e, word, inside, index, pctl_spv_u32(e, 0)) : index;
}

static void walk(pctl_spv *e, const pctl_inst *in, access *a, int safe)
{
	uint32_t type = a->place.root_type;
	uint32_t i, id, chain_word;

	for (i = 0; i < a->place.n_chain && !a->miss; i++) {
		chain_word = e->p->words[a->place.chain + i];
		if (e->p->types[type].kind == PCTL_TYPE_STRUCT)
			id = pctl_spv_u32(e, chain_word);
		else
			id = check(e, a, type, chain_word,
				   i < 16 && (in->flags & PCTL_INST_PROVEN(i)), safe);
		pctl_spv_append(e, &a->chain, &id, 1);
		type = pctl_type_step(e->p, type, chain_word);
	}
}

static uint32_t pointer(pctl_spv *e, access *a)
{
	const uint32_t end =
		(a->explicit_layout ? e->explicit_layout : e->plain)[a->place.end_type];
	pctl_spv_words w = {0};
	uint32_t id = a->root;

	if (a->chain.n) {
		pctl_spv_append(e, &w, &a->root, 1);
		pctl_spv_append(e, &w, a->chain.at, a->chain.n);
		id = pctl_spv_value(e, SpvOpAccessChain, pctl_spv_pointer(e, a->class, end), w.at,
				    w.n);
	}
	free(w.at);
	return id;
}

static uint32_t read(pctl_spv *e, access *a)
{
	const uint32_t at = pointer(e, a);

	return a->explicit_layout ? pctl_spv_tree_load(e, a->place.end_type, at, a->class)
				  : pctl_spv_raw_load(e, e->plain[a->place.end_type], at, a->class);
}

/* ---- behind a branch ---- */

typedef struct guard {
	uint32_t before;
	uint32_t merge;
} guard;

static void open_guard(pctl_spv *e, const access *a, guard *g)
{
	const uint32_t then = pctl_spv_id(e);

	g->before = 0;
	if (!a->ok)
		return;
	g->merge = pctl_spv_id(e);
	g->before = e->block;
	pctl_spv_branch_if(e, a->ok, then, g->merge, g->merge);
	pctl_spv_label(e, then);
}

static uint32_t zero(pctl_spv *e, uint32_t type)
{
	return e->p->types[type].kind == PCTL_TYPE_TILE ? pctl_spv_tile_zero(e, type)
							: pctl_spv_null(e, e->plain[type]);
}

/* The value behind the guard: what the branch made, or zero, of the program's type `type`. 0 for a value of no interest. */
static uint32_t close_guard(pctl_spv *e, const guard *g, uint32_t type, uint32_t made)
{
	const uint32_t from = e->block;

	if (!g->before)
		return made;
	pctl_spv_branch(e, g->merge);
	pctl_spv_label(e, g->merge);
	return made ? PCTL_SPV_VALUE(e, SpvOpPhi, e->plain[type], made, from, zero(e, type),
				     g->before)
		    : 0;
}

static uint32_t load(pctl_spv *e, const pctl_inst *in)
{
	const uint32_t type = e->plain[in->type];
	uint32_t x, ok;
	pctl_spv_shape s;
	access a;
	guard g;
	const int simple = pctl_spv_shape_get(e->p, in->type, &s);

	if (!begin(e, in, &a))
		return 0;
	walk(e, in, &a, simple);
	if (a.miss) {
		x = zero(e, in->type);
	} else if (simple) {
		x = read(e, &a);
		ok = a.ok;
		if (ok && s.width > 1) {
			const uint32_t lanes[4] = {ok, ok, ok, ok};

			ok = pctl_spv_value(e, SpvOpCompositeConstruct,
					    pctl_spv_type(e, 1, s.width), lanes, s.width);
		}
		if (ok)
			x = pctl_spv_select(e, s, ok, x, pctl_spv_null(e, type));
	} else {
		open_guard(e, &a, &g);
		x = close_guard(e, &g, in->type, read(e, &a));
	}
	free(a.chain.at);
	return x;
}

static void store(pctl_spv *e, const pctl_inst *in)
{
	uint32_t at;
	access a;
	guard g;

	if (!begin(e, in, &a))
		return;
	walk(e, in, &a, 0);
	if (!a.miss) {
		open_guard(e, &a, &g);
		at = pointer(e, &a);
		if (a.explicit_layout)
			pctl_spv_tree_store(e, a.place.end_type, at, pctl_spv_arg(e, in, 0),
					    a.class);
		else
			pctl_spv_raw_store(e, at, pctl_spv_arg(e, in, 0), a.class);
		close_guard(e, &g, 0, 0);
	}
	free(a.chain.at);
}

/* A load or store of a matrix tile: its place is an array, of which the whole tile is inside. */
static uint32_t tile(pctl_spv *e, const pctl_inst *in)
{
	uint32_t x = 0, index, at;
	access a;
	guard g;

	if (!begin(e, in, &a))
		return 0;
	walk(e, in, &a, 0);
	if (!a.miss) {
		open_guard(e, &a, &g);
		index = pctl_spv_tile_index(e, in);
		pctl_spv_append(e, &a.chain, &index, 1);
		a.place.end_type = e->p->types[a.place.end_type].elem;
		at = pointer(e, &a);
		x = close_guard(e, &g, in->type, pctl_spv_tile_move(e, in, at, a.class));
	} else if (in->type) {
		x = zero(e, in->type);
	}
	free(a.chain.at);
	return x;
}

static uint32_t array_length(pctl_spv *e, const pctl_inst *in)
{
	pctl_place place;

	if (!pctl_place_get(e->p, e->fn, in, &place) || (place.root & PCTL_PLACE_LOCAL)) {
		pctl_spv_fail(e, PCTL_E_INTERNAL);
		return 0;
	}
	return e->lengths[place.root];
}

/* ---- atomics ---- */

static uint32_t atomic_op(pctl_spv *e, const pctl_inst *in, access *a)
{
	const int is_signed = e->p->types[a->place.end_type].scalar == PCTL_SCALAR_I32;
	const SpvScope shared =
		a->class == SpvStorageClassWorkgroup ? SpvScopeWorkgroup : SpvScopeDevice;
	const uint32_t scope = pctl_spv_u32(e, shared);
	const uint32_t relaxed = pctl_spv_u32(e, SpvMemorySemanticsMaskNone);
	const uint32_t u32 = pctl_spv_type(e, 32, 1);
	const uint32_t at = pointer(e, a);
	SpvOp op = SpvOpAtomicIAdd;

	switch (in->op) {
	case PCTL_OP_ATOMIC_LOAD:
		return PCTL_SPV_VALUE(e, SpvOpAtomicLoad, u32, at, scope, relaxed);
	case PCTL_OP_ATOMIC_STORE:
		PCTL_SPV_EFFECT(e, SpvOpAtomicStore, at, scope, relaxed, pctl_spv_arg(e, in, 0));
		return 0;
	case PCTL_OP_ATOMIC_CAS:
		return PCTL_SPV_VALUE(e, SpvOpAtomicCompareExchange, u32, at, scope, relaxed,
				      relaxed, pctl_spv_arg(e, in, 1), pctl_spv_arg(e, in, 0));
	case PCTL_OP_ATOMIC_ADD:
		break;
	case PCTL_OP_ATOMIC_SUB:
		op = SpvOpAtomicISub;
		break;
	case PCTL_OP_ATOMIC_MIN:
		op = is_signed ? SpvOpAtomicSMin : SpvOpAtomicUMin;
		break;
	case PCTL_OP_ATOMIC_MAX:
		op = is_signed ? SpvOpAtomicSMax : SpvOpAtomicUMax;
		break;
	case PCTL_OP_ATOMIC_AND:
		op = SpvOpAtomicAnd;
		break;
	case PCTL_OP_ATOMIC_OR:
		op = SpvOpAtomicOr;
		break;
	case PCTL_OP_ATOMIC_XOR:
		op = SpvOpAtomicXor;
		break;
	case PCTL_OP_ATOMIC_EXCHANGE:
		op = SpvOpAtomicExchange;
		break;
	default:
		pctl_spv_fail(e, PCTL_E_UNSUPPORTED);
		return 0;
	}
	return PCTL_SPV_VALUE(e, op, u32, at, scope, relaxed, pctl_spv_arg(e, in, 0));
}

static uint32_t atomic(pctl_spv *e, const pctl_inst *in)
{
	uint32_t x = 0;
	access a;
	guard g;

	if (!begin(e, in, &a))
		return 0;
	walk(e, in, &a, 0);
	if (!a.miss) {
		open_guard(e, &a, &g);
		x = close_guard(e, &g, in->type, atomic_op(e, in, &a));
	} else if (in->type) {
		x = pctl_spv_null(e, pctl_spv_type(e, 32, 1));
	}
	free(a.chain.at);
	return x;
}

/* ---- barriers ---- */

void pctl_spv_barrier(pctl_spv *e, uint32_t mask)
{
	uint32_t semantics = SpvMemorySemanticsAcquireReleaseMask;
	uint32_t scope = SpvScopeWorkgroup;

	if (mask & PCTL_BARRIER_SUBGROUP)
		scope = SpvScopeSubgroup;
	if (mask & (PCTL_BARRIER_WORKGROUP | PCTL_BARRIER_SUBGROUP))
		semantics |= SpvMemorySemanticsWorkgroupMemoryMask;
	if (mask & PCTL_BARRIER_STORAGE)
		semantics |= SpvMemorySemanticsUniformMemoryMask;
	if (e->vulkan_model)
		semantics |=
			SpvMemorySemanticsMakeAvailableMask | SpvMemorySemanticsMakeVisibleMask;
	scope = pctl_spv_u32(e, scope);
	PCTL_SPV_EFFECT(e, SpvOpControlBarrier, scope, scope, pctl_spv_u32(e, semantics));
}

uint32_t pctl_spv_memory(pctl_spv *e, const pctl_inst *in)
{
	uint32_t x;

	switch (in->op) {
	case PCTL_OP_LOAD:
		return load(e, in);
	case PCTL_OP_STORE:
		store(e, in);
		return 0;
	case PCTL_OP_ARRAY_LENGTH:
		return array_length(e, in);
	case PCTL_OP_LOAD_UNIFORM:
		pctl_spv_barrier(e, PCTL_BARRIER_WORKGROUP);
		x = load(e, in);
		pctl_spv_barrier(e, PCTL_BARRIER_WORKGROUP);
		return x;
	case PCTL_OP_TILE_LOAD_ROWS:
	case PCTL_OP_TILE_LOAD_COLUMNS:
	case PCTL_OP_TILE_STORE_ROWS:
	case PCTL_OP_TILE_STORE_COLUMNS:
		return tile(e, in);
	default:
		return atomic(e, in);
	}
}
