/* The boundary to a backend, in a worker or inside the host alike: a table that stands before the backend's own. What the
 * backend says of its devices is judged when they are opened, its texts are made presentable, its failures always have a
 * word, and its statuses are ones that exist. */
#ifndef PIPECTL_RUNTIME_PLUGIN_GUARD_H
#define PIPECTL_RUNTIME_PLUGIN_GUARD_H

#include "pipectl/backend.h"

typedef struct pctl_guard pctl_guard;

/*
 * Stand before `table` and `inst` of plugin `id`, which outlive the guard. stamp: diagnostics are the plugin's own and get
 * its id; 0: they were stamped on the way (a worker's).
 *
 * PC3233 for a device whose capabilities cannot be, PC3234 for names that are no text; PC3108 for other breaches of the
 * interface, PC3118 where a call failed without a word.
 */
pctl_status pctl_guard_create(const char *id, int stamp, const pctl_backend *table,
			      pctl_instance *inst, const pctl_call *call, pctl_guard **out);
void pctl_guard_destroy(pctl_guard *g);
const pctl_backend *pctl_guard_table(const pctl_guard *g);
pctl_instance *pctl_guard_instance(pctl_guard *g);

/* PC3233 naming plugin, field, value and what is allowed, when a device cannot be like this. */
pctl_status pctl_guard_check_caps(const char *id, const pctl_device_caps *caps,
				  const pctl_call *call);

#endif
