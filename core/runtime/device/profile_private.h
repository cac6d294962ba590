/* What the signed records about devices share: where they lie, who signed them, and what is said of one that cannot be used. */
#ifndef PIPECTL_RUNTIME_DEVICE_PROFILE_PRIVATE_H
#define PIPECTL_RUNTIME_DEVICE_PROFILE_PRIVATE_H

#include "foundation/record/record.h"
#include "runtime/cas/cid.h"
#include "runtime/cas/sign.h"

/* A kind of them: its table, and the end of its files' names. largest: file, in bytes. Members of its struct: */
typedef struct pctl_device_record {
	const pctl_record_type *type;
	const char *ends;
	uint64_t largest;
	size_t size, key, signer,
		path; /* of all, and where pctl_cid, public key and char[4096] lie */
	const char *
		instead; /* what is done without one, for a hint; NULL: the device is probed again */
} pctl_device_record;

/* Sign and write DIR/<key><ends>; signer and path of the record are set. */
pctl_status pctl_device_record_write(const pctl_device_record *kind, void *record, const char *dir,
				     const pctl_signer *signer, const pctl_call *call);
/* Errors: PC5012 (signature), the table's. */
pctl_status pctl_device_record_read(const pctl_device_record *kind, const char *path,
				    const pctl_call *call, void *record);
/* The record with this one's key in dirs[0 .. n), signed by one of `trusted`: 1 and it stands in *record. */
int pctl_device_record_find(const pctl_device_record *kind, void *record, const char *const *dirs,
			    uint32_t n, const char *const *trusted, uint32_t n_trusted,
			    const pctl_call *call);

#endif
