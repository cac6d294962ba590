/* A language model as a machine of the GPU VM (SEMANTICS.md 19.4): an instance a layer, weights in the heap, keys and values in the
 * partitions of the globals, and a program that a person can hold against the model's pipeline, for it is the same ops. A token is one
 * execution. One thread at a time. */
#ifndef PIPECTL_MODEL_MACHINE_LLM_H
#define PIPECTL_MODEL_MACHINE_LLM_H

#include "host/machine.h"
#include "model/pipeline/pipeline.h"

typedef struct pctl_llm pctl_llm;

#define PCTL_LLM_CONTEXT \
	4096u /* positions, where nothing else is asked for and the model has as many */

/*
 * device        a selector; NULL: the first that the policy prefers
 * run_flags     PCTL_RUN_IN_PROCESS, PCTL_RUN_DEBUG
 * context       positions that keys and values are kept for; 0: the model's, but no more than PCTL_LLM_CONTEXT
 * gives         PCTL_MODEL_GIVES_TOKEN, PENALTIES, LOGPROBS: what the program gives beside logits
 * is_verified   the reference does the same beside it
 * heap_bytes    where the heap ends, 0: at the end of its logical space
 * budget_bytes  of device memory, for advice; 0: what the device has
 * target        bits of f32: the norm that the regulator wants; 0: its running mean
 */
typedef struct pctl_llm_options {
	const char *device;
	uint32_t run_flags, gives, is_verified, target;
	uint64_t context, heap_bytes, budget_bytes;
} pctl_llm_options;

/* The model's files are open as long as it lives, for embeddings, and so is the installation. Errors: those of model files and of a pipeline; PC6293: a
 * layer that is no list of steps; PC4403: weights that the heap has no room for, before any of them is read; those of a machine. */
pctl_status pctl_llm_boot(pctl_installation *in, const char *model, const pctl_llm_options *o,
			  const pctl_call *call, pctl_llm **out);
void pctl_llm_shutdown(pctl_llm *m); /* NULL is fine; its programs are dropped before */

/* It is booted, its heap uploaded; what stands in it is the caller's to read and write. */
pctl_machine *pctl_llm_machine(const pctl_llm *m);
const pctl_model *pctl_llm_model(const pctl_llm *m);

/* Where what is written and read of a token lies in the globals. n_bytes 0: the machine has none such. */
enum {
	PCTL_LLM_LOGITS, /* f32[n_vocab] */
	PCTL_LLM_TOKEN,
	PCTL_LLM_LOGPROB,
	PCTL_LLM_TOP,
	PCTL_LLM_TOP_LOGPROB,
	PCTL_LLM_OUTPUTS
};
const pctl_machine_range *pctl_llm_output(const pctl_llm *m, uint32_t which);
/* An input of the choice by its name in the pipeline ("temperature"): where it lies, NULL: there is none. */
const pctl_machine_range *pctl_llm_input(const pctl_llm *m, const char *name);

/* context: positions. weights: tensors in the heap, weight_bytes together. constants: bytes that were made at boot. name: the CID of a text that has a
 * line "offset bytes CID name" for each part of the heap. */
typedef struct pctl_llm_facts {
	uint64_t context, weights, weight_bytes, constant_bytes, kv_bytes;
	uint32_t n_steps, reserved;
	char name[PCTL_CID_TEXT_SIZE];
} pctl_llm_facts;
const pctl_llm_facts *pctl_llm_facts_of(const pctl_llm *m);

/*
 * The program of a token. acts: the regulator writes scale factors, else it observes. skipping: active = 0 skips a layer (never the last, which
 * has the head: PC4408 when it is to run). has_clock: for advice. epsilon: bits of f32.
 */
typedef struct pctl_llm_program_options {
	uint32_t acts, skipping, has_clock, epsilon;
} pctl_llm_program_options;
pctl_status pctl_llm_program(pctl_llm *m, const pctl_llm_program_options *o, const pctl_call *call,
			     pctl_machine_program **out);

/* The row of a token, n_embd floats, as the model's `embed` gives it (SEMANTICS.md 18.10). PC6290: the model has no such token. */
pctl_status pctl_llm_embed(pctl_llm *m, uint32_t token, float *out, const pctl_call *call);
/*
 * One token: its embedding, n_embd floats, into R0 of instance 0, one submission, and n_vocab logits back; NULL: they stay. The position counter goes on
 * by one. Errors: PC5205: it was no position of the context (then nothing is kept of it); PC4408; those of an execution.
 */
pctl_status pctl_llm_forward(pctl_llm *m, pctl_machine_program *p, const float *embedding,
			     float *logits, uint64_t timeout_ms, const pctl_call *call);
/* Tokens from `position` on are forgotten, or it is 0: another text begins. */
pctl_status pctl_llm_seek(pctl_llm *m, uint32_t position, const pctl_call *call);

#endif
