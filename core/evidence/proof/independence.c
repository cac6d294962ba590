/* The independence gate: a test must be able to fail. Laws are judged by what they say (a law whose sides are one term, or
 * that never asks the op, says nothing) and by what they do (every law must be broken by a wrong op); alternates must be
 * other programs; the oracle must not copy what it finds in its output. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/proof/gates.h"
#include "evidence/proof/random.h"

#define TUPLES 16384u	  /* of a law, spread over its domain */
#define TUPLES_FLOAT 768u /* references of floats take their time */
#define PIECE 256u

/* ---- wrong ops -------------------------------------------------------------------------------- */

/* What a wrong op does to the right answer. */
enum {
	MUTANT_FLIPPED, /* xor 1 everywhere */
	MUTANT_ONCE,	/* xor 1 where the first operand is 1 */
	MUTANT_ZERO,	/* 0 everywhere */
	MUTANT_FIRST,	/* the first operand */
	MUTANT_SWAPPED, /* operands in the other order */
	MUTANT_LARGE,	/* one more where the first operand is large */
	MUTANTS
};
static const char *const mutant_names[MUTANTS] = {"flip", "once", "zero", "first", "swap", "large"};

typedef struct mutant {
	pctl_evaluator evaluator;
	pctl_evaluator *right;
	const pctl_op_ref *op;
	uint32_t kind;
	uint64_t changed; /* answers that differ from the right ones */
} mutant;

/* Large: of integers the upper half of what 8 bits hold (below zero, too); of floats above 1 in magnitude. */
static int is_large(uint32_t dtype, const uint8_t *x)
{
	switch (dtype) {
	case PCTL_SCALAR_F32:
		return (x[3] & 0x7f) >= 0x40;
	case PCTL_SCALAR_F16:
	case PCTL_SCALAR_BF16:
		return (x[1] & 0x7f) >= 0x40;
	default:
		return x[0] >= 200;
	}
}

static int is_one(const uint8_t *x, uint64_t bytes)
{
	for (uint64_t k = 1; k < bytes; k++)
		if (x[k] != 0)
			return 0;
	return x[0] == 1;
}

static void corrupt(const mutant *m, const pctl_op_function *f, const pctl_column *in, uint64_t i,
		    uint8_t *y)
{
	const uint64_t from = pctl_proof_dtype_bytes(f->dtype),
		       to = pctl_proof_dtype_bytes(f->out_dtype);
	const uint8_t *x = in[0].data + i * from;

	switch (m->kind) {
	case MUTANT_FLIPPED:
		y[0] ^= 1;
		break;
	case MUTANT_ONCE:
		y[0] = (uint8_t)(y[0] ^ is_one(x, from));
		break;
	case MUTANT_ZERO:
		memset(y, 0, to);
		break;
	case MUTANT_FIRST:
		memset(y, 0, to);
		memcpy(y, x, from < to ? from : to);
		break;
	case MUTANT_LARGE:
		y[0] = (uint8_t)(y[0] + is_large(f->dtype, x));
		break;
	default:
		break;
	}
}

static pctl_status apply(void *ctx, const pctl_op_function *f, const pctl_column *in, uint64_t n,
			 pctl_column *out, const pctl_call *call)
{
	mutant *m = ctx;
	const uint64_t bytes = pctl_proof_dtype_bytes(f->out_dtype);
	pctl_column other[4];
	pctl_status status;
	uint8_t *right;

	if (f->op.lib != m->op->lib || f->op.inst != m->op->inst || f->op.index != m->op->index)
		return m->right->apply(m->right->ctx, f, in, n, out, call);
	status = m->right->apply(m->right->ctx, f, in, n, out, call);
	right = malloc(n * bytes + 1);
	if (right == NULL)
		return pctl_no_memory(call, "a gate");
	memcpy(right, out->data, n * bytes);
	if (status == PCTL_OK && m->kind == MUTANT_SWAPPED && f->n_in > 1) {
		memcpy(other, in, f->n_in * sizeof(*in));
		other[0] = in[1];
		other[1] = in[0];
		status = m->right->apply(m->right->ctx, f, other, n, out, call);
	}
	for (uint64_t i = 0; status == PCTL_OK && i < n; i++) {
		corrupt(m, f, in, i, out->data + i * bytes);
		m->changed += memcmp(right + i * bytes, out->data + i * bytes, bytes) != 0;
	}
	free(right);
	return status;
}

