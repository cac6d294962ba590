/* A proof as a client asks for one: on which device, kept where, with which inputs that failed before, and the certificate
 * that comes of it. */
#ifndef PIPECTL_HOST_CERTIFY_H
#define PIPECTL_HOST_CERTIFY_H

#include "evidence/certify/context.h"
#include "evidence/certify/run.h"
#include "host/installation.h"

/* What a level asks for where nobody says otherwise. */
#define PCTL_CERTIFY_CASES (1u << 20)
#define PCTL_CERTIFY_PROGRAMS 64u

/*
 * selector  the device, NULL: the one that the policy prefers
 * dir       where journals are kept and the certificate is written; NULL: a directory in the home that the parameters name,
 *           away with it when the certificate is in the home
 * sharded   1: `shard` of several; no certificate is made
 * shapes    seed of the shapes of runs, NULL: drawn
 * flags     PCTL_CERTIFY_DEBUG
 */
typedef struct pctl_certify_request {
	pctl_proof_params params;
	pctl_shard shard;
	const char *selector, *dir;
	const uint64_t *shapes;
	uint32_t sharded, resume, flags, reserved;
	pctl_progress_sink progress;
} pctl_certify_request;

/* certificate: NULL when sharded. Texts are the installation's. */
typedef struct pctl_certified {
	const char *selector, *dir;
	pctl_certificate *certificate;
	pctl_certify_outcome outcome;
} pctl_certified;

/* The device that the policy prefers among those that compute; its selector in the installation's arena. PC5207. */
pctl_status pctl_certify_device(pctl_installation *in, const pctl_call *call, const char **out);

/* Inputs that failed before: of the proof in `dir` (NULL: all that are known), and the file where new ones are added. */
pctl_status pctl_certify_regressions(pctl_installation *in, const char *dir, const pctl_call *call,
				     const char *const **out, uint32_t *n, const char **file);

/* A context for these parameters; selector NULL: to make plans only. `call` is that of the sessions. */
pctl_status pctl_host_proof_context(pctl_installation *in, const char *selector,
				    const pctl_proof_params *params, const char *const *regressions,
				    uint32_t n_regressions, uint32_t flags, const uint64_t *shapes,
				    const pctl_call *call, pctl_proof_context **out);

/* Prove. PCTL_OK when the proof was run to its end, whatever it shows; also with an error *out is what there is. */
pctl_status pctl_certify(pctl_installation *in, const pctl_certify_request *q,
			 const pctl_call *call, pctl_certified *out);
void pctl_certified_clear(pctl_certified *c);

/* A certificate of the journals in `dir`, signed and written to `path`; NULL: into the directory, home 1: into the home. */
pctl_status pctl_certificate_make(pctl_installation *in, const char *dir, const char *path,
				  int home, const pctl_call *call, pctl_certificate **out);

/* What was proved means: PC5521 (a case failed), PC5520 (less than was asked for), of a shard PC5521 and PC5522. */
pctl_status pctl_certified_judge(const pctl_certified *c, const pctl_call *call);
pctl_status pctl_certificate_judge(const pctl_certificate *c, const pctl_call *call);

#endif
