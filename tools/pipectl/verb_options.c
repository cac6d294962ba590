/* The options of every verb. Words here are what users read in help, man pages and completions. */
#include "verb_options.h"

#include "app.h"
#include "shader_text.h"

/* pctl_status_exit is what gives them; frozen. */
const pctl_exit_code pctl_exit_codes[] = {
	{0, "ok"},
	{1, "a failure that has no class of its own, such as a file that cannot be read"},
	{2, "usage: the command line"},
	{3, "an invalid declaration or program, or a name that is not there"},
	{4, "a plugin, or its interface"},
	{5, "a device or a capability is missing"},
	{6, "devices or records disagree: determinism, audit"},
	{7, "gas or another budget"},
	{8, "the store is damaged"},
	{9, "the execution failed"},
	{10, "nothing was executed, so nothing was shown"},
	{70, "a defect of pipectl"},
	{130, "interrupted"},
	{0, NULL},
};

const pctl_option pctl_global_options[] = {
	{"--home", "DIR", "where stores, caches and state lie (PIPECTL_HOME)", 0, 0},
	{"--config", "FILE", "the host's configuration", 0, 0},
	{"--plugin-dir", "DIR", "a further directory of plugin manifests", 1, 0},
	{"--policy", "FILE", "the policy in force", 0, 0},
	{"--json", NULL, "one JSON document on standard output", 0, 0},
	{"-q", NULL, "print only the answer", 0, 0},
	{"-v", NULL, "say more on standard error", 0, 0},
	{"--color", "auto|always|never", "colour of diagnostics", 0, 0},
	{"--progress", "auto|always|plain|never",
	 "a line of progress on a terminal (auto), always, a line every ten seconds (plain)", 0, 0},
	{"--no-progress", NULL, "as --progress never", 0, 0},
	{"--log", "FILE|-", "add a log to a file, or write it to standard error (PIPECTL_LOG)", 0,
	 0},
	{"--log-level", "error|warning|info|debug", "how detailed (PIPECTL_LOG_LEVEL)", 0, 0},
	{"--log-format", "text|json", "lines for people or objects (PIPECTL_LOG_FORMAT)", 0, 0},
	{"--in-process", NULL, "run backends that allow it inside this process", 0, 0},
	{"--debug", NULL, "have backends validate what they make", 0, 0},
	{"--help", NULL, "usage of the verb, with its options and an example", 0, 0},
	{"-h", NULL, "the same", 0, 0},
	{"--version", NULL, "version of the program", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};

#define PCTL_OPTION_TURNS                                                                         \
	{                                                                                         \
		"--max-turns", "N",                                                               \
			"the turn budget of loops that nothing bounds, whatever kernels declare", \
			0, 0                                                                      \
	}

#define PCTL_OPTION_SUBGROUP                                                                  \
	{                                                                                     \
		"--subgroup", "N",                                                            \
			"the size of subgroups where a kernel declares none (4 to 128)", 0, 0 \
	}

#define PCTL_OPTION_PROFILE                                                                  \
	{                                                                                    \
		"--profile", "sc|mc",                                                        \
			"cut work as for tight (sc) or wide (mc) limits, not as tuned", 0, 0 \
	}

#define RUN_OPTIONS                                                                              \
	{"--backend", "ID[:DEVICE]",                                                             \
	 "where to run; the first that qualifies (never reads the memo)", 1, 0},                 \
		{"--verify", "none|all|sample=F", "run jobs again on the reference and compare", \
		 0, 0},                                                                          \
		{"--no-memo", NULL, "neither read nor write remembered results", 0, 0},          \
		{"--gas-limit", "N", "refuse above this much gas", 0, 0},                        \
		{"--gas", "FILE", "the gas schedule", 0, 0}, PCTL_OPTION_TURNS,                  \
		PCTL_OPTION_SUBGROUP,                                                            \
		{"--forms", "strict|native",                                                     \
		 "native: the device's own floats, for class approximate only", 0, 0},           \
	{                                                                                        \
		"--sanitize", NULL,                                                              \
			"on the reference: look for races and bad accesses, count gas", 0, 0     \
	}

#define SOURCE_OPTIONS                                                                \
	{"--set", "NAME=VALUE", "set a parameter of the pipeline", 1, 0},             \
	{                                                                             \
		"--in", "NAME=FILE|CID", "data of an input; x=m.npz:w a tensor", 1, 0 \
	}

const pctl_option pctl_options_check[] = {
	{"--set", "NAME=VALUE", "set a parameter of the pipeline", 1, 0},
	{"--in", "NAME=FILE|CID", "data of an input: sizes are checked too", 1, 0},
	{"--device", "ID[:DEVICE]|all", "also check against a device and the policy (repeatable)",
	 1, 0},
	{"--immutable", "REV", "compare what is frozen with what was released at REV", 0, 0},
	{"--repo", "DIR", "for --immutable: the sources; here if left out", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_run[] = {
	SOURCE_OPTIONS,
	{"--out", "NAME=FILE", "write an output to a file", 1, 1},
	RUN_OPTIONS,
	PCTL_OPTION_PROFILE,
	{"--memory-budget", "BYTES",
	 "the most that may lie on the device; inputs leave it while no job reads them", 0, 0},
	{"--no-fuse", NULL, "every job is a kernel of its own", 0, 0},
	{"--no-in-place", NULL, "no output lies where an input lay", 0, 0},
	{"--receipt", "FILE", "write a signed receipt: what ran on what, and its trace", 0, 1},
	{"--trace", "job|round|step", "how finely a receipt traces; job where it is left out", 0,
	 0},
	{"--report", "DIR", "write a page of what the run did, and its timeline", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_plan[] = {
	SOURCE_OPTIONS,
	RUN_OPTIONS,
	PCTL_OPTION_PROFILE,
	{"--memory-budget", "BYTES", "the most that may lie on the device", 0, 0},
	{"--no-fuse", NULL, "every job is a kernel of its own", 0, 0},
	{"--no-in-place", NULL, "no output lies where an input lay", 0, 0},
	{"--dot", NULL, "the graph for Graphviz", 0, 0},
	{"--svg", "FILE", "write the graph as a picture", 0, 1},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_shader_check[] = {
	{"--entry", "NAME", "the entry point", 0, 0},
	{"--override", "NAME=VALUE", "value of an override", 1, 0},
	{"--dispatch", "X[,Y[,Z]]", "prove for this dispatch", 0, 0},
	{"--class", "integer|strict|approximate", "the most it may need", 0, 0},
	{"--consensus", NULL, "by the rules of the consensus VM, as upload and submit", 0, 0},
	{"--rules", "1|2", "with --consensus: this version of its rules", 0, 0},
	{"--print", NULL, "print the program", 0, 0},
	{"--gas", "FILE", "the gas schedule", 0, 0},
	PCTL_OPTION_TURNS,
	PCTL_OPTION_SUBGROUP,
	PCTL_OPTION_WITH,
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_shader_run[] = {
	{"--dispatch", "X[,Y[,Z]]", "workgroups", 0, 0},
	{"--bind", "G:B|NAME=FILE|zero:BYTES|CID",
	 "data of group G binding B, or of the variable of that name", 1, 0},
	{"--read", "G:B|NAME=FILE", "write that variable to a file afterwards", 1, 1},
	{"--trace", "JOB[/ROUND[.STEP]]", "tell the backend it runs for this job", 0, 0},
	{"--emit", "LANGUAGE",
	 "run nothing: print what the device is given (ir), or what its driver compiles (by its "
	 "language)",
	 0, 0},
	{"--override", "NAME=VALUE", "value of an override", 1, 0},
	{"--entry", "NAME", "the entry point", 0, 0},
	{"--class", "integer|strict|approximate", "the most it may need", 0, 0},
	PCTL_OPTION_WITH,
	RUN_OPTIONS,
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_shader_tune[] = {
	{"--dispatch", "X[,Y[,Z]]", "workgroups", 0, 0},
	{"--bind", "G:B|NAME=FILE|zero:BYTES|CID",
	 "data of group G binding B, or of the variable of that name", 1, 0},
	{"--invocations", "X[,Y[,Z]]", "as many workgroups as hold them, in place of --dispatch", 0,
	 0},
	{"--override", "NAME=VALUE[,VALUE]", "value of an override; several are compared", 1, 0},
	{"--workgroup", "N[,N]", "the override that is the workgroup's size; several are compared",
	 0, 0},
	{"--entry", "NAME", "the entry point", 0, 0},
	{"--class", "integer|strict|approximate", "the most it may need", 0, 0},
	PCTL_OPTION_WITH,
	{"--backend", "ID[:DEVICE]", "where to time it; the first that qualifies", 1, 0},
	{"--counts", "reference|device|none",
	 "who counts what every line does; the reference where it is left out", 0, 0},
	{"--repeat", "N", "time so many dispatches; else as many as two seconds hold, 3 to 15", 0,
	 0},
	{"--blocks", NULL, "list blocks of code, too", 0, 0},
	PCTL_OPTION_TURNS,
	{"--forms", "strict|native", "native: the device's own floats, for class approximate only",
	 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_op_list[] = {
	{"--lock", NULL, "a digest of each op's spec, as certs/ops.lock has them", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_op_run[] = {
	{"--in", "PORT=FILE[:TYPE]",
	 "data of a port with its type, x=a.bin:u32[1024,8]; files of tensors have one; xs[0]=.., "
	 "xs[1]=.. where it is a list",
	 1, 0},
	{"--out", "PORT=FILE", "write an output port to a file", 1, 1},
	{"--attr", "NAME=VALUE", "an attribute", 1, 0},
	RUN_OPTIONS,
	PCTL_OPTION_PROFILE,
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_vm_run[] = {
	{"--in", "PLACE=FILE[:TYPE]",
	 "data of a register (r0), or of a part of the heap or the globals; files of tensors have "
	 "a "
	 "type, without one it is bytes",
	 1, 0},
	{"--out", "PLACE=FILE[:TYPE]",
	 "write a place to a file: r30, r30_2 of instance 2, metrics, logits", 1, 1},
	RUN_OPTIONS,
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_put[] = {{"--pin", NULL, "keep it from gc", 0, 0},
					{NULL, NULL, NULL, 0, 0}};
const pctl_option pctl_options_get[] = {
	{"--out", "FILE", "write to a file instead of standard output", 0, 1},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_ls[] = {{"--pins", NULL, "only what is pinned", 0, 0},
				       {NULL, NULL, NULL, 0, 0}};
const pctl_option pctl_options_gc[] = {
	{"--dry-run", NULL, "only say what would go", 0, 0},
	{"--all", NULL, "remembered results do not keep their outputs", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_export[] = {
	{"--car", "FILE", "the archive to write", 0, 1},
	{"--provenance", NULL, "also all blobs of the causal history of each CID", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_import[] = {{"--car", "FILE", "the archive to read", 0, 0},
					   {NULL, NULL, NULL, 0, 0}};
const pctl_option pctl_options_tensor_show[] = {
	{"--picture", "matrix|histogram|none", "what is drawn of one tensor", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_tensor_convert[] = {
	{"--to", "TYPE", "the element type of the output: f16, i4, q4_k ..", 0, 0},
	{"--from", "TYPE[SHAPE]", "the input is bytes alone, of this type: f32[4,8]", 0, 0},
	{"--tensor", "NAME", "this tensor alone", 0, 0},
	{"--saturate", NULL, "what is too large becomes the largest number of a float type", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
#define PCTL_OPTION_ROLES                                                                          \
	{                                                                                          \
		"--roles", "FILE", "a tokenizer_config.json: which tokens begin and end texts", 0, \
			0                                                                          \
	}
const pctl_option pctl_options_tokenizer_encode[] = {
	PCTL_OPTION_ROLES,
	{"--begin", NULL, "with what the model is to see before and behind a text", 0, 0},
	{"--special", NULL, "special tokens that stand in the text are found", 0, 0},
	{"--no-added", NULL, "added tokens that are not special are text, too", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_tokenizer_decode[] = {
	{"--special", NULL, "special tokens are written, not left out", 0, 0},
	{"--stream", NULL, "one token after the other, in whole characters", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_tokenizer_chat[] = {
	{"--family", "FAMILY", "the family of the chat template", 0, 0},
	{"--template", "FILE",
	 "a template, or a tokenizer_config.json, by which the family is known", 0, 0},
	{"--message", "ROLE=TEXT", "a message of system, user or assistant, in their order", 1, 0},
	{"--no-prompt", NULL, "the assistant's turn is not begun", 0, 0},
	{"--no-thinking", NULL, "Qwen3: answer without thoughts", 0, 0},
	{"--render", NULL, "as text, for people", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_tokenizer_train[] = {
	{"--out", "FILE", "write the tokenizer.json", 0, 1},
	{"--kind", "bpe|llama|unigram",
	 "byte-level BPE (if left out), BPE of characters with byte tokens, unigram", 0, 0},
	{"--family", "gpt2|llama3|qwen2|tekken", "the pre-tokenizer of bpe; gpt2 if left out", 0,
	 0},
	{"--tokens", "N", "the size of the vocabulary; 1000 if left out", 0, 0},
	{"--token", "TEXT", "a special token", 1, 0},
	{"--fill", NULL, "reserved tokens make up for what the texts do not give", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_tokenizer_show[] = {PCTL_OPTION_ROLES, {NULL, NULL, NULL, 0, 0}};
const pctl_option pctl_options_provenance[] = {
	{"--depth", "N", "follow jobs this far; 64 where it is left out", 0, 0},
	{"--limit", "N", "show at most so many jobs; 1000 where it is left out", 0, 0},
	{"--all", NULL, "every job that made some bytes, not only the first", 0, 0},
	{"--forward", NULL, "what was made from it instead", 0, 0},
	{"--verify", NULL, "run every job of the history again and compare outputs", 0, 0},
	{"--backend", "ID[:DEVICE]", "where to run them; the reference where it is left out", 1, 0},
	{"--dot", NULL, "the graph for Graphviz", 0, 0},
	{"--svg", "FILE", "write the graph as a picture", 0, 1},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_quarantine[] = {
	{"--driver", "NAME", "only this driver of the plugin", 0, 0},
	{"--cause", "TEXT", "why", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_release[] = {
	{"--driver", "NAME", "only this driver of the plugin", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_device[] = {
	{"--fresh", NULL, "ask every driver again", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};

const pctl_option pctl_options_tune[] = {
	{"--rounds", "N", "how often each value is timed; 7 where it is left out", 0, 0},
	{"--dry-run", NULL, "measure and compare, and keep nothing", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_probe[] = {
	{"--device", "ID[:DEVICE]|all", "which (repeatable); all where it is left out", 1, 0},
	{"--fresh", NULL, "probe although there is a valid profile", 0, 0},
	{"--floats", NULL, "floats alone: limits are left to the first large program", 0, 0},
	{"--forms", NULL, "which form each strict operation takes", 0, 0},
	{"--out", "DIR", "write signed profiles to a directory too", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};

const pctl_option pctl_options_certify[] = {
	{"--backend", "ID[:DEVICE]", "the device under proof; else the one policy prefers", 0, 0},
	{"--level", "L1..L4|L1f..L4f|L1a", "the level wanted; L2 where it is left out", 0, 0},
	{"--ops", "GLOB[,GLOB]", "only these ops", 0, 0},
	{"--cases", "N", "random cases a unit; 1048576 if left out, a level wants 1000000", 0, 0},
	{"--programs", "N", "generated programs of the engine suite; 64 if left out", 0, 0},
	{"--pairs", NULL, "binary 16-bit functions over all 2^32 pairs", 0, 0},
	{"--seed", "S", "of the random cases; 1 where it is left out", 0, 0},
	{"--shapes", "HEX", "seed of the shapes of runs, of a certificate's; drawn if left out", 0,
	 0},
	{"--shard", "I/N", "only every N-th block, from the I-th on (1 to N)", 0, 0},
	{"--resume", NULL, "go on where the journal in --out ends", 0, 0},
	{"--out", "DIR", "where journal and certificate go; the home where it is left out", 0, 0},
	{"--list", NULL, "only print the units that would run", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_merge[] = {
	{"--out", "FILE", "write the certificate there instead of into the directory", 0, 1},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_replay[] = {
	{"--backend", "ID[:DEVICE]",
	 "where to run it again; else the device it is of, or the reference", 0, 0},
	{"--sample", "F", "share of the blocks, 0 to 1; all where it is left out", 0, 0},
	{"--seed", "S", "which blocks a sample takes", 0, 0},
	{"--shapes", "HEX", "seed of the shapes of runs, of a certificate's; drawn if left out", 0,
	 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_confirm[] = {
	{"--backend", "ID[:DEVICE]", "only this device; else those the claims are of", 0, 0},
	{"--sample", "F", "share of the blocks besides one of each kind and operation; 0.002", 0,
	 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_certs[] = {
	{"--dir", "DIR", "where certificates lie (repeatable); the installation's and the home's",
	 1, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_audit[] = {
	SOURCE_OPTIONS,
	{"--backends", "A,B,...", "devices to compare; `all`: every usable one", 0, 0},
	{"--repeat", "N", "runs a device; 2 where it is left out", 0, 0},
	{"--quorum", "K", "how many must agree; more than half where it is left out", 0, 0},
	{"--report", "DIR", "write a signed report with an HTML page", 0, 0},
	{"--no-quarantine", NULL, "only say who would be quarantined", 0, 0},
	{"--natives", NULL, "class approximate: how far native forms go from strict ones", 0, 0},
	{"--gas-limit", "N", "refuse above this much gas", 0, 0},
	{"--gas", "FILE", "the gas schedule", 0, 0},
	PCTL_OPTION_TURNS,
	PCTL_OPTION_SUBGROUP,
	{NULL, NULL, NULL, 0, 0},
};

const pctl_option pctl_options_receipt_verify[] = {
	{"--store", NULL, "also: the store has all that it names", 0, 0},
	{"--signer", "KEY", "also: this key signed it", 0, 0},
	{"--trust", "ID",
	 "also: its job is so in the state of this block; its commit or its state root", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};

#define PEER_OPTION                                                                                \
	{                                                                                          \
		"--peer", "SOCKET", "another node, asked for bytes of the state that are lacking", \
			1, 0                                                                       \
	}
#define EXECUTOR_OPTIONS                                                                 \
	{"--backend", "ID[:DEVICE]", "where jobs run; the first that can", 1, 0},        \
	{                                                                                \
		"--verify", "none|all|sample=F", "run jobs again on the reference", 0, 0 \
	}

const pctl_option pctl_options_node[] = {
	{"--socket", "PATH", "the Unix socket to listen on", 0, 0},
	{"--clients", "N", "most connections at once; 1024 where it is left out", 0, 0},
	PEER_OPTION,
	{"--engine", "abci", "behind a consensus engine that speaks ABCI 2.0", 0, 0},
	{"--listen", "unix:PATH|tcp:HOST:PORT", "where the engine finds the node", 0, 0},
	{"--snapshot-blocks", "N",
	 "blocks from one snapshot for late joiners to the next; 1000 where it is left out, 0: "
	 "none",
	 0, 0},
	{"--order", "etcd://HOST:PORT,..", "behind an etcd cluster that orders messages", 0, 0},
	{"--prefix", "KEY/", "of the keys in etcd; of the chain's id where it is left out", 0, 0},
	{"--retain", "N", "blocks of the log that stay in etcd; 10000 where it is left out, 0: all",
	 0, 0},
	{"--block-ms", "N", "between blocks that this node cuts; 500 where it is left out", 0, 0},
	EXECUTOR_OPTIONS,
	{NULL, NULL, NULL, 0, 0},
};

const pctl_option pctl_options_contract_upload[] = {
	{"--sender", "ACCOUNT", "who pays for the module", 0, 0},
	{"--runtime", "FILE", "Wasmtime's library, where FILE is a module's text", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
#define CALL_OPTIONS                                                                   \
	{"--call", "NAME", "the function to call; `call` where it is left out", 0, 0}, \
		{"--arg", "FILE", "bytes that it is given", 0, 0},                     \
	{                                                                              \
		"--fuel", "N", "most fuel that it may use", 0, 0                       \
	}
const pctl_option pctl_options_contract_call[] = {
	{"--sender", "ACCOUNT", "who calls, and pays for the fuel", 0, 0},
	CALL_OPTIONS,
	{"--pay", "GAS", "gas that the caller gives to the contract with it", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_contract_view[] = {
	CALL_OPTIONS,
	{"--height", "HEIGHT", "refuse unless this is the last finished block", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_contract_account[] = {
	{"--runtime", "FILE", "Wasmtime's library, where FILE is a module's text", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};

const pctl_option pctl_options_block_end[] = {
	{"--height", "HEIGHT", "refuse unless this is the open block", 0, 0},
	{"--executor", "ACCOUNT", "who is paid for the jobs; `executor` where it is left out", 0,
	 0},
	PEER_OPTION,
	{"--backend", "ID[:DEVICE]", "where jobs run; the first that can", 1, 0},
	{"--verify", "none|all|sample=F", "run jobs again on the reference", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_block_list[] = {
	{"--last", "N", "only the last N", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_block_verify[] = {
	{"--backend", "ID[:DEVICE]", "where jobs run again; the first that can", 1, 0},
	{"--snapshot", "DIR", "begin at this snapshot instead of the first block", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_block_replay[] = {
	{"--from", "GITDIR", "the history: blocks.git of another home", 0, 0},
	{"--fetch", "DIR", "a store to take from what this home's lacks", 0, 0},
	{"--backend", "ID[:DEVICE]", "where jobs run again; the first that can", 1, 0},
	{"--recorded", NULL, "take the recorded results, run nothing", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};

const pctl_option pctl_options_shader_upload[] = {
	SENDER_OPTION,
	{"--description", "TEXT", "what it does, in a line", 0, 0},
	{"--tag", "WORD", "to find it by (repeatable)", 1, 0},
	{"--implements", "CID", "of the algorithm that it implements", 0, 0},
	PCTL_OPTION_WITH,
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_shader_list[] = {
	{"--tag", "WORD", "only those with this tag", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_sender[] = {
	SENDER_OPTION,
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_link[] = {
	SENDER_OPTION,
	{"--take", NULL, "take the link back", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_job_submit[] = {
	SENDER_OPTION,
	{"--shader", "CID|ALIAS", "the shader, which was uploaded", 0, 0},
	{"--input", "CID|job:ID", "bytes of group 0 binding 0, or the output of a job", 0, 0},
	{"--dispatch", "X[,Y[,Z]]", "workgroups", 0, 0},
	{"--gas-limit", "N", "the most it may cost; what is not used stays with the sender", 0, 0},
	{"--tip", "N", "gas above its price: whose gas is tipped more comes first", 0, 0},
	{"--bind", "G:B=CID|job:ID", "bytes of a further variable", 1, 0},
	{"--uniform", "CID|FILE", "CBOR document for the uniforms", 0, 0},
	{"--output-bytes", "N", "size of the output", 0, 0},
	{"--parent", "JOB", "must complete first; when it fails this one does", 1, 0},
	{"--after", "JOB", "must have ended first, well or not", 1, 0},
	{"--parent-clock", "N", "runs behind everything of this logical clock", 0, 0},
	{"--override", "NAME=VALUE", "value of an override", 1, 0},
	{"--pipeline", "FILE", "submit every shader job of a pipeline, all or none", 0, 0},
	{"--in", "NAME=FILE|CID", "with --pipeline: data of an input", 1, 0},
	{"--set", "NAME=VALUE", "with --pipeline: set a parameter", 1, 0},
	{"--entry", "NAME", "the entry point", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
#define GRAPH_OPTIONS                                                                              \
	{"--height", "N", "as of this block; as it is, the open one too, where it is left out", 0, \
	 0},                                                                                       \
		{"--limit", "N", "at most so many; 100 where it is left out", 0, 0},               \
		{"--next", "HEX", "go on where an answer ended", 0, 0},                            \
	{                                                                                          \
		"--node", "SOCKET", "ask the node there, not this home", 0, 0                      \
	}
const pctl_option pctl_options_graph[] = {GRAPH_OPTIONS, {NULL, NULL, NULL, 0, 0}};
const pctl_option pctl_options_graph_jobs[] = {
	GRAPH_OPTIONS,
	{"--clocks", "A..B", "only of these clocks", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_graph_edges[] = {
	GRAPH_OPTIONS,
	{"--clocks", "A..B", "only of these clocks", 0, 0},
	{"--from", "NAME", "that leave a CID, job:ID, account:NAME or alias:NAME", 0, 0},
	{"--to", "NAME", "that enter one", 0, 0},
	{"--via", "NAME", "made by a shader or drawn by an account", 0, 0},
	{"--job", "job:ID", "that belong to a job", 0, 0},
	{"--block", "N", "that a block made", 0, 0},
	{"--kind", "KIND", "only of this kind", 1, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_job_list[] = {
	{"--sender", "ACCOUNT", "only this account's", 0, 0},
	{"--status", "pending|executing|complete|failed", "only these", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_verdict[] = {
	SENDER_OPTION,
	{"--accused", "ACCOUNT", "who gave wrong results", 0, 0},
	{"--evidence", "CID", "of the report of a dispute", 0, 0},
	{"--job", "JOB", "in place of these, from version 2 of the rules on", 0, 0},
	{"--output", "CID", "with --job: what its output should have been", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
#define PASSPHRASE_OPTION                                                                      \
	{                                                                                      \
		"--passphrase", "FILE",                                                        \
			"its first line is the passphrase; else PIPECTL_PASSPHRASE names the " \
			"file",                                                                \
			0, 0                                                                   \
	}
const pctl_option pctl_options_key_new[] = {
	PASSPHRASE_OPTION,
	{"--no-passphrase", NULL, "the key lies unencrypted", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_key_sign[] = {
	{"--key", "NAME", "of the key that signs", 0, 0},
	PASSPHRASE_OPTION,
	{"--out", "FILE", "write the signed message to a file", 0, 1},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_rank_show[] = {
	{"--top", "N", "how many names; 20 if left out", 0, 0},
	{"--height", "HEIGHT", "the rank after this block; the latest if left out", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_receipt_replay[] = {
	{"--backend", "ID[:DEVICE]", "where to run it; the first that qualifies", 1, 0},
	{"--gas", "FILE", "the gas schedule, which has to be the receipt's", 0, 0},
	PCTL_OPTION_TURNS,
	PCTL_OPTION_SUBGROUP,
	{"--receipt", "FILE", "write the receipt of the replay", 0, 1},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_receipt_dispute[] = {
	{"--backend", "ID[:DEVICE]", "what runs up to the step; the first that qualifies", 1, 0},
	{"--gas", "FILE", "the gas schedule, which has to be the receipts'", 0, 0},
	PCTL_OPTION_TURNS,
	PCTL_OPTION_SUBGROUP,
	{NULL, NULL, NULL, 0, 0},
};

const pctl_option pctl_options_receipt_export[] = {
	{"--out", "FILE", "write it to a file instead of standard output", 0, 1},
	{NULL, NULL, NULL, 0, 0},
};

const pctl_option pctl_options_fmt[] = {
	{"--check", NULL, "change nothing; exit status 1 when a file would change, and its name", 0,
	 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_init[] = {
	{"--name", "NAME", "of the pipeline; the directory's where it is left out", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
