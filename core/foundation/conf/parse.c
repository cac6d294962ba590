/* Implementation of parse.h: recursive descent over libconfig's grammar, one token of lookahead. */
#include "foundation/conf/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/map.h"
#include "foundation/base/utf8.h"

typedef struct parser {
	pctl_conf_scanner *s;
	pctl_conf_token t, next;
	uint32_t depth;
} parser;

typedef PCTL_VEC(pctl_conf_value *) children;

static int parse_value(parser *p, pctl_conf_value *v);

static void advance(parser *p)
{
	p->t = p->next;
	if (p->t.kind != TOKEN_END)
		pctl_conf_scan_next(p->s, &p->next);
}

static const char *token_text(const parser *p, char *buf, size_t cap)
{
	size_t n = p->t.n < cap - 3 ? p->t.n : cap - 3;
	const char *line_end;

	if (p->t.kind == TOKEN_END)
		return "the end of the file";
	line_end = memchr(p->t.text, '\n', n);
	if (line_end != NULL)
		n = (size_t)(line_end - p->t.text);
	if (n < p->t.n)
		n = pctl_utf8_cut(p->t.text, n);
	buf[0] = '`';
	memcpy(buf + 1, p->t.text, n);
	buf[n + 1] = '`';
	buf[n + 2] = 0;
	return buf;
}

static void syntax_error(parser *p, const char *wanted)
{
	char buf[48];

	pctl_conf_scan_error(p->s, PC1001_CONF_SYNTAX, &p->t.pos, NULL, NULL, "%s, not %s", wanted,
			     token_text(p, buf, sizeof(buf)));
}

static char closer_of(char open)
{
	return open == '{' ? '}' : open == '[' ? ']' : ')';
}

/* At an opening bracket: move behind its counterpart, whatever lies between. */
static void skip_balanced(parser *p)
{
	uint32_t depth = 0;

	do {
		if (p->t.kind == TOKEN_OPEN)
			depth++;
		else if (p->t.kind == TOKEN_CLOSE)
			depth--;
		advance(p);
	} while (depth > 0 && p->t.kind != TOKEN_END);
}

/* After an error: move to where the next member or element may begin, or to the closing bracket. */
static void recover(parser *p, int in_group)
{
	while (p->t.kind != TOKEN_END && p->t.kind != TOKEN_CLOSE) {
		if (p->t.kind == TOKEN_OPEN) {
			skip_balanced(p);
			continue;
		}
		if (p->t.kind == TOKEN_COMMA || (in_group && p->t.kind == TOKEN_SEMICOLON))
			return;
		if (in_group && p->t.kind == TOKEN_NAME && p->next.kind == TOKEN_EQUALS)
			return;
		advance(p);
	}
}

static pctl_conf_value *new_value(parser *p, pctl_conf_value *parent, children *list)
{
	pctl_conf_value *v = pctl_arena_alloc(p->s->arena, sizeof(*v));

	if (v == NULL || !PCTL_VEC_PUSH(list, v)) {
		pctl_conf_scan_nomem(p->s);
		return NULL;
	}
	v->parent = parent;
	v->index = list->n - 1;
	return v;
}

static void adopt(parser *p, pctl_conf_value *v, children *list)
{
	pctl_conf_value **items = pctl_arena_array(p->s->arena, list->n, sizeof(*items));

	if (items == NULL) {
		pctl_conf_scan_nomem(p->s);
	} else {
		if (list->n > 0)
			memcpy(items, list->items, list->n * sizeof(*items));
		v->items = items;
		v->n_items = list->n;
	}
	free(list->items);
}

static void refuse_duplicate(parser *p, const pctl_conf_value *first, const pctl_conf_token *name)
{
	const pctl_note note = {first->key_pos, "it is given here first"};

	pctl_conf_scan_error(p->s, PC1006_CONF_DUPLICATE, &name->pos, &note, NULL,
			     "key \"%s\" stands twice in one group", first->key);
}

