/* What the parts of `machine` share: a model's pipeline, and where each of its values lies in a machine. */
#ifndef PIPECTL_MODEL_MACHINE_PRIVATE_H
#define PIPECTL_MODEL_MACHINE_PRIVATE_H

#include "foundation/base/arena.h"
#include "model/machine/llm.h"
#include "runtime/graph/graph.h"

#define LLM_FIRST_REGISTER 2u /* R0 is what instance 0 is given, R1 what a layer works on */
#define LLM_IN_REGISTER 1u
#define LLM_CHOICES 16u /* inputs that a token is chosen by */

/* Groups of jobs: layers 0 to n - 1, then GROUP_HEAD(n), which the last instance runs behind its layer. */
#define GROUP_CONSTANT UINT32_MAX      /* of no token: made once */
#define GROUP_BEFORE (UINT32_MAX - 1u) /* what turns tokens into embeddings, the host's business */

enum { FROM_WEIGHT = 1, FROM_KEYS, FROM_VALUES, FROM_START, FROM_COUNT, FROM_CHOICE, FROM_TOKENS };

/* An input of the pipeline. number: of a layer, of a tensor of the model; part: of the heap, UINT32_MAX: nothing needs it. */
typedef struct llm_input {
	const char *name;
	pctl_tensor_type type;
	uint32_t kind, part;
	uint64_t number;
	pctl_vm_place place;
} llm_input;

/* What a job gives. of: the value, or with is_input the input, whose bytes it has; UINT32_MAX: its own. uses: by jobs of its group that are
 * not placed yet. crosses: the next group needs it. is_scratch: in the globals, for no register holds it. */
typedef struct llm_value {
	pctl_tensor_type type;
	uint32_t group, crosses, uses, is_input, of, is_scratch;
	pctl_vm_place place;
} llm_value;

typedef struct llm_node {
	uint32_t group, first; /* first: number of its first value */
	uint32_t n_out, is_alias;
	pctl_tensor_type in[PCTL_PORTS_MAX];
} llm_node;

struct pctl_llm {
	pctl_installation *in;
	pctl_arena *arena;
	pctl_model *model;
	const pctl_model_shape *s;
	pctl_pipeline *pipeline;
	pctl_graph *graph;
	llm_input *inputs;
	llm_node *nodes;
	llm_value *values;
	uint32_t n_values, n_layers;
	pctl_vm_desc desc; /* shape and heap; globals are places of ours */
	pctl_vm_step *steps, *prepare;
	uint32_t n_steps, n_prepare;
	uint64_t count_at, own_bytes;
	pctl_machine_range outputs[PCTL_LLM_OUTPUTS], choices[LLM_CHOICES];
	const char *choice_names[LLM_CHOICES];
	uint32_t n_choices;
	pctl_host_machine host;
	pctl_machine *machine;
	pctl_llm_facts facts;
	uint8_t *row,
		*table; /* of the embedding: bytes of a row; all of it, where files have no rows */
};

/* PC6293, with the job's name. */
pctl_status llm_refuse(const pctl_llm *m, const char *job, const char *why, const pctl_call *call);

/* graph.c: the pipeline of a token, its inputs told apart, each job's group and types. */
pctl_status llm_read(pctl_llm *m, const pctl_llm_options *o, uint64_t context,
		     const pctl_call *call);
const llm_input *llm_source_input(const pctl_llm *m, pctl_source s);
const llm_value *llm_source_value(const pctl_llm *m, pctl_source s);

/* place.c: width, heap, partitions, and a place for every value. */
pctl_status llm_place(pctl_llm *m, const pctl_llm_options *o, const pctl_call *call);
/* Where a job of a group finds what feeds it. */
pctl_status llm_place_of(const pctl_llm *m, uint32_t group, pctl_source s, pctl_vm_place *out,
			 const pctl_call *call);
uint32_t llm_instance_of(const pctl_llm *m, uint32_t group);

/* steps.c */
pctl_status llm_steps(pctl_llm *m, const pctl_call *call);

#endif
