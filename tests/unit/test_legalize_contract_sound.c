/* What the analysis of exponent ranges claims of programs under range contracts, against exact arithmetic: random
 * programs over buffers that fulfil the contract, most elements at its edges; every value, and every result before it is
 * rounded, in MPFR, which the analysis does not know of. Wrong rules, put in place of a claim, must be found. */
#include <math.h>
#include <mpfr.h>

#include "compiler/legalize/contract.h"
#include "compiler/legalize/exponent_range.h"
#include "compiler/wgsl/wgsl.h"
#include "main.h"
#include "planted/planted.h"
#include "rig.h"

enum { NODES = 16, ROWS = 48, PROGRAMS = 2000, INPUTS = 5, EXACT_BITS = 700, MOST_TURNS = 40 };

enum kind {
	INPUT,
	CONSTANT,
	ADD,
	SUB,
	MUL,
	FMA,
	DIV,
	SQRT,
	NEG,
	ABS,
	MIN,
	MAX,
	FLOOR,
	SUM,
	SCALE,
	TWICE,
	KINDS
};

/* A statement; a, b, c are numbers of earlier ones. FMA: v = fma(a, b, -c). SUM: v = a, then `turns` times v = fma(b, c, v). SCALE: times v = v * b.
 * TWICE: v = v + v. */
typedef struct node {
	enum kind kind;
	uint32_t a, b, c, turns;
	float constant;
	/* of the program */
	uint32_t value; /* that is stored */
	uint32_t at;	/* the operation, 0: none */
} node;

typedef struct trial {
	node nodes[NODES];
	pctl_program *p;
	const pctl_function *fn;
	legal_exponent_ranges x;
	char text[8192];
} trial;

/* What is looked for and found. */
typedef struct found {
	uint32_t values, free_operations, finite; /* claims that were tried */
	uint32_t subnormals; /* results where none was claimed to be impossible */
	char violation[256]; /* the first, else "" */
} found;

/* ---- programs --------------------------------------------------------------------------------- */

static uint64_t draw(uint64_t *seed)
{
	*seed += 0x9e3779b97f4a7c15u;
	return rig_random(77, *seed);
}

static float constant(uint64_t *seed)
{
	static const float some[] = {0.5f,   -2.0f,    3.0f, 0.1f,   1e-6f, 1e9f,
				     -1e-9f, 16384.0f, 1.0f, -0.75f, 7e12f, 1.9e-12f};

	return some[draw(seed) % (sizeof(some) / sizeof(some[0]))];
}

static void make_node(node *nodes, uint32_t i, uint64_t *seed)
{
	node *n = &nodes[i];

	*n = (node){.kind = i < INPUTS ? INPUT
				       : (enum kind)(CONSTANT + draw(seed) % (KINDS - CONSTANT))};
	if (i < INPUTS)
		return;
	n->a = (uint32_t)(draw(seed) % i);
	n->b = (uint32_t)(draw(seed) % i);
	n->c = (uint32_t)(draw(seed) % i);
	n->turns = 1 + (uint32_t)(draw(seed) % (n->kind == SUM ? MOST_TURNS : 6));
	n->constant = constant(seed);
	if (n->kind == DIV && draw(seed) % 2)
		n->kind = MUL;
	/* what rounding took from a product */
	if (n->kind == FMA && nodes[n->c].kind == MUL && draw(seed) % 4) {
		n->a = nodes[n->c].a;
		n->b = nodes[n->c].b;
	}
}

static void write_loop(char *out, size_t size, const node *n, uint32_t i, const char *turn)
{
	snprintf(out, size,
		 "  var s%u = v%u; for (var k = 0u; k < %uu; k++) { s%u = %s; } let v%u = s%u;\n",
		 i, n->a, n->turns, i, turn, i, i);
}

