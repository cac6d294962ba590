/* The table of a certificate. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "evidence/certify/certificate.h"

#define TEXT(K, T, M, MEANS) PCTL_RECORD_FIELD(TEXT, K, T, M, .means = MEANS)
#define U64(K, T, M, MEANS) PCTL_RECORD_FIELD(U64, K, T, M, .means = MEANS)
#define FLAGGED(K, KIND, FLAGS, T, M, MEANS) \
	PCTL_RECORD_FIELD(KIND, K, T, M, .flags = FLAGS, .means = MEANS)

typedef pctl_certificate cert;
typedef pctl_certificate_unit unit;

/* ---- what follows from the units ------------------------------------------------------------ */

static void derive_granted(const void *record, pctl_str_buf *out)
{
	const cert *c = record;
	char level[8];

	pctl_str_addf(out, " = \"%s\"", pctl_level_name(c->granted, c->params.track, level));
}

static void derive_ops(const void *record, pctl_str_buf *out)
{
	const cert *c = record;
	char level[8];

	pctl_str_add(out, " : (");
	for (uint32_t i = 0; i < c->n_ops; i++) {
		pctl_str_add(out, i == 0 ? "\n    { op = " : ",\n    { op = ");
		pctl_record_quote(&pctl_certificate_type, c->ops[i].op, out);
		pctl_str_addf(out, "; level = \"%s\"; cause = ",
			      pctl_level_name(c->ops[i].level, c->params.track, level));
		pctl_record_quote(&pctl_certificate_type, c->ops[i].cause, out);
		pctl_str_add(out, "; }");
	}
	pctl_str_add(out, " )");
}

typedef struct tally {
	uint64_t units, cases, skipped, failures;
} tally;

static void count(const cert *c, const char *subject, uint32_t kind, tally *out)
{
	*out = (tally){0, 0, 0, 0};
	for (uint32_t i = 0; i < c->n_units; i++) {
		const unit *u = &c->units[i];

		if (u->kind != kind || strcmp(u->subject, subject) != 0)
			continue;
		out->units++;
		out->cases += u->cases;
		out->skipped += u->skipped;
		out->failures += u->failures;
	}
}

/* One line an op and dtype: how many units, cases and skipped cases of each kind. The units below say on which domains,
 * examples (classes, boundaries, regressions) among them. */
static void derive_coverage(const void *record, pctl_str_buf *out)
{
	const cert *c = record;
	int first = 1;

	pctl_str_add(out, " : (");
	for (uint32_t i = 0; i < c->n_units; i++) {
		const char *subject = c->units[i].subject;
		uint32_t k = 0;

		while (k < i && strcmp(c->units[k].subject, subject) != 0)
			k++;
		if (k < i || c->units[i].op[0] == '\0')
			continue;
		pctl_str_add(out, first ? "\n    { subject = " : ",\n    { subject = ");
		first = 0;
		pctl_record_quote(&pctl_certificate_type, subject, out);
		pctl_str_add(out, ";");
		for (uint32_t kind = 1; kind < PCTL_UNIT_KINDS; kind++) {
			tally t;

			count(c, subject, kind, &t);
			if (t.units != 0)
				pctl_str_addf(out,
					      " %s : { units = %" PRIu64 "; cases = \"%" PRIu64
					      "\"; skipped = \"%" PRIu64 "\"; failures = \"%" PRIu64
					      "\"; };",
					      pctl_unit_kind_name(kind), t.units, t.cases,
					      t.skipped, t.failures);
		}
		pctl_str_add(out, " }");
	}
	pctl_str_add(out, " )");
}

/* ---- words ---------------------------------------------------------------------------------- */

static void print_level(const void *member, char *out)
{
	const pctl_proof_params *p = member;
	char level[8];

	strcpy(out, pctl_level_name(p->level, p->track, level));
}

