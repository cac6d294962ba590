/* Opening a repository and reading objects from it. The repository gets an empty configuration: nothing of it, of the
 * user's, of the system's or of the environment is looked at. Ownership is no question then: a foreign repository cannot
 * make this program do anything but read objects, whose names are checked against their bytes. */
#include "foundation/git/git.h"

#include <git2/sys/repository.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "foundation/base/file.h"

pctl_status pctl_git_unreadable(const pctl_git *g, const char *what, const pctl_call *call)
{
	const git_error *e = git_error_last();

	return pctl_refuse(call, PC6002_REPO_UNREADABLE, "%s of %s cannot be read: %s", what,
			   g->root, e == NULL ? "libgit2 gives no reason" : e->message);
}

/* ---- finding ------------------------------------------------------------------------------ */

static int is_there(const char *dir, const char *name, mode_t type)
{
	char *path = pctl_path_join(dir, name);
	struct stat st;
	const int yes = path != NULL && lstat(path, &st) == 0 &&
			(type == 0 ? S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)
				   : (st.st_mode & S_IFMT) == type);

	free(path);
	return yes;
}

static int looks_bare(const char *dir)
{
	return is_there(dir, "HEAD", S_IFREG) && is_there(dir, "objects", S_IFDIR) &&
	       is_there(dir, "refs", S_IFDIR);
}

/* Cut the last part off; 0 at the root. */
static int up(char *dir)
{
	char *slash = strrchr(dir, '/');

	if (slash == NULL || dir[1] == '\0')
		return 0;
	slash[slash == dir] = '\0';
	return 1;
}

int pctl_git_find_root(const char *dir, char **root)
{
	char *at = strdup(dir);

	*root = NULL;
	while (at != NULL && !is_there(at, ".git", 0))
		if (!up(at)) {
			free(at);
			return 0;
		}
	*root = at;
	return at != NULL;
}

/* ---- opening ------------------------------------------------------------------------------ */

static pctl_status open_root(pctl_git *g, const pctl_call *call)
{
	const unsigned int flags = GIT_REPOSITORY_OPEN_NO_SEARCH | GIT_REPOSITORY_OPEN_BARE;
	char *path = pctl_path_join(g->root, g->bare ? "" : ".git");
	git_config *config = NULL;
	int error = path == NULL ? GIT_ERROR : git_repository_open_ext(&g->repo, path, flags, NULL);

	error = error || git_config_new(&config) || git_repository_set_config(g->repo, config) ||
		git_repository_odb(&g->odb, g->repo);
	git_config_free(config);
	free(path);
	return error ? pctl_git_unreadable(g, "the repository", call) : PCTL_OK;
}

pctl_status pctl_git_open(const char *dir, int worktree, const pctl_call *call, pctl_git *out)
{
	char *at = realpath(dir, NULL);

	*out = (pctl_git){.bare = 0};
	pctl_git_library();
	while (at != NULL) {
		out->bare = !is_there(at, ".git", 0);
		if (!out->bare || (!worktree && looks_bare(at))) {
			out->root = strdup(at);
			break;
		}
		if (!up(at))
			break;
	}
	free(at);
	if (out->root == NULL)
		return pctl_refuse(call, PC6001_REPO_NONE, "%s is in no git repository", dir);
	return open_root(out, call);
}

void pctl_git_close(pctl_git *g)
{
	git_odb_free(g->odb);
	git_repository_free(g->repo);
	free(g->root);
	*g = (pctl_git){.bare = 0};
}

/* ---- commits ------------------------------------------------------------------------------ */

static int tree_of(const git_object *object, git_oid *commit, git_oid *tree)
{
	git_object *peeled = NULL;
	const int error = git_object_peel(&peeled, object, GIT_OBJECT_COMMIT);

	if (error == 0) {
		*commit = *git_object_id(peeled);
		*tree = *git_commit_tree_id((const git_commit *)peeled);
	}
	git_object_free(peeled);
	return error;
}

pctl_status pctl_git_head(const pctl_git *g, const pctl_call *call, git_oid *commit, git_oid *tree,
			  int *has)
{
	git_reference *ref = NULL;
	git_object *object = NULL;
	int error = git_repository_head(&ref, g->repo);

	*has = 0;
	if (error == GIT_EUNBORNBRANCH || error == GIT_ENOTFOUND)
		return PCTL_OK;
	if (error == 0)
		error = git_reference_peel(&object, ref, GIT_OBJECT_COMMIT);
	if (error == 0)
		error = tree_of(object, commit, tree);
	*has = error == 0;
	git_object_free(object);
	git_reference_free(ref);
	return error == 0 ? PCTL_OK : pctl_git_unreadable(g, "HEAD", call);
}