static void write_node(char *out, size_t size, const node *n, uint32_t i)
{
	static const char *const infix[KINDS] = {
		[ADD] = "+", [SUB] = "-", [MUL] = "*", [DIV] = "/"};
	static const char *const call[KINDS] = {[SQRT] = "sqrt", [ABS] = "abs", [FLOOR] = "floor",
						[NEG] = "-",	 [MIN] = "min", [MAX] = "max"};
	char turn[64];

	switch (n->kind) {
	case INPUT:
		snprintf(out, size, "  let v%u = x[j + %uu];\n", i, i);
		break;
	case CONSTANT:
		snprintf(out, size, "  let v%u = f32(%a);\n", i, (double)n->constant);
		break;
	case FMA:
		snprintf(out, size, "  let v%u = fma(v%u, v%u, -v%u);\n", i, n->a, n->b, n->c);
		break;
	case SUM:
		snprintf(turn, sizeof(turn), "fma(v%u, v%u, s%u)", n->b, n->c, i);
		write_loop(out, size, n, i, turn);
		break;
	case SCALE:
		snprintf(turn, sizeof(turn), "s%u * v%u", i, n->b);
		write_loop(out, size, n, i, turn);
		break;
	case TWICE:
		snprintf(turn, sizeof(turn), "s%u + s%u", i, i);
		write_loop(out, size, n, i, turn);
		break;
	case MIN:
	case MAX:
		snprintf(out, size, "  let v%u = %s(v%u, v%u);\n", i, call[n->kind], n->a, n->b);
		break;
	default:
		if (infix[n->kind])
			snprintf(out, size, "  let v%u = v%u %s v%u;\n", i, n->a, infix[n->kind],
				 n->b);
		else
			snprintf(out, size, "  let v%u = %s(v%u);\n", i, call[n->kind], n->a);
	}
}

/* The values that are stored, in order, and the operations that make them. */
static void find_values(trial *t)
{
	static const uint16_t ops[KINDS] = {
		[ADD] = PCTL_OP_FADD, [SUB] = PCTL_OP_FSUB,   [MUL] = PCTL_OP_FMUL,
		[FMA] = PCTL_OP_FFMA, [DIV] = PCTL_OP_FDIV,   [SQRT] = PCTL_OP_FSQRT,
		[MIN] = PCTL_OP_FMIN, [MAX] = PCTL_OP_FMAX,   [FLOOR] = PCTL_OP_FFLOOR,
		[SUM] = PCTL_OP_FFMA, [SCALE] = PCTL_OP_FMUL, [TWICE] = PCTL_OP_FADD};
	uint32_t n = 0, from = 0;

	t->fn = &t->p->functions[t->p->entries[0].function];
	for (uint32_t v = 0; v < t->fn->n_insts; v++) {
		const pctl_inst *in = &t->p->insts[t->fn->first_inst + v];
		pctl_place place;

		if (in->op != PCTL_OP_STORE || !pctl_place_get(t->p, t->fn, in, &place) ||
		    place.space != PCTL_SPACE_STORAGE)
			continue;
		assert_true(n < NODES);
		t->nodes[n].value = pctl_arg(t->p, in, 0);
		for (uint32_t k = from; k < v && !t->nodes[n].at; k++)
			if (ops[t->nodes[n].kind] &&
			    t->p->insts[t->fn->first_inst + k].op == ops[t->nodes[n].kind])
				t->nodes[n].at = k;
		from = v;
		n++;
	}
	assert_int_equal(n, NODES);
}