static int parse_level(const char *text, void *member)
{
	pctl_proof_params *p = member;

	return pctl_level_parse(text, &p->level, &p->track);
}

static void print_kind(const void *member, char *out)
{
	strcpy(out, pctl_unit_kind_name(*(const uint32_t *)member));
}

static int parse_kind(const char *text, void *member)
{
	uint32_t *kind = member;

	for (*kind = 1; *kind < PCTL_UNIT_KINDS; ++*kind)
		if (strcmp(pctl_unit_kind_name(*kind), text) == 0)
			return 1;
	return 0;
}

const pctl_record_coding pctl_level_coding = {"a level", print_level, parse_level};
const pctl_record_coding pctl_unit_kind_coding = {"a kind of unit", print_kind, parse_kind};

/* ---- units ---------------------------------------------------------------------------------- */

#define CHARS(K, M, MEANS)                                                      \
	{                                                                       \
		.key = K, .kind = PCTL_RECORD_CHARS, .flags = PCTL_RECORD_LINE, \
		.at = offsetof(pctl_counterexample, M),                         \
		.bound = sizeof(((pctl_counterexample *)0)->M), .means = MEANS  \
	}
static const pctl_record_field failed_fields[] = {
	CHARS("inputs", inputs, "of the first counterexample"),
	CHARS("got", got, "what the device gave"), CHARS("want", want, "what is right"),
	CHARS("law", law, "the equation or the invariant"),
	FLAGGED("minimal", BOOL, PCTL_RECORD_LINE, pctl_counterexample, minimal,
		"no smaller input of its neighbourhood fails")};
static const pctl_record_shape failed =
	PCTL_RECORD_SHAPE(failed_fields, PCTL_RECORD_INLINE, pctl_counterexample);

static const pctl_record_field digest_fields[] = {
	{.key = "digest", .kind = PCTL_RECORD_HEX, .bound = PCTL_DIGEST_BYTES}};
static const pctl_record_shape digest =
	PCTL_RECORD_SHAPE(digest_fields, PCTL_RECORD_ALONE, uint8_t[PCTL_DIGEST_BYTES]);

static const pctl_record_field unit_fields[] = {
	PCTL_RECORD_FIELD(CODED, "kind", unit, kind, .coding = &pctl_unit_kind_coding,
			  .means = "of proof"),
	TEXT("subject", unit, subject, "what it is about"),
	TEXT("op", unit, op, "op whose level it bears on, or nothing"),
	TEXT("name", unit, name, "of the unit"),
	FLAGGED("domain", TEXT, PCTL_RECORD_LINE, unit, domain, "inputs that it judges"),
	FLAGGED("program", TEXT, PCTL_RECORD_LINE, unit, program, "CID of what runs, or nothing"),
	FLAGGED("level", U32, PCTL_RECORD_BARE, unit, level, "lowest that wants it"),
	FLAGGED("track", U32, PCTL_RECORD_BARE, unit, track, "of the level"),
	FLAGGED("flags", U32, PCTL_RECORD_BARE, unit, flags, "`PCTL_UNIT_*`"),
	FLAGGED("planned", U64, PCTL_RECORD_LINE, unit, planned, "cases as declared"),
	U64("cases", unit, cases, "judged"),
	U64("failures", unit, failures, "of those, that failed"),
	U64("skipped", unit, skipped, "not judged"),
	FLAGGED("blocks", U64, PCTL_RECORD_LINE, unit, n_blocks, "that it is cut in"),
	U64("not_run", unit, not_run, "blocks that ended in an internal failure"),
	U64("strip", unit, strip, "blocks that one digest stands for"),
	FLAGGED("value", TEXT, PCTL_RECORD_LINE | PCTL_RECORD_OPTIONAL, unit, value,
		"of a unit that measures"),
	FLAGGED("cause", TEXT, PCTL_RECORD_LINE | PCTL_RECORD_OPTIONAL, unit, cause,
		"of the first block that was not run"),
	PCTL_RECORD_FIELD(
		GROUP, "failed", unit, first, .flags = PCTL_RECORD_LINE | PCTL_RECORD_OPTIONAL,
		.n_at = offsetof(unit, failed), .of = &failed, .means = "the first counterexample"),
	PCTL_RECORD_FIELD(LIST, "digests", unit, digests,
			  .flags = PCTL_RECORD_LINE | PCTL_RECORD_FOLLOWS,
			  .n_at = offsetof(unit, n_strips), .of = &digest,
			  .means = "of a block, or SHA-256 over those of a strip of blocks")};
