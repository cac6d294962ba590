/* A directory of files that comes to be as a whole: made beside the place that somebody named, then renamed. */
#ifndef PIPECTL_FOUNDATION_BASE_FOLDER_H
#define PIPECTL_FOUNDATION_BASE_FOLDER_H

#include "pipectl/host.h"

/* name: of a file in the directory; text: all of it, ended by NUL. */
typedef struct pctl_folder_file {
	const char *name, *text;
} pctl_folder_file;

/* Would write succeed as things are: nothing there, or an empty directory (PC0024 otherwise). For asking before long work. */
pctl_status pctl_folder_check(const char *path, const pctl_call *call);

/*
 * Make the directory with these files, mode 0700, and those above it that are missing. It is there with all of them, on the
 * disk, or as it was before: an empty directory gives way, anything else is refused, also what came meanwhile.
 *
 * Errors: PC0024, PC0003, those of foundation/base/output.h.
 */
pctl_status pctl_folder_write(const char *path, const pctl_folder_file *files, uint32_t n,
			      const pctl_call *call);

#endif
