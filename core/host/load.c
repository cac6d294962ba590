/* Reading and resolving a pipeline; see load.h. */
#include "host/load.h"

#include <string.h>

void pctl_loaded_pipeline_close(pctl_loaded_pipeline *p)
{
	pctl_graph_destroy(p->graph);
	pctl_pipeline_destroy(p->pipeline);
	pctl_texts_destroy(p->texts);
	pctl_repo_revision_close(p->revision);
	pctl_repo_place_clear(&p->place);
	memset(p, 0, sizeof(*p));
}

static pctl_status read_texts(const char *path, const pctl_setting *sets, uint32_t n_sets,
			      const pctl_call *call, pctl_loaded_pipeline *out)
{
	const pctl_vfs *under = NULL;

	if (pctl_repo_is_spec(path)) {
		pctl_status status = pctl_repo_revision_open(path, call, &out->revision);

		if (status != PCTL_OK)
			return status;
		under = pctl_repo_revision_vfs(out->revision);
		path = pctl_repo_revision_name(out->revision);
	}
	out->texts = pctl_texts_create(under);
	if (out->texts == NULL)
		return pctl_no_memory(call, "a pipeline");
	return pctl_pipeline_read_set(pctl_texts_vfs(out->texts), path, sets, n_sets, call,
				      &out->pipeline);
}

pctl_status pctl_load_pipeline(pctl_installation *in, const char *path, const pctl_setting *sets,
			       uint32_t n_sets, const pctl_call *call, pctl_loaded_pipeline *out)
{
	pctl_graph_options options = {.sets = sets, .n_sets = n_sets};
	pctl_status status;

	memset(out, 0, sizeof(*out));
	status = read_texts(path, sets, n_sets, call, out);
	if (status == PCTL_OK)
		status = pctl_installation_ops(in, call);
	if (status != PCTL_OK)
		return status;
	options.ops = pctl_op_library_source(in->library);
	options.kernels = in->kernels;
	return pctl_graph_resolve(out->pipeline, &options, call, out->checks, &out->n_checks,
				  &out->graph);
}
