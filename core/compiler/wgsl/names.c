/* The table of names: each spelling gets a number, keywords first. Texts of the compile live here
 * too. */
#include <string.h>

#include "compiler/wgsl/check.h"

#include "foundation/base/hash.h"

static void rehash(struct wgsl *c)
{
	uint32_t cap = c->cap_sym_table ? c->cap_sym_table * 2 : 1024, i, at;
	uint32_t *table = pctl_wgsl_alloc(c, (size_t)cap * sizeof(*table));

	for (i = 0; i < c->n_syms; i++) {
		for (at = c->syms[i].hash & (cap - 1); table[at]; at = (at + 1) & (cap - 1))
			;
		table[at] = i + 1;
	}
	c->sym_table = table;
	c->cap_sym_table = cap;
}

uint32_t pctl_wgsl_intern(struct wgsl *c, const char *text, size_t n)
{
	uint32_t hash = pctl_fnv32(PCTL_FNV32, text, n), at;
	struct sym *s;
	char *copy;

	if (c->n_syms * 2 >= c->cap_sym_table)
		rehash(c);
	for (at = hash & (c->cap_sym_table - 1); c->sym_table[at];
	     at = (at + 1) & (c->cap_sym_table - 1)) {
		s = &c->syms[c->sym_table[at] - 1];
		if (s->hash == hash && s->len == n && memcmp(s->text, text, n) == 0)
			return c->sym_table[at] - 1;
	}
	c->syms = pctl_wgsl_grow(c, c->syms, c->n_syms, &c->cap_syms, sizeof(*c->syms));
	s = &c->syms[c->n_syms];
	copy = pctl_wgsl_alloc(c, n + 1);
	memcpy(copy, text, n);
	s->text = copy;
	s->len = (uint32_t)n;
	s->hash = hash;
	c->sym_table[at] = c->n_syms + 1;
	return c->n_syms++;
}

void pctl_wgsl_names_init(struct wgsl *c)
{
	static const char *const keywords[] = {
		"",
#define PCTL_WGSL_KEYWORD(NAME, text) text,
#include "compiler/wgsl/tokens.def"
#undef PCTL_WGSL_KEYWORD
	};
	static const char reserved[] =
#define PCTL_WGSL_RESERVED(words) words " "
#include "compiler/wgsl/tokens.def"
#undef PCTL_WGSL_RESERVED
		;
	const char *p = reserved;
	uint32_t i, at;

	for (i = 0; i < KW_COUNT; i++)
		pctl_wgsl_intern(c, keywords[i], strlen(keywords[i]));
	while (*p) {
		size_t n = strcspn(p, " ");

		at = pctl_wgsl_intern(c, p, n); /* which may move the table */
		c->syms[at].reserved = 1;
		p += n + 1;
	}
	for (i = 0; i < pctl_wgsl_builtin_count(); i++) {
		const char *name = pctl_wgsl_builtin_at(i)->name;

		at = pctl_wgsl_intern(c, name, strlen(name));
		c->syms[at].builtin = i + 1;
	}
}

struct source *pctl_wgsl_source_add(struct wgsl *c, const char *name, const char *text, uint64_t n)
{
	struct source *src = WGSL_NEW(c, struct source);

	src->name = name ? name : "";
	src->text = text;
	src->base = c->next_base;
	c->sources =
		pctl_wgsl_grow(c, c->sources, c->n_sources, &c->cap_sources, sizeof(*c->sources));
	c->sources[c->n_sources++] = src;
	if (n > WGSL_MAX_SOURCE || c->next_base + n > WGSL_MAX_SOURCES_BYTES) {
		src->lines = WGSL_NEW(c, uint32_t);
		src->n_lines = 1;
		pctl_wgsl_error(c, PC2104_WGSL_SOURCE_SIZE, src->base, src->base + 1, NULL,
				"the text has %llu bytes; the limit is %u", (unsigned long long)n,
				WGSL_MAX_SOURCE);
		return NULL;
	}
	src->n = (uint32_t)n;
	c->next_base += src->n + 1; /* so that the end of one text is not the start of the next */
	pctl_wgsl_lex(c, src);
	return src;
}

const char *pctl_wgsl_token_text(uint32_t kind)
{
	static const char *const texts[] = {
		[T_EOF] = "the end of the text",
		[T_NAME] = "a name",
		[T_INT] = "a number",
		[T_FLOAT] = "a number",
		[T_BAD] = "a bad character",
		[T_TEMPLATE_OPEN] = "'<'",
		[T_TEMPLATE_CLOSE] = "'>'",
#define PCTL_WGSL_PUNCT(NAME, text) [T_##NAME] = "'" text "'",
#include "compiler/wgsl/tokens.def"
#undef PCTL_WGSL_PUNCT
	};

	return kind < T_COUNT ? texts[kind] : "a token";
}
