/* How outputs of blocks stand, which is this node's own knowledge: it enters no record, no root and no state, only the
 * receipt that the node signs and the notes by CID that runs read. */
#include <stdlib.h>

#include "chain/chain_private.h"

void pctl_chain_evidence_end(pctl_chain *c)
{
	for (uint32_t i = 0; c->evidence != NULL && i < pctl_map_count(c->evidence); i++)
		free(pctl_map_value_at(c->evidence, i));
	pctl_map_destroy(c->evidence);
	c->evidence = NULL;
}

pctl_status pctl_chain_evidence_begin(pctl_chain *c, const pctl_call *call)
{
	pctl_chain_evidence_end(c);
	c->evidence = pctl_map_create();
	return c->evidence != NULL ? PCTL_OK : pctl_no_memory(call, "a block");
}

/* What is verified needs no note, unless one says less of these bytes. */
pctl_status pctl_chain_evidence_put(pctl_chain *c, const uint8_t job[PCTL_DIGEST_BYTES],
				    const pctl_cid *output, pctl_evidence e, const pctl_call *call)
{
	pctl_evidence *kept = malloc(sizeof(*kept)), known;
	char hex[2 * PCTL_DIGEST_BYTES + 1];

	if (kept == NULL || !pctl_map_put(c->evidence, pctl_digest_hex(job, hex), kept)) {
		free(kept);
		return pctl_no_memory(call, "a block");
	}
	*kept = e;
	if (c->made == NULL || output == NULL ||
	    (e.kind == PCTL_EVIDENCE_VERIFIED && !pctl_memo_made(c->made, output, &known)))
		return PCTL_OK;
	return pctl_memo_made_put(c->made, output, job, e, call);
}

pctl_evidence pctl_chain_evidence_of(const pctl_chain *c, const pctl_cid *cid)
{
	pctl_evidence known;

	return c->made != NULL && pctl_memo_made(c->made, cid, &known)
		       ? known
		       : (pctl_evidence){.kind = PCTL_EVIDENCE_VERIFIED};
}

pctl_evidence pctl_chain_evidence(const pctl_chain *c, const uint8_t job[PCTL_DIGEST_BYTES])
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	const pctl_evidence *e =
		c->evidence == NULL ? NULL : pctl_map_get(c->evidence, pctl_digest_hex(job, hex));

	return e != NULL ? *e : (pctl_evidence){.kind = PCTL_EVIDENCE_NONE};
}
