/* CAR files (content addressable archives, version 1): blobs with their names in one file that other tools of IPFS read.
 * Only CIDs of this store: CIDv1, raw, sha2-256. */
#ifndef PIPECTL_RUNTIME_CAS_CAR_H
#define PIPECTL_RUNTIME_CAS_CAR_H

#include <stdio.h>

#include "runtime/cas/store.h"

#define PCTL_CAR_ROOTS_MAX 65536u

/*
 * The format (https://ipld.io/specs/transport/car/carv1): a header, then blocks.
 *     header  varint of its length, then dag-cbor {"roots": [CID ..], "version": 1}
 *     block   varint of the length of CID and data together, the 36 bytes of the CID, the data
 * What is written is a function of the names alone: the blocks ascend by the text of their CIDs, none twice, but roots
 * come last, in the order of the header. Whatever the file is cut at, its last root is then missing.
 */
typedef struct pctl_car_report {
	uint64_t n_blocks, n_bytes; /* bytes of data */
	pctl_cid *roots;	    /* of an import; released with pctl_car_report_clear */
	uint32_t n_roots, reserved;
} pctl_car_report;
void pctl_car_report_clear(pctl_car_report *r);

/*
 * Write roots and `others` from a store to a file, atomically and durably, in constant memory. At least one root and at
 * most PCTL_CAR_ROOTS_MAX (PC5890), none twice. `others` may repeat themselves and roots. Every blob that is absent is
 * reported (PC5004) before anything is written.
 */
pctl_status pctl_car_export(pctl_store *s, const char *path, const pctl_cid *roots,
			    uint32_t n_roots, const pctl_cid *others, uint32_t n_others,
			    const pctl_call *call, pctl_car_report *out);

/*
 * Read a file into a store, in constant memory. The whole file is read and verified first, and nothing is imported
 * unless all of it is right; then its blobs are put, durable when this returns. After a failure of the store some blobs may
 * be there: each is what its CID says.
 * Errors: PC5890 (not this format; longer encodings than needed; cut; a root that is not in it), PC5891 (a CID of another
 * kind), PC5892 (a block that is not what its CID says), PC0003.
 */
pctl_status pctl_car_import(pctl_store *s, const char *path, const pctl_call *call,
			    pctl_car_report *out);
/* The first half of it, for any stream of n bytes (`name` is for messages, progress may be NULL): is all of it right? */
pctl_status pctl_car_check(FILE *f, uint64_t n, const char *name,
			   const pctl_progress_sink *progress, const pctl_call *call,
			   pctl_car_report *out);

#endif
