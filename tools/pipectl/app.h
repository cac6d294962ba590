/* One run of the program: the command line, diagnostics, and the installation it works on. */
#ifndef PIPECTL_TOOLS_APP_H
#define PIPECTL_TOOLS_APP_H

#include "foundation/diag/diag.h"
#include "foundation/diag/log.h"
#include "host/run.h"
#include "options.h"
#include "table.h"

/* The line of progress (progress.c). how: PCTL_SHOW_*. drawn_ns: when it was drawn last. */
enum { PCTL_SHOW_NOTHING = 0, PCTL_SHOW_LINE = 1, PCTL_SHOW_PLAIN = 2 };
typedef struct pctl_progress_line {
	uint64_t drawn_ns;
	uint32_t how, is_drawn;
} pctl_progress_line;

struct pctl_app {
	pctl_command_line line;
	pctl_diag_list *diagnostics;
	const pctl_call *call;
	uint32_t json, quiet, verbose, colour;
	uint32_t
		is_service; /* the verb serves until it is told to stop: after SIGTERM its own status counts; after SIGINT it is 130 as everywhere */
	pctl_json document; /* --json: one object, opened by main */
	pctl_table *table;  /* the listing that a verb is printing */
	pctl_log *log;	    /* NULL: there is none */
	pctl_status log_status;
	FILE *to; /* standard output, while what verbs print as text is collected */
	char *printed;
	size_t n_printed;
	pctl_installation host;
	pctl_arena *arena; /* small things that live as long as the process */
	pctl_progress_line line_of_progress;
};

/* The installation that the command line names; nothing of it is opened yet. */
pctl_status pctl_app_begin(pctl_app *app);

/* The log that the command line, the environment and the configuration (NULL: not read yet) name (log.c); and its end. */
pctl_status pctl_app_log_open(pctl_app *app, const pctl_host_config *c);
void pctl_app_log_close(pctl_app *app, pctl_status status, uint64_t began_ns);

/* All values of an option that may be given again and again, in the app's arena. */
pctl_status pctl_app_values(pctl_app *app, const char *option, const char *const **out,
			    uint32_t *n);

/*
 * Before a verb runs. Files: outputs can be written as things are, at most one input is standard input and at most one output
 * standard output, which then carries nothing but those bytes: what is said goes to standard error. CIDs: where the table says
 * CID, the beginning of one becomes the whole (pctl_store_find).
 */
pctl_status pctl_app_check_files(pctl_app *app);
pctl_status pctl_app_expand_cids(pctl_app *app);

/* --dispatch, X[,Y[,Z]]; ones where it is left out. */
pctl_status pctl_app_dispatch(pctl_app *app, uint32_t out[3]);

/* Every NAME=VALUE of `option` taken apart; strings and array live in the app's arena. */
pctl_status pctl_app_settings(pctl_app *app, const char *option, pctl_setting **out,
			      uint32_t *n_out);

/* pctl_load_pipeline with --set; its texts are shown beside diagnostics. */
pctl_status pctl_app_load(pctl_app *app, const char *path, pctl_loaded_pipeline *out);
/* "source" in the JSON document; as text for `plan`, and for others with -v. */
void pctl_app_print_place(pctl_app *app, const pctl_loaded_pipeline *p, int plan);
/* `check --immutable REV`. */
pctl_status pctl_app_check_immutable(pctl_app *app, const char *rev);
/* `op list --lock`: the specs of all ops, a line each. */
pctl_status pctl_app_print_lock(pctl_app *app);

/* The options of a run that every running verb shares (--backend, --verify, --no-memo, --gas-limit,
 * --in-process). */
pctl_status pctl_app_run_request(pctl_app *app, pctl_run_request *out);
/* The same with all that a run needs of the installation. */
pctl_status pctl_app_run_options(pctl_app *app, pctl_run_options *out);

/* Progress (progress.c): what --progress and --no-progress ask for, else `word` of the configuration (NULL: auto); whom the
 * core tells; and the line away before anything else is written. */
pctl_status pctl_app_progress_choose(pctl_app *app, const char *word);
pctl_progress_sink pctl_app_progress(pctl_app *app);
void pctl_app_progress_clear(pctl_app *app);

/* Every --out NAME=FILE names an output of the pipeline (checked before anything runs), and the
 * files written. */
pctl_status pctl_app_check_outs(pctl_app *app, const pctl_pipeline *p, const pctl_setting *outs,
				uint32_t n);
