/* Baselines of plan ops of floats: how many elements of its first input a second the op takes on the device, on the largest of the
 * problems that its parity has. A measurement: it judges nothing and is compared with nothing here. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/proof/gates.h"
#include "evidence/proof/plans.h"
#include "foundation/base/num.h"
#include "foundation/base/order.h"
#include "runtime/graph/type.h"

#define RUNS 5u

/* The one with the most elements, the first of several. */
static pctl_status largest(const pctl_problems *l, const pctl_call *call, pctl_problem *out)
{
	uint64_t best = 0, most = 0;

	for (uint64_t i = 0; i < l->n; i++) {
		pctl_problem p;
		const pctl_status status = pctl_problems_make(l, i, call, &p);

		if (status != PCTL_OK)
			return status;
		if (pctl_problem_elements(&p) > most) {
			most = pctl_problem_elements(&p);
			best = i;
		}
		pctl_problem_clear(&p);
	}
	return pctl_problems_make(l, best, call, out);
}

/* One run: the device's own time where it tells it. */
static pctl_status take_time(pctl_session_solver *s, const pctl_problem *p, const pctl_call *call,
			     uint64_t *ns, uint32_t *refused)
{
	pctl_job_stats stats = {0};
	pctl_answer a;
	pctl_status status;

	s->stats = &stats;
	status = s->solver.solve(s->solver.ctx, p, call, &a);
	s->stats = NULL;
	*refused = a.refused;
	*ns = stats.device_ns != 0 ? stats.device_ns : stats.dispatch_ns;
	if (*ns == 0)
		*ns = 1;
	pctl_answer_clear(&a);
	return status;
}

static pctl_status run(const pctl_unit *u, pctl_proof_context *b, uint64_t block,
		       const pctl_call *call, pctl_block *out)
{
	uint64_t times[RUNS], n;
	uint32_t refused = 0;
	pctl_session_solver device;
	pctl_problem p;
	pctl_status status = largest(u->ctx, call, &p);

	(void)block;
	memset(out, 0, sizeof(*out));
	if (status != PCTL_OK)
		return status;
	pctl_solver_session(&device, b, b->device);
	status = take_time(&device, &p, call, &times[0], &refused); /* kernels are built */
	for (uint32_t i = 0; i < RUNS && status == PCTL_OK; i++)
		status = take_time(&device, &p, call, &times[i], &refused);
	n = pctl_problem_elements(&p);
	pctl_problem_clear(&p);
	if (status != PCTL_OK)
		return status;
	qsort(times, RUNS, sizeof(times[0]), pctl_order_u64);
	out->cases = !refused;
	out->skipped = refused;
	pctl_num_print(out->value, sizeof(out->value), "%.3e elements/s, %" PRIu64 " elements",
		       (double)n * 1e9 / (double)times[RUNS / 2], n);
	return PCTL_OK;
}

static pctl_status add(const pctl_problems *l, const pctl_call *call, pctl_units *list)
{
	pctl_unit u = {.name = "throughput",
		       .domain = "the largest of its problems",
		       .kind = PCTL_UNIT_BASELINE,
		       .level = 4,
		       .track = PCTL_TRACK_FLOAT,
		       .flags = PCTL_UNIT_MEASURED,
		       .n_cases = 1,
		       .n_blocks = 1,
		       .ctx = (void *)(uintptr_t)l,
		       .run = run};

	return pctl_plan_unit_add(l, &u, call, list);
}

pctl_status pctl_plan_baselines(pctl_proof_context *b, const pctl_op_ref *op, const pctl_call *call,
				pctl_units *list)
{
	pctl_type_pattern first = {.n_dtypes = 1, .dtype = {PCTL_SCALAR_U32}};
	pctl_status status = PCTL_OK;

	if (op->desc->n_in > 0)
		status = pctl_port_parse(op->desc->in[0].type, list->arena, NULL, call, &first);
	for (uint32_t i = 0; i < first.n_dtypes && status == PCTL_OK; i++) {
		pctl_problems *l = pctl_arena_alloc(list->arena, sizeof(*l));

		if (l == NULL)
			return pctl_no_memory(call, "units of proof");
		status = pctl_problems_of(b, op, first.dtype[i], list->arena, call, l);
		if (status == PCTL_OK && l->n != 0)
			status = add(l, call, list);
	}
	return status;
}
