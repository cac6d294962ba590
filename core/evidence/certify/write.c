/* Certificates as text, in the one form that a reader accepts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "foundation/base/file.h"
#include "evidence/certify/certificate.h"
#include "foundation/conf/conf.h"

#define OPENING                                                                                 \
	"// What was proved of one device; see certs/README.md. `pipectl certify verify FILE` " \
	"checks "                                                                               \
	"it,\n// `pipectl certify replay FILE` runs it again.\ncertificate : {\n"

static void add_quoted(pctl_str_buf *s, const char *text)
{
	pctl_str_add(s, "\"");
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			pctl_str_add(s, "\\");
		pctl_str_add_n(s, text, 1);
	}
	pctl_str_add(s, "\"");
}

static void add_string(pctl_str_buf *s, const char *indent, const char *key, const char *text)
{
	pctl_str_addf(s, "%s%s = ", indent, key);
	add_quoted(s, text);
	pctl_str_add(s, ";\n");
}

static void add_pairs(pctl_str_buf *s, const char *key, const pctl_certificate_pair *pairs,
		      uint32_t n)
{
	pctl_str_addf(s, "  %s : (", key);
	for (uint32_t i = 0; i < n; i++) {
		pctl_str_add(s, i == 0 ? "\n    [ " : ",\n    [ ");
		add_quoted(s, pairs[i].key);
		pctl_str_add(s, ", ");
		add_quoted(s, pairs[i].value);
		pctl_str_add(s, " ]");
	}
	pctl_str_add(s, " );\n");
}

static void add_head(pctl_str_buf *s, const pctl_certificate *c)
{
	const pctl_proof_params *p = &c->params;
	char level[8], hex[2 * PCTL_DIGEST_BYTES + 1];

	add_string(s, "  ", "schema", PCTL_CERTIFICATE_SCHEMA);
	add_string(s, "  ", "made", c->made);
	add_string(s, "  ", "pipectl", c->version);
	add_string(s, "  ", "device", c->device);
	add_string(s, "  ", "driver", c->driver);
	add_string(s, "  ", "selector", c->selector);
	add_string(s, "  ", "profile", c->profile);
	add_string(s, "  ", "backend", c->backend);
	add_string(s, "  ", "backend_version", c->backend_version);
	add_string(s, "  ", "backend_sha256", c->backend_sha256);
	add_string(s, "  ", "driver_files", c->driver_files);
	add_string(s, "  ", "semantics", c->semantics);
	add_string(s, "  ", "suite", c->suite);
	add_string(s, "  ", "kit", c->kit);
	add_string(s, "  ", "host", c->host);
	add_pairs(s, "identity", c->identity, c->n_identity);
	add_pairs(s, "libraries", c->libraries, c->n_libraries);
	add_string(s, "  ", "ops", p->ops == NULL ? "" : p->ops);
	pctl_str_addf(s,
		      "  seed = \"%" PRIu64 "\";\n  cases = \"%" PRIu64
		      "\";\n  programs = \"%" PRIu64 "\";\n  pairs = %s;\n",
		      p->seed, p->cases, p->programs, p->pairs ? "true" : "false");
	pctl_str_add(s, "  regressions : (");
	for (uint32_t i = 0; i < c->n_regressions; i++) {
		char *line = strdup(c->regressions[i]), *tab;

		pctl_str_add(s, i == 0 ? "\n    [ " : ",\n    [ ");
		for (char *at = line; at != NULL; at = tab == NULL ? NULL : tab + 1) {
			tab = strchr(at, '\t');
			if (tab != NULL)
				*tab = '\0';
			add_quoted(s, at);
			pctl_str_add(s, tab == NULL ? " ]" : ", ");
		}
		s->failed |= line == NULL;
		free(line);
	}
	pctl_str_add(s, " );\n");
	if (c->n_late != 0)
		add_pairs(s, "late", c->late, c->n_late);
	if (c->shapes[0] != '\0')
		add_string(s, "  ", "shapes", c->shapes);
	if (c->confirmed.of[0] != '\0')
		pctl_str_addf(
			s,
			"  confirmed : { of = \"%s\"; signer = \"%s\"; sample_ppm = \"%" PRIu64
			"\"; seed = \"%" PRIu64 "\"; strips = \"%" PRIu64 "\"; cases = \"%" PRIu64
			"\"; };\n",
			c->confirmed.of, c->confirmed.signer, c->confirmed.sample_ppm,
			c->confirmed.seed, c->confirmed.strips, c->confirmed.cases);
	pctl_str_addf(s, "  plan = \"%s\";\n", pctl_digest_hex(c->plan, hex));
	pctl_str_addf(s, "  level = \"%s\";\n", pctl_level_name(p->level, p->track, level));
	pctl_str_addf(s, "  granted = \"%s\";\n", pctl_level_name(c->granted, p->track, level));
	add_string(s, "  ", "cause", c->cause);
	pctl_str_addf(s, "  digest = \"%s\";\n", pctl_digest_hex(c->digest, hex));
	pctl_str_addf(s,
		      "  totals : { units = %u; blocks = \"%" PRIu64 "\"; cases = \"%" PRIu64
		      "\"; failures = \"%" PRIu64 "\"; skipped = \"%" PRIu64
		      "\"; not_run = \"%" PRIu64 "\"; };\n",
		      c->n_units, c->n_blocks, c->cases, c->failures, c->skipped, c->not_run);
}

static void add_ops(pctl_str_buf *s, const pctl_certificate *c)
{
	char level[8];

	pctl_str_add(s, "  operations : (");
	for (uint32_t i = 0; i < c->n_ops; i++) {
		pctl_str_add(s, i == 0 ? "\n    { op = " : ",\n    { op = ");
		add_quoted(s, c->ops[i].op);
		pctl_str_addf(s, "; level = \"%s\"; cause = ",
			      pctl_level_name(c->ops[i].level, c->params.track, level));
		add_quoted(s, c->ops[i].cause);
		pctl_str_add(s, "; }");
	}
	pctl_str_add(s, " );\n");
}

/* ---- coverage ----------------------------------------------------------------------------- */

