/* A pack under construction: git's pack format, version 2, whole objects without deltas. libgit2's own builder looks for
 * deltas between a block's files, which costs ten times the rest of writing it; `git repack` finds them later, and no id
 * depends on it. Internal to core/chain. */
#ifndef PIPECTL_CHAIN_HISTORY_GITLOG_PACK_H
#define PIPECTL_CHAIN_HISTORY_GITLOG_PACK_H

#include <git2.h>

#include "foundation/base/str.h"

typedef struct pctl_gitlog_pack {
	pctl_str_buf bytes;
	uint32_t n_objects;
	uint32_t failed; /* 1: no memory; everything after does nothing */
} pctl_gitlog_pack;

void pctl_gitlog_pack_begin(pctl_gitlog_pack *p);
void pctl_gitlog_pack_add(pctl_gitlog_pack *p, const void *data, uint64_t n, git_object_t type);
/* Count and checksum; then p->bytes is a whole pack. 0: no memory, or OpenSSL refuses. */
int pctl_gitlog_pack_end(pctl_gitlog_pack *p);
void pctl_gitlog_pack_drop(pctl_gitlog_pack *p);

#endif
