/* Tokens of WGSL text, and the table of names. No grammar here: what a token means is the parser's
 * business, except that template brackets are told from comparisons while lexing, as WGSL demands.
 */
#ifndef PIPECTL_COMPILER_WGSL_LEX_H
#define PIPECTL_COMPILER_WGSL_LEX_H

#include <stddef.h>
#include <stdint.h>

struct wgsl;
struct decl;

enum token_kind {
	T_EOF,
	T_NAME, /* identifiers and keywords; token.sym tells which */
	T_INT,
	T_FLOAT,
	T_BAD, /* something already reported */
	T_TEMPLATE_OPEN,
	T_TEMPLATE_CLOSE,
#define PCTL_WGSL_PUNCT(NAME, text) T_##NAME,
#include "compiler/wgsl/tokens.def"
#undef PCTL_WGSL_PUNCT
	T_COUNT
};

/* Keywords stand first in the table of names, so that a name's number tells whether it is one. */
enum keyword {
	KW_NONE,
#define PCTL_WGSL_KEYWORD(NAME, text) KW_##NAME,
#include "compiler/wgsl/tokens.def"
#undef PCTL_WGSL_KEYWORD
	KW_COUNT
};

/* pos is an offset in the space of all sources of a compile (see struct source). */
struct token {
	uint32_t pos;
	uint32_t len;
	uint32_t sym;
	uint32_t kind;
};

/* A name as it occurs in text. global and local are what it means right now at module scope and in
 * the function being checked; builtin is 1 + an index of builtins.def. */
struct sym {
	const char *text;
	uint32_t len;
	uint32_t hash;
	uint32_t builtin;
	uint32_t reserved; /* 1: a word WGSL keeps for later */
	uint32_t mark;	   /* number of the struct that used it last as a member's name */
	struct decl *global;
	struct decl *local;
};

/* One text. Positions of all texts share one 32-bit space: this one's byte i is base + i. */
struct source {
	const char *name;
	const char *text;
	uint32_t n;
	uint32_t base;
	uint32_t *lines; /* offsets of line starts */
	uint32_t n_lines;
	struct token *tokens;
	uint32_t n_tokens, cap_tokens;
	struct comment *comments; /* the `//#` ones */
	uint32_t has_f16;	  /* `enable f16;` */
	uint32_t has_subgroups;	  /* `enable subgroups;` */
	uint32_t has_tiles;	  /* `enable chromium_experimental_subgroup_matrix;` */
};

/* A metadata comment: the bytes behind `//#`. at_top: no token stands before it. */
struct comment {
	struct comment *next;
	uint32_t pos, len;
	uint32_t at_top;
};

/* Number of a name; the same bytes give the same number. */
uint32_t pctl_wgsl_intern(struct wgsl *c, const char *text, size_t n);

/* Fill src->tokens (ending in T_EOF), src->lines and src->comments. Errors are reported, lexing
 * goes on. */
void pctl_wgsl_lex(struct wgsl *c, struct source *src);

/* Properties of code points (Unicode's XID_Start and XID_Continue). */
int pctl_wgsl_is_xid_start(uint32_t cp);
int pctl_wgsl_is_xid_continue(uint32_t cp);

/* "';'" or "a name": how messages call a token kind. */
const char *pctl_wgsl_token_text(uint32_t kind);

#endif
