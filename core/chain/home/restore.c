/* Restoring and pruning; see restore.h. */
#include "chain/home/restore.h"

#include <inttypes.h>

#include "chain/state/state.h"

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

pctl_status pctl_home_prune(pctl_chain *c, uint64_t keep, const pctl_call *call, uint64_t *first,
			    uint64_t *packs)
{
	pctl_block_row last, floor;
	pctl_status status = pctl_chain_begin(pctl_cursor(c), call); /* no block ends meanwhile */

	*first = *packs = 0;
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
					   packs);
	if (status == PCTL_OK)
		*first = floor.height;
	pctl_chain_rollback(pctl_cursor(c));
	return status;
}
