/* An audit from its options to its result: who takes part, what the pipeline is, then runs, votes and divergences. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/audit/audit_private.h"
#include "foundation/base/file.h"
#include "foundation/base/clock.h"

#define LARGEST_PIPELINE (64u << 20)

void pctl_audit_result_destroy(pctl_audit_result *r)
{
	if (r != NULL)
		pctl_arena_destroy(r->arena); /* which holds r itself */
}

static pctl_status create_result(pctl_auditing *a)
{
	pctl_arena *arena = pctl_arena_create();

	a->kept = arena == NULL ? NULL : pctl_arena_alloc(arena, sizeof(*a->kept));
	if (a->kept == NULL) {
		pctl_arena_destroy(arena);
		return pctl_no_memory(a->call, "an audit");
	}
	a->r = &a->kept->result;
	a->r->arena = arena;
	return PCTL_OK;
}

/* ---- who takes part ----------------------------------------------------------------------- */

static pctl_status seat_device(pctl_auditing *a, uint32_t i)
{
	uint32_t flags = a->o->run.flags & PCTL_RUN_IN_PROCESS ? PCTL_DEVICES_IN_PROCESS : 0;
	pctl_audit_device *d = &a->r->devices[i];
	const pctl_device_entry *e;
	const pctl_plugin_info *p;
	pctl_arena *arena = a->r->arena;
	pctl_status status = pctl_devices_find(a->o->run.registry, a->o->selectors[i], flags,
					       a->call, &a->lists[i], &e);

	if (status != PCTL_OK)
		return status;
	a->entries[i] = e;
	d->selector = pctl_arena_dup(arena, e->selector);
	d->name = pctl_arena_dup(arena, e->name);
	d->driver = pctl_arena_dup(arena, e->driver == NULL ? "" : e->driver);
	d->plugin = pctl_arena_dup(arena, e->backend);
	d->driver_key = pctl_arena_dup(arena, e->env == NULL ? "" : e->env->key);
	d->kind = e->kind;
	p = pctl_registry_find(a->o->run.registry, e->backend);
	d->plugin_file =
		p == NULL || p->sha256 == NULL ? d->plugin : pctl_arena_dup(arena, p->sha256);
	d->driver_code = "";
	d->vouched = pctl_audit_is_vouched(p);
	if (d->selector == NULL || d->name == NULL || d->driver == NULL || d->plugin == NULL ||
	    d->driver_key == NULL || d->plugin_file == NULL)
		return pctl_no_memory(a->call, "an audit");
	for (uint32_t k = 0; k < i; k++)
		if (strcmp(a->r->devices[k].selector, d->selector) == 0)
			return pctl_refuse(a->call, PC5601_AUDIT_DEVICES,
					   "\"%s\" and \"%s\" are the same device",
					   a->o->selectors[k], a->o->selectors[i]);
	return PCTL_OK;
}

static pctl_status seat(pctl_auditing *a)
{
	uint32_t n = a->o->n_selectors;
	pctl_status status = PCTL_OK;

	if (n < 2)
		return pctl_refuse(a->call, PC5601_AUDIT_DEVICES,
				   "an audit compares at least two devices, %" PRIu32 " given", n);
	if (a->o->quorum > n)
		return pctl_refuse(a->call, PC5601_AUDIT_DEVICES,
				   "a quorum of %" PRIu32 " among %" PRIu32 " devices",
				   a->o->quorum, n);
	a->lists = pctl_arena_array(a->r->arena, n, sizeof(pctl_devices *));
	a->entries = pctl_arena_array(a->r->arena, n, sizeof(pctl_device_entry *));
	a->r->devices = pctl_arena_array(a->r->arena, n, sizeof(*a->r->devices));
	a->kept->profiles = pctl_arena_array(a->r->arena, n, sizeof(pctl_profile_record *));
	if (a->lists == NULL || a->entries == NULL || a->r->devices == NULL ||
	    a->kept->profiles == NULL)
		return pctl_no_memory(a->call, "an audit");
	a->r->n_devices = n;
	a->r->repeat = a->o->natives ? 2 : a->o->repeat == 0 ? 1 : a->o->repeat;
	a->r->quorum = a->o->quorum == 0 ? n / 2 + 1 : a->o->quorum;
	a->r->natives = a->o->natives;
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		status = seat_device(a, i);
	return status;
}

/* ---- what is audited ---------------------------------------------------------------------- */

