/* Tensors in several files, by an index that is JSON, or by their names (parts.c). */
#include "foundation/tensorfile/shards.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "foundation/base/file.h"
#include "foundation/base/json_read.h"
#include "foundation/base/order.h"
#include "foundation/tensorfile/private.h"

struct pctl_tensor_shards {
	pctl_arena *arena;
	const char **paths, **names;
	pctl_tensor_file **files;
	uint32_t n;
};

static pctl_status bad_index(const char *path, const pctl_call *call, const char *what,
			     const char *which)
{
	return pctl_refuse(call, PC4218_TENSOR_INDEX, "%s: %s%s%.200s%s", path, what,
			   which == NULL ? "" : " \"", which == NULL ? "" : which,
			   which == NULL ? "" : "\"");
}

/* A name beside the index: no path leads elsewhere. */
static int plain(const char *name)
{
	return name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL &&
	       tensor_name_good(name, strlen(name));
}

/* The files that a map of weights names, each once and sorted. */
static pctl_status names_of(pctl_tensor_shards *s, const char *path, const cJSON *map,
			    const pctl_call *call)
{
	const int n = cJSON_GetArraySize(map);
	const char **all = calloc((size_t)n + 1, sizeof(*all));
	pctl_status status = PCTL_OK;
	const cJSON *j;
	uint32_t k = 0;

	if (all == NULL)
		return pctl_no_memory(call, "an index");
	cJSON_ArrayForEach(j, map)
	{
		if (status == PCTL_OK && (!cJSON_IsString(j) || !plain(j->valuestring)))
			status =
				bad_index(path, call, "no plain name of a file is given for tensor",
					  j->string);
		else if (status == PCTL_OK)
			all[k++] = j->valuestring;
	}
	qsort(all, k, sizeof(*all), pctl_order_texts);
	s->names = pctl_arena_array(s->arena, k + 1, sizeof(*s->names));
	for (uint32_t i = 0; i < k && status == PCTL_OK && s->names != NULL; i++) {
		if (i != 0 && strcmp(all[i], all[i - 1]) == 0)
			continue;
		if (s->n == PCTL_TENSOR_SHARDS_MAX)
			status = bad_index(path, call, "more than 4096 files are named", NULL);
		else
			s->names[s->n++] = pctl_arena_dup(s->arena, all[i]);
	}
	free(all);
	if (status == PCTL_OK && k == 0)
		status = bad_index(path, call, "it names no tensor", NULL);
	return status == PCTL_OK && pctl_arena_failed(s->arena) ? pctl_no_memory(call, "an index")
								: status;
}

static uint32_t place_of(const pctl_tensor_shards *s, const char *name)
{
	const char **at = bsearch(&name, s->names, s->n, sizeof(*s->names), pctl_order_texts);

	return at == NULL ? s->n : (uint32_t)(at - s->names);
}

/* A tensor and the number of its file, to be sorted by name; is_there: the file has it. */
typedef struct held {
	const char *name;
	uint32_t file, is_there;
} held;

static int by_name(const void *a, const void *b)
{
	return strcmp(((const held *)a)->name, ((const held *)b)->name);
}

/* The map and the files say the same: what each file holds is found by its name, and nothing is left over on either side. */
static pctl_status fits(const pctl_tensor_shards *s, const char *path, const cJSON *map,
			const pctl_call *call)
{
	const uint64_t n_map = (uint64_t)cJSON_GetArraySize(map);
	held *said = calloc(n_map + 1, sizeof(*said));
	pctl_status status = said == NULL ? pctl_no_memory(call, "an index") : PCTL_OK;
	const pctl_tensor_entry *e;
	uint64_t n = 0;
	const cJSON *j;

	cJSON_ArrayForEach(j, map)
	{
		if (said != NULL)
			said[n++] = (held){j->string, place_of(s, j->valuestring), 0};
	}
	if (said != NULL)
		qsort(said, n, sizeof(*said), by_name);
	for (uint64_t i = 1; i < n && status == PCTL_OK; i++)
		if (strcmp(said[i].name, said[i - 1].name) == 0)
			status = bad_index(path, call, "it names twice tensor", said[i].name);
	for (uint32_t f = 0; f < s->n; f++)
		for (uint64_t i = 0;
		     status == PCTL_OK && (e = pctl_tensor_file_at(s->files[f], i)) != NULL; i++) {
			const held key = {e->name, f, 0};
			held *h = bsearch(&key, said, n, sizeof(*said), by_name);

			if (h == NULL || h->file != f)
				status = bad_index(
					s->paths[f], call,
					"the index does not say that this file holds tensor",
					e->name);
			else
				h->is_there = 1;
		}
	for (uint64_t i = 0; i < n && status == PCTL_OK; i++)
		if (!said[i].is_there)
			status = bad_index(s->paths[said[i].file], call,
					   "the index says that this file holds tensor",
					   said[i].name);
	free(said);
	return status;
}

static pctl_status open_files(pctl_tensor_shards *s, const char *path, const pctl_call *call)
{
	const char *slash = strrchr(path, '/');
	const int n = slash == NULL ? 0 : (int)(slash - path + 1);
	pctl_status status = PCTL_OK;

	s->files = pctl_arena_array(s->arena, s->n + 1, sizeof(pctl_tensor_file *));
	s->paths = pctl_arena_array(s->arena, s->n + 1, sizeof(*s->paths));
	if (s->files == NULL || s->paths == NULL)
		return pctl_no_memory(call, "an index");
	for (uint32_t i = 0; i < s->n && status == PCTL_OK; i++) {
		s->paths[i] = pctl_arena_printf(s->arena, "%.*s%s", n, path, s->names[i]);
		if (s->paths[i] == NULL)
			status = pctl_no_memory(call, "an index");
		else if (!pctl_file_exists(s->paths[i]))
			status = bad_index(path, call, "it names a file that is not there,",
					   s->names[i]);
		else
			status = pctl_tensor_file_open(s->paths[i], call, &s->files[i]);
	}
	return status;
}

