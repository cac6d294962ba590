/* Messages admitted between two blocks; see check.h. */
#include "chain/engine/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/state/amount.h"
#include "foundation/base/map.h"

#define SENDERS_MAX 65536u /* that are remembered between two blocks */

/* Of one sender: the number that his next message has, and what those before it take. */
typedef struct sent {
	uint64_t next, taken;
} sent;

struct pctl_checker {
	pctl_arena *arena;
	pctl_map *senders; /* to a `sent` in the arena */
	char text[PCTL_DECIDE_TEXT_SIZE];
	pctl_decide_refusal *refused; /* code 0: a free place */
	uint32_t next_refused, reserved;
};

pctl_status pctl_checker_open(const pctl_call *call, pctl_checker **out)
{
	pctl_checker *k = calloc(1, sizeof(*k));

	*out = NULL;
	if (k == NULL)
		return pctl_no_memory(call, "a checker");
	k->arena = pctl_arena_create();
	k->senders = pctl_map_create();
	k->refused = calloc(PCTL_CHECK_REFUSED_MAX, sizeof(*k->refused));
	if (k->arena == NULL || k->senders == NULL || k->refused == NULL) {
		pctl_checker_close(k);
		return pctl_no_memory(call, "a checker");
	}
	*out = k;
	return PCTL_OK;
}

void pctl_checker_close(pctl_checker *k)
{
	if (k == NULL)
		return;
	pctl_map_destroy(k->senders);
	pctl_arena_destroy(k->arena);
	free(k->refused);
	free(k);
}

pctl_status pctl_checker_forget(pctl_checker *k, const pctl_call *call)
{
	pctl_map *senders = pctl_map_create();

	if (senders == NULL)
		return pctl_no_memory(call, "a checker");
	pctl_map_destroy(k->senders);
	k->senders = senders;
	pctl_arena_clear(k->arena);
	return PCTL_OK;
}

/* His further messages wait for the next block where there is no place for another sender. */
static pctl_status remember(pctl_checker *k, const pctl_admission *a, const pctl_call *call)
{
	sent *s = pctl_map_get(k->senders, a->sender);

	if (s == NULL && pctl_map_count(k->senders) == SENDERS_MAX)
		return PCTL_OK;
	if (s == NULL) {
		s = pctl_arena_alloc(k->arena, sizeof(*s));
		if (s == NULL || !pctl_map_put(k->senders, a->sender, s))
			return pctl_no_memory(call, "a message");
		*s = (sent){.next = 0};
	}
	s->next = a->nonce + 1;
	if (!pctl_amount_add(&s->taken, a->takes))
		s->taken = UINT64_MAX;
	return PCTL_OK;
}

/* Who sent it, where the bytes say so. */
static const sent *sent_by(const pctl_checker *k, const pctl_msg_bytes *m)
{
	static const sent none;
	const sent *s = NULL;
	pctl_request r;

	if (pctl_map_count(k->senders) == 0 ||
	    pctl_request_decode(m->data, m->n, NULL, &r) != PCTL_OK)
		return &none;
	if (pctl_request_sender(&r) != NULL)
		s = pctl_map_get(k->senders, pctl_request_sender(&r));
	pctl_request_destroy(&r);
	return s == NULL ? &none : s;
}

pctl_status pctl_check(pctl_checker *k, pctl_chain *reader, const pctl_msg_bytes *message,
		       const pctl_call *call, pctl_decided_result *out)
{
	const sent *before = sent_by(k, message);
	pctl_admission a;
	pctl_response r;
	pctl_status status = pctl_chain_admit_bytes(reader, message->data, message->n, before->next,
						    before->taken, call, &a, &r);

	*out = (pctl_decided_result){.text = ""};
	if (status != PCTL_OK)
		return status;
	if (r.kind == PCTL_MSG_ERROR) {
		snprintf(k->text, sizeof(k->text), "%s", r.as.error.message);
		out->code = r.as.error.code;
		out->text = k->text;
	} else {
		out->gas_wanted = a.gas;
		status = remember(k, &a, call);
	}
	pctl_response_destroy(&r);
	return status;
}

/* ---- what no block will have ---------------------------------------------------------------- */

void pctl_checker_refused(pctl_checker *k, const pctl_decide_refusal *refused, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		k->refused[k->next_refused++ % PCTL_CHECK_REFUSED_MAX] = refused[i];
}

pctl_status pctl_check_refused(pctl_checker *k, const pctl_msg_bytes *message, int is_again,
			       const pctl_call *call, pctl_decided_result *out, int *found)
{
	pctl_cid digest;
	pctl_status status = PCTL_OK;

	*found = 0;
	*out = (pctl_decided_result){.text = ""};
	if (k->next_refused == 0)
		return PCTL_OK;
	status = pctl_cid_of(message->data, message->n, call, &digest);
	for (uint32_t i = 0; status == PCTL_OK && i < PCTL_CHECK_REFUSED_MAX; i++) {
		pctl_decide_refusal *r = &k->refused[i];

		if (r->code == 0 || memcmp(r->digest, digest.digest, sizeof(r->digest)) != 0)
			continue;
		if (!is_again) {
			r->code = 0;
			continue;
		}
		*found = 1;
		out->code = r->code;
		out->text = r->text;
		break;
	}
	return status;
}
