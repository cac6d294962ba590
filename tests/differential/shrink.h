/* Making a failing program smaller while it fails in the same way. */
#ifndef PIPECTL_DIFFERENTIAL_SHRINK_H
#define PIPECTL_DIFFERENTIAL_SHRINK_H

#include "rig.h"
#include "evidence/suite/tree.h"

/* Reduce the tree in place for at most `seconds`; *verdict is how it fails and comes out as how it
 * fails at last. Returns the number of programs tried. */
uint32_t diff_shrink(rig *r, pctl_arena *a, node *root, double seconds, rig_verdict *verdict);

#endif
