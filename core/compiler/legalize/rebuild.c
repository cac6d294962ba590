/* Rebuilding a program around the instructions that have to change. What they change into is in the
 * files of each pass. */
#include "compiler/legalize/legal_parts.h"

#include <stdlib.h>
#include <string.h>

void legal_refuse_memory(legal *l)
{
	if (l->status == PCTL_OK)
		l->status = pctl_refuse(l->call, PC2_NOMEM, "legalising a program");
}

uint32_t legal_emit(legal *l, uint16_t op, uint32_t type, const uint32_t *args, uint32_t n)
{
	return pctl_build_inst(l->b, op, type, args, n);
}

uint32_t legal_emit1(legal *l, uint16_t op, uint32_t type, uint32_t a)
{
	return legal_emit(l, op, type, &a, 1);
}

uint32_t legal_emit2(legal *l, uint16_t op, uint32_t type, uint32_t a, uint32_t b)
{
	return legal_emit(l, op, type, (const uint32_t[]){a, b}, 2);
}

uint32_t legal_emit3(legal *l, uint16_t op, uint32_t type, uint32_t a, uint32_t b, uint32_t c)
{
	return legal_emit(l, op, type, (const uint32_t[]){a, b, c}, 3);
}

uint32_t legal_word(legal *l, uint32_t k)
{
	return pctl_build_const(l->b, l->t_u32, k);
}

int legal_source_open(legal *l, const pctl_program *p, const legal_rules *rules,
		      uint32_t int64_scalars)
{
	uint32_t longest = 1;

	for (uint32_t f = 0; f < p->n_functions; f++)
		if (p->functions[f].n_insts > longest)
			longest = p->functions[f].n_insts;
	l->p = p;
	l->rules = rules;
	l->int64_scalars = int64_scalars;
	l->types = calloc(p->n_types + 1u, sizeof(*l->types));
	l->stored = calloc(p->n_types + 1u, sizeof(*l->stored));
	l->is_int64 = calloc(p->n_types + 1u, 1);
	l->is_linking = calloc(p->n_functions + 1u, 1);
	l->functions = calloc(p->n_functions + 1u, sizeof(*l->functions));
	l->values = calloc(longest, sizeof(*l->values));
	if (!l->types || !l->stored || !l->is_int64 || !l->is_linking || !l->functions ||
	    !l->values) {
		legal_refuse_memory(l);
		return 0;
	}
	legal_find_int64(l);
	return 1;
}

void legal_source_close(legal *l)
{
	free(l->types);
	free(l->stored);
	free(l->is_int64);
	free(l->is_linking);
	free(l->functions);
	free(l->values);
	l->types = l->stored = l->functions = NULL;
	l->is_int64 = l->is_linking = NULL;
	l->values = NULL;
}

pctl_pos legal_position(const legal *l, uint32_t v)
{
	const pctl_program *p = l->p;
	pctl_pos pos = {NULL, 0, 0, 0, 0};
	const pctl_origin *o;

	if (!p->origins)
		return pos;
	o = &p->origins[l->fn->first_inst + v];
	if (o->file >= p->n_origin_files)
		return pos;
	pos.file = p->origin_files[o->file];
	pos.line = o->line;
	pos.column = o->column;
	pos.end_column = o->end_column;
	return pos;
}

/* ---- operands ----------------------------------------------------------------------------- */

int legal_next_operand(legal_operands *o, uint32_t *i, uint32_t *value)
{
	const legal *l = o->l;

	while (o->i < o->in->n_args) {
		const uint32_t at = o->i++, word = pctl_arg(l->p, o->in, at);
		int is_value;

		if (!o->letter)
			o->letter = pctl_op_get(o->in->op)->args;
		if (*o->letter == 'c') {
			is_value = l->p->types[o->type].kind != PCTL_TYPE_STRUCT;
			o->type = pctl_type_step(l->p, o->type, word);
		} else {
			is_value = *o->letter == 'v';
			if (*o->letter == 'g') {
				pctl_place place;

				pctl_place_get(l->p, l->fn, o->in, &place);
				o->type = place.root_type;
			}
			if (o->letter[1] && o->letter[1] != '*')
				o->letter++;
		}
		if (is_value) {
			*i = at;
			*value = word;
			return 1;
		}
	}
	return 0;
}

/* ---- instructions ------------------------------------------------------------------------- */

void legal_keep_flags(legal *l, uint32_t value, uint16_t flags)
{
	if (!flags)
		return;
	if (l->n_flags == l->flags_capacity) {
		const uint32_t capacity = l->flags_capacity ? l->flags_capacity * 2 : 64;
		legal_flag *more = realloc(l->flags, capacity * sizeof(*more));

		if (!more) {
			legal_refuse_memory(l);
			return;
		}
		l->flags = more;
		l->flags_capacity = capacity;
	}
	l->flags[l->n_flags++] = (legal_flag){l->new_function, value, flags};
}

