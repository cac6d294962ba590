/* The limits of devices as facts: how large a program may be there (compiler/analysis/extents.h) and still be right. Known ones
 * come from a table, others are searched for and kept beside the device's profile (limits_record.h). */
#ifndef PIPECTL_RUNTIME_DEVICE_LIMITS_H
#define PIPECTL_RUNTIME_DEVICE_LIMITS_H

#include "pipectl/backend.h"
#include "compiler/analysis/extents.h"

/*
 * What the table says of a device with these identity facts, and what no driver is given; *out is zero where there is no
 * limit.
 *
 * Returns 1 when the table knows the device whole, so that nothing needs to be searched for. A synthetic
 * device (roles: PCTL_ROLE_*) may have the facts of one it lies over: the limits hold there too, but it is not known.
 */
int pctl_limits_known(const pctl_key_value *identity, uint32_t n, uint32_t roles,
		      pctl_extent_limits *out);

/*
 * Search an opened device for what it does right: the programs of limit_programs.h up to 2^20 turns, 190 levels (250 through
 * functions), the workgroup memory that it claims, 256 KiB of tables, 16 KiB of array, 65,536 instructions. A program that
 * it refuses or fails at counts as one that it does wrong. *out is zero where nothing went wrong up to there; of tables, where policies
 * allow more, it is what was seen. What takes a device seconds, more on a busy machine, it is not asked for twice of: then the
 * limit is what was seen right, and bit e of *slow is set (not for instructions: builds have a limit of their own). After a
 * minute, more on a busy machine, what was not asked for is the floor, and slow.
 *
 * Errors: those of pctl_probe_device. A device that was lost at it (*lost is 1: a compiler that died or took more than it
 * may) has been seen right up to *out, where the search was, and else is taken to do the floor.
 */
pctl_status pctl_probe_limits(const pctl_backend *table, pctl_device *dev,
			      const pctl_device_caps *caps, const pctl_call *call,
			      pctl_extent_limits *out, uint32_t *slow, int *lost);

/*
 * Is a device right at the limits that the table has for it, and halfway there; where it has none, at what no known driver
 * without a limit fails at. Extent by extent, until a second and a half is over. *holds is 0 when it is not.
 */
pctl_status pctl_probe_known_limits(const pctl_backend *table, pctl_device *dev,
				    const pctl_device_caps *caps, const pctl_call *call,
				    const pctl_extent_limits *known, int *holds);

/* What every device is taken to do right before anybody looked: small enough that none is known to fail. A program
 * within this needs no search. */
extern const pctl_extent_limits pctl_limits_floor;

#endif
