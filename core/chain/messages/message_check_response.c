/* The check of every field of every response. */
#include "chain/messages/message_checker.h"

/* ---- responses ---------------------------------------------------------------------------- */

static void check_profile(checker *c, const pctl_msg_profile *p)
{
	static const char *const axes[3] = {"profile.max_dispatch_x", "profile.max_dispatch_y",
					    "profile.max_dispatch_z"};
	char field[FIELD];

	if (p->n_ticks == 0)
		wrong(c, PC5784_MESSAGE_MISSING, "profile.ticks", "not given");
	check_count(c, "profile.ticks", p->n_ticks, PCTL_MESSAGE_TICKS_MAX, "ticks");
	for (uint32_t i = 0; i < p->n_ticks && i < PCTL_MESSAGE_TICKS_MAX; i++) {
		const pctl_msg_tick *t = &p->ticks[i];

		element("profile.ticks", i, field);
		if (t->tick_index != i)
			wrong(c, PC5794_MESSAGE_PROFILE, field,
			      "tick_index is %u, but ticks are numbered from 0 in their order",
			      t->tick_index);
		if (t->barrier_type > 3 || (t->barrier_type == 0) != (i + 1 == p->n_ticks))
			wrong(c, PC5794_MESSAGE_PROFILE, field,
			      "barrier_type %llu: 1 to 3 between ticks, 0 behind the last",
			      (unsigned long long)t->barrier_type);
		if (t->barrier_type == 0 && t->barriers != 0)
			wrong(c, PC5794_MESSAGE_PROFILE, field, "%llu barriers of type %llu",
			      (unsigned long long)t->barriers, (unsigned long long)t->barrier_type);
	}
	if (p->max_loop_iterations == 0)
		wrong(c, PC5794_MESSAGE_PROFILE, "profile.max_loop_iterations",
		      "the value is 0, but it is at least 1: without loops the product of bounds "
		      "is 1");
	check_number(c, "profile.workgroup_shared_bytes", p->workgroup_shared_bytes,
		     PCTL_MESSAGE_SHARED_MAX);
	for (uint32_t d = 0; d < 3; d++)
		check_number(c, axes[d], p->max_dispatch[d], PCTL_MESSAGE_GROUPS_MAX);
}

static void check_clock(checker *c, const char *field, uint64_t v)
{
	if (v == 0)
		wrong(c, PC5784_MESSAGE_MISSING, field, "not given");
	check_number(c, field, v, PCTL_MESSAGE_CLOCK_MAX);
}

static void check_query_response(checker *c, const pctl_msg_query_response *m)
{
	const int is_complete = m->status == PCTL_JOB_COMPLETE;
	const int is_failed = m->status == PCTL_JOB_FAILED;

	if (m->status > PCTL_JOB_FAILED)
		wrong(c, PC5795_MESSAGE_STATUS, "status", "%u is no status of a job", m->status);
	if (is_complete)
		check_cid(c, "output_cid", m->output_cid);
	else if (m->output_cid[0] != '\0')
		wrong(c, PC5795_MESSAGE_STATUS, "output_cid",
		      "the field is given, but a job of status %u has none", m->status);
	if (is_failed && !missing(c, "error", m->error))
		check_text(c, "error", m->error, PCTL_MESSAGE_ERROR_MAX);
	else if (!is_failed && m->error[0] != '\0')
		wrong(c, PC5795_MESSAGE_STATUS, "error",
		      "the field is given, but a job of status %u has none", m->status);
	if (!is_complete && !is_failed && m->gas_used != 0)
		wrong(c, PC5795_MESSAGE_STATUS, "gas_used",
		      "%llu is given, but a job of status %u has used no gas",
		      (unsigned long long)m->gas_used, m->status);
	check_clock(c, "logical_clock", m->logical_clock);
}

static void check_block_info(checker *c, const pctl_msg_block_info *m)
{
	char buf[SHOWN];

	check_clock(c, "height", m->height);
	check_number(c, "final_clock", m->final_clock, PCTL_MESSAGE_CLOCK_MAX);
	check_hash(c, "state_root", m->state_root);
	if (!missing(c, "commit", m->commit) && !pctl_hex_is(m->commit, 40) &&
	    !pctl_hex_is(m->commit, 64))
		wrong(c, PC5787_MESSAGE_HASH, "commit",
		      "\"%s\" is not 40 or 64 lower-case hex digits", shown(m->commit, buf));
	check_jobs(c, "jobs", m->jobs, m->n_jobs, 0, PCTL_MESSAGE_BLOCK_JOBS_MAX);
	check_jobs(c, "deferred", m->deferred, m->n_deferred, 0, PCTL_MESSAGE_BLOCK_JOBS_MAX);
	if (m->executor != NULL && m->executor[0] != '\0')
		check_account(c, "executor", m->executor);
	if (m->jobs_total < m->n_jobs)
		wrong(c, PC5793_MESSAGE_NUMBER, "jobs_total", "%llu, but %u are listed",
		      (unsigned long long)m->jobs_total, m->n_jobs);
	if (m->deferred_total < m->n_deferred)
		wrong(c, PC5793_MESSAGE_NUMBER, "deferred_total", "%llu, but %u are listed",
		      (unsigned long long)m->deferred_total, m->n_deferred);
}

