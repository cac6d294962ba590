/* Writing a block: its objects into memory, from there into one pack, the pack and its index synced under temporary names
 * and then given their own. */
#include "chain/history/gitlog_pack.h"
#include "chain/history/gitlog_private.h"
#include "foundation/git/git.h"

#include <errno.h>
#include <fcntl.h>
#include <git2/sys/mempack.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct block {
	pctl_gitlog *log; /* NULL: ids alone are wanted */
	const pctl_call *call;
	pctl_gitlog_pack pack;
} block;

/* ---- objects ------------------------------------------------------------------------------ */

/* Name an object and, unless it is in the log or in this block already, take it into the pack. */
static pctl_status take(block *b, const void *data, uint64_t n, git_object_t type,
			uint32_t is_dense, git_oid *out)
{
	pctl_gitlog *log = b->log;

	if (!pctl_gitlog_object_id(git_object_type2string(type), data, n, out->id))
		return pctl_refuse(b->call, PC5751_GITLOG_IO, "cannot hash an object of a block");
	if (log == NULL)
		return PCTL_OK;
	if (git_odb_exists_ext(log->odb, out, GIT_ODB_LOOKUP_NO_REFRESH))
		return PCTL_OK;
	if (log->fresh->write(log->fresh, out, n == 0 ? "" : data, n, type) != 0)
		return pctl_gitlog_git_io(log, b->call, "take an object into");
	pctl_gitlog_pack_add(&b->pack, n == 0 ? "" : data, n, type, is_dense, out);
	return PCTL_OK;
}

static pctl_status take_tree(block *b, pctl_gitlog_entry *entries, uint32_t n, git_oid *out)
{
	size_t n_text;
	char *text = pctl_gitlog_spell_tree(entries, n, &n_text);
	pctl_status status = text == NULL ? pctl_no_memory(b->call, "a block")
					  : take(b, text, n_text, GIT_OBJECT_TREE, 0, out);

	free(text);
	return status;
}

/* ---- the tree of the files ---------------------------------------------------------------- */

static int by_path(const void *a, const void *b)
{
	const pctl_gitlog_file *const *x = a, *const *y = b;

	return strcmp((*x)->path, (*y)->path);
}

static pctl_status check_path(const char *path, const pctl_call *call)
{
	const char *slash = strchr(path, '/');
	const size_t n = strlen(path), n_first = slash == NULL ? n : (size_t)(slash - path);

	if (n <= 2 * PCTL_GITLOG_NAME_MAX + 1 && pctl_gitlog_name_ok(path, (uint32_t)n_first) &&
	    (slash == NULL || pctl_gitlog_name_ok(slash + 1, (uint32_t)(n - n_first - 1))))
		return PCTL_OK;
	return pctl_refuse(
		call, PC5750_GITLOG_BLOCK,
		"\"%s\" is no path of a file of a block: NAME or FOLDER/NAME of letters, "
		"digits, '.', '_' and '-', neither '.' nor '-' first",
		path);
}

static pctl_status twice(const pctl_call *call, const pctl_gitlog_entry *entries, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (entries[i].n_name == entries[i - 1].n_name &&
		    memcmp(entries[i].name, entries[i - 1].name, entries[i].n_name) == 0)
			return pctl_refuse(call, PC5750_GITLOG_BLOCK,
					   "\"%.*s\" stands twice among the files of a block",
					   (int)entries[i].n_name, entries[i].name);
	return PCTL_OK;
}

