/* Guard zones: bytes beside a bound span that a kernel has no business with. They are written with a pattern before a
 * dispatch, read back after it and compared. */
#ifndef PIPECTL_RUNTIME_EXEC_GUARD_H
#define PIPECTL_RUNTIME_EXEC_GUARD_H

#include <stdint.h>

#include "pipectl/backend.h"

#define PCTL_GUARD_BYTES 256u

/* Bytes of a zone on this device: the span behind it starts aligned. */
static inline uint64_t pctl_guard_side(const pctl_device_caps *caps)
{
	return caps->binding_alignment > PCTL_GUARD_BYTES ? caps->binding_alignment
							  : PCTL_GUARD_BYTES;
}

/* n bytes of the pattern of `key`, from its byte `at` on. */
void pctl_guard_fill(uint8_t *bytes, uint64_t n, uint64_t key, uint64_t at);
/* The first of n bytes that is not the pattern's, n when all are. */
uint64_t pctl_guard_check(const uint8_t *bytes, uint64_t n, uint64_t key, uint64_t at);

#endif
