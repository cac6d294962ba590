/* Writing journals, and what both directions share (journal_read.c reads them, journal_line.c says what a line is). */
#include "evidence/certify/journal_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "foundation/base/clock.h"

#define SYNC_ENTRIES 64u

int pctl_shard_parse(const char *text, pctl_shard *out)
{
	const char *slash = strchr(text, '/');
	uint64_t index, count;

	*out = (pctl_shard){0, 0};
	if (slash == NULL || !pctl_num_parse_u64(text, (size_t)(slash - text), &index) ||
	    !pctl_num_parse_u64(slash + 1, strlen(slash + 1), &count) || index == 0 ||
	    index > count || count > PCTL_SHARDS_MAX)
		return 0;
	*out = (pctl_shard){(uint32_t)index, (uint32_t)count};
	return 1;
}

uint64_t pctl_shard_blocks(pctl_shard s, uint64_t n)
{
	return n / s.count + (s.index - 1 < n % s.count);
}

uint64_t pctl_shard_block(pctl_shard s, uint64_t k)
{
	return k * s.count + (s.index - 1);
}

char *pctl_shard_path(const char *dir, pctl_shard s)
{
	char name[64];

	snprintf(name, sizeof(name), "shard-%u-of-%u.journal", s.index, s.count);
	return pctl_path_join(dir, name);
}

pctl_status pctl_journal_io(const pctl_call *call, const char *what, const char *path)
{
	char reason[128];
	const int error = errno;

	return pctl_refuse(call, PC3_IO, "cannot %s %s: %s", what, path,
			   strerror_r(error, reason, sizeof(reason)));
}

pctl_status pctl_journal_chain(char chain[PCTL_JOURNAL_CHAIN + 1], const char *line, size_t n,
			       const pctl_call *call)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	pctl_hasher *h = NULL;
	uint8_t digest[PCTL_DIGEST_BYTES];
	pctl_status status = pctl_hasher_create(call, &h);

	if (status == PCTL_OK)
		status = pctl_hasher_update(h, chain, PCTL_JOURNAL_CHAIN);
	if (status == PCTL_OK)
		status = pctl_hasher_update(h, line, n);
	status = pctl_hasher_end(h, status, digest);
	if (status == PCTL_OK)
		memcpy(chain, pctl_digest_hex(digest, hex), PCTL_JOURNAL_CHAIN);
	return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

struct pctl_journal {
	char *path;
	int fd;
	uint32_t unsynced;
	uint64_t synced;
	char chain[PCTL_JOURNAL_CHAIN + 1];
};

static void drop(pctl_journal *j)
{
	if (j == NULL)
		return;
	if (j->fd >= 0)
		close(j->fd);
	free(j->path);
	free(j);
}

/* Open for one writer; what was there before is kept. */
static pctl_status open_locked(const char *path, const pctl_call *call, pctl_journal **out)
{
	pctl_journal *j = calloc(1, sizeof(*j));

	*out = NULL;
	if (j == NULL || (j->path = strdup(path)) == NULL) {
		free(j);
		return pctl_no_memory(call, "a journal");
	}
	j->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0644);
	j->synced = pctl_clock_s();
	if (j->fd < 0) {
		drop(j);
		return pctl_journal_io(call, "write", path);
	}
	if (flock(j->fd, LOCK_EX | LOCK_NB) != 0) {
		drop(j);
		return pctl_refuse(call, PC5511_JOURNAL_BUSY, "another process writes %s", path);
	}
	*out = j;
	return PCTL_OK;
}

static pctl_status write_all(pctl_journal *j, const char *data, size_t n, const pctl_call *call)
{
	while (n > 0) {
		const ssize_t wrote = write(j->fd, data, n);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return pctl_journal_io(call, "write", j->path);
		data += wrote;
		n -= (size_t)wrote;
	}
	return PCTL_OK;
}

static pctl_status sync_now(pctl_journal *j, const pctl_call *call)
{
	j->unsynced = 0;
	j->synced = pctl_clock_s();
	return fsync(j->fd) == 0 ? PCTL_OK : pctl_journal_io(call, "write", j->path);
}

