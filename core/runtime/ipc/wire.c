/* Payload reading and writing; see wire.h. */
#include "runtime/ipc/wire.h"

#include <stdlib.h>
#include <string.h>

static int reserve(pctl_ipc_out *o, size_t n)
{
	size_t need, cap;
	uint8_t *data;

	if (o->failed || __builtin_add_overflow(o->n, n, &need)) {
		o->failed = 1;
		return 0;
	}
	if (need <= o->cap)
		return 1;
	cap = o->cap ? o->cap : 256;
	while (cap < need) {
		if (__builtin_mul_overflow(cap, (size_t)2, &cap)) {
			o->failed = 1;
			return 0;
		}
	}
	data = realloc(o->data, cap);
	if (!data) {
		o->failed = 1;
		return 0;
	}
	o->data = data;
	o->cap = cap;
	return 1;
}

void pctl_ipc_put(pctl_ipc_out *o, const void *data, size_t n)
{
	if (n == 0 || !reserve(o, n))
		return;
	memcpy(o->data + o->n, data, n);
	o->n += n;
}

void pctl_ipc_put_u32(pctl_ipc_out *o, uint32_t v)
{
	pctl_ipc_put(o, &v, sizeof(v));
}

void pctl_ipc_put_u64(pctl_ipc_out *o, uint64_t v)
{
	pctl_ipc_put(o, &v, sizeof(v));
}

void pctl_ipc_put_blob(pctl_ipc_out *o, const void *data, size_t n)
{
	pctl_ipc_put_u64(o, n);
	pctl_ipc_put(o, data, n);
}

void pctl_ipc_put_string(pctl_ipc_out *o, const char *s)
{
	size_t n;

	if (!s) {
		pctl_ipc_put_u32(o, 0);
		return;
	}
	n = strnlen(s, PCTL_IPC_STRING_MAX);
	/* The length counts the NUL, so that 0 is free to mean NULL. */
	pctl_ipc_put_u32(o, (uint32_t)n + 1);
	pctl_ipc_put(o, s, n);
	pctl_ipc_put(o, "", 1);
}

size_t pctl_ipc_put_hole(pctl_ipc_out *o, size_t n)
{
	size_t at = o->n;

	if (!reserve(o, n))
		return 0;
	memset(o->data + o->n, 0, n);
	o->n += n;
	return at;
}

void pctl_ipc_out_drop(pctl_ipc_out *o)
{
	free(o->data);
	memset(o, 0, sizeof(*o));
}

static const uint8_t *take(pctl_ipc_in *in, size_t n)
{
	const uint8_t *p;

	if (in->failed || n > in->n - in->pos) {
		in->failed = 1;
		return NULL;
	}
	p = in->data + in->pos;
	in->pos += n;
	return p;
}

void pctl_ipc_get(pctl_ipc_in *in, void *out, size_t n)
{
	const uint8_t *p = take(in, n);

	if (n == 0)
		return;
	if (p)
		memcpy(out, p, n);
	else
		memset(out, 0, n);
}

uint32_t pctl_ipc_get_u32(pctl_ipc_in *in)
{
	uint32_t v;

	pctl_ipc_get(in, &v, sizeof(v));
	return v;
}

uint64_t pctl_ipc_get_u64(pctl_ipc_in *in)
{
	uint64_t v;

	pctl_ipc_get(in, &v, sizeof(v));
	return v;
}

const uint8_t *pctl_ipc_get_blob(pctl_ipc_in *in, size_t *n)
{
	uint64_t len = pctl_ipc_get_u64(in);
	const uint8_t *p;

	*n = 0;
	if (in->failed || len > in->n - in->pos) {
		in->failed = 1;
		return NULL;
	}
	p = take(in, (size_t)len);
	*n = (size_t)len;
	return p;
}

const char *pctl_ipc_get_string(pctl_ipc_in *in)
{
	uint32_t n = pctl_ipc_get_u32(in);
	const uint8_t *p;

	if (in->failed || n == 0)
		return NULL;
	p = n - 1 <= PCTL_IPC_STRING_MAX ? take(in, n) : NULL;
	if (!p || memchr(p, 0, n) != p + n - 1) {
		in->failed = 1;
		return NULL;
	}
	return (const char *)p;
}

int pctl_ipc_in_done(const pctl_ipc_in *in)
{
	return !in->failed && in->pos == in->n;
}
