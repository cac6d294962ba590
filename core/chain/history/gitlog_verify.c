/* Verifying the log: everything reachable is read from the disk, hashed again by libgit2, and spelled again from its
 * parts; what is not byte for byte as write makes it is a fault. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain/history/gitlog_private.h"

typedef struct verifier {
	pctl_gitlog *log; /* opened for this, so that nothing was read before */
	const pctl_call *call;
	git_oid commit; /* being verified; named by every report */
	char hex[GIT_OID_HEXSZ + 1];
} verifier;

static pctl_status read_raw(verifier *v, const git_oid *oid, const char *kind, git_object_t type,
			    git_odb_object **out)
{
	int error = git_odb_read(out, v->log->odb, oid);

	if (error == 0 && git_odb_object_type(*out) != type) {
		git_odb_object_free(*out);
		*out = NULL;
		error = GIT_ENOTFOUND;
	}
	return error == 0 ? PCTL_OK : pctl_gitlog_unread(v->call, &v->commit, kind, oid, error);
}

static int same(const git_odb_object *raw, const char *text, size_t n)
{
	return git_odb_object_size((git_odb_object *)raw) == n &&
	       memcmp(git_odb_object_data((git_odb_object *)raw), text, n) == 0;
}

/* ---- trees -------------------------------------------------------------------------------- */

static pctl_status tree_fault(verifier *v, const git_oid *tree, const char *what)
{
	char hex[GIT_OID_HEXSZ + 1];

	return pctl_refuse(v->call, PC5757_GITLOG_TREE, "commit %s: tree %s %s", v->hex,
			   git_oid_tostr(hex, sizeof(hex), tree), what);
}

static pctl_status verify_tree(verifier *v, const git_oid *oid, int depth);

static pctl_status verify_entry(verifier *v, const pctl_gitlog_entry *e, int depth)
{
	git_odb_object *raw = NULL;
	pctl_status status;

	if (e->is_tree)
		return verify_tree(v, &e->oid, depth + 1);
	status = read_raw(v, &e->oid, "file", GIT_OBJECT_BLOB, &raw);
	git_odb_object_free(raw);
	return status;
}

/* Names and modes as write allows them, no name twice, at most one level of folders. */
static const char *list_entries(const git_tree *tree, int depth, pctl_gitlog_entry *entries,
				uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const git_tree_entry *from = git_tree_entry_byindex(tree, i);
		const git_filemode_t mode = git_tree_entry_filemode_raw(from);
		pctl_gitlog_entry *e = &entries[i];

		*e = (pctl_gitlog_entry){.name = git_tree_entry_name(from),
					 .is_tree = mode == GIT_FILEMODE_TREE,
					 .oid = *git_tree_entry_id(from)};
		e->n_name = (uint32_t)strlen(e->name);
		if (!pctl_gitlog_name_ok(e->name, e->n_name))
			return "has a name that no file of a block has";
		if (e->is_tree ? depth > 0 : mode != GIT_FILEMODE_BLOB)
			return "holds something else than files and one level of folders";
	}
	return pctl_gitlog_unique(entries, n) ? NULL : "has a name twice";
}

static pctl_status verify_entries(verifier *v, const git_oid *oid, const git_tree *tree,
				  const git_odb_object *raw, int depth)
{
	const uint32_t n = (uint32_t)git_tree_entrycount(tree);
	pctl_gitlog_entry *entries = calloc(n + 1, sizeof(*entries));
	char *text = NULL;
	const char *fault;
	size_t n_text = 0;
	pctl_status status = PCTL_OK;

	if (entries == NULL)
		return pctl_no_memory(v->call, "a tree");
	fault = n == 0 ? "is empty" : list_entries(tree, depth, entries, n);
	if (fault == NULL) {
		text = pctl_gitlog_spell_tree(entries, n, &n_text);
		if (text == NULL)
			status = pctl_no_memory(v->call, "a tree");
		else if (!same(raw, text, n_text))
			fault = "is not spelled as git spells one";
	}
	if (fault != NULL)
		status = tree_fault(v, oid, fault);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		status = verify_entry(v, &entries[i], depth);
	free(text);
	free(entries);
	return status;
}

static pctl_status verify_tree(verifier *v, const git_oid *oid, int depth)
{
	git_odb_object *raw = NULL;
	git_tree *tree = NULL;
	pctl_status status = read_raw(v, oid, "tree", GIT_OBJECT_TREE, &raw);

	if (status != PCTL_OK)
		return status;
	if (git_tree_lookup(&tree, v->log->repo, oid) != 0)
		status = tree_fault(v, oid, "is not spelled as git spells one");
	else
		status = verify_entries(v, oid, tree, raw, depth);
	git_tree_free(tree);
	git_odb_object_free(raw);
	return status;
}

