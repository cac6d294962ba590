/* Gas: what a dispatch costs under a schedule. A schedule is a file under conf/gas/ (weights and a
 * complete cost table); prices come from the analysis of a program and the sizes bound, never from
 * a device or an optimiser (semantics section 6). */
#ifndef PIPECTL_RUNTIME_GAS_GAS_H
#define PIPECTL_RUNTIME_GAS_GAS_H

#include "foundation/base/arena.h"
#include "pipectl/backend.h"
#include "compiler/analysis/analyse.h"

typedef struct pctl_gas_schedule pctl_gas_schedule;

/* Read a schedule file; strict: every missing or unknown key is an error. */
pctl_status pctl_gas_schedule_read(const char *path, const pctl_call *call,
				   pctl_gas_schedule **out);
/* The same of a text, which positions call `name`. */
pctl_status pctl_gas_schedule_text(const char *name, const char *text, const pctl_call *call,
				   pctl_gas_schedule **out);
void pctl_gas_schedule_destroy(pctl_gas_schedule *s);
/* "cybergraph-0.1", "structured-3" */
const char *pctl_gas_schedule_name(const pctl_gas_schedule *s);

/* The rows of a schedule: the weights (rows.def), and behind them the operations that each opcode counts as. */
enum {
#define GAS_ROW(id, key, field, since, doc) PCTL_GAS_##id,
#include "runtime/gas/rows.def"
#undef GAS_ROW
	PCTL_GAS_WEIGHTS
};
#define PCTL_GAS_ROWS (PCTL_GAS_WEIGHTS + 512u) /* PCTL_COST_OPS */

/* NULL for a row that the schedule does not have, or that is no number (of loads, stores and barriers). */
const char *pctl_gas_row_name(const pctl_gas_schedule *s, uint32_t row);
/* A weight is in parts of a gas where the schedule has the row `parts`. */
uint64_t pctl_gas_row(const pctl_gas_schedule *s, uint32_t row);
/* For who asks what a row does; 0 where it takes no such number. An opcode that was free costs integer operations then. */
int pctl_gas_row_set(pctl_gas_schedule *s, uint32_t row, uint64_t value);

/* A schedule from numbers in place of a file: every opcode is counted as pctl_cost_table_default counts it, floats
 * included. structured as in the file's `loops`. PC2603 when memory_unit_bytes is 0 or the barriers' weights do not fit
 * together. */
typedef struct pctl_gas_weights {
	uint64_t integer, division, atomic, storage_read, storage_write;
	uint64_t workgroup_barrier, storage_barrier;
	uint64_t local_memory_ops, index_check;
	uint64_t float_op, float_division, elementary;
	uint64_t memory, memory_unit_bytes, dependency_hop, validation;
} pctl_gas_weights;
pctl_status pctl_gas_schedule_make(const char *name, int structured, const pctl_gas_weights *w,
				   const pctl_call *call, pctl_gas_schedule **out);

/* The ticks that a program is priced from, in `arena`, and what each weighs (an invocation's operations times the
 * invocations, and its barrier), before loops multiply. PC2602. */
pctl_status pctl_gas_ticks(const pctl_gas_schedule *s, const pctl_program *p,
			   const pctl_analysis *a, pctl_arena *arena, const pctl_call *call,
			   pctl_tick **ticks, uint64_t **weights, uint32_t *n);

/* What one invocation does on each line of its own source, every instruction once (loops and branches are the ticks'
 * business), and what it weighs: for people. `lines` are n_lines zeroed ones, the first for line 1. */
typedef struct pctl_gas_line {
	uint64_t integer, division, atomic, floats, float_division, elementary;
	uint64_t read, write; /* bytes of storage and uniform memory */
	uint64_t barriers, gas;
} pctl_gas_line;
void pctl_gas_lines(const pctl_gas_schedule *s, const pctl_program *p, pctl_gas_line *lines,
		    uint32_t n_lines);

/* Of a job of a chain. */
enum { PCTL_GAS_OF_JOB = 1, PCTL_GAS_OF_BUILD = 2 };

/* What is priced: one dispatch of a program with the bytes bound to it. hops: parent edges. of: PCTL_GAS_OF_* bits, what is paid
 * for beside the dispatch; instructions: of the program, calls written out, for these. */
typedef struct pctl_gas_query {
	const pctl_program *program;
	const pctl_analysis *analysis;
	uint32_t groups[3];
	uint32_t of;
	uint64_t instructions;
	uint64_t input_bytes;  /* every bound buffer that is not written */
	uint64_t output_bytes; /* every bound buffer that is */
	uint64_t uniform_bytes;
	uint64_t hops;
} pctl_gas_query;

typedef struct pctl_gas_price {
	uint64_t cost_per_workgroup; /* rounded up to a gas, as the others are, each for itself */
	uint64_t dispatch; /* cost_per_workgroup * x * y * z, and what a dispatch costs beside */
	uint64_t memory;
	uint64_t hops;
	uint64_t job; /* 0 under schedules before consensus-2 */
	uint64_t total;
} pctl_gas_price;

/* Every product and sum is checked: PC2602 on overflow. PC2604: the program uses an operation that the
 * schedule is too old to price. */
pctl_status pctl_gas_price_of(const pctl_gas_schedule *s, const pctl_gas_query *q,
			      const pctl_call *call, pctl_gas_price *out);

/* Memory gas of n bytes: the weight for every started unit of bytes (32 in the released schedules).
 */
pctl_status pctl_gas_memory(const pctl_gas_schedule *s, uint64_t n_bytes, const pctl_call *call,
			    uint64_t *out);

/* Gas of n parent edges. */
pctl_status pctl_gas_hops(const pctl_gas_schedule *s, uint64_t n, const pctl_call *call,
			  uint64_t *out);

/* What a message of a chain costs, whatever comes of it. beside: PCTL_GAS_UPLOAD, _LINK, _ALIAS, or PCTL_GAS_WEIGHTS for none.
 * source_bytes, of an upload: what validation costs is in it. Schedules before consensus-2 have no price for it (PC2604). */
typedef struct pctl_gas_message {
	uint64_t n_bytes, source_bytes;
	uint32_t beside, reserved;
} pctl_gas_message;
pctl_status pctl_gas_of_message(const pctl_gas_schedule *s, const pctl_gas_message *m,
				const pctl_call *call, uint64_t *out);

/* What comes to that where it is refused. PC2604 as above. */
pctl_status pctl_gas_refusal(const pctl_gas_schedule *s, const pctl_call *call, uint64_t *out);

/* Gas of so much fuel of a contract: `contract_fuel` for each started 1,000. PC2604 as above. */
pctl_status pctl_gas_fuel(const pctl_gas_schedule *s, uint64_t fuel, const pctl_call *call,
			  uint64_t *out);

/* Gas of n kernels that devices compile, of so many instructions together: what an upload pays beside its message. PC2604 as
 * above. */
pctl_status pctl_gas_build(const pctl_gas_schedule *s, uint64_t n, uint64_t instructions,
			   const pctl_call *call, uint64_t *out);

/* The dispatch part priced with what the reference really counted: never above pctl_gas_price_of of
 * the same dispatches. */
pctl_status pctl_gas_actual(const pctl_gas_schedule *s, const pctl_counts *counts,
			    const pctl_call *call, uint64_t *out);

#endif
