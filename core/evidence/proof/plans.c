/* Units of proof for plan ops: parity of generated problems with reference() byte for byte, laws that its library checks, and
 * for approximate ops their tolerance, measured exactly. */
#include "evidence/proof/plans.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/type.h"
#include "evidence/proof/gates.h"

#define PROBLEMS_A_BLOCK 8u
#define LAW_ELEMENTS_MOST 70000u /* laws of problems above this size are left to parity */

/* Context of a unit: its problems, and the law (NULL: parity). */
typedef struct plan_unit {
	const pctl_problems *problems;
	const pctl_plan_law *law; /* NULL: parity */
} plan_unit;

/* The first that fails is made small and told. */
static pctl_status tell(const pctl_plan_judge *j, pctl_problem *p, const pctl_verdict *v,
			const pctl_call *call, pctl_counterexample *out)
{
	pctl_verdict small;
	pctl_status status = pctl_judge_shrink(j, p, call, &out->minimal);

	if (status == PCTL_OK)
		status = pctl_plan_judge_problem(j, p, NULL, call, &small);
	/* A device that is wrong only at times: what it was first is told. */
	if (status != PCTL_OK || !small.failed) {
		small = *v;
		out->minimal = 0;
	}
	pctl_problem_describe(p, out->inputs, sizeof(out->inputs));
	snprintf(out->got, sizeof(out->got), "%s", small.got);
	snprintf(out->want, sizeof(out->want), "%s", small.want);
	snprintf(out->law, sizeof(out->law), "%s",
		 j->law != NULL ? j->law->text : "equals the reference");
	return status == PCTL_E_CANCELLED ? status : PCTL_OK;
}

static pctl_status run_problem(const pctl_plan_judge *j, const pctl_problems *problems, uint64_t i,
			       pctl_hasher *hash, const pctl_call *call, pctl_block *out)
{
	pctl_problem p;
	pctl_verdict v;
	pctl_status status = pctl_problems_make(problems, i, call, &p);

	if (status != PCTL_OK)
		return status;
	memset(&v, 0, sizeof(v));
	v.skipped = j->law != NULL && pctl_problem_elements(&p) > LAW_ELEMENTS_MOST;
	if (!v.skipped)
		status = pctl_plan_judge_problem(j, &p, hash, call, &v);
	if (status == PCTL_OK) {
		const int skipped = v.skipped && !v.failed;

		out->cases += !skipped;
		out->skipped += (uint64_t)skipped;
		if (v.failed && out->failures++ == 0)
			status = tell(j, &p, &v, call, &out->first);
	}
	pctl_problem_clear(&p);
	return status;
}

static pctl_status run_block(const pctl_unit *u, pctl_proof_context *b, uint64_t block,
			     const pctl_call *call, pctl_block *out)
{
	const plan_unit *ctx = u->ctx;
	pctl_session_solver device, reference, parts;
	const pctl_plan_judge j = {b->ops, &device.solver, &reference.solver, ctx->law,
				   &parts.solver};
	const uint64_t first = block * PROBLEMS_A_BLOCK;
	pctl_hasher *hash = NULL;
	pctl_status status = pctl_hasher_create(call, &hash);
	pctl_cid digest;

	memset(out, 0, sizeof(*out));
	pctl_solver_session(&device, b, b->device);
	pctl_solver_reference(&reference, b);
	pctl_solver_parts(&parts, b, b->device);
	for (uint64_t i = first;
	     i < first + PROBLEMS_A_BLOCK && i < ctx->problems->n && status == PCTL_OK; i++) {
		status = pctl_is_cancelled(call)
				 ? PCTL_E_CANCELLED
				 : run_problem(&j, ctx->problems, i, hash, call, out);
	}
	if (status != PCTL_OK) {
		pctl_hasher_destroy(hash);
		return status;
	}
	status = pctl_hasher_finish(hash, &digest);
	if (status == PCTL_OK && !(u->flags & PCTL_UNIT_MEASURED))
		memcpy(out->digest, digest.digest, sizeof(out->digest));
	return status;
}

/* ---- the list ------------------------------------------------------------------------------- */

static uint32_t track_of(const pctl_op_desc *d)
{
	return d->op_class == PCTL_CLASS_APPROXIMATE ? PCTL_TRACK_APPROXIMATE
	       : d->op_class == PCTL_CLASS_STRICT    ? PCTL_TRACK_FLOAT
						     : PCTL_TRACK_INTEGER;
}

