/* Two trees, compared; see immutable.h. Every kind of row is collected from both sides by the same scanner. */
#include "foundation/git/immutable.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/order.h"
#include "foundation/base/vec.h"
#include "foundation/git/released.h"

#define TEXT_MAX (16u << 20)

static const char gas_folder[] = "conf/gas";
static const char codes_folder[] = "core/include/pipectl/codes";
static const char headers_folder[] = "core/include/pipectl";

typedef void (*scan_fn)(pctl_released *r, const char *file, const char *text);

typedef struct comparing {
	const pctl_repo_revision *then;
	const char *rev;
	const pctl_call *call;
	pctl_repo_frozen *frozen;
	pctl_status first; /* the status of the first difference */
	/* while rows are collected */
	pctl_released *was, *is;
	const char *ending;
	scan_fn scan;
} comparing;

static void keep(comparing *c, pctl_status status)
{
	if (c->first == PCTL_OK)
		c->first = status;
}

/* ---- both sides --------------------------------------------------------------------------- */

static pctl_status read_then(const comparing *c, const char *path, char **out, uint64_t *n)
{
	const pctl_vfs *vfs = pctl_repo_revision_vfs(c->then);
	char *name = vfs->resolve(vfs->ctx, pctl_repo_revision_name(c->then), path);
	pctl_status status;

	if (name == NULL)
		return pctl_no_memory(c->call, "a path");
	status = pctl_vfs_read(vfs, name, TEXT_MAX, c->call, out, n);
	free(name);
	return status;
}

/* *out NULL: there is no such file now. */
static pctl_status read_now(const comparing *c, const char *path, char **out, uint64_t *n)
{
	char *full = pctl_path_join(pctl_repo_revision_root(c->then), path);
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (full == NULL)
		return pctl_no_memory(c->call, "a path");
	if (pctl_file_exists(full))
		status = pctl_file_read(full, TEXT_MAX, c->call, out, n);
	free(full);
	return status;
}

static int ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text), n_end = strlen(end);

	return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

/* ---- byte for byte ------------------------------------------------------------------------ */

static uint32_t first_difference(const char *a, uint64_t n_a, const char *b, uint64_t n_b)
{
	uint32_t line = 1;

	for (uint64_t i = 0; i < n_a && i < n_b && a[i] == b[i]; i++)
		line += a[i] == '\n';
	return line;
}

static pctl_status compare_bytes(void *ctx, const char *path)
{
	comparing *c = ctx;
	char *was = NULL, *is = NULL;
	uint64_t n_was = 0, n_is = 0;
	pctl_pos pos = {.file = path, .column = 1};
	pctl_status status = PCTL_OK;

	if (!ends_with(path, ".cfg"))
		return PCTL_OK;
	status = read_then(c, path, &was, &n_was);
	if (status == PCTL_OK)
		status = read_now(c, path, &is, &n_is);
	c->frozen->schedules++;
	if (status == PCTL_OK && is == NULL) {
		keep(c, pctl_refuse(c->call, PC6020_REPO_RELEASED,
				    "%s was released at %s and is gone", path, c->rev));
	} else if (status == PCTL_OK && (n_was != n_is || memcmp(was, is, n_was) != 0)) {
		pos.line = first_difference(was, n_was, is, n_is);
		keep(c, pctl_refuse_at(c->call, PC6020_REPO_RELEASED, &pos,
				       "leave the file as it was and give the new one a new name",
				       "the schedule was released at %s and has other bytes from "
				       "this line on",
				       c->rev));
	}
	free(was);
	free(is);
	return status;
}

/* ---- rows --------------------------------------------------------------------------------- */

static pctl_status scan_then(void *ctx, const char *path)
{
	comparing *c = ctx;
	char *text = NULL;
	uint64_t n;
	pctl_status status = PCTL_OK;

	if (!ends_with(path, c->ending))
		return PCTL_OK;
	status = read_then(c, path, &text, &n);
	if (status == PCTL_OK)
		c->scan(c->was, path, text);
	free(text);
	return status;
}

/* The same file as it is now; one that is gone has no rows. */
static pctl_status scan_now(comparing *c, const char *path)
{
	char *text = NULL;
	uint64_t n;
	pctl_status status = read_now(c, path, &text, &n);

	if (status == PCTL_OK && text != NULL)
		c->scan(c->is, path, text);
	free(text);
	return status;
}

/* Names of a directory's files, sorted: no order of the disk shows. None when there is no directory. */
static pctl_status list_files(const char *dir, const pctl_call *call, char ***out, uint32_t *n_out)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	PCTL_VEC(char *) names = {NULL, 0, 0};
	int ok = 1;

	while (d != NULL && ok && (e = readdir(d)) != NULL) {
		char *name = strdup(e->d_name);

		ok = name != NULL && PCTL_VEC_PUSH(&names, name);
		if (!ok)
			free(name);
	}
	if (d != NULL)
		closedir(d);
	if (names.n != 0)
		qsort(names.items, names.n, sizeof(*names.items), pctl_order_texts);
	*out = names.items;
	*n_out = names.n;
	return ok ? PCTL_OK : pctl_no_memory(call, "a list of files");
}

static pctl_status scan_all_now(comparing *c, const char *folder)
{
	char *full = pctl_path_join(pctl_repo_revision_root(c->then), folder);
	char **names = NULL;
	uint32_t n = 0;
	pctl_status status = full == NULL ? pctl_no_memory(c->call, "a path")
					  : list_files(full, c->call, &names, &n);

	for (uint32_t i = 0; i < n; i++) {
		char *path = pctl_path_join(folder, names[i]);

		if (status == PCTL_OK && path == NULL)
			status = pctl_no_memory(c->call, "a path");
		if (status == PCTL_OK && ends_with(path, c->ending))
			status = scan_now(c, path);
		free(path);
		free(names[i]);
	}
	free(names);
	free(full);
	return status;
}

