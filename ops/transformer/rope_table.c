/* transformer.rope_table: cosines and sines of rotary positions (SEMANTICS.md 18.2). No kernel makes them: the plan carries the table. */
#include "rope_table.h"

#include <math.h>
#include <stdio.h>

#include "common/tensors/elements.h"

const char *const rope_table_scalings[ROPE_SCALINGS] = {"none", "linear", "llama3", "yarn",
							"longrope"};

static uint32_t scalings_of(const kit_use *u)
{
	return u->op->desc.n_attr == ROPE_ATTRS	    ? ROPE_SCALING_YARN
	       : u->op->desc.n_attr == ROPE_ATTRS_2 ? ROPE_SCALING_LONGROPE
						    : ROPE_SCALINGS;
}

/* A number from `least` to `most`. */
static pctl_status number_of(const kit_use *u, uint32_t attr, float least, float most, float *out)
{
	const char *text = u->q->attr[attr].text;
	char why[80], *end;

	*out = kit_parse_f32(text, &end);
	if (end != text && *end == '\0' && *out >= least && *out <= most)
		return PCTL_OK;
	snprintf(why, sizeof(why), "is not a number from %g to %g", (double)least, (double)most);
	return kit_refuse_attr(u, u->op->desc.attr[attr].name, why);
}

static pctl_status yarn_of(const kit_use *u, rope_table *t)
{
	pctl_status status = number_of(u, ROPE_ATTR_BETA_FAST, 0x1p-10f, 1024, &t->beta_fast);

	if (status == PCTL_OK)
		status = number_of(u, ROPE_ATTR_BETA_SLOW, 0x1p-10f, 1024, &t->beta_slow);
	if (status == PCTL_OK)
		status = number_of(u, ROPE_ATTR_MAGNITUDE, 0x1p-10f, 1024, &t->magnitude);
	if (status != PCTL_OK || t->scaling != ROPE_SCALING_YARN)
		return status;
	if (t->beta_slow >= t->beta_fast)
		return kit_refuse_attr(u, "beta_slow", "is not below beta_fast");
	return t->base > 1 ? PCTL_OK : kit_refuse_attr(u, "base", "is not above 1, as yarn wants");
}

static pctl_status table_of(const kit_use *u, rope_table *t)
{
	const uint64_t dims = kit_attr(u, ROPE_ATTR_DIMS),
		       positions = kit_attr(u, ROPE_ATTR_POSITIONS);
	pctl_status status;

	*t = (rope_table){.pairs = (uint32_t)dims / 2,
			  .positions = (uint32_t)positions,
			  .magnitude = 1,
			  .original = (float)kit_attr(u, ROPE_ATTR_ORIGINAL)};
	if (dims % 2 != 0)
		return kit_refuse_attr(u, "dims", "is odd");
	while (t->scaling < scalings_of(u) &&
	       strcmp(rope_table_scalings[t->scaling], u->q->attr[ROPE_ATTR_SCALING].text) != 0)
		t->scaling++;
	if (t->scaling == scalings_of(u))
		return kit_refuse_attr(u, "scaling",
				       t->scaling == ROPE_SCALING_YARN
					       ? "is not none, linear or llama3"
				       : t->scaling == ROPE_SCALING_LONGROPE
					       ? "is not none, linear, llama3 or yarn"
					       : "is not none, linear, llama3, yarn or longrope");
	status = number_of(u, ROPE_ATTR_BASE, 1, ROPE_BASE_MAX, &t->base);
	if (status == PCTL_OK)
		status = number_of(u, ROPE_ATTR_FACTOR, 1, ROPE_FACTOR_MAX, &t->factor);
	if (status == PCTL_OK)
		status = number_of(u, ROPE_ATTR_LOW, 0x1p-10f, 1024, &t->low);
	if (status == PCTL_OK)
		status = number_of(u, ROPE_ATTR_HIGH, 0x1p-10f, 1024, &t->high);
	if (status == PCTL_OK && t->scaling == ROPE_SCALING_LLAMA3 && t->low >= t->high)
		status = kit_refuse_attr(u, "low_freq_factor", "is not below high_freq_factor");
	if (status == PCTL_OK && u->op->desc.n_attr != ROPE_ATTRS)
		status = yarn_of(u, t);
	if (status == PCTL_OK && u->op->desc.n_attr == ROPE_ATTRS_3)
		status = rope_table_factors(u, t);
	return status != PCTL_OK ? status
				 : kit_limit(u, "elements", dims * positions, ROPE_ELEMENTS_MAX);
}

