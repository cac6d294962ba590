/* .npz: a zip archive of .npy members, as numpy.savez makes it. The archive is read and written by libzip. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "foundation/base/output.h"
#include "foundation/tensorfile/private.h"

#define MEMBERS_MAX 65536
/* The data of a member have at most this many times the bytes that they take in the archive: deflate's own limit. */
#define EXPANSION_MAX 1032u

static pctl_status zip_failed(const pctl_tensor_file *f, const char *why, const pctl_call *call)
{
	return tensor_malformed(f, 0, call, "archive of .npz: %s", why);
}

static pctl_status read_all(zip_file_t *member, const pctl_tensor_file *f, void *out, uint64_t n,
			    const pctl_call *call)
{
	uint8_t *to = out;

	while (n > 0) {
		const zip_int64_t got = zip_fread(member, to, n < 1u << 30 ? n : 1u << 30);

		if (got <= 0)
			return zip_failed(
				f, got == 0 ? "a member ends early" : zip_file_strerror(member),
				call);
		to += got;
		n -= (uint64_t)got;
		if (pctl_is_cancelled(call))
			return pctl_refuse(call, PC4_CANCELLED, "%s: cancelled", f->path);
	}
	return PCTL_OK;
}

static pctl_status open_member(pctl_tensor_file *f, zip_int64_t i, const pctl_call *call)
{
	uint8_t head[NPY_HEADER_MAX + 12];
	pctl_status status;
	zip_file_t *member;
	zip_stat_t st;
	uint64_t n;
	size_t length;
	stored *t;

	if (zip_stat_index(f->zip, (zip_uint64_t)i, 0, &st) != 0 || !(st.valid & ZIP_STAT_NAME) ||
	    !(st.valid & ZIP_STAT_SIZE) || !(st.valid & ZIP_STAT_COMP_SIZE))
		return zip_failed(f, zip_strerror(f->zip), call);
	length = strlen(st.name);
	if (length < 5 || strcmp(st.name + length - 4, ".npy") != 0 ||
	    !tensor_name_good(st.name, length))
		return tensor_malformed(f, 0, call, "member %" PRId64 " of the archive is no .npy",
					(int64_t)i);
	if (st.comp_size > f->size || st.size > (st.comp_size + 64) * EXPANSION_MAX)
		return zip_failed(f, "a member says it has more bytes than it can", call);
	t = tensor_add(f, st.name, length - 4);
	if (t == NULL)
		return pctl_no_memory(call, "a tensor");
	t->member = (uint64_t)i;
	member = zip_fopen_index(f->zip, (zip_uint64_t)i, 0);
	if (member == NULL)
		return zip_failed(f, zip_strerror(f->zip), call);
	n = st.size < sizeof(head) ? st.size : sizeof(head);
	status = read_all(member, f, head, n, call);
	zip_fclose(member);
	if (status == PCTL_OK)
		status = tensor_parse_npy(f, head, n, 0, t, call);
	if (status == PCTL_OK && t->entry.type.dtype != PCTL_SCALAR_NONE &&
	    st.size - t->offset != t->n_stored)
		status = tensor_malformed(f, t->offset, call,
					  "member \"%.200s\": the shape asks for %" PRIu64
					  " bytes, here are %" PRIu64,
					  st.name, t->n_stored, (uint64_t)(st.size - t->offset));
	return status;
}

pctl_status tensor_open_npz(pctl_tensor_file *f, const pctl_call *call)
{
	pctl_status status = PCTL_OK;
	zip_int64_t n;
	int error = 0;
	const int fd = dup(f->fd);

	/* Members that overlap, and headers that contradict the directory, are no archive. */
	f->zip = fd < 0 ? NULL : zip_fdopen(fd, ZIP_CHECKCONS, &error);
	if (f->zip == NULL) {
		zip_error_t why;

		if (fd >= 0)
			close(fd);
		zip_error_init_with_code(&why, error);
		status = zip_failed(f, zip_error_strerror(&why), call);
		zip_error_fini(&why);
		return status;
	}
	n = zip_get_num_entries(f->zip, 0);
	if (n > MEMBERS_MAX)
		return zip_failed(f, "more than 65536 members", call);
	for (zip_int64_t i = 0; i < n && status == PCTL_OK; i++)
		status = open_member(f, i, call);
	return status;
}

void tensor_close_npz(pctl_tensor_file *f)
{
	if (f->zip != NULL)
		zip_discard(f->zip);
}

