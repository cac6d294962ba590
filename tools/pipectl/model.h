/* What the verbs of models share. */
#ifndef PIPECTL_TOOLS_MODEL_H
#define PIPECTL_TOOLS_MODEL_H

#include "app.h"
#include "model/serve/engine.h"

/* The model that --model names as an engine of --slots sequences, --chunk tokens of one in a step and --context positions, on --backend. Released with
 * close, for which NULL is fine. */
pctl_status pctl_app_model_engine(pctl_app *app, pctl_engine **out);
void pctl_app_model_engine_close(pctl_engine *e);

#endif
