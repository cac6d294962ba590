/* Types by name: predeclared ones with their templates, aliases, structs; and the names that are
 * refused. */
#include <string.h>

#include "compiler/wgsl/check.h"
#include "compiler/wgsl/float.h"

static uint32_t scalar_of_name(const struct builtin *b)
{
	return b->kind == BUILTIN_SCALAR      ? b->arg
	       : b->kind == BUILTIN_VECTOR_OF ? b->arg / 8
	       : b->kind == BUILTIN_MATRIX_OF ? b->arg / 64
					      : 0;
}

uint32_t pctl_wgsl_is_refused(const struct wgsl *c, const struct builtin *b, uint32_t pos)
{
	const uint32_t flags = c->options->flags, scalar = scalar_of_name(b);

	if (b->kind == BUILTIN_REFUSED)
		return b->arg;
	if (pctl_wgsl_builtin_is_subgroup(b))
		return pctl_wgsl_subgroups_refused(c, pos);
	if (pctl_wgsl_builtin_is_tile(b))
		return pctl_wgsl_tiles_refused(c, pos);
	if (!PCTL_WGSL_HAS_FLOATS(flags) &&
	    (pctl_wgsl_is_float(scalar) || pctl_wgsl_builtin_is_float(b)))
		return PC2200_WGSL_FLOAT;
	if (scalar == PCTL_SCALAR_F16 && !c->sources[pctl_wgsl_source_number(c, pos)]->has_f16)
		return PC2220_WGSL_F16;
	if (flags & PCTL_WGSL_NATIVE)
		return scalar == PCTL_SCALAR_BF16 ? PC2219_WGSL_F64 : 0;
	return (scalar == PCTL_SCALAR_F64 && !PCTL_WGSL_HAS_F64(flags)) ||
			       b->kind == BUILTIN_MUL_HIGH
		       ? PC2219_WGSL_F64
		       : 0;
}

void pctl_wgsl_refused_name(struct wgsl *c, const struct expr *e, const struct builtin *b)
{
	const char *hint = NULL, *why = "is outside the subset";
	const uint32_t code = pctl_wgsl_is_refused(c, b, e->pos);

	switch (code) {
	case PC2200_WGSL_FLOAT:
		hint = "use integers with a fixed scale, as in 850000 for 0.85 with scale 1000000";
		why = "needs floats, which are not taken here";
		break;
	case PC2219_WGSL_F64:
		hint = b->kind == BUILTIN_MUL_HIGH ? "multiply halves of 16 bits" : "use f32";
		why = c->options->flags & PCTL_WGSL_NATIVE
			      ? "exists only in shaders, not in pipectl's own kernels"
		      : b->kind == BUILTIN_MUL_HIGH
			      ? "exists only in pipectl's own kernels, not in shaders"
			      : "is not taken by the consensus rules";
		break;
	case PC2220_WGSL_F16:
		hint = "write `enable f16;` at the top";
		why = "needs the extension f16";
		break;
	case PC2201_WGSL_TEXTURE:
		hint = "use a storage buffer";
		why = "is about textures: sampling differs between devices";
		break;
	case PC2202_WGSL_SAMPLER:
		hint = "use a storage buffer";
		why = "samples textures, which differs between devices";
		break;
	case PC2226_WGSL_TILE:
		hint = pctl_wgsl_tiles_hint(c, code);
		why = pctl_wgsl_tiles_why(c, code);
		break;
	case PC2203_WGSL_SUBGROUP:
	case PC2222_WGSL_SUBGROUP_SIZE:
		if (pctl_wgsl_builtin_is_tile(b)) {
			hint = pctl_wgsl_tiles_hint(c, code);
			why = pctl_wgsl_tiles_why(c, code);
			break;
		}
		hint = pctl_wgsl_subgroups_hint(c, code);
		why = pctl_wgsl_subgroups_why(c, code);
		break;
	case PC2204_WGSL_DERIVATIVE:
		why = "belongs to fragment shaders";
		break;
	case PC2205_WGSL_TEXTURE_BARRIER:
		hint = "use storageBarrier() or workgroupBarrier()";
		why = "is about textures";
		break;
	default:
		break;
	}
	pctl_wgsl_error(c, code, e->pos, e->op_pos ? e->op_pos : e->end, hint, "\"%s\" %s", b->name,
			why);
}

