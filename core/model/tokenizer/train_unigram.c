/* The unigram model learned by expectation maximisation, as Kudo (2018) and SentencePiece define it: frequent substrings to begin with;
 * then, again and again, the expected count of each piece over all ways to cut the words, scores from those, and the pieces
 * given up that cost the likelihood of the texts least, until the vocabulary is small enough. Single characters always stay.
 * Arithmetic is +, -, * and / of f64 in a fixed order (train_math.c has the functions), so that bits are the same everywhere. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/hash.h"
#include "foundation/base/utf8.h"
#include "model/tokenizer/private.h"
#include "model/tokenizer/train_math.h"

#define NONE PCTL_TOKEN_NONE
#define PIECE_CHARACTERS 16u
#define SEEDS_MAX 1000000u
#define ROUNDS 2u	   /* of expectation and maximisation, between two prunings */
#define LEAST_EXPECTED 0.5 /* a piece that is expected less often goes */
#define SHRINK 0.75	   /* of the pieces stay at a pruning */
#define ENOUGH 1.1	   /* pruning ends at so many times the pieces wanted */

typedef struct piece {
	token token; /* text and score */
	double count;
	double loss; /* of likelihood, were it not there */
	uint32_t characters;
} piece;

typedef struct model {
	const train_words *words;
	piece *pieces;
	uint32_t n, cap;
	token *tokens; /* of pieces, for unigram_search */
	token_trie trie;
	lattice *ways;
	train_number *to, *from; /* the sums of all ways to, and from, each place of a word */
	double *weights;	 /* exp(score) */
	size_t longest;
} model;

static int by_text(const piece *a, const piece *b)
{
	const size_t n = a->token.text.n < b->token.text.n ? a->token.text.n : b->token.text.n;
	const int c = memcmp(a->token.text.text, b->token.text.text, n);

	return c != 0 ? c
		      : (a->token.text.n > b->token.text.n) - (a->token.text.n < b->token.text.n);
}

/* Single characters first, then the highest; of equal ones the first as text. */
static int by_loss(const void *x, const void *y)
{
	const piece *a = x, *b = y;

	if ((a->characters == 1) != (b->characters == 1))
		return a->characters == 1 ? -1 : 1;
	if (a->loss != b->loss)
		return a->loss > b->loss ? -1 : 1;
	return by_text(a, b);
}

static int by_score(const void *x, const void *y)
{
	const piece *a = x, *b = y;

	if (a->token.score != b->token.score)
		return a->token.score > b->token.score ? -1 : 1;
	return by_text(a, b);
}

/* ---- the first pieces ---- */

typedef struct seeds {
	model *m;
	uint32_t *slots, n_slots;
} seeds;

static int seed_slots(seeds *s)
{
	const uint32_t n = s->n_slots == 0 ? 65536 : s->n_slots * 2;

	if (s->m->n * 2u < s->n_slots)
		return 1;
	free(s->slots);
	s->slots = n == 0 ? NULL : calloc(n, sizeof(*s->slots));
	if (s->slots == NULL)
		return 0;
	s->n_slots = n;
	for (uint32_t i = 0; i < s->m->n; i++) {
		const pctl_token_text *text = &s->m->pieces[i].token.text;
		uint32_t at =
			(uint32_t)pctl_mix64(pctl_fnv64(PCTL_FNV64, text->text, text->n)) & (n - 1);

		while (s->slots[at] != 0)
			at = (at + 1) & (n - 1);
		s->slots[at] = i + 1;
	}
	return 1;
}

static int count_seed(seeds *s, const char *text, size_t n, uint32_t length, uint64_t count)
{
	uint32_t at;
	piece *p;

	if (!seed_slots(s))
		return 0;
	at = (uint32_t)pctl_mix64(pctl_fnv64(PCTL_FNV64, text, n)) & (s->n_slots - 1);
	for (; s->slots[at] != 0; at = (at + 1) & (s->n_slots - 1)) {
		p = &s->m->pieces[s->slots[at] - 1];
		if (p->token.text.n == n && memcmp(p->token.text.text, text, n) == 0) {
			p->count += (double)count;
			return 1;
		}
	}
	if (!pctl_vec_reserve((void **)&s->m->pieces, s->m->n, &s->m->cap, sizeof(piece)))
		return 0;
	s->m->pieces[s->m->n++] =
		(piece){.token.text = {text, n}, .count = (double)count, .characters = length};
	s->slots[at] = s->m->n;
	return 1;
}

