/* The probe: adversarial vectors over every native operation of a device, single and in the company in which drivers
 * go wrong, compared bit for bit with IEEE 754 as the host computes it. Takes seconds. Only what it proves may a
 * lowering use; it remains a sample, which is why exec also checks the first build of each program. */
#ifndef PIPECTL_RUNTIME_DEVICE_PROBE_H
#define PIPECTL_RUNTIME_DEVICE_PROBE_H

#include "runtime/device/profile.h"

/*
 * Probe an opened device. out->identity is filled by the caller (pctl_backend.device_identity); everything else but
 * signer and path is filled here. What the device refuses to build is ABSENT, never an error.
 *
 * Errors: PCTL_E_DEVICE_LOST, PCTL_E_CANCELLED, PCTL_E_NOMEM, and what the backend says to buffers.
 */
pctl_status pctl_probe_device(const pctl_backend *table, pctl_device *dev,
			      const pctl_device_caps *caps, const pctl_call *call,
			      pctl_profile_record *out);

/*
 * Hold `claim`, a profile of this device that somebody made, against the device: the cases of the probe in full, but of the
 * kernels with one operation each only a few, drawn anew each time. *holds 1: no verdict of it, of operations or facts, was
 * better than what was seen here; *out is as pctl_probe_device leaves it, with the claim's verdicts. 0: `why` says which was,
 * and *out is not to be used. What it cannot see: an operation that is wrong only alone in a kernel, but for those drawn.
 *
 * Errors: as of pctl_probe_device.
 */
pctl_status pctl_probe_claim(const pctl_backend *table, pctl_device *dev,
			     const pctl_device_caps *caps, const pctl_profile_record *claim,
			     const pctl_call *call, pctl_profile_record *out, int *holds,
			     char why[256]);

/*
 * Are a device's own products of packed bytes right, in every company they were asked in? Asked of devices that claim
 * PCTL_CAP_DOT4. A device that does not build or run the kernel is not right; one that
 * takes more than twenty seconds over it is lost (PC4331).
 *
 * Errors: PC4331, PCTL_E_DEVICE_LOST, PCTL_E_CANCELLED, PCTL_E_NOMEM, and what the backend says to buffers.
 */
pctl_status pctl_probe_dot4(const pctl_backend *table, pctl_device *dev,
			    const pctl_device_caps *caps, const pctl_call *call, int *exact);

/*
 * Which `kinds` (PCTL_SUBGROUP_*) of a device's own subgroup operations are right for programs of subgroup size `size`: its lanes
 * must be consecutive local indices, in workgroups of one, two and three dimensions. Asked of devices that claim
 * PCTL_CAP_SUBGROUPS. What the device does not build or run is not right.
 *
 * Errors: as of pctl_probe_dot4.
 */
pctl_status pctl_probe_subgroups(const pctl_backend *table, pctl_device *dev,
				 const pctl_device_caps *caps, uint32_t size, uint32_t kinds,
				 const pctl_call *call, uint32_t *exact);

/*
 * Which `products` of matrix tiles (pctl_legal_tile_products) of a device's own are right, with all the loads and stores around
 * them. Asked of devices that claim PCTL_CAP_TILES, and whose votes and movements of subgroups of 32 are right; nothing is kept.
 * What the device does not build or run is not right.
 *
 * Errors: as of pctl_probe_dot4.
 */
pctl_status pctl_probe_tiles(const pctl_backend *table, pctl_device *dev,
			     const pctl_device_caps *caps, uint32_t products, const pctl_call *call,
			     uint32_t *exact);

#endif