pctl_status rope_table_infer(const kit_use *u, pctl_op_result *out)
{
	rope_table t;
	const pctl_status status = table_of(u, &t);

	out->out[0] = (pctl_tensor_type){PCTL_SCALAR_F32, 3, {t.positions, t.pairs, 2}};
	return status;
}

/* ---- the plan ------------------------------------------------------------------------------- */

void rope_table_plan(kit_plan *p)
{
	rope_table t;
	float *values;
	uint64_t n;

	p->status = table_of(p->use, &t);
	n = 8ull * t.pairs * t.positions;
	if (p->status != PCTL_OK || n == 0)
		return;
	values = kit_scratch(p->use, n);
	if (values == NULL) {
		p->status = pctl_refuse(p->use->call, PC2_NOMEM, "no memory for a table");
		return;
	}
	rope_table_make(&t, values);
	kit_copy(p, kit_params(p, values, n), 0, kit_out(p, 0), 0, n);
	kit_scratch_free(p->use, values);
}

pctl_status rope_table_refer(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	rope_table t;
	const pctl_status status = table_of(u, &t);

	(void)in;
	return status != PCTL_OK ? status : rope_table_reference(u, &t, out[0].data);
}

/* ---- problems and laws ---------------------------------------------------------------------- */

static const pctl_op_problems table_problems = {
	PCTL_HEAD(pctl_op_problems), "tables of up to 521 positions and 64 pairs, of every scaling",
	48};

void rope_table_problem(kit_problem *p, const char *scaling, const char *base, uint64_t original)
{
	static const uint32_t sizes[][2] = {{128, 67}, {2, 521}, {64, 0}, {6, 300},
					    {80, 33},  {0, 5},	 {32, 1}, {14, 258}};
	const uint64_t v = p->number;

	kit_problem_attr(p, ROPE_ATTR_DIMS, sizes[v % 8][0]);
	kit_problem_attr(p, ROPE_ATTR_POSITIONS, sizes[v % 8][1]);
	kit_problem_attr_text(p, ROPE_ATTR_BASE, base);
	kit_problem_attr_text(p, ROPE_ATTR_SCALING, scaling);
	kit_problem_attr_text(p, ROPE_ATTR_FACTOR, v % 2 == 0 ? "8" : "3.5");
	kit_problem_attr_text(p, ROPE_ATTR_LOW, v % 5 == 0 ? "0.5" : "1");
	kit_problem_attr_text(p, ROPE_ATTR_HIGH, v % 7 == 0 ? "32" : "4");
	kit_problem_attr(p, ROPE_ATTR_ORIGINAL, original);
	kit_problem_rigid(p);
}

static const char *const bases[] = {"10000", "500000", "1e6", "1", "123.456", "1073741824"};

static void table_problem(kit_problem *p)
{
	const uint64_t v = p->number;

	rope_table_problem(p, rope_table_scalings[v / 8 % ROPE_SCALING_YARN], bases[v % 6],
			   v % 3 == 0 ? 64 : 8192);
}

static const pctl_op_problems table_2_problems = {
	PCTL_HEAD(pctl_op_problems), "those of version 1, and as many with yarn's scaling", 96};

static void table_2_problem(kit_problem *p)
{
	const uint64_t v = p->number, k = v / 8;
	const int yarn = k % 2 == 0;
	/* Of 1 there is no logarithm to divide by. */
	const char *base = !yarn ? bases[v % 6] : v % 6 == 3 ? "1.0000002" : bases[v % 6];

	rope_table_problem(p, yarn ? "yarn" : rope_table_scalings[k / 2 % ROPE_SCALING_YARN], base,
			   k % 3 == 0	? 32768
			   : k % 3 == 1 ? 64
					: 1);
	kit_problem_attr_text(p, ROPE_ATTR_BETA_FAST, v % 5 == 0 ? "3.5" : "32");
	kit_problem_attr_text(p, ROPE_ATTR_BETA_SLOW, v % 7 == 0 ? "0.25" : "1");
	kit_problem_attr_text(p, ROPE_ATTR_MAGNITUDE,
			      v % 3 == 0   ? "1.1386294"
			      : v % 3 == 1 ? "1"
					   : "0.5");
}

