/* Making blocks again from the records of a history. */
#include "chain/replay/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/clock.h"
#include "foundation/base/map.h"
#include "foundation/base/vec.h"

struct pctl_history {
	pctl_gitlog *log;
	uint64_t first;			   /* height of the oldest */
	PCTL_VEC(pctl_gitlog_oid) commits; /* newest first */
};

static int note_commit(void *ctx, const pctl_gitlog_commit *commit)
{
	pctl_history *h = ctx;

	return !PCTL_VEC_PUSH(&h->commits, commit->oid);
}

/* Where the log has a floor, the oldest block says its height. */
static pctl_status find_first(pctl_history *h, const pctl_call *call)
{
	const pctl_gitlog_oid *oldest = &h->commits.items[h->commits.n - 1];
	pctl_gitlog_commit commit;
	pctl_block_record record;
	pctl_block_header header;
	pctl_status status = pctl_gitlog_look(h->log, oldest, call, &commit);

	h->first = 1;
	if (status != PCTL_OK || !commit.has_parent)
		return status;
	status = pctl_block_record_read(h->log, oldest, call, &record, &header);
	pctl_block_record_clear(&record);
	h->first = header.height;
	return status;
}

pctl_status pctl_history_open(pctl_gitlog *log, const pctl_gitlog_oid *tip, const pctl_call *call,
			      pctl_history **out)
{
	pctl_history *h = calloc(1, sizeof(*h));
	pctl_status status;

	*out = NULL;
	if (h == NULL)
		return pctl_no_memory(call, "a history");
	h->log = log;
	status = pctl_gitlog_walk(log, tip, call, note_commit, h);
	if (status == PCTL_OK)
		status = find_first(h, call);
	if (status == PCTL_OK)
		*out = h;
	else
		pctl_history_close(h);
	return status;
}

void pctl_history_close(pctl_history *h)
{
	if (h == NULL)
		return;
	free(h->commits.items);
	free(h);
}

uint64_t pctl_history_last(const pctl_history *h)
{
	return h->first + h->commits.n - 1;
}

uint64_t pctl_history_first(const pctl_history *h)
{
	return h->first;
}

const pctl_gitlog_oid *pctl_history_commit(const pctl_history *h, uint64_t height)
{
	return &h->commits.items[pctl_history_last(h) - height];
}

static pctl_status reach_back(const pctl_history *h, uint64_t height, const pctl_call *call)
{
	return height >= h->first ? PCTL_OK
				  : pctl_refuse(call, PC6152_HISTORY_PRUNED,
						"the history begins with block %" PRIu64
						", block %" PRIu64 " is needed",
						h->first, height);
}

pctl_status pctl_history_genesis(const pctl_history *h, const pctl_call *call, pctl_params *out)
{
	pctl_block_record record;
	pctl_block_header header;
	pctl_status status = reach_back(h, 1, call);

	if (status != PCTL_OK)
		return status;
	status = pctl_block_record_read(h->log, pctl_history_commit(h, 1), call, &record, &header);
	if (status == PCTL_OK)
		status = pctl_block_read_genesis(&record, "block 1", call, out);
	pctl_block_record_clear(&record);
	return status;
}

/* ---- one block ---------------------------------------------------------------------------- */

typedef struct replay {
	pctl_chain *chain;
	const pctl_chain_replay_options *o;
	const pctl_call *call;
	pctl_replay_report *report;
	pctl_arena *arena; /* of the block at hand */
	char name[32];	   /* "block 3" */
	pctl_block_record record;
	pctl_block_header header;
	pctl_gitlog_oid commit;
	pctl_map *results; /* by id: pctl_block_result */
	int runs;
} replay;

/* ---- bytes -------------------------------------------------------------------------------- */