int legal_arguments_open(legal *l, legal_arguments *a, uint32_t most)
{
	*a = (legal_arguments){.words = calloc(most + 1u, sizeof(*a->words))};
	if (!a->words)
		legal_refuse_memory(l);
	return a->words != NULL;
}

static uint32_t root_of(const legal *l, uint32_t root)
{
	const uint32_t local = root & ~PCTL_PLACE_LOCAL;

	if (!(root & PCTL_PLACE_LOCAL))
		return l->variables ? l->variables[root] : root;
	if (l->renamed && l->renamed[local])
		return PCTL_PLACE_LOCAL | (l->renamed[local] - 1);
	return root + l->local_base;
}

uint16_t legal_place(legal *l, const pctl_inst *in, const pctl_place *place, legal_arguments *a)
{
	const uint32_t root = a->n;
	uint32_t type = place->root_type;
	uint16_t flags = 0;

	a->words[a->n++] = root_of(l, place->root);
	for (uint32_t i = 0; i < place->n_chain; i++) {
		const uint32_t word = l->p->words[place->chain + i], at = a->n - root - 1;
		const pctl_type *t = &l->p->types[type];

		if (i < 16 && (in->flags & PCTL_INST_PROVEN(i)) && at < 16)
			flags |= (uint16_t)PCTL_INST_PROVEN(at);
		a->words[a->n++] = t->kind == PCTL_TYPE_STRUCT ? word : l->values[word].id[0];
		type = pctl_type_step(l->p, type, word);
		if (t->kind != PCTL_TYPE_STRUCT && t->kind != PCTL_TYPE_VECTOR &&
		    legal_is_wrapped(l, type))
			a->words[a->n++] = 0;
	}
	return flags;
}

void legal_memory(legal *l, uint32_t v, const pctl_inst *in, const pctl_place *place)
{
	const int yields = pctl_op_get(in->op)->yields;
	legal_arguments a;
	uint16_t flags;
	uint32_t id;

	if (!legal_arguments_open(l, &a, place->n_values + 1 + 2 * place->n_chain))
		return;
	for (uint32_t i = 0; i < place->n_values; i++)
		a.words[a.n++] = legal_packed(l, pctl_arg(l->p, in, i));
	flags = legal_place(l, in, place, &a);
	if (pctl_op_get(in->op)->kind == PCTL_OPKIND_tile)
		flags |= in->flags & PCTL_INST_WHOLE;
	id = legal_emit(l, in->op, yields ? legal_type(l, in->type) : 0, a.words, a.n);
	legal_keep_flags(l, id, flags);
	if (yields)
		legal_set_packed(l, v, id);
	free(a.words);
}

void legal_copy(legal *l, uint32_t v, const pctl_inst *in)
{
	const pctl_op_info *info = pctl_op_get(in->op);
	const char *letter = info->args;
	legal_arguments a;
	uint32_t id;

	if (!legal_arguments_open(l, &a, in->n_args))
		return;
	for (uint32_t i = 0; i < in->n_args; i++) {
		const uint32_t word = pctl_arg(l->p, in, i);

		a.words[a.n++] = *letter == 'v'	  ? legal_packed(l, word)
				 : *letter == 'f' ? l->functions[legal_callee(l, word)]
						  : word;
		if (letter[1] && letter[1] != '*')
			letter++;
	}
	id = legal_emit(l, in->op, legal_type(l, in->type), a.words, a.n);
	if (info->yields && in->type)
		legal_set_packed(l, v, id);
	free(a.words);
}

/* ---- functions and the program ------------------------------------------------------------ */

static int function_begin(legal *l, const pctl_function *fn)
{
	uint32_t *params = calloc(fn->n_params + 1u, sizeof(*params));

	if (!params) {
		legal_refuse_memory(l);
		return 0;
	}
	for (uint32_t i = 0; i < fn->n_params; i++)
		params[i] = legal_type(l, l->p->insts[fn->first_inst + i].type);
	pctl_build_function_begin(l->b, pctl_str(l->p, fn->name), params, fn->n_params,
				  legal_type(l, fn->return_type));
	for (uint32_t i = 0; i < fn->n_params; i++)
		legal_set_packed(l, i, i);
	for (uint32_t i = 0; i < fn->n_locals; i++) {
		const uint32_t type = l->rules->local(l, i);

		pctl_build_local(l->b, pctl_str(l->p, l->p->locals[fn->first_local + i].name),
				 type);
	}
	free(params);
	return 1;
}

