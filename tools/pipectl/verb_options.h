/* The options of the verbs, one list a verb or for several that share it (verb_options.c); the table of verbs points at them. */
#ifndef PIPECTL_TOOLS_VERB_OPTIONS_H
#define PIPECTL_TOOLS_VERB_OPTIONS_H

#include "options.h"

#define SENDER_OPTION                                                             \
	{                                                                         \
		"--sender", "ACCOUNT", "the account that sends the message", 0, 0 \
	}

extern const pctl_option pctl_options_check[];
extern const pctl_option pctl_options_run[];
extern const pctl_option pctl_options_plan[];
extern const pctl_option pctl_options_shader_check[];
extern const pctl_option pctl_options_shader_run[];
extern const pctl_option pctl_options_shader_tune[];
extern const pctl_option pctl_options_op_list[];
extern const pctl_option pctl_options_op_run[];
extern const pctl_option pctl_options_vm_run[];
extern const pctl_option pctl_options_vm_generate[];
extern const pctl_option pctl_options_put[];
extern const pctl_option pctl_options_get[];
extern const pctl_option pctl_options_ls[];
extern const pctl_option pctl_options_gc[];
extern const pctl_option pctl_options_export[];
extern const pctl_option pctl_options_import[];
extern const pctl_option pctl_options_tensor_show[];
extern const pctl_option pctl_options_tensor_convert[];
extern const pctl_option pctl_options_model_check[];
extern const pctl_option pctl_options_model_synth[];
extern const pctl_option pctl_options_model_convert[];
extern const pctl_option pctl_options_model_pipeline[];
extern const pctl_option pctl_options_tokenizer_encode[];
extern const pctl_option pctl_options_tokenizer_decode[];
extern const pctl_option pctl_options_tokenizer_chat[];
extern const pctl_option pctl_options_tokenizer_train[];
extern const pctl_option pctl_options_tokenizer_show[];
extern const pctl_option pctl_options_generate[];
extern const pctl_option pctl_options_provenance[];
extern const pctl_option pctl_options_quarantine[];
extern const pctl_option pctl_options_release[];
extern const pctl_option pctl_options_device[];
extern const pctl_option pctl_options_probe[];
extern const pctl_option pctl_options_tune[];
extern const pctl_option pctl_options_certify[];
extern const pctl_option pctl_options_merge[];
extern const pctl_option pctl_options_replay[];
extern const pctl_option pctl_options_confirm[];
extern const pctl_option pctl_options_certs[];
extern const pctl_option pctl_options_audit[];
extern const pctl_option pctl_options_receipt_verify[];
extern const pctl_option pctl_options_ledger_accuse[];
extern const pctl_option pctl_options_ledger_apply[];
extern const pctl_option pctl_options_node[];
extern const pctl_option pctl_options_model_serve[];
extern const pctl_option pctl_options_contract_upload[];
extern const pctl_option pctl_options_contract_call[];
extern const pctl_option pctl_options_contract_view[];
extern const pctl_option pctl_options_contract_account[];
extern const pctl_option pctl_options_block_end[];
extern const pctl_option pctl_options_block_list[];
extern const pctl_option pctl_options_block_verify[];
extern const pctl_option pctl_options_block_replay[];
extern const pctl_option pctl_options_shader_upload[];
extern const pctl_option pctl_options_shader_list[];
extern const pctl_option pctl_options_sender[];
extern const pctl_option pctl_options_job_submit[];
extern const pctl_option pctl_options_job_list[];
extern const pctl_option pctl_options_graph[];
extern const pctl_option pctl_options_graph_edges[];
extern const pctl_option pctl_options_graph_jobs[];
extern const pctl_option pctl_options_verdict[];
extern const pctl_option pctl_options_link[];
extern const pctl_option pctl_options_key_new[];
extern const pctl_option pctl_options_key_sign[];
extern const pctl_option pctl_options_ledger_keys[];
extern const pctl_option pctl_options_ledger_credit[];
extern const pctl_option pctl_options_ledger_role[];
extern const pctl_option pctl_options_rank_show[];
extern const pctl_option pctl_options_receipt_replay[];
extern const pctl_option pctl_options_receipt_dispute[];
extern const pctl_option pctl_options_receipt_export[];
extern const pctl_option pctl_options_ledger_show[];
extern const pctl_option pctl_options_ledger_params[];
extern const pctl_option pctl_options_ledger_prove[];
extern const pctl_option pctl_options_ledger_snapshot[];
extern const pctl_option pctl_options_ledger_prune[];
extern const pctl_option pctl_options_fmt[];
extern const pctl_option pctl_options_init[];

#endif
