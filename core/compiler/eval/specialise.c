/* Making an unspecialised program concrete: values found, sizes made literal, what the entry point
 * does not reach dropped. The packing and verifying is the SDK's. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/arena.h"
#include "foundation/base/num.h"
#include "compiler/eval/eval.h"
#include "compiler/eval/float.h"
#include "compiler/ir/tables.h"
#include "compiler/eval/specialise.h"

#define SIZE_MAX_COUNT 65536u

typedef struct special {
	const pctl_program *p;
	const pctl_call *call;
	pctl_arena *arena; /* scratch */
	const pctl_entry *entry;
	uint64_t *override_bits, *spec;
	uint8_t *has, *functions, *vars;
	pctl_program raw;
	pctl_status status;
} special;

static int refuse_memory(special *s)
{
	s->status = pctl_refuse(s->call, PC2_NOMEM, "no memory to specialise a program");
	return 0;
}

/* "a, b, c" of the names given, in the scratch arena; "none" for none. */
static const char *listed(special *s, const char *(*name)(const pctl_program *p, uint32_t i),
			  uint32_t n)
{
	const char *all = n ? name(s->p, 0) : "none";
	uint32_t i;

	for (i = 1; i < n && all; i++)
		all = pctl_arena_printf(s->arena, "%s, %s", all, name(s->p, i));
	return all ? all : "";
}

static const char *entry_name(const pctl_program *p, uint32_t i)
{
	return pctl_str(p, p->entries[i].name);
}

static const char *override_name(const pctl_program *p, uint32_t i)
{
	return pctl_str(p, p->overrides[i].name);
}

static int find_entry(special *s, const char *name)
{
	const pctl_pos nowhere = {NULL, 0, 0, 0, 0};
	const char *hint = pctl_arena_printf(s->arena, "entry points: %s",
					     listed(s, entry_name, s->p->n_entries));
	uint32_t i;

	if (!name && s->p->n_entries == 1) {
		s->entry = &s->p->entries[0];
		return 1;
	}
	for (i = 0; name && i < s->p->n_entries; i++) {
		if (strcmp(name, entry_name(s->p, i)) == 0) {
			s->entry = &s->p->entries[i];
			return 1;
		}
	}
	if (name)
		s->status = pctl_refuse_at(s->call, PC2040_SPECIALISE_ENTRY, &nowhere, hint,
					   "there is no entry point \"%s\"", name);
	else
		s->status = pctl_refuse_at(s->call, PC2040_SPECIALISE_ENTRY, &nowhere, hint,
					   "the program has %u entry points and none was named",
					   s->p->n_entries);
	return 0;
}

/* ---- override values ---- */

static uint32_t find_override(const pctl_program *p, const char *name)
{
	uint64_t id;
	uint32_t i;

	for (i = 0; i < p->n_overrides; i++) {
		if (strcmp(name, override_name(p, i)) == 0)
			return i;
	}
	if (!pctl_num_parse_u64(name, strlen(name), &id) || id >= PCTL_NONE)
		return PCTL_NONE;
	for (i = 0; i < p->n_overrides; i++) {
		if (p->overrides[i].id == id)
			return i;
	}
	return PCTL_NONE;
}

/* A value fits when cutting it to the type's width loses nothing, read as signed or unsigned
 * 64-bit; of a float, when it has no bits beyond its width. */
static int fits(uint8_t scalar, uint64_t bits)
{
	const uint32_t width = pctl_scalar_bits(scalar);

	if (pctl_float_is(scalar))
		return width == 64 || bits >> width == 0;
	if (width == 64 || bits >> width == 0)
		return !(pctl_scalar_is_signed(scalar) && width < 64 && bits >> (width - 1));
	return pctl_scalar_is_signed(scalar) && (int64_t)bits < 0 &&
	       (int64_t)bits >= -(1ll << (width - 1));
}

static int parse_integer(const char *text, uint64_t *out)
{
	int64_t negative;

	if (pctl_num_parse_u64(text, strlen(text), out))
		return 1;
	if (!pctl_num_parse_i64(text, strlen(text), &negative))
		return 0;
	*out = (uint64_t)negative;
	return 1;
}

