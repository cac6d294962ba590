/* Inside of the diagnostic list, shared by list.c and render.c. */
#ifndef PIPECTL_FOUNDATION_DIAG_LIST_H
#define PIPECTL_FOUNDATION_DIAG_LIST_H

#include "foundation/base/arena.h"
#include "foundation/base/map.h"
#include "foundation/base/vec.h"
#include "foundation/diag/diag.h"

/* A hostile input may produce any number of errors; more than this helps nobody. */
#define PCTL_DIAG_MOST 1000u

struct pctl_diag_list {
	pctl_call call;
	pctl_arena *arena;
	pctl_map *sources; /* file name to text */
	PCTL_VEC(pctl_diag) records;
	uint32_t errors, dropped;
	uint32_t (*cancelled)(void *ctx);
	void *cancel_ctx;
	struct pctl_log *log;
};

#endif
