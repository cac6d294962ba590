/* An installation as somebody uses it: where its files are, what was asked for in place of what is configured, and its parts,
 * each opened when it is first asked for. Every client (the tool, the node, contracts, tests) begins here, so that a
 * policy, a store or a registry of plugins means the same to all of them. One thread at a time. */
#ifndef PIPECTL_HOST_INSTALLATION_H
#define PIPECTL_HOST_INSTALLATION_H

#include "evidence/certify/found.h"
#include "runtime/cas/memo.h"
#include "runtime/cas/sign.h"
#include "runtime/config/hostconf.h"
#include "runtime/exec/run.h"
#include "runtime/graph/library.h"

/*
 * What a caller asks for. Strings and arrays stay the caller's and live as long as the installation.
 *
 * home, config  NULL: found as hostconf.h says
 * policy        a file in place of the configured policy, NULL: that one; schedule likewise, of gas
 * plugin_dirs   searched after those of the configuration
 * certificates  directories in place of the installation's and the home's
 * in_process    backends that allow it run in this process (PC4317 where the policy says no)
 * max_turns     the turn budget of every kernel that needs one, 0: what kernels declare, and the policy
 * subgroup      the size of subgroups of every kernel that declares none, 0: such kernels are refused
 * configured    called once, when the configuration has been read; may be NULL
 * progress      told of transfers in and out of the store
 * probing       called before a device is probed, which takes a while; may be NULL
 */
typedef struct pctl_installation_options {
	const char *home, *config, *policy, *schedule;
	const char *const *plugin_dirs, *const *certificates;
	uint32_t n_plugin_dirs, n_certificates;
	uint32_t in_process, max_turns, subgroup;
	pctl_progress_sink progress;
	void (*configured)(void *ctx, const pctl_host_config *c);
	void (*probing)(void *ctx, const char *device);
	void *ctx;
} pctl_installation_options;

/* Parts that are open; NULL: not asked for yet. schedule_id: CID of the schedule's file, which is what it is known by.
 * log: where workers' words go; NULL, or set by `configured`.
 * call: of the latest run whose policy may ask for a certificate's level. */
typedef struct pctl_installation {
	pctl_installation_options asked;
	pctl_arena *arena; /* paths and the like */
	pctl_host_config *config;
	pctl_policy *policy;
	pctl_registry *registry;
	pctl_op_library *library;
	pctl_kernels *kernels;
	pctl_store *store;
	pctl_memo *memo;
	pctl_gas_schedule *schedule;
	const char *schedule_id;
	pctl_profiles *profiles;
	pctl_found *certificates, *certificates_here; /* all; those of this host alone */
	struct pctl_log *log;
	const pctl_call *call;
} pctl_installation;

/* Nothing is opened yet. Close it also after an error; a zeroed one may be closed, too. */
pctl_status pctl_installation_init(pctl_installation *in, const pctl_installation_options *o,
				   const pctl_call *call);
void pctl_installation_close(pctl_installation *in);

/* Each opens its part, and what that needs, once. */
pctl_status pctl_installation_config(pctl_installation *in, const pctl_call *call);
pctl_status pctl_installation_policy(pctl_installation *in, const pctl_call *call);
pctl_status pctl_installation_registry(pctl_installation *in, const pctl_call *call);
pctl_status pctl_installation_ops(pctl_installation *in,
				  const pctl_call *call); /* library, kernels */
pctl_status pctl_installation_store(pctl_installation *in, const pctl_call *call);
pctl_status pctl_installation_memo(pctl_installation *in, const pctl_call *call);
pctl_status pctl_installation_schedule(pctl_installation *in, const pctl_call *call);
pctl_status pctl_installation_profiles(pctl_installation *in, const pctl_call *call);
pctl_status pctl_installation_certificates(pctl_installation *in, const pctl_call *call);

/* The key of this home, made when there is none. Close with pctl_signer_close. */
pctl_status pctl_installation_signer(pctl_installation *in, const pctl_call *call,
				     pctl_signer **out);

/* May and shall backends run in this process: what was asked for, the configuration, and the policy (PC4317). */
pctl_status pctl_installation_in_process(pctl_installation *in, const pctl_call *call, int *out);

/* All that a run needs of an installation, opened and filled in: registry, ops, store, memo, schedule, policy with its share
 * of verification, profiles, certificates. The caller adds what is asked of this run. */
pctl_status pctl_installation_run_options(pctl_installation *in, const pctl_call *call,
					  pctl_run_options *out);

#endif
