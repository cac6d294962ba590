/* Types in memory: their twins in the program, and the layout rules of uniform and consensus texts.
 * Offsets and strides are the builder's, so that there is one place that computes them. */
#include "compiler/wgsl/check.h"

uint32_t pctl_wgsl_ir_type(struct wgsl *c, const struct type *type)
{
	struct type *t = (struct type *)type; /* the slot `ir` is a cache */
	pctl_member_spec *specs;
	uint32_t i;

	if (t->ir)
		return t->ir - 1;
	switch (t->kind) {
	case TY_SCALAR:
		t->ir = 1 + pctl_build_scalar(c->builder, t->scalar);
		break;
	case TY_VECTOR:
		t->ir = 1 + pctl_build_vector(c->builder, t->scalar, t->width);
		break;
	case TY_MATRIX:
		t->ir = 1 + pctl_build_matrix(c->builder, t->scalar, t->columns, t->width);
		break;
	case TY_TILE:
		t->ir = 1 + pctl_build_tile(c->builder, t->scalar, t->count, t->columns, t->width);
		break;
	case TY_ATOMIC:
		t->ir = 1 + pctl_build_atomic(c->builder, t->scalar);
		break;
	case TY_ARRAY:
	case TY_RUNTIME_ARRAY:
		i = pctl_wgsl_ir_type(c, t->elem);
		t->ir = 1 + pctl_build_array(
				    c->builder, i, t->count,
				    t->count_expr ? 1 + pctl_wgsl_spec_value(c, t->count_expr) : 0);
		break;
	case TY_STRUCT:
		specs = pctl_wgsl_alloc(c, (t->structure->n_members + 1) * sizeof(*specs));
		for (i = 0; i < t->structure->n_members; i++) {
			const struct member *m = t->structure->at[i];

			specs[i].name = pctl_wgsl_sym_text(c, m->sym);
			specs[i].type = pctl_wgsl_ir_type(c, m->type);
			specs[i].size = m->size;
			specs[i].align = m->align;
			specs[i].offset = PCTL_OFFSET_AUTO;
		}
		t->ir = 1 + pctl_build_struct(c->builder, specs, t->structure->n_members);
		break;
	default:
		return 0;
	}
	return t->ir - 1;
}

static const pctl_type *twin(struct wgsl *c, const struct type *t)
{
	return pctl_build_type_at(c->builder, pctl_wgsl_ir_type(c, t));
}

uint64_t pctl_wgsl_size_of(struct wgsl *c, const struct type *t)
{
	const pctl_type *ir;

	if (t->kind == TY_RUNTIME_ARRAY || t->kind == TY_ERROR ||
	    (t->kind == TY_ARRAY && !t->count))
		return 0;
	ir = twin(c, t);
	return ir ? ir->size : 0;
}

uint64_t pctl_wgsl_align_of(struct wgsl *c, const struct type *t)
{
	const pctl_type *ir;

	if (t->kind == TY_ERROR)
		return 1;
	if (t->kind == TY_ARRAY || t->kind == TY_RUNTIME_ARRAY)
		return pctl_wgsl_align_of(c, t->elem);
	ir = twin(c, t);
	return ir && ir->align ? ir->align : 1;
}

uint64_t pctl_wgsl_stride_of(struct wgsl *c, const struct type *elem)
{
	uint64_t align = pctl_wgsl_align_of(c, elem);

	return (pctl_wgsl_size_of(c, elem) + align - 1) / align * align;
}

static uint64_t member_offset(struct wgsl *c, const struct type *t, uint32_t i)
{
	const pctl_member *m = pctl_build_member_at(c->builder, pctl_wgsl_ir_type(c, t), i);

	return m ? m->offset : 0;
}

static uint64_t member_size(struct wgsl *c, const struct member *m)
{
	return m->size ? m->size : pctl_wgsl_size_of(c, m->type);
}

/* RequiredAlignOf in the uniform address space: composites count in steps of 16. */
static uint64_t uniform_align(struct wgsl *c, const struct type *t)
{
	uint64_t align = pctl_wgsl_align_of(c, t);

	return t->kind == TY_ARRAY || t->kind == TY_STRUCT ? (align + 15) / 16 * 16 : align;
}

