/* Packing and unpacking by the tables of protocol.c: the one place that knows how each kind of field lies on the wire, and that
 * checks what came against its bounds. Numbers are native; texts are a u32 that counts the NUL (0: NULL) and the bytes with it;
 * bytes a u64 and themselves; lists a u32 and their items; the chars of a fixed field a u32 and the bytes without a NUL. */
#include <stdlib.h>

#include "runtime/ipc/protocol.h"
#include "runtime/ipc/words.h"

typedef uint32_t number_of(const void *object);

static uint32_t u32_at(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Any pointer member. */
static const void *pointer_at(const void *p)
{
	const void *v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* How many members of an array of at most f->most travel. */
static uint32_t n_upto(const pctl_ipc_field *f, const uint8_t *value)
{
	const uint32_t n = u32_at(value + f->n_at);

	return n < f->most ? n : (uint32_t)f->most;
}

/* ---- packing ------------------------------------------------------------------------------- */

static void put_text(pctl_ipc_out *o, const pctl_ipc_field *f, const char *text)
{
	size_t n;

	if (!text) {
		pctl_ipc_put_u32(o, 0);
		return;
	}
	n = f->of & PCTL_IPC_CUT && f->kind == PCTL_IPC_KIND_TEXT ? strnlen(text, (size_t)f->most)
								  : strlen(text);
	if (n >= UINT32_MAX) {
		o->failed = 1;
		return;
	}
	pctl_ipc_put_u32(o, (uint32_t)n + 1);
	pctl_ipc_put(o, text, n);
	pctl_ipc_put(o, "", 1);
}

/* The length of a list, and whether its items follow. */
static int put_count(pctl_ipc_out *o, const pctl_ipc_field *f, uint32_t n, const void *items)
{
	pctl_ipc_put_u32(o, n);
	return items && n <= f->most;
}

static void put_fields(pctl_ipc_out *o, const pctl_ipc_shape *s, const uint8_t *value,
		       number_of *number);

static void put_list(pctl_ipc_out *o, const pctl_ipc_field *f, const uint8_t *value,
		     number_of *number)
{
	const uint32_t n = u32_at(value + f->n_at);
	const uint8_t *items = pointer_at(value + f->at);
	const pctl_ipc_shape *of;
	uint32_t i;

	if (!put_count(o, f, n, items))
		return;
	if (f->kind == PCTL_IPC_KIND_NUMBERS) {
		pctl_ipc_put(o, items, n * sizeof(uint32_t));
		return;
	}
	if (f->kind == PCTL_IPC_KIND_TEXT_LIST) {
		for (i = 0; i < n; i++)
			put_text(o, f, pointer_at(items + i * sizeof(char *)));
		return;
	}
	of = pctl_ipc_shape_of(f->of);
	for (i = 0; i < n && !o->failed; i++)
		put_fields(o, of, items + (size_t)i * of->size, number);
}

static void put_fields(pctl_ipc_out *o, const pctl_ipc_shape *s, const uint8_t *value,
		       number_of *number)
{
	uint32_t i, k;

	for (i = 0; i < s->n_fields; i++) {
		const pctl_ipc_field *f = &s->fields[i];
		const uint8_t *at = value + f->at;
		const pctl_ipc_bytes *bytes;
		const void *object;

		switch (f->kind) {
		case PCTL_IPC_KIND_U32:
		case PCTL_IPC_KIND_ONE_OF:
		case PCTL_IPC_KIND_FLAGS:
		case PCTL_IPC_KIND_NEW:
			pctl_ipc_put(o, at, sizeof(uint32_t));
			break;
		case PCTL_IPC_KIND_U64:
			pctl_ipc_put(o, at, sizeof(uint64_t));
			break;
		case PCTL_IPC_KIND_HANDLE:
			object = pointer_at(at);
			pctl_ipc_put_u32(o, object ? number(object) : 0);
			break;
		case PCTL_IPC_KIND_U32S:
			pctl_ipc_put(o, at, f->of * sizeof(uint32_t));
			break;
		case PCTL_IPC_KIND_U64S:
			pctl_ipc_put(o, at, f->of * sizeof(uint64_t));
			break;
		case PCTL_IPC_KIND_UPTO:
			pctl_ipc_put(o, at, n_upto(f, value) * sizeof(uint64_t));
			break;
		case PCTL_IPC_KIND_CHARS:
			k = (uint32_t)strnlen((const char *)at, (size_t)f->most);
			pctl_ipc_put_u32(o, k);
			pctl_ipc_put(o, at, k);
			break;
		case PCTL_IPC_KIND_TEXT:
			put_text(o, f, pointer_at(at));
			break;
		case PCTL_IPC_KIND_TEXTS:
			for (k = 0; k < f->of; k++)
				put_text(o, f, pointer_at(at + k * sizeof(char *)));
			break;
		case PCTL_IPC_KIND_BYTES:
			bytes = (const pctl_ipc_bytes *)(const void *)at;
			pctl_ipc_put_u64(o, bytes->n);
			pctl_ipc_put(o, bytes->data, bytes->n);
			break;
		case PCTL_IPC_KIND_NEST:
			put_fields(o, pctl_ipc_shape_of(f->of), at, number);
			break;
		case PCTL_IPC_KIND_HEAD:
			break;
		default:
			put_list(o, f, value, number);
			break;
		}
	}
}

void pctl_ipc_pack(pctl_ipc_out *o, uint32_t shape, const void *value, number_of *number)
{
	put_fields(o, pctl_ipc_shape_of(shape), value, number);
}

void pctl_ipc_put_diag(pctl_ipc_out *o, const pctl_diag *d)
{
	pctl_diag cut = *d;

	if (cut.n_notes > PCTL_IPC_NOTES_MAX)
		cut.n_notes = PCTL_IPC_NOTES_MAX;
	if (!cut.notes)
		cut.n_notes = 0;
	pctl_ipc_pack(o, PCTL_IPC_SHAPE_diag, &cut, NULL);
}

/* ---- unpacking ----------------------------------------------------------------------------- */

static void fail_if(pctl_ipc_in *in, int bad)
{
	in->failed |= bad;
}

static uint32_t get_u32(pctl_ipc_in *in, void *at)
{
	const uint32_t v = pctl_ipc_get_u32(in);

	memcpy(at, &v, sizeof(v));
	return v;
}

static void set_pointer(void *at, const void *p)
{
	memcpy(at, &p, sizeof(p));
}

/* What no terminal and no reader should see. */
static int has_controls(const char *text)
{
	for (; *text; text++)
		if (((unsigned char)*text < 0x20 && !strchr("\t\n\r", *text)) || *text == 0x7f)
			return 1;
	return 0;
}

static const char *get_text(pctl_ipc_in *in, uint32_t flags, uint64_t most)
{
	const uint32_t n = pctl_ipc_get_u32(in);
	const char *p;

	if (in->failed || n == 0) {
		fail_if(in, (flags & PCTL_IPC_NEEDED) != 0);
		return flags & PCTL_IPC_EMPTY ? "" : NULL;
	}
	p = n - 1 <= most ? (const char *)pctl_ipc_take(in, n) : NULL;
	if (!p || memchr(p, 0, n) != p + n - 1 ||
	    (flags & PCTL_IPC_WORDS && (has_controls(p) || !pctl_words_valid(p, n)))) {
		in->failed = 1;
		return NULL;
	}
	return p;
}

static void get_chars(pctl_ipc_in *in, const pctl_ipc_field *f, uint8_t *at)
{
	const uint32_t n = pctl_ipc_get_u32(in);
	const uint8_t *p = n < f->most ? pctl_ipc_take(in, n) : NULL;

	if (!p || memchr(p, 0, n))
		in->failed = 1;
	else
		memcpy(at, p, n);
}

static void get_fields(pctl_ipc_in *in, const pctl_ipc_shape *s, const pctl_ipc_scope *scope,
		       uint8_t *value);

/* Every item has a word at least: a length alone costs nothing. */
static void get_list(pctl_ipc_in *in, const pctl_ipc_field *f, const pctl_ipc_scope *scope,
		     uint8_t *value)
{
	const uint32_t n = get_u32(in, value + f->n_at);
	const pctl_ipc_shape *of = pctl_ipc_shape_of(f->of);
	const size_t size = f->kind == PCTL_IPC_KIND_LIST	 ? of->size
			    : f->kind == PCTL_IPC_KIND_TEXT_LIST ? sizeof(char *)
								 : sizeof(uint32_t);
	uint8_t *items;
	uint32_t i;

	fail_if(in, n > f->most || n > (in->n - in->pos) / sizeof(uint32_t));
	items = in->failed ? NULL : pctl_arena_array(scope->arena, n, size);
	if (!items) {
		in->failed = 1;
		return;
	}
	set_pointer(value + f->at, items);
	if (f->kind == PCTL_IPC_KIND_NUMBERS)
		pctl_ipc_get(in, items, n * size);
	else if (f->kind == PCTL_IPC_KIND_TEXT_LIST)
		for (i = 0; i < n; i++)
			set_pointer(items + i * size,
				    get_text(in, PCTL_IPC_NEEDED | PCTL_IPC_WORDS, PCTL_IPC_ANY));
	else
		for (i = 0; i < n && !in->failed; i++)
			get_fields(in, of, scope, items + i * size);
}

static void get_handle(pctl_ipc_in *in, const pctl_ipc_field *f, const pctl_ipc_scope *scope,
		       uint8_t *at)
{
	const uint32_t number = pctl_ipc_get_u32(in);
	void *object = NULL;

	if (number && !in->failed && scope->find)
		object = scope->find(scope->ctx, f->of, number);
	fail_if(in, number ? !object : f->least != 0);
	set_pointer(at, object);
}

static void get_fields(pctl_ipc_in *in, const pctl_ipc_shape *s, const pctl_ipc_scope *scope,
		       uint8_t *value)
{
	uint32_t i, k;

	for (i = 0; i < s->n_fields; i++) {
		const pctl_ipc_field *f = &s->fields[i];
		uint8_t *at = value + f->at;
		pctl_ipc_bytes bytes;
		pctl_head head;
		uint64_t v;

		switch (f->kind) {
		case PCTL_IPC_KIND_U32:
		case PCTL_IPC_KIND_NEW:
			k = get_u32(in, at);
			fail_if(in, k < f->least || k > f->most);
			break;
		case PCTL_IPC_KIND_ONE_OF:
			k = get_u32(in, at);
			fail_if(in, k >= 128 || !((k < 64 ? f->most : f->least) >> k % 64 & 1));
			break;
		case PCTL_IPC_KIND_FLAGS:
			k = get_u32(in, at);
			fail_if(in, (k & ~f->most) != 0);
			break;
		case PCTL_IPC_KIND_U64:
			v = pctl_ipc_get_u64(in);
			memcpy(at, &v, sizeof(v));
			fail_if(in, v < f->least || v > f->most);
			break;
		case PCTL_IPC_KIND_HANDLE:
			get_handle(in, f, scope, at);
			break;
		case PCTL_IPC_KIND_U32S:
			pctl_ipc_get(in, at, f->of * sizeof(uint32_t));
			break;
		case PCTL_IPC_KIND_U64S:
			pctl_ipc_get(in, at, f->of * sizeof(uint64_t));
			break;
		case PCTL_IPC_KIND_UPTO:
			pctl_ipc_get(in, at, n_upto(f, value) * sizeof(uint64_t));
			break;
		case PCTL_IPC_KIND_CHARS:
			get_chars(in, f, at);
			break;
		case PCTL_IPC_KIND_TEXT:
			set_pointer(at, get_text(in, f->of, f->most));
			break;
		case PCTL_IPC_KIND_TEXTS:
			for (k = 0; k < f->of; k++)
				set_pointer(at + k * sizeof(char *),
					    get_text(in, PCTL_IPC_WORDS, f->most));
			break;
		case PCTL_IPC_KIND_BYTES:
			bytes.n = pctl_ipc_get_u64(in);
			fail_if(in, bytes.n > f->most);
			bytes.data = pctl_ipc_take(in, bytes.n);
			memcpy(at, &bytes, sizeof(bytes));
			break;
		case PCTL_IPC_KIND_NEST:
			get_fields(in, pctl_ipc_shape_of(f->of), scope, at);
			break;
		case PCTL_IPC_KIND_HEAD:
			head = (pctl_head){(uint32_t)f->most, PCTL_ABI_MAJOR, PCTL_ABI_MINOR};
			memcpy(at, &head, sizeof(head));
			break;
		default:
			get_list(in, f, scope, value);
			break;
		}
	}
}

int pctl_ipc_unpack(pctl_ipc_in *in, uint32_t shape, const pctl_ipc_scope *scope, void *out)
{
	const pctl_ipc_shape *s = pctl_ipc_shape_of(shape);

	if (shape != PCTL_IPC_SHAPE_nothing)
		memset(out, 0, s->size);
	get_fields(in, s, scope, out);
	return !in->failed;
}

int pctl_ipc_unpack_all(pctl_ipc_in *in, uint32_t shape, const pctl_ipc_scope *scope, void *out)
{
	return pctl_ipc_unpack(in, shape, scope, out) && pctl_ipc_in_done(in);
}
