/* Attributes and what they promise: struct layout, bindings, override ids, entry points. */
#include <string.h>

#include "compiler/wgsl/check.h"

static int is_named(struct wgsl *c, const struct attr *a, const char *name)
{
	return !strcmp(pctl_wgsl_sym_text(c, a->sym), name);
}

static void bad_attribute(struct wgsl *c, const struct attr *a, const char *const *known,
			  uint32_t n)
{
	pctl_wgsl_error(c, PC2113_WGSL_ATTRIBUTE, a->pos, a->end,
			pctl_wgsl_hint_nearest(c, pctl_wgsl_sym_text(c, a->sym), known, n),
			"attribute @%s is unknown or may not stand here",
			pctl_wgsl_sym_text(c, a->sym));
}

static int has_args(struct wgsl *c, const struct attr *a, uint32_t least, uint32_t most)
{
	if (a->n_args >= least && a->n_args <= most)
		return 1;
	pctl_wgsl_error(c, PC2113_WGSL_ATTRIBUTE, a->pos, a->end, NULL,
			"@%s takes %u argument%s, found %u", pctl_wgsl_sym_text(c, a->sym), most,
			most == 1 ? "" : "s", a->n_args);
	return 0;
}

static void twice(struct wgsl *c, const struct attr *first)
{
	const struct attr *a;
	uint32_t mark = ++c->n_marks;

	for (a = first; a; a = a->next) {
		if (c->syms[a->sym].mark == mark &&
		    (a->sym != KW_DIAGNOSTIC || pctl_wgsl_is_first_rules(c)))
			pctl_wgsl_error(c, PC2113_WGSL_ATTRIBUTE, a->pos, a->end, NULL,
					"@%s is given twice", pctl_wgsl_sym_text(c, a->sym));
		c->syms[a->sym].mark = mark;
	}
}

/* ---- builtin inputs ---- */

static const char *const input_names[] = {"",
					  "global_invocation_id",
					  "local_invocation_id",
					  "local_invocation_index",
					  "workgroup_id",
					  "num_workgroups",
					  "subgroup_size",
					  "subgroup_invocation_id",
					  "subgroup_id",
					  "num_subgroups"};
#define N_INPUTS 10u

static uint32_t builtin_input(struct wgsl *c, const struct attr *a, const struct type *t)
{
	static const char *const others[] = {
		"vertex_index",	  "instance_index", "position",
		"front_facing",	  "frag_depth",	    "sample_index",
		"sample_mask",	  "subgroup_size",  "subgroup_invocation_id",
		"clip_distances", "primitive_index"};
	const uint32_t n_inputs =
		c->options->flags & PCTL_WGSL_CONSENSUS ? INPUT_SUBGROUP_SIZE : N_INPUTS;
	const struct type *want;
	const char *name;
	uint32_t i, code;

	if (!has_args(c, a, 1, 1))
		return 0;
	if (a->args->kind != EX_NAME) {
		pctl_wgsl_error(c, PC2215_WGSL_INPUT, a->args->pos, a->args->end,
				"write @builtin(global_invocation_id)",
				"@builtin takes the name of an input");
		return 0;
	}
	name = pctl_wgsl_sym_text(c, a->args->sym);
	for (i = 1; i < n_inputs; i++)
		if (!strcmp(name, input_names[i]))
			break;
	if (i == n_inputs) {
		uint32_t k, known = 0;

		for (k = 0; k < sizeof(others) / sizeof(others[0]); k++)
			known |= !strcmp(others[k], name);
		pctl_wgsl_error(c, PC2215_WGSL_INPUT, a->args->pos, a->args->end,
				pctl_wgsl_hint_nearest(c, name, input_names + 1, n_inputs - 1),
				known ? "\"%s\" is no input of a compute shader"
				      : "there is no builtin input \"%s\"",
				name);
		return 0;
	}
	code = i >= INPUT_SUBGROUP_SIZE ? pctl_wgsl_subgroups_refused(c, a->args->pos) : 0;
	if (code) {
		pctl_wgsl_error(c, code, a->args->pos, a->args->end,
				pctl_wgsl_subgroups_hint(c, code), "\"%s\" %s", name,
				pctl_wgsl_subgroups_why(c, code));
		return 0;
	}
	want = i == PCTL_BUILTIN_LOCAL_INDEX || i >= INPUT_SUBGROUP_SIZE
		       ? &c->types.scalar[PCTL_SCALAR_U32]
		       : pctl_wgsl_vector(c, PCTL_SCALAR_U32, 3);
	if (t->kind != TY_ERROR && t != want)
		pctl_wgsl_error(c, PC2404_WGSL_TYPE, a->pos, a->end, NULL, "%s is %s, not %s", name,
				pctl_wgsl_type_name(c, want), pctl_wgsl_type_name(c, t));
	return i;
}