static void trial_open(trial *t, uint64_t number)
{
	const pctl_wgsl_options options = {.file = "test.wgsl"};
	uint64_t seed = number * 1000003u;
	static uint8_t contracts[8];
	size_t n;

	memset(t, 0, sizeof(*t));
	n = (size_t)snprintf(t->text, sizeof(t->text),
			     "@group(0) @binding(0) var<storage, read> x: array<f32>;\n"
			     "@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n"
			     "@compute @workgroup_size(1)\n"
			     "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
			     "  let j = id.x * %uu;\n",
			     NODES);
	for (uint32_t i = 0; i < NODES; i++) {
		make_node(t->nodes, i, &seed);
		write_node(t->text + n, sizeof(t->text) - n, &t->nodes[i], i);
		n += strlen(t->text + n);
		n += (size_t)snprintf(t->text + n, sizeof(t->text) - n, "  y[j + %uu] = v%u;\n", i,
				      i);
	}
	snprintf(t->text + n, sizeof(t->text) - n, "}\n");
	assert_int_equal(pctl_wgsl_compile(t->text, strlen(t->text), &options, NULL, &t->p),
			 PCTL_OK);
	find_values(t);
	assert_int_equal(pctl_contract_vars(t->p, contracts), 1);
	t->x.contracts = contracts;
	assert_true(legal_exponent_ranges_find(t->p, &t->x));
}

static void trial_close(trial *t)
{
	legal_exponent_ranges_drop(&t->x);
	pctl_program_destroy(t->p);
}

/* ---- exact arithmetic --------------------------------------------------------------------------- */

/* Within the contract, mostly at its edges and such that differences cancel. */
static float element(uint64_t *seed)
{
	static const float some[] = {
		0.0f,	       0x1p-40f,       0x1.000002p-40f, 0x1.fffffep-40f,
		0x1p40f,       0x1.fffffep39f, 0x1.000002p39f,	1.0f,
		0x1.000002p0f, -0.0f};
	const uint64_t r = draw(seed);
	float v = some[(r >> 8) % (sizeof(some) / sizeof(some[0]))];

	if (r % 4 == 0)
		v = ldexpf(1.0f + (float)(r >> 20 & 0x7fffff) * 0x1p-23f,
			   (int)((r >> 50) % 80) - 40);
	return r >> 63 ? -v : v;
}

static int is_odd(float v)
{
	return v == 0.0f || !isfinite(v);
}

/* Multiple of 2^lsb, at least 2^low, below 2^top. */
static int holds(legal_exponent_range g, float v)
{
	const double d = fabs((double)v);

	if (is_odd(v))
		return isfinite(v) || !g.is_finite;
	return ldexp(d, -g.lsb) == floor(ldexp(d, -g.lsb)) && d >= ldexp(1.0, g.low) &&
	       d < ldexp(1.0, g.top);
}

static void exact_of(mpfr_t out, enum kind kind, float a, float b, float c)
{
	mpfr_t x, y, z;

	mpfr_inits2(EXACT_BITS, x, y, z, (mpfr_ptr)0);
	mpfr_set_flt(x, a, MPFR_RNDN);
	mpfr_set_flt(y, b, MPFR_RNDN);
	mpfr_set_flt(z, c, MPFR_RNDN);
	switch (kind) {
	case ADD:
	case TWICE:
		mpfr_add(out, x, y, MPFR_RNDN);
		break;
	case SUB:
		mpfr_sub(out, x, y, MPFR_RNDN);
		break;
	case MUL:
	case SCALE:
		mpfr_mul(out, x, y, MPFR_RNDN);
		break;
	case FMA:
	case SUM:
		mpfr_fma(out, x, y, z, MPFR_RNDN);
		break;
	case DIV:
		mpfr_div(out, x, y, MPFR_RNDN);
		break;
	case SQRT:
		mpfr_sqrt(out, x, MPFR_RNDN);
		break;
	case NEG:
		mpfr_neg(out, x, MPFR_RNDN);
		break;
	case ABS:
		mpfr_abs(out, x, MPFR_RNDN);
		break;
	case MIN:
		mpfr_min(out, x, y, MPFR_RNDN);
		break;
	case MAX:
		mpfr_max(out, x, y, MPFR_RNDN);
		break;
	default:
		mpfr_rint_floor(out, x, MPFR_RNDN);
	}
	mpfr_clears(x, y, z, (mpfr_ptr)0);
}

static int is_subnormal(mpfr_t e)
{
	return mpfr_number_p(e) && !mpfr_zero_p(e) && mpfr_get_exp(e) < -125;
}

/* ---- comparing ---------------------------------------------------------------------------------- */

