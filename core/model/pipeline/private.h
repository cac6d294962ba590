/* What the parts of `pipeline` share: the text as it grows. */
#ifndef PIPECTL_MODEL_PIPELINE_PRIVATE_H
#define PIPECTL_MODEL_PIPELINE_PRIVATE_H

#include "model/pipeline/pipeline.h"

#define REF_SIZE 192u

/*
 * prefix   of the ids of a layer's jobs, where layers are written one by one
 * layer    the number of the layer: "3", or what a group counts: "{2*i+1}"
 * number   a layer of that kind, whose tensors stand for all
 * keys, values   what the caches are called, part and all: "keys_3", "keys/{i}"
 */
typedef struct model_text {
	const pctl_model *m;
	const pctl_model_shape *s;
	const pctl_model_plan *plan;
	pctl_str_buf jobs;
	char prefix[32], layer[32], keys[48], values[48];
	uint32_t number;
} model_text;

/* One job: id without the prefix, and what stands between the braces of `in` and `attr` (NULL: none). */
void text_job(model_text *w, const char *id, const char *op, const char *in, const char *attr);
/* printf into n bytes. */
const char *text_print(char *out, size_t n, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* How a tensor is named as an input: "$weights/blk.{i}.attn_q.weight", "$blk_3_attn_q_weight". */
const char *text_weight(const model_text *w, pctl_model_role role, uint32_t expert,
			char out[REF_SIZE]);
/* The name of such an input without groups. */
void text_input_name(const char *tensor, char out[REF_SIZE]);
/* Of a small role, in f32 and whole: the input itself, or jobs that make it. */
const char *text_small(model_text *w, pctl_model_role role, char out[REF_SIZE]);

/* adapters.c: what a projection of x gave, `y`, with what adapters add to it; where there are none `y` itself. */
void text_adapted(model_text *w, const char *id, const char *x, pctl_model_role role,
		  char y[REF_SIZE]);
/* Inputs of the adapters that are used. */
void text_adapter_inputs(const model_text *w, pctl_str_buf *inputs);
/* 1: what adapters add in both layers is one text, but for the number of the layer. */
int text_adapted_alike(const model_text *w, uint64_t layer, uint64_t other);

/* The jobs of a layer on what `x` refers to; `out` becomes the reference of what it gives. */
void text_layer(model_text *w, const char *x, char out[REF_SIZE]);
/* Before and behind all layers; `outputs` grows by what the pipeline gives. */
void text_begin(model_text *w, char out[REF_SIZE]);
void text_end(model_text *w, const char *x, pctl_str_buf *outputs);
/* choose.c: inputs that sequences' tokens are chosen by; jobs that choose, from the logits that `x` refers to. */
void text_choice_inputs(const model_text *w, pctl_str_buf *inputs);
void text_choice(model_text *w, const char *x, pctl_str_buf *outputs);
/* What the pages of a cache are. */
const char *text_pages(const model_text *w);

#endif
