/* Removing old blocks from the log: what the rest needs into one pack, the floor, and away with the other packs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chain/history/gitlog_pack.h"
#include "chain/history/gitlog_private.h"
#include "foundation/base/map.h"

typedef struct pruning {
	pctl_gitlog *log;
	const pctl_call *call;
	pctl_gitlog_pack pack;
	pctl_map *taken; /* by hex of the id: what the pack has */
} pruning;

/* The object into the pack, once. *is_new: it was not in it. */
static pctl_status take(pruning *p, const git_oid *commit, const git_oid *oid, int *is_new)
{
	char hex[GIT_OID_HEXSZ + 1];
	git_odb_object *raw = NULL;
	int error;

	git_oid_tostr(hex, sizeof(hex), oid);
	*is_new = !pctl_map_has(p->taken, hex);
	if (!*is_new)
		return PCTL_OK;
	error = git_odb_read(&raw, p->log->odb, oid);
	if (error != 0)
		return pctl_gitlog_unread(p->call, commit, "object", oid, error);
	pctl_gitlog_pack_add(&p->pack, git_odb_object_data(raw), git_odb_object_size(raw),
			     git_odb_object_type(raw), 0, oid);
	git_odb_object_free(raw);
	return p->pack.failed || !pctl_map_put(p->taken, hex, NULL)
		       ? pctl_no_memory(p->call, "the log of blocks")
		       : PCTL_OK;
}

static pctl_status take_tree(pruning *p, const git_oid *commit, const git_oid *oid)
{
	git_tree *tree = NULL;
	int is_new, error;
	pctl_status status = take(p, commit, oid, &is_new);

	if (status != PCTL_OK || !is_new)
		return status;
	error = git_tree_lookup(&tree, p->log->repo, oid);
	if (error != 0)
		return pctl_gitlog_unread(p->call, commit, "tree", oid, error);
	for (size_t i = 0; status == PCTL_OK && i < git_tree_entrycount(tree); i++) {
		const git_tree_entry *e = git_tree_entry_byindex(tree, i);

		status = git_tree_entry_type(e) == GIT_OBJECT_TREE
				 ? take_tree(p, commit, git_tree_entry_id(e))
				 : take(p, commit, git_tree_entry_id(e), &is_new);
	}
	git_tree_free(tree);
	return status;
}

static pctl_status take_commit(pruning *p, const pctl_gitlog_oid *oid)
{
	git_commit *commit = NULL;
	git_oid id;
	int is_new, error;
	pctl_status status;

	pctl_gitlog_to_git(oid, &id);
	error = git_commit_lookup(&commit, p->log->repo, &id);
	if (error != 0)
		return pctl_gitlog_unread(p->call, &id, "commit", &id, error);
	status = take(p, &id, &id, &is_new);
	if (status == PCTL_OK)
		status = take_tree(p, &id, git_commit_tree_id(commit));
	git_commit_free(commit);
	return status;
}

static pctl_status take_all(pruning *p, const pctl_gitlog_oid *tip, const pctl_gitlog_oid *floor)
{
	pctl_gitlog_commit at = {.parent = *tip, .has_parent = 1};
	pctl_status status = PCTL_OK;

	while (status == PCTL_OK && at.has_parent && memcmp(&at.oid, floor, sizeof(*floor)) != 0) {
		const pctl_gitlog_oid next = at.parent;

		status = pctl_gitlog_look(p->log, &next, p->call, &at);
		if (status == PCTL_OK)
			status = take_commit(p, &next);
		if (status == PCTL_OK && pctl_is_cancelled(p->call))
			status = pctl_refuse(p->call, PC4_CANCELLED, "cancelled while pruning");
	}
	return status;
}

/* Every pack but `kept`: an index first, so that nobody finds objects whose pack is gone. */
static pctl_status drop_packs(pctl_gitlog *log, const char *kept, const pctl_call *call,
			      uint64_t *n)
{
	static const char *const suffixes[] = {".idx", ".pack"};
	const size_t n_kept = strlen(kept);

	for (int i = 0; i < 2; i++) {
		const int fd =
			openat(log->root_fd, "objects/pack", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		DIR *dir = fd < 0 ? NULL : fdopendir(fd);
		const struct dirent *e;

		if (dir == NULL)
			return pctl_gitlog_io(log, call, "read a directory of", errno);
		while ((e = readdir(dir)) != NULL) {
			const char *end = strrchr(e->d_name, '.');

			if (end != NULL && strcmp(end, suffixes[i]) == 0 &&
			    strncmp(e->d_name, "pack-", 5) == 0 &&
			    !((size_t)(end - e->d_name) == n_kept &&
			      strncmp(e->d_name, kept, n_kept) == 0) &&
			    unlinkat(fd, e->d_name, 0) == 0)
				*n += i == 1;
		}
		closedir(dir);
	}
	return pctl_gitlog_sync(log, "objects/pack", call);
}

pctl_status pctl_gitlog_prune(pctl_gitlog *log, const pctl_gitlog_oid *tip,
			      const pctl_gitlog_oid *floor, const pctl_call *call,
			      uint64_t *n_dropped)
{
	pruning p = {.log = log, .call = call, .taken = pctl_map_create()};
	char name[64] = "";
	pctl_status status;

	*n_dropped = 0;
	if (p.taken == NULL)
		return pctl_no_memory(call, "the log of blocks");
	pctl_gitlog_pack_begin(&p.pack);
	status = take_all(&p, tip, floor);
	if (status == PCTL_OK)
		status = pctl_gitlog_publish(log, &p.pack, call, name);
	if (status == PCTL_OK)
		status = pctl_gitlog_set_floor(log, floor, call);
	if (status == PCTL_OK)
		status = drop_packs(log, name, call, n_dropped);
	pctl_gitlog_pack_drop(&p.pack);
	pctl_map_destroy(p.taken);
	(void)git_odb_refresh(log->odb);
	return status;
}
