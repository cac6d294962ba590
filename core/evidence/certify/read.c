/* Reading certificates: every value that others are derived from is taken, everything derived is made again, and the
 * text that comes of it must be the one that was read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "evidence/certify/certificate.h"
#include "foundation/conf/conf.h"

/* What is missing or of the wrong kind, by name; NULL: nothing. */
typedef struct taker {
	pctl_certificate *c;
	const char *missing;
} taker;

static const char *take_string(taker *t, const pctl_conf_value *group, const char *key)
{
	const pctl_conf_value *v = pctl_conf_get(group, key);
	const char *copy;

	if (v == NULL || v->kind != PCTL_CONF_STRING) {
		t->missing = t->missing == NULL ? key : t->missing;
		return "";
	}
	copy = pctl_arena_dup(t->c->arena, v->text);
	return copy == NULL ? "" : copy;
}

static uint64_t take_u64(taker *t, const pctl_conf_value *group, const char *key)
{
	const pctl_conf_value *v = pctl_conf_get(group, key);
	uint64_t value = 0;

	if (v == NULL || v->text == NULL || !pctl_num_parse_u64(v->text, strlen(v->text), &value))
		t->missing = t->missing == NULL ? key : t->missing;
	return value;
}

static uint32_t take_bool(taker *t, const pctl_conf_value *group, const char *key)
{
	const pctl_conf_value *v = pctl_conf_get(group, key);

	if (v == NULL || v->kind != PCTL_CONF_BOOL)
		t->missing = t->missing == NULL ? key : t->missing;
	return v != NULL && v->kind == PCTL_CONF_BOOL && v->integer != 0;
}

static const pctl_conf_value *take_list(taker *t, const pctl_conf_value *group, const char *key)
{
	static const pctl_conf_value none = {.kind = PCTL_CONF_LIST};
	const pctl_conf_value *v = pctl_conf_get(group, key);

	if (v != NULL && v->kind == PCTL_CONF_LIST)
		return v;
	t->missing = t->missing == NULL ? key : t->missing;
	return &none;
}

static void *take_array(taker *t, uint32_t n, size_t size)
{
	void *array = pctl_arena_array(t->c->arena, n + 1u, size);

	if (array == NULL)
		t->missing = "memory";
	return array;
}

static const pctl_certificate_pair *take_pairs(taker *t, const pctl_conf_value *list, uint32_t *n)
{
	pctl_certificate_pair *pairs = take_array(t, list->n_items, sizeof(*pairs));

	for (uint32_t i = 0; pairs != NULL && i < list->n_items; i++) {
		const pctl_conf_value *v = list->items[i];

		if (v->kind != PCTL_CONF_ARRAY || v->n_items != 2 || v->items[0]->text == NULL ||
		    v->items[1]->text == NULL) {
			t->missing = "pair";
			return NULL;
		}
		pairs[i].key = pctl_arena_dup(t->c->arena, v->items[0]->text);
		pairs[i].value = pctl_arena_dup(t->c->arena, v->items[1]->text);
		if (pairs[i].key == NULL || pairs[i].value == NULL)
			t->missing = "memory";
	}
	*n = t->missing == NULL ? list->n_items : 0;
	return pairs;
}

static void take_regressions(taker *t, const pctl_conf_value *list)
{
	const char **lines = take_array(t, list->n_items, sizeof(*lines));

	for (uint32_t i = 0; lines != NULL && i < list->n_items; i++) {
		const pctl_conf_value *v = list->items[i];
		pctl_str_buf line = PCTL_STR_BUF_INIT;

		for (uint32_t k = 0; k < v->n_items; k++) {
			pctl_str_add(&line, k == 0 ? "" : "\t");
			pctl_str_add(&line, v->items[k]->text == NULL ? "" : v->items[k]->text);
		}
		lines[i] = pctl_arena_dup(t->c->arena, line.data == NULL ? "" : line.data);
		pctl_str_drop(&line);
		if (lines[i] == NULL)
			t->missing = "memory";
	}
	t->c->regressions = lines;
	t->c->n_regressions = t->missing == NULL ? list->n_items : 0;
}

