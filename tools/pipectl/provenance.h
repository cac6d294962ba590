/* Printing a causal history: as a tree, for Graphviz, as JSON. */
#ifndef PIPECTL_TOOLS_PROVENANCE_H
#define PIPECTL_TOOLS_PROVENANCE_H

#include "app.h"
#include "chain/provenance/provenance.h"

/* verdicts: of pctl_provenance_verify, one a step, or NULL. PC2 for lack of memory. */
pctl_status pctl_app_print_history(pctl_app *app, const pctl_provenance *p,
				   const uint32_t *verdicts);
void pctl_app_print_history_dot(const pctl_provenance *p);
pctl_status pctl_app_print_history_json(pctl_app *app, const pctl_provenance *p,
					const uint32_t *verdicts);

/* The history as a picture into a file. */
pctl_status pctl_app_history_svg(pctl_app *app, const pctl_provenance *h, const char *path);

/* Uploads, names, links and deprecation that touch a name (a CID, "alias:NAME", "account:NAME"), at most so many. */
pctl_status pctl_app_print_decisions(pctl_app *app, pctl_chain_state *s, const char *name,
				     uint32_t most);

/* The blobs of the causal histories of some names, for an archive; released with free(). */
pctl_status pctl_app_history_cids(pctl_app *app, const pctl_cid *of, uint32_t n_of, pctl_cid **out,
				  uint32_t *n_out);

#endif
