/* Language models, by libpipectl: what their files say, text to tokens and back, and an engine that runs one on a device. What pipectl.h says of
 * threads, memory, errors and structures holds here, too.
 *
 * What an engine gives is a function of the model's tensors, the tokens and the sampling: to the bit the same on every device, in every batch, in
 * chunks of any size (core/SEMANTICS.md 18, 19). Tokens are numbers below n_vocab. Logits and embeddings are f32. */
#ifndef PIPECTL_MODEL_H
#define PIPECTL_MODEL_H

#include "pipectl/pipectl.h"

PCTL_C_BEGIN

/* The files of a model and its words; a model on a device; tokens that are being made there. */
typedef struct pipectl_model pipectl_model;
typedef struct pipectl_engine pipectl_engine;
typedef struct pipectl_generation pipectl_generation;

/* ---- files -------------------------------------------------------------------------------- */

/*
 * tokenizer  a tokenizer.json in place of the model's own; NULL: that one
 * family     of the chat template, by name ("qwen3", "llama3", ..); NULL: as the model's own template tells
 */
typedef struct pipectl_model_options {
	pctl_head head;
	const char *tokenizer, *family;
} pipectl_model_options;

/*
 * Open a model: path is a GGUF file (of several parts: the first), or a folder with config.json and safetensors. Its description is
 * read and held against its tensors; what these hold is not looked at. options may be NULL.
 *
 * Errors: PC6280 to PC6287, those of files of tensors; all that is wrong is told.
 */
PCTL_EXPORT pctl_status pipectl_model_open(pipectl *p, const char *path,
					   const pipectl_model_options *options,
					   pipectl_model **out);
PCTL_EXPORT void pipectl_model_release(pipectl_model *m);

#define PIPECTL_MODEL_TIED 1u	     /* the output's weight is the embedding's */
#define PIPECTL_MODEL_QKV_BIAS 2u    /* q, k and v have biases */
#define PIPECTL_MODEL_O_BIAS 4u	     /* so has attention's output */
#define PIPECTL_MODEL_QK_NORM 8u     /* heads of q and k are normed */
#define PIPECTL_MODEL_POST_NORMS 16u /* norms stand behind attention and feed-forward block, too */
#define PIPECTL_MODEL_NORM_USED 32u  /* weights of the chosen experts are made to add up to 1 */

/*
 * What a model is; texts live as long as the model.
 *
 * layout        "gguf" or "safetensors"
 * rope_pairing  "halves" or "neighbours"; rope_scaling: "none", "linear", "llama3", "yarn", "dynamic" or "longrope"
 * activation    "silu" or "gelu"
 * flags         PIPECTL_MODEL_*
 * n_ff          of one expert where there are experts; n_ff_shared: of the shared one, 0: none
 * n_dense       layers in front without experts, of n_ff_dense features, where the others have some
 * n_experts     0: none; n_used: of them for a token
 * window        tokens that one token sees in layers from window_first on, every window_every-th; 0: all
 * parameters    elements of all tensors, n_bytes of them in the files; kv_bytes: of keys and values of one token on a device
 * rope_dims     features of a head that are turned, the first ones
 * rope_low, rope_high, rope_original  of llama3: low_freq_factor, high_freq_factor, and the context it was trained with; of yarn: beta_slow,
 *               beta_fast, and the same; of longrope the last; rope_magnitude: what yarn and longrope multiply cosines and sines with; 0 where there are none
 */
typedef struct pipectl_model_facts {
	pctl_head head;
	const char *path, *family, *layout, *rope_pairing, *rope_scaling, *activation;
	uint64_t n_layers, n_embd, n_heads, n_kv_heads, head_dim, n_ff, n_ff_shared, n_vocab,
		n_context;
	uint64_t n_experts, n_used, window, window_first, window_every;
	uint64_t n_tensors, parameters, n_bytes, kv_bytes, rope_original;
	double rms_eps, rope_base, rope_factor, rope_low, rope_high, rope_magnitude;
	double attn_scale, attn_softcap, final_softcap, embed_scale, norm_offset;
	uint32_t flags, reserved;
	uint64_t n_dense, n_ff_dense, rope_dims;
} pipectl_model_facts;
PCTL_EXPORT pctl_status pipectl_model_describe(pipectl_model *m, pipectl_model_facts *out);

