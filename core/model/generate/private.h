/* What the parts of `generate` share. */
#ifndef PIPECTL_MODEL_GENERATE_PRIVATE_H
#define PIPECTL_MODEL_GENERATE_PRIVATE_H

#include "foundation/base/arena.h"
#include "foundation/base/map.h"
#include "model/generate/model_engine.h"
#include "model/generate/words.h"
#include "model/pipeline/pipeline.h"

#define ENGINE_INPUTS 15u
#define ENGINE_OUTPUTS 6u
#define ENGINE_SIZES 32u /* with one adapter, or none */

/* Inputs of a step, in the order in which residents take them; those of later rows are there by what a size gives. */
enum {
	IN_TOKENS,
	IN_START,
	IN_COUNT,
	IN_PAGES,
	IN_TEMPERATURE,
	IN_TOP_K,
	IN_TOP_P,
	IN_MIN_P,
	IN_KEY,
	IN_POSITION,
	IN_SEEN,
	IN_REPETITION,
	IN_PRESENCE,
	IN_FREQUENCY,
	IN_HISTORY
};
enum { OUT_LOGITS, OUT_TOKEN, OUT_LOGPROB, OUT_TOP, OUT_TOP_LOGPROB, OUT_EMBEDDING };

/*
 * One size of work, built once: `batch` sequences of up to `chunk` tokens, which give what `gives` says, by the model with adapter number
 * `adapter` of rows.
 *
 * in, out   by IN_ and OUT_: the bytes of a step, NULL where it has none
 */
typedef struct engine_size {
	uint32_t batch, chunk, gives, adapter;
	pctl_loaded_pipeline loaded;
	pctl_resident *resident;
	void *in[ENGINE_INPUTS], *out[ENGINE_OUTPUTS];
	uint64_t in_bytes[ENGINE_INPUTS], out_bytes[ENGINE_OUTPUTS];
	pctl_arena *arena;
} engine_size;

/* Adapters, each with its CID; sets: what the engine tells of those that are used together. */
typedef struct engine_loras {
	pctl_adapters all;
	pctl_cid *cids;
	pctl_engine_adapter *sets;
	uint32_t n_sets;
} engine_loras;

/* The pages of a slot, and how many positions it holds; lost: what they held is gone. */
typedef struct engine_slot {
	uint32_t *pages;
	uint32_t n_pages, n_held, lost;
} engine_slot;

struct pctl_model_engine {
	pctl_installation *in;
	pctl_arena *arena;
	pctl_model *model;
	const char *scratch, *path;
	pctl_model_words words;
	pctl_run_request request;
	pctl_engine engine;
	uint32_t n_pages, n_free, slot_pages;
	uint32_t *free_pages;
	engine_slot *slots;
	engine_loras loras;
	engine_size *sizes;
	uint32_t n_sizes, singles; /* singles: what is left of the options' */
	pctl_logits_sink sink;
	void *sink_ctx;
	pctl_model_engine_facts facts;
	char cid[PCTL_CID_TEXT_SIZE];
	pctl_map *cids; /* pctl_cid, by the name of an input */
};

/* text.c: the model's words, and the engine's calls about text. */
pctl_status engine_open_text(pctl_model_engine *e, const pctl_model_engine_options *o,
			     const pctl_call *call);

/* choice.c: what a pipeline gives (PCTL_MODEL_GIVES_*) for a token that is chosen so; a word of an input, where there is such a one; all inputs that row
 * i's token is chosen by, `history` words a row of tokens that were. */
uint32_t engine_choice_gives(const pctl_engine_sampling *s);
void engine_put(void *const *in, uint32_t input, uint32_t at, uint32_t word);
void engine_put_f32(void *const *in, uint32_t input, uint32_t at, float x);
void engine_put_choice(void *const *in, uint32_t i, uint64_t history, const pctl_engine_row *r);

/* pages.c: room for positions up to `end`; PCTL_E_LIMIT without a word where there is none, and nothing has changed then. */
pctl_status engine_take_pages(pctl_model_engine *e, uint32_t slot, uint32_t end);
void engine_give_pages(pctl_model_engine *e, uint32_t slot);

/* sizes.c: the name of an input; the size that is wanted, built if it is not there; is it. */
const char *engine_input_name(uint32_t input);
pctl_status engine_size_of(pctl_model_engine *e, uint32_t batch, uint32_t chunk, uint32_t gives,
			   uint32_t adapter, const pctl_call *call, engine_size **out);
int engine_has_size(const pctl_model_engine *e, uint32_t batch, uint32_t chunk, uint32_t gives,
		    uint32_t adapter);
void engine_close_sizes(pctl_model_engine *e);

/* open.c: remember what an input is, for pctl_run_options.cid_of. */
pctl_status engine_keep(pctl_model_engine *e, const char *input, const pctl_cid *cid,
			const pctl_call *call);
/* loras.c: adapters opened, held against the model and named, once that one is. */
pctl_status engine_open_loras(pctl_model_engine *e, const pctl_model_engine_options *o,
			      const pctl_call *call);
void engine_close_loras(pctl_model_engine *e);

/* step.c */
pctl_status engine_step(void *self, pctl_engine_row *rows, uint32_t n_rows, const pctl_call *call);
void engine_release(void *self, uint32_t slot);

#endif
