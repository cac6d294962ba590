/* A declared type against the memory of a shader's variable: what it is made of, and whether the rows that a shape names are
 * elements there. Everything is counted in slots, the bytes of one element of the declared type. */
#include <inttypes.h>
#include <string.h>

#include "foundation/base/str.h"
#include "runtime/graph/check.h"

/* Does memory of this element type mean the same to the shader: the same scalar throughout. bytes are whatever the shader
 * takes them for; a bool is a u32 in memory; what WGSL has no scalar for is a vector of u32 of its size. */
int pctl_check_same_scalar(const pctl_shader_var *v, uint32_t dtype)
{
	if (dtype == PCTL_DTYPE_BYTES)
		return 1;
	if (dtype == PCTL_SCALAR_BOOL)
		return v->scalars == 1u << PCTL_SCALAR_U32 || v->scalars == 1u << PCTL_SCALAR_BOOL;
	if (dtype == PCTL_SCALAR_U64 || dtype == PCTL_SCALAR_I64 || dtype == PCTL_SCALAR_F64)
		return v->scalars == 1u << dtype ||
		       (v->scalars == 1u << PCTL_SCALAR_U32 && v->width == 2);
	if (dtype == PCTL_DTYPE_U128)
		return v->scalars == 1u << PCTL_SCALAR_U32 && v->width == 4;
	return dtype < 32 && v->scalars == 1u << dtype;
}

const char *pctl_check_var_text(pctl_arena *arena, const pctl_shader_var *v)
{
	const char *text = NULL;

	for (uint32_t i = 0; i < 32; i++) {
		if (!(v->scalars >> i & 1u))
			continue;
		text = text == NULL && v->width > 1
			       ? pctl_arena_printf(arena, "vec%" PRIu32 "<%s>", v->width,
						   pctl_dtype_name(i))
		       : text == NULL
			       ? pctl_dtype_name(i)
			       : pctl_arena_printf(arena, "%s and %s", text, pctl_dtype_name(i));
		if (text == NULL)
			return "?";
	}
	return text == NULL ? "nothing" : text;
}

/* The products of the innermost extents of a variable's element, in slots: of array<vec2<u32>, 5> they are 2 and 10.
 * is_free: it is a struct, of which every divisor is one. */
#define EXTENTS_MAX 32u
struct extents {
	uint64_t product[EXTENTS_MAX];
	uint32_t n, is_free;
};

static void add_extent(struct extents *e, uint64_t product)
{
	if (e->n < EXTENTS_MAX && (e->n == 0 || e->product[e->n - 1] < product))
		e->product[e->n++] = product;
}

/* The element of `type` that takes n_bytes in memory, its padding among them. */
static void measure(const pctl_program *p, uint32_t type, uint64_t n_bytes, uint64_t slot,
		    struct extents *out)
{
	const pctl_type *t = &p->types[type];

	if (t->kind == PCTL_TYPE_MATRIX)
		add_extent(out, t->stride / slot);
	else if (t->kind == PCTL_TYPE_ARRAY)
		measure(p, t->elem, t->stride, slot, out);
	else if (t->kind == PCTL_TYPE_STRUCT)
		out->is_free = 1;
	add_extent(out, n_bytes / slot);
}

static int has_extent(const struct extents *e, uint64_t product)
{
	const uint64_t all = e->product[e->n - 1];

	for (uint32_t i = 0; i < e->n; i++) {
		if (e->product[i] == product)
			return 1;
	}
	return e->is_free && product < all && all % product == 0;
}

/* A struct that ends in an array of any length is a header and rows: no shape says that. */
static int ends_openly(const pctl_program *p, uint32_t type)
{
	const pctl_type *t = &p->types[type];

	return t->kind == PCTL_TYPE_STRUCT && t->count != 0 &&
	       p->types[p->members[t->first_member + t->count - 1].type].kind ==
		       PCTL_TYPE_RUNTIME_ARRAY;
}

/* The first product of trailing extents that is none of an element's, 0 when all are: those within an element are its own,
 * and rows of several elements name the element's on their way. */
static uint64_t misfit(const pctl_check_shape *s, const struct extents *e, int is_open)
{
	const uint64_t all = e->product[e->n - 1];
	uint64_t product = 1, before = 1;
	int known = 1;

	for (uint32_t i = s->rank; known && i-- > 1;) {
		known = s->dim[i] != 0 && s->dim[i] <= UINT64_MAX / product;
		if (!known)
			break;
		before = product;
		product *= s->dim[i];
		if (product <= all ? !has_extent(e, product) && product != 1
				   : before < all && all != 1)
			return product;
	}
	known = known && (s->rank == 0 || (s->dim[0] != 0 && s->dim[0] <= UINT64_MAX / product));
	if (known && is_open && s->rank != 0)
		product *= s->dim[0];
	return known && is_open && product % all != 0 ? product : 0;
}

/* "f32[..,4,4]": rows that fit. */
static void rows_text(const struct extents *e, const char *name, pctl_str_buf *out)
{
	pctl_str_addf(out, "%s[..", name);
	for (uint32_t i = e->n; i-- > 0;) {
		const uint64_t inner = i == 0 ? 1 : e->product[i - 1];

		if (e->product[i] != inner)
			pctl_str_addf(out, ",%" PRIu64, e->product[i] / inner);
	}
	pctl_str_add(out, "]");
}

static void refuse_rows(pctl_checking *c, const pctl_graph_node *n, const pctl_shader_var *v,
			const pctl_check_shape *shape, const pctl_pos *pos, const char *what,
			uint64_t rows, const struct extents *e)
{
	const char *name = pctl_dtype_name(shape->dtype);
	const uint64_t all = e->product[e->n - 1];
	pctl_str_buf hint = PCTL_STR_BUF_INIT;

	pctl_str_add(&hint, v->width == 3 ? "a vec3 takes the room of four: write " : "write ");
	rows_text(e, name, &hint);
	pctl_str_add(&hint, ", or bytes[n] where the shader takes the bytes apart itself");
	pctl_check_keep(
		c, pctl_refuse_at(c->call, PC4106_DIMENSION, pos, hint.failed ? NULL : hint.data,
				  "job \"%s\": an element of variable \"%s\" of the shader "
				  "(%s) is %" PRIu64 " %s in memory, %s has rows of %" PRIu64,
				  n->job->id, v->name, pctl_check_var_text(c->graph->arena, v), all,
				  name, what, rows));
	pctl_str_drop(&hint);
}

void pctl_check_layout(pctl_checking *c, const pctl_graph_node *n, const pctl_shader_var *v,
		       const pctl_check_shape *shape, const pctl_pos *pos, const char *what)
{
	const pctl_program *p = n->unit == NULL ? NULL : n->unit->program;
	const uint64_t slot = pctl_dtype_bytes(shape->dtype);
	struct extents e = {.n = 0};
	uint64_t rows;
	uint32_t type;
	int is_open;

	if (p == NULL || shape->any_shape || shape->dtype == PCTL_DTYPE_BYTES || slot == 0)
		return;
	type = p->vars[v->var].type;
	is_open = p->types[type].kind == PCTL_TYPE_RUNTIME_ARRAY;
	if (ends_openly(p, type))
		return;
	if (is_open)
		measure(p, p->types[type].elem, p->types[type].stride, slot, &e);
	else
		measure(p, type, p->types[type].size, slot, &e);
	rows = misfit(shape, &e, is_open);
	if (rows != 0)
		refuse_rows(c, n, v, shape, pos, what, rows, &e);
}
