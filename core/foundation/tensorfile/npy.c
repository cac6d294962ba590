/* .npy: a magic, a version, the length of a header, and the header: a Python dictionary of descr, fortran_order and shape. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "foundation/tensorfile/private.h"

/* descr without its byte order, as NumPy writes it. */
static const struct {
	const char *descr;
	uint32_t dtype;
} types[] = {
	{"b1", PCTL_SCALAR_BOOL}, {"i1", PCTL_SCALAR_I8},  {"i2", PCTL_SCALAR_I16},
	{"i4", PCTL_SCALAR_I32},  {"i8", PCTL_SCALAR_I64}, {"u1", PCTL_SCALAR_U8},
	{"u2", PCTL_SCALAR_U16},  {"u4", PCTL_SCALAR_U32}, {"u8", PCTL_SCALAR_U64},
	{"f2", PCTL_SCALAR_F16},  {"f4", PCTL_SCALAR_F32}, {"f8", PCTL_SCALAR_F64},
};
#define N_TYPES (sizeof(types) / sizeof(types[0]))

typedef struct reader {
	const pctl_tensor_file *f;
	const pctl_call *call;
	const char *text;
	size_t n, i;
	uint64_t at; /* where text[0] lies in the file */
} reader;

static pctl_status wrong(reader *r, const char *what)
{
	return tensor_malformed(r->f, r->at + r->i, r->call, "header of .npy: %s", what);
}

static int next_is(reader *r, char c)
{
	while (r->i < r->n && r->text[r->i] == ' ')
		r->i++;
	if (r->i == r->n || r->text[r->i] != c)
		return 0;
	r->i++;
	return 1;
}

/* 'text' or "text" without escapes. */
static int string(reader *r, const char **text, size_t *n)
{
	const char quote = next_is(r, '\'') ? '\'' : next_is(r, '"') ? '"' : '\0';

	*text = r->text + r->i;
	while (quote != '\0' && r->i < r->n && r->text[r->i] != quote && r->text[r->i] != '\\')
		r->i++;
	*n = (size_t)(r->text + r->i - *text);
	return quote != '\0' && r->i < r->n && r->text[r->i++] == quote;
}

static int is_word(reader *r, const char *word)
{
	const size_t n = strlen(word);

	while (r->i < r->n && r->text[r->i] == ' ')
		r->i++;
	if (r->n - r->i < n || memcmp(r->text + r->i, word, n) != 0)
		return 0;
	r->i += n;
	return 1;
}

static pctl_status descr(reader *r, stored *t)
{
	const char *text;
	size_t n;

	if (!string(r, &text, &n))
		return wrong(r, "descr is no simple type");
	t->entry.stored = pctl_arena_dup_n(r->f->arena, text, n);
	if (t->entry.stored == NULL)
		return pctl_no_memory(r->call, "a type");
	if (!tensor_name_good(text, n) || n > 64)
		return wrong(r, "descr is no type");
	t->swapped = n > 0 && text[0] == '>';
	for (size_t i = 0; n == 3 && strchr("<>|", text[0]) != NULL && i < N_TYPES; i++)
		if (memcmp(types[i].descr, text + 1, 2) == 0 && (text[0] != '|' || text[2] == '1'))
			t->entry.type.dtype = types[i].dtype;
	return PCTL_OK;
}

static pctl_status shape(reader *r, stored *t)
{
	pctl_tensor_type *type = &t->entry.type;
	int comma = 1;

	if (!next_is(r, '('))
		return wrong(r, "shape is no tuple");
	while (!next_is(r, ')')) {
		uint64_t v = 0;
		const size_t begun = r->i;

		while (r->i < r->n && isdigit((unsigned char)r->text[r->i]))
			if (__builtin_mul_overflow(v, 10u, &v) ||
			    __builtin_add_overflow(v, (uint64_t)(r->text[r->i++] - '0'), &v))
				return wrong(r, "a dimension does not fit 64 bits");
		if (r->i == begun || (r->text[begun] == '0' && r->i != begun + 1))
			return wrong(r, "a dimension is no number");
		if (type->rank == PCTL_RANK_MAX)
			return wrong(r, "more than 8 dimensions");
		type->dim[type->rank++] = v;
		comma = next_is(r, ',');
		if (!comma && (r->i == r->n || r->text[r->i] != ')'))
			return wrong(r, "')' is missing");
	}
	/* (3) is a number, (3,) a tuple. */
	return type->rank == 1 && !comma ? wrong(r, "shape is no tuple") : PCTL_OK;
}

