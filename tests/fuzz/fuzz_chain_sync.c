/* Any bytes as a proof of a row (after `p`), or as a root and a chunk of a snapshot (after `c`): refused, or a chunk that writing gives again.
 * What a proof says is held against a block that it names itself, so that the search goes past the last step. */
#include <stdlib.h>
#include <string.h>

#include "chain/sync/snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void proof(const char *text, size_t n, pctl_arena *a)
{
	pctl_trusted trusted = {.is_root = 1};
	pctl_row_proof p;
	pctl_block_header header;

	if (pctl_row_proof_read("fuzz", text, n, a, NULL, &p) != PCTL_OK)
		return;
	(void)pctl_record_is_trusted("fuzz", PC6145_TREE_PROOF_FALSE, &p.header, p.files, p.n_files,
				     &p.commit, &p.entries, &trusted, NULL, &header);
	memcpy(trusted.root, header.root, sizeof(trusted.root));
	(void)pctl_row_proof_check("fuzz", &p, &trusted, NULL);
	trusted.is_root = 0;
	if (pctl_row_proof_check("fuzz", &p, &trusted, NULL) == PCTL_OK)
		abort(); /* no commit has the id of zeros */
}

static void chunk(const uint8_t *data, size_t n, pctl_arena *a)
{
	pctl_radix *t;
	pctl_chunk c;
	pctl_str_buf again = PCTL_STR_BUF_INIT;

	if (n < PCTL_DIGEST_BYTES || pctl_radix_hasher(NULL, &t) != PCTL_OK)
		return;
	if (pctl_chunk_read("fuzz", data + PCTL_DIGEST_BYTES, n - PCTL_DIGEST_BYTES, data, t, a,
			    NULL, &c) == PCTL_OK &&
	    (pctl_chunk_text(&c, NULL, &again) != PCTL_OK || again.n != n - PCTL_DIGEST_BYTES ||
	     memcmp(again.data, data + PCTL_DIGEST_BYTES, again.n) != 0))
		abort();
	pctl_str_drop(&again);
	pctl_radix_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	pctl_arena *a = pctl_arena_create();

	if (a == NULL)
		abort();
	if (n > 0 && data[0] == 'p')
		proof((const char *)data + 1, n - 1, a);
	else if (n > 0)
		chunk(data + 1, n - 1, a);
	pctl_arena_destroy(a);
	return 0;
}
