/* What the readers of the formats share. */
#ifndef PIPECTL_FOUNDATION_TENSORFILE_PRIVATE_H
#define PIPECTL_FOUNDATION_TENSORFILE_PRIVATE_H

#include "foundation/base/arena.h"
#include "foundation/base/str.h"
#include "foundation/tensorfile/gguf.h"
#include "foundation/tensorfile/tensor_file.h"

#define HEADER_MAX (100u << 20) /* of safetensors, by its definition */
#define NPY_HEADER_MAX 65536u

/* offset, n_stored: where the bytes lie in the file (of .npz: in the member, whose number `member` is). */
typedef struct stored {
	pctl_tensor_entry entry;
	uint64_t offset, n_stored, member;
	uint32_t swapped, columns; /* big-endian; the first index runs fastest */
} stored;

struct pctl_tensor_file {
	const char *path;
	int fd;
	uint64_t size;
	pctl_tensor_format format;
	pctl_arena *arena;
	void *zip; /* of .npz */
	stored *tensors;
	uint64_t n, capacity;
	pctl_gguf_key *keys; /* of GGUF */
	uint64_t n_keys, keys_capacity;
};

pctl_status tensor_open_npy(pctl_tensor_file *f, const pctl_call *call);
pctl_status tensor_open_npz(pctl_tensor_file *f, const pctl_call *call);
pctl_status tensor_open_safetensors(pctl_tensor_file *f, const pctl_call *call);
pctl_status tensor_open_gguf(pctl_tensor_file *f, const pctl_call *call);
void tensor_close_npz(pctl_tensor_file *f);
pctl_status tensor_read_member(pctl_tensor_file *f, const stored *t, const pctl_call *call,
			       void *out);

/* PC4211 at a byte of the file. */
pctl_status tensor_malformed(const pctl_tensor_file *f, uint64_t at, const pctl_call *call,
			     const char *format, ...) __attribute__((format(printf, 4, 5)));
/* n bytes at an offset; a file that is shorter is malformed. */
pctl_status tensor_pread(const pctl_tensor_file *f, uint64_t at, void *out, uint64_t n,
			 const pctl_call *call);
/* A further tensor, zeroed, with a copy of its name; NULL: no memory. Names must be plain UTF-8 (0: they are not, or too long). */
stored *tensor_add(pctl_tensor_file *f, const char *name, size_t n);
int tensor_name_good(const char *name, size_t n);
/* Two tensors of one name are malformed. */
pctl_status tensor_names_differ(const pctl_tensor_file *f, const pctl_call *call);
/* The sizes that the type and dimensions of an entry ask for: entry.n_bytes and n_stored. 0 where they overflow, or a row is no
 * whole number of blocks. A foreign type has none and is left alone. */
int tensor_sizes(stored *t);

/* The header of .npy in n bytes: fills type, order and offset, behind which the data are to lie. `at`: where it begins in the file. */
pctl_status tensor_parse_npy(const pctl_tensor_file *f, const uint8_t *bytes, uint64_t n,
			     uint64_t at, stored *t, const pctl_call *call);
/* And one that says this, for writing. 0: .npy has no such type. */
int tensor_npy_header(pctl_str_buf *out, const pctl_tensor_type *type);
/* What safetensors calls a type; NULL: nothing. */
const char *tensor_safetensors_type(uint32_t dtype);
/* The bytes of a tensor as files have them: bool in bytes. NULL: no memory; else released with free(). */
void *tensor_to_stored(const pctl_tensor *t, uint64_t *n);
/* The header of safetensors, padded with blanks so that data begin at a multiple of 8; released with free(). NULL: no memory. */
char *tensor_safetensors_header(const pctl_tensor *tensors, uint64_t n, uint64_t *n_out);
/* And of GGUF, up to the first byte of data. PC4214: more dimensions than it has room for, or a type that it has not. */
pctl_status tensor_gguf_header(const char *path, const pctl_tensor *tensors, uint64_t n,
			       const pctl_gguf_keys *keys, const pctl_call *call, char **out,
			       uint64_t *n_out);
#define GGUF_ALIGNMENT 32u /* where the file says nothing else */
/* n bytes of an integer from the lowest, and a string behind its length, as GGUF has them. */
void tensor_put_integer(pctl_str_buf *s, uint64_t v, uint32_t n);
void tensor_put_text(pctl_str_buf *s, const char *text, uint64_t n);

pctl_status tensor_write_npz(const char *path, const pctl_tensor *tensors, uint64_t n,
			     const pctl_call *call);
pctl_status tensor_write_safetensors(const char *path, const pctl_tensor *tensors, uint64_t n,
				     const pctl_call *call);
/* parts.c: 1: the name of a part, `number` of `n` behind the first `stem` bytes of the path. A file whose name is none is no part, either (PC4218); and
 * files that are to be all parts, in their order, are. */
int tensor_part_named(const char *path, size_t *stem, uint32_t *number, uint32_t *n);
pctl_status tensor_part_alone(const pctl_tensor_file *f, const char *path, const pctl_call *call);
pctl_status tensor_parts_check(pctl_tensor_file *const *files, const char *const *paths, uint32_t n,
			       const pctl_call *call);
pctl_status tensor_no_room(const char *path, const char *format, const pctl_tensor *t,
			   const pctl_call *call);

#endif
