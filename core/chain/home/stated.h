/* Statements about blocks (transition/statement.h) as files: one beside the receipt of every block that ends here, signed by the key of this home,
 * and those of others that are brought as evidence. The account that answers for them is the one that the key has of itself. */
#ifndef PIPECTL_CHAIN_HOME_STATED_H
#define PIPECTL_CHAIN_HOME_STATED_H

#include "chain/transition/statement.h"
#include "foundation/base/arena.h"
#include "runtime/cas/sign.h"

/*
 * DIR/HEIGHT.statement: lines of a word and a value, all in this order and no others:
 *
 *     pipectl-statement 1
 *     chain HEX
 *     height N
 *     root HEX
 *     key HEX
 *     signature HEX
 */
pctl_status pctl_stated_write(const char *dir, const uint8_t chain[PCTL_DIGEST_BYTES],
			      uint64_t height, const uint8_t root[PCTL_DIGEST_BYTES],
			      const pctl_signer *signer, const pctl_call *call);
/* The message but for its sender; its bytes lie in the arena. PC6117: it is no such file, or of another chain. */
pctl_status pctl_stated_read(const char *path, const uint8_t chain[PCTL_DIGEST_BYTES],
			     pctl_arena *arena, const pctl_call *call, pctl_msg_statement *out);

#endif
