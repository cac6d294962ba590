/* What a computation took of processors, whoever did it: the honest time of a device that is one, on a machine that is busy with
 * other things. */
#ifndef PIPECTL_CHAIN_EXECUTOR_PROCESSOR_H
#define PIPECTL_CHAIN_EXECUTOR_PROCESSOR_H

#include <stdint.h>

/* User and system time of this process and of all that descend from it and live (workers), in ns. Two calls around something that
 * starts and ends no process say what it took. */
uint64_t pctl_processor_ns(void);

#endif
