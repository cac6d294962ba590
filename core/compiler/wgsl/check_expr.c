/* Expressions: names, members, indices, pointers, and the rules for turning one type into another.
 */
#include <string.h>

#include "compiler/wgsl/check.h"

void pctl_wgsl_set_error(struct wgsl *c, struct expr *e)
{
	c->poisoned = 1;
	e->type = &c->types.error;
	e->stage = STAGE_RUNTIME;
	e->ref = 0;
	e->leaf = NULL;
}

uint64_t *pctl_wgsl_set_leaves(struct wgsl *c, struct expr *e, const struct type *t, uint32_t n)
{
	uint64_t *out = n <= 1 ? &e->scalar : pctl_wgsl_alloc(c, n * sizeof(*out));

	e->type = t;
	e->stage = STAGE_CONST;
	e->leaf = out;
	return out;
}

static void literal(struct wgsl *c, struct expr *e)
{
	e->type = &c->types.scalar[e->index];
	e->stage = STAGE_CONST;
	e->leaf = &e->scalar;
}

static void use_module_var(struct wgsl *c, struct decl *d)
{
	struct var_use *use;

	if (!c->fn || d->last_use == c->fn_number)
		return;
	d->last_use = c->fn_number;
	use = WGSL_NEW(c, struct var_use);
	use->var = d;
	use->next = c->fn->vars;
	c->fn->vars = use;
}

static void name_of_decl(struct wgsl *c, struct expr *e, struct decl *d)
{
	e->decl = d;
	pctl_wgsl_note_name(c, e, d);
	if (e->has_templates)
		pctl_wgsl_error(c, PC2406_WGSL_ARGUMENTS, e->pos, e->end, NULL,
				"\"%s\" takes no template arguments",
				pctl_wgsl_sym_text(c, e->sym));
	if (!d->type || d->type->kind == TY_ERROR) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = d->type;
	switch (d->kind) {
	case DECL_CONST:
		e->stage = STAGE_CONST;
		e->leaf = d->leaf;
		break;
	case DECL_OVERRIDE:
		e->stage = d->is_known ? STAGE_CONST : STAGE_OVERRIDE;
		e->leaf = d->leaf;
		break;
	case DECL_VAR:
		e->stage = STAGE_RUNTIME;
		e->ref = 1;
		e->space = d->space;
		e->access = d->access;
		if (d->is_global) {
			use_module_var(c, d);
			if (!c->fn) {
				pctl_wgsl_error(c, PC2410_WGSL_NOT_CONST, e->pos, e->end, NULL,
						"variable \"%s\" cannot be read at module scope",
						pctl_wgsl_sym_text(c, e->sym));
				pctl_wgsl_set_error(c, e);
			}
		}
		break;
	default:
		e->stage = STAGE_RUNTIME;
	}
}

static void name(struct wgsl *c, struct expr *e)
{
	struct decl *d = pctl_wgsl_lookup(c, e->sym, e->pos, e->end);
	const struct builtin *b;

	if (d && d->kind != DECL_ALIAS && d->kind != DECL_STRUCT && d->kind != DECL_FUNCTION) {
		name_of_decl(c, e, d);
		return;
	}
	pctl_wgsl_set_error(c, e);
	if (d) {
		pctl_wgsl_error_note(c, PC2437_WGSL_NOT_A_VALUE, e->pos, e->end,
				     d->kind == DECL_FUNCTION ? "call it: add (..)" : NULL, d->pos,
				     d->end, "it is declared here", "\"%s\" is a %s, not a value",
				     pctl_wgsl_sym_text(c, e->sym),
				     d->kind == DECL_FUNCTION ? "function" : "type");
	} else if (!c->syms[e->sym].builtin) {
		pctl_wgsl_unknown_name(c, e);
	} else {
		b = pctl_wgsl_builtin_at(c->syms[e->sym].builtin - 1);
		if (pctl_wgsl_is_refused(c, b, e->pos))
			pctl_wgsl_refused_name(c, e, b);
		else
			pctl_wgsl_error(c, PC2437_WGSL_NOT_A_VALUE, e->pos, e->end,
					"call it: add (..)", "\"%s\" is a %s, not a value", b->name,
					pctl_wgsl_builtin_is_type(b) ? "type" : "function");
	}
}