/* The files from *at on that lie in one folder, as one entry of the root; or one file of the root. */
static pctl_status take_next(block *b, const pctl_gitlog_file *const *files, uint32_t n,
			     uint32_t *at, pctl_gitlog_entry *scratch, pctl_gitlog_entry *out)
{
	const char *path = files[*at]->path, *slash = strchr(path, '/');
	const size_t n_folder = slash == NULL ? strlen(path) : (size_t)(slash - path) + 1;
	uint32_t n_in = 0;
	pctl_status status = PCTL_OK;

	*out = (pctl_gitlog_entry){.name = path, .is_tree = slash != NULL};
	out->n_name = (uint32_t)(slash == NULL ? n_folder : n_folder - 1);
	if (slash == NULL) {
		const pctl_gitlog_file *f = files[(*at)++];

		return take(b, f->data, f->n_bytes, GIT_OBJECT_BLOB, f->is_dense, &out->oid);
	}
	for (; status == PCTL_OK && *at < n && strncmp(files[*at]->path, path, n_folder) == 0;
	     (*at)++) {
		const pctl_gitlog_file *f = files[*at];
		pctl_gitlog_entry *e = &scratch[n_in++];

		*e = (pctl_gitlog_entry){.name = f->path + n_folder};
		e->n_name = (uint32_t)strlen(e->name);
		status = take(b, f->data, f->n_bytes, GIT_OBJECT_BLOB, f->is_dense, &e->oid);
	}
	if (status == PCTL_OK && !pctl_gitlog_unique(scratch, n_in))
		status = twice(b->call, scratch, n_in);
	return status == PCTL_OK ? take_tree(b, scratch, n_in, &out->oid) : status;
}

static pctl_status take_files(block *b, const pctl_gitlog_file *files, uint32_t n, git_oid *out)
{
	const pctl_gitlog_file **sorted = calloc(n, sizeof(const pctl_gitlog_file *));
	pctl_gitlog_entry *root = calloc(n, sizeof(*root)), *scratch = calloc(n, sizeof(*scratch));
	uint32_t n_root = 0, at = 0;
	pctl_status status = sorted == NULL || root == NULL || scratch == NULL
				     ? pctl_no_memory(b->call, "a block")
				     : PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		sorted[i] = &files[i];
		status = check_path(files[i].path, b->call);
	}
	if (status == PCTL_OK)
		qsort(sorted, n, sizeof(sorted[0]), by_path);
	while (status == PCTL_OK && at < n)
		status = take_next(b, sorted, n, &at, scratch, &root[n_root++]);
	if (status == PCTL_OK && !pctl_gitlog_unique(root, n_root))
		status = twice(b->call, root, n_root);
	if (status == PCTL_OK)
		status = take_tree(b, root, n_root, out);
	free(sorted);
	free(root);
	free(scratch);
	return status;
}

/* ---- the pack ----------------------------------------------------------------------------- */

