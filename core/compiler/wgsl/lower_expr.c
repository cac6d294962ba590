/* Lowering of expressions to values, and of memory to places. */
#include "compiler/wgsl/compose.h"
#include "compiler/wgsl/float.h"

/* The same of a pointer that was passed. */
static int is_static_parameter(const struct lower *l, const struct expr *e)
{
	const struct place *p = e->decl->place;
	uint32_t i;

	if (e->decl->kind != DECL_PARAM || e->decl->type->kind != TY_POINTER)
		return 0;
	for (i = 0; i < p->n; i++)
		if (p->steps[i].kind == WORD_VALUE &&
		    (p->steps[i].v & VALUE_BODY ||
		     l->prelude.insts[p->steps[i].v].op != PCTL_OP_CONST))
			return 0;
	return 1;
}

static int place_is_static(const struct lower *l, const struct expr *e)
{
	const struct type *whole;

	for (;;) {
		if (e->kind == EX_INDEX) {
			whole = e->a->type->kind == TY_POINTER ? e->a->type->elem : e->a->type;
			if (e->b->stage != STAGE_CONST || whole->kind == TY_RUNTIME_ARRAY)
				return 0;
		}
		if (e->kind == EX_DEREF && e->a->kind == EX_NAME)
			return is_static_parameter(l, e->a);
		if (e->kind != EX_MEMBER && e->kind != EX_INDEX)
			return e->kind == EX_NAME &&
			       (e->decl->kind == DECL_VAR || is_static_parameter(l, e));
		e = e->a;
	}
}

int pctl_wgsl_is_pure(const struct lower *l, const struct expr *e)
{
	const struct expr *a;

	if (e->stage != STAGE_RUNTIME)
		return 1;
	if (e->ref)
		return e->space != PCTL_SPACE_STORAGE && e->space != PCTL_SPACE_WORKGROUP &&
		       place_is_static(l, e);
	switch (e->kind) {
	case EX_CALL:
		if (e->call == CALL_FUNCTION)
			return 0;
		if (e->call == CALL_BUILTIN &&
		    pctl_wgsl_builtin_at(e->index)->kind >= BUILTIN_ARRAY_LENGTH)
			return pctl_wgsl_builtin_at(e->index)->kind == BUILTIN_ARRAY_LENGTH;
		for (a = e->a; a; a = a->next)
			if (!pctl_wgsl_is_pure(l, a))
				return 0;
		return 1;
	case EX_MEMBER:
		return e->a->type->kind != TY_POINTER && pctl_wgsl_is_pure(l, e->a);
	case EX_UNARY:
		return pctl_wgsl_is_pure(l, e->a);
	case EX_INDEX:
		return e->b->stage == STAGE_CONST && pctl_wgsl_is_pure(l, e->a);
	case EX_BINARY:
		return pctl_wgsl_is_pure(l, e->a) && pctl_wgsl_is_pure(l, e->b);
	default:
		return e->kind == EX_NAME;
	}
}

/* ---- operators ---- */

static uint16_t opcode(uint32_t op, const struct type *ta)
{
	switch (op) {
	case T_PLUS:
		return PCTL_OP_ADD;
	case T_MINUS:
		return PCTL_OP_SUB;
	case T_STAR:
		return PCTL_OP_MUL;
	case T_SLASH:
		return PCTL_OP_DIV_WGSL;
	case T_PERCENT:
		return PCTL_OP_MOD;
	case T_AND:
	case T_ANDAND:
		return PCTL_OP_AND;
	case T_OR:
	case T_OROR:
		return PCTL_OP_OR;
	case T_XOR:
		return PCTL_OP_XOR;
	case T_SHL:
		return PCTL_OP_SHL;
	case T_SHR:
		return PCTL_OP_SHR;
	case T_EQEQ:
		return PCTL_OP_EQ;
	case T_NE:
		return PCTL_OP_NE;
	case T_LT:
		return PCTL_OP_LT;
	case T_LE:
		return PCTL_OP_LE;
	case T_GT:
		return PCTL_OP_GT;
	default:
		(void)ta;
		return PCTL_OP_GE;
	}
}

static uint32_t splat(struct lower *l, const struct type *vector, uint32_t scalar)
{
	return scalar & VALUE_BODY
		       ? pctl_wgsl_emit1(l, PCTL_OP_SPLAT, vector, scalar)
		       : pctl_wgsl_prelude(l, PCTL_OP_SPLAT, pctl_wgsl_type_id(l, vector),
					   &(struct word){WORD_VALUE, scalar}, 1);
}

