/* The good twin of every fault. */
#include "good.h"
