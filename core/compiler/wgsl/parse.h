/* The parser's own state and what its files offer each other. One error puts it into panic: nothing
 * more is reported until it found the start of the next statement or declaration. */
#ifndef PIPECTL_COMPILER_WGSL_PARSE_H
#define PIPECTL_COMPILER_WGSL_PARSE_H

#include "compiler/wgsl/compile.h"

struct parser {
	struct wgsl *c;
	struct source *src;
	const struct token *t; /* the token to be read next */
	uint32_t panic;
	uint32_t nesting;
	uint32_t seen_declaration;
	struct function *fn;		     /* whose body is being read */
	struct attr *filters, **filters_end; /* the directives `diagnostic` */
	uint32_t within; /* WITHIN_*: the block whose statements are being read */
};

/* Blocks in which `continuing` and `break if` may stand. */
enum { WITHIN_OTHER, WITHIN_LOOP, WITHIN_CONTINUING };

static inline uint32_t pctl_wgsl_token_end(const struct token *t)
{
	return t->pos + t->len;
}

/* End of the token read last. */
static inline uint32_t pctl_wgsl_last_end(const struct parser *p)
{
	return p->t == p->src->tokens ? p->t->pos : pctl_wgsl_token_end(p->t - 1);
}

static inline int pctl_wgsl_at(const struct parser *p, uint32_t kind)
{
	return p->t->kind == kind;
}

static inline int pctl_wgsl_at_keyword(const struct parser *p, uint32_t keyword)
{
	return p->t->kind == T_NAME && p->t->sym == keyword;
}

static inline void pctl_wgsl_advance(struct parser *p)
{
	if (p->t->kind != T_EOF)
		p->t++;
}

/* Read the token when it is of that kind. */
static inline int pctl_wgsl_accept(struct parser *p, uint32_t kind)
{
	if (p->panic || p->t->kind != kind)
		return 0;
	pctl_wgsl_advance(p);
	return 1;
}

/* The same, an error otherwise; `where` ends the message: "after the condition". */
int pctl_wgsl_expect(struct parser *p, uint32_t kind, const char *where);
/* A syntax error at the current token: "expected WHAT, found ...". */
void pctl_wgsl_syntax_error(struct parser *p, const char *hint, const char *expected);
/* A name that may be declared; 0 after an error. */
int pctl_wgsl_parse_name(struct parser *p, const char *what, uint32_t *sym, uint32_t *pos,
			 uint32_t *end);
/* Give up the rest of the text, after an error. */
void pctl_wgsl_stop(struct parser *p);
/* One level deeper; 0 after an error, when that is too deep. */
int pctl_wgsl_enter(struct parser *p);
static inline void pctl_wgsl_leave(struct parser *p)
{
	p->nesting--;
}

/* ---- parse_expr.c ---- */
struct expr *pctl_wgsl_parse_expr(struct parser *p);
/* The left side of an assignment. */
struct expr *pctl_wgsl_parse_unary(struct parser *p);
/* A type: a name with templates. */
struct expr *pctl_wgsl_parse_type(struct parser *p);
/* "(a, b, c)" behind a name; the count. */
struct expr *pctl_wgsl_parse_args(struct parser *p, uint32_t close, uint32_t *n);
struct expr *pctl_wgsl_expr_new(struct parser *p, uint32_t kind, uint32_t pos);

/* ---- parse_stmt.c ---- */
struct stmt *pctl_wgsl_parse_block(struct parser *p);

/* ---- parse_attr.c ---- */
struct attr *pctl_wgsl_parse_attrs(struct parser *p);
/* The attributes of a compound statement, a block or a clause: @diagnostic alone. */
void pctl_wgsl_parse_block_attrs(struct parser *p);
void pctl_wgsl_check_block_attrs(struct parser *p, const struct attr *attrs);
/* Attributes read where none may stand. */
void pctl_wgsl_no_attrs(struct parser *p, const struct attr *attrs, const char *before);
/* The directive `diagnostic(..);`, its keyword read. */
void pctl_wgsl_parse_diagnostic(struct parser *p, uint32_t pos);

/* ---- parse_decl.c ---- */
struct decl *pctl_wgsl_decl_new(struct parser *p, uint32_t kind);
/* const, let, override or var up to the ';', which is left. */
struct decl *pctl_wgsl_parse_value_decl(struct parser *p, struct attr *attrs);
struct decl *pctl_wgsl_parse_assert(struct parser *p);
void pctl_wgsl_parse_global(struct parser *p);

#endif
