/* Reading and writing the payload of a frame: a growing output and an input in which every read is
 * bounds-checked and the first failure sticks. Both ends run on one machine, so numbers are native.
 */
#ifndef PIPECTL_RUNTIME_IPC_WIRE_H
#define PIPECTL_RUNTIME_IPC_WIRE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes under construction. `failed` is set by the first lack of memory and never cleared by a put.
 */
typedef struct pctl_ipc_out {
	uint8_t *data;
	size_t n, cap;
	int failed;
} pctl_ipc_out;

void pctl_ipc_put(pctl_ipc_out *o, const void *data, size_t n);
void pctl_ipc_put_u32(pctl_ipc_out *o, uint32_t v);
void pctl_ipc_put_u64(pctl_ipc_out *o, uint64_t v);
/* A length and n bytes. */
void pctl_ipc_put_blob(pctl_ipc_out *o, const void *data, size_t n);
/* A string that may be NULL; longer ones are cut to PCTL_IPC_STRING_MAX bytes. */
void pctl_ipc_put_string(pctl_ipc_out *o, const char *s);
/* n zero bytes to be filled in later; their offset, meaningless when `failed`. */
size_t pctl_ipc_put_hole(pctl_ipc_out *o, size_t n);
void pctl_ipc_out_drop(pctl_ipc_out *o);

#define PCTL_IPC_STRING_MAX 65536u

/* Bytes being read. After a failure every read gives zero, NULL or an empty blob. */
typedef struct pctl_ipc_in {
	const uint8_t *data;
	size_t n, pos;
	int failed;
} pctl_ipc_in;

void pctl_ipc_get(pctl_ipc_in *in, void *out, size_t n);
uint32_t pctl_ipc_get_u32(pctl_ipc_in *in);
uint64_t pctl_ipc_get_u64(pctl_ipc_in *in);
/* A pointer into the input and its length. */
const uint8_t *pctl_ipc_get_blob(pctl_ipc_in *in, size_t *n);
/* A NUL-terminated string inside the input, or NULL where NULL was put (or after a failure). */
const char *pctl_ipc_get_string(pctl_ipc_in *in);
/* 1 when all was read and nothing failed. */
int pctl_ipc_in_done(const pctl_ipc_in *in);

#endif
