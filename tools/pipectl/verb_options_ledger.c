/* The options of the verbs of the ledger; see verb_options.h. */
#include "verb_options.h"

const pctl_option pctl_options_ledger_keys[] = {
	{"--threshold", "M", "how many of the keys sign together; 1 if left out", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_ledger_credit[] = {
	SENDER_OPTION,
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_ledger_accuse[] = {
	SENDER_OPTION,
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_ledger_role[] = {
	SENDER_OPTION,
	{"--take", NULL, "take it away", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_ledger_show[] = {
	{"--block", "HEIGHT", "what the jobs and verdicts of a block moved", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_ledger_params[] = {
	{"--height", "HEIGHT", "the present block, whose values are shown; 0 if left out", 0, 0},
	{"--from", "ACCOUNT", "who proposes or votes; it has a bond", 0, 0},
	{"--at", "HEIGHT", "from which block on the proposed values hold", 0, 0},
	{"--backend", "ID[:DEVICE]", "calibrate: measure this one; may be repeated", 1, 0},
	{"--least-ms", "N", "calibrate: how long a measured run takes at least; 200 if left out", 0,
	 0},
	{"--policy", "FILE", "calibrate: the policy in force", 0, 0},
	{"--genesis", NULL, "calibrate: begin this home's chain with it", 0, 0},
	{"--suite", NULL,
	 "calibrate: by a kernel for each row of the schedule of version 2 of the rules", 0, 0},
	{"--gas", "FILE", "calibrate --suite: of this schedule instead", 0, 0},
	{"--spread", "N",
	 "calibrate --suite: what the cheapest and the dearest kernel of a device may differ by; "
	 "20 "
	 "if left out",
	 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_ledger_prove[] = {
	{"--out", "FILE", "write the proof to a file instead of standard output", 0, 1},
	{"--check", "FILE", "check this proof instead of making one", 0, 0},
	{"--trust", "ID", "of a block: its commit, or its state root", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_ledger_snapshot[] = {
	{"--trust", "ID", "restore: of the block, its commit or its state root", 0, 0},
	{"--chunk-bytes", "N",
	 "most bytes of the rows of a chunk that `write` makes; 1_048_576 if left out", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_ledger_prune[] = {
	{"--keep", "N", "how many of the last blocks stay", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
const pctl_option pctl_options_ledger_apply[] = {
	{"--order", "etcd://HOST:PORT,..", "put it into the order of an etcd cluster, not here", 0,
	 0},
	{"--prefix", "KEY/", "of the keys in etcd; of the chain's id where it is left out", 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
