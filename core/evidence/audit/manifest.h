/* The manifest of a report: what lies in its directory, file by file. Private to report*.c and its tests. */
#ifndef PIPECTL_EVIDENCE_AUDIT_MANIFEST_H
#define PIPECTL_EVIDENCE_AUDIT_MANIFEST_H

#include "foundation/base/arena.h"
#include "runtime/cas/cid.h"

#define PCTL_MANIFEST_NAME "manifest.cfg"
#define PCTL_MANIFEST_LIMIT (16u << 20)

/* A file of the directory: its path relative to it with '/' between names, its size and SHA-256. */
typedef struct pctl_listed_file {
	const char *path;
	uint64_t n_bytes;
	uint8_t digest[PCTL_DIGEST_BYTES];
} pctl_listed_file;

/*
 * Every file below dir, in the bytewise order of the paths, the manifest itself left out. Errors: PC0003 (cannot be
 * read; neither file nor directory; more than 16 deep or 65536 files).
 */
pctl_status pctl_filelist_walk(const char *dir, pctl_arena *arena, const pctl_call *call,
			       pctl_listed_file **out, uint32_t *n_out);

/* The text under the seal, and back. Errors of read: PC5611. */
char *pctl_filelist_text(const pctl_listed_file *files, uint32_t n);
pctl_status pctl_filelist_read(const char *name, const char *text, size_t n, pctl_arena *arena,
			       const pctl_call *call, pctl_listed_file **out, uint32_t *n_out);

#endif