uint32_t rope_table_use(kit_law *l, uint64_t positions, const char *scaling, const char *factor,
			const char *factors)
{
	const uint32_t n_attr = l->use.op->desc.n_attr;
	pctl_attr attr[ROPE_ATTRS_3];
	const uint32_t none = 0;
	char text[24];

	memcpy(attr, l->use.q->attr, n_attr * sizeof(*attr));
	snprintf(text, sizeof(text), "%llu", (unsigned long long)positions);
	attr[ROPE_ATTR_POSITIONS] = (pctl_attr){"positions", text, positions};
	if (scaling != NULL)
		attr[ROPE_ATTR_SCALING].text = scaling;
	if (factor != NULL)
		attr[ROPE_ATTR_FACTOR].text = factor;
	if (factors != NULL)
		attr[ROPE_ATTR_FACTORS].text = factors;
	return kit_law_use(l, l->use.op->desc.name, &none, 0, attr, n_attr, 1);
}

typedef struct stride {
	uint64_t row, step;
} stride;

static uint64_t stepped(const void *ctx, uint64_t i)
{
	const stride *s = ctx;

	return i / s->row * s->step * s->row + i % s->row;
}

void rope_table_law_cut(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0);
	pctl_tensor_type t = l->c->types[y];
	const stride whole = {1, 1};

	t.dim[0] /= 3;
	kit_law_equal(l, rope_table_use(l, t.dim[0], NULL, NULL, NULL),
		      tensor_law_taken(l, &t, y, stepped, &whole));
}

/* Rows of a table of half the frequencies, taken one by one and the law's own: y[p] = z[2 p]. */
void rope_table_law_halved(kit_law *l, const char *scaling, const char *factor, const char *factors)
{
	const uint32_t y = kit_law_out(l, 0);
	const pctl_tensor_type *t = &l->c->types[y];
	const stride two = {2 * t->dim[1], 2};

	if (t->dim[0] == 0)
		return;
	if (l->c->round == 0) {
		(void)rope_table_use(l, 2 * t->dim[0], scaling, factor, factors);
		kit_law_again(l);
		return;
	}
	kit_law_equal(l, tensor_law_taken(l, t, kit_law_out(l, 1), stepped, &two), y);
}

static void law_halved(kit_law *l)
{
	const char *scaling = kit_law_attr(l, "scaling");
	char factor[32];

	if (strcmp(scaling, "llama3") == 0 || strcmp(scaling, "yarn") == 0)
		return;
	snprintf(factor, sizeof(factor), "%.9g",
		 strcmp(scaling, "none") == 0
			 ? 2
			 : 2 * (double)kit_parse_f32(kit_law_attr(l, "factor"), NULL));
	rope_table_law_halved(l, "linear", factor, NULL);
}

static void law_circle(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0);
	const uint64_t n = kit_elements(&l->c->types[y]) / 2, pairs = l->c->types[y].dim[1];

	for (uint64_t i = 0; i < n && l->status == PCTL_OK; i++) {
		float v[2];

		memcpy(v, kit_law_data(l, y) + 8 * i, 8);
		if (i < pairs && (v[0] != 1 || v[1] != 0 || signbit(v[1])))
			kit_law_says(l, "a first row that is not 1 and +0", "1 and +0");
		/* Each is off by 2^-25 at most. */
		if (!(fabs((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] - 1) <=
		      0x1p-23))
			kit_law_says(l, "a pair off the circle", "squares that add up to 1");
	}
	kit_law_holds(l);
}

/* Cosine and sine are off by 2^-25 each, and the product with the magnitude by 2^-24 of it. */
void rope_table_law_magnitude(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0);
	const uint64_t n = kit_elements(&l->c->types[y]) / 2, pairs = l->c->types[y].dim[1];
	const float m = kit_parse_f32(kit_law_attr(l, "magnitude"), NULL);
	const double square = (double)m * (double)m;

	for (uint64_t i = 0; i < n && l->status == PCTL_OK; i++) {
		float v[2];

		memcpy(v, kit_law_data(l, y) + 8 * i, 8);
		if (i < pairs && (v[0] != m || v[1] != 0 || signbit(v[1])))
			kit_law_says(l, "a first row that is not the magnitude and +0",
				     "the magnitude and +0");
		if (!(fabs((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] - square) <=
		      0x1p-22 * square))
			kit_law_says(l, "a pair off the circle", "the square of the magnitude");
	}
	kit_law_holds(l);
}

