/* How bytes stand that runs have stored: one small text file a CID, checked by a digest of its own.
 *
 *   pipectl-made 1
 *   KEY EVIDENCE            (one a run that stored them)
 *   sum HEX
 *
 * Beyond MOST runs the weakest of the earlier ones goes to the key of zeros, so that nothing gets stronger by being
 * forgotten. A note is read, added to and replaced under the lock of its folder, DIR/made/XX/lock: of runs that store the
 * same bytes at once every note stays. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "runtime/cas/memo_private.h"

#define MAGIC "pipectl-made 1\n"
#define MOST 64u
#define TEXT_MAX 16384u
#define HEX (2 * PCTL_DIGEST_BYTES)

struct made {
	uint32_t n;
	struct {
		uint8_t key[PCTL_DIGEST_BYTES];
		pctl_evidence evidence;
	} runs[MOST];
};

/* DIR/made/XX or DIR/made/XX/DIGEST; released with free(). */
static char *path_of(const pctl_memo *m, const pctl_cid *cid, int whole)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char hex[HEX + 1];

	pctl_digest_hex(cid->digest, hex);
	pctl_str_addf(&s, "%s/made/%.2s", m->path, hex);
	if (whole)
		pctl_str_addf(&s, "/%s", hex);
	return pctl_str_finish(&s);
}

static int decode(char *text, size_t n, struct made *out)
{
	char *line;

	if (!pctl_memo_sealed(text, n) || strncmp(text, MAGIC, strlen(MAGIC)) != 0)
		return 0;
	text += strlen(MAGIC);
	for (line = pctl_memo_line(&text); line != NULL && strncmp(line, "sum ", 4) != 0;
	     line = pctl_memo_line(&text)) {
		if (out->n == MOST || strlen(line) <= HEX || line[HEX] != ' ')
			return 0;
		line[HEX] = '\0';
		if (!pctl_digest_parse_hex(line, out->runs[out->n].key) ||
		    !pctl_evidence_parse(line + HEX + 1, &out->runs[out->n].evidence))
			return 0;
		out->n++;
	}
	return line != NULL && *text == '\0';
}

/* 0: nothing is known. What cannot be read is one run that was not verified. */
static int read_made(const char *path, struct made *out)
{
	char *text = NULL;
	uint64_t n = 0;

	*out = (struct made){.n = 0};
	if (!pctl_file_exists(path))
		return 0;
	if (pctl_file_read(path, TEXT_MAX, NULL, &text, &n) != PCTL_OK ||
	    !decode(text, (size_t)n, out) || out->n == 0) {
		*out = (struct made){.n = 1};
	}
	free(text);
	return out->n != 0;
}

int pctl_memo_made(pctl_memo *m, const pctl_cid *cid, pctl_evidence *out)
{
	struct made *made = malloc(sizeof(*made));
	char *path = path_of(m, cid, 1);
	int known = 1;

	*out = (pctl_evidence){.kind = PCTL_EVIDENCE_NONE};
	if (made != NULL && path != NULL) {
		known = read_made(path, made);
		if (known)
			*out = made->runs[0].evidence;
		for (uint32_t i = 1; i < made->n; i++)
			*out = pctl_evidence_weaker(*out, made->runs[i].evidence);
	}
	free(path);
	free(made);
	return known;
}

static void add(struct made *made, const uint8_t key[PCTL_DIGEST_BYTES], pctl_evidence e)
{
	uint32_t i = 0;

	while (i < made->n && memcmp(made->runs[i].key, key, PCTL_DIGEST_BYTES) != 0)
		i++;
	if (i == made->n && made->n == MOST) {
		pctl_evidence weakest = made->runs[0].evidence;

		for (i = 1; i < MOST; i++)
			weakest = pctl_evidence_weaker(weakest, made->runs[i].evidence);
		*made = (struct made){.n = 1};
		made->runs[0].evidence = weakest;
		i = 1;
	}
	if (i < made->n && pctl_evidence_compare(made->runs[i].evidence, e) >= 0)
		return;
	made->n += i == made->n;
	memcpy(made->runs[i].key, key, PCTL_DIGEST_BYTES);
	made->runs[i].evidence = e;
}

static char *encode(const struct made *made)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char hex[HEX + 1], text[PCTL_EVIDENCE_TEXT];

	pctl_str_add(&s, MAGIC);
	for (uint32_t i = 0; i < made->n; i++)
		pctl_str_addf(&s, "%s %s\n", pctl_digest_hex(made->runs[i].key, hex),
			      pctl_evidence_text(made->runs[i].evidence, text));
	return pctl_memo_seal(&s);
}

/* The folder's lock, to be closed; -1: PC0003. Whoever holds it only reads and writes one small file. */
static int lock_folder(const char *dir, const pctl_call *call)
{
	char *path = pctl_path_join(dir, "lock");
	int fd = path == NULL ? -1 : open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);

	while (fd >= 0 && flock(fd, LOCK_EX) != 0)
		if (errno != EINTR) {
			close(fd);
			fd = -1;
		}
	if (fd < 0)
		(void)pctl_refuse(call, PC3_IO, "cannot lock %s: %s", dir, strerror(errno));
	free(path);
	return fd;
}

pctl_status pctl_memo_made_put(pctl_memo *m, const pctl_cid *cid,
			       const uint8_t key[PCTL_DIGEST_BYTES], pctl_evidence e,
			       const pctl_call *call)
{
	char *dir = path_of(m, cid, 0), *path = path_of(m, cid, 1), *text = NULL;
	struct made *made = malloc(sizeof(*made));
	pctl_status status =
		dir == NULL || path == NULL || made == NULL
			? pctl_refuse(call, PC2_NOMEM, "no memory for a note of a result")
			: pctl_file_make_dirs(dir, call);
	int lock = -1;

	if (status == PCTL_OK && (lock = lock_folder(dir, call)) < 0)
		status = PCTL_E_IO;
	if (status == PCTL_OK) {
		(void)read_made(path, made);
		add(made, key, e);
		text = encode(made);
		status = text == NULL
				 ? pctl_refuse(call, PC2_NOMEM, "no memory for a note of a result")
				 : pctl_file_write(path, text, strlen(text), 0, call);
	}
	if (lock >= 0)
		close(lock);
	free(text);
	free(made);
	free(path);
	free(dir);
	return status;
}
