/* What a path for an output leads to, and by which way bytes get there; internal to foundation/base/output.c. */
#ifndef PIPECTL_FOUNDATION_BASE_OUTPUT_PLACE_H
#define PIPECTL_FOUNDATION_BASE_OUTPUT_PLACE_H

#include <sys/stat.h>

#include "pipectl/host.h"

#define PCTL_PLACE_REPLACE 0 /* a temporary file beside it is renamed */
#define PCTL_PLACE_INTO 1    /* collected elsewhere, then written into the file that is there */
#define PCTL_PLACE_THROUGH 2 /* no regular file: bytes go to it as they come */

typedef struct pctl_output_place {
	const char *name; /* as it was given */
	char *path;	  /* links followed; owned */
	char *dir;	  /* where `path` lies; owned */
	int way;
	int fd;	    /* of /dev/stdout and its like, else -1 */
	int exists; /* `old` tells of a regular file */
	struct stat old;
} pctl_output_place;

/* Cleared with pctl_place_clear, also after an error. */
pctl_status pctl_place_find(const char *path, const pctl_call *call, pctl_output_place *out);
void pctl_place_clear(pctl_output_place *p);
/* PC0021 with the words for an errno of open. */
pctl_status pctl_place_refuse(const pctl_output_place *p, int error, const pctl_call *call);

#endif