static pctl_status dictionary(reader *r, stored *t)
{
	uint32_t seen = 0;
	pctl_status status = PCTL_OK;

	if (!next_is(r, '{'))
		return wrong(r, "'{' is missing");
	while (status == PCTL_OK && !next_is(r, '}')) {
		const char *key;
		size_t n;
		uint32_t which;

		if (!string(r, &key, &n) || !next_is(r, ':'))
			return wrong(r, "a key is missing");
		which = n == 5 && memcmp(key, "descr", n) == 0		  ? 1
			: n == 13 && memcmp(key, "fortran_order", n) == 0 ? 2
			: n == 5 && memcmp(key, "shape", n) == 0	  ? 4
									  : 0;
		if (which == 0 || (seen & which))
			return wrong(r, "a key is unknown, or stands there twice");
		seen |= which;
		if (which == 1) {
			status = descr(r, t);
		} else if (which == 4) {
			status = shape(r, t);
		} else {
			t->columns = (uint32_t)is_word(r, "True");
			if (!t->columns && !is_word(r, "False"))
				return wrong(r, "fortran_order is neither True nor False");
		}
		if (status == PCTL_OK && !next_is(r, ',') && (r->i == r->n || r->text[r->i] != '}'))
			return wrong(r, "'}' is missing");
	}
	if (status != PCTL_OK)
		return status;
	if (seen != 7)
		return wrong(r, "descr, fortran_order or shape is missing");
	while (r->i < r->n && strchr(" \n", r->text[r->i]) != NULL && r->text[r->i] != '\0')
		r->i++;
	return r->i == r->n ? PCTL_OK : wrong(r, "something stands behind the dictionary");
}

pctl_status tensor_parse_npy(const pctl_tensor_file *f, const uint8_t *bytes, uint64_t n,
			     uint64_t at, stored *t, const pctl_call *call)
{
	reader r = {.f = f, .call = call, .at = at};
	uint64_t begun = 10;
	pctl_status status;

	if (n < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
		return tensor_malformed(f, at, call, "this is no .npy");
	if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
		return tensor_malformed(f, at + 6, call, "version %u.%u of .npy is unknown",
					bytes[6], bytes[7]);
	r.n = bytes[8] | (size_t)bytes[9] << 8;
	if (bytes[6] > 1) {
		begun = 12;
		if (n < 12)
			return tensor_malformed(f, at + n, call, "the header of .npy ends");
		r.n |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
	}
	if (r.n > NPY_HEADER_MAX || begun + r.n > n)
		return tensor_malformed(f, at + 8, call,
					"the header of .npy is said to have %zu bytes", r.n);
	r.text = (const char *)bytes + begun;
	r.at = at + begun;
	status = dictionary(&r, t);
	if (status != PCTL_OK)
		return status;
	t->offset = begun + r.n;
	return tensor_sizes(t) ? PCTL_OK : wrong(&r, "the shape does not fit 64 bits");
}

pctl_status tensor_open_npy(pctl_tensor_file *f, const pctl_call *call)
{
	uint8_t bytes[NPY_HEADER_MAX + 12];
	const uint64_t n = f->size < sizeof(bytes) ? f->size : sizeof(bytes);
	stored *t = tensor_add(f, "", 0);
	pctl_status status;

	if (t == NULL)
		return pctl_no_memory(call, "a tensor");
	status = tensor_pread(f, 0, bytes, n, call);
	if (status == PCTL_OK)
		status = tensor_parse_npy(f, bytes, n, 0, t, call);
	if (status == PCTL_OK && t->entry.type.dtype != PCTL_SCALAR_NONE &&
	    f->size - t->offset != t->n_stored)
		status = tensor_malformed(f, t->offset, call,
					  "the shape asks for %" PRIu64
					  " bytes of data, here are %" PRIu64,
					  t->n_stored, f->size - t->offset);
	return status;
}

int tensor_npy_header(pctl_str_buf *out, const pctl_tensor_type *type)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	size_t i = 0, length;

	while (i < N_TYPES && types[i].dtype != type->dtype)
		i++;
	if (i == N_TYPES)
		return 0;
	pctl_str_addf(&text, "{'descr': '%s%s', 'fortran_order': False, 'shape': (",
		      types[i].descr[1] == '1' ? "|" : "<", types[i].descr);
	for (uint32_t k = 0; k < type->rank; k++)
		pctl_str_addf(&text, "%s%" PRIu64, k ? ", " : "", type->dim[k]);
	pctl_str_add(&text, type->rank == 1 ? ",), }" : "), }");
	/* Data begin at a multiple of 64 bytes; the header ends with a newline. */
	length = (10 + text.n + 1 + 63) / 64 * 64 - 10;
	while (!text.failed && text.n + 1 < length)
		pctl_str_add(&text, " ");
	pctl_str_add(&text, "\n");
	pctl_str_add_n(out, "\x93NUMPY\1\0", 8);
	pctl_str_add_n(out, (const char[]){(char)(length & 255), (char)(length >> 8)}, 2);
	pctl_str_add_n(out, text.data, text.n);
	out->failed |= text.failed;
	pctl_str_drop(&text);
	return 1;
}
