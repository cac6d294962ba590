/* The values of overrides as the bits that a message has. */
#include <stdlib.h>
#include <string.h>

#include "chain/home/pipeline.h"
#include "chain/registry/registry.h"
#include "chain/transition/submit.h"

static int compare_overrides(const void *a, const void *b)
{
	return strcmp(((const pctl_msg_override *)a)->name, ((const pctl_msg_override *)b)->name);
}

pctl_status pctl_home_overrides(pctl_installation *in, pctl_chain *c,
				const pctl_override_value *given, uint32_t n, pctl_arena *arena,
				const pctl_call *call, pctl_msg_execute *m)
{
	pctl_msg_override *to = pctl_arena_array(arena, n, sizeof(*to));
	const pctl_chain_source *source;
	const pctl_program *program;
	pctl_params params;
	pctl_status status = PCTL_OK;

	m->overrides = to;
	m->n_overrides = n;
	if (to == NULL)
		return pctl_no_memory(call, "overrides");
	if (n == 0)
		return PCTL_OK;
	status = pctl_chain_source_of(c, m->shader_cid, call, &source);
	if (status == PCTL_OK)
		status = pctl_home_params(c, call, &params);
	if (status == PCTL_OK)
		status = pctl_rules_compiled(in->kernels, source, &params, call, &program);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		to[i].name = given[i].name;
		status = pctl_override_bits(program, &given[i], call, &to[i].bits);
	}
	if (status == PCTL_OK && n > 1)
		qsort(to, n, sizeof(*to), compare_overrides);
	return status;
}
