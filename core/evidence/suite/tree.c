/* Making, printing and listing trees of text. */
#include "evidence/suite/tree.h"

#include <string.h>

#include "foundation/base/str.h"

node *node_make(pctl_arena *a, uint32_t kind, const char *format, node *const *child, uint32_t n)
{
	node *t = pctl_arena_alloc(a, sizeof(*t));

	t->kind = kind;
	t->format = pctl_arena_dup(a, format);
	t->n = t->cap = n;
	t->child = pctl_arena_array(a, n + 1u, sizeof(*t->child));
	for (uint32_t i = 0; i < n; i++)
		t->child[i] = child[i];
	return t;
}

static void grow(pctl_arena *a, node ***items, uint32_t n, uint32_t *cap)
{
	node **grown;

	if (n < *cap)
		return;
	*cap = *cap * 2 + 8;
	grown = pctl_arena_array(a, *cap, sizeof(*grown));
	if (n != 0)
		memcpy(grown, *items, n * sizeof(*grown));
	*items = grown;
}

void node_add(pctl_arena *a, node *list, node *child)
{
	grow(a, &list->child, list->n, &list->cap);
	list->child[list->n++] = child;
}

/* The parts of a statement that is printed as its own insides: every list or statement under it. */
static void print(const node *t, pctl_str_buf *out);

static void print_inside(const node *t, pctl_str_buf *out)
{
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->child[i]->kind != NODE_EXPR)
			print(t->child[i], out);
	}
}

static void print_format(const node *t, pctl_str_buf *out)
{
	uint32_t next = 0;

	for (const char *at = t->format; *at != '\0';) {
		size_t n = strcspn(at, "$");

		pctl_str_add_n(out, at, n);
		at += n;
		if (*at == '$') {
			print(t->child[next++], out);
			at++;
		}
	}
}

static void print(const node *t, pctl_str_buf *out)
{
	switch (t->as) {
	case NODE_WHOLE:
		if (t->format != NULL)
			print_format(t, out);
		else
			print_inside(t, out);
		break;
	case NODE_GONE:
		break;
	case NODE_ZERO:
		pctl_str_add(out, t->zero);
		break;
	case NODE_LEAF:
		pctl_str_add(out, t->leaf);
		break;
	default:
		if (t->kind == NODE_EXPR)
			print(t->child[t->as - NODE_CHILD], out);
		else
			print_inside(t, out);
		break;
	}
}

char *node_text(const node *root)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;

	print(root, &text);
	return pctl_str_finish(&text);
}

void node_collect(pctl_arena *a, node *root, node_list *out)
{
	if (root->as == NODE_GONE)
		return;
	grow(a, &out->items, out->n, &out->cap);
	out->items[out->n++] = root;
	if (root->as == NODE_ZERO || root->as == NODE_LEAF)
		return;
	for (uint32_t i = 0; i < root->n; i++) {
		int shown = root->as == NODE_WHOLE ||
			    (root->kind == NODE_EXPR ? root->as == NODE_CHILD + i
						     : root->child[i]->kind != NODE_EXPR);

		if (shown)
			node_collect(a, root->child[i], out);
	}
}