static void compare_rows(comparing *c, const char *what, uint32_t *count)
{
	for (uint32_t i = 0; i < pctl_map_count(c->was->map); i++) {
		const char *name = pctl_map_key_at(c->was->map, i);
		const pctl_released_row *was = pctl_map_value_at(c->was->map, i);
		const pctl_released_row *is = pctl_map_get(c->is->map, name);
		const pctl_pos pos = {.file = is == NULL ? was->file : is->file,
				      .line = is == NULL ? 0 : is->line,
				      .column = is == NULL ? 0 : 1};

		++*count;
		if (is == NULL)
			keep(c, pctl_refuse_at(c->call, PC6020_REPO_RELEASED, &pos, NULL,
					       "%s %s was released at %s (%s) and is gone", what,
					       name, c->rev, was->value));
		else if (strcmp(was->value, is->value) != 0)
			keep(c, pctl_refuse_at(c->call, PC6020_REPO_RELEASED, &pos, NULL,
					       "%s %s was released at %s as %s, here it is %s",
					       what, name, c->rev, was->value, is->value));
	}
}

/* Rows of all files of a folder, or of one file. */
static pctl_status compare_table(comparing *c, const char *folder, const char *ending, scan_fn scan,
				 const char *what, uint32_t *count)
{
	pctl_released was, is;
	const int ready = pctl_released_begin(&was), too = pctl_released_begin(&is);
	pctl_status status = PCTL_OK;

	c->was = &was;
	c->is = &is;
	c->ending = ending;
	c->scan = scan;
	if (ready && too) {
		status = pctl_repo_revision_list(c->then, folder, c->call, scan_then, c);
		if (status == PCTL_OK)
			status = scan_all_now(c, folder);
	}
	if (status == PCTL_OK && (!ready || !too || was.failed || is.failed))
		status = pctl_no_memory(c->call, "released things");
	if (status == PCTL_OK)
		compare_rows(c, what, count);
	pctl_released_end(&was);
	pctl_released_end(&is);
	return status;
}

/* ---- the lock of ops ---------------------------------------------------------------------- */

static pctl_status compare_lock(comparing *c)
{
	const pctl_vfs *vfs = pctl_repo_revision_vfs(c->then);
	char *name = vfs->resolve(vfs->ctx, pctl_repo_revision_name(c->then), PCTL_REPO_LOCK);
	char *then = NULL, *now = NULL;
	pctl_released was, is;
	const int ready = pctl_released_begin(&was), too = pctl_released_begin(&is);
	uint64_t n;
	pctl_status status =
		name == NULL || !ready || !too ? pctl_no_memory(c->call, "a lock") : PCTL_OK;

	c->was = &was;
	c->is = &is;
	if (status != PCTL_OK || !pctl_vfs_exists(vfs, name))
		goto out;
	status = read_then(c, PCTL_REPO_LOCK, &then, &n);
	if (status == PCTL_OK)
		status = pctl_released_lock(&was, name, then, c->call);
	if (status == PCTL_OK)
		status = read_now(c, PCTL_REPO_LOCK, &now, &n);
	if (status == PCTL_OK && now == NULL)
		status = pctl_refuse(c->call, PC6021_REPO_LOCK, "%s was released at %s and is gone",
				     PCTL_REPO_LOCK, c->rev);
	else if (status == PCTL_OK)
		status = pctl_released_lock(&is, PCTL_REPO_LOCK, now, c->call);
	if (status == PCTL_OK)
		compare_rows(c, "op", &c->frozen->ops);
out:
	pctl_released_end(&was);
	pctl_released_end(&is);
	free(then);
	free(now);
	free(name);
	return status;
}

static pctl_status compare_all(comparing *c)
{
	pctl_repo_frozen *f = c->frozen;
	pctl_status status =
		pctl_repo_revision_list(c->then, gas_folder, c->call, compare_bytes, c);

	if (status == PCTL_OK)
		status = compare_table(c, codes_folder, ".def", pctl_released_codes, "code",
				       &f->codes);
	if (status == PCTL_OK)
		status = compare_table(c, headers_folder, "/ops.def", pctl_released_opcodes,
				       "instruction", &f->instructions);
	if (status == PCTL_OK)
		status = compare_table(c, headers_folder, ".h", pctl_released_numbers, "number",
				       &f->numbers);
	if (status == PCTL_OK)
		status = compare_lock(c);
	return status;
}

pctl_status pctl_repo_check_immutable(const char *dir, const char *rev, const pctl_call *call,
				      pctl_repo_frozen *out)
{
	pctl_repo_revision *then = NULL;
	comparing c = {.rev = rev, .call = call, .frozen = out};
	pctl_status status = pctl_repo_revision_of(dir, rev, call, &then);

	*out = (pctl_repo_frozen){0};
	if (status != PCTL_OK)
		return status;
	c.then = then;
	if (pctl_repo_revision_root(then) == NULL)
		status = pctl_refuse(call, PC6001_REPO_NONE, "%s is bare: there is no work tree",
				     dir);
	if (status == PCTL_OK)
		status = compare_all(&c);
	if (status == PCTL_OK)
		status = c.first;
	if (status == PCTL_OK &&
	    out->schedules + out->codes + out->instructions + out->numbers + out->ops == 0)
		status = pctl_refuse(call, PC6022_REPO_NOTHING, "%s holds nothing that is frozen",
				     pctl_repo_revision_name(then));
	pctl_repo_revision_close(then);
	return status;
}