/* ---- structs ---- */

static void member_attrs(struct wgsl *c, struct member *m)
{
	static const char *const known[] = {"size", "align", "builtin"};
	const struct attr *a;
	uint32_t v;

	twice(c, m->attrs);
	for (a = m->attrs; a; a = a->next) {
		if (is_named(c, a, "builtin")) {
			m->builtin = builtin_input(c, a, m->type);
		} else if (is_named(c, a, "size")) {
			if (!has_args(c, a, 1, 1) ||
			    !pctl_wgsl_const_u32(c, a->args, "@size", 1, WGSL_MAX_TYPE_BYTES, &v))
				continue;
			if (v < pctl_wgsl_size_of(c, m->type) || m->type->has_runtime) {
				pctl_wgsl_error(
					c, PC2429_WGSL_STRUCT_LAYOUT, a->pos, a->end, NULL,
					m->type->has_runtime
						? "@size(%u) stands before a type without fixed "
						  "size"
						: "@size(%u) is below the %llu bytes of the type",
					v, (unsigned long long)pctl_wgsl_size_of(c, m->type));
				continue;
			}
			m->size = v;
		} else if (is_named(c, a, "align")) {
			if (!has_args(c, a, 1, 1) ||
			    !pctl_wgsl_const_u32(c, a->args, "@align", 1, 1u << 30, &v))
				continue;
			if (v & (v - 1) || v % pctl_wgsl_align_of(c, m->type)) {
				pctl_wgsl_error(
					c, PC2429_WGSL_STRUCT_LAYOUT, a->pos, a->end, NULL,
					"@align(%u) is no power of two that is a multiple of the "
					"type's %llu",
					v, (unsigned long long)pctl_wgsl_align_of(c, m->type));
				continue;
			}
			m->align = v;
		} else if (is_named(c, a, "location") || is_named(c, a, "interpolate") ||
			   is_named(c, a, "invariant") || is_named(c, a, "blend_src")) {
			pctl_wgsl_error(c, PC2214_WGSL_STAGE, a->pos, a->end, NULL,
					"@%s belongs to vertex and fragment shaders",
					pctl_wgsl_sym_text(c, a->sym));
		} else {
			bad_attribute(c, a, known, 3);
		}
	}
}

static int member_type(struct wgsl *c, struct member *m)
{
	m->type = pctl_wgsl_check_type(c, m->type_expr);
	if (m->type->kind == TY_ERROR)
		return 0;
	if (m->type->kind == TY_POINTER || m->type->kind == TY_TILE ||
	    (m->type->kind == TY_ARRAY && !m->type->count) ||
	    (m->type->has_runtime && (m->type->kind == TY_STRUCT || m->next))) {
		pctl_wgsl_error(c, PC2404_WGSL_TYPE, m->type_expr->pos, m->type_expr->end,
				m->type->kind == TY_RUNTIME_ARRAY
					? "move it to the end of the struct"
					: NULL,
				m->type->kind == TY_RUNTIME_ARRAY
					? "a runtime array (%s) may only be the last member"
					: "%s cannot be a member",
				pctl_wgsl_type_name(c, m->type));
		m->type = &c->types.error;
		return 0;
	}
	return 1;
}

