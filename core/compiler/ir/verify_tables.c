/* Verification of what surrounds the code: table bounds, types, variables, overrides, entry points.
 */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "compiler/ir/verify.h"
#include "foundation/base/order.h"

/* ---- bounds ---- */

static int check_strings(pctl_verify *v)
{
	const pctl_program *p = v->p;

	if (!p->n_strings || p->strings[0] || p->strings[p->n_strings - 1])
		return pctl_verify_complain(
			v, PC2016_PROGRAM_TABLE,
			"the string table does not start with \"\" or end with NUL");
	return 1;
}

static int name_ok(pctl_verify *v, uint32_t offset)
{
	if (offset < v->p->n_strings)
		return 1;
	return pctl_verify_complain(v, PC2016_PROGRAM_TABLE, "name %u is outside the string table",
				    offset);
}

static int check_functions(pctl_verify *v)
{
	const pctl_program *p = v->p;
	uint64_t insts = 0, locals = 0;
	uint32_t i;

	if (!p->n_functions)
		return pctl_verify_complain(v, PC2013_PROGRAM_FUNCTION, "function 0 is missing");
	if (p->n_insts > PCTL_INSTS_MAX)
		return pctl_verify_complain(v, PC2004_WIRE_LIMIT,
					    "%u instructions, at most %u are allowed", p->n_insts,
					    PCTL_INSTS_MAX);
	for (i = 0; i < p->n_functions; i++) {
		const pctl_function *f = &p->functions[i];

		if (f->first_inst != insts || f->first_local != locals ||
		    f->n_insts > p->n_insts - insts || f->n_locals > p->n_locals - locals)
			return pctl_verify_complain(
				v, PC2013_PROGRAM_FUNCTION,
				"the lists of function %u are not in their place", i);
		insts += f->n_insts;
		locals += f->n_locals;
		if (f->n_params > f->n_insts)
			return pctl_verify_complain(
				v, PC2013_PROGRAM_FUNCTION,
				"function %u has fewer instructions than parameters", i);
		if (!name_ok(v, f->name))
			return 0;
	}
	if (insts != p->n_insts || locals != p->n_locals)
		return pctl_verify_complain(v, PC2013_PROGRAM_FUNCTION,
					    "instructions or locals outside every function");
	for (i = 0; i < p->n_insts; i++) {
		const pctl_inst *in = &p->insts[i];

		if (in->first_arg > p->n_words || in->n_args > p->n_words - in->first_arg)
			return pctl_verify_complain(
				v, PC2016_PROGRAM_TABLE,
				"the arguments of instruction %u are outside the table", i);
	}
	return 1;
}

/* ---- types ---- */

struct type_key {
	const pctl_program *p;
	const pctl_type *t;
};

static int same_type(const void *ctx, uint32_t id)
{
	const struct type_key *key = ctx;
	const pctl_program *p = key->p;

	return pctl_type_same(key->t, p->members, p->strings, &p->types[id], p->members,
			      p->strings);
}

static int is_scalar(uint8_t scalar)
{
	return scalar >= PCTL_SCALAR_BOOL && scalar <= PCTL_SCALAR_U16;
}

static int is_power_of_two(uint32_t x)
{
	return x && !(x & (x - 1));
}

static int struct_ok(pctl_verify *v, const pctl_type *t, uint32_t id)
{
	const pctl_program *p = v->p;
	uint32_t align = 1, explicit_flags = 0, i;
	uint64_t end = 0, size;
	int runtime = 0;

	for (i = 0; i < t->count; i++) {
		const pctl_member *m = &p->members[t->first_member + i];
		const pctl_type *mt;
		uint64_t least;

		if (!m->type || m->type >= id || runtime ||
		    (v->traits[m->type] & (PCTL_TRAIT_SPEC | PCTL_TRAIT_TILE)) ||
		    (m->flags & ~(PCTL_MEMBER_EXPLICIT_SIZE | PCTL_MEMBER_EXPLICIT_ALIGN)))
			return 0;
		mt = &p->types[m->type];
		if ((v->traits[m->type] & PCTL_TRAIT_RUNTIME) &&
		    mt->kind != PCTL_TYPE_RUNTIME_ARRAY)
			return 0;
		runtime = mt->kind == PCTL_TYPE_RUNTIME_ARRAY;
		least = pctl_num_align(end, mt->align);
		if (m->offset % mt->align || m->offset < least)
			return 0;
		if (mt->align > align)
			align = mt->align;
		end = (uint64_t)m->offset + mt->size;
		explicit_flags |= m->flags;
		v->traits[id] |= v->traits[m->type] & PCTL_TRAIT_ATOMIC;
		if (v->depth[m->type] >= v->depth[id])
			v->depth[id] = (uint8_t)(v->depth[m->type] + 1);
		if (!(v->traits[m->type] & PCTL_TRAIT_CONSTRUCTIBLE))
			v->traits[id] &= (uint8_t)~PCTL_TRAIT_CONSTRUCTIBLE;
	}
	if (!t->count || !is_power_of_two(t->align) || t->align < align || end > INT32_MAX)
		return 0;
	if (!(explicit_flags & PCTL_MEMBER_EXPLICIT_ALIGN) && t->align != align)
		return 0;
	size = pctl_num_align(end, t->align);
	if (runtime) {
		v->traits[id] |= PCTL_TRAIT_RUNTIME;
		return t->size == 0;
	}
	if (!(explicit_flags & PCTL_MEMBER_EXPLICIT_SIZE) && t->size != size)
		return 0;
	return t->size >= size && t->size % t->align == 0 && t->size <= INT32_MAX;
}