static const struct type *fail(struct wgsl *c)
{
	c->poisoned = 1;
	return &c->types.error;
}

static int count_templates(struct wgsl *c, const struct expr *e, uint32_t least, uint32_t most)
{
	const struct expr *a;
	uint32_t n = 0;

	for (a = e->b; a; a = a->next)
		n++;
	if (n >= least && n <= most)
		return 1;
	pctl_wgsl_error(c, PC2406_WGSL_ARGUMENTS, e->pos, e->end, NULL,
			least == most ? "\"%s\" takes %u template arguments, found %u"
				      : "\"%s\" takes %u or more template arguments, found %u",
			pctl_wgsl_sym_text(c, e->sym), least, n);
	return 0;
}

/* The scalar argument of vec, mat and atomic. 0 after an error. */
static uint32_t scalar_template(struct wgsl *c, struct expr *e, int bool_too)
{
	const struct type *t = pctl_wgsl_check_type(c, e->b);

	if (t->kind == TY_ERROR)
		return 0;
	if (t->kind == TY_SCALAR && (bool_too || t->scalar != PCTL_SCALAR_BOOL))
		return t->scalar;
	pctl_wgsl_error(c, PC2404_WGSL_TYPE, e->b->pos, e->b->end, NULL,
			"%s cannot have elements of %s", pctl_wgsl_sym_text(c, e->sym),
			pctl_wgsl_type_name(c, t));
	return 0;
}

static const struct type *array_type(struct wgsl *c, struct expr *e)
{
	const struct type *elem = pctl_wgsl_check_type(c, e->b);
	struct expr *count = e->b->next;
	const struct type *t;
	uint64_t stride;
	uint32_t n = 0;

	if (count && pctl_wgsl_check_value(c, count)->kind == TY_ERROR)
		return fail(c);
	if (elem->kind == TY_ERROR)
		return elem;
	if (elem->kind == TY_POINTER || elem->kind == TY_TILE || elem->has_runtime ||
	    elem->kind == TY_VOID || (elem->kind == TY_ARRAY && !elem->count)) {
		pctl_wgsl_error(c, PC2404_WGSL_TYPE, e->b->pos, e->b->end, NULL,
				"an array cannot have elements of %s",
				pctl_wgsl_type_name(c, elem));
		return fail(c);
	}
	if (elem->nesting >= WGSL_MAX_COMPOSITE) {
		pctl_wgsl_error(c, PC2105_WGSL_NESTING, e->pos, e->end, NULL,
				"types are nested deeper than %u", WGSL_MAX_COMPOSITE);
		return fail(c);
	}
	if (!count)
		return pctl_wgsl_array(c, elem, 0, NULL);
	if (count->stage == STAGE_RUNTIME) {
		pctl_wgsl_error(c, PC2428_WGSL_ARRAY_COUNT, count->pos, count->end,
				"use `const` or, for workgroup variables, `override`",
				"the number of elements must be known before the shader runs");
		return fail(c);
	}
	if (count->stage == STAGE_OVERRIDE) {
		if (!pctl_wgsl_settle(c, count) || !pctl_wgsl_is_integer(count->type->scalar) ||
		    count->type->kind != TY_SCALAR) {
			pctl_wgsl_error(c, PC2428_WGSL_ARRAY_COUNT, count->pos, count->end, NULL,
					"the number of elements must be an i32 or u32");
			return fail(c);
		}
		pctl_wgsl_check_spec(c, count);
		return pctl_wgsl_array(c, elem, 0, count);
	}
	stride = pctl_wgsl_stride_of(c, elem);
	if (!pctl_wgsl_const_u32(c, count, "the number of elements", 1, WGSL_MAX_TYPE_BYTES, &n))
		return fail(c);
	if (stride * n > WGSL_MAX_TYPE_BYTES) {
		pctl_wgsl_error(c, PC2436_WGSL_TYPE_SIZE, e->pos, e->end, NULL,
				"the array has %llu bytes; the limit is %llu",
				(unsigned long long)(stride * n),
				(unsigned long long)WGSL_MAX_TYPE_BYTES);
		return fail(c);
	}
	t = pctl_wgsl_array(c, elem, n, NULL);
	return t;
}

