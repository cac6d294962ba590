/* Reading a CAR file item by item; what is asked twice (to check, then to import) is written once. Internal to cas. */
#ifndef PIPECTL_RUNTIME_CAS_CAR_READ_H
#define PIPECTL_RUNTIME_CAS_CAR_READ_H

#include "runtime/cas/car.h"

#define PCTL_CAR_PREFIX_BYTES 4u
#define PCTL_CAR_CID_BYTES (PCTL_CAR_PREFIX_BYTES + PCTL_DIGEST_BYTES)
/* CIDv1, raw, sha2-256 of 32 bytes. */
static const uint8_t pctl_car_prefix[PCTL_CAR_PREFIX_BYTES] = {0x01, 0x55, 0x12, 0x20};

/* at: the offset of the next byte; n: where the file ends. */
typedef struct pctl_car_reader {
	FILE *f;
	const char *name;
	const pctl_call *call;
	uint64_t at, n;
	const pctl_progress_sink *progress; /* NULL: none */
	const char *stage;
	uint64_t started_ns;
} pctl_car_reader;

/* How far the file is read. */
void pctl_car_tell(const pctl_car_reader *r);

/* The header; *roots is released with free(), also after an error. */
pctl_status pctl_car_read_header(pctl_car_reader *r, pctl_cid **roots, uint32_t *n_roots);
/* The CID of the next block and the length of its data, which follows. Not at the end (r->at == r->n). */
pctl_status pctl_car_read_block(pctl_car_reader *r, pctl_cid *cid, uint64_t *n_data);
/* The next n bytes. */
pctl_status pctl_car_read_bytes(pctl_car_reader *r, void *out, uint64_t n);

#endif
