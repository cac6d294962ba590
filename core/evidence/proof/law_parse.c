/* Reading law texts: the grammar stands in oplib.h at pctl_law. Anything may come in; depth and size are limited. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/graph/type.h"
#include "evidence/proof/law_private.h"

#define DEEPEST 16u
#define MOST_NODES 200u

struct parser {
	const char *text;
	uint32_t n, at, depth, n_nodes;
	pctl_arena *arena;
	pctl_law_tree *tree;
	pctl_law_fault *fault;
};

int pctl_law_fault_at(pctl_law_fault *f, uint32_t code, uint32_t at, uint32_t end, const char *fmt,
		      ...)
{
	va_list args;

	if (f->code != 0)
		return 0;
	*f = (pctl_law_fault){.code = code, .at = at, .end = end};
	va_start(args, fmt);
	vsnprintf(f->message, sizeof(f->message), fmt, args);
	va_end(args);
	return 0;
}

static void skip(struct parser *p)
{
	while (p->at < p->n && isspace((unsigned char)p->text[p->at]))
		p->at++;
}

/* The next character that is not space; '\0' at the end. */
static char next(struct parser *p)
{
	skip(p);
	return p->at < p->n ? p->text[p->at] : '\0';
}

static int is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Bytes of the word at p->at. */
static uint32_t word_length(const struct parser *p)
{
	uint32_t n = 0;

	while (p->at + n < p->n && is_word(p->text[p->at + n]))
		n++;
	return n;
}

/* What the text shows here, for messages. */
static int expected(struct parser *p, const char *what)
{
	uint32_t n;

	skip(p);
	n = word_length(p);
	if (p->at == p->n)
		return pctl_law_fault_at(p->fault, PC5301_LAW_PROSE, p->at, p->at,
					 "the text ends where %s should stand", what);
	if (n == 0 && !isprint((unsigned char)p->text[p->at]))
		return pctl_law_fault_at(p->fault, PC5301_LAW_PROSE, p->at, p->at + 1,
					 "byte 0x%02x stands where %s should",
					 (unsigned char)p->text[p->at], what);
	n = n == 0 ? 1 : n > 40 ? 40 : n;
	return pctl_law_fault_at(p->fault, PC5301_LAW_PROSE, p->at, p->at + n,
				 "\"%.*s\" stands where %s should", (int)n, p->text + p->at, what);
}

static int take(struct parser *p, char c, const char *what)
{
	if (next(p) != c)
		return expected(p, what);
	p->at++;
	return 1;
}

static pctl_law_node *node_make(struct parser *p, uint32_t kind)
{
	pctl_law_node *n;

	if (++p->n_nodes > MOST_NODES) {
		pctl_law_fault_at(p->fault, PC5301_LAW_PROSE, p->at, p->at,
				  "the law has more than %u terms", MOST_NODES);
		return NULL;
	}
	n = pctl_arena_alloc(p->arena, sizeof(*n));
	if (n == NULL) {
		pctl_law_fault_at(p->fault, PC2_NOMEM, p->at, p->at, "no memory for a law");
		return NULL;
	}
	n->kind = kind;
	n->at = p->at;
	return n;
}

/* A literal: a sign, then a number or Inf; NaN. What it means depends on its dtype and is found later. */
static pctl_law_node *literal(struct parser *p)
{
	pctl_law_node *node;
	uint32_t begin, n;

	skip(p);
	node = node_make(p, PCTL_NODE_LITERAL);
	if (node == NULL)
		return NULL;
	begin = p->at;
	if (p->at < p->n && (p->text[p->at] == '+' || p->text[p->at] == '-'))
		p->at++;
	n = word_length(p);
	/* 1e-7: a sign behind the e of a decimal. */
	if (n > 1 && p->at + n < p->n && tolower((unsigned char)p->text[p->at + n - 1]) == 'e' &&
	    (p->text[p->at + n] == '-' || p->text[p->at + n] == '+') &&
	    isdigit((unsigned char)p->text[p->at]) && memchr(p->text + p->at, 'x', n) == NULL) {
		p->at += n + 1;
		n = word_length(p);
	}
	if (n == 0 && p->at == begin) {
		expected(p, "a number");
		return NULL;
	}
	if (n == 0) {
		pctl_law_fault_at(p->fault, PC5301_LAW_PROSE, p->at, p->at + 1,
				  "a number must follow its sign at once");
		return NULL;
	}
	p->at += n;
	node->text = p->text + begin;
	node->n_text = p->at - begin;
	node->end = p->at;
	return node;
}

