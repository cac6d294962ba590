/* Statements. After an error, reading goes on behind the next ';' or at the next statement; `loop`
 * and `while` are refused but read whole, so that errors inside them are found too. */
#include <string.h>

#include "compiler/wgsl/parse.h"

static struct stmt *block_within(struct parser *p, uint32_t within);

static struct stmt *stmt_new(struct parser *p, uint32_t kind)
{
	struct stmt *s = WGSL_NEW(p->c, struct stmt);

	s->kind = (uint8_t)kind;
	s->pos = p->t->pos;
	s->end = pctl_wgsl_token_end(p->t);
	return s;
}

static int starts_statement(const struct parser *p)
{
	if (p->t->kind != T_NAME)
		return 0;
	switch (p->t->sym) {
	case KW_BREAK:
	case KW_CONST:
	case KW_CONST_ASSERT:
	case KW_CONTINUE:
	case KW_DISCARD:
	case KW_FOR:
	case KW_IF:
	case KW_LET:
	case KW_LOOP:
	case KW_RETURN:
	case KW_SWITCH:
	case KW_VAR:
	case KW_WHILE:
		return 1;
	default:
		return 0;
	}
}

static int starts_clause(const struct parser *p)
{
	return pctl_wgsl_at_keyword(p, KW_CASE) || pctl_wgsl_at_keyword(p, KW_DEFAULT);
}

/* To the start of the next statement (or clause of a switch) or the brace that ends the block. A
 * function keyword means that a brace is missing: it is left for the module's loop. */
static void synchronise(struct parser *p, const struct token *start, int in_switch)
{
	uint32_t depth = 0;

	while (p->t->kind != T_EOF) {
		if (p->t->kind == T_NAME && (p->t->sym == KW_FN || p->t->sym == KW_STRUCT))
			return; /* still in panic */
		if (!depth && p->t != start && (in_switch ? starts_clause(p) : starts_statement(p)))
			break;
		if (p->t->kind == T_LBRACE) {
			depth++;
		} else if (p->t->kind == T_RBRACE) {
			if (!depth)
				break;
			depth--;
			if (!depth && !in_switch) {
				pctl_wgsl_advance(p);
				if (pctl_wgsl_at_keyword(p, KW_ELSE))
					continue;
				break;
			}
		} else if (p->t->kind == T_SEMICOLON && !depth && !in_switch) {
			pctl_wgsl_advance(p);
			break;
		}
		pctl_wgsl_advance(p);
	}
	if (p->t->kind != T_EOF)
		p->panic = 0;
}

static uint32_t assign_operator(uint32_t kind)
{
	switch (kind) {
	case T_EQ:
		return T_EQ;
	case T_PLUS_EQ:
		return T_PLUS;
	case T_MINUS_EQ:
		return T_MINUS;
	case T_STAR_EQ:
		return T_STAR;
	case T_SLASH_EQ:
		return T_SLASH;
	case T_PERCENT_EQ:
		return T_PERCENT;
	case T_AND_EQ:
		return T_AND;
	case T_OR_EQ:
		return T_OR;
	case T_XOR_EQ:
		return T_XOR;
	case T_SHL_EQ:
		return T_SHL;
	case T_SHR_EQ:
		return T_SHR;
	default:
		return T_EOF;
	}
}

/* Assignment, step or call: what may stand in a `for` header too. */
static struct stmt *simple(struct parser *p)
{
	struct stmt *s = stmt_new(p, ST_ERROR);
	uint32_t op;

