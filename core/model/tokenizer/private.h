/* The inside of a tokenizer, shared by the files of this folder. */
#ifndef PIPECTL_MODEL_TOKENIZER_PRIVATE_H
#define PIPECTL_MODEL_TOKENIZER_PRIVATE_H

#include "foundation/base/arena.h"
#include "foundation/base/vec.h"
#include "model/tokenizer/tokenizer.h"

#define SPACE_MARK "\xe2\x96\x81" /* U+2581, a space of SentencePiece */
#define SPACE_MARK_N 3u
#define SPLITS_MAX 2u
#define NORMALS_MAX 8u

/* text: as the file writes it; bytes: what it stands for. in_model: in the model's own vocabulary, so that a merge can end there.
 * added: among the added tokens of the file. normalised: an added token that is looked for behind normalisation. strips: white space behind it
 * is taken with it. */
typedef struct token {
	pctl_token_text text, bytes;
	double score;
	pctl_token_kind kind;
	uint8_t in_model, added, normalised, strips;
} token;

/* Texts to numbers, open addressing; the texts are in `tokens`. */
typedef struct token_table {
	uint32_t *slots; /* 1 + id, 0 empty */
	uint32_t n_slots;
	int by_bytes; /* by what tokens stand for, not by how they are written */
} token_table;

/* A trie over bytes: from (node, byte) to a node, and the token that ends at a node. Node 0 is the root. */
typedef struct token_trie {
	uint64_t *keys; /* 1 + (node << 8 | byte), 0 empty */
	uint32_t *nodes;
	uint32_t n_slots;
	uint32_t *ends; /* id, or NONE */
	uint32_t n, cap;
} token_trie;

typedef struct merge {
	uint32_t left, right, result;
} merge;

/* (left, right) to the number of a merge: its rank. */
typedef struct merge_table {
	uint64_t *keys;
	uint32_t *ranks;
	uint32_t n_slots;
} merge_table;

typedef enum model_kind { MODEL_BPE, MODEL_SCORES, MODEL_UNIGRAM } model_kind;
typedef enum normal_kind {
	NORMAL_NFC,
	NORMAL_NFKC,
	NORMAL_LOWERCASE,
	NORMAL_PREPEND, /* a space mark, before what is not empty */
	NORMAL_SPACES	/* spaces become space marks */
} normal_kind;
/* none, a space mark before every first word, or before that of the whole text alone. */
typedef enum prefix_kind { PREFIX_NEVER, PREFIX_ALWAYS, PREFIX_FIRST } prefix_kind;

struct pctl_tokenizer {
	pctl_arena *arena;
	token *tokens;
	uint32_t n, cap;
	token_table found; /* all, by text */
	token_table model; /* what merges and pieces can be; byte-level: by bytes */

	model_kind kind;
	int byte_level, byte_fallback, fuse_unknown, ignore_merges;
	uint32_t unknown;
	uint32_t bytes[256]; /* the token of a byte, or NONE */
	merge *merges;
	uint32_t n_merges, cap_merges;
	merge_table ranks;
	token_trie pieces; /* unigram */
	double least_score;

	normal_kind normals[NORMALS_MAX];
	uint32_t n_normals;
	const struct split_rule *split; /* NULL: none */
	struct split_code *code;	/* of it */
	int space_before;		/* byte-level: a blank before a segment that has none */
	int metaspace, metaspace_split;
	prefix_kind prefix;
	int split_spaces; /* Gemma's Split at blanks, of which normalisation left none; kept for writing */
	int cut_marks; /* no piece has a space mark behind anything else: a text can be cut there, and nothing changes */
	int strip; /* decoding drops one blank before all */

	token_trie added, added_normalised; /* id, with kinds told apart when met */
	int has_added, has_normalised;
	uint32_t *before, *behind; /* PCTL_ENCODE_BEGIN */
	uint32_t n_before, n_behind;
	uint32_t roles[PCTL_TOKEN_ROLES];
	uint8_t *ends; /* by id */
};

/* A tokenizer without tokens; NULL: no memory. */
pctl_tokenizer *tokenizer_create(void);
/* Token `id`, which must be a hole. 0: no memory. Ids may come in any order. */
int tokenizer_put(pctl_tokenizer *t, uint32_t id, const char *text, size_t n, pctl_token_kind kind,
		  double score);
int tokenizer_add_merge(pctl_tokenizer *t, uint32_t left, uint32_t right, uint32_t result);
/* All tokens and settings are there: tables are made and what must hold is checked (PC7003). `name` is for messages. */
pctl_status tokenizer_finish(pctl_tokenizer *t, const char *name, const pctl_call *call);
/* Roles and ends by well-known names (roles.c). */
void tokenizer_name_roles(pctl_tokenizer *t);
void tokenizer_mark_ends(pctl_tokenizer *t);
/* `before` and `behind` as ids alone; 0: no memory. */
int tokenizer_surround(pctl_tokenizer *t, const uint32_t *before, uint32_t n_before,
		       const uint32_t *behind, uint32_t n_behind);

uint32_t token_table_get(const token_table *table, const token *tokens, const char *text, size_t n);
/* 0: no memory; *had is the id that has this text already, or NONE, and nothing is put. */
int token_table_put(token_table *table, uint32_t room, const token *tokens, uint32_t id,
		    uint32_t *had);
