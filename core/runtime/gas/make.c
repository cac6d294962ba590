/* A schedule made from numbers: the default table of costs under other weights. */
#include <stdlib.h>
#include <string.h>

#include "runtime/gas/schedule.h"

pctl_status pctl_gas_schedule_make(const char *name, int structured, const pctl_gas_weights *w,
				   const pctl_call *call, pctl_gas_schedule **out)
{
	pctl_gas_schedule *s;
	pctl_cost_table *t;

	*out = NULL;
	if (w->memory_unit_bytes == 0)
		return pctl_refuse(call, PC2603_GAS_SCHEDULE, "memory_unit_bytes is 0");
	if (w->storage_barrier > UINT64_MAX - w->workgroup_barrier)
		return pctl_refuse(call, PC2603_GAS_SCHEDULE,
				   "the barriers' weights do not fit together");
	s = calloc(1, sizeof(*s));
	if (s == NULL || (s->name = strdup(name)) == NULL) {
		free(s);
		return pctl_no_memory(call, "a gas schedule");
	}
	s->structured = structured;
	s->has_floats = 1;
	t = &s->costs;
	pctl_cost_table_default(t);
	/* Made for rules that refuse subgroups; a price for them would be one more to freeze. */
	for (uint16_t op = 0; op < PCTL_COST_OPS; op++)
		if (pctl_op_get(op)->kind == PCTL_OPKIND_subgroup ||
		    pctl_op_get(op)->kind == PCTL_OPKIND_tile)
			t->kind[op] = PCTL_COST_UNPRICED;
	t->integer = w->integer;
	t->division = w->division;
	t->atomic = w->atomic;
	t->float_op = w->float_op;
	t->float_division = w->float_division;
	t->elementary = w->elementary;
	t->read = w->storage_read;
	t->write = w->storage_write;
	t->workgroup_barrier = w->workgroup_barrier;
	t->storage_barrier = w->storage_barrier;
	t->memory_ops = w->local_memory_ops;
	t->index_check = w->index_check;
	s->memory = w->memory;
	s->memory_unit_bytes = w->memory_unit_bytes;
	s->dependency_hop = w->dependency_hop;
	s->validation = w->validation;
	*out = s;
	return PCTL_OK;
}
