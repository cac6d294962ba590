/* Matrix tiles, the extension chromium_experimental_subgroup_matrix: their types, and the functions that load, store and
 * multiply them. What they are made of is lower_tile.c's. Both orders of arguments that are in use are taken:
 * subgroupMatrixLoad<T, row_major>(p, offset, stride) and subgroupMatrixLoad<T>(p, offset, col_major, stride). */
#include <string.h>

#include "compiler/wgsl/check.h"
#include "compiler/wgsl/float.h"

#define EXTENSION "chromium_experimental_subgroup_matrix"

uint32_t pctl_wgsl_tiles_refused(const struct wgsl *c, uint32_t pos)
{
	if ((c->options->flags & PCTL_WGSL_CONSENSUS) ||
	    !c->sources[pctl_wgsl_source_number(c, pos)]->has_tiles)
		return PC2226_WGSL_TILE;
	return c->subgroup_size ? 0 : PC2222_WGSL_SUBGROUP_SIZE;
}

const char *pctl_wgsl_tiles_hint(const struct wgsl *c, uint32_t code)
{
	if (c->options->flags & PCTL_WGSL_CONSENSUS)
		return "multiply elements of workgroup memory";
	return code == PC2222_WGSL_SUBGROUP_SIZE
		       ? "write `//# subgroup = 32` at the top, or say --subgroup 32"
		       : "write `//# subgroup = 32` and `enable " EXTENSION ";` at the top";
}

const char *pctl_wgsl_tiles_why(const struct wgsl *c, uint32_t code)
{
	if (c->options->flags & PCTL_WGSL_CONSENSUS)
		return "is about matrix tiles, which consensus rules do not have";
	return code == PC2222_WGSL_SUBGROUP_SIZE
		       ? "is held by a subgroup, whose size is not declared"
		       : "needs the extension " EXTENSION;
}

/* ---- types ---- */

static uint32_t component_of(struct wgsl *c, struct expr *e)
{
	static const struct {
		const char *name;
		uint32_t scalar;
	} bytes[] = {{"i8", PCTL_SCALAR_I8}, {"u8", PCTL_SCALAR_U8}, {"f64", PCTL_SCALAR_F64}};
	const struct type *t;

	for (uint32_t i = 0; i < 3 && e->kind == EX_NAME; i++)
		if (!e->has_templates && !strcmp(pctl_wgsl_sym_text(c, e->sym), bytes[i].name))
			return bytes[i].scalar;
	t = pctl_wgsl_check_type(c, e);
	return t->kind == TY_SCALAR ? t->scalar : t->kind == TY_ERROR ? 0 : PCTL_SCALAR_BOOL;
}

static int size_ok(uint32_t n, int is_inner)
{
	return is_inner ? n == 16 || n == 32 : n == 8 || n == 16;
}

static int float_size_ok(uint32_t role, uint32_t columns, uint32_t rows)
{
	const uint32_t inner = role == PCTL_TILE_LEFT ? columns : rows;

	if (role != PCTL_TILE_RESULT && inner != 4 && !size_ok(inner, 0))
		return 0;
	return (role == PCTL_TILE_LEFT || columns == 8) &&
	       (role == PCTL_TILE_RIGHT || size_ok(rows, 0));
}

/* Results of f64, factors of f32 or f64. */
static int float_ok(uint32_t scalar, uint32_t role)
{
	return scalar == PCTL_SCALAR_F64 || (scalar == PCTL_SCALAR_F32 && role != PCTL_TILE_RESULT);
}

static const struct type *refuse(struct wgsl *c, const struct expr *e, uint32_t code,
				 const char *hint, const char *text)
{
	pctl_wgsl_error(c, code, e->pos, e->end, hint, "%s", text);
	c->poisoned = 1;
	return &c->types.error;
}

static int of_subgroup(struct wgsl *c, const struct expr *e)
{
	if (c->subgroup_size == PCTL_TILE_LANES)
		return 1;
	refuse(c, e, PC2226_WGSL_TILE, "write `//# subgroup = 32` at the top",
	       "a matrix tile is held by a subgroup of 32");
	return 0;
}

