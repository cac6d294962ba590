/* Implementation of tensor_sets.h. */
#include "runtime/exec/tensor_sets.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/base/map.h"
#include "foundation/base/str.h"
#include "foundation/base/vec.h"
#include "foundation/conf/conf.h"
#include "foundation/tensorfile/shards.h"

/* A tensor: the number of its file and its own there, in one word. */
#define PLACE(file, i) ((void *)(uintptr_t)((uint64_t)(file) << 32 | (i)))

struct set {
	char *path;
	pctl_tensor_shards *shards;
	int *fds; /* one a file */
	uint32_t n_fds;
	pctl_status status; /* not PCTL_OK: it cannot be opened, which was said */
	pctl_map *places;
};

struct pctl_tensor_sets {
	PCTL_VEC(struct set) sets;
};

pctl_tensor_sets *pctl_tensor_sets_create(void)
{
	return calloc(1, sizeof(pctl_tensor_sets));
}

static void close_set(struct set *s)
{
	for (uint32_t i = 0; i < s->n_fds; i++)
		close(s->fds[i]);
	free(s->fds);
	free(s->path);
	pctl_map_destroy(s->places);
	pctl_tensor_shards_close(s->shards);
}

void pctl_tensor_sets_destroy(pctl_tensor_sets *s)
{
	if (s == NULL)
		return;
	for (uint32_t i = 0; i < s->sets.n; i++)
		close_set(&s->sets.items[i]);
	free(s->sets.items);
	free(s);
}

static int ends_in(const char *text, const char *ending)
{
	const size_t n = strlen(text), k = strlen(ending);

	return n > k && strcmp(text + n - k, ending) == 0;
}

/* The index of a folder, or else its only file of tensors. */
static pctl_status look_into(const char *path, const pctl_call *call, char **out)
{
	DIR *dir = opendir(path);
	uint32_t n_index = 0, n_files = 0;
	char *index = NULL, *file = NULL;
	struct dirent *e;
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (dir == NULL)
		return pctl_refuse(call, PC3_IO, "%s: %s", path, strerror(errno));
	while ((e = readdir(dir)) != NULL) {
		const int is_index = ends_in(e->d_name, PCTL_TENSOR_INDEX_ENDING);
		const char *tensor;
		char **to = is_index ? &index : &file;
		size_t n;

		if (e->d_name[0] == '.' ||
		    (!is_index &&
		     (!pctl_tensor_ref_parse(e->d_name, &n, &tensor) || tensor != NULL)))
			continue;
		n_index += (uint32_t)is_index;
		n_files += (uint32_t)!is_index;
		free(*to);
		*to = strdup(e->d_name);
	}
	closedir(dir);
	if (n_index > 1 || (n_index == 0 && n_files != 1))
		status = pctl_refuse_at(
			call, PC4215_TENSOR_MEMBER, NULL, "name the file itself",
			"folder %s has %u files of tensors and %u indices of sharded "
			"ones: one set is not told",
			path, n_files, n_index);
	else
		*out = pctl_path_join(path, n_index == 1 ? index : file);
	if (status == PCTL_OK && *out == NULL)
		status = pctl_no_memory(call, "a path");
	free(index);
	free(file);
	return status;
}

static pctl_status list(struct set *s, const pctl_call *call)
{
	pctl_tensor_file *f;

	for (uint32_t k = 0; (f = pctl_tensor_shards_file(s->shards, k)) != NULL; k++) {
		const pctl_tensor_entry *e;
		int *fds = realloc(s->fds, (k + (size_t)1) * sizeof(*fds));

		if (fds == NULL)
			return pctl_no_memory(call, "a set of tensors");
		s->fds = fds;
		s->fds[k] = pctl_tensor_file_dup(f);
		if (s->fds[k] < 0)
			return pctl_refuse(call, PC3_IO, "%s: %s", s->path, strerror(errno));
		s->n_fds = k + 1;
		for (uint64_t i = 0; (e = pctl_tensor_file_at(f, i)) != NULL; i++) {
			if (!pctl_map_put(s->places, e->name, PLACE(k, i)))
				return pctl_no_memory(call, "a set of tensors");
		}
	}
	return PCTL_OK;
}

static void open_set(const char *path, const pctl_call *call, struct set *out)
{
	char *inside = NULL;
	pctl_status status = PCTL_OK;

	*out = (struct set){.path = strdup(path), .places = pctl_map_create()};
	if (out->path == NULL || out->places == NULL)
		status = pctl_no_memory(call, "a set of tensors");
	if (status == PCTL_OK && pctl_dir_exists(path))
		status = look_into(path, call, &inside);
	if (status == PCTL_OK)
		status =
			pctl_tensor_shards_open(inside == NULL ? path : inside, call, &out->shards);
	if (status == PCTL_OK)
		status = list(out, call);
	out->status = status;
	free(inside);
}

static pctl_status find_set(pctl_tensor_sets *s, const char *path, const pctl_call *call,
			    const struct set **out)
{
	struct set one;

	*out = NULL;
	for (uint32_t i = 0; i < s->sets.n; i++) {
		if (strcmp(s->sets.items[i].path, path) != 0)
			continue;
		*out = &s->sets.items[i];
		return (*out)->status;
	}
	open_set(path, call, &one);
	if (one.path == NULL || !PCTL_VEC_PUSH(&s->sets, one)) {
		close_set(&one);
		return pctl_no_memory(call, "a set of tensors");
	}
	*out = &s->sets.items[s->sets.n - 1];
	return one.status;
}

static pctl_status refuse_tensor(const struct set *s, const char *tensor, const pctl_pos *pos,
				 const pctl_call *call)
{
	const uint32_t n = pctl_map_count(s->places);
	const char **names = calloc((size_t)n + 1, sizeof(*names));
	char *hint = NULL;
	pctl_status status;

	for (uint32_t i = 0; names != NULL && i < n; i++)
		names[i] = pctl_map_key_at(s->places, i);
	if (names != NULL)
		hint = pctl_conf_hint_names(tensor, names, n);
	status = pctl_refuse_at(call, PC4215_TENSOR_MEMBER, pos, hint,
				"%s has no tensor \"%.200s\"", s->path, tensor);
	free(hint);
	free(names);
	return status;
}

pctl_status pctl_tensor_sets_source(pctl_tensor_sets *s, const char *path, const char *tensor,
				    const pctl_pos *pos, const pctl_cid *known,
				    const pctl_call *call, pctl_data_source **out)
{
	const struct set *set = NULL;
	pctl_status status = find_set(s, path, call, &set);
	char *text;
	uint64_t place;

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	if (!pctl_map_has(set->places, tensor))
		return refuse_tensor(set, tensor, pos, call);
	place = (uint64_t)(uintptr_t)pctl_map_get(set->places, tensor);
	text = malloc(strlen(path) + strlen(tensor) + 2);
	if (text == NULL)
		return pctl_no_memory(call, "a set of tensors");
	(void)sprintf(text, "%s:%s", path, tensor);
	status = pctl_source_open_entry(
		pctl_tensor_shards_file(set->shards, (uint32_t)(place >> 32)), (uint32_t)place,
		set->fds[place >> 32], text, known, call, out);
	free(text);
	return status;
}
