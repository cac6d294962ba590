/* Any bytes as the list of files under an audit's seal: refused, or the list that gives the same text. */
#include <stdlib.h>
#include <string.h>

#include "evidence/audit/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_listed_file *files = NULL;
	char *text = malloc(n + 1);
	uint32_t count = 0;

	if (arena == NULL || text == NULL)
		abort();
	memcpy(text, data, n);
	text[n] = '\0';
	if (pctl_filelist_read("fuzz", text, n, arena, NULL, &files, &count) == PCTL_OK) {
		pctl_listed_file *again = NULL;
		uint32_t n_again = 0;
		char *out = pctl_filelist_text(files, count);

		for (uint32_t i = 0; i < count; i++)
			if (files[i].path[0] == '/' || files[i].path[0] == '\0')
				abort();
		if (out == NULL ||
		    pctl_filelist_read("fuzz", out, strlen(out), arena, NULL, &again, &n_again) !=
			    PCTL_OK ||
		    n_again != count)
			abort();
		free(out);
	}
	free(text);
	pctl_arena_destroy(arena);
	return 0;
}
