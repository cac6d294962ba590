/* Files of many tensors, written from the first byte to the last, so that no more than a piece of them is in memory: safetensors and
 * GGUF (version 3, aligned to 32 bytes). What they hold is said at the beginning. */
#ifndef PIPECTL_FOUNDATION_TENSORFILE_WRITER_H
#define PIPECTL_FOUNDATION_TENSORFILE_WRITER_H

#include "foundation/tensorfile/gguf.h"

typedef struct pctl_tensor_writer pctl_tensor_writer;

/*
 * Begin a file under a path (base/output.h).
 *
 * format   PCTL_TENSOR_FORMAT_SAFETENSORS or PCTL_TENSOR_FORMAT_GGUF
 * tensors  names and types of all tensors, in the order in which their bytes will come; data is not looked at, nothing is kept
 * keys     of GGUF, NULL: none
 *
 * Errors: PC4214 where the format has no such type, or no room for the shape, and those of base/output.h.
 */
pctl_status pctl_tensor_writer_open(const char *path, pctl_tensor_format format,
				    const pctl_tensor *tensors, uint64_t n,
				    const pctl_gguf_keys *keys, const pctl_call *call,
				    pctl_tensor_writer **out);
/* The next bytes of the tensor at hand, little-endian and packed as files have them; it begins where the one before ended. More than it has
 * is an error of the caller's. */
pctl_status pctl_tensor_writer_put(pctl_tensor_writer *w, const void *data, uint64_t n,
				   const pctl_call *call);
/* All bytes have come: the file is put under its name. `w` is gone afterwards. */
pctl_status pctl_tensor_writer_commit(pctl_tensor_writer *w, const pctl_call *call);
/* Leave everything as it was; NULL is allowed. */
void pctl_tensor_writer_discard(pctl_tensor_writer *w);

#endif