/* One `name = value`; 0 when it was broken and the parser must recover. */
static int parse_member(parser *p, pctl_conf_value *group, children *list, pctl_map *names)
{
	const pctl_conf_token name = p->t;
	pctl_conf_value *v;
	char *key;

	if (name.kind != TOKEN_NAME) {
		syntax_error(p, name.kind == TOKEN_BOOL
					? "a key is expected here (true and false cannot be keys)"
					: "a key is expected here");
		return 0;
	}
	advance(p);
	if (p->t.kind != TOKEN_EQUALS) {
		char wanted[96];

		snprintf(wanted, sizeof(wanted), "`=` or `:` is expected after \"%.*s\"",
			 name.n < 48 ? (int)name.n : 48, name.text);
		syntax_error(p, wanted);
		return 0;
	}
	advance(p);
	key = pctl_arena_dup_n(p->s->arena, name.text, name.n);
	v = key != NULL ? new_value(p, group, list) : NULL;
	if (v == NULL) {
		pctl_conf_scan_nomem(p->s);
		return 0;
	}
	v->key = key;
	v->key_pos = name.pos;
	if (pctl_map_has(names, key))
		refuse_duplicate(p, pctl_map_get(names, key), &name);
	else if (!pctl_map_put(names, key, v))
		pctl_conf_scan_nomem(p->s);
	return parse_value(p, v);
}

/* Members up to a closing bracket or the end. */
static void parse_members(parser *p, pctl_conf_value *group)
{
	children list = {0};
	pctl_map *names = pctl_map_create();

	if (names == NULL)
		pctl_conf_scan_nomem(p->s);
	while (names != NULL && p->s->status != PCTL_E_NOMEM && p->t.kind != TOKEN_END &&
	       p->t.kind != TOKEN_CLOSE) {
		if (list.n >= PCTL_CONF_MEMBERS_MAX) {
			pctl_conf_scan_error(p->s, PC1009_CONF_SIZE, &p->t.pos, NULL, NULL,
					     "a group has more than %u members",
					     PCTL_CONF_MEMBERS_MAX);
			while (p->t.kind != TOKEN_END)
				advance(p);
			break;
		}
		if (!parse_member(p, group, &list, names))
			recover(p, 1);
		if (p->t.kind == TOKEN_SEMICOLON || p->t.kind == TOKEN_COMMA)
			advance(p);
	}
	pctl_map_destroy(names);
	adopt(p, group, &list);
}

static int is_scalar(uint32_t kind)
{
	return kind >= TOKEN_BOOL && kind <= TOKEN_STRING;
}

static void parse_elements(parser *p, pctl_conf_value *v)
{
	children list = {0};
	uint32_t first = TOKEN_END;

	while (p->s->status != PCTL_E_NOMEM && p->t.kind != TOKEN_END && p->t.kind != TOKEN_CLOSE) {
		pctl_conf_value *item;
		const pctl_conf_token t = p->t;

		if (v->kind == PCTL_CONF_ARRAY && !is_scalar(t.kind)) {
			syntax_error(
				p,
				t.kind == TOKEN_OPEN
					? "an array [ ] holds scalars only (a list is written ( ))"
					: "a scalar is expected here");
			recover(p, 0);
		} else {
			item = new_value(p, v, &list);
			if (item == NULL)
				break;
			item->key_pos = t.pos;
			if (!parse_value(p, item))
				recover(p, 0);
			if (first == TOKEN_END)
				first = t.kind;
			else if (v->kind == PCTL_CONF_ARRAY && t.kind != first)
				pctl_conf_scan_error(p->s, PC1001_CONF_SYNTAX, &t.pos, NULL,
						     "write a list ( ) to mix kinds",
						     "an array holds values of one kind; this "
						     "differs from its first");
		}
		if (p->t.kind == TOKEN_COMMA) {
			advance(p);
		} else if (p->t.kind != TOKEN_CLOSE && p->t.kind != TOKEN_END) {
			syntax_error(p, "`,` or the closing bracket is expected here");
			recover(p, 0);
			if (p->t.kind == TOKEN_COMMA)
				advance(p);
		}
	}
	adopt(p, v, &list);
}

