/* The check of every field of every request: all that is wrong is reported, with the field's name and its value. */
#include "chain/messages/message_checker.h"

/* ---- requests ----------------------------------------------------------------------------- */

static void check_upload(checker *c, const pctl_msg_upload *m)
{
	const char *source = (const char *)m->source;
	char field[FIELD];

	check_sender(c, m->sender);
	if (m->n_source == 0)
		wrong(c, PC5784_MESSAGE_MISSING, "wgsl_source", "not given");
	check_count(c, "wgsl_source", m->n_source, PCTL_MESSAGE_SOURCE_MAX, "bytes");
	if (m->n_source != 0 && pctl_utf8_bad(source, m->n_source, 0) != m->n_source)
		wrong(c, PC5788_MESSAGE_TEXT, "wgsl_source", "byte %zu is not UTF-8",
		      pctl_utf8_bad(source, m->n_source, 0));
	check_text(c, "description", m->description, PCTL_MESSAGE_DESCRIPTION_MAX);
	check_count(c, "tags", m->n_tags, PCTL_MESSAGE_TAGS_MAX, "tags");
	for (uint32_t i = 0; i < m->n_tags && i < PCTL_MESSAGE_TAGS_MAX; i++) {
		element("tags", i, field);
		if (!missing(c, field, m->tags[i]))
			check_text(c, field, m->tags[i], PCTL_MESSAGE_TAG_MAX);
		if (i > 0 && strcmp(m->tags[i - 1], m->tags[i]) >= 0)
			not_ascending(c, field, strcmp(m->tags[i - 1], m->tags[i]) == 0);
	}
	if (m->implements[0] != '\0')
		check_cid(c, "implements", m->implements);
}

static void check_bindings(checker *c, const pctl_msg_execute *m)
{
	char field[FIELD];

	check_count(c, "bindings", m->n_bindings, PCTL_MESSAGE_BINDINGS_MAX, "bindings");
	for (uint32_t i = 0; i < m->n_bindings && i < PCTL_MESSAGE_BINDINGS_MAX; i++) {
		const pctl_msg_binding *b = &m->bindings[i], *before = i > 0 ? b - 1 : NULL;

		element("bindings", i, field);
		if (b->group > PCTL_MESSAGE_GROUP_MAX || b->binding > PCTL_MESSAGE_BINDING_MAX)
			wrong(c, PC5791_MESSAGE_SLOT, field, "%u:%u, at most %u:%u", b->group,
			      b->binding, PCTL_MESSAGE_GROUP_MAX, PCTL_MESSAGE_BINDING_MAX);
		if ((b->group == 0 && b->binding <= 1) || (b->group == 1 && b->binding == 0))
			wrong(c, PC5791_MESSAGE_SLOT, field,
			      "%u:%u is the slot of the input, the uniforms or the output",
			      b->group, b->binding);
		if (before != NULL && (before->group > b->group || (before->group == b->group &&
								    before->binding >= b->binding)))
			not_ascending(c, field,
				      before->group == b->group && before->binding == b->binding);
		snprintf(field, sizeof(field), "bindings[%u].cid", (unsigned)i);
		check_source(c, field, b->cid);
	}
}

/* A job is waited for in one way. */
static void check_apart(checker *c, const pctl_msg_execute *m)
{
	char field[FIELD];

	for (uint32_t i = 0; i < m->n_after && i < PCTL_MESSAGE_JOBS_MAX; i++)
		for (uint32_t k = 0; k < m->n_parent_jobs && k < PCTL_MESSAGE_JOBS_MAX; k++)
			if (strcmp(m->after[i], m->parent_jobs[k]) == 0)
				wrong(c, PC5792_MESSAGE_ORDER, element("after", i, field),
				      "is one of parent_jobs too");
}

static void check_overrides(checker *c, const pctl_msg_execute *m)
{
	char field[FIELD];

	check_count(c, "overrides", m->n_overrides, PCTL_MESSAGE_OVERRIDES_MAX, "overrides");
	for (uint32_t i = 0; i < m->n_overrides && i < PCTL_MESSAGE_OVERRIDES_MAX; i++) {
		const char *name = m->overrides[i].name;

		snprintf(field, sizeof(field), "overrides[%u].name", (unsigned)i);
		if (!missing(c, field, name))
			check_text(c, field, name, PCTL_MESSAGE_NAME_MAX);
		if (i > 0 && strcmp(m->overrides[i - 1].name, name) >= 0)
			not_ascending(c, field, strcmp(m->overrides[i - 1].name, name) == 0);
	}
}

