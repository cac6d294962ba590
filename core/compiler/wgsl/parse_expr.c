/* Expressions: precedence climbing, then WGSL's rule that some operators may not meet without
 * parentheses. Literals are read here too. */
#include <string.h>

#include "compiler/wgsl/float.h"
#include "compiler/wgsl/parse.h"

struct expr *pctl_wgsl_expr_new(struct parser *p, uint32_t kind, uint32_t pos)
{
	struct expr *e = WGSL_NEW(p->c, struct expr);

	e->kind = (uint8_t)kind;
	e->pos = pos;
	e->end = pctl_wgsl_last_end(p);
	e->depth = 1;
	return e;
}

static struct expr *error_expr(struct parser *p)
{
	struct expr *e = pctl_wgsl_expr_new(p, EX_ERROR, p->t->pos);

	e->end = pctl_wgsl_token_end(p->t);
	return e;
}

/* Close a node over its operands: its end and depth. */
static struct expr *finish(struct parser *p, struct expr *e)
{
	uint32_t depth = 0;
	const struct expr *part;

	if (e->kind == EX_CALL || e->kind == EX_NAME) {
		for (part = e->a; part; part = part->next)
			depth = part->depth > depth ? part->depth : depth;
		for (part = e->b; part; part = part->next)
			depth = part->depth > depth ? part->depth : depth;
	} else {
		depth = e->a ? e->a->depth : 0;
		if (e->b && e->b->depth > depth)
			depth = e->b->depth;
	}
	if (p->panic)
		return error_expr(p);
	e->end = pctl_wgsl_last_end(p);
	e->depth = (uint16_t)(depth + 1);
	if (depth >= WGSL_MAX_DEPTH) {
		pctl_wgsl_error(p->c, PC2105_WGSL_NESTING, e->pos, e->pos + 1,
				"split it with `let`",
				"an expression is more than %u operations deep; reading ends here",
				WGSL_MAX_DEPTH);
		pctl_wgsl_stop(p);
		return error_expr(p);
	}
	return e;
}

struct expr *pctl_wgsl_parse_args(struct parser *p, uint32_t close, uint32_t *n)
{
	struct expr *first = NULL, **end = &first;

	*n = 0;
	while (!p->panic && !pctl_wgsl_at(p, close)) {
		struct expr *e = pctl_wgsl_parse_expr(p);

		*end = e;
		end = &e->next;
		++*n;
		if (!pctl_wgsl_accept(p, T_COMMA))
			break;
	}
	pctl_wgsl_expect(p, close,
			 close == T_RPAREN ? "behind the arguments" : "behind the template");
	return first;
}

static struct expr *integer(struct parser *p, struct expr *e, const char *s, uint32_t n)
{
	uint32_t base = 10, i = 0, suffix, scalar = SCALAR_ABSTRACT, overflow = 0;
	uint64_t value = 0, limit = INT64_MAX;

