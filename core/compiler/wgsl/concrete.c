/* Overrides with values: the text is checked once more with every override a constant, so that WGSL's
 * rules for constants are applied to expressions of overrides by the same code, at the same places.
 * Only what the entry point reaches is looked at, as the specification demands. */
#include <string.h>

#include "foundation/base/num.h"
#include "compiler/wgsl/check.h"

/* Values shown in a message. */
#define MAX_SHOWN 8u

struct concrete {
	const pctl_program *p;
	const char *entry;
	const pctl_override_value *values;
	uint32_t n_values;
};

uint32_t pctl_wgsl_concrete_code(uint32_t code)
{
	switch (code) {
	case PC2404_WGSL_TYPE: /* sizes and counts out of range */
	case PC2406_WGSL_ARGUMENTS:
	case PC2407_WGSL_CONST_OVERFLOW:
	case PC2408_WGSL_CONST_DIVISION:
	case PC2409_WGSL_CONST_SHIFT:
	case PC2412_WGSL_INDEX:
	case PC2436_WGSL_TYPE_SIZE:
		return PC2045_SPECIALISE_EXPRESSION;
	default:
		return 0;
	}
}

/* By its name, or by its @id in decimal, as pctl_program_specialise takes it. */
static int is_for(const struct wgsl *c, const struct decl *d, const char *name)
{
	uint64_t id;

	return !strcmp(name, pctl_wgsl_sym_text(c, d->sym)) ||
	       (pctl_num_parse_u64(name, strlen(name), &id) && id == d->id && id != 0xffffffffu);
}

int pctl_wgsl_concrete_value(const struct wgsl *c, const struct decl *d, uint64_t *leaf)
{
	const struct concrete *k = c->concrete;
	uint32_t i, found = 0;
	uint64_t bits;

	for (i = 0; i < k->n_values; i++) {
		if (!is_for(c, d, k->values[i].name) ||
		    pctl_override_bits(k->p, &k->values[i], NULL, &bits) != PCTL_OK)
			continue;
		*leaf = d->type ? pctl_wgsl_wrap(pctl_wgsl_scalar_of(d->type), bits) : bits;
		found = 1;
	}
	return (int)found;
}

const char *pctl_wgsl_concrete_values(struct wgsl *c)
{
	const char *list = "";
	const struct decl *d;
	uint32_t n = 0;

	for (d = c->decls; d; d = d->next) {
		if (d->kind != DECL_OVERRIDE || !d->is_known)
			continue;
		if (n++ == MAX_SHOWN)
			return pctl_wgsl_format(c, "%s, ..", list);
		list = pctl_wgsl_format(c, "%s%s%s = %s", list, *list ? ", " : "",
					pctl_wgsl_sym_text(c, d->sym),
					pctl_wgsl_leaf_text(c, pctl_wgsl_scalar_of(d->type),
							    d->leaf ? *d->leaf : 0));
	}
	return *list ? list : "the overrides' defaults";
}

static int mentions_override(const struct expr *e)
{
	const struct expr *a;

	if (e->kind == EX_NAME)
		return e->decl && e->decl->kind == DECL_OVERRIDE;
	if (e->kind == EX_CALL) {
		for (a = e->a; a; a = a->next)
			if (mentions_override(a))
				return 1;
		return 0;
	}
	return (e->a && mentions_override(e->a)) || (e->b && mentions_override(e->b));
}

int pctl_wgsl_is_late(const struct wgsl *c, const struct expr *e)
{
	return e->stage != STAGE_CONST || (c->concrete && mentions_override(e));
}

static struct function *entry_of(const struct wgsl *c)
{
	const char *name = c->concrete->entry;
	struct function *f, *found = NULL;

	for (f = c->functions; f; f = f->next) {
		const struct attr *a;

		for (a = f->decl->attrs; a; a = a->next)
			if (!strcmp(pctl_wgsl_sym_text(c, a->sym), "compute"))
				break;
		if (!a || (name && strcmp(name, pctl_wgsl_sym_text(c, f->decl->sym)) != 0))
			continue;
		if (found)
			return NULL; /* two, and none is named */
		found = f;
	}
	return found;
}

void pctl_wgsl_concrete_check(struct wgsl *c)
{
	struct function *f = entry_of(c), **todo;
	const struct call_edge *edge;
	uint32_t n = 0, cap = 0;

	if (!f)
		return;
	todo = pctl_wgsl_grow(c, NULL, 0, &cap, sizeof(struct function *));
	pctl_wgsl_resolve(c, f->decl, f->decl->pos, f->decl->end);
	f->reached = 1;
	todo[n++] = f;
	while (n) {
		f = todo[--n];
		pctl_wgsl_check_function(c, f);
		for (edge = f->calls; edge; edge = edge->next) {
			if (edge->callee->reached)
				continue;
			edge->callee->reached = 1;
			todo = pctl_wgsl_grow(c, todo, n, &cap, sizeof(struct function *));
			todo[n++] = edge->callee;
		}
	}
}

pctl_status pctl_wgsl_check_overrides(const char *text, uint64_t n,
				      const pctl_wgsl_options *options, const pctl_program *p,
				      const char *entry, const pctl_override_value *values,
				      uint32_t n_values, const pctl_call *call)
{
	struct concrete k = {p, entry, values, n_values};

	if (!p->n_overrides || (options->flags & (PCTL_WGSL_RULES_1 | PCTL_WGSL_NATIVE)))
		return PCTL_OK;
	return pctl_wgsl_judge(text, n, options, &k, call);
}
