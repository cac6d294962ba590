/* Verification of single instructions: number, visibility and types of operands, the result's type,
 * places and address spaces, and what `spec` may hold. */
#include <string.h>

#include "compiler/ir/verify.h"

static const pctl_type *type_of(const pctl_verify *v, uint32_t type)
{
	return &v->p->types[type];
}

static const pctl_type *value_type(const pctl_verify *v, const pctl_inst *in, uint32_t arg)
{
	return type_of(v, pctl_value_type(v->p, v->fn, pctl_arg(v->p, in, arg)));
}

static uint32_t value_type_id(const pctl_verify *v, const pctl_inst *in, uint32_t arg)
{
	return pctl_value_type(v->p, v->fn, pctl_arg(v->p, in, arg));
}

static int is_elementwise(const pctl_type *t)
{
	return t->kind == PCTL_TYPE_SCALAR || t->kind == PCTL_TYPE_VECTOR;
}

/* Arithmetic is on 32- and 64-bit integers; narrow ones are converted first. */
static int is_int(const pctl_type *t)
{
	return is_elementwise(t) && t->scalar >= PCTL_SCALAR_I32 && t->scalar <= PCTL_SCALAR_U64;
}

static int is_bool(const pctl_type *t)
{
	return is_elementwise(t) && t->scalar == PCTL_SCALAR_BOOL;
}

static int is_any_int(const pctl_type *t)
{
	return is_int(t) ||
	       (is_elementwise(t) && t->scalar >= PCTL_SCALAR_I8 && t->scalar <= PCTL_SCALAR_U16);
}

static int is_scalar_of(const pctl_type *t, uint8_t scalar)
{
	return t->kind == PCTL_TYPE_SCALAR && t->scalar == scalar;
}

static int is_index(const pctl_type *t)
{
	return is_scalar_of(t, PCTL_SCALAR_I32) || is_scalar_of(t, PCTL_SCALAR_U32);
}

static int same_shape(const pctl_type *a, const pctl_type *b)
{
	return is_elementwise(a) && a->kind == b->kind && a->width == b->width;
}

static uint32_t parts(const pctl_type *t)
{
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

static int constructible(const pctl_verify *v, uint32_t type)
{
	return (v->traits[type] & PCTL_TRAIT_CONSTRUCTIBLE) != 0;
}

/* All of the first n operands have the result's type. */
static int same_as_result(const pctl_verify *v, const pctl_inst *in, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (value_type_id(v, in, i) != in->type)
			return 0;
	}
	return 1;
}

/* ---- by kind; each is 1 when operands and result agree ---- */

static int const_ok(pctl_verify *v, const pctl_inst *in)
{
	const pctl_type *t = type_of(v, in->type);
	uint32_t lo, hi, bits;

	switch (in->op) {
	case PCTL_OP_CONST:
		if (t->kind != PCTL_TYPE_SCALAR)
			return 0;
		lo = pctl_arg(v->p, in, 0);
		hi = pctl_arg(v->p, in, 1);
		bits = pctl_scalar_bits(t->scalar);
		return bits == 64 || (!hi && (bits == 32 || lo >> bits == 0));
	case PCTL_OP_OVERRIDE:
		return pctl_arg(v->p, in, 0) < v->p->n_overrides &&
		       v->p->overrides[pctl_arg(v->p, in, 0)].type == in->type;
	case PCTL_OP_BUILTIN:
		if (pctl_arg(v->p, in, 0) == PCTL_BUILTIN_LOCAL_INDEX)
			return is_scalar_of(t, PCTL_SCALAR_U32);
		return pctl_arg(v->p, in, 0) >= PCTL_BUILTIN_GLOBAL_ID &&
		       pctl_arg(v->p, in, 0) <= PCTL_BUILTIN_NUM_WORKGROUPS &&
		       t->kind == PCTL_TYPE_VECTOR && t->scalar == PCTL_SCALAR_U32 && t->width == 3;
	case PCTL_OP_PARAM:
		return pctl_arg(v->p, in, 0) == v->at && constructible(v, in->type);
	default:
		return constructible(v, in->type);
	}
}

