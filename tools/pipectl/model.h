/* What the verbs of models share. */
#ifndef PIPECTL_TOOLS_MODEL_H
#define PIPECTL_TOOLS_MODEL_H

#include "app.h"
#include "model/generate/model_engine.h"

/* How --lora says which adapters: FILE[=SCALE] of those that are all used, in the order given, or NAME=FILE[,SCALE] of those that are chosen by name. */
enum { PCTL_LORAS_NONE = 0, PCTL_LORAS_ALL, PCTL_LORAS_NAMED };
pctl_status pctl_app_loras(pctl_app *app, uint32_t form, pctl_engine_lora **out, uint32_t *n_out);

/* A line of a description, or a member of the document's object. */
void pctl_app_fact_size(pctl_app *app, const char *name, uint64_t v);
void pctl_app_fact_number(pctl_app *app, const char *name, double v);
void pctl_app_fact_word(pctl_app *app, const char *name, const char *v);

/* What is told of an adapter in place of a model: `model show`; its tensors with CIDs, as part of `model check --full`. */
pctl_status pctl_app_adapter_show(pctl_app *app, const char *path);
pctl_status pctl_app_adapter_tensors(pctl_app *app, const pctl_adapter *a, int cids);

/* The model that --model names as an engine of `slots` sequences, --chunk tokens of one in a step (64 where it is left out) and --context positions, on
 * --backend, with the tokenizer and the family of --tokenizer and --family, and the adapters of --lora, which are in that form. Closed with
 * pctl_model_engine_close. */
pctl_status pctl_app_model_engine(pctl_app *app, uint64_t slots, uint32_t loras,
				  pctl_model_engine **out);

#endif