static pctl_status make_cells(pctl_auditing *a)
{
	const pctl_graph *g = a->graph;
	uint32_t n = 0, slots = a->r->n_devices * a->r->repeat, next = 0;

	for (uint32_t i = 0; i < g->n_nodes; i++)
		n += g->nodes[i].n_out;
	a->r->cells = pctl_arena_array(a->r->arena, n, sizeof(*a->r->cells));
	a->first_cell = pctl_arena_array(a->r->arena, g->n_nodes, sizeof(*a->first_cell));
	a->cell_job = pctl_arena_array(a->r->arena, n, sizeof(*a->cell_job));
	a->winner = pctl_arena_array(a->r->arena, n, sizeof(*a->winner));
	if (a->r->cells == NULL || a->first_cell == NULL || a->cell_job == NULL ||
	    a->winner == NULL)
		return pctl_no_memory(a->call, "an audit");
	a->r->n_cells = n;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const pctl_graph_node *node = &g->nodes[g->order[i]];

		a->first_cell[g->order[i]] = next;
		for (uint32_t k = 0; k < node->n_out; k++, next++) {
			pctl_audit_cell *cell = &a->r->cells[next];

			cell->job = pctl_arena_dup(a->r->arena, node->job->id);
			cell->port = pctl_arena_dup(a->r->arena, pctl_node_out_name(node, k));
			cell->cids = pctl_arena_array(a->r->arena, slots, sizeof(*cell->cids));
			cell->groups = pctl_arena_array(a->r->arena, slots, sizeof(*cell->groups));
			cell->device_ns =
				pctl_arena_array(a->r->arena, slots, sizeof(*cell->device_ns));
			a->cell_job[next] = g->order[i];
			if (cell->job == NULL || cell->port == NULL || cell->cids == NULL ||
			    cell->groups == NULL || cell->device_ns == NULL)
				return pctl_no_memory(a->call, "an audit");
		}
	}
	return PCTL_OK;
}

/* What is wrong with the pipeline, its data or the policy is found before any device is blamed for it. */
static pctl_status look_at_pipeline(pctl_auditing *a)
{
	const pctl_pipeline *p = a->graph->pipeline;
	pctl_run_options o = a->o->run;
	pctl_run_result *plan = NULL;
	pctl_audit_result *r = a->r;
	pctl_status status;

	if (o.flags & PCTL_RUN_NATIVE)
		return pctl_refuse(a->call, PC5603_AUDIT_NATIVES,
				   "an audit compares strict runs; native forms are asked for "
				   "with --natives");
	if (a->o->natives && p->max_class != PCTL_CLASS_APPROXIMATE)
		return pctl_refuse(a->call, PC5603_AUDIT_NATIVES, "the pipeline's class is %s",
				   pctl_class_name(p->max_class));
	o.flags |= PCTL_RUN_NO_DEVICE | PCTL_RUN_FRESH;
	o.observe = NULL;
	o.limit = NULL;
	status = pctl_run_plan(a->graph, &o, a->call, &plan);
	if (status != PCTL_OK)
		return status;
	r->inputs = pctl_arena_array(r->arena, plan->n_inputs, sizeof(*r->inputs));
	for (uint32_t i = 0; r->inputs != NULL && i < plan->n_inputs; i++) {
		r->inputs[i] = plan->inputs[i];
		r->inputs[i].name = pctl_arena_dup(r->arena, plan->inputs[i].name);
		r->n_inputs++;
	}
	r->races = plan->stopped_at == NULL ? PCTL_RACES_PROVEN : PCTL_RACES_UNPROVEN;
	for (uint32_t i = 0; i < plan->n_jobs; i++) {
		if (plan->jobs[i].races != PCTL_RACES_PROVEN)
			r->races = PCTL_RACES_UNPROVEN;
		a->order_shows |= plan->jobs[i].order_shows;
	}
	pctl_run_result_destroy(plan);
	r->pipeline = pctl_arena_dup(r->arena, p->name == NULL ? "" : p->name);
	r->pipeline_class = pctl_class_name(p->max_class);
	return r->inputs == NULL || r->pipeline == NULL ? pctl_no_memory(a->call, "an audit")
							: PCTL_OK;
}

static pctl_status name_pipeline(pctl_auditing *a)
{
	char *text = NULL;
	uint64_t n = 0;
	pctl_status status;

	if (a->o->pipeline_file == NULL)
		return PCTL_OK;
	status = pctl_vfs_read(a->graph->pipeline->vfs, a->graph->pipeline->file, LARGEST_PIPELINE,
			       a->call, &text, &n);
	if (status == PCTL_OK)
		status = pctl_cid_of(text, n, a->call, &a->r->pipeline_cid);
	free(text);
	return status;
}

