/* Writing the wire form. The program is verified; nothing here can be refused but for lack of
 * memory or size. */
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/wire.h"
#include "foundation/base/bytes.h"

typedef struct writer {
	uint8_t *data;
	size_t n, cap;
	int failed;
} writer;

static int room(writer *w, size_t n)
{
	size_t cap = w->cap;
	uint8_t *data;

	if (w->failed)
		return 0;
	if (n <= cap - w->n)
		return 1;
	while (cap - w->n < n)
		cap = cap ? cap * 2 : 4096;
	data = realloc(w->data, cap);
	if (!data) {
		w->failed = 1;
		return 0;
	}
	w->data = data;
	w->cap = cap;
	return 1;
}

static void fixed(writer *w, uint64_t value, uint32_t bytes)
{
	if (!room(w, bytes))
		return;
	pctl_le_put(w->data + w->n, value, bytes);
	w->n += bytes;
}

static void number(writer *w, uint64_t value)
{
	if (!room(w, 10))
		return;
	while (value >= 0x80) {
		w->data[w->n++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	w->data[w->n++] = (uint8_t)value;
}

static void text(writer *w, const pctl_program *p, uint32_t offset)
{
	const char *s = pctl_str(p, offset);
	size_t n = strlen(s);

	number(w, n);
	if (n && room(w, n)) {
		memcpy(w->data + w->n, s, n);
		w->n += n;
	}
}

static void section(writer *w, uint8_t id, uint32_t count)
{
	fixed(w, id, 1);
	number(w, count);
}

static void type(writer *w, const pctl_program *p, const pctl_type *t)
{
	uint32_t i;

	number(w, t->kind);
	number(w, t->scalar);
	number(w, t->width);
	number(w, t->columns);
	number(w, t->elem);
	number(w, t->count);
	number(w, t->count_spec);
	number(w, t->stride);
	number(w, t->size);
	number(w, t->align);
	for (i = 0; t->kind == PCTL_TYPE_STRUCT && i < t->count; i++) {
		const pctl_member *m = &p->members[t->first_member + i];

		text(w, p, m->name);
		number(w, m->type);
		number(w, m->offset);
		number(w, m->flags);
	}
}

static void var(writer *w, const pctl_program *p, const pctl_var *v)
{
	text(w, p, v->name);
	number(w, v->type);
	number(w, v->space);
	number(w, v->access);
	number(w, v->reserved);
	number(w, v->group);
	number(w, v->binding);
}

static void override(writer *w, const pctl_program *p, const pctl_override *o)
{
	text(w, p, o->name);
	number(w, o->id);
	number(w, o->type);
	number(w, o->has_default);
	number(w, o->default_value);
}

static void inst(writer *w, const pctl_program *p, const pctl_inst *in)
{
	uint32_t i;

	number(w, in->op);
	number(w, in->flags);
	number(w, in->type);
	number(w, in->n_args);
	for (i = 0; i < in->n_args; i++)
		number(w, pctl_arg(p, in, i));
	if (pctl_wire_has_scope(in->op))
		number(w, 0);
}

static void function(writer *w, const pctl_program *p, const pctl_function *f)
{
	uint32_t i;

	text(w, p, f->name);
	number(w, f->return_type);
	number(w, f->n_params);
	number(w, f->n_locals);
	for (i = 0; i < f->n_locals; i++) {
		text(w, p, p->locals[f->first_local + i].name);
		number(w, p->locals[f->first_local + i].type);
	}
	number(w, f->n_insts);
	for (i = 0; i < f->n_insts; i++)
		inst(w, p, &p->insts[f->first_inst + i]);
}

static void entry(writer *w, const pctl_program *p, const pctl_entry *e)
{
	uint32_t d;

	text(w, p, e->name);
	number(w, e->function);
	for (d = 0; d < 3; d++)
		number(w, e->workgroup_size[d]);
	for (d = 0; d < 3; d++)
		number(w, e->workgroup_size_spec[d]);
}

static void maximum(writer *w, const pctl_max *m)
{
	uint32_t d;

	number(w, m->var);
	number(w, m->n_path);
	for (d = 0; d < 4; d++)
		number(w, m->path[d]);
	number(w, m->value);
}

static void header(writer *w, const pctl_program *p)
{
	if (!room(w, PCTL_WIRE_HEADER_BYTES))
		return;
	memcpy(w->data, PCTL_WIRE_MAGIC, 8);
	w->n = 8;
	fixed(w, PCTL_PROGRAM_MAJOR, 2);
	fixed(w, PCTL_PROGRAM_MINOR, 2);
	fixed(w, 0, 4);
	fixed(w, p->caps, 8);
}

pctl_status pctl_program_encode(const pctl_program *p, const pctl_call *call, uint8_t **out,
				uint64_t *n_out)
{
	writer w = {NULL, 0, 0, 0};
	uint32_t i;

	*out = NULL;
	*n_out = 0;
	header(&w, p);
	section(&w, PCTL_WIRE_TYPES, p->n_types - 1);
	for (i = 1; i < p->n_types; i++)
		type(&w, p, &p->types[i]);
	section(&w, PCTL_WIRE_VARS, p->n_vars);
	for (i = 0; i < p->n_vars; i++)
		var(&w, p, &p->vars[i]);
	section(&w, PCTL_WIRE_OVERRIDES, p->n_overrides);
	for (i = 0; i < p->n_overrides; i++)
		override(&w, p, &p->overrides[i]);
	section(&w, PCTL_WIRE_FUNCTIONS, p->n_functions);
	for (i = 0; i < p->n_functions; i++)
		function(&w, p, &p->functions[i]);
	section(&w, PCTL_WIRE_ENTRIES, p->n_entries);
	for (i = 0; i < p->n_entries; i++)
		entry(&w, p, &p->entries[i]);
	section(&w, PCTL_WIRE_MAXIMA, p->n_maxima);
	for (i = 0; i < p->n_maxima; i++)
		maximum(&w, &p->maxima[i]);
	section(&w, PCTL_WIRE_META, 4);
	for (i = 0; i < 3; i++)
		number(&w, p->max_dispatch[i]);
	number(&w, p->scale);
	if (w.failed) {
		free(w.data);
		return pctl_refuse(call, PC2_NOMEM, "no memory to encode a program");
	}
	if (w.n > PCTL_WIRE_BYTES_MAX) {
		free(w.data);
		return pctl_refuse(call, PC2004_WIRE_LIMIT,
				   "the program takes %zu bytes, at most %u are allowed", w.n,
				   PCTL_WIRE_BYTES_MAX);
	}
	*out = w.data;
	*n_out = w.n;
	return PCTL_OK;
}
