/* The transformer library's ops under proof on devices that are wrong: what must not show, the place in a chunk, the rest of a batch, pages, capacities, does. Each is caught by the law that says
 * so. */
#include "test_proof_caught.h"

#include <stdlib.h>

static void flip(pctl_answer *a, uint64_t byte, int when)
{
	if (when && byte < a->bytes[0])
		a->data[0][byte] ^= 1;
}

static void spoil_first(const pctl_problem *p, pctl_answer *a)
{
	(void)p;
	flip(a, 0, 1);
}

static void spoil_all(const pctl_problem *p, pctl_answer *a)
{
	(void)p;
	for (uint64_t i = 0; i < a->bytes[0]; i++)
		flip(a, i, 1);
}

/* ---- rope_table ---- */

static void spoil_positions(const pctl_problem *p, pctl_answer *a)
{
	flip(a, 0, atoi(pctl_problem_attr(p, "positions")) % 2);
}

static void spoil_unscaled(const pctl_problem *p, pctl_answer *a)
{
	flip(a, 0, strcmp(pctl_problem_attr(p, "scaling"), "none") == 0);
}

static void spoil_yarn(const pctl_problem *p, pctl_answer *a)
{
	flip(a, 0, strcmp(pctl_problem_attr(p, "scaling"), "yarn") == 0);
}

static void spoil_long(const pctl_problem *p, pctl_answer *a)
{
	flip(a, 0, strcmp(pctl_problem_attr(p, "scaling"), "longrope") == 0);
}

/* The lowest bit of a cosine where the first pair's wave is not as it was. */
static void spoil_factor(const pctl_problem *p, pctl_answer *a)
{
	const char *factors = pctl_problem_attr(p, "factors");

	flip(a, 0, strncmp(factors, "1.5", 3) == 0 || strcmp(factors, "9") == 0);
}

static void spoil_radius(const pctl_problem *p, pctl_answer *a)
{
	(void)p;
	if (a->bytes[0] > 16)
		a->data[0][a->bytes[0] - 2] ^= 0x40;
}

/* ---- rope ---- */

static void spoil_start(const pctl_problem *p, pctl_answer *a)
{
	flip(a, 0, p->bytes[2] != 0 && p->data[2][0] % 2);
}

/* The last token of the first sequence, the first byte. */
static void spoil_last_token(const pctl_problem *p, pctl_answer *a)
{
	const uint64_t b = p->in[0].dim[0], t = p->in[0].dim[1];

	if (t > 1)
		flip(a, a->bytes[0] / b / t * (t - 1), 1);
}

static void spoil_last_sequence(const pctl_problem *p, pctl_answer *a)
{
	const uint64_t b = p->in[0].dim[0];

	if (b > 1)
		flip(a, a->bytes[0] / b * (b - 1), 1);
}

static void spoil_neighbours(const pctl_problem *p, pctl_answer *a)
{
	flip(a, 0, strcmp(pctl_problem_attr(p, "pairing"), "neighbours") == 0);
}

static void spoil_padding(const pctl_problem *p, pctl_answer *a)
{
	const uint64_t b = p->in[0].dim[0];

	if (p->n_in > 3 && p->data[3][4 * (b - 1)] < p->in[0].dim[1])
		flip(a, a->bytes[0] - 1, 1);
}

/* ---- kv_write and attention ---- */

static void spoil_chunk(const pctl_problem *p, pctl_answer *a)
{
	flip(a, 0, p->in[1].dim[1] > 1);
}

static void spoil_plain(const pctl_problem *p, pctl_answer *a)
{
	flip(a, 0, p->in[p->n_in - 1].dim[1] == 0);
}

static void spoil_last(const pctl_problem *p, pctl_answer *a)
{
	(void)p;
	if (a->bytes[0] != 0)
		flip(a, a->bytes[0] - 1, 1);
}

static void spoil_shared(const pctl_problem *p, pctl_answer *a)
{
	flip(a, 0, p->in[1].dim[2] == 1);
}

static void spoil_window(const pctl_problem *p, pctl_answer *a)
{
	flip(a, 0, strcmp(pctl_problem_attr(p, "window"), "1") == 0);
}

static void spoil_first_key(const pctl_problem *p, pctl_answer *a)
{
	flip(a, 0, p->bytes[1] >= 4 && p->data[1][3] >> 7);
}

static void spoil_capacity(const pctl_problem *p, pctl_answer *a)
{
	flip(a, 0, p->in[1].dim[1] % 2);
}

