/* Opening an adapter: which files it is made of, and its tensors by pairs. */
#include "model/file/adapter.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "model/file/adapter_private.h"

#define CONFIG_NAME "adapter_config.json"
#define TENSORS_NAME "adapter_model.safetensors"
#define CONFIG_MAX (4u << 20)
#define TOLD 20u /* faults of one kind; how many more there are is said */

/* How the two matrices of a module are called, behind its name and before. */
static const struct {
	const char *before, *behind[2];
} forms[] = {[PCTL_MODEL_LAYOUT_GGUF] = {"", {".lora_a", ".lora_b"}},
	     [PCTL_MODEL_LAYOUT_SAFETENSORS] = {"base_model.model.",
						{".lora_A.weight", ".lora_B.weight"}}};

/* ---- files -------------------------------------------------------------------------------- */

static int is_named(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash == NULL ? path : slash + 1, name) == 0;
}

static int is_there(const char *folder, const char *name)
{
	char *path = pctl_path_join(folder, name);
	const int found = path != NULL && pctl_file_exists(path);

	free(path);
	return found;
}

/* A string of a GGUF file in the arena; NULL: none, or another type. */
static const char *text_of(pctl_tensor_file *file, const char *name, pctl_arena *arena,
			   const pctl_call *call)
{
	const pctl_gguf_key *k = pctl_tensor_file_key(file, name);
	const char *out = NULL;
	char *text = NULL;

	if (k == NULL || k->type != PCTL_GGUF_STRING || k->n > 256 ||
	    pctl_gguf_read(file, k, call, &text) != PCTL_OK)
		return NULL;
	if (strlen(text) == k->n)
		out = pctl_arena_dup(arena, text);
	free(text);
	return out;
}

int pctl_adapter_is(const char *path)
{
	pctl_arena *arena = NULL;
	pctl_tensor_file *file = NULL;
	const char *type = NULL;
	int is;

	if (pctl_dir_exists(path))
		return is_there(path, CONFIG_NAME) && !is_there(path, "config.json");
	if (is_named(path, CONFIG_NAME) || is_named(path, TENSORS_NAME))
		return 1;
	/* What is wrong with the file is told where it is opened as what it is. */
	if (!pctl_file_exists(path) || pctl_tensor_file_open(path, NULL, &file) != PCTL_OK)
		return 0;
	arena = pctl_arena_create();
	if (arena != NULL && pctl_tensor_file_format(file) == PCTL_TENSOR_FORMAT_GGUF)
		type = text_of(file, "general.type", arena, NULL);
	is = type != NULL && strcmp(type, "adapter") == 0;
	pctl_arena_destroy(arena);
	pctl_tensor_file_close(file);
	return is;
}

static pctl_status find_files(pctl_adapter *a, const char *path, model_faults *f)
{
	const char *slash = strrchr(path, '/');
	const int is_dir = pctl_dir_exists(path);
	const char *const folder =
		is_dir		? path
		: slash == NULL ? "."
				: pctl_arena_dup_n(a->arena, path, (size_t)(slash - path));

	if (!is_dir && !pctl_file_exists(path)) {
		model_fault(f, PC6294_ADAPTER_FILE, NULL,
			    access(path, F_OK) == 0 ? "it is neither a file nor a folder"
						    : "there is no such file or folder");
		return f->status;
	}
	a->path = is_dir || is_named(path, CONFIG_NAME)
			  ? pctl_arena_printf(a->arena, "%s/" TENSORS_NAME, folder)
			  : pctl_arena_dup(a->arena, path);
	a->config = pctl_arena_printf(a->arena, "%s/" CONFIG_NAME, folder);
	if (a->path == NULL || a->config == NULL)
		return pctl_no_memory(f->call, "a path");
	if (!pctl_file_exists(a->path))
		model_fault(f, PC6294_ADAPTER_FILE, NULL,
			    "there is no " TENSORS_NAME " beside " CONFIG_NAME);
	return f->status;
}

