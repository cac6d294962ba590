/* Keys: of a job, under which it is remembered, and of a whole run, which names it. A key is everything an answer depends on,
 * written out and hashed: bytes, programs, shapes, price; device and policy stay out. Whether an answer may be taken is another
 * question (run_evidence.c). */
#include <inttypes.h>
#include <string.h>

#include "foundation/base/str.h"
#include "runtime/exec/run_private.h"

/* Every op library that is loaded: an op may use others, in its plan or by `//# use`. */
static void add_libraries(const pctl_running *r, pctl_str_buf *s)
{
	const pctl_op_source *ops = r->o->ops;
	const char *last = NULL;

	for (uint32_t i = 0; i < ops->count(ops->ctx); i++) {
		pctl_op_ref op;

		ops->at(ops->ctx, i, &op);
		if (last != NULL && strcmp(last, op.plugin) == 0)
			continue;
		last = op.plugin;
		pctl_str_addf(s, "library %s %s\n", op.plugin, op.digest == NULL ? "" : op.digest);
	}
}

/* What a result costs belongs to the question, and the most it may need; whether it may be taken under the policy in force is
 * asked of the record. */
static void add_head(const pctl_running *r, pctl_str_buf *s)
{
	pctl_str_addf(s, "class %" PRIu32 "\nschedule %s\n", r->graph->pipeline->max_class,
		      r->o->schedule_id == NULL ? pctl_gas_schedule_name(r->o->schedule)
						: r->o->schedule_id);
	add_libraries(r, s);
}

static void add_op(pctl_str_buf *s, const pctl_graph_node *n)
{
	pctl_str_addf(s, "op %s@%" PRIu32 " %s\n", n->op.desc->name, n->op.desc->version,
		      n->op.digest == NULL ? "" : n->op.digest);
	for (uint32_t i = 0; i < n->n_attr; i++)
		pctl_str_addf(s, "attr %s %zu:%s\n", n->attr[i].name, strlen(n->attr[i].text),
			      n->attr[i].text);
}

static void add_vars(pctl_str_buf *s, const pctl_graph_node *n)
{
	for (uint32_t i = 0; i < n->n_vars; i++)
		pctl_str_addf(s, "var %s %" PRIu32 " %" PRIu32 "\n", n->vars[i].name, n->vars[i].in,
			      n->vars[i].out);
}

/* The digest of what was written; the buffer is used up. */
static pctl_status finish_key(pctl_str_buf *s, pctl_status status, const pctl_call *call,
			      uint8_t out[PCTL_DIGEST_BYTES])
{
	pctl_cid key;

	if (status == PCTL_OK && s->failed)
		status = pctl_no_memory(call, "a key");
	if (status == PCTL_OK)
		status = pctl_cid_of(s->data, s->n, call, &key);
	if (status == PCTL_OK)
		memcpy(out, key.digest, PCTL_DIGEST_BYTES);
	pctl_str_drop(s);
	return status;
}

/* ---- of a job ----------------------------------------------------------------------------- */

/* The program itself, not the text it was written as; its dispatch and the shapes it gives, not how they were found. */
static pctl_status add_shader(pctl_running *r, pctl_str_buf *s, pctl_run_node *n)
{
	const pctl_kernel_module *unit;
	char text[PCTL_CID_TEXT_SIZE];
	uint32_t groups[3];
	pctl_status status = pctl_run_shader_unit(r, n, groups, &unit);

	if (status != PCTL_OK)
		return status;
	pctl_str_addf(s, "program %s\ngroups %" PRIu32 " %" PRIu32 " %" PRIu32 "\n",
		      pctl_cid_format(&unit->cid, text), groups[0], groups[1], groups[2]);
	add_vars(s, n->node);
	for (uint32_t i = 0; i < n->node->n_out; i++)
		pctl_str_addf(s, "out %s %s\n", pctl_node_out_name(n->node, i),
			      pctl_type_text(r->result->arena, &n->out[i]));
	return PCTL_OK;
}

