/* The op source of a running host: every op of every usable op library of the registry. */
#ifndef PIPECTL_RUNTIME_GRAPH_LIBRARY_H
#define PIPECTL_RUNTIME_GRAPH_LIBRARY_H

#include "runtime/graph/ops.h"
#include "runtime/plugin/registry.h"

typedef struct pctl_op_library pctl_op_library;

/* Loads the op libraries on the first question. The registry outlives it. NULL: no memory. */
pctl_op_library *pctl_op_library_create(pctl_registry *registry, const pctl_call *call);
void pctl_op_library_destroy(pctl_op_library *l);
const pctl_op_source *pctl_op_library_source(const pctl_op_library *l);

#endif