const struct type *pctl_wgsl_tile_type(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	struct expr *columns = e->b ? e->b->next : NULL, *rows = columns ? columns->next : NULL;
	const int is_result = b->arg == PCTL_TILE_RESULT;
	uint32_t scalar, n[2];
	int fits;

	if (!rows || rows->next)
		return refuse(c, e, PC2406_WGSL_ARGUMENTS, NULL,
			      "a matrix tile is written with its component type, columns and rows");
	scalar = component_of(c, e->b);
	if (!scalar || pctl_wgsl_check_value(c, columns)->kind == TY_ERROR ||
	    pctl_wgsl_check_value(c, rows)->kind == TY_ERROR ||
	    !pctl_wgsl_const_u32(c, columns, "the number of columns", 1, 255, &n[0]) ||
	    !pctl_wgsl_const_u32(c, rows, "the number of rows", 1, 255, &n[1])) {
		c->poisoned = 1;
		return &c->types.error;
	}
	fits = pctl_wgsl_is_float(scalar) || scalar == PCTL_SCALAR_F64;
	if (fits && !float_ok(scalar, b->arg))
		return refuse(
			c, e, PC2227_WGSL_TILE_FLOAT,
			is_result
				? "use subgroup_matrix_result<f64, ..>, and round what is stored"
				: "use f32 or f64 components, or multiply elements in an order of "
				  "your own",
			"a tile of these floats is not taken: devices add its products up in "
			"orders "
			"and precisions of their own");
	if (fits && !float_size_ok(b->arg, n[0], n[1]))
		return refuse(
			c, e, PC2226_WGSL_TILE, NULL,
			"rows of a result of floats are 8 or 16, columns 8, and a product sums "
			"over 4, 8 or 16");
	if (fits)
		return of_subgroup(c, e) ? pctl_wgsl_tile(c, scalar, b->arg, n[0], n[1])
					 : &c->types.error;
	if (is_result ? scalar != PCTL_SCALAR_I32 && scalar != PCTL_SCALAR_U32
		      : scalar != PCTL_SCALAR_I8 && scalar != PCTL_SCALAR_U8)
		return refuse(c, e, PC2226_WGSL_TILE, NULL,
			      is_result ? "the components of a result are i32 or u32"
					: "the components of a factor are i8 or u8");
	if (!size_ok(n[0], b->arg == PCTL_TILE_LEFT) || !size_ok(n[1], b->arg == PCTL_TILE_RIGHT))
		return refuse(c, e, PC2226_WGSL_TILE, NULL,
			      "rows and columns of a result are 8 or 16, and a product sums over "
			      "16 or 32");
	return of_subgroup(c, e) ? pctl_wgsl_tile(c, scalar, b->arg, n[0], n[1]) : &c->types.error;
}

/* ---- functions ---- */

/* The order of components: 0 rows, 1 columns, 2 nothing that says so. */
static uint32_t named_order(struct wgsl *c, const struct expr *t)
{
	const char *name = t->kind == EX_NAME ? pctl_wgsl_sym_text(c, t->sym) : "";

	return !strcmp(name, "row_major") ? 0 : !strcmp(name, "col_major") ? 1 : 2;
}

/* The template that names the order, behind the type of a load. */
static const struct expr *order_template(const struct expr *e, int is_store)
{
	const struct expr *first = e->b;

	return is_store ? first : first ? first->next : NULL;
}

int pctl_wgsl_tile_by_columns(struct wgsl *c, const struct expr *e)
{
	const int is_store = pctl_wgsl_builtin_at(e->index)->kind == BUILTIN_TILE_STORE;
	const struct expr *order = order_template(e, is_store), *a = e->a->next->next;

	if (order)
		return named_order(c, order) == 1;
	return pctl_wgsl_leaf(is_store ? a->next : a, 0) != 0;
}

/* An i32 is taken as the u32 of the same bits. */
static int number_ok(struct wgsl *c, struct expr *e, const char *what)
{
	return e->type == &c->types.scalar[PCTL_SCALAR_I32] ||
	       pctl_wgsl_coerce(c, e, &c->types.scalar[PCTL_SCALAR_U32], what);
}

/* The elements of an array that holds a tile's components, and those that hold their bits (0: none). */
static void elements_of(const struct type *tile, uint32_t of[2])
{
	of[1] = 0;
	if (tile->scalar == PCTL_SCALAR_F32 || tile->scalar == PCTL_SCALAR_F64) {
		of[0] = tile->scalar;
		of[1] = tile->scalar == PCTL_SCALAR_F32 ? PCTL_SCALAR_U32 : PCTL_SCALAR_U64;
	} else {
		of[0] = pctl_scalar_is_signed(tile->scalar) ? PCTL_SCALAR_I32 : PCTL_SCALAR_U32;
	}
}

/* The pointer of a load or store: to an array of words of the tile's signedness, or of its floats. */
static int memory_ok(struct wgsl *c, struct expr *e, const struct type *tile, int is_store)
{
	const struct type *p = e->a->type, *array = p->kind == TY_POINTER ? p->elem : NULL;
	const struct type *elem = array ? array->elem : NULL;
	uint32_t of[2];

	elements_of(tile, of);
	if (elem && elem->kind == TY_VECTOR && elem->width != 3 && tile->count != PCTL_TILE_RESULT)
		elem = &c->types.scalar[elem->scalar];
	if (!array || (array->kind != TY_ARRAY && array->kind != TY_RUNTIME_ARRAY) ||
	    (elem != &c->types.scalar[of[0]] && (!of[1] || elem != &c->types.scalar[of[1]])) ||
	    (p->space != PCTL_SPACE_STORAGE && p->space != PCTL_SPACE_WORKGROUP)) {
		pctl_wgsl_error(c, PC2406_WGSL_ARGUMENTS, e->a->pos, e->a->end,
				of[1] ? "an array of integers of the same size holds their bits"
				      : "a word holds four components of 8 bits, the lowest first",
				"%s is moved through a pointer to an array of %s in storage or "
				"workgroup memory, found %s",
				pctl_wgsl_type_name(c, tile), pctl_scalar_name((uint8_t)of[0]),
				pctl_wgsl_type_name(c, p));
		return 0;
	}
	if (is_store && p->access != PCTL_ACCESS_READ_WRITE) {
		pctl_wgsl_error(c, PC2415_WGSL_ACCESS, e->a->pos, e->a->end,
				"write var<storage, read_write>", "this memory is read-only");
		return 0;
	}
	return 1;
}

