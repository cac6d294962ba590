/* The legaliser's frame: what a device lacks, and the rebuilding of a program around the
 * instructions that have to change. What they change into is in the files of each family (wide_*:
 * 64-bit integers). */
#include "legal/legal_parts.h"

#include <stdlib.h>
#include <string.h>

/* Everything a rule of this module can take away. */
#define LEGAL_REPLACEABLE PCTL_CAP_I64

void legal_refuse_memory(legal *l)
{
	if (l->status == PCTL_OK)
		l->status = pctl_refuse(l->call, PC2_NOMEM, "legalising a program");
}

uint32_t legal_emit(legal *l, uint16_t op, uint32_t type, const uint32_t *args, uint32_t n)
{
	return pctl_build_inst(l->b, op, type, args, n);
}

int legal_source_open(legal *l, const pctl_program *p, int widen)
{
	uint32_t longest = 1;

	for (uint32_t f = 0; f < p->n_functions; f++)
		if (p->functions[f].n_insts > longest)
			longest = p->functions[f].n_insts;
	l->p = p;
	l->types = calloc(p->n_types + 1u, sizeof(*l->types));
	l->is_wide = calloc(p->n_types + 1u, 1);
	l->functions = calloc(p->n_functions + 1u, sizeof(*l->functions));
	l->values = calloc(longest, sizeof(*l->values));
	if (!l->types || !l->is_wide || !l->functions || !l->values) {
		legal_refuse_memory(l);
		return 0;
	}
	if (widen)
		legal_find_wide(l);
	return 1;
}

void legal_source_close(legal *l)
{
	free(l->types);
	free(l->is_wide);
	free(l->functions);
	free(l->values);
	l->types = l->functions = NULL;
	l->is_wide = NULL;
	l->values = NULL;
}

/* ---- instructions ------------------------------------------------------------------------- */

static int keep_flags(legal *l, uint32_t value, uint16_t flags)
{
	if (!flags)
		return 1;
	if (l->n_flags == l->flags_capacity) {
		const uint32_t capacity = l->flags_capacity ? l->flags_capacity * 2 : 64;
		legal_flag *more = realloc(l->flags, capacity * sizeof(*more));

		if (!more) {
			legal_refuse_memory(l);
			return 0;
		}
		l->flags = more;
		l->flags_capacity = capacity;
	}
	l->flags[l->n_flags++] = (legal_flag){l->new_function, value, flags};
	return 1;
}

/* The arguments of one instruction under construction. */
typedef struct arguments {
	uint32_t *words;
	uint32_t n;
} arguments;

static int arguments_open(legal *l, arguments *a, uint32_t most)
{
	*a = (arguments){.words = calloc(most + 1u, sizeof(*a->words))};
	if (!a->words)
		legal_refuse_memory(l);
	return a->words != NULL;
}

/* A place: the same path, with a step into the wrapper where one was put around an element. */
static uint16_t place_words(legal *l, const pctl_inst *in, const pctl_place *place, arguments *a)
{
	uint32_t type = place->root_type;
	uint16_t flags = 0;

	a->words[a->n++] = place->root;
	for (uint32_t i = 0; i < place->n_chain; i++) {
		const uint32_t word = l->p->words[place->chain + i],
			       from = a->n - place->n_values - 1;
		const pctl_type *t = &l->p->types[type];

		if (i < 16 && (in->flags & PCTL_INST_PROVEN(i)) && from < 16)
			flags |= (uint16_t)PCTL_INST_PROVEN(from);
		a->words[a->n++] = t->kind == PCTL_TYPE_STRUCT ? word : l->values[word].id[0];
		type = pctl_type_step(l->p, type, word);
		if (t->kind != PCTL_TYPE_STRUCT && t->kind != PCTL_TYPE_VECTOR &&
		    legal_is_wrapped(l, type))
			a->words[a->n++] = 0;
	}
	return flags;
}

