/* The suite by which a gas schedule is measured (suite.def), as texts. */
#ifndef PIPECTL_CHAIN_EXECUTOR_SUITE_H
#define PIPECTL_CHAIN_EXECUTOR_SUITE_H

#include <stdint.h>

/* How a kernel is made larger until it takes long enough. */
enum {
	PCTL_SUITE_GROUPS = 0, /* workgroups of one job */
	PCTL_SUITE_JOBS = 1,   /* jobs of one workgroup */
	PCTL_SUITE_OUTPUT = 2, /* bytes of the output of one workgroup */
	PCTL_SUITE_BUILDS =
		3 /* jobs that are each a kernel of their own, by an override `number` */
};

/* row: of the schedule. words: of output, a workgroup. is_odd: nobody's honest work, and so never the cheapest of a device. */
typedef struct pctl_suite_kernel {
	const char *name, *row;
	uint32_t form, invocations, words;
	uint32_t is_float; /* of class strict */
	uint32_t is_odd, reserved;
} pctl_suite_kernel;

/* NULL behind the last one. */
const pctl_suite_kernel *pctl_suite_at(uint32_t i);
uint32_t pctl_suite_count(void);
/* Its text, to be released with free(); NULL without memory. */
char *pctl_suite_text(uint32_t i);

#endif
