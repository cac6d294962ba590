/* Copying messages to the structs of protobuf-c. No field is judged here. */
#include "chain/messages/message_pb.h"

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

static Gpu__MsgGpuExecute *execute_to(const pctl_msg_execute *m, pctl_arena *a)
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
	pb->tip = m->tip;
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
	pb->executor = borrow(m->executor);
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
	pb->gas_used = m->gas_used;
	pb->gas_budget = m->gas_budget;
	pb->messages = m->messages;
	pb->executor = borrow(m->executor);
	pb->jobs_total = m->jobs_total;
	pb->deferred_total = m->deferred_total;
	return pb;
}

static Gpu__MsgLedger *ledger_to(const pctl_msg_ledger *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgLedger, gpu__msg_ledger__init);
	pb->sender = borrow(m->sender);
	pb->op = m->op;
	pb->to = borrow(m->to);
	pb->amount = m->amount;
	return pb;
}

static Gpu__ParamChange *change_to(const pctl_msg_param_change *m, pctl_arena *a)
{
	MAKE(a, Gpu__ParamChange, gpu__param_change__init);
	pb->name = borrow(m->name);
	pb->value = borrow(m->value);
	return pb;
}

static Gpu__MsgParams *params_to(const pctl_msg_params *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgParams, gpu__msg_params__init);
	pb->sender = borrow(m->sender);
	pb->op = m->op;
	pb->height = m->height;
	pb->proposal = m->proposal;
	pb->yes = m->yes != 0;
	pb->n_changes = m->n_changes;
	pb->changes = pctl_arena_array(a, m->n_changes, sizeof(*pb->changes));
	for (uint32_t i = 0; pb->changes != NULL && i < m->n_changes; i++)
		if ((pb->changes[i] = change_to(&m->changes[i], a)) == NULL)
			return NULL;
	return pb->changes == NULL ? NULL : pb;
}

static Gpu__MsgName *name_to(const pctl_msg_name *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgName, gpu__msg_name__init);
	pb->sender = borrow(m->sender);
	pb->op = m->op;
	pb->name = borrow(m->name);
	pb->cid = borrow(m->cid);
	return pb;
}

static Gpu__MsgCancel *cancel_to(const pctl_msg_cancel *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgCancel, gpu__msg_cancel__init);
	pb->sender = borrow(m->sender);
	pb->job_id = borrow(m->job_id);
	return pb;
}

static Gpu__MsgLink *link_to(const pctl_msg_link *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgLink, gpu__msg_link__init);
	pb->sender = borrow(m->sender);
	pb->source = borrow(m->source);
	pb->target = borrow(m->target);
	pb->taken = m->is_taken != 0;
	return pb;
}

static Gpu__MsgVerdict *verdict_to(const pctl_msg_verdict *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgVerdict, gpu__msg_verdict__init);
	pb->sender = borrow(m->sender);
	pb->accused = borrow(m->accused);
	pb->evidence = borrow(m->evidence);
	pb->job_id = borrow(m->job_id);
	pb->output = borrow(m->output);
	return pb;
}

static Gpu__MsgStatement *statement_to(const pctl_msg_statement *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgStatement, gpu__msg_statement__init);
	pb->sender = borrow(m->sender);
	pb->key = bytes_to(&m->key);
	pb->height = m->height;
	pb->root = bytes_to(&m->root);
	pb->signature = bytes_to(&m->signature);
	return pb;
}

static Gpu__MsgKeys *keys_to(const pctl_msg_keys *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgKeys, gpu__msg_keys__init);
	pb->sender = borrow(m->sender);
	pb->threshold = m->threshold;
	pb->n_keys = m->n_keys;
	pb->keys = pctl_arena_array(a, m->n_keys, sizeof(*pb->keys));
	for (uint32_t i = 0; pb->keys != NULL && i < m->n_keys; i++)
		pb->keys[i] = bytes_to(&m->keys[i]);
	return pb->keys == NULL ? NULL : pb;
}

static Gpu__MsgRole *role_to(const pctl_msg_role *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgRole, gpu__msg_role__init);
	pb->sender = borrow(m->sender);
	pb->role = m->role;
	pb->account = borrow(m->account);
	pb->taken = m->is_taken != 0;
	return pb;
}

static Gpu__Signature *signature_to(const pctl_msg_signature *m, pctl_arena *a)
{
	MAKE(a, Gpu__Signature, gpu__signature__init);
	pb->key = bytes_to(&m->key);
	pb->value = bytes_to(&m->value);
	return pb;
}

