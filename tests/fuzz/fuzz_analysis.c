/* Any bytes through decode; what decodes verifies, prints, and encodes to the same bytes, and
 * specialising, measuring and analysing it ends, with whatever answer. */
#include <stdlib.h>
#include <string.h>

#include "compiler/analysis/analyse.h"
#include "compiler/analysis/extents.h"
#include "compiler/eval/specialise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* What a concrete program needs is always known, and its share stands somewhere in it. */
static int measured(const pctl_program *p)
{
	pctl_extents x;

	if (pctl_program_extents(p, NULL, NULL, &x) != PCTL_OK)
		abort();
	for (uint32_t i = 0; i < PCTL_N_EXTENTS; i++)
		if (x.function[i] >= p->n_functions ||
		    x.inst[i] > p->functions[x.function[i]].n_insts)
			abort();
	return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	pctl_program *p = NULL, *special = NULL;
	pctl_analysis *analysis = NULL;
	uint8_t *again = NULL;
	uint64_t m = 0;
	char *text;

	if (pctl_program_decode(data, n, NULL, &p) != PCTL_OK)
		return 0;
	if (pctl_program_verify(p, NULL) != PCTL_OK)
		abort();
	if (pctl_program_encode(p, NULL, &again, &m) != PCTL_OK || m != n ||
	    memcmp(again, data, n) != 0)
		abort();
	text = pctl_program_print(p);
	free(text);
	if (p->n_entries &&
	    pctl_program_specialise(p, pctl_str(p, p->entries[0].name), NULL, 0, NULL, &special) ==
		    PCTL_OK &&
	    measured(special) && pctl_program_analyse(special, NULL, NULL, &analysis) == PCTL_OK) {
		pctl_program_mark_proven(special, analysis);
		if (pctl_program_verify(special, NULL) != PCTL_OK)
			abort();
	}
	pctl_analysis_destroy(analysis);
	pctl_program_destroy(special);
	free(again);
	pctl_program_destroy(p);
	return 0;
}
