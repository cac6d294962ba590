/* Findings of the reference as diagnostics; see sanitize.h. */
#include "runtime/exec/sanitize.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_FINDINGS 64u

/* The kernel of dispatch `number` of a list that holds one or more rounds of the plan. */
static const pctl_kernel_module *unit_of(const pctl_job_plan *plan, uint32_t number)
{
	uint32_t kernels = 0;

	for (uint32_t i = 0; i < plan->n_steps; i++)
		kernels += plan->steps[i].kind == PCTL_STEP_KERNEL;
	number = kernels == 0 ? 0 : number % kernels;
	for (uint32_t i = 0; i < plan->n_steps; i++) {
		if (plan->steps[i].kind == PCTL_STEP_KERNEL && number-- == 0)
			return plan->steps[i].unit;
	}
	return NULL;
}

static const char *var_name(const pctl_kernel_module *u, const pctl_finding *f)
{
	const pctl_program *p = u->program;

	if (f->var & PCTL_PLACE_LOCAL) {
		uint32_t local = f->var & ~PCTL_PLACE_LOCAL;

		return f->function < p->n_functions && local < p->functions[f->function].n_locals
			       ? pctl_str(p,
					  p->locals[p->functions[f->function].first_local + local]
						  .name)
			       : "?";
	}
	return f->var < p->n_vars ? pctl_str(p, p->vars[f->var].name) : "?";
}

static pctl_status tell(const pctl_kernel_module *u, const pctl_job_plan *plan,
			const pctl_finding *f, const pctl_call *call)
{
	pctl_note note = {pctl_kernel_position(u, f->other_function, f->other_inst),
			  "the other access is here"};
	pctl_pos pos = pctl_kernel_position(u, f->function, f->inst);
	pctl_diag d = {.head = PCTL_HEAD(pctl_diag),
		       .code = PC5220_RACE,
		       .severity = PCTL_SEVERITY_ERROR,
		       .pos = pos,
		       .subject = plan->name,
		       .notes = &note,
		       .n_notes = 1};
	char text[256];

	if (f->kind == PCTL_FINDING_OUT_OF_BOUNDS) {
		pctl_warn_at(call, PC5222_OUT_OF_BOUNDS, &pos, NULL,
			     "job \"%s\": \"%s\" is accessed out of bounds %" PRIu64
			     " times, first by invocation %" PRIu64,
			     plan->name, var_name(u, f), f->count, f->invocation);
		return PCTL_OK;
	}
	if (f->kind == PCTL_FINDING_DIVERGENT_BARRIER)
		return pctl_refuse_at(call, PC5221_DIVERGENT_BARRIER, &pos, NULL,
				      "job \"%s\": not every invocation of the workgroup reaches "
				      "this barrier (missing: %" PRIu64 ")",
				      plan->name, f->invocation);
	if (f->kind == PCTL_FINDING_TURNS)
		return pctl_refuse_at(
			call, PC5226_TURNS, &pos, PCTL_TURNS_HINT,
			"job \"%s\": kernel %s makes more than %" PRIu32
			" turns of loops that nothing bounds: first invocation "
			"%" PRIu64 ", in workgroup %" PRIu64 ", behind %" PRIu64 " barriers",
			plan->name, u->name, u->turns, f->invocation, f->address, f->count);
	snprintf(text, sizeof(text),
		 "job \"%.64s\": invocations %" PRIu64 " and %" PRIu64 " race for byte %" PRIu64
		 " of \"%.64s\"",
		 plan->name, f->invocation, f->other_invocation, f->address, var_name(u, f));
	d.message = text;
	return pctl_emit(call, &d);
}

static void add_counts(pctl_counts *sum, const pctl_counts *c)
{
	for (uint32_t i = 0; i < sizeof(c->op_units) / sizeof(c->op_units[0]); i++)
		sum->op_units[i] += c->op_units[i];
	for (uint32_t i = 0; i < 4; i++)
		sum->barriers[i] += c->barriers[i];
	sum->storage_read_bytes += c->storage_read_bytes;
	sum->storage_write_bytes += c->storage_write_bytes;
	sum->other_memory_bytes += c->other_memory_bytes;
	sum->checked_accesses += c->checked_accesses;
	sum->out_of_bounds += c->out_of_bounds;
	sum->lane_ops += c->lane_ops;
}

pctl_status pctl_sanitize_report(pctl_session *s, const pctl_job_plan *plan, const pctl_call *call,
				 pctl_counts *counts)
{
	const pctl_backend *t = pctl_session_table(s);
	const int quiet = !(pctl_session_build_flags(s) & PCTL_BUILD_COUNT);
	pctl_counts now = {.head = PCTL_HEAD(pctl_counts)};
	pctl_finding *findings;
	pctl_status status = PCTL_OK, one;
	uint32_t n = 0;

	if (!(pctl_session_build_flags(s) & PCTL_BUILD_SANITIZE) || t->findings == NULL ||
	    t->counts == NULL)
		return PCTL_OK;
	findings = calloc(MOST_FINDINGS, sizeof(*findings));
	if (findings == NULL)
		return pctl_no_memory(call, "findings");
	status = t->findings(pctl_session_device(s), call, MOST_FINDINGS, findings, &n);
	if (status == PCTL_OK) {
		for (uint32_t i = 0; i < n && i < MOST_FINDINGS; i++) {
			const pctl_kernel_module *u = unit_of(plan, findings[i].dispatch);

			if (quiet && findings[i].kind == PCTL_FINDING_OUT_OF_BOUNDS)
				continue;
			one = u == NULL ? PCTL_E_INTERNAL : tell(u, plan, &findings[i], call);
			if (status == PCTL_OK)
				status = one;
		}
	}
	free(findings);
	one = t->counts(pctl_session_device(s), call, &now);
	if (one == PCTL_OK)
		add_counts(counts, &now);
	return status == PCTL_OK ? one : status;
}
