/* Rows out of texts; see released.h. The tables are C sources of one known form, so the scanners are plain. */
#include "foundation/git/released.h"

#include <ctype.h>
#include <string.h>

int pctl_released_begin(pctl_released *r)
{
	*r = (pctl_released){pctl_arena_create(), pctl_map_create(), 0, 0};
	return r->arena != NULL && r->map != NULL;
}

void pctl_released_end(pctl_released *r)
{
	pctl_map_destroy(r->map);
	pctl_arena_destroy(r->arena);
}

static uint32_t line_of(const char *text, const char *at)
{
	uint32_t line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

static void add(pctl_released *r, const char *file, uint32_t line, const char *name, size_t n_name,
		const char *value, size_t n_value)
{
	pctl_released_row *row = pctl_arena_alloc(r->arena, sizeof(*row));
	char *key = pctl_arena_dup_n(r->arena, name, n_name);

	if (row == NULL || key == NULL) {
		r->failed = 1;
		return;
	}
	*row = (pctl_released_row){pctl_arena_dup_n(r->arena, value, n_value),
				   pctl_arena_dup(r->arena, file), line, 0};
	if (row->value == NULL || row->file == NULL ||
	    (!pctl_map_has(r->map, key) && !pctl_map_put(r->map, key, row)))
		r->failed = 1;
}

static size_t blanks(const char *p)
{
	return strspn(p, " \t\r\n");
}

void pctl_released_codes(pctl_released *r, const char *file, const char *text)
{
	static const char start[] = "PCTL_CODE(";

	for (const char *p = text; (p = strstr(p, start)) != NULL;) {
		const char *number = p + sizeof(start) - 1, *slug, *end;
		const size_t n = strspn(number, "0123456789");

		p = number;
		slug = n == 0 || number[n] != ',' ? NULL : strchr(number, '"');
		end = slug == NULL ? NULL : strchr(slug + 1, '"');
		if (end == NULL)
			continue;
		add(r, file, line_of(text, number), number, n, slug + 1, (size_t)(end - slug - 1));
		p = end;
	}
}

void pctl_released_opcodes(pctl_released *r, const char *file, const char *text)
{
	static const char start[] = "PCTL_OPCODE(";

	for (const char *p = text; (p = strstr(p, start)) != NULL;) {
		const char *number = p + sizeof(start) - 1, *comma, *end;

		p = number;
		if (!isdigit((unsigned char)*number))
			continue;
		comma = strchr(number, ',');
		end = comma == NULL ? NULL : strchr(comma, ')');
		while (end != NULL && end > comma + 1 && *end != ',')
			end--;
		if (end == NULL)
			continue;
		add(r, file, line_of(text, number), number, (size_t)(comma - number),
		    comma + 1 + blanks(comma + 1),
		    (size_t)(end - comma - 1 - (ptrdiff_t)blanks(comma + 1)));
		p = comma;
	}
}

/* Length of an integer literal with its suffix, or of (literal << literal); 0 for anything else. */
static size_t literal(const char *p)
{
	size_t n = *p == '(' ? strspn(p, "(0123456789abcdefxulABCDEFXUL< )") : 0;

	if (n == 0 && (*p == '-' || isdigit((unsigned char)*p)))
		n = (*p == '-') + strspn(p + (*p == '-'), "0123456789abcdefxulABCDEFXUL");
	while (n > 0 && (p[n - 1] == ' ' || p[n - 1] == '\t'))
		n--;
	return n;
}

static size_t word(const char *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) || p[n] == '_')
		n++;
	return n;
}

void pctl_released_numbers(pctl_released *r, const char *file, const char *text)
{
	static const char start[] = "PCTL_", grows[] = "PCTL_ABI_MINOR", define[] = "#define ";
	const size_t n_define = sizeof(define) - 1;

	for (const char *p = text; (p = strstr(p, start)) != NULL;) {
		const size_t n = word(p);
		const char *value = p + n + strspn(p + n, " \t");
		const int defined = value > p + n && p >= text + n_define &&
				    memcmp(p - n_define, define, n_define) == 0;
		const int assigned = *value == '=' && value[1] != '=';
		size_t n_value;

		value += assigned ? 1 + strspn(value + 1, " \t\n\r") : 0;
		value += defined && *value == '\\' ? 1 + strspn(value + 1, " \t\n\r") : 0;
		n_value = defined || assigned ? literal(value) : 0;
		if (n_value != 0 && !(n == sizeof(grows) - 1 && memcmp(p, grows, n) == 0))
			add(r, file, line_of(text, p), p, n, value, n_value);
		p += n;
	}
}

static pctl_status malformed(const char *file, uint32_t line, const char *why,
			     const pctl_call *call)
{
	const pctl_pos pos = {.file = file, .line = line, .column = 1};

	return pctl_refuse_at(call, PC6021_REPO_LOCK, &pos, NULL, "%s", why);
}

pctl_status pctl_released_lock(pctl_released *r, const char *file, const char *text,
			       const pctl_call *call)
{
	const char *before = NULL;
	uint32_t line = 0;

	while (*text != '\0') {
		const size_t n = strcspn(text, "\n");
		const char *space = memchr(text, ' ', n);
		const char *name;

		line++;
		if (text[0] != '#') {
			if (space == NULL || memchr(text, '@', (size_t)(space - text)) == NULL ||
			    strcspn(space + 1, " \t\r\n") != (size_t)(text + n - space - 1) ||
			    space + 1 == text + n || text[n] != '\n')
				return malformed(file, line, "a line is not NAME@VERSION DIGEST",
						 call);
			name = pctl_arena_dup_n(r->arena, text, (size_t)(space - text));
			if (name != NULL && before != NULL && strcmp(before, name) >= 0)
				return malformed(file, line, "a line is not behind the one before",
						 call);
			before = name;
			add(r, file, line, text, (size_t)(space - text), space + 1,
			    (size_t)(text + n - space - 1));
		}
		text += n + (text[n] == '\n');
	}
	return r->failed ? pctl_no_memory(call, "a list of ops") : PCTL_OK;
}