static int shape_ok(pctl_verify *v, const pctl_type *t, uint32_t id)
{
	const pctl_type *elem = t->elem < id ? &v->p->types[t->elem] : &v->p->types[0];
	const int plain = !t->count_spec && !t->first_member;

	v->traits[id] = PCTL_TRAIT_CONSTRUCTIBLE;
	switch (t->kind) {
	case PCTL_TYPE_SCALAR:
		return is_scalar(t->scalar) && !t->width && !t->columns && !t->elem && !t->count &&
		       plain;
	case PCTL_TYPE_VECTOR:
		return elem->kind == PCTL_TYPE_SCALAR && elem->scalar == t->scalar &&
		       t->width >= 2 && t->width <= 4 && !t->columns && !t->count && plain;
	case PCTL_TYPE_MATRIX:
		return elem->kind == PCTL_TYPE_VECTOR && elem->scalar == t->scalar &&
		       elem->width == t->width && t->columns >= 2 && t->columns <= 4 && !t->count &&
		       plain && t->scalar != PCTL_SCALAR_BOOL;
	case PCTL_TYPE_ATOMIC:
		v->traits[id] = PCTL_TRAIT_ATOMIC;
		return elem->kind == PCTL_TYPE_SCALAR && elem->scalar == t->scalar && !t->width &&
		       !t->columns && !t->count && plain &&
		       (t->scalar == PCTL_SCALAR_I32 || t->scalar == PCTL_SCALAR_U32);
	case PCTL_TYPE_ARRAY:
	case PCTL_TYPE_RUNTIME_ARRAY:
		if (!elem->align || t->scalar || t->width || t->columns || t->first_member ||
		    (v->traits[t->elem] & (PCTL_TRAIT_RUNTIME | PCTL_TRAIT_SPEC | PCTL_TRAIT_TILE)))
			return 0;
		v->traits[id] = v->traits[t->elem];
		v->depth[id] = (uint8_t)(v->depth[t->elem] + 1);
		if (t->kind == PCTL_TYPE_RUNTIME_ARRAY) {
			v->traits[id] = (v->traits[id] & PCTL_TRAIT_ATOMIC) | PCTL_TRAIT_RUNTIME;
			return !t->count && !t->count_spec;
		}
		if (t->count_spec)
			v->traits[id] = (v->traits[id] & PCTL_TRAIT_ATOMIC) | PCTL_TRAIT_SPEC;
		return (t->count != 0) != (t->count_spec != 0);
	case PCTL_TYPE_TILE:
		v->traits[id] |= PCTL_TRAIT_TILE;
		return !t->elem && plain && pctl_verify_tile_shape(t);
	case PCTL_TYPE_STRUCT:
		return !t->scalar && !t->width && !t->columns && !t->elem && !t->count_spec &&
		       !t->stride && struct_ok(v, t, id);
	default:
		return 0;
	}
}