	for (suffix = n;
	     suffix && (s[suffix - 1] == 'i' || s[suffix - 1] == 'u' || s[suffix - 1] == 'l');
	     suffix--)
		;
	if (n - suffix == 1 && s[suffix] == 'i') {
		scalar = PCTL_SCALAR_I32;
		limit = INT32_MAX;
	} else if (n - suffix == 1 && s[suffix] == 'u') {
		scalar = PCTL_SCALAR_U32;
		limit = UINT32_MAX;
	} else if (n - suffix == 2 && !memcmp(s + suffix, "li", 2)) {
		scalar = PCTL_SCALAR_I64;
	} else if (n - suffix == 2 && !memcmp(s + suffix, "lu", 2)) {
		scalar = PCTL_SCALAR_U64;
		limit = UINT64_MAX;
	} else if (n != suffix) {
		goto malformed;
	}
	if (suffix > 2 && s[0] == '0' && (s[1] | 0x20) == 'x') {
		base = 16;
		i = 2;
	} else if (suffix == 0 || (s[0] == '0' && suffix > 1)) {
		goto malformed;
	}
	for (; i < suffix; i++) {
		uint32_t digit = s[i] >= '0' && s[i] <= '9' ? (uint32_t)(s[i] - '0')
							    : (uint32_t)((s[i] | 0x20) - 'a') + 10;

		if (digit >= base)
			goto malformed;
		if (value > (UINT64_MAX - digit) / base)
			overflow = 1;
		value = value * base + digit;
	}
	if (overflow || value > limit) {
		pctl_wgsl_error(p->c, PC2103_WGSL_NUMBER, e->pos, e->end,
				scalar == SCALAR_ABSTRACT ? "the suffix lu gives a u64" : NULL,
				"%.*s does not fit; the largest %s is %llu", (int)(n > 40 ? 40 : n),
				s,
				scalar == SCALAR_ABSTRACT   ? "integer literal without a suffix"
				: scalar == PCTL_SCALAR_I32 ? "i32"
				: scalar == PCTL_SCALAR_U32 ? "u32"
				: scalar == PCTL_SCALAR_I64 ? "i64"
							    : "u64",
				(unsigned long long)limit);
		e->kind = EX_ERROR;
		return e;
	}
	e->kind = EX_LITERAL;
	e->index = scalar;
	e->scalar = value;
	return e;
malformed:
	pctl_wgsl_error(p->c, PC2103_WGSL_NUMBER, e->pos, e->end,
			"decimal has no leading zero; suffixes are i, u, li, lu",
			"\"%.*s\" is not a number", (int)(n > 40 ? 40 : n), s);
	e->kind = EX_ERROR;
	return e;
}

static struct expr *floating(struct parser *p, struct expr *e, const char *s, uint32_t n)
{
	const int shown = (int)(n > 40 ? 40 : n);
	const uint32_t flags = p->c->options->flags;
	enum float_text bad;
	uint32_t scalar;

	if (!PCTL_WGSL_HAS_FLOATS(flags)) {
		pctl_wgsl_error(p->c, PC2200_WGSL_FLOAT, e->pos, e->end,
				"use integers with a fixed scale, as in 850000 for 0.85 with scale "
				"1000000",
				"floats are not taken here: literal %.*s", shown, s);
		return e;
	}
	bad = pctl_wgsl_float_text(s, n, &scalar, &e->scalar);
	if (bad == FLOAT_TEXT_MALFORMED ||
	    (scalar == PCTL_SCALAR_F64 && !PCTL_WGSL_HAS_F64(flags))) {
		pctl_wgsl_error(
			p->c, PC2103_WGSL_NUMBER, e->pos, e->end,
			PCTL_WGSL_HAS_F64(flags)
				? "suffixes of floats are f, h and lf; a hexadecimal one needs a "
				  "point or p, and p before a suffix"
				: "suffixes of floats are f and h; a hexadecimal one needs a point "
				  "or p, and p before a suffix",
			"\"%.*s\" is not a number", shown, s);
		return e;
	}
	if (bad != FLOAT_TEXT_OK) {
		pctl_wgsl_error(p->c, PC2103_WGSL_NUMBER, e->pos, e->end, NULL,
				bad == FLOAT_TEXT_LARGE ? "%.*s is too large for %s"
							: "%.*s is not exact in %s, as a "
							  "hexadecimal float must be",
				shown, s,
				scalar == SCALAR_ABSTRACT_FLOAT
					? "abstract-float (64 bits)"
					: pctl_scalar_name((uint8_t)scalar));
		return e;
	}
	if (scalar == PCTL_SCALAR_F16 && !p->src->has_f16) {
		pctl_wgsl_error(p->c, PC2220_WGSL_F16, e->pos, e->end,
				"write `enable f16;` at the top", "%.*s is an f16", shown, s);
		return e;
	}
	e->kind = EX_LITERAL;
	e->index = scalar;
	return e;
}

static struct expr *number(struct parser *p)
{
	const struct token *t = p->t;
	const char *s = p->src->text + (t->pos - p->src->base);
	struct expr *e;

	pctl_wgsl_advance(p);
	e = pctl_wgsl_expr_new(p, EX_ERROR, t->pos);
	if (t->kind == T_INT)
		return integer(p, e, s, t->len);
	return floating(p, e, s, t->len);
}

