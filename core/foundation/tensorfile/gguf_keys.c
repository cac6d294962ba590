/* Keys of GGUF: finding, reading, and putting together. */
#include "foundation/base/bytes.h"
#include "foundation/tensorfile/gguf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/tensorfile/private.h"

const pctl_gguf_key *pctl_tensor_file_key_at(const pctl_tensor_file *f, uint64_t i)
{
	return i < f->n_keys ? &f->keys[i] : NULL;
}

const pctl_gguf_key *pctl_tensor_file_key(const pctl_tensor_file *f, const char *name)
{
	for (uint64_t i = 0; i < f->n_keys; i++)
		if (strcmp(f->keys[i].name, name) == 0)
			return &f->keys[i];
	return NULL;
}

int pctl_gguf_integer(const pctl_gguf_key *k, uint64_t *out)
{
	static const struct {
		pctl_gguf_type type;
		uint32_t sign; /* the bit that says that it is negative; 0: there is none */
	} rows[] = {{PCTL_GGUF_U8, 0},	 {PCTL_GGUF_I8, 7},  {PCTL_GGUF_U16, 0},
		    {PCTL_GGUF_I16, 15}, {PCTL_GGUF_U32, 0}, {PCTL_GGUF_I32, 31},
		    {PCTL_GGUF_U64, 0},	 {PCTL_GGUF_I64, 63}};

	*out = k->bits;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (k->type == rows[i].type)
			return rows[i].sign == 0 || (k->bits >> rows[i].sign & 1) == 0;
	return 0;
}

int pctl_gguf_float(const pctl_gguf_key *k, double *out)
{
	const uint32_t word = (uint32_t)k->bits;
	float narrow;

	memcpy(out, &k->bits, sizeof(*out));
	memcpy(&narrow, &word, sizeof(narrow));
	if (k->type == PCTL_GGUF_F32)
		*out = (double)narrow;
	return k->type == PCTL_GGUF_F32 || k->type == PCTL_GGUF_F64;
}

int pctl_gguf_bool(const pctl_gguf_key *k, int *out)
{
	*out = k->bits != 0;
	return k->type == PCTL_GGUF_BOOL && k->bits < 2;
}

pctl_status pctl_gguf_read(const pctl_tensor_file *f, const pctl_gguf_key *k, const pctl_call *call,
			   char **out)
{
	const uint64_t n = k->end - k->at;
	pctl_status status;

	*out = n < SIZE_MAX ? malloc(n + 1) : NULL;
	if (*out == NULL)
		return pctl_no_memory(call, "a key of a file");
	(*out)[n] = '\0';
	status = tensor_pread(f, k->at, *out, n, call);
	if (status != PCTL_OK) {
		free(*out);
		*out = NULL;
	}
	return status;
}

/* Each string moves down by one byte, so that a NUL has room behind it: the eight bytes of its length are not needed any more. */
static int part(pctl_gguf_strings *s, uint64_t n_bytes)
{
	uint64_t at = 0;

	for (uint64_t i = 0; i < s->n; i++) {
		uint64_t n;

		if (n_bytes - at < 8 || (n = pctl_le_get(s->bytes + at, 8)) > n_bytes - at - 8)
			return 0;
		memmove(s->bytes + at + 7, s->bytes + at + 8, n);
		s->bytes[at + 7 + n] = '\0';
		s->text[i] = s->bytes + at + 7;
		s->n_text[i] = n;
		at += 8 + n;
	}
	return at == n_bytes;
}

pctl_status pctl_gguf_read_strings(const pctl_tensor_file *f, const pctl_gguf_key *k,
				   const pctl_call *call, pctl_gguf_strings *out)
{
	pctl_status status;

	memset(out, 0, sizeof(*out));
	if (k->type != PCTL_GGUF_ARRAY || k->of != PCTL_GGUF_STRING)
		return tensor_malformed(f, k->begun, call, "%.200s is no array of strings",
					k->name);
	status = pctl_gguf_read(f, k, call, &out->bytes);
	if (status != PCTL_OK)
		return status;
	out->n = k->n;
	out->text = calloc(k->n + 1, sizeof(*out->text));
	out->n_text = calloc(k->n + 1, sizeof(*out->n_text));
	if (out->text == NULL || out->n_text == NULL)
		return pctl_no_memory(call, "strings");
	return part(out, k->end - k->at)
		       ? PCTL_OK
		       : tensor_malformed(f, k->at, call, "the strings of %.200s changed", k->name);
}

