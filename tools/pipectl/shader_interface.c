/* What a shader wants from whoever runs it: the variables of an entry point that are bound, with their types, and the
 * overrides of the text with their defaults. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/eval/eval.h"
#include "compiler/eval/float.h"
#include "shader.h"

static const char *access_name(const pctl_var *v)
{
	return v->space == PCTL_SPACE_UNIFORM  ? "uniform"
	       : v->access & PCTL_ACCESS_WRITE ? "read_write"
					       : "read";
}

/* By whoever runs it: the turn flag is the host's. */
static int is_bound(const pctl_var *v)
{
	return (v->space == PCTL_SPACE_STORAGE || v->space == PCTL_SPACE_UNIFORM) &&
	       v->group != PCTL_TURNS_GROUP;
}

/* Bytes of the type, where a runtime array has no element; of one element of it. */
static void sizes_of(const pctl_program *p, uint32_t type, uint32_t *fixed, uint32_t *element)
{
	const pctl_type *t = &p->types[type];

	*element = 0;
	*fixed = t->kind == PCTL_TYPE_RUNTIME_ARRAY ? 0 : t->size;
	if (t->kind == PCTL_TYPE_STRUCT && t->count != 0) {
		const pctl_member *last = &p->members[t->first_member + t->count - 1];

		if (p->types[last->type].kind == PCTL_TYPE_RUNTIME_ARRAY) {
			*fixed = last->offset;
			t = &p->types[last->type];
		}
	}
	if (t->kind == PCTL_TYPE_RUNTIME_ARRAY)
		*element = t->stride;
}

static void print_binding(pctl_app *app, const pctl_program *p, const pctl_var *v)
{
	char *type = pctl_program_print_type(p, v->type);
	uint32_t fixed, element;

	sizes_of(p, v->type, &fixed, &element);
	if (app->json) {
		pctl_json *j = &app->document;

		pctl_json_object_begin(j);
		pctl_json_kv_u32(j, "group", v->group);
		pctl_json_kv_u32(j, "binding", v->binding);
		pctl_json_kv_string(j, "name", pctl_str(p, v->name));
		pctl_json_kv_string(j, "access", access_name(v));
		pctl_json_kv_string(j, "type", type == NULL ? "" : type);
		pctl_json_kv_u32(j, "bytes", fixed);
		pctl_json_kv_u32(j, "element_bytes", element);
		pctl_json_object_end(j);
	} else {
		printf("  %" PRIu32 ":%" PRIu32 "  %-10s  %s: %s", v->group, v->binding,
		       access_name(v), pctl_str(p, v->name), type == NULL ? "" : type);
		if (fixed != 0 || element == 0)
			printf(", %" PRIu32 " bytes", fixed);
		if (element != 0)
			printf(", %" PRIu32 " bytes an element", element);
		putchar('\n');
	}
	free(type);
}

void pctl_shader_print_bindings(pctl_app *app, const pctl_program *p)
{
	if (app->json) {
		pctl_json_key(&app->document, "workgroup_size");
		pctl_json_array_begin(&app->document);
		for (uint32_t i = 0; i < 3; i++)
			pctl_json_u32(&app->document, p->entries[0].workgroup_size[i]);
		pctl_json_array_end(&app->document);
		pctl_json_key(&app->document, "bindings");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; i < p->n_vars; i++)
		if (is_bound(&p->vars[i]))
			print_binding(app, p, &p->vars[i]);
	if (app->json)
		pctl_json_array_end(&app->document);
}

