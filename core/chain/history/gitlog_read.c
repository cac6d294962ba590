/* Reading the log: a commit, a file of it, the way back to the root. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain/history/gitlog_private.h"

static void from_git(const git_oid *oid, pctl_gitlog_oid *out)
{
	memcpy(out->id, oid->id, sizeof(out->id));
}

pctl_status pctl_gitlog_look(pctl_gitlog *log, const pctl_gitlog_oid *oid, const pctl_call *call,
			     pctl_gitlog_commit *out)
{
	char hex[PCTL_GITLOG_OID_TEXT_SIZE];
	git_commit *commit = NULL;
	git_oid id;
	int error;
	pctl_status status = PCTL_OK;

	*out = (pctl_gitlog_commit){.oid = *oid};
	pctl_gitlog_to_git(oid, &id);
	error = git_commit_lookup(&commit, log->repo, &id);
	if (error != 0)
		return pctl_gitlog_unread(call, &id, "commit", &id, error);
	if (git_commit_time(commit) < 0)
		status = pctl_refuse(call, PC5755_GITLOG_FORM,
				     "commit %s has a negative time, which no clock is",
				     pctl_gitlog_oid_format(oid, hex));
	else if (git_commit_parentcount(commit) > 1)
		status = pctl_refuse(call, PC5759_GITLOG_LINEAR,
				     "commit %s has %u parents, a block has one at most",
				     pctl_gitlog_oid_format(oid, hex),
				     git_commit_parentcount(commit));
	out->clock = status == PCTL_OK ? (uint64_t)git_commit_time(commit) : 0;
	if (status == PCTL_OK && git_commit_parentcount(commit) == 1) {
		out->has_parent = 1;
		from_git(git_commit_parent_id(commit, 0), &out->parent);
	}
	git_commit_free(commit);
	return status;
}

static pctl_status copy_blob(git_blob *blob, const pctl_call *call, void **out, uint64_t *n_out)
{
	const uint64_t n = (uint64_t)git_blob_rawsize(blob);
	char *copy = malloc(n + 1);

	if (copy == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for %" PRIu64 " bytes of a block",
				   n);
	if (n > 0)
		memcpy(copy, git_blob_rawcontent(blob), n);
	copy[n] = '\0';
	*out = copy;
	*n_out = n;
	return PCTL_OK;
}

static pctl_status read_entry(pctl_gitlog *log, const git_oid *commit, const git_tree *root,
			      const char *path, const pctl_call *call, void **out, uint64_t *n_out)
{
	char hex[GIT_OID_HEXSZ + 1];
	git_tree_entry *entry = NULL;
	git_blob *blob = NULL;
	int error = git_tree_entry_bypath(&entry, root, path);
	pctl_status status;

	if (error == 0 && git_tree_entry_type(entry) == GIT_OBJECT_BLOB) {
		error = git_blob_lookup(&blob, log->repo, git_tree_entry_id(entry));
		status = error == 0 ? copy_blob(blob, call, out, n_out)
				    : pctl_gitlog_unread(call, commit, "file",
							 git_tree_entry_id(entry), error);
	} else if (error == 0 || error == GIT_ENOTFOUND || error == GIT_EINVALIDSPEC) {
		status = pctl_refuse(call, PC5758_GITLOG_NO_FILE, "commit %s has no file \"%s\"",
				     git_oid_tostr(hex, sizeof(hex), commit), path);
	} else {
		status = pctl_gitlog_unread(call, commit, "folder of", git_tree_id(root), error);
	}
	git_blob_free(blob);
	git_tree_entry_free(entry);
	return status;
}

pctl_status pctl_gitlog_read(pctl_gitlog *log, const pctl_gitlog_oid *oid, const char *path,
			     const pctl_call *call, void **out, uint64_t *n_out)
{
	git_commit *commit = NULL;
	git_tree *root = NULL;
	git_oid id;
	pctl_status status;
	int error;

	*out = NULL;
	*n_out = 0;
	pctl_gitlog_to_git(oid, &id);
	error = git_commit_lookup(&commit, log->repo, &id);
	if (error != 0)
		return pctl_gitlog_unread(call, &id, "commit", &id, error);
	error = git_commit_tree(&root, commit);
	status = error == 0
			 ? read_entry(log, &id, root, path, call, out, n_out)
			 : pctl_gitlog_unread(call, &id, "tree", git_commit_tree_id(commit), error);
	git_tree_free(root);
	git_commit_free(commit);
	return status;
}

static pctl_status read_raw(pctl_gitlog *log, const git_oid *commit, const char *kind,
			    const git_oid *oid, const pctl_call *call, void **out, uint64_t *n_out)
{
	git_odb_object *raw = NULL;
	const int error = git_odb_read(&raw, log->odb, oid);

	if (error != 0)
		return pctl_gitlog_unread(call, commit, kind, oid, error);
	*n_out = git_odb_object_size(raw);
	*out = malloc(*n_out + 1);
	if (*out != NULL)
		memcpy(*out, git_odb_object_data(raw), *n_out);
	git_odb_object_free(raw);
	return *out != NULL ? PCTL_OK : pctl_no_memory(call, "a commit");
}

pctl_status pctl_gitlog_objects(pctl_gitlog *log, const pctl_gitlog_oid *oid, const pctl_call *call,
				void **commit, uint64_t *n_commit, void **tree, uint64_t *n_tree)
{
	git_commit *found = NULL;
	git_oid id;
	pctl_status status;
	int error;

	*commit = *tree = NULL;
	*n_commit = *n_tree = 0;
	pctl_gitlog_to_git(oid, &id);
	error = git_commit_lookup(&found, log->repo, &id);
	if (error != 0)
		return pctl_gitlog_unread(call, &id, "commit", &id, error);
	status = read_raw(log, &id, "commit", &id, call, commit, n_commit);
	if (status == PCTL_OK)
		status = read_raw(log, &id, "tree", git_commit_tree_id(found), call, tree, n_tree);
	git_commit_free(found);
	if (status != PCTL_OK) {
		free(*commit);
		*commit = NULL;
	}
	return status;
}

pctl_status pctl_gitlog_walk(pctl_gitlog *log, const pctl_gitlog_oid *from, const pctl_call *call,
			     pctl_gitlog_visit visit, void *ctx)
{
	pctl_gitlog_commit at = {.parent = *from, .has_parent = 1};
	pctl_gitlog_oid floor;
	const int has_floor = pctl_gitlog_floor(log, &floor);

	while (at.has_parent && !(has_floor && memcmp(&at.oid, &floor, sizeof(floor)) == 0)) {
		const pctl_gitlog_oid next = at.parent;
		pctl_status status = pctl_gitlog_look(log, &next, call, &at);

		if (status != PCTL_OK)
			return status;
		if (pctl_is_cancelled(call))
			return pctl_refuse(call, PC4_CANCELLED, "cancelled while reading blocks");
		if (visit(ctx, &at) != 0)
			break;
	}
	return PCTL_OK;
}
