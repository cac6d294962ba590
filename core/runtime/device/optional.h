/* Operations that a device may have of its own and that any other does with ordinary ones: products of packed bytes
 * (PCTL_CAP_DOT4), subgroup operations by size and kind (PCTL_CAP_SUBGROUPS), products of matrix tiles (PCTL_CAP_TILES). What a probe saw of them is a record: signed, kept
 * beside the device's profile and found again by the same key, so that a process asks only for what none before it asked. A
 * file of its own, for it grows with the programs that come, integer programs need no profile, and no profile or certificate
 * becomes stale by it. */
#ifndef PIPECTL_RUNTIME_DEVICE_OPTIONAL_H
#define PIPECTL_RUNTIME_DEVICE_OPTIONAL_H

#include "compiler/legalize/legal.h"
#include "foundation/record/record.h"
#include "runtime/cas/cid.h"
#include "runtime/cas/sign.h"

/* Version of the probes' kernels and of what follows from them. A record made by another one is stale. */
#define PCTL_OPTIONAL_KIT "optional-3"

#define PCTL_OPTIONAL_SIZES 6u /* of subgroups: PCTL_SUBGROUP_SIZE_MIN << 0 .. 5 */
#define PCTL_OPTIONAL_KINDS 4u /* PCTL_SUBGROUP_*, a bit each */
enum {
	PCTL_OPTIONAL_DOT4 = 0,
	PCTL_OPTIONAL_SUBGROUPS = 1, /* the first of them: by size, then by kind */
	PCTL_OPTIONAL_TILES = PCTL_OPTIONAL_SUBGROUPS + PCTL_OPTIONAL_SIZES * PCTL_OPTIONAL_KINDS,
	PCTL_N_OPTIONAL = PCTL_OPTIONAL_TILES + 28 /* by bit of pctl_legal_tile_products */
};

/* LOST: the device hung, died or failed while it was asked; it is not asked again, nor for another size or for tiles. */
enum { PCTL_OPTIONAL_UNASKED = 0, PCTL_OPTIONAL_WRONG, PCTL_OPTIONAL_LOST, PCTL_OPTIONAL_EXACT };

/*
 * key           of the profile of the device with the files it runs on (profile.h)
 * device        as the driver calls it, for people
 * signer, path  as in profile.h
 */
typedef struct pctl_optional_record {
	uint8_t verdict[PCTL_N_OPTIONAL];
	pctl_cid key;
	char device[PCTL_NAME_MAX];
	char signer[PCTL_PUBLIC_KEY_TEXT];
	char path[4096];
} pctl_optional_record;
extern const pctl_record_type pctl_optional_type;

const char *
pctl_optional_name(uint32_t operation); /* "DOT4", "SUBGROUP_8_VOTE", "TILE_16_8_32_I8" */
const char *pctl_optional_verdict_name(uint8_t verdict); /* "exact" */

/* The first of the verdicts on subgroup operations of one size (a power of two). */
uint32_t pctl_optional_of_size(uint32_t size);
/* Which kinds (PCTL_SUBGROUP_*) of that size have a verdict, and which are exact. */
uint32_t pctl_optional_asked(const pctl_optional_record *r, uint32_t size);
uint32_t pctl_optional_exact(const pctl_optional_record *r, uint32_t size);
/* Which products of matrix tiles have a verdict, and which are exact. */
uint32_t pctl_optional_tiles_asked(const pctl_optional_record *r);
uint32_t pctl_optional_tiles_exact(const pctl_optional_record *r);
/* 1: the device was lost at subgroup operations, of whatever size, or at tiles. */
int pctl_optional_lost(const pctl_optional_record *r);

/* Sign and write DIR/<key>.optional.cfg, whole or not at all; r->signer and r->path are set. */
pctl_status pctl_optional_write(pctl_optional_record *r, const char *dir, const pctl_signer *signer,
				const pctl_call *call);

/* Errors: PC5012 (signature), PC4330 (not a record of this kit, or a verdict is missing or unknown). */
pctl_status pctl_optional_read(const char *path, const pctl_call *call, pctl_optional_record *out);

/* The record of r->key in dir, signed by `own`; 1 and *r complete when there is one. Of one that cannot be used a warning is
 * given; what others signed is passed over, for nothing of it was seen here. */
int pctl_optional_find(pctl_optional_record *r, const char *dir, const char *own,
		       const pctl_call *call);

#endif
