/* Plan ops under proof on a device that is wrong: a violator changes answers, or problems, and each is caught and made small. */
#ifndef PIPECTL_TESTS_PROOF_CAUGHT_H
#define PIPECTL_TESTS_PROOF_CAUGHT_H

#include <stdlib.h>

#include "test_proof_devices.h"

#include "planted/planted.h"

/* ---- violators ------------------------------------------------------------------------------------ */

typedef void (*spoiler)(const pctl_problem *p, pctl_answer *a);

typedef struct violator {
	pctl_solver solver;
	pctl_session_solver right;
	spoiler spoil;
	void (*change)(
		pctl_problem *p); /* NULL, or what it makes of a problem before it solves it */
} violator;

static pctl_status solve_wrongly(void *ctx, const pctl_problem *p, const pctl_call *call,
				 pctl_answer *out)
{
	violator *v = ctx;
	pctl_problem changed = {.n_in = 0};
	pctl_status status;

	if (v->change != NULL) {
		status = pctl_problem_copy(p, call, &changed);
		if (status != PCTL_OK)
			return status;
		v->change(&changed);
		p = &changed;
	}
	status = v->right.solver.solve(v->right.solver.ctx, p, call, out);
	if (status == PCTL_OK && !out->refused && v->spoil != NULL)
		v->spoil(p, out);
	pctl_problem_clear(&changed);
	return status;
}

/* Parity or a law of op on dtype: problems until one fails, which is then made small. */
static pctl_problem caught_by(const char *op, uint32_t dtype, const char *law, violator v,
			      const char *spoilt, pctl_verdict *verdict)
{
	char text[256], catcher[256], name[96];
	uint32_t version = 1;
	pctl_session_solver reference;
	pctl_arena *arena = pctl_arena_create();
	pctl_plan_judge j = {rig.context.ops, &v.solver, &reference.solver, NULL, NULL};
	pctl_problem p = {.n_in = 0};
	pctl_problems list;
	uint32_t minimal = 0;
	pctl_plan_law known;
	pctl_op_ref ref;

	v.solver = (pctl_solver){&v, solve_wrongly};
	pctl_solver_session(&v.right, &rig.context, rig.context.device);
	pctl_solver_reference(&reference, &rig.context);
	/* "tensor.sum", of version 1, or "tensor.sum@2". */
	snprintf(name, sizeof(name), "%s", op);
	if (strchr(name, '@') != NULL) {
		version = (uint32_t)strtoul(strchr(name, '@') + 1, NULL, 10);
		*strchr(name, '@') = '\0';
	}
	MUST(pctl_op_find(rig.context.ops, name, version, version, NULL, rig.call, &ref));
	if (law != NULL) {
		assert_true(pctl_plan_law_find(&ref, law, &known));
		j.law = &known;
	}
	MUST(pctl_problems_of(&rig.context, &ref, dtype, arena, rig.call, &list));
	memset(verdict, 0, sizeof(*verdict));
	for (uint64_t i = 0; i < list.n && !verdict->failed; i++) {
		pctl_problem_clear(&p);
		MUST(pctl_problems_make(&list, i, rig.call, &p));
		MUST(pctl_plan_judge_problem(&j, &p, NULL, rig.call, verdict));
	}
	if (!verdict->failed)
		fail_msg("%s: not caught: %s", op, spoilt);
	MUST(pctl_judge_shrink(&j, &p, rig.call, &minimal));
	assert_int_equal(minimal, 1);
	MUST(pctl_plan_judge_problem(&j, &p, NULL, rig.call, verdict));
	assert_int_equal(verdict->failed, 1);
	pctl_problem_describe(&p, text, sizeof(text));
	snprintf(catcher, sizeof(catcher), "%s%s",
		 law == NULL ? "parity" : "law: ", law == NULL ? "" : law);
	planted(spoilt, op, catcher, planted_case(text, verdict->got, verdict->want));
	pctl_arena_destroy(arena);
	return p;
}

static inline pctl_problem caught(const char *op, uint32_t dtype, const char *law, spoiler spoil,
				  const char *spoilt, pctl_verdict *verdict)
{
	return caught_by(op, dtype, law, (violator){.spoil = spoil}, spoilt, verdict);
}

#endif
