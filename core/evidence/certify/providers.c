/* The table of providers: who is asked for units, in which order. */
#include "evidence/certify/plan.h"
#include "evidence/proof/providers.h"
#include "evidence/suite/suite.h"

#define STRICT (1u << PCTL_TRACK_INTEGER | 1u << PCTL_TRACK_FLOAT)
#define ANY (1u << PCTL_TRACK_INTEGER | 1u << PCTL_TRACK_FLOAT | 1u << PCTL_TRACK_APPROXIMATE)

#define OF_OPS(name)                                                                               \
	static pctl_status name(pctl_proof_context *b, const pctl_selection *s, uint64_t programs, \
				const pctl_call *call, pctl_units *list)                           \
	{                                                                                          \
		(void)programs;                                                                    \
		return pctl_##name##_units(b, s, call, list);                                      \
	}

OF_OPS(gate)
OF_OPS(function)
OF_OPS(plan)
OF_OPS(composition)
OF_OPS(baseline)

static pctl_status suite(pctl_proof_context *b, const pctl_selection *s, uint64_t programs,
			 const pctl_call *call, pctl_units *list)
{
	return pctl_suite_units(b, s->track, programs, call, list);
}

static const pctl_provider providers[] = {
	{"gates", ANY, 1, gate},
	{"functions", ANY, 1, function},
	{"plans", ANY, 1, plan},
	{"suite", STRICT, 3, suite},
	{"compositions", STRICT, 4, composition},
	{"baselines", STRICT, 4, baseline},
};

const pctl_provider *pctl_providers(uint32_t *n_out)
{
	*n_out = (uint32_t)(sizeof(providers) / sizeof(providers[0]));
	return providers;
}
