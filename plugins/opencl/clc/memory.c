/* Loads, stores and atomics: from a place to an address or a C lvalue, and the condition under
 * which the access hits. An access that misses yields zero or does nothing (program.h), so no
 * address outside its array is formed into an access, whatever the index. */
#include "clc/internal.h"

#include <inttypes.h>
#include <stdio.h>

/* One access under construction: e->cond holds the condition ("" when always true), e->scratch the
 * address or lvalue without a trailing dynamic vector component. */
typedef struct access {
	const pctl_place *place;
	int bytes;	  /* 1: an address in bytes; 0: a C lvalue */
	int local;	  /* bytes: workgroup memory */
	int never;	  /* an index that is constantly outside */
	int lane_bool;	  /* lvalue: component of a vector of bool */
	uint32_t lane_of; /* lvalue: width of the vector whose component is chosen at run time, else
			     0 */
	uint32_t lane_index; /* the value id that chooses it */
} access;

static void also(emitter *e)
{
	if (e->cond.n)
		text_add(&e->cond, " & ");
}

/* Add the check of index value v against `length` elements. */
static void check_index(emitter *e, access *a, uint32_t v, uint32_t length, int proven)
{
	uint64_t k;

	if (emit_constant(e, v, &k)) {
		if ((uint32_t)k >= length)
			a->never = 1;
		return;
	}
	if (proven)
		return;
	also(e);
	text_printf(&e->cond, "(v%u < %uu)", v, length);
}

/* The same against the runtime array of variable `var`. */
static void check_runtime(emitter *e, uint32_t v, uint32_t var, int proven)
{
	const uint32_t type = pctl_value_type(e->p, e->fn, v);

	if (proven)
		return;
	also(e);
	text_add(&e->cond, "(");
	emit_value(e, &e->cond, v);
	text_printf(&e->cond, " < n%u)", var);
	if (e->p->types[type].scalar == PCTL_SCALAR_I32) {
		text_add(&e->cond, " & ((int)");
		emit_value(e, &e->cond, v);
		text_add(&e->cond, " >= 0)");
	}
}

static int is_proven(const pctl_inst *in, uint32_t i)
{
	return i < 16 && (in->flags & PCTL_INST_PROVEN(i)) != 0;
}

static uint32_t level_length(const emitter *e, uint32_t type)
{
	return emit_part_count(e->p, type);
}

static uint64_t level_stride(const emitter *e, uint32_t type)
{
	const pctl_type *t = &e->p->types[type];

	return t->kind == PCTL_TYPE_VECTOR ? pctl_scalar_bytes(t->scalar) : t->stride;
}

/* Storage, uniform, workgroup: base pointer plus a constant and strides times indices. */
static void byte_path(emitter *e, access *a, const pctl_inst *in)
{
	const pctl_place *place = a->place;
	uint32_t type = place->root_type;
	uint64_t constant = 0, k;
	int has_runtime = 0;

	text_printf(&e->scratch, "%c%u", a->local ? 'w' : 'b', place->root);
	for (uint32_t i = 0; i < place->n_chain; i++) {
		const uint32_t word = e->p->words[place->chain + i];
		const uint8_t kind = e->p->types[type].kind;

		if (kind == PCTL_TYPE_STRUCT) {
			constant += pctl_type_part_offset(e->p, type, word);
		} else {
			if (kind == PCTL_TYPE_RUNTIME_ARRAY) {
				has_runtime = 1;
				check_runtime(e, word, place->root, is_proven(in, i));
			} else {
				check_index(e, a, word, level_length(e, type), is_proven(in, i));
			}
			if (emit_constant(e, word, &k))
				constant += (uint64_t)(uint32_t)k * level_stride(e, type);
			else
				text_printf(&e->scratch, " + (size_t)v%u * %" PRIu64 "u", word,
					    level_stride(e, type));
		}
		type = pctl_type_step(e->p, type, word);
	}
	if (constant)
		text_printf(&e->scratch, " + (size_t)%" PRIu64 "ul", constant);
	/* Loads need no such check: where the fixed part is not bound, the host binds zeros. */
	if (!has_runtime && !a->local && in->op != PCTL_OP_LOAD && in->op != PCTL_OP_LOAD_UNIFORM) {
		also(e);
		text_printf(&e->cond, "k%u", place->root);
	}
}

void emit_local_name(const emitter *e, text *t, uint32_t i)
{
	text_printf(t, e->by_step && e->by_step[i] ? "l%u[s]" : "l%u", i);
}

