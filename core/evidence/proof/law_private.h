/* Inside of laws: the text of named ones, syntax trees, and what typing makes of them. */
#ifndef PIPECTL_EVIDENCE_PROOF_LAW_PRIVATE_H
#define PIPECTL_EVIDENCE_PROOF_LAW_PRIVATE_H

#include "evidence/proof/law.h"

#define PCTL_LAW_TEXT 1024u /* longest text, with its NUL */
#define PCTL_LAW_GUARDS 8u

enum {
	PCTL_NODE_VAR = 1,
	PCTL_NODE_LITERAL, /* text */
	PCTL_NODE_WIDTH,
	PCTL_NODE_TYPED, /* dtype of args[0], a literal */
	PCTL_NODE_CAST,	 /* dtype of args[0]'s bits */
	PCTL_NODE_CALL	 /* text names the op */
};

/* A term as written; at and end are offsets in the law's text, text points into it. */
typedef struct pctl_law_node {
	uint32_t kind, var, dtype, n_args;
	uint32_t at, end;
	const char *text;
	uint32_t n_text, reserved;
	struct pctl_law_node *args[4];
} pctl_law_node;

typedef struct pctl_law_clause {
	uint32_t rel, reserved;
	pctl_law_node *left, *right; /* right NULL: finite, number, normal */
	uint32_t at, end;
} pctl_law_clause;

/* A law as written. Without dtypes it speaks of all. */
typedef struct pctl_law_tree {
	uint32_t dtypes[16];
	uint32_t n_dtypes, n_guards, n_vars, reserved;
	pctl_law_clause guards[PCTL_LAW_GUARDS];
	pctl_law_clause claim;
} pctl_law_tree;

/* What is wrong, and where in the text. code 0: nothing. */
typedef struct pctl_law_fault {
	uint32_t code, at, end, reserved;
	char message[240];
} pctl_law_fault;

/* Say what is wrong, unless something was wrong before. Returns 0. */
int pctl_law_fault_at(pctl_law_fault *f, uint32_t code, uint32_t at, uint32_t end, const char *fmt,
		      ...) PCTL_PRINTF(5, 6);

/* 1 and *out, or 0 and *fault. Any bytes are a text. */
int pctl_law_parse(const char *text, pctl_arena *arena, pctl_law_tree *out, pctl_law_fault *fault);

/* The equation that a tree is of function f. 1, or 0 and *fault. */
int pctl_law_type(const pctl_law_tree *tree, const pctl_op_source *ops, const pctl_op_function *f,
		  pctl_arena *arena, pctl_law_equation *out, pctl_law_fault *fault);

/* The bits of a literal (of `width`: text "width") as a dtype; 0 when it is none or does not fit. */
int pctl_law_literal(const char *text, size_t n, uint32_t dtype, uint64_t bits[2]);

/* A named law as texts of the grammar. Returns how many (at most 2), 0 and *why when the law does not fit f. */
typedef struct pctl_law_said {
	char name[96];
	char text[PCTL_LAW_TEXT];
} pctl_law_said;
uint32_t pctl_law_say(const pctl_law *law, const pctl_op_function *f, pctl_law_said out[2],
		      const char **why);
const char *pctl_law_kind_name(uint32_t law); /* "commutative" */

/* For each of n tuples 1 where the guards hold and the claim does not. */
pctl_status pctl_law_lanes(const pctl_law_equation *l, pctl_evaluator *device,
			   pctl_evaluator *reference, const pctl_column *vars, uint64_t n,
			   uint8_t *failed, const pctl_call *call);

/* pctl_law_shrink, and whether the result is minimal (shrink.h). */
pctl_status pctl_law_shrink_to(const pctl_law_equation *l, pctl_evaluator *device,
			       pctl_evaluator *reference, uint8_t (*values)[16],
			       const pctl_call *call, uint32_t *minimal);

#endif
