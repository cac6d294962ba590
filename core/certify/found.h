/* Certificates in directories: found, judged, and asked which level an op holds on a device. */
#ifndef PIPECTL_CERTIFY_FOUND_H
#define PIPECTL_CERTIFY_FOUND_H

#include "certify/certificate.h"
#include "policy/profiles.h"

/*
 * One certificate whose signature is valid and that does not contradict itself.
 *
 * trusted  1: signed with this home's key, or one of those that came with the installation
 * note     "" or why it tells less than it did: the device's profile is revoked, or the probe kit is another one
 */
typedef struct pctl_found_certificate {
	pctl_certificate *c;
	const char *note;
	uint32_t trusted, reserved;
} pctl_found_certificate;

typedef struct pctl_found {
	pctl_arena *arena;
	pctl_found_certificate *items; /* by path */
	uint32_t n;
	uint32_t n_refused; /* files NAME.cfg that are no valid certificates */
	const char *home;
} pctl_found;

/* Look through dirs and the directories in them for files NAME.cfg; directories that are not there are passed over.
 * Errors: PC0002. */
pctl_status pctl_found_open(pctl_profiles *profiles, const char *home, const char *const *dirs,
			    uint32_t n, const pctl_call *call, pctl_found **out);
void pctl_found_close(pctl_found *f);

/*
 * The highest level of `track` that trusted certificates without a note give `op` ("int.add@1") on the device with
 * these identity facts; 0: none.
 */
uint32_t pctl_found_level(const pctl_found *f, const char *op, uint32_t track,
			  const pctl_key_value *identity, uint32_t n_identity);

#endif