static pctl_status fetch(replay *p, const pctl_block_need *need)
{
	pctl_store *store = pctl_chain_store(p->chain);
	char text[PCTL_CID_TEXT_SIZE];
	pctl_blob blob;
	pctl_status status;

	pctl_cid_format(&need->cid, text);
	if (p->o->fetch == NULL || !pctl_store_has(p->o->fetch, &need->cid))
		return pctl_refuse(p->call, PC5859_BLOCK_FETCH, "%s: %s of %" PRIu64 " bytes",
				   p->name, text, need->n_bytes);
	status = pctl_store_get(p->o->fetch, &need->cid, p->call, &blob);
	if (status != PCTL_OK)
		return status;
	if (blob.n_bytes != need->n_bytes)
		status = pctl_refuse(p->call, PC5859_BLOCK_FETCH,
				     "%s: %s has %" PRIu64 " bytes, the manifest says %" PRIu64,
				     p->name, text, blob.n_bytes, need->n_bytes);
	if (status == PCTL_OK)
		status = pctl_store_put(store, blob.data, blob.n_bytes, p->call, NULL);
	p->report->fetched += status == PCTL_OK;
	p->report->fetched_bytes += status == PCTL_OK ? blob.n_bytes : 0;
	pctl_blob_release(&blob);
	return status;
}

/* A blob that is there is read, and so held against its name; its size against the manifest. */
static pctl_status check_blob(replay *p, const pctl_block_need *need)
{
	char text[PCTL_CID_TEXT_SIZE];
	pctl_blob blob;
	pctl_status status = pctl_store_get(pctl_chain_store(p->chain), &need->cid, p->call, &blob);

	if (status != PCTL_OK)
		return status;
	if (blob.n_bytes != need->n_bytes)
		status = pctl_refuse(p->call, PC5856_BLOCK_DIFFERS,
				     "%s: %s has %" PRIu64 " bytes, the manifest says %" PRIu64,
				     p->name, pctl_cid_format(&need->cid, text), blob.n_bytes,
				     need->n_bytes);
	pctl_blob_release(&blob);
	return status;
}

/* Shaders come with their messages and a rank's graph from the engine, so what a manifest needs may come later; what
 * this node's store lacks is taken from the other one where that has it, and missed by who needs it where not. */
static pctl_status provide(replay *p)
{
	pctl_store *store = pctl_chain_store(p->chain);
	pctl_block_need *needs;
	uint32_t n;
	pctl_status status =
		pctl_block_read_manifest(&p->record, p->name, p->arena, p->call, &needs, &n);
	pctl_status batch = PCTL_OK;

	if (status == PCTL_OK)
		status = pctl_store_batch_begin(store, p->call);
	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		if (pctl_store_has(store, &needs[i].cid))
			status = p->runs && p->o->check ? check_blob(p, &needs[i]) : PCTL_OK;
		else if (p->o->fetch != NULL && pctl_store_has(p->o->fetch, &needs[i].cid))
			status = fetch(p, &needs[i]);
	}
	batch = pctl_store_batch_commit(store, p->call);
	return status != PCTL_OK ? status : batch;
}

/* What is of no length nobody has to bring. */
static pctl_status find(replay *p, const pctl_block_need *need)
{
	pctl_cid empty;
	const pctl_status status = need->n_bytes != 0 ? PCTL_OK
						      : pctl_store_put(pctl_chain_store(p->chain),
								       "", 0, p->call, &empty);

	if (status != PCTL_OK)
		return status;
	return need->n_bytes == 0 && pctl_cid_compare(&empty, &need->cid) == 0 ? PCTL_OK
									       : fetch(p, need);
}

/* After the messages everything needed must be there; what was made too, unless the run makes it, or this is only the way
 * to the blocks that are to be verified. */
static pctl_status insist(replay *p)
{
	pctl_block_need *needs;
	uint32_t n;
	pctl_status status =
		pctl_block_read_manifest(&p->record, p->name, p->arena, p->call, &needs, &n);

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		if (!(needs[i].is_made && p->runs != (int)p->o->check) &&
		    !pctl_store_has(pctl_chain_store(p->chain), &needs[i].cid))
			status = find(p, &needs[i]);
	return status;
}

/* ---- messages ----------------------------------------------------------------------------- */

/* What is in the inbox already: the engine's own, and where a replay was cut short behind the messages of a block, those. */
typedef struct there {
	const pctl_block_message *recorded;
	uint32_t n_recorded, n;
	int is_other; /* one that is not the recorded one in its place */
} there;

