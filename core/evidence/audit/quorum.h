/* Who is believed (quorum.c), and a run that counts when k of n devices agree (quorum_run.c): the devices are audited
 * against each other; what k of them gave, in every output of every job, is run once more where it is to be kept, and kept
 * only if those are the bytes again. */
#ifndef PIPECTL_EVIDENCE_AUDIT_QUORUM_H
#define PIPECTL_EVIDENCE_AUDIT_QUORUM_H

#include "evidence/audit/audit.h"

#define PCTL_QUORUM_SILENT UINT32_MAX

enum {
	PCTL_QUORUM_NONE = 0, /* it said nothing */
	PCTL_QUORUM_AGREES,
	PCTL_QUORUM_MINORITY, /* it is wrong: to be quarantined, where the program has no race */
	PCTL_QUORUM_OPEN      /* bytes differ, and who is right is not known */
};

/*
 * One device and what it said.
 *
 * plugin          SHA-256 of the plugin's file (its id, where it has none)
 * driver          pctl_session_driver; "": none, or none was seen
 * vouched         1: the plugin's file came with this pipectl or is pinned by the policy, and does not go wrong on purpose
 * is_reference    1: of kind PCTL_DEVICE_REFERENCE
 * group           number of what it said; PCTL_QUORUM_SILENT: nothing, or several things
 * verdict         PCTL_QUORUM_*, filled in
 */
typedef struct pctl_quorum_voter {
	const char *plugin, *driver;
	uint32_t vouched, is_reference, group, verdict;
	uint32_t voice; /* filled in: index of the first voter whose voice it is */
} pctl_quorum_voter;

/*
 * group     what is believed; PCTL_QUORUM_SILENT: nothing
 * stands    1: by a quorum; 0: by the reference alone, or nothing
 * disputed  1: the reference speaks against a quorum, and so nothing is believed
 * voices    of a quorum that stands; plugins: different plugins' files among them
 */
typedef struct pctl_quorum_decision {
	uint32_t group, stands, disputed, voices, plugins;
} pctl_quorum_decision;

/*
 * Are two devices that say the same one voice (semantics 7.7)? They share a driver when one has mapped nothing that the
 * other has not. A plugin that is not vouched for is one voice, whatever it maps: how its bytes come about is its own affair.
 */
int pctl_quorum_is_one_voice(const pctl_quorum_voter *a, const pctl_quorum_voter *b);

/*
 * A group stands when k voices speak for it, which come from two plugins at least: a plugin has as many devices as it says.
 * One of the plugins is vouched for: plugins of strangers may be in league. Of several the one of most plugins stands, then
 * of most voices; of two alike neither. Where none stands, what the reference says is believed; against the reference
 * nothing stands. Who says other than what is believed is the minority.
 */
void pctl_quorum_decide(pctl_quorum_voter *voters, uint32_t n, uint32_t k,
			pctl_quorum_decision *out);

/*
 * Run under the quorum of o->policy (k of n, n above 1). Devices: those of o->backends, else the policy's order; the
 * first n that are allowed and qualify, each with a voice of its own. They agree when pctl_quorum_decide says so
 * of what they gave everywhere; the evidence of the result is that quorum. Who is in the minority is quarantined
 * as after an audit, and named (PC5236, a warning). The memo is neither read nor written.
 *
 * scratch: a directory for blobs, removed by the caller. Errors: PC5237 (too few devices), PC5235 (no quorum), those of
 * pctl_audit and pctl_run. Nothing is stored on any error.
 */
pctl_status pctl_quorum_run(const pctl_graph *g, const pctl_run_options *o, const char *scratch,
			    const pctl_call *call, pctl_run_result **out);

#endif