void pctl_wgsl_check_struct(struct wgsl *c, struct decl *d)
{
	struct structure *s = d->structure;
	struct member *m;
	uint64_t bytes = 0;
	uint32_t ok = 1, mark = ++c->n_marks;

	if (!s->n_members || s->n_members > WGSL_MAX_MEMBERS) {
		pctl_wgsl_error(c, PC2429_WGSL_STRUCT_LAYOUT, d->pos, d->end, NULL,
				"a struct has 1 to %u members, not %u", WGSL_MAX_MEMBERS,
				s->n_members);
		d->type = &c->types.error;
		return;
	}
	for (m = s->members; m; m = m->next) {
		if (c->syms[m->sym].mark == mark)
			pctl_wgsl_error(c, PC2401_WGSL_DUPLICATE, m->pos, m->end,
					"choose another name", "member \"%s\" is declared twice",
					pctl_wgsl_sym_text(c, m->sym));
		c->syms[m->sym].mark = mark;
	}
	for (m = s->members; m; m = m->next) {
		ok &= (uint32_t)member_type(c, m);
		if (m->type->kind != TY_ERROR)
			member_attrs(c, m);
		bytes += (m->size ? m->size : pctl_wgsl_size_of(c, m->type)) +
			 (m->align ? m->align : pctl_wgsl_align_of(c, m->type));
		if (bytes > WGSL_MAX_TYPE_BYTES && ok) {
			pctl_wgsl_error(c, PC2436_WGSL_TYPE_SIZE, m->pos, m->end, NULL,
					"the struct grows over %llu bytes here",
					(unsigned long long)WGSL_MAX_TYPE_BYTES);
			ok = 0;
		}
	}
	if (!ok) {
		d->type = &c->types.error;
		return;
	}
	d->type = pctl_wgsl_struct(c, s);
	if (d->type->nesting > WGSL_MAX_COMPOSITE) {
		pctl_wgsl_error(c, PC2105_WGSL_NESTING, d->pos, d->end, NULL,
				"types are nested deeper than %u", WGSL_MAX_COMPOSITE);
		d->type = &c->types.error;
	}
}

/* ---- variables ---- */

static void check_store_type(struct wgsl *c, struct decl *d)
{
	const struct type *t = d->type;
	const struct expr *at = d->type_expr ? d->type_expr : d->init;
	const char *why = NULL;

	switch (d->space) {
	case PCTL_SPACE_STORAGE:
	case PCTL_SPACE_UNIFORM:
		if (!t->shared)
			why = t->scalar == PCTL_SCALAR_BOOL
				      ? "bool has no layout; use u32"
				      : "it holds bool or a size set by an override";
		else if (d->space == PCTL_SPACE_UNIFORM && (t->has_runtime || !t->plain))
			why = "the uniform space takes no atomics and no runtime arrays";
		break;
	case PCTL_SPACE_WORKGROUP:
		if (t->has_runtime)
			why = "a runtime array lives in the storage space only";
		break;
	default:
		if (!t->plain)
			why = "atomics, runtime arrays and sizes set by an override cannot live "
			      "there";
	}
	if (t->kind == TY_TILE && d->space != PCTL_SPACE_FUNCTION)
		why = "matrix tiles are variables of functions";
	if (why || t->kind == TY_POINTER) {
		pctl_wgsl_error(c, PC2421_WGSL_STORE_TYPE, at->pos, at->end, why,
				"a variable of this space cannot hold %s",
				pctl_wgsl_type_name(c, t));
		d->type = &c->types.error;
		return;
	}
	if (d->space == PCTL_SPACE_UNIFORM)
		pctl_wgsl_check_uniform(c, t, at);
	if ((c->options->flags & PCTL_WGSL_CONSENSUS) &&
	    (d->space == PCTL_SPACE_UNIFORM || d->space == PCTL_SPACE_STORAGE))
		pctl_wgsl_check_consensus(c, t);
}

/* Types are no deeper than WGSL_MAX_COMPOSITE. */
static int has_atomic(const struct type *t)
{
	uint32_t i;

	if (t->kind != TY_STRUCT)
		return t->kind == TY_ATOMIC ||
		       ((t->kind == TY_ARRAY || t->kind == TY_RUNTIME_ARRAY) &&
			has_atomic(t->elem));
	for (i = 0; i < t->structure->n_members; i++)
		if (has_atomic(t->structure->at[i]->type))
			return 1;
	return 0;
}

