/* Commands of a resident run that are joined, shared by resident_join.c, which chooses them, and resident_joined.c, which makes one of them. */
#ifndef PIPECTL_RUNTIME_EXEC_RESIDENT_JOIN_H
#define PIPECTL_RUNTIME_EXEC_RESIDENT_JOIN_H

#include "compiler/legalize/join.h"
#include "runtime/exec/resident_private.h"

/* n commands, by PCTL_JOIN_*. */
typedef struct pctl_resident_joining {
	const pctl_resident_command *of[PCTL_JOIN_PARTS];
	uint32_t n, how;
} pctl_resident_joining;

/*
 * 1 in *is, and their command in *to, of which level and place are left as they are: they are one kernel, which is built, and whose first build on the device was held
 * against the reference. What stands against it is no error.
 *
 * Errors: PCTL_E_NOMEM, what building refuses, PC5214 and others of a kernel that is wrong on this device.
 */
pctl_status pctl_resident_make_joined(pctl_resident *r, const pctl_resident_joining *what,
				      pctl_resident_command *to, int *is);

int pctl_resident_overlap(const pctl_resident_range *a, const pctl_resident_range *b);

#endif
