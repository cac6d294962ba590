/* A model as a pipeline that a person can read: jobs of op libraries over the tensors of its files. It takes a chunk of tokens of each
 * sequence of a batch, and the keys and values of those before; where sequences stand is data, so that one plan serves every token. */
#ifndef PIPECTL_MODEL_PIPELINE_PIPELINE_H
#define PIPECTL_MODEL_PIPELINE_PIPELINE_H

#include "model/file/model.h"

/*
 * batch       sequences at a time
 * chunk       tokens of each at a time, at most
 * context     positions that keys and values are kept for
 * all_logits  of every token of the chunk; else of the last real one of each sequence
 * unrolled    layer by layer, without groups and state: caches are inputs keys_0, values_0, .. and outputs
 */
typedef struct pctl_model_plan {
	uint64_t batch, chunk, context;
	int all_logits, unrolled;
} pctl_model_plan;

/*
 * The text of a pipeline file, laid out, released with free(). Inputs: tokens u32[batch,chunk], start u32[batch], the position of each
 * sequence's first token, and count u32[batch], how many are real. Output: logits f32[batch,n_vocab], or [batch,chunk,n_vocab].
 * Paths are those that the model was opened with.
 *
 * Errors: PC6290 for sizes that cannot be.
 */
pctl_status pctl_model_pipeline(const pctl_model *m, const pctl_model_plan *plan,
				const pctl_call *call, char **out);

#endif