static void take_confirmed(taker *t, const pctl_conf_value *g, pctl_certificate_confirmed *out)
{
	uint8_t digest[PCTL_DIGEST_BYTES];

	if (g == NULL)
		return;
	out->of = take_string(t, g, "of");
	out->signer = take_string(t, g, "signer");
	out->sample_ppm = take_u64(t, g, "sample_ppm");
	out->seed = take_u64(t, g, "seed");
	out->strips = take_u64(t, g, "strips");
	out->cases = take_u64(t, g, "cases");
	if (!pctl_digest_parse_hex(out->of, digest) || out->strips == 0)
		t->missing = "confirmed";
}

static void take_head(taker *t, const pctl_conf_value *g)
{
	pctl_certificate *c = t->c;
	pctl_proof_params *p = &c->params;

	c->made = take_string(t, g, "made");
	c->version = take_string(t, g, "pipectl");
	c->device = take_string(t, g, "device");
	c->driver = take_string(t, g, "driver");
	c->selector = take_string(t, g, "selector");
	c->profile = take_string(t, g, "profile");
	c->backend = take_string(t, g, "backend");
	c->backend_version = take_string(t, g, "backend_version");
	c->backend_sha256 = take_string(t, g, "backend_sha256");
	c->driver_files = take_string(t, g, "driver_files");
	c->semantics = take_string(t, g, "semantics");
	c->suite = take_string(t, g, "suite");
	c->kit = take_string(t, g, "kit");
	c->host = take_string(t, g, "host");
	c->identity = take_pairs(t, take_list(t, g, "identity"), &c->n_identity);
	c->libraries = take_pairs(t, take_list(t, g, "libraries"), &c->n_libraries);
	p->ops = take_string(t, g, "ops");
	if (p->ops[0] == '\0')
		p->ops = NULL;
	p->seed = take_u64(t, g, "seed");
	p->cases = take_u64(t, g, "cases");
	p->programs = take_u64(t, g, "programs");
	p->pairs = take_bool(t, g, "pairs");
	take_regressions(t, take_list(t, g, "regressions"));
	if (pctl_conf_get(g, "late") != NULL)
		c->late = take_pairs(t, take_list(t, g, "late"), &c->n_late);
	if (pctl_conf_get(g, "shapes") != NULL)
		c->shapes = take_string(t, g, "shapes");
	take_confirmed(t, pctl_conf_get(g, "confirmed"), &c->confirmed);
	if (!pctl_digest_parse_hex(take_string(t, g, "plan"), c->plan))
		t->missing = "plan";
	if (!pctl_level_parse(take_string(t, g, "level"), &p->level, &p->track))
		t->missing = "level";
}

/* ---- units -------------------------------------------------------------------------------- */

static void take_failed(taker *t, const pctl_conf_value *g, pctl_certificate_unit *u)
{
	pctl_counterexample *e = &u->first;

	if (g == NULL)
		return;
	u->failed = 1;
	snprintf(e->inputs, sizeof(e->inputs), "%s", take_string(t, g, "inputs"));
	snprintf(e->got, sizeof(e->got), "%s", take_string(t, g, "got"));
	snprintf(e->want, sizeof(e->want), "%s", take_string(t, g, "want"));
	snprintf(e->law, sizeof(e->law), "%s", take_string(t, g, "law"));
	e->minimal = take_bool(t, g, "minimal");
}