/* Column by column; a scalar side is spread over each column. */
static uint32_t by_columns(struct lower *l, uint32_t op, const struct type *t, uint32_t a,
			   const struct type *ta, uint32_t b, const struct type *tb)
{
	struct word columns[4];
	uint32_t i, x = a, y = b;

	if (ta->kind == TY_SCALAR)
		x = splat(l, t->elem, a);
	if (tb->kind == TY_SCALAR)
		y = splat(l, t->elem, b);
	for (i = 0; i < t->columns; i++) {
		uint32_t p = ta->kind == TY_SCALAR ? x : pctl_wgsl_extract(l, a, t->elem, i);
		uint32_t q = tb->kind == TY_SCALAR ? y : pctl_wgsl_extract(l, b, t->elem, i);

		columns[i] = (struct word){WORD_VALUE,
					   pctl_wgsl_emit2(l, opcode(op, ta), t->elem, p, q)};
	}
	return pctl_wgsl_emit(l, PCTL_OP_COMPOSE, pctl_wgsl_type_id(l, t), columns, t->columns);
}

uint32_t pctl_wgsl_lower_operator(struct lower *l, uint32_t op, const struct type *t, uint32_t a,
				  const struct type *ta, uint32_t b, const struct type *tb)
{
	struct compose x = {.c = l->c, .l = l, .way = COMPOSE_CODE};

	if (pctl_wgsl_is_float(pctl_wgsl_scalar_of(ta)))
		return pctl_wgsl_float_operator(&x, op, t, (struct val){.t = ta, .value = a},
						(struct val){.t = tb, .value = b})
			.value;
	if (ta->kind == TY_MATRIX || tb->kind == TY_MATRIX) {
		if (op == T_STAR && ta->kind != TY_SCALAR && tb->kind != TY_SCALAR)
			return pctl_wgsl_emit2(l, PCTL_OP_MATMUL, t, a, b);
		return by_columns(l, op, t, a, ta, b, tb);
	}
	if (ta->kind == TY_SCALAR && tb->kind == TY_VECTOR)
		a = splat(l, tb, a);
	else if (ta->kind == TY_VECTOR && tb->kind == TY_SCALAR)
		b = splat(l, ta, b);
	return pctl_wgsl_emit2(l, opcode(op, ta), t, a, b);
}

/* a && b where computing b could be seen: through a variable and an IF. */
static uint32_t short_circuit(struct lower *l, const struct expr *e)
{
	uint32_t value = pctl_wgsl_lower_value(l, e->a), right;
	struct place p = {.root = pctl_wgsl_new_local(l, "", e->type), .type = e->type};

	pctl_wgsl_at_expr(l, e);
	pctl_wgsl_store(l, &p, value);
	if (e->op == T_OROR)
		value = pctl_wgsl_emit1(l, PCTL_OP_NOT, e->type, value);
	pctl_wgsl_control_value(l, PCTL_OP_IF, value);
	right = pctl_wgsl_lower_value(l, e->b);
	pctl_wgsl_at_expr(l, e);
	pctl_wgsl_store(l, &p, right);
	pctl_wgsl_control(l, PCTL_OP_END_IF);
	return pctl_wgsl_load(l, PCTL_OP_LOAD, e->type, &p);
}

static uint32_t binary(struct lower *l, const struct expr *e)
{
	uint32_t a, b;

	if ((e->op == T_ANDAND || e->op == T_OROR) && !pctl_wgsl_is_pure(l, e->b))
		return short_circuit(l, e);
	a = pctl_wgsl_lower_value(l, e->a);
	b = pctl_wgsl_lower_value(l, e->b);
	pctl_wgsl_at_expr(l, e);
	return pctl_wgsl_lower_operator(l, e->op, e->type, a, e->a->type, b, e->b->type);
}

/* ---- parts of values ---- */

static uint32_t swizzle(struct lower *l, const struct expr *e)
{
	const struct type *t = e->a->type->kind == TY_POINTER ? e->a->type->elem : e->a->type;
	uint32_t whole, i, identity = e->n_args == t->width;
	struct word w[5];
	struct place p;

	if (e->a->type->kind == TY_POINTER) {
		pctl_wgsl_lower_place(l, e->a, &p);
		whole = pctl_wgsl_load(l, PCTL_OP_LOAD, t, &p);
	} else {
		whole = pctl_wgsl_lower_value(l, e->a);
	}
	pctl_wgsl_at_expr(l, e);
	if (e->n_args == 1)
		return pctl_wgsl_extract(l, whole, e->type, e->index & 3);
	w[0] = (struct word){WORD_VALUE, whole};
	for (i = 0; i < e->n_args; i++) {
		w[i + 1] = (struct word){WORD_LITERAL, e->index >> (2 * i) & 3};
		identity &= w[i + 1].v == i;
	}
	return identity ? whole
			: pctl_wgsl_emit(l, PCTL_OP_SHUFFLE, pctl_wgsl_type_id(l, e->type), w,
					 e->n_args + 1);
}

