/* Which files a session really runs on: the plugin's, and what the kernel says is mapped executable in its worker. This is
 * the host's evidence; what drivers say of themselves are claims. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "foundation/base/file.h"
#include "foundation/base/order.h"
#include "foundation/base/str.h"
#include "foundation/base/vec.h"
#include "runtime/cas/cid.h"
#include "runtime/plugin/registry_private.h"

#define REMEMBERED_MAX 512u
#define DEPTH 3u /* of processes below the one that the host started */

typedef struct file_row {
	const char *path, *state, *sha256;
} file_row;

#define TEXT(M, MEANS) PCTL_RECORD_FIELD(TEXT, #M, file_row, M, .means = MEANS)
static const pctl_record_field fields[] = {
	TEXT(path, "of a library"), TEXT(state, "device, inode, size and times: is it the same"),
	TEXT(sha256, "of it")};
PCTL_KEPT(driver_files, file_row, fields, "pipectl driver files 1", PC3031_PLUGIN_STORE,
	  "Hashes of drivers' files",
	  "`cache/driver-files.tsv` in pipectl's home; a damaged one is none");

typedef PCTL_VEC(const char *) path_list;

typedef struct looking {
	pctl_registry *r;
	const pctl_driver_files *of;
	const char *worker;
} looking;

/* What stands for a file whose bytes cannot be told. No two runs of pipectl have the same: else whoever hides from the host
 * would be one and the same device, whatever it runs on. NULL: no memory. */
static const char *unknown(const looking *s, const char *why)
{
	if (!s->r->unknown[0]) {
		uint64_t drawn[2] = {0, 0};
		size_t n = 0;

		while (n < sizeof(drawn)) {
			const ssize_t got = getrandom((uint8_t *)drawn + n, sizeof(drawn) - n, 0);

			if (got < 0 && errno != EINTR)
				return NULL;
			n += got > 0 ? (size_t)got : 0;
		}
		snprintf(s->r->unknown, sizeof(s->r->unknown), "%016" PRIx64 "%016" PRIx64,
			 drawn[0], drawn[1]);
	}
	return pctl_arena_printf(s->r->arena, "%s %s", why, s->r->unknown);
}

/* ---- what is mapped ----------------------------------------------------------------------- */

static int begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* A kernel that a driver built in its cache of kernels, or wrote where no name leads any more, as into memory: no part of it.
 * Whatever else lies in its directories is, and so is all that lies in the plugin's own. */
static int is_built(const pctl_driver_files *of, const char *path)
{
	static const char gone[] = " (deleted)";
	const size_t n = of->private_dir ? strlen(of->private_dir) : 0, all = strlen(path);

	if (!n || strncmp(path, of->private_dir, n) != 0 || begins(path + n, "/plugin/"))
		return 0;
	return (of->builds && begins(path + n, "/pocl/")) ||
	       (path[n] == '/' && all > n + sizeof(gone) &&
		!strcmp(path + all - (sizeof(gone) - 1), gone));
}

/* The path of a line of maps that is executable and of a file; NULL else. */
static const char *path_of(const looking *s, char *line)
{
	const size_t space = strcspn(line, " ");
	char *path = strchr(line, '/');

	line[strcspn(line, "\n")] = '\0';
	if (!path || space + 4 >= strlen(line) || line[space + 3] != 'x')
		return NULL;
	/* Sealed plugins are named by the registry; the worker is the host's own. */
	if (!strncmp(path, "/memfd:", 7) || !strcmp(path, s->worker))
		return NULL;
	return is_built(s->of, path) ? NULL : path;
}

static int add_path(const looking *s, const char *path, path_list *out)
{
	const char *kept;

	for (uint32_t i = 0; i < out->n; i++)
		if (!strcmp(out->items[i], path))
			return 1;
	kept = pctl_arena_dup(s->r->arena, path);
	return kept && PCTL_VEC_PUSH(out, kept);
}

/* What one process has mapped; *seen: its mappings could be read. 0: no memory. */
static int list_process(const looking *s, pid_t pid, path_list *out, int *seen)
{
	char name[64], *line = NULL;
	size_t capacity = 0;
	int ok = 1;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%ld/maps", (long)pid);
	f = fopen(name, "re");
	*seen &= f != NULL;
	if (!f)
		return 1;
	while (ok && getline(&line, &capacity, f) > 0) {
		const char *path = path_of(s, line);

		ok = !path || add_path(s, path, out);
	}
	*seen &= !ferror(f);
	free(line);
	fclose(f);
	return ok;
}

