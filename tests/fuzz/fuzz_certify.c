/* Any bytes, sealed, as a certificate; bare as the head of one, as a list of units, as a journal and as a file of kept
 * counterexamples: refused, or what is read can be written. The first byte chooses. */
#include "evidence/certify/certificate.h"
#include "evidence/certify/journal_private.h"
#include "evidence/certify/regressions.h"
#include "runtime/cas/cid.h"
#include "sealed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void certificate(const uint8_t *data, size_t n)
{
	pctl_certificate *c = NULL;
	size_t n_sealed;
	char *sealed = fuzz_seal(data, n, &n_sealed);

	if ((pctl_certificate_read(fuzz_file(sealed, n_sealed), NULL, &c) == PCTL_OK) !=
	    (c != NULL))
		abort();
	pctl_certificate_destroy(c);
	free(sealed);
}

static void read_journal(const char *text, size_t n)
{
	pctl_journal_reader *r = NULL;
	pctl_journal_entry e;
	pctl_shard shard;
	const char *head;
	int end = 0;

	if (pctl_journal_read(fuzz_file(text, n), NULL, &r, &head, &shard) != PCTL_OK)
		return;
	while (!end && pctl_journal_next(r, NULL, &e, &end) == PCTL_OK)
		if (!end && e.ran == 0 && strnlen(e.cause, sizeof(e.cause)) == sizeof(e.cause))
			abort();
	pctl_journal_read_end(r);
}

/* The bytes as they are, and each line under its checksum, behind a head that is right. */
static void journal(char *text, size_t n)
{
	static const pctl_shard shard = {1, 1};
	pctl_str_buf whole = PCTL_STR_BUF_INIT;
	char chain[PCTL_JOURNAL_CHAIN + 1] = "", *line = text, *stop;

	read_journal(text, n);
	if (pctl_journal_head("device\tfuzz\n", shard, NULL, &whole) != PCTL_OK)
		abort();
	memcpy(chain, whole.data + whole.n - 1 - 2 * PCTL_DIGEST_BYTES, PCTL_JOURNAL_CHAIN);
	while ((stop = strchr(line, '\n')) != NULL) {
		const size_t length = (size_t)(stop - line);

		if (pctl_journal_chain(chain, line, length, NULL) != PCTL_OK)
			abort();
		pctl_str_add_n(&whole, line, length);
		pctl_str_addf(&whole, "\t%s\n", chain);
		line = stop + 1;
	}
	pctl_str_add(&whole, line);
	read_journal(whole.data, whole.n);
	pctl_str_drop(&whole);
}

static void regressions(const char *text, size_t n)
{
	pctl_arena *arena = pctl_arena_create();
	const char *path = fuzz_file(text, n), *const * lines;
	uint32_t count = 0;

	if (pctl_regressions_load(&path, 1, arena, NULL, &lines, &count) == PCTL_OK)
		for (uint32_t i = 0; i < count; i++)
			if (*lines[i] == '\0' || strchr(lines[i], '\n') != NULL)
				abort();
	pctl_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text;

	if (n == 0)
		return 0;
	text = malloc(n);
	if (text == NULL)
		abort();
	memcpy(text, data + 1, n - 1);
	text[n - 1] = '\0';
	switch (data[0] % 3) {
	case 0:
		certificate(data + 1, n - 1);
		break;
	case 1:
		journal(text, n - 1);
		break;
	default:
		regressions(text, n - 1);
	}
	free(text);
	return 0;
}
