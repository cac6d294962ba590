/* What an op library puts into a sink, recorded in its worker as commands of protocol.def and put into the host's sink here.
 * Between the two lies the boundary: everything that is put was checked against its bounds, and the sink judges what it means. */
#ifndef PIPECTL_RUNTIME_IPC_RECORDING_H
#define PIPECTL_RUNTIME_IPC_RECORDING_H

#include "runtime/ipc/protocol.h"

/* The element types that function ops may have; every one that a port may. */
extern const uint32_t pctl_ops_dtypes[PCTL_OPS_DTYPES];
int pctl_ops_dtype_known(uint32_t dtype);

/* Sinks that record into `out`, until it has PCTL_OPS_PLAN_BYTES; numbers of buffers or tensors go on from `next`. */
typedef struct pctl_ops_recorder {
	pctl_ipc_out out;
	uint32_t next;
} pctl_ops_recorder;
void pctl_ops_record_plan(pctl_ops_recorder *r, pctl_plan_sink *sink);
void pctl_ops_record_law(pctl_ops_recorder *r, pctl_law_sink *sink);
void pctl_ops_record_problem(pctl_ops_recorder *r, pctl_problem_sink *sink);

/*
 * Put n recorded bytes into a sink, in which what is numbered must get the numbers it was recorded with.
 * 1: done, or refused by the sink (*status). 0: it is malformed, some of it may have been put.
 */
int pctl_ops_replay_plan(const uint8_t *record, size_t n, const pctl_plan_sink *sink, uint32_t next,
			 pctl_status *status);
int pctl_ops_replay_law(const uint8_t *record, size_t n, const pctl_law_sink *sink, uint32_t next,
			pctl_status *status);
int pctl_ops_replay_problem(const uint8_t *record, size_t n, const pctl_problem_sink *sink,
			    pctl_status *status);

#endif