/* Is this a member of an entry point's input struct? Then the input itself. */
static int input_member(struct lower *l, const struct expr *e, uint32_t *out)
{
	const struct expr *a = e->a;

	if (a->kind != EX_NAME || !a->decl || a->decl->kind != DECL_PARAM || !l->fn->is_entry)
		return 0;
	*out = pctl_wgsl_lower_input(l, a->type->structure->at[e->index]->builtin, e->type);
	return 1;
}

static uint32_t member(struct lower *l, const struct expr *e)
{
	uint32_t value;

	if (e->a->type->kind != TY_STRUCT)
		return swizzle(l, e);
	if (input_member(l, e, &value))
		return value;
	value = pctl_wgsl_lower_value(l, e->a);
	pctl_wgsl_at_expr(l, e);
	return pctl_wgsl_extract(l, value, e->type, e->index);
}

/* A composite value indexed while running must lie in memory; what is known at the start of the
 * function is put there once. */
static uint32_t memory_of(struct lower *l, const struct expr *whole, uint32_t value)
{
	struct place p = {.type = whole->type};

	if (!(value & VALUE_BODY))
		return pctl_wgsl_table(l, value, whole->type);
	p.root = pctl_wgsl_new_local(l, "", whole->type);
	pctl_wgsl_store(l, &p, value);
	return p.root;
}

/* Constant tables of whole words need no memory, unless they are too large for LOOKUP. The consensus rules of the first schedule know
 * only copies, and what a shader costs is part of the state. */
static int is_table(const struct lower *l, const struct expr *e)
{
	const uint32_t bits = pctl_scalar_bits(e->type->scalar);

	return e->a->stage == STAGE_CONST && e->a->leaf && e->a->type->kind == TY_ARRAY &&
	       e->type->kind == TY_SCALAR && (bits == 32 || bits == 64) &&
	       e->a->type->count <= PCTL_LOOKUP_WORDS_MAX / (bits / 32) &&
	       e->b->stage != STAGE_CONST && !(l->c->options->flags & PCTL_WGSL_CONSENSUS);
}

static uint32_t lookup(struct lower *l, const struct expr *e)
{
	const uint32_t n = e->a->type->count, wide = pctl_scalar_bits(e->type->scalar) == 64;
	struct word *w = pctl_wgsl_alloc(l->c, (1 + (size_t)n * (1 + wide)) * sizeof(*w));
	uint32_t i, at = 0;

	w[at++] = (struct word){WORD_VALUE, pctl_wgsl_lower_value(l, e->b)};
	for (i = 0; i < n; i++) {
		w[at++] = (struct word){WORD_LITERAL, (uint32_t)e->a->leaf[i]};
		if (wide)
			w[at++] = (struct word){WORD_LITERAL, (uint32_t)(e->a->leaf[i] >> 32)};
	}
	pctl_wgsl_at_expr(l, e);
	return pctl_wgsl_emit(l, PCTL_OP_LOOKUP, pctl_wgsl_type_id(l, e->type), w, at);
}

static uint32_t index_value(struct lower *l, const struct expr *e)
{
	uint32_t whole, index;
	struct place p = {.type = e->a->type};

	if (is_table(l, e))
		return lookup(l, e);
	whole = pctl_wgsl_lower_value(l, e->a);

	if (e->b->stage == STAGE_CONST) {
		pctl_wgsl_at_expr(l, e);
		return pctl_wgsl_extract(l, whole, e->type, (uint32_t)pctl_wgsl_leaf(e->b, 0));
	}
	index = pctl_wgsl_lower_value(l, e->b);
	pctl_wgsl_at_expr(l, e);
	if (e->a->type->kind == TY_VECTOR)
		return pctl_wgsl_emit2(l, PCTL_OP_EXTRACT_DYN, e->type, whole, index);
	p.root = memory_of(l, e->a, whole);
	p = pctl_wgsl_place_step(l, &p, WORD_VALUE, index, e->type);
	return pctl_wgsl_load(l, PCTL_OP_LOAD, e->type, &p);
}

/* ---- names ---- */

