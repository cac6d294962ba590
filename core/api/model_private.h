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

/* busy: slots that a generation has. users: the caller, and generations, which may outlive its release. evidence: as text. */
struct pipectl_engine {
	pipectl *p;
	pctl_arena *arena;
	pctl_model_engine *engine;
	uint8_t *busy;
	uint32_t users;
	char evidence[PCTL_EVIDENCE_TEXT];
};

/* A free slot, marked as taken; PC6290 where there is none. */
pctl_status pipectl_engine_slot(pipectl_engine *e, uint32_t *out);

#endif