static void check_space(struct wgsl *c, struct decl *d)
{
	if (!d->space || d->space == PCTL_SPACE_FUNCTION) {
		pctl_wgsl_error(c, PC2420_WGSL_ADDRESS_SPACE, d->pos, d->end,
				"write var<private>, <workgroup>, <uniform> or <storage>",
				"a module-scope variable needs an address space");
		d->type = &c->types.error;
		return;
	}
	if (d->space == PCTL_SPACE_STORAGE && d->access == PCTL_ACCESS_WRITE)
		pctl_wgsl_error(c, PC2420_WGSL_ADDRESS_SPACE, d->pos, d->end, "use read_write",
				"a storage variable is read or read_write");
	if (!d->access || d->space != PCTL_SPACE_STORAGE)
		d->access = d->space == PCTL_SPACE_STORAGE || d->space == PCTL_SPACE_UNIFORM
				    ? PCTL_ACCESS_READ
				    : PCTL_ACCESS_READ_WRITE;
	if (d->init && d->space != PCTL_SPACE_PRIVATE)
		pctl_wgsl_error(c, PC2420_WGSL_ADDRESS_SPACE, d->init->pos, d->init->end,
				"assign it in the entry point",
				"only private and function variables have an initial value");
	if (d->access == PCTL_ACCESS_READ && d->type->kind != TY_ERROR &&
	    d->space == PCTL_SPACE_STORAGE && has_atomic(d->type))
		pctl_wgsl_error(c, PC2433_WGSL_ATOMIC, d->pos, d->end,
				"write var<storage, read_write>", "atomics need read_write access");
}

void pctl_wgsl_check_var_attrs(struct wgsl *c, struct decl *d)
{
	static const char *const known[] = {"group", "binding"};
	const struct attr *a;
	uint32_t have = 0;
	int bound;

	twice(c, d->attrs);
	if (d->type->kind == TY_ERROR)
		return; /* what it needs depends on what it is */
	check_space(c, d);
	bound = d->space == PCTL_SPACE_STORAGE || d->space == PCTL_SPACE_UNIFORM;
	for (a = d->attrs; a; a = a->next) {
		int is_group = is_named(c, a, "group");

		if (!is_group && !is_named(c, a, "binding")) {
			bad_attribute(c, a, known, 2);
			continue;
		}
		if (!bound)
			pctl_wgsl_error(c, PC2423_WGSL_BINDING, a->pos, a->end, "leave it out",
					"only uniform and storage variables are bound");
		else if (has_args(c, a, 1, 1) &&
			 pctl_wgsl_const_u32(c, a->args, is_group ? "@group" : "@binding", 0, 65535,
					     is_group ? &d->group : &d->binding))
			have |= is_group ? 1 : 2;
		else
			have |= 4; /* reported */
	}
	d->is_bound = bound && have == 3;
	if (bound && have < 3)
		pctl_wgsl_error(c, PC2423_WGSL_BINDING, d->pos, d->end,
				"write @group(0) @binding(0) before `var`",
				"variable \"%s\" needs both @group and @binding",
				pctl_wgsl_sym_text(c, d->sym));
	if (d->type->kind != TY_ERROR)
		check_store_type(c, d);
}

void pctl_wgsl_check_override_attrs(struct wgsl *c, struct decl *d)
{
	static const char *const known[] = {"id"};
	const struct attr *a;

	twice(c, d->attrs);
	for (a = d->attrs; a; a = a->next) {
		if (!is_named(c, a, "id"))
			bad_attribute(c, a, known, 1);
		else if (has_args(c, a, 1, 1))
			pctl_wgsl_const_u32(c, a->args, "@id", 0, 65535, &d->id);
	}
	if (d->type->kind != TY_ERROR && d->type->kind != TY_SCALAR) {
		pctl_wgsl_error(c, PC2427_WGSL_OVERRIDE, d->pos, d->end, NULL,
				"an override is a scalar, not %s", pctl_wgsl_type_name(c, d->type));
		d->type = &c->types.error;
	}
	if (d->type->kind != TY_ERROR && d->init)
		pctl_wgsl_check_spec(c, d->init);
}

/* ---- functions ---- */