static int write_file(int dir_fd, const char *name, const pctl_str_buf *bytes)
{
	const int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	size_t at = 0;

	while (fd >= 0 && at < bytes->n) {
		const ssize_t n = write(fd, bytes->data + at, bytes->n - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	return fd >= 0 && close(fd) == 0 && at == bytes->n ? 0 : -1;
}

/* Named by its checksum, as git names packs. */
static pctl_status write_files(block *b, const char *temp, char *name, size_t n_name)
{
	pctl_str_buf index = PCTL_STR_BUF_INIT;
	const pctl_str_buf *bytes = &b->pack.bytes;
	pctl_status status = PCTL_OK;
	char path[256];

	if (!pctl_gitlog_pack_end(&b->pack) || !pctl_gitlog_pack_index(&b->pack, &index)) {
		pctl_str_drop(&index);
		return pctl_no_memory(b->call, "a block");
	}
	memcpy(name, "pack-", 6);
	for (size_t i = 0; i < 20; i++)
		snprintf(name + 5 + 2 * i, n_name - 5 - 2 * i, "%02x",
			 (unsigned char)bytes->data[bytes->n - 20 + i]);
	snprintf(path, sizeof(path), "%s/%s.pack", temp, name);
	if (write_file(b->log->temp_fd, path, bytes) != 0)
		status = pctl_gitlog_io(b->log, b->call, "write a pack of", errno);
	snprintf(path, sizeof(path), "%s/%s.idx", temp, name);
	if (status == PCTL_OK && write_file(b->log->temp_fd, path, &index) != 0)
		status = pctl_gitlog_io(b->log, b->call, "write a pack of", errno);
	pctl_str_drop(&index);
	return status;
}

static int sync_file(int dir_fd, const char *name)
{
	const int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	int result = fd < 0 ? -1 : fsync(fd);
	const int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return result;
}

/* The index last: readers find a pack by its index, so they see all of it or nothing. */
static pctl_status publish(block *b, const char *temp, const char *name)
{
	static const char *const suffixes[] = {"pack", "idx"};
	char from[256], to[256];

	for (uint32_t i = 0; i < 2; i++) {
		snprintf(from, sizeof(from), "%s/%s.%s", temp, name, suffixes[i]);
		if (sync_file(b->log->temp_fd, from) != 0)
			return pctl_gitlog_io(b->log, b->call, "sync a pack of", errno);
	}
	for (uint32_t i = 0; i < 2; i++) {
		snprintf(from, sizeof(from), "%s/%s.%s", temp, name, suffixes[i]);
		snprintf(to, sizeof(to), "objects/pack/%s.%s", name, suffixes[i]);
		if (renameat(b->log->temp_fd, from, b->log->root_fd, to) != 0)
			return pctl_gitlog_io(b->log, b->call, "name a pack of", errno);
	}
	return PCTL_OK;
}

static pctl_status write_pack(block *b, char name[64])
{
	pctl_gitlog *log = b->log;
	char temp[32];
	pctl_status status;

	name[0] = '\0';

	snprintf(temp, sizeof(temp), "w-%ld", (long)getpid());
	pctl_gitlog_clear(log->temp_fd, temp);
	if (mkdirat(log->temp_fd, temp, 0700) != 0)
		return pctl_gitlog_io(log, b->call, "make a directory in", errno);
	status = write_files(b, temp, name, 64);
	if (status == PCTL_OK)
		status = publish(b, temp, name);
	pctl_gitlog_clear(log->temp_fd, temp);
	return status;
}

/* Objects that were there may come from a writer that died before it could sync the directory. */
static pctl_status keep(block *b)
{
	char name[64];
	pctl_status status = PCTL_OK;

	if (b->pack.n_objects > 0) {
		if (pctl_gitlog_lock(b->log, LOCK_SH) != 0)
			return pctl_gitlog_io(b->log, b->call, "lock", errno);
		status = write_pack(b, name);
		(void)pctl_gitlog_lock(b->log, LOCK_UN);
	}
	return status == PCTL_OK ? pctl_gitlog_sync(b->log, "objects/pack", b->call) : status;
}

pctl_status pctl_gitlog_publish(pctl_gitlog *log, pctl_gitlog_pack *pack, const pctl_call *call,
				char name[64])
{
	block b = {.log = log, .call = call, .pack = *pack};
	pctl_status status;

	if (pctl_gitlog_lock(log, LOCK_SH) != 0)
		return pctl_gitlog_io(log, call, "lock", errno);
	status = write_pack(&b, name);
	(void)pctl_gitlog_lock(log, LOCK_UN);
	*pack = b.pack;
	return status == PCTL_OK ? pctl_gitlog_sync(log, "objects/pack", call) : status;
}

/* ---- the block ---------------------------------------------------------------------------- */

static pctl_status check_form(uint32_t n_files, const char *message, uint64_t clock,
			      const pctl_call *call)
{
	if (n_files == 0 || clock > PCTL_GITLOG_CLOCK_MAX)
		return pctl_refuse(call, PC5750_GITLOG_BLOCK,
				   "a block has %" PRIu32 " files and clock %" PRIu64
				   ": at least one file and a clock of at most %" PRIu64
				   " are allowed",
				   n_files, clock, PCTL_GITLOG_CLOCK_MAX);
	if (!pctl_gitlog_message_ok(message))
		return pctl_refuse(call, PC5750_GITLOG_BLOCK,
				   "the message of a block is empty or holds something else than "
				   "printable ASCII and newlines");
	return PCTL_OK;
}

static pctl_status check(pctl_gitlog *log, const pctl_gitlog_oid *parent, uint32_t n_files,
			 const char *message, uint64_t clock, const pctl_call *call)
{
	char hex[PCTL_GITLOG_OID_TEXT_SIZE];
	pctl_gitlog_commit before;
	pctl_status status = check_form(n_files, message, clock, call);

	if (status != PCTL_OK || parent == NULL)
		return status;
	status = pctl_gitlog_look(log, parent, call, &before);
	if (status == PCTL_OK && before.clock > clock)
		return pctl_refuse(call, PC5756_GITLOG_CLOCK,
				   "a block of clock %" PRIu64 " cannot follow commit %s of clock "
				   "%" PRIu64,
				   clock, pctl_gitlog_oid_format(parent, hex), before.clock);
	return status;
}

static pctl_status take_commit(block *b, const git_oid *tree, const pctl_gitlog_oid *parent,
			       const char *message, uint64_t clock, git_oid *out)
{
	git_oid before;
	size_t n_text;
	char *text;
	pctl_status status;

	if (parent != NULL)
		pctl_gitlog_to_git(parent, &before);
	text = pctl_gitlog_spell_commit(tree, parent == NULL ? NULL : &before, clock, message,
					&n_text);
	if (text == NULL)
		return pctl_no_memory(b->call, "a block");
	status = take(b, text, n_text, GIT_OBJECT_COMMIT, 0, out);
	free(text);
	return status;
}

static pctl_status write_all(pctl_gitlog *log, const pctl_gitlog_oid *parent,
			     const pctl_gitlog_file *files, uint32_t n_files, const char *message,
			     uint64_t clock, const pctl_call *call, pctl_gitlog_oid *out)
{
	block b = {.log = log, .call = call};
	git_oid tree, commit;
	pctl_status status;

	pctl_gitlog_pack_begin(&b.pack);
	status = take_files(&b, files, n_files, &tree);
	if (status == PCTL_OK)
		status = take_commit(&b, &tree, parent, message, clock, &commit);
	if (status == PCTL_OK)
		status = keep(&b);
	pctl_gitlog_pack_drop(&b.pack);
	git_mempack_reset(log->fresh);
	(void)git_odb_refresh(log->odb);
	if (status == PCTL_OK)
		memcpy(out->id, commit.id, sizeof(out->id));
	return status;
}

pctl_status pctl_gitlog_write(pctl_gitlog *log, const pctl_gitlog_oid *parent,
			      const pctl_gitlog_file *files, uint32_t n_files, const char *message,
			      uint64_t clock, const pctl_call *call, pctl_gitlog_oid *out)
{
	const pctl_status status = check(log, parent, n_files, message, clock, call);

	memset(out, 0, sizeof(*out));
	return status == PCTL_OK ? write_all(log, parent, files, n_files, message, clock, call, out)
				 : status;
}

pctl_status pctl_gitlog_graft(pctl_gitlog *log, const pctl_gitlog_oid *parent,
			      const pctl_gitlog_file *files, uint32_t n_files, const char *message,
			      uint64_t clock, const pctl_call *call, pctl_gitlog_oid *out)
{
	pctl_status status = check_form(n_files, message, clock, call);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = write_all(log, parent, files, n_files, message, clock, call, out);
	return status == PCTL_OK && parent != NULL ? pctl_gitlog_set_floor(log, out, call) : status;
}

pctl_status pctl_gitlog_id(const pctl_gitlog_oid *parent, const pctl_gitlog_file *files,
			   uint32_t n_files, const char *message, uint64_t clock,
			   const pctl_call *call, pctl_gitlog_oid *out)
{
	block b = {.call = call};
	git_oid tree, commit;
	pctl_status status = check_form(n_files, message, clock, call);

	memset(out, 0, sizeof(*out));
	if (status != PCTL_OK)
		return status;
	pctl_git_library();
	status = take_files(&b, files, n_files, &tree);
	if (status == PCTL_OK)
		status = take_commit(&b, &tree, parent, message, clock, &commit);
	if (status == PCTL_OK)
		memcpy(out->id, commit.id, sizeof(out->id));
	return status;
}