static pctl_law_node *term(struct parser *p);

static int arguments(struct parser *p, pctl_law_node *node)
{
	p->at++; /* the parenthesis */
	do {
		if (node->n_args == 4)
			return pctl_law_fault_at(p->fault, PC5301_LAW_PROSE, p->at, p->at + 1,
						 "an op has at most 4 operands");
		node->args[node->n_args] = term(p);
		if (node->args[node->n_args++] == NULL)
			return 0;
	} while (next(p) == ',' && p->at++ < p->n);
	if (!take(p, ')', "\",\" or \")\""))
		return 0;
	node->end = p->at;
	return 1;
}

/* u32[5]: p->at is at the bracket. */
static int typed(struct parser *p, pctl_law_node *node)
{
	p->at++;
	node->kind = PCTL_NODE_TYPED;
	node->n_args = 1;
	node->args[0] = literal(p);
	if (node->args[0] == NULL || !take(p, ']', "\"]\""))
		return 0;
	node->end = p->at;
	return 1;
}

/* A word that is neither dtype nor op. */
static int plain_word(struct parser *p, pctl_law_node *node, uint32_t n)
{
	const char *word = p->text + node->at;
	const char *var = n == 1 ? strchr("abcx", *word) : NULL;

	node->end = p->at = node->at + n;
	if (var != NULL && *var != '\0') {
		node->var = *var == 'x' ? 0 : (uint32_t)(*var - 'a');
		if (node->var >= p->tree->n_vars)
			p->tree->n_vars = node->var + 1;
		return 1;
	}
	node->text = word;
	node->n_text = n;
	if (n == 5 && memcmp(word, "width", 5) == 0)
		node->kind = PCTL_NODE_WIDTH;
	else if (n == 3 && (memcmp(word, "NaN", 3) == 0 || memcmp(word, "Inf", 3) == 0))
		node->kind = PCTL_NODE_LITERAL;
	else
		return pctl_law_fault_at(p->fault, PC5301_LAW_PROSE, node->at, node->end,
					 "\"%.*s\" is neither an operand (a, b, c or x) nor an op "
					 "with its operands",
					 n > 40 ? 40 : (int)n, word);
	return 1;
}

static pctl_law_node *word_term(struct parser *p)
{
	pctl_law_node *node = node_make(p, PCTL_NODE_VAR);
	const uint32_t n = word_length(p);
	uint32_t dtype;
	int good;

	if (node == NULL)
		return NULL;
	dtype = pctl_dtype_find(p->text + p->at, n);
	p->at += n;
	if (next(p) == '[' && dtype != PCTL_SCALAR_NONE) {
		node->dtype = dtype;
		good = typed(p, node);
	} else if (next(p) == '(') {
		node->kind = dtype != PCTL_SCALAR_NONE ? PCTL_NODE_CAST : PCTL_NODE_CALL;
		node->dtype = dtype;
		node->text = p->text + node->at;
		node->n_text = n;
		good = arguments(p, node);
		if (good && node->kind == PCTL_NODE_CAST && node->n_args != 1)
			good = pctl_law_fault_at(p->fault, PC5301_LAW_PROSE, node->at, node->end,
						 "one term is read as another type at a time");
	} else {
		good = plain_word(p, node, n);
	}
	return good ? node : NULL;
}

static pctl_law_node *term(struct parser *p)
{
	pctl_law_node *node = NULL;
	const char c = next(p);

	if (p->depth == DEEPEST) {
		pctl_law_fault_at(p->fault, PC5301_LAW_PROSE, p->at, p->at,
				  "terms are nested deeper than %u", DEEPEST);
		return NULL;
	}
	p->depth++;
	if (isdigit((unsigned char)c) || c == '+' || c == '-')
		node = literal(p);
	else if (isalpha((unsigned char)c) || c == '_')
		node = word_term(p);
	else
		expected(p, "a term");
	p->depth--;
	return node;
}

