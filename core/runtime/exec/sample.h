/* Which pieces of a device's work the reference does again, where a share of them is wanted: drawn from the system for each run,
 * so that no device knows them before, and asked only once what the device gave is in the host's hands, so that none can tell
 * a piece that is checked from one that is not. */
#ifndef PIPECTL_RUNTIME_EXEC_SAMPLE_H
#define PIPECTL_RUNTIME_EXEC_SAMPLE_H

#include "pipectl/host.h"

typedef struct pctl_sample {
	uint64_t key;
	uint32_t ppm, reserved; /* share in millionths */
} pctl_sample;

/* Errors: PC0003, no random numbers. */
pctl_status pctl_sample_draw(uint32_t ppm, const pctl_call *call, pctl_sample *out);
/* 1: this piece is done again. Pieces are numbered as the caller likes, each once. */
int pctl_sample_has(const pctl_sample *s, uint64_t piece);

#endif
