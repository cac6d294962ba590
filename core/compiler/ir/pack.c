/* Packing loose tables into a program: used types once each, variables in order, functions back to
 * back, strings in the order of the wire form. What comes out is verified before anyone sees it. */
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/tables.h"

typedef struct packer {
	const pctl_program *raw;
	const pctl_keep *keep;
	pctl_program *p;
	uint32_t *type_map, *var_map, *var_order, *function_map;
	pctl_strings strings;
	pctl_index types;
	int failed;
} packer;

static int kept(const uint8_t *flags, uint32_t i)
{
	return !flags || flags[i];
}

static void *array(packer *k, uint32_t n, size_t size)
{
	void *a = pctl_arena_array(k->p->arena, n, size);

	if (!a)
		k->failed = 1;
	return a;
}

static uint32_t string(packer *k, uint32_t offset)
{
	const char *s = offset < k->raw->n_strings ? k->raw->strings + offset : "";
	uint32_t out;

	if (!pctl_strings_put(&k->strings, s, strlen(s), &out))
		k->failed = 1;
	return out;
}

static uint32_t mapped(const uint32_t *map, uint32_t n, uint32_t id)
{
	return id < n ? map[id] : PCTL_NONE;
}

static uint32_t type(const packer *k, uint32_t id)
{
	return mapped(k->type_map, k->raw->n_types, id);
}

/* ---- types ---- */

static void mark(uint8_t *used, uint32_t n, uint32_t id)
{
	if (id < n)
		used[id] = 1;
}

static void mark_types(const packer *k, uint8_t *used)
{
	const pctl_program *r = k->raw;
	uint32_t n = r->n_types, i, j;

	for (i = 0; i < r->n_vars; i++) {
		if (kept(k->keep->vars, i))
			mark(used, n, r->vars[i].type);
	}
	for (i = 0; i < r->n_overrides && !k->keep->drop_overrides; i++)
		mark(used, n, r->overrides[i].type);
	for (i = 0; i < r->n_functions; i++) {
		const pctl_function *f = &r->functions[i];

		if (!kept(k->keep->functions, i))
			continue;
		mark(used, n, f->return_type);
		for (j = 0; j < f->n_locals; j++)
			mark(used, n, r->locals[f->first_local + j].type);
		for (j = 0; j < f->n_insts; j++)
			mark(used, n, r->insts[f->first_inst + j].type);
	}
	for (i = n; i-- > 1;) {
		const pctl_type *t = &r->types[i];

		if (!used[i])
			continue;
		if (t->kind == PCTL_TYPE_STRUCT) {
			for (j = 0; j < t->count; j++)
				mark(used, i, r->members[t->first_member + j].type);
		} else {
			mark(used, i, t->elem);
		}
	}
}

struct type_key {
	const packer *k;
	const pctl_type *t;
	const pctl_member *members;
};

static int same_type(const void *ctx, uint32_t id)
{
	const struct type_key *key = ctx;
	const pctl_program *p = key->k->p;
	const char *s = key->k->strings.data;

	return pctl_type_same(key->t, key->members, s, &p->types[id], p->members, s);
}

static uint32_t pack_type(packer *k, const pctl_type *from)
{
	pctl_program *p = k->p;
	pctl_type *t = &p->types[p->n_types];
	struct type_key key = {k, t, p->members};
	uint32_t hash, id, i;

	*t = *from;
	t->first_member = 0;
	if (t->kind == PCTL_TYPE_STRUCT) {
		t->first_member = p->n_members;
		for (i = 0; i < t->count; i++) {
			const pctl_member *m = &k->raw->members[from->first_member + i];
			pctl_member *to = &p->members[t->first_member + i];

			*to = *m;
			to->name = string(k, m->name);
			to->type = type(k, m->type);
		}
	} else {
		t->elem = type(k, t->elem);
	}
	if (k->failed)
		return 0;
	hash = pctl_type_hash(t, p->members, k->strings.data);
	id = pctl_index_find(&k->types, hash, same_type, &key);
	if (id != PCTL_NONE)
		return id;
	if (!pctl_index_add(&k->types, hash, p->n_types))
		k->failed = 1;
	if (t->kind == PCTL_TYPE_STRUCT)
		p->n_members += t->count;
	return p->n_types++;
}

static void pack_types(packer *k)
{
	const pctl_program *r = k->raw;
	uint8_t *used = array(k, r->n_types, 1);
	uint32_t i;

	k->p->types = array(k, r->n_types, sizeof(pctl_type));
	k->p->members = array(k, r->n_members, sizeof(pctl_member));
	if (k->failed)
		return;
	mark_types(k, used);
	string(k, 0);
	k->p->n_types = 1;
	for (i = 1; i < r->n_types && !k->failed; i++)
		k->type_map[i] = used[i] ? pack_type(k, &r->types[i]) : PCTL_NONE;
}

