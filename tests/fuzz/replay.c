/* Runs a fuzz target over the files of a corpus directory and over seeded mutations of each, without any fuzzing engine.
 * An empty or missing corpus is a failure. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"

#define MUTATIONS 200u
#define LARGEST (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* splitmix64: the state is the count, so every run sees the same mutations. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Flip, overwrite, delete or repeat some bytes; returns the new size. */
static size_t mutate(uint8_t *data, size_t n, size_t cap, uint64_t *state)
{
	uint64_t edits = 1 + next(state) % 4;

	while (edits-- > 0 && n > 0) {
		size_t at = next(state) % n, span = 1 + next(state) % 8;

		if (span > n - at)
			span = n - at;
		switch (next(state) % 4) {
		case 0:
			data[at] ^= (uint8_t)(1u << next(state) % 8);
			break;
		case 1:
			data[at] = (uint8_t)next(state);
			break;
		case 2:
			memmove(data + at, data + at + span, n - at - span);
			n -= span;
			break;
		default:
			if (n + span > cap)
				break;
			memmove(data + at + span, data + at, n - at);
			n += span;
			break;
		}
	}
	return n;
}

static int replay(const char *path, uint64_t seed)
{
	uint64_t n, state = seed;
	char *data;
	uint8_t *work;

	if (pctl_file_read(path, LARGEST, NULL, &data, &n) != PCTL_OK)
		return 0;
	work = malloc(n + 64);
	if (work == NULL) {
		free(data);
		return 0;
	}
	memcpy(work, data, n);
	LLVMFuzzerTestOneInput(work, n);
	for (unsigned i = 0; i < MUTATIONS; i++) {
		memcpy(work, data, n);
		LLVMFuzzerTestOneInput(work, mutate(work, n, n + 64, &state));
	}
	free(work);
	free(data);
	return 1;
}

int main(int argc, char **argv)
{
	struct dirent **entries = NULL;
	unsigned ran = 0, bad = 0;
	int n = argc == 2 ? scandir(argv[1], &entries, NULL, alphasort) : -1;

	for (int i = 0; i < n; i++) {
		char *path = pctl_path_join(argv[1], entries[i]->d_name);

		if (path != NULL && pctl_file_exists(path)) {
			int good = replay(path, (uint64_t)i);

			ran += good != 0;
			bad += good == 0;
		}
		free(path);
		free(entries[i]);
	}
	free(entries);
	printf("%u files, %u mutations each\n", ran, MUTATIONS);
	return ran == 0 || bad != 0;
}
