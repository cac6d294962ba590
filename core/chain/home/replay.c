/* Opening a foreign history and replaying it into this home; see replay.h. */
#include "chain/home/replay.h"

#include <inttypes.h>
#include <string.h>

#include "foundation/base/file.h"
#include "chain/home/judge.h"
#include "chain/home/wasm.h"
#include "host/run.h"

typedef struct source {
	pctl_gitlog *log;
	pctl_history *history;
	pctl_store *fetch;
	pctl_params genesis;
} source;

static void close_source(source *s)
{
	pctl_history_close(s->history);
	pctl_gitlog_close(s->log);
	pctl_store_close(s->fetch);
}

/* What the chain began with is asked of the history where there is no chain yet. */
static pctl_status open_source(const pctl_home_replay_request *q, const char *dir,
			       const pctl_call *call, source *s)
{
	pctl_gitlog_oid tip;
	pctl_status status;

	if (!pctl_dir_exists(q->from))
		return pctl_refuse(call, PC5752_GITLOG_FOREIGN, "%s is no directory", q->from);
	status = pctl_gitlog_open(q->from, call, &s->log);
	if (status == PCTL_OK && !pctl_gitlog_tip(s->log, &tip))
		status = pctl_refuse(call, PC5753_GITLOG_MISSING, "%s has no blocks", q->from);
	if (status == PCTL_OK)
		status = pctl_history_open(s->log, &tip, call, &s->history);
	if (status == PCTL_OK && (pctl_history_first(s->history) == 1 || !pctl_dir_exists(dir)))
		status = pctl_history_genesis(s->history, call, &s->genesis);
	if (status == PCTL_OK && q->fetch != NULL)
		status = pctl_store_open(q->fetch, PCTL_STORE_READ_ONLY, call, &s->fetch);
	return status;
}

static pctl_status open_chain(pctl_installation *in, const char *dir, const pctl_params *genesis,
			      const pctl_executor *executor, const pctl_call *call,
			      pctl_chain **out)
{
	pctl_chain_options o = {.dir = dir, .genesis = genesis, .executor = executor};
	pctl_status status = pctl_installation_ops(in, call);

	if (status == PCTL_OK)
		status = pctl_installation_store(in, call);
	o.store = in->store;
	o.kernels = in->kernels;
	if (status == PCTL_OK && (o.wasm = pctl_home_wasm(in)) == NULL)
		status = pctl_no_memory(call, "a path");
	if (status == PCTL_OK)
		status = pctl_home_judge(in, call, &o.reference);
	return status == PCTL_OK ? pctl_chain_open(&o, call, out) : status;
}

/* Is the chain at its beginning, or at a block of this history: what a replay that was cut short left, or a snapshot. Whether
 * messages of the open block are the recorded ones, pctl_replay asks. */
static int goes_on(const pctl_history *h, const pctl_chain_info *info)
{
	if (info->last == 0)
		return 1;
	return info->last >= pctl_history_first(h) && info->last <= pctl_history_last(h) &&
	       memcmp(&info->commit, pctl_history_commit(h, info->last), sizeof(info->commit)) == 0;
}

static pctl_status replay(const source *s, pctl_chain *chain, const char *dir,
			  const pctl_home_replay_request *q, const pctl_call *call,
			  pctl_home_replayed *out)
{
	const pctl_chain_replay_options o = {.to = pctl_history_last(s->history),
					     .run_from = q->executor == NULL ? UINT64_MAX : 1,
					     .fetch = s->fetch,
					     .progress = q->progress};
	pctl_chain_info info;
	pctl_block_row last;
	pctl_status status = pctl_chain_info_read(chain, call, &info);

	if (status == PCTL_OK && !goes_on(s->history, &info))
		status = pctl_refuse_at(call, PC5858_BLOCK_HOME, NULL,
					"name an empty home with --home DIR",
					"%s has %" PRIu64 " blocks and %" PRIu64
					" messages in the open one already",
					dir, info.last, info.n_inbox);
	if (status == PCTL_OK)
		status = pctl_replay(chain, s->history, &o, call, &out->report);
	if (status == PCTL_OK)
		status = pctl_blocks_last(pctl_cursor(chain), call, &last);
	if (status != PCTL_OK)
		return status;
	memcpy(out->root, last.root, sizeof(out->root));
	out->commit = last.commit;
	return PCTL_OK;
}

pctl_status pctl_home_replay(pctl_installation *in, const pctl_home_replay_request *q,
			     const pctl_call *call, pctl_home_replayed *out)
{
	source s = {.log = NULL};
	pctl_chain *chain = NULL;
	const char *dir = NULL;
	int was_there = 0;
	pctl_status status = pctl_installation_config(in, call);

	*out = (pctl_home_replayed){.report = {0}};
	if (status == PCTL_OK) {
		dir = pctl_arena_printf(in->arena, "%s/chain", in->config->home);
		status = dir == NULL ? pctl_no_memory(call, "a path") : PCTL_OK;
	}
	if (status == PCTL_OK)
		status = open_source(q, dir, call, &s);
	if (status == PCTL_OK) {
		was_there = pctl_dir_exists(dir);
		status = open_chain(in, dir, pctl_history_first(s.history) == 1 ? &s.genesis : NULL,
				    q->executor, call, &chain);
	}
	if (status == PCTL_OK)
		status = replay(&s, chain, dir, q, call, out);
	pctl_chain_close(chain);
	close_source(&s);
	if (status != PCTL_OK && pctl_is_cancelled(call) && dir != NULL && !was_there)
		pctl_scratch_drop(dir);
	return status;
}
