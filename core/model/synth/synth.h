/* Models of real shapes with weights from a seed: what stands in for a checkpoint where none can be had. The same seed gives the same
 * model, in either format and on every machine (SEMANTICS.md 19.3). */
#ifndef PIPECTL_MODEL_SYNTH_SYNTH_H
#define PIPECTL_MODEL_SYNTH_SYNTH_H

#include "model/file/write.h"

/* A shape that can be named. */
typedef struct pctl_synth_shape {
	const char *name, *about;
	pctl_model_shape shape;
} pctl_synth_shape;

/* The i-th by name; NULL behind the last. rope.dims 0: whole heads. */
const pctl_synth_shape *pctl_synth_shape_at(uint32_t i);
/* PC6289 with the names that there are. */
pctl_status pctl_synth_shape_named(const char *name, const pctl_call *call, pctl_model_shape *out);
/* Change one size of a shape: "n_layers", "n_embd", .. 1, or 0: no size of that name. Heads that are turned whole stay so. */
int pctl_synth_set(pctl_model_shape *s, const char *name, uint64_t v);
/* The names of sizes, NULL behind the last. */
const char *pctl_synth_size_name(uint32_t i);

/*
 * path, dtype, shard   as in pctl_model_target
 * tokenizer            a file that brings one (a GGUF file for GGUF, tokenizer.json for a folder), NULL: tokens of one byte
 *
 * Errors: those of pctl_model_write; PC6290 where the vocabulary is too small for its tokenizer.
 */
pctl_status pctl_synth_write(const pctl_model_shape *s, uint64_t seed, const char *path,
			     uint32_t dtype, uint64_t shard, const char *tokenizer,
			     pctl_progress_sink progress, const pctl_call *call);

/* Tokens of one byte each, then <|begin|>, <|end|>, and reserved ones up to n: as keys of GGUF, as the text of tokenizer.json. */
#define PCTL_SYNTH_TOKENS 258u /* of these without reserved ones */
void pctl_synth_token_keys(uint64_t n, pctl_gguf_keys *out);
char *pctl_synth_tokenizer_json(uint64_t n);

#endif
