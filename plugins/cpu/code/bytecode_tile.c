/* Making prepared code: matrix tiles. A lane's share of a tile is a register a component. Components lie with the lanes of
 * their subgroup in turn: those of a result by rows; of left and right, fours that one word of memory can hold (floats one by
 * one), along the side that a product sums over. Loads and stores are ordinary accesses at computed places; a product is one instruction. */
#include "code/bytecode.h"

/* Component j of a lane's share: 32 * j + lane (result, floats), or byte j % 4 of four 32 * (j / 4) + lane. */
typedef struct tile_part {
	uint32_t row, column; /* registers */
} tile_part;

static uint32_t word(pctl_cpu_bytecode *f, uint32_t k)
{
	return pctl_cpu_bytecode_const(f, k, 0);
}

static uint32_t op2(pctl_cpu_bytecode *f, uint16_t op, uint32_t a, uint32_t b)
{
	return pctl_cpu_emit_elem(f, op, PCTL_SCALAR_U32, 0, (const uint32_t[]){a, b}, 2);
}

static uint32_t lane(pctl_cpu_bytecode *f)
{
	return op2(f, PCTL_OP_AND, pctl_cpu_bytecode_special(f, PCTL_CPU_REG_LOCAL_INDEX),
		   word(f, PCTL_TILE_LANES - 1));
}

/* number / n, number % n, for a power of two */
static void split(pctl_cpu_bytecode *f, uint32_t number, uint32_t n, uint32_t *high, uint32_t *low)
{
	*high = op2(f, PCTL_OP_SHR, number, word(f, (uint32_t)__builtin_ctz(n)));
	*low = op2(f, PCTL_OP_AND, number, word(f, n - 1));
}

static tile_part part_of(pctl_cpu_bytecode *f, const pctl_type *t, uint32_t j, uint32_t own)
{
	const uint32_t inner = t->count == PCTL_TILE_LEFT ? t->columns : t->width;
	tile_part at = {0, 0};
	uint32_t number, outer, four;

	if (t->count == PCTL_TILE_RESULT) {
		number = op2(f, PCTL_OP_ADD, own, word(f, j * PCTL_TILE_LANES));
		split(f, number, t->columns, &at.row, &at.column);
		return at;
	}
	if (pctl_tile_is_float(t)) {
		number = op2(f, PCTL_OP_ADD, own, word(f, j * PCTL_TILE_LANES));
		if (t->count == PCTL_TILE_LEFT)
			split(f, number, inner, &at.row, &at.column);
		else
			split(f, number, inner, &at.column, &at.row);
		return at;
	}
	number = op2(f, PCTL_OP_ADD, own, word(f, j / 4 * PCTL_TILE_LANES));
	split(f, number, inner / 4, &outer, &four);
	four = op2(f, PCTL_OP_SHL, four, word(f, 2));
	four = op2(f, PCTL_OP_ADD, four, word(f, j % 4));
	at.row = t->count == PCTL_TILE_LEFT ? outer : four;
	at.column = t->count == PCTL_TILE_LEFT ? four : outer;
	return at;
}

/* Number of the component in memory, counted in components. */
static uint32_t number_of(pctl_cpu_bytecode *f, int by_rows, uint32_t offset, uint32_t stride,
			  const tile_part *at)
{
	uint32_t x = op2(f, PCTL_OP_MUL, by_rows ? at->row : at->column, stride);

	x = op2(f, PCTL_OP_ADD, offset, x);
	return op2(f, PCTL_OP_ADD, x, by_rows ? at->column : at->row);
}

/* A byte of the word that holds it, extended by the type's sign. */
static uint32_t load_byte(pctl_cpu_bytecode *f, const pctl_inst *in, const pctl_type *t,
			  uint32_t number)
{
	const int is_signed = t->scalar == PCTL_SCALAR_I8;
	uint32_t index, byte, shift, x;

	split(f, number, 4, &index, &byte);
	x = pctl_cpu_bytecode_load_element(f, in, index);
	/* 24 - 8 * byte: the byte goes to the top, and down again. */
	shift = op2(f, PCTL_OP_SHL, byte, word(f, 3));
	shift = op2(f, PCTL_OP_SUB, word(f, 24), shift);
	x = op2(f, PCTL_OP_SHL, x, shift);
	return pctl_cpu_emit_elem(f, PCTL_OP_SHR, is_signed ? PCTL_SCALAR_I32 : PCTL_SCALAR_U32, 0,
				  (const uint32_t[]){x, word(f, 24)}, 2);
}

static void load(pctl_cpu_bytecode *f, uint32_t value, const pctl_inst *in)
{
	const pctl_type *t = &f->p->types[in->type];
	const uint32_t offset = pctl_cpu_value(f, pctl_arg(f->p, in, 0))[0];
	const uint32_t stride = pctl_cpu_value(f, pctl_arg(f->p, in, 1))[0];
	uint32_t own;

	if (!pctl_cpu_value_new(f, value, in->type))
		return;
	own = lane(f);
	for (uint32_t j = 0; j < f->type_leaves[in->type] && f->status == PCTL_OK; j++) {
		const tile_part at = part_of(f, t, j, own);
		const uint32_t number =
			number_of(f, in->op == PCTL_OP_TILE_LOAD_ROWS, offset, stride, &at);
		const uint32_t reg = t->count == PCTL_TILE_RESULT || pctl_tile_is_float(t)
					     ? pctl_cpu_bytecode_load_element(f, in, number)
					     : load_byte(f, in, t, number);

		if (f->status == PCTL_OK)
			pctl_cpu_value(f, value)[j] = reg;
	}
}

