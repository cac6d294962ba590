/* Running a graph as the policy asks: on one device, or on as many as its quorum names. */
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "evidence/audit/quorum.h"
#include "foundation/base/file.h"

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)at;
	return kind == FTW_DP ? rmdir(path) : unlink(path);
}

pctl_status pctl_app_scratch(pctl_app *app, const char **out)
{
	char *path = pctl_arena_printf(app->arena, "%s/scratch-XXXXXX", app->config->cache_dir);
	pctl_status status = path == NULL
				     ? pctl_refuse(app->call, PC2_NOMEM, "no memory for a path")
				     : pctl_file_make_dirs(app->config->cache_dir, app->call);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	if (mkdtemp(path) == NULL)
		return pctl_refuse(app->call, PC3_IO, "%s: %s", path, strerror(errno));
	*out = path;
	return PCTL_OK;
}

void pctl_app_drop_scratch(const char *path)
{
	if (path != NULL)
		(void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

pctl_status pctl_app_run(pctl_app *app, const pctl_graph *g, const pctl_run_options *o,
			 const pctl_call *call, pctl_run_result **out)
{
	const char *scratch = NULL;
	pctl_status status;

	if (o->policy->quorum_n < 2)
		return pctl_run(g, o, call, out);
	*out = NULL;
	status = pctl_app_scratch(app, &scratch);
	if (status == PCTL_OK)
		status = pctl_quorum_run(g, o, scratch, call, out);
	pctl_app_drop_scratch(scratch);
	return status;
}
