/* Reading journals line by line, in constant memory. */
#include "evidence/certify/journal_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/hex.h"

#define HEAD_LIMIT (16u << 20)

struct pctl_journal_reader {
	char *path, *head, *line;
	pctl_str_buf seeds, late;
	FILE *file;
	size_t cap;
	uint64_t good, n; /* bytes up to the last good line; entries read */
	pctl_shard shard;
	char chain[PCTL_JOURNAL_CHAIN + 1];
};

static pctl_status damaged(const pctl_journal_reader *r, const char *what, const pctl_call *call)
{
	return pctl_refuse(call, PC5513_JOURNAL_DAMAGED, "%s: %s, behind byte %" PRIu64, r->path,
			   what, r->good);
}

void pctl_journal_read_end(pctl_journal_reader *r)
{
	if (r == NULL)
		return;
	if (r->file != NULL)
		fclose(r->file);
	free(r->path);
	free(r->head);
	free(r->line);
	pctl_str_drop(&r->seeds);
	pctl_str_drop(&r->late);
	free(r);
}

uint64_t pctl_journal_good(const pctl_journal_reader *r, char chain[PCTL_JOURNAL_CHAIN + 1])
{
	memcpy(chain, r->chain, PCTL_JOURNAL_CHAIN + 1);
	return r->good;
}

/* The lines up to "begin", which is checked; *head is left without the line "shard". */
static pctl_status read_head(pctl_journal_reader *r, const pctl_call *call)
{
	pctl_str_buf head = PCTL_STR_BUF_INIT, again = PCTL_STR_BUF_INIT;
	pctl_status status = PCTL_OK;
	size_t n_head = 0;
	ssize_t n;

	while ((n = getline(&r->line, &r->cap, r->file)) > 0 && head.n < HEAD_LIMIT &&
	       strncmp(r->line, "begin\t", 6) != 0) {
		if (strncmp(r->line, "shard\t", 6) == 0) {
			r->line[strcspn(r->line, "\n")] = '\0';
			if (!pctl_shard_parse(r->line + 6, &r->shard))
				break;
			n_head = head.n;
			continue;
		}
		pctl_str_add_n(&head, r->line, (size_t)n);
	}
	if (n <= 0 || r->shard.count == 0 || n_head != head.n || head.n == 0)
		status = damaged(r, "its first lines are not those of a journal", call);
	if (status == PCTL_OK)
		status = pctl_journal_head(head.data, r->shard, call, &again);
	if (status == PCTL_OK) {
		const long at = ftell(r->file);

		if (at < 0 || (uint64_t)at != again.n ||
		    strcmp(r->line, again.data + again.n - (size_t)n) != 0) {
			status = damaged(r, "its first lines do not fit their digest", call);
		} else {
			r->good = again.n;
			memcpy(r->chain, again.data + again.n - 1 - 2 * PCTL_DIGEST_BYTES,
			       PCTL_JOURNAL_CHAIN);
		}
	}
	r->head = pctl_str_finish(&head);
	if (status == PCTL_OK && r->head == NULL)
		status = pctl_no_memory(call, "a journal");
	pctl_str_drop(&again);
	return status;
}

pctl_status pctl_journal_read(const char *path, const pctl_call *call, pctl_journal_reader **out,
			      const char **head, pctl_shard *shard)
{
	pctl_journal_reader *r = calloc(1, sizeof(*r));
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (r == NULL || (r->path = strdup(path)) == NULL) {
		free(r);
		return pctl_no_memory(call, "a journal");
	}
	r->file = fopen(path, "re");
	if (r->file == NULL)
		status = pctl_journal_io(call, "read", path);
	if (status == PCTL_OK)
		status = read_head(r, call);
	if (status != PCTL_OK) {
		pctl_journal_read_end(r);
		return status;
	}
	*head = r->head;
	*shard = r->shard;
	*out = r;
	return PCTL_OK;
}

/* ---- lines -------------------------------------------------------------------------------- */

