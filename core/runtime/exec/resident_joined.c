/* Several commands of a resident run as one kernel: what is bound to it, its unit, and all that a job's kernel goes through before it runs. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/diag/diag.h"
#include "runtime/exec/job_private.h"
#include "runtime/exec/resident_join.h"

#define MOST_SLOTS 40u

/* What commands become together: a plan of one kernel, whose buffers are the slots. */
struct joined {
	pctl_resident *r;
	const pctl_resident_command *of[PCTL_JOIN_PARTS];
	uint32_t n, how;
	pctl_resident_range slots[MOST_SLOTS];
	char *types[MOST_SLOTS];    /* of the variables there */
	uint8_t is_own[MOST_SLOTS]; /* of AHEAD: in workgroup memory */
	uint32_t n_slots;
	uint32_t *slot_of[PCTL_JOIN_PARTS]; /* by variable of the part's program */
	uint64_t *own_of[PCTL_JOIN_PARTS];
};

int pctl_resident_overlap(const pctl_resident_range *a, const pctl_resident_range *b)
{
	return a->span == b->span && pctl_num_overlap(a->offset, a->n_bytes, b->offset, b->n_bytes);
}

static int is_same(const pctl_resident_range *a, const pctl_resident_range *b)
{
	return a->span == b->span && a->offset == b->offset && a->n_bytes == b->n_bytes;
}

/* ---- slots ---------------------------------------------------------------------------------- */

static const pctl_resident_range *range_of(const pctl_resident_command *c, const pctl_var *v)
{
	for (uint32_t i = 0; i < c->n_ranges; i++)
		if (c->ranges[i].group == v->group && c->ranges[i].binding == v->binding)
			return &c->ranges[i];
	return NULL;
}

/* Parameters are the same where their bytes are. */
static int same_bytes(const pctl_resident *r, const pctl_resident_range *a,
		      const pctl_resident_range *b)
{
	const pctl_resident_span *x = &r->spans[a->span], *y = &r->spans[b->span];

	return is_same(a, b) ||
	       (x->kind == PCTL_SPAN_PARAMS && y->kind == PCTL_SPAN_PARAMS &&
		a->n_bytes == b->n_bytes && a->offset + a->n_bytes <= x->plan->n_bytes &&
		b->offset + b->n_bytes <= y->plan->n_bytes &&
		memcmp((const uint8_t *)x->plan->data + a->offset,
		       (const uint8_t *)y->plan->data + b->offset, a->n_bytes) == 0);
}

/* Words are words, whatever numbers they are read as. */
static const char *kind_of(const char *type)
{
	return strcmp(type, "array<f32>") == 0 || strcmp(type, "array<i32>") == 0 ? "array<u32>"
										  : type;
}

/* The slot of a variable: one that has its bytes and its type already, or a new one. UINT32_MAX: none is left, or two types would be bound to what one of them
 * changes. */
static uint32_t slot_for(struct joined *j, const pctl_resident_range *a, const char *type,
			 uint8_t space)
{
	char *own;
	uint32_t i;

	for (i = 0; i < j->n_slots; i++) {
		const int is_type =
			j->types[i][0] == (char)('0' + space) && strcmp(j->types[i] + 1, type) == 0;

		if (is_type && same_bytes(j->r, &j->slots[i], a))
			break;
		if ((j->slots[i].writes || a->writes) && pctl_resident_overlap(&j->slots[i], a))
			return UINT32_MAX;
	}
	if (i < j->n_slots) {
		j->slots[i].writes |= a->writes;
		return i;
	}
	own = j->n_slots == MOST_SLOTS ? NULL : malloc(strlen(type) + 2);
	if (own == NULL)
		return UINT32_MAX;
	own[0] = (char)('0' + space);
	strcpy(own + 1, type);
	j->types[j->n_slots] = own;
	j->slots[j->n_slots] = *a;
	j->slots[j->n_slots].group = 0;
	j->slots[j->n_slots].binding = j->n_slots;
	return j->n_slots++;
}

