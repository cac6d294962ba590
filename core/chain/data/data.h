/* Bytes that are state, from version 2 of the rules on: what messages brought and has not expired, sources of shaders, outputs of
 * jobs, graphs of ranks, and the bytes of no length. Whether they are is a function of the state alone; where this node has
 * them, or gets them from, is its own business and enters no record. */
#ifndef PIPECTL_CHAIN_DATA_DATA_H
#define PIPECTL_CHAIN_DATA_DATA_H

#include "chain/chain_private.h"

/* ---- blobs -------------------------------------------------------------------------------- */

/*
 * Take in a message BLOB: its bytes are state up to height + blocks, or longer where they are already. Its sender pays at
 * once, and the gas is burned:
 *
 *     blob_byte_cost * bytes + blob_rent * started KiB * started 1024 blocks
 *
 * Errors: PC5836, PC5837, PC5713, PC5712, of the store.
 */
pctl_status pctl_apply_blob(const pctl_taking *t, const pctl_msg_blob *m);

/* What a blob of so many bytes for so many blocks costs. PC5712. */
pctl_status pctl_data_price(const pctl_taking *t, uint64_t n_bytes, uint64_t n_blocks,
			    const pctl_call *call, uint64_t *out);
/* What so many bytes cost that stay for ever: as much as a blob for blob_blocks_max blocks. PC5712. */
pctl_status pctl_data_price_kept(const pctl_taking *t, uint64_t n_bytes, const pctl_call *call,
				 uint64_t *out);

/* The end of a block: blobs that no job in the queue names, and that no job could name since unbonding_blocks, are state no more: until then a
 * dispute may ask for what a job read. */
pctl_status pctl_data_expire(pctl_chain_state *s, uint64_t height, const pctl_params *p,
			     const pctl_call *call);

/* ---- all that is state -------------------------------------------------------------------- */

/* 1 in *found when a job that is taken in where `t` stands may name these bytes, and then how many they are. PC5838. */
pctl_status pctl_data_look(const pctl_taking *t, const char *cid, int *found, uint64_t *n_bytes);
/* The CIDs that a message names but for its shader, 0: its uniforms; "": a place where it names none; NULL behind the last. */
const char *pctl_data_named(const pctl_msg_execute *m, uint32_t i);
/* Every CID that an execute message names: PC5834 with the first that is not state. */
pctl_status pctl_data_check(const pctl_taking *t, const pctl_msg_execute *m);
/* The same of a job that was taken in before: what it names is still state, though others may not name it any more. PC5834. */
pctl_status pctl_data_check_kept(const pctl_taking *t, const pctl_msg_execute *m);

/* Bytes that are state, from the store of this node, else from others (pctl_chain_set_fetch). PC5838: neither has them. In
 * a chain under version 1 of the rules, where no bytes are state, the errors are the store's. */
pctl_status pctl_data_get(pctl_chain *c, const pctl_cid *cid, const pctl_call *call,
			  pctl_blob *out);

#endif
