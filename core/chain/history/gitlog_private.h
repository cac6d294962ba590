/* Shared by the gitlog files: the open log, how a tree and a commit are spelled, and reports. Internal to core/chain. */
#ifndef PIPECTL_CHAIN_HISTORY_GITLOG_PRIVATE_H
#define PIPECTL_CHAIN_HISTORY_GITLOG_PRIVATE_H

#include <git2.h>
#include <git2/sys/odb_backend.h>

#include "chain/history/gitlog.h"

struct pctl_gitlog {
	char *dir; /* absolute */
	int root_fd, temp_fd;
	git_odb *odb;
	git_odb_backend *fresh; /* objects of the block being written, in memory; owned by odb */
	git_repository *repo; /* around odb alone: it has no directory and an empty configuration */
};

#define PCTL_GITLOG_SHALLOW "shallow" /* git's own name for it */
pctl_status pctl_gitlog_set_floor(pctl_gitlog *log, const pctl_gitlog_oid *oid,
				  const pctl_call *call);
/* A pack that is whole but for its end, synced and named among the others; `name` gets "pack-HASH". */
struct pctl_gitlog_pack;
pctl_status pctl_gitlog_publish(pctl_gitlog *log, struct pctl_gitlog_pack *pack,
				const pctl_call *call, char name[64]);

typedef struct pctl_gitlog_entry {
	const char *name;
	uint32_t n_name;
	uint32_t is_tree;
	git_oid oid;
} pctl_gitlog_entry;

int pctl_gitlog_name_ok(const char *name, uint32_t n);
int pctl_gitlog_message_ok(const char *message);
/* 0 when two entries have one name. Sorts them. */
int pctl_gitlog_unique(pctl_gitlog_entry *entries, uint32_t n);
/* The bytes of a tree or commit object, released with free(); NULL: no memory. Sorts the entries. */
char *pctl_gitlog_spell_tree(pctl_gitlog_entry *entries, uint32_t n, size_t *n_out);
char *pctl_gitlog_spell_commit(const git_oid *tree, const git_oid *parent, uint64_t clock,
			       const char *message, size_t *n_out);

/* PC5751: "cannot WHAT DIR: reason", from errno or from libgit2. */
pctl_status pctl_gitlog_io(const pctl_gitlog *log, const pctl_call *call, const char *what,
			   int error);
pctl_status pctl_gitlog_git_io(const pctl_gitlog *log, const pctl_call *call, const char *what);
/* PC5753 or PC5754 for an object that libgit2 could not read. */
pctl_status pctl_gitlog_unread(const pctl_call *call, const git_oid *commit, const char *kind,
			       const git_oid *oid, int error);

/* A file of the log in its place, durably: temporary file, fsync, rename, fsync of its directory. */
pctl_status pctl_gitlog_put(pctl_gitlog *log, const char *folder, const char *name,
			    const char *text, const pctl_call *call);
/* fsync of a folder under DIR. */
pctl_status pctl_gitlog_sync(pctl_gitlog *log, const char *folder, const pctl_call *call);
/* Remove a folder and the files in it, as far as that goes. */
void pctl_gitlog_clear(int parent_fd, const char *name);
/* flock of tmp/: shared by whoever has files there, exclusive by whoever clears it. */
int pctl_gitlog_lock(pctl_gitlog *log, int how);

static inline void pctl_gitlog_to_git(const pctl_gitlog_oid *oid, git_oid *out)
{
	git_oid_fromraw(out, oid->id);
}

#endif
