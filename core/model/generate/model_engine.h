/* A model that runs: the engine (serve/engine.h) over a model's files, with its tokenizer and template, on one device. Its weights and its
 * cache of keys and values stay there (runtime/exec/resident.h); a step of sequences is one submission for each size of work. */
#ifndef PIPECTL_MODEL_GENERATE_MODEL_ENGINE_H
#define PIPECTL_MODEL_GENERATE_MODEL_ENGINE_H

#include "host/resident.h"
#include "model/file/adapter.h"
#include "model/serve/engine.h"
#include "model/template/template.h"

/* An adapter that may be used. path: its file or folder; name: what it is chosen by, and those of one name are added one behind another, in their order; by: what its
 * scale is multiplied with, -1e6 to 1e6. */
typedef struct pctl_engine_lora {
	const char *name, *path;
	float by;
} pctl_engine_lora;

/*
 * model      GGUF file or folder of safetensors
 * tokenizer  a tokenizer.json in place of the model's own; NULL: that one
 * family     of the chat template, by name; NULL: as the model's own template tells
 * slots      sequences at a time, 1 to 1024
 * chunk      tokens of a sequence in a step, at most
 * singles    tokens of the first prompts that may go one by one, while nothing that takes a chunk is built: that takes longer than they do. 0: none
 * context    positions of a sequence, 0: the model's, but no more than PCTL_ENGINE_CONTEXT; rounded up to whole pages
 * pages      of the cache, 0: as many as all slots need. With fewer a row may have no room (PCTL_E_LIMIT)
 * loras      n_loras adapters; what a name stands for is adapter i of the engine's, in the order in which names first come
 * request    where and how (backends, verify_ppm, flags, progress); its data are not used
 */
typedef struct pctl_model_engine_options {
	const char *model, *tokenizer, *family;
	uint32_t slots, chunk, singles, context, pages;
	const pctl_engine_lora *loras;
	uint32_t n_loras;
	pctl_run_request request;
} pctl_model_engine_options;

#define PCTL_ENGINE_PAGE 64u	  /* positions of a page */
#define PCTL_ENGINE_CONTEXT 4096u /* of a sequence, where nothing else is asked for */

typedef struct pctl_model_engine pctl_model_engine;

/* Open files and what does not need the device. What sizes of steps need is built when they first come. The installation stays.
 * Errors: those of model, tokenizer, template and adapter files, of a pipeline, PC6290 for sizes that cannot be, PC6299 for adapters. */
pctl_status pctl_model_engine_open(pctl_installation *in, const pctl_model_engine_options *o,
				   const pctl_call *call, pctl_model_engine **out);
void pctl_model_engine_close(pctl_model_engine *e); /* NULL is fine */

/* The engine as others use it; it lives as long as `e`. */
const pctl_engine *pctl_model_engine_of(pctl_model_engine *e);
const pctl_model *pctl_model_engine_model(const pctl_model_engine *e);
const pctl_tokenizer *pctl_model_engine_tokenizer(const pctl_model_engine *e);
/* The adapters as they are used, in the order of the options, each with its own CID; set i is the engine's adapter i - 1. NULL behind the last. */
const pctl_adapter_use *pctl_model_engine_use(const pctl_model_engine *e, uint32_t i,
					      const pctl_cid **cid);
/* The number for rows of the adapter of that name; 0: NULL. PC6299: there is none. */
pctl_status pctl_model_engine_adapter(const pctl_model_engine *e, const char *name,
				      const pctl_call *call, uint32_t *out);

/* Build what single tokens and whole chunks need, with each adapter and without, so that the first step is no slower than the next. gives: PCTL_MODEL_GIVES_* of
 * the tokens that will be asked for. */
pctl_status pctl_model_engine_warm(pctl_model_engine *e, uint32_t gives, const pctl_call *call);

/* Called with the logits, n_vocab of them, behind each token that is chosen from now on, before penalties; NULL: no more. They are read from
 * the device for it. */
typedef void (*pctl_logits_sink)(void *ctx, uint32_t slot, const float *logits);
void pctl_model_engine_on_logits(pctl_model_engine *e, pctl_logits_sink sink, void *ctx);

/*
 * What it took so far. submits: of steps; a step of one kind of work is one. build_ns: planning, building and uploading, in no work's
 * time. prefill: chunks of prompts, decode: single tokens of sequences; device_ns 0: not known.
 * device, device_name: NULL before the first step.
 * total_bytes are on the device, peak_bytes were the most so far.
 * Where not all weights may stay on the device (request.memory_bytes, runtime/exec/resident.h): weight_bytes do; uploaded_bytes came there
 * so far; of the last step of single tokens, token_submits and token_uploaded_bytes.
 */
typedef struct pctl_model_work {
	uint64_t tokens, host_ns, device_ns;
} pctl_model_work;
typedef struct pctl_model_engine_facts {
	uint64_t steps, submits, dispatches; /* dispatches: of the last step of single tokens */
	uint64_t build_ns;
	pctl_model_work prefill, decode;
	uint64_t total_bytes, peak_bytes, weight_bytes, cache_bytes, cache_token_bytes;
	uint64_t uploaded_bytes, token_submits, token_uploaded_bytes;
	const char *device, *device_name;
	pctl_evidence evidence;
} pctl_model_engine_facts;
void pctl_model_engine_facts_of(const pctl_model_engine *e, pctl_model_engine_facts *out);

#endif
