/* Values that hold wide scalars: how they are taken apart and put together, and the instructions
 * that only move parts around (composites, conversions) or are sums of products. */
#include "compiler/legalize/legal_parts.h"

#include <stdlib.h>

static const pctl_type *old_type(const legal *l, uint32_t v)
{
	return &l->p->types[pctl_value_type(l->p, l->fn, v)];
}

static uint32_t width_of(const pctl_type *t)
{
	return t->kind == PCTL_TYPE_VECTOR ? t->width : 1;
}

uint32_t legal_packed(legal *l, uint32_t v)
{
	const uint32_t type = pctl_value_type(l->p, l->fn, v);

	if (!legal_is_int64_vector(l, type))
		return l->values[v].id[0];
	return legal_emit(l, PCTL_OP_COMPOSE, legal_type(l, type), l->values[v].id,
			  l->p->types[type].width);
}

void legal_set_packed(legal *l, uint32_t v, uint32_t id)
{
	const uint32_t type = pctl_value_type(l->p, l->fn, v);

	l->values[v].id[0] = id;
	if (!legal_is_int64_vector(l, type))
		return;
	for (uint32_t k = 0; k < l->p->types[type].width; k++)
		l->values[v].id[k] =
			legal_emit(l, PCTL_OP_EXTRACT, l->t_u2, (const uint32_t[]){id, k}, 2);
}

uint32_t legal_lane(legal *l, uint32_t v, uint32_t k)
{
	const uint32_t type = pctl_value_type(l->p, l->fn, v);
	const pctl_type *t = &l->p->types[type];

	if (t->kind != PCTL_TYPE_VECTOR)
		return l->values[v].id[0];
	if (l->is_int64[type])
		return l->values[v].id[k];
	return legal_emit(l, PCTL_OP_EXTRACT, legal_type(l, t->elem),
			  (const uint32_t[]){l->values[v].id[0], k}, 2);
}

static uint32_t one(legal *l, uint16_t op, uint32_t type, uint32_t a)
{
	return legal_emit(l, op, type, &a, 1);
}

/* ---- parts of composites ------------------------------------------------------------------ */

/* Whether parts of composite type `type` are wrapped vectors; part is their old type. */
static int parts_wrapped(const legal *l, uint32_t type, uint32_t part)
{
	return l->p->types[type].kind != PCTL_TYPE_STRUCT && legal_is_wrapped(l, part);
}

static uint32_t part_in(legal *l, uint32_t type, uint32_t v)
{
	const uint32_t part = pctl_value_type(l->p, l->fn, v), id = legal_packed(l, v);

	if (!parts_wrapped(l, type, part))
		return id;
	return one(l, PCTL_OP_COMPOSE, legal_elem_type(l, part), id);
}

static void part_out(legal *l, uint32_t v, uint32_t type, uint32_t whole, uint32_t number)
{
	const uint32_t part = pctl_value_type(l->p, l->fn, v);
	const int wrapped = parts_wrapped(l, type, part);
	uint32_t id = legal_emit(l, PCTL_OP_EXTRACT,
				 wrapped ? legal_elem_type(l, part) : legal_type(l, part),
				 (const uint32_t[]){whole, number}, 2);

	if (wrapped)
		id = legal_emit(l, PCTL_OP_EXTRACT, legal_type(l, part), (const uint32_t[]){id, 0},
				2);
	legal_set_packed(l, v, id);
}

static void compose(legal *l, uint32_t v, const pctl_inst *in)
{
	uint32_t id = 0;

	if (legal_is_int64_vector(l, in->type)) {
		for (uint32_t k = 0; k < in->n_args; k++)
			l->values[v].id[k] = l->values[pctl_arg(l->p, in, k)].id[0];
		return;
	}
	/* Part by part, so that no list of them is needed: a zero with each part put in. */
	id = legal_emit(l, PCTL_OP_ZERO, legal_type(l, in->type), NULL, 0);
	for (uint32_t k = 0; k < in->n_args; k++) {
		const uint32_t part = part_in(l, in->type, pctl_arg(l->p, in, k));

		id = legal_emit(l, PCTL_OP_INSERT, legal_type(l, in->type),
				(const uint32_t[]){id, part, k}, 3);
	}
	l->values[v].id[0] = id;
}

