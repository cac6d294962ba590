/* Loads and stores of all lanes. A place becomes a base that is the same for all lanes and a vector of offsets, and the mask
 * of the lanes that hit it: an access that misses yields zero or does nothing, and lanes that do not run touch nothing.
 * Neighbours' accesses to neighbouring elements are one of a vector (stride.c says which are). */
#include "spmd/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* One access under construction. */
typedef struct access {
	const pctl_place *place;
	text base;	/* memory: an address; variables: the number of the leaf */
	text offsets;	/* of each lane from there, in bytes or leaves; empty: none */
	text same;	/* a condition that is one for all lanes: uint, 0 or 1; empty: true */
	text each;	/* those of each lane: masks; empty: all of them */
	int64_t stride; /* in bytes from lane to lane */
	uint32_t index; /* the only one that differs between lanes, where there is a stride */
	int never;
	int local;
} access;

static void check(spmd *s, access *a, uint32_t v, uint32_t length, uint32_t var, int is_proven)
{
	const pctl_type *t = &s->e.p->types[pctl_value_type(s->e.p, s->e.fn, v)];
	const int varies = spmd_varies(s, v);
	text *to = varies ? &a->each : &a->same;
	char limit[24];
	uint64_t k;

	if (var == SPMD_NONE && emit_constant(&s->e, v, &k)) {
		a->never |= (uint32_t)k >= length;
		return;
	}
	if (is_proven)
		return;
	if (var == SPMD_NONE)
		snprintf(limit, sizeof(limit), "%uu", length);
	else
		snprintf(limit, sizeof(limit), "n%u", var);
	text_add(to, to->n ? " & " : "");
	if (varies)
		text_printf(to, "as_uint%u(v%u_0 < (uint%u)(%s))", s->width, v, s->width, limit);
	else {
		text_add(to, "(uint)(");
		emit_value(&s->e, to, v);
		text_printf(to, " < %s)", limit);
	}
	if (var == SPMD_NONE || t->scalar != PCTL_SCALAR_I32)
		return;
	if (varies)
		text_printf(to, " & as_uint%u(v%u_0 < (uint%u)(0x80000000u))", s->width, v,
			    s->width);
	else {
		text_add(to, " & (uint)(");
		emit_value(&s->e, to, v);
		text_add(to, " < 0x80000000u)");
	}
}

/* `unit` of index v are added: bytes to an address, leaves to a number. */
static void add_index(spmd *s, access *a, uint32_t v, uint64_t unit, uint64_t *constant)
{
	const spmd_value *of = &s->fn->values[v];
	const char *wide = a->place->space >= PCTL_SPACE_WORKGROUP ? "ulong" : "uint";
	uint64_t k;

	if (emit_constant(&s->e, v, &k)) {
		*constant += (uint64_t)(uint32_t)k * unit;
	} else if (!of->varies) {
		text_printf(&a->base, " + (%s)v%u * %" PRIu64 "u",
			    a->place->space >= PCTL_SPACE_WORKGROUP ? "size_t" : "uint", v, unit);
	} else {
		a->stride = a->offsets.n || of->stride != 1 ? SPMD_STRIDE_UNKNOWN : (int64_t)unit;
		a->index = v;
		text_printf(&a->offsets, "%sconvert_%s%u(v%u_0) * (%s%u)(%" PRIu64 "u)",
			    a->offsets.n ? " + " : "", wide, s->width, v, wide, s->width, unit);
	}
}

