/* Files of tensors: opening, reading and what all formats check alike. */
#include "foundation/base/order.h"
#include "foundation/tensorfile/private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/num.h"
#include "foundation/base/output.h"
#include "foundation/base/utf8.h"
#include "foundation/diag/diag.h"

pctl_status tensor_malformed(const pctl_tensor_file *f, uint64_t at, const pctl_call *call,
			     const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return pctl_refuse(call, PC4211_TENSOR_FILE, "%s: byte %" PRIu64 ": %s", f->path, at, text);
}

pctl_status tensor_pread(const pctl_tensor_file *f, uint64_t at, void *out, uint64_t n,
			 const pctl_call *call)
{
	uint8_t *to = out;

	if (n > f->size || at > f->size - n)
		return tensor_malformed(f, f->size, call,
					"the file ends where %" PRIu64 " bytes from byte %" PRIu64
					" should be",
					n, at);
	while (n > 0) {
		const ssize_t got = pread(f->fd, to, n < 1u << 30 ? n : 1u << 30, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0 ? tensor_malformed(
						  f, at, call,
						  "the file became shorter while it was read")
					: pctl_refuse(call, PC3_IO, "%s: %s", f->path,
						      strerror(errno));
		to += got;
		at += (uint64_t)got;
		n -= (uint64_t)got;
		if (pctl_is_cancelled(call))
			return pctl_refuse(call, PC4_CANCELLED, "%s: cancelled", f->path);
	}
	return PCTL_OK;
}

int tensor_name_good(const char *name, size_t n)
{
	return n <= PCTL_TENSOR_NAME_MAX &&
	       pctl_utf8_bad(name, n, PCTL_UTF8_NO_NUL | PCTL_UTF8_PLAIN) == n;
}

stored *tensor_add(pctl_tensor_file *f, const char *name, size_t n)
{
	stored *t;

	if (f->n == f->capacity) {
		const uint64_t more = f->capacity ? 2 * f->capacity : 16;

		t = realloc(f->tensors, more * sizeof(*t));
		if (t == NULL)
			return NULL;
		f->tensors = t;
		f->capacity = more;
	}
	t = &f->tensors[f->n];
	memset(t, 0, sizeof(*t));
	t->entry.name = pctl_arena_dup_n(f->arena, name, n);
	if (t->entry.name == NULL)
		return NULL;
	f->n++;
	return t;
}

pctl_status tensor_names_differ(const pctl_tensor_file *f, const pctl_call *call)
{
	const char **names = malloc((f->n + 1) * sizeof(*names));
	pctl_status status = PCTL_OK;

	if (names == NULL)
		return pctl_no_memory(call, "the names of tensors");
	for (uint64_t i = 0; i < f->n; i++)
		names[i] = f->tensors[i].entry.name;
	qsort(names, f->n, sizeof(*names), pctl_order_texts);
	for (uint64_t i = 1; i < f->n && status == PCTL_OK; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			status = tensor_malformed(f, 0, call,
						  "two tensors have the name \"%.200s\"", names[i]);
	free(names);
	return status;
}

int pctl_tensor_size(const pctl_tensor_type *t, uint64_t *n, uint64_t *n_bytes)
{
	const pctl_dtype *type = pctl_dtype_of(t->dtype);
	uint64_t product = 1;
	int fits = 1, none = 0;

	for (uint32_t i = 0; i < t->rank; i++) {
		none |= t->dim[i] == 0;
		fits &= pctl_num_mul(product, t->dim[i], &product);
	}
	*n = none ? 0 : product;
	return (none || fits) && pctl_dtype_size(type, *n, n_bytes) &&
	       (type->block == 1 || (t->rank > 0 && t->dim[t->rank - 1] % type->block == 0));
}

int tensor_sizes(stored *t)
{
	const pctl_dtype *type = pctl_dtype_of(t->entry.type.dtype);
	uint64_t n;

	if (type == NULL)
		return 1;
	if (!pctl_tensor_size(&t->entry.type, &n, &t->entry.n_bytes))
		return 0;
	t->n_stored = type->kind == PCTL_DTYPE_KIND_BOOL ? n : t->entry.n_bytes;
	return 1;
}

static pctl_status open_format(pctl_tensor_file *f, const pctl_call *call)
{
	uint8_t head[9] = {0};
	pctl_status status =
		tensor_pread(f, 0, head, f->size < sizeof(head) ? f->size : sizeof(head), call);

	if (status != PCTL_OK)
		return status;
	if (memcmp(head, "\x93NUMPY", 6) == 0) {
		f->format = PCTL_TENSOR_FORMAT_NPY;
		return tensor_open_npy(f, call);
	}
	if (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0) {
		f->format = PCTL_TENSOR_FORMAT_NPZ;
		return tensor_open_npz(f, call);
	}
	if (memcmp(head, "GGUF", 4) == 0) {
		f->format = PCTL_TENSOR_FORMAT_GGUF;
		return tensor_open_gguf(f, call);
	}
	if (head[8] == '{') {
		f->format = PCTL_TENSOR_FORMAT_SAFETENSORS;
		return tensor_open_safetensors(f, call);
	}
	return tensor_malformed(f, 0, call, "begins neither as .npy, .npz, safetensors nor GGUF");
}

pctl_status pctl_tensor_file_open(const char *path, const pctl_call *call, pctl_tensor_file **out)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	*out = NULL;
	return fd < 0 ? pctl_refuse(call, PC3_IO, "%s: %s", path, strerror(errno))
		      : pctl_tensor_file_open_fd(fd, path, call, out);
}

pctl_status pctl_tensor_file_open_fd(int fd, const char *name, const pctl_call *call,
				     pctl_tensor_file **out)
{
	pctl_tensor_file *f = calloc(1, sizeof(*f));
	pctl_status status;
	struct stat st;

	*out = NULL;
	if (f == NULL) {
		close(fd);
		return pctl_no_memory(call, "a file of tensors");
	}
	f->fd = fd;
	f->arena = pctl_arena_create();
	f->path = f->arena == NULL ? NULL : pctl_arena_dup(f->arena, name);
	if (f->path == NULL)
		status = pctl_no_memory(call, "a file of tensors");
	else if (fstat(f->fd, &st) != 0)
		status = pctl_refuse(call, PC3_IO, "%s: %s", name, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		status = pctl_refuse(call, PC3_IO, "%s: not a regular file", name);
	else {
		f->size = (uint64_t)st.st_size;
		status = open_format(f, call);
	}
	if (status == PCTL_OK)
		status = tensor_names_differ(f, call);
	if (status != PCTL_OK) {
		pctl_tensor_file_close(f);
		return status;
	}
	*out = f;
	return PCTL_OK;
}

void pctl_tensor_file_close(pctl_tensor_file *f)
{
	if (f == NULL)
		return;
	tensor_close_npz(f);
	if (f->fd >= 0)
		close(f->fd);
	if (f->arena != NULL)
		pctl_arena_destroy(f->arena);
	free(f->tensors);
	free(f->keys);
	free(f);
}

pctl_tensor_format pctl_tensor_file_format(const pctl_tensor_file *f)
{
	return f->format;
}

int pctl_tensor_file_place(const pctl_tensor_file *f, uint64_t i, uint64_t *offset)
{
	const stored *t = &f->tensors[i];
	const pctl_dtype *type = pctl_dtype_of(t->entry.type.dtype);

	*offset = t->offset;
	return f->format != PCTL_TENSOR_FORMAT_NPZ && type != NULL && !t->swapped && !t->columns &&
	       type->kind != PCTL_DTYPE_KIND_BOOL && type->bits % 8 == 0;
}

int pctl_tensor_file_dup(const pctl_tensor_file *f)
{
	return fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
}

static const char *const format_names[] = {"npy", "npz", "safetensors", "gguf"};

const char *pctl_tensor_format_name(pctl_tensor_format format)
{
	return format_names[format];
}

const pctl_tensor_entry *pctl_tensor_file_at(const pctl_tensor_file *f, uint64_t i)
{
	return i < f->n ? &f->tensors[i].entry : NULL;
}

/* ---- reading ---- */

static void swap_bytes(uint8_t *bytes, uint64_t n, uint32_t width)
{
	for (uint64_t i = 0; i + width <= n; i += width)
		for (uint32_t k = 0; k < width / 2; k++) {
			const uint8_t b = bytes[i + k];

			bytes[i + k] = bytes[i + width - 1 - k];
			bytes[i + width - 1 - k] = b;
		}
}

/* From the order in which the first index runs fastest to the one in which the last does; whole bytes only. */
static void *by_rows(const stored *t, const uint8_t *from, uint32_t width)
{
	const pctl_tensor_type *s = &t->entry.type;
	uint8_t *out = malloc(t->n_stored ? t->n_stored : 1);
	uint64_t index[PCTL_RANK_MAX] = {0}, step[PCTL_RANK_MAX], stride = 1;

	for (uint32_t i = 0; i < s->rank; i++) {
		step[i] = stride;
		stride *= s->dim[i];
	}
	for (uint64_t n = 0, at; out != NULL && n < t->n_stored / width; n++) {
		uint32_t i = s->rank;

		at = 0;
		for (uint32_t k = 0; k < s->rank; k++)
			at += index[k] * step[k];
		memcpy(out + n * width, from + at * width, width);
		while (i-- > 0 && ++index[i] == s->dim[i])
			index[i] = 0;
	}
	return out;
}

/* One byte a bool in files, four in memory. */
static void *widen_bools(const uint8_t *from, uint64_t n)
{
	uint8_t *out = calloc(n ? n : 1, 4);

	for (uint64_t i = 0; out != NULL && i < n; i++)
		out[4 * i] = from[i];
	return out;
}

pctl_status pctl_tensor_check(const char *file, const char *name, const pctl_tensor_type *t,
			      const void *data, const pctl_call *call)
{
	const pctl_dtype *type = pctl_dtype_of(t->dtype);
	uint64_t n, n_bytes, bad;

	(void)pctl_tensor_size(t, &n, &n_bytes);
	bad = pctl_dtype_bad(type, data, n);
	if (bad < n)
		return pctl_refuse(call, PC4213_TENSOR_VALUE,
				   "%s: tensor \"%.200s\": the code of element %" PRIu64
				   " is no %s",
				   file, name, bad, type->name);
	if (type->block == 1 && !pctl_dtype_padded(type, data, n, n_bytes))
		return pctl_refuse(
			call, PC4213_TENSOR_VALUE,
			"%s: tensor \"%.200s\": bits behind the last element are not zero", file,
			name);
	return PCTL_OK;
}

/* In place or in another block, which takes the place of the first. */
static int normalise(const stored *t, void **data)
{
	const pctl_dtype *type = pctl_dtype_of(t->entry.type.dtype);
	const uint32_t width = type->kind == PCTL_DTYPE_KIND_BOOL ? 1 : type->bits / 8;
	void *other = *data;

	if (t->swapped)
		swap_bytes(*data, t->n_stored, width);
	if (t->columns) {
		other = by_rows(t, *data, width);
		free(*data);
		*data = other;
	}
	if (other != NULL && type->kind == PCTL_DTYPE_KIND_BOOL) {
		other = widen_bools(*data, t->n_stored);
		free(*data);
		*data = other;
	}
	return other != NULL;
}

pctl_status pctl_tensor_file_read(pctl_tensor_file *f, uint64_t i, const pctl_call *call,
				  void **out)
{
	const stored *t = &f->tensors[i];
	pctl_status status;

	*out = NULL;
	if (t->entry.type.dtype == PCTL_SCALAR_NONE)
		return pctl_refuse(call, PC4212_TENSOR_TYPE,
				   "%s: tensor \"%.200s\" has the type %s, which is none of ours",
				   f->path, t->entry.name, t->entry.stored);
	*out = malloc(t->n_stored ? t->n_stored : 1);
	if (*out == NULL)
		return pctl_no_memory(call, "a tensor");
	status = f->format == PCTL_TENSOR_FORMAT_NPZ
			 ? tensor_read_member(f, t, call, *out)
			 : tensor_pread(f, t->offset, *out, t->n_stored, call);
	if (status == PCTL_OK && !normalise(t, out))
		status = pctl_no_memory(call, "a tensor");
	if (status == PCTL_OK)
		status = pctl_tensor_check(f->path, t->entry.name, &t->entry.type, *out, call);
	if (status != PCTL_OK) {
		free(*out);
		*out = NULL;
	}
	return status;
}

pctl_status pctl_tensor_file_read_part(const pctl_tensor_file *f, uint64_t i, uint64_t at,
				       void *out, uint64_t n, const pctl_call *call)
{
	return tensor_pread(f, f->tensors[i].offset + at, out, n, call);
}

/* ---- writing ---- */

int pctl_tensor_format_of(const char *path, pctl_tensor_format *out)
{
	const char *dot = strrchr(path, '.');

	for (uint32_t i = 0; dot != NULL && i < PCTL_TENSOR_FORMAT_GGUF; i++)
		if (strcmp(dot + 1, format_names[i]) == 0) {
			*out = (pctl_tensor_format)i;
			return 1;
		}
	return 0;
}

pctl_status pctl_tensor_format_check(const char *path, const pctl_call *call)
{
	const char *dot = strrchr(path, '.');

	return dot == NULL || strcmp(dot + 1, format_names[PCTL_TENSOR_FORMAT_GGUF]) != 0
		       ? PCTL_OK
		       : pctl_refuse_at(call, PC4214_TENSOR_FORMAT, NULL,
					"write .safetensors, .npz or .npy", "%s: GGUF is read only",
					path);
}

void *tensor_to_stored(const pctl_tensor *t, uint64_t *n)
{
	const pctl_dtype *type = pctl_dtype_of(t->type.dtype);
	uint64_t count;
	uint8_t *out;

	(void)pctl_tensor_size(&t->type, &count, n);
	if (type->kind == PCTL_DTYPE_KIND_BOOL)
		*n = count;
	out = malloc(*n ? *n : 1);
	if (out != NULL && type->kind != PCTL_DTYPE_KIND_BOOL)
		memcpy(out, t->data, *n);
	for (uint64_t i = 0; out != NULL && type->kind == PCTL_DTYPE_KIND_BOOL && i < count; i++)
		out[i] = ((const uint8_t *)t->data)[4 * i];
	return out;
}

pctl_status tensor_no_room(const char *path, const char *format, const pctl_tensor *t,
			   const pctl_call *call)
{
	return pctl_refuse_at(call, PC4214_TENSOR_FORMAT, NULL,
			      tensor_safetensors_type(t->type.dtype) == NULL
				      ? "name no format (raw bytes)"
				      : "write .safetensors, or name no format (raw bytes)",
			      "%s: %s has no type %s (tensor \"%.200s\")", path, format,
			      pctl_dtype_of(t->type.dtype)->name, t->name);
}

static pctl_status write_npy(const char *path, const pctl_tensor *t, const pctl_call *call)
{
	pctl_str_buf head = PCTL_STR_BUF_INIT;
	pctl_output *out = NULL;
	pctl_status status;
	uint64_t n = 0;
	void *data = NULL;

	if (!tensor_npy_header(&head, &t->type))
		status = tensor_no_room(path, ".npy", t, call);
	else if (head.failed || (data = tensor_to_stored(t, &n)) == NULL)
		status = pctl_no_memory(call, "a tensor");
	else
		status = pctl_output_open(path, 1, call, &out);
	if (status == PCTL_OK)
		status = pctl_output_put(out, head.data, head.n, call);
	if (status == PCTL_OK)
		status = pctl_output_put(out, data, n, call);
	if (status == PCTL_OK)
		status = pctl_output_commit(out, call);
	else
		pctl_output_discard(out);
	pctl_str_drop(&head);
	free(data);
	return status;
}

pctl_status pctl_tensor_format_takes(const char *path, pctl_tensor_format format,
				     const pctl_tensor *t, const pctl_call *call)
{
	pctl_str_buf head = PCTL_STR_BUF_INIT;
	const int takes =
		format == PCTL_TENSOR_FORMAT_SAFETENSORS
			? tensor_safetensors_type(t->type.dtype) != NULL
			: format != PCTL_TENSOR_FORMAT_GGUF && tensor_npy_header(&head, &t->type);

	pctl_str_drop(&head);
	return takes ? PCTL_OK : tensor_no_room(path, pctl_tensor_format_name(format), t, call);
}

pctl_status pctl_tensor_file_write(const char *path, pctl_tensor_format format,
				   const pctl_tensor *tensors, uint64_t n, const pctl_call *call)
{
	if (format == PCTL_TENSOR_FORMAT_NPZ)
		return tensor_write_npz(path, tensors, n, call);
	if (format == PCTL_TENSOR_FORMAT_SAFETENSORS)
		return tensor_write_safetensors(path, tensors, n, call);
	if (n != 1)
		return pctl_refuse_at(call, PC4214_TENSOR_FORMAT, NULL,
				      "write .npz or .safetensors, or name one tensor",
				      "%s: .npy holds one tensor, not %" PRIu64, path, n);
	return write_npy(path, tensors, call);
}
