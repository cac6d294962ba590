/* One set of tensors that lies in one file or in several: a file of tensors; the index of a sharded safetensors file
 * (`model.safetensors.index.json`), which names for each tensor the file beside it that holds it; one of the parts of a GGUF file
 * (`NAME-00001-of-00003.gguf`), which stands for all of them. */
#ifndef PIPECTL_FOUNDATION_TENSORFILE_SHARDS_H
#define PIPECTL_FOUNDATION_TENSORFILE_SHARDS_H

#include "foundation/tensorfile/tensor_file.h"

#define PCTL_TENSOR_INDEX_ENDING ".safetensors.index.json"
#define PCTL_TENSOR_SHARDS_MAX 4096u

typedef struct pctl_tensor_shards pctl_tensor_shards;

/*
 * Open a file of tensors, or all files of an index (a path that ends in PCTL_TENSOR_INDEX_ENDING). An index is believed in nothing: its files
 * are plain names beside it, each of its tensors is in the file that it says, no file holds another.
 *
 * Parts are all there, say of themselves which they are (split.no, split.count), and hold as many tensors as the first says, each once; but for it they
 * have no keys of their own.
 *
 * Errors: PC4218 for parts that are none, and for an index that is no such thing or does not fit its files, with the tensor or file; those of
 * pctl_tensor_file_open.
 */
pctl_status pctl_tensor_shards_open(const char *path, const pctl_call *call,
				    pctl_tensor_shards **out);
void pctl_tensor_shards_close(pctl_tensor_shards *s); /* NULL is fine */
/* The files by name, and their paths; NULL behind the last. They live as long as the set. */
pctl_tensor_file *pctl_tensor_shards_file(const pctl_tensor_shards *s, uint32_t i);
const char *pctl_tensor_shards_path(const pctl_tensor_shards *s, uint32_t i);

#endif