static int place_part(struct joined *j, uint32_t part)
{
	const pctl_resident_command *c = j->of[part];
	const pctl_program *p = c->step->unit->program;

	j->slot_of[part] = calloc(p->n_vars + 1u, sizeof(uint32_t));
	if (j->slot_of[part] == NULL)
		return 0;
	for (uint32_t v = 0; v < p->n_vars; v++) {
		const pctl_resident_range *a;
		char *type;

		if (p->vars[v].space < PCTL_SPACE_UNIFORM)
			continue;
		a = range_of(c, &p->vars[v]);
		type = a == NULL ? NULL : pctl_program_print_type(p, p->vars[v].type);
		if (type == NULL)
			return 0;
		j->slot_of[part][v] = slot_for(j, a, kind_of(type), p->vars[v].space);
		free(type);
		if (j->slot_of[part][v] == UINT32_MAX)
			return 0;
	}
	return 1;
}

/* What is written and is in two slots would be two variables of one memory: slot_for looked at those that were there, and this at what was written later. */
static int is_apart(const struct joined *j)
{
	for (uint32_t i = 0; i < j->n_slots; i++)
		for (uint32_t k = 0; k < i; k++)
			if ((j->slots[i].writes || j->slots[k].writes) &&
			    pctl_resident_overlap(&j->slots[i], &j->slots[k]))
				return 0;
	return 1;
}

/* What those ahead write lies in workgroup memory: 0 where a slot has more than one can have. */
static int keep_own(struct joined *j)
{
	for (uint32_t i = 0; i < j->n; i++) {
		const pctl_program *p = j->of[i]->step->unit->program;

		j->own_of[i] = calloc(p->n_vars + 1u, sizeof(uint64_t));
		if (j->own_of[i] == NULL)
			return 0;
	}
	for (uint32_t i = 0; i + 1 < j->n; i++)
		for (uint32_t v = 0; v < j->of[i]->step->unit->program->n_vars; v++) {
			const pctl_var *var = &j->of[i]->step->unit->program->vars[v];

			if (var->space == PCTL_SPACE_STORAGE && var->access & PCTL_ACCESS_WRITE)
				j->is_own[j->slot_of[i][v]] = 1;
		}
	for (uint32_t i = 0; i < j->n; i++)
		for (uint32_t v = 0; v < j->of[i]->step->unit->program->n_vars; v++)
			if (j->of[i]->step->unit->program->vars[v].space >= PCTL_SPACE_UNIFORM &&
			    j->is_own[j->slot_of[i][v]])
				j->own_of[i][v] = j->slots[j->slot_of[i][v]].n_bytes;
	return 1;
}

/* ---- the kernel ----------------------------------------------------------------------------- */

static pctl_status unit_of(const struct joined *j, const pctl_call *call,
			   const pctl_kernel_module **out)
{
	pctl_kernel_part parts[PCTL_JOIN_PARTS];
	pctl_known_binding known[MOST_SLOTS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->n; i++)
		parts[i] = (pctl_kernel_part){.unit = j->of[i]->step->unit,
					      .slots = j->slot_of[i],
					      .own = j->own_of[i],
					      .groups = j->of[i]->step->groups[0]};
	for (uint32_t i = 0; i < j->n_slots; i++)
		if (!j->is_own[i])
			known[n++] = (pctl_known_binding){0, i, j->slots[i].n_bytes};
	return pctl_kernels_join(j->r->run.graph->kernels, parts, j->n, j->how, known, n, call,
				 out);
}

/* As a job's: learned, judged, built, and its first build held against the reference. */
static pctl_status ready(const struct joined *j, const pctl_job_plan *plan, const pctl_call *call,
			 pctl_kernel **out)
{
	pctl_session *s = j->r->s;
	pctl_status status = pctl_session_learn(s, plan->steps[0].unit, call);

	if (status == PCTL_OK)
		status = pctl_session_qualify(s, plan, call);
	if (status == PCTL_OK)
		status = pctl_session_kernel(s, plan->steps[0].unit, call, out);
	return status;
}

static pctl_status make_plan(const struct joined *j, const pctl_kernel_module *unit,
			     const pctl_call *call, pctl_job_plan **out)
{
	const pctl_resident *r = j->r;
	uint32_t groups[3] = {0, 1, 1}, number;
	pctl_plan_binding bindings[MOST_SLOTS];
	pctl_status status =
		pctl_job_plan_create(r->run.nodes[j->of[0]->node].node->job->id, call, out);

	for (uint32_t i = 0; status == PCTL_OK && i < j->n_slots; i++) {
		status = pctl_job_plan_buffer(*out, PCTL_PLAN_TEMP, j->slots[i].n_bytes, NULL, call,
					      &number);
		bindings[i] = (pctl_plan_binding){.binding = i, .buffer = i};
	}
	groups[0] = unit->known.groups[0];
	return status == PCTL_OK
		       ? pctl_job_plan_kernel(*out, unit, bindings, j->n_slots, groups, call)
		       : status;
}

