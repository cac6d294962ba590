/* The rule by which a level follows from units: the same for who makes a certificate and for who checks it. */
#ifndef PIPECTL_EVIDENCE_CERTIFY_LEVEL_H
#define PIPECTL_EVIDENCE_CERTIFY_LEVEL_H

#include "evidence/certify/certificate.h"

#define PCTL_LEVEL_CAUSE 320u

/*
 * The level that c's units give to `op`, or to all of it (NULL), at most the one asked for; 0: none. cause: why not
 * the one asked for, empty when it is that one.
 *
 * Level l is given when
 * - c->params.cases is at least PCTL_PROOF_WITNESSES,
 * - every unit of level l or lower ran whole, judged at least one case (skipped ones are not judged) and failed none;
 *   for an op those that are of it or of no op,
 * - what makes the level is there: parity and gates; from 2 laws or determinism; from 3 invariants of the
 *   engine and, of floats, parity of an op that is a plan; from 4 a composition and a baseline. An op needs parity of its own, and from 2 a law or determinism of its
 *   own unless all its units are of a higher level (plan ops).
 */
uint32_t pctl_certificate_level(const pctl_certificate *c, const char *op,
				char cause[PCTL_LEVEL_CAUSE]);

/* Why this unit denies every level that needs it: 1 and the cause, or 0. */
int pctl_certificate_unit_fault(const pctl_certificate_unit *u, char cause[PCTL_LEVEL_CAUSE]);

#endif