/* All substrings of words, up to 16 characters, that come more than once, and all characters. */
static int find_seeds(model *m)
{
	seeds s = {.m = m};
	int fine = 1;
	uint32_t kept = 0;

	for (uint32_t w = 0; w < m->words->n && fine; w++) {
		const train_word *word = &m->words->items[w];

		for (size_t at = 0, step; at < word->n && fine; at += step) {
			size_t end = at;

			step = pctl_utf8_decode(word->text + at, word->n - at, NULL);
			for (uint32_t k = 1; k <= PIECE_CHARACTERS && end < word->n && fine; k++) {
				end += pctl_utf8_decode(word->text + end, word->n - end, NULL);
				fine = count_seed(&s, word->text + at, end - at, k, word->count);
			}
		}
	}
	free(s.slots);
	for (uint32_t i = 0; i < m->n && fine; i++) {
		piece p = m->pieces[i];

		if (p.characters > 1 && p.count < 2.0)
			continue;
		p.loss = p.count * (double)p.characters;
		m->pieces[kept++] = p;
	}
	if (!fine)
		return 0;
	m->n = kept;
	if (m->n != 0)
		qsort(m->pieces, m->n, sizeof(piece), by_loss);
	m->n = m->n > SEEDS_MAX ? SEEDS_MAX : m->n;
	for (uint32_t i = 0; i < m->n; i++)
		m->pieces[i].count = m->pieces[i].loss;
	return 1;
}

/* ---- expectation, maximisation ---- */

/* Scores from counts; `bayes`: of digamma, which makes rare pieces rarer. */
static void maximise(model *m, int bayes)
{
	double sum = 0.0, log_sum;

	for (uint32_t i = 0; i < m->n; i++)
		sum += m->pieces[i].count;
	log_sum = bayes ? train_digamma(sum) : train_log(sum);
	for (uint32_t i = 0; i < m->n; i++) {
		const double count = m->pieces[i].count;

		m->pieces[i].token.score =
			(bayes ? train_digamma(count) : train_log(count)) - log_sum;
	}
}

/* The tables for the pieces of now. 0: no memory. */
static int index_pieces(model *m)
{
	token_trie_drop(&m->trie);
	if (!token_trie_init(&m->trie))
		return 0;
	for (uint32_t i = 0; i < m->n; i++) {
		m->tokens[i] = m->pieces[i].token;
		m->weights[i] = train_exp(m->pieces[i].token.score);
		if (!token_trie_put(&m->trie, m->tokens[i].text.text, m->tokens[i].text.n, i))
			return 0;
	}
	return 1;
}

/* The sums of all ways through a word: to each place, and, backwards, from it. Places within characters have none. */
static void sum_ways(model *m, const train_word *word)
{
	for (size_t i = 0; i <= word->n; i++)
		m->to[i] = m->from[i] = train_number_of(0.0);
	m->to[0] = m->from[word->n] = train_number_of(1.0);
	for (int backwards = 0; backwards < 2; backwards++)
		for (size_t k = 0; k < word->n; k++) {
			const size_t i = backwards ? word->n - 1 - k : k;
			uint32_t node = 0;

			for (size_t end = i; end < word->n; end++) {
				uint32_t id;

				node = token_trie_next(&m->trie, node, (uint8_t)word->text[end]);
				if (node == 0)
					break;
				id = m->trie.ends[node];
				if (id == NONE)
					continue;
				if (backwards)
					train_add(&m->from[i], m->from[end + 1], m->weights[id]);
				else
					train_add(&m->to[end + 1], m->to[i], m->weights[id]);
			}
		}
}

/* How often each piece is expected, over all ways to cut all words. */
static void expect(model *m)
{
	for (uint32_t i = 0; i < m->n; i++)
		m->pieces[i].count = 0.0;
	for (uint32_t w = 0; w < m->words->n; w++) {
		const train_word *word = &m->words->items[w];

		sum_ways(m, word);
		for (size_t i = 0; i < word->n; i++) {
			uint32_t node = 0;

			for (size_t end = i; end < word->n && m->to[i].m != 0.0; end++) {
				uint32_t id;

				node = token_trie_next(&m->trie, node, (uint8_t)word->text[end]);
				if (node == 0)
					break;
				id = m->trie.ends[node];
				if (id != NONE)
					m->pieces[id].count +=
						(double)word->count *
						train_share(m->to[i], m->weights[id],
							    m->from[end + 1], m->to[word->n]);
			}
		}
	}
}

static void drop_rare(model *m)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < m->n; i++) {
		piece p = m->pieces[i];

		if (p.characters == 1 && !(p.count >= LEAST_EXPECTED))
			p.count = LEAST_EXPECTED;
		if (p.count >= LEAST_EXPECTED)
			m->pieces[kept++] = p;
	}
	m->n = kept;
}

/* ---- pruning ---- */

/* How often each piece is in the best way to cut the words. */
static double count_best(model *m)
{
	double sum = 0.0;

	for (uint32_t i = 0; i < m->n; i++)
		m->pieces[i].count = 0.0;
	for (uint32_t w = 0; w < m->words->n; w++) {
		const train_word *word = &m->words->items[w];

		unigram_search(&m->trie, m->tokens, -1e9, NONE, word->text, word->n, m->ways);
		for (size_t at = word->n; at > 0; at = m->ways[at].from)
			m->pieces[m->ways[at].id].count += (double)word->count;
	}
	for (uint32_t i = 0; i < m->n; i++)
		sum += m->pieces[i].count;
	return sum;
}

