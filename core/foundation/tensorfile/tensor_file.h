/* Files of tensors: .npy and .npz of NumPy, safetensors, GGUF (written by writer.h alone). What a file says is checked before anything is believed: sizes
 * against the file's, offsets against each other, names, types, codes that stand for nothing. A file is known by its first
 * bytes, never by its name; a file that is written, by the name's ending.
 *
 * Tensors go in and out as SEMANTICS.md section 13 has them: row-major, little-endian, packed; bool as u32, one byte in files.
 * Errors: PC4211 for a file that is not what its format demands, with the byte where, PC4212 for a type, PC4213 for an element,
 * PC4214 for what a format has no room for; those of files (base/file.h). */
#ifndef PIPECTL_FOUNDATION_TENSORFILE_TENSOR_FILE_H
#define PIPECTL_FOUNDATION_TENSORFILE_TENSOR_FILE_H

#include "foundation/dtype/dtype.h"
#include "pipectl/host.h"

#define PCTL_TENSOR_NAME_MAX 4096u

typedef enum pctl_tensor_format {
	PCTL_TENSOR_FORMAT_NPY,
	PCTL_TENSOR_FORMAT_NPZ,
	PCTL_TENSOR_FORMAT_SAFETENSORS,
	PCTL_TENSOR_FORMAT_GGUF
} pctl_tensor_format;

/* type.dtype is PCTL_SCALAR_NONE where the file's type, `stored`, is none of ours: such a tensor can be listed, not read. The
 * only tensor of an .npy file has the name "". */
typedef struct pctl_tensor_entry {
	const char *name;
	const char *stored; /* the type in the file's own words */
	pctl_tensor_type type;
	uint64_t n_bytes; /* of the tensor as it is read; 0 where it cannot be */
} pctl_tensor_entry;

typedef struct pctl_tensor_file pctl_tensor_file;

pctl_status pctl_tensor_file_open(const char *path, const pctl_call *call, pctl_tensor_file **out);
/* The same of an open descriptor of a regular file, which is taken over, also on failure; `name` is for messages. */
pctl_status pctl_tensor_file_open_fd(int fd, const char *name, const pctl_call *call,
				     pctl_tensor_file **out);
void pctl_tensor_file_close(pctl_tensor_file *f); /* NULL is fine */
pctl_tensor_format pctl_tensor_file_format(const pctl_tensor_file *f);
const char *pctl_tensor_format_name(pctl_tensor_format format);
/* In the file's order; NULL behind the last. Lives as long as the file. */
const pctl_tensor_entry *pctl_tensor_file_at(const pctl_tensor_file *f, uint64_t i);
/* The number of the tensor of that name; with name NULL, of the only one. PC4215, with the nearest names. */
pctl_status pctl_tensor_file_find(const pctl_tensor_file *f, const char *name,
				  const pctl_call *call, uint64_t *out);
/* 1 and where in the file the bytes lie that pctl_tensor_file_read would give: they need no change and no check. Else 0. */
int pctl_tensor_file_place(const pctl_tensor_file *f, uint64_t i, uint64_t *offset);
/* Another descriptor of the file; -1 with errno. */
int pctl_tensor_file_dup(const pctl_tensor_file *f);
/* All bytes of a tensor, released with free(). */
pctl_status pctl_tensor_file_read(pctl_tensor_file *f, uint64_t i, const pctl_call *call,
				  void **out);

/* n bytes of a tensor from byte `at` of it on; only where pctl_tensor_file_place gives 1, and within the tensor. Codes are not looked at. */
pctl_status pctl_tensor_file_read_part(const pctl_tensor_file *f, uint64_t i, uint64_t at,
				       void *out, uint64_t n, const pctl_call *call);

/* 1 and the elements and bytes of a tensor of this type; 0 where they do not fit 64 bits, or a row is no whole number of blocks. */
int pctl_tensor_size(const pctl_tensor_type *type, uint64_t *n, uint64_t *n_bytes);
/* Every code stands for something, and bits behind the last element are zero: else PC4213. `data` has the bytes of
 * pctl_tensor_size; `file` and `name` are for messages. */
pctl_status pctl_tensor_check(const char *file, const char *name, const pctl_tensor_type *type,
			      const void *data, const pctl_call *call);

/* A path that ends in .npy .npz .safetensors or .gguf, and what stands behind a colon there: the name of a tensor, NULL where
 * there is no colon. 1, or 0: `text` names no file of tensors. n_path: bytes of the path. */
int pctl_tensor_ref_parse(const char *text, size_t *n_path, const char **name);

typedef struct pctl_tensor {
	const char *name;
	pctl_tensor_type type;
	const void *data;
} pctl_tensor;

/* The format that the ending of a path stands for: .npy .npz .safetensors. 1, or 0 for another ending. */
int pctl_tensor_format_of(const char *path, pctl_tensor_format *out);
/* PC4214 where the ending is that of a format which is read alone here: GGUF. */
pctl_status pctl_tensor_format_check(const char *path, const pctl_call *call);
/* PC4214 where the format has no such type; data is not looked at. */
pctl_status pctl_tensor_format_takes(const char *path, pctl_tensor_format format,
				     const pctl_tensor *t, const pctl_call *call);
/* Put tensors under a path (base/output.h); the same tensors give the same bytes. .npy holds one. */
pctl_status pctl_tensor_file_write(const char *path, pctl_tensor_format format,
				   const pctl_tensor *tensors, uint64_t n, const pctl_call *call);

#endif
