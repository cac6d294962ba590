/* How bytes stand that runs have stored: one small text file a CID, checked by a digest of its own. Beyond MOST runs the weakest
 * of the earlier ones goes to the key of zeros, so that nothing gets stronger by being forgotten. A note is read, added to and
 * replaced under the lock of its folder, DIR/made/XX/lock: of runs that store the same bytes at once every note stays. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "runtime/cas/codings.h"
#include "runtime/cas/memo_private.h"

#define MOST 64u
#define TEXT_MAX 16384u

typedef struct made_run {
	uint8_t key[PCTL_DIGEST_BYTES];
	pctl_evidence evidence;
} made_run;

struct made {
	uint32_t n;
	made_run runs[MOST];
};

static const pctl_record_field run_fields[] = {
	PCTL_RECORD_SIZED(HEX, "key", made_run, key, .means = "of the run; zeros: of several"),
	PCTL_RECORD_FIELD(CODED, "evidence", made_run, evidence, .coding = &pctl_evidence_coding,
			  .flags = PCTL_RECORD_REST, .means = "how its outputs stood")};
static const pctl_record_shape run =
	PCTL_RECORD_OF_LINES(run_fields, PCTL_RECORD_ROW, ' ', made_run);
static const pctl_record_field made_fields[] = {PCTL_RECORD_FIELD(
	LIST, "runs", struct made, runs, .n_at = offsetof(struct made, n), .bound = MOST,
	.flags = PCTL_RECORD_WITHIN, .of = &run, .means = "that stored the bytes")};
static const pctl_record_shape made_shape =
	PCTL_RECORD_OF_LINES(made_fields, PCTL_RECORD_LINES, ' ', struct made);
const pctl_record_type pctl_made_type = {
	.opening = "pipectl-made 1\n",
	.shape = &made_shape,
	.quoting = PCTL_RECORD_PLAIN,
	.form = PC5010_CAS_MEMO_RECORD,
	.contradicts = PC5010_CAS_MEMO_RECORD,
	.title = "How bytes stand",
	.where = "`memo/made/XX/DIGEST`; a line `sum` with the SHA-256 of those before it ends it; "
		 "what is not so is one run that nobody verified",
};

/* DIR/made/XX or DIR/made/XX/DIGEST; released with free(). */
static char *path_of(const pctl_memo *m, const pctl_cid *cid, int whole)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char hex[2 * PCTL_DIGEST_BYTES + 1];

	pctl_digest_hex(cid->digest, hex);
	pctl_str_addf(&s, "%s/made/%.2s", m->path, hex);
	if (whole)
		pctl_str_addf(&s, "/%s", hex);
	return pctl_str_finish(&s);
}

/* 0: nothing is known. What cannot be read is one run that was not verified. */
static int read_made(const char *path, struct made *out)
{
	*out = (struct made){.n = 0};
	if (pctl_file_exists(path) &&
	    (!pctl_memo_read(&pctl_made_type, path, TEXT_MAX, out, sizeof(*out)) || out->n == 0))
		out->n = 1;
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
	pctl_status status = dir == NULL || path == NULL || made == NULL
				     ? pctl_no_memory(call, "a note of a result")
				     : pctl_file_make_dirs(dir, call);
	int lock = -1;

	if (status == PCTL_OK && (lock = lock_folder(dir, call)) < 0)
		status = PCTL_E_IO;
	if (status == PCTL_OK) {
		(void)read_made(path, made);
		add(made, key, e);
		text = pctl_memo_seal(&pctl_made_type, made);
		status = text == NULL ? pctl_no_memory(call, "a note of a result")
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