static void check_execute(checker *c, const pctl_msg_execute *m)
{
	static const char *const axes[3] = {"dispatch.x", "dispatch.y", "dispatch.z"};

	check_sender(c, m->sender);
	check_cid(c, "shader_cid", m->shader_cid);
	check_source(c, "input_cid", m->input);
	for (uint32_t d = 0; d < 3; d++)
		if (m->dispatch[d] > PCTL_MESSAGE_GROUPS_MAX)
			wrong(c, PC5790_MESSAGE_DISPATCH, axes[d], "%u workgroups, at most %u",
			      m->dispatch[d], PCTL_MESSAGE_GROUPS_MAX);
	if (m->gas_limit == 0)
		wrong(c, PC5784_MESSAGE_MISSING, "gas_limit", "not given");
	check_bindings(c, m);
	check_number(c, "parent_clock", m->parent_clock, PCTL_MESSAGE_CLOCK_MAX);
	if (m->uniform_cid[0] != '\0')
		check_cid(c, "uniform_cid", m->uniform_cid);
	check_number(c, "output_bytes", m->output_bytes, PCTL_MESSAGE_OUTPUT_MAX);
	if (m->output_bytes % 4 != 0)
		wrong(c, PC5793_MESSAGE_NUMBER, "output_bytes", "%llu is not a multiple of 4",
		      (unsigned long long)m->output_bytes);
	check_jobs(c, "parent_jobs", m->parent_jobs, m->n_parent_jobs, 1, PCTL_MESSAGE_JOBS_MAX);
	check_jobs(c, "after", m->after, m->n_after, 1, PCTL_MESSAGE_JOBS_MAX);
	check_apart(c, m);
	check_overrides(c, m);
	check_text(c, "entry", m->entry, PCTL_MESSAGE_NAME_MAX);
}

/* 1 when the operation is one of 1 to most. */
static int check_op(checker *c, uint32_t op, uint32_t most)
{
	if (op == 0)
		wrong(c, PC5784_MESSAGE_MISSING, "op", "not given");
	else if (op > most)
		wrong(c, PC5730_MESSAGE_OPERATION, "op", "%u, at most %u", op, most);
	return op >= 1 && op <= most;
}

static void check_ledger(checker *c, const pctl_msg_ledger *m)
{
	check_sender(c, m->sender);
	if (check_op(c, m->op, PCTL_LEDGER_UNBOND)) {
		if (m->op == PCTL_LEDGER_CREDIT || m->op == PCTL_LEDGER_TRANSFER)
			check_account(c, "to", m->to);
		else
			not_of_op(c, "to", m->to[0] != '\0');
	}
	if (m->amount == 0)
		wrong(c, PC5784_MESSAGE_MISSING, "amount", "not given");
}

static void check_changes(checker *c, const pctl_msg_params *m)
{
	char field[FIELD];

	if (m->n_changes == 0)
		wrong(c, PC5784_MESSAGE_MISSING, "changes", "not given");
	check_count(c, "changes", m->n_changes, PCTL_MESSAGE_CHANGES_MAX, "changes");
	for (uint32_t i = 0; i < m->n_changes && i < PCTL_MESSAGE_CHANGES_MAX; i++) {
		const pctl_msg_param_change *change = &m->changes[i];

		snprintf(field, sizeof(field), "changes[%u].name", (unsigned)i);
		if (!missing(c, field, change->name))
			check_text(c, field, change->name, PCTL_MESSAGE_PARAM_MAX);
		if (i > 0 && strcmp(change[-1].name, change->name) >= 0)
			not_ascending(c, field, strcmp(change[-1].name, change->name) == 0);
		snprintf(field, sizeof(field), "changes[%u].value", (unsigned)i);
		if (!missing(c, field, change->value))
			check_text(c, field, change->value, PCTL_MESSAGE_PARAM_MAX);
	}
}

static void check_params(checker *c, const pctl_msg_params *m)
{
	const int is_proposal = m->op == PCTL_PARAMS_PROPOSE;

	check_sender(c, m->sender);
	if (!check_op(c, m->op, PCTL_PARAMS_APPLY))
		return;
	check_number(c, "height", m->height, PCTL_MESSAGE_CLOCK_MAX);
	check_number(c, "proposal", m->proposal, PCTL_MESSAGE_CLOCK_MAX);
	if (is_proposal) {
		if (m->height == 0)
			wrong(c, PC5784_MESSAGE_MISSING, "height", "not given");
		check_changes(c, m);
	} else if (m->proposal == 0) {
		wrong(c, PC5784_MESSAGE_MISSING, "proposal", "not given");
	}
	not_of_op(c, "proposal", is_proposal && m->proposal != 0);
	not_of_op(c, "height", !is_proposal && m->height != 0);
	not_of_op(c, "changes", !is_proposal && m->n_changes != 0);
	not_of_op(c, "yes", m->op != PCTL_PARAMS_VOTE && m->yes != 0);
	check_number(c, "yes", m->yes, 1);
}

