/* What the verbs of models share. */
#ifndef PIPECTL_TOOLS_MODEL_H
#define PIPECTL_TOOLS_MODEL_H

#include "app.h"
#include "model/generate/model_engine.h"

/* The model that --model names as an engine of `slots` sequences, --chunk tokens of one in a step (64 where it is left out) and --context positions, on
 * --backend, with the tokenizer and the family of --tokenizer and --family. Closed with pctl_model_engine_close. */
pctl_status pctl_app_model_engine(pctl_app *app, uint64_t slots, pctl_model_engine **out);

#endif
