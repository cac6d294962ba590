/* A text as its items with their comments: what the canonical layout is made from (format.h). The text was accepted by the parser
 * before, so the reading here trusts brackets and quotes. Internal to conf. */
#ifndef PIPECTL_FOUNDATION_CONF_LAYOUT_H
#define PIPECTL_FOUNDATION_CONF_LAYOUT_H

#include "foundation/base/arena.h"
#include "foundation/base/str.h"
#include "foundation/base/vec.h"
#include "pipectl/host.h"

/* A run of bytes of the text. blank: a line was empty before it. */
typedef struct pctl_conf_piece {
	const char *text;
	size_t n;
	int blank;
} pctl_conf_piece;

typedef PCTL_VEC(pctl_conf_piece) pctl_conf_pieces;

typedef struct pctl_conf_item pctl_conf_item;
typedef PCTL_VEC(pctl_conf_item *) pctl_conf_items;

/* One setting, element or include of a composite. before: comments on lines of their own above it; behind: on its last line.
 * spread: there is a line break between its brackets. */
struct pctl_conf_item {
	pctl_conf_pieces before, behind;
	pctl_conf_pieces opening; /* comments on the line of the opening bracket */
	pctl_conf_pieces closing; /* comments between the last item and the closing bracket */
	pctl_conf_piece key;	  /* n 0: none */
	pctl_conf_pieces
		words; /* the scalar, of several strings that stand side by side; an include */
	pctl_conf_items inner;
	char open; /* '{', '[', '(' or 0 */
	int spread, blank_before, is_include;
};

/* The text, and what was read of it. */
typedef struct pctl_conf_layout {
	const char *name; /* in positions */
	const char *text;
	size_t n, at;
	pctl_arena *arena;
	pctl_conf_items all;   /* every item, to be released */
	pctl_conf_items items; /* those of the text itself */
	pctl_conf_pieces end;  /* comments behind the last of them */
	const pctl_call *call;
	pctl_status status;
} pctl_conf_layout;

/* The bracket that closes an open one. */
char pctl_conf_closing(char open);

/*
 * Read n bytes. The text outlives the layout, which is dropped in either case. Errors: PC1026 for an @include inside a setting,
 * PCTL_E_NOMEM.
 */
pctl_status pctl_conf_layout_read(const char *name, const char *text, size_t n,
				  const pctl_call *call, pctl_conf_layout *out);
void pctl_conf_layout_drop(pctl_conf_layout *l);

/* Write it in canonical layout. */
void pctl_conf_layout_write(const pctl_conf_layout *l, pctl_str_buf *out);

#endif