/* Private and function memory: a C variable. */
static void lvalue_path(emitter *e, access *a, const pctl_inst *in)
{
	const pctl_place *place = a->place;
	uint32_t type = place->root_type;
	uint64_t k;

	if (place->root & PCTL_PLACE_LOCAL)
		emit_local_name(e, &e->scratch, place->root & ~PCTL_PLACE_LOCAL);
	else
		text_printf(&e->scratch, "(*q%u)", place->root);
	for (uint32_t i = 0; i < place->n_chain; i++) {
		const uint32_t word = e->p->words[place->chain + i];
		const uint8_t kind = e->p->types[type].kind;

		if (kind == PCTL_TYPE_STRUCT) {
			emit_part(e, &e->scratch, type, word);
		} else if (kind == PCTL_TYPE_VECTOR) {
			a->lane_bool = emit_is_vector_bool(e->p, type);
			if (emit_constant(e, word, &k)) {
				check_index(e, a, word, e->p->types[type].width, 0);
				text_printf(&e->scratch, ".s%u", a->never ? 0 : (uint32_t)k);
			} else {
				a->lane_of = e->p->types[type].width;
				a->lane_index = word;
			}
		} else {
			check_index(e, a, word, level_length(e, type), is_proven(in, i));
			if (emit_constant(e, word, &k))
				text_printf(&e->scratch, ".a[%u]", a->never ? 0 : (uint32_t)k);
			else
				text_printf(&e->scratch, ".a[v%u]", word);
		}
		type = pctl_type_step(e->p, type, word);
	}
}

static void open_access(emitter *e, access *a, const pctl_inst *in)
{
	text_clear(&e->cond);
	text_clear(&e->scratch);
	a->bytes = a->place->space >= PCTL_SPACE_WORKGROUP;
	a->local = a->place->space == PCTL_SPACE_WORKGROUP;
	if (a->bytes)
		byte_path(e, a, in);
	else
		lvalue_path(e, a, in);
}

/* ---- moving scalars and vectors ---------------------------------------------------------------
 */

static const char *space_name(int local)
{
	return local ? "__local" : "__global";
}

void emit_load_at(emitter *e, text *t, uint32_t type, int local, const char *at)
{
	const pctl_type *ty = &e->p->types[type];
	const char *space = space_name(local), *scalar = emit_scalar_name(ty->scalar);
	const char *negate = ty->scalar == PCTL_SCALAR_BOOL ? "0u - " : "";

	if (ty->scalar == PCTL_SCALAR_U16 && ty->kind == PCTL_TYPE_SCALAR)
		text_printf(t, "(uint)*(const %s ushort *)(%s)", space, at);
	else if (ty->scalar == PCTL_SCALAR_U16 && ty->kind == PCTL_TYPE_VECTOR && ty->width == 3)
		text_printf(t, "convert_uint3(vload3(0, (const %s ushort *)(%s)))", space, at);
	else if (ty->scalar == PCTL_SCALAR_U16 && ty->kind == PCTL_TYPE_VECTOR)
		text_printf(t, "convert_uint%u(*(const %s ushort%u *)(%s))", ty->width, space,
			    ty->width, at);
	else if (ty->kind == PCTL_TYPE_SCALAR)
		text_printf(t, "*(const %s %s *)(%s)", space, scalar, at);
	else if (ty->kind == PCTL_TYPE_VECTOR && ty->width == 3)
		text_printf(t, "(%svload3(0, (const %s %s *)(%s)))", negate, space, scalar, at);
	else
		text_printf(t, "(%s*(const %s %s%u *)(%s))", negate, space, scalar, ty->width, at);
}

void emit_store_at(emitter *e, text *t, uint32_t type, int local, const char *at, const char *value)
{
	const pctl_type *ty = &e->p->types[type];
	const char *space = space_name(local), *scalar = emit_scalar_name(ty->scalar);
	const char *mask = ty->scalar == PCTL_SCALAR_BOOL ? " & 1u" : "";

	if (ty->scalar == PCTL_SCALAR_U16 && ty->kind == PCTL_TYPE_SCALAR)
		text_printf(t, "*(%s ushort *)(%s) = (ushort)%s", space, at, value);
	else if (ty->scalar == PCTL_SCALAR_U16 && ty->kind == PCTL_TYPE_VECTOR && ty->width == 3)
		text_printf(t, "vstore3(convert_ushort3(%s), 0, (%s ushort *)(%s))", value, space,
			    at);
	else if (ty->scalar == PCTL_SCALAR_U16 && ty->kind == PCTL_TYPE_VECTOR)
		text_printf(t, "*(%s ushort%u *)(%s) = convert_ushort%u(%s)", space, ty->width, at,
			    ty->width, value);
	else if (ty->kind == PCTL_TYPE_SCALAR)
		text_printf(t, "*(%s %s *)(%s) = %s", space, scalar, at, value);
	else if (ty->kind == PCTL_TYPE_VECTOR && ty->width == 3)
		text_printf(t, "vstore3(%s%s, 0, (%s %s *)(%s))", value, mask, space, scalar, at);
	else
		text_printf(t, "*(%s %s%u *)(%s) = %s%s", space, scalar, ty->width, at, value,
			    mask);
}

