/* A model written tensor by tensor, in either format, from rows that somebody has. One row is in memory at a time.
 *
 * Rows come in the one form (SEMANTICS.md 19.1), whatever the file will be: those of q and k in the order of halves, weights of norms whole (1 + w for
 * Gemma), experts one by one. Small roles (pctl_model_role_is_small) are f32 in files; weights have the type that is asked for, where
 * their rows are whole blocks of it, else q8_0, else f16. */
#ifndef PIPECTL_MODEL_FILE_WRITE_H
#define PIPECTL_MODEL_FILE_WRITE_H

#include "foundation/base/progress.h"
#include "model/file/model.h"

/* dtype and the bytes of one row; they stay the source's, and valid until it is asked again. */
typedef struct pctl_model_row {
	uint32_t dtype;
	const void *data;
} pctl_model_row;

typedef struct pctl_model_source {
	void *ctx;
	pctl_status (*row)(void *ctx, pctl_model_role role, uint32_t layer, uint32_t expert,
			   uint64_t row, const pctl_call *call, pctl_model_row *out);
	/* The type that a weight has there, for dtype PCTL_SCALAR_NONE. */
	uint32_t (*dtype)(void *ctx, pctl_model_role role, uint32_t layer, uint32_t expert);
} pctl_model_source;

/*
 * path    a name that ends in .gguf: one file; any other: a folder, which is not there or empty, with config.json and safetensors
 * dtype   of weights; PCTL_SCALAR_NONE: as the source has them
 * shard   bytes of a file of safetensors, or of a part of GGUF (NAME-00001-of-00003.gguf), about; 0: one file
 * keys    of a GGUF file besides the description: its tokenizer; NULL: none
 * texts   files of a folder besides config.json: tokenizer.json ..
 */
typedef struct pctl_model_target {
	const char *path;
	uint32_t dtype;
	uint64_t shard;
	const pctl_gguf_keys *keys;
	const struct pctl_model_text *texts;
	uint32_t n_texts;
} pctl_model_target;

typedef struct pctl_model_text {
	const char *name;
	const void *data;
	uint64_t n;
} pctl_model_text;

/* The layout that a path stands for. */
pctl_model_layout pctl_model_layout_named(const char *path);
/* The description as files of a layout have it: pairing, offsets of norms, how rope is scaled. PC6290: the format cannot say it. */
pctl_status pctl_model_shape_for(const pctl_model_shape *s, pctl_model_layout layout,
				 const char *path, const pctl_call *call, pctl_model_shape *out);
/* The row of the one form that is row `row` of a tensor of files of that shape: neighbours 2j, 2j + 1 of a head are j, j + d/2 of halves. */
uint64_t pctl_model_form_row(const pctl_model_shape *s, pctl_model_role role, uint64_t row);
/* The type that a tensor gets where `dtype` is asked for. */
uint32_t pctl_model_dtype_for(const pctl_model_shape *s, pctl_model_role role, uint32_t dtype);

/* Write a model of this shape (in any layout's form). Errors: PC6290, PC4214 for a type that safetensors has not, PC4213 for a number that a
 * type cannot hold, those of base/output.h. */
pctl_status pctl_model_write(const pctl_model_shape *s, const pctl_model_source *from,
			     const pctl_model_target *to, pctl_progress_sink progress,
			     const pctl_call *call);

/* The keys of a GGUF file that say a description, and config.json (released with free(); NULL: no memory). */
void pctl_model_gguf_keys(const pctl_model_shape *s, pctl_gguf_keys *out);
char *pctl_model_config(const pctl_model_shape *s, uint32_t dtype);

#endif