/* ---- variables ---- */

static int bound(const pctl_var *v)
{
	return v->space == PCTL_SPACE_UNIFORM || v->space == PCTL_SPACE_STORAGE;
}

static int before(const packer *k, uint32_t a, uint32_t b)
{
	const pctl_var *x = &k->raw->vars[a], *y = &k->raw->vars[b];

	if (bound(x) != bound(y))
		return bound(x);
	if (bound(x) && (x->group != y->group || x->binding != y->binding))
		return x->group != y->group ? x->group < y->group : x->binding < y->binding;
	return a < b;
}

/* Stable bottom-up merge sort: the number of variables is not in our hands. */
static void sort_vars(const packer *k, uint32_t *order, uint32_t *spare, uint32_t n)
{
	uint32_t *from = order, *to = spare, *swap;
	uint64_t width, left;

	for (width = 1; width < n; width *= 2) {
		for (left = 0; left < n; left += 2 * width) {
			uint64_t mid = left + width < n ? left + width : n;
			uint64_t end = left + 2 * width < n ? left + 2 * width : n;
			uint64_t a = left, b = mid, o;

			for (o = left; o < end; o++) {
				if (a < mid && (b >= end || !before(k, from[b], from[a])))
					to[o] = from[a++];
				else
					to[o] = from[b++];
			}
		}
		swap = from;
		from = to;
		to = swap;
	}
	if (n && from != order)
		memcpy(order, from, n * sizeof(*order));
}

static void pack_vars(packer *k)
{
	const pctl_program *r = k->raw;
	uint32_t *spare = array(k, r->n_vars, sizeof(*spare));
	uint32_t i, n = 0;

	k->p->vars = array(k, r->n_vars, sizeof(pctl_var));
	if (k->failed)
		return;
	for (i = 0; i < r->n_vars; i++) {
		k->var_map[i] = PCTL_NONE;
		if (kept(k->keep->vars, i))
			k->var_order[n++] = i;
	}
	sort_vars(k, k->var_order, spare, n);
	for (i = 0; i < n; i++) {
		pctl_var *v = &k->p->vars[i];

		*v = r->vars[k->var_order[i]];
		v->name = string(k, v->name);
		v->type = type(k, v->type);
		k->var_map[k->var_order[i]] = i;
	}
	k->p->n_vars = n;
}

static void pack_overrides(packer *k)
{
	uint32_t n = k->keep->drop_overrides ? 0 : k->raw->n_overrides, i;

	k->p->overrides = array(k, n, sizeof(pctl_override));
	if (k->failed)
		return;
	for (i = 0; i < n; i++) {
		pctl_override *o = &k->p->overrides[i];

		*o = k->raw->overrides[i];
		o->name = string(k, o->name);
		o->type = type(k, o->type);
	}
	k->p->n_overrides = n;
}

/* ---- code ---- */

static void pack_inst(packer *k, const pctl_inst *from, const pctl_origin *origin)
{
	pctl_program *p = k->p;
	pctl_inst *in = &p->insts[p->n_insts];
	uint32_t *to = p->words + p->n_words;
	uint8_t n_values;

	*in = *from;
	in->type = type(k, from->type);
	in->first_arg = p->n_words;
	if (in->n_args)
		memcpy(to, &k->raw->words[from->first_arg], in->n_args * sizeof(*to));
	if (pctl_op_place_values(in->op, &n_values) && in->n_args > n_values) {
		if (!(to[n_values] & PCTL_PLACE_LOCAL))
			to[n_values] = mapped(k->var_map, k->raw->n_vars, to[n_values]) &
				       ~PCTL_PLACE_LOCAL;
	} else if (in->op == PCTL_OP_CALL && in->n_args) {
		to[0] = mapped(k->function_map, k->raw->n_functions, to[0]);
	}
	if (p->origins && origin)
		p->origins[p->n_insts] = *origin;
	p->n_words += in->n_args;
	p->n_insts++;
}

static void pack_function(packer *k, const pctl_function *from)
{
	pctl_program *p = k->p;
	const pctl_program *r = k->raw;
	pctl_function *f = &p->functions[p->n_functions++];
	uint32_t i;

	*f = *from;
	f->name = string(k, from->name);
	f->return_type = type(k, from->return_type);
	f->first_inst = p->n_insts;
	f->first_local = p->n_locals;
	for (i = 0; i < f->n_locals; i++) {
		pctl_local *l = &p->locals[p->n_locals++];

		*l = r->locals[from->first_local + i];
		l->name = string(k, l->name);
		l->type = type(k, l->type);
	}
	for (i = 0; i < f->n_insts; i++) {
		uint32_t at = from->first_inst + i;

		pack_inst(k, &r->insts[at], r->origins ? &r->origins[at] : NULL);
	}
}

