/* Profile files: written from a record, read back with every value checked, found by key. */
#include "runtime/device/profile.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"
#include "runtime/cas/codings.h"
#include "runtime/device/profile_private.h"

static const char *const native_names[PCTL_N_NATIVE] = {
#define PCTL_NATIVE(NAME, op, result, operand) #NAME,
#include "compiler/legalize/natives.def"
#undef PCTL_NATIVE
};

static const char *const fact_names[PCTL_N_FACTS] = {"INT32", "INT64", "ATOMICS", "BARRIERS",
						     "NAN_BITS"};
static const char *const verdict_names[] = {"absent", "wrong", "normal", "exact", NULL};

const char *pctl_native_name(uint32_t native)
{
	return native < PCTL_N_NATIVE ? native_names[native] : "?";
}

const char *pctl_fact_name(uint32_t fact)
{
	return fact < PCTL_N_FACTS ? fact_names[fact] : "?";
}

const char *pctl_verdict_name(uint8_t verdict)
{
	return verdict <= PCTL_NATIVE_EXACT ? verdict_names[verdict] : "?";
}

uint32_t pctl_profile_broken(const pctl_profile_record *r)
{
	for (uint32_t f = 0; f < PCTL_FACT_NAN_BITS; f++)
		if (r->facts[f] == PCTL_NATIVE_WRONG)
			return f;
	return PCTL_N_FACTS;
}

pctl_status pctl_profile_key(pctl_profile_record *r, const pctl_call *call)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status status;

	pctl_str_addf(&text, "kit=" PCTL_PROBE_KIT "\nfiles=%s\n", r->files);
	for (uint32_t i = 0; i < r->n_identity; i++)
		pctl_str_addf(&text, "%.63s=%.255s\n", r->identity[i].key, r->identity[i].value);
	status = text.failed ? pctl_no_memory(call, "a profile")
			     : pctl_cid_of(text.data, text.n, call, &r->key);
	pctl_str_drop(&text);
	return status;
}

/* ---- the table ---------------------------------------------------------------------------- */

static int verdict_of(const char *text, uint8_t *out)
{
	for (uint8_t v = 0; verdict_names[v] != NULL; v++)
		if (strcmp(text, verdict_names[v]) == 0) {
			*out = v;
			return 1;
		}
	return 0;
}

static void print_fact(const void *member, uint32_t i, char *out)
{
	strcpy(out, pctl_verdict_name(((const pctl_profile_record *)member)->facts[i]));
}

static int parse_fact(const char *text, uint32_t i, void *member)
{
	return verdict_of(text, &((pctl_profile_record *)member)->facts[i]);
}

static void print_native(const void *member, uint32_t i, char *out)
{
	strcpy(out, pctl_verdict_name(((const pctl_profile_record *)member)->profile.native[i]));
}

static int parse_native(const char *text, uint32_t i, void *member)
{
	return verdict_of(text, &((pctl_profile_record *)member)->profile.native[i]);
}

static const char *remark(const pctl_witness *w)
{
	return w->text[0] == '\0' ? NULL : w->text;
}

static const char *fact_remark(const void *member, uint32_t i)
{
	return remark(&((const pctl_profile_record *)member)->fact_witness[i]);
}

static const char *native_remark(const void *member, uint32_t i)
{
	return remark(&((const pctl_profile_record *)member)->native_witness[i]);
}

static const pctl_record_keys facts = {"\"absent\", \"wrong\", \"normal\" or \"exact\"",
				       pctl_fact_name, print_fact, parse_fact, fact_remark};
static const pctl_record_keys natives = {"\"absent\", \"wrong\", \"normal\" or \"exact\"",
					 pctl_native_name, print_native, parse_native,
					 native_remark};

static const pctl_record_field pair_fields[] = {
	PCTL_RECORD_FIELD(CHARS, "key", pctl_key_value, key, .flags = PCTL_RECORD_CUT,
			  .bound = sizeof(((pctl_key_value *)0)->key), .means = "a fact"),
	PCTL_RECORD_FIELD(CHARS, "value", pctl_key_value, value, .flags = PCTL_RECORD_CUT,
			  .bound = sizeof(((pctl_key_value *)0)->value), .means = "its value"),
};
static const pctl_record_shape pair =
	PCTL_RECORD_SHAPE(pair_fields, PCTL_RECORD_ARRAY, pctl_key_value);