/* A tensor and what it is for ("q", "down_experts", ..); it lives as long as the model. dims: rank numbers. layer and expert: 0 for
 * roles without; n_bytes: in its file. */
typedef struct pipectl_model_tensor {
	pctl_head head;
	const char *name, *role, *dtype, *file;
	const uint64_t *dims;
	uint64_t n_bytes;
	uint32_t rank, layer, expert, reserved;
} pipectl_model_tensor;
/* The i-th of n_tensors; PC0011 past the end. */
PCTL_EXPORT pctl_status pipectl_model_tensor_at(pipectl_model *m, uint64_t i,
						pipectl_model_tensor *out);
/* All of tensor i is read, every element of it stands for something (PC4213), and the CID of its bytes. */
PCTL_EXPORT pctl_status pipectl_model_tensor_cid(pipectl_model *m, uint64_t i,
						 char cid[PIPECTL_CID_SIZE]);
/* All that `pipectl model check --full` looks at: every tensor as above, and the tokenizer where there is one. Errors: PC4213, PC6288, PC7001 to
 * PC7003, those of files. */
PCTL_EXPORT pctl_status pipectl_model_check(pipectl_model *m);

/*
 * An adapter (LoRA): projections of the model have a product of low rank added to what they give (core/SEMANTICS.md 19.5).
 *
 * path   a GGUF file whose general.type is adapter, or a folder or file of PEFT
 * name   what it is chosen by (pipectl_engine_adapter): 1 to 128 letters, digits and .-_:/, not the model's own; adapters of one name are added one behind
 *        another, in their order. Not looked at by pipectl_model_pipeline, which adds all
 * scale  what its own scale is multiplied with, -1e6 to 1e6; 0: 1
 */
typedef struct pipectl_lora {
	const char *path, *name;
	float scale;
	uint32_t reserved;
} pipectl_lora;

#define PIPECTL_MODEL_UNROLLED 1u   /* layer by layer, without groups and state */
#define PIPECTL_MODEL_ALL_LOGITS 2u /* logits of every token, not of each sequence's last alone */

/* batch: sequences at a time, chunk: tokens of each, context: positions that keys and values are kept for; 0: 1, 1, the model's own but at
 * most 4,096. flags: PIPECTL_MODEL_UNROLLED, _ALL_LOGITS. loras: n_loras adapters, added in their order. */
typedef struct pipectl_model_plan {
	pctl_head head;
	uint64_t batch, chunk, context;
	uint32_t flags, reserved;
	const pipectl_lora *loras;
	uint32_t n_loras, reserved2;
} pipectl_model_plan;
/* The text of a pipeline file that runs the model, as `pipectl model pipeline` writes it; released with pipectl_free. plan may be NULL.
 * Errors: PC6290; PC6294 to PC6299 for adapters. */
PCTL_EXPORT pctl_status pipectl_model_pipeline(pipectl_model *m, const pipectl_model_plan *plan,
					       char **out);

/* ---- tokens ------------------------------------------------------------------------------- */

/*
 * kind      of the tokenizer in words, "byte-level BPE"; pre: how it parts texts; family: of the chat template, NULL: none that is known
 * bos ..    tokens, UINT32_MAX: there is none
 */
typedef struct pipectl_tokenizer_facts {
	pctl_head head;
	const char *kind, *pre, *family;
	uint32_t n_tokens, bos, eos, pad, unknown, reserved;
} pipectl_tokenizer_facts;
/* The tokenizer is read when one of these is first called. Errors of each: PC6288 (the model has none, or of more tokens than it has),
 * PC7001 to PC7003, PC7021 where a family was asked for or a template is of none that is known, PC7023 where the vocabulary lacks a token of
 * the family that was asked for. */