static void check_name(checker *c, const pctl_msg_name *m)
{
	check_sender(c, m->sender);
	if (check_op(c, m->op, PCTL_NAME_DEPRECATE)) {
		if (m->op == PCTL_NAME_ALIAS)
			check_plain_name(c, PC5731_MESSAGE_NAME, "name", m->name);
		else
			not_of_op(c, "name", m->name[0] != '\0');
	}
	check_cid(c, "cid", m->cid);
}

static void check_block(checker *c, const pctl_msg_block *m, int is_end)
{
	check_number(c, "height", m->height, PCTL_MESSAGE_CLOCK_MAX);
	if (is_end && m->executor != NULL && m->executor[0] != '\0')
		check_account(c, "executor", m->executor);
}

static void check_verdict(checker *c, const pctl_msg_verdict *m)
{
	check_sender(c, m->sender);
	if (m->job_id[0] != '\0' || m->output[0] != '\0') {
		check_hash(c, "job_id", m->job_id);
		check_cid(c, "output", m->output);
		not_of_op(c, "accused", m->accused[0] != '\0');
		not_of_op(c, "evidence", m->evidence[0] != '\0');
		return;
	}
	check_account(c, "accused", m->accused);
	check_cid(c, "evidence", m->evidence);
}

static void check_size(checker *c, const char *field, const pctl_msg_bytes *b, uint32_t n)
{
	if (b->n != n)
		wrong(c, PC5732_MESSAGE_BYTES, field, "%llu bytes, not %u",
		      (unsigned long long)b->n, n);
}

/* Keys one behind the other: their sizes, and ascending. */
static void check_key(checker *c, const char *field, const pctl_msg_bytes *key,
		      const pctl_msg_bytes *before)
{
	int order;

	check_size(c, field, key, PCTL_MESSAGE_KEY_BYTES);
	if (before == NULL || before->n != key->n || key->n != PCTL_MESSAGE_KEY_BYTES)
		return;
	order = memcmp(before->data, key->data, PCTL_MESSAGE_KEY_BYTES);
	if (order >= 0)
		not_ascending(c, field, order == 0);
}

static void check_keys(checker *c, const pctl_msg_keys *m)
{
	char field[FIELD];

	check_sender(c, m->sender);
	if (m->n_keys == 0)
		wrong(c, PC5784_MESSAGE_MISSING, "keys", "not given");
	check_count(c, "keys", m->n_keys, PCTL_MESSAGE_KEYS_MAX, "keys");
	for (uint32_t i = 0; i < m->n_keys && i < PCTL_MESSAGE_KEYS_MAX; i++)
		check_key(c, element("keys", i, field), &m->keys[i],
			  i > 0 ? &m->keys[i - 1] : NULL);
	if (m->threshold == 0)
		wrong(c, PC5784_MESSAGE_MISSING, "threshold", "not given");
	check_number(c, "threshold", m->threshold, m->n_keys);
}

static void check_role(checker *c, const pctl_msg_role *m)
{
	check_sender(c, m->sender);
	if (m->role == 0)
		wrong(c, PC5784_MESSAGE_MISSING, "role", "not given");
	check_number(c, "role", m->role, PCTL_ROLE_BLOCK);
	check_account(c, "account", m->account);
}

static void check_statement(checker *c, const pctl_msg_statement *m)
{
	check_sender(c, m->sender);
	check_size(c, "key", &m->key, PCTL_MESSAGE_KEY_BYTES);
	if (m->height == 0)
		wrong(c, PC5784_MESSAGE_MISSING, "height", "not given");
	check_number(c, "height", m->height, PCTL_MESSAGE_CLOCK_MAX);
	check_size(c, "root", &m->root, PCTL_DIGEST_BYTES);
	check_size(c, "signature", &m->signature, PCTL_MESSAGE_SIGNED_BYTES);
}

static void check_get(checker *c, const pctl_msg_get *m)
{
	check_cid(c, "cid", m->cid);
	check_number(c, "offset", m->offset, PCTL_MESSAGE_CLOCK_MAX);
	check_number(c, "length", m->length, PCTL_MESSAGE_DATA_MAX);
}

