/* Language models in machines; see llm.h. What they are is core/model/machine. */
#include "pipectl/llm.h"

#include <stdlib.h>
#include <string.h>

#include "api/vm_private.h"
#include "model/machine/llm.h"

struct pipectl_llm {
	pipectl_vm vm;
	pctl_llm *llm;
};

static uint32_t bits_of(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static pctl_status boot(pipectl_llm *m, const char *model, const pipectl_llm_options *o)
{
	pipectl *p = m->vm.p;
	const pctl_llm_options options = {
		.device = o->device,
		.run_flags = p->asked.flags & PIPECTL_DEBUG ? PCTL_RUN_DEBUG : 0,
		.is_verified = (o->flags & PIPECTL_LLM_VERIFY) != 0,
		.target = bits_of(o->target),
		.context = o->context,
		.heap_bytes = o->heap_bytes,
		.budget_bytes = o->budget_bytes};
	pctl_status status;

	if (model == NULL)
		return pipectl_misused(&p->call, "there is no model");
	if ((o->flags & ~PIPECTL_LLM_VERIFY) != 0)
		return pipectl_misused(&p->call, "options has a flag that does not exist");
	status = pctl_llm_boot(&p->host, model, &options, &p->call, &m->llm);
	if (status == PCTL_OK)
		m->vm.machine = pctl_llm_machine(m->llm);
	return status;
}

pctl_status pipectl_llm_boot(pipectl *p, const char *model, const pipectl_llm_options *options,
			     pipectl_llm **out)
{
	pipectl_llm *m = NULL;
	pipectl_llm_options o;
	pctl_status status = pipectl_begin(p, NULL, "llm");

	*out = NULL;
	if (status == PCTL_OK)
		status = PIPECTL_TAKE(&p->call, &o, options);
	if (status == PCTL_OK && (m = calloc(1, sizeof(*m))) == NULL)
		status = pctl_no_memory(&p->call, "a model");
	if (status == PCTL_OK) {
		m->vm.p = p;
		status = boot(m, model, &o);
	}
	if (status == PCTL_OK)
		*out = m;
	else
		pipectl_llm_shutdown(m);
	return pipectl_end(p, status);
}

void pipectl_llm_shutdown(pipectl_llm *llm)
{
	if (llm == NULL)
		return;
	pctl_llm_shutdown(llm->llm);
	free(llm);
}

pipectl_vm *pipectl_llm_vm(pipectl_llm *llm)
{
	return &llm->vm;
}

pctl_status pipectl_llm_look(pipectl_llm *llm, pipectl_llm_layout *out)
{
	const pctl_llm_facts *f = pctl_llm_facts_of(llm->llm);
	const pctl_model_shape *s = pctl_model_shape_of(pctl_llm_model(llm->llm));
	pipectl_llm_layout layout = {.head = PCTL_HEAD(pipectl_llm_layout),
				     .context = f->context,
				     .weights = f->weights,
				     .weight_bytes = f->weight_bytes,
				     .kv_bytes = f->kv_bytes,
				     .constants = f->constant_bytes,
				     .logits = pctl_llm_output(llm->llm, PCTL_LLM_LOGITS)->offset,
				     .n_embd = (uint32_t)s->n_embd,
				     .n_vocab = (uint32_t)s->n_vocab};
	pctl_status status = pipectl_begin(llm->vm.p, NULL, "llm");

	if (status != PCTL_OK)
		return status;
	memcpy(layout.name, f->name, sizeof(layout.name));
	return pipectl_end(llm->vm.p, PIPECTL_GIVE(&llm->vm.p->call, out, &layout));
}

pctl_status pipectl_llm_program(pipectl_llm *llm, const pipectl_llm_program_options *options,
				pipectl_vm_program **out)
{
	const uint32_t known = PIPECTL_VM_ACT | PIPECTL_VM_SKIPPING | PIPECTL_VM_CLOCK;
	pipectl *p = llm->vm.p;
	pipectl_vm_program *program = NULL;
	pipectl_llm_program_options o;
	pctl_status status = pipectl_begin(p, NULL, "llm");

	*out = NULL;
	if (status == PCTL_OK)
		status = PIPECTL_TAKE(&p->call, &o, options);
	if (status == PCTL_OK && (o.flags & ~known) != 0)
		status = pipectl_misused(&p->call, "options has a flag that does not exist");
	if (status == PCTL_OK && (program = calloc(1, sizeof(*program))) == NULL)
		status = pctl_no_memory(&p->call, "a program");
	if (status == PCTL_OK) {
		const pctl_llm_program_options how = {
			.acts = (o.flags & PIPECTL_VM_ACT) != 0,
			.skipping = (o.flags & PIPECTL_VM_SKIPPING) != 0,
			.has_clock = (o.flags & PIPECTL_VM_CLOCK) != 0,
			.epsilon = bits_of(o.epsilon)};

		program->vm = &llm->vm;
		status = pctl_llm_program(llm->llm, &how, &p->call, &program->program);
	}
	if (status == PCTL_OK)
		*out = program;
	else
		free(program);
	return pipectl_end(p, status);
}

pctl_status pipectl_llm_embed(pipectl_llm *llm, uint32_t token, float *embedding)
{
	pipectl *p = llm->vm.p;
	pctl_status status = pipectl_begin(p, NULL, "llm");

	if (status == PCTL_OK && embedding == NULL)
		status = pipectl_misused(&p->call, "there is no room for an embedding");
	if (status == PCTL_OK)
		status = pctl_llm_embed(llm->llm, token, embedding, &p->call);
	return pipectl_end(p, status);
}

pctl_status pipectl_llm_forward(pipectl_llm *llm, pipectl_vm_program *program,
				const float *embedding, float *logits)
{
	pipectl *p = llm->vm.p;
	pctl_status status = pipectl_begin(p, NULL, "llm");

	if (status == PCTL_OK && embedding == NULL)
		status = pipectl_misused(&p->call, "there is no embedding");
	if (status == PCTL_OK && program->vm != &llm->vm)
		status = pipectl_misused(&p->call, "the program is of another machine");
	if (status == PCTL_OK)
		status = pctl_llm_forward(llm->llm, program->program, embedding, logits,
					  p->host.policy->time_ms, &p->call);
	return pipectl_end(p, status);
}

pctl_status pipectl_llm_seek(pipectl_llm *llm, uint32_t position)
{
	pctl_status status = pipectl_begin(llm->vm.p, NULL, "llm");

	if (status == PCTL_OK)
		status = pctl_llm_seek(llm->llm, position, &llm->vm.p->call);
	return pipectl_end(llm->vm.p, status);
}
