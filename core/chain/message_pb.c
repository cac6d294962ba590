/* Copying messages from and to the structs of protobuf-c. No field is judged here. */
#include "chain/message_pb.h"

/* protobuf-c's structs have no const; what is packed is only read. */
static char *borrow(const char *s)
{
	return (char *)(uintptr_t)s;
}

static char **borrow_all(const char *const *s)
{
	return (char **)(uintptr_t)s;
}

static const char *const *lend_all(char **s)
{
	return (const char *const *)s;
}

#define MAKE(a, T, init)                          \
	T *pb = pctl_arena_alloc(a, sizeof(*pb)); \
	if (pb == NULL)                           \
		return NULL;                      \
	init(pb)

/* ---- to protobuf-c ------------------------------------------------------------------------ */

static Gpu__MsgUploadShader *upload_to(const pctl_msg_upload *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgUploadShader, gpu__msg_upload_shader__init);
	pb->sender = borrow(m->sender);
	pb->wgsl_source.data = (uint8_t *)(uintptr_t)m->source;
	pb->wgsl_source.len = m->n_source;
	pb->description = borrow(m->description);
	pb->n_tags = m->n_tags;
	pb->tags = borrow_all(m->tags);
	pb->implements = borrow(m->implements);
	return pb;
}

static Gpu__TickProfile *tick_to(const pctl_msg_tick *m, pctl_arena *a)
{
	MAKE(a, Gpu__TickProfile, gpu__tick_profile__init);
	pb->tick_index = m->tick_index;
	pb->integer_ops = m->integer_ops;
	pb->division_ops = m->division_ops;
	pb->atomic_ops = m->atomic_ops;
	pb->storage_reads_bytes = m->storage_reads_bytes;
	pb->storage_writes_bytes = m->storage_writes_bytes;
	pb->float_ops = m->float_ops;
	pb->float_division_ops = m->float_division_ops;
	pb->elementary_ops = m->elementary_ops;
	pb->barrier_type = m->barrier_type;
	pb->barriers = m->barriers;
	return pb;
}

static Gpu__ShaderProfile *profile_to(const pctl_msg_profile *m, pctl_arena *a)
{
	MAKE(a, Gpu__ShaderProfile, gpu__shader_profile__init);
	pb->cost_per_workgroup = m->cost_per_workgroup;
	pb->max_loop_iterations = m->max_loop_iterations;
	pb->workgroup_shared_bytes = m->workgroup_shared_bytes;
	pb->max_dispatch_x = m->max_dispatch[0];
	pb->max_dispatch_y = m->max_dispatch[1];
	pb->max_dispatch_z = m->max_dispatch[2];
	pb->n_ticks = m->n_ticks;
	pb->ticks = pctl_arena_array(a, m->n_ticks, sizeof(*pb->ticks));
	for (uint32_t i = 0; pb->ticks != NULL && i < m->n_ticks; i++)
		if ((pb->ticks[i] = tick_to(&m->ticks[i], a)) == NULL)
			return NULL;
	return pb->ticks == NULL ? NULL : pb;
}

static Gpu__MsgUploadShaderResponse *upload_response_to(const pctl_msg_upload_response *m,
							pctl_arena *a)
{
	MAKE(a, Gpu__MsgUploadShaderResponse, gpu__msg_upload_shader_response__init);
	pb->shader_cid = borrow(m->shader_cid);
	pb->profile = profile_to(&m->profile, a);
	return pb->profile == NULL ? NULL : pb;
}

static Gpu__Dispatch *dispatch_to(const uint32_t d[3], pctl_arena *a)
{
	MAKE(a, Gpu__Dispatch, gpu__dispatch__init);
	pb->x = d[0];
	pb->y = d[1];
	pb->z = d[2];
	return pb;
}

static Gpu__Binding *binding_to(const pctl_msg_binding *m, pctl_arena *a)
{
	MAKE(a, Gpu__Binding, gpu__binding__init);
	pb->group = m->group;
	pb->binding = m->binding;
	pb->cid = borrow(m->cid);
	return pb;
}

static Gpu__Override *override_to(const pctl_msg_override *m, pctl_arena *a)
{
	MAKE(a, Gpu__Override, gpu__override__init);
	pb->name = borrow(m->name);
	pb->bits = m->bits;
	return pb;
}

