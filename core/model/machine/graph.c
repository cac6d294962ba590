/* A model's pipeline for one token, read and resolved; what its inputs are, which layer each job belongs to, and the types of values. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "model/machine/private.h"
#include "runtime/graph/broadcast.h"

pctl_status llm_refuse(const pctl_llm *m, const char *job, const char *why, const pctl_call *call)
{
	return pctl_refuse(call, PC6293_MODEL_MACHINE, "%s: job \"%s\" %s",
			   pctl_model_path(m->model), job, why);
}

static pctl_status resolve(pctl_llm *m, const char *text, const pctl_call *call)
{
	pctl_graph_options options = {.wgsl_flags = 0};
	pctl_status status =
		pctl_pipeline_read_text("model.pipe.cfg", text, strlen(text), call, &m->pipeline);

	if (status == PCTL_OK)
		status = pctl_installation_ops(m->in, call);
	if (status != PCTL_OK)
		return status;
	options.ops = pctl_op_library_source(m->in->library);
	options.kernels = m->in->kernels;
	return pctl_graph_resolve(m->pipeline, &options, call, NULL, NULL, &m->graph);
}

/* ---- inputs --------------------------------------------------------------------------------- */

static int numbered(const char *name, const char *word, uint64_t *out)
{
	const size_t n = strlen(word);
	int end = 0;

	return strncmp(name, word, n) == 0 && sscanf(name + n, "%" SCNu64 "%n", out, &end) == 1 &&
	       name[n + (size_t)end] == '\0';
}

/* Tensors of the model are inputs in its order (pipeline.h). */
static pctl_status look_at_inputs(pctl_llm *m, const pctl_call *call)
{
	const pctl_pipeline *p = m->pipeline;
	uint64_t tensor = 0;

	m->inputs = pctl_arena_array(m->arena, p->n_inputs + (size_t)1, sizeof(*m->inputs));
	if (m->inputs == NULL)
		return pctl_no_memory(call, "a model");
	for (uint32_t i = 0; i < p->n_inputs; i++) {
		llm_input *in = &m->inputs[i];

		in->name = p->inputs[i].name;
		in->part = UINT32_MAX;
		if (!pctl_pattern_concrete(&p->inputs[i].type, &in->type))
			return llm_refuse(m, in->name, "has an open type", call);
		if (numbered(in->name, "keys_", &in->number)) {
			in->kind = FROM_KEYS;
		} else if (numbered(in->name, "values_", &in->number)) {
			in->kind = FROM_VALUES;
		} else if (strcmp(in->name, "tokens") == 0) {
			in->kind = FROM_TOKENS;
		} else if (strcmp(in->name, "start") == 0) {
			in->kind = FROM_START;
		} else if (strcmp(in->name, "count") == 0) {
			in->kind = FROM_COUNT;
		} else if (p->inputs[i].file == NULL) {
			in->kind = FROM_CHOICE;
		} else {
			const pctl_model_tensor *t = pctl_model_tensor_at(m->model, tensor);

			while (t != NULL && pctl_model_role_is_said(t->role))
				t = pctl_model_tensor_at(m->model, ++tensor);
			if (t == NULL || !pctl_type_equal(&t->type, &in->type))
				return llm_refuse(m, in->name, "is no tensor of the model", call);
			in->kind = FROM_WEIGHT;
			in->number = tensor++;
		}
	}
	return PCTL_OK;
}

const llm_input *llm_source_input(const pctl_llm *m, pctl_source s)
{
	return s.job == PCTL_FROM_INPUT ? &m->inputs[s.port] : NULL;
}

const llm_value *llm_source_value(const pctl_llm *m, pctl_source s)
{
	return s.job < m->graph->n_nodes ? &m->values[m->nodes[s.job].first + s.port] : NULL;
}

/* ---- jobs ----------------------------------------------------------------------------------- */

/* Ids of layer 3's jobs begin with "l3_" (pipeline.h); what follows from weights alone is of no token, and what follows from tokens
 * alone stands before the first layer. */
static uint32_t group_of(const pctl_llm *m, const pctl_graph_node *n)
{
	uint32_t constant = 1, before = 0, layer;
	int end = 0;

	for (uint32_t i = 0; i < n->n_in; i++) {
		const llm_input *in = llm_source_input(m, n->in[i]);
		const llm_value *v = llm_source_value(m, n->in[i]);

		if (in != NULL) {
			constant &= in->kind == FROM_WEIGHT || in->kind == FROM_COUNT;
			before |= in->kind == FROM_TOKENS;
		} else if (v != NULL) {
			constant &= v->group == GROUP_CONSTANT;
		}
	}
	if (constant)
		return GROUP_CONSTANT;
	if (before)
		return GROUP_BEFORE;
	if (sscanf(n->job->id, "l%" SCNu32 "_%n", &layer, &end) == 1 && end != 0 &&
	    layer < m->n_layers)
		return layer;
	return m->n_layers;
}