static struct expr *template_args(struct parser *p, struct expr *e)
{
	uint32_t n;

	if (!pctl_wgsl_accept(p, T_TEMPLATE_OPEN))
		return e;
	e->has_templates = 1;
	e->b = pctl_wgsl_parse_args(p, T_TEMPLATE_CLOSE, &n);
	return finish(p, e);
}

static struct expr *named(struct parser *p)
{
	const struct token *t = p->t;
	struct expr *e;
	uint32_t n;

	if (t->sym == KW_TRUE || t->sym == KW_FALSE) {
		pctl_wgsl_advance(p);
		e = pctl_wgsl_expr_new(p, EX_LITERAL, t->pos);
		e->index = PCTL_SCALAR_BOOL;
		e->scalar = t->sym == KW_TRUE;
		return e;
	}
	if (t->sym < KW_COUNT) {
		pctl_wgsl_syntax_error(p, NULL, "an expression");
		return error_expr(p);
	}
	pctl_wgsl_advance(p);
	e = pctl_wgsl_expr_new(p, EX_NAME, t->pos);
	e->sym = t->sym;
	e->op_pos = pctl_wgsl_token_end(t);
	e = template_args(p, e);
	if (e->kind != EX_ERROR && pctl_wgsl_accept(p, T_LPAREN)) {
		e->kind = EX_CALL;
		e->a = pctl_wgsl_parse_args(p, T_RPAREN, &n);
		e->n_args = n;
		e = finish(p, e);
	}
	return e;
}

static struct expr *primary(struct parser *p)
{
	struct expr *e;
	uint32_t start = p->t->pos;

	switch (p->t->kind) {
	case T_INT:
	case T_FLOAT:
		return number(p);
	case T_NAME:
		return named(p);
	case T_LPAREN:
		pctl_wgsl_advance(p);
		e = pctl_wgsl_parse_expr(p);
		if (!pctl_wgsl_expect(p, T_RPAREN, "to close the parenthesis"))
			return error_expr(p);
		e->paren = 1;
		e->pos = start;
		e->end = pctl_wgsl_last_end(p);
		return e;
	default:
		pctl_wgsl_syntax_error(p, NULL, "an expression");
		return error_expr(p);
	}
}

static struct expr *postfix(struct parser *p)
{
	struct expr *e = primary(p);

	while (!p->panic) {
		struct expr *outer;
		uint32_t at = p->t->pos;

		if (pctl_wgsl_accept(p, T_LBRACKET)) {
			outer = pctl_wgsl_expr_new(p, EX_INDEX, e->pos);
			outer->b = pctl_wgsl_parse_expr(p);
			pctl_wgsl_expect(p, T_RBRACKET, "behind the index");
		} else if (pctl_wgsl_accept(p, T_DOT)) {
			if (!pctl_wgsl_at(p, T_NAME) || p->t->sym < KW_COUNT) {
				pctl_wgsl_syntax_error(p, NULL, "a member name or swizzle");
				break;
			}
			at = p->t->pos;
			outer = pctl_wgsl_expr_new(p, EX_MEMBER, e->pos);
			outer->sym = p->t->sym;
			pctl_wgsl_advance(p);
		} else {
			break;
		}
		outer->a = e;
		outer->op_pos = at;
		e = finish(p, outer);
	}
	return e;
}

struct expr *pctl_wgsl_parse_unary(struct parser *p)
{
	uint32_t kind = p->t->kind, pos = p->t->pos;
	struct expr *e;

	if (p->panic)
		return error_expr(p);
	if (kind != T_MINUS && kind != T_BANG && kind != T_TILDE && kind != T_AND &&
	    kind != T_STAR && kind != T_MINUSMINUS && kind != T_ANDAND)
		return postfix(p);
	if (!pctl_wgsl_enter(p))
		return error_expr(p);
	if (kind == T_MINUSMINUS || kind == T_ANDAND) {
		pctl_wgsl_syntax_error(p, "write a space between them", "an expression");
		pctl_wgsl_leave(p);
		return error_expr(p);
	}
	pctl_wgsl_advance(p);
	e = pctl_wgsl_expr_new(p,
			       kind == T_AND	? EX_ADDRESS
			       : kind == T_STAR ? EX_DEREF
						: EX_UNARY,
			       pos);
	e->op = (uint8_t)kind;
	e->op_pos = pos;
	e->a = pctl_wgsl_parse_unary(p);
	pctl_wgsl_leave(p);
	return finish(p, e);
}