static int select_ok(const pctl_verify *v, const pctl_inst *in)
{
	const pctl_type *condition = value_type(v, in, 0), *result = type_of(v, in->type);

	if (value_type_id(v, in, 1) != in->type || value_type_id(v, in, 2) != in->type ||
	    result->kind == PCTL_TYPE_TILE)
		return 0;
	return is_scalar_of(condition, PCTL_SCALAR_BOOL) ||
	       (condition->kind == PCTL_TYPE_VECTOR && is_bool(condition) &&
		same_shape(condition, result));
}

/* The floats that a strict (semantics section 3) or native operation is defined on. */
static int is_float(const pctl_type *t, uint16_t op)
{
	if (!is_elementwise(t))
		return 0;
	if (t->scalar == PCTL_SCALAR_F64)
		return !PCTL_IS_STRICT(op) || op < PCTL_OP_FSIN;
	return t->scalar == PCTL_SCALAR_F16 || t->scalar == PCTL_SCALAR_F32 ||
	       (t->scalar == PCTL_SCALAR_BF16 && PCTL_IS_STRICT(op));
}

static int float_ok(const pctl_verify *v, const pctl_inst *in)
{
	const pctl_type *r = type_of(v, in->type), *a = value_type(v, in, 0);

	switch (PCTL_IS_STRICT(in->op) ? PCTL_NATIVE_OF(in->op) : in->op) {
	case PCTL_OP_NEQ:
	case PCTL_OP_NNE:
	case PCTL_OP_NLT:
	case PCTL_OP_NLE:
	case PCTL_OP_NGT:
	case PCTL_OP_NGE:
		return is_float(a, in->op) && value_type_id(v, in, 1) == value_type_id(v, in, 0) &&
		       is_bool(r) && same_shape(r, a);
	default:
		return is_float(r, in->op) && same_as_result(v, in, in->n_args);
	}
}

/* The integers that floats of type f are converted from and to: of 32 bits; strict f64 of 64, too. */
static int is_word(const pctl_type *t, const pctl_type *f, uint16_t op)
{
	if (!is_elementwise(t))
		return 0;
	return t->scalar == PCTL_SCALAR_I32 || t->scalar == PCTL_SCALAR_U32 ||
	       ((t->scalar == PCTL_SCALAR_I64 || t->scalar == PCTL_SCALAR_U64) &&
		f->scalar == PCTL_SCALAR_F64 && PCTL_IS_STRICT(op));
}

static int elem_ok(const pctl_verify *v, const pctl_inst *in)
{
	const pctl_type *r = type_of(v, in->type), *a = value_type(v, in, 0);

	if (PCTL_IS_STRICT(in->op) || PCTL_IS_NATIVE(in->op))
		return float_ok(v, in);
	switch (in->op) {
	case PCTL_OP_MUL_HIGH:
		return is_elementwise(r) && r->scalar == PCTL_SCALAR_U32 &&
		       same_as_result(v, in, 2);
	case PCTL_OP_AND:
	case PCTL_OP_OR:
		return (is_int(r) || is_bool(r)) && same_as_result(v, in, 2);
	case PCTL_OP_NOT:
		return (is_int(r) || is_bool(r)) && same_as_result(v, in, 1);
	case PCTL_OP_SHL:
	case PCTL_OP_SHR:
		return is_int(r) && same_as_result(v, in, 1) &&
		       same_shape(r, value_type(v, in, 1)) &&
		       value_type(v, in, 1)->scalar == PCTL_SCALAR_U32;
	case PCTL_OP_SIGN:
		return is_int(r) && pctl_scalar_is_signed(r->scalar) && same_as_result(v, in, 1);
	case PCTL_OP_EXTRACT_BITS:
		return is_int(r) && pctl_scalar_bits(r->scalar) == 32 && same_as_result(v, in, 1) &&
		       is_scalar_of(value_type(v, in, 1), PCTL_SCALAR_U32) &&
		       is_scalar_of(value_type(v, in, 2), PCTL_SCALAR_U32);
	case PCTL_OP_INSERT_BITS:
		return is_int(r) && pctl_scalar_bits(r->scalar) == 32 && same_as_result(v, in, 2) &&
		       is_scalar_of(value_type(v, in, 2), PCTL_SCALAR_U32) &&
		       is_scalar_of(value_type(v, in, 3), PCTL_SCALAR_U32);
	case PCTL_OP_EQ:
	case PCTL_OP_NE:
	case PCTL_OP_LT:
	case PCTL_OP_LE:
	case PCTL_OP_GT:
	case PCTL_OP_GE:
		if (is_bool(a) && in->op != PCTL_OP_EQ && in->op != PCTL_OP_NE)
			return 0;
		return (is_int(a) || is_bool(a)) &&
		       value_type_id(v, in, 1) == value_type_id(v, in, 0) && is_bool(r) &&
		       same_shape(r, a);
	case PCTL_OP_SELECT:
		return select_ok(v, in);
	default: /* arithmetic and bits: all operands and the result of one integer type */
		return is_int(r) && same_as_result(v, in, in->n_args);
	}
}