static int check_types(pctl_verify *v)
{
	const pctl_program *p = v->p;
	pctl_index index = {NULL, 0, 0};
	uint32_t members = 0, i;
	int ok = 1;

	if (!p->n_types || p->types[0].kind != PCTL_TYPE_VOID)
		return pctl_verify_complain(v, PC2010_PROGRAM_TYPE, "type 0 is not void");
	for (i = 1; i < p->n_types && ok; i++) {
		const pctl_type *t = &p->types[i];
		struct type_key key = {p, t};
		pctl_type again = *t;
		uint32_t hash, j;

		if (t->kind == PCTL_TYPE_STRUCT) {
			if (t->first_member != members || t->count > p->n_members - members) {
				ok = pctl_verify_complain(
					v, PC2010_PROGRAM_TYPE,
					"the members of type %u are not in their place", i);
				break;
			}
			members += t->count;
			for (j = 0; j < t->count && ok; j++)
				ok = name_ok(v, p->members[t->first_member + j].name);
			if (!ok)
				break;
		}
		if (!shape_ok(v, t, i) || !pctl_type_layout(p->types, i, &again) ||
		    again.stride != t->stride || again.size != t->size || again.align != t->align ||
		    v->depth[i] > PCTL_TYPE_DEPTH_MAX) {
			ok = pctl_verify_complain(v, PC2010_PROGRAM_TYPE,
						  "type %u breaks a rule of its kind or of layout",
						  i);
			break;
		}
		hash = pctl_type_hash(t, p->members, p->strings);
		if (pctl_index_find(&index, hash, same_type, &key) != PCTL_NONE)
			ok = pctl_verify_complain(v, PC2010_PROGRAM_TYPE,
						  "type %u repeats an earlier one", i);
		else if (!pctl_index_add(&index, hash, i))
			ok = pctl_verify_complain(v, PC2_NOMEM, "no memory to verify a program");
	}
	pctl_index_drop(&index);
	if (ok && members != p->n_members)
		return pctl_verify_complain(v, PC2010_PROGRAM_TYPE, "members outside every struct");
	return ok;
}

/* ---- variables ---- */

static int var_bound(const pctl_var *v)
{
	return v->space == PCTL_SPACE_UNIFORM || v->space == PCTL_SPACE_STORAGE;
}

static const char *var_fault(const pctl_verify *v, const pctl_var *x)
{
	uint8_t traits;

	if (!x->type || x->type >= v->p->n_types)
		return "has no type";
	traits = v->traits[x->type];
	if (x->reserved)
		return "has its reserved member set";
	if (!var_bound(x) && (x->group || x->binding || x->access != PCTL_ACCESS_READ_WRITE))
		return "is no resource, but has a group, binding or access mode";
	if (x->space != PCTL_SPACE_WORKGROUP && (traits & PCTL_TRAIT_SPEC))
		return "is an array counted by `spec` outside workgroup memory";
	if (traits & PCTL_TRAIT_TILE)
		return "is a matrix tile outside function memory";
	if (x->space != PCTL_SPACE_STORAGE && (traits & PCTL_TRAIT_RUNTIME))
		return "holds a runtime array outside storage";
	switch (x->space) {
	case PCTL_SPACE_PRIVATE:
		return traits & PCTL_TRAIT_ATOMIC ? "holds an atomic in private memory" : NULL;
	case PCTL_SPACE_WORKGROUP:
		return NULL;
	case PCTL_SPACE_UNIFORM:
		if (x->access != PCTL_ACCESS_READ)
			return "is a uniform that is not read-only";
		return traits & PCTL_TRAIT_ATOMIC ? "holds an atomic in uniform memory" : NULL;
	case PCTL_SPACE_STORAGE:
		if (x->access != PCTL_ACCESS_READ && x->access != PCTL_ACCESS_READ_WRITE)
			return "has an access mode that is neither read nor read_write";
		return x->access == PCTL_ACCESS_READ && (traits & PCTL_TRAIT_ATOMIC)
			       ? "holds an atomic in read-only storage"
			       : NULL;
	default:
		return "is in no known address space";
	}
}

static int check_vars(pctl_verify *v)
{
	const pctl_program *p = v->p;
	uint32_t i;

	for (i = 0; i < p->n_vars; i++) {
		const pctl_var *x = &p->vars[i], *last = i ? &p->vars[i - 1] : NULL;
		const char *fault;

		if (!name_ok(v, x->name))
			return 0;
		fault = var_fault(v, x);
		if (!fault && last && var_bound(x) &&
		    (!var_bound(last) || last->group > x->group ||
		     (last->group == x->group && last->binding > x->binding)))
			fault = "is not sorted by (group, binding)";
		/* With several entry points each may have its own; alone, it holds one. */
		if (!fault && last && var_bound(x) && last->group == x->group &&
		    last->binding == x->binding && p->n_entries < 2)
			fault = "has the group and binding of another variable";
		if (fault)
			pctl_verify_complain(v, PC2011_PROGRAM_VARIABLE, "variable %u \"%s\" %s", i,
					     pctl_str(p, x->name), fault);
	}
	return 1;
}

