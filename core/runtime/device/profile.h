/* Device profiles as records: what a probe proved of one device with one driver, signed, kept as a file, found again by
 * the device's identity. The legaliser's view of it is compiler/legalize/profile.h. */
#ifndef PIPECTL_RUNTIME_DEVICE_PROFILE_H
#define PIPECTL_RUNTIME_DEVICE_PROFILE_H

#include "foundation/record/record.h"
#include "runtime/cas/cid.h"
#include "runtime/cas/sign.h"
#include "compiler/legalize/profile.h"
#include "pipectl/backend.h"

/* Version of the probe: its cases, contexts and verdicts. A profile made by another one is stale. */
#define PCTL_PROBE_KIT "probe-2"
#define PCTL_PROFILE_IDENTITY_MAX 32u

/* What is probed besides native floats; verdicts as there (NORMAL is not used). A device where one of the first four
 * is WRONG runs nothing. NAN_BITS: EXACT when every NaN made was the canonical one; the legaliser does not rely on it.
 */
enum {
	PCTL_FACT_INT32 = 0, /* + - * / % shifts, bit operations, comparisons */
	PCTL_FACT_INT64 = 1,
	PCTL_FACT_ATOMICS = 2,
	PCTL_FACT_BARRIERS = 3,
	PCTL_FACT_NAN_BITS = 4,
	PCTL_N_FACTS = 5
};

/* The first difference seen of a native operation or a fact; empty text: none. */
typedef struct pctl_witness {
	char text[160]; /* "x / 3.0: x=0x00000005 gave 0x00000000, not 0x00000002" */
} pctl_witness;

/*
 * One record.
 *
 * files     SHA-256 over the files it was probed with, as hex (pctl_backend_instance_files), or ""
 * drivers   the same without the plugin's own file, or ""
 * claim     key of the profile whose verdicts these are, after a short check here (probe.h); "": it was probed in full
 * key       CID of the identity facts, the files and the kit: what the profile is valid for
 * device, driver  as the driver calls them, for people
 * cases     operand tuples times operations compared
 * signer    public key that signed the file; empty for a record that was just made
 * path      the file it was read from or written to; empty: none
 */
typedef struct pctl_profile_record {
	pctl_profile profile;
	uint8_t facts[PCTL_N_FACTS];
	pctl_witness native_witness[PCTL_N_NATIVE];
	pctl_witness fact_witness[PCTL_N_FACTS];
	pctl_key_value identity[PCTL_PROFILE_IDENTITY_MAX];
	uint32_t n_identity;
	char files[65];
	char drivers[65];
	char claim[PCTL_CID_TEXT_SIZE];
	pctl_cid key;
	char device[PCTL_NAME_MAX];
	char driver[PCTL_NAME_MAX];
	uint64_t cases;
	char signer[PCTL_PUBLIC_KEY_TEXT];
	char path[4096];
} pctl_profile_record;
extern const pctl_record_type pctl_profile_type;

/* Fill key from identity, files and the kit. */
pctl_status pctl_profile_key(pctl_profile_record *r, const pctl_call *call);

const char *pctl_native_name(uint32_t native);	/* "F32_ADD" */
const char *pctl_fact_name(uint32_t fact);	/* "INT32" */
const char *pctl_verdict_name(uint8_t verdict); /* "exact" */

/* The first of the facts that forbid all use of the device, PCTL_N_FACTS when there is none. */
uint32_t pctl_profile_broken(const pctl_profile_record *r);

/* Sign and write DIR/<key>.profile.cfg, whole or not at all; r->signer and r->path are set. */
pctl_status pctl_profile_write(pctl_profile_record *r, const char *dir, const pctl_signer *signer,
			       const pctl_call *call);

/*
 * Read a file: signature, kit, every verdict. Errors: PC5012 (signature), PC4330 (not a profile of this kit, or a
 * verdict is missing or unknown).
 */
pctl_status pctl_profile_read(const char *path, const pctl_call *call, pctl_profile_record *out);

/* A kept file that cannot be used is no failure, for its device is looked at again: what its reader says through the call
 * that soften returns becomes a warning of `call`. Lives as long as s. */
typedef struct pctl_softened {
	pctl_call inner;
	const pctl_call *outer;
	const char *instead; /* the hint; NULL: that the device is probed again */
} pctl_softened;
const pctl_call *pctl_profile_soften(pctl_softened *s, const pctl_call *call);

/*
 * The profile for a device with r's identity, looked for in dirs[0 .. n). 1 and *r complete when a valid one is there
 * whose signer is in `trusted` (public keys as hex); those signed by others are passed over, and those that are stale or
 * damaged too, with a warning.
 */
int pctl_profile_find(pctl_profile_record *r, const char *const *dirs, uint32_t n,
		      const char *const *trusted, uint32_t n_trusted, const pctl_call *call);

/*
 * A profile of r's device that may be checked instead of a probe in full: signed by one of `trusted`, probed in full by its
 * maker, not revoked in dirs[0], of a device that runs anything at all; with r's key, or else with r's identity facts and
 * driver files. 1 and *out complete when there is one; the first by directory and name. Those that cannot be read are passed
 * over.
 */
int pctl_profile_find_claim(const pctl_profile_record *r, const char *const *dirs, uint32_t n,
			    const char *const *trusted, uint32_t n_trusted,
			    pctl_profile_record *out);

#endif
