/* REPO@REV:PATH: the spec taken apart, the commit found once, and its files as a virtual file system. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/str.h"
#include "foundation/git/git.h"
#include "foundation/git/repo.h"

#define SPEC_MAX 4096u

struct pctl_repo_revision {
	pctl_git git;
	git_oid tree;
	char *prefix; /* "REPO@REV:" */
	char *name;
	pctl_repo_place place;
	pctl_vfs vfs;
};

/* ---- the file system ----------------------------------------------------------------------------- */

/* The path of a name, or NULL when the name is none of this revision. */
static const char *path_of(const pctl_repo_revision *r, const char *name)
{
	const size_t n = strlen(r->prefix);

	return strncmp(name, r->prefix, n) == 0 ? name + n : NULL;
}

static char *named(const pctl_repo_revision *r, const char *path)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_add(&s, r->prefix);
	pctl_str_add(&s, path);
	return pctl_str_finish(&s);
}

static char *resolve(void *ctx, const char *from, const char *path)
{
	const pctl_repo_revision *r = ctx;
	const char *base = path_of(r, from);
	char *joined, *plain, *out;

	if (path[0] == '/' || base == NULL)
		return strdup(path);
	joined = pctl_vfs_resolve(NULL, base, path);
	plain = joined == NULL ? NULL : pctl_path_plain(joined);
	out = plain == NULL ? NULL : named(r, plain);
	free(joined);
	free(plain);
	return out;
}

static int exists(void *ctx, const char *name)
{
	const pctl_repo_revision *r = ctx;
	const char *path = path_of(r, name);
	uint32_t kind = PCTL_GIT_MISSING;
	git_oid oid;

	return path != NULL && (pctl_git_find(&r->git, &r->tree, path, NULL, &kind, &oid) != 0 ||
				kind != PCTL_GIT_MISSING);
}

static pctl_status refuse_kind(const char *name, uint32_t kind, const pctl_call *call)
{
	static const char *const what[] = {
		"", "", "is a directory",
		"leads to or through a symbolic link, which is not followed",
		"leads to or through a submodule, which is not followed"};

	if (kind == PCTL_GIT_MISSING)
		return pctl_refuse(call, PC6004_REPO_PATH, "there is no file %s", name);
	return pctl_refuse(call, PC6005_REPO_KIND, "%s %s", name, what[kind]);
}

static pctl_status find_file(const pctl_repo_revision *r, const char *name, const pctl_call *call,
			     git_oid *oid)
{
	const char *path = path_of(r, name);
	uint32_t kind = PCTL_GIT_MISSING;
	pctl_status status = PCTL_OK;

	if (path != NULL)
		status = pctl_git_find(&r->git, &r->tree, path, call, &kind, oid);
	if (status == PCTL_OK && kind != PCTL_GIT_FILE)
		status = refuse_kind(name, kind, call);
	return status;
}

static pctl_status read_file(void *ctx, const char *name, uint64_t limit, const pctl_call *call,
			     char **out, uint64_t *n_out)
{
	const pctl_repo_revision *r = ctx;
	git_oid oid;
	pctl_status status = find_file(r, name, call, &oid);

	*out = NULL;
	*n_out = 0;
	if (status != PCTL_OK)
		return status;
	return pctl_git_blob(&r->git, &oid, name,
			     limit < PCTL_REPO_BLOB_MAX ? limit : PCTL_REPO_BLOB_MAX, call, out,
			     n_out);
}

const pctl_vfs *pctl_repo_revision_vfs(const pctl_repo_revision *r)
{
	return &r->vfs;
}

pctl_status pctl_repo_revision_list(const pctl_repo_revision *r, const char *folder,
				    const pctl_call *call,
				    pctl_status (*each)(void *ctx, const char *path), void *ctx)
{
	git_tree *tree;
	uint32_t kind;
	git_oid oid;
	pctl_status status = pctl_git_find(&r->git, &r->tree, folder, call, &kind, &oid);

	if (status != PCTL_OK || kind != PCTL_GIT_FOLDER)
		return status;
	status = pctl_git_tree(&r->git, &oid, call, &tree);
	if (status != PCTL_OK)
		return status;
	for (size_t i = 0; status == PCTL_OK && i < git_tree_entrycount(tree); i++) {
		const git_tree_entry *e = git_tree_entry_byindex(tree, i);
		char *path = pctl_git_kind(e) == PCTL_GIT_FILE
				     ? pctl_path_join(folder, git_tree_entry_name(e))
				     : NULL;

		if (path != NULL)
			status = each(ctx, path);
		else if (pctl_git_kind(e) == PCTL_GIT_FILE)
			status = pctl_no_memory(call, "a list of files");
		free(path);
	}
	git_tree_free(tree);
	return status;
}

/* ---- the spec ----------------------------------------------------------------------------- */