static int count(void *ctx, uint32_t origin, const uint8_t *bytes, uint64_t n)
{
	there *t = ctx;
	const pctl_block_message *m = &t->recorded[t->n];

	origin &= ~(uint32_t)PCTL_ORIGIN_REFUSED;
	if (origin != PCTL_ORIGIN_EPOCH && (t->n >= t->n_recorded || m->origin != origin ||
					    m->n_bytes != n || memcmp(m->bytes, bytes, n) != 0))
		t->is_other = 1;
	t->n++;
	return 0;
}

static pctl_status refused(replay *p, uint32_t number, const char *why)
{
	return pctl_refuse(p->call, PC5862_BLOCK_MESSAGE, "%s: message %" PRIu32 " %s", p->name,
			   number + 1, why);
}

static pctl_status take_one(replay *p, uint32_t number, const pctl_block_message *m)
{
	pctl_request r;
	pctl_status status = pctl_request_decode(m->bytes, m->n_bytes, p->call, &r);

	if (status == PCTL_OK)
		status = pctl_chain_apply_again(p->chain, &r, m->origin, p->call);
	pctl_request_destroy(&r);
	/* Trouble of this node is no verdict on the record. */
	if (status == PCTL_E_INVALID || status == PCTL_E_GAS || status == PCTL_E_NOT_FOUND ||
	    status == PCTL_E_LIMIT || status == PCTL_E_UNSUPPORTED || status == PCTL_E_MISMATCH)
		return refused(p, number, "is refused");
	return status;
}

static pctl_status look(replay *p, const pctl_block_message *messages, uint32_t n, there *out)
{
	*out = (there){messages, n, 0, 0};
	return pctl_inbox_visit(pctl_cursor(p->chain), count, out, p->call);
}

/* Those that the engine makes are there already, or come with the message before; whether they are the recorded ones is
 * seen when the records are compared. */
static pctl_status take_all(replay *p)
{
	pctl_block_message *messages;
	there t;
	uint32_t n;
	pctl_status status =
		pctl_block_read_messages(&p->record, p->name, p->arena, p->call, &messages, &n);

	if (status == PCTL_OK)
		status = look(p, messages, n, &t);
	if (status == PCTL_OK && t.is_other)
		return pctl_refuse(p->call, PC5858_BLOCK_HOME,
				   "%s: the open block has messages that are not the recorded ones",
				   p->name);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		if (i > 0 && messages[i].origin == PCTL_ORIGIN_EPOCH)
			status = look(p, messages, n, &t);
		if (status == PCTL_OK && t.n <= i) {
			if (messages[i].origin == PCTL_ORIGIN_EPOCH)
				return refused(p, i,
					       "was not made by the engine when the record was "
					       "applied again");
			status = take_one(p, i, &messages[i]);
			t.n = i + 1;
		}
		p->report->messages++;
	}
	return status;
}

static pctl_status take_messages(replay *p)
{
	pctl_status status = pctl_chain_batch_begin(p->chain, p->call), ended;

	if (status != PCTL_OK)
		return status;
	status = take_all(p);
	ended = pctl_chain_batch_commit(p->chain, p->call);
	return status != PCTL_OK ? status : ended;
}

/* ---- results ------------------------------------------------------------------------------ */

static pctl_status read_results(replay *p)
{
	pctl_block_result *results;
	uint32_t n;
	pctl_status status =
		pctl_block_read_results(&p->record, p->name, p->arena, p->call, &results, &n);

	p->results = pctl_map_create();
	if (status == PCTL_OK && p->results == NULL)
		return pctl_no_memory(p->call, "a replay");
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		char id[PCTL_JOB_TEXT_SIZE];

		if (!pctl_map_put(p->results, pctl_job_id_format(results[i].id, id), &results[i]))
			return pctl_no_memory(p->call, "a replay");
	}
	p->report->jobs += n;
	return status;
}