static void check_ack(checker *c, const pctl_msg_ack *m, uint32_t kind)
{
	check_number(c, "sequence", m->sequence, PCTL_MESSAGE_CLOCK_MAX);
	check_number(c, "proposal", m->proposal, PCTL_MESSAGE_CLOCK_MAX);
	not_of_op(c, "proposal", kind != PCTL_MSG_PARAMS && m->proposal != 0);
}

static void check_call_response(checker *c, const pctl_msg_call_response *m, int is_view)
{
	const int is_failed = m->status == PCTL_JOB_FAILED;
	uint64_t n_log = 0;

	if (!is_view)
		check_hash(c, "call_id", m->call_id);
	not_of_op(c, "call_id", is_view && m->call_id[0] != '\0');
	if (m->status != PCTL_JOB_COMPLETE && !is_failed)
		wrong(c, PC5795_MESSAGE_STATUS, "status", "%u is no status of a call", m->status);
	check_jobs(c, "jobs", m->jobs, m->n_jobs, 0, PCTL_MESSAGE_CALL_JOBS_MAX);
	if (is_failed && m->n_jobs != 0)
		wrong(c, PC5795_MESSAGE_STATUS, "jobs", "%u of a call that failed", m->n_jobs);
	for (uint32_t i = 0; i < m->n_log; i++)
		n_log += m->log[i].n;
	check_count(c, "log", m->n_log, PCTL_MESSAGE_LOGS_MAX, "texts");
	check_count(c, "log", n_log, PCTL_MESSAGE_LOGS_MAX, "bytes");
	if (is_failed != (pctl_code_slug(m->code) != NULL))
		wrong(c, PC5795_MESSAGE_STATUS, "code", "%u, and the status is %u", m->code,
		      m->status);
	if (is_failed && !missing(c, "error", m->error))
		check_text(c, "error", m->error, PCTL_MESSAGE_ERROR_MAX);
	else if (!is_failed && m->error[0] != '\0')
		wrong(c, PC5795_MESSAGE_STATUS, "error",
		      "the field is given, but a call that did not fail has none");
	check_number(c, "height", m->height, PCTL_MESSAGE_CLOCK_MAX);
}

static void check_graph_edge(checker *c, const char *field, const pctl_msg_graph_edge *e)
{
	const char *const names[] = {e->source, e->target, e->via, e->job};

	if (e->kind == 0 || (PCTL_MESSAGE_KINDS_MAX >> e->kind & 1) == 0)
		wrong(c, PC5730_MESSAGE_OPERATION, field, "%u is no kind of edge", e->kind);
	for (uint32_t i = 0; i < 4; i++)
		if (i >= 2 || !missing(c, field, names[i]))
			check_text(c, field, names[i], PCTL_MESSAGE_GRAPH_NAME_MAX);
	check_clock(c, field, e->number);
	check_clock(c, field, e->height);
	check_number(c, field, e->clock, PCTL_MESSAGE_CLOCK_MAX);
}

static void check_graph_job(checker *c, const char *field, const pctl_msg_graph_job *m)
{
	const int is_complete = m->status == PCTL_JOB_COMPLETE;

	check_hash(c, field, m->job_id);
	if (m->status > PCTL_JOB_FAILED)
		wrong(c, PC5795_MESSAGE_STATUS, field, "%u is no status of a job", m->status);
	check_account(c, field, m->sender);
	check_text(c, field, m->shader_cid, PCTL_MESSAGE_GRAPH_NAME_MAX);
	if (is_complete)
		check_cid(c, field, m->output_cid);
	else if (m->output_cid[0] != '\0')
		wrong(c, PC5795_MESSAGE_STATUS, field, "it has an output and is of status %u",
		      m->status);
	check_text(c, field, m->error, PCTL_MESSAGE_ERROR_MAX);
	if ((m->status == PCTL_JOB_FAILED) != (m->error[0] != '\0'))
		wrong(c, PC5795_MESSAGE_STATUS, field, "status %u, and \"%.40s\" is why it failed",
		      m->status, m->error);
	check_clock(c, field, m->clock);
	check_number(c, field, m->height, PCTL_MESSAGE_CLOCK_MAX);
	check_number(c, field, m->ended, PCTL_MESSAGE_CLOCK_MAX);
	check_count(c, field, m->n_inputs, PCTL_MESSAGE_GRAPH_INPUTS_MAX, "inputs");
	for (uint32_t i = 0; i < m->n_inputs; i++) {
		check_text(c, field, m->inputs[i].name, PCTL_MESSAGE_GRAPH_NAME_MAX);
		if (m->inputs[i].maker[0] != '\0')
			check_hash(c, field, m->inputs[i].maker);
	}
}