static void take_unit(taker *t, const pctl_conf_value *g, pctl_certificate_unit *u)
{
	const char *kind = take_string(t, g, "kind");
	const pctl_conf_value *digests = take_list(t, g, "digests");

	for (u->kind = 1; u->kind < PCTL_UNIT_KINDS; u->kind++)
		if (strcmp(pctl_unit_kind_name(u->kind), kind) == 0)
			break;
	if (u->kind == PCTL_UNIT_KINDS)
		t->missing = "kind";
	u->subject = take_string(t, g, "subject");
	u->op = take_string(t, g, "op");
	u->name = take_string(t, g, "name");
	u->domain = take_string(t, g, "domain");
	u->program = take_string(t, g, "program");
	u->level = (uint32_t)take_u64(t, g, "level");
	u->track = (uint32_t)take_u64(t, g, "track");
	u->flags = (uint32_t)take_u64(t, g, "flags");
	u->planned = take_u64(t, g, "planned");
	u->cases = take_u64(t, g, "cases");
	u->failures = take_u64(t, g, "failures");
	u->skipped = take_u64(t, g, "skipped");
	u->n_blocks = take_u64(t, g, "blocks");
	u->not_run = take_u64(t, g, "not_run");
	u->strip = take_u64(t, g, "strip");
	u->value = u->cause = "";
	if (pctl_conf_get(g, "value") != NULL)
		u->value = take_string(t, g, "value");
	if (pctl_conf_get(g, "cause") != NULL)
		u->cause = take_string(t, g, "cause");
	take_failed(t, pctl_conf_get(g, "failed"), u);
	u->n_strips = digests->n_items;
	u->digests = take_array(t, u->n_strips, sizeof(*u->digests));
	for (uint32_t i = 0; u->digests != NULL && i < u->n_strips; i++)
		if (digests->items[i]->text == NULL ||
		    !pctl_digest_parse_hex(digests->items[i]->text, u->digests[i]))
			t->missing = "digests";
}

static void take_units(taker *t, const pctl_conf_value *list)
{
	t->c->units = take_array(t, list->n_items, sizeof(*t->c->units));
	t->c->n_units = list->n_items;
	for (uint32_t i = 0; t->missing == NULL && i < list->n_items; i++)
		take_unit(t, list->items[i], &t->c->units[i]);
}

/* ---- contradictions ----------------------------------------------------------------------- */

static pctl_status contradicts(const pctl_certificate *c, const char *what, const pctl_call *call)
{
	return pctl_refuse(call, PC5506_CONTRADICTION, "%s: %s", c->path, what);
}

static pctl_status check_units(const pctl_certificate *c, const pctl_call *call)
{
	for (uint32_t i = 0; i < c->n_units; i++) {
		const pctl_certificate_unit *u = &c->units[i];
		const int measured = (u->flags & PCTL_UNIT_MEASURED) != 0;
		char what[400];

		if (u->track == c->params.track && u->level >= 1 && u->level <= c->params.level &&
		    u->failures <= u->cases && u->not_run <= u->n_blocks && u->n_blocks != 0 &&
		    u->failed == (u->failures != 0) && (u->cause[0] != '\0') == (u->not_run != 0) &&
		    (measured ? u->n_strips == 0
			      : u->strip != 0 && u->n_strips == (u->n_blocks - 1) / u->strip + 1))
			continue;
		snprintf(what, sizeof(what),
			 "the numbers of unit %u, \"%.100s\" %s \"%.100s\" do not fit", i + 1,
			 u->subject, pctl_unit_kind_name(u->kind), u->name);
		return contradicts(c, what, call);
	}
	return PCTL_OK;
}

static pctl_status check_plan(const pctl_certificate *c, const pctl_call *call)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	pctl_cid cid;
	pctl_status status = pctl_certificate_units_text(c, &s, call);

	if (status == PCTL_OK)
		status = pctl_cid_of(s.data == NULL ? "" : s.data, s.n, call, &cid);
	if (status == PCTL_OK && memcmp(cid.digest, c->plan, sizeof(c->plan)) != 0)
		status = contradicts(c, "its units are not those of the digest `plan`", call);
	pctl_str_drop(&s);
	return status;
}

