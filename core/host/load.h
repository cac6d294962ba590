/* A pipeline as a client loads it: a file, or a text of a revision (REPO@REV:PATH), read with all it includes, resolved with
 * parameters set; and the one place that says whether the policy lets it run. */
#ifndef PIPECTL_HOST_LOAD_H
#define PIPECTL_HOST_LOAD_H

#include "foundation/git/repo.h"
#include "foundation/git/texts.h"
#include "host/installation.h"
#include "runtime/graph/check.h"

/*
 * revision  NULL: files
 * texts     every text that was read, the pipeline's own first
 * place     filled in by pctl_admit; repository NULL until then
 * admitted  1: pctl_admit said yes
 * graph     NULL where a check failed; checks say which
 */
typedef struct pctl_loaded_pipeline {
	pctl_repo_revision *revision;
	pctl_texts *texts;
	pctl_repo_place place;
	pctl_pipeline *pipeline;
	pctl_graph *graph;
	pctl_check_result checks[PCTL_CHECKS_MAX];
	uint32_t n_checks, admitted;
} pctl_loaded_pipeline;

/* Read and resolve. Also after an error `out` is closed by the caller, who may show its texts beside diagnostics. */
pctl_status pctl_load_pipeline(pctl_installation *in, const char *path, const pctl_setting *sets,
			       uint32_t n_sets, const pctl_call *call, pctl_loaded_pipeline *out);
void pctl_loaded_pipeline_close(pctl_loaded_pipeline *p);

/*
 * Find out where the pipeline stands (place), and refuse what the policy does not let run: uncommitted (PC6010), unsigned
 * (PC6011), or signed by somebody else or over other bytes (PC6012). Whatever runs a pipeline, or makes jobs of it, asks
 * this first.
 */
pctl_status pctl_admit(pctl_installation *in, pctl_loaded_pipeline *p, const pctl_call *call);

/* What a signature of these texts covers: a line a text, its CID and its name as seen from the pipeline. */
pctl_status pctl_texts_statement(const pctl_texts *texts, const pctl_call *call, pctl_str_buf *out);

/* Sign a pipeline with its includes and shaders: FILE.sig beside it. *key: the public key, in the installation's arena;
 * *n: texts covered. */
pctl_status pctl_sign_pipeline(pctl_installation *in, const char *path, const char *to,
			       const pctl_call *call, const char **key, uint32_t *n);

#endif
