/* Any bytes, under their sum, as the record of a run in the memo table and as the note of how bytes stand: nothing is
 * found, or a record all of whose texts end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/cas/memo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* DIR/00/000.. and DIR/made/00/000.., for the key and the CID of zeros. */
static char dir[] = "/tmp/pipectl-fuzz-XXXXXX", paths[2][256];

static void clean(void)
{
	static const char *const folders[] = {"/00", "/made/00", "/made", ""};
	char path[256];

	unlink(paths[0]);
	unlink(paths[1]);
	for (uint32_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s%s", dir, folders[i]);
		rmdir(path);
	}
}

static pctl_memo *begin(void)
{
	/* What the corpus's record says a run gave. */
	static const uint8_t output[400];
	pctl_store *store = NULL;
	pctl_memo *m = NULL;
	char path[256];
	pctl_cid cid;

	if (mkdtemp(dir) == NULL || pctl_store_open_memory(NULL, &store) != PCTL_OK ||
	    pctl_store_put(store, output, sizeof(output), NULL, &cid) != PCTL_OK ||
	    pctl_memo_open(dir, store, NULL, &m) != PCTL_OK)
		abort();
	for (uint32_t i = 0; i < 2; i++) {
		if (i == 1) {
			snprintf(path, sizeof(path), "%s/made", dir);
			mkdir(path, 0700);
		}
		snprintf(path, sizeof(path), "%s%s/00", dir, i ? "/made" : "");
		mkdir(path, 0700);
		snprintf(paths[i], sizeof(paths[i]), "%.*s/%064d", (int)sizeof(paths[i]) - 70, path,
			 0);
	}
	atexit(clean);
	return m;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static pctl_memo_record r;
	static pctl_memo *m;
	static const uint8_t key[PCTL_DIGEST_BYTES];
	const pctl_cid cid = {{0}};
	pctl_cid sum;
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	pctl_evidence e;

	if (m == NULL)
		m = begin();
	if (pctl_cid_of(data, n, NULL, &sum) != PCTL_OK)
		abort();
	pctl_digest_hex(sum.digest, hex);
	for (uint32_t i = 0; i < 2; i++) {
		FILE *f = fopen(paths[i], "wb");

		if (f == NULL || fwrite(data, 1, n, f) != n || fprintf(f, "sum %s\n", hex) < 0)
			abort();
		fclose(f);
	}
	if (pctl_memo_get(m, key, &r))
		for (uint32_t i = 0; i < r.n_plugins; i++)
			if (strnlen(r.plugins[i].name, sizeof(r.plugins[i].name)) ==
				    sizeof(r.plugins[i].name) ||
			    strnlen(r.plugins[i].id, sizeof(r.plugins[i].id)) ==
				    sizeof(r.plugins[i].id))
				abort();
	/* What cannot be read is one run that nobody verified. */
	if (!pctl_memo_made(m, &cid, &e))
		abort();
	return 0;
}
