/* A language model as files have it: a GGUF file, or safetensors beside a config.json. One description for both (pctl_model_shape), and
 * for every role the tensor that plays it. No op and no device is known here; what a tensor's elements are worth is not looked at
 * before pctl_model_hash.
 *
 * A file is believed in nothing: what a family needs is there and has the shape that the description asks for, nothing else is
 * there, and every key that changes what the model computes is understood, or the model is refused with the key's name. All that is
 * wrong is reported at once.
 *
 * Errors: PC6280 to PC6288; those of files of tensors (foundation/tensorfile). */
#ifndef PIPECTL_MODEL_FILE_MODEL_H
#define PIPECTL_MODEL_FILE_MODEL_H

#include "foundation/tensorfile/gguf.h"
#include "runtime/cas/cid.h"

typedef enum pctl_model_family {
	PCTL_MODEL_LLAMA,
	PCTL_MODEL_MISTRAL,
	PCTL_MODEL_MIXTRAL,
	PCTL_MODEL_QWEN2,
	PCTL_MODEL_QWEN2MOE,
	PCTL_MODEL_QWEN3,
	PCTL_MODEL_QWEN3MOE,
	PCTL_MODEL_GEMMA,
	PCTL_MODEL_GEMMA2,
	PCTL_MODEL_PHI3,
	PCTL_MODEL_DEEPSEEK,
	PCTL_MODEL_FAMILIES
} pctl_model_family;

/* Which two of d features of a head turn together: i and i + d/2, or 2i and 2i + 1. The rows of q and k lie accordingly, so it belongs to
 * the file: GGUF files of the llama family have neighbours, everything else has halves. */
typedef enum pctl_model_pairing { PCTL_MODEL_HALVES, PCTL_MODEL_NEIGHBOURS } pctl_model_pairing;

typedef enum pctl_model_scaling {
	PCTL_MODEL_SCALING_NONE,
	PCTL_MODEL_SCALING_LINEAR,
	PCTL_MODEL_SCALING_LLAMA3,
	PCTL_MODEL_SCALING_YARN,
	PCTL_MODEL_SCALING_DYNAMIC,
	PCTL_MODEL_SCALING_LONGROPE
} pctl_model_scaling;

/*
 * factor      by how much positions are stretched (linear, llama3, yarn; dynamic: behind n_context, where nothing is run)
 * low, high   llama3: low_freq_factor, high_freq_factor; yarn: beta_slow, beta_fast, turns within n_original of features that are
 *             stretched whole, and not at all
 * n_original  llama3, yarn, longrope: the context that it was trained with
 * magnitude   yarn, longrope: what cosines and sines are multiplied with
 * dims        features of a head that are turned, the first ones; pairs are of these alone, and the others stay as they are
 * near_factors, far_factors  longrope: what each of the dims / 2 pairs' wave is multiplied with, in contexts of n_original positions at
 *             most and in longer ones; they live as long as whoever made the description
 */
typedef struct pctl_model_rope {
	pctl_model_pairing pairing;
	pctl_model_scaling scaling;
	double base, factor, low, high, magnitude;
	uint64_t n_original, dims;
	const float *near_factors, *far_factors;
} pctl_model_rope;

/*
 * n_ff          features of a feed-forward block, or of one expert
 * n_ff_shared   features of the expert that every token goes to; 0: none. In qwen2moe a gate of one feature weighs its part by a sigmoid
 * n_dense       layers in front that have no experts, of n_ff_dense features, where the others have some
 * n_experts     0: none; n_used: how many of them a token goes to; norm_used: their weights are made to add up to 1
 * window        tokens that one token sees, itself included, in layers with a sliding window; 0: there are none. Layers from
 *               window_first on have it, of those every window_every-th
 * attn_softcap, final_softcap   c of c * tanh(x / c), 0: none
 * attn_scale    what products of q and k are multiplied with
 * embed_scale   what embeddings are multiplied with
 * norm_offset   what is added to the weights of norms as they lie in the file (Gemma's safetensors: 1)
 * gelu          the gate goes through gelu (by tanh); else through silu
 * tied          the output is the embedding's table
 * qkv_bias, o_bias, qk_norm, post_norms   the tensors of these roles are there
 */
typedef struct pctl_model_shape {
	pctl_model_family family;
	uint64_t n_layers, n_embd, n_heads, n_kv_heads, head_dim, n_ff, n_vocab, n_context;
	uint64_t n_experts, n_used, n_ff_shared, n_dense, n_ff_dense;
	uint64_t window, window_first, window_every;
	double rms_eps, attn_softcap, final_softcap, attn_scale, embed_scale, norm_offset;
	pctl_model_rope rope;
	int norm_used, gelu, tied, qkv_bias, o_bias, qk_norm, post_norms;
} pctl_model_shape;