	if (pctl_wgsl_accept(p, T_UNDERSCORE)) {
		s->kind = ST_ASSIGN;
		s->op = T_EQ;
		pctl_wgsl_expect(p, T_EQ, "after `_`");
		s->b = pctl_wgsl_parse_expr(p);
		s->end = pctl_wgsl_last_end(p);
		return s;
	}
	if (pctl_wgsl_at(p, T_PLUSPLUS) || pctl_wgsl_at(p, T_MINUSMINUS)) {
		pctl_wgsl_syntax_error(p, "write it behind the variable: `i++`", "a statement");
		return s;
	}
	if (!pctl_wgsl_at(p, T_NAME) && !pctl_wgsl_at(p, T_STAR) && !pctl_wgsl_at(p, T_AND) &&
	    !pctl_wgsl_at(p, T_LPAREN)) {
		pctl_wgsl_syntax_error(p, NULL, "a statement");
		return s;
	}
	s->a = pctl_wgsl_parse_unary(p);
	s->end = pctl_wgsl_last_end(p);
	if (p->panic)
		return s;
	op = assign_operator(p->t->kind);
	if (op != T_EOF) {
		s->kind = ST_ASSIGN;
		s->op = (uint8_t)op;
		pctl_wgsl_advance(p);
		s->b = pctl_wgsl_parse_expr(p);
		s->end = pctl_wgsl_last_end(p);
	} else if (pctl_wgsl_at(p, T_PLUSPLUS) || pctl_wgsl_at(p, T_MINUSMINUS)) {
		s->kind = ST_STEP;
		s->op = (uint8_t)(pctl_wgsl_at(p, T_PLUSPLUS) ? T_PLUS : T_MINUS);
		pctl_wgsl_advance(p);
		s->end = pctl_wgsl_last_end(p);
	} else if (s->a->kind == EX_CALL && !s->a->paren) {
		s->kind = ST_CALL;
	} else if (s->a->kind != EX_ERROR) {
		pctl_wgsl_syntax_error(p, NULL, "'=', '++', '--' or a call");
	}
	return s;
}

static struct stmt *declaration(struct parser *p)
{
	struct stmt *s = stmt_new(p, ST_DECL);

	s->decl = pctl_wgsl_parse_value_decl(p, NULL);
	s->end = pctl_wgsl_last_end(p);
	return s;
}

static struct stmt *if_statement(struct parser *p)
{
	struct stmt *first = NULL, **link = &first;
	uint32_t levels = 0;

	/* `else if` chains are read without recursion but count as nesting, because they nest in
	 * the program. */
	for (;;) {
		struct stmt *s = stmt_new(p, ST_IF);

		s->chained = first != NULL;
		*link = s;
		link = &s->other;
		pctl_wgsl_advance(p);
		s->a = pctl_wgsl_parse_expr(p);
		s->body = pctl_wgsl_parse_block(p);
		s->end = pctl_wgsl_last_end(p);
		if (p->panic || !pctl_wgsl_at_keyword(p, KW_ELSE))
			break;
		pctl_wgsl_advance(p);
		if (!pctl_wgsl_at_keyword(p, KW_IF)) {
			s->other = pctl_wgsl_parse_block(p);
			break;
		}
		if (!pctl_wgsl_enter(p))
			break;
		levels++;
	}
	while (levels--)
		pctl_wgsl_leave(p);
	return first;
}

static struct clause *clause(struct parser *p)
{
	struct clause *k = WGSL_NEW(p->c, struct clause);
	struct selector **end = &k->selectors;
	int is_default = pctl_wgsl_at_keyword(p, KW_DEFAULT);

	k->pos = p->t->pos;
	k->end = pctl_wgsl_token_end(p->t);
	if (!is_default && !pctl_wgsl_at_keyword(p, KW_CASE)) {
		pctl_wgsl_syntax_error(p, NULL, "`case`, `default` or '}'");
		return NULL;
	}
	if (!is_default)
		pctl_wgsl_advance(p);
	do {
		struct selector *s;

		if (pctl_wgsl_at(p, T_COLON) || pctl_wgsl_at(p, T_LBRACE))
			break; /* a trailing comma */
		s = WGSL_NEW(p->c, struct selector);
		s->pos = p->t->pos;
		if (pctl_wgsl_at_keyword(p, KW_DEFAULT))
			pctl_wgsl_advance(p);
		else
			s->e = pctl_wgsl_parse_expr(p);
		s->end = pctl_wgsl_last_end(p);
		*end = s;
		end = &s->next;
		k->n_selectors++;
	} while (!is_default && pctl_wgsl_accept(p, T_COMMA));
	if (!p->panic && !k->n_selectors)
		pctl_wgsl_syntax_error(p, NULL, "a value or `default`");
	pctl_wgsl_accept(p, T_COLON);
	k->body = pctl_wgsl_parse_block(p);
	return k;
}

static struct stmt *switch_statement(struct parser *p)
{
	struct stmt *s = stmt_new(p, ST_SWITCH);
	struct clause **end = &s->clauses;

