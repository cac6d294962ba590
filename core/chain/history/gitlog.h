/* The history of blocks: a bare git repository in which every finished block is one commit, so that `git fetch` is
 * replication and two honest nodes hold the same id. What makes a commit final is not here: the SQLite transaction that
 * names it is, and the ref is only set to what SQLite says. */
#ifndef PIPECTL_CHAIN_HISTORY_GITLOG_H
#define PIPECTL_CHAIN_HISTORY_GITLOG_H

#include "pipectl/host.h"

#define PCTL_GITLOG_OID_BYTES 20u
#define PCTL_GITLOG_OID_TEXT_SIZE (2u * PCTL_GITLOG_OID_BYTES + 1u)
#define PCTL_GITLOG_REF "refs/heads/blocks"
#define PCTL_GITLOG_WHO "pipectl" /* author and committer of every block */
#define PCTL_GITLOG_MAIL "blocks@pipectl.invalid"
#define PCTL_GITLOG_CLOCK_MAX ((uint64_t)INT64_MAX) /* times of git are signed */
#define PCTL_GITLOG_NAME_MAX 255u

typedef struct pctl_gitlog pctl_gitlog;

/* The SHA-1 by which git names a commit. */
typedef struct pctl_gitlog_oid {
	uint8_t id[PCTL_GITLOG_OID_BYTES];
} pctl_gitlog_oid;

/* 40 hex digits and a NUL into buf, which is returned; and back: 1 when text is exactly that, in lower case. */
char *pctl_gitlog_oid_format(const pctl_gitlog_oid *oid, char buf[PCTL_GITLOG_OID_TEXT_SIZE]);
int pctl_gitlog_oid_parse(const char *text, pctl_gitlog_oid *out);
/* git's name of an object of a kind ("blob", "tree", "commit"): SHA-1 over kind, length and bytes. 0: OpenSSL refuses. */
int pctl_gitlog_object_id(const char *kind, const void *data, uint64_t n,
			  uint8_t out[PCTL_GITLOG_OID_BYTES]);

/* "name" or "folder/name", each of letters, digits, '.', '_' and '-', neither '.' nor '-' first, at most
 * PCTL_GITLOG_NAME_MAX bytes. is_dense: little in it repeats (ids, hashes), and nobody looks for what does; no id depends on it. */
typedef struct pctl_gitlog_file {
	const char *path;
	const void *data;
	uint64_t n_bytes;
	uint32_t is_dense, reserved;
} pctl_gitlog_file;

typedef struct pctl_gitlog_commit {
	pctl_gitlog_oid oid, parent;
	uint32_t has_parent;
	uint32_t reserved;
	uint64_t clock;
} pctl_gitlog_commit;

/*
 * Open the log in DIR, or make it there: DIR missing, empty, or left by a making that was cut short. Nothing outside DIR
 * is read: no configuration, no environment, no template, no alternate; the file `config` is for the git program alone.
 *
 * Errors: PC5752 (DIR holds something else), PC5751 (the system's own error). [one thread a log; the first open of a
 * process before other threads use libgit2]
 */
pctl_status pctl_gitlog_open(const char *dir, const pctl_call *call, pctl_gitlog **out);
void pctl_gitlog_close(pctl_gitlog *log);

/*
 * Write one block: blobs, trees and a commit, as far as they are not there yet, in one pack. Pack, index and directory
 * are synced when it returns. The ref is not moved: until something names it, the commit does no harm, and writing it
 * again gives the same id and writes nothing.
 *
 * The id is a pure function of the arguments; the order of `files` does not matter.
 *
 * parent   NULL for the first block; must be a commit of this log
 * files    at least one; no path twice, none both a file and a folder
 * message  printable ASCII and newlines, not empty; a newline is added when the last byte is none
 * clock    time of the commit; not below the parent's, at most PCTL_GITLOG_CLOCK_MAX
 *
 * Errors: PC5750 (files, message or clock), PC5756 (clock below the parent's), PC5753/PC5754 (the parent is missing or
 * damaged), PC5751 (full disk and the like). On any error nothing of the block can be seen.
 */
pctl_status pctl_gitlog_write(pctl_gitlog *log, const pctl_gitlog_oid *parent,
			      const pctl_gitlog_file *files, uint32_t n_files, const char *message,
			      uint64_t clock, const pctl_call *call, pctl_gitlog_oid *out);

