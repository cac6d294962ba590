/* Where texts stand in the repository they lie in: their bytes are compared with the commit's by the name git gives them,
 * without index, filters and attributes. */
#include "foundation/git/repo.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/git/git.h"

const char *pctl_repo_state_name(uint32_t state)
{
	static const char *const names[] = {"clean", "dirty", "untracked", "outside"};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

void pctl_repo_place_clear(pctl_repo_place *p)
{
	free(p->repository);
	free(p->path);
	*p = (pctl_repo_place){.state = 0};
}

/* The folder of an absolute path, released with free(). */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* The path inside the work tree at `root`, or NULL when the file is not in it: another repository may lie between. */
static const char *inside(const char *root, const char *full)
{
	const size_t n = strlen(root);
	char *folder = folder_of(full), *own = NULL;
	const int same =
		folder != NULL && pctl_git_find_root(folder, &own) && strcmp(own, root) == 0;

	free(folder);
	free(own);
	return same ? full + n + (n > 1) : NULL;
}

/* One text against the tree of HEAD. full: its absolute name, NULL when it is no file. */
static pctl_status state_of(const pctl_git *g, const git_oid *tree, const char *full,
			    const char *bytes, uint64_t n, const pctl_call *call, uint32_t *state)
{
	const char *path = full == NULL ? NULL : inside(g->root, full);
	git_oid own, committed;
	uint32_t kind = PCTL_GIT_MISSING;
	pctl_status status;

	*state = path == NULL ? PCTL_REPO_OUTSIDE : PCTL_REPO_UNTRACKED;
	if (path == NULL || tree == NULL)
		return PCTL_OK;
	status = pctl_git_find(g, tree, path, call, &kind, &committed);
	if (status != PCTL_OK || kind == PCTL_GIT_MISSING)
		return status;
	*state = PCTL_REPO_DIRTY;
	if (kind != PCTL_GIT_FILE)
		return PCTL_OK;
	if (git_odb_hash(&own, bytes, (size_t)n, GIT_OBJECT_BLOB) != 0)
		return pctl_git_unreadable(g, path, call);
	if (git_oid_equal(&own, &committed))
		*state = PCTL_REPO_CLEAN;
	return PCTL_OK;
}

static pctl_status compare(const pctl_git *g, const pctl_texts *texts, const git_oid *tree,
			   const pctl_call *call, uint32_t *worst)
{
	pctl_status status = PCTL_OK;

	*worst = PCTL_REPO_CLEAN;
	for (uint32_t i = 0; status == PCTL_OK && i < pctl_texts_count(texts); i++) {
		char *full = realpath(pctl_texts_name(texts, i), NULL);
		uint64_t n;
		const char *bytes = pctl_texts_bytes(texts, i, &n);
		uint32_t state;

		status = state_of(g, tree, full, bytes, n, call, &state);
		if (state > *worst)
			*worst = state;
		free(full);
	}
	return status;
}

static pctl_status describe(const pctl_git *g, const pctl_texts *texts, const char *full,
			    const pctl_call *call, pctl_repo_place *out)
{
	git_oid commit, tree;
	const char *path = inside(g->root, full);
	int has = 0;
	pctl_status status = pctl_git_head(g, call, &commit, &tree, &has);

	if (status == PCTL_OK)
		status = compare(g, texts, has ? &tree : NULL, call, &out->state);
	if (status != PCTL_OK)
		return status;
	if (has)
		git_oid_tostr(out->commit, sizeof(out->commit), &commit);
	out->repository = pctl_git_name(g);
	out->path = strdup(path == NULL ? "" : path);
	return out->repository != NULL && out->path != NULL ? PCTL_OK
							    : pctl_no_memory(call, "a place");
}

static pctl_status describe_outside(const pctl_call *call, pctl_repo_place *out)
{
	out->state = PCTL_REPO_OUTSIDE;
	out->repository = strdup("");
	out->path = strdup("");
	return out->repository != NULL && out->path != NULL ? PCTL_OK
							    : pctl_no_memory(call, "a place");
}

pctl_status pctl_repo_describe(const pctl_texts *texts, const pctl_call *call, pctl_repo_place *out)
{
	const char *name = pctl_texts_count(texts) == 0 ? "-" : pctl_texts_name(texts, 0);
	char *full = strcmp(name, "-") == 0 ? NULL : realpath(name, NULL);
	char *folder = full == NULL ? NULL : folder_of(full), *root = NULL;
	pctl_git g = {.bare = 0};
	pctl_status status;

	*out = (pctl_repo_place){.state = PCTL_REPO_OUTSIDE};
	if (folder == NULL || !pctl_git_find_root(folder, &root)) {
		status = describe_outside(call, out);
		goto out;
	}
	status = pctl_git_open(folder, 1, call, &g);
	if (status == PCTL_OK)
		status = describe(&g, texts, full, call, out);
	pctl_git_close(&g);
out:
	free(root);
	free(folder);
	free(full);
	return status;
}