	pctl_wgsl_advance(p);
	s->a = pctl_wgsl_parse_expr(p);
	pctl_wgsl_parse_block_attrs(p);
	pctl_wgsl_expect(p, T_LBRACE, "after the value of `switch`");
	while (!p->panic && !pctl_wgsl_at(p, T_RBRACE)) {
		const struct token *start = p->t;
		struct clause *k = clause(p);

		if (p->panic)
			synchronise(p, start, 1);
		if (!k)
			continue;
		*end = k;
		end = &k->next;
	}
	pctl_wgsl_expect(p, T_RBRACE, "at the end of `switch`");
	return s;
}

static struct stmt *for_statement(struct parser *p)
{
	struct stmt *s = stmt_new(p, ST_FOR);

	pctl_wgsl_advance(p);
	pctl_wgsl_expect(p, T_LPAREN, "after `for`");
	if (!p->panic && !pctl_wgsl_at(p, T_SEMICOLON)) {
		if (pctl_wgsl_at_keyword(p, KW_VAR) || pctl_wgsl_at_keyword(p, KW_LET) ||
		    pctl_wgsl_at_keyword(p, KW_CONST))
			s->other = declaration(p);
		else
			s->other = simple(p);
	}
	pctl_wgsl_expect(p, T_SEMICOLON, "after the initialiser of `for`");
	if (!p->panic && !pctl_wgsl_at(p, T_SEMICOLON))
		s->a = pctl_wgsl_parse_expr(p);
	pctl_wgsl_expect(p, T_SEMICOLON, "after the condition of `for`");
	if (!p->panic && !pctl_wgsl_at(p, T_RPAREN))
		s->update = simple(p);
	pctl_wgsl_expect(p, T_RPAREN, "at the end of the `for` header");
	if (p->panic)
		s->kind = ST_ERROR; /* what its header lacks is no longer worth saying */
	s->body = pctl_wgsl_parse_block(p);
	return s;
}

/* The consensus rules know `for` alone, whose header names a bound. */
static int has_loops(const struct parser *p)
{
	return (p->c->options->flags & (PCTL_WGSL_CONSENSUS | PCTL_WGSL_RULES_1)) == 0;
}

/* `while (c) ..` is `for (; c;) ..`. */
static struct stmt *loop_statement(struct parser *p)
{
	const int is_while = pctl_wgsl_at_keyword(p, KW_WHILE);
	struct stmt *s = stmt_new(p, !has_loops(p) ? ST_REFUSED_LOOP : is_while ? ST_FOR : ST_LOOP);

	if (!has_loops(p))
		pctl_wgsl_error(
			p->c, is_while ? PC2209_WGSL_WHILE : PC2208_WGSL_LOOP, s->pos, s->end,
			"write `for (var i = 0u; i < LIMIT; i++)` with a constant limit and "
			"`break`",
			"`%s` has no bound that can be proved", is_while ? "while" : "loop");
	pctl_wgsl_advance(p);
	if (is_while)
		s->a = pctl_wgsl_parse_expr(p);
	s->body = block_within(p, is_while ? WITHIN_OTHER : WITHIN_LOOP);
	return s;
}

/* A part of a loop must be the last statement of the block it belongs to. */
static void check_part(struct parser *p, const struct stmt *s, uint32_t within, const char *what,
		       const char *where)
{
	if (p->panic || pctl_wgsl_is_first_rules(p->c))
		return;
	if (p->within != within)
		pctl_wgsl_error(p->c, PC2418_WGSL_JUMP, s->pos, s->end,
				"write `for (..; condition; ..)`, or `if (..) { break; }`",
				"`%s` stands outside of `%s`", what, where);
	else if (!pctl_wgsl_at(p, T_RBRACE))
		pctl_wgsl_error(p->c, PC2418_WGSL_JUMP, s->pos, s->end, NULL,
				"`%s` is not the last statement of `%s`", what, where);
}

/* `continuing { .. }` or `break if c;`; of a refused loop read for their errors. */
static struct stmt *loop_part(struct parser *p)
{
	struct stmt *s = stmt_new(p, !has_loops(p)			      ? ST_REFUSED_LOOP
				     : pctl_wgsl_at_keyword(p, KW_CONTINUING) ? ST_CONTINUING
									      : ST_BREAK_IF);