typedef struct tally {
	uint64_t units, cases, skipped, failures;
} tally;

static void count(const pctl_certificate *c, const char *subject, uint32_t kind, tally *out)
{
	*out = (tally){0, 0, 0, 0};
	for (uint32_t i = 0; i < c->n_units; i++) {
		const pctl_certificate_unit *u = &c->units[i];

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
static void add_coverage(pctl_str_buf *s, const pctl_certificate *c)
{
	int first = 1;

	pctl_str_add(s, "  coverage : (");
	for (uint32_t i = 0; i < c->n_units; i++) {
		const char *subject = c->units[i].subject;
		uint32_t k = 0;

		while (k < i && strcmp(c->units[k].subject, subject) != 0)
			k++;
		if (k < i || c->units[i].op[0] == '\0')
			continue;
		pctl_str_add(s, first ? "\n    { subject = " : ",\n    { subject = ");
		first = 0;
		add_quoted(s, subject);
		pctl_str_add(s, ";");
		for (uint32_t kind = 1; kind < PCTL_UNIT_KINDS; kind++) {
			tally t;

			count(c, subject, kind, &t);
			if (t.units != 0)
				pctl_str_addf(s,
					      " %s : { units = %" PRIu64 "; cases = \"%" PRIu64
					      "\"; skipped = \"%" PRIu64 "\"; failures = \"%" PRIu64
					      "\"; };",
					      pctl_unit_kind_name(kind), t.units, t.cases,
					      t.skipped, t.failures);
		}
		pctl_str_add(s, " }");
	}
	pctl_str_add(s, " );\n");
}

/* ---- units -------------------------------------------------------------------------------- */

static void add_unit(pctl_str_buf *s, const pctl_certificate_unit *u)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];

	pctl_str_addf(s, "    { kind = \"%s\";", pctl_unit_kind_name(u->kind));
	pctl_str_add(s, " subject = ");
	add_quoted(s, u->subject);
	pctl_str_add(s, "; op = ");
	add_quoted(s, u->op);
	pctl_str_add(s, "; name = ");
	add_quoted(s, u->name);
	pctl_str_add(s, ";\n      domain = ");
	add_quoted(s, u->domain);
	pctl_str_addf(s, ";\n      program = \"%s\"; level = %u; track = %u; flags = %u;\n",
		      u->program, u->level, u->track, u->flags);
	pctl_str_addf(
		s,
		"      planned = \"%" PRIu64 "\"; cases = \"%" PRIu64 "\"; failures = \"%" PRIu64
		"\"; skipped = \"%" PRIu64 "\";\n      blocks = \"%" PRIu64
		"\"; not_run = \"%" PRIu64 "\"; strip = \"%" PRIu64 "\";\n",
		u->planned, u->cases, u->failures, u->skipped, u->n_blocks, u->not_run, u->strip);
	if (u->value[0] != '\0')
		add_string(s, "      ", "value", u->value);
	if (u->cause[0] != '\0')
		add_string(s, "      ", "cause", u->cause);
	if (u->failed) {
		pctl_str_add(s, "      failed : {\n");
		add_string(s, "        ", "inputs", u->first.inputs);
		add_string(s, "        ", "got", u->first.got);
		add_string(s, "        ", "want", u->first.want);
		add_string(s, "        ", "law", u->first.law);
		pctl_str_addf(s, "        minimal = %s; };\n", u->first.minimal ? "true" : "false");
	}
	pctl_str_add(s, "      digests : (");
	for (uint32_t i = 0; i < u->n_strips; i++)
		pctl_str_addf(s, "%s\"%s\"", i == 0 ? " " : ",\n        ",
			      pctl_digest_hex(u->digests[i], hex));
	pctl_str_add(s, " ); }");
}

