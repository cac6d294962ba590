/* JSON output: keys in the order written, u64 as strings, valid UTF-8 whatever comes in. */
#ifndef PIPECTL_FOUNDATION_BASE_JSON_H
#define PIPECTL_FOUNDATION_BASE_JSON_H

#include "foundation/base/str.h"

typedef struct pctl_json {
	pctl_str_buf out;
	uint64_t has_item; /* bit per depth, of which there are 63 */
	uint32_t depth;
	uint32_t after_key;
	uint32_t indent; /* spaces a level, 0: one line */
	uint32_t reserved;
} pctl_json;

void pctl_json_init(pctl_json *j, uint32_t indent);
void pctl_json_object_begin(pctl_json *j);
void pctl_json_object_end(pctl_json *j);
void pctl_json_array_begin(pctl_json *j);
void pctl_json_array_end(pctl_json *j);
void pctl_json_key(pctl_json *j, const char *key);
void pctl_json_key_text(pctl_json *j, const char *key, size_t n);
void pctl_json_string(pctl_json *j, const char *s);	    /* NULL writes null */
void pctl_json_text(pctl_json *j, const char *s, size_t n); /* n bytes, NUL among them */
void pctl_json_u64(pctl_json *j, uint64_t v);		    /* as a string */
void pctl_json_u32(pctl_json *j, uint32_t v);		    /* as a number */
void pctl_json_number(pctl_json *j, uint64_t v);	    /* as a number, for formats of others */
void pctl_json_bool(pctl_json *j, int v);
void pctl_json_double(pctl_json *j, double v); /* shortest that reads back; telemetry only */
void pctl_json_null(pctl_json *j);
/* Shorthands for a member. */
void pctl_json_kv_string(pctl_json *j, const char *key, const char *s);
void pctl_json_kv_u64(pctl_json *j, const char *key, uint64_t v);
void pctl_json_kv_u32(pctl_json *j, const char *key, uint32_t v);
void pctl_json_kv_bool(pctl_json *j, const char *key, int v);
/* The text with a final newline, released with free(). NULL: no memory. */
char *pctl_json_finish(pctl_json *j);

#endif
