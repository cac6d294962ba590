/* Rows of one model as those of another. */
#include "model/convert/convert.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "foundation/base/file.h"
#include "foundation/tensorfile/convert.h"
#include "model/tokenizer/tokenizer.h"

#define TEXTS_MAX 8u
#define TEXT_MAX (256u << 20)

/* row: room for one row as it lies; small: for one that is f32. */
typedef struct reading {
	const pctl_model *m;
	const pctl_model_shape *shape;
	uint8_t *row;
	float *small;
} reading;

/* Experts of GGUF are one tensor. */
static const pctl_model_tensor *tensor_of(const reading *r, pctl_model_role role, uint32_t layer,
					  uint32_t expert)
{
	return pctl_model_tensor_of(r->m, role, layer,
				    pctl_model_layout_of(r->m) == PCTL_MODEL_LAYOUT_GGUF ? 0
											 : expert);
}

/* Where the row of the one form lies in the file: j and j + d/2 of halves are neighbours 2j and 2j + 1. */
static uint64_t place(const reading *r, pctl_model_role role, uint64_t row)
{
	const uint64_t d = r->shape->head_dim, in = row % d, half = d / 2;

	if (r->shape->rope.pairing != PCTL_MODEL_NEIGHBOURS ||
	    (role != PCTL_ROLE_Q && role != PCTL_ROLE_K && role != PCTL_ROLE_Q_BIAS &&
	     role != PCTL_ROLE_K_BIAS))
		return row;
	return row - in + in % half * 2 + in / half;
}

static pctl_status read_row(const reading *r, const pctl_model_tensor *t, uint64_t row,
			    const pctl_call *call, pctl_tensor_type *type)
{
	const char *path;
	pctl_tensor_file *f = pctl_model_tensor_file(r->m, t->file, &path);
	uint64_t n, n_bytes;
	pctl_status status;

	*type = (pctl_tensor_type){
		.dtype = t->type.dtype, .rank = 1, .dim = {t->type.dim[t->type.rank - 1]}};
	(void)pctl_tensor_size(type, &n, &n_bytes);
	status = pctl_tensor_file_read_part(f, t->index, row * n_bytes, r->row, n_bytes, call);
	return status == PCTL_OK ? pctl_tensor_check(path, t->name, type, r->row, call) : status;
}

/* A row that is a whole tensor: as f32, in the one form. */
static pctl_status small_row(const reading *r, const pctl_model_tensor *t, const pctl_call *call,
			     pctl_model_row *out)
{
	const int bias = t->role == PCTL_ROLE_Q_BIAS || t->role == PCTL_ROLE_K_BIAS ||
			 t->role == PCTL_ROLE_V_BIAS || t->role == PCTL_ROLE_O_BIAS;
	const int norm =
		!bias && !pctl_model_role_is_said(t->role) && t->role != PCTL_ROLE_SHARED_ROUTER;
	pctl_tensor_type type, made;
	void *data = NULL;
	const float *v;
	pctl_status status = read_row(r, t, 0, call, &type);

	if (status == PCTL_OK)
		status = pctl_tensor_convert(t->name, &type, r->row, PCTL_SCALAR_F32,
					     PCTL_DTYPE_OVERFLOW_IEEE, call, &made, &data);
	if (status != PCTL_OK)
		return status;
	v = data;
	for (uint64_t i = 0; i < type.dim[0]; i++)
		r->small[i] = v[place(r, t->role, i)] + (norm ? (float)r->shape->norm_offset : 0);
	free(data);
	*out = (pctl_model_row){PCTL_SCALAR_F32, r->small};
	return PCTL_OK;
}

static pctl_status row(void *ctx, pctl_model_role role, uint32_t layer, uint32_t expert,
		       uint64_t number, const pctl_call *call, pctl_model_row *out)
{
	const reading *r = ctx;
	const pctl_model_tensor *t = tensor_of(r, role, layer, expert);
	pctl_tensor_type type;
	pctl_status status;

	/* In words here, a tensor there. */
	if (t == NULL && pctl_model_role_is_said(role)) {
		pctl_model_said(r->shape, role, r->small);
		*out = (pctl_model_row){PCTL_SCALAR_F32, r->small};
		return PCTL_OK;
	}
	if (t == NULL)
		return pctl_refuse(call, PC1_INTERNAL, "a tensor of a model is not there");
	if (t->type.rank == 1)
		return small_row(r, t, call, out);
	if (t->type.rank == 3)
		number += expert * t->type.dim[1];
	status = read_row(r, t, place(r, role, number), call, &type);
	*out = (pctl_model_row){type.dtype, r->row};
	return status;
}

static uint32_t dtype_of(void *ctx, pctl_model_role role, uint32_t layer, uint32_t expert)
{
	return tensor_of(ctx, role, layer, expert)->type.dtype;
}

/* ---- what comes along ---- */

static pctl_status read_text(const char *path, const char *name, const pctl_call *call,
			     pctl_model_text *texts, uint32_t *n)
{
	char *data;
	pctl_status status = pctl_file_read(path, TEXT_MAX, call, &data, &texts[*n].n);

	if (status != PCTL_OK)
		return status;
	texts[*n].name = name;
	texts[*n].data = data;
	(*n)++;
	return PCTL_OK;
}

