/* Reading journals line by line, in constant memory. */
#include "evidence/certify/journal_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/hex.h"

#define HEAD_LIMIT (16u << 20)
#define FIELDS_MAX 12u

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
		status = pctl_refuse(call, PC2_NOMEM, "no memory for a journal");
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
		return pctl_refuse(call, PC2_NOMEM, "no memory for a journal");
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

/* ---- entries ------------------------------------------------------------------------------ */

static uint32_t split(char *line, char *fields[FIELDS_MAX])
{
	uint32_t n = 0;

	for (char *at = line; at != NULL && n < FIELDS_MAX; n++) {
		fields[n] = at;
		at = strchr(at, '\t');
		if (at != NULL)
			*at++ = '\0';
	}
	return n;
}

static int number(const char *text, uint64_t *out)
{
	return pctl_num_parse_u64(text, strlen(text), out);
}

static int parse_entry(char *line, pctl_journal_entry *out)
{
	char *f[FIELDS_MAX];
	const uint32_t n = split(line, f);
	pctl_block *b = &out->block;

	memset(out, 0, sizeof(*out));
	if (n == 3 && strcmp(f[0], "not-run") == 0 && number(f[1], &out->number)) {
		snprintf(out->cause, sizeof(out->cause), "%s", f[2]);
		return 1;
	}
	if (n < 7 || !number(f[1], &out->number) || !number(f[2], &b->cases) ||
	    !number(f[3], &b->failures) || !number(f[4], &b->skipped) ||
	    !pctl_digest_parse_hex(f[5], b->digest))
		return 0;
	out->ran = 1;
	snprintf(b->value, sizeof(b->value), "%s", f[6]);
	if (strcmp(f[0], "ran") == 0)
		return n == 7 && b->failures == 0;
	if (strcmp(f[0], "failed") != 0 || n != 12 || b->failures == 0)
		return 0;
	snprintf(b->first.inputs, sizeof(b->first.inputs), "%s", f[7]);
	snprintf(b->first.got, sizeof(b->first.got), "%s", f[8]);
	snprintf(b->first.want, sizeof(b->first.want), "%s", f[9]);
	snprintf(b->first.law, sizeof(b->first.law), "%s", f[10]);
	b->first.minimal = strcmp(f[11], "1") == 0;
	return 1;
}

/* 1: the n bytes of the line fit their checksum, which is cut off. */
static pctl_status check_line(pctl_journal_reader *r, size_t n, const pctl_call *call, int *good)
{
	char chain[PCTL_JOURNAL_CHAIN + 1];
	pctl_status status;
	size_t body;

	*good = 0;
	if (n < PCTL_JOURNAL_CHAIN + 3 || r->line[n - 1] != '\n' || memchr(r->line, 0, n) != NULL)
		return PCTL_OK;
	body = n - PCTL_JOURNAL_CHAIN - 2;
	memcpy(chain, r->chain, sizeof(chain));
	status = pctl_journal_chain(chain, r->line, body, call);
	*good = status == PCTL_OK && r->line[body] == '\t' &&
		memcmp(r->line + body + 1, chain, PCTL_JOURNAL_CHAIN) == 0;
	if (*good) {
		memcpy(r->chain, chain, sizeof(chain));
		r->line[body] = '\0';
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

/* 1: the line names a library, which is kept. */
static int take_late(pctl_journal_reader *r)
{
	const size_t n = sizeof(PCTL_JOURNAL_LATE) - 1;

	if (strncmp(r->line, PCTL_JOURNAL_LATE, n) != 0 || strchr(r->line + n, '\t') == NULL)
		return 0;
	pctl_str_addf(&r->late, "%s\n", r->line + n);
	return 1;
}

/* 1: the line is one of shapes, and its seed is kept. */
static int take_shapes(pctl_journal_reader *r)
{
	const size_t n = sizeof(PCTL_JOURNAL_SHAPES) - 1;

	if (strncmp(r->line, PCTL_JOURNAL_SHAPES, n) != 0 || !pctl_hex_is(r->line + n, 16))
		return 0;
	pctl_str_addf(&r->seeds, "%s%s", r->seeds.n == 0 ? "" : " ", r->line + n);
	return 1;
}

pctl_status pctl_journal_next(pctl_journal_reader *r, const pctl_call *call,
			      pctl_journal_entry *out, int *end)
{
	ssize_t n;
	int good = 0;

	while ((n = getline(&r->line, &r->cap, r->file)) > 0) {
		const pctl_status status = check_line(r, (size_t)n, call, &good);

		if (status != PCTL_OK)
			return status;
		if (!good) {
			/* One line may be torn: the last one. */
			*end = 1;
			return getc(r->file) == EOF
				       ? PCTL_OK
				       : damaged(r, "a line does not fit its checksum", call);
		}
		if (take_shapes(r) || take_late(r)) {
			r->good += (uint64_t)n;
			continue;
		}
		*end = 0;
		if (!parse_entry(r->line, out) || out->number != pctl_shard_block(r->shard, r->n))
			return damaged(r, "a line is not what this journal must have there", call);
		r->good += (uint64_t)n;
		r->n++;
		return PCTL_OK;
	}
	*end = 1;
	return ferror(r->file) ? pctl_journal_io(call, "read", r->path) : PCTL_OK;
}
