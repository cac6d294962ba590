/* How trees and commits of the log are spelled, byte for byte, and which names and messages they may hold. What is
 * written is made here, and what is verified is held against what is made here. */
#include "chain/history/gitlog_private.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/hex.h"

char *pctl_gitlog_oid_format(const pctl_gitlog_oid *oid, char buf[PCTL_GITLOG_OID_TEXT_SIZE])
{
	return pctl_hex_print(oid->id, PCTL_GITLOG_OID_BYTES, buf);
}

int pctl_gitlog_oid_parse(const char *text, pctl_gitlog_oid *out)
{
	memset(out, 0, sizeof(*out));
	return pctl_hex_is(text, 2 * PCTL_GITLOG_OID_BYTES) &&
	       pctl_hex_parse(text, PCTL_GITLOG_OID_BYTES, out->id);
}

/* By OpenSSL, which uses the processor's instructions for it; libgit2 looks for attacks on SHA-1 with each block of bytes, as `git fsck` does later. */
int pctl_gitlog_object_id(const char *kind, const void *data, uint64_t n,
			  uint8_t out[PCTL_GITLOG_OID_BYTES])
{
	char head[40];
	const int n_head = snprintf(head, sizeof(head), "%s %" PRIu64, kind, n);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	const int is_done = ctx != NULL && EVP_DigestInit_ex(ctx, EVP_sha1(), NULL) &&
			    EVP_DigestUpdate(ctx, head, (size_t)n_head + 1) &&
			    (n == 0 || EVP_DigestUpdate(ctx, data, n)) &&
			    EVP_DigestFinal_ex(ctx, out, NULL);

	EVP_MD_CTX_free(ctx);
	return is_done;
}

int pctl_gitlog_name_ok(const char *name, uint32_t n)
{
	if (n == 0 || n > PCTL_GITLOG_NAME_MAX || name[0] == '.' || name[0] == '-')
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		const char c = name[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '.' || c == '_' || c == '-'))
			return 0;
	}
	return 1;
}

int pctl_gitlog_message_ok(const char *message)
{
	for (const char *c = message; *c != '\0'; c++)
		if (*c != '\n' && (*c < ' ' || *c > '~'))
			return 0;
	return message[0] != '\0';
}

/* ---- trees -------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	const pctl_gitlog_entry *x = a, *y = b;
	const uint32_t n = x->n_name < y->n_name ? x->n_name : y->n_name;
	const int order = memcmp(x->name, y->name, n);

	return order != 0 ? order : (x->n_name > y->n_name) - (x->n_name < y->n_name);
}

/* The byte behind a name is what git sorts by when one name begins the other: a folder's is '/'. */
static int byte_at(const pctl_gitlog_entry *e, uint32_t at)
{
	return at < e->n_name		       ? (unsigned char)e->name[at]
	       : e->is_tree && at == e->n_name ? '/'
					       : 0;
}

static int as_git_sorts(const void *a, const void *b)
{
	const pctl_gitlog_entry *x = a, *y = b;
	const uint32_t n = x->n_name < y->n_name ? x->n_name : y->n_name;
	const int order = memcmp(x->name, y->name, n);

	return order != 0 ? order : byte_at(x, n) - byte_at(y, n);
}

int pctl_gitlog_unique(pctl_gitlog_entry *entries, uint32_t n)
{
	qsort(entries, n, sizeof(*entries), by_name);
	for (uint32_t i = 1; i < n; i++)
		if (by_name(&entries[i - 1], &entries[i]) == 0)
			return 0;
	return 1;
}

char *pctl_gitlog_spell_tree(pctl_gitlog_entry *entries, uint32_t n, size_t *n_out)
{
	size_t size = 0;
	char *text, *at;

	*n_out = 0;
	qsort(entries, n, sizeof(*entries), as_git_sorts);
	for (uint32_t i = 0; i < n; i++)
		size += sizeof("100644 ") + entries[i].n_name + GIT_OID_RAWSZ;
	text = malloc(size + 1);
	if (text == NULL)
		return NULL;
	at = text;
	for (uint32_t i = 0; i < n; i++) {
		at = stpcpy(at, entries[i].is_tree ? "40000 " : "100644 ");
		memcpy(at, entries[i].name, entries[i].n_name);
		at += entries[i].n_name;
		*at++ = '\0';
		memcpy(at, entries[i].oid.id, GIT_OID_RAWSZ);
		at += GIT_OID_RAWSZ;
	}
	*n_out = (size_t)(at - text);
	return text;
}

/* ---- commits ------------------------------------------------------------------------------ */

char *pctl_gitlog_spell_commit(const git_oid *tree, const git_oid *parent, uint64_t clock,
			       const char *message, size_t *n_out)
{
	const size_t n_message = strlen(message), size = n_message + 512;
	const char *end = n_message > 0 && message[n_message - 1] == '\n' ? "" : "\n";
	char *text = malloc(size), tree_hex[GIT_OID_HEXSZ + 1], parent_line[64] = "";

	*n_out = 0;
	if (text == NULL)
		return NULL;
	git_oid_tostr(tree_hex, sizeof(tree_hex), tree);
	if (parent != NULL) {
		char hex[GIT_OID_HEXSZ + 1];

		snprintf(parent_line, sizeof(parent_line), "parent %s\n",
			 git_oid_tostr(hex, sizeof(hex), parent));
	}
	*n_out = (size_t)snprintf(
		text, size,
		"tree %s\n%s"
		"author " PCTL_GITLOG_WHO " <" PCTL_GITLOG_MAIL "> %" PRIu64 " +0000\n"
		"committer " PCTL_GITLOG_WHO " <" PCTL_GITLOG_MAIL "> %" PRIu64 " +0000\n"
		"\n%s%s",
		tree_hex, parent_line, clock, clock, message, end);
	return text;
}