pctl_status pctl_git_revision(const pctl_git *g, const char *rev, const pctl_call *call,
			      git_oid *commit, git_oid *tree)
{
	git_object *object = NULL;
	int error;

	if (rev[0] == '\0' || rev[0] == '-' || strpbrk(rev, "{}:") != NULL)
		return pctl_refuse(call, PC6003_REPO_REVISION,
				   "\"%s\" is not a name of a commit that is the same in every "
				   "clone: a branch, a tag, an id, with ~N or ^N",
				   rev);
	error = git_revparse_single(&object, g->repo, rev);
	if (error == 0)
		error = tree_of(object, commit, tree);
	git_object_free(object);
	if (error == 0)
		return PCTL_OK;
	if (error == GIT_EAMBIGUOUS)
		return pctl_refuse(call, PC6003_REPO_REVISION,
				   "several objects of %s begin with \"%s\"", g->root, rev);
	if (error == GIT_ENOTFOUND || error == GIT_EINVALIDSPEC || error == GIT_EPEEL ||
	    error == GIT_EINVALID)
		return pctl_refuse(call, PC6003_REPO_REVISION, "\"%s\" names no commit of %s", rev,
				   g->root);
	return pctl_git_unreadable(g, rev, call);
}

/* ---- trees and files ---------------------------------------------------------------------- */

static pctl_status check_size(const pctl_git *g, const git_oid *oid, const char *name,
			      uint64_t limit, git_object_t type, const pctl_call *call)
{
	git_object_t found;
	size_t n;

	if (git_odb_read_header(&n, &found, g->odb, oid) != 0)
		return pctl_git_unreadable(g, name, call);
	if (found != type) {
		git_error_set_str(GIT_ERROR_ODB, "the object is of another type");
		return pctl_git_unreadable(g, name, call);
	}
	return n <= limit ? PCTL_OK
			  : pctl_refuse(call, PC6006_REPO_SIZE,
					"%s has %zu bytes, the most is %" PRIu64, name, n, limit);
}

pctl_status pctl_git_tree(const pctl_git *g, const git_oid *oid, const pctl_call *call,
			  git_tree **out)
{
	pctl_status status =
		check_size(g, oid, "a folder", PCTL_GIT_TREE_MAX, GIT_OBJECT_TREE, call);

	*out = NULL;
	if (status == PCTL_OK && git_tree_lookup(out, g->repo, oid) != 0)
		status = pctl_git_unreadable(g, "a folder", call);
	return status;
}

uint32_t pctl_git_kind(const git_tree_entry *e)
{
	switch (git_tree_entry_filemode(e)) {
	case GIT_FILEMODE_BLOB:
	case GIT_FILEMODE_BLOB_EXECUTABLE:
		return PCTL_GIT_FILE;
	case GIT_FILEMODE_TREE:
		return PCTL_GIT_FOLDER;
	case GIT_FILEMODE_LINK:
		return PCTL_GIT_LINK;
	default:
		return PCTL_GIT_SUBMODULE;
	}
}

pctl_status pctl_git_find(const pctl_git *g, const git_oid *tree, const char *path,
			  const pctl_call *call, uint32_t *kind, git_oid *oid)
{
	char part[256];

	*kind = PCTL_GIT_FOLDER;
	*oid = *tree;
	while (*path != '\0') {
		const size_t n = strcspn(path, "/");
		const git_tree_entry *e;
		git_tree *folder;
		pctl_status status;

		if (*kind != PCTL_GIT_FOLDER || n == 0 || n >= sizeof(part) ||
		    (path[0] == '.' && (n == 1 || (n == 2 && path[1] == '.')))) {
			*kind = *kind == PCTL_GIT_FOLDER || *kind == PCTL_GIT_FILE
					? PCTL_GIT_MISSING
					: *kind;
			return PCTL_OK;
		}
		memcpy(part, path, n);
		part[n] = '\0';
		status = pctl_git_tree(g, oid, call, &folder);
		if (status != PCTL_OK)
			return status;
		e = git_tree_entry_byname(folder, part);
		*kind = e == NULL ? PCTL_GIT_MISSING : pctl_git_kind(e);
		if (e != NULL)
			*oid = *git_tree_entry_id(e);
		git_tree_free(folder);
		if (e == NULL)
			return PCTL_OK;
		path += n + (path[n] == '/');
	}
	return PCTL_OK;
}

pctl_status pctl_git_blob(const pctl_git *g, const git_oid *oid, const char *name, uint64_t limit,
			  const pctl_call *call, char **out, uint64_t *n_out)
{
	pctl_status status = check_size(g, oid, name, limit, GIT_OBJECT_BLOB, call);
	git_odb_object *object = NULL;
	size_t n;

	*out = NULL;
	*n_out = 0;
	if (status != PCTL_OK)
		return status;
	if (git_odb_read(&object, g->odb, oid) != 0)
		return pctl_git_unreadable(g, name, call);
	n = git_odb_object_size(object);
	*out = malloc(n + 1);
	if (*out == NULL) {
		status = pctl_refuse(call, PC2_NOMEM, "no memory to read %s", name);
	} else {
		memcpy(*out, git_odb_object_data(object), n);
		(*out)[n] = '\0';
		*n_out = n;
	}
	git_odb_object_free(object);
	return status;
}
