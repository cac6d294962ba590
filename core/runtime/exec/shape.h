/* In what shape work comes to a device: buffers of exactly its bytes at offset 0, or larger ones in which every span lies
 * between guard zones. Proofs and ordinary jobs draw their shapes in the same way, from a number that no plugin knows before,
 * so that a shape tells it nothing of whom it works for. Results never depend on shapes. */
#ifndef PIPECTL_RUNTIME_EXEC_SHAPE_H
#define PIPECTL_RUNTIME_EXEC_SHAPE_H

#include "runtime/exec/guard.h"

/* Of one run. before and behind: bytes of the zones, 0: none, an exact buffer; key: of their pattern; thorough: the first
 * two of a block and one in four, drawn, of all others: what costs as much as the run itself is checked too. */
typedef struct pctl_shape {
	uint64_t before, behind, key;
	uint32_t thorough, reserved;
} pctl_shape;

/* Where one span lies in its buffer, and what lies beside it: all 0 in a buffer of exactly its bytes. */
typedef struct pctl_zones {
	uint64_t before, behind, key;
} pctl_zones;

/* Where shapes come from. seed: drawn from the system, recorded by proofs; the others: which block of work, and how many of
 * its shapes were drawn. */
typedef struct pctl_shapes {
	uint64_t seed, block, key, n;
} pctl_shapes;

/* A seed from the system. Errors: PC0003. */
pctl_status pctl_shapes_draw(const pctl_call *call, uint64_t *seed);
/* The shapes of block `block` follow, a function of seed and block alone. Who knows those of one block knows nothing of
 * another's. Errors: those of SHA-256. */
pctl_status pctl_shapes_block(pctl_shapes *s, uint64_t block, const pctl_call *call);
/* The next. Of two in a row (and of the first ones of blocks 2k and 2k + 1) one has zones and one has not, in an order that is
 * drawn: there is no proof, however small, without both. */
pctl_shape pctl_shape_next(pctl_shapes *s, const pctl_device_caps *caps);
/* The next of work whose spans share buffers, tasks of a block, of which each lies between zones. */
pctl_zones pctl_shape_zones(pctl_shapes *s, const pctl_device_caps *caps);
/* Where input `i` of such a job lies when it is uploaded for it: inputs that other jobs made lie as those had their buffers,
 * so a proof has both kinds in one job, too. */
pctl_zones pctl_shape_input(const pctl_shape *s, uint32_t i, const pctl_device_caps *caps);

#endif
