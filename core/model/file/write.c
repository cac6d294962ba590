/* Writing a model: which tensors in which files, and their rows one by one. */
#include "model/file/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/folder.h"
#include "foundation/base/json.h"
#include "foundation/tensorfile/convert.h"
#include "foundation/tensorfile/shards.h"
#include "foundation/tensorfile/writer.h"
#include "model/file/private.h"

#define NAME_SIZE 128u
#define TELL_EVERY 1024u /* rows */

/* A tensor to come. */
typedef struct planned {
	pctl_model_role role;
	uint32_t layer, expert;
	pctl_tensor tensor;
	uint64_t n_bytes;
} planned;

typedef struct writing {
	pctl_arena *arena;
	pctl_model_shape shape; /* as the files will have it */
	const pctl_model_source *from;
	const pctl_model_target *to;
	pctl_progress_sink progress;
	const pctl_call *call;
	pctl_model_layout layout;
	planned *all;
	uint64_t n, done, total;
} writing;

pctl_model_layout pctl_model_layout_named(const char *path)
{
	const size_t n = strlen(path);

	return n > 5 && strcmp(path + n - 5, ".gguf") == 0 ? PCTL_MODEL_LAYOUT_GGUF
							   : PCTL_MODEL_LAYOUT_SAFETENSORS;
}

uint32_t pctl_model_dtype_for(const pctl_model_shape *s, pctl_model_role role, uint32_t dtype)
{
	pctl_tensor_type t;
	uint64_t columns;

	if (pctl_model_role_is_small(role))
		return PCTL_SCALAR_F32;
	pctl_model_expected(s, role, PCTL_MODEL_LAYOUT_SAFETENSORS, &t);
	columns = t.dim[t.rank - 1];
	if (columns % pctl_dtype_of(dtype)->block == 0)
		return dtype;
	return columns % pctl_dtype_of(PCTL_DTYPE_Q8_0)->block == 0 ? PCTL_DTYPE_Q8_0
								    : PCTL_SCALAR_F16;
}

static pctl_status plan_one(writing *w, pctl_model_role role, uint32_t layer, uint32_t expert)
{
	planned *p = &w->all[w->n++];
	char name[NAME_SIZE], number[16];
	uint32_t dtype = w->to->dtype;
	uint64_t n;

	if (dtype == PCTL_SCALAR_NONE && !pctl_model_role_is_small(role))
		dtype = w->from->dtype(w->from->ctx, role, layer, expert);
	p->role = role;
	p->layer = layer;
	p->expert = expert;
	snprintf(number, sizeof(number), "%" PRIu32, layer);
	pctl_model_name(&w->shape, role, w->layout, number, expert, name, sizeof(name));
	pctl_model_expected(&w->shape, role, w->layout, &p->tensor.type);
	p->tensor.type.dtype = pctl_model_dtype_for(&w->shape, role, dtype);
	p->tensor.name = pctl_arena_dup(w->arena, name);
	if (p->tensor.name == NULL)
		return pctl_no_memory(w->call, "a tensor");
	if (!pctl_tensor_size(&p->tensor.type, &n, &p->n_bytes))
		return pctl_refuse(w->call, PC6290_MODEL_PLAN, "%s: tensor \"%s\" is too large",
				   w->to->path, name);
	w->total += p->n_bytes;
	return PCTL_OK;
}

/* In the order in which a model is read: embedding, layers, output. */
static pctl_status plan_all(writing *w)
{
	const uint32_t n_layers = (uint32_t)w->shape.n_layers;
	pctl_status status = PCTL_OK;
	uint32_t layers, experts;
	uint64_t n = 0;

	for (uint32_t i = 0; i < PCTL_ROLES; i++)
		if (pctl_model_needs(&w->shape, (pctl_model_role)i, w->layout, &layers, &experts))
			n += (uint64_t)layers * experts;
	w->all = pctl_arena_array(w->arena, n + 1, sizeof(*w->all));
	if (w->all == NULL)
		return pctl_no_memory(w->call, "tensors");
	for (uint32_t part = 0; part < n_layers + 2; part++)
		for (uint32_t i = 0; i < PCTL_ROLES && status == PCTL_OK; i++) {
			const pctl_model_role role = (pctl_model_role)i;
			const uint32_t first = role < PCTL_ROLE_ATTN_NORM      ? 0
					       : role >= PCTL_ROLE_OUTPUT_NORM ? n_layers + 1
									       : 1;
			const int here = first == 1 ? part >= 1 && part <= n_layers : part == first;

			if (!here ||
			    !pctl_model_needs(&w->shape, role, w->layout, &layers, &experts) ||
			    !pctl_model_layer_has(&w->shape, role, part - 1))
				continue;
			for (uint32_t e = 0; e < experts && status == PCTL_OK; e++)
				status = plan_one(w, role, first == 1 ? part - 1 : 0, e);
		}
	return status;
}

