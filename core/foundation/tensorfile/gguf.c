/* GGUF, versions 2 and 3: counts, keys with values (of which only the alignment matters here; gguf_keys.c reads the others), names and shapes of tensors, data. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/bytes.h"
#include "foundation/base/num.h"
#include "foundation/tensorfile/private.h"

#define TENSORS_MAX (1u << 20)
#define WINDOW 65536u
#define KEYS_MAX (1u << 16)
#define DEPTH_MAX 4u

static const uint8_t value_bytes[PCTL_GGUF_TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

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

	take(c, bytes, n);
	return pctl_le_get(bytes, n);
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
	if (type >= PCTL_GGUF_TYPES || depth > DEPTH_MAX) {
		c->status = tensor_malformed(c->f, c->at, c->call,
					     "a value of the unknown type %" PRIu64 ", or too deep",
					     type);
	} else if (type == PCTL_GGUF_STRING) {
		skip(c, integer(c, 8));
	} else if (type == PCTL_GGUF_ARRAY) {
		const uint64_t of = integer(c, 4), n = integer(c, 8);
		uint64_t bytes;

		if (of < PCTL_GGUF_TYPES && value_bytes[of] != 0)
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

/* A further key, zeroed; NULL: no memory. */
static pctl_gguf_key *add_key(pctl_tensor_file *f, const char *name, uint64_t n)
{
	pctl_gguf_key *k;

	if (f->n_keys == f->keys_capacity) {
		const uint64_t more = f->keys_capacity ? 2 * f->keys_capacity : 32;

		k = realloc(f->keys, more * sizeof(*k));
		if (k == NULL)
			return NULL;
		f->keys = k;
		f->keys_capacity = more;
	}
	k = &f->keys[f->n_keys];
	memset(k, 0, sizeof(*k));
	k->name = pctl_arena_dup_n(f->arena, name, n);
	f->n_keys += k->name != NULL;
	return k->name == NULL ? NULL : k;
}

static void key(cursor *c, pctl_tensor_file *f)
{
	char name[PCTL_TENSOR_NAME_MAX];
	const uint64_t begun = c->at, n = string(c, name), type = integer(c, 4), at = c->at;
	pctl_gguf_key *k;

	if (c->status == PCTL_OK && !tensor_name_good(name, n))
		c->status = tensor_malformed(f, begun, c->call, "a key is no plain UTF-8");
	if (c->status != PCTL_OK)
		return;
	k = add_key(f, name, n);
	if (k == NULL) {
		c->status = pctl_no_memory(c->call, "a key of a file");
		return;
	}
	*k = (pctl_gguf_key){
		.name = k->name, .type = (uint32_t)type, .n = 1, .begun = begun, .at = at};
	if (type == PCTL_GGUF_ARRAY)
		k->of = (uint32_t)integer(c, 4);
	if (type == PCTL_GGUF_ARRAY || type == PCTL_GGUF_STRING) {
		k->n = integer(c, 8);
		k->at = c->at;
	} else if (type < PCTL_GGUF_TYPES) {
		k->bits = integer(c, value_bytes[type]);
	}
	if (c->status == PCTL_OK && type != PCTL_GGUF_STRING)
		c->at = at;
	if (type == PCTL_GGUF_STRING)
		skip(c, k->n);
	else
		skip_value(c, type, 0);
	k->end = c->at;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const pctl_gguf_key *const *)a)->name,
		      (*(const pctl_gguf_key *const *)b)->name);
}

/* Two keys of one name would be two answers to one question. */
static pctl_status keys_differ(const pctl_tensor_file *f, const pctl_call *call)
{
	const pctl_gguf_key **order = malloc((f->n_keys + 1) * sizeof(*order));
	pctl_status status = PCTL_OK;

	if (order == NULL)
		return pctl_no_memory(call, "the keys of a file");
	for (uint64_t i = 0; i < f->n_keys; i++)
		order[i] = &f->keys[i];
	qsort(order, f->n_keys, sizeof(*order), by_name);
	for (uint64_t i = 1; i < f->n_keys && status == PCTL_OK; i++)
		if (strcmp(order[i - 1]->name, order[i]->name) == 0)
			status = tensor_malformed(f, order[i]->begun, call,
						  "two keys have the name \"%.200s\"",
						  order[i]->name);
	free(order);
	return status;
}

static pctl_status alignment_of(const pctl_tensor_file *f, const pctl_call *call, uint64_t *out)
{
	const pctl_gguf_key *k = pctl_tensor_file_key(f, "general.alignment");

	*out = k == NULL ? GGUF_ALIGNMENT : k->bits;
	if (k != NULL && (k->type != PCTL_GGUF_U32 || *out == 0 || (*out & (*out - 1)) != 0))
		return tensor_malformed(f, k->at, call,
					"general.alignment is no power of two in a u32");
	return PCTL_OK;
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
	uint64_t version, n_tensors, n_keys, alignment = 0;
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
	if (c->status == PCTL_OK && n_keys > KEYS_MAX)
		c->status = tensor_malformed(f, 16, call, "%" PRIu64 " keys", n_keys);
	for (uint64_t i = 0; i < n_keys && c->status == PCTL_OK; i++)
		key(c, f);
	if (c->status == PCTL_OK)
		c->status = keys_differ(f, call);
	if (c->status == PCTL_OK)
		c->status = alignment_of(f, call, &alignment);
	for (uint64_t i = 0; i < n_tensors && c->status == PCTL_OK; i++)
		tensor(c, f);
	status = c->status == PCTL_OK ? place(f, c->at, alignment, call) : c->status;
	free(c);
	return status;
}

/* ---- writing ---- */

static int type_number(uint32_t dtype, uint32_t *out)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].dtype == dtype) {
			*out = types[i].number;
			return 1;
		}
	return 0;
}

pctl_status tensor_gguf_header(const char *path, const pctl_tensor *tensors, uint64_t n,
			       const pctl_gguf_keys *keys, const pctl_call *call, char **out,
			       uint64_t *n_out)
{
	static const char zeros[GGUF_ALIGNMENT];
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	uint64_t at = 0, elements, n_bytes;
	uint32_t number;

	*out = NULL;
	pctl_str_add(&s, "GGUF");
	tensor_put_integer(&s, 3, 4);
	tensor_put_integer(&s, n, 8);
	tensor_put_integer(&s, keys == NULL ? 0 : keys->n, 8);
	if (keys != NULL)
		pctl_str_add_n(&s, keys->bytes.data, keys->bytes.n);
	for (uint64_t i = 0; i < n; i++) {
		const pctl_tensor_type *type = &tensors[i].type;

		if (!type_number(type->dtype, &number) || type->rank > 4 ||
		    !pctl_tensor_size(type, &elements, &n_bytes)) {
			pctl_str_drop(&s);
			return tensor_no_room(path, "GGUF", &tensors[i], call);
		}
		tensor_put_text(&s, tensors[i].name, strlen(tensors[i].name));
		tensor_put_integer(&s, type->rank, 4);
		for (uint32_t k = type->rank; k-- > 0;)
			tensor_put_integer(&s, type->dim[k], 8);
		tensor_put_integer(&s, number, 4);
		tensor_put_integer(&s, at, 8);
		at = pctl_num_align(at + n_bytes, GGUF_ALIGNMENT);
	}
	pctl_str_add_n(&s, zeros, pctl_num_align(s.n, GGUF_ALIGNMENT) - s.n);
	*n_out = s.n;
	*out = pctl_str_finish(&s);
	return *out == NULL ? pctl_no_memory(call, "a header") : PCTL_OK;
}
