/* GGUF, versions 2 and 3: counts, keys with values (of which only the alignment matters here), names and shapes of tensors, data. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/tensorfile/private.h"

#define TENSORS_MAX (1u << 20)
#define WINDOW 65536u
#define DEPTH_MAX 4u

enum { VALUE_BOOL = 7, VALUE_STRING = 8, VALUE_ARRAY = 9, VALUES = 13 };
static const uint8_t value_bytes[VALUES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

/* ggml's numbers of types, and ours. */
static const struct {
	uint32_t number;
	const char *name;
	uint32_t dtype;
} types[] = {
	{0, "F32", PCTL_SCALAR_F32},   {1, "F16", PCTL_SCALAR_F16},
	{2, "Q4_0", PCTL_DTYPE_Q4_0},  {3, "Q4_1", PCTL_DTYPE_Q4_1},
	{6, "Q5_0", PCTL_DTYPE_Q5_0},  {7, "Q5_1", PCTL_DTYPE_Q5_1},
	{8, "Q8_0", PCTL_DTYPE_Q8_0},  {10, "Q2_K", PCTL_DTYPE_Q2_K},
	{11, "Q3_K", PCTL_DTYPE_Q3_K}, {12, "Q4_K", PCTL_DTYPE_Q4_K},
	{13, "Q5_K", PCTL_DTYPE_Q5_K}, {14, "Q6_K", PCTL_DTYPE_Q6_K},
	{24, "I8", PCTL_SCALAR_I8},    {25, "I16", PCTL_SCALAR_I16},
	{26, "I32", PCTL_SCALAR_I32},  {27, "I64", PCTL_SCALAR_I64},
	{28, "F64", PCTL_SCALAR_F64},  {30, "BF16", PCTL_SCALAR_BF16},
};

/* A place in the file, read through a window; the first failure stays. */
typedef struct cursor {
	const pctl_tensor_file *f;
	const pctl_call *call;
	uint64_t at, begun, n;
	pctl_status status;
	uint8_t window[WINDOW];
} cursor;

static void take(cursor *c, void *out, uint64_t n)
{
	memset(out, 0, n);
	if (c->status == PCTL_OK && (c->at < c->begun || c->at + n > c->begun + c->n)) {
		c->begun = c->at;
		c->n = c->at >= c->f->size	     ? 0
		       : c->f->size - c->at < WINDOW ? c->f->size - c->at
						     : WINDOW;
		c->status = n > c->n ? tensor_malformed(c->f, c->f->size, c->call,
							"the file ends in its header")
				     : tensor_pread(c->f, c->at, c->window, c->n, c->call);
	}
	if (c->status != PCTL_OK)
		return;
	memcpy(out, c->window + (c->at - c->begun), n);
	c->at += n;
}

static uint64_t integer(cursor *c, uint32_t n)
{
	uint8_t bytes[8];
	uint64_t v = 0;

	take(c, bytes, n);
	for (uint32_t i = 0; i < n; i++)
		v |= (uint64_t)bytes[i] << 8 * i;
	return v;
}

static void skip(cursor *c, uint64_t n)
{
	if (c->status == PCTL_OK && n > c->f->size - c->at)
		c->status =
			tensor_malformed(c->f, c->at, c->call,
					 "a value of %" PRIu64 " bytes leads out of the file", n);
	else if (c->status == PCTL_OK)
		c->at += n;
}

/* A string of at most WINDOW bytes into `out`. */
static uint64_t string(cursor *c, char *out)
{
	const uint64_t n = integer(c, 8);

	if (c->status == PCTL_OK && n > PCTL_TENSOR_NAME_MAX)
		c->status =
			tensor_malformed(c->f, c->at, c->call, "a name of %" PRIu64 " bytes", n);
	if (c->status != PCTL_OK)
		return 0;
	take(c, out, n);
	return n;
}

static void skip_value(cursor *c, uint64_t type, uint32_t depth)
{
	if (c->status != PCTL_OK)
		return;
	if (type >= VALUES || depth > DEPTH_MAX) {
		c->status = tensor_malformed(c->f, c->at, c->call,
					     "a value of the unknown type %" PRIu64 ", or too deep",
					     type);
	} else if (type == VALUE_STRING) {
		skip(c, integer(c, 8));
	} else if (type == VALUE_ARRAY) {
		const uint64_t of = integer(c, 4), n = integer(c, 8);
		uint64_t bytes;

		if (of < VALUES && value_bytes[of] != 0)
			skip(c, __builtin_mul_overflow(n, (uint64_t)value_bytes[of], &bytes)
					? UINT64_MAX
					: bytes);
		else /* each takes eight bytes at least, so the file bounds them */
			for (uint64_t i = 0; i < n && c->status == PCTL_OK; i++)
				skip_value(c, of, depth + 1);
	} else {
		skip(c, value_bytes[type]);
	}
}

