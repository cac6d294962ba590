/* What a device may say of itself: each capability with its least and most, in one table. Plans, legalisation and bounds
 * checks are made from these numbers, so none is taken that no device can have. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "runtime/plugin/guard.h"

#define MOST_INVOCATIONS (1u << 20)
#define MOST_ALIGNMENT (1u << 16)
#define MOST_BYTES (1ull << 50)

static const struct {
	const char *name;
	size_t at, size;
	uint64_t least, most;
} fields[] = {
#define FIELD(name, least, most)                                                                \
	{                                                                                       \
#name, offsetof(pctl_device_caps, name), sizeof(((pctl_device_caps *)0)->name), \
			least, most                                                             \
	}
#define FIELD_OF(name, i, least, most)                                        \
	{                                                                     \
#name "[" #i "]", offsetof(pctl_device_caps, name[i]),        \
			sizeof(((pctl_device_caps *)0)->name[i]), least, most \
	}
	FIELD(memory_bytes, 0, MOST_BYTES), /* 0: unknown */
	FIELD(max_binding_bytes, 4, MOST_BYTES),     FIELD(max_buffer_bytes, 4, MOST_BYTES),
	FIELD(binding_alignment, 1, MOST_ALIGNMENT), FIELD_OF(max_groups, 0, 1, UINT64_MAX),
	FIELD_OF(max_groups, 1, 1, UINT64_MAX),	     FIELD_OF(max_groups, 2, 1, UINT64_MAX),
	FIELD_OF(max_local, 0, 1, MOST_INVOCATIONS), FIELD_OF(max_local, 1, 1, MOST_INVOCATIONS),
	FIELD_OF(max_local, 2, 1, MOST_INVOCATIONS), FIELD(max_invocations, 1, MOST_INVOCATIONS),
	FIELD(max_workgroup_bytes, 0, UINT32_MAX),   FIELD(max_bindings, 1, 1u << 20),
	FIELD(subgroup_size, 0, MOST_INVOCATIONS), /* 0: unknown */
#undef FIELD
#undef FIELD_OF
};

static pctl_status check_field(const char *id, const pctl_device_caps *caps, size_t i,
			       const pctl_call *call)
{
	const char *at = (const char *)caps + fields[i].at;
	uint64_t value = 0;
	uint32_t small;

	if (fields[i].size == sizeof(value)) {
		memcpy(&value, at, sizeof(value));
	} else {
		memcpy(&small, at, sizeof(small));
		value = small;
	}
	if (value >= fields[i].least && value <= fields[i].most)
		return PCTL_OK;
	return pctl_refuse(call, PC3233_DEVICE_CAPS,
			   "plugin \"%s\": %s of a device is %" PRIu64 ", allowed is %" PRIu64
			   " to %" PRIu64,
			   id, fields[i].name, value, fields[i].least, fields[i].most);
}

/* All that is wrong is told at once. */
pctl_status pctl_guard_check_caps(const char *id, const pctl_device_caps *caps,
				  const pctl_call *call)
{
	const uint64_t unknown = caps->caps & ~PCTL_CAP_KNOWN;
	pctl_status first = PCTL_OK;

	if (unknown != 0)
		first = pctl_refuse(
			call, PC3233_DEVICE_CAPS,
			"plugin \"%s\": caps of a device has the unknown bits 0x%" PRIx64
			", allowed are those of 0x%" PRIx64,
			id, unknown, (uint64_t)PCTL_CAP_KNOWN);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const pctl_status status = check_field(id, caps, i, call);

		first = first == PCTL_OK ? status : first;
	}
	if (caps->binding_alignment <= MOST_ALIGNMENT &&
	    (caps->binding_alignment & (caps->binding_alignment - 1)) != 0) {
		const pctl_status status =
			pctl_refuse(call, PC3233_DEVICE_CAPS,
				    "plugin \"%s\": binding_alignment of a device is %" PRIu64
				    ", allowed are powers of two up to %u",
				    id, caps->binding_alignment, MOST_ALIGNMENT);

		first = first == PCTL_OK ? status : first;
	}
	return first;
}