static int parse_bool(const char *text, uint64_t *out)
{
	*out = strcmp(text, "true") == 0;
	return *out || strcmp(text, "false") == 0;
}

int pctl_override_is_value(const char *text)
{
	uint64_t out;

	return parse_bool(text, &out) || parse_integer(text, &out) ||
	       pctl_float_parse(text, strlen(text), PCTL_SCALAR_F64, &out, NULL);
}

/* The bits of a value for an override of that type; 0 when it does not fit. A number too large for a
 * float does not, one too small is rounded as any other. */
static int value_of(uint8_t scalar, const pctl_override_value *v, uint64_t *out)
{
	*out = v->bits;
	if (v->text && pctl_float_is(scalar))
		return pctl_float_parse(v->text, strlen(v->text), scalar, out, NULL) &&
		       pctl_float_kind(scalar, *out) == PCTL_FLOAT_FINITE;
	if (v->text && !parse_bool(v->text, out) && !parse_integer(v->text, out))
		return 0;
	return fits(scalar, *out);
}

pctl_status pctl_override_bits(const pctl_program *p, const pctl_override_value *v,
			       const pctl_call *call, uint64_t *out)
{
	const uint32_t o = find_override(p, v->name);
	uint8_t scalar;

	*out = 0;
	if (o == PCTL_NONE)
		return pctl_refuse_at(call, PC2041_SPECIALISE_OVERRIDE, v->pos, NULL,
				      "there is no override \"%s\"", v->name);
	scalar = p->types[p->overrides[o].type].scalar;
	if (value_of(scalar, v, out))
		return PCTL_OK;
	return pctl_refuse_at(call, PC2043_SPECIALISE_RANGE, v->pos, NULL,
			      "override \"%s\": %s does not fit %s", v->name,
			      v->text ? v->text : "the value", pctl_scalar_name(scalar));
}

static pctl_status refuse_value(special *s, const pctl_override_value *v, uint8_t scalar)
{
	char number[24];

	snprintf(number, sizeof(number), "0x%" PRIx64, v->bits);
	return pctl_refuse_at(s->call, PC2043_SPECIALISE_RANGE, v->pos, NULL,
			      "override \"%s\": %s does not fit %s", v->name,
			      v->text ? v->text : number, pctl_scalar_name(scalar));
}

static int set_overrides(special *s, const pctl_override_value *values, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		const uint32_t o = find_override(s->p, values[i].name);
		pctl_status status = PCTL_OK;
		uint8_t scalar;

		if (o == PCTL_NONE) {
			status = pctl_refuse_at(
				s->call, PC2041_SPECIALISE_OVERRIDE, values[i].pos,
				pctl_arena_printf(s->arena, "overrides: %s",
						  listed(s, override_name, s->p->n_overrides)),
				"there is no override \"%s\"", values[i].name);
		} else {
			scalar = s->p->types[s->p->overrides[o].type].scalar;
			if (!value_of(scalar, &values[i], &s->override_bits[o]))
				status = refuse_value(s, &values[i], scalar);
			if (pctl_scalar_bits(scalar) < 64)
				s->override_bits[o] &= (1ull << pctl_scalar_bits(scalar)) - 1;
			s->has[o] = 1;
		}
		if (s->status == PCTL_OK)
			s->status = status;
	}
	return s->status == PCTL_OK;
}

/* Where an override stands first, in the program's text; nowhere in one without origins. */
static pctl_pos override_pos(const pctl_program *p, uint32_t o)
{
	for (uint32_t i = 0; p->origins != NULL && i < p->n_insts; i++) {
		const pctl_inst *in = &p->insts[i];

		if (in->op == PCTL_OP_OVERRIDE && pctl_arg(p, in, 0) == o &&
		    p->origins[i].line != 0)
			return pctl_program_pos(p, i);
	}
	return (pctl_pos){NULL, 0, 0, 0, 0};
}

