/* Copying messages from the structs of protobuf-c. No field is judged here. */
#include "chain/messages/message_pb.h"

static const char *const *lend_all(char **s)
{
	return (const char *const *)s;
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
		return pctl_no_memory(call, "a message");
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
		return pctl_no_memory(call, "a message");
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
				.entry = pb->entry,
				.tip = pb->tip};
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
				   .n_deferred = (uint32_t)pb->n_deferred,
				   .gas_used = pb->gas_used,
				   .gas_budget = pb->gas_budget,
				   .messages = pb->messages,
				   .executor = pb->executor,
				   .jobs_total = pb->jobs_total,
				   .deferred_total = pb->deferred_total};
}

static pctl_status params_from(const Gpu__MsgParams *pb, pctl_arena *a, const pctl_call *call,
			       pctl_msg_params *m)
{
	pctl_msg_param_change *changes = pctl_arena_array(a, pb->n_changes, sizeof(*changes));

	if (changes == NULL)
		return pctl_no_memory(call, "a message");
	for (size_t i = 0; i < pb->n_changes; i++)
		changes[i] = (pctl_msg_param_change){pb->changes[i]->name, pb->changes[i]->value};
	*m = (pctl_msg_params){.sender = pb->sender,
			       .op = pb->op,
			       .yes = pb->yes != 0,
			       .height = pb->height,
			       .proposal = pb->proposal,
			       .changes = changes,
			       .n_changes = (uint32_t)pb->n_changes};
	return PCTL_OK;
}

static pctl_msg_bytes bytes_from(const ProtobufCBinaryData *pb)
{
	return (pctl_msg_bytes){pb->data, pb->len};
}

static pctl_status keys_from(const Gpu__MsgKeys *pb, pctl_arena *a, const pctl_call *call,
			     pctl_msg_keys *m)
{
	pctl_msg_bytes *keys = pctl_arena_array(a, pb->n_keys, sizeof(*keys));

	if (keys == NULL)
		return pctl_no_memory(call, "a message");
	for (size_t i = 0; i < pb->n_keys; i++)
		keys[i] = bytes_from(&pb->keys[i]);
	*m = (pctl_msg_keys){pb->sender, keys, (uint32_t)pb->n_keys, pb->threshold};
	return PCTL_OK;
}

static pctl_status auth_from(const Gpu__Auth *pb, pctl_arena *a, const pctl_call *call,
			     pctl_msg_auth *m)
{
	pctl_msg_signature *signatures = pctl_arena_array(a, pb->n_signatures, sizeof(*signatures));

	if (signatures == NULL)
		return pctl_no_memory(call, "a message");
	for (size_t i = 0; i < pb->n_signatures; i++)
		signatures[i] = (pctl_msg_signature){bytes_from(&pb->signatures[i]->key),
						     bytes_from(&pb->signatures[i]->value)};
	*m = (pctl_msg_auth){.is_given = 1,
			     .n_signatures = (uint32_t)pb->n_signatures,
			     .chain = bytes_from(&pb->chain),
			     .nonce = pb->nonce,
			     .expiry = pb->expiry,
			     .signatures = signatures};
	return PCTL_OK;
}

static pctl_status call_response_from(const Gpu__MsgCallResponse *pb, pctl_arena *a,
				      const pctl_call *call, pctl_msg_call_response *m)
{
	pctl_msg_bytes *log = pctl_arena_array(a, pb->n_log, sizeof(*log));

	if (log == NULL)
		return pctl_no_memory(call, "a message");
	for (size_t i = 0; i < pb->n_log; i++)
		log[i] = bytes_from(&pb->log[i]);
	*m = (pctl_msg_call_response){.call_id = pb->call_id,
				      .status = (uint32_t)pb->status,
				      .returned = pb->returned,
				      .fuel_used = pb->fuel_used,
				      .gas_used = pb->gas_used,
				      .height = pb->height,
				      .jobs = lend_all(pb->jobs),
				      .log = log,
				      .n_jobs = (uint32_t)pb->n_jobs,
				      .n_log = (uint32_t)pb->n_log,
				      .code = pb->code,
				      .error = pb->error};
	return PCTL_OK;
}

