/* The profiles of this host: found by the device's identity in the home and in certs/, made by a probe when there is
 * none, revoked with a cause when a whole kernel showed that the probe missed something. */
#ifndef PIPECTL_RUNTIME_DEVICE_PROFILES_H
#define PIPECTL_RUNTIME_DEVICE_PROFILES_H

#include "compiler/legalize/legal.h"
#include "runtime/device/limits_record.h"
#include "runtime/device/optional.h"
#include "runtime/device/probe.h"
#include "runtime/device/tuning_record.h"

typedef struct pctl_profiles pctl_profiles;

/*
 * home       profiles made here are kept in HOME/profiles, the key that signs them in HOME/keys
 * certs      directories with profiles/ and keys/ (files NAME.pub, a public key as hex, whose profiles are
 *            believed); those that are not there are passed over
 * probing    told before a device is probed, for a line on the terminal; may be NULL
 */
typedef struct pctl_profiles_options {
	const char *home;
	const char *const *certs;
	uint32_t n_certs;
	uint32_t reserved;
	void (*probing)(void *ctx, const char *device);
	void *ctx;
} pctl_profiles_options;

/* Nothing is read or made before it is needed. Errors: PCTL_E_NOMEM. */
pctl_status pctl_profiles_open(const pctl_profiles_options *o, const pctl_call *call,
			       pctl_profiles **out);
void pctl_profiles_close(pctl_profiles *p);

#define PCTL_PROFILES_FRESH 1u /* probe although there is a valid one, and lift a revocation */

/* An opened device, as exec or `device probe` has it. `name` is for messages. */
typedef struct pctl_profiled_device {
	const pctl_backend *table;
	pctl_device *dev;
	const pctl_device_caps *caps;
	const pctl_key_value *identity;
	uint32_t n_identity;
	uint32_t roles; /* PCTL_ROLE_* */
	const char *name;
	const char *device, *driver; /* as the driver calls them */
	const char *files, *drivers; /* pctl_backend_instance_files; NULL: of no plugin */
} pctl_profiled_device;

/*
 * The profile of this device: remembered, or made now and kept. One that this home signed was made here. A trusted one of
 * somebody else is a claim, and so is one of the same device and driver files with another build of the plugin: its verdicts
 * are taken when a short check (pctl_probe_claim) agrees, with a warning PC4333 and a probe in full when it does not. No
 * claim, no claim of the same driver files: the device is probed in full. *out is the caller's, of size one record.
 *
 * Errors: PC4332 (revoked, with the cause), PC4331 (the probe did not end), PC5011 (no key to sign with).
 */
pctl_status pctl_profiles_obtain(pctl_profiles *p, const pctl_profiled_device *d, uint32_t flags,
				 const pctl_call *call, pctl_profile_record *out);

/*
 * The limits of this device: found by its key (what this home signed as it is; of others' a few limits are checked, with a
 * warning PC4333 where they do not hold), else known and rechecked, or searched for now, and kept (some seconds; out->path
 * is "" where nothing was kept before). A search that costs the device keeps what it saw, so that it is not lost again, and
 * is no error: whoever has work on the device has another one searched (pctl_backend_instance_twin).
 * With PCTL_PROFILES_KEPT nothing is asked of the device, and *out has no limit when none is kept; what others signed can only
 * be a limit more then, and out->path is "".
 *
 * Errors: PC4331 (the probe did not end), PC5011 (no key to sign with).
 */
#define PCTL_PROFILES_KEPT 2u
pctl_status pctl_profiles_limits(pctl_profiles *p, const pctl_profiled_device *d, uint32_t flags,
				 const pctl_call *call, pctl_limits_record *out);

/*
 * What is known of operations that a device may have of its own (optional.h): what earlier processes kept, without a verdict
 * where nothing is; nothing is asked of the device. And: keep what is known now.
 *
 * Errors: PC5011 (no key to sign with).
 */
pctl_status pctl_profiles_optional(pctl_profiles *p, const pctl_profiled_device *d, uint32_t flags,
				   const pctl_call *call, pctl_optional_record *out);
pctl_status pctl_profiles_keep_optional(pctl_profiles *p, pctl_optional_record *r,
					const pctl_call *call);

/*
 * The tunables of this device, found by its key where this home made them: *found 1. Nothing is asked of the device; a record that was made
 * with another file of the plugin or the driver has another key. And: keep them; the key is set.
 *
 * Errors: PC5011 (no key to sign with).
 */
pctl_status pctl_profiles_tuning(pctl_profiles *p, const pctl_profiled_device *d,
				 const pctl_call *call, pctl_tuning_record *out, int *found);
pctl_status pctl_profiles_keep_tuning(pctl_profiles *p, const pctl_profiled_device *d,
				      pctl_tuning_record *r, const pctl_call *call);

/* No strict program runs with this profile any more, until `device probe --fresh` makes it anew. */
pctl_status pctl_profiles_revoke(pctl_profiles *p, const pctl_profile_record *r, const char *cause,
				 const pctl_call *call);

/* 1: the profile with this key (text of its CID) was revoked, and no new one was made since. */
int pctl_profiles_is_revoked(const pctl_profiles *p, const char *key);

/* Has the first build of this program (identity of its wire form) passed its check with this profile? And: it has now.
 * A note that is lost only costs a repetition. */
int pctl_profiles_was_checked(pctl_profiles *p, const pctl_profile_record *r,
			      const pctl_cid *program);
void pctl_profiles_note_checked(pctl_profiles *p, const pctl_profile_record *r,
				const pctl_cid *program);

/* Write a signed copy of a record to another directory. */
pctl_status pctl_profiles_export(pctl_profiles *p, pctl_profile_record *r, const char *dir,
				 const pctl_call *call);

/* The same for limits; `device` as above, for people. */
pctl_status pctl_profiles_export_limits(pctl_profiles *p, pctl_limits_record *r, const char *device,
					const char *dir, const pctl_call *call);

/* The forms of the legaliser, compiled on first use; owned by p. */
pctl_status pctl_profiles_softfloat(pctl_profiles *p, const pctl_call *call, pctl_softfloat **out);

/* 1: `key` (hex) is this home's or one of those that came with certs. */
int pctl_profiles_trust(pctl_profiles *p, const char *key, const pctl_call *call);

/* The public key of this home, made on first use. */
pctl_status pctl_profiles_public_key(pctl_profiles *p, const pctl_call *call, const char **out);

#endif
