/* The gas schedule of the chain: under version 1 of the rules that of cybergraph-0.2 with the weights of the parameters, from
 * version 2 on consensus-2. */
#include "chain/chain.h"
#include "chain_schedule.h"

static pctl_status released(const pctl_params *p, const pctl_call *call, pctl_gas_schedule **out)
{
	const uint64_t *v = p->values;
	const pctl_gas_weights w = {
		.integer = v[PCTL_PARAM_WEIGHT_INTEGER],
		.division = v[PCTL_PARAM_WEIGHT_DIVISION],
		.atomic = v[PCTL_PARAM_WEIGHT_ATOMIC],
		.storage_read = v[PCTL_PARAM_WEIGHT_STORAGE_READ],
		.storage_write = v[PCTL_PARAM_WEIGHT_STORAGE_WRITE],
		.workgroup_barrier = v[PCTL_PARAM_WEIGHT_WORKGROUP_BARRIER],
		.storage_barrier = v[PCTL_PARAM_WEIGHT_STORAGE_BARRIER],
		.local_memory_ops = v[PCTL_PARAM_WEIGHT_LOCAL_MEMORY_OPS],
		.index_check = v[PCTL_PARAM_WEIGHT_INDEX_CHECK],
		.float_op = v[PCTL_PARAM_WEIGHT_FLOAT],
		.float_division = v[PCTL_PARAM_WEIGHT_FLOAT_DIVISION],
		.elementary = v[PCTL_PARAM_WEIGHT_ELEMENTARY],
		.memory = v[PCTL_PARAM_MEMORY_WEIGHT],
		.memory_unit_bytes = v[PCTL_PARAM_MEMORY_UNIT_BYTES],
		.dependency_hop = v[PCTL_PARAM_DEPENDENCY_COST],
		.validation = v[PCTL_PARAM_VALIDATION_COST],
	};

	return pctl_gas_schedule_make("chain", 0, &w, call, out);
}

pctl_status pctl_chain_schedule(const pctl_params *p, const pctl_call *call,
				pctl_gas_schedule **out)
{
	return pctl_params_has_stakes(p)
		       ? pctl_gas_schedule_text("consensus-2.cfg", KERNEL_CONSENSUS_2, call, out)
		       : released(p, call, out);
}