/* A wrong rule: the claim on a node made anew from those on its operands; is_free of its operation too. */
typedef void wrong_rule(const trial *t, const node *n, legal_exponent_range *g, int *is_free);

static legal_exponent_range range_of(const trial *t, uint32_t value)
{
	return t->x.values[t->fn->first_inst + value];
}

static legal_exponent_range of_node(const trial *t, uint32_t i)
{
	return range_of(t, t->nodes[i].value);
}

static void note(found *f, const trial *t, uint32_t i, const char *what, float v)
{
	(void)t;
	if (!f->violation[0])
		snprintf(f->violation, sizeof(f->violation), "v%u: %s: %a", i, what, (double)v);
}

/* One operation: its value and what it is before it is rounded. */
static float step(const trial *t, uint32_t i, int is_free, float a, float b, float c, found *f)
{
	mpfr_t e;
	float v;

	mpfr_init2(e, EXACT_BITS);
	exact_of(e, t->nodes[i].kind, a, b, c);
	v = mpfr_get_flt(e, MPFR_RNDN);
	if (t->nodes[i].at) {
		const int has = is_subnormal(e) || fpclassify(a) == FP_SUBNORMAL ||
				fpclassify(b) == FP_SUBNORMAL || fpclassify(c) == FP_SUBNORMAL;

		f->free_operations += (uint32_t)is_free;
		f->subnormals += (uint32_t)(has && !is_free);
		if (has && is_free)
			note(f, t, i, "a subnormal that was impossible", v);
	}
	mpfr_clear(e);
	return v;
}

static float run_node(const trial *t, uint32_t i, const float *v, const float *x, int is_free,
		      found *f)
{
	const node *n = &t->nodes[i];
	float s = v[n->a];

	switch (n->kind) {
	case INPUT:
		return x[i];
	case CONSTANT:
		return n->constant;
	case SUM:
		for (uint32_t k = 0; k < n->turns; k++)
			s = step(t, i, is_free, v[n->b], v[n->c], s, f);
		return s;
	case SCALE:
		for (uint32_t k = 0; k < n->turns; k++)
			s = step(t, i, is_free, s, v[n->b], 1.0f, f);
		return s;
	case TWICE:
		for (uint32_t k = 0; k < n->turns; k++)
			s = step(t, i, is_free, s, s, 1.0f, f);
		return s;
	case FMA:
		return step(t, i, is_free, v[n->a], v[n->b], -v[n->c], f);
	case ADD:
	case SUB:
	case MUL:
	case DIV:
	case MIN:
	case MAX:
		return step(t, i, is_free, v[n->a], v[n->b], 1.0f, f);
	default:
		return step(t, i, is_free, v[n->a], 1.0f, 1.0f, f);
	}
}

static void run_program(const trial *t, uint64_t number, wrong_rule *wrong, found *f)
{
	legal_exponent_range g[NODES];
	uint64_t seed = number * 7919u + 1;
	int is_free[NODES];

	for (uint32_t i = 0; i < NODES; i++) {
		const node *n = &t->nodes[i];

		g[i] = of_node(t, i);
		is_free[i] = n->at &&
			     legal_is_subnormal_free(
				     t->p, t->fn, &t->p->insts[t->fn->first_inst + n->at], &t->x);
		if (wrong)
			wrong(t, n, &g[i], &is_free[i]);
	}
	for (uint32_t row = 0; row < ROWS; row++) {
		float x[INPUTS], v[NODES];

		for (uint32_t i = 0; i < INPUTS; i++)
			x[i] = element(&seed);
		for (uint32_t i = 0; i < NODES; i++) {
			v[i] = run_node(t, i, v, x, is_free[i], f);
			f->values += g[i].lsb > LEGAL_LSB_LEAST;
			f->finite += g[i].is_finite;
			if (!holds(g[i], v[i]))
				note(f, t, i, "a value out of its range", v[i]);
		}
	}
}

