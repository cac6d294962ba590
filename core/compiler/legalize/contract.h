/* Range contracts: what a program may be taken to meet in its buffers, so that a device which is exact but for subnormals
 * goes without guards. A program legalised under them is right only where they hold, which whoever runs it sees to. */
#ifndef PIPECTL_COMPILER_LEGALIZE_CONTRACT_H
#define PIPECTL_COMPILER_LEGALIZE_CONTRACT_H

#include "compiler/legalize/legal.h"

/* The contract on a variable: every f32 in it is zero, or finite and of a magnitude from 2^PCTL_CONTRACT_LEAST to
 * 2^PCTL_CONTRACT_MOST, both within it. Those bounds as the bits of an f32: */
#define PCTL_CONTRACT_LEAST (-40)
#define PCTL_CONTRACT_MOST 40
#define PCTL_CONTRACT_LEAST_BITS 0x2b800000u
#define PCTL_CONTRACT_MOST_BITS 0x53800000u

/*
 * NEEDLESS  nothing in the program is guarded against subnormals on this device alone, or it loads no variable that can
 *           have a contract: there is no second program
 * UNPROVEN  of a guarded operation it is not proved that no subnormal, overflow or NaN is among its operands and results;
 *           there is none either
 * PROVEN    of all of them it is
 */
enum { PCTL_CONTRACT_NEEDLESS = 0, PCTL_CONTRACT_UNPROVEN = 1, PCTL_CONTRACT_PROVEN = 2 };

/* n_operations: that are guarded without contracts. why, where: of UNPROVEN, the first operation that stands against it,
 * and its origin in the program as it was given (line 0: not known). */
typedef struct pctl_contract_proof {
	uint32_t verdict, n_operations;
	pctl_origin where;
	char why[128];
} pctl_contract_proof;

/* Which variables have a contract, is[i] of variable i (NULL: only count them): storage that is only read, and uniforms, in
 * which there is nothing but f32, and which are loaded. How many. */
uint32_t pctl_contract_vars(const pctl_program *p, uint8_t *is);

/*
 * As pctl_legalise, under contracts on all those variables. *out is NULL, and the status PCTL_OK, where the verdict is
 * another than PROVEN.
 */
pctl_status pctl_legalise_contract(const pctl_program *p, const pctl_device_caps *caps,
				   const pctl_legal_options *options, const pctl_call *call,
				   pctl_contract_proof *proof, pctl_program **out);

#endif