static const pctl_record_shape units = PCTL_RECORD_SHAPE(unit_fields, PCTL_RECORD_INLINE, unit);

/* ---- the whole ------------------------------------------------------------------------------ */

static const pctl_record_field pair_fields[] = {
	TEXT("key", pctl_certificate_pair, key, "a name"),
	TEXT("value", pctl_certificate_pair, value, "its value")};
static const pctl_record_shape pair =
	PCTL_RECORD_SHAPE(pair_fields, PCTL_RECORD_ARRAY, pctl_certificate_pair);
static const pctl_record_field line_fields[] = {{.key = "line", .kind = PCTL_RECORD_TEXT}};
static const pctl_record_shape line =
	PCTL_RECORD_SHAPE(line_fields, PCTL_RECORD_SPLIT, const char *);

#define CONFIRMED(M) offsetof(pctl_certificate_confirmed, M)
static const pctl_record_field confirmed_fields[] = {
	TEXT("of", pctl_certificate_confirmed, of, "SHA-256 of the other certificate's file"),
	TEXT("signer", pctl_certificate_confirmed, signer, "who signed that one"),
	U64("sample_ppm", pctl_certificate_confirmed, sample_ppm, "millionths of its strips"),
	U64("seed", pctl_certificate_confirmed, seed, "of the sample"),
	PCTL_RECORD_FIELD(U64, "strips", pctl_certificate_confirmed, strips, .least = 1,
			  .means = "run again"),
	U64("cases", pctl_certificate_confirmed, cases, "run again")};
static const pctl_record_shape confirmed =
	PCTL_RECORD_SHAPE(confirmed_fields, PCTL_RECORD_INLINE, pctl_certificate_confirmed);

static const pctl_record_field total_fields[] = {
	FLAGGED("units", U32, PCTL_RECORD_BARE, cert, n_units, "of the list below"),
	U64("blocks", cert, n_blocks, "of all units"),
	U64("cases", cert, cases, "of all units"),
	U64("failures", cert, failures, "of all units"),
	U64("skipped", cert, skipped, "of all units"),
	U64("not_run", cert, not_run, "of all units")};
static const pctl_record_shape totals = PCTL_RECORD_SHAPE(total_fields, PCTL_RECORD_INLINE, cert);