static pctl_msg_graph graph_from(const Gpu__MsgQueryGraph *pb)
{
	return (pctl_msg_graph){.op = pb->op,
				.role = pb->role,
				.kinds = pb->kinds,
				.limit = pb->limit,
				.name = pb->name,
				.height = pb->height,
				.from_clock = pb->from_clock,
				.to_clock = pb->to_clock,
				.next = bytes_from(&pb->next),
				.prove = pb->prove != 0};
}

static int graph_job_from(const Gpu__GraphJob *pb, pctl_arena *a, pctl_msg_graph_job *m)
{
	pctl_msg_graph_input *inputs = pctl_arena_array(a, pb->n_inputs, sizeof(*inputs));

	for (size_t i = 0; inputs != NULL && i < pb->n_inputs; i++)
		inputs[i] = (pctl_msg_graph_input){pb->inputs[i]->kind, 0, pb->inputs[i]->name,
						   pb->inputs[i]->maker};
	*m = (pctl_msg_graph_job){.job_id = pb->job_id,
				  .sender = pb->sender,
				  .shader_cid = pb->shader_cid,
				  .output_cid = pb->output_cid,
				  .error = pb->error,
				  .gas_used = pb->gas_used,
				  .clock = pb->logical_clock,
				  .height = pb->height,
				  .ended = pb->ended,
				  .inputs = inputs,
				  .n_inputs = (uint32_t)pb->n_inputs,
				  .status = (uint32_t)pb->status};
	return inputs != NULL;
}

static pctl_status graph_response_from(const Gpu__MsgQueryGraphResponse *pb, pctl_arena *a,
				       const pctl_call *call, pctl_msg_graph_response *m)
{
	pctl_msg_graph_edge *edges = pctl_arena_array(a, pb->n_edges, sizeof(*edges));
	pctl_msg_graph_job *jobs = pctl_arena_array(a, pb->n_jobs, sizeof(*jobs));
	pctl_msg_graph_rank *ranks = pctl_arena_array(a, pb->n_ranks, sizeof(*ranks));
	pctl_msg_bytes *proofs = pctl_arena_array(a, pb->n_proofs, sizeof(*proofs));

	if (edges == NULL || jobs == NULL || ranks == NULL || proofs == NULL)
		return pctl_no_memory(call, "a message");
	for (size_t i = 0; i < pb->n_edges; i++) {
		const Gpu__GraphEdge *e = pb->edges[i];

		edges[i] =
			(pctl_msg_graph_edge){e->number, e->height, e->clock, e->kind, e->gone != 0,
					      e->source, e->target, e->via,   e->job};
	}
	for (size_t i = 0; i < pb->n_jobs; i++)
		if (!graph_job_from(pb->jobs[i], a, &jobs[i]))
			return pctl_no_memory(call, "a message");
	for (size_t i = 0; i < pb->n_ranks; i++)
		ranks[i] = (pctl_msg_graph_rank){pb->ranks[i]->name, pb->ranks[i]->rank};
	for (size_t i = 0; i < pb->n_proofs; i++)
		proofs[i] = bytes_from(&pb->proofs[i]);
	*m = (pctl_msg_graph_response){.height = pb->height,
				       .cut = pb->cut,
				       .epoch = pb->epoch,
				       .edges = edges,
				       .jobs = jobs,
				       .ranks = ranks,
				       .proofs = proofs,
				       .n_edges = (uint32_t)pb->n_edges,
				       .n_jobs = (uint32_t)pb->n_jobs,
				       .n_ranks = (uint32_t)pb->n_ranks,
				       .n_proofs = (uint32_t)pb->n_proofs,
				       .next = bytes_from(&pb->next)};
	return PCTL_OK;
}