/* ---- keys of GGUF ------------------------------------------------------------------------- */

void adapter_read_gguf(pctl_adapter *a, model_faults *f)
{
	static const char *const known[] = {"adapter.type", "adapter.lora.alpha"};
	const char *type = text_of(a->file, "general.type", a->arena, f->call),
		   *kind = text_of(a->file, "adapter.type", a->arena, f->call);
	const pctl_gguf_key *alpha = pctl_tensor_file_key(a->file, "adapter.lora.alpha"), *k;

	if (type == NULL || strcmp(type, "adapter") != 0) {
		model_fault(f, PC6294_ADAPTER_FILE, NULL, "general.type is %s, not \"adapter\"",
			    type == NULL ? "missing" : type);
		return;
	}
	if (kind == NULL)
		model_fault(f, PC6295_ADAPTER_KEY, NULL, "adapter.type is missing, or no name");
	else if (strcmp(kind, "lora") != 0)
		model_fault(f, PC6296_ADAPTER_UNSUPPORTED, NULL,
			    "adapter.type is \"%.100s\"; known is lora", kind);
	if (alpha == NULL)
		model_fault(f, PC6295_ADAPTER_KEY, NULL, "adapter.lora.alpha is missing");
	else if (!pctl_gguf_float(alpha, &a->facts.alpha))
		model_fault(f, PC6295_ADAPTER_KEY, NULL, "adapter.lora.alpha is no number");
	a->facts.architecture = text_of(a->file, "general.architecture", a->arena, f->call);
	if (a->facts.architecture == NULL)
		model_fault(f, PC6295_ADAPTER_KEY, NULL,
			    "general.architecture is missing, or no name");
	/* What else an adapter may be told to do (to work from some words on) changes what is computed. */
	for (uint64_t i = 0; (k = pctl_tensor_file_key_at(a->file, i)) != NULL; i++)
		if (strncmp(k->name, "adapter.", 8) == 0 && strcmp(k->name, known[0]) != 0 &&
		    strcmp(k->name, known[1]) != 0)
			model_fault(f, PC6296_ADAPTER_UNSUPPORTED, NULL,
				    "nothing is known of the key %.200s", k->name);
}

/* ---- pairs -------------------------------------------------------------------------------- */

static int by_module(const void *a, const void *b)
{
	return strcmp(((const pctl_adapter_pair *)a)->module,
		      ((const pctl_adapter_pair *)b)->module);
}

/* The module of a tensor, and which of its matrices it is; NULL: none. */
static const char *module_of(const pctl_adapter *a, const char *name, uint32_t *matrix)
{
	const char *before = forms[a->facts.layout].before;
	const size_t n = strlen(name), k = strlen(before);

	if (strncmp(name, before, k) != 0)
		return NULL;
	for (*matrix = 0; *matrix < 2; ++*matrix) {
		const char *behind = forms[a->facts.layout].behind[*matrix];
		const size_t m = strlen(behind);

		if (n > k + m && strcmp(name + n - m, behind) == 0)
			return pctl_arena_dup_n(a->arena, name + k, n - k - m);
	}
	return NULL;
}

/* Each tensor as a half of a pair, then halves put together. */
static void take_halves(pctl_adapter *a, model_faults *f)
{
	const pctl_tensor_entry *e;
	uint64_t n_strange = 0;
	uint32_t matrix;

	for (uint64_t i = 0; (e = pctl_tensor_file_at(a->file, i)) != NULL; i++) {
		const char *module = module_of(a, e->name, &matrix);
		pctl_adapter_pair *p = &a->pairs[a->n];

		if (module == NULL) {
			if (n_strange++ < TOLD)
				model_fault(f, PC6297_ADAPTER_TENSOR, NULL,
					    "the tensor \"%.200s\" is neither of two matrices of a "
					    "projection",
					    e->name);
			continue;
		}
		*p = (pctl_adapter_pair){.module = module, .role = PCTL_ROLES};
		p->names[matrix] = e->name;
		p->types[matrix] = e->type;
		p->n_bytes[matrix] = e->n_bytes;
		p->indices[matrix] = i;
		a->n++;
	}
	if (n_strange > TOLD)
		model_fault(f, PC6297_ADAPTER_TENSOR, NULL,
			    "in all %" PRIu64 " tensors are of no projection", n_strange);
}

