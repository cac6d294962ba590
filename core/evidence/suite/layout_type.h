/* Types for the units of layout: made from a seed, with sizes and offsets worked out here, from the table in WGSL's
 * section "Alignment and Size" and by nothing that the front end uses. */
#ifndef PIPECTL_EVIDENCE_SUITE_LAYOUT_TYPE_H
#define PIPECTL_EVIDENCE_SUITE_LAYOUT_TYPE_H

#include <stdint.h>

#include "foundation/base/arena.h"
#include "foundation/base/str.h"

/* 16-bit floats are not among them: devices that prove integers need not have them in memory. */
enum { LAYOUT_U32, LAYOUT_I32, LAYOUT_U64, LAYOUT_I64, LAYOUT_F32, LAYOUT_SCALARS };

uint32_t layout_scalar_bytes(uint32_t scalar);

/* A scalar somewhere in a value: how WGSL reaches it, and where it lies. */
typedef struct layout_leaf {
	const char *path; /* ".m1[2].x" */
	uint32_t scalar, offset;
} layout_leaf;

#define LAYOUT_LEAVES 80u

/*
 * A struct type made from a seed. uniform: it also keeps the rules of uniform memory.
 *
 * texts   declarations of it and of what it is made of; its name is `name`
 * leaves  every scalar in it, in no order that matters; no more than LAYOUT_LEAVES
 */
typedef struct layout_struct {
	const char *name;
	pctl_str_buf texts;
	layout_leaf leaves[LAYOUT_LEAVES];
	uint32_t n_leaves, size;
} layout_struct;

/* 0: no memory. The strings live in the arena; texts is dropped by the caller. */
int layout_make(pctl_arena *a, uint64_t seed, int uniform, layout_struct *out);

#endif