static const pctl_law table_2_laws[] = {
	TENSOR_LAW("cut", "a table of a third of the positions is the beginning of y"),
	TENSOR_LAW(
		"halved",
		"but of llama3 and yarn: y is every second row of the table of twice the factor"),
	TENSOR_LAW("magnitude",
		   "the first row is the magnitude and +0, and squares of a pair add up to its "
		   "square within 2^-22 of it"),
};
static void (*const table_2_checks[])(kit_law *) = {rope_table_law_cut, law_halved,
						    rope_table_law_magnitude};

static const pctl_law table_laws[] = {
	TENSOR_LAW("cut", "a table of a third of the positions is the beginning of y"),
	TENSOR_LAW("halved",
		   "but of llama3: y is every second row of the table of twice the factor"),
	TENSOR_LAW("circle",
		   "the first row is 1 and +0, and squares of a pair add up to 1 within 2^-23"),
};
static void (*const table_checks[])(kit_law *) = {rope_table_law_cut, law_halved, law_circle};

/* ---- the op --------------------------------------------------------------------------------- */

const pctl_port rope_table_out[1] = {
	{"y", "f32[positions,pairs,2]", "cosine and sine of each position and pair", 0, 0}};
static const pctl_attr_desc table_attr[ROPE_ATTRS] = {
	ROPE_TABLE_ATTRS("none, linear or llama3", "linear and llama3", "llama3")};
static const pctl_attr_desc table_2_attr[ROPE_ATTRS_2] = {
	ROPE_TABLE_ATTRS("none, linear, llama3 or yarn", "linear, llama3 and yarn",
			 "llama3 and yarn"),
	ROPE_TABLE_YARN_ATTRS};

static const kit_op ops[] = {
	{.desc = {KIT_PLAN_OP("transformer.rope_table", 1, PCTL_CLASS_STRICT),
		  .doc = "cosines and sines of rotary positions",
		  .spec = "Steps in f32, each rounded (SEMANTICS.md 18.2): e = 2i / dims, f = 1 / "
			  "pow(base, e); linear: "
			  "f / factor; llama3: w = 2 pi / f,\nf where w is below "
			  "original_positions / "
			  "high_freq_factor, f / factor where it is above original_positions / "
			  "low_freq_factor, between them both "
			  "mixed.\ny[p, i] is the cosine and the sine of p * f exactly, rounded "
			  "once. A table has at most 2^24 "
			  "elements.",
		  KIT_OUT(rope_table_out), KIT_ATTR(table_attr)},
	 .rules = KIT_PLAN_RULES(table_laws, tensor_boundaries),
	 .laws = table_checks,
	 .problems = &table_problems,
	 .problem = table_problem,
	 .infer = rope_table_infer,
	 .plan = rope_table_plan,
	 .reference = rope_table_refer},
	{.desc = {KIT_PLAN_OP("transformer.rope_table", 2, PCTL_CLASS_STRICT),
		  .doc = "cosines and sines of rotary positions, with yarn's scaling",
		  .spec = "As version 1 (SEMANTICS.md 18.2). yarn: with d(n) = dims * "
			  "ln(original_positions / (n * 2 pi)) / "
			  "(2 * ln(base)), low = max(floor(d(beta_fast)), 0), high = "
			  "min(ceil(d(beta_slow)), dims - 1) "
			  "and s = (i - low) / max(high - low, 0.001) within 0 and 1,\n(s * f) / "
			  "factor + (1 - s) * f.\n"
			  "y[p, i] is the cosine and the sine of p * f exactly, rounded once, "
			  "times the magnitude, rounded. "
			  "A table has at most 2^24 elements.",
		  KIT_OUT(rope_table_out), KIT_ATTR(table_2_attr)},
	 .rules = KIT_PLAN_RULES(table_2_laws, tensor_boundaries),
	 .laws = table_2_checks,
	 .problems = &table_2_problems,
	 .problem = table_2_problem,
	 .infer = rope_table_infer,
	 .plan = rope_table_plan,
	 .reference = rope_table_refer},
};

const kit_family transformer_rope_table_family = {ops, NULL, KIT_COUNT(ops), 0};