static void memory(legal *l, uint32_t v, const pctl_inst *in, const pctl_place *place)
{
	const int yields = pctl_op_get(in->op)->yields;
	uint16_t flags;
	arguments a;
	uint32_t id;

	if (!arguments_open(l, &a, place->n_values + 1 + 2 * place->n_chain))
		return;
	for (uint32_t i = 0; i < place->n_values; i++)
		a.words[a.n++] = legal_packed(l, pctl_arg(l->p, in, i));
	flags = place_words(l, in, place, &a);
	id = legal_emit(l, in->op, yields ? legal_type(l, in->type) : 0, a.words, a.n);
	keep_flags(l, id, flags);
	if (yields)
		legal_set_packed(l, v, id);
	free(a.words);
}

/* Copy an instruction whose operands and result stay single values. */
static void copy(legal *l, uint32_t v, const pctl_inst *in)
{
	const pctl_op_info *info = pctl_op_get(in->op);
	const char *letter = info->args;
	arguments a;
	uint32_t id;

	if (!arguments_open(l, &a, in->n_args))
		return;
	for (uint32_t i = 0; i < in->n_args; i++) {
		const uint32_t word = pctl_arg(l->p, in, i);

		a.words[a.n++] = *letter == 'v'	  ? legal_packed(l, word)
				 : *letter == 'f' ? l->functions[word]
						  : word;
		if (letter[1] != '*' && letter[1])
			letter++;
		else if (letter[1] == '*' && i + 1 < in->n_args && letter[0] == 'f')
			letter++;
	}
	id = legal_emit(l, in->op, legal_type(l, in->type), a.words, a.n);
	if (info->yields && in->type)
		legal_set_packed(l, v, id);
	free(a.words);
}

static void wide_constant(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint32_t width = legal_is_wide_vector(l, in->type) ? l->p->types[in->type].width : 1;

	if (in->op == PCTL_OP_CONST) {
		const uint32_t low = pctl_build_const(l->b, l->t_u32, pctl_arg(l->p, in, 0));

		l->values[v].id[0] =
			legal_pair(l, low, pctl_build_const(l->b, l->t_u32, pctl_arg(l->p, in, 1)));
		return;
	}
	l->values[v].id[0] =
		legal_emit(l, PCTL_OP_ZERO, width > 1 ? l->t_u2 : legal_type(l, in->type), NULL, 0);
	for (uint32_t k = 1; k < width; k++)
		l->values[v].id[k] = l->values[v].id[0];
}

/* Does the instruction compute with, or yield, something that must go? */
static int touches_wide(const legal *l, const pctl_inst *in)
{
	const char *letter = pctl_op_get(in->op)->args;

	if (l->is_wide[in->type])
		return 1;
	for (uint32_t i = 0; i < in->n_args; i++) {
		if (*letter == 'v' &&
		    l->is_wide[pctl_value_type(l->p, l->fn, pctl_arg(l->p, in, i))])
			return 1;
		if (letter[1] && letter[1] != '*')
			letter++;
	}
	return 0;
}

static int is_elementwise(const legal *l, uint32_t type)
{
	const uint8_t kind = l->p->types[type].kind;

	return kind == PCTL_TYPE_SCALAR || kind == PCTL_TYPE_VECTOR;
}

static void instruction(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint8_t kind = pctl_op_get(in->op)->kind;
	pctl_place place;

	if (in->op == PCTL_OP_PARAM)
		return; /* made with the function */
	if (pctl_place_get(l->p, l->fn, in, &place))
		memory(l, v, in, &place);
	else if (kind == PCTL_OPKIND_control || !touches_wide(l, in))
		copy(l, v, in);
	else if (kind == PCTL_OPKIND_const)
		wide_constant(l, v, in);
	else if (kind == PCTL_OPKIND_elem && is_elementwise(l, in->type))
		legal_wide_elem(l, v, in);
	else if (kind == PCTL_OPKIND_elem)
		copy(l, v, in); /* a select of whole composites */
	else
		legal_wide_data(l, v, in);
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
		const pctl_local *local = &l->p->locals[fn->first_local + i];

		pctl_build_local(l->b, pctl_str(l->p, local->name), legal_type(l, local->type));
	}
	free(params);
	return 1;
}

