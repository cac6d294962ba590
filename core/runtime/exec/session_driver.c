/* Which driver a session runs on, by the bytes of what the kernel shows mapped: what stands for it where devices are counted
 * (evidence/audit/quorum.h). Names of files and plugins are not part of it. */
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/session_private.h"

#define HEX (2u * PCTL_DIGEST_BYTES)

/* The hash of a line "NAME<TAB>SHA-256", or NULL: what is not known to the byte is no evidence. */
static const char *hash_of(const char *line)
{
	const char *tab = strchr(line, '\t'), *end = strchr(line, '\n');

	return tab != NULL && end != NULL && tab < end && (size_t)(end - tab - 1) == HEX ? tab + 1
											 : NULL;
}

static int by_hash(const void *a, const void *b)
{
	return memcmp(*(const char *const *)a, *(const char *const *)b, HEX);
}

/* Pointers to every line's hash; 0 where one of them has none. */
static size_t list(const char *text, const char **out)
{
	size_t n = 0;

	for (const char *at = text; *at != '\0'; at = strchr(at, '\n') + 1) {
		out[n] = hash_of(at);
		if (out[n++] == NULL)
			return 0;
	}
	return n;
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += *text == '\n';
	return n;
}

pctl_status pctl_session_know_driver(pctl_session *s, const pctl_call *call)
{
	const char *text = s->libraries.data == NULL ? "" : s->libraries.data;
	const char **hashes = calloc(count_lines(text) + 1u, sizeof(*hashes));
	pctl_str_buf out = PCTL_STR_BUF_INIT;
	size_t n = 0;

	if (hashes == NULL)
		return pctl_no_memory(call, "a session");
	if (s->o.backend != NULL && pctl_backend_instance_icd(s->o.backend) != NULL)
		n = list(text, hashes);
	if (n != 0)
		qsort(hashes, n, sizeof(*hashes), by_hash);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || memcmp(hashes[i], hashes[i - 1], HEX) != 0)
			pctl_str_addf(&out, "%.*s\n", (int)HEX, hashes[i]);
	free(hashes);
	free(s->driver);
	s->driver = out.failed ? NULL : strdup(out.data == NULL ? "" : out.data);
	pctl_str_drop(&out);
	return s->driver == NULL ? pctl_no_memory(call, "a session") : PCTL_OK;
}

const char *pctl_session_driver(const pctl_session *s)
{
	return s->driver == NULL ? "" : s->driver;
}