void token_table_drop(token_table *table);

int token_trie_init(token_trie *trie);
int token_trie_put(token_trie *trie, const char *text, size_t n, uint32_t id);
/* The node behind `node` by a byte, 0: none. */
uint32_t token_trie_next(const token_trie *trie, uint32_t node, uint8_t byte);
void token_trie_drop(token_trie *trie);

/* The rank of a pair, NONE. */
uint32_t merge_rank(const merge_table *table, uint32_t left, uint32_t right);
/* 0: no memory; a pair that is there keeps its first rank. */
int merge_table_put(merge_table *table, uint32_t room, uint32_t left, uint32_t right,
		    uint32_t rank);
void merge_table_drop(merge_table *table);

/* The alphabet of byte-level files: byte to code point and UTF-8 of it; and back: 1 and the bytes (at most n), 0 where a character
 * is none of it. */
uint32_t alphabet_code(uint8_t byte);
uint32_t alphabet_write(uint8_t byte, char out[2]);
int alphabet_read(const char *text, size_t n, char *out, size_t *n_out);
/* The byte that "<0xAB>" writes, -1: none. */
int byte_token(const char *text, size_t n);

/* The known pre-tokenizer expressions. */
typedef struct split_rule {
	const char *name;	/* of the family */
	const char *expression; /* as tokenizer.json writes it */
	const char *pattern;	/* as PCRE2 is given it, with the same meaning */
	int in_byte_level;	/* it is ByteLevel's own */
	int nfc;		/* models of the family normalise so */
	int ignore_merges;	/* and take a word that is a token whole */
	const char *pres;	/* what GGUF calls it, blanks between */
} split_rule;
const split_rule *split_rule_at(uint32_t i); /* NULL behind the last */
const split_rule *split_rule_named(const char *name);
const split_rule *split_rule_of_pre(const char *pre);
const split_rule *split_rule_of(const char *expression);

/* Called for each pre-token in order; anything but PCTL_OK ends it. */
typedef pctl_status (*split_word)(void *ctx, const char *text, size_t n);
/* The expression ready for use, released with split_code_drop; any number of threads may use it. */
typedef struct split_code split_code;
pctl_status split_compile(const split_rule *rule, const pctl_call *call, split_code **out);
void split_code_drop(split_code *code); /* NULL is fine */
/* The pre-tokens of n bytes; runs of bytes that are no UTF-8 are one each. */
pctl_status split_text(const split_code *code, const char *text, size_t n, const pctl_call *call,
		       split_word word, void *ctx);

/* n bytes normalised into *out, which the caller drops; *changed 0: as they are, *out is empty. What is no UTF-8 stays. */
pctl_status normalise(const pctl_tokenizer *t, const char *text, size_t n, const pctl_call *call,
		      pctl_str_buf *out, int *changed);
/* Spaces into space marks, `prefix` before all. 0: no memory. */
int mark_spaces(const char *text, size_t n, int prefix, pctl_str_buf *out);

/* Memory that words of one call share. */
typedef struct scratch {
	struct symbol *symbols;
	struct candidate *heap;
	struct lattice *lattice;
	uint32_t *path;
	size_t n_symbols, n_heap, n_lattice, n_path;
} scratch;
void scratch_drop(scratch *s);
/* Room for n elements of `size` bytes at *items, of which *have is the count; 0: no memory. Nothing is kept. */
int scratch_room(void **items, size_t *have, size_t n, size_t size);

/* The ids of one pre-token, which is not empty. */
pctl_status bpe_encode(const pctl_tokenizer *t, scratch *s, const char *text, size_t n,
		       const pctl_call *call, pctl_token_ids *out);
pctl_status unigram_encode(const pctl_tokenizer *t, scratch *s, const char *text, size_t n,
			   const pctl_call *call, pctl_token_ids *out);
/* The best way to the byte before which it stands: its sum, where its last piece begins, and which piece that is (NONE: a character
 * that is none). */
typedef struct lattice {
	double sum;
	uint32_t from, id;
	int reached;
} lattice;
/* The best ways to each of the n + 1 places of a word. `without`: this piece may not be used (NONE: all may). */
void unigram_search(const token_trie *pieces, const token *tokens, double unknown, uint32_t without,
		    const char *text, size_t n, lattice *ways);
/* What the vocabulary has not: byte tokens, or the unknown token. *unknown: the last id was the unknown one, for fusing. */
pctl_status unknown_encode(const pctl_tokenizer *t, const char *text, size_t n,
			   const pctl_call *call, int *unknown, pctl_token_ids *out);

/* Of training (train.c). Distinct words with how often they came, in the order in which they came first. */
typedef struct train_word {
	const char *text;
	uint32_t n;
	uint64_t count;
} train_word;
typedef struct train_words {
	pctl_arena *arena;
	train_word *items;
	uint32_t n, cap;
	uint32_t *slots; /* 1 + number */
	uint32_t n_slots;
} train_words;
pctl_status train_bpe(pctl_tokenizer *t, const train_words *words, uint32_t n_tokens,
		      const pctl_call *call);
pctl_status train_unigram(pctl_tokenizer *t, const train_words *words, uint32_t n_tokens,
			  const pctl_call *call);

#endif
