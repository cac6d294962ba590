/* How far a run has come, kept in a file, so that one that was ended goes on where it stood: ten thousand programs take
 * longer than a machine is lent for. */
#ifndef PIPECTL_DIFFERENTIAL_STATE_H
#define PIPECTL_DIFFERENTIAL_STATE_H

#include "rig.h"

/*
 * seed, cases, floats  what the run is asked for
 * shard, shards        it takes the cases whose number is shard modulo shards
 * next                 number of the next case
 * done, failed         cases so far
 */
typedef struct diff_state {
	uint64_t seed, cases, next;
	uint32_t floats, shard, shards;
	uint32_t done, failed;
} diff_state;

/* Read the file into *s and the counts of r's devices. A file that is not there changes nothing; one of another run, other
 * devices among them, gives 0 with a message on stderr. */
int diff_state_read(const char *path, diff_state *s, rig *r);
int diff_state_write(const char *path, const diff_state *s, const rig *r);

#endif