/* ---- what a law says -------------------------------------------------------------------------- */

static int same_term(const pctl_law_term *a, const pctl_law_term *b)
{
	if (a->kind != b->kind || a->dtype != b->dtype)
		return 0;
	if (a->kind == PCTL_LAW_TERM_VAR)
		return a->var == b->var;
	if (a->kind == PCTL_LAW_TERM_CONST)
		return a->bits[0] == b->bits[0] && a->bits[1] == b->bits[1];
	if (a->fn.op.lib != b->fn.op.lib || a->fn.op.inst != b->fn.op.inst ||
	    a->fn.op.index != b->fn.op.index || a->fn.dtype != b->fn.dtype ||
	    a->fn.n_in != b->fn.n_in)
		return 0;
	for (uint32_t i = 0; i < a->fn.n_in; i++)
		if (!same_term(a->args[i], b->args[i]))
			return 0;
	return 1;
}

static int calls(const pctl_law_term *t, const pctl_op_ref *op)
{
	if (t == NULL || t->kind != PCTL_LAW_TERM_CALL)
		return 0;
	if (t->fn.op.lib == op->lib && t->fn.op.inst == op->inst && t->fn.op.index == op->index)
		return 1;
	for (uint32_t i = 0; i < t->fn.n_in; i++)
		if (calls(t->args[i], op))
			return 1;
	return 0;
}

static const char *structural_fault(const pctl_law_equation *l, const pctl_op_ref *op)
{
	if (same_term(l->claim.left, l->claim.right))
		return "tautological: both sides are one term";
	if (!calls(l->claim.left, op) && !calls(l->claim.right, op))
		return "foreign: the claim never calls the op";
	return NULL;
}

/* ---- what a law does -------------------------------------------------------------------------- */

/* Tuples spread over a domain, in columns of their own. */
static int make_tuples(pctl_gate *g, const pctl_law_equation *l, pctl_column *columns, uint64_t *n)
{
	const uint64_t bytes = pctl_proof_dtype_bytes(l->dtype);
	static const uint32_t kinds[] = {PCTL_DOMAIN_EXHAUSTIVE8, PCTL_DOMAIN_EXHAUSTIVE16,
					 PCTL_DOMAIN_LATTICE16};
	pctl_domain d = {0};
	uint64_t most;

	for (uint32_t i = 0; i < 3 && d.n_cases == 0; i++)
		d = pctl_domain_make(kinds[i], l->dtype, l->n_vars, 0, 0);
	if (d.n_cases == 0)
		d = pctl_domain_make(PCTL_DOMAIN_ADVERSARIAL, l->dtype, l->n_vars, 0, 0);
	most = d.kind == PCTL_DOMAIN_EXHAUSTIVE8 ? TUPLES : TUPLES_FLOAT;
	*n = d.n_cases < most ? d.n_cases : most;
	for (uint32_t v = 0; v < l->n_vars; v++) {
		columns[v] =
			(pctl_column){l->dtype, 0, *n, pctl_arena_alloc(g->arena, *n * bytes + 1)};
		if (columns[v].data == NULL) {
			pctl_gate_internal_failure(g, pctl_no_memory(g->call, "a gate"));
			return 0;
		}
	}
	if (d.n_cases == *n) {
		pctl_domain_fill(&d, 0, *n, columns);
		return 1;
	}
	for (uint64_t i = 0; i < *n; i++) {
		pctl_column one[4];

		for (uint32_t v = 0; v < l->n_vars; v++)
			one[v] = (pctl_column){l->dtype, 0, 1, columns[v].data + i * bytes};
		pctl_domain_fill(&d, pctl_proof_mix(0, 0, i) % d.n_cases, 1, one);
	}
	return 1;
}

/* 1: the law fails somewhere when `device` answers. */
static int breaks(pctl_gate *g, const pctl_law_equation *l, const pctl_column *columns, uint64_t n,
		  pctl_evaluator *device, pctl_evaluator *reference)
{
	const uint64_t bytes = pctl_proof_dtype_bytes(l->dtype);

	for (uint64_t first = 0; g->status == PCTL_OK && first < n; first += PIECE) {
		const uint64_t m = n - first < PIECE ? n - first : PIECE;
		pctl_law_outcome outcome = {0};
		pctl_column piece[4];

		for (uint32_t v = 0; v < l->n_vars; v++)
			piece[v] = (pctl_column){l->dtype, 0, m, columns[v].data + first * bytes};
		pctl_gate_internal_failure(
			g, pctl_law_check(l, device, reference, piece, m, NULL, g->call, &outcome));
		if (outcome.failures != 0)
			return 1;
	}
	return 0;
}