pctl_status pctl_certificate_text(const pctl_certificate *c, pctl_str_buf *out,
				  const pctl_call *call)
{
	pctl_str_add(out, OPENING);
	add_head(out, c);
	add_ops(out, c);
	add_coverage(out, c);
	pctl_str_add(out, "  units : (");
	for (uint32_t i = 0; i < c->n_units; i++) {
		pctl_str_add(out, i == 0 ? "\n" : ",\n");
		add_unit(out, &c->units[i]);
	}
	pctl_str_add(out, " );\n};\n");
	if (out->failed)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a certificate");
	if (out->n >= PCTL_CONF_FILE_BYTES_MAX)
		return pctl_refuse(call, PC5508_TOO_LONG,
				   "the certificate would have %zu bytes, at most %u are read",
				   out->n, PCTL_CONF_FILE_BYTES_MAX);
	return PCTL_OK;
}

static const char *now(pctl_arena *arena)
{
	const time_t t = time(NULL);
	struct tm utc;
	char text[40] = "";

	if (gmtime_r(&t, &utc) != NULL)
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	return pctl_arena_dup(arena, text);
}

pctl_status pctl_certificate_write(pctl_certificate *c, const char *path, const pctl_signer *signer,
				   const pctl_call *call)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status status;

	c->made = now(c->arena);
	c->path = pctl_arena_dup(c->arena, path);
	status = c->made == NULL || c->path == NULL
			 ? pctl_refuse(call, PC2_NOMEM, "no memory for a certificate")
			 : pctl_certificate_text(c, &text, call);
	if (status == PCTL_OK)
		status = pctl_signer_seal(signer, &text, call);
	if (status == PCTL_OK)
		status = pctl_file_write(path, text.data, text.n, 1, call);
	if (status == PCTL_OK)
		snprintf(c->signer, sizeof(c->signer), "%s", pctl_signer_public(signer));
	pctl_str_drop(&text);
	return status;
}