static int convert_ok(const pctl_verify *v, const pctl_inst *in)
{
	const pctl_type *r = type_of(v, in->type), *a = value_type(v, in, 0);

	if (in->op == PCTL_OP_FCONVERT || in->op == PCTL_OP_NCONVERT)
		/* Between two different types: the same one has nothing to convert, and devices have
		 * no instruction for it. */
		return same_shape(r, a) && r->scalar != a->scalar &&
		       ((is_float(a, in->op) && (is_float(r, in->op) || is_word(r, a, in->op))) ||
			(is_word(a, r, in->op) && is_float(r, in->op)));
	if (in->op == PCTL_OP_CAST)
		return same_shape(r, a) && (is_any_int(r) || is_bool(r)) &&
		       (is_any_int(a) || is_bool(a));
	return is_elementwise(r) && is_elementwise(a) && !is_bool(r) && !is_bool(a) &&
	       r->size == a->size;
}

static int compose_ok(const pctl_verify *v, const pctl_inst *in)
{
	const pctl_type *r = type_of(v, in->type);
	uint32_t i;

	if (!constructible(v, in->type) || !parts(r) || in->n_args != parts(r))
		return 0;
	for (i = 0; i < in->n_args; i++) {
		if (value_type_id(v, in, i) != pctl_type_step(v->p, in->type, i))
			return 0;
	}
	return 1;
}

static int shuffle_ok(const pctl_verify *v, const pctl_inst *in)
{
	const pctl_type *r = type_of(v, in->type), *a = value_type(v, in, 0);
	uint32_t i;

	if (a->kind != PCTL_TYPE_VECTOR || r->kind != PCTL_TYPE_VECTOR || r->scalar != a->scalar ||
	    in->n_args - 1 != r->width)
		return 0;
	for (i = 1; i < in->n_args; i++) {
		if (pctl_arg(v->p, in, i) >= a->width)
			return 0;
	}
	return 1;
}

static int matmul_ok(const pctl_type *r, const pctl_type *a, const pctl_type *b)
{
	const int am = a->kind == PCTL_TYPE_MATRIX, bm = b->kind == PCTL_TYPE_MATRIX;

	if (a->scalar != b->scalar || a->scalar != r->scalar || a->scalar < PCTL_SCALAR_I32 ||
	    a->scalar > PCTL_SCALAR_U64)
		return 0;
	if (am && bm)
		return r->kind == PCTL_TYPE_MATRIX && a->columns == b->width &&
		       r->width == a->width && r->columns == b->columns;
	if (am)
		return b->kind == PCTL_TYPE_VECTOR && b->width == a->columns &&
		       r->kind == PCTL_TYPE_VECTOR && r->width == a->width;
	return bm && a->kind == PCTL_TYPE_VECTOR && a->width == b->width &&
	       r->kind == PCTL_TYPE_VECTOR && r->width == b->columns;
}