#define AT(member) offsetof(pctl_profile_record, member)
static const pctl_record_field fields[] = {
	{.key = "kit",
	 .kind = PCTL_RECORD_CONSTANT,
	 .constant = PCTL_PROBE_KIT,
	 .means = "version of the probe; of another one the profile is stale"},
	PCTL_RECORD_FIELD(CODED, "key", pctl_profile_record, key, .coding = &pctl_cid_coding,
			  .means = "of the identity facts, the files and the kit: what the profile "
				   "is valid for"),
	PCTL_RECORD_FIELD(CHARS, "device", pctl_profile_record, device, .flags = PCTL_RECORD_CUT,
			  .bound = PCTL_NAME_MAX, .means = "its name, for people"),
	PCTL_RECORD_FIELD(CHARS, "files", pctl_profile_record, files, .flags = PCTL_RECORD_CUT,
			  .bound = sizeof(((pctl_profile_record *)0)->files),
			  .means = "SHA-256 over the files it was probed with, or nothing"),
	PCTL_RECORD_FIELD(CHARS, "drivers", pctl_profile_record, drivers,
			  .flags = PCTL_RECORD_CUT | PCTL_RECORD_OPTIONAL,
			  .bound = sizeof(((pctl_profile_record *)0)->drivers),
			  .means = "the same without the plugin's own file"),
	PCTL_RECORD_FIELD(CHARS, "claim", pctl_profile_record, claim,
			  .flags = PCTL_RECORD_CUT | PCTL_RECORD_OPTIONAL,
			  .bound = sizeof(((pctl_profile_record *)0)->claim),
			  .means = "key of the profile whose verdicts these are, after a short "
				   "check; absent: it was probed in full"),
	PCTL_RECORD_FIELD(CHARS, "driver", pctl_profile_record, driver, .flags = PCTL_RECORD_CUT,
			  .bound = PCTL_NAME_MAX, .means = "its name, for people"),
	PCTL_RECORD_FIELD(U64, "cases", pctl_profile_record, cases,
			  .means = "tuples of operands times operations that were compared"),
	PCTL_RECORD_FIELD(LIST, "identity", pctl_profile_record, identity,
			  .flags = PCTL_RECORD_CLOSE | PCTL_RECORD_WITHIN, .n_at = AT(n_identity),
			  .bound = PCTL_PROFILE_IDENTITY_MAX, .of = &pair,
			  .means = "what the backend says of device and driver"),
	{.key = "facts",
	 .kind = PCTL_RECORD_KEYED,
	 .bound = PCTL_N_FACTS,
	 .keys = &facts,
	 .means = "what is probed besides native floats"},
	{.key = "native",
	 .kind = PCTL_RECORD_KEYED,
	 .bound = PCTL_N_NATIVE,
	 .keys = &natives,
	 .means = "native float operations; the first difference seen stands behind as a remark"},
};
static const pctl_record_shape shape =
	PCTL_RECORD_SHAPE(fields, PCTL_RECORD_BLOCK, pctl_profile_record);
const pctl_record_type pctl_profile_type = {
	.group = "profile",
	.opening = "// What a probe proved of one device with one driver; see certs/README.md. "
		   "Made by `pipectl device probe`.\n",
	.shape = &shape,
	.quoting = PCTL_RECORD_BLANKS,
	.form = PC4330_PROFILE,
	.title = "Profile of a device",
	.where = "`KEY.profile.cfg` in a folder of profiles; signed; remarks are not read back",
};

static const pctl_device_record kind = {
	&pctl_profile_type, ".profile.cfg", 1u << 20, sizeof(pctl_profile_record), AT(key),
	AT(signer),	    AT(path),	    NULL,
};

pctl_status pctl_profile_write(pctl_profile_record *r, const char *dir, const pctl_signer *signer,
			       const pctl_call *call)
{
	return pctl_device_record_write(&kind, r, dir, signer, call);
}

pctl_status pctl_profile_read(const char *path, const pctl_call *call, pctl_profile_record *out)
{
	return pctl_device_record_read(&kind, path, call, out);
}

int pctl_profile_find(pctl_profile_record *r, const char *const *dirs, uint32_t n,
		      const char *const *trusted, uint32_t n_trusted, const pctl_call *call)
{
	if (pctl_profile_key(r, call) != PCTL_OK)
		return 0;
	return pctl_device_record_find(&kind, r, dirs, n, trusted, n_trusted, call);
}
