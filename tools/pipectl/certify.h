/* What the verbs of proofs and certificates share. */
#ifndef PIPECTL_TOOLS_CERTIFY_H
#define PIPECTL_TOOLS_CERTIFY_H

#include "app.h"
#include "evidence/certify/context.h"
#include "evidence/certify/found.h"

/* The context of proofs for a certificate's or a command line's parameters on `selector` (NULL: for plans only). */
pctl_status pctl_app_proof_context(pctl_app *app, const char *selector,
				   const pctl_proof_params *params, const char *const *regressions,
				   uint32_t n_regressions, const pctl_call *call,
				   pctl_proof_context **out);

/* What a certificate says in one line a fact, or as members of an open JSON object. full: its units too. */
void pctl_app_print_certificate(pctl_app *app, const pctl_certificate *c, int full);

/* The device whose name and driver the certificate has, among those of `backend` (NULL: of all), as --backend takes it; NULL: it is not here. */
pctl_status pctl_certificate_device(pctl_app *app, const pctl_certificate *c, const char *backend,
				    const char **out);

/* --sample in millionths; 1000000 where it is left out. */
pctl_status pctl_app_sample(pctl_app *app, uint32_t *ppm);

#endif
