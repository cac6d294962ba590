/* --bind and --read of `shader run` name a variable by GROUP:BINDING or by its name in the text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "shader.h"

/* By whoever runs it: the turn flag is the host's. */
static int is_bound(const pctl_var *v)
{
	return (v->space == PCTL_SPACE_STORAGE || v->space == PCTL_SPACE_UNIFORM) &&
	       v->group != PCTL_TURNS_GROUP;
}

/* "a, b", the variables that are bound, and the nearest of them. */
static const char *hint_of(pctl_app *app, const pctl_program *p, const char *name)
{
	const char **names = pctl_arena_array(app->arena, p->n_vars + 1u, sizeof(*names));
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	const char *near, *hint = NULL;
	uint32_t n = 0;
	char *list;

	for (uint32_t i = 0; names != NULL && i < p->n_vars; i++) {
		if (!is_bound(&p->vars[i]))
			continue;
		pctl_str_addf(&text, "%s%s", n == 0 ? "" : ", ", pctl_str(p, p->vars[i].name));
		names[n++] = pctl_str(p, p->vars[i].name);
	}
	near = n == 0 ? NULL : pctl_str_nearest(name, names, n);
	list = pctl_str_finish(&text);
	if (list != NULL && near != NULL)
		hint = pctl_arena_printf(app->arena, "did you mean \"%s\"? it uses %s", near, list);
	else if (list != NULL && n != 0)
		hint = pctl_arena_printf(app->arena, "it uses %s", list);
	free(list);
	return hint;
}

static const pctl_var *by_name(const pctl_program *p, const char *name)
{
	for (uint32_t i = 0; i < p->n_vars; i++)
		if (is_bound(&p->vars[i]) && strcmp(pctl_str(p, p->vars[i].name), name) == 0)
			return &p->vars[i];
	return NULL;
}

static const pctl_var *by_place(const pctl_program *p, uint64_t group, uint64_t binding)
{
	for (uint32_t i = 0; i < p->n_vars; i++)
		if (is_bound(&p->vars[i]) && p->vars[i].group == group &&
		    p->vars[i].binding == binding)
			return &p->vars[i];
	return NULL;
}

pctl_status pctl_shader_variable(pctl_app *app, const pctl_program *p, const char *option,
				 pctl_setting *s, const pctl_var **out)
{
	const char *colon = strchr(s->name, ':');
	const char *given = s->name;
	uint64_t group, binding;

	if (colon == NULL) {
		*out = by_name(p, given);
		if (*out == NULL)
			return pctl_refuse_at(
				app->call, PC4123_VARIABLE_UNKNOWN, NULL, hint_of(app, p, given),
				"the entry point uses no variable \"%s\" that is bound", given);
		s->name = pctl_arena_printf(app->arena, "%" PRIu32 ":%" PRIu32, (*out)->group,
					    (*out)->binding);
		return s->name == NULL ? pctl_no_memory(app->call, "options") : PCTL_OK;
	}
	*out = NULL;
	if (!pctl_num_parse_u64(given, (size_t)(colon - given), &group) ||
	    !pctl_num_parse_u64(colon + 1, strlen(colon + 1), &binding) || group > 65535 ||
	    binding > 65535)
		return pctl_refuse(app->call, PC10_USAGE,
				   "%s wants GROUP:BINDING=.. or NAME=.., not \"%s\"", option,
				   given);
	*out = by_place(p, group, binding);
	if (*out == NULL)
		return pctl_refuse_at(app->call, PC4123_VARIABLE_UNKNOWN, NULL, hint_of(app, p, ""),
				      "the entry point uses no variable at group %" PRIu64
				      " binding %" PRIu64,
				      group, binding);
	/* One spelling of a place, whatever zeros stand before its numbers. */
	s->name = pctl_arena_printf(app->arena, "%" PRIu64 ":%" PRIu64, group, binding);
	return s->name == NULL ? pctl_no_memory(app->call, "options") : PCTL_OK;
}

uint32_t pctl_shader_elements(const pctl_program *p, const pctl_var *v)
{
	const pctl_type *t = &p->types[v->type];
	const pctl_type *e = &p->types[t->elem];

	if ((t->kind != PCTL_TYPE_RUNTIME_ARRAY && t->kind != PCTL_TYPE_ARRAY) ||
	    e->kind != PCTL_TYPE_SCALAR || t->stride != pctl_dtype_bytes(e->scalar))
		return PCTL_DTYPE_BYTES;
	return e->scalar;
}

void pctl_shader_shape(const pctl_run_result *r, const char *name, pctl_tensor_type *type)
{
	const uint32_t width = pctl_dtype_bytes(type->dtype);

	for (uint32_t i = 0; i < r->n_outputs; i++) {
		if (strcmp(r->outputs[i].name, name) != 0)
			continue;
		/* Data that are no whole number of elements are bytes. */
		if (r->outputs[i].n_bytes % width != 0)
			*type = (pctl_tensor_type){.dtype = PCTL_DTYPE_BYTES};
		type->rank = 1;
		type->dim[0] = r->outputs[i].n_bytes / pctl_dtype_bytes(type->dtype);
	}
}
