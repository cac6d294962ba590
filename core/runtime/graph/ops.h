/* Where the graph finds ops: an interface over loaded op libraries, so that checks run without any
 * plugin in tests. */
#ifndef PIPECTL_RUNTIME_GRAPH_OPS_H
#define PIPECTL_RUNTIME_GRAPH_OPS_H

#include "pipectl/oplib.h"

typedef struct pctl_op_ref {
	const pctl_oplib *lib;
	pctl_instance *inst;
	const pctl_op_desc *desc;
	uint32_t index;
	uint32_t reserved;
	const char *plugin; /* id of the library */
	const char *digest; /* identity of the library's file, hex; for memo keys */
} pctl_op_ref;

/*
 * count  number of ops over all libraries
 * at     op number i, 0 <= i < count, in the order of library id, then of the library. Versions are
 * separate ops.
 */
typedef struct pctl_op_source {
	void *ctx;
	uint32_t (*count)(void *ctx);
	void (*at)(void *ctx, uint32_t i, pctl_op_ref *out);
} pctl_op_source;

/*
 * The op `name` with the highest version in [min, max] (0, 0: any). Reports at pos (may be NULL)
 * when there is none, with the nearest name (PC4120), when only other versions exist (PC4121), or
 * when two libraries define it (PC4122).
 */
pctl_status pctl_op_find(const pctl_op_source *s, const char *name, uint32_t min, uint32_t max,
			 const pctl_pos *pos, const pctl_call *call, pctl_op_ref *out);

/* What to use instead of a superseded op; NULL where it is not. */
const char *pctl_op_deprecated(const pctl_op_desc *d);
/* 1: the last input port is a list. */
int pctl_op_has_list(const pctl_op_desc *d);
/* The port that input `i` is of: the elements of a list share one. */
const pctl_port *pctl_op_input(const pctl_op_desc *d, uint32_t i);
/* 1 when a use of the op can have `n` inputs. */
int pctl_op_takes(const pctl_op_desc *d, uint32_t n);

/* The value of an attribute as it is written: PC4112 at pos (may be NULL) where it is none. */
pctl_status pctl_op_attr_read(const pctl_attr_desc *d, const char *op, const char *text,
			      const pctl_pos *pos, const pctl_call *call, pctl_attr *out);

#endif