uint64_t pctl_model_form_row(const pctl_model_shape *s, pctl_model_role role, uint64_t row)
{
	const uint64_t d = s->head_dim, in = row % d;

	if (s->rope.pairing != PCTL_MODEL_NEIGHBOURS ||
	    (role != PCTL_ROLE_Q && role != PCTL_ROLE_K && role != PCTL_ROLE_Q_BIAS &&
	     role != PCTL_ROLE_K_BIAS))
		return row;
	return row - in + in % 2 * (d / 2) + in / 2;
}

/* Biases are one row, whose elements lie as the rows of their matrices do; norms have their offset taken off. */
static void small_row(const writing *w, const planned *p, uint64_t n, float *v)
{
	const int bias = p->role == PCTL_ROLE_Q_BIAS || p->role == PCTL_ROLE_K_BIAS;
	const int norm = p->tensor.type.rank == 1 && !bias && !pctl_model_role_is_said(p->role) &&
			 p->role != PCTL_ROLE_SHARED_ROUTER && p->role != PCTL_ROLE_V_BIAS &&
			 p->role != PCTL_ROLE_O_BIAS;
	float *copy = v + n;

	for (uint64_t i = 0; i < n && norm && w->shape.norm_offset != 0; i++)
		v[i] -= (float)w->shape.norm_offset;
	if (!bias || w->shape.rope.pairing != PCTL_MODEL_NEIGHBOURS)
		return;
	memcpy(copy, v, n * sizeof(*v));
	for (uint64_t i = 0; i < n; i++)
		v[i] = copy[pctl_model_form_row(&w->shape, p->role, i)];
}

/* Rows that are made into elements of another type together, so that several threads find work. */
#define BATCH 1048576u /* elements */

typedef struct batch {
	uint8_t *data;
	uint64_t n, most; /* rows */
	pctl_tensor_type row;
	uint64_t row_bytes, done; /* rows that are written */
} batch;

static pctl_status put_batch(writing *w, pctl_tensor_writer *out, const planned *p, batch *b)
{
	pctl_tensor_type all = b->row, made;
	uint64_t n, n_bytes;
	void *data = NULL;
	pctl_status status = PCTL_OK;

	if (b->n == 0)
		return PCTL_OK;
	all.rank = 2;
	all.dim[0] = b->n;
	all.dim[1] = b->row.dim[0];
	status = pctl_tensor_convert_part(p->tensor.name, b->done * b->row.dim[0], &all, b->data,
					  p->tensor.type.dtype, PCTL_DTYPE_OVERFLOW_IEEE, w->call,
					  &made, &data);
	if (status == PCTL_OK) {
		(void)pctl_tensor_size(&made, &n, &n_bytes);
		status = pctl_tensor_writer_put(out, data, n_bytes, w->call);
	}
	free(data);
	b->done += b->n;
	b->n = 0;
	return status;
}

/* One row after the other, of a type that is not the file's. */
static pctl_status add_row(writing *w, pctl_tensor_writer *out, const planned *p, batch *b,
			   const pctl_model_row *got)
{
	uint64_t n;

	if (b->data == NULL) {
		b->row = (pctl_tensor_type){.dtype = got->dtype,
					    .rank = 1,
					    .dim = {p->tensor.type.dim[p->tensor.type.rank - 1]}};
		(void)pctl_tensor_size(&b->row, &n, &b->row_bytes);
		b->most = n < BATCH ? BATCH / n : 1;
		b->data = malloc(b->most * b->row_bytes);
		if (b->data == NULL)
			return pctl_no_memory(w->call, "rows");
	}
	memcpy(b->data + b->n++ * b->row_bytes, got->data, b->row_bytes);
	return b->n == b->most ? put_batch(w, out, p, b) : PCTL_OK;
}

