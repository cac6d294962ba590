/* What may never change once it was released, compared between a revision and the work tree: gas schedules byte for byte,
 * numbers of codes, of instructions and of the interfaces, and the specs of ops by their lock. New things are welcome. */
#ifndef PIPECTL_FOUNDATION_GIT_IMMUTABLE_H
#define PIPECTL_FOUNDATION_GIT_IMMUTABLE_H

#include "foundation/git/repo.h"

#define PCTL_REPO_LOCK "certs/ops.lock"

/* How many released things were compared, by kind. */
typedef struct pctl_repo_frozen {
	uint32_t schedules, codes, instructions, numbers, ops;
} pctl_repo_frozen;

/*
 * Compare the work tree of the repository at `dir` with what REV holds. Every difference is reported.
 *
 * Errors: PC6020 (something changed or vanished), PC6021 (a lock that is malformed), PC6022 (REV holds nothing of all this),
 * those of pctl_repo_revision_of.
 */
pctl_status pctl_repo_check_immutable(const char *dir, const char *rev, const pctl_call *call,
				      pctl_repo_frozen *out);

#endif
