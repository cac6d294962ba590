/* The twelve named laws, said in the grammar of custom ones. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/graph/type.h"
#include "compiler/eval/float.h"
#include "evidence/proof/domain.h"
#include "evidence/proof/law_private.h"

const char *pctl_law_kind_name(uint32_t law)
{
	static const char *const names[] = {
		"none",	      "commutative", "associative",  "identity",   "self-inverse",
		"idempotent", "absorbing",   "distributive", "involution", "monotone",
		"bounded",    "De Morgan",   "complement",   "custom"};

	return names[law <= PCTL_LAW_CUSTOM ? law : 0];
}

static int is_float(uint32_t dtype)
{
	return dtype < 32 && pctl_float_is((uint8_t)dtype);
}

/* A constant as a literal of dtype. */
static const char *constant(uint64_t value, uint32_t dtype, char out[48])
{
	const uint32_t bytes = pctl_dtype_bytes(dtype);
	const int64_t number = (int64_t)value;
	const int is_signed = dtype == PCTL_SCALAR_I32 || dtype == PCTL_SCALAR_I64;

	if (is_float(dtype))
		snprintf(out, 48, "0x%0*" PRIx32, (int)(2 * bytes),
			 pctl_proof_from_f32((uint32_t)value, dtype));
	else if (number >= 0 && number < 10000)
		snprintf(out, 48, "%" PRId64, number);
	else if (is_signed && number < 0 && number > -10000)
		snprintf(out, 48, "%" PRId64, number);
	else if (bytes == 16)
		snprintf(out, 48, "0x%016" PRIx64 "%016" PRIx64, number < 0 ? UINT64_MAX : 0,
			 value);
	else
		snprintf(out, 48, "0x%0*" PRIx64, (int)(2 * bytes),
			 bytes == 8 ? value : value & ((UINT64_C(1) << (8 * bytes)) - 1));
	return out;
}

/* An op's name without the library that own is in. */
static const char *short_name(const char *name, const char *own)
{
	const size_t n = strcspn(own, ".") + 1;

	return own[n - 1] == '.' && strncmp(name, own, n) == 0 ? name + n : name;
}

struct saying {
	pctl_law_said *out;
	const pctl_op_function *f;
	const char *own; /* short name of f */
	uint32_t n;
};

static void say(struct saying *s, const char *name, const char *fmt, ...) PCTL_PRINTF(3, 4);
static void say(struct saying *s, const char *name, const char *fmt, ...)
{
	pctl_law_said *said = &s->out[s->n++];
	va_list args;

	snprintf(said->name, sizeof(said->name), "%s", name);
	va_start(args, fmt);
	vsnprintf(said->text, sizeof(said->text), fmt, args);
	va_end(args);
}

/* "f(a)", "f(a, b)", "f(a, b, c)". */
static const char *applied(const char *name, uint32_t n_in, char out[128])
{
	static const char *const operands[] = {"", "a", "a, b", "a, b, c"};

	snprintf(out, 128, "%.100s(%s)", name, operands[n_in <= 3 ? n_in : 3]);
	return out;
}

/* Guard of results or operands that are numbers; nothing where there is no NaN. */
static const char *numbers(uint32_t dtype, const char *what, char out[300])
{
	if (is_float(dtype))
		snprintf(out, 300, "number %s: ", what);
	else
		out[0] = '\0';
	return out;
}

static void two_operands(struct saying *s, const pctl_law *law, const char *other)
{
	const uint32_t dtype = s->f->dtype, out_dtype = s->f->out_dtype;
	const char *f = s->own;
	char k[48], r[48], guard[300], name[96];

	switch (law->law) {
	case PCTL_LAW_COMMUTATIVE:
		say(s, "commutative", "%s(a, b) = %s(b, a)", f, f);
		break;
	case PCTL_LAW_ASSOCIATIVE:
		say(s, "associative", "%s(%s(a, b), c) = %s(a, %s(b, c))", f, f, f, f);
		break;
	case PCTL_LAW_IDENTITY:
		constant(law->a, dtype, k);
		numbers(dtype, "a", guard);
		say(s, "identity on the right", "%s%s(a, %s) = a", guard, f, k);
		say(s, "identity on the left", "%s%s(%s, a) = a", guard, f, k);
		break;
	case PCTL_LAW_SELF_INVERSE:
		say(s, "self-inverse", "%s(a, a) = %s", f, constant(law->a, out_dtype, k));
		break;
	case PCTL_LAW_IDEMPOTENT:
		say(s, "idempotent", "%s%s(a, a) = a", numbers(dtype, "a", guard), f);
		break;
	case PCTL_LAW_ABSORBING:
		constant(law->a, dtype, k);
		constant(law->a, out_dtype, r);
		numbers(dtype, "a", guard);
		say(s, "absorbing on the right", "%s%s(a, %s) = %s", guard, f, k, r);
		say(s, "absorbing on the left", "%s%s(%s, a) = %s", guard, f, k, r);
		break;
	default:
		snprintf(name, sizeof(name), "distributive over %s", other);
		say(s, name, "%s(a, %s(b, c)) = %s(%s(a, b), %s(a, c))", f, other, other, f, f);
		break;
	}
}