static void extract(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint32_t from = pctl_arg(l->p, in, 0), type = pctl_value_type(l->p, l->fn, from);
	const uint32_t number = pctl_arg(l->p, in, 1);

	if (legal_is_int64_vector(l, type))
		l->values[v].id[0] = l->values[from].id[number];
	else
		part_out(l, v, type, l->values[from].id[0], number);
}

static void extract_dyn(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint32_t from = pctl_arg(l->p, in, 0), index = l->values[pctl_arg(l->p, in, 1)].id[0];
	const uint32_t index_type =
		legal_type(l, pctl_value_type(l->p, l->fn, pctl_arg(l->p, in, 1)));
	uint32_t id = legal_emit(l, PCTL_OP_ZERO, l->t_u2, NULL, 0);

	for (uint32_t k = 0; k < old_type(l, from)->width; k++) {
		const uint32_t number = pctl_build_const(l->b, index_type, k);
		const uint32_t here =
			legal_emit(l, PCTL_OP_EQ, l->t_bool, (const uint32_t[]){index, number}, 2);

		id = legal_emit(l, PCTL_OP_SELECT, l->t_u2,
				(const uint32_t[]){here, l->values[from].id[k], id}, 3);
	}
	l->values[v].id[0] = id;
}

static void insert(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint32_t from = pctl_arg(l->p, in, 0), number = pctl_arg(l->p, in, 2);
	uint32_t part;

	l->values[v] = l->values[from];
	if (legal_is_int64_vector(l, in->type)) {
		l->values[v].id[number] = l->values[pctl_arg(l->p, in, 1)].id[0];
		return;
	}
	part = part_in(l, in->type, pctl_arg(l->p, in, 1));
	l->values[v].id[0] = legal_emit(l, PCTL_OP_INSERT, legal_type(l, in->type),
					(const uint32_t[]){l->values[from].id[0], part, number}, 3);
}

/* ---- conversions -------------------------------------------------------------------------- */

static uint32_t cast_lane(legal *l, uint32_t x, uint8_t from, uint8_t to, uint32_t to_type)
{
	const int from_int64 = pctl_scalar_bits(from) == 64, to_int64 = pctl_scalar_bits(to) == 64;
	uint32_t low, high;

	if (from_int64 && to_int64)
		return x;
	if (to == PCTL_SCALAR_BOOL) {
		high = legal_emit(l, PCTL_OP_ZERO, l->t_u2, NULL, 0);
		return one(l, PCTL_OP_ANY, l->t_bool,
			   legal_emit(l, PCTL_OP_NE, l->t_b2, (const uint32_t[]){x, high}, 2));
	}
	if (from_int64)
		return one(l, PCTL_OP_CAST, to_type, legal_low(l, x));
	low = one(l, PCTL_OP_CAST, l->t_u32, x);
	if (from != PCTL_SCALAR_I32)
		return legal_pair(l, low, legal_word(l, 0));
	high = legal_emit2(l, PCTL_OP_SHR, l->t_i32, x, legal_word(l, 31));
	return legal_pair(l, low, one(l, PCTL_OP_CAST, l->t_u32, high));
}

static void cast(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint32_t from = pctl_arg(l->p, in, 0);
	const pctl_type *t = &l->p->types[in->type];
	uint32_t lanes[4];

	for (uint32_t k = 0; k < width_of(t); k++) {
		const uint32_t x = legal_lane(l, from, k);

		lanes[k] = cast_lane(l, x, old_type(l, from)->scalar, t->scalar,
				     l->is_int64[in->type] || t->kind != PCTL_TYPE_VECTOR
					     ? legal_type(l, in->type)
					     : legal_type(l, t->elem));
	}
	if (!l->is_int64[in->type] && t->kind == PCTL_TYPE_VECTOR)
		lanes[0] = legal_emit(l, PCTL_OP_COMPOSE, legal_type(l, in->type), lanes, t->width);
	for (uint32_t k = 0; k < width_of(t); k++)
		l->values[v].id[k] = lanes[k];
}

/* All words of a value of 32- or 64-bit components, in memory order; at most eight. */
static uint32_t words_of(legal *l, uint32_t v, uint32_t out[8])
{
	const uint32_t type = pctl_value_type(l->p, l->fn, v);
	const pctl_type *t = &l->p->types[type];
	uint32_t n = 0;

	for (uint32_t k = 0; k < width_of(t); k++) {
		const uint32_t lane = legal_lane(l, v, k);

		if (l->is_int64[type]) {
			out[n++] = legal_low(l, lane);
			out[n++] = legal_high(l, lane);
		} else {
			out[n++] = one(l, PCTL_OP_BITCAST, l->t_u32, lane);
		}
	}
	return n;
}