/* The worker and what it started: the plugin lives in a child of the process that the host knows. */
static int list_tree(const looking *s, pid_t pid, uint32_t depth, path_list *out, int *seen)
{
	int own = 1, ok = list_process(s, pid, out, &own);
	uint32_t n = 0;
	char name[64];
	long child;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%ld/task/%ld/children", (long)pid, (long)pid);
	f = depth == 0 ? NULL : fopen(name, "re");
	for (; ok && f && fscanf(f, "%ld", &child) == 1; n++)
		ok = list_tree(s, (pid_t)child, depth - 1, out, seen);
	if (f)
		fclose(f);
	/* The one that only watches over another is the host's own, and may be closed to everybody. */
	*seen &= own || (depth == DEPTH && n != 0);
	return ok;
}

static pctl_status list_mapped(const looking *s, path_list *out, pctl_str_buf *text,
			       pctl_str_buf *libraries, const pctl_call *call)
{
	int seen = 1;

	if (!list_tree(s, s->of->pid, DEPTH, out, &seen))
		return pctl_no_memory(call, "a list of files");
	if (!seen || out->n == 0) {
		const char *id = unknown(s, "unreadable");

		if (!id)
			return pctl_no_memory(call, "a list of files");
		pctl_str_addf(text, "mappings %s\n", id);
		pctl_str_addf(libraries, "mappings that cannot be read\t%s\n", id);
	}
	if (out->n != 0)
		qsort(out->items, out->n, sizeof(*out->items), pctl_order_texts);
	return PCTL_OK;
}

/* ---- their hashes, remembered ------------------------------------------------------------- */

/* As long as this stays the same, so does the file. */
static int state_of(const char *path, char out[128])
{
	struct stat st;

	if (stat(path, &st) < 0)
		return 0;
	snprintf(out, 128,
		 "%" PRIu64 ":%" PRIu64 ":%" PRId64 ":%" PRId64 ".%09ld:%" PRId64 ".%09ld",
		 (uint64_t)st.st_dev, (uint64_t)st.st_ino, (int64_t)st.st_size,
		 (int64_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (int64_t)st.st_ctim.tv_sec,
		 st.st_ctim.tv_nsec);
	return 1;
}

static const char *hash_of(const looking *s, pctl_kept *known, int *changed, const char *path)
{
	char state[128], hex[2 * PCTL_DIGEST_BYTES + 1];
	file_row found = {.path = path};

	if (!state_of(path, state))
		return "gone";
	for (uint32_t i = 0; i < known->n; i++) {
		const file_row *row = &((file_row *)(void *)known->rows)[i];

		if (strcmp(row->path, path))
			continue;
		if (!strcmp(row->state, state))
			return row->sha256;
		pctl_kept_remove(known, i--);
	}
	if (!pctl_plugin_hash_file(path, hex))
		return "unreadable";
	*changed = 1;
	while (known->n >= REMEMBERED_MAX)
		pctl_kept_remove(known, 0);
	found.state = pctl_arena_dup(s->r->arena, state);
	found.sha256 = pctl_arena_dup(s->r->arena, hex);
	if (found.state && found.sha256)
		(void)pctl_kept_add(known, &found); /* what is forgotten is hashed again */
	return found.sha256;
}

static pctl_status describe(const looking *s, const path_list *paths, pctl_str_buf *text,
			    pctl_str_buf *libraries, const pctl_call *call)
{
	const char *file =
		s->r->cache ? pctl_arena_printf(s->r->arena, "%s/driver-files.tsv", s->r->cache)
			    : NULL;
	const char *name;
	pctl_kept known;
	int changed = 0;

	(void)pctl_kept_load(&known, &pctl_driver_files_type, s->r->arena, file, NULL);
	if (s->of->icd) {
		const char *hash = hash_of(s, &known, &changed, s->of->icd);

		text->failed |= !hash;
		pctl_str_addf(text, "driver file %s\n", hash ? hash : "");
	}
	for (uint32_t i = 0; i < paths->n; i++) {
		const char *hash = hash_of(s, &known, &changed, paths->items[i]);

		name = strrchr(paths->items[i], '/') + 1;
		text->failed |= !hash;
		pctl_str_addf(text, "library %s %s\n", name, hash ? hash : "");
		pctl_str_addf(libraries, "%s\t%s\n", name, hash ? hash : "");
	}
	if (file && changed && pctl_file_make_dirs(s->r->cache, NULL) == PCTL_OK)
		(void)pctl_kept_save(&known, file, 0, NULL);
	return text->failed || libraries->failed ? pctl_no_memory(call, "a list of files")
						 : PCTL_OK;
}

pctl_status pctl_driver_files_add(pctl_registry *r, const pctl_driver_files *of, pctl_str_buf *text,
				  pctl_str_buf *libraries, const pctl_call *call)
{
	char *worker = r->worker ? realpath(r->worker, NULL) : NULL;
	const looking s = {r, of, worker ? worker : ""};
	path_list paths = {NULL, 0, 0};
	pctl_status st = list_mapped(&s, &paths, text, libraries, call);

	if (!st)
		st = describe(&s, &paths, text, libraries, call);
	free(paths.items);
	free(worker);
	return st;
}
