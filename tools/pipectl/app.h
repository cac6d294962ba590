/* One run of the program: the command line, diagnostics, and the parts of the host, each opened
 * when it is first asked for. */
#ifndef PIPECTL_TOOLS_APP_H
#define PIPECTL_TOOLS_APP_H

#include "runtime/cas/memo.h"
#include "foundation/diag/diag.h"
#include "runtime/exec/run.h"
#include "runtime/graph/library.h"
#include "options.h"
#include "runtime/config/hostconf.h"
#include "foundation/git/repo.h"

struct pctl_app {
	pctl_command_line line;
	pctl_diag_list *diagnostics;
	const pctl_call *call;
	uint32_t json, quiet, verbose, colour, progress;
	pctl_json document; /* --json: one object, opened by main */
	FILE *to;	    /* standard output, while what verbs print as text is collected */
	char *printed;
	size_t n_printed;
	pctl_host_config *config;
	pctl_registry *registry;
	pctl_op_library *library;
	pctl_kernels *kernels;
	pctl_store *store;
	pctl_memo *memo;
	pctl_policy *policy;
	pctl_gas_schedule *schedule;
	pctl_profiles *profiles;
	struct pctl_found *certificates; /* found when a policy first asks for a level */
	const char *schedule_id;	 /* CID of its file */
	pctl_arena *arena;		 /* small things that live as long as the process */
	uint64_t drawn_ns;		 /* when the progress line was drawn last */
	uint32_t is_drawn;
	uint32_t reserved;
};

/* Each opens its part once; the pointer in the app is set on success. */
pctl_status pctl_app_config(pctl_app *app);
pctl_status pctl_app_registry(pctl_app *app);
/* May and shall backends run in this process: --in-process, workers.in_process; PC4317 when the policy says no. Asked
 * when the registry is open. */
pctl_status pctl_app_in_process(pctl_app *app, int *out);
pctl_status pctl_app_ops(pctl_app *app); /* library and kernels */
pctl_status pctl_app_store(pctl_app *app);
pctl_status pctl_app_memo(pctl_app *app);
pctl_status pctl_app_policy(pctl_app *app);
pctl_status pctl_app_schedule(pctl_app *app);
pctl_status pctl_app_profiles(pctl_app *app);

void pctl_app_close(pctl_app *app);

/* Every NAME=VALUE of `option` taken apart; strings and array live in the app's arena. */
pctl_status pctl_app_settings(pctl_app *app, const char *option, pctl_setting **out,
			      uint32_t *n_out);

/* A pipeline file, or one of a revision (REPO@REV:PATH), read, its texts known to the diagnostics, resolved with --set.
 * Also after an error it is closed. place: filled in by pctl_app_admit. */
typedef struct pctl_app_pipeline {
	pctl_repo_revision *revision; /* NULL: files */
	pctl_texts *texts;
	pctl_repo_place place;
	pctl_pipeline *pipeline;
	pctl_graph *graph;
	pctl_check_result checks[PCTL_CHECKS_MAX];
	uint32_t n_checks;
} pctl_app_pipeline;
pctl_status pctl_app_open_pipeline(pctl_app *app, const char *path, pctl_app_pipeline *out);
void pctl_app_close_pipeline(pctl_app_pipeline *p);

/* Find out where the pipeline stands (place), and refuse what the policy does not let run: uncommitted (PC6010) or unsigned
 * (PC6011, PC6012). Every verb that runs a pipeline asks this first. */
pctl_status pctl_app_admit(pctl_app *app, pctl_app_pipeline *p);
/* "source" in the JSON document; as text for `plan`, and for others with -v. */
void pctl_app_print_place(pctl_app *app, const pctl_app_pipeline *p, int plan);
/* What a signature of these texts covers: a line a text, its CID and its name as seen from the pipeline. */
pctl_status pctl_app_statement(pctl_app *app, const pctl_texts *texts, pctl_str_buf *out);
/* `check --immutable REV`. */
pctl_status pctl_app_check_immutable(pctl_app *app, const char *rev);
/* `op list --lock`: the specs of all ops, a line each. */
pctl_status pctl_app_print_lock(pctl_app *app);

/* The options of a run that every running verb shares (--backend, --verify, --no-memo, --gas-limit,
 * --in-process). */
pctl_status pctl_app_run_options(pctl_app *app, pctl_run_options *out, const char ***backends);

/* Run, on one device or under the policy's quorum. Every verb that runs what the user gave asks here. */
pctl_status pctl_app_run(pctl_app *app, const pctl_graph *g, const pctl_run_options *o,
			 const pctl_call *call, pctl_run_result **out);
/* A directory for blobs of this process, and away with it (NULL is fine). */
pctl_status pctl_app_scratch(pctl_app *app, const char **out);
void pctl_app_drop_scratch(const char *path);

/* Progress on a terminal; cleared before anything else is written. */
void pctl_app_progress(void *app, const char *job, uint64_t done, uint64_t total);
void pctl_app_progress_clear(pctl_app *app);

/* Every --out NAME=FILE names an output of the pipeline (checked before anything runs), and the
 * files written. */
pctl_status pctl_app_check_outs(pctl_app *app, const pctl_pipeline *p, const pctl_setting *outs,
				uint32_t n);
