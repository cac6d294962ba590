/* The engine suite: what must hold of a device as a whole rather than of an op (level 3), proved on generated programs
 * and on programs written to break it. */
#ifndef PIPECTL_EVIDENCE_SUITE_SUITE_H
#define PIPECTL_EVIDENCE_SUITE_SUITE_H

#include "evidence/proof/proof.h"

/* Version of what the units demand: raised when a device that passed might no longer. */
#define PCTL_SUITE_VERSION "suite-5"

/* Names of the units of generated programs, and of those with barriers in functions and under conditions. */
#define PCTL_SUITE_GENERATED "generated-programs"
#define PCTL_SUITE_GENERATED_BARRIERS "generated-barriers"
#define PCTL_SUITE_GENERATED_EXITS "generated-exits"

/* Add the units of the eight engine invariants (deterministic, nothing lost, nothing twice, ordered, bounded,
 * terminating, atomics linearizable, workgroup invariant), of the four barrier properties, of invocations that part behind a
 * barrier, of layout identity and wire equivalence, of race detection, of operations beside others, of values moved as wholes,
 * of operands and amounts of shifts that a compiler knows, of programs as large as the device takes them, and `generated`
 * programs (of track FLOAT: with floats; of track INTEGER a fourth as many with barriers besides). All are of level 3 of
 * `track`, INTEGER or FLOAT. */
pctl_status pctl_suite_units(pctl_proof_context *b, uint32_t track, uint64_t generated,
			     const pctl_call *call, pctl_units *list);

#endif
