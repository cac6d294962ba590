/* Which form each strict operation takes on a device, by softfloat.def and the profile; and the words of a
 * refusal when there is none. */
#include "compiler/legalize/legal_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	uint16_t op;
	uint8_t result, operand;
} natives[] = {
#define PCTL_NATIVE(NAME, op, result, operand) \
	{#NAME, PCTL_OP_##op, PCTL_SCALAR_##result, PCTL_SCALAR_##operand},
#include "compiler/legalize/natives.def"
#undef PCTL_NATIVE
};

static const legal_row rows[] = {
#define LEGAL_FORM(op, scalar, kind, function, needs) \
	{PCTL_OP_F##op, 0, PCTL_SCALAR_##scalar, PCTL_FORM_##kind, function, #needs},
#define LEGAL_CONVERT(result, operand, kind, function, needs) \
	{PCTL_OP_FCONVERT,                                    \
	 PCTL_SCALAR_##result,                                \
	 PCTL_SCALAR_##operand,                               \
	 PCTL_FORM_##kind,                                    \
	 function,                                            \
	 #needs},
#include "compiler/legalize/softfloat.def"
};

/* The row of a native operation that softfloat.def does not admit as such: in class approximate, and
 * where no subnormal can come near. */
static const legal_row native_row = {.kind = PCTL_FORM_NATIVE};

/* The first stands for a table that is empty. */
static const struct {
	const char *function, *better;
} aliases[] = {
	{"", ""},
#define LEGAL_ALIAS(function, better, needs) {function, better},
#include "compiler/legalize/softfloat.def"
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))
#define N_ALIASES (sizeof(aliases) / sizeof(aliases[0]))

struct legal_chooser {
	pctl_profile profile; /* no more than the device's capabilities allow */
	uint32_t flags;
	uint32_t has_f64;
	uint8_t is_admitted[N_ROWS];
	uint8_t is_replaced[N_ALIASES];
	uint32_t function[N_ROWS];
	uint32_t from[N_ALIASES], to[N_ALIASES];
};

static uint64_t cap_of(uint8_t scalar)
{
	switch (scalar) {
	case PCTL_SCALAR_F16:
		return PCTL_CAP_F16;
	case PCTL_SCALAR_F32:
		return PCTL_CAP_F32;
	case PCTL_SCALAR_F64:
		return PCTL_CAP_F64;
	default:
		return 0;
	}
}

static void bound_profile(legal_chooser *c, const pctl_profile *profile, uint64_t caps)
{
	for (uint32_t i = 0; profile && i < PCTL_N_NATIVE; i++) {
		const uint64_t needs = cap_of(natives[i].result) | cap_of(natives[i].operand) |
				       PCTL_CAP_NATIVE_FLOAT;

		if (!(needs & ~caps))
			c->profile.native[i] = profile->native[i];
	}
}

/* What every form in f64 may be made of. */
static int has_f64(const pctl_profile *p)
{
	static const uint8_t needed[] = {
		PCTL_NATIVE_F64_ADD,  PCTL_NATIVE_F64_SUB, PCTL_NATIVE_F64_MUL, PCTL_NATIVE_F64_DIV,
		PCTL_NATIVE_F64_SQRT, PCTL_NATIVE_F64_EQ,  PCTL_NATIVE_F64_LT,	PCTL_NATIVE_F64_LE};

	for (size_t i = 0; i < sizeof(needed); i++)
		if (p->native[needed[i]] != PCTL_NATIVE_EXACT)
			return 0;
	return 1;
}

static void admit(legal_chooser *c)
{
	const pctl_profile *p = &c->profile;
	uint32_t row = 0, alias = 1;

#define NOTHING 1
#define SOFT64 (!c->has_f64)
#define EXACT(NAME) (p->native[PCTL_NATIVE_##NAME] >= PCTL_NATIVE_EXACT)
#define NORMAL(NAME) (p->native[PCTL_NATIVE_##NAME] >= PCTL_NATIVE_NORMAL)
#define LEGAL_FORM(op, scalar, kind, function, needs) c->is_admitted[row++] = (needs);
#define LEGAL_CONVERT(result, operand, kind, function, needs) c->is_admitted[row++] = (needs);
#define LEGAL_ALIAS(function, better, needs) c->is_replaced[alias++] = (needs);
#include "compiler/legalize/softfloat.def"
#undef NOTHING
#undef SOFT64
#undef EXACT
#undef NORMAL
	(void)p;
	(void)row;
	(void)alias;
}

static int may_be_raw(uint8_t scalar)
{
	return scalar == PCTL_SCALAR_F32 || scalar == PCTL_SCALAR_F64;
}

/* A conversion that can be native: not to integers, for NCONVERT answers in range only; a 16-bit float is never a native
 * value here. */
static int is_native_conversion(uint8_t result, uint8_t operand)
{
	return may_be_raw(result) && (operand == PCTL_SCALAR_I32 || operand == PCTL_SCALAR_U32 ||
				      (may_be_raw(operand) && operand != result));
}

/* Native rows are over f32 and f64. */
static int is_usable(const legal_row *r)
{
	if (r->kind != PCTL_FORM_NATIVE)
		return 1;
	if (r->op == PCTL_OP_FCONVERT)
		return is_native_conversion(r->result, r->operand);
	return may_be_raw(r->operand);
}

pctl_status legal_chooser_create(const pctl_profile *profile, const pctl_device_caps *caps,
				 uint32_t flags, const pctl_program *module, const pctl_call *call,
				 legal_chooser **out)
{
	legal_chooser *c = calloc(1, sizeof(*c));

	*out = c;
	if (!c)
		return pctl_refuse(call, PC2_NOMEM, "legalising a program");
	c->flags = caps->caps & PCTL_CAP_NATIVE_FLOAT ? flags : flags & ~PCTL_LEGAL_NATIVE;
	bound_profile(c, profile, caps->caps);
	c->has_f64 = (uint32_t)has_f64(&c->profile);
	admit(c);
	for (uint32_t i = 0; i < N_ROWS; i++) {
		if (!is_usable(&rows[i]))
			c->is_admitted[i] = 0;
		if (rows[i].function)
			c->function[i] = module ? legal_find_function(module, rows[i].function)
						: legal_softfloat_have(rows[i].function);
	}
	for (uint32_t i = 1; module && i < N_ALIASES; i++) {
		c->from[i] = legal_find_function(module, aliases[i].function);
		c->to[i] = legal_find_function(module, aliases[i].better);
	}
	return PCTL_OK;
}

void legal_chooser_destroy(legal_chooser *c)
{
	free(c);
}

const legal_row *legal_row_at(uint32_t row)
{
	return row < N_ROWS ? &rows[row] : row == N_ROWS ? &native_row : NULL;
}

uint32_t legal_n_rows(void)
{
	return N_ROWS;
}

uint32_t legal_row_function(const legal_chooser *c, uint32_t row)
{
	return row < N_ROWS ? c->function[row] : 0;
}

uint32_t legal_alias(const legal_chooser *c, uint32_t f)
{
	for (uint32_t i = 1; i < N_ALIASES; i++)
		if (c->is_replaced[i] && c->to[i] && c->from[i] == f)
			return c->to[i];
	return f;
}

int legal_is_approximate(const legal_chooser *c)
{
	return (c->flags & PCTL_LEGAL_NATIVE) != 0;
}

/* ---- choice ------------------------------------------------------------------------------- */

static uint32_t find_native(uint16_t op, uint8_t result, uint8_t operand)
{
	uint32_t i = 0;

	while (i < PCTL_N_NATIVE && (natives[i].op != op || natives[i].result != result ||
				     natives[i].operand != operand))
		i++;
	return i;
}

static int is_comparison(uint16_t op)
{
	return op >= PCTL_OP_NEQ && op <= PCTL_OP_NGE;
}

/* The native operation for a strict one; PCTL_N_NATIVE: natives.def has none, or it is none to use. */
static uint32_t native_of(uint16_t op, uint8_t result, uint8_t operand)
{
	const uint16_t native = PCTL_NATIVE_OF(op);

	if (op == PCTL_OP_FCONVERT ? !is_native_conversion(result, operand) : !may_be_raw(operand))
		return PCTL_N_NATIVE;
	if (is_comparison(native))
		result = PCTL_SCALAR_BOOL;
	else if (op != PCTL_OP_FCONVERT)
		result = operand;
	return find_native(native, result, operand);
}

/* Has the device it natively, exact or not? The vendor's own functions are not probed: where there
 * are native floats at all, they are there, those that have an opcode. */
static int has_native(const legal_chooser *c, uint16_t op, uint8_t result, uint8_t operand)
{
	const uint32_t i = native_of(op, result, operand);

	if (i < PCTL_N_NATIVE)
		return c->profile.native[i] != PCTL_NATIVE_ABSENT;
	return op >= PCTL_OP_FSIN && pctl_op_get(PCTL_NATIVE_OF(op))->name != NULL &&
	       operand == PCTL_SCALAR_F32 &&
	       c->profile.native[PCTL_NATIVE_F32_ADD] != PCTL_NATIVE_ABSENT;
}

uint32_t legal_choose_subnormal_free(const legal_chooser *c, uint16_t op, uint8_t result,
				     uint8_t operand)
{
	const uint32_t i = native_of(op, result, operand);

	/* Nothing is known of the exponents of f64. */
	if (operand == PCTL_SCALAR_F64 || (op == PCTL_OP_FCONVERT && result == PCTL_SCALAR_F64))
		return LEGAL_NO_ROW;
	return i < PCTL_N_NATIVE && c->profile.native[i] >= PCTL_NATIVE_NORMAL ? N_ROWS
									       : LEGAL_NO_ROW;
}

uint32_t legal_choose_unfused(const legal_chooser *c)
{
	return c->profile.native[PCTL_NATIVE_F64_MUL] >= PCTL_NATIVE_EXACT &&
			       c->profile.native[PCTL_NATIVE_F64_ADD] >= PCTL_NATIVE_EXACT
		       ? N_ROWS
		       : LEGAL_NO_ROW;
}

static int is_row_of(const legal_row *r, uint16_t op, uint8_t result, uint8_t operand)
{
	return r->op == op && r->operand == operand &&
	       (op != PCTL_OP_FCONVERT || r->result == result);
}

static uint32_t first_open(const legal_chooser *c, uint16_t op, uint8_t result, uint8_t operand)
{
	if (legal_is_approximate(c) && has_native(c, op, result, operand))
		return N_ROWS;
	for (uint32_t i = 0; i < N_ROWS; i++)
		if (c->is_admitted[i] && is_row_of(&rows[i], op, result, operand) &&
		    (c->function[i] || rows[i].kind == PCTL_FORM_NATIVE))
			return i;
	return LEGAL_NO_ROW;
}

uint32_t legal_choose(const legal_chooser *c, uint16_t op, uint8_t result, uint8_t operand,
		      uint32_t *how)
{
	const uint32_t row = first_open(c, op, result, operand);

	*how = LEGAL_AS_IS;
	if (row != LEGAL_NO_ROW)
		return row;
	switch (op) {
	case PCTL_OP_FGT:
		*how = LEGAL_SWAPPED;
		return first_open(c, PCTL_OP_FLT, result, operand);
	case PCTL_OP_FGE:
		*how = LEGAL_SWAPPED;
		return first_open(c, PCTL_OP_FLE, result, operand);
	case PCTL_OP_FNE:
		*how = LEGAL_NEGATED;
		return first_open(c, PCTL_OP_FEQ, result, operand);
	default:
		return LEGAL_NO_ROW;
	}
}

/* Conversions that are not exact are met only in forms that keep subnormals from them (widen_guarded, widen_normal_native, ..). */
static uint8_t least_f64(uint32_t row)
{
	return row == PCTL_NATIVE_F32_TO_F64 || row == PCTL_NATIVE_F64_TO_F32 ? PCTL_NATIVE_NORMAL
									      : PCTL_NATIVE_EXACT;
}

int legal_f64_is_exact(const legal_chooser *c, const pctl_program *p)
{
	for (uint32_t f = 1; f < p->n_functions; f++) {
		const pctl_function *fn = &p->functions[f];

		for (uint32_t i = 0; i < fn->n_insts; i++) {
			const pctl_inst *in = &p->insts[fn->first_inst + i];
			uint8_t result, operand;
			uint32_t row;

			if (!PCTL_IS_NATIVE(in->op))
				continue;
			result = p->types[in->type].scalar;
			operand = p->types[pctl_value_type(p, fn, pctl_arg(p, in, 0))].scalar;
			if (result != PCTL_SCALAR_F64 && operand != PCTL_SCALAR_F64)
				continue;
			row = find_native(in->op, result, operand);
			if (row == PCTL_N_NATIVE || c->profile.native[row] < least_f64(row))
				return 0;
		}
	}
	return 1;
}

/* ---- asking from outside ------------------------------------------------------------------ */

static const char *ask(const pctl_profile *profile, const pctl_device_caps *caps, uint16_t op,
		       uint8_t result, uint8_t operand, uint32_t *kind)
{
	const char *name = NULL;
	legal_chooser *c;
	uint32_t row, how;

	*kind = PCTL_FORM_NONE;
	if (op == PCTL_OP_FNEG || op == PCTL_OP_FABS) {
		*kind = PCTL_FORM_INT;
		return "bits";
	}
	if (legal_chooser_create(profile, caps, 0, NULL, NULL, &c) != PCTL_OK)
		return NULL;
	row = legal_choose(c, op, result, operand, &how);
	if (row != LEGAL_NO_ROW) {
		*kind = rows[row].kind;
		if (*kind == PCTL_FORM_F64 && !c->has_f64)
			*kind = PCTL_FORM_INT;
		name = rows[row].kind == PCTL_FORM_NATIVE ? "native" : rows[row].function;
	}
	legal_chooser_destroy(c);
	return name;
}

const char *pctl_legal_form(const pctl_profile *profile, const pctl_device_caps *caps, uint16_t op,
			    uint8_t scalar, uint32_t *kind)
{
	return ask(profile, caps, op, scalar, scalar, kind);
}

int pctl_legal_has_f32(const pctl_profile *profile, const pctl_device_caps *caps)
{
	legal_chooser c = {.has_f64 = 0};

	bound_profile(&c, profile, caps->caps);
	return c.profile.native[PCTL_NATIVE_F32_ADD] == PCTL_NATIVE_EXACT &&
	       c.profile.native[PCTL_NATIVE_F32_MUL] == PCTL_NATIVE_EXACT;
}

int pctl_legal_has_f64(const pctl_profile *profile, const pctl_device_caps *caps, int *has_fma)
{
	static const uint8_t needed[] = {PCTL_NATIVE_F64_ADD, PCTL_NATIVE_F64_SUB,
					 PCTL_NATIVE_F64_MUL, PCTL_NATIVE_F64_EQ,
					 PCTL_NATIVE_F64_LT,  PCTL_NATIVE_F64_LE};
	legal_chooser c = {.has_f64 = 0};
	int has = 1;

	bound_profile(&c, profile, caps->caps);
	*has_fma = c.profile.native[PCTL_NATIVE_F64_FMA] == PCTL_NATIVE_EXACT;
	for (size_t i = 0; i < sizeof(needed); i++)
		has = has && c.profile.native[needed[i]] == PCTL_NATIVE_EXACT;
	return has && c.profile.native[PCTL_NATIVE_F32_TO_F64] >= PCTL_NATIVE_NORMAL &&
	       c.profile.native[PCTL_NATIVE_F64_TO_F32] >= PCTL_NATIVE_NORMAL;
}

/* ---- refusing ----------------------------------------------------------------------------- */

typedef struct text {
	char s[600];
	size_t n;
} text;

static void add(text *t, const char *a, const char *b, const char *c)
{
	const int n = snprintf(t->s + t->n, sizeof(t->s) - t->n, "%s%s%s", a, b, c);

	if (n > 0)
		t->n = t->n + (size_t)n < sizeof(t->s) ? t->n + (size_t)n : sizeof(t->s) - 1;
}

/* Each verdict that `needs` asks for and the device has not. */
static void add_lacks(const legal_chooser *c, const char *needs, text *t)
{
	static const char *const verdicts[] = {"absent", "wrong", "exact on normal numbers only",
					       "exact"};
	const char *separator = " needs ";

	for (uint32_t i = 0; i < PCTL_N_NATIVE; i++) {
		char exact[32], normal[32];
		uint8_t least = 0;

		snprintf(exact, sizeof(exact), "EXACT(%s)", natives[i].name);
		snprintf(normal, sizeof(normal), "NORMAL(%s)", natives[i].name);
		if (strstr(needs, normal))
			least = PCTL_NATIVE_NORMAL;
		if (strstr(needs, exact))
			least = PCTL_NATIVE_EXACT;
		if (c->profile.native[i] >= least)
			continue;
		add(t, separator, natives[i].name, ", which is ");
		add(t, verdicts[c->profile.native[i] & 3u], "", "");
		separator = " and ";
	}
}

pctl_status legal_refuse_operation(const legal *l, uint32_t v, const pctl_inst *in)
{
	const uint8_t result = l->p->types[in->type].scalar;
	const uint8_t operand =
		l->p->types[pctl_value_type(l->p, l->fn, pctl_arg(l->p, in, 0))].scalar;
	const pctl_pos pos = legal_position(l, v);
	text t = {.n = 0};
	char name[32];
	size_t n = 0;

	for (const char *s = pctl_op_get(in->op)->name + 1; *s && n + 1 < sizeof(name); s++)
		name[n++] = (char)tolower((unsigned char)*s);
	name[n] = 0;
	for (uint32_t i = 0; i < N_ROWS; i++) {
		if (!is_row_of(&rows[i], in->op, result, operand))
			continue;
		add(&t, t.n ? "; " : ": ",
		    rows[i].kind == PCTL_FORM_NATIVE ? "native" : rows[i].function, "");
		if (!l->chooser->is_admitted[i])
			add_lacks(l->chooser, rows[i].needs, &t);
		else
			add(&t, " is not written yet", "", "");
	}
	if (in->op == PCTL_OP_FCONVERT)
		return pctl_refuse_at(
			l->call, PC2504_LEGAL_OPERATION, &pos, NULL,
			"the conversion of %s to %s cannot be made exact on this device%s",
			pctl_scalar_name(operand), pctl_scalar_name(result),
			t.n ? t.s : ": no form is known");
	return pctl_refuse_at(l->call, PC2504_LEGAL_OPERATION, &pos, NULL,
			      "%s of %s cannot be made exact on this device%s", name,
			      pctl_scalar_name(operand), t.n ? t.s : ": no form is known");
}