static uint32_t enumerant(struct wgsl *c, const struct expr *e, const char *const *names,
			  uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n && e->kind == EX_NAME; i++)
		if (!strcmp(names[i], pctl_wgsl_sym_text(c, e->sym)))
			return i + 1;
	pctl_wgsl_error(c, PC2420_WGSL_ADDRESS_SPACE, e->pos, e->end, NULL,
			"this is no address space or access mode");
	return 0;
}

static const struct type *pointer_type(struct wgsl *c, struct expr *e)
{
	static const char *const spaces[] = {"function", "private", "workgroup", "uniform",
					     "storage"};
	static const char *const accesses[] = {"read", "write", "read_write"};
	uint32_t space = enumerant(c, e->b, spaces, 5), access;
	const struct type *to = pctl_wgsl_check_type(c, e->b->next);

	if (!space || to->kind == TY_ERROR)
		return fail(c);
	access = space < PCTL_SPACE_UNIFORM ? PCTL_ACCESS_READ_WRITE : PCTL_ACCESS_READ;
	if (e->b->next->next)
		access = enumerant(c, e->b->next->next, accesses, 3);
	if (!access)
		return fail(c);
	if (e->b->next->next && !pctl_wgsl_is_first_rules(c) &&
	    (space != PCTL_SPACE_STORAGE || access == PCTL_ACCESS_WRITE)) {
		pctl_wgsl_error(c, PC2420_WGSL_ADDRESS_SPACE, e->b->next->next->pos,
				e->b->next->next->end,
				space == PCTL_SPACE_STORAGE ? "use read_write" : "leave it out",
				space == PCTL_SPACE_STORAGE
					? "storage memory is read or read_write"
					: "only pointers to storage have an access mode");
		return fail(c);
	}
	if (to->kind == TY_POINTER) {
		pctl_wgsl_error(c, PC2434_WGSL_POINTER, e->pos, e->end, NULL,
				"there are no pointers to pointers");
		return fail(c);
	}
	return pctl_wgsl_pointer(c, to, space, access);
}

