/* Where everything of a model lies in its machine: weights one behind the other in the heap, keys and values in partitions, what a layer works on
 * in registers by when it is alive, the rest in the globals. */
#include <inttypes.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/diag/diag.h"
#include "model/machine/private.h"

static uint64_t aligned(uint64_t n)
{
	return pctl_num_align(n, PCTL_PLAN_ALIGN);
}

static uint64_t bytes_of(const pctl_tensor_type *t)
{
	uint64_t n = 0;

	(void)pctl_type_buffer_bytes(t, &n);
	return n;
}

uint32_t llm_instance_of(const pctl_llm *m, uint32_t group)
{
	return group == GROUP_CONSTANT ? 0 : group < m->n_layers ? group : m->n_layers - 1u;
}

/* The value whose bytes a source has; NULL: an input has them, *in. */
static llm_value *root_of(const pctl_llm *m, pctl_source s, const llm_input **in)
{
	llm_value *v = (llm_value *)llm_source_value(m, s);

	*in = llm_source_input(m, s);
	while (v != NULL && v->of != UINT32_MAX) {
		if (v->is_input) {
			*in = &m->inputs[v->of];
			return NULL;
		}
		v = &m->values[v->of];
	}
	return v;
}

/* ---- who needs what ------------------------------------------------------------------------- */

static pctl_status note_uses(pctl_llm *m, uint32_t index, const pctl_call *call)
{
	const pctl_graph_node *n = &m->graph->nodes[index];
	const llm_node *node = &m->nodes[index];

	if (node->group == GROUP_BEFORE)
		return PCTL_OK;
	for (uint32_t i = 0; i < n->n_in; i++) {
		const llm_input *in;
		llm_value *v = root_of(m, n->in[i], &in);

		if (v == NULL && in->kind == FROM_WEIGHT)
			((llm_input *)in)->part = 0;
		if (v == NULL || node->is_alias)
			continue;
		if (v->group == node->group)
			v->uses++;
		else if (v->group == GROUP_BEFORE && node->group != 0)
			return llm_refuse(m, n->job->id, "needs the tokens themselves", call);
		else if (v->group < m->n_layers && v->group + 1u != node->group)
			return llm_refuse(m, n->job->id, "needs what an earlier layer made", call);
		else if (v->group < m->n_layers)
			v->crosses = 1;
	}
	return PCTL_OK;
}

/* What a layer hands on is one row, the message. */
static pctl_status check_messages(const pctl_llm *m, const pctl_call *call)
{
	for (uint32_t layer = 0; layer < m->n_layers; layer++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < m->n_values; i++) {
			const llm_value *v = &m->values[i];

			if (v->group != layer || !v->crosses)
				continue;
			n++;
			if (bytes_of(&v->type) != 4u * m->s->n_embd)
				n = 2;
		}
		if (n != 1)
			return pctl_refuse(call, PC6293_MODEL_MACHINE,
					   "%s: layer %" PRIu32
					   " hands on something else than one row of %" PRIu64,
					   pctl_model_path(m->model), layer, m->s->n_embd);
	}
	return PCTL_OK;
}

/* ---- the machine's shape -------------------------------------------------------------------- */

/* 1: an op writes it in the place of a cache. */
static int in_cache(const pctl_llm *m, const pctl_graph_node *n, uint32_t port, pctl_vm_place *out)
{
	const uint32_t place = PCTL_PORT_PLACE(n->op.desc->out[port].flags);
	const llm_input *in;

	if (place == 0 || place > n->n_in || root_of(m, n->in[place - 1], &in) != NULL ||
	    (in->kind != FROM_KEYS && in->kind != FROM_VALUES))
		return 0;
	*out = in->place;
	return 1;
}