static void walk_place(spmd *s, access *a, const pctl_inst *in)
{
	const pctl_program *p = s->e.p;
	const int is_bytes = a->place->space >= PCTL_SPACE_WORKGROUP;
	uint32_t type = a->place->root_type;
	uint64_t constant = 0;
	int has_runtime = 0;

	if (is_bytes)
		text_printf(&a->base, "%c%u", a->local ? 'w' : 'b', a->place->root);
	else
		text_add(&a->base, "0u");
	for (uint32_t i = 0; i < a->place->n_chain; i++) {
		const uint32_t word = p->words[a->place->chain + i];
		const pctl_type *t = &p->types[type];
		const int is_proven = i < 16 && (in->flags & PCTL_INST_PROVEN(i));

		if (t->kind == PCTL_TYPE_STRUCT) {
			constant += is_bytes ? pctl_type_part_offset(p, type, word)
					     : spmd_leaf_of_part(p, type, word);
		} else {
			const uint64_t unit = !is_bytes ? spmd_leaves(p, t->elem)
					      : t->kind == PCTL_TYPE_VECTOR
						      ? pctl_scalar_bytes(t->scalar)
						      : t->stride;

			has_runtime |= t->kind == PCTL_TYPE_RUNTIME_ARRAY;
			check(s, a, word, emit_part_count(p, type),
			      t->kind == PCTL_TYPE_RUNTIME_ARRAY ? a->place->root : SPMD_NONE,
			      is_proven);
			add_index(s, a, word, unit, &constant);
		}
		type = pctl_type_step(p, type, word);
	}
	if (constant)
		text_printf(&a->base, is_bytes ? " + (size_t)%" PRIu64 "ul" : " + %" PRIu64 "u",
			    constant);
	/* Loads need no such check: where the fixed part is not bound, the host binds zeros. */
	if (is_bytes && !has_runtime && !a->local && in->op != PCTL_OP_LOAD)
		text_printf(&a->same, "%sk%u", a->same.n ? " & " : "", a->place->root);
}

/* The lanes that run and hit, as one expression; 0: all of them do. */
static int hit(spmd *s, const access *a, text *t)
{
	const uint32_t mask = spmd_mask(s);
	const char *also = "";

	if (mask != SPMD_NONE) {
		text_printf(t, "m%u", mask);
		also = " & ";
	}
	if (a->each.n) {
		text_printf(t, "%s%s", also, text_str(&a->each));
		also = " & ";
	}
	if (a->same.n)
		text_printf(t, "%s(uint%u)(0u - (%s))", also, s->width, text_str(&a->same));
	return t->n != 0;
}

static void offsets(spmd *s, uint32_t v, const access *a)
{
	const int is_bytes = a->place->space >= PCTL_SPACE_WORKGROUP;
	const char *type = is_bytes ? "ulong" : "uint";
	text *t = &s->e.code;

	text_printf(t, "const %s%u o%u = ", type, s->width, v);
	if (a->offsets.n)
		text_add(t, text_str(&a->offsets));
	else
		text_printf(t, "(%s%u)(0)", type, s->width);
	if (!is_bytes)
		text_printf(t, " + (uint%u)(%s)", s->width, text_str(&a->base));
	text_add(t, ";\n");
}

/* What the access is, in variables of the source: h<v> the lanes that hit, p<v> the address, o<v> the offsets of the lanes
 * from there, i<v> in their place the number of the first one's element, where they have `group` each, side by side. */
static void declare(spmd *s, uint32_t v, const access *a, uint32_t group)
{
	const int is_bytes = a->place->space >= PCTL_SPACE_WORKGROUP;
	emitter *e = &s->e;
	text mask = {0};

	emit_indent(e);
	if (hit(s, a, &mask))
		text_printf(&e->code, "const uint%u h%u = %s;\n", s->width, v, text_str(&mask));
	else
		text_printf(&e->code, "const uint%u h%u = (uint%u)(0xffffffffu);\n", s->width, v,
			    s->width);
	e->code.no_memory |= mask.no_memory;
	text_free(&mask);
	emit_indent(e);
	if (group)
		text_printf(&e->code, "const uint i%u = v%u_0.s0;\n", v, a->index);
	else
		offsets(s, v, a);
	if (!is_bytes)
		return;
	emit_indent(e);
	text_printf(&e->code, "%s%s uchar *p%u = %s;\n",
		    a->local || e->p->vars[a->place->root].access == PCTL_ACCESS_READ_WRITE
			    ? ""
			    : "const ",
		    a->local ? "__local" : "__global", v, text_str(&a->base));
}

static int is_bool(const spmd *s, uint32_t type)
{
	return s->e.p->types[type].scalar == PCTL_SCALAR_BOOL;
}

/* ---- memory ---- */

/* How many elements each lane has side by side, when the lanes themselves lie side by side; else 0. */
static uint32_t group_of(const spmd *s, const access *a, uint32_t type)
{
	const pctl_type *t = &s->e.p->types[type];
	const uint32_t n = t->kind == PCTL_TYPE_VECTOR ? t->width : 1;

	if ((t->kind != PCTL_TYPE_VECTOR && t->kind != PCTL_TYPE_SCALAR) || n == 3 ||
	    !a->offsets.n || a->stride != (int64_t)((uint64_t)n * pctl_scalar_bytes(t->scalar)))
		return 0;
	return n;
}

