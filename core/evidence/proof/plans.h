/* Inside of plans*.c: problems for plan ops, solvers that answer them (a device, the op's reference(), a violator), what
 * two answers differ in, laws that the op's library checks, and making a failing problem small. */
#ifndef PIPECTL_EVIDENCE_PROOF_PLANS_H
#define PIPECTL_EVIDENCE_PROOF_PLANS_H

#include "evidence/proof/providers.h"
#include "evidence/proof/random.h"

/*
 * One use of an op with all of its data.
 *
 * data   one block of `bytes` (at least 16, zero behind the data) an input port, malloc'ed
 * size   what a dimension found in the data must be, when whoever made the problem knows; else UINT64_MAX
 * rigid  its inputs hang together, so that nothing can be left out or changed
 */
typedef struct pctl_problem {
	pctl_op_ref op;
	pctl_tensor_type in[PCTL_PORTS_MAX];
	uint8_t *data[PCTL_PORTS_MAX];
	uint64_t bytes[PCTL_PORTS_MAX];
	char text[PCTL_ATTRS_MAX][32];
	uint32_t n_in, n_attr;
	uint64_t size;
	uint32_t rigid;
	uint32_t reserved;
} pctl_problem;

void pctl_problem_clear(pctl_problem *p);
/* A deep copy, to be cleared. */
pctl_status pctl_problem_copy(const pctl_problem *p, const pctl_call *call, pctl_problem *out);
/* Port `port` gets type t and room for its data, zero. */
pctl_status pctl_problem_port(pctl_problem *p, uint32_t port, const pctl_tensor_type *t,
			      const pctl_call *call);
/* Attribute i (of the description) as text. */
void pctl_problem_set(pctl_problem *p, uint32_t i, const char *text);
/* The attribute's text by name; "" when there is none such. */
const char *pctl_problem_attr(const pctl_problem *p, const char *name);
/* The question, over attributes that are put into attr. */
pctl_op_query pctl_problem_query(const pctl_problem *p, pctl_attr attr[PCTL_ATTRS_MAX],
				 const pctl_attr *measured, uint32_t n_measured);
/* 1 when the op's infer takes the problem (or asks for a measure). */
int pctl_problem_valid(const pctl_problem *p);
/* "x=u32[3] 00000001 00000002 00000003 exclusive=true", cut off where it does not fit. */
void pctl_problem_describe(const pctl_problem *p, char *out, size_t n);
/* Elements of input 0. */
uint64_t pctl_problem_elements(const pctl_problem *p);
/* A problem of op `name`@version of the same source, to be given ports and attributes (defaults filled in). */
pctl_status pctl_problem_other(const pctl_op_source *ops, const char *name, uint32_t version,
			       const pctl_call *call, pctl_problem *out);

/* What came of it. refused: the op found its data invalid. */
typedef struct pctl_answer {
	pctl_tensor_type out[PCTL_PORTS_MAX];
	uint8_t *data[PCTL_PORTS_MAX];
	uint64_t bytes[PCTL_PORTS_MAX];
	uint32_t n_out, refused;
	char touched[128]; /* what was changed that no kernel may write, or "" */
} pctl_answer;

void pctl_answer_clear(pctl_answer *a);

typedef struct pctl_solver {
	void *ctx;
	pctl_status (*solve)(void *ctx, const pctl_problem *p, const pctl_call *call,
			     pctl_answer *out);
} pctl_solver;

/* By the op's plan on a session; by reference(). They are small and live in the caller's frame. */
typedef struct pctl_session_solver {
	pctl_solver solver;
	pctl_proof_context *context;
	const pctl_op_source *ops;
	pctl_kernels *kernels;
	pctl_session *session;
	pctl_job_stats *stats; /* of the run that answers, when asked for */
	uint32_t in_parts, reserved;
} pctl_session_solver;
void pctl_solver_session(pctl_session_solver *s, pctl_proof_context *b, pctl_session *session);
/* The same as on a device whose bindings hold a third of the largest port, so that what infer says can be cut is (SEMANTICS.md 17.3). An
 * answer without outputs: nothing was. */
void pctl_solver_parts(pctl_session_solver *s, pctl_proof_context *b, pctl_session *session);
/* With s: sizes that depend on data and that the problem does not know are measured there. */
void pctl_solver_reference(pctl_session_solver *s, pctl_proof_context *b);

/* ---- problems ------------------------------------------------------------------------------ */

#define PCTL_PROBLEM_VALUES 8u

/* The problems of an op for one dtype of its first port, numbered. */
typedef struct pctl_problems {
	pctl_op_ref op;
	const pctl_op_problems
		*own; /* of the op's library; NULL: made from the patterns of its ports */
	const char *values[PCTL_ATTRS_MAX][PCTL_PROBLEM_VALUES];
	uint32_t n_values[PCTL_ATTRS_MAX];
	uint32_t dtype, n_sizes;
	uint64_t sizes[96];
	uint64_t seed, n;
	uint32_t *numbers; /* problem i is number numbers[i] of its maker */
} pctl_problems;

