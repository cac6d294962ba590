/* What took how long: the one place where stages of a run are noted, by the host's own clock. Telemetry: nothing that is
 * decided, hashed or stored hangs on it. */
#include <string.h>

#include "foundation/base/clock.h"
#include "runtime/exec/run_private.h"

#define FIRST_STAGES 32u
#define LAST_STAGES 2u /* room for those that end when all is stored, which cannot fail any more */

static const struct {
	const char *name, *about;
} words[PCTL_STAGES] = {
	[PCTL_STAGE_INPUTS] = {"inputs", "inputs opened and hashed"},
	[PCTL_STAGE_RECALL] = {"recall", "remembered results looked up"},
	[PCTL_STAGE_CHOOSE] = {"choose", "a device chosen and opened"},
	[PCTL_STAGE_BUILD] = {"build", "kernels built for the device, first builds checked"},
	[PCTL_STAGE_RACES] = {"races", "the reference looked for data races"},
	[PCTL_STAGE_MEASURE] = {"measure", "a size found in data"},
	[PCTL_STAGE_RUN] = {"run", "on the device: upload, dispatch, check"},
	[PCTL_STAGE_UPLOAD] = {"upload", "buffers made, inputs copied to the device"},
	[PCTL_STAGE_DISPATCH] = {"dispatch", "recorded, submitted and waited for"},
	[PCTL_STAGE_CHECK] = {"check", "assertions, guard zones and read-only buffers looked at"},
	[PCTL_STAGE_READ] = {"read", "outputs read from the device"},
	[PCTL_STAGE_VERIFY] = {"verify", "run again on the reference, bytes compared"},
	[PCTL_STAGE_HASH] = {"hash", "bytes hashed into their CID and put into the store"},
	[PCTL_STAGE_STORE] = {"store", "outputs and what is kept, with their evidence"},
	[PCTL_STAGE_REMEMBER] = {"remember", "records of the jobs written"},
};

const char *pctl_run_stage_name(uint32_t kind)
{
	return kind < PCTL_STAGES ? words[kind].name : "?";
}

const char *pctl_run_stage_about(uint32_t kind)
{
	return kind < PCTL_STAGES ? words[kind].about : "?";
}

static pctl_status make_room(pctl_running *r)
{
	pctl_run_result *result = r->result;
	const uint32_t most = r->most_stages == 0 ? FIRST_STAGES : 2 * r->most_stages;
	pctl_run_stage *stages = pctl_arena_array(result->arena, most, sizeof(*stages));

	if (stages == NULL || most <= r->most_stages)
		return pctl_no_memory(r->call, "a run");
	if (result->n_stages != 0)
		memcpy(stages, result->stages, result->n_stages * sizeof(*stages));
	result->stages = stages;
	r->most_stages = most;
	return PCTL_OK;
}

pctl_status pctl_run_note_stage(pctl_running *r, const pctl_run_node *n, uint32_t kind,
				uint64_t began_ns, uint64_t ended_ns)
{
	pctl_run_result *result = r->result;
	const uint32_t spare =
		kind == PCTL_STAGE_STORE || kind == PCTL_STAGE_REMEMBER ? 0 : LAST_STAGES;
	pctl_status status = result->n_stages + spare < r->most_stages ? PCTL_OK : make_room(r);

	if (status == PCTL_OK)
		result->stages[result->n_stages++] =
			(pctl_run_stage){.kind = kind,
					 .job = n == NULL ? PCTL_STAGE_OF_RUN : n->place,
					 .began_ns = began_ns - r->began_ns,
					 .ns = ended_ns - began_ns};
	return status;
}

pctl_status pctl_run_end_stage(pctl_running *r, const pctl_run_node *n, uint32_t kind,
			       uint64_t began_ns, pctl_status status)
{
	return status != PCTL_OK ? status
				 : pctl_run_note_stage(r, n, kind, began_ns, pctl_clock_ns());
}

pctl_status pctl_run_note_job(pctl_running *r, const pctl_run_node *n, const pctl_job_stats *stats)
{
	const uint64_t uploaded = stats->began_ns + stats->upload_ns,
		       dispatched = uploaded + stats->dispatch_ns,
		       ended = stats->began_ns + stats->wall_ns;
	pctl_status status =
		pctl_run_note_stage(r, n, PCTL_STAGE_UPLOAD, stats->began_ns, uploaded);

	if (status == PCTL_OK)
		status = pctl_run_note_stage(r, n, PCTL_STAGE_DISPATCH, uploaded, dispatched);
	if (status == PCTL_OK)
		status = pctl_run_note_stage(r, n, PCTL_STAGE_CHECK, dispatched, ended);
	if (status == PCTL_OK)
		status = pctl_run_note_stage(r, n, PCTL_STAGE_RUN, stats->began_ns, ended);
	return status;
}

static void tell_stage(void *teller, const pctl_progress *p)
{
	const pctl_run_teller *t = teller;
	pctl_progress now = t->what;

	now.unit = p->unit;
	now.done = p->done;
	now.total = p->total;
	now.elapsed_ns = p->elapsed_ns;
	now.limit_ns = p->limit_ns;
	pctl_progress_tell(&t->r->o->progress, &now);
}

void pctl_run_tell(pctl_run_teller *t, const pctl_running *r, const pctl_run_node *n,
		   const char *stage, const pctl_session *s)
{
	*t = (pctl_run_teller){
		.r = r,
		.what = {.stage = stage,
			 .what = n->node->job->id,
			 .device = s == NULL ? NULL : pctl_session_id(s),
			 .memory_bytes =
				 n->canonical == NULL ? 0 : pctl_run_peak_bytes(n, n->canonical),
			 .job = r->result->n_jobs + 1u,
			 .jobs = r->graph->n_nodes},
		.sink = {tell_stage, t}};
	pctl_progress_tell(&r->o->progress, &t->what);
}
