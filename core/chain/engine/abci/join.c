/* Coming in by a snapshot; see join.h. */
#include "chain/engine/abci/join.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chain/accounts/account.h"
#include "chain/home/adopt.h"
#include "foundation/base/file.h"

#define PATH_SIZE 4096u
#define HEAD_MAX       \
	((uint64_t)256 \
	 << 20) /* bytes of index and record, before they are held against the block */

/*
 * n_head   bytes of index and record that came
 * next     number of the parcel that comes next; tries: how often each was wrong
 * rejected digests of offers, the oldest replaced first
 */
struct pctl_abci_join {
	pctl_abci_join_options o;
	char incoming[PATH_SIZE], files[PATH_SIZE];
	pctl_arena *arena; /* of the offer */
	pctl_offer offer;
	pctl_trusted trusted;
	uint8_t digest[PCTL_DIGEST_BYTES];
	pctl_chain *chain;
	pctl_restore *restore;
	pctl_snapshot_report report;
	uint64_t n_head;
	uint32_t next, n_rejected;
	uint8_t *tries;
	uint8_t rejected[PCTL_ABCI_REJECTED][PCTL_DIGEST_BYTES];
};

/* ---- opening -------------------------------------------------------------------------------- */

pctl_status pctl_abci_join_open(const pctl_abci_join_options *o, const pctl_call *call,
				pctl_abci_join **out)
{
	pctl_abci_join *j = calloc(1, sizeof(*j));

	*out = j;
	if (j == NULL)
		return pctl_no_memory(call, "a join");
	j->o = *o;
	if ((size_t)snprintf(j->incoming, PATH_SIZE, "%s/" PCTL_HOME_INCOMING, o->dir) <
		    PATH_SIZE &&
	    (size_t)snprintf(j->files, PATH_SIZE, "%s/" PCTL_HOME_INCOMING "/files", o->dir) <
		    PATH_SIZE)
		return PCTL_OK;
	free(j);
	*out = NULL;
	return pctl_refuse(call, PC3_IO, "%s: the path is too long", o->dir);
}

/* What was offered is let go; what of it is on the disk stays. */
static void let_go(pctl_abci_join *j)
{
	pctl_restore_close(j->restore);
	pctl_chain_close(j->chain);
	pctl_arena_destroy(j->arena);
	free(j->tries);
	j->restore = NULL;
	j->chain = NULL;
	j->arena = NULL;
	j->tries = NULL;
	j->next = 0;
	j->n_head = 0;
}

void pctl_abci_join_close(pctl_abci_join *j)
{
	if (j == NULL)
		return;
	let_go(j);
	free(j);
}

pctl_status pctl_abci_join_forget(pctl_abci_join *j, const pctl_call *call)
{
	let_go(j);
	return pctl_home_remove(j->incoming, call);
}

static void say(pctl_join_answer *out, uint32_t what, uint32_t code, const char *text)
{
	out->what = what;
	out->code = code;
	snprintf(out->text, sizeof(out->text), "%s", text);
}

/* ---- an offer ------------------------------------------------------------------------------- */

static int was_rejected(const pctl_abci_join *j, const uint8_t digest[PCTL_DIGEST_BYTES])
{
	for (uint32_t i = 0; i < j->n_rejected && i < PCTL_ABCI_REJECTED; i++)
		if (memcmp(j->rejected[i], digest, PCTL_DIGEST_BYTES) == 0)
			return 1;
	return 0;
}

/* All of it is wrong, whoever it comes from: nothing stays, and it is not taken again. */
static void reject(pctl_abci_join *j, pctl_join_answer *out, uint32_t code, const char *text)
{
	memcpy(j->rejected[j->n_rejected++ % PCTL_ABCI_REJECTED], j->digest, PCTL_DIGEST_BYTES);
	let_go(j);
	(void)pctl_home_remove(j->incoming, NULL);
	say(out, PCTL_JOIN_LIE, code, text);
}

static int is_digest(const pctl_msg_bytes *b)
{
	return b->n == PCTL_DIGEST_BYTES;
}

