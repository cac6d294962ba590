/* Messages that no block will have: what was refused for one block, for nothing, is tried again alone for the next, and then known. */
#include <stdio.h>
#include <string.h>

#include "chain/engine/decide_private.h"

static int is_same(const uint8_t *a, const uint8_t *b)
{
	return memcmp(a, b, PCTL_DIGEST_BYTES) == 0;
}

static pctl_decide_suspect *find(pctl_decider *d, const uint8_t digest[PCTL_DIGEST_BYTES])
{
	for (uint32_t i = 0; i < PCTL_DECIDE_SUSPECTS_MAX; i++)
		if (d->suspects[i].height != 0 && is_same(d->suspects[i].digest, digest))
			return &d->suspects[i];
	return NULL;
}

/* The oldest makes room: it is suspected again when it is refused again. */
pctl_status pctl_decide_suspected(pctl_decider *d, const pctl_msg_bytes *m, const pctl_call *call)
{
	pctl_decide_suspect *s;
	pctl_cid digest;
	pctl_status status = pctl_cid_of(m->data, m->n, call, &digest);

	if (status != PCTL_OK || find(d, digest.digest) != NULL)
		return status;
	s = &d->suspects[d->next_suspect++ % PCTL_DECIDE_SUSPECTS_MAX];
	memcpy(s->digest, digest.digest, sizeof(s->digest));
	s->height = d->last.height + 1;
	return PCTL_OK;
}

static void note(pctl_decider *d, const uint8_t digest[PCTL_DIGEST_BYTES],
		 const pctl_decided_result *r)
{
	pctl_decide_refusal *to = &d->refused[d->n_refused++];

	*to = (pctl_decide_refusal){.code = r->code};
	memcpy(to->digest, digest, sizeof(to->digest));
	snprintf(to->text, sizeof(to->text), "%s", r->text);
}

pctl_status pctl_decide_try_again(pctl_decider *d, const pctl_msg_bytes *m, const pctl_call *call,
				  int *is_out)
{
	pctl_decide_suspect *s;
	pctl_decided_result r;
	uint8_t job[PCTL_DIGEST_BYTES];
	pctl_cid digest;
	pctl_status status;

	*is_out = 0;
	if (d->n_refused == PCTL_DECIDE_REFUSED_MAX)
		return PCTL_OK;
	status = pctl_cid_of(m->data, m->n, call, &digest);
	s = status == PCTL_OK ? find(d, digest.digest) : NULL;
	/* Of this very block it was suspected, too, when its proposer is asked again. */
	if (s == NULL || s->height == d->last.height + 1)
		return status;
	status = pctl_decide_attempt_begin(d, call);
	if (status == PCTL_OK)
		status = pctl_decide_attempt_end(d, pctl_decide_take(d, m, call, &r, job), call);
	if (status != PCTL_OK)
		return status;
	s->height = 0;
	*is_out = r.code != 0 && r.paid == 0;
	if (*is_out)
		note(d, digest.digest, &r);
	return PCTL_OK;
}

const pctl_decide_refusal *pctl_decide_refused(pctl_decider *d, uint32_t *n)
{
	*n = d->n_refused;
	d->n_refused = 0;
	return d->refused;
}
