/* Logits hashed as they come; see hashes.h. */
#include "model/generate/hashes.h"

#include <stdlib.h>

#include "foundation/diag/diag.h"

struct pctl_logit_hashes {
	pctl_hasher **hashers;
	pctl_cid *cids;
	uint32_t n, failed;
};

pctl_status pctl_logit_hashes_begin(uint32_t sequences, const pctl_call *call,
				    pctl_logit_hashes **out)
{
	pctl_logit_hashes *w = calloc(1, sizeof(*w));
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (w == NULL)
		return pctl_no_memory(call, "logits");
	w->hashers = calloc(sequences + 1ull, sizeof(pctl_hasher *));
	w->cids = calloc(sequences + 1ull, sizeof(*w->cids));
	w->n = sequences;
	if (w->hashers == NULL || w->cids == NULL)
		status = pctl_no_memory(call, "logits");
	for (uint32_t i = 0; status == PCTL_OK && i < sequences; i++)
		status = pctl_hasher_create(call, &w->hashers[i]);
	if (status == PCTL_OK)
		*out = w;
	else
		pctl_logit_hashes_destroy(w);
	return status;
}

void pctl_logit_hashes_add(pctl_logit_hashes *w, uint32_t sequence, const float *logits, uint64_t n)
{
	if (sequence < w->n)
		w->failed |= pctl_hasher_update(w->hashers[sequence], logits,
						n * sizeof(*logits)) != PCTL_OK;
}

pctl_status pctl_logit_hashes_end(pctl_logit_hashes *w, const pctl_call *call, const pctl_cid **out)
{
	*out = w->cids;
	for (uint32_t i = 0; i < w->n; i++) {
		w->failed |= pctl_hasher_finish(w->hashers[i], &w->cids[i]) != PCTL_OK;
		w->hashers[i] = NULL;
	}
	return w->failed ? pctl_refuse(call, PC1_INTERNAL, "logits could not be hashed") : PCTL_OK;
}

void pctl_logit_hashes_destroy(pctl_logit_hashes *w)
{
	if (w == NULL)
		return;
	for (uint32_t i = 0; w->hashers != NULL && i < w->n; i++)
		pctl_hasher_destroy(w->hashers[i]);
	free(w->hashers);
	free(w->cids);
	free(w);
}
