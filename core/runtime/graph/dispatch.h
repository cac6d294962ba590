/* What a dispatch says of one axis: a number of workgroups, a parameter, or a dimension that is divided and rounded up. The one
 * place that reads this notation; values of names are the caller's. */
#ifndef PIPECTL_RUNTIME_GRAPH_DISPATCH_H
#define PIPECTL_RUNTIME_GRAPH_DISPATCH_H

#include "runtime/graph/pipeline.h"

/* "64", "$param", "dim", "dim/64". name NULL: a number, `value` before the division. */
typedef struct pctl_group_count {
	const char *name;
	uint64_t value;
	uint64_t by;
} pctl_group_count;

#define PCTL_GROUP_COUNT_HINT "write a number, \"$param\", \"dim\" or \"dim/64\""

/* 1 and *out when it is written as above; the name lives in the arena. */
int pctl_group_count_parse(const pctl_pipe_value *v, pctl_arena *arena, pctl_group_count *out);

/* 1 and the number of workgroups, when value_of knows the name and the number fits in 32 bits. */
int pctl_group_count_value(const pctl_group_count *c,
			   int (*value_of)(void *ctx, const char *name, uint64_t *out), void *ctx,
			   uint32_t *out);

#endif