/* types: of the outputs of `outs`, NULL: as the result has them (host/outputs.h). */
pctl_status pctl_app_write_outs(pctl_app *app, const pctl_run_result *r, const pctl_setting *outs,
				const pctl_tensor_type *types, uint32_t n);

/* How much a pipeline of one job has room for. */
typedef struct pctl_job_room {
	uint32_t n_in, n_out, n_attr;
} pctl_job_room;

/* one_job.c: a pipeline of one job that says nothing yet, with room for its ports and attributes. *out is the caller's in any case. */
pctl_status pctl_app_one_job(pctl_app *app, const char *name, const pctl_job_room *room,
			     pctl_pipeline **out, pctl_pipe_job **job);
/* Resolve and run it, write what --out names and print what came of it. */
pctl_status pctl_app_run_one(pctl_app *app, const char *title, pctl_pipeline *p,
			     pctl_run_options *options, const pctl_setting *outs, uint32_t n_outs);

/* What was typed, as a shell would take it again; released with free(), NULL: no memory. */
char *pctl_app_command(const pctl_app *app);
/* --report: can it be written as things are; and written, of a run that went well (host/run_report.h). */
pctl_status pctl_app_check_report(pctl_app *app);
pctl_status pctl_app_write_report(pctl_app *app, const pctl_loaded_pipeline *p,
				  const pctl_run_result *r);

/* Print the result of a run: outputs with CIDs, gas, device; as text or into the JSON document. */
void pctl_app_print_run(pctl_app *app, const char *title, const pctl_run_result *r);

/* A listing: an array of the document under `key`, or app->table with these columns; and its end: `status`, or what went wrong
 * with printing. */
void pctl_app_list_begin(pctl_app *app, const char *key, const pctl_column *columns, uint32_t n);
pctl_status pctl_app_list_end(pctl_app *app, pctl_status status);

/* The devices of the usable backends; flags of pctl_devices_list. */
pctl_status pctl_app_list_devices(pctl_app *app, uint32_t flags);
/* The system calls that the confinement refused to this plugin's worker, as text. */
void pctl_app_print_refused(pctl_app *app, const pctl_plugin_info *p);

void pctl_app_print_plan(pctl_app *app, const pctl_graph *g, const pctl_run_result *r);
/* The plan as a picture into a file. */
pctl_status pctl_app_plan_svg(pctl_app *app, const pctl_graph *g, const pctl_run_result *r,
			      const char *path);
/* 1: writing to this path is writing to standard output. */
int pctl_app_is_standard_output(const char *path);

