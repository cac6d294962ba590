/* Running a graph on one device or under a quorum; see run.h. */
#include "host/run.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evidence/audit/quorum.h"
#include "foundation/base/file.h"

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)at;
	return kind == FTW_DP ? rmdir(path) : unlink(path);
}

pctl_status pctl_scratch_make(pctl_installation *in, const pctl_call *call, const char **out)
{
	pctl_status status = pctl_installation_config(in, call);
	char *path;

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	path = pctl_arena_printf(in->arena, "%s/scratch-XXXXXX", in->config->cache_dir);
	status = path == NULL ? pctl_no_memory(call, "a path")
			      : pctl_file_make_dirs(in->config->cache_dir, call);
	if (status != PCTL_OK)
		return status;
	if (mkdtemp(path) == NULL)
		return pctl_refuse(call, PC3_IO, "%s: %s", path, strerror(errno));
	*out = path;
	return PCTL_OK;
}

void pctl_scratch_drop(const char *path)
{
	if (path != NULL)
		(void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

pctl_status pctl_host_run(pctl_installation *in, const pctl_graph *g, const pctl_run_options *o,
			  const pctl_call *call, pctl_run_result **out)
{
	const char *scratch = NULL;
	pctl_status status;

	if (o->policy->quorum_n < 2)
		return pctl_run(g, o, call, out);
	*out = NULL;
	status = pctl_scratch_make(in, call, &scratch);
	if (status == PCTL_OK)
		status = pctl_quorum_run(g, o, scratch, call, out);
	pctl_scratch_drop(scratch);
	return status;
}

pctl_status pctl_request_run_options(pctl_installation *in, const pctl_run_request *q,
				     const pctl_call *call, pctl_run_options *out)
{
	pctl_status status = pctl_installation_run_options(in, call, out);

	if (status != PCTL_OK)
		return status;
	if (q->verify_ppm > out->verify_ppm)
		out->verify_ppm = q->verify_ppm;
	out->backends = q->backends;
	out->n_backends = q->n_backends;
	out->ins = q->ins;
	out->n_ins = q->n_ins;
	out->given = q->given;
	out->n_given = q->n_given;
	out->has_gas_limit = q->has_gas_limit;
	out->gas_limit = q->gas_limit;
	out->memory_bytes = q->memory_bytes;
	out->flags |= q->flags | (q->flags & PCTL_RUN_NATIVE ? PCTL_RUN_FRESH : 0);
	out->progress = q->progress;
	return PCTL_OK;
}

pctl_status pctl_run_pipeline(pctl_installation *in, pctl_loaded_pipeline *p,
			      const pctl_run_options *o, const pctl_call *call,
			      pctl_run_result **out)
{
	pctl_status status = pctl_admit(in, p, call);

	*out = NULL;
	return status == PCTL_OK ? pctl_host_run(in, p->graph, o, call, out) : status;
}

pctl_status pctl_plan_pipeline(pctl_installation *in, pctl_loaded_pipeline *p,
			       const pctl_run_options *o, const pctl_call *call,
			       pctl_run_result **out)
{
	pctl_status status = pctl_admit(in, p, call);

	*out = NULL;
	return status == PCTL_OK ? pctl_run_plan(p->graph, o, call, out) : status;
}

/* ---- checking against sizes --------------------------------------------------------------- */

int pctl_device_is_meant(const pctl_device_entry *e)
{
	return e->state == PCTL_DEVICE_USABLE &&
	       !(e->roles & (PCTL_ROLE_INERT | PCTL_ROLE_SYNTHETIC));
}

static pctl_status check_sizes(pctl_installation *in, const pctl_loaded_pipeline *p,
			       const pctl_run_request *q, const char *device, const pctl_call *call)
{
	pctl_run_result *result = NULL;
	pctl_run_options o;
	pctl_status status = pctl_request_run_options(in, q, call, &o);

	if (status != PCTL_OK)
		return status;
	o.backends = &device;
	o.n_backends = device == NULL ? 0 : 1;
	o.flags |= device == NULL ? PCTL_RUN_NO_DEVICE : 0;
	status = pctl_run_plan(p->graph, &o, call, &result);
	pctl_run_result_destroy(result);
	return status;
}

static pctl_status check_all_devices(pctl_installation *in, const pctl_loaded_pipeline *p,
				     const pctl_run_request *q, const pctl_call *call)
{
	pctl_devices *list;
	uint32_t n = 0;
	pctl_status first = PCTL_OK, status = pctl_devices_list(in->registry, NULL, 0, call, &list);

	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; i < pctl_devices_count(list); i++) {
		const pctl_device_entry *e = pctl_devices_at(list, i);

		if (!pctl_device_is_meant(e))
			continue;
		status = check_sizes(in, p, q, e->selector, call);
		n++;
		first = first == PCTL_OK ? status : first;
	}
	if (n == 0)
		first = pctl_refuse(call, PC5207_NO_DEVICE, "there is no device to check");
	pctl_devices_destroy(list);
	return first;
}

/* What a state starts with, or where the data of an input lie. A set of tensors that is not there says nothing. */
static uint32_t has_data(const pctl_pipeline *p, uint32_t i)
{
	const pctl_pipe_input *in = &p->inputs[i];
	uint32_t is_there;
	char *path;

	if (in->set == NULL || (p->vfs != NULL && p->vfs->data != NULL))
		return in->is_state || in->file != NULL || in->cid != NULL;
	path = in->file[0] == '/' ? strdup(in->file) : pctl_path_join(p->directory, in->file);
	is_there = path != NULL && (pctl_file_exists(path) || pctl_dir_exists(path));
	free(path);
	return is_there;
}

pctl_status pctl_check_pipeline(pctl_installation *in, const pctl_loaded_pipeline *p,
				const pctl_run_request *q, const char *const *devices,
				uint32_t n_devices, const pctl_call *call)
{
	pctl_status first = PCTL_OK, status;
	uint32_t n_sized = 0;

	for (uint32_t i = 0; i < p->pipeline->n_inputs; i++)
		n_sized += has_data(p->pipeline, i);
	if (n_devices == 0)
		return n_sized == p->pipeline->n_inputs || q->n_ins + q->n_given != 0
			       ? check_sizes(in, p, q, NULL, call)
			       : PCTL_OK;
	for (uint32_t i = 0; i < n_devices; i++) {
		status = strcmp(devices[i], "all") == 0 ? check_all_devices(in, p, q, call)
							: check_sizes(in, p, q, devices[i], call);
		first = first == PCTL_OK ? status : first;
	}
	return first;
}