static void bitcast(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint32_t from = pctl_arg(l->p, in, 0);
	const pctl_type *t = &l->p->types[in->type];
	const uint32_t from_type = pctl_value_type(l->p, l->fn, from);
	uint32_t words[8] = {0}, lanes[4];

	/* Between one wide scalar and another, or two words: the pair as it is. */
	if ((legal_is_int64_scalar(l, in->type) || legal_is_int64_scalar(l, from_type)) &&
	    legal_type(l, in->type) == l->t_u2 && legal_type(l, from_type) == l->t_u2) {
		l->values[v].id[0] = l->values[from].id[0];
		return;
	}
	words_of(l, from, words);
	for (uint32_t k = 0; k < width_of(t); k++) {
		if (l->is_int64[in->type])
			lanes[k] = legal_pair(l, words[2 * k], words[2 * k + 1]);
		else
			lanes[k] =
				one(l, PCTL_OP_BITCAST,
				    legal_type(l, t->kind == PCTL_TYPE_VECTOR ? t->elem : in->type),
				    words[k]);
	}
	if (!l->is_int64[in->type] && t->kind == PCTL_TYPE_VECTOR)
		lanes[0] = legal_emit(l, PCTL_OP_COMPOSE, legal_type(l, in->type), lanes, t->width);
	for (uint32_t k = 0; k < width_of(t); k++)
		l->values[v].id[k] = lanes[k];
}

/* A table of pairs is two tables of words. */
static void lookup(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint32_t n = in->n_args / 2;
	uint32_t half[2] = {0};
	legal_arguments a;

	if (!legal_arguments_open(l, &a, n + 1))
		return;
	for (uint32_t k = 0; k < 2; k++) {
		a.n = 0;
		a.words[a.n++] = l->values[pctl_arg(l->p, in, 0)].id[0];
		for (uint32_t i = 0; i < n; i++)
			a.words[a.n++] = pctl_arg(l->p, in, 1 + 2 * i + k);
		half[k] = legal_emit(l, PCTL_OP_LOOKUP, l->t_u32, a.words, a.n);
	}
	free(a.words);
	l->values[v].id[0] = legal_pair(l, half[0], half[1]);
}

/* To or from f64. */
static void convert(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint32_t from = pctl_arg(l->p, in, 0);
	const pctl_type *t = &l->p->types[in->type];
	uint32_t lanes[4] = {0};

	for (uint32_t k = 0; k < width_of(t); k++) {
		const uint32_t x = legal_lane(l, from, k);

		lanes[k] = legal_soft64_convert(l, t->scalar, old_type(l, from)->scalar, x);
	}
	if (!l->is_int64[in->type] && t->kind == PCTL_TYPE_VECTOR)
		lanes[0] = legal_emit(l, PCTL_OP_COMPOSE, legal_type(l, in->type), lanes, t->width);
	for (uint32_t k = 0; k < width_of(t); k++)
		l->values[v].id[k] = lanes[k];
}

/* ---- sums of products --------------------------------------------------------------------- */

/* Component `row` of column `column` of the matrix value v. */
static uint32_t cell(legal *l, uint32_t v, uint32_t column, uint32_t row)
{
	const uint32_t type = pctl_value_type(l->p, l->fn, v), part = l->p->types[type].elem;
	const int wrapped = legal_is_wrapped(l, part);
	uint32_t id = legal_emit(l, PCTL_OP_EXTRACT,
				 wrapped ? legal_elem_type(l, part) : legal_type(l, part),
				 (const uint32_t[]){l->values[v].id[0], column}, 2);

	if (wrapped)
		id = legal_emit(l, PCTL_OP_EXTRACT, legal_type(l, part), (const uint32_t[]){id, 0},
				2);
	return legal_emit(l, PCTL_OP_EXTRACT, l->t_u2, (const uint32_t[]){id, row}, 2);
}

static uint32_t sum(legal *l, uint32_t total, uint32_t a, uint32_t b, uint32_t k)
{
	const uint32_t product = legal_int64_mul(l, a, b);

	return k ? legal_int64_add(l, total, product) : product;
}