/* A value as constant part of another. */
static void constant_part(struct expr *e, const struct expr *whole, uint32_t first_leaf)
{
	e->stage = whole->stage;
	if (whole->stage == STAGE_CONST)
		e->leaf = whole->leaf ? whole->leaf + first_leaf : NULL;
}

static uint32_t swizzle_component(char ch, uint32_t *set)
{
	static const char *const sets[] = {"xyzw", "rgba"};
	uint32_t i;

	for (i = 0; i < 2; i++) {
		const char *at = ch ? strchr(sets[i], ch) : NULL;

		if (at) {
			*set = i;
			return (uint32_t)(at - sets[i]);
		}
	}
	return 4;
}

static int swizzle(struct wgsl *c, struct expr *e, const struct type *t)
{
	const char *s = pctl_wgsl_sym_text(c, e->sym);
	uint32_t n = (uint32_t)strlen(s), i, set = 0, first_set = 0, component, packed = 0;

	for (i = 0; i < n; i++) {
		component = swizzle_component(s[i], &set);
		if (i == 0)
			first_set = set;
		if (n > 4 || component == 4 || set != first_set) {
			pctl_wgsl_error(c, PC2413_WGSL_MEMBER, e->op_pos, e->end,
					"components are x y z w or r g b a, up to four, not mixed",
					"\"%s\" is no swizzle of %s", s, pctl_wgsl_type_name(c, t));
			return 0;
		}
		if (component >= t->width) {
			pctl_wgsl_error(c, PC2413_WGSL_MEMBER, e->op_pos, e->end, NULL,
					"%s has no component \"%c\"", pctl_wgsl_type_name(c, t),
					s[i]);
			return 0;
		}
		packed |= component << (2 * i);
	}
	e->index = packed;
	e->n_args = n;
	return 1;
}

static void vector_member(struct wgsl *c, struct expr *e, const struct type *t)
{
	uint64_t *out;
	uint32_t i;

	if (!swizzle(c, e, t)) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = pctl_wgsl_shape(c, t->scalar, e->n_args);
	if (e->n_args > 1)
		e->ref = 0; /* a swizzle of memory reads the vector */
	e->stage = e->a->stage;
	if (e->stage != STAGE_CONST)
		return;
	out = pctl_wgsl_set_leaves(c, e, e->type, e->n_args);
	for (i = 0; i < e->n_args; i++)
		out[i] = pctl_wgsl_leaf(e->a, e->index >> (2 * i) & 3);
}

static void struct_member(struct wgsl *c, struct expr *e, const struct type *t)
{
	const struct structure *s = t->structure;
	const char **names;
	uint32_t i;

	for (i = 0; i < s->n_members; i++)
		if (s->at[i]->sym == e->sym)
			break;
	if (i < s->n_members) {
		e->index = i;
		e->type = s->at[i]->type;
		constant_part(e, e->a, e->a->leaf ? pctl_wgsl_part_leaf(t, i) : 0);
		if (e->type->kind == TY_ERROR)
			pctl_wgsl_set_error(c, e);
		return;
	}
	names = pctl_wgsl_alloc(c, (s->n_members + 1) * sizeof(*names));
	for (i = 0; i < s->n_members; i++)
		names[i] = pctl_wgsl_sym_text(c, s->at[i]->sym);
	pctl_wgsl_error(
		c, PC2413_WGSL_MEMBER, e->op_pos, e->end,
		pctl_wgsl_hint_nearest(c, pctl_wgsl_sym_text(c, e->sym), names, s->n_members),
		"struct %s has no member \"%s\"", pctl_wgsl_type_name(c, t),
		pctl_wgsl_sym_text(c, e->sym));
	pctl_wgsl_set_error(c, e);
}

