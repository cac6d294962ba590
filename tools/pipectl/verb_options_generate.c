/* The options of `vm generate`; see verb_options.h. Those of `generate` are in verb_options_model.c. */
#include "verb_options.h"

const pctl_option pctl_options_vm_generate[] = {
	PROMPT_OPTIONS,
	{"--tokens", "N", "tokens, at most; 128 if left out", 0, 0},
	SAMPLING_OPTIONS,
	{"--context", "N", "positions that keys and values are kept for", 0, 0},
	{"--act", NULL, "the regulator scales activations, and does not observe alone", 0, 0},
	{"--target", "NORM", "the norm that it wants; the running mean of each layer if left out",
	 0, 0},
	{"--epsilon", "NORM", "a norm below it has vanished; 0 if left out", 0, 0},
	{"--skip", "LAYER", "pass by a layer (active = 0), not the last", 1, 0},
	{"--heap", "BYTES", "refuse a model whose weights need more", 0, 0},
	{"--budget", "BYTES", "of device memory, for advice; what the device has if left out", 0,
	 0},
	{"--verify", "none|all", "the reference does the same beside it, and all is compared", 0,
	 0},
	{"--logits", "FILE",
	 "write the logits of each token; .npy and .safetensors with their type", 0, 1},
	{"--backend", "ID[:DEVICE]", "where to run; the first that qualifies", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
