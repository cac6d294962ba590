/* The table of verbs. Words here are what users read in help, man pages and completions. */
#include "app.h"
#include "shader_text.h"

const pctl_option pctl_global_options[] = {
	{"--home", "DIR", "where stores, caches and state lie (PIPECTL_HOME)", 0, 0},
	{"--config", "FILE", "the host's configuration", 0, 0},
	{"--plugin-dir", "DIR", "a further directory of plugin manifests", 1, 0},
	{"--policy", "FILE", "the policy in force", 0, 0},
	{"--json", NULL, "one JSON document on standard output", 0, 0},
	{"-q", NULL, "print only the answer", 0, 0},
	{"-v", NULL, "say more on standard error", 0, 0},
	{"--color", "auto|always|never", "colour of diagnostics", 0, 0},
	{"--no-progress", NULL, "no progress line", 0, 0},
	{"--in-process", NULL, "run backends that allow it inside this process", 0, 0},
	{"--debug", NULL, "have backends validate what they make", 0, 0},
	{"--help", NULL, "usage of the verb", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};

#define RUN_OPTIONS                                                                              \
	{"--backend", "ID[:DEVICE]",                                                             \
	 "where to run; the first that qualifies (never reads the memo)", 1, 0},                 \
		{"--verify", "none|all|sample=F", "run jobs again on the reference and compare", \
		 0, 0},                                                                          \
		{"--no-memo", NULL, "neither read nor write remembered results", 0, 0},          \
		{"--gas-limit", "N", "refuse above this much gas", 0, 0},                        \
		{"--gas", "FILE", "the gas schedule", 0, 0},                                     \
		{"--forms", "strict|native",                                                     \
		 "native: the device's own floats, for class approximate only", 0, 0},           \
	{                                                                                        \
		"--sanitize", NULL,                                                              \
			"on the reference: look for races and bad accesses, count gas", 0, 0     \
	}

#define SOURCE_OPTIONS                                                    \
	{"--set", "NAME=VALUE", "set a parameter of the pipeline", 1, 0}, \
	{                                                                 \
		"--in", "NAME=FILE|CID", "data of an input", 1, 0         \
	}

static const pctl_option check_options[] = {
	{"--set", "NAME=VALUE", "set a parameter of the pipeline", 1, 0},
	{"--in", "NAME=FILE|CID", "data of an input: sizes are checked too", 1, 0},
	{"--device", "ID|all", "also check against a device and the policy (repeatable)", 1, 0},
	{"--immutable", "REV", "compare what is frozen with what was released at REV", 0, 0},
	{"--repo", "DIR", "for --immutable: the sources; here if left out", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option run_options[] = {
	SOURCE_OPTIONS,
	{"--out", "NAME=FILE", "write an output to a file", 1, 1},
	RUN_OPTIONS,
	{"--receipt", "FILE", "write a signed receipt: what ran on what, and its trace", 0, 1},
	{"--trace", "job|round|step", "how finely a receipt traces; job where it is left out", 0,
	 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option plan_options[] = {
	SOURCE_OPTIONS,
	RUN_OPTIONS,
	{"--dot", NULL, "the graph for Graphviz", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option shader_check_options[] = {
	{"--entry", "NAME", "the entry point", 0, 0},
	{"--override", "NAME=VALUE", "value of an override", 1, 0},
	{"--dispatch", "X[,Y[,Z]]", "prove for this dispatch", 0, 0},
	{"--class", "integer|strict|approximate", "the most it may need", 0, 0},
	{"--consensus", NULL, "by the rules of the consensus VM, as upload and submit", 0, 0},
	{"--rules", "1|2", "with --consensus: this version of its rules", 0, 0},
	{"--print", NULL, "print the program", 0, 0},
	{"--gas", "FILE", "the gas schedule", 0, 0},
	PCTL_OPTION_WITH,
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option shader_run_options[] = {
	{"--dispatch", "X[,Y[,Z]]", "workgroups", 0, 0},
	{"--bind", "G:B=FILE|zero:BYTES|CID", "data of group G binding B", 1, 0},
	{"--read", "G:B=FILE", "write group G binding B to a file afterwards", 1, 1},
	{"--trace", "JOB[/ROUND[.STEP]]", "tell the backend it runs for this job", 0, 0},
	{"--override", "NAME=VALUE", "value of an override", 1, 0},
	{"--entry", "NAME", "the entry point", 0, 0},
	{"--class", "integer|strict|approximate", "the most it may need", 0, 0},
	PCTL_OPTION_WITH,
	RUN_OPTIONS,
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option op_list_options[] = {
	{"--lock", NULL, "a digest of each op's spec, as certs/ops.lock has them", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option op_run_options[] = {
	{"--in", "PORT=FILE:TYPE", "data of a port with its type, x=a.bin:u32[1024,8]", 1, 0},
	{"--out", "PORT=FILE", "write an output port to a file", 1, 1},
	{"--attr", "NAME=VALUE", "an attribute", 1, 0},
	RUN_OPTIONS,
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option put_options[] = {{"--pin", NULL, "keep it from gc", 0, 0},
					  {NULL, NULL, NULL, 0, 0}};
static const pctl_option get_options[] = {
	{"--out", "FILE", "write to a file instead of standard output", 0, 1},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option ls_options[] = {{"--pins", NULL, "only what is pinned", 0, 0},
					 {NULL, NULL, NULL, 0, 0}};
static const pctl_option gc_options[] = {
	{"--dry-run", NULL, "only say what would go", 0, 0},
	{"--all", NULL, "remembered results do not keep their outputs", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option export_options[] = {
	{"--car", "FILE", "the archive to write", 0, 1},
	{"--provenance", NULL, "also all blobs of the causal history of each CID", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option import_options[] = {{"--car", "FILE", "the archive to read", 0, 0},
					     {NULL, NULL, NULL, 0, 0}};
static const pctl_option provenance_options[] = {
	{"--depth", "N", "follow jobs this far; 64 where it is left out", 0, 0},
	{"--limit", "N", "show at most so many jobs; 1000 where it is left out", 0, 0},
	{"--all", NULL, "every job that made some bytes, not only the first", 0, 0},
	{"--forward", NULL, "what was made from it instead", 0, 0},
	{"--verify", NULL, "run every job of the history again and compare outputs", 0, 0},
	{"--backend", "ID[:DEVICE]", "where to run them; the reference where it is left out", 1, 0},
	{"--dot", NULL, "the graph for Graphviz", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option quarantine_options[] = {
	{"--driver", "NAME", "only this driver of the plugin", 0, 0},
	{"--cause", "TEXT", "why", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option release_options[] = {
	{"--driver", "NAME", "only this driver of the plugin", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option device_options[] = {
	{"--fresh", NULL, "ask every driver again", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};

static const pctl_option probe_options[] = {
	{"--device", "ID|all", "which (repeatable); all where it is left out", 1, 0},
	{"--fresh", NULL, "probe although there is a valid profile", 0, 0},
	{"--forms", NULL, "which form each strict operation takes", 0, 0},
	{"--out", "DIR", "write signed profiles to a directory too", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};

static const pctl_option certify_options[] = {
	{"--backend", "ID[:DEVICE]", "the device under proof; else the one policy prefers", 0, 0},
	{"--level", "L1..L4|L1f|L2f|L1a", "the level wanted; L2 where it is left out", 0, 0},
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
static const pctl_option merge_options[] = {
	{"--out", "FILE", "write the certificate there instead of into the directory", 0, 1},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option replay_options[] = {
	{"--backend", "ID[:DEVICE]",
	 "where to run it again; else the device it is of, or the reference", 0, 0},
	{"--sample", "F", "share of the blocks, 0 to 1; all where it is left out", 0, 0},
	{"--seed", "S", "which blocks a sample takes", 0, 0},
	{"--shapes", "HEX", "seed of the shapes of runs, of a certificate's; drawn if left out", 0,
	 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option confirm_options[] = {
	{"--backend", "ID[:DEVICE]", "only this device; else those the claims are of", 0, 0},
	{"--sample", "F", "share of the blocks besides one of each kind and operation; 0.002", 0,
	 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option certs_options[] = {
	{"--dir", "DIR", "where certificates lie (repeatable); the installation's and the home's",
	 1, 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option audit_options[] = {
	SOURCE_OPTIONS,
	{"--backends", "A,B,...", "devices to compare; `all`: every usable one", 0, 0},
	{"--repeat", "N", "runs a device; 2 where it is left out", 0, 0},
	{"--quorum", "K", "how many must agree; more than half where it is left out", 0, 0},
	{"--report", "DIR", "write a signed report with an HTML page", 0, 0},
	{"--no-quarantine", NULL, "only say who would be quarantined", 0, 0},
	{"--natives", NULL, "class approximate: how far native forms go from strict ones", 0, 0},
	{"--gas-limit", "N", "refuse above this much gas", 0, 0},
	{"--gas", "FILE", "the gas schedule", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};

static const pctl_option receipt_verify_options[] = {
	{"--store", NULL, "also: the store has all that it names", 0, 0},
	{"--signer", "KEY", "also: this key signed it", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};

#define EXECUTOR_OPTIONS                                                                 \
	{"--backend", "ID[:DEVICE]", "where jobs run; the first that can", 1, 0},        \
	{                                                                                \
		"--verify", "none|all|sample=F", "run jobs again on the reference", 0, 0 \
	}

static const pctl_option node_options[] = {
	{"--socket", "PATH", "the Unix socket to listen on", 0, 0},
	{"--clients", "N", "most connections at once; 64 where it is left out", 0, 0},
	EXECUTOR_OPTIONS,
	{NULL, NULL, NULL, 0, 0},
};

static const pctl_option contract_run_options[] = {
	{"--sender", "ACCOUNT", "who calls, and pays for the fuel", 0, 0},
	{"--call", "NAME", "the function to call; `call` where it is left out", 0, 0},
	{"--arg", "FILE", "bytes that it is given", 0, 0},
	{"--fuel", "N", "most fuel that it may use", 0, 0},
	{"--fuel-per-gas", "N", "fuel for one gas; 1000 where it is left out, 0: none is paid", 0,
	 0},
	{"--paid", "ACCOUNT", "who gets that gas; `executor` where it is left out", 0, 0},
	{"--pay", "GAS", "gas that the caller gives to the contract first", 0, 0},
	{"--then", "NAME", "end the block, then call this with the ids of the jobs", 0, 0},
	{"--runtime", "FILE", "Wasmtime's library (PIPECTL_WASMTIME)", 0, 0},
	EXECUTOR_OPTIONS,
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option contract_account_options[] = {
	{"--runtime", "FILE", "Wasmtime's library, where FILE is a module's text", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};

static const pctl_option block_end_options[] = {
	{"--height", "HEIGHT", "refuse unless this is the open block", 0, 0},
	{"--executor", "ACCOUNT", "who is paid for the jobs; `executor` where it is left out", 0,
	 0},
	{"--backend", "ID[:DEVICE]", "where jobs run; the first that can", 1, 0},
	{"--verify", "none|all|sample=F", "run jobs again on the reference", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option block_list_options[] = {
	{"--last", "N", "only the last N", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option block_verify_options[] = {
	{"--backend", "ID[:DEVICE]", "where jobs run again; the first that can", 1, 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option block_replay_options[] = {
	{"--from", "GITDIR", "the history: blocks.git of another home", 0, 0},
	{"--fetch", "DIR", "a store to take from what this home's lacks", 0, 0},
	{"--backend", "ID[:DEVICE]", "where jobs run again; the first that can", 1, 0},
	{"--recorded", NULL, "take the recorded results, run nothing", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};

#define SENDER_OPTION                                                             \
	{                                                                         \
		"--sender", "ACCOUNT", "the account that sends the message", 0, 0 \
	}

static const pctl_option shader_upload_options[] = {
	SENDER_OPTION,
	{"--description", "TEXT", "what it does, in a line", 0, 0},
	{"--tag", "WORD", "to find it by (repeatable)", 1, 0},
	{"--implements", "CID", "of the algorithm that it implements", 0, 0},
	PCTL_OPTION_WITH,
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option shader_list_options[] = {
	{"--tag", "WORD", "only those with this tag", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option sender_options[] = {
	SENDER_OPTION,
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option job_submit_options[] = {
	SENDER_OPTION,
	{"--shader", "CID|ALIAS", "the shader, which was uploaded", 0, 0},
	{"--input", "CID|job:ID", "bytes of group 0 binding 0, or the output of a job", 0, 0},
	{"--dispatch", "X[,Y[,Z]]", "workgroups", 0, 0},
	{"--gas-limit", "N", "the most it may cost; what is not used stays with the sender", 0, 0},
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
static const pctl_option job_list_options[] = {
	{"--sender", "ACCOUNT", "only this account's", 0, 0},
	{"--status", "pending|executing|complete|failed", "only these", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option verdict_options[] = {
	SENDER_OPTION,
	{"--accused", "ACCOUNT", "who gave wrong results", 0, 0},
	{"--evidence", "CID", "of the report of a dispute", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option rank_show_options[] = {
	{"--top", "N", "how many names; 20 if left out", 0, 0},
	{"--height", "HEIGHT", "the rank after this block; the latest if left out", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option receipt_replay_options[] = {
	{"--backend", "ID[:DEVICE]", "where to run it; the first that qualifies", 1, 0},
	{"--gas", "FILE", "the gas schedule, which has to be the receipt's", 0, 0},
	{"--receipt", "FILE", "write the receipt of the replay", 0, 1},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option receipt_dispute_options[] = {
	{"--backend", "ID[:DEVICE]", "what runs up to the step; the first that qualifies", 1, 0},
	{"--gas", "FILE", "the gas schedule, which has to be the receipts'", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};

static const pctl_option receipt_export_options[] = {
	{"--out", "FILE", "write it to a file instead of standard output", 0, 1},
	{NULL, NULL, NULL, 0, 0},
};

static const pctl_option ledger_show_options[] = {
	{"--block", "HEIGHT", "what the jobs and verdicts of a block moved", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
static const pctl_option ledger_params_options[] = {
	{"--height", "HEIGHT", "the present block, whose values are shown; 0 if left out", 0, 0},
	{"--from", "ACCOUNT", "who proposes or votes; it has a bond", 0, 0},
	{"--at", "HEIGHT", "from which block on the proposed values hold", 0, 0},
	{"--backend", "ID[:DEVICE]", "calibrate: measure this one; may be repeated", 1, 0},
	{"--least-ms", "N", "calibrate: how long a measured run takes at least; 200 if left out", 0,
	 0},
	{"--policy", "FILE", "calibrate: the policy in force", 0, 0},
	{"--genesis", NULL, "calibrate: begin this home's chain with it", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};

static const pctl_verb verbs[] = {
	{"check", NULL, "FILE...", "every check of a pipeline, all errors at once",
	 "Without --device only what needs no device is checked. With --in sizes are known and "
	 "shapes, gas and limits are "
	 "checked as well. With --immutable gas schedules, numbers of codes, instructions and "
	 "interfaces, and the specs of ops in certs/ops.lock are compared with those of a "
	 "revision: "
	 "what was released may not change.",
	 check_options, 0, UINT32_MAX, pctl_verb_check},
	{"run", NULL, "FILE", "check a pipeline, then run it",
	 "Prints the CID of every output. A named backend never reads remembered results. A FILE "
	 "written as REPO@REV:PATH is read from that commit with its includes, shaders and data, "
	 "not "
	 "from the work tree; the same holds for check, plan and audit.",
	 run_options, 1, 1, pctl_verb_run},
	{"sign", NULL, "FILE", "sign a pipeline with its includes and shaders",
	 "Writes FILE.sig with this home's key and prints the key. A policy with signed = "
	 "\"required\" "
	 "runs only pipelines signed by one of its signers.",
	 NULL, 1, 1, pctl_verb_sign},
	{"plan", NULL, "FILE", "what would run where, memory and gas", NULL, plan_options, 1, 1,
	 pctl_verb_plan},
	{"shader", "check", "FILE...", "check WGSL shaders and show their analysis", NULL,
	 shader_check_options, 1, UINT32_MAX, pctl_verb_shader_check},
	{"shader", "run", "FILE", "run a WGSL shader on buffers", NULL, shader_run_options, 1, 1,
	 pctl_verb_shader_run},
	{"shader", "upload", "FILE", "put a shader into the registry of the chain",
	 "It obeys the rules of the consensus VM; the answer is its CID. A shader that is there "
	 "already is answered the same way, and nothing changes.",
	 shader_upload_options, 1, 1, pctl_verb_shader_upload},
	{"shader", "list", "", "shaders of the registry and aliases", NULL, shader_list_options, 0,
	 0, pctl_verb_shader_list},
	{"shader", "show", "CID|ALIAS", "the profile of a shader, and what its lines cost", NULL,
	 NULL, 1, 1, pctl_verb_shader_show},
	{"shader", "alias", "NAME CID", "let a name point to a shader",
	 "The account that made a name first moves it; every move is recorded.", sender_options, 2,
	 2, pctl_verb_shader_alias},
	{"shader", "deprecate", "CID", "let no new jobs use a shader", NULL, sender_options, 1, 1,
	 pctl_verb_shader_deprecate},
	{"job", "submit", "", "have the chain run a shader",
	 "With --pipeline FILE the shader jobs of a pipeline; --gas-limit is then that of each.",
	 job_submit_options, 0, 0, pctl_verb_job_submit},
	{"job", "show", "ID", "where a job stands and what it gave", NULL, NULL, 1, 1,
	 pctl_verb_job_show},
	{"job", "list", "", "jobs, newest first", NULL, job_list_options, 0, 0, pctl_verb_job_list},
	{"job", "cancel", "ID", "take a waiting job back", NULL, sender_options, 1, 1,
	 pctl_verb_job_cancel},
	{"link", NULL, "SOURCE TARGET", "draw a link from one CID to another", NULL, sender_options,
	 2, 2, pctl_verb_link},
	{"op", "list", "", "all ops of the loaded op libraries", NULL, op_list_options, 0, 0,
	 pctl_verb_op_list},
	{"op", "show", "OP", "ports, attributes and definition of an op", NULL, NULL, 1, 1,
	 pctl_verb_op_show},
	{"op", "run", "OP", "run one op on files", NULL, op_run_options, 1, 1, pctl_verb_op_run},
	{"cas", "put", "FILE...", "store files, print their CIDs", NULL, put_options, 1, UINT32_MAX,
	 pctl_verb_cas_put},
	{"cas", "get", "CID", "write a blob, verified", NULL, get_options, 1, 1, pctl_verb_cas_get},
	{"cas", "ls", "", "all blobs with their sizes", NULL, ls_options, 0, 0, pctl_verb_cas_ls},
	{"cas", "pin", "CID...", "keep blobs from gc", NULL, NULL, 1, UINT32_MAX,
	 pctl_verb_cas_pin},
	{"cas", "unpin", "CID...", "let gc have them again", NULL, NULL, 1, UINT32_MAX,
	 pctl_verb_cas_unpin},
	{"cas", "gc", "", "remove what nothing names", NULL, gc_options, 0, 0, pctl_verb_cas_gc},
	{"cas", "verify", "", "rehash every blob", NULL, NULL, 0, 0, pctl_verb_cas_verify},
	{"cas", "export", "CID...", "write blobs to a CAR file, which other tools of IPFS read",
	 "The same CIDs give the same bytes. The CIDs given are the archive's roots.",
	 export_options, 1, UINT32_MAX, pctl_verb_cas_export},
	{"cas", "import", "", "read a CAR file into the store, print its roots",
	 "The whole file is verified first; of a file that is not right nothing is taken in.",
	 import_options, 0, 0, pctl_verb_cas_import},
	{"plugin", "list", "", "all plugins found and whether they may be used", NULL, NULL, 0, 0,
	 pctl_verb_plugin_list},
	{"plugin", "show", "ID", "everything known of a plugin", NULL, NULL, 1, 1,
	 pctl_verb_plugin_show},
	{"plugin", "quarantine", "ID", "take a plugin out of use", NULL, quarantine_options, 1, 1,
	 pctl_verb_plugin_quarantine},
	{"plugin", "release", "ID", "let a quarantined plugin be used again", NULL, release_options,
	 1, 1, pctl_verb_plugin_release},
	{"device", "list", "", "all devices of all backends", NULL, device_options, 0, 0,
	 pctl_verb_device_list},
	{"device", "probe", "", "prove which float operations of a device are exact",
	 "Compares every native operation with IEEE 754, bit for bit, and keeps the signed result "
	 "as the device's "
	 "profile. Without --fresh a valid profile is shown as it is. Strict programs use nothing "
	 "else.",
	 probe_options, 0, 0, pctl_verb_device_probe},
	{"certify", NULL, "", "prove what a device does and sign a certificate",
	 "Runs units of proof block by block: parity with references, laws exhaustive on small "
	 "domains and witnessed on "
	 "large ones, engine invariants, compositions. Constant memory; --shard and --resume cut a "
	 "long proof, "
	 "`certify merge` joins it. A level is granted only when all it needs ran and nothing was "
	 "skipped.",
	 certify_options, 0, 0, pctl_verb_certify},
	{"certify", "merge", "DIR", "join the journals of all shards into one certificate", NULL,
	 merge_options, 1, 1, pctl_verb_certify_merge},
	{"certify", "verify", "FILE...",
	 "check signatures and everything a certificate says of itself", NULL, NULL, 1, UINT32_MAX,
	 pctl_verb_certify_verify},
	{"certify", "replay", "FILE", "run blocks of a certificate again, on any device", NULL,
	 replay_options, 1, 1, pctl_verb_certify_replay},
	{"certify", "confirm", "[FILE...]",
	 "try certificates of other files here, and sign what holds",
	 "A certificate that came with the installation, or was made before a file changed, is a "
	 "claim. A sample of its blocks, drawn anew every time, is run again on its device with "
	 "the "
	 "files that are here; when no digest differs a certificate of these files is signed. "
	 "Without FILE: all claims of devices that are here.",
	 confirm_options, 0, UINT32_MAX, pctl_verb_certify_confirm},
	{"certs", "list", "", "operations, devices and the levels they hold", NULL, certs_options,
	 0, 0, pctl_verb_certs_list},
	{"certs", "show", "FILE|DEVICE", "all a certificate says", NULL, certs_options, 1, 1,
	 pctl_verb_certs_show},
	{"audit", NULL, "FILE", "run a pipeline on several devices and compare to the bit",
	 "Every output of every job is compared over devices and repeats. A difference is bisected "
	 "to job, round, kernel, "
	 "buffer, element and bits, a minimal reproduction is written, and who is outvoted is "
	 "quarantined.",
	 audit_options, 1, 1, pctl_verb_audit},
	{"audit", "verify", "DIR", "check the seal of a report and every file in it", NULL, NULL, 1,
	 1, pctl_verb_audit_verify},
	{"receipt", "show", "FILE", "what a receipt says", NULL, NULL, 1, 1,
	 pctl_verb_receipt_show},
	{"receipt", "verify", "FILE...",
	 "check the signature of a receipt and that its trace is the one signed",
	 "Needs no device. Receipts of runs, of blocks and of single jobs of a block are known.",
	 receipt_verify_options, 1, UINT32_MAX, pctl_verb_receipt_verify},
	{"receipt", "replay", "FILE", "run a receipt's pipeline again and compare its trace",
	 "Texts and inputs come from the store, by CID. Every line of the trace is compared.",
	 receipt_replay_options, 1, 1, pctl_verb_receipt_replay},
	{"receipt", "dispute", "A B", "which of two receipts is wrong, and where",
	 "The first step in which they differ is run on the reference, from inputs that both "
	 "agree on; the job, round, step, buffer, element and bits are named. The signed report "
	 "goes into the store: `ledger verdict --evidence CID`.",
	 receipt_dispute_options, 2, 2, pctl_verb_receipt_dispute},
	{"receipt", "export", "JOB", "the receipt of one job of a block that was ended here",
	 "Its statement, the path to the block's root, and this node's signature.",
	 receipt_export_options, 1, 1, pctl_verb_receipt_export},
	{"block", "end", "", "run the jobs of the open block and make it final",
	 "Takes jobs in the order of the queue while their gas fits the block's budget and runs "
	 "them "
	 "by their clocks. Whatever goes wrong, nothing has changed and it can be done again.",
	 block_end_options, 0, 0, pctl_verb_block_end},
	{"block", "list", "", "finished blocks", NULL, block_list_options, 0, 0,
	 pctl_verb_block_list},
	{"block", "show", "[HEIGHT]", "a block with its jobs; the last one if left out", NULL, NULL,
	 0, 1, pctl_verb_block_show},
	{"block", "verify", "HEIGHT[..HEIGHT]",
	 "run blocks again and compare every output, file and commit",
	 "The state before them is rebuilt from the history. With the last block the rows of this "
	 "node are compared too. A difference names block, job and byte, and with which side the "
	 "reference is.",
	 block_verify_options, 1, 1, pctl_verb_block_verify},
	{"block", "replay", "", "rebuild a chain in this home from a history",
	 "Takes the recorded messages in again, runs the jobs or, with --recorded, takes their "
	 "recorded results, and ends with the same commit, root and state, or says where not.",
	 block_replay_options, 0, 0, pctl_verb_block_replay},
	{"rank", "show", "", "the rank of the graph after the last epoch, and how it was made",
	 "The parameter epoch_blocks says how often the graph is ranked. -v lists the jobs, the "
	 "last first.",
	 rank_show_options, 0, 0, pctl_verb_rank_show},
	{"ledger", "show", "[ACCOUNT]", "supply, treasury and accounts, or all of one account",
	 "Also checks that the supply is what balances, reserved gas, bonds, treasury and burned "
	 "gas add to.",
	 ledger_show_options, 0, 1, pctl_verb_ledger_show},
	{"ledger", "credit", "ACCOUNT AMOUNT", "new supply for an account", NULL, NULL, 2, 2,
	 pctl_verb_ledger_credit},
	{"ledger", "transfer", "FROM TO AMOUNT", "move from a balance to another", NULL, NULL, 3, 3,
	 pctl_verb_ledger_transfer},
	{"ledger", "bond", "ACCOUNT AMOUNT", "put a part of the balance up as bond", NULL, NULL, 2,
	 2, pctl_verb_ledger_bond},
	{"ledger", "unbond", "ACCOUNT AMOUNT", "take a part of the bond back", NULL, NULL, 2, 2,
	 pctl_verb_ledger_unbond},
	{"ledger", "verdict", "", "vote that an account gave wrong results",
	 "Of bonded accounts. With the vote that brings the voters' bonds to the quorum, a part of "
	 "the bond of the accused is taken.",
	 verdict_options, 0, 0, pctl_verb_ledger_verdict},
	{"ledger", "params", "list|show|propose|vote|apply|calibrate [ARGUMENT...]",
	 "the parameters of the consensus VM and changes of them",
	 "`list`; `show [NAME|PROPOSAL]`; `propose NAME=VALUE... --from ACCOUNT --at HEIGHT`; "
	 "`vote PROPOSAL yes|no --from ACCOUNT`; `apply PROPOSAL`. A change is applied when enough "
	 "bonds voted for it, and holds from its height on. `calibrate` measures the gas a "
	 "millisecond of each backend that the policy admits, or that is named, and says what "
	 "throughput and block budget would follow; it changes nothing.",
	 ledger_params_options, 1, UINT32_MAX, pctl_verb_ledger_params},
	{"node", NULL, "", "serve the chain of this home over a socket",
	 "Frames of a length and a message of protocol buffers; core/chain/PROTOCOL.md is the "
	 "whole "
	 "protocol. Ends in good order on SIGINT and SIGTERM.",
	 node_options, 0, 0, pctl_verb_node},
	{"contract", "run", "FILE",
	 "call a contract: all that it submits is taken in, or nothing is",
	 "FILE is a WebAssembly module, its text, or a script of calls. Jobs are sent by the "
	 "contract's own account, `contract account FILE`; core/chain/contracts/contract.md is the "
	 "interface.",
	 contract_run_options, 1, 1, pctl_verb_contract_run},
	{"contract", "account", "FILE", "the account of a contract: its CID", NULL,
	 contract_account_options, 1, 1, pctl_verb_contract_account},
	{"provenance", NULL, "CID|job:ID",
	 "which jobs made something, from what, back to what was given",
	 "One line a job or input, what made it to the right of the arrow. With --verify every job "
	 "is "
	 "run again from the stored inputs, and its row is held against the graph.",
	 provenance_options, 1, 1, pctl_verb_provenance},
	{"doctor", NULL, "", "paths searched, values in force, what is usable and why not", NULL,
	 NULL, 0, 0, pctl_verb_doctor},
	{"explain", NULL, "CODE", "what a diagnostic code means", NULL, NULL, 0, 1,
	 pctl_verb_explain},
	{"version", NULL, "", "version of the program", NULL, NULL, 0, 0, pctl_verb_version},
	{"help", NULL, "[VERB [SUB-VERB]]", "this text, or the usage of a verb", NULL, NULL, 0, 2,
	 pctl_verb_help},
	{"completion", NULL, "bash|zsh|fish", "a completion script", NULL, NULL, 1, 1,
	 pctl_verb_completion},
	{"man", NULL, "[VERB]", "the manual page in roff", NULL, NULL, 0, 1, pctl_verb_man},
};

const pctl_verb *pctl_verbs(uint32_t *n_out)
{
	*n_out = (uint32_t)(sizeof(verbs) / sizeof(verbs[0]));
	return verbs;
}
