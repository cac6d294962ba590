/* Problems that the op's library makes itself, for ops whose inputs hang together (pctl_oplib.problem). */
#include <stdio.h>
#include <string.h>

#include "evidence/proof/plans.h"
#include "runtime/graph/type.h"

#define BYTES_MOST (256ull << 20) /* of one input */

typedef struct making {
	pctl_problem *p;
	const pctl_call *call;
} making;

static pctl_status senseless(const making *m, const char *what, uint64_t found)
{
	return pctl_refuse(m->call, PC5353_PLAN_LAW, "a problem of %s: %s %llu",
			   m->p->op.desc->name, what, (unsigned long long)found);
}

static pctl_status input(void *ctx, uint32_t port, const pctl_tensor_type *t, const void *data,
			 uint64_t n_bytes)
{
	making *m = ctx;
	uint64_t bytes;
	pctl_status status;

	/* The next element of a list. */
	if (port == m->p->n_in && pctl_op_takes(m->p->op.desc, port + 1))
		m->p->n_in++;
	if (port >= m->p->n_in)
		return senseless(m, "there is no port", port);
	if (t->rank > PCTL_RANK_MAX || !pctl_type_bytes(t, &bytes) || bytes > BYTES_MOST)
		return senseless(m, "the tensor is too large at port", port);
	if (n_bytes != bytes)
		return senseless(m, "the number of bytes does not fit the type:", n_bytes);
	status = pctl_problem_port(m->p, port, t, m->call);
	if (status == PCTL_OK && bytes != 0)
		memcpy(m->p->data[port], data, bytes);
	return status;
}

static pctl_status attr(void *ctx, uint32_t i, const char *text)
{
	making *m = ctx;

	if (i >= m->p->n_attr)
		return senseless(m, "there is no attribute", i);
	pctl_problem_set(m->p, i, text);
	return PCTL_OK;
}

static pctl_status measured(void *ctx, uint64_t value)
{
	((making *)ctx)->p->size = value;
	return PCTL_OK;
}

static pctl_status rigid(void *ctx)
{
	((making *)ctx)->p->rigid = 1;
	return PCTL_OK;
}

const pctl_op_problems *pctl_problems_own(const pctl_op_ref *op)
{
	return PCTL_HAS(op->lib, pctl_oplib, problem) && op->lib->problems != NULL &&
			       op->lib->problem != NULL
		       ? op->lib->problems(op->inst, op->index)
		       : NULL;
}

pctl_status pctl_problems_own_make(const pctl_problems *l, uint64_t number, const pctl_call *call,
				   pctl_problem *out, int *made)
{
	making m = {out, call};
	const pctl_problem_sink sink = {
		PCTL_HEAD(pctl_problem_sink), &m, input, attr, measured, rigid};
	const pctl_status status =
		l->op.lib->problem(l->op.inst, call, l->op.index, l->dtype, number, l->seed, &sink);

	*made = status == PCTL_OK;
	if (status == PCTL_E_UNSUPPORTED)
		return PCTL_OK;
	for (uint32_t i = 0; i < out->n_in && status == PCTL_OK; i++)
		if (out->data[i] == NULL)
			return senseless(&m, "nothing was put into port", i);
	return status;
}
