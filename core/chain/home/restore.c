/* Restoring and pruning; see restore.h. */
#include "chain/home/restore.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chain/chain_private.h"
#include "chain/state/state.h"
#include "foundation/base/num.h"

pctl_status pctl_home_restore(pctl_installation *in, const char *dir, const pctl_trusted *trusted,
			      const pctl_call *call, pctl_snapshot_report *out)
{
	pctl_chain_options o = {.is_bare = 1};
	pctl_chain *c = NULL;
	pctl_status status = pctl_installation_config(in, call);

	*out = (pctl_snapshot_report){.height = 0};
	if (status == PCTL_OK)
		status = pctl_installation_ops(in, call);
	if (status == PCTL_OK)
		status = pctl_installation_store(in, call);
	if (status != PCTL_OK)
		return status;
	o.dir = pctl_arena_printf(in->arena, "%s/chain", in->config->home);
	if (o.dir == NULL)
		return pctl_no_memory(call, "a path");
	o.store = in->store;
	o.kernels = in->kernels;
	status = pctl_chain_open(&o, call, &c);
	if (status == PCTL_OK)
		status = pctl_snapshot_restore(c, dir, trusted, call, out);
	pctl_chain_close(c);
	return status;
}

/* ---- what was signed ------------------------------------------------------------------------ */

/* The height that a file of chain/receipts is of: HEIGHT and this ending, as they are written; 0: another file. */
static uint64_t height_of(const char *name, const char *ending)
{
	const size_t n = strlen(name), n_ending = strlen(ending);
	uint64_t height;

	if (n <= n_ending || name[0] == '0' || strcmp(name + n - n_ending, ending) != 0 ||
	    !pctl_num_parse_u64(name, n - n_ending, &height))
		return 0;
	return height;
}

/* What stands there under such a name and is no file stays. */
static pctl_status forget_signed(const char *dir, pctl_pruned *out, const pctl_call *call)
{
	struct dirent **names = NULL;
	pctl_status status = PCTL_OK;
	char path[4096];
	int n;

	if ((size_t)snprintf(path, sizeof(path), "%s/receipts", dir) + 66 >= sizeof(path))
		return pctl_refuse(call, PC3_IO, "%s: the path is too long", dir);
	n = scandir(path, &names, NULL, NULL);
	if (n < 0 && errno != ENOENT)
		status = pctl_refuse(call, PC3_IO, "%s: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;
		const uint64_t receipt = height_of(name, ".receipt"),
			       stated = height_of(name, ".statement");

		if (status == PCTL_OK && receipt + stated != 0 && receipt + stated < out->first) {
			snprintf(path, sizeof(path), "%s/receipts/%.64s", dir, name);
			if (unlink(path) == 0)
				*(receipt != 0 ? &out->receipts : &out->statements) += 1;
			else if (errno != ENOENT && errno != EISDIR)
				status = pctl_refuse(call, PC3_IO, "%s: %s", path, strerror(errno));
		}
		free(names[i]);
	}
	free(names);
	return status;
}

pctl_status pctl_home_prune(pctl_chain *c, uint64_t keep, const pctl_call *call, pctl_pruned *out)
{
	pctl_block_row last, floor;
	pctl_status status = pctl_chain_begin(pctl_cursor(c), call); /* no block ends meanwhile */

	*out = (pctl_pruned){.first = 0};
	if (status != PCTL_OK)
		return status;
	status = pctl_blocks_last(pctl_cursor(c), call, &last);
	if (status == PCTL_OK && (keep == 0 || keep > last.height))
		status = pctl_refuse(call, PC6151_PRUNE_KEEP,
				     "%" PRIu64 " of %" PRIu64 " blocks cannot be kept", keep,
				     last.height);
	if (status == PCTL_OK)
		status = pctl_blocks_read(pctl_cursor(c), last.height - keep + 1, call, &floor);
	if (status == PCTL_OK)
		status = pctl_gitlog_prune(pctl_chain_log(c), &last.commit, &floor.commit, call,
					   &out->packs);
	if (status == PCTL_OK) {
		out->first = floor.height;
		status = forget_signed(c->dir, out, call);
	}
	pctl_chain_rollback(pctl_cursor(c));
	return status;
}