/* The base of a member or index access: memory stays memory, and a pointer is followed. */
static const struct type *base_of(struct wgsl *c, struct expr *e)
{
	struct expr *a = e->a;

	pctl_wgsl_check_expr(c, a);
	if (!a->ref && a->type->kind == TY_POINTER) {
		e->ref = 1;
		e->space = a->type->space;
		e->access = a->type->access;
		return a->type->elem;
	}
	e->ref = a->ref;
	e->space = a->space;
	e->access = a->access;
	return a->type;
}

static void member(struct wgsl *c, struct expr *e)
{
	const struct type *t = base_of(c, e);

	e->stage = STAGE_RUNTIME;
	switch (t->kind) {
	case TY_ERROR:
		pctl_wgsl_set_error(c, e);
		break;
	case TY_VECTOR:
		vector_member(c, e, t);
		break;
	case TY_STRUCT:
		struct_member(c, e, t);
		break;
	default:
		pctl_wgsl_error(c, PC2413_WGSL_MEMBER, e->op_pos, e->end, NULL, "%s has no members",
				pctl_wgsl_type_name(c, t));
		pctl_wgsl_set_error(c, e);
	}
}

static int check_constant_index(struct wgsl *c, const struct expr *index, const struct type *t)
{
	int64_t at = (int64_t)pctl_wgsl_leaf(index, 0);
	uint32_t n = pctl_wgsl_parts(t);

	if (at >= 0 && (!n || at < (int64_t)n))
		return 1;
	if (n)
		pctl_wgsl_error(c, PC2412_WGSL_INDEX, index->pos, index->end, NULL,
				"index %lld is outside %s, which ends at %u", (long long)at,
				pctl_wgsl_type_name(c, t), n - 1);
	else
		pctl_wgsl_error(c, PC2412_WGSL_INDEX, index->pos, index->end, NULL,
				"index %lld is negative", (long long)at);
	return 0;
}

static void index_expr(struct wgsl *c, struct expr *e)
{
	const struct type *t = base_of(c, e), *it = pctl_wgsl_check_value(c, e->b);

	e->stage = STAGE_RUNTIME;
	if (t->kind == TY_ERROR || it->kind == TY_ERROR) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	if (t->kind != TY_VECTOR && t->kind != TY_MATRIX && t->kind != TY_ARRAY &&
	    t->kind != TY_RUNTIME_ARRAY) {
		pctl_wgsl_error(c, PC2405_WGSL_OPERATOR, e->op_pos, e->end, NULL,
				"%s cannot be indexed", pctl_wgsl_type_name(c, t));
		pctl_wgsl_set_error(c, e);
		return;
	}
	if (it->kind != TY_SCALAR ||
	    (it->scalar != PCTL_SCALAR_I32 && it->scalar != PCTL_SCALAR_U32 &&
	     it->scalar != SCALAR_ABSTRACT)) {
		pctl_wgsl_error(c, PC2404_WGSL_TYPE, e->b->pos, e->b->end,
				pctl_wgsl_is_integer(it->scalar) ? "convert it with u32(..)" : NULL,
				"an index is an i32 or u32, not %s", pctl_wgsl_type_name(c, it));
		pctl_wgsl_set_error(c, e);
		return;
	}
	if ((e->b->stage == STAGE_CONST && !check_constant_index(c, e->b, t)) ||
	    !pctl_wgsl_settle(c, e->b) ||
	    (pctl_wgsl_is_late(c, e->b) && !e->ref && !pctl_wgsl_settle(c, e->a))) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	if (!e->ref && t != e->a->type)
		t = e->a->type; /* settled just now */
	e->type = t->elem;
	if (!e->ref && e->b->stage == STAGE_CONST)
		constant_part(e, e->a,
			      e->a->leaf ? pctl_wgsl_part_leaf(t, (uint32_t)pctl_wgsl_leaf(e->b, 0))
					 : 0);
	else if (!e->ref && e->b->stage == STAGE_OVERRIDE && e->a->stage <= STAGE_OVERRIDE)
		e->stage = STAGE_OVERRIDE;
	if (e->stage == STAGE_OVERRIDE && pctl_wgsl_is_first_rules(c))
		e->stage = STAGE_RUNTIME;
}

