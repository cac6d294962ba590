/* Implementation of amount.h. */
#include "foundation/svg/amount.h"

#include <inttypes.h>
#include <stdio.h>

const char *pctl_show_ns(uint64_t ns, char out[PCTL_SHOWN])
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
	uint32_t i = 0;

	while (i + 1 < sizeof(units) / sizeof(units[0]) && ns < units[i].ns)
		i++;
	if (units[i].ns == 1)
		snprintf(out, PCTL_SHOWN, "%" PRIu64 " ns", ns);
	else
		snprintf(out, PCTL_SHOWN, "%" PRIu64 ".%02" PRIu64 " %s", ns / units[i].ns,
			 ns % units[i].ns / (units[i].ns / 100), units[i].unit);
	return out;
}

const char *pctl_show_bytes(uint64_t n, char out[PCTL_SHOWN])
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	uint64_t unit = 1;
	uint32_t i = 0;

	while (i + 1 < sizeof(units) / sizeof(units[0]) && n / unit >= 10240) {
		unit *= 1024;
		i++;
	}
	if (i == 0)
		snprintf(out, PCTL_SHOWN, "%" PRIu64 " bytes", n);
	else
		snprintf(out, PCTL_SHOWN, "%" PRIu64 ".%" PRIu64 " %s", n / unit,
			 n % unit / (unit / 10 + 1), units[i]);
	return out;
}
