/* Diagnostics of texts that stand for several jobs: one that was said of a place in one turn of a group is not said again in the
 * others, and says of which turn it is. */
#ifndef PIPECTL_RUNTIME_GRAPH_PIPELINE_ONCE_H
#define PIPECTL_RUNTIME_GRAPH_PIPELINE_ONCE_H

#include "pipectl/host.h"

typedef struct pctl_pipe_once pctl_pipe_once;

/* What is said through its call goes to `call`, which outlives it. NULL: no memory; destroy(NULL) is fine. */
pctl_pipe_once *pctl_pipe_once_create(const pctl_call *call);
void pctl_pipe_once_destroy(pctl_pipe_once *o);
const pctl_call *pctl_pipe_once_call(const pctl_pipe_once *o); /* NULL of NULL */
/* What follows is said of this turn or job ("layers.3.norm", which outlives o); NULL: of what the text says itself. */
void pctl_pipe_once_of(pctl_pipe_once *o, const char *which);
/* 1: this code at this place would not be said again, so that nobody need look for a hint. */
int pctl_pipe_once_was_said(const pctl_pipe_once *o, uint32_t code, const pctl_pos *pos);

#endif
