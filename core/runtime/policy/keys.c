/* The keys of a policy file: their schema, the forms of their values, and what holds when no file
 * says anything. Words stand strictest first, which is what inheritance compares. */
#include <stdio.h>
#include <string.h>

#include "foundation/base/num.h"
#include "runtime/policy/private.h"
#include "foundation/base/hex.h"
#include "policy_default.h"

const char *const pctl_policy_class_words[] = {"integer", "strict", "approximate", NULL};
const char *const pctl_policy_race_words[] = {"proven", "checked", "trusted", NULL};
const char *const pctl_policy_level_words[] = {"none", "L1", "L2", "L3", "L4", NULL};
static const char *const confinement_words[] = {"required", "available", NULL};
static const char *const isolation_words[] = {"worker", "in-process", NULL};
const char *const pctl_policy_memo_words[] = {"off", "verified", "any", NULL};
static const char *const deprecated_words[] = {"refuse", "warn", NULL};
static const char *const dirty_words[] = {"refuse", "allow", NULL};
static const char *const signed_words[] = {"required", "any", NULL};
static const char *const telemetry_words[] = {"off", "local", NULL};

/* The text of conf/policy/default.cfg: what holds when no file says anything is said once. */
const char *const pctl_policy_built_in = KERNEL_DEFAULT;

uint32_t pctl_policy_word(const char *const *words, const char *text)
{
	for (uint32_t i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	return UINT32_MAX;
}

int pctl_policy_parse_verify(const char *text, uint32_t *ppm)
{
	static const char sample[] = "sample=";
	uint32_t scale = 1000000;
	uint64_t value = 0;
	const char *p = text + sizeof(sample) - 1;

	*ppm = 0;
	if (strcmp(text, "none") == 0)
		return 1;
	if (strcmp(text, "all") == 0) {
		*ppm = 1000000;
		return 1;
	}
	if (strncmp(text, sample, sizeof(sample) - 1) != 0 || (*p != '0' && *p != '1'))
		return 0;
	value = (uint64_t)(*p++ - '0') * scale;
	if (*p == '.' && p[1] == 0)
		return 0;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9' && scale > 1; p++) {
			scale /= 10;
			value += (uint64_t)(*p - '0') * scale;
		}
	if (*p != 0 || value > 1000000)
		return 0;
	*ppm = (uint32_t)value;
	return 1;
}

int pctl_policy_parse_quorum(const char *text, uint32_t *k, uint32_t *n)
{
	const char *of = strstr(text, " of ");
	uint64_t a, b;

	*k = *n = 0;
	if (of == NULL || !pctl_num_parse_u64(text, (size_t)(of - text), &a) ||
	    !pctl_num_parse_u64(of + 4, strlen(of + 4), &b) || a < 1 || a > b || b > 64)
		return 0;
	*k = (uint32_t)a;
	*n = (uint32_t)b;
	return 1;
}

static pctl_status refuse_form(const pctl_conf_value *v, const char *wanted, const pctl_call *call)
{
	char path[128];

	return pctl_refuse_at(call, PC4303_POLICY_VALUE, &v->pos, NULL,
			      "\"%s\" must be %s, not \"%.64s\"",
			      pctl_conf_path(v, path, sizeof(path)), wanted, v->text);
}

static pctl_status check_verify(const pctl_conf_value *v, const pctl_call *call)
{
	uint32_t ppm;

	return pctl_policy_parse_verify(v->text, &ppm)
		       ? PCTL_OK
		       : refuse_form(v,
				     "\"none\", \"all\" or \"sample=0.25\" (0 to 1, six decimals)",
				     call);
}

static pctl_status check_quorum(const pctl_conf_value *v, const pctl_call *call)
{
	uint32_t k, n;

	return pctl_policy_parse_quorum(v->text, &k, &n)
		       ? PCTL_OK
		       : refuse_form(v, "\"K of N\" with 1 <= K <= N <= 64", call);
}