/* How many of the n bytes of the line are before its checksum, which they fit; 0: they do not. */
static pctl_status check_line(pctl_journal_reader *r, size_t n, const pctl_call *call,
			      size_t *n_body)
{
	char chain[PCTL_JOURNAL_CHAIN + 1];
	pctl_status status;
	size_t body;

	*n_body = 0;
	if (n < PCTL_JOURNAL_CHAIN + 3 || r->line[n - 1] != '\n' || memchr(r->line, 0, n) != NULL)
		return PCTL_OK;
	body = n - PCTL_JOURNAL_CHAIN - 2;
	memcpy(chain, r->chain, sizeof(chain));
	status = pctl_journal_chain(chain, r->line, body, call);
	if (status == PCTL_OK && r->line[body] == '\t' &&
	    memcmp(r->line + body + 1, chain, PCTL_JOURNAL_CHAIN) == 0) {
		memcpy(r->chain, chain, sizeof(chain));
		*n_body = body;
	}
	return status;
}

const char *pctl_journal_seeds(pctl_journal_reader *r)
{
	return r->seeds.failed ? NULL : r->seeds.data == NULL ? "" : r->seeds.data;
}

const char *pctl_journal_late_files(pctl_journal_reader *r)
{
	return r->late.failed ? NULL : r->late.data == NULL ? "" : r->late.data;
}

/* What is not about a block is kept; *is_entry 0. */
static pctl_status take_line(pctl_journal_reader *r, size_t n, const pctl_call *call,
			     pctl_journal_entry *out, int *is_entry)
{
	const pctl_call silent = {.head = PCTL_HEAD(pctl_call)};
	pctl_arena *arena = pctl_arena_create();
	pctl_journal_line l = {.kind = 0};
	pctl_status status = arena == NULL
				     ? PCTL_E_NOMEM
				     : pctl_record_read_exact(&pctl_journal_line_type, r->path,
							      r->line, n, arena, &silent, &l);

	*is_entry = l.kind <= PCTL_JOURNAL_NOT_RUN;
	if (status == PCTL_E_NOMEM)
		status = pctl_no_memory(call, "a journal");
	else if (status != PCTL_OK || (l.kind == PCTL_JOURNAL_SHAPES && !pctl_hex_is(l.seed, 16)) ||
		 (*is_entry && l.entry.number != pctl_shard_block(r->shard, r->n)) ||
		 (l.kind == PCTL_JOURNAL_FAILED) != (l.entry.block.failures != 0))
		status = damaged(r, "a line is not what this journal must have there", call);
	else if (l.kind == PCTL_JOURNAL_SHAPES)
		pctl_str_addf(&r->seeds, "%s%s", r->seeds.n == 0 ? "" : " ", l.seed);
	else if (l.kind == PCTL_JOURNAL_LATE)
		pctl_str_addf(&r->late, "%s\t%s\n", l.name, l.sha256);
	*out = l.entry;
	out->ran = l.kind <= PCTL_JOURNAL_FAILED;
	pctl_arena_destroy(arena);
	return status;
}

pctl_status pctl_journal_next(pctl_journal_reader *r, const pctl_call *call,
			      pctl_journal_entry *out, int *end)
{
	ssize_t n;
	size_t n_body;
	int is_entry;

	while ((n = getline(&r->line, &r->cap, r->file)) > 0) {
		pctl_status status = check_line(r, (size_t)n, call, &n_body);

		if (status != PCTL_OK)
			return status;
		if (n_body == 0) {
			/* One line may be torn: the last one. */
			*end = 1;
			return getc(r->file) == EOF
				       ? PCTL_OK
				       : damaged(r, "a line does not fit its checksum", call);
		}
		*end = 0;
		status = take_line(r, n_body, call, out, &is_entry);
		if (status != PCTL_OK)
			return status;
		r->good += (uint64_t)n;
		if (!is_entry)
			continue;
		r->n++;
		return PCTL_OK;
	}
	*end = 1;
	return ferror(r->file) ? pctl_journal_io(call, "read", r->path) : PCTL_OK;
}
