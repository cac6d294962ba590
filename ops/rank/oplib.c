/* The rank library: fixed-point PageRank of a directed graph. */
#include "rank.h"

static const kit_family *const families[] = {
	&rank_prepare_family,
	&rank_step_family,
	&rank_pagerank_family,
	&rank_weighted_family,
};

static const kit_library library = {families, KIT_COUNT(families), 0};

KIT_PLUGIN("rank", library);