static Gpu__Auth *auth_to(const pctl_msg_auth *m, pctl_arena *a)
{
	MAKE(a, Gpu__Auth, gpu__auth__init);
	pb->chain = bytes_to(&m->chain);
	pb->nonce = m->nonce;
	pb->expiry = m->expiry;
	pb->n_signatures = m->n_signatures;
	pb->signatures = pctl_arena_array(a, m->n_signatures, sizeof(*pb->signatures));
	for (uint32_t i = 0; pb->signatures != NULL && i < m->n_signatures; i++)
		if ((pb->signatures[i] = signature_to(&m->signatures[i], a)) == NULL)
			return NULL;
	return pb->signatures == NULL ? NULL : pb;
}

static ProtobufCBinaryData data_to(const pctl_msg_data *m)
{
	return (ProtobufCBinaryData){m->n_data, (uint8_t *)(uintptr_t)m->data};
}

static Gpu__MsgPut *put_to(const pctl_msg_data *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgPut, gpu__msg_put__init);
	pb->data = data_to(m);
	return pb;
}

static Gpu__MsgGet *get_to(const pctl_msg_get *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgGet, gpu__msg_get__init);
	pb->cid = borrow(m->cid);
	pb->offset = m->offset;
	pb->length = m->length;
	return pb;
}

static Gpu__MsgBlob *blob_to(const pctl_msg_blob *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgBlob, gpu__msg_blob__init);
	pb->sender = borrow(m->sender);
	pb->data.data = (uint8_t *)(uintptr_t)m->data;
	pb->data.len = m->n_data;
	pb->blocks = m->blocks;
	return pb;
}

static Gpu__MsgContract *contract_to(const pctl_msg_contract *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgContract, gpu__msg_contract__init);
	pb->sender = borrow(m->sender);
	pb->code.data = (uint8_t *)(uintptr_t)m->code;
	pb->code.len = m->n_code;
	return pb;
}

static Gpu__MsgCall *call_to(const pctl_msg_call *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgCall, gpu__msg_call__init);
	pb->sender = borrow(m->sender);
	pb->contract = borrow(m->contract);
	pb->function = borrow(m->function);
	pb->argument.data = (uint8_t *)(uintptr_t)m->argument;
	pb->argument.len = m->n_argument;
	pb->fuel = m->fuel;
	pb->pay = m->pay;
	return pb;
}

static Gpu__MsgView *view_to(const pctl_msg_call *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgView, gpu__msg_view__init);
	pb->contract = borrow(m->contract);
	pb->function = borrow(m->function);
	pb->argument.data = (uint8_t *)(uintptr_t)m->argument;
	pb->argument.len = m->n_argument;
	pb->fuel = m->fuel;
	pb->height = m->height;
	return pb;
}

static Gpu__MsgContractResponse *contract_response_to(const pctl_msg_contract_response *m,
						      pctl_arena *a)
{
	MAKE(a, Gpu__MsgContractResponse, gpu__msg_contract_response__init);
	pb->contract = borrow(m->contract);
	pb->gas_used = m->gas_used;
	return pb;
}

static Gpu__MsgCallResponse *call_response_to(const pctl_msg_call_response *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgCallResponse, gpu__msg_call_response__init);
	pb->call_id = borrow(m->call_id);
	pb->status = (Gpu__JobStatus)m->status;
	pb->fuel_used = m->fuel_used;
	pb->gas_used = m->gas_used;
	pb->returned = m->returned;
	pb->n_jobs = m->n_jobs;
	pb->jobs = borrow_all(m->jobs);
	pb->n_log = m->n_log;
	pb->log = pctl_arena_array(a, m->n_log, sizeof(*pb->log));
	for (uint32_t i = 0; pb->log != NULL && i < m->n_log; i++)
		pb->log[i] = bytes_to(&m->log[i]);
	pb->code = m->code;
	pb->error = borrow(m->error);
	pb->height = m->height;
	return pb->log == NULL ? NULL : pb;
}

static Gpu__Ack *ack_to(const pctl_msg_ack *m, pctl_arena *a)
{
	MAKE(a, Gpu__Ack, gpu__ack__init);
	pb->sequence = m->sequence;
	pb->proposal = m->proposal;
	return pb;
}

