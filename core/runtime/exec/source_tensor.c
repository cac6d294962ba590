/* Tensors of files as sources: what enters a run is the data, by rows and packed (SEMANTICS.md 13.3), and the header is held against
 * what the pipeline declares. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/tensorfile/tensor_file.h"
#include "runtime/exec/source.h"

/* What lies in the file as it is wanted is read from there, piece by piece; the rest is made in memory. */
pctl_status pctl_source_open_entry(pctl_tensor_file *f, uint64_t i, int fd, const char *text,
				   const pctl_cid *known, const pctl_call *call,
				   pctl_data_source **out)
{
	const pctl_tensor_entry *e = pctl_tensor_file_at(f, i);
	pctl_status status;
	uint64_t offset;
	void *data;

	if (pctl_tensor_file_place(f, i, &offset)) {
		status = pctl_source_open_shared(text, fd, offset, e->n_bytes, known, call, out);
	} else {
		status = pctl_tensor_file_read(f, i, call, &data);
		if (status == PCTL_OK)
			status = pctl_source_open_memory(text, data, e->n_bytes, call, out);
	}
	if (status == PCTL_OK)
		pctl_source_set_type(*out, &e->type);
	return status;
}

static pctl_status open_tensor(pctl_tensor_file *f, const char *text, const char *name,
			       const pctl_call *call, pctl_data_source **out)
{
	uint64_t i;
	pctl_status status = pctl_tensor_file_find(f, name, call, &i);
	const int fd = status == PCTL_OK ? pctl_tensor_file_dup(f) : -1;

	if (status == PCTL_OK && fd < 0)
		status = pctl_refuse(call, PC3_IO, "%s: %s", text, strerror(errno));
	if (status == PCTL_OK)
		status = pctl_source_open_entry(f, i, fd, text, NULL, call, out);
	if (status == PCTL_OK)
		pctl_source_take_descriptor(*out, fd);
	else if (fd >= 0)
		close(fd);
	pctl_tensor_file_close(f);
	return status;
}

/* The file that `text` names a tensor of, and the tensor's name; *out NULL: it names none. */
static pctl_status open_ref(const char *text, const pctl_call *call, pctl_tensor_file **out,
			    const char **name)
{
	pctl_status status;
	size_t n;
	char *path;

	*out = NULL;
	if (!pctl_tensor_ref_parse(text, &n, name) || (*name != NULL && pctl_file_exists(text)))
		return PCTL_OK;
	path = strndup(text, n);
	status = path == NULL ? pctl_no_memory(call, "a path")
			      : pctl_tensor_file_open(path, call, out);
	free(path);
	return status;
}

pctl_status pctl_source_open_named(const char *path, const pctl_call *call, pctl_data_source **out)
{
	pctl_tensor_file *f;
	const char *name;
	pctl_status status = open_ref(path, call, &f, &name);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	return f == NULL ? pctl_source_open_file(path, call, out)
			 : open_tensor(f, path, name, call, out);
}

pctl_status pctl_source_peek(const char *path, const pctl_call *call, pctl_tensor_type *out)
{
	pctl_tensor_file *f;
	const char *name;
	uint64_t i;
	pctl_status status = open_ref(path, call, &f, &name);

	memset(out, 0, sizeof(*out));
	if (status != PCTL_OK || f == NULL)
		return status;
	status = pctl_tensor_file_find(f, name, call, &i);
	if (status == PCTL_OK)
		*out = pctl_tensor_file_at(f, i)->type;
	if (status == PCTL_OK && out->dtype == PCTL_SCALAR_NONE)
		status = pctl_refuse(call, PC4212_TENSOR_TYPE,
				     "%s: the tensor has the type %s, which is none of ours", path,
				     pctl_tensor_file_at(f, i)->stored);
	pctl_tensor_file_close(f);
	return status;
}

pctl_status pctl_source_open_tensor_memory(const char *path, const char *name, char *memory,
					   uint64_t n_bytes, const pctl_call *call,
					   pctl_data_source **out)
{
	const int fd = memfd_create("tensors", MFD_CLOEXEC);
	pctl_tensor_file *f = NULL;
	uint64_t done = 0;
	ssize_t n = 0;
	pctl_status status;

	*out = NULL;
	while (fd >= 0 && done < n_bytes && (n = write(fd, memory + done, n_bytes - done)) > 0)
		done += (uint64_t)n;
	free(memory);
	if (fd < 0 || done < n_bytes) {
		status = pctl_refuse(call, PC3_IO, "%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return status;
	}
	status = pctl_tensor_file_open_fd(fd, path, call, &f);
	return status == PCTL_OK ? open_tensor(f, path, name, call, out) : status;
}