/* Every wrong op against one law; those it finds are taken out of `alive`. Returns how many it found; *false_law: the
 * right op breaks it. */
static uint32_t try_law(pctl_gate *g, const pctl_law_equation *l, pctl_evaluator *reference,
			uint32_t *alive, uint32_t *real, int *false_law)
{
	pctl_column columns[4];
	uint32_t found = 0;
	uint64_t n;

	if (!make_tuples(g, l, columns, &n))
		return 0;
	*false_law = breaks(g, l, columns, n, reference, reference);
	for (uint32_t k = 0; k < MUTANTS && g->status == PCTL_OK; k++) {
		mutant m = {{NULL, mutant_names[k], apply, ""}, reference, &g->op, k, 0};

		m.evaluator.ctx = &m;
		if (breaks(g, l, columns, n, &m.evaluator, reference)) {
			found++;
			*alive &= ~(1u << k);
		}
		*real |= m.changed != 0 ? 1u << k : 0;
	}
	return found;
}

/* ---- the gate --------------------------------------------------------------------------------- */

/* What became of one declared law over all types it speaks of. */
typedef struct verdict {
	const char *text, *fault;
	uint32_t forms, found;
} verdict;

static void judge(pctl_gate *g, const pctl_law_equation *l, pctl_evaluator *reference, verdict *v,
		  uint32_t *alive, uint32_t *real)
{
	int false_law = 0;

	v->text = l->text;
	v->forms++;
	v->fault = structural_fault(l, &g->op);
	if (v->fault == NULL)
		v->found += try_law(g, l, reference, alive, real, &false_law);
	if (false_law)
		v->fault = "false: the op's own reference breaks it";
}

/* The first complaint about the laws' texts. */
typedef struct complaint {
	char text[128];
} complaint;

static void hear(void *ctx, const pctl_diag *d)
{
	complaint *c = ctx;

	if (d->severity == PCTL_SEVERITY_ERROR && c->text[0] == '\0')
		snprintf(c->text, sizeof(c->text), "%s", d->message);
}

static void laws_of_type(pctl_gate *g, uint32_t dtype, pctl_evaluator *reference, verdict *verdicts,
			 uint32_t *alive, uint32_t *real, complaint *about)
{
	const pctl_call listening = {.head = PCTL_HEAD(pctl_call), .ctx = about, .diag = hear};
	pctl_op_function f;

	if (!pctl_gate_function(&g->op, dtype, &f))
		return;
	for (uint32_t i = 0; i < g->rules->n_laws && g->status == PCTL_OK; i++) {
		pctl_op_rules one = *g->rules;
		pctl_law_equation *e = NULL;
		uint32_t n = 0, prose = 0;

		one.laws = &g->rules->laws[i];
		one.n_laws = 1;
		if (pctl_laws_of_rules(g->b->ops, &f, &one, g->arena, &listening, &e, &n, &prose) !=
			    PCTL_OK &&
		    about->text[0] == '\0')
			snprintf(about->text, sizeof(about->text), "the laws cannot be read");
		/* A second type is asked when the first showed nothing. */
		for (uint32_t k = verdicts[i].found != 0 ? n : 0;
		     k < n && verdicts[i].fault == NULL; k++)
			judge(g, &e[k], reference, &verdicts[i], alive, real);
	}
}

