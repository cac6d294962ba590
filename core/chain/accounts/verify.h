/* Whether the signatures of a message are right: a question about its bytes alone (the keys stand in it; whether they control
 * its sender is asked of the state each time), so it is asked once, in threads where many come together. */
#ifndef PIPECTL_CHAIN_ACCOUNTS_VERIFY_H
#define PIPECTL_CHAIN_ACCOUNTS_VERIFY_H

#include "chain/messages/message.h"

/*
 * One Ed25519 signature as version 2 of the rules has it: RFC 8032's equation without the cofactor, S below the order of the
 * group, key and R the one encoding of a point that is not of small order. That is what libsodium and OpenSSL agree on, R
 * of small order being looked for here.
 */
int pctl_message_signature_is_right(const uint8_t *key, const void *data, uint64_t n,
				    const uint8_t *signature);

/* Messages that were found right, by the SHA-256 of all their bytes, signatures and keys with them; the oldest of a place is
 * forgotten first. Of one that was not right nothing is kept. For several threads at once. */
typedef struct pctl_verified pctl_verified;
pctl_status pctl_verified_create(const pctl_call *call, pctl_verified **out);
void pctl_verified_destroy(pctl_verified *v);

/* A request that was decoded or sealed, with `auth`. *bad: the first signature that is not right; n_signatures: all are. */
pctl_status pctl_verified_check(pctl_verified *v, const pctl_request *r, const pctl_call *call,
				uint32_t *bad);

/* 1: a message of these bytes was found right. */
int pctl_verified_knows(pctl_verified *v, const void *bytes, uint64_t n);

/* Since it was made: signatures that were computed, and messages that were known. */
typedef struct pctl_verified_counts {
	uint64_t computed, known;
} pctl_verified_counts;
pctl_verified_counts pctl_verified_count(const pctl_verified *v);

#endif
