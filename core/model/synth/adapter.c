/* Adapters with matrices from a seed, as PEFT and as GGUF has them. */
#include "model/synth/adapter.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/arena.h"
#include "foundation/base/file.h"
#include "foundation/base/folder.h"
#include "foundation/base/json.h"
#include "foundation/diag/diag.h"
#include "foundation/tensorfile/convert.h"
#include "foundation/tensorfile/writer.h"
#include "model/file/write.h"
#include "model/synth/private.h"

#define NAME_SIZE 192u
#define STREAM_ADAPTER (1u << 31) /* beside those of weights */

/* A matrix to come: 0 is A, 1 is B. */
typedef struct matrix {
	pctl_model_role role;
	uint32_t layer, number;
} matrix;

typedef struct adapting {
	const pctl_synth_adapter *a;
	pctl_model_shape shape; /* as the files have it */
	pctl_model_layout layout;
	const pctl_call *call;
	pctl_arena *arena;
	matrix *all;
	pctl_tensor *tensors;
	uint64_t n;
} adapting;

static int is_wanted(const pctl_synth_adapter *a, pctl_model_role role)
{
	if (a->n_roles == 0)
		return role != PCTL_ROLE_OUTPUT;
	for (uint32_t i = 0; i < a->n_roles; i++)
		if (a->roles[i] == role)
			return 1;
	return 0;
}

static pctl_status add(adapting *w, pctl_model_role role, uint32_t layer)
{
	char name[NAME_SIZE], number[16];
	pctl_tensor_type want;

	snprintf(number, sizeof(number), "%" PRIu32, layer);
	pctl_model_expected(&w->shape, role, PCTL_MODEL_LAYOUT_SAFETENSORS, &want);
	for (uint32_t k = 0; k < 2; k++) {
		pctl_tensor *t = &w->tensors[w->n];

		pctl_adapter_name(w->layout, &w->shape, role, number, k, name, sizeof(name));
		w->all[w->n++] = (matrix){role, layer, k};
		t->name = pctl_arena_dup(w->arena, name);
		t->type = (pctl_tensor_type){.dtype = w->a->dtype, .rank = 2};
		t->type.dim[0] = k ? want.dim[0] : w->a->rank;
		t->type.dim[1] = k ? w->a->rank : want.dim[1];
		if (t->name == NULL)
			return pctl_no_memory(w->call, "a tensor");
	}
	return PCTL_OK;
}

/* Layer by layer, and the roles of a layer in their order. */
static pctl_status plan_all(adapting *w)
{
	const uint64_t most = 2 * (w->shape.n_layers * PCTL_ROLES + 1);
	uint32_t layers, experts, n_had = 0;
	pctl_status status = PCTL_OK;

	w->all = pctl_arena_array(w->arena, most, sizeof(*w->all));
	w->tensors = pctl_arena_array(w->arena, most, sizeof(*w->tensors));
	if (w->all == NULL || w->tensors == NULL)
		return pctl_no_memory(w->call, "tensors");
	for (uint32_t layer = 0; layer < w->shape.n_layers; layer++)
		for (uint32_t i = 0; pctl_adapter_role(i) != PCTL_ROLES; i++) {
			const pctl_model_role role = pctl_adapter_role(i);

			if (!pctl_model_needs(&w->shape, role, PCTL_MODEL_LAYOUT_SAFETENSORS,
					      &layers, &experts) ||
			    layer >= layers || !is_wanted(w->a, role))
				continue;
			n_had += layer == 0;
			if (status == PCTL_OK && pctl_model_layer_has(&w->shape, role, layer))
				status = add(w, role, layer);
		}
	if (status == PCTL_OK && (w->n == 0 || n_had < w->a->n_roles))
		status = pctl_refuse(w->call, PC6290_MODEL_PLAN,
				     "%s: a model of this shape has not all projections that the "
				     "adapter is to be for",
				     w->a->path);
	return status;
}

