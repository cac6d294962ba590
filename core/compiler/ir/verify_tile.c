/* Verification of matrix tiles: shapes, the memory they are moved to and from, products, and the workgroups that hold
 * them. */
#include "compiler/ir/verify.h"

static int is_byte(uint8_t scalar)
{
	return scalar == PCTL_SCALAR_I8 || scalar == PCTL_SCALAR_U8;
}

static int is_word(uint8_t scalar)
{
	return scalar == PCTL_SCALAR_I32 || scalar == PCTL_SCALAR_U32;
}

static int is_factor_float(uint8_t scalar)
{
	return scalar == PCTL_SCALAR_F32 || scalar == PCTL_SCALAR_F64;
}

static int is_outer(uint32_t n) /* M or N */
{
	return n == 8 || n == 16;
}

static int is_inner(uint32_t n) /* K */
{
	return n == 16 || n == 32;
}

static int is_inner_float(uint32_t n)
{
	return n == 4 || n == 8 || n == 16;
}

int pctl_verify_tile_shape(const pctl_type *t)
{
	const int is_float = pctl_tile_is_float(t);

	switch (t->count) {
	case PCTL_TILE_LEFT:
		return is_float ? is_factor_float(t->scalar) && is_outer(t->width) &&
					  is_inner_float(t->columns)
				: is_byte(t->scalar) && is_outer(t->width) && is_inner(t->columns);
	case PCTL_TILE_RIGHT:
		return is_float ? is_factor_float(t->scalar) && is_inner_float(t->width) &&
					  t->columns == 8
				: is_byte(t->scalar) && is_inner(t->width) && is_outer(t->columns);
	case PCTL_TILE_RESULT:
		return is_float ? t->scalar == PCTL_SCALAR_F64 && is_outer(t->width) &&
					  t->columns == 8
				: is_word(t->scalar) && is_outer(t->width) && is_outer(t->columns);
	default:
		return 0;
	}
}

static const pctl_type *operand(const pctl_verify *v, const pctl_inst *in, uint32_t arg)
{
	return &v->p->types[pctl_value_type(v->p, v->fn, pctl_arg(v->p, in, arg))];
}

static int is_u32(const pctl_type *t)
{
	return t->kind == PCTL_TYPE_SCALAR && t->scalar == PCTL_SCALAR_U32;
}

static int is_one_of(const pctl_type *elem, uint8_t a, uint8_t b)
{
	return elem->scalar == a || elem->scalar == b;
}

/* The array holds 32-bit words of the tile's signedness, or floats of the tile's type or their bits. */
static int fits_array(const pctl_verify *v, const pctl_type *array, const pctl_type *tile)
{
	const pctl_type *elem = &v->p->types[array->elem];

	if (array->kind != PCTL_TYPE_ARRAY && array->kind != PCTL_TYPE_RUNTIME_ARRAY)
		return 0;
	/* Vectors without a gap, of factors, which are only loaded. */
	if (elem->kind != PCTL_TYPE_SCALAR &&
	    (elem->kind != PCTL_TYPE_VECTOR || elem->width == 3 || tile->count == PCTL_TILE_RESULT))
		return 0;
	if (tile->scalar == PCTL_SCALAR_F64)
		return is_one_of(elem, PCTL_SCALAR_F64, PCTL_SCALAR_U64);
	if (tile->scalar == PCTL_SCALAR_F32)
		return is_one_of(elem, PCTL_SCALAR_F32, PCTL_SCALAR_U32);
	return is_word(elem->scalar) &&
	       pctl_scalar_is_signed(elem->scalar) == pctl_scalar_is_signed(tile->scalar);
}

int pctl_verify_tile_place(pctl_verify *v, const pctl_inst *in, const pctl_place *place)
{
	const uint32_t moved = pctl_tile_moved(v->p, v->fn, in);
	const pctl_type *tile = &v->p->types[moved];
	const int stores = pctl_op_stores(in->op);

	if (tile->kind != PCTL_TYPE_TILE || !is_u32(operand(v, in, place->n_values - 1u)) ||
	    !is_u32(operand(v, in, place->n_values - 2u)) ||
	    (stores && tile->count != PCTL_TILE_RESULT))
		return pctl_verify_complain(v, PC2021_PROGRAM_OPERAND,
					    "operands or result have types that do not fit");
	if (!fits_array(v, &v->p->types[place->end_type], tile))
		return pctl_verify_complain(
			v, PC2024_PROGRAM_PLACE,
			"the place is no array that holds the tile's components");
	if (place->space != PCTL_SPACE_STORAGE && place->space != PCTL_SPACE_WORKGROUP)
		return pctl_verify_complain(v, PC2025_PROGRAM_ACCESS,
					    "the place is not in storage or workgroup memory");
	if (stores && !(v->p->vars[place->root].access & PCTL_ACCESS_WRITE))
		return pctl_verify_complain(v, PC2025_PROGRAM_ACCESS, "the variable is read-only");
	return 1;
}

int pctl_verify_tile(pctl_verify *v, const pctl_inst *in)
{
	const pctl_type *a = operand(v, in, 0), *b = operand(v, in, 1), *r = &v->p->types[in->type];

	return a->kind == PCTL_TYPE_TILE && a->count == PCTL_TILE_LEFT &&
	       b->kind == PCTL_TYPE_TILE && b->count == PCTL_TILE_RIGHT &&
	       r->kind == PCTL_TYPE_TILE && r->count == PCTL_TILE_RESULT &&
	       pctl_value_type(v->p, v->fn, pctl_arg(v->p, in, 2)) == in->type &&
	       a->scalar == b->scalar && pctl_tile_is_float(a) == pctl_tile_is_float(r) &&
	       pctl_scalar_is_signed(a->scalar) == pctl_scalar_is_signed(r->scalar) &&
	       a->columns == b->width && a->width == r->width && b->columns == r->columns;
}

void pctl_verify_tile_workgroup(pctl_verify *v)
{
	const pctl_entry *e = &v->p->entries[0];
	uint32_t i, uses = 0;

	/* Of several entry points one may be without tiles; a program that runs has one, with literal sizes. */
	if (v->p->n_entries != 1)
		return;
	for (i = 0; i < 3; i++)
		if (e->workgroup_size_spec[i])
			return;
	for (i = 0; i < v->p->n_types; i++)
		uses |= v->p->types[i].kind == PCTL_TYPE_TILE;
	if (uses && (e->workgroup_size[0] % PCTL_TILE_LANES || e->workgroup_size[1] != 1 ||
		     e->workgroup_size[2] != 1))
		pctl_verify_complain(v, PC2031_PROGRAM_TILE_WORKGROUP,
				     "entry point \"%s\" has workgroups of %u x %u x %u",
				     pctl_str(v->p, e->name), e->workgroup_size[0],
				     e->workgroup_size[1], e->workgroup_size[2]);
}
