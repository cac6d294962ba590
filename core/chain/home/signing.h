/* Receipts of the blocks that end here: signed by the key of this home before a block is final. */
#ifndef PIPECTL_CHAIN_HOME_SIGNING_H
#define PIPECTL_CHAIN_HOME_SIGNING_H

#include "chain/home/home.h"

/* The directory of receipts, HOME/chain/receipts, in the installation's arena, whose configuration is open; NULL: no
 * memory. There lies HEIGHT.receipt of every block that was ended here. */
const char *pctl_home_receipts(pctl_installation *in);

/* Who signs, for which chain, and who ran its jobs (executor may be NULL). `call` is for the key alone. */
typedef struct pctl_home_signing {
	pctl_installation *in;
	pctl_chain *chain;
	const pctl_executor *executor;
	const pctl_call *call;
} pctl_home_signing;

/*
 * From here on every block of the chain that ends is signed before it is final: what it writes is there whenever the
 * block is, and beside it a statement (stated.h). All that `signing` points to, and itself, outlive the chain. A block whose receipt cannot be written does not
 * end, with the status of that (of the key, of the file).
 */
void pctl_home_sign_blocks(const pctl_home_signing *signing);

#endif
