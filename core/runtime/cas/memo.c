/* The memo table as files: one small text a key (memo_record.c), so that whatever is not exactly what was written is a miss. */
#include "runtime/cas/memo.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/base/order.h"
#include "foundation/base/str.h"
#include "foundation/base/vec.h"
#include "runtime/cas/memo_private.h"

#define HEX_SIZE (2 * PCTL_DIGEST_BYTES + 1)
#define RECORD_BYTES_MAX 65536u

pctl_status pctl_memo_open(const char *path, pctl_store *store, const pctl_call *call,
			   pctl_memo **out)
{
	pctl_memo *m = calloc(1, sizeof(*m));

	*out = NULL;
	if (m == NULL || (m->path = strdup(path)) == NULL) {
		free(m);
		return pctl_no_memory(call, "a memo table");
	}
	m->store = store;
	*out = m;
	return PCTL_OK;
}

void pctl_memo_close(pctl_memo *m)
{
	if (m == NULL)
		return;
	free(m->path);
	free(m);
}

/* DIR/XX or DIR/XX/KEY; released with free(). */
static char *shard_path(const pctl_memo *m, const char *hex, int whole)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_addf(&s, "%s/%.2s", m->path, hex);
	if (whole)
		pctl_str_addf(&s, "/%s", hex);
	return pctl_str_finish(&s);
}

/* ---- the table ---------------------------------------------------------------------------- */

/* key: of the name that it lies under, which must be its own. */
static int read_record(const char *path, const uint8_t key[PCTL_DIGEST_BYTES],
		       pctl_memo_record *out)
{
	if (pctl_memo_read(&pctl_memo_type, path, RECORD_BYTES_MAX, out, sizeof(*out)) &&
	    memcmp(key, out->key, PCTL_DIGEST_BYTES) == 0)
		return 1;
	memset(out, 0, sizeof(*out));
	return 0;
}

int pctl_memo_get(pctl_memo *m, const uint8_t key[PCTL_DIGEST_BYTES], pctl_memo_record *out)
{
	char hex[HEX_SIZE];
	char *path = shard_path(m, pctl_digest_hex(key, hex), 1);
	int ok;

	memset(out, 0, sizeof(*out));
	ok = path != NULL && read_record(path, key, out);
	for (uint32_t i = 0; ok && i < out->n_outputs; i++) {
		uint64_t n;

		ok = pctl_store_size(m->store, &out->outputs[i].cid, NULL, &n) == PCTL_OK &&
		     n == out->outputs[i].n_bytes;
	}
	if (!ok)
		memset(out, 0, sizeof(*out));
	free(path);
	return ok;
}

pctl_status pctl_memo_put(pctl_memo *m, const uint8_t key[PCTL_DIGEST_BYTES],
			  const pctl_memo_record *record, const pctl_call *call)
{
	char hex[HEX_SIZE];
	char *dir = NULL, *path = NULL, *text = NULL;
	pctl_memo_record *keyed;
	pctl_status status;

	if (!pctl_memo_is_valid(record))
		return pctl_refuse(call, PC5010_CAS_MEMO_RECORD,
				   "the record of a job on \"%.40s\" cannot be written",
				   record->n_plugins == 0 ? "" : record->plugins[0].id);
	pctl_digest_hex(key, hex);
	dir = shard_path(m, hex, 0);
	path = shard_path(m, hex, 1);
	keyed = malloc(sizeof(*keyed));
	if (keyed != NULL) {
		*keyed = *record;
		memcpy(keyed->key, key, sizeof(keyed->key));
		text = pctl_memo_seal(&pctl_memo_type, keyed);
	}
	free(keyed);
	if (dir == NULL || path == NULL || text == NULL)
		status = pctl_no_memory(call, "a memo record");
	else
		status = pctl_file_make_dirs(dir, call);
	if (status == PCTL_OK)
		status = pctl_file_write(path, text, strlen(text), 0, call);
	free(text);
	free(path);
	free(dir);
	return status;
}

/* ---- walking ------------------------------------------------------------------------------ */

typedef PCTL_VEC(char *) names;

/* Paths in a directory whose names have n characters, sorted; an absent directory has none. */
static int read_paths(const char *path, size_t n, names *out)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	int ok = 1;

	*out = (names){0};
	while (dir != NULL && ok && (e = readdir(dir)) != NULL) {
		char *file = strlen(e->d_name) == n && e->d_name[0] != '.'
				     ? pctl_path_join(path, e->d_name)
				     : NULL;

		if (file != NULL && !PCTL_VEC_PUSH(out, file)) {
			free(file);
			ok = 0;
		}
	}
	if (dir != NULL)
		closedir(dir);
	if (out->n > 0)
		qsort(out->items, out->n, sizeof(*out->items), pctl_order_texts);
	return ok;
}

static void free_names(names *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		free(list->items[i]);
	free(list->items);
	*list = (names){0};
}

typedef int (*visit_path)(void *ctx, const char *path);

static pctl_status walk(pctl_memo *m, const pctl_call *call, visit_path visit, void *ctx)
{
	names shards, files;
	int ok = read_paths(m->path, 2, &shards), stop = 0;

	for (uint32_t i = 0; ok && i < shards.n && !stop; i++) {
		ok = read_paths(shards.items[i], HEX_SIZE - 1, &files);
		for (uint32_t k = 0; ok && k < files.n && !stop; k++)
			stop = visit(ctx, files.items[k]);
		free_names(&files);
	}
	free_names(&shards);
	return ok ? PCTL_OK : pctl_refuse(call, PC2_NOMEM, "no memory to list the memo table");
}

typedef struct lister {
	int (*visit)(void *ctx, const uint8_t key[PCTL_DIGEST_BYTES], const pctl_memo_record *r);
	void *ctx;
	pctl_memo_record record;
} lister;

static int list_one(void *ctx, const char *path)
{
	lister *l = ctx;
	uint8_t key[PCTL_DIGEST_BYTES];

	if (!pctl_digest_parse_hex(path + strlen(path) - (HEX_SIZE - 1), key) ||
	    !read_record(path, key, &l->record))
		return 0;
	return l->visit(l->ctx, key, &l->record);
}

pctl_status pctl_memo_list(pctl_memo *m, const pctl_call *call,
			   int (*visit)(void *ctx, const uint8_t key[PCTL_DIGEST_BYTES],
					const pctl_memo_record *r),
			   void *ctx)
{
	lister *l = calloc(1, sizeof(*l));
	pctl_status status;

	if (l == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory to list the memo table");
	l->visit = visit;
	l->ctx = ctx;
	status = walk(m, call, list_one, l);
	free(l);
	return status;
}