/* What the likelihood loses when a piece must be cut into others. -1e300: nothing, it is never used. */
static double loss_of(model *m, uint32_t i, double sum, double words)
{
	const piece *p = &m->pieces[i];
	const size_t n = p->token.text.n;
	double alternative = 0.0, n_parts = 0.0, log_sum;

	unigram_search(&m->trie, m->tokens, -1e9, i, p->token.text.text, n, m->ways);
	if (p->count == 0.0 || m->ways[n].sum >= p->token.score)
		return -1e300;
	for (size_t at = n; at > 0; at = m->ways[at].from)
		n_parts += 1.0;
	log_sum = train_log(sum + p->count * (n_parts - 1.0));
	for (size_t at = n; at > 0; at = m->ways[at].from)
		alternative += train_log(m->pieces[m->ways[at].id].count + p->count) - log_sum;
	return p->count / words * (train_log(p->count) - train_log(sum) - alternative);
}

static void prune(model *m, uint32_t wanted)
{
	const double sum = count_best(m);
	double words = 0.0;
	uint32_t keep = (uint32_t)(SHRINK * (double)m->n), used = 0;

	for (uint32_t w = 0; w < m->words->n; w++)
		words += (double)m->words->items[w].count;
	for (uint32_t i = 0; i < m->n; i++)
		m->pieces[i].loss = m->pieces[i].characters == 1 ? 0.0 : loss_of(m, i, sum, words);
	qsort(m->pieces, m->n, sizeof(piece), by_loss);
	keep = keep < wanted ? wanted : keep;
	while (used < m->n && m->pieces[used].loss > -1e300)
		used++;
	m->n = used < keep ? used : keep;
}

static pctl_status fit(model *m, uint32_t wanted, const pctl_call *call)
{
	const uint32_t enough = (uint32_t)(ENOUGH * (double)wanted);

	maximise(m, 0);
	for (uint32_t before = UINT32_MAX;;) {
		for (uint32_t k = 0; k < ROUNDS; k++) {
			if (pctl_is_cancelled(call))
				return PCTL_E_CANCELLED;
			if (!index_pieces(m))
				return pctl_no_memory(call, "pieces");
			expect(m);
			drop_rare(m);
			maximise(m, 1);
		}
		if (m->n <= enough || m->n >= before)
			return PCTL_OK;
		before = m->n;
		if (!index_pieces(m))
			return pctl_no_memory(call, "pieces");
		prune(m, enough);
	}
}

/* The characters, and the pieces of the highest scores: the vocabulary, the highest first. */
static pctl_status finish(model *m, pctl_tokenizer *t, uint32_t wanted, const pctl_call *call)
{
	for (uint32_t i = 0; i < m->n; i++)
		m->pieces[i].loss = m->pieces[i].token.score;
	qsort(m->pieces, m->n, sizeof(piece), by_loss);
	m->n = m->n < wanted ? m->n : wanted;
	qsort(m->pieces, m->n, sizeof(piece), by_score);
	for (uint32_t i = 0; i < m->n; i++) {
		const token *k = &m->pieces[i].token;

		if (!tokenizer_put(t, t->n, k->text.text, k->text.n, PCTL_TOKEN_NORMAL, k->score))
			return pctl_no_memory(call, "a vocabulary");
		t->tokens[t->n - 1].in_model = 1;
	}
	return PCTL_OK;
}

pctl_status train_unigram(pctl_tokenizer *t, const train_words *words, uint32_t n_tokens,
			  const pctl_call *call)
{
	const uint32_t wanted = n_tokens > t->n ? n_tokens - t->n : 0;
	model m = {.words = words};
	uint32_t singles = 0;
	pctl_status status = PCTL_OK;

	for (uint32_t w = 0; w < words->n; w++)
		m.longest = words->items[w].n > m.longest ? words->items[w].n : m.longest;
	if (!find_seeds(&m))
		status = pctl_no_memory(call, "pieces");
	for (uint32_t i = 0; i < m.n; i++) {
		singles += m.pieces[i].characters == 1;
		m.longest =
			m.pieces[i].token.text.n > m.longest ? m.pieces[i].token.text.n : m.longest;
	}
	if (status == PCTL_OK && singles > wanted)
		status = pctl_refuse(call, PC7004_TOKENIZER_TRAINING,
				     "%" PRIu32 " tokens have no room for the special ones and all "
				     "characters, which are %" PRIu32,
				     n_tokens, t->n + singles);
	if (status == PCTL_OK && m.n != 0) {
		m.tokens = calloc(m.n, sizeof(*m.tokens));
		m.weights = calloc(m.n, sizeof(*m.weights));
		m.ways = calloc(m.longest + 1, sizeof(*m.ways));
		m.to = calloc(m.longest + 1, sizeof(*m.to));
		m.from = calloc(m.longest + 1, sizeof(*m.from));
		if (m.tokens == NULL || m.weights == NULL || m.ways == NULL || m.to == NULL ||
		    m.from == NULL)
			status = pctl_no_memory(call, "pieces");
		if (status == PCTL_OK)
			status = fit(&m, wanted, call);
		if (status == PCTL_OK)
			status = finish(&m, t, wanted, call);
	}
	free(m.pieces);
	free(m.tokens);
	free(m.weights);
	free(m.ways);
	free(m.to);
	free(m.from);
	token_trie_drop(&m.trie);
	return status;
}
