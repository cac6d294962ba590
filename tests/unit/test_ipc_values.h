/* Values of any shape of the worker protocol, made and compared by its table of fields: the smallest and the largest that may
 * travel. Objects are numbers that stand for themselves. */
#ifndef PIPECTL_TESTS_UNIT_TEST_IPC_VALUES_H
#define PIPECTL_TESTS_UNIT_TEST_IPC_VALUES_H

#include "runtime/ipc/protocol.h"

enum { LOW = 0, HIGH = 1 };

/* The one object of each kind that there is. */
static uint32_t number_of(const void *object)
{
	return (uint32_t)(uintptr_t)object;
}

static void *find_number(void *ctx, uint32_t kind, uint32_t number)
{
	(void)ctx;
	return number == 10 + kind ? (void *)(uintptr_t)number : NULL;
}

static uint32_t u32_of(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static const void *pointer_of(const uint8_t *at)
{
	const void *v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static void put_u32(uint8_t *at, uint64_t v)
{
	const uint32_t v32 = v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;

	memcpy(at, &v32, sizeof(v32));
}

static void put_u64(uint8_t *at, uint64_t v)
{
	memcpy(at, &v, sizeof(v));
}

static void put_pointer(uint8_t *at, const void *p)
{
	memcpy(at, &p, sizeof(p));
}

/* Bytes of an item of a list. */
static size_t item_size(const pctl_ipc_field *f)
{
	return f->kind == PCTL_IPC_KIND_LIST	    ? pctl_ipc_shape_of(f->of)->size
	       : f->kind == PCTL_IPC_KIND_TEXT_LIST ? sizeof(char *)
						    : sizeof(uint32_t);
}

static void make_value(const pctl_ipc_shape *s, int extreme, pctl_arena *a, uint8_t *value);

/* n items of a list. */
static void make_list(const pctl_ipc_field *f, int extreme, uint32_t n, pctl_arena *a,
		      uint8_t *value)
{
	uint8_t *items = pctl_arena_array(a, n, item_size(f));

	for (uint32_t i = 0; i < n; i++) {
		uint8_t *at = items + i * item_size(f);

		if (f->kind == PCTL_IPC_KIND_LIST)
			make_value(pctl_ipc_shape_of(f->of), extreme, a, at);
		else if (f->kind == PCTL_IPC_KIND_TEXT_LIST)
			put_pointer(at, extreme == HIGH ? "a \xc3\xa9 text\n" : "");
		else
			put_u32(at, extreme == HIGH ? UINT32_MAX : 0);
	}
	put_pointer(value + f->at, items);
	put_u32(value + f->n_at, n);
}

static void make_field(const pctl_ipc_field *f, int extreme, pctl_arena *a, uint8_t *value)
{
	static const uint8_t some[3] = {1, 0, 255};
	pctl_ipc_bytes bytes = {some, sizeof(some)};
	uint8_t *at = value + f->at;
	uint32_t i, v;

	switch (f->kind) {
	case PCTL_IPC_KIND_U32:
	case PCTL_IPC_KIND_NEW:
	case PCTL_IPC_KIND_FLAGS:
		put_u32(at, extreme == HIGH ? f->most : f->least);
		break;
	case PCTL_IPC_KIND_U64:
		put_u64(at, extreme == HIGH ? f->most : f->least);
		break;
	case PCTL_IPC_KIND_ONE_OF:
		for (i = 0, v = 0; i < 128; i++)
			if ((i < 64 ? f->most : f->least) >> i % 64 & 1 &&
			    (extreme == HIGH || v == 0))
				v = i;
		put_u32(at, v);
		break;
	case PCTL_IPC_KIND_U32S:
		memset(at, extreme == HIGH ? 255 : 0, f->of * sizeof(uint32_t));
		break;
	case PCTL_IPC_KIND_U64S:
		memset(at, extreme == HIGH ? 255 : 0, f->of * sizeof(uint64_t));
		break;
	case PCTL_IPC_KIND_UPTO:
		memset(at, extreme == HIGH ? 255 : 0, f->most * sizeof(uint64_t));
		break;
	case PCTL_IPC_KIND_CHARS:
		if (extreme == HIGH)
			memset(at, 'x', f->most - 1);
		break;
	case PCTL_IPC_KIND_TEXT:
		put_pointer(at, extreme == HIGH				     ? "a \xc3\xa9 text\n"
				: f->of & (PCTL_IPC_NEEDED | PCTL_IPC_EMPTY) ? ""
									     : NULL);
		break;
	case PCTL_IPC_KIND_TEXTS:
		for (i = 0; i < f->of; i++)
			put_pointer(at + i * sizeof(char *), extreme == HIGH ? "text" : NULL);
		break;
	case PCTL_IPC_KIND_BYTES:
		if (extreme == HIGH)
			memcpy(at, &bytes, sizeof(bytes));
		break;
	case PCTL_IPC_KIND_HANDLE:
		if (extreme == HIGH || f->least)
			put_pointer(at, (void *)(uintptr_t)(10 + f->of));
		break;
	case PCTL_IPC_KIND_NEST:
		make_value(pctl_ipc_shape_of(f->of), extreme, a, at);
		break;
	case PCTL_IPC_KIND_HEAD:
		break;
	default:
		make_list(f, extreme, extreme == HIGH ? 2 : 0, a, value);
		break;
	}
}

static void make_value(const pctl_ipc_shape *s, int extreme, pctl_arena *a, uint8_t *value)
{
	for (uint32_t i = 0; i < s->n_fields; i++)
		make_field(&s->fields[i], extreme, a, value);
}

/* ---- comparing ----------------------------------------------------------------------------- */

static int same_value(const pctl_ipc_shape *s, const uint8_t *a, const uint8_t *b);

static int same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static int same_list(const pctl_ipc_field *f, const uint8_t *a, const uint8_t *b)
{
	const uint8_t *x = pointer_of(a + f->at), *y = pointer_of(b + f->at);
	const uint32_t n = u32_of(a + f->n_at);

	if (n != u32_of(b + f->n_at))
		return 0;
	for (uint32_t i = 0; i < n; i++, x += item_size(f), y += item_size(f))
		if (f->kind == PCTL_IPC_KIND_LIST ? !same_value(pctl_ipc_shape_of(f->of), x, y)
		    : f->kind == PCTL_IPC_KIND_TEXT_LIST ? !same_text(pointer_of(x), pointer_of(y))
							 : u32_of(x) != u32_of(y))
			return 0;
	return 1;
}

/* Is b, which came over the wire, the value a. */
static int same_field(const pctl_ipc_field *f, const uint8_t *a, const uint8_t *b)
{
	const uint8_t *x = a + f->at, *y = b + f->at;
	pctl_ipc_bytes from, to;

	switch (f->kind) {
	case PCTL_IPC_KIND_U64:
		return memcmp(x, y, sizeof(uint64_t)) == 0;
	case PCTL_IPC_KIND_U32S:
		return memcmp(x, y, f->of * sizeof(uint32_t)) == 0;
	case PCTL_IPC_KIND_U64S:
		return memcmp(x, y, f->of * sizeof(uint64_t)) == 0;
	case PCTL_IPC_KIND_UPTO:
		return memcmp(x, y, u32_of(a + f->n_at) * sizeof(uint64_t)) == 0;
	case PCTL_IPC_KIND_CHARS:
		return strcmp((const char *)x, (const char *)y) == 0;
	case PCTL_IPC_KIND_TEXT:
		return same_text(pointer_of(x), pointer_of(y));
	case PCTL_IPC_KIND_TEXTS:
		for (uint32_t i = 0; i < f->of; i++, x += sizeof(char *), y += sizeof(char *))
			if (!same_text(pointer_of(x), pointer_of(y)))
				return 0;
		return 1;
	case PCTL_IPC_KIND_BYTES:
		memcpy(&from, x, sizeof(from));
		memcpy(&to, y, sizeof(to));
		return from.n == to.n && (from.n == 0 || memcmp(from.data, to.data, from.n) == 0);
	case PCTL_IPC_KIND_HANDLE:
		return pointer_of(x) == pointer_of(y);
	case PCTL_IPC_KIND_NEST:
		return same_value(pctl_ipc_shape_of(f->of), x, y);
	case PCTL_IPC_KIND_HEAD:
		return u32_of(y) == f->most && ((const pctl_head *)(const void *)y)->major == 1;
	case PCTL_IPC_KIND_LIST:
	case PCTL_IPC_KIND_TEXT_LIST:
	case PCTL_IPC_KIND_NUMBERS:
		return same_list(f, a, b);
	default:
		return u32_of(x) == u32_of(y);
	}
}

static int same_value(const pctl_ipc_shape *s, const uint8_t *a, const uint8_t *b)
{
	for (uint32_t i = 0; i < s->n_fields; i++)
		if (!same_field(&s->fields[i], a, b))
			return 0;
	return 1;
}

#endif
