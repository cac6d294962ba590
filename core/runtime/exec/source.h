/* Data that comes from outside (a file, standard input, a blob of the store, zeros), read in
 * pieces: a run never holds a copy of its inputs. */
#ifndef PIPECTL_RUNTIME_EXEC_SOURCE_H
#define PIPECTL_RUNTIME_EXEC_SOURCE_H

#include "foundation/tensorfile/tensor_file.h"
#include "pipectl/oplib.h"
#include "pipectl/program.h"
#include "runtime/cas/store.h"

typedef struct pctl_data_source pctl_data_source;

#define PCTL_SOURCE_PIECE (8u << 20)

/* Open a file ("-": standard input, which is kept in memory, as are the bytes of a pipe). Its CID is computed here, in one
 * pass. */
pctl_status pctl_source_open_file(const char *path, const pctl_call *call, pctl_data_source **out);
/* n bytes that lie in memory and are taken over, also on failure; `name` is for messages. */
pctl_status pctl_source_open_memory(const char *name, char *memory, uint64_t n_bytes,
				    const pctl_call *call, pctl_data_source **out);
/* n bytes that stay the caller's until the source is closed, and do not change until then. */
pctl_status pctl_source_open_bytes(const char *name, const void *data, uint64_t n_bytes,
				   const pctl_call *call, pctl_data_source **out);
/* A blob of the store, verified. */
pctl_status pctl_source_open_cid(pctl_store *store, const pctl_cid *cid, const pctl_call *call,
				 pctl_data_source **out);
/* n zero bytes. */
pctl_status pctl_source_open_zero(uint64_t n_bytes, const pctl_call *call, pctl_data_source **out);
/* n bytes of an open file from `base` on. The descriptor stays the caller's, open until the source is closed, or is handed over. known: their CID, where somebody hashed them
 * before; they are read once less then, and who reads other ones gets PC5210, as of bytes that changed since. NULL: they are hashed now. */
pctl_status pctl_source_open_shared(const char *name, int fd, uint64_t base, uint64_t n_bytes,
				    const pctl_cid *known, const pctl_call *call,
				    pctl_data_source **out);
/* Hand over the descriptor that it was opened with: it is closed with the source, or now where that does not read from it. */
void pctl_source_take_descriptor(pctl_data_source *s, int fd);
/* Tensor i of an open file, `text` for messages: from the descriptor, which stays the caller's, where the bytes lie there as they are
 * wanted; then `known` is of use, as above. */
pctl_status pctl_source_open_entry(pctl_tensor_file *f, uint64_t i, int fd, const char *text,
				   const pctl_cid *known, const pctl_call *call,
				   pctl_data_source **out);
/* What a path names: one tensor where it is FILE or FILE:NAME with the ending of a file of tensors (foundation/tensorfile),
 * whose type the source has then; else the file. Errors: PC4211 to PC4215 besides those of files. */
pctl_status pctl_source_open_named(const char *path, const pctl_call *call, pctl_data_source **out);
/* The same of a file of tensors whose bytes lie in memory; they are taken over, also on failure. */
pctl_status pctl_source_open_tensor_memory(const char *path, const char *name, char *memory,
					   uint64_t n_bytes, const pctl_call *call,
					   pctl_data_source **out);
/* The type of the tensor that such a path names, without reading it; dtype 0: it is no file of tensors. */
pctl_status pctl_source_peek(const char *path, const pctl_call *call, pctl_tensor_type *out);
/* "zero:BYTES", else a file that exists by this name or a tensor of one, else a CID, or "CID:TYPE" with all dimensions, as
 * u32[4,2], else the error of opening the file. */
pctl_status pctl_source_open(pctl_store *store, const char *text, const pctl_call *call,
			     pctl_data_source **out);
void pctl_source_close(pctl_data_source *s);

uint64_t pctl_source_bytes(const pctl_data_source *s);
/* 1 for `zero:BYTES`, which nobody computed. */
int pctl_source_is_zero(const pctl_data_source *s);
/* What the data say that they are; NULL: nothing, as of bytes alone. */
const pctl_tensor_type *pctl_source_type(const pctl_data_source *s);
void pctl_source_set_type(pctl_data_source *s, const pctl_tensor_type *type);
const pctl_cid *pctl_source_cid(const pctl_data_source *s);
const char *pctl_source_name(const pctl_data_source *s);

/* Pass all bytes to `take`, in order, in pieces of at most PCTL_SOURCE_PIECE. What was read is
 * hashed again: a file that changed since it was opened is refused (PC5210) after the last piece,
 * and nothing may be made of the pieces then. */
pctl_status pctl_source_stream(pctl_data_source *s, const pctl_call *call,
			       pctl_status (*take)(void *ctx, uint64_t offset, const void *data,
						   uint64_t n),
			       void *ctx);

#endif
