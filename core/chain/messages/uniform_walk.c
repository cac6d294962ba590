/* Paths and refusals of uniforms, and which types a uniform may have. */
#include "chain/messages/uniform_walk.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static size_t add(uniform_walk *w, const char *text)
{
	const size_t before = w->n_path, n = strlen(text);

	w->levels++;
	if (n < sizeof(w->path) - before) {
		memcpy(w->path + before, text, n + 1);
		w->n_path += n;
	}
	return before;
}

size_t pctl_uniform_into_member(uniform_walk *w, const char *name)
{
	char text[260];

	snprintf(text, sizeof(text), "%s%s", w->n_path == 0 ? "" : ".", name);
	return add(w, text);
}

size_t pctl_uniform_into_part(uniform_walk *w, const pctl_type *t, uint32_t i)
{
	char text[16];

	if (t->kind == PCTL_TYPE_VECTOR)
		snprintf(text, sizeof(text), ".%c", "xyzw"[i & 3u]);
	else
		snprintf(text, sizeof(text), "[%u]", (unsigned)i);
	return add(w, text);
}

void pctl_uniform_back(uniform_walk *w, size_t before)
{
	w->levels--;
	w->n_path = before;
	w->path[before] = '\0';
}

pctl_status pctl_uniform_refuse(const uniform_walk *w, uint32_t code, size_t offset,
				const char *hint, const char *fmt, ...)
{
	char text[512], where[32] = "";
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (offset != SIZE_MAX)
		snprintf(where, sizeof(where), " (byte %zu)", offset);
	return pctl_refuse_at(w->call, code, NULL, hint, "uniform %s%s: %s",
			      w->n_path == 0 ? "block" : w->path, where, text);
}

uint32_t pctl_uniform_parts(const pctl_type *t)
{
	return t->kind == PCTL_TYPE_VECTOR   ? t->width
	       : t->kind == PCTL_TYPE_MATRIX ? t->columns
					     : t->count;
}

pctl_status pctl_uniform_enter(uniform_walk *w, const pctl_type *t)
{
	if (w->levels > PCTL_UNIFORM_LEVELS_MAX)
		return pctl_uniform_refuse(w, PC5777_UNIFORM_NESTING, SIZE_MAX, NULL,
					   "the type nests deeper than %u levels",
					   PCTL_UNIFORM_LEVELS_MAX);
	if (t->kind == PCTL_TYPE_STRUCT && t->count > PCTL_UNIFORM_MEMBERS_MAX)
		return pctl_uniform_refuse(w, PC5777_UNIFORM_NESTING, SIZE_MAX, NULL,
					   "a struct of %u members, at most %u", t->count,
					   PCTL_UNIFORM_MEMBERS_MAX);
	if (t->kind < PCTL_TYPE_SCALAR || t->kind > PCTL_TYPE_STRUCT ||
	    t->kind == PCTL_TYPE_RUNTIME_ARRAY || t->size == 0 || t->count_spec != 0 ||
	    t->scalar == PCTL_SCALAR_F64)
		return pctl_uniform_refuse(w, PC5760_UNIFORM_DECLARED, SIZE_MAX, NULL,
					   "no uniform has a part of this type");
	return PCTL_OK;
}

pctl_status pctl_uniform_type(const pctl_program *p, const pctl_call *call, uint32_t *out)
{
	const pctl_type *t;

	*out = 0;
	for (uint32_t i = 0; i < p->n_vars; i++) {
		const pctl_var *v = &p->vars[i];

		if (v->space != PCTL_SPACE_UNIFORM || v->group != 0 || v->binding != 1)
			continue;
		t = &p->types[v->type];
		if (t->kind != PCTL_TYPE_STRUCT)
			return pctl_refuse(call, PC5760_UNIFORM_DECLARED,
					   "uniform \"%s\" at group 0 binding 1 is not a struct",
					   pctl_str(p, v->name));
		if (t->size > PCTL_UNIFORM_BLOCK_MAX)
			return pctl_refuse(call, PC5760_UNIFORM_DECLARED,
					   "uniform \"%s\" has %u bytes, at most %u",
					   pctl_str(p, v->name), t->size, PCTL_UNIFORM_BLOCK_MAX);
		*out = v->type;
		return PCTL_OK;
	}
	return pctl_refuse(call, PC5760_UNIFORM_DECLARED,
			   "the program declares no uniform at group 0 binding 1");
}
