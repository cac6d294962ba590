/* What logits a generation's tokens were chosen from: each sequence's, hashed as they come, for its statement (statement.h). */
#ifndef PIPECTL_MODEL_GENERATE_WITNESS_H
#define PIPECTL_MODEL_GENERATE_WITNESS_H

#include "runtime/cas/cid.h"

typedef struct pctl_witness pctl_witness;

pctl_status pctl_witness_begin(uint32_t sequences, const pctl_call *call, pctl_witness **out);
/* n logits of the next token of a sequence. What goes wrong is told by the end. */
void pctl_witness_see(pctl_witness *w, uint32_t sequence, const float *logits, uint64_t n);
/* The CID of all that was seen of each sequence, which live as long as `w`; once. */
pctl_status pctl_witness_end(pctl_witness *w, const pctl_call *call, const pctl_cid **out);
void pctl_witness_destroy(pctl_witness *w); /* NULL is fine */

#endif