/* A unit about l: its op and subject are set, and it is added. */
pctl_status pctl_plan_unit_add(const pctl_problems *l, pctl_unit *u, const pctl_call *call,
			       pctl_units *list);

/* How many numbers there are, and problem `number`: PCTL_OK with *made 0 for one that means nothing. Of any op, from the
 * patterns of its ports; and as its library makes them (NULL: it makes none). */
uint64_t pctl_problems_any_count(const pctl_problems *l);
pctl_status pctl_problems_any_make(const pctl_problems *l, uint64_t number, const pctl_call *call,
				   pctl_problem *out, int *made);
const pctl_op_problems *pctl_problems_own(const pctl_op_ref *op);
pctl_status pctl_problems_own_make(const pctl_problems *l, uint64_t number, const pctl_call *call,
				   pctl_problem *out, int *made);

/* The problems of op on dtype that its infer takes; n is 0 when there are none. */
pctl_status pctl_problems_of(pctl_proof_context *b, const pctl_op_ref *op, uint32_t dtype,
			     pctl_arena *arena, const pctl_call *call, pctl_problems *out);
pctl_status pctl_problems_make(const pctl_problems *l, uint64_t i, const pctl_call *call,
			       pctl_problem *out);

/* The next of a sequence that depends on seed and counter alone. */
static inline uint64_t pctl_problem_random(uint64_t seed, uint64_t counter)
{
	return pctl_proof_mix(seed, 5, counter);
}
/* Element i of n of a pattern of values. */
#define PCTL_PROBLEM_PATTERNS 11u
void pctl_problem_value(uint32_t pattern, uint32_t dtype, uint64_t seed, uint64_t i, uint64_t n,
			uint8_t *at);

/* Throughput of a plan op of floats on each type that it has problems of (plans_time.c). */
pctl_status pctl_plan_baselines(pctl_proof_context *b, const pctl_op_ref *op, const pctl_call *call,
				pctl_units *list);

/* ---- judging ------------------------------------------------------------------------------- */

/* What was found of one problem. */
typedef struct pctl_verdict {
	uint32_t failed, skipped;
	char got[128], want[128], text[256];
} pctl_verdict;

/* What is checked of a problem. device answers first and its bytes go to hash (may be NULL). parts (may be NULL) answers in parts what parity
 * has found right. */
typedef struct pctl_plan_judge {
	const pctl_op_source *ops;
	pctl_solver *device, *reference;
	const struct pctl_plan_law *law; /* NULL: parity */
	pctl_solver *parts;
} pctl_plan_judge;

pctl_status pctl_plan_judge_problem(const pctl_plan_judge *j, const pctl_problem *p,
				    pctl_hasher *hash, const pctl_call *call, pctl_verdict *out);
/* Make p, which fails, as small as it gets: elements dropped, values made zero or one. *minimal: 1 when nothing more
 * could be left out. */
pctl_status pctl_judge_shrink(const pctl_plan_judge *j, pctl_problem *p, const pctl_call *call,
			      uint32_t *minimal);

/*
 * A law of a plan op that its library checks (pctl_oplib.law) on one problem and what the device answered. The check may
 * ask the device for more and shares nothing with reference().
 *
 * index     in the op's rules
 * measured  1: device bits may differ from device to device, so the unit has no digest
 * composed  1: it is of a composition, every use of which is held against its op's reference() too
 */
typedef struct pctl_plan_law {
	const char *text, *name;
	uint32_t index, measured, composed, reserved;
} pctl_plan_law;

/* Law `index` of the op's rules, or the one of that text. 0: prose. */
int pctl_plan_law_of(const pctl_op_ref *op, uint32_t index, pctl_plan_law *out);
int pctl_plan_law_find(const pctl_op_ref *op, const char *text, pctl_plan_law *out);
/* The law of j on p, which the device answered with a. Skipped: it does not speak of p. Errors: PC5353, of asking. */
pctl_status pctl_plan_law_check(const pctl_plan_judge *j, const pctl_problem *p,
				const pctl_answer *a, const pctl_call *call, pctl_verdict *out);

/* 1 when the bytes are not the same: their first differing element, as a failed verdict. */
int pctl_bytes_differ(const char *name, uint32_t dtype, const pctl_span *got, const pctl_span *want,
		      pctl_verdict *out);
/* Both answers' first difference, as a failed verdict; 0 when there is none. */
int pctl_answer_differs(const pctl_problem *p, const pctl_answer *got, const pctl_answer *want,
			pctl_verdict *out);

#endif
