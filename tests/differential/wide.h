/* A bound, made of other parts than a price, of what a schedule can ask for a program and of what that can use: wide.c. */
#ifndef PIPECTL_DIFFERENTIAL_WIDE_H
#define PIPECTL_DIFFERENTIAL_WIDE_H

#include "runtime/gas/gas.h"

__extension__ typedef unsigned __int128 rig_wide;

/* Gas of a dispatch, no less than its price under a schedule that counts structured loops, nor than what it uses; what does not fit in 127 bits is the greatest that does. */
rig_wide rig_most(const pctl_gas_schedule *s, const pctl_program *p, const pctl_analysis *a,
		  const uint32_t groups[3]);

#endif