typedef enum pctl_model_role {
	PCTL_ROLE_TOK_EMBD,
	PCTL_ROLE_ROPE_FREQS,
	PCTL_ROLE_ROPE_FAR,
	PCTL_ROLE_ROPE_NEAR,
	PCTL_ROLE_ATTN_NORM,
	PCTL_ROLE_Q,
	PCTL_ROLE_Q_BIAS,
	PCTL_ROLE_K,
	PCTL_ROLE_K_BIAS,
	PCTL_ROLE_V,
	PCTL_ROLE_V_BIAS,
	PCTL_ROLE_QKV,
	PCTL_ROLE_Q_NORM,
	PCTL_ROLE_K_NORM,
	PCTL_ROLE_O,
	PCTL_ROLE_O_BIAS,
	PCTL_ROLE_POST_ATTN_NORM,
	PCTL_ROLE_FFN_NORM,
	PCTL_ROLE_GATE,
	PCTL_ROLE_UP,
	PCTL_ROLE_GATE_UP,
	PCTL_ROLE_DOWN,
	PCTL_ROLE_ROUTER,
	PCTL_ROLE_GATE_EXPERTS,
	PCTL_ROLE_UP_EXPERTS,
	PCTL_ROLE_DOWN_EXPERTS,
	PCTL_ROLE_SHARED_ROUTER,
	PCTL_ROLE_SHARED_GATE,
	PCTL_ROLE_SHARED_UP,
	PCTL_ROLE_SHARED_DOWN,
	PCTL_ROLE_POST_FFN_NORM,
	PCTL_ROLE_OUTPUT_NORM,
	PCTL_ROLE_OUTPUT,
	PCTL_ROLES
} pctl_model_role;

/* Where names and shapes come from: GGUF has all experts of a layer in one tensor [n_experts, rows, columns], safetensors one each. */
typedef enum pctl_model_layout {
	PCTL_MODEL_LAYOUT_GGUF,
	PCTL_MODEL_LAYOUT_SAFETENSORS
} pctl_model_layout;

/* A tensor of a model and what it is for. file, index: where it lies (pctl_model_tensor_file). */
typedef struct pctl_model_tensor {
	pctl_model_role role;
	uint32_t layer, expert;
	const char *name;
	pctl_tensor_type type;
	uint64_t n_bytes;
	uint32_t file;
	uint64_t index;
} pctl_model_tensor;

typedef struct pctl_model pctl_model;

/* path: a GGUF file; a folder with config.json and model.safetensors or model.safetensors.index.json; one of these files in it. */
pctl_status pctl_model_open(const char *path, const pctl_call *call, pctl_model **out);
void pctl_model_close(pctl_model *m); /* NULL is fine */

const pctl_model_shape *pctl_model_shape_of(const pctl_model *m);
pctl_model_layout pctl_model_layout_of(const pctl_model *m);
/* In the order of layers and, within a layer, of roles; NULL behind the last. */
const pctl_model_tensor *pctl_model_tensor_at(const pctl_model *m, uint64_t i);
/* The tensor of a role; NULL: the model has none. layer and expert are 0 for roles without. */
const pctl_model_tensor *pctl_model_tensor_of(const pctl_model *m, pctl_model_role role,
					      uint32_t layer, uint32_t expert);
/* A file of the model, with its path; NULL behind the last. */
pctl_tensor_file *pctl_model_tensor_file(const pctl_model *m, uint32_t file, const char **path);
/* What holds the tensors: the file, or the index of several. */
const char *pctl_model_path(const pctl_model *m);
/* The folder of a model that is one, else NULL. */
const char *pctl_model_folder(const pctl_model *m);

/* All of a tensor is read, every element of it stands for something (PC4213), and the CID of its bytes. */
pctl_status pctl_model_hash(const pctl_model *m, const pctl_model_tensor *t, const pctl_call *call,
			    pctl_cid *out);

/* Words: of a family (NULL: no such one), of a role, of a scaling. */
const char *pctl_model_family_name(pctl_model_family family);
int pctl_model_family_named(const char *name, pctl_model_family *out);
const char *pctl_model_role_name(pctl_model_role role);
/* The number of a role in seeded weights (SEMANTICS.md 19.3). */
uint32_t pctl_model_role_number(pctl_model_role role);
const char *pctl_model_scaling_name(pctl_model_scaling scaling);