static void join_halves(pctl_adapter *a, model_faults *f)
{
	uint64_t n = 0, n_single = 0;

	qsort(a->pairs, a->n, sizeof(*a->pairs), by_module);
	for (uint64_t i = 0; i < a->n; i++) {
		pctl_adapter_pair *p = &a->pairs[i];
		const int joined = i + 1 < a->n && strcmp(p->module, p[1].module) == 0;
		const uint32_t has = p->names[0] == NULL;

		if (!joined) {
			if (n_single++ < TOLD)
				model_fault(f, PC6297_ADAPTER_TENSOR, NULL,
					    "there is no tensor \"%s%.200s%s\" beside \"%.200s\"",
					    forms[a->facts.layout].before, p->module,
					    forms[a->facts.layout].behind[!has], p->names[has]);
			continue;
		}
		/* No two tensors have one name, so that the other half is the other one. */
		p->names[!has] = p[1].names[!has];
		p->types[!has] = p[1].types[!has];
		p->n_bytes[!has] = p[1].n_bytes[!has];
		p->indices[!has] = p[1].indices[!has];
		a->pairs[n++] = *p;
		i++;
	}
	a->n = n;
	if (n_single > TOLD)
		model_fault(f, PC6297_ADAPTER_TENSOR, NULL, "in all %" PRIu64 " have no other half",
			    n_single);
	if (n == 0 && f->status == PCTL_OK)
		model_fault(f, PC6297_ADAPTER_TENSOR, NULL, "it has no tensors");
}

static int type_good(uint32_t dtype)
{
	const pctl_dtype *t = pctl_dtype_of(dtype);

	return t != NULL && t->kind == PCTL_DTYPE_KIND_FLOAT && t->bits >= 16 && t->bits <= 32;
}

static void check_pair(const pctl_adapter *a, const pctl_adapter_pair *p, model_faults *f)
{
	const uint64_t r = p->types[0].dim[0];
	char x[192], y[192];

	for (uint32_t k = 0; k < 2; k++) {
		if (p->types[k].rank != 2 || p->types[k].dim[0] == 0 || p->types[k].dim[1] == 0) {
			model_fault(f, PC6297_ADAPTER_TENSOR, NULL,
				    "tensor \"%.200s\" is %s, no matrix", p->names[k],
				    model_shape_text(&p->types[k], x));
			return;
		}
		if (!type_good(p->types[k].dtype))
			model_fault(f, PC6297_ADAPTER_TENSOR, NULL,
				    "tensor \"%.200s\" has the type %.40s; there are f32, f16 and "
				    "bf16",
				    p->names[k],
				    pctl_tensor_file_at(a->file, p->indices[k])->stored);
	}
	if (r != p->types[1].dim[1])
		model_fault(f, PC6297_ADAPTER_TENSOR, NULL,
			    "\"%.200s\" is %s and its other half %s: they have different ranks",
			    p->names[0], model_shape_text(&p->types[0], x),
			    model_shape_text(&p->types[1], y));
	else if (r > PCTL_ADAPTER_RANK_MAX)
		model_fault(f, PC6297_ADAPTER_TENSOR, NULL,
			    "\"%.200s\" has %" PRIu64 " ranks, more than %u", p->names[0], r,
			    PCTL_ADAPTER_RANK_MAX);
	else if (a->facts.rank != 0 && a->facts.rank != r)
		model_fault(f, PC6297_ADAPTER_TENSOR, NULL,
			    "\"%.200s\" has %" PRIu64 " ranks, adapter_config.json says %" PRIu64,
			    p->names[0], r, a->facts.rank);
}