/* The one row of a norm or a bias. */
static pctl_status put_small(writing *w, pctl_tensor_writer *out, const planned *p,
			     const pctl_model_row *got)
{
	const pctl_tensor_type one = {
		.dtype = got->dtype, .rank = 1, .dim = {p->tensor.type.dim[0]}};
	pctl_tensor_type made;
	uint64_t n, n_bytes;
	void *data = NULL;
	float *small;
	pctl_status status =
		pctl_tensor_convert(p->tensor.name, &one, got->data, p->tensor.type.dtype,
				    PCTL_DTYPE_OVERFLOW_IEEE, w->call, &made, &data);

	if (status != PCTL_OK)
		return status;
	(void)pctl_tensor_size(&made, &n, &n_bytes);
	small = realloc(data, 2 * n_bytes);
	if (small == NULL) {
		free(data);
		return pctl_no_memory(w->call, "a row");
	}
	small_row(w, p, n, small);
	status = pctl_tensor_writer_put(out, small, n_bytes, w->call);
	free(small);
	return status;
}

static pctl_status put_row(writing *w, pctl_tensor_writer *out, const planned *p, uint64_t row,
			   batch *b)
{
	const pctl_tensor_type *t = &p->tensor.type;
	const uint64_t n_rows = t->rank == 1 ? 1 : t->dim[t->rank - 2];
	const uint32_t expert = t->rank == 3 ? (uint32_t)(row / n_rows) : p->expert;
	pctl_model_row got;
	pctl_tensor_type one;
	uint64_t n, n_bytes;
	pctl_status status = w->from->row(
		w->from->ctx, p->role, p->layer, expert,
		pctl_model_form_row(&w->shape, t->rank == 1 ? PCTL_ROLE_V : p->role, row % n_rows),
		w->call, &got);

	if (status != PCTL_OK)
		return status;
	if (t->rank == 1)
		return put_small(w, out, p, &got);
	if (got.dtype != t->dtype)
		return add_row(w, out, p, b, &got);
	one = (pctl_tensor_type){.dtype = got.dtype, .rank = 1, .dim = {t->dim[t->rank - 1]}};
	(void)pctl_tensor_size(&one, &n, &n_bytes);
	return pctl_tensor_writer_put(out, got.data, n_bytes, w->call);
}

static pctl_status put_tensor(writing *w, pctl_tensor_writer *out, const planned *p)
{
	const pctl_tensor_type *t = &p->tensor.type;
	pctl_status status = PCTL_OK;
	batch b = {.data = NULL};
	uint64_t n_rows = 1;

	for (uint32_t i = 0; i + 1 < t->rank; i++)
		n_rows *= t->dim[i];
	for (uint64_t row = 0; row < n_rows && status == PCTL_OK; row++) {
		if (row % TELL_EVERY == 0) {
			const pctl_progress now = {.stage = "write",
						   .what = p->tensor.name,
						   .bytes = w->done + p->n_bytes / n_rows * row,
						   .total_bytes = w->total};

			pctl_progress_tell(&w->progress, &now);
			if (pctl_is_cancelled(w->call)) {
				free(b.data);
				return pctl_refuse(w->call, PC4_CANCELLED, "%s: cancelled",
						   w->to->path);
			}
		}
		status = put_row(w, out, p, row, &b);
	}
	if (status == PCTL_OK)
		status = put_batch(w, out, p, &b);
	free(b.data);
	w->done += p->n_bytes;
	return status;
}

