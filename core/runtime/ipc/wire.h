/* The bytes of a payload: a growing output and an input in which every read is bounds-checked and the first failure sticks.
 * What they mean is protocol.h's. Both ends run on one machine, so numbers are native. */
#ifndef PIPECTL_RUNTIME_IPC_WIRE_H
#define PIPECTL_RUNTIME_IPC_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes under construction. `failed` is set by the first lack of memory and never cleared by a put.
 */
typedef struct pctl_ipc_out {
	uint8_t *data;
	size_t n, cap;
	int failed;
} pctl_ipc_out;

/* Room for n more bytes, or 0 and `failed`. */
int pctl_ipc_reserve(pctl_ipc_out *o, size_t n);
void pctl_ipc_out_drop(pctl_ipc_out *o);

static inline void pctl_ipc_put(pctl_ipc_out *o, const void *data, size_t n)
{
	if (n == 0 || ((o->failed || o->cap - o->n < n) && !pctl_ipc_reserve(o, n)))
		return;
	memcpy(o->data + o->n, data, n);
	o->n += n;
}
static inline void pctl_ipc_put_u32(pctl_ipc_out *o, uint32_t v)
{
	pctl_ipc_put(o, &v, sizeof(v));
}
static inline void pctl_ipc_put_u64(pctl_ipc_out *o, uint64_t v)
{
	pctl_ipc_put(o, &v, sizeof(v));
}

/* Bytes being read. After a failure every read gives zero or NULL. */
typedef struct pctl_ipc_in {
	const uint8_t *data;
	size_t n, pos;
	int failed;
} pctl_ipc_in;

/* The next n bytes, where they lie; NULL and `failed` when there are fewer. */
static inline const uint8_t *pctl_ipc_take(pctl_ipc_in *in, uint64_t n)
{
	const uint8_t *p = in->data + in->pos;

	if (in->failed || n > in->n - in->pos) {
		in->failed = 1;
		return NULL;
	}
	in->pos += (size_t)n;
	return p;
}
static inline void pctl_ipc_get(pctl_ipc_in *in, void *out, size_t n)
{
	const uint8_t *p = pctl_ipc_take(in, n);

	if (n == 0)
		return;
	if (p)
		memcpy(out, p, n);
	else
		memset(out, 0, n);
}
static inline uint32_t pctl_ipc_get_u32(pctl_ipc_in *in)
{
	uint32_t v;

	pctl_ipc_get(in, &v, sizeof(v));
	return v;
}
static inline uint64_t pctl_ipc_get_u64(pctl_ipc_in *in)
{
	uint64_t v;

	pctl_ipc_get(in, &v, sizeof(v));
	return v;
}
/* 1 when all was read and nothing failed. */
static inline int pctl_ipc_in_done(const pctl_ipc_in *in)
{
	return !in->failed && in->pos == in->n;
}

#endif