static void add_register(pctl_cpu_bytecode *f, pctl_cpu_tile *t, uint32_t reg)
{
	const pctl_cpu_leaf leaf = {.reg = reg};

	PCTL_CPU_PUSH(f, leaves, leaf);
	t->n_leaves++;
}

/* The components of value v, NaN made canonical. */
static void canonical(pctl_cpu_bytecode *f, uint32_t v, uint32_t type, uint32_t *out)
{
	const pctl_type *t = &f->p->types[type];
	const uint32_t n = (uint32_t)f->type_leaves[type];
	pctl_cpu_ins ins = {.kind = PCTL_CPU_TILE, .extra = f->tiles.n};
	pctl_cpu_tile tile = {.m = t->width, .n = t->columns, .factor = PCTL_SCALAR_F64};
	uint32_t from[16];

	for (uint32_t j = 0; j < n; j++)
		from[j] = pctl_cpu_emit_vary(f, pctl_cpu_value(f, v)[j]);
	tile.first_leaf = f->leaves.n;
	for (uint32_t j = 0; j < n; j++) {
		out[j] = pctl_cpu_bytecode_reg(f, PCTL_CPU_REG_TEMP, 1);
		add_register(f, &tile, out[j]);
	}
	for (uint32_t j = 0; j < n; j++)
		add_register(f, &tile, from[j]);
	PCTL_CPU_PUSH(f, tiles, tile);
	pctl_cpu_emit(f, &ins);
}

static void store(pctl_cpu_bytecode *f, const pctl_inst *in)
{
	const uint32_t v = pctl_arg(f->p, in, 0), type = pctl_value_type(f->p, f->fn, v);
	const uint32_t offset = pctl_cpu_value(f, pctl_arg(f->p, in, 1))[0];
	const uint32_t stride = pctl_cpu_value(f, pctl_arg(f->p, in, 2))[0];
	const uint32_t own = lane(f);
	uint32_t parts[16];

	for (uint32_t j = 0; j < f->type_leaves[type]; j++)
		parts[j] = pctl_cpu_value(f, v)[j];
	if (pctl_tile_is_float(&f->p->types[type]))
		canonical(f, v, type, parts);
	for (uint32_t j = 0; j < f->type_leaves[type] && f->status == PCTL_OK; j++) {
		const tile_part at = part_of(f, &f->p->types[type], j, own);
		const uint32_t number =
			number_of(f, in->op == PCTL_OP_TILE_STORE_ROWS, offset, stride, &at);

		pctl_cpu_bytecode_store_element(f, in, number, parts[j]);
	}
}

static void multiply(pctl_cpu_bytecode *f, uint32_t value, const pctl_inst *in)
{
	const pctl_type *r = &f->p->types[in->type], *left;
	pctl_cpu_ins ins = {.kind = PCTL_CPU_TILE, .extra = f->tiles.n};
	pctl_cpu_tile t = {.m = r->width, .n = r->columns};
	uint32_t *at = pctl_cpu_value_new(f, value, in->type), operand[3][16], n[3];

	if (!at)
		return;
	for (uint32_t i = 0; i < 3; i++) {
		const uint32_t v = pctl_arg(f->p, in, i);

		n[i] = (uint32_t)f->type_leaves[pctl_value_type(f->p, f->fn, v)];
		for (uint32_t j = 0; j < n[i]; j++)
			operand[i][j] = pctl_cpu_emit_vary(f, pctl_cpu_value(f, v)[j]);
	}
	left = &f->p->types[pctl_value_type(f->p, f->fn, pctl_arg(f->p, in, 0))];
	t.k = left->columns;
	t.factor = left->scalar;
	t.first_leaf = f->leaves.n;
	for (uint32_t j = 0; j < f->type_leaves[in->type] && f->status == PCTL_OK; j++) {
		at[j] = pctl_cpu_bytecode_reg(f, PCTL_CPU_REG_TEMP,
					      pctl_cpu_scalar_wide(r->scalar));
		add_register(f, &t, at[j]);
	}
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t j = 0; j < n[i] && f->status == PCTL_OK; j++)
			add_register(f, &t, operand[i][j]);
	PCTL_CPU_PUSH(f, tiles, t);
	pctl_cpu_emit(f, &ins);
}

void pctl_cpu_bytecode_tile(pctl_cpu_bytecode *f, uint32_t value, const pctl_inst *in)
{
	/* Who does not arrive is a finding, as at a barrier that orders nothing. */
	pctl_cpu_bytecode_barrier(f, 0);
	if (in->op == PCTL_OP_TILE_MULTIPLY_ADD)
		multiply(f, value, in);
	else if (in->type)
		load(f, value, in);
	else
		store(f, in);
}
