/* Fault: a library that is no plugin. */
#include "pipectl/abi.h"

PCTL_EXPORT extern const int not_a_plugin;
PCTL_EXPORT const int not_a_plugin = 1;