static void test_legalize_contract_sound__random(void **state)
{
	found f = {0};

	(void)state;
	for (uint64_t number = 0; number < PROGRAMS; number++) {
		trial t;

		trial_open(&t, number);
		run_program(&t, number, NULL, &f);
		if (f.violation[0])
			fail_msg("program %u: %s\n%s", (unsigned)number, f.violation, t.text);
		trial_close(&t);
	}
	print_message(
		"%u values with a range, %u of them finite; %u operations without subnormals, %u "
		"subnormals elsewhere\n",
		f.values, f.finite, f.free_operations, f.subnormals);
	assert_true(f.values > PROGRAMS * ROWS && f.finite > PROGRAMS * ROWS);
	assert_true(f.free_operations > PROGRAMS * ROWS && f.subnormals > PROGRAMS);
}

/* ---- wrong rules -------------------------------------------------------------------------------- */

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* Whose last place is not where rounding puts it. */
static void unrounded_quotient(const trial *t, const node *n, legal_exponent_range *g, int *is_free)
{
	(void)is_free;
	if (n->kind == DIV)
		g->lsb = (int16_t)(of_node(t, n->a).low - of_node(t, n->b).top);
}

static void product_of_one(const trial *t, const node *n, legal_exponent_range *g, int *is_free)
{
	(void)is_free;
	if (n->kind == MUL)
		g->lsb = of_node(t, n->a).lsb;
}

static void no_cancellation(const trial *t, const node *n, legal_exponent_range *g, int *is_free)
{
	(void)is_free;
	if (n->kind == ADD || n->kind == SUB)
		g->low = (int16_t)least(of_node(t, n->a).low, of_node(t, n->b).low);
}

/* What is left of a product that is cancelled may be subnormal. */
static void no_cancellation_in_fma(const trial *t, const node *n, legal_exponent_range *g,
				   int *is_free)
{
	(void)g;
	if (n->kind == FMA)
		*is_free = of_node(t, n->a).low + of_node(t, n->b).low >= LEGAL_LSB_NORMAL &&
			   of_node(t, n->c).low >= LEGAL_LSB_NORMAL;
}

static void sum_of_one(const trial *t, const node *n, legal_exponent_range *g, int *is_free)
{
	(void)is_free;
	if (n->kind == SUM)
		g->top = (int16_t)(of_node(t, n->b).top + of_node(t, n->c).top + 1);
}

static void product_of_any(const trial *t, const node *n, legal_exponent_range *g, int *is_free)
{
	(void)g;
	if (n->kind == MUL || n->kind == SCALE)
		*is_free = of_node(t, n->a).low >= LEGAL_LSB_NORMAL &&
			   of_node(t, n->b).low >= LEGAL_LSB_NORMAL;
}

static void always_finite(const trial *t, const node *n, legal_exponent_range *g, int *is_free)
{
	(void)t;
	(void)is_free;
	if (n->kind == MUL || n->kind == FMA)
		g->is_finite = 1;
}

static void test_legalize_contract_sound__planted(void **state)
{
	static const struct {
		const char *fault;
		wrong_rule *rule;
	} rules[] = {
		{"a quotient's last place without rounding", unrounded_quotient},
		{"a product's last place is that of one factor", product_of_one},
		{"a difference does not cancel", no_cancellation},
		{"a product within fma does not cancel", no_cancellation_in_fma},
		{"a sum is as large as one term", sum_of_one},
		{"a product of normal numbers is normal", product_of_any},
		{"products of finite numbers are finite", always_finite},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		found f = {0};
		trial t;

		for (uint64_t number = 0; number < PROGRAMS && !f.violation[0]; number++) {
			trial_open(&t, number);
			run_program(&t, number, rules[i].rule, &f);
			trial_close(&t);
		}
		if (!f.violation[0])
			fail_msg("\"%s\" is found by nothing", rules[i].fault);
		planted(rules[i].fault, "exponent ranges under contracts", "exact arithmetic",
			f.violation);
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(test_legalize_contract_sound__random),
		PCTL_TEST(test_legalize_contract_sound__planted))