static void test_proof_plans__wrong_transformers_are_caught(void **state)
{
	static const struct {
		const char *op, *law, *spoilt;
		spoiler spoil;
	} rows[] = {
		{"rope_table", NULL, "a cosine's lowest bit", spoil_first},
		{"rope_table", "a table of a third of the positions is the beginning of y",
		 "how many positions there are shows", spoil_positions},
		{"rope_table",
		 "but of llama3: y is every second row of the table of twice the factor",
		 "a table without scaling is another", spoil_unscaled},
		{"rope_table",
		 "the first row is 1 and +0, and squares of a pair add up to 1 within 2^-23",
		 "a pair off the circle", spoil_radius},
		{"rope_table@2", NULL, "a lowest bit with yarn", spoil_yarn},
		{"rope_table@2", "a table of a third of the positions is the beginning of y",
		 "how many positions there are shows", spoil_positions},
		{"rope_table@2",
		 "but of llama3 and yarn: y is every second row of the table of twice the factor",
		 "a table without scaling is another", spoil_unscaled},
		{"rope_table@2",
		 "the first row is the magnitude and +0, and squares of a pair add up to its "
		 "square within 2^-22 of it",
		 "a pair off the circle", spoil_radius},
		{"rope_table@3", NULL, "a lowest bit with longrope", spoil_long},
		{"rope_table@3", "a table of a third of the positions is the beginning of y",
		 "how many positions there are shows", spoil_positions},
		{"rope_table@3",
		 "of longrope: y is every second row of the table of twice the factors",
		 "a table of some factors is another", spoil_factor},
		{"rope_table@3",
		 "the first row is the magnitude and +0, and squares of a pair add up to its "
		 "square within 2^-22 of it",
		 "a pair off the circle", spoil_radius},
		{"rope", NULL, "a lowest bit", spoil_first},
		{"rope",
		 "a table of 1 and +0 gives x where it is a finite number, not zero, and real",
		 "a turn by nothing changes a bit", spoil_first},
		{"rope", "positions one further on, with a table that begins one earlier, give y",
		 "odd positions show", spoil_start},
		{"rope", "the last token alone, at its position, gives its part of y",
		 "the place in a chunk shows", spoil_last_token},
		{"rope", "the last sequence alone gives its part of y", "the rest of a batch shows",
		 spoil_last_sequence},
		{"rope", "the other pairing, of elements in its order, gives y in that order",
		 "a pairing is wrong", spoil_neighbours},
		{"rope",
		 "tokens behind the count give +0, and the rest is the same without a count",
		 "a padded token is not +0", spoil_padding},
		{"kv_write", NULL, "a lowest bit", spoil_first},
		{"kv_write", "where no token is real y is the cache", "what nobody writes is lost",
		 spoil_first},
		{"kv_write", "a token first and the others then give y",
		 "the length of a chunk shows", spoil_chunk},
		{"kv_write", "of a plain cache: its halves or wholes as pages give y",
		 "plain caches are others than paged ones", spoil_plain},
		{"kv_write", "of one type: rows of y at the tokens' positions are x's",
		 "rows are not what was written", spoil_all},
		{"attention", NULL, "a lowest bit", spoil_first},
		{"attention", "causal: each token alone, at its position, gives its part of y",
		 "the place in a chunk shows", spoil_last_token},
		{"attention", "the last sequence alone gives its part of y",
		 "the rest of a batch shows", spoil_last_sequence},
		{"attention", "a padded token more, of any bits, gives +0, and the rest stays",
		 "the end of a chunk shows", spoil_last},
		{"attention", "of plain caches: their halves or wholes as pages give y",
		 "plain caches are others than paged ones", spoil_plain},
		{"attention", "a group's shared keys and values written out for each head give y",
		 "one head for all shows", spoil_shared},
		{"attention",
		 "a window of one position gives its value, but of scores that are no number, "
		 "rounded to y's type",
		 "a window of one is wrong", spoil_window},
		{"attention",
		 "not causal, without a window: keys and their values from the last to the first "
		 "give y",
		 "the sign of the first key shows", spoil_first_key},
		{"attention", "of plain caches: positions more, of any bits, give y",
		 "an odd capacity shows", spoil_capacity},
	};
	char op[64];

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_verdict v;
		pctl_problem p;

		snprintf(op, sizeof(op), "transformer.%s", rows[i].op);
		p = caught(op, PCTL_SCALAR_F32, rows[i].law, rows[i].spoil, rows[i].spoilt, &v);
		pctl_problem_clear(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PCTL_TEST(test_proof_plans__wrong_transformers_are_caught),
	};

	return run_all(tests, sizeof(tests) / sizeof(tests[0]));
}
