/* A model as a pipeline that a person can read: jobs of op libraries over the tensors of its files. It takes a chunk of tokens of each
 * sequence of a batch, and the keys and values of those before; where sequences stand is data, so that one plan serves every token. */
#ifndef PIPECTL_MODEL_PIPELINE_PIPELINE_H
#define PIPECTL_MODEL_PIPELINE_PIPELINE_H

#include "model/file/adapter.h"

/*
 * What a pipeline gives. Without any of them: logits, of the last real token of each sequence.
 *
 * LOGITS      logits f32[batch,n_vocab], or of all tokens
 * TOKEN       token u32[batch], drawn from the last logits by inputs of each sequence: temperature, top_p, min_p f32[batch], top_k, position
 *             u32[batch], key u32[batch,2] (transformer.sample)
 * PENALTIES   logits are changed first, by history u32[batch,context], seen u32[batch], repetition, presence, frequency f32[batch]
 *             (transformer.penalty)
 * LOGPROBS    logprob f32[batch,1] of that token, top u32[batch,n] and top_logprob f32[batch,n] of the n = PCTL_MODEL_TOP most probable ones
 * GREEDY      with TOKEN: each temperature is 0, so the token is the greatest logit's, and there are no parameters
 * EMBEDDING   embedding f32[batch,n_embd]: the last real token's features behind the last norm
 */
enum {
	PCTL_MODEL_GIVES_LOGITS = 1,
	PCTL_MODEL_GIVES_TOKEN = 2,
	PCTL_MODEL_GIVES_PENALTIES = 4,
	PCTL_MODEL_GIVES_LOGPROBS = 8,
	PCTL_MODEL_GIVES_EMBEDDING = 16,
	PCTL_MODEL_GIVES_GREEDY = 32
};
#define PCTL_MODEL_TOP 20u

/*
 * batch       sequences at a time
 * chunk       tokens of each at a time, at most
 * context     positions that keys and values are kept for
 * page, n_pages  not 0: keys and values lie in pages of so many positions, n_pages of them, and pages u32[batch,context/page] says which
 *             are whose; context is whole pages then
 * gives       PCTL_MODEL_GIVES_*
 * all_logits  of every token of the chunk; else of the last real one of each sequence
 * unrolled    layer by layer, without groups and state: caches are inputs keys_0, values_0, .. and outputs; ids of layer 3's jobs begin with l3_, and
 *             tensors of the model, but for factors of rope, are inputs in its order
 * adapters    n_adapters of them, held against the model; those of `set` are added to its projections, 0: none. The others are there so that pipelines which
 *             share states have the same ones: where a group of layers ends hangs on which layers any adapter is for. Tensors of number i are
 *             the set of inputs lora_i
 */
typedef struct pctl_model_plan {
	uint64_t batch, chunk, context, page, n_pages;
	uint32_t gives;
	int all_logits, unrolled;
	const pctl_adapter_use *adapters;
	uint32_t n_adapters, set;
} pctl_model_plan;

/*
 * The text of a pipeline file, laid out, released with free(). Inputs: tokens u32[batch,chunk], start u32[batch], the position of each
 * sequence's first token, and count u32[batch], how many are real. Output: logits f32[batch,n_vocab], or [batch,chunk,n_vocab], or what `gives` says.
 * Paths are those that the model was opened with.
 *
 * Errors: PC6290 for sizes that cannot be.
 */
pctl_status pctl_model_pipeline(const pctl_model *m, const pctl_model_plan *plan,
				const pctl_call *call, char **out);

#endif
