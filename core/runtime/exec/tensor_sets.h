/* The sets of tensors that a run reads: each is opened once, and its files stay open until the run ends. */
#ifndef PIPECTL_RUNTIME_EXEC_TENSOR_SETS_H
#define PIPECTL_RUNTIME_EXEC_TENSOR_SETS_H

#include "runtime/exec/source.h"

typedef struct pctl_tensor_sets pctl_tensor_sets;

pctl_tensor_sets *pctl_tensor_sets_create(void); /* NULL: no memory */
void pctl_tensor_sets_destroy(
	pctl_tensor_sets *s); /* behind the sources that it gave; NULL is fine */

/*
 * The source of one tensor, with its type.
 *
 * path  a file of tensors, the index of a sharded one, or a folder that holds one of these
 * pos   what refers to the tensor, for messages
 * known as of pctl_source_open_shared
 *
 * Errors: PC4215 where the set has no such tensor, or the folder not one set; those of files of tensors and of sources.
 */
pctl_status pctl_tensor_sets_source(pctl_tensor_sets *s, const char *path, const char *tensor,
				    const pctl_pos *pos, const pctl_cid *known,
				    const pctl_call *call, pctl_data_source **out);

#endif
