/* What the requests of ABCI mean, over a decider and a chain to read from. One request, one response; no socket here. */
#ifndef PIPECTL_CHAIN_ENGINE_ABCI_SERVE_H
#define PIPECTL_CHAIN_ENGINE_ABCI_SERVE_H

#include "chain/engine/abci/join.h"
#include "chain/engine/decide.h"

/* Of abci.pb-c.h, which whoever only serves does not need. */
typedef struct Abci__Request Abci__Request;
typedef struct Abci__Response Abci__Response;

/*
 * reader           the same home, opened a second time: what is queried is what is final
 * told             of a proposal that is rejected, of snapshots and chunks that are, with the code and the words; may be NULL
 * snapshots        the folder of those that are offered; NULL: none are
 * snapshot_blocks  one is made every so many blocks; 0: never
 * due              the height that one is to be made of; 0: none
 * join             takes in what others offer; its adoption may put another decider and reader in place of these
 */
typedef struct pctl_abci {
	pctl_decider *decider;
	pctl_chain *reader;
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
 * Answer. `out` points into the arena, the request and the decider, until that is used again. A status other than PCTL_OK is to be
 * answered with an exception, after which an engine does not go on: what the engine does is wrong (PC6166 to PC6170), or this
 * node has trouble. What is wrong with a message, a proposal or a query is an answer.
 */
pctl_status pctl_abci_serve(pctl_abci *a, const Abci__Request *r, pctl_arena *arena,
			    const pctl_call *call, Abci__Response *out);
/* What is left to do when the answers are on their way: a snapshot that is due. One that cannot be made is told of, and stops nobody. */
void pctl_abci_tend(pctl_abci *a, const pctl_call *call);

#endif
