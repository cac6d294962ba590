/* Data sources; see source.h. */
#include "runtime/exec/source_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "runtime/graph/type.h"

#define LARGEST_STDIN (1ull << 32)

static pctl_status create(const char *name, const pctl_call *call, pctl_data_source **out)
{
	pctl_data_source *s = calloc(1, sizeof(*s));

	*out = s;
	if (s != NULL) {
		s->fd = -1;
		s->name = strdup(name);
	}
	if (s == NULL || s->name == NULL) {
		pctl_source_close(s);
		*out = NULL;
		return pctl_no_memory(call, "an input");
	}
	return PCTL_OK;
}

void pctl_source_close(pctl_data_source *s)
{
	if (s == NULL)
		return;
	if (s->fd >= 0 && !s->is_shared)
		close(s->fd);
	if (s->has_blob)
		pctl_blob_release(&s->blob);
	free(s->memory);
	free(s->name);
	free(s);
}

pctl_status pctl_source_io_error(const pctl_call *call, const pctl_data_source *s, int error)
{
	char reason[128];

	return pctl_refuse(call, PC3_IO, "cannot read %s: %s", s->name,
			   strerror_r(error, reason, sizeof(reason)));
}

/* A pipe gives its bytes once, and a run reads an input more than once. */
static pctl_status read_pipe(pctl_data_source *s, const pctl_call *call)
{
	pctl_status status =
		pctl_file_read_fd(s->fd, s->name, LARGEST_STDIN, call, &s->memory, &s->n_bytes);

	s->bytes = s->memory;
	close(s->fd);
	s->fd = -1;
	return status;
}

pctl_status pctl_source_open_file(const char *path, const pctl_call *call, pctl_data_source **out)
{
	pctl_data_source *s;
	struct stat st;
	pctl_status status = create(path, call, &s);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	if (strcmp(path, "-") == 0) {
		status = pctl_file_read(path, LARGEST_STDIN, call, &s->memory, &s->n_bytes);
		s->bytes = s->memory;
	} else {
		s->fd = open(path, O_RDONLY | O_CLOEXEC);
		if (s->fd < 0 || fstat(s->fd, &st) != 0)
			status = pctl_source_io_error(call, s, errno);
		else if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) /* /dev/null has no bytes */
			status = read_pipe(s, call);
		else if (!S_ISREG(st.st_mode))
			status = pctl_source_io_error(call, s,
						      S_ISDIR(st.st_mode) ? EISDIR : EINVAL);
		else
			s->n_bytes = (uint64_t)st.st_size;
	}
	if (status == PCTL_OK)
		status = pctl_source_walk(s, call, NULL, NULL, &s->cid);
	if (status != PCTL_OK) {
		pctl_source_close(s);
		return status;
	}
	*out = s;
	return PCTL_OK;
}

pctl_status pctl_source_open_shared(const char *name, int fd, uint64_t base, uint64_t n_bytes,
				    const pctl_cid *known, const pctl_call *call,
				    pctl_data_source **out)
{
	pctl_data_source *s;
	pctl_status status = create(name, call, &s);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	s->fd = fd;
	s->is_shared = 1;
	s->base = base;
	s->n_bytes = n_bytes;
	if (known != NULL)
		s->cid = *known;
	else
		status = pctl_source_walk(s, call, NULL, NULL, &s->cid);
	if (status != PCTL_OK) {
		pctl_source_close(s);
		return status;
	}
	*out = s;
	return PCTL_OK;
}

void pctl_source_take_descriptor(pctl_data_source *s, int fd)
{
	if (s->fd == fd)
		s->is_shared = 0;
	else
		close(fd);
}

static pctl_status open_bytes(const char *name, char *memory, const void *data, uint64_t n_bytes,
			      const pctl_call *call, pctl_data_source **out)
{
	pctl_data_source *s;
	pctl_status status = create(name, call, &s);

	*out = NULL;
	if (status != PCTL_OK) {
		free(memory);
		return status;
	}
	s->memory = memory;
	s->bytes = data;
	s->n_bytes = n_bytes;
	status = pctl_source_walk(s, call, NULL, NULL, &s->cid);
	if (status != PCTL_OK) {
		pctl_source_close(s);
		return status;
	}
	*out = s;
	return PCTL_OK;
}

pctl_status pctl_source_open_memory(const char *name, char *memory, uint64_t n_bytes,
				    const pctl_call *call, pctl_data_source **out)
{
	return open_bytes(name, memory, memory, n_bytes, call, out);
}

pctl_status pctl_source_open_bytes(const char *name, const void *data, uint64_t n_bytes,
				   const pctl_call *call, pctl_data_source **out)
{
	return open_bytes(name, NULL, data, n_bytes, call, out);
}

