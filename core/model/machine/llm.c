/* Models as machines: booted, programmed, a token at a time; see llm.h. */
#include "model/machine/llm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"
#include "foundation/diag/diag.h"
#include "model/machine/private.h"

/* ---- boot ------------------------------------------------------------------------------------ */

static pctl_status context_of(const pctl_llm *m, const pctl_llm_options *o, const pctl_call *call,
			      uint64_t *out)
{
	const uint64_t most = m->s->n_context;

	*out = o->context != 0 ? o->context : most < PCTL_LLM_CONTEXT ? most : PCTL_LLM_CONTEXT;
	if (m->s->n_layers > PCTL_VM_INSTANCES_MAX)
		return pctl_refuse(call, PC6293_MODEL_MACHINE,
				   "%s: %" PRIu64 " layers, and a machine has %u instances",
				   pctl_model_path(m->model), m->s->n_layers,
				   PCTL_VM_INSTANCES_MAX);
	return PCTL_OK;
}

/* One part of the heap, by the bytes that the file's own name stands for: what was read twice is what is uploaded. */
static pctl_status upload(pctl_llm *m, const llm_input *in, pctl_str_buf *names,
			  const pctl_call *call)
{
	const pctl_model_tensor *t = pctl_model_tensor_at(m->model, in->number);
	const pctl_vm_part *part = &m->desc.heap[in->part];
	char text[PCTL_CID_TEXT_SIZE];
	const char *path;
	uint8_t *data = NULL, *whole;
	pctl_cid named, uploaded;
	uint64_t at;
	pctl_status status = pctl_model_hash(m->model, t, call, &named);

	if (status == PCTL_OK)
		status = pctl_tensor_file_read(pctl_model_tensor_file(m->model, t->file, &path),
					       t->index, call, (void **)&data);
	/* A part has whole words. */
	if (status == PCTL_OK && part->n_bytes != t->n_bytes) {
		whole = realloc(data, part->n_bytes);
		if (whole == NULL)
			status = pctl_no_memory(call, "a tensor");
		else
			data = whole;
		if (whole != NULL)
			memset(whole + t->n_bytes, 0, part->n_bytes - t->n_bytes);
	}
	if (status == PCTL_OK)
		status = pctl_machine_allot(m->machine, data, part->n_bytes, call, &at, &uploaded);
	if (status == PCTL_OK && (at != part->at || (part->n_bytes == t->n_bytes &&
						     pctl_cid_compare(&named, &uploaded) != 0)))
		status = pctl_refuse(call, PC6280_MODEL_FILE,
				     "%s: tensor \"%s\" changed while it was read",
				     pctl_model_path(m->model), t->name);
	if (status == PCTL_OK)
		pctl_str_addf(names, "%" PRIu64 " %" PRIu64 " %s %s\n", at, part->n_bytes,
			      pctl_cid_format(&uploaded, text), t->name);
	free(data);
	return status;
}

static pctl_status upload_all(pctl_llm *m, const pctl_call *call)
{
	pctl_str_buf names = PCTL_STR_BUF_INIT;
	pctl_status status = PCTL_OK;
	pctl_cid cid;

	for (uint32_t i = 0; status == PCTL_OK && i < m->pipeline->n_inputs; i++) {
		if (pctl_is_cancelled(call))
			status = pctl_refuse(call, PC4_CANCELLED, "booting was cancelled");
		else if (m->inputs[i].kind == FROM_WEIGHT && m->inputs[i].part != UINT32_MAX)
			status = upload(m, &m->inputs[i], &names, call);
	}
	if (status == PCTL_OK && names.failed)
		status = pctl_no_memory(call, "names");
	if (status == PCTL_OK)
		status = pctl_cid_of(names.data == NULL ? "" : names.data, names.n, call, &cid);
	if (status == PCTL_OK)
		pctl_cid_format(&cid, m->facts.name);
	pctl_str_drop(&names);
	return status;
}

/* Statistics, control words and the position as they are at boot. */
static pctl_status as_booted(pctl_llm *m, const pctl_call *call)
{
	const pctl_vm_desc *d = pctl_machine_desc(m->machine);
	const pctl_machine_range head = {PCTL_MACHINE_GLOBALS, 0, 0, 0, 0, pctl_vm_head_bytes(d)};
	uint32_t *control, *words;
	pctl_status status = pctl_vm_boot_words(d, call, &control, &words);

	if (status != PCTL_OK)
		return status;
	status = pctl_machine_write(m->machine, &head, words, call);
	for (uint32_t i = 0; status == PCTL_OK && i < d->instances; i++) {
		const pctl_machine_range r = {PCTL_MACHINE_CONTROL, i, 0, 0, 0,
					      4u * PCTL_VM_CONTROL};

		status = pctl_machine_write(m->machine, &r, control + PCTL_VM_CONTROL * i, call);
	}
	free(control);
	free(words);
	return status;
}

/* What is of no token: tables of rope, norms made f32, by a program of their own that runs once. */
static pctl_status prepare(pctl_llm *m, const pctl_call *call)
{
	const pctl_vm_desc d = {.steps = m->prepare, .n_steps = m->n_prepare};
	const pctl_machine_range count = {PCTL_MACHINE_GLOBALS, 0, 0, 0, m->count_at, 4};
	const uint32_t one = 1;
	pctl_machine_program *p = NULL;
	pctl_status status = pctl_machine_write(m->machine, &count, &one, call);

	if (status != PCTL_OK || m->n_prepare == 0)
		return status;
	status = pctl_machine_program_make(m->machine, &d, 0, call, &p);
	if (status == PCTL_OK)
		status = pctl_machine_execute(p, 1, m->in->policy->time_ms, call);
	pctl_machine_program_drop(p);
	return status == PCTL_OK ? as_booted(m, call) : status;
}

