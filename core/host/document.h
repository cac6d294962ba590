/* What clients say as JSON, written once: the tool's --json and the library's documents are the same bytes for the same
 * values. A document is one object; its members are written between begin and end. */
#ifndef PIPECTL_HOST_DOCUMENT_H
#define PIPECTL_HOST_DOCUMENT_H

#include "evidence/certify/certificate.h"
#include "foundation/diag/diag.h"
#include "host/load.h"

/* name: of the verb, "plan" or "block.end"; becomes the schema. */
void pctl_document_begin(pctl_json *j, const char *name);
/* Outcome and diagnostics, then the text, released with free(); NULL: no memory. */
char *pctl_document_end(pctl_json *j, pctl_status status, const pctl_diag_list *said);

/* Member "source": where the pipeline stands. */
void pctl_document_place(pctl_json *j, const pctl_repo_place *at);
/* One object: a file and the outcome of its checks; status: of loading and all that was checked besides. */
void pctl_document_checks(pctl_json *j, const char *path, const pctl_loaded_pipeline *p,
			  pctl_status status);
/* Members of a run and of a plan. What the policy keeps for itself (telemetry) is left out. */
void pctl_document_run(pctl_json *j, const char *title, const pctl_run_result *r,
		       const pctl_policy *policy);
/* Symbol number i of a pipeline's inputs, each once, and its value where the input of `r` has a type; 0: there are no more. */
int pctl_document_symbol(const pctl_graph *g, const pctl_run_result *r, uint32_t i,
			 const char **name, uint64_t *value);
void pctl_document_plan(pctl_json *j, const pctl_graph *g, const pctl_run_result *r,
			const pctl_policy *policy);

/* One object: what a line of a shader's text costs; `text` is the line. */
void pctl_document_line(pctl_json *j, uint32_t line, const char *text, const pctl_gas_line *c);

/* Members of a certificate; full: its units too. */
void pctl_document_certificate(pctl_json *j, const pctl_certificate *c, int full);
/* How many programs of the generator a certificate rests on; NULL below level 3. */
const pctl_certificate_unit *pctl_certificate_programs(const pctl_certificate *c);

/* "proven", "refuted", "unproven": what the analysis says of races. */
const char *pctl_race_name(uint32_t race);
/* "passed", "failed", "not run" */
const char *pctl_check_outcome_name(uint32_t outcome);

#endif