static int type_known(pctl_verify *v, uint32_t type, const char *of, uint32_t i)
{
	if (type < v->p->n_types)
		return 1;
	return pctl_verify_complain(v, PC2016_PROGRAM_TABLE,
				    "%s %u has type %u, which is not in the table", of, i, type);
}

int pctl_verify_tables(pctl_verify *v)
{
	const pctl_program *p = v->p;
	uint32_t i;

	if (!check_strings(v) || !check_functions(v) || !check_types(v) || !check_vars(v))
		return 0;
	for (i = 0; i < p->n_insts; i++) {
		if (!type_known(v, p->insts[i].type, "instruction", i))
			return 0;
	}
	for (i = 0; i < p->n_locals; i++) {
		const pctl_local *l = &p->locals[i];

		if (!name_ok(v, l->name) || !type_known(v, l->type, "local", i))
			return 0;
		if (!(v->traits[l->type] & PCTL_TRAIT_CONSTRUCTIBLE))
			pctl_verify_complain(v, PC2013_PROGRAM_FUNCTION,
					     "local %u is not of a constructible type", i);
	}
	for (i = 0; i < p->n_functions; i++) {
		if (!type_known(v, p->functions[i].return_type, "function", i))
			return 0;
		if (p->functions[i].return_type &&
		    !(v->traits[p->functions[i].return_type] & PCTL_TRAIT_CONSTRUCTIBLE))
			pctl_verify_complain(v, PC2013_PROGRAM_FUNCTION,
					     "function %u returns what is not constructible", i);
	}
	/* Code cannot be walked when variables have types out of the table. */
	return v->status == PCTL_OK;
}

/* ---- after the code ---- */

/* 1 when `value` of `spec` is an i32 or u32. */
static int spec_count(const pctl_verify *v, uint32_t value)
{
	const pctl_program *p = v->p;
	uint8_t scalar;

	if (value >= p->functions[0].n_insts)
		return 0;
	scalar = p->types[pctl_value_type(p, &p->functions[0], value)].scalar;
	return scalar == PCTL_SCALAR_I32 || scalar == PCTL_SCALAR_U32;
}

/* Report a name that stands twice among n; names are collected by the caller. */
static void check_unique(pctl_verify *v, const char **names, uint32_t n, uint32_t code,
			 const char *what)
{
	uint32_t i;

	if (n)
		qsort(names, n, sizeof(*names), pctl_order_texts);
	for (i = 1; i < n; i++) {
		if (strcmp(names[i - 1], names[i]) == 0)
			pctl_verify_complain(v, code, "two %s are named \"%s\"", what, names[i]);
	}
}

static void check_overrides(pctl_verify *v, const char **names, uint32_t *ids)
{
	const pctl_program *p = v->p;
	uint32_t i, n_ids = 0;

	for (i = 0; i < p->n_overrides; i++) {
		const pctl_override *o = &p->overrides[i];
		const char *fault = NULL;

		if (o->name >= p->n_strings) {
			name_ok(v, o->name);
			return;
		}
		names[i] = pctl_str(p, o->name);
		if (o->id != PCTL_NONE)
			ids[n_ids++] = o->id;
		if (o->type >= p->n_types || p->types[o->type].kind != PCTL_TYPE_SCALAR)
			fault = "is not a scalar";
		else if (o->has_default > 1 || (!o->has_default && o->default_value))
			fault = "has a default that is not one";
		else if (o->has_default &&
			 (o->default_value >= p->functions[0].n_insts ||
			  pctl_value_type(p, &p->functions[0], o->default_value) != o->type))
			fault = "has a default of another type";
		if (fault)
			pctl_verify_complain(v, PC2012_PROGRAM_OVERRIDE, "override %u %s", i,
					     fault);
	}
	check_unique(v, names, p->n_overrides, PC2012_PROGRAM_OVERRIDE, "overrides");
	if (n_ids)
		qsort(ids, n_ids, sizeof(*ids), pctl_order_u32);
	for (i = 1; i < n_ids; i++) {
		if (ids[i - 1] == ids[i])
			pctl_verify_complain(v, PC2012_PROGRAM_OVERRIDE,
					     "two overrides have @id(%u)", ids[i]);
	}
}