static int lookup_ok(const pctl_verify *v, const pctl_inst *in)
{
	const pctl_type *r = type_of(v, in->type);
	const uint32_t bits = pctl_scalar_bits(r->scalar), n = in->n_args - 1;

	return r->kind == PCTL_TYPE_SCALAR && (bits == 32 || bits == 64) && n &&
	       !(n % (bits / 32)) && is_index(value_type(v, in, 0));
}

static int data_ok(const pctl_verify *v, const pctl_inst *in)
{
	const pctl_type *r = type_of(v, in->type), *a = in->n_args ? value_type(v, in, 0) : r;
	uint32_t l;

	switch (in->op) {
	case PCTL_OP_DOT:
		return a->kind == PCTL_TYPE_VECTOR && is_int(a) && is_scalar_of(r, a->scalar) &&
		       value_type_id(v, in, 1) == value_type_id(v, in, 0);
	case PCTL_OP_DOT4_I8:
	case PCTL_OP_DOT4_U8:
		return is_scalar_of(a, PCTL_SCALAR_U32) &&
		       is_scalar_of(value_type(v, in, 1), PCTL_SCALAR_U32) &&
		       is_scalar_of(r,
				    in->op == PCTL_OP_DOT4_I8 ? PCTL_SCALAR_I32 : PCTL_SCALAR_U32);
	case PCTL_OP_COMPOSE:
		return compose_ok(v, in);
	case PCTL_OP_SPLAT:
		return r->kind == PCTL_TYPE_VECTOR && is_scalar_of(a, r->scalar);
	case PCTL_OP_EXTRACT:
		l = pctl_arg(v->p, in, 1);
		return l < parts(a) && pctl_type_step(v->p, value_type_id(v, in, 0), l) == in->type;
	case PCTL_OP_EXTRACT_DYN:
		return a->kind == PCTL_TYPE_VECTOR && is_scalar_of(r, a->scalar) &&
		       is_index(value_type(v, in, 1));
	case PCTL_OP_LOOKUP:
		return lookup_ok(v, in);
	case PCTL_OP_SHUFFLE:
		return shuffle_ok(v, in);
	case PCTL_OP_INSERT:
		l = pctl_arg(v->p, in, 2);
		return value_type_id(v, in, 0) == in->type && l < parts(a) &&
		       pctl_type_step(v->p, in->type, l) == value_type_id(v, in, 1);
	case PCTL_OP_MATMUL:
		return matmul_ok(r, a, value_type(v, in, 1));
	default: /* TRANSPOSE */
		return a->kind == PCTL_TYPE_MATRIX && r->kind == PCTL_TYPE_MATRIX &&
		       r->scalar == a->scalar && r->columns == a->width && r->width == a->columns;
	}
}

static int control_ok(const pctl_verify *v, const pctl_inst *in)
{
	const pctl_function *callee;
	uint32_t f, i;

	switch (in->op) {
	case PCTL_OP_IF:
	case PCTL_OP_LOOP_TEST:
		return is_scalar_of(value_type(v, in, 0), PCTL_SCALAR_BOOL);
	case PCTL_OP_SWITCH:
		return is_index(value_type(v, in, 0));
	case PCTL_OP_RETURN:
		return in->n_args <= 1;
	case PCTL_OP_BARRIER:
		i = pctl_arg(v->p, in, 0);
		return i == PCTL_BARRIER_SUBGROUP ||
		       (i && !(i & ~(PCTL_BARRIER_WORKGROUP | PCTL_BARRIER_STORAGE)));
	case PCTL_OP_CALL:
		f = pctl_arg(v->p, in, 0);
		if (!f || f >= v->function)
			return 0;
		callee = &v->p->functions[f];
		if (in->n_args - 1 != callee->n_params || in->type != callee->return_type)
			return 0;
		for (i = 0; i < callee->n_params; i++) {
			if (value_type_id(v, in, i + 1) != pctl_value_type(v->p, callee, i))
				return 0;
		}
		return 1;
	default:
		return 1;
	}
}

/* ---- places ---- */

