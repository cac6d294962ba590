/* Jobs by their clock, and one of them as an answer has it; see query.h. */
#include <string.h>

#include "chain/graph/query.h"
#include "chain/state/cursor.h"

#define ACCOUNT_PREFIX "account:"
#define JOB_PREFIX "job:"
#define PLACE_BYTES 16u

/* As of the block: what came later has not happened. */
static pctl_status put(pctl_query_page *p, const pctl_chain_job *job, const char *shader,
		       pctl_msg_graph_job *m)
{
	const int has_ended = job->ended != 0 && job->ended <= p->height;
	char id[PCTL_JOB_TEXT_SIZE], cid[PCTL_CID_TEXT_SIZE];
	const int is_complete = has_ended && job->status == PCTL_JOB_COMPLETE;
	const int is_failed = has_ended && job->status == PCTL_JOB_FAILED;

	*m = (pctl_msg_graph_job){
		.job_id = pctl_arena_dup(p->arena, pctl_job_id_format(job->id, id)),
		.sender = pctl_arena_dup(p->arena, job->sender),
		.shader_cid = pctl_arena_dup(p->arena, shader),
		.output_cid = is_complete
				      ? pctl_arena_dup(p->arena, pctl_cid_format(&job->output, cid))
				      : "",
		.error = is_failed ? pctl_arena_dup(p->arena, job->error) : "",
		.gas_used = has_ended ? job->gas_used : 0,
		.clock = job->clock,
		.height = job->height,
		.ended = has_ended ? job->ended : 0,
		.status = has_ended		 ? job->status
			  : p->height <= p->last ? (uint32_t)PCTL_JOB_PENDING
						 : p->status_of(p->ctx, job)};
	p->n_bytes += 320 + strlen(job->error);
	return m->job_id == NULL || m->sender == NULL || m->shader_cid == NULL ||
			       m->output_cid == NULL || m->error == NULL
		       ? pctl_no_memory(p->call, "an answer")
		       : PCTL_OK;
}

pctl_status pctl_query_put_job(pctl_query_page *p, const pctl_chain_job *job,
			       const pctl_msg_execute *m, pctl_msg_graph_job **out)
{
	*out = &p->jobs[p->n_jobs++];
	return put(p, job, m == NULL ? "" : m->shader_cid, *out);
}

/* What a walk wants: of this sender, of this shader; NULL: of any. */
typedef struct wanted {
	pctl_query_page *p;
	const char *sender, *shader;
	uint64_t clock, position;
	pctl_status status;
	uint32_t has_more;
} wanted;

static pctl_status take(wanted *w, const pctl_chain_job *job)
{
	pctl_request r = {.kind = 0};
	pctl_msg_graph_job *m;
	pctl_status status;

	if (job->height > w->p->height ||
	    (w->sender != NULL && strcmp(w->sender, job->sender) != 0))
		return PCTL_OK;
	status = pctl_request_decode(job->message, job->n_message, w->p->call, &r);
	if (status == PCTL_OK &&
	    (w->shader == NULL || strcmp(w->shader, r.as.execute.shader_cid) == 0))
		status = pctl_query_put_job(w->p, job, &r.as.execute, &m);
	pctl_request_destroy(&r);
	return status;
}

static int visit(void *ctx, const pctl_chain_job *job)
{
	wanted *w = ctx;

	if (pctl_query_is_full(w->p)) {
		w->has_more = 1;
		return 1;
	}
	w->p->looked += 8; /* a row of a job, with its message */
	w->status = take(w, job);
	w->clock = job->clock;
	w->position = job->position;
	return w->status != PCTL_OK;
}

static pctl_status one(pctl_query_page *p, const uint8_t id[PCTL_DIGEST_BYTES])
{
	wanted w = {.p = p};
	pctl_chain_job job;
	pctl_status status = pctl_jobs_read(p->s, id, p->call, &job);

	if (status == PCTL_OK)
		status = take(&w, &job);
	pctl_chain_job_clear(&job);
	return status;
}

pctl_status pctl_query_jobs(pctl_query_page *p)
{
	const char *name = p->q->name;
	wanted w = {.p = p};
	uint8_t id[PCTL_DIGEST_BYTES], place[PLACE_BYTES];
	uint64_t end = p->q->to_clock;
	pctl_status status;
	pctl_cid cid;

	if (p->n_from != 0 && p->n_from != PLACE_BYTES)
		return pctl_query_bad_next(p, "it is not as long as a place among jobs");
	if (strncmp(name, JOB_PREFIX, strlen(JOB_PREFIX)) == 0 &&
	    pctl_job_id_parse(name + strlen(JOB_PREFIX), id))
		return one(p, id);
	if (strncmp(name, ACCOUNT_PREFIX, strlen(ACCOUNT_PREFIX)) == 0)
		w.sender = name + strlen(ACCOUNT_PREFIX);
	else if (pctl_cid_parse(name, &cid))
		w.shader = name;
	else if (name[0] != '\0')
		return pctl_refuse(p->call, PC5880_EDGE_NAME,
				   "jobs are asked for by account:NAME, the CID of a shader or "
				   "job:ID, not by \"%.80s\"",
				   name);
	w.clock = p->q->from_clock == 0 ? 0 : p->q->from_clock - 1;
	w.position = PCTL_CHAIN_HEIGHT_MAX;
	if (p->n_from != 0) {
		w.clock = pctl_query_number(p->from);
		w.position = pctl_query_number(p->from + 8);
	}
	if (w.clock > PCTL_CHAIN_HEIGHT_MAX || w.position > PCTL_CHAIN_HEIGHT_MAX)
		return pctl_query_bad_next(p, "it is no place among jobs");
	status = pctl_jobs_after(p->s, w.clock, w.position, end == 0 ? PCTL_CHAIN_HEIGHT_MAX : end,
				 visit, &w, p->call);
	pctl_query_put_number(place, w.clock);
	pctl_query_put_number(place + 8, w.position);
	if (status == PCTL_OK)
		status = w.status;
	return status == PCTL_OK && w.has_more ? pctl_query_go_on(p, place, sizeof(place)) : status;
}
