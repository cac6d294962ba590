/* The limits of devices as facts: how large a program may be there (program/extents.h) and still be right. Known ones
 * come from a table, others are searched for (probe.h) and kept with the device's profile. */
#ifndef PIPECTL_POLICY_LIMITS_H
#define PIPECTL_POLICY_LIMITS_H

#include "pipectl/backend.h"
#include "program/extents.h"

/*
 * What the table says of a device with these identity facts, and what no driver is given; *out is zero where there is no
 * limit.
 *
 * Returns 1 when the table knows the device whole, so that nothing needs to be searched for. A mock device has the facts
 * of what it wraps, and its own fact `mock`: the limits hold there too, but it is not known.
 */
int pctl_limits_known(const pctl_key_value *identity, uint32_t n, pctl_extent_limits *out);

/*
 * Search an opened device for what it does right: turns of loops up to 2^20 and nesting up to 192 levels, in a second or
 * two. *out is zero where nothing went wrong up to there. What a slow device was not asked for it is not taken to do.
 *
 * Errors: those of pctl_probe_device.
 */
pctl_status pctl_probe_limits(const pctl_backend *table, pctl_device *dev,
			      const pctl_device_caps *caps, const pctl_call *call,
			      pctl_extent_limits *out);

/* What every device is taken to do right before anybody looked: small enough that none is known to fail. A program
 * within this needs no search. */
extern const pctl_extent_limits pctl_limits_floor;

#endif
