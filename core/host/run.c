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
	status = path == NULL ? pctl_refuse(call, PC2_NOMEM, "no memory for a path")
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
