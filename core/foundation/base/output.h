/* Writing a file that somebody named: the one way in which bytes leave for a path. Half a file is never seen under
 * the name, and nothing that stands there is turned into something else. */
#ifndef PIPECTL_FOUNDATION_BASE_OUTPUT_H
#define PIPECTL_FOUNDATION_BASE_OUTPUT_H

#include <stddef.h>

#include "pipectl/host.h"

/*
 * What happens to what the path names:
 *
 *   nothing there     a new file; its mode is what the umask leaves of 0666. The directory must exist.
 *   a regular file    replaced at once when all bytes are safe: a temporary file beside it, fsync, rename. Mode, owner,
 *                     group and ACL stay. It must be writable itself. Another hard link to it keeps the old bytes.
 *                     Where the directory does not let it be replaced (not writable, sticky, a mount point) or the
 *                     owner could not be kept, the bytes are written into the file, after room was made for all of them,
 *                     and a warning says so (PC0022).
 *   a symbolic link   what it leads to is written, and the link stays; one that leads nowhere has its target made.
 *   a device, a FIFO  written through: opened, never replaced. A FIFO waits for its reader.
 *   -, /dev/stdout, /dev/fd/N    the descriptor itself, where it stands. A pipe at standard output whose reader has left takes the
 *                     rest in silence: whoever read it has what they wanted.
 *   a directory       refused (PC0020); a socket too (PC0021).
 *
 * A write that fails (PC0023) leaves the old file, or none where there was none; what already went through a device or a
 * FIFO is gone. Errors: PC0020, PC0021, PC0023, PC0002, PC0004 when cancelled.
 */
typedef struct pctl_output pctl_output;

/* durable 0 leaves out the fsyncs: for what may be lost when the machine stops. Ended by commit or discard. */
pctl_status pctl_output_open(const char *path, int durable, const pctl_call *call,
			     pctl_output **out);
pctl_status pctl_output_put(pctl_output *o, const void *data, uint64_t n, const pctl_call *call);
/* Put the bytes under the name. `o` is gone afterwards, also on an error. */
pctl_status pctl_output_commit(pctl_output *o, const pctl_call *call);
/* Leave everything as it was; NULL is allowed. */
void pctl_output_discard(pctl_output *o);

/* Would open succeed as things are; nothing is opened, made or waited for. For asking before long work. */
pctl_status pctl_output_check(const char *path, const pctl_call *call);

/* 1: what is written under the one name would replace what was written under the other, by links too. 0 also for what is
 * written through, and for paths that cannot be written. */
int pctl_output_same(const char *a, const char *b);

#endif
