/* What logits a generation's tokens were chosen from: each sequence's, hashed as they come, for its statement (statement.h). */
#ifndef PIPECTL_MODEL_GENERATE_HASHES_H
#define PIPECTL_MODEL_GENERATE_HASHES_H

#include "runtime/cas/cid.h"

typedef struct pctl_logit_hashes pctl_logit_hashes;

pctl_status pctl_logit_hashes_begin(uint32_t sequences, const pctl_call *call,
				    pctl_logit_hashes **out);
/* n logits of the next token of a sequence. What goes wrong is told by the end. */
void pctl_logit_hashes_add(pctl_logit_hashes *w, uint32_t sequence, const float *logits,
			   uint64_t n);
/* The CID of all that was seen of each sequence, which live as long as `w`; once. */
pctl_status pctl_logit_hashes_end(pctl_logit_hashes *w, const pctl_call *call,
				  const pctl_cid **out);
void pctl_logit_hashes_destroy(pctl_logit_hashes *w); /* NULL is fine */

#endif