/* Everything that can be known of an offer before a byte of it is asked for. */
static pctl_status judge(pctl_abci_join *j, const pctl_join_offer *o, const pctl_call *call)
{
	pctl_cid digest;
	pctl_status status;

	if (!is_digest(&o->digest) || !is_digest(&o->hash))
		return pctl_refuse(call, PC6184_ENGINE_SNAPSHOT, "a hash of it has no 32 bytes");
	if (was_rejected(j, o->digest.data))
		return pctl_refuse(call, PC6184_ENGINE_SNAPSHOT, "it was rejected before");
	status = pctl_cid_of(o->text.data, o->text.n, call, &digest);
	if (status == PCTL_OK && memcmp(digest.digest, o->digest.data, PCTL_DIGEST_BYTES) != 0)
		status = pctl_refuse(call, PC6184_ENGINE_SNAPSHOT,
				     "its hash is not that of its description");
	if (status == PCTL_OK)
		status = pctl_offer_read(o->text.data, o->text.n, j->arena, call, &j->offer);
	if (status == PCTL_OK &&
	    (j->offer.height != o->height || j->offer.n_parcels != o->n_parcels))
		status = pctl_refuse(call, PC6184_ENGINE_SNAPSHOT,
				     "it is described with another height or number of chunks");
	j->trusted = (pctl_trusted){.is_root = 1};
	memcpy(j->trusted.root, o->hash.data, PCTL_DIGEST_BYTES);
	memcpy(j->digest, o->digest.data, PCTL_DIGEST_BYTES);
	return status == PCTL_OK ? pctl_offer_check(&j->offer, &j->trusted, call) : status;
}

/* Does the disk have a part of this very offer? */
static int is_begun(const pctl_msg_bytes *text, const char *path)
{
	char *bytes = NULL;
	uint64_t n = 0;
	const int same = pctl_file_exists(path) &&
			 pctl_file_read(path, PCTL_OFFER_MAX, NULL, &bytes, &n) == PCTL_OK &&
			 n == text->n && memcmp(bytes, text->data, n) == 0;

	free(bytes);
	return same;
}

static pctl_status prepare(pctl_abci_join *j, const pctl_msg_bytes *text, const pctl_call *call)
{
	pctl_chain_options o = {
		.dir = j->incoming, .store = j->o.store, .kernels = j->o.kernels, .is_bare = 1};
	char path[PATH_SIZE + 16u], blobs[PATH_SIZE + 16u];
	pctl_status status = PCTL_OK;

	snprintf(path, sizeof(path), "%s/offer", j->incoming);
	snprintf(blobs, sizeof(blobs), "%s/blobs", j->files);
	if (!is_begun(text, path)) {
		status = pctl_home_remove(j->incoming, call);
		if (status == PCTL_OK)
			status = pctl_file_make_dirs(j->incoming, call);
		if (status == PCTL_OK)
			status = pctl_file_write(path, text->data, text->n, 1, call);
	}
	if (status == PCTL_OK)
		status = pctl_file_make_dirs(blobs, call);
	j->tries = calloc(j->offer.n_parcels + (size_t)1, 1);
	if (status == PCTL_OK && j->tries == NULL)
		status = pctl_no_memory(call, "a join");
	return status == PCTL_OK ? pctl_chain_open(&o, call, &j->chain) : status;
}

pctl_status pctl_abci_join_offer(pctl_abci_join *j, const pctl_join_offer *o, const pctl_call *call,
				 pctl_join_answer *out)
{
	node_first_error e;
	const pctl_call first = node_keep_first(&e, call);
	pctl_status status;

	memset(out, 0, sizeof(*out));
	let_go(j);
	if (o->format != PCTL_PARCEL_FORMAT) {
		say(out, PCTL_JOIN_REJECT_FORMAT, PC6184_ENGINE_SNAPSHOT,
		    "its format is not known here");
		return PCTL_OK;
	}
	j->arena = pctl_arena_create();
	if (j->arena == NULL)
		return pctl_no_memory(call, "a join");
	status = judge(j, o, &first);
	if (status != PCTL_OK && e.code == PC6184_ENGINE_SNAPSHOT) {
		let_go(j);
		say(out, PCTL_JOIN_REJECT, e.code, e.text);
		return PCTL_OK;
	}
	if (status == PCTL_OK)
		status = prepare(j, &o->text, &first);
	if (status == PCTL_OK)
		return PCTL_OK;
	let_go(j);
	return pctl_refuse(call, e.code == 0 ? PC1_INTERNAL : e.code, "%s", e.text);
}

