/* Tokens behind a prompt, as many sequences of them as are wanted, by an engine. What comes out is a function of the model, the prompt and the
 * sampling of each sequence: not of how many there are, nor of chunks. */
#ifndef PIPECTL_MODEL_GENERATE_GENERATE_H
#define PIPECTL_MODEL_GENERATE_GENERATE_H

#include "model/serve/engine.h"

/*
 * prompt     n_prompt tokens, at least one
 * n_tokens   of each sequence, at most; it ends sooner behind a token that ends it (unless goes_on), and where its context is full
 * sequences  1 to the engine's slots; number i draws by stream i of the seed
 * adapter    of the engine's: 0: none, i: number i - 1 (serve/engine.h)
 * slots      those that they take, which hold nothing; NULL: 0 and on
 * token      told of each token as it is made, with the number of its sequence; 0 ends the sequence there. NULL: none
 */
typedef struct pctl_generate_options {
	const uint32_t *prompt;
	uint32_t n_prompt, n_tokens, sequences, goes_on, adapter;
	const uint32_t *slots;
	pctl_engine_sampling sampling;
	int (*token)(void *ctx, uint32_t sequence, uint32_t token);
	void *ctx;
} pctl_generate_options;

enum { PCTL_GENERATED_LENGTH, PCTL_GENERATED_END, PCTL_GENERATED_STOPPED, PCTL_GENERATED_CONTEXT };

/* tokens: made ones, n of them. ended: 1; why: PCTL_GENERATED_*. */
typedef struct pctl_generated_sequence {
	uint32_t *tokens;
	uint32_t n, why, ended;
} pctl_generated_sequence;

/* "length", "end", "stopped", "context". */
const char *pctl_generated_why(uint32_t why);

/* By the host's clock, with all that is built on the way: until the first token of any sequence, and from there to the end, in which n_later tokens were made. */
typedef struct pctl_generated {
	pctl_generated_sequence *sequences;
	uint32_t n_sequences, reserved;
	uint64_t first_ns, later_ns, n_later;
} pctl_generated;

typedef struct pctl_generation pctl_generation;

/* A generation step by step: begun, stepped as long as sequences go on (*going of them), and ended, after errors too. A sequence that has ended gives its slot back, the end those of all. What came
 * of it so far is there between steps and lives until the end. `o` is copied but for what `ctx` stands for. Errors: those of the
 * engine's steps, after which nothing but the end is to be called; PC6290 for numbers that cannot be. */
pctl_status pctl_generation_begin(const pctl_engine *engine, const pctl_generate_options *o,
				  const pctl_call *call, pctl_generation **out);
pctl_status pctl_generation_step(pctl_generation *g, const pctl_call *call, uint32_t *going);
const pctl_generated *pctl_generation_made(const pctl_generation *g);
void pctl_generation_end(pctl_generation *g); /* NULL is fine */

/* All of it. `out` is cleared by the caller, after errors too. */
pctl_status pctl_generate(const pctl_engine *engine, const pctl_generate_options *o,
			  const pctl_call *call, pctl_generated *out);
void pctl_generated_clear(pctl_generated *g);

#endif