pctl_status pctl_journal_head(const char *head, pctl_shard s, const pctl_call *call,
			      pctl_str_buf *out)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	pctl_cid cid;
	pctl_status status;

	pctl_str_add(out, head);
	pctl_str_addf(out, "shard\t%u/%u\n", s.index, s.count);
	if (out->failed)
		return pctl_no_memory(call, "a journal");
	status = pctl_cid_of(out->data, out->n, call, &cid);
	if (status == PCTL_OK)
		pctl_str_addf(out, "begin\t%s\n", pctl_digest_hex(cid.digest, hex));
	return status == PCTL_OK && out->failed ? pctl_no_memory(call, "a journal") : status;
}

pctl_status pctl_journal_create(const char *path, const char *head, pctl_shard s,
				const pctl_call *call, pctl_journal **out)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_journal *j = NULL;
	pctl_status status = pctl_journal_head(head, s, call, &text);

	*out = NULL;
	if (status == PCTL_OK)
		status = open_locked(path, call, &j);
	if (status == PCTL_OK && lseek(j->fd, 0, SEEK_END) != 0)
		status = pctl_refuse_at(call, PC5510_JOURNAL_EXISTS, NULL,
					"--resume goes on with it", "there is already a journal %s",
					path);
	if (status == PCTL_OK)
		status = write_all(j, text.data, text.n, call);
	if (status == PCTL_OK)
		status = sync_now(j, call);
	if (status == PCTL_OK)
		memcpy(j->chain, text.data + text.n - 1 - 2 * PCTL_DIGEST_BYTES,
		       PCTL_JOURNAL_CHAIN);
	pctl_str_drop(&text);
	if (status == PCTL_OK)
		*out = j;
	else
		drop(j);
	return status;
}

uint32_t pctl_journal_difference(const char **theirs, size_t *n_theirs, const char **ours,
				 size_t *n_ours)
{
	for (uint32_t line = 1;; line++) {
		*n_theirs = strcspn(*theirs, "\n");
		*n_ours = strcspn(*ours, "\n");
		if (*n_theirs != *n_ours || memcmp(*theirs, *ours, *n_ours) != 0 || *n_ours == 0)
			return line;
		*theirs += *n_theirs + ((*theirs)[*n_theirs] == '\n');
		*ours += *n_ours + ((*ours)[*n_ours] == '\n');
	}
}

/* The first line in which two heads differ, for the message. */
static pctl_status differs(const char *path, const char *theirs, const char *ours,
			   const pctl_call *call)
{
	size_t n_theirs, n_ours;

	(void)pctl_journal_difference(&theirs, &n_theirs, &ours, &n_ours);
	return pctl_refuse(call, PC5512_JOURNAL_OTHER,
			   "%s is of another proof: it says \"%.*s\", this proof \"%.*s\"", path,
			   n_theirs > 120 ? 120 : (int)n_theirs, theirs,
			   n_ours > 120 ? 120 : (int)n_ours, ours);
}

/* Read up to the last good line. */
static pctl_status find_end(pctl_journal *j, const char *head, pctl_shard s, const pctl_call *call,
			    uint64_t *n_out, uint64_t *end)
{
	pctl_journal_reader *r = NULL;
	pctl_journal_entry *e = malloc(sizeof(*e));
	const char *theirs;
	pctl_shard shard;
	int at_end = 0;
	pctl_status status = e == NULL ? pctl_no_memory(call, "a journal")
				       : pctl_journal_read(j->path, call, &r, &theirs, &shard);

	if (status == PCTL_OK && strcmp(theirs, head) != 0)
		status = differs(j->path, theirs, head, call);
	if (status == PCTL_OK && (shard.index != s.index || shard.count != s.count))
		status = pctl_refuse(call, PC5512_JOURNAL_OTHER, "%s is of shard %u of %u", j->path,
				     shard.index, shard.count);
	while (status == PCTL_OK && !at_end) {
		status = pctl_journal_next(r, call, e, &at_end);
		*n_out += status == PCTL_OK && !at_end;
	}
	if (status == PCTL_OK) {
		*end = pctl_journal_good(r, j->chain);
	}
	pctl_journal_read_end(r);
	free(e);
	return status;
}

