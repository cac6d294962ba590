/* transformer.rope_table@3: version 2 and longrope, where each pair's wave has a factor of its own (SEMANTICS.md 18.2). */
#include <stdio.h>

#include "common/tensors/elements.h"
#include "rope_table.h"

#define TEXT_MAX 32u /* of a problem's attribute: so long ones have eight pairs at most */
#define PAIRS_MAX 8u

/* Numbers with commas between, one for each pair. */
pctl_status rope_table_factors(const kit_use *u, rope_table *t)
{
	const char *at = u->q->attr[ROPE_ATTR_FACTORS].text;
	char why[96], *end;

	if (t->scaling != ROPE_SCALING_LONGROPE)
		return *at == '\0' ? PCTL_OK
				   : kit_refuse_attr(u, "factors", "is for scaling longrope alone");
	for (uint32_t i = 0; i < t->pairs; i++) {
		t->factors[i] = kit_parse_f32(at, &end);
		if (end == at || !(t->factors[i] >= ROPE_OWN_MIN) ||
		    !(t->factors[i] <= ROPE_OWN_MAX)) {
			snprintf(why, sizeof(why), "has no number from 1/16 to 4096 for pair %u",
				 i);
			return kit_refuse_attr(u, "factors", why);
		}
		at = end;
		if (i + 1 < t->pairs && *at++ != ',')
			break;
	}
	snprintf(why, sizeof(why), "is not the factors of %u pairs, with commas between", t->pairs);
	return *at == '\0' && (t->pairs == 0 || at == end) ? PCTL_OK
							   : kit_refuse_attr(u, "factors", why);
}

/* ---- problems and laws ---------------------------------------------------------------------- */

static const pctl_op_problems problems = {
	PCTL_HEAD(pctl_op_problems), "tables with longrope, and with each of the other scalings",
	64};

/* Each of them once, in another order for another number; twice as much is exact and as short. */
static void factors_of(uint64_t number, uint32_t pairs, char out[TEXT_MAX])
{
	static const char *const values[PAIRS_MAX] = {"1",  "1.5", ".75", "9",
						      "33", "64",  "2.5", "1.25"};
	size_t n = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < pairs; i++)
		n += (size_t)snprintf(out + n, TEXT_MAX - n, "%s%s", i ? "," : "",
				      values[(number + i * (2 * (number % 4) + 1)) % PAIRS_MAX]);
}

static void problem(kit_problem *p)
{
	static const char *const bases[] = {"10000", "500000", "1e6", "250000"};
	static const uint32_t pairs[] = {8, 1, 4, 3, 2, 0, 6, 7};
	const uint64_t v = p->number, k = v / 8;
	const int is_long = k % 2 == 0;
	char factors[TEXT_MAX] = "";

	rope_table_problem(
		p, is_long ? "longrope" : rope_table_scalings[k / 2 % ROPE_SCALING_LONGROPE],
		bases[v % 4], k % 3 == 0 ? 32768 : 64);
	kit_problem_attr_text(p, ROPE_ATTR_BETA_FAST, v % 5 == 0 ? "3.5" : "32");
	kit_problem_attr_text(p, ROPE_ATTR_BETA_SLOW, v % 7 == 0 ? "0.25" : "1");
	kit_problem_attr_text(p, ROPE_ATTR_MAGNITUDE,
			      v % 3 == 0   ? "1.1902381"
			      : v % 3 == 1 ? "1"
					   : "0.5");
	if (is_long) {
		kit_problem_attr(p, ROPE_ATTR_DIMS, 2 * pairs[v % 8]);
		factors_of(v, pairs[v % 8], factors);
	}
	kit_problem_attr_text(p, ROPE_ATTR_FACTORS, factors);
}

/* Twice each factor, whose f32 is exact. */
static void law_halved(kit_law *l)
{
	const char *at = kit_law_attr(l, "factors");
	char twice[TEXT_MAX], *end;
	size_t n = 0;

	if (strcmp(kit_law_attr(l, "scaling"), "longrope") != 0)
		return;
	twice[0] = '\0';
	while (*at != '\0' && n + 12 < sizeof(twice)) {
		n += (size_t)snprintf(twice + n, sizeof(twice) - n, "%s%.9g", n ? "," : "",
				      2 * (double)kit_parse_f32(at, &end));
		at = *end == ',' ? end + 1 : end;
	}
	rope_table_law_halved(l, "longrope", NULL, twice);
}

static const pctl_law laws[] = {
	TENSOR_LAW("cut", "a table of a third of the positions is the beginning of y"),
	TENSOR_LAW("halved",
		   "of longrope: y is every second row of the table of twice the factors"),
	TENSOR_LAW("magnitude",
		   "the first row is the magnitude and +0, and squares of a pair add up to its "
		   "square within 2^-22 of it"),
};
static void (*const checks[])(kit_law *) = {rope_table_law_cut, law_halved,
					    rope_table_law_magnitude};

/* ---- the op --------------------------------------------------------------------------------- */

static const pctl_attr_desc attrs[ROPE_ATTRS_3] = {
	ROPE_TABLE_ATTRS("none, linear, llama3, yarn or longrope", "linear, llama3 and yarn",
			 "llama3 and yarn"),
	ROPE_TABLE_YARN_ATTRS,
	{"factors", "",
	 "of longrope: what the wave length of each pair is multiplied with, from 1/16 to 4096, "
	 "with commas between",
	 PCTL_ATTR_STRING, 0, 0, 0},
};

static const kit_op ops[] = {
	{.desc = {KIT_PLAN_OP("transformer.rope_table", 3, PCTL_CLASS_STRICT),
		  .doc = "cosines and sines of rotary positions, with longrope",
		  .spec = "As version 2 (SEMANTICS.md 18.2). longrope: f = 1 / (factors[i] * "
			  "pow(base, e)), each step rounded.\n"
			  "y[p, i] is the cosine and the sine of p * f exactly, rounded once, "
			  "times the magnitude, rounded. "
			  "A table has at most 2^24 elements.",
		  KIT_OUT(rope_table_out), KIT_ATTR(attrs)},
	 .rules = KIT_PLAN_RULES(laws, tensor_boundaries),
	 .laws = checks,
	 .problems = &problems,
	 .problem = problem,
	 .infer = rope_table_infer,
	 .plan = rope_table_plan,
	 .reference = rope_table_refer},
};

const kit_family transformer_rope_table_long_family = {ops, NULL, KIT_COUNT(ops), 0};