PCTL_EXPORT pctl_status pipectl_model_tokenizer(pipectl_model *m, pipectl_tokenizer_facts *out);

#define PIPECTL_ENCODE_BEGIN 1u /* with what the model sees before and behind a text */
#define PIPECTL_ENCODE_SPECIAL \
	2u			/* special tokens are found in the text; never for text of others */
#define PIPECTL_ENCODE_ADDED 4u /* added tokens that are not special are */
#define PIPECTL_ENCODE_CONTINUED 8u /* the text goes on behind a token */

/* The tokens of n_bytes of text: *ids, n of them, are the model's until the next call of this or of pipectl_model_chat. A prompt is encoded with
 * PIPECTL_ENCODE_BEGIN | PIPECTL_ENCODE_ADDED. Errors: PC7006 (too much for one call). */
PCTL_EXPORT pctl_status pipectl_model_encode(pipectl_model *m, const char *text, uint64_t n_bytes,
					     uint32_t flags, const uint32_t **ids, uint32_t *n);
/* The bytes that n tokens stand for, which need be no whole UTF-8 and end with a NUL behind them: the model's until the next call.
 * special 0 leaves special tokens out. Errors: PC7005 (no token). */
PCTL_EXPORT pctl_status pipectl_model_decode(pipectl_model *m, const uint32_t *ids, uint32_t n,
					     uint32_t special, const char **text,
					     uint64_t *n_bytes);

/* role: "system", "user" or "assistant"; content: a text that becomes no special token, whatever it says. */
typedef struct pipectl_message {
	const char *role, *content;
} pipectl_message;

#define PIPECTL_CHAT_PROMPT 1u	    /* the assistant's turn is begun */
#define PIPECTL_CHAT_NO_THINKING 2u /* Qwen 3: with thoughts that are empty */

/* The tokens of a conversation, what stands before all among them; theirs as of pipectl_model_encode. Errors: PC7021 (no template),
 * PC7022 (messages that it does not take), PC7023. */
PCTL_EXPORT pctl_status pipectl_model_chat(pipectl_model *m, const pipectl_message *messages,
					   uint32_t n_messages, uint32_t flags,
					   const uint32_t **ids, uint32_t *n);

/* ---- an engine ---------------------------------------------------------------------------- */

/*
 * backends    selectors in order of preference; n_backends 0: the policy's order
 * slots       sequences at a time, 0: 1, at most 1,024
 * chunk       tokens of a prompt in one step, 0: 64
 * context     positions of a sequence, 0: the model's, but at most 4,096; rounded up to whole pages of 64
 * pages       of the cache of keys and values, 0: as many as all slots need
 * verify_ppm  share of steps that the reference does again, in millionths; never less than the policy's
 * memory_budget  bytes of device memory that all of it may take, 0: what the device has, and never more than the policy's. Weights that do not
 *             fit stay in the host's memory and come to the device in each step; the answers are the same
 * loras       n_loras adapters that may be used, at most 64; none is until pipectl_engine_adapter says so
 */
typedef struct pipectl_engine_options {
	pctl_head head;
	const char *const *backends;
	uint32_t n_backends, slots, chunk, context, pages, verify_ppm;
	uint64_t memory_budget;
	const pipectl_lora *loras;
	uint32_t n_loras, reserved;
} pipectl_engine_options;

/* Open an engine over a model's files, which are all read once and named by their CID. Weights go to the device, and pipelines are built,
 * when a step first needs them. The model may be released before; options may be NULL.
 *
 * Errors: those of pipectl_model_tokenizer; PC4213; PC6290 for sizes that cannot be; PC6294 to PC6299 for adapters. */