/* 1: a model of this shape has tensors of that role; experts: how many a layer, in that layout. */
int pctl_model_needs(const pctl_model_shape *s, pctl_model_role role, pctl_model_layout layout,
		     uint32_t *layers, uint32_t *experts);
/* 1: of the layers of such a model that one has it; of a role without layers 1. */
int pctl_model_layer_has(const pctl_model_shape *s, pctl_model_role role, uint64_t layer);
/* The shape of such a tensor; dtype is left alone. */
void pctl_model_expected(const pctl_model_shape *s, pctl_model_role role, pctl_model_layout layout,
			 pctl_tensor_type *out);
/* Its name, in n bytes of `out`; layer: its number, as it is to stand there. */
void pctl_model_name(const pctl_model_shape *s, pctl_model_role role, pctl_model_layout layout,
		     const char *layer, uint32_t expert, char *out, size_t n);
/* 1: weights may have that type: f32, f16, bf16, f8, blocks. */
int pctl_model_dtype_good(const pctl_dtype *t);
/* 1: what the description has in numbers, and a pipeline takes from there: frequencies' divisors and factors. */
int pctl_model_role_is_said(pctl_model_role role);
/* Those numbers, where `role` is such a one: rope.dims / 2 of them. */
void pctl_model_said(const pctl_model_shape *s, pctl_model_role role, float *out);
/* 1: q, k and v are one tensor, one's rows behind the other's, and so are gate and up. */
int pctl_model_is_fused(const pctl_model_shape *s);
/* 1: weights of norms, biases, the router, frequencies: few, and kept in f32 whatever the others are. */
int pctl_model_role_is_small(pctl_model_role role);
/* 1: the layer has a sliding window. */
int pctl_model_layer_slides(const pctl_model_shape *s, uint64_t layer);
/* Bytes of keys and values that a token takes, in elements of f32. */
uint64_t pctl_model_kv_bytes(const pctl_model_shape *s);
/* What yarn multiplies cosines and sines with where nothing else is said: 0.1 * ln(factor) + 1. */
double pctl_model_yarn_magnitude(double factor);
/* What longrope multiplies cosines and sines with where nothing else is said: sqrt(1 + ln(n_context / n_original) / ln(n_original)). */
double pctl_model_longrope_magnitude(uint64_t n_context, uint64_t n_original);
/* Its factors in a context of so many positions. */
const float *pctl_model_longrope_factors(const pctl_model_shape *s, uint64_t context);
/* What Llama 3's scaling divides the inverse frequency of pair i by: element i of PCTL_ROLE_ROPE_FREQS. */
float pctl_model_rope_divisor(const pctl_model_shape *s, uint64_t i);
/* Fill in what follows from the rest: scales, and f32's nearest of numbers. attn_scale 0: the head's own. */
void pctl_model_complete(pctl_model_shape *s);
/* What cannot be is refused (PC6282): sizes of 0, heads that do not divide, numbers that are none. */
pctl_status pctl_model_shape_check(const pctl_model_shape *s, const char *name,
				   const pctl_call *call);

/*
 * The tokenizer of a GGUF file, as it lies there; nothing of it is understood here.
 *
 * kind, pre        tokenizer.ggml.model ("gpt2", "llama", ..) and .pre; NULL: not said
 * tokens           n strings, of any bytes; scores (f32), types (i32): n, or NULL
 * merges           pairs of a BPE, a blank between them
 * bos eos unk pad  numbers of tokens, -1: not said; add_*: 1, 0, -1: not said
 * chat_template    NULL: none
 */
typedef struct pctl_model_vocabulary {
	char *kind, *pre, *chat_template;
	pctl_gguf_strings tokens, merges;
	float *scores;
	int32_t *types;
	int64_t bos, eos, eot, unk, pad;
	int add_bos, add_eos, add_space_prefix;
} pctl_model_vocabulary;

/* PC6288 where arrays are no arrays of their types, or differ in length, or a number is no token. Of a folder: PC6288, its tokenizer is
 * tokenizer.json. Cleared with pctl_model_vocabulary_clear, also after an error. */
pctl_status pctl_model_vocabulary_read(const pctl_model *m, const pctl_call *call,
				       pctl_model_vocabulary *out);
void pctl_model_vocabulary_clear(pctl_model_vocabulary *v);
/* The keys of a tokenizer of a GGUF file, as they are there, for another one. PC6290: it has none, or one of more than n_vocab tokens. */
pctl_status pctl_model_tokenizer_keys(const char *path, uint64_t n_vocab, const pctl_call *call,
				      pctl_gguf_keys *out);

#endif
