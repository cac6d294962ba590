/* Whole files and paths. Every function reports through the call's sink (PC0003; writing as foundation/base/output.h says). */
#ifndef PIPECTL_FOUNDATION_BASE_FILE_H
#define PIPECTL_FOUNDATION_BASE_FILE_H

#include <stddef.h>

#include "pipectl/host.h"

/* Read all of a regular file (or "-" for standard input) of at most `limit` bytes; *out is released
 * with free() and has a NUL behind its n bytes. */
pctl_status pctl_file_read(const char *path, uint64_t limit, const pctl_call *call, char **out,
			   uint64_t *n_out);

/* The same of what is left in an open descriptor, which stays open; `name` is for messages. */
pctl_status pctl_file_read_fd(int fd, const char *name, uint64_t limit, const pctl_call *call,
			      char **out, uint64_t *n_out);

/* Write n bytes to `path` by way of foundation/base/output.h: the file is either the old one or the whole new one. durable 0
 * leaves out the fsyncs. */
pctl_status pctl_file_write(const char *path, const void *data, uint64_t n, int durable,
			    const pctl_call *call);

/* mkdir -p with mode 0700 for what is missing. */
pctl_status pctl_file_make_dirs(const char *path, const pctl_call *call);

/* a/b, released with free(); NULL: no memory. */
char *pctl_path_join(const char *a, const char *b);
/* 1 when the path exists as a regular file / directory. */
int pctl_file_exists(const char *path);
int pctl_dir_exists(const char *path);

#endif