static void load_group(spmd *s, uint32_t v, const access *a, uint32_t type, uint32_t n)
{
	static const uint32_t kinds[] = {0, SPMD_LOAD_NEXT, SPMD_LOAD_PAIRS, 0, SPMD_LOAD_FOURS};
	const char *scalar = emit_scalar_name(s->e.p->types[type].scalar);
	text *t = &s->e.code;
	char name[40];

	spmd_access(s, kinds[n], a->local, scalar, name);
	if (n == 1) {
		spmd_define(s, v, 0, type);
		text_add(t, is_bool(s, type) ? "0u - " : "");
		text_printf(t, "%s(p%u, i%u, h%u);\n", name, v, v, v);
		return;
	}
	emit_indent(&s->e);
	text_printf(t, "%s%u", scalar, s->width);
	for (uint32_t k = 0; k < n; k++)
		text_printf(t, "%s v%u_%u", k ? "," : "", v, k);
	text_add(t, ";\n");
	emit_indent(&s->e);
	text_printf(t, "%s(p%u, i%u, h%u", name, v, v, v);
	for (uint32_t k = 0; k < n; k++)
		text_printf(t, ", &v%u_%u", v, k);
	text_add(t, ");\n");
	for (uint32_t k = 0; k < n && is_bool(s, type); k++) {
		emit_indent(&s->e);
		text_printf(t, "v%u_%u = 0u - v%u_%u;\n", v, k, v, k);
	}
}

static void load_bytes(spmd *s, uint32_t v, const pctl_inst *in, const access *a)
{
	const uint32_t n = group_of(s, a, in->type);
	uint64_t offset;
	char name[40];

	declare(s, v, a, n);
	if (n) {
		load_group(s, v, a, in->type, n);
		return;
	}
	for (uint32_t k = 0; k < spmd_leaves(s->e.p, in->type); k++) {
		const uint32_t type = spmd_leaf(s, in->type, k, &offset, NULL);

		spmd_access(s, SPMD_LOAD, a->local, emit_scalar_name(s->e.p->types[type].scalar),
			    name);
		spmd_define(s, v, k, type);
		text_add(&s->e.code, is_bool(s, type) ? "0u - " : "");
		text_printf(&s->e.code, "%s(p%u + (size_t)%" PRIu64 "u, o%u, h%u);\n", name, v,
			    offset, v, v);
	}
}

static void stored(spmd *s, uint32_t value, uint32_t k, uint32_t type)
{
	spmd_lanes(s, &s->e.code, value, k);
	text_add(&s->e.code, is_bool(s, type) ? " & 1u" : "");
}

static void store_bytes(spmd *s, uint32_t v, const pctl_inst *in, const access *a)
{
	static const uint32_t kinds[] = {0, SPMD_STORE_NEXT, SPMD_STORE_PAIRS, 0, SPMD_STORE_FOURS};
	const uint32_t value = pctl_arg(s->e.p, in, 0);
	const uint32_t whole = pctl_value_type(s->e.p, s->e.fn, value);
	const uint32_t n = group_of(s, a, whole);
	text *t = &s->e.code;
	uint64_t offset = 0;
	char name[40];

	declare(s, v, a, n);
	for (uint32_t k = 0; k < spmd_leaves(s->e.p, whole); k++) {
		const uint32_t type = spmd_leaf(s, whole, k, &offset, NULL);

		if (!n || k == 0) {
			spmd_access(s, n ? kinds[n] : SPMD_STORE, a->local,
				    emit_scalar_name(s->e.p->types[type].scalar), name);
			emit_indent(&s->e);
			text_printf(t, "%s(p%u + (size_t)%" PRIu64 "u, %c%u, h%u, ", name, v,
				    offset, n ? 'i' : 'o', v, v);
		} else {
			text_add(t, ", ");
		}
		stored(s, value, k, type);
		text_add(t, !n || k + 1 == n ? ");\n" : "");
	}
}