static void laws(pctl_gate *g, pctl_evaluator *reference)
{
	uint32_t dtypes[PCTL_DTYPES_MAX], alive = (1u << MUTANTS) - 1, real = 0;
	const uint32_t n = pctl_gate_dtypes(g, dtypes);
	verdict *verdicts = pctl_arena_array(g->arena, g->rules->n_laws, sizeof(*verdicts));
	complaint about = {""};
	int written;

	if (verdicts == NULL) {
		pctl_gate_internal_failure(g, pctl_no_memory(g->call, "a gate"));
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		laws_of_type(g, dtypes[i], reference, verdicts, &alive, &real, &about);
	(void)pctl_gate_check(g, "laws are equations", about.text[0] == '\0', "%s", about.text);
	for (uint32_t i = 0; i < g->rules->n_laws; i++) {
		verdict *v = &verdicts[i];
		const char *text =
			g->rules->laws[i].custom != NULL ? g->rules->laws[i].custom : v->text;

		if (v->fault == NULL && v->forms == 0)
			v->fault = "an equation of none of the op's types";
		if (v->fault == NULL && v->found == 0)
			v->fault = "vacuous: no wrong op breaks it";
		(void)pctl_gate_check(g, "independent law", v->fault == NULL, "\"%s\" is %s",
				      text == NULL ? "" : text, v->fault);
	}
	written = snprintf(g->out->value, sizeof(g->out->value), "alive:");
	for (uint32_t k = 0; k < MUTANTS; k++)
		if (alive & real & (1u << k))
			written += snprintf(g->out->value + written,
					    sizeof(g->out->value) - (size_t)written, " %s",
					    mutant_names[k]);
	if ((alive & real) == 0)
		snprintf(g->out->value, sizeof(g->out->value), "no mutant alive");
}

static void alternates(pctl_gate *g)
{
	uint32_t dtypes[PCTL_DTYPES_MAX];
	const uint32_t n = pctl_gate_dtypes(g, dtypes);
	pctl_kernels *kernels = pctl_kernels_create(g->b->ops);
	const pctl_program *primary, *other;

	for (uint32_t i = 0; i < g->rules->n_alternates && kernels != NULL; i++) {
		const char *fault = "is of none of the op's types";
		pctl_op_function f;
		char why[128];

		for (uint32_t k = 0; k < n; k++) {
			if (!pctl_gate_function(&g->op, dtypes[k], &f) ||
			    pctl_gate_kernel(kernels, &f, PCTL_GATE_TEXT, g->rules->alternates[i],
					     &other, why) != PCTL_OK)
				continue;
			fault = pctl_gate_kernel(
					kernels, &f, PCTL_GATE_TEXT,
					g->op.lib->function(g->op.inst, g->op.index, dtypes[k]),
					&primary, why) == PCTL_OK &&
						pctl_gate_same(primary, other)
					? "is the same program as the function"
					: NULL;
			break;
		}
		(void)pctl_gate_check(g, "independent alternate", fault == NULL, "alternate %u %s",
				      i, fault);
	}
	if (kernels == NULL)
		pctl_gate_internal_failure(g, pctl_no_memory(g->call, "a gate"));
	pctl_kernels_destroy(kernels);
}

/* The oracle finds a wrong answer in its output memory, as if it were handed the kernel's own: it must not be swayed. */
static void oracle(pctl_gate *g)
{
	uint32_t dtypes[PCTL_DTYPES_MAX];
	const uint32_t n_dtypes = pctl_gate_dtypes(g, dtypes);
	const char *fault = NULL;
	pctl_op_function f;

	for (uint32_t i = 0; i < n_dtypes && fault == NULL && g->status == PCTL_OK; i++) {
		const pctl_column *in;
		const uint8_t *right, *swayed;
		uint8_t *wrong;
		uint64_t n, bytes;

		if (!pctl_gate_function(&g->op, dtypes[i], &f))
			continue;
		in = pctl_gate_witnesses(g, &f, &n);
		wrong = pctl_arena_alloc(g->arena, n * pctl_dtype_bytes(f.out_dtype) + 1);
		right = in == NULL || wrong == NULL ? NULL
						    : pctl_gate_answer(g, &f, in, n, wrong, &bytes);
		for (uint64_t k = 0; right != NULL && k < bytes; k++)
			wrong[k] = right[k] ^ 1;
		swayed = right == NULL ? NULL : pctl_gate_answer(g, &f, in, n, wrong, &bytes);
		if (swayed == NULL || memcmp(right, swayed, bytes) != 0)
			fault = "the reference follows what its output held before";
	}
	(void)pctl_gate_check(g, "independent oracle", fault == NULL, "%s", fault);
}

void pctl_gate_independence(pctl_gate *g)
{
	pctl_evaluator *reference = NULL;

	if (g->rules != NULL) {
		pctl_gate_internal_failure(g, pctl_evaluator_reference(g->b, g->call, &reference));
		if (g->status == PCTL_OK)
			laws(g, reference);
		if (g->status == PCTL_OK)
			alternates(g);
		pctl_evaluator_destroy(reference);
	}
	oracle(g);
}
