/* The parameters of the consensus VM: a fixed table (params.def), values by height, and changes that bonded accounts
 * propose, vote on and apply. A value never changes for a height that was reached. */
#ifndef PIPECTL_CHAIN_LEDGER_PARAMS_H
#define PIPECTL_CHAIN_LEDGER_PARAMS_H

#include "chain/ledger/ledger.h"
#include "pipectl/oplib.h"

enum {
#define CHAIN_PARAM(id, name, kind, fallback, least, most, doc) PCTL_PARAM_##id,
#include "chain/ledger/params.def"
#undef CHAIN_PARAM
	PCTL_PARAM_COUNT
};

/* Parameters from here on came after the first chains: neither genesis nor the rows of height 0 say them at their
 * defaults, so that what was written before they were there is read, and written again, to the byte. */
#define PCTL_PARAM_LATER ((uint32_t)PCTL_PARAM_RULES)

/* The newest version of the rules that this pipectl knows. A chain may vote for a later one: then it is not to be followed here. */
#define PCTL_RULES_KNOWN 2u

enum { PCTL_PARAM_KIND_U64 = 1, PCTL_PARAM_KIND_PPM = 2, PCTL_PARAM_KIND_CLASS = 3 };

typedef struct pctl_param {
	const char *name;
	uint32_t kind; /* PCTL_PARAM_KIND_* */
	uint32_t reserved;
	uint64_t fallback, least, most;
	const char *doc;
} pctl_param;

/* All values in force at one height, by PCTL_PARAM_*; a class is PCTL_CLASS_INTEGER or _STRICT. */
typedef struct pctl_params {
	uint64_t values[PCTL_PARAM_COUNT];
} pctl_params;

#define PCTL_PARAM_TEXT_SIZE 24u
#define PCTL_PARAMS_FILE_VERSION 1u

/* ---- the table and values, without a state ------------------------------------------------ */

const pctl_param *pctl_param_at(uint32_t i); /* i < PCTL_PARAM_COUNT */
/* PC5720 with the nearest names. */
pctl_status pctl_param_find(const char *name, const pctl_call *call, uint32_t *out);
/* PC5721 when the text is no value of the parameter or out of its range. */
pctl_status pctl_param_parse(uint32_t i, const char *text, const pctl_call *call, uint64_t *out);
/* The one text of a value, as it stands in the state. Returns buf. */
char *pctl_param_format(uint32_t i, uint64_t value, char buf[PCTL_PARAM_TEXT_SIZE]);

void pctl_params_default(pctl_params *out);
/* PC5721: a chain cannot begin under rules that nobody here knows. */
pctl_status pctl_rules_are_known(uint64_t rules, const pctl_call *call);
/* 1 where version 2 of the rules, or a later one, is in force. */
int pctl_params_has_stakes(const pctl_params *p);
/* 1 when genesis and the rows of height 0 say the parameter with this value. */
int pctl_param_is_said(uint32_t i, uint64_t value);
/* Every range (PC5721) and what must hold between values (PC5722). */
pctl_status pctl_params_check(const pctl_params *p, const pctl_call *call);

/*
 * Read a file of parameters: `params : { version = 1; values : { name = "value"; .. }; }`, every parameter of the
 * table exactly once; those from PCTL_PARAM_LATER on may be left out and have their defaults then. Errors: those of
 * conf, PC5721 (also rules that are not known), PC5722.
 */
pctl_status pctl_params_read(const char *path, const pctl_call *call, pctl_params *out);

/* Gas of one block: throughput * block time * utilisation, rounded down. PC5712 when it does not fit, which
 * pctl_params_check excludes. */
pctl_status pctl_params_block_budget(const pctl_params *p, const pctl_call *call, uint64_t *out);

/* ---- in the state -------------------------------------------------------------------------- */

/* Write the values of height 0. PC5723 when there are values already. */
pctl_status pctl_params_seed(pctl_chain_state *s, const pctl_params *p, const pctl_call *call);
/* 1 in *out when height 0 has values. */
pctl_status pctl_params_is_seeded(pctl_chain_state *s, const pctl_call *call, int *out);
/* The values in force at a height: of each parameter the row of the greatest height up to it. PC5723 before seeding. */
pctl_status pctl_params_in_force(pctl_chain_state *s, uint64_t height, const pctl_call *call,
				 pctl_params *out);
/* Forget what pctl_params_in_force remembers within a transaction: by whoever writes parameters, or undoes a part. */
void pctl_params_forget(pctl_chain_state *s);

/* A change of one parameter. */
typedef struct pctl_param_change {
	uint32_t param;
	uint32_t reserved;
	uint64_t value;
} pctl_param_change;

/*
 * Propose that `n` changes take effect together at height `at`. `now` is the height of the block that carries the
 * message; `sender` has a bond. Ids count from 1.
 *
 * Errors: PC5725 (at <= now, or too large), PC5726 (no bond), PC5724 (nothing, or a parameter twice), PC5721, PC5722, PC5893 (`rules`
 * below what is in force at `at`).
 *
 * From version 2 of the rules on who proposes has stake_floor when the block began and now (PC5900), and votes weigh what bonds were
 * when the block of the proposal began (stake.h); who had less than stake_floor then does not vote.
 */
pctl_status pctl_params_propose(pctl_chain_state *s, uint64_t now, const char *sender, uint64_t at,
				const pctl_param_change *changes, uint32_t n, const pctl_call *call,
				uint64_t *out_id);
/* Vote, once. Errors: PC5724 (no such proposal, or applied), PC5725 (its height has passed), PC5726. */
pctl_status pctl_params_vote(pctl_chain_state *s, uint64_t now, uint64_t id, const char *voter,
			     int yes, const pctl_call *call);
/*
 * Write the values of a proposal for its height. Applied at most once.
 *
 * Errors: PC5724, PC5725 (its height has passed, or another change of the parameter stands there), PC5727 (the quorum
 * in force now), PC5722 (with what else was applied since it was proposed).
 */
pctl_status pctl_params_apply(pctl_chain_state *s, uint64_t now, uint64_t id,
			      const pctl_call *call);

/* A proposal with its votes, weighed by the bonds of now, or of `since`: the block that it was made in, 0 under version 1 of the
 * rules. */
typedef struct pctl_proposal {
	uint64_t id, height, since;
	char sender[PCTL_ACCOUNT_SIZE];
	uint32_t is_applied;
	uint32_t n_changes;
	pctl_param_change changes[PCTL_PARAM_COUNT]; /* in the order of their names */
	uint64_t yes, no, bonds;		     /* bonds: all of the chain */
} pctl_proposal;

pctl_status pctl_params_proposal(pctl_chain_state *s, uint64_t id, const pctl_call *call,
				 pctl_proposal *out);
/* How many there are; their ids are 1 to *out. */
pctl_status pctl_params_proposal_count(pctl_chain_state *s, const pctl_call *call, uint64_t *out);

#endif