uint32_t legal_function(legal *l, uint32_t f)
{
	const pctl_function *fn = &l->p->functions[f];

	l->fn = fn;
	if (!function_begin(l, fn))
		return 0;
	for (uint32_t i = 0; i < fn->n_insts && l->status == PCTL_OK; i++) {
		if (l->p->origins && l->is_main)
			pctl_build_origin(l->b, &l->p->origins[fn->first_inst + i]);
		instruction(l, i, &l->p->insts[fn->first_inst + i]);
	}
	l->functions[f] = pctl_build_function_end(l->b);
	l->new_function = l->functions[f] + 1;
	return l->functions[f];
}

static void frame(legal *l)
{
	const pctl_program *p = l->p;

	for (uint32_t i = 0; i < p->n_vars; i++) {
		pctl_var v = p->vars[i];

		v.type = legal_type(l, v.type);
		pctl_build_var(l->b, &v, pctl_str(p, p->vars[i].name));
	}
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
		if (!l->is_wide[type])
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

static pctl_status rebuild(legal *l, const pctl_program *p, int widen, pctl_program **out)
{
	pctl_status status;
	uint32_t need;

	l->b = pctl_builder_create();
	if (!l->b) {
		legal_refuse_memory(l);
		return l->status;
	}
	builder_types(l);
	l->new_function = 1; /* behind `spec` */
	if (!legal_source_open(l, p, widen))
		return l->status;
	need = widen ? legal_needed_forms(l) : 0;
	legal_source_close(l);
	status = legal_link_forms(l, need);
	if (status != PCTL_OK || !legal_source_open(l, p, widen))
		return status == PCTL_OK ? l->status : status;
	l->is_main = 1;
	frame(l);
	for (uint32_t f = 1; f < p->n_functions && l->status == PCTL_OK; f++)
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

static pctl_status check_left(const pctl_program *p, const pctl_device_caps *caps,
			      const pctl_call *call)
{
	static const struct {
		uint64_t cap;
		const char *what;
	} names[] = {
		{PCTL_CAP_I64, "64-bit integers"},
		{PCTL_CAP_F16, "16-bit floats"},
		{PCTL_CAP_F32, "32-bit floats"},
		{PCTL_CAP_BF16, "bfloat16"},
		{PCTL_CAP_F64, "64-bit floats"},
		{PCTL_CAP_NARROW, "8- and 16-bit integers"},
		{PCTL_CAP_OVERRIDES, "override values that were never set"},
		{PCTL_CAP_STRICT_FLOAT, "strict float operations"},
	};
	const uint64_t left = p->caps & ~caps->caps;

	if (!left)
		return PCTL_OK;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (left & names[i].cap)
			return pctl_refuse(call, PC2501_LEGAL_CAPABILITY,
					   "the program needs %s: the device has none and no exact "
					   "replacement is known",
					   names[i].what);
	return pctl_refuse(call, PC2501_LEGAL_CAPABILITY,
			   "the program needs capabilities 0x%llx that the device lacks",
			   (unsigned long long)left);
}

pctl_status pctl_legalise(const pctl_program *p, const pctl_device_caps *caps,
			  const pctl_call *call, pctl_program **out)
{
	const uint64_t lacking = p->caps & ~caps->caps;
	legal l = {.call = call};
	pctl_status status;

	*out = NULL;
	if (p->caps & PCTL_CAP_OVERRIDES)
		return pctl_refuse(call, PC2502_LEGAL_UNSPECIALISED,
				   "set its override values first");
	if (lacking & ~(uint64_t)LEGAL_REPLACEABLE)
		return check_left(p, caps, call);
	status = rebuild(&l, p, (lacking & PCTL_CAP_I64) != 0, out);
	legal_source_close(&l);
	pctl_builder_destroy(l.b);
	free(l.flags);
	if (status == PCTL_OK)
		status = check_left(*out, caps, call);
	if (status != PCTL_OK) {
		pctl_program_destroy(*out);
		*out = NULL;
	}
	return status;
}