/* Words of the widest value that a layer's job makes, but for those in caches. */
static uint64_t widest(const pctl_llm *m, uint32_t index)
{
	const llm_node *node = &m->nodes[index];
	pctl_vm_place place;
	uint64_t most = 0;

	for (uint32_t i = 0; node->group < m->n_layers && !node->is_alias && i < node->n_out; i++) {
		const uint64_t n = bytes_of(&m->values[node->first + i].type) / 4u;

		if (n > most && !in_cache(m, &m->graph->nodes[index], i, &place))
			most = n;
	}
	return most;
}

static pctl_status take_shape(pctl_llm *m, const pctl_llm_options *o, const pctl_call *call)
{
	pctl_vm_desc *d = &m->desc;
	uint64_t words = m->s->n_embd + PCTL_VM_TELEMETRY, keys = 0, values = 0;

	for (uint32_t i = 0; i < m->graph->n_nodes; i++) {
		const uint64_t n = widest(m, i);

		if (n > words && n <= PCTL_VM_WIDTH_MAX)
			words = n;
	}
	for (uint32_t i = 0; i < m->pipeline->n_inputs; i++) {
		if (m->inputs[i].kind == FROM_KEYS)
			keys = bytes_of(&m->inputs[i].type);
		if (m->inputs[i].kind == FROM_VALUES)
			values = bytes_of(&m->inputs[i].type);
	}
	*d = (pctl_vm_desc){.name = pctl_model_family_name(m->s->family),
			    .instances = m->n_layers,
			    .width = words > PCTL_VM_WIDTH_MAX
					     ? UINT32_MAX / 64u * 64u
					     : (uint32_t)pctl_num_align(words, 64),
			    .n_embd = (uint32_t)m->s->n_embd,
			    .turns = 1,
			    .advance = 1,
			    .target = o->target,
			    .kv_bytes = aligned(keys) + values,
			    .heap_bytes = o->heap_bytes};
	for (uint32_t i = 0; i < m->pipeline->n_inputs; i++) {
		llm_input *in = &m->inputs[i];
		const uint64_t behind = in->kind == FROM_VALUES ? aligned(keys) : 0;

		if (in->kind == FROM_KEYS || in->kind == FROM_VALUES)
			in->place = (pctl_vm_place){.space = PCTL_VM_IN_GLOBALS,
						    .at = pctl_vm_kv_at(d, (uint32_t)in->number) +
							  behind,
						    .n_bytes = bytes_of(&in->type)};
	}
	return pctl_vm_lay_out(d, call);
}

/* ---- heap ----------------------------------------------------------------------------------- */

static pctl_status lay_weights(pctl_llm *m, const pctl_call *call)
{
	pctl_vm_desc *d = &m->desc;
	pctl_status status = PCTL_OK;

	d->heap = pctl_arena_array(m->arena, m->pipeline->n_inputs + (size_t)1, sizeof(*d->heap));
	if (d->heap == NULL)
		return pctl_no_memory(call, "a heap");
	for (uint32_t i = 0; status == PCTL_OK && i < m->pipeline->n_inputs; i++) {
		llm_input *in = &m->inputs[i];
		pctl_vm_part *part = &d->heap[d->n_heap];

		if (in->kind != FROM_WEIGHT || in->part == UINT32_MAX)
			continue;
		*part = (pctl_vm_part){.name = pctl_model_tensor_at(m->model, in->number)->name,
				       .n_bytes = bytes_of(&in->type)};
		status = pctl_vm_allot(d, d->n_heap == 0 ? NULL : part - 1, part, call);
		in->part = d->n_heap++;
		in->place = (pctl_vm_place){
			.space = PCTL_VM_IN_HEAP, .at = part->at, .n_bytes = part->n_bytes};
		m->facts.weights++;
		m->facts.weight_bytes += part->n_bytes;
	}
	return status;
}

/* ---- globals -------------------------------------------------------------------------------- */

