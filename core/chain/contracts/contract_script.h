/* A caller of the contract interface without WebAssembly: a text of calls, one a line. For trying the interface out, and
 * for a machine that has no runtime. */
#ifndef PIPECTL_CHAIN_CONTRACTS_CONTRACT_SCRIPT_H
#define PIPECTL_CHAIN_CONTRACTS_CONTRACT_SCRIPT_H

#include "chain/contracts/contract.h"

#define PCTL_SCRIPT_MARK "#pipectl-calls" /* the first line of a script */

/*
 * Run a script; lines that are empty or begin with '#' say nothing.
 *
 *   submit NAME HEX       gpu_submit of these bytes, which must be taken; NAME is the job from here on
 *   refused CODE HEX      gpu_submit that must be refused with this code, as in 5713
 *   result JOB STATUS     gpu_result, which must be pending, complete or failed; what it wrote is logged
 *   get JOB|CID           cas_get of a complete job's output, or of a CID; size and first 64 bytes are logged, as hex
 *   log TEXT
 *   return N              end here; another value than 0 refuses the call
 *   trap                  end here without any effect
 *
 * JOB is a NAME, 64 hex digits, or $argument: the text of the argument. Another outcome than the one that must be is a
 * trap. Fuel is what the host functions cost. PC6121 (no such line, with its number), PC6122, PC6123, PC6124, the host's
 * trouble. *used is set in any case.
 */
pctl_status pctl_contract_script(const char *text, size_t n, const char *argument,
				 pctl_contract_host *host, uint64_t fuel, const pctl_call *call,
				 uint64_t *used);

#endif