/* Where REPO ends: at the first '@' whose left side is a directory and that has a ':' behind it. */
static const char *end_of_repo(const char *text)
{
	char *copy = strdup(text);
	const char *end = NULL;

	for (char *at = copy; at != NULL && end == NULL && (at = strchr(at, '@')) != NULL; at++) {
		*at = '\0';
		if (strchr(at + 1, ':') != NULL && pctl_dir_exists(copy))
			end = text + (at - copy);
		*at = '@';
	}
	free(copy);
	return end;
}

int pctl_repo_is_spec(const char *text)
{
	const char *at = strchr(text, '@');

	return at != NULL && strchr(at, ':') != NULL && !pctl_file_exists(text);
}

static pctl_status open_revision(const char *dir, const char *rev, const pctl_call *call,
				 pctl_repo_revision *r)
{
	pctl_str_buf prefix = PCTL_STR_BUF_INIT;
	git_oid commit;
	pctl_status status = pctl_git_open(dir, 0, call, &r->git);

	if (status == PCTL_OK)
		status = pctl_git_revision(&r->git, rev, call, &commit, &r->tree);
	if (status != PCTL_OK)
		return status;
	pctl_str_addf(&prefix, "%s@%s:", dir, rev);
	r->prefix = pctl_str_finish(&prefix);
	r->vfs = (pctl_vfs){r, resolve, exists, read_file, &r->vfs};
	git_oid_tostr(r->place.commit, sizeof(r->place.commit), &commit);
	r->place.repository = pctl_git_name(&r->git);
	r->place.committed = 1;
	return r->prefix != NULL && r->place.repository != NULL
		       ? PCTL_OK
		       : pctl_no_memory(call, "a revision");
}

/* Open with the parts of a spec; path NULL: none is asked for. */
static pctl_status open_parts(const char *dir, const char *rev, const char *path,
			      const pctl_call *call, pctl_repo_revision **out)
{
	pctl_repo_revision *r = calloc(1, sizeof(*r));
	git_oid oid;
	pctl_status status;

	*out = NULL;
	if (r == NULL)
		return pctl_no_memory(call, "a revision");
	status = open_revision(dir, rev, call, r);
	if (status == PCTL_OK) {
		r->place.path = pctl_path_plain(path == NULL ? "" : path);
		r->name = r->place.path == NULL ? NULL : named(r, r->place.path);
		if (r->name == NULL)
			status = pctl_no_memory(call, "a revision");
	}
	if (status == PCTL_OK && path != NULL)
		status = find_file(r, r->name, call, &oid);
	if (status == PCTL_OK)
		*out = r;
	else
		pctl_repo_revision_close(r);
	return status;
}

pctl_status pctl_repo_revision_of(const char *dir, const char *rev, const pctl_call *call,
				  pctl_repo_revision **out)
{
	return open_parts(dir, rev, NULL, call, out);
}

static pctl_status refuse_spec(const char *spec, const char *why, const pctl_call *call)
{
	return pctl_refuse(call, PC6000_REPO_SPEC, "\"%.512s\" is not REPO@REV:PATH: %s", spec,
			   why);
}

pctl_status pctl_repo_revision_open(const char *spec, const pctl_call *call,
				    pctl_repo_revision **out)
{
	const char *at = strlen(spec) < SPEC_MAX ? end_of_repo(spec) : NULL, *colon;
	char *dir = NULL, *rev = NULL;
	pctl_status status;

	*out = NULL;
	if (strlen(spec) >= SPEC_MAX)
		return refuse_spec(spec, "it is too long", call);
	if (at == NULL)
		return refuse_spec(spec, "no directory stands before an '@' with a ':' behind it",
				   call);
	colon = strchr(at, ':');
	if (colon[1] == '\0' || colon[1] == '/')
		return refuse_spec(spec,
				   "the path is seen from the root of the tree, without '/' at "
				   "its beginning",
				   call);
	dir = strndup(spec, (size_t)(at - spec));
	rev = strndup(at + 1, (size_t)(colon - at - 1));
	status = dir == NULL || rev == NULL ? pctl_no_memory(call, "a revision")
					    : open_parts(dir, rev, colon + 1, call, out);
	free(dir);
	free(rev);
	return status;
}

void pctl_repo_revision_close(pctl_repo_revision *r)
{
	if (r == NULL)
		return;
	pctl_git_close(&r->git);
	pctl_repo_place_clear(&r->place);
	free(r->prefix);
	free(r->name);
	free(r);
}

const char *pctl_repo_revision_name(const pctl_repo_revision *r)
{
	return r->name;
}

const pctl_repo_place *pctl_repo_revision_place(const pctl_repo_revision *r)
{
	return &r->place;
}

const char *pctl_repo_revision_root(const pctl_repo_revision *r)
{
	return r->git.bare ? NULL : r->git.root;
}