static void any_operands(struct saying *s, const pctl_law *law, const char *other, const char *dual)
{
	const uint32_t out_dtype = s->f->out_dtype;
	const char *f = s->own;
	char k[48], mine[128], theirs[128], guard[300], name[96];

	applied(f, s->f->n_in, mine);
	switch (law->law) {
	case PCTL_LAW_IDEMPOTENT:
		say(s, "idempotent", "%s(%s(a)) = %s(a)", f, f, f);
		break;
	case PCTL_LAW_INVOLUTION:
		say(s, "involution", "%s(%s(a)) = a", f, f);
		break;
	case PCTL_LAW_MONOTONE:
		if (is_float(out_dtype))
			say(s, "monotone", "a <= b, number %s(a), number %s(b): %s(a) <= %s(b)", f,
			    f, f, f);
		else
			say(s, "monotone", "a <= b: %s(a) <= %s(b)", f, f);
		break;
	case PCTL_LAW_BOUNDED:
		numbers(out_dtype, mine, guard);
		say(s, "bounded from below", "%s%s >= %s", guard, mine,
		    constant(law->a, out_dtype, k));
		say(s, "bounded from above", "%s%s <= %s", guard, mine,
		    constant(law->b, out_dtype, k));
		break;
	case PCTL_LAW_DE_MORGAN:
		snprintf(name, sizeof(name), "De Morgan of %.36s and %.36s", other, dual);
		say(s, name, "%s(%s(a, b)) = %s(%s(a), %s(b))", f, other, dual, f, f);
		break;
	default:
		snprintf(name, sizeof(name), "complement of %.80s", other);
		say(s, name, "int.add(%s, %s) = %s", mine, applied(other, s->f->n_in, theirs),
		    constant(law->a, out_dtype, k));
		break;
	}
}

/* What a law wants: operands from .. to, a result of their dtype, other ops. */
struct shape {
	uint32_t from, to, closed, others;
};

static const struct shape shapes[PCTL_LAW_CUSTOM] = {
	[PCTL_LAW_COMMUTATIVE] = {2, 2, 0, 0},	     [PCTL_LAW_ASSOCIATIVE] = {2, 2, 1, 0},
	[PCTL_LAW_IDENTITY] = {2, 2, 1, 0},	     [PCTL_LAW_SELF_INVERSE] = {2, 2, 0, 0},
	[PCTL_LAW_IDEMPOTENT] = {1, 2, 1, 0},	     [PCTL_LAW_ABSORBING] = {2, 2, 0, 0},
	[PCTL_LAW_DISTRIBUTIVE_OVER] = {2, 2, 1, 1}, [PCTL_LAW_INVOLUTION] = {1, 1, 1, 0},
	[PCTL_LAW_MONOTONE] = {1, 1, 0, 0},	     [PCTL_LAW_BOUNDED] = {1, 3, 0, 0},
	[PCTL_LAW_DE_MORGAN] = {1, 1, 0, 2},	     [PCTL_LAW_COMPLEMENT] = {1, 3, 0, 1},
};

uint32_t pctl_law_say(const pctl_law *law, const pctl_op_function *f, pctl_law_said out[2],
		      const char **why)
{
	const char *full = f->op.desc->name;
	struct saying s = {out, f, short_name(full, full), 0};
	const struct shape *shape;

	*why = NULL;
	if (law->law == 0 || law->law >= PCTL_LAW_CUSTOM) {
		*why = "is not a known law";
		return 0;
	}
	shape = &shapes[law->law];
	if (f->n_in < shape->from || f->n_in > shape->to)
		*why = "is a law of another number of operands";
	else if ((shape->others >= 1 && law->other == NULL) ||
		 (shape->others >= 2 && law->dual == NULL))
		*why = "needs the name of another op";
	else if (shape->closed && f->out_dtype != f->dtype &&
		 f->op.lib->function(f->op.inst, f->op.index, f->out_dtype) == NULL)
		*why = "needs a result of the operands' type";
	if (*why != NULL)
		return 0;
	/* A truth value of u64 operands: the law is one of the u32 form. */
	if (shape->closed && f->out_dtype != f->dtype)
		return 0;
	if (shape->from == 2 || (law->law == PCTL_LAW_IDEMPOTENT && f->n_in == 2))
		two_operands(&s, law, shape->others >= 1 ? short_name(law->other, full) : NULL);
	else
		any_operands(&s, law, shape->others >= 1 ? short_name(law->other, full) : NULL,
			     shape->others >= 2 ? short_name(law->dual, full) : NULL);
	return s.n;
}
