/* Implementation of optional.h. */
#include "runtime/device/optional.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "runtime/cas/codings.h"
#include "runtime/device/profile_private.h"

#define OF_SIZE(n)                                                                \
	"SUBGROUP_" #n "_REDUCE", "SUBGROUP_" #n "_SCAN", "SUBGROUP_" #n "_VOTE", \
		"SUBGROUP_" #n "_MOVE"
/* M, N, K */
#define OF_SIGN(t)                                                                      \
	"TILE_8_8_16_" #t, "TILE_16_8_16_" #t, "TILE_8_16_16_" #t, "TILE_16_16_16_" #t, \
		"TILE_8_8_32_" #t, "TILE_16_8_32_" #t, "TILE_8_16_32_" #t, "TILE_16_16_32_" #t
#define OF_FLOAT(t)                                                               \
	"TILE_8_8_4_" #t, "TILE_16_8_4_" #t, "TILE_8_8_8_" #t, "TILE_16_8_8_" #t, \
		"TILE_8_8_16_" #t, "TILE_16_8_16_" #t
static const char *const names[PCTL_N_OPTIONAL] = {
	"DOT4",	      OF_SIZE(4),  OF_SIZE(8),	OF_SIZE(16),   OF_SIZE(32),  OF_SIZE(64),
	OF_SIZE(128), OF_SIGN(U8), OF_SIGN(I8), OF_FLOAT(F32), OF_FLOAT(F64)};
static const char *const verdict_names[] = {"unasked", "wrong", "lost", "exact"};
#define N_VERDICTS (sizeof(verdict_names) / sizeof(verdict_names[0]))

_Static_assert(PCTL_SUBGROUP_SIZE_MIN << (PCTL_OPTIONAL_SIZES - 1) == PCTL_SUBGROUP_SIZE_MAX &&
		       (1u << PCTL_OPTIONAL_KINDS) - 1 == PCTL_SUBGROUP_KINDS,
	       "every size and kind has its place");

const char *pctl_optional_name(uint32_t operation)
{
	return operation < PCTL_N_OPTIONAL ? names[operation] : "?";
}

const char *pctl_optional_verdict_name(uint8_t verdict)
{
	return verdict < N_VERDICTS ? verdict_names[verdict] : "?";
}

uint32_t pctl_optional_of_size(uint32_t size)
{
	uint32_t i = 0;

	while (i + 1 < PCTL_OPTIONAL_SIZES && PCTL_SUBGROUP_SIZE_MIN << i < size)
		i++;
	return PCTL_OPTIONAL_SUBGROUPS + i * PCTL_OPTIONAL_KINDS;
}

/* Of `n` verdicts from `first` on: a bit for each that there is, or that is exact. */
static uint32_t bits_of(const pctl_optional_record *r, uint32_t first, uint32_t n, int exact)
{
	uint32_t bits = 0;

	for (uint32_t k = 0; k < n; k++)
		bits |= (uint32_t)(exact ? r->verdict[first + k] == PCTL_OPTIONAL_EXACT
					 : r->verdict[first + k] != PCTL_OPTIONAL_UNASKED)
			<< k;
	return bits;
}

uint32_t pctl_optional_asked(const pctl_optional_record *r, uint32_t size)
{
	return bits_of(r, pctl_optional_of_size(size), PCTL_OPTIONAL_KINDS, 0);
}

uint32_t pctl_optional_exact(const pctl_optional_record *r, uint32_t size)
{
	return bits_of(r, pctl_optional_of_size(size), PCTL_OPTIONAL_KINDS, 1);
}

uint32_t pctl_optional_tiles_asked(const pctl_optional_record *r)
{
	return bits_of(r, PCTL_OPTIONAL_TILES, PCTL_N_OPTIONAL - PCTL_OPTIONAL_TILES, 0);
}

uint32_t pctl_optional_tiles_exact(const pctl_optional_record *r)
{
	return bits_of(r, PCTL_OPTIONAL_TILES, PCTL_N_OPTIONAL - PCTL_OPTIONAL_TILES, 1);
}

int pctl_optional_lost(const pctl_optional_record *r)
{
	for (uint32_t i = PCTL_OPTIONAL_SUBGROUPS; i < PCTL_N_OPTIONAL; i++)
		if (r->verdict[i] == PCTL_OPTIONAL_LOST)
			return 1;
	return 0;
}

/* ---- the table ---------------------------------------------------------------------------- */

static void print_verdict(const void *member, uint32_t i, char *out)
{
	strcpy(out, pctl_optional_verdict_name(((const pctl_optional_record *)member)->verdict[i]));
}

static int parse_verdict(const char *text, uint32_t i, void *member)
{
	for (uint8_t v = 0; v < N_VERDICTS; v++)
		if (strcmp(text, verdict_names[v]) == 0) {
			((pctl_optional_record *)member)->verdict[i] = v;
			return 1;
		}
	return 0;
}

static const pctl_record_keys verdicts = {"\"unasked\", \"wrong\", \"lost\" or \"exact\"",
					  pctl_optional_name, print_verdict, parse_verdict, NULL};

#define AT(member) offsetof(pctl_optional_record, member)
static const pctl_record_field fields[] = {
	{.key = "kit",
	 .kind = PCTL_RECORD_CONSTANT,
	 .constant = PCTL_OPTIONAL_KIT,
	 .means = "version of the probes; of another one the record is stale"},
	PCTL_RECORD_FIELD(CODED, "key", pctl_optional_record, key, .coding = &pctl_cid_coding,
			  .means = "of the profile of the device with the files it runs on"),
	PCTL_RECORD_FIELD(CHARS, "device", pctl_optional_record, device, .flags = PCTL_RECORD_CUT,
			  .bound = PCTL_NAME_MAX, .means = "its name, for people"),
	{.key = "verdict",
	 .kind = PCTL_RECORD_KEYED,
	 .bound = PCTL_N_OPTIONAL,
	 .keys = &verdicts,
	 .means = "the device's own operations by kind and size; \"lost\": it hung, died or failed "
		  "while it was asked, and is asked no more"},
};
static const pctl_record_shape shape =
	PCTL_RECORD_SHAPE(fields, PCTL_RECORD_BLOCK, pctl_optional_record);
const pctl_record_type pctl_optional_type = {
	.group = "optional",
	.opening =
		"// Which operations of a device's own are right. Made by the programs that want "
		"them; `pipectl device probe --fresh` forgets it.\n",
	.shape = &shape,
	.quoting = PCTL_RECORD_BLANKS,
	.form = PC4330_PROFILE,
	.contradicts = PC4330_PROFILE,
	.title = "Optional operations of a device",
	.where = "`KEY.optional.cfg` in pipectl's folder of profiles; signed",
};

static const pctl_device_record kind = {
	&pctl_optional_type, ".optional.cfg", 1u << 16, sizeof(pctl_optional_record), AT(key),
	AT(signer),	     AT(path),	      NULL,
};

pctl_status pctl_optional_write(pctl_optional_record *r, const char *dir, const pctl_signer *signer,
				const pctl_call *call)
{
	return pctl_device_record_write(&kind, r, dir, signer, call);
}

pctl_status pctl_optional_read(const char *path, const pctl_call *call, pctl_optional_record *out)
{
	return pctl_device_record_read(&kind, path, call, out);
}

int pctl_optional_find(pctl_optional_record *r, const char *dir, const char *own,
		       const pctl_call *call)
{
	return pctl_device_record_find(&kind, r, &dir, 1, &own, 1, call);
}
