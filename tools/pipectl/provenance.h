/* Printing a causal history: as a tree, for Graphviz, as JSON. */
#ifndef PIPECTL_TOOLS_PROVENANCE_H
#define PIPECTL_TOOLS_PROVENANCE_H

#include "app.h"
#include "chain/provenance.h"

/* verdicts: of pctl_provenance_verify, one a step, or NULL. PC2 for lack of memory. */
pctl_status pctl_app_print_history(pctl_app *app, const pctl_provenance *p,
				   const uint32_t *verdicts);
void pctl_app_print_history_dot(const pctl_provenance *p);
pctl_status pctl_app_print_history_json(pctl_app *app, const pctl_provenance *p,
					const uint32_t *verdicts);

/* The blobs of the causal histories of some names, for an archive; released with free(). */
pctl_status pctl_app_history_cids(pctl_app *app, const pctl_cid *of, uint32_t n_of, pctl_cid **out,
				  uint32_t *n_out);

#endif