/* ---- instructions -----------------------------------------------------------------------------
 */

static void load_lvalue(emitter *e, const access *a, uint32_t type)
{
	if (!a->lane_of) {
		text_add(&e->code, text_str(&e->scratch));
		text_add(&e->code, a->lane_bool ? " & 1u" : "");
		return;
	}
	text_add(&e->code, "(");
	for (uint32_t i = 0; i < a->lane_of; i++)
		text_printf(&e->code, "v%u == %uu ? %s.s%u : ", a->lane_index, i,
			    text_str(&e->scratch), i);
	emit_zero(e, &e->code, type);
	text_add(&e->code, a->lane_bool ? ") & 1u" : ")");
}

/* Opens the block in which a whole of the place is moved, under the access's condition, and makes the place a side:
 * the address has a name there. */
static emit_side open_whole(emitter *e, const access *a, const char *constant)
{
	emit_side s = {.kind = !a->bytes ? EMIT_VALUE : a->local ? EMIT_LOCAL : EMIT_GLOBAL};

	emit_indent(e);
	if (e->cond.n)
		text_printf(&e->code, "if (%s) ", text_str(&e->cond));
	text_add(&e->code, "{\n");
	e->indent++;
	if (a->bytes) {
		emit_indent(e);
		text_printf(&e->code, "%s%s uchar *p = %s;\n", constant, space_name(a->local),
			    text_str(&e->scratch));
	}
	text_add(&s.path, a->bytes ? "p" : text_str(&e->scratch));
	return s;
}

static void close_whole(emitter *e, const char *s)
{
	e->indent--;
	emit_indent(e);
	text_add(&e->code, s);
}

static void load_whole(emitter *e, uint32_t v, const pctl_inst *in, const access *a)
{
	emit_side to = {.kind = EMIT_VALUE}, from;

	emit_declare(e, v, in->type);
	text_printf(&to.path, "v%u", v);
	if (a->never) {
		emit_fill_zero(e, in->type, text_str(&to.path));
	} else {
		from = open_whole(e, a, "const ");
		emit_fill(e, in->type, &to, &from);
		close_whole(e, e->cond.n ? "} else {\n" : "}\n");
		text_free(&from.path);
	}
	if (!a->never && e->cond.n) {
		e->indent++;
		emit_fill_zero(e, in->type, text_str(&to.path));
		close_whole(e, "}\n");
	}
	text_free(&to.path);
}

static void store_whole(emitter *e, uint32_t v, uint32_t type, const access *a)
{
	emit_side to, from = {.kind = EMIT_VALUE};

	if (a->never)
		return;
	emit_value(e, &from.path, v);
	to = open_whole(e, a, "");
	emit_fill(e, type, &to, &from);
	close_whole(e, "}\n");
	text_free(&to.path);
	text_free(&from.path);
}

static void load(emitter *e, uint32_t v, const pctl_inst *in, access *a)
{
	if (emit_is_whole(e, in->type)) {
		load_whole(e, v, in, a);
		return;
	}
	emit_define(e, v, in->type);
	if (a->never) {
		emit_zero(e, &e->code, in->type);
		text_add(&e->code, ";\n");
		return;
	}
	if (e->cond.n)
		text_printf(&e->code, "(%s) ? ", text_str(&e->cond));
	if (a->bytes)
		emit_load_at(e, &e->code, in->type, a->local, text_str(&e->scratch));
	else
		load_lvalue(e, a, in->type);
	if (e->cond.n) {
		text_add(&e->code, " : ");
		emit_zero(e, &e->code, in->type);
	}
	text_add(&e->code, ";\n");
}

void emit_ahead(emitter *e, const pctl_inst *in, const pctl_place *place)
{
	access a = {.place = place};

	open_access(e, &a, in);
	emit_indent(e);
	/* A number, not a pointer: it may lie outside. */
	text_printf(&e->code, "__builtin_prefetch((const void *)((size_t)%s));\n",
		    text_str(&e->scratch));
}

