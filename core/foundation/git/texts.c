/* Texts kept as they are read; see texts.h. */
#include "foundation/git/texts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"
#include "foundation/base/vec.h"

#define BYTES_MAX (256u << 20) /* of all texts together */

typedef struct text {
	char *name, *bytes;
	uint64_t n;
} text;

struct pctl_texts {
	const pctl_vfs *under;
	pctl_vfs vfs;
	PCTL_VEC(text) items;
	uint64_t bytes;
};

static const text *find(const pctl_texts *t, const char *name)
{
	for (uint32_t i = 0; i < t->items.n; i++)
		if (strcmp(t->items.items[i].name, name) == 0)
			return &t->items.items[i];
	return NULL;
}

static char *resolve(void *ctx, const char *from, const char *path)
{
	const pctl_texts *t = ctx;

	return pctl_vfs_resolve(t->under, from, path);
}

static int exists(void *ctx, const char *name)
{
	const pctl_texts *t = ctx;

	return find(t, name) != NULL || pctl_vfs_exists(t->under, name);
}

/* Takes the bytes over when it succeeds. */
static pctl_status keep(pctl_texts *t, const char *name, char *bytes, uint64_t n,
			const pctl_call *call)
{
	const text item = {strdup(name), bytes, n};

	if (t->items.n >= PCTL_TEXTS_MAX || n > BYTES_MAX - t->bytes) {
		free(item.name);
		return pctl_refuse(call, PC6006_REPO_SIZE,
				   "a pipeline of more than %u texts or %u bytes of them",
				   PCTL_TEXTS_MAX, BYTES_MAX);
	}
	if (item.name == NULL || !PCTL_VEC_PUSH(&t->items, item)) {
		free(item.name);
		return pctl_no_memory(call, "the texts of a pipeline");
	}
	t->bytes += n;
	return PCTL_OK;
}

static pctl_status copy(const text *from, uint64_t limit, const pctl_call *call, char **out,
			uint64_t *n_out)
{
	if (from->n > limit)
		return pctl_refuse(call, PC3_IO,
				   "cannot read %s: larger than the limit of %" PRIu64 " bytes",
				   from->name, limit);
	*out = malloc(from->n + 1);
	if (*out == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory to read %s", from->name);
	memcpy(*out, from->bytes, from->n + 1);
	*n_out = from->n;
	return PCTL_OK;
}

static pctl_status read_text(void *ctx, const char *name, uint64_t limit, const pctl_call *call,
			     char **out, uint64_t *n_out)
{
	pctl_texts *t = ctx;
	const text *kept = find(t, name);
	char *bytes = NULL;
	uint64_t n = 0;
	pctl_status status;

	*out = NULL;
	*n_out = 0;
	if (kept != NULL)
		return copy(kept, limit, call, out, n_out);
	status = pctl_vfs_read(t->under, name, limit, call, &bytes, &n);
	if (status != PCTL_OK)
		return status;
	status = keep(t, name, bytes, n, call);
	if (status != PCTL_OK) {
		free(bytes);
		return status;
	}
	return copy(find(t, name), limit, call, out, n_out);
}

pctl_texts *pctl_texts_create(const pctl_vfs *under)
{
	pctl_texts *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->under = under;
	t->vfs = (pctl_vfs){t, resolve, exists, read_text, under != NULL ? under->data : NULL};
	return t;
}

void pctl_texts_destroy(pctl_texts *t)
{
	if (t == NULL)
		return;
	for (uint32_t i = 0; i < t->items.n; i++) {
		free(t->items.items[i].name);
		free(t->items.items[i].bytes);
	}
	free(t->items.items);
	free(t);
}

const pctl_vfs *pctl_texts_vfs(const pctl_texts *t)
{
	return &t->vfs;
}

uint32_t pctl_texts_count(const pctl_texts *t)
{
	return t->items.n;
}

const char *pctl_texts_name(const pctl_texts *t, uint32_t i)
{
	return t->items.items[i].name;
}

const char *pctl_texts_bytes(const pctl_texts *t, uint32_t i, uint64_t *n_out)
{
	*n_out = t->items.items[i].n;
	return t->items.items[i].bytes;
}

char *pctl_texts_from_folder(const char *base, const char *path)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	size_t same = 0;

	for (size_t i = 0; base[i] != '\0' && base[i] == path[i]; i++)
		if (base[i] == '/')
			same = i + 1;
	for (const char *rest = base + same; (rest = strchr(rest, '/')) != NULL; rest++)
		pctl_str_add(&s, "../");
	pctl_str_add(&s, path + same);
	return pctl_str_finish(&s);
}

char *pctl_texts_relative(const pctl_texts *t, uint32_t i)
{
	char *base = pctl_path_plain(t->items.items[0].name);
	char *path = pctl_path_plain(t->items.items[i].name);
	char *out = base == NULL || path == NULL ? NULL : pctl_texts_from_folder(base, path);

	free(base);
	free(path);
	return out;
}