/* The tensors from `first` on, n of them, as one file. */
static pctl_status write_file(writing *w, const char *path, pctl_tensor_format format,
			      const pctl_gguf_keys *keys, uint64_t first, uint64_t n)
{
	pctl_tensor *tensors = calloc(n + 1, sizeof(*tensors));
	pctl_tensor_writer *out = NULL;
	pctl_status status = tensors == NULL ? pctl_no_memory(w->call, "tensors") : PCTL_OK;

	for (uint64_t i = 0; i < n && status == PCTL_OK; i++)
		tensors[i] = w->all[first + i].tensor;
	if (status == PCTL_OK)
		status = pctl_tensor_writer_open(path, format, tensors, n, keys, w->call, &out);
	for (uint64_t i = 0; i < n && status == PCTL_OK; i++)
		status = put_tensor(w, out, &w->all[first + i]);
	free(tensors);
	if (status == PCTL_OK)
		return pctl_tensor_writer_commit(out, w->call);
	pctl_tensor_writer_discard(out);
	return status;
}

/* Where each file ends: as many tensors as stay within the size, at least one. */
static uint32_t cut(const writing *w, uint64_t *ends)
{
	uint64_t bytes = 0;
	uint32_t n = 0;

	for (uint64_t i = 0; i < w->n; i++) {
		if (i != 0 && w->to->shard != 0 && bytes + w->all[i].n_bytes > w->to->shard) {
			ends[n++] = i;
			bytes = 0;
		}
		bytes += w->all[i].n_bytes;
	}
	ends[n++] = w->n;
	return n;
}

/* The first part has all that is said; each says which it is. */
static pctl_status write_part(writing *w, const pctl_gguf_keys *first, uint32_t i, uint32_t n,
			      uint64_t from, uint64_t to)
{
	pctl_gguf_keys keys = {PCTL_STR_BUF_INIT, 0};
	char *path = NULL;
	pctl_status status;

	if (i == 0) {
		pctl_str_add_n(&keys.bytes, first->bytes.data, first->bytes.n);
		keys.n = first->n;
	}
	if (n > 1) {
		pctl_gguf_put_u16(&keys, "split.no", (uint16_t)i);
		pctl_gguf_put_u16(&keys, "split.count", (uint16_t)n);
		pctl_gguf_put_i32(&keys, "split.tensors.count", (int32_t)w->n);
		path = pctl_arena_printf(w->arena, "%.*s-%05" PRIu32 "-of-%05" PRIu32 ".gguf",
					 (int)(strlen(w->to->path) - 5), w->to->path, i + 1, n);
	}
	status = keys.bytes.failed || (n > 1 && path == NULL)
			 ? pctl_no_memory(w->call, "keys")
			 : write_file(w, n > 1 ? path : w->to->path, PCTL_TENSOR_FORMAT_GGUF, &keys,
				      from, to - from);
	pctl_str_drop(&keys.bytes);
	return status;
}

/* The first part comes last: without it the others are no model. */
static pctl_status write_gguf(writing *w)
{
	uint64_t *ends = pctl_arena_array(w->arena, w->n + 1, sizeof(*ends));
	pctl_gguf_keys keys = {PCTL_STR_BUF_INIT, 0};
	pctl_status status = PCTL_OK;
	uint32_t n;

	if (ends == NULL)
		return pctl_no_memory(w->call, "parts");
	n = cut(w, ends);
	if (n > PCTL_TENSOR_SHARDS_MAX)
		return pctl_refuse(w->call, PC6290_MODEL_PLAN,
				   "%s: %" PRIu32 " files: --shard is too small", w->to->path, n);
	pctl_model_gguf_keys(&w->shape, &keys);
	if (w->to->keys != NULL) {
		pctl_str_add_n(&keys.bytes, w->to->keys->bytes.data, w->to->keys->bytes.n);
		keys.n += w->to->keys->n;
	}
	if (keys.bytes.failed)
		status = pctl_no_memory(w->call, "keys");
	for (uint32_t i = n; i-- > 0 && status == PCTL_OK;)
		status = write_part(w, &keys, i, n, i == 0 ? 0 : ends[i - 1], ends[i]);
	pctl_str_drop(&keys.bytes);
	return status;
}

static const char *shard_name(writing *w, uint32_t i, uint32_t n)
{
	return n == 1 ? "model.safetensors"
		      : pctl_arena_printf(w->arena,
					  "model-%05" PRIu32 "-of-%05" PRIu32 ".safetensors", i + 1,
					  n);
}

