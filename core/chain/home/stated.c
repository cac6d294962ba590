/* Files of statements; see stated.h. */
#include "chain/home/stated.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/hex.h"
#include "foundation/base/num.h"

#define HEAD "pipectl-statement 1\n"
#define FILE_MAX 1024u
#define HEX_SIZE (2u * PCTL_MESSAGE_SIGNED_BYTES + 1u)

pctl_status pctl_stated_write(const char *dir, const uint8_t chain[PCTL_DIGEST_BYTES],
			      uint64_t height, const uint8_t root[PCTL_DIGEST_BYTES],
			      const pctl_signer *signer, const pctl_call *call)
{
	char path[4096], text[FILE_MAX], of[HEX_SIZE], to[HEX_SIZE], signature[PCTL_SIGNATURE_TEXT];
	uint8_t bytes[PCTL_STATEMENT_BYTES];
	pctl_status status;
	int n;

	if ((size_t)snprintf(path, sizeof(path), "%s/%" PRIu64 ".statement", dir, height) >=
	    sizeof(path))
		return pctl_refuse(call, PC3_IO, "%s: the path is too long", dir);
	pctl_statement_bytes(chain, height, root, bytes);
	status = pctl_signer_sign(signer, bytes, sizeof(bytes), call, signature);
	if (status != PCTL_OK)
		return status;
	pctl_hex_print(chain, PCTL_DIGEST_BYTES, of);
	pctl_hex_print(root, PCTL_DIGEST_BYTES, to);
	n = snprintf(text, sizeof(text),
		     HEAD "chain %s\nheight %" PRIu64 "\nroot %s\nkey %s\nsignature %s\n", of,
		     height, to, pctl_signer_public(signer), signature);
	return pctl_file_write(path, text, (uint64_t)n, 1, call);
}

/* The value of the next line, which begins with this word; NULL: it does not. Ends it with a NUL. */
static char *next(char **at, const char *word)
{
	const size_t n = strlen(word);
	char *value = *at + n, *end = strchr(*at, '\n');

	if (end == NULL || strncmp(*at, word, n) != 0)
		return NULL;
	*end = '\0';
	*at = end + 1;
	return value;
}

static int take_bytes(char **at, const char *word, uint8_t *to, uint32_t n)
{
	const char *value = next(at, word);

	return value != NULL && strlen(value) == 2u * n && pctl_hex_parse(value, n, to);
}

static int take_all(char *at, uint8_t *chain, uint8_t *root, uint8_t *key, uint8_t *signature,
		    uint64_t *height)
{
	const char *number;

	if (strncmp(at, HEAD, strlen(HEAD)) != 0)
		return 0;
	at += strlen(HEAD);
	if (!take_bytes(&at, "chain ", chain, PCTL_DIGEST_BYTES))
		return 0;
	number = next(&at, "height ");
	return number != NULL && pctl_num_parse_u64(number, strlen(number), height) &&
	       take_bytes(&at, "root ", root, PCTL_DIGEST_BYTES) &&
	       take_bytes(&at, "key ", key, PCTL_MESSAGE_KEY_BYTES) &&
	       take_bytes(&at, "signature ", signature, PCTL_MESSAGE_SIGNED_BYTES) && *at == '\0';
}

pctl_status pctl_stated_read(const char *path, const uint8_t chain[PCTL_DIGEST_BYTES],
			     pctl_arena *arena, const pctl_call *call, pctl_msg_statement *out)
{
	uint8_t *raw = pctl_arena_alloc(arena, 2 * PCTL_DIGEST_BYTES + PCTL_MESSAGE_KEY_BYTES +
						       PCTL_MESSAGE_SIGNED_BYTES);
	uint8_t *root = raw + PCTL_DIGEST_BYTES, *key = root + PCTL_DIGEST_BYTES,
		*signature = key + PCTL_MESSAGE_KEY_BYTES;
	char *text = NULL;
	uint64_t n = 0;
	pctl_status status = raw == NULL ? pctl_no_memory(call, "a statement")
					 : pctl_file_read(path, FILE_MAX, call, &text, &n);

	*out = (pctl_msg_statement){.sender = ""};
	if (status != PCTL_OK)
		return status;
	if (strlen(text) != n || !take_all(text, raw, root, key, signature, &out->height))
		status = pctl_refuse(call, PC6117_STATEMENT_SIGNED, "%s is no statement", path);
	else if (memcmp(raw, chain, PCTL_DIGEST_BYTES) != 0)
		status = pctl_refuse(call, PC6117_STATEMENT_SIGNED, "%s is of another chain", path);
	out->root = (pctl_msg_bytes){root, PCTL_DIGEST_BYTES};
	out->key = (pctl_msg_bytes){key, PCTL_MESSAGE_KEY_BYTES};
	out->signature = (pctl_msg_bytes){signature, PCTL_MESSAGE_SIGNED_BYTES};
	free(text);
	return status;
}
