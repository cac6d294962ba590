/* What runs a model, as the server sees it: sequences of tokens in slots, a step over all of them, and the text behind tokens. A
 * result is a function of a sequence and its sampling alone: not of other slots, of how a prompt was cut into chunks, nor of the
 * slot. The server counts on that (a sequence may be released and run again from its beginning, in any slot), and its tests ask
 * for it. */
#ifndef PIPECTL_MODEL_SERVE_ENGINE_H
#define PIPECTL_MODEL_SERVE_ENGINE_H

#include "pipectl/host.h"

#define PCTL_ENGINE_TOP_MAX 20u
#define PCTL_ENGINE_NO_TOKEN UINT32_MAX

/*
 * How a token is chosen, on the device. Penalties come first, over the tokens that the row names, then temperature, top_k,
 * top_p, min_p.
 *
 * temperature  0: the largest logit, the lowest token of equal ones; nothing else below but the penalties counts then
 * top_k        0: all
 * top_p, min_p 1 and 0: all
 * seed, stream the draw for the token at position p is a function of (seed, stream, p); stream: which of several answers
 * n_top        so many most probable tokens are told with their logprobs, beside that of the chosen one; at most
 *              PCTL_ENGINE_TOP_MAX
 * logprobs     1: logprob and n_top are wanted; 0: the device need not compute them
 */
typedef struct pctl_engine_sampling {
	float temperature, top_p, min_p;
	float repetition_penalty, presence_penalty, frequency_penalty;
	uint32_t top_k, n_top;
	uint32_t logprobs, stream;
	uint64_t seed;
} pctl_engine_sampling;

typedef struct pctl_engine_top {
	uint32_t token;
	float logprob; /* natural logarithm, after the penalties, before temperature and cuts */
} pctl_engine_top;

enum { PCTL_ENGINE_NOTHING = 0, PCTL_ENGINE_TOKEN, PCTL_ENGINE_EMBEDDING };

/*
 * One sequence in one step: tokens[start .. start + count) are run. What stands before `start` was run in this slot since it was
 * released, in order, so that start is the number of positions that the slot holds.
 *
 * tokens      all of the sequence that is known: n_prompt tokens of the prompt, then those that were generated
 * count       1 to max_chunk
 * adapter     0: the model as it is; i: with adapter i - 1 of the engine's. A slot's rows are all of one, from its release on
 * want        PCTL_ENGINE_TOKEN or PCTL_ENGINE_EMBEDDING only where start + count is n_tokens: of the last token
 *
 * Out:
 * status      PCTL_OK; PCTL_E_LIMIT: there is no room for these positions, the row did not happen and the slot is as before it;
 *             anything else: the row failed, its slot is to be released, and no other row is concerned
 * token       with logprob and top[0 .. n_top), which is in falling order of logprob (of token where equal)
 * embedding   n_embd floats, memory of the caller's
 */
typedef struct pctl_engine_row {
	uint32_t slot, start, count, want;
	const uint32_t *tokens;
	uint32_t n_tokens, n_prompt;
	const pctl_engine_sampling *sampling;
	pctl_status status;
	uint32_t token, n_top, adapter;
	float logprob;
	pctl_engine_top top[PCTL_ENGINE_TOP_MAX];
	float *embedding;
} pctl_engine_row;

/* One message of a chat; name may be NULL. */
typedef struct pctl_engine_message {
	const char *role, *content, *name;
} pctl_engine_message;

/* What may be added to the model, by the name that clients choose it by; cid: what answers are a function of then, in place of the model's. */
typedef struct pctl_engine_adapter {
	const char *name, *cid;
} pctl_engine_adapter;

/*
 * n_slots     sequences in a step: slots 0 .. n_slots - 1
 * max_chunk   tokens of one sequence in a step
 * context     positions of a sequence
 * n_embd      floats of an embedding; 0: the model has none
 * adapters    n_adapters of them
 * model_name  as clients write it; model_cid and semantics say what answers are a function of
 *
 * step        the rows of a step, each of another slot. `call` is cancelled when the server ends at once (PCTL_E_CANCELLED). A status other than PCTL_OK: none of the rows happened and the engine can
 *             go on; it is asked for the slots' release first. [one thread]
 * release     the slot holds nothing any more. [the thread of step, between steps]
 *
 * The others are about text and change nothing. [any thread, also during a step]
 *
 * encode      the tokens of a prompt as a model is given them, with what its tokenizer puts in front; what looks like a special
 *             token in `text` is none. *out is released with free()
 * chat        the tokens of a conversation by the model's template, up to where the assistant's words begin; NULL: the model has
 *             no template
 * piece       the bytes that `token` adds to a text behind `before` (PCTL_ENGINE_NO_TOKEN: at its beginning); none for a special
 *             token. They need be no whole UTF-8, and live as long as the engine. token < n_vocab
 * is_end      1: the model ends its answer by this token
 */
typedef struct pctl_engine {
	void *self;
	const char *model_name, *model_cid, *semantics;
	const pctl_engine_adapter *adapters;
	uint32_t n_slots, max_chunk, context, n_vocab, n_embd, n_adapters;
	pctl_status (*step)(void *self, pctl_engine_row *rows, uint32_t n_rows,
			    const pctl_call *call);
	void (*release)(void *self, uint32_t slot);
	pctl_status (*encode)(void *self, const char *text, const pctl_call *call, uint32_t **out,
			      uint32_t *n_out);
	pctl_status (*chat)(void *self, const pctl_engine_message *messages, uint32_t n_messages,
			    const pctl_call *call, uint32_t **out, uint32_t *n_out);
	void (*piece)(void *self, uint32_t before, uint32_t token, const char **out,
		      uint32_t *n_out);
	uint32_t (*is_end)(void *self, uint32_t token);
} pctl_engine;

#endif