/* What stands beside a folder's weights and describes its tokens. */
static pctl_status folder_texts(const pctl_model *m, const pctl_call *call, pctl_model_text *texts,
				uint32_t *n)
{
	static const char *const names[] = {"tokenizer.json",	      "tokenizer_config.json",
					    "generation_config.json", "special_tokens_map.json",
					    "chat_template.jinja",    "tokenizer.model"};
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]) && status == PCTL_OK; i++) {
		char *path = pctl_path_join(pctl_model_folder(m), names[i]);

		if (path == NULL)
			status = pctl_no_memory(call, "a path");
		else if (pctl_file_exists(path))
			status = read_text(path, names[i], call, texts, n);
		free(path);
	}
	return status;
}

/* A tokenizer.json for a folder: one that can be read, and of no more tokens than the model has. */
static pctl_status read_tokenizer(const char *path, uint64_t n_vocab, const pctl_call *call,
				  pctl_model_text *texts, uint32_t *n)
{
	pctl_tokenizer *tokenizer = NULL;
	pctl_status status = read_text(path, "tokenizer.json", call, texts, n);

	if (status == PCTL_OK)
		status = pctl_tokenizer_read(path, texts[0].data, texts[0].n, call, &tokenizer);
	if (status == PCTL_OK)
		status = pctl_tokenizer_within(tokenizer, n_vocab, path, call);
	pctl_tokenizer_destroy(tokenizer);
	return status;
}

static pctl_status bring(const pctl_model *m, pctl_model_target *to, pctl_convert_tokenizer how,
			 const char *tokenizer, const pctl_call *call, pctl_gguf_keys *keys,
			 pctl_model_text *texts)
{
	const pctl_model_layout layout = pctl_model_layout_named(to->path);
	const uint64_t n_vocab = pctl_model_shape_of(m)->n_vocab;
	const char *path;

	to->keys = keys;
	to->texts = texts;
	if (how == PCTL_CONVERT_TOKENIZER_NONE)
		return PCTL_OK;
	if (how == PCTL_CONVERT_TOKENIZER_SAME && layout != pctl_model_layout_of(m))
		return pctl_refuse_at(call, PC6290_MODEL_PLAN, NULL,
				      "--tokenizer FILE brings one, --no-tokenizer leaves it out",
				      "%s: the tokenizer of the other format is another file",
				      to->path);
	if (how == PCTL_CONVERT_TOKENIZER_FILE)
		return layout == PCTL_MODEL_LAYOUT_GGUF
			       ? pctl_model_tokenizer_keys(tokenizer, n_vocab, call, keys)
			       : read_tokenizer(tokenizer, n_vocab, call, texts, &to->n_texts);
	if (layout == PCTL_MODEL_LAYOUT_SAFETENSORS)
		return folder_texts(m, call, texts, &to->n_texts);
	(void)pctl_model_tensor_file(m, 0, &path);
	return pctl_tensor_file_key(pctl_model_tensor_file(m, 0, &path), "tokenizer.ggml.tokens") ==
			       NULL
		       ? PCTL_OK
		       : pctl_model_tokenizer_keys(path, n_vocab, call, keys);
}

/* ---- all of it ---- */

/* A path that is one of the files that are read. */
static int is_own(const pctl_model *m, const char *path)
{
	struct stat a, b;
	const char *own;

	if (stat(path, &a) != 0)
		return 0;
	for (uint32_t i = 0; pctl_model_tensor_file(m, i, &own) != NULL; i++)
		if (stat(own, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
			return 1;
	return 0;
}

/* Room for the longest row, and for it as f32. */
static pctl_status make_room(reading *r, const pctl_call *call)
{
	const pctl_model_tensor *t;
	uint64_t most = r->shape->head_dim;

	for (uint64_t i = 0; (t = pctl_model_tensor_at(r->m, i)) != NULL; i++)
		if (t->type.dim[t->type.rank - 1] > most)
			most = t->type.dim[t->type.rank - 1];
	r->row = malloc(most * 8);
	r->small = malloc(most * sizeof(*r->small));
	return r->row == NULL || r->small == NULL ? pctl_no_memory(call, "a row") : PCTL_OK;
}

pctl_status pctl_model_convert(const pctl_model *m, const char *path, uint32_t dtype,
			       uint64_t shard, pctl_convert_tokenizer how, const char *tokenizer,
			       pctl_progress_sink progress, const pctl_call *call)
{
	reading r = {.m = m, .shape = pctl_model_shape_of(m)};
	const pctl_model_source from = {&r, row, dtype_of};
	pctl_model_target to = {.path = path, .dtype = dtype, .shard = shard};
	pctl_gguf_keys keys = {PCTL_STR_BUF_INIT, 0};
	pctl_model_text texts[TEXTS_MAX] = {{NULL, NULL, 0}};
	pctl_model_shape one = *r.shape;
	pctl_status status;

	if (is_own(m, path))
		return pctl_refuse(call, PC6290_MODEL_PLAN, "%s is the model that is read", path);
	/* Rows come in the one form. */
	one.rope.pairing = PCTL_MODEL_HALVES;
	one.norm_offset = 0;
	status = make_room(&r, call);
	if (status == PCTL_OK)
		status = bring(m, &to, how, tokenizer, call, &keys, texts);
	if (status == PCTL_OK)
		status = pctl_model_write(&one, &from, &to, progress, call);
	for (uint32_t i = 0; i < TEXTS_MAX; i++)
		free((void *)(uintptr_t)texts[i].data);
	pctl_str_drop(&keys.bytes);
	free(r.row);
	free(r.small);
	return status;
}
