/* Fault: says it was compiled with -ffast-math. */
#define FAULT_FLAGS PCTL_BUILD_FLAG_FAST_MATH
#include "good.h"
