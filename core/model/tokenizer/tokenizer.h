/* A tokenizer makes text into the numbers that a language model is given, and numbers into text. It is read from a Hugging Face
 * tokenizer.json, made of what a GGUF file says, or trained on texts. Byte-level BPE, BPE of characters (merged by rank, or by
 * score as SentencePiece does) and unigram. What a file asks for and is not known here is refused by name, never ignored: a
 * tokenizer that is nearly right makes a model quietly worse.
 *
 * Text is bytes. What is no UTF-8 in it is kept: byte-level tokenizers and those with byte tokens encode each such byte as
 * itself, others as the unknown token; no pre-token crosses it. Ids depend on nothing but tokenizer, text and flags: no
 * clock, no locale. Character classes are PCRE2's, normal forms utf8proc's (pctl_tokenizer_unicode says which Unicode).
 *
 * A tokenizer does not change once made, but by pctl_tokenizer_configure; any number of threads may use it at once.
 * Errors: PC7001 a file that is not what its format demands, PC7002 a part that is not known here, PC7003 a vocabulary that
 * contradicts itself, PC7004 training, PC7005 an id that is no token, PC7006 a text that is too much for one call. */
#ifndef PIPECTL_MODEL_TOKENIZER_TOKENIZER_H
#define PIPECTL_MODEL_TOKENIZER_TOKENIZER_H

#include <stddef.h>

#include "foundation/base/str.h"
#include "pipectl/host.h"

typedef struct pctl_tokenizer pctl_tokenizer;

#define PCTL_TOKEN_NONE UINT32_MAX
#define PCTL_TOKENIZER_FILE_MAX (256u << 20)
#define PCTL_TOKENIZER_SIZE_MAX (1u << 22) /* tokens */
#define PCTL_TOKENIZER_TOKEN_MAX \
	1024u /* bytes of one: encoding costs so many steps a byte at most */
#define PCTL_TOKENIZER_TEXT_MAX (1u << 26) /* bytes of one call */

typedef enum pctl_token_kind {
	PCTL_TOKEN_HOLE, /* no token has this id */
	PCTL_TOKEN_NORMAL,
	PCTL_TOKEN_UNKNOWN, /* what stands for what the vocabulary has not */
	PCTL_TOKEN_SPECIAL, /* GGUF: control. Text never becomes one unless PCTL_ENCODE_SPECIAL asks for it */
	PCTL_TOKEN_ADDED, /* GGUF: user-defined. Found in text as a whole, with PCTL_ENCODE_ADDED */
	PCTL_TOKEN_BYTE,  /* one byte of what the vocabulary has not */
	PCTL_TOKEN_UNUSED /* never the answer of encode */
} pctl_token_kind;

/* Bytes that need not end with NUL. */
typedef struct pctl_token_text {
	const char *text;
	size_t n;
} pctl_token_text;

/* ---- making one ---- */

/* A tokenizer.json of n bytes; `name` is for messages. bos, eos, pad and the ends are those of well-known names (README.md),
 * until pctl_tokenizer_configure. */
pctl_status pctl_tokenizer_read(const char *name, const char *text, size_t n, const pctl_call *call,
				pctl_tokenizer **out);

/* A tokenizer_config.json: bos_token, eos_token, pad_token, add_bos_token, add_eos_token where they are said; other keys are not
 * the tokenizer's. */
pctl_status pctl_tokenizer_configure(pctl_tokenizer *t, const char *name, const char *text,
				     size_t n, const pctl_call *call);

/* What a GGUF file says under tokenizer.ggml. Arrays live until the call returns. Ids are PCTL_TOKEN_NONE where the file has
 * none; add_* -1 where it does not say. model "gpt2": byte-level BPE by merges, `pre` one of gpt-2, llama-bpe, qwen2,
 * tekken (their other names in README.md); "llama": BPE of characters by scores, with byte tokens. */
typedef struct pctl_tokenizer_arrays {
	const char *name; /* for messages */
	const char *model, *pre;
	const pctl_token_text *tokens;
	const float *scores; /* NULL: none */
	const int32_t *
		types; /* GGUF's numbers: 1 normal 2 unknown 3 control 4 user-defined 5 unused 6 byte; NULL: all normal */
	uint32_t n_tokens;
	const pctl_token_text *merges; /* "LEFT RIGHT" */
	uint32_t n_merges;
	uint32_t bos, eos, eot, pad, unknown; /* eot: generation ends there, too */
	int32_t add_bos, add_eos, add_space_prefix;
} pctl_tokenizer_arrays;

pctl_status pctl_tokenizer_of_arrays(const pctl_tokenizer_arrays *a, const pctl_call *call,
				     pctl_tokenizer **out);

/* Training. kind: bpe (byte-level, by the pre-tokenizer of `family`: gpt2 llama3 qwen2 tekken), llama (BPE of characters, with byte
 * tokens, as SentencePiece makes it), unigram (by expectation maximisation). n_tokens: the size of the vocabulary, all
 * told. special: names of special tokens, which come first; bpe needs none, the others begin with <unk> <s> </s> in any case.
 * fill: where the texts do not give n_tokens, special tokens <|reserved_N|> make up for it; else PC7004. The same texts give the
 * same tokenizer everywhere. */
