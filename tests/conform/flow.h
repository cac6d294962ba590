/* Random structured programs as source trees, and their meaning: an evaluator that runs one
 * invocation at a time by recursion over the tree and counts what it does. Knows nothing of how the
 * tree becomes a program. */
#ifndef PIPECTL_TESTS_CONFORM_FLOW_H
#define PIPECTL_TESTS_CONFORM_FLOW_H

#include <stdint.h>

#define N_VARS 4
#define N_ARR 8
#define MAX_NODES 4000
#define MAX_LETS 400
#define MAX_COUNTERS 6
#define N_FUNCTIONS 4 /* the last is main */
#define STEP_BUDGET 20000u

enum { E_CONST, E_VAR, E_LET, E_ARR, E_GID, E_TRACE, E_BIN, E_SELECT };
enum {
	S_SET,
	S_SET_ARR,
	S_LET,
	S_IF,
	S_SWITCH,
	S_LOOP,
	S_BREAK,
	S_CONTINUE,
	S_RETURN,
	S_CALL,
	S_TRACE,
	S_BLOCK
};
enum { GO_ON, DID_BREAK, DID_CONTINUE, DID_RETURN };

typedef struct expr {
	int kind, op, a, b, c, index;
	uint32_t value;
} expr;

typedef struct stmt {
	int kind, e, e2, cmp, index, body, els, next, n_cases, fn, is_signed;
	int cases[4];
	uint32_t literals[4][2];
} stmt;

typedef struct source {
	uint64_t seed, n_random;
	expr e[MAX_NODES];
	stmt s[MAX_NODES];
	int n_e, n_s, n_lets;
	int body[N_FUNCTIONS];
	int result[N_FUNCTIONS]; /* expression returned at the end */
} source;

/* One tree for each seed. */
void flow_make(source *g, uint64_t seed);

typedef struct machine {
	const source *g;
	uint32_t gid, trace, steps;
	uint64_t units[512];
} machine;

/* The value of function fn for two arguments; m->g is set, the rest of *m is added to. */
uint32_t flow_call(machine *m, int fn, uint32_t a, uint32_t b);

#endif
