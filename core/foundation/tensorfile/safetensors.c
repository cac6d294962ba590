/* safetensors: the length of a header (u64), the header in JSON, the data. JSON is read by cJSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "foundation/base/bytes.h"
#include "foundation/base/json.h"
#include "foundation/base/json_read.h"
#include "foundation/tensorfile/private.h"
#include "foundation/tensorfile/writer.h"

static const struct {
	const char *name;
	uint32_t dtype;
} types[] = {
	{"BOOL", PCTL_SCALAR_BOOL}, {"U8", PCTL_SCALAR_U8},	    {"I8", PCTL_SCALAR_I8},
	{"U16", PCTL_SCALAR_U16},   {"I16", PCTL_SCALAR_I16},	    {"U32", PCTL_SCALAR_U32},
	{"I32", PCTL_SCALAR_I32},   {"U64", PCTL_SCALAR_U64},	    {"I64", PCTL_SCALAR_I64},
	{"F16", PCTL_SCALAR_F16},   {"BF16", PCTL_SCALAR_BF16},	    {"F32", PCTL_SCALAR_F32},
	{"F64", PCTL_SCALAR_F64},   {"F8_E4M3", PCTL_DTYPE_F8E4M3}, {"F8_E5M2", PCTL_DTYPE_F8E5M2},
	{"F4", PCTL_DTYPE_F4},
};
#define N_TYPES (sizeof(types) / sizeof(types[0]))

/* A whole number that a double holds exactly, and no other is read as. */
static int number(const cJSON *j, uint64_t *out)
{
	if (!cJSON_IsNumber(j) || !(j->valuedouble >= 0) || j->valuedouble >= 9007199254740992.0 ||
	    (double)(uint64_t)j->valuedouble != j->valuedouble)
		return 0;
	*out = (uint64_t)j->valuedouble;
	return 1;
}

static pctl_status entry(pctl_tensor_file *f, const cJSON *j, uint64_t begun, const pctl_call *call)
{
	const cJSON *dtype = cJSON_GetObjectItemCaseSensitive(j, "dtype");
	const cJSON *shape = cJSON_GetObjectItemCaseSensitive(j, "shape");
	const cJSON *offsets = cJSON_GetObjectItemCaseSensitive(j, "data_offsets"), *dim;
	const size_t n = strlen(j->string);
	uint64_t from, to;
	stored *t;

	if (!tensor_name_good(j->string, n))
		return tensor_malformed(f, 8, call,
					"the name of a tensor is too long, or no plain UTF-8");
	if (!cJSON_IsString(dtype) || !cJSON_IsArray(shape) || !cJSON_IsArray(offsets) ||
	    cJSON_GetArraySize(j) != 3)
		return tensor_malformed(
			f, 8, call,
			"tensor \"%.200s\" has not dtype, shape and data_offsets, or more",
			j->string);
	t = tensor_add(f, j->string, n);
	if (t == NULL || (t->entry.stored = pctl_arena_dup(f->arena, dtype->valuestring)) == NULL)
		return pctl_no_memory(call, "a tensor");
	if (!tensor_name_good(t->entry.stored, strlen(t->entry.stored)) ||
	    strlen(t->entry.stored) > 64)
		return tensor_malformed(f, 8, call, "tensor \"%.200s\": dtype is no type",
					j->string);
	for (size_t i = 0; i < N_TYPES; i++)
		if (strcmp(types[i].name, dtype->valuestring) == 0)
			t->entry.type.dtype = types[i].dtype;
	cJSON_ArrayForEach(dim, shape)
	{
		if (t->entry.type.rank == PCTL_RANK_MAX ||
		    !number(dim, &t->entry.type.dim[t->entry.type.rank]))
			return tensor_malformed(
				f, 8, call,
				"tensor \"%.200s\": more than 8 dimensions, or one is no size",
				j->string);
		t->entry.type.rank++;
	}
	if (cJSON_GetArraySize(offsets) != 2 || !number(cJSON_GetArrayItem(offsets, 0), &from) ||
	    !number(cJSON_GetArrayItem(offsets, 1), &to) || from > to || to > f->size - begun)
		return tensor_malformed(f, 8, call,
					"tensor \"%.200s\": data_offsets are no place in the file",
					j->string);
	t->offset = begun + from;
	if (!tensor_sizes(t) ||
	    (t->entry.type.dtype != PCTL_SCALAR_NONE && t->n_stored != to - from))
		return tensor_malformed(f, 8, call,
					"tensor \"%.200s\": its shape asks for %" PRIu64
					" bytes, data_offsets for %" PRIu64,
					j->string, t->n_stored, to - from);
	t->n_stored = to - from;
	return PCTL_OK;
}