typedef enum pctl_tokenizer_kind {
	PCTL_TOKENIZER_BPE,
	PCTL_TOKENIZER_LLAMA,
	PCTL_TOKENIZER_UNIGRAM
} pctl_tokenizer_kind;

typedef struct pctl_tokenizer_training {
	pctl_tokenizer_kind kind;
	const char *family; /* of bpe */
	uint32_t n_tokens;
	const pctl_token_text *texts; /* each for itself: no word crosses from one into the next */
	uint32_t n_texts;
	const char *const *special;
	uint32_t n_special;
	uint32_t fill;
} pctl_tokenizer_training;

pctl_status pctl_tokenizer_train(const pctl_tokenizer_training *training, const pctl_call *call,
				 pctl_tokenizer **out);

void pctl_tokenizer_destroy(pctl_tokenizer *t); /* NULL is fine */

/* The tokenizer as a tokenizer.json, to be released with free(). Reading it gives an equal tokenizer, writing that the same bytes.
 * Roles (bos, eos, ..) are not part of such a file. PC7002 where the format has no room: BPE by score. */
pctl_status pctl_tokenizer_write(const pctl_tokenizer *t, const pctl_call *call, char **out,
				 size_t *n_out);

/* ---- text to ids and back ---- */

#define PCTL_ENCODE_BEGIN \
	1u /* what the model is to see before and behind a text: <s> and the like */
#define PCTL_ENCODE_SPECIAL 2u /* special tokens are found in the text; never for text of others */
#define PCTL_ENCODE_ADDED 4u   /* added tokens that are not special are */
#define PCTL_ENCODE_CONTINUED \
	8u /* the text goes on behind a token: a prefix of the whole text's beginning is not put */

typedef struct pctl_token_ids {
	uint32_t *items; /* released with free() */
	uint32_t n, cap;
} pctl_token_ids;

/* The ids of n bytes, appended to *out. Time and memory grow as n log n at most, whatever the text is. */
pctl_status pctl_tokenizer_encode(const pctl_tokenizer *t, const char *text, size_t n,
				  uint32_t flags, const pctl_call *call, pctl_token_ids *out);

/* The bytes that ids stand for, appended to *out. special 0 leaves special tokens out. PC7005 for an id that is no token. */
pctl_status pctl_tokenizer_decode(const pctl_tokenizer *t, const uint32_t *ids, size_t n,
				  int special, const pctl_call *call, pctl_str_buf *out);

/* Ids one after the other into whole characters: bytes of a character that is not complete wait for the next id. What can be no
 * UTF-8 any more is U+FFFD, once for each maximal part of a character (as Unicode's section 3.9 has it). An id that is no token, or
 * one that is unused, has no text: a model may have more rows than its tokenizer has tokens, and draw one of them. */
typedef struct pctl_token_stream {
	const pctl_tokenizer *tokenizer;
	int special;
	int begun;
	uint8_t waiting[4];
	uint32_t n_waiting;
} pctl_token_stream;

void pctl_token_stream_init(pctl_token_stream *s, const pctl_tokenizer *t, int special);
pctl_status pctl_token_stream_push(pctl_token_stream *s, uint32_t id, const pctl_call *call,
				   pctl_str_buf *out);
/* What still waits is no character. */
void pctl_token_stream_end(pctl_token_stream *s, pctl_str_buf *out);

/* ---- what it knows ---- */

/* Ids are below this. */
uint32_t pctl_tokenizer_size(const pctl_tokenizer *t);
/* Is it one for a model of n_vocab tokens? path: what an error names. Error: PC6288 where it has more. */
pctl_status pctl_tokenizer_within(const pctl_tokenizer *t, uint64_t n_vocab, const char *path,
				  const pctl_call *call);
/* 1: white space (Unicode's White_Space) behind this token belongs to it, and is no part of what follows. */
int pctl_tokenizer_strips(const pctl_tokenizer *t, uint32_t id);
/* How many of n bytes in front are such. */
size_t pctl_tokenizer_white_space(const char *text, size_t n);
/* What a token is and which bytes it stands for; those live as long as the tokenizer. HOLE: no such token. */
pctl_token_kind pctl_tokenizer_token(const pctl_tokenizer *t, uint32_t id, pctl_token_text *bytes);
/* The token that is written so in the file (byte-level: in its alphabet), the lowest id where several are; else NONE. */
uint32_t pctl_tokenizer_find(const pctl_tokenizer *t, const char *text, size_t n);

typedef enum pctl_token_role {
	PCTL_TOKEN_BOS,
	PCTL_TOKEN_EOS,
	PCTL_TOKEN_PAD,
	PCTL_TOKEN_UNK
} pctl_token_role;
#define PCTL_TOKEN_ROLES (PCTL_TOKEN_UNK + 1)
uint32_t pctl_tokenizer_role(const pctl_tokenizer *t, pctl_token_role role); /* or NONE */
/* 1: generation ends at this token. */
int pctl_tokenizer_ends(const pctl_tokenizer *t, uint32_t id);
/* In words: "byte-level BPE", ..; the pre-tokenizer; the versions of Unicode. */
const char *pctl_tokenizer_kind_name(const pctl_tokenizer *t);
const char *pctl_tokenizer_pre_name(const pctl_tokenizer *t);
/* The version of Unicode that classes of characters are taken from, and that of normal forms. n: bytes of each place. */
void pctl_tokenizer_unicode(char *classes, char *forms, size_t n);

#endif
