/* Implementation of limits_record.h. */
#include "runtime/device/limits_record.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cas/codings.h"
#include "runtime/device/profile_private.h"

/* "65536" or "65536 slow". */
static void print_most(const void *member, uint32_t e, char *out)
{
	const pctl_limits_record *r = member;

	sprintf(out, "%" PRIu64 "%s", r->limits.most[e], r->slow >> e & 1 ? " slow" : "");
}

static int parse_most(const char *text, uint32_t e, void *member)
{
	pctl_limits_record *r = member;
	const size_t n = strspn(text, "0123456789");
	const int is_slow = strcmp(text + n, " slow") == 0;

	if (n == 0 || n > 19 || (text[n] != '\0' && !is_slow))
		return 0;
	r->limits.most[e] = strtoull(text, NULL, 10);
	r->slow |= (uint32_t)is_slow << e;
	return 1;
}

static const pctl_record_keys most = {"a number, maybe with \" slow\" behind it", pctl_extent_key,
				      print_most, parse_most, NULL};

#define AT(member) offsetof(pctl_limits_record, member)
static const char *const searched[] = {"no", "yes"};
static const pctl_record_field fields[] = {
	{.key = "kit",
	 .kind = PCTL_RECORD_CONSTANT,
	 .constant = PCTL_LIMITS_KIT,
	 .means = "version of the search; of another one the record is stale"},
	PCTL_RECORD_FIELD(CODED, "key", pctl_limits_record, key, .coding = &pctl_cid_coding,
			  .means = "of the profile of the device with the files it runs on"),
	PCTL_RECORD_FIELD(CHARS, "device", pctl_limits_record, device, .flags = PCTL_RECORD_CUT,
			  .bound = PCTL_NAME_MAX, .means = "its name, for people"),
	PCTL_RECORD_FIELD(
		WORD, "searched", pctl_limits_record, searched, PCTL_RECORD_WORDS(searched),
		.means = "\"no\": the rows of the table of known drivers were rechecked and hold"),
	PCTL_RECORD_FIELD(U64, "ms", pctl_limits_record, ms, .means = "how long that took"),
	{.key = "most",
	 .kind = PCTL_RECORD_KEYED,
	 .bound = PCTL_N_EXTENTS,
	 .keys = &most,
	 .comment = "0: nothing went wrong up to the bounds.",
	 .means = "what is right there at most; \"slow\": it took too long to be asked for more"},
};
static const pctl_record_shape shape =
	PCTL_RECORD_SHAPE(fields, PCTL_RECORD_BLOCK, pctl_limits_record);
const pctl_record_type pctl_limits_type = {
	.group = "limits",
	.opening = "// How large programs may be on one device and still be right. Made by "
		   "`pipectl device probe`, or by the first program that is large.\n",
	.shape = &shape,
	.quoting = PCTL_RECORD_BLANKS,
	.form = PC4330_PROFILE,
	.contradicts = PC4330_PROFILE,
	.title = "Limits of a device",
	.where = "`KEY.limits.cfg` in a folder of profiles; signed",
};

static const pctl_device_record kind = {
	&pctl_limits_type, ".limits.cfg", 1u << 16, sizeof(pctl_limits_record),
	AT(key),	   AT(signer),	  AT(path), NULL,
};

pctl_status pctl_limits_write(pctl_limits_record *r, const char *device, const char *dir,
			      const pctl_signer *signer, const pctl_call *call)
{
	snprintf(r->device, sizeof(r->device), "%s", device);
	return pctl_device_record_write(&kind, r, dir, signer, call);
}

pctl_status pctl_limits_read(const char *path, const pctl_call *call, pctl_limits_record *out)
{
	return pctl_device_record_read(&kind, path, call, out);
}

int pctl_limits_find(pctl_limits_record *r, const char *const *dirs, uint32_t n,
		     const char *const *trusted, uint32_t n_trusted, const pctl_call *call)
{
	return pctl_device_record_find(&kind, r, dirs, n, trusted, n_trusted, call);
}
