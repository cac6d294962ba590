/* Numbers of a pipeline that are known before anything runs: parameters, dimensions, workgroups, sizes. */
#include <string.h>

#include "chain/home/pipeline_private.h"
#include "foundation/base/num.h"
#include "runtime/graph/dispatch.h"

const char *pctl_lowering_param(const lowering *l, const char *name)
{
	for (uint32_t i = 0; i < l->p->n_params; i++)
		if (strcmp(l->p->params[i].name, name) == 0)
			return l->param_text[i];
	return NULL;
}

/* A dimension by its name, or a parameter that is a number. */
int pctl_lowering_value(void *ctx, const char *name, uint64_t *out)
{
	const lowering *l = ctx;
	const char *text;

	for (uint32_t i = 0; i < l->n_dims; i++) {
		if (strcmp(l->dims[i].name, name) == 0) {
			*out = l->dims[i].value;
			return 1;
		}
	}
	text = pctl_lowering_param(l, name);
	return text != NULL && pctl_num_parse_u64(text, strlen(text), out);
}

pctl_status pctl_lowering_groups(lowering *l, const pctl_pipe_value *v, uint32_t *out)
{
	pctl_group_count count;

	if (!pctl_group_count_parse(v, l->arena, &count) ||
	    !pctl_group_count_value(&count, pctl_lowering_value, l, out))
		return pctl_lowering_cannot(
			l, &v->pos, "the number of workgroups is known only when the job runs");
	return PCTL_OK;
}

pctl_status pctl_lowering_output_bytes(lowering *l, const pctl_pipe_result *r, uint64_t *out)
{
	pctl_tensor_type t = {.dtype = r->type.dtype[0], .rank = r->type.rank};
	int fits = !r->type.any_shape && r->type.n_dtypes == 1;

	for (uint32_t i = 0; fits && i < r->type.rank; i++) {
		t.dim[i] = r->type.dim[i].value;
		if (r->type.dim[i].name != NULL)
			fits = pctl_lowering_value(l, r->type.dim[i].name, &t.dim[i]);
	}
	return fits && pctl_type_bytes(&t, out)
		       ? PCTL_OK
		       : pctl_lowering_cannot(
				 l, &r->pos,
				 "the size of this output is not known before the job runs");
}
