/* Any bytes as a CAR file: right, with roots and blocks, or refused, with nothing left. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cas/car.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	pctl_car_report report;
	FILE *f;

	if (n == 0)
		return 0;
	f = fmemopen((void *)(uintptr_t)data, n, "rb");
	if (f == NULL)
		abort();
	if (pctl_car_check(f, n, "fuzz", NULL, NULL, &report) == PCTL_OK) {
		if (report.n_roots == 0 || report.n_blocks == 0)
			abort();
	} else if (report.roots != NULL || report.n_blocks != 0) {
		abort();
	}
	pctl_car_report_clear(&report);
	fclose(f);
	return 0;
}
