/* Fault: calls itself otherwise than its manifest does. */
#define FAULT_ID "somebody-else"
#include "good.h"