static const pctl_record_field fields[] = {
	{.key = "schema",
	 .kind = PCTL_RECORD_CONSTANT,
	 .constant = PCTL_CERTIFICATE_SCHEMA,
	 .means = "version of the format"},
	TEXT("made", cert, made, "when; in no digest"),
	TEXT("pipectl", cert, version, "version of the program"),
	TEXT("device", cert, device, "as its driver has it"),
	TEXT("driver", cert, driver, "as it calls itself"),
	TEXT("selector", cert, selector, "as the device was chosen"),
	TEXT("profile", cert, profile, "CID of the device's profile"),
	TEXT("backend", cert, backend, "plugin"),
	TEXT("backend_version", cert, backend_version, "of the plugin"),
	TEXT("backend_sha256", cert, backend_sha256, "of its library"),
	TEXT("driver_files", cert, driver_files, "SHA-256 over that and the driver's libraries"),
	TEXT("semantics", cert, semantics, "version of what programs mean"),
	TEXT("suite", cert, suite, "version of the engine suite"),
	TEXT("kit", cert, kit, "version of the probe"),
	TEXT("host", cert, host, "SHA-256 over program and worker"),
	PCTL_RECORD_FIELD(LIST, "identity", cert, identity, .n_at = offsetof(cert, n_identity),
			  .of = &pair, .means = "what the backend says of device and driver"),
	PCTL_RECORD_FIELD(LIST, "libraries", cert, libraries, .n_at = offsetof(cert, n_libraries),
			  .of = &pair, .means = "op libraries, with SHA-256"),
	TEXT("ops", cert, params.ops, "pattern of the ops, nothing for all"),
	U64("seed", cert, params.seed, "of generated cases"),
	U64("cases", cert, params.cases, "of a generated unit"),
	U64("programs", cert, params.programs, "that are generated"),
	FLAGGED("pairs", BOOL, 0, cert, params.pairs, "all pairs of 16-bit values"),
	PCTL_RECORD_FIELD(LIST, "regressions", cert, regressions,
			  .n_at = offsetof(cert, n_regressions), .of = &line,
			  .means = "kept counterexamples that were among the examples"),
	PCTL_RECORD_FIELD(
		LIST, "late", cert, late, .flags = PCTL_RECORD_OPTIONAL,
		.n_at = offsetof(cert, n_late), .of = &pair,
		.means = "libraries that were mapped after `driver_files` was taken, with SHA-256"),
	FLAGGED("shapes", TEXT, PCTL_RECORD_OPTIONAL, cert, shapes,
		"seeds of the shapes that blocks were run in"),
	PCTL_RECORD_FIELD(GROUP, "confirmed", cert, confirmed, .flags = PCTL_RECORD_OPTIONAL,
			  .of = &confirmed,
			  .means = "made by trying a sample of another certificate with the files "
				   "of this host"),
	PCTL_RECORD_FIELD(HEX, "plan", cert, plan, .bound = PCTL_DIGEST_BYTES,
			  .means = "SHA-256 of the list of units"),
	PCTL_RECORD_FIELD(CODED, "level", cert, params, .coding = &pctl_level_coding,
			  .means = "asked for"),
	{.key = "granted",
	 .kind = PCTL_RECORD_DERIVED,
	 .derive = derive_granted,
	 .means = "the level by the rule"},
	TEXT("cause", cert, cause, "why not the level asked for, or nothing"),
	PCTL_RECORD_FIELD(HEX, "digest", cert, digest, .bound = PCTL_DIGEST_BYTES,
			  .means = "SHA-256 over all digests of all units, in order"),
	{.key = "totals", .kind = PCTL_RECORD_GROUP, .of = &totals, .means = "sums over all units"},
	{.key = "operations",
	 .kind = PCTL_RECORD_DERIVED,
	 .derive = derive_ops,
	 .means = "list of groups: `op`, the `level` that its units give it, and the `cause`"},
	{.key = "coverage",
	 .kind = PCTL_RECORD_DERIVED,
	 .derive = derive_coverage,
	 .means = "list of groups: `subject`, and sums of its units by kind"},
	PCTL_RECORD_FIELD(LIST, "units", cert, units, .n_at = offsetof(cert, n_units), .of = &units,
			  .means = "what was proved, and what came of it")};
static const pctl_record_shape shape = PCTL_RECORD_SHAPE(fields, PCTL_RECORD_BLOCK, cert);

const pctl_record_type pctl_certificate_type = {
	.group = "certificate",
	.opening = "// What was proved of one device; see certs/README.md. `pipectl certify verify "
		   "FILE` "
		   "checks it,\n// `pipectl certify replay FILE` runs it again.\n",
	.shape = &shape,
	.quoting = PCTL_RECORD_PLAIN,
	.form = PC5505_CERTIFICATE,
	.contradicts = PC5506_CONTRADICTION,
	.title = "Certificate",
	.where = "A `.certificate.cfg` file; signed",
};
