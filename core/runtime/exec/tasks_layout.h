/* Where the bytes of a submission lie: few large buffers, slabs, with every binding at an aligned offset of one. */
#ifndef PIPECTL_RUNTIME_EXEC_TASKS_LAYOUT_H
#define PIPECTL_RUNTIME_EXEC_TASKS_LAYOUT_H

#include "foundation/base/vec.h"
#include "runtime/exec/shape.h"
#include "runtime/exec/tasks.h"

#define PCTL_TASK_NOWHERE \
	UINT32_MAX /* slab of a binding that has no bytes or that the program does not have */

typedef struct pctl_task_place {
	uint32_t slab, reserved;
	uint64_t offset;
} pctl_task_place;

/* n_bytes: up to the end of its last span; is_zoned: all that is no span's is zones, and one lies behind it. */
typedef struct pctl_task_slab {
	uint64_t n_bytes;
	pctl_buffer *buffer;
	uint32_t is_zoned, reserved;
} pctl_task_slab;

/* Bytes that go up, in the order of slabs and offsets; task: the first that binds them. */
typedef struct pctl_task_upload {
	pctl_task_place at;
	const pctl_task_binding *binding;
	uint32_t task, reserved;
} pctl_task_upload;

/*
 * One submission.
 *
 * tasks, n  those of it, a prefix of what was asked
 * inputs    one a binding, in the order of tasks
 * outputs   one a task, in the order of slabs and offsets; no slab holds inputs and outputs
 * zones     before the first span of a slab and behind its last; all 0: none anywhere
 */
typedef struct pctl_task_layout {
	const pctl_task *tasks;
	uint32_t n, reserved;
	pctl_task_place *inputs, *outputs;
	PCTL_VEC(pctl_task_slab) slabs;
	PCTL_VEC(pctl_task_upload) uploads;
	pctl_zones zones;
} pctl_task_layout;

/* align: a power of two. most_bytes: of all slabs, but for a task that needs more. most_slab: of one slab, but for a
 * binding that needs more, which has no zones then. between: bytes of a zone between two spans, at least. */
typedef struct pctl_layout_limits {
	uint64_t align, most_bytes, most_slab, between;
	pctl_zones zones;
	uint32_t most_tasks, reserved;
} pctl_layout_limits;

/* As many of the n tasks as fit, at least one. Cleared by the caller, also after an error. PCTL_E_NOMEM. */
pctl_status pctl_layout_make(const pctl_task *tasks, uint32_t n, const pctl_layout_limits *limits,
			     const pctl_call *call, pctl_task_layout *out);
/* The slabs' buffers are destroyed before. */
void pctl_layout_clear(pctl_task_layout *l);

/* Of its buffer: whole words, and the zone behind. */
uint64_t pctl_slab_bytes(const pctl_task_layout *l, uint32_t slab);
/* Of its zones' pattern, which a byte's offset continues (runtime/exec/guard.h). */
uint64_t pctl_slab_key(const pctl_task_layout *l, uint32_t slab);

/* The program's variable of a place (storage or uniform), or NULL. */
const pctl_var *pctl_task_var(const pctl_program *p, uint32_t group, uint32_t binding);
/* Does running it do anything: workgroups, and an output to see it by. */
int pctl_task_works(const pctl_task *t);

/* Fill the slabs with the bytes that go up, and with zones; put the outputs where the tasks want them, once zones are as they
 * were (PC5224), and so is what programs only read and is small, or all of it where `held` (PC5223). */
pctl_status pctl_layout_upload(const pctl_task_layout *l, pctl_session *s, const pctl_call *call,
			       pctl_task_stats *stats);
pctl_status pctl_layout_fetch(const pctl_task_layout *l, uint32_t held, pctl_session *s,
			      const pctl_call *call, pctl_task_stats *stats);

#endif
