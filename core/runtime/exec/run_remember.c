/* Remembering jobs. A job's record names what went in and what came out by CID, so an intermediate result is stored where its
 * record could answer under the policy in force, up to the policy's `memo_bytes` a run; a device's unchecked one is not even
 * read for it. A job whose inputs have no CID is not remembered: it hangs on what will be computed again. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "runtime/exec/run_private.h"

int pctl_run_remembers(const pctl_running *r)
{
	return r->o->memo != NULL && r->o->observe == NULL && r->o->policy->memo != PCTL_MEMO_OFF &&
	       !(r->o->flags & PCTL_RUN_FRESH);
}

int pctl_run_is_output(const pctl_running *r, const pctl_run_node *n, uint32_t port)
{
	for (uint32_t i = 0; i < r->graph->pipeline->n_outputs; i++)
		if (r->graph->outputs[i].job == (uint32_t)(n - r->nodes) &&
		    r->graph->outputs[i].port == port)
			return 1;
	return 0;
}

/* Will all its inputs have CIDs when the run ends. */
static int is_keyed(const pctl_running *r, const pctl_run_node *n)
{
	for (uint32_t i = 0; i < n->node->n_in; i++) {
		const pctl_source s = n->node->in[i];
		const pctl_run_node *maker = s.job == PCTL_FROM_INPUT ? NULL : &r->nodes[s.job];

		if (maker == NULL || maker->recalled != NULL || maker->kept ||
		    pctl_run_is_output(r, maker, s.port))
			continue;
		if (!pctl_run_is_within(r, maker) || !is_keyed(r, maker))
			return 0;
	}
	return 1;
}

pctl_status pctl_run_keep(pctl_running *r, pctl_run_node *n)
{
	const uint64_t most = r->o->policy->memo_bytes;
	uint64_t sum = r->kept_bytes;
	pctl_status status = PCTL_OK;
	const uint8_t *held;

	/* A backend that a script makes wrong is remembered nowhere. */
	const pctl_plugin_info *plugin = pctl_session_plugin(n->session);

	if (plugin == NULL || plugin->selects)
		return PCTL_OK;
	if (!pctl_run_remembers(r) || n->trusted || !is_keyed(r, n) ||
	    !pctl_run_suffices(r, n, n->evidence))
		return PCTL_OK;
	for (uint32_t i = 0; i < n->node->n_out; i++)
		if (n->users[i] != 0 && !pctl_run_is_output(r, n, i) &&
		    !pctl_num_add(sum, n->out_bytes[i], &sum))
			return PCTL_OK;
	if (most != 0 && sum > most)
		return PCTL_OK;
	for (uint32_t i = 0; status == PCTL_OK && i < n->node->n_out; i++)
		if (n->users[i] != 0 && !pctl_run_is_output(r, n, i))
			status = pctl_value_hold(n->values[i], r->call, &held);
	if (status == PCTL_OK) {
		r->kept_bytes = sum;
		n->kept = 1;
	}
	return status;
}

/* ---- records ------------------------------------------------------------------------------ */

/* 1: the key of the job says what it read: by CID, or by the question that a job of its own group would answer. */
static int is_named(const pctl_running *r, const pctl_run_node *n)
{
	for (uint32_t i = 0; i < n->node->n_in; i++) {
		const pctl_source s = n->node->in[i];
		const pctl_run_node *maker = s.job == PCTL_FROM_INPUT ? NULL : &r->nodes[s.job];

		if (maker != NULL && !maker->known[s.port] &&
		    (maker->group == NULL || maker->group != n->group || !is_named(r, maker)))
			return 0;
	}
	return 1;
}

static int copy(char *to, size_t cap, const char *text)
{
	if (text == NULL || strlen(text) >= cap)
		return 0;
	memcpy(to, text, strlen(text) + 1);
	return 1;
}

/* What its kernels needed and were. 0: that they do not race was only trusted, which is never remembered. */
static int describe(const pctl_running *r, const pctl_run_node *n, pctl_memo_record *record)
{
	record->determinism = n->canonical->determinism;
	record->proven = n->canonical->race == PCTL_PROOF_PROVEN;
	for (uint32_t i = 0; i < n->canonical->n_steps; i++)
		record->kernels += n->canonical->steps[i].kind == PCTL_STEP_KERNEL;
	(void)pctl_num_add(n->canonical->buffer_bytes, pctl_run_second_bytes(n, n->canonical),
			   &record->memory);
	record->peak = pctl_run_peak_bytes(n, n->canonical);
	record->gas = n->gas;
	record->size_gas = n->size_gas;
	record->evidence = n->own;
	return record->proven || r->o->policy->race != PCTL_RACE_TRUSTED;
}

/* 0: one that somebody needs has no CID. */
static int name_outputs(pctl_running *r, const pctl_run_node *n, pctl_memo_record *record)
{
	for (uint32_t i = 0; i < n->node->n_out; i++) {
		pctl_memo_output *to = &record->outputs[record->n_outputs];

		if (!n->known[i] && !n->needed[i])
			continue;
		if (!n->known[i] || record->n_outputs == PCTL_MEMO_OUTPUTS_MAX ||
		    !copy(to->name, sizeof(to->name), pctl_node_out_name(n->node, i)) ||
		    !copy(to->type, sizeof(to->type), pctl_type_text(r->result->arena, &n->out[i])))
			return 0;
		to->cid = n->cid[i];
		to->n_bytes = n->out_bytes[i];
		record->n_outputs++;
	}
	return record->n_outputs != 0;
}

/* A stronger answer that still holds is not given up for a weaker one. */
static int is_weaker(pctl_running *r, const pctl_run_node *n, const uint8_t key[PCTL_DIGEST_BYTES],
		     const pctl_memo_record *record)
{
	pctl_memo_record *old = calloc(1, sizeof(*old));
	const int weaker = old != NULL && pctl_memo_get(r->o->memo, key, old) &&
			   pctl_evidence_compare(record->evidence, old->evidence) < 0 &&
			   pctl_run_void_reason(r, n, old) == NULL;

	free(old);
	return weaker;
}

void pctl_run_remember(pctl_running *r)
{
	pctl_memo_record *record = malloc(sizeof(*record));

	for (uint32_t i = 0; i < r->graph->n_nodes; i++)
		r->nodes[i].has_key = 0;
	for (uint32_t i = 0; record != NULL && i < r->result->n_jobs; i++) {
		pctl_run_node *n = &r->nodes[r->graph->order[i]];
		uint8_t key[PCTL_DIGEST_BYTES];
		uint32_t known = 0;

		memset(record, 0, sizeof(*record));
		if (n->recalled != NULL || n->spared || pctl_run_is_within(r, n) || n->trusted ||
		    !is_named(r, n) || !describe(r, n, record) || !name_outputs(r, n, record) ||
		    !pctl_run_name_plugins(r, n, record) ||
		    pctl_run_job_key(r, n, key, &known) != PCTL_OK || !known ||
		    is_weaker(r, n, key, record))
			continue;
		record->wall_ns = r->result->jobs[i].stats.wall_ns;
		/* A lost record only costs time. */
		(void)pctl_memo_put(r->o->memo, key, record, NULL);
	}
	free(record);
}