Gpu__MsgGpuExecute *pctl_execute_to_pb(const pctl_msg_execute *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgGpuExecute, gpu__msg_gpu_execute__init);
	pb->sender = borrow(m->sender);
	pb->shader_cid = borrow(m->shader_cid);
	pb->input_cid = borrow(m->input);
	pb->gas_limit = m->gas_limit;
	pb->parent_clock = m->parent_clock;
	pb->uniform_cid = borrow(m->uniform_cid);
	pb->output_bytes = m->output_bytes;
	pb->n_parent_jobs = m->n_parent_jobs;
	pb->parent_jobs = borrow_all(m->parent_jobs);
	pb->n_after = m->n_after;
	pb->after = borrow_all(m->after);
	pb->entry = borrow(m->entry);
	pb->dispatch = dispatch_to(m->dispatch, a);
	pb->n_bindings = m->n_bindings;
	pb->bindings = pctl_arena_array(a, m->n_bindings, sizeof(*pb->bindings));
	pb->n_overrides = m->n_overrides;
	pb->overrides = pctl_arena_array(a, m->n_overrides, sizeof(*pb->overrides));
	if (pb->dispatch == NULL || pb->bindings == NULL || pb->overrides == NULL)
		return NULL;
	for (uint32_t i = 0; i < m->n_bindings; i++)
		if ((pb->bindings[i] = binding_to(&m->bindings[i], a)) == NULL)
			return NULL;
	for (uint32_t i = 0; i < m->n_overrides; i++)
		if ((pb->overrides[i] = override_to(&m->overrides[i], a)) == NULL)
			return NULL;
	return pb;
}

static Gpu__MsgGpuExecuteResponse *execute_response_to(const pctl_msg_execute_response *m,
						       pctl_arena *a)
{
	MAKE(a, Gpu__MsgGpuExecuteResponse, gpu__msg_gpu_execute_response__init);
	pb->job_id = borrow(m->job_id);
	pb->logical_clock = m->logical_clock;
	return pb;
}

static Gpu__MsgQueryResult *query_to(const pctl_msg_query *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgQueryResult, gpu__msg_query_result__init);
	pb->job_id = borrow(m->job_id);
	return pb;
}

static Gpu__MsgQueryResultResponse *query_response_to(const pctl_msg_query_response *m,
						      pctl_arena *a)
{
	MAKE(a, Gpu__MsgQueryResultResponse, gpu__msg_query_result_response__init);
	pb->status = (Gpu__JobStatus)m->status;
	pb->output_cid = borrow(m->output_cid);
	pb->gas_used = m->gas_used;
	pb->logical_clock = m->logical_clock;
	pb->error = borrow(m->error);
	return pb;
}

static Gpu__MsgBlockEnd *block_end_to(const pctl_msg_block *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgBlockEnd, gpu__msg_block_end__init);
	pb->height = m->height;
	return pb;
}

static Gpu__MsgQueryBlock *block_query_to(const pctl_msg_block *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgQueryBlock, gpu__msg_query_block__init);
	pb->height = m->height;
	return pb;
}

static Gpu__BlockInfo *block_info_to(const pctl_msg_block_info *m, pctl_arena *a)
{
	MAKE(a, Gpu__BlockInfo, gpu__block_info__init);
	pb->height = m->height;
	pb->final_clock = m->final_clock;
	pb->state_root = borrow(m->state_root);
	pb->commit = borrow(m->commit);
	pb->n_jobs = m->n_jobs;
	pb->jobs = borrow_all(m->jobs);
	pb->n_deferred = m->n_deferred;
	pb->deferred = borrow_all(m->deferred);
	return pb;
}

static Gpu__Error *error_to(const pctl_msg_error *m, pctl_arena *a)
{
	MAKE(a, Gpu__Error, gpu__error__init);
	pb->code = m->code;
	pb->message = borrow(m->message);
	return pb;
}