uint32_t legal_function(legal *l, uint32_t f)
{
	const pctl_function *fn = &l->p->functions[f];

	l->fn = fn;
	l->function = f;
	if ((l->rules->plan && !l->rules->plan(l)) || !function_begin(l, fn))
		return 0;
	for (uint32_t i = 0; i < fn->n_insts && l->status == PCTL_OK; i++) {
		if (l->p->origins && l->is_main)
			pctl_build_origin(l->b, &l->p->origins[fn->first_inst + i]);
		l->rules->instruction(l, i, &l->p->insts[fn->first_inst + i]);
	}
	l->functions[f] = pctl_build_function_end(l->b);
	l->new_function = l->functions[f] + 1;
	return l->functions[f];
}

static void frame(legal *l)
{
	const pctl_program *p = l->p;

	for (uint32_t i = 0; i < p->n_vars; i++) {
		const uint8_t space = p->vars[i].space;
		pctl_var v = p->vars[i];

		v.type = space == PCTL_SPACE_STORAGE || space == PCTL_SPACE_UNIFORM
				 ? legal_stored_type(l, v.type)
				 : legal_type(l, v.type);
		pctl_build_var(l->b, &v, pctl_str(p, p->vars[i].name));
	}
	if (l->rules->variables)
		l->rules->variables(l);
	for (uint32_t i = 0; p->origins && i < p->n_origin_files; i++)
		pctl_build_origin_file(l->b, i, p->origin_files[i]);
	pctl_build_meta(l->b, p->max_dispatch, p->scale);
}

/* Declared maxima of 64-bit uniforms are left out: they speak of a scalar that is gone, and the
 * host has checked them against the program as written. */
static void tail(legal *l)
{
	const pctl_program *p = l->p;

	for (uint32_t i = 0; i < p->n_entries; i++) {
		pctl_entry e = p->entries[i];

		e.function = l->functions[e.function];
		pctl_build_entry(l->b, &e, pctl_str(p, p->entries[i].name));
	}
	for (uint32_t i = 0; i < p->n_maxima; i++) {
		uint32_t type = p->vars[p->maxima[i].var].type;

		for (uint32_t k = 0; k < p->maxima[i].n_path; k++)
			type = pctl_type_step(p, type, p->maxima[i].path[k]);
		if (!l->is_int64[type])
			pctl_build_max(l->b, &p->maxima[i]);
	}
}

static void builder_types(legal *l)
{
	l->t_u32 = pctl_build_scalar(l->b, PCTL_SCALAR_U32);
	l->t_i32 = pctl_build_scalar(l->b, PCTL_SCALAR_I32);
	l->t_bool = pctl_build_scalar(l->b, PCTL_SCALAR_BOOL);
	l->t_u2 = pctl_build_vector(l->b, PCTL_SCALAR_U32, 2);
	l->t_b2 = pctl_build_vector(l->b, PCTL_SCALAR_BOOL, 2);
}

static pctl_status rebuild(legal *l, const pctl_program *p, const legal_rules *rules,
			   uint32_t int64_scalars, pctl_status (*link)(legal *l),
			   pctl_program **out)
{
	pctl_status status;

	l->b = pctl_builder_create();
	if (!l->b) {
		legal_refuse_memory(l);
		return l->status;
	}
	builder_types(l);
	l->new_function = 1; /* behind `spec` */
	status = link ? link(l) : PCTL_OK;
	if (status != PCTL_OK)
		return status;
	if (!legal_source_open(l, p, rules, int64_scalars))
		return l->status;
	l->is_main = 1;
	frame(l);
	for (uint32_t f = 1; f < p->n_functions && l->status == PCTL_OK; f++)
		if (!l->rules->left_out || !l->rules->left_out(l, f))
			legal_function(l, f);
	if (l->status != PCTL_OK)
		return l->status;
	tail(l);
	status = pctl_builder_finish(l->b, l->call, out);
	for (uint32_t i = 0; i < l->n_flags && status == PCTL_OK; i++) {
		const pctl_function *fn = &(*out)->functions[l->flags[i].function];

		(*out)->insts[fn->first_inst + l->flags[i].value].flags = l->flags[i].flags;
	}
	return status;
}

pctl_status legal_rebuild(legal *l, const pctl_program *p, const legal_rules *rules,
			  uint32_t int64_scalars, pctl_status (*link)(legal *l), pctl_program **out)
{
	const pctl_status status = rebuild(l, p, rules, int64_scalars, link, out);

	legal_source_close(l);
	pctl_builder_destroy(l->b);
	free(l->flags);
	l->b = NULL;
	l->flags = NULL;
	return status;
}