/* Row `row` of column `column` of a * b; a vector a is a row, a vector b a column. */
static uint32_t product_cell(legal *l, uint32_t a, uint32_t b, uint32_t column, uint32_t row)
{
	const int a_matrix = old_type(l, a)->kind == PCTL_TYPE_MATRIX,
		  b_matrix = old_type(l, b)->kind == PCTL_TYPE_MATRIX;
	const uint32_t n = a_matrix ? old_type(l, a)->columns : old_type(l, a)->width;
	uint32_t total = 0;

	for (uint32_t k = 0; k < n; k++) {
		const uint32_t x = a_matrix ? cell(l, a, k, row) : l->values[a].id[k];
		const uint32_t y = b_matrix ? cell(l, b, column, k) : l->values[b].id[k];

		total = sum(l, total, x, y, k);
	}
	return total;
}

/* The new value of one column made of pairs, as an element of the matrix. */
static uint32_t column_of(legal *l, uint32_t matrix_type, const uint32_t *lanes)
{
	const pctl_type *t = &l->p->types[matrix_type];
	const uint32_t id = legal_emit(l, PCTL_OP_COMPOSE, legal_type(l, t->elem), lanes, t->width);

	return legal_is_wrapped(l, t->elem)
		       ? one(l, PCTL_OP_COMPOSE, legal_elem_type(l, t->elem), id)
		       : id;
}

static void matrix_result(legal *l, uint32_t v, const pctl_inst *in)
{
	const pctl_type *t = &l->p->types[in->type];
	uint32_t columns[4] = {0}, lanes[4] = {0};

	for (uint32_t c = 0; c < t->columns; c++) {
		for (uint32_t r = 0; r < t->width; r++)
			lanes[r] = in->op == PCTL_OP_TRANSPOSE
					   ? cell(l, pctl_arg(l->p, in, 0), r, c)
					   : product_cell(l, pctl_arg(l->p, in, 0),
							  pctl_arg(l->p, in, 1), c, r);
		columns[c] = column_of(l, in->type, lanes);
	}
	l->values[v].id[0] =
		legal_emit(l, PCTL_OP_COMPOSE, legal_type(l, in->type), columns, t->columns);
}

static void product(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint32_t a = pctl_arg(l->p, in, 0), b = pctl_arg(l->p, in, 1);
	const pctl_type *t = &l->p->types[in->type];

	if (t->kind == PCTL_TYPE_MATRIX) {
		matrix_result(l, v, in);
		return;
	}
	/* dot: one cell; mat*vec: cells of a column; vec*mat: cells of a row */
	for (uint32_t k = 0; k < width_of(t); k++)
		l->values[v].id[k] = old_type(l, a)->kind == PCTL_TYPE_MATRIX
					     ? product_cell(l, a, b, 0, k)
					     : product_cell(l, a, b, k, 0);
}

void legal_int64_data(legal *l, uint32_t v, const pctl_inst *in)
{
	switch (in->op) {
	case PCTL_OP_CAST:
		cast(l, v, in);
		break;
	case PCTL_OP_BITCAST:
		bitcast(l, v, in);
		break;
	case PCTL_OP_COMPOSE:
		compose(l, v, in);
		break;
	case PCTL_OP_SPLAT:
		for (uint32_t k = 0; k < l->p->types[in->type].width; k++)
			l->values[v].id[k] = l->values[pctl_arg(l->p, in, 0)].id[0];
		break;
	case PCTL_OP_EXTRACT:
		extract(l, v, in);
		break;
	case PCTL_OP_EXTRACT_DYN:
		extract_dyn(l, v, in);
		break;
	case PCTL_OP_SHUFFLE:
		for (uint32_t k = 1; k < in->n_args; k++)
			l->values[v].id[k - 1] =
				l->values[pctl_arg(l->p, in, 0)].id[pctl_arg(l->p, in, k)];
		break;
	case PCTL_OP_INSERT:
		insert(l, v, in);
		break;
	case PCTL_OP_TRANSPOSE:
		matrix_result(l, v, in);
		break;
	case PCTL_OP_LOOKUP:
		lookup(l, v, in);
		break;
	case PCTL_OP_NCONVERT:
		convert(l, v, in);
		break;
	default:
		product(l, v, in);
		break;
	}
}