/* A's rows have the model's features, B's the ranks: sums of products are near 1 as those of weights are. */
static void fill(const adapting *w, const matrix *m, const pctl_tensor_type *t, float *out)
{
	const uint32_t key[2] = {(uint32_t)w->a->seed, (uint32_t)(w->a->seed >> 32)};
	const uint64_t n = t->dim[1];

	for (uint64_t i = 0; i < t->dim[0]; i++) {
		const uint64_t row = m->number ? pctl_model_form_row(&w->shape, m->role, i) : i;

		synth_words(key, STREAM_ADAPTER | m->number << 8 | pctl_model_role_number(m->role),
			    m->layer, row * n, n, (float)sqrt(3 / (double)n), out + i * n);
	}
}

static pctl_status put_matrix(const adapting *w, uint64_t i, pctl_tensor_writer *to)
{
	pctl_tensor_type from = w->tensors[i].type, made;
	const uint64_t n = from.dim[0] * from.dim[1];
	float *data = malloc(n * sizeof(*data) + 1);
	void *converted = NULL;
	uint64_t n_bytes;
	pctl_status status;

	if (data == NULL)
		return pctl_no_memory(w->call, "a matrix");
	fill(w, &w->all[i], &from, data);
	from.dtype = PCTL_SCALAR_F32;
	status = pctl_tensor_convert(w->tensors[i].name, &from, data, w->a->dtype,
				     PCTL_DTYPE_OVERFLOW_IEEE, w->call, &made, &converted);
	free(data);
	if (status == PCTL_OK) {
		(void)pctl_tensor_size(&made, &(uint64_t){0}, &n_bytes);
		status = pctl_tensor_writer_put(to, converted, n_bytes, w->call);
	}
	free(converted);
	return status;
}

static pctl_status put_all(const adapting *w, const char *path, pctl_tensor_format format,
			   const pctl_gguf_keys *keys)
{
	pctl_tensor_writer *to = NULL;
	pctl_status status =
		pctl_tensor_writer_open(path, format, w->tensors, w->n, keys, w->call, &to);

	for (uint64_t i = 0; status == PCTL_OK && i < w->n; i++)
		status = put_matrix(w, i, to);
	if (status == PCTL_OK)
		return pctl_tensor_writer_commit(to, w->call);
	pctl_tensor_writer_discard(to);
	return status;
}

static void put_text(pctl_gguf_keys *keys, const char *name, const char *text)
{
	pctl_gguf_put_string(keys, name, text, strlen(text));
}

static pctl_status write_gguf(const adapting *w)
{
	pctl_gguf_keys keys = {PCTL_STR_BUF_INIT, 0};
	pctl_status status;

	put_text(&keys, "general.type", "adapter");
	put_text(&keys, "general.architecture", pctl_adapter_architecture(w->shape.family));
	put_text(&keys, "adapter.type", "lora");
	pctl_gguf_put_f32(&keys, "adapter.lora.alpha", (float)w->a->alpha);
	status = keys.bytes.failed ? pctl_no_memory(w->call, "keys")
				   : put_all(w, w->a->path, PCTL_TENSOR_FORMAT_GGUF, &keys);
	pctl_str_drop(&keys.bytes);
	return status;
}

/* The last part of a module's name, for target_modules. */
static const char *target_of(const adapting *w, pctl_model_role role, char out[NAME_SIZE])
{
	const char *at;

	pctl_model_name(&w->shape, role, PCTL_MODEL_LAYOUT_SAFETENSORS, "0", 0, out, NAME_SIZE);
	out[strlen(out) - strlen(".weight")] = '\0';
	at = strrchr(out, '.');
	return at == NULL ? out : at + 1;
}