/* ---- a parcel ------------------------------------------------------------------------------- */

static pctl_status is_wrong(const pctl_call *call, const char *what)
{
	return pctl_refuse(call, PC6185_ENGINE_CHUNK, "%s", what);
}

static int is_head(const char *name)
{
	return strcmp(name, "snapshot") == 0 || strncmp(name, "record-", 7) == 0;
}

/* May this part be written: what nothing asks for takes no room. */
static pctl_status admit(pctl_abci_join *j, const pctl_parcel_part *part, const pctl_call *call)
{
	const char *next;
	int wanted;
	pctl_status status = PCTL_OK;

	if (is_head(part->name)) {
		j->n_head += part->n;
		return j->restore != NULL || j->n_head > HEAD_MAX
			       ? is_wrong(call, "parts of its record come late, or are too many")
			       : PCTL_OK;
	}
	/* Behind its record everything is held against it. */
	if (j->restore == NULL)
		status = pctl_restore_open(j->chain, j->files, &j->trusted, 1, call, &j->report,
					   &j->restore);
	if (status != PCTL_OK || pctl_restore_was_whole(j->restore))
		return status;
	next = pctl_restore_next(j->restore);
	if (strncmp(part->name, "rows-", 5) == 0)
		return next == NULL || strcmp(next, part->name) != 0
			       ? is_wrong(call, "its rows are not those that come next")
			       : PCTL_OK;
	status = pctl_restore_wants(j->restore, part->name + strlen("blobs/"), call, &wanted);
	return status == PCTL_OK && !wanted
		       ? is_wrong(call, "it has bytes that the state does not ask for")
		       : status;
}