static void atomic(spmd *s, uint32_t v, const pctl_inst *in, const access *a)
{
	const int is_signed = s->e.p->types[a->place->end_type].scalar == PCTL_SCALAR_I32;
	text *t = &s->e.code;
	char name[40];

	declare(s, v, a, 0);
	spmd_atomic(s, in->op, a->local, is_signed, name);
	if (in->op == PCTL_OP_ATOMIC_STORE)
		emit_indent(&s->e);
	else
		spmd_define(s, v, 0, in->type);
	text_printf(t, "%s(p%u, o%u, h%u", name, v, v, v);
	for (uint32_t i = 0; i < a->place->n_values; i++) {
		text_add(t, ", ");
		spmd_lanes(s, t, pctl_arg(s->e.p, in, i), 0);
	}
	text_add(t, ");\n");
}

/* ---- variables ---- */

static void name_of(const spmd *s, const access *a, text *t)
{
	if (a->place->root & PCTL_PLACE_LOCAL)
		emit_local_name(&s->e, t, a->place->root & ~PCTL_PLACE_LOCAL);
	else
		text_printf(t, "q%u", a->place->root);
}

static int is_wide(const char *element)
{
	return element[0] == 'd' || strcmp(element, "ulong") == 0;
}

/* What makes one a value of the other: elements are unsigned, and as wide as the widest, where leaves are not alike. What is
 * to be closed behind it. */
static const char *opens_as(const spmd *s, text *t, const char *from, const char *to)
{
	if (strcmp(from, to) == 0)
		return "";
	if (is_wide(from) == is_wide(to)) {
		text_printf(t, "as_%s%u(", to, s->width);
		return ")";
	}
	if (is_wide(from))
		text_printf(t, "as_%s%u(convert_uint%u(", to, s->width, s->width);
	else
		text_printf(t, "convert_ulong%u(as_uint%u(", s->width, s->width);
	return "))";
}

static void load_variable(spmd *s, uint32_t v, const pctl_inst *in, const access *a,
			  const char *element)
{
	text variable = {0}, *t = &s->e.code;
	char name[40], vector[24];

	name_of(s, a, &variable);
	if (a->offsets.n)
		declare(s, v, a, 0);
	for (uint32_t k = 0; k < spmd_leaves(s->e.p, in->type); k++) {
		const uint32_t type = spmd_leaf(s, in->type, k, NULL, NULL);
		const char *closes;

		spmd_define(s, v, k, type);
		if (a->same.n && !a->offsets.n)
			text_printf(t, "(%s) ? ", text_str(&a->same));
		closes = opens_as(s, t, element, emit_scalar_name(s->e.p->types[type].scalar));
		if (a->offsets.n)
			text_printf(t, "%s((const %s *)%s, o%u + (uint%u)(%u), h%u)",
				    spmd_access(s, SPMD_LOAD_PRIVATE, 0, element, name), element,
				    text_str(&variable), v, s->width, k, v);
		else
			text_printf(t, "%s[%s + %u]", text_str(&variable), text_str(&a->base), k);
		text_add(t, closes);
		if (a->same.n && !a->offsets.n)
			text_printf(t, " : (%s)(0)", spmd_vector(s, type, vector));
		text_add(t, ";\n");
	}
	t->no_memory |= variable.no_memory;
	text_free(&variable);
}

/* A whole of zeros, which may have thousands of leaves. */
static void store_zeros(spmd *s, const access *a, uint32_t n, uint32_t mask, const char *element)
{
	text *t = &s->e.code;

	emit_indent(&s->e);
	if (a->same.n)
		text_printf(t, "if (%s) ", text_str(&a->same));
	text_printf(t, "for (uint k = 0; k < %uu; k++) ", n);
	name_of(s, a, t);
	text_printf(t, "[%s + k] = ", text_str(&a->base));
	if (mask != SPMD_NONE)
		spmd_choose(s, t, mask, is_wide(element));
	text_printf(t, "(%s%u)(0)", element, s->width);
	if (mask != SPMD_NONE) {
		text_add(t, " : ");
		name_of(s, a, t);
		text_printf(t, "[%s + k]", text_str(&a->base));
	}
	text_add(t, ";\n");
}