PCTL_EXPORT pctl_status pipectl_engine_open(pipectl_model *m, const pipectl_engine_options *options,
					    pipectl_engine **out);
/* Generations of it may be released after it. */
PCTL_EXPORT void pipectl_engine_release(pipectl_engine *e);

/*
 * model       the CID of its description and tensors, semantics: the version of what programs mean: of these two and what is asked answers
 *             are a function
 * device      selector, device_name as its driver says; NULL before the first step. evidence: how that device's word stands
 * steps, submits  so far; dispatches: of the last step of single tokens
 * total_bytes on the device: constant_bytes of weights and tables that stay there, cache_bytes of keys and values, the rest what work needs;
 *             peak_bytes: the most that it was
 * host_ns, device_ns  of all steps; 0: unknown, or the policy keeps telemetry to itself
 * uploaded_bytes  weights that came to the device in steps so far, because not all may stay there; of the last step of single tokens,
 *             token_uploaded_bytes in token_submits submissions (0 and 1 where all stay)
 * adapter     the name of the one in use, of n_adapters names; NULL: none is. answers_of: the CID of what answers are a function of, beside semantics: the
 *             model, or the model with that adapter
 */
typedef struct pipectl_engine_facts {
	pctl_head head;
	const char *model, *semantics, *device, *device_name, *evidence;
	uint64_t steps, submits, dispatches, host_ns, device_ns;
	uint64_t total_bytes, constant_bytes, cache_bytes, cache_token_bytes;
	uint32_t slots, chunk, context, n_vocab, n_embd, n_free_slots;
	uint64_t peak_bytes, uploaded_bytes, token_uploaded_bytes, token_submits;
	const char *adapter, *answers_of;
	uint32_t n_adapters, reserved;
} pipectl_engine_facts;
PCTL_EXPORT pctl_status pipectl_engine_describe(pipectl_engine *e, pipectl_engine_facts *out);

/* Use the adapters of that name from now on, NULL: none: for logits, embeddings, generations that are begun and statements that are asked again. Those that are under
 * way go on with what they were begun with, beside others. Errors: PC6299 (there is no such name). */
PCTL_EXPORT pctl_status pipectl_engine_adapter(pipectl_engine *e, const char *name);

/*
 * Logits behind n tokens, n_vocab floats, or with `all` behind each of them, [n, n_vocab] row by row, token by token; the embedding of n tokens, n_embd floats: the last one's features
 * behind the last norm. n_floats: how many `out` has, exactly. One slot is used meanwhile.
 *
 * Errors: PC6290 (no tokens, more than the context, no free slot, pages), PC0011 (n_floats), those of steps of a resident run (resident.h).
 */
PCTL_EXPORT pctl_status pipectl_engine_logits(pipectl_engine *e, const uint32_t *ids, uint32_t n,
					      uint32_t all, float *out, uint64_t n_floats);
PCTL_EXPORT pctl_status pipectl_engine_embed(pipectl_engine *e, const uint32_t *ids, uint32_t n,
					     float *out, uint64_t n_floats);

/* ---- generating --------------------------------------------------------------------------- */

/*
 * A token as it was made.
 *
 * sequence   of which it is; token: its number
 * text       whole characters that it completes, n_bytes of UTF-8 without a NUL; what can be no UTF-8 is U+FFFD. Special tokens have none
 * logits     n_logits floats that it was chosen from, before penalties; NULL without PIPECTL_GENERATE_LOGITS
 */
typedef struct pipectl_generated_token {
	pctl_head head;
	const char *text;
	uint64_t n_bytes;
	const float *logits;
	uint32_t n_logits, sequence, token, reserved;
} pipectl_generated_token;

#define PIPECTL_GENERATE_ON 1u	    /* go on behind a token that ends the text */
#define PIPECTL_GENERATE_LOGITS 2u  /* tokens are told with their logits */
#define PIPECTL_GENERATE_RECEIPT 4u /* a signed statement is made (pipectl_generation_receipt) */

