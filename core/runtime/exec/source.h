/* Data that comes from outside (a file, standard input, a blob of the store, zeros), read in
 * pieces: a run never holds a copy of its inputs. */
#ifndef PIPECTL_RUNTIME_EXEC_SOURCE_H
#define PIPECTL_RUNTIME_EXEC_SOURCE_H

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
/* "zero:BYTES", else a file that exists by this name, else a CID, else the error of opening the
 * file. */
pctl_status pctl_source_open(pctl_store *store, const char *text, const pctl_call *call,
			     pctl_data_source **out);
void pctl_source_close(pctl_data_source *s);

uint64_t pctl_source_bytes(const pctl_data_source *s);
/* 1 for `zero:BYTES`, which nobody computed. */
int pctl_source_is_zero(const pctl_data_source *s);
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