static pctl_status write_part(const char *path, const pctl_parcel_part *part, const pctl_call *call)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat st;
	uint32_t done = 0;
	pctl_status status = PCTL_OK;

	if (fd < 0 || fstat(fd, &st) != 0)
		status = pctl_refuse(call, PC3_IO, "%s: %s", path, strerror(errno));
	else if ((uint64_t)st.st_size < part->at)
		status = is_wrong(call, "a part of a file comes before those in front of it");
	else if (ftruncate(fd, (off_t)part->at) != 0)
		status = pctl_refuse(call, PC3_IO, "%s: %s", path, strerror(errno));
	while (status == PCTL_OK && done < part->n) {
		const ssize_t n =
			pwrite(fd, part->bytes + done, part->n - done, (off_t)(part->at + done));

		if (n < 0 && errno != EINTR)
			status = pctl_refuse(call, PC3_IO, "%s: %s", path, strerror(errno));
		done += n > 0 ? (uint32_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	return status;
}

static pctl_status check_blob(const char *path, const char *name, const pctl_call *call)
{
	char *bytes = NULL;
	uint64_t n = 0;
	pctl_cid wanted, is;
	pctl_status status = pctl_cid_read(name, call, &wanted);

	if (status == PCTL_OK)
		status = pctl_file_read(path, HEAD_MAX, call, &bytes, &n);
	if (status == PCTL_OK)
		status = pctl_cid_of(bytes, n, call, &is);
	free(bytes);
	return status == PCTL_OK && pctl_cid_compare(&is, &wanted) != 0
		       ? is_wrong(call, "bytes of it have another CID")
		       : status;
}

static pctl_status take_part(pctl_abci_join *j, const pctl_parcel_part *part, const pctl_call *call)
{
	char path[PATH_SIZE + 128u];
	int more;
	pctl_status status = admit(j, part, call);

	/* Ended between the last row and the home's turn to it: there is all of it. */
	if (status == PCTL_OK && !is_head(part->name) && pctl_restore_was_whole(j->restore))
		return PCTL_OK;
	snprintf(path, sizeof(path), "%s/%s", j->files, part->name);
	if (status == PCTL_OK)
		status = write_part(path, part, call);
	if (status != PCTL_OK || part->at + part->n != part->whole || is_head(part->name))
		return status;
	if (strncmp(part->name, "rows-", 5) != 0)
		return check_blob(path, part->name + strlen("blobs/"), call);
	status = pctl_restore_take(j->restore, call, &more);
	(void)unlink(path);
	return status;
}

/* The chain is whole: it is that of this home, and takes its place. */
static pctl_status end(pctl_abci_join *j, const pctl_call *call)
{
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_status status = j->restore == NULL ? is_wrong(call, "there are no rows in it")
						: pctl_restore_finish(j->restore, call);

	if (status == PCTL_OK)
		status = pctl_chain_id(pctl_cursor(j->chain), call, id);
	if (status == PCTL_OK && memcmp(id, j->o.id, sizeof(id)) != 0)
		status = is_wrong(call, "it is of another chain than this home");
	if (status != PCTL_OK)
		return status;
	let_go(j);
	return j->o.adopt(j->o.adopt_ctx, call);
}

static pctl_status take_parcel(pctl_abci_join *j, const pctl_msg_bytes *bytes,
			       const pctl_call *call)
{
	pctl_parcel_part part;
	uint64_t at = 0;
	int more = 1;
	pctl_status status = PCTL_OK;

	while (status == PCTL_OK) {
		status = pctl_parcel_next(bytes->data, bytes->n, &at, call, &part, &more);
		if (status != PCTL_OK || !more)
			break;
		status = take_part(j, &part, call);
	}
	return status;
}

/* Whether what failed is the offer's fault: what it says of itself does not hold. Else it is trouble of this node. */
static int is_lie(uint32_t code)
{
	return code == PC6185_ENGINE_CHUNK || code == PC6146_SNAPSHOT_FORM ||
	       code == PC6147_SNAPSHOT_CHUNK || code == PC6148_SNAPSHOT_TRUST ||
	       code == PC6150_SNAPSHOT_BYTES;
}

pctl_status pctl_abci_join_parcel(pctl_abci_join *j, uint32_t number, const pctl_msg_bytes *bytes,
				  const pctl_call *call, pctl_join_answer *out)
{
	node_first_error e;
	const pctl_call first = node_keep_first(&e, call);
	const int is_last = j->chain != NULL && number + 1 == j->offer.n_parcels;
	pctl_cid digest;
	pctl_status status;

	memset(out, 0, sizeof(*out));
	if (j->chain == NULL)
		return pctl_refuse(call, PC6170_ENGINE_TURN, "no snapshot is being taken in");
	if (number >= j->offer.n_parcels || number > j->next) {
		say(out, PCTL_JOIN_ABORT, PC6185_ENGINE_CHUNK,
		    number >= j->offer.n_parcels ? "the offer has no chunk of this number"
						 : "a chunk comes before those in front of it");
		return PCTL_OK;
	}
	if (number < j->next)
		return PCTL_OK; /* what is taken is taken */
	status = pctl_cid_of(bytes->data, bytes->n, call, &digest);
	if (status != PCTL_OK)
		return status;
	if (memcmp(digest.digest, j->offer.parcels[number].digest, PCTL_DIGEST_BYTES) != 0) {
		if (++j->tries[number] > PCTL_ABCI_RETRIES)
			reject(j, out, PC6185_ENGINE_CHUNK, "a chunk was wrong too often");
		else
			say(out, PCTL_JOIN_RETRY, PC6185_ENGINE_CHUNK,
			    "its bytes are not those that were offered");
		return PCTL_OK;
	}
	status = take_parcel(j, bytes, &first);
	if (status == PCTL_OK)
		j->next++;
	if (status == PCTL_OK && is_last)
		status = end(j, &first);
	out->is_done = status == PCTL_OK && is_last;
	if (status != PCTL_OK && is_lie(e.code)) {
		reject(j, out, e.code, e.text);
		return PCTL_OK;
	}
	return status == PCTL_OK
		       ? PCTL_OK
		       : pctl_refuse(call, e.code == 0 ? PC1_INTERNAL : e.code, "%s", e.text);
}
