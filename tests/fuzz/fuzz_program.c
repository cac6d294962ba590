/* Any bytes through decode; what decodes verifies, prints, and encodes to the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "pipectl/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	pctl_program *p = NULL;
	uint8_t *again = NULL;
	uint64_t m = 0;
	char *text;

	if (pctl_program_decode(data, n, NULL, &p) != PCTL_OK)
		return 0;
	if (pctl_program_verify(p, NULL) != PCTL_OK)
		abort();
	if (pctl_program_encode(p, NULL, &again, &m) != PCTL_OK || m != n ||
	    memcmp(again, data, n) != 0)
		abort();
	text = pctl_program_print(p);
	free(text);
	free(again);
	pctl_program_destroy(p);
	return 0;
}