static int by_offset(const void *a, const void *b)
{
	const stored *x = *(const stored *const *)a, *y = *(const stored *const *)b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->n_stored < y->n_stored ? -1 : x->n_stored > y->n_stored;
}

/* The definition forbids overlaps and holes. */
static pctl_status no_holes(const pctl_tensor_file *f, uint64_t begun, const pctl_call *call)
{
	const stored **order = malloc((f->n + 1) * sizeof(*order));
	pctl_status status = PCTL_OK;
	uint64_t end = begun;

	if (order == NULL)
		return pctl_no_memory(call, "the offsets of tensors");
	for (uint64_t i = 0; i < f->n; i++)
		order[i] = &f->tensors[i];
	qsort(order, f->n, sizeof(*order), by_offset);
	for (uint64_t i = 0; i < f->n && status == PCTL_OK; i++) {
		if (order[i]->offset != end)
			status = tensor_malformed(
				f, end, call,
				"the data of tensor \"%.200s\" begin at byte %" PRIu64
				": tensors overlap, or nothing lies between",
				order[i]->entry.name, order[i]->offset);
		end = order[i]->offset + order[i]->n_stored;
	}
	free(order);
	if (status == PCTL_OK && end != f->size)
		status = tensor_malformed(f, end, call, "bytes that belong to no tensor");
	return status;
}

/* Where something stands that is neither a text nor a whole number as JSON writes it; n: nowhere. cJSON reads 3.0, 3e0 and 03 as 3. */
static uint64_t unknown_at(const char *text, uint64_t n)
{
	int is_text = 0;

	for (uint64_t i = 0; i < n; i++) {
		if (text[i] == '"')
			is_text = !is_text;
		else if (is_text)
			i += text[i] == '\\';
		else if (strchr("{}[]:, \t\r\n0123456789", text[i]) == NULL)
			return i;
		else if (text[i] == '0' && i + 1 < n && text[i + 1] >= '0' && text[i + 1] <= '9' &&
			 (i == 0 || text[i - 1] < '0' || text[i - 1] > '9'))
			return i;
	}
	return n;
}

/* The definition has texts there and nothing else. */
static int is_metadata(const cJSON *j)
{
	const cJSON *of;

	cJSON_ArrayForEach(of, j)
	{
		if (!cJSON_IsString(of))
			return 0;
	}
	return cJSON_IsObject(j);
}

static pctl_status header(pctl_tensor_file *f, const char *text, uint64_t n, const pctl_call *call)
{
	uint32_t n_metadata = 0;
	size_t bad;
	const char *why;
	const uint64_t unknown = unknown_at(text, n);
	const int good = pctl_json_good(text, n, &bad, &why);
	cJSON *json = good ? cJSON_ParseWithLength(text, n) : NULL;
	pctl_status status = PCTL_OK;
	const cJSON *j;

	if (!good)
		status = tensor_malformed(f, 8 + bad, call, "the header: %s", why);
	else if (json == NULL)
		status = pctl_no_memory(call, "a header");
	else if (!cJSON_IsObject(json))
		status = tensor_malformed(f, 8, call, "the header is no JSON object");
	else if (unknown < n)
		status = tensor_malformed(f, 8 + unknown, call,
					  "neither a text nor a whole number in the header");
	cJSON_ArrayForEach(j, json)
	{
		if (status != PCTL_OK)
			break;
		if (strcmp(j->string, "__metadata__") != 0)
			status = entry(f, j, 8 + n, call);
		else if (n_metadata++ != 0)
			status = tensor_malformed(f, 8, call, "__metadata__ stands there twice");
		else if (!is_metadata(j))
			status = tensor_malformed(f, 8, call,
						  "__metadata__ has something else than texts");
	}
	cJSON_Delete(json);
	return status == PCTL_OK ? no_holes(f, 8 + n, call) : status;
}

