/* What a job of a shader costs on a chain, as submitting it would be charged (shader_rules.c). */
#ifndef PIPECTL_TOOLS_SHADER_PRICE_H
#define PIPECTL_TOOLS_SHADER_PRICE_H

#include "chain/transition/submit.h"
#include "shader.h"

/* `given` has no bytes and no parents: what those cost is beside it. */
pctl_status pctl_shader_price_job(const pctl_gas_schedule *s, const pctl_params *p,
				  const pctl_job_shape *given, const pctl_call *call,
				  pctl_shader_job_price *out);

#endif