static int access_ok(pctl_verify *v, const pctl_inst *in, const pctl_place *pl)
{
	const int local = (pl->root & PCTL_PLACE_LOCAL) != 0;
	const uint8_t access = local ? PCTL_ACCESS_READ_WRITE : v->p->vars[pl->root].access;
	const pctl_type *end = type_of(v, pl->end_type);

	if (pctl_op_get(in->op)->kind == PCTL_OPKIND_atomic) {
		if (end->kind != PCTL_TYPE_ATOMIC)
			return pctl_verify_complain(v, PC2024_PROGRAM_PLACE,
						    "the place is no atomic");
		if (access != PCTL_ACCESS_READ_WRITE ||
		    (pl->space != PCTL_SPACE_WORKGROUP && pl->space != PCTL_SPACE_STORAGE))
			return pctl_verify_complain(v, PC2025_PROGRAM_ACCESS,
						    "the place is not shared writable memory");
		return 1;
	}
	if (in->op == PCTL_OP_ARRAY_LENGTH) {
		if (end->kind != PCTL_TYPE_RUNTIME_ARRAY)
			return pctl_verify_complain(v, PC2024_PROGRAM_PLACE,
						    "the place is no runtime array");
		return 1;
	}
	if (!constructible(v, pl->end_type))
		return pctl_verify_complain(v, PC2024_PROGRAM_PLACE,
					    "the place holds an atomic or has no fixed size");
	if (in->op == PCTL_OP_STORE && !(access & PCTL_ACCESS_WRITE))
		return pctl_verify_complain(v, PC2025_PROGRAM_ACCESS, "the variable is read-only");
	if (in->op == PCTL_OP_LOAD_UNIFORM && pl->space != PCTL_SPACE_WORKGROUP)
		return pctl_verify_complain(v, PC2025_PROGRAM_ACCESS,
					    "the variable is not in workgroup memory");
	return 1;
}

static int place_types_ok(const pctl_verify *v, const pctl_inst *in, const pctl_place *pl)
{
	const pctl_type *end = type_of(v, pl->end_type);
	uint32_t moved = end->kind == PCTL_TYPE_ATOMIC ? end->elem : pl->end_type, i;

	if (in->op == PCTL_OP_ARRAY_LENGTH)
		return is_scalar_of(type_of(v, in->type), PCTL_SCALAR_U32);
	for (i = 0; i < pl->n_values; i++) {
		if (value_type_id(v, in, i) != moved)
			return 0;
	}
	return !pctl_op_get(in->op)->yields || in->type == moved;
}

static void check_memory(pctl_verify *v, const pctl_inst *in)
{
	const int is_tile = pctl_op_get(in->op)->kind == PCTL_OPKIND_tile;
	uint32_t type, i;
	pctl_place pl;

	if (!pctl_place_get(v->p, v->fn, in, &pl)) {
		pctl_verify_complain(
			v, PC2024_PROGRAM_PLACE,
			"the place names no variable, or its chain does not fit the type");
		return;
	}
	type = pl.root_type;
	for (i = 0; i < pl.n_chain; i++) {
		uint32_t word = v->p->words[pl.chain + i];

		if (type_of(v, type)->kind != PCTL_TYPE_STRUCT &&
		    (!pctl_verify_visible(v, word) ||
		     !is_index(type_of(v, pctl_value_type(v->p, v->fn, word))))) {
			pctl_verify_complain(v, PC2022_PROGRAM_VALUE,
					     "index %u of the place is no visible i32 or u32", i);
			return;
		}
		type = pctl_type_step(v->p, type, word);
	}
	if (is_tile ? !pctl_verify_tile_place(v, in, &pl) : !access_ok(v, in, &pl))
		return;
	if (!is_tile && !place_types_ok(v, in, &pl))
		pctl_verify_complain(v, PC2021_PROGRAM_OPERAND,
				     "operands and result do not have the type of the place");
	if (in->flags & ~(((1u << (pl.n_chain < 16 ? pl.n_chain : 16)) - 1u) |
			  (is_tile ? PCTL_INST_WHOLE : 0u)))
		pctl_verify_complain(v, PC2021_PROGRAM_OPERAND, "proof bits beyond the chain");
}

/* ---- all of it ---- */

