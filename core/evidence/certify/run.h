/* Running a proof: blocks of one shard in order, each result in the journal before the next block begins, in memory that
 * does not grow with the number of cases; and putting journals together to a certificate. */
#ifndef PIPECTL_EVIDENCE_CERTIFY_RUN_H
#define PIPECTL_EVIDENCE_CERTIFY_RUN_H

#include "evidence/certify/certificate.h"
#include "evidence/certify/journal.h"

/*
 * bench        sessions open, seed, cases and regressions set; its device may be replaced by reopen
 * reopen       close all sessions of the bench and open them again, after the device was lost; NULL: it stays lost
 * dir          where journals and units.tsv lie; made when it is not there
 * regressions  file that failing inputs are added to, or NULL
 * progress     told before each block, and after the last
 */
typedef struct pctl_certify_options {
	pctl_proof_context *context;
	pctl_status (*reopen)(pctl_proof_context *b, const pctl_call *call);
	const pctl_provider *providers;
	uint32_t n_providers, resume;
	pctl_proof_params params;
	const char *dir;
	pctl_shard shard;
	const char *regressions;
	pctl_progress_sink progress;
} pctl_certify_options;

/* How often a lost device is opened again in one run. */
#define PCTL_CERTIFY_REOPENS 8u

/* blocks: of the shard; before: already in the journal; failed, not_run: blocks of this run; cause: of the first of
 * them. */
typedef struct pctl_certify_outcome {
	uint64_t blocks, before, ran, failed, not_run, reopened;
	char cause[512];
} pctl_certify_outcome;

/*
 * Run what the shard's journal lacks. A failing block is an answer, not an error, and so is a block that could not be
 * run: both stand in the journal, and in *out.
 *
 * Errors: those of pctl_proof_plan and of journals, PC5515 (the directory is of another proof), PC0004: what ran so
 * far is in the journal.
 */
pctl_status pctl_certify_run(const pctl_certify_options *o, const pctl_call *call,
			     pctl_certify_outcome *out);

/*
 * All journals of a directory, put together. *out is complete but for date and signature.
 *
 * Errors: PC5514 (a shard is missing or not at its end; which, and how far it is), PC5512 (journals of two proofs),
 * PC5513 (damaged), PC5504, PC5515.
 */
pctl_status pctl_certify_collect(const char *dir, const pctl_call *call, pctl_certificate **out);

#endif
