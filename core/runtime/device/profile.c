/* Profile files: written from a record, read back with every value checked, found by key. */
#include "runtime/device/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "runtime/device/profile_private.h"

static const pctl_record_kind record = {"profile", "probe kit", PCTL_PROBE_KIT, 1u << 20};

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
	status = text.failed ? pctl_refuse(call, PC2_NOMEM, "no memory for a profile")
			     : pctl_cid_of(text.data, text.n, call, &r->key);
	pctl_str_drop(&text);
	return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

void pctl_profile_quote(pctl_str_buf *s, const char *text)
{
	pctl_str_add(s, "\"");
	for (; *text != '\0'; text++) {
		const char c = *text >= ' ' && *text < 0x7f ? *text : ' ';

		if (c == '"' || c == '\\')
			pctl_str_add(s, "\\");
		pctl_str_add_n(s, &c, 1);
	}
	pctl_str_add(s, "\"");
}

static void add_verdict(pctl_str_buf *s, const char *name, uint8_t verdict, const pctl_witness *w)
{
	pctl_str_addf(s, "    %s = \"%s\";", name, pctl_verdict_name(verdict));
	if (w->text[0] != '\0')
		pctl_str_addf(s, " // %s", w->text);
	pctl_str_add(s, "\n");
}

static void add_profile(pctl_str_buf *s, const pctl_profile_record *r)
{
	char key[PCTL_CID_TEXT_SIZE];

	pctl_str_add(s, "// What a probe proved of one device with one driver; see "
			"certs/README.md. Made by `pipectl device "
			"probe`.\nprofile : {\n");
	pctl_str_addf(s, "  kit = \"%s\";\n  key = \"%s\";\n  device = ", PCTL_PROBE_KIT,
		      pctl_cid_format(&r->key, key));
	pctl_profile_quote(s, r->device);
	pctl_str_addf(s, ";\n  files = \"%s\";\n  driver = ", r->files);
	pctl_profile_quote(s, r->driver);
	pctl_str_addf(s, ";\n  cases = \"%" PRIu64 "\";\n  identity : (\n", r->cases);
	for (uint32_t i = 0; i < r->n_identity; i++) {
		pctl_str_add(s, "    [ ");
		pctl_profile_quote(s, r->identity[i].key);
		pctl_str_add(s, ", ");
		pctl_profile_quote(s, r->identity[i].value);
		pctl_str_add(s, i + 1 < r->n_identity ? " ],\n" : " ]\n");
	}
	pctl_str_add(s, "  );\n  facts : {\n");
	for (uint32_t i = 0; i < PCTL_N_FACTS; i++)
		add_verdict(s, fact_names[i], r->facts[i], &r->fact_witness[i]);
	pctl_str_add(s, "  };\n  native : {\n");
	for (uint32_t i = 0; i < PCTL_N_NATIVE; i++)
		add_verdict(s, native_names[i], r->profile.native[i], &r->native_witness[i]);
	pctl_str_add(s, "  };\n};\n");
}

pctl_status pctl_profile_write(pctl_profile_record *r, const char *dir, const pctl_signer *signer,
			       const pctl_call *call)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char key[PCTL_CID_TEXT_SIZE];
	pctl_status status;

	add_profile(&s, r);
	status = pctl_signer_seal(signer, &s, call);
	if (status == PCTL_OK)
		status = pctl_file_make_dirs(dir, call);
	if (status != PCTL_OK)
		goto out;
	snprintf(r->path, sizeof(r->path), "%s/%s.profile.cfg", dir, pctl_cid_format(&r->key, key));
	snprintf(r->signer, sizeof(r->signer), "%s", pctl_signer_public(signer));
	status = pctl_file_write(r->path, s.data, s.n, 1, call);
out:
	pctl_str_drop(&s);
	return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

const pctl_conf_value *pctl_profile_member(const pctl_conf_value *group, const char *key,
					   uint32_t kind)
{
	for (uint32_t i = 0; group != NULL && i < group->n_items; i++)
		if (group->items[i]->key != NULL && strcmp(group->items[i]->key, key) == 0)
			return group->items[i]->kind == kind ? group->items[i] : NULL;
	return NULL;
}

const char *pctl_profile_string(const pctl_conf_value *group, const char *key)
{
	const pctl_conf_value *v = pctl_profile_member(group, key, PCTL_CONF_STRING);

	return v == NULL ? NULL : v->text;
}

/* 0: a verdict is missing or unknown. */
static int read_verdicts(const pctl_conf_value *group, const char *const *names, uint32_t n,
			 uint8_t *out)
{
	if (group == NULL || group->n_items != n)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		const char *text = pctl_profile_string(group, names[i]);
		uint8_t v = 0;

		while (text != NULL && verdict_names[v] != NULL &&
		       strcmp(text, verdict_names[v]) != 0)
			v++;
		if (text == NULL || verdict_names[v] == NULL)
			return 0;
		out[i] = v;
	}
	return 1;
}

static int read_identity(const pctl_conf_value *list, pctl_profile_record *out)
{
	if (list == NULL || list->n_items > PCTL_PROFILE_IDENTITY_MAX)
		return 0;
	for (uint32_t i = 0; i < list->n_items; i++) {
		const pctl_conf_value *pair = list->items[i];

		if (pair->kind != PCTL_CONF_ARRAY || pair->n_items != 2 ||
		    pair->items[0]->kind != PCTL_CONF_STRING ||
		    pair->items[1]->kind != PCTL_CONF_STRING)
			return 0;
		snprintf(out->identity[i].key, sizeof(out->identity[i].key), "%s",
			 pair->items[0]->text);
		snprintf(out->identity[i].value, sizeof(out->identity[i].value), "%s",
			 pair->items[1]->text);
	}
	out->n_identity = list->n_items;
	return 1;
}