const struct type *pctl_wgsl_builtin_type(struct wgsl *c, struct expr *e, const struct builtin *b,
					  int *partial)
{
	uint32_t scalar;

	*partial = 0;
	switch (b->kind) {
	case BUILTIN_SCALAR:
	case BUILTIN_VECTOR_OF:
	case BUILTIN_MATRIX_OF:
		if (e->has_templates) {
			pctl_wgsl_error(c, PC2406_WGSL_ARGUMENTS, e->pos, e->end, NULL,
					"\"%s\" takes no template arguments", b->name);
			return fail(c);
		}
		return b->kind == BUILTIN_SCALAR ? &c->types.scalar[b->arg]
		       : b->kind == BUILTIN_VECTOR_OF
			       ? pctl_wgsl_vector(c, b->arg / 8, b->arg % 8)
			       : pctl_wgsl_matrix(c, b->arg / 64, b->arg / 8 % 8, b->arg % 8);
	case BUILTIN_VECTOR:
	case BUILTIN_MATRIX:
	case BUILTIN_ATOMIC:
	case BUILTIN_ARRAY:
		if (!e->has_templates) {
			*partial = 1;
			return NULL;
		}
		break;
	default:
		if (!e->has_templates) {
			pctl_wgsl_error(c, PC2406_WGSL_ARGUMENTS, e->pos, e->end,
					b->kind == BUILTIN_TILE
						? "write its component type, columns and rows"
						: "write ptr<function, TYPE>",
					"\"%s\" needs template arguments", b->name);
			return fail(c);
		}
	}
	if (b->kind == BUILTIN_ARRAY)
		return count_templates(c, e, 1, 2) ? array_type(c, e) : fail(c);
	if (b->kind == BUILTIN_TILE)
		return pctl_wgsl_tile_type(c, e, b);
	if (b->kind == BUILTIN_POINTER)
		return count_templates(c, e, 2, 3) ? pointer_type(c, e) : fail(c);
	if (!count_templates(c, e, 1, 1))
		return fail(c);
	scalar = scalar_template(c, e, b->kind == BUILTIN_VECTOR);
	if (!scalar)
		return fail(c);
	if (b->kind == BUILTIN_VECTOR)
		return pctl_wgsl_vector(c, scalar, b->arg);
	if (b->kind == BUILTIN_MATRIX)
		return pctl_wgsl_matrix(c, scalar, b->arg / 8, b->arg % 8);
	if (scalar == PCTL_SCALAR_I32 || scalar == PCTL_SCALAR_U32)
		return &c->types.atomic[scalar];
	pctl_wgsl_error(c, PC2433_WGSL_ATOMIC, e->pos, e->end, "use atomic<u32> or atomic<i32>",
			"atomics are 32 bits wide");
	return fail(c);
}

const struct type *pctl_wgsl_check_type(struct wgsl *c, struct expr *e)
{
	const struct type *t;
	const struct builtin *b;
	struct decl *d;
	int partial;

	if (e->kind != EX_NAME) {
		if (e->kind != EX_ERROR)
			pctl_wgsl_error(c, PC2402_WGSL_NOT_A_TYPE, e->pos, e->end, NULL,
					"a type is wanted here");
		return fail(c);
	}
	d = pctl_wgsl_lookup(c, e->sym, e->pos, e->end);
	if (d) {
		if (d->kind == DECL_ERROR)
			return fail(c);
		if (d->kind != DECL_ALIAS && d->kind != DECL_STRUCT) {
			pctl_wgsl_error_note(c, PC2402_WGSL_NOT_A_TYPE, e->pos, e->end, NULL,
					     d->pos, d->end, "it is declared here",
					     "\"%s\" is not a type", pctl_wgsl_sym_text(c, e->sym));
			return fail(c);
		}
		if (e->has_templates)
			pctl_wgsl_error(c, PC2406_WGSL_ARGUMENTS, e->pos, e->end, NULL,
					"\"%s\" takes no template arguments",
					pctl_wgsl_sym_text(c, e->sym));
		return d->type ? d->type : fail(c);
	}
	if (!c->syms[e->sym].builtin) {
		pctl_wgsl_unknown_name(c, e);
		return fail(c);
	}
	b = pctl_wgsl_builtin_at(c->syms[e->sym].builtin - 1);
	if (pctl_wgsl_is_refused(c, b, e->pos)) {
		pctl_wgsl_refused_name(c, e, b);
		return fail(c);
	}
	if (!pctl_wgsl_builtin_is_type(b)) {
		pctl_wgsl_error(c, PC2402_WGSL_NOT_A_TYPE, e->pos, e->end, NULL,
				"\"%s\" is a function, not a type", b->name);
		return fail(c);
	}
	t = pctl_wgsl_builtin_type(c, e, b, &partial);
	if (!partial)
		return t;
	pctl_wgsl_error(c, PC2402_WGSL_NOT_A_TYPE, e->pos, e->end,
			pctl_wgsl_format(c, "write %s<TYPE>", b->name),
			"\"%s\" needs its element type here", b->name);
	return fail(c);
}