static void sum_up(pctl_auditing *a)
{
	pctl_audit_result *r = a->r;
	int failed = 0;

	r->agreed = r->weak = r->decided = 1;
	for (uint32_t i = 0; i < r->n_cells; i++) {
		const pctl_audit_cell *cell = &r->cells[i];

		r->agreed &= cell->agreed;
		r->weak &= cell->evidence.weak;
		r->decided &= cell->agreed || a->winner[i] != PCTL_AUDIT_NOBODY;
		for (uint32_t k = 0; k < r->n_devices * r->repeat; k++)
			if (!pctl_auditing_is_absent(&cell->cids[k]))
				r->compared_bytes += cell->n_bytes;
	}
	for (uint32_t i = 0; i < r->n_devices; i++)
		failed |= r->devices[i].outcome == PCTL_AUDIT_FAILED;
	r->agreed &= !failed && !r->weak;
}

/* Where no device came to an end, the first one's failure is the audit's. */
static pctl_status refuse_nothing(const pctl_auditing *a)
{
	uint32_t runs = 0;

	for (uint32_t i = 0; i < a->r->n_devices; i++)
		runs += a->r->devices[i].n_runs;
	if (a->r->n_cells == 0)
		return pctl_refuse(a->call, PC5602_AUDIT_NOTHING, "the pipeline has no outputs");
	if (runs != 0)
		return PCTL_OK;
	for (uint32_t i = 0; i < a->r->n_devices; i++)
		(void)pctl_refuse(a->call, PC5602_AUDIT_NOTHING, "%s: %s",
				  a->r->devices[i].selector, a->r->devices[i].cause);
	return pctl_refuse(a->call, PC5602_AUDIT_NOTHING, "no device came to an end");
}

static pctl_status open_scratch(pctl_auditing *a)
{
	char *path = pctl_path_join(a->o->scratch, "blobs");
	pctl_status status;

	if (path == NULL)
		return pctl_no_memory(a->call, "an audit");
	status = pctl_file_make_dirs(path, a->call);
	if (status == PCTL_OK)
		status = pctl_store_open(path, 0, a->call, &a->scratch);
	free(path);
	return status;
}

pctl_status pctl_audit(const pctl_graph *g, const pctl_audit_options *o, const pctl_call *call,
		       pctl_audit_result **out)
{
	uint64_t started = pctl_clock_ns();
	pctl_auditing a = {.graph = g, .o = o, .call = call};
	pctl_status status = create_result(&a);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	status = seat(&a);
	if (status == PCTL_OK)
		status = look_at_pipeline(&a);
	if (status == PCTL_OK)
		status = pctl_auditing_check_races(&a);
	if (status == PCTL_OK)
		status = name_pipeline(&a);
	if (status == PCTL_OK)
		status = make_cells(&a);
	if (status == PCTL_OK)
		status = open_scratch(&a);
	if (status == PCTL_OK)
		status = pctl_auditing_run_all(&a);
	if (status == PCTL_OK)
		status = refuse_nothing(&a);
	if (status == PCTL_OK)
		status = pctl_auditing_vote(&a);
	if (status == PCTL_OK)
		status = pctl_auditing_acquit(&a);
	if (status == PCTL_OK)
		sum_up(&a);
	if (status == PCTL_OK)
		status = pctl_auditing_diverge(&a);
	for (uint32_t i = 0; a.lists != NULL && i < a.r->n_devices; i++)
		pctl_devices_destroy(a.lists[i]);
	pctl_store_close(a.scratch);
	if (status != PCTL_OK) {
		pctl_audit_result_destroy(a.r);
		return status;
	}
	a.r->wall_ns = pctl_clock_ns() - started;
	*out = a.r;
	return PCTL_OK;
}

pctl_status pctl_audit_quarantine(const pctl_audit_result *r, const pctl_audit_options *o,
				  const pctl_call *call, uint32_t *n_out)
{
	const pctl_audit_kept *kept = (const pctl_audit_kept *)(const void *)r;
	pctl_status status = PCTL_OK;

	*n_out = 0;
	for (uint32_t i = 0; status == PCTL_OK && i < r->n_devices; i++) {
		const pctl_audit_device *d = &r->devices[i];

		if (d->outcome != PCTL_AUDIT_OUTVOTED && d->outcome != PCTL_AUDIT_UNSTEADY)
			continue;
		status = pctl_quarantine_put(o->run.registry, d->plugin, d->driver_key, d->cause,
					     "audit", call);
		if (status == PCTL_OK && kept->profiles[i] != NULL && o->run.profiles != NULL)
			status = pctl_profiles_revoke(o->run.profiles, kept->profiles[i], d->cause,
						      call);
		*n_out += status == PCTL_OK;
	}
	return status;
}
