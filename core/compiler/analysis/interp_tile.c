/* Matrix tiles on the interpreter: nothing is known of their components. Those of a result that is loaded or stored are
 * accesses one by one, each at the place that its lane has for it (semantics 12.3); a load of left or right touches its
 * whole array. */
#include "compiler/analysis/interp.h"

static int is_tile(const pctl_interp *w, uint32_t type)
{
	return w->p->types[type].kind == PCTL_TYPE_TILE;
}

int pctl_interp_needs_all(const pctl_interp *w, const pctl_inst *in)
{
	const uint8_t kind = pctl_op_get(in->op)->kind;

	if (kind == PCTL_OPKIND_tile || kind == PCTL_OPKIND_subgroup)
		return 1;
	/* A tile is one thing of all lanes: they change a variable of one together, and return one together. */
	return (in->op == PCTL_OP_STORE || (in->op == PCTL_OP_RETURN && in->n_args)) &&
	       is_tile(w, pctl_value_type(w->p, w->fn, pctl_arg(w->p, in, 0)));
}

#define SHARE_MAX 8u /* components of a result in a lane */

static const pctl_absval *op2(pctl_interp *w, uint16_t op, const pctl_absval *a,
			      const pctl_absval *b)
{
	const pctl_absval *args[2] = {a, b};

	return a && b ? pctl_absval_component(w, op, PCTL_SCALAR_U32, args, 2) : NULL;
}

static const pctl_absval *with_word(pctl_interp *w, uint16_t op, const pctl_absval *a, uint32_t k)
{
	return op2(w, op, a, pctl_absval_number(&w->symbols, PCTL_SCALAR_U32, k));
}

/* Number of component i of a lane's share: its element of the array. */
static const pctl_absval *element(pctl_interp *w, const pctl_inst *in, const pctl_type *t,
				  uint32_t i)
{
	const int stores = pctl_op_stores(in->op);
	const int by_rows = in->op == PCTL_OP_TILE_LOAD_ROWS || in->op == PCTL_OP_TILE_STORE_ROWS;
	const pctl_absval *offset = w->values[pctl_arg(w->p, in, (uint32_t)stores)]->part[0];
	const pctl_absval *stride = w->values[pctl_arg(w->p, in, (uint32_t)stores + 1)]->part[0];
	const pctl_absval *x, *row, *column;

	/* Workgroups are of one dimension. */
	x = pctl_interp_local_x(w);
	x = with_word(w, PCTL_OP_AND, x, PCTL_TILE_LANES - 1);
	x = with_word(w, PCTL_OP_ADD, x, i * PCTL_TILE_LANES);
	row = with_word(w, PCTL_OP_SHR, x, (uint32_t)__builtin_ctz(t->columns));
	column = with_word(w, PCTL_OP_AND, x, t->columns - 1u);
	x = op2(w, PCTL_OP_MUL, by_rows ? row : column, stride);
	x = op2(w, PCTL_OP_ADD, offset, x);
	return op2(w, PCTL_OP_ADD, x, by_rows ? column : row);
}

static int access_memory(pctl_interp *w, const pctl_inst *in, uint32_t v)
{
	const pctl_type *t = &w->p->types[pctl_tile_moved(w->p, w->fn, in)];
	const pctl_absval *elements[SHARE_MAX];
	uint32_t n = 0;

	for (; t->count == PCTL_TILE_RESULT && n < t->width * t->columns / PCTL_TILE_LANES; n++) {
		elements[n] = element(w, in, t, n);
		if (!elements[n])
			return 0;
	}
	return pctl_interp_tile_access(w, in, v, elements, n);
}

const pctl_absvec *pctl_interp_tile(pctl_interp *w, const pctl_inst *in, uint32_t v)
{
	static const pctl_absvec nothing = {0};

	if (in->op != PCTL_OP_TILE_MULTIPLY_ADD && !access_memory(w, in, v))
		return NULL;
	return in->type ? pctl_absvec_fresh(w, in->type, PCTL_AGREE_NONE, PCTL_AGREE_NONE)
			: &nothing;
}
