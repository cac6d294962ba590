/* Implementation of tuning_record.h. */
#include "runtime/device/tuning_record.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cas/codings.h"
#include "runtime/device/profile_private.h"

#define VALUES_MAX 8u
#define LIST(...)           \
	{                   \
		__VA_ARGS__ \
	}

static const struct {
	const char *name, *about;
	uint32_t of[PCTL_N_TUNING];
	uint32_t values[VALUES_MAX]; /* 0 ends them */
} tunables[PCTL_N_TUNABLES] = {
#define PCTL_TUNABLE(NAME, name, sc, mc, values, about) \
	[PCTL_TUNABLE_##NAME] = {name, about, {sc, mc}, LIST values},
#include "pipectl/tunables.def"
#undef PCTL_TUNABLE
};
static const char *const profiles[PCTL_N_TUNING] = {"sc", "mc"};

const char *pctl_tuning_name(uint32_t profile)
{
	return profile < PCTL_N_TUNING ? profiles[profile] : "?";
}

uint32_t pctl_tuning_profile(const pctl_device_caps *caps)
{
	return caps->max_invocations < 256 || caps->max_workgroup_bytes < 16384 ? PCTL_TUNING_SC
										: PCTL_TUNING_MC;
}

const char *pctl_tunable_name(uint32_t i)
{
	return i < PCTL_N_TUNABLES ? tunables[i].name : NULL;
}

const char *pctl_tunable_about(uint32_t i)
{
	return tunables[i].about;
}

uint32_t pctl_tunable_of(uint32_t i, uint32_t profile)
{
	return tunables[i].of[profile];
}

const uint32_t *pctl_tunable_values(uint32_t i, uint32_t *n)
{
	*n = 0;
	while (*n < VALUES_MAX && tunables[i].values[*n] != 0)
		++*n;
	return tunables[i].values;
}

int pctl_tunable_has(uint32_t i, uint32_t value)
{
	uint32_t n;
	const uint32_t *values = pctl_tunable_values(i, &n);

	for (uint32_t k = 0; k < n; k++)
		if (values[k] == value)
			return 1;
	return value == 0;
}

/* ---- the record --------------------------------------------------------------------------- */

static void print_value(const void *member, uint32_t i, char *out)
{
	sprintf(out, "%" PRIu32, ((const pctl_tuning_record *)member)->value[i]);
}

static int parse_value(const char *text, uint32_t i, void *member)
{
	const size_t n = strspn(text, "0123456789");
	const unsigned long v = n == 0 || n > 8 ? 0 : strtoul(text, NULL, 10);

	if (n == 0 || n > 8 || text[n] != '\0' || !pctl_tunable_has(i, (uint32_t)v))
		return 0;
	((pctl_tuning_record *)member)->value[i] = (uint32_t)v;
	return 1;
}

static const pctl_record_keys values = {"0 or one of the tunable's values", pctl_tunable_name,
					print_value, parse_value, NULL};

#define AT(member) offsetof(pctl_tuning_record, member)
static const pctl_record_field fields[] = {
	{.key = "kit",
	 .kind = PCTL_RECORD_CONSTANT,
	 .constant = PCTL_TUNING_KIT,
	 .means = "version of the problems that are timed; of another one the record is stale"},
	PCTL_RECORD_FIELD(CODED, "key", pctl_tuning_record, key, .coding = &pctl_cid_coding,
			  .means = "of the profile of the device with the files it runs on"),
	PCTL_RECORD_FIELD(CHARS, "device", pctl_tuning_record, device, .flags = PCTL_RECORD_CUT,
			  .bound = PCTL_NAME_MAX, .means = "its name, for people"),
	PCTL_RECORD_FIELD(WORD, "profile", pctl_tuning_record, profile, PCTL_RECORD_WORDS(profiles),
			  .means = "of devices with tight limits (sc) or wide ones (mc), by the "
				   "device's limits"),
	PCTL_RECORD_FIELD(U64, "ms", pctl_tuning_record, ms, .means = "how long that took"),
	{.key = "value",
	 .kind = PCTL_RECORD_KEYED,
	 .bound = PCTL_N_TUNABLES,
	 .keys = &values,
	 .comment = "0: nothing was faster than the op's own choice.",
	 .means = "what was fastest; no value changes a bit"},
};
static const pctl_record_shape shape =
	PCTL_RECORD_SHAPE(fields, PCTL_RECORD_BLOCK, pctl_tuning_record);
const pctl_record_type pctl_tuning_type = {
	.group = "tuning",
	.opening = "// How work is cut best on one device. Made by `pipectl device tune`.\n",
	.shape = &shape,
	.quoting = PCTL_RECORD_BLANKS,
	.form = PC4335_TUNING,
	.contradicts = PC4335_TUNING,
	.title = "Tunables of a device",
	.where = "`KEY.tuning.cfg` in pipectl's folder of profiles; signed",
};

static const pctl_device_record kind = {
	&pctl_tuning_type, ".tuning.cfg", 1u << 16, sizeof(pctl_tuning_record),
	AT(key),	   AT(signer),	  AT(path), "the ops choose; see `pipectl device tune`",
};

pctl_status pctl_tuning_write(pctl_tuning_record *r, const char *dir, const pctl_signer *signer,
			      const pctl_call *call)
{
	return pctl_device_record_write(&kind, r, dir, signer, call);
}

int pctl_tuning_find(pctl_tuning_record *r, const char *dir, const char *own, const pctl_call *call)
{
	return pctl_device_record_find(&kind, r, &dir, 1, &own, 1, call);
}
