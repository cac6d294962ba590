/* Pipelines under git: where a file stands (repository, commit, clean or not), and files read from a revision instead
 * of the work tree. Only objects, references and the list of remotes of a repository are read; its configuration, hooks,
 * filters, attributes and index never are, nor the user's configuration, nor any variable of the environment. Objects
 * are verified by their names. Nothing is ever written. */
#ifndef PIPECTL_FOUNDATION_GIT_REPO_H
#define PIPECTL_FOUNDATION_GIT_REPO_H

#include "foundation/base/vfs.h"
#include "foundation/git/texts.h"

#define PCTL_REPO_COMMIT_TEXT 41u     /* 40 lower-case hex digits and a NUL */
#define PCTL_REPO_NAME_MAX 1024u      /* bytes of a repository's name */
#define PCTL_REPO_BLOB_MAX (1u << 30) /* bytes of a file that is read from a revision */

/* Best first. Bytes are compared, without any filter: a file whose line ends git converted is dirty. */
enum {
	PCTL_REPO_CLEAN = 0,	 /* the bytes are those of the commit */
	PCTL_REPO_DIRTY = 1,	 /* the commit has other bytes there */
	PCTL_REPO_UNTRACKED = 2, /* the commit has no file there */
	PCTL_REPO_OUTSIDE = 3	 /* in no work tree of a repository */
};

/*
 * Where a pipeline comes from. Strings are never NULL; all but state are "" or 0 where the state is OUTSIDE, and commit
 * is "" in a repository without a commit.
 *
 * repository  URL of the first remote without user name, password, query and fragment; where there is none, the name of
 *             the repository's directory. UTF-8 without control characters
 * commit      of HEAD; of a revision, that commit
 * path        inside the repository, with '/'
 * state       the worst of all texts the pipeline consists of (its file, includes and shaders)
 * committed   1: read from the commit (REPO@REV:PATH), so clean
 */
typedef struct pctl_repo_place {
	char *repository;
	char *path;
	char commit[PCTL_REPO_COMMIT_TEXT];
	uint32_t state;
	uint32_t committed;
} pctl_repo_place;

/* "clean", "dirty", "untracked", "outside". */
const char *pctl_repo_state_name(uint32_t state);

/*
 * Describe texts that were read from files; the first is the pipeline's own. A text of another repository counts as
 * outside. Cleared with pctl_repo_place_clear, after an error too.
 *
 * Errors: PC6002 (a repository that cannot be read), PC0002.
 */
pctl_status pctl_repo_describe(const pctl_texts *texts, const pctl_call *call,
			       pctl_repo_place *out);
void pctl_repo_place_clear(pctl_repo_place *p);

/* ---- revisions ---------------------------------------------------------------------------- */

typedef struct pctl_repo_revision pctl_repo_revision;

/* 1 when the text reads as REPO@REV:PATH and is no file that exists. */
int pctl_repo_is_spec(const char *text);

/*
 * Open REPO@REV:PATH. REPO: a directory of a work tree, or a bare repository; of several '@', the first whose left side is a
 * directory. REV: what names a commit (a branch, a tag, HEAD~2, an id or the beginning of one). PATH: from the root of
 * the commit's tree.
 *
 * Errors: PC6000 (not of this form), PC6001 (no repository), PC6002, PC6003 (REV names no commit), PC6004 (no such file),
 * PC6005 (a link, a submodule or a directory).
 */
pctl_status pctl_repo_revision_open(const char *spec, const pctl_call *call,
				    pctl_repo_revision **out);
/* The same without a path: REV of the repository at `dir`. Its place has the path "". */
pctl_status pctl_repo_revision_of(const char *dir, const char *rev, const pctl_call *call,
				  pctl_repo_revision **out);
void pctl_repo_revision_close(pctl_repo_revision *r);

/* The file's name in its view: "REPO@REV:PATH", with the path made plain (no "." and ".."). */
const char *pctl_repo_revision_name(const pctl_repo_revision *r);
const pctl_repo_place *pctl_repo_revision_place(const pctl_repo_revision *r);
/* The root of the work tree; NULL for a bare repository. */
const char *pctl_repo_revision_root(const pctl_repo_revision *r);

/*
 * The files of the revision. Names begin with "REPO@REV:". A path that is absolute or leaves the tree names nothing
 * (beside gives a name that does not exist). Links and submodules are not followed (PC6005). Lives as long as the revision.
 */
const pctl_vfs *pctl_repo_revision_vfs(const pctl_repo_revision *r);

/* Every file directly in a folder of the tree, sorted, by its path; none when there is no such folder. */
pctl_status pctl_repo_revision_list(const pctl_repo_revision *r, const char *folder,
				    const pctl_call *call,
				    pctl_status (*each)(void *ctx, const char *path), void *ctx);

#endif
