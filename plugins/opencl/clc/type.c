/* How types look in C: names, definitions, zeros, parts. The table of internal.h in code. */
#include "clc/internal.h"

#include <stdio.h>

/* Types come in an order in which parts precede wholes, so that one pass decides them all. */
void emit_find_value_types(emitter *e)
{
	const pctl_program *p = e->p;

	for (uint32_t i = 0; i < p->n_types; i++) {
		const pctl_type *t = &p->types[i];
		uint8_t yes = 0;

		if (t->kind == PCTL_TYPE_SCALAR || t->kind == PCTL_TYPE_VECTOR ||
		    t->kind == PCTL_TYPE_MATRIX) {
			yes = pctl_scalar_bits(t->scalar) <= 1 || pctl_scalar_bits(t->scalar) >= 16;
		} else if (t->kind == PCTL_TYPE_TILE) {
			yes = 1;
		} else if (t->kind == PCTL_TYPE_ARRAY) {
			yes = e->is_value[t->elem];
		} else if (t->kind == PCTL_TYPE_STRUCT) {
			yes = 1;
			for (uint32_t m = 0; m < t->count; m++)
				yes &= e->is_value[p->members[t->first_member + m].type];
		}
		e->is_value[i] = yes;
	}
}

int emit_is_scalar_bool(const pctl_program *p, uint32_t type)
{
	return p->types[type].kind == PCTL_TYPE_SCALAR && p->types[type].scalar == PCTL_SCALAR_BOOL;
}

int emit_is_vector_bool(const pctl_program *p, uint32_t type)
{
	return p->types[type].kind == PCTL_TYPE_VECTOR && p->types[type].scalar == PCTL_SCALAR_BOOL;
}

int emit_is_float(uint8_t scalar)
{
	return scalar >= PCTL_SCALAR_F16 && scalar <= PCTL_SCALAR_F64;
}

const char *emit_scalar_name(uint8_t scalar)
{
	if (scalar == PCTL_SCALAR_F32)
		return "float";
	if (scalar == PCTL_SCALAR_F64)
		return "double";
	if (scalar == PCTL_SCALAR_F16)
		return "half";
	return pctl_scalar_bits(scalar) == 64 ? "ulong" : "uint";
}

const char *emit_type_name(const emitter *e, uint32_t type, char *buf)
{
	const pctl_type *t = &e->p->types[type];

	if (t->kind == PCTL_TYPE_VOID)
		snprintf(buf, 24, "void");
	else if (e->lanes)
		snprintf(buf, 24, "%s%u", emit_scalar_name(t->scalar), e->lanes);
	else if (t->kind == PCTL_TYPE_SCALAR)
		snprintf(buf, 24, "%s", emit_scalar_name(t->scalar));
	else if (t->kind == PCTL_TYPE_VECTOR)
		snprintf(buf, 24, "%s%u", emit_scalar_name(t->scalar), t->width);
	else
		snprintf(buf, 24, "t%u", type);
	return buf;
}

uint32_t emit_width(const emitter *e, const pctl_type *t)
{
	if (e->lanes)
		return e->lanes;
	return t->kind == PCTL_TYPE_VECTOR ? t->width : 1;
}

const char *emit_suffix(uint32_t width)
{
	static const char *const names[] = {"", "", "2", "3", "4", "", "", "",	"8",
					    "", "", "",	 "",  "",  "", "", "16"};

	return names[width <= 16 ? width : 0];
}

uint32_t emit_part_count(const pctl_program *p, uint32_t type)
{
	const pctl_type *t = &p->types[type];

	switch (t->kind) {
	case PCTL_TYPE_VECTOR:
		return t->width;
	case PCTL_TYPE_MATRIX:
		return t->columns;
	case PCTL_TYPE_ARRAY:
	case PCTL_TYPE_STRUCT:
		return t->count;
	default:
		return 0;
	}
}

void emit_part(const emitter *e, text *t, uint32_t type, uint32_t i)
{
	switch (e->p->types[type].kind) {
	case PCTL_TYPE_VECTOR:
		text_printf(t, ".s%u", i);
		break;
	case PCTL_TYPE_STRUCT:
		text_printf(t, ".m%u", i);
		break;
	default:
		text_printf(t, ".a[%u]", i);
		break;
	}
}

void emit_types(emitter *e)
{
	const pctl_program *p = e->p;
	char name[24];

	for (uint32_t i = 0; i < p->n_types; i++) {
		const pctl_type *t = &p->types[i];

		if (t->kind == PCTL_TYPE_TILE)
			text_printf(&e->types, "typedef struct { %s a[%u]; } t%u;\n",
				    t->scalar == PCTL_SCALAR_F64 ? "ulong" : "uint",
				    emit_tile_words(t), i);
		if (t->kind != PCTL_TYPE_MATRIX && t->kind != PCTL_TYPE_ARRAY &&
		    t->kind != PCTL_TYPE_STRUCT)
			continue;
		if (!e->is_value[i])
			continue;
		if (t->kind == PCTL_TYPE_STRUCT) {
			text_add(&e->types, "typedef struct {\n");
			for (uint32_t m = 0; m < t->count; m++)
				text_printf(&e->types, "\t%s m%u;\n",
					    emit_type_name(e, p->members[t->first_member + m].type,
							   name),
					    m);
			text_printf(&e->types, "} t%u;\n", i);
		} else {
			text_printf(&e->types, "typedef struct { %s a[%u]; } t%u;\n",
				    emit_type_name(e, t->elem, name), emit_part_count(p, i), i);
		}
	}
}

void emit_zero(emitter *e, text *t, uint32_t type)
{
	char name[24];

	emit_nofold_open(e, t, type);
	text_printf(t, "(%s)(0)", emit_type_name(e, type, name));
	emit_nofold_close(e, t, type);
}
