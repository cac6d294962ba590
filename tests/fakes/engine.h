/* An engine without a model: the next token is a hash of the tokens before it and of the sampling, so that an answer can be told
 * without it, and any mistake about slots, positions or order shows. It can be slow, fail, run out of room, and lie on order. */
#ifndef PIPECTL_TESTS_FAKES_ENGINE_H
#define PIPECTL_TESTS_FAKES_ENGINE_H

#include "model/serve/engine.h"

/* What a lying one lets its tokens depend on beside. */
enum { FAKE_HONEST = 0, FAKE_NEIGHBOURS, FAKE_SLOT, FAKE_CHUNK };

/*
 * step_us, token_us  a step takes so long, and for each of its tokens
 * fail_every         each so manieth step fails whole; 0: none
 * pool               positions of all slots together; 0: enough
 * endless            no answer ends by itself: an "a" stands where one would
 * A prompt with the byte 0x07 in it fails its row; one with 0x06 gives a token that there is none of.
 */
typedef struct fake_engine_options {
	uint32_t n_slots, max_chunk, context, n_embd;
	uint32_t step_us, token_us, fail_every, pool, lie, has_chat, endless;
} fake_engine_options;

/* NULL: no memory. The engine is valid until fake_engine_destroy. */
pctl_engine *fake_engine_create(const fake_engine_options *o);
void fake_engine_destroy(pctl_engine *e);

#endif
