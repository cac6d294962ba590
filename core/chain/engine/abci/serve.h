/* What the requests of ABCI mean, over a decider and a chain to read from. One request, one response; no socket here. */
#ifndef PIPECTL_CHAIN_ENGINE_ABCI_SERVE_H
#define PIPECTL_CHAIN_ENGINE_ABCI_SERVE_H

#include "chain/engine/abci/join.h"
#include "chain/engine/check.h"

/* Of abci.pb-c.h, which whoever only serves does not need. */
typedef struct Abci__Request Abci__Request;
typedef struct Abci__Response Abci__Response;

/*
 * chain, reader    the decider's chain, and its reader: what is queried and checked is what is final, also while a block runs
 * checker          of messages before they are ordered
 * last             the decider's last block, as it was when nothing was under way (pctl_abci_look)
 * told             of a proposal that is rejected, of snapshots and chunks that are, with the code and the words; may be NULL
 * snapshots        the folder of those that are offered; NULL: none are
 * snapshot_blocks  one is made every so many blocks; 0: never
 * due              the height that one is to be made of (making.h); 0: none
 * join             takes in what others offer; its adoption may put another decider and reader in place of these
 */
typedef struct pctl_abci {
	pctl_decider *decider;
	pctl_chain *chain, *reader;
	pctl_checker *checker;
	pctl_decider_last last;
	void (*told)(void *ctx, uint32_t code, const char *text);
	void *told_ctx;
	const char *snapshots;
	uint64_t snapshot_blocks, due;
	pctl_abci_join *join;
} pctl_abci;

/* The engine's name of a chain: at most 50 bytes are one. */
#define PCTL_ABCI_CHAIN_SIZE 49u
void pctl_abci_chain(const uint8_t id[PCTL_DIGEST_BYTES], char out[PCTL_ABCI_CHAIN_SIZE]);

/*
 * Where a request is answered: at once, beside work that is under way in another thread; as such work itself, since it tries, runs or
 * commits messages; or as work beside which nothing else is answered, since it may put another chain in place of the home's.
 */
enum { PCTL_ABCI_AT_ONCE, PCTL_ABCI_BESIDE, PCTL_ABCI_ALONE };
uint32_t pctl_abci_place(const Abci__Request *r);
/* It is answered when no snapshot is being made: a list of them, which has that one then, and what may take the home away. */
int pctl_abci_waits_for_snapshot(const Abci__Request *r);
/* When nothing is under way: what the decider came to is seen from here on, and after a new block what waits is checked anew. */
pctl_status pctl_abci_look(pctl_abci *a, const pctl_call *call);

/*
 * Answer. `out` points into the arena, the request and the decider, until that is used again. A status other than PCTL_OK is to be
 * answered with an exception, after which an engine does not go on: what the engine does is wrong (PC6166 to PC6170), or this
 * node has trouble. What is wrong with a message, a proposal or a query is an answer.
 */
pctl_status pctl_abci_serve(pctl_abci *a, const Abci__Request *r, pctl_arena *arena,
			    const pctl_call *call, Abci__Response *out);
#endif
