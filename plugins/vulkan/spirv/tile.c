/* Matrix tiles as cooperative matrices of the subgroup. The host has proved that everyone of whole subgroups arrives, and marks
 * loads and stores as whole (PCTL_INST_WHOLE): uniform, aligned to 16 bytes and inside, as these instructions ask for. Strides
 * and pointers count elements of the array. */
#include "spirv/coopmat.h"
#include "spirv/spirv.h"

uint32_t pctl_spv_tile_type(pctl_spv *e, const pctl_type *t)
{
	static const uint32_t uses[] = {0, COOPMAT_USE_A, COOPMAT_USE_B, COOPMAT_USE_ACCUMULATOR};
	const uint32_t component = pctl_spv_type(e, t->count == PCTL_TILE_RESULT ? 32 : 8, 1);
	const uint32_t scope = pctl_spv_u32(e, SpvScopeSubgroup), rows = pctl_spv_u32(e, t->width),
		       columns = pctl_spv_u32(e, t->columns),
		       use = pctl_spv_u32(e, uses[t->count & 3]);
	int fresh;
	/* Components of one width have one type, whatever their sign. */
	const uint32_t id = pctl_spv_intern(e, (SpvOp)COOPMAT_OP_TYPE, component,
					    (uint32_t)t->width << 16 | t->columns, use, &fresh);

	if (fresh)
		PCTL_SPV_PUT(e, &e->globals, (SpvOp)COOPMAT_OP_TYPE, id, component, scope, rows,
			     columns, use);
	return id;
}

uint32_t pctl_spv_tile_zero(pctl_spv *e, uint32_t type)
{
	const pctl_type *t = &e->p->types[type];
	const uint32_t zero = pctl_spv_const(e, t->count == PCTL_TILE_RESULT ? 32 : 8, 1, 0);
	int fresh;
	const uint32_t id =
		pctl_spv_intern(e, SpvOpConstantComposite, e->plain[type], zero, 1, &fresh);

	if (fresh)
		PCTL_SPV_PUT(e, &e->globals, SpvOpConstantComposite, e->plain[type], id, zero);
	return id;
}

uint32_t pctl_spv_tile_product(pctl_spv *e, const pctl_inst *in)
{
	const int is_signed = e->p->types[in->type].scalar == PCTL_SCALAR_I32;
	const uint32_t signs = is_signed ? COOPMAT_SIGNED_A | COOPMAT_SIGNED_B | COOPMAT_SIGNED_C |
						   COOPMAT_SIGNED_RESULT
					 : 0;

	return PCTL_SPV_VALUE(e, (SpvOp)COOPMAT_OP_MUL_ADD, e->plain[in->type],
			      pctl_spv_arg(e, in, 0), pctl_spv_arg(e, in, 1),
			      pctl_spv_arg(e, in, 2), signs);
}

/* Components to elements of the array: words of 32 bits, or vectors of these. */
static uint32_t elements(pctl_spv *e, const pctl_inst *in, const pctl_type *t, uint32_t components)
{
	const pctl_type *elem;
	uint32_t shift = t->count == PCTL_TILE_RESULT ? 0 : 2;
	pctl_place place;

	pctl_place_get(e->p, e->fn, in, &place);
	elem = &e->p->types[e->p->types[place.end_type].elem];
	if (elem->kind == PCTL_TYPE_VECTOR)
		shift += elem->width / 2u;
	if (shift == 0)
		return components;
	return PCTL_SPV_VALUE(e, SpvOpShiftRightLogical, pctl_spv_type(e, 32, 1), components,
			      pctl_spv_u32(e, shift));
}

uint32_t pctl_spv_tile_index(pctl_spv *e, const pctl_inst *in)
{
	const uint32_t stores = (uint32_t)pctl_op_stores(in->op);

	return elements(e, in, &e->p->types[pctl_tile_moved(e->p, e->fn, in)],
			pctl_spv_arg(e, in, stores));
}

uint32_t pctl_spv_tile_move(pctl_spv *e, const pctl_inst *in, uint32_t pointer,
			    SpvStorageClass class)
{
	const int stores = pctl_op_stores(in->op);
	const pctl_type *t = &e->p->types[pctl_tile_moved(e->p, e->fn, in)];
	const int by_columns =
		in->op == PCTL_OP_TILE_LOAD_COLUMNS || in->op == PCTL_OP_TILE_STORE_COLUMNS;
	uint32_t operands[8], n = 0;

	operands[n++] = pointer;
	if (stores)
		operands[n++] = pctl_spv_arg(e, in, 0);
	operands[n++] = pctl_spv_u32(e, by_columns ? COOPMAT_COLUMN_MAJOR : COOPMAT_ROW_MAJOR);
	operands[n++] = elements(e, in, t, pctl_spv_arg(e, in, stores ? 2 : 1));
	operands[n++] = pctl_spv_memory_operand(e, class);
	if (!stores)
		return pctl_spv_value(e, (SpvOp)COOPMAT_OP_LOAD, e->plain[in->type], operands, n);
	pctl_spv_effect(e, (SpvOp)COOPMAT_OP_STORE, operands, n);
	return 0;
}
