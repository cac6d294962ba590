/* What ranges of values prove of a loop they prove of what a device is given, too: else a device would be taken to turn
 * without end. Every twin of ranges_twins.h, legalised in the ways that change code around loops most. */
#include <inttypes.h>

#include "compiler/analysis/extents.h"
#include "compiler/eval/specialise.h"
#include "ranges_twins.h"
#include "test_legalize_run.h"

static const pctl_analysis_query known = {.bindings = twin_bound, .n_bindings = 2};

static uint64_t turns_of(const pctl_program *p)
{
	pctl_extents x;

	assert_int_equal(pctl_program_extents(p, &known, NULL, &x), PCTL_OK);
	return x.need[PCTL_EXTENT_TURNS];
}

/* Legalised, flattened down to that nesting, loops written out above so many turns. */
static uint32_t changed; /* programs that legalising made another one of */

static uint32_t hold(legal_kernel *k, const pctl_program *p, const char *body, uint32_t nesting,
		     uint64_t most)
{
	const pctl_device_caps caps = {.head = PCTL_HEAD(pctl_device_caps)};
	const pctl_legal_options options = {
		.head = PCTL_HEAD(pctl_legal_options),
		.forms = k->forms,
		.nesting = nesting,
		.turns = most,
		/* Loops that are written twice turn once, and count twice. */
		.flags = PCTL_LEGAL_NO_LENGTHS,
		.known = &known};
	const uint64_t before = turns_of(p);
	pctl_program *legal = NULL;
	uint64_t after;

	rig_must(&k->r, pctl_legalise(p, &caps, &options, &k->r.call, &legal), "legalising");
	after = turns_of(legal);
	changed += legal->n_insts != p->n_insts;
	pctl_program_destroy(legal);
	if (before != UINT64_MAX && after <= before)
		return 0;
	printf("%s\n  nesting %u: %" PRIu64 " turns, %" PRIu64 " before\n", body, nesting, after,
	       before);
	return 1;
}

static void proven_where_legalised(void **state)
{
	uint32_t wrong = 0;
	legal_kernel k;

	(void)state;
	for (size_t i = 0; i < N_TWINS; i++) {
		char body[1024], *text;
		pctl_program *special = NULL;

		/* Deep, so that there is something to flatten. */
		snprintf(body, sizeof(body),
			 "if (lane != 60u) { if (c[lane] > 3u) { if (x == 0u) { if (c[7] != 1u) { "
			 "%s } x += 1u; } } }",
			 twins[i].good);
		text = twin_text(body);
		kernel_open(&k, text);
		assert_int_equal(pctl_program_specialise(k.p, NULL, NULL, 0, &k.r.call, &special),
				 PCTL_OK);
		if (twins[i].rounds != NEVER)
			wrong += hold(&k, special, twins[i].good, 0, 0) +
				 hold(&k, special, twins[i].good, 2, 0) +
				 hold(&k, special, twins[i].good, 4, 8);
		pctl_program_destroy(special);
		kernel_close(&k);
		free(text);
	}
	printf("%u changed\n", changed);
	assert_int_equal(wrong, 0);
	assert_true(changed > N_TWINS / 4);
}

PCTL_TESTS_MAIN(PCTL_TEST(proven_where_legalised))
