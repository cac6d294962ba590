/* Implementation of limits.h: the table of known drivers. */
#include "runtime/device/limits.h"

#include <string.h>

#include "runtime/plugin/registry.h"
#include "runtime/policy/private.h"

enum {
#define PCTL_KNOWN_DRIVER(ID, fact, glob) DRIVER_##ID,
#define PCTL_KNOWN_LIMIT(ID, EXTENT, limit)
#include "runtime/device/known_limits.def"
#undef PCTL_KNOWN_DRIVER
#undef PCTL_KNOWN_LIMIT
	N_DRIVERS
};

static const struct {
	const char *fact, *glob;
} drivers[N_DRIVERS] = {
#define PCTL_KNOWN_DRIVER(ID, fact, glob) {fact, glob},
#define PCTL_KNOWN_LIMIT(ID, EXTENT, limit)
#include "runtime/device/known_limits.def"
#undef PCTL_KNOWN_DRIVER
#undef PCTL_KNOWN_LIMIT
};

static const struct {
	uint32_t driver, extent;
	uint64_t most;
} limits[] = {
#define PCTL_KNOWN_DRIVER(ID, fact, glob)
#define PCTL_KNOWN_LIMIT(ID, EXTENT, limit) {DRIVER_##ID, PCTL_EXTENT_##EXTENT, limit},
#include "runtime/device/known_limits.def"
#undef PCTL_KNOWN_DRIVER
#undef PCTL_KNOWN_LIMIT
};

const pctl_extent_limits pctl_limits_floor = {.most = {[PCTL_EXTENT_INSTRUCTIONS] = 16384,
						       [PCTL_EXTENT_NESTING] = 24,
						       [PCTL_EXTENT_TURNS] = 4096,
						       [PCTL_EXTENT_ARRAY] = 512,
						       [PCTL_EXTENT_WORKGROUP] = 16384,
						       [PCTL_EXTENT_TABLES] = 16384}};

static int speaks_of(uint32_t driver, const pctl_key_value *identity, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(identity[i].key, drivers[driver].fact) == 0 &&
		    pctl_policy_glob(drivers[driver].glob, identity[i].value))
			return 1;
	return 0;
}

int pctl_limits_known(const pctl_key_value *identity, uint32_t n, uint32_t roles,
		      pctl_extent_limits *out)
{
	int known = 0;

	/* What no driver is given: its compiler would need gigabytes. The largest shipped kernel has 97,467, on SwiftShader,
	 * where floats are made of integers. */
	memset(out, 0, sizeof(*out));
	out->most[PCTL_EXTENT_INSTRUCTIONS] = 1u << 20;
	for (uint32_t d = 0; d < N_DRIVERS; d++) {
		if (!speaks_of(d, identity, n))
			continue;
		known = 1;
		for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
			pctl_extent_limits one = {.most = {0}};

			if (limits[i].driver != d)
				continue;
			one.most[limits[i].extent] = limits[i].most;
			pctl_extent_limits_least(out, &one);
		}
	}
	return known && !(roles & PCTL_ROLE_SYNTHETIC);
}
