/* Writing a report and checking one. All texts are made before the first file is touched, all pages are on the
 * disk before the first gets its name, and the manifest comes last: a directory whose manifest fits is complete. */
#include "evidence/audit/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evidence/audit/html.h"
#include "evidence/audit/manifest.h"
#include "foundation/base/file.h"
#include "foundation/base/json.h"
#include "foundation/base/output.h"

#define N_PAGES 2u

typedef struct writing {
	const pctl_audit_result *r;
	const char *dir;
	const pctl_signer *signer;
	const pctl_call *call;
	pctl_arena *arena;
} writing;

static const char *const page_names[N_PAGES] = {"index.html", "report.json"};

static const char *in_dir(const writing *w, const char *name)
{
	return pctl_arena_printf(w->arena, "%s/%s", w->dir, name);
}

static char *make_json(const pctl_audit_result *r, const char *command)
{
	pctl_json j;

	pctl_json_init(&j, 2);
	pctl_json_object_begin(&j);
	pctl_json_kv_string(&j, "schema", "pipectl.audit/1");
	pctl_json_kv_string(&j, "command", command);
	pctl_audit_json(r, &j);
	pctl_json_object_end(&j);
	return pctl_json_finish(&j);
}

static char *make_page(const pctl_audit_result *r, const char *command)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_html_page(&s, r, command);
	return pctl_str_finish(&s);
}

/* ---- what an earlier report left ---------------------------------------------------------------- */

/* Files of this report's reproductions stay: the audit has just written them. */
static int is_kept(const writing *w, const char *path)
{
	char whole[4096], *resolved = realpath(path, NULL);
	int kept = resolved == NULL;

	for (uint32_t i = 0; !kept && i < w->r->n_divergences; i++) {
		const char *dir = w->r->divergences[i].dir;
		size_t n;

		if (dir == NULL || realpath(dir, whole) == NULL)
			continue;
		n = strlen(whole);
		kept = strncmp(resolved, whole, n) == 0 && resolved[n] == '/';
	}
	free(resolved);
	return kept;
}

/* The seal and the list of a report's manifest. */
static pctl_status read_manifest(const char *path, pctl_arena *arena, const pctl_call *call,
				 char key[PCTL_PUBLIC_KEY_TEXT], pctl_listed_file **out,
				 uint32_t *n_out)
{
	char *text = NULL;
	uint64_t n = 0;
	size_t n_signed;
	pctl_status status = pctl_file_read(path, PCTL_MANIFEST_LIMIT, call, &text, &n);

	if (status == PCTL_OK)
		status = pctl_sealed_check(path, text, (size_t)n, call, &n_signed, key);
	if (status == PCTL_OK)
		status = pctl_filelist_read(path, text, n_signed, arena, call, out, n_out);
	free(text);
	return status;
}

/* A path that a manifest may name: below the directory. */
static int is_inside(const char *path)
{
	return path[0] != '/' && path[0] != '\0' && strcmp(path, "..") != 0 &&
	       strncmp(path, "../", 3) != 0 && strstr(path, "/../") == NULL &&
	       (strlen(path) < 3 || strcmp(path + strlen(path) - 3, "/..") != 0);
}

/* Only what an earlier manifest names, and only when its seal fits: other files are not ours to remove. */
static void remove_earlier(const writing *w)
{
	const char *path = in_dir(w, PCTL_MANIFEST_NAME);
	char key[PCTL_PUBLIC_KEY_TEXT];
	pctl_listed_file *files;
	uint32_t n;

	if (path == NULL || !pctl_file_exists(path) ||
	    read_manifest(path, w->arena, NULL, key, &files, &n) != PCTL_OK)
		return;
	for (uint32_t i = 0; i < n; i++) {
		const char *file = in_dir(w, files[i].path);

		if (file == NULL || !is_inside(files[i].path) ||
		    strcmp(files[i].path, page_names[0]) == 0 ||
		    strcmp(files[i].path, page_names[1]) == 0 || is_kept(w, file))
			continue;
		(void)unlink(file);
	}
}

/* ---- writing ------------------------------------------------------------------------------------ */

static pctl_status put(const writing *w, const char *name, const char *text, pctl_output **out)
{
	const char *path = in_dir(w, name);
	pctl_status status = path == NULL ? pctl_no_memory(w->call, "a report")
					  : pctl_output_open(path, 1, w->call, out);

	return status == PCTL_OK ? pctl_output_put(*out, text, strlen(text), w->call) : status;
}

