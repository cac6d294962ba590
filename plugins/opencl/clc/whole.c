/* Matrices, arrays, structs and tiles as wholes. They are never passed, returned or assigned as one C value: NVIDIA's OpenCL
 * compiler (580.159) loses the store of an element that stands before such a copy. Every whole is a variable that is
 * filled in place, leaf by leaf. */
#include "clc/internal.h"

#include <inttypes.h>
#include <stdio.h>

/* Beyond so many leaves an array is filled by a loop. */
#define LEAVES_MOST 256u

int emit_is_whole(const emitter *e, uint32_t type)
{
	const uint8_t kind = e->p->types[type].kind;

	return kind == PCTL_TYPE_MATRIX || kind == PCTL_TYPE_ARRAY || kind == PCTL_TYPE_STRUCT ||
	       kind == PCTL_TYPE_TILE;
}

static uint32_t part_type(const emitter *e, uint32_t type, uint32_t i)
{
	const pctl_type *t = &e->p->types[type];

	return t->kind == PCTL_TYPE_STRUCT ? e->p->members[t->first_member + i].type : t->elem;
}

/* Cut at a million, so that products of counts stay numbers. */
static uint64_t leaves(const emitter *e, uint32_t type)
{
	const uint32_t n = emit_part_count(e->p, type);
	uint64_t sum = 0;

	if (!emit_is_whole(e, type))
		return 1;
	if (e->p->types[type].kind != PCTL_TYPE_STRUCT)
		sum = n * leaves(e, e->p->types[type].elem);
	else
		for (uint32_t i = 0; i < n; i++)
			sum += leaves(e, part_type(e, type, i));
	return sum < 1000000 ? sum : 1000000;
}

static int is_memory(const emit_side *s)
{
	return s->kind == EMIT_GLOBAL || s->kind == EMIT_LOCAL;
}

static void leaf(emitter *e, uint32_t type, const emit_side *to, const emit_side *from)
{
	text value = {0};

	if (from->kind == EMIT_ZEROS)
		emit_zero(e, &value, type);
	else if (is_memory(from))
		emit_load_at(e, &value, type, from->kind == EMIT_LOCAL, text_str(&from->path));
	else
		text_add(&value, text_str(&from->path));
	emit_indent(e);
	if (is_memory(to)) {
		emit_store_at(e, &e->code, type, to->kind == EMIT_LOCAL, text_str(&to->path),
			      text_str(&value));
		text_add(&e->code, ";\n");
	} else {
		text_printf(&e->code, "%s = %s;\n", text_str(&to->path), text_str(&value));
	}
	e->code.no_memory |= value.no_memory | to->path.no_memory | from->path.no_memory;
	text_free(&value);
}

/* A tile is never in memory that others see: its words have no type of the program. */
static void fill_tile(emitter *e, uint32_t type, const emit_side *to, const emit_side *from)
{
	for (uint32_t i = 0; i < emit_tile_words(&e->p->types[type]); i++) {
		emit_indent(e);
		text_printf(&e->code, "%s.a[%u] = ", text_str(&to->path), i);
		if (from->kind == EMIT_ZEROS)
			text_add(&e->code, "0u;\n");
		else
			text_printf(&e->code, "%s.a[%u];\n", text_str(&from->path), i);
	}
	e->code.no_memory |= to->path.no_memory | from->path.no_memory;
}

/* From a whole to part i of it. */
static void step(const emitter *e, emit_side *s, uint32_t type, uint32_t i)
{
	if (is_memory(s))
		text_printf(&s->path, " + %" PRIu64 "u",
			    (uint64_t)pctl_type_part_offset(e->p, type, i));
	else if (s->kind == EMIT_VALUE)
		emit_part(e, &s->path, type, i);
}

/* The same to the element that variable i<number> chooses. */
static void step_in_loop(const emitter *e, emit_side *s, uint32_t type, uint32_t number)
{
	if (is_memory(s))
		text_printf(&s->path, " + (size_t)i%u * %uu", number, e->p->types[type].stride);
	else if (s->kind == EMIT_VALUE)
		text_printf(&s->path, ".a[i%u]", number);
}