static void check_entries(pctl_verify *v, const char **names)
{
	const pctl_program *p = v->p;
	uint32_t i, d;

	for (i = 0; i < p->n_entries; i++) {
		const pctl_entry *e = &p->entries[i];
		const pctl_function *f;

		if (!name_ok(v, e->name))
			return;
		names[i] = pctl_str(p, e->name);
		if (!e->function || e->function >= p->n_functions) {
			pctl_verify_complain(v, PC2014_PROGRAM_ENTRY,
					     "entry point %u has no function", i);
			continue;
		}
		f = &p->functions[e->function];
		if (f->n_params || f->return_type)
			pctl_verify_complain(
				v, PC2014_PROGRAM_ENTRY,
				"entry point \"%s\" takes parameters or returns a value", names[i]);
		for (d = 0; d < 3; d++) {
			if (!e->workgroup_size_spec[d]
				    ? !e->workgroup_size[d]
				    : e->workgroup_size[d] ||
					      !spec_count(v, e->workgroup_size_spec[d] - 1))
				pctl_verify_complain(
					v, PC2014_PROGRAM_ENTRY,
					"entry point \"%s\" has no workgroup size in dimension %u",
					names[i], d);
		}
	}
	check_unique(v, names, p->n_entries, PC2014_PROGRAM_ENTRY, "entry points");
}

/* The type one step below, where a part of that number is there; 0: none. */
static uint32_t part_of(const pctl_program *p, uint32_t type, uint32_t word)
{
	const pctl_type *t = &p->types[type];

	if ((t->kind == PCTL_TYPE_VECTOR && word >= t->width) ||
	    (t->kind == PCTL_TYPE_ARRAY && word >= t->count) ||
	    (t->kind != PCTL_TYPE_STRUCT && t->kind != PCTL_TYPE_VECTOR &&
	     t->kind != PCTL_TYPE_ARRAY))
		return 0;
	return pctl_type_step(p, type, word);
}

static void check_maxima(pctl_verify *v)
{
	const pctl_program *p = v->p;
	uint32_t i, d;

	for (i = 0; i < p->n_maxima; i++) {
		const pctl_max *m = &p->maxima[i];
		uint32_t type = 0;
		uint8_t scalar;

		if (m->var < p->n_vars && p->vars[m->var].space == PCTL_SPACE_UNIFORM &&
		    m->n_path <= 4)
			type = p->vars[m->var].type;
		for (d = 0; d < 4 && type; d++) {
			if (d < m->n_path)
				type = part_of(p, type, m->path[d]);
			else if (m->path[d])
				type = 0;
		}
		scalar = type && p->types[type].kind == PCTL_TYPE_SCALAR ? p->types[type].scalar
									 : PCTL_SCALAR_NONE;
		if (scalar < PCTL_SCALAR_I32 || scalar > PCTL_SCALAR_U64)
			pctl_verify_complain(
				v, PC2015_PROGRAM_MAXIMUM,
				"declared maximum %u is not of an integer in a uniform variable",
				i);
		else if (m->value >> (pctl_scalar_bits(scalar) - 1) >
			 (pctl_scalar_is_signed(scalar) ? 0u : 1u))
			pctl_verify_complain(v, PC2015_PROGRAM_MAXIMUM,
					     "declared maximum %u does not fit its type", i);
	}
}

void pctl_verify_rest(pctl_verify *v)
{
	const pctl_program *p = v->p;
	uint32_t n = p->n_overrides > p->n_entries ? p->n_overrides : p->n_entries, i;
	const char **names = calloc((size_t)n + 1, sizeof(*names));
	uint32_t *ids = calloc((size_t)n + 1, sizeof(*ids));

	v->at = PCTL_NONE;
	if (!names || !ids) {
		pctl_verify_complain(v, PC2_NOMEM, "no memory to verify a program");
	} else {
		check_overrides(v, names, ids);
		check_entries(v, names);
		check_maxima(v);
		pctl_verify_tile_workgroup(v);
		for (i = 1; i < p->n_types; i++) {
			if (p->types[i].count_spec && !spec_count(v, p->types[i].count_spec - 1))
				pctl_verify_complain(v, PC2010_PROGRAM_TYPE,
						     "the count of type %u is no integer of `spec`",
						     i);
		}
		if (p->max_turns > PCTL_TURNS_MAX)
			pctl_verify_complain(v, PC2016_PROGRAM_TABLE,
					     "the maximum of turns is too large");
	}
	free(names);
	free(ids);
}