pctl_status pctl_request_from_pb(const Gpu__Request *pb, pctl_arena *a, const pctl_call *call,
				 pctl_request *out)
{
	out->kind = (uint32_t)pb->request_case;
	if (pb->auth != NULL) {
		const pctl_status status = auth_from(pb->auth, a, call, &out->auth);

		if (status != PCTL_OK)
			return status;
	}
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
		out->as.block.executor = pb->block_end->executor;
		break;
	case PCTL_MSG_BLOCK_QUERY:
		out->as.block.height = pb->block_query->height;
		break;
	case PCTL_MSG_LEDGER:
		out->as.ledger = (pctl_msg_ledger){pb->ledger->sender, pb->ledger->op, 0,
						   pb->ledger->to, pb->ledger->amount};
		break;
	case PCTL_MSG_PARAMS:
		return params_from(pb->params, a, call, &out->as.params);
	case PCTL_MSG_NAME:
		out->as.name = (pctl_msg_name){pb->name->sender, pb->name->op, 0, pb->name->name,
					       pb->name->cid};
		break;
	case PCTL_MSG_CANCEL:
		out->as.cancel = (pctl_msg_cancel){pb->cancel->sender, pb->cancel->job_id};
		break;
	case PCTL_MSG_LINK:
		out->as.link = (pctl_msg_link){pb->link->sender, pb->link->source, pb->link->target,
					       pb->link->taken != 0, 0};
		break;
	case PCTL_MSG_VERDICT:
		out->as.verdict = (pctl_msg_verdict){pb->verdict->sender, pb->verdict->accused,
						     pb->verdict->evidence, pb->verdict->job_id,
						     pb->verdict->output};
		break;
	case PCTL_MSG_PUT:
		out->as.put = (pctl_msg_data){pb->put->data.data, pb->put->data.len};
		break;
	case PCTL_MSG_GET:
		out->as.get = (pctl_msg_get){pb->get->cid, pb->get->offset, pb->get->length};
		break;
	case PCTL_MSG_GRAPH:
		out->as.graph = graph_from(pb->graph);
		break;
	case PCTL_MSG_KEYS:
		return keys_from(pb->keys, a, call, &out->as.keys);
	case PCTL_MSG_ROLE:
		out->as.role = (pctl_msg_role){pb->role->sender, pb->role->account, pb->role->role,
					       pb->role->taken != 0};
		break;
	case PCTL_MSG_BLOB:
		out->as.blob = (pctl_msg_blob){pb->blob->sender, pb->blob->data.data,
					       pb->blob->data.len, pb->blob->blocks};
		break;
	case PCTL_MSG_CONTRACT:
		out->as.contract = (pctl_msg_contract){
			pb->contract->sender, pb->contract->code.data, pb->contract->code.len};
		break;
	case PCTL_MSG_CALL:
		out->as.call = (pctl_msg_call){.sender = pb->call->sender,
					       .contract = pb->call->contract,
					       .function = pb->call->function,
					       .argument = pb->call->argument.data,
					       .n_argument = pb->call->argument.len,
					       .fuel = pb->call->fuel,
					       .pay = pb->call->pay};
		break;
	case PCTL_MSG_VIEW:
		out->as.call = (pctl_msg_call){.sender = "",
					       .contract = pb->view->contract,
					       .function = pb->view->function,
					       .argument = pb->view->argument.data,
					       .n_argument = pb->view->argument.len,
					       .fuel = pb->view->fuel,
					       .height = pb->view->height};
		break;
	case PCTL_MSG_STATEMENT:
		out->as.statement = (pctl_msg_statement){
			.sender = pb->statement->sender,
			.key = {pb->statement->key.data, pb->statement->key.len},
			.root = {pb->statement->root.data, pb->statement->root.len},
			.signature = {pb->statement->signature.data, pb->statement->signature.len},
			.height = pb->statement->height};
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
	PCTL_MSG_CASES_ACKNOWLEDGED:
		out->as.ack = (pctl_msg_ack){pb->ledger->sequence, pb->ledger->proposal};
		break;
	case PCTL_MSG_PUT:
		out->as.put.cid = pb->put->cid;
		break;
	case PCTL_MSG_GET:
		out->as.get = (pctl_msg_data){pb->get->data.data, pb->get->data.len};
		break;
	case PCTL_MSG_CONTRACT:
		out->as.contract = (pctl_msg_contract_response){pb->contract->contract,
								pb->contract->gas_used};
		break;
	case PCTL_MSG_CALL:
	case PCTL_MSG_VIEW:
		return call_response_from(pb->call, a, call, &out->as.call);
	case PCTL_MSG_GRAPH:
		return graph_response_from(pb->graph, a, call, &out->as.graph);
	case PCTL_MSG_ERROR:
		out->as.error = (pctl_msg_error){pb->error->code, 0, pb->error->message};
		break;
	default:
		break;
	}
	return PCTL_OK;
}
