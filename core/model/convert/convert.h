/* A model made into another type of weights, or into the other format. */
#ifndef PIPECTL_MODEL_CONVERT_CONVERT_H
#define PIPECTL_MODEL_CONVERT_CONVERT_H

#include "model/file/write.h"

/* The tokenizer of what is written: that of the model where the format stays the same; a file's (a GGUF file for GGUF, tokenizer.json for a
 * folder); none. */
typedef enum pctl_convert_tokenizer {
	PCTL_CONVERT_TOKENIZER_SAME,
	PCTL_CONVERT_TOKENIZER_FILE,
	PCTL_CONVERT_TOKENIZER_NONE
} pctl_convert_tokenizer;

/*
 * Write `m` under another path, as pctl_model_write does. What keeps its type keeps its bytes.
 *
 * dtype      of weights; PCTL_SCALAR_NONE: each keeps its own
 * tokenizer  path of PCTL_CONVERT_TOKENIZER_FILE
 *
 * Errors: those of pctl_model_write and of tokenizer files; PC6288 where the tokenizer has more tokens than the model; PC6290 where the format changes and nothing is said of the tokenizer, or the path is one of the model's own.
 */
pctl_status pctl_model_convert(const pctl_model *m, const char *path, uint32_t dtype,
			       uint64_t shard, pctl_convert_tokenizer how, const char *tokenizer,
			       pctl_progress_sink progress, const pctl_call *call);

#endif
