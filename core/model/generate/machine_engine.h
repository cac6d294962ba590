/* A model in a machine of the GPU VM (model/machine/llm.h) as an engine of one sequence, so that what drives engines (generate.h) drives it: each token
 * is one submission, a prompt's too. Its text side is a model engine's. */
#ifndef PIPECTL_MODEL_GENERATE_MACHINE_ENGINE_H
#define PIPECTL_MODEL_GENERATE_MACHINE_ENGINE_H

#include "model/generate/model_engine.h"
#include "model/machine/llm.h"

typedef struct pctl_machine_engine pctl_machine_engine;

/*
 * text      whose model, tokenizer, template and context it has; its device is not opened for that. It outlives the engine
 * llm       context and gives are filled in
 * sampling  how tokens will be chosen: rows that ask for more (penalties, logprobs) are refused
 */
typedef struct pctl_machine_engine_options {
	pctl_model_engine *text;
	pctl_llm_options llm;
	pctl_llm_program_options program;
	pctl_engine_sampling sampling;
	uint64_t timeout_ms;
} pctl_machine_engine_options;

pctl_status pctl_machine_engine_open(pctl_installation *in, const pctl_machine_engine_options *o,
				     const pctl_call *call, pctl_machine_engine **out);
void pctl_machine_engine_close(pctl_machine_engine *e); /* NULL is fine */

const pctl_engine *pctl_machine_engine_of(pctl_machine_engine *e);
pctl_llm *pctl_machine_engine_llm(const pctl_machine_engine *e);
pctl_machine_program *pctl_machine_engine_program(const pctl_machine_engine *e);
/* As pctl_model_engine_on_logits; slot is 0. */
void pctl_machine_engine_on_logits(pctl_machine_engine *e, pctl_logits_sink sink, void *ctx);

#endif
