/* The JSON writer: commas and indentation follow from the calls; strings are made valid UTF-8. */
#include "foundation/base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/utf8.h"

void pctl_json_init(pctl_json *j, uint32_t indent)
{
	*j = (pctl_json){.out = PCTL_STR_BUF_INIT, .indent = indent};
}

static void new_line(pctl_json *j)
{
	if (j->indent != 0)
		pctl_str_addf(&j->out, "\n%*s", (int)(j->depth * j->indent), "");
}

static void before_item(pctl_json *j)
{
	if (j->after_key) {
		j->after_key = 0;
		return;
	}
	if (j->depth == 0)
		return;
	if (j->has_item >> j->depth & 1u)
		pctl_str_add(&j->out, ",");
	j->has_item |= UINT64_C(1) << j->depth;
	new_line(j);
}

static void begin(pctl_json *j, const char *bracket)
{
	before_item(j);
	pctl_str_add(&j->out, bracket);
	if (j->depth >= 63)
		j->out.failed = 1;
	else
		j->depth++;
	j->has_item &= ~(UINT64_C(1) << j->depth);
}

static void end(pctl_json *j, const char *bracket)
{
	int had = (int)(j->has_item >> j->depth & 1u);

	if (j->depth == 0) {
		j->out.failed = 1;
		return;
	}
	j->depth--;
	if (had)
		new_line(j);
	pctl_str_add(&j->out, bracket);
}

void pctl_json_object_begin(pctl_json *j)
{
	begin(j, "{");
}

void pctl_json_object_end(pctl_json *j)
{
	end(j, "}");
}

void pctl_json_array_begin(pctl_json *j)
{
	begin(j, "[");
}

void pctl_json_array_end(pctl_json *j)
{
	end(j, "]");
}

static void quoted(pctl_json *j, const char *text, size_t n_text)
{
	const unsigned char *s = (const unsigned char *)text, *end = s + n_text;

	pctl_str_add(&j->out, "\"");
	while (s != end) {
		size_t n = pctl_utf8_decode((const char *)s, (size_t)(end - s), NULL);

		if (n == 0) {
			pctl_str_add(&j->out, "\\ufffd");
			s++;
		} else if (n == 1 && (*s == '"' || *s == '\\')) {
			pctl_str_addf(&j->out, "\\%c", *s++);
		} else if (n == 1 && *s == '\n') {
			pctl_str_add(&j->out, "\\n");
			s++;
		} else if (n == 1 && (*s < 0x20 || *s == 0x7f)) {
			pctl_str_addf(&j->out, "\\u%04x", *s++);
		} else {
			pctl_str_add_n(&j->out, (const char *)s, n);
			s += n;
		}
	}
	pctl_str_add(&j->out, "\"");
}

void pctl_json_key(pctl_json *j, const char *key)
{
	pctl_json_key_text(j, key, strlen(key));
}

void pctl_json_key_text(pctl_json *j, const char *key, size_t n)
{
	before_item(j);
	quoted(j, key, n);
	pctl_str_add(&j->out, j->indent != 0 ? ": " : ":");
	j->after_key = 1;
}

void pctl_json_string(pctl_json *j, const char *s)
{
	if (s == NULL)
		pctl_json_null(j);
	else
		pctl_json_text(j, s, strlen(s));
}

void pctl_json_text(pctl_json *j, const char *s, size_t n)
{
	before_item(j);
	quoted(j, s, n);
}

void pctl_json_u64(pctl_json *j, uint64_t v)
{
	before_item(j);
	pctl_str_addf(&j->out, "\"%" PRIu64 "\"", v);
}

void pctl_json_u32(pctl_json *j, uint32_t v)
{
	before_item(j);
	pctl_str_addf(&j->out, "%" PRIu32, v);
}

void pctl_json_number(pctl_json *j, uint64_t v)
{
	before_item(j);
	pctl_str_addf(&j->out, "%" PRIu64, v);
}

void pctl_json_bool(pctl_json *j, int v)
{
	before_item(j);
	pctl_str_add(&j->out, v ? "true" : "false");
}

void pctl_json_double(pctl_json *j, double v)
{
	char text[40];
	int digits = 1;

	if (!isfinite(v)) {
		pctl_json_null(j);
		return;
	}
	do
		pctl_num_print(text, sizeof(text), "%.*g", digits, v);
	while (digits++ < 17 && pctl_num_parse_double(text, NULL) != v);
	before_item(j);
	pctl_str_add(&j->out, text);
}

void pctl_json_null(pctl_json *j)
{
	before_item(j);
	pctl_str_add(&j->out, "null");
}

void pctl_json_kv_string(pctl_json *j, const char *key, const char *s)
{
	pctl_json_key(j, key);
	pctl_json_string(j, s);
}

void pctl_json_kv_u64(pctl_json *j, const char *key, uint64_t v)
{
	pctl_json_key(j, key);
	pctl_json_u64(j, v);
}

void pctl_json_kv_u32(pctl_json *j, const char *key, uint32_t v)
{
	pctl_json_key(j, key);
	pctl_json_u32(j, v);
}

void pctl_json_kv_bool(pctl_json *j, const char *key, int v)
{
	pctl_json_key(j, key);
	pctl_json_bool(j, v);
}

char *pctl_json_finish(pctl_json *j)
{
	pctl_str_add(&j->out, "\n");
	return pctl_str_finish(&j->out);
}