static void store(emitter *e, const pctl_inst *in, const access *a)
{
	const uint32_t v = pctl_arg(e->p, in, 0);
	const uint32_t type = pctl_value_type(e->p, e->fn, v);
	text value = {0};

	if (emit_is_whole(e, type)) {
		store_whole(e, v, type, a);
		return;
	}
	if (a->never)
		return;
	emit_value(e, &value, v);
	if (a->lane_bool)
		text_printf(&value, " * 0xffffffffu");
	emit_indent(e);
	if (e->cond.n)
		text_printf(&e->code, "if (%s) ", text_str(&e->cond));
	text_add(&e->code, a->lane_of ? "{ " : "");
	for (uint32_t i = 0; i < a->lane_of; i++)
		text_printf(&e->code, "%s.s%u = v%u == %uu ? %s : %s.s%u; ", text_str(&e->scratch),
			    i, a->lane_index, i, text_str(&value), text_str(&e->scratch), i);
	if (a->lane_of)
		text_add(&e->code, "}");
	else if (a->bytes)
		emit_store_at(e, &e->code, type, a->local, text_str(&e->scratch), text_str(&value));
	else
		text_printf(&e->code, "%s = %s", text_str(&e->scratch), text_str(&value));
	text_add(&e->code, a->lane_of ? "\n" : ";\n");
	e->code.no_memory |= value.no_memory;
	text_free(&value);
}

static const char *atomic_call(uint16_t op)
{
	switch (op) {
	case PCTL_OP_ATOMIC_ADD:
		return "atomic_add";
	case PCTL_OP_ATOMIC_SUB:
		return "atomic_sub";
	case PCTL_OP_ATOMIC_MIN:
		return "atomic_min";
	case PCTL_OP_ATOMIC_MAX:
		return "atomic_max";
	case PCTL_OP_ATOMIC_AND:
		return "atomic_and";
	case PCTL_OP_ATOMIC_OR:
		return "atomic_or";
	case PCTL_OP_ATOMIC_XOR:
		return "atomic_xor";
	case PCTL_OP_ATOMIC_EXCHANGE:
		return "atomic_xchg";
	default:
		return "atomic_cmpxchg";
	}
}

static void atomic(emitter *e, uint32_t v, const pctl_inst *in, const access *a)
{
	const int is_signed = e->p->types[a->place->end_type].scalar == PCTL_SCALAR_I32 &&
			      (in->op == PCTL_OP_ATOMIC_MIN || in->op == PCTL_OP_ATOMIC_MAX);
	const char *type = is_signed ? "int" : "uint", *space = space_name(a->local);

	if (in->op == PCTL_OP_ATOMIC_STORE) {
		if (a->never)
			return;
		emit_indent(e);
		if (e->cond.n)
			text_printf(&e->code, "if (%s) ", text_str(&e->cond));
		text_printf(&e->code, "*(volatile %s uint *)(%s) = ", space, text_str(&e->scratch));
		emit_value(e, &e->code, pctl_arg(e->p, in, 0));
		text_add(&e->code, ";\n");
		return;
	}
	emit_define(e, v, in->type);
	if (a->never) {
		text_add(&e->code, "0u;\n");
		return;
	}
	if (e->cond.n)
		text_printf(&e->code, "(%s) ? ", text_str(&e->cond));
	if (in->op == PCTL_OP_ATOMIC_LOAD) {
		text_printf(&e->code, "*(volatile %s uint *)(%s)", space, text_str(&e->scratch));
	} else {
		text_printf(&e->code, "(uint)%s((volatile %s %s *)(%s)", atomic_call(in->op), space,
			    type, text_str(&e->scratch));
		for (uint32_t i = 0; i < a->place->n_values; i++) {
			text_printf(&e->code, ", (%s)", type);
			emit_value(e, &e->code, pctl_arg(e->p, in, i));
		}
		text_add(&e->code, ")");
	}
	text_add(&e->code, e->cond.n ? " : 0u;\n" : ";\n");
}

static void fence(emitter *e, uint8_t space)
{
	emit_barrier(e, space == PCTL_SPACE_WORKGROUP
				? "CLK_LOCAL_MEM_FENCE"
				: "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE");
}

void emit_memory(emitter *e, uint32_t v, const pctl_inst *in, const pctl_place *place)
{
	access a = {.place = place};

	if (in->op == PCTL_OP_ARRAY_LENGTH) {
		emit_define(e, v, in->type);
		text_printf(&e->code, "n%u;\n", place->root);
		return;
	}
	open_access(e, &a, in);
	switch (in->op) {
	case PCTL_OP_LOAD:
		load(e, v, in, &a);
		break;
	case PCTL_OP_LOAD_UNIFORM:
		fence(e, place->space);
		load(e, v, in, &a);
		fence(e, place->space);
		break;
	case PCTL_OP_STORE:
		store(e, in, &a);
		break;
	case PCTL_OP_TILE_LOAD_ROWS:
	case PCTL_OP_TILE_LOAD_COLUMNS:
	case PCTL_OP_TILE_STORE_ROWS:
	case PCTL_OP_TILE_STORE_COLUMNS:
		emit_tile_move(e, v, in, a.local);
		break;
	default:
		atomic(e, v, in, &a);
		break;
	}
}
