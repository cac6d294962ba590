/* A machine of the GPU VM that stays on a device (SEMANTICS.md section 9): its memory is allotted when it boots, its programs are built
 * and recorded once, and each execution is one submit and one wait. One thread at a time. */
#ifndef PIPECTL_VM_MACHINE_H
#define PIPECTL_VM_MACHINE_H

#include "runtime/cas/cid.h"
#include "runtime/exec/kept.h"
#include "runtime/exec/open.h"
#include "runtime/graph/vm.h"

typedef struct pctl_machine pctl_machine;
typedef struct pctl_machine_program pctl_machine_program;

/*
 * What a machine is booted with. desc: its shape; steps, parts of the heap and `turns` count for nothing here. All but desc outlive it.
 *
 * selector     of the device
 * is_verified  1: a second machine on the reference does the same, and what is read is compared (PC5208)
 * budget_bytes of device memory, for advice; 0: what the device says it has
 */
typedef struct pctl_machine_options {
	const pctl_vm_desc *desc;
	const pctl_open_options *open;
	const pctl_op_source *ops;
	pctl_kernels *kernels;
	const char *selector;
	uint32_t is_verified;
	uint64_t budget_bytes;
} pctl_machine_options;

/* Errors: PC4401, PC4402, those of opening a device; PC4314 and PC5204 for memory. */
pctl_status pctl_machine_boot(const pctl_machine_options *o, const pctl_call *call,
			      pctl_machine **out);
void pctl_machine_shutdown(pctl_machine *m);
const pctl_vm_desc *pctl_machine_desc(const pctl_machine *m);
/* As the session names its device. */
const char *pctl_machine_device(const pctl_machine *m);

/* ---- memory --------------------------------------------------------------------------------- */

/* The next part of the heap: n_bytes are uploaded and named. *at: its logical offset. PC4403. */
pctl_status pctl_machine_allot(pctl_machine *m, const void *data, uint64_t n_bytes,
			       const pctl_call *call, uint64_t *at, pctl_cid *cid);

enum {
	PCTL_MACHINE_REGISTER = 1, /* number: the register */
	PCTL_MACHINE_METRICS,
	PCTL_MACHINE_CONTROL,
	PCTL_MACHINE_GLOBALS /* instance counts for nothing */
};
typedef struct pctl_machine_range {
	uint32_t space, instance, number, reserved;
	uint64_t offset, n_bytes; /* multiples of 4 */
} pctl_machine_range;

/* Between executions. PC4405: it is no range of the machine; PC4407: a control word's precision_mode; PC4408: its active, where no
 * program is skipping. Metrics are only read. */
pctl_status pctl_machine_write(pctl_machine *m, const pctl_machine_range *r, const void *data,
			       const pctl_call *call);
pctl_status pctl_machine_read(pctl_machine *m, const pctl_machine_range *r, void *data,
			      const pctl_call *call);
/* The name of a range's bytes with ticks, memory_used and throughput words as 0; of register 30 and 31 the message alone. */
pctl_status pctl_machine_name(pctl_machine *m, const pctl_machine_range *r, const pctl_call *call,
			      pctl_cid *out);

/* ---- programs ------------------------------------------------------------------------------- */

/*
 * A program of the machine: acts, skipping, advance, epsilon and steps of `d` count, whose tables outlive the call alone; windows are of
 * what is in the heap now. has_clock: the device's time is taken before each instance, for advice.
 *
 * Errors: PC4404 to PC4408, those of kernels and op libraries, of the policy, and of what qualifies a device.
 */
pctl_status pctl_machine_program_make(pctl_machine *m, const pctl_vm_desc *d, int has_clock,
				      const pctl_call *call, pctl_machine_program **out);
void pctl_machine_program_drop(pctl_machine_program *p);
/* 1: `active` = 0 skips instances of it. */
int pctl_machine_is_skipping(const pctl_machine_program *p);

/* `times` executions in one submit; of a program whose ops assert one (PC4409). What they assert is looked at behind it (PC5205, the
 * machine's memory then is as the program left it): one read, and none of a program without. */
pctl_status pctl_machine_execute(pctl_machine_program *p, uint32_t times, uint64_t timeout_ms,
				 const pctl_call *call);
const pctl_kept_plan_stats *pctl_machine_stats(const pctl_machine_program *p);

/* ---- advice --------------------------------------------------------------------------------- */

/*
 * Loops 1 and 3, which only the host hears of. used, budget: bytes of device memory. pressed: above 90 % of the budget. evict: where it is
 * pressed, the instance whose control word has the highest eviction_priority, of equals the oldest; prefetch: where it is not, the instance
 * that runs next. UINT32_MAX: none. slow: the instance that took longest, where it took more than twice the
 * middle one. ticks: nanoseconds of each instance in the last execution, n_ticks of them; 0: there was no clock.
 */
typedef struct pctl_machine_advice {
	uint64_t used_bytes, budget_bytes;
	uint32_t pressed, evict, prefetch, slow;
	uint32_t n_ticks, reserved;
	uint64_t ticks[PCTL_KEPT_MARKS];
} pctl_machine_advice;
pctl_status pctl_machine_advise(pctl_machine *m, const pctl_machine_program *p,
				const pctl_call *call, pctl_machine_advice *out);

#endif
