/* One step, round or job alone on the reference, from given bytes. Private to core/evidence/receipt. */
#ifndef PIPECTL_EVIDENCE_RECEIPT_JUDGE_H
#define PIPECTL_EVIDENCE_RECEIPT_JUDGE_H

#include "evidence/receipt/trace.h"

/* The reference, opened. */
typedef struct pctl_reference_judge {
	pctl_devices *devices;
	pctl_backend_instance *backend;
	pctl_session *session;
	const char *name; /* in the arena given */
} pctl_reference_judge;

/* Errors: PC3235, of opening it. */
pctl_status pctl_reference_judge_open(const pctl_run_options *o, pctl_arena *arena,
				      const pctl_call *call, pctl_reference_judge *out);
void pctl_reference_judge_close(pctl_reference_judge *j);

/* Bytes of one buffer, malloc'ed. dtype 0: not known. */
typedef struct pctl_reference_judge_bytes {
	const char *name;
	uint8_t *data;
	uint64_t n_bytes;
	uint32_t dtype, number; /* of the plan's buffer, or of an output */
} pctl_reference_judge_bytes;
void pctl_reference_judge_bytes_clear(pctl_reference_judge_bytes *list, uint32_t n);

/*
 * Steps first to before end of a plan, from what all of its buffers hold (one entry each, in the plan's order). `list` is
 * the buffers that are wanted, with name, number, dtype and n_bytes set; their data is filled in.
 */
pctl_status pctl_reference_judge_steps(const pctl_reference_judge *j, const pctl_job_plan *plan,
				       uint32_t first, uint32_t end,
				       const pctl_reference_judge_bytes *before,
				       uint64_t timeout_ms, const pctl_call *call,
				       pctl_reference_judge_bytes *list, uint32_t n);

/* A whole job of a graph from its inputs; list: its outputs, as above. */
pctl_status pctl_reference_judge_job(const pctl_reference_judge *j, const pctl_graph_node *node,
				     const pctl_job_plan *plan, pctl_data_source *const *inputs,
				     uint64_t timeout_ms, const pctl_call *call,
				     pctl_reference_judge_bytes *list, uint32_t n);

#endif
