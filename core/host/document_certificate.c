/* The JSON document of a certificate; see document.h. */
#include <string.h>

#include "evidence/suite/suite.h"
#include "host/document.h"

static void json_ops(pctl_json *j, const pctl_certificate *c)
{
	char level[8];

	pctl_json_key(j, "operations");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < c->n_ops; i++) {
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "op", c->ops[i].op);
		pctl_json_kv_string(j, "level",
				    pctl_level_name(c->ops[i].level, c->params.track, level));
		pctl_json_kv_string(j, "cause", c->ops[i].cause);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

static void json_unit(pctl_json *j, const pctl_certificate_unit *u)
{
	char level[8];

	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "kind", pctl_unit_kind_name(u->kind));
	pctl_json_kv_string(j, "subject", u->subject);
	pctl_json_kv_string(j, "op", u->op);
	pctl_json_kv_string(j, "name", u->name);
	pctl_json_kv_string(j, "domain", u->domain);
	pctl_json_kv_string(j, "program", u->program);
	pctl_json_kv_string(j, "level", pctl_level_name(u->level, u->track, level));
	pctl_json_kv_u64(j, "cases", u->cases);
	pctl_json_kv_u64(j, "failures", u->failures);
	pctl_json_kv_u64(j, "skipped", u->skipped);
	pctl_json_kv_u64(j, "blocks", u->n_blocks);
	pctl_json_kv_u64(j, "not_run", u->not_run);
	pctl_json_kv_string(j, "value", u->value);
	pctl_json_kv_string(j, "cause", u->cause);
	if (u->failed) {
		pctl_json_key(j, "failed");
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "inputs", u->first.inputs);
		pctl_json_kv_string(j, "got", u->first.got);
		pctl_json_kv_string(j, "want", u->first.want);
		pctl_json_kv_string(j, "law", u->first.law);
		pctl_json_kv_bool(j, "minimal", (int)u->first.minimal);
		pctl_json_object_end(j);
	}
	pctl_json_object_end(j);
}

/* Which files it speaks of. */
static void json_files(pctl_json *j, const pctl_certificate *c)
{
	pctl_json_kv_string(j, "backend", c->backend);
	pctl_json_kv_string(j, "backend_version", c->backend_version);
	pctl_json_kv_string(j, "backend_sha256", c->backend_sha256);
	pctl_json_kv_string(j, "driver_files", c->driver_files);
	pctl_json_kv_string(j, "semantics", c->semantics);
	pctl_json_kv_string(j, "suite", c->suite);
	pctl_json_kv_string(j, "kit", c->kit);
	pctl_json_kv_string(j, "host", c->host);
	pctl_json_key(j, "libraries");
	pctl_json_object_begin(j);
	for (uint32_t i = 0; i < c->n_libraries; i++)
		pctl_json_kv_string(j, c->libraries[i].key, c->libraries[i].value);
	pctl_json_object_end(j);
	pctl_json_key(j, "late");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < c->n_late; i++) {
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "name", c->late[i].key);
		pctl_json_kv_string(j, "sha256", c->late[i].value);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

const pctl_certificate_unit *pctl_certificate_programs(const pctl_certificate *c)
{
	for (uint32_t i = 0; i < c->n_units; i++)
		if (strcmp(c->units[i].name, PCTL_SUITE_GENERATED) == 0)
			return &c->units[i];
	return NULL;
}

void pctl_document_certificate(pctl_json *j, const pctl_certificate *c, int full)
{
	char level[8], hex[2 * PCTL_DIGEST_BYTES + 1];
	const pctl_certificate_unit *programs = pctl_certificate_programs(c);

	pctl_json_kv_string(j, "certificate", c->path);
	pctl_json_kv_string(j, "device", c->device);
	pctl_json_kv_string(j, "driver", c->driver);
	pctl_json_kv_string(j, "profile", c->profile);
	json_files(j, c);
	pctl_json_kv_string(j, "made", c->made);
	pctl_json_kv_string(j, "pipectl", c->version);
	pctl_json_kv_string(j, "signer", c->signer);
	pctl_json_kv_string(j, "asked", pctl_level_name(c->params.level, c->params.track, level));
	pctl_json_kv_string(j, "granted", pctl_level_name(c->granted, c->params.track, level));
	pctl_json_kv_string(j, "cause", c->cause);
	pctl_json_kv_string(j, "digest", pctl_digest_hex(c->digest, hex));
	pctl_json_kv_string(j, "ops", c->params.ops);
	pctl_json_kv_string(j, "shapes", c->shapes);
	if (c->confirmed.of[0] != '\0') {
		pctl_json_key(j, "confirmed");
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "of", c->confirmed.of);
		pctl_json_kv_string(j, "signer", c->confirmed.signer);
		pctl_json_kv_u64(j, "sample_ppm", c->confirmed.sample_ppm);
		pctl_json_kv_u64(j, "strips", c->confirmed.strips);
		pctl_json_kv_u64(j, "cases", c->confirmed.cases);
		pctl_json_object_end(j);
	}
	pctl_json_kv_u64(j, "seed", c->params.seed);
	pctl_json_kv_u64(j, "random_cases", c->params.cases);
	pctl_json_kv_u64(j, "programs", c->params.programs);
	pctl_json_kv_u64(j, "programs_run", programs == NULL ? 0 : programs->cases);
	pctl_json_kv_bool(j, "pairs", (int)c->params.pairs);
	pctl_json_kv_u32(j, "units", c->n_units);
	pctl_json_kv_u64(j, "blocks", c->n_blocks);
	pctl_json_kv_u64(j, "cases", c->cases);
	pctl_json_kv_u64(j, "failures", c->failures);
	pctl_json_kv_u64(j, "skipped", c->skipped);
	pctl_json_kv_u64(j, "not_run", c->not_run);
	json_ops(j, c);
	if (!full)
		return;
	pctl_json_key(j, "proved");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < c->n_units; i++)
		json_unit(j, &c->units[i]);
	pctl_json_array_end(j);
}