/* Which values of `spec` hang on an override without a default: they are not known yet. */
static void find_open(const pctl_program *p, uint8_t *open)
{
	const pctl_function *spec = &p->functions[0];
	uint32_t before, after = 0;

	do {
		before = after;
		after = 0;
		for (uint32_t i = 0; i < spec->n_insts; i++) {
			const pctl_inst *in = &p->insts[spec->first_inst + i];
			const char *letter = pctl_op_get(in->op)->args;

			if (in->op == PCTL_OP_OVERRIDE) {
				const pctl_override *o = &p->overrides[pctl_arg(p, in, 0)];

				open[i] |= !o->has_default || open[o->default_value];
			}
			for (uint32_t k = 0; k < in->n_args; k++) {
				if (*letter == 'v')
					open[i] |= open[pctl_arg(p, in, k)];
				if (letter[1] && letter[1] != '*')
					letter++;
			}
			after += open[i];
		}
	} while (after != before);
}

/* The default of override o as text; NULL where it has none, or none yet. */
static const char *default_of(pctl_app *app, const pctl_program *p, const uint64_t *spec,
			      const uint8_t *open, uint32_t o)
{
	const uint8_t scalar = p->types[p->overrides[o].type].scalar;
	const uint32_t value = p->overrides[o].default_value;
	char text[PCTL_FLOAT_TEXT];
	uint64_t bits;

	if (!p->overrides[o].has_default || spec == NULL || open[value])
		return NULL;
	bits = spec[value];
	if (scalar == PCTL_SCALAR_BOOL)
		return bits ? "true" : "false";
	if (pctl_float_is(scalar)) {
		pctl_float_print(scalar, bits, 0, text);
		return pctl_arena_dup(app->arena, text);
	}
	return pctl_scalar_is_signed(scalar)
		       ? pctl_arena_printf(app->arena, "%" PRId64, pctl_eval_signed(scalar, bits))
		       : pctl_arena_printf(app->arena, "%" PRIu64, bits);
}

static void print_override(pctl_app *app, const pctl_program *p, const pctl_override *o,
			   const char *value)
{
	const char *scalar = pctl_scalar_name(p->types[o->type].scalar);
	pctl_json *j = &app->document;

	if (!app->json) {
		printf("  override %s: %s", pctl_str(p, o->name), scalar);
		if (o->id != UINT32_MAX)
			printf(", @id(%" PRIu32 ")", o->id);
		if (value != NULL)
			printf(" = %s\n", value);
		else
			printf(o->has_default ? ", computed of others\n"
					      : ", which must be given\n");
		return;
	}
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "name", pctl_str(p, o->name));
	pctl_json_kv_string(j, "type", scalar);
	if (o->id != UINT32_MAX)
		pctl_json_kv_u32(j, "id", o->id);
	pctl_json_kv_bool(j, "required", !o->has_default);
	if (value != NULL)
		pctl_json_kv_string(j, "default", value);
	pctl_json_object_end(j);
}

void pctl_shader_print_overrides(pctl_app *app, const pctl_program *p)
{
	const uint32_t n = p->n_functions != 0 ? p->functions[0].n_insts : 0;
	uint64_t *spec = pctl_arena_array(app->arena, n + 1u, sizeof(*spec));
	uint64_t *zeros = pctl_arena_array(app->arena, p->n_overrides + 1u, sizeof(*zeros));
	uint8_t *has = pctl_arena_array(app->arena, p->n_overrides + 1u, sizeof(*has));
	uint8_t *open = pctl_arena_array(app->arena, n + 1u, sizeof(*open));
	uint32_t missing;

	if (spec == NULL || zeros == NULL || has == NULL || open == NULL || n == 0)
		spec = NULL;
	for (uint32_t i = 0; spec != NULL && i < p->n_overrides; i++)
		has[i] = !p->overrides[i].has_default;
	if (spec != NULL && !pctl_eval_spec(p, zeros, has, spec, &missing))
		spec = NULL;
	if (spec != NULL)
		find_open(p, open);
	if (app->json) {
		pctl_json_key(&app->document, "overrides");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; i < p->n_overrides; i++)
		print_override(app, p, &p->overrides[i], default_of(app, p, spec, open, i));
	if (app->json)
		pctl_json_array_end(&app->document);
}