pctl_status tensor_read_member(pctl_tensor_file *f, const stored *t, const pctl_call *call,
			       void *out)
{
	zip_file_t *member = zip_fopen_index(f->zip, t->member, 0);
	uint8_t skipped[4096], more;
	pctl_status status = PCTL_OK;

	if (member == NULL)
		return zip_failed(f, zip_strerror(f->zip), call);
	for (uint64_t n = t->offset; n > 0 && status == PCTL_OK;) {
		const uint64_t step = n < sizeof(skipped) ? n : sizeof(skipped);

		status = read_all(member, f, skipped, step, call);
		n -= step;
	}
	if (status == PCTL_OK)
		status = read_all(member, f, out, t->n_stored, call);
	/* The checksum is compared at the end of the member. */
	if (status == PCTL_OK && zip_fread(member, &more, 1) != 0)
		status = zip_failed(f, zip_file_strerror(member), call);
	zip_fclose(member);
	return status;
}

/* ---- writing ---- */

/* A member: header and data in one block, which the archive's source frees. */
static pctl_status add_member(zip_t *zip, const char *path, const pctl_tensor *t,
			      const pctl_call *call)
{
	pctl_str_buf head = PCTL_STR_BUF_INIT, name = PCTL_STR_BUF_INIT;
	zip_source_t *source = NULL;
	uint8_t *data = NULL, *whole = NULL;
	pctl_status status = PCTL_OK;
	zip_int64_t at = -1;
	uint64_t n = 0;

	if (!tensor_npy_header(&head, &t->type)) {
		status = tensor_no_room(path, ".npz", t, call);
	} else {
		pctl_str_addf(&name, "%s.npy", t->name);
		data = tensor_to_stored(t, &n);
		whole = head.failed || name.failed || data == NULL ? NULL : malloc(head.n + n);
		if (whole != NULL) {
			memcpy(whole, head.data, head.n);
			memcpy(whole + head.n, data, n);
			source = zip_source_buffer(zip, whole, head.n + n, 1);
		}
		if (source == NULL)
			free(whole);
		else
			at = zip_file_add(zip, name.data, source, ZIP_FL_ENC_UTF_8);
		if (at < 0 && source != NULL)
			zip_source_free(source);
		/* No compression and no clock: the same tensors are the same bytes. */
		if (at < 0 ||
		    zip_set_file_compression(zip, (zip_uint64_t)at, ZIP_CM_STORE, 0) != 0 ||
		    zip_file_set_dostime(zip, (zip_uint64_t)at, 0, 33, 0) != 0)
			status = pctl_no_memory(call, "an archive");
	}
	free(data);
	pctl_str_drop(&head);
	pctl_str_drop(&name);
	return status;
}

/* libzip writes into memory, base/output.h to the path. */
static pctl_status put_archive(zip_source_t *room, const char *path, const pctl_call *call)
{
	pctl_output *out = NULL;
	pctl_status status = PCTL_OK;
	zip_stat_t st;
	uint8_t *bytes = NULL;

	if (zip_source_stat(room, &st) != 0 || (bytes = malloc(st.size ? st.size : 1)) == NULL ||
	    zip_source_open(room) != 0)
		status = pctl_no_memory(call, "an archive");
	else if (zip_source_read(room, bytes, st.size) != (zip_int64_t)st.size)
		status = pctl_no_memory(call, "an archive");
	if (status == PCTL_OK)
		status = pctl_output_open(path, 1, call, &out);
	if (status == PCTL_OK)
		status = pctl_output_put(out, bytes, st.size, call);
	if (status == PCTL_OK)
		status = pctl_output_commit(out, call);
	else
		pctl_output_discard(out);
	zip_source_close(room);
	free(bytes);
	return status;
}

pctl_status tensor_write_npz(const char *path, const pctl_tensor *tensors, uint64_t n,
			     const pctl_call *call)
{
	zip_source_t *room = zip_source_buffer_create(NULL, 0, 0, NULL);
	zip_t *zip = room == NULL ? NULL : zip_open_from_source(room, ZIP_TRUNCATE, NULL);
	pctl_status status = PCTL_OK;

	if (zip == NULL) {
		zip_source_free(room);
		return pctl_no_memory(call, "an archive");
	}
	zip_source_keep(room);
	for (uint64_t i = 0; i < n && status == PCTL_OK; i++)
		status = add_member(zip, path, &tensors[i], call);
	if (status != PCTL_OK || zip_close(zip) != 0) {
		if (status == PCTL_OK)
			status = pctl_no_memory(call, "an archive");
		zip_discard(zip);
	} else {
		status = put_archive(room, path, call);
	}
	zip_source_free(room);
	return status;
}
