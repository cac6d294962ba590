/* A repository opened for reading its objects and references, and nothing else of it. Internal to repo. */
#ifndef PIPECTL_FOUNDATION_GIT_GIT_H
#define PIPECTL_FOUNDATION_GIT_GIT_H

#include <git2.h>

#include "pipectl/host.h"

/* Before any use of libgit2: begins it for this process, which is never taken back. A library that is ended while another thread
 * still has something of it keeps that for ever. [any thread] */
void pctl_git_library(void);

#define PCTL_GIT_TREE_MAX (16u << 20) /* bytes of one folder's object */

typedef struct pctl_git {
	git_repository *repo;
	git_odb *odb;
	char *root; /* of the work tree, or the bare repository; absolute */
	int bare;
} pctl_git;

/* What an entry of a tree is. */
enum {
	PCTL_GIT_MISSING = 0,
	PCTL_GIT_FILE = 1,
	PCTL_GIT_FOLDER = 2,
	PCTL_GIT_LINK = 3,
	PCTL_GIT_SUBMODULE = 4
};

/* Open the repository that `dir` is, or lies in the work tree of. worktree 1: only the latter. Closed after an error too.
 * Errors: PC6001, PC6002. */
pctl_status pctl_git_open(const char *dir, int worktree, const pctl_call *call, pctl_git *out);
void pctl_git_close(pctl_git *g);

/* 1 and its root (released with free()) when `dir`, an absolute path, lies in a work tree. */
int pctl_git_find_root(const char *dir, char **root);

/* The commit HEAD points to and its tree. *has 0: there is none yet. Errors: PC6002. */
pctl_status pctl_git_head(const pctl_git *g, const pctl_call *call, git_oid *commit, git_oid *tree,
			  int *has);
/* The commit that a revision names, and its tree. Errors: PC6003, PC6002. */
pctl_status pctl_git_revision(const pctl_git *g, const char *rev, const pctl_call *call,
			      git_oid *commit, git_oid *tree);

/* The entry at a path from the root of a tree; *kind is PCTL_GIT_*. A part that is no folder ends the walk: then it is
 * that part's kind, MISSING below a file. "" is the tree itself. Errors: PC6002, PC6006. */
pctl_status pctl_git_find(const pctl_git *g, const git_oid *tree, const char *path,
			  const pctl_call *call, uint32_t *kind, git_oid *oid);

/* A folder's object, of a bounded size; released with git_tree_free. Errors: PC6002, PC6006. */
pctl_status pctl_git_tree(const pctl_git *g, const git_oid *oid, const pctl_call *call,
			  git_tree **out);
uint32_t pctl_git_kind(const git_tree_entry *e);

/* All bytes of a file's object, at most `limit`; `name` is for messages. */
pctl_status pctl_git_blob(const pctl_git *g, const git_oid *oid, const char *name, uint64_t limit,
			  const pctl_call *call, char **out, uint64_t *n_out);

/* PC6002 with libgit2's reason. */
pctl_status pctl_git_unreadable(const pctl_git *g, const char *what, const pctl_call *call);

/* The repository's name, see pctl_repo_place; released with free(), NULL: no memory. */
char *pctl_git_name(const pctl_git *g);
/* A remote's address without user, password, query and fragment. NULL when nothing printable is left; free(). */
char *pctl_git_address(const char *url);

#endif
