/* The head of a certificate as lines, as it stands in journals, and units as lines, as they stand in units.tsv. */
#include "evidence/certify/certificate.h"

#include <string.h>

typedef pctl_certificate cert;
typedef pctl_certificate_unit unit;

#define TEXT(KEY, M, MEANS) \
	PCTL_RECORD_FIELD(TEXT, KEY, cert, M, .flags = PCTL_RECORD_NAMED, .means = MEANS)
#define U64(KEY, M, MEANS) \
	PCTL_RECORD_FIELD(U64, KEY, cert, M, .flags = PCTL_RECORD_NAMED, .means = MEANS)
#define LINES(KEY, M, N, OF, MEANS)                                                \
	PCTL_RECORD_FIELD(LIST, KEY, cert, M, .n_at = offsetof(cert, N), .of = OF, \
			  .flags = PCTL_RECORD_NAMED, .means = MEANS)

static const pctl_record_field pair_fields[] = {
	PCTL_RECORD_FIELD(TEXT, "key", pctl_certificate_pair, key, .means = "a name"),
	PCTL_RECORD_FIELD(TEXT, "value", pctl_certificate_pair, value, .means = "its value")};
static const pctl_record_shape pair =
	PCTL_RECORD_OF_LINES(pair_fields, PCTL_RECORD_ROW, '\t', pctl_certificate_pair);
static const pctl_record_field kept_fields[] = {
	{.key = "line", .kind = PCTL_RECORD_TEXT, .means = "as it stands in regressions.tsv"}};
static const pctl_record_shape kept =
	PCTL_RECORD_SHAPE(kept_fields, PCTL_RECORD_ALONE, const char *);

static const pctl_record_field head_fields[] = {
	{.key = "schema",
	 .kind = PCTL_RECORD_CONSTANT,
	 .flags = PCTL_RECORD_NAMED,
	 .constant = "pipectl.journal/3",
	 .means = "version of the format"},
	TEXT("pipectl", version, "version of the program"),
	TEXT("device", device, "as its driver has it"),
	TEXT("driver", driver, "as it calls itself"),
	TEXT("selector", selector, "as the device was chosen"),
	TEXT("profile", profile, "CID of the device's profile"),
	TEXT("backend", backend, "plugin"),
	TEXT("backend-version", backend_version, "of the plugin"),
	TEXT("backend-sha256", backend_sha256, "of its library"),
	TEXT("driver-files", driver_files, "SHA-256 over that and the driver's libraries"),
	TEXT("semantics", semantics, "version of what programs mean"),
	TEXT("suite", suite, "version of the engine suite"),
	TEXT("kit", kit, "version of the probe"),
	TEXT("host", host, "SHA-256 over program and worker"),
	LINES("identity", identity, n_identity, &pair, "what the backend says of its device"),
	LINES("library", libraries, n_libraries, &pair, "op libraries, with SHA-256"),
	PCTL_RECORD_FIELD(CODED, "level", cert, params, .flags = PCTL_RECORD_NAMED,
			  .coding = &pctl_level_coding, .means = "asked for"),
	TEXT("ops", params.ops, "pattern of the ops, nothing for all"),
	U64("seed", params.seed, "of generated cases"),
	U64("cases", params.cases, "of a generated unit"),
	U64("programs", params.programs, "that are generated"),
	PCTL_RECORD_FIELD(U32, "pairs", cert, params.pairs, .flags = PCTL_RECORD_NAMED, .bound = 1,
			  .means = "1: all pairs of 16-bit values"),
	LINES("regression", regressions, n_regressions, &kept,
	      "kept counterexamples that are among the examples"),
	PCTL_RECORD_SIZED(HEX, "plan", cert, plan, .flags = PCTL_RECORD_NAMED,
			  .means = "SHA-256 of the list of units")};
static const pctl_record_shape head =
	PCTL_RECORD_OF_LINES(head_fields, PCTL_RECORD_LINES, '\t', cert);
const pctl_record_type pctl_certificate_head_type = {
	.opening = "",
	.shape = &head,
	.quoting = PCTL_RECORD_PLAIN,
	.form = PC5504_FORM,
	.contradicts = PC5504_FORM,
	.title = "Head of a proof",
	.where = "The first lines of a journal",
};

#define VALUE(KIND, KEY, M, MEANS) PCTL_RECORD_FIELD(KIND, KEY, unit, M, .means = MEANS)
static const pctl_record_field unit_fields[] = {
	PCTL_RECORD_FIELD(CODED, "kind", unit, kind, .coding = &pctl_unit_kind_coding,
			  .means = "of proof"),
	PCTL_RECORD_FIELD(U32, "level", unit, level, .bound = PCTL_LEVEL_MAX,
			  .means = "lowest that wants it"),
	PCTL_RECORD_FIELD(U32, "track", unit, track, .bound = 3, .means = "of the level"),
	VALUE(U32, "flags", flags, "`PCTL_UNIT_*`"),
	VALUE(U64, "planned", planned, "cases as declared"),
	PCTL_RECORD_FIELD(U64, "blocks", unit, n_blocks, .least = 1, .bound = UINT64_MAX / 2,
			  .means = "that it is cut in"),
	VALUE(TEXT, "subject", subject, "what it is about"),
	VALUE(TEXT, "op", op, "op whose level it bears on, or nothing"),
	VALUE(TEXT, "name", name, "of the unit"),
	VALUE(TEXT, "domain", domain, "inputs that it judges"),
	VALUE(TEXT, "program", program, "CID of what runs, or nothing")};
static const pctl_record_shape units =
	PCTL_RECORD_OF_LINES(unit_fields, PCTL_RECORD_ROW, '\t', unit);
static const pctl_record_field list_fields[] = {
	PCTL_RECORD_FIELD(LIST, "units", cert, units, .n_at = offsetof(cert, n_units), .of = &units,
			  .means = "what is to be proved")};
static const pctl_record_shape list =
	PCTL_RECORD_OF_LINES(list_fields, PCTL_RECORD_LINES, '\t', cert);
const pctl_record_type pctl_units_type = {
	.opening = "",
	.shape = &list,
	.quoting = PCTL_RECORD_PLAIN,
	.form = PC5504_FORM,
	.contradicts = PC5504_FORM,
	.title = "Units of a proof",
	.where = "`units.tsv` beside the journals of the proof",
};

pctl_status pctl_certificate_head_text(const pctl_certificate *c, pctl_str_buf *out,
				       const pctl_call *call)
{
	return pctl_record_put(&pctl_certificate_head_type, c, out, "a certificate", call);
}

pctl_status pctl_certificate_head_read(pctl_certificate *c, const char *name, const char *text,
				       size_t n, const pctl_call *call)
{
	const pctl_status status = pctl_record_read_exact(&pctl_certificate_head_type, name, text,
							  n, c->arena, call, c);

	if (c->params.ops != NULL && c->params.ops[0] == '\0')
		c->params.ops = NULL;
	return status;
}

pctl_status pctl_certificate_units_read(pctl_certificate *c, const char *name, const char *text,
					const pctl_call *call)
{
	const pctl_status status = pctl_record_read_exact(&pctl_units_type, name, text,
							  strlen(text), c->arena, call, c);

	for (uint32_t i = 0; status == PCTL_OK && i < c->n_units; i++)
		c->units[i].value = c->units[i].cause = "";
	return status;
}

pctl_status pctl_certificate_units_text(const pctl_certificate *c, pctl_str_buf *out,
					const pctl_call *call)
{
	return pctl_record_put(&pctl_units_type, c, out, "a certificate", call);
}