static void key(cursor *c, uint64_t *alignment)
{
	static const char wanted[] = "general.alignment";
	char name[PCTL_TENSOR_NAME_MAX];
	const uint64_t n = string(c, name), type = integer(c, 4), at = c->at;

	if (n != sizeof(wanted) - 1 || memcmp(name, wanted, n) != 0) {
		skip_value(c, type, 0);
		return;
	}
	*alignment = type == 4 ? integer(c, 4) : 0;
	if (c->status == PCTL_OK && (*alignment == 0 || (*alignment & (*alignment - 1)) != 0))
		c->status = tensor_malformed(c->f, at, c->call,
					     "general.alignment is no power of two in a u32");
}

static void tensor(cursor *c, pctl_tensor_file *f)
{
	char name[PCTL_TENSOR_NAME_MAX];
	const uint64_t begun = c->at, n = string(c, name), rank = integer(c, 4);
	uint64_t number;
	stored *t;

	if (c->status == PCTL_OK && (!tensor_name_good(name, n) || rank > 4)) {
		c->status = tensor_malformed(
			f, begun, c->call,
			"the name of a tensor is no plain UTF-8, or it has more than 4 dimensions");
		return;
	}
	if (c->status != PCTL_OK)
		return;
	t = tensor_add(f, name, n);
	if (t == NULL) {
		c->status = pctl_no_memory(c->call, "a tensor");
		return;
	}
	t->entry.type.rank = (uint32_t)rank;
	for (uint64_t i = rank; i-- > 0;) /* the innermost comes first there */
		t->entry.type.dim[i] = integer(c, 8);
	number = integer(c, 4);
	t->offset = integer(c, 8);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].number == number) {
			t->entry.type.dtype = types[i].dtype;
			t->entry.stored = types[i].name;
		}
	if (t->entry.stored == NULL)
		t->entry.stored = pctl_arena_printf(f->arena, "ggml type %" PRIu64, number);
	if (t->entry.stored == NULL && c->status == PCTL_OK)
		c->status = pctl_no_memory(c->call, "a tensor");
	if (c->status == PCTL_OK && !tensor_sizes(t))
		c->status = tensor_malformed(f, begun, c->call,
					     "tensor \"%.200s\": a row is no whole number of "
					     "blocks, or the size does not fit 64 bits",
					     t->entry.name);
}

/* Offsets count from the first aligned byte behind the header. Tensors that share bytes are only odd, and allowed. */
static pctl_status place(pctl_tensor_file *f, uint64_t header_end, uint64_t alignment,
			 const pctl_call *call)
{
	const uint64_t data = (header_end + alignment - 1) / alignment * alignment;

	for (uint64_t i = 0; i < f->n; i++) {
		stored *t = &f->tensors[i];

		if (t->offset % alignment != 0 || data > f->size || t->offset > f->size - data ||
		    (t->entry.type.dtype != PCTL_SCALAR_NONE &&
		     t->n_stored > f->size - data - t->offset))
			return tensor_malformed(f, header_end, call,
						"the data of tensor \"%.200s\" lie outside the "
						"file, or not aligned",
						t->entry.name);
		t->offset += data;
	}
	return PCTL_OK;
}

pctl_status tensor_open_gguf(pctl_tensor_file *f, const pctl_call *call)
{
	cursor *c = calloc(1, sizeof(*c));
	uint64_t version, n_tensors, n_keys, alignment = 32;
	pctl_status status;

	if (c == NULL)
		return pctl_no_memory(call, "a header");
	c->f = f;
	c->call = call;
	c->at = 4;
	version = integer(c, 4);
	n_tensors = integer(c, 8);
	n_keys = integer(c, 8);
	if (c->status == PCTL_OK && version != 2 && version != 3)
		c->status = tensor_malformed(f, 4, call, "version %" PRIu64 " of GGUF is unknown",
					     version);
	if (c->status == PCTL_OK && n_tensors > TENSORS_MAX)
		c->status = tensor_malformed(f, 8, call, "%" PRIu64 " tensors", n_tensors);
	for (uint64_t i = 0; i < n_keys && c->status == PCTL_OK; i++)
		key(c, &alignment);
	for (uint64_t i = 0; i < n_tensors && c->status == PCTL_OK; i++)
		tensor(c, f);
	status = c->status == PCTL_OK ? place(f, c->at, alignment, call) : c->status;
	free(c);
	return status;
}
