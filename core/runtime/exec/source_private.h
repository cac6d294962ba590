/* What the files of sources share. */
#ifndef PIPECTL_RUNTIME_EXEC_SOURCE_PRIVATE_H
#define PIPECTL_RUNTIME_EXEC_SOURCE_PRIVATE_H

#include "runtime/exec/source.h"

struct pctl_data_source {
	char *name;
	int fd;		   /* of a file, or -1 */
	char *memory;	   /* standard input, or taken over */
	const char *bytes; /* in memory: that, or the caller's; NULL: elsewhere */
	pctl_blob blob;
	uint64_t n_bytes, base; /* base: where the bytes begin in the file */
	pctl_tensor_type type;	/* dtype 0: none is known */
	pctl_cid cid;
	uint32_t is_zero;
	uint32_t has_blob, is_shared; /* is_shared: the descriptor is somebody else's */
};

pctl_status pctl_source_io_error(const pctl_call *call, const pctl_data_source *s, int error);

/* source_walk.c: every piece of the source, in order, to `take` (NULL: nobody wants them) in the thread of the caller, and the CID of them
 * all. Of more than one piece the next is read and hashed by another thread meanwhile. */
pctl_status pctl_source_walk(const pctl_data_source *s, const pctl_call *call,
			     pctl_status (*take)(void *ctx, uint64_t offset, const void *data,
						 uint64_t n),
			     void *ctx, pctl_cid *cid);

#endif