static char *index_text(writing *w, const uint64_t *ends, uint32_t n)
{
	uint64_t at = 0;
	pctl_json j;

	pctl_json_init(&j, 2);
	pctl_json_object_begin(&j);
	pctl_json_key(&j, "metadata");
	pctl_json_object_begin(&j);
	pctl_json_key(&j, "total_size");
	pctl_json_number(&j, w->total);
	pctl_json_object_end(&j);
	pctl_json_key(&j, "weight_map");
	pctl_json_object_begin(&j);
	for (uint32_t i = 0; i < n; i++)
		for (; at < ends[i]; at++)
			pctl_json_kv_string(&j, w->all[at].tensor.name, shard_name(w, i, n));
	pctl_json_object_end(&j);
	pctl_json_object_end(&j);
	return pctl_json_finish(&j);
}

static pctl_status write_text(writing *w, const char *name, const void *data, uint64_t n)
{
	char *path = data == NULL ? NULL : pctl_path_join(w->to->path, name);
	pctl_status status = path == NULL ? pctl_no_memory(w->call, "a file")
					  : pctl_file_write(path, data, n, 1, w->call);

	free(path);
	return status;
}

/* The description comes last: without it the folder is no model. */
static pctl_status write_folder(writing *w)
{
	uint64_t *ends = pctl_arena_array(w->arena, w->n + 1, sizeof(*ends)), at = 0;
	pctl_status status = pctl_folder_check(w->to->path, w->call);
	uint32_t n;
	char *text;

	if (status != PCTL_OK)
		return status;
	if (ends == NULL)
		return pctl_no_memory(w->call, "files");
	n = cut(w, ends);
	if (n > PCTL_TENSOR_SHARDS_MAX)
		return pctl_refuse(w->call, PC6290_MODEL_PLAN,
				   "%s: %" PRIu32 " files: --shard is too small", w->to->path, n);
	status = pctl_file_make_dirs(w->to->path, w->call);
	for (uint32_t i = 0; i < n && status == PCTL_OK; i++) {
		const char *name = shard_name(w, i, n);
		char *path = name == NULL ? NULL : pctl_path_join(w->to->path, name);

		status = path == NULL ? pctl_no_memory(w->call, "a path")
				      : write_file(w, path, PCTL_TENSOR_FORMAT_SAFETENSORS, NULL,
						   at, ends[i] - at);
		at = ends[i];
		free(path);
	}
	if (status == PCTL_OK && n > 1) {
		text = index_text(w, ends, n);
		status = write_text(w, "model" PCTL_TENSOR_INDEX_ENDING, text,
				    text == NULL ? 0 : strlen(text));
		free(text);
	}
	for (uint32_t i = 0; i < w->to->n_texts && status == PCTL_OK; i++)
		status = write_text(w, w->to->texts[i].name, w->to->texts[i].data,
				    w->to->texts[i].n);
	if (status == PCTL_OK) {
		text = pctl_model_config(&w->shape, w->to->dtype);
		status = write_text(w, "config.json", text, text == NULL ? 0 : strlen(text));
		free(text);
	}
	return status;
}

pctl_status pctl_model_write(const pctl_model_shape *s, const pctl_model_source *from,
			     const pctl_model_target *to, pctl_progress_sink progress,
			     const pctl_call *call)
{
	writing w = {.from = from, .to = to, .progress = progress, .call = call};
	pctl_status status = pctl_model_shape_check(s, to->path, call);

	w.layout = pctl_model_layout_named(to->path);
	if (status == PCTL_OK)
		status = pctl_model_shape_for(s, w.layout, to->path, call, &w.shape);
	if (status != PCTL_OK)
		return status;
	w.arena = pctl_arena_create();
	status = w.arena == NULL ? pctl_no_memory(call, "a model") : plan_all(&w);
	if (status == PCTL_OK)
		status = w.layout == PCTL_MODEL_LAYOUT_GGUF ? write_gguf(&w) : write_folder(&w);
	pctl_arena_destroy(w.arena);
	return status;
}