/* The file of the machine and its kernels, as they are; the places that are fed and read. */
static pctl_status add_machine(pctl_running *r, pctl_str_buf *s, pctl_run_node *n)
{
	const pctl_graph_node *node = n->node;
	char text[PCTL_CID_TEXT_SIZE];
	pctl_cid cid;
	pctl_status status = pctl_cid_of(node->text, node->n_text, r->call, &cid);

	if (status == PCTL_OK)
		status = pctl_run_declared_types(r, n);
	if (status != PCTL_OK)
		return status;
	pctl_str_addf(s, "machine %s\n", pctl_cid_format(&cid, text));
	for (uint32_t i = 0; i < node->n_in; i++)
		pctl_str_addf(s, "to %s\n", node->job->in[i].port);
	for (uint32_t i = 0; i < node->n_out; i++)
		pctl_str_addf(s, "out %s %s\n", pctl_node_out_name(node, i),
			      pctl_type_text(r->result->arena, &n->out[i]));
	return PCTL_OK;
}

static pctl_status own_key(pctl_running *r, pctl_run_node *n, uint32_t *known);

/* An input as the job gets it, wherever it comes from; *known 0: its bytes are not named yet. Where they never are, since a fused
 * kernel did not write them, the question stands that they would answer (semantics 14.6). */
static pctl_status add_input(pctl_running *r, pctl_str_buf *s, const pctl_source *from,
			     uint32_t carry, uint32_t *known)
{
	const int is_input = from->job == PCTL_FROM_INPUT;
	pctl_run_node *maker = is_input ? NULL : &r->nodes[from->job];
	const pctl_tensor_type *type =
		is_input ? &r->input_types[from->port] : &maker->out[from->port];
	char text[PCTL_CID_TEXT_SIZE];

	*known = 1;
	if (!is_input && !maker->known[from->port]) {
		pctl_status status = PCTL_OK;

		*known = 0;
		if (pctl_run_is_element(maker->node))
			status = own_key(r, maker, known);
		if (status == PCTL_OK && *known) {
			pctl_str_add(s, "in of ");
			for (uint32_t i = 0; i < PCTL_DIGEST_BYTES; i++)
				pctl_str_addf(s, "%02x", maker->key[i]);
			pctl_str_addf(s, " %" PRIu32 " %" PRIu32 "\n", from->port, carry);
		}
		return status;
	}
	pctl_str_addf(s, "in %s %s %" PRIu32 "\n",
		      pctl_cid_format(is_input ? pctl_source_cid(r->sources[from->port])
					       : &maker->cid[from->port],
				      text),
		      pctl_type_text(r->result->arena, type), carry);
	return PCTL_OK;
}

/* The key of a job that others ask for, made once: a chain of many readers is asked for its keys in one pass. */
static pctl_status own_key(pctl_running *r, pctl_run_node *n, uint32_t *known)
{
	pctl_status status = PCTL_OK;

	*known = 1;
	if (!n->has_key)
		status = pctl_run_job_key(r, n, n->key, known);
	n->has_key = status == PCTL_OK && *known;
	return status;
}

pctl_status pctl_run_job_key(pctl_running *r, pctl_run_node *n, uint8_t out[PCTL_DIGEST_BYTES],
			     uint32_t *known)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	pctl_status status = PCTL_OK;

	*known = 1;
	pctl_str_add(&s, "pipectl job, semantics " PCTL_SEMANTICS_VERSION "\n");
	add_head(r, &s);
	for (uint32_t i = 0; status == PCTL_OK && *known && i < n->node->n_in; i++)
		status = add_input(r, &s, &n->node->in[i], n->node->carry[i], known);
	if (status != PCTL_OK || !*known) {
		pctl_str_drop(&s);
		return status;
	}
	if (n->node->job->kind == PCTL_JOB_OP)
		add_op(&s, n->node);
	else if (n->node->job->kind == PCTL_JOB_VM)
		status = add_machine(r, &s, n);
	else
		status = add_shader(r, &s, n);
	pctl_str_addf(&s, "repeat %" PRIu64 "\n", n->node->repeat);
	return finish_key(&s, status, r->call, out);
}