/* Higher binds tighter; 0: no binary operator. */
static uint32_t precedence(uint32_t kind)
{
	switch (kind) {
	case T_OROR:
		return 1;
	case T_ANDAND:
		return 2;
	case T_OR:
		return 3;
	case T_XOR:
		return 4;
	case T_AND:
		return 5;
	case T_EQEQ:
	case T_NE:
	case T_LT:
	case T_LE:
	case T_GT:
	case T_GE:
		return 6;
	case T_SHL:
	case T_SHR:
		return 7;
	case T_PLUS:
	case T_MINUS:
		return 8;
	case T_STAR:
	case T_SLASH:
	case T_PERCENT:
		return 9;
	default:
		return 0;
	}
}

/* May `child` stand beside operator `op` without parentheses? */
static int may_mix(uint32_t op, const struct expr *child, int is_left)
{
	uint32_t outer = precedence(op), inner;

	if (child->kind != EX_BINARY || child->paren)
		return 1;
	inner = precedence(child->op);
	switch (outer) {
	case 1:
	case 2:
		return inner >= 6 || (is_left && inner == outer);
	case 3:
	case 4:
	case 5:
		return is_left && inner == outer;
	case 6:
		return inner >= 7;
	case 7:
		return 0;
	default:
		return 1;
	}
}

static void check_mix(struct parser *p, struct expr *e, const struct expr *child, int is_left)
{
	if (p->panic || may_mix(e->op, child, is_left))
		return;
	pctl_wgsl_error(p->c, PC2111_WGSL_PARENTHESES, child->pos, child->end,
			"put this operand into parentheses",
			"%s and %s may not meet without parentheses",
			pctl_wgsl_token_text(child->op), pctl_wgsl_token_text(e->op));
	if (precedence(e->op) ==
	    6) /* the comparison of a comparison would be called a type error */
		e->kind = EX_ERROR;
}

static struct expr *binary(struct parser *p, uint32_t least)
{
	struct expr *left = pctl_wgsl_parse_unary(p);

	while (!p->panic) {
		uint32_t level = precedence(p->t->kind), op_pos = p->t->pos;
		struct expr *e;

		if (!level || level < least)
			break;
		e = pctl_wgsl_expr_new(p, EX_BINARY, left->pos);
		e->op = (uint8_t)p->t->kind;
		e->op_pos = op_pos;
		e->a = left;
		pctl_wgsl_advance(p);
		e->b = binary(p, level + 1);
		check_mix(p, e, e->a, 1);
		check_mix(p, e, e->b, 0);
		left = finish(p, e);
	}
	return left;
}

struct expr *pctl_wgsl_parse_expr(struct parser *p)
{
	struct expr *e;

	if (p->panic)
		return error_expr(p);
	if (!pctl_wgsl_enter(p))
		return error_expr(p);
	e = binary(p, 1);
	pctl_wgsl_leave(p);
	return e;
}

struct expr *pctl_wgsl_parse_type(struct parser *p)
{
	struct expr *e;

	if (p->panic)
		return error_expr(p);
	if (!pctl_wgsl_at(p, T_NAME) || p->t->sym < KW_COUNT) {
		pctl_wgsl_syntax_error(p, NULL, "a type");
		return error_expr(p);
	}
	if (!pctl_wgsl_enter(p))
		return error_expr(p);
	e = pctl_wgsl_expr_new(p, EX_NAME, p->t->pos);
	e->sym = p->t->sym;
	pctl_wgsl_advance(p);
	e->end = pctl_wgsl_last_end(p);
	e->op_pos = e->end;
	e = template_args(p, e);
	pctl_wgsl_leave(p);
	return e;
}
