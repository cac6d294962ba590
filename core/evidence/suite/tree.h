/* The text of a generated program as a tree: every node is a piece of text with holes for other
 * nodes, and can be taken out or replaced by something smaller of its own type. It knows nothing of
 * WGSL but what its maker wrote into it. */
#ifndef PIPECTL_EVIDENCE_SUITE_TREE_H
#define PIPECTL_EVIDENCE_SUITE_TREE_H

#include <stdint.h>

#include "foundation/base/arena.h"

enum { NODE_EXPR, NODE_STMT, NODE_LIST }; /* a list is printed whole, its parts are statements */

enum { NODE_WHOLE = 0, NODE_GONE = 1, NODE_ZERO = 2, NODE_LEAF = 3, NODE_CHILD = 4 /* + number */ };

typedef struct node {
	uint32_t kind;
	uint32_t as;	   /* NODE_WHOLE .. : how it is printed now */
	uint32_t constant; /* a const-expression (or an override-expression) in WGSL's sense */
	uint32_t n, cap;
	const char *format;	 /* '$' stands for the next child; NULL for a list */
	const void *type;	 /* of an expression; equal pointers are equal types */
	const char *zero, *leaf; /* texts of an expression of this type, or NULL */
	struct node **child;
} node;

/* A node of n children; NULL: no memory. */
node *node_make(pctl_arena *a, uint32_t kind, const char *format, node *const *child, uint32_t n);
void node_add(pctl_arena *a, node *list, node *child);

/* The text, released with free(). */
char *node_text(const node *root);

/* All nodes that are printed, root first. */
typedef struct node_list {
	node **items;
	uint32_t n, cap;
} node_list;
void node_collect(pctl_arena *a, node *root, node_list *out);

#endif