static int known(void *ctx, const uint8_t id[PCTL_DIGEST_BYTES], pctl_known_result *out)
{
	const replay *p = ctx;
	char text[PCTL_JOB_TEXT_SIZE];
	const pctl_block_result *r = pctl_map_get(p->results, pctl_job_id_format(id, text));

	if (r == NULL)
		return 0;
	*out = (pctl_known_result){r->status, 0, r->output, r->n_output};
	return 1;
}

/* ---- outputs that differ ------------------------------------------------------------------ */

/* What the reference gives: 1 it sides with the record, 2 with what was computed, 3 with neither, 0 it cannot say. */
static int ask_reference(replay *p, const pctl_task *task, const pctl_cid *recorded,
			 const pctl_cid *computed)
{
	pctl_task again = *task;
	pctl_cid cid;
	pctl_status status = PCTL_E_FAILED;

	if (p->o->reference == NULL)
		return 0;
	again.output = calloc(1, task->n_output == 0 ? 1 : (size_t)task->n_output);
	if (again.output != NULL)
		status = p->o->reference->run(p->o->reference->ctx, &again, 1, p->call);
	if (status == PCTL_OK)
		status = pctl_cid_of(again.output, again.n_output, p->call, &cid);
	free(again.output);
	if (status != PCTL_OK)
		return 0;
	return pctl_cid_compare(&cid, recorded) == 0   ? 1
	       : pctl_cid_compare(&cid, computed) == 0 ? 2
						       : 3;
}

/* "byte 12 is 00, recorded 01", as far as the recorded bytes are there. */
static void first_difference(replay *p, const pctl_task *task, const pctl_cid *recorded, char *out,
			     size_t n_out)
{
	const uint8_t *made = task->output;
	uint64_t at = 0;
	pctl_blob blob;

	if (pctl_store_get(pctl_chain_store(p->chain), recorded, NULL, &blob) != PCTL_OK) {
		snprintf(out, n_out, "the recorded bytes are not in the store");
		return;
	}
	while (at < blob.n_bytes && at < task->n_output && blob.data[at] == made[at])
		at++;
	if (at < blob.n_bytes && at < task->n_output)
		snprintf(out, n_out,
			 "the first byte that differs is %" PRIu64 ": recorded %02x, now %02x", at,
			 blob.data[at], made[at]);
	else
		snprintf(out, n_out, "recorded are %" PRIu64 " bytes, now %" PRIu64, blob.n_bytes,
			 task->n_output);
	pctl_blob_release(&blob);
}

static pctl_status compare_output(void *ctx, const pctl_chain_job *job, const pctl_task *task,
				  const pctl_cid *cid, const pctl_call *call)
{
	static const char *const sides[] = {
		"no reference was asked",
		"the reference sides with the record",
		"the reference sides with what was computed now",
		"the reference gives a third result",
	};
	replay *p = ctx;
	char id[PCTL_JOB_TEXT_SIZE], was[PCTL_CID_TEXT_SIZE], is[PCTL_CID_TEXT_SIZE], where[160];
	const pctl_block_result *r = pctl_map_get(p->results, pctl_job_id_format(job->id, id));

	p->report->executed++;
	if (r == NULL || r->status != PCTL_JOB_COMPLETE)
		return pctl_refuse(call, PC5863_BLOCK_KNOWN,
				   "%s: job %s runs, but its record has no output", p->name, id);
	if (pctl_cid_compare(&r->output, cid) == 0)
		return PCTL_OK;
	first_difference(p, task, &r->output, where, sizeof(where));
	return pctl_refuse(call, PC5855_BLOCK_OUTPUT, "%s: job %s: recorded is %s, now %s; %s; %s",
			   p->name, id, pctl_cid_format(&r->output, was), pctl_cid_format(cid, is),
			   where, sides[ask_reference(p, task, &r->output, cid)]);
}