/* What the file says of itself against what follows from its units. */
static pctl_status check_stated(const pctl_certificate *c, const pctl_conf_value *g,
				const pctl_call *call)
{
	const pctl_conf_value *totals = pctl_conf_get(g, "totals");
	char level[8], hex[2 * PCTL_DIGEST_BYTES + 1];
	taker t = {(pctl_certificate *)c, NULL};

	if (strcmp(take_string(&t, g, "digest"), pctl_digest_hex(c->digest, hex)) != 0)
		return contradicts(c, "`digest` is not that of its digests", call);
	if (strcmp(take_string(&t, g, "granted"),
		   pctl_level_name(c->granted, c->params.track, level)) != 0)
		return contradicts(c, "`granted` is not the level that its units give", call);
	if (take_u64(&t, totals, "cases") != c->cases ||
	    take_u64(&t, totals, "failures") != c->failures ||
	    take_u64(&t, totals, "skipped") != c->skipped ||
	    take_u64(&t, totals, "blocks") != c->n_blocks ||
	    take_u64(&t, totals, "not_run") != c->not_run)
		return contradicts(c, "`totals` are not the sums of its units", call);
	return PCTL_OK;
}

static pctl_status check_canonical(const pctl_certificate *c, const char *text, size_t n,
				   const pctl_call *call)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	pctl_status status = pctl_certificate_text(c, &s, call);
	size_t at = 0, line = 1;

	if (status == PCTL_OK && (s.n != n || memcmp(s.data, text, n) != 0)) {
		char what[96];

		for (; at < n && at < s.n && s.data[at] == text[at]; at++)
			line += text[at] == '\n';
		snprintf(what, sizeof(what), "line %zu is not what follows from the rest", line);
		status = contradicts(c, what, call);
	}
	pctl_str_drop(&s);
	return status;
}

static pctl_status read_tree(pctl_certificate *c, const pctl_conf_value *root, const char *text,
			     size_t n, const pctl_call *call)
{
	const pctl_conf_value *g = pctl_conf_get(root, "certificate");
	const char *schema = g == NULL ? NULL : pctl_conf_string_or(g, "schema", NULL);
	taker t = {c, NULL};
	pctl_status status;

	if (schema == NULL || strcmp(schema, PCTL_CERTIFICATE_SCHEMA) != 0)
		return pctl_refuse(call, PC5505_CERTIFICATE,
				   "%s: its schema is \"%s\", this reads " PCTL_CERTIFICATE_SCHEMA,
				   c->path, schema == NULL ? "(none)" : schema);
	take_head(&t, g);
	take_units(&t, take_list(&t, g, "units"));
	if (t.missing != NULL)
		return pctl_refuse(call, PC5505_CERTIFICATE,
				   "%s: `%s` is missing or not what it must be", c->path,
				   t.missing);
	status = check_units(c, call);
	if (status == PCTL_OK)
		status = check_plan(c, call);
	if (status == PCTL_OK)
		status = pctl_certificate_finish(c, call);
	if (status == PCTL_OK)
		status = check_stated(c, g, call);
	if (status == PCTL_OK)
		status = check_canonical(c, text, n, call);
	return status;
}

pctl_status pctl_certificate_read(const char *path, const pctl_call *call, pctl_certificate **out)
{
	pctl_certificate *c = NULL;
	pctl_conf *conf = NULL;
	size_t n_signed = 0;
	char *text = NULL;
	uint64_t n = 0;
	pctl_status status = pctl_certificate_create(call, &c);

	*out = NULL;
	if (status == PCTL_OK)
		status = pctl_file_read(path, PCTL_CONF_FILE_BYTES_MAX + 1024u, call, &text, &n);
	if (status == PCTL_OK) {
		c->path = pctl_arena_dup(c->arena, path);
		status = c->path == NULL
				 ? pctl_refuse(call, PC2_NOMEM, "no memory for a certificate")
				 : pctl_sealed_check(path, text, n, call, &n_signed, c->signer);
	}
	if (status == PCTL_OK)
		status = pctl_conf_read_text(path, text, n_signed, call, &conf);
	if (status == PCTL_OK)
		status = read_tree(c, pctl_conf_root(conf), text, n_signed, call);
	pctl_conf_destroy(conf);
	free(text);
	if (status == PCTL_OK)
		*out = c;
	else
		pctl_certificate_destroy(c);
	return status;
}