static uint32_t entry_input(struct lower *l, const struct decl *d)
{
	uint32_t i, is_early = 1;
	const struct structure *s;
	struct word *parts;

	if (d->builtin)
		return pctl_wgsl_lower_input(l, d->builtin, d->type);
	s = d->type->structure;
	parts = pctl_wgsl_alloc(l->c, s->n_members * sizeof(*parts));
	for (i = 0; i < s->n_members; i++) {
		parts[i] = (struct word){
			WORD_VALUE, pctl_wgsl_lower_input(l, s->at[i]->builtin, s->at[i]->type)};
		is_early &= !(parts[i].v & VALUE_BODY);
	}
	if (!is_early)
		return pctl_wgsl_emit(l, PCTL_OP_COMPOSE, pctl_wgsl_type_id(l, d->type), parts,
				      s->n_members);
	return pctl_wgsl_prelude(l, PCTL_OP_COMPOSE, pctl_wgsl_type_id(l, d->type), parts,
				 s->n_members);
}

static uint32_t name(struct lower *l, const struct expr *e)
{
	const struct decl *d = e->decl;
	struct word w;

	if (d->kind == DECL_OVERRIDE) {
		w = (struct word){WORD_LITERAL, d->index};
		return pctl_wgsl_prelude(l, PCTL_OP_OVERRIDE, pctl_wgsl_type_id(l, d->type), &w, 1);
	}
	if (d->kind == DECL_PARAM && l->fn->is_entry)
		return entry_input(l, d);
	return d->value;
}

/* ---- places ---- */

static void lower_place(struct lower *l, const struct expr *e, struct place *out)
{
	const struct decl *d = e->decl;
	const struct type *base;
	uint32_t value;

	switch (e->kind) {
	case EX_NAME:
		if (d->kind == DECL_VAR)
			*out = (struct place){.root = d->index, .type = d->type};
		else
			*out = *d->place;
		return;
	case EX_ADDRESS:
	case EX_DEREF:
		pctl_wgsl_lower_place(l, e->a, out);
		return;
	case EX_MEMBER:
		pctl_wgsl_lower_place(l, e->a, out);
		base = e->a->type->kind == TY_POINTER ? e->a->type->elem : e->a->type;
		if (base->kind == TY_STRUCT)
			*out = pctl_wgsl_place_step(l, out, WORD_LITERAL, e->index, e->type);
		else
			*out = pctl_wgsl_place_step(
				l, out, WORD_VALUE,
				pctl_wgsl_const(l, PCTL_SCALAR_U32, e->index & 3), e->type);
		return;
	default: /* EX_INDEX */
		pctl_wgsl_lower_place(l, e->a, out);
		value = pctl_wgsl_lower_value(l, e->b);
		*out = pctl_wgsl_place_step(l, out, WORD_VALUE, value, e->type);
	}
}

void pctl_wgsl_lower_place(struct lower *l, const struct expr *e, struct place *out)
{
	pctl_wgsl_step_in(l);
	lower_place(l, e, out);
	l->c->nesting--;
}

static uint32_t lower_value(struct lower *l, const struct expr *e)
{
	struct compose x = {.c = l->c, .l = l, .way = COMPOSE_CODE};
	struct place p;
	uint32_t value;

	pctl_wgsl_at_expr(l, e);
	if (e->stage == STAGE_CONST)
		return pctl_wgsl_const_value(l, e->type, e->leaf);
	if (e->type->kind == TY_POINTER) { /* dropped by `_ =` */
		pctl_wgsl_lower_place(l, e, &p);
		return VALUE_NONE;
	}
	if (e->ref) {
		pctl_wgsl_lower_place(l, e, &p);
		pctl_wgsl_at_expr(l, e);
		return pctl_wgsl_load(l, PCTL_OP_LOAD, e->type, &p);
	}
	switch (e->kind) {
	case EX_NAME:
		return name(l, e);
	case EX_CALL:
		return pctl_wgsl_lower_call(l, e);
	case EX_MEMBER:
		return member(l, e);
	case EX_INDEX:
		return index_value(l, e);
	case EX_UNARY:
		value = pctl_wgsl_lower_value(l, e->a);
		pctl_wgsl_at_expr(l, e);
		if (pctl_wgsl_is_float(e->type->scalar))
			return pctl_wgsl_op1(&x, PCTL_OP_FNEG,
					     (struct val){.t = e->type, .value = value})
				.value;
		return pctl_wgsl_emit1(l, e->op == T_MINUS ? PCTL_OP_NEG : PCTL_OP_NOT, e->type,
				       value);
	default:
		return binary(l, e);
	}
}

uint32_t pctl_wgsl_lower_value(struct lower *l, const struct expr *e)
{
	uint32_t value;

	pctl_wgsl_step_in(l);
	value = lower_value(l, e);
	l->c->nesting--;
	return value;
}