static Gpu__MsgPutResponse *put_response_to(const pctl_msg_cid *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgPutResponse, gpu__msg_put_response__init);
	pb->cid = borrow(m->cid);
	return pb;
}

static Gpu__MsgGetResponse *get_response_to(const pctl_msg_data *m, pctl_arena *a)
{
	MAKE(a, Gpu__MsgGetResponse, gpu__msg_get_response__init);
	pb->data = data_to(m);
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
	if (r->auth.is_given && (pb->auth = auth_to(&r->auth, a)) == NULL)
		return NULL;
	switch (r->kind) {
	case PCTL_MSG_UPLOAD:
		return (pb->upload = upload_to(&r->as.upload, a)) == NULL ? NULL : pb;
	case PCTL_MSG_EXECUTE:
		return (pb->execute = execute_to(&r->as.execute, a)) == NULL ? NULL : pb;
	case PCTL_MSG_QUERY:
		return (pb->query = query_to(&r->as.query, a)) == NULL ? NULL : pb;
	case PCTL_MSG_BLOCK_END:
		return (pb->block_end = block_end_to(&r->as.block, a)) == NULL ? NULL : pb;
	case PCTL_MSG_LEDGER:
		return (pb->ledger = ledger_to(&r->as.ledger, a)) == NULL ? NULL : pb;
	case PCTL_MSG_PARAMS:
		return (pb->params = params_to(&r->as.params, a)) == NULL ? NULL : pb;
	case PCTL_MSG_NAME:
		return (pb->name = name_to(&r->as.name, a)) == NULL ? NULL : pb;
	case PCTL_MSG_CANCEL:
		return (pb->cancel = cancel_to(&r->as.cancel, a)) == NULL ? NULL : pb;
	case PCTL_MSG_LINK:
		return (pb->link = link_to(&r->as.link, a)) == NULL ? NULL : pb;
	case PCTL_MSG_VERDICT:
		return (pb->verdict = verdict_to(&r->as.verdict, a)) == NULL ? NULL : pb;
	case PCTL_MSG_PUT:
		return (pb->put = put_to(&r->as.put, a)) == NULL ? NULL : pb;
	case PCTL_MSG_KEYS:
		return (pb->keys = keys_to(&r->as.keys, a)) == NULL ? NULL : pb;
	case PCTL_MSG_ROLE:
		return (pb->role = role_to(&r->as.role, a)) == NULL ? NULL : pb;
	case PCTL_MSG_BLOB:
		return (pb->blob = blob_to(&r->as.blob, a)) == NULL ? NULL : pb;
	case PCTL_MSG_CONTRACT:
		return (pb->contract = contract_to(&r->as.contract, a)) == NULL ? NULL : pb;
	case PCTL_MSG_CALL:
		return (pb->call = call_to(&r->as.call, a)) == NULL ? NULL : pb;
	case PCTL_MSG_VIEW:
		return (pb->view = view_to(&r->as.call, a)) == NULL ? NULL : pb;
	case PCTL_MSG_GRAPH:
		return (pb->graph = pctl_graph_to_pb(&r->as.graph, a)) == NULL ? NULL : pb;
	case PCTL_MSG_GET:
		return (pb->get = get_to(&r->as.get, a)) == NULL ? NULL : pb;
	case PCTL_MSG_STATEMENT:
		return (pb->statement = statement_to(&r->as.statement, a)) == NULL ? NULL : pb;
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
	PCTL_MSG_CASES_ACKNOWLEDGED: /* one member of the union for all */
		return (pb->ledger = ack_to(&r->as.ack, a)) == NULL ? NULL : pb;
	case PCTL_MSG_CONTRACT:
		return (pb->contract = contract_response_to(&r->as.contract, a)) == NULL ? NULL
											 : pb;
	case PCTL_MSG_CALL: /* one member of the union for both */
	case PCTL_MSG_VIEW:
		return (pb->call = call_response_to(&r->as.call, a)) == NULL ? NULL : pb;
	case PCTL_MSG_GRAPH:
		return (pb->graph = pctl_graph_response_to_pb(&r->as.graph, a)) == NULL ? NULL : pb;
	case PCTL_MSG_PUT:
		return (pb->put = put_response_to(&r->as.put, a)) == NULL ? NULL : pb;
	case PCTL_MSG_GET:
		return (pb->get = get_response_to(&r->as.get, a)) == NULL ? NULL : pb;
	default:
		return (pb->error = error_to(&r->as.error, a)) == NULL ? NULL : pb;
	}
}