/* What of an edge a name may be, and what needs one. */
static void check_graph_role(checker *c, const pctl_msg_graph *m)
{
	const int is_edges = m->op == PCTL_GRAPH_EDGES;

	if (m->role > PCTL_EDGE_ROLE_BLOCK_MADE)
		wrong(c, PC5730_MESSAGE_OPERATION, "role", "%u, at most %u", m->role,
		      PCTL_EDGE_ROLE_BLOCK_MADE);
	not_of_op(c, "role", !is_edges && m->role != 0);
	if (is_edges && m->role == 0 && m->name[0] != '\0')
		wrong(c, PC5784_MESSAGE_MISSING, "role", "not given, but there is a name");
	if (m->role == PCTL_EDGE_ROLE_BLOCK_MADE && m->height == 0)
		wrong(c, PC5784_MESSAGE_MISSING, "height", "not given");
	not_of_op(c, "name", m->role == PCTL_EDGE_ROLE_BLOCK_MADE && m->name[0] != '\0');
	if (m->op == PCTL_GRAPH_HISTORY || m->op == PCTL_GRAPH_DEPENDENTS ||
	    m->op == PCTL_GRAPH_RANK || (m->role != 0 && m->role < PCTL_EDGE_ROLE_BLOCK_MADE))
		(void)missing(c, "name", m->name);
}

static void check_graph(checker *c, const pctl_msg_graph *m)
{
	const int has_clocks = m->op == PCTL_GRAPH_EDGES || m->op == PCTL_GRAPH_JOBS;

	if (!check_op(c, m->op, PCTL_GRAPH_RANK))
		return;
	check_text(c, "name", m->name, PCTL_MESSAGE_GRAPH_NAME_MAX);
	check_graph_role(c, m);
	if ((m->kinds & ~PCTL_MESSAGE_KINDS_MAX) != 0)
		wrong(c, PC5730_MESSAGE_OPERATION, "kinds", "%u has bits of no kind of edge",
		      m->kinds);
	not_of_op(c, "kinds", m->op != PCTL_GRAPH_EDGES && m->kinds != 0);
	check_number(c, "height", m->height, PCTL_MESSAGE_CLOCK_MAX - 1);
	check_number(c, "from_clock", m->from_clock, PCTL_MESSAGE_CLOCK_MAX);
	check_number(c, "to_clock", m->to_clock, PCTL_MESSAGE_CLOCK_MAX);
	not_of_op(c, "from_clock", !has_clocks && m->from_clock != 0);
	not_of_op(c, "to_clock", !has_clocks && m->to_clock != 0);
	check_number(c, "limit", m->limit,
		     m->prove ? PCTL_MESSAGE_GRAPH_PROVED : PCTL_MESSAGE_GRAPH_MAX);
	check_count(c, "next", m->next.n, PCTL_MESSAGE_NEXT_MAX, "bytes");
	not_of_op(c, "prove", m->prove && m->op != PCTL_GRAPH_EDGES);
}

static void check_blob(checker *c, const pctl_msg_blob *m)
{
	check_sender(c, m->sender);
	if (m->n_data == 0)
		wrong(c, PC5784_MESSAGE_MISSING, "data", "not given");
	check_count(c, "data", m->n_data, PCTL_MESSAGE_DATA_MAX, "bytes");
	if (m->blocks == 0)
		wrong(c, PC5784_MESSAGE_MISSING, "blocks", "not given");
	check_number(c, "blocks", m->blocks, PCTL_MESSAGE_CLOCK_MAX);
}

static void check_contract(checker *c, const pctl_msg_contract *m)
{
	check_sender(c, m->sender);
	if (m->n_code == 0)
		wrong(c, PC5784_MESSAGE_MISSING, "code", "not given");
	check_count(c, "code", m->n_code, PCTL_MESSAGE_CODE_MAX, "bytes");
}

static void check_call(checker *c, const pctl_msg_call *m, int is_view)
{
	if (!is_view)
		check_sender(c, m->sender);
	check_cid(c, "contract", m->contract);
	check_text(c, "function", m->function, PCTL_MESSAGE_NAME_MAX);
	check_count(c, "argument", m->n_argument, PCTL_MESSAGE_ARGUMENT_MAX, "bytes");
	if (m->fuel == 0)
		wrong(c, PC5784_MESSAGE_MISSING, "fuel", "not given");
	check_number(c, "height", m->height, PCTL_MESSAGE_CLOCK_MAX);
	not_of_op(c, "height", !is_view && m->height != 0);
	not_of_op(c, "pay", is_view && m->pay != 0);
}

