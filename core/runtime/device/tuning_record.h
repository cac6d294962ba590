/* What is fastest on one device among cuts of work that give the same bits (pipectl/tunables.def), as a record: measured by
 * `pipectl device tune`, signed, kept beside the device's profile and found again by the same key. A record that lies costs time and
 * nothing else: a value that is none of the table's is refused, and whatever is planned from it is judged like any plan. */
#ifndef PIPECTL_RUNTIME_DEVICE_TUNING_RECORD_H
#define PIPECTL_RUNTIME_DEVICE_TUNING_RECORD_H

#include "foundation/record/record.h"
#include "pipectl/oplib.h"
#include "runtime/device/profile.h"

/* Version of the problems that are timed. A record made by another one is stale. */
#define PCTL_TUNING_KIT "tuning-1"

/* Profiles of devices: with tight limits (single-core), and with wide ones (multi-core). */
enum { PCTL_TUNING_SC, PCTL_TUNING_MC, PCTL_N_TUNING };

const char *pctl_tuning_name(uint32_t profile);
/* By its limits: fewer than 256 invocations of a workgroup, or less than 16 KiB for one, are tight. */
uint32_t pctl_tuning_profile(const pctl_device_caps *caps);

/* The table: a tunable's name, what it is about, its value in a profile, the values that may be tried (`n` of them), and whether this is
 * one of them or 0. */
const char *pctl_tunable_name(uint32_t i);
const char *pctl_tunable_about(uint32_t i);
uint32_t pctl_tunable_of(uint32_t i, uint32_t profile);
const uint32_t *pctl_tunable_values(uint32_t i, uint32_t *n);
int pctl_tunable_has(uint32_t i, uint32_t value);

/*
 * One record.
 *
 * value    by tunable; 0: nothing was faster than the op's own choice
 * profile  PCTL_TUNING_*, by the device's limits: where the search began
 * ms       how long it took
 * key, device, signer, path  as of limits (limits_record.h)
 */
typedef struct pctl_tuning_record {
	uint32_t value[PCTL_N_TUNABLES];
	uint32_t profile;
	uint64_t ms;
	pctl_cid key;
	char device[PCTL_NAME_MAX];
	char signer[PCTL_PUBLIC_KEY_TEXT];
	char path[4096];
} pctl_tuning_record;
extern const pctl_record_type pctl_tuning_type;

/* Sign and write DIR/<key>.tuning.cfg, whole or not at all. */
pctl_status pctl_tuning_write(pctl_tuning_record *r, const char *dir, const pctl_signer *signer,
			      const pctl_call *call);
/* The record of r->key in `dir`, signed by `own`: 1, and *r is complete. Of one that cannot be used a warning is given. */
int pctl_tuning_find(pctl_tuning_record *r, const char *dir, const char *own,
		     const pctl_call *call);

#endif
