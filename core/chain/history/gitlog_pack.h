/* A pack under construction: git's pack format, version 2, whole objects without deltas. libgit2's own builder looks for
 * deltas between a block's files, which costs ten times the rest of writing it; `git repack` finds them later, and no id
 * depends on it. Internal to core/chain. */
#ifndef PIPECTL_CHAIN_HISTORY_GITLOG_PACK_H
#define PIPECTL_CHAIN_HISTORY_GITLOG_PACK_H

#include <git2.h>

#include "foundation/base/str.h"

/* An object of the pack: its id, where it begins, and the CRC-32 of its bytes there. */
typedef struct pctl_gitlog_packed {
	uint64_t offset;
	uint32_t crc;
	uint8_t id[20];
} pctl_gitlog_packed;

typedef struct pctl_gitlog_pack {
	pctl_str_buf bytes;
	pctl_gitlog_packed *objects;
	uint32_t n_objects, room;
	uint32_t failed; /* 1: no memory; everything after does nothing */
	uint32_t reserved;
} pctl_gitlog_pack;

void pctl_gitlog_pack_begin(pctl_gitlog_pack *p);
/* id: of the object, which is not in the pack yet. is_dense: pctl_gitlog_file. */
void pctl_gitlog_pack_add(pctl_gitlog_pack *p, const void *data, uint64_t n, git_object_t type,
			  uint32_t is_dense, const git_oid *id);
/* Count and checksum; then p->bytes is a whole pack. 0: no memory, or OpenSSL refuses. */
int pctl_gitlog_pack_end(pctl_gitlog_pack *p);
/* The index of a whole pack (git's format, version 2), made of what was noted when its objects were added: nobody inflates and
 * hashes them again. out is empty at first. 0: no memory. */
int pctl_gitlog_pack_index(pctl_gitlog_pack *p, pctl_str_buf *out);
void pctl_gitlog_pack_drop(pctl_gitlog_pack *p);

#endif