/* The verbs. */
pctl_status pctl_verb_check(pctl_app *app);
pctl_status pctl_verb_run(pctl_app *app);
pctl_status pctl_verb_sign(pctl_app *app);
pctl_status pctl_verb_plan(pctl_app *app);
pctl_status pctl_verb_shader_check(pctl_app *app);
pctl_status pctl_verb_shader_run(pctl_app *app);
pctl_status pctl_verb_shader_tune(pctl_app *app);
pctl_status pctl_verb_op_list(pctl_app *app);
pctl_status pctl_verb_op_show(pctl_app *app);
pctl_status pctl_verb_op_run(pctl_app *app);
pctl_status pctl_verb_vm_run(pctl_app *app);
pctl_status pctl_verb_vm_show(pctl_app *app);
pctl_status pctl_verb_vm_generate(pctl_app *app);
pctl_status pctl_verb_op_support(pctl_app *app);
pctl_status pctl_verb_cas_put(pctl_app *app);
pctl_status pctl_verb_cas_get(pctl_app *app);
pctl_status pctl_verb_cas_ls(pctl_app *app);
pctl_status pctl_verb_cas_pin(pctl_app *app);
pctl_status pctl_verb_cas_unpin(pctl_app *app);
pctl_status pctl_verb_cas_gc(pctl_app *app);
pctl_status pctl_verb_cas_verify(pctl_app *app);
pctl_status pctl_verb_cas_export(pctl_app *app);
pctl_status pctl_verb_cas_import(pctl_app *app);
pctl_status pctl_verb_tensor_show(pctl_app *app);
pctl_status pctl_verb_tensor_convert(pctl_app *app);
pctl_status pctl_verb_model_show(pctl_app *app);
pctl_status pctl_verb_model_check(pctl_app *app);
pctl_status pctl_verb_model_synth(pctl_app *app);
pctl_status pctl_verb_model_convert(pctl_app *app);
pctl_status pctl_verb_model_pipeline(pctl_app *app);
pctl_status pctl_verb_tokenizer_encode(pctl_app *app);
pctl_status pctl_verb_tokenizer_decode(pctl_app *app);
pctl_status pctl_verb_tokenizer_chat(pctl_app *app);
pctl_status pctl_verb_tokenizer_train(pctl_app *app);
pctl_status pctl_verb_tokenizer_show(pctl_app *app);
pctl_status pctl_verb_generate(pctl_app *app);
pctl_status pctl_verb_provenance(pctl_app *app);
pctl_status pctl_verb_plugin_list(pctl_app *app);
pctl_status pctl_verb_plugin_show(pctl_app *app);
pctl_status pctl_verb_plugin_quarantine(pctl_app *app);
pctl_status pctl_verb_plugin_release(pctl_app *app);
pctl_status pctl_verb_device_list(pctl_app *app);
pctl_status pctl_verb_device_probe(pctl_app *app);
pctl_status pctl_verb_device_tune(pctl_app *app);
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
pctl_status pctl_verb_graph_edges(pctl_app *app);
pctl_status pctl_verb_graph_history(pctl_app *app);
pctl_status pctl_verb_graph_dependents(pctl_app *app);
pctl_status pctl_verb_graph_jobs(pctl_app *app);
pctl_status pctl_verb_graph_rank(pctl_app *app);
pctl_status pctl_verb_ledger_show(pctl_app *app);
pctl_status pctl_verb_ledger_credit(pctl_app *app);
pctl_status pctl_verb_ledger_transfer(pctl_app *app);
pctl_status pctl_verb_ledger_bond(pctl_app *app);
pctl_status pctl_verb_ledger_unbond(pctl_app *app);
pctl_status pctl_verb_ledger_params(pctl_app *app);
pctl_status pctl_verb_ledger_prove(pctl_app *app);
pctl_status pctl_verb_ledger_verify(pctl_app *app);
pctl_status pctl_verb_ledger_snapshot(pctl_app *app);
pctl_status pctl_verb_ledger_prune(pctl_app *app);
pctl_status pctl_verb_ledger_keys(pctl_app *app);
pctl_status pctl_verb_ledger_role(pctl_app *app);
pctl_status pctl_verb_ledger_accuse(pctl_app *app);
pctl_status pctl_verb_ledger_apply(pctl_app *app);
pctl_status pctl_verb_key_new(pctl_app *app);
pctl_status pctl_verb_key_list(pctl_app *app);
pctl_status pctl_verb_key_sign(pctl_app *app);
pctl_status pctl_verb_receipt_show(pctl_app *app);
pctl_status pctl_verb_receipt_verify(pctl_app *app);
pctl_status pctl_verb_receipt_replay(pctl_app *app);
pctl_status pctl_verb_receipt_dispute(pctl_app *app);
pctl_status pctl_verb_receipt_export(pctl_app *app);
pctl_status pctl_verb_node(pctl_app *app);
pctl_status pctl_verb_model_serve(pctl_app *app);
pctl_status pctl_verb_contract_upload(pctl_app *app);
pctl_status pctl_verb_contract_call(pctl_app *app);
pctl_status pctl_verb_contract_view(pctl_app *app);
pctl_status pctl_verb_contract_list(pctl_app *app);
pctl_status pctl_verb_contract_show(pctl_app *app);
pctl_status pctl_verb_contract_account(pctl_app *app);
pctl_status pctl_verb_fmt(pctl_app *app);
pctl_status pctl_verb_init(pctl_app *app);
pctl_status pctl_verb_doctor(pctl_app *app);
pctl_status pctl_verb_explain(pctl_app *app);
pctl_status pctl_verb_version(pctl_app *app);
pctl_status pctl_verb_help(pctl_app *app);
pctl_status pctl_verb_completion(pctl_app *app);
pctl_status pctl_verb_completion_at(pctl_app *app);
pctl_status pctl_verb_man(pctl_app *app);

/* From now on an end of this process that main did not order (a plugin's exit(0)) is status 70 and says so; _exit cannot
 * be caught, which is why plugins run in workers. 0: no memory. */
int pctl_exit_guard(void);
/* main is about to return. */
void pctl_exit_ordered(void);

/* From now on a second signal does not end the process: the verb asks how many gestures there were (0, 1, 2 or more), and ends itself. */
void pctl_interrupt_gently(void);
uint32_t pctl_interruptions(void);

#endif