static pctl_status refuse_unset(special *s, uint32_t o)
{
	const pctl_pos pos = override_pos(s->p, o);

	return pctl_refuse_at(s->call, PC2042_SPECIALISE_VALUE, &pos,
			      pctl_arena_printf(s->arena, "overrides: %s",
						listed(s, override_name, s->p->n_overrides)),
			      "override \"%s\" has no value and no default",
			      override_name(s->p, o));
}

static int evaluate(special *s)
{
	uint32_t missing;

	if (pctl_eval_spec(s->p, s->override_bits, s->has, s->spec, &missing))
		return 1;
	if (missing == PCTL_EVAL_NO_MEMORY)
		return refuse_memory(s);
	if (missing == PCTL_EVAL_BAD)
		s->status = pctl_refuse(s->call, PC2029_PROGRAM_SPEC, "`spec` cannot be evaluated");
	else
		s->status = refuse_unset(s, missing);
	return 0;
}

/* The bits an OVERRIDE instruction of ordinary code stands for. */
static int override_value(special *s, uint32_t o, uint64_t *out)
{
	if (s->has[o]) {
		*out = s->override_bits[o];
	} else if (s->p->overrides[o].has_default) {
		*out = s->spec[s->p->overrides[o].default_value];
	} else {
		s->status = refuse_unset(s, o);
		return 0;
	}
	return 1;
}

/* ---- what is reached ---- */

static void reach(special *s)
{
	const pctl_program *p = s->p;
	uint32_t f, i;

	s->functions[0] = 1;
	s->functions[s->entry->function] = 1;
	/* Calls go to earlier functions only, so one pass downwards reaches all. */
	for (f = p->n_functions; f-- > 1;) {
		const pctl_function *fn = &p->functions[f];

		for (i = 0; s->functions[f] && i < fn->n_insts; i++) {
			const pctl_inst *in = &p->insts[fn->first_inst + i];
			pctl_place pl;

			if (in->op == PCTL_OP_CALL)
				s->functions[pctl_arg(p, in, 0)] = 1;
			else if (pctl_place_get(p, fn, in, &pl) && !(pl.root & PCTL_PLACE_LOCAL))
				s->vars[pl.root] = 1;
		}
	}
}

/* ---- sizes ---- */

static int size_of(special *s, uint32_t value, const char *what, const char *name, uint32_t *out)
{
	const pctl_function *spec = &s->p->functions[0];
	const uint8_t scalar = s->p->types[pctl_value_type(s->p, spec, value)].scalar;
	const int64_t size = pctl_eval_signed(scalar, s->spec[value]);

	*out = (uint32_t)size;
	if (size > 0 && size <= SIZE_MAX_COUNT)
		return 1;
	s->status = pctl_refuse(s->call, PC2044_SPECIALISE_SIZE,
				"%s of \"%s\" is %lld, allowed are 1 to %u", what, name,
				(long long)size, SIZE_MAX_COUNT);
	return 0;
}

static int make_sizes(special *s)
{
	const pctl_program *p = s->p;
	pctl_type *types = pctl_arena_array(s->arena, p->n_types, sizeof(*types));
	pctl_entry *entry = pctl_arena_alloc(s->arena, sizeof(*entry));
	uint32_t i, d;

	if (!types || !entry)
		return refuse_memory(s);
	memcpy(types, p->types, p->n_types * sizeof(*types));
	for (i = 0; i < p->n_vars; i++) {
		pctl_type *t = &types[p->vars[i].type];

		if (!s->vars[i] || !t->count_spec)
			continue;
		if (!size_of(s, t->count_spec - 1, "the array count", pctl_str(p, p->vars[i].name),
			     &t->count))
			return 0;
		t->count_spec = 0;
		if (!pctl_type_layout(types, p->n_types, t)) {
			s->status = pctl_refuse(s->call, PC2044_SPECIALISE_SIZE,
						"\"%s\" is larger than 4 GiB",
						pctl_str(p, p->vars[i].name));
			return 0;
		}
	}
	*entry = *s->entry;
	for (d = 0; d < 3; d++) {
		const uint32_t from = entry->workgroup_size_spec[d];

		entry->workgroup_size_spec[d] = 0;
		if (from && !size_of(s, from - 1, "the workgroup size", pctl_str(p, entry->name),
				     &entry->workgroup_size[d]))
			return 0;
		if (entry->workgroup_size[d] > SIZE_MAX_COUNT) {
			s->status = pctl_refuse(
				s->call, PC2044_SPECIALISE_SIZE,
				"the workgroup size of \"%s\" is %u, allowed are 1 to %u",
				pctl_str(p, entry->name), entry->workgroup_size[d], SIZE_MAX_COUNT);
			return 0;
		}
	}
	s->raw.types = types;
	s->raw.entries = entry;
	s->raw.n_entries = 1;
	return 1;
}