static pctl_status compare_record(void *ctx, const pctl_block_record *record,
				  const pctl_gitlog_oid *commit, const pctl_call *call)
{
	replay *p = ctx;
	char was[PCTL_GITLOG_OID_TEXT_SIZE], is[PCTL_GITLOG_OID_TEXT_SIZE];
	pctl_status status = pctl_block_compare(p->name, &p->record, record, call);

	if (status == PCTL_OK && memcmp(commit, &p->commit, sizeof(*commit)) != 0)
		return pctl_refuse(call, PC5856_BLOCK_DIFFERS,
				   "%s: the files agree, but recorded is commit %s, made again %s",
				   p->name, pctl_gitlog_oid_format(&p->commit, was),
				   pctl_gitlog_oid_format(commit, is));
	return status;
}

/* ---- blocks ------------------------------------------------------------------------------- */

static pctl_status end_block(replay *p)
{
	const pctl_block_watch watch = {
		.output = p->runs && p->o->check ? compare_output : NULL,
		.record = compare_record,
		.ctx = p,
	};
	const pctl_request r = {
		.kind = PCTL_MSG_BLOCK_END,
		.as.block = {.height = p->header.height, .executor = p->header.executor}};
	pctl_status status;

	pctl_chain_set_known(p->chain, p->runs ? NULL : known, p);
	status = pctl_block_end(p->chain, &r, &watch, p->call, NULL);
	pctl_chain_set_known(p->chain, NULL, NULL);
	return status;
}

static pctl_status replay_block(replay *p, const pctl_history *h, uint64_t height)
{
	pctl_status status;

	snprintf(p->name, sizeof(p->name), "block %" PRIu64, height);
	p->commit = *pctl_history_commit(h, height);
	p->runs = height >= p->o->run_from;
	status = pctl_block_record_read(h->log, &p->commit, p->call, &p->record, &p->header);
	if (status == PCTL_OK && p->header.height != height)
		status = pctl_refuse(p->call, PC5853_BLOCK_RECORD,
				     "%s: its header says height %" PRIu64, p->name,
				     p->header.height);
	if (status == PCTL_OK)
		status = provide(p);
	if (status == PCTL_OK)
		status = take_messages(p);
	if (status == PCTL_OK)
		status = insist(p);
	if (status == PCTL_OK)
		status = read_results(p);
	if (status == PCTL_OK)
		status = end_block(p);
	pctl_map_destroy(p->results);
	p->results = NULL;
	pctl_block_record_clear(&p->record);
	p->report->blocks += status == PCTL_OK;
	return status;
}

static void tell(const pctl_chain_replay_options *o, uint64_t before, uint64_t height,
		 uint64_t started)
{
	const pctl_progress now = {.stage = o->check ? "verify" : "replay",
				   .unit = "blocks",
				   .done = height - before,
				   .total = o->to - before,
				   .elapsed_ns = pctl_clock_ns() - started};

	pctl_progress_tell(&o->progress, &now);
}

pctl_status pctl_replay(pctl_chain *c, const pctl_history *h, const pctl_chain_replay_options *o,
			const pctl_call *call, pctl_replay_report *report)
{
	replay p = {.chain = c, .o = o, .call = call, .report = report};
	const uint64_t started = pctl_clock_ns();
	pctl_block_row last;
	pctl_status status = pctl_blocks_last(pctl_cursor(c), call, &last);

	memset(report, 0, sizeof(*report));
	if (status == PCTL_OK && o->to > pctl_history_last(h))
		return pctl_refuse(call, PC5852_BLOCK_UNKNOWN,
				   "no block %" PRIu64 ", the history has %" PRIu64, o->to,
				   pctl_history_last(h));
	if (status == PCTL_OK && last.height < o->to)
		status = reach_back(h, last.height + 1, call);
	for (uint64_t height = last.height + 1; status == PCTL_OK && height <= o->to; height++) {
		p.arena = pctl_arena_create();
		status = p.arena == NULL ? pctl_no_memory(p.call, "a replay")
					 : replay_block(&p, h, height);
		pctl_arena_destroy(p.arena);
		if (status == PCTL_OK)
			tell(o, last.height, height, started);
		if (status == PCTL_OK && pctl_is_cancelled(call))
			status = pctl_refuse(call, PC4_CANCELLED, "cancelled while replaying");
	}
	return status;
}