static void check_pairs(pctl_adapter *a, model_faults *f)
{
	uint64_t before = 0;

	for (uint64_t i = 0; i < a->n && before < TOLD; i++) {
		const pctl_adapter_pair *p = &a->pairs[i];
		const pctl_status status = f->status;
		int wanted = 1;

		f->status = PCTL_OK;
		check_pair(a, p, f);
		if (a->facts.layout == PCTL_MODEL_LAYOUT_SAFETENSORS)
			wanted = adapter_wants(a, p->module, adapter_layer_of(p->module));
		if (wanted < 0) {
			model_fault(f, PC6295_ADAPTER_KEY, NULL,
				    "\"target_modules\" is a pattern that takes too long to match "
				    "\"%.200s\"",
				    p->module);
			return;
		}
		if (!wanted)
			model_fault(f, PC6297_ADAPTER_TENSOR, NULL,
				    "\"%.200s\": neither target_modules nor layers_to_transform "
				    "asks for it",
				    p->names[0]);
		before += f->status != PCTL_OK;
		f->status = status == PCTL_OK ? f->status : status;
	}
	/* A name in target_modules that no tensor has is told whatever the model is. */
	for (uint32_t k = 0; k < a->n_targets; k++) {
		int found = 0;

		for (uint64_t i = 0; i < a->n && !found; i++)
			found = adapter_ends(a->pairs[i].module, a->targets[k]);
		if (!found)
			model_fault(f, PC6297_ADAPTER_TENSOR, NULL,
				    "target_modules names \"%.100s\", and no tensor is of it",
				    a->targets[k]);
	}
}

static pctl_status read_pairs(pctl_adapter *a, model_faults *f)
{
	uint64_t n = 0;

	while (pctl_tensor_file_at(a->file, n) != NULL)
		n++;
	a->pairs = pctl_arena_array(a->arena, n + 1, sizeof(*a->pairs));
	if (a->pairs == NULL)
		return pctl_no_memory(f->call, "the tensors of an adapter");
	take_halves(a, f);
	join_halves(a, f);
	check_pairs(a, f);
	return pctl_arena_failed(a->arena) ? pctl_no_memory(f->call, "an adapter") : f->status;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static pctl_status read_config(pctl_adapter *a, model_faults *f)
{
	char *text = NULL;
	uint64_t n = 0;
	pctl_status status;

	if (!pctl_file_exists(a->config)) {
		model_fault(f, PC6294_ADAPTER_FILE, NULL, "there is no " CONFIG_NAME " beside it");
		return f->status;
	}
	status = pctl_file_read(a->config, CONFIG_MAX, f->call, &text, &n);
	if (status != PCTL_OK)
		return status;
	f->path = a->config;
	adapter_read_config(a, text, n, f);
	f->path = a->path;
	free(text);
	return f->status;
}

static pctl_status read_all(pctl_adapter *a, const char *path, const pctl_call *call)
{
	model_faults f = {call, path, PCTL_OK};
	pctl_status status = find_files(a, path, &f);

	if (status == PCTL_OK)
		status = pctl_tensor_file_open(a->path, call, &a->file);
	if (status != PCTL_OK)
		return status;
	f.path = a->path;
	switch (pctl_tensor_file_format(a->file)) {
	case PCTL_TENSOR_FORMAT_GGUF:
		a->facts.layout = PCTL_MODEL_LAYOUT_GGUF;
		adapter_read_gguf(a, &f);
		break;
	case PCTL_TENSOR_FORMAT_SAFETENSORS:
		a->facts.layout = PCTL_MODEL_LAYOUT_SAFETENSORS;
		status = read_config(a, &f);
		break;
	default:
		model_fault(&f, PC6294_ADAPTER_FILE, NULL,
			    "a file of tensors, but %s is no adapter",
			    pctl_tensor_format_name(pctl_tensor_file_format(a->file)));
	}
	status = status == PCTL_OK ? f.status : status;
	if (status == PCTL_OK && !(a->facts.alpha > 0 && a->facts.alpha <= 1e6))
		model_fault(&f, PC6295_ADAPTER_KEY, NULL,
			    "%s is %g, which is no number above 0 and up to 1e6",
			    a->facts.layout == PCTL_MODEL_LAYOUT_GGUF ? "adapter.lora.alpha"
								      : "\"lora_alpha\"",
			    a->facts.alpha);
	return status == PCTL_OK ? read_pairs(a, &f) : status;
}

pctl_status pctl_adapter_open(const char *path, const pctl_call *call, pctl_adapter **out)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_adapter *a = arena == NULL ? NULL : pctl_arena_alloc(arena, sizeof(*a));
	pctl_status status;

	*out = NULL;
	if (a == NULL) {
		pctl_arena_destroy(arena);
		return pctl_no_memory(call, "an adapter");
	}
	a->arena = arena;
	status = read_all(a, path, call);
	if (status == PCTL_OK)
		*out = a;
	else
		pctl_adapter_close(a);
	return status;
}

