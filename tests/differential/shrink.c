/* Statements are taken out or replaced by their insides, expressions by a part of the same type, a
 * variable or zero; every try that fails as before is kept. Tries that do not compile are cheap and
 * simply do not fail as before. */
#include "shrink.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct shrinking {
	rig *r;
	node *root;
	rig_verdict *verdict;
	double until;
	uint32_t tried;
};

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int fails_alike(struct shrinking *s)
{
	char *text = node_text(s->root);
	rig_verdict v = {.kind = RIG_HEADER};
	diff_case c;

	s->tried++;
	if (text != NULL && diff_case_read(&c, "shrinking.wgsl", text))
		rig_run(s->r, &c, 3u | 1u << s->verdict->device, &v);
	free(text);
	if (v.kind != s->verdict->kind || v.device != s->verdict->device ||
	    v.code != s->verdict->code)
		return 0;
	*s->verdict = v;
	return 1;
}

static int try_as(struct shrinking *s, node *n, uint32_t as)
{
	uint32_t before = n->as;

	if (n->as == as || seconds_now() > s->until)
		return 0;
	n->as = as;
	if (fails_alike(s))
		return 1;
	n->as = before;
	return 0;
}

static int shrink_expression(struct shrinking *s, node *n)
{
	if (n->as == NODE_ZERO || n->as == NODE_LEAF)
		return 0;
	if (n->zero != NULL && strcmp(n->zero, n->format) != 0 && try_as(s, n, NODE_ZERO))
		return 1;
	if (n->leaf != NULL && strcmp(n->leaf, n->format) != 0 && try_as(s, n, NODE_LEAF))
		return 1;
	for (uint32_t i = 0; n->as == NODE_WHOLE && i < n->n; i++) {
		if (n->child[i]->type == n->type && try_as(s, n, NODE_CHILD + i))
			return 1;
	}
	return 0;
}

static int shrink_node(struct shrinking *s, node *n)
{
	if (n->kind == NODE_EXPR)
		return shrink_expression(s, n);
	if (n == s->root || n->as == NODE_GONE)
		return 0;
	if (try_as(s, n, NODE_GONE))
		return 1;
	return n->kind == NODE_STMT && n->as == NODE_WHOLE && n->n != 0 && try_as(s, n, NODE_CHILD);
}

uint32_t diff_shrink(rig *r, pctl_arena *a, node *root, double seconds, rig_verdict *verdict)
{
	struct shrinking s = {r, root, verdict, seconds_now() + seconds, 0};
	int progress = 1;

	while (progress && seconds_now() < s.until) {
		node_list nodes = {NULL, 0, 0};

		progress = 0;
		node_collect(a, root, &nodes);
		/* statements first: each takes many expressions with it; from the end, so that uses
		 * go before what they use */
		for (uint32_t i = nodes.n; i-- > 0;) {
			if (nodes.items[i]->kind != NODE_EXPR)
				progress |= shrink_node(&s, nodes.items[i]);
		}
		nodes = (node_list){NULL, 0, 0};
		node_collect(a, root, &nodes);
		for (uint32_t i = 0; i < nodes.n; i++) {
			if (nodes.items[i]->kind == NODE_EXPR)
				progress |= shrink_node(&s, nodes.items[i]);
		}
	}
	return s.tried;
}