/* ---- commits ------------------------------------------------------------------------------ */

static pctl_status verify_form(verifier *v, const git_commit *commit, const git_odb_object *raw)
{
	const git_oid *parent =
		git_commit_parentcount(commit) > 0 ? git_commit_parent_id(commit, 0) : NULL;
	const char *message = git_commit_message_raw(commit);
	size_t n_text = 0;
	char *text;
	int ok;

	if (git_commit_parentcount(commit) > 1)
		return pctl_refuse(v->call, PC5759_GITLOG_LINEAR,
				   "commit %s has %u parents, a block has one at most", v->hex,
				   git_commit_parentcount(commit));
	text = pctl_gitlog_spell_commit(git_commit_tree_id(commit), parent,
					(uint64_t)git_commit_time(commit), message, &n_text);
	if (text == NULL)
		return pctl_no_memory(v->call, "a commit");
	ok = git_commit_time(commit) >= 0 && pctl_gitlog_message_ok(message) &&
	     same(raw, text, n_text);
	free(text);
	return ok ? PCTL_OK
		  : pctl_refuse(v->call, PC5755_GITLOG_FORM,
				"commit %s is not spelled as a block is: author and committer "
				"%s <%s>, both at the clock, +0000, no further header",
				v->hex, PCTL_GITLOG_WHO, PCTL_GITLOG_MAIL);
}

static pctl_status verify_commit(verifier *v, const pctl_gitlog_oid *oid, pctl_gitlog_commit *out)
{
	git_odb_object *raw = NULL;
	git_commit *commit = NULL;
	pctl_status status;

	pctl_gitlog_to_git(oid, &v->commit);
	git_oid_tostr(v->hex, sizeof(v->hex), &v->commit);
	status = read_raw(v, &v->commit, "commit", GIT_OBJECT_COMMIT, &raw);
	if (status != PCTL_OK)
		return status;
	if (git_commit_lookup(&commit, v->log->repo, &v->commit) != 0)
		status = pctl_refuse(v->call, PC5755_GITLOG_FORM,
				     "commit %s is not spelled as a block is: %s", v->hex,
				     git_error_last()->message);
	if (status == PCTL_OK)
		status = verify_form(v, commit, raw);
	if (status == PCTL_OK)
		status = pctl_gitlog_look(v->log, oid, v->call, out);
	if (status == PCTL_OK)
		status = verify_tree(v, git_commit_tree_id(commit), 0);
	git_commit_free(commit);
	git_odb_object_free(raw);
	return status;
}

static pctl_status verify_all(verifier *v, const pctl_gitlog_oid *oid, uint64_t *n_out)
{
	pctl_gitlog_commit at = {.parent = *oid, .has_parent = 1, .clock = UINT64_MAX};
	pctl_gitlog_oid floor;
	const int has_floor = pctl_gitlog_floor(v->log, &floor);

	while (at.has_parent && !(has_floor && memcmp(&at.oid, &floor, sizeof(floor)) == 0)) {
		const pctl_gitlog_oid next = at.parent;
		const uint64_t later = at.clock;
		char hex[PCTL_GITLOG_OID_TEXT_SIZE];
		pctl_status status;

		pctl_gitlog_oid_format(&at.oid, hex);
		status = verify_commit(v, &next, &at);
		if (status != PCTL_OK)
			return status;
		if (at.clock > later)
			return pctl_refuse(v->call, PC5756_GITLOG_CLOCK,
					   "commit %s has clock %" PRIu64 " behind its parent's "
					   "%" PRIu64,
					   hex, later, at.clock);
		if (pctl_is_cancelled(v->call))
			return pctl_refuse(v->call, PC4_CANCELLED,
					   "cancelled while reading blocks");
		++*n_out;
	}
	return PCTL_OK;
}

pctl_status pctl_gitlog_verify(pctl_gitlog *log, const pctl_gitlog_oid *oid, const pctl_call *call,
			       uint64_t *n_out)
{
	verifier v = {.call = call};
	pctl_status status;

	*n_out = 0;
	status = pctl_gitlog_open(log->dir, call, &v.log);
	if (status == PCTL_OK)
		status = verify_all(&v, oid, n_out);
	pctl_gitlog_close(v.log);
	return status;
}