/* "f32, up to 65537 elements, op=add|mul, 500 problems" */
static const char *domain_of(const pctl_problems *l, pctl_arena *arena)
{
	const pctl_op_desc *d = l->op.desc;
	char attrs[160] = "";
	size_t at = 0;

	for (uint32_t i = 0; i < d->n_attr && i < PCTL_ATTRS_MAX; i++) {
		if (l->n_values[i] < 2)
			continue;
		at += (size_t)snprintf(attrs + at, sizeof(attrs) - at, ", %.20s=", d->attr[i].name);
		for (uint32_t k = 0; k < l->n_values[i] && at + 40 < sizeof(attrs); k++)
			at += (size_t)snprintf(attrs + at, sizeof(attrs) - at, "%s%.30s",
					       k == 0 ? "" : "|", l->values[i][k]);
		if (at + 64 > sizeof(attrs))
			break;
	}
	if (l->own != NULL)
		return pctl_arena_printf(arena, "%.160s, %" PRIu64 " problems, seed %" PRIu64,
					 l->own->about == NULL ? "of its own" : l->own->about, l->n,
					 l->seed);
	return pctl_arena_printf(
		arena, "%s, up to %" PRIu64 " elements%s, %" PRIu64 " problems, seed %" PRIu64,
		pctl_dtype_name(l->dtype), l->sizes[l->n_sizes - 1], attrs, l->n, l->seed);
}

pctl_status pctl_plan_unit_add(const pctl_problems *l, pctl_unit *u, const pctl_call *call,
			       pctl_units *list)
{
	const pctl_op_desc *d = l->op.desc;

	u->op = pctl_arena_printf(list->arena, "%s@%" PRIu32, d->name, d->version);
	u->subject = pctl_arena_printf(list->arena, "%s@%" PRIu32 " %s", d->name, d->version,
				       pctl_dtype_name(l->dtype));
	if (u->op == NULL || u->subject == NULL)
		return pctl_no_memory(call, "units of proof");
	return pctl_units_add(list, u, call);
}

static pctl_status add_unit(const pctl_problems *l, const pctl_plan_law *law, uint32_t kind,
			    uint32_t level, const pctl_call *call, pctl_units *list)
{
	const pctl_op_desc *d = l->op.desc;
	plan_unit *ctx = pctl_arena_alloc(list->arena, sizeof(*ctx));
	pctl_unit u = {.kind = kind,
		       .level = level,
		       .track = track_of(d),
		       .n_cases = l->n,
		       .run = run_block};

	if (ctx == NULL)
		return pctl_no_memory(call, "units of proof");
	*ctx = (plan_unit){l, law};
	u.ctx = ctx;
	u.name = law == NULL ? PCTL_UNIT_PROBLEMS : law->name;
	u.domain = domain_of(l, list->arena);
	u.flags = law != NULL && law->measured ? PCTL_UNIT_MEASURED : 0;
	u.n_blocks = (l->n + PROBLEMS_A_BLOCK - 1) / PROBLEMS_A_BLOCK;
	if (u.domain == NULL)
		return pctl_no_memory(call, "units of proof");
	return pctl_plan_unit_add(l, &u, call, list);
}

/* A law as said in the library: a unit, or prose that is named and counts for nothing. first: of the op's dtypes. */
static pctl_status add_law(const pctl_problems *l, const pctl_op_rules *rules, uint32_t i,
			   int first, const pctl_selection *s, const pctl_call *call,
			   pctl_units *list, uint32_t *n_measures, uint32_t *n_laws)
{
	const uint32_t track = track_of(l->op.desc);
	const pctl_law *said = &rules->laws[i];
	pctl_plan_law *law = pctl_arena_alloc(list->arena, sizeof(*law));
	uint32_t level = track == PCTL_TRACK_INTEGER ? 3 : track == PCTL_TRACK_FLOAT ? 2 : 1;

	if (law == NULL)
		return pctl_no_memory(call, "units of proof");
	if (!pctl_plan_law_of(&l->op, i, law)) {
		if (first)
			pctl_warn_at(call, PC5351_PLAN_PROSE, NULL, NULL, "%s@%" PRIu32 ": \"%s\"",
				     l->op.desc->name, l->op.desc->version,
				     said->custom == NULL ? "a law of functions" : said->custom);
		return PCTL_OK;
	}
	*n_measures += law->measured;
	*n_laws += !law->composed;
	if (law->composed)
		level = 4;
	if (level > s->level)
		return PCTL_OK;
	return add_unit(l, law,
			law->composed	? PCTL_UNIT_COMPOSITION
			: law->measured ? PCTL_UNIT_PARITY
					: PCTL_UNIT_LAW,
			level, call, list);
}