static pctl_status boot(pctl_llm *m, const char *path, const pctl_llm_options *o,
			const pctl_call *call)
{
	const pctl_host_machine_options how = {.desc = &m->desc,
					       .device = o->device,
					       .run_flags = o->run_flags,
					       .is_verified = o->is_verified,
					       .budget_bytes = o->budget_bytes};
	pctl_status status = pctl_model_open(path, call, &m->model);

	if (status != PCTL_OK)
		return status;
	m->s = pctl_model_shape_of(m->model);
	m->n_layers = (uint32_t)m->s->n_layers;
	status = context_of(m, o, call, &m->facts.context);
	if (status == PCTL_OK)
		status = llm_read(m, o, m->facts.context, call);
	if (status == PCTL_OK)
		status = llm_place(m, o, call);
	if (status == PCTL_OK)
		status = llm_steps(m, call);
	if (status == PCTL_OK)
		status = pctl_host_machine_boot(m->in, &how, call, &m->host);
	m->machine = m->host.machine;
	if (status == PCTL_OK)
		status = upload_all(m, call);
	return status == PCTL_OK ? prepare(m, call) : status;
}

pctl_status pctl_llm_boot(pctl_installation *in, const char *model, const pctl_llm_options *o,
			  const pctl_call *call, pctl_llm **out)
{
	pctl_llm *m = calloc(1, sizeof(*m));
	pctl_status status;

	*out = NULL;
	if (m == NULL)
		return pctl_no_memory(call, "a model");
	m->in = in;
	m->arena = pctl_arena_create();
	status = m->arena == NULL ? pctl_no_memory(call, "a model") : boot(m, model, o, call);
	if (status == PCTL_OK)
		*out = m;
	else
		pctl_llm_shutdown(m);
	return status;
}

void pctl_llm_shutdown(pctl_llm *m)
{
	if (m == NULL)
		return;
	pctl_host_machine_shutdown(&m->host);
	pctl_graph_destroy(m->graph);
	pctl_pipeline_destroy(m->pipeline);
	pctl_model_close(m->model);
	pctl_arena_destroy(m->arena);
	free(m->row);
	free(m->table);
	free(m);
}

/* ---- looking --------------------------------------------------------------------------------- */

pctl_machine *pctl_llm_machine(const pctl_llm *m)
{
	return m->machine;
}

const pctl_model *pctl_llm_model(const pctl_llm *m)
{
	return m->model;
}

const pctl_machine_range *pctl_llm_output(const pctl_llm *m, uint32_t which)
{
	return &m->outputs[which];
}

const pctl_machine_range *pctl_llm_input(const pctl_llm *m, const char *name)
{
	for (uint32_t i = 0; i < m->n_choices; i++)
		if (strcmp(m->choice_names[i], name) == 0)
			return &m->choices[i];
	return NULL;
}

const pctl_llm_facts *pctl_llm_facts_of(const pctl_llm *m)
{
	return &m->facts;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

pctl_status pctl_llm_program(pctl_llm *m, const pctl_llm_program_options *o, const pctl_call *call,
			     pctl_machine_program **out)
{
	const pctl_vm_desc d = {.acts = o->acts,
				.skipping = o->skipping,
				.advance = 1,
				.epsilon = o->epsilon,
				.steps = m->steps,
				.n_steps = m->n_steps};

	return pctl_machine_program_make(m->machine, &d, (int)o->has_clock, call, out);
}

/* The last instance has the head: skipped, the logits would be those of the token before. */
static pctl_status last_runs(const pctl_llm *m, const pctl_call *call)
{
	const pctl_machine_range active = {PCTL_MACHINE_CONTROL, m->n_layers - 1u, 0, 0, 12, 4};
	uint32_t bits = 0;
	pctl_status status = pctl_machine_read(m->machine, &active, &bits, call);

	if (status == PCTL_OK && (bits & 0x7fffffffu) == 0)
		status = pctl_refuse(call, PC4408_VM_SKIP,
				     "%s: active of instance %" PRIu32
				     " is 0, which has the head, and gives the logits",
				     pctl_model_path(m->model), m->n_layers - 1u);
	return status;
}

pctl_status pctl_llm_forward(pctl_llm *m, pctl_machine_program *p, const float *embedding,
			     float *logits, uint64_t timeout_ms, const pctl_call *call)
{
	const pctl_machine_range r0 = {PCTL_MACHINE_REGISTER, 0, 0, 0, 0, 4u * m->s->n_embd};
	pctl_status status = PCTL_OK;

	if (pctl_machine_is_skipping(p))
		status = last_runs(m, call);
	if (status == PCTL_OK)
		status = pctl_machine_write(m->machine, &r0, embedding, call);
	if (status == PCTL_OK)
		status = pctl_machine_execute(p, 1, timeout_ms, call);
	if (status == PCTL_OK && logits != NULL)
		status = pctl_machine_read(m->machine, &m->outputs[PCTL_LLM_LOGITS], logits, call);
	return status;
}

pctl_status pctl_llm_seek(pctl_llm *m, uint32_t position, const pctl_call *call)
{
	const pctl_machine_range at = {PCTL_MACHINE_GLOBALS, 0, 0, 0, 0, 4};

	return pctl_machine_write(m->machine, &at, &position, call);
}