/* ---- code ---- */

static int make_code(special *s)
{
	const pctl_program *p = s->p;
	pctl_inst *insts = pctl_arena_array(s->arena, p->n_insts, sizeof(*insts));
	pctl_function *functions = pctl_arena_array(s->arena, p->n_functions, sizeof(*functions));
	uint32_t *words, f, i, n = 0;

	if (!insts || !functions)
		return refuse_memory(s);
	memcpy(insts, p->insts, p->n_insts * sizeof(*insts));
	memcpy(functions, p->functions, p->n_functions * sizeof(*functions));
	for (i = 0; i < p->n_insts; i++)
		n += insts[i].op == PCTL_OP_OVERRIDE;
	words = pctl_arena_array(s->arena, (size_t)p->n_words + 2 * (size_t)n, sizeof(*words));
	if (!words)
		return refuse_memory(s);
	memcpy(words, p->words, p->n_words * sizeof(*words));
	n = p->n_words;
	for (f = 1; f < p->n_functions; f++) {
		for (i = 0; s->functions[f] && i < functions[f].n_insts; i++) {
			pctl_inst *in = &insts[functions[f].first_inst + i];
			uint64_t bits;

			if (in->op != PCTL_OP_OVERRIDE)
				continue;
			if (!override_value(s, pctl_arg(p, in, 0), &bits))
				return 0;
			in->op = PCTL_OP_CONST;
			in->first_arg = n;
			in->n_args = 2;
			words[n++] = (uint32_t)bits;
			words[n++] = (uint32_t)(bits >> 32);
		}
	}
	functions[0].n_insts = 0;
	s->raw.insts = insts;
	s->raw.words = words;
	s->raw.n_words = n;
	s->raw.functions = functions;
	return 1;
}

static int prepare(special *s)
{
	const pctl_program *p = s->p;

	s->arena = pctl_arena_create();
	if (!s->arena)
		return refuse_memory(s);
	s->override_bits = pctl_arena_array(s->arena, p->n_overrides, sizeof(uint64_t));
	s->has = pctl_arena_array(s->arena, p->n_overrides, 1);
	s->spec = pctl_arena_array(s->arena, p->functions[0].n_insts, sizeof(uint64_t));
	s->functions = pctl_arena_array(s->arena, p->n_functions, 1);
	s->vars = pctl_arena_array(s->arena, p->n_vars, 1);
	if (!s->override_bits || !s->has || !s->spec || !s->functions || !s->vars)
		return refuse_memory(s);
	return 1;
}

pctl_status pctl_program_specialise(const pctl_program *p, const char *entry,
				    const pctl_override_value *values, uint32_t n_values,
				    const pctl_call *call, pctl_program **out)
{
	special s = {.p = p, .call = call, .raw = *p};
	pctl_keep keep;

	*out = NULL;
	if (!prepare(&s) || !find_entry(&s, entry) || !set_overrides(&s, values, n_values) ||
	    !evaluate(&s))
		goto out;
	reach(&s);
	if (!make_sizes(&s) || !make_code(&s))
		goto out;
	keep.functions = s.functions;
	keep.vars = s.vars;
	keep.drop_overrides = 1;
	s.status = pctl_tables_pack(&s.raw, &keep, call, out);
out:
	pctl_arena_destroy(s.arena);
	return s.status;
}
