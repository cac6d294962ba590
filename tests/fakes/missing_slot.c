/* Fault: a mandatory function is missing. */
#define FAULT_SLOTS .list_barrier = NULL
#include "good.h"