static void uniform_struct(struct wgsl *c, const struct type *t, const struct expr *at)
{
	const struct structure *s = t->structure;
	uint32_t i;

	for (i = 0; i < s->n_members; i++) {
		const struct member *m = s->at[i];
		uint64_t offset = member_offset(c, t, i), align = uniform_align(c, m->type);

		if (offset % align)
			pctl_wgsl_error_note(
				c, PC2422_WGSL_UNIFORM_LAYOUT, m->pos, m->end,
				pctl_wgsl_format(c, "add @align(%u)", (unsigned)align), at->pos,
				at->end, "used in the uniform space here",
				"member \"%s\" lies at byte %llu, but in the uniform space its "
				"type %s needs a multiple of %llu",
				pctl_wgsl_sym_text(c, m->sym), (unsigned long long)offset,
				pctl_wgsl_type_name(c, m->type), (unsigned long long)align);
		if (i && s->at[i - 1]->type->kind == TY_STRUCT) {
			uint64_t before = member_offset(c, t, i - 1);
			uint64_t size = pctl_wgsl_size_of(c, s->at[i - 1]->type);

			if (offset < before + (size + 15) / 16 * 16)
				pctl_wgsl_error_note(c, PC2422_WGSL_UNIFORM_LAYOUT, m->pos, m->end,
						     "add @align(16)", at->pos, at->end,
						     "used in the uniform space here",
						     "member \"%s\" follows a struct within its "
						     "last 16 bytes, which "
						     "the uniform space forbids",
						     pctl_wgsl_sym_text(c, m->sym));
		}
		pctl_wgsl_check_uniform(c, m->type, at);
	}
}

void pctl_wgsl_check_uniform(struct wgsl *c, const struct type *t, const struct expr *at)
{
	if (t->kind == TY_STRUCT) {
		uniform_struct(c, t, at);
	} else if (t->kind == TY_ARRAY) {
		uint64_t stride = pctl_wgsl_stride_of(c, t->elem);

		if (stride % 16)
			pctl_wgsl_error(
				c, PC2422_WGSL_UNIFORM_LAYOUT, at->pos, at->end,
				"use elements of 16 bytes, as vec4<u32>, or a storage variable",
				"%s has elements %llu bytes apart; the uniform space needs a "
				"multiple "
				"of 16",
				pctl_wgsl_type_name(c, t), (unsigned long long)stride);
		pctl_wgsl_check_uniform(c, t->elem, at);
	}
}

void pctl_wgsl_check_consensus(struct wgsl *c, const struct type *t)
{
	struct structure *s;
	uint32_t i;

	while (t->kind == TY_ARRAY || t->kind == TY_RUNTIME_ARRAY)
		t = t->elem;
	if (t->kind != TY_STRUCT || t->structure->checked)
		return;
	s = t->structure;
	s->checked = 1;
	for (i = 0; i < s->n_members; i++) {
		const struct member *m = s->at[i];
		const char *name = pctl_wgsl_sym_text(c, m->sym);
		uint64_t offset = member_offset(c, t, i), expected = 0;

		if (!m->size && !m->align)
			pctl_wgsl_error(
				c, PC2216_WGSL_LAYOUT_MISSING, m->pos, m->end,
				m->type->has_runtime
					? "write @align(..) before it"
					: pctl_wgsl_format(c, "write @size(%llu) before it",
							   (unsigned long long)member_size(c, m)),
				"member \"%s\" has neither @size nor @align", name);
		if (i)
			expected = member_offset(c, t, i - 1) + member_size(c, s->at[i - 1]);
		if (offset != expected)
			pctl_wgsl_error(c, PC2217_WGSL_LAYOUT_GAP, m->pos, m->end,
					"enlarge the @size of the member before, or reorder",
					"%llu unnamed bytes lie before member \"%s\" at byte %llu",
					(unsigned long long)(offset - expected), name,
					(unsigned long long)offset);
		if (i + 1 == s->n_members && !m->type->has_runtime &&
		    offset + member_size(c, m) != pctl_wgsl_size_of(c, t))
			pctl_wgsl_error(
				c, PC2217_WGSL_LAYOUT_GAP, m->pos, m->end,
				"enlarge the @size of the last member",
				"%llu unnamed bytes lie behind member \"%s\", the struct has %llu",
				(unsigned long long)(pctl_wgsl_size_of(c, t) - offset -
						     member_size(c, m)),
				name, (unsigned long long)pctl_wgsl_size_of(c, t));
		pctl_wgsl_check_consensus(c, m->type);
	}
}
