/* The options of the verbs, one list a verb or for several that share it (verb_options.c); the table of verbs points at them. */
#ifndef PIPECTL_TOOLS_VERB_OPTIONS_H
#define PIPECTL_TOOLS_VERB_OPTIONS_H

#include "options.h"

#define SENDER_OPTION                                                             \
	{                                                                         \
		"--sender", "ACCOUNT", "the account that sends the message", 0, 0 \
	}

/* What `generate` and `vm generate` both take: the model and what is said to it, and how tokens are drawn. */
#define PROMPT_OPTIONS                                                                            \
	{"--model", "FILE", "the model: a GGUF file, or a folder of safetensors", 0, 0},          \
		{"--tokenizer", "FILE", "a tokenizer.json in place of the model's own", 0, 0},    \
		{"--prompt", "TEXT", "what it goes on from; - is standard input", 0, 0},          \
		{"--chat", NULL, "the prompt is a message of a user, by the model's template", 0, \
		 0},                                                                              \
		{"--system", "TEXT", "a message of the system before it", 0, 0},                  \
	{                                                                                         \
		"--family", "FAMILY", "of the chat template, in place of the model's own", 0, 0   \
	}
#define SAMPLING_OPTIONS                                                                           \
	{"--ignore-end", NULL, "go on behind a token that ends the text", 0, 0},                   \
		{"--seed", "S", "of what is drawn; 0 if left out", 0, 0},                          \
		{"--temperature", "T",                                                             \
		 "what logits are divided by; 0, the most probable token, if left out", 0, 0},     \
		{"--top-k", "K", "draw from the K most probable tokens", 0, 0},                    \
		{"--top-p", "P", "draw from the most probable tokens that have this share", 0, 0}, \
		{"--min-p", "P",                                                                   \
		 "draw from tokens at least this probable beside the most probable", 0, 0},        \
		{"--repetition-penalty", "R", "divide logits of tokens that were there", 0, 0},    \
		{"--presence-penalty", "P", "taken off logits of tokens that were there", 0, 0},   \
	{                                                                                          \
		"--frequency-penalty", "P", "the same for each time", 0, 0                         \
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