static char *config_text(const adapting *w)
{
	char name[NAME_SIZE], other[NAME_SIZE];
	pctl_json j;

	pctl_json_init(&j, 2);
	pctl_json_object_begin(&j);
	pctl_json_kv_string(&j, "peft_type", "LORA");
	pctl_json_kv_string(&j, "task_type", "CAUSAL_LM");
	pctl_json_kv_string(&j, "bias", "none");
	pctl_json_key(&j, "r");
	pctl_json_number(&j, w->a->rank);
	pctl_json_key(&j, "lora_alpha");
	pctl_json_double(&j, w->a->alpha);
	pctl_json_key(&j, "target_modules");
	pctl_json_array_begin(&j);
	for (uint32_t i = 0; pctl_adapter_role(i) != PCTL_ROLES; i++) {
		int is_there = 0, is_told = 0;

		for (uint64_t k = 0; k < w->n; k++)
			is_there |= w->all[k].role == pctl_adapter_role(i);
		/* A shared expert's projections are called as a block's. */
		for (uint32_t k = 0; k < i && is_there; k++)
			for (uint64_t t = 0; t < w->n && !is_told; t++)
				is_told = w->all[t].role == pctl_adapter_role(k) &&
					  strcmp(target_of(w, pctl_adapter_role(k), name),
						 target_of(w, pctl_adapter_role(i), other)) == 0;
		if (is_there && !is_told)
			pctl_json_string(&j, target_of(w, pctl_adapter_role(i), name));
	}
	pctl_json_array_end(&j);
	pctl_json_object_end(&j);
	return pctl_json_finish(&j);
}

/* What says how it is used comes last: without it the folder is no adapter. */
static pctl_status write_folder(const adapting *w)
{
	char *path = pctl_path_join(w->a->path, "adapter_model.safetensors"),
	     *config = pctl_path_join(w->a->path, "adapter_config.json"), *text = config_text(w);
	pctl_status status = path == NULL || config == NULL || text == NULL
				     ? pctl_no_memory(w->call, "an adapter")
				     : pctl_folder_check(w->a->path, w->call);

	if (status == PCTL_OK)
		status = pctl_file_make_dirs(w->a->path, w->call);
	if (status == PCTL_OK)
		status = put_all(w, path, PCTL_TENSOR_FORMAT_SAFETENSORS, NULL);
	if (status == PCTL_OK)
		status = pctl_file_write(config, text, strlen(text), 1, w->call);
	free(path);
	free(config);
	free(text);
	return status;
}

pctl_status pctl_synth_adapter_write(const pctl_model_shape *s, const pctl_synth_adapter *a,
				     const pctl_call *call)
{
	adapting w = {.a = a, .layout = pctl_model_layout_named(a->path), .call = call};
	pctl_model_shape whole = *s;
	pctl_status status;

	pctl_model_complete(&whole);
	status = pctl_model_shape_check(&whole, a->path, call);
	if (status == PCTL_OK && (a->rank == 0 || a->rank > PCTL_ADAPTER_RANK_MAX))
		status = pctl_refuse(call, PC6290_MODEL_PLAN,
				     "%s: a rank of %" PRIu64 " is none of 1 to %u", a->path,
				     a->rank, PCTL_ADAPTER_RANK_MAX);
	if (status == PCTL_OK && !(a->alpha > 0 && a->alpha <= 1e6))
		status = pctl_refuse(call, PC6290_MODEL_PLAN,
				     "%s: an alpha of %g is no number above 0 and up to 1e6",
				     a->path, a->alpha);
	if (status == PCTL_OK)
		status = pctl_model_shape_for(&whole, w.layout, a->path, call, &w.shape);
	if (status != PCTL_OK)
		return status;
	w.arena = pctl_arena_create();
	status = w.arena == NULL ? pctl_no_memory(call, "an adapter") : plan_all(&w);
	if (status == PCTL_OK)
		status = w.layout == PCTL_MODEL_LAYOUT_GGUF ? write_gguf(&w) : write_folder(&w);
	pctl_arena_destroy(w.arena);
	return status;
}
