/* Ranks of names beside the edges that join them: the neighbourhood of a name in the graph that is ranked. */
#ifndef PIPECTL_CHAIN_EPOCH_RANK_H
#define PIPECTL_CHAIN_EPOCH_RANK_H

#include "chain/epoch/epoch.h"
#include "chain/graph/query.h"

/* Bytes of the names of an epoch that an answer searches: more is PC5789. */
#define PCTL_RANK_NAMES_MAX (32u << 20)

/*
 * The links and inputs that leave the name, then those that enter it, in the orders of pctl_query_edges; and the ranks of
 * the name and of what these edges join it with, by name, of the latest epoch whose last job was complete by the page's
 * block. A name that is newer than that rank has none. PC6102 without an epoch; what the store says of its bytes.
 */
pctl_status pctl_query_rank(pctl_query_page *p, pctl_store *store);

#endif
