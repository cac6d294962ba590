/* The table of system calls as data; see calls.h. */
#include "runtime/ipc/calls.h"

#include <errno.h>
#include <string.h>

static const pctl_call_row rows[] = {
#define PCTL_CALL(set, name, condition, who, why) \
	{#name, PCTL_CALL_ALLOWED, PCTL_CALLS_##set, PCTL_CALL_##condition, 0, who, why},
#define PCTL_CALL_QUIET(name, error, who, why) {#name, PCTL_CALL_QUIET, 0, 0, error, who, why},
#define PCTL_CALL_NEVER(name, why) {#name, PCTL_CALL_NEVER, 0, 0, 0, NULL, why},
#include "runtime/ipc/calls.def"
};

const pctl_call_row *pctl_call_rows(uint32_t *n)
{
	*n = sizeof(rows) / sizeof(rows[0]);
	return rows;
}

int pctl_call_can_be_allowed(const char *name)
{
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].name, name) &&
		    (rows[i].verdict != PCTL_CALL_ALLOWED || rows[i].condition != PCTL_CALL_ANY ||
		     rows[i].set & (PCTL_CALLS_PROCESSES | PCTL_CALLS_PROGRAMS)))
			return 0;
	return 1;
}

uint32_t pctl_call_set(const char *word)
{
	return !strcmp(word, "driver")	    ? PCTL_CALLS_DRIVER
	       : !strcmp(word, "processes") ? PCTL_CALLS_PROCESSES
					    : 0;
}
