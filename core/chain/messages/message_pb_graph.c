/* Copying what is asked of the graph and answered to the structs of protobuf-c. No field is judged here. */
#include "chain/messages/message_pb.h"

Gpu__MsgQueryGraph *pctl_graph_to_pb(const pctl_msg_graph *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgQueryGraph, gpu__msg_query_graph__init);
	pb->op = m->op;
	pb->name = borrow(m->name);
	pb->role = m->role;
	pb->kinds = m->kinds;
	pb->height = m->height;
	pb->from_clock = m->from_clock;
	pb->to_clock = m->to_clock;
	pb->limit = m->limit;
	pb->next = bytes_to(&m->next);
	pb->prove = m->prove != 0;
	return pb;
}

static Gpu__GraphEdge *graph_edge_to(const pctl_msg_graph_edge *m, pctl_arena *a)
{
	MAKE(a, Gpu__GraphEdge, gpu__graph_edge__init);
	pb->number = m->number;
	pb->kind = m->kind;
	pb->source = borrow(m->source);
	pb->target = borrow(m->target);
	pb->via = borrow(m->via);
	pb->job = borrow(m->job);
	pb->height = m->height;
	pb->clock = m->clock;
	pb->gone = m->is_gone != 0;
	return pb;
}

static Gpu__GraphInput *graph_input_to(const pctl_msg_graph_input *m, pctl_arena *a)
{
	MAKE(a, Gpu__GraphInput, gpu__graph_input__init);
	pb->kind = m->kind;
	pb->name = borrow(m->name);
	pb->maker = borrow(m->maker);
	return pb;
}

static Gpu__GraphJob *graph_job_to(const pctl_msg_graph_job *m, pctl_arena *a)
{
	MAKE(a, Gpu__GraphJob, gpu__graph_job__init);
	pb->job_id = borrow(m->job_id);
	pb->status = (Gpu__JobStatus)m->status;
	pb->sender = borrow(m->sender);
	pb->shader_cid = borrow(m->shader_cid);
	pb->output_cid = borrow(m->output_cid);
	pb->gas_used = m->gas_used;
	pb->logical_clock = m->clock;
	pb->height = m->height;
	pb->ended = m->ended;
	pb->error = borrow(m->error);
	pb->n_inputs = m->n_inputs;
	pb->inputs = pctl_arena_array(a, m->n_inputs, sizeof(*pb->inputs));
	for (uint32_t i = 0; pb->inputs != NULL && i < m->n_inputs; i++)
		if ((pb->inputs[i] = graph_input_to(&m->inputs[i], a)) == NULL)
			return NULL;
	return pb->inputs == NULL ? NULL : pb;
}

static Gpu__GraphRank *graph_rank_to(const pctl_msg_graph_rank *m, pctl_arena *a)
{
	MAKE(a, Gpu__GraphRank, gpu__graph_rank__init);
	pb->name = borrow(m->name);
	pb->rank = m->rank;
	return pb;
}

Gpu__MsgQueryGraphResponse *pctl_graph_response_to_pb(const pctl_msg_graph_response *m,
						      pctl_arena *a)
{
	MAKE(a, Gpu__MsgQueryGraphResponse, gpu__msg_query_graph_response__init);
	pb->height = m->height;
	pb->cut = m->cut;
	pb->epoch = m->epoch;
	pb->next = bytes_to(&m->next);
	pb->n_edges = m->n_edges;
	pb->n_jobs = m->n_jobs;
	pb->n_ranks = m->n_ranks;
	pb->n_proofs = m->n_proofs;
	pb->edges = pctl_arena_array(a, m->n_edges, sizeof(*pb->edges));
	pb->jobs = pctl_arena_array(a, m->n_jobs, sizeof(*pb->jobs));
	pb->ranks = pctl_arena_array(a, m->n_ranks, sizeof(*pb->ranks));
	pb->proofs = pctl_arena_array(a, m->n_proofs, sizeof(*pb->proofs));
	if (pb->edges == NULL || pb->jobs == NULL || pb->ranks == NULL || pb->proofs == NULL)
		return NULL;
	for (uint32_t i = 0; i < m->n_edges; i++)
		if ((pb->edges[i] = graph_edge_to(&m->edges[i], a)) == NULL)
			return NULL;
	for (uint32_t i = 0; i < m->n_jobs; i++)
		if ((pb->jobs[i] = graph_job_to(&m->jobs[i], a)) == NULL)
			return NULL;
	for (uint32_t i = 0; i < m->n_ranks; i++)
		if ((pb->ranks[i] = graph_rank_to(&m->ranks[i], a)) == NULL)
			return NULL;
	for (uint32_t i = 0; i < m->n_proofs; i++)
		pb->proofs[i] = bytes_to(&m->proofs[i]);
	return pb;
}
