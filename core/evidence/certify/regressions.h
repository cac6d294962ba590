/* Kept counterexamples as files of lines (evidence/proof/regression.h): every failing input ever found is tried again in every
 * proof. A proof takes the lines of the files at its start and keeps to them, so that its shards, its resumption and
 * its replay elsewhere have the same units. */
#ifndef PIPECTL_EVIDENCE_CERTIFY_REGRESSIONS_H
#define PIPECTL_EVIDENCE_CERTIFY_REGRESSIONS_H

#include "foundation/base/arena.h"
#include "evidence/proof/regression.h"

/*
 * The lines of those of n files that are there, each once, in order; lines that begin with # and empty ones are passed
 * over. Errors: PC5507 (a line is none; file and number are named), PC0003.
 */
pctl_status pctl_regressions_load(const char *const *paths, uint32_t n, pctl_arena *arena,
				  const pctl_call *call, const char *const **out, uint32_t *n_out);

/*
 * The same, of a proof in `dir`: DIR/regressions.tsv when it is there, else it is made from the files.
 */
pctl_status pctl_regressions_of(const char *dir, const char *const *paths, uint32_t n,
				pctl_arena *arena, const pctl_call *call, const char *const **out,
				uint32_t *n_out);

/* Add a line unless it is there. A counterexample that has no line (it has no inputs) is left out. Safe beside other
 * processes. */
pctl_status pctl_regressions_add(const char *path, const char *subject,
				 const pctl_counterexample *x, const pctl_call *call);

#endif
