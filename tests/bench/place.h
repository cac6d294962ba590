/* Where the measuring programs let drivers write: PoCL opens no device without a cache. */
#ifndef PIPECTL_TESTS_BENCH_PLACE_H
#define PIPECTL_TESTS_BENCH_PLACE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* PIPECTL_BENCH_CACHE, else a folder of this user's in /tmp: kernels are warm from the second call on. */
static inline const char *bench_cache(void)
{
	static char path[64];
	const char *given = getenv("PIPECTL_BENCH_CACHE");

	if (given != NULL)
		return given;
	snprintf(path, sizeof(path), "/tmp/pipectl-bench-%u", (unsigned)getuid());
	return path;
}

#endif