static void check_graph_response(checker *c, const pctl_msg_graph_response *m)
{
	char field[FIELD];

	check_number(c, "height", m->height, PCTL_MESSAGE_CLOCK_MAX);
	check_number(c, "epoch", m->epoch, PCTL_MESSAGE_CLOCK_MAX);
	check_count(c, "edges", m->n_edges, PCTL_MESSAGE_GRAPH_MAX, "edges");
	check_count(c, "jobs", m->n_jobs, PCTL_MESSAGE_GRAPH_MAX, "jobs");
	check_count(c, "next", m->next.n, PCTL_MESSAGE_NEXT_MAX, "bytes");
	not_of_op(c, "jobs", m->n_edges != 0 && m->n_jobs != 0);
	for (uint32_t i = 0; i < m->n_edges; i++)
		check_graph_edge(c, element("edges", i, field), &m->edges[i]);
	for (uint32_t i = 0; i < m->n_jobs; i++)
		check_graph_job(c, element("jobs", i, field), &m->jobs[i]);
	for (uint32_t i = 0; i < m->n_ranks; i++) {
		element("ranks", i, field);
		if (!missing(c, field, m->ranks[i].name))
			check_text(c, field, m->ranks[i].name, PCTL_MESSAGE_GRAPH_NAME_MAX);
		if (i > 0 && strcmp(m->ranks[i - 1].name, m->ranks[i].name) >= 0)
			not_ascending(c, field,
				      strcmp(m->ranks[i - 1].name, m->ranks[i].name) == 0);
	}
}

static void check_error(checker *c, const pctl_msg_error *m)
{
	if (pctl_code_slug(m->code) == NULL)
		wrong(c, PC5796_MESSAGE_ENVELOPE, "code", "there is no code %u", m->code);
	if (!missing(c, "message", m->message))
		check_text(c, "message", m->message, PCTL_MESSAGE_ERROR_MAX);
}

pctl_status pctl_response_check(const pctl_response *r, const pctl_call *call)
{
	checker c = {.call = call, .message = "block"};

	switch (r->kind) {
	case PCTL_MSG_UPLOAD:
		c.message = "upload";
		check_cid(&c, "shader_cid", r->as.upload.shader_cid);
		check_profile(&c, &r->as.upload.profile);
		break;
	case PCTL_MSG_EXECUTE:
		c.message = "execute";
		check_hash(&c, "job_id", r->as.execute.job_id);
		check_clock(&c, "logical_clock", r->as.execute.logical_clock);
		break;
	case PCTL_MSG_QUERY:
		c.message = "query";
		check_query_response(&c, &r->as.query);
		break;
	case PCTL_MSG_BLOCK_END:
	case PCTL_MSG_BLOCK_QUERY:
		check_block_info(&c, &r->as.block);
		break;
	PCTL_MSG_CASES_ACKNOWLEDGED:
		c.message = "ack";
		check_ack(&c, &r->as.ack, r->kind);
		break;
	case PCTL_MSG_PUT:
		c.message = "put";
		check_cid(&c, "cid", r->as.put.cid);
		break;
	case PCTL_MSG_GET:
		c.message = "get";
		check_count(&c, "data", r->as.get.n_data, PCTL_MESSAGE_DATA_MAX, "bytes");
		break;
	case PCTL_MSG_CONTRACT:
		c.message = "contract";
		check_cid(&c, "contract", r->as.contract.contract);
		break;
	case PCTL_MSG_CALL:
	case PCTL_MSG_VIEW:
		c.message = r->kind == PCTL_MSG_CALL ? "call" : "view";
		check_call_response(&c, &r->as.call, r->kind == PCTL_MSG_VIEW);
		break;
	case PCTL_MSG_GRAPH:
		c.message = "graph";
		check_graph_response(&c, &r->as.graph);
		break;
	case PCTL_MSG_ERROR:
		c.message = "error";
		check_error(&c, &r->as.error);
		break;
	default:
		check_envelope(&c, r->kind, "response");
		break;
	}
	return c.status;
}
