/* The unigram model: of all ways to cut a pre-token into pieces the one with the highest sum of scores (Viterbi). Sums are f64, from
 * left to right; of equal ones the way whose last piece begins leftmost stays. A character that is no piece costs the least
 * score of the vocabulary, less 10. */
#include <stdlib.h>

#include "foundation/base/utf8.h"
#include "model/tokenizer/private.h"

#define NONE PCTL_TOKEN_NONE
#define UNKNOWN_COST 10.0

static void reach(lattice *to, double sum, uint32_t from, uint32_t id)
{
	if (to->reached && sum <= to->sum)
		return;
	*to = (lattice){sum, from, id, 1};
}

void unigram_search(const token_trie *pieces, const token *tokens, double unknown, uint32_t without,
		    const char *text, size_t n, lattice *ways)
{
	for (size_t i = 0; i <= n; i++)
		ways[i] = (lattice){.reached = i == 0};
	for (size_t i = 0, step; i < n; i += step) {
		const double so_far = ways[i].sum;
		uint32_t node = 0;
		int whole = 0;

		step = pctl_utf8_decode(text + i, n - i, NULL);
		if (step == 0)
			step = 1;
		for (size_t end = i; end < n; end++) {
			uint32_t id;

			node = token_trie_next(pieces, node, (uint8_t)text[end]);
			if (node == 0)
				break;
			id = pieces->ends[node];
			if (id == NONE || id == without)
				continue;
			reach(&ways[end + 1], so_far + tokens[id].score, (uint32_t)i, id);
			whole |= end + 1 - i == step;
		}
		if (!whole)
			reach(&ways[i + step], so_far + unknown, (uint32_t)i, NONE);
	}
}

pctl_status unigram_encode(const pctl_tokenizer *t, scratch *s, const char *text, size_t n,
			   const pctl_call *call, pctl_token_ids *out)
{
	pctl_status status = PCTL_OK;
	size_t count = 0;
	int unknown = 0;

	if (!scratch_room((void **)&s->lattice, &s->n_lattice, n + 1, sizeof(lattice)) ||
	    !scratch_room((void **)&s->path, &s->n_path, n + 1, sizeof(*s->path)))
		return pctl_no_memory(call, "a lattice");
	unigram_search(&t->pieces, t->tokens, t->least_score - UNKNOWN_COST, NONE, text, n,
		       s->lattice);
	for (size_t at = n; at > 0; at = s->lattice[at].from)
		s->path[count++] = (uint32_t)at;
	while (count-- > 0 && status == PCTL_OK) {
		const lattice *way = &s->lattice[s->path[count]];

		if (way->id == NONE) {
			status = unknown_encode(t, text + way->from, s->path[count] - way->from,
						call, &unknown, out);
			continue;
		}
		unknown = 0;
		if (!PCTL_VEC_PUSH(out, way->id))
			status = pctl_no_memory(call, "ids");
	}
	return status;
}
