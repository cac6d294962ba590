/* Reading a descriptor to its end in constant memory: hashing, and copying on the way where asked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/clock.h"
#include "runtime/cas/store_ops.h"

#define PIECE_BYTES (1u << 20)

pctl_status pctl_store_io(const pctl_call *call, const char *what, const char *path, int error)
{
	char reason[128];

	return pctl_refuse(call, PC3_IO, "cannot %s %s: %s", what, path,
			   strerror_r(error, reason, sizeof(reason)));
}

pctl_status pctl_store_write(int fd, const uint8_t *data, uint64_t n, const char *path,
			     const pctl_call *call)
{
	while (n > 0) {
		const ssize_t put = write(fd, data, n < (1u << 30) ? n : (1u << 30));

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return pctl_store_io(call, "write a blob in the store", path, errno);
		data += put;
		n -= (uint64_t)put;
	}
	return PCTL_OK;
}

/* The next piece of a stream; *n is 0 at its end. */
static pctl_status read_piece(int fd, uint8_t *piece, const char *path, const pctl_call *call,
			      uint64_t *n)
{
	ssize_t got;

	do
		got = read(fd, piece, PIECE_BYTES);
	while (got < 0 && errno == EINTR && !pctl_is_cancelled(call));
	*n = got > 0 ? (uint64_t)got : 0;
	if (got < 0 && errno == EINTR)
		return pctl_refuse(call, PC4_CANCELLED, "cancelled while reading %s", path);
	return got < 0 ? pctl_store_io(call, "read", path, errno) : PCTL_OK;
}

/* How much a stream has, where that can be known. */
static uint64_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

pctl_status pctl_store_stream(const pctl_stream *stream, const pctl_call *call, pctl_cid *out,
			      uint64_t *n_out)
{
	uint8_t *piece = malloc(PIECE_BYTES);
	pctl_hasher *h = NULL;
	uint64_t n = 1;
	const uint64_t started = pctl_clock_ns();
	pctl_progress now = {.stage = stream->to < 0 ? "hash" : "write",
			     .what = stream->from_name,
			     .total_bytes = size_of(stream->from)};
	pctl_status status;

	memset(out, 0, sizeof(*out));
	*n_out = 0;
	status = piece == NULL ? pctl_refuse(call, PC2_NOMEM, "no memory to read a stream")
			       : pctl_hasher_create(call, &h);
	while (status == PCTL_OK && n > 0) {
		status = read_piece(stream->from, piece, stream->from_name, call, &n);
		if (status == PCTL_OK)
			status = pctl_hasher_update(h, piece, n);
		if (status == PCTL_OK && stream->to >= 0)
			status = pctl_store_write(stream->to, piece, n, stream->to_name, call);
		if (status == PCTL_OK && pctl_is_cancelled(call))
			status = pctl_refuse(call, PC4_CANCELLED, "reading %s was cancelled",
					     stream->from_name);
		*n_out += n;
		now.bytes = *n_out;
		now.elapsed_ns = pctl_clock_ns() - started;
		pctl_progress_tell(stream->progress, &now);
	}
	if (status == PCTL_OK)
		status = pctl_hasher_finish(h, out);
	else
		pctl_hasher_destroy(h);
	free(piece);
	return status;
}