pctl_status tensor_open_safetensors(pctl_tensor_file *f, const pctl_call *call)
{
	uint8_t size[8];
	uint64_t n;
	pctl_status status = tensor_pread(f, 0, size, sizeof(size), call);
	char *text;

	if (status != PCTL_OK)
		return status;
	n = pctl_le_get(size, 8);
	if (n > HEADER_MAX || n > f->size - 8)
		return tensor_malformed(f, 0, call, "the header is said to have %" PRIu64 " bytes",
					n);
	text = malloc(n + 1);
	if (text == NULL)
		return pctl_no_memory(call, "a header");
	text[n] = '\0';
	status = tensor_pread(f, 8, text, n, call);
	if (status == PCTL_OK)
		status = header(f, text, n, call);
	free(text);
	return status;
}

/* ---- writing ---- */

const char *tensor_safetensors_type(uint32_t dtype)
{
	for (size_t i = 0; i < N_TYPES; i++)
		if (types[i].dtype == dtype)
			return types[i].name;
	return NULL;
}

static uint64_t stored_bytes(const pctl_tensor *t)
{
	stored s = {.entry.type = t->type};

	(void)tensor_sizes(&s);
	return s.n_stored;
}

char *tensor_safetensors_header(const pctl_tensor *tensors, uint64_t n, uint64_t *n_out)
{
	pctl_json j;
	pctl_str_buf out = PCTL_STR_BUF_INIT;
	uint64_t at = 0;
	char *text;

	pctl_json_init(&j, 0);
	pctl_json_object_begin(&j);
	for (uint64_t i = 0; i < n; i++) {
		const pctl_tensor_type *type = &tensors[i].type;

		pctl_json_key(&j, tensors[i].name);
		pctl_json_object_begin(&j);
		pctl_json_kv_string(&j, "dtype", tensor_safetensors_type(type->dtype));
		pctl_json_key(&j, "shape");
		pctl_json_array_begin(&j);
		for (uint32_t k = 0; k < type->rank; k++)
			pctl_json_number(&j, type->dim[k]);
		pctl_json_array_end(&j);
		pctl_json_key(&j, "data_offsets");
		pctl_json_array_begin(&j);
		pctl_json_number(&j, at);
		at += stored_bytes(&tensors[i]);
		pctl_json_number(&j, at);
		pctl_json_array_end(&j);
		pctl_json_object_end(&j);
	}
	pctl_json_object_end(&j);
	text = pctl_json_finish(&j);
	if (text == NULL)
		return NULL;
	pctl_str_add_n(&out, text, strcspn(text, "\n"));
	free(text);
	while (!out.failed && out.n % 8 != 0)
		pctl_str_add(&out, " ");
	*n_out = out.n;
	return pctl_str_finish(&out);
}

pctl_status tensor_write_safetensors(const char *path, const pctl_tensor *tensors, uint64_t n,
				     const pctl_call *call)
{
	pctl_tensor_writer *w = NULL;
	pctl_status status = pctl_tensor_writer_open(path, PCTL_TENSOR_FORMAT_SAFETENSORS, tensors,
						     n, NULL, call, &w);

	for (uint64_t i = 0; i < n && status == PCTL_OK; i++) {
		uint64_t n_data;
		void *data = tensor_to_stored(&tensors[i], &n_data);

		status = data == NULL ? pctl_no_memory(call, "a tensor")
				      : pctl_tensor_writer_put(w, data, n_data, call);
		free(data);
	}
	if (status == PCTL_OK)
		return pctl_tensor_writer_commit(w, call);
	pctl_tensor_writer_discard(w);
	return status;
}