Gpu__Request *pctl_request_to_pb(const pctl_request *r, pctl_arena *a)
{
	MAKE(a, Gpu__Request, gpu__request__init);
	pb->request_case = (Gpu__Request__RequestCase)r->kind;
	switch (r->kind) {
	case PCTL_MSG_UPLOAD:
		return (pb->upload = upload_to(&r->as.upload, a)) == NULL ? NULL : pb;
	case PCTL_MSG_EXECUTE:
		return (pb->execute = pctl_execute_to_pb(&r->as.execute, a)) == NULL ? NULL : pb;
	case PCTL_MSG_QUERY:
		return (pb->query = query_to(&r->as.query, a)) == NULL ? NULL : pb;
	case PCTL_MSG_BLOCK_END:
		return (pb->block_end = block_end_to(&r->as.block, a)) == NULL ? NULL : pb;
	default:
		return (pb->block_query = block_query_to(&r->as.block, a)) == NULL ? NULL : pb;
	}
}

Gpu__Response *pctl_response_to_pb(const pctl_response *r, pctl_arena *a)
{
	MAKE(a, Gpu__Response, gpu__response__init);
	pb->response_case = (Gpu__Response__ResponseCase)r->kind;
	switch (r->kind) {
	case PCTL_MSG_UPLOAD:
		return (pb->upload = upload_response_to(&r->as.upload, a)) == NULL ? NULL : pb;
	case PCTL_MSG_EXECUTE:
		return (pb->execute = execute_response_to(&r->as.execute, a)) == NULL ? NULL : pb;
	case PCTL_MSG_QUERY:
		return (pb->query = query_response_to(&r->as.query, a)) == NULL ? NULL : pb;
	case PCTL_MSG_BLOCK_END:
		return (pb->block_end = block_info_to(&r->as.block, a)) == NULL ? NULL : pb;
	case PCTL_MSG_BLOCK_QUERY:
		return (pb->block_query = block_info_to(&r->as.block, a)) == NULL ? NULL : pb;
	default:
		return (pb->error = error_to(&r->as.error, a)) == NULL ? NULL : pb;
	}
}

/* ---- from protobuf-c ---------------------------------------------------------------------- */

static pctl_status no_memory(const pctl_call *call)
{
	return pctl_refuse(call, PC2_NOMEM, "no memory for a message");
}

static void upload_from(const Gpu__MsgUploadShader *pb, pctl_msg_upload *m)
{
	m->sender = pb->sender;
	m->source = pb->wgsl_source.data;
	m->n_source = pb->wgsl_source.len;
	m->description = pb->description;
	m->n_tags = (uint32_t)pb->n_tags;
	m->tags = lend_all(pb->tags);
	m->implements = pb->implements;
}

static pctl_msg_tick tick_from(const Gpu__TickProfile *pb)
{
	return (pctl_msg_tick){.tick_index = pb->tick_index,
			       .integer_ops = pb->integer_ops,
			       .division_ops = pb->division_ops,
			       .atomic_ops = pb->atomic_ops,
			       .float_ops = pb->float_ops,
			       .float_division_ops = pb->float_division_ops,
			       .elementary_ops = pb->elementary_ops,
			       .storage_reads_bytes = pb->storage_reads_bytes,
			       .storage_writes_bytes = pb->storage_writes_bytes,
			       .barrier_type = pb->barrier_type,
			       .barriers = pb->barriers};
}

static pctl_status upload_response_from(const Gpu__MsgUploadShaderResponse *pb, pctl_arena *a,
					const pctl_call *call, pctl_msg_upload_response *m)
{
	const Gpu__ShaderProfile *p = pb->profile;
	pctl_msg_tick *ticks;

	if (p == NULL)
		return pctl_refuse(call, PC5784_MESSAGE_MISSING, "upload.profile is not given");
	ticks = pctl_arena_array(a, p->n_ticks, sizeof(*ticks));
	if (ticks == NULL)
		return no_memory(call);
	for (size_t i = 0; i < p->n_ticks; i++)
		ticks[i] = tick_from(p->ticks[i]);
	m->shader_cid = pb->shader_cid;
	m->profile = (pctl_msg_profile){ticks,
					(uint32_t)p->n_ticks,
					0,
					p->cost_per_workgroup,
					p->max_loop_iterations,
					p->workgroup_shared_bytes,
					{p->max_dispatch_x, p->max_dispatch_y, p->max_dispatch_z}};
	return PCTL_OK;
}

