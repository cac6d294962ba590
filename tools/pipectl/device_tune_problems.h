/* What `device tune` runs on a device: ops of models, a problem a tunable. */
#ifndef PIPECTL_TOOLS_DEVICE_TUNE_PROBLEMS_H
#define PIPECTL_TOOLS_DEVICE_TUNE_PROBLEMS_H

#include "host/device_tune.h"

const pctl_device_problem *pctl_device_problems(uint32_t *n);

#endif