/* A journal that was killed before its first lines were whole: they are a beginning of what they would be. */
static pctl_status is_unbegun(pctl_journal *j, const char *head, pctl_shard s,
			      const pctl_call *call, int *out)
{
	pctl_str_buf whole = PCTL_STR_BUF_INIT;
	pctl_status status = pctl_journal_head(head, s, call, &whole);
	const off_t n = lseek(j->fd, 0, SEEK_END);
	char *there;

	*out = 0;
	if (status != PCTL_OK || n < 0 || (size_t)n >= whole.n) {
		pctl_str_drop(&whole);
		return status;
	}
	there = malloc((size_t)n + 1);
	if (there == NULL)
		status = pctl_no_memory(call, "a journal");
	else if (pread(j->fd, there, (size_t)n, 0) != (ssize_t)n)
		status = pctl_journal_io(call, "read", j->path);
	else
		*out = memcmp(there, whole.data, (size_t)n) == 0;
	if (*out && ftruncate(j->fd, 0) != 0)
		status = pctl_journal_io(call, "write", j->path);
	free(there);
	pctl_str_drop(&whole);
	return status;
}

pctl_status pctl_journal_resume(const char *path, const char *head, pctl_shard s,
				const pctl_call *call, pctl_journal **out, uint64_t *n_out)
{
	pctl_journal *j = NULL;
	uint64_t end = 0;
	int unbegun = 0;
	pctl_status status;

	*out = NULL;
	*n_out = 0;
	if (!pctl_file_exists(path))
		return pctl_journal_create(path, head, s, call, out);
	status = open_locked(path, call, &j);
	if (status == PCTL_OK)
		status = is_unbegun(j, head, s, call, &unbegun);
	if (status == PCTL_OK && unbegun) {
		drop(j);
		return pctl_journal_create(path, head, s, call, out);
	}
	if (status == PCTL_OK)
		status = find_end(j, head, s, call, n_out, &end);
	if (status == PCTL_OK && ftruncate(j->fd, (off_t)end) != 0)
		status = pctl_journal_io(call, "write", path);
	if (status == PCTL_OK)
		*out = j;
	else
		drop(j);
	return status;
}

/* A line, with its checksum. */
static pctl_status add_line(pctl_journal *j, const pctl_journal_line *line, const pctl_call *call)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	pctl_status status;

	pctl_record_text(&pctl_journal_line_type, line, &s);
	status = s.failed ? pctl_no_memory(call, "a journal")
			  : pctl_journal_chain(j->chain, s.data, s.n, call);
	pctl_str_addf(&s, "\t%s\n", j->chain);
	if (status == PCTL_OK && s.failed)
		status = pctl_no_memory(call, "a journal");
	if (status == PCTL_OK)
		status = write_all(j, s.data, s.n, call);
	pctl_str_drop(&s);
	return status;
}

pctl_status pctl_journal_shapes(pctl_journal *j, uint64_t seed, const pctl_call *call)
{
	pctl_journal_line line = {.kind = PCTL_JOURNAL_SHAPES};

	snprintf(line.seed, sizeof(line.seed), "%016" PRIx64, seed);
	return add_line(j, &line, call);
}

pctl_status pctl_journal_late(pctl_journal *j, const char *name, const char *sha256,
			      const pctl_call *call)
{
	const pctl_journal_line line = {.kind = PCTL_JOURNAL_LATE, .name = name, .sha256 = sha256};

	return add_line(j, &line, call);
}

pctl_status pctl_journal_append(pctl_journal *j, const pctl_journal_entry *e, const pctl_call *call)
{
	const pctl_journal_line line = {.kind = !e->ran			 ? PCTL_JOURNAL_NOT_RUN
						: e->block.failures != 0 ? PCTL_JOURNAL_FAILED
									 : PCTL_JOURNAL_RAN,
					.entry = *e};
	pctl_status status = add_line(j, &line, call);

	if (status == PCTL_OK && (++j->unsynced >= SYNC_ENTRIES || pctl_clock_s() != j->synced))
		status = sync_now(j, call);
	return status;
}

pctl_status pctl_journal_close(pctl_journal *j, const pctl_call *call)
{
	pctl_status status;

	if (j == NULL)
		return PCTL_OK;
	status = sync_now(j, call);
	drop(j);
	return status;
}