static void pack_code(packer *k)
{
	const pctl_program *r = k->raw;
	pctl_program *p = k->p;
	uint32_t n_functions = 0, n_insts = 0, n_locals = 0, i, j;
	uint64_t n_words = 0;

	for (i = 0; i < r->n_functions; i++) {
		const pctl_function *f = &r->functions[i];

		k->function_map[i] = PCTL_NONE;
		if (!kept(k->keep->functions, i))
			continue;
		k->function_map[i] = n_functions++;
		n_insts += f->n_insts;
		n_locals += f->n_locals;
		for (j = 0; j < f->n_insts; j++)
			n_words += r->insts[f->first_inst + j].n_args;
	}
	p->functions = array(k, n_functions, sizeof(pctl_function));
	p->insts = array(k, n_insts, sizeof(pctl_inst));
	p->locals = array(k, n_locals, sizeof(pctl_local));
	p->words = n_words <= UINT32_MAX ? array(k, (uint32_t)n_words, sizeof(uint32_t)) : NULL;
	if (r->origins)
		p->origins = array(k, n_insts, sizeof(pctl_origin));
	if (!p->words)
		k->failed = 1;
	for (i = 0; i < r->n_functions && !k->failed; i++) {
		if (k->function_map[i] != PCTL_NONE)
			pack_function(k, &r->functions[i]);
	}
}

static void pack_rest(packer *k)
{
	const pctl_program *r = k->raw;
	pctl_program *p = k->p;
	uint32_t i;

	p->entries = array(k, r->n_entries, sizeof(pctl_entry));
	p->maxima = array(k, r->n_maxima, sizeof(pctl_max));
	p->origin_files = array(k, r->n_origin_files, sizeof(char *));
	if (k->failed)
		return;
	for (i = 0; i < r->n_entries; i++) {
		pctl_entry e = r->entries[i];

		e.function = mapped(k->function_map, r->n_functions, e.function);
		if (e.function == PCTL_NONE && r->entries[i].function < r->n_functions)
			continue;
		e.name = string(k, e.name);
		p->entries[p->n_entries++] = e;
	}
	for (i = 0; i < r->n_maxima; i++) {
		pctl_max m = r->maxima[i];

		m.var = mapped(k->var_map, r->n_vars, m.var);
		if (m.var == PCTL_NONE && r->maxima[i].var < r->n_vars)
			continue;
		p->maxima[p->n_maxima++] = m;
	}
	for (i = 0; i < r->n_origin_files; i++) {
		p->origin_files[i] =
			pctl_arena_dup(p->arena, r->origin_files[i] ? r->origin_files[i] : "");
		if (!p->origin_files[i])
			k->failed = 1;
	}
	p->n_origin_files = r->n_origin_files;
	memcpy(p->max_dispatch, r->max_dispatch, sizeof(p->max_dispatch));
	p->scale = r->scale;
	p->max_turns = r->max_turns;
	p->strings = array(k, k->strings.n, 1);
	if (!p->strings)
		return;
	memcpy(p->strings, k->strings.data, k->strings.n);
	p->n_strings = k->strings.n;
}

pctl_status pctl_tables_pack(const pctl_program *raw, const pctl_keep *keep, const pctl_call *call,
			     pctl_program **out)
{
	packer k = {.raw = raw, .keep = keep};
	pctl_arena *arena = pctl_arena_create();
	pctl_status status = PCTL_OK;

	*out = NULL;
	k.p = arena ? pctl_arena_alloc(arena, sizeof(*k.p)) : NULL;
	k.type_map = calloc((size_t)raw->n_types + 1, sizeof(uint32_t));
	k.var_map = calloc((size_t)raw->n_vars + 1, sizeof(uint32_t));
	k.var_order = calloc((size_t)raw->n_vars + 1, sizeof(uint32_t));
	k.function_map = calloc((size_t)raw->n_functions + 1, sizeof(uint32_t));
	k.failed = !k.p || !k.type_map || !k.var_map || !k.var_order || !k.function_map;
	if (!k.failed) {
		k.p->arena = arena;
		pack_types(&k);
	}
	if (!k.failed)
		pack_vars(&k);
	if (!k.failed)
		pack_overrides(&k);
	if (!k.failed)
		pack_code(&k);
	if (!k.failed)
		pack_rest(&k);
	if (k.failed)
		status = pctl_no_memory(call, "a program");
	else
		status = pctl_program_verify(k.p, call);
	if (status == PCTL_OK)
		*out = k.p;
	else
		pctl_arena_destroy(arena);
	free(k.type_map);
	free(k.var_map);
	free(k.var_order);
	free(k.function_map);
	pctl_strings_drop(&k.strings);
	pctl_index_drop(&k.types);
	return status;
}