/* Its command, in *to: in the place of the last of them. */
static pctl_status take(const struct joined *j, const pctl_step *step, pctl_kernel *kernel,
			pctl_resident_command *to)
{
	pctl_resident *r = j->r;
	pctl_step *own = pctl_arena_alloc(r->arena, sizeof(*own));
	pctl_resident_range *ranges = pctl_arena_array(r->arena, step->n_bindings, sizeof(*ranges));

	if (own == NULL || ranges == NULL)
		return pctl_no_memory(r->call, "a resident run");
	*own = *step;
	own->bindings = pctl_arena_array(r->arena, step->n_bindings, sizeof(*own->bindings));
	if (own->bindings == NULL)
		return pctl_no_memory(r->call, "a resident run");
	for (uint32_t i = 0; i < step->n_bindings; i++) {
		own->bindings[i] = step->bindings[i];
		ranges[i] = j->slots[step->bindings[i].buffer];
		ranges[i].writes =
			(uint32_t)pctl_job_writes(step->unit->program, &step->bindings[i]);
	}
	to->kind = PCTL_STEP_KERNEL;
	to->node = j->of[j->n - 1]->node;
	to->n_ranges = step->n_bindings;
	to->step = own;
	to->kernel = kernel;
	to->ranges = ranges;
	return PCTL_OK;
}

pctl_status pctl_resident_make_joined(pctl_resident *resident, const pctl_resident_joining *what,
				      pctl_resident_command *to, int *is)
{
	struct joined all = {.r = resident, .n = what->n, .how = what->how}, *j = &all;
	pctl_diag_list *unsaid = pctl_diag_list_create();
	pctl_resident *r = j->r;
	const pctl_kernel_module *unit = NULL;
	pctl_job_plan *plan = NULL;
	pctl_kernel *kernel = NULL;
	const pctl_call *call;
	int fits = 1;
	pctl_status status = PCTL_OK;

	*is = 0;
	memcpy(j->of, what->of, sizeof(j->of));
	if (unsaid == NULL)
		return pctl_no_memory(r->call, "a resident run");
	pctl_diag_list_set_cancel(unsaid, r->call->cancelled, r->call->ctx);
	call = pctl_diag_list_call(unsaid);
	for (uint32_t i = 0; fits && i < j->n; i++)
		fits = place_part(j, i);
	fits = fits && is_apart(j) && (j->how != PCTL_JOIN_AHEAD || keep_own(j)) &&
	       j->n_slots <= pctl_session_caps(r->s)->max_bindings;
	if (fits)
		status = unit_of(j, call, &unit);
	if (status == PCTL_OK && unit != NULL)
		status = make_plan(j, unit, call, &plan);
	if (status == PCTL_OK && unit != NULL)
		status = ready(j, plan, call, &kernel);
	/* That it is wrong on this device is for all to know. */
	if (status == PCTL_OK && unit != NULL)
		status = pctl_run_first_builds(&r->run, &r->run.nodes[j->of[0]->node], plan);
	else if (status == PCTL_E_UNSUPPORTED || status == PCTL_E_LIMIT)
		unit = NULL, status = PCTL_OK;
	else
		for (uint32_t i = 0; status != PCTL_OK && i < pctl_diag_list_count(unsaid); i++)
			(void)pctl_emit(r->call, pctl_diag_list_at(unsaid, i));
	if (status == PCTL_OK && unit != NULL)
		status = take(j, &plan->steps[0], kernel, to);
	*is = status == PCTL_OK && unit != NULL;
	pctl_job_plan_destroy(plan);
	pctl_diag_list_destroy(unsaid);
	for (uint32_t i = 0; i < j->n_slots; i++)
		free(j->types[i]);
	for (uint32_t i = 0; i < j->n; i++) {
		free(j->slot_of[i]);
		free(j->own_of[i]);
	}
	return status;
}
