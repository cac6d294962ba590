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

#endif