static void address_of(struct wgsl *c, struct expr *e)
{
	struct expr *a = e->a;

	pctl_wgsl_check_expr(c, a);
	e->stage = STAGE_RUNTIME;
	if (a->type->kind == TY_ERROR) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	if (!a->ref || ((a->kind == EX_MEMBER || a->kind == EX_INDEX) &&
			(a->a->type->kind == TY_VECTOR || (a->a->type->kind == TY_POINTER &&
							   a->a->type->elem->kind == TY_VECTOR)))) {
		pctl_wgsl_error(c, PC2434_WGSL_POINTER, e->pos, e->end, NULL,
				a->ref ? "a pointer to a component of a vector is not allowed"
				       : "only memory has an address: a variable or a part of it");
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = pctl_wgsl_pointer(c, a->type, a->space, a->access);
}

static void dereference(struct wgsl *c, struct expr *e)
{
	const struct type *t = pctl_wgsl_check_value(c, e->a);

	e->stage = STAGE_RUNTIME;
	if (t->kind != TY_POINTER) {
		if (t->kind != TY_ERROR)
			pctl_wgsl_error(c, PC2434_WGSL_POINTER, e->pos, e->end, NULL,
					"%s is not a pointer", pctl_wgsl_type_name(c, t));
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = t->elem;
	e->ref = 1;
	e->space = t->space;
	e->access = t->access;
}

void pctl_wgsl_check_expr(struct wgsl *c, struct expr *e)
{
	if (e->checked)
		return;
	e->checked = 1;
	if (c->depth >= WGSL_MAX_CHAIN) {
		pctl_wgsl_error(c, PC2105_WGSL_NESTING, e->pos, e->end,
				"declare what is needed before what needs it",
				"declarations need each other too deep");
		pctl_wgsl_set_error(c, e);
		return;
	}
	c->depth++;
	switch (e->kind) {
	case EX_LITERAL:
		literal(c, e);
		break;
	case EX_NAME:
		name(c, e);
		break;
	case EX_CALL:
		pctl_wgsl_check_call(c, e);
		break;
	case EX_MEMBER:
		member(c, e);
		break;
	case EX_INDEX:
		index_expr(c, e);
		break;
	case EX_UNARY:
		pctl_wgsl_check_unary(c, e);
		break;
	case EX_BINARY:
		pctl_wgsl_check_binary(c, e);
		break;
	case EX_ADDRESS:
		address_of(c, e);
		break;
	case EX_DEREF:
		dereference(c, e);
		break;
	default:
		pctl_wgsl_set_error(c, e);
	}
	c->depth--;
}

const struct type *pctl_wgsl_check_value(struct wgsl *c, struct expr *e)
{
	const char *hint = NULL;

	pctl_wgsl_check_expr(c, e);
	if (e->type->kind == TY_VOID) {
		pctl_wgsl_error(c, PC2437_WGSL_NOT_A_VALUE, e->pos, e->end, NULL,
				"this call gives no value");
		pctl_wgsl_set_error(c, e);
	} else if (e->ref && !e->type->plain) {
		if (e->type->kind == TY_ATOMIC)
			hint = "use atomicLoad(&..)";
		else if (e->type->kind == TY_RUNTIME_ARRAY)
			hint = "index it";
		pctl_wgsl_error(c,
				e->type->kind == TY_ATOMIC ? PC2433_WGSL_ATOMIC : PC2404_WGSL_TYPE,
				e->pos, e->end, hint, "%s cannot be read as a value",
				pctl_wgsl_type_name(c, e->type));
		pctl_wgsl_set_error(c, e);
	} else if (e->ref && !(e->access & PCTL_ACCESS_READ)) {
		pctl_wgsl_error(c, PC2415_WGSL_ACCESS, e->pos, e->end, NULL,
				"this memory is write-only");
		pctl_wgsl_set_error(c, e);
	}
	return e->type;
}
