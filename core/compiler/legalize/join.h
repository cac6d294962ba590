/* Several dispatches as one: a program whose workgroups do what those of others do, each in its
 * place. What a part computes is as it was; that none looks at what another changes meanwhile is for
 * whoever joins them to know, or to ask the analysis of the result. */
#ifndef PIPECTL_COMPILER_LEGALIZE_JOIN_H
#define PIPECTL_COMPILER_LEGALIZE_JOIN_H

#include "pipectl/program.h"

/*
 * BESIDE  horizontal fusion: the workgroups of all parts side by side, each does one of one part
 * BEHIND  vertical fusion: each does one of every part, one part after the other, with a barrier
 *         between; parts have one number of workgroups then, or there is one workgroup in all, which
 *         does those of each part in turn
 * AHEAD   producers made again by each consumer: each workgroup of the last part does the only one of
 *         every part before it first, for itself. What these give lies in workgroup memory, and is
 *         made as often as there are workgroups
 */
enum { PCTL_JOIN_BESIDE = 1, PCTL_JOIN_BEHIND, PCTL_JOIN_AHEAD };

#define PCTL_JOIN_PARTS 8u

/*
 * program  specialised, with one entry point whose workgroup has one dimension
 * groups   its workgroups, of one dimension
 * slots    by number of its uniform and storage variables: the binding, in group 0, that stands for
 *          it. Variables of one binding are one: of one type, or arrays of 32-bit words whose numbers
 *          are of several kinds
 * own      by the same number: bytes of workgroup memory that are there in place of what is bound,
 *          under the slot's number; 0: it is bound. NULL: all are
 */
typedef struct pctl_join_part {
	const pctl_program *program;
	const uint32_t *slots;
	const uint64_t *own;
	uint32_t groups, reserved;
} pctl_join_part;

/* Workgroups of the whole; 0: more than can be counted, or parts that cannot be joined so. */
uint32_t pctl_legal_join_groups(const pctl_join_part *parts, uint32_t n, uint32_t how);

/*
 * Verified; the caller destroys it. Its workgroup is as large as the largest of the parts. Proofs
 * (PCTL_INST_PROVEN) are kept, positions are not.
 *
 * Errors: PCTL_E_UNSUPPORTED without a word, for parts that cannot be joined: a part with barriers
 * that is smaller than the others, or of which a workgroup would do several, variables of one binding
 * and other types, a flag of turns; PCTL_E_NOMEM.
 */
pctl_status pctl_legal_join(const pctl_join_part *parts, uint32_t n, uint32_t how,
			    const pctl_call *call, pctl_program **out);

#endif
