/* The options of verbs on models; see verb_options.h. */
#include "verb_options.h"

#include <stddef.h>

#define PLACE_OPTIONS                                                                             \
	{"--profile", "sc|mc", "cut work as for tight (sc) or wide (mc) limits, not as tuned", 0, \
	 0},                                                                                      \
	{                                                                                         \
		"--memory-budget", "BYTES",                                                       \
			"the most that may lie on the device; weights beyond it come there in "   \
			"each step",                                                              \
			0, 0                                                                      \
	}

const pctl_option pctl_options_generate[] = {
	PROMPT_OPTIONS,
	{"--tokens", "N", "tokens of each sequence, at most; 128 if left out", 0, 0},
	SAMPLING_OPTIONS,
	{"--batch", "K", "so many sequences from the one prompt, each by a stream of its own", 0,
	 0},
	{"--chunk", "C",
	 "tokens of a prompt that are run together; if left out 64, and the first 16 one by one", 0,
	 0},
	{"--context", "N", "positions of a sequence, at most", 0, 0},
	{"--lora", "FILE[=SCALE]",
	 "add an adapter to the model, its scale times SCALE; several in the order given", 1, 0},
	{"--logits", "FILE",
	 "write the logits of every token; .npy and .safetensors with their type", 0, 1},
	{"--receipt", "FILE", "write a signed statement of what was asked and what came of it", 0,
	 1},
	{"--replay", "FILE", "ask what a statement says, and hold the answer against it", 0, 0},
	PLACE_OPTIONS,
	{"--backend", "ID[:DEVICE]", "where to run; the first that qualifies", 1, 0},
	{"--no-fuse", NULL, "every job is a kernel of its own", 0, 0},
	{"--joins", "none|beside|behind|ahead",
	 "which dispatches become one: horizontal fusion, vertical fusion too, producers "
	 "repeated in every workgroup too; if left out behind on GPUs, "
	 "none elsewhere",
	 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_model_check[] = {
	{"--full", NULL, "read every element and hash every tensor", 0, 0},
	{"--base", "FILE", "hold adapters against this model", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_model_synth[] = {
	{"--shape", "SHAPE", "whose shape: qwen2.5-0.5b, llama3-8b ..", 0, 0},
	{"--seed", "S", "which weights; 0 where it is left out", 0, 0},
	{"--type", "WEIGHTS", "the type of weights: f32 (if left out), bf16, q8_0, q4_k ..", 0, 0},
	{"--layers", "N", "so many layers", 0, 0},
	{"--vocab", "N", "so many tokens", 0, 0},
	{"--context", "N", "so many positions", 0, 0},
	{"--set", "SIZE=N", "another size: n_embd, n_heads, n_kv_heads, head_dim, n_ff ..", 1, 0},
	{"--tokenizer", "FILE", "a tokenizer instead of one token a byte", 0, 0},
	{"--shard", "SIZE", "several files, of about this size each", 0, 0},
	{"--lora", "RANK", "an adapter of this rank for such a model, not the model", 0, 0},
	{"--alpha", "A", "of the adapter; twice its rank where it is left out", 0, 0},
	{"--target", "ROLE",
	 "what the adapter is for: q, k, v, o, gate, up, down ..; all if left out", 1, 0},
	{"--out", "OUT", "the file or the folder", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_model_convert[] = {
	{"--type", "WEIGHTS", "the type of weights: bf16, q8_0, q4_k ..; each its own if left out",
	 0, 0},
	{"--tokenizer", "FILE", "where the format changes: its tokenizer", 0, 0},
	{"--no-tokenizer", NULL, "leave the tokenizer out", 0, 0},
	{"--shard", "SIZE", "several files, of about this size each", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_model_pipeline[] = {
	{"--batch", "B", "sequences at a time; 1 where it is left out", 0, 0},
	{"--chunk", "T", "tokens of each at a time, at most; 1 where it is left out", 0, 0},
	{"--context", "C", "positions that are kept; 4096 or the model's where it is left out", 0,
	 0},
	{"--all-logits", NULL, "of every token of the chunk, not of the last real one", 0, 0},
	{"--unrolled", NULL, "layer by layer, with caches as inputs and outputs", 0, 0},
	{"--lora", "FILE[=SCALE]",
	 "with an adapter, its scale times SCALE; several in the order given", 1, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_model_serve[] = {
	{"--model", "FILE", "the model: a GGUF file, or a folder of safetensors", 0, 0},
	{"--tokenizer", "FILE", "a tokenizer.json in place of the model's own", 0, 0},
	{"--family", "FAMILY", "of the chat template, in place of the model's own", 0, 0},
	{"--lora", "NAME=FILE[,SCALE]",
	 "an adapter that requests choose by the name of a model; of one name several add up", 1,
	 0},
	{"--socket", "PATH", "the Unix socket to listen on", 0, 0},
	{"--port", "N", "the port to listen on, on loopback alone", 0, 0},
	{"--slots", "N", "sequences in a batch; 8 if left out", 0, 0},
	{"--chunk", "N", "most tokens of one sequence in a step; 64 if left out", 0, 0},
	{"--context", "N", "positions of a sequence", 0, 0},
	{"--backend", "ID[:DEVICE]", "where the model runs; the first that can", 1, 0},
	PLACE_OPTIONS,
#define PCTL_SERVE_LIMIT(field, option, usual, least, most, about) \
	{option, "N", about "; " #usual " where it is left out", 0, 0},
#include "model/serve/limits.def"
#undef PCTL_SERVE_LIMIT
	{NULL, NULL, NULL, 0, 0},
};
