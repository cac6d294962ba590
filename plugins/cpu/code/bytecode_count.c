/* Making prepared code: what each instruction costs when the build counts. Costs are summed by
 * straight-line block here, so that at run time a block only adds its active lanes to one counter.
 */
#include "code/bytecode.h"

/* Weight units of a type: its scalars, 64-bit ones twice. */
static uint64_t units_of(const pctl_cpu_bytecode *f, uint32_t type)
{
	return f->type_words[type];
}

static uint64_t units(const pctl_cpu_bytecode *f, const pctl_inst *in)
{
	const pctl_program *p = f->p;

	switch (pctl_op_get(in->op)->kind) {
	case PCTL_OPKIND_memory:
	case PCTL_OPKIND_atomic:
		return 1; /* loads and stores are set by their bytes */
	case PCTL_OPKIND_elem:
		/* A comparison costs what its operands are. */
		if ((in->op >= PCTL_OP_EQ && in->op <= PCTL_OP_GE) ||
		    (in->op >= PCTL_OP_FEQ && in->op <= PCTL_OP_FGE))
			return units_of(f, pctl_value_type(p, f->fn, pctl_arg(p, in, 0)));
		return units_of(f, in->type);
	case PCTL_OPKIND_bool:
		return units_of(f, pctl_value_type(p, f->fn, pctl_arg(p, in, 0)));
	case PCTL_OPKIND_control:
		return 1;
	case PCTL_OPKIND_tile: {
		/* Components, also those of f64 (semantics 12.6); of a product, as many steps each as terms. */
		const uint32_t moved = pctl_tile_moved(p, f->fn, in);
		const pctl_type *t = &p->types[moved ? moved : in->type];
		const uint64_t share = (uint64_t)t->width * t->columns / PCTL_TILE_LANES;

		if (moved)
			return share;
		return share * p->types[pctl_value_type(p, f->fn, pctl_arg(p, in, 0))].columns;
	}
	case PCTL_OPKIND_subgroup: {
		/* What gathers lanes takes a step for each of them, what reads one takes one. */
		const int gathers = in->op <= PCTL_OP_SUBGROUP_BALLOT;
		const uint64_t n =
			in->op == PCTL_OP_SUBGROUP_ELECT
				? 1
				: units_of(f, pctl_value_type(p, f->fn, pctl_arg(p, in, 0)));

		return gathers ? n * pctl_arg(p, in, in->n_args - 1) : n;
	}
	default:
		break;
	}
	if (in->op == PCTL_OP_DOT) /* n products, n - 1 sums */
		return 2 * units_of(f, pctl_value_type(p, f->fn, pctl_arg(p, in, 0))) -
		       units_of(f, in->type);
	if (in->op == PCTL_OP_MATMUL) {
		const uint32_t a = pctl_value_type(p, f->fn, pctl_arg(p, in, 0));
		const pctl_type *ty = &p->types[a];
		const uint32_t inner = ty->kind == PCTL_TYPE_MATRIX ? ty->columns : ty->width;

		return (2u * inner - 1) * units_of(f, in->type);
	}
	return units_of(f, in->type);
}

static int is_counted(uint16_t op)
{
	switch (op) {
	case PCTL_OP_ELSE:
	case PCTL_OP_END_IF:
	case PCTL_OP_CASE:
	case PCTL_OP_END_SWITCH:
	case PCTL_OP_CONTINUING:
	case PCTL_OP_END_LOOP:
	case PCTL_OP_BLOCK:
	case PCTL_OP_END_BLOCK:
		return 0;
	default:
		return 1;
	}
}

static int ends_block(uint16_t op)
{
	return pctl_op_get(op)->kind == PCTL_OPKIND_control && op != PCTL_OP_BARRIER &&
	       op != PCTL_OP_BLOCK && op != PCTL_OP_END_BLOCK;
}

static void count_place(pctl_cpu_bytecode *f, pctl_cpu_block *b, const pctl_inst *in,
			uint64_t *cost)
{
	const pctl_inst *insts = f->p->insts + f->fn->first_inst;
	pctl_place place;
	uint64_t bytes;
	uint32_t type;

	if (!pctl_place_get(f->p, f->fn, in, &place))
		return;
	type = place.root_type;
	for (uint32_t i = 0; i < place.n_chain; i++) {
		const uint32_t word = f->p->words[place.chain + i];

		if (f->p->types[type].kind != PCTL_TYPE_STRUCT && insts[word].op != PCTL_OP_CONST)
			b->checked++;
		type = pctl_type_step(f->p, type, word);
	}
	if (pctl_op_get(in->op)->kind == PCTL_OPKIND_atomic || in->op == PCTL_OP_ARRAY_LENGTH)
		return;
	bytes = f->type_bytes[place.end_type];
	if (pctl_op_get(in->op)->kind == PCTL_OPKIND_tile)
		bytes = f->p->types[pctl_tile_moved(f->p, f->fn, in)].size;
	else
		*cost = bytes;
	if (place.space == PCTL_SPACE_STORAGE || place.space == PCTL_SPACE_UNIFORM) {
		if (pctl_op_stores(in->op))
			b->storage_write += bytes;
		else
			b->storage_read += bytes;
	} else {
		b->other_memory += bytes;
	}
}

void pctl_cpu_bytecode_count(pctl_cpu_bytecode *f, const pctl_inst *in)
{
	pctl_cpu_cost cost = {.op = in->op, .units = units(f, in)};

	if (is_counted(in->op)) {
		if (f->block == PCTL_CPU_NONE) {
			const pctl_cpu_block b = {0};
			const pctl_cpu_ins ins = {.kind = PCTL_CPU_COUNT, .jump = f->blocks.n};

			f->block = f->blocks.n;
			PCTL_CPU_PUSH(f, blocks, b);
			pctl_cpu_emit(f, &ins);
		}
		if (f->status != PCTL_OK)
			return;
		f->blocks.at[f->block].n_insts++;
		count_place(f, &f->blocks.at[f->block], in, &cost.units);
		cost.block = f->block;
		if (cost.op < sizeof(((pctl_counts *)NULL)->op_units) / sizeof(uint64_t))
			PCTL_CPU_PUSH(f, costs, cost);
	}
	if (ends_block(in->op))
		f->block = PCTL_CPU_NONE;
}