static int parse_composite(parser *p, pctl_conf_value *v)
{
	const pctl_conf_token open = p->t;
	const char closer = closer_of(*open.text);

	v->kind = closer == '}'	  ? PCTL_CONF_GROUP
		  : closer == ')' ? PCTL_CONF_LIST
				  : PCTL_CONF_ARRAY;
	if (p->depth >= PCTL_CONF_DEPTH_MAX) {
		pctl_conf_scan_error(p->s, PC1008_CONF_DEPTH, &open.pos, NULL, NULL,
				     "more than %u levels of nesting", PCTL_CONF_DEPTH_MAX);
		skip_balanced(p);
		return 1;
	}
	p->depth++;
	advance(p);
	if (v->kind == PCTL_CONF_GROUP)
		parse_members(p, v);
	else
		parse_elements(p, v);
	p->depth--;
	if (p->t.kind != TOKEN_CLOSE || *p->t.text != closer) {
		char wanted[64];
		char buf[48];
		const pctl_note note = {open.pos, "the bracket is opened here"};

		snprintf(wanted, sizeof(wanted), "`%c` is expected here", closer);
		pctl_conf_scan_error(p->s, PC1001_CONF_SYNTAX, &p->t.pos, &note, NULL, "%s, not %s",
				     wanted, token_text(p, buf, sizeof(buf)));
		if (p->t.kind != TOKEN_CLOSE)
			return 1;
	}
	advance(p);
	return 1;
}

/* Adjacent strings are one value. */
static void parse_strings(parser *p, pctl_conf_value *v)
{
	v->kind = PCTL_CONF_STRING;
	do {
		if (p->t.pos.line == v->pos.line && p->t.pos.file == v->pos.file)
			v->pos.end_column = p->t.pos.end_column;
		advance(p);
	} while (p->t.kind == TOKEN_STRING);
}

static int parse_value(parser *p, pctl_conf_value *v)
{
	const pctl_conf_token t = p->t;

	v->pos = t.pos;
	switch (t.kind) {
	case TOKEN_OPEN:
		return parse_composite(p, v);
	case TOKEN_STRING:
		parse_strings(p, v);
		return 1;
	case TOKEN_BOOL:
		v->kind = PCTL_CONF_BOOL;
		break;
	case TOKEN_INT:
	case TOKEN_INT64:
		v->kind = PCTL_CONF_INT;
		break;
	case TOKEN_FLOAT:
		v->kind = PCTL_CONF_FLOAT;
		break;
	default:
		syntax_error(p, "a value is expected here");
		return 0;
	}
	v->text = pctl_arena_dup_n(p->s->arena, t.text, t.n);
	if (v->text == NULL)
		pctl_conf_scan_nomem(p->s);
	advance(p);
	if ((p->t.kind == TOKEN_NAME || is_scalar(p->t.kind)) && p->t.pos.file == t.pos.file &&
	    p->t.pos.line == t.pos.line && p->t.pos.column == t.pos.end_column) {
		syntax_error(p, "a value must end before the next one begins");
		return 0;
	}
	return 1;
}

pctl_conf_value *pctl_conf_parse(pctl_conf_scanner *s)
{
	parser p = {.s = s};
	pctl_conf_value *root = pctl_arena_alloc(s->arena, sizeof(*root));

	if (root == NULL) {
		pctl_conf_scan_nomem(s);
		return NULL;
	}
	root->kind = PCTL_CONF_GROUP;
	root->pos = (pctl_pos){.file = s->sources->items[0].name, .line = 1, .column = 1};
	root->key_pos = root->pos;
	pctl_conf_scan_next(s, &p.t);
	pctl_conf_scan_next(s, &p.next);
	parse_members(&p, root);
	while (p.t.kind != TOKEN_END) {
		pctl_conf_value stray = {.kind = PCTL_CONF_GROUP};

		if (p.t.kind == TOKEN_CLOSE) {
			syntax_error(&p, "a key is expected here (this bracket closes nothing)");
			advance(&p);
			if (p.t.kind == TOKEN_SEMICOLON || p.t.kind == TOKEN_COMMA)
				advance(&p);
		}
		if (s->status == PCTL_E_NOMEM)
			return NULL;
		parse_members(&p, &stray);
	}
	return root;
}
