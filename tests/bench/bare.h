/* The least a program must do to run many small dispatches on a device: peers of bench_chain_executor. */
#ifndef PIPECTL_BENCH_BARE_H
#define PIPECTL_BENCH_BARE_H

#include <stdint.h>

#define BARE_BYTES 256u /* in and out of one dispatch: 64 words, one workgroup */

/*
 * y[i] = x[i] * 2654435761 + i for `jobs` blocks of BARE_BYTES, one dispatch each, without a barrier, `tries` times; in
 * and out have jobs * BARE_BYTES. Device, queue and pipeline are made before, all else is in seconds[try]: buffers,
 * bytes up, recording, submit, wait, bytes down. name: a device whose name stands in it is taken. 0: no such device, or
 * a call failed.
 */
int bare_vulkan(const char *name, const void *in, void *out, uint32_t jobs, uint32_t tries,
		double *seconds);
int bare_opencl(const char *name, const void *in, void *out, uint32_t jobs, uint32_t tries,
		double *seconds);
double bare_now(void);

#endif