static int relation(struct parser *p, uint32_t *rel)
{
	static const struct {
		const char *text;
		uint32_t rel;
	} all[] = {{"!=", PCTL_REL_NE}, {"<=", PCTL_REL_LE}, {">=", PCTL_REL_GE},
		   {"=", PCTL_REL_EQ},	{"<", PCTL_REL_LT},  {">", PCTL_REL_GT}};

	skip(p);
	for (uint32_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const uint32_t n = (uint32_t)strlen(all[i].text);

		if (p->n - p->at >= n && memcmp(p->text + p->at, all[i].text, n) == 0) {
			p->at += n;
			*rel = all[i].rel;
			return 1;
		}
	}
	return expected(p, "a relation (= != < <= > >=)");
}

static int clause(struct parser *p, pctl_law_clause *out)
{
	skip(p);
	out->at = p->at;
	out->left = term(p);
	if (out->left == NULL || !relation(p, &out->rel))
		return 0;
	out->right = term(p);
	out->end = p->at;
	return out->right != NULL;
}

static int guard(struct parser *p, pctl_law_clause *out)
{
	static const char *const classes[] = {"finite", "number", "normal"};
	uint32_t n;

	skip(p);
	out->at = p->at;
	n = word_length(p);
	for (uint32_t i = 0; i < 3; i++) {
		if (n != 6 || memcmp(p->text + p->at, classes[i], 6) != 0)
			continue;
		p->at += n;
		out->rel = PCTL_REL_FINITE + i;
		out->left = term(p);
		out->end = p->at;
		return out->left != NULL;
	}
	return clause(p, out);
}

/* "f16, bf16 |": a list of dtypes that ends so, or nothing was taken. */
static void scope(struct parser *p)
{
	const uint32_t begin = p->at;

	for (;;) {
		uint32_t dtype, n;

		skip(p);
		n = word_length(p);
		dtype = pctl_dtype_find(p->text + p->at, n);
		if (dtype == PCTL_SCALAR_NONE || p->tree->n_dtypes == 16)
			break;
		p->tree->dtypes[p->tree->n_dtypes++] = dtype;
		p->at += n;
		if (next(p) == '|') {
			p->at++;
			return;
		}
		if (next(p) != ',')
			break;
		p->at++;
	}
	p->at = begin;
	p->tree->n_dtypes = 0;
}

static int guards(struct parser *p)
{
	for (;;) {
		if (p->tree->n_guards == PCTL_LAW_GUARDS)
			return pctl_law_fault_at(p->fault, PC5301_LAW_PROSE, p->at, p->at,
						 "a law has at most %u guards", PCTL_LAW_GUARDS);
		if (!guard(p, &p->tree->guards[p->tree->n_guards++]))
			return 0;
		if (next(p) == ':')
			break;
		if (!take(p, ',', "\",\" or \":\""))
			return 0;
	}
	p->at++;
	return 1;
}

int pctl_law_parse(const char *text, pctl_arena *arena, pctl_law_tree *out, pctl_law_fault *fault)
{
	const size_t n = strnlen(text, PCTL_LAW_TEXT);
	struct parser p = {
		.text = text, .n = (uint32_t)n, .arena = arena, .tree = out, .fault = fault};

	memset(out, 0, sizeof(*out));
	memset(fault, 0, sizeof(*fault));
	if (n == PCTL_LAW_TEXT)
		return pctl_law_fault_at(fault, PC5301_LAW_PROSE, 0, 0,
					 "the text is longer than %u bytes", PCTL_LAW_TEXT - 1);
	scope(&p);
	if (memchr(text + p.at, ':', n - p.at) != NULL && !guards(&p))
		return 0;
	if (!clause(&p, &out->claim))
		return 0;
	return next(&p) == '\0' && p.at == p.n ? 1 : expected(&p, "the end of the law");
}