static void workgroup_size(struct wgsl *c, struct function *f, const struct attr *a)
{
	const struct type *concrete = NULL;
	struct expr *e = a->args;
	uint32_t i, v;

	if (!has_args(c, a, 1, 3))
		return;
	for (i = 0; e; e = e->next, i++) {
		const struct type *t = pctl_wgsl_check_value(c, e);

		f->workgroup_size[i] = e;
		if (t->kind == TY_ERROR)
			continue;
		if (concrete && t != concrete && t->scalar != SCALAR_ABSTRACT &&
		    !pctl_wgsl_is_first_rules(c))
			pctl_wgsl_error(c, PC2404_WGSL_TYPE, e->pos, e->end,
					"write all as u32 or all as i32",
					"workgroup sizes have one type, not both %s and %s",
					pctl_wgsl_type_name(c, concrete),
					pctl_wgsl_type_name(c, t));
		if (t->scalar != SCALAR_ABSTRACT)
			concrete = t;
		if (e->stage == STAGE_CONST) {
			pctl_wgsl_const_u32(c, e, "a workgroup size", 1, 65536, &v);
		} else if (e->stage != STAGE_OVERRIDE || t->kind != TY_SCALAR ||
			   (t->scalar != PCTL_SCALAR_I32 && t->scalar != PCTL_SCALAR_U32)) {
			pctl_wgsl_not_constant(
				c, e, NULL,
				"a workgroup size is an i32 or u32 known before the shader runs");
		} else {
			pctl_wgsl_check_spec(c, e);
		}
	}
}

/* @compute and @must_use are written without parentheses. */
static void no_parens(struct wgsl *c, const struct attr *a)
{
	if (a->has_parens && !pctl_wgsl_is_first_rules(c))
		pctl_wgsl_error(c, PC2113_WGSL_ATTRIBUTE, a->pos, a->end, NULL,
				"@%s takes no parentheses", pctl_wgsl_sym_text(c, a->sym));
}

static void must_use(struct wgsl *c, struct function *f, const struct attr *a)
{
	f->must_use = 1;
	if (!f->return_expr && !pctl_wgsl_is_first_rules(c))
		pctl_wgsl_error(c, PC2113_WGSL_ATTRIBUTE, a->pos, a->end, "leave it out",
				"@must_use stands before a function that gives no value");
}

static void function_attrs(struct wgsl *c, struct function *f)
{
	static const char *const known[] = {"compute", "workgroup_size", "must_use"};
	const struct attr *a, *size = NULL, *compute = NULL;

	twice(c, f->decl->attrs);
	for (a = f->decl->attrs; a; a = a->next) {
		if (is_named(c, a, "compute")) {
			compute = a;
			f->is_entry = 1;
			no_parens(c, a);
		} else if (is_named(c, a, "workgroup_size")) {
			size = a;
			workgroup_size(c, f, a);
		} else if (is_named(c, a, "vertex") || is_named(c, a, "fragment")) {
			pctl_wgsl_error(c, PC2214_WGSL_STAGE, a->pos, a->end, "write @compute",
					"only compute shaders run here, not @%s",
					pctl_wgsl_sym_text(c, a->sym));
			f->is_entry = 2;
		} else if (is_named(c, a, "must_use")) {
			must_use(c, f, a);
			no_parens(c, a);
		} else if (a->sym != KW_DIAGNOSTIC) {
			bad_attribute(c, a, known, 3);
		}
	}
	if (!pctl_wgsl_is_first_rules(c))
		pctl_wgsl_check_filters(c, PC2113_WGSL_ATTRIBUTE, f->decl->attrs);
	if (compute && !size)
		pctl_wgsl_error(c, PC2425_WGSL_ENTRY, compute->pos, compute->end,
				"write @workgroup_size(64)",
				"an entry point needs @workgroup_size");
	if (size && !f->is_entry)
		pctl_wgsl_error(c, PC2425_WGSL_ENTRY, size->pos, size->end, "write @compute too",
				"@workgroup_size stands before a function that is no entry point");
}

static int has_builtin(struct wgsl *c, const struct member *m)
{
	const struct attr *a;

	for (a = m->attrs; a; a = a->next)
		if (is_named(c, a, "builtin"))
			return 1;
	return 0;
}

static void entry_parameter(struct wgsl *c, struct decl *p)
{
	static const char *const known[] = {"builtin"};
	const struct attr *a;
	uint32_t i, found = 0;

	for (a = p->attrs; a; a = a->next) {
		if (is_named(c, a, "builtin")) {
			p->builtin = builtin_input(c, a, p->type);
			found = 1;
		} else {
			bad_attribute(c, a, known, 1);
		}
	}
	if (found || p->type->kind == TY_ERROR)
		return;
	if (p->type->kind == TY_STRUCT) {
		const struct structure *s = p->type->structure;

		for (i = 0; i < s->n_members && has_builtin(c, s->at[i]); i++)
			;
		if (i == s->n_members)
			return;
	}
	pctl_wgsl_error(c, PC2425_WGSL_ENTRY, p->pos, p->end,
			"write @builtin(global_invocation_id) before it",
			"parameter \"%s\" of an entry point needs @builtin",
			pctl_wgsl_sym_text(c, p->sym));
}

