/* Opening a model: which files it is made of. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "model/file/private.h"

#define CONFIG_MAX (4u << 20)

static int ends(const char *text, const char *ending)
{
	const size_t n = strlen(text), k = strlen(ending);

	return n >= k && strcmp(text + n - k, ending) == 0;
}

/* The folder of a path, and what of it holds the tensors. */
static pctl_status find_files(pctl_model *m, const char *path, const pctl_call *call,
			      const char **tensors)
{
	const char *slash = strrchr(path, '/'), *const name = slash == NULL ? path : slash + 1;
	const char *const folder =
		pctl_dir_exists(path) ? pctl_arena_dup(m->arena, path)
		: slash == NULL	      ? pctl_arena_dup(m->arena, ".")
				      : pctl_arena_dup_n(m->arena, path, (size_t)(slash - path));

	if (folder == NULL)
		return pctl_no_memory(call, "a path");
	if (!pctl_dir_exists(path) && strcmp(name, "config.json") != 0) {
		*tensors = pctl_arena_dup(m->arena, path);
	} else {
		*tensors = pctl_arena_printf(m->arena, "%s/model.safetensors", folder);
		if (*tensors != NULL && !pctl_file_exists(*tensors))
			*tensors = pctl_arena_printf(m->arena, "%s/model%s", folder,
						     PCTL_TENSOR_INDEX_ENDING);
	}
	m->folder = folder;
	m->config = pctl_arena_printf(m->arena, "%s/config.json", folder);
	return *tensors == NULL || m->config == NULL ? pctl_no_memory(call, "a path") : PCTL_OK;
}

static pctl_status open_folder(pctl_model *m, model_faults *f)
{
	char *text = NULL;
	uint64_t n = 0;
	pctl_status status;

	if (!pctl_file_exists(m->config)) {
		model_fault(f, PC6280_MODEL_FILE, NULL, "there is no config.json beside it");
		return f->status;
	}
	status = pctl_file_read(m->config, CONFIG_MAX, f->call, &text, &n);
	if (status != PCTL_OK)
		return status;
	m->layout = PCTL_MODEL_LAYOUT_SAFETENSORS;
	f->path = m->config;
	model_read_config(m, text, n, f);
	free(text);
	return f->status;
}

static pctl_status read_all(pctl_model *m, const char *path, const pctl_call *call)
{
	model_faults f = {call, path, PCTL_OK};
	const char *tensors = NULL;
	pctl_tensor_format format;
	pctl_status status = find_files(m, path, call, &tensors);

	if (status != PCTL_OK)
		return status;
	if (!pctl_dir_exists(path) && !pctl_file_exists(path)) {
		model_fault(&f, PC6280_MODEL_FILE, NULL,
			    access(path, F_OK) == 0 ? "it is neither a file nor a folder"
						    : "there is no such file or folder");
		return f.status;
	}
	if (pctl_dir_exists(path) && !pctl_file_exists(tensors)) {
		model_fault(&f, PC6280_MODEL_FILE, NULL,
			    "the folder holds neither model.safetensors nor model%s",
			    PCTL_TENSOR_INDEX_ENDING);
		return f.status;
	}
	status = pctl_tensor_shards_open(tensors, call, &m->shards);
	if (status != PCTL_OK)
		return status;
	f.path = m->path = tensors;
	format = pctl_tensor_file_format(pctl_tensor_shards_file(m->shards, 0));
	if (format == PCTL_TENSOR_FORMAT_GGUF && !ends(tensors, PCTL_TENSOR_INDEX_ENDING)) {
		m->layout = PCTL_MODEL_LAYOUT_GGUF;
		m->folder = NULL;
		model_read_gguf(m, &f);
		status = f.status;
	} else if (format == PCTL_TENSOR_FORMAT_SAFETENSORS) {
		status = open_folder(m, &f);
	} else {
		model_fault(&f, PC6280_MODEL_FILE, NULL, "a file of tensors, but %s is no model",
			    pctl_tensor_format_name(format));
		return f.status;
	}
	/* Of a description that is not whole no shape follows. */
	if (status == PCTL_OK) {
		model_check_shape(&m->shape, &f);
		status = f.status;
	}
	f.path = tensors;
	if (status == PCTL_OK) {
		model_find_tensors(m, &f);
		status = f.status;
	}
	return status;
}

pctl_status pctl_model_open(const char *path, const pctl_call *call, pctl_model **out)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_model *m = arena == NULL ? NULL : pctl_arena_alloc(arena, sizeof(*m));
	pctl_status status;

	*out = NULL;
	if (m == NULL) {
		pctl_arena_destroy(arena);
		return pctl_no_memory(call, "a model");
	}
	m->arena = arena;
	status = read_all(m, path, call);
	if (status == PCTL_OK)
		*out = m;
	else
		pctl_model_close(m);
	return status;
}

void pctl_model_close(pctl_model *m)
{
	if (m == NULL)
		return;
	pctl_tensor_shards_close(m->shards);
	free(m->tensors);
	pctl_arena_destroy(m->arena);
}

const pctl_model_shape *pctl_model_shape_of(const pctl_model *m)
{
	return &m->shape;
}

pctl_model_layout pctl_model_layout_of(const pctl_model *m)
{
	return m->layout;
}

const char *pctl_model_path(const pctl_model *m)
{
	return m->path;
}

const char *pctl_model_folder(const pctl_model *m)
{
	return m->folder;
}

const pctl_model_tensor *pctl_model_tensor_at(const pctl_model *m, uint64_t i)
{
	return i < m->n ? &m->tensors[i] : NULL;
}

pctl_tensor_file *pctl_model_tensor_file(const pctl_model *m, uint32_t file, const char **path)
{
	*path = pctl_tensor_shards_path(m->shards, file);
	return pctl_tensor_shards_file(m->shards, file);
}

pctl_status pctl_model_hash(const pctl_model *m, const pctl_model_tensor *t, const pctl_call *call,
			    pctl_cid *out)
{
	pctl_tensor_file *file = pctl_tensor_shards_file(m->shards, t->file);
	void *data;
	pctl_status status = pctl_tensor_file_read(file, t->index, call, &data);

	if (status != PCTL_OK)
		return status;
	status = pctl_cid_of(data, t->n_bytes, call, out);
	free(data);
	return status;
}