void pctl_gguf_strings_clear(pctl_gguf_strings *s)
{
	free(s->text);
	free(s->n_text);
	free(s->bytes);
	memset(s, 0, sizeof(*s));
}

/* ---- putting together ---- */

void tensor_put_integer(pctl_str_buf *s, uint64_t v, uint32_t n)
{
	char bytes[8];

	pctl_le_put(bytes, v, n);
	pctl_str_add_n(s, bytes, n);
}

void tensor_put_text(pctl_str_buf *s, const char *text, uint64_t n)
{
	tensor_put_integer(s, n, 8);
	pctl_str_add_n(s, text, n);
}

static void begin(pctl_gguf_keys *k, const char *name, pctl_gguf_type type)
{
	tensor_put_text(&k->bytes, name, strlen(name));
	tensor_put_integer(&k->bytes, (uint64_t)type, 4);
	k->n++;
}

static void begin_array(pctl_gguf_keys *k, const char *name, pctl_gguf_type of, uint64_t n)
{
	begin(k, name, PCTL_GGUF_ARRAY);
	tensor_put_integer(&k->bytes, (uint64_t)of, 4);
	tensor_put_integer(&k->bytes, n, 8);
}

void pctl_gguf_put_u32(pctl_gguf_keys *k, const char *name, uint32_t v)
{
	begin(k, name, PCTL_GGUF_U32);
	tensor_put_integer(&k->bytes, v, 4);
}

void pctl_gguf_put_u16(pctl_gguf_keys *k, const char *name, uint16_t v)
{
	begin(k, name, PCTL_GGUF_U16);
	tensor_put_integer(&k->bytes, v, 2);
}

void pctl_gguf_put_i32(pctl_gguf_keys *k, const char *name, int32_t v)
{
	begin(k, name, PCTL_GGUF_I32);
	tensor_put_integer(&k->bytes, (uint32_t)v, 4);
}

void pctl_gguf_put_f32(pctl_gguf_keys *k, const char *name, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	begin(k, name, PCTL_GGUF_F32);
	tensor_put_integer(&k->bytes, bits, 4);
}

void pctl_gguf_put_bool(pctl_gguf_keys *k, const char *name, int v)
{
	begin(k, name, PCTL_GGUF_BOOL);
	tensor_put_integer(&k->bytes, v != 0, 1);
}

void pctl_gguf_put_string(pctl_gguf_keys *k, const char *name, const char *text, uint64_t n)
{
	begin(k, name, PCTL_GGUF_STRING);
	tensor_put_text(&k->bytes, text, n);
}

void pctl_gguf_put_strings(pctl_gguf_keys *k, const char *name, const char *const *text,
			   const uint64_t *n_text, uint64_t n)
{
	begin_array(k, name, PCTL_GGUF_STRING, n);
	for (uint64_t i = 0; i < n; i++)
		tensor_put_text(&k->bytes, text[i], n_text[i]);
}

void pctl_gguf_put_words(pctl_gguf_keys *k, const char *name, pctl_gguf_type of, const void *data,
			 uint64_t n)
{
	begin_array(k, name, of, n);
	pctl_str_add_n(&k->bytes, data, 4 * n);
}

pctl_status pctl_gguf_put_key(pctl_gguf_keys *k, const pctl_tensor_file *f,
			      const pctl_gguf_key *key, const pctl_call *call)
{
	const uint64_t n = key->end - key->begun;
	char *bytes = malloc(n ? n : 1);
	pctl_status status = bytes == NULL ? pctl_no_memory(call, "a key of a file")
					   : tensor_pread(f, key->begun, bytes, n, call);

	if (status == PCTL_OK) {
		pctl_str_add_n(&k->bytes, bytes, n);
		k->n++;
	}
	free(bytes);
	return status;
}