void emit_fill(emitter *e, uint32_t type, emit_side *to, emit_side *from)
{
	const uint32_t n = emit_part_count(e->p, type), number = e->whole_loops;
	const size_t n_to = to->path.n, n_from = from->path.n;
	const int is_struct = e->p->types[type].kind == PCTL_TYPE_STRUCT;

	if (!emit_is_whole(e, type)) {
		leaf(e, type, to, from);
		return;
	}
	if (e->p->types[type].kind == PCTL_TYPE_TILE) {
		fill_tile(e, type, to, from);
		return;
	}
	if (is_struct || (n <= EMIT_UNROLL && leaves(e, type) <= LEAVES_MOST)) {
		for (uint32_t i = 0; i < n; i++) {
			step(e, to, type, i);
			step(e, from, type, i);
			emit_fill(e, part_type(e, type, i), to, from);
			text_cut(&to->path, n_to);
			text_cut(&from->path, n_from);
		}
		return;
	}
	emit_indent(e);
	text_printf(&e->code, "for (uint i%u = 0; i%u < %uu; i%u++) {\n", number, number, n,
		    number);
	e->whole_loops++;
	e->indent++;
	step_in_loop(e, to, type, number);
	step_in_loop(e, from, type, number);
	emit_fill(e, e->p->types[type].elem, to, from);
	text_cut(&to->path, n_to);
	text_cut(&from->path, n_from);
	e->indent--;
	e->whole_loops--;
	emit_indent(e);
	text_add(&e->code, "}\n");
}

void emit_fill_zero(emitter *e, uint32_t type, const char *to)
{
	emit_side target = {.kind = EMIT_VALUE}, zeros = {.kind = EMIT_ZEROS};

	text_add(&target.path, to);
	emit_fill(e, type, &target, &zeros);
	text_free(&target.path);
}

void emit_fill_value(emitter *e, uint32_t type, const char *to, uint32_t v)
{
	emit_side target = {.kind = EMIT_VALUE}, value = {.kind = EMIT_VALUE};

	text_add(&target.path, to);
	emit_value(e, &value.path, v);
	emit_fill(e, type, &target, &value);
	text_free(&target.path);
	text_free(&value.path);
}

void emit_declare(emitter *e, uint32_t v, uint32_t type)
{
	char name[24];

	if (e->by_ticks) {
		text_printf(&e->declared, "\t%s v%u;\n", emit_type_name(e, type, name), v);
		return;
	}
	emit_indent(e);
	text_printf(&e->code, "%s v%u;\n", emit_type_name(e, type, name), v);
}

/* ---- instructions ---- */

/* Part i of v is value `part`, of whatever type. */
static void fill_part(emitter *e, uint32_t v, uint32_t type, uint32_t i, uint32_t part)
{
	text at = {0};

	text_printf(&at, "v%u", v);
	emit_part(e, &at, type, i);
	emit_fill_value(e, part_type(e, type, i), text_str(&at), part);
	e->code.no_memory |= at.no_memory;
	text_free(&at);
}

static void extract(emitter *e, const pctl_inst *in, const char *name)
{
	const uint32_t of = pctl_arg(e->p, in, 0);
	emit_side to = {.kind = EMIT_VALUE}, from = {.kind = EMIT_VALUE};

	text_add(&to.path, name);
	emit_value(e, &from.path, of);
	emit_part(e, &from.path, pctl_value_type(e->p, e->fn, of), pctl_arg(e->p, in, 1));
	emit_fill(e, in->type, &to, &from);
	text_free(&to.path);
	text_free(&from.path);
}

static void choose(emitter *e, const pctl_inst *in, const char *name)
{
	for (uint32_t i = 1; i <= 2; i++) {
		emit_indent(e);
		if (i == 1) {
			text_add(&e->code, "if (");
			emit_arg(e, in, 0);
			text_add(&e->code, ") {\n");
		} else {
			text_add(&e->code, "} else {\n");
		}
		e->indent++;
		emit_fill_value(e, in->type, name, pctl_arg(e->p, in, i));
		e->indent--;
	}
	emit_indent(e);
	text_add(&e->code, "}\n");
}

int emit_whole(emitter *e, uint32_t v, const pctl_inst *in)
{
	char name[16];

	if (!in->type || !emit_is_whole(e, in->type))
		return 0;
	snprintf(name, sizeof(name), "v%u", v);
	switch (in->op) {
	case PCTL_OP_ZERO:
		emit_declare(e, v, in->type);
		emit_fill_zero(e, in->type, name);
		return 1;
	case PCTL_OP_COMPOSE:
		emit_declare(e, v, in->type);
		for (uint32_t i = 0; i < in->n_args; i++)
			fill_part(e, v, in->type, i, pctl_arg(e->p, in, i));
		return 1;
	case PCTL_OP_EXTRACT:
		emit_declare(e, v, in->type);
		extract(e, in, name);
		return 1;
	case PCTL_OP_INSERT:
		emit_declare(e, v, in->type);
		emit_fill_value(e, in->type, name, pctl_arg(e->p, in, 0));
		fill_part(e, v, in->type, pctl_arg(e->p, in, 2), pctl_arg(e->p, in, 1));
		return 1;
	case PCTL_OP_SELECT:
		emit_declare(e, v, in->type);
		choose(e, in, name);
		return 1;
	case PCTL_OP_TILE_MULTIPLY_ADD:
		emit_tile_product(e, v, in);
		return 1;
	default:
		return 0;
	}
}