/* The arguments of a load or store that are no tile: offset, order, stride. */
static int layout_ok(struct wgsl *c, struct expr *e, int is_store)
{
	const struct expr *order = order_template(e, is_store);
	struct expr *offset = e->a->next, *rest = is_store ? offset->next->next : offset->next;

	if (order && (order->next || named_order(c, order) == 2)) {
		pctl_wgsl_error(c, PC2406_WGSL_ARGUMENTS, order->pos, order->end, NULL,
				"the order of components is row_major or col_major");
		return 0;
	}
	if (!order) {
		if (!pctl_wgsl_coerce(c, rest, &c->types.scalar[PCTL_SCALAR_BOOL], "col_major"))
			return 0;
		if (rest->stage != STAGE_CONST) {
			pctl_wgsl_error(c, PC2410_WGSL_NOT_CONST, rest->pos, rest->end, NULL,
					"the order of components is a constant");
			return 0;
		}
		rest = rest->next;
	}
	return number_ok(c, offset, "the offset") && number_ok(c, rest, "the stride");
}

static void move(struct wgsl *c, struct expr *e, int is_store)
{
	const uint32_t wanted = (is_store ? 4u : 3u) + !order_template(e, is_store);
	const struct type *tile;

	if ((!is_store && !e->b) || e->n_args != wanted) {
		pctl_wgsl_refuse_arguments(
			c, e,
			is_store ? "subgroupMatrixStore<row_major>(pointer, offset, tile, stride)"
				 : "subgroupMatrixLoad<TILE, row_major>(pointer, offset, stride)");
		return;
	}
	tile = is_store ? e->a->next->next->type : pctl_wgsl_check_type(c, e->b);
	if (tile->kind != TY_TILE) {
		if (tile->kind != TY_ERROR)
			pctl_wgsl_refuse_arguments(c, e, "a matrix tile");
		else
			pctl_wgsl_set_error(c, e);
		return;
	}
	if (is_store && tile->count != PCTL_TILE_RESULT) {
		pctl_wgsl_error(c, PC2226_WGSL_TILE, e->pos, e->end, "store the words it came from",
				"only results are stored: factors would share words with others");
		pctl_wgsl_set_error(c, e);
		return;
	}
	if (!memory_ok(c, e, tile, is_store) || !layout_ok(c, e, is_store)) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = is_store ? &c->types.none : tile;
}

static void multiply(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	const struct type *l, *r, *out;
	uint32_t scalar;

	if (e->n_args != b->n_args || (b->n_args == 2) != (e->b != NULL) || (e->b && e->b->next)) {
		pctl_wgsl_refuse_arguments(
			c, e,
			b->n_args == 2 ? "subgroupMatrixMultiply<i32>(left, right)"
				       : "subgroupMatrixMultiplyAccumulate(left, right, result)");
		return;
	}
	l = e->a->type;
	r = e->a->next->type;
	if (l->kind != TY_TILE || r->kind != TY_TILE || l->count != PCTL_TILE_LEFT ||
	    r->count != PCTL_TILE_RIGHT || l->scalar != r->scalar || l->columns != r->width) {
		pctl_wgsl_refuse_arguments(
			c, e, "a left and a right tile of one component type that fit");
		return;
	}
	scalar = pctl_scalar_is_signed(l->scalar) ? PCTL_SCALAR_I32 : PCTL_SCALAR_U32;
	if (l->scalar == PCTL_SCALAR_F32 || l->scalar == PCTL_SCALAR_F64)
		scalar = PCTL_SCALAR_F64;
	out = pctl_wgsl_tile(c, scalar, PCTL_TILE_RESULT, r->columns, l->width);
	if (e->b ? component_of(c, e->b) != scalar : e->a->next->next->type != out) {
		pctl_wgsl_error(c, PC2404_WGSL_TYPE, e->pos, e->end, NULL, "the result is %s",
				pctl_wgsl_type_name(c, out));
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = out;
}

void pctl_wgsl_check_tile_call(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	struct expr *a;
	int ok = 1;

	for (a = e->a; a; a = a->next)
		ok &= pctl_wgsl_check_value(c, a)->kind != TY_ERROR;
	if (!ok)
		pctl_wgsl_set_error(c, e);
	else if (b->kind == BUILTIN_TILE_PRODUCT)
		multiply(c, e, b);
	else
		move(c, e, b->kind == BUILTIN_TILE_STORE);
}
