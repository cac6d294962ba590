/* Language models in the GPU VM (SEMANTICS.md 19.4), over vm.h: a layer is an instance, weights lie in the heap, keys and values in the globals, and a
 * token is one submission. Part of libpipectl; what pipectl.h and vm.h say of threads, memory, errors and structures holds here.
 *
 * The names of the design document (llm_boot, llm_program, llm_forward) are macros where PIPECTL_VM_NAMES is defined before this header. */
#ifndef PIPECTL_LLM_H
#define PIPECTL_LLM_H

#include "pipectl/vm.h"

PCTL_C_BEGIN

typedef struct pipectl_llm pipectl_llm;

#define PIPECTL_LLM_VERIFY \
	1u /* the reference does the same beside it, and what is read is compared: PC5208 */

/*
 * device         a selector; NULL: the first that the policy prefers
 * context        positions that keys and values are kept for; 0: the model's, at most 4096
 * heap_bytes     where the heap ends; 0: at 2^48
 * budget_bytes   of device memory, for advice; 0: what the device has
 * target         the norm that the regulator wants; 0: its running mean
 */
typedef struct pipectl_llm_options {
	pctl_head head;
	const char *device;
	uint64_t context, heap_bytes, budget_bytes;
	float target;
	uint32_t flags;
} pipectl_llm_options;

/* Read a model (a GGUF file, or a folder of safetensors), boot its machine, upload its weights. Its files stay open, for embeddings. Errors: PC62xx of
 * files and models; PC6293: its layers are no instances; PC4403: the heap has no room for its weights, of which none is read then; those
 * of pipectl_vm_boot. */
PCTL_EXPORT pctl_status pipectl_llm_boot(pipectl *p, const char *model,
					 const pipectl_llm_options *options, pipectl_llm **out);
/* Its programs are released before. */
PCTL_EXPORT void pipectl_llm_shutdown(pipectl_llm *llm);

/* Its machine, for all that vm.h reads and writes: metrics, control words, registers, globals, names. It lives as long as the model, which
 * alone shuts it down. */
PCTL_EXPORT pipectl_vm *pipectl_llm_vm(pipectl_llm *llm);

/* weights: parts of the heap; name: the CID of a text that has a line "offset bytes CID tensor" for each. logits: where they lie in
 * the globals. constants: bytes of the globals that were made at boot. */
typedef struct pipectl_llm_layout {
	pctl_head head;
	uint64_t context, weights, weight_bytes, kv_bytes, constants, logits;
	uint32_t n_embd, n_vocab;
	char name[PIPECTL_CID_SIZE];
	uint32_t reserved;
} pipectl_llm_layout;
PCTL_EXPORT pctl_status pipectl_llm_look(pipectl_llm *llm, pipectl_llm_layout *out);

/* flags: PIPECTL_VM_ACT, PIPECTL_VM_SKIPPING, PIPECTL_VM_CLOCK. epsilon: a norm below it has vanished. */
typedef struct pipectl_llm_program_options {
	pctl_head head;
	uint32_t flags;
	float epsilon;
} pipectl_llm_program_options;

/* The program of a token, built and recorded once; it is one of vm.h's, for statistics, advice and its release. options NULL: it observes. Errors: those of
 * pipectl_vm_program_make. */
PCTL_EXPORT pctl_status pipectl_llm_program(pipectl_llm *llm,
					    const pipectl_llm_program_options *options,
					    pipectl_vm_program **out);

/* The embedding of a token: n_embd floats. PC6290: there is no such token. */
PCTL_EXPORT pctl_status pipectl_llm_embed(pipectl_llm *llm, uint32_t token, float *embedding);
/*
 * One token at the position that the machine stands at, which goes on by one: its embedding, n_embd floats, is written into R0 of
 * instance 0, the program is submitted once, and n_vocab logits are read; NULL: they stay in the globals.
 *
 * Errors: PC5205: the context has no such position, and nothing was kept of the token; PC4408: the last layer, which has the head, is to be skipped;
 * those of pipectl_vm_execute.
 */
PCTL_EXPORT pctl_status pipectl_llm_forward(pipectl_llm *llm, pipectl_vm_program *program,
					    const float *embedding, float *logits);
/* What stands from `position` on is forgotten; 0: another text begins. */
PCTL_EXPORT pctl_status pipectl_llm_seek(pipectl_llm *llm, uint32_t position);

#ifdef PIPECTL_VM_NAMES
#define llm_boot pipectl_llm_boot
#define llm_program pipectl_llm_program
#define llm_forward pipectl_llm_forward
#endif

PCTL_C_END

#endif
