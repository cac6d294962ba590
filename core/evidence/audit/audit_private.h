/* Inside of an audit, shared by its files: who takes part, what was seen, and running things again. */
#ifndef PIPECTL_EVIDENCE_AUDIT_AUDIT_PRIVATE_H
#define PIPECTL_EVIDENCE_AUDIT_AUDIT_PRIVATE_H

#include "evidence/audit/audit.h"
#include "evidence/audit/quorum.h"

#define PCTL_AUDIT_NOBODY UINT32_MAX

/* What the result's owner sees is the first member; the rest serves pctl_audit_quarantine. */
typedef struct pctl_audit_kept {
	pctl_audit_result result;
	pctl_profile_record **profiles; /* one a device, NULL: none in force */
} pctl_audit_kept;

typedef struct pctl_auditing {
	const pctl_graph *graph;
	const pctl_audit_options *o;
	const pctl_call *call;
	pctl_store *scratch;
	pctl_audit_kept *kept;
	pctl_audit_result *r;
	pctl_devices **lists; /* one a device; each owns its entry */
	const pctl_device_entry **entries;
	uint32_t *first_cell;	   /* of a job, by its index in the pipeline */
	uint32_t *cell_job;	   /* the other way */
	uint32_t *winner;	   /* of a cell: device whose run won, or PCTL_AUDIT_NOBODY */
	pctl_quorum_voter *voters; /* one a device: of the cell that was judged last */
	uint32_t order_shows;	   /* 1: the order of atomics does, so right devices may differ */
} pctl_auditing;

/* cids[] and groups[] of a cell are numbered so. */
static inline uint32_t pctl_auditing_slot(const pctl_auditing *a, uint32_t device, uint32_t repeat)
{
	return device * a->r->repeat + repeat;
}
int pctl_auditing_is_absent(const pctl_cid *cid);

/* One run. seed: of the poison; extra: further PCTL_RUN_* flags. */
typedef struct pctl_audit_ask {
	uint32_t device, extra;
	uint32_t repeat, reserved; /* repeat: from 1; 0: not one of the repeats */
	uint64_t seed;
	const pctl_run_limit *limit;
	pctl_status (*observe)(void *ctx, const pctl_run_observation *view, const pctl_call *call);
	void *ctx;
} pctl_audit_ask;
pctl_status pctl_auditing_run(const pctl_auditing *a, const pctl_audit_ask *ask,
			      const pctl_call *call, pctl_run_result **out);
uint64_t pctl_auditing_seed(uint32_t device, uint32_t repeat);

/* The CID of a port's bytes; with keep 1 they are in the scratch store afterwards. In pieces. */
pctl_status pctl_auditing_cid(const pctl_auditing *a, const pctl_run_observation *view,
			      uint32_t port, int keep, const pctl_call *call, pctl_cid *out);

/* Races, in races.c: before the runs, where the policy has them checked (PC5220 when there is one); and when bytes differ,
 * before anyone is blamed. */
pctl_status pctl_auditing_check_races(pctl_auditing *a);
pctl_status pctl_auditing_acquit(pctl_auditing *a);

/* As pctl_quorum_voter.vouched has it. */
uint32_t pctl_audit_is_vouched(const pctl_plugin_info *p);
/* A device as decisions know it, silent so far (vote.c). */
pctl_quorum_voter pctl_audit_voter(const pctl_audit_device *d);

/* Every device and repeat (run.c). Failures of devices are noted in the result. */
pctl_status pctl_auditing_run_all(pctl_auditing *a);
/* Groups, winners, evidence, outcomes (vote.c). */
pctl_status pctl_auditing_vote(pctl_auditing *a);
/* The first difference of every device that has one, with its drifts (diverge.c). */
pctl_status pctl_auditing_diverge(pctl_auditing *a);
/* Find where a divergence begins, and make its reproduction (bisect.c). job: index in the pipeline; right: the device
 * that is believed. */
pctl_status pctl_auditing_bisect(pctl_auditing *a, pctl_audit_divergence *d, uint32_t job,
				 uint32_t right);

/* The first element in which two blobs differ. A difference in length is none here. */
typedef struct pctl_audit_difference {
	uint64_t n_different, element, got, want, ulp;
	uint32_t element_bytes, flipped_bits;
} pctl_audit_difference;
void pctl_audit_compare(const uint8_t *got, const uint8_t *want, uint64_t n, uint32_t dtype,
			pctl_audit_difference *out);
/* Bytes of an element in comparisons; 4 where the type is not known. */
uint32_t pctl_audit_element_bytes(uint32_t dtype);

/* ---- one step alone (comparison.c) -------------------------------------------------------------- */

typedef struct pctl_comparison_binding {
	uint32_t group, binding;
	uint32_t is_written, is_fixed; /* fixed: its length belongs to the program */
	uint64_t least;		       /* bytes it needs at the least */
	uint64_t n_bytes;
	uint8_t *data;
} pctl_comparison_binding;

/* A kernel with the data it starts from. */
typedef struct pctl_comparison_case {
	const pctl_kernel_module *unit;
	pctl_comparison_binding *bindings;
	uint32_t n_bindings;
	uint32_t groups[3];
	uint64_t trace;
} pctl_comparison_case;

typedef struct pctl_comparison {
	const pctl_auditing *a;
	struct pctl_comparison_side {
		uint32_t device;
		pctl_backend_instance *backend;
		pctl_session *session;
	} side[2]; /* the device, and who is believed */
	pctl_kernels *kernels;
	uint32_t runs; /* pairs so far */
} pctl_comparison;

pctl_status pctl_comparison_open(const pctl_auditing *a, uint32_t device, uint32_t right,
				 pctl_comparison *out);
void pctl_comparison_close(pctl_comparison *b);
/* 1 when the two give different bytes. A run that fails tells nothing and is 0. */
int pctl_comparison_differs(pctl_comparison *b, const pctl_comparison_case *c);

/* Make a case smaller while it still differs (shrink.c): workgroups, lengths, then zeros. */
void pctl_comparison_shrink(pctl_comparison *b, pctl_comparison_case *c);

/* Write the reproduction of a step (repro.c): shrink it, write its files, and try it. Fills the rest of *d. sure 0: do
 * nothing when it does not differ. */
pctl_status pctl_auditing_reproduce(const pctl_auditing *a, pctl_audit_divergence *d,
				    uint32_t right, pctl_comparison_case *c, int sure);

#endif