static void store_variable(spmd *s, uint32_t v, const pctl_inst *in, const access *a,
			   const char *element)
{
	const uint32_t value = pctl_arg(s->e.p, in, 0);
	const uint32_t whole = pctl_value_type(s->e.p, s->e.fn, value);
	const uint32_t mask = s->fn->values[v].partly ? spmd_mask(s) : SPMD_NONE;
	const uint32_t n = spmd_leaves(s->e.p, whole);
	text variable = {0}, *t = &s->e.code;
	char name[40];

	if (!a->offsets.n && n > EMIT_UNROLL &&
	    s->e.p->insts[s->e.fn->first_inst + value].op == PCTL_OP_ZERO) {
		store_zeros(s, a, n, mask, element);
		return;
	}
	name_of(s, a, &variable);
	if (a->offsets.n)
		declare(s, v, a, 0);
	for (uint32_t k = 0; k < n; k++) {
		const uint32_t type = spmd_leaf(s, whole, k, NULL, NULL);
		const char *of = emit_scalar_name(s->e.p->types[type].scalar);
		const char *closes;

		emit_indent(&s->e);
		if (a->offsets.n) {
			text_printf(t, "%s((%s *)%s, o%u + (uint%u)(%u), h%u, ",
				    spmd_access(s, SPMD_STORE_PRIVATE, 0, element, name), element,
				    text_str(&variable), v, s->width, k, v);
		} else {
			if (a->same.n)
				text_printf(t, "if (%s) ", text_str(&a->same));
			text_printf(t, "%s[%s + %u] = ", text_str(&variable), text_str(&a->base),
				    k);
			if (mask != SPMD_NONE)
				spmd_choose(s, t, mask, is_wide(element));
		}
		closes = opens_as(s, t, of, element);
		spmd_lanes(s, t, value, k);
		text_add(t, closes);
		if (a->offsets.n)
			text_add(t, ")");
		else if (mask != SPMD_NONE)
			text_printf(t, " : %s[%s + %u]", text_str(&variable), text_str(&a->base),
				    k);
		text_add(t, ";\n");
	}
	t->no_memory |= variable.no_memory;
	text_free(&variable);
}

/* ---- instructions ---- */

static void zeros(spmd *s, uint32_t v, const pctl_inst *in)
{
	char name[24];

	for (uint32_t k = 0; in->type && k < spmd_leaves(s->e.p, in->type); k++) {
		const uint32_t type = spmd_leaf(s, in->type, k, NULL, NULL);

		spmd_define(s, v, k, type);
		text_printf(&s->e.code, "(%s)(0);\n", spmd_vector(s, type, name));
	}
}

/* Nothing in it differs between lanes: it is done once. */
static int is_same(const spmd *s, const pctl_inst *in, const pctl_place *place, int has_offsets)
{
	if (place->root & PCTL_PLACE_LOCAL)
		return !s->fn->locals[place->root & ~PCTL_PLACE_LOCAL].varies;
	if (place->space == PCTL_SPACE_PRIVATE || has_offsets)
		return 0;
	return in->op == PCTL_OP_LOAD || in->op == PCTL_OP_LOAD_UNIFORM ||
	       in->op == PCTL_OP_ARRAY_LENGTH ||
	       (in->op == PCTL_OP_STORE && !spmd_varies(s, pctl_arg(s->e.p, in, 0)));
}

void spmd_memory(spmd *s, uint32_t v, const pctl_inst *in, const pctl_place *place)
{
	access a = {.place = place,
		    .local = place->space == PCTL_SPACE_WORKGROUP,
		    .stride = SPMD_STRIDE_UNKNOWN};

	if (in->op != PCTL_OP_ARRAY_LENGTH)
		walk_place(s, &a, in);
	if (is_same(s, in, place, a.offsets.n != 0)) {
		if ((s->e.flags & EMIT_AHEAD) && in->op == PCTL_OP_LOAD &&
		    place->space == PCTL_SPACE_STORAGE && !s->fn->values[v].used)
			emit_ahead(&s->e, in, place);
		else
			emit_memory(&s->e, v, in, place);
	} else if (a.never) {
		zeros(s, v, in);
	} else if (place->space < PCTL_SPACE_WORKGROUP) {
		const char *element = spmd_element(s, place->root_type);

		if (in->op == PCTL_OP_LOAD)
			load_variable(s, v, in, &a, element);
		else
			store_variable(s, v, in, &a, element);
	} else {
		if (in->op == PCTL_OP_LOAD)
			load_bytes(s, v, in, &a);
		else if (in->op == PCTL_OP_STORE)
			store_bytes(s, v, in, &a);
		else
			atomic(s, v, in, &a);
	}
	s->e.code.no_memory |=
		a.base.no_memory | a.offsets.no_memory | a.same.no_memory | a.each.no_memory;
	text_free(&a.base);
	text_free(&a.offsets);
	text_free(&a.same);
	text_free(&a.each);
}
