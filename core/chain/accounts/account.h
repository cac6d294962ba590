/* Who may send under the name of an account, from version 2 of the rules on: the keys that control it, the roles it has,
 * and the id of the chain that a signed message names. */
#ifndef PIPECTL_CHAIN_ACCOUNTS_ACCOUNT_H
#define PIPECTL_CHAIN_ACCOUNTS_ACCOUNT_H

#include "chain/ledger/params.h"
#include "chain/messages/message.h"

#define PCTL_KEY_BYTES PCTL_MESSAGE_KEY_BYTES

/* ---- keys ---------------------------------------------------------------------------------- */

/* The account that a key has of itself: "key." and the first 60 hex digits of the SHA-256 of its 32 bytes. */
pctl_status pctl_account_of_key(const uint8_t key[PCTL_KEY_BYTES], const pctl_call *call,
				char out[PCTL_ACCOUNT_SIZE]);
/* 1 where the bytes are the one encoding of a point (y below 2^255 - 19) that is not one of the eight of small order, for
 * which signatures are right that nobody made. */
int pctl_account_key_is_fit(const uint8_t key[PCTL_KEY_BYTES]);

/* Any `threshold` of the keys, ascending, control the account; threshold 0: none were ever set. */
typedef struct pctl_account_control {
	uint32_t threshold, n_keys;
	uint8_t keys[PCTL_MESSAGE_KEYS_MAX][PCTL_KEY_BYTES];
} pctl_account_control;

pctl_status pctl_account_control_read(pctl_chain_state *s, const char *account,
				      const pctl_call *call, pctl_account_control *out);
/* Set them anew, inside a transaction. PC5844: a key that is not fit; PC5898: a reserved name, or a CID, which is a contract's. */
pctl_status pctl_account_control_set(pctl_chain_state *s, const pctl_msg_keys *m,
				     const pctl_call *call);

/* 1 for a name of the chain itself (rank, executor, treasury ..), which has no keys and no role from version 2 of the rules on. */
int pctl_account_is_reserved(const char *name);
/* 1 for a name that says whose it is: a CID, a contract's, and `key.` with 60 hex digits, that key's. */
int pctl_account_is_derived(const char *name);

/* The number that the account's next message has; 0 for one that there is not. */
pctl_status pctl_account_sequence(pctl_chain_state *s, const char *account, const pctl_call *call,
				  uint64_t *out);

/* ---- roles --------------------------------------------------------------------------------- */

const char *pctl_account_role_name(uint32_t role); /* PCTL_ROLE_*; NULL: there is no such role */
/* *out: does the account have the role; account NULL: does anybody. */
pctl_status pctl_account_role_has(pctl_chain_state *s, uint32_t role, const char *account,
				  const pctl_call *call, int *out);
/* PC5898. */
pctl_status pctl_account_role_set(pctl_chain_state *s, const pctl_msg_role *m,
				  const pctl_call *call);

/* ---- the chain ----------------------------------------------------------------------------- */

/*
 * The id of a chain follows from what it began with:
 *
 *     id = SHA-256( domain || genesis ), and for each message of genesis id = SHA-256( domain || id || message )
 *
 *   domain   the 19 bytes "pipectl chain-id 1" and a NUL
 *   genesis  the file `genesis` of block 1 (blocks.md): a line for each parameter of height 0
 *   message  its encoded request
 */
pctl_status pctl_chain_id(pctl_chain_state *s, const pctl_call *call,
			  uint8_t out[PCTL_DIGEST_BYTES]);
/* A message of genesis was taken in; inside a transaction. */
pctl_status pctl_chain_id_take(pctl_chain_state *s, const void *message, uint64_t n,
			       const pctl_call *call);

#endif