/* 1: its object has a second member of that name. */
static int has_another(const cJSON *member)
{
	for (const cJSON *j = member->next; j != NULL; j = j->next)
		if (strcmp(j->string, member->string) == 0)
			return 1;
	return 0;
}

static pctl_status open_index(pctl_tensor_shards *s, const char *path, const pctl_call *call)
{
	const char *why;
	pctl_status status;
	const cJSON *map;
	uint64_t n;
	cJSON *json;
	char *text;
	size_t bad;
	int good;

	status = pctl_file_read(path, HEADER_MAX, call, &text, &n);
	if (status != PCTL_OK)
		return status;
	good = pctl_json_good(text, n, &bad, &why);
	json = good ? cJSON_ParseWithLength(text, n) : NULL;
	free(text);
	map = cJSON_GetObjectItemCaseSensitive(json, "weight_map");
	if (!good)
		status = pctl_refuse(call, PC4218_TENSOR_INDEX, "%s: byte %zu: %s", path, bad, why);
	else if (json == NULL)
		status = pctl_no_memory(call, "an index");
	else if (!cJSON_IsObject(map) || has_another(map))
		status = bad_index(path, call, "it is no JSON object with one weight_map", NULL);
	else
		status = names_of(s, path, map, call);
	if (status == PCTL_OK)
		status = open_files(s, path, call);
	if (status == PCTL_OK)
		status = fits(s, path, map, call);
	cJSON_Delete(json);
	return status;
}

static pctl_status open_one(pctl_tensor_shards *s, const char *path, const pctl_call *call)
{
	pctl_status status;

	s->files = pctl_arena_array(s->arena, 2, sizeof(pctl_tensor_file *));
	s->paths = pctl_arena_array(s->arena, 2, sizeof(*s->paths));
	if (s->files == NULL || s->paths == NULL ||
	    (s->paths[0] = pctl_arena_dup(s->arena, path)) == NULL)
		return pctl_no_memory(call, "a file of tensors");
	s->n = 1;
	status = pctl_tensor_file_open(path, call, &s->files[0]);
	return status == PCTL_OK ? tensor_part_alone(s->files[0], path, call) : status;
}

static pctl_status open_parts(pctl_tensor_shards *s, const char *path, size_t stem, uint32_t number,
			      uint32_t n, const pctl_call *call)
{
	pctl_status status;

	if (number == 0 || number > n || n > PCTL_TENSOR_SHARDS_MAX)
		return pctl_refuse(call, PC4218_TENSOR_INDEX,
				   "%s: there is no part %" PRIu32 " of %" PRIu32, path, number, n);
	s->files = pctl_arena_array(s->arena, n + 1u, sizeof(pctl_tensor_file *));
	s->paths = pctl_arena_array(s->arena, n + 1u, sizeof(*s->paths));
	if (s->files == NULL || s->paths == NULL)
		return pctl_no_memory(call, "parts");
	for (s->n = 0; s->n < n; s->n++) {
		const char *part =
			pctl_arena_printf(s->arena, "%.*s-%05" PRIu32 "-of-%05" PRIu32 ".gguf",
					  (int)stem, path, s->n + 1, n);

		s->paths[s->n] = part;
		if (part == NULL)
			return pctl_no_memory(call, "parts");
		if (!pctl_file_exists(part))
			return pctl_refuse(call, PC4218_TENSOR_INDEX,
					   "%s: part %" PRIu32 " of %" PRIu32 " is not there", part,
					   s->n + 1, n);
		status = pctl_tensor_file_open(part, call, &s->files[s->n]);
		if (status != PCTL_OK)
			return status;
	}
	return tensor_parts_check(s->files, s->paths, n, call);
}

pctl_status pctl_tensor_shards_open(const char *path, const pctl_call *call,
				    pctl_tensor_shards **out)
{
	const size_t n = strlen(path), ending = strlen(PCTL_TENSOR_INDEX_ENDING);
	pctl_arena *arena = pctl_arena_create();
	pctl_tensor_shards *s = arena == NULL ? NULL : pctl_arena_alloc(arena, sizeof(*s));
	uint32_t number, n_parts;
	size_t stem;
	pctl_status status;

	*out = NULL;
	if (s == NULL) {
		pctl_arena_destroy(arena);
		return pctl_no_memory(call, "a file of tensors");
	}
	s->arena = arena;
	status = n > ending && strcmp(path + n - ending, PCTL_TENSOR_INDEX_ENDING) == 0
			 ? open_index(s, path, call)
		 : tensor_part_named(path, &stem, &number, &n_parts)
			 ? open_parts(s, path, stem, number, n_parts, call)
			 : open_one(s, path, call);
	if (status == PCTL_OK)
		*out = s;
	else
		pctl_tensor_shards_close(s);
	return status;
}

void pctl_tensor_shards_close(pctl_tensor_shards *s)
{
	if (s == NULL)
		return;
	for (uint32_t i = 0; i < s->n && s->files != NULL; i++)
		pctl_tensor_file_close(s->files[i]);
	pctl_arena_destroy(s->arena);
}

pctl_tensor_file *pctl_tensor_shards_file(const pctl_tensor_shards *s, uint32_t i)
{
	return i < s->n ? s->files[i] : NULL;
}

const char *pctl_tensor_shards_path(const pctl_tensor_shards *s, uint32_t i)
{
	return i < s->n ? s->paths[i] : NULL;
}