static pctl_status check_pattern(const pctl_conf_value *v, const pctl_call *call)
{
	static const char *const kinds[] = {"discrete", "integrated", "cpu", "reference",
					    "other",	"gpu",	      NULL};
	static const char id_chars[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	const size_t n = strspn(v->text, id_chars);
	const char tail = v->text[n];

	if (strcmp(v->text, "*") == 0 || (n > 0 && tail == 0) ||
	    (n > 0 && tail == ':' && v->text[n + 1] != 0) ||
	    (n > 0 && tail == '/' && pctl_policy_word(kinds, v->text + n + 1) != UINT32_MAX))
		return PCTL_OK;
	return refuse_form(v,
			   "a backend pattern: ID, ID:INDEX, ID:NAMEPART, \"*\" or ID/KIND "
			   "(discrete, integrated, cpu, "
			   "reference, other, gpu)",
			   call);
}

static pctl_status check_sha256(const pctl_conf_value *v, const pctl_call *call)
{
	return pctl_hex_is(v->text, 64) ? PCTL_OK
					: refuse_form(v, "64 lower-case hex digits", call);
}

static pctl_status check_glob(const pctl_conf_value *v, const pctl_call *call)
{
	return v->text[0] != 0 ? PCTL_OK : refuse_form(v, "a glob over op names", call);
}

static const pctl_conf_field cert_fields[] = {
	{.key = "ops",
	 .kind = PCTL_FIELD_STRING,
	 .flags = PCTL_FIELD_REQUIRED,
	 .check = check_glob,
	 .doc = "glob over op names, \"*\" for all"},
	{.key = "level",
	 .kind = PCTL_FIELD_CHOICE,
	 .flags = PCTL_FIELD_REQUIRED,
	 .words = pctl_policy_level_words,
	 .doc = "least level of the certificate"},
};
static const pctl_conf_schema cert_schema = PCTL_CONF_SCHEMA("a certificate rule", cert_fields);
static const pctl_conf_field cert_element = {.kind = PCTL_FIELD_GROUP, .group = &cert_schema};
static const pctl_conf_field pattern_element = {.kind = PCTL_FIELD_STRING, .check = check_pattern};
static const pctl_conf_field id_element = {.kind = PCTL_FIELD_NAME};
static const pctl_conf_field sha_element = {.kind = PCTL_FIELD_STRING, .check = check_sha256};

static const pctl_conf_field backend_fields[] = {
	{.key = "order",
	 .kind = PCTL_FIELD_LIST,
	 .element = &pattern_element,
	 .max = 64,
	 .doc = "who is tried first when no --backend is given; who is not listed is never chosen"},
	{.key = "allowed",
	 .kind = PCTL_FIELD_LIST,
	 .element = &pattern_element,
	 .max = 64,
	 .doc = "backends and devices that may be used; empty: all"},
	{.key = "forbidden",
	 .kind = PCTL_FIELD_LIST,
	 .element = &pattern_element,
	 .max = 64,
	 .doc = "backends and devices that may not be used, even when named"},
};
static const pctl_conf_schema backend_schema = PCTL_CONF_SCHEMA("\"backends\"", backend_fields);

static const pctl_conf_field plugin_fields[] = {
	{.key = "allowed",
	 .kind = PCTL_FIELD_LIST,
	 .element = &id_element,
	 .max = 256,
	 .doc = "ids of plugins that may be used; empty: all"},
	{.key = "sha256",
	 .kind = PCTL_FIELD_MAP,
	 .element = &sha_element,
	 .doc = "pinned libraries: id = \"SHA-256 of the file\""},
	{.key = "confinement",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = confinement_words,
	 .doc = "required: no worker runs without confinement; available: as far as the kernel "
		"allows"},
	{.key = "namespaces",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = confinement_words,
	 .doc = "required: no worker runs without namespaces of its own; available: as far as the "
		"kernel allows"},
	{.key = "isolation",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = isolation_words,
	 .doc = "worker: always in a process of their own; in-process: inside pipectl where the "
		"plugin and the user ask"},
};
static const pctl_conf_schema plugin_schema = PCTL_CONF_SCHEMA("\"plugins\"", plugin_fields);

static const pctl_conf_field program_fields[] = {
#define PCTL_EXTENT(NAME, name, unit, text) \
	{.key = #name, .kind = PCTL_FIELD_U64, .max = INT64_MAX, .doc = text "; 0: no limit"},
#include "compiler/analysis/extents.def"
#undef PCTL_EXTENT
};
static const pctl_conf_schema program_schema = PCTL_CONF_SCHEMA("\"program\"", program_fields);

static const pctl_conf_field worker_fields[] = {
	{.key = "memory", .kind = PCTL_FIELD_BYTES, .doc = "in memory and swap; 0: no limit"},
	{.key = "memory_share",
	 .kind = PCTL_FIELD_U64,
	 .max = 100,
	 .doc = "the same in hundredths of the machine's memory; the smaller one counts; 0: no "
		"limit"},
	{.key = "tasks",
	 .kind = PCTL_FIELD_U64,
	 .max = 1000000,
	 .doc = "processes and threads; 0: no limit"},
	{.key = "processes",
	 .kind = PCTL_FIELD_U64,
	 .max = 1000000,
	 .doc = "processes; 0: no limit"},
	{.key = "file", .kind = PCTL_FIELD_BYTES, .doc = "one file that it writes; 0: no limit"},
	{.key = "files",
	 .kind = PCTL_FIELD_U64,
	 .max = 1000000,
	 .doc = "files open at once in one process; 0: no limit"},
	{.key = "folder",
	 .kind = PCTL_FIELD_BYTES,
	 .doc = "all files in its own folder together; 0: no limit"},
	{.key = "folder_files",
	 .kind = PCTL_FIELD_U64,
	 .max = 100000000,
	 .doc = "files and folders in its own folder; 0: no limit"},
};
static const pctl_conf_schema worker_schema = PCTL_CONF_SCHEMA("\"worker\"", worker_fields);

static const pctl_conf_field limit_fields[] = {
	{.key = "memory",
	 .kind = PCTL_FIELD_BYTES,
	 .doc = "of the buffers of one job, the most that is alive at once; 0: no limit"},
	{.key = "time", .kind = PCTL_FIELD_DURATION, .doc = "of the work of one job; 0: no limit"},
	{.key = "worker",
	 .kind = PCTL_FIELD_GROUP,
	 .group = &worker_schema,
	 .doc = "what the worker of one plugin may use, with all it starts, as long as it lives"},
	{.key = "program",
	 .kind = PCTL_FIELD_GROUP,
	 .group = &program_schema,
	 .doc = "how large one kernel may be before any driver sees it"},
};
static const pctl_conf_schema limit_schema = PCTL_CONF_SCHEMA("\"limits\"", limit_fields);

static const pctl_conf_field policy_fields[] = {
	{.key = "about", .kind = PCTL_FIELD_STRING, .doc = "what this policy is for, in a line"},
	{.key = "inherits",
	 .kind = PCTL_FIELD_STRING,
	 .doc = "a policy file, relative to this one, that this one may only make stricter"},
	{.key = "class",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = pctl_policy_class_words,
	 .doc = "the most a pipeline may need"},
	{.key = "certificate",
	 .kind = PCTL_FIELD_LIST,
	 .element = &cert_element,
	 .max = 256,
	 .doc = "least certificate level a device needs, per op; the highest matching rule counts"},
	{.key = "race",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = pctl_policy_race_words,
	 .doc = "least evidence of race freedom"},
	{.key = "race_cost",
	 .kind = PCTL_FIELD_U64,
	 .max = UINT64_MAX - 1,
	 .doc = "most gas of a job that the reference runs to check it for races; 0: no limit"},
	{.key = "max_turns",
	 .kind = PCTL_FIELD_U64,
	 .max = PCTL_TURNS_MAX,
	 .doc = "turns that an invocation may make of loops that nothing bounds, where neither the "
		"kernel nor "
		"--max-turns says; 0: such loops are refused"},
	{.key = "verify",
	 .kind = PCTL_FIELD_STRING,
	 .check = check_verify,
	 .doc = "share of jobs recomputed on the reference: none, all, sample=FRACTION"},
	{.key = "quorum",
	 .kind = PCTL_FIELD_STRING,
	 .check = check_quorum,
	 .doc = "how many of how many devices must agree"},
	{.key = "backends",
	 .kind = PCTL_FIELD_GROUP,
	 .group = &backend_schema,
	 .doc = "which devices"},
	{.key = "plugins", .kind = PCTL_FIELD_GROUP, .group = &plugin_schema, .doc = "whose code"},
	{.key = "limits", .kind = PCTL_FIELD_GROUP, .group = &limit_schema, .doc = "of one job"},
	{.key = "memo",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = pctl_policy_memo_words,
	 .doc = "which results computed before are taken instead of computing them: off, verified "
		"(by the "
		"reference, a quorum, or a device certified as the policy asks), any"},
	{.key = "memo_bytes",
	 .kind = PCTL_FIELD_BYTES,
	 .doc = "most bytes of intermediate results of one run that are stored so that its jobs "
		"are "
		"remembered one by one; 0: no limit"},
	{.key = "deprecated",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = deprecated_words,
	 .doc = "may jobs use ops that their libraries call superseded"},
	{.key = "dirty",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = dirty_words,
	 .doc = "may a pipeline run whose file, includes or shaders are not those of the commit"},
	{.key = "signed",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = signed_words,
	 .doc = "required: only pipelines run that one of the signers has signed (PATH.sig)"},
	{.key = "signers",
	 .kind = PCTL_FIELD_LIST,
	 .element = &sha_element,
	 .max = 64,
	 .doc = "public keys, 64 hex digits each, as `pipectl sign` prints them"},
	{.key = "telemetry",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = telemetry_words,
	 .doc = "are timings and device names recorded in receipts; nothing is ever sent"},
};
static const pctl_conf_schema policy_schema = PCTL_CONF_SCHEMA("the policy", policy_fields);

const pctl_conf_schema *pctl_policy_schema(void)
{
	return &policy_schema;
}