static pctl_status run_lawless(const pctl_unit *u, pctl_proof_context *b, uint64_t block,
			       const pctl_call *call, pctl_block *out)
{
	(void)b;
	(void)block;
	memset(out, 0, sizeof(*out));
	return pctl_refuse(call, PC5354_PLAN_LAWLESS, "%s: no law of it can be checked",
			   u->subject);
}

/* An op without a law that is checked cannot hold a level that wants laws: the unit that says so never runs. */
static pctl_status add_lawless(const pctl_problems *l, const pctl_selection *s,
			       const pctl_call *call, pctl_units *list)
{
	const pctl_op_desc *d = l->op.desc;
	const uint32_t track = track_of(d);
	pctl_unit u = {.kind = PCTL_UNIT_LAW,
		       .level = track == PCTL_TRACK_INTEGER ? 3 : 2,
		       .track = track,
		       .name = "laws that nobody checks",
		       .domain = "none",
		       .n_cases = 1,
		       .n_blocks = 1,
		       .run = run_lawless};

	if (u.level > s->level)
		return PCTL_OK;
	return pctl_plan_unit_add(l, &u, call, list);
}

static pctl_status add_dtype(pctl_proof_context *b, const pctl_selection *s, const pctl_op_ref *op,
			     uint32_t dtype, uint32_t *n_before, const pctl_call *call,
			     pctl_units *list)
{
	const pctl_op_rules *rules = op->lib->rules(op->inst, op->index);
	pctl_problems *l = pctl_arena_alloc(list->arena, sizeof(*l));
	const uint32_t track = track_of(op->desc);
	const uint32_t level = track == PCTL_TRACK_INTEGER ? 3 : 1;
	uint32_t n_measures = 0, n_laws = 0;
	pctl_status status;

	if (l == NULL)
		return pctl_no_memory(call, "units of proof");
	status = pctl_problems_of(b, op, dtype, list->arena, call, l);
	if (status != PCTL_OK || l->n == 0)
		return status;
	if (track != PCTL_TRACK_APPROXIMATE && level <= s->level)
		status = add_unit(l, NULL, PCTL_UNIT_PARITY, level, call, list);
	for (uint32_t i = 0; rules != NULL && i < rules->n_laws && status == PCTL_OK; i++)
		status = add_law(l, rules, i, *n_before == 0, s, call, list, &n_measures, &n_laws);
	(*n_before)++;
	if (status == PCTL_OK && track != PCTL_TRACK_APPROXIMATE && n_laws == 0)
		status = add_lawless(l, s, call, list);
	if (status == PCTL_OK && track == PCTL_TRACK_APPROXIMATE && n_measures == 0)
		status = pctl_refuse(call, PC5352_PLAN_TOLERANCE, "%s@%" PRIu32, op->desc->name,
				     op->desc->version);
	return status;
}

static pctl_status add_op(pctl_proof_context *b, const pctl_selection *s, const pctl_op_ref *op,
			  const pctl_call *call, pctl_units *list)
{
	pctl_type_pattern first = {.n_dtypes = 1, .dtype = {PCTL_SCALAR_U32}};
	pctl_status status = PCTL_OK;
	uint32_t n = 0;

	if (op->desc->n_in > 0)
		status = pctl_port_parse(op->desc->in[0].type, list->arena, NULL, call, &first);
	for (uint32_t i = 0; i < first.n_dtypes && status == PCTL_OK; i++)
		status = add_dtype(b, s, op, first.dtype[i], &n, call, list);
	if (status == PCTL_OK && n == 0)
		status = pctl_refuse_at(call, PC5350_PLAN_PROBLEMS, NULL,
					"select other ops with --ops", "%s@%" PRIu32 " of \"%s\"",
					op->desc->name, op->desc->version, op->plugin);
	return status;
}

pctl_status pctl_plan_units(pctl_proof_context *b, const pctl_selection *s, const pctl_call *call,
			    pctl_units *list)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < b->ops->count(b->ops->ctx) && status == PCTL_OK; i++) {
		const uint32_t least = s->track == PCTL_TRACK_INTEGER ? 3 : 1;
		pctl_op_ref op;

		b->ops->at(b->ops->ctx, i, &op);
		if (pctl_gate_as_plan(op.desc) && track_of(op.desc) == s->track &&
		    s->level >= least && pctl_selection_has(s, op.desc))
			status = add_op(b, s, &op, call, list);
	}
	return status;
}