static int read_values(const pctl_conf_value *p, pctl_profile_record *out)
{
	const char *key = pctl_profile_string(p, "key"), *cases = pctl_profile_string(p, "cases");
	const char *device = pctl_profile_string(p, "device"),
		   *driver = pctl_profile_string(p, "driver");
	const char *files = pctl_profile_string(p, "files");

	if (key == NULL || cases == NULL || device == NULL || driver == NULL || files == NULL ||
	    !pctl_cid_parse(key, &out->key) ||
	    !read_identity(pctl_profile_member(p, "identity", PCTL_CONF_LIST), out) ||
	    !read_verdicts(pctl_profile_member(p, "facts", PCTL_CONF_GROUP), fact_names,
			   PCTL_N_FACTS, out->facts) ||
	    !read_verdicts(pctl_profile_member(p, "native", PCTL_CONF_GROUP), native_names,
			   PCTL_N_NATIVE, out->profile.native))
		return 0;
	out->cases = strtoull(cases, NULL, 10);
	snprintf(out->device, sizeof(out->device), "%s", device);
	snprintf(out->driver, sizeof(out->driver), "%s", driver);
	snprintf(out->files, sizeof(out->files), "%s", files);
	return 1;
}

pctl_status pctl_record_read(const char *path, const pctl_record_kind *kind_of,
			     const pctl_call *call, pctl_conf **conf, const pctl_conf_value **group,
			     char signer[PCTL_PUBLIC_KEY_TEXT])
{
	char *text = NULL;
	const char *kit = NULL;
	size_t n_signed = 0;
	uint64_t n = 0;
	pctl_status status = pctl_file_read(path, kind_of->largest, call, &text, &n);

	*conf = NULL;
	*group = NULL;
	if (status == PCTL_OK)
		status = pctl_sealed_check(path, text, n, call, &n_signed, signer);
	if (status == PCTL_OK)
		status = pctl_conf_read_text(path, text, n_signed, call, conf);
	if (status == PCTL_OK)
		*group =
			pctl_profile_member(pctl_conf_root(*conf), kind_of->group, PCTL_CONF_GROUP);
	if (status == PCTL_OK)
		kit = pctl_profile_string(*group, "kit");
	if (status == PCTL_OK && (kit == NULL || strcmp(kit, kind_of->kit) != 0))
		status = pctl_refuse(call, PC4330_PROFILE, "%s: made by %s \"%s\", this is \"%s\"",
				     path, kind_of->kit_name, kit == NULL ? "(none)" : kit,
				     kind_of->kit);
	free(text);
	return status;
}

pctl_status pctl_profile_read(const char *path, const pctl_call *call, pctl_profile_record *out)
{
	pctl_conf *conf = NULL;
	const pctl_conf_value *group = NULL;
	pctl_status status;

	memset(out, 0, sizeof(*out));
	status = pctl_record_read(path, &record, call, &conf, &group, out->signer);
	if (status == PCTL_OK && !read_values(group, out))
		status = pctl_refuse(call, PC4330_PROFILE,
				     "%s: a value is missing or not one that a profile may have",
				     path);
	if (status == PCTL_OK)
		snprintf(out->path, sizeof(out->path), "%s", path);
	pctl_conf_destroy(conf);
	return status;
}

int pctl_profile_is_trusted(const char *signer, const char *const *trusted, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(signer, trusted[i]) == 0)
			return 1;
	return 0;
}

static void softly(void *ctx, const pctl_diag *d)
{
	const pctl_softened *s = ctx;
	pctl_diag said = *d;

	if (said.severity == PCTL_SEVERITY_ERROR)
		said.severity = PCTL_SEVERITY_WARNING;
	said.hint = "the device is probed again";
	s->outer->diag(s->outer->ctx, &said);
}

const pctl_call *pctl_profile_soften(pctl_softened *s, const pctl_call *call)
{
	memset(s, 0, sizeof(*s));
	s->inner.head = (pctl_head)PCTL_HEAD(pctl_call);
	s->inner.ctx = s;
	s->inner.diag = call != NULL && call->diag != NULL ? softly : NULL;
	s->outer = call;
	return &s->inner;
}

int pctl_profile_find(pctl_profile_record *r, const char *const *dirs, uint32_t n,
		      const char *const *trusted, uint32_t n_trusted, const pctl_call *call)
{
	pctl_profile_record *found = malloc(sizeof(*found));
	char key[PCTL_CID_TEXT_SIZE], path[4200];
	pctl_softened soft;
	const pctl_call *softer = pctl_profile_soften(&soft, call);
	int have = 0;

	if (found == NULL || pctl_profile_key(r, call) != PCTL_OK)
		n = 0;
	for (uint32_t i = 0; i < n && !have; i++) {
		snprintf(path, sizeof(path), "%s/%s.profile.cfg", dirs[i],
			 pctl_cid_format(&r->key, key));
		have = pctl_file_exists(path) &&
		       pctl_profile_read(path, softer, found) == PCTL_OK &&
		       memcmp(&found->key, &r->key, sizeof(r->key)) == 0 &&
		       pctl_profile_is_trusted(found->signer, trusted, n_trusted);
	}
	if (have)
		*r = *found;
	free(found);
	return have;
}