/*
 * What is asked. It is copied, but for ctx.
 *
 * prompt      n_prompt tokens, at least one
 * n_tokens    of each sequence, at most; sequences: 0: 1; sequence i draws by stream i of the seed
 * temperature 0: the largest logit, of equal ones the lowest token; then seed, top_k, top_p and min_p change nothing
 * top_k       0: all; top_p: 0 and 1: all; min_p: 0: all
 * repetition_penalty  0 and 1: none; presence_penalty, frequency_penalty: 0: none
 * token       told of each token in the call that made it; 0 ends the sequence. The structure lives until it returns. NULL: nobody is told
 */
typedef struct pipectl_generate_options {
	pctl_head head;
	const uint32_t *prompt;
	uint32_t n_prompt, n_tokens, sequences, flags;
	uint64_t seed;
	float temperature, top_p, min_p;
	float repetition_penalty, presence_penalty, frequency_penalty;
	uint32_t top_k, reserved;
	void *ctx;
	uint32_t (*token)(void *ctx, const pipectl_generated_token *t);
} pipectl_generate_options;

/* Begin: slots are taken, and nothing runs. Several generations of an engine may be under way, as many sequences as there are slots; one that has
 * ended gives its slot back.
 * Errors: PC6290 (numbers that cannot be, no free slots), PC0011. */
PCTL_EXPORT pctl_status pipectl_generation_begin(pipectl_engine *e,
						 const pipectl_generate_options *options,
						 pipectl_generation **out);
/* One step of all its sequences: a chunk of the prompt, or a token of each. *going: how many go on; 0: it is finished, and further steps do
 * nothing. Errors: those of steps of a resident run, PC0004, PC6290 (pages); a generation that met one is only to be released. */
PCTL_EXPORT pctl_status pipectl_generation_step(pipectl_generation *g, uint32_t *going);
/* Begin, and steps to the end. On an error *out is NULL. */
PCTL_EXPORT pctl_status pipectl_generate(pipectl_engine *e, const pipectl_generate_options *options,
					 pipectl_generation **out);
PCTL_EXPORT void pipectl_generation_release(pipectl_generation *g);

/*
 * A sequence so far; it lives until the next step.
 *
 * tokens    n_tokens that were made
 * text      all their pieces, n_bytes and a NUL; where it ended with a character that is not whole, U+FFFD for that
 * ended_by  "length", "end" (a token that ends texts), "stopped" (by the callback), "context" (it is full); NULL: it goes on
 */
typedef struct pipectl_sequence {
	pctl_head head;
	const uint32_t *tokens;
	const char *text, *ended_by;
	uint64_t n_bytes;
	uint32_t n_tokens, reserved;
} pipectl_sequence;
/* PC0011 past the last. */
PCTL_EXPORT pctl_status pipectl_generation_sequence(pipectl_generation *g, uint32_t i,
						    pipectl_sequence *out);

/* The signed statement of a generation that is finished and was asked for one, of what was asked, the tokens and the CID of all logits: *text, n_bytes and a NUL,
 * lives as long as the generation. PC0011 where it was not asked for, or is not finished. */
PCTL_EXPORT pctl_status pipectl_generation_receipt(pipectl_generation *g, const char **text,
						   uint64_t *n_bytes);

/*
 * Ask again what a statement says was asked, and compare. name is for messages; signer: the key that it must be by, or NULL. *out (may be
 * NULL): what was made now.
 *
 * Errors: PC6291 (no statement), PC5012 (not as it was signed, or by another), PC6292 (another model, token or logits, at the first that differs), those of
 * pipectl_generate.
 */
PCTL_EXPORT pctl_status pipectl_generation_replay(pipectl_engine *e, const char *name,
						  const char *text, uint64_t n_bytes,
						  const char *signer, pipectl_generation **out);

PCTL_C_END

#endif
