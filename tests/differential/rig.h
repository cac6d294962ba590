/* The devices under test, opened once, and one case run on them: every device against the
 * reference, byte for byte, and the reference's own verdict on races, bounds and gas. */
#ifndef PIPECTL_DIFFERENTIAL_RIG_H
#define PIPECTL_DIFFERENTIAL_RIG_H

#include "evidence/suite/case.h"
#include "runtime/exec/job.h"
#include "runtime/plugin/devices.h"

#define RIG_DEVICES 16u

typedef struct rig_device {
	const pctl_device_entry *entry;
	const char *name;
	pctl_backend_instance *backend;
	pctl_session *session;
	uint32_t build_flags;
	uint32_t every;	    /* takes part in every n-th generated case */
	uint32_t executed;  /* cases */
	uint32_t differed;  /* of them, in some byte */
	uint32_t may_crash; /* its compiler is known to crash: counted, no failure */
	uint32_t crashed;
	uint32_t
		refused; /* with the reason that the device cannot do it (PC5218, PC5202): no failure */
	uint32_t failed; /* no result for another reason */
	uint64_t ns;
} rig_device;

#define RIG_SCHEDULES 4u /* that gas is checked against */
#define RIG_PRICELESS 4u /* rig_priceless */
#define RIG_BOUND 3u	 /* this one bounds every program */

typedef struct rig {
	pctl_registry *registry;
	pctl_kernels *kernels;
	pctl_profiles *profiles;
	pctl_gas_schedule *schedule[RIG_SCHEDULES];
	pctl_devices *lists[RIG_DEVICES];
	rig_device device[RIG_DEVICES]; /* [0] the reference, [1] the reference sanitizing */
	uint32_t n_devices, n_lists, n_cases;
	int plant; /* flip one bit of the last device's first result */
	char *home;
	uint64_t gas_checked;
	uint32_t n_twins; /* that were compared */
	uint32_t n_priceless
		[RIG_PRICELESS]; /* programs without a price under RIG_BOUND, by the code that says so */
	uint32_t large,
		n_unproven; /* large programs may be more than the analysis follows; how many were */
} rig;

enum {
	RIG_SAME = 0,
	RIG_HEADER,  /* the case's own lines are wrong */
	RIG_REFUSED, /* the front end or the analysis takes it not */
	RIG_JUDGED,  /* the analysis calls it racy or order-dependent */
	RIG_ERROR,   /* building or running failed */
	RIG_DIFFERS,
	RIG_FINDING, /* the reference saw a race or a divergent barrier */
	RIG_GAS,     /* more gas used than estimated */
	RIG_TWIN     /* its twin has other bytes, or other proofs */
};

#define RIG_TEXT 600u

/* What went wrong first. */
typedef struct rig_verdict {
	uint32_t kind;
	uint32_t device;
	uint32_t code; /* of a refusal or error */
	char message[RIG_TEXT];
} rig_verdict;

/* selectors: "backend:TEXT", "backend:TEXT/N" or "backend:TEXT/N~" (may_crash); n 0: all there are. 0, with a message on stderr,
 * when one of those named cannot be opened. profiles: a home whose profiles of devices are used; NULL: they are probed. */
int rig_open(rig *r, const char *profiles, const char *const *selectors, uint32_t n);
void rig_close(rig *r);

/* Close what is open and forget what was built; the devices are opened again when a case runs on them. 0: no memory. */
int rig_fresh(rig *r);

/* Run on the devices of the mask (bit i: device i). */
void rig_run(rig *r, const diff_case *c, uint32_t mask, rig_verdict *out);
/* Which devices take part in generated case number i. */
uint32_t rig_mask(const rig *r, uint64_t i);
const char *rig_kind_name(uint32_t kind);

/* 1: a side of a branch has a barrier, so that schedules before consensus-2 need not bound the program. */
int rig_branches_on_barriers(const pctl_program *p);

/* Hold the gas that the reference counted for a case: 1, and words, where something is wrong. Counts of `r` go up. */
int rig_gas(rig *r, const pctl_kernel_module *unit, const diff_case *c, const pctl_counts *counts,
	    char out[RIG_TEXT]);

/* Why a program may have none: it does not fit in 64 bits (PC2602), the bound of a loop is none or needs arithmetic (PC2050, PC2054), it has an operation that the schedule does
 * not know (PC2604). */
extern const uint32_t rig_priceless[RIG_PRICELESS];

#endif
