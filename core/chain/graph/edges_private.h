/* The dictionary of the graph: a name has one number from its first use on (edges_names.c). Internal to the graph. */
#ifndef PIPECTL_CHAIN_GRAPH_EDGES_PRIVATE_H
#define PIPECTL_CHAIN_GRAPH_EDGES_PRIVATE_H

#include "chain/graph/edges.h"

/* A name in its short form: a letter, then the digest of a CID or of a job, or the text. n 0: no name. mark: by which
 * its row is found. number: 0 while it is not known. */
typedef struct pctl_word {
	const char *text;
	uint8_t bytes[1 + PCTL_EDGE_NAME_MAX];
	uint32_t n;
	uint64_t mark, number;
} pctl_word;

/* Check a name (PC5880) and spell it; text is borrowed. */
pctl_status pctl_word_spell(const char *text, const pctl_call *call, pctl_word *out);
/* Its number, 0 when it has none. */
pctl_status pctl_word_find(pctl_chain_state *s, pctl_word *w, const pctl_call *call);
/* The text of a number, "" for 0; PC5882. */
pctl_status pctl_word_text(pctl_chain_state *s, uint64_t number, const pctl_call *call,
			   char out[PCTL_EDGE_NAME_MAX + 1]);

/*
 * Several names at once, inside a transaction: `begin` looks whether what is remembered still holds, and stands for as many names
 * as follow without an end of a savepoint between them. `check` spells them ("" only where may_be_empty has the bit) and changes
 * nothing; `number` gives each its number, a new one where it had none. Between the two no other function of the
 * dictionary is called. What was looked up in this transaction is remembered.
 */
pctl_status pctl_words_begin(pctl_chain_state *s, const pctl_call *call);
pctl_status pctl_words_check(pctl_chain_state *s, const char *const *texts, uint32_t n,
			     uint32_t may_be_empty, const pctl_call *call, pctl_word *out);
pctl_status pctl_words_number(pctl_chain_state *s, pctl_word *words, uint32_t n,
			      const pctl_call *call);

#endif
