/* See gitlog_pack.h. The format: `man gitformat-pack`. */
#include "chain/history/gitlog_pack.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define HEAD_BYTES 12u
#define CHECKSUM_BYTES 20u
#define LEVEL 1 /* ids and CIDs hardly compress: more work saves a twentieth */

static void put32(char *to, uint32_t n)
{
	for (int i = 0; i < 4; i++)
		to[i] = (char)(n >> (24 - 8 * i));
}

void pctl_gitlog_pack_begin(pctl_gitlog_pack *p)
{
	char head[HEAD_BYTES] = "PACK";

	memset(p, 0, sizeof(*p));
	put32(head + 4, 2);
	pctl_str_add_n(&p->bytes, head, sizeof(head)); /* the count follows at the end */
}

/* Type and length: four bits of length beside the type, then seven a byte, least significant first. */
static void add_head(pctl_gitlog_pack *p, uint64_t n, git_object_t type)
{
	char head[16];
	size_t used = 0;

	head[used] = (char)((uint32_t)type << 4 | (uint32_t)(n & 15u));
	for (n >>= 4; n != 0; n >>= 7) {
		head[used++] |= (char)0x80;
		head[used] = (char)(n & 127u);
	}
	pctl_str_add_n(&p->bytes, head, used + 1u);
}

void pctl_gitlog_pack_add(pctl_gitlog_pack *p, const void *data, uint64_t n, git_object_t type)
{
	uLongf n_packed = compressBound((uLong)n);
	Bytef *packed = p->failed ? NULL : malloc(n_packed);

	if (packed == NULL || compress2(packed, &n_packed, data, (uLong)n, LEVEL) != Z_OK) {
		p->failed = 1;
	} else {
		add_head(p, n, type);
		pctl_str_add_n(&p->bytes, (const char *)packed, n_packed);
		p->n_objects++;
	}
	free(packed);
}

int pctl_gitlog_pack_end(pctl_gitlog_pack *p)
{
	unsigned char checksum[EVP_MAX_MD_SIZE];
	unsigned int n = 0;

	if (p->failed || p->bytes.failed)
		return 0;
	put32(p->bytes.data + 8, p->n_objects);
	if (EVP_Digest(p->bytes.data, p->bytes.n, checksum, &n, EVP_sha1(), NULL) != 1 ||
	    n != CHECKSUM_BYTES)
		return 0;
	pctl_str_add_n(&p->bytes, (const char *)checksum, CHECKSUM_BYTES);
	return !p->bytes.failed;
}

void pctl_gitlog_pack_drop(pctl_gitlog_pack *p)
{
	pctl_str_drop(&p->bytes);
}
