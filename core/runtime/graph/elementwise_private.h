/* The text of an elementwise kernel while it is written, shared by elementwise.c, elementwise_text.c and elementwise_value.c. */
#ifndef PIPECTL_RUNTIME_GRAPH_ELEMENTWISE_PRIVATE_H
#define PIPECTL_RUNTIME_GRAPH_ELEMENTWISE_PRIVATE_H

#include "foundation/base/str.h"
#include "foundation/base/vec.h"
#include "runtime/graph/elementwise.h"

#define ROW (PCTL_ELEMENTWISE_INVOCATIONS * PCTL_ELEMENTWISE_GROUPS)

/* How the indices of an invocation's elements lie: one after the other from a multiple of four, all the same, or anyhow. Of
 * kernels of one element an invocation all are SAME. */
enum { LIE_SAME, LIE_ROW, LIE_ANY };

/* An index: element i of the output, or found by a map in another one. */
struct pctl_element_chain {
	uint32_t from, lie;
	const pctl_index_map *map; /* NULL: the output's */
};

/* A node under an index. */
struct pctl_element_value {
	uint32_t node, chain, wide; /* wide: one variable an element */
	uint32_t binding;	    /* INPUT */
};

/* in_step: element i of the piece is element i of it. parts: it is read through that many bindings, this one and those behind it,
 * which are no input's first (0), `each` elements in all but the last. */
struct pctl_element_binding {
	uint32_t buffer, vector, dtype, in_step, parts;
	uint64_t start, offset, n_bytes, each;
};

/* Elements `from` on of the output, of which there are `count`; whole: they are all. */
struct pctl_element_piece {
	uint64_t from, count;
	int whole;
};

#define PCTL_THROUGH_GROUP 3u /* oplib.h promises it */

#define STEP 256u /* a piece begins at a multiple of as many elements, and of as many bytes */

struct pctl_element_writing {
	const pctl_elementwise *e;
	struct pctl_element_piece piece;
	pctl_str_buf body;
	uint32_t lanes;
	PCTL_VEC(struct pctl_element_chain) chains;
	PCTL_VEC(struct pctl_element_value) values;
	PCTL_VEC(struct pctl_element_binding) bindings;
	PCTL_VEC(uint32_t) words; /* of the uniform block */
	int failed, too_wide, too_large;
	const char *prefix; /* of the names of its variables and readers; NULL: none */
};

/* ---- elementwise_value.c: what is written goes behind w->body; lack of memory is noted in w->failed ---- */

/* The value of a node under an index, written when it is first asked for: its number. */
uint32_t pctl_element_write_value(struct pctl_element_writing *w, uint32_t node, uint32_t chain);
/* How one element of a value is read. */
void pctl_element_write_lane(struct pctl_element_writing *w, uint32_t value, uint32_t lane);
/* The most elements of so many bits that have no more than `most` bytes and end where a piece may; what n of them have, whole words. */
uint64_t pctl_element_piece_of(uint64_t most, uint32_t bits);
uint64_t pctl_element_piece_bytes(uint64_t n, uint32_t bits);
/* An element, or a vector of four, of an input by an index in words. */
void pctl_element_write_read(struct pctl_element_writing *w, uint32_t binding, const char *index);
/* Of a function that a kernel of a library calls: elements of this type are only moved there, as bits of a word; no kernel has values of it. */
int pctl_element_is_part(const struct pctl_element_writing *w, uint32_t dtype);
/* A number of the uniform block. */
void pctl_element_write_word(struct pctl_element_writing *w, uint64_t value);
/* The bindings of an input for this piece: the first one's number. */
uint32_t pctl_element_bind(struct pctl_element_writing *w, const pctl_element_node *n,
			   uint32_t vector, uint32_t in_step);
/* The index that the map makes of the index `from`: its number. */
uint32_t pctl_element_chain_of(struct pctl_element_writing *w, uint32_t from,
			       const pctl_index_map *m);

/* ---- elementwise_text.c ---- */

/* The text of the kernel for a piece, released with free(); NULL: no memory. *w is ended by the caller in any case. */
char *pctl_element_text(struct pctl_element_writing *w, const pctl_elementwise *e, uint32_t lanes,
			const struct pctl_element_piece *piece);
void pctl_element_end(struct pctl_element_writing *w);
/*
 * A function that a kernel of a library calls (jobplan_through.c): the bits of element i + `from` of node `last` of e, GIVEN being `bits`. The text with the variables that it
 * reads, in w->bindings, bound from `first_binding` on, then w->words where there are any; without the functions of ops. NULL and *w as above; `function`, which lives as
 * long as *w, begins the variables' names.
 */
char *pctl_element_function(struct pctl_element_writing *w, const pctl_elementwise *e,
			    uint32_t last, const char *function, uint32_t first_binding,
			    uint64_t from);
/* The functions of ops, each once, without `enable f16;`. 1: one of them needs that. */
int pctl_element_functions(const pctl_elementwise *e, pctl_str_buf *s);
int pctl_element_has_function(const pctl_elementwise *e);
/* Four elements an invocation may be made for n of them. */
int pctl_element_can_be_wide(const pctl_elementwise *e, uint64_t n);

#endif