static pctl_status write_manifest(const writing *w)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	const char *path = in_dir(w, PCTL_MANIFEST_NAME);
	pctl_listed_file *files;
	char *text = NULL;
	uint32_t n;
	pctl_status status = pctl_filelist_walk(w->dir, w->arena, w->call, &files, &n);

	if (status != PCTL_OK)
		return status;
	text = pctl_filelist_text(files, n);
	if (text == NULL || path == NULL)
		status = pctl_no_memory(w->call, "a report");
	if (status == PCTL_OK) {
		pctl_str_add(&s, text);
		status = pctl_signer_seal(w->signer, &s, w->call);
	}
	if (status == PCTL_OK)
		status = pctl_file_write(path, s.data, s.n, 1, w->call);
	pctl_str_drop(&s);
	free(text);
	return status;
}

static pctl_status write_all(const writing *w, const char *const texts[N_PAGES])
{
	pctl_output *pages[N_PAGES] = {NULL};
	pctl_status status = pctl_file_make_dirs(w->dir, w->call);

	for (uint32_t i = 0; status == PCTL_OK && i < N_PAGES; i++)
		status = put(w, page_names[i], texts[i], &pages[i]);
	if (status == PCTL_OK)
		remove_earlier(w);
	for (uint32_t i = 0; i < N_PAGES; i++) {
		if (status == PCTL_OK)
			status = pctl_output_commit(pages[i], w->call);
		else
			pctl_output_discard(pages[i]);
	}
	return status == PCTL_OK ? write_manifest(w) : status;
}

pctl_status pctl_audit_report(const pctl_audit_result *r, const char *command, const char *dir,
			      const pctl_signer *signer, const pctl_call *call)
{
	writing w = {r, dir, signer, call, pctl_arena_create()};
	char *page = make_page(r, command), *json = make_json(r, command);
	const char *const texts[N_PAGES] = {page, json};
	pctl_status status = w.arena == NULL || page == NULL || json == NULL
				     ? pctl_no_memory(call, "a report")
				     : write_all(&w, texts);

	free(page);
	free(json);
	pctl_arena_destroy(w.arena);
	return status;
}

/* ---- checking ----------------------------------------------------------------------------------- */

static pctl_status wrong(const pctl_call *call, const char *dir, const char *path, const char *what)
{
	return pctl_refuse(call, PC5610_REPORT_FILE, "%s/%s %s", dir, path, what);
}

static pctl_status compare(const char *dir, const pctl_listed_file *listed, uint32_t n_listed,
			   const pctl_listed_file *found, uint32_t n_found, const pctl_call *call)
{
	pctl_status first = PCTL_OK, status;

	for (uint32_t i = 0, k = 0; i < n_listed || k < n_found;) {
		const int order = i == n_listed	 ? 1
				  : k == n_found ? -1
						 : strcmp(listed[i].path, found[k].path);

		status = PCTL_OK;
		if (order < 0)
			status = wrong(call, dir, listed[i].path, "is missing");
		else if (order > 0)
			status = wrong(call, dir, found[k].path, "is not named in the manifest");
		else if (listed[i].n_bytes != found[k].n_bytes ||
			 memcmp(listed[i].digest, found[k].digest, PCTL_DIGEST_BYTES) != 0)
			status = wrong(call, dir, found[k].path, "was changed");
		i += order <= 0;
		k += order >= 0;
		if (first == PCTL_OK)
			first = status;
	}
	return first;
}

pctl_status pctl_audit_verify(const char *dir, const pctl_call *call,
			      char key[PCTL_PUBLIC_KEY_TEXT])
{
	pctl_arena *arena = pctl_arena_create();
	pctl_listed_file *listed, *found;
	uint32_t n_listed, n_found;
	char *path = pctl_path_join(dir, PCTL_MANIFEST_NAME);
	pctl_status status = arena == NULL || path == NULL
				     ? pctl_no_memory(call, "a report")
				     : read_manifest(path, arena, call, key, &listed, &n_listed);

	if (status == PCTL_OK)
		status = pctl_filelist_walk(dir, arena, call, &found, &n_found);
	if (status == PCTL_OK)
		status = compare(dir, listed, n_listed, found, n_found, call);
	free(path);
	pctl_arena_destroy(arena);
	return status;
}
