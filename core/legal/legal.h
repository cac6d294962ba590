/* The legaliser: a program that uses only what a device does exactly, from one that says what is
 * meant. The reference never sees its output. */
#ifndef PIPECTL_LEGAL_LEGAL_H
#define PIPECTL_LEGAL_LEGAL_H

#include "pipectl/backend.h"
#include "pipectl/program.h"

/*
 * A new program for a device with these caps; proofs (PCTL_INST_PROVEN) and origins are kept.
 * 64-bit integers become pairs of 32-bit words where the device has none. Verified. Errors: PC25xx
 * naming the operation and what the device lacks.
 */
pctl_status pctl_legalise(const pctl_program *p, const pctl_device_caps *caps,
			  const pctl_call *call, pctl_program **out);

#endif
