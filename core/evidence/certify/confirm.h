/* A claim tried here: a sample of a certificate that names other files is run again with the files that are here, and when
 * no digest differs the certificate is made one of these files, signed by this home. */
#ifndef PIPECTL_EVIDENCE_CERTIFY_CONFIRM_H
#define PIPECTL_EVIDENCE_CERTIFY_CONFIRM_H

#include "evidence/certify/replay.h"

/*
 * Run the sample of *c in the context of o, whose device must be the one that c is of, driven by a plugin of the id that c
 * names. On PCTL_OK c's head names the device, files and kit of the context, and c->confirmed what was done; it is not
 * written. What is not run again is believed to whoever signed c: the caller asks whether it is trusted.
 *
 * Errors: PC5541 (c is of another device, plugin or kit), those of pctl_certify_replay.
 */
pctl_status pctl_certify_confirm(pctl_certificate *c, const pctl_certify_replay_options *o,
				 const pctl_call *call, pctl_replay_outcome *out);

#endif
