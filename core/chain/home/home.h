/* The chain of an installation: HOME/chain, opened over the store, the kernels and the memo that every other client of
 * the installation uses, and the devices that run its blocks. The tool and the node begin here. */
#ifndef PIPECTL_CHAIN_HOME_HOME_H
#define PIPECTL_CHAIN_HOME_HOME_H

#include "chain/chain.h"
#include "host/installation.h"

/*
 * Open HOME/chain, for a state that has none with the parameters of HOME/chain/params.cfg, else of the configuration's
 * chain/params.cfg (PC5723: there is neither) and the accounts of HOME/chain/genesis.cfg. What is sent over it is signed
 * with the keys of the home (keys.h). executor may be NULL (pctl_chain_options). `in` outlives the chain, which
 * is closed with pctl_chain_close. Errors: of opening the parts of the installation, of pctl_chain_open.
 */
pctl_status pctl_home_chain(pctl_installation *in, const pctl_executor *executor,
			    const pctl_call *call, pctl_chain **out);

/* Take in the accounts of a file of genesis, where there is one and the chain has not begun (pctl_home_chain does). All
 * or nothing. Errors: those of conf, PC5848, PC5844, of the ledger. */
pctl_status pctl_home_genesis(pctl_chain *c, const char *path, const pctl_call *call);

/* The parameters in force for the open block of a chain. */
pctl_status pctl_home_params(pctl_chain *c, const pctl_call *call, pctl_params *out);

/* Where a version of the rules is from. */
enum { PCTL_RULES_ASKED = 1, PCTL_RULES_OF_CHAIN, PCTL_RULES_OF_GENESIS };
/*
 * The parameters in force for the open block without opening the chain; where there is none, those that it would begin
 * with. rules: another version of the rules, as a number (PC5721), or NULL. from may be NULL.
 */
pctl_status pctl_home_rules(pctl_installation *in, const char *rules, const pctl_call *call,
			    pctl_params *out, uint32_t *from);

/*
 * What runs the jobs of blocks: the devices of `run` (pctl_installation_run_options, with what was asked of this run), or
 * by the policy's order where it names none, and in the end the reference (executor.h, to_reference); its share of
 * verification. selector: that device alone, for a comparison,
 * with nothing verified; NULL: none. PC5237: the policy asks that several devices agree, and a block runs on one (asked
 * only without a selector). Closed with pctl_executor_close, after the chain and before the installation; also after an
 * error.
 */
pctl_status pctl_home_executor(const pctl_run_options *run, const char *selector,
			       const pctl_call *call, pctl_executor *out);

/* The CID of a shader: a CID as it is, else what the alias points to (PC5822). */
pctl_status pctl_home_shader(pctl_chain *c, const char *word, const pctl_call *call,
			     char out[PCTL_CID_TEXT_SIZE]);
/* Warn of a shader that its uploader advises against (PC5805), where there is one. */
void pctl_home_shader_warn(pctl_chain *c, const char *cid, const pctl_call *call);

#endif