static int is_whole_view(const pctl_op_result *r)
{
	uint64_t stride = 1;

	if (!r->is_view || r->view_offset != 0)
		return 0;
	for (uint32_t k = r->out[0].rank; k-- > 0; stride *= r->out[0].dim[k])
		if (r->out[0].dim[k] > 1 && r->view_stride[k] != stride)
			return 0;
	return 1;
}

/* Which value, or input, a view of all of it is. */
static void set_alias(const pctl_llm *m, const pctl_graph_node *n, llm_node *node)
{
	llm_value *v = &m->values[node->first];
	const llm_input *in = llm_source_input(m, n->in[0]);

	node->is_alias = 1;
	v->is_input = in != NULL;
	v->of = in != NULL ? n->in[0].port : m->nodes[n->in[0].job].first + n->in[0].port;
}

static pctl_status look_at_node(pctl_llm *m, uint32_t index, const pctl_call *call)
{
	const pctl_graph_node *n = &m->graph->nodes[index];
	llm_node *node = &m->nodes[index];
	const pctl_op_query q = {.head = PCTL_HEAD(pctl_op_query),
				 .op = n->op.index,
				 .n_in = n->n_in,
				 .in = node->in,
				 .attr = n->attr,
				 .n_attr = n->n_attr};
	pctl_op_result result = {.head = PCTL_HEAD(pctl_op_result)};
	pctl_status status;

	if (n->op.desc == NULL || n->n_in > PCTL_PORTS_MAX || n->repeat != 1)
		return llm_refuse(m, n->job->id, "is no single op", call);
	for (uint32_t i = 0; i < n->n_in; i++) {
		const llm_input *in = llm_source_input(m, n->in[i]);
		const llm_value *v = llm_source_value(m, n->in[i]);

		if (in == NULL && v == NULL)
			return llm_refuse(m, n->job->id, "is fed by nothing", call);
		node->in[i] = in != NULL ? in->type : v->type;
	}
	status = pctl_op_infer(&n->op, &q, n->job->id, NULL, call, &result);
	if (status == PCTL_OK && result.measure != NULL)
		status = llm_refuse(m, n->job->id, "has a size that depends on data", call);
	if (status != PCTL_OK)
		return status;
	node->group = group_of(m, n);
	node->n_out = n->op.desc->n_out;
	for (uint32_t i = 0; i < node->n_out; i++)
		m->values[node->first + i] =
			(llm_value){.type = result.out[i], .group = node->group, .of = UINT32_MAX};
	if (n->n_in == 1 && node->n_out == 1 && is_whole_view(&result))
		set_alias(m, n, node);
	return PCTL_OK;
}

static pctl_status look_at_nodes(pctl_llm *m, const pctl_call *call)
{
	const pctl_graph *g = m->graph;
	pctl_status status = PCTL_OK;

	m->nodes = pctl_arena_array(m->arena, g->n_nodes + (size_t)1, sizeof(*m->nodes));
	for (uint32_t i = 0; m->nodes != NULL && i < g->n_nodes; i++) {
		if (g->nodes[i].op.desc == NULL)
			return llm_refuse(m, g->nodes[i].job->id, "is no op", call);
		m->nodes[i].first = m->n_values;
		m->n_values += g->nodes[i].op.desc->n_out;
	}
	m->values = pctl_arena_array(m->arena, m->n_values + (size_t)1, sizeof(*m->values));
	if (m->nodes == NULL || m->values == NULL)
		return pctl_no_memory(call, "a model");
	for (uint32_t i = 0; status == PCTL_OK && i < g->n_nodes; i++)
		status = look_at_node(m, g->order[i], call);
	return status;
}

pctl_status llm_read(pctl_llm *m, const pctl_llm_options *o, uint64_t context,
		     const pctl_call *call)
{
	const pctl_model_plan plan = {.batch = 1,
				      .chunk = 1,
				      .context = context,
				      .gives = o->gives | PCTL_MODEL_GIVES_LOGITS,
				      .unrolled = 1};
	char *text = NULL;
	pctl_status status = pctl_model_pipeline(m->model, &plan, call, &text);

	if (status == PCTL_OK)
		status = resolve(m, text, call);
	free(text);
	if (status == PCTL_OK)
		status = look_at_inputs(m, call);
	return status == PCTL_OK ? look_at_nodes(m, call) : status;
}
