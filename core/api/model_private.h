/* What the parts of model.h share: models and engines. */
#ifndef PIPECTL_API_MODEL_PRIVATE_H
#define PIPECTL_API_MODEL_PRIVATE_H

#include "api/private.h"
#include "model/generate/model_engine.h"
#include "model/generate/words.h"
#include "pipectl/model.h"

/* words: read when they are first needed. ids, text: what the latest call gave. */
struct pipectl_model {
	pipectl *p;
	pctl_arena *arena;
	pctl_model *model;
	const char *path, *tokenizer, *family;
	pctl_model_words words;
	int has_words;
	pctl_token_ids ids;
	pctl_str_buf text;
};

/* adapter: of rows that are begun now (serve/engine.h). busy: slots that a generation has. users: the caller, and generations, which may outlive its release. evidence: as text. */
struct pipectl_engine {
	pipectl *p;
	pctl_arena *arena;
	pctl_model_engine *engine;
	uint8_t *busy;
	uint32_t users, adapter;
	char evidence[PCTL_EVIDENCE_TEXT];
};

/* Adapters of a caller's, whose texts stay the caller's, in the arena. PC0011: one has no path; PC6299: more than there may be. */
pctl_status pipectl_take_loras(const pctl_call *call, const pipectl_lora *loras, uint32_t n,
			       pctl_arena *arena, pctl_engine_lora **out);

/* A free slot, marked as taken; PC6290 where there is none. */
pctl_status pipectl_engine_slot(pipectl_engine *e, uint32_t *out);

#endif
