/* A snapshot as numbered parcels, for whoever hands it on piece by piece: what is offered is described by one text, from which the
 * block and the bytes of each parcel follow. The folder's files are spread over parcels in one way, so that nodes with the same
 * snapshot offer the same. README.md has the bytes. */
#ifndef PIPECTL_CHAIN_SYNC_PARCEL_H
#define PIPECTL_CHAIN_SYNC_PARCEL_H

#include "chain/sync/snapshot.h"

#define PCTL_PARCEL_FORMAT 1u
#define PCTL_PARCEL_BYTES (1u << 20) /* bytes of files in one parcel, at most */
#define PCTL_PARCELS_MAX 65536u
#define PCTL_OFFER_MAX (3u << 20) /* bytes of an offer's text */

/* files: SHA-256 of the record's files but the header; parcels: SHA-256 of each. */
typedef struct pctl_offer {
	uint64_t height;
	pctl_proof_bytes header;
	pctl_proof_digest files[PCTL_BLOCK_FILES - 1], *parcels;
	uint32_t n_files, n_parcels;
} pctl_offer;
extern const pctl_record_type pctl_offer_type;

/*
 * Write the parcels of the snapshot in FROM, files named by their number in six digits, and last the text of the offer, `offer`,
 * into TO, which is made. Errors: PC6146, PC6184 (more than fits an offer), of files.
 */
pctl_status pctl_parcels_write(const char *from, const char *to, const pctl_call *call,
			       pctl_offer *out, pctl_arena *a);

/* The text of an offer, with one spelling, in the arena. PC6184. */
pctl_status pctl_offer_read(const void *text, uint64_t n, pctl_arena *a, const pctl_call *call,
			    pctl_offer *out);
/* Is its block the trusted one? PC6184. */
pctl_status pctl_offer_check(const pctl_offer *o, const pctl_trusted *trusted,
			     const pctl_call *call);

/* A part of a file: n of its `whole` bytes from `at` on. is_whole: with this part it is complete. */
typedef struct pctl_parcel_part {
	char name[PCTL_CID_TEXT_SIZE + 8];
	uint64_t at, whole;
	const uint8_t *bytes;
	uint32_t n, reserved;
} pctl_parcel_part;
/* The next part of a parcel at *at, which begins with 0 and goes on behind it; *more 0: there is none. Names are those of a snapshot's
 * files alone. PC6185: it is not in form. */
pctl_status pctl_parcel_next(const uint8_t *parcel, uint64_t n, uint64_t *at, const pctl_call *call,
			     pctl_parcel_part *out, int *more);

#endif