static void parameter(struct wgsl *c, struct function *f, struct decl *p)
{
	p->type = pctl_wgsl_check_type(c, p->type_expr);
	p->state = DECL_DONE;
	twice(c, p->attrs);
	if (p->type->kind == TY_POINTER &&
	    (c->options->flags & (PCTL_WGSL_CONSENSUS | PCTL_WGSL_RULES_1))) {
		pctl_wgsl_error(c, PC2207_WGSL_POINTER_PARAMETER, p->type_expr->pos,
				p->type_expr->end, "pass the value and return the new one",
				"pointers cannot be passed to functions");
		p->type = &c->types.error;
	} else if (p->type->kind == TY_POINTER) {
		p->root = p;
		f->has_pointers = 1;
		c->has_pointers = 1;
	} else if (p->type->kind != TY_ERROR && !p->type->plain) {
		pctl_wgsl_error(c, PC2404_WGSL_TYPE, p->type_expr->pos, p->type_expr->end, NULL,
				"%s cannot be passed by value", pctl_wgsl_type_name(c, p->type));
		p->type = &c->types.error;
	}
	if (f->is_entry)
		entry_parameter(c, p);
	else if (p->attrs)
		pctl_wgsl_error(c, PC2113_WGSL_ATTRIBUTE, p->attrs->pos, p->attrs->end,
				"only parameters of entry points have attributes",
				"no attribute may stand here");
}

/* Each input is one thing: an entry point names it once, be it as a parameter or as a member of one. */
static void inputs_once(struct wgsl *c, const struct function *f)
{
	uint32_t seen = 0, i;

	for (const struct decl *p = f->params; p; p = p->next) {
		const struct structure *s = p->type->kind == TY_STRUCT ? p->type->structure : NULL;
		uint32_t mine = p->builtin ? 1u << p->builtin : 0, again = seen & mine;

		for (i = 0; s && i < s->n_members; i++) {
			const uint32_t bit = s->at[i]->builtin ? 1u << s->at[i]->builtin : 0;

			again |= (seen | mine) & bit;
			mine |= bit;
		}
		seen |= mine;
		if (again && !pctl_wgsl_is_first_rules(c))
			pctl_wgsl_error(c, PC2215_WGSL_INPUT, p->pos, p->end, "leave one out",
					"an entry point takes each builtin input once; \"%s\" is "
					"here again",
					input_names[__builtin_ctz(again)]);
	}
}

void pctl_wgsl_check_signature(struct wgsl *c, struct decl *d)
{
	struct function *f = d->function;
	struct decl *p;

	d->type = &c->types.none;
	function_attrs(c, f);
	if (f->n_params > WGSL_MAX_PARAMETERS)
		pctl_wgsl_error(c, PC2109_WGSL_PROGRAM_SIZE, d->pos, d->end, "pass a struct",
				"a function has at most %u parameters, not %u", WGSL_MAX_PARAMETERS,
				f->n_params);
	for (p = f->params; p; p = p->next)
		parameter(c, f, p);
	if (f->is_entry == 1)
		inputs_once(c, f);
	f->return_type = &c->types.none;
	if (!f->return_expr)
		return;
	f->return_type = pctl_wgsl_check_type(c, f->return_expr);
	if (f->return_attrs)
		pctl_wgsl_error(c, PC2214_WGSL_STAGE, f->return_attrs->pos, f->return_attrs->end,
				NULL,
				"attributes of a result belong to vertex and fragment shaders");
	if (f->return_type->kind == TY_ERROR)
		return;
	if (f->is_entry == 1) {
		pctl_wgsl_error(c, PC2425_WGSL_ENTRY, f->return_expr->pos, f->return_expr->end,
				"write the result to a storage variable",
				"a compute entry point returns nothing");
	} else if (!f->return_type->plain) {
		pctl_wgsl_error(c, PC2404_WGSL_TYPE, f->return_expr->pos, f->return_expr->end, NULL,
				"%s cannot be returned", pctl_wgsl_type_name(c, f->return_type));
		f->return_type = &c->types.error;
	}
}