pctl_status pctl_source_open_cid(pctl_store *store, const pctl_cid *cid, const pctl_call *call,
				 pctl_data_source **out)
{
	char text[PCTL_CID_TEXT_SIZE];
	pctl_data_source *s;
	pctl_status status = create(pctl_cid_format(cid, text), call, &s);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	status = pctl_store_get(store, cid, call, &s->blob);
	if (status != PCTL_OK) {
		pctl_source_close(s);
		return status;
	}
	s->has_blob = 1;
	s->n_bytes = s->blob.n_bytes;
	s->cid = *cid;
	*out = s;
	return PCTL_OK;
}

static pctl_status open_cid_typed(pctl_store *store, const pctl_cid *cid, const char *type,
				  const pctl_call *call, pctl_data_source **out)
{
	pctl_arena *arena = type == NULL ? NULL : pctl_arena_create();
	pctl_type_pattern pattern;
	pctl_tensor_type t;
	pctl_status status = PCTL_OK;

	if (type != NULL)
		status = arena == NULL ? pctl_no_memory(call, "a type")
				       : pctl_type_parse(type, arena, NULL, call, &pattern);
	if (status == PCTL_OK && type != NULL && !pctl_pattern_concrete(&pattern, &t))
		status = pctl_refuse(call, PC4020_TYPE_SYNTAX,
				     "\"%s\" leaves something open, where a type is given to a CID",
				     type);
	if (status == PCTL_OK)
		status = pctl_source_open_cid(store, cid, call, out);
	if (status == PCTL_OK && type != NULL)
		pctl_source_set_type(*out, &t);
	if (arena != NULL)
		pctl_arena_destroy(arena);
	return status;
}

pctl_status pctl_source_open_zero(uint64_t n_bytes, const pctl_call *call, pctl_data_source **out)
{
	pctl_data_source *s;
	pctl_status status = create("zero", call, &s);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	s->is_zero = 1;
	s->n_bytes = n_bytes;
	status = pctl_source_walk(s, call, NULL, NULL, &s->cid);
	if (status != PCTL_OK) {
		pctl_source_close(s);
		return status;
	}
	*out = s;
	return PCTL_OK;
}

pctl_status pctl_source_open(pctl_store *store, const char *text, const pctl_call *call,
			     pctl_data_source **out)
{
	uint64_t n_zero;
	pctl_cid cid;

	*out = NULL;
	if (strncmp(text, "zero:", 5) == 0 &&
	    pctl_num_parse_bytes(text + 5, strlen(text + 5), &n_zero))
		return pctl_source_open_zero(n_zero, call, out);
	if (strncmp(text, "zero:", 5) == 0 && !pctl_file_exists(text))
		return pctl_refuse_at(call, PC1025_CONF_QUANTITY, NULL,
				      "zero:4096 is 4096 bytes of zero, zero:2GiB that many",
				      "\"%s\" says no number of bytes", text);
	if (strcmp(text, "-") != 0 && !pctl_file_exists(text)) {
		const size_t n = strcspn(text, ":");
		char *name = strndup(text, n);
		const int is_cid = name != NULL && pctl_cid_parse(name, &cid);

		free(name);
		if (is_cid)
			return open_cid_typed(store, &cid, text[n] == ':' ? text + n + 1 : NULL,
					      call, out);
	}
	return pctl_source_open_named(text, call, out);
}

const pctl_tensor_type *pctl_source_type(const pctl_data_source *s)
{
	return s->type.dtype == PCTL_SCALAR_NONE ? NULL : &s->type;
}

void pctl_source_set_type(pctl_data_source *s, const pctl_tensor_type *type)
{
	s->type = *type;
}

uint64_t pctl_source_bytes(const pctl_data_source *s)
{
	return s->n_bytes;
}

int pctl_source_is_zero(const pctl_data_source *s)
{
	return s->is_zero != 0;
}

const pctl_cid *pctl_source_cid(const pctl_data_source *s)
{
	return &s->cid;
}

const char *pctl_source_name(const pctl_data_source *s)
{
	return s->name;
}

pctl_status pctl_source_stream(pctl_data_source *s, const pctl_call *call,
			       pctl_status (*take)(void *ctx, uint64_t offset, const void *data,
						   uint64_t n),
			       void *ctx)
{
	pctl_cid again;
	pctl_status status = pctl_source_walk(s, call, take, ctx, &again);

	if (status == PCTL_OK && pctl_cid_compare(&again, &s->cid) != 0)
		status = pctl_refuse(call, PC5210_INPUT_CHANGED, "%s changed while it was read",
				     s->name);
	return status;
}
