/* From abstract numbers to what they are wanted as. The leaves of large constants are turned once for
 * each type, however often they are used. */
#include "compiler/wgsl/check.h"
#include "compiler/wgsl/float.h"

#define FEW_LEAVES 4u /* turned again each time */

/* Leaves of type `from` as `to`; bad is the first that does not fit, or their number. */
struct settled {
	const uint64_t *leaf;
	const struct type *to;
	const uint64_t *out;
	uint32_t bad;
};

static struct settled turn(struct wgsl *c, const uint64_t *leaf, const struct type *from,
			   const struct type *to)
{
	const uint32_t was = pctl_wgsl_scalar_of(from), scalar = pctl_wgsl_scalar_of(to);
	struct settled s = {.leaf = leaf, .to = to, .out = leaf};
	uint64_t *out;

	if (was == SCALAR_ABSTRACT_FLOAT && !pctl_wgsl_is_float(scalar)) {
		out = pctl_wgsl_alloc(c, (size_t)from->leaves * sizeof(*out));
		for (s.out = out; s.bad < from->leaves; s.bad++)
			if (!pctl_wgsl_float_exact_int(leaf[s.bad], &out[s.bad]) ||
			    !pctl_wgsl_fits(scalar, (int64_t)out[s.bad]))
				break;
		return s;
	}
	if (!pctl_wgsl_is_float(scalar)) {
		while (s.bad < from->leaves && pctl_wgsl_fits(scalar, (int64_t)leaf[s.bad]))
			s.bad++;
		return s;
	}
	out = pctl_wgsl_alloc(c, (size_t)from->leaves * sizeof(*out));
	for (s.out = out; s.bad < from->leaves; s.bad++) {
		out[s.bad] = pctl_wgsl_float_from(was, scalar, leaf[s.bad]);
		if (pctl_wgsl_float_is_special(scalar, out[s.bad]))
			break;
	}
	return s;
}

/* Addresses only decide where in the table something is looked for. */
static struct settled *slot_of(const struct wgsl *c, const uint64_t *leaf, const struct type *to)
{
	uint64_t h = (uint64_t)(uintptr_t)leaf * 0x9e3779b97f4a7c15ull ^
		     (uint64_t)(uintptr_t)to * 0xc2b2ae3d27d4eb4full;
	uint32_t k = (uint32_t)(h >> 32) & (c->cap_settled - 1);

	while (c->settled[k].leaf && (c->settled[k].leaf != leaf || c->settled[k].to != to))
		k = (k + 1) & (c->cap_settled - 1);
	return &c->settled[k];
}

static const struct settled *settled(struct wgsl *c, const uint64_t *leaf, const struct type *from,
				     const struct type *to)
{
	struct settled *slot, *old = c->settled;
	uint32_t i, n = c->cap_settled;

	if (from->leaves <= FEW_LEAVES) {
		slot = WGSL_NEW(c, struct settled);
		*slot = turn(c, leaf, from, to);
		return slot;
	}
	if (2 * c->n_settled >= n) {
		c->cap_settled = n ? n * 2 : 64;
		c->settled = pctl_wgsl_alloc(c, c->cap_settled * sizeof(*c->settled));
		for (i = 0; i < n; i++)
			if (old[i].leaf)
				*slot_of(c, old[i].leaf, old[i].to) = old[i];
	}
	slot = slot_of(c, leaf, to);
	if (!slot->leaf) {
		*slot = turn(c, leaf, from, to);
		c->n_settled++;
	}
	return slot;
}

int pctl_wgsl_yields_to(const struct type *from, uint32_t to)
{
	if (pctl_wgsl_scalar_of(from) == SCALAR_ABSTRACT)
		return pctl_wgsl_is_number(to);
	/* mat2x2(1, 2, 3, 4) has floats, but where integers are wanted, it may have those. */
	return pctl_wgsl_scalar_of(from) == SCALAR_ABSTRACT_FLOAT &&
	       (pctl_wgsl_is_float(to) ||
		(from->kind == TY_MATRIX && pctl_wgsl_is_integer(to) && to != SCALAR_ABSTRACT));
}

int pctl_wgsl_can_coerce(const struct expr *e, const struct type *to)
{
	const struct type *from = e->type;

	while (from->kind == TY_ARRAY && to->kind == TY_ARRAY && from->count == to->count &&
	       from != to) {
		from = from->elem;
		to = to->elem;
	}
	if (from == to)
		return 1;
	return from->kind == to->kind && from->width == to->width && from->columns == to->columns &&
	       from->kind >= TY_SCALAR && from->kind <= TY_MATRIX &&
	       pctl_wgsl_yields_to(from, to->scalar);
}

int pctl_wgsl_coerce(struct wgsl *c, struct expr *e, const struct type *to, const char *what)
{
	const struct type *from = e->type;
	const struct settled *made;
	const char *hint = NULL;

	if (from == to || from->kind == TY_ERROR || to->kind == TY_ERROR)
		return from->kind != TY_ERROR;
	if (!pctl_wgsl_can_coerce(e, to)) {
		if (from->kind == TY_SCALAR && to->kind == TY_SCALAR &&
		    pctl_wgsl_is_number(to->scalar))
			hint = pctl_wgsl_format(c, "convert it with %s(..)",
						pctl_wgsl_type_name(c, to));
		pctl_wgsl_error(c, PC2404_WGSL_TYPE, e->pos, e->end, hint,
				"%s is %s, but %s is wanted", what, pctl_wgsl_type_name(c, from),
				pctl_wgsl_type_name(c, to));
		return 0;
	}
	if (e->leaf) {
		made = settled(c, e->leaf, from, to);
		if (made->bad < from->leaves && !c->quiet) {
			pctl_wgsl_error(c, PC2407_WGSL_CONST_OVERFLOW, e->pos, e->end, NULL,
					"%s does not fit in %s",
					pctl_wgsl_leaf_text(c, pctl_wgsl_scalar_of(from),
							    e->leaf[made->bad]),
					pctl_scalar_name((uint8_t)pctl_wgsl_scalar_of(to)));
			return 0;
		}
		e->leaf = made->out;
	}
	e->type = to;
	return 1;
}

int pctl_wgsl_settle(struct wgsl *c, struct expr *e)
{
	return !pctl_wgsl_is_abstract(e->type) ||
	       pctl_wgsl_coerce(c, e, pctl_wgsl_concrete(c, e->type), "this value");
}

int pctl_wgsl_const_u32(struct wgsl *c, struct expr *e, const char *what, uint64_t least,
			uint64_t most, uint32_t *out)
{
	const struct type *t = pctl_wgsl_check_value(c, e);
	int64_t v;

	*out = 0;
	if (t->kind == TY_ERROR)
		return 0;
	if (e->stage != STAGE_CONST || t->kind != TY_SCALAR ||
	    (t->scalar != SCALAR_ABSTRACT && t->scalar != PCTL_SCALAR_I32 &&
	     t->scalar != PCTL_SCALAR_U32)) {
		pctl_wgsl_not_constant(
			c, e, NULL, pctl_wgsl_format(c, "%s must be a constant i32 or u32", what));
		return 0;
	}
	v = (int64_t)pctl_wgsl_leaf(e, 0);
	if (v < (int64_t)least || (uint64_t)v > most) {
		pctl_wgsl_error(c, PC2404_WGSL_TYPE, e->pos, e->end, NULL,
				"%s is %lld; it must be between %llu and %llu", what, (long long)v,
				(unsigned long long)least, (unsigned long long)most);
		return 0;
	}
	*out = (uint32_t)v;
	return 1;
}
