/* Lowering of the module: variables, overrides with their `spec` code, functions callee first,
 * entries. */
#include "compiler/wgsl/compose.h"
#include "compiler/wgsl/float.h"

static void build_overrides(struct wgsl *c)
{
	struct decl *d;

	for (d = c->decls; d; d = d->next)
		if (d->kind == DECL_OVERRIDE)
			d->index = pctl_build_override(c->builder, pctl_wgsl_sym_text(c, d->sym),
						       d->id, pctl_wgsl_ir_type(c, d->type));
}

static void build_entry_sizes(struct wgsl *c, struct function *f, pctl_entry *entry)
{
	uint32_t i;

	for (i = 0; i < 3; i++) {
		struct expr *e = f->workgroup_size[i];

		entry->workgroup_size[i] =
			e && e->stage == STAGE_CONST ? (uint32_t)pctl_wgsl_leaf(e, 0) : !e;
		if (e && e->stage != STAGE_CONST)
			entry->workgroup_size_spec[i] = 1 + pctl_wgsl_spec_value(c, e);
	}
}

static void build_spec(struct wgsl *c, pctl_entry *entries)
{
	struct function *f;
	struct decl *d;
	uint32_t n = 0;

	pctl_build_spec_begin(c->builder);
	for (d = c->decls; d; d = d->next) {
		if (d->kind == DECL_OVERRIDE && d->init)
			pctl_build_override_default(c->builder, d->index,
						    pctl_wgsl_spec_value(c, d->init));
		else if (d->kind == DECL_VAR)
			pctl_wgsl_ir_type(c, d->type); /* array counts */
	}
	for (f = c->functions; f; f = f->next)
		if (f->is_entry)
			build_entry_sizes(c, f, &entries[n++]);
	pctl_build_function_end(c->builder);
}

static void build_vars(struct wgsl *c)
{
	struct decl *d;

	for (d = c->decls; d; d = d->next) {
		pctl_var v = {.space = d->space,
			      .access = d->access,
			      .group = d->group,
			      .binding = d->binding};

		if (d->kind != DECL_VAR)
			continue;
		v.type = pctl_wgsl_ir_type(c, d->type);
		d->index = pctl_build_var(c->builder, &v, pctl_wgsl_sym_text(c, d->sym));
	}
}

/* ---- functions ---- */

/* Private variables get their initial values at the start of each entry that reaches them. */
static void initialise_private(struct lower *l, uint32_t mark)
{
	struct decl *d;

	for (d = l->c->decls; d; d = d->next) {
		struct place p = {.root = d->index, .type = d->type};

		if (d->kind != DECL_VAR || d->space != PCTL_SPACE_PRIVATE || !d->init ||
		    d->last_use != mark)
			continue;
		pctl_wgsl_store(l, &p, pctl_wgsl_lower_value(l, d->init));
	}
}

static void lower_function(struct wgsl *c, struct function *f, uint32_t mark, struct lower *sum)
{
	struct lower l = {.c = c,
			  .fn = f,
			  .total = sum->total,
			  .total_words = sum->total_words,
			  .number = ++c->n_lowered};
	struct decl *p;
	uint32_t n = 0;

	l.pos = f->decl->pos;
	l.end = f->decl->end;
	for (p = f->params; p && !f->is_entry; p = p->next) {
		struct word w = {WORD_LITERAL, n++};

		p->value =
			pctl_wgsl_prelude(&l, PCTL_OP_PARAM, pctl_wgsl_type_id(&l, p->type), &w, 1);
	}
	if (f->is_entry)
		initialise_private(&l, mark);
	pctl_wgsl_lower_block(&l, f->body);
	if (!c->n_errors)
		pctl_wgsl_flush(&l);
	sum->total = l.total;
	sum->total_words = l.total_words;
}

static int lower_functions(struct wgsl *c, pctl_entry *entries)
{
	struct lower sum = {.c = c};
	uint32_t mark = UINT32_MAX, n = 0;
	struct function *f;

	/* Callees first; an entry stands in the order too, behind all it calls. */
	for (f = c->functions; f; f = f->next)
		if (f->is_entry)
			pctl_wgsl_reach(c, f, mark);
	for (f = c->order; f && !c->n_errors; f = f->callee_first) {
		if (f->reached != mark || f->is_entry || f->has_pointers)
			continue;
		lower_function(c, f, mark, &sum);
	}
	for (f = c->functions; f && !c->n_errors; f = f->next) {
		if (!f->is_entry)
			continue;
		pctl_wgsl_reach(c, f, --mark);
		lower_function(c, f, mark, &sum);
		entries[n].function = f->index;
		pctl_build_entry(c->builder, &entries[n], pctl_wgsl_sym_text(c, f->decl->sym));
		n++;
	}
	return !c->n_errors;
}

pctl_status pctl_wgsl_lower(struct wgsl *c, pctl_program **out)
{
	struct function *f;
	pctl_entry *entries;
	uint32_t n = 0, i;

	for (f = c->functions; f; f = f->next)
		if (f->is_entry && ++n > WGSL_MAX_ENTRIES)
			break;
	if (n > WGSL_MAX_ENTRIES) {
		pctl_wgsl_error(c, PC2109_WGSL_PROGRAM_SIZE, f->decl->pos, f->decl->end, NULL,
				"a text has at most %u entry points", WGSL_MAX_ENTRIES);
		return pctl_wgsl_emit_errors(c);
	}
	entries = pctl_wgsl_alloc(c, (n + 1) * sizeof(*entries));
	for (i = 0; i < c->n_sources; i++)
		pctl_build_origin_file(c->builder, i, c->sources[i]->name);
	build_overrides(c);
	build_spec(c, entries);
	build_vars(c);
	if (!lower_functions(c, entries))
		return pctl_wgsl_emit_errors(c);
	pctl_wgsl_meta_lower(c);
	return pctl_builder_finish(c->builder, c->call, out);
}
