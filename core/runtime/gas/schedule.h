/* A gas schedule as it was read: its cost table and weights. Not for other modules. */
#ifndef PIPECTL_RUNTIME_GAS_SCHEDULE_H
#define PIPECTL_RUNTIME_GAS_SCHEDULE_H

#include "runtime/gas/gas.h"
#include "compiler/analysis/profile.h"

struct pctl_gas_schedule {
	char *name;
	int structured;		/* PCTL_LOOPS_* */
	int has_floats;		/* 0: as the first released ones, which price no float operation */
	int has_subgroups;	/* 0: as those before structured-3 */
	int has_late_functions; /* erf, erfc, log1p, expm1; likewise */
	pctl_cost_table costs;
	uint64_t memory, memory_unit_bytes;
	uint64_t dependency_hop;
	uint64_t validation;
	/* 0: a released one, which has none of what follows (rows.def, WHOLE), and counts a branch as they do. */
	int is_whole;
	uint64_t parts; /* a gas; 0 is 1, of those that have no parts */
	uint64_t zero_workgroup, invocation, workgroup, dispatch, output;
	uint64_t job, check, build, build_instruction;
	uint64_t message, message_byte, upload, link, alias, refusal, contract_fuel;
};

#endif
