/* Implementation of form.h. */
#include "evidence/receipt/form.h"

#include <inttypes.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/hex.h"

static const char seal_start[] = "signature : { key = \"";

/* ---- writing ------------------------------------------------------------------------------ */

void pctl_form_quote(pctl_str_buf *s, const char *text)
{
	pctl_str_add(s, "\"");
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f) {
			pctl_str_addf(s, "\\x%02x", (unsigned)(unsigned char)*text);
			continue;
		}
		if (*text == '"' || *text == '\\')
			pctl_str_add(s, "\\");
		pctl_str_add_n(s, text, 1);
	}
	pctl_str_add(s, "\"");
}

void pctl_form_string(pctl_str_buf *s, const char *indent, const char *key, const char *text)
{
	pctl_str_addf(s, "%s%s = ", indent, key);
	pctl_form_quote(s, text);
	pctl_str_add(s, ";\n");
}

void pctl_form_u64(pctl_str_buf *s, const char *indent, const char *key, uint64_t value)
{
	pctl_str_addf(s, "%s%s = \"%" PRIu64 "\";\n", indent, key, value);
}

void pctl_form_digest(pctl_str_buf *s, const char *indent, const char *key,
		      const uint8_t digest[PCTL_DIGEST_BYTES])
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];

	pctl_form_string(s, indent, key, pctl_digest_hex(digest, hex));
}

void pctl_form_cid(pctl_str_buf *s, const char *indent, const char *key, const pctl_cid *cid)
{
	char text[PCTL_CID_TEXT_SIZE];

	pctl_form_string(s, indent, key, pctl_cid_format(cid, text));
}

void pctl_form_lines(pctl_str_buf *s, const char *key, const char *const *lines, uint32_t n)
{
	pctl_str_addf(s, "%s : (", key);
	for (uint32_t i = 0; i < n; i++) {
		pctl_str_add(s, i == 0 ? "\n  " : ",\n  ");
		pctl_form_quote(s, lines[i]);
	}
	pctl_str_add(s, " );\n");
}

/* ---- reading ------------------------------------------------------------------------------ */

size_t pctl_form_head(const char *text, size_t n)
{
	const size_t n_start = sizeof(seal_start) - 1;

	for (size_t at = 0; at < n;) {
		const char *end = memchr(text + at, '\n', n - at);
		const size_t next = end == NULL ? n : (size_t)(end - text) + 1;

		if (next - at > n_start && memcmp(text + at, seal_start, n_start) == 0)
			return end == NULL ? 0 : next;
		at = next;
	}
	return 0;
}

/* Moves *at past `word`; 0 when something else stands there. */
static int take(const char **at, const char *end, const char *word)
{
	const size_t n = strlen(word);

	if ((size_t)(end - *at) < n || memcmp(*at, word, n) != 0)
		return 0;
	*at += n;
	return 1;
}

static const char *take_quoted(const char **at, const char *end, pctl_arena *arena)
{
	const char *from = *at, *stop = from + 1;
	char *out, *to;

	if (from == end || *from != '"')
		return NULL;
	while (stop < end && *stop != '"' && *stop != '\n')
		stop += *stop == '\\' && end - stop > 1 ? 2 : 1;
	if (stop >= end || *stop != '"')
		return NULL;
	out = to = pctl_arena_alloc(arena, (size_t)(stop - from) + 1);
	for (from++; out != NULL && from < stop; from++, to++) {
		if (*from == '\\' && from[1] == 'x') {
			if (stop - from < 4 || !pctl_hex_parse(from + 2, 1, to) || *to == '\0')
				return NULL;
			from += 3;
			continue;
		}
		if (*from == '\\')
			from++;
		if (*from == '\0')
			return NULL;
		*to = *from;
	}
	*at = stop + 1;
	return out;
}

int pctl_form_lines_read(const char *text, size_t n, const char *key, pctl_arena *arena,
			 const char *const **out, uint32_t *n_out)
{
	const char *at = text, *end = text + n, **lines;
	size_t most = 1;
	uint32_t k = 0;

	*out = NULL;
	*n_out = 0;
	for (size_t i = 0; i < n; i++)
		most += text[i] == '\n';
	if (most > UINT32_MAX)
		return 0;
	lines = pctl_arena_array(arena, most, sizeof(*lines));
	if (lines == NULL || !take(&at, end, key) || !take(&at, end, " : ("))
		return 0;
	while (!take(&at, end, " );\n")) {
		if (!take(&at, end, k == 0 ? "\n  " : ",\n  ") || k == most)
			return 0;
		lines[k] = take_quoted(&at, end, arena);
		if (lines[k++] == NULL)
			return 0;
	}
	*out = lines;
	*n_out = k;
	return at == end;
}

/* ---- taking ------------------------------------------------------------------------------- */

static void missing(pctl_form_taker *t, const char *key)
{
	if (t->missing == NULL)
		t->missing = key;
}

const char *pctl_form_take_string(pctl_form_taker *t, const pctl_conf_value *group, const char *key)
{
	const pctl_conf_value *v = pctl_conf_get(group, key);
	const char *copy =
		v == NULL || v->kind != PCTL_CONF_STRING ? NULL : pctl_arena_dup(t->arena, v->text);

	if (copy == NULL)
		missing(t, key);
	return copy == NULL ? "" : copy;
}

uint64_t pctl_form_take_u64(pctl_form_taker *t, const pctl_conf_value *group, const char *key)
{
	const char *text = pctl_form_take_string(t, group, key);
	uint64_t value = 0;

	if (!pctl_num_parse_u64(text, strlen(text), &value))
		missing(t, key);
	return value;
}

uint32_t pctl_form_take_bool(pctl_form_taker *t, const pctl_conf_value *group, const char *key)
{
	const pctl_conf_value *v = pctl_conf_get(group, key);

	if (v == NULL || v->kind != PCTL_CONF_BOOL)
		missing(t, key);
	return v != NULL && v->kind == PCTL_CONF_BOOL && v->integer != 0;
}

void pctl_form_take_digest(pctl_form_taker *t, const pctl_conf_value *group, const char *key,
			   uint8_t out[PCTL_DIGEST_BYTES])
{
	if (!pctl_digest_parse_hex(pctl_form_take_string(t, group, key), out))
		missing(t, key);
}

void pctl_form_take_cid(pctl_form_taker *t, const pctl_conf_value *group, const char *key,
			pctl_cid *out)
{
	if (!pctl_cid_parse(pctl_form_take_string(t, group, key), out))
		missing(t, key);
}

const pctl_conf_value *pctl_form_take_list(pctl_form_taker *t, const pctl_conf_value *group,
					   const char *key)
{
	static const pctl_conf_value none = {.kind = PCTL_CONF_LIST};
	const pctl_conf_value *v = pctl_conf_get(group, key);

	if (v != NULL && v->kind == PCTL_CONF_LIST)
		return v;
	missing(t, key);
	return &none;
}

const pctl_conf_value *pctl_form_take_group(pctl_form_taker *t, const pctl_conf_value *group,
					    const char *key)
{
	const pctl_conf_value *v = pctl_conf_get(group, key);

	if (v != NULL && v->kind == PCTL_CONF_GROUP)
		return v;
	missing(t, key);
	return NULL;
}

void *pctl_form_take_room(pctl_form_taker *t, uint32_t n, size_t size)
{
	void *room = pctl_arena_array(t->arena, n + (size_t)1, size);

	if (room == NULL)
		missing(t, "memory");
	return room;
}