void pctl_adapter_close(pctl_adapter *a)
{
	if (a == NULL)
		return;
	pctl_tensor_file_close(a->file);
	adapter_pattern_end(a);
	pctl_arena_destroy(a->arena);
}

const pctl_adapter_facts *pctl_adapter_facts_of(const pctl_adapter *a)
{
	return &a->facts;
}

pctl_tensor_file *pctl_adapter_file(const pctl_adapter *a, const char **path)
{
	*path = a->path;
	return a->file;
}

const pctl_adapter_pair *pctl_adapter_at(const pctl_adapter *a, uint64_t i)
{
	return i < a->n ? &a->pairs[i] : NULL;
}

pctl_status pctl_adapter_hash(const pctl_adapter *a, const pctl_adapter_pair *p, uint32_t matrix,
			      const pctl_call *call, pctl_cid *out)
{
	void *data;
	pctl_status status = pctl_tensor_file_read(a->file, p->indices[matrix], call, &data);

	if (status != PCTL_OK)
		return status;
	status = pctl_cid_of(data, p->n_bytes[matrix], call, out);
	free(data);
	return status;
}

pctl_status pctl_adapter_cid(const pctl_adapter *a,
			     pctl_status (*each)(void *ctx, const char *tensor,
						 const pctl_cid *cid),
			     void *ctx, const pctl_call *call, pctl_cid *out)
{
	pctl_str_buf all = PCTL_STR_BUF_INIT;
	pctl_status status = PCTL_OK;
	char text[PCTL_CID_TEXT_SIZE];
	const pctl_tensor_entry *e;
	pctl_cid cid;

	pctl_str_addf(&all, "lora %.9g %s\n", (double)(float)a->facts.alpha,
		      a->facts.rank_scaled ? "root" : "rank");
	/* In the file's order: pairs may lie otherwise once they were held against a model. */
	for (uint64_t i = 0; status == PCTL_OK && (e = pctl_tensor_file_at(a->file, i)) != NULL;
	     i++) {
		const pctl_adapter_pair half = {.n_bytes = {e->n_bytes}, .indices = {i}};

		status = pctl_adapter_hash(a, &half, 0, call, &cid);
		if (status == PCTL_OK && each != NULL)
			status = each(ctx, e->name, &cid);
		if (status == PCTL_OK)
			pctl_str_addf(&all, "%s %s %s\n", e->name,
				      pctl_dtype_of(e->type.dtype)->name,
				      pctl_cid_format(&cid, text));
	}
	if (status == PCTL_OK && all.failed)
		status = pctl_no_memory(call, "an adapter's name");
	if (status == PCTL_OK)
		status = pctl_cid_of(all.data, all.n, call, out);
	pctl_str_drop(&all);
	return status;
}

float pctl_adapter_scale(const pctl_adapter *a, const pctl_adapter_pair *p, float by)
{
	const float r = (float)p->types[0].dim[0];
	const float alpha = (float)a->facts.alpha;

	return alpha / (a->facts.rank_scaled ? sqrtf(r) : r) * by;
}