/* Number of arguments and visibility of the values among them, by the pattern of ops.def. */
static int check_arguments(pctl_verify *v, const pctl_inst *in, const char *pattern)
{
	uint32_t i = 0;

	for (; *pattern; pattern++) {
		const int many = pattern[1] == '*';

		if (*pattern == 'c')
			return 1;
		do {
			if (many && i == in->n_args)
				break;
			if (i == in->n_args)
				return pctl_verify_complain(v, PC2021_PROGRAM_OPERAND,
							    "has too few arguments");
			if (*pattern == 'v' && !pctl_verify_visible(v, pctl_arg(v->p, in, i)))
				return pctl_verify_complain(
					v, PC2022_PROGRAM_VALUE,
					"argument %u, value %u, is not visible here", i,
					pctl_arg(v->p, in, i));
			i++;
		} while (many);
		pattern += many;
	}
	if (i != in->n_args)
		return pctl_verify_complain(v, PC2021_PROGRAM_OPERAND, "has too many arguments");
	return 1;
}

static int allowed_in_spec(const pctl_verify *v, const pctl_inst *in, uint8_t kind)
{
	const pctl_type *t = type_of(v, in->type);

	if (t->kind != PCTL_TYPE_SCALAR)
		return 0;
	return in->op == PCTL_OP_CONST || in->op == PCTL_OP_OVERRIDE || in->op == PCTL_OP_ZERO ||
	       kind == PCTL_OPKIND_elem || kind == PCTL_OPKIND_bool || kind == PCTL_OPKIND_convert;
}

void pctl_verify_inst(pctl_verify *v, const pctl_inst *in)
{
	const pctl_op_info *info = pctl_op_get(in->op);
	int ok;

	if (!info->name) {
		pctl_verify_complain(v, PC2020_PROGRAM_OPCODE, "opcode 0x%x is not known", in->op);
		return;
	}
	if (v->function == 0 && !allowed_in_spec(v, in, info->kind)) {
		pctl_verify_complain(v, PC2029_PROGRAM_SPEC, "may not stand in `spec`");
		return;
	}
	if ((!info->yields && in->type) || (info->yields && !in->type && in->op != PCTL_OP_CALL)) {
		pctl_verify_complain(v, PC2023_PROGRAM_RESULT, "%s",
				     in->type ? "has a result type but no result"
					      : "has no result type");
		return;
	}
	if (!check_arguments(v, in, info->args))
		return;
	if (strchr(info->args, 'g')) {
		check_memory(v, in);
		return;
	}
	if (in->flags)
		pctl_verify_complain(v, PC2021_PROGRAM_OPERAND,
				     "has flags set that mean nothing here");
	switch (info->kind) {
	case PCTL_OPKIND_const:
		ok = const_ok(v, in);
		break;
	case PCTL_OPKIND_elem:
		ok = elem_ok(v, in);
		break;
	case PCTL_OPKIND_bool:
		ok = is_bool(value_type(v, in, 0)) &&
		     is_scalar_of(type_of(v, in->type), PCTL_SCALAR_BOOL);
		break;
	case PCTL_OPKIND_convert:
		ok = convert_ok(v, in);
		break;
	case PCTL_OPKIND_data:
		ok = data_ok(v, in);
		break;
	case PCTL_OPKIND_subgroup:
		ok = pctl_verify_subgroup(v, in);
		break;
	case PCTL_OPKIND_tile:
		ok = pctl_verify_tile(v, in);
		break;
	default:
		ok = control_ok(v, in);
		break;
	}
	if (!ok)
		pctl_verify_complain(v, PC2021_PROGRAM_OPERAND,
				     "operands or result have types that do not fit");
	if (ok && in->op == PCTL_OP_LOOKUP && in->n_args - 1 > PCTL_LOOKUP_WORDS_MAX)
		pctl_verify_complain(v, PC2021_PROGRAM_OPERAND,
				     "has a table of %u words, at most %u are allowed",
				     in->n_args - 1, PCTL_LOOKUP_WORDS_MAX);
	if (ok && in->op == PCTL_OP_SWITCH)
		pctl_verify_literals(v);
}
