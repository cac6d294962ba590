/* Fault: the table of the interface is shorter than version 1.0. */
#define FAULT_SLOTS .head = {64, PCTL_ABI_MAJOR, 0}
#include "good.h"