/*
 * Write the block that a log begins with that has none before it, though its parent is named: what came from a snapshot.
 * Its id becomes the floor. Errors of write but those of the parent.
 */
pctl_status pctl_gitlog_graft(pctl_gitlog *log, const pctl_gitlog_oid *parent,
			      const pctl_gitlog_file *files, uint32_t n_files, const char *message,
			      uint64_t clock, const pctl_call *call, pctl_gitlog_oid *out);

/* The commit where the log ends though it has a parent, as git's file `shallow` says: 1, or 0 when it goes back to the
 * first block. Walking and verifying stop there. */
int pctl_gitlog_floor(const pctl_gitlog *log, pctl_gitlog_oid *out);
/*
 * Remove what is before `floor`, a commit on the way from `tip`: objects that the rest needs go into one pack, the floor is
 * set, and then all other packs go. Cut short at any instant, the log is whole, and doing it again ends it. No other
 * process may write the log meanwhile. *n_dropped: packs that went.
 */
pctl_status pctl_gitlog_prune(pctl_gitlog *log, const pctl_gitlog_oid *tip,
			      const pctl_gitlog_oid *floor, const pctl_call *call,
			      uint64_t *n_dropped);

/* The id that write would give, without a log: nothing is written, and the parent is not looked at. PC5750. */
pctl_status pctl_gitlog_id(const pctl_gitlog_oid *parent, const pctl_gitlog_file *files,
			   uint32_t n_files, const char *message, uint64_t clock,
			   const pctl_call *call, pctl_gitlog_oid *out);

/* Set refs/heads/blocks to a commit of this log, and HEAD to that ref; durable when it returns. PC5753 when there is no
 * such commit: the ref is as it was. */
pctl_status pctl_gitlog_point(pctl_gitlog *log, const pctl_gitlog_oid *oid, const pctl_call *call);

/*
 * At start, with the commit that SQLite names (NULL: none): sets the ref and removes the temporary files of writers that
 * died. Objects of unfinished blocks stay: nothing names them, and the same block made again takes them up. With NULL
 * the ref is left alone: a log without its SQLite file is what a state is rebuilt from.
 */
pctl_status pctl_gitlog_repair(pctl_gitlog *log, const pctl_gitlog_oid *oid, const pctl_call *call);

/* What the ref says: 1, or 0 when it is not set (or is no commit id). */
int pctl_gitlog_tip(pctl_gitlog *log, pctl_gitlog_oid *out);

/* Parent and clock of a commit. */
pctl_status pctl_gitlog_look(pctl_gitlog *log, const pctl_gitlog_oid *oid, const pctl_call *call,
			     pctl_gitlog_commit *out);

/* The bytes of a file of a commit, checked against their hash; *out is released with free(). PC5758 when the commit has
 * no such file. */
pctl_status pctl_gitlog_read(pctl_gitlog *log, const pctl_gitlog_oid *oid, const char *path,
			     const pctl_call *call, void **out, uint64_t *n_out);

/* The bytes of the objects by which an id leads to its files: the commit and its tree, as git has them without their
 * heads; each released with free(). */
pctl_status pctl_gitlog_objects(pctl_gitlog *log, const pctl_gitlog_oid *oid, const pctl_call *call,
				void **commit, uint64_t *n_commit, void **tree, uint64_t *n_tree);

/* Show every commit from `from` back to the root or the floor, newest first, in constant memory; a visitor that returns non-zero ends
 * the walk. */
typedef int (*pctl_gitlog_visit)(void *ctx, const pctl_gitlog_commit *commit);
pctl_status pctl_gitlog_walk(pctl_gitlog *log, const pctl_gitlog_oid *from, const pctl_call *call,
			     pctl_gitlog_visit visit, void *ctx);

/*
 * Read everything that is reachable from `oid`, from the disk, and hold it against its hash and its form. Stops at the
 * first fault and names the commit: PC5753 (an object is missing), PC5754 (damaged), PC5755 (not the author, header or
 * message of a block), PC5756 (a clock below the parent's), PC5757 (a tree that write would not have made), PC5759 (more
 * than one parent). *n_out counts commits that held.
 */
pctl_status pctl_gitlog_verify(pctl_gitlog *log, const pctl_gitlog_oid *oid, const pctl_call *call,
			       uint64_t *n_out);

#endif
