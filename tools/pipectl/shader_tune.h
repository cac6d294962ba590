/* What `shader tune` found, as text and into the JSON document. */
#ifndef PIPECTL_TOOLS_SHADER_TUNE_H
#define PIPECTL_TOOLS_SHADER_TUNE_H

#include "host/tune.h"
#include "shader.h"

pctl_status pctl_shader_tune_print(pctl_app *app, const char *path, const struct shader_options *o,
				   const pctl_tune_result *r);

/* Several ways to run it, the fastest first. */
pctl_status pctl_shader_sweep_print(pctl_app *app, const char *path, const char *const *names,
				    pctl_tune_result *const *results, uint32_t n);

#endif