	if (pctl_wgsl_at_keyword(p, KW_CONTINUING)) {
		pctl_wgsl_advance(p);
		s->body = block_within(p, WITHIN_CONTINUING);
		check_part(p, s, WITHIN_LOOP, "continuing", "loop");
		return s;
	}
	pctl_wgsl_advance(p);
	s->end = pctl_wgsl_token_end(p->t);
	pctl_wgsl_advance(p);
	s->a = pctl_wgsl_parse_expr(p);
	pctl_wgsl_expect(p, T_SEMICOLON, "after `break if`");
	check_part(p, s, WITHIN_CONTINUING, "break if", "continuing");
	return s;
}

static struct stmt *word(struct parser *p, uint32_t kind)
{
	struct stmt *s = stmt_new(p, kind);

	pctl_wgsl_advance(p);
	return s;
}

static struct stmt *statement(struct parser *p)
{
	uint32_t sym = pctl_wgsl_at(p, T_NAME) ? p->t->sym : KW_NONE;
	struct stmt *s;

	switch (sym) {
	case KW_IF:
		return if_statement(p);
	case KW_SWITCH:
		return switch_statement(p);
	case KW_FOR:
		return for_statement(p);
	case KW_LOOP:
	case KW_WHILE:
		return loop_statement(p);
	case KW_CONTINUING:
		return loop_part(p);
	case KW_BREAK:
		if (p->t[1].kind == T_NAME && p->t[1].sym == KW_IF)
			return loop_part(p);
		s = word(p, ST_BREAK);
		break;
	case KW_CONTINUE:
		s = word(p, ST_CONTINUE);
		break;
	case KW_DISCARD:
		s = word(p, ST_DISCARD);
		break;
	case KW_RETURN:
		s = word(p, ST_RETURN);
		if (!pctl_wgsl_at(p, T_SEMICOLON))
			s->a = pctl_wgsl_parse_expr(p);
		s->end = pctl_wgsl_last_end(p);
		break;
	case KW_CONST_ASSERT:
		s = stmt_new(p, ST_ASSERT);
		s->decl = pctl_wgsl_parse_assert(p);
		break;
	case KW_CONST:
	case KW_LET:
	case KW_VAR:
		s = declaration(p);
		break;
	default:
		s = simple(p);
	}
	pctl_wgsl_expect(p, T_SEMICOLON, "at the end of the statement");
	return s;
}

/* Whether a statement with attributes of its own stands here. */
static int takes_attrs(const struct parser *p)
{
	return pctl_wgsl_at(p, T_LBRACE) || pctl_wgsl_at_keyword(p, KW_IF) ||
	       pctl_wgsl_at_keyword(p, KW_SWITCH) || pctl_wgsl_at_keyword(p, KW_FOR) ||
	       pctl_wgsl_at_keyword(p, KW_LOOP) || pctl_wgsl_at_keyword(p, KW_WHILE);
}

static void statement_attrs(struct parser *p)
{
	const struct attr *attrs = pctl_wgsl_parse_attrs(p);

	if (p->panic)
		return;
	if (takes_attrs(p))
		pctl_wgsl_check_block_attrs(p, attrs);
	else
		pctl_wgsl_no_attrs(p, attrs, "this statement");
}

struct stmt *pctl_wgsl_parse_block(struct parser *p)
{
	return block_within(p, WITHIN_OTHER);
}

static struct stmt *block_within(struct parser *p, uint32_t within)
{
	const uint32_t outer = p->within;
	struct stmt *block, **end;

	pctl_wgsl_parse_block_attrs(p);
	block = stmt_new(p, ST_BLOCK);
	end = &block->body;
	if (!pctl_wgsl_enter(p))
		return block;
	p->within = within;
	pctl_wgsl_expect(p, T_LBRACE, "to begin a block");
	while (!p->panic && !pctl_wgsl_at(p, T_RBRACE)) {
		const struct token *start = p->t;
		struct stmt *s;

		if (pctl_wgsl_at(p, T_EOF))
			break;
		if (pctl_wgsl_accept(p, T_SEMICOLON))
			continue;
		if (pctl_wgsl_at(p, T_AT))
			statement_attrs(p);
		s = pctl_wgsl_at(p, T_LBRACE) ? pctl_wgsl_parse_block(p) : statement(p);
		*end = s;
		end = &s->next;
		while (*end)
			end = &(*end)->next;
		if (p->panic)
			synchronise(p, start, 0);
	}
	p->within = outer;
	block->close = p->t->pos;
	pctl_wgsl_expect(p, T_RBRACE, "to end the block");
	block->end = pctl_wgsl_last_end(p);
	pctl_wgsl_leave(p);
	return block;
}