static pctl_status execute_from(const Gpu__MsgGpuExecute *pb, pctl_arena *a, const pctl_call *call,
				pctl_msg_execute *m)
{
	pctl_msg_binding *bindings;
	pctl_msg_override *overrides;

	if (pb->dispatch == NULL)
		return pctl_refuse(call, PC5784_MESSAGE_MISSING, "execute.dispatch is not given");
	bindings = pctl_arena_array(a, pb->n_bindings, sizeof(*bindings));
	overrides = pctl_arena_array(a, pb->n_overrides, sizeof(*overrides));
	if (bindings == NULL || overrides == NULL)
		return no_memory(call);
	for (size_t i = 0; i < pb->n_bindings; i++)
		bindings[i] = (pctl_msg_binding){pb->bindings[i]->group, pb->bindings[i]->binding,
						 pb->bindings[i]->cid};
	for (size_t i = 0; i < pb->n_overrides; i++)
		overrides[i] = (pctl_msg_override){pb->overrides[i]->name, pb->overrides[i]->bits};
	*m = (pctl_msg_execute){.sender = pb->sender,
				.shader_cid = pb->shader_cid,
				.input = pb->input_cid,
				.dispatch = {pb->dispatch->x, pb->dispatch->y, pb->dispatch->z},
				.gas_limit = pb->gas_limit,
				.bindings = bindings,
				.parent_clock = pb->parent_clock,
				.uniform_cid = pb->uniform_cid,
				.output_bytes = pb->output_bytes,
				.parent_jobs = lend_all(pb->parent_jobs),
				.after = lend_all(pb->after),
				.overrides = overrides,
				.n_bindings = (uint32_t)pb->n_bindings,
				.n_parent_jobs = (uint32_t)pb->n_parent_jobs,
				.n_after = (uint32_t)pb->n_after,
				.n_overrides = (uint32_t)pb->n_overrides,
				.entry = pb->entry};
	return PCTL_OK;
}

static void block_info_from(const Gpu__BlockInfo *pb, pctl_msg_block_info *m)
{
	*m = (pctl_msg_block_info){.height = pb->height,
				   .final_clock = pb->final_clock,
				   .state_root = pb->state_root,
				   .commit = pb->commit,
				   .jobs = lend_all(pb->jobs),
				   .deferred = lend_all(pb->deferred),
				   .n_jobs = (uint32_t)pb->n_jobs,
				   .n_deferred = (uint32_t)pb->n_deferred};
}

pctl_status pctl_request_from_pb(const Gpu__Request *pb, pctl_arena *a, const pctl_call *call,
				 pctl_request *out)
{
	out->kind = (uint32_t)pb->request_case;
	switch (out->kind) {
	case PCTL_MSG_UPLOAD:
		upload_from(pb->upload, &out->as.upload);
		break;
	case PCTL_MSG_EXECUTE:
		return execute_from(pb->execute, a, call, &out->as.execute);
	case PCTL_MSG_QUERY:
		out->as.query.job_id = pb->query->job_id;
		break;
	case PCTL_MSG_BLOCK_END:
		out->as.block.height = pb->block_end->height;
		break;
	case PCTL_MSG_BLOCK_QUERY:
		out->as.block.height = pb->block_query->height;
		break;
	default:
		break;
	}
	return PCTL_OK;
}

pctl_status pctl_response_from_pb(const Gpu__Response *pb, pctl_arena *a, const pctl_call *call,
				  pctl_response *out)
{
	out->kind = (uint32_t)pb->response_case;
	switch (out->kind) {
	case PCTL_MSG_UPLOAD:
		return upload_response_from(pb->upload, a, call, &out->as.upload);
	case PCTL_MSG_EXECUTE:
		out->as.execute = (pctl_msg_execute_response){pb->execute->job_id,
							      pb->execute->logical_clock};
		break;
	case PCTL_MSG_QUERY:
		out->as.query =
			(pctl_msg_query_response){(uint32_t)pb->query->status, 0,
						  pb->query->output_cid,       pb->query->gas_used,
						  pb->query->logical_clock,    pb->query->error};
		break;
	case PCTL_MSG_BLOCK_END:
		block_info_from(pb->block_end, &out->as.block);
		break;
	case PCTL_MSG_BLOCK_QUERY:
		block_info_from(pb->block_query, &out->as.block);
		break;
	case PCTL_MSG_ERROR:
		out->as.error = (pctl_msg_error){pb->error->code, 0, pb->error->message};
		break;
	default:
		break;
	}
	return PCTL_OK;
}