pctl_status pctl_app_write_outs(pctl_app *app, const pctl_run_result *r, const pctl_setting *outs,
				uint32_t n);

/* Print the result of a run: outputs with CIDs, gas, device; as text or into the JSON document. */
void pctl_app_print_run(pctl_app *app, const char *title, const pctl_run_result *r);

void pctl_app_print_plan(pctl_app *app, const pctl_graph *g, const pctl_run_result *r);

/* The verbs. */
pctl_status pctl_verb_check(pctl_app *app);
pctl_status pctl_verb_run(pctl_app *app);
pctl_status pctl_verb_sign(pctl_app *app);
pctl_status pctl_verb_plan(pctl_app *app);
pctl_status pctl_verb_shader_check(pctl_app *app);
pctl_status pctl_verb_shader_run(pctl_app *app);
pctl_status pctl_verb_op_list(pctl_app *app);
pctl_status pctl_verb_op_show(pctl_app *app);
pctl_status pctl_verb_op_run(pctl_app *app);
pctl_status pctl_verb_cas_put(pctl_app *app);
pctl_status pctl_verb_cas_get(pctl_app *app);
pctl_status pctl_verb_cas_ls(pctl_app *app);
pctl_status pctl_verb_cas_pin(pctl_app *app);
pctl_status pctl_verb_cas_unpin(pctl_app *app);
pctl_status pctl_verb_cas_gc(pctl_app *app);
pctl_status pctl_verb_cas_verify(pctl_app *app);
pctl_status pctl_verb_cas_export(pctl_app *app);
pctl_status pctl_verb_cas_import(pctl_app *app);
pctl_status pctl_verb_provenance(pctl_app *app);
pctl_status pctl_verb_plugin_list(pctl_app *app);
pctl_status pctl_verb_plugin_show(pctl_app *app);
pctl_status pctl_verb_plugin_quarantine(pctl_app *app);
pctl_status pctl_verb_plugin_release(pctl_app *app);
pctl_status pctl_verb_device_list(pctl_app *app);
pctl_status pctl_verb_device_probe(pctl_app *app);
pctl_status pctl_verb_certify(pctl_app *app);
pctl_status pctl_verb_certify_merge(pctl_app *app);
pctl_status pctl_verb_certify_verify(pctl_app *app);
pctl_status pctl_verb_certify_replay(pctl_app *app);
pctl_status pctl_verb_certify_confirm(pctl_app *app);
pctl_status pctl_verb_certs_list(pctl_app *app);
pctl_status pctl_verb_certs_show(pctl_app *app);
pctl_status pctl_verb_audit(pctl_app *app);
pctl_status pctl_verb_audit_verify(pctl_app *app);
pctl_status pctl_verb_block_end(pctl_app *app);
pctl_status pctl_verb_block_list(pctl_app *app);
pctl_status pctl_verb_block_show(pctl_app *app);
pctl_status pctl_verb_block_verify(pctl_app *app);
pctl_status pctl_verb_block_replay(pctl_app *app);
pctl_status pctl_verb_shader_upload(pctl_app *app);
pctl_status pctl_verb_shader_list(pctl_app *app);
pctl_status pctl_verb_shader_show(pctl_app *app);
pctl_status pctl_verb_shader_alias(pctl_app *app);
pctl_status pctl_verb_shader_deprecate(pctl_app *app);
pctl_status pctl_verb_job_submit(pctl_app *app);
pctl_status pctl_verb_job_show(pctl_app *app);
pctl_status pctl_verb_job_list(pctl_app *app);
pctl_status pctl_verb_job_cancel(pctl_app *app);
pctl_status pctl_verb_link(pctl_app *app);
pctl_status pctl_verb_ledger_verdict(pctl_app *app);
pctl_status pctl_verb_rank_show(pctl_app *app);
pctl_status pctl_verb_ledger_show(pctl_app *app);
pctl_status pctl_verb_ledger_credit(pctl_app *app);
pctl_status pctl_verb_ledger_transfer(pctl_app *app);
pctl_status pctl_verb_ledger_bond(pctl_app *app);
pctl_status pctl_verb_ledger_unbond(pctl_app *app);
pctl_status pctl_verb_ledger_params(pctl_app *app);
pctl_status pctl_verb_receipt_show(pctl_app *app);
pctl_status pctl_verb_receipt_verify(pctl_app *app);
pctl_status pctl_verb_receipt_replay(pctl_app *app);
pctl_status pctl_verb_receipt_dispute(pctl_app *app);
pctl_status pctl_verb_receipt_export(pctl_app *app);
pctl_status pctl_verb_node(pctl_app *app);
pctl_status pctl_verb_contract_run(pctl_app *app);
pctl_status pctl_verb_contract_account(pctl_app *app);
pctl_status pctl_verb_doctor(pctl_app *app);
pctl_status pctl_verb_explain(pctl_app *app);
pctl_status pctl_verb_version(pctl_app *app);
pctl_status pctl_verb_help(pctl_app *app);
pctl_status pctl_verb_completion(pctl_app *app);
pctl_status pctl_verb_man(pctl_app *app);

/* From now on an end of this process that main did not order (a plugin's exit(0)) is status 70 and says so; _exit cannot
 * be caught, which is why plugins run in workers. 0: no memory. */
int pctl_exit_guard(void);
/* main is about to return. */
void pctl_exit_ordered(void);

#endif
