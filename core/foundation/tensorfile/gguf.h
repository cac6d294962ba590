/* What a GGUF file says besides its tensors: keys with typed values. Read from an open file of tensors, and put together for one that
 * is written. What keys mean is not known here. */
#ifndef PIPECTL_FOUNDATION_TENSORFILE_GGUF_H
#define PIPECTL_FOUNDATION_TENSORFILE_GGUF_H

#include "foundation/base/str.h"
#include "foundation/tensorfile/tensor_file.h"

/* ggml's numbers of the types of values. */
typedef enum pctl_gguf_type {
	PCTL_GGUF_U8,
	PCTL_GGUF_I8,
	PCTL_GGUF_U16,
	PCTL_GGUF_I16,
	PCTL_GGUF_U32,
	PCTL_GGUF_I32,
	PCTL_GGUF_F32,
	PCTL_GGUF_BOOL,
	PCTL_GGUF_STRING,
	PCTL_GGUF_ARRAY,
	PCTL_GGUF_U64,
	PCTL_GGUF_I64,
	PCTL_GGUF_F64,
	PCTL_GGUF_TYPES
} pctl_gguf_type;

/* A key of a file. of: the type of the elements of an array. n: elements of an array, bytes of a string, else 1. bits: the value of a
 * number, its bytes from the lowest. begun, end: where name, type and value lie in the file; at: the value itself, behind the
 * lengths of strings and arrays. */
typedef struct pctl_gguf_key {
	const char *name;
	uint32_t type, of;
	uint64_t n, bits;
	uint64_t begun, at, end;
} pctl_gguf_key;

/* In the file's order, no two of one name; NULL behind the last, and for files of other formats. */
const pctl_gguf_key *pctl_tensor_file_key_at(const pctl_tensor_file *f, uint64_t i);
/* The key of that name; NULL: there is none. */
const pctl_gguf_key *pctl_tensor_file_key(const pctl_tensor_file *f, const char *name);

/* A number as one of these: 1, or 0 where the key's type is another or the value does not fit. An integer is one of any integer
 * type that is not negative; a float is f32 or f64. */
int pctl_gguf_integer(const pctl_gguf_key *k, uint64_t *out);
int pctl_gguf_float(const pctl_gguf_key *k, double *out);
int pctl_gguf_bool(const pctl_gguf_key *k, int *out);

/* The bytes of a string with a NUL behind them, or of an array of numbers as they lie in the file; released with free(). */
pctl_status pctl_gguf_read(const pctl_tensor_file *f, const pctl_gguf_key *k, const pctl_call *call,
			   char **out);

/* An array of strings: text[i] has n_text[i] bytes, which may be any, and a NUL behind them. */
typedef struct pctl_gguf_strings {
	const char **text;
	uint64_t *n_text, n;
	char *bytes;
} pctl_gguf_strings;

/* PC4211 where the key is no array of strings. Cleared with pctl_gguf_strings_clear, also after an error. */
pctl_status pctl_gguf_read_strings(const pctl_tensor_file *f, const pctl_gguf_key *k,
				   const pctl_call *call, pctl_gguf_strings *out);
void pctl_gguf_strings_clear(pctl_gguf_strings *s);

/* Keys to be written, one behind another as in a file; n is how many. Dropped with pctl_str_drop(&k->bytes). */
typedef struct pctl_gguf_keys {
	pctl_str_buf bytes;
	uint64_t n;
} pctl_gguf_keys;

void pctl_gguf_put_u32(pctl_gguf_keys *k, const char *name, uint32_t v);
void pctl_gguf_put_u16(pctl_gguf_keys *k, const char *name, uint16_t v);
void pctl_gguf_put_i32(pctl_gguf_keys *k, const char *name, int32_t v);
void pctl_gguf_put_f32(pctl_gguf_keys *k, const char *name, float v);
void pctl_gguf_put_bool(pctl_gguf_keys *k, const char *name, int v);
void pctl_gguf_put_string(pctl_gguf_keys *k, const char *name, const char *text, uint64_t n);
/* Arrays: of n strings, whose lengths are n_text; of n numbers of four bytes (PCTL_GGUF_I32, PCTL_GGUF_F32), little-endian in `data`. */
void pctl_gguf_put_strings(pctl_gguf_keys *k, const char *name, const char *const *text,
			   const uint64_t *n_text, uint64_t n);
void pctl_gguf_put_words(pctl_gguf_keys *k, const char *name, pctl_gguf_type of, const void *data,
			 uint64_t n);
/* A key of another file as it is there. */
pctl_status pctl_gguf_put_key(pctl_gguf_keys *k, const pctl_tensor_file *f,
			      const pctl_gguf_key *key, const pctl_call *call);

#endif