static pctl_vm_place own_part(pctl_llm *m, uint64_t n_bytes)
{
	const pctl_vm_place place = {.space = PCTL_VM_IN_GLOBALS,
				     .at = pctl_vm_globals_at(&m->desc) + m->own_bytes,
				     .n_bytes = n_bytes};

	m->own_bytes = aligned(m->own_bytes + n_bytes);
	return place;
}

static pctl_machine_range range_of(const pctl_vm_place *p)
{
	return (pctl_machine_range){PCTL_MACHINE_GLOBALS, 0, 0, 0, p->at, p->n_bytes};
}

static pctl_status lay_inputs(pctl_llm *m, const pctl_call *call)
{
	for (uint32_t i = 0; i < m->pipeline->n_inputs; i++) {
		llm_input *in = &m->inputs[i];

		if (in->kind == FROM_START)
			in->place = (pctl_vm_place){.space = PCTL_VM_IN_GLOBALS, .n_bytes = 4};
		if (in->kind != FROM_COUNT && in->kind != FROM_CHOICE)
			continue;
		if (m->n_choices == LLM_CHOICES)
			return pctl_refuse(call, PC1_INTERNAL, "a model with too many inputs");
		in->place = own_part(m, bytes_of(&in->type));
		if (in->kind == FROM_COUNT) {
			m->count_at = in->place.at;
		} else {
			m->choice_names[m->n_choices] = in->name;
			m->choices[m->n_choices++] = range_of(&in->place);
		}
	}
	return PCTL_OK;
}

/* ---- values --------------------------------------------------------------------------------- */

struct registers {
	uint8_t taken[PCTL_VM_REGISTERS];
	uint64_t scratch, most; /* of the globals, for what no register holds */
};

static pctl_status in_register(pctl_llm *m, struct registers *r, llm_value *v, const char *job,
			       const pctl_call *call)
{
	uint32_t k = LLM_FIRST_REGISTER;

	v->place = (pctl_vm_place){.space = PCTL_VM_IN_REGISTER, .n_bytes = bytes_of(&v->type)};
	if (v->crosses) {
		v->place.number = PCTL_VM_OUTBOX;
		return PCTL_OK;
	}
	if (v->place.n_bytes > 4ull * m->desc.width) {
		v->is_scratch = 1;
		v->place.space = PCTL_VM_IN_GLOBALS;
		v->place.at = r->scratch;
		r->scratch = aligned(r->scratch + v->place.n_bytes);
		return PCTL_OK;
	}
	while (k < PCTL_VM_OUTBOX && r->taken[k])
		k++;
	if (k == PCTL_VM_OUTBOX)
		return llm_refuse(m, job, "finds no register that is free", call);
	r->taken[k] = 1;
	v->place.number = k;
	return PCTL_OK;
}

/* Registers whose values no later job of the layer needs are free again behind it. */
static void let_go(pctl_llm *m, struct registers *r, const pctl_graph_node *n, const llm_node *node)
{
	for (uint32_t i = 0; i < n->n_in; i++) {
		const llm_input *in;
		llm_value *v = root_of(m, n->in[i], &in);

		if (v != NULL && v->group == node->group && --v->uses == 0 && !v->crosses &&
		    v->place.space == PCTL_VM_IN_REGISTER)
			r->taken[v->place.number] = 0;
	}
	for (uint32_t i = 0; i < node->n_out; i++) {
		const llm_value *v = &m->values[node->first + i];

		if (v->uses == 0 && !v->crosses && v->place.space == PCTL_VM_IN_REGISTER)
			r->taken[v->place.number] = 0;
	}
}

static pctl_status lay_layer(pctl_llm *m, uint32_t layer, struct registers *r,
			     const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	memset(r->taken, 0, sizeof(r->taken));
	r->scratch = 0;
	for (uint32_t k = 0; k < m->graph->n_nodes; k++) {
		const uint32_t index = m->graph->order[k];
		const pctl_graph_node *n = &m->graph->nodes[index];
		const llm_node *node = &m->nodes[index];

		if (node->group != layer || node->is_alias)
			continue;
		for (uint32_t i = 0; status == PCTL_OK && i < node->n_out; i++) {
			llm_value *v = &m->values[node->first + i];

			if (!in_cache(m, n, i, &v->place))
				status = in_register(m, r, v, n->job->id, call);
		}
		if (status != PCTL_OK)
			return status;
		let_go(m, r, n, node);
	}
	if (r->scratch > r->most)
		r->most = r->scratch;
	return PCTL_OK;
}