static void check_auth(checker *c, const pctl_request *r)
{
	const pctl_msg_auth *m = &r->auth;
	char field[FIELD];

	if (!m->is_given)
		return;
	if (pctl_request_sender(r) == NULL && r->kind != PCTL_MSG_BLOCK_END)
		wrong(c, PC5730_MESSAGE_OPERATION, "auth",
		      "the field is given, but this kind of message changes no state");
	check_size(c, "auth.chain", &m->chain, PCTL_DIGEST_BYTES);
	check_number(c, "auth.nonce", m->nonce, PCTL_MESSAGE_CLOCK_MAX);
	if (m->expiry == 0)
		wrong(c, PC5784_MESSAGE_MISSING, "auth.expiry", "not given");
	check_number(c, "auth.expiry", m->expiry, PCTL_MESSAGE_CLOCK_MAX);
	check_count(c, "auth.signatures", m->n_signatures, PCTL_MESSAGE_KEYS_MAX, "signatures");
	for (uint32_t i = 0; i < m->n_signatures && i < PCTL_MESSAGE_KEYS_MAX; i++) {
		element("auth.signatures", i, field);
		check_key(c, field, &m->signatures[i].key,
			  i > 0 ? &m->signatures[i - 1].key : NULL);
		check_size(c, field, &m->signatures[i].value, PCTL_MESSAGE_SIGNED_BYTES);
	}
}

pctl_status pctl_request_check(const pctl_request *r, const pctl_call *call)
{
	checker c = {.call = call, .message = "block"};

	switch (r->kind) {
	case PCTL_MSG_UPLOAD:
		c.message = "upload";
		check_upload(&c, &r->as.upload);
		break;
	case PCTL_MSG_EXECUTE:
		c.message = "execute";
		check_execute(&c, &r->as.execute);
		break;
	case PCTL_MSG_QUERY:
		c.message = "query";
		check_hash(&c, "job_id", r->as.query.job_id);
		break;
	case PCTL_MSG_BLOCK_END:
	case PCTL_MSG_BLOCK_QUERY:
		check_block(&c, &r->as.block, r->kind == PCTL_MSG_BLOCK_END);
		break;
	case PCTL_MSG_LEDGER:
		c.message = "ledger";
		check_ledger(&c, &r->as.ledger);
		break;
	case PCTL_MSG_PARAMS:
		c.message = "params";
		check_params(&c, &r->as.params);
		break;
	case PCTL_MSG_NAME:
		c.message = "name";
		check_name(&c, &r->as.name);
		break;
	case PCTL_MSG_CANCEL:
		c.message = "cancel";
		check_sender(&c, r->as.cancel.sender);
		check_hash(&c, "job_id", r->as.cancel.job_id);
		break;
	case PCTL_MSG_LINK:
		c.message = "link";
		check_sender(&c, r->as.link.sender);
		check_cid(&c, "source", r->as.link.source);
		check_cid(&c, "target", r->as.link.target);
		break;
	case PCTL_MSG_VERDICT:
		c.message = "verdict";
		check_verdict(&c, &r->as.verdict);
		break;
	case PCTL_MSG_PUT:
		c.message = "put";
		check_count(&c, "data", r->as.put.n_data, PCTL_MESSAGE_DATA_MAX, "bytes");
		break;
	case PCTL_MSG_GET:
		c.message = "get";
		check_get(&c, &r->as.get);
		break;
	case PCTL_MSG_KEYS:
		c.message = "keys";
		check_keys(&c, &r->as.keys);
		break;
	case PCTL_MSG_ROLE:
		c.message = "role";
		check_role(&c, &r->as.role);
		break;
	case PCTL_MSG_BLOB:
		c.message = "blob";
		check_blob(&c, &r->as.blob);
		break;
	case PCTL_MSG_CONTRACT:
		c.message = "contract";
		check_contract(&c, &r->as.contract);
		break;
	case PCTL_MSG_CALL:
	case PCTL_MSG_VIEW:
		c.message = r->kind == PCTL_MSG_CALL ? "call" : "view";
		check_call(&c, &r->as.call, r->kind == PCTL_MSG_VIEW);
		break;
	case PCTL_MSG_STATEMENT:
		c.message = "statement";
		check_statement(&c, &r->as.statement);
		break;
	case PCTL_MSG_GRAPH:
		c.message = "graph";
		check_graph(&c, &r->as.graph);
		break;
	default:
		check_envelope(&c, r->kind, "request");
		break;
	}
	check_auth(&c, r);
	return c.status;
}
