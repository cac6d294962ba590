/* The limits of one device as a record: what a probe saw of it, signed, kept beside the device's profile and found again by
 * the same key. It is a file of its own, so that a better search makes no profile and no certificate stale. */
#ifndef PIPECTL_RUNTIME_DEVICE_LIMITS_RECORD_H
#define PIPECTL_RUNTIME_DEVICE_LIMITS_RECORD_H

#include "foundation/record/record.h"
#include "runtime/device/limits.h"
#include "runtime/device/profile.h"

/* Version of the search, of its bounds and of the table of known drivers. A record made by another one is stale. */
#define PCTL_LIMITS_KIT "limits-2"

/*
 * One record.
 *
 * limits    what is right there at most; 0: nothing went wrong up to where the probe looks
 * slow      bit e: extent e ends where the device took too long to be asked for more, not where it was wrong
 * searched  0: the table's rows were rechecked and hold
 * ms        how long that took
 * key       of the profile of the device with the files it runs on (profile.h)
 * device    as the driver calls it, for people
 * signer, path  as in profile.h
 */
typedef struct pctl_limits_record {
	pctl_extent_limits limits;
	uint32_t slow;
	uint32_t searched;
	uint64_t ms;
	pctl_cid key;
	char device[PCTL_NAME_MAX];
	char signer[PCTL_PUBLIC_KEY_TEXT];
	char path[4096];
} pctl_limits_record;
extern const pctl_record_type pctl_limits_type;

/* Sign and write DIR/<key>.limits.cfg, whole or not at all; r->signer and r->path are set. `device` is for people. */
pctl_status pctl_limits_write(pctl_limits_record *r, const char *device, const char *dir,
			      const pctl_signer *signer, const pctl_call *call);

/* Errors: PC5012 (signature), PC4330 (not a record of this kit, or a value is missing). */
pctl_status pctl_limits_read(const char *path, const pctl_call *call, pctl_limits_record *out);

/* The record of r->key in dirs[0 .. n), signed by one of `trusted`; 1 and *r complete when there is one. Of one that cannot be
 * used a warning is given. */
int pctl_limits_find(pctl_limits_record *r, const char *const *dirs, uint32_t n,
		     const char *const *trusted, uint32_t n_trusted, const pctl_call *call);

#endif
