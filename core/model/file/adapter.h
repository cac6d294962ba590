/* An adapter of a language model: for some of its projections two matrices of low rank, A [r, n] and B [m, r], whose product is added to what the projection gives, times a
 * scale (LoRA, SEMANTICS.md 19.5). Read from a GGUF file as llama.cpp has it, or from adapter_model.safetensors beside adapter_config.json as PEFT
 * writes them; what its elements are worth is not looked at before it is hashed.
 *
 * As with models nothing is believed, a key that changes what is computed is understood or refused by its name, and all that is wrong is told at once.
 *
 * Errors: PC6294 to PC6299; those of files of tensors (foundation/tensorfile). */
#ifndef PIPECTL_MODEL_FILE_ADAPTER_H
#define PIPECTL_MODEL_FILE_ADAPTER_H

#include "model/file/model.h"

#define PCTL_ADAPTERS_MAX 64u
#define PCTL_ADAPTER_RANK_MAX 65536u
#define PCTL_ADAPTER_NUMBER 24u /* bytes of a scale, as "%.9g" writes it */

/*
 * Both matrices of a projection.
 *
 * module  what they are added to, in the file's words: "model.layers.0.self_attn.q_proj", "blk.0.attn_q.weight"
 * names, types, n_bytes, indices  of A and B in the file
 * role, layer  of the model that it was held against; PCTL_ROLES: none yet
 */
typedef struct pctl_adapter_pair {
	const char *module, *names[2];
	pctl_tensor_type types[2];
	uint64_t n_bytes[2], indices[2];
	pctl_model_role role;
	uint32_t layer;
} pctl_adapter_pair;

/*
 * rank          r of config.json; 0: each pair has its own
 * rank_scaled   the scale is alpha over the root of r (use_rslora)
 * architecture  of GGUF; NULL: not said
 */
typedef struct pctl_adapter_facts {
	pctl_model_layout layout;
	double alpha;
	uint64_t rank;
	int rank_scaled;
	const char *architecture;
} pctl_adapter_facts;

typedef struct pctl_adapter pctl_adapter;

/* 1: by its name, or by what it says of its own type, that is an adapter and no model; whether it is a good one is not looked at. */
int pctl_adapter_is(const char *path);
/* path: a GGUF file; a folder with adapter_config.json and adapter_model.safetensors; one of these files in it. */
pctl_status pctl_adapter_open(const char *path, const pctl_call *call, pctl_adapter **out);
void pctl_adapter_close(pctl_adapter *a); /* NULL is fine */

const pctl_adapter_facts *pctl_adapter_facts_of(const pctl_adapter *a);
/* The file that holds the tensors, and its path. */
pctl_tensor_file *pctl_adapter_file(const pctl_adapter *a, const char **path);
/* By their modules' names, or, once it was held against a model, by layer and role; NULL behind the last. */
const pctl_adapter_pair *pctl_adapter_at(const pctl_adapter *a, uint64_t i);

/* Hold it against a model: its architecture is the model's, every pair belongs to a projection and has that one's size, and none is missing that
 * target_modules asks for (PC6297, PC6298). Once. */
pctl_status pctl_adapter_fit(pctl_adapter *a, const pctl_model *m, const pctl_call *call);
/* The pair of a projection of that model; NULL: there is none. */
const pctl_adapter_pair *pctl_adapter_pair_of(const pctl_adapter *a, pctl_model_role role,
					      uint32_t layer);
/* What a matrix (0: A, 1: B) of a projection is called in files of a layout, in n bytes of `out`; layer: its number, as it is to stand there. */
void pctl_adapter_name(pctl_model_layout layout, const pctl_model_shape *s, pctl_model_role role,
		       const char *layer, uint32_t matrix, char *out, size_t n);
/* general.architecture of GGUF files of a family. */
const char *pctl_adapter_architecture(pctl_model_family family);
/* 1: rows of B of q and k lie as neighbours (model.h), as in GGUF files of some families. */
int pctl_adapter_has_neighbours(const pctl_adapter *a);

/* What the product of a pair is multiplied with: alpha over r, or over r's root, times `by`, each step rounded to f32 (SEMANTICS.md 19.5). */
float pctl_adapter_scale(const pctl_adapter *a, const pctl_adapter_pair *p, float by);

/* Matrix 0 or 1 of a pair is read, and the CID of its bytes. */
pctl_status pctl_adapter_hash(const pctl_adapter *a, const pctl_adapter_pair *p, uint32_t matrix,
			      const pctl_call *call, pctl_cid *out);
/* What it is: the CID of a text with alpha and how it is used, and a line for each tensor with its name, type and CID. each: told of every tensor's;
 * NULL: nobody is; what it gives but PCTL_OK ends it. */
pctl_status pctl_adapter_cid(const pctl_adapter *a,
			     pctl_status (*each)(void *ctx, const char *tensor,
						 const pctl_cid *cid),
			     void *ctx, const pctl_call *call, pctl_cid *out);

/* One of the roles that adapters are for, i from 0; PCTL_ROLES behind the last. Which of them a model has: pctl_model_needs, _layer_has. */
pctl_model_role pctl_adapter_role(uint32_t i);

/*
 * Adapters as a pipeline or an engine has them; several of one `set` are added in their order.
 *
 * set    1 and on: which of them are used together
 * by     what its scale is multiplied with
 */
typedef struct pctl_adapter_use {
	const pctl_adapter *adapter;
	uint32_t set;
	float by;
} pctl_adapter_use;

/* What is asked for: an adapter by its file or folder, and how it is used. */
typedef struct pctl_adapter_ask {
	const char *path;
	uint32_t set;
	float by;
} pctl_adapter_ask;

/* Adapters that were opened together: uses[i] is opened[i]. */
typedef struct pctl_adapters {
	pctl_adapter **opened;
	pctl_adapter_use *uses;
	uint32_t n;
} pctl_adapters;

/* Open all and hold them against a model. PC6299 for more than PCTL_ADAPTERS_MAX, or a scale that is none of -1e6 to 1e6. `out` is closed by the caller,
 * also after an error. */
pctl_status pctl_adapters_open(const pctl_model *m, const pctl_adapter_ask *asks, uint32_t n,
			       const pctl_call *call, pctl_adapters *out);
void pctl_adapters_close(pctl_adapters *a);

#endif