/* ---- of a run ----------------------------------------------------------------------------- */

static void add_source(pctl_str_buf *s, const pctl_source *from)
{
	if (from->job == PCTL_FROM_INPUT)
		pctl_str_addf(s, " $%" PRIu32, from->port);
	else
		pctl_str_addf(s, " %" PRIu32 ".%" PRIu32, from->job, from->port);
}

static pctl_status add_node(pctl_running *r, pctl_str_buf *s, const pctl_graph_node *n)
{
	pctl_status status = PCTL_OK;
	char text[PCTL_CID_TEXT_SIZE];
	pctl_cid cid;

	if (n->job->kind == PCTL_JOB_OP) {
		add_op(s, n);
	} else {
		status = pctl_cid_of(n->text, n->n_text, r->call, &cid);
		pctl_str_addf(s, "%s %s %s\n", n->job->kind == PCTL_JOB_VM ? "machine" : "shader",
			      pctl_cid_format(&cid, text),
			      n->job->entry == NULL ? "" : n->job->entry);
	}
	for (uint32_t i = 0; i < n->n_overrides; i++)
		pctl_str_addf(s, "override %s %" PRIu64 " %s\n", n->overrides[i].name,
			      n->overrides[i].bits,
			      n->overrides[i].text == NULL ? "" : n->overrides[i].text);
	for (uint32_t i = 0; i < n->job->n_groups; i++)
		pctl_str_addf(s, "groups %s%s\n", n->job->groups[i].is_param ? "$" : "",
			      n->job->groups[i].text);
	add_vars(s, n);
	for (uint32_t i = 0; n->job->kind == PCTL_JOB_VM && i < n->n_in; i++)
		pctl_str_addf(s, "to %s\n", n->job->in[i].port);
	for (uint32_t i = 0; n->job->kind != PCTL_JOB_OP && i < n->n_out; i++)
		pctl_str_addf(s, "out %s\n",
			      pctl_pattern_text(r->result->arena, &n->job->out[i].type));
	pctl_str_addf(s, "repeat %" PRIu64, n->repeat);
	for (uint32_t i = 0; i < n->n_in; i++) {
		add_source(s, &n->in[i]);
		pctl_str_addf(s, ":%" PRIu32, n->carry[i]);
	}
	pctl_str_add(s, "\n");
	return status;
}

pctl_status pctl_run_key(pctl_running *r, uint8_t out[PCTL_DIGEST_BYTES])
{
	const pctl_pipeline *p = r->graph->pipeline;
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char text[PCTL_CID_TEXT_SIZE];
	pctl_status status = PCTL_OK;

	pctl_str_add(&s, "pipectl semantics " PCTL_SEMANTICS_VERSION "\n");
	for (uint32_t i = 0; i < p->n_inputs; i++)
		pctl_str_addf(&s, "input %s %s\n",
			      pctl_cid_format(pctl_source_cid(r->sources[i]), text),
			      pctl_type_text(r->result->arena, &r->input_types[i]));
	add_head(r, &s);
	/* Parameters may name dimensions of outputs and dispatches, so their values belong to the
	 * question. */
	for (uint32_t i = 0; i < p->n_params; i++)
		pctl_str_addf(&s, "param %s %zu:%s\n", p->params[i].name,
			      strlen(r->graph->param_text[i]), r->graph->param_text[i]);
	for (uint32_t i = 0; i < p->n_inputs; i++)
		pctl_str_addf(&s, "pattern %s\n",
			      pctl_pattern_text(r->result->arena, &p->inputs[i].type));
	for (uint32_t i = 0; status == PCTL_OK && i < r->graph->n_nodes; i++)
		status = add_node(r, &s, &r->graph->nodes[i]);
	for (uint32_t i = 0; i < p->n_outputs; i++) {
		pctl_str_addf(&s, "output %s", p->outputs[i].port);
		add_source(&s, &r->graph->outputs[i]);
		pctl_str_add(&s, "\n");
	}
	return finish_key(&s, status, r->call, out);
}
