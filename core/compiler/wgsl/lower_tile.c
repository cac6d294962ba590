/* Lowering of matrix tiles: one instruction a function. */
#include "compiler/wgsl/check.h"
#include "compiler/wgsl/lower.h"

static uint32_t number(struct lower *l, const struct expr *e)
{
	const struct type *u32 = &l->c->types.scalar[PCTL_SCALAR_U32];
	const uint32_t v = pctl_wgsl_lower_value(l, e);

	return e->type == u32 ? v : pctl_wgsl_emit1(l, PCTL_OP_BITCAST, u32, v);
}

static uint32_t move(struct lower *l, const struct expr *e, int is_store)
{
	const int by_columns = pctl_wgsl_tile_by_columns(l->c, e);
	const struct expr *offset = e->a->next, *last = offset;
	uint32_t values[3], n = 0, at;
	struct place p;

	while (last->next)
		last = last->next;
	pctl_wgsl_lower_place(l, e->a, &p);
	at = number(l, offset);
	if (is_store)
		values[n++] = pctl_wgsl_lower_value(l, offset->next);
	values[n++] = at;
	values[n++] = number(l, last);
	pctl_wgsl_at_expr(l, e);
	if (is_store)
		return pctl_wgsl_access(
			l, by_columns ? PCTL_OP_TILE_STORE_COLUMNS : PCTL_OP_TILE_STORE_ROWS, 0,
			values, n, &p);
	return pctl_wgsl_access(l, by_columns ? PCTL_OP_TILE_LOAD_COLUMNS : PCTL_OP_TILE_LOAD_ROWS,
				pctl_wgsl_type_id(l, e->type), values, n, &p);
}

uint32_t pctl_wgsl_lower_tile(struct lower *l, const struct expr *e)
{
	const struct builtin *b = pctl_wgsl_builtin_at(e->index);
	uint32_t left, right, sum;

	if (b->kind != BUILTIN_TILE_PRODUCT)
		return move(l, e, b->kind == BUILTIN_TILE_STORE);
	left = pctl_wgsl_lower_value(l, e->a);
	right = pctl_wgsl_lower_value(l, e->a->next);
	sum = e->n_args == 3 ? pctl_wgsl_lower_value(l, e->a->next->next)
			     : pctl_wgsl_zero(l, e->type);
	pctl_wgsl_at_expr(l, e);
	return pctl_wgsl_emit3(l, PCTL_OP_TILE_MULTIPLY_ADD, e->type, left, right, sum);
}