/* Where layers' larger values lie is known when all of them are: the same bytes serve every layer. */
static void lay_scratch(pctl_llm *m, uint64_t n_bytes)
{
	const pctl_vm_place all = own_part(m, n_bytes);

	for (uint32_t i = 0; i < m->n_values; i++)
		if (m->values[i].is_scratch)
			m->values[i].place.at += all.at;
}

static void lay_others(pctl_llm *m, uint32_t group)
{
	for (uint32_t i = 0; i < m->n_values; i++)
		if (m->values[i].group == group && m->values[i].of == UINT32_MAX)
			m->values[i].place = own_part(m, bytes_of(&m->values[i].type));
}

pctl_status llm_place_of(const pctl_llm *m, uint32_t group, pctl_source s, pctl_vm_place *out,
			 const pctl_call *call)
{
	const llm_input *in;
	const llm_value *v = root_of(m, s, &in);

	if (v == NULL) {
		*out = in->place;
		return in->place.space == 0 ? llm_refuse(m, in->name, "lies nowhere", call)
					    : PCTL_OK;
	}
	*out = v->place;
	/* What a layer is given: its inbox, scaled. The head reads the outbox of the layer before it. */
	if (v->group == GROUP_BEFORE ||
	    (v->group < m->n_layers && v->group != group && group < m->n_layers))
		*out = (pctl_vm_place){.space = PCTL_VM_IN_REGISTER,
				       .number = LLM_IN_REGISTER,
				       .n_bytes = bytes_of(&v->type)};
	return PCTL_OK;
}

static void find_outputs(pctl_llm *m)
{
	static const char *const names[PCTL_LLM_OUTPUTS] = {"logits", "token", "logprob", "top",
							    "top_logprob"};

	for (uint32_t i = 0; i < m->pipeline->n_outputs; i++)
		for (uint32_t k = 0; k < PCTL_LLM_OUTPUTS; k++) {
			const llm_input *in;
			const llm_value *v = root_of(m, m->graph->outputs[i], &in);

			if (v != NULL && strcmp(m->pipeline->outputs[i].port, names[k]) == 0)
				m->outputs[k] = range_of(&v->place);
		}
}

pctl_status llm_place(pctl_llm *m, const pctl_llm_options *o, const pctl_call *call)
{
	struct registers r = {{0}, 0, 0};
	pctl_status status = PCTL_OK;
	uint64_t before;

	for (uint32_t k = 0; status == PCTL_OK && k < m->graph->n_nodes; k++)
		status = note_uses(m, k, call);
	if (status == PCTL_OK)
		status = check_messages(m, call);
	if (status == PCTL_OK)
		status = take_shape(m, o, call);
	if (status == PCTL_OK)
		status = lay_weights(m, call);
	if (status == PCTL_OK)
		status = lay_inputs(m, call);
	for (uint32_t i = 0; status == PCTL_OK && i < m->n_layers; i++)
		status = lay_layer(m, i, &r, call);
	if (status != PCTL_OK)
		return status;
	lay_others(m, m->n_layers);
	lay_scratch(m, r.most);
	before = m->own_bytes;
	lay_others(m, GROUP_CONSTANT);
	m->facts.constant_bytes = m->own_bytes - before;
	m->facts.kv_bytes = m->n_layers * pctl_vm_kv_stride(&m->desc);
	m->desc.globals_bytes = m->own_bytes;
	find_outputs(m);
	return PCTL_OK;
}
